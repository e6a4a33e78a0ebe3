/* Makes nets for a graph that some vertices will be taken out of (wdag_bridge.h); wdag_without() then takes them out.
 *
 * Let v be a vertex left out, e a net that v reads, p the producer of e, o a net that v produces, u a reader of
 * o.  If u and p are on different devices, u's device pays for e if v is on it, else for o; p's device pays for o if
 * v is on it, else for e.  So u may be made a reader of e, for a share of e's cost that is no more than the cost of
 * o, and no device pays more than before.  Each share of o's cost is used once: for one of the nets that v reads, or
 * for a new net that only joins the readers of o.
 *
 * A net's cost is divided into UNITS equal parts; a vertex that is made a reader of the net has a mask of the parts
 * that it reads.  All readers of o are made readers of the same parts of e, if possible of parts that none of them
 * reads, so that the costs of several branches between two vertices add up.  Vertices left out are handled from the
 * last to the first: when v is handled, vertices left out that read its nets have been replaced by their own readers.
 *
 * Cost: O(pins * READERS_MOST). */
#include "ir/dag/wdag_bridge.h"

#include <string.h>

enum {
    UNITS = 64,               /* number of equal parts of a net's cost */
    READERS_MOST = 64,        /* the most readers that a net is given */
    CLASSES = CLUSTER_CLASSES /* the most device classes */
};

/* A vertex that was made a reader of some parts of a net, in place of a vertex left out. */
struct reader {
    uint32_t v, next; /* next: 1 + index of the net's next reader in bridge_state.reader; 0: none */
    uint64_t parts;   /* bit t: reads part t of the net */
};

/* A run of consecutive parts of a net (each net is divided into UNITS parts) that have the same readers: the run
 * becomes one new net. */
struct piece {
    /* units: number of parts; pin[npin]: the producer and the readers, without vertices left out */
    uint32_t units, npin, *pin;
};

/* State of making the new nets. */
struct bridge_state {
    const struct wdag *g;
    const uint8_t *out; /* [vertex] 1: the vertex will be left out */
    struct arena *a;
    uint32_t *head;        /* [net of g] 1 + index of the first reader in the net's list; 0: none */
    uint32_t *count;       /* [net of g] number of readers in the net's list */
    struct reader *reader; /* [nreader] readers of all lists */
    uint32_t nreader, capreader;
    struct piece piece[UNITS]; /* [npiece] pieces of the net that was cut last */
    uint32_t npiece;
    /* the new nets, as growing arrays; net n has pin[at[n] .. at[n + 1]), producer src[n], and is made of net old[n] */
    uint32_t nnet, *at, *pin, *src, *old, capat, cappin, capsrc, capold, capcost;
    int64_t *cost; /* [new net * classes + class] ps */
};

/* Whether net e may take part in bridging: a vertex produces it, and the host has no pin. */
static bool may_bridge(const struct wdag *g, uint32_t e)
{
    return !g->net_host[e] && g->net_src[e] != UINT32_MAX;
}

/* ---- readers --------------------------------------------------------------------------------- */

/* Returns the entry of v in the list of readers that net e was given; NULL: there is none. */
static struct reader *reader_of(const struct bridge_state *b, uint32_t e, uint32_t v)
{
    uint32_t x = b->head[e];
    while (x && b->reader[x - 1].v != v)
        x = b->reader[x - 1].next;
    return x ? &b->reader[x - 1] : NULL;
}

/* Makes v a reader of the parts of net e in the mask `parts`.  Does nothing if v is no reader of e yet and the list
 * of e already has READERS_MOST readers. */
static void add_reader(struct bridge_state *b, uint32_t e, uint32_t v, uint64_t parts)
{
    struct reader *r = reader_of(b, e, v);
    if (r) {
        r->parts |= parts;
    } else if (b->count[e] < READERS_MOST) {
        b->reader = vec_grow(b->a, b->reader, &b->capreader, b->nreader + 1, sizeof *b->reader);
        b->reader[b->nreader++] = (struct reader){v, b->head[e], parts};
        b->head[e] = b->nreader;
        b->count[e]++;
    }
}

/* Returns a mask of up to n parts of net e for the vertices of piece p to read: first parts that none of these vertices
 * reads yet, then parts that some of them do not read yet. */
