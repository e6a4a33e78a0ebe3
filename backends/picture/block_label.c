/* Writes the text of a box: a title (common scope of the paths, contents of a layer, or slowest operator; how often the
 * box repeats), the most frequent operators, then its time, its share of the device's time, its weights and state.
 * O(nodes * lines of the text). */
#include "backends/picture/blocks.h"
#include "backends/label.h"
#include "ir/model/dim.h"

#include <stdlib.h>
#include <string.h>

enum {
    KINDS = 64,      /* the most operator types that are counted */
    KINDS_SHOWN = 3, /* the most operator types that the text lists */
    INSIDE = 4,      /* the most components of a layer that the text lists */
    TITLE = 40,      /* the most characters of a name in a label */
    TIP = 120,       /* the most characters of a name in a tooltip */
    RANK = 8,        /* dimensions of a shape in the text; shapes with more are left out */
    WORTH = 1024     /* fewer bytes of weights or state are left out */
};

/* A word, s[0 .. len), and how often it occurs. */
struct kind {
    const char *s;
    size_t len;
    uint32_t n;
};

/* Compares kinds, the most frequent first, then by the alphabet; for qsort. */
static int by_number(const void *a, const void *b)
{
    const struct kind *x = a, *y = b;
    if (x->n != y->n)
        return x->n < y->n ? 1 : -1;
    size_t least = smaller_u64(x->len, y->len);
    int c = memcmp(x->s, y->s, least);
    return c ? c : (x->len > y->len) - (x->len < y->len);
}

/* Adds 1 to the count of the word s[0 .. len) in k[n], which has room for `most` words.  Returns false if the word is
 * new and there is no room for it. */
static bool count_kind(struct kind *k, uint32_t *n, uint32_t most, const char *s, size_t len)
{
    uint32_t i = 0;
    while (i < *n && (k[i].len != len || memcmp(k[i].s, s, len)))
        i++;
    if (i == most)
        return false;
    if (i == *n)
        k[(*n)++] = (struct kind){s, len, 0};
    k[i].n++;
    return true;
}

/* Returns the KINDS_SHOWN most frequent operators of node[0 .. n), with their counts: "MatMul 24,
 * Add 12, Softmax 12, ...". */
static const char *kinds_text(const struct module *m, const nid *node, uint32_t n, struct arena *a)
{
    struct kind k[KINDS] = {{0}};
    uint32_t nk = 0;
    bool more = false;
    for (uint32_t i = 0; i < n; i++)
        more |= !count_kind(k, &nk, KINDS, node_op(m, node[i]), strlen(node_op(m, node[i])));
    qsort(k, nk, sizeof *k, by_number);
    const char *s = "";
    for (uint32_t i = 0; i < nk && i < KINDS_SHOWN; i++)
        s = arena_fmt(a, "%s%s%s %u", s, i ? ", " : "", label_text(a, k[i].s, k[i].len, TITLE),
                      k[i].n);
    return nk > KINDS_SHOWN || more ? arena_fmt(a, "%s, ...", s) : s;
}

/* Returns the components that follow the layer's scope in the paths of node[0 .. n), each once:
 * "ln_1, attn, ln_2, mlp"; "" if there are none. */
static const char *list_inside(const struct module *m, const struct layers *l, const nid *node,
                               uint32_t n, struct arena *a)
{
    struct kind k[INSIDE];
    uint32_t nk = 0;
    bool more = false;
    for (uint32_t i = 0; i < n; i++) {
        struct scope s = layers_inside(m, l, node[i]);
        if (s.len)
            more |= !count_kind(k, &nk, INSIDE, s.at, s.len);
    }
    const char *text = "";
    for (uint32_t i = 0; i < nk; i++)
        text =
            arena_fmt(a, "%s%s%s", text, i ? ", " : "", label_text(a, k[i].s, k[i].len, TITLE / 2));
    return more ? arena_fmt(a, "%s, ...", text) : text;
}

/* Whether the first n characters of s are a whole scope: s itself, or a scope around it. */
static bool is_border(struct scope s, size_t n)
{
    return n == s.len || s.at[n] == '/';
}

