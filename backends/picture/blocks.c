/* Folds the nodes of each frame into few boxes (blocks.h).
 *
 * Within a frame, in this order:
 *  1. Chains: u -> v become one box if v is the only successor of u in the frame, u is the only predecessor of v, and
 *     both belong to the same layer.  Chains, sorted by their first nodes, are in topological order, and each later
 *     step joins only neighbours in that order: so the boxes of a frame make no cycle.  Neighbours whose last nodes are
 *     in the same scope within a layer ("attn", "mlp") become one box.
 *  2. Repeats: two boxes are alike if they run the same operators in the same order.  A sequence of boxes that comes k
 *     times in a row becomes one box "k x {...}".  Dynamic programming from the end chooses the sequences that leave
 *     the fewest boxes; a sequence has at most PERIODS boxes.  Where names or a profile say what a layer is, sequences
 *     begin and end between layers.
 *  3. While there are more boxes than the frame's share, the boxes of step 1 are joined more coarsely, and repeats are
 *     sought again.  First, all boxes between two waists: a waist is a place between neighbours that at most 3, then 2,
 *     then 1 tensors pass, where tensors that live long do not count.  Then boxes with a common scope in their names,
 *     deep scopes first.  Then whole layers.  Then all these steps once more, with repeats that may begin and end
 *     within layers.
 *  4. If there are still more boxes, neighbours are joined into as many bands of equal length as the share allows. */
#include "backends/picture/blocks.h"

#include "ir/plan/parts.h"
#include "ir/base/map.h"
#include "ir/base/strings.h"

#include <assert.h>
#include <string.h>

enum {
    PERIODS = 384, /* boxes of the longest sequence that may repeat */
    /* number of folding steps that join items by their scopes: by 5, 4, ..., 1 components */
    DEPTHS = 5,
    WAISTS = 3, /* number of folding steps that join the items between waists */
    /* a tensor lives long if there are more items than this from its producer to its last reader */
    LIFE = 64,
    SMALL_ELEMS = 64,    /* the most elements of a value that is small */
    MANY = UINT32_MAX,   /* no limit of boxes */
    SEVERAL = UINT32_MAX /* note_neighbour(): more than one neighbour */
};

struct frames frames_build(const struct result *r, uint32_t most, struct arena *a)
{
    const struct parts *parts = r->parts;
    /* of a sharded model, all pieces that a device computes stand in one frame */
    bool by_part = parts->nparts <= most && !r->sharding;
    struct pairs node = {.a = a}; /* (frame, node) */
    /* frame_of: [part] its frame + 1; of_dev: [device] its last frame + 1 */
    uint32_t *frame_of = arena_array(a, (size_t)parts->nparts + 1, sizeof *frame_of);
    uint32_t *of_dev = arena_array(a, r->scene.cluster->ndev, sizeof *of_dev);
    struct frames f = {.of = arena_array(a, r->scene.m->nnode, sizeof *f.of)};
    f.dev = arena_array(a, (size_t)parts->nparts + 1, sizeof *f.dev);
    f.parts = arena_array(a, (size_t)parts->nparts + 1, sizeof *f.parts);
    f.first = arena_array(a, (size_t)parts->nparts + 1, sizeof *f.first);
    for (uint32_t p = 0; p < parts->nparts; p++) {
        uint32_t dev = parts->part[p].dev, x = by_part ? 0 : of_dev[dev];
        if (!x) { /* a new frame */
            f.shared = f.shared || of_dev[dev];
            f.dev[f.n] = dev;
            f.first[f.n] = p;
            x = ++f.n;
            of_dev[dev] = x;
        }
        f.parts[x - 1]++;
        frame_of[p] = x;
    }
    for (nid x = 1; x < r->scene.m->nnode; x++) {
        int32_t p = parts->part_of[x];
        if (p < 0)
            continue;
        f.of[x] = frame_of[p];
        pairs_add(&node, f.of[x] - 1, x);
    }
    f.node = pairs_rows(&node, f.n);
    return f;
}

