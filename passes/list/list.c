/* Functions shared by the list schedulers (list.h).
 *
 * Sources: Celeritas (arXiv 2208.00184): the first member of a group decides where the group is; Baechi: best effort
 * where memory is short.  Schedulers work with estimates; the value that a plan claims is found by running the plan
 * (ir/exec). */
#include "passes/list/list.h"

#include "ir/base/units.h"
#include "passes/problem/claim.h"
#include "passes/list/too_large.h"

#include <assert.h>
#include <string.h>

/* ---- transfers ---------------------------------------------------------------------------------- */

/* Adds the times of the nets that v makes to the edges from v to their readers.  at: [reader] the edge from v to it;
 * cost: [class][net]; to: [class][edge]; all times in ps. */
static void add_nets(const struct wdag *g, uint32_t v, const uint32_t *at, int64_t *const *cost,
                     int64_t **to)
{
    for_row (e, g->net_of, v) {
        if (g->net_src[e] != v)
            continue;
        for_row (pin, g->net_pin, e)
            for (uint32_t c = 0; c < g->ncls && pin != v; c++) {
                int64_t *sum = &to[c][at[pin]];
                *sum = sat_add(*sum, cost[c][e]);
            }
    }
}

/* Returns edges.entry: for each index in g->succ.to the number of the edge. */
static uint32_t *edge_entries(const struct wdag *g, struct arena *a)
{
    uint32_t *entry = arena_array(a, (size_t)g->succ.at[g->n] + 1, sizeof *entry);
    uint32_t *next = arena_array(a, (size_t)g->n + 1, sizeof *next);
    memcpy(next, g->pred.at, g->n * sizeof *next);
    for (uint32_t v = 0; v < g->n; v++) /* each row of g->pred is ascending, too */
        for (uint32_t i = g->succ.at[v]; i < g->succ.at[v + 1]; i++)
            entry[i] = next[g->succ.to[i]]++;
    return entry;
}

/* Returns edges.link or edges.inner, for nets with the times cost[class][net]. */
static int64_t **edge_times(const struct wdag *g, const uint32_t *entry, int64_t *const *cost,
                            struct arena *a)
{
    struct arena *own = arena_new(a);
    uint32_t *at = arena_array(own, (size_t)g->n + 1, sizeof *at);
    int64_t **to = arena_array(a, g->ncls, sizeof *to);
    for (uint32_t c = 0; c < g->ncls; c++)
        to[c] = arena_array(a, (size_t)g->pred.at[g->n] + 1, sizeof **to);
    for (uint32_t v = 0; v < g->n; v++) {
        for (uint32_t i = g->succ.at[v]; i < g->succ.at[v + 1]; i++)
            at[g->succ.to[i]] = entry[i];
        add_nets(g, v, at, cost, to);
    }
    arena_free(own);
    return to;
}

struct edges edges_build(const struct scene *s, const struct wdag *g, struct arena *a)
{
    struct edges e = {.g = g, .scene = s, .entry = edge_entries(g, a)};
    e.link = edge_times(g, e.entry, g->net_cost, a);
    if (g->net_inner)
        e.inner = edge_times(g, e.entry, g->net_inner, a);
    e.cls = arena_array(a, (size_t)s->cluster->ndev + 1, sizeof *e.cls);
    e.group = arena_array(a, (size_t)s->cluster->ndev + 1, sizeof *e.group);
    for (uint32_t d = 0; d < s->cluster->ndev; d++) {
        e.cls[d] = cluster_class(s->cluster, d);
        e.group[d] = cluster_group(s->cluster, d);
    }
    return e;
}

/* Returns the ps to move the values of edge k from a device of class `from` to one of class `to`; inner: whether both
 * are in one group. */
static int64_t entry_time(const struct edges *e, uint32_t k, uint32_t from, uint32_t to, bool inner)
{
    int64_t *const *t = inner ? e->inner : e->link;
    bool host = e->scene->cluster->cls[from].host;
    int64_t out = t[from][k], in = t[to][k]; /* 0 for the host */
    if (e->scene->model.step.network == NETWORK_HOST)
        return sat_add(out, in);
    /* in one hop: over the sender's link; from the host, over the receiver's link */
    return host ? in : out;
}

