/* Finds the waits and fronts of an ideal (label_state.h). */
#include "passes/latency/label_state.h"

#include <assert.h>
#include <string.h>

void label_waits_start(struct label_run *r, struct label_waits *w)
{
    uint32_t n = r->p->nunit;
    w->set = arena_array(r->a, ((size_t)n + 1) * r->uword, sizeof *w->set);
    w->live = arena_array(r->a, (size_t)n + 1, sizeof *w->live);
    w->of = arena_array(r->a, (size_t)n + 1, sizeof *w->of);
    w->unit = arena_array(r->a, (size_t)n + 1, sizeof *w->unit);
    w->tail = arena_array(r->a, (size_t)n + 1, sizeof *w->tail);
    w->front = arena_array(r->a, (size_t)n + 1, sizeof *w->front);
    uint32_t slots = 1; /* a power of two, so that at most half of the hash table is filled */
    while (slots < 2 * n + 2)
        slots *= 2;
    w->slot = arena_array(r->a, slots, sizeof *w->slot);
    w->mask = slots - 1;
}

int64_t label_tail(const struct label_run *r, uint32_t x)
{
    assert(x < r->p->nunit);
    const struct latency_graph *p = r->p;
    uint32_t b = p->block[x];
    int64_t least = r->t->host[x];
    for (uint32_t k = 0; k < p->nkind; k++) {
        /* on an accelerator of kind k the values from the ideal must be transferred in first */
        int64_t on = r->t->on[k][b];
        for (uint32_t i = p->net_of.at[b]; on < least && i < p->net_of.at[b + 1]; i++) {
            uint32_t e = p->net_of.to[i], src = p->g->net_src[e];
            if (src != UINT32_MAX && src != b && bits_have(r->bits, src))
                on += p->kind[k].cost[e];
        }
        least = smaller(on, least);
    }
    return least;
}

/* Sets w->of[x] to the wait of unit x, whose set is not empty: a wait with the same set if there is one, else a new
 * wait.  Raises the wait's tail to that of x if that is larger. */
static void number_wait(const struct label_run *r, struct label_waits *w, uint32_t x,
                        uint32_t words)
{
    assert(words <= r->uword && w->n < r->p->nunit);
    const uint64_t *set = w->set + (size_t)x * r->uword;
    uint32_t at = (uint32_t)bits_hash(set, words) & w->mask;
    for (; w->slot[at]; at = (at + 1) & w->mask)
        if (!memcmp(set, w->set + (size_t)w->unit[w->slot[at] - 1] * r->uword, words * sizeof *set))
            break;
    if (!w->slot[at]) {
        w->unit[w->n] = x;
        w->tail[w->n] = 0;
        w->slot[at] = ++w->n;
    }
    w->of[x] = w->slot[at];
    int64_t tail = label_tail(r, x);
    w->tail[w->of[x] - 1] = larger(w->tail[w->of[x] - 1], tail);
}

/* Sets w->front, and raises the tail of each wait to the largest tail of the waits that contain it.  sum: scratch for
 * one set.  Wait i is a front unless the union of the smaller waits within it, in `sum`, equals it. */
static void find_fronts(const struct label_run *r, struct label_waits *w, uint32_t words,
                        uint64_t *sum)
{
    uint32_t nfront = 0;
    for (uint32_t i = 0; i < w->n; i++) {
        const uint64_t *set = w->set + (size_t)w->unit[i] * r->uword;
        memset(sum, 0, words * sizeof *sum);
        for (uint32_t j = 0; j < w->n; j++) {
            const uint64_t *part = w->set + (size_t)w->unit[j] * r->uword;
            if (j == i || !bits_within(part, set, words))
                continue;
            for (uint32_t k = 0; k < words; k++)
                sum[k] |= part[k];
            w->tail[j] = larger(w->tail[j], w->tail[i]);
        }
        w->front[i] = bits_within(set, sum, words) ? 0 : ++nfront;
    }
}

/* Numbers the live units in w->live: units of I with a successor outside.  Returns their number. */
static uint32_t number_live(const struct label_run *r, struct label_waits *w)
{
    const struct latency_graph *p = r->p;
    uint32_t nlive = 0;
    for (uint32_t x = 0; x < p->nunit; x++) {
        if (!bits_have(r->bits, p->block[x]))
            continue;
        for_row (next, p->succ, x)
            if (!bits_have(r->bits, p->block[next])) {
                w->live[x] = nlive++;
                break;
            }
    }
    return nlive;
}

void label_waits_find(struct label_run *r, struct label_waits *w)
{
    const struct latency_graph *p = r->p;
    uint32_t words = w->words = (number_live(r, w) + 63) / 64;
    memset(w->slot, 0, ((size_t)w->mask + 1) * sizeof *w->slot);
    w->n = 0;
    /* the set of each unit outside I holds its live predecessors, and the sets of its other predecessors, which have
     * smaller numbers */
    for (uint32_t x = 0; x < p->nunit; x++) {
        uint64_t *set = w->set + (size_t)x * r->uword, any = 0;
        w->of[x] = 0;
        if (bits_have(r->bits, p->block[x]))
            continue;
        memset(set, 0, words * sizeof *set);
        for_row (u, p->pred, x)
            if (bits_have(r->bits, p->block[u]))
                bits_add(set, w->live[u]);
            else
                for (uint32_t k = 0; k < words; k++)
                    set[k] |= w->set[(size_t)u * r->uword + k];
        for (uint32_t k = 0; k < words; k++)
            any |= set[k];
        if (any)
            number_wait(r, w, x, words);
    }
    find_fronts(r, w, words, w->set + (size_t)p->nunit * r->uword);
    /* counts about the work of the loops above, and of find_fronts() */
    r->steps += ((uint64_t)p->nunit + p->succ.at[p->nunit]) * (words / 4 + 1) / 3;
    r->steps += ((uint64_t)w->n * w->n + p->net_of.at[p->g->n]) / 3;
}
