/* The editing interface: scripts of random edits that change nothing of what a module computes, on random modules with
 * bodies, lost values and all that is kept by node; planted faults; slices of weights.
 *
 * What a module computes is told by a hash of every output: of the operators, attributes and constants that lead to it,
 * where an Identity is what it is given.  Names of nodes and values do not matter, but those of the main graph's inputs
 * and outputs, which must stay. */
#include "ir/model/edit.h"
#include "tests/support/random_module.h"
#include "tests/support/sink.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

/* ---- what a module computes ------------------------------------------------------------------- */

static uint64_t mix(uint64_t h, uint64_t x)
{
    h ^= x + UINT64_C(0x9e3779b97f4a7c15) + (h << 6) + (h >> 2);
    h *= UINT64_C(0xff51afd7ed558ccd);
    return h ^ (h >> 31);
}

static uint64_t mix_text(uint64_t h, const struct module *m, sid s)
{
    size_t n = str_size(m, s);
    for (size_t i = 0; i < n; i++)
        h = mix(h, (unsigned char)module_str(m, s)[i]);
    return mix(h, n);
}

static uint64_t hash_tensor(const struct module *m, tid t)
{
    const struct tensor *x = &m->tensor[t];
    uint64_t h = mix(mix(mix(1, x->elem), x->where), x->len);
    for (uint32_t i = 0; i < x->rank; i++)
        h = mix(h, (uint64_t)m->ints[x->dim + i]);
    for (uint64_t i = 0; x->where == TENSOR_INLINE && i < x->len; i++)
        h = mix(h, ((const unsigned char *)x->data)[i]);
    for (int k = 0; k < 2; k++)
        h = mix(h, x->of[k] != 0 ? hash_tensor(m, x->of[k]) : 0);
    return mix(mix(h, x->file), x->off);
}

static uint64_t hash_graph(const struct module *m, gid g, uint64_t *value);

static uint64_t hash_attr(const struct module *m, const struct attr *a, uint64_t *value)
{
    uint64_t h = mix(mix_text(7, m, a->name), a->kind);
    if (a->ref != 0)
        return mix_text(h, m, a->ref);
    if (a->kind == ATTR_INT)
        h = mix(h, (uint64_t)a->u.i);
    if (a->kind == ATTR_STRING)
        h = mix_text(h, m, a->u.s);
    if (a->kind == ATTR_TENSOR || a->kind == ATTR_SPARSE)
        h = mix(h, hash_tensor(m, a->u.t));
    if (a->kind == ATTR_GRAPH)
        h = mix(h, hash_graph(m, a->u.g, value));
    for (uint32_t i = 0; a->kind == ATTR_GRAPHS && i < a->u.list.n; i++)
        h = mix(h, hash_graph(m, m->refs[a->u.list.at + i], value));
    for (uint32_t i = 0; a->kind == ATTR_INTS && i < a->u.list.n; i++)
        h = mix(h, (uint64_t)m->ints[a->u.list.at + i]);
    return h;
}

static void hash_node(const struct module *m, nid n, uint64_t *value)
{
    const struct node *x = &m->node[n];
    uint64_t h = mix_text(mix_text(mix_text(3, m, x->op), m, x->domain), m, x->overload);
    for (uint32_t i = 0; i < x->nformal; i++)
        h = mix(h, value[m->arg[x->in.at + i]]);
    for (uint32_t i = 0; i < x->attr.n; i++)
        h = mix(h, hash_attr(m, &m->attr[x->attr.at + i], value));
    for (uint32_t i = 0; i < x->out.n; i++)
        value[m->arg[x->out.at + i]] =
            node_is(m, n, "Identity") ? value[node_in(m, n, 0)] : mix(h, i + 1);
    value[0] = 0;
}

static uint64_t hash_graph(const struct module *m, gid g, uint64_t *value)
{
    const struct graph *x = &m->graph[g];
    uint64_t h = 5;
    for (uint32_t i = 0; i < x->init.n; i++)
        value[m->arg[x->init.at + i]] = hash_tensor(m, m->value[m->arg[x->init.at + i]].tensor);
    for (uint32_t i = 0; i < x->in.n; i++)
        value[m->arg[x->in.at + i]] = mix(mix(11, g == 1), i);
    for (nid n = x->first; n < x->first + x->count; n++)
        hash_node(m, n, value);
    for (uint32_t i = 0; i < x->out.n; i++)
        h = mix(h, value[m->arg[x->out.at + i]]);
    for (uint32_t i = 0; g == 1 && i < x->in.n; i++)
        h = mix_text(h, m, m->value[m->arg[x->in.at + i]].name);
    for (uint32_t i = 0; g == 1 && i < x->out.n; i++)
        h = mix_text(h, m, m->value[m->arg[x->out.at + i]].name);
    return h;
}

static uint64_t hash_module(const struct module *m)
{
    uint64_t *value = calloc(m->nval, sizeof *value), h = hash_graph(m, 1, value);
    free(value);
    return h;
}

/* ---- scripts ---------------------------------------------------------------------------------- */

struct script {
    struct rng r;
    struct module *m;
    struct edit *e;
    struct arena *a;
    uint32_t identities;
};

/* A node of before the edit that has not been dropped, 0: none was found. */
static nid any_node(struct script *s, nid most, const bool *gone)
{
    for (int i = 0; i < 8 && most > 1; i++) {
        nid n = 1 + rng_below(&s->r, most - 1);
        if (!gone[n])
            return n;
    }
    return 0;
}

