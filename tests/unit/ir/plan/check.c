/* What holds of a plan whatever it is to make small (ir/plan/check.c), on random scenes against the definitions,
 * worked out here from the test's own tables: contiguous by all orders of the devices, bytes alive step by step. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "ir/base/strings.h"
#include "tests/support/graphs.h"
#include "tests/support/sanitized.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SCENES = SANITIZED ? 2000 : 20000,
    NODES = 12,
    NETS = 12,
    WEIGHTS = 4,
    PAIRS = 2,
    CLASSES = 3,
    DEVICES = 4
};
enum { INPUT = NODES }; /* the maker of a net that no node makes */

struct world {
    uint32_t ncls, ndev, n, nnet, nweight, npair;
    uint32_t cls[DEVICES], copies[DEVICES];
    int64_t memory[CLASSES], time[CLASSES][NODES];
    bool placed[NODES], back[NODES];
    uint32_t color[NODES];
    int64_t own[NODES], params[NODES];
    int32_t dev[NODES];
    uint32_t maker[NETS];
    bool reads[NETS][NODES], host[NETS], needs[WEIGHTS][NODES];
    int64_t bytes[NETS], weight[WEIGHTS];
    uint32_t pair[PAIRS][2];
    /* what is said at all */
    bool profile, has_params, has_back, has_color, has_copies, io_free;
    unsigned what; /* is checked: CHECK_* */
};

/* ---- random scenes ---------------------------------------------------------------------------- */

static int64_t draw_bytes(uint64_t *rng)
{
    return test_below(rng, 60) ? test_below(rng, 100) : INT64_MAX / 2;
}

static uint32_t draw_placed(const struct world *w, uint64_t *rng)
{
    uint32_t v = test_below(rng, w->n);
    while (!w->placed[v])
        v = (v + 1) % w->n;
    return v;
}

static void draw_nodes(struct world *w, uint64_t *rng)
{
    uint32_t lone = test_below(rng, w->ndev), stay = 1 + test_below(rng, 3);
    bool sound = test_below(rng, 3) > 0;
    w->n = NODES - test_below(rng, NODES / 2) - test_below(rng, NODES / 2);
    for (uint32_t v = 0; v < w->n; v++) {
        w->placed[v] = v == 0 || test_below(rng, 6);
        w->back[v] = test_below(rng, w->n) < 2 * v;
        w->color[v] = test_below(rng, 6) ? 0 : 1 + test_below(rng, 2);
        w->own[v] = draw_bytes(rng);
        w->params[v] = test_below(rng, 100);
        for (uint32_t k = 0; k < w->ncls; k++)
            w->time[k][v] = sound || test_below(rng, 12) ? 1 + test_below(rng, 9) : COST_NEVER;
        if (test_below(rng, stay) == 0)
            lone = test_below(rng, w->ndev);
        w->dev[v] = (int32_t)lone;
        if (!sound && test_below(rng, 20) == 0)
            w->dev[v] = test_below(rng, 2) ? -1 : (int32_t)w->ndev;
    }
}