/* ---- boxes before folding --------------------------------------------------------------------- */

/* A frame's nodes (folder.node) cut into items: the boxes before repeats are folded. */
struct items {
    uint32_t n;
    uint32_t *at;   /* [n + 1] item i is node[at[i] .. at[i + 1]) */
    uint64_t *kind; /* [item] hash of the item's operators */
    uint8_t *start; /* [item] 1: the node before the item is in another layer, or in none */
};

/* A box after folding: `count` equal sequences of `period` items each, from item `first` on. */
struct fold {
    uint32_t first, period, count;
};

/* The folding of all frames, one after the other. */
struct folder {
    const struct result *r;
    const struct frames *f;
    struct layers layers;
    uint32_t *layer; /* [node] as layers.of, but also set for nodes between two nodes of a layer */
    uint32_t *next;  /* [node] the next node of its chain, 0: none */
    uint8_t *inner;  /* [node] 1: not the first node of its chain */
    struct strings *scopes;
    struct csr made;       /* node -> nets that it produces, small ones (arrow_is_small) left out */
    uint32_t *item;        /* [node] its item; scratch of measure_widths() */
    struct arena *a, *out; /* a: scratch memory; out: memory of the result */
    nid *node;             /* the nodes of the frame that is being folded, chain by chain */
};

bool arrow_is_small(const struct result *r, uint32_t net)
{
    vid v = r->scene.place->net_value[net];
    const struct type *t = &r->scene.m->type[r->scene.m->value[v].type];
    int64_t elems = r->scene.m->cost->elems[v];
    return elems >= 0 && elems <= SMALL_ELEMS && t->kind == TYPE_TENSOR && elem_is_integer(t->elem);
}

/* Changes w->layer: a node without a layer that stands between two nodes of the same layer, in the order of its frame,
 * gets that layer. */
static void fill_layers(struct folder *w)
{
    for (uint32_t i = 0; i < w->f->n; i++) {
        uint32_t last = 0, gap = 0; /* the last layer seen; index of the first node after it */
        for (uint32_t k = w->f->node.at[i]; k < w->f->node.at[i + 1]; k++) {
            uint32_t here = w->layer[w->f->node.to[k]];
            if (!here)
                continue;
            for (; here == last && gap < k; gap++)
                w->layer[w->f->node.to[gap]] = here;
            last = here;
            gap = k + 1;
        }
    }
}

/* Notes node `other` in *slot, which is for the only neighbour of a node: 0: none so far; SEVERAL: more than one. */
static void note_neighbour(uint32_t *slot, uint32_t other)
{
    assert(other != 0);
    *slot = !*slot || *slot == other ? other : SEVERAL;
}

/* Finds the chains of all frames (w->next, w->inner) and the nets that each node makes (w->made). */
static void link_chains(struct folder *w)
{
    const struct place *pl = w->r->scene.place;
    const struct module *m = w->r->scene.m;
    uint32_t *succ = arena_array(w->a, m->nnode, sizeof *succ);
    uint32_t *pred = arena_array(w->a, m->nnode, sizeof *pred);
    struct pairs made = pairs_new(w->a, pl->nnet); /* (node, net) */
    for (uint32_t e = 0; e < pl->nnet; e++) {
        nid u = m->value[pl->net_value[e]].def;
        if (!u || pl->kind[u] != PLACE_NODE || arrow_is_small(w->r, e))
            continue;
        pairs_add(&made, u, e);
        for_row (v, pl->net_pin, e) {
            if (v == u || w->f->of[u] != w->f->of[v])
                continue;
            note_neighbour(&succ[u], v);
            note_neighbour(&pred[v], u);
        }
    }
    w->made = pairs_rows(&made, m->nnode);
    w->item = arena_array(w->a, m->nnode, sizeof *w->item);
    for (nid u = 1; u < m->nnode; u++) {
        nid v = succ[u];
        if (!v || v == SEVERAL || v < u || pred[v] != u || w->layer[u] != w->layer[v])
            continue;
        w->next[u] = v;
        w->inner[v] = 1;
    }
}

