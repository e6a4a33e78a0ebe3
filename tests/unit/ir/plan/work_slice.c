/* Slices of micro-batches against their definition, sample by sample: whatever the stages, each device of a part that
 * reads a tensor has just the samples of its slice of it, each from the device that makes that sample; what has no
 * rows each device has whole, made where it stands if its stage makes it.  The caller gets each sample once, bytes add
 * up. Lists made of random stages are accepted by the checker.  Slices that are no whole samples are refused, and so
 * is more than the limit. */
#include "ir/base/random.h"
#include "ir/plan/schedule.h"
#include "ir/plan/schedule_check.h"
#include "ir/plan/work.h"
#include "tests/support/sanitized.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

enum { CASES = SANITIZED ? 100 : 400, SAMPLES = 12, DEVICES = 9, PARTS = 7, MICRO_BATCHES = 2 };

static const uint32_t counts[] = {1, 2, 3, 4, 6};

/* Stages on 1, 2, 3, 4 or 6 devices of their own, as long as there are any; of each a part or two, each of which makes
 * a tensor or two and reads of those before it. */
static struct sample_work *draw(uint64_t *rng, struct arena *a)
{
    struct sample_work *w = arena_alloc(a, sizeof *w);
    struct pairs on = {.a = a}, in = {.a = a}, out = {.a = a};
    w->part = arena_array(a, PARTS + 1, sizeof *w->part);
    w->tensor = arena_array(a, 2 * PARTS + 3, sizeof *w->tensor);
    w->dev_name = arena_array(a, DEVICES + 1, sizeof *w->dev_name);
    w->memory = arena_array(a, DEVICES + 1, sizeof *w->memory);
    w->share.samples = SAMPLES;
    w->share.profiled = 1 + random_below(rng, 5);
    for (w->ntensor = 0; w->ntensor < 2; w->ntensor++)
        w->tensor[w->ntensor].from = UINT32_MAX;
    for (uint32_t dev = 0; w->npart < PARTS;) {
        uint32_t n = counts[random_below(rng, 5)];
        if (dev + n > DEVICES)
            break;
        for (uint32_t k = 0; k <= random_below(rng, 2) && w->npart < PARTS; k++) {
            uint32_t x = w->npart++;
            w->part[x] = (struct work_part){.name = "p", .dev = dev, .lasting = 3, .running = 50};
            for (uint32_t i = 0; i < n; i++)
                pairs_add(&on, x, dev + i);
            for (uint32_t t = 0; t < w->ntensor; t++)
                if (random_below(rng, 3))
                    pairs_add(&in, x, t);
            for (uint32_t i = 0; i <= random_below(rng, 2); i++) {
                w->tensor[w->ntensor].from = x;
                pairs_add(&out, x, w->ntensor++);
            }
        }
        dev += n;
        w->ndev = dev;
    }
    for (uint32_t d = 0; d <= w->ndev; d++) {
        w->dev_name[d] = d < w->ndev ? arena_fmt(a, "acc%u", d) : "host";
        w->memory[d] = -1;
    }
    for (uint32_t t = 0; t < w->ntensor; t++) {
        struct work_tensor *x = &w->tensor[t];
        x->name = arena_fmt(a, "t%u", t);
        x->has_rows = random_below(rng, 3) > 0;
        x->bytes = x->has_rows ? w->share.profiled * (1 + random_below(rng, 9)) : 7;
        x->returned = x->from != UINT32_MAX && random_below(rng, 3) == 0;
        x->from = x->from == UINT32_MAX ? w->npart : x->from;
    }
    w->share.device = pairs_rows(&on, w->npart);
    w->in = pairs_rows(&in, w->npart);
    w->out = pairs_rows(&out, w->npart);
    work_finish(w, a);
    return w;
}

static uint32_t devices_of(const struct sample_work *w, uint32_t x)
{
    return w->share.device.at[x + 1] - w->share.device.at[x];
}

/* What the i-th device of part p has of tensor t, of the uses in row `copy` of `of`: each sample of its slice once. */
static void check_use(const struct sample_work *w, const struct sample_work *s,
                      const struct csr *of, uint32_t p, uint32_t i, uint32_t t)
{
    uint32_t n = devices_of(w, p), copy = s->first_copy[p] + i, each = SAMPLES / n, found = 0;
    uint32_t maker = w->tensor[t].from, has[SAMPLES] = {0};
    int64_t bytes = 0;
    for (uint32_t k = of->at[copy]; k < of->at[copy + 1]; k++) {
        uint32_t x = of->to[k];
        const struct work_tensor *slice = &s->tensor[x];
        if (x < s->first_slice[t] || x >= s->first_slice[t + 1])
            continue;
        found++;
        bytes += slice->bytes;
        for (int64_t r = slice->first_row; r < slice->first_row + slice->rows; r++) {
            has[r]++;
            if (maker == w->npart)
                assert_int_equal(slice->from, s->npart);
            else if (slice->has_rows) /* the device of the maker that makes this sample */
                assert_int_equal(slice->from, s->first_copy[maker] +
                                                  (uint32_t)r / (SAMPLES / devices_of(w, maker)));
        }
        if (maker < w->npart && !slice->has_rows && devices_of(w, maker) == n)
            assert_int_equal(slice->from, s->first_copy[maker] + i);
    }
    for (uint32_t r = 0; r < SAMPLES; r++)
        assert_int_equal(has[r], w->tensor[t].has_rows ? r / each == i : 1);
    assert_true(w->tensor[t].has_rows || found == 1);
    int64_t row = w->tensor[t].bytes / w->share.profiled;
    assert_int_equal(bytes, w->tensor[t].has_rows ? row * each : w->tensor[t].bytes);
}

