/* Operators computed in pcc: tables by hand of what they make in the corners, and of what is left alone: indices out of
 * range, divisions by zero, numbers that overflow, shapes that do not fit, attributes of another kind, tensors that
 * are too large.  (tests/program/test_fold_operators.py compares the rest with ONNX Runtime.) */
#include "ir/model/compute.h"
#include "ir/text/text.h"
#include "tests/support/sink.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

struct row {
    int64_t opset;
    const char
        *graph; /* statements of a graph; the last one is the node whose results are looked at */
    const char *want; /* its results as text, "no": they are not computed */
};

/* ---- results as text ---------------------------------------------------------------------------- */

static int print_number(char *to, size_t room, const struct known *k, int64_t i)
{
    const unsigned char *p = k->data + i * (elem_bits(k->elem) / 8);
    int64_t v = 0;
    float f;
    double d;
    if (k->mask != NULL && k->mask[i] == 0)
        return snprintf(to, room, " ?");
    switch (k->elem) {
    case ELEM_F32:
        memcpy(&f, p, sizeof f);
        return snprintf(to, room, " %.9g", (double)f);
    case ELEM_F64:
        memcpy(&d, p, sizeof d);
        return snprintf(to, room, " %.17g", d);
    case ELEM_F16:
    case ELEM_BF16:
        return snprintf(to, room, " %02x%02x", p[1], p[0]);
    default:
        memcpy(&v, p, elem_bits(k->elem) / 8);
        if (k->elem == ELEM_I8)
            v = (int8_t)v;
        if (k->elem == ELEM_I16)
            v = (int16_t)v;
        if (k->elem == ELEM_I32)
            v = (int32_t)v;
        return snprintf(to, room, " %lld", (long long)v);
    }
}

/* "i64[2] 3 ?" */
static int print_known(char *to, size_t room, const struct known *k)
{
    int n = snprintf(to, room, "%s[", elem_name(k->elem));
    for (uint32_t i = 0; i < k->rank; i++)
        n += snprintf(to + n, room - (size_t)n, "%s%lld", i > 0 ? "," : "", (long long)k->dim[i]);
    n += snprintf(to + n, room - (size_t)n, "]");
    for (int64_t i = 0; i < k->n && i < 64; i++)
        n += print_number(to + n, room - (size_t)n, k, i);
    return n;
}

/* ---- graphs --------------------------------------------------------------------------------- */

struct world {
    struct sink sink;
    struct diag d;
    struct module *m;
    struct known **known; /* [value] */
    struct computation c; /* of the last node */
};

static void read_graph(struct world *w, const struct row *r)
{
    struct text_module t;
    w->d = diag_of(&w->sink);
    char text[2000];
    snprintf(text, sizeof text, "ir_version 10\nopset ai.onnx %lld\ngraph {\n%s\n}\n",
             (long long)r->opset, r->graph);
    if (module_parse(&t, &(struct named_text){"compute", text, strlen(text), NULL}, NULL, &w->d) !=
        0)
        fail_msg("%s: %s", r->graph, w->sink.last[0]);
    w->m = t.scene.m;
    w->m->diag = &w->d;
    w->known = arena_array(w->m->mem, w->m->nval, sizeof *w->known);
}

static struct known *known_of(struct world *w, vid v)
{
    const struct value *x = &w->m->value[v];
    struct known k;
    if (w->known[v] == NULL && v != 0 &&
        (x->tensor != 0 ? known_of_tensor(w->m, x->tensor, &k, w->m->mem)
                        : known_of_type(w->m, x->type, &k, w->m->mem))) {
        w->known[v] = arena_alloc(w->m->mem, sizeof k);
        *w->known[v] = k;
    }
    return w->known[v];
}

/* Computes all nodes one after the other; whether the last one could be. */
static bool compute_all(struct world *w, int64_t most, int64_t most_read)
{
    struct module *m = w->m;
    bool good = false;
    for (nid n = 1; n < m->nnode; n++) {
        const struct node *p = &m->node[n];
        struct known **in = arena_array(m->mem, p->nformal + 1, sizeof *in);
        for (uint32_t i = 0; i < p->nformal; i++)
            in[i] = known_of(w, node_in(m, n, i));
        w->c = (struct computation){
            .m = m, .a = m->mem, .op = node_op(m, n), .attr = p->attr, .in = in};
        w->c.opset = module_opset(m, 0);
        w->c.nin = p->nformal;
        w->c.nout = p->out.n;
        w->c.out = arena_array(m->mem, p->out.n + 1, sizeof *w->c.out);
        w->c.most = most;
        w->c.most_read = most_read;
        good = compute_run(&w->c);
        for (uint32_t i = 0; i < p->out.n && good; i++)
            w->known[node_out(m, n, i)] = &w->c.out[i];
    }
    return good;
}

static void check_row(const struct row *r)
{
    struct world w;
    char got[4096] = "no";
    int n = 0;
    read_graph(&w, r);
    bool good = compute_all(&w, 1 << 20, 1 << 24);
    for (uint32_t i = 0; i < w.c.nout && good; i++) {
        n += i > 0 ? snprintf(got + n, sizeof got - (size_t)n, " | ") : 0;
        n += print_known(got + n, sizeof got - (size_t)n, &w.c.out[i]);
    }
    if (strcmp(got, r->want) != 0)
        fail_msg("opset %lld\n%s\nmakes %s\nnot   %s", (long long)r->opset, r->graph, got, r->want);
    if (w.sink.n != 0)
        fail_msg("%s: '%s'", r->graph, w.sink.last[0]);
    arena_free(w.m->mem);
}

static void check_rows(const struct row *r, size_t n)
{
    for (size_t i = 0; i < n; i++)
        check_row(&r[i]);
}

#define CHECK(table) check_rows(table, sizeof(table) / sizeof *(table))
#define I64(name, n, list) "init %" name " : i64[" n "] = [" list "]\n"
#define A123456 "init %a : i64[2,3] = [1, 2, 3, 4, 5, 6]\n"

/* ---- tables ----------------------------------------------------------------------------------- */

