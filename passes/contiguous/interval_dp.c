/* Interval DP over topological orders (interval_dp.h).
 *
 * Source: the placement paper, 5.1.2 (DPL): the published numbers are one draw of an order; many seeded orders of
 * several kinds find the optimum nearly always.
 *
 * An order is divided into units: single vertices or, in large graphs, intervals between the positions where cuts are
 * allowed; then only nets of several units matter.  The ideals are the prefixes, and a device holds a segment, the
 * units [i, j).  For fixed i the sweep over j adds one unit at a time; what a unit changes in the transfers of the
 * segment follows from the previous unit, the first and the last unit of each of its nets, so no counters are kept or
 * undone:
 *  - the net is not in the segment yet: it is paid for good if it has a pin before i or on the host, else it is paid
 *    unless this is its last unit;
 *  - the net is in the segment, this is its last unit, it has no pin before i and none on the host: it is paid no
 *    more.
 * Time, what is paid for good, and bytes only grow with j, so the sweep ends where they exceed the best plan known.
 * Segments are skipped where the potentials (problem.h) say that the rest of the graph does not fit the devices
 * left.
 *
 * Cost: O(V + pins) for the units, and O(starts in windows * segment length * nets per unit) for each order: with a
 * good first plan a small part of U^2 / D for U units and D devices.  That plan comes from cuts at few sampled
 * positions, where little crosses.  In large graphs cuts are allowed at some thousand sampled positions first, then
 * at all positions near the best cuts.  With many kinds of devices a position keeps a limited number of partial plans:
 * there are as many as combinations of counts of devices (eight kinds of four: 390,625).  First, and without partial
 * plans, lines of devices are sought in which each device takes as much as a limit allows (device_counts.h). */
#include "passes/contiguous/interval_dp.h"

#include "passes/contiguous/device_counts.h"
#include "ir/base/random.h"
#include "ir/dag/order_cuts.h"
#include "ir/dag/topo_order.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum {
    SAMPLE_FEW = 32,   /* sampled positions for the very first plan */
    SAMPLE_MANY = 512, /* sampled positions for a better plan, in larger graphs */
    ALL_UP_TO = 8192,  /* orders of at most this number of vertices may be cut anywhere */
    SHARE = 4,         /* one order gets 1 / SHARE of the budget that is left */
    /* when a position has twice this number of labels, they are thinned out to this number: BEAM_FEW for a first plan,
     * else BEAM_MANY. With several kinds of devices labels differ in the devices that they use: there can be a label
     * for each combination of numbers */
    BEAM_FEW = 16,
    BEAM_MANY = 256,
    BEAM_MIXED = 64, /* BEAM_MANY where labels_many() */
    ROUGH_CUTS = 3,  /* cuts sampled for each device where a rough plan is enough */
    NARROW = 10      /* number of limits that narrow_down() tries */
};

/* A net that has pins in a unit. */
struct touch {
    int64_t cost;   /* ps, on the class */
    uint32_t prev;  /* 1 + the net's previous unit; 0: none */
    uint32_t first; /* the net's first unit */
    uint32_t src;   /* the unit of the vertex that produces the net's value; UINT32_MAX: none */
    uint8_t last;   /* 1: this is the net's last unit */
    uint8_t host;   /* 1: the host has a pin, too */
    uint8_t back;   /* 1: the value is made in the backward pass */
};

/* A shared item that a unit needs. */
struct need {
    int64_t bytes;
    uint32_t prev; /* 1 + the previous unit that needs the item; 0: none */
};

/* The dynamic program over one order. */
struct run {
    const struct problem *c;
    const uint32_t *order;
    uint32_t n; /* number of units */
    struct arena *a;
    /* [unit] position of the unit's first vertex; start[n]: number of vertices */
    uint32_t *start;
    int64_t *time[PROBLEM_KINDS]; /* [kind][unit] ps; COST_NEVER: cannot run there */
    /* [kind][unit] ps: the backward pass's part of `time`; NULL: no backward pass */
    int64_t *back[PROBLEM_KINDS];
    /* size: [unit] bytes, without shared items; param: [unit] bytes of parameters, NULL: not needed */
    int64_t *size, *param;
    /* [class][unit] index of the unit's first entry in `touch` */
    uint32_t *touch_at[CLUSTER_CLASSES];
    struct touch *touch[CLUSTER_CLASSES]; /* [class] the touches of all units */
    uint32_t *need_at;                    /* [unit] index of the unit's first entry in `need` */
    struct need *need;                    /* the needs of all units; NULL: bytes do not matter */
    int64_t *prefix[PROBLEM_POTS];        /* [potential][unit] weight of the units before it */
    /* [unit] the first unit at which a segment with the unit may start: earlier segments would have two vertices that
     * must not share a device; NULL: all may */
    uint32_t *barred;
    /* [unit] the first label of the plans that end before the unit; 0: none */
    uint32_t *head;
    /* [unit] at least the length of the unit's list: labels that thin_out() left in it, and labels added since */
    uint32_t *grown;
    /* the vertices in the present sweep's segment, as a set that counts the bytes needed at any one time; NULL: only
     * the bytes of all vertices together matter */
    struct set_memory *at_once;
    struct labels labels;
    struct live_list live; /* the labels that the present sweep extends */
    /* for line_up(): sweep() writes here where segments may end; NULL: sweep() extends labels */
    struct device_reach *reach;
    struct problem_caps caps;
    uint32_t last;          /* the label of the best whole plan; 0: none */
    bool quick;             /* a rough first plan: stages are not copied */
    bool few;               /* a rough plan: positions keep few partial plans */
    bool many;              /* labels_many(c) */
    bool thinned;           /* thin_out() dropped labels */
    uint64_t steps, budget; /* steps done; at most about `budget` are allowed */
    struct clock *clock;
};

/* ---- units ----------------------------------------------------------------------------------- */

