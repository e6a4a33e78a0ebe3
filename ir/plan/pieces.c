/* Groups placed nodes into pieces, each of which becomes a part (pieces.h).
 *
 * The quotient is the graph of pieces, with an edge from the piece of a producer to the piece of a reader.  It must
 * have no cycle.  The first of these groupings that meets this is used:
 *  1. One piece per device: works for contiguous plans.
 *  2. One piece per device and training pass: works for contiguous plans of training graphs.  Only tried if parts
 *     have a cost: if they have none, more pieces let some backward nodes run earlier.
 *  3. Pieces (device, G), where the level G(v) = max over predecessors u of G(u) + [dev(u) != dev(v)].  Along an edge,
 *     G never decreases, and it grows where the device changes: there is never a cycle.  Nodes of one atom (atoms.h)
 *     must be in one part: all get the largest level among them, atom by atom in a topological order.
 * Pieces of 2 and 3 are then merged.  First a greedy topological order stays on a device as long as it can; the pieces
 * of each stay become one (linear).  Then neighbours u, v, which follow each other on their device in that order,
 * become one if no path u -> w -> v leads through a third piece.
 *
 * Edges of the quotient come from nets, whose pins include readers through copies; so copies are in no piece.  Linear
 * in pins, except for merging neighbours: O(edges of the quotient) per pair, with a budget linear in pins. */
#include "ir/plan/pieces.h"

#include "ir/dag/atoms.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* The graph of pieces. */
struct quotient {
    struct arena *a;
    uint32_t n;        /* number of pieces */
    struct pairs edge; /* piece of a producer, piece of a reader; may have duplicates */
    /* [piece] number of the piece's first node: decides which of several possible pieces comes next */
    uint32_t *first;
    int32_t *dev; /* [piece] device */
};

/* ---- the quotient --------------------------------------------------------------------------- */

