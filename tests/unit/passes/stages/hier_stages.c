/* PipeDream's planner against all ways to divide random chains, on one and two levels of machines: every row of stages
 * from the first to the last, every number of machines for each, level by level, by the rules as they are told. */
#include "ir/base/random.h"
#include "ir/base/units.h"
#include "passes/stages/hier_stages.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

enum { LAYERS = 7, DEVICES = 4, CHAINS = 500 };

struct chain {
    uint32_t n;
    int64_t time[2][LAYERS], made[LAYERS], weight[LAYERS];
    struct hier_rules r;
};

/* A row of stages of the layers i.. on a level, as far as it goes. */
struct row {
    const struct chain *c;
    uint32_t level, first, end, machines; /* of the whole row */
    double best;
};

static double value(const struct chain *c, uint32_t level, uint32_t i, uint32_t j,
                    uint32_t machines);

/* Seconds of a machine of the level for layers i..j - 1. */
static double work(const struct chain *c, uint32_t level, uint32_t i, uint32_t j)
{
    double sum = 0;
    if (level > 0)
        return value(c, level - 1, i, j, c->r.machines[level - 1]);
    for (uint32_t v = i; v < j; v++)
        sum += (double)(c->time[0][v] + c->time[1][v]) / PS_PER_S;
    return sum;
}

/* A stage of layers k..e - 1 on `copies`, with `before` machines of its level before it; 1e300: it has no room. */
static double stage(const struct row *x, uint32_t k, uint32_t e, uint32_t copies, uint32_t before)
{
    const struct hier_rules *r = &x->c->r;
    bool first = k == x->first;
    double weights = 0, made = 0, rate = (double)r->bandwidth[x->level];
    double width = first && x->level > 0 ? r->machines[x->level - 1] : 1, time;
    for (uint32_t v = k; v < e; v++) {
        weights += (double)x->c->weight[v];
        made += (double)x->c->made[v];
    }
    uint32_t behind = r->machines[x->level] - before - copies;
    uint32_t versions = (behind + copies - 1) / copies;
    if (r->memory >= 0 && versions * (weights + made) > (double)r->memory)
        return 1e300;
    if (r->straight && copies > 1)
        return 1e300;
    time = (work(x->c, x->level, k, e) + 4 * (copies - 1) * weights / (rate * copies * width)) /
           copies;
    double compression = (double)r->compression / 1e6;
    for (uint32_t at = k; compression > 0 && !first; at = e) { /* at both ends of a later stage */
        double move = 2 * (double)x->c->made[at - 1] / (rate * copies * compression);
        if (at < x->c->n && move > time)
            time = move;
        if (at == e)
            break;
    }
    return time;
}

/* Everything that may come behind layers up to k on `used` machines, some of them idle. */
static void extend(struct row *x, uint32_t k, uint32_t used, double slowest)
{
    for (uint32_t e = k + 1; e <= x->end; e++)
        for (uint32_t copies = 1; used + copies <= x->machines; copies++) {
            double t = stage(x, k, e, copies, used);
            t = t > slowest ? t : slowest;
            uint32_t now = used + copies, idle = x->c->r.fewer ? x->machines - now : 0;
            for (uint32_t i = 0; i <= idle && e < x->end; i++)
                extend(x, e, now + i, t);
            if (e == x->end && now + idle == x->machines && t < x->best)
                x->best = t;
        }
}

static double value(const struct chain *c, uint32_t level, uint32_t i, uint32_t j,
                    uint32_t machines)
{
    struct row x = {c, level, i, j, machines, 1e300};
    extend(&x, i, 0, 0);
    return x.best;
}

