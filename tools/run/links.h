/* Measures links within this machine: the time that it takes to hand a value to another thread, or to another
 * process. */
#ifndef PCC_TOOLS_RUN_LINKS_H
#define PCC_TOOLS_RUN_LINKS_H

#include "ir/base/arena.h"
#include "ir/base/diag.h"
#include "ir/base/signal_flag.h"

/* What a link joins. */
enum link_way {
    LINK_THREADS,          /* two threads */
    LINK_PROCESSES,        /* two processes of one machine */
    LINK_WAYS,             /* number of the ways within one machine */
    LINK_RANKS = LINK_WAYS /* two ranks of MPI */
};

/* A link as a cluster file has it: a copy of b bytes takes latency_ps + b / bps. */
struct link_fit {
    enum link_way way;
    int64_t latency_ps, bps;
    int64_t largest; /* bytes of the largest copy that was measured */
    /* median of the relative errors, in thousandths, at measured sizes that the fit was not made from */
    int64_t off;
};

/* A way to make copies over a link. */
struct link_copier {
    /* Copies a block of `bytes` bytes several times.  Returns the lower quartile of the times, ns, or -1: the receiver
     * gives no answer. */
    int64_t (*copy)(void *arg, size_t bytes);
    void *arg;
    size_t largest; /* bytes of the largest block that can be copied */
};

/* Returns "threads", "processes" or "ranks". */
const char *link_way_name(enum link_way way);
/* Measures copies of 1 B to 512 MiB (less if memory is short) over one link, and fits its latency and bandwidth such
 * that the sum of relative errors is least.  *stop: 1 ends the work.  Returns 0; 1: ended by *stop; -1 and an error. */
int link_measure(enum link_way way, const signal_flag *stop, struct link_fit *out, struct diag *d);
/* Fits latency and bandwidth to the times of a copier, and writes *out, but leaves out->way to be set by the caller
 * afterwards.  Returns 0; 1: ended by *stop; -1: the receiver gives no answer. */
int link_find(const struct link_copier *c, const signal_flag *stop, struct link_fit *out);
/* Returns the lower quartile of n > 0 times, ns, which it sorts; at least 1. */
int64_t link_quartile(int64_t *ns, int n);
/* rank_link.c.  Measures messages between two ranks under mpirun (ranks.h); both ranks call this function, and rank 0
 * gets *out.  Returns what link_measure() returns. */
int link_measure_ranks(const signal_flag *stop, struct link_fit *out, struct arena *a,
                       struct diag *d);
/* Writes a cluster file with two CPUs that are joined by the link.  Returns 0, or -1 and an error. */
int link_write(const struct link_fit *l, const char *path, struct arena *a, struct diag *d);

#endif
