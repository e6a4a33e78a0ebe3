/* Writes proofs of lower bounds as texts (explain.h).
 *
 * Every line says one thing that a user can check with a calculator from the times and transfers of the input: times
 * are exact, in ms, and sums are shown with their terms.  A vertex is named by its first node.  Cost: O(V) for the
 * names, and O(length) for the text. */
#include "passes/bounds/explain.h"

#include "passes/bounds/crossing_bound.h"
#include "ir/base/keyed.h"
#include "ir/base/utf8.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

/* work, in arcs, for a minimum cut that is made again to be explained */
enum { EXPLAIN_WORK = 100000000 };

/* Names each vertex by its first node, and by its number of nodes if it has several.  A vertex without nodes, or every
 * vertex if there is no model, is called "vertex" with its number. */
static void name_vertices(struct explain *e)
{
    const struct wdag *g = e->c->g;
    uint32_t *count = arena_array(e->a, (size_t)g->n + 1, sizeof *count);
    nid *first = arena_array(e->a, (size_t)g->n + 1, sizeof *first);
    for (uint32_t v = e->base->n; e->m && e->base->node && v-- > 0;) {
        first[e->map[v]] = e->base->node[v];
        count[e->map[v]]++;
    }
    for (uint32_t v = 0; v < g->n; v++) {
        if (!count[v])
            e->name[v] = arena_fmt(e->a, "vertex %u", v);
        else
            e->name[v] = arena_fmt(e->a, count[v] > 1 ? "'%s' (%u nodes)" : "'%s'",
                                   utf8_text(e->a, node_name(e->m, first[v])), count[v]);
    }
}

struct explain explain_new(const struct problem *c, const struct module *m, struct arena *a)
{
    struct explain e = {.c = c, .m = m, .a = a};
    e.base = c->g;
    while (e.base->finer)
        e.base = e.base->finer;
    e.map = wdag_flatten(c->g, a);
    e.name = arena_array(a, (size_t)c->g->n + 1, sizeof *e.name);
    name_vertices(&e);
    return e;
}

void explain_add(struct explain *e, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    char *s = arena_vfmt(e->a, fmt, ap);
    va_end(ap);
    uint32_t n = (uint32_t)strlen(s);
    e->text = vec_grow(e->a, e->text, &e->cap, e->n + n + 1, 1);
    memcpy(e->text + e->n, s, n + 1);
    e->n += n;
}

const char *explain_text(const struct explain *e)
{
    return e->text ? e->text : "";
}

const char *explain_kind(struct explain *e, uint32_t k)
{
    const struct cluster *cl = e->c->cluster;
    const struct problem_kind *kd = &e->c->kind[k];
    uint32_t dev = 0, n = 0;
    if (kd->dev >= 0)
        return cluster_device_name(cl, e->a, (uint32_t)kd->dev);
    /* after the loop dev is the first device of the kind's class, last its last one */
    for (uint32_t i = 0; i < kd->cls; i++)
        dev += cl->cls[i].count;
    uint32_t last = dev + cl->cls[kd->cls].count - 1;
    const char *text = "";
    /* a device that some vertex is pinned to has a kind of its own, so it is left out here */
    for (uint32_t d = dev; d <= last; d++) {
        if (problem_kind_of(e->c, d) != k)
            continue;
        const char *name = cluster_device_name(cl, e->a, d);
        if (n++ == 0)
            text = name;
        else if (kd->count == cl->cls[kd->cls].count)
            text = arena_fmt(e->a, "%s..%s", cluster_device_name(cl, e->a, dev), name);
        else
            text = arena_fmt(e->a, "%s,%s", text, name);
    }
    return text;
}

const char *explain_time(struct explain *e, int64_t ps)
{
    char frac[16];
    snprintf(frac, sizeof frac, "%09" PRId64, ps % 1000000000);
    size_t n = 9;
    while (n && frac[n - 1] == '0')
        frac[--n] = 0;
    return arena_fmt(e->a, "%" PRId64 "%s%s ms", ps / 1000000000, n ? "." : "", frac);
}

void explain_set(struct explain *e, const uint32_t *v, uint32_t n)
{
    explain_add(e, "{");
    for (uint32_t i = 0; i < n && i < EXPLAIN_NAMES; i++)
        explain_add(e, "%s%s", i ? ", " : "", e->name[v[i]]);
    if (n > EXPLAIN_NAMES)
        explain_add(e, ", ... and %u more", n - EXPLAIN_NAMES);
    explain_add(e, "}");
}

