/* contract: nodes that must share a device become one vertex, then the cycles that this makes.
 *
 * Source: the preprocessing of the placement paper (Tarnawski et al., NeurIPS 2020).  Classes come from the
 * input (colour classes of profiles, Shape with its producer, state pairs).  Strongly connected
 * components of the quotient are joined (Tarjan).  Then trivial-node merging: a vertex that takes no
 * time anywhere and has a single neighbour moves into it, again and again; it cannot raise the
 * optimum, and it keeps the number of ideals down (GNMT: 3,310,714 without it, 17,914 with it).  That
 * is done only where the sizes cannot matter: the vertex is empty, or everything fits on one device.
 * O(V + E).
 *
 * In a training graph a vertex holds forward nodes and their backward siblings, and the edges are those of
 * the forward pass: the ideals are prefixes of the forward pass, and the backward pass of a device runs
 * over the same layers in the other direction.  A backward group without a forward node (an orphan) gets
 * mirrored edges.
 *
 * Classes that the user asks for (by=layer, blocks=FILE: groups.c) are joined in the same way.  Like a
 * pin they limit what plans there are: "optimal" is then said among those that keep them together. */
#include "passes/groups.h"
#include "passes/training.h"

#include <string.h>

struct contract_options {
    bool training;
    bool trivial;
    int64_t by;
    const char *blocks;
};

enum { BY_NOTHING, BY_LAYER };

static const char *const by_names[] = {"none", "layer", NULL};

static const struct opt contract_opts[] = {
    {.kind = OPT_CHOICE,
     .name = "by",
     .off = offsetof(struct contract_options, by),
     .def = "none",
     .names = by_names,
     .help = "keep each layer together: by scope (/h.3/...) or layer of a profile"},
    {.kind = OPT_TEXT,
     .name = "blocks",
     .off = offsetof(struct contract_options, blocks),
     .def = "",
     .help = "keep blocks together: a file with a line of regular expressions for each"},
    {.kind = OPT_BOOL,
     .name = "training",
     .off = offsetof(struct contract_options, training),
     .def = "true",
     .help = "find the backward pass of a training graph: a stage is both passes of some layers"},
    {.kind = OPT_BOOL,
     .name = "trivial",
     .off = offsetof(struct contract_options, trivial),
     .def = "true",
     .help = "merge vertices that take no time into their only neighbour"},
    {0}};

static uint32_t find(uint32_t *parent, uint32_t v)
{
    while (parent[v] != v)
        v = parent[v] = parent[parent[v]];
    return v;
}

static void unite(uint32_t *parent, uint32_t a, uint32_t b)
{
    a = find(parent, a);
    b = find(parent, b);
    if (a < b)
        parent[b] = a;
    else
        parent[a] = b;
}

/* Numbers the sets of parent by first member; returns how many there are. */
static uint32_t number_sets(uint32_t *parent, uint32_t n, uint32_t *group)
{
    uint32_t count = 0;
    for (uint32_t v = 0; v < n; v++)
        group[v] = find(parent, v) == v ? count++ : group[find(parent, v)];
    return count;
}

static uint32_t *identity(struct arena *a, uint32_t n)
{
    uint32_t *id = arena_array(a, (size_t)n + 1, sizeof *id);
    for (uint32_t v = 0; v < n; v++)
        id[v] = v;
    return id;
}

/* Unites the vertices of equal class (0: none). */
static void unite_classes(struct ctx *x, uint32_t *parent, const uint32_t *class_of)
{
    uint32_t n = x->base->n, max = 0;
    for (uint32_t v = 0; v < n; v++)
        max = class_of[v] > max ? class_of[v] : max;
    uint32_t *first = arena_array(x->mem, (size_t)max + 1, sizeof *first);
    for (uint32_t v = 0; v < n; v++) {
        uint32_t c = class_of[v];
        if (c && first[c])
            unite(parent, first[c] - 1, v);
        else if (c)
            first[c] = v + 1;
    }
}

/* Precedence of the stages of a training graph: the edges among forward nodes, and those among backward
 * nodes turned round.  An edge from forward to backward joins the two passes and orders nothing.  In
 * workloads (the paper's rule) a backward edge counts only where an end of it is in a group without a
 * forward node: their backward layers are a copy of the forward ones, edges and all. */
