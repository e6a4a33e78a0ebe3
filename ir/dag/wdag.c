/* Weighted graphs: makes the base level, merges vertices, leaves vertices out, joins cycles, counts ideals, computes
 * loads (wdag.h, which states the cost of each function). */
#include "ir/dag/wdag.h"

#include "ir/base/hash.h"
#include "ir/base/components.h"
#include "ir/base/units.h"

#include <assert.h>
#include <string.h>

/* Allocates the arrays of g for times, sizes, pins and net costs, for g->n vertices, g->ncls classes and up to maxnet
 * nets; no vertex is pinned.  inner: with net_inner. */
static void alloc_costs(struct wdag *g, uint32_t maxnet, bool inner)
{
    g->net_inner = inner ? arena_array(g->mem, g->ncls, sizeof *g->net_inner) : NULL;
    for (uint32_t c = 0; inner && c < g->ncls; c++)
        g->net_inner[c] = arena_array(g->mem, (size_t)maxnet + 1, sizeof **g->net_inner);
    g->time = arena_array(g->mem, g->ncls, sizeof *g->time);
    g->net_cost = arena_array(g->mem, g->ncls, sizeof *g->net_cost);
    for (uint32_t c = 0; c < g->ncls; c++) {
        g->time[c] = arena_array(g->mem, (size_t)g->n + 1, sizeof **g->time);
        g->net_cost[c] = arena_array(g->mem, (size_t)maxnet + 1, sizeof **g->net_cost);
    }
    g->size = arena_array(g->mem, (size_t)g->n + 1, sizeof *g->size);
    g->pin = arena_array(g->mem, (size_t)g->n + 1, sizeof *g->pin);
    g->net_host = arena_alloc(g->mem, (size_t)maxnet + 1);
    g->net_src = arena_array(g->mem, (size_t)maxnet + 1, sizeof *g->net_src);
    memset(g->pin, 0xff, (g->n + 1) * sizeof *g->pin); /* -1: not pinned */
}

/* Returns the rows of c with each entry x replaced by name[x] (UINT32_MAX: dropped); the new entries, all below
 * `entries`, are ascending, without duplicates. */
static struct csr rename_rows(struct arena *a, const struct csr *c, uint32_t rows,
                              const uint32_t *name, uint32_t entries)
{
    struct csr r = {arena_array(a, (size_t)rows + 1, sizeof(uint32_t)),
                    arena_array(a, (size_t)c->at[rows] + 1, sizeof(uint32_t))};
    uint32_t *seen = arena_array(a, (size_t)entries + 1, sizeof *seen), n = 0;
    for (uint32_t i = 0; i < rows; i++) {
        for_row (x, *c, i) {
            uint32_t e = name[x];
            if (e == UINT32_MAX || seen[e] == i + 1)
                continue;
            seen[e] = i + 1;
            r.to[n++] = e;
        }
        r.at[i + 1] = n;
    }
    /* transposing twice sorts every row in linear time */
    struct csr t = csr_transpose(a, &r, rows, entries);
    return csr_transpose(a, &t, entries, rows);
}

/* Returns the rows of c, vertex -> vertices of g, ascending and without duplicates. */
static struct csr sorted_rows(const struct wdag *g, const struct csr *c)
{
    uint32_t *self = arena_array(g->mem, (size_t)g->n + 1, sizeof *self);
    for (uint32_t v = 0; v < g->n; v++)
        self[v] = v;
    return rename_rows(g->mem, c, g->n, self, g->n);
}

void wdag_set_edges(struct wdag *g, const struct pairs *e)
{
    for (uint32_t i = 0; i < e->n; i++)
        assert(e->from[i] < e->to[i] && e->to[i] < g->n);
    struct csr raw = csr_build(g->mem, g->n, e->n, e->from, e->to);
    g->succ = sorted_rows(g, &raw);
    g->pred = csr_transpose(g->mem, &g->succ, g->n, g->n);
}