/* Returns an empty list with room for `most` items. */
static struct items items_new(struct folder *w, uint32_t most)
{
    return (struct items){0, arena_array(w->a, (size_t)most + 1, sizeof(uint32_t)),
                          arena_array(w->a, most, sizeof(uint64_t)), arena_alloc(w->a, most)};
}

/* Adds an item to t: the nodes w->node[] from the end of the last item up to `end`.  Sets its kind and start.  Does
 * nothing if there are no such nodes. */
static void items_end(struct folder *w, struct items *t, uint32_t end)
{
    assert(end >= t->at[t->n]);
    const struct module *m = w->r->scene.m;
    uint32_t begin = t->at[t->n];
    /* a hash of the operators in their order, as FNV-1a begins */
    uint64_t h = UINT64_C(0xcbf29ce484222325);
    if (begin == end)
        return;
    for (uint32_t i = begin; i < end; i++) {
        h = (h ^ map_key(m->node[w->node[i]].domain, m->node[w->node[i]].op)) *
            UINT64_C(0x9e3779b97f4a7c15);
        h ^= h >> 29;
    }
    uint32_t before = begin ? w->layer[w->node[begin - 1]] : 0;
    t->kind[t->n] = h;
    t->start[t->n] = !before || before != w->layer[w->node[begin]];
    t->at[++t->n] = end;
}

/* Sets w->node to the nodes of a frame, chain by chain.  Returns the items: one for each chain. */
static struct items list_chains(struct folder *w, uint32_t frame)
{
    const struct csr *c = &w->f->node;
    uint32_t n = c->at[frame + 1] - c->at[frame], k = 0;
    struct items t = items_new(w, n);
    for_row (y, *c, frame) {
        if (w->inner[y])
            continue;
        for (nid x = y; x; x = w->next[x])
            w->node[k++] = x;
        items_end(w, &t, k);
    }
    return t;
}

/* ---- coarser boxes ---------------------------------------------------------------------------- */

/* Returns the length of the first `depth` components of a scope such as "/h.3/attn". */
static size_t outer_length(struct scope s, int depth)
{
    size_t end = 0;
    for (int i = 0; i < depth && end < s.len; i++) {
        size_t from = end + (s.at[end] == '/');
        const char *slash = memchr(s.at + from, '/', s.len - from);
        end = slash ? (size_t)(slash - s.at) : s.len;
    }
    return end;
}

/* Whether the paths of nodes x and y begin with the same scope of up to `depth` components. */
static bool same_scope(const struct module *m, nid x, nid y, int depth)
{
    struct scope a = node_scope(m, x), b = node_scope(m, y);
    size_t n = outer_length(a, depth);
    return n == outer_length(b, depth) && n && memcmp(a.at, b.at, n) == 0;
}

/* Joins neighbours among the items of `fine` that belong to one layer: with depth > 0 if their first nodes have a
 * scope of up to `depth` components in common; with depth 0 always, except where there is no layer.  Returns the new
 * items. */
static struct items join_scopes(struct folder *w, const struct items *fine, int depth)
{
    struct items t = items_new(w, fine->n);
    for (uint32_t i = 1; i < fine->n; i++) {
        nid x = w->node[fine->at[i - 1]], y = w->node[fine->at[i]];
        bool layer = w->layer[x] == w->layer[y];
        bool joined = layer && (depth ? same_scope(w->r->scene.m, x, y, depth) : w->layer[x] != 0);
        if (!joined)
            items_end(w, &t, fine->at[i]);
    }
    items_end(w, &t, fine->at[fine->n]);
    return t;
}