/* Returns the longest scope ("/h.3/attn" of "/h.3/attn/MatMul") that the paths of all nodes in
 * node[0 .. n) begin with. */
static struct scope common_scope(const struct module *m, const nid *node, uint32_t n)
{
    struct scope all = node_scope(m, node[0]);
    for (uint32_t i = 1; all.len && i < n; i++) {
        struct scope s = node_scope(m, node[i]);
        size_t k = 0, most = smaller_u64(all.len, s.len);
        while (k < most && all.at[k] == s.at[k])
            k++;
        while (k && !(is_border(all, k) && is_border(s, k))) /* back to the end of a component */
            k--;
        all.len = k;
    }
    return all;
}

/* Returns the shape of value v: "[1, 4096, 320]"; NULL: v is no tensor, or its rank is unknown, 0 or above RANK. */
static const char *shape_text(const struct module *m, vid v, struct arena *a)
{
    const struct type *t = &m->type[m->value[v].type];
    const char *s = NULL;
    if (!v || t->kind != TYPE_TENSOR || t->rank < 1 || t->rank > RANK)
        return NULL;
    for (uint32_t i = 0; i < (uint32_t)t->rank; i++) {
        const char *d = dim_text(m, m->dim[t->dim + i], a);
        d = label_text(a, d, strlen(d), TITLE / 3);
        s = i ? arena_fmt(a, "%s, %s", s, d) : d;
    }
    return arena_fmt(a, "[%s]", s);
}

/* Returns the operator of the slowest of n nodes and the shape of its first result: "MatMul [1, 4096, 320]".  time:
 * [node] ps. */
static const char *heaviest_text(const struct module *m, const int64_t *time, const nid *node,
                                 uint32_t n, struct arena *a)
{
    nid best = node[0];
    for (uint32_t i = 1; i < n; i++)
        best = time[node[i]] > time[best] ? node[i] : best;
    const char *op = label_text(a, node_op(m, best), strlen(node_op(m, best)), TITLE);
    const char *shape = shape_text(m, node_out(m, best, 0), a);
    return shape ? arena_fmt(a, "%s %s", op, shape) : op;
}

bool block_node_is_pale(const struct module *m, nid x)
{
    bool pale = m->node[x].out.n > 0;
    for (uint32_t i = 0; i < m->node[x].out.n; i++) {
        vid v = node_out(m, x, i);
        const struct type *t = &m->type[m->value[v].type];
        pale = pale && (!v || (t->kind == TYPE_TENSOR && elem_is_integer(t->elem)));
    }
    return pale;
}

/* Returns the path and the operator of node x; the operator alone if the file gives no name. */
static const char *node_title(const struct module *m, nid x, struct arena *a)
{
    const char *op = label_text(a, node_op(m, x), strlen(node_op(m, x)), TITLE);
    const char *path = node_path(m, x, a);
    return m->node[x].flags & NODE_UNNAMED
               ? op
               : arena_fmt(a, "%s\\n%s", label_text(a, path, strlen(path), TITLE), op);
}

/* Returns the first of the nodes in node[0 .. n) that is in a layer with a scope; 0 if the nodes
 * are in several layers with scopes, or if at most half of the nodes are in that layer. */
static nid layer_node(const struct layers *l, const nid *node, uint32_t n)
{
    nid first = 0;
    uint32_t in = 0; /* nodes in the layer of `first` */
    for (uint32_t i = 0; i < n; i++) {
        if (!l->len[node[i]])
            continue;
        if (first && l->of[node[i]] != l->of[first])
            return 0;
        first = first ? first : node[i];
        in++;
    }
    return in > n / 2 ? first : 0;
}

/* Returns the scope of the layer of node x; len 0: none. */
static struct scope layer_scope(const struct module *m, const struct layers *l, nid x)
{
    return (struct scope){node_scope(m, x).at, l->len[x]};
}

/* Returns the title of a box: the common scope or the layer of its nodes, with the components inside a layer; without a
 * scope its slowest operator; of a box of repeats, what repeats.  time: [node] ps on the box's device. */
