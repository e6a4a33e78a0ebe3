/* Searches for better contiguous plans near a given one. */
#ifndef PCC_PASSES_CONTIGUOUS_DP_NEAR_H
#define PCC_PASSES_CONTIGUOUS_DP_NEAR_H

#include "passes/problem/problem.h"

/* A series of searches near a plan, made one by one by near_next().  The caller sets the seed; all other fields are 0
 * at first and belong to near_next(). */
struct near_run {
    uint64_t seed;  /* seed of the random orders */
    uint32_t tried; /* number of neighbourhoods searched so far */
    /* number of vertices on each side of a border between two devices that may still move */
    uint32_t width;
    /* ps: only plans are sought that take less than the best one by more than this */
    int64_t min_gain;
    uint64_t spent; /* number of search steps so far */
};

/* Searches one neighbourhood (dp_near.c) of *best, a contiguous plan of c, for at most about `steps` steps, and adds
 * the steps to r->spent.  Writes a better plan to *best; returns whether there was one.  If all vertices are on one
 * device there is no neighbourhood: counts all steps as done and returns false. */
bool near_next(const struct problem *c, struct near_run *r, uint64_t steps,
               struct problem_plan *best, struct arena *scratch, struct diag *d);

#endif