static void insert_identity(struct script *s, nid n)
{
    struct module *m = s->m;
    const struct slice out = m->node[n].out;
    for (uint32_t i = 0; i < out.n; i++) {
        vid v = m->arg[out.at + i];
        if (v == 0 || (m->value[v].flags & VALUE_LOST) != 0 || rng_one_in(&s->r, 3))
            continue;
        nid k = rng_one_in(&s->r, 2) ? edit_after(s->e, n, "Identity")
                                     : edit_add(s->e, m->node[n].graph, "Identity");
        edit_operands(s->e, k, &v, 1);
        edit_made_from(s->e, k, n);
        vid r = edit_result(s->e, k, NULL, v);
        edit_replace(s->e, v, r);
        s->identities++;
    }
}

/* Some operands of n are read through an Identity of their own. */
static void split_read(struct script *s, nid n)
{
    uint32_t count = edit_nin(s->e, n), i = count > 0 ? rng_below(&s->r, count) : 0;
    vid v = edit_in(s->e, n, i);
    if (v == 0)
        return;
    nid k = edit_before(s->e, n, "Identity");
    edit_operands(s->e, k, &v, 1);
    edit_set_operand(s->e, n, i, edit_result(s->e, k, "read", v));
    s->identities++;
}

/* All results of n from a copy; n goes, or stays beside it. */
static void replace_by_copy(struct script *s, nid n, bool *gone)
{
    struct module *m = s->m;
    nid k = edit_copy(s->e, n);
    bool all = true;
    for (uint32_t i = 0; i < m->node[n].out.n; i++) {
        vid v = m->arg[m->node[n].out.at + i], w = m->arg[m->node[k].out.at + i];
        if (v != 0 && (m->value[v].flags & VALUE_LOST) == 0)
            all = edit_replace(s->e, v, w) && all;
    }
    gone[n] = all && rng_one_in(&s->r, 2);
    if (gone[n])
        edit_drop(s->e, n);
}

static void rename_all(struct script *s, const bool *gone)
{
    for (nid n = 1; n < s->m->nnode; n++)
        if (n >= s->m->nnode || !gone[n])
            edit_name_node(s->e, n, "node");
    for (vid v = 1; v < s->m->nval; v++)
        if (s->m->value[v].name != 0)
            edit_name_value(s->e, v, "value");
}

/* One edit of some steps. */
static void run_script(struct script *s)
{
    nid most = s->m->nnode;
    bool *gone = arena_array(s->a, (size_t)most + 64 * 64, sizeof *gone);
    s->e = edit_begin(s->m, s->a);
    for (uint32_t k = rng_below(&s->r, 12); k > 0; k--) {
        nid n = any_node(s, most, gone);
        uint32_t what = rng_below(&s->r, 8);
        if (n == 0)
            break;
        if (what < 3)
            insert_identity(s, n);
        else if (what < 5)
            split_read(s, n);
        else if (what < 7 && s->m->nnode < 2000)
            replace_by_copy(s, n, gone);
    }
    if (rng_one_in(&s->r, 4) && s->m->nnode < most + 64 * 64)
        rename_all(s, gone);
    if (rng_one_in(&s->r, 3))
        edit_sweep(s->e);
    edit_end(s->e);
}

/* Each node says its layer, which is that of whom it was made from: a hash of operator and first attribute. */
static uint32_t layer_of(const struct module *m, nid n)
{
    return (uint32_t)mix_text(m->node[n].attr.n, m, m->node[n].op) | 1;
}

static void mark_layers(struct module *m)
{
    m->layer = arena_array(m->mem, m->nnode, sizeof *m->layer);
    for (nid n = 1; n < m->nnode; n++)
        m->layer[n] = layer_of(m, n);
}

/* Nodes whose layer is not theirs; an Identity between has any, or none. */
static uint32_t count_strays(const struct module *m)
{
    uint32_t strays = 0;
    for (nid n = 1; n < m->nnode; n++)
        strays += !node_is(m, n, "Identity") && m->layer[n] != layer_of(m, n);
    return strays;
}

static uint32_t identities_of(const struct module *m)
{
    uint32_t n = 0;
    for (nid k = 1; k < m->nnode; k++)
        n += node_is(m, k, "Identity");
    return n;
}

static void random_scripts(void **state)
{
    uint32_t edits = 0, identities = 0;
    (void)state;
    for (uint64_t seed = 0; seed < 2000; seed++) {
        struct sink sink;
        struct diag d = diag_of(&sink);
        struct module *m = random_module(seed, 1 + (uint32_t)(seed % 17), seed % 2 ? 2 : 0, &d);
        struct script s = {.r = rng_seed(seed + 77), .m = m};
        mark_layers(m);
        uint64_t before = hash_module(m);
        for (int k = 0; k < 3; k++) {
            s.a = arena_new(m->mem);
            run_script(&s);
            arena_free(s.a);
            edits++;
            if (module_verify(m, &d) != 0 || hash_module(m) != before || count_strays(m) != 0)
                fail_msg("seed %llu, edit %d: %s (%u strays)", (unsigned long long)seed, k,
                         sink.n > 0 ? sink.last[0] : "computes something else", count_strays(m));
        }
        identities += identities_of(m);
        arena_free(m->mem);
    }
    assert_in_range(identities, 2000, 1000000);
    assert_int_equal(edits, 6000);
}

/* ---- a small module --------------------------------------------------------------------------- */

