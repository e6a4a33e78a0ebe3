/* Makes reductions: a reduction is a smaller graph that still has every plan of the given graph whose loads are all
 * below a threshold. */
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
/* A step of a reduction.  Vertices have their numbers in the given graph; the smallest of several joined vertices
 * stands for all of them.  A field marked DENY or JOIN is set only in steps REDUCTION_DENY or REDUCTION_JOIN. */
struct reduction_step {
    enum reduction_what what;
    /* the vertices a and b (b is a if there is only one), and the numbers of joined vertices that they stand for */
    uint32_t a, b, na, nb;
    uint32_t k;
    /* DENY: a vertex that is on the kind's only device in every plan, so that it counts in `load`; UINT32_MAX: none is
     * known */
    uint32_t with;
    /* DENY: ps, the least load with a (and `with`) on kind k, which is the threshold or more */
    int64_t load;
    /* JOIN: masks of the kinds on which a could be without b (ab), and b without a (ba) */
    uint32_t ab, ba;
    /* the fields from here on are set only if the reduction is explained */
    /* DENY: the vertices of the set with the least load on a device of kind k that has a (and `with`) */
    uint32_t nset, *set;
    int64_t time, transfer; /* DENY: ps, the two parts of `load`: computing and transfers */
    /* JOIN: [kind] ps, the least load of a device with a and without b (load_ab), or with b and without a (load_ba),
     * for the kinds that such a load rules out; 0 for all other kinds */
    int64_t *load_ab, *load_ba;
};

struct reduction {
    const struct problem *c; /* the problem of the given graph */
    int64_t below;           /* ps: the threshold; only plans whose loads are all below it count */
    /* the problem of the smaller graph, which has no edges; it is c itself if nothing was joined */
    struct problem *small;
    uint32_t *map;  /* [vertex of c->g] its vertex in small->g */
    uint32_t *may;  /* [vertex of small->g] bit k: the vertex may be on kind k */
    bool none;      /* true: it is proven that no plan takes less than `below` */
    bool explained; /* whether steps have all fields that explanations need */
    struct reduction_step *step;
    uint32_t nstep, cap; /* number of steps; number of steps for which memory is allocated */
};

/* Returns the reduction of c for the threshold `below`, in a: each plan of c, of any shape, with all loads below the
 * threshold has the vertices with the same map[] on one device, which is of a kind in may[].  c must not be detailed.
 * Looks at no more than *work arcs, and lowers *work by the number looked at; explained: the explanations may look at
 * as many arcs again, which are not counted. */
struct reduction *reduction_make(const struct problem *c, int64_t below, bool explained,
                                 uint64_t *work, struct clock *clock, struct arena *a);

/* Makes the reduction of c, the problem of level g, and returns it as a level above g, in a.  The level has no edges;
 * its times are COST_NEVER on the classes on which a vertex may not be.  Each plan of g with loads below `below` puts
 * vertex v of g on the device of the level's vertex map[v], so it is a plan of the level.  Returns NULL if g has no
 * such plan. */
struct wdag *reduction_contract(struct wdag *g, const struct problem *c, int64_t below,
                                uint64_t *work, struct clock *clock, struct arena *a);

#endif
