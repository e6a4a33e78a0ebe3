/* The judge, the base level and the planners on random modules, against loads recomputed here from
 * the formula of the design (a device pays for each net that it shares with another device or the
 * host) on the test's own tables, and against all assignments of small modules.
 *
 * The modules have values of several readers, copies (constants, shape arithmetic), shared weights, a
 * state pair, colours, inputs and outputs on the host, nodes that take no time, classes that cannot
 * run everything, and memory limits. */
#include "ir/text/text.h"
#include "passes/pipeline.h"
#include "tests/support/graphs.h"
#include "tests/support/said.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

enum { MODULES = 1500, OPS = 12, VALUES = OPS + 8, CLASSES = 3, DEVICES = 4, TRY_ALL = 20000 };
enum op_kind { OP_ANY, OP_SHAPE, OP_MUL };
enum source { SRC_IN, SRC_STATE, SRC_INIT, SRC_OP };

struct val {
    enum source src;
    uint32_t op;
    int64_t bytes, elems;
    bool output, state; /* state: either end of the pair */
};

struct op {
    enum op_kind kind;
    uint32_t nin, in[3], out, color;
    bool backward;
    int64_t time[CLASSES], own;
    bool needed, constant, copy, small, at_host;
};

struct world {
    struct arena *a;
    struct said said;
    uint32_t ncls, ndev, nval, nop;
    uint32_t forward; /* ops from this one on are of the backward pass */
    bool host[CLASSES], io_free;
    int64_t memory[CLASSES], latency[CLASSES], per_byte[CLASSES];
    uint32_t cls[DEVICES]; /* class of a device */
    struct val val[VALUES];
    struct op op[OPS];
    int32_t pin[OPS];
    struct text_module t;
    struct place *place;
};

/* ---- random modules --------------------------------------------------------------------------- */

static const char *name_of(const struct world *w, uint32_t v)
{
    static char buf[8][32];
    static uint32_t at;
    const struct val *x = &w->val[v];
    char *s = buf[at++ % 8];
    if (x->state)
        snprintf(s, sizeof buf[0], "%s",
                 x->src == SRC_STATE ? "past_key_values.0.key" : "present.0.key");
    else
        snprintf(s, sizeof buf[0], "v%u", v);
    return s;
}

static uint32_t add_value(struct world *w, enum source src, uint64_t *rng)
{
    struct val *v = &w->val[w->nval];
    v->src = src;
    v->elems = test_below(rng, 2) ? 64 : 65; /* 64: still small */
    v->bytes =
        test_below(rng, 4) ? (int64_t)test_below(rng, 90) : 1020 + (int64_t)test_below(rng, 8);
    return w->nval++;
}

static void make_classes(struct world *w, uint64_t *rng)
{
    w->ncls = 1 + test_below(rng, CLASSES);
    w->io_free = test_below(rng, 4) == 0;
    if (w->io_free)
        say(&w->said, "cluster io_free\n");
    for (uint32_t k = 0; k < w->ncls; k++) {
        uint32_t count = 1 + test_below(rng, DEVICES - w->ndev - (w->ncls - k - 1));
        w->host[k] = k && test_below(rng, 2);
        w->memory[k] = test_below(rng, 2) ? -1 : 400 + (int64_t)test_below(rng, 3000);
        w->latency[k] = test_below(rng, 50);
        w->per_byte[k] = 1 + test_below(rng, 2);
        say(&w->said, "class c%u x%u%s link=%s,%lldps", k, count, w->host[k] ? " host" : "",
            w->per_byte[k] == 1 ? "1TB/s" : "500GB/s", (long long)w->latency[k]);
        if (w->memory[k] >= 0)
            say(&w->said, " memory=%lldB", (long long)w->memory[k]);
        say(&w->said, "\n");
        while (count--)
            w->cls[w->ndev++] = k;
    }
}

