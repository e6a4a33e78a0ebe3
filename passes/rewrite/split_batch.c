/* split-batch: makes N copies of the model, one for each of N equal blocks of the batch, and joins their outputs:
 * data parallelism for inference.
 *
 * The batch is the first dimension of the inputs: a name, or a number.  The pass follows it through the nodes in
 * their order (batch_rules.h); a node that mixes samples, or may do so, is an error.  Then each input with the batch
 * is divided by a Split, each node that does not depend on weights alone is copied N times (node n becomes n@0, n@1,
 * ...; its values likewise), and the N shares of each output are joined by a Concat.  Weights, and values computed
 * from weights alone, are shared by all copies.  Constant shapes that hold the batch as a number are divided by N;
 * constants with an axis for samples are cut.  No copy reads values of another one, so that planners can put each
 * copy on a device of its own.
 *
 * Nodes that depend on inputs, but not on the batch, are copied, too, except nodes with bodies, calls, and operators
 * without a row in the table of rules.  Nodes that no output needs are removed.  A batch with a name is divided when
 * the model runs: if N does not divide its size, Split fails then.  O(N * (nodes + operands * rank)), expected. */
#include "passes/rewrite/batch_rules.h"

#include "ir/base/map.h"
#include "ir/model/dim.h"
#include "ir/model/edit.h"
#include "ir/model/state_pairs.h"
#include "passes/shapes/bind_dims.h"

#include <assert.h>
#include <string.h>

struct split_options {
    int64_t ways; /* N */
    /* name of the batch dimension, or of an input; "": the pass finds the batch itself */
    const char *batch;
};

static const struct opt split_opts[] = {
    {.kind = OPT_INT,
     .name = "ways",
     .off = offsetof(struct split_options, ways),
     .def = "2",
     .lo = "1",
     .hi = "1024",
     .help = "copies of the model; 1 changes nothing"},
    {.kind = OPT_TEXT,
     .name = "batch",
     .off = offsetof(struct split_options, batch),
     .def = "",
     .help =
         "name of the batch dimension, or of an input that has it first; by default the one that "
         "the inputs have first"},
    {0}};

/* What the pass does with a node. */
enum fate {
    FATE_DEAD,   /* removes the node: no output needs it */
    FATE_SHARED, /* keeps the node once for all copies: it depends on weights alone */
    FATE_ONCE,   /* keeps the node once: it reads the values of copy 0, or joined values */
    FATE_COPIED  /* replaces the node by N copies */
};

/* State of a run of the pass.  A share of a value is the value that one copy has in its place. */
struct batch_split {
    struct ctx *x;
    struct module *m;
    struct diag *d;
    struct arena *a;
    struct batch_search s;
    uint8_t *fate; /* [node] enum fate */
    /* [value] true: each copy has a share of the value; false: all copies read the value itself */
    bool *local;
    /* [value] true: a node with FATE_ONCE, or a node in its body, reads the value */
    bool *stays;

    struct edit *e;
    uint32_t ways; /* N */
    /* [value] index in `pool` of the value's N shares; 0: they are not made yet, or the value is not local */
    uint32_t *share;
    vid *pool; /* shares of values, N each, from index 1 */
    uint32_t npool, cappool, capshare;
    /* What is made once for several readers.  Keys: map_key(UINT32_MAX, name of a dimension) -> list of sizes for
     * Split; map_key(v, axis + 1) -> index in `pool` of the blocks of v along the axis; map_key(v, entry + 1 +
     * SHAPE_RANK) -> list v with that entry divided by N. */
    struct map made;
    uint32_t next; /* index in s.change of the first change of a node that is not copied yet */
    uint32_t nsplit, njoined, ncopied; /* numbers of inputs split, outputs joined, nodes copied */
};

/* ---- 1. the batch ------------------------------------------------------------------------------- */

/* Returns the type of input i of the model if callers give the input and it is a tensor with at least one axis; else
 * NULL. */
static const struct type *input_type(const struct module *m, uint32_t i)
{
    const struct value *v = &m->value[m->arg[m->graph[1].in.at + i]];
    const struct type *t = &m->type[v->type];
    return (v->flags & VALUE_INIT) == 0 && t->kind == TYPE_TENSOR && t->rank > 0 ? t : NULL;
}

/* Returns the name of input i of the model. */
static const char *input_name(const struct module *m, uint32_t i)
{
    return value_name(m, m->arg[m->graph[1].in.at + i]);
}

