/* What exchanges and transfers take where devices are best placed for them: for lower bounds. */
#ifndef PCC_PASSES_STAGES_BEST_PLACES_H
#define PCC_PASSES_STAGES_BEST_PLACES_H

#include "ir/cluster/servers.h"

enum { SPREADS = CLUSTER_LEVELS };

/* Devices of n in servers, in each of the ways that differ in what an AllReduce takes. */
struct spread {
    uint32_t n;
    struct device_set set[SPREADS];
};

struct spread spread_of(const struct servers *s, uint32_t n);
/* ps: the least time of an AllReduce of `bytes` among devices spread over servers in one of the ways of x. */
int64_t least_reduce(const struct servers *s, const struct spread *x, int64_t bytes);
/* ps: the least that bytes take from any stage to any other. */
int64_t least_move(const struct servers *s, int64_t bytes);

#endif
