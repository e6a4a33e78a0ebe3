/* Costs of nodes that a pass has made, from what files said of the nodes that it replaced.
 *
 * Files of --costs and --support name nodes of the model that the user has.  A pass such as shard, split-batch or
 * recompute replaces these by other nodes, which are often smaller.  Such a node takes a share of the time that files
 * gave for the node from which it was made: the ratio of pcc's estimates for the two nodes.  So a node with half as
 * many rows takes half as long, and a copy takes as long as its original. */
#ifndef PCC_PASSES_COST_KNOWN_COSTS_H
#define PCC_PASSES_COST_KNOWN_COSTS_H

#include "passes/passes.h"

struct known_costs;

/* What files changed in the costs of a module. */
struct told_costs {
    int64_t **estimate; /* [class][node] ps as pcc estimates them */
    uint8_t *time;      /* [node] bit k: files gave its time on class k */
    bool *own;          /* [node] files gave its bytes */
};

/* Notes in x->results, by names of nodes, what files changed in the costs c of m: the scene's module, or a copy with
 * function calls replaced by their nodes.  O(nodes * classes). */
void known_costs_note(struct ctx *x, const struct module *m, const struct costs *c,
                      const struct told_costs *told);
/* Returns the ps on class k of node n of the scene's module, for which pcc estimates `estimate`; COST_NEVER: the class
 * cannot run it; -1: files said nothing of it, or of the node that it was made from.  *given: whether files gave the
 * time of the node by itself, rather than the time of a part with the node. */
int64_t known_costs_time(const struct ctx *x, nid n, uint32_t k, int64_t estimate, bool *given);
/* Returns the bytes of node n, whose results have `made` bytes: the bytes that files gave for the node from which n was
 * made, in proportion to the bytes of the results of both; -1: files gave none. */
int64_t known_costs_memory(const struct ctx *x, nid n, int64_t made);

/* Returns the time, ps, of a piece of a node that takes `given` ps: in proportion to pcc's estimates, `piece` ps for
 * the piece and `whole` ps for the node, and rounded up.  Returns `given` if nothing is estimated for the node
 * (`whole` is 0). */
int64_t share_of_time(int64_t given, int64_t piece, int64_t whole);
/* Returns the bytes of the results of node n. */
int64_t results_bytes(const struct module *m, const struct costs *c, nid n);

#endif
