/* Writing ModelProto messages: for the writers of one model (write.c) and of splits.
 *
 * Payloads that stay in the model's file (see frontends/onnx/scan.h) are copied by
 * descriptor, so that writing gigabytes of weights does not make them resident. */
#ifndef PCC_BACKENDS_ONNX_PACK_H
#define PCC_BACKENDS_ONNX_PACK_H

#include "ir/base/outfile.h"
#include "ir/model/module.h"

#include "onnx.pb-c.h"

#include <sys/types.h>

enum { PACK_COPY = 4096 }; /* payloads from this size on are copied by descriptor */

/* Addresses that messages point into and that stand for the bytes of a file (infile_addresses). */
struct mapping {
    const uint8_t *at;
    uint64_t size;
    int fd; /* of the file that is mapped, from its beginning */
};

/* The files whose bytes messages of the module point at, by ascending address, in a. */
struct mapping *module_mappings(const struct module *m, uint32_t *n, struct arena *a);
void mappings_sort(struct mapping *list, uint32_t n);
/* Appends the payload of a tensor that has bytes at the position of `out`.  0, or -1 and an error. */
int tensor_copy(const struct module *m, tid t, int out, const char *what, struct diag *d);

/* A model file in which each tensor has its offset (place.c), and the file of weights beside it. */
struct model_file {
    Onnx__ModelProto model;
    Onnx__GraphProto graph; /* the model's, if some tensor got a place */
    bool has_data;
    struct outfile data; /* weights beside the model, still open */
};
/* Gives the tensors of the main graph that passes made a place in *out, which must not be moved: in the model that
 * will be written at path ("-": a stream), or beside it.  0, or -1 and an error. */
int onnx_place(const struct module *m, const Onnx__ModelProto *model, const char *path,
               struct model_file *out, struct arena *a, struct diag *d);

/* Writes one model as file `name` (created; an error if it exists) of the folder dirfd; on failure
 * the file is removed.  map[nmap]: by ascending address.  0 or -1. */
int onnx_pack_file(const struct mapping *map, uint32_t nmap, const Onnx__ModelProto *model,
                   int dirfd, const char *name, struct diag *d);

/* The same for the file at `path`, which appears complete or not at all, and may replace another;
 * warns if its external data will be looked for in another folder now.  m: where the payloads are. */
int onnx_pack_path(const struct module *m, const Onnx__ModelProto *model, const char *path,
                   struct diag *d);

/* Appends len bytes from offset off of descriptor `in` at the position of `out`: copy_file_range,
 * else pread and write.  what: the name of the output, for messages.  0 or -1. */
int copy_bytes(int in, uint64_t off, uint64_t len, int out, const char *what, struct diag *d);

/* Writes n bytes at the position of fd; otherwise alike. */
int write_bytes(int fd, const uint8_t *p, size_t n, const char *what, struct diag *d);

#endif
