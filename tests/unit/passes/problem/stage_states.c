/* States of random models against all closed sets of layers, and what is cut against the words that define it. */
#include "ir/base/random.h"
#include "passes/problem/stage_states.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

enum { LAYERS = 9, GRAPHS = 400, MOST = 1 << LAYERS };

struct model {
    uint32_t n;
    uint32_t above[LAYERS]; /* layers that it reads, as bits */
    int64_t figure[4][LAYERS];
    struct layers_of g;
    struct arena *a;
};

/* Each layer but the first `sources` reads one of those before it, and perhaps others. */
static void make(struct model *m, uint64_t *seed, uint32_t sources)
{
    uint32_t from[LAYERS * LAYERS], to[LAYERS * LAYERS], edges = 0;
    *m = (struct model){.n = sources + random_below(seed, LAYERS - sources + 1),
                        .a = arena_new(NULL)};
    for (uint32_t v = 0; v < m->n; v++) {
        m->above[v] = v < sources ? 0 : 1U << random_below(seed, v);
        for (uint32_t u = 0; u < v && v >= sources; u++)
            m->above[v] |= random_below(seed, 4) == 0 ? 1U << u : 0;
        for (uint32_t u = 0; u < v; u++)
            if (m->above[v] >> u & 1) {
                from[edges] = u;
                to[edges++] = v;
            }
        for (uint32_t i = 0; i < 4; i++)
            m->figure[i][v] = 1 + random_below(seed, 100);
    }
    m->g = (struct layers_of){.n = m->n,
                              .succ = csr_build(m->a, m->n, edges, from, to),
                              .pred = csr_build(m->a, m->n, edges, to, from),
                              .forward = m->figure[0],
                              .backward = m->figure[1],
                              .activation = m->figure[2],
                              .parameter = m->figure[3]};
}

static bool is_closed(const struct model *m, uint32_t set)
{
    for (uint32_t v = 0; v < m->n; v++)
        if (set >> v & 1 && m->above[v] & ~set)
            return false;
    return true;
}

static int64_t sum_of(const struct model *m, uint32_t figure, uint32_t set)
{
    int64_t sum = 0;
    for (uint32_t v = 0; v < m->n; v++)
        sum += set >> v & 1 ? m->figure[figure][v] : 0;
    return sum;
}

/* All that v needs, directly or not. */
static uint32_t ancestors(const struct model *m, uint32_t v)
{
    uint32_t all = m->above[v];
    for (uint32_t u = v; u-- > 0;)
        all |= all >> u & 1 ? m->above[u] : 0;
    return all;
}

static uint32_t readers(const struct model *m, uint32_t v)
{
    uint32_t all = 0;
    for (uint32_t u = 0; u < m->n; u++)
        all |= (m->above[u] >> v & 1) << u;
    return all;
}

/* Bytes that go out of a closed set: of layers that are read outside.  published: of its ends (what nothing in it
 * reads), and what an end needs that has a reader neither the end nor needed by it. */
static int64_t cut_of(const struct model *m, uint32_t set, bool published)
{
    uint32_t out = 0;
    for (uint32_t v = 0; v < m->n; v++) {
        if (!(set >> v & 1))
            continue;
        out |= !published && readers(m, v) & ~set ? 1U << v : 0;
        if (!published || readers(m, v) & set)
            continue;
        out |= 1U << v;
        for (uint32_t p = 0; p < v; p++)
            if (ancestors(m, v) >> p & 1 && readers(m, p) & ~(ancestors(m, v) | 1U << v))
                out |= 1U << p;
    }
    return sum_of(m, 2, out);
}

static void check_state(const struct model *m, const struct stage_states *s, uint32_t k,
                        bool published)
{
    uint32_t set = (uint32_t)s->set[(size_t)k * s->words];
    assert_true(is_closed(m, set) && set);
    assert_int_equal(s->forward[k], sum_of(m, 0, set));
    assert_int_equal(s->backward[k], sum_of(m, 1, set));
    assert_int_equal(s->activation[k], sum_of(m, 2, set));
    assert_int_equal(s->parameter[k], sum_of(m, 3, set));
    assert_int_equal(s->cut[k], cut_of(m, set, published));
}

/* Every state once, and of two one before the other if it is within it (all: always; else only so). */
static void check_states(const struct model *m, const struct stage_states *s, bool published,
                         bool all)
{
    bool seen[MOST] = {false};
    for (uint32_t k = 1; k <= s->n; k++) {
        uint32_t set = (uint32_t)s->set[(size_t)k * s->words];
        check_state(m, s, k, published);
        assert_false(seen[set]);
        seen[set] = true;
        for (uint32_t j = 1; j <= s->n; j++) {
            uint32_t other = (uint32_t)s->set[(size_t)j * s->words];
            bool within = other != set && !(other & ~set);
            assert_true(!state_is_before(s, j, k) || within);
            assert_true(!all || state_is_before(s, j, k) == within);
        }
        assert_true(state_is_before(s, 0, k));
    }
}

