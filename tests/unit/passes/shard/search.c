/* shard_search() against all choices of options, on small random graphs, without sums over devices and with them: its
 * value is the least, and is that of its choice; shard_prune() keeps a best choice. */
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

/* Writes a random graph of matrices to text[TEXT]: square ones, or three rows each, which are not cut. */
static void draw_graph(char *text, uint64_t *seed)
{
    static const char *const square[] = {
        "MatMul(%%%c, %%%c)", "Add(%%%c, %%%c)",    "Relu(%%%c)", "Transpose(%%%c) {perm=[1, 0]}",
        "Mul(%%%c, %%%c)",    "MatMul(%%%c, %%%c)", "Neg(%%%c)",  "Softmax(%%%c) {axis=-1}",
        "Sub(%%%c, %%%c)"};
    static const char *const rows[] = {
        "MatMul(%%%c, %%w)", "Add(%%%c, %%%c)", "Relu(%%%c)",
        "MatMul(%%%c, %%v)", "Sub(%%%c, %%%c)", "Gemm(%%%c, %%w, %%%c)",
        "Mul(%%%c, %%%c)",   "Neg(%%%c)",       "Softmax(%%%c) {axis=-1}"};
    const bool few = random_below(seed, 2) != 0;
    const char *const *op = few ? rows : square, *size = few ? "3" : "2048";
    const uint32_t bandwidth = 20u << random_below(seed, 7), link = 1u << random_below(seed, 10),
                   latency = random_below(seed, 2) != 0 ? 1 : 30;
    size_t at = (size_t)snprintf(
        text, TEXT,
        "pcc 1\n"
        "cluster network=direct\n"
        "class acc x4 peak=[f32:%uT] bandwidth=%uGB/s overhead=1us link=%uGB/s,%uus\n"
        "file 1 \"w\" size=33554432\nopset ai.onnx 17\ngraph {\n"
        "  in %%a : f32[%s,2048]\n  in %%b : f32[%s,2048]\n"
        "  init %%w : f32[2048,2048] = file 1 at 0 len 16777216\n"
        "  init %%v : f32[2048,2048] = file 1 at 16777216 len 16777216\n",
        few ? 1 : 10, bandwidth, link, latency, size, size);
    for (char k = 0; k < NODES; k++) {
        uint32_t known = 2 + (uint32_t)k;
        char line[80];
        uint32_t first = random_below(seed, 4) != 0 ? known - 1 : random_below(seed, known);
        snprintf(line, sizeof line, op[random_below(seed, 9)], 'a' + (int)first,
                 'a' + (int)random_below(seed, known));
        at += (size_t)snprintf(text + at, TEXT - at, "  %%%c = %s\n", 'c' + k, line);
    }
    snprintf(text + at, TEXT - at, "  out %%h, %%g\n}\n");
}

/* Takes node n with option o (0: whole): adds what its operands lack to have[value], the states in which each value is
 * there.  Returns the ps that it takes; -1: an operand cannot be had so. */
static int64_t take(const struct shard *s, nid n, uint32_t option, uint32_t *have)
{
    const struct module *m = s->m;
    const struct shard_option *o = &s->opt[option];
    int64_t time = option ? o->time : m->cost->time[s->cls][n], more;
    uint32_t also;
    for (uint32_t i = 0; i < m->node[n].nformal; i++) {
        vid v = node_in(m, n, i);
        uint32_t want = option ? (uint32_t)shard_bit(s, v, o->in[i]) : 0;
        if (shard_is_constant(s, v))
            continue;
        more = shard_exchange(s, v, have[v], want, &also);
        if (more == SHARD_NEVER)
            return -1;
        time += more;
        have[v] |= also;
    }
    vid r = node_out(m, n, 0);
    have[r] = option ? 1u << shard_bit(s, r, o->out[0]) : 1;
    if (m->value[r].flags & VALUE_OUTPUT) {
        time += shard_exchange(s, r, have[r], 0, &also);
        have[r] |= also;
    }
    return time;
}

/* Returns the ps of choice option[node]: nodes in their order, each pays what its operands lack. */
static int64_t price(const struct shard *s, const uint32_t *option)
{
    uint32_t *have = arena_array(s->a, s->m->nval, sizeof *have);
    int64_t time = 0;
    for (vid v = 1; v < s->m->nval; v++)
        have[v] = 1; /* inputs */
    for (nid n = 1; n < s->m->nnode; n++)
        time += s->kind[n] != SHARD_DEAD ? take(s, n, option[n], have) : 0;
    return time;
}