int64_t edge_time(const struct edges *e, uint32_t k, uint32_t from, uint32_t to)
{
    bool inner = e->inner && e->group[from] == e->group[to];
    return from == to ? 0 : entry_time(e, k, e->cls[from], e->cls[to], inner);
}

int64_t edge_time_far(const struct edges *e, uint32_t k, uint32_t from, uint32_t cls)
{
    return entry_time(e, k, e->cls[from], cls, /*inner=*/false);
}

/* ---- devices and their memory -------------------------------------------------------------------- */

uint32_t *list_devices(const struct cluster *c, uint32_t *count, struct arena *a)
{
    uint32_t n = 0, *device = arena_array(a, (size_t)c->ndev + 1, sizeof *device);
    *count = 0;
    for (int host = 0; host < 2; host++) {
        for (uint32_t d = 0; d < c->ndev; d++)
            if (c->cls[cluster_class(c, d)].host == host)
                device[n++] = d;
        /* the number of accelerators; if there are none, that of hosts */
        *count = *count ? *count : n;
    }
    return device;
}

/* Returns the classes that have devices and can run v, as bits. */
static uint32_t classes_of(const struct wdag *g, const struct cluster *c, uint32_t v)
{
    uint32_t bits = 0;
    for (uint32_t k = 0; k < g->ncls; k++)
        bits |= c->cls[k].count && g->time[k][v] != COST_NEVER ? 1U << k : 0;
    return bits;
}

/* Sets group, member and classes of *r, and allocates home.  The vertices that are in one vertex of the any-shape level
 * are a group.  If r->base merges vertices, one of its vertices may contain several vertices of the any-shape level: it
 * gets the group of the last one, and the groups of the others have no members. */
static void find_groups(struct placement *r, const struct ctx *x, struct arena *a)
{
    const struct wdag *any = any_shape_level(x), *merged = r->base->finer ? r->base : NULL;
    uint32_t n = r->base->n;
    uint32_t *of = wdag_flatten(any, a);
    r->group = merged ? arena_array(a, (size_t)n + 1, sizeof *r->group) : of;
    for (uint32_t v = 0; merged && v < x->levels.base->n; v++)
        r->group[merged->map[v]] = of[v];
    r->member = csr_build(a, any->n, n, r->group, NULL);
    r->home = arena_array(a, (size_t)any->n + 1, sizeof *r->home);
    r->classes = arena_array(a, (size_t)any->n + 1, sizeof *r->classes);
    memset(r->classes, 0xff, any->n * sizeof *r->classes);
    for (uint32_t v = 0; v < n; v++)
        r->classes[r->group[v]] &= classes_of(r->base, x->scene.cluster, v);
}

/* Checks that each device to which a vertex is pinned can run the vertex's group.  Returns 0; or PASS_INFEASIBLE and
 * reports an error. */
static int check_pins(const struct placement *r, struct ctx *x, const char *planner)
{
    const struct cluster *c = x->scene.cluster;
    for (uint32_t v = 0; v < r->base->n; v++) {
        int32_t to = r->base->pin[v];
        uint32_t k = r->group[v], cls = to < 0 ? 0 : cluster_class(c, (uint32_t)to);
        if (to < 0 || r->classes[k] >> cls & 1)
            continue;
        uint32_t i = r->member.at[k]; /* a group member that cannot run on the device */
        while (r->base->time[cls][r->member.to[i]] != COST_NEVER)
            i++;
        nid pinned = r->node[v], other = r->node[r->member.to[i]];
        diag_error(x->use.diag, "%s: '%s' is pinned to %s, which cannot run %s%s%s", planner,
                   node_name(x->scene.m, pinned), cluster_device_name(c, x->use.mem, (uint32_t)to),
                   other == pinned ? "it" : "'",
                   other == pinned ? "" : node_name(x->scene.m, other),
                   other == pinned ? "" : "', which must be where it is");
        return PASS_INFEASIBLE;
    }
    return 0;
}