static void draw_world(struct world *w, uint64_t *rng)
{
    memset(w, 0, sizeof *w);
    w->ndev = DEVICES - test_below(rng, 2) - test_below(rng, 2) - test_below(rng, 5) / 4;
    for (uint32_t d = 0; d < w->ndev; d++)
        w->cls[d] =
            d == 0 ? 0 : w->cls[d - 1] + (w->cls[d - 1] + 1 < CLASSES && test_below(rng, 3) == 0);
    w->ncls = w->cls[w->ndev - 1] + 1;
    for (uint32_t k = 0; k < w->ncls; k++)
        w->memory[k] = test_below(rng, 2) ? -1 : (int64_t)test_below(rng, 500);
    draw_nodes(w, rng);
    w->nnet = NETS - test_below(rng, NETS + 1) / 2;
    for (uint32_t e = 0; e < w->nnet; e++) {
        w->maker[e] = test_below(rng, 6) ? test_below(rng, 1 + test_below(rng, w->n)) : INPUT;
        w->host[e] = test_below(rng, 3) == 0;
        w->bytes[e] = test_below(rng, 100);
        for (uint32_t v = w->maker[e] == INPUT ? 0 : w->maker[e] + 1; v < w->n; v++)
            w->reads[e][v] = w->placed[v] && test_below(rng, 2);
    }
    w->nweight = test_below(rng, WEIGHTS + 1);
    for (uint32_t i = 0; i < w->nweight; i++) {
        w->weight[i] = draw_bytes(rng);
        for (uint32_t v = 0; v < w->n; v++)
            w->needs[i][v] = w->placed[v] && test_below(rng, 3) == 0;
    }
    w->npair = test_below(rng, 3) ? 0 : 1 + test_below(rng, PAIRS);
    for (uint32_t i = 0; i < w->npair; i++)
        for (uint32_t k = 0; k < 2; k++)
            w->pair[i][k] = draw_placed(w, rng);
    w->profile = test_below(rng, 2);
    w->has_params = test_below(rng, 2);
    w->has_back = test_below(rng, 2);
    w->has_color = test_below(rng, 3) == 0;
    w->has_copies = test_below(rng, 3) == 0;
    for (uint32_t d = 0; d < w->ndev; d++)
        w->copies[d] = test_below(rng, 3) ? test_below(rng, 2) : 2 + test_below(rng, 2);
    w->what = test_below(rng, 2) ? CHECK_PEAKS | CHECK_MEMORY : test_below(rng, 4);
    w->io_free = test_below(rng, 3) == 0;
}

static void make_cluster(const struct world *w, struct cluster *c)
{
    static const char *const name[] = {"x", "y", "z"};
    c->ncls = w->ncls;
    c->ndev = w->ndev;
    for (uint32_t k = 0; k < w->ncls; k++)
        c->cls[k] = (struct device_class){.name = name[k], .memory = w->memory[k]};
    for (uint32_t d = 0; d < w->ndev; d++)
        c->cls[w->cls[d]].count++;
}

/* Node v of the world is node v + 1 of the module, net e its value e + 1. */
static struct module *make_module(const struct world *w, struct diag *d)
{
    struct module *m = module_new(NULL, d);
    struct costs *k = m->cost = arena_alloc(m->mem, sizeof *k);
    gid g = module_add_graph(m);
    char name[16];
    assert_int_equal(g, 1);
    m->ir_version = w->profile ? 0 : 8;
    k->nclass = w->ncls;
    k->time = arena_array(m->mem, CLASSES, sizeof *k->time);
    for (uint32_t c = 0; c < w->ncls; c++)
        k->time[c] = arena_array(m->mem, NODES + 1, sizeof **k->time);
    k->own = arena_array(m->mem, NODES + 1, sizeof *k->own);
    k->params = w->has_params ? arena_array(m->mem, NODES + 1, sizeof *k->params) : NULL;
    k->bytes = arena_array(m->mem, NETS + 1, sizeof *k->bytes);
    m->backward = w->has_back ? arena_alloc(m->mem, NODES + 1) : NULL;
    m->color = w->has_color ? arena_array(m->mem, NODES + 1, sizeof *m->color) : NULL;
    for (uint32_t v = 0; v < w->n; v++) {
        nid n = module_add_node(m);
        assert_int_equal(n, v + 1);
        snprintf(name, sizeof name, "n%u", v);
        m->node[n].name = str_id(m, name);
        m->node[n].graph = g;
        for (uint32_t c = 0; c < w->ncls; c++)
            k->time[c][n] = w->time[c][v];
        k->own[n] = w->own[v];
        if (k->params)
            k->params[n] = w->params[v];
        if (m->backward)
            m->backward[n] = w->back[v];
        if (m->color)
            m->color[n] = w->color[v];
    }
    m->graph[g].first = 1;
    m->graph[g].count = w->n;
    for (uint32_t e = 0; e < w->nnet; e++) {
        vid x = module_add_value(m);
        assert_int_equal(x, e + 1);
        m->value[x].def = w->maker[e] == INPUT ? 0 : w->maker[e] + 1;
        k->bytes[x] = w->bytes[e];
    }
    return m;
}