/* The unit of each vertex, and the first and the last unit of each net. */
struct spans {
    uint32_t *unit;         /* [vertex] the vertex's unit */
    uint32_t *first, *last; /* [net] first and last unit with a pin of the net */
};

/* Returns the unit of each vertex, and the first and the last unit of each net.  O(V + pins). */
static struct spans find_spans(const struct run *r)
{
    const struct wdag *g = r->c->g;
    struct spans s = {.unit = arena_array(r->a, (size_t)g->n + 1, sizeof(uint32_t)),
                      .first = arena_array(r->a, (size_t)g->nnet + 1, sizeof(uint32_t)),
                      .last = arena_array(r->a, (size_t)g->nnet + 1, sizeof(uint32_t))};
    for (uint32_t u = 0; u < r->n; u++)
        for (uint32_t p = r->start[u]; p < r->start[u + 1]; p++)
            s.unit[r->order[p]] = u;
    for (uint32_t e = 0; e < g->nnet; e++) {
        s.first[e] = UINT32_MAX;
        for_row (pin, g->net_pin, e) {
            uint32_t u = s.unit[pin];
            s.first[e] = smaller_u32(u, s.first[e]);
            s.last[e] = larger_u32(u, s.last[e]);
        }
    }
    return s;
}

/* Returns whether net e can cost a device of class cls something: the net has a cost there, and pins in several units
 * or on the host. */
static bool net_matters(const struct run *r, const struct spans *s, uint32_t cls, uint32_t e)
{
    return r->c->cls[cls].cost[e] > 0 && (s->first[e] < s->last[e] || r->c->g->net_host[e]);
}

/* Writes the nets of unit u that matter to class cls to r->touch[cls], from index n on; if r->touch[cls] is NULL,
 * only counts them.  seen[net]: 1 + the last unit that had a pin of the net.  Returns the index after the last one. */
static uint32_t list_touches(struct run *r, const struct spans *s, uint32_t cls, uint32_t u,
                             uint32_t *seen, uint32_t n)
{
    const struct wdag *g = r->c->g;
    for (uint32_t p = r->start[u]; p < r->start[u + 1]; p++) {
        uint32_t v = r->order[p];
        for_row (e, r->c->net_of, v) {
            if (!net_matters(r, s, cls, e) || seen[e] == u + 1)
                continue;
            if (r->touch[cls])
                r->touch[cls][n] = (struct touch){
                    .cost = r->c->cls[cls].cost[e],
                    .prev = seen[e],
                    .first = s->first[e],
                    .src = g->net_src[e] == UINT32_MAX ? UINT32_MAX : s->unit[g->net_src[e]],
                    .last = u == s->last[e],
                    .host = g->net_host[e],
                    .back = g->net_back && g->net_back[e]};
            seen[e] = u + 1;
            n++;
        }
    }
    return n;
}

/* Makes r->touch[cls] and r->touch_at[cls].  seen: scratch, an entry for each net. */
static void make_touches(struct run *r, const struct spans *s, uint32_t cls, uint32_t *seen)
{
    uint32_t nnet = r->c->g->nnet, n = 0;
    r->touch_at[cls] = arena_array(r->a, (size_t)r->n + 1, sizeof(uint32_t));
    r->touch[cls] = NULL; /* the first round only counts */
    memset(seen, 0, ((size_t)nnet + 1) * sizeof *seen);
    for (uint32_t u = 0; u < r->n; u++)
        n = list_touches(r, s, cls, u, seen, n);
    r->touch[cls] = arena_array(r->a, (size_t)n + 1, sizeof *r->touch[cls]);
    memset(seen, 0, ((size_t)nnet + 1) * sizeof *seen);
    for (uint32_t u = 0; u < r->n; u++)
        r->touch_at[cls][u + 1] = list_touches(r, s, cls, u, seen, r->touch_at[cls][u]);
    assert(r->touch_at[cls][r->n] == n);
}

/* Makes r->need and r->need_at: the shared items that each unit needs. */
static void make_needs(struct run *r)
{
    const struct wdag *g = r->c->g;
    /* seen[item]: 1 + the last unit that needed the item; 0: none did */
    uint32_t n = 0, *seen = arena_array(r->a, (size_t)g->nshared + 1, sizeof *seen);
    r->need_at = arena_array(r->a, (size_t)r->n + 1, sizeof *r->need_at);
    r->need = arena_array(r->a, (size_t)g->shared_of.at[g->n] + 1, sizeof *r->need);
    for (uint32_t u = 0; u < r->n; u++) {
        for (uint32_t p = r->start[u]; p < r->start[u + 1]; p++) {
            uint32_t v = r->order[p];
            for_row (s, g->shared_of, v) {
                if (seen[s] != u + 1)
                    r->need[n++] = (struct need){g->shared_size[s], seen[s]};
                seen[s] = u + 1;
            }
        }
        r->need_at[u + 1] = n;
    }
}

/* Returns an array: [unit] the sum of x[vertex] over the unit's vertices, COST_NEVER if x of some vertex is COST_NEVER.
 * Returns NULL if x is NULL. */
static int64_t *sum_units(const struct run *r, const int64_t *x)
{
    int64_t *sum = x ? arena_array(r->a, (size_t)r->n + 1, sizeof *sum) : NULL;
    for (uint32_t u = 0; x && u < r->n; u++)
        for (uint32_t p = r->start[u]; p < r->start[u + 1]; p++) {
            int64_t t = x[r->order[p]];
            sum[u] = t == COST_NEVER || sum[u] == COST_NEVER ? COST_NEVER : sum[u] + t;
        }
    return sum;
}

