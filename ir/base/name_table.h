/* A table from names to numbers, for names of a file that are not interned (strings.h). */
#ifndef PCC_IR_BASE_NAME_TABLE_H
#define PCC_IR_BASE_NAME_TABLE_H

#include "ir/base/arena.h"
#include "ir/base/hash.h"

struct names {
    struct arena *a;
    const char **key; /* [size] strings of the caller, who keeps them; NULL: the slot is free */
    uint32_t *value;  /* [size] the number stored under the name */
    uint32_t n;       /* names in the table */
    uint32_t size;    /* number of slots, a power of two */
    struct hash_key hash;
};

/* Returns an empty table, in a, with memory for `expected` names; it grows when there are more. */
struct names names_new(struct arena *a, uint32_t expected);
/* Adds a name with its number; does nothing if the table has the name already. */
void names_add(struct names *t, const char *name, uint32_t value);
/* Returns the number of a name, or `none` if the table does not have the name.  Expected O(length). */
uint32_t names_get(const struct names *t, const char *name, uint32_t none);

#endif