/* Whether d is a better choice for the batch than `old`: a name is better than a number, a number other than 1
 * better than 1. */
static bool is_better(struct dim d, struct dim old)
{
    return dim_known(d) && (!dim_known(old) || (d.sym != 0 && old.sym == 0) ||
                            (d.sym == 0 && old.sym == 0 && old.value == 1 && d.value != 1));
}

/* Sets x->s.size to the best choice (is_better()) among the first dimensions of the inputs.  Inputs
 * with a worse choice are taken to have no batch.  Returns 0; or -1 and reports an error: no first
 * dimension is known, or two of them differ and are equally good choices. */
static int find_common(struct batch_split *x)
{
    struct module *m = x->m;
    struct dim best = dim_unknown();
    uint32_t of = 0;
    for (uint32_t i = 0; i < m->graph[1].in.n; i++) {
        const struct type *t = input_type(m, i);
        if (t == NULL || !is_better(m->dim[t->dim], best))
            continue;
        best = m->dim[t->dim];
        of = i;
    }
    if (!dim_known(best))
        return diag_error(
            x->d, "split-batch: no common batch axis: no input has a first dimension that is a "
                  "number or has a name");
    /* an input whose dimension is a worse choice than `best` is taken to have no batch */
    for (uint32_t i = 0; i < m->graph[1].in.n; i++) {
        const struct type *t = input_type(m, i);
        struct dim d = t != NULL ? m->dim[t->dim] : best;
        if (dim_known(d) && !dim_same(d, best) && !is_better(best, d))
            return diag_error(
                x->d,
                "split-batch: no common batch axis: the first dimension of input '%s' is %s, that of "
                "'%s' is %s; say which it is: split-batch{batch=NAME}",
                input_name(m, of), dim_text(m, best, x->a), input_name(m, i), dim_text(m, d, x->a));
    }
    x->s.size = best;
    return 0;
}

/* Sets x->s.size to the dimension called `name`, or to the first dimension of the input called `name`.  Returns 0, or
 * -1 and reports an error. */
static int find_named(struct batch_split *x, const char *name)
{
    struct module *m = x->m;
    struct dim wanted = dim_parse(m, name);
    for (uint32_t i = 0; i < m->graph[1].in.n; i++) {
        const struct type *t = input_type(m, i);
        for (uint32_t k = 0; t != NULL && k < (uint32_t)t->rank; k++)
            if (wanted.sym != 0 && m->dim[t->dim + k].sym == wanted.sym) {
                x->s.size = wanted;
                return 0;
            }
    }
    for (uint32_t i = 0; i < m->graph[1].in.n; i++) {
        const struct type *t = input_type(m, i);
        if (strcmp(input_name(m, i), name) != 0)
            continue;
        if (t == NULL || !dim_known(m->dim[t->dim]))
            return diag_error(
                x->d,
                "split-batch: no common batch axis: input '%s' has no first dimension that is a "
                "number or has a name",
                name);
        x->s.size = m->dim[t->dim];
        return 0;
    }
    return diag_error(
        x->d,
        "split-batch: no common batch axis: no input and no dimension of an input is named '%s'",
        name);
}

/* Whether d is a multiple of the batch, for all sizes; if the batch is a number, whether d is that number. */
static bool is_multiple(struct batch_split *x, struct dim d)
{
    if (x->s.size.sym == 0)
        return dim_same(d, x->s.size);
    struct dim times = dim_div(x->m, d, x->s.size);
    return dim_same(dim_mul(x->m, times, x->s.size), d);
}

/* If input i has an axis with the batch, makes it CUT there, and local.  Returns 0, or -1 and reports an error. */
static int start_input(struct batch_split *x, uint32_t i)
{
    struct module *m = x->m;
    const struct type t = *input_type(m, i);
    vid v = m->arg[m->graph[1].in.at + i];
    /* a batch that is a number is looked for at axis 0 only, since other axes may have the same size by chance */
    for (uint32_t k = 0; k < (uint32_t)t.rank && (k == 0 || x->s.size.sym != 0); k++) {
        struct dim d = m->dim[t.dim + k];
        if (!is_multiple(x, d)) {
            if (x->s.size.sym != 0 && dim_has_name(m, d, module_str(m, x->s.size.sym)))
                return diag_error(
                    x->d,
                    "split-batch: axis %u of input '%s' is %s: expected the batch, %s, or a multiple of it",
                    k, input_name(m, i), dim_text(m, d, x->a), dim_text(m, x->s.size, x->a));
            continue;
        }
        if (x->s.of[v].how == BATCH_CUT)
            return diag_error(
                x->d, "split-batch: input '%s' has the batch, %s, at axis %u and at axis %u",
                input_name(m, i), dim_text(m, x->s.size, x->a), x->s.of[v].axis, k);
        x->s.of[v] = (struct batch){.how = BATCH_CUT, .axis = (uint8_t)k};
        x->local[v] = true;
    }
    return 0;
}

