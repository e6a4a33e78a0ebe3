/* Which placed nodes make a part together.
 *
 * One piece per device if the quotient graph is acyclic, as it is for contiguous plans.  Else, in training graphs
 * whose parts cost something, one per device and pass if that quotient is, as it is for their contiguous plans (where
 * they cost nothing, what of the backward pass can run early does).  Otherwise pieces by (device, G),
 * where G(v) = max over predecessors u of G(u) + [dev(u) != dev(v)]: along an edge G does not fall, and it grows
 * where the device changes, so their quotient is acyclic
 * always. Then pieces of one device are merged, in two steps: a greedy topological order that stays
 * on a device as long as it can (each stay is one piece: linear), and after that neighbours u, v of
 * one device in that order wherever no path u -> w -> v leads through a third piece.
 *
 * Nodes that must be in one part (atoms.h) have one G: the largest of theirs, along an order of such groups.
 *
 * Edges between pieces come from the nets (producer to readers, through copies as well), so copies
 * need no place of their own.  Linear in pins, but for the merging of neighbours, which costs the
 * edges of the quotient per pair and has a budget linear in pins. */
#include "ir/plan/pieces.h"

#include "ir/dag/atoms.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct quotient {
    struct arena *a;
    uint32_t n;
    struct pairs edge;
    uint32_t *first; /* [piece] its smallest node: the tie-breaker among free pieces */
    int32_t *dev;    /* [piece] */
};

/* ---- the quotient --------------------------------------------------------------------------- */

static struct quotient quotient_make(const struct module *m, const struct place *p,
                                     const int32_t *dev, const uint32_t *piece, uint32_t n,
                                     struct arena *a)
{
    struct quotient q = {.a = a, .n = n, .edge = {.a = a}};
    uint32_t *seen = arena_array(a, (size_t)n + 1, sizeof *seen);
    q.first = arena_array(a, (size_t)n + 1, sizeof *q.first);
    q.dev = arena_array(a, (size_t)n + 1, sizeof *q.dev);
    for (nid v = m->graph[1].first + m->graph[1].count; v-- > m->graph[1].first;)
        if (p->kind[v] == PLACE_NODE) {
            assert(piece[v] < n && dev[v] >= 0);
            q.first[piece[v]] = v;
            q.dev[piece[v]] = dev[v];
        }
    for (uint32_t e = 0; e < p->nnet; e++) {
        nid def = m->value[p->net_value[e]].def;
        if (!def || p->kind[def] != PLACE_NODE)
            continue;
        for_row (pin, p->net_pin, e) {
            uint32_t t = piece[pin];
            if (t == piece[def] || seen[t] == e + 1)
                continue;
            seen[t] = e + 1;
            pairs_add(&q.edge, piece[def], t);
        }
    }
    return q;
}

/* Drops repeated edges of q. */
static void quotient_distinct(struct quotient *q)
{
    struct csr succ = pairs_rows(&q->edge, q->n);
    uint32_t *seen = arena_array(q->a, (size_t)q->n + 1, sizeof *seen);
    q->edge.n = 0;
    for (uint32_t u = 0; u < q->n; u++)
        for_row (w, succ, u) {
            if (seen[w] == u + 1)
                continue;
            seen[w] = u + 1;
            pairs_add(&q->edge, u, w);
        }
}

/* Merges pieces of equal map[] into `n` new ones. */
static void quotient_merge(struct quotient *q, const uint32_t *map, uint32_t n)
{
    assert(n <= q->n);
    uint32_t edges = q->edge.n, *first = arena_array(q->a, (size_t)n + 1, sizeof *first);
    int32_t *dev = arena_array(q->a, (size_t)n + 1, sizeof *dev);
    memset(first, 0xff, n * sizeof *first);
    for (uint32_t u = 0; u < q->n; u++) {
        assert(map[u] < n);
        first[map[u]] = smaller_u32(q->first[u], first[map[u]]);
        dev[map[u]] = q->dev[u];
    }
    q->edge.n = 0; /* written over, never ahead of what is read */
    for (uint32_t i = 0; i < edges; i++) {
        uint32_t f = map[q->edge.from[i]], t = map[q->edge.to[i]];
        if (f != t)
            pairs_add(&q->edge, f, t);
    }
    q->n = n;
    memcpy(q->first, first, n * sizeof *first);
    memcpy(q->dev, dev, n * sizeof *dev);
}