static void shapes(void **state)
{
    static const struct row table[] = {
        {13, "in %x : f32[b,8,64]\n%s = Shape(%x)", "i64[3] ? 8 64"},
        {15, "in %x : f32[b,8,64]\n%s = Shape(%x) {start=-2}", "i64[2] 8 64"},
        {15, "in %x : f32[b,8,64]\n%s = Shape(%x) {start=1, end=-1}", "i64[1] 8"},
        {15, "in %x : f32[b,8,64]\n%s = Shape(%x) {start=2, end=1}", "i64[0]"},
        {15, "in %x : f32[b,8,64]\n%s = Shape(%x) {start=-9, end=9}", "i64[3] ? 8 64"},
        {15,
         "in %x : f32[b,8,64]\n%s = Shape(%x) {start=-9223372036854775808, end=9223372036854775807}",
         "i64[3] ? 8 64"},
        {15, "in %x : f32[b,8,64]\n%s = Shape(%x) {start=1.0}", "no"},
        {13, "in %x : f32[]\n%s = Shape(%x)", "i64[0]"},
        {13, "in %x : f32[*]\n%s = Shape(%x)", "no"},
        {13, "in %x : str[2,3]\n%s = Shape(%x)", "i64[2] 2 3"},
        {13, "in %x : i4[2,3]\n%s = Size(%x)", "i64[] 6"},
        {13, "in %x : f32[b,3]\n%s = Size(%x)", "no"},
        {13, "in %x : f32[0,9223372036854775807,3]\n%s = Size(%x)", "i64[] 0"},
        {13, "in %x : f32[9223372036854775807,3]\n%s = Size(%x)", "no"},
        {13, "in %x : f32[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]\n%s = Shape(%x)", "no"},
        {13, "in %x : f32[b,8]\n%s = Shape(%x, %x)", "no"},
        {13, "%s = Shape(_)", "no"},
    };
    (void)state;
    CHECK(table);
}

/* Elements of shapes that are known in part, on their way. */
static void parts(void **state)
{
#define SHAPE "in %x : f32[b,8,64]\n%s = Shape(%x)\n"
    static const struct row table[] = {
        {13, SHAPE I64("k", "2", "-1, 0") "%r = Gather(%s, %k)", "i64[2] 64 ?"},
        {13, SHAPE I64("k", "1", "2") "%r = Gather(%s, %k)", "i64[1] 64"},
        {13, SHAPE I64("k", "1", "1") I64("e", "1", "3") "%r = Slice(%s, %k, %e)", "i64[2] 8 64"},
        {13, SHAPE "%r = Concat(%s, %s) {axis=0}", "i64[6] ? 8 64 ? 8 64"},
        {13, SHAPE "in %n : i64[1]\n%r = Concat(%n, %s) {axis=0}", "i64[4] ? ? 8 64"},
        {13, SHAPE "in %n : i64[65]\n%r = Concat(%n, %s) {axis=0}", "no"},
        {13, SHAPE "in %n : f32[1]\n%r = Concat(%n, %n) {axis=0}", "no"},
        {13, SHAPE I64("k", "1", "10") "%r = Mul(%s, %k)", "i64[3] ? 80 640"},
        {13, SHAPE I64("k", "3", "0, 0, 9") "%r = Div(%k, %s)", "i64[3] ? 0 0"},
        {13, SHAPE I64("k", "3", "0, 0, 9") "%r = Div(%s, %k)", "i64[3] ? ? 7"},
        {13, SHAPE I64("k", "1", "8") "%r = Equal(%s, %k)", "bool[3] ? 1 0"},
        {13, SHAPE I64("k", "1", "8") "%q = Equal(%s, %k)\n%r = Where(%q, %k, %s)",
         "i64[3] ? 8 64"},
        {13, SHAPE "%r = Cast(%s) {to=1}", "f32[3] ? 8 64"},
        {13, SHAPE "%r = ReduceProd(%s)", "i64[1] ?"},
        {13, SHAPE "%r = Transpose(%s)", "i64[3] ? 8 64"},
        {13, SHAPE I64("k", "1", "0") "%r = Unsqueeze(%s, %k)", "i64[1,3] ? 8 64"},
        {13, SHAPE I64("k", "2", "2, 3") "%r = Expand(%s, %k)", "i64[2,3] ? 8 64 ? 8 64"},
        {13, SHAPE I64("k", "1", "2") "%r = Tile(%s, %k)", "i64[6] ? 8 64 ? 8 64"},
        {13, SHAPE "%a, %r, %c = Split(%s)", "i64[1] ? | i64[1] 8 | i64[1] 64"},
        {13, SHAPE "%r = Gather(%s, %s)", "no"},
        {13, SHAPE "%r = ConstantOfShape(%s)", "no"},
        {13, SHAPE "%r = Reshape(%x, %s)", "no"},
    };
    (void)state;
    CHECK(table);
}

