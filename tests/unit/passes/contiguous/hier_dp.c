/* Groups of devices: the judge against the formula on the test's own tables, and hier-place against all
 * assignments of devices of random modules.
 *
 * An assignment counts if the quotients by devices and by groups are acyclic; a device whose class has
 * no groups, or groups whose inner link saves nothing, is a group.  The modules have several classes, some
 * on the host, values of several readers, inputs and outputs on the host,
 * measured transfers, shared weights, memory limits, pins, and nodes that run on some classes only.
 * With copies, devices that take turns with a stage are in one such group, or alone in several; half of
 * these modules train, and the copies then exchange the weight. */
#include "ir/text/text.h"
#include "passes/pipeline.h"
#include "tests/support/graphs.h"
#include "tests/support/said.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

enum { OPS = 7, VALS = OPS + 2, CLASSES = 3, DEVICES = 6, MODULES = 600, TRY_ALL = 60000 };

struct world {
    struct said said;
    uint32_t ncls, ndev, nop, nin, cls[DEVICES];
    bool colors;
    bool flat;  /* groups of all devices, whose inner link is the outer one */
    bool turns; /* devices may take turns with a stage */
    bool training, back[OPS];
    bool host[CLASSES], io_free, measured;
    uint32_t group[CLASSES], first[CLASSES];
    struct {
        uint32_t fast[CLASSES]; /* inner rate over the outer one */
        int64_t latency[CLASSES], inner[CLASSES], share[CLASSES];
    } link;
    int64_t memory[CLASSES];
    int64_t bytes[VALS], xfer[VALS]; /* the inputs, then the ops' */
    bool reads[OPS][VALS], needs[OPS], output[OPS];
    int64_t time[OPS][CLASSES], own[OPS], weight;
    int32_t pin[OPS];
    uint32_t color[OPS], vertex[OPS]; /* vertex: of the contracted level */
    struct text_module t;
};

/* ---- random modules --------------------------------------------------------------------------- */

static void make_class(struct world *w, uint32_t k, uint64_t *rng)
{
    uint32_t room = DEVICES - w->ndev - (w->ncls - k - 1);
    uint32_t count = k ? 1 + test_below(rng, room < 2 ? room : 2) : 2 + test_below(rng, room - 1);
    if (!k && w->ncls == 1 && test_below(rng, 2))
        count = 4;
    w->host[k] = k && test_below(rng, 2);
    w->memory[k] = test_below(rng, 2) ? -1 : 15 + (int64_t)test_below(rng, 60);
    w->link.latency[k] = test_below(rng, 30);
    w->first[k] = w->ndev;
    say(&w->said, "class c%u x%u%s link=1TB/s,%lldps", k, count, w->host[k] ? " host" : "",
        (long long)w->link.latency[k]);
    uint32_t half = count % 2 == 0 && test_below(rng, 3) ? count / 2 : count;
    w->group[k] = w->host[k] || test_below(rng, 5) == 0 ? 0 : w->flat ? count : half;
    w->link.fast[k] = w->flat ? 1 : 1 + test_below(rng, 4);
    w->link.inner[k] = w->flat ? w->link.latency[k] : test_below(rng, 20);
    w->link.share[k] = w->flat                   ? 1000000
                       : test_below(rng, 3) == 0 ? 1 + test_below(rng, 1000000)
                                                 : 0;
    if (w->group[k])
        say(&w->said, " group=%u inner=%uTB/s,%lldps", w->group[k], w->link.fast[k],
            (long long)w->link.inner[k]);
    if (w->group[k] && w->link.share[k])
        say(&w->said, " inner_share=%lld", (long long)w->link.share[k]);
    if (w->memory[k] >= 0)
        say(&w->said, " memory=%lldB", (long long)w->memory[k]);
    say(&w->said, "\n");
    while (count--)
        w->cls[w->ndev++] = k;
}

