/* Counts the bytes that devices hold at once while vertices are placed in the order in which they run. */
#ifndef PCC_PASSES_LIST_LIVE_H
#define PCC_PASSES_LIST_LIVE_H

#include "passes/list/list.h"

/* The state of a placement's devices after the vertices placed so far have run, one after the other.  A value is held
 * by the device that makes it and by each device that reads it, until all its readers are placed. */
struct live {
    const struct placement *r;
    const struct wdag *base; /* the base level, whose nets are the values */
    struct csr node;         /* vertex of r->base -> its vertices of the base level, in order */
    int64_t *now, *peak;     /* [dev] bytes of values held; the most at once so far */
    uint32_t *left;          /* [net] number of its pins that have not run yet */
    uint8_t *held;           /* bits [net * devices + dev]: the device holds the value */
    uint32_t *dev;           /* [vertex of the base level] its device, once it has run */
    /* for questions (live_takes), which do not change the fields above.  question: number of the present question;
     * asked[net]: number of the last question that met the net.  As they would be in that question: left_then[net]:
     * number of pins that have not run; held_then[net]: 1 if the device of the question holds the value */
    uint32_t *asked, *left_then, question;
    uint8_t *held_then;
};

/* Returns whether r's memory is counted by what devices hold at once: with the memory model LIVE, for a model in
 * ONNX. */
bool live_counts(const struct placement *r);
/* Returns the state before anything is placed, in a.  x->levels.base must be there.  O(nodes + pins). */
struct live live_new(const struct ctx *x, const struct placement *r, struct arena *a);
/* Takes all vertices off the devices.  O(nets * devices). */
void live_empty(struct live *s);
/* Returns whether device d can run the vertices v[0..n) of r->base, in that order, and has memory for them beside what
 * it holds.  placement_ask() must have been asked about them.  O(their pins). */
bool live_takes(struct live *s, const uint32_t *v, uint32_t n, uint32_t d);
/* Counts what the vertices v[0 .. n) hold and free when they run, in that order, on the devices on which r has placed
 * them: updates now, peak and held.  O(their pins). */
void live_run(struct live *s, const uint32_t *v, uint32_t n);

#endif
