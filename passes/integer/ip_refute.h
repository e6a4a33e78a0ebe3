/* Proofs by integer programming that no plan of any shape is at or below a limit. */
#ifndef PCC_PASSES_INTEGER_IP_REFUTE_H
#define PCC_PASSES_INTEGER_IP_REFUTE_H

#include "passes/integer/mip.h"

struct ip_refutation {
    const struct mip_solver *solver;
    uint32_t nvertex, ncol, nrow; /* of the reduction, and of the model */
    uint64_t nodes;               /* of the search tree */
    const char *why;              /* not refuted: the reason why the solver gave no proof */
    /* refuted: lines as in struct plan; NULL: limit is below c->lower, which says why */
    const char *proof;
};

/* 1: every plan of c, of any shape, has a value above `limit` (ps), to the tolerance of the solver (CBC, or lp_solve
 * where pcc was built without it); 0: there is such a plan, or the solver did not find out.  c must not be
 * `detailed`.  Stops when the clock is out.  *r lives in a. */
int ip_refute(const struct problem *c, int64_t limit, struct clock *clock, struct arena *a,
              struct ip_refutation *r);

/* The last lines of a proof: the commands that put the same question to another solver. */
const char *ip_how_to_check(const char *shape, int64_t limit, struct arena *a);

#endif