/* ---- averages -------------------------------------------------------------------------------- */

const char *explain_share(struct explain *e, int64_t x)
{
    int64_t whole = x >> SCALE_BITS, part = x & ((1 << SCALE_BITS) - 1);
    if (part == 0)
        return arena_fmt(e->a, "%" PRId64, whole);
    return arena_fmt(e->a, "%" PRId64 "/%d", x, 1 << SCALE_BITS);
}

void explain_prices(struct explain *e, const int64_t *price, int64_t vertices, int64_t nets,
                    int64_t bound)
{
    const struct problem *c = e->c;
    __int128 all = 0;
    bool even = true;
    for (uint32_t k = 0; k < c->nkind; k++) {
        all += (__int128)price[k] * c->kind[k].count;
        even = even && price[k] == 1 << SCALE_BITS;
    }
    if (!even) {
        explain_add(e, "let a ms count as");
        for (uint32_t k = 0; k < c->nkind; k++)
            explain_add(e, "%s %s on %s", k ? "," : "", explain_share(e, price[k]),
                        explain_kind(e, k));
        explain_add(e, " (each product rounded down to a ps)\n");
    }
    explain_add(e, "nodes, each where it counts least: %s\n", explain_time(e, vertices));
    if (nets)
        explain_add(e, "transfers that somebody pays in every plan: %s\n", explain_time(e, nets));
    explain_add(e, "devices with loads of at most T hold at most ");
    for (uint32_t k = 0; k < c->nkind; k++)
        explain_add(e, "%s%u * %s", k ? " + " : "", c->kind[k].count, explain_share(e, price[k]));
    explain_add(e, " times T\n");
    explain_add(e, "%s / (%s) = %s: no plan takes less\n", explain_time(e, vertices + nets),
                explain_share(e, (int64_t)all), explain_time(e, bound));
}

/* Adds the argument for LOWER_AVERAGE: the average load by potential number `pot`. */
static void explain_average(struct explain *e, uint32_t pot)
{
    const struct problem_pot *p = &e->c->pot[pot];
    int64_t vertices = 0;
    for (uint32_t v = 0; v < e->c->g->n; v++)
        vertices += p->w[v];
    explain_add(e, "average load: what all nodes take is shared by all devices\n");
    explain_prices(e, p->scale, vertices, p->total - vertices, e->c->lower.value);
}

/* ---- pigeonholes ----------------------------------------------------------------------------- */

/* Adds the argument for LOWER_HOLES: of the m * D + 1 longest vertices one of the D devices gets m + 1 or more, so its
 * load is at least that of the m + 1 shortest of them. */
static void explain_holes(struct explain *e, uint32_t m)
{
    const struct problem *c = e->c;
    /* key: minus the vertex's time */
    struct keyed *of = arena_array(e->a, (size_t)c->g->n + 1, sizeof *of);
    uint32_t ndev = 0;
    for (uint32_t v = 0; v < c->g->n; v++) {
        int64_t time = COST_NEVER;
        for (uint32_t k = 0; k < c->nkind; k++)
            time = smaller(c->kind[k].time[v], time);
        of[v] = (struct keyed){time == COST_NEVER ? 0 : -time, v};
    }
    keyed_sort(of, c->g->n);
    for (uint32_t k = 0; k < c->nkind; k++)
        ndev += c->kind[k].count;
    uint32_t n = m * ndev + 1;
    if (m == 0) {
        explain_add(e, "longest node: %s takes %s where it is fastest: no plan takes less\n",
                    e->name[of[0].item], explain_time(e, -of[0].key));
        return;
    }
    explain_add(e, "pigeonhole: of these %u on %u devices, %u are on one device\n", n, ndev, m + 1);
    for (uint32_t i = 0; i < n; i++)
        explain_add(e, "  %s takes %s at least\n", e->name[of[i].item],
                    explain_time(e, -of[i].key));
    explain_add(e, "the %u shortest of them:", m + 1);
    for (uint32_t i = n - m - 1; i < n; i++)
        explain_add(e, "%s %s", i == n - m - 1 ? "" : " +", explain_time(e, -of[i].key));
    explain_add(e, " = %s: no plan takes less\n", explain_time(e, c->lower.value));
}

/* ---- searches, cuts -------------------------------------------------------------------------- */