static void make_op(struct world *w, bool state, uint64_t *rng)
{
    uint32_t i = w->nop++;
    struct op *o = &w->op[i];
    o->kind = state || test_below(rng, 3) ? OP_ANY : 1 + test_below(rng, 2);
    o->nin = o->kind == OP_SHAPE ? 1 : 1 + test_below(rng, 3);
    for (uint32_t k = 0; k < o->nin; k++) { /* recent values rather */
        uint32_t back = test_below(rng, 3) ? 4 : w->nval;
        o->in[k] = w->nval - 1 - test_below(rng, back < w->nval ? back : w->nval);
    }
    if (o->kind == OP_MUL && test_below(rng, 2))
        for (uint32_t v = 0; v < w->nval; v++) /* on purpose: arithmetic on a shape */
            if (w->val[v].src == SRC_OP && w->op[w->val[v].op].kind != OP_ANY)
                o->in[0] = v;
    o->color = test_below(rng, 8) ? 0 : 1 + test_below(rng, 2);
    o->own = test_below(rng, 200);
    uint32_t slow = 1 + test_below(rng, 3), free = test_below(rng, 4) == 0;
    for (uint32_t k = 0; k < w->ncls; k++)
        o->time[k] = free                       ? 0
                     : test_below(rng, 100) < 4 ? COST_NEVER
                                                : (int64_t)(test_below(rng, 300) * slow);
    o->out = add_value(w, SRC_OP, rng);
    w->val[o->out].op = i;
    w->val[o->out].state = state;
    o->small = o->kind != OP_ANY && w->val[o->out].elems <= 64;
    say(&w->said, "  %%%s = %s(", name_of(w, o->out),
        o->kind == OP_ANY     ? "Tanh"
        : o->kind == OP_SHAPE ? "Shape"
                              : "Mul");
    for (uint32_t k = 0; k < o->nin; k++)
        say(&w->said, "%s%%%s", k ? ", " : "", name_of(w, o->in[k]));
    say(&w->said, ") : %s !bytes=%lldB !elems=%lld name=\"n%u\" !own=%lldB !time=[",
        o->kind == OP_ANY ? "f32[4]" : "i64[2]", (long long)w->val[o->out].bytes,
        (long long)w->val[o->out].elems, i, (long long)o->own);
    for (uint32_t k = 0; k < w->ncls; k++)
        if (o->time[k] == COST_NEVER)
            say(&w->said, "%snever", k ? "," : "");
        else
            say(&w->said, "%s%lldps", k ? "," : "", (long long)o->time[k]);
    say(&w->said, "]");
    if (o->color)
        say(&w->said, " !color=%u", o->color);
    o->backward = i >= w->forward;
    say(&w->said, "%s\n", o->backward ? " !backward" : "");
}

static void make_module(struct world *w, uint64_t seed, uint32_t maxops, bool training,
                        struct diag *d)
{
    uint64_t rng = seed * 977;
    uint32_t nop = 1 + test_below(&rng, maxops), state = nop;
    memset(w, 0, sizeof *w);
    w->a = arena_new(NULL);
    make_classes(w, &rng);
    w->forward = training ? test_below(&rng, nop + 1) : nop;
    say(&w->said, "graph {\n");
    for (uint32_t i = test_below(&rng, 3); i-- > 0;)
        add_value(w, SRC_IN, &rng);
    if (test_below(&rng, 2)) {
        w->val[add_value(w, SRC_STATE, &rng)].state = true;
        state = test_below(&rng, nop);
    }
    for (uint32_t i = 1 + test_below(&rng, 3); i-- > 0;)
        add_value(w, SRC_INIT, &rng);
    for (uint32_t v = 0; v < w->nval; v++)
        if (w->val[v].src == SRC_INIT)
            say(&w->said, "  init %%%s : f32[1] = [0.0] !bytes=%lldB !elems=%lld\n", name_of(w, v),
                (long long)w->val[v].bytes, (long long)w->val[v].elems);
        else
            say(&w->said, "  in %%%s : f32[4] !bytes=%lldB !elems=%lld\n", name_of(w, v),
                (long long)w->val[v].bytes, (long long)w->val[v].elems);
    for (uint32_t i = 0; i < nop; i++)
        make_op(w, i == state, &rng);
    say(&w->said, "  out ");
    bool any = false;
    for (uint32_t i = 0; i < nop; i++) {
        struct val *v = &w->val[w->op[i].out];
        v->output = v->state || i == nop - 1 || test_below(&rng, 6) == 0;
        if (v->output)
            say(&w->said, "%s%%%s", any ? ", " : "", name_of(w, w->op[i].out));
        any = any || v->output;
    }
    say(&w->said, "\n}\n");
    bool pins = test_below(&rng, 4) == 0;
    for (uint32_t i = 0; i < nop; i++)
        w->pin[i] = pins && test_below(&rng, 3) == 0 ? (int32_t)test_below(&rng, w->ndev) : -1;
    if (module_parse(&w->t, &(struct named_text){"random", w->said.text, w->said.len, NULL}, NULL,
                     d))
        fail_msg("seed %llu does not parse:\n%s", (unsigned long long)seed, w->said.text);
}