/* Checks that N divides the size of the batch, if that is known, also by --dim.  Returns 0, or -1 and reports an
 * error. */
static int check_ways(struct batch_split *x)
{
    const char *name = module_str(x->m, x->s.size.sym);
    int64_t ways = x->s.ways, size = x->s.size.sym ? bind_said(x->x, name) : x->s.size.value;
    if (size < 0 || size % ways == 0)
        return 0;
    return diag_error(x->d, "split-batch: %lld ways do not divide the batch of %lld%s%s%s",
                      (long long)ways, (long long)size, x->s.size.sym != 0 ? " (--dim " : "", name,
                      x->s.size.sym != 0 ? ")" : "");
}

/* Finds the batch and the inputs that have it.  name: the option `batch`.  Returns 0, or -1 and reports an error. */
static int find_batch(struct batch_split *x, const char *name)
{
    struct module *m = x->m;
    int rc = *name != '\0' ? find_named(x, name) : find_common(x);
    for (uint32_t i = 0; i < m->graph[1].in.n && rc == 0; i++)
        if (input_type(m, i) != NULL && input_type(m, i)->rank <= SHAPE_RANK)
            rc = start_input(x, i);
    return rc == 0 ? check_ways(x) : rc;
}

/* ---- 2. following the batch --------------------------------------------------------------------- */

/* Sets the fate of all nodes that some output needs to FATE_SHARED until follow_batch() decides; all other nodes stay
 * FATE_DEAD. */
static void mark_needed(struct batch_split *x)
{
    const struct module *m = x->m;
    const struct graph *g = &m->graph[1];
    for (uint32_t i = 0; i < g->out.n; i++)
        x->fate[m->value[m->arg[g->out.at + i]].def] = FATE_SHARED;
    for (nid n = g->first + g->count; n-- > g->first;)
        for (uint32_t i = 0; i < m->node[n].in.n && x->fate[n] != FATE_DEAD; i++)
            x->fate[m->value[m->arg[m->node[n].in.at + i]].def] = FATE_SHARED;
}

/* Reports that node n cannot be split, for the reason `why`, and returns -1. */
static int refuse(const struct batch_split *x, nid n, const char *why)
{
    const char *domain = module_str(x->m, x->m->node[n].domain);
    return diag_error(x->d, "split-batch: node '%s' (%s%s%s): %s", node_name(x->m, n), domain,
                      *domain != '\0' ? "." : "", node_op(x->m, n), why);
}

/* Whether all operands of n are weights, or computed from weights alone. */
static bool needs_weights_only(const struct batch_split *x, nid n)
{
    const struct module *m = x->m;
    for (uint32_t i = 0; i < m->node[n].in.n; i++) {
        vid v = m->arg[m->node[n].in.at + i];
        const struct value *p = &m->value[v];
        if (p->def != 0 ? x->fate[p->def] != FATE_SHARED : v != 0 && (p->flags & VALUE_INIT) == 0)
            return false;
    }
    return true;
}

/* Sets the fate of node n; notes in x->local and x->stays what follows for its results and operands. */
static void set_fate(struct batch_split *x, nid n, enum fate fate)
{
    const struct node *p = &x->m->node[n];
    x->fate[n] = (uint8_t)fate;
    for (uint32_t i = 0; i < p->out.n; i++) {
        vid v = node_out(x->m, n, i);
        x->local[v] = v != 0 && fate == FATE_COPIED;
    }
    for (uint32_t i = 0; i < p->in.n && fate == FATE_ONCE; i++)
        x->stays[x->m->arg[p->in.at + i]] = true;
}

/* Whether n is a Shape or Size node whose operand is an input of the model: such a node is kept once and measures
 * share 0, since all shares have the same shape. */
static bool measures_input(const struct batch_split *x, nid n)
{
    const struct value *v = &x->m->value[node_in(x->m, n, 0)];
    return (node_is(x->m, n, "Shape") || node_is(x->m, n, "Size")) && v->def == 0;
}

