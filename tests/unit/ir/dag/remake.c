/* Nodes made again, on random training graphs, against what each value means.
 *
 * The meaning of a value is a number worked out from its operator, its attribute and the meanings of the operands; of
 * an operator that must not run twice, also from the number of the node.  No value of the graph may mean anything else
 * after remake().  Values keep their numbers in edits. */
#include "passes/passes.h"
#include "passes/pipeline.h"
#include "ir/dag/remake.h"
#include "tests/support/graphs.h"
#include "tests/support/said.h"
#include "tests/support/sanitized.h"

#include <setjmp.h>
#include <string.h>

#include <cmocka.h>

enum { FORWARD = 14, BACK = 10, SEGMENTS = 4, GRAPHS = SANITIZED ? 100 : 500 };

struct world {
    struct said said;
    uint32_t segment[FORWARD + BACK]; /* [op] */
    bool two[FORWARD + BACK];         /* [op] it has a second result, %w */
};

/* Writes a random graph: operators with up to three operands, of the forward pass first. */
static void make(struct world *w, uint64_t *rng)
{
    static const char *const op[] = {"Sum", "Max", "Min", "Sum", "my:Twist"};
    memset(w, 0, sizeof *w);
    say(&w->said, "ir_version 10\nopset ai.onnx 17\nopset my 1\nclass acc x1\ngraph {\n"
                  "  in %%in : f32[100]\n  init %%c : f32[1] = [1.0]\n");
    for (uint32_t i = 0; i < FORWARD + BACK; i++) {
        bool back = i >= FORWARD;
        uint32_t last = w->segment[i > 0 && !back ? i - 1 : 0], kind = test_below(rng, 12);
        w->segment[i] = back ? test_below(rng, SEGMENTS)
                             : smaller_u32(last + (test_below(rng, 4) == 0), SEGMENTS - 1);
        const char *types = "f32[100]";
        if (kind == 0 && i > 0) {
            say(&w->said, "  %%v%u, %%m%u = Dropout(%%v%u)", i, i, test_below(rng, i));
            types = "f32[100], bool[100]";
        } else if (kind < 3 && i > 0) {
            say(&w->said, "  %%v%u, %%w%u = LayerNormalization(%%%c%u, %%c)", i, i,
                w->two[i - 1] ? 'w' : 'v', i - 1);
            types = "f32[100], f32[1]";
            w->two[i] = true;
        } else if (kind == 3) {
            say(&w->said, "  %%v%u = Bernoulli(%%in) {seed=1.0}", i);
        } else {
            say(&w->said, "  %%v%u = %s(%%%s", i, op[test_below(rng, 5)],
                test_below(rng, 2) ? "in" : "c");
            for (uint32_t k = 0; i > 0 && k < 1 + test_below(rng, 3); k++) {
                uint32_t from = test_below(rng, back && test_below(rng, 2) ? FORWARD : i);
                say(&w->said, ", %%%c%u", w->two[from] && test_below(rng, 2) ? 'w' : 'v', from);
            }
            say(&w->said, ")");
        }
        say(&w->said, " : %s !time=1us%s\n", types, back ? " !backward" : "");
    }
    for (uint32_t i = 0; i < FORWARD + BACK; i++)
        say(&w->said, "  out %%v%u\n", i);
    say(&w->said, "}\n");
}

/* Returns a number that depends on both. */
static uint64_t mix(uint64_t a, uint64_t b)
{
    a = (a ^ b) * UINT64_C(0x9e3779b97f4a7c15);
    return a ^ a >> 29;
}

/* Returns what each value means, in a: [value]. */
static uint64_t *meanings(const struct module *m, struct arena *a)
{
    const struct graph *g = &m->graph[1];
    uint64_t *of = arena_array(a, m->nval, sizeof *of);
    for (vid v = 1; v < m->nval; v++)
        of[v] = mix(1, v); /* inputs, weights */
    for (nid n = g->first; n < g->first + g->count; n++) {
        uint64_t x = mix(m->node[n].op, place_is_pure(m, n) ? 0 : m->node[n].name);
        for (uint32_t i = 0; i < m->node[n].nformal; i++)
            x = mix(x, of[node_in(m, n, i)]);
        for (uint32_t o = 0; o < m->node[n].out.n; o++)
            if (node_out(m, n, o))
                of[node_out(m, n, o)] = mix(x, o);
    }
    return of;
}

/* Checks the copies: each is a backward node right before another copy or a backward node, of a node in a segment that
 * may run twice.  Backward nodes read copies of what the rule lets them; all nodes stand in the order of before. */