static uint32_t count_closed(const struct model *m)
{
    uint32_t n = 0;
    for (uint32_t set = 1; set < 1U << m->n; set++)
        n += is_closed(m, set);
    return n;
}

static void test_states(void **state)
{
    uint64_t seed = 5;
    (void)state;
    for (uint32_t i = 0; i < GRAPHS; i++) {
        struct model m;
        struct stage_states s;
        uint32_t sources = 1 + (i % 4 == 3) * random_below(&seed, 3);
        make(&m, &seed, sources);
        for (uint32_t published = 0; published < 2; published++) {
            assert_true(stage_states_find(&s, &m.g, STATES_ALL, published, MOST, m.a));
            assert_int_equal(s.n, count_closed(&m));
            check_states(&m, &s, published, true);
            assert_true(stage_states_find(&s, &m.g, STATES_FIRST, published, MOST, m.a));
            if (sources == 1)
                assert_int_equal(s.n, count_closed(&m));
            check_states(&m, &s, published, sources == 1);
        }
        assert_false(stage_states_find(&s, &m.g, STATES_ALL, false, count_closed(&m) - 1, m.a));
        arena_free(m.a);
    }
}

/* Layers of a set that one outside reads. */
static uint32_t crossing(const struct model *m, uint32_t set)
{
    uint32_t read = 0;
    for (uint32_t v = 0; v < m->n; v++)
        read |= set >> v & 1 ? 0 : m->above[v];
    return (uint32_t)__builtin_popcount(read & set);
}

/* Narrow places: sets of the first layers, as many as there is room for, none left out that fewer values cross. */
static void test_narrow(void **state)
{
    uint64_t seed = 3;
    uint32_t left_out = 0;
    (void)state;
    for (uint32_t i = 0; i < GRAPHS; i++) {
        struct model m;
        struct stage_states s;
        uint32_t room = 1 + random_below(&seed, LAYERS), widest = 0, taken = 0,
                 out[LAYERS + 1] = {0};
        make(&m, &seed, 1 + random_below(&seed, 2));
        assert_true(stage_states_find(&s, &m.g, STATES_NARROW, false, room, m.a));
        assert_true(s.n >= 1 && s.n <= (room > 2 ? room : 2));
        for (uint32_t k = 1; k <= s.n; k++) {
            uint32_t set = (uint32_t)s.set[k], wide = crossing(&m, set);
            assert_int_equal(set & (set + 1), 0);
            assert_int_equal(s.before.at[k + 1] - s.before.at[k], k - 1);
            assert_int_equal(s.forward[k], sum_of(&m, 0, set));
            widest = wide > widest ? wide : widest;
            taken |= set + 1;
        }
        assert_int_equal(s.set[s.n], (1U << m.n) - 1);
        for (uint32_t v = 1; v < m.n; v++) {
            uint32_t wide = crossing(&m, (1U << v) - 1);
            if (taken >> v & 1)
                continue;
            assert_true(wide >= widest);
            out[wide]++;
            left_out++;
        }
        for (uint32_t wide = 0; wide <= LAYERS; wide++)
            if (out[wide]) { /* of the next ones there is no room for all */
                assert_true(s.n + out[wide] > room);
                break;
            }
        arena_free(m.a);
    }
    assert_true(left_out > GRAPHS);
}

/* a -> b, a -> c: where b and c are the ends, the published program counts a, which nothing outside reads. */
static void test_diamond(void **state)
{
    struct model m = {.n = 3, .above = {0, 1, 1}, .figure = {{1, 1, 1}, {1, 1, 1}, {10, 20, 40}}};
    const uint32_t from[] = {0, 0}, to[] = {1, 2};
    struct stage_states s;
    (void)state;
    m.a = arena_new(NULL);
    m.g = (struct layers_of){.n = 3,
                             .succ = csr_build(m.a, 3, 2, from, to),
                             .pred = csr_build(m.a, 3, 2, to, from),
                             .forward = m.figure[0],
                             .backward = m.figure[1],
                             .activation = m.figure[2],
                             .parameter = m.figure[3]};
    assert_true(stage_states_find(&s, &m.g, STATES_FIRST, true, 10, m.a));
    assert_int_equal(s.n, 4);
    assert_int_equal(s.cut[s.n], 70);
    assert_true(stage_states_find(&s, &m.g, STATES_FIRST, false, 10, m.a));
    assert_int_equal(s.cut[s.n], 0);
    assert_int_equal(s.cut[1], 10);
    arena_free(m.a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_states),
        cmocka_unit_test(test_narrow),
        cmocka_unit_test(test_diamond),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