/* Applies the rule r (NULL: there is none) of node n, which depends on the batch, and sets the node's fate.  Returns
 * NULL, or the reason why n cannot be split. */
static const char *apply_rule(struct batch_split *x, nid n, const struct batch_rule *r)
{
    const struct module *m = x->m;
    struct batch_search *s = &x->s;
    const struct node *p = &m->node[n];
    if (node_has_body(m, n))
        return "its body reads what depends on the batch";
    if ((p->flags & NODE_CALL) != 0)
        return "it calls a function with what depends on the batch: inline-functions first";
    if (r == NULL)
        return "whether it keeps samples apart is not known";
    s->seen = s->set = 0;
    const char *why = r->fn(s, r);
    /* operands that the rule did not look at must not depend on the batch */
    for (uint32_t i = 0; i < p->nformal && i < 64 && why == NULL; i++)
        if ((s->seen >> i & 1) == 0)
            why = batch_want_whole(s, i);
    for (uint32_t i = 0; i < p->out.n && why == NULL; i++) {
        vid v = node_out(m, n, i);
        if (v != 0 && i < 64 && (s->set >> i & 1) == 0)
            return batch_say(s, "nothing is known of its result %u, '%s'", i, value_name(m, v));
    }
    set_fate(x, n, measures_input(x, n) ? FATE_ONCE : FATE_COPIED);
    return why;
}

/* Sets the states of all values, and the fates of all nodes, that outputs need.  Returns 0, or -1 and reports an
 * error. */
static int follow_batch(struct batch_split *x)
{
    const struct module *m = x->m;
    const struct graph *g = &m->graph[1];
    for (nid n = g->first; n < g->first + g->count; n++) {
        if (x->fate[n] == FATE_DEAD)
            continue;
        const struct node *p = &m->node[n];
        bool call = (p->flags & NODE_CALL) != 0;
        bool reads = false; /* n reads a value that depends on the batch */
        const struct batch_rule *r =
            call ? NULL : batch_rule_of(module_str(m, p->domain), node_op(m, n));
        x->s.n = n;
        for (uint32_t i = 0; i < p->in.n; i++)
            reads = reads || x->s.of[m->arg[p->in.at + i]].how != BATCH_WHOLE;
        const char *why = r != NULL && batch_draws(&x->s, r) ? "it draws random numbers" : NULL;
        if (why == NULL && reads)
            why = apply_rule(x, n, r);
        else if (why == NULL && needs_weights_only(x, n))
            set_fate(x, n, FATE_SHARED);
        /* an operator without a row in the table must not run several times */
        else if (why == NULL)
            set_fate(x, n, r != NULL ? FATE_COPIED : FATE_ONCE);
        if (why != NULL)
            return refuse(x, n, why);
    }
    return 0;
}

/* Checks that each output is cut in blocks of samples, or does not depend on the batch.  Returns 0, or -1 and reports
 * an error. */
static int check_outputs(const struct batch_split *x)
{
    const struct module *m = x->m;
    for (uint32_t i = 0; i < m->graph[1].out.n; i++) {
        vid v = m->arg[m->graph[1].out.at + i];
        uint8_t how = x->s.of[v].how;
        if (how == BATCH_CUT || how == BATCH_WHOLE)
            continue;
        return refuse(x, m->value[v].def,
                      arena_fmt(x->a, "output '%s' %s", value_name(m, v),
                                how == BATCH_SIZES ? "holds a size of the batch"
                                                   : "depends on how the samples are numbered"));
    }
    return 0;
}

/* Checks each state pair (state_pairs.h): its input and its output must have the batch, at the same axis, so that
 * there is one state for each sample.  Returns 0, or -1 and reports an error. */
static int check_state(const struct batch_split *x)
{
    const struct settings *set = ctx_settings(x->x);
    struct state_pairs p;
    if (state_pairs_find(x->m, set->pairs, set->npairs, x->a, &p, x->d))
        return -1;
    for (uint32_t i = 0; i < p.n; i++) {
        struct batch in = x->s.of[p.in[i]], out = x->s.of[p.out[i]];
        if (in.how != BATCH_CUT || out.how != BATCH_CUT || in.axis != out.axis)
            return diag_error(
                x->d,
                "split-batch: state '%s' -> '%s': expected one state for each sample, both with the batch "
                "at the same axis",
                value_name(x->m, p.in[i]), value_name(x->m, p.out[i]));
    }
    return 0;
}

