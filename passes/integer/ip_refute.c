/* Proofs by integer programming (ip_refute.h).
 *
 * A solver is asked whether a plan at or below the limit exists, which is two orders of magnitude cheaper than asking
 * for the best plan: a vertex has no column for a device where it takes longer than the limit, vertices that cannot be
 * apart are joined (bounds/reduction.h), and branches of the search end as soon as their relaxation is above the limit.
 * Cost: the time that the clock allows. */
#include "passes/integer/ip_refute.h"

#include "passes/integer/ip_search.h"
#include "ir/base/units.h"

#include <assert.h>
#include <inttypes.h>

const char *ip_how_to_check(const char *shape, int64_t limit, struct arena *a)
{
    char text[UNIT_TEXT];
    return arena_fmt(
        a,
        "to check it with any other solver: pcc ... -p 'ip-place{contiguous=%s:limit=%s:"
        "solve=false:write=model.mps}'\n",
        shape, time_print(text, limit));
}

/* Returns the lines of the proof that no plan takes `limit` ps or less. */
static const char *write_proof(const struct ip_refutation *r, int64_t limit, struct arena *a)
{
    char text[UNIT_TEXT];
    const char *how =
        r->ncol
            ? arena_fmt(
                  a,
                  "the integer program of %u columns and %u rows is infeasible, says %s %s, to its "
                  "tolerance, after %" PRIu64 " nodes of its search",
                  r->ncol, r->nrow, r->solver->name, mip_version(r->solver, a), r->nodes)
            : "one of them would have a larger load on any device";
    return arena_fmt(a,
                     "no plan of any shape takes %s or less: what cannot be apart below that is "
                     "joined, which leaves %u nodes; %s\n%s",
                     time_print(text, limit), r->nvertex, how, ip_how_to_check("none", limit, a));
}

int ip_refute(const struct problem *c, int64_t limit, struct clock *clock, struct arena *a,
              struct ip_refutation *r)
{
    assert(!c->detailed);
    const struct mip_solver *solver = mip_usable(&mip_cbc) ? &mip_cbc : &mip_lpsolve;
    struct ip_ask ask = {.shape = IP_ANY, .limit = limit, .lower = c->lower.value};
    struct diag quiet = diag_silent();
    struct mip_answer answer = {.status = MIP_INFEASIBLE};
    struct ip_model m;
    *r = (struct ip_refutation){.solver = solver};
    if (limit < c->lower.value) {
        r->proof = c->lower.proof;
        return 1;
    }
    struct reduction *k = ip_reduction(c, &ask, clock, a);
    r->nvertex = k->small->g->n;
    if (!k->none && !mip_usable(solver)) {
        r->why = "pcc was built without solvers";
        return 0;
    }
    if (!k->none) {
        if (ip_model_build(&m, k->small, &ask, /*planner=*/"", a, &quiet)) {
            r->why = "the model is too large";
            return 0;
        }
        mip_solve(solver, m.mip, 0, clock, a, &answer);
        r->ncol = m.mip->ncol;
        r->nrow = m.mip->nrow;
        r->nodes = answer.nodes;
    }
    bool refuted = answer.status == MIP_INFEASIBLE;
    if (refuted)
        r->proof = write_proof(r, limit, a);
    else
        r->why = answer.status == MIP_NONE ? answer.why : "there is one";
    return refuted;
}
