/* Free times of a device: idle slots between placed tasks, for schedulers that insert tasks. */
#ifndef PCC_PASSES_LIST_SLOTS_H
#define PCC_PASSES_LIST_SLOTS_H

#include "ir/base/arena.h"

#include <stdint.h>

enum { SLOTS = 256 }; /* that a device remembers: the latest ones, so that no search is long */

struct slot {
    int64_t from, to; /* ps */
};

struct slots {
    struct slot *at; /* [SLOTS] by time */
    uint32_t n;
    int64_t end; /* ps: the device is free from this time on */
};

/* One for each of n devices, all of them free.  Lives in a. */
struct slots *slots_new(uint32_t n, struct arena *a);
/* The first moment from `ready` on with `length` of free time; a length of 0 fits anywhere. O(SLOTS). */
int64_t slots_find(const struct slots *s, int64_t ready, int64_t length);
/* Occupies a time that slots_find returned. */
void slots_take(struct slots *s, int64_t start, int64_t length);

#endif