/* x -> a = A(x) -> b = B(a) -> output "y"; weight w of [4, 6] read by B. */
static struct module *chain(struct diag *d, nid *a, nid *b)
{
    static const unsigned char bytes[24 * 4];
    struct module *m = module_new(NULL, d);
    gid g = module_add_graph(m);
    m->ir_version = 10;
    module_add_opset(m, 0, 20);
    m->graph[g].name = str_id(m, "main");
    m->graph[g].first = 1;
    struct edit *e = edit_begin(m, m->mem);
    struct dim two = {.value = 2};
    vid x = edit_input(e, g, "x", module_add_tensor_type(m, ELEM_F32, 1, &two));
    vid w =
        edit_weight(e, g, "w", edit_tensor(e, ELEM_F32, (int64_t[]){4, 6}, 2, bytes, sizeof bytes));
    *a = edit_add(e, g, "A");
    edit_operands(e, *a, &x, 1);
    edit_set_int(e, *a, "axis", 3);
    vid v = edit_result(e, *a, "v", x);
    *b = edit_add(e, g, "B");
    edit_operands(e, *b, (vid[]){v, w}, 2);
    vid y = edit_result(e, *b, "y", x);
    edit_output(e, g, y);
    const nid *now = edit_end(e);
    *a = now[*a];
    *b = now[*b];
    assert_int_equal(module_verify(m, d), 0);
    return m;
}

static vid named(const struct module *m, const char *name)
{
    for (vid v = 1; v < m->nval; v++)
        if (strcmp(value_name(m, v), name) == 0)
            return v;
    return 0;
}

static void attributes_change(void **state)
{
    struct sink sink;
    struct diag d = diag_of(&sink);
    nid a, b;
    (void)state;
    struct module *m = chain(&d, &a, &b);
    struct edit *e = edit_begin(m, m->mem);
    edit_set_string(e, a, "mode", "first");
    edit_set_string(e, a, "mode", "second"); /* in the other's place */
    edit_set_string(e, b, "mode", "third");
    edit_drop_attr(e, a, "axis");
    edit_drop_attr(e, b, "axis"); /* which it has not */
    const nid *now = edit_end(e);
    a = now[a], b = now[b];
    assert_int_equal(module_verify(m, &d), 0);
    assert_int_equal(m->node[a].attr.n, 1);
    assert_int_equal(m->node[b].attr.n, 1);
    assert_null(node_attr(m, a, "axis"));
    assert_int_equal(node_attr(m, a, "mode")->kind, ATTR_STRING);
    assert_string_equal(node_attr_str(m, a, "mode", ""), "second");
    assert_string_equal(node_attr_str(m, b, "mode", ""), "third");
    arena_free(m->mem);
}

static void outputs_keep_names(void **state)
{
    struct sink sink;
    struct diag d = diag_of(&sink);
    nid a, b;
    (void)state;
    struct module *m = chain(&d, &a, &b);
    struct edit *e = edit_begin(m, m->mem);
    vid y = named(m, "y");
    nid r = edit_after(e, b, "Relu");
    edit_operands(e, r, &y, 1);
    vid z = edit_result(e, r, "z", y);
    assert_true(edit_replace(e, y, z));
    assert_string_equal(value_name(m, z), "y");
    assert_string_equal(value_name(m, y), "y_1");
    assert_false(edit_replace(e, z, named(m, "x"))); /* an input keeps its own name */
    assert_false(edit_replace(e, z, named(m, "w")));
    edit_end(e);
    assert_int_equal(module_verify(m, &d), 0);
    assert_int_equal(m->arg[m->graph[1].out.at], z);
    assert_int_equal(m->graph[1].out.n, 1);
    assert_string_equal(node_op(m, 3), "Relu");
    assert_string_equal(node_name(m, 3), "Relu");
    assert_int_equal(node_in(m, 3, 0), y);
    arena_free(m->mem);
}

/* An output that is added counts from then on: what replaced the value before does not stand for it.  Values that
 * replace each other in turn end with the last one. */
static void inputs_and_outputs_go(void **state)
{
    struct diag d = diag_silent();
    nid a, b;
    (void)state;
    struct module *m = chain(&d, &a, &b);
    struct edit *e = edit_begin(m, m->mem);
    vid x = m->arg[m->graph[1].in.at], y = named(m, "y"), middle = node_out(m, a, 0);
    vid w = edit_input(e, 1, "w", m->value[x].type);
    edit_set_operand(e, a, 0, w);
    edit_output(e, 1, middle);
    edit_withdraw(e, x), edit_withdraw(e, y);
    edit_drop(e, b);
    edit_end(e);
    assert_true(module_verify(m, &d) == 0 && m->graph[1].in.n == 1 &&
                m->arg[m->graph[1].in.at] == w);
    assert_true(m->graph[1].out.n == 1 && m->arg[m->graph[1].out.at] == middle);
    assert_true(m->value[x].flags == VALUE_LOST && m->value[y].flags == VALUE_LOST);
    arena_free(m->mem);
}

static void outputs_have_their_time(void **state)
{
    struct sink sink;
    struct diag d = diag_of(&sink);
    nid a, b;
    (void)state;
    struct module *m = chain(&d, &a, &b);
    struct edit *e = edit_begin(m, m->mem);
    vid y = named(m, "y"), z;
    nid r = edit_after(e, b, "Relu"), s = edit_after(e, r, "Neg");
    z = edit_result(e, r, "z", y);
    assert_true(edit_replace(e, y, z));
    edit_operands(e, r, &y, 1);
    edit_output(e, 1, y); /* as it is, beside what stands for it */
    edit_operands(e, s, &z, 1);
    vid w = edit_result(e, s, "w", y);
    assert_true(edit_replace(e, z, w));
    edit_operands(e, s, &z, 1);
    assert_true(edit_replace(e, w, z)); /* back again */
    assert_true(edit_replace(e, z, w));
    edit_operands(e, s, &z, 1);
    edit_end(e);
    assert_int_equal(module_verify(m, &d), 0);
    assert_int_equal(m->graph[1].out.n, 2);
    assert_int_equal(m->arg[m->graph[1].out.at], w);
    assert_int_equal(m->arg[m->graph[1].out.at + 1], y);
    assert_string_equal(value_name(m, w), "y");
    arena_free(m->mem);
}