/* Returns the quotient for dev[node] and piece[node], with n pieces. */
static struct quotient quotient_make(const struct module *m, const struct place *p,
                                     const int32_t *dev, const uint32_t *piece, uint32_t n,
                                     struct arena *a)
{
    struct quotient q = {.a = a, .n = n, .edge = {.a = a}};
    uint32_t *seen = arena_array(a, (size_t)n + 1, sizeof *seen);
    q.first = arena_array(a, (size_t)n + 1, sizeof *q.first);
    q.dev = arena_array(a, (size_t)n + 1, sizeof *q.dev);
    /* from the last node to the first, so that q.first is the smallest node of each piece */
    for (nid v = m->graph[1].first + m->graph[1].count; v-- > m->graph[1].first;)
        if (p->kind[v] == PLACE_NODE) {
            assert(piece[v] < n && dev[v] >= 0);
            q.first[piece[v]] = v;
            q.dev[piece[v]] = dev[v];
        }
    /* an edge from the maker's piece to each other piece that reads the value, once a net */
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

/* Merges pieces: piece u becomes a member of the new piece map[u] < n. */
static void quotient_merge(struct quotient *q, const uint32_t *map, uint32_t n)
{
    assert(n <= q->n);
    uint32_t edges = q->edge.n, *first = arena_array(q->a, (size_t)n + 1, sizeof *first);
    int32_t *dev = arena_array(q->a, (size_t)n + 1, sizeof *dev);
    memset(first, 0xff, n * sizeof *first); /* UINT32_MAX: no member so far */
    for (uint32_t u = 0; u < q->n; u++) {
        assert(map[u] < n);
        first[map[u]] = smaller_u32(q->first[u], first[map[u]]);
        dev[map[u]] = q->dev[u];
    }
    /* edges are renamed in place: entry n is written after entry i >= n was read */
    q->edge.n = 0;
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

/* Writes the position of each piece in a topological order to rank[piece]; of the pieces that may come next, takes the
 * piece with the smallest node. Returns false if the quotient has a cycle. */
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

/* For each device, a queue of its pieces whose predecessors have all been passed. */
struct queues {
    /* [device] head, tail: first and last piece of the device's queue; head UINT32_MAX: the queue is empty */
    uint32_t *head, *tail;
    uint32_t *next; /* [piece] the next piece in the piece's queue; UINT32_MAX: none */
};

/* Appends piece u to the queue of its device. */
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

/* Goes through all pieces in a topological order that stays on a device as long as it can, then goes to the device
 * whose first waiting piece has the smallest number.  Writes the number of each piece's stay to map[piece]; returns the
 * number of stays. */
static uint32_t join_stays(const struct quotient *q, uint32_t ndev, uint32_t *map)
{
    struct csr succ = pairs_rows(&q->edge, q->n);
    uint32_t *deg = arena_array(q->a, (size_t)q->n + 1, sizeof *deg), stays = 0;
    for (uint32_t i = 0; i < q->edge.n; i++)
        deg[q->edge.to[i]]++;
    struct queues f = {.head = arena_array(q->a, ndev, sizeof *f.head),
                       .tail = arena_array(q->a, ndev, sizeof *f.tail),
                       .next = arena_array(q->a, (size_t)q->n + 1, sizeof *f.next)};
    memset(f.head, 0xff, ndev * sizeof *f.head); /* UINT32_MAX: empty queues */
    for (uint32_t u = 0; u < q->n; u++)
        if (!deg[u])
            enqueue(&f, q, u);
    for (uint32_t left = q->n; left; stays++) {
        uint32_t d = 0; /* the head of an empty queue, UINT32_MAX, is the largest */
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

/* Whether pieces u < v can become one: no path leads from u to v through a third piece.  Pieces must be numbered
 * topologically.  stack, seen: [piece] scratch; seen[] is 0 before the first call, and calls have ascending v.  Adds
 * the number of edges looked at to *spent. */
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

/* Merging of neighbours: pieces of one device with no other piece of the device between them in the order. */
struct merge_state {
    struct quotient *q;
    uint32_t ndev;
    /* [piece] 1: find_pair() found that the piece cannot merge with its left neighbour; merging other pieces does not
     * change that, since merging removes no path */
    uint8_t *tried;
    /* spent: number of pieces and edges looked at so far; budget: the most that may be looked at */
    uint64_t spent, budget;
};

/* Finds neighbours *left and *right that can be merged.  Returns false if there are none, or the budget is spent.
 * Notes in j->tried which pieces cannot merge, and adds its work to j->spent. */
static bool find_pair(struct merge_state *j, uint32_t *left, uint32_t *right)
{
    const struct quotient *q = j->q;
    struct csr succ = pairs_rows(&q->edge, q->n);
    /* [device] the last piece of the device that was found; `none`: none was found */
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

/* Merges neighbours of q until none can be merged or the budget is spent. map[i], i < nmap: the present number of the
 * piece that had number i before merging began; kept up to date. rank, to and renumbered carry numbers of pieces over
 * from one merge to the next. */
static void join_pairs(struct quotient *q, uint32_t ndev, uint32_t *map, uint32_t nmap,
                       uint64_t budget)
{
    struct merge_state j = {q, ndev, arena_alloc(q->a, (size_t)q->n + 1), 0, budget};
    /* no piece was found unable to merge since the order last changed: tried[] is all 0 */
    bool fresh = true;
    uint8_t *renumbered = arena_alloc(q->a, (size_t)q->n + 1);      /* tried[] by new numbers */
    uint32_t *to = arena_array(q->a, (size_t)q->n + 1, sizeof *to); /* [old piece] new piece */
    uint32_t *rank = arena_array(q->a, (size_t)q->n + 1, sizeof *rank);
    for (;;) {
        struct arena_mark mark = arena_mark(q->a);
        uint32_t u, v, n = q->n;
        if (!find_pair(&j, &u, &v)) {
            if (fresh || j.spent >= j.budget)
                return;
            /* merging changed the order: pieces may have new neighbours */
            memset(j.tried, 0, q->n);
            fresh = true;
            continue;
        }
        fresh = false;
        /* piece v becomes a part of piece u, and pieces behind v move up by one */
        for (uint32_t i = 0; i < n; i++)
            to[i] = i == v ? u : i - (i > v);
        quotient_merge(q, to, n - 1);
        bool legal = quotient_order(q, rank);
        assert(legal);
        (void)legal;
        /* then all pieces get their numbers in a topological order */
        for (uint32_t i = 0; i < n; i++)
            to[i] = rank[to[i]];
        for (uint32_t i = 0; i < n; i++)
            if (i != v)
                renumbered[to[i]] = j.tried[i];
        quotient_merge(q, rank, q->n);
        for (uint32_t i = 0; i < nmap; i++)
            map[i] = to[map[i]];
        memcpy(j.tried, renumbered, q->n);
        j.spent += nmap + n;
        arena_release(q->a, mark);
    }
}

/* ---- pieces --------------------------------------------------------------------------------- */

/* Writes piece[node]: one piece for each device; if backward ([node] 1: of the backward pass) is not NULL, one for
 * each device and pass.  Returns the number of pieces. */
static uint32_t pieces_by_device(const struct scene *s, const int32_t *dev, const uint8_t *backward,
                                 uint32_t ndev, uint32_t *piece, struct arena *a)
{
    const struct graph *g = &s->m->graph[1];
    /* id: [2 * device + pass] 1 + number of the piece of that device and pass; 0: no node so far */
    uint32_t n = 0, *id = arena_array(a, 2 * (size_t)ndev + 1, sizeof *id);
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

/* For a node u whose level G is final, raises the level of each reader v of its results to at least G(u) + [dev(u) !=
 * dev(v)].  made: node -> nets of its results. */
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

/* Computes all levels G of a model with atoms: atom by atom in a topological order, all nodes of an atom get the
 * largest level of them. */
static void level_atoms(const struct module *m, const struct place *p, const struct csr *made,
                        const int32_t *dev, uint32_t *level, struct arena *a)
{
    struct csr edge = group_edges(m, p, p->atom, a);
    nid *order = arena_array(a, m->nnode, sizeof *order);
    struct pairs named = {.a = a};
    for (nid v = 1; v < m->nnode; v++)
        if (p->kind[v] == PLACE_NODE)
            pairs_add(&named, p->atom[v], v);
    /* first node of an atom -> nodes of the atom */
    struct csr members = pairs_rows(&named, m->nnode);
    for (uint32_t i = 0, sorted = csr_topo(&edge, m->nnode, NULL, order, a); i < sorted; i++) {
        nid x = order[i]; /* if x is not the first node of an atom, its row is empty */
        uint32_t most = 0;
        for_row (y, members, x)
            most = larger_u32(level[y], most);
        for_row (y, members, x) {
            level[y] = most;
            raise_readers(p, made, dev, y, level);
        }
    }
}

/* Writes piece[node]: one piece for each pair (device, level G), numbered by G, then device, which is a topological
 * order.  Returns the number of pieces. */
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
        if (!p->atom) /* numbers of nodes are a topological order: the level of u is final */
            raise_readers(p, &made, dev, u, level);
        /* the keys of all pieces; without repeats and sorted, a key's position is the number of its piece */
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

/* Replaces the piece of each placed node by map[piece]. */
static void renumber_pieces(const struct module *m, const struct place *p, uint32_t *piece,
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
    /* with one piece a device the quotient has a cycle: tries one piece for each device and pass, else cuts finer and
     * merges again */
    if (!quotient_order(&q, rank)) {
        uint32_t pins = p->nnet ? p->net_pin.at[p->nnet] : 0;
        /* an atom may have nodes of both passes, which must stay in one piece */
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
        /* the budget, 64 looks at each pin and node and 4 million more, keeps the time linear in the size of the
         * model */
        join_pairs(&q, ndev, map, n, 64 * ((uint64_t)pins + m->graph[1].count) + (1 << 22));
        renumber_pieces(m, p, piece, map);
        rank = arena_array(a, (size_t)q.n + 1, sizeof *rank);
        bool legal = quotient_order(&q, rank);
        assert(legal);
        (void)legal;
    }
    renumber_pieces(m, p, piece, rank);
    *piece_dev = arena_array(a, (size_t)q.n + 1, sizeof **piece_dev);
    for (uint32_t i = 0; i < q.n; i++)
        (*piece_dev)[rank[i]] = q.dev[i];
    return q.n;
}
