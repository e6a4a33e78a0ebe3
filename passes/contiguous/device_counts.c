/* Finds lines of devices of several kinds (device_counts.h).
 *
 * A table has an entry for each way to choose how many devices of each kind are used: the best place that a line of
 * these devices gets to.  The last device of the line is of one of the kinds, and begins where the best line of the
 * others ends; so entries follow from those with one device less.
 *
 * The best place is not always the farthest one: behind a place where much crosses the next device pays for that.  So
 * places have scores, how far the next device gets from there, on the average over all devices; and a device ends at
 * the place of the best score among those that it may end at.
 *
 * Labels of partial plans (problem.h) would have to be as many as the entries, at each place of an order: with eight
 * kinds of four devices 390,625.
 *
 * Cost: O(ways * kinds) time, O(ways + kinds * units) memory. */
#include "passes/contiguous/device_counts.h"

#include <assert.h>

bool device_counts_few(const struct problem *c)
{
    return problem_ways(c, DEVICE_WAYS) <= DEVICE_WAYS;
}

struct device_reach device_reach_new(const struct problem *c, uint32_t n, struct arena *a)
{
    struct device_reach r = {.n = n, .score = arena_array(a, (size_t)n + 1, sizeof *r.score)};
    r.score[n] = INT64_MAX;
    for (uint32_t k = 0; k < c->nkind; k++) {
        r.far[k] = arena_array(a, (size_t)n + 1, sizeof *r.far[k]);
        for (uint32_t i = 0; i < n; i++)
            r.far[k][i] = (struct device_far){.end = i, .most = i};
    }
    return r;
}

void device_may_end(struct device_reach *r, uint32_t k, uint32_t i, uint32_t end, int64_t load)
{
    struct device_far *x = &r->far[k][i];
    assert(end > x->most && end <= r->n);
    x->most = end;
    if (x->end > i && r->score[end] < r->score[x->end])
        return;
    x->end = end;
    x->load = load;
}

void device_scored(struct device_reach *r, const struct problem *c, uint32_t i, const int64_t *work)
{
    __int128 sum = 0;
    for (uint32_t k = 0; k < c->nkind; k++)
        sum += (__int128)work[r->far[k][i].most] * c->kind[k].count;
    r->score[i] = (int64_t)(sum / c->cluster->ndev);
}

/* Returns the index of the first entry whose line gets to the end, and fills the table up to it; 0: there is none.
 * place[entry]: where its line ends; step[kind]: the distance in the table between two entries of which one has one
 * device of the kind more. */
static uint32_t fill_table(const struct problem *c, const struct device_reach *r,
                           const uint32_t *step, uint32_t *place)
{
    uint32_t used[PROBLEM_KINDS] = {0}, ways = step[c->nkind];
    for (uint32_t at = 1; at < ways; at++) {
        /* counts up: the first kind that has devices left gets one more, the kinds before it none */
        for (uint32_t k = 0; used[k]++ == c->kind[k].count; k++)
            used[k] = 0;
        for (uint32_t k = 0; k < c->nkind; k++) {
            if (!used[k])
                continue;
            uint32_t end = r->far[k][place[at - step[k]]].end, best = place[at];
            if (r->score[end] > r->score[best] || (r->score[end] == r->score[best] && end > best))
                place[at] = end;
        }
        if (place[at] == r->n)
            return at;
    }
    return 0;
}

uint32_t device_line(const struct problem *c, const struct device_reach *r, uint16_t *kind,
                     struct arena *scratch)
{
    assert(r->n > 0 && device_counts_few(c));
    struct arena_mark mark = arena_mark(scratch);
    uint32_t step[PROBLEM_KINDS + 1] = {1}, length = 0;
    for (uint32_t k = 0; k < c->nkind; k++)
        step[k + 1] = step[k] * (c->kind[k].count + 1);
    uint32_t *place = arena_array(scratch, step[c->nkind], sizeof *place);
    /* walks back from the full line: each step goes to the entry without the device whose segment ends at the present
     * place */
    for (uint32_t at = fill_table(c, r, step, place); place[at] > 0;) {
        uint32_t k = 0;
        while (at / step[k] % (c->kind[k].count + 1) == 0 ||
               r->far[k][place[at - step[k]]].end != place[at]) {
            k++;
            assert(k < c->nkind);
        }
        if (place[at - step[k]] < place[at]) /* else the device takes nothing */
            kind[length++] = (uint16_t)k;
        at -= step[k];
    }
    for (uint32_t i = 0; i < length / 2; i++) {
        uint16_t last = kind[length - 1 - i];
        kind[length - 1 - i] = kind[i];
        kind[i] = last;
    }
    arena_release(scratch, mark);
    return length;
}