/* Returns an array: [vertex of the level] its first node. */
static const nid *first_nodes(const struct wdag *level, struct arena *a)
{
    if (level->node)
        return level->node;
    nid *node = arena_array(a, (size_t)level->n + 1, sizeof *node);
    for (uint32_t v = level->finer->n; v-- > 0;)
        node[level->map[v]] = level->finer->node[v];
    return node;
}

struct wdag *list_level(struct ctx *x)
{
    struct wdag *base = x->levels.base;
    if (!x->levels.contract_requested || !x->levels.contiguous || x->levels.scheduled)
        return x->levels.scheduled ? x->levels.scheduled : base;
    struct arena *own = arena_new(x->use.scratch);
    uint32_t *group = wdag_flatten(x->levels.contiguous, own);
    uint32_t n = wdag_join_cycles(base, NULL, group, x->levels.contiguous->n);
    x->levels.scheduled = wdag_merge(base, group, n, "contract", x->use.mem, x->use.diag);
    arena_free(own);
    return x->levels.scheduled;
}

int placement_build(struct placement *r, struct ctx *x, const char *planner, struct arena *a)
{
    const struct wdag *level = list_level(x);
    return level ? placement_build_on(r, x, planner, level, a) : -1;
}

int placement_build_on(struct placement *r, struct ctx *x, const char *planner,
                       const struct wdag *level, struct arena *a)
{
    *r = (struct placement){.base = level, .scene = &x->scene, .node = first_nodes(level, a)};
    uint32_t nd = x->scene.cluster->ndev, ngroup = any_shape_level(x)->n;
    r->copies = exec_weight_copies(&x->scene.model, x->scene.m->backward);
    find_groups(r, x, a);
    r->need = needs_of(&x->scene, level, a);
    r->used = arena_array(a, (size_t)nd + 1, sizeof *r->used);
    r->stay = arena_array(a, (size_t)nd + 1, sizeof *r->stay);
    r->most = arena_array(a, (size_t)nd + 1, sizeof *r->most);
    r->has = arena_alloc(a, (size_t)r->base->nshared * nd / 8 + 1);
    r->ngroup = ngroup;
    r->seen = arena_array(a, (size_t)ngroup + r->base->nshared + 1, sizeof *r->seen);
    r->item = arena_array(a, (size_t)r->base->nshared + 1, sizeof *r->item);
    for (uint32_t k = 0; k < ngroup; k++) {
        if (r->classes[k]) /* groups without members have the bits of all classes set */
            continue;
        uint32_t v = r->member.to[r->member.at[k]];
        uint32_t n = r->member.at[k + 1] - r->member.at[k];
        diag_error(x->use.diag, "%s: no device can run '%s'%s", planner,
                   node_name(x->scene.m, r->node[v]),
                   n == 1 ? "" : arena_fmt(a, " with all %u nodes that must be where it is", n));
        return PASS_INFEASIBLE;
    }
    placement_empty(r);
    return check_pins(r, x, planner);
}

/* ---- questions, and putting vertices on devices ---- */

/* Returns whether a device holds a shared item. */
static bool has_item(const struct placement *r, uint32_t item, uint32_t d)
{
    size_t bit = (size_t)item * r->scene->cluster->ndev + d;
    return r->has[bit / 8] >> bit % 8 & 1;
}

/* Returns whether the group or shared item with this index in r->seen is met for the first time in the present
 * question, and notes that it was met. */
static bool is_first(struct placement *r, uint32_t index)
{
    bool first = r->seen[index] != r->question;
    r->seen[index] = r->question;
    return first;
}

/* Begins a question without vertices. */
static void begin_question(struct placement *r)
{
    r->question++;
    r->bytes = r->stays = r->runs = 0;
    r->able = UINT32_MAX;
    r->nitem = 0;
}

/* Returns the bytes that a shared item takes on a device that holds it. */
static int64_t item_bytes(const struct placement *r, uint32_t item)
{
    return sat_mul(r->copies, r->base->shared_size[item]);
}

