/* Reductions: a smaller graph that has the same plans with values below a threshold as the given graph. */
#ifndef PCC_PASSES_BOUNDS_REDUCTION_H
#define PCC_PASSES_BOUNDS_REDUCTION_H

#include "passes/bounds/least_load.h"

/* What a step of a reduction found out about the vertices a and b. */
enum reduction_what {
    REDUCTION_DENY, /* a cannot be on kind k: each device of the kind that holds a has a load of `load` or more */
    REDUCTION_SIZE, /* a cannot be on kind k: it needs more memory than a device of the kind has */
    REDUCTION_JOIN, /* a and b are on one device */
    REDUCTION_NONE  /* a can be on no kind: there is no plan below the threshold */
};
/* A step of a reduction.  Vertices are those of the given graph; the smallest of several joined vertices stands for all
 * of them.  DENY and JOIN: the field is set only in steps of that sort. */
struct reduction_step {
    enum reduction_what what;
    /* na, nb: how many joined vertices a and b stand for; b is a if there is no second vertex */
    uint32_t a, b, na, nb;
    uint32_t k;
    /* DENY: a vertex that is on the kind's only device in every plan; UINT32_MAX: none is known */
    uint32_t with;
    int64_t load;    /* DENY: ps, at least the threshold */
    uint32_t ab, ba; /* JOIN: masks of the kinds on which a could be without b, and b without a */
    /* the other fields are set only if the reduction is explained */
    /* DENY: the vertices with a (and `with`) that give a device of kind k the least load */
    uint32_t nset, *set;
    int64_t time, transfer; /* DENY: ps, the parts of `load`: computing; transfers */
    /* JOIN: [kind] ps, the least load of a device with a and without b (ab), with b and without a (ba), if it is not
     * below the threshold; else 0 */
    int64_t *load_ab, *load_ba;
};

struct reduction {
    const struct problem *c; /* the problem of the given graph */
    int64_t below;           /* ps: the threshold */
    struct problem *small;   /* the problem of the smaller graph, which has no edges */
    uint32_t *map;           /* [vertex of c->g] its vertex in small->g */
    uint32_t *may;           /* [vertex of small->g] mask of the kinds that the vertex may be on */
    bool none;               /* whether it is proven that no plan takes less than `below` */
    bool explained;          /* steps have the fields that explanations need */
    struct reduction_step *step;
    uint32_t nstep, cap; /* number of steps; room in `step` */
};

/* Returns the reduction of c for the threshold `below`, in a: each plan of c, of any shape, with all loads below the
 * threshold has the vertices with the same map[] on one device, which is of a kind in may[].  c must not be detailed.
 * Looks at no more than *work arcs, by which it lowers *work; explained: the explanations may look at as many arcs
 * again. */
struct reduction *reduction_make(const struct problem *c, int64_t below, bool explained,
                                 uint64_t *work, struct clock *clock, struct arena *a);

/* Returns the reduction of c, the problem of level g, as a level above g, in a.  The level has no edges; its times are
 * COST_NEVER on the classes on which a vertex may not be.  Each plan of g with loads below `below` puts vertex v of g
 * on the device of the level's vertex map[v], so it is a plan of the level.  Returns NULL if g has no such plan. */
struct wdag *reduction_contract(struct wdag *g, const struct problem *c, int64_t below,
                                uint64_t *work, struct clock *clock, struct arena *a);

#endif
