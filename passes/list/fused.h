/* Nodes of a group that become one vertex before they are scheduled (Baechi's fusion). */
#ifndef PCC_PASSES_LIST_FUSED_H
#define PCC_PASSES_LIST_FUSED_H

#include "passes/list/list.h"

/* group[vertex] of g gets the number of the vertex's fused vertex, in order of their first members; returns how many
 * there are.  An edge within a group of of[vertex] is contracted if it is the only one that leaves its begin or the
 * only one that enters its end, which makes no cycle, until there are no such edges (after at most 64 rounds).
 * O(rounds * (V + E)); a round takes in all trees of such edges. */
uint32_t fused_find(const struct wdag *g, const uint32_t *of, uint32_t *group, struct arena *a);

/* placement_build in the scratch arena; `fused`: of the level of fused nodes.  Times of fused nodes add up; for bytes
 * see needs.h. */
int placement_start(struct placement *r, struct ctx *x, const char *planner, bool fused);

/* The option that planners have, at the field of a struct. */
#define LIST_FUSE(type, field)                                                                     \
    {OPT_BOOL, "fuse", offsetof(type, field), "false",                                             \
     .help = "schedule neighbours in a group as one node, where that makes no cycle "              \
             "(contract{coplace=true} makes groups)"}

#endif
