/* Computes what is reported of a rewriting beside its value: what becomes of each node, the exchanges of each layer,
 * the weights that are divided, and axes that could not be cut.
 *
 * An axis is reported if its node takes time and has a rule, but no option, the size of the axis is a number, and it
 * can be cut neither into equal pieces nor with a smaller last piece, as may be with heads or with the words of a
 * vocabulary.  The gain of padding is reported as the node's time less the time of a piece of the padded node.  It is
 * an upper limit: whether the nodes around the node could be cut, too, is not looked at. O(nodes + exchanges). */
#include "ir/base/units.h"
#include "ir/model/layers.h"
#include "passes/shard/shard.h"

#include <stdlib.h>
#include <string.h>

/* For qsort(): axes whose padding saves more time come first, then smaller sizes. */
static int by_saving(const void *pa, const void *pb)
{
    const struct sharded_axis *a = pa, *b = pb;
    return a->saves != b->saves ? (a->saves < b->saves) - (a->saves > b->saves)
                                : (a->size > b->size) - (a->size < b->size);
}

/* Adds node n, whose axis of this size cannot be cut, to the entry for that size in axis[]; makes the entry if there is
 * none, and counts it in k->nundivided.  of: maps a size to 1 + its index in axis[]. */
static void add_axis(const struct shard *s, nid n, int64_t size, struct map *of, struct sharding *k,
                     struct sharded_axis *axis)
{
    int64_t time = s->m->cost->time[s->cls][n];
    int64_t padded = (size / s->ways + 1) * s->ways;
    uint32_t at = map_get(of, (uint64_t)size);
    if (at == 0) {
        at = ++k->nundivided;
        map_set(of, s->a, (uint64_t)size, at);
        axis[at - 1] = (struct sharded_axis){.size = size, .padded = padded};
    }
    struct sharded_axis *x = &axis[at - 1];
    if (time > x->most) {
        x->most = time;
        x->node = node_name(s->m, n);
        x->op = node_op(s->m, n);
    }
    x->nodes++;
    /* if the axis is padded, each device computes padded / ways of its positions; the whole node computes `size`
     * positions in `time` */
    x->saves = sat_add(x->saves, time - mul_div_ceil(time, padded / s->ways, size));
}

/* Whether an axis of this size, a number, can be cut neither into equal pieces nor with a smaller last piece, so that
 * padding would help. */
static bool is_undivided(const struct shard *s, struct dim size)
{
    return size.value > 1 && size.value % s->ways != 0 &&
           !shard_cuts_unevenly(s->ways, size, (size.value - 1) / s->ways + 1);
}

/* Fills k->undivided with the axes whose padding saves most time, at most SHARDED_AXES.  A node without options counts
 * with the largest of its axes that cannot be cut; nodes whose axes have the same size share an entry. */
static void find_undivided(const struct shard *s, struct sharding *k)
{
    const struct graph *g = &s->m->graph[1];
    struct sharded_axis *axis = arena_array(s->a, (size_t)g->count + 1, sizeof *axis);
    struct map of = {0};
    for (nid n = g->first; n < g->first + g->count; n++) {
        struct shape shape;
        int64_t largest = 0;
        if (s->kind[n] != SHARD_NODE || s->first_opt[n] != 0 || shard_row_of(s->m, n) == NULL ||
            shard_whole_time(s, n) <= 0 || !shape_of(s->f, node_out(s->m, n, 0), &shape))
            continue;
        for (int i = 0; i < shape.rank; i++)
            if (shape.d[i].sym == 0 && shape.d[i].value > largest && is_undivided(s, shape.d[i]))
                largest = shape.d[i].value;
        if (largest > 0)
            add_axis(s, n, largest, &of, k, axis);
    }
    qsort(axis, k->nundivided, sizeof *axis, by_saving);
    k->nundivided = k->nundivided < SHARDED_AXES ? k->nundivided : SHARDED_AXES;
    memcpy(k->undivided, axis, k->nundivided * sizeof *axis);
}

/* Returns a list of the operands and then the results of node n, with the states in which the devices have them.  p:
 * the option chosen for n; NULL: all are whole. */
static struct sharded_value *values_of(const struct shard *s, nid n, const struct shard_option *p)
{
    const uint32_t count = shard_nvalue(s->m, n);
    struct sharded_value *list = arena_array(s->x->use.mem, (size_t)count + 1, sizeof *list);
    for (uint32_t i = 0; i < count; i++) {
        vid v = shard_value_at(s->m, n, i);
        struct shard_state st = p == NULL ? (struct shard_state){0} : p->in[i];
        bool named = v != 0 && s->m->value[v].name != 0;
        list[i] = (struct sharded_value){.name = named ? value_name(s->m, v) : NULL,
                                         .axis = st.axis,
                                         .size = -1,
                                         .run = st.run,
                                         .blocks = 1};
        struct shape shape;
        if (!shard_is_cut(st))
            continue;
        list[i].blocks = shard_blocks(s, v, st);
        if (list[i].blocks > 0 && shape_of(s->f, v, &shape))
            list[i].size = shape.d[st.axis].value;
    }
    return list;
}