/* Adds group k to the present question. */
static void ask_group(struct placement *r, uint32_t k)
{
    const struct wdag *g = r->base;
    r->able &= r->classes[k];
    for_row (v, r->member, k) {
        r->bytes = sat_add(r->bytes, r->need.stays[v]);
        r->stays = sat_add(r->stays, r->need.stays[v]);
        if (r->need.runs && r->need.runs[v] > r->runs)
            r->runs = r->need.runs[v];
        if (g->param)
            r->bytes = sat_add(r->bytes, sat_mul(r->copies - 1, g->param[v]));
        for_row (s, g->shared_of, v)
            if (is_first(r, r->ngroup + s))
                r->item[r->nitem++] = s;
    }
}

void placement_ask(struct placement *r, const uint32_t *v, uint32_t n)
{
    begin_question(r);
    for (uint32_t i = 0; i < n; i++)
        if (r->home[r->group[v[i]]] < 0 && is_first(r, r->group[v[i]]))
            ask_group(r, r->group[v[i]]);
}

int64_t placement_adds(const struct placement *r, uint32_t d)
{
    int64_t bytes = r->bytes;
    if (!(r->able >> cluster_class(r->scene->cluster, d) & 1))
        return INT64_MAX;
    for (uint32_t i = 0; i < r->nitem; i++)
        if (!has_item(r, r->item[i], d))
            bytes = sat_add(bytes, item_bytes(r, r->item[i]));
    return r->runs > r->most[d] ? sat_add(bytes, r->runs - r->most[d]) : bytes;
}

int64_t placement_all(const struct placement *r)
{
    const struct wdag *g = r->base;
    int64_t bytes = 0, most = 0;
    for (uint32_t v = 0; v < g->n; v++) {
        bytes = sat_add(bytes, r->need.stays[v]);
        if (g->param)
            bytes = sat_add(bytes, sat_mul(r->copies - 1, g->param[v]));
        if (r->need.runs && r->need.runs[v] > most)
            most = r->need.runs[v];
    }
    for (uint32_t i = 0; i < g->nshared; i++)
        bytes = sat_add(bytes, item_bytes(r, i));
    return sat_add(bytes, most);
}

bool placement_takes(const struct placement *r, uint32_t d)
{
    const struct cluster *c = r->scene->cluster;
    int64_t memory = c->cls[cluster_class(c, d)].memory, need = placement_adds(r, d);
    return need < INT64_MAX && (memory < 0 || need == 0 || sat_add(r->used[d], need) <= memory);
}

int64_t placement_need(struct placement *r, const uint32_t *v, uint32_t n, uint32_t d)
{
    placement_ask(r, v, n);
    return placement_adds(r, d);
}

bool placement_fits(struct placement *r, const uint32_t *v, uint32_t n, uint32_t d)
{
    placement_ask(r, v, n);
    return placement_takes(r, d);
}

int64_t placement_most(struct placement *r)
{
    int64_t most = 0;
    for (uint32_t k = 0; k < r->ngroup; k++) {
        begin_question(r);
        ask_group(r, k);
        int64_t bytes = sat_add(r->bytes, r->runs);
        for (uint32_t i = 0; i < r->nitem; i++)
            bytes = sat_add(bytes, item_bytes(r, r->item[i]));
        most = larger(bytes, most);
    }
    return most;
}

/* Puts group k, which is not placed yet, on device d, and counts its bytes and shared items there.  Ends the present
 * question. */
static void put_group(struct placement *r, uint32_t k, uint32_t d)
{
    begin_question(r);
    ask_group(r, k);
    r->used[d] = sat_add(r->used[d], r->bytes);
    r->stay[d] = sat_add(r->stay[d], r->stays);
    if (r->runs > r->most[d]) {
        r->used[d] = sat_add(r->used[d], r->runs - r->most[d]);
        r->most[d] = r->runs;
    }
    r->home[k] = (int32_t)d;
    for (uint32_t i = 0; i < r->nitem; i++) {
        size_t bit = (size_t)r->item[i] * r->scene->cluster->ndev + d;
        if (!has_item(r, r->item[i], d))
            r->used[d] = sat_add(r->used[d], item_bytes(r, r->item[i]));
        r->has[bit / 8] |= (uint8_t)(1U << bit % 8);
    }
}