/* Returns a number for the first component of a node's scope within its layer, such as "attn": its id in w->scopes; 0:
 * there is no such component. */
static uint32_t inner_scope(struct folder *w, nid x)
{
    struct scope s = layers_inside(w->r->scene.m, &w->layers, x);
    return s.len ? strings_id(w->scopes, s.at, s.len) : 0;
}

/* Joins neighbours among the items of `fine` that belong to one layer, if their last nodes have the same inner_scope();
 * an item without an inner scope joins the item before it.  Returns the new items. */
static struct items join_inner(struct folder *w, const struct items *fine)
{
    struct items t = items_new(w, fine->n);
    uint32_t run = 0; /* scope of the item that is being joined */
    for (uint32_t i = 0; i < fine->n; i++) {
        /* x: the last node of item i; y: the last node of the item before it */
        nid x = w->node[fine->at[i + 1] - 1];
        nid y = i ? w->node[fine->at[i] - 1] : 0;
        uint32_t scope = inner_scope(w, x);
        bool joined = i && w->layer[x] && w->layer[x] == w->layer[y] && (!scope || scope == run);
        if (!joined && i)
            items_end(w, &t, fine->at[i]);
        run = joined ? run : scope;
    }
    items_end(w, &t, fine->at[fine->n]);
    return t;
}

/* Joins the items of `fine` into at most `most` bands of about equally many items.  Returns the bands. */
static struct items join_bands(struct folder *w, const struct items *fine, uint32_t most)
{
    assert(most > 0);
    struct items t = items_new(w, fine->n);
    for (uint32_t i = 1; i <= most; i++)
        items_end(w, &t, fine->at[(uint64_t)fine->n * i / most]);
    return t;
}

/* Returns an array: [i] the number of tensors of the frame that pass between items i - 1 and i, without those that live
 * long (LIFE).  O(pins of the frame's nodes). */
static uint32_t *measure_widths(struct folder *w, const struct items *t)
{
    const struct place *pl = w->r->scene.place;
    uint32_t *width = arena_array(w->a, (size_t)t->n + 2, sizeof *width);
    for (uint32_t i = 0; i < t->n; i++)
        for (uint32_t k = t->at[i]; k < t->at[i + 1]; k++)
            w->item[w->node[k]] = i;
    for (uint32_t i = 0; i < t->at[t->n]; i++) {
        nid u = w->node[i];
        for_row (e, w->made, u) {
            uint32_t last = w->item[u];
            for_row (v, pl->net_pin, e)
                if (w->f->of[v] == w->f->of[u] && w->item[v] > last)
                    last = w->item[v];
            if (last - w->item[u] > LIFE)
                continue;
            width[w->item[u] + 1]++; /* the first place in the row that the tensor passes */
            width[last + 1]--;       /* the first place behind the tensor's last reader */
        }
    }
    /* from differences to widths */
    for (uint32_t i = 1; i <= t->n; i++)
        width[i] += width[i - 1];
    assert(width[t->n] == 0 || t->n == 0); /* no value is alive behind the last node */
    return width;
}

/* Joins neighbours among the items of `fine` that belong to one layer, if more than `most` tensors pass between them.
 * Returns the new items. */
static struct items join_waists(struct folder *w, const struct items *fine, uint32_t most)
{
    struct items t = items_new(w, fine->n);
    const uint32_t *width = measure_widths(w, fine);
    for (uint32_t i = 1; i < fine->n; i++)
        if (width[i] <= most ||
            w->layer[w->node[fine->at[i - 1]]] != w->layer[w->node[fine->at[i]]])
            items_end(w, &t, fine->at[i]);
    items_end(w, &t, fine->at[fine->n]);
    return t;
}

/* ---- repeats ---------------------------------------------------------------------------------- */

