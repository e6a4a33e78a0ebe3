/* shard: computes single operators on several equal devices together, each a piece, so that one sample takes less
 * time.
 *
 * No placement makes a model faster than its longest path; cut matrices do.  The module is rewritten: node n becomes
 * n@0, n@1, ..., one on each device, and what crosses between them is joined and cut by Concat and Slice nodes.  The
 * parts are plain ONNX.  Nothing is added up over devices, so each element is computed by one operator from the same
 * operands as in the model.  shard.h has the words, search.c the choice, write.c the rewriting.  The plan that follows
 * from the devices of the nodes is taken by plan{from=self}.  O(nodes * options) and the search. */
#include "passes/shard/shard.h"

#include "ir/base/units.h"

#include <string.h>

struct shard_options {
    int64_t ways, draw;
};

static const struct opt shard_opts[] = {
    {.kind = OPT_INT,
     .name = "ways",
     .off = offsetof(struct shard_options, ways),
     .def = "2",
     .lo = "2",
     .hi = "64",
     .help = "devices that share each node"},
    {.kind = OPT_INT,
     .name = "draw",
     .off = offsetof(struct shard_options, draw),
     .def = "0",
     .lo = "0",
     .help = "for tests: not the best choice but one drawn at random, by this seed; 0: the best"},
    {0}};

/* Finds `ways` equal devices of one group for the nodes.  Returns 0, or -1 and reports an error. */
static int find_devices(struct shard *s)
{
    const struct cluster *c = s->x->scene.cluster;
    uint32_t *dev = arena_array(s->a, s->ways, sizeof *dev), first = 0, most = 0;
    for (uint32_t k = 0; k < c->ncls; first += c->cls[k++].count) {
        const struct device_class *d = &c->cls[k];
        uint32_t count = d->group > 1 && d->group < d->count ? d->group : d->count;
        if (d->host)
            continue;
        most = larger_u32(most, count);
        if (count < s->ways)
            continue;
        for (uint32_t i = 0; i < s->ways; i++)
            dev[i] = first + i;
        s->cls = k;
        s->dev = dev;
        return 0;
    }
    return diag_error(s->x->use.diag,
                      "shard{ways=%u}: the cluster has at most %u equal accelerators %s: expected "
                      "as many as ways",
                      s->ways, most, cluster_grouped(c) ? "in one group" : "side by side");
}

/* Whether all operands of n are weights, inputs, or results of nodes that each part has its own copy of. */
static bool reads_shared(const struct shard *s, nid n)
{
    const struct module *m = s->m;
    for (uint32_t i = 0; i < m->node[n].in.n; i++) {
        nid def = m->value[node_in(m, n, i)].def;
        if (def != 0 && s->kind[def] != SHARD_SHARED)
            return false;
    }
    return true;
}

/* Whether n reads a value of a kind that cannot be sent, and its maker stays on the first device. */
static bool reads_unsendable(const struct shard *s, nid n)
{
    const struct module *m = s->m;
    for (uint32_t i = 0; i < m->node[n].in.n; i++) {
        vid v = node_in(m, n, i);
        nid def = m->value[v].def;
        if (def != 0 && s->kind[def] == SHARD_ONCE && !type_is_declarable(m, m->value[v].type))
            return true;
    }
    return false;
}

/* Sets shard.kind of all nodes. */
static void find_kinds(struct shard *s)
{
    const struct graph *g = &s->m->graph[1];
    for (nid n = g->first; n < g->first + g->count; n++) {
        uint8_t kind = s->place->kind[n];
        if (kind == PLACE_NONE)
            s->kind[n] = SHARD_DEAD;
        else if (kind == PLACE_COPY && reads_shared(s, n))
            s->kind[n] = SHARD_SHARED;
        else if (!place_is_pure(s->m, n) || reads_unsendable(s, n))
            s->kind[n] = SHARD_ONCE;
        else
            s->kind[n] = SHARD_NODE;
    }
}

/* Reports what cannot be sharded.  Returns 0, or -1. */
static int check(struct shard *s)
{
    const struct module *m = s->m;
    if (module_is_profiled(m))
        return diag_error(s->x->use.diag,
                          "shard: %s is a profile: expected a model, whose operators say "
                          "how they can be cut",
                          module_str(m, m->path));
    if (m->color != NULL)
        return diag_error(s->x->use.diag,
                          "shard: nodes of one colour must share a device: expected a model "
                          "without colours");
    if (m->slot_ann != NULL)
        return diag_error(s->x->use.diag,
                          "shard: nodes have slots: expected a model without slots");
    if (m->backward != NULL)
        return diag_error(s->x->use.diag,
                          "shard: this is a training graph: expected a model for inference");
    if (s->f->opset < 7)
        return diag_error(s->x->use.diag, "shard: the model is of opset %lld: expected 7 or later",
                          (long long)s->f->opset);
    if ((int64_t)m->nnode * s->ways > INT32_MAX / 4)
        return diag_error(s->x->use.diag,
                          "shard: %u copies of %u nodes are more than pcc can number", s->ways,
                          m->nnode - 1);
    return 0;
}

/* Makes s, all but the options.  Returns 0, or -1 and reports an error. */
static int begin(struct shard *s, struct ctx *x, uint32_t ways)
{
    const struct settings *set = ctx_settings(x);
    struct module *m = x->scene.m;
    *s = (struct shard){.x = x, .m = m, .a = x->use.scratch, .ways = ways, .nopt = 1, .nitem = 1};
    s->f = infer_values(m, s->a);
    if (check(s) != 0 || find_devices(s) != 0)
        return -1;
    s->place = place_build(m, set->pairs, set->npairs, s->a, x->use.diag);
    if (s->place == NULL)
        return -1;
    s->price = pricing_begin(x);
    s->kind = arena_alloc(s->a, m->nnode);
    s->first_opt = arena_array(s->a, m->nnode, sizeof *s->first_opt);
    s->first_item = arena_array(s->a, m->nval, sizeof *s->first_item);
    s->opt = vec_grow(s->a, NULL, &s->capopt, 1, sizeof *s->opt);
    s->item = vec_grow(s->a, NULL, &s->capitem, 1, sizeof *s->item);
    find_kinds(s);
    return 0;
}

/* pass.run: rewrites the model for several devices.  Returns 0, or -1 after an error. */
static int run_shard(struct ctx *x, const void *options)
{
    const struct shard_options *o = options;
    struct shard s;
    char text[2][UNIT_TEXT];
    if (begin(&s, x, (uint32_t)o->ways) != 0)
        return -1;
    shard_find_options(&s);
    shard_price(&s);
    shard_drop_impossible(&s);
    if (o->draw == 0)
        shard_prune(&s);
    struct shard_choice c = o->draw == 0 ? shard_search(&s) : shard_draw(&s, (uint64_t)o->draw);
    struct shard_written w = shard_write(&s, &c);
    diag_note(
        x->use.diag,
        "shard: %u nodes are cut, %u whole, %u on one device; %u tensors joined (%lld bytes), "
        "%u cut; %s in lock step (%s), floor %s",
        w.cut, w.whole, w.once, w.gathers, (long long)w.gathered, w.slices,
        time_short(text[0], c.value), c.exact ? "optimal" : "feasible",
        time_short(text[1], c.floor));
    return 0;
}

const struct pass pass_shard = {
    .name = "shard",
    .help = "tensor parallelism: several devices compute an operator together",
    .opts = shard_opts,
    .optsize = sizeof(struct shard_options),
    .needs = NEED_SHAPES | NEED_COST,
    .rewrites = true,
    .run = run_shard};
