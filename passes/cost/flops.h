/* How many operations a node takes. */
#ifndef PCC_PASSES_COST_FLOPS_H
#define PCC_PASSES_COST_FLOPS_H

#include "passes/shapes/infer.h"

/* Facts of one module for the functions below. */
struct flops {
    struct infer f;       /* types for planning, to look shapes up in */
    const int64_t *elems; /* [value] elements, estimated where unknown */
    uint8_t *row;         /* [sid of operator] row + 2; 0: not looked up; 1: none */
};

/* type: [value] types with every dimension bound as far as possible; elems: [value]. */
struct flops *flops_new(struct module *m, uint32_t *type, const int64_t *elems, struct arena *a);
/* Operations of node n, bodies apart: two per multiply-add; one per element of result 0 if there is no
 * rule for its operator.  Saturating. */
int64_t flops_of(struct flops *x, nid n);
/* Takes no time, not even the overhead: Reshape, Identity, Shape, Constant and the like. */
bool node_is_free(struct flops *x, nid n);
/* Whether n reads only the elements that n returns, as Gather does. */
bool node_gathers(struct flops *x, nid n);
/* Element type whose peak rate n runs at. */
enum elem compute_type(struct flops *x, nid n);
/* How often the body of a Loop or Scan runs; -1: not known. */
int64_t trip_count(struct flops *x, nid n);

#endif
