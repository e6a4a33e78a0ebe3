/* shard_search() against an integer program that knows no tables, on layers of GPT, BERT and Llama: the same value.
 *
 * The program has a bit for each node and option; for each value, shares that say in which states it is there, whether
 * it is joined, and in which states it is cut from the whole one.  Without lp_solve and CBC, and without pcc-gen, the
 * test is skipped. */
#include "passes/shard/shard.h"
#include "ir/base/clock.h"
#include "ir/text/text.h"
#include "passes/integer/mip.h"
#include "passes/shapes/infer_shapes.h"
#include "tools/lib/exec/kinds.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const double US = 1e-6; /* of a ps */

/* The columns of a value. */
struct columns {
    uint32_t there[SHARD_STATES + 2]; /* [bit] it is there in that state */
    uint32_t cut[SHARD_STATES + 2];   /* [bit] it is cut from the whole one */
    uint32_t joined;                  /* it is joined */
    uint32_t nbit;
};

struct program {
    const struct shard *s;
    struct mip *mip;
    uint32_t *whole, *option; /* [node], [option] bits that choose */
    struct columns *of;       /* [value] */
};

/* Whether the node is computed by the devices. */
static bool is_computed(const struct shard *s, nid n)
{
    return s->m->node[n].graph == 1 && s->kind[n] == SHARD_NODE;
}

/* Adds a column for each option of each node, and a row for each node: one option, or whole. */
static void add_nodes(struct program *p)
{
    const struct shard *s = p->s;
    for (nid n = 1; n < s->m->nnode; n++) {
        if (!is_computed(s, n))
            continue;
        p->whole[n] =
            mip_col(p->mip, "whole", 0, 1, (double)s->m->cost->time[s->cls][n] * US, true);
        for (uint32_t o = s->first_opt[n]; o != 0; o = s->opt[o].next)
            p->option[o] = mip_col(p->mip, "option", 0, s->opt[o].gone ? 0 : 1,
                                   (double)s->opt[o].time * US, true);
        mip_row(p->mip, "one", 1, 1);
        mip_term(p->mip, p->whole[n], 1);
        for (uint32_t o = s->first_opt[n]; o != 0; o = s->opt[o].next)
            mip_term(p->mip, p->option[o], 1);
    }
}

/* Adds the columns of value v. */
static void add_value(struct program *p, vid v)
{
    const struct shard *s = p->s;
    struct columns *c = &p->of[v];
    uint32_t also;
    c->nbit = 1;
    for (uint32_t i = s->first_item[v]; i != 0; i = s->item[i].next)
        c->nbit++;
    for (uint32_t b = 0; b < c->nbit; b++)
        c->there[b] = mip_share(p->mip, "there");
    c->joined = mip_col(p->mip, "joined", 0, 1,
                        c->nbit > 1 ? (double)shard_exchange(s, v, 2, 0, &also) * US : 0, false);
    for (uint32_t b = 1; b < c->nbit; b++)
        c->cut[b] =
            mip_col(p->mip, "cut", 0, 1, (double)shard_exchange(s, v, 1, b, &also) * US, false);
}

/* Adds terms, times `by`, for the choices of v's maker that make it in the state with bit b. */
static void add_makers(struct program *p, vid v, uint32_t b, double by)
{
    const struct shard *s = p->s;
    const struct value *k = &s->m->value[v];
    if (k->def == 0 || !is_computed(s, k->def)) {
        if (b == 0)
            mip_term(p->mip, MIP_ONE, by);
        return;
    }
    if (b == 0)
        mip_term(p->mip, p->whole[k->def], by);
    for (uint32_t o = s->first_opt[k->def]; o != 0; o = s->opt[o].next)
        if (shard_bit(s, v, s->opt[o].out[k->outno]) == (int)b)
            mip_term(p->mip, p->option[o], by);
}

/* Adds how v comes to be there in each state. */
static void add_exchanges(struct program *p, vid v)
{
    const struct columns *c = &p->of[v];
    for (uint32_t b = 0; b < c->nbit; b++) {
        mip_row(p->mip, "made", -MIP_INF, 0);
        mip_term(p->mip, c->there[b], 1);
        mip_term(p->mip, b == 0 ? c->joined : c->cut[b], -1);
        add_makers(p, v, b, -1);
        if (b == 0)
            continue;
        mip_row(p->mip, "of the whole", -MIP_INF, 0);
        mip_term(p->mip, c->cut[b], 1);
        mip_term(p->mip, c->there[0], -1);
    }
    if ((p->s->m->value[v].flags & VALUE_OUTPUT) != 0) {
        mip_row(p->mip, "output", 1, MIP_INF);
        mip_term(p->mip, c->there[0], 1);
    }
}

/* Adds that node n reads operand i in a state in which it is there. */
static void add_read(struct program *p, nid n, uint32_t i)
{
    const struct shard *s = p->s;
    vid v = node_in(s->m, n, i);
    const struct columns *c = &p->of[v];
    for (uint32_t b = 0; b < c->nbit; b++) {
        mip_row(p->mip, "read", -MIP_INF, 0);
        mip_term(p->mip, c->there[b], -1);
        if (b == 0)
            mip_term(p->mip, p->whole[n], 1);
        for (uint32_t o = s->first_opt[n]; o != 0; o = s->opt[o].next)
            if (shard_bit(s, v, s->opt[o].in[i]) == (int)b)
                mip_term(p->mip, p->option[o], 1);
    }
}