static void reshapes(void **state)
{
    static const struct row table[] = {
        {13, A123456 I64("s", "2", "3, -1") "%r = Reshape(%a, %s)", "i64[3,2] 1 2 3 4 5 6"},
        {13, A123456 I64("s", "2", "0, -1") "%r = Reshape(%a, %s)", "i64[2,3] 1 2 3 4 5 6"},
        {13, A123456 I64("s", "2", "-1, -1") "%r = Reshape(%a, %s)", "no"},
        {13, A123456 I64("s", "2", "4, -1") "%r = Reshape(%a, %s)", "no"},
        {13, A123456 I64("s", "2", "-2, -3") "%r = Reshape(%a, %s)", "no"},
        {13, A123456 I64("s", "3", "2, 3, 0") "%r = Reshape(%a, %s)", "no"},
        {13, A123456 I64("s", "3", "4294967296, 4294967296, 4294967296") "%r = Reshape(%a, %s)",
         "no"},
        {13, A123456 I64("s", "1,2", "3, 2") "%r = Reshape(%a, %s)", "no"},
        {13, A123456 "init %s : f32[1] = [6.0]\n%r = Reshape(%a, %s)", "no"},
        {13, A123456 "%r = Reshape(%a) {shape=[6]}", "no"},
        {4, A123456 "%r = Reshape(%a) {shape=[6]}", "i64[6] 1 2 3 4 5 6"},
        {4, A123456 I64("s", "1", "6") "%r = Reshape(%a, %s) {shape=[6]}", "no"},
        {13, "init %a : i64[] = [7]\n" I64("s", "0", "") "%r = Reshape(%a, %s)", "i64[] 7"},
        {14, "init %a : i64[0,3] = []\n" I64("s", "2", "0, 9") "%r = Reshape(%a, %s) {allowzero=1}",
         "i64[0,9]"},
        {14, "init %a : i64[0,3] = []\n" I64("s", "2", "0, 9") "%r = Reshape(%a, %s)", "i64[0,9]"},
        {14, "init %a : i64[0,3] = []\n" I64("s", "2", "0, -1") "%r = Reshape(%a, %s)", "no"},
        {13, A123456 "%r = Flatten(%a) {axis=0}", "i64[1,6] 1 2 3 4 5 6"},
        {13, A123456 "%r = Flatten(%a) {axis=-1}", "i64[2,3] 1 2 3 4 5 6"},
        {13, A123456 "%r = Flatten(%a) {axis=3}", "no"},
        {13, "init %a : i64[] = [7]\n%r = Flatten(%a) {axis=0}", "i64[1,1] 7"},
        {13, "init %a : i64[1,2,1] = [1, 2]\n%r = Squeeze(%a)", "i64[2] 1 2"},
        {13, "init %a : i64[1,2,1] = [1, 2]\n" I64("s", "1", "-1") "%r = Squeeze(%a, %s)",
         "i64[1,2] 1 2"},
        {13, "init %a : i64[1,2,1] = [1, 2]\n" I64("s", "1", "1") "%r = Squeeze(%a, %s)", "no"},
        {13, "init %a : i64[1,2,1] = [1, 2]\n" I64("s", "2", "0, -3") "%r = Squeeze(%a, %s)", "no"},
        {13, "init %a : i64[1,2,1] = [1, 2]\n%r = Squeeze(%a) {axes=[0]}", "i64[2] 1 2"},
        {11, "init %a : i64[1,2,1] = [1, 2]\n%r = Squeeze(%a) {axes=[0]}", "i64[2,1] 1 2"},
        {11, "init %a : i64[1,2,1] = [1, 2]\n%r = Squeeze(%a) {axes=[0, 0]}", "no"},
        {13, "init %a : i64[2] = [1, 2]\n" I64("s", "2", "0, -1") "%r = Unsqueeze(%a, %s)",
         "i64[1,2,1] 1 2"},
        {13, "init %a : i64[2] = [1, 2]\n" I64("s", "2", "0, -3") "%r = Unsqueeze(%a, %s)", "no"},
        {13, "init %a : i64[2] = [1, 2]\n" I64("s", "1", "2") "%r = Unsqueeze(%a, %s)", "no"},
        {13,
         "init %a : i64[2] = [1, 2]\n" I64("s", "1",
                                           "-9223372036854775808") "%r = Unsqueeze(%a, %s)",
         "no"},
        {13, "init %a : i64[2] = [1, 2]\n%r = Unsqueeze(%a)", "no"},
        {11, "init %a : i64[2] = [1, 2]\n%r = Unsqueeze(%a) {axes=[1]}", "i64[2,1] 1 2"},
        {13,
         "init %a : i64[2] = [1, 2]\n" I64(
             "s", "16", "0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15") "%r = Unsqueeze(%a, %s)",
         "no"},
    };
    (void)state;
    CHECK(table);
}

static void moves(void **state)
{
    static const struct row table[] = {
        {13, A123456 "%r = Identity(%a)", "i64[2,3] 1 2 3 4 5 6"},
        {13, "init %a : str[2] = strings [\"a\", \"b\"]\n%r = Identity(%a)", "no"},
        {13, "init %a : i4[2] = bytes \"21\"\n%r = Identity(%a)", "no"},
        {13, A123456 "%r = Transpose(%a)", "i64[3,2] 1 4 2 5 3 6"},
        {13, A123456 "%r = Transpose(%a) {perm=[0, 0]}", "no"},
        {13, A123456 "%r = Transpose(%a) {perm=[0]}", "no"},
        {13, A123456 "%r = Transpose(%a) {perm=[0, -1]}", "no"},
        {13, "init %a : i64[0,3] = []\n%r = Transpose(%a)", "i64[3,0]"},
        {13, A123456 I64("s", "3", "2, 1, 1") "%r = Expand(%a, %s)",
         "i64[2,2,3] 1 2 3 4 5 6 1 2 3 4 5 6"},
        {13, A123456 I64("s", "2", "2, 2") "%r = Expand(%a, %s)", "no"},
        {13, A123456 I64("s", "2", "2, -1") "%r = Expand(%a, %s)", "no"},
        {13, "init %a : i64[1] = [1]\n" I64("s", "1", "0") "%r = Expand(%a, %s)", "i64[0]"},
        {13, "init %a : i64[1] = [1]\n" I64("s", "1", "131073") "%r = Expand(%a, %s)", "no"},
        {13,
         "init %a : i64[1] = [1]\n" I64("s", "2", "4611686018427387904, 4") "%r = Expand(%a, %s)",
         "no"},
        {13, A123456 I64("s", "2", "1, 2") "%r = Tile(%a, %s)", "i64[2,6] 1 2 3 1 2 3 4 5 6 4 5 6"},
        {13, A123456 I64("s", "2", "1, 0") "%r = Tile(%a, %s)", "i64[2,0]"},
        {13, A123456 I64("s", "2", "1, -1") "%r = Tile(%a, %s)", "no"},
        {13, A123456 I64("s", "2", "4611686018427387904, 4") "%r = Tile(%a, %s)", "no"},
        {13, A123456 I64("s", "1", "2") "%r = Tile(%a, %s)", "no"},
        {1, A123456 I64("s", "1", "2") I64("t", "1", "0") "%r = Tile(%a, %s, %t)", "no"},
        {13, A123456 "%r = Concat(%a, %a) {axis=-1}", "i64[2,6] 1 2 3 1 2 3 4 5 6 4 5 6"},
        {13, A123456 "init %e : i64[0,3] = []\n%r = Concat(%e, %a, %e) {axis=0}",
         "i64[2,3] 1 2 3 4 5 6"},
        {13, A123456 "%r = Concat(%a, %a)", "no"},
        {3, A123456 "%r = Concat(%a, %a)", "i64[2,6] 1 2 3 1 2 3 4 5 6 4 5 6"},
        {13, A123456 "init %e : i32[2,3] = [1,2,3,4,5,6]\n%r = Concat(%a, %e) {axis=0}", "no"},
        {13, A123456 "init %e : i64[2,2] = [1,2,3,4]\n%r = Concat(%a, %e) {axis=0}", "no"},
        {13, A123456 "%r = Concat(%a, _) {axis=0}", "no"},
        {13, "init %e : i64[] = [1]\n%r = Concat(%e, %e) {axis=0}", "no"},
        {13, A123456 "%p, %q = Split(%a) {axis=0}", "i64[1,3] 1 2 3 | i64[1,3] 4 5 6"},
        {13, A123456 "%p, %q = Split(%a) {axis=1}", "no"},
        {18, A123456 "%p, %q = Split(%a) {axis=1, num_outputs=2}",
         "i64[2,2] 1 2 4 5 | i64[2,1] 3 6"},
        {18, A123456 "%p, %q = Split(%a) {axis=1, num_outputs=3}", "no"},
        {13, A123456 I64("s", "2", "3, 0") "%p, %q = Split(%a, %s) {axis=1}",
         "i64[2,3] 1 2 3 4 5 6 | i64[2,0]"},
        {13, A123456 I64("s", "2", "3, 1") "%p, %q = Split(%a, %s) {axis=1}", "no"},
        {13, A123456 I64("s", "2", "4, -1") "%p, %q = Split(%a, %s) {axis=1}", "no"},
        {13, A123456 I64("s", "2", "1, 1") "%p, %q = Split(%a, %s) {axis=1}", "no"},
        {11, A123456 "%p, %q = Split(%a) {axis=1, split=[1, 2]}",
         "i64[2,1] 1 4 | i64[2,2] 2 3 5 6"},
        {13, A123456 "%p, %q = Identity(%a)", "no"},
    };
    (void)state;
    CHECK(table);
}

