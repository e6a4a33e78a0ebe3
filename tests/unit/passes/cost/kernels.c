/* Times of kernels: by hand where a product is a few tiles, and as laws: never below the roofline of the same rates,
 * never less for more work, and the plain roofline where no kernels are known. */
#include "passes/cost/kernels.h"

#include "ir/base/random.h"
#include "ir/base/units.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* 4 multiprocessors, 10^12 operations and 10^12 bytes per second: a picosecond for each. */
static struct device_class device(void)
{
    struct device_class d = {.name = "gpu", .bandwidth = PS_PER_S};
    d.peak[ELEM_F32] = PS_PER_S;
    d.kernel[KERNEL_UNITS] = 4;
    d.kernel[KERNEL_TILE] = 128;
    d.kernel[KERNEL_PRODUCT] = d.kernel[KERNEL_BATCHED] = d.kernel[KERNEL_STREAM] = 1000000;
    d.kernel[KERNEL_ROW] = 1000;
    d.kernel[KERNEL_WARM] = 1000000;
    return d;
}

/* `count` products of [rows, sum] and [sum, columns]. */
static struct kernel_work products(int64_t count, int64_t rows, int64_t columns, int64_t sum)
{
    struct kernel_work w = {.is_product = true, .product = {count, rows, columns, sum, false}};
    w.flops = sat_mul(sat_mul(2, sat_mul(count, rows)), sat_mul(columns, sum));
    return w;
}

static int64_t compute(const struct device_class *d, struct kernel_work w)
{
    return kernel_compute(d, ELEM_F32, &w, 1000000);
}

/* The ps of so many waves of tiles of 128 x 128, of a sum of 90. */
static int64_t waves(int64_t n)
{
    return n * 4 * 2 * 128 * 128 * 90;
}

static void tiles_and_waves(void **state)
{
    struct device_class d = device();
    (void)state;
    assert_int_equal(compute(&d, products(4, 128, 128, 90)), waves(1));
    assert_int_equal(compute(&d, products(2, 128, 128, 90)),
                     waves(1)); /* half a wave is a whole one */
    assert_int_equal(compute(&d, products(5, 128, 128, 90)), waves(2));
    assert_int_equal(compute(&d, products(4, 129, 100, 90)),
                     waves(2)); /* a row more is a tile more */
    d.kernel[KERNEL_PROLOGUE] = 10;
    assert_int_equal(compute(&d, products(4, 128, 128, 80)), waves(1));
    d.kernel[KERNEL_PROLOGUE] = 0;
    /* edges of 64, where they are: 64 * 64 + 8 * 128 = 5120 multiply-adds for an element of the sum, 8/9 of it each */
    d.kernel[KERNEL_TILE] = 64;
    assert_int_equal(compute(&d, products(4, 64, 64, 90)), 4 * 2 * 5120 * 80);
    /* a product of its own may have tiles of 32 x 32, four of them here: 32 * 32 + 8 * 64 = 1536 */
    assert_int_equal(compute(&d, products(1, 64, 64, 90)), 4 * 2 * 1536 * 80);
    d.kernel[KERNEL_BATCHED] = 500000;
    assert_int_equal(compute(&d, products(4, 64, 64, 90)), 2 * 4 * 2 * 5120 * 80);
    assert_int_equal(compute(&d, products(1, 64, 64, 90)), 4 * 2 * 1536 * 80);
    /* one row is no tile of 64 rows: 1 * 64 + 8 * 65 = 584 */
    assert_int_equal(compute(&d, products(1, 1, 256, 90)), 4 * 2 * 584 * 80);
    d.kernel[KERNEL_UNITS] =
        1; /* one of 64 x 64 is quicker than four of 32 x 32 one after the other */
    assert_int_equal(compute(&d, products(1, 64, 64, 90)), 2 * 5120 * 80);
}

static void bursts(void **state)
{
    struct device_class d = device();
    (void)state;
    d.kernel[KERNEL_WARM] = 500000;
    assert_int_equal(compute(&d, products(4, 128, 128, 90)), waves(1));
    d.kernel[KERNEL_BURST] = waves(2);
    assert_int_equal(compute(&d, products(4, 128, 128, 90)), waves(1));
    d.kernel[KERNEL_BURST] = waves(1);
    assert_int_equal(compute(&d, products(4, 128, 128, 90)), waves(1));
    assert_int_equal(compute(&d, products(8, 128, 128, 90)), waves(1) + 2 * waves(1));
}

/* Whether a node that normalises rows of this length, 1000 bytes read and 1000 written, moves so many bytes. */
static bool moves(int passes, int64_t row, int64_t bytes)
{
    struct device_class d = device();
    struct kernel_work w = {.traffic = 2000, .row = row, .passes = passes, .again = 1000};
    return kernel_memory(&d, ELEM_F32, &w, 1000000) == bytes;
}

static void rows_that_stay(void **state)
{
    struct device_class d = device();
    struct kernel_work w = {.traffic = 2000, .row = 5000, .passes = 3, .again = 1000};
    (void)state;
    assert_true(moves(2, 1000, 2000) && moves(2, 1500, 2500) && moves(2, 2000, 3000));
    assert_true(moves(2, 1 << 30, 3000) && moves(2, 0, 2000));
    assert_true(moves(3, 4000, 2000) && moves(3, 6000, 3000) && moves(3, 8000, 4000));
    d.kernel[KERNEL_ROW] = 1; /* a warp keeps 1024 */
    w.row = 1024;
    assert_int_equal(kernel_memory(&d, ELEM_F32, &w, 1000000), 2000);
    w.row = 1025;
    assert_int_equal(kernel_memory(&d, ELEM_F32, &w, 1000000), 2002);
    d.kernel[KERNEL_STREAM] = 500000;
    assert_int_equal(kernel_memory(&d, ELEM_F32, &w, 500000), 4 * 2002);
    d.kernel[KERNEL_UNITS] = 0;
    assert_int_equal(kernel_memory(&d, ELEM_F32, &w, 1000000), 2000);
}

/* Some length of a side: often short, at times as long as can be. */
static int64_t side(uint64_t *r)
{
    return random_below(r, 50) == 0 ? INT64_MAX / 2
                                    : 1 + random_below(r, 1U << random_below(r, 14));
}

static void laws(void **state)
{
    uint64_t r = 7;
    (void)state;
    for (int round = 0; round < 20000; round++) {
        struct device_class d = device(), plain = {.bandwidth = PS_PER_S};
        d.kernel[KERNEL_UNITS] = 1 + random_below(&r, 200);
        d.kernel[KERNEL_TILE] = random_below(&r, 2) ? 64 : 128;
        d.kernel[KERNEL_PROLOGUE] = random_below(&r, 50);
        plain.peak[ELEM_F32] = PS_PER_S;
        int64_t n[4] = {side(&r), side(&r), side(&r), side(&r)};
        int64_t t = compute(&d, products(n[0], n[1], n[2], n[3]));
        assert_true(t >= compute(&plain, products(n[0], n[1], n[2], n[3])));
        uint32_t more = random_below(&r, 4);
        n[more] = sat_add(n[more], side(&r));
        assert_true(compute(&d, products(n[0], n[1], n[2], n[3])) >= t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(tiles_and_waves), cmocka_unit_test(bursts),
                                       cmocka_unit_test(rows_that_stay), cmocka_unit_test(laws)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