/* Folds the items into the fewest boxes, where a box is one item or a sequence of items that comes several times in a
 * row: dynamic programming from the last item to the first.  aligned: repeated sequences begin and end between layers.
 * Writes the boxes to out[t->n] and returns their number.  O(items * PERIODS). */
static uint32_t fold_repeats(struct folder *w, const struct items *t, bool aligned,
                             struct fold *out)
{
    uint32_t n = t->n, k = 0;
    /* [p] number of items in a row, from i on, each of which is like the item p places behind it */
    uint32_t run[PERIODS + 1] = {0};
    /* [i] cost: the fewest boxes that hold all items from i on; best: the first of these boxes */
    uint32_t *cost = arena_array(w->a, (size_t)n + 1, sizeof *cost);
    struct fold *best = arena_array(w->a, n, sizeof *best);
    for (uint32_t i = n; i-- > 0;) {
        cost[i] = cost[i + 1] + 1;
        best[i] = (struct fold){i, 1, 1};
        for (uint32_t p = 1; p <= PERIODS && i + p < n; p++) {
            run[p] = t->kind[i] == t->kind[i + p] ? run[p] + 1 : 0;
            /* number of sequences of p items; the item behind the last sequence */
            uint32_t count = run[p] / p + 1, end = i + count * p;
            if (count < 2 || (aligned && !(t->start[i] && t->start[i + p])))
                continue;
            /* if the last sequence would end within a layer */
            if (aligned && end < n && !t->start[end]) {
                count--;
                end -= p;
            }
            /* two single items that are alike stay two boxes */
            if (count * p < 3 || count < 2 || 1 + cost[end] >= cost[i])
                continue;
            cost[i] = 1 + cost[end];
            best[i] = (struct fold){i, p, count};
        }
    }
    for (uint32_t i = 0; i < n; i += best[i].period * best[i].count)
        out[k++] = best[i];
    assert(k <= n);
    return k;
}

/* ---- all of it -------------------------------------------------------------------------------- */

/* Folds a frame into at most `most` boxes, by steps that join more and more (see the head of this file); the first step
 * that gives few enough boxes counts.  Writes the boxes to out, their items to *t; returns the number of boxes. */
static uint32_t fold_frame(struct folder *w, uint32_t frame, uint32_t most, struct items *t,
                           struct fold *out)
{
    assert(most > 0 && frame < w->f->n);
    struct items chain = list_chains(w, frame), fine = join_inner(w, &chain);
    /* the items as they are; joined by waists; by scopes; to whole layers */
    enum { STEPS = 1 + WAISTS + DEPTHS + 1 };
    /* all steps twice; the second time repeats need not be aligned */
    for (int level = 0; level < 2 * STEPS; level++) {
        int step = level % STEPS;
        *t = step == 0        ? fine
             : step <= WAISTS ? join_waists(w, &fine, (uint32_t)(WAISTS + 1 - step))
                              : join_scopes(w, &fine, STEPS - 1 - step);
        uint32_t n = fold_repeats(w, t, level < STEPS, out);
        if (n <= most)
            return n;
    }
    struct items bands = join_bands(w, t, most);
    *t = bands;
    for (uint32_t i = 0; i < t->n; i++)
        out[i] = (struct fold){i, 1, 1};
    return t->n;
}

/* Appends the block for the box f of a frame, whose items are in *t, to b, and sets b->of for its nodes.  The block has
 * no holdings and texts yet. */
static void add_block(struct folder *w, struct blocks *b, uint32_t frame, const struct items *t,
                      const struct fold *f)
{
    assert(frame < w->f->n && f->count > 0 && f->period > 0);
    const struct cluster *c = w->r->scene.cluster;
    uint32_t begin = t->at[f->first], end = t->at[f->first + f->period * f->count];
    uint32_t cls = cluster_class(c, w->f->dev[frame]);
    struct block *k = &b->block[b->n++];
    k->repeats = f->count;
    k->frame = frame;
    k->nodes = end - begin;
    k->node = arena_array(w->out, k->nodes, sizeof *k->node);
    memcpy(k->node, w->node + begin, k->nodes * sizeof *k->node);
    k->layered = f->count > 1 && t->start[f->first] && w->layer[w->node[begin]];
    for (uint32_t i = begin; i < end; i++) {
        k->time = sat_add(k->time, w->r->scene.m->cost->time[cls][w->node[i]]);
        b->of[w->node[i]] = b->n;
    }
}

