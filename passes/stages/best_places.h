/* Finds, for lower bounds, the least times of AllReduces and transfers over all devices that stages could have. */
#ifndef PCC_PASSES_STAGES_BEST_PLACES_H
#define PCC_PASSES_STAGES_BEST_PLACES_H

#include "ir/cluster/servers.h"

enum { SPREADS = CLUSTER_LEVELS /* the most sets of a spread */ };

/* Sets of n devices: for each kind of link, within a server or between servers, one set whose outermost link is of that
 * kind.  An AllReduce among any other n devices takes as long as among one of these sets. */
struct spread {
    uint32_t n; /* number of sets */
    struct device_set set[SPREADS];
};

/* Returns the sets for n devices. */
struct spread spread_of(const struct servers *s, uint32_t n);
/* Returns the least ps of an AllReduce of `bytes` bytes among the devices of one of the sets of x; 0, which is always a
 * bound, if x has no set. */
int64_t least_reduce(const struct servers *s, const struct spread *x, int64_t bytes);
/* Returns the least ps of a transfer of `bytes` bytes to a stage on the devices *to, one of the sets of spread_of(),
 * from a stage on any other devices; INT64_MAX if there are none. */
int64_t least_move(const struct servers *s, const struct device_set *to, int64_t bytes);
/* Returns the least ps of a transfer of `bytes` bytes between stages on any devices; 0 if there is only one device. */
int64_t least_move_any(const struct servers *s, int64_t bytes);

#endif