static struct wdag_order stage_order(struct ctx *x, const struct wdag *g, const uint32_t *group,
                                     uint32_t ngroup)
{
    const uint8_t *backward = x->m->backward;
    bool paper = x->m->ir_version == 0;
    uint32_t most = g->succ.at[g->n];
    struct wdag_order o = {0, arena_array(x->mem, (size_t)most + 1, sizeof *o.from),
                           arena_array(x->mem, (size_t)most + 1, sizeof *o.to)};
    uint8_t *has_forward = arena_alloc(x->mem, (size_t)ngroup + 1);
    for (uint32_t v = 0; v < g->n; v++)
        has_forward[group[v]] |= !backward[g->node[v]];
    for (uint32_t u = 0; u < g->n; u++)
        for (uint32_t i = g->succ.at[u]; i < g->succ.at[u + 1]; i++) {
            uint32_t v = g->succ.to[i];
            bool bu = backward[g->node[u]], bv = backward[g->node[v]];
            if (bu != bv || (bu && paper && has_forward[group[u]] && has_forward[group[v]]))
                continue;
            o.from[o.n] = bu ? v : u;
            o.to[o.n++] = bu ? u : v;
        }
    return o;
}

/* Colocation classes of the base level and those that were asked for, then cycles. */
static struct wdag *join_classes(struct ctx *x, const struct contract_options *o)
{
    const struct wdag *g = x->base;
    struct wdag *top = x->top; /* the base level, or subdivided: nodes have several vertices */
    const struct module *m = x->m;
    uint32_t *parent = identity(x->mem, g->n), *set = identity(x->mem, g->n);
    uint32_t *group = identity(x->mem, top->n);
    uint32_t *class_of = arena_array(x->mem, (size_t)g->n + 1, sizeof *class_of);
    for (uint32_t i = 0; i < x->place->nsame; i++)
        unite(parent, g->vertex[x->place->same_a[i]], g->vertex[x->place->same_b[i]]);
    for (uint32_t v = 0; m->color && v < g->n; v++)
        class_of[v] = m->color[g->node[v]];
    unite_classes(x, parent, class_of);
    if (o->by == BY_LAYER) {
        groups_by_layer(x, class_of);
        unite_classes(x, parent, class_of);
    }
    if (*o->blocks) {
        if (groups_by_block(x, o->blocks, class_of))
            return NULL;
        unite_classes(x, parent, class_of);
    }
    x->grouped = o->by != BY_NOTHING || *o->blocks;
    uint32_t n = number_sets(parent, g->n, set);
    for (uint32_t v = 0; v < top->n; v++)
        group[v] = set[g->vertex[top->node[v]]];
    struct wdag_order stages, *order = NULL;
    if (m->backward) {
        stages = stage_order(x, top, group, n);
        order = &stages;
    }
    n = wdag_join_cycles(top, order, group, n);
    return wdag_merge_ordered(top, order, group, n, "contract", x->mem, x->diag);
}

/* A class that swallowed more than a tenth of the time (half of it, where classes were asked for) limits
 * every plan: say which and why. */
static void warn_large(struct ctx *x, const struct wdag *g)
{
    int64_t total = 0;
    uint32_t *members = arena_array(x->mem, (size_t)g->n + 1, sizeof *members);
    for (uint32_t v = 0; v < g->n; v++)
        total = sat_add(total, g->time[0][v] == COST_NEVER ? 0 : g->time[0][v]);
    for (uint32_t v = 0; v < g->finer->n; v++)
        members[g->map[v]]++;
    for (uint32_t v = 0; v < g->n; v++) {
        if (members[v] < 2 || g->time[0][v] == COST_NEVER ||
            g->time[0][v] <= total / (x->grouped ? 2 : 10))
            continue;
        uint32_t first = 0, last = 0;
        for (uint32_t u = g->finer->n; u-- > 0;)
            if (g->map[u] == v)
                first = u;
        for (uint32_t u = 0; u < g->finer->n; u++)
            if (g->map[u] == v)
                last = u;
        if (g->finer->node[first] == g->finer->node[last])
            continue; /* one node, subdivided */
        diag_warning(x->diag,
                     "contract: %u nodes from '%s' to '%s' must stay together (colocation and "
                     "the cycles it makes) and take %d %% of the time",
                     members[v], node_name(x->m, g->finer->node[first]),
                     node_name(x->m, g->finer->node[last]),
                     (int)((__int128)g->time[0][v] * 100 / total));
    }
}

/* Whether one device of every class that is bounded could hold everything. */
static bool memory_is_ample(const struct cluster *c, const struct wdag *g)
{
    int64_t all = 0;
    for (uint32_t v = 0; v < g->n; v++)
        all = sat_add(all, g->size[v]);
    for (uint32_t i = 0; i < g->nshared; i++)
        all = sat_add(all, g->shared_size[i]);
    for (uint32_t k = 0; k < c->ncls; k++)
        if (c->cls[k].memory >= 0 && c->cls[k].memory < all)
            return false;
    return true;
}