/* Makes r->prefix: the weights of all prefixes in each potential. */
static void make_prefixes(struct run *r, const struct spans *s)
{
    const struct wdag *g = r->c->g;
    for (uint32_t p = 0; p < r->c->npot; p++) {
        const struct problem_pot *pot = &r->c->pot[p];
        int64_t *before = r->prefix[p] = arena_array(r->a, (size_t)r->n + 1, sizeof(int64_t));
        for (uint32_t u = 0; u < r->n; u++)
            for (uint32_t i = r->start[u]; i < r->start[u + 1]; i++)
                before[u + 1] += pot->w[r->order[i]];
        /* a net that crosses the end of a prefix counts from the first unit that has a pin of it */
        for (uint32_t e = 0; e < g->nnet; e++)
            if (problem_weighs(r->c, e))
                before[s->first[e] + 1] += pot->net[e];
        for (uint32_t u = 0; u < r->n; u++)
            before[u + 1] += before[u];
        assert(before[r->n] == pot->total);
    }
}

/* Makes r->barred, if some vertices must not share a device.  unit[vertex]: the unit of the vertex. */
static void make_barred(struct run *r, const uint32_t *unit)
{
    const struct csr *apart = &r->c->g->apart;
    r->barred = apart->at ? arena_array(r->a, (size_t)r->n + 1, sizeof *r->barred) : NULL;
    for (uint32_t v = 0; apart->at && v < r->c->g->n; v++)
        for_row (w, *apart, v)
            if (unit[w] <= unit[v]) /* equal: no segment may have the unit */
                r->barred[unit[v]] = larger_u32(r->barred[unit[v]], unit[w] + 1);
}

/* Makes the units of the order, and their tables.  The order may be cut before position p if cut[p] != 0 (cut NULL:
 * everywhere), or if the vertex there must not share a device with some other vertex. */
static void make_units(struct run *r, const uint8_t *cut)
{
    const struct problem *c = r->c;
    uint32_t n = c->g->n;
    r->n = 0;
    r->start = arena_array(r->a, (size_t)n + 1, sizeof *r->start);
    for (uint32_t p = 0; p < n; p++)
        if (p == 0 || !cut || cut[p] || wdag_has_apart(c->g, r->order[p]))
            r->start[r->n++] = p;
    r->start[r->n] = n;
    assert(r->n <= n && (n == 0 || r->start[0] == 0));
    struct spans s = find_spans(r);
    uint32_t *seen = arena_array(r->a, (size_t)c->g->nnet + 1, sizeof *seen);
    for (uint32_t k = 0; k < c->cluster->ncls; k++)
        make_touches(r, &s, k, seen);
    r->need = NULL;
    if (c->limited || c->values || c->scene->model.replicate)
        make_needs(r);
    for (uint32_t k = 0; k < c->nkind; k++) {
        r->time[k] = sum_units(r, c->kind[k].time);
        r->back[k] = c->detailed ? sum_units(r, c->kind[k].back) : NULL;
    }
    r->size = sum_units(r, c->g->size);
    r->param = c->detailed ? sum_units(r, c->g->param) : NULL;
    make_prefixes(r, &s);
    make_barred(r, s.unit);
    r->head = arena_array(r->a, (size_t)r->n + 1, sizeof *r->head);
    r->grown = arena_array(r->a, (size_t)r->n + 1, sizeof *r->grown);
    /* the work for each vertex and pin counts as steps */
    r->steps += 2 * (uint64_t)(n + c->net_of.at[n]);
}

/* ---- the sweep ------------------------------------------------------------------------------- */

/* A label as thin_out() sorts it. */
struct thinned {
    int64_t room; /* problem_room() of the label in potential 0 */
    uint32_t label;
};

/* For qsort: the most room first, equal room by label. */
static int by_room(const void *pa, const void *pb)
{
    const struct thinned *a = pa, *b = pb;
    if (a->room != b->room)
        return a->room > b->room ? -1 : 1;
    return (a->label > b->label) - (a->label < b->label);
}

/* Shortens the list of unit j to the `most` labels with the most room for the rest of the graph, and sorts it so; notes
 * in r->thinned if labels were dropped. */
static void thin_out(struct run *r, uint32_t j, uint32_t most)
{
    struct arena_mark mark = arena_mark(r->a);
    struct thinned *all = arena_array(r->a, r->grown[j] + 1, sizeof *all);
    uint32_t n = 0;
    for (uint32_t l = r->head[j]; l; l = r->labels.v[l].next)
        all[n++] = (struct thinned){problem_room(r->c, &r->caps, r->labels.v[l].used, /*p=*/0), l};
    qsort(all, n, sizeof *all, by_room);
    r->thinned = r->thinned || n > most;
    r->grown[j] = smaller_u32(n, most);
    /* makes the list anew, from its last label to its first */
    r->head[j] = 0;
    for (uint32_t i = r->grown[j]; i-- > 0;) {
        r->labels.v[all[i].label].next = r->head[j];
        r->head[j] = all[i].label;
    }
    arena_release(r->a, mark);
}

/* Adds nw, a plan that ends before unit j, unless it exceeds the limit or a label there is as good; thins the labels
 * there out once they are too many.  If nw is a whole plan, it is the best one so far, and only better plans are sought
 * from now on. */
static void keep_label(struct run *r, uint32_t j, struct label nw)
{
    if (nw.value + nw.back > r->caps.limit)
        return;
    uint64_t walked = r->labels.walked;
    uint32_t made = labels_relax(&r->labels, r->c, &r->head[j], nw);
    r->steps += r->labels.walked - walked;
    uint32_t beam = r->many ? BEAM_MIXED : BEAM_MANY;
    if (r->quick || r->few)
        beam = BEAM_FEW;
    r->grown[j] += made != 0;
    if (r->grown[j] > 2 * beam)
        thin_out(r, j, beam);
    if (j == r->n && made) {
        r->last = made;
        problem_set_limit(r->c, &r->caps, nw.value + nw.back - 1);
    }
}

