/* edit-script{seed=N,edits=N}: random edits of any model that change nothing of what it computes
 * (test_edit_scripts.py).
 *
 * A step inserts an Identity behind a node or before an operand; duplicates a node and joins both by Max or Where;
 * drops a node and adds it again at the end of its graph; makes a weight of slices of it, joined by Concat or a
 * slice of a slice; renames everything; moves a node out of a body or into one.  The module is verified after each
 * edit.  O(steps * nodes). */
#include "tests/editing/editing.h"

#include "tests/support/random_module.h"

enum { STEPS = 12, TRIES = 16, MOST_NODES = 20000 };

struct script_options {
    int64_t seed, edits;
};

static const struct opt script_opts[] = {{.kind = OPT_INT,
                                          .name = "seed",
                                          .off = offsetof(struct script_options, seed),
                                          .def = "0",
                                          .help = "of the random numbers"},
                                         {.kind = OPT_INT,
                                          .name = "edits",
                                          .off = offsetof(struct script_options, edits),
                                          .def = "3",
                                          .help = "each of some steps"},
                                         {0}};

struct script {
    struct rng r;
    struct module *m;
    struct edit *e;
    nid most; /* nodes of before the edit */
    vid most_value;
    uint8_t *gone; /* [node] */
    int64_t opset;
    uint32_t identity, copy, again, slice, move;
};

/* ---- what may be done ------------------------------------------------------------------------- */

static bool is_tensor(const struct script *s, vid v)
{
    return v != 0 && s->m->type[s->m->value[v].type].kind == TYPE_TENSOR &&
           (s->m->value[v].flags & VALUE_LOST) == 0;
}

/* Whether ONNX Runtime's Where takes the value. */
static bool is_number(const struct script *s, vid v)
{
    if (!is_tensor(s, v))
        return false;
    uint8_t elem = s->m->type[s->m->value[v].type].elem;
    return elem == ELEM_F32 || elem == ELEM_I64 || elem == ELEM_I32;
}

static bool is_random(const struct module *m, nid n)
{
    static const char *const op[] = {
        "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike",
        "Multinomial",  "Bernoulli",        "Dropout"};
    for (size_t i = 0; i < sizeof op / sizeof *op; i++)
        if (strcmp(node_op(m, n), op[i]) == 0)
            return true;
    return false;
}

/* All results are there and are the only ones of their names. */
static bool is_plain(const struct script *s, nid n)
{
    const struct slice out = s->m->node[n].out;
    for (uint32_t i = 0; i < out.n; i++) {
        vid v = s->m->arg[out.at + i];
        if (v == 0 || (s->m->value[v].flags & VALUE_LOST) != 0)
            return false;
    }
    return out.n > 0;
}

/* A node of before the edit that is still there; 0: none was found. */
static nid draw_node(struct script *s)
{
    for (int i = 0; i < TRIES && s->most > 1; i++) {
        nid n = 1 + rng_below(&s->r, s->most - 1);
        if (s->gone[n] == 0)
            return n;
    }
    return 0;
}

/* ---- steps ------------------------------------------------------------------------------------ */

static vid add_identity(struct script *s, nid n, nid near, vid v)
{
    edit_operands(s->e, n, &v, 1);
    edit_made_from(s->e, n, near);
    s->identity++;
    return edit_result(s->e, n, NULL, v);
}

static void insert_behind(struct script *s, nid n)
{
    const struct slice out = s->m->node[n].out;
    for (uint32_t i = 0; i < out.n; i++) {
        vid v = s->m->arg[out.at + i];
        if (!is_tensor(s, v))
            continue;
        nid k = rng_one_in(&s->r, 2) ? edit_after(s->e, n, "Identity")
                                     : edit_add(s->e, s->m->node[n].graph, "Identity");
        edit_replace(s->e, v, add_identity(s, k, n, v));
    }
}

static void insert_before(struct script *s, nid n)
{
    uint32_t count = edit_nin(s->e, n), i = count > 0 ? rng_below(&s->r, count) : 0;
    vid v = edit_in(s->e, n, i);
    bool constant =
        v != 0 && (s->m->value[v].flags & VALUE_INIT) != 0; /* some operators ask for one */
    if (is_tensor(s, v) && !constant)
        edit_set_operand(s->e, n, i, add_identity(s, edit_before(s->e, n, "Identity"), n, v));
}