/* ---- 3. shares of values ------------------------------------------------------------------------ */

/* Returns the index of N new entries of x->pool. */
static uint32_t new_shares(struct batch_split *x)
{
    uint32_t at = x->npool;
    x->pool = vec_grow(x->a, x->pool, &x->cappool, x->npool + x->ways, sizeof *x->pool);
    x->npool += x->ways;
    return at;
}

/* Returns a name for share i of a value, or copy i of a node, that is called `name` in the model: "name@i". */
static const char *share_name(struct batch_split *x, const char *name, uint32_t i)
{
    return arena_fmt(x->a, "%s@%u", name, i);
}

/* Returns d / N; unknown if it is not certain that N divides d. */
static struct dim share_of(struct batch_split *x, struct dim d)
{
    struct dim ways = dim_num(x->s.ways);
    /* a multiple of the batch: the same multiple of the batch's share, floor(size / N) */
    if (x->s.size.sym != 0 && d.sym != 0 && is_multiple(x, d))
        return dim_mul(x->m, dim_div(x->m, x->s.size, ways), dim_div(x->m, d, x->s.size));
    return batch_divides(&x->s, d) ? dim_div(x->m, d, ways) : dim_unknown();
}

/* Returns the type (index in module.type) of the shares of v: the type of v, with the size of the cut axis, if v
 * has one, divided by N. */
static uint32_t share_type(struct batch_split *x, vid v)
{
    struct batch s = x->s.of[v];
    struct shape shape;
    if (!batch_has_axis(s) || !shape_of(x->s.f, v, &shape))
        return x->m->value[v].type;
    if (s.axis < shape.rank)
        shape.d[s.axis] = share_of(x, shape.d[s.axis]);
    return module_add_tensor_type(x->m, shape.elem, shape.rank, shape.d);
}

/* Adds a node with operator op before all other nodes and returns it. */
static nid first_node(struct batch_split *x, const char *op)
{
    const struct graph *g = &x->m->graph[1];
    return g->count > 0 ? edit_before(x->e, g->first, op) : edit_add(x->e, 1, op);
}

/* Adds nodes that compute the operand `split` of a Split of input v: a list of N equal entries, size / N each,
 * where size is the size of v at `axis`.  Split fails if N does not divide the size.  Returns the list. */
static vid share_sizes(struct batch_split *x, vid v, uint32_t axis)
{
    struct edit *e = x->e;
    const char *name = value_name(x->m, v);
    int64_t ways = x->s.ways;
    vid n = edit_ints(e, 1, "split.ways", &ways, 1);
    nid shape = first_node(x, "Shape"), div = first_node(x, "Div"), all = first_node(x, "Expand");
    uint32_t one = module_add_tensor_type(x->m, ELEM_I64, 1, (struct dim[]){dim_num(1)});
    edit_operands(e, shape, &v, 1);
    edit_set_int(e, shape, "start", axis);
    edit_set_int(e, shape, "end", axis + 1);
    vid size = edit_result(e, shape, arena_fmt(x->a, "%s.size", name), 0);
    edit_set_type(e, size, one);
    edit_operands(e, div, (vid[]){size, n}, 2);
    vid share = edit_result(e, div, arena_fmt(x->a, "%s.share", name), 0);
    edit_set_type(e, share, one);
    edit_operands(e, all, (vid[]){share, n}, 2);
    vid sizes = edit_result(e, all, arena_fmt(x->a, "%s.shares", name), 0);
    edit_set_type(e, sizes,
                  module_add_tensor_type(x->m, ELEM_I64, 1, (struct dim[]){dim_num(ways)}));
    edit_name_node(e, shape, arena_fmt(x->a, "%s.size", name));
    edit_name_node(e, div, arena_fmt(x->a, "%s.share", name));
    edit_name_node(e, all, arena_fmt(x->a, "%s.shares", name));
    return sizes;
}

enum {
    OPSET_LEAST = 7,          /* the first opset that is supported */
    OPSET_SPLIT_COUNT = 18,   /* the first opset whose Split has the attribute num_outputs */
    OPSET_SLICE_OPERANDS = 10 /* the first opset whose Slice has operands in place of attributes */
};

/* Makes the shares of input v by a Split, whose blocks must be equal: from opset 18 on it has num_outputs if the size
 * is a number, else computed sizes (share_sizes); before, Split itself makes equal blocks. */