void wdag_set_apart(struct wdag *g, const struct pairs *apart)
{
    struct csr raw = pairs_rows(apart, g->n);
    g->apart = sorted_rows(g, &raw);
}

/* Returns an array [class][vertex] of zeros for g->back. */
static int64_t **alloc_back(const struct wdag *g)
{
    int64_t **back = arena_array(g->mem, g->ncls, sizeof *back);
    for (uint32_t k = 0; k < g->ncls; k++)
        back[k] = arena_array(g->mem, (size_t)g->n + 1, sizeof **back);
    return back;
}

void wdag_mark_backward(struct wdag *g, const struct module *m)
{
    assert(g->node && m->backward);
    g->back = alloc_back(g);
    g->pass = arena_alloc(g->mem, (size_t)g->n + 1);
    for (uint32_t v = 0; v < g->n; v++)
        g->pass[v] = m->backward[g->node[v]] ? 2 : 1;
    for (uint32_t k = 0; k < g->ncls; k++)
        for (uint32_t v = 0; v < g->n; v++)
            g->back[k][v] = m->backward[g->node[v]] ? g->time[k][v] : 0;
    g->net_back = arena_alloc(g->mem, (size_t)g->nnet + 1);
    for (uint32_t e = 0; e < g->nnet; e++)
        g->net_back[e] = g->net_src[e] != UINT32_MAX && m->backward[g->node[g->net_src[e]]];
}

/* Returns wdag.runs of the base level g, in the memory of g: the bytes that each node makes and works with
 * (costs.own), and the bytes of all values that it reads, except states: the bytes of states last. */
static int64_t *running_bytes(const struct scene *s, const struct wdag *g)
{
    const struct place *p = s->place;
    const int64_t *bytes = s->m->cost->bytes;
    int64_t *runs = arena_array(g->mem, (size_t)g->n + 1, sizeof *runs);
    uint8_t *state = arena_alloc(g->mem, s->m->nval);
    for (uint32_t i = 0; i < p->nstate; i++)
        state[p->state_in[i]] = 1;
    for (uint32_t v = 0; v < g->n; v++)
        runs[v] = s->m->cost->own[g->node[v]];
    for (uint32_t e = 0; e < g->nnet; e++)
        for_row (v, g->net_pin, e)
            if (v != g->net_src[e] && !state[p->net_value[e]])
                runs[v] = sat_add(runs[v], bytes[p->net_value[e]]);
    for (uint32_t i = 0; i < p->nthere; i++)
        for_row (n, p->there_pin, i)
            runs[g->vertex[n]] = sat_add(runs[g->vertex[n]], bytes[p->there[i]]);
    return runs;
}

