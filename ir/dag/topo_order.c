/* Makes topological orders (topo_order.h).
 *
 * Sources: LIFO is the order of the placement paper's DPL, FIFO is Kahn's, CPD comes from Celeritas
 * (critical_order.h).  LATE is LIFO on the transposed graph, reversed: a branch that depends on nothing but inputs
 * comes right before the vertex that needs it, which keeps few nets open.  THIN takes the ready vertex with the
 * smallest key: the cost of the nets that it opens minus the cost of the nets that it closes.  Its heap may hold
 * several entries of a vertex; entries with an outdated key are skipped.
 * O(V) for NUMBER, O(V + E) for LIFO, FIFO, RANDOM, LATE and DFS, O((V + pins) log V) for CPD and THIN. */
#include "ir/dag/topo_order.h"

#include "ir/base/random.h"
#include "ir/base/heap.h"
#include "ir/dag/critical_order.h"

#include <assert.h>

const char *const topo_names[] = {"mixed", "lifo", "fifo",   "cpd", "random",
                                  "late",  "thin", "number", "dfs", NULL};

/* Puts v[n] in a random order (Fisher and Yates). state: the state of the random numbers (random.h). */
static void shuffle(uint32_t *v, uint32_t n, uint64_t *state)
{
    for (uint32_t i = n; i > 1; i--) {
        uint32_t k = random_below(state, i), t = v[i - 1];
        v[i - 1] = v[k];
        v[k] = t;
    }
}

/* Returns an order in which the vertex that became ready last is next, or with at_random a random ready vertex.
 * Vertices that become ready together are pushed by number, so that the largest is next (of the vertices without
 * predecessors the smallest), or, with a seed other than 0, in random order. */
static uint32_t *stack_order(const struct csr *succ, const struct csr *pred, uint32_t n,
                             uint64_t seed, bool at_random, struct arena *a)
{
    uint32_t *missing = csr_sizes(pred, n, a);
    uint32_t *stack = arena_array(a, (size_t)n + 1, sizeof *stack);
    uint32_t *order = arena_array(a, (size_t)n + 1, sizeof *order), top = 0, done = 0;
    uint64_t state = seed;
    for (uint32_t v = n; v-- > 0;)
        if (!missing[v])
            stack[top++] = v;
    if (seed)
        shuffle(stack, top, &state);
    while (top) {
        if (at_random) { /* a random vertex of the stack comes to its top */
            uint32_t k = random_below(&state, top), t = stack[top - 1];
            stack[top - 1] = stack[k];
            stack[k] = t;
        }
        uint32_t v = stack[--top], start = top;
        order[done++] = v;
        for_row (w, *succ, v)
            if (--missing[w] == 0)
                stack[top++] = w;
        if (seed)
            shuffle(stack + start, top - start, &state);
    }
    assert(done == n);
    return order;
}

/* Returns Kahn's breadth-first order: of the ready vertices, the one that became ready first is next.  Vertices that
 * become ready together come by number, or, with a seed other than 0, in random order. */
static uint32_t *fifo_order(const struct wdag *g, uint64_t seed, struct arena *a)
{
    uint32_t *missing = csr_sizes(&g->pred, g->n, a);
    uint32_t *order = arena_array(a, (size_t)g->n + 1, sizeof *order), end = 0;
    uint64_t state = seed;
    for (uint32_t v = 0; v < g->n; v++)
        if (!missing[v])
            order[end++] = v;
    if (seed)
        shuffle(order, end, &state);
    for (uint32_t at = 0; at < end; at++) {
        uint32_t v = order[at], start = end;
        for_row (w, g->succ, v)
            if (--missing[w] == 0)
                order[end++] = w;
        if (seed)
            shuffle(order + start, end - start, &state);
    }
    assert(end == g->n);
    return order;
}

/* Returns the reverse of a depth-first order of the reversed graph, in which a vertex comes shortly
 * before its readers.  seed: as for stack_order(). */
static uint32_t *late_order(const struct wdag *g, uint64_t seed, struct arena *a)
{
    uint32_t *order = stack_order(&g->pred, &g->succ, g->n, seed, /*at_random=*/false, a);
    for (uint32_t i = 0; i < g->n / 2; i++) {
        uint32_t t = order[i];
        order[i] = order[g->n - 1 - i];
        order[g->n - 1 - i] = t;
    }
    return order;
}

/* ---- thin ------------------------------------------------------------------------------------ */

/* A run of TOPO_THIN. */
struct thin {
    const struct wdag *g;
    struct heap h;  /* ready vertices, by delta; outdated entries stay in it */
    int64_t *delta; /* [vertex] change of the cost of all open nets if the vertex is taken next */
    uint32_t *left; /* [net] number of pins not taken yet */
    uint32_t *missing; /* [vertex] number of predecessors not taken yet */
    uint8_t *done;     /* [vertex] 1: taken */
    uint64_t state;    /* state of the random numbers that decide ties */
    uint64_t seed;     /* 0: ties go by vertex number */
};

/* Puts the ready vertex v into the heap, with its present key. */
static void offer_vertex(struct thin *t, uint32_t v)
{
    uint64_t tie = t->seed ? random_bits(&t->state) : 0;
    heap_push(&t->h, t->delta[v], (uint32_t)(tie >> 32), v);
}

