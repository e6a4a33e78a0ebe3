/* The figures of a model that its summaries show, on the terminal and as JSON. */
#ifndef PCC_BACKENDS_REPORT_MODEL_FIGURES_H
#define PCC_BACKENDS_REPORT_MODEL_FIGURES_H

#include "ir/model/module.h"

struct model_figures {
    int64_t params; /* elements of initializers */
    int64_t weight; /* their bytes */
    int64_t flops;  /* of the main graph's nodes, per sample */
    int64_t results,
        with_shape; /* named results of the main graph; those of them whose size is known */
};

/* Of a module with costs.  Sums saturate.  O(nodes + values). */
struct model_figures model_figures(const struct module *m);

#endif
