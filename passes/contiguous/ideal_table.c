/* The ideals that a search has met, by their bits (ideal_state.h): a hash table with open addresses.  Expected
 * O(words) for a look. */
#include "passes/contiguous/ideal_state.h"

#include <string.h>

static bool same_bits(const struct search *s, const struct ideal *d, const uint64_t *bits)
{
    uint64_t differs = 0;
    for (uint32_t w = 0; w < d->word; w++)
        differs |= ~bits[w];
    for (uint32_t w = d->word + d->nword; w < s->nword; w++)
        differs |= bits[w];
    return !differs && memcmp(bits + d->word, s->pool + d->bits, d->nword * sizeof *bits) == 0;
}

/* The slot of the ideal with these bits, or the free slot where it belongs. */
static uint32_t slot_of(const struct search *s, uint64_t key, uint32_t card, const uint64_t *bits)
{
    uint32_t at = (uint32_t)key & s->mask;
    for (; s->slot[at]; at = (at + 1) & s->mask) {
        const struct ideal *o = &s->ideal[s->slot[at]];
        if (o->key == key && o->card == card && same_bits(s, o, bits))
            break;
    }
    return at;
}

uint32_t search_find(const struct search *s, uint64_t key, uint32_t card, const uint64_t *bits)
{
    return s->slot[slot_of(s, key, card, bits)];
}

static void rehash(struct search *s)
{
    s->mask = s->mask * 2 + 1;
    s->slot = arena_array(s->a, (size_t)s->mask + 1, sizeof *s->slot);
    for (uint32_t i = 1; i < s->nideal; i++) {
        uint32_t at = (uint32_t)s->ideal[i].key & s->mask;
        while (s->slot[at])
            at = (at + 1) & s->mask;
        s->slot[at] = i;
    }
}

uint32_t search_intern(struct search *s)
{
    uint32_t at = slot_of(s, s->key, s->card, s->bits);
    if (s->slot[at])
        return s->slot[at];
    uint32_t id = s->nideal, lo = 0, hi = s->nword;
    while (lo < hi && s->bits[lo] == UINT64_MAX)
        lo++;
    while (hi > lo && s->bits[hi - 1] == 0)
        hi--;
    s->ideal = vec_grow(s->a, s->ideal, &s->capideal, id + 1, sizeof *s->ideal);
    s->pool = vec_grow(s->a, s->pool, &s->cappool, s->npool + hi - lo + 1, sizeof *s->pool);
    struct ideal *d = &s->ideal[id];
    *d = (struct ideal){.key = s->key,
                        .card = s->card,
                        .word = lo,
                        .nword = hi - lo,
                        .bits = s->npool,
                        .next = s->bucket[s->card],
                        .cross = s->cross};
    memcpy(d->weight, s->weight, sizeof d->weight);
    memcpy(s->pool + s->npool, s->bits + lo, (hi - lo) * sizeof *s->bits);
    s->npool += hi - lo;
    s->bucket[s->card] = id;
    s->slot[at] = id;
    s->nideal++;
    if (s->nideal > s->mask / 2)
        rehash(s);
    return id;
}