/* extend_labels() for detailed problems: tries 1 .. `most` devices that take turns with the segment, but for each
 * label no more than the label has left.  *parts: the segment's load in parts. */
static void extend_detailed(struct run *r, uint32_t k, uint32_t j,
                            const struct problem_parts *parts, uint32_t most)
{
    assert(r->c->detailed && j <= r->n);
    r->steps += most > 1 ? (uint64_t)most * r->live.n : 0;
    for (uint32_t copies = 1; copies <= most; copies++) {
        int64_t load[2];
        problem_loads(r->c, k, parts, copies, load);
        for (uint32_t x = 0; x < r->live.n; x++) {
            const struct live *l = &r->live.v[x];
            bool rest_fits = copies <= l->left;
            for (uint32_t p = 0; p < r->c->npot && rest_fits; p++)
                rest_fits = r->prefix[p][j] >= problem_low(r->c, l, p, copies, r->caps.cap[p][k]);
            if (!rest_fits)
                continue;
            /* l->used counts the first of the devices already */
            uint64_t others = (uint64_t)(copies - 1) << r->c->kind[k].shift;
            struct label nw = {.value = larger(load[0], l->value),
                               .back = larger(load[1], l->back),
                               .used = l->used + others,
                               .parent = l->label,
                               .at = j,
                               .kind = (uint16_t)k,
                               .copies = (uint16_t)copies};
            keep_label(r, j, nw);
        }
    }
}

/* Extends each live label, which ends at the segment's start, by the segment up to unit j on a device of kind k.
 * Leaves out labels after which the units from j on do not fit on the devices left.  load: the segment's load, ps. */
static void extend_labels(struct run *r, uint32_t k, uint32_t j, int64_t load)
{
    r->steps += r->live.n / 2; /* two labels take as long as a step */
    for (uint32_t x = 0; x < r->live.n; x++) {
        const struct live *l = &r->live.v[x];
        bool rest_fits = true;
        for (uint32_t p = 0; p < r->c->npot; p++)
            rest_fits = rest_fits && r->prefix[p][j] >= l->low[p];
        if (!rest_fits)
            continue;
        struct label nw = {.value = larger(load, l->value),
                           .used = l->used,
                           .parent = l->label,
                           .at = j,
                           .kind = (uint16_t)k};
        keep_label(r, j, nw);
    }
}

/* Returns whether the units before j weigh at least low[p] in each potential p. */
static bool reaches(const struct run *r, uint32_t j, const int64_t low[PROBLEM_POTS])
{
    for (uint32_t p = 0; p < r->c->npot; p++)
        if (r->prefix[p][j] < low[p])
            return false;
    return true;
}

/* Returns whether no segment that starts at unit i may have unit j. */
static bool is_barred(const struct run *r, uint32_t i, uint32_t j)
{
    return r->barred && i < r->barred[j];
}

/* Returns the bytes that unit j adds to a segment that starts at unit i. */
static int64_t new_bytes(const struct run *r, uint32_t i, uint32_t j)
{
    int64_t sum = r->size[j];
    for (uint32_t x = r->need_at[j]; x < r->need_at[j + 1]; x++)
        if (r->need[x].prev <= i)
            sum += r->need[x].bytes;
    return sum;
}

/* When unit j joins the segment [i, j), whose load is *parts: updates in *parts what the segment pays for net h, which
 * has pins in unit j. */
static void add_net_parts(struct problem_parts *parts, const struct touch *h, uint32_t i,
                          uint32_t j)
{
    /* open: the net has a pin before the segment or on the host; src: the segment makes the value, so that it is sent,
     * not received */
    bool open = h->first < i || h->host, src = h->src >= i && h->src <= j;
    int64_t *t = parts->t[h->back];
    /* h->prev is 1 + the last unit before j with a pin of the net: if that unit is in [i, j), the segment has paid for
     * the net so far, and the payment is taken back */
    if (h->prev > i)
        t[h->src >= i && h->src < j ? PART_OUT : PART_IN] -= h->cost;
    if (open || !h->last)
        t[src ? PART_OUT : PART_IN] += h->cost;
}

/* Steps that adding a vertex to the set r->at_once, and dropping it, counts as. */
enum { CHANGE_STEPS = 50 };

/* Returns whether a device of kind k has room for the units before `end` of the present sweep, whose lasting bytes are
 * `bytes` and whose transfers take `cut` ps.  *have: the end of the units that are in r->at_once; it is brought up to
 * `end` if need be. */
static bool has_room(struct run *r, uint32_t k, uint32_t end, uint32_t *have, int64_t bytes,
                     int64_t cut)
{
    if (!r->at_once || r->c->kind[k].room >= LOAD_INF || problem_surely_fits(r->c, k, bytes, cut))
        return true;
    r->steps += (uint64_t)CHANGE_STEPS * (r->start[end] - r->start[*have]);
    for (uint32_t p = r->start[*have]; p < r->start[end]; p++)
        set_memory_add(r->at_once, problem_own_number(r->c, r->order[p]));
    *have = end;
    return bytes + set_memory_peak(r->at_once) <= r->c->kind[k].room;
}

/* Returns the ps of a segment's load that are transfers, in and out. */
static int64_t transfers_of(const struct problem_parts *parts)
{
    return parts->t[0][PART_IN] + parts->t[0][PART_OUT] + parts->t[1][PART_IN] +
           parts->t[1][PART_OUT];
}

/* sweep() for detailed problems: keeps the segment's load as *parts (struct problem_parts), and tries several
 * devices that take turns. */
