/* Opening and reading of all inputs: models, external data, workloads, tables, plans, manifests, lists.
 *
 * Only regular files are accepted, and only up to the largest sensible size of their kind: a device such as /dev/zero
 * has no end.  Opening never waits, as it otherwise would for a FIFO without a writer. */
#ifndef PCC_IR_BASE_INFILE_H
#define PCC_IR_BASE_INFILE_H

#include "ir/base/arena.h"
#include "ir/base/diag.h"

/* What an input is, with the largest size that is accepted. */
enum infile_kind {
    INFILE_LIST,   /* pipelines, pins, blocks, clusters: 16 MiB */
    INFILE_PLAN,   /* plans, manifests, schedules: 256 MiB */
    INFILE_TABLE,  /* measured times, profiles of runs: 2 GiB */
    INFILE_GRAPH,  /* workloads, profiles of layers, textual IR: 1 GiB */
    INFILE_MODEL,  /* an ONNX model, of which only parts are read: 16 TiB */
    INFILE_STREAM, /* a model or workload that comes through standard input: 2 GiB */
    INFILE_DATA,   /* external data of a model: 16 TiB */
};

/* Opens the regular file at `path`.  Returns a descriptor, and the file's size in bytes in *size; on failure reports an
 * error and returns -1. */
int infile_open(const char *path, enum infile_kind kind, uint64_t *size, struct diag *d);
/* Opens the relative path `location` below the open folder dir, whether it is a regular file or not (infile_wrong()
 * tells).  Returns a descriptor, or -1 with errno.  Unless `links` is true, symbolic links are not followed and nothing
 * outside the folder can be reached.  tmp: for scratch memory.  O(length of location). */
int infile_open_beneath(int dir, const char *location, bool links, struct arena *tmp);
/* Checks that the open file fd is regular and not too large for its kind.  Returns NULL, or words that say what is
 * wrong ("is a folder").  Writes its size in bytes to *size and its number of hard links to *links. */
const char *infile_wrong(int fd, enum infile_kind kind, uint64_t *size, uint64_t *links);

/* Reserves `size` addresses that stand for the bytes of a file, so that a data structure can point to positions in the
 * file.  The addresses must not be read: the bytes are read from the file.  Returns the first address, or NULL with
 * errno; the addresses are released when a is freed. */
const uint8_t *infile_addresses(uint64_t size, struct arena *a);
/* Checks that text[0 .. n), the content of the input `name`, is UTF-8.  Returns 0; or reports an error that tells the
 * position of the first wrong byte, and returns -1. */
int infile_text(const char *name, const char *text, size_t n, struct diag *d);
/* Reads a text file.  Returns its bytes and a NUL after them, in a, and the number of bytes in *len; if the file cannot
 * be read or is not UTF-8, reports an error and returns NULL. */
char *infile_read(const char *path, enum infile_kind kind, struct arena *a, size_t *len,
                  struct diag *d);
/* Does the same with a file that need not be text. */
char *infile_bytes(const char *path, enum infile_kind kind, struct arena *a, size_t *len,
                   struct diag *d);
/* Reads standard input.  Returns all bytes and a NUL after them, in a, and the number of bytes in *len; on failure
 * reports an error and returns NULL.  Does not check for UTF-8. */
char *infile_read_stdin(enum infile_kind kind, struct arena *a, size_t *len, struct diag *d);
/* Reads a file that the user names as a list ("--pin @FILE") and returns its text, as infile_read() does with the kind
 * INFILE_LIST; the path "-" is standard input. */
char *infile_read_list(const char *path, struct arena *a, size_t *len, struct diag *d);

/* Returns the file's path relative to the folder, in a; returns `path` unchanged if the folder or the file's own folder
 * does not exist. */
const char *infile_relative(const char *folder, const char *path, struct arena *a);
/* Whether both paths lead to the same existing file or folder. */
bool infile_same(const char *one, const char *two);
/* Whether the path leads to an existing folder. */
bool infile_is_folder(const char *path);

#endif