struct wdag *wdag_base(const struct scene *s, struct arena *a)
{
    const struct module *m = s->m;
    const struct place *p = s->place;
    const struct cluster *c = s->cluster;
    assert(m->cost && m->cost->nclass == c->ncls && p->kind);
    struct wdag *g = arena_alloc(a, sizeof *g);
    const struct graph *gr = &m->graph[1];
    g->mem = a;
    g->ncls = c->ncls;
    g->maker = "base";
    g->vertex = arena_array(a, m->nnode, sizeof *g->vertex);
    g->node = arena_array(a, (size_t)gr->count + 1, sizeof *g->node);
    memset(g->vertex, 0xff, m->nnode * sizeof *g->vertex); /* UINT32_MAX: the node has no vertex */
    for (nid n = gr->first; n < gr->first + gr->count; n++)
        if (p->kind[n] == PLACE_NODE) {
            g->vertex[n] = g->n;
            g->node[g->n++] = n;
        }
    alloc_costs(g, p->nnet, cluster_grouped(c));
    for (uint32_t v = 0; v < g->n; v++) {
        for (uint32_t k = 0; k < g->ncls; k++)
            g->time[k][v] = m->cost->time[k][g->node[v]];
        g->size[v] = exec_live_parts(&s->model) ? 0 : m->cost->own[g->node[v]];
    }
    /* a profile, which has no version, gives bytes of parameters */
    if (m->ir_version == 0 && m->cost->own) {
        g->param = arena_array(a, (size_t)g->n + 1, sizeof *g->param);
        for (uint32_t v = 0; v < g->n; v++)
            g->param[v] = costs_params(m->cost, g->node[v]);
    }
    g->nnet = p->nnet;
    g->net_pin = rename_rows(a, &p->net_pin, p->nnet, g->vertex, g->n);
    /* nets, and an edge from the producer of each net to each of its readers */
    struct pairs edge = pairs_new(a, p->net_pin.at[p->nnet]);
    for (uint32_t e = 0; e < p->nnet; e++) {
        nid def = m->value[p->net_value[e]].def;
        g->net_host[e] = p->net_host[e];
        g->net_src[e] = def && p->kind[def] == PLACE_NODE ? g->vertex[def] : UINT32_MAX;
        for (uint32_t k = 0; k < g->ncls; k++)
            g->net_cost[k][e] = cluster_transfer(c, k, /*inner=*/false, place_moved(p, m->cost, e));
        for (uint32_t k = 0; g->net_inner && k < g->ncls; k++)
            g->net_inner[k][e] = cluster_transfer(c, k, /*inner=*/true, place_moved(p, m->cost, e));
        for_row (pin, g->net_pin, e)
            if (g->net_src[e] != UINT32_MAX && pin != g->net_src[e])
                pairs_add(&edge, g->net_src[e], pin);
    }
    wdag_set_edges(g, &edge);
    g->net_of = csr_transpose(a, &g->net_pin, g->nnet, g->n);
    g->nshared = p->nweight;
    g->shared_size = p->weight_bytes;
    g->shared_by = rename_rows(a, &p->weight_user, p->nweight, g->vertex, g->n);
    g->shared_of = csr_transpose(a, &g->shared_by, g->nshared, g->n);
    if (m->backward)
        wdag_mark_backward(g, m);
    if (exec_live_parts(&s->model))
        g->runs = running_bytes(s, g);
    return g;
}

/* ---- merging ---------------------------------------------------------------------------------- */

/* Returns pairs of groups, in a: for each pair of vertices in order (NULL: for each edge of g) the pair of their
 * groups; pairs within one group are dropped, repeated pairs stay.  group: [vertex] its group. */
static struct pairs pairs_of_groups(const struct wdag *g, const struct pairs *order,
                                    const uint32_t *group, struct arena *a)
{
    struct pairs e = pairs_new(a, order ? order->n : g->succ.at[g->n]);
    for (uint32_t i = 0; order && i < order->n; i++)
        if (group[order->from[i]] != group[order->to[i]])
            pairs_add(&e, group[order->from[i]], group[order->to[i]]);
    for (uint32_t v = 0; !order && v < g->n; v++)
        for_row (w, g->succ, v)
            if (group[v] != group[w])
                pairs_add(&e, group[v], group[w]);
    return e;
}

/* Writes rank[group], the group's position in a topological order of the groups: of groups that could be next, the one
 * with the smallest member goes first.  edge: group -> groups behind it.  Returns false if there is a cycle. */
static bool rank_groups(const struct wdag *g, const uint32_t *group, uint32_t ngroup,
                        const struct csr *edge, struct arena *a, uint32_t *rank)
{
    uint32_t *first = arena_array(a, (size_t)ngroup + 1, sizeof *first);
    uint32_t *order = arena_array(a, (size_t)ngroup + 1, sizeof *order);
    for (uint32_t v = g->n; v-- > 0;) {
        assert(group[v] < ngroup);
        first[group[v]] = v;
    }
    uint32_t sorted = csr_topo(edge, ngroup, first, order, a);
    for (uint32_t i = 0; i < sorted; i++)
        rank[order[i]] = i;
    return sorted == ngroup;
}

/* Fills the times, bytes, passes and pins of c's vertices from the vertices of `fine`, by c->map.  Returns 0, or -1
 * and an error if a vertex of c would be pinned to two devices. */