static void make_op(struct world *w, uint32_t i, uint32_t never, uint64_t *rng)
{
    uint32_t n = 1 + test_below(rng, 3), v = w->nin + i;
    say(&w->said, "  %%v%u = Tanh(", v);
    for (uint32_t k = 0; k < n; k++) {
        uint32_t back = test_below(rng, 3) ? 3 : v,
                 from = v - 1 - test_below(rng, back < v ? back : v);
        w->reads[i][from] = true;
        say(&w->said, "%s%%v%u", k ? ", " : "", from);
    }
    w->needs[i] = test_below(rng, 3) == 0;
    say(&w->said, "%s) : f32[4] name=\"n%u\" !bytes=%lldB !own=%lldB", w->needs[i] ? ", %w" : "", i,
        (long long)w->bytes[v], (long long)(w->own[i] = test_below(rng, 20)));
    if (w->measured)
        say(&w->said, " !xfer=%lldps", (long long)w->xfer[v]);
    for (uint32_t k = 0; k < w->ncls; k++) {
        w->time[i][k] = test_below(rng, 100) < never ? COST_NEVER : (int64_t)test_below(rng, 60);
        say(&w->said, k ? "," : " !time=[");
        if (w->time[i][k] == COST_NEVER)
            say(&w->said, "never");
        else
            say(&w->said, "%lldps", (long long)w->time[i][k]);
    }
    w->color[i] = w->colors && test_below(rng, 3) == 0 ? 1 + test_below(rng, 2) : 0;
    w->back[i] = w->training && i >= w->nop / 2;
    say(&w->said, "]");
    if (w->color[i])
        say(&w->said, " !color=%u", w->color[i]);
    say(&w->said, "%s\n", w->back[i] ? " !backward" : "");
    w->pin[i] = -1;
}

/* shape: the settings of w that hold before anything is drawn. */
enum shape { GROUPS, FLAT, TURNS };

static void make(struct world *w, uint64_t seed, enum shape shape, struct diag *d)
{
    uint64_t rng = seed * 31;
    memset(w, 0, sizeof *w);
    w->flat = shape == FLAT;
    w->turns = shape == TURNS;
    w->training = w->turns && seed % 2;
    w->nop = 3 + test_below(&rng, OPS - 2);
    w->nin = 1 + test_below(&rng, 2);
    w->ncls = test_below(&rng, 2) ? 1 : 1 + test_below(&rng, CLASSES);
    w->measured = test_below(&rng, 3) == 0;
    w->colors = test_below(&rng, 3) == 0;
    if ((w->io_free = test_below(&rng, 3) == 0) | w->turns)
        say(&w->said, "cluster%s%s\n", w->io_free ? " io_free" : "", w->turns ? " replicate" : "");
    for (uint32_t k = 0; k < w->ncls; k++)
        make_class(w, k, &rng);
    uint32_t dear = 1 + test_below(&rng, 40), never = test_below(&rng, 4) ? 0 : 8;
    say(&w->said, "graph {\n  init %%w : f32[1] = [0.0] !bytes=%lldB !elems=1\n",
        (long long)(w->weight = 5 + test_below(&rng, 20)));
    for (uint32_t v = 0; v < w->nin + w->nop; v++) {
        w->bytes[v] = test_below(&rng, dear);
        w->xfer[v] = w->measured ? (int64_t)test_below(&rng, dear) : -1;
        if (v >= w->nin)
            continue;
        say(&w->said, "  in %%v%u : f32[4] !bytes=%lldB\n", v, (long long)w->bytes[v]);
        w->xfer[v] = -1;
    }
    for (uint32_t i = 0; i < w->nop; i++)
        make_op(w, i, never, &rng);
    bool pins = test_below(&rng, 4) == 0 && !w->turns;
    say(&w->said, "  out");
    for (uint32_t i = 0, n = 0; i < w->nop; i++) {
        bool read = false;
        for (uint32_t j = 0; j < w->nop; j++)
            read = read || w->reads[j][w->nin + i];
        w->output[i] = !read || test_below(&rng, 8) == 0;
        if (w->output[i])
            say(&w->said, "%s %%v%u", n++ ? "," : "", w->nin + i);
        if (pins && test_below(&rng, 4) == 0)
            w->pin[i] = (int32_t)test_below(&rng, w->ndev);
    }
    say(&w->said, "\n}\n");
    if (module_parse(&w->t, &(struct named_text){"random", w->said.text, w->said.len, NULL}, NULL,
                     d))
        fail_msg("seed %llu does not parse:\n%s", (unsigned long long)seed, w->said.text);
}

/* ---- the rules, again ------------------------------------------------------------------------- */

static int64_t up(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}

static int64_t outer_cost(const struct world *w, uint32_t k, uint32_t v)
{
    if (w->host[k])
        return 0;
    return w->xfer[v] >= 0 ? w->xfer[v] : w->link.latency[k] + w->bytes[v];
}