static uint64_t choose_parts(const struct bridge_state *b, uint32_t e, const struct piece *p,
                             uint32_t n)
{
    uint64_t some = 0, all = UINT64_MAX, chosen = 0;
    for (uint32_t i = 0; i < p->npin; i++) {
        const struct reader *r = reader_of(b, e, p->pin[i]);
        uint64_t has = csr_has(&b->g->net_pin, e, p->pin[i]) ? UINT64_MAX : r ? r->parts : 0;
        some |= has;
        all &= has;
    }
    /* takes the lowest bit of `left` until n parts are chosen */
    for (int turn = 0; turn < 2; turn++)
        for (uint64_t left = turn ? some & ~all : ~some; left && n; left &= left - 1, n--)
            chosen |= left & -left;
    return chosen;
}

/* ---- pieces ---------------------------------------------------------------------------------- */

/* Divides net e into b->piece[0 .. npiece), one piece for each run of parts with the same given readers.  Each piece
 * also has the pins that e has in g, without vertices left out; if there are several pieces, only the first
 * READERS_MOST of these pins. */
static void cut_net(struct bridge_state *b, uint32_t e)
{
    const struct wdag *g = b->g;
    uint32_t first = g->net_pin.at[e];
    uint32_t last = g->net_pin.at[e + 1];
    uint32_t most = last - first + b->count[e];
    /* bit t: a piece begins with part t; these are part 0 and each part whose readers are not those of part t - 1 */
    uint64_t differs = 1;
    for (uint32_t x = b->head[e]; x; x = b->reader[x - 1].next)
        differs |= b->reader[x - 1].parts ^ (b->reader[x - 1].parts << 1);
    b->npiece = 0;
    for (uint32_t t = 0; t < UNITS; t++) {
        if (!(differs >> t & 1)) {
            b->piece[b->npiece - 1].units++;
            continue;
        }
        struct piece *p = &b->piece[b->npiece++];
        *p = (struct piece){.units = 1, .pin = arena_array(b->a, (size_t)most + 1, sizeof *p->pin)};
        for (uint32_t x = b->head[e]; x; x = b->reader[x - 1].next)
            if (b->reader[x - 1].parts >> t & 1)
                p->pin[p->npin++] = b->reader[x - 1].v;
        /* how many more pins of the net itself the piece may get: no limit if the piece is the whole net */
        uint32_t own = differs == 1 ? UINT32_MAX : READERS_MOST;
        for (uint32_t i = first; i < last && own; i++) /* the producer is the first pin */
            if (!b->out[g->net_pin.to[i]]) {
                p->pin[p->npin++] = g->net_pin.to[i];
                own--;
            }
    }
}

/* Returns the cost, in ps, of one part of net e on class k. */
static int64_t unit_cost(const struct bridge_state *b, uint32_t k, uint32_t e)
{
    return b->g->net_cost[k][e] / UNITS;
}

/* Writes cost[class], the cost of piece p of net e, in ps. */
static void piece_cost(const struct bridge_state *b, uint32_t e, const struct piece *p,
                       int64_t *cost)
{
    for (uint32_t k = 0; k < b->g->ncls; k++)
        cost[k] = p->units == UNITS ? b->g->net_cost[k][e] : unit_cost(b, k, e) * p->units;
}

/* Adds a new net with the pins of p, a piece of net e, and the cost cost[class], in ps. */
static void add_new_net(struct bridge_state *b, uint32_t e, const struct piece *p,
                        const int64_t *cost)
{
    uint32_t n = b->nnet++, start = n ? b->at[n] : 0, src = b->g->net_src[e], ncls = b->g->ncls;
    b->at = vec_grow(b->a, b->at, &b->capat, n + 2, sizeof *b->at);
    b->src = vec_grow(b->a, b->src, &b->capsrc, n + 1, sizeof *b->src);
    b->old = vec_grow(b->a, b->old, &b->capold, n + 1, sizeof *b->old);
    b->pin = vec_grow(b->a, b->pin, &b->cappin, start + p->npin + 1, sizeof *b->pin);
    b->cost = vec_grow(b->a, b->cost, &b->capcost, (n + 1) * ncls, sizeof *b->cost);
    b->at[n] = start;
    b->at[n + 1] = start + p->npin;
    memcpy(b->pin + start, p->pin, p->npin * sizeof *p->pin);
    memcpy(b->cost + (size_t)n * ncls, cost, ncls * sizeof *cost);
    b->src[n] = src != UINT32_MAX && b->out[src] ? UINT32_MAX : src;
    b->old[n] = e;
}

/* ---- vertices -------------------------------------------------------------------------------- */

/* Returns the largest number of parts of net e whose cost is at most left[class] ps on each class; 0 if the net costs
 * nothing. */
static uint32_t parts_within(const struct bridge_state *b, uint32_t e, const int64_t *left)
{
    int64_t n = UNITS;
    bool costs = false;
    for (uint32_t k = 0; k < b->g->ncls; k++) {
        int64_t unit = unit_cost(b, k, e);
        if (!unit)
            continue;
        costs = true;
        n = smaller(left[k] / unit, n);
    }
    return costs ? (uint32_t)n : 0;
}

