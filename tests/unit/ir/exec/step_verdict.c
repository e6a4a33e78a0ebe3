/* What a plan comes to in one step (step_verdict.h), and its parts (plan/transfer_cut.c, plan/order.h): makespans,
 * memory and bounds of random plans against the slow simulator; parts cut at transfers take as long as nodes. */
#include "ir/exec/evaluate.h"
#include "ir/exec/makespan/step_verdict.h"
#include "ir/plan/order.h"
#include "tests/support/aim.h"
#include "tests/support/step_draw.h"

enum { GRAPHS = 250 };

static struct plan plan_of(const struct made *s)
{
    return (struct plan){.dev = (int32_t *)s->dev, .rank = s->order};
}

static int64_t weights_on(const struct made *s, int32_t dev)
{
    int64_t bytes = 0;
    for (nid n = s->first; n < s->first + s->n; n++)
        if (s->of.place->kind[n] == PLACE_NODE && s->dev[n] == dev && s->of.m->ir_version == 0)
            bytes += s->of.m->cost->own[n];
    return bytes;
}

/* Values, times and what is not runnable, under every way to run a step. */
static void values(void **state)
{
    (void)state;
    uint64_t rng = 31;
    uint32_t stuck = 0, over = 0, fit = 0;
    static struct made s;
    static struct slow o;
    for (uint32_t i = 0; i < GRAPHS; i++) {
        struct step_model how = {0};
        draw(&s, &rng, i % 2, i % 5 != 0);
        aim_at(&s.of.model, "makespan");
        for (uint32_t k = 0; k < s.of.cluster->ncls && i % 3 != 0; k++)
            s.of.cluster->cls[k].memory = test_below(&rng, 300);
        do {
            struct plan p = plan_of(&s);
            s.of.model.step = how;
            struct evaluation e = plan_evaluate(&s.of, &p, s.a);
            slow_make(&o, &s, how);
            slow_run(&o);
            assert_int_equal(e.v.runnable, !o.stuck);
            stuck += o.stuck;
            if (o.stuck) {
                assert_non_null(strstr(e.why_not, "waits for"));
                continue;
            }
            int64_t end = 0, compute[MOST_DEVS] = {0}, moves[MOST_DEVS] = {0};
            for (uint32_t k = 0; k < o.n; k++) {
                const struct job *j = &o.job[k];
                if (j->kind != STEP_COMPUTE && j->from >= 0)
                    moves[j->from] += j->time;
                if (j->kind != STEP_COMPUTE && j->to >= 0)
                    moves[j->to] += j->time;
                end = j->start + j->time > end ? j->start + j->time : end;
                if (j->kind == STEP_COMPUTE)
                    compute[s.dev[j->node]] += j->time;
            }
            assert_int_equal(e.value, end);
            assert_true(step_bound_of(&s.of, true, s.a).value <= end);
            bool fits = true;
            for (uint32_t d = 0; d < s.of.cluster->ndev; d++) {
                int64_t memory = s.of.cluster->cls[cluster_class(s.of.cluster, d)].memory;
                assert_int_equal(e.v.load[d].compute, compute[d]);
                assert_int_equal(e.v.load[d].transfer, moves[d]);
                assert_true(e.v.load[d].used >= weights_on(&s, (int32_t)d));
                assert_int_equal(e.v.load[d].used,
                                 ((const struct step_run *)e.v.run)
                                     ->t.peak[d]); /* unit_single_step is about these */
                fits = fits && (memory < 0 || e.v.load[d].used <= memory);
            }
            assert_int_equal(e.v.fits, fits);
            over += !fits;
            fit += fits;
        } while (next_model(&how));
        unload(&s);
    }
    assert_true(stuck > GRAPHS && over > GRAPHS && fit > GRAPHS);
}

/* ---- every plan of small graphs -------------------------------------------------------------------- */