static int64_t inner_cost(const struct world *w, uint32_t k, uint32_t v)
{
    int64_t outer = outer_cost(w, k, v), inner;
    if (w->group[k] < 2)
        return outer;
    if (w->xfer[v] >= 0)
        inner =
            w->link.share[k] ? up(outer * w->link.share[k], 1000000) : up(outer, w->link.fast[k]);
    else
        inner = w->link.inner[k] + up(w->bytes[v], w->link.fast[k]);
    return inner < outer ? inner : outer;
}

/* The value moves, and the host has a pin. */
static bool moves(const struct world *w, uint32_t v, bool *host)
{
    *host = !w->io_free && (v < w->nin || w->output[v - w->nin]);
    return v >= w->nin || !w->io_free;
}

static bool has_pin(const struct world *w, uint32_t v, uint32_t i)
{
    return w->reads[i][v] || v == w->nin + i;
}

/* Group of each device, by number of its first one; saving: only groups that save something. */
static void group_devices(const struct world *w, bool saving, uint32_t *group)
{
    bool saves[CLASSES] = {false}, host;
    for (uint32_t v = 0; v < w->nin + w->nop; v++) {
        uint32_t pins = 0, seen = 0;
        for (uint32_t i = 0; i < w->nop; i++)
            if (has_pin(w, v, i) && !(seen >> w->vertex[i] & 1)) {
                seen |= 1U << w->vertex[i];
                pins++;
            }
        for (uint32_t k = 0; k < w->ncls && moves(w, v, &host) && !host && pins > 1; k++)
            saves[k] = saves[k] || inner_cost(w, k, v) < outer_cost(w, k, v);
    }
    for (uint32_t k = 0; k < w->ncls; k++)
        saves[k] = saves[k] || (w->training && w->group[k] > 1 && w->link.fast[k] > 1);
    for (uint32_t d = 0; d < w->ndev; d++) {
        uint32_t k = w->cls[d], size = w->group[k] && (saves[k] || !saving) ? w->group[k] : 1;
        group[d] = d - (d - w->first[k]) % size;
    }
}

/* Loads and bytes of the devices; transfers alone in *transfer. */
static void loads(const struct world *w, const int32_t *dev, const uint32_t *group, int64_t *load,
                  int64_t *transfer, int64_t *used)
{
    for (uint32_t d = 0; d < w->ndev; d++) {
        bool needs = false;
        load[d] = transfer[d] = used[d] = 0;
        for (uint32_t i = 0; i < w->nop; i++)
            if (dev[i] == (int32_t)d) {
                int64_t t = w->time[i][w->cls[d]];
                load[d] = t == COST_NEVER || load[d] == COST_NEVER ? COST_NEVER : load[d] + t;
                used[d] += w->own[i];
                needs = needs || w->needs[i];
            }
        used[d] += needs ? w->weight : 0;
    }
    for (uint32_t v = 0; v < w->nin + w->nop; v++) {
        bool on[DEVICES] = {false}, host, one = true;
        uint32_t n = 0, home = UINT32_MAX;
        if (!moves(w, v, &host))
            continue;
        for (uint32_t i = 0; i < w->nop; i++)
            if (has_pin(w, v, i)) {
                n += !on[dev[i]];
                on[dev[i]] = true;
                one = one && (home == UINT32_MAX || group[dev[i]] == home);
                home = group[dev[i]];
            }
        for (uint32_t d = 0; d < w->ndev && n + host > 1; d++)
            if (on[d]) {
                int64_t t =
                    one && !host ? inner_cost(w, w->cls[d], v) : outer_cost(w, w->cls[d], v);
                transfer[d] += t;
                load[d] = load[d] == COST_NEVER ? COST_NEVER : load[d] + t;
            }
    }
}

/* Divides the loads among devices that take turns, as many as give the least: the idle ones that come next, in the
 * group in `join`, or in groups that are idle else.  group: where the exchange of the weight takes the inner link. */
