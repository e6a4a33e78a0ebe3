/* Rounds and phases of parts (rhythm_of_rounds) against what the header says of them, by paths: a part's phase is the
 * latest of its own and those that it reads of; its round is that of the longest path to it within its phase, where
 * an edge to another device counts one, or two where transfers overlap computing.  Random parts and tensors. */
#include "ir/exec/sample/rounds_rhythm.h"
#include "ir/ir.h"
#include "ir/base/random.h"
#include "tests/support/sanitized.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

enum { CASES = SANITIZED ? 200 : 1000, PARTS = 9, TENSORS = 20 };

struct sample {
    struct sample_work work;
    struct work_part part[PARTS];
    struct work_tensor tensor[TENSORS];
    uint32_t at[PARTS + 1], to[PARTS * TENSORS];
    struct parts parts;
    struct part made[PARTS];
    nid node[PARTS];
    uint8_t backward[PARTS + 1];
    struct module m;
    struct scene scene;
};

/* Part p consists of node p + 1; it reads tensors that earlier parts make, or that come from outside. */
static void draw(struct sample *x, uint64_t *rng)
{
    memset(x, 0, sizeof *x);
    uint32_t n = 1 + random_below(rng, PARTS), used = 0;
    x->work = (struct sample_work){.npart = n,
                                   .ntensor = 1 + random_below(rng, TENSORS),
                                   .part = x->part,
                                   .tensor = x->tensor,
                                   .in = {x->at, x->to}};
    for (uint32_t t = 0; t < x->work.ntensor; t++)
        x->tensor[t].from = random_below(rng, 5) ? random_below(rng, n) : n;
    for (uint32_t p = 0; p < n; p++) {
        x->part[p].dev = random_below(rng, 3);
        x->node[p] = p + 1;
        x->made[p] = (struct part){.node = &x->node[p], .nnode = 1};
        x->backward[p + 1] = random_below(rng, 3) == 0;
        for (uint32_t t = 0; t < x->work.ntensor; t++)
            if ((x->tensor[t].from < p || x->tensor[t].from == n) && random_below(rng, 3) == 0)
                x->to[used++] = t;
        x->at[p + 1] = used;
    }
    x->parts.part = x->made;
    x->m.backward = x->backward;
    x->scene.m = &x->m;
}

static void is_as_said(const struct sample *x, const struct rhythm *r)
{
    uint32_t hop = x->scene.model.overlap == OVERLAP_SUM ? 1 : 2;
    uint32_t phase[PARTS], level[PARTS];
    for (uint32_t p = 0; p < x->work.npart; p++) {
        phase[p] = exec_apart(&x->scene.model) && x->backward[p + 1];
        level[p] = 0;
        for (uint32_t i = x->at[p]; i < x->at[p + 1]; i++) {
            uint32_t from = x->tensor[x->to[i]].from;
            if (from < x->work.npart && phase[from] > phase[p])
                phase[p] = phase[from];
        }
        for (uint32_t i = x->at[p]; i < x->at[p + 1]; i++) {
            uint32_t from = x->tensor[x->to[i]].from;
            if (from == x->work.npart || phase[from] < phase[p])
                continue;
            uint32_t after = level[from] + (x->part[from].dev != x->part[p].dev ? hop : 0);
            level[p] = after > level[p] ? after : level[p];
        }
        assert_int_equal(r->phase[p], phase[p]);
        assert_int_equal(r->level[p], level[p]);
    }
    assert_true(r->repeats);
}

static void test_rounds(void **state)
{
    uint64_t rng = 5;
    static struct sample x;
    (void)state;
    for (int i = 0; i < CASES; i++) {
        struct arena *a = arena_new(NULL);
        draw(&x, &rng);
        x.scene.model.overlap = (enum overlap)random_below(&rng, OVERLAPS);
        x.scene.model.training.schedule = random_below(&rng, 2) ? TRAINING_GPIPE : TRAINING_DAPPLE;
        struct rhythm r = rhythm_of_rounds(
            &(struct rhythm_ask){.scene = &x.scene, .parts = &x.parts, .work = &x.work}, a);
        is_as_said(&x, &r);
        arena_free(a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_rounds)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