/* The next order of the nodes; false: that was the last one. */
static bool next_order(struct made *s)
{
    uint32_t i = s->n, k = s->n, *r = &s->rank[s->first], t;
    if (i < 2)
        return false;
    for (i = s->n - 1; i > 0 && r[i - 1] >= r[i]; i--)
        ;
    if (i == 0)
        return false;
    while (r[--k] <= r[i - 1])
        ;
    t = r[k], r[k] = r[i - 1], r[i - 1] = t;
    for (k = s->n - 1; i < k; i++, k--)
        t = r[k], r[k] = r[i], r[i] = t;
    return true;
}

/* All orders of the nodes where they are now. */
static uint32_t check_orders(struct made *s)
{
    static struct slow o;
    uint32_t plans = 0;
    for (uint32_t i = 0; i < s->n; i++)
        s->rank[s->first + i] = i;
    s->order = s->rank;
    do {
        struct plan p = plan_of(s);
        for (enum contention c = 0; c < CONTENTIONS; c++) {
            struct step_model how = {.network = NETWORK_DIRECT, .contention = c};
            s->of.model.step = how;
            struct evaluation e = plan_evaluate(&s->of, &p, s->a);
            slow_make(&o, s, how);
            slow_run(&o);
            int64_t end = 0;
            for (uint32_t k = 0; k < o.n; k++)
                end = o.job[k].start + o.job[k].time > end ? o.job[k].start + o.job[k].time : end;
            assert_int_equal(e.value, o.stuck ? INT64_MAX : end);
            plans++;
        }
    } while (next_order(s));
    return plans;
}

static void all_plans(void **state)
{
    (void)state;
    uint64_t rng = 35;
    uint32_t plans = 0;
    static struct made s;
    for (uint32_t done = 0; done < 30;) {
        draw(&s, &rng, done % 2, true);
        bool small = s.n >= 2 && s.n <= 4 && s.of.cluster->ndev == 2;
        aim_at(&s.of.model, "makespan");
        for (uint32_t where = 0; small && where < 1U << s.n; where++) {
            bool can = true;
            for (uint32_t i = 0; i < s.n; i++) {
                nid n = s.first + i;
                bool placed = s.of.place->kind[n] == PLACE_NODE;
                uint32_t d = where >> i & 1;
                can = can &&
                      (placed ? s.of.m->cost->time[cluster_class(s.of.cluster, d)][n] != COST_NEVER
                              : d == 0);
                s.dev[n] = placed ? (int32_t)d : -1;
            }
            plans += can ? check_orders(&s) : 0;
        }
        done += small;
        unload(&s);
    }
    print_message("%u plans\n", plans);
    assert_true(plans > 10000);
}

/* What lasts is there beside what comes and goes, and decides what fits. */
static void memory(void **state)
{
    static const char text[] = "ir_version 0\nclass acc x2 memory=%dB\ngraph {\n"
                               "  %%a = profile:op() : ? !bytes=10B !xfer=4ps !time=1ps !own=100B\n"
                               "  %%b = profile:op(%%a) : ? !bytes=3B !time=2ps !own=7B\n}\n";
    (void)state;
    for (int room = 109; room <= 110; room++) {
        char buf[sizeof text + 8];
        static struct made s;
        snprintf(buf, sizeof buf, text, room);
        load_on(&s, buf, false, "01");
        aim_at(&s.of.model, "makespan");
        struct plan p = plan_of(&s);
        struct evaluation e = plan_evaluate(&s.of, &p, s.a);
        assert_int_equal(e.v.load[0].used, 110);
        assert_int_equal(e.v.load[1].used, 7 + 10);
        assert_int_equal(e.v.fits, room == 110);
        assert_int_equal(evaluation_holds(&e, false), room == 110);
        s.of.model.memory = MEMORY_SUM;
        e = plan_evaluate(&s.of, &p, s.a);
        assert_int_equal(e.v.load[0].used, 100);
        unload(&s);
    }
}

static void check_memory(const char *text, const char *devs, const struct exec_model *how,
                         int64_t first, int64_t second)
{
    static struct made s;
    load_on(&s, text, how->io_free, devs);
    aim_at(&s.of.model, "makespan");
    s.of.model.memory = how->memory;
    s.of.model.optimizer = how->optimizer;
    struct plan p = plan_of(&s);
    struct evaluation e = plan_evaluate(&s.of, &p, s.a);
    assert_int_equal(e.v.load[0].used, first);
    assert_int_equal(e.v.load[1].used, second);
    unload(&s);
}

