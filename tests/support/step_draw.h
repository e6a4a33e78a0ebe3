/* Random modules with plans, for tests of one step: small ones whose times tie everywhere, and some of large times; and
 * every way to run a step. */
#ifndef PCC_TESTS_STEP_DRAW_H
#define PCC_TESTS_STEP_DRAW_H

#include "tests/support/graphs.h"
#include "tests/support/slow_step.h"

enum { MOST_OPS = 10 };

/* How large the numbers of a module are: ties everywhere, or nearly none. */
static inline uint32_t draw_time(uint64_t *rng, uint32_t most)
{
    return most < 20 ? test_below(rng, most) : 1 + test_below(rng, most);
}

static inline void draw_value(FILE *f, uint64_t *rng, uint32_t most)
{
    fprintf(f, "? !bytes=%uB", 1 + test_below(rng, most < 20 ? 4 : 10 * most));
    if (test_below(rng, 2))
        fprintf(f, " !xfer=%ups", draw_time(rng, most));
}

static inline void draw_class(FILE *f, uint64_t *rng, const char *name, uint32_t count,
                              uint32_t most)
{
    uint32_t slow = most < 20 ? 1 : 100;
    fprintf(f, "class %s x%u link=%uGB/s,%ups", name, count, 1000 / (1 + test_below(rng, 4)),
            draw_time(rng, 3 * slow));
    if (count % 2 == 0 || test_below(rng, 2))
        fprintf(f, " group=%u", count % 2 || test_below(rng, 4) == 0 ? count : 2);
    if (test_below(rng, 2))
        fprintf(f, " inner=%uGB/s,%ups", 1000 + test_below(rng, 2000), draw_time(rng, slow));
    if (test_below(rng, 2))
        fprintf(f, " inner_share=%u", 1 + test_below(rng, 1000000));
    fprintf(f, "\n");
}

/* Links between some of the first n devices, the accelerators: most pairs have one, one way or both. */
static inline void draw_links(FILE *f, uint64_t *rng, uint32_t n, uint32_t most)
{
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = i + 1; k < n; k++) {
            bool swap = test_below(rng, 2);
            if (test_below(rng, 4))
                fprintf(f, "between acc%u acc%u%s=%uGB/s,%ups\n", swap ? k : i, swap ? i : k,
                        test_below(rng, 2) ? " oneway" : "", 300 + test_below(rng, 2000),
                        draw_time(rng, most));
        }
}

/* Operands among the values v0 ... and inputs x0 ... so far, some of them twice, some by their shape. */
static inline void draw_operands(FILE *f, uint64_t *rng, uint32_t nvalue, uint32_t ninput,
                                 uint32_t dense)
{
    const char *comma = "";
    for (uint32_t i = 0; i < nvalue; i++)
        while (test_below(rng, 100) < dense) {
            fprintf(f, "%s%%v%u", comma, i);
            comma = ", ";
        }
    for (uint32_t i = 0; i < ninput; i++)
        if (test_below(rng, 100) < dense) {
            fprintf(f, "%s%%%s%u", comma, test_below(rng, 4) ? "x" : "s", i);
            comma = ", ";
        }
}

static inline void draw_times(FILE *f, uint64_t *rng, uint32_t ncls, uint32_t most)
{
    uint32_t never = test_below(rng, 4);
    fprintf(f, " !time=[");
    for (uint32_t k = 0; k < ncls; k++) {
        fprintf(f, k ? "," : "");
        if (ncls > 1 && k == never)
            fprintf(f, "never");
        else
            fprintf(f, "%ups", draw_time(rng, most));
    }
    fprintf(f, "]");
}

