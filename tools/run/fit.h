/* Fitting a class of devices to measured nodes: its overhead per operator, its peak and its bandwidth. */
#ifndef PCC_TOOLS_RUN_FIT_H
#define PCC_TOOLS_RUN_FIT_H

#include "ir/base/arena.h"

/* A node that was measured. */
struct fit_node {
    int64_t flops, bytes; /* operations; bytes that it reads and writes */
    int64_t ps;           /* the node's time, above 0 */
};

/* What a class takes for a node: overhead + max(flops / peak, bytes / bandwidth). */
struct fitted {
    int64_t overhead;        /* ps */
    int64_t peak, bandwidth; /* operations, bytes per second; at least 1 */
    /* peak_told: the time of at least one node depends on `peak`; false: `peak` is the least rate that makes no node
     * slower.  bandwidth_told: the same for `bandwidth` */
    bool peak_told, bandwidth_told;
};

/* Fits the class to the n > 0 nodes such that the mean of the relative errors of their times is about the least.
 * Returns 0; -1: no node has operations or bytes.  Works in a. */
int fit_class(const struct fit_node *node, uint32_t n, struct fitted *out, struct arena *a);
/* Returns the ps that the class takes for the node. */
int64_t fit_time(const struct fitted *f, const struct fit_node *node);
/* Returns the relative error of fit_time() for the node, in thousandths of the measured time. */
int64_t fit_error(const struct fitted *f, const struct fit_node *node);

#endif