static void check_paper(const char *text, const char *devs, int64_t first, int64_t second)
{
    struct exec_model paper = {.memory = MEMORY_PAPER}, adam = {.memory = MEMORY_PAPER};
    adam.optimizer = 2;
    check_memory(text, devs, &paper, first, second);
    int64_t more = strstr(text, "!backward") ? 80 : 0; /* w is on the first */
    check_memory(text, devs, &adam, first + more, second);
}

/* The table of the paper by hand: a weight w of 40 bytes, a (100 bytes and 5 beside), Relu b in place, c (30 bytes). */
static void paper_table(void **state)
{
    static const char nodes[] =
        "class acc x2\ngraph {\n  in %x : f32[2] !bytes=8B\n"
        "  init %w : f32[2] = [1, 1] !bytes=40B\n"
        "  %a = Add(%x, %w) : f32[25] !bytes=100B !own=105B !time=1ps\n"
        "  %b = Relu(%a) : f32[25] !bytes=100B !own=100B !time=1ps\n"
        "  %c = Neg(%b) : f32[7] !bytes=30B !own=30B !time=1ps\n  out %c\n}\n";
    (void)state;
    check_paper(nodes, "000", 40 + 8 + 105, 0); /* weight, copy of x, a; b takes nothing, c 30 */
    check_paper(nodes, "001", 40 + 8 + 105, 100 + 30);
    check_paper(nodes, "011", 40 + 8 + 105, 100 + 100); /* b has a copy for an operand */
    static const char training[] =
        "class acc x2\ngraph {\n  in %x : f32[2] !bytes=8B\n"
        "  init %w : f32[2] = [1, 1] !bytes=40B\n"
        "  %a = Add(%x, %w) : f32[25] !bytes=100B !own=105B !time=1ps\n"
        "  %b = Relu(%a) : f32[25] !bytes=100B !own=100B !time=1ps\n"
        "  %c = Neg(%b) : f32[7] !bytes=30B !own=30B !time=1ps\n"
        "  %d = Abs(%c) : f32[7] !bytes=70B !own=72B !time=1ps !backward\n  out %d\n}\n";
    /* the weight and its gradient, x, results of a and c, and while a runs 5 and its gradient */
    check_paper(training, "0000", 80 + 8 + 100 + 30 + 105, 0);
    /* there only d, which reads a copy of c; on the other c leaves */
    check_paper(training, "0001", 80 + 8 + 100 + 30 + 105, 30 + 72);
    /* the step as it runs: the weight, a and b (for in place is not known here); a copy of c, d and 2 beside */
    struct exec_model live = {.memory = MEMORY_LIVE}, sum = {.memory = MEMORY_SUM};
    check_memory(nodes, "000", &live, 40 + 100 + 100, 0);
    check_memory(nodes, "001", &live, 40 + 100 + 100, 100 + 30);
    check_memory(training, "0000", &live, 40 + 100 + 100, 0);
    check_memory(training, "0001", &live, 40 + 100 + 100, 30 + 72);
    /* x is there already, and stays there, on each device that reads it */
    struct exec_model there = {.memory = MEMORY_LIVE, .io_free = true};
    check_memory(nodes, "000", &there, 40 + 8 + 100 + 100, 0);
    check_memory("class acc x2\ngraph {\n  in %x : f32[2] !bytes=8B\n"
                 "  %a = Neg(%x) : f32[5] !bytes=20B !own=20B !time=1ps\n"
                 "  %b = Add(%x, %a) : f32[5] !bytes=20B !own=20B !time=1ps\n"
                 "  %c = Add(%x, %b) : f32[5] !bytes=20B !own=20B !time=1ps\n  out %c\n}\n",
                 "011", &there, 8 + 20, 8 + 20 + 20);
    live.optimizer = sum.optimizer = 2;
    check_memory(nodes, "000", &live, 40 + 100 + 100, 0); /* nothing is trained */
    check_memory(training, "0001", &live, 3 * 40 + 100 + 100, 30 + 72);
    check_memory(nodes, "000", &sum, 40 + 105 + 100 + 30, 0);
    check_memory(training, "0001", &sum, 3 * 40 + 105 + 100 + 30, 72);
}