/* ---- the rules, again ------------------------------------------------------------------------- */

static void classify(struct world *w)
{
    for (uint32_t i = w->nop; i-- > 0;) {
        struct op *o = &w->op[i];
        o->needed = o->needed || w->val[o->out].output;
        for (uint32_t k = 0; o->needed && k < o->nin; k++)
            if (w->val[o->in[k]].src == SRC_OP)
                w->op[w->val[o->in[k]].op].needed = true;
    }
    for (uint32_t i = 0; i < w->nop; i++) {
        struct op *o = &w->op[i];
        bool shapes = true; /* all operands: constants, shapes, copies */
        bool hosts = true;  /* all operands: constants, or made at the host */
        o->constant = true;
        for (uint32_t k = 0; k < o->nin; k++) {
            const struct val *v = &w->val[o->in[k]];
            const struct op *p = v->src == SRC_OP ? &w->op[v->op] : NULL;
            o->constant = o->constant && (v->src == SRC_INIT || (p && p->constant));
            shapes = shapes && (v->src == SRC_INIT || (p && (p->copy || p->kind == OP_SHAPE)));
            hosts = hosts && (v->src == SRC_INIT || (p && (p->constant || p->at_host)));
        }
        bool input = o->kind == OP_SHAPE && w->val[o->in[0]].src == SRC_IN;
        o->copy = o->constant || input || (shapes && o->small);
        o->at_host = o->kind == OP_SHAPE || (o->kind == OP_MUL && hosts && o->small);
    }
}

static bool placed(const struct world *w, uint32_t i)
{
    return w->op[i].needed && !w->op[i].copy;
}

/* Whether op i reads v, directly or through copies. */
static bool uses(const struct world *w, uint32_t i, uint32_t v)
{
    for (uint32_t k = 0; k < w->op[i].nin; k++) {
        const struct val *u = &w->val[w->op[i].in[k]];
        if (w->op[i].in[k] == v || (u->src == SRC_OP && w->op[u->op].copy && uses(w, u->op, v)))
            return true;
    }
    return false;
}

struct load {
    int64_t time, transfer, used;
    int64_t part[2][3]; /* forward, backward; time, in, out */
};

static bool is_apart(const struct world *w, const int32_t *dev, uint32_t i, uint32_t j)
{
    return placed(w, i) && placed(w, j) && dev[i] != dev[j];
}

static bool colocated(const struct world *w, const int32_t *dev)
{
    uint32_t past = w->nval;
    for (uint32_t v = 0; v < w->nval; v++)
        past = w->val[v].src == SRC_STATE ? v : past;
    for (uint32_t i = 0; i < w->nop; i++)
        for (uint32_t j = 0; j < w->nop; j++) {
            const struct op *o = &w->op[i];
            bool same = o->color && o->color == w->op[j].color;
            same = same || (o->kind == OP_SHAPE && o->in[0] == w->op[j].out);
            for (uint32_t k = 0; k < o->nin; k++)
                same =
                    same || (o->kind != OP_SHAPE && o->in[k] == past && w->val[w->op[j].out].state);
            if (same && is_apart(w, dev, i, j))
                return false;
        }
    return true;
}