static int merge_vertices(struct wdag *c, const struct wdag *fine, struct diag *d)
{
    c->back = fine->back ? alloc_back(c) : NULL;
    c->pass = fine->pass ? arena_alloc(c->mem, (size_t)c->n + 1) : NULL;
    c->param = fine->param ? arena_array(c->mem, (size_t)c->n + 1, sizeof *c->param) : NULL;
    c->runs = fine->runs ? arena_array(c->mem, (size_t)c->n + 1, sizeof *c->runs) : NULL;
    /* k: the vertex of c that v becomes a part of */
    for (uint32_t v = 0; v < fine->n; v++) {
        uint32_t k = c->map[v];
        for (uint32_t cls = 0; cls < c->ncls; cls++)
            c->time[cls][k] = sat_add(c->time[cls][k], fine->time[cls][v]);
        for (uint32_t cls = 0; c->back && cls < c->ncls; cls++)
            c->back[cls][k] = sat_add(c->back[cls][k], fine->back[cls][v]);
        if (c->param)
            c->param[k] = sat_add(c->param[k], fine->param[v]);
        if (c->pass)
            c->pass[k] |= fine->pass[v]; /* bits: 1 forward, 2 backward */
        c->size[k] = sat_add(c->size[k], fine->size[v]);
        if (c->runs)
            c->runs[k] = larger(c->runs[k], fine->runs[v]);
        if (fine->pin[v] < 0)
            continue;
        if (c->pin[k] >= 0 && c->pin[k] != fine->pin[v])
            return diag_error(d, "%s: nodes that must share a device are pinned to two devices",
                              c->maker);
        c->pin[k] = fine->pin[v];
    }
    return 0;
}

/* A hash table of the nets that were made, to find a net by its struct net_key. */
struct net_table {
    uint32_t *slot; /* [0 .. mask] net + 1; 0: empty */
    uint32_t mask;  /* number of slots, a power of two, minus 1 */
};

/* Returns the hash h with x mixed in. */
static uint64_t mix_hash(uint64_t h, uint64_t x)
{
    h = (h ^ x) * UINT64_C(0x9e3779b97f4a7c15);
    return h ^ (h >> 29);
}

/* Nets with equal keys are merged into one. */
struct net_key {
    const uint32_t *pin; /* [npin] vertices, ascending */
    uint32_t npin, src;  /* src, host, back: as in wdag.net_src, net_host, net_back */
    uint8_t host, back;
};

/* Whether net e of c has the key x: the same producer, pins, host and pass. */
static bool is_same_net(const struct wdag *c, uint32_t e, const struct net_key *x)
{
    return c->net_src[e] == x->src && c->net_host[e] == x->host &&
           (!c->net_back || c->net_back[e] == x->back) &&
           c->net_pin.at[e + 1] - c->net_pin.at[e] == x->npin &&
           memcmp(c->net_pin.to + c->net_pin.at[e], x->pin, x->npin * sizeof *x->pin) == 0;
}

/* Makes the nets of c from the nets of `fine`: pins are renamed by c->map, nets with less than two pins are dropped,
 * nets with equal keys (struct net_key) become one, and their costs are added. */