static void picks(void **state)
{
    static const struct row table[] = {
        {13, A123456 I64("k", "", "-1") "%r = Gather(%a, %k)", "i64[3] 4 5 6"},
        {13, A123456 I64("k", "1,2", "2, 0") "%r = Gather(%a, %k) {axis=1}", "i64[2,1,2] 3 1 6 4"},
        {13, A123456 I64("k", "1", "2") "%r = Gather(%a, %k)", "no"},
        {13, A123456 I64("k", "1", "-3") "%r = Gather(%a, %k)", "no"},
        {13, A123456 I64("k", "1", "-9223372036854775808") "%r = Gather(%a, %k)", "no"},
        {13, A123456 I64("k", "0", "") "%r = Gather(%a, %k)", "i64[0,3]"},
        {13, "init %a : i64[0] = []\n" I64("k", "1", "0") "%r = Gather(%a, %k)", "no"},
        {13, A123456 "init %k : i32[1] = [1]\n%r = Gather(%a, %k)", "i64[1,3] 4 5 6"},
        {13, A123456 "init %k : u8[1] = [1]\n%r = Gather(%a, %k)", "no"},
        {13, "init %a : i64[] = [1]\n" I64("k", "1", "0") "%r = Gather(%a, %k)", "no"},
        {18, A123456 I64("k", "1,2", "1, -1") "init %u : i64[1] = [9]\n%r = ScatterND(%a, %k, %u)",
         "i64[2,3] 1 2 3 4 5 9"},
        {18,
         A123456 I64("k", "1,1", "0") "init %u : i64[1,3] = [7,8,9]\n%r = ScatterND(%a, %k, %u)",
         "i64[2,3] 7 8 9 4 5 6"},
        {18,
         A123456 I64("k", "2,1",
                     "0, -2") "init %u : i64[2,3] = [7,8,9,1,1,1]\n%r = ScatterND(%a, %k, %u)",
         "no"},
        {18,
         A123456 I64("k", "1,1", "2") "init %u : i64[1,3] = [7,8,9]\n%r = ScatterND(%a, %k, %u)",
         "no"},
        {18,
         A123456 I64("k", "1,3", "0, 0, 0") "init %u : i64[1] = [7]\n%r = ScatterND(%a, %k, %u)",
         "no"},
        {18, A123456 I64("k", "1,1", "0") "init %u : i64[1,2] = [7,8]\n%r = ScatterND(%a, %k, %u)",
         "no"},
        {18,
         A123456 I64(
             "k", "1,1",
             "0") "init %u : i64[1,3] = [7,8,9]\n%r = ScatterND(%a, %k, %u) {reduction=\"add\"}",
         "no"},
        {13, "init %c : bool[2,1] = [1, 0]\n" A123456 I64("z", "", "0") "%r = Where(%c, %a, %z)",
         "i64[2,3] 1 2 3 0 0 0"},
        {13, "init %c : i64[1] = [1]\n" A123456 "%r = Where(%c, %a, %a)", "no"},
        {13,
         "init %c : bool[3] = [1, 1, 0]\ninit %f : f32[3] = [-0.0, nan, -0.0]\ninit %g : f32[3] = [1.0, 1.0, -inf]\n"
         "%r = Where(%c, %f, %g)",
         "f32[3] ? ? -inf"},
        {13,
         "init %c : bool[2] = bytes \"0201\"\n" I64("p", "2", "1, 2")
             I64("q", "2", "3, 4") "%r = Where(%c, %p, %q)",
         "i64[2] ? 2"},
    };
    (void)state;
    CHECK(table);
}

static void slices(void **state)
{
#define FIVE "init %a : i64[5] = [0, 1, 2, 3, 4]\n"
#define SLICE(from, to, step)                                                                      \
    FIVE I64("f", "1", from) I64("t", "1", to) I64("z", "1", "0")                                  \
        I64("s", "1", step) "%r = Slice(%a, %f, %t, %z, %s)"
    static const struct row table[] = {
        {13, SLICE("1", "3", "1"), "i64[2] 1 2"},
        {13, SLICE("-2", "9223372036854775807", "1"), "i64[2] 3 4"},
        {13, SLICE("-9223372036854775808", "9223372036854775807", "2"), "i64[3] 0 2 4"},
        {13, SLICE("9223372036854775807", "-9223372036854775808", "-2"), "i64[3] 4 2 0"},
        {13, SLICE("-1", "-9223372036854775808", "-9223372036854775808"), "i64[1] 4"},
        {13, SLICE("3", "1", "-1"), "i64[2] 3 2"},
        {13, SLICE("1", "3", "-1"), "i64[0]"},
        {13, SLICE("3", "1", "1"), "i64[0]"},
        {13, SLICE("0", "5", "9223372036854775807"), "i64[1] 0"},
        {13, SLICE("4", "9223372036854775807", "-1"), "no"},
        {13, SLICE("4", "2147483647", "-1"), "no"},
        {13, SLICE("0", "5", "0"), "no"},
        {13,
         FIVE I64("f", "1", "1") I64("t", "1", "3") I64("z", "1", "1") "%r = Slice(%a, %f, %t, %z)",
         "no"},
        {13, FIVE I64("f", "2", "1, 1") I64("t", "2", "3, 3") "%r = Slice(%a, %f, %t)", "no"},
        {13, FIVE I64("f", "1", "1") I64("t", "2", "3, 3") "%r = Slice(%a, %f, %t)", "no"},
        {13, FIVE I64("f", "1", "1") I64("t", "1", "3") "%r = Slice(%a, %f, %t)", "i64[2] 1 2"},
        {13, FIVE I64("f", "1", "1") "%r = Slice(%a, %f)", "no"},
        {13,
         A123456 I64("f", "2", "0, 1") I64("t", "2", "1, 3")
             I64("z", "2", "-2, 1") "%r = Slice(%a, %f, %t, %z)",
         "i64[1,2] 2 3"},
        {13,
         A123456 I64("f", "2", "0, 1") I64("t", "2", "1, 3")
             I64("z", "2", "0, -2") "%r = Slice(%a, %f, %t, %z)",
         "no"},
        {9, FIVE "%r = Slice(%a) {starts=[-3], ends=[-1]}", "i64[2] 2 3"},
        {10, FIVE "%r = Slice(%a) {starts=[-3], ends=[-1]}", "no"},
        {13,
         "init %a : i64[0,9223372036854775807] = []\n" I64("f", "1", "1") I64("t", "1", "3")
             I64("z", "1", "1") "%r = Slice(%a, %f, %t, %z)",
         "i64[0,2]"},
    };
    (void)state;
    CHECK(table);
}