static void split_input(struct batch_split *x, vid v)
{
    struct edit *e = x->e;
    struct batch s = x->s.of[v];
    const struct type t = x->m->type[x->m->value[v].type];
    struct dim d = x->m->dim[t.dim + s.axis];
    vid sizes = 0;
    if (d.sym != 0 && x->s.f->opset >= OPSET_SPLIT_COUNT) {
        uint32_t at = map_get(&x->made, map_key(UINT32_MAX, d.sym));
        sizes = at != 0 ? at : share_sizes(x, v, s.axis);
        map_set(&x->made, x->a, map_key(UINT32_MAX, d.sym), sizes);
    }
    nid n = first_node(x, "Split");
    edit_operands(e, n, (vid[]){v, sizes}, sizes != 0 ? 2 : 1);
    edit_set_int(e, n, "axis", s.axis);
    if (sizes == 0 && x->s.f->opset >= OPSET_SPLIT_COUNT)
        edit_set_int(e, n, "num_outputs", x->s.ways);
    edit_name_node(e, n, arena_fmt(x->a, "%s.split", value_name(x->m, v)));
    uint32_t at = new_shares(x), type = share_type(x, v);
    for (uint32_t i = 0; i < x->ways; i++) {
        vid w = edit_result(e, n, share_name(x, value_name(x->m, v), i), v);
        edit_set_type(e, w, type);
        x->pool[at + i] = w;
    }
    x->share[v] = at;
    x->nsplit++;
}

/* Returns the value that copy i reads where the model reads v; 0 if v is 0. */
static vid share(struct batch_split *x, vid v, uint32_t i)
{
    if (v == 0 || !x->local[v])
        return v;
    if (x->share[v] == 0)
        split_input(x, v);
    return x->pool[x->share[v] + i];
}

/* ---- 4. operands that change -------------------------------------------------------------------- */

/* Adds a Slice before node `at`, and returns its result: elements [from, to) of v along an axis. */
static vid slice_of(struct batch_split *x, vid v, uint32_t axis, int64_t from, int64_t to, nid at)
{
    struct edit *e = x->e;
    int64_t a = axis;
    nid n = edit_before(e, at, "Slice");
    if (x->s.f->opset < OPSET_SLICE_OPERANDS) {
        edit_operands(e, n, &v, 1);
        edit_set_ints(e, n, "starts", &from, 1);
        edit_set_ints(e, n, "ends", &to, 1);
        edit_set_ints(e, n, "axes", &a, 1);
    } else {
        vid starts = edit_ints(e, 1, "slice.starts", &from, 1),
            ends = edit_ints(e, 1, "slice.ends", &to, 1),
            axes = edit_ints(e, 1, "slice.axes", &a, 1);
        edit_operands(e, n, (vid[]){v, starts, ends, axes}, 4);
    }
    edit_made_from(e, n, at);
    return edit_result(e, n, value_name(x->m, v), v);
}

/* Whether v is a weight of which each block can become a weight that refers to a range of v's bytes (edit_slice),
 * so that no bytes are copied. */
static bool has_ranges(const struct module *m, vid v)
{
    const struct value *p = &m->value[v];
    const struct tensor *t = &m->tensor[p->tensor];
    bool weight = (p->flags & (VALUE_INIT | VALUE_INPUT)) == VALUE_INIT;
    return weight && tensor_has_bytes(t) && elem_bits((enum elem)t->elem) % 8 == 0;
}

/* Returns the index in x->pool of the N blocks, along an axis, of v, which is WHOLE.  Makes the blocks at the first
 * call: as weights if v is a weight that has_ranges(), else by Slices before node `at`. */
static uint32_t cut_whole(struct batch_split *x, vid v, uint32_t axis, nid at)
{
    uint64_t key = map_key(v, axis + 1);
    uint32_t place = map_get(&x->made, key);
    if (place != 0)
        return place;
    struct module *m = x->m;
    struct shape s;
    shape_of(x->s.f, v, &s);
    int64_t each = s.d[axis].value / x->s.ways;
    s.d[axis] = dim_num(each);
    uint32_t type = module_add_tensor_type(m, s.elem, s.rank, s.d);
    place = new_shares(x);
    for (uint32_t i = 0; i < x->ways; i++) {
        int64_t range[2] = {each * i, each * (i + 1)};
        const char *name = share_name(x, value_name(m, v), i);
        vid w;
        if (has_ranges(m, v)) {
            w = edit_weight(x->e, 1, name, edit_slice(x->e, m->value[v].tensor, axis, range, 1));
        } else {
            /* if v is local, copy i cuts the share from its own v, which is equal in all copies */
            w = slice_of(x, share(x, v, i), axis, range[0], range[1], at);
            edit_name_value(x->e, w, name);
            edit_set_type(x->e, w, type);
        }
        x->pool[place + i] = w;
    }
    map_set(&x->made, x->a, key, place);
    return place;
}