/* ---- the order ------------------------------------------------------------------------------ */

/* rank[piece] in a topological order, the piece with the smallest node first among the free ones;
 * false: the quotient has a cycle. */
static bool quotient_order(const struct quotient *q, uint32_t *rank)
{
    struct csr succ = pairs_rows(&q->edge, q->n);
    uint32_t *order = arena_array(q->a, (size_t)q->n + 1, sizeof *order);
    uint32_t sorted = csr_topo(&succ, q->n, q->first, order, q->a);
    for (uint32_t i = 0; i < sorted; i++)
        rank[order[i]] = i;
    return sorted == q->n;
}

/* ---- merging -------------------------------------------------------------------------------- */

/* Pieces whose predecessors are all done, a queue for each device. */
struct queues {
    uint32_t *head, *tail; /* [device]; UINT32_MAX: empty */
    uint32_t *next;        /* [piece] */
};

static void enqueue(struct queues *f, const struct quotient *q, uint32_t u)
{
    uint32_t d = (uint32_t)q->dev[u];
    if (f->head[d] == UINT32_MAX)
        f->head[d] = u;
    else
        f->next[f->tail[d]] = u;
    f->next[u] = UINT32_MAX;
    f->tail[d] = u;
}

/* Walks through the pieces in a topological order that stays on a device while it can (a stay); map[piece] becomes
 * the number of its stay.  Returns the number of stays. */
static uint32_t join_stays(const struct quotient *q, uint32_t ndev, uint32_t *map)
{
    struct csr succ = pairs_rows(&q->edge, q->n);
    uint32_t *deg = arena_array(q->a, (size_t)q->n + 1, sizeof *deg), stays = 0;
    for (uint32_t i = 0; i < q->edge.n; i++)
        deg[q->edge.to[i]]++;
    struct queues f = {.head = arena_array(q->a, ndev, sizeof *f.head),
                       .tail = arena_array(q->a, ndev, sizeof *f.tail),
                       .next = arena_array(q->a, (size_t)q->n + 1, sizeof *f.next)};
    memset(f.head, 0xff, ndev * sizeof *f.head);
    for (uint32_t u = 0; u < q->n; u++)
        if (!deg[u])
            enqueue(&f, q, u);
    for (uint32_t left = q->n; left; stays++) {
        uint32_t d = 0;
        for (uint32_t k = 1; k < ndev; k++)
            if (f.head[k] < f.head[d])
                d = k;
        assert(f.head[d] != UINT32_MAX);
        for (; f.head[d] != UINT32_MAX; left--) {
            uint32_t v = f.head[d];
            f.head[d] = f.next[v];
            map[v] = stays;
            for_row (w, succ, v)
                if (--deg[w] == 0)
                    enqueue(&f, q, w);
        }
    }
    assert(stays <= q->n);
    return stays;
}

/* Whether u < v can become one piece: no path from u to v through a third.  Pieces are numbered
 * topologically.  Adds the work to *spent. */
static bool can_join(const struct csr *succ, uint32_t u, uint32_t v, uint32_t *stack,
                     uint32_t *seen, uint64_t *spent)
{
    assert(u < v);
    uint32_t n = 0, stamp = v + 1;
    stack[n++] = u;
    while (n) {
        uint32_t w = stack[--n];
        *spent += succ->at[w + 1] - succ->at[w];
        for_row (t, *succ, w) {
            if (t == v && w != u)
                return false;
            if (t >= v || seen[t] == stamp)
                continue;
            seen[t] = stamp;
            stack[n++] = t;
        }
    }
    return true;
}

/* Merging of neighbouring pieces; spent and budget in steps of the search. */
struct merge_state {
    struct quotient *q;
    uint32_t ndev;
    /* [piece] 1: cannot be merged with its left neighbour (merging other pieces never removes a path) */
    uint8_t *tried;
    uint64_t spent, budget;
};

