/* shard_search() against all choices of options, on small random graphs: its value is the least, and is that of its
 * choice; shard_prune() keeps a best choice. */
#include "passes/shard/shard.h"
#include "ir/base/random.h"
#include "ir/text/text.h"
#include "passes/shapes/infer_shapes.h"
#include "tools/lib/exec/kinds.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { NODES = 6, GRAPHS = 200, TEXT = 4096 };

/* Writes a random graph of matrices to text[TEXT]. */
static void draw_graph(char *text, uint64_t *seed)
{
    static const char *const op[] = {"MatMul(%%%c, %%%c)",
                                     "Add(%%%c, %%%c)",
                                     "Relu(%%%c)",
                                     "Transpose(%%%c) {perm=[1, 0]}",
                                     "Softmax(%%%c) {axis=-1}",
                                     "Mul(%%%c, %%%c)",
                                     "MatMul(%%%c, %%%c)"};
    size_t at = (size_t)snprintf(
        text, TEXT,
        "pcc 1\n"
        "cluster network=direct\n"
        "class acc x2 peak=[f32:10T] bandwidth=%uGB/s overhead=1us link=%uGB/s,1us\n"
        "opset ai.onnx 17\ngraph {\n  in %%a : f32[2048,2048]\n  in %%b : f32[2048,2048]\n",
        100 << random_below(seed, 5), 1 << random_below(seed, 10));
    for (char k = 0; k < NODES; k++) {
        uint32_t known = 2 + (uint32_t)k;
        char line[80];
        snprintf(line, sizeof line, op[random_below(seed, 7)], 'a' + (int)random_below(seed, known),
                 'a' + (int)random_below(seed, known));
        at += (size_t)snprintf(text + at, TEXT - at, "  %%%c = %s\n", 'c' + k, line);
    }
    snprintf(text + at, TEXT - at, "  out %%h, %%g\n}\n");
}

/* Returns the ps of choice option[node]: nodes in their order, each pays what its operands lack. */
static int64_t price(const struct shard *s, const uint32_t *option)
{
    const struct module *m = s->m;
    uint32_t *have = arena_array(s->a, m->nval, sizeof *have), also;
    int64_t time = 0;
    for (vid v = 1; v < m->nval; v++)
        have[v] = 1; /* inputs */
    for (nid n = 1; n < m->nnode; n++) {
        const struct shard_option *o = &s->opt[option[n]];
        const struct node *k = &m->node[n];
        if (s->kind[n] == SHARD_DEAD)
            continue;
        for (uint32_t i = 0; i < k->nformal; i++) {
            vid v = node_in(m, n, i);
            uint32_t want = option[n] ? (uint32_t)shard_bit(s, v, o->in[i]) : 0;
            time += shard_exchange(s, v, have[v], want, &also);
            have[v] |= also;
        }
        time += option[n] ? o->time : m->cost->time[s->cls][n];
        vid r = node_out(m, n, 0);
        have[r] = option[n] ? 1u << shard_bit(s, r, o->out[0]) : 1;
        if (m->value[r].flags & VALUE_OUTPUT) {
            time += shard_exchange(s, r, have[r], 0, &also);
            have[r] |= also;
        }
    }
    return time;
}

/* Returns the least price() of all choices, by counting through them. */
static int64_t try_all(const struct shard *s)
{
    uint32_t *option = arena_array(s->a, s->m->nnode, sizeof *option);
    int64_t best = INT64_MAX;
    for (;;) {
        int64_t t = price(s, option);
        best = t < best ? t : best;
        nid n = 1;
        for (; n < s->m->nnode; n++) {
            option[n] = option[n] ? s->opt[option[n]].next : s->first_opt[n];
            if (option[n])
                break;
        }
        if (n == s->m->nnode)
            return best;
    }
}

static void search_finds_the_least(void **state)
{
    char text[TEXT];
    uint32_t cut = 0;
    (void)state;
    for (uint64_t k = 0; k < GRAPHS; k++) {
        struct text_module t;
        struct diag d = diag_silent();
        struct shard s;
        uint64_t seed = k;
        draw_graph(text, &seed);
        if (module_parse(&t, &(struct named_text){"random", text, strlen(text), exec_kinds}, NULL,
                         &d))
            fail_msg("does not parse:\n%s", text);
        struct ctx x = {.scene = t.scene,
                        .use = {.mem = arena_new(NULL), .scratch = arena_new(NULL), .diag = &d}};
        assert_int_equal(pass_infer_shapes.run(&x, NULL), 0);
        assert_int_equal(pass_cost.run(&x, NULL), 0);
        assert_int_equal(shard_begin(&s, &x, 2), 0);
        shard_find_options(&s);
        shard_price(&s);
        int64_t least = try_all(&s);
        struct shard_choice all = shard_search(&s);
        shard_prune(&s);
        struct shard_choice pruned = shard_search(&s);
        if (!all.exact || all.value != least || pruned.value != least ||
            price(&s, pruned.option) != least)
            fail_msg("graph %u: least %lld, found %lld, %lld pruned:\n%s", (unsigned)k,
                     (long long)least, (long long)all.value, (long long)pruned.value, text);
        assert_true(pruned.floor <= least);
        for (nid n = 1; n < s.m->nnode; n++)
            cut += pruned.option[n] != 0;
        arena_free(x.use.mem);
        arena_free(x.use.scratch);
        arena_free(t.scene.m->mem);
    }
    print_message("%u nodes are cut\n", cut);
    assert_true(cut > GRAPHS / 2 && cut < GRAPHS * NODES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(search_finds_the_least)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