/* If(x) { Relu(v) } else { v }: node k, with the names "in" and "out" of what the first body reads and returns. */
static nid add_choice(struct edit *e, vid x, vid v)
{
    nid k = edit_add(e, 1, "If");
    gid yes = edit_set_body(e, k, "then_branch"), no = edit_set_body(e, k, "else_branch");
    edit_operands(e, k, &x, 1);
    nid r = edit_add(e, yes, "Relu");
    edit_operands(e, r, &v, 1);
    edit_output(e, yes, edit_result(e, r, "out", v));
    edit_output(e, no, v);
    edit_result(e, k, "chosen", v);
    return k;
}

/* What only the bodies of a node read goes with it, also where a body returns it as it is. */
static void bodies_are_swept(void **state)
{
    struct sink sink;
    struct diag d = diag_of(&sink);
    nid a, b;
    (void)state;
    struct module *m = chain(&d, &a, &b);
    vid x = named(m, "x"), v = named(m, "v");
    struct edit *e = edit_begin(m, m->mem);
    nid k = add_choice(e, x, v);
    vid chosen = m->arg[m->node[k].out.at];
    edit_set_operand(e, b, 0, chosen);
    const nid *now = edit_end(e);
    k = now[k];
    b = now[b];
    assert_int_equal(module_verify(m, &d), 0);
    assert_int_equal(m->node[k].in.n, 2); /* x, and v for its bodies */
    e = edit_begin(m, m->mem);
    edit_set_operand(e, b, 0, x);
    edit_sweep(e);
    edit_end(e);
    assert_int_equal(module_verify(m, &d), 0);
    assert_int_equal(m->nnode, 2); /* B alone: If, what is in it, and A are gone */
    assert_int_equal(m->ngraph, 2);
    arena_free(m->mem);
    m = chain(&d, &a, &b); /* the same where the node is dropped, not forsaken */
    x = named(m, "x");
    e = edit_begin(m, m->mem);
    k = add_choice(e, x, named(m, "v"));
    edit_set_operand(e, b, 0, x);
    edit_drop(e, k);
    edit_sweep(e);
    edit_end(e);
    assert_int_equal(module_verify(m, &d), 0);
    assert_int_equal(m->nnode, 2);
    arena_free(m->mem);
}

/* Names of what bodies take and return are theirs; all others are new. */
static void copies_of_bodies(void **state)
{
    struct sink sink;
    struct diag d = diag_of(&sink);
    nid a, b;
    (void)state;
    struct module *m = chain(&d, &a, &b);
    vid x = named(m, "x"), v = named(m, "v");
    struct edit *e = edit_begin(m, m->mem);
    nid k = add_choice(e, x, v);
    nid c = edit_copy(e, edit_copy(e, k));
    edit_output(e, 1, m->arg[m->node[k].out.at]);
    edit_output(e, 1, m->arg[m->node[c].out.at]);
    const nid *now = edit_end(e);
    assert_int_equal(module_verify(m, &d), 0);
    const struct attr *yes = node_attr(m, now[c], "then_branch"),
                      *no = node_attr(m, now[c], "else_branch");
    assert_string_equal(value_name(m, m->arg[m->graph[yes->u.g].out.at]), "out");
    assert_int_equal(m->arg[m->graph[no->u.g].out.at], v);
    assert_string_equal(value_name(m, node_out(m, now[c], 0)), "chosen_2");
    assert_string_equal(node_name(m, now[k]), "If");
    assert_string_equal(node_name(m, now[c]), "If_2");
    arena_free(m->mem);
}

/* Strings, a sparse weight, documentation, metadata, omitted results. */
static void what_else_is_made(void **state)
{
    struct sink sink;
    struct diag d = diag_of(&sink);
    nid a, b;
    (void)state;
    struct module *m = chain(&d, &a, &b);
    struct edit *e = edit_begin(m, m->mem);
    sid s[] = {str_id(m, "one"), str_id_n(m, "\0", 1)};
    vid text = edit_weight(e, 1, "text", edit_strings(e, (int64_t[]){2}, 1, s));
    tid values = edit_tensor(e, ELEM_F32, (int64_t[]){1}, 1, "1234", 4);
    tid places = edit_tensor(e, ELEM_I64, (int64_t[]){1}, 1, "12345678", 8);
    tid sparse = edit_sparse(e, (int64_t[]){9}, 1, values, places);
    vid one = edit_weight(e, 1, "sparse", sparse), two = edit_weight(e, 1, "sparse", sparse);
    nid n = edit_add(e, 1, "Reader");
    edit_operands(e, n, (vid[]){text, one, two}, 3);
    edit_result(e, n, "first", text);
    edit_omit_result(e, n);
    edit_output(e, 1, edit_result(e, n, "third", text));
    edit_set_doc(e, n, "why");
    edit_set_meta(e, n, "k", "1");
    edit_set_meta(e, n, "l", "2");
    edit_set_meta(e, n, "k", "3");
    edit_set_meta(e, b, "k", "4");
    n = edit_end(e)[n];
    assert_int_equal(module_verify(m, &d), 0);
    assert_int_equal(m->node[n].out.n, 3);
    assert_int_equal(node_out(m, n, 1), 0);
    assert_int_equal(m->value[node_out(m, n, 2)].outno, 2);
    const struct about *x = &m->about[m->node[n].about];
    assert_string_equal(module_str(m, x->doc), "why");
    assert_int_equal(x->meta.n, 4);
    assert_string_equal(module_str(m, m->sids[x->meta.at + 1]), "3");
    assert_string_equal(module_str(m, m->tensor[m->tensor[m->value[one].tensor].of[0]].name),
                        "sparse");
    assert_string_equal(module_str(m, m->tensor[m->tensor[m->value[two].tensor].of[0]].name),
                        "sparse_1");
    arena_free(m->mem);
}

