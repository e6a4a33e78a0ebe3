/* Computes the figures of a model for its summaries, on the terminal and as JSON. */
#ifndef PCC_BACKENDS_REPORT_MODEL_FIGURES_H
#define PCC_BACKENDS_REPORT_MODEL_FIGURES_H

#include "ir/model/module.h"

/* Sums over a whole model. */
struct model_figures {
    int64_t params;     /* number of elements of all initializers */
    int64_t weight;     /* bytes of all initializers */
    int64_t flops;      /* operations of all nodes of the main graph, for one sample */
    int64_t results;    /* number of named results of the main graph's nodes */
    int64_t with_shape; /* number of these results that have a known number of elements */
};

/* Returns the figures of m, whose costs must be set.  Sums end at INT64_MAX.  O(nodes + values). */
struct model_figures model_figures(const struct module *m);

#endif