/* Lowers *best to the least ps of all choices for the nodes from n on, `time` ps after the nodes before it. */
static void try_from(const struct shard *s, nid n, const uint32_t *have, int64_t time,
                     int64_t *best)
{
    uint32_t after[2 * NODES + 4];
    assert_true(s->m->nval <= sizeof after / sizeof *after);
    if (n == s->m->nnode)
        *best = time;
    else if (s->kind[n] == SHARD_DEAD)
        try_from(s, n + 1, have, time, best);
    for (uint32_t o = 0; n < s->m->nnode && s->kind[n] != SHARD_DEAD;
         o = o ? s->opt[o].next : s->first_opt[n]) {
        memcpy(after, have, s->m->nval * sizeof *have);
        int64_t more = take(s, n, o, after);
        if (more >= 0 && time + more < *best)
            try_from(s, n + 1, after, time + more, best);
        if (o ? !s->opt[o].next : !s->first_opt[n])
            return;
    }
}

/* Returns the least price() of all choices, by trying them. */
static int64_t try_all(const struct shard *s)
{
    uint32_t have[2 * NODES + 4];
    int64_t best = INT64_MAX;
    for (vid v = 0; v < sizeof have / sizeof *have; v++)
        have[v] = 1;
    try_from(s, 1, have, 0, &best);
    return best;
}

static void search_finds_the_least(void **state)
{
    char text[TEXT];
    uint32_t cut = 0, summed = 0, lost = 0;
    (void)state;
    for (uint64_t k = 0; k < (uint64_t)2 * GRAPHS; k++) { /* each one with and without sums */
        struct text_module t;
        struct diag d = diag_silent();
        struct shard s;
        uint64_t seed = k / 2;
        draw_graph(text, &seed);
        if (module_parse(&t, &(struct named_text){"random", text, strlen(text), exec_kinds}, NULL,
                         &d))
            fail_msg("does not parse:\n%s", text);
        struct ctx x = {.scene = t.scene,
                        .use = {.mem = arena_new(NULL), .scratch = arena_new(NULL), .diag = &d}};
        assert_int_equal(pass_infer_shapes.run(&x, NULL), 0);
        assert_int_equal(pass_cost.run(&x, NULL), 0);
        assert_int_equal(shard_begin(&s, &x, k % 4 < 2 ? 2 : 4, 0), 0);
        s.sums = k % 2 ? SHARDING_SUMS_ANY : SHARDING_SUMS_NONE;
        shard_find_options(&s);
        shard_price(&s);
        int64_t least = try_all(&s);
        struct shard_choice all = shard_search(&s, INT64_MAX, NULL);
        shard_prune(&s);
        struct shard_choice pruned = shard_search(&s, INT64_MAX, NULL);
        if (!all.exact || all.value != least || pruned.value != least ||
            price(&s, pruned.option) != least)
            fail_msg("graph %u: least %lld, found %lld, %lld pruned:\n%s", (unsigned)k,
                     (long long)least, (long long)all.value, (long long)pruned.value, text);
        assert_true(pruned.floor <= least && pruned.least == least);
        struct shard_choice narrow =
            shard_search_within(&s, 1 + (uint32_t)(k % 3), INT64_MAX, NULL);
        if (narrow.least > least || (narrow.exact ? narrow.value != least : narrow.value < least))
            fail_msg("graph %u: least %lld, in a narrow table %lld, at least %lld:\n%s",
                     (unsigned)k, (long long)least, (long long)narrow.value,
                     (long long)narrow.least, text);
        /* the user has ended the search before it began: one entry of each table is left */
        signal_flag stop = 1;
        struct clock late = {.listener = &(struct listener){.stop = &stop}};
        struct shard_choice last = shard_search(&s, INT64_MAX, &late);
        if (last.widest != 1 || last.value < least || price(&s, last.option) != last.value)
            fail_msg("graph %u: least %lld, found %lld at once, tables of %u:\n%s", (unsigned)k,
                     (long long)least, (long long)last.value, last.widest, text);
        lost += !narrow.exact && narrow.value > least && narrow.least > narrow.floor;
        for (nid n = 1; n < s.m->nnode; n++) {
            cut += pruned.option[n] != 0;
            summed += pruned.option[n] != 0 && shard_is_terms(s.opt[pruned.option[n]].out[0]);
        }
        arena_free(x.use.mem);
        arena_free(x.use.scratch);
        arena_free(t.scene.m->mem);
    }
    print_message("%u nodes are cut, %u make terms; %u narrow tables lose the best\n", cut, summed,
                  lost);
    assert_true(lost > 2 && cut > GRAPHS && cut < 2 * GRAPHS * NODES && summed > GRAPHS / 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(search_finds_the_least)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
