/* The order in which the layers of a training graph stand in a row. */
#ifndef PCC_PASSES_STAGES_LAYER_ROW_H
#define PCC_PASSES_STAGES_LAYER_ROW_H

#include "passes/stages/train.h"

/* Components of layers: layers that must share a stage are one component. */
struct layer_row {
    /* t->layer: the layer of each base vertex, before layers are joined */
    const struct train *t;
    uint32_t n;             /* number of components */
    const uint32_t *comp;   /* [layer] its component */
    const struct csr *succ; /* [component] components that must not stand before it; no cycles */
};

/* Sets order[n] to the components in a topological order in which values go a short way.  Scratch: a.
 * O((nodes + pins + edges) + n log n). */
void layer_row_sort(const struct layer_row *r, uint32_t *order, struct arena *a);

#endif