static void check_copies(const struct module *m, const struct remake_rule *r,
                         const struct remade *made)
{
    const struct graph *g = &m->graph[1];
    uint32_t copies = 0;
    nid last = 0; /* the node before, if copies are left out */
    for (nid n = g->first; n < g->first + g->count; n++) {
        const char *of = node_meta(m, n, META_RECOMPUTES);
        nid was = made->origin[n];
        copies += of != NULL;
        assert_true(of ? r->segment[was] >= 0 : was > last);
        last = of ? last : was;
        if (of) {
            assert_true(place_is_pure(m, n) && m->backward[n] && m->node[n].made_from);
            assert_true(n + 1 < g->first + g->count && m->backward[n + 1]);
            assert_int_equal(m->cost->time[0][n], 1000000);
        }
        for (uint32_t i = 0; m->backward[n] && i < m->node[n].nformal; i++) {
            vid v = node_in(m, n, i);
            nid def = m->value[v].def;
            bool kept = !def || m->backward[def] ||
                        r->place->kind[made->origin[def]] != PLACE_NODE || !place_is_pure(m, def) ||
                        (r->kept && r->kept[v]) || r->segment[made->origin[def]] < 0 ||
                        ((of || r->within) && r->segment[made->origin[def]] != r->segment[was]);
            assert_true(kept);
        }
    }
    assert_int_equal(copies, made->copies);
}

/* Sets kept[] for values that go from segment to segment. */
static void keep_between(const struct module *m, const int32_t *segment, uint8_t *kept)
{
    for (nid n = 1; n < m->nnode; n++)
        for (uint32_t i = 0; !m->backward[n] && i < m->node[n].nformal; i++) {
            vid v = node_in(m, n, i);
            if (m->value[v].def && segment[m->value[v].def] != segment[n])
                kept[v] = 1;
        }
}

/* Makes nodes of one random graph again, twice.  Returns how many the first time. */
static uint32_t check_one(struct world *w, bool within, uint64_t *rng)
{
    struct text_module t;
    struct diag d = diag_silent();
    if (module_parse(&t, &(struct named_text){"random", w->said.text, w->said.len, NULL}, NULL, &d))
        fail_msg("does not parse:\n%s", w->said.text);
    struct arena *a = arena_new(NULL);
    struct module *m = t.scene.m;
    struct ctx x = {.use.mem = a, .use.scratch = a, .use.diag = &d, .scene = t.scene};
    struct pipeline p = {0};
    assert_int_equal(pipeline_parse(&p, "infer-shapes,cost", a, &d), 0);
    assert_int_equal(pipeline_run(&p, &x, &(struct run_options){0}), 0);
    assert_int_equal(ctx_base(&x), 0);
    uint32_t nval = m->nval, spare = test_below(rng, SEGMENTS + 1);
    int32_t *segment = arena_array(a, m->nnode, sizeof *segment);
    uint8_t *kept = arena_alloc(a, 4 * (size_t)nval);
    for (uint32_t i = 0; i < FORWARD + BACK; i++)
        segment[m->graph[1].first + i] = w->segment[i] == spare ? -1 : (int32_t)w->segment[i];
    if (!within)
        keep_between(m, segment, kept);
    struct remake_rule r = {x.scene.place, segment, within ? NULL : kept, within};
    const uint64_t *before = meanings(m, a);
    struct remade made = remake(m, &r, a);
    assert_int_equal(module_verify(m, &d), 0);
    const uint64_t *after = meanings(m, a);
    for (vid v = 1; v < nval; v++)
        assert_true(before[v] == after[v]);
    if (made.copies) {
        check_copies(m, &r, &made);
        int32_t *again = arena_array(a, m->nnode, sizeof *again);
        for (nid n = 1; n < m->nnode; n++)
            again[n] = segment[made.origin[n]];
        x.scene.place = place_build(m, NULL, 0, a, &d);
        r = (struct remake_rule){x.scene.place, again, within ? NULL : kept, within};
        assert_int_equal(remake(m, &r, a).copies, 0);
    }
    arena_free(a);
    arena_free(m->mem);
    return made.copies;
}

/* All backward nodes read what is made again (within: of their own segment), with equal meanings. */
static void check(bool within)
{
    uint64_t rng = within ? 7 : 8;
    uint32_t copies = 0;
    for (uint32_t i = 0; i < GRAPHS; i++) {
        struct world w;
        make(&w, &rng);
        copies += check_one(&w, within, &rng);
    }
    assert_true(copies > GRAPHS);
}

static void test_all_segments(void **state)
{
    (void)state;
    check(/*within=*/false);
}

static void test_own_segment(void **state)
{
    (void)state;
    check(/*within=*/true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_all_segments),
                                       cmocka_unit_test(test_own_segment)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