static void constants(void **state)
{
    static const struct row table[] = {
        {13, "%r = Constant() {value_ints=[3, 4]}", "i64[2] 3 4"},
        {13, "%r = Constant() {value_int=3}", "i64[] 3"},
        {13, "%r = Constant() {value_float=0.5}", "f32[] 0.5"},
        {13, "%r = Constant() {value_floats=[0.5, -0.0]}", "f32[2] 0.5 -0"},
        {13, "%r = Constant() {value=tensor i8[2] [-1, 3]}", "i8[2] -1 3"},
        {13, "%r = Constant() {value_string=\"a\"}", "no"},
        {13, "%r = Constant() {value_int=3, value_float=0.5}", "no"},
        {13, "%r = Constant() {value_int=0.5}", "no"},
        {13, "%r = Constant()", "no"},
        {13, I64("s", "2", "1, 2") "%r = ConstantOfShape(%s)", "f32[1,2] 0 0"},
        {13, I64("s", "0", "") "%r = ConstantOfShape(%s) {value=tensor i8[1] [7]}", "i8[] 7"},
        {13, I64("s", "1", "2") "%r = ConstantOfShape(%s) {value=tensor f16[1] bytes \"003c\"}",
         "f16[2] 3c00 3c00"},
        {13, I64("s", "1", "2") "%r = ConstantOfShape(%s) {value=tensor i64[2] [7, 8]}", "no"},
        {13, I64("s", "1", "2") "%r = ConstantOfShape(%s) {value=7}", "no"},
        {13, I64("s", "1", "-2") "%r = ConstantOfShape(%s)", "no"},
        {13, I64("s", "1", "262145") "%r = ConstantOfShape(%s)", "no"},
        {13,
         I64("s", "3", "0, 9223372036854775807, 9223372036854775807") "%r = ConstantOfShape(%s)",
         "f32[0,9223372036854775807,9223372036854775807]"},
        {13, I64("s", "17", "1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1") "%r = ConstantOfShape(%s)", "no"},
        {13,
         "init %a : i64[] = [2]\ninit %b : i64[] = [9]\ninit %c : i64[] = [3]\n%r = Range(%a, %b, %c)",
         "i64[3] 2 5 8"},
        {13,
         "init %a : i64[] = [9]\ninit %b : i64[] = [2]\ninit %c : i64[] = [-3]\n%r = Range(%a, %b, %c)",
         "i64[3] 9 6 3"},
        {13,
         "init %a : i64[] = [9]\ninit %b : i64[] = [2]\ninit %c : i64[] = [3]\n%r = Range(%a, %b, %c)",
         "i64[0]"},
        {13,
         "init %a : i64[] = [9]\ninit %b : i64[] = [2]\ninit %c : i64[] = [0]\n%r = Range(%a, %b, %c)",
         "no"},
        {13,
         "init %a : i64[] = [0]\ninit %b : i64[] = [131073]\ninit %c : i64[] = [1]\n%r = Range(%a, %b, %c)",
         "no"},
        {13,
         "init %a : i64[] = [-9223372036854775808]\ninit %b : i64[] = [9223372036854775807]\n"
         "init %c : i64[] = [9223372036854775807]\n%r = Range(%a, %b, %c)",
         "no"},
        {13,
         "init %a : i64[] = [9223372036854775806]\ninit %b : i64[] = [9223372036854775807]\n"
         "init %c : i64[] = [9223372036854775807]\n%r = Range(%a, %b, %c)",
         "i64[1] 9223372036854775806"},
        {13,
         "init %a : f32[] = [1.0]\ninit %b : f32[] = [3.5]\ninit %c : f32[] = [1.0]\n%r = Range(%a, %b, %c)",
         "f32[3] 1 2 3"},
        {13,
         "init %a : f32[] = [0.0]\ninit %b : f32[] = [1.0]\ninit %c : f32[] = [0.25]\n%r = Range(%a, %b, %c)",
         "no"},
        {13,
         "init %a : f32[] = [0.0]\ninit %b : f32[] = [inf]\ninit %c : f32[] = [1.0]\n%r = Range(%a, %b, %c)",
         "no"},
        {13,
         "init %a : f32[] = [0.0]\ninit %b : f64[] = [1.0]\ninit %c : f32[] = [1.0]\n%r = Range(%a, %b, %c)",
         "no"},
    };
    (void)state;
    CHECK(table);
}