/* Loads of the devices, and whether in neither pass a device depends on itself through others, nor in both with
 * backward turned round. */
static bool recompute(const struct world *w, const int32_t *dev, struct load *load)
{
    bool after[2][DEVICES][DEVICES] = {0}, chain = true;
    memset(load, 0, DEVICES * sizeof *load);
    for (uint32_t i = 0; i < w->nop; i++)
        if (placed(w, i)) {
            int64_t t = w->op[i].time[w->cls[dev[i]]];
            load[dev[i]].time = t == COST_NEVER || load[dev[i]].time == COST_NEVER
                                    ? COST_NEVER
                                    : load[dev[i]].time + t;
            load[dev[i]].used += w->op[i].own;
            int64_t *part = load[dev[i]].part[w->op[i].backward];
            part[0] = t == COST_NEVER || part[0] == COST_NEVER ? COST_NEVER : part[0] + t;
        }
    for (uint32_t v = 0; v < w->nval; v++) {
        const struct val *x = &w->val[v];
        bool on[DEVICES] = {0}, made = x->src == SRC_OP && placed(w, x->op);
        bool bytes = x->src == SRC_INIT || x->src == SRC_STATE ||
                     (x->src == SRC_OP && w->op[x->op].constant && x->bytes >= 1024);
        bool moves = made || x->src == SRC_IN || x->src == SRC_STATE;
        uint32_t n = !w->io_free && !x->state && (x->src == SRC_IN || x->output);
        for (uint32_t i = 0; i < w->nop; i++)
            if (placed(w, i) && (uses(w, i, v) || (made && x->op == i)))
                on[dev[i]] = true;
        for (uint32_t d = 0; d < w->ndev; d++) {
            n += on[d];
            load[d].used += on[d] && bytes ? x->bytes : 0;
        }
        for (uint32_t i = 0; i < w->nop; i++)
            if (made && placed(w, i) && uses(w, i, v) && dev[i] != dev[x->op] &&
                w->op[i].backward == w->op[x->op].backward) {
                after[w->op[i].backward][dev[i]][dev[x->op]] = true;
                if (w->op[i].backward)
                    after[0][dev[x->op]][dev[i]] = true;
            }
        for (uint32_t d = 0; d < w->ndev; d++) {
            uint32_t k = w->cls[d];
            if (on[d] && n > 1 && moves && !w->host[k] && !(w->io_free && x->src == SRC_IN)) {
                int64_t t =
                    (made && w->op[x->op].at_host ? 0 : w->latency[k]) + x->bytes * w->per_byte[k];
                load[d].transfer += t;
                load[d].part[made && w->op[x->op].backward]
                            [made && dev[x->op] == (int32_t)d ? 2 : 1] += t;
            }
        }
    }
    for (uint32_t k = 0; k < w->ndev; k++)
        for (uint32_t i = 0; i < w->ndev; i++)
            for (uint32_t j = 0; j < w->ndev; j++)
                for (uint32_t p = 0; p < 2; p++)
                    after[p][i][j] = after[p][i][j] || (after[p][i][k] && after[p][k][j]);
    for (uint32_t d = 0; d < w->ndev; d++)
        chain = chain && !after[0][d][d] && !after[1][d][d];
    return chain;
}

static int64_t combine(enum overlap o, int64_t time, int64_t in, int64_t out)
{
    if (time == COST_NEVER)
        return COST_NEVER;
    if (o == OVERLAP_SUM)
        return time + in + out;
    int64_t move = o == OVERLAP_DUPLEX ? (in > out ? in : out) : in + out;
    return move > time ? move : time;
}

