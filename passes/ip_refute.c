/* Certificates by integer programming (ip_refute.h).
 *
 * Asking for a plan below a limit is two orders of magnitude cheaper than asking for the best: vertices whose time is
 * above the limit lose columns, and the search stops as soon as the relaxation is above it, without ever
 * looking for good plans.  CBC's presolve alone settles some. */
#include "passes/ip_refute.h"

#include "passes/ip_model.h"

static void keep_quiet(void *user, enum diag_level level, enum warning w, const char *line)
{
    (void)user;
    (void)level;
    (void)w;
    (void)line;
}

int ip_refute(const struct chain *c, int64_t limit, struct chain_clock *clock, struct arena *a,
              struct ip_refutation *r)
{
    const struct mip_solver *solver = mip_cbc.attempts ? &mip_cbc : &mip_lpsolve;
    struct ip_ask ask = {.shape = IP_ANY, .limit = limit};
    struct diag quiet = {.emit = keep_quiet};
    struct ip_model m;
    struct mip_answer answer;
    *r = (struct ip_refutation){.solver = solver};
    if (limit < c->lower) {
        r->why = c->lower_why;
        return 1;
    }
    if (ip_model_build(&m, c, &ask, "", a, &quiet)) {
        r->why = "the model is too large";
        return 0;
    }
    mip_solve(solver, m.mip, 0, clock, a, &answer);
    r->ncol = m.mip->ncol;
    r->nrow = m.mip->nrow;
    r->nodes = answer.nodes;
    r->why = answer.status == MIP_INFEASIBLE ? NULL : answer.why;
    return answer.status == MIP_INFEASIBLE;
}