static void arithmetic(void **state)
{
#define TWO(type, n, a, b)                                                                         \
    "init %a : " type "[" n "] = [" a "]\ninit %b : " type "[" n "] = [" b "]\n"
    static const struct row table[] = {
        {13, TWO("i64", "2", "9223372036854775807, 1", "1, 1") "%r = Add(%a, %b)", "i64[2] ? 2"},
        {13, TWO("i64", "2", "-9223372036854775808, 1", "1, 2") "%r = Sub(%a, %b)", "i64[2] ? -1"},
        {13, TWO("i64", "2", "4611686018427387904, 3", "2, -2") "%r = Mul(%a, %b)", "i64[2] ? -6"},
        {13, TWO("i64", "4", "7, -7, 7, -9223372036854775808", "2, 2, 0, -1") "%r = Div(%a, %b)",
         "i64[4] 3 -3 ? ?"},
        {13, TWO("i8", "3", "-128, 100, -128", "-1, 100, 1") "%r = Mul(%a, %b)", "i8[3] ? ? -128"},
        {13, TWO("i8", "2", "-128, -128", "-1, 1") "%r = Div(%a, %b)", "i8[2] ? -128"},
        {13, TWO("u8", "3", "200, 1, 7", "100, 2, 7") "%r = Add(%a, %b)", "u8[3] ? 3 14"},
        {13, TWO("u8", "2", "1, 7", "2, 7") "%r = Sub(%a, %b)", "u8[2] ? 0"},
        {13, TWO("i64", "5", "7, -7, 7, -7, 7", "3, 3, -3, -3, 0") "%r = Mod(%a, %b)",
         "i64[5] 1 2 -2 -1 ?"},
        {13, TWO("i64", "1", "-9223372036854775808", "-1") "%r = Mod(%a, %b)", "i64[1] 0"},
        {13, TWO("i64", "1", "7", "3") "%r = Mod(%a, %b) {fmod=1}", "no"},
        {13, TWO("f32", "1", "7.0", "3.0") "%r = Mod(%a, %b)", "no"},
        {13, TWO("f32", "3", "-7.5, 7.0, 1.0", "3.0, inf, 0.0") "%r = Mod(%a, %b) {fmod=1}",
         "f32[3] -1.5 7 ?"},
        {13, TWO("f32", "4", "1.0, inf, 3e38, 1.0", "3.0, -inf, 3e38, nan") "%r = Add(%a, %b)",
         "f32[4] 4 ? ? ?"},
        {13, TWO("f32", "3", "1.0, 1.0, 0.0", "3.0, 0.0, 0.0") "%r = Div(%a, %b)",
         "f32[3] 0.333333343 ? ?"},
        {13, TWO("f32", "4", "0.0, -0.0, nan, 2.0", "-0.0, -0.0, 1.0, -inf") "%r = Max(%a, %b)",
         "f32[4] ? -0 ? 2"},
        {13, TWO("i64", "2", "1, 9", "5, 3") "%r = Min(%a, %b, %a)", "i64[2] 1 3"},
        {13, "init %a : f16[1] = bytes \"003c\"\n%r = Add(%a, %a)", "no"},
        {13, "init %a : bool[1] = [1]\n%r = Add(%a, %a)", "no"},
        {13, "init %a : i64[1] = [1]\ninit %b : i32[1] = [1]\n%r = Add(%a, %b)", "no"},
        {13, "init %a : i64[2] = [1, 2]\ninit %b : i64[3] = [1, 2, 3]\n%r = Add(%a, %b)", "no"},
        {6, "init %a : i64[2] = [1, 2]\ninit %b : i64[1] = [1]\n%r = Add(%a, %b)", "no"},
        {7, "init %a : i64[2] = [1, 2]\ninit %b : i64[1] = [1]\n%r = Add(%a, %b)", "i64[2] 2 3"},
        {7, "init %a : i64[2] = [1, 2]\ninit %b : i64[1] = [1]\n%r = Max(%a, %b)", "no"},
        {13, "init %a : i64[2] = [1, 2]\n%r = Add(%a)", "no"},
        {13, "init %a : i64[2] = [1, 2]\n%r = Add(%a, %a, %a)", "no"},
        {13,
         TWO("i64", "6", "2, -2, 0, 3, 2, 1",
             "52, 3, 0, 40, -1, 9007199254740992") "%r = Pow(%a, %b)",
         "i64[6] 4503599627370496 -8 1 ? ? 1"},
        {13, TWO("i32", "2", "2, -1", "31, 3") "%r = Pow(%a, %b)", "i32[2] ? -1"},
        {13, TWO("f32", "4", "3.0, 0.5, 2.0, 4.0", "2.0, 2.0, 25.0, 0.5") "%r = Pow(%a, %b)",
         "f32[4] 9 ? ? ?"},
        {13, "init %a : f32[2] = [8.0, 2.0]\ninit %b : i64[] = [3]\n%r = Pow(%a, %b)",
         "f32[2] 512 8"},
        {13, "init %a : u8[2] = [2, 16]\ninit %b : i64[] = [2]\n%r = Pow(%a, %b)", "u8[2] 4 ?"},
    };
    (void)state;
    CHECK(table);
}

static void single_numbers(void **state)
{
    static const struct row table[] = {
        {13, "init %a : i64[2] = [-9223372036854775808, 5]\n%r = Neg(%a)", "i64[2] ? -5"},
        {13, "init %a : u8[1] = [5]\n%r = Neg(%a)", "no"},
        {13, "init %a : i8[2] = [-128, -5]\n%r = Abs(%a)", "i8[2] ? 5"},
        {13, "init %a : f32[3] = [0.0, inf, nan]\n%r = Neg(%a)", "f32[3] -0 -inf ?"},
        {13, "init %a : f32[3] = [-0.0, -3.5, nan]\n%r = Sign(%a)", "f32[3] 0 -1 ?"},
        {13, "init %a : u8[2] = [0, 200]\n%r = Sign(%a)", "u8[2] 0 1"},
        {13, "init %a : f32[3] = [-0.5, 2.5, inf]\n%r = Ceil(%a)", "f32[3] -0 3 ?"},
        {13, "init %a : f32[2] = [-0.5, 2.5]\n%r = Floor(%a)", "f32[2] -1 2"},
        {13, "init %a : f32[4] = [-0.5, 2.5, 3.5, -1.5]\n%r = Round(%a)", "f32[4] -0 2 4 -2"},
        {13, "init %a : i64[1] = [2]\n%r = Sqrt(%a)", "no"},
        {13, "init %a : f32[4] = [64.0, 2.0, -1.0, -0.0]\n%r = Sqrt(%a)",
         "f32[4] 8 1.41421354 ? -0"},
        {13, "init %a : f32[3] = [8.0, 0.0, -0.0]\n%r = Reciprocal(%a)", "f32[3] 0.125 ? ?"},
        {13, "init %a : bool[2] = [1, 0]\n%r = Not(%a)", "bool[2] 0 1"},
        {13, "init %a : bool[2] = bytes \"ff01\"\n%r = Not(%a)", "bool[2] ? 0"},
        {13, "init %a : i64[2] = [1, 0]\n%r = Not(%a)", "no"},
        {13, "init %a : bool[2] = [1, 0]\ninit %b : bool[1] = [1]\n%r = Xor(%a, %b)",
         "bool[2] 0 1"},
        {13, "init %a : bool[2] = [1, 0]\n%r = Less(%a, %a)", "no"},
        {13, "init %a : u64[2] = bytes \"ffffffffffffffff0100000000000000\"\n%r = Less(%a, %a)",
         "bool[2] 0 0"},
        {13,
         "init %a : f32[3] = [nan, 0.0, 1.0]\ninit %b : f32[3] = [nan, -0.0, 2.0]\n%r = Equal(%a, %b)",
         "bool[3] ? 1 0"},
    };
    (void)state;
    CHECK(table);
}

