/* Groups for open calls that take little of the time: the nodes of such a call stay together, since cuts through it
 * would gain little, and would divide a call of the user's own model.
 *
 * Functions are sorted by the share of the time that all their calls take, on the class of devices where that share
 * is largest.  Beginning with the smallest share, calls become groups as long as all these calls together take at most
 * `share` percent of the time on every class.  So the loss for plans is limited, however the time is spread over calls
 * and functions.  A call becomes no group if some class cannot run one of its nodes (the other nodes may run
 * there), or if its nodes are pinned to different devices.  O(nodes * classes + calls * log functions). */
#include "passes/coarsen/user_groups.h"
#include "passes/functions/opened.h"

#include "ir/base/keyed.h"
#include "ir/base/units.h"

/* The open calls (a site is the place of one) and their functions. */
struct call_table {
    const struct ctx *x;
    const struct open_calls *o;
    uint8_t *divided; /* [site] 1: the site's nodes must not become a group */
    int32_t *pin;     /* [site] a device that a node of the site is pinned to; -1: none */
    /* [class][site] ps: time of the site with the calls inside it; site 0: the whole model */
    int64_t *time[CLUSTER_CLASSES];
    /* [1 .. functions) sorted by key; item: a function; key: the share of the time, in millionths, that the
     * function's calls take on the class where that share is largest */
    struct keyed *order;
    uint32_t *rank; /* [function] index of the function in `order` */
    int64_t share;  /* percent of the time that all groups may take together */
};

/* Adds `pin`, the pin of a node or of an inner site (-1: not pinned), to `site`.  If the site has a pin to another
 * device already, marks the site as divided. */
static void note_pin(struct call_table *w, uint32_t site, int32_t pin)
{
    if (pin >= 0 && w->pin[site] >= 0 && w->pin[site] != pin)
        w->divided[site] = 1;
    w->pin[site] = pin >= 0 ? pin : w->pin[site];
}

/* Fills pin, divided and time of all sites from their nodes and from the sites inside them. */
static void weigh_sites(struct call_table *w)
{
    const struct wdag *g = w->x->levels.base;
    const struct open_calls *o = w->o;
    for (uint32_t s = 0; s < o->nsite; s++)
        w->pin[s] = -1;
    for (uint32_t v = 0; v < g->n; v++) {
        uint32_t s = o->within[g->node[v]];
        note_pin(w, s, g->pin[v]);
        for (uint32_t k = 0; k < g->ncls; k++) {
            bool never = g->time[k][v] == COST_NEVER;
            w->divided[s] |= never;
            w->time[k][s] = sat_add(w->time[k][s], never ? 0 : g->time[k][v]);
        }
    }
    for (uint32_t s = o->nsite; s-- > 1;) { /* sites inside a site have larger numbers */
        uint32_t up = o->site[s].parent;
        note_pin(w, up, w->pin[s]);
        w->divided[up] |= w->divided[s];
        for (uint32_t k = 0; k < g->ncls; k++)
            w->time[k][up] = sat_add(w->time[k][up], w->time[k][s]);
    }
}

/* Sorts the functions by the share of the time that all their calls take, on the class where this share is largest:
 * fills order and rank.  time[class][0] is the time of the whole model. */
static void weigh_functions(struct call_table *w)
{
    uint32_t n = w->o->functions->n;
    for (uint32_t f = 0; f < n; f++)
        w->order[f].item = f;
    for (uint32_t k = 0; k < w->x->levels.base->ncls; k++) {
        int64_t *sum = arena_array(w->x->use.scratch, n, sizeof *sum);
        for (uint32_t s = 1; s < w->o->nsite; s++)
            sum[w->o->site[s].function] = sat_add(sum[w->o->site[s].function], w->time[k][s]);
        for (uint32_t f = 1; f < n && w->time[k][0] > 0; f++) {
            int64_t millionths = mul_div_ceil(sum[f], 1000000, w->time[k][0]);
            w->order[f].key = larger(millionths, w->order[f].key);
        }
    }
    keyed_sort(w->order + 1, n - 1);
    for (uint32_t i = 1; i < n; i++)
        w->rank[w->order[i].item] = i;
}

/* Returns whether all calls of functions with at most this rank, if they become groups, take no more than w->share
 * percent of the time on every class.  Unless group is NULL, sets group[site] to the outermost such call around the
 * site; 0: none. */
static bool try_rank(const struct call_table *w, uint32_t rank, uint32_t *group)
{
    int64_t sum[CLUSTER_CLASSES] = {0};
    /* after a call that counts, the calls inside that call are skipped, so only outermost calls count */
    for (uint32_t s = 1; s < w->o->nsite;) {
        const struct site *at = &w->o->site[s];
        if (w->divided[s] || w->rank[at->function] > rank) {
            s++;
            continue;
        }
        for (uint32_t k = 0; k < w->x->levels.base->ncls; k++)
            sum[k] = sat_add(sum[k], w->time[k][s]);
        for (uint32_t inner = s; group != NULL && inner < at->after; inner++)
            group[inner] = s;
        s = at->after;
    }
    for (uint32_t k = 0; k < w->x->levels.base->ncls; k++)
        if (sum[k] > (int64_t)((__int128)w->time[k][0] * w->share / 100))
            return false;
    return true;
}

/* Returns the largest rank for which try_rank returns true, by bisection: the time grows with the rank.  For rank 0
 * try_rank always returns true, since no function has that rank. */
static uint32_t find_rank(const struct call_table *w)
{
    uint32_t low = 0, high = w->o->functions->n - 1;
    while (low < high) {
        uint32_t mid = low + (high - low + 1) / 2;
        if (try_rank(w, mid, NULL))
            low = mid;
        else
            high = mid - 1;
    }
    return low;
}

void groups_by_call(struct ctx *x, int64_t share, uint32_t *group)
{
    const struct wdag *g = x->levels.base;
    const struct open_calls *o = x->results.opened;
    struct call_table w = {.x = x, .o = o, .share = share};
    w.divided = arena_alloc(x->use.scratch, o->nsite);
    w.pin = arena_array(x->use.scratch, o->nsite, sizeof *w.pin);
    for (uint32_t k = 0; k < g->ncls; k++)
        w.time[k] = arena_array(x->use.scratch, o->nsite, sizeof *w.time[k]);
    w.order = arena_array(x->use.scratch, o->functions->n, sizeof *w.order);
    w.rank = arena_array(x->use.scratch, o->functions->n, sizeof *w.rank);
    weigh_sites(&w);
    weigh_functions(&w);
    uint32_t *call = arena_array(x->use.scratch, o->nsite, sizeof *call);
    try_rank(&w, find_rank(&w), call);
    for (uint32_t v = 0; v < g->n; v++)
        group[v] = call[o->within[g->node[v]]];
}
