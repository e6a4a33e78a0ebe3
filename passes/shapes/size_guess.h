/* Finds sizes for names of dimensions that meet what nodes demand of them (demands.h). */
#ifndef PCC_PASSES_SHAPES_SIZE_GUESS_H
#define PCC_PASSES_SHAPES_SIZE_GUESS_H

#include "passes/shapes/demands.h"

/* What is known of a name apart from demands.  SIZE_GIVEN: its size is given; all other names have a size to try first.
 * SIZE_BATCH: the name is one that models use for batches.  SIZE_FIRST: the name is the first dimension of an input, so
 * probably a batch.  SIZE_OTHER: none of these. */
enum size_kind { SIZE_GIVEN, SIZE_BATCH, SIZE_OTHER, SIZE_FIRST };

/* A name and its size. */
struct size {
    sid name;      /* id of the name in the module's strings */
    uint8_t kind;  /* enum size_kind */
    int64_t value; /* the size; meaningless if `is` is set */
    /* an expression of other names that equals this name; unknown: the name has a size of its own */
    struct dim is;
};

struct sizes {
    struct module *m;
    struct arena *mem;
    struct size *at; /* [n] the names, in the order of sizes_add(); at[0] is not used */
    uint32_t n, cap;
    struct map index; /* name -> its place in `at` */
    /* size to try first for SIZE_OTHER, and for SIZE_FIRST where 1 does not meet the demands */
    int64_t usual;
    /* [ntodo] the demands; and, for each name whose expression `is` may be negative, a demand that it is not */
    struct demand *todo;
    uint32_t ntodo, captodo;
};

/* Returns sizes without names yet; `usual` becomes sizes.usual.  The strings are those of m. */
struct sizes *sizes_new(struct module *m, int64_t usual, struct arena *mem);
/* Adds a name, unless it is there.  value: its size, or the size to try first. */
void sizes_add(struct sizes *k, const char *name, enum size_kind kind, int64_t value);
/* Changes sizes that are not given until the demands hold, or nothing more can be done.  Fills k->todo, with the
 * demands of *d first; returns the first demand there that does not hold at the end; NULL: all hold.  O(demands), times
 * 8 rounds at most. */
const struct demand *sizes_meet(struct sizes *k, const struct demands *d);
/* Returns the size of a name; k->usual if the name is not there. */
int64_t sizes_of(struct sizes *k, const char *name);

#endif
