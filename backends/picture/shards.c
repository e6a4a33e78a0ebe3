/* Draws the model before the pass shard: a box for each node, coloured by the axis along which devices cut its first
 * result; an arrow for each operand, with the state in which it is read (shards.h).
 *
 * Layers with the same operators in the same states, in the same order, are drawn once: the boxes of the first of these
 * layers stand for the nodes of all.  Nodes that each part copies, such as constants, are left out.  Expected O(nodes +
 * operands). */
#include "backends/picture/shards.h"

#include "backends/label.h"
#include "backends/palette.h"
#include "ir/base/csr.h"
#include "ir/base/map.h"
#include "ir/base/memory.h"
#include "ir/base/name_table.h"
#include "ir/base/outfile.h"

#include <string.h>

enum { NO_BOX = UINT32_MAX };

/* The picture while it is written. */
struct drawing {
    const struct sharding *k;
    const struct result *r;
    FILE *f;
    struct arena *a;
    struct csr members; /* layer -> its nodes that are drawn; row 0: nodes without a layer */
    uint32_t *first;    /* [layer] the first layer with the same signature() */
    uint32_t *number;   /* [layer] a first layer: number of layers with its signature; else 0 */
    uint32_t *box;      /* [node] the node whose box stands for this node; NO_BOX: no box */
    uint32_t nlayer;    /* number of the last layer */
};

/* Writes text between two quotes of DOT, which the caller writes: quotes and backslashes in it are escaped. */
static void put_inside(struct drawing *d, const char *text)
{
    size_t n = strlen(text);
    for (const char *s = label_text(d->a, text, n, n); *s; s++) {
        if (*s == '"')
            putc('\\', d->f);
        putc(*s, d->f);
    }
}

/* Writes text in quotes. */
static void put_text(struct drawing *d, const char *text)
{
    putc('"', d->f);
    put_inside(d, text);
    putc('"', d->f);
}

/* Returns the state of a value in words: "S(2,512)", cut along axis 2 in runs of 512; "terms", to be added up; "" if
 * the value is whole. */
static const char *state(const struct drawing *d, const struct sharded_value *v)
{
    if (v->run < 0)
        return "terms";
    return v->run != 0 ? arena_fmt(d->a, "S(%u,%lld)", v->axis, (long long)v->run) : "";
}

/* Returns a text with the operators of a layer's nodes, how devices share them, and the states of their operands and
 * results: layers with equal texts are drawn once.  NULL: out of memory. */
static const char *signature(const struct drawing *d, uint32_t layer)
{
    struct memory m;
    memory_begin(&m, d->a);
    for_row (i, d->members, layer) {
        const struct sharded_node *n = &d->k->node[i];
        if (m.f == NULL) /* memory_begin() failed */
            break;
        fprintf(m.f, "%s %d %u", n->op, (int)n->how, n->how == SHARDED_ONCE ? n->dev : 0);
        for (uint32_t v = 0; v < n->nin + n->nout; v++)
            fprintf(m.f, " %u,%lld", n->value[v].axis, (long long)n->value[v].run);
        putc('\n', m.f);
    }
    return memory_close(&m, d->a);
}

/* Sets d->first, number and box: layers with equal signatures are drawn once.  Nodes without a layer (layer 0) all have
 * boxes of their own. */
static void fold(struct drawing *d)
{
    struct names seen = names_new(d->a, d->nlayer);
    d->first = arena_array(d->a, (size_t)d->nlayer + 1, sizeof *d->first);
    d->number = arena_array(d->a, (size_t)d->nlayer + 1, sizeof *d->number);
    d->box = arena_array(d->a, (size_t)d->k->source_nodes + 1, sizeof *d->box);
    for (uint32_t i = 0; i < d->k->source_nodes; i++)
        d->box[i] = NO_BOX;
    for (uint32_t l = 0; l <= d->nlayer; l++) {
        const char *text = l > 0 ? signature(d, l) : NULL;
        d->first[l] = text ? names_get(&seen, text, l) : l;
        if (text && d->first[l] == l)
            names_add(&seen, text, l);
        d->number[d->first[l]]++;
        /* the k-th node of a layer has the box of the k-th node of the first such layer */
        for (uint32_t i = d->members.at[l]; i < d->members.at[l + 1]; i++)
            d->box[d->members.to[i]] =
                d->members.to[d->members.at[d->first[l]] + (i - d->members.at[l])];
    }
}