/* A node that is added at the beginning of the list and reads what the last one makes comes behind it. */
static void order_is_found(void **state)
{
    struct sink sink;
    struct diag d = diag_of(&sink);
    nid a, b;
    (void)state;
    struct module *m = chain(&d, &a, &b);
    struct edit *e = edit_begin(m, m->mem);
    nid r = edit_before(e, a, "Relu"), s = edit_before(e, r, "Neg");
    vid v = named(m, "v"), rv, x = named(m, "x");
    edit_operands(e, r, &v, 1);
    rv = edit_result(e, r, NULL, v);
    edit_set_operand(e, b, 0, rv);
    edit_operands(e, s, &x, 1);
    edit_result(e, s, NULL, x);
    const nid *now = edit_end(e);
    assert_int_equal(module_verify(m, &d), 0);
    assert_int_equal(now[s], 1);
    assert_int_equal(now[a], 2);
    assert_int_equal(now[r], 3);
    assert_int_equal(now[b], 4);
    assert_int_equal(node_in(m, 4, 0), rv);
    arena_free(m->mem);
}

/* Nodes that are ready keep the order of the list; who reads a value reads what has replaced it last, also where
 * that was asked for between replacements. */
static void order_of_the_list(void **state)
{
    enum { MANY = 5 };
    struct sink sink;
    struct diag d = diag_of(&sink);
    nid a, b, r[MANY];
    (void)state;
    struct module *m = chain(&d, &a, &b);
    vid y = named(m, "y"), v = named(m, "v"), w;
    struct edit *e = edit_begin(m, m->mem);
    for (int i = 0; i < MANY; i++) {
        r[i] = edit_before(e, a, "Reader");
        edit_operands(e, r[i], &y, 1);
        edit_output(e, 1, edit_result(e, r[i], NULL, y));
    }
    for (int i = 0; i < MANY; i++) {
        nid k = edit_add(e, 1, "Identity");
        edit_operands(e, k, &v, 1);
        w = edit_result(e, k, NULL, v);
        assert_true(edit_replace(e, v, w));
        assert_int_equal(edit_in(e, b, 0), w);
        v = w;
    }
    const nid *now = edit_end(e);
    assert_int_equal(module_verify(m, &d), 0);
    assert_int_equal(now[a], 1);
    assert_int_equal(node_in(m, now[b], 0), v);
    for (int i = 0; i < MANY; i++)
        assert_int_equal(now[r[i]], now[b] + 1 + (nid)i);
    arena_free(m->mem);
}

/* Names are new in functions and bodies, too; a weight's tensor is named as its value. */
static void names_are_new(void **state)
{
    struct sink sink;
    struct diag d = diag_of(&sink);
    nid a, b;
    (void)state;
    struct module *m = chain(&d, &a, &b);
    uint32_t made = module_add_function(m);
    struct module *f = m->function[made].body;
    vid inner = module_add_value(f);
    nid k = module_add_node(f);
    f->value[inner].name = str_id(f, "inside");
    f->node[k].name = str_id(f, "INSIDE");
    struct edit *e = edit_begin(m, m->mem);
    vid w = named(m, "w");
    edit_name_value(e, w, "inside");
    edit_name_node(e, b, "INSIDE");
    edit_name_value(e, named(m, "v"), "inside_1");
    assert_string_equal(value_name(m, w), "inside_1");
    assert_string_equal(node_name(m, b), "INSIDE_1");
    assert_int_equal(m->tensor[m->value[w].tensor].name, m->value[w].name);
    assert_string_equal(module_str(m, m->value[w].was), "w");
    assert_int_not_equal(named(m, "inside_2"), 0);
    arena_free(m->mem);
}

static void expect(struct module *m, struct diag *d, struct sink *s, const char *said)
{
    *d = diag_of(s);
    m->diag = d;
    assert_int_equal(module_verify(m, d), -1);
    for (uint32_t i = 0; i < s->n && i < 8; i++)
        if (strstr(s->last[i], said) != NULL)
            return;
    fail_msg("'%s' is not said, but '%s'", said, s->n > 0 ? s->last[0] : "");
}

