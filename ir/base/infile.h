/* The one opener of all inputs: models, external data, workloads, tables, plans, manifests, lists.
 *
 * Only regular files are opened, by a call that never waits (a FIFO that nobody writes, a terminal), and only up to a
 * size that its kind can sensibly have: a device such as /dev/zero has no end. */
#ifndef PCC_IR_BASE_INFILE_H
#define PCC_IR_BASE_INFILE_H

#include "ir/base/arena.h"
#include "ir/base/diag.h"

enum infile_kind {
    INFILE_LIST,   /* pipelines, pins, blocks, clusters: 16 MiB */
    INFILE_PLAN,   /* plans, manifests, schedules: 256 MiB */
    INFILE_TABLE,  /* measured times, profiles of runs: 2 GiB */
    INFILE_GRAPH,  /* workloads, profiles of layers, textual IR: 1 GiB */
    INFILE_MODEL,  /* an ONNX model, which is not read as a whole: 16 TiB */
    INFILE_STREAM, /* any input at standard input: 2 GiB */
    INFILE_DATA,   /* external data of a model: 16 TiB */
};

/* A descriptor of the regular file at `path`, and its size; -1 and an error. */
int infile_open(const char *path, enum infile_kind kind, uint64_t *size, struct diag *d);
/* A descriptor of `location` below the open folder dir, whatever it is; -1 and errno.  Without `links` no symbolic
 * link is followed and nothing outside the folder is reached.  O(length). */
int infile_open_beneath(int dir, const char *location, bool links, struct arena *tmp);
/* What is wrong with an open file, NULL: nothing; its size and how many names it has. */
const char *infile_wrong(int fd, enum infile_kind kind, uint64_t *size, uint64_t *names);

/* Reserves `size` addresses that stand for the bytes of a file, so that messages can point to positions in the
 * file.  The pages cannot be accessed: the bytes are read from the file.  Given back with a.  On failure NULL, and
 * errno. */
const uint8_t *infile_addresses(uint64_t size, struct arena *a);
/* 0; -1 and an error that names the first byte if the text[n] of that name is not UTF-8. */
int infile_text(const char *name, const char *text, size_t n, struct diag *d);
/* All bytes of a file of text and a NUL after them, in a; NULL and an error if it cannot be read or is not UTF-8. */
char *infile_read(const char *path, enum infile_kind kind, struct arena *a, size_t *len,
                  struct diag *d);
/* All bytes of standard input and a NUL after them, in a; NULL and an error. */
char *infile_read_stdin(enum infile_kind kind, struct arena *a, size_t *len, struct diag *d);
/* The same as infile_read for what a user names as a list ("--pin @FILE"): "-" is standard input. */
char *infile_read_list(const char *path, struct arena *a, size_t *len, struct diag *d);

/* The path of a file as seen from a folder, in a; `path` itself if the folders of either are not there. */
const char *infile_relative(const char *folder, const char *path, struct arena *a);
/* Whether both paths lead to one file or folder, which is there. */
bool infile_same(const char *one, const char *two);

#endif