static void merge_nets(struct wdag *c, const struct wdag *fine)
{
    struct csr pins = rename_rows(c->mem, &fine->net_pin, fine->nnet, c->map, c->n);
    const uint64_t seed = hash_key_new().k[0];
    /* the table has a power of two slots, at least twice as many as nets */
    uint32_t slots = 1;
    while (slots < fine->nnet * UINT64_C(2))
        slots <<= 1;
    struct net_table t = {arena_array(c->mem, slots, sizeof *t.slot), slots - 1};
    c->net_back = fine->net_back ? arena_alloc(c->mem, (size_t)fine->nnet + 1) : NULL;
    c->net_pin.at = arena_array(c->mem, (size_t)fine->nnet + 1, sizeof(uint32_t));
    c->net_pin.to = arena_array(c->mem, (size_t)pins.at[fine->nnet] + 1, sizeof(uint32_t));
    for (uint32_t f = 0; f < fine->nnet; f++) {
        struct net_key x = {.pin = pins.to + pins.at[f],
                            .npin = pins.at[f + 1] - pins.at[f],
                            .src = fine->net_src[f] == UINT32_MAX ? UINT32_MAX
                                                                  : c->map[fine->net_src[f]],
                            .host = fine->net_host[f],
                            .back = fine->net_back ? fine->net_back[f] : 0};
        if (x.npin + x.host < 2)
            continue;
        /* finds an equal net among the nets made so far, else a free slot for a new net */
        uint64_t h = mix_hash(seed ^ x.src, x.host);
        for (uint32_t i = 0; i < x.npin; i++)
            h = mix_hash(h, x.pin[i]);
        /* the lowest bits of a product are mixed least */
        uint32_t at = (uint32_t)(h >> 17) & t.mask;
        while (t.slot[at] && !is_same_net(c, t.slot[at] - 1, &x))
            at = (at + 1) & t.mask;
        if (!t.slot[at]) {
            uint32_t e = c->nnet++;
            t.slot[at] = e + 1;
            c->net_src[e] = x.src;
            c->net_host[e] = x.host;
            if (c->net_back)
                c->net_back[e] = x.back;
            memcpy(c->net_pin.to + c->net_pin.at[e], x.pin, x.npin * sizeof *x.pin);
            c->net_pin.at[e + 1] = c->net_pin.at[e] + x.npin;
        }
        for (uint32_t k = 0; k < c->ncls; k++) {
            int64_t *cost = &c->net_cost[k][t.slot[at] - 1];
            *cost = sat_add(*cost, fine->net_cost[k][f]);
            if (!c->net_inner)
                continue;
            cost = &c->net_inner[k][t.slot[at] - 1];
            *cost = sat_add(*cost, fine->net_inner[k][f]);
        }
    }
    assert(c->nnet <= fine->nnet);
    c->net_of = csr_transpose(c->mem, &c->net_pin, c->nnet, c->n);
}

uint32_t wdag_keep_apart(const struct wdag *g, uint32_t *group, uint32_t ngroup, struct arena *a)
{
    /* [old group] 1: the group has to be dissolved */
    uint8_t *broken = arena_alloc(a, (size_t)ngroup + 1);
    /* [old group] 1 + the new number of the group; 0: the group has no new number yet */
    uint32_t *renamed = arena_array(a, (size_t)ngroup + 1, sizeof *renamed), n = 0;
    for (uint32_t v = 0; g->apart.at && v < g->n; v++)
        for_row (w, g->apart, v)
            broken[group[v]] |= group[v] == group[w];
    for (uint32_t v = 0; v < g->n; v++) {
        uint32_t old = group[v];
        group[v] = broken[old] || !renamed[old] ? n++ : renamed[old] - 1;
        renamed[old] = group[v] + 1;
    }
    return n;
}

/* Makes c->apart from fine->apart, by c->map.  Returns 0, or -1 and an error if a vertex would be apart from itself. */
static int merge_apart(struct wdag *c, const struct wdag *fine, struct diag *d)
{
    if (!fine->apart.at)
        return 0;
    struct pairs p = pairs_new(c->mem, fine->apart.at[fine->n]);
    for (uint32_t v = 0; v < fine->n; v++)
        for_row (w, fine->apart, v) {
            if (c->map[v] == c->map[w])
                return diag_error(d, "%s: nodes that must share a device are to be cut apart",
                                  c->maker);
            pairs_add(&p, c->map[v], c->map[w]);
        }
    wdag_set_apart(c, &p);
    return 0;
}