/* Adds the argument for LOWER_CUT (crossing_bound.c), with the numbers of its minimum cut. */
static void explain_cut(struct explain *e)
{
    const struct problem *c = e->c;
    const struct problem_lower *l = &c->lower.by;
    const struct problem_pot *p = &c->pot[0];
    uint64_t work = EXPLAIN_WORK;
    int64_t flow = cut_flow(c, l->at, l->up, l->m, &work, e->a), most = 0;
    __int128 devices = 0;
    for (uint32_t k = 0; k < c->nkind; k++) {
        devices += (__int128)p->scale[k] * c->kind[k].count;
        most = larger(p->scale[k], most);
    }
    explain_add(e, "contiguous plans: what must cross the end of the device of %s\n",
                e->name[l->at]);
    explain_add(e, "nodes and transfers that somebody pays: %s\n", explain_time(e, p->total));
    explain_add(e,
                "what crosses that end, twice, and %u/%d of what is on that device of %s's %s: at "
                "least %s (a minimum cut)\n",
                l->m, CUT_UNIT, e->name[l->at], l->up ? "ancestors" : "descendants",
                explain_time(e, flow));
    explain_add(e, "devices with loads of at most T hold at most %s + %u/%d * %s times T\n",
                explain_share(e, (int64_t)devices), l->m, CUT_UNIT, explain_share(e, most));
    explain_add(e, "(%s + %s) / (%s + %u/%d * %s) = %s: no contiguous plan takes less\n",
                explain_time(e, p->total), explain_time(e, flow),
                explain_share(e, (int64_t)devices), l->m, CUT_UNIT, explain_share(e, most),
                explain_time(e, c->lower.value));
}

/* Adds the argument why c->lower is a bound: its stored proof or, if there is none, one made from c->lower.by. */
static void explain_lower(struct explain *e)
{
    const struct problem *c = e->c;
    const struct problem_lower *l = &c->lower.by;
    if (c->lower.proof)
        explain_add(e, "%s", c->lower.proof);
    else if (l->by == LOWER_AVERAGE)
        explain_average(e, l->at);
    else if (l->by == LOWER_HOLES)
        explain_holes(e, l->at);
    else if (l->by == LOWER_CUT)
        explain_cut(e);
    else if (l->by == LOWER_SEARCH && l->at)
        explain_add(e,
                    "search: %u of %u vertices, those with most freedom, were taken out with their "
                    "transfers and count where there is room; no contiguous plan of the others has "
                    "loads below %s; to see it again, run dp-place with the same --max-states\n",
                    l->at, c->g->n, explain_time(e, c->lower.value));
    else
        explain_add(
            e,
            "search: no contiguous plan%s has loads below %s; to see it again, run the same "
            "planner with the same --max-states\n",
            l->by == LOWER_FLAT ? " with inner links everywhere" : "",
            explain_time(e, c->lower.value));
}

const char *explain_problem(const struct problem *c, const struct module *m, struct arena *a)
{
    struct explain e = explain_new(c, m, a);
    explain_lower(&e);
    return explain_text(&e);
}

/* Adds the names of the devices that a contiguous plan uses, in the order in which a sample passes them.  of_node[node
 * of the model]: the node's device. */
static void add_order(struct explain *e, const int32_t *of_node)
{
    const struct wdag *g = e->base;
    uint32_t ndev = e->c->cluster->ndev;
    int32_t *dev = arena_array(e->a, (size_t)g->n + 1, sizeof *dev);
    for (uint32_t v = 0; v < g->n; v++)
        dev[v] = of_node[g->node[v]];
    uint8_t *left = arena_alloc(e->a, (size_t)ndev + 1),
            *ready = arena_alloc(e->a, (size_t)ndev + 1);
    for (uint32_t v = 0; v < g->n; v++)
        left[dev[v]] = 1;
    const char *sep = "";
    /* in each round: names the devices that get values only from devices named in earlier rounds */
    for (bool moved = true; moved;) {
        moved = false;
        memset(ready, 1, ndev);
        for (uint32_t v = 0; v < g->n; v++)
            for_row (u, g->pred, v)
                if (dev[u] != dev[v] && left[dev[u]])
                    ready[dev[v]] = 0;
        for (uint32_t d = 0; d < ndev; d++) {
            if (!left[d] || !ready[d])
                continue;
            explain_add(e, "%s%s", sep, cluster_device_name(e->c->cluster, e->a, d));
            sep = ", ";
            left[d] = 0;
            moved = true;
        }
    }
    explain_add(e, "\n");
}

