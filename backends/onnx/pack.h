/* Writes ModelProto messages to files, for the writers of one model (write.c) and of splits.
 *
 * Payloads (the elements of tensors) that the reader left in the model's file (frontends/onnx/scan.h) are copied from
 * file to file, so that gigabytes of weights are written without being in memory. */
#ifndef PCC_BACKENDS_ONNX_PACK_H
#define PCC_BACKENDS_ONNX_PACK_H

#include "ir/base/outfile.h"
#include "ir/model/module.h"

#include "onnx.pb-c.h"

#include <sys/types.h>

enum { PACK_COPY = 4096 }; /* payloads of at least PACK_COPY bytes are copied from file to file */

/* A range of addresses that stands for the bytes of a file (infile_addresses); messages point into it. */
struct mapping {
    const uint8_t *at; /* address that stands for the first byte of the file */
    uint64_t size;     /* bytes */
    int fd;            /* descriptor of the file */
};

/* Sorts mappings by ascending address. */
void mappings_sort(struct mapping *list, uint32_t n);
/* Writes the payload of tensor t at the position of descriptor `out`.  t must have bytes (no strings, not sparse or
 * opaque); what: name of the output, for messages.  Returns 0, or -1 and an error. */
int tensor_copy(const struct module *m, tid t, int out, const char *what, struct diag *d);

/* A model that is ready to be written: the weights that passes made are inside its messages, or in a file beside
 * the model. */
struct model_file {
    Onnx__ModelProto model;
    Onnx__GraphProto graph; /* main graph of `model`, if passes made weights */
    bool has_data;          /* `data` is open */
    struct outfile data;    /* file of the weights beside the model */
};
/* Makes *out, a copy of `model` for the file `path` ("-": a stream), and writes the large weights that passes made
 * to the file beside it (place.c).  *out must not be moved; if has_data, the caller closes out->data.  Returns 0, or
 * -1 and an error. */
int onnx_place(const struct module *m, const Onnx__ModelProto *model, const char *path,
               struct model_file *out, struct arena *a, struct diag *d);

/* Writes a model to descriptor fd.  map: [nmap] mappings that the messages point into, by ascending address; what: name
 * of the output, for messages.  Returns 0, or -1 and an error. */
int onnx_pack_to(const struct mapping *map, uint32_t nmap, const Onnx__ModelProto *model, int fd,
                 const char *what, struct diag *d);
/* Writes a model to the new file `name` in the folder dirfd; a file that exists is an error.  map: [nmap] mappings
 * that the messages point into, by ascending address.  Returns 0; on failure removes the file, reports an error and
 * returns -1. */
int onnx_pack_file(const struct mapping *map, uint32_t nmap, const Onnx__ModelProto *model,
                   int dirfd, const char *name, struct diag *d);

/* Writes a model to the file `path`, which appears complete or not at all and may replace another file.  Warns if the
 * external data of the model stays in another folder than the new file's, where it will not be found.  m: the module,
 * whose files have the payloads.  Returns 0, or -1 and an error. */
int onnx_pack_path(const struct module *m, const Onnx__ModelProto *model, const char *path,
                   struct diag *d);
/* Does the work of onnx_pack_path() for a model without weights that passes made, so no file of weights is written. */
int onnx_pack_source(const struct module *m, const Onnx__ModelProto *model, const char *path,
                     struct diag *d);

/* Copies len bytes from offset off of descriptor `in` to the position of descriptor `out`, by copy_file_range if
 * possible.  what: name of the output, for messages.  Returns 0, or -1 and an error. */
int copy_bytes(int in, uint64_t off, uint64_t len, int out, const char *what, struct diag *d);

/* Writes p[0 .. n) at the position of descriptor fd.  what: name of the output, for messages.  Returns 0, or -1 and an
 * error. */
int write_bytes(int fd, const uint8_t *p, size_t n, const char *what, struct diag *d);

#endif