/* Operators that write over an operand which nobody else reads and which is no output of the model.  In inference the
 * largest result counts (a 60, b 100, c 30), in training those of a and b, and the largest gradient. */
static void in_place(void **state)
{
    static const struct {
        const char *op, *more;
        bool over;
    } t[] = {{"Relu", "", true},
             {"Flatten", "", true},
             {"Squeeze", "", true},
             {"Unsqueeze", "", true},
             {"Reshape", "", true},
             {"Identity", "", true},
             {"Neg", "", false},
             {"Relu", "  out %a\n", false},
             {"Softmax", "", false},
             {"Relu", "  %d = Neg(%a) : f32[1] !bytes=1B !own=1B !time=1ps\n  out %d\n", false}};
    struct exec_model paper = {.memory = MEMORY_PAPER};
    (void)state;
    for (size_t i = 0; i < 4 * sizeof t / sizeof *t; i++) {
        char text[600];
        bool training = i % 2;
        paper.io_free = i % 4 > 1;
        int64_t b = t[i / 4].over ? 0 : 100, most = b > 60 ? b : 60;
        snprintf(text, sizeof text,
                 "class acc x2\ngraph {\n  in %%x : f32[2] !bytes=8B\n"
                 "  %%a = Neg(%%x) : f32[15] !bytes=60B !own=60B !time=1ps\n"
                 "  %%b = %s(%%a) : f32[15] !bytes=100B !own=100B !time=1ps\n"
                 "  %%c = Neg(%%b) : f32[7] !bytes=30B !own=30B !time=1ps%s\n%s  out %%c\n}\n",
                 t[i / 4].op, training ? " !backward" : "", t[i / 4].more);
        bool more =
            strstr(t[i / 4].more, "%d") != NULL; /* on the other device: a copy of a, and d */
        int64_t second = more ? 60 + (training ? 1 + 1 : 1) : 0;
        check_memory(text, more ? "0001" : "000", &paper,
                     (paper.io_free ? 0 : 8) + (training ? 60 + b : 0) + most, second);
    }
}

/* ---- two chained steps --------------------------------------------------------------------------------- */

enum { LAYERS = 5, CHAINS = 300 };

/* Layers one after the other: weights a, results b, what a node needs beside its results, forward and back; the loss,
 * which makes the first gradient, is the back of layer n.  Layers below cut are on the first device. */
struct chain {
    uint32_t n, cut;
    int64_t a[LAYERS], b[LAYERS + 1], ahead[LAYERS], back[LAYERS + 1];
};

static void draw_chain(struct chain *c, uint64_t *rng)
{
    *c = (struct chain){.n = 1 + test_below(rng, LAYERS)};
    c->cut = test_below(rng, c->n);
    for (uint32_t i = 0; i < c->n; i++) {
        c->a[i] = 1 + test_below(rng, 100);
        c->b[i] = 1 + test_below(rng, 100);
        c->ahead[i] = test_below(rng, 100);
        c->back[i] = test_below(rng, 100);
    }
    c->back[c->n] = test_below(rng, 100);
}

