/* device_line on random tables against every line of devices, tried one by one.
 *
 * Where devices end as far as their limits allow, and later begins never end earlier, there is a line exactly if one is
 * found; in any case what is found is a line. */
#include "passes/contiguous/device_counts.h"
#include "ir/base/random.h"
#include "tests/support/sanitized.h"

#include <setjmp.h>
#include <stdlib.h>

#include <cmocka.h>

enum { CASES = SANITIZED ? 300 : 3000, UNITS = 9, KINDS = 3 };

/* Whether the devices left take the units from `at` on, in any order, each as many as it can. */
static bool some_line(const struct device_reach *r, uint32_t at, uint32_t *left)
{
    for (uint32_t k = 0; at < r->n && k < KINDS; k++) {
        if (!left[k] || r->far[k][at].most == at)
            continue;
        left[k]--;
        bool found = some_line(r, r->far[k][at].most, left);
        left[k]++;
        if (found)
            return true;
    }
    return at == r->n;
}

/* Tells the reach r which ends there are for kind k and unit i: those up to `most`, but for the units in `without`. */
static void tell_ends(struct device_reach *r, uint32_t k, uint32_t i, uint32_t most,
                      uint32_t without)
{
    for (uint32_t end = i + 1; end <= most; end++)
        if (!(without >> end & 1))
            device_may_end(r, k, i, end, end - i);
}

/* Checks that the devices kind[0 .. length - 1] of c take all units of r one after the other. */
static void check_line(const struct problem *c, const struct device_reach *r, const uint16_t *kind,
                       uint32_t length)
{
    uint32_t at = 0, used[KINDS] = {0};
    for (uint32_t i = 0; i < length; i++) {
        assert_in_range(kind[i], 0, KINDS - 1);
        assert_in_range(++used[kind[i]], 1, c->kind[kind[i]].count);
        assert_int_equal(r->far[kind[i]][at].load, r->far[kind[i]][at].end - at);
        assert_true(r->far[kind[i]][at].end > at);
        at = r->far[kind[i]][at].end;
    }
    assert_int_equal(at, r->n);
}

static void test_lines(void **state)
{
    uint64_t rng = 7;
    uint32_t lines = 0, none = 0, gaps = 0;
    (void)state;
    for (uint32_t t = 0; t < CASES; t++) {
        struct arena *a = arena_new(NULL);
        struct cluster cluster = {0};
        struct problem c = {.nkind = KINDS, .cluster = &cluster};
        uint32_t left[KINDS];
        int64_t work[UNITS + 1];
        for (uint32_t k = 0; k < KINDS; k++)
            cluster.ndev += c.kind[k].count = left[k] = random_below(&rng, 3);
        cluster.ndev += cluster.ndev == 0;
        uint32_t n = 1 + random_below(&rng, UNITS);
        /* units that no device may end before, as much would cross; only in every second case */
        uint32_t without = t % 2 ? (uint32_t)random_bits(&rng) & ((1U << n) - 1) : 0;
        struct device_reach r = device_reach_new(&c, n, a);
        uint32_t most[KINDS] = {n, n, n};
        for (uint32_t i = n; i-- > 0;) {
            for (uint32_t k = 0; k < KINDS; k++) {
                uint32_t less = random_below(&rng, 3);
                most[k] = i + less < most[k] ? most[k] - less : i;
                tell_ends(&r, k, i, most[k], without);
            }
            for (uint32_t j = 0; j <= n; j++)
                work[j] = j;
            device_scored(&r, &c, i, work);
        }
        uint16_t kind[3 * KINDS];
        assert_true(device_counts_few(&c));
        uint32_t length = device_line(&c, &r, kind, a);
        if (length)
            check_line(&c, &r, kind, length);
        if (!without)
            assert_int_equal(length > 0, some_line(&r, 0, left));
        lines += length > 0;
        none += length == 0;
        gaps += length > 0 && without;
        arena_free(a);
    }
    assert_true(lines > CASES / 10 && none > CASES / 10 && gaps > CASES / 50);
}

/* Of two ends the device takes the one from which the next device gets farther. */
static void test_scores(void **state)
{
    struct arena *a = arena_new(NULL);
    struct cluster cluster = {.ndev = 2};
    struct problem c = {.nkind = 1, .cluster = &cluster, .kind[0].count = 2};
    const int64_t work[] = {0, 1, 2, 3, 4};
    struct device_reach r = device_reach_new(&c, 4, a);
    (void)state;
    device_may_end(&r, 0, 3, 4, 5);
    device_scored(&r, &c, 3, work);
    /* behind unit 1 much crosses: a device that begins there gets nowhere */
    device_scored(&r, &c, 2, work);
    device_may_end(&r, 0, 1, 3, 6);
    device_may_end(&r, 0, 1, 4, 8);
    device_scored(&r, &c, 1, work);
    device_may_end(&r, 0, 0, 1, 7);
    device_may_end(&r, 0, 0, 2, 9);
    device_scored(&r, &c, 0, work);
    uint16_t kind[2];
    assert_int_equal(r.far[0][0].end, 1);
    assert_int_equal(r.far[0][0].load, 7);
    assert_int_equal(device_line(&c, &r, kind, a), 2);
    c.kind[0].count = 1U << 20;
    assert_false(device_counts_few(&c));
    c.kind[0].count = (1U << 20) - 1;
    assert_true(device_counts_few(&c));
    arena_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_lines), cmocka_unit_test(test_scores)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
