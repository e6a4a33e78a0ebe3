/* What a run measures, in memory that does not grow with the number of samples. */
#ifndef PCC_TOOLS_RUN_RUN_FIGURES_H
#define PCC_TOOLS_RUN_RUN_FIGURES_H

#include "ir/base/arena.h"

enum { FIGURES_KEPT = 4096 };

/* The last FIGURES_KEPT of a row of times. */
struct times {
    int64_t *ns; /* [FIGURES_KEPT] */
    int64_t n;   /* how many there were */
    int64_t sum; /* of all, ns */
};

/* When parts ran. */
struct bars {
    struct bar *at; /* [n] */
    uint32_t n, cap;
};
struct bar {
    uint32_t dev, part;
    int64_t sample, start, end; /* ns */
};

struct figures {
    struct times *part;    /* [part] of runs; of each but the first sample if there are several */
    struct times latency;  /* of samples, from the beginning of their first part to their outputs */
    struct times transfer; /* of tensors that cross: from made to taken */
    struct times message;  /* between ranks: from begun to left */
    struct bars bars;      /* for the trace */
    int64_t *busy; /* [device] ns in which it ran parts, between the first output and the last */
    int64_t began, first,
        last;        /* ns: when the run began, when the first and the last outputs came */
    int64_t samples; /* that came */
};

/* Returns a list for at most `most` bars, in a. */
struct bars bars_new(uint32_t most, struct arena *a);
/* Adds a bar, if there is room. */
void bars_add(struct bars *b, struct bar bar);
/* Returns a row without times, in a. */
struct times times_new(struct arena *a);
/* Adds a time. */
void times_add(struct times *t, int64_t ns);
/* Returns the time below or at which `per_mille` of the kept ones lie; -1: there are none.  O(n log n). */
int64_t times_rank(const struct times *t, int per_mille, struct arena *a);

#endif