struct wdag *wdag_merge_ordered(struct wdag *fine, const struct wdag_groups *groups,
                                const char *maker, struct arena *a, struct diag *d)
{
    const uint32_t *group = groups->of, ngroup = groups->n;
    assert(ngroup <= fine->n);
    struct wdag *c = arena_alloc(a, sizeof *c);
    uint32_t *rank = arena_array(a, (size_t)ngroup + 1, sizeof *rank);
    c->mem = a;
    c->n = ngroup;
    c->ncls = fine->ncls;
    c->maker = maker;
    c->finer = fine;
    struct pairs e = pairs_of_groups(fine, groups->order, group, a);
    struct csr edge = pairs_rows(&e, ngroup);
    if (!rank_groups(fine, group, ngroup, &edge, a, rank)) {
        diag_error(d, "%s: merging these nodes would make a cycle", maker);
        return NULL;
    }
    c->map = arena_array(a, (size_t)fine->n + 1, sizeof *c->map);
    for (uint32_t v = 0; v < fine->n; v++)
        c->map[v] = rank[group[v]];
    for (uint32_t i = 0; i < e.n; i++) {
        e.from[i] = rank[e.from[i]];
        e.to[i] = rank[e.to[i]];
    }
    alloc_costs(c, fine->nnet, fine->net_inner != NULL);
    if (merge_vertices(c, fine, d) || merge_apart(c, fine, d))
        return NULL;
    wdag_set_edges(c, &e);
    merge_nets(c, fine);
    c->nshared = fine->nshared;
    c->shared_size = fine->shared_size;
    c->shared_by = rename_rows(a, &fine->shared_by, fine->nshared, c->map, c->n);
    c->shared_of = csr_transpose(a, &c->shared_by, c->nshared, c->n);
    return c;
}

struct wdag *wdag_merge(struct wdag *fine, const uint32_t *group, uint32_t ngroup,
                        const char *maker, struct arena *a, struct diag *d)
{
    return wdag_merge_ordered(fine, &(struct wdag_groups){group, ngroup, NULL}, maker, a, d);
}

/* ---- leaving out ----------------------------------------------------------------------------- */

/* Returns the edges between the remaining vertices of g, by their new numbers; a path over vertices left out becomes an
 * edge.  name: [vertex] its new number; UINT32_MAX: left out.  A vertex gets at most `most` predecessors.  While
 * the function runs, source[at[v] .. at[v + 1]) holds, for v left out, the remaining vertices with a path to v over
 * vertices left out only, at most `most` of them. */
static struct pairs bridge_edges(const struct wdag *g, const uint32_t *name, uint32_t most,
                                 struct arena *a)
{
    struct pairs b = {.a = a};
    uint32_t *at = arena_array(a, (size_t)g->n + 1, sizeof *at), *source = NULL, cap = 0;
    uint32_t *seen = arena_array(a, (size_t)g->n + 1, sizeof *seen);
    for (uint32_t v = 0; v < g->n; v++) {
        uint32_t n = at[v], room = most;
        /* the sources of a predecessor: itself if it remains, else source[at[p] .. at[p + 1]); predecessors with large
         * numbers come first, so that sources near v are kept if there are too many */
        for (uint32_t i = g->pred.at[v + 1]; i-- > g->pred.at[v];) {
            uint32_t p = g->pred.to[i];
            assert(p < v);
            bool stays = name[p] != UINT32_MAX;
            for (uint32_t k = stays ? 0 : at[p]; room && k < (stays ? 1 : at[p + 1]); k++) {
                uint32_t u = stays ? p : source[k];
                if (seen[u] == v + 1)
                    continue;
                seen[u] = v + 1;
                room--;
                if (name[v] != UINT32_MAX) {
                    pairs_add(&b, name[u], name[v]);
                } else {
                    source = vec_grow(a, source, &cap, n + 1, sizeof *source);
                    source[n++] = u;
                }
            }
        }
        at[v + 1] = n;
    }
    return b;
}