static bool is_pin(const struct world *w, uint32_t e, uint32_t v)
{
    return w->placed[v] && (w->maker[e] == v || w->reads[e][v]);
}

static struct place *make_place(const struct world *w, struct arena *a)
{
    struct place *p = arena_alloc(a, sizeof *p);
    uint32_t row[(NETS + WEIGHTS) * NODES], to[(NETS + WEIGHTS) * NODES], n = 0;
    p->kind = arena_alloc(a, NODES + 1);
    for (uint32_t v = 0; v < w->n; v++)
        p->kind[v + 1] = w->placed[v] ? PLACE_NODE : v % 2 ? PLACE_COPY : PLACE_NONE;
    p->nnet = w->nnet;
    p->net_value = arena_array(a, NETS, sizeof *p->net_value);
    p->net_host = arena_alloc(a, NETS);
    p->net_at_host = arena_alloc(a, NETS);
    for (uint32_t e = 0; e < w->nnet; e++) {
        p->net_value[e] = e + 1;
        p->net_host[e] = w->host[e];
        for (uint32_t v = 0; v < w->n; v++)
            if (is_pin(w, e, v)) {
                row[n] = e;
                to[n++] = v + 1;
            }
    }
    p->net_pin = csr_build(a, w->nnet, n, row, to);
    n = 0;
    p->nweight = w->nweight;
    p->weight_bytes = arena_array(a, WEIGHTS, sizeof *p->weight_bytes);
    for (uint32_t i = 0; i < w->nweight; i++) {
        p->weight_bytes[i] = w->weight[i];
        for (uint32_t v = 0; v < w->n; v++)
            if (w->needs[i][v]) {
                row[n] = i;
                to[n++] = v + 1;
            }
    }
    p->weight_user = csr_build(a, w->nweight, n, row, to);
    p->nsame = w->npair;
    p->same = arena_array(a, PAIRS, sizeof *p->same);
    for (uint32_t i = 0; i < w->npair; i++)
        p->same[i] = (struct same_pair){w->pair[i][0] + 1, w->pair[i][1] + 1, SAME_TYPE};
    return p;
}

/* ---- the definitions -------------------------------------------------------------------------- */

static bool is_on(const struct world *w, uint32_t v, uint32_t d)
{
    return w->placed[v] && w->dev[v] == (int32_t)d;
}

static bool has_device(const struct world *w, uint32_t v)
{
    return w->placed[v] && w->dev[v] >= 0 && w->dev[v] < (int32_t)w->ndev;
}

static int64_t at_most(__int128 x)
{
    return x < INT64_MAX ? (int64_t)x : INT64_MAX;
}

/* Bytes of the weights that device d holds. */
static __int128 held_weights(const struct world *w, uint32_t d)
{
    __int128 sum = 0;
    for (uint32_t i = 0; i < w->nweight; i++) {
        bool any = false;
        for (uint32_t v = 0; v < w->n; v++)
            any = any || (w->needs[i][v] && is_on(w, v, d));
        sum += any ? w->weight[i] : 0;
    }
    return sum;
}

/* Bytes of the nets that device d has while it runs node `at`: from its making or, if it comes from elsewhere, from the
 * start; to its last reader or, if it goes elsewhere or is an input that is there already, to the end. */
static int64_t alive_at(const struct world *w, uint32_t d, uint32_t at)
{
    int64_t sum = 0;
    for (uint32_t e = 0; e < w->nnet; e++) {
        bool here = false, elsewhere = w->host[e] && !w->io_free, read_later = false;
        bool stays = w->host[e] && w->io_free && w->maker[e] == INPUT;
        for (uint32_t v = 0; v < w->n; v++) {
            here = here || (is_pin(w, e, v) && is_on(w, v, d));
            elsewhere = elsewhere || (is_pin(w, e, v) && has_device(w, v) && !is_on(w, v, d));
            read_later = read_later || (is_pin(w, e, v) && is_on(w, v, d) && v >= at);
        }
        bool made_here = w->maker[e] != INPUT && is_on(w, w->maker[e], d);
        bool begun = !made_here || w->maker[e] <= at;
        sum += here && begun && (stays || read_later || (made_here && elsewhere)) ? w->bytes[e] : 0;
    }
    return sum;
}