/* Lets the pins of p, a piece of a net that v produces, become readers of the nets that v reads.  left: [class] ps of
 * p's cost that may be used; the cost of the parts that are read is subtracted. */
static void bridge_piece(struct bridge_state *b, uint32_t v, const struct piece *p, int64_t *left)
{
    const struct wdag *g = b->g;
    for_row (e, g->net_of, v) {
        if (g->net_src[e] == v || !may_bridge(g, e))
            continue;
        uint64_t parts = choose_parts(b, e, p, parts_within(b, e, left));
        for (uint32_t x = 0; parts && x < p->npin; x++)
            add_reader(b, e, p->pin[x], parts);
        for (uint32_t k = 0; k < g->ncls; k++)
            left[k] -= unit_cost(b, k, e) * __builtin_popcountll(parts);
    }
}

/* Handles vertex v, which is left out: makes the readers of its nets readers of the nets that v reads, and makes new
 * nets among these readers, with the cost that is left. */
static void bridge_vertex(struct bridge_state *b, uint32_t v)
{
    const struct wdag *g = b->g;
    int64_t left[CLASSES];
    for_row (e, g->net_of, v) {
        if (g->net_src[e] != v || !may_bridge(g, e))
            continue;
        cut_net(b, e);
        for (uint32_t x = 0; x < b->npiece; x++) {
            /* p: the piece with its first pins only, as many as a net can be given as readers */
            struct piece p = b->piece[x];
            p.npin = smaller_u32(p.npin, READERS_MOST);
            piece_cost(b, e, &p, left);
            if (p.npin)
                bridge_piece(b, v, &p, left);
            if (b->piece[x].npin > 1)
                add_new_net(b, e, &b->piece[x], left);
        }
    }
}

/* Adds the pieces of net e as new nets; called for nets that bridge_vertex() does not handle. */
static void emit_net(struct bridge_state *b, uint32_t e)
{
    int64_t cost[CLASSES];
    cut_net(b, e);
    for (uint32_t x = 0; x < b->npiece; x++) {
        piece_cost(b, e, &b->piece[x], cost);
        add_new_net(b, e, &b->piece[x], cost);
    }
}

/* ---- the result ------------------------------------------------------------------------------- */

/* Returns a copy of g that has the new nets instead of the nets of g. */
static const struct wdag *make_result(struct bridge_state *b)
{
    const struct wdag *g = b->g;
    struct wdag *h = arena_copy(b->a, g, sizeof *h);
    h->nnet = b->nnet;
    h->net_of = (struct csr){0};
    h->net_pin = (struct csr){b->at ? b->at : arena_array(b->a, 1, sizeof *b->at), b->pin};
    h->net_src = b->src;
    h->net_host = arena_alloc(b->a, (size_t)b->nnet + 1);
    h->net_back = g->net_back ? arena_alloc(b->a, (size_t)b->nnet + 1) : NULL;
    h->net_cost = arena_array(b->a, g->ncls, sizeof *h->net_cost);
    for (uint32_t k = 0; k < g->ncls; k++)
        h->net_cost[k] = arena_array(b->a, (size_t)b->nnet + 1, sizeof **h->net_cost);
    for (uint32_t e = 0; e < b->nnet; e++) {
        h->net_host[e] = g->net_host[b->old[e]];
        if (h->net_back)
            h->net_back[e] = g->net_back[b->old[e]];
        for (uint32_t k = 0; k < g->ncls; k++)
            h->net_cost[k][e] = b->cost[(size_t)e * g->ncls + k];
    }
    return h;
}

const struct wdag *wdag_bridge_nets(const struct wdag *g, const uint8_t *out, struct arena *a)
{
    if (g->net_inner)
        return g;
    struct bridge_state b = {.g = g,
                             .out = out,
                             .a = a,
                             .head = arena_array(a, (size_t)g->nnet + 1, sizeof *b.head),
                             .count = arena_array(a, (size_t)g->nnet + 1, sizeof *b.count)};
    /* from the last vertex to the first: what v reads is made by earlier vertices, whose nets are not cut yet */
    for (uint32_t v = g->n; v-- > 0;)
        if (out[v])
            bridge_vertex(&b, v);
    /* nets of remaining vertices and of the host, with the readers that these nets got */
    for (uint32_t e = 0; e < g->nnet; e++)
        if (!may_bridge(g, e) || !out[g->net_src[e]])
            emit_net(&b, e);
    return make_result(&b);
}