/* Fills k->node with what the rewriting makes of each node of the model: its device, layer, and whether it is cut,
 * whole, copied or on one device.  layer: [node] number of the node's layer. */
static void list_nodes(const struct shard *s, const struct shard_choice *c, const uint32_t *layer,
                       struct sharding *k)
{
    const struct graph *g = &s->m->graph[1];
    struct sharded_node *list = arena_array(s->x->use.mem, (size_t)g->count + 1, sizeof *list);
    for (uint32_t i = 0; i < g->count; i++) {
        nid n = g->first + i;
        const struct shard_option *p = c->option[n] != 0 ? &s->opt[c->option[n]] : NULL;
        list[i] = (struct sharded_node){.name = node_name(s->m, n),
                                        .op = node_op(s->m, n),
                                        .src = s->m->node[n].src,
                                        .dev = s->dev[s->home[n]],
                                        .layer = layer[n],
                                        .nin = s->m->node[n].nformal,
                                        .nout = s->m->node[n].out.n,
                                        .value = values_of(s, n, p)};
        list[i].how = s->kind[n] == SHARD_ONCE   ? SHARDED_ONCE
                      : s->kind[n] != SHARD_NODE ? SHARDED_COPIED
                      : p != NULL                ? SHARDED_CUT
                                                 : SHARDED_WHOLE;
    }
    k->node = list;
    k->source_nodes = g->count;
    k->source = s->m->rewritten ? NULL : s->m->src;
}

struct shard_figures shard_figures_begin(const struct shard *s, const struct shard_choice *c,
                                         struct sharding *k)
{
    const struct layers l = layers_find(s->m, s->a);
    list_nodes(s, c, l.of, k);
    find_undivided(s, k);
    return (struct shard_figures){l.of, l.n};
}

/* For qsort(): orders layers by their exchanges, most bytes first, then the largest numbers; 0: two layers have the
 * same exchanges. */
static int by_exchanges(const void *pa, const void *pb)
{
    const struct sharded_layers *a = pa, *b = pb;
    if (a->bytes != b->bytes)
        return (a->bytes < b->bytes) - (a->bytes > b->bytes);
    if (a->added_bytes != b->added_bytes)
        return (a->added_bytes < b->added_bytes) - (a->added_bytes > b->added_bytes);
    if (a->turned_bytes != b->turned_bytes)
        return (a->turned_bytes < b->turned_bytes) - (a->turned_bytes > b->turned_bytes);
    if (a->turned != b->turned)
        return (a->turned < b->turned) - (a->turned > b->turned);
    if (a->added != b->added)
        return (a->added < b->added) - (a->added > b->added);
    if (a->joined != b->joined)
        return (a->joined < b->joined) - (a->joined > b->joined);
    return (a->cut < b->cut) - (a->cut > b->cut);
}

/* For qsort(): entries for more layers come first; equal ones in the order of by_exchanges(). */
static int by_number(const void *pa, const void *pb)
{
    const struct sharded_layers *a = pa, *b = pb;
    return a->layers != b->layers ? (a->layers < b->layers) - (a->layers > b->layers)
                                  : by_exchanges(pa, pb);
}

void shard_figures_end(const struct shard *s, const struct shard_figures *f,
                       const struct shard_written *w, struct sharding *k)
{
    /* each: the exchanges of each layer; group: an entry for all layers with the same exchanges */
    struct sharded_layers *each = arena_array(s->a, (size_t)f->nlayer + 1, sizeof *each);
    struct sharded_layers *group = arena_array(s->x->use.mem, (size_t)f->nlayer + 1, sizeof *group);
    for (uint32_t i = 0; i < w->nexchange; i++) {
        const struct shard_exchanged *e = &w->exchange[i];
        struct sharded_layers *to = &each[f->layer[e->at]];
        to->joined += e->how == SHARD_JOINED;
        to->cut += e->how == SHARD_CUT;
        to->added += e->how == SHARD_ADDED;
        to->turned += e->how == SHARD_TURNED;
        to->bytes = sat_add(to->bytes, e->how == SHARD_JOINED ? e->bytes : 0);
        to->added_bytes = sat_add(to->added_bytes, e->how == SHARD_ADDED ? e->bytes : 0);
        to->turned_bytes = sat_add(to->turned_bytes, e->how == SHARD_TURNED ? e->bytes : 0);
    }
    k->layers = group;
    group[k->nlayers++] = each[0]; /* layer 0 has the exchanges of nodes in no layer */
    qsort(each + 1, f->nlayer, sizeof *each, by_exchanges); /* equal ones stand together */
    for (uint32_t i = 1; i <= f->nlayer; i++) {
        if (i == 1 || by_exchanges(&each[i - 1], &each[i]) != 0)
            group[k->nlayers++] = each[i];
        group[k->nlayers - 1].layers++;
    }
    qsort(group + 1, k->nlayers - 1, sizeof *group, by_number);
    k->weight = w->weight;
    k->nweight = w->nweight;
}