static void check_device(const struct world *w, uint32_t d, const struct device_load *l)
{
    __int128 weights = held_weights(w, d), used = weights, params = weights;
    int64_t peak = 0;
    uint32_t nodes = 0;
    for (uint32_t v = 0; v < w->n; v++) {
        if (!is_on(w, v, d))
            continue;
        int64_t alive = alive_at(w, d, v);
        nodes++;
        used += w->own[v];
        params += !w->profile ? 0 : w->has_params ? w->params[v] : w->own[v];
        peak = alive > peak ? alive : peak;
    }
    assert_int_equal(l->nodes, nodes);
    assert_int_equal(l->weights, at_most(weights));
    assert_int_equal(l->used, at_most(used));
    assert_int_equal(l->params, at_most(params));
    bool told = w->what & CHECK_PEAKS;
    assert_int_equal(l->live_peak, told ? at_most(peak + weights) : 0);
    assert_int_equal(l->load, 0);
}

/* A colour with a forward node, whose backward nodes are a copy of it in a profile. */
static bool has_forward(const struct world *w, uint32_t v)
{
    for (uint32_t u = 0; u < w->n && w->has_color && w->color[v]; u++)
        if (w->color[u] == w->color[v] && !w->back[u])
            return true;
    return false;
}

enum { FORWARD = 1, BACKWARD = 2, TURNED = 4 };

/* Whether the devices can stand in a row such that what a forward node makes is read where it is made, or further on,
 * by its like (FORWARD), what a backward node makes, too (BACKWARD), or there or further back (TURNED). */
static bool is_contiguous(const struct world *w, int how)
{
    uint32_t orders = 1;
    for (uint32_t d = 2; d <= w->ndev; d++)
        orders *= d;
    for (uint32_t o = 0; o < orders; o++) {
        uint32_t place[DEVICES], left[DEVICES] = {0, 1, 2, 3}, code = o;
        bool good = true;
        for (uint32_t d = 0; d < w->ndev; d++) { /* the o-th order */
            uint32_t i = code % (w->ndev - d);
            code /= w->ndev - d;
            place[d] = left[i];
            left[i] = left[w->ndev - d - 1];
        }
        for (uint32_t e = 0; e < w->nnet; e++)
            for (uint32_t v = 0; v < w->n && w->maker[e] != INPUT; v++) {
                uint32_t u = w->maker[e];
                if (!w->reads[e][v] || !has_device(w, u) || !has_device(w, v) ||
                    (w->has_back && w->back[u] != w->back[v]))
                    continue;
                bool back = w->has_back && w->back[u],
                     copy = w->profile && has_forward(w, u) && has_forward(w, v);
                if (back ? how & BACKWARD : how & FORWARD)
                    good = good && place[w->dev[u]] <= place[w->dev[v]];
                if (back && (how & TURNED) && !copy)
                    good = good && place[w->dev[u]] >= place[w->dev[v]];
            }
        if (good)
            return true;
    }
    return false;
}

static bool copies_are_free(const struct world *w, uint32_t d)
{
    for (uint32_t i = d + 1; i < d + w->copies[d]; i++) {
        if (i >= w->ndev || w->cls[i] != w->cls[d] || w->copies[i] > 1)
            return false;
        for (uint32_t v = 0; v < w->n; v++)
            if (is_on(w, v, i))
                return false;
    }
    return true;
}

static bool is_runnable(const struct world *w)
{
    for (uint32_t v = 0; v < w->n; v++)
        if (w->placed[v] && (!has_device(w, v) || w->time[w->cls[w->dev[v]]][v] == COST_NEVER))
            return false;
    for (uint32_t d = 0; d < w->ndev && w->has_copies; d++)
        if (!copies_are_free(w, d))
            return false;
    return true;
}