/* Time per sample for loads, by the rules of the placement paper's 5.3, D and H.1. */
static int64_t value_of(const struct world *w, const struct load *load, enum overlap o, bool gpipe)
{
    int64_t most[2] = {0, 0};
    for (uint32_t d = 0; d < w->ndev; d++) {
        const int64_t *f = load[d].part[0], *b = load[d].part[1];
        bool never = f[0] == COST_NEVER || b[0] == COST_NEVER;
        int64_t whole[2] = {combine(o, f[0], f[1], f[2]), combine(o, b[0], b[1], b[2])};
        if (!gpipe) {
            whole[0] = never ? COST_NEVER : combine(o, f[0] + b[0], f[1] + b[1], f[2] + b[2]);
            whole[1] = 0;
        }
        for (int p = 0; p < 2; p++)
            most[p] = whole[p] > most[p] ? whole[p] : most[p];
    }
    return most[0] == COST_NEVER || most[1] == COST_NEVER ? COST_NEVER : most[0] + most[1];
}

/* ---- tests ------------------------------------------------------------------------------------ */

static struct ctx context(struct world *w, struct diag *d)
{
    struct ctx x = {.use.mem = arena_new(NULL),
                    .use.scratch = arena_new(NULL),
                    .use.diag = d,
                    .scene = w->t.scene};
    struct settings *s = arena_alloc(x.use.mem, sizeof *s);
    struct pin *pin = arena_array(x.use.mem, OPS, sizeof *pin);
    for (uint32_t i = 0; i < w->nop; i++)
        if (w->pin[i] >= 0 && placed(w, i))
            pin[s->npins++] =
                (struct pin){arena_fmt(x.use.mem, "^n%u$", i),
                             cluster_device_name(x.scene.cluster, x.use.mem, (uint32_t)w->pin[i])};
    s->pins = pin;
    x.settings = s;
    return x;
}

static void end(struct world *w, struct ctx *x)
{
    arena_free(x->use.mem);
    arena_free(x->use.scratch);
    arena_free(w->t.scene.m->mem);
    arena_free(w->a);
}

/* Devices of ops as devices of nodes; op i is node first + i. */
static int32_t *node_devices(const struct world *w, const struct ctx *x, const int32_t *dev)
{
    int32_t *of = arena_array(x->use.scratch, x->scene.m->nnode, sizeof *of);
    memset(of, 0xff, x->scene.m->nnode * sizeof *of);
    for (uint32_t i = 0; i < w->nop; i++)
        if (placed(w, i))
            of[x->scene.m->graph[1].first + i] = dev[i];
    return of;
}