/* Edits that leave no module: each is found, with the name of who is concerned. */
static void faults_are_found(void **state)
{
    (void)state;
    for (int k = 0; k < 8; k++) {
        struct sink sink;
        struct diag d = diag_of(&sink);
        nid a, b;
        struct module *m = chain(&d, &a, &b);
        vid v = named(m, "v"), y = named(m, "y"), w = named(m, "w");
        const char *said = NULL;
        struct edit *e = k < 5 ? edit_begin(m, m->mem) : NULL;
        if (k == 0) { /* a circle */
            edit_set_operand(e, a, 0, y);
            said = "'A' (node 1) reads value 'y' of node 2, which comes later";
        } else if (k == 1) { /* what is dropped is read */
            edit_drop(e, a);
            said = "'B' reads 'v', which no node makes";
        } else if (k == 2) { /* beyond the weight */
            tid t = edit_slice(e, m->value[w].tensor, 1, (int64_t[]){4, 8}, 1);
            edit_set_operand(e, b, 1, edit_weight(e, 1, "piece", t));
            said =
                "'piece': the ranges of its slice of tensor 1 'w' do not lie within the 6 of axis 1";
        } else if (k == 3) { /* no such axis */
            tid t = edit_slice(e, m->value[w].tensor, 2, (int64_t[]){0, 1}, 1);
            edit_set_operand(e, b, 1, edit_weight(e, 1, "piece", t));
            said = "'piece': it cannot be a slice of tensor 1 'w' along axis 2";
        } else if (k == 4) { /* an attribute of no kind */
            edit_set_attr(e, b, (struct attr){.name = str_id(m, "group_size")});
            said = "'B': attribute 'group_size' has neither kind nor value";
        } else if (k == 5) { /* a stale user */
            m->arg[m->node[b].in.at] = y;
            said = "reads value 'y' of node 2, which comes later";
        } else if (k == 6) { /* a wrong order */
            struct node n = m->node[a];
            m->node[a] = m->node[b];
            m->node[b] = n;
            said = "is not result 0 of node";
        } else { /* a name that two have */
            m->value[v].name = m->value[y].name;
            said = "are both called 'y'";
        }
        if (e != NULL)
            edit_end(e);
        expect(m, &d, &sink, said);
        arena_free(m->mem);
    }
}

/* A side table that is not moved along is noticed by the scripts' check. */
static void lost_table_is_noticed(void **state)
{
    struct sink sink;
    struct diag d = diag_of(&sink);
    nid a, b;
    (void)state;
    struct module *m = chain(&d, &a, &b);
    mark_layers(m);
    struct edit *e = edit_begin(m, m->mem);
    uint32_t *old = m->layer;
    vid x = named(m, "x");
    nid n = edit_before(e, a, "Neg");
    edit_operands(e, n, &x, 1);
    edit_set_operand(e, a, 0, edit_result(e, n, NULL, x));
    edit_end(e);
    assert_int_equal(count_strays(m), 1); /* Neg has no layer */
    m->layer = old;
    m->layer = memcpy(arena_array(m->mem, 8, sizeof *old), old, 3 * sizeof *old);
    assert_in_range(count_strays(m), 2, 3);
    arena_free(m->mem);
}

/* ---- side tables, names, batches --------------------------------------------------------------- */

static void costs_follow(void **state)
{
    struct sink sink;
    struct diag d = diag_of(&sink);
    nid a, b;
    (void)state;
    struct module *m = chain(&d, &a, &b);
    struct costs *k = arena_alloc(m->mem, sizeof *k);
    *k = (struct costs){.nclass = 1, .time = arena_array(m->mem, 1, sizeof *k->time)};
    k->time[0] = memcpy(arena_array(m->mem, 3, 8), (int64_t[]){0, 10, 20}, 24);
    k->flops = k->traffic = k->own = k->time[0];
    k->bytes = arena_array(m->mem, m->nval, sizeof *k->bytes);
    k->bytes[named(m, "v")] = 99;
    k->elems = k->xfer = NULL;
    m->cost = k;
    m->color = memcpy(arena_array(m->mem, 3, 4), (uint32_t[]){0, 1, 2}, 12);
    m->backward = memcpy(arena_alloc(m->mem, 3), (uint8_t[]){0, 0, 1}, 3);
    m->slot_ann = m->color;
    m->device_ann = m->color;
    m->scope = m->color;
    struct edit *e = edit_begin(m, m->mem);
    vid x = named(m, "x");
    nid first = edit_before(e, a, "Neg");
    edit_operands(e, first, &x, 1);
    edit_output(e, 1, edit_result(e, first, NULL, x));
    nid r = edit_before(e, b, "Relu"), c = edit_copy(e, b), cc = edit_copy(e, c),
        rc = edit_copy(e, r);
    vid v = named(m, "v");
    edit_operands(e, r, &v, 1);
    edit_made_from(e, r, b);
    vid rv = edit_result(e, r, NULL, v);
    edit_set_operand(e, b, 0, rv);
    const nid *now = edit_end(e);
    assert_int_equal(module_verify(m, &d), 0);
    assert_int_equal(m->cost->time[0][now[a]], 10);
    assert_int_equal(m->cost->time[0][now[r]], 0);
    assert_int_equal(m->cost->time[0][now[b]], 20);
    assert_int_equal(m->cost->flops[now[c]], 20);
    assert_int_equal(m->cost->bytes[rv], 99);
    assert_int_equal(m->cost->time[0][now[cc]], 20); /* a copy of a copy */
    assert_int_equal(m->cost->time[0][now[rc]], 0);  /* a copy of a node that was made */
    assert_int_equal(m->backward[now[cc]], 1);
    assert_string_equal(module_str(m, m->node[now[cc]].made_from), "B");
    assert_int_equal(m->color[now[first]], 0);
    assert_int_equal(m->color[now[a]], 1);
    assert_int_equal(m->slot_ann[now[c]], 2);
    assert_int_equal(m->slot_ann[now[a]], 1);
    assert_int_equal(m->device_ann[now[cc]], 2);
    assert_int_equal(m->device_ann[now[first]], 0);
    assert_int_equal(m->scope[now[r]], 2); /* that of the node that it was made from */
    assert_int_equal(m->scope[now[first]], 0);
    assert_int_equal(m->color[now[r]], 2);
    assert_int_equal(m->backward[now[c]], 1);
    assert_int_equal(m->backward[now[a]], 0);
    assert_string_equal(module_str(m, m->node[now[r]].made_from), "B");
    assert_string_equal(node_name(m, now[r]), "B/Relu");
    assert_string_equal(node_name(m, now[c]), "B_1");
    arena_free(m->mem);
}

