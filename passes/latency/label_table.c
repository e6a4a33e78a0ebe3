/* Keeps the ideals that the exact search has met, in a hash table with open addressing, and their labels
 * (label_state.h).  Finding an ideal takes O(words) expected, adding a label O(labels of the ideal). */
#include "passes/latency/label_state.h"

#include <assert.h>
#include <string.h>

void label_table_start(struct label_run *r)
{
    struct label_ideals *d = &r->ideals;
    d->n = 1;       /* ideal number 0 stands for none */
    d->mask = 1023; /* the table grows with the number of ideals */
    d->slot = arena_array(r->a, (size_t)d->mask + 1, sizeof *d->slot);
    d->bucket = arena_array(r->a, (size_t)r->p->g->n + 1, sizeof *d->bucket);
}

/* Returns the slot of the hash table that holds the ideal r->bits, or the empty slot where it belongs. */
static uint32_t slot_of(const struct label_run *r)
{
    const struct label_ideals *d = &r->ideals;
    uint32_t at = (uint32_t)r->key & d->mask;
    for (; d->slot[at]; at = (at + 1) & d->mask) {
        const struct label_ideal *o = &d->v[d->slot[at]];
        if (o->key == r->key && o->card == r->card &&
            !memcmp(d->bits + o->bits, r->bits, r->nword * sizeof *r->bits))
            break;
    }
    return at;
}

/* Doubles the hash table and enters all ideals again. */
static void grow_table(struct label_run *r)
{
    assert((r->ideals.mask & (r->ideals.mask + 1)) == 0); /* sizes are powers of two */
    struct label_ideals *d = &r->ideals;
    d->mask = d->mask * 2 + 1;
    d->slot = arena_array(r->a, (size_t)d->mask + 1, sizeof *d->slot);
    for (uint32_t i = 1; i < d->n; i++) {
        uint32_t at = (uint32_t)d->v[i].key & d->mask;
        while (d->slot[at])
            at = (at + 1) & d->mask;
        d->slot[at] = i;
    }
}

/* Finds the fronts of the new ideal *o, whose set is r->bits, and sets the size of its labels. */
static void add_fronts(struct label_run *r, struct label_ideal *o)
{
    struct label_ideals *d = &r->ideals;
    const struct label_waits *w = &r->other;
    label_waits_find(r, &r->other);
    o->fronts = d->nfront;
    d->front = vec_grow(r->a, d->front, &d->capfront, d->nfront + w->n + 1, sizeof *d->front);
    for (uint32_t i = 0; i < w->n; i++)
        if (w->front[i])
            d->front[d->nfront++] = (struct front){w->unit[i], w->tail[i]};
    o->nfront = d->nfront - o->fronts;
    o->size = (uint32_t)(sizeof(struct latency_label) + (o->nfront + r->lanes) * sizeof(int64_t));
}

uint32_t label_find(const struct label_run *r)
{
    return r->ideals.slot[slot_of(r)];
}

uint32_t label_intern(struct label_run *r)
{
    assert(r->card <= r->p->g->n);
    struct label_ideals *d = &r->ideals;
    uint32_t at = slot_of(r);
    if (d->slot[at])
        return d->slot[at];
    uint32_t id = d->n++;
    d->v = vec_grow(r->a, d->v, &d->cap, id + 1, sizeof *d->v);
    d->bits = vec_grow(r->a, d->bits, &d->capbits, d->nbits + r->nword, sizeof *d->bits);
    d->v[id] = (struct label_ideal){
        .key = r->key, .card = r->card, .next = d->bucket[r->card], .bits = d->nbits};
    memcpy(d->bits + d->nbits, r->bits, r->nword * sizeof *r->bits);
    d->nbits += r->nword;
    d->bucket[r->card] = id;
    d->slot[at] = id;
    add_fronts(r, &d->v[id]);
    if (d->n > d->mask / 2)
        grow_table(r);
    return id;
}

/* Returns whether label a is as good as label b of the same ideal (label_state.h).  n: length of their t[]. */
static bool as_good(const struct label_run *r, const struct latency_label *a,
                    const struct latency_label *b, uint32_t n)
{
    if (a->done > b->least || !problem_no_more(r->p->c, a->used, b->used))
        return false;
    for (uint32_t i = 0; i < n; i++)
        if (a->t[i] > b->t[i])
            return false;
    return true;
}

/* Exchanges label i of an ideal with its first label. */
static void move_to_front(struct label_ideal *o, uint32_t i)
{
    unsigned char *a = o->at, *b = o->at + (size_t)i * o->size;
    for (uint32_t k = 0; k < o->size && i > 0; k++) {
        unsigned char t = a[k];
        a[k] = b[k];
        b[k] = t;
    }
}

void label_add(struct label_run *r, uint32_t ideal)
{
    assert(ideal > 0 && ideal < r->ideals.n && r->fresh->least >= r->fresh->done);
    struct label_ideal *o = &r->ideals.v[ideal];
    uint32_t n = o->nfront + r->lanes;
    /* comparing labels with lanes takes longer */
    r->steps += (r->lanes ? o->nlabel : o->nlabel / 4) + n / 8;
    for (uint32_t i = 0; i < o->nlabel; i++)
        if (as_good(r, label_at(r, ideal, i), r->fresh, n)) {
            /* from now on it is compared first, since it may be as good as later labels, too */
            move_to_front(o, i);
            return;
        }
    /* number of labels that stay: those that the fresh label is not as good as */
    uint32_t kept = 0;
    for (uint32_t i = 0; i < o->nlabel; i++)
        if (!as_good(r, r->fresh, label_at(r, ideal, i), n)) {
            if (kept != i)
                memcpy(o->at + (size_t)kept * o->size, o->at + (size_t)i * o->size, o->size);
            kept++;
        }
    r->labels -= o->nlabel - kept;
    o->nlabel = kept;
    o->at = vec_grow(r->a, o->at, &o->caplabel, kept + 1, o->size);
    memcpy(o->at + (size_t)kept * o->size, r->fresh, o->size);
    o->nlabel++;
    r->labels++;
}