/* The nodes of step s, "y0_3" and so on; in the second one each gradient dw is there until its new one is. */
static void write_step(FILE *f, const struct chain *c, uint32_t s, const char *flag)
{
    for (uint32_t i = 0; i < c->n; i++) {
        fprintf(f, "  %%y%u_%u = profile:op(%%w%u", s, i, i);
        if (i)
            fprintf(f, ", %%y%u_%u", s, i - 1);
        fprintf(f, ") : ? !bytes=%lldB !xfer=1ps !own=%lldB !time=1ps\n", (long long)c->b[i],
                (long long)(c->b[i] + c->ahead[i]));
    }
    fprintf(f,
            "  %%d%u_%u = profile:op(%%y%u_%u) : ? !bytes=%lldB !xfer=1ps !own=%lldB !time=1ps%s\n",
            s, c->n, s, c->n - 1, (long long)c->b[c->n - 1],
            (long long)(c->b[c->n - 1] + c->back[c->n]), flag);
    for (uint32_t i = c->n; i-- > 0;) {
        fprintf(f, "  %%dw%u_%u", s, i);
        if (i)
            fprintf(f, ", %%d%u_%u", s, i);
        fprintf(f, " = profile:op(%%w%u, %%d%u_%u", i, s, i + 1);
        if (i)
            fprintf(f, ", %%y%u_%u", s, i - 1);
        if (s)
            fprintf(f, ", %%dw%u_%u", s - 1, i);
        fprintf(f, ") : ? !bytes=%lldB", (long long)c->a[i]);
        if (i)
            fprintf(f, ", ? !bytes=%lldB !xfer=1ps", (long long)c->b[i - 1]);
        fprintf(f, " !own=%lldB !time=1ps%s\n",
                (long long)(c->a[i] + (i ? c->b[i - 1] : 0) + c->back[i]), flag);
    }
}

/* Bytes of both devices. */
static void chain_memory(const struct chain *c, uint32_t steps, enum memory_model memory,
                         int64_t bytes[2])
{
    static struct made s;
    char *text = NULL, devs[4 * LAYERS + 3] = "";
    uint32_t ndev = 0;
    size_t size = 0;
    FILE *f = open_memstream(&text, &size);
    fprintf(f, "class acc x2\ngraph {\n");
    for (uint32_t i = 0; i < c->n; i++)
        fprintf(f, "  init %%w%u : f32[1] = [1] !bytes=%lldB\n", i, (long long)c->a[i]);
    for (uint32_t k = 0; k < steps; k++) {
        write_step(f, c, k, steps == 1 ? " !backward" : "");
        for (uint32_t i = 0; i < 2 * c->n + 1; i++) {
            uint32_t layer = i < c->n ? i : 2 * c->n - i;
            devs[ndev++] = layer < c->cut ? '0' : '1';
        }
    }
    for (uint32_t i = 0; i < c->n; i++)
        fprintf(f, "  out %%dw%u_%u\n", steps - 1, i);
    fprintf(f, "}\n");
    fclose(f);
    load_on(&s, text, true, devs);
    aim_at(&s.of.model, "makespan");
    s.of.model.memory = memory;
    struct plan p = plan_of(&s);
    struct evaluation e = plan_evaluate(&s.of, &p, s.a);
    assert_true(e.v.runnable);
    for (uint32_t d = 0; d < 2; d++)
        bytes[d] = e.v.load[d].used;
    unload(&s);
    free(text);
}

/* What the table says of device d; *last: the most that the loss and the last layer's back add, where it runs. */
static int64_t closed_form(const struct chain *c, uint32_t d, int64_t *last)
{
    int64_t stays = 0, runs = 0;
    *last = 0;
    for (uint32_t i = 0; i < c->n; i++) {
        int64_t before = i ? c->b[i - 1] : 0, back = before + c->a[i] + c->back[i];
        if ((i >= c->cut) != d)
            continue;
        stays += 2 * c->a[i] + c->b[i];
        runs = larger(runs, larger(c->ahead[i] + c->b[i], back));
        if (i == c->n - 1)
            *last = larger(c->b[i] + c->back[c->n], back);
    }
    return stays + (c->cut ? c->b[c->cut - 1] : 0) + larger(runs, *last);
}