static void casts(void **state)
{
    static const struct row table[] = {
        {13, "init %a : i64[3] = [300, -1, 7]\n%r = Cast(%a) {to=2}", "u8[3] ? ? 7"},
        {13, "init %a : i64[2] = [2147483648, -2147483648]\n%r = Cast(%a) {to=6}",
         "i32[2] ? -2147483648"},
        {13, "init %a : f32[5] = [1.9, -1.9, nan, inf, -0.5]\n%r = Cast(%a) {to=7}",
         "i64[5] 1 -1 ? ? 0"},
        {13,
         "init %a : f32[2] = [9223372036854775808.0, -9223372036854775808.0]\n%r = Cast(%a) {to=7}",
         "i64[2] ? -9223372036854775808"},
        {13, "init %a : f32[3] = [-0.5, -1.0, 255.5]\n%r = Cast(%a) {to=2}", "u8[3] 0 ? 255"},
        {13, "init %a : i64[2] = [16777217, 9007199254740993]\n%r = Cast(%a) {to=1}",
         "f32[2] 16777216 9.00719925e+15"},
        {13, "init %a : i64[1] = [9007199254740993]\n%r = Cast(%a) {to=11}",
         "f64[1] 9007199254740992"},
        /* just above a tie of f32 at 2^54: a double on the way would round to the even one below */
        {13, "init %a : i64[1] = [18014399583223809]\n%r = Cast(%a) {to=1}",
         "f32[1] 1.80144007e+16"},
        {13, "init %a : f64[3] = [1e39, 1e-50, inf]\n%r = Cast(%a) {to=1}", "f32[3] ? 0 inf"},
        {13, "init %a : f32[4] = [0.0, -0.0, nan, 0.1]\n%r = Cast(%a) {to=9}", "bool[4] 0 0 ? 1"},
        {13, "init %a : bool[2] = [1, 0]\n%r = Cast(%a) {to=1}", "f32[2] 1 0"},
        {13,
         "init %a : f32[8] = [1.0, -2.0, 65504.0, 65519.0, 65520.0, 6e-8, 2.9e-8, -inf]\n%r = Cast(%a) {to=10}",
         "f16[8] 3c00 c000 7bff 7bff ? 0001 0000 fc00"},
        {13,
         "init %a : f32[4] = [1.00048828125, 1.00146484375, 0.00006103515625, 0.00006097555]\n%r = Cast(%a) {to=10}",
         "f16[4] 3c00 3c02 0400 03ff"},
        {13, "init %a : f64[2] = [0.5, 0.1]\n%r = Cast(%a) {to=10}", "f16[2] 3800 ?"},
        {13, "init %a : i64[2] = [2048, 16777217]\n%r = Cast(%a) {to=10}", "f16[2] 6800 ?"},
        {13, "init %a : f32[4] = [1.0, 1.00390625, 1.01171875, 3.4e38]\n%r = Cast(%a) {to=16}",
         "bf16[4] 3f80 3f80 3f82 ?"},
        {13, "init %a : f16[4] = bytes \"003c0100007c007e\"\n%r = Cast(%a) {to=1}",
         "f32[4] 1 5.96046448e-08 inf ?"},
        {13, "init %a : bf16[2] = bytes \"803f0100\"\n%r = Cast(%a) {to=11}",
         "f64[2] 1 9.1835496157991212e-41"},
        {13, "init %a : f16[2] = bytes \"007e0180\"\n%r = Cast(%a) {to=10}", "f16[2] 7e00 8001"},
        {15, "init %a : i64[1] = [7]\nin %b : f32[2]\n%r = CastLike(%a, %b)", "f32[1] 7"},
        {15, "init %a : i64[1] = [7]\n%r = CastLike(%a, _)", "no"},
        {13, "init %a : i64[1] = [7]\n%r = Cast(%a) {to=8}", "no"},
        {13, "init %a : i64[1] = [7]\n%r = Cast(%a) {to=99}", "no"},
        {13, "init %a : i64[1] = [7]\n%r = Cast(%a) {to=-1}", "no"},
        {13, "init %a : i64[1] = [7]\n%r = Cast(%a) {to=17}", "no"},
        {13, "init %a : i64[1] = [7]\n%r = Cast(%a)", "no"},
        {5, "init %a : i64[1] = [7]\n%r = Cast(%a) {to=\"FLOAT\"}", "no"},
    };
    (void)state;
    CHECK(table);
}

static void reductions(void **state)
{
    static const struct row table[] = {
        {13, A123456 "%r = ReduceSum(%a)", "i64[1,1] 21"},
        {13, A123456 "%r = ReduceSum(%a) {keepdims=0}", "i64[] 21"},
        {13, A123456 I64("s", "1", "-1") "%r = ReduceSum(%a, %s) {keepdims=0}", "i64[2] 6 15"},
        {13, A123456 I64("s", "1", "0") "%r = ReduceSum(%a, %s)", "i64[1,3] 5 7 9"},
        {13, A123456 I64("s", "2", "0, -2") "%r = ReduceSum(%a, %s)", "no"},
        {13, A123456 I64("s", "1", "2") "%r = ReduceSum(%a, %s)", "no"},
        {13, A123456 I64("s", "0", "") "%r = ReduceSum(%a, %s)", "i64[1,1] 21"},
        {13, A123456 I64("s", "0", "") "%r = ReduceSum(%a, %s) {noop_with_empty_axes=1}",
         "i64[2,3] 1 2 3 4 5 6"},
        {13, A123456 "%r = ReduceProd(%a) {axes=[1], keepdims=0}", "i64[2] 6 120"},
        {18, A123456 "%r = ReduceProd(%a) {axes=[1], keepdims=0}", "i64[] 720"},
        {18, A123456 I64("s", "1", "1") "%r = ReduceMax(%a, %s) {keepdims=0}", "i64[2] 3 6"},
        {13, A123456 I64("s", "1", "1") "%r = ReduceMin(%a, %s)", "no"},
        {13, "init %a : i64[2] = [9007199254740993, 1]\n%r = ReduceSum(%a)", "i64[1] ?"},
        {13, "init %a : i64[2] = [9007199254740991, 1]\n%r = ReduceSum(%a)",
         "i64[1] 9007199254740992"},
        {13, "init %a : i64[3] = [9007199254740992, -9007199254740992, 1]\n%r = ReduceSum(%a)",
         "i64[1] ?"},
        {13, "init %a : i8[2] = [100, 100]\n%r = ReduceSum(%a)", "i8[1] ?"},
        {13, "init %a : i64[0] = []\n%r = ReduceSum(%a)", "no"},
        {13, "init %a : i64[0] = []\n%r = ReduceMax(%a)", "no"},
        {13, "init %a : f32[2] = [1.0, 2.0]\n%r = ReduceSum(%a)", "no"},
        {13, "init %a : i64[] = [7]\n%r = ReduceProd(%a)", "i64[] 7"},
    };
    (void)state;
    CHECK(table);
}

