/* Finds classes that close cycles through layers (layer_cycles.h).
 *
 * A class, such as a tied embedding with its lookup and the transposed copy for the last layer, must be on one
 * device.  A model file names all its nodes after one layer, say the last one, or after two layers.  Then an edge
 * leads from the lookup, in the last layer, to the first layer, and a path through all layers leads back:
 * contiguous plans could keep the layer whole only together with all others (BERT-12 of the placement paper: one
 * vertex with 99 % of the time).
 *
 * Rule: a class of several nodes leaves its layers if a path leads from it through another layer back into one of
 * them.  A class of a single node stays in its layer: in that case the layer itself has nodes before and behind
 * another layer, and it is not known which of them belong to the layer.
 *
 * In a training graph a layer has two numbers, one for each pass; classes with nodes of both passes tell which two
 * numbers are the same layer.
 *
 * Layers on no common cycle need nothing; that takes O(V + E).  For layers on cycles, a sweep from the last group
 * (a class, or classes on a cycle) to the first finds to which layers paths from each group lead, BATCH layers at a
 * time as bits of a word, in O((V + E) * layers / BATCH); at most MOST_BATCHES times. */
#include "passes/coarsen/layer_cycles.h"

#include <assert.h>

enum { BATCH = 64, MOST_BATCHES = 64 };

/* Groups of vertices, each a class or classes on a cycle, and their layers. */
struct layered_groups {
    uint32_t n;
    uint32_t nlayer;  /* layers are 1 .. nlayer */
    uint32_t *of;     /* [vertex] its group */
    uint32_t *size;   /* [group] number of vertices */
    uint8_t *layered; /* [group] 1: some of its vertices are in a layer */
    uint32_t *layer;  /* [vertex] its layer, the same number for both passes; 0: none */
    struct csr succ;  /* group -> groups behind the group, some listed more than once */
    uint32_t *order;  /* [n] groups, topologically sorted */
};

/* Returns the edges between different groups, from the pairs in `order`; from the edges of g if order is NULL. */
static struct csr edges_of(const struct layered_groups *u, const struct wdag *g,
                           const struct pairs *order, struct arena *a)
{
    struct pairs e = pairs_new(a, order ? order->n : g->succ.at[g->n]);
    for (uint32_t i = 0; order && i < order->n; i++)
        if (u->of[order->from[i]] != u->of[order->to[i]])
            pairs_add(&e, u->of[order->from[i]], u->of[order->to[i]]);
    for (uint32_t v = 0; !order && v < g->n; v++)
        for_row (w, g->succ, v)
            if (u->of[v] != u->of[w])
                pairs_add(&e, u->of[v], u->of[w]);
    return pairs_rows(&e, u->n);
}

/* Fills u->layer[vertex] with the vertex's layer, the same number for both passes: if a group has nodes of just two
 * layers, one of each pass, the two are the same layer.  backward: [node] 1: a node of the backward pass; NULL:
 * there is no backward pass. */
static void join_passes(struct layered_groups *u, const struct wdag *g, const uint8_t *backward,
                        const uint32_t *layer, struct arena *a)
{
    enum { SEVERAL = UINT32_MAX };
    struct classes same = classes_new(a, u->nlayer + 1);
    /* [pass][group] layer of the group's nodes of the forward (0) or backward (1) pass; 0: none; or SEVERAL */
    uint32_t *of_pass[2];
    for (int b = 0; b < 2; b++)
        of_pass[b] = arena_array(a, (size_t)u->n + 1, sizeof *of_pass[b]);
    for (uint32_t v = 0; backward && v < g->n; v++) {
        uint32_t *one = &of_pass[backward[g->node[v]] != 0][u->of[v]];
        if (layer[v])
            *one = *one && *one != layer[v] ? SEVERAL : layer[v];
    }
    for (uint32_t k = 0; k < u->n; k++)
        if (of_pass[0][k] && of_pass[1][k] && of_pass[0][k] != SEVERAL && of_pass[1][k] != SEVERAL)
            classes_join(&same, of_pass[0][k], of_pass[1][k], 0);
    for (uint32_t v = 0; v < g->n; v++)
        u->layer[v] = classes_find(&same, layer[v]);
}

/* Returns the groups of the classes c and their layers.  order, layer: as for layers_open_cycles(). */
static struct layered_groups find_groups(struct ctx *x, struct classes *c,
                                         const struct pairs *order, const uint32_t *layer)
{
    const struct wdag *g = x->levels.base;
    struct arena *a = x->use.scratch;
    struct layered_groups u = {.of = arena_array(a, (size_t)g->n + 1, sizeof *u.of),
                               .layer = arena_array(a, (size_t)g->n + 1, sizeof *u.layer)};
    u.n = wdag_join_cycles(g, order, u.of, classes_number(c, u.of));
    u.size = arena_array(a, (size_t)u.n + 1, sizeof *u.size);
    u.layered = arena_alloc(a, (size_t)u.n + 1);
    for (uint32_t v = 0; v < g->n; v++) {
        u.size[u.of[v]]++;
        u.layered[u.of[v]] |= layer[v] != 0;
        u.nlayer = layer[v] > u.nlayer ? layer[v] : u.nlayer;
    }
    join_passes(&u, g, x->scene.m->backward, layer, a);
    u.succ = edges_of(&u, g, order, a);
    u.order = arena_array(a, (size_t)u.n + 1, sizeof *u.order);
    uint32_t sorted = csr_topo(&u.succ, u.n, NULL, u.order, a);
    assert(sorted == u.n);
    (void)sorted;
    return u;
}

