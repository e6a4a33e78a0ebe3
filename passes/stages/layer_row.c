/* Sorts the layers of a training graph into a row (layer_row.h).
 *
 * A row is cut into stages, and a value whose maker and reader stand on two sides of a cut is sent once for each
 * micro-batch.  Of the components that may be next, the one with the smallest key comes first.  A key is at first the
 * smallest layer of the component, so that the row follows the file.  Two kinds of components get other keys:
 *  - Components of backward nodes alone follow at once what they must not precede.  A file lists backward nodes behind
 *    all forward nodes: so all that needs no gradient (the mask of a Relu, a normalised value that is made again) would
 *    stand behind the last layer, and what it reads and makes would go through all stages.
 *  - Components that make more bytes of forward values than they read, such as labels in one-hot form, stand right
 *    before their first reader.
 *
 * Switched off, iterations of a decoder of 24 layers on 8 devices take 1.5 times as long. */
#include "passes/stages/layer_row.h"

#include "ir/base/units.h"

#include <assert.h>
#include <string.h>

/* Returns the component of node n. */
static uint32_t component(const struct layer_row *r, nid n)
{
    return r->comp[train_layer(r->t, n)];
}

/* Returns an array, in a: [component] its smallest layer. */
static uint32_t *smallest_layers(const struct layer_row *r, struct arena *a)
{
    uint32_t *smallest = arena_array(a, (size_t)r->n + 1, sizeof *smallest);
    memset(smallest, 0xff, r->n * sizeof *smallest);
    for (uint32_t v = 0; v < r->t->x->levels.base->n; v++) {
        uint32_t layer = r->t->layer[v], c = r->comp[layer];
        smallest[c] = smaller_u32(smallest[c], layer);
    }
    return smallest;
}

/* Gives each component of backward nodes alone the largest key of the components that it must not precede.  order: the
 * components in a topological order. */
static void draw_backward_early(const struct layer_row *r, const uint32_t *order, uint32_t *key,
                                struct arena *a)
{
    const struct wdag *base = r->t->x->levels.base;
    uint8_t *forward = arena_alloc(a, (size_t)r->n + 1); /* [component] 1: it has forward nodes */
    uint8_t *drawn = arena_alloc(a, (size_t)r->n + 1);   /* [component] 1: its key is another's */
    for (uint32_t v = 0; v < base->n; v++)
        if (!r->t->x->scene.m->backward[base->node[v]])
            forward[component(r, base->node[v])] = 1;
    for (uint32_t i = 0; i < r->n; i++)
        for_row (c, *r->succ, order[i]) {
            if (forward[c])
                continue;
            uint32_t before = key[order[i]];
            key[c] = drawn[c] ? larger_u32(key[c], before) : before;
            drawn[c] = 1;
        }
}

/* Bytes that components make and read. */
struct traffic {
    /* [component] bytes of forward values that it makes for other components */
    int64_t *made;
    /* [component] bytes that it reads: of weights, of inputs of the graph, and of other components' forward values */
    int64_t *read;
    /* now: number of the present weight or value; seen: [component] `now` when a reader in the component was last
     * counted */
    uint32_t now, *seen;
};

/* Counts a weight or value of `bytes` bytes.  Its readers are the nodes in row number `row` of `readers`; maker: the
 * component that makes it; r->n: none does. */
static void count_value(const struct layer_row *r, struct traffic *m, const struct csr *readers,
                        uint32_t row, uint32_t maker, int64_t bytes)
{
    bool leaves = false;
    m->now++;
    for_row (y, *readers, row) {
        uint32_t c = component(r, y);
        if (c == maker || m->seen[c] == m->now)
            continue;
        m->seen[c] = m->now;
        m->read[c] = sat_add(m->read[c], bytes);
        leaves = true;
    }
    if (leaves && maker < r->n)
        m->made[maker] = sat_add(m->made[maker], bytes);
}

/* Returns the bytes that components make and read, in a. */
static struct traffic count_traffic(const struct layer_row *r, struct arena *a)
{
    const struct scene *s = &r->t->x->scene;
    struct traffic m = {.made = arena_array(a, (size_t)r->n + 1, sizeof *m.made),
                        .read = arena_array(a, (size_t)r->n + 1, sizeof *m.read),
                        .seen = arena_array(a, (size_t)r->n + 1, sizeof *m.seen)};
    for (uint32_t w = 0; w < s->place->nweight; w++)
        count_value(r, &m, &s->place->weight_user, w, r->n, s->place->weight_bytes[w]);
    for (uint32_t e = 0; e < s->place->nnet; e++) {
        vid v = s->place->net_value[e];
        nid def = s->m->value[v].def;
        if (s->m->backward[def])
            continue; /* it goes to earlier stages */
        bool is_made = def && s->place->kind[def] == PLACE_NODE;
        count_value(r, &m, &s->place->net_pin, e, is_made ? component(r, def) : r->n,
                    s->m->cost->bytes[v]);
    }
    return m;
}

/* Changes the keys of components that make more bytes than they read: each gets the smallest key of the components that
 * must not precede it, if that is larger than its own.  order: the components in a topological order. */
static void draw_growing_late(const struct layer_row *r, const uint32_t *order, uint32_t *key,
                              struct arena *a)
{
    struct traffic m = count_traffic(r, a);
    for (uint32_t i = r->n; i-- > 0;) {
        uint32_t c = order[i], first = UINT32_MAX;
        for_row (next, *r->succ, c)
            first = smaller_u32(first, key[next]);
        if (m.made[c] > m.read[c] && first != UINT32_MAX)
            key[c] = larger_u32(key[c], first);
    }
}

void layer_row_sort(const struct layer_row *r, uint32_t *order, struct arena *a)
{
    uint32_t *key = smallest_layers(r, a);
    uint32_t sorted = csr_topo(r->succ, r->n, NULL, order, a);
    assert(sorted == r->n);
    (void)sorted; /* read by the assertion alone */
    draw_backward_early(r, order, key, a);
    draw_growing_late(r, order, key, a);
    csr_topo(r->succ, r->n, key, order, a);
}