static void take_turns(const struct world *w, const int32_t *dev, const uint32_t *join,
                       const uint32_t *group, int64_t *load)
{
    bool busy[DEVICES + 1] = {false}, needs[DEVICES] = {false};
    for (uint32_t i = 0; i < w->nop; i++) {
        busy[dev[i]] = true;
        needs[dev[i]] = needs[dev[i]] || w->needs[i];
    }
    for (uint32_t d = 0; d < w->ndev; d++) {
        int64_t least = load[d];
        for (uint32_t n = 2; busy[d] && load[d] != COST_NEVER && d + n <= w->ndev; n++) {
            uint32_t last = d + n - 1, k = w->cls[d];
            bool alone = join[d] == d;
            if (busy[last] || w->cls[last] != k)
                break;
            for (uint32_t e = d + 1; e < w->ndev; e++) /* the rest of the last group */
                alone = alone && !(busy[e] && join[e] == join[last]);
            if (join[last] != join[d] && !alone)
                continue;
            int64_t rate = w->group[k] > 1 && group[d] == group[last] ? w->link.fast[k] : 1;
            int64_t sync = w->training && needs[d] ? up(w->weight * (n - 1), rate * n) : 0;
            least = up(load[d], n) + sync < least ? up(load[d], n) + sync : least;
        }
        load[d] = least;
    }
}

/* Whether no device (or group of devices) depends on itself through others; the backward pass goes the other way. */
static bool acyclic(const struct world *w, const int32_t *dev, const uint32_t *of)
{
    bool after[DEVICES][DEVICES] = {{false}};
    for (uint32_t i = 0; i < w->nop; i++)
        for (uint32_t j = 0; j < w->nop; j++)
            if (w->reads[j][w->nin + i] && of[dev[i]] != of[dev[j]] && w->back[i] == w->back[j])
                after[of[dev[w->back[i] ? j : i]]][of[dev[w->back[i] ? i : j]]] = true;
    for (uint32_t k = 0; k < DEVICES; k++)
        for (uint32_t i = 0; i < DEVICES; i++)
            for (uint32_t j = 0; j < DEVICES; j++)
                after[i][j] = after[i][j] || (after[i][k] && after[k][j]);
    for (uint32_t i = 0; i < DEVICES; i++)
        if (after[i][i])
            return false;
    return true;
}

/* The least value of all assignments; COST_NEVER: none.  The devices in *plan. */
static int64_t try_all(const struct world *w, int32_t *plan)
{
    static const uint32_t alone[DEVICES] = {0, 1, 2, 3, 4, 5};
    uint32_t total = 1, join[DEVICES], group[DEVICES];
    int64_t best = COST_NEVER;
    group_devices(w, true, join);
    group_devices(w, false, group);
    for (uint32_t i = 0; i < w->nop; i++)
        total *= w->ndev;
    for (uint32_t code = 0; code < total; code++) {
        int32_t dev[OPS] = {0};
        int64_t load[DEVICES], transfer[DEVICES], used[DEVICES], value = 0;
        uint32_t rest = code;
        bool ok = true;
        for (uint32_t i = 0; i < w->nop; i++) {
            dev[i] = (int32_t)(rest % w->ndev);
            rest /= w->ndev;
            ok = ok && (w->pin[i] < 0 || w->pin[i] == dev[i]);
            for (uint32_t j = 0; j < i && w->color[i]; j++)
                ok = ok && (w->color[j] != w->color[i] || dev[j] == dev[i]);
        }
        if (!ok)
            continue;
        loads(w, dev, group, load, transfer, used);
        if (w->turns)
            take_turns(w, dev, join, group, load);
        for (uint32_t d = 0; d < w->ndev; d++) {
            int64_t memory = w->memory[w->cls[d]];
            ok = ok && (memory < 0 || used[d] <= memory) && load[d] != COST_NEVER;
            value = load[d] > value ? load[d] : value;
        }
        if (!ok || value >= best || !acyclic(w, dev, alone) || !acyclic(w, dev, join))
            continue;
        best = value;
        memcpy(plan, dev, sizeof dev);
    }
    return best;
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
        if (w->pin[i] >= 0)
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
}

static int place(struct ctx *x, const char *passes)
{
    struct pipeline p = {0};
    struct run_options o = {0};
    assert_int_equal(pipeline_parse(&p, passes, x->use.mem, x->use.diag), 0);
    pipeline_complete(&p, x->use.mem);
    /* the costs are written in the text */
    uint32_t n = 0;
    for (uint32_t i = 0; i < p.n; i++)
        if (strcmp(p.step[i].pass->name, "cost") && strcmp(p.step[i].pass->name, "infer-shapes"))
            p.step[n++] = p.step[i];
    p.n = n;
    return pipeline_run(&p, x, &o);
}

