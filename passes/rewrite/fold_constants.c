/* fold-constants: computes the results of nodes that do not depend on the model's inputs, and replaces the nodes by
 * initializers with the same names.
 *
 * The operators are those of ir/model/compute.h, computed with exactly the bits that ONNX Runtime gives.  Known
 * values are initializers, results of Constant nodes, and elements of shapes that are numbers: Gather of such an
 * entry of a Shape is folded even if the batch is a symbol.  An initializer that is also an input of the model is no
 * constant, since callers may set it; nor is an initializer of a training graph that a step gives a new value, such as
 * a parameter: what follows from it changes from step to step.  Nodes that make outputs of the model stay.  Nodes and
 * initializers that only folded nodes read are removed.
 *
 * A round looks at all nodes, bodies after the nodes that own them.  A new constant shape may make types known that
 * were unknown; so types are inferred again, and rounds are repeated until one folds nothing, mostly the second.  The
 * bytes that all rounds together read and compute are limited, since small files can describe large constants.
 * O(nodes + operands + bytes computed), and shape inference, in each round. */
#include "ir/base/units.h"
#include "ir/dag/training_nodes.h"
#include "ir/model/compute.h"
#include "passes/shapes/infer.h"

#include <string.h>

struct fold_options {
    int64_t max; /* bytes of the largest result that is folded */
};

static const struct opt fold_opts[] = {
    {OPT_BYTES, "max", offsetof(struct fold_options, max), "1MiB", .lo = "0B", .hi = "1TiB",
     .help = "a result that is larger stays what its node makes"},
    {0}};

enum {
    READ = 16,        /* operands of more than READ * max bytes are not read */
    ALL = 256,        /* all operands and results together may have ALL * max bytes */
    LEAST = 64 << 20, /* or LEAST bytes, if LEAST is more */
    ROUNDS = 8        /* most rounds */
};

struct fold_run {
    struct module *m;
    struct edit *e; /* the edit of the present round */
    struct arena *a;
    struct known **known; /* [value] NULL: not looked at yet, or nothing is known of it */
    /* [nrenewed] of values, 1: steps of training give it new values; NULL: the model is no training graph */
    const uint8_t *renewed;
    uint32_t nrenewed;
    int64_t max;     /* bytes: larger results are not folded */
    int64_t left;    /* bytes of operands and results that may still be used */
    uint32_t folded; /* number of nodes folded in this round */
    int64_t bytes;   /* bytes of all folded results */
};

/* Returns what is known of value v without running the model; NULL: nothing, not even the rank. */
static struct known *known_of(struct fold_run *x, vid v)
{
    const struct value *p = &x->m->value[v];
    struct known k;
    if (x->known[v] != NULL)
        return x->known[v];
    bool fixed = (p->flags & (VALUE_INIT | VALUE_INPUT)) == VALUE_INIT && p->tensor != 0 &&
                 !(v < x->nrenewed && x->renewed[v]);
    if (fixed ? !known_of_tensor(x->m, p->tensor, &k, x->a)
              : !known_of_type(x->m, p->type, &k, x->a))
        return NULL;
    x->known[v] = arena_alloc(x->a, sizeof k);
    *x->known[v] = k;
    return x->known[v];
}

/* Whether element type and sizes of *k, computed for value v, agree with the type of v, as far as the type is known. */
static bool agrees(const struct module *m, vid v, const struct known *k)
{
    const struct type *t = &m->type[m->value[v].type];
    if (t->kind != TYPE_TENSOR)
        return t->kind == TYPE_NONE;
    bool same = (t->elem == ELEM_NONE || t->elem == k->elem) &&
                (t->rank < 0 || (uint32_t)t->rank == k->rank);
    for (uint32_t i = 0; i < k->rank && same && t->rank >= 0; i++)
        same = m->dim[t->dim + i].value < 0 || m->dim[t->dim + i].value == k->dim[i];
    return same;
}

/* Computes the results of node n, as far as its operands are known, and writes them to out[]; lowers x->left by the
 * bytes that were used.  Returns false if n cannot be computed. */
static bool compute_node(struct fold_run *x, nid n, struct known *out)
{
    const struct module *m = x->m;
    const struct node *p = &m->node[n];
    struct known **in = arena_array(x->a, (size_t)p->nformal + 1, sizeof *in);
    for (uint32_t i = 0; i < p->nformal; i++) {
        vid v = node_in(m, n, i);
        if (v != 0 && (in[i] = known_of(x, v)) == NULL)
            return false;
    }
    struct computation c = {.m = m, .a = x->a, .op = node_op(m, n), .opset = module_opset(m, 0)};
    c.attr = p->attr;
    c.in = in;
    c.nin = p->nformal;
    c.out = out;
    c.nout = p->out.n;
    c.most = x->max;
    c.most_read = sat_mul(x->max, READ);
    bool good = compute_run(&c);
    x->left -= c.spent;
    return good;
}

/* Stores out[], the results of node n, in x->known, unless one contradicts its value's type.  Returns whether n may
 * be folded: all its results are wholly known, none of them is an output of the model, and n is no Constant. */