static void sweep_detailed(struct run *r, uint32_t i, uint32_t k, const int64_t low[PROBLEM_POTS])
{
    const struct problem *c = r->c;
    const struct problem_kind *kind = &c->kind[k];
    const uint32_t *at = r->touch_at[kind->cls];
    struct problem_parts parts = {0};
    int64_t compute = 0, bytes = 0;
    uint32_t have = i; /* the units [i, have) are in r->at_once (has_room) */
    /* most: the most devices that the stage may have; the devices share the computing of the segment */
    uint32_t j = i, most = 1;
    for (uint32_t x = 0; x < r->live.n && !r->quick; x++)
        most = larger_u32(r->live.v[x].left, most);
    /* grows the segment by unit j, until the kind cannot run it or it exceeds a limit */
    for (; j < r->n; j++) {
        int64_t t = r->time[k][j], back = r->back[k] ? r->back[k][j] : 0;
        if (t == COST_NEVER || is_barred(r, i, j))
            break;
        compute += t;
        if (compute > sat_mul(most, r->caps.limit))
            break;
        parts.t[0][PART_COMPUTE] += t - back;
        parts.t[1][PART_COMPUTE] += back;
        for (uint32_t p = r->start[j]; p < r->start[j + 1]; p++)
            problem_count_vertex(c, &parts, r->order[p], 1);
        parts.params += r->param ? r->param[j] : 0;
        for (uint32_t x = at[j]; x < at[j + 1]; x++)
            add_net_parts(&parts, &r->touch[kind->cls][x], i, j);
        if (r->need) {
            int64_t more = new_bytes(r, i, j);
            bytes += more;
            parts.params += more - r->size[j]; /* shared items are parameters */
        }
        if (kind->memory < LOAD_INF && bytes > kind->memory)
            break;
        if (reaches(r, j + 1, low) && has_room(r, k, j + 1, &have, bytes, transfers_of(&parts)))
            extend_detailed(r, k, j + 1, &parts, most);
    }
    if (have > i)
        set_memory_clear(r->at_once);
    r->steps += at[j] - at[i] + j - i + 1; /* the units and touches looked at */
}

/* Extends the live labels, which end before unit i, by all segments [i, j) that are within the limits on a device of
 * kind k.  If r->reach is set, extends none, but tells r->reach where the segments end.  low: least weight of the units
 * before j in each potential, so that the rest may fit. */
static void sweep(struct run *r, uint32_t i, uint32_t k, const int64_t low[PROBLEM_POTS])
{
    const struct problem_kind *kind = &r->c->kind[k];
    const struct touch *touch = r->touch[kind->cls];
    const uint32_t *at = r->touch_at[kind->cls];
    /* fixed: ps that no later unit takes back; open: ps of nets with pins in later units, which stop costing when the
     * segment holds all their pins */
    int64_t fixed = 0, open = 0, bytes = 0;
    int64_t compute = 0;      /* ps of `fixed` for computing */
    uint32_t j = i, have = i; /* the units [i, have) are in r->at_once */
    for (; j < r->n; j++) {
        int64_t t = r->time[k][j];
        if (t == COST_NEVER || is_barred(r, i, j))
            break;
        fixed += t;
        compute += t;
        for (uint32_t x = at[j]; x < at[j + 1]; x++) {
            const struct touch *h = &touch[x];
            if (h->prev <= i) { /* unit j is the net's first unit in the segment */
                if (h->prev > 0 || h->host)
                    fixed += h->cost;
                else if (!h->last)
                    open += h->cost;
            } else if (h->last && h->first >= i && !h->host) { /* the segment has all pins now */
                open -= h->cost;
            }
        }
        if (r->need)
            bytes += new_bytes(r, i, j);
        /* with many labels a single sweep takes long enough for a look at the clock */
        if (bytes > kind->memory || fixed > r->caps.limit ||
            (r->live.n > LABELS_FEW && clock_out(r->clock)))
            break;
        if (fixed + open <= r->caps.limit && reaches(r, j + 1, low) &&
            has_room(r, k, j + 1, &have, bytes, fixed + open - compute)) {
            if (r->reach)
                device_may_end(r->reach, k, i, j + 1, fixed + open);
            else
                extend_labels(r, k, j + 1, fixed + open);
        }
    }
    if (have > i)
        set_memory_clear(r->at_once);
    r->steps += at[j] - at[i] + j - i + 1; /* the units and touches looked at */
}

/* Runs the dynamic program over all units; returns whether it found a plan within the limit. */
static bool run_program(struct run *r)
{
    r->labels.n = 0;
    r->last = 0;
    memset(r->head, 0, ((size_t)r->n + 1) * sizeof *r->head);
    memset(r->grown, 0, ((size_t)r->n + 1) * sizeof *r->grown);
    labels_relax(&r->labels, r->c, &r->head[0], (struct label){.value = 0});
    for (uint32_t i = 0; i < r->n; i++) {
        if (!r->head[i])
            continue;
        for (uint32_t k = 0; k < r->c->nkind; k++) {
            problem_live(r->c, &r->labels, r->head[i], k, &r->caps, &r->live);
            /* hope: a stage from unit i on, as heavy as devices of the kind can hold, may leave a rest that fits */
            const int64_t *low = r->live.low;
            bool hope = true;
            for (uint32_t p = 0; p < r->c->npot; p++)
                hope = hope && sat_add(r->prefix[p][i],
                                       sat_mul(r->c->kind[k].copies, r->caps.cap[p][k])) >= low[p];
            if (r->live.n && hope && r->c->detailed)
                sweep_detailed(r, i, k, low);
            else if (r->live.n && hope)
                sweep(r, i, k, low);
        }
        if (r->steps > r->budget || clock_out(r->clock))
            break;
    }
    return r->last != 0;
}