static void check_load_verdict(struct world *w, struct ctx *x, const int32_t *dev, uint32_t *kinds)
{
    struct load load[DEVICES];
    bool chain = recompute(w, dev, load), fits = true, runs = true;
    const int32_t *of = node_devices(w, x, dev);
    struct verdict v = load_verdict(&x->scene, of, NULL, x->use.scratch);
    int64_t value = 0;
    for (uint32_t d = 0; d < w->ndev; d++) {
        uint8_t *member = arena_alloc(x->use.scratch, x->levels.base->n + 1);
        int64_t compute, transfer, size, memory = w->memory[w->cls[d]];
        for (uint32_t u = 0; u < x->levels.base->n; u++)
            member[u] = of[x->levels.base->node[u]] == (int32_t)d;
        wdag_load(x->levels.base, member, w->cls[d], &compute, &transfer, &size);
        if (v.load[d].compute != load[d].time || v.load[d].transfer != load[d].transfer ||
            v.load[d].used != load[d].used)
            fail_msg("device %u: the judge has %lld + %lld, %lld B, the formula %lld + %lld, %lld "
                     "B:\n%s",
                     d, (long long)v.load[d].compute, (long long)v.load[d].transfer,
                     (long long)v.load[d].used, (long long)load[d].time,
                     (long long)load[d].transfer, (long long)load[d].used, w->said.text);
        assert_int_equal(compute, load[d].time);
        assert_int_equal(transfer, load[d].transfer);
        assert_int_equal(size, load[d].used);
        fits = fits && (memory < 0 || load[d].used <= memory);
        runs = runs && load[d].time != COST_NEVER;
        int64_t all = load[d].time == COST_NEVER ? COST_NEVER : load[d].time + load[d].transfer;
        value = all > value ? all : value;
        /* exactly enough memory fits, a byte less does not */
        struct device_class *c = &x->scene.cluster->cls[w->cls[d]];
        c->memory = load[d].used;
        bool others = true;
        for (uint32_t e = 0; e < w->ndev; e++) {
            int64_t has = w->cls[e] == w->cls[d] ? c->memory : w->memory[w->cls[e]];
            others = others && (has < 0 || load[e].used <= has);
        }
        assert_int_equal(load_verdict(&x->scene, of, NULL, x->use.scratch).fits, others);
        if (c->memory--)
            assert_false(load_verdict(&x->scene, of, NULL, x->use.scratch).fits);
        c->memory = memory;
    }
    assert_int_equal(v.value, value);
    for (int i = 0; i < 2 * OVERLAPS; i++) {
        bool gpipe = i % 2 && x->scene.m->backward;
        x->scene.model.overlap = (enum overlap)(i / 2);
        x->scene.model.training.schedule = i % 2 ? TRAINING_GPIPE : TRAINING_DAPPLE;
        assert_int_equal(load_verdict(&x->scene, of, NULL, x->use.scratch).value,
                         value_of(w, load, x->scene.model.overlap, gpipe));
    }
    x->scene.model.overlap = OVERLAP_SUM;
    x->scene.model.training.schedule = TRAINING_DAPPLE;
    assert_int_equal(v.fits, fits);
    assert_int_equal(v.runnable, runs);
    assert_int_equal(v.contiguous, chain);
    assert_int_equal(v.colocated, colocated(w, dev));
    kinds[0] += fits;
    kinds[1] += chain;
    kinds[2] += v.colocated;
    kinds[3]++;
}

static void test_load_verdict(void **state)
{
    struct world *w = malloc(sizeof *w);
    uint32_t kinds[4] = {0};
    (void)state;
    for (uint64_t seed = 1; seed <= MODULES; seed++) {
        struct diag d = diag_silent();
        uint64_t rng = seed;
        make_module(w, seed, OPS, seed % 3 == 0, &d);
        classify(w);
        struct ctx x = context(w, &d);
        x.settings = NULL; /* no pins */
        assert_int_equal(ctx_base(&x), 0);
        for (uint32_t i = 0; i < w->nop; i++) {
            uint8_t kind = x.scene.place->kind[x.scene.m->graph[1].first + i];
            if (kind != (!w->op[i].needed ? PLACE_NONE : w->op[i].copy ? PLACE_COPY : PLACE_NODE))
                fail_msg("seed %llu: n%u is of kind %d:\n%s", (unsigned long long)seed, i, kind,
                         w->said.text);
        }
        for (uint32_t round = 0; round < 6; round++) {
            int32_t dev[OPS];
            for (uint32_t i = 0; i < OPS; i++)
                dev[i] = (int32_t)test_below(&rng, w->ndev);
            for (uint32_t i = 1; round > 2 && i < OPS; i++) /* few cuts */
                dev[i] = test_below(&rng, 4) ? dev[i - 1] : dev[i];
            check_load_verdict(w, &x, dev, kinds);
        }
        end(w, &x);
    }
    for (uint32_t k = 0; k < 3; k++) /* often so, often not */
        assert_in_range(kinds[k], kinds[3] / 5, kinds[3] * 24 / 25);
    free(w);
}

