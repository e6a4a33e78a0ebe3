/* ip-place: splits by integer programming, of any sets or contiguous ones. */
#include "passes/ip_model.h"
#include "passes/loads.h"
#include "passes/place_run.h"

#include "ir/units.h"

#include <inttypes.h>
#include <string.h>

enum { DEFAULT_SECONDS = 60, MILLION = 1000000 };

struct ip_options {
    int64_t shape, solver, limit, starts, seed;
    bool solve;
    const char *gap, *write;
};

static const char *const shape_names[] = {"none", "convex", "chain", NULL}; /* enum ip_shape */
static const char *const solver_names[] = {"auto", "lp_solve", "cbc", NULL};

static const struct opt ip_opts[] = {
    {.kind = OPT_CHOICE,
     .name = "contiguous",
     .off = offsetof(struct ip_options, shape),
     .def = "none",
     .names = shape_names,
     .help = "what a device may hold: any set, a convex set, a step of a chain"},
    {.kind = OPT_CHOICE,
     .name = "solver",
     .off = offsetof(struct ip_options, solver),
     .def = "lp_solve",
     .names = solver_names,
     .help = "auto: CBC, where pcc has it"},
    {.kind = OPT_TEXT,
     .name = "gap",
     .off = offsetof(struct ip_options, gap),
     .def = "0.000001",
     .help = "share of the time by which a plan may miss the best"},
    {.kind = OPT_TIME,
     .name = "limit",
     .off = offsetof(struct ip_options, limit),
     .def = "0s",
     .lo = "0s",
     .help = "look for plans that take no longer only; 0s: all"},
    {.kind = OPT_TEXT,
     .name = "write",
     .off = offsetof(struct ip_options, write),
     .def = "",
     .help = "write the model to this file, .lp or .mps"},
    {.kind = OPT_BOOL,
     .name = "solve",
     .off = offsetof(struct ip_options, solve),
     .def = "true",
     .help = "false: only write it, and leave the plan of the heuristic"},
    {.kind = OPT_INT,
     .name = "starts",
     .off = offsetof(struct ip_options, starts),
     .def = "60",
     .lo = "1",
     .hi = "1000000",
     .help = "topological orders that the heuristic tries first"},
    {.kind = OPT_INT,
     .name = "seed",
     .off = offsetof(struct ip_options, seed),
     .def = "1",
     .lo = "0",
     .hi = "1000000000",
     .help = "seed of these orders"},
    {0}};

static int ip_run(struct ctx *x, const void *options)
{
    const struct ip_options *o = options;
    struct place_options po = {.starts = o->starts, .seed = o->seed};
    struct placing p;
    struct loads l;
    if (placing_start(x, "ip-place", &po, &p))
        return -1;
    if (!p.clock.deadline)
        p.clock.deadline = chain_now() + DEFAULT_SECONDS * INT64_C(1000000000);
    if (loads_new(&l, p.top, "ip-place", x->scratch, x->diag))
        return -1;
    struct chain_plan best = no_plan(x, p.level);
    interval_search(p.top, &p.run, &best, x->scratch);
    struct ip_model m;
    struct ip_ask ask = {.shape = (enum ip_shape)o->shape,
                         .limit = o->limit ? o->limit : best.value};
    if (ip_model_build(&m, p.top, &ask, "ip-place", x->scratch, x->diag))
        return -1;
    if (*o->write && mip_write(m.mip, o->write, x->diag))
        return -1;
    struct mip_answer ans = {0};
    if (o->solve)
        mip_solve(&mip_lpsolve, m.mip, 1e-9, &p.clock, x->scratch, &ans);
    int32_t *dev = arena_array(x->scratch, p.level->n + 1, sizeof *dev);
    diag_note(x->diag, "ip-place: %u cols %u rows %u terms status %d value %g nodes %" PRIu64 " %s",
              m.mip->ncol, m.mip->nrow, m.mip->nterm, ans.status, ans.value, ans.nodes,
              ans.why ? ans.why : "");
    if (ans.x && ans.value < MIP_INF && ip_model_decode(&m, ans.x, dev)) {
        loads_set(&l, dev);
        if (loads_value(&l) < best.value && loads_over(&l) == 0) {
            best.value = loads_value(&l);
            memcpy(best.dev, dev, p.level->n * sizeof *dev);
        }
    }
    leave_plan(x, "ip-place", p.level, &best);
    x->plan->bound = p.chain->lower;
    return 0;
}

const struct pass pass_ip_place = {
    .name = "ip-place",
    .help = "split by integer programming, contiguous or not (placement paper)",
    .opts = ip_opts,
    .optsize = sizeof(struct ip_options),
    .needs = NEED_COST | NEED_CONTRACT,
    .run = ip_run};
