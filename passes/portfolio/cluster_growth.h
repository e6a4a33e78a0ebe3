/* Sets of nodes that a plan could move together: grown from one along the dearest transfers. */
#ifndef PCC_PASSES_PORTFOLIO_CLUSTER_GROWTH_H
#define PCC_PASSES_PORTFOLIO_CLUSTER_GROWTH_H

#include "passes/list/list.h"

/* Groups of a placement (vertices that must share a device), and transfer times between groups. */
struct growth {
    const struct placement *placement;
    const struct edges *edge;
    uint32_t cls;   /* class of devices whose links give transfer times */
    uint32_t *set;  /* the groups of the set in the order in which they were taken */
    uint32_t n;     /* number of groups in `set` */
    uint32_t *mark; /* [group] scratch: number of the last set with the group */
    uint32_t *near; /* [group] scratch: the last set that has a transfer to it, */
    int64_t *pull;  /* [group] ps of these transfers */
    uint32_t turn;
};

/* With an empty set.  Lives in a. */
struct growth growth_new(const struct placement *r, const struct edges *e, uint32_t cls,
                         struct arena *a);
/* The group's device in a plan dev[node]. */
int32_t growth_home(const struct growth *g, const int32_t *dev, uint32_t group);
/* The set becomes `seed` and what is on its device and nearest to it, at most `most` groups that can be on device `to`:
 * of the sets on the way there with more than half as many the one whose move there leaves the cheapest transfers.
 * Takes what it needs in a and gives it back.  O(neighbours of the set, times their logarithm). */
void growth_grow(struct growth *g, const int32_t *dev, uint32_t seed, uint32_t to, uint32_t most,
                 struct arena *a);
/* Whether the group can be on device `to`. */
bool growth_can(const struct growth *g, uint32_t group, uint32_t to);
/* Puts the set on device `to` in dev[node]. */
void growth_move(const struct growth *g, int32_t *dev, uint32_t to);

#endif
