/* A table from names to numbers, for the messages of a file whose strings are not interned. */
#ifndef PCC_IR_BASE_NAME_TABLE_H
#define PCC_IR_BASE_NAME_TABLE_H

#include "ir/base/arena.h"
#include "ir/base/hash.h"

struct names {
    struct arena *a;
    const char **key; /* [size] NULL: free; the caller's strings, which must stay */
    uint32_t *value;
    uint32_t n, size; /* a power of two */
    struct hash_key hash;
};

struct names names_new(struct arena *a, uint32_t expected);
/* Keeps the first value given for a name. */
void names_add(struct names *t, const char *name, uint32_t value);
/* The number of a name, or `none`.  Expected O(length). */
uint32_t names_get(const struct names *t, const char *name, uint32_t none);

#endif
