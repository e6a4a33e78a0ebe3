/* Blocks: what a picture of a part shows as one box (see blocks.h). */
#include "backends/blocks.h"
#include "backends/cut.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_DEPTH = 6, MAX_KINDS = 3 };

/* Length of the first `depth` components of a name such as "/h.3/attn/MatMul"; the last component, which
 * names the node itself, never counts. */
static size_t scope_length(const char *name, int depth)
{
    const char *at = name, *end = name;
    for (int i = 0; i <= depth; i++) {
        const char *slash = strchr(at + (*at == '/'), '/');
        if (i == depth || !slash)
            break;
        end = at = slash;
    }
    return (size_t)(end - name);
}

static bool same_scope(const char *x, const char *y, int depth)
{
    size_t n = scope_length(x, depth);
    return n == scope_length(y, depth) && memcmp(x, y, n) == 0;
}

static uint32_t count_runs(const struct module *m, const nid *node, uint32_t n, int depth)
{
    uint32_t runs = n > 0;
    for (uint32_t i = 1; i < n; i++)
        runs += !same_scope(node_name(m, node[i - 1]), node_name(m, node[i]), depth);
    return runs;
}

/* The deepest scope that gives at most `most` runs, and more than one; 0: names do not help. */
static int choose_depth(const struct module *m, const nid *node, uint32_t n, uint32_t most)
{
    int best = 0;
    for (int depth = 1; depth <= MAX_DEPTH; depth++) {
        uint32_t runs = count_runs(m, node, n, depth);
        if (runs <= most && runs > 1 && runs >= count_runs(m, node, n, best))
            best = depth;
    }
    return best;
}

struct kind {
    const char *op;
    uint32_t n;
};

static int by_number(const void *a, const void *b)
{
    const struct kind *x = a, *y = b;
    if (x->n != y->n)
        return x->n < y->n ? 1 : -1;
    return strcmp(x->op, y->op);
}

static const char *kinds_text(const struct module *m, const nid *node, uint32_t n, struct arena *a)
{
    struct kind k[64];
    uint32_t nk = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t j = 0;
        while (j < nk && strcmp(k[j].op, node_op(m, node[i])))
            j++;
        if (j == nk && nk == sizeof k / sizeof *k)
            continue;
        if (j == nk)
            k[nk++] = (struct kind){node_op(m, node[i]), 0};
        k[j].n++;
    }
    qsort(k, nk, sizeof *k, by_number);
    char *s = arena_fmt(a, "%s", "");
    for (uint32_t i = 0; i < nk && i < MAX_KINDS; i++)
        s = arena_fmt(a, "%s%s%s %u", s, i ? ", " : "", k[i].op, k[i].n);
    return nk > MAX_KINDS ? arena_fmt(a, "%s, ...", s) : s;
}

static void add_block(const struct result *r, struct blocks *b, uint32_t part, const nid *node,
                      uint32_t n, int depth, struct arena *a)
{
    const char *name = node_name(r->m, node[0]);
    size_t len = depth ? scope_length(name, depth) : 0;
    uint32_t cls = cluster_class(r->cluster, r->cut->part[part].dev);
    struct block *k = &b->block[b->n++];
    k->label = len ? arena_fmt(a, "%.*s", (int)len, name)
               : n > 1
                   ? arena_fmt(a, "%s ... %s", node_op(r->m, node[0]), node_op(r->m, node[n - 1]))
                   : name;
    k->kinds = kinds_text(r->m, node, n, a);
    k->part = part;
    k->nodes = n;
    for (uint32_t i = 0; i < n; i++) {
        k->time = sat_add(k->time, r->m->cost->time[cls][node[i]]);
        b->of[node[i]] = b->n;
    }
}

struct blocks blocks_build(const struct result *r, uint32_t most, struct arena *a)
{
    struct blocks b = {NULL, 0, arena_array(a, r->m->nnode, sizeof *b.of)};
    b.block = arena_array(a, (size_t)most * r->cut->nparts + 1, sizeof *b.block);
    for (uint32_t p = 0; p < r->cut->nparts; p++) {
        const struct part *part = &r->cut->part[p];
        int depth = choose_depth(r->m, part->node, part->nnode, most);
        uint32_t chunk = part->nnode / most + 1, start = 0;
        for (uint32_t i = 1; i <= part->nnode; i++) {
            bool ends =
                i == part->nnode || (depth ? !same_scope(node_name(r->m, part->node[i - 1]),
                                                         node_name(r->m, part->node[i]), depth)
                                           : i - start >= chunk);
            if (!ends)
                continue;
            add_block(r, &b, p, part->node + start, i - start, depth, a);
            start = i;
        }
    }
    return b;
}