/* Returns the device with the fewest bytes in use among those that can run group k. */
static uint32_t least_for(const struct placement *r, uint32_t k)
{
    const struct cluster *c = r->scene->cluster;
    uint32_t best = UINT32_MAX;
    for (uint32_t d = 0; d < c->ndev; d++)
        if (r->classes[k] >> cluster_class(c, d) & 1 &&
            (best == UINT32_MAX || r->used[d] < r->used[best]))
            best = d;
    /* placement_build() has made sure that some device can run the group */
    assert(best != UINT32_MAX);
    return best;
}

void placement_put(struct placement *r, const uint32_t *v, uint32_t n, uint32_t d)
{
    uint32_t cls = cluster_class(r->scene->cluster, d);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t k = r->group[v[i]];
        if (r->home[k] < 0)
            put_group(r, k, r->classes[k] >> cls & 1 ? d : least_for(r, k));
    }
}

/* Returns whether device d can run all vertices of the present question, whether or not it has memory for them. */
static bool can_run(const struct placement *r, uint32_t d)
{
    return placement_adds(r, d) < INT64_MAX;
}

uint32_t placement_least(struct placement *r, const uint32_t *v, uint32_t n)
{
    uint32_t best = 0;
    bool can = false;
    placement_ask(r, v, n);
    for (uint32_t d = 0; d < r->scene->cluster->ndev; d++) {
        bool now = can_run(r, d);
        if ((now && !can) || (now == can && r->used[d] < r->used[best]))
            best = d;
        can = can || now;
    }
    r->lacking++;
    return best;
}

void placement_fill(struct placement *r, const uint32_t *v, uint32_t n, struct arena *a)
{
    const struct cluster *c = r->scene->cluster;
    uint32_t first = 0, accelerators, *device = list_devices(c, &accelerators, a);
    r->filled += n;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t to = UINT32_MAX;
        if (r->home[r->group[v[i]]] >= 0)
            continue;
        placement_ask(r, &v[i], 1);
        for (uint32_t j = first; j < c->ndev && to == UINT32_MAX; j++) {
            if (placement_takes(r, device[j]))
                to = device[j];
            /* this device is full: later vertices begin with the next device */
            else if (j == first && can_run(r, device[j]))
                first++;
        }
        placement_put(r, &v[i], 1, to == UINT32_MAX ? placement_least(r, &v[i], 1) : to);
    }
}

void placement_empty(struct placement *r)
{
    uint32_t nd = r->scene->cluster->ndev;
    memset(r->used, 0, nd * sizeof *r->used);
    memset(r->stay, 0, nd * sizeof *r->stay);
    memset(r->most, 0, nd * sizeof *r->most);
    memset(r->has, 0, (size_t)r->base->nshared * nd / 8 + 1);
    memset(r->home, 0xff, r->ngroup * sizeof *r->home);
    r->lacking = r->filled = 0;
    for (uint32_t v = 0; v < r->base->n; v++)
        if (r->base->pin[v] >= 0)
            placement_put(r, &v, 1, (uint32_t)r->base->pin[v]);
}

/* ---- plans -------------------------------------------------------------------------------------- */

struct list_schedule list_plan(struct ctx *x, const struct placement *r, const uint32_t *order,
                               const char *what)
{
    struct list_schedule p = {.what = what};
    uint32_t nnode = x->scene.m->nnode;
    p.dev = arena_array(x->use.mem, nnode, sizeof *p.dev);
    p.rank = arena_array(x->use.mem, nnode, sizeof *p.rank);
    memset(p.dev, 0xff, nnode * sizeof *p.dev);
    struct arena *own = arena_new(x->use.scratch);
    const struct wdag *g = r->base;
    /* in: vertex of g -> its vertices in the finer level; empty if g has no finer level */
    struct csr in = g->finer ? csr_build(own, g->n, g->finer->n, g->map, NULL) : (struct csr){0};
    for (uint32_t i = 0, rank = 0; i < g->n; i++) {
        uint32_t v = order[i], first = g->finer ? in.at[v] : v,
                 end = g->finer ? in.at[v + 1] : v + 1;
        assert(r->home[r->group[v]] >= 0);
        for (uint32_t k = first; k < end; k++) {
            nid n = g->finer ? g->finer->node[in.to[k]] : g->node[k];
            p.dev[n] = r->home[r->group[v]];
            p.rank[n] = rank++;
        }
    }
    arena_free(own);
    return p;
}