struct wdag *wdag_without(const struct wdag *g, const uint8_t *out, uint32_t most, struct arena *a)
{
    assert(most > 0);
    struct wdag *c = arena_alloc(a, sizeof *c);
    c->mem = a;
    c->ncls = g->ncls;
    c->maker = "relaxed";
    c->map = arena_array(a, (size_t)g->n + 1, sizeof *c->map);
    for (uint32_t v = 0; v < g->n; v++)
        c->map[v] = out[v] ? UINT32_MAX : c->n++;
    struct pairs edge = bridge_edges(g, c->map, most, a);
    alloc_costs(c, g->nnet, g->net_inner != NULL);
    c->back = g->back ? alloc_back(c) : NULL;
    c->pass = g->pass ? arena_alloc(a, (size_t)c->n + 1) : NULL;
    c->param = g->param ? arena_array(a, (size_t)c->n + 1, sizeof *c->param) : NULL;
    c->runs = g->runs ? arena_array(a, (size_t)c->n + 1, sizeof *c->runs) : NULL;
    for (uint32_t v = 0; v < g->n; v++) {
        uint32_t k = c->map[v];
        if (k == UINT32_MAX)
            continue;
        if (c->runs)
            c->runs[k] = g->runs[v];
        for (uint32_t cls = 0; cls < c->ncls; cls++) {
            c->time[cls][k] = g->time[cls][v];
            if (c->back)
                c->back[cls][k] = g->back[cls][v];
        }
        c->size[k] = g->size[v];
        c->pin[k] = g->pin[v];
        if (c->pass)
            c->pass[k] = g->pass[v];
        if (c->param)
            c->param[k] = g->param[v];
    }
    wdag_set_edges(c, &edge);
    merge_nets(c, g);
    c->nshared = g->nshared;
    c->shared_size = g->shared_size;
    c->shared_by = rename_rows(a, &g->shared_by, g->nshared, c->map, c->n);
    c->shared_of = csr_transpose(a, &c->shared_by, c->nshared, c->n);
    return c;
}

/* ---- cycles ----------------------------------------------------------------------------------- */

uint32_t wdag_join_cycles(const struct wdag *g, const struct pairs *order, uint32_t *group,
                          uint32_t ngroup)
{
    uint32_t *comp = arena_array(g->mem, (size_t)ngroup + 1, sizeof *comp);
    struct pairs e = pairs_of_groups(g, order, group, g->mem);
    struct csr edge = pairs_rows(&e, ngroup);
    uint32_t n = csr_components(&edge, ngroup, comp, g->mem);
    assert(n <= ngroup);
    for (uint32_t v = 0; v < g->n; v++)
        group[v] = comp[group[v]];
    return n;
}

/* ---- ideals ----------------------------------------------------------------------------------- */

/* Enumerates each ideal once, depth first: list[at .. end) holds candidates, vertices whose predecessors are all in the
 * ideal.  Each candidate is first taken, which appends the candidates that it enables; then, on the way back, it is
 * skipped, which excludes it and all vertices behind it from the ideals that follow. */
uint64_t wdag_ideals(const struct wdag *g, uint64_t limit)
{
    struct arena_mark mark = arena_mark(g->mem);
    uint32_t *list = arena_array(g->mem, (size_t)g->n + 1, sizeof *list);
    /* [ntaken] positions in list of the vertices of the ideal */
    uint32_t *taken = arena_array(g->mem, (size_t)g->n + 1, sizeof *taken);
    /* [vertex] number of the vertex's predecessors that are not in the ideal */
    uint32_t *missing = csr_sizes(&g->pred, g->n, g->mem);
    uint32_t at = 0, end = 0, ntaken = 0;
    uint64_t count = 1;
    for (uint32_t v = 0; v < g->n; v++)
        if (!missing[v])
            list[end++] = v;
    while (count <= limit) {
        if (at < end) {
            uint32_t v = list[at];
            taken[ntaken++] = at++;
            count++;
            for_row (w, g->succ, v)
                if (--missing[w] == 0)
                    list[end++] = w;
            continue;
        }
        if (!ntaken)
            break;
        at = taken[--ntaken];
        uint32_t v = list[at++];
        for_row (w, g->succ, v)
            if (missing[w]++ == 0)
                end--;
    }
    arena_release(g->mem, mark);
    return count;
}