/* Finds two neighbouring pieces of the same device that can be merged. */
static bool find_pair(struct merge_state *j, uint32_t *left, uint32_t *right)
{
    const struct quotient *q = j->q;
    struct csr succ = pairs_rows(&q->edge, q->n);
    uint32_t *prev = arena_array(q->a, (size_t)j->ndev + 1, sizeof *prev), none = UINT32_MAX;
    uint32_t *stack = arena_array(q->a, (size_t)q->n + 1, sizeof *stack);
    uint32_t *seen = arena_array(q->a, (size_t)q->n + 1, sizeof *seen);
    memset(prev, 0xff, j->ndev * sizeof *prev);
    j->spent += q->n + q->edge.n;
    for (uint32_t v = 0; v < q->n && j->spent < j->budget; v++) {
        uint32_t u = prev[q->dev[v]];
        prev[q->dev[v]] = v;
        if (u == none || j->tried[v])
            continue;
        if (can_join(&succ, u, v, stack, seen, &j->spent)) {
            *left = u;
            *right = v;
            return true;
        }
        j->tried[v] = 1;
    }
    return false;
}

/* Merges neighbours while the budget lasts; map[] (old piece -> piece) is kept up to date. */
static void join_pairs(struct quotient *q, uint32_t ndev, uint32_t *map, uint32_t nmap,
                       uint64_t budget)
{
    struct merge_state j = {q, ndev, arena_alloc(q->a, (size_t)q->n + 1), 0, budget};
    bool fresh = true; /* tried[] was empty before this search */
    uint8_t *again = arena_alloc(q->a, (size_t)q->n + 1);
    uint32_t *to = arena_array(q->a, (size_t)q->n + 1, sizeof *to);
    uint32_t *rank = arena_array(q->a, (size_t)q->n + 1, sizeof *rank);
    for (;;) {
        struct arena_mark mark = arena_mark(q->a);
        uint32_t u, v, n = q->n;
        if (!find_pair(&j, &u, &v)) {
            if (fresh || j.spent >= j.budget)
                return;
            memset(j.tried, 0, q->n); /* a new order may have made new neighbours: once more */
            fresh = true;
            continue;
        }
        fresh = false;
        for (uint32_t i = 0; i < n; i++)
            to[i] = i == v ? u : i - (i > v);
        quotient_merge(q, to, n - 1);
        bool legal = quotient_order(q, rank);
        assert(legal);
        (void)legal;
        for (uint32_t i = 0; i < n; i++)
            to[i] = rank[to[i]];
        for (uint32_t i = 0; i < n; i++)
            if (i != v)
                again[to[i]] = j.tried[i];
        quotient_merge(q, rank, q->n);
        for (uint32_t i = 0; i < nmap; i++)
            map[i] = to[map[i]];
        memcpy(j.tried, again, q->n);
        j.spent += nmap + n;
        arena_release(q->a, mark);
    }
}

/* ---- pieces --------------------------------------------------------------------------------- */

/* backward (NULL: nothing tells passes apart): one piece for each device and pass. */
static uint32_t pieces_by_device(const struct scene *s, const int32_t *dev, const uint8_t *backward,
                                 uint32_t ndev, uint32_t *piece, struct arena *a)
{
    const struct graph *g = &s->m->graph[1];
    uint32_t n = 0, *id = arena_array(a, 2 * (size_t)ndev + 1, sizeof *id); /* 0: not seen */
    for (nid v = g->first; v < g->first + g->count; v++) {
        if (s->place->kind[v] != PLACE_NODE)
            continue;
        assert(dev[v] >= 0 && (uint32_t)dev[v] < ndev);
        uint32_t at = 2 * (uint32_t)dev[v] + (backward && backward[v]);
        if (!id[at])
            id[at] = ++n;
        piece[v] = id[at] - 1;
    }
    return n;
}

/* Raises the levels G of the nodes that read results of u. */
static void raise_readers(const struct place *p, const struct csr *made, const int32_t *dev, nid u,
                          uint32_t *level)
{
    for_row (b, *made, u)
        for_row (v, p->net_pin, b) {
            uint32_t l = level[u] + (dev[u] != dev[v]);
            if (v != u && level[v] < l)
                level[v] = l;
        }
}

/* Works out levels G such that all nodes of an atom have one: the largest of theirs, atom by atom in a topological
 * order. */
static void level_atoms(const struct module *m, const struct place *p, const struct csr *made,
                        const int32_t *dev, uint32_t *level, struct arena *a)
{
    struct csr edge = group_edges(m, p, p->atom, a);
    nid *order = arena_array(a, m->nnode, sizeof *order);
    struct pairs named = {.a = a};
    for (nid v = 1; v < m->nnode; v++)
        if (p->kind[v] == PLACE_NODE)
            pairs_add(&named, p->atom[v], v);
    struct csr of = pairs_rows(&named, m->nnode);
    for (uint32_t i = 0, sorted = csr_topo(&edge, m->nnode, NULL, order, a); i < sorted; i++) {
        nid x = order[i]; /* names no atom: its row is empty */
        uint32_t most = 0;
        for_row (y, of, x)
            most = larger_u32(level[y], most);
        for_row (y, of, x) {
            level[y] = most;
            raise_readers(p, made, dev, y, level);
        }
    }
}

