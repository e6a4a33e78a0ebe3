/* Curves of the memory that devices use over time. */
#ifndef PCC_BACKENDS_TIMELINE_MEMORY_CURVE_H
#define PCC_BACKENDS_TIMELINE_MEMORY_CURVE_H

#include "ir/exec/events.h"

/* The bytes in memory from the time `at` on, until the next point. */
struct curve_point {
    int64_t at, bytes; /* at: ps */
};

/* The memory of a device over time. */
struct memory_curve {
    struct curve_point *point; /* [n] in order of time, the first point at 0 */
    uint32_t n;
};

/* Returns the curves, in a: [device] its memory during the run t of g, in which all items have ended.  Bytes that are
 * allocated and freed at the same moment are not in a curve, except at the moment of the peak, which then has two
 * points: the first with the bytes of t->peak.  O(n log n) for n instances of buffers and their uses. */
struct memory_curve *memory_curves(const struct task_graph *g, const struct timeline *t,
                                   struct arena *a);

#endif
