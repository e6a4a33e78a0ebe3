/* Proofs by integer programming that no plan of any shape is at or below a limit. */
#ifndef PCC_PASSES_INTEGER_IP_REFUTE_H
#define PCC_PASSES_INTEGER_IP_REFUTE_H

#include "passes/integer/mip.h"

struct ip_refutation {
    const struct mip_solver *solver;
    uint32_t nvertex; /* number of vertices of the reduction (bounds/reduction.h) */
    /* numbers of columns and rows of the model; 0: the answer needed no model */
    uint32_t ncol, nrow;
    uint64_t nodes;  /* number of nodes of the solver's search tree */
    const char *why; /* if not refuted: the reason why the solver gave no proof */
    /* if refuted: lines as in claim.proof (plan.h); NULL: the limit is below c->lower, whose reason counts */
    const char *proof;
};

/* Asks a solver (CBC, or lp_solve where pcc was built without CBC) for a plan of c, of any shape, with a value of
 * `limit` ps or less.  Returns 1 if there is no such plan, to the tolerance of the solver; 0 if there is one, or the
 * solver did not find out.  c must not be `detailed`.  Stops when the clock is out.  *r lives in a. */
int ip_refute(const struct problem *c, int64_t limit, struct clock *clock, struct arena *a,
              struct ip_refutation *r);

/* Returns the last line of a proof, in a: the options of pcc with which it writes the same model to a file for another
 * solver.  shape: value of the option `contiguous`; limit: ps. */
const char *ip_how_to_check(const char *shape, int64_t limit, struct arena *a);

#endif
