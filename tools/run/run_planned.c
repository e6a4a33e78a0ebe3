/* Simulates a run in which each part takes its planned time: executes the same lists, or turns, without threads, with a
 * clock that the parts' times move on.  Tensors that cross take no time, as on one machine.
 * O(instructions + parts * devices). */
#include "tools/run/runner.h"

#include "ir/base/numbers.h"

enum { SAMPLES_MOST = 256 }; /* number of samples that are simulated, at most */
#define PS_OF_NS INT64_C(1000)

/* Drops the outputs of samples that have ended, and begins further samples while one of the places for samples
 * (runner.flight) is free.  The inputs of these samples are the boxes first[], which hold no values. */
static void serve(struct runner *r, struct box *const *first)
{
    for (struct flight *out; (out = flight_next_out(r));)
        flight_give(r, out);
    while (r->loaded < r->n && flight_of(r, r->loaded)->sample < 0)
        flight_begin(r, first);
}

/* Begins the next part of each idle device.  Returns the device whose part ends first; NULL: all devices are idle, or
 * no box is left. */
static struct run_device *begin_parts(struct runner *r)
{
    struct run_device *next = NULL;
    int64_t least = INT64_MAX;
    for (uint32_t i = 0; i < r->ndev; i++) {
        struct run_device *d = &r->dev[i];
        if (d->part == RUN_NONE && device_choose(r, d) && !device_begin(r, d))
            return NULL;
        int64_t end =
            d->part == RUN_NONE ? INT64_MAX : d->since + r->s.part[d->part].compute_ps / PS_OF_NS;
        if (end < least)
            next = d;
        least = smaller(least, end);
    }
    return next;
}

void run_planned(struct runner *r, struct bars *to)
{
    struct runner p = *r;
    struct box none = {.of = RUN_NONE};
    struct box **first = arena_array(r->a, (size_t)r->s.ninput + 1, sizeof(struct box *));
    for (uint32_t i = 0; i < r->s.ninput; i++)
        first[i] = &none;
    for (uint32_t k = 0; k < r->s.npart; k++)
        if (r->s.part[k].compute_ps < 0)
            return;
    /* p: a copy of the run, whose changing fields begin anew */
    p.n = smaller(r->given, SAMPLES_MOST);
    p.loaded = p.given = p.virtual = 0;
    p.lists = NULL;
    p.ranks = NULL;
    p.failed = false;
    p.figures.bars = *to;
    p.dev = arena_copy(r->a, r->dev, r->ndev * sizeof *r->dev);
    pthread_cond_init(&p.host, NULL);
    for (uint32_t d = 0; d < r->ndev; d++) {
        p.dev[d].part = p.dev[d].next_part = RUN_NONE;
        p.dev[d].ready = (struct heap){0};
        pthread_cond_init(&p.dev[d].work, NULL);
    }
    if (run_begin(&p))
        return;
    if (p.lists)
        lists_move(&p);
    for (;;) {
        serve(&p, first);
        struct run_device *d = begin_parts(&p);
        if (!d)
            break;
        p.virtual = d->since + r->s.part[d->part].compute_ps / PS_OF_NS;
        device_end(&p, d);
    }
    *to = p.figures.bars;
}