/* ---- loads ------------------------------------------------------------------------------------ */

int64_t vertex_bytes(const struct wdag *g, uint32_t v)
{
    int64_t sum = g->size[v];
    for_row (s, g->shared_of, v)
        sum = sat_add(sum, g->shared_size[s]);
    return sum;
}

int64_t vertex_needs(const struct wdag *g, uint32_t v)
{
    return sat_add(vertex_bytes(g, v), g->runs ? g->runs[v] : 0);
}

uint32_t wdag_passes(const struct wdag *g)
{
    bool both = g->pass != NULL;
    for (uint32_t v = 0; both && v < g->n; v++)
        both = g->pass[v] == 3;
    return both ? 2 : 1;
}

bool wdag_passes_differ(const struct wdag *g)
{
    bool differ = false;
    for (uint32_t v = 1; g->pass && v < g->n && !differ; v++)
        differ = g->pass[v] != g->pass[0];
    return differ;
}

int64_t wdag_bytes(const struct wdag *g)
{
    int64_t sum = 0;
    for (uint32_t v = 0; v < g->n; v++)
        sum = sat_add(sum, g->size[v]);
    for (uint32_t s = 0; s < g->nshared; s++)
        sum = sat_add(sum, g->shared_size[s]);
    return sum;
}

void wdag_load(const struct wdag *g, const uint8_t *member, uint32_t cls, int64_t *compute,
               int64_t *transfer, int64_t *size)
{
    assert(cls < g->ncls);
    *compute = *transfer = *size = 0;
    for (uint32_t v = 0; v < g->n; v++)
        if (member[v]) {
            *compute = sat_add(*compute, g->time[cls][v]);
            *size = sat_add(*size, g->size[v]);
        }
    for (uint32_t e = 0; e < g->nnet; e++) {
        uint32_t in = 0, n = g->net_pin.at[e + 1] - g->net_pin.at[e];
        for_row (v, g->net_pin, e)
            in += member[v] != 0;
        if (in && (in < n || g->net_host[e])) /* the net has pins on the device and elsewhere */
            *transfer = sat_add(*transfer, g->net_cost[cls][e]);
    }
    for (uint32_t s = 0; s < g->nshared; s++)
        for_row (x, g->shared_by, s)
            if (member[x]) {
                *size = sat_add(*size, g->shared_size[s]);
                break;
            }
}

uint32_t *wdag_flatten(const struct wdag *top, struct arena *a)
{
    const struct wdag *base = top;
    uint32_t depth = 0, n = 0;
    for (; base->finer; base = base->finer)
        depth++;
    /* chain[0 .. n): the levels above the base level, top first; a vertex of the base level goes through their maps
     * from the last to the first */
    uint32_t *at = arena_array(a, (size_t)base->n + 1, sizeof *at);
    const struct wdag **chain = arena_array(a, (size_t)depth + 1, sizeof *chain);
    for (; top->finer; top = top->finer) {
        assert(top->map);
        chain[n++] = top;
    }
    assert(n == depth);
    for (uint32_t v = 0; v < base->n; v++) {
        at[v] = v;
        for (uint32_t i = n; i-- > 0;)
            at[v] = chain[i]->map[at[v]];
    }
    return at;
}

struct wdag *wdag_inner(const struct wdag *g, struct arena *a)
{
    struct wdag *cheap = arena_copy(a, g, sizeof *cheap);
    if (!g->net_inner)
        return cheap;
    cheap->net_cost = arena_array(a, g->ncls, sizeof *cheap->net_cost);
    for (uint32_t k = 0; k < g->ncls; k++) {
        cheap->net_cost[k] = arena_array(a, (size_t)g->nnet + 1, sizeof(int64_t));
        for (uint32_t e = 0; e < g->nnet; e++) {
            assert(g->net_inner[k][e] <= g->net_cost[k][e]);
            cheap->net_cost[k][e] = (g->net_host[e] ? g->net_cost : g->net_inner)[k][e];
        }
    }
    return cheap;
}