/* Writes the best whole plan to *best: the chain of labels that ends with r->last. */
static void write_plan(struct run *r, struct problem_plan *best)
{
    uint32_t nstep = 0;
    for (uint32_t l = r->last; r->labels.v[l].parent; l = r->labels.v[l].parent)
        nstep++;
    struct problem_step *steps = arena_array(r->a, (size_t)nstep + 1, sizeof *steps);
    /* [step] the unit behind its last one */
    uint32_t *end = arena_array(r->a, (size_t)nstep + 1, sizeof *end);
    uint32_t *step = arena_array(r->a, (size_t)r->c->g->n + 1, sizeof *step);
    uint32_t s = nstep; /* the present step */
    for (uint32_t l = r->last; r->labels.v[l].parent; l = r->labels.v[l].parent) {
        steps[--s] = (struct problem_step){r->labels.v[l].kind, r->labels.v[l].copies};
        end[s] = r->labels.v[l].at;
    }
    assert(s == 0 && nstep > 0 && end[nstep - 1] == r->n);
    for (uint32_t i = 0; i < r->n; i++) {
        while (i >= end[s])
            s++;
        for (uint32_t p = r->start[i]; p < r->start[i + 1]; p++)
            step[r->order[p]] = s;
    }
    best->value = r->labels.v[r->last].value + r->labels.v[r->last].back;
    problem_assign(r->c, step, steps, nstep, best);
}

/* ---- where to cut ---------------------------------------------------------------------------- */

/* For each kind of device, marks in cut[position] where the order divides into as many pieces of equal work as there
 * are devices of the kind.  work[p]: work of the first p vertices. */
static void mark_even_cuts(const struct problem *c, const int64_t *work, uint8_t *cut)
{
    /* twice all work, as `middle` is twice the middle of a vertex; + 1: so that the last piece is number count - 1 */
    __int128 all = (__int128)work[c->g->n] * 2 + 1;
    for (uint32_t k = 0; k < c->nkind; k++)
        /* a vertex belongs to the piece in which the middle of its work lies */
        for (uint32_t p = 0, before = 0; p < c->g->n; p++) {
            __int128 middle = (__int128)work[p] + work[p + 1];
            uint32_t piece = (uint32_t)(middle * c->kind[k].count / all);
            cut[p] = cut[p] || piece != before;
            before = piece;
        }
}

/* Makes units.  They may be cut at the cheapest position of each of `count` pieces of about equal weight, where the
 * order divides into pieces of equal work (mark_even_cuts), and, with `near`, at all positions around the cuts of the
 * plan r->last. */
static void sample_units(struct run *r, uint32_t count, bool near)
{
    assert(count > 0 && (!near || r->last));
    const struct wdag *g = r->c->g;
    uint8_t *cut = arena_alloc(r->a, (size_t)g->n + 1);
    int64_t *work = arena_array(r->a, (size_t)g->n + 1, sizeof *work);
    uint32_t cuts = 0; /* number of the plan's cuts, both ends of the order among them */
    for (uint32_t p = 0; p < g->n; p++)
        work[p + 1] = work[p] + r->c->pot[0].w[r->order[p]];
    cuts_sample(g, r->order, work, count, cut, r->a);
    mark_even_cuts(r->c, work, cut);
    for (uint32_t l = near ? r->last : 0; l; l = r->labels.v[l].parent)
        cuts++;
    for (uint32_t l = near ? r->last : 0; l; l = r->labels.v[l].parent) {
        /* at: position of the plan's cut in the order; radius: all cuts together allow ALL_UP_TO / 2 positions more */
        uint32_t at = r->start[r->labels.v[l].at], radius = ALL_UP_TO / (4 * cuts);
        uint32_t lo = at > radius ? at - radius : 1;
        for (uint32_t p = lo; p < g->n && p <= at + radius; p++)
            cut[p] = 1;
    }
    make_units(r, cut);
}

/* Runs the dynamic program over the present units, unless the budget is used up.  Writes a better plan to *best;
 * returns whether there was one. */
static bool run_units(struct run *r, struct problem_plan *best)
{
    if (r->steps > r->budget || !run_program(r))
        return false;
    write_plan(r, best);
    return true;
}

/* Improves *best if thin_out() dropped labels.  thin_out() keeps the labels with the most room under the limit, and
 * such labels lead only to plans near the limit: so narrow_down() halves, again and again, the range between the
 * bound and the best plan, with its middle as the limit.  All its runs are rough ones (r->quick).  Returns whether
 * *best improved. */
static bool narrow_down(struct run *r, struct problem_plan *best)
{
    bool quick = r->quick, better = false;
    int64_t low = r->c->lower.value;
    r->quick = true;
    for (uint32_t i = 0; i < NARROW && r->thinned && best->value - low > 1 && !clock_out(r->clock);
         i++) {
        int64_t middle = low + (best->value - low) / 2;
        problem_set_limit(r->c, &r->caps, middle);
        if (run_units(r, best))
            better = true;
        else
            low = middle;
    }
    r->quick = quick;
    problem_set_limit(r->c, &r->caps, best->value - 1);
    return better;
}

/* Makes labels of the line of devices that gets to the end within the limit (device_counts.h), and r->last its last
 * one.  Returns whether there is a line; false also if steps or time ran out. */
static bool find_line(struct run *r)
{
    /* for sweep(): no unit is left out because of what devices behind it can hold */
    static const int64_t none[PROBLEM_POTS] = {0};
    struct device_reach reach = device_reach_new(r->c, r->n, r->a);
    r->reach = &reach;
    bool stopped = false;
    for (uint32_t i = r->n; i-- > 0 && !stopped;) {
        for (uint32_t k = 0; k < r->c->nkind; k++)
            sweep(r, i, k, none);
        device_scored(&reach, r->c, i, r->prefix[0]);
        stopped = r->steps > r->budget || clock_out(r->clock);
    }
    r->reach = NULL;
    uint16_t *kind = arena_array(r->a, (size_t)r->c->cluster->ndev + 1, sizeof *kind);
    uint32_t length = stopped ? 0 : device_line(r->c, &reach, kind, r->a), at = 0;
    /* label 0 is none, label 1 the empty plan */
    struct labels *l = &r->labels;
    l->v = vec_grow(l->mem, l->v, &l->cap, length + 2, sizeof *l->v);
    l->v[1] = (struct label){.value = 0};
    for (uint32_t i = 0; i < length; i++) {
        const struct device_far *far = &reach.far[kind[i]][at];
        at = far->end;
        l->v[i + 2] = (struct label){.value = larger(l->v[i + 1].value, far->load),
                                     .parent = i + 1,
                                     .at = at,
                                     .kind = kind[i]};
    }
    l->n = length + 2;
    r->last = length + 1;
    return length > 0;
}