/* v = Max(v, w) or Where(true, v, w), w being the result of a copy of v's node.  (Where makes 0 of -0.) */
static void duplicate(struct script *s, nid n)
{
    if (is_random(s->m, n) || s->m->nnode > MOST_NODES || s->opset < 9)
        return;
    nid copy = edit_copy(s->e, n);
    for (uint32_t i = 0; i < s->m->node[n].out.n; i++) {
        vid v = s->m->arg[s->m->node[n].out.at + i], w = s->m->arg[s->m->node[copy].out.at + i];
        if (!is_number(s, v))
            continue;
        bool real = s->m->type[s->m->value[v].type].elem == ELEM_F32;
        nid join = edit_after(s->e, copy, real ? "Max" : "Where");
        vid c = real ? 0
                     : edit_weight(s->e, s->m->node[n].graph, "yes",
                                   edit_tensor(s->e, ELEM_BOOL, NULL, 0, "\1", 1));
        edit_operands(s->e, join, real ? (vid[]){v, w} : (vid[]){c, v, w}, real ? 2 : 3);
        edit_replace(s->e, v, edit_result(s->e, join, NULL, v));
    }
    s->copy++;
}

static void drop_and_add(struct script *s, nid n)
{
    struct module *m = s->m;
    const struct node x = m->node[n];
    bool all = true;
    if (!is_plain(s, n) || node_has_body(m, n) || x.overload != 0)
        return;
    nid k = edit_add(s->e, x.graph, node_op(m, n));
    edit_set_operator(s->e, k, node_op(m, n), x.domain != 0 ? module_str(m, x.domain) : NULL, 1);
    edit_made_from(s->e, k, n);
    for (uint32_t i = 0; i < x.attr.n; i++)
        edit_set_attr(s->e, k, m->attr[m->node[n].attr.at + i]);
    vid in[64];
    uint32_t count = edit_nin(s->e, n);
    for (uint32_t i = 0; i < count && i < 64; i++)
        in[i] = edit_in(s->e, n, i);
    if (count > 64)
        return;
    edit_operands(s->e, k, in, count);
    for (uint32_t i = 0; i < x.out.n; i++) {
        vid v = m->arg[x.out.at + i];
        all = edit_replace(s->e, v, edit_result(s->e, k, NULL, v)) && all;
    }
    s->gone[n] = all;
    if (all)
        edit_drop(s->e, n);
    s->again++;
}

/* An axis of two or more positions, or the rank. */
static uint32_t draw_axis(struct script *s, const struct tensor *t)
{
    for (int i = 0; i < TRIES && t->rank > 0; i++) {
        uint32_t axis = rng_below(&s->r, t->rank);
        if (s->m->ints[t->dim + axis] >= 2)
            return axis;
    }
    return t->rank;
}

/* Whether the value is read by an operator whose sums ONNX Runtime computes in another order where a matrix is no
 * weight any more (it packs weights), or that asks for a weight. */
static bool is_packed(const struct module *m, vid v)
{
    static const char *const op[] = {"MatMul", "Gemm", "Conv", "ConvTranspose",
                                     "Einsum", "LSTM", "GRU",  "RNN"};
    for (nid n = 1; n < m->nnode; n++)
        for (uint32_t i = 0; i < m->node[n].nformal; i++) {
            bool packs = m->node[n].domain != 0;
            for (size_t k = 0; k < sizeof op / sizeof *op; k++)
                packs = packs || strcmp(node_op(m, n), op[k]) == 0;
            if (packs && node_in(m, n, i) == v)
                return true;
        }
    return false;
}

/* A weight is read from slices of it: two joined by Concat, or its two halves in exchange, exchanged again. */
static void slice_weight(struct script *s)
{
    struct module *m = s->m;
    vid v = 1 + rng_below(&s->r, s->most_value - 1);
    const struct tensor t = m->tensor[m->value[v].tensor];
    uint32_t axis = draw_axis(s, &t);
    if ((m->value[v].flags & (VALUE_INIT | VALUE_INPUT | VALUE_LOST)) != VALUE_INIT ||
        !tensor_has_bytes(&t) || axis == t.rank || elem_bits((enum elem)t.elem) < 8 || s->opset < 4)
        return;
    const tid of = m->value[v].tensor;
    const gid g = m->value[v].graph;
    const int64_t n = m->ints[t.dim + axis], cut = 1 + (int64_t)rng_below(&s->r, (uint32_t)n - 1);
    if (rng_one_in(&s->r, 2) || is_packed(m, v)) {
        tid turned = edit_slice(s->e, of, axis, (int64_t[]){cut, n, 0, cut}, 2);
        tid back = edit_slice(s->e, turned, axis, (int64_t[]){n - cut, n, 0, n - cut}, 2);
        edit_replace(s->e, v, edit_weight(s->e, g, "turned", back));
    } else {
        vid a = edit_weight(s->e, g, "left", edit_slice(s->e, of, axis, (int64_t[]){0, cut}, 1));
        vid b = edit_weight(s->e, g, "right", edit_slice(s->e, of, axis, (int64_t[]){cut, n}, 1));
        nid k = edit_add(s->e, g, "Concat");
        edit_operands(s->e, k, (vid[]){a, b}, 2);
        edit_set_int(s->e, k, "axis", axis);
        edit_replace(s->e, v, edit_result(s->e, k, NULL, v));
    }
    s->slice++;
}

