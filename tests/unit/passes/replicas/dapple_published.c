/* DAPPLE's published planner on random chains: what its plans are said to take, by the words that define the score
 * (passes/replicas/dapple_published.c), and no plan of two stages is better than the best one. */
#include "ir/base/random.h"
#include "passes/replicas/dapple_published.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

enum { LAYERS = 7, CHAINS = 300 };

static int64_t rounded_up(int64_t v, int64_t times, int64_t over)
{
    return (v * times + over - 1) / over;
}

/* b (M - 1) + C / (copies M) + links + the AllReduce that is latest, which counts a state too many for all stages but
 * the last.  ways: how often the slowest stage or link counts a link.  *late: whether some AllReduce is. */
static int64_t score(const struct stage_states *s, const struct published_rules *r,
                     const struct published_plan *p, int64_t ways, bool *late)
{
    int64_t block = 0, links = 0, last = 0, each = r->micro_batches / p->copies;
    for (uint32_t k = 0; k < p->n; k++) {
        uint32_t from = k ? p->end[k - 1] : 0, to = p->end[k];
        int64_t devices = p->set[k].of[0] + p->set[k].of[1];
        int64_t both = s->forward[to] - s->forward[from] + s->backward[to] - s->backward[from];
        int64_t bytes = rounded_up(s->cut[from], r->size, r->of);
        int64_t link = k ? servers_move(r->servers, &p->set[k - 1], &p->set[k], bytes) : 0;
        links += link;
        block = larger(block, rounded_up(both, r->size, r->of) * p->copies / devices);
        block = larger(block, ways * link);
    }
    for (uint32_t k = 0; k < p->n; k++) {
        uint32_t from = k ? p->end[k - 1] : 0, to = p->end[k] < s->n ? p->end[k] + 1 : s->n;
        int64_t bytes = s->parameter[to] - s->parameter[from];
        last = larger(last, servers_reduce(r->servers, &p->set[k], bytes) - k * block);
    }
    *late = last > 0;
    int64_t all = rounded_up(s->forward[s->n] + s->backward[s->n], r->size, r->of);
    return block * (each - 1) + rounded_up(all, r->micro_batches, p->copies * each) + links + last;
}

static bool is_same(const struct published_plan *a, const struct published_plan *b)
{
    bool same = a->n == b->n;
    for (uint32_t k = 0; same && k < a->n; k++)
        same = a->end[k] == b->end[k] && a->set[k].of[0] == b->set[k].of[0] &&
               a->set[k].of[1] == b->set[k].of[1];
    return same;
}

/* One that is already among the best by the score of pipelines stays so. */
static void check_two_stages(const struct stage_states *s, const struct published_rules *r,
                             const struct published_plan *best)
{
    const struct device_set none = {{0}};
    bool late;
    for (uint32_t m = 1; m < 4; m++)
        for (uint32_t policy = 0; policy < ASSIGN_POLICIES; policy++) {
            struct published_plan p = {.n = 2, .copies = 1, .end = {0, s->n}};
            if (!servers_assign(r->servers, &none, policy, m, &p.set[0]))
                continue;
            for (uint32_t v = 0; v < 2; v++)
                p.set[1].of[v] = 2 - p.set[0].of[v];
            for (p.end[0] = 1; p.end[0] < s->n; p.end[0]++) {
                bool kept = is_same(&p, &best[0]) || is_same(&p, &best[1]);
                assert_true(best[0].latency <= score(s, r, &p, kept ? 2 : 1, &late));
            }
        }
}

static void find_chain(struct stage_states *s, uint64_t *seed, struct arena *a)
{
    static int64_t figure[4][LAYERS];
    static const uint32_t at[LAYERS] = {0, 1, 2, 3, 4, 5, 6}, after[] = {1, 2, 3, 4, 5, 6};
    uint32_t n = 2 + random_below(seed, LAYERS - 1);
    for (uint32_t v = 0; v < n; v++) {
        figure[0][v] = (1 + random_below(seed, 20)) * INT64_C(100000000000);
        figure[1][v] = 2 * figure[0][v] + random_below(seed, 3);
        figure[2][v] = random_below(seed, 4000);
        figure[3][v] = random_below(seed, 3) ? random_below(seed, 30000) : 0;
    }
    const struct layers_of g = {
        .n = n,
        .succ = csr_build(a, n, n - 1, at, after),
        .pred = csr_build(a, n, n - 1, after, at),
        .forward = figure[0],
        .backward = figure[1],
        .activation = figure[2],
        .parameter = figure[3],
    };
    assert_true(stage_states_find(s, &g, STATES_FIRST, true, 100, a));
    assert_int_equal(s->n, n);
}

static void test_scores(void **state)
{
    const struct servers servers = {
        .n = 2, .ndev = 4, .size = {2, 2}, .inner = 4000, .outer = 1000, .outer_reduce = 3000};
    uint32_t nlate = 0, ncopied = 0, npipeline = 0;
    (void)state;
    for (uint64_t seed = 1; seed <= CHAINS; seed++) {
        uint64_t rng = seed;
        struct arena *a = arena_new(NULL);
        struct stage_states s;
        struct published_plan best[PUBLISHED_PLANS];
        struct published_rules r = {.servers = &servers,
                                    .micro_batches = 2 + random_below(&rng, 7),
                                    .size = 1 + random_below(&rng, 3),
                                    .of = 1 + random_below(&rng, 3)};
        find_chain(&s, &rng, a);
        dapple_published(&s, &r, NULL, a, best);
        assert_true(best[0].latency <= best[1].latency && best[0].latency < INT64_MAX);
        for (uint32_t i = 0; i < PUBLISHED_PLANS && best[i].latency < INT64_MAX; i++) {
            bool late;
            int64_t once = score(&s, &r, &best[i], 1, &late);
            int64_t twice = score(&s, &r, &best[i], 2, &late);
            bool pair = best[i].n == 2 && best[i].copies == 1;
            assert_true(best[i].latency == twice || (pair && best[i].latency == once));
            nlate += late;
            ncopied += best[i].copies > 1;
            npipeline += best[i].n > 2;
        }
        check_two_stages(&s, &r, best);
        arena_free(a);
    }
    assert_true(nlate > CHAINS / 10 && ncopied > CHAINS / 50 && npipeline > CHAINS / 50);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_scores)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