/* The least value over all assignments that respect everything; COST_NEVER: none. */
static int64_t try_all(const struct world *w, uint32_t nplaced)
{
    int64_t best = COST_NEVER;
    uint32_t total = 1;
    for (uint32_t i = 0; i < nplaced; i++)
        total *= w->ndev;
    for (uint32_t code = 0; code < total; code++) {
        struct load load[DEVICES];
        int32_t dev[OPS] = {0};
        uint32_t rest = code;
        int64_t value = 0;
        bool ok = true;
        for (uint32_t i = 0; i < w->nop; i++)
            if (placed(w, i)) {
                dev[i] = (int32_t)(rest % w->ndev);
                rest /= w->ndev;
                ok = ok && (w->pin[i] < 0 || w->pin[i] == dev[i]);
            }
        if (!ok || !colocated(w, dev) || !recompute(w, dev, load))
            continue;
        for (uint32_t d = 0; d < w->ndev; d++) {
            int64_t memory = w->memory[w->cls[d]];
            ok = ok && (memory < 0 || load[d].used <= memory) && load[d].time != COST_NEVER;
            value = ok && load[d].time + load[d].transfer > value ? load[d].time + load[d].transfer
                                                                  : value;
        }
        if (ok && value < best)
            best = value;
    }
    return best;
}

/* One pipeline against the optimum. */
static void check_planner(struct world *w, struct diag *d, const char *passes, bool exact,
                          int64_t want, uint64_t seed)
{
    struct ctx x = context(w, d);
    struct pipeline p = {0};
    struct run_options o = {0};
    assert_int_equal(pipeline_parse(&p, passes, x.use.mem, d), 0);
    int rc = pipeline_run(&p, &x, &o);
    int64_t got = rc || !x.results.plan ? COST_NEVER : x.results.plan->claim.value;
    if (rc == PASS_UNVERIFIED || (exact ? got != want : got < want) ||
        (got != COST_NEVER && x.results.plan->claim.bound > want))
        fail_msg("seed %llu: %s gives %lld (%d), the best of all is %lld:\n%s",
                 (unsigned long long)seed, passes, (long long)got, rc, (long long)want,
                 w->said.text);
    for (uint32_t i = 0; got != COST_NEVER && i < w->nop; i++)
        if (placed(w, i) && w->pin[i] >= 0)
            assert_int_equal(x.results.plan->dev[x.scene.m->graph[1].first + i], w->pin[i]);
    arena_free(x.use.mem);
    arena_free(x.use.scratch);
}

static void test_planners(void **state)
{
    static const char *const exact[] = {"contract,dp-place", "contract{trivial=false},dp-place",
                                        "contract,fuse{range=3},dp-place"};
    static const char *const any[] = {"contract,dpl-place{starts=3}",
                                      "contract,linearize{order=thin},dp-place",
                                      "contract,fuse{range=4:cut=edge},dpl-place{starts=1}"};
    struct world *w = malloc(sizeof *w);
    uint32_t solved = 0, none = 0;
    (void)state;
    for (uint64_t seed = 1; seed <= MODULES; seed++) {
        struct diag d = diag_silent();
        uint32_t n = 0, total = 1;
        make_module(w, seed, 9, false, &d);
        classify(w);
        for (uint32_t i = 0; i < w->nop; i++)
            n += placed(w, i);
        for (uint32_t i = 0; i < n && total <= TRY_ALL; i++)
            total *= w->ndev;
        if (total <= TRY_ALL) {
            int64_t want = try_all(w, n);
            for (uint32_t i = 0; i < 3; i++)
                check_planner(w, &d, exact[i], true, want, seed);
            for (uint32_t i = 0; i < 3; i++)
                check_planner(w, &d, any[i], false, want, seed);
            solved += want != COST_NEVER;
            none += want == COST_NEVER;
        }
        arena_free(w->t.scene.m->mem);
        arena_free(w->a);
    }
    assert_true(solved > MODULES / 2 && none > MODULES / 50);
    free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_load_verdict),
                                       cmocka_unit_test(test_planners)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