static bool note_results(struct fold_run *x, nid n, const struct known *out)
{
    const struct module *m = x->m;
    bool folds = !node_is(m, n, "Constant");
    for (uint32_t i = 0; i < m->node[n].out.n; i++) {
        vid v = node_out(m, n, i);
        bool output = m->value[v].graph == 1 && (m->value[v].flags & VALUE_OUTPUT) != 0;
        if (v == 0)
            continue;
        if ((m->value[v].flags & VALUE_LOST) != 0 || !agrees(m, v, &out[i]))
            return false;
        folds = folds && !output && known_whole(&out[i]);
    }
    for (uint32_t i = 0; i < m->node[n].out.n; i++) {
        vid v = node_out(m, n, i);
        if (v != 0 && x->known[v] == NULL)
            x->known[v] = arena_alloc(x->a, sizeof out[i]);
        if (v != 0)
            *x->known[v] = out[i];
    }
    return folds;
}

/* Computes node n if possible; if it can be folded (note_results), turns its results into initializers and counts n and
 * their bytes. */
static void fold_node(struct fold_run *x, nid n)
{
    struct module *m = x->m;
    const struct node p = m->node[n];
    if (p.domain != 0 || p.callee != 0 || p.out.n == 0 ||
        (p.flags & (NODE_LOST | NODE_CALL)) != 0 || !compute_offers(node_op(m, n)))
        return;
    struct known *out = arena_array(x->a, p.out.n, sizeof *out);
    if (!compute_node(x, n, out) || !note_results(x, n, out))
        return;
    for (uint32_t i = 0; i < p.out.n; i++) {
        vid v = m->arg[p.out.at + i];
        if (v == 0)
            continue;
        edit_fix(x->e, v, edit_constant(x->e, &out[i]));
        x->bytes += elem_bytes(out[i].elem, out[i].n);
    }
    x->folded++;
}

/* Runs one round: folds all nodes that can be folded with the types that are known now. */
static void fold_round(struct fold_run *x)
{
    struct module *m = x->m;
    const uint32_t graphs = m->ngraph;
    x->folded = 0;
    x->e = edit_begin(m, x->a);
    x->known = arena_array(x->a, m->nval, sizeof(struct known *));
    const gid *order = graphs_outer_first(m, x->a);
    for (uint32_t i = 0; i + 1 < graphs; i++) {
        const struct graph g = m->graph[order[i]];
        for (nid n = g.first; n < g.first + g.count && x->left > 0 && !diag_stopped(m->diag); n++)
            fold_node(x, n);
    }
    if (x->folded > 0) {
        edit_sweep(x->e);
        edit_end(x->e);
    }
}

/* Infers the types of all values again; after an error, values keep their types. */
static void infer_again(struct fold_run *x)
{
    struct module *m = x->m;
    const uint32_t errors = m->diag->errors;
    const uint32_t *type = infer_types(m, x->a, /*diag=*/NULL, /*values=*/NULL);
    for (vid v = 1; v < m->nval && m->diag->errors == errors; v++)
        m->value[v].type = type[v];
}

/* Runs rounds until one folds nothing; returns the number of folded nodes. */
static uint32_t fold_all(struct fold_run *x)
{
    uint32_t folded = 0, rounds = 0;
    do {
        struct arena_mark mark = arena_mark(x->a);
        if (rounds > 0)
            infer_again(x);
        fold_round(x);
        folded += x->folded;
        arena_release(x->a, mark);
    } while (x->folded > 0 && x->left > 0 && ++rounds < ROUNDS);
    return folded;
}

/* Sets x->renewed, if the model is a training graph, with the initializers of --next among them. */
static void find_renewed(struct fold_run *x, const struct training *said)
{
    struct training_nodes found;
    if (!training_nodes_find(x->m, /*kind=*/NULL, &found, x->a))
        return;
    const struct graph *g = &x->m->graph[1];
    uint8_t *renewed = training_renewed(x->m, x->a);
    for (uint32_t i = 0; i < g->init.n; i++)
        for (uint32_t k = 0; k < said->nnext; k++)
            if (strcmp(value_name(x->m, x->m->arg[g->init.at + i]), said->next[k].parameter) == 0)
                renewed[x->m->arg[g->init.at + i]] = 1;
    x->renewed = renewed;
    x->nrenewed = x->m->nval;
}

/* pass.run: replaces nodes with constant results by weights, round by round.  Returns 0, or -1 after an error. */
static int run_fold_constants(struct ctx *x, const void *options)
{
    const struct fold_options *o = options;
    struct module *m = x->scene.m;
    struct fold_run f = {.m = m, .a = x->use.scratch, .max = o->max};
    const uint32_t nodes = m->nnode - 1, errors = m->diag->errors;
    struct clock clock = ctx_clock(x);
    char text[UNIT_TEXT];
    find_renewed(&f, &x->scene.model.training);
    f.left = larger(sat_mul(o->max, ALL), LEAST);
    clock_at_least(&clock, CLOCK_READING);
    m->diag->clock = &clock;
    const uint32_t folded = fold_all(&f);
    m->diag->clock = NULL;
    if (m->diag->errors > errors)
        return -1;
    if (f.left <= 0)
        diag_note(
            x->use.diag,
            "fold-constants: so much is constant that not all was looked at; another run goes on");
    if (folded == 0)
        diag_detail(x->use.diag, "fold-constants: no node can be computed");
    else
        diag_detail(x->use.diag,
                    "fold-constants: %u nodes are now %u: %u were computed, %s of results", nodes,
                    m->nnode - 1, folded, bytes_print(text, f.bytes));
    return 0;
}

const struct pass pass_fold_constants = {
    .name = "fold-constants",
    .help = "compute nodes that do not depend on the model's inputs",
    .opts = fold_opts,
    .optsize = sizeof(struct fold_options),
    .needs = NEED_SHAPES,
    .rewrites = true,
    .run = run_fold_constants};