/* Adds `by` to the key of v; if v is ready, puts it into the heap once more, with the new key. */
static void change_key(struct thin *t, uint32_t v, int64_t by)
{
    t->delta[v] += by;
    if (!t->missing[v] && !t->done[v])
        offer_vertex(t, v);
}

/* Takes v as the next vertex.  A net opens when its first pin is taken, and closes when its last pin is taken: after
 * the first pin no other vertex opens the net, and when one pin is left, taking it closes the net.  In both cases the
 * keys of the pins not taken yet fall by the net's cost. */
static void take_vertex(struct thin *t, uint32_t v)
{
    assert(!t->done[v] && t->missing[v] == 0);
    const struct wdag *g = t->g;
    t->done[v] = 1;
    for_row (e, g->net_of, v) {
        uint32_t pins = g->net_pin.at[e + 1] - g->net_pin.at[e];
        int64_t cost = g->net_cost[0][e];
        if (pins < 2 || cost == 0)
            continue;
        assert(t->left[e] > 0 && t->left[e] <= pins);
        bool opened = t->left[e]-- == pins, one_left = t->left[e] == 1;
        if (!opened && !one_left)
            continue;
        for_row (x, g->net_pin, e)
            if (!t->done[x])
                change_key(t, x, (opened ? -cost : 0) + (one_left ? -cost : 0));
    }
    for_row (w, g->succ, v)
        if (--t->missing[w] == 0)
            offer_vertex(t, w);
}

/* Returns an order that keeps few nets open: of the ready vertices, the one that raises the cost of all open nets
 * least. */
static uint32_t *thin_order(const struct wdag *g, uint64_t seed, struct arena *a)
{
    struct thin t = {.g = g, .h = {.a = a}, .state = seed, .seed = seed};
    uint32_t *order = arena_array(a, (size_t)g->n + 1, sizeof *order), done = 0;
    t.delta = arena_array(a, (size_t)g->n + 1, sizeof *t.delta);
    t.left = arena_array(a, (size_t)g->nnet + 1, sizeof *t.left);
    t.done = arena_alloc(a, (size_t)g->n + 1);
    t.missing = csr_sizes(&g->pred, g->n, a);
    /* at first taking any pin of a net opens the net */
    for (uint32_t e = 0; e < g->nnet; e++) {
        uint32_t pins = g->net_pin.at[e + 1] - g->net_pin.at[e];
        t.left[e] = pins;
        for (uint32_t k = g->net_pin.at[e]; pins > 1 && k < g->net_pin.at[e + 1]; k++)
            t.delta[g->net_pin.to[k]] += g->net_cost[0][e];
    }
    for (uint32_t v = 0; v < g->n; v++)
        if (!t.missing[v])
            offer_vertex(&t, v);
    while (t.h.n) {
        struct heap_entry x = heap_pop(&t.h);
        /* an entry is outdated if the vertex was taken, or got another key since */
        if (t.done[x.item] || x.key != t.delta[x.item])
            continue;
        order[done++] = x.item;
        take_vertex(&t, x.item);
    }
    assert(done == g->n);
    return order;
}

/* Returns a depth-first order: among vertices that become ready together, the vertex with the smallest number is
 * next. */
static uint32_t *dfs_order(const struct wdag *g, struct arena *a)
{
    uint32_t *missing = csr_sizes(&g->pred, g->n, a), top = 0, done = 0;
    uint32_t *stack = arena_array(a, (size_t)g->n + 1, sizeof *stack);
    uint32_t *order = arena_array(a, (size_t)g->n + 1, sizeof *order);
    for (uint32_t v = g->n; v-- > 0;)
        if (!missing[v])
            stack[top++] = v;
    while (top) {
        uint32_t v = stack[--top];
        order[done++] = v;
        for (uint32_t i = g->succ.at[v + 1]; i-- > g->succ.at[v];)
            if (--missing[g->succ.to[i]] == 0)
                stack[top++] = g->succ.to[i];
    }
    assert(done == g->n);
    return order;
}

/* Returns the vertices by number. */
static uint32_t *number_order(const struct wdag *g, struct arena *a)
{
    uint32_t *order = arena_array(a, (size_t)g->n + 1, sizeof *order);
    for (uint32_t v = 0; v < g->n; v++)
        order[v] = v;
    return order;
}

uint32_t *topo_order(const struct wdag *g, enum topo_kind kind, uint64_t seed, struct arena *a)
{
    switch (kind) {
    case TOPO_LIFO:
        return stack_order(&g->succ, &g->pred, g->n, seed, /*at_random=*/false, a);
    case TOPO_FIFO:
        return fifo_order(g, seed, a);
    case TOPO_CPD:
        return cpd_topo(g, 0, a);
    case TOPO_RANDOM: /* seed | 1: never 0, which would be no random order */
        return stack_order(&g->succ, &g->pred, g->n, seed | 1, /*at_random=*/true, a);
    case TOPO_LATE:
        return late_order(g, seed, a);
    case TOPO_THIN:
        return thin_order(g, seed, a);
    case TOPO_NUMBER:
        return number_order(g, a);
    case TOPO_DFS:
        return dfs_order(g, a);
    }
    return stack_order(&g->succ, &g->pred, g->n, seed, /*at_random=*/false, a);
}
