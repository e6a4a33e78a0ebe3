/* A table from names to numbers (name_table.h): open addressing with linear probing by a keyed hash (hash.h), at most
 * half full. */
#include "ir/base/name_table.h"

#include <assert.h>
#include <string.h>

/* Returns the slot that holds the name, or the free slot where it belongs. */
static uint32_t slot_of(const struct names *t, const char *name)
{
    assert(t->size > 0 && (t->size & (t->size - 1)) == 0);
    uint32_t i = (uint32_t)hash_bytes(&t->hash, name, strlen(name)) & (t->size - 1);
    while (t->key[i] && strcmp(t->key[i], name) != 0)
        i = (i + 1) & (t->size - 1);
    return i;
}

struct names names_new(struct arena *a, uint32_t expected)
{
    struct names t = {.a = a, .size = 16, .hash = hash_key_new()};
    while (t.size / 2 <= expected && t.size < UINT32_C(1) << 31)
        t.size *= 2;
    t.key = arena_array(a, t.size, sizeof *t.key);
    t.value = arena_array(a, t.size, sizeof *t.value);
    return t;
}

void names_add(struct names *t, const char *name, uint32_t value)
{
    if (2 * ((uint64_t)t->n + 1) > t->size) {           /* more than half full with this name */
        struct names bigger = names_new(t->a, t->size); /* with four times as many slots */
        for (uint32_t i = 0; i < t->size; i++)
            if (t->key[i])
                names_add(&bigger, t->key[i], t->value[i]);
        *t = bigger;
    }
    uint32_t i = slot_of(t, name);
    if (t->key[i])
        return;
    t->key[i] = name;
    t->value[i] = value;
    t->n++;
}

uint32_t names_get(const struct names *t, const char *name, uint32_t none)
{
    uint32_t i = slot_of(t, name);
    return t->key[i] ? t->value[i] : none;
}
