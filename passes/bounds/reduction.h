/* Kernels: a smaller graph with the same plans below a threshold. */
#ifndef PCC_PASSES_BOUNDS_REDUCTION_H
#define PCC_PASSES_BOUNDS_REDUCTION_H

#include "passes/bounds/least_load.h"

/* What was found out, in order.  Vertices are those of the graph that was given; one that others have been
 * joined to stands for all of them, and is the smallest. */
enum reduction_what {
    /* a cannot be on kind k: any device of it with a on it has a load of `load` or more */
    REDUCTION_DENY,
    REDUCTION_SIZE, /* a cannot be on kind k: it needs more memory */
    REDUCTION_JOIN, /* a and b are on one device */
    REDUCTION_NONE  /* no kind is left for a */
};
struct reduction_step {
    enum reduction_what what;
    uint32_t a, b, na, nb; /* and how many vertices they stand for */
    uint32_t k;
    uint32_t with; /* DENY: who is on that one device anyway; UINT32_MAX: nobody */
    int64_t load;  /* ps, at least the threshold */
    /* JOIN: kinds on which a could be without b, and b without a: a bit each */
    uint32_t ab, ba;
    /* if the reduction is explained */
    uint32_t nset, *set;    /* DENY: the vertices of a device that has the least load */
    int64_t time, transfer; /* ps: of that device */
    /* JOIN, [kind] ps: least load with a and without b, where there is none below the threshold;
       else 0 */
    int64_t *load_ab, *load_ba;
};

struct reduction {
    const struct problem *c; /* of the given graph */
    int64_t below;           /* ps */
    struct problem *small;   /* of the reduction; the level has no edges */
    uint32_t *map;           /* vertex of c->g -> vertex of small->g */
    uint32_t *may;           /* [vertex of small->g] kinds that it may be on, a bit each */
    bool none;               /* no plan takes less than `below` */
    bool explained;
    struct reduction_step *step;
    uint32_t nstep, cap;
};

/* Every plan of c (of any shape) whose loads are all below `below` keeps the vertices together that have
 * one number in map, and each on a kind of may.  c must not be detailed.  Looks at no more than *work arcs
 * (lowered), and at as many again for what is only in the steps of an explained reduction.  Lives in a. */
struct reduction *reduction_make(const struct problem *c, int64_t below, bool explained,
                                 uint64_t *work, struct clock *clock, struct arena *a);

/* The same as a level for planners: g contracted, COST_NEVER where a vertex may not be; the plans of g
 * with loads below `below` are those of the level, vertex v of g on the device of map[v].  There are no
 * edges.  NULL: there is no such plan.  c is the chain of g. */
struct wdag *reduction_contract(struct wdag *g, const struct problem *c, int64_t below,
                                uint64_t *work, struct clock *clock, struct arena *a);

#endif
