/* Fuses neighbouring nodes of a group to one vertex before they are scheduled (Baechi's fusion). */
#ifndef PCC_PASSES_LIST_FUSED_H
#define PCC_PASSES_LIST_FUSED_H

#include "passes/list/list.h"

/* Fuses vertices of g: writes the number of its fused vertex to group[vertex], numbered in order of their first
 * members; returns their number.  of: [vertex] its group; only vertices of the same group are fused.  An edge is
 * contracted if it is the only one that leaves its first vertex, or the only one that enters its second vertex; so no
 * cycle comes about.  This is repeated until there are no such edges, for at most 64 rounds.  O(rounds * (V + E)). */
uint32_t fused_find(const struct wdag *g, const uint32_t *of, uint32_t *group, struct arena *a);

/* Does what placement_build() does, in the scratch arena; if `fused`, for the level of fused nodes, unless contract has
 * merged groups already.  The time of a fused node is the sum of its nodes' times; for its bytes see needs.h. */
int placement_start(struct placement *r, struct ctx *x, const char *planner, bool fused);

/* The row of the option fuse in a planner's option table; type, field: where its value is stored. */
#define LIST_FUSE(type, field)                                                                     \
    {OPT_BOOL, "fuse", offsetof(type, field), "false",                                             \
     .help = "schedule neighbours in a group as one node, where that makes no cycle "              \
             "(contract{coplace=true} makes groups)"}

#endif