static void test_judge(void **state)
{
    struct world *w = malloc(sizeof *w);
    uint32_t inner = 0, rounds = 0;
    (void)state;
    for (uint64_t seed = 1; seed <= MODULES; seed++) {
        struct diag d = diag_silent();
        uint64_t rng = seed;
        make(w, seed, GROUPS, &d);
        struct ctx x = context(w, &d);
        assert_int_equal(ctx_base(&x), 0);
        for (uint32_t round = 0; round < 8; round++) {
            int32_t dev[OPS], *of = arena_array(x.use.scratch, x.scene.m->nnode, sizeof *of);
            int64_t load[DEVICES], transfer[DEVICES], used[DEVICES], flat[DEVICES], all[DEVICES];
            uint32_t group[DEVICES];
            const uint32_t alone[DEVICES] = {0, 1, 2, 3, 4, 5};
            memset(of, 0xff, x.scene.m->nnode * sizeof *of);
            for (uint32_t i = 0; i < w->nop; i++)
                of[x.scene.m->graph[1].first + i] = dev[i] = (int32_t)test_below(&rng, w->ndev);
            group_devices(w, false, group);
            loads(w, dev, group, load, transfer, used);
            loads(w, dev, alone, all, flat, used);
            struct verdict v = load_verdict(&x.scene, of, NULL, x.use.scratch);
            bool saved = false;
            for (uint32_t e = 0; e < w->ndev; e++) {
                if (v.load[e].transfer != transfer[e] || v.load[e].used != used[e])
                    fail_msg("seed %llu: device %u moves %lld, the formula says %lld:\n%s",
                             (unsigned long long)seed, e, (long long)v.load[e].transfer,
                             (long long)transfer[e], w->said.text);
                saved = saved || transfer[e] < flat[e];
            }
            inner += saved;
            rounds++;
        }
        end(w, &x);
    }
    assert_in_range(inner, rounds / 10, rounds);
    free(w);
}

/* What contract makes of the module; false: pins contradict each other. */
static bool find_vertices(struct world *w, struct diag *d)
{
    struct ctx x = context(w, d);
    bool ok = !place(&x, "contract");
    const uint32_t *map = ok ? wdag_flatten(x.levels.top, x.use.mem) : NULL;
    for (uint32_t i = 0; ok && i < w->nop; i++)
        w->vertex[i] = map[x.levels.base->vertex[x.scene.m->graph[1].first + i]];
    end(w, &x);
    return ok;
}

/* hier-place against all assignments; counts: plans, none, proven, groups of unequal use. */
static void check_plan(struct world *w, uint64_t seed, const char *passes, bool exact, int64_t best,
                       uint32_t *counts)
{
    struct diag d = diag_silent();
    make(w, seed, w->turns ? TURNS : GROUPS, &d);
    struct ctx x = context(w, &d);
    int rc = place(&x, passes);
    if (rc != (best == COST_NEVER ? PASS_INFEASIBLE : 0) &&
        (exact || best == COST_NEVER || rc != PASS_INFEASIBLE))
        fail_msg("seed %llu: %s gives %d, the least is %lld:\n%s", (unsigned long long)seed, passes,
                 rc, (long long)best, w->said.text);
    if (!rc) {
        bool proven = x.results.plan->claim.status == PLAN_OPTIMAL;
        if (x.results.plan->claim.bound > best || x.results.plan->claim.value < best ||
            ((exact || proven) && x.results.plan->claim.value != best) || (exact && !proven))
            fail_msg("seed %llu: %s: %lld, bound %lld, %s; the least is %lld:\n%s",
                     (unsigned long long)seed, passes, (long long)x.results.plan->claim.value,
                     (long long)x.results.plan->claim.bound,
                     plan_status_name(x.results.plan->claim.status), (long long)best, w->said.text);
        counts[1] += x.results.plan->claim.value == best;
        counts[2] += proven;
    }
    counts[0]++;
    end(w, &x);
}

