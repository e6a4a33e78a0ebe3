/* recompute: forward nodes of a training graph run once more before the backward nodes that read their results, so
 * that the results need no memory in between ("Training Deep Nets with Sublinear Memory Cost", arXiv 1604.06174).
 *
 * By default each layer (ir/model/layers.h) is made again from what it reads of other nodes: values that go from
 * layer to layer, and results of nodes outside all layers, are kept.  Where names of nodes tell no layers, the
 * forward pass is divided into stretches instead: of n nodes, about sqrt(n) stand in each (section 3 of that
 * paper).  With keep=REGEX, the results of nodes that the expression matches are kept, and all other results that
 * the backward pass reads are made again.  remake.c does the work.
 *
 * A workload has no values that could be kept or not: forward times are added to backward nodes of their colour class
 * (optimal placement, NeurIPS 2020, Appendix D), each time that the pass runs.
 *
 * O(nodes + operands), with keep=REGEX also one match for each node; of workloads O(nodes * classes). */
#include "ir/model/layers.h"
#include "passes/coarsen/backward.h"
#include "passes/functions/patterns.h"
#include "passes/passes.h"
#include "ir/dag/remake.h"

/* The values of the options in recompute_opts. */
struct recompute_options {
    const char *keep; /* the option keep; "": results that go between layers are kept */
};

static const struct opt recompute_opts[] = {
    {.kind = OPT_TEXT,
     .name = "keep",
     .off = offsetof(struct recompute_options, keep),
     .def = "",
     .help =
         "regular expression: nodes whose results are kept, by name or path; all others that the backward pass "
         "reads are made again; by default, what goes from layer to layer is kept"},
    {0}};

/* Sets segment[node] to the number of the node's layer, -1 for nodes in no layer.  Returns false if the names of nodes
 * tell no layers. */
static bool divide_by_layers(struct ctx *x, int32_t *segment)
{
    const struct graph *g = &x->scene.m->graph[1];
    struct layers l = layers_find(x->scene.m, x->use.scratch);
    for (nid n = g->first; n < g->first + g->count; n++)
        segment[n] = l.of[n] != 0 ? (int32_t)l.of[n] : -1;
    return l.n != 0;
}

/* Sets segment[node] of forward nodes to the number of a stretch of the forward pass: of n forward nodes, about
 * sqrt(n) stand in each. */
static void divide_by_root(const struct ctx *x, int32_t *segment)
{
    const struct module *m = x->scene.m;
    const struct graph *g = &m->graph[1];
    /* count: number of forward nodes; width: number of them in a stretch; at: number of them so far */
    uint32_t count = 0, width = 1, at = 0;
    for (nid n = g->first; n < g->first + g->count; n++)
        count += x->scene.place->kind[n] != PLACE_COPY && m->backward[n] == 0;
    while ((uint64_t)width * width < count)
        width++;
    for (nid n = g->first; n < g->first + g->count; n++) {
        segment[n] = (int32_t)(at / width);
        at += x->scene.place->kind[n] != PLACE_COPY && m->backward[n] == 0;
    }
}

/* Sets kept[value] to 1 for values that forward nodes of another segment read. */
static void keep_between(const struct module *m, const int32_t *segment, uint8_t *kept)
{
    const struct graph *g = &m->graph[1];
    for (nid n = g->first; n < g->first + g->count; n++) {
        if (m->backward[n] != 0)
            continue;
        for (uint32_t i = 0; i < m->node[n].in.n; i++) {
            vid v = m->arg[m->node[n].in.at + i];
            if (v != 0 && m->value[v].def != 0 && segment[m->value[v].def] != segment[n])
                kept[v] = 1;
        }
    }
}

/* Sets segment[node] to -1 for nodes that the expression matches, so that their results are kept, and to 0 for all
 * other nodes, which form one segment.  Returns 0, or -1 and reports an error. */
static int keep_matches(struct ctx *x, const char *text, int32_t *segment)
{
    const struct graph *g = &x->scene.m->graph[1];
    char why[PATTERN_WHY];
    struct arena *own = arena_new(x->use.mem); /* holds the compiled expression */
    const struct regex *re = pattern_compile(text, own, why);
    uint32_t hits = 0;
    const uint8_t *follows = place_follows(x->scene.m, x->scene.place, x->use.scratch);
    const uint8_t *match = re != NULL ? pattern_nodes(re, x, follows, x->use.scratch, &hits) : NULL;
    arena_free(own);
    if (re == NULL)
        return diag_error(x->use.diag, "recompute: keep='%s': not a regular expression: %s", text,
                          why);
    if (hits == 0)
        return diag_error(x->use.diag, "recompute: keep='%s' matches no node", text);
    for (nid n = g->first; n < g->first + g->count; n++)
        segment[n] = match[n] != 0 ? -1 : 0;
    return 0;
}