/* Returns a plan, without a claim, with the devices and ranks of *p. */
static struct plan plan_of(const struct list_schedule *p, const char *planner)
{
    return (struct plan){.planner = planner, .dev = p->dev, .rank = p->rank};
}

int64_t list_lacking(const struct scene *s, const struct verdict *v)
{
    int64_t most = 0;
    for (uint32_t d = 0; d < s->cluster->ndev; d++) {
        int64_t memory = s->cluster->cls[cluster_class(s->cluster, d)].memory;
        if (memory >= 0 && v->load[d].used - memory > most)
            most = v->load[d].used - memory;
    }
    return most;
}

/* Returns whether two plans have the same devices and the same ranks. */
static bool is_same(const struct ctx *x, const struct list_schedule *p,
                    const struct list_schedule *q)
{
    size_t n = x->scene.m->nnode;
    return !memcmp(p->dev, q->dev, n * sizeof *p->dev) &&
           !memcmp(p->rank, q->rank, n * sizeof *p->rank);
}

void list_try(struct ctx *x, struct list_schedule *best, struct list_schedule *p)
{
    if (best->dev && is_same(x, best, p)) {
        p->value = best->value;
        p->lacks = best->lacks;
        return;
    }
    struct arena *own = arena_new(x->use.scratch);
    struct plan plan = plan_of(p, /*planner=*/"");
    struct evaluation e = plan_evaluate(&x->scene, &plan, own);
    p->value = e.value;
    p->lacks = list_lacking(&x->scene, &e.v);
    bool holds = evaluation_holds(&e, /*over_memory=*/true);
    arena_free(own);
    assert(holds); /* if not, the scheduler is faulty */
    (void)holds;
    if (!best->dev || p->lacks < best->lacks || (p->lacks == best->lacks && p->value < best->value))
        *best = *p;
}

const char *list_said(struct ctx *x, const struct placement *r, const char *what)
{
    if (r->lacking)
        what = arena_fmt(x->use.mem, "%s, %u without room", what, r->lacking);
    if (r->filled)
        what = arena_fmt(x->use.mem, "%s, %s: %u of %u in order", what, r->clock->why, r->filled,
                         r->base->n);
    return what;
}

void list_offer(struct ctx *x, struct list_schedule *best, const struct placement *r,
                const uint32_t *order, const char *what)
{
    struct arena_mark mark = arena_mark(x->use.mem);
    struct list_schedule p = list_plan(x, r, order, what);
    list_try(x, best, &p);
    if (best->dev != p.dev)
        arena_release(x->use.mem, mark);
}

void list_tell_end(struct ctx *x, struct list_schedule *p, const struct clock *clock)
{
    if (clock->why && p->what && !strstr(p->what, clock->why))
        p->what = arena_fmt(x->use.mem, "%s, %s", p->what, clock->why);
}

int list_leave(struct ctx *x, const char *planner, const struct list_schedule *p, bool best_effort)
{
    struct plan *plan = arena_alloc(x->use.mem, sizeof *plan);
    *plan = plan_of(p, planner);
    /* a plan that lacks memory is evaluated again to get the reason in words */
    const char *lacks = p->lacks ? plan_evaluate(&x->scene, plan, x->use.scratch).why_not : NULL;
    if (lacks && !best_effort) {
        const char *large = list_too_large(x, x->use.scratch);
        diag_error(x->use.diag, "%s: %s (best-effort=true leaves the plan all the same)", planner,
                   large ? large : lacks);
        return PASS_INFEASIBLE;
    }
    x->results.plan = plan;
    plan->claim.objective = x->scene.model.objective;
    plan->claim.value = p->value;
    struct bound b = claim_run(x, &x->scene);
    plan->claim.argument = arena_fmt(x->use.mem, "%s; bound: %s", p->what, b.why);
    if (lacks) {
        diag_warning(x->use.diag, WARN_OVER_MEMORY, "%s: %s", planner, lacks);
        plan->claim.status = PLAN_OVER_MEMORY;
    }
    return 0;
}
