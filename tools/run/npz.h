/* Reading numpy's archives of arrays, .npz. */
#ifndef PCC_TOOLS_RUN_NPZ_H
#define PCC_TOOLS_RUN_NPZ_H

#include "ir/base/arena.h"
#include "ir/base/diag.h"

/* An array of an archive; or an input in ONNX's own form that is a sequence of arrays or a map. */
struct npz_array {
    const char *name;
    int elem; /* ONNX's number of its element type */
    uint32_t rank;
    int64_t *size;    /* [rank] */
    const void *data; /* [bytes] in the order of C; may be unaligned */
    size_t bytes;
    const char *const *text; /* elements of an array of strings that was read; else NULL */
    /* of an array of strings in numpy's form: the number of characters of each element; a character has 4 bytes, or 1
     * if `narrow`.  Of other arrays: 0 */
    int64_t letters;
    bool narrow;
    /* [nitem] the elements of a sequence; or two arrays, the keys and the values of a map; NULL: this is an array,
     * which the fields above describe */
    const struct npz_array *item;
    uint32_t nitem;
};

/* An archive.  All fields zero: it has no arrays. */
struct npz {
    struct npz_array *array; /* [n] */
    uint32_t n;
    const char *path;
    /* [n] where each array lies, for npz_find() to read; NULL: all arrays were read already */
    const struct npz_entry *entry;
};

/* Reads which arrays an archive has that numpy.savez() or numpy.savez_compressed() wrote, and their names, in a;
 * npz_find() reads their elements.  Returns 0, or -1 and an error: the file is no such archive. */
int npz_open(struct npz *out, const char *path, struct arena *a, struct diag *d);
/* Writes to *to the array with this name, read in a; NULL: there is none.  Returns 0, or -1 and an error: its
 * elements are neither plain numbers nor strings. */
int npz_find(const struct npz *z, const char *name, const struct npz_array **to, struct arena *a,
             struct diag *d);

#endif