/* Improves *best by lines of devices over the present units, where there are too many labels, but few enough ways to
 * choose how many devices of each kind are used.  If there is a line below the value of *best, halves, again and again,
 * the range between the bound and the best plan, with its middle as the limit.  Returns whether *best improved. */
static bool line_up(struct run *r, struct problem_plan *best)
{
    bool better = false;
    int64_t low = r->c->lower.value, limit = best->value - 1;
    if (!r->many || r->c->detailed || !device_counts_few(r->c) || best->value == LOAD_INF)
        return false;
    for (uint32_t i = 0; i < NARROW && limit > low && r->steps <= r->budget; i++) {
        problem_set_limit(r->c, &r->caps, limit);
        bool found = !clock_out(r->clock) && find_line(r);
        if (found)
            write_plan(r, best);
        else
            low = limit;
        better = better || found;
        if (!better)
            break;
        limit = low + (best->value - low) / 2;
    }
    problem_set_limit(r->c, &r->caps, best->value - 1);
    return better;
}

/* ---- orders ---------------------------------------------------------------------------------- */

/* Returns a run over `order` that seeks plans better than *best in about `budget` steps. */
static struct run make_run(const struct problem *c, const uint32_t *order, struct clock *clock,
                           uint64_t budget, const struct problem_plan *best, struct arena *a)
{
    struct run r = {.c = c, .order = order, .clock = clock, .budget = budget, .a = a};
    r.many = labels_many(c);
    r.at_once = c->values ? set_memory_new(c->values, a) : NULL;
    r.labels.mem = a;
    problem_set_limit(c, &r.caps, best->value - 1);
    return r;
}

/* Improves *best by one order, with few possible cuts first, then with more; returns whether it improved.  The very
 * first plan is cheap, and is made even if time is up. */
static bool search_order(struct run *r, struct problem_plan *best)
{
    bool better = false;
    uint32_t n = r->c->g->n;
    struct clock *clock = r->clock;
    if (best->value == LOAD_INF && n > 2 * SAMPLE_FEW) {
        r->clock = NULL; /* no time limit */
        r->quick = true;
        sample_units(r, SAMPLE_FEW, /*near=*/false);
        better = run_units(r, best);
        r->clock = clock;
        better = narrow_down(r, best) || better;
        r->quick = false;
    }
    if (n > ALL_UP_TO) {
        sample_units(r, SAMPLE_MANY, /*near=*/false);
        better = run_units(r, best) || better;
        sample_units(r, ALL_UP_TO / 2, /*near=*/false);
        if (!run_units(r, best)) /* there is no plan r->last whose cuts could be moved */
            return better;
        sample_units(r, ALL_UP_TO / 2, /*near=*/true);
        run_units(r, best);
        return true;
    }
    if (best->value == LOAD_INF && n > 2 * SAMPLE_MANY) {
        sample_units(r, SAMPLE_MANY, /*near=*/false);
        better = run_units(r, best) || better;
    }
    make_units(r, NULL);
    better = line_up(r, best) || better;
    better = run_units(r, best) || better;
    return narrow_down(r, best) || better;
}

/* Runs the search over the present units, which writes a better plan to *best.  Returns the result for one order; its
 * steps include one for each pin, for the making of the order. */
static struct interval_found run_once(struct run *r, struct problem_plan *best)
{
    struct interval_found f = {.better = line_up(r, best), .tried = 1};
    f.better = run_units(r, best) || f.better;
    f.spent = r->steps + r->c->net_of.at[r->c->g->n];
    return f;
}

struct interval_found interval_order(const struct problem *c, const uint32_t *order,
                                     const uint8_t *cut, struct clock *clock,
                                     struct problem_plan *best, struct arena *scratch)
{
    struct arena_mark mark = arena_mark(scratch);
    struct run r = make_run(c, order, clock, INTERVAL_BUDGET / SHARE, best, scratch);
    make_units(&r, cut);
    struct interval_found f = run_once(&r, best);
    arena_release(scratch, mark);
    return f;
}

struct interval_found interval_rough(const struct problem *c, const uint32_t *order,
                                     struct clock *clock, struct problem_plan *best,
                                     struct arena *scratch)
{
    struct arena_mark mark = arena_mark(scratch);
    struct run r = make_run(c, order, clock, INTERVAL_BUDGET / SHARE, best, scratch);
    uint32_t few = ROUGH_CUTS * c->cluster->ndev;
    r.few = r.many;
    if (r.many && c->g->n > few)
        sample_units(&r, few, /*near=*/false);
    else
        make_units(&r, NULL);
    struct interval_found f = run_once(&r, best);
    arena_release(scratch, mark);
    return f;
}

enum {
    FIRST = 6, /* lengths of the lists in mixed_kind() */
    CYCLE = 6,
    ORDER_STEPS = 8 /* steps that making an order counts as, for each vertex and pin */
};

/* Returns the kind of order number s for INTERVAL_MIXED. */
static enum topo_kind mixed_kind(uint32_t s)
{
    static const enum topo_kind first[FIRST] = {TOPO_NUMBER, TOPO_CPD,  TOPO_LIFO,
                                                TOPO_LATE,   TOPO_THIN, TOPO_FIFO};
    static const enum topo_kind cycle[CYCLE] = {TOPO_LIFO, TOPO_LATE, TOPO_THIN,
                                                TOPO_LIFO, TOPO_LATE, TOPO_RANDOM};
    return s < FIRST ? first[s] : cycle[s % CYCLE];
}