/* Each sample of what is returned comes once, from the device that makes it; what has no rows from the first. */
static void check_returned(const struct sample_work *w, const struct sample_work *s, uint32_t t)
{
    int64_t rows = 0;
    for (uint32_t x = s->first_slice[t]; x < s->first_slice[t + 1]; x++) {
        assert_true(!s->tensor[x].returned || w->tensor[t].returned);
        rows += s->tensor[x].returned ? s->tensor[x].rows : 0;
        assert_true(s->tensor[x].has_rows ||
                    s->tensor[x].returned == (x == s->first_slice[t] && w->tensor[t].returned));
    }
    assert_int_equal(rows, w->tensor[t].returned ? SAMPLES : 0);
}

/* The lists of two micro-batches, every device's in the order of its parts, hold. */
static void check_lists(const struct sample_work *s, struct arena *a)
{
    struct pairs list = {.a = a};
    const char *why;
    for (uint32_t m = 0; m < MICRO_BATCHES; m++)
        for (uint32_t x = 0; x < s->npart; x++)
            pairs_add(&list, s->part[x].dev, m * s->npart + x);
    struct csr of = pairs_rows(&list, s->ndev);
    struct sample_work *all = work_unroll(s, MICRO_BATCHES, &of, &why, a);
    assert_non_null(all);
    int64_t *when = arena_array(a, all->npart + 1, sizeof *when);
    int64_t *sent = arena_array(a, all->ntensor + 1, sizeof *sent);
    for (uint32_t x = 0; x < all->npart; x++)
        when[x] = x;
    for (uint32_t t = 0; t < all->ntensor; t++)
        sent[t] = all->tensor[t].from < all->npart ? when[all->tensor[t].from] + 2 : 0;
    struct rhythm y = {.level = arena_array(a, all->npart + 1, sizeof(uint32_t)),
                       .phase = arena_alloc(a, all->npart + 1),
                       .start = when,
                       .end = when,
                       .sent = sent};
    struct schedule *e = schedule_make(all, &y, a);
    e->in_flight = 1;
    const char *wrong = schedule_prove(all, e, a);
    if (wrong)
        fail_msg("%s", wrong);
}

static void random_stages(void **state)
{
    (void)state;
    uint64_t rng = 5;
    uint32_t cut = 0, joined = 0;
    for (uint32_t c = 0; c < CASES; c++) {
        struct arena *a = arena_new(NULL);
        const char *why;
        struct sample_work *w = draw(&rng, a), *s = work_slice(w, 1 << 20, &why, a);
        assert_non_null(s);
        for (uint32_t p = 0; p < w->npart; p++)
            for (uint32_t i = 0; i < devices_of(w, p); i++) {
                uint32_t copy = s->first_copy[p] + i, at = w->share.device.at[p] + i;
                assert_int_equal(s->part[copy].dev, w->share.device.to[at]);
                for_row (t, w->in, p)
                    check_use(w, s, &s->in, p, i, t);
                for_row (t, w->out, p)
                    check_use(w, s, &s->out, p, i, t);
                cut += s->out.at[copy + 1] - s->out.at[copy] > w->out.at[p + 1] - w->out.at[p];
                joined += s->in.at[copy + 1] - s->in.at[copy] > w->in.at[p + 1] - w->in.at[p];
            }
        for (uint32_t t = 0; t < w->ntensor; t++)
            check_returned(w, s, t);
        check_lists(s, a);
        arena_free(a);
    }
    assert_true(cut > CASES / 4 && joined > CASES / 4);
}

static void refused(void **state)
{
    (void)state;
    uint64_t rng = 6;
    struct arena *a = arena_new(NULL);
    const char *why;
    struct sample_work *w = draw(&rng, a);
    while (w->npart < 3 || devices_of(w, w->npart - 1) < 2)
        w = draw(&rng, a);
    assert_null(work_slice(w, 20, &why, a));
    assert_string_equal(why, "there are too many micro-batches, or devices that share them");
    w->share.samples = 1;
    assert_null(work_slice(w, 1 << 20, &why, a));
    assert_non_null(strstr(why, "devices share micro-batches of 1 sample"));
    arena_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_stages), cmocka_unit_test(refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