static void make(struct chain *c, uint64_t *seed)
{
    *c = (struct chain){.n = 1 + random_below(seed, LAYERS), .r.nlevel = 1 + random_below(seed, 2)};
    for (uint32_t v = 0; v < c->n; v++) {
        c->time[0][v] = (int64_t)random_below(seed, 1000) * 1000000;
        c->time[1][v] = (int64_t)random_below(seed, 2000) * 1000000;
        c->made[v] = (int64_t)random_below(seed, 2000) * 1000;
        c->weight[v] = (int64_t)random_below(seed, 2000) * 500;
    }
    c->r.machines[0] = 1 + random_below(seed, c->r.nlevel == 1 ? DEVICES : 2);
    c->r.machines[1] = c->r.machines[0] == 1 ? 1 + random_below(seed, DEVICES) : 2;
    c->r.bandwidth[0] = 1000000000LL * (1 + random_below(seed, 20));
    c->r.bandwidth[1] = 1000000000LL * (1 + random_below(seed, 3));
    c->r.compression = random_below(seed, 3) * INT64_C(1000000);
    c->r.memory = random_below(seed, 3) ? -1 : (int64_t)random_below(seed, 8000) * 1000;
    c->r.straight = random_below(seed, 5) == 0;
    c->r.fewer = random_below(seed, 3) == 0;
}

static struct stage_states states_of(const struct chain *c, struct arena *a)
{
    uint32_t from[LAYERS], to[LAYERS];
    struct stage_states s;
    for (uint32_t v = 0; v + 1 < c->n; v++) {
        from[v] = v;
        to[v] = v + 1;
    }
    const struct layers_of g = {.n = c->n,
                                .succ = csr_build(a, c->n, c->n - 1, from, to),
                                .pred = csr_build(a, c->n, c->n - 1, to, from),
                                .forward = c->time[0],
                                .backward = c->time[1],
                                .activation = c->made,
                                .parameter = c->weight};
    assert_true(stage_states_find(&s, &g, STATES_ALL, false, 100, a));
    assert_int_equal(s.n, c->n);
    return s;
}

/* The stages are rows of all layers, on machines that are there. */
static void check_stages(const struct chain *c, const struct hier_result *found)
{
    uint32_t at = 0, devices = 0, all = c->r.machines[0];
    all *= c->r.nlevel > 1 ? c->r.machines[1] : 1;
    for (uint32_t k = 0; k < found->nstage; k++) {
        const struct hier_stage *s = &found->stage[k];
        uint32_t n = 1;
        assert_int_equal(s->from, at);
        assert_true(s->to > at);
        at = s->to;
        for (uint32_t l = 0; l < c->r.nlevel; l++) {
            assert_true(s->copies[l] >= 1 && s->first[l] + s->copies[l] <= c->r.machines[l]);
            assert_true(s->copies[l] == 1 || !c->r.straight);
            n *= s->copies[l];
        }
        assert_int_equal(s->devices, n);
        devices += n;
    }
    assert_int_equal(at, c->n);
    assert_true(c->r.fewer ? devices <= all : devices == all);
}

static void test_brute_force(void **state)
{
    uint64_t seed = 11;
    uint32_t none = 0, many = 0;
    (void)state;
    for (uint32_t i = 0; i < CHAINS; i++) {
        struct arena *a = arena_new(NULL);
        struct chain c;
        make(&c, &seed);
        struct stage_states s = states_of(&c, a);
        struct hier_result found = hier_stages(&s, &c.r, NULL, a);
        double wanted = value(&c, c.r.nlevel - 1, 0, c.n, c.r.machines[c.r.nlevel - 1]);
        assert_true(found.complete);
        assert_int_equal(found.value == INT64_MAX, wanted == 1e300);
        none += wanted == 1e300;
        if (wanted < 1e300) {
            double ps = (double)found.value - wanted * PS_PER_S;
            if (ps < -4 || ps > 8) /* it rounds up, each level again */
                fail_msg("chain %u: %lld ps, wanted %.1f", i, (long long)found.value,
                         wanted * PS_PER_S);
            check_stages(&c, &found);
            many += found.nstage > 1;
        }
        arena_free(a);
    }
    assert_true(none > 10 && none < CHAINS / 2 && many > CHAINS / 5); /* all kinds are there */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_brute_force),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
