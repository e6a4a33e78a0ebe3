/* Lines of devices of several kinds.  A line of devices divides an order of units into stretches, one for each device,
 * one after the other.  device_line() finds devices, and a sequence of them, whose stretches together have all
 * units. */
#ifndef PCC_PASSES_CONTIGUOUS_DEVICE_COUNTS_H
#define PCC_PASSES_CONTIGUOUS_DEVICE_COUNTS_H

#include "passes/problem/problem.h"

/* Where a device that begins with a given unit ends: before unit `end`.  Of all ends within the device's limits that
 * is the one with the best score (device_reach.score), of equals the last.  If `end` is the first unit itself, the
 * device can take no unit. */
struct device_far {
    uint32_t end, most; /* most: the last of all ends within the device's limits */
    int64_t load;       /* ps: of the units before `end` on the device */
};

/* How far a device of each kind reaches if its segment begins with a certain unit. */
struct device_reach {
    uint32_t n;                            /* number of units */
    struct device_far *far[PROBLEM_KINDS]; /* [kind][unit] */
    /* [unit] how well a line of devices that ends before the unit can go on: the end that its next device reaches, on
     * the average over the devices; score[n] is the largest of all */
    int64_t *score;
};

/* Whether the numbers of devices of all kinds combine in few enough ways for device_line(): DEVICE_WAYS at most. */
bool device_counts_few(const struct problem *c);
#define DEVICE_WAYS (UINT64_C(1) << 20)

/* Makes the tables of a reach over n units of a graph on the devices of c; they are filled from the last unit to the
 * first by device_may_end() and device_scored().  Lives in a. */
struct device_reach device_reach_new(const struct problem *c, uint32_t n, struct arena *a);
/* Tells r where a device of kind k that begins with unit i may end: before unit `end`, with the load `load`.  Calls for
 * a unit must come with growing ends. */
void device_may_end(struct device_reach *r, uint32_t k, uint32_t i, uint32_t end, int64_t load);
/* Sets the score of unit i; device_may_end() must have been called for all its ends before.  work[unit]: work of the
 * units before the unit. */
void device_scored(struct device_reach *r, const struct problem *c, uint32_t i,
                   const int64_t *work);

/* Finds devices of c that take all units, one after the other.  Writes their kinds, in the order of the line, to
 * kind[], which has room for all devices of c.  Returns their number; 0: no line gets to the end.  To be called only if
 * device_counts_few().  O(ways * kinds). */
uint32_t device_line(const struct problem *c, const struct device_reach *r, uint16_t *kind,
                     struct arena *scratch);

#endif
