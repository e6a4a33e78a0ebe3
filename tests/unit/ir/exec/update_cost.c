/* What sums of gradients and an update cost (update_cost.h): a weight with a momentum, at a rate by hand; a bound on
 * iterations holds wherever updates are. */
#include "ir/exec/iteration/iteration_verdict.h"
#include "ir/exec/iteration/update_cost.h"
#include "ir/text/text.h"
#include "tests/support/aim.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

/* The gradient w_grad, of 32 bytes, is that of the weight and of its momentum.  The update's nodes take 10, 20 and
 * 30 ps beside an operator's 3 ps each, and move 10 bytes each: 2 ps a byte. */
static const char model[] = "pcc 1\nopset ai.onnx 20\nclass acc x2 overhead=3ps\ngraph {\n"
                            "  in %x : f32[batch,4]\n"
                            "  in %rate : f32[]\n"
                            "  init %w : f32[4,2] = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]\n"
                            "  init %m : f32[4,2] = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]\n"
                            "  %h = MatMul(%x, %w) : f32[batch,2]\n"
                            "  %loss = ReduceMean(%h) {keepdims = 0} : f32[]\n"
                            "  %d = Mul(%h, %rate) : f32[batch,2] !backward\n"
                            "  %xt = Transpose(%x) {perm = [1, 0]} : f32[4,batch] !backward\n"
                            "  %w_grad = MatMul(%xt, %d) : f32[4,2] name=\"grad\" !backward\n"
                            "  %m_new = Add(%m, %w_grad) : f32[4,2] name=\"once1\" !backward\n"
                            "  %u = Mul(%m_new, %rate) : f32[4,2] name=\"once2\" !backward\n"
                            "  %w_new = Sub(%w, %u) : f32[4,2] name=\"once3\" !backward\n"
                            "  out %loss\n  out %w_new\n  out %m_new\n}\n";

/* Checks that the bound is no more than what plans take that keep updates within passes, as stages may have to, whether
 * a step has fewer samples than were profiled or more.  time: [node] ps, which is changed. */
static void check_bound(struct scene *s, int64_t *time, struct arena *a)
{
    const struct module *m = s->m;
    struct training *t = &s->model.training;
    const enum update_where update = t->update;
    for (nid n = m->graph[1].first; n < m->graph[1].first + m->graph[1].count; n++)
        time[n] *= strncmp(node_name(m, n), "once", 4) == 0 ? 1000000 : 1;
    for (t->micro_size = 1; t->micro_size <= 64; t->micro_size *= 8) {
        t->profiled = 8;
        t->update = update;
        int64_t bound = iteration_bound(s, a).value;
        t->update = UPDATE_WITHIN;
        assert_in_range(bound, 1, iteration_bound(s, a).value);
    }
    t->micro_size = t->profiled = 0;
}

static void test_momentum(void **state)
{
    static const struct {
        uint32_t micro_batches;
        enum update_where update;
        int64_t grad; /* ps once, of the node that makes the gradient; -1: updates are within */
    } row[] = {{4, UPDATE_AUTO, 3 + 2 * 32 * 2},
               {4, UPDATE_WITHIN, -1},
               {1, UPDATE_AUTO, -1},
               {1, UPDATE_APART, 0}};
    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        struct arena *a = arena_new(NULL);
        struct text_module t;
        struct diag diag = {0};
        const struct named_text text = {"model", model, strlen(model), NULL};
        assert_int_equal(module_parse(&t, &text, NULL, &diag), 0);
        struct module *m = t.scene.m;
        int64_t *time = arena_array(a, m->nnode, sizeof *time);
        int64_t *overhead = arena_array(a, m->nnode, sizeof *overhead);
        struct costs cost = {.nclass = 1,
                             .time = &time,
                             .overhead = &overhead,
                             .traffic = arena_array(a, m->nnode, sizeof(int64_t)),
                             .bytes = arena_array(a, m->nval, sizeof(int64_t))};
        struct place place = {.kind = arena_alloc(a, m->nnode)};
        for (nid n = m->graph[1].first; n < m->graph[1].first + m->graph[1].count; n++) {
            bool once = strncmp(node_name(m, n), "once", 4) == 0;
            place.kind[n] = PLACE_NODE;
            time[n] = once ? 3 + 10 * (node_name(m, n)[4] - '0') : 1000;
            overhead[n] = 3;
            cost.traffic[n] = once ? 10 : 1;
        }
        for (vid v = 1; v < m->nval; v++)
            cost.bytes[v] = 32;
        m->cost = &cost;
        m->ir_version = 10;
        t.scene.place = &place;
        aim_at(&t.scene.model, "iteration-time");
        t.scene.model.training.micro_batches = row[i].micro_batches;
        t.scene.model.training.update = row[i].update;
        const struct update_cost u = update_cost_find(&t.scene, NULL, NULL, a);
        assert_int_equal(u.own == NULL, row[i].grad < 0);
        for (nid n = m->graph[1].first; u.own && n < m->graph[1].first + m->graph[1].count; n++) {
            bool once = strncmp(node_name(m, n), "once", 4) == 0;
            bool grad = strcmp(node_name(m, n), "grad") == 0;
            assert_int_equal(u.own[n], once);
            assert_int_equal(u.each[n], grad ? 3 + 3 * 32 * 2 : 0);
            assert_int_equal(u.once[n], once ? time[n] : grad ? row[i].grad : 0);
        }
        check_bound(&t.scene, time, a);
        arena_free(m->mem);
        arena_free(a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_momentum)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
