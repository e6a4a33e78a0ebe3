/* Nodes that a single host thread defers: figures 2 and 3 of the paper, and random modules against its two questions
 * asked anew, by recursion, for each node as it is met. */
#include "ir/plan/host_order.h"
#include "tests/support/step_draw.h"

enum { GRAPHS = 2000 };

static struct host_order count(struct made *s)
{
    struct plan p = {.dev = s->dev, .rank = s->order};
    return host_order_count(&s->of, &p, parts_build(&s->of, s->dev, s->a), s->a);
}

/* One device; the code A..F, the plan A B E C D F. */
static void figure_2(void **state)
{
    static const char text[] = "class acc x1\ngraph {\n"
                               "  %A = profile:op() : ? !bytes=1B !time=1ps\n"
                               "  %B = profile:op(%A) : ? !bytes=1B !time=1ps\n"
                               "  %C = profile:op(%B) : ? !bytes=1B !time=1ps\n"
                               "  %D = profile:op(%C) : ? !bytes=1B !time=1ps\n"
                               "  %E = profile:op(%B) : ? !bytes=1B !time=1ps\n"
                               "  %F = profile:op(%D, %E) : ? !bytes=1B !time=1ps\n"
                               "  out %F\n}\n";
    struct made s;
    (void)state;
    load_on(&s, text, false, "000000");
    in_order(&s, "014235");
    struct host_order o = count(&s);
    assert_true(o.nodes == 6 && o.by_all == 2 && o.by_device == 2); /* C, D */
    unload(&s);
}

/* Two devices: A B C E F and G D, D feeds E; the code A..G, the plan A G B D C E F. */
static void figure_3(void **state)
{
    static const char text[] = "class acc x2\ngraph {\n"
                               "  %A = profile:op() : ? !bytes=1B !time=1ps\n"
                               "  %B = profile:op(%A) : ? !bytes=1B !time=1ps\n"
                               "  %C = profile:op(%B) : ? !bytes=1B !time=1ps\n"
                               "  %D = profile:op() : ? !bytes=1B !time=1ps\n"
                               "  %E = profile:op(%C, %D) : ? !bytes=1B !time=1ps\n"
                               "  %F = profile:op(%E) : ? !bytes=1B !time=1ps\n"
                               "  %G = profile:op() : ? !bytes=1B !time=1ps\n"
                               "  out %F\n  out %G\n}\n";
    struct made s;
    (void)state;
    load_on(&s, text, false, "0001001");
    in_order(&s, "0613245");
    struct host_order o = count(&s);
    assert_true(o.nodes == 7 && o.by_all == 5 && o.by_device == 3); /* B to F; D, E, F */
    unload(&s);
}

/* ---- asked anew ------------------------------------------------------------------------------- */

struct asked {
    const struct made *s;
    const struct parts *parts;
    nid met;                   /* nodes up to this one have been met */
    uint8_t going[MOST_NODES]; /* the question is being asked */
};

static uint32_t rank_of_node(const struct asked *q, nid n)
{
    return q->s->order ? q->s->order[n] : (uint32_t)q->parts->part_of[n];
}

static bool has_device(const struct made *s, nid n)
{
    return s->of.place->kind[n] == PLACE_NODE;
}

static bool before(const struct asked *q, nid a, nid b)
{
    uint32_t x = rank_of_node(q, a), y = rank_of_node(q, b);
    return x < y || (x == y && a < b);
}

static bool is_not_waiting(struct asked *q, nid v);

/* Whether nothing that n reads of, also through nodes that are not placed, is waiting. */
static bool parents_go(struct asked *q, nid n)
{
    const struct module *m = q->s->of.m;
    for (uint32_t i = 0; i < m->node[n].nformal; i++) {
        nid def = m->value[node_in(m, n, i)].def;
        if (def && !(has_device(q->s, def) ? is_not_waiting(q, def) : parents_go(q, def)))
            return false;
    }
    return true;
}

static bool is_not_waiting(struct asked *q, nid v)
{
    nid last = 0;
    if (q->going[v])
        return false;
    q->going[v] = 1;
    bool good = true;
    for (nid n = q->s->first; n < q->s->first + q->s->n; n++)
        if (has_device(q->s, n) && n != v && q->s->dev[n] == q->s->dev[v] && before(q, n, v)) {
            good = good && n <= q->met;
            last = !last || before(q, last, n) ? n : last;
        }
    good = good && (!last || is_not_waiting(q, last)) && parents_go(q, v);
    q->going[v] = 0;
    return good;
}

static void random_orders(void **state)
{
    (void)state;
    uint64_t rng = 31;
    uint32_t all = 0, device = 0, fewer = 0;
    static struct made s;
    for (uint32_t i = 0; i < GRAPHS; i++) {
        draw(&s, &rng, false, i % 4);
        struct asked q = {.s = &s, .parts = parts_build(&s.of, s.dev, s.a)};
        struct host_order want = {0}, o = count(&s);
        for (q.met = s.first; q.met < s.first + s.n; q.met++) {
            if (!has_device(&s, q.met))
                continue;
            bool free = true;
            for (nid n = q.met + 1; n < s.first + s.n; n++)
                free = free && !(has_device(&s, n) && before(&q, n, q.met));
            want.nodes++;
            want.by_all += !free;
            want.by_device += !is_not_waiting(&q, q.met);
        }
        assert_int_equal(o.nodes, want.nodes);
        assert_int_equal(o.by_all, want.by_all);
        assert_int_equal(o.by_device, want.by_device);
        all += o.by_all > 0;
        device += o.by_device > 0;
        fewer += o.by_device < o.by_all;
        unload(&s);
    }
    assert_true(all > GRAPHS / 4 && device > GRAPHS / 5 && fewer > GRAPHS / 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(figure_2), cmocka_unit_test(figure_3),
                                       cmocka_unit_test(random_orders)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