/* Paper 004, 1.3.1: at the end of the second step's forward pass, when the gradients of the first are there. */
static void second_step(void **state)
{
    (void)state;
    uint64_t rng = 53;
    uint32_t exact = 0, more = 0;
    for (uint32_t i = 0; i < CHAINS; i++) {
        struct chain c;
        int64_t table[2], once[2], twice[2], last;
        draw_chain(&c, &rng);
        chain_memory(&c, 1, MEMORY_PAPER, table);
        chain_memory(&c, 1, MEMORY_LIVE, once);
        chain_memory(&c, 2, MEMORY_LIVE, twice);
        for (uint32_t d = 0; d < 2; d++) {
            int64_t form = closed_form(&c, d, &last);
            assert_int_equal(table[d], form);
            assert_true(once[d] <= twice[d] && twice[d] <= form);
            more += once[d] < twice[d];
        }
        int64_t stays =
            (c.cut ? c.b[c.cut - 1] : 0) + last; /* where the last layer is, what decides */
        for (uint32_t k = c.cut; k < c.n; k++)
            stays += 2 * c.a[k] + c.b[k];
        if (stays == table[1]) {
            exact += twice[1] == stays;
            assert_true(c.cut || twice[1] == stays);
        }
    }
    assert_true(exact > CHAINS / 4 && more > CHAINS / 4);
}

/* ---- bound ------------------------------------------------------------------------------------------- */

/* The longest way to node n through values, each node at its fastest; copies take nothing. */
static int64_t longest(const struct made *s, nid n, int64_t *known)
{
    int64_t most = 0, least = INT64_MAX;
    if (known[n] >= 0)
        return known[n];
    for (uint32_t i = 0; i < s->of.m->node[n].nformal; i++) {
        nid def = s->of.m->value[node_in(s->of.m, n, i)].def;
        int64_t t = def ? longest(s, def, known) : 0;
        most = t > most ? t : most;
    }
    for (uint32_t k = 0; k < s->of.cluster->ncls; k++)
        if (s->of.m->cost->time[k][n] != COST_NEVER && s->of.m->cost->time[k][n] < least)
            least = s->of.m->cost->time[k][n];
    return known[n] = most + (s->of.place->kind[n] == PLACE_NODE ? least : 0);
}

static void bounds(void **state)
{
    (void)state;
    uint64_t rng = 32;
    static struct made s;
    for (uint32_t i = 0; i < GRAPHS; i++) {
        int64_t known[MOST_NODES], path = 0;
        draw(&s, &rng, i % 2, true);
        memset(known, 0xff, sizeof known);
        for (nid n = s.first; n < s.first + s.n; n++) {
            int64_t t = s.of.place->kind[n] == PLACE_NODE ? longest(&s, n, known) : 0;
            path = t > path ? t : path;
        }
        assert_int_equal(step_bound(&s.of, s.a).path, path);
        unload(&s);
    }
}

/* ---- parts ------------------------------------------------------------------------------------------- */

/* Whether the walk has every placed node once, each behind what it reads, on each device in the order of ranks. */
static void check_walk(const struct made *s, const struct plan *p, const nid *walk, uint32_t n)
{
    uint32_t at[MOST_NODES] = {0}, placed = 0;
    for (uint32_t i = 0; i < n; i++) {
        assert_int_equal(at[walk[i]], 0);
        at[walk[i]] = i + 1;
    }
    for (nid v = s->first; v < s->first + s->n; v++) {
        placed += s->of.place->kind[v] == PLACE_NODE;
        assert_int_equal(at[v] != 0, s->of.place->kind[v] == PLACE_NODE);
        for (nid u = s->first; at[v] && u < v; u++)
            if (at[u] && s->dev[u] == s->dev[v]) {
                bool before = !p->rank || p->rank[u] <= p->rank[v];
                assert_int_equal(at[u] < at[v], before);
            }
    }
    for (uint32_t e = 0; e < s->of.place->nnet; e++) {
        const struct csr *pin = &s->of.place->net_pin;
        nid def = s->of.m->value[s->of.place->net_value[e]].def;
        for (uint32_t i = pin->at[e]; def && at[def] && i < pin->at[e + 1]; i++)
            assert_true(pin->to[i] == def || at[def] < at[pin->to[i]]);
    }
    assert_int_equal(n, placed);
}

/* A node within a part that waits: it starts after the one before it has ended, or takes no time, and so starts after
 * the hops of that moment; 0: there is none. */
