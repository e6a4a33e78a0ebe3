/* A table from 64-bit keys to numbers (map.h): open addressing with linear probing, at most half full.  The hash is
 * the highest bits of the key times a random odd number (multiply-shift; Dietzfelbinger et al., 1997), so that no file
 * can choose keys that collide.  Entries are never listed, so their random order has no effect on any output. */
#include "ir/base/map.h"

#include "ir/base/hash.h"

#include <assert.h>

enum { FIRST_BITS = 8 }; /* log2 of the number of slots at first */

/* Returns the slot that holds the key, or the free slot where it belongs. */
static uint32_t slot_of(const struct map *t, uint64_t key)
{
    uint32_t i = (uint32_t)((key * t->factor) >> t->shift);

    while (t->key[i] != 0 && t->key[i] != key)
        i = (i + 1) & t->mask;
    return i;
}

uint32_t map_get(const struct map *t, uint64_t key)
{
    return t->mask == 0 ? 0 : t->val[slot_of(t, key)]; /* free slots hold 0 */
}

/* Doubles the number of slots; the first call makes 2^FIRST_BITS of them. */
static void grow(struct map *t, struct arena *a)
{
    const struct map old = *t;

    if (old.mask == 0) {
        t->factor = hash_key_new().k[0] | 1;
        t->mask = (UINT32_C(1) << FIRST_BITS) - 1;
        t->shift = 64 - FIRST_BITS; /* the highest bits of the hash tell the slot */
    } else {
        t->mask = 2 * old.mask + 1;
        t->shift = old.shift - 1;
    }
    t->key = arena_array(a, (size_t)t->mask + 1, sizeof *t->key);
    t->val = arena_array(a, (size_t)t->mask + 1, sizeof *t->val);
    for (uint32_t i = 0; old.mask != 0 && i <= old.mask; i++) {
        if (old.key[i] == 0)
            continue;
        uint32_t k = slot_of(t, old.key[i]);
        t->key[k] = old.key[i];
        t->val[k] = old.val[i];
    }
}

void map_set(struct map *t, struct arena *a, uint64_t key, uint32_t val)
{
    assert(key != 0 && val != 0);
    if (2 * (uint64_t)t->count >= t->mask)
        grow(t, a);
    uint32_t i = slot_of(t, key);
    t->count += t->key[i] == 0;
    t->key[i] = key;
    t->val[i] = val;
}
