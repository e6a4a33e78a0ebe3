/* Keeps the free times of devices (slots.h).  Slots are sorted by time; a search begins with the first slot that ends
 * after `ready`. */
#include "passes/list/slots.h"

#include "ir/base/numbers.h"
#include "ir/base/units.h"

#include <assert.h>
#include <string.h>

struct slots *slots_new(uint32_t n, struct arena *a)
{
    struct slots *s = arena_array(a, (size_t)n + 1, sizeof *s);
    for (uint32_t d = 0; d < n; d++)
        s[d].at = arena_array(a, SLOTS, sizeof *s[d].at);
    return s;
}

/* Returns the index of the first slot that ends after `ready`; s->n: no slot does. */
static uint32_t first_after(const struct slots *s, int64_t ready)
{
    uint32_t low = 0, high = s->n;
    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        if (s->at[mid].to > ready)
            high = mid;
        else
            low = mid + 1;
    }
    return low;
}

int64_t slots_find(const struct slots *s, int64_t ready, int64_t length)
{
    assert(length >= 0);
    if (length == 0)
        return ready;
    for (uint32_t i = first_after(s, ready); i < s->n; i++) {
        int64_t start = larger(s->at[i].from, ready);
        if (length <= s->at[i].to - start)
            return start;
    }
    return larger(s->end, ready);
}

/* Removes slot i. */
static void drop(struct slots *s, uint32_t i)
{
    memmove(s->at + i, s->at + i + 1, (--s->n - i) * sizeof *s->at);
}

/* Inserts a slot at index i; if there are SLOTS slots, removes the earliest one first. */
static void add(struct slots *s, uint32_t i, struct slot x)
{
    if (s->n == SLOTS) {
        drop(s, 0);
        i -= i > 0;
    }
    memmove(s->at + i + 1, s->at + i, (s->n++ - i) * sizeof *s->at);
    s->at[i] = x;
}

void slots_take(struct slots *s, int64_t start, int64_t length)
{
    if (length == 0)
        return;
    if (start >= s->end) {
        if (start > s->end)
            add(s, s->n, (struct slot){s->end, start});
        s->end = sat_add(start, length);
        return;
    }
    /* the idle time in which the device becomes busy is divided into the idle time before and the idle time behind the
     * busy time; `next` is the index where the latter belongs */
    uint32_t i = first_after(s, start), next = i + 1;
    assert(i < s->n && s->at[i].from <= start && length <= s->at[i].to - start);
    struct slot after = {start + length, s->at[i].to};
    s->at[i].to = start;
    if (s->at[i].from == start) { /* there is no idle time before */
        drop(s, i);
        next = i;
    }
    if (after.from < after.to)
        add(s, next, after);
}