static const char *title_of(const struct module *m, const struct layers *l, const struct block *b,
                            const int64_t *time, struct arena *a)
{
    uint32_t each = b->nodes / b->repeats; /* nodes of one repetition */
    if (b->small)
        return arena_fmt(a, "%u small nodes", b->nodes);
    if (b->repeats > 1) {
        const char *in = b->layered ? list_inside(m, l, b->node, each, a) : "";
        in = *in ? in : heaviest_text(m, time, b->node, each, a);
        return arena_fmt(a, "%u x {%s}", b->repeats, in);
    }
    if (b->nodes == 1)
        return node_title(m, b->node[0], a);
    struct scope s = common_scope(m, b->node, b->nodes);
    nid x = s.len ? b->node[0]
                  : layer_node(l, b->node, b->nodes); /* a node within the scope or layer */
    if (!x)
        return heaviest_text(m, time, b->node, b->nodes, a);
    if (!s.len)
        s = layer_scope(m, l, x);
    const char *scope = label_text(a, s.at, s.len, TITLE);
    /* the components are listed if the scope is just that of a layer */
    const char *in = l->len[x] == s.len ? list_inside(m, l, b->node, each, a) : "";
    return *in ? arena_fmt(a, "%s: %s", scope, in) : scope;
}

/* Returns the scopes of the first and the last layer of a box of repeated layers, "/h.8 ... /h.13"; NULL: the box has
 * no repeated layers, or their nodes have no scopes. */
static const char *name_scopes(const struct module *m, const struct layers *l,
                               const struct block *b, struct arena *a)
{
    struct scope x = layer_scope(m, l, b->node[0]), y = layer_scope(m, l, b->node[b->nodes - 1]);
    if (!b->layered || !x.len || !y.len)
        return NULL;
    return arena_fmt(a, "%s ... %s", label_text(a, x.at, x.len, TITLE / 2),
                     label_text(a, y.at, y.len, TITLE / 2));
}

void block_describe(const struct result *r, const struct frames *f, const struct layers *l,
                    struct block *b, struct arena *a)
{
    char t[UNIT_TEXT], w[UNIT_TEXT];
    const struct module *m = r->scene.m;
    uint32_t dev = f->dev[b->frame];
    const int64_t *time = m->cost->time[cluster_class(r->scene.cluster, dev)];
    int64_t all = r->verdict->load[dev].compute;
    /* percent of the device's time */
    double share = all > 0 ? 100.0 * (double)b->time / (double)all : 0;
    const char *title = title_of(m, l, b, time, a), *where = name_scopes(m, l, b, a);
    const char *kinds = kinds_text(m, b->node, b->nodes, a);
    const char *first = node_path(m, b->node[0], a), *last = node_path(m, b->node[b->nodes - 1], a);
    const char *nodes = b->nodes > 1 && !b->small ? arena_fmt(a, "%u nodes, ", b->nodes) : "";
    /* shares that would be 0.0 % are left out */
    int decimals = share < 9.95 ? 1 : 0;
    const char *cost = share < 0.05 ? arena_fmt(a, "%s%s", nodes, time_short(t, b->time))
                                    : arena_fmt(a, "%s%s (%.*f %%)", nodes, time_short(t, b->time),
                                                decimals, share);
    if (b->holds.weights >= WORTH)
        cost = arena_fmt(a, "%s, weights %s", cost, bytes_short(w, b->holds.weights));
    if (b->holds.state >= WORTH)
        cost = arena_fmt(a, "%s, state %s", cost, bytes_short(w, b->holds.state));
    first = label_text(a, first, strlen(first), TIP);
    last = label_text(a, last, strlen(last), TIP);
    b->label = b->nodes == 1 ? title
                             : arena_fmt(a, "%s%s%s\\n%s", title, where ? "\\n" : "",
                                         where ? where : "", kinds);
    b->label = arena_fmt(a, "%s\\n%s", b->label, cost);
    b->tip = b->nodes == 1 ? arena_fmt(a, "%s\\n%s", first, cost)
                           : arena_fmt(a, "%s\\n...\\n%s\\n%s", first, last, cost);
}