/* Returns a weight with the constant integers of v, entry number `entry` divided by N. */
static vid divided(struct batch_split *x, vid v, uint32_t entry)
{
    uint64_t key = map_key(v, entry + 1 + SHAPE_RANK);
    uint32_t place = map_get(&x->made, key);
    if (place != 0)
        return place;
    int64_t list[SHAPE_VALUES];
    int n = ints_of(x->s.f, v, list, SHAPE_VALUES);
    assert(n > (int)entry && list[entry] % x->s.ways == 0);
    list[entry] /= x->s.ways;
    vid w = edit_ints(x->e, 1, arena_fmt(x->a, "%s@each", value_name(x->m, v)), list, (uint32_t)n);
    map_set(&x->made, x->a, key, w);
    return w;
}

/* Makes the change c in node k, copy i of c->node. */
static void change_operand(struct batch_split *x, const struct batch_change *c, nid k, uint32_t i)
{
    vid v = node_in(x->m, c->node, c->operand);
    if (c->kind == CHANGE_ENTRY) {
        edit_set_operand(x->e, k, c->operand, divided(x, v, c->at));
    } else {
        uint32_t place = cut_whole(x, v, c->at, c->node);
        edit_set_operand(x->e, k, c->operand, x->pool[place + i]);
    }
}

/* ---- 5. copies ---------------------------------------------------------------------------------- */

/* Adds copy i of node n, whose results become share i of n's results.  type: [result] type of the result's shares. */
static void copy_node(struct batch_split *x, nid n, uint32_t i, const uint32_t *type)
{
    struct module *m = x->m;
    nid k = edit_copy(x->e, n);
    const uint32_t nformal = m->node[n].nformal;
    vid *list = arena_array(x->a, (size_t)nformal + 1, sizeof *list);
    for (uint32_t j = 0; j < nformal; j++)
        list[j] = share(x, node_in(m, n, j), i);
    edit_operands(x->e, k, list, nformal);
    for (uint32_t c = x->next; c < x->s.nchange && x->s.change[c].node == n; c++)
        change_operand(x, &x->s.change[c], k, i);
    edit_name_node(x->e, k, share_name(x, node_name(m, n), i));
    for (uint32_t j = 0; j < m->node[n].out.n; j++) {
        vid v = node_out(m, n, j), w = node_out(m, k, j);
        if (v == 0 || m->value[v].name == 0)
            continue;
        edit_name_value(x->e, w, share_name(x, value_name(m, v), i));
        edit_set_type(x->e, w, type[j]);
        x->pool[x->share[v] + i] = w;
    }
}

/* Replaces node n by its N copies, and moves x->next behind the changes of n's operands. */
static void copy_all(struct batch_split *x, nid n)
{
    const struct slice out = x->m->node[n].out;
    uint32_t *type = arena_array(x->a, (size_t)out.n + 1, sizeof *type);
    for (uint32_t j = 0; j < out.n; j++) {
        vid v = x->m->arg[out.at + j];
        if (v != 0) {
            x->share[v] = new_shares(x);
            type[j] = share_type(x, v);
        }
    }
    /* edit_copy() puts each copy directly behind n: copy 0 comes last, so that the copies stand in their order */
    for (uint32_t i = x->ways; i-- > 0;)
        copy_node(x, n, i, type);
    while (x->next < x->s.nchange && x->s.change[x->next].node == n)
        x->next++;
    edit_drop(x->e, n);
    x->ncopied++;
}

/* Joins the shares of v, an output or an operand of a node that stays, by a Concat whose result takes the place of
 * v. */
static void join(struct batch_split *x, vid v)
{
    nid n = edit_add(x->e, 1, "Concat");
    vid *list = arena_array(x->a, x->ways, sizeof *list);
    for (uint32_t i = 0; i < x->ways; i++)
        list[i] = share(x, v, i);
    edit_operands(x->e, n, list, x->ways);
    edit_set_int(x->e, n, "axis", x->s.of[v].axis);
    edit_made_from(x->e, n, x->m->value[v].def);
    edit_name_node(x->e, n, arena_fmt(x->a, "%s.join", value_name(x->m, v)));
    vid w = edit_result(x->e, n, NULL, v);
    edit_replace(x->e, v, w);
    x->njoined++;
}

