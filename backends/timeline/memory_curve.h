/* Memory of devices over time. */
#ifndef PCC_BACKENDS_TIMELINE_MEMORY_CURVE_H
#define PCC_BACKENDS_TIMELINE_MEMORY_CURVE_H

#include "ir/exec/events.h"

/* From a moment on, until the next point. */
struct curve_point {
    int64_t at, bytes; /* ps */
};

struct memory_curve {
    struct curve_point *point; /* in the order of time, the first one at 0 */
    uint32_t n;
};

/* What each device holds while g runs as t says: [dev], in a.  All has ended.  What is
 * allocated and freed at one moment is not seen, but for the peak of t: its moment has a point of its own, with the
 * bytes of t->peak.  O(n log n) for n instances of
 * buffers and their uses. */
struct memory_curve *memory_curves(const struct task_graph *g, const struct timeline *t,
                                   struct arena *a);

#endif