/* Writes rank[device], its place in a topological order of the quotient graph by devices of the contiguous plan
 * dev[vertex].  O(V + E + devices). */
static void rank_devices(const struct problem *c, const int32_t *dev, uint32_t *rank,
                         struct arena *a)
{
    const struct wdag *g = c->g;
    uint32_t ndev = c->cluster->ndev, done = 0, top = 0;
    uint32_t *in = arena_array(a, (size_t)ndev + 1, sizeof *in);
    uint32_t *stack = arena_array(a, (size_t)ndev + 1, sizeof *stack);
    uint32_t *head = arena_array(a, (size_t)ndev + 1, sizeof *head);
    uint32_t *next = arena_array(a, (size_t)g->n + 1, sizeof *next);
    /* head, next: the vertices of each device as a list (1 + vertex); in[dev]: edges from devices without a rank */
    for (uint32_t v = g->n; v-- > 0;) {
        next[v] = head[dev[v]];
        head[dev[v]] = v + 1;
        for_row (u, g->pred, v)
            in[dev[v]] += dev[u] != dev[v];
    }
    for (uint32_t d = ndev; d-- > 0;)
        if (!in[d])
            stack[top++] = d;
    while (top) {
        uint32_t d = stack[--top];
        rank[d] = done++;
        for (uint32_t v = head[d]; v; v = next[v - 1])
            for (uint32_t i = g->succ.at[v - 1]; i < g->succ.at[v]; i++) {
                uint32_t to = (uint32_t)dev[g->succ.to[i]];
                if (to != d && --in[to] == 0)
                    stack[top++] = to;
            }
    }
    assert(done == ndev); /* the devices of a contiguous plan form no cycle */
}

uint32_t *interval_gather(const struct problem *c, const uint32_t *order, const int32_t *dev,
                          struct arena *a)
{
    uint32_t n = c->g->n, ndev = c->cluster->ndev;
    uint32_t *rank = arena_array(a, (size_t)ndev + 1, sizeof *rank);
    uint32_t *at = arena_array(a, (size_t)ndev + 2, sizeof *at);
    uint32_t *new_order = arena_array(a, (size_t)n + 1, sizeof *new_order);
    rank_devices(c, dev, rank, a);
    /* at[rank of a device]: the position of the device's next vertex, at first that of its first one */
    for (uint32_t v = 0; v < n; v++)
        at[rank[dev[v]] + 1]++;
    for (uint32_t d = 0; d < ndev; d++)
        at[d + 1] += at[d];
    for (uint32_t i = 0; i < n; i++)
        new_order[at[rank[dev[order[i]]]]++] = order[i];
    return new_order;
}

/* Returns the next order to try, number run->found.tried.  With INTERVAL_MIXED the first FIRST orders are of
 * different kinds, with ties broken by vertex number; later orders break ties at random, and every second one is
 * rearranged around the best plan. */
static const uint32_t *next_order(const struct problem *c, const struct interval_run *run,
                                  uint64_t seed, const struct problem_plan *best, struct arena *a)
{
    const struct interval_how *how = run->how;
    uint32_t tried = run->found.tried;
    assert(how->order <= TOPO_DFS + 1);
    bool mixed = how->order == INTERVAL_MIXED, later = mixed && tried >= FIRST;
    bool by_number = mixed ? !later : tried == 0 && how->seed == 0;
    /* two later orders in a row are of one kind, since the second one is rearranged */
    uint32_t s = later ? FIRST + (tried - FIRST) / 2 : tried;
    enum topo_kind kind = mixed ? mixed_kind(s) : (enum topo_kind)(how->order - 1);
    /* for topo_order() the seed 0 means: ties go by vertex number */
    const uint32_t *order = topo_order(c->g, kind, by_number ? 0 : seed | 1, a);
    if (later && tried % 2 && best->value < LOAD_INF)
        order = interval_gather(c, order, best->dev, a);
    return order;
}

struct interval_run interval_begin(const struct interval_how *how)
{
    return (struct interval_run){.how = how, .state = how->seed};
}

/* Returns the steps that all orders of the run may take together. */
static uint64_t budget_of(const struct interval_run *run)
{
    return run->how->budget ? run->how->budget : INTERVAL_BUDGET;
}

bool interval_over(const struct interval_run *run)
{
    return run->found.tried >= run->how->starts || run->found.spent > budget_of(run);
}

bool interval_next(const struct problem *c, struct interval_run *run, struct problem_plan *best,
                   struct arena *scratch)
{
    struct interval_found *f = &run->found;
    uint64_t budget = budget_of(run), seed = random_bits(&run->state);
    if (f->spent > budget)
        return false;
    struct arena_mark mark = arena_mark(scratch);
    const uint32_t *order = next_order(c, run, seed, best, scratch);
    struct run r = make_run(c, order, run->how->clock, (budget - f->spent) / SHARE, best, scratch);
    bool better = search_order(&r, best);
    f->spent += r.steps + ORDER_STEPS * (uint64_t)(c->g->n + c->net_of.at[c->g->n]);
    f->tried++;
    f->better = f->better || better;
    arena_release(scratch, mark);
    return better;
}

struct interval_found interval_search(const struct problem *c, const struct interval_how *how,
                                      struct problem_plan *best, struct arena *scratch)
{
    struct interval_run run = interval_begin(how);
    while (!interval_over(&run) && best->value > c->lower.value &&
           !(run.found.tried && clock_out(how->clock))) {
        interval_next(c, &run, best, scratch);
        if (how->phase)
            problem_tell(c, how->clock, how->phase,
                         (uint32_t)((uint64_t)run.found.tried * 1000 / how->starts), best->value);
    }
    return run.found;
}