/* Returns the program for the choice of *s. */
static struct mip *write_program(const struct shard *s, struct arena *a)
{
    const struct module *m = s->m;
    struct program p = {.s = s, .mip = mip_new(a)};
    p.whole = arena_array(a, m->nnode, sizeof *p.whole);
    p.option = arena_array(a, s->nopt, sizeof *p.option);
    p.of = arena_array(a, m->nval, sizeof *p.of);
    add_nodes(&p);
    for (vid v = 1; v < m->nval; v++) {
        bool free = m->value[v].graph != 1 || shard_is_constant(s, v);
        if (free)
            continue;
        add_value(&p, v);
        add_exchanges(&p, v);
    }
    for (nid n = 1; n < m->nnode; n++)
        for (uint32_t i = 0; i < m->node[n].nformal && is_computed(s, n); i++)
            if (p.of[node_in(m, n, i)].nbit != 0 && !node_tells_sizes(m, n))
                add_read(&p, n, i);
    mip_finish(p.mip);
    return p.mip;
}

/* Reads the model that a command makes, as textual IR, into *t. */
static void read_model(struct text_module *t, const char *options, const char *cluster,
                       struct diag *d)
{
    char folder[] = "/tmp/pcc-unit-XXXXXX", command[1024];
    static char text[1 << 20];
    assert_non_null(mkdtemp(folder));
    snprintf(
        command, sizeof command,
        "'%s' %s --no-weights -o %s/m.onnx >/dev/null && '%s' %s/m.onnx -q %s --emit ir -p infer-shapes; rm -r %s",
        getenv("PCC_GEN"), options, folder, getenv("PCC"), folder, cluster, folder);
    FILE *f = popen(command, "r");
    assert_non_null(f);
    size_t n = fread(text, 1, sizeof text - 1, f);
    assert_int_equal(pclose(f), 0);
    text[n] = '\0';
    assert_int_equal(module_parse(t, &(struct named_text){"m", text, n, exec_kinds}, NULL, d), 0);
}

static void search_equals_program(void **state)
{
    static const struct {
        const char *model, *cluster;
        uint32_t ways;
    } row[] = {
        {"gpt --layers 2 --width 512 --heads 8 --vocab 512", "-d 2xa100 --group 2:300GB/s,1us", 2},
        {"gpt --layers 1 --width 2048 --heads 16 --vocab 512", "-d 4xa100 --group 4:300GB/s,2us",
         4},
        {"bert --layers 1 --width 768 --heads 12 --vocab 512", "-d 2xa100 --group 2:63GB/s,5us", 2},
        {"llama --layers 1 --width 4096 --heads 32 --kv-heads 8 --ffn 14336 --vocab 512",
         "-d 2xa100 --group 2:300GB/s,2us", 2},
    };
    const struct mip_solver *solver = mip_usable(&mip_cbc) ? &mip_cbc : &mip_lpsolve;
    (void)state;
    if (getenv("PCC_GEN") == NULL || getenv("PCC") == NULL || !mip_usable(solver)) {
        print_message("skipped: no solver, or no pcc-gen\n");
        exit(77);
    }
    for (uint32_t k = 0; k < sizeof row / sizeof *row; k++) {
        struct text_module t;
        struct diag d = diag_silent();
        struct shard s;
        struct mip_answer answer;
        struct clock clock = {0};
        read_model(&t, row[k].model, row[k].cluster, &d);
        struct ctx x = {.scene = t.scene,
                        .use = {.mem = arena_new(NULL), .scratch = arena_new(NULL), .diag = &d}};
        assert_int_equal(pass_infer_shapes.run(&x, NULL), 0);
        assert_int_equal(pass_cost.run(&x, NULL), 0);
        assert_int_equal(shard_begin(&s, &x, row[k].ways, 0), 0);
        shard_find_options(&s);
        shard_price(&s);
        shard_drop_impossible(&s);
        for (nid n = 1; n < s.m->nnode; n++)
            assert_true(s.kind[n] != SHARD_ONCE);
        clock_limit(&clock, INT64_C(60000000000));
        struct mip *mip = write_program(&s, x.use.scratch);
        mip_solve(solver, mip, 1e-7, &clock, x.use.scratch, &answer);
        shard_prune(&s);
        struct shard_choice c = shard_search(&s, INT64_MAX, NULL);
        print_message("%s: %u columns, %u rows: %.3f us, search %.3f us, widest %u\n", row[k].model,
                      mip->ncol, mip->nrow, answer.value, (double)c.value * US, c.widest);
        assert_int_equal(answer.status, MIP_OPTIMAL);
        assert_true(c.exact);
        assert_true(fabs(answer.value - (double)c.value * US) <= 1e-6 * answer.value);
        arena_free(x.use.mem);
        arena_free(x.use.scratch);
        arena_free(t.scene.m->mem);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(search_equals_program)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
