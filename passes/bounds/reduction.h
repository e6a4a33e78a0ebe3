/* Reductions: a smaller graph that has the same plans as the whole one below a threshold. */
#ifndef PCC_PASSES_BOUNDS_REDUCTION_H
#define PCC_PASSES_BOUNDS_REDUCTION_H

#include "passes/bounds/least_load.h"

/* What was found out, step by step.  Vertices a, b are those of the graph that was given; of vertices that were
 * joined the smallest stands for all. */
enum reduction_what {
    /* a cannot be on kind k: any device of it with a on it has a load of `load` or more */
    REDUCTION_DENY,
    REDUCTION_SIZE, /* a cannot be on kind k: it needs more memory */
    REDUCTION_JOIN, /* a and b are on one device */
    REDUCTION_NONE  /* no kind is left for a */
};
struct reduction_step {
    enum reduction_what what;
    uint32_t a, b, na, nb; /* na, nb: how many vertices a and b stand for */
    uint32_t k;
    /* DENY: a vertex that is on the kind's one device in every plan; UINT32_MAX: none */
    uint32_t with;
    int64_t load; /* ps, at least the threshold */
    /* JOIN: kinds on which a could be without b (ab) and b without a (ba), a bit each */
    uint32_t ab, ba;
    /* only if the reduction is explained: */
    uint32_t nset, *set;    /* DENY: the vertices of a device that has the least load */
    int64_t time, transfer; /* ps: load of that device, in two parts */
    /* JOIN, [kind] ps: least load with a and without b, where there is none below the threshold;
       else 0 */
    int64_t *load_ab, *load_ba;
};

struct reduction {
    const struct problem *c; /* of the given graph */
    int64_t below;           /* ps */
    struct problem *small;   /* the problem of the smaller graph, which has no edges */
    uint32_t *map;           /* vertex of c->g -> vertex of small->g */
    uint32_t *may;           /* [vertex of small->g] kinds that it may be on, a bit each */
    bool none;               /* it is proven that no plan takes less than `below` */
    bool explained;
    struct reduction_step *step;
    uint32_t nstep, cap;
};

/* Every plan of c (of any shape) whose loads are all below `below` keeps the vertices together that have
 * one number in map, and each on a kind of may.  c must not be detailed.  Looks at no more than *work arcs
 * (lowered), and at as many again for an explained one.  Lives in a. */
struct reduction *reduction_make(const struct problem *c, int64_t below, bool explained,
                                 uint64_t *work, struct clock *clock, struct arena *a);

/* The reduction of c, the problem of level g, as a level above g without edges: times are COST_NEVER where a vertex
 * may not be.  The plans of g with loads below `below` are the plans of that level, vertex v of g on the device of
 * map[v].  NULL: there is no such plan. */
struct wdag *reduction_contract(struct wdag *g, const struct problem *c, int64_t below,
                                uint64_t *work, struct clock *clock, struct arena *a);

#endif
