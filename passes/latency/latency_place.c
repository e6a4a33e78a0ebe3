/* dev */
#include "passes/contiguous/placing.h"
#include "passes/latency/label_search.h"
#include "passes/latency/latency_anneal.h"
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static int latency_run(struct ctx *x, const void *options)
{
    (void)options;
    if (ctx_base(x)) return -1;
    struct wdag *g = whole_level(x);
    struct problem *c = problem_build(g, &x->scene, -1, x->use.scratch, x->use.diag);
    if (!c) return -1;
    const char *q = getenv("Q");
    struct latency_graph *p = latency_graph_build(c, x->levels.base, q ? (uint32_t)atoi(q) : 1, x->use.scratch);
    struct latency_tail *t = latency_tail_make(p, x->use.scratch);
    fprintf(stderr, "n %u units %u together %d fast %.4f all %.4f clock %.2f\n", g->n, p->nunit, p->together, (double)t->fast/1e9, (double)t->all/1e9, (double)clock()/CLOCKS_PER_SEC);
    if (getenv("MOVES")) {
        struct clock ck = ctx_clock(x);
        struct latency_plan plan = latency_no_plan(p, x->use.scratch);
        struct latency_room *room = latency_room_new(p, x->use.scratch);
        uint64_t rng = 1;
        latency_fill(p, &rng, &plan, room, x->use.scratch);
        fprintf(stderr, "fill %.4f\n", (double)plan.value/1e9);
        struct latency_anneal how = {.seed = (uint64_t)atoi(getenv("SEED")?getenv("SEED"):"1"), .moves = 0, .clock = &ck};
        for (how.moves = 20000; how.done < (uint64_t)atoll(getenv("MOVES")); ) { latency_anneal(p, &how, &plan, x->use.scratch); how.moves = how.done;how.seed++;
          fprintf(stderr, "moves %lu value %.4f clock %.2f\n", how.done, (double)plan.value/1e9, (double)clock()/CLOCKS_PER_SEC);}
        return diag_error(x->use.diag, "dev");
    }
    const char *e = getenv("T");
    struct clock ck = ctx_clock(x);
    struct label_limits l = {10000000, 20000000000ull, (size_t)2 << 30, &ck};
    struct latency_plan best = latency_no_plan(p, x->use.scratch);
    struct label_found f = label_search(p, t, e ? (int64_t)(atof(e)*1e9) : LOAD_INF, &l, &best, x->use.scratch);
    struct latency_room *room = latency_room_new(p, x->use.scratch);
    fprintf(stderr, "complete %d why %s labels %lu ideals %lu steps %lu value %.4f clock %.2f\n", f.complete, f.why?f.why:"", f.labels, f.ideals, f.steps, (double)best.value/1e9, (double)clock()/CLOCKS_PER_SEC);
    if (best.value < LOAD_INF) fprintf(stderr, "eval %.4f fits %d\n", (double)latency_of(p,best.sub,room)/1e9, latency_fits(p,best.sub,room));
    return diag_error(x->use.diag, "dev");
}
const struct planner planner_latency_place = {
    .pass = {.name = "latency-place", .help = "dev", .needs = NEED_COST | NEED_CONTRACT, .run = latency_run},
    .objectives = 1 << OBJECTIVE_SAMPLE, .features = FEATURE_PINS};