static nid find_waiting(const struct made *s, const struct plan *p, const struct parts *parts,
                        const struct step_run *run)
{
    uint32_t n;
    const nid *order = plan_order(p, s->of.m, s->a, &n);
    for (uint32_t i = 0; i < parts->nparts; i++) {
        int64_t end = -1;
        for (uint32_t k = 0; k < n; k++) {
            if (parts->part_of[order[k]] != (int32_t)i)
                continue;
            uint32_t t = 0;
            while (run->g.task[t].number != order[k])
                t++;
            if (end >= 0 && (run->t.start[t] > end || run->g.task[t].time == 0))
                return order[k];
            end = run->t.start[t] + run->g.task[t].time;
        }
    }
    return 0;
}

/* In the order of the plan the parts that are cut at transfers end when the nodes do, whatever hops hold. */
static void parts_like_nodes(void **state)
{
    (void)state;
    uint64_t rng = 33;
    uint32_t more = 0, runs = 0, slower = 0, apart = 0;
    static struct made s;
    for (uint32_t i = 0; i < 2 * GRAPHS; i++) {
        struct step_model how = {0};
        draw(&s, &rng, i % 2, true);
        struct plan p = plan_of(&s);
        uint32_t n;
        aim_at(&s.of.model, "makespan");
        const nid *walk = plan_walk(&s.of, &p, s.a, &n);
        assert_non_null(walk);
        check_walk(&s, &p, walk, n);
        struct parts *fine = parts_by_transfers(&s.of, &p, s.a);
        struct parts *few = parts_build(&s.of, s.dev, s.a);
        assert_non_null(fine);
        more += fine->nparts > few->nparts;
        do {
            s.of.model.step = how;
            if (how.dispatch != DISPATCH_PLAN || how.contention == CONTENTION_BAECHI)
                continue;
            struct evaluation e = plan_evaluate(&s.of, &p, s.a);
            bool same = e.value == step_of_parts(&s.of, &p, fine, s.a);
            nid waits = same ? 0 : find_waiting(&s, &p, fine, e.v.run);
            if (!same && !waits) {
                module_print(stderr, &s.of, &p);
                fail_msg("%s %s: nodes %lld, parts %lld", network_name[how.network],
                         contention_name[how.contention], (long long)e.value,
                         (long long)step_of_parts(&s.of, &p, fine, s.a));
            }
            if (waits && i % 2) /* no time is 0 */
                assert_int_equal(how.contention, CONTENTION_BLOCKING);
            apart += !same;
            if (fine->nparts == 1) {
                s.of.model.part_cost = 17;
                assert_int_equal(step_of_parts(&s.of, &p, fine, s.a), e.value + 17);
                s.of.model.part_cost = 0;
            }
            runs++;
            slower += step_of_parts(&s.of, &p, few, s.a) > e.value;
        } while (next_model(&how));
        unload(&s);
    }
    print_message("%u runs, in %u of them a node waits within a part\n", runs, apart);
    assert_true(more > GRAPHS / 2 && slower > runs / 10 && apart < runs / 20);
}

static void orders_without_walk(void **state)
{
    (void)state;
    uint64_t rng = 34;
    uint32_t none = 0;
    static struct made s;
    static struct slow o;
    for (uint32_t i = 0; i < 2 * GRAPHS; i++) {
        draw(&s, &rng, i % 2, false);
        struct plan p = plan_of(&s);
        uint32_t n;
        slow_make(&o, &s, (struct step_model){0});
        slow_run(&o);
        const nid *walk = plan_walk(&s.of, &p, s.a, &n);
        assert_int_equal(walk == NULL, o.stuck);
        assert_int_equal(parts_by_transfers(&s.of, &p, s.a) == NULL, o.stuck);
        if (walk)
            check_walk(&s, &p, walk, n);
        none += o.stuck;
        unload(&s);
    }
    assert_true(none > GRAPHS / 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(values),
                                       cmocka_unit_test(all_plans),
                                       cmocka_unit_test(memory),
                                       cmocka_unit_test(paper_table),
                                       cmocka_unit_test(in_place),
                                       cmocka_unit_test(second_step),
                                       cmocka_unit_test(bounds),
                                       cmocka_unit_test(parts_like_nodes),
                                       cmocka_unit_test(orders_without_walk)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