/* Returns a + b; COST_NEVER if a or b is COST_NEVER. */
static int64_t add_times(int64_t a, int64_t b)
{
    return a == COST_NEVER || b == COST_NEVER ? COST_NEVER : sat_add(a, b);
}

/* For each colour class, adds the sum of its forward nodes' times, ps, to time[node] of its first backward node.
 * ncolor: 1 + the largest colour. */
static void add_colour_times(const struct module *m, int64_t *time, uint32_t ncolor,
                             struct arena *a)
{
    const struct graph *g = &m->graph[1];
    int64_t *sum = arena_array(a, ncolor, sizeof *sum);
    for (nid n = g->first; n < g->first + g->count; n++)
        if (m->backward[n] == 0)
            sum[m->color[n]] = add_times(sum[m->color[n]], time[n]);
    sum[0] = 0; /* nodes without a colour */
    for (nid n = g->first; n < g->first + g->count; n++)
        if (m->backward[n] != 0) {
            time[n] = add_times(time[n], sum[m->color[n]]);
            sum[m->color[n]] = 0; /* later backward nodes of the class get nothing */
        }
}

/* For a workload: adds the times of the forward nodes of each colour class to the first backward node of the class.
 * Returns 0, or -1 and reports an error. */
static int add_forward_times(struct ctx *x)
{
    struct module *m = x->scene.m;
    if (m->backward == NULL || m->color == NULL || m->cost == NULL || m->cost->measured != NULL)
        return diag_error(x->use.diag,
                          "recompute: in a workload a colour class has forward nodes and the "
                          "backward nodes that read them; this input has none");
    uint32_t ncolor = module_most_color(m) + 1;
    for (uint32_t c = 0; c < m->cost->nclass; c++) {
        add_colour_times(m, m->cost->time[c], ncolor, x->use.scratch);
        if (m->cost->overhead != NULL)
            add_colour_times(m, m->cost->overhead[c], ncolor, x->use.scratch);
    }
    m->edits++; /* makes the runner forget levels, which have the old times */
    return 0;
}

/* pass.run: makes forward nodes run again (head of this file).  Returns 0, or -1 and reports an error. */
static int run_recompute(struct ctx *x, const void *options)
{
    const struct recompute_options *o = options;
    struct module *m = x->scene.m;
    struct arena *a = x->use.scratch;
    if (module_is_profiled(m))
        return add_forward_times(x);
    if (ctx_base(x))
        return -1;
    training_mark(x);
    if (m->backward == NULL)
        return diag_error(x->use.diag, "recompute: the model has no backward pass, so no result "
                                       "waits for one");
    /* what struct remake_rule wants: [node] segment, [value] 1: kept */
    int32_t *segment = arena_array(a, m->nnode, sizeof *segment);
    uint8_t *kept = arena_alloc(a, m->nval);
    if (*o->keep && keep_matches(x, o->keep, segment))
        return -1;
    /* by layers, else by stretches; values that go from one layer or stretch to another are kept */
    if (!*o->keep) {
        if (!divide_by_layers(x, segment))
            divide_by_root(x, segment);
        keep_between(m, segment, kept);
    }
    const struct remake_rule rule = {.place = x->scene.place, .segment = segment, .kept = kept};
    const char *spared = ""; /* words for the note: how many nodes must not run twice; "": none */
    struct remade r = remake(m, &rule, a);
    if (r.spared > 0)
        spared = arena_fmt(
            a, "; %u more must not run twice, so their results are kept, the first those of '%s'",
            r.spared, module_str(m, r.first_spared));
    diag_detail(x->use.diag, "recompute: %u nodes are made again%s", r.copies, spared);
    return 0;
}

const struct pass pass_recompute = {
    .name = "recompute",
    .help = "make forward nodes of a training graph again before the backward pass, to save memory",
    .opts = recompute_opts,
    .optsize = sizeof(struct recompute_options),
    .needs = NEED_SHAPES | NEED_COST,
    .rewrites = true,
    .run = run_recompute};
