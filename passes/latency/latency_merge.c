/* Merges blocks by several good plans, and searches the merged graph (latency_merge.h).
 *
 * Blocks that all plans have in one subgraph are probably together in the best plan, too (as in tour merging; Cook
 * and Seymour).  Blocks that some plan has on the hosts are not merged.  The merged graph is acyclic, since the
 * subgraphs of a plan do not wait for each other in a circle.  O(V log V) and the search. */
#include "passes/latency/latency_merge.h"

#include "ir/base/keyed.h"

#include <assert.h>
#include <string.h>

/* Divides the groups group[block] further: afterwards blocks of one group are in one subgraph of the plan, and a block
 * on the hosts is a group by itself.  Returns the number of groups.  order: scratch, one entry for each block. */
static uint32_t refine(const struct latency_graph *p, const struct latency_plan *plan,
                       struct keyed *order, uint32_t *group)
{
    uint32_t n = p->g->n, count = 0;
    uint64_t subs = (uint64_t)p->c->cluster->ndev * p->slots;
    /* key: the pair of group and subgraph as one number; for a block on the hosts, the pair of group and block */
    for (uint32_t b = 0; b < n; b++) {
        uint64_t at = plan->sub[b] == ON_HOST ? subs + b : plan->sub[b];
        order[b] = (struct keyed){(int64_t)(group[b] * (subs + n) + at), b};
    }
    keyed_sort(order, n);
    for (uint32_t i = 0; i < n; i++) {
        if (i == 0 || order[i].key != order[i - 1].key)
            count++;
        group[order[i].item] = count - 1;
    }
    return count;
}

/* Searches the merged graph `coarse` for a plan below best->value; writes it to *best, a plan of p, if it fits and is
 * better.  Returns the search's result. */
static struct label_found search_merged(const struct latency_graph *p,
                                        const struct latency_graph *coarse,
                                        const struct label_limits *l, struct latency_plan *best,
                                        struct arena *a)
{
    assert(coarse->g->n <= p->g->n && coarse->slots == p->slots);
    const uint32_t *at = coarse->g->map;
    struct latency_plan found = latency_no_plan(coarse, a), fine = latency_no_plan(p, a);
    struct latency_quotient *quotient = latency_quotient_new(p, a);
    struct label_found f =
        label_search(coarse, latency_tail_make(coarse, l->clock, a), best->value, l, &found, a);
    if (!f.complete || found.value == LOAD_INF)
        return f;
    for (uint32_t b = 0; b < p->g->n; b++)
        fine.sub[b] = found.sub[at[b]];
    if (!latency_fits(p, fine.sub, quotient))
        return f;
    int64_t value = latency_judged(p, fine.sub, quotient, latency_of(p, fine.sub, quotient));
    if (value < best->value) {
        best->value = value;
        memcpy(best->sub, fine.sub, p->g->n * sizeof *best->sub);
    }
    return f;
}

uint64_t latency_merge(const struct latency_graph *p, const struct latency_merge_input *m,
                       struct latency_plan *best, bool *ended, struct arena *scratch)
{
    assert(m->level->n == p->g->n);
    struct arena *a = arena_new(scratch);
    struct diag quiet = diag_silent();
    struct keyed *order = arena_array(a, (size_t)p->g->n + 1, sizeof *order);
    uint32_t *group = arena_array(a, (size_t)p->g->n + 1, sizeof *group), count = 0;
    struct label_found f = {.complete = true};
    const struct wdag *base = m->level;
    for (uint32_t i = 0; i < m->n; i++)
        if (m->plan[i].value < LOAD_INF)
            count = refine(p, &m->plan[i], order, group);
    while (base->finer)
        base = base->finer;
    struct wdag *g = count ? wdag_merge(m->level, group, count, "latency-place", a, &quiet) : NULL;
    struct problem *c = g ? problem_build(g, p->c->scene, MEMORY_UNCHANGED, a, &quiet) : NULL;
    if (c)
        f = search_merged(p, latency_graph_build(c, base, p->slots, a), m->limits, best, a);
    arena_free(a);
    *ended = f.complete;
    return f.steps;
}
