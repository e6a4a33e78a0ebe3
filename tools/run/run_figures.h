/* What a run measures, in memory that does not grow with the number of samples. */
#ifndef PCC_TOOLS_RUN_RUN_FIGURES_H
#define PCC_TOOLS_RUN_RUN_FIGURES_H

#include "ir/base/arena.h"

enum { FIGURES_KEPT = 4096 }; /* number of times that a row keeps */

/* A row of times, of which the last FIGURES_KEPT are kept. */
struct times {
    int64_t *ns; /* [FIGURES_KEPT] the times that are kept */
    int64_t n;   /* number of all times so far */
    int64_t sum; /* sum of all times so far, ns */
};

/* When a device ran a part for a sample. */
struct bar {
    uint32_t dev, part;
    int64_t sample;
    int64_t start, end; /* ns: when the run of the part began and ended */
};

/* When parts ran. */
struct bars {
    struct bar *at; /* [n] */
    uint32_t n, cap;
};

/* All that a run measures. */
struct figures {
    /* [part] times of its runs, without the first sample if there are several */
    struct times *part;
    /* times of samples, from the beginning of their first part to their outputs */
    struct times latency;
    /* times of tensors that cross: from the end of the part that makes the tensor until the receiver takes it */
    struct times transfer;
    /* times of messages between ranks: from the beginning of the send until the message has left */
    struct times message;
    struct bars bars; /* the runs of parts, for the trace */
    int64_t *busy;    /* [device] ns in which it ran parts, between the first output and the last */
    /* ns: when the run began; when the outputs of the first and of the last sample were there */
    int64_t began, first, last;
    int64_t samples; /* number of samples whose outputs were there */
};

/* Returns a list for at most `most` bars, in a. */
struct bars bars_new(uint32_t most, struct arena *a);
/* Adds a bar, if there is room. */
void bars_add(struct bars *b, struct bar bar);
/* Returns an empty row of times, in a. */
struct times times_new(struct arena *a);
/* Adds a time. */
void times_add(struct times *t, int64_t ns);
/* Returns the time below or at which `per_mille` of the kept times lie; -1: no time was added.  O(n log n). */
int64_t times_rank(const struct times *t, int per_mille, struct arena *a);

#endif