static bool is_colocated(const struct world *w)
{
    for (uint32_t i = 0; i < w->npair; i++)
        if (w->dev[w->pair[i][0]] != w->dev[w->pair[i][1]])
            return false;
    for (uint32_t u = 0; u < w->n && w->has_color; u++)
        for (uint32_t v = 0; v < u; v++)
            if (w->placed[u] && w->placed[v] && w->color[u] && w->color[u] == w->color[v] &&
                w->dev[u] != w->dev[v])
                return false;
    return true;
}

static bool is_fitting(const struct world *w)
{
    bool sum = w->what & CHECK_MEMORY;
    for (uint32_t d = 0; d < w->ndev && sum; d++) {
        __int128 used = held_weights(w, d);
        for (uint32_t v = 0; v < w->n; v++)
            used += is_on(w, v, d) ? w->own[v] : 0;
        if (w->memory[w->cls[d]] >= 0 && used > w->memory[w->cls[d]])
            return false;
    }
    return true;
}

/* ---- the check -------------------------------------------------------------------------------- */

/* The reason names what is wrong, in this order. */
static void check_reason(const struct verdict *v)
{
    if (v->runnable && v->fits && v->colocated) {
        assert_null(v->why_not);
        return;
    }
    assert_non_null(v->why_not);
    if (!v->runnable)
        assert_true(strstr(v->why_not, "has no device") || strstr(v->why_not, "cannot run on") ||
                    strstr(v->why_not, " copies, and not as many idle devices"));
    else
        assert_non_null(strstr(v->why_not, !v->fits ? " needs "
                                           : strstr(v->why_not, " must share")
                                               ? " a device"
                                               : " of one colour class"));
}

static void test_scenes(void **state)
{
    struct world w;
    uint32_t runnable = 0, fits = 0, contiguous = 0, colocated = 0, split = 0, turned = 0;
    (void)state;
    for (uint64_t seed = 1; seed <= SCENES; seed++) {
        uint64_t rng = seed;
        struct diag d = {0};
        struct cluster c = {0};
        draw_world(&w, &rng);
        make_cluster(&w, &c);
        struct module *m = make_module(&w, &d);
        struct scene s = {.m = m, .place = make_place(&w, m->mem), .cluster = &c};
        if (w.io_free)
            place_free_io(m, s.place, m->mem);
        int32_t dev[NODES + 1] = {-1};
        memcpy(dev + 1, w.dev, sizeof w.dev);
        struct verdict v = plan_check(&s, dev, w.has_copies ? w.copies : NULL, w.what, m->mem);
        bool forward = is_contiguous(&w, FORWARD), apart = forward && is_contiguous(&w, BACKWARD);
        bool row = apart && is_contiguous(&w, FORWARD | TURNED);
        for (uint32_t i = 0; i < w.ndev; i++)
            check_device(&w, i, &v.load[i]);
        if (v.runnable != is_runnable(&w) || v.fits != is_fitting(&w) || v.contiguous != row ||
            v.colocated != is_colocated(&w))
            fail_msg("seed %llu: runnable %d, fits %d, contiguous %d, colocated %d",
                     (unsigned long long)seed, v.runnable, v.fits, v.contiguous, v.colocated);
        check_reason(&v);
        runnable += v.runnable;
        fits += v.fits;
        contiguous += v.contiguous;
        colocated += v.colocated;
        split += forward != apart;
        turned += apart != row;
        arena_free(m->mem);
    }
    printf(
        "%d scenes: %u runnable, %u fit, %u contiguous, %u colocated; %u only forward, %u not back\n",
        SCENES, runnable, fits, contiguous, colocated, split, turned);
    assert_in_range(runnable, SCENES / 5, SCENES - SCENES / 5); /* each is met and missed */
    assert_in_range(fits, SCENES / 5, SCENES - SCENES / 5);
    assert_in_range(contiguous, SCENES / 5, SCENES - SCENES / 20);
    assert_in_range(colocated, SCENES / 5, SCENES - SCENES / 10);
    assert_true(split > SCENES / 200 && turned > SCENES / 200);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_scenes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
