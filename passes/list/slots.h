/* When a device is free: idle slots between what it is given, for schedulers that insert. */
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
    int64_t end; /* ps: from here on it is free */
};

/* One for each of n devices, all of them free.  Lives in a. */
struct slots *slots_new(uint32_t n, struct arena *a);
/* The first moment from `ready` on at which it is free for so long; what takes no time fits anywhere.
 * O(SLOTS). */
int64_t slots_find(const struct slots *s, int64_t ready, int64_t length);
/* Takes that time, which slots_find has found. */
void slots_take(struct slots *s, int64_t start, int64_t length);

#endif