struct bound explain_bound(const struct problem *c, const struct module *m, struct arena *a)
{
    struct bound b = c->lower;
    b.proof = explain_problem(c, m, a);
    return b;
}

const char *explain_search(const struct problem *c, const struct module *m, const struct plan *p,
                           struct arena *a)
{
    struct explain e = explain_new(c, m, a);
    explain_add(&e, "search: %s; no contiguous plan has loads below %s\n", p->claim.argument,
                explain_time(&e, p->claim.value_less_parts));
    explain_add(&e, "the devices of the plan, in the order in which samples pass them: ");
    add_order(&e, p->dev);
    explain_add(&e, "to see it again, run %s with the same options: the search is the same\n",
                p->planner);
    return explain_text(&e);
}

/* ---- reductions --------------------------------------------------------------------------------- */

/* Returns the name of v, which stands for n joined vertices: "'A' (2 nodes) and the 3 with it" if n is 4. */
static const char *group_text(struct explain *e, uint32_t v, uint32_t n)
{
    return n > 1 ? arena_fmt(e->a, "%s and the %u with it", e->name[v], n - 1) : e->name[v];
}

/* Adds the names of the devices of all kinds in the mask `kinds`, "nowhere" if it is empty. */
static void add_kinds(struct explain *e, uint32_t kinds)
{
    bool first = true;
    for (uint32_t k = 0; k < e->c->nkind; k++)
        if (kinds >> k & 1) {
            explain_add(e, "%s%s", first ? "" : ", ", explain_kind(e, k));
            first = false;
        }
    if (first)
        explain_add(e, "nowhere");
}

/* Adds, for each kind, the least load of a device that has a and not b: load[kind], ps; kinds with 0 are left out.
 * Adds nothing if load is NULL. */
static void add_loads(struct explain *e, uint32_t a, uint32_t b, const int64_t *load)
{
    for (uint32_t k = 0; load && k < e->c->nkind; k++)
        if (load[k])
            explain_add(e, "; %s without %s loads %s with %s at least", e->name[a], e->name[b],
                        explain_kind(e, k), explain_time(e, load[k]));
}

/* Adds the line for step s of a reduction, such as "  'MatMul_3' not on cpu0: 12 ms at least". */
static void add_step(struct explain *e, const struct reduction_step *s)
{
    switch (s->what) {
    case REDUCTION_DENY:
        explain_add(e, "  %s not on %s: ", group_text(e, s->a, s->na), explain_kind(e, s->k));
        if (s->with != UINT32_MAX)
            explain_add(e, "beside %s, which is there, ", e->name[s->with]);
        explain_add(e, "%s at least", explain_time(e, s->load));
        if (s->nset > 1 || s->transfer) {
            explain_add(e, ", %s + transfers %s of ", explain_time(e, s->time),
                        explain_time(e, s->transfer));
            explain_set(e, s->set, s->nset);
        }
        break;
    case REDUCTION_SIZE:
        explain_add(e, "  %s not on %s: it needs more memory", group_text(e, s->a, s->na),
                    explain_kind(e, s->k));
        break;
    case REDUCTION_JOIN:
        explain_add(e, "  %s with %s: apart, on ", group_text(e, s->a, s->na),
                    group_text(e, s->b, s->nb));
        add_kinds(e, s->ab);
        explain_add(e, " and on ");
        add_kinds(e, s->ba);
        add_loads(e, s->a, s->b, s->load_ab);
        add_loads(e, s->b, s->a, s->load_ba);
        break;
    case REDUCTION_NONE:
        explain_add(e, "  %s: no device is left", group_text(e, s->a, s->na));
    }
    explain_add(e, "\n");
}

void explain_reduction(struct explain *e, const struct reduction *r)
{
    if (!r->nstep)
        return;
    explain_add(e, "suppose that a plan takes less than %s; then, step by step,\n",
                explain_time(e, r->below));
    for (uint32_t i = 0; i < r->nstep && i < EXPLAIN_STEPS; i++)
        add_step(e, &r->step[i]);
    if (r->nstep > EXPLAIN_STEPS)
        explain_add(e, "  and %u more steps of this sort\n", r->nstep - EXPLAIN_STEPS);
}
