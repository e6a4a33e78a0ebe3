/* Finds a set of nodes that a plan could move together: begins with one node and adds neighbours with long
 * transfers. */
#ifndef PCC_PASSES_PORTFOLIO_CLUSTER_GROWTH_H
#define PCC_PASSES_PORTFOLIO_CLUSTER_GROWTH_H

#include "passes/list/list.h"

/* A set of groups (vertices that must share a device) that grows, and the transfer times between groups, by which
 * it grows. */
struct growth {
    const struct placement *placement;
    const struct edges *edge;
    uint32_t cls;  /* class of devices whose links give transfer times */
    uint32_t *set; /* [n] the groups of the set in the order in which they were added */
    uint32_t n;
    uint32_t turn;  /* number of the present set */
    uint32_t *mark; /* [group] number of the last set that had the group */
    uint32_t *near; /* [group] number of the last set that had a transfer to or from the group */
    /* [group] ps of the transfers between the group and the set, plus 1 for each transfer */
    int64_t *pull;
};

/* Returns a growth with an empty set.  Lives in a. */
struct growth growth_new(const struct placement *r, const struct edges *e, uint32_t cls,
                         struct arena *a);
/* Returns the device of a group in the plan dev[node]. */
int32_t growth_home(const struct growth *g, const int32_t *dev, uint32_t group);
/* Makes a set for a move to device `to` in the plan dev[node]: begins with the group `seed`, then adds, again and
 * again, the group on seed's device that has the longest transfers with the set and can be on `to`, up to `most`
 * groups.  Of the sets on the way that have at least most / 2 groups, chooses the one whose move leaves the
 * shortest transfers in all.  Frees what it takes of a.  O(neighbours of the set, times their logarithm). */
void growth_grow(struct growth *g, const int32_t *dev, uint32_t seed, uint32_t to, uint32_t most,
                 struct arena *a);
/* Returns whether a group can be on device `to`: its class can run the group, and no member is pinned elsewhere. */
bool growth_can(const struct growth *g, uint32_t group, uint32_t to);
/* Changes the plan dev[node]: puts the set on device `to`. */
void growth_move(const struct growth *g, int32_t *dev, uint32_t to);

#endif