/* Writes the layers that lie on a cycle with another layer to list[nlayer], ascending; returns their number.  Layers
 * that have vertices in one group count as one layer. */
static uint32_t layers_on_cycles(const struct layered_groups *u, const struct wdag *g,
                                 const struct pairs *order, uint32_t *list, struct arena *a)
{
    /* layers and groups that have vertices in common become one whole; then wholes on a cycle get the same cycle[] */
    struct classes same = classes_new(a, u->nlayer + 1 + u->n); /* layers, then groups */
    uint32_t *number = arena_array(a, (size_t)u->nlayer + u->n + 2, sizeof *number);
    uint32_t *cycle = arena_array(a, (size_t)g->n + 1, sizeof *cycle), n = 0;
    for (uint32_t v = 0; v < g->n; v++)
        if (u->layer[v])
            classes_join(&same, u->layer[v], u->nlayer + 1 + u->of[v], 0);
    uint32_t nwhole = classes_number(&same, number);
    for (uint32_t v = 0; v < g->n; v++)
        cycle[v] = number[u->nlayer + 1 + u->of[v]];
    uint32_t ncycle = wdag_join_cycles(g, order, cycle, nwhole);
    /* first: [cycle] 1 + the whole of a layer on the cycle; several: [cycle] 1: a layer of another whole is on the
     * cycle, too; where: [layer] 1 + the cycle of the layer */
    uint32_t *first = arena_array(a, (size_t)ncycle + 1, sizeof *first);
    uint8_t *several = arena_alloc(a, (size_t)ncycle + 1);
    uint32_t *where = arena_array(a, (size_t)u->nlayer + 1, sizeof *where);
    for (uint32_t v = 0; v < g->n; v++) {
        uint32_t k = cycle[v], whole = number[u->layer[v]] + 1;
        if (!u->layer[v])
            continue;
        where[u->layer[v]] = k + 1;
        several[k] |= first[k] && first[k] != whole;
        first[k] = whole;
    }
    for (uint32_t l = 1; l <= u->nlayer; l++)
        if (where[l] && several[where[l] - 1])
            list[n++] = l;
    return n;
}

/* Sets closes[group] to 1 for each group with vertices in one of the `n` <= BATCH layers of list[] from which a path
 * leads through another layer back into that layer. */
static void find_closing(const struct layered_groups *u, uint32_t nvertex, const uint32_t *list,
                         uint32_t n, uint8_t *closes, struct arena *a)
{
    struct arena_mark mark = arena_mark(a);
    /* [layer] its bit; 0: the layer is not in list[] */
    uint64_t *bit = arena_array(a, (size_t)u->nlayer + 1, sizeof *bit);
    /* [group] layers of list[], as bits.  own: layers of the group's vertices; reached: these, and layers of groups to
     * which a path leads; through: layers to which a path leads through a different layer */
    uint64_t *own = arena_array(a, (size_t)u->n + 1, sizeof *own);
    uint64_t *reached = arena_array(a, (size_t)u->n + 1, sizeof *reached);
    uint64_t *through = arena_array(a, (size_t)u->n + 1, sizeof *through);
    for (uint32_t i = 0; i < n; i++)
        bit[list[i]] = UINT64_C(1) << i;
    for (uint32_t v = 0; v < nvertex; v++)
        own[u->of[v]] |= bit[u->layer[v]];
    for (uint32_t i = u->n; i-- > 0;) {
        uint32_t k = u->order[i];
        reached[k] = own[k];
        for_row (w, u->succ, k) {
            reached[k] |= reached[w];
            through[k] |= through[w] | (u->layered[w] ? reached[w] & ~own[w] : 0);
        }
        closes[k] |= (through[k] & own[k]) != 0;
    }
    arena_release(a, mark);
}

void layers_open_cycles(struct ctx *x, struct classes *c, const struct pairs *order,
                        uint32_t *layer)
{
    const struct wdag *g = x->levels.base;
    struct arena *a = x->use.scratch;
    struct layered_groups u = find_groups(x, c, order, layer);
    uint32_t *list = arena_array(a, (size_t)u.nlayer + 1, sizeof *list);
    uint32_t n = layers_on_cycles(&u, g, order, list, a), done = 0;
    uint8_t *closes = arena_alloc(a, (size_t)u.n + 1);
    for (; done < n && done < BATCH * MOST_BATCHES; done += BATCH)
        find_closing(&u, g->n, list + done, n - done < BATCH ? n - done : BATCH, closes, a);
    uint32_t nodes = 0, classes = 0, example = 0;
    for (uint32_t v = g->n; v-- > 0;) {
        uint32_t k = u.of[v];
        /* a class of a single node stays in its layer (head of this file) */
        if (!closes[k] || u.size[k] < 2)
            continue;
        example = layer[v] ? v : example;
        nodes += layer[v] != 0;
        layer[v] = 0;
        classes += closes[k] == 1;
        closes[k] = 2; /* so that the class is counted once */
    }
    if (nodes)
        diag_note(
            x->use.diag,
            "contract: %u nodes, such as '%s', of %u classes that must share a device stay out "
            "of their layers: paths lead from them through other layers back",
            nodes, node_name(x->scene.m, g->node[example]), classes);
    if (done < n)
        diag_note(x->use.diag, "contract: %u of %u layers on cycles were not looked at", n - done,
                  n);
}