/* Writes the box of node i: its operator, and how devices share it; in the colour of the axis that is cut. */
static void put_box(struct drawing *d, uint32_t i)
{
    const struct sharded_node *n = &d->k->node[i];
    const struct sharded_value *made = n->nout > 0 ? &n->value[n->nin] : NULL;
    const char *fill =
        n->how == SHARDED_CUT && made && made->run > 0 ? palette_fill(made->axis) : "#f2f2f2";
    const char *words =
        n->how == SHARDED_ONCE
            ? arena_fmt(d->a, "on %s alone", cluster_device_name(d->r->scene.cluster, d->a, n->dev))
        : n->how == SHARDED_CUT && made && made->run ? state(d, made)
                                                     : "whole";
    fprintf(d->f, "    n%u [fillcolor=\"%s\"%s label=\"", i, fill,
            n->how == SHARDED_ONCE ? " style=\"filled,dashed\"" : "");
    put_inside(d, n->op);
    fputs("\\n", d->f); /* a new line, in DOT's words */
    put_inside(d, words);
    fputs("\" tooltip=", d->f);
    put_text(d, n->name);
    fputs("]\n", d->f);
}

/* Writes the boxes.  The boxes of a layer stand in a frame that says how many layers are like it. */
static void put_boxes(struct drawing *d)
{
    for (uint32_t l = 0; l <= d->nlayer; l++) {
        if (d->first[l] != l)
            continue;
        if (l > 0) {
            fprintf(d->f, "  subgraph cluster%u {\n    color=\"#999999\" label=", l);
            put_text(d, d->number[l] > 1 ? arena_fmt(d->a, "%u layers like this", d->number[l])
                                         : "1 layer");
            putc('\n', d->f);
        }
        for_row (i, d->members, l)
            put_box(d, i);
        fputs(l > 0 ? "  }\n" : "", d->f);
    }
}

/* Writes an arrow for each pair of boxes where the second reads a result of the first, with the state of the first
 * such operand. */
static void put_arrows(struct drawing *d)
{
    struct names maker =
        names_new(d->a, d->k->source_nodes); /* from a value's name to its node's number */
    struct map seen = {0};                   /* (box + 1, box + 1) -> 1 */
    for (uint32_t i = 0; i < d->k->source_nodes; i++)
        for (uint32_t v = 0; v < d->k->node[i].nout; v++)
            if (d->k->node[i].value[d->k->node[i].nin + v].name)
                names_add(&maker, d->k->node[i].value[d->k->node[i].nin + v].name, i);
    for (uint32_t i = 0; i < d->k->source_nodes; i++)
        for (uint32_t v = 0; v < d->k->node[i].nin && d->box[i] != NO_BOX; v++) {
            const struct sharded_value *x = &d->k->node[i].value[v];
            uint32_t from = x->name ? names_get(&maker, x->name, NO_BOX) : NO_BOX;
            from = from != NO_BOX ? d->box[from] : NO_BOX;
            if (from == NO_BOX || map_get(&seen, map_key(from + 1, d->box[i] + 1)))
                continue;
            map_set(&seen, d->a, map_key(from + 1, d->box[i] + 1), 1);
            fprintf(d->f, "  n%u -> n%u [label=\"%s\"]\n", from, d->box[i], state(d, x));
        }
}

int shards_check(const struct result *r, const char *path)
{
    if (r->sharding)
        return 0;
    return diag_error(r->diag,
                      "%s: --view=shards shows how devices share nodes: expected the "
                      "pass shard in -p, and that it cuts some",
                      path);
}

int shards_write(const struct result *r, const char *path)
{
    const struct sharding *k = r->sharding;
    struct outfile o;
    if (shards_check(r, path))
        return -1;
    if (outfile_open_to(&o, path, r->out, r->scene.m->mem, r->diag))
        return -1;
    struct drawing d = {.k = k, .r = r, .f = o.f, .a = arena_new(r->scene.m->mem)};
    /* (layer, node of the layer), without nodes that parts copy */
    struct pairs in = pairs_new(d.a, 64);
    for (uint32_t i = 0; i < k->source_nodes; i++)
        d.nlayer = larger_u32(d.nlayer, k->node[i].layer);
    for (uint32_t i = 0; i < k->source_nodes; i++)
        if (k->node[i].how != SHARDED_COPIED)
            pairs_add(&in, k->node[i].layer, i);
    d.members = pairs_rows(&in, d.nlayer + 1);
    fold(&d);
    fputs("digraph shards {\n  node [shape=box style=filled fontname=\"Helvetica\"]\n"
          "  edge [fontname=\"Helvetica\" fontsize=9]\n  label=",
          d.f);
    put_text(&d, arena_fmt(d.a,
                           "%u devices share nodes: S(axis, run) is cut, one colour for each axis; "
                           "grey is whole on each device",
                           k->ways));
    putc('\n', d.f);
    put_boxes(&d);
    put_arrows(&d);
    fputs("}\n", d.f);
    arena_free(d.a);
    return outfile_close(&o, true);
}
