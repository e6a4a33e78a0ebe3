/* Certificates by integer programming: no plan of any shape takes so little. */
#ifndef PCC_PASSES_IP_REFUTE_H
#define PCC_PASSES_IP_REFUTE_H

#include "passes/mip.h"

struct ip_refutation {
    const struct mip_solver *solver;
    uint32_t ncol, nrow; /* of the model */
    uint64_t nodes;      /* of the search tree */
    const char *why;     /* not refuted: what kept the solver from it */
};

/* Whether every plan of c, of any shape, has a value above `limit` (ps), to the tolerance of the solver (CBC, or
 * lp_solve where pcc was built without it): 1: so it is; 0: not found out, or there is one.  c may be the chain
 * of a kernel (kernel.h), whose plans of small values are those of the whole graph; it must not be
 * `detailed`.  Stops when the clock is out.  *r lives in a. */
int ip_refute(const struct chain *c, int64_t limit, struct chain_clock *clock, struct arena *a,
              struct ip_refutation *r);

#endif