/* A thousand edits at one value with a thousand readers: operands are looked at once. */
static void batches(void **state)
{
    enum { MANY = 20000 };
    struct sink sink;
    struct diag d = diag_of(&sink);
    nid a, b;
    (void)state;
    struct module *m = chain(&d, &a, &b);
    struct edit *e = edit_begin(m, m->mem);
    vid v = named(m, "v");
    for (int i = 0; i < MANY; i++) {
        nid n = edit_add(e, 1, "Reader");
        edit_operands(e, n, &v, 1);
        edit_output(e, 1, edit_result(e, n, "r", v));
    }
    const nid *now = edit_end(e);
    a = now[a];
    assert_int_equal(m->graph[1].out.n, MANY + 1);
    e = edit_begin(m, m->mem);
    for (int i = 0; i < MANY; i++) {
        nid n = edit_after(e, a, "Identity");
        edit_operands(e, n, &v, 1);
        vid w = edit_result(e, n, NULL, v);
        assert_true(edit_replace(e, v, w));
        v = w;
    }
    edit_end(e);
    assert_int_equal(module_verify(m, &d), 0);
    assert_int_equal(m->nnode, 2 * MANY + 3);
    for (nid n = 1; n < m->nnode; n++)
        if (node_is(m, n, "Reader"))
            assert_int_equal(node_in(m, n, 0), v);
    arena_free(m->mem);
}

/* ---- slices ----------------------------------------------------------------------------------- */

static void read_slice(const struct module *m, tid t, const unsigned char *want, size_t n)
{
    unsigned char got[400];
    assert_int_equal(m->tensor[t].len, n);
    assert_int_equal(tensor_read(m, t, 0, got, n), 0);
    assert_memory_equal(got, want, n);
    for (size_t from = 0; from < n; from++)
        for (size_t len = 0; from + len <= n; len += 1 + n / 7) {
            memset(got, 0xee, sizeof got);
            assert_int_equal(tensor_read(m, t, from, got, len), 0);
            assert_memory_equal(got, want + from, len);
        }
}

/* Slices of a tensor of 3 x 4 x 5 bytes, along each axis, and of slices. */
static void slices(void **state)
{
    struct sink sink;
    struct diag d = diag_of(&sink);
    unsigned char bytes[60], want[100];
    nid a, b;
    (void)state;
    for (int i = 0; i < 60; i++)
        bytes[i] = (unsigned char)i;
    struct module *m = chain(&d, &a, &b);
    struct edit *e = edit_begin(m, m->mem);
    tid t = edit_tensor(e, ELEM_U8, (int64_t[]){3, 4, 5}, 3, bytes, sizeof bytes);
    static const int64_t size[] = {3, 4, 5}, step[] = {20, 5, 1}, rows[] = {1, 3, 12};
    for (uint32_t axis = 0; axis < 3; axis++)
        for (int64_t from = 0; from <= size[axis]; from++)
            for (int64_t to = from; to <= size[axis]; to++) {
                const int64_t range[] = {from, to, 0, 1, 0, 0};
                size_t k = 0;
                for (int64_t row = 0; row < rows[axis]; row++)
                    for (int r = 0; r < 2; r++)
                        for (int64_t p = range[2 * r] * step[axis];
                             p < range[2 * r + 1] * step[axis]; p++)
                            want[k++] = bytes[row * size[axis] * step[axis] + p];
                read_slice(m, edit_slice(e, t, axis, range, 3), want, k);
            }
    tid last = edit_slice(e, t, 2, (int64_t[]){4, 5, 1, 2}, 2); /* columns 4 and 1 */
    for (int i = 0; i < 12; i++) {
        want[2 * i] = bytes[5 * i + 4];
        want[2 * i + 1] = bytes[5 * i + 1];
    }
    read_slice(m, last, want, 24);
    tid inner = edit_slice(e, last, 0, (int64_t[]){1, 2}, 1); /* of these, row 1 */
    read_slice(m, inner, want + 8, 8);
    tid turned = edit_slice(e, inner, 2, (int64_t[]){1, 2, 0, 1, 1, 1, 0, 2},
                            4); /* its columns 1, 0, 0, 1 */
    for (int i = 0; i < 4; i++) {
        want[4 * i] = want[4 * i + 3] = bytes[20 + 5 * i + 1];
        want[4 * i + 1] = want[4 * i + 2] = bytes[20 + 5 * i + 4];
    }
    read_slice(m, turned, want, 16);
    for (int i = 0; i < 40; i++) /* however often, it is a slice along two axes */
        turned = edit_slice(e, turned, i % 2 ? 0 : 2, (int64_t[]){0, i % 2 ? 1 : 4}, 1);
    read_slice(m, turned, want, 16);
    assert_int_equal(m->tensor[m->tensor[turned].of[0]].where, TENSOR_SLICE);
    assert_int_equal(m->tensor[m->tensor[turned].of[0]].of[0], t);
    edit_output(e, 1, edit_weight(e, 1, "inner", inner));
    edit_end(e);
    assert_int_equal(module_verify(m, &d), 0);
    arena_free(m->mem);
}

/* ---- values that become constants -------------------------------------------------------------- */

/* A value is fixed: it keeps its name, has the tensor's type, and its node goes; who read the node's operands alone
 * goes with a sweep. */