/* Whether net e, which v is in, can only get cheaper when v moves to the device of w: w is in it, or
 * nothing but v and what was merged into it. */
static bool net_follows(const struct wdag *g, uint32_t *parent, uint32_t e, uint32_t v, uint32_t w)
{
    uint32_t src = g->net_src[e], mine = find(parent, v), other = find(parent, w);
    bool alone = true;
    if (src == UINT32_MAX || find(parent, src) == other)
        return src != UINT32_MAX;
    if (find(parent, src) != mine)
        return false;
    for (uint32_t i = g->net_pin.at[e]; i < g->net_pin.at[e + 1]; i++) {
        uint32_t pin = find(parent, g->net_pin.to[i]);
        if (pin == other)
            return true;
        alone = alone && pin == mine;
    }
    return alone;
}

/* Takes no time, is free to move, and no net that it is in keeps it from its only neighbour w: it shares
 * none with the host, nor a value without a producer (state) with other readers, nor, in a training
 * graph, a tensor of the other pass with a third vertex. */
static bool is_trivial(const struct wdag *g, uint32_t *parent, uint32_t v, uint32_t w, bool ample)
{
    for (uint32_t k = 0; k < g->ncls; k++)
        if (g->time[k][v] != 0)
            return false;
    for (uint32_t i = g->net_of.at[v]; i < g->net_of.at[v + 1]; i++)
        if (g->net_host[g->net_of.to[i]] || !net_follows(g, parent, g->net_of.to[i], v, w))
            return false;
    bool empty = g->size[v] == 0 && g->shared_of.at[v] == g->shared_of.at[v + 1];
    return g->pin[v] < 0 && (empty || ample);
}

static uint32_t only_neighbour(const struct wdag *g, uint32_t v, const uint8_t *gone)
{
    for (uint32_t i = g->succ.at[v]; i < g->succ.at[v + 1]; i++)
        if (!gone[g->succ.to[i]])
            return g->succ.to[i];
    for (uint32_t i = g->pred.at[v]; i < g->pred.at[v + 1]; i++)
        if (!gone[g->pred.to[i]])
            return g->pred.to[i];
    return v;
}

/* Peels trivial leaves off the graph. */
static struct wdag *merge_trivial(struct ctx *x, struct wdag *g)
{
    bool ample = memory_is_ample(x->cluster, g);
    uint32_t *parent = identity(x->mem, g->n), *group = identity(x->mem, g->n);
    uint32_t *degree = arena_array(x->mem, (size_t)g->n + 1, sizeof *degree);
    uint32_t *queue = arena_array(x->mem, (size_t)g->n + 1, sizeof *queue), n = 0;
    uint8_t *gone = arena_alloc(x->mem, (size_t)g->n + 1);
    for (uint32_t v = 0; v < g->n; v++) {
        degree[v] = g->succ.at[v + 1] - g->succ.at[v] + g->pred.at[v + 1] - g->pred.at[v];
        if (degree[v] == 1)
            queue[n++] = v;
    }
    for (uint32_t i = 0; i < n; i++) {
        uint32_t v = queue[i];
        uint32_t w = only_neighbour(g, v, gone);
        if (degree[v] != 1 || !is_trivial(g, parent, v, w, ample))
            continue;
        gone[v] = 1;
        unite(parent, v, w);
        if (--degree[w] == 1)
            queue[n++] = w;
    }
    uint32_t count = number_sets(parent, g->n, group);
    return count == g->n ? g : wdag_merge(g, group, count, "contract", x->mem, x->diag);
}

static int contract_run(struct ctx *x, const void *options)
{
    const struct contract_options *o = options;
    if (ctx_base(x))
        return -1;
    if (!x->top->node)
        return diag_error(x->diag, "contract: it must come before fuse and linearize");
    if (o->training)
        training_mark(x);
    struct wdag *g = join_classes(x, o);
    if (!g)
        return -1;
    warn_large(x, g);
    if (o->trivial && !(g = merge_trivial(x, g)))
        return -1;
    x->whole = g;
    ctx_push(x, g);
    return 0;
}

const struct pass pass_contract = {
    .name = "contract",
    .help = "merge nodes that must share a device, and the cycles that makes",
    .opts = contract_opts,
    .optsize = sizeof(struct contract_options),
    .needs = NEED_COST,
    .run = contract_run};