static void test_plans(void **state)
{
    struct world *w = malloc(sizeof *w);
    uint32_t exact[3] = {0}, orders[3] = {0}, few[3] = {0}, graphs = 0, none = 0, unequal = 0,
             pinned = 0, full = 0;
    (void)state;
    for (uint64_t seed = 1; seed <= MODULES; seed++) {
        struct diag d = diag_silent();
        int32_t dev[OPS];
        uint32_t total = 1;
        make(w, seed, GROUPS, &d);
        for (uint32_t i = 0; i < w->nop; i++)
            total *= w->ndev;
        if (!find_vertices(w, &d) || total > TRY_ALL)
            continue;
        int64_t best = try_all(w, dev);
        graphs++;
        none += best == COST_NEVER;
        uint32_t used[DEVICES] = {0}, group[DEVICES], seen = 0, in[DEVICES] = {0};
        group_devices(w, true, group);
        for (uint32_t i = 0; i < w->nop && best != COST_NEVER; i++) {
            in[group[dev[i]]] += !used[dev[i]]++;
            pinned += w->pin[i] >= 0;
        }
        for (uint32_t e = 0; e < w->ndev; e++)
            for (uint32_t f = 0; f < e; f++)
                seen += w->cls[e] == w->cls[f] && in[e] && in[f] && in[e] != in[f];
        unequal += seen > 0;
        for (uint32_t k = 0; k < w->ncls; k++)
            full += w->memory[k] >= 0 && best != COST_NEVER;
        check_plan(w, seed, "hier-place", true, best, exact);
        check_plan(w, seed, "hier-place{ideals=0:starts=6}", false, best, orders);
        check_plan(w, seed, "hier-place{ideals=0:cuts=3}", false, best, few);
    }
    print_message(
        "%u graphs, %u without a plan, %u with unequal groups, %u pins, %u memory limits; orders: "
        "%u the least, %u proven; with 3 cuts %u\n",
        graphs, none, unequal, pinned, full, orders[1], orders[2], few[1]);
    assert_true(graphs >= 300 && none > 10 && unequal > 10 && pinned > 50 && full > 50);
    assert_true(exact[1] + none == graphs && orders[1] * 10 >= 9 * exact[1]);
    free(w);
}

/* Groups of devices that may take turns with a stage. */
static void test_turns(void **state)
{
    struct world *w = malloc(sizeof *w);
    uint32_t exact[3] = {0}, orders[3] = {0}, graphs = 0, none = 0;
    (void)state;
    for (uint64_t seed = 1; seed <= MODULES; seed++) {
        struct diag d = diag_silent();
        int32_t dev[OPS];
        uint32_t total = 1;
        make(w, seed, TURNS, &d);
        for (uint32_t i = 0; i < w->nop; i++)
            total *= w->ndev;
        if (!find_vertices(w, &d) || total > TRY_ALL / 8)
            continue;
        int64_t best = try_all(w, dev);
        graphs++;
        none += best == COST_NEVER;
        check_plan(w, seed, "hier-place", true, best, exact);
        check_plan(w, seed, "hier-place{ideals=0:starts=6}", false, best, orders);
    }
    print_message("%u graphs, %u without a plan; orders: %u the least, %u proven\n", graphs, none,
                  orders[1], orders[2]);
    assert_true(graphs >= 250 && none > 10);
    assert_true(exact[1] + none == graphs && orders[1] * 10 >= 9 * exact[1]);
    free(w);
}

/* Groups of all devices whose inner link is the outer one: what dp-place finds without groups. */
static void test_flat(void **state)
{
    struct world *w = malloc(sizeof *w);
    (void)state;
    for (uint64_t seed = 1; seed <= MODULES; seed++) {
        struct diag d = diag_silent();
        int64_t value[2] = {-1, -1};
        for (int i = 0; i < 2; i++) {
            make(w, seed, FLAT, &d);
            struct ctx x = context(w, &d);
            if (i == 0 && cluster_grouped(x.scene.cluster)) /* refused */
                assert_int_equal(place(&x, "dp-place"), -1);
            for (uint32_t k = 0; i == 0 && k < w->ncls; k++)
                x.scene.cluster->cls[k].group = 0;
            if (i == 0)
                x.levels.top = x.levels.base = x.levels.contiguous = NULL, x.scene.place = NULL;
            int rc = place(&x, i ? "hier-place" : "dp-place");
            assert_true(rc == 0 || rc == PASS_INFEASIBLE || rc == -1);
            value[i] = rc ? rc : x.results.plan->claim.value; /* -1: pins contradict colours */
            assert_true(rc || x.results.plan->claim.status == PLAN_OPTIMAL);
            end(w, &x);
        }
        if (value[0] != value[1])
            fail_msg("seed %llu: %lld and %lld:\n%s", (unsigned long long)seed, (long long)value[0],
                     (long long)value[1], w->said.text);
    }
    free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_judge),
        cmocka_unit_test(test_plans),
        cmocka_unit_test(test_turns),
        cmocka_unit_test(test_flat),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
