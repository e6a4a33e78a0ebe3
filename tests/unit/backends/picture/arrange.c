/* Frames in stacks and the labels beside them (arrange.h), of random sizes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "backends/picture/arrange.h"
#include "ir/base/random.h"

enum { CASES = 60, MOST = 40 };

struct rect {
    double x0, y0, x1, y1;
};

static bool overlap(struct rect a, struct rect b)
{
    return a.x0 < b.x1 && b.x0 < a.x1 && a.y0 < b.y1 && b.y0 < a.y1;
}

static struct rect of_frame(const struct arrange_frame *f)
{
    return (struct rect){f->x, f->y, f->x + f->wide, f->y + f->high};
}

static struct rect of_sign(const struct arrange_sign *s)
{
    return (struct rect){s->x - s->wide / 2, s->y - s->high / 2, s->x + s->wide / 2,
                         s->y + s->high / 2};
}

static struct arrangement make(struct arena *a, uint64_t *random)
{
    struct arrangement t = {.frames = 1 + random_below(random, MOST),
                            .signs = random_below(random, 2 * MOST)};
    t.frame = arena_array(a, t.frames, sizeof *t.frame);
    t.sign = arena_array(a, t.signs + 1, sizeof *t.sign);
    for (uint32_t i = 0; i < t.frames; i++) {
        t.frame[i].wide = 60 + random_below(random, 200);
        t.frame[i].high = 40 + random_below(random, 400);
    }
    for (uint32_t i = 0; i < t.signs; i++) {
        struct arrange_sign *s = &t.sign[i];
        s->from = random_below(random, t.frames + 1);
        s->to =
            random_below(random, 3) ? random_below(random, t.frames + 1) : s->from % t.frames + 1;
        s->to = s->to == s->from ? s->from % t.frames + 1 : s->to;
        s->to = !s->from && !s->to ? 1 : s->to;
        s->wide = 40 + random_below(random, 40);
        s->high = 20 + random_below(random, 20);
        s->at = t.frame[(s->to ? s->to : s->from) - 1].high / 2;
    }
    return t;
}

/* Nothing overlaps or leaves the sheet, frames of a stack follow each other downwards, stacks to the right. */
static void test_apart(void **state)
{
    uint64_t random = 1;
    (void)state;
    for (int k = 0; k < CASES; k++) {
        struct arena *a = arena_new(NULL);
        struct arrangement t = make(a, &random);
        uint32_t n = t.frames + t.signs;
        struct rect *r = arena_array(a, n, sizeof *r), sheet;
        picture_arrange(&t, a);
        sheet = (struct rect){-0.01, -0.01, t.wide + 0.01, t.high + 0.01};
        for (uint32_t i = 0; i < n; i++) {
            r[i] = i < t.frames ? of_frame(&t.frame[i]) : of_sign(&t.sign[i - t.frames]);
            assert_true(r[i].x0 >= sheet.x0 && r[i].y0 >= sheet.y0);
            assert_true(r[i].x1 <= sheet.x1 && r[i].y1 <= sheet.y1);
            for (uint32_t j = 0; j < i; j++)
                assert_false(overlap(r[i], r[j]));
        }
        for (uint32_t i = 1; i < t.frames; i++) {
            const struct arrange_frame *f = &t.frame[i], *before = f - 1;
            assert_true(f->stack == before->stack
                            ? f->y >= before->y + before->high
                            : f->stack == before->stack + 1 && f->y == 0 && f->x >= before->x);
        }
        arena_free(a);
    }
}

/* What fits on a screen stays one stack; a long chain takes the screen's shape; many labels of one frame stand below
 * each other, too. */
static void test_shape(void **state)
{
    struct arena *a = arena_new(NULL);
    struct arrangement t = {.frames = 64,
                            .frame = arena_array(a, 64, sizeof(struct arrange_frame))};
    t.sign = arena_array(a, 64, sizeof *t.sign);
    (void)state;
    for (uint32_t i = 0; i < t.frames; i++) {
        t.frame[i] = (struct arrange_frame){.wide = 120, .high = 60};
        t.sign[i] = (struct arrange_sign){.from = 1, .to = 64, .wide = 60, .high = 30};
    }
    picture_arrange(&t, a);
    assert_true(t.frame[63].stack > 3 && t.frame[63].stack < 12 && arrange_screens(&t) < 1.5);
    t.signs = 62;
    picture_arrange(&t, a);
    assert_true(arrange_screens(&t) < 3.5);
    t.signs = 0;
    t.frames = 5;
    picture_arrange(&t, a);
    assert_true(t.frame[4].stack == 0 && arrange_screens(&t) <= 1);
    arena_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_apart),
        cmocka_unit_test(test_shape),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