struct holdings *holdings_of(const struct result *r, const uint32_t *of, uint32_t n,
                             struct arena *a)
{
    const struct place *pl = r->scene.place;
    struct holdings *h = arena_array(a, (size_t)n + 1, sizeof *h);
    uint32_t *seen = arena_array(a, (size_t)n + 1, sizeof *seen);
    for (uint32_t x = 0; x < pl->nweight; x++) {
        const struct value *v = &r->scene.m->value[pl->weight[x]];
        bool state = (v->flags & VALUE_INPUT) && !(v->flags & VALUE_INIT);
        for_row (user, pl->weight_user, x) {
            uint32_t k = of[user];
            if (!k || seen[k] == x + 1) /* the box has counted this weight */
                continue;
            seen[k] = x + 1;
            int64_t *bytes = state ? &h[k - 1].state : &h[k - 1].weights;
            *bytes = sat_add(*bytes, pl->weight_bytes[x]);
        }
    }
    return h;
}

struct blocks blocks_build(const struct result *r, const struct frames *f, uint32_t most,
                           struct arena *a)
{
    uint32_t nnode = r->scene.m->nnode, share = most / (f->n ? f->n : 1);
    struct arena *scratch = arena_new(a);
    struct folder w = {.r = r,
                       .f = f,
                       .layers = layers_find(r->scene.m, a),
                       .scopes = strings_new(a),
                       .a = scratch,
                       .out = a};
    struct blocks b = {.of = arena_array(a, nnode, sizeof *b.of), .a = a};
    struct fold *fold = arena_array(scratch, nnode, sizeof *fold);
    uint64_t all = 0;
    w.layer = arena_array(scratch, nnode, sizeof *w.layer);
    w.next = arena_array(scratch, nnode, sizeof *w.next);
    w.inner = arena_alloc(scratch, nnode);
    w.node = arena_array(scratch, nnode, sizeof *w.node);
    memcpy(w.layer, w.layers.of, nnode * sizeof *w.layer);
    fill_layers(&w);
    link_chains(&w);
    /* all: number of boxes if no frame has a limit; if these are few enough, nothing more is joined */
    for (uint32_t i = 0; i < f->n; i++) {
        struct arena_mark mark = arena_mark(scratch);
        struct items t;
        all += fold_frame(&w, i, MANY, &t, fold);
        arena_release(scratch, mark);
    }
    b.block = arena_array(a, (all <= most ? (size_t)most : (size_t)share * f->n) + f->n + 1,
                          sizeof *b.block);
    for (uint32_t i = 0; i < f->n; i++) {
        struct arena_mark mark = arena_mark(scratch);
        struct items t;
        uint32_t n = fold_frame(&w, i, all <= most ? MANY : share ? share : 1, &t, fold);
        for (uint32_t k = 0; k < n; k++)
            add_block(&w, &b, i, &t, &fold[k]);
        arena_release(scratch, mark);
    }
    blocks_join_small(r, f, &b);
    const struct holdings *h = holdings_of(r, b.of, b.n, scratch);
    for (uint32_t i = 0; i < b.n; i++) {
        struct block *k = &b.block[i];
        k->pale = true;
        for (uint32_t x = 0; x < k->nodes; x++)
            k->pale = k->pale && block_node_is_pale(r->scene.m, k->node[x]);
        k->holds = h[i];
        block_describe(r, f, &w.layers, k, a);
    }
    arena_free(scratch);
    return b;
}
