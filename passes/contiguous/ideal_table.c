/* The table of the ideals that a search has met (ideal_state.h): finds an ideal by the bits of its vertices.  A hash
 * table with open addresses; expected O(words) for a look. */
#include "passes/contiguous/ideal_state.h"

#include <string.h>

/* Returns whether ideal d has these bits, of which there are s->nword words.  Of d only the words are stored that are
 * neither all ones at the beginning nor zeros at the end (struct ideal). */
static bool same_bits(const struct search *s, const struct ideal *d, const uint64_t *bits)
{
    uint64_t differs = 0; /* bits that differ in the words that are not stored */
    for (uint32_t w = 0; w < d->word; w++)
        differs |= ~bits[w];
    for (uint32_t w = d->word + d->nword; w < s->nword; w++)
        differs |= bits[w];
    return !differs &&
           memcmp(bits + d->word, s->ideals.pool + d->bits, d->nword * sizeof *bits) == 0;
}

/* Returns the slot of the ideal with these bits, `card` vertices and hash `key`, or the free slot where it belongs. */
static uint32_t slot_of(const struct search *s, uint64_t key, uint32_t card, const uint64_t *bits)
{
    uint32_t at = (uint32_t)key & s->ideals.mask;
    for (; s->ideals.slot[at]; at = (at + 1) & s->ideals.mask) {
        const struct ideal *o = &s->ideals.v[s->ideals.slot[at]];
        if (o->key == key && o->card == card && same_bits(s, o, bits))
            break;
    }
    return at;
}

uint32_t search_find(const struct search *s, uint64_t key, uint32_t card, const uint64_t *bits)
{
    return s->ideals.slot[slot_of(s, key, card, bits)];
}

/* Doubles the number of slots. */
static void rehash(struct search *s)
{
    s->ideals.mask = s->ideals.mask * 2 + 1;
    s->ideals.slot = arena_array(s->a, (size_t)s->ideals.mask + 1, sizeof *s->ideals.slot);
    for (uint32_t i = 1; i < s->ideals.n; i++) {
        uint32_t at = (uint32_t)s->ideals.v[i].key & s->ideals.mask;
        while (s->ideals.slot[at])
            at = (at + 1) & s->ideals.mask;
        s->ideals.slot[at] = i;
    }
}

uint32_t search_intern(struct search *s)
{
    uint32_t at = slot_of(s, s->now.key, s->now.card, s->now.bits);
    if (s->ideals.slot[at])
        return s->ideals.slot[at];
    /* only the words lo .. hi - 1 are stored: those before are all ones, those after all zeros */
    uint32_t id = s->ideals.n, lo = 0, hi = s->nword;
    while (lo < hi && s->now.bits[lo] == UINT64_MAX)
        lo++;
    while (hi > lo && s->now.bits[hi - 1] == 0)
        hi--;
    s->ideals.v = vec_grow(s->a, s->ideals.v, &s->ideals.cap, id + 1, sizeof *s->ideals.v);
    s->ideals.pool = vec_grow(s->a, s->ideals.pool, &s->ideals.cappool,
                              s->ideals.npool + hi - lo + 1, sizeof *s->ideals.pool);
    struct ideal *d = &s->ideals.v[id];
    *d = (struct ideal){.key = s->now.key,
                        .card = s->now.card,
                        .word = lo,
                        .nword = hi - lo,
                        .bits = s->ideals.npool,
                        .next = s->ideals.bucket[s->now.card],
                        .cross = s->now.cross};
    memcpy(d->weight, s->now.weight, sizeof d->weight);
    memcpy(s->ideals.pool + s->ideals.npool, s->now.bits + lo, (hi - lo) * sizeof *s->now.bits);
    s->ideals.npool += hi - lo;
    s->ideals.bucket[s->now.card] = id;
    s->ideals.slot[at] = id;
    s->ideals.n++;
    guide_link(s, id);
    if (s->ideals.n > s->ideals.mask / 2)
        rehash(s);
    return id;
}