static void values_are_fixed(void **state)
{
    struct sink sink;
    struct diag d = diag_of(&sink);
    nid a, b;
    (void)state;
    struct module *m = chain(&d, &a, &b);
    vid v = named(m, "v"), w = named(m, "w");
    struct edit *e = edit_begin(m, m->mem);
    tid t = edit_tensor(e, ELEM_I64, (int64_t[]){3}, 1, (int64_t[]){7, 8, 9}, 24);
    edit_fix(e, v, t);
    edit_fix(e, named(m, "y"), m->value[w].tensor); /* another initializer's tensor */
    edit_sweep(e);
    const nid *now = edit_end(e);
    assert_int_equal(module_verify(m, &d), 0);
    assert_int_equal(now[a], 0);
    assert_int_equal(now[b], 0);
    assert_int_equal(m->nnode, 1);
    vid y = named(m, "y");
    assert_int_equal(m->graph[1].init.n, 1); /* nothing reads v and w any more */
    assert_int_equal(m->arg[m->graph[1].init.at], y);
    assert_int_equal(m->value[y].flags & (VALUE_INIT | VALUE_OUTPUT), VALUE_INIT | VALUE_OUTPUT);
    assert_string_equal(module_str(m, m->tensor[m->value[y].tensor].name), "y");
    const struct type *type = &m->type[m->value[y].type];
    assert_int_equal(type->rank, 2);
    assert_int_equal(m->dim[type->dim + 1].value, 6);
    assert_int_equal(m->value[y].flags & VALUE_RETYPED, VALUE_RETYPED);
    arena_free(m->mem);
}

/* A node with two results stays until the last one is fixed; readers in bodies capture the initializer. */
static void one_of_two_is_fixed(void **state)
{
    struct sink sink;
    struct diag d = diag_of(&sink);
    nid a, b;
    (void)state;
    struct module *m = chain(&d, &a, &b);
    struct edit *e = edit_begin(m, m->mem);
    vid v = named(m, "v"), second = edit_result(e, a, "second", v);
    nid owner = edit_add(e, 1, "If");
    gid g = edit_set_body(e, owner, "then_branch");
    nid inner = edit_add(e, g, "Neg");
    edit_operands(e, inner, (vid[]){v}, 1);
    vid r = edit_result(e, inner, "r", v);
    edit_output(e, g, r);
    edit_output(e, 1, edit_result(e, owner, "out", v));
    const nid *now = edit_end(e);
    a = now[a];
    inner = now[inner];
    owner = now[owner];
    assert_int_equal(module_verify(m, &d), 0);
    for (int k = 0; k < 2; k++) {
        e = edit_begin(m, m->mem);
        edit_fix(e, k == 0 ? v : second,
                 edit_tensor(e, ELEM_F32, (int64_t[]){2}, 1, "12345678", 8));
        if (k == 1) /* a body's output is an initializer of the body */
            edit_fix(e, r, edit_tensor(e, ELEM_F32, (int64_t[]){2}, 1, "12345678", 8));
        now = edit_end(e);
        a = now[a];
        owner = now[owner];
        assert_int_equal(module_verify(m, &d), 0);
        assert_int_equal(a != 0, k == 0);
        assert_int_equal(m->value[v].def, 0);
        assert_int_equal(m->node[owner].in.n, k == 0); /* captured */
        if (k == 0) {
            assert_int_equal(node_out(m, a, 0), 0);
            assert_int_equal(node_out(m, a, 1), second);
        }
    }
    g = m->value[r].graph;
    assert_int_equal(m->graph[g].count, 0);
    assert_int_equal(m->graph[g].init.n, 1);
    assert_int_equal(m->arg[m->graph[g].out.at], r);
    arena_free(m->mem);
}

/* Four-bit elements: only ranges of whole bytes. */
static void half_bytes(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        struct sink sink;
        struct diag d = diag_of(&sink);
        nid a, b;
        struct module *m = chain(&d, &a, &b);
        struct edit *e = edit_begin(m, m->mem);
        tid t = edit_tensor(e, ELEM_I4, (int64_t[]){2, 8}, 2, "12345678", 8);
        tid s = edit_slice(e, t, 1, (int64_t[]){2, 5 + k}, 1);
        edit_output(e, 1, edit_weight(e, 1, "s", s));
        edit_end(e);
        if (k == 0)
            expect(m, &d, &sink, "'s': a range of its slice does not begin and end with a byte");
        else {
            assert_int_equal(module_verify(m, &d), 0);
            read_slice(m, m->value[named(m, "s")].tensor, (const unsigned char *)"2367", 4);
        }
        arena_free(m->mem);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(attributes_change),
                                       cmocka_unit_test(outputs_keep_names),
                                       cmocka_unit_test(outputs_have_their_time),
                                       cmocka_unit_test(inputs_and_outputs_go),
                                       cmocka_unit_test(order_is_found),
                                       cmocka_unit_test(order_of_the_list),
                                       cmocka_unit_test(names_are_new),
                                       cmocka_unit_test(bodies_are_swept),
                                       cmocka_unit_test(copies_of_bodies),
                                       cmocka_unit_test(what_else_is_made),
                                       cmocka_unit_test(faults_are_found),
                                       cmocka_unit_test(lost_table_is_noticed),
                                       cmocka_unit_test(costs_follow),
                                       cmocka_unit_test(batches),
                                       cmocka_unit_test(slices),
                                       cmocka_unit_test(values_are_fixed),
                                       cmocka_unit_test(one_of_two_is_fixed),
                                       cmocka_unit_test(half_bytes),
                                       cmocka_unit_test(random_scripts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