static void rename_all(struct script *s)
{
    for (nid n = 1; n < s->m->nnode; n++)
        if (n >= s->most || s->gone[n] == 0)
            edit_name_node(s->e, n, "node");
    for (vid v = 1; v < s->m->nval;
         v++) /* com.microsoft::BeamSearch wants inputs of bodies under their names */
        if (s->m->value[v].name != 0 && (s->m->value[v].flags & (VALUE_INPUT | VALUE_OUTPUT)) == 0)
            edit_name_value(s->e, v, "value");
}

/* ---- moving: the only step of its edit --------------------------------------------------------- */

/* Whether a node can run where nothing of its body has run. */
static bool is_free(const struct module *m, nid n)
{
    static const char *const op[] = {"Constant", "Identity",  "Add",   "Mul", "Sub",
                                     "Cast",     "Unsqueeze", "Shape", "Relu"};
    bool known = false;
    for (size_t i = 0; i < sizeof op / sizeof *op; i++)
        known = known || node_is(m, n, op[i]);
    for (uint32_t i = 0; i < m->node[n].in.n; i++)
        known = known &&
                (node_in(m, n, i) == 0 || m->value[node_in(m, n, i)].graph != m->node[n].graph);
    for (uint32_t i = 0; i < m->node[n].out.n; i++)
        known = known &&
                (node_out(m, n, i) == 0 || (m->value[node_out(m, n, i)].flags & VALUE_OUTPUT) == 0);
    return known;
}

/* The one body of which nodes read results of n, and no others; 0: there is none. */
static gid only_reader(const struct module *m, nid n)
{
    gid found = 0;
    for (nid k = 1; k < m->nnode; k++)
        for (uint32_t i = 0; i < m->node[k].nformal; i++) {
            vid v = m->arg[m->node[k].in.at + i];
            if (v == 0 || m->value[v].def != n)
                continue;
            if (m->node[k].graph == m->node[n].graph || (found != 0 && found != m->node[k].graph))
                return 0;
            found = m->node[k].graph;
        }
    for (gid g = 1; g < m->ngraph; g++)
        for (uint32_t i = 0; i < m->graph[g].out.n; i++)
            if (m->value[m->arg[m->graph[g].out.at + i]].def == n)
                return 0;
    return found;
}

static void move_one(struct script *s)
{
    struct module *m = s->m;
    for (int i = 0; i < TRIES && m->ngraph > 2; i++) {
        nid n = draw_node(s);
        gid g = n != 0 ? m->node[n].graph : 0, to = 0;
        if (g > 1 && is_free(m, n))
            to = m->node[m->graph[g].owner].graph;
        else if (n != 0 && !is_random(m, n) && is_plain(s, n))
            to = only_reader(m, n);
        if (to == 0)
            continue;
        edit_move(s->e, n, to);
        s->move++;
        return;
    }
}

/* ---- the script -------------------------------------------------------------------------------- */

static void run_steps(struct script *s)
{
    for (uint32_t k = 1 + rng_below(&s->r, STEPS); k > 0; k--) {
        nid n = draw_node(s);
        uint32_t what = rng_below(&s->r, 10);
        if (n == 0)
            return;
        if (what < 2)
            insert_behind(s, n);
        else if (what < 4)
            insert_before(s, n);
        else if (what < 6)
            duplicate(s, n);
        else if (what < 8)
            drop_and_add(s, n);
        else
            slice_weight(s);
    }
    if (rng_one_in(&s->r, 4))
        rename_all(s);
}

static int run(struct ctx *x, const void *options)
{
    const struct script_options *o = options;
    struct module *m = x->scene.m;
    struct script s = {.r = rng_seed((uint64_t)o->seed), .m = m, .opset = module_opset(m, 0)};
    for (int64_t k = 0; k < o->edits; k++) {
        s.e = edit_begin(m, x->use.scratch);
        s.most = m->nnode;
        s.most_value = m->nval;
        s.gone = arena_alloc(x->use.scratch, m->nnode);
        if (s.opset < 0)
            edit_import(s.e, NULL, s.opset = 8);
        if (rng_one_in(&s.r, 3))
            move_one(&s);
        else
            run_steps(&s);
        if (rng_one_in(&s.r, 3))
            edit_sweep(s.e);
        edit_end(s.e);
        if (module_verify(m, x->use.diag))
            return diag_error(x->use.diag, "edit-script: edit %lld breaks the module",
                              (long long)k);
    }
    diag_note(x->use.diag,
              "edit-script: %u identities, %u copies, %u added again, %u of slices, %u moved",
              s.identity, s.copy, s.again, s.slice, s.move);
    return 0;
}

const struct pass pass_edit_script = {.name = "edit-script",
                                      .help = "random edits that change no result",
                                      .opts = script_opts,
                                      .optsize = sizeof(struct script_options),
                                      .needs = NEED_SHAPES,
                                      .rewrites = true,
                                      .run = run};
