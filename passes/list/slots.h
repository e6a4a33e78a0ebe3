/* Keeps the free times of devices: idle times (slots) between placed vertices, and the time after the last vertex. */
#ifndef PCC_PASSES_LIST_SLOTS_H
#define PCC_PASSES_LIST_SLOTS_H

#include "ir/base/arena.h"

#include <stdint.h>

/* the most idle times that are remembered for a device; if there are more, the earliest ones are forgotten */
enum { SLOTS = 256 };

/* An idle time between two placed vertices. */
struct slot {
    int64_t from, to; /* ps; from < to */
};

/* The free times of one device. */
struct slots {
    struct slot *at; /* [SLOTS] the first n are in use, ascending */
    uint32_t n;
    int64_t end; /* ps: the device is free from this time on */
};

/* Returns an array: [dev] the free times of a device that is free all the time, for n devices.  Lives in a. */
struct slots *slots_new(uint32_t n, struct arena *a);
/* Returns the first time, not before `ready`, from which the device is free for `length`; all in ps.  If length is 0,
 * returns `ready`.  O(SLOTS). */
int64_t slots_find(const struct slots *s, int64_t ready, int64_t length);
/* Makes the device busy for `length` from `start` on, which slots_find must have returned. */
void slots_take(struct slots *s, int64_t start, int64_t length);

#endif