/* Makes the pieces (device, G), numbered by G, then device, which is a topological order. */
static uint32_t pieces_by_level(const struct module *m, const struct place *p, const int32_t *dev,
                                uint32_t *piece, struct arena *a)
{
    const struct graph *g = &m->graph[1];
    uint32_t *level = arena_array(a, m->nnode, sizeof *level), n = 0, k = 0;
    uint64_t *key = arena_array(a, (size_t)g->count + 1, sizeof *key);
    struct csr made = place_nets_made(m, p, a);
    if (p->atom)
        level_atoms(m, p, &made, dev, level, a);
    for (nid u = g->first; u < g->first + g->count; u++) {
        if (p->kind[u] != PLACE_NODE)
            continue;
        if (!p->atom)
            raise_readers(p, &made, dev, u, level);
        key[n++] = (uint64_t)level[u] << 32 | (uint32_t)dev[u];
    }
    qsort(key, n, sizeof *key, by_u64);
    for (uint32_t i = 0; i < n; i++)
        if (!i || key[i] != key[i - 1])
            key[k++] = key[i];
    for (nid u = g->first; u < g->first + g->count; u++)
        if (p->kind[u] == PLACE_NODE) {
            uint64_t want = (uint64_t)level[u] << 32 | (uint32_t)dev[u];
            const uint64_t *at = bsearch(&want, key, k, sizeof *key, by_u64);
            assert(at != NULL);
            piece[u] = (uint32_t)(at - key);
        }
    return k;
}

static void renumber(const struct module *m, const struct place *p, uint32_t *piece,
                     const uint32_t *map)
{
    for (nid v = m->graph[1].first; v < m->graph[1].first + m->graph[1].count; v++)
        if (p->kind[v] == PLACE_NODE)
            piece[v] = map[piece[v]];
}

uint32_t pieces_build(const struct scene *s, const int32_t *dev, uint32_t *piece,
                      int32_t **piece_dev, struct arena *a)
{
    const struct module *m = s->m;
    const struct place *p = s->place;
    uint32_t ndev = 1, n;
    for (nid v = m->graph[1].first; v < m->graph[1].first + m->graph[1].count; v++)
        if (p->kind[v] == PLACE_NODE && (uint32_t)dev[v] >= ndev)
            ndev = (uint32_t)dev[v] + 1;
    n = pieces_by_device(s, dev, NULL, ndev, piece, a);
    struct quotient q = quotient_make(m, p, dev, piece, n, a);
    uint32_t *rank = arena_array(a, 2 * (size_t)ndev + 1, sizeof *rank);
    if (!quotient_order(&q, rank)) {
        uint32_t pins = p->nnet ? p->net_pin.at[p->nnet] : 0;
        bool passes = s->model.part_cost && m->backward && !p->atom;
        if (passes) {
            n = pieces_by_device(s, dev, m->backward, ndev, piece, a);
            q = quotient_make(m, p, dev, piece, n, a);
        }
        if (!passes || !quotient_order(&q, rank)) {
            n = pieces_by_level(m, p, dev, piece, a);
            q = quotient_make(m, p, dev, piece, n, a);
        }
        uint32_t *map = arena_array(a, (size_t)n + 1, sizeof *map);
        quotient_merge(&q, map, join_stays(&q, ndev, map));
        quotient_distinct(&q);
        join_pairs(&q, ndev, map, n, 64 * ((uint64_t)pins + m->graph[1].count) + (1 << 22));
        renumber(m, p, piece, map);
        rank = arena_array(a, (size_t)q.n + 1, sizeof *rank);
        bool legal = quotient_order(&q, rank);
        assert(legal);
        (void)legal;
    }
    renumber(m, p, piece, rank);
    *piece_dev = arena_array(a, (size_t)q.n + 1, sizeof **piece_dev);
    for (uint32_t i = 0; i < q.n; i++)
        (*piece_dev)[rank[i]] = q.dev[i];
    return q.n;
}