/* For outputs of the model and operands of nodes that stay: replaces each result of a copied node by the joined shares
 * if the result is CUT, else by share 0, as all shares are then equal.  Values below `most` are values of the original
 * model. */
static void replace_single_reads(struct batch_split *x, vid most)
{
    for (vid v = 1; v < most; v++) {
        const struct value *p = &x->m->value[v];
        bool output = p->graph == 1 && (p->flags & VALUE_OUTPUT) != 0;
        if (!x->local[v] || p->def == 0 || !(output || x->stays[v]))
            continue;
        if (x->s.of[v].how == BATCH_CUT)
            join(x, v);
        else
            edit_replace(x->e, v, share(x, v, 0));
    }
}

/* Changes the module: removes, keeps or copies each node by its fate, and joins outputs. */
static void write_copies(struct batch_split *x)
{
    const struct graph g = x->m->graph[1];
    const nid most = x->m->nnode;
    const vid values = x->m->nval;
    x->e = edit_begin(x->m, x->a);
    edit_import(x->e, NULL, OPSET_SPLIT_COUNT);
    for (nid n = g.first; n < g.first + g.count; n++) {
        if (x->fate[n] == FATE_COPIED)
            copy_all(x, n);
        else if (x->fate[n] == FATE_DEAD)
            edit_drop(x->e, n);
        else if (x->fate[n] == FATE_ONCE && measures_input(x, n))
            edit_set_operand(x->e, n, 0, share(x, node_in(x->m, n, 0), 0));
    }
    replace_single_reads(x, values);
    edit_sweep(x->e);
    edit_end(x->e);
    diag_detail(
        x->d,
        "split-batch: %u nodes are now %u: %u copied %u times; %u inputs are split, %u outputs joined",
        most - 1, x->m->nnode - 1, x->ncopied, x->ways, x->nsplit, x->njoined);
}

/* pass.run: replaces the model by copies over slices of the batch, whose outputs are joined.  Returns 0, or -1 after an
 * error. */
static int run_split_batch(struct ctx *ctx, const void *options)
{
    const struct split_options *o = options;
    struct module *m = ctx->scene.m;
    struct batch_split x = {.x = ctx, .m = m, .d = ctx->use.diag, .a = ctx->use.scratch};
    if (o->ways == 1)
        return 0;
    if (ctx->results.sharding != NULL || ctx->results.offer.ways != 0)
        return diag_error(
            x.d, "split-batch: the pass shard has chosen pieces for nodes that this pass replaces: "
                 "expected split-batch before shard");
    x.ways = (uint32_t)o->ways;
    x.s = (struct batch_search){.m = m, .a = x.a, .ways = o->ways, .f = infer_values(m, x.a)};
    x.s.of = arena_array(x.a, m->nval, sizeof *x.s.of);
    x.fate = arena_array(x.a, m->nnode, sizeof *x.fate);
    x.local = arena_array(x.a, m->nval, sizeof *x.local);
    x.stays = arena_array(x.a, m->nval, sizeof *x.stays);
    if (x.s.f->opset < OPSET_LEAST)
        return diag_error(x.d, "split-batch: the model is of opset %lld: expected %d or later",
                          (long long)x.s.f->opset, OPSET_LEAST);
    if (find_batch(&x, o->batch))
        return -1;
    mark_needed(&x);
    if (follow_batch(&x) || check_outputs(&x) || check_state(&x))
        return -1;
    if ((int64_t)m->nnode * o->ways > INT32_MAX)
        return diag_error(x.d, "split-batch: %lld copies of %u nodes are more than pcc can number",
                          (long long)o->ways, m->nnode - 1);
    x.share = arena_array(x.a, m->nval, sizeof *x.share);
    x.npool = 1;
    write_copies(&x);
    if (x.s.size.sym != 0)
        ctx->results.split = (struct dim_binding){module_str(m, x.s.size.sym), o->ways, NULL};
    return 0;
}

const struct pass pass_split_batch = {
    .name = "split-batch",
    .help =
        "data parallelism for inference: copies of the model over blocks of the batch, joined at the end",
    .opts = split_opts,
    .optsize = sizeof(struct split_options),
    .needs = NEED_SHAPES | NEED_COST, /* files of costs name nodes that this pass replaces */
    .rewrites = true,
    .run = run_split_batch};