static void not_computed(void **state)
{
    static const struct row table[] = {
        {13, "init %a : f32[1] = [1.0]\n%r = Exp(%a)", "no"},
        {13, "init %a : f32[1,1] = [1.0]\n%r = MatMul(%a, %a)", "no"},
        {13, "%r = RandomNormal() {shape=[2]}", "no"},
        {13, "init %a : f32[1] = [1.0]\n%r = Dropout(%a)", "no"},
        {13, "in %x : f32[2]\n%r = Neg(%x)", "no"},
        {13, "in %x : i64[2]\n%r = Neg(%x)", "i64[2] ? ?"},
    };
    (void)state;
    CHECK(table);
}

/* ---- limits ------------------------------------------------------------------------------------- */

/* Results as large as they may be, and operands that are read or not. */
static void limits(void **state)
{
    static const struct row row = {
        13, "init %a : i64[4] = [1, 2, 3, 4]\n" I64("k", "1", "1") "%r = Gather(%a, %k)", ""};
    static const struct {
        int64_t most, most_read;
        bool good;
    } limit[] = {{8, 32, true}, {7, 32, false}, {8, 31, false}, {1 << 20, 1 << 20, true}};
    (void)state;
    for (size_t i = 0; i < sizeof limit / sizeof *limit; i++) {
        struct world w;
        read_graph(&w, &row);
        assert_int_equal(compute_all(&w, limit[i].most, limit[i].most_read), limit[i].good);
        assert_int_equal(w.sink.n, 0);
        if (limit[i].good)
            assert_int_equal(w.c.spent, 32 + 8 + 8);
        arena_free(w.m->mem);
    }
}

/* The bytes of each operand count once. */
static void spent(void **state)
{
    static const struct row row = {
        13, "init %a : i64[4] = [1, 2, 3, 4]\ninit %b : i64[1] = [5]\n%r = Concat(%a, %b) {axis=0}",
        ""};
    struct world w;
    (void)state;
    read_graph(&w, &row);
    assert_true(compute_all(&w, 1 << 20, 1 << 20));
    assert_int_equal(w.c.spent, 32 + 8 + 40);
    arena_free(w.m->mem);
}

/* Weights in a file: one that is not there is not known, one whose bytes end too early is an error. */
static void files(void **state)
{
    (void)state;
    for (int there = 0; there < 2; there++) {
        struct world w;
        FILE *f = tmpfile();
        assert_non_null(f);
        fwrite("12345678", 1, 8, f);
        fflush(f);
        read_graph(&w, &(struct row){13, "init %a : i64[4] = [1, 2, 3, 4]\n%r = Neg(%a)", ""});
        uint32_t file = module_add_file(w.m);
        w.m->file[file].fd = there ? fileno(f) : -1;
        struct tensor *t = &w.m->tensor[w.m->value[1].tensor];
        t->where = TENSOR_FILE;
        t->file = file;
        assert_false(compute_all(&w, 1 << 20, 1 << 20));
        assert_int_equal(w.sink.level[DIAG_ERROR], there);
        arena_free(w.m->mem);
        fclose(f);
    }
}

/* ---- weights from weights ----------------------------------------------------------------------- */

static void weights(void **state)
{
    struct world w;
    (void)state;
    read_graph(&w, &(struct row){13, A123456 I64("k", "1", "0") "%r = Neg(%a)", ""});
    struct module *m = w.m;
    tid a = m->value[1].tensor, k = m->value[2].tensor;
    struct edit *e = edit_begin(m, m->mem);
    struct attr axis = {.name = str_id(m, "axis"), .kind = ATTR_INT, .u.i = 1};
    tid t = edit_compute(e, "Transpose", &a, 1, (struct slice){0});
    assert_int_not_equal(t, 0);
    tid g = edit_compute(e, "Gather", (tid[]){t, k}, 2, module_add_attrs(m, &axis, 1));
    assert_int_not_equal(g, 0);
    assert_int_equal(edit_compute(e, "Exp", &a, 1, (struct slice){0}), 0);
    assert_int_equal(edit_compute(e, "Gather", (tid[]){t, 0}, 2, (struct slice){0}), 0);
    vid v = edit_weight(e, 1, "first", g);
    edit_output(e, 1, v);
    edit_end(e);
    assert_int_equal(module_verify(m, &w.d), 0);
    int64_t got[6];
    assert_int_equal(tensor_ints(m, t, got, 6), 6);
    assert_memory_equal(got, ((int64_t[]){1, 4, 2, 5, 3, 6}), sizeof got);
    assert_int_equal(tensor_ints(m, m->value[v].tensor, got, 6), 3);
    assert_memory_equal(got, ((int64_t[]){1, 2, 3}), 24);
    arena_free(m->mem);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shapes),    cmocka_unit_test(parts),      cmocka_unit_test(reshapes),
        cmocka_unit_test(moves),     cmocka_unit_test(picks),      cmocka_unit_test(slices),
        cmocka_unit_test(constants), cmocka_unit_test(arithmetic), cmocka_unit_test(single_numbers),
        cmocka_unit_test(casts),     cmocka_unit_test(reductions), cmocka_unit_test(not_computed),
        cmocka_unit_test(limits),    cmocka_unit_test(spent),      cmocka_unit_test(files),
        cmocka_unit_test(weights)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