/* Devices for all, where they can run, and an order in which they can. */
static inline void draw_plan(struct made *s, uint64_t *rng, bool legal)
{
    const struct cluster *c = s->of.cluster;
    const struct module *m = s->of.m;
    uint32_t step = 1 + test_below(rng, 2), left = s->n, use = 1 + test_below(rng, c->ndev);
    bool done[MOST_NODES] = {false};
    for (nid n = s->first; n < s->first + s->n; n++) {
        if (s->of.place->kind[n] != PLACE_NODE)
            continue;
        uint32_t d = test_below(rng, use);
        while (m->cost->time[cluster_class(c, d)][n] == COST_NEVER)
            d = test_below(rng, c->ndev);
        s->dev[n] = (int32_t)d;
    }
    for (uint32_t at = 0; left; at++, left--) {
        nid n;
        bool can;
        do {
            n = s->first + test_below(rng, s->n);
            can = !done[n];
            for (uint32_t i = 0; can && legal && i < m->node[n].nformal; i++) {
                nid def = m->value[node_in(m, n, i)].def;
                can = !def || done[def];
            }
        } while (!can);
        done[n] = true;
        s->rank[n] = at / step;
    }
    s->order = legal && test_below(rng, 4) == 0 ? NULL : s->rank;
}

/* A random module and a plan for it.  large: times that hardly ever are the same, and never 0. */
static inline void draw(struct made *s, uint64_t *rng, bool large, bool legal)
{
    char *text = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&text, &size);
    uint32_t most = large ? 1000 : 2 + test_below(rng, 5), acc = 1 + test_below(rng, 4);
    uint32_t fast = test_below(rng, 5 - acc), cpu = test_below(rng, 5 - acc - fast);
    uint32_t ninput = test_below(rng, 3), nop = 1 + test_below(rng, MOST_OPS), nvalue = 0;
    uint32_t dense = 5 + test_below(rng, 30);
    bool io_free = test_below(rng, 4) == 0;
    draw_class(f, rng, "acc", acc, most);
    if (fast)
        draw_class(f, rng, "fast", fast, most);
    if (cpu)
        fprintf(f, "class cpu x%u host\n", cpu);
    if (test_below(rng, 4))
        draw_links(f, rng, acc + fast, most);
    fprintf(f, "graph {\n");
    for (uint32_t i = 0; i < ninput; i++) {
        fprintf(f, "  in %%x%u : ", i);
        draw_value(f, rng, most);
        fprintf(f, "\n");
    }
    for (uint32_t i = 0; i < nop; i++) {
        bool two = test_below(rng, 4) == 0;
        fprintf(f, two ? "  %%v%u, %%v%u" : "  %%v%u", nvalue, nvalue + 1);
        fprintf(f, " = profile:op(");
        draw_operands(f, rng, nvalue, i ? ninput : 0, dense);
        fprintf(f, ") : ");
        for (int k = 0; k <= two; k++) {
            fprintf(f, "%s", k ? ", " : "");
            draw_value(f, rng, most);
        }
        draw_times(f, rng, 1 + (fast > 0) + (cpu > 0), most);
        if (test_below(rng, 2))
            fprintf(f, " !own=%uB", test_below(rng, 20 * most));
        fprintf(f, "\n");
        nvalue += 1 + two;
        for (uint32_t k = 0; i == 0 && k < ninput; k++)
            fprintf(f, "  %%s%u = Shape(%%x%u) : i64[4]\n", k, k);
    }
    for (uint32_t i = 0, any = 0; i < nvalue; i++)
        if (test_below(rng, 4) == 0)
            fprintf(f, "%s%%v%u", any++ ? ", " : "  out ", i);
    fprintf(f, "\n}\n");
    fclose(f);
    load(s, text, size, io_free);
    free(text);
    draw_plan(s, rng, legal);
}

/* The next way to run a step; false: there are no more. */
static inline bool next_model(struct step_model *how)
{
    if (++how->dispatch < DISPATCHES)
        return true;
    how->dispatch = 0;
    if (++how->contention < CONTENTIONS - 2 * (how->network == NETWORK_HOST))
        return true;
    how->contention = 0;
    return ++how->network < NETWORKS;
}

#endif
