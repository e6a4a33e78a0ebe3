/* The problem that placement planners solve: a weighted DAG divided among the kinds of devices of a cluster.
 *
 * A plan is a chain of ideals (down-sets) 0 = I_0 < I_1 < ... < I_r = V and a device for every
 * difference.  This is what both searches share: kinds of devices, costs that are ready for inner
 * loops, lower bounds on what is left, and labels (partial plans).
 *
 * A kind is a group of devices that are alike: the devices of one class that no vertex is pinned
 * to, or one device that some vertex is pinned to.  Nets of one pin that the host shares are always
 * paid; they are part of the vertex's time here.
 *
 * A potential gives each vertex a weight such that a device of kind k with a load of at most L
 * holds at most cap[k](L) of it.  What is left of a plan must fit into what is left of the devices:
 * that is the window outside which no partial plan is kept.  A net that the host shares is paid by
 * whoever touches it first at least; the weight of an ideal is that of its vertices and of the nets of
 * this sort (with two pins or more) that it touches. */
#ifndef PCC_PASSES_PROBLEM_PROBLEM_H
#define PCC_PASSES_PROBLEM_PROBLEM_H

#include "ir/base/clock.h"
#include "passes/passes.h"

enum { PROBLEM_KINDS = 32, PROBLEM_POTS = 4, SCALE_BITS = 20 };

#define LOAD_INF (INT64_C(1) << 61) /* above every load; sums of two do not overflow */

/* What a set of vertices costs on a device: forward and backward pass; computing, in, out. */
enum { PART_COMPUTE, PART_IN, PART_OUT, PARTS };
struct problem_parts {
    int64_t t[2][PARTS]; /* ps */
    int64_t params;      /* bytes that copies keep equal */
    uint32_t vertices;   /* how many there are */
};

struct problem_kind {
    uint32_t cls;          /* class of the cluster */
    int32_t dev;           /* the one device, or -1: those of the class that nobody is pinned to */
    uint32_t count;        /* devices, >= 1 */
    int64_t memory;        /* bytes; LOAD_INF: not binding */
    const int64_t *time;   /* [vertex] ps; COST_NEVER */
    const int64_t *back;   /* [vertex] what of it is the backward pass's; NULL: nothing */
    uint32_t copies;       /* devices that may share a stage; 1: no replication */
    uint32_t shift, width; /* its field in label.used; the top bit of a field stays 0 */
};

struct problem_class {
    const int64_t *cost; /* [net] ps */
};

struct problem_pot {
    int64_t *w;   /* [vertex] */
    int64_t *net; /* [net] what each device that pays it holds for it */
    int64_t total;
    bool memory;
    /* cap[k](L) = scale[k] * L >> SCALE_BITS; memory: the kind's bytes; -1: unbounded */
    int64_t scale[PROBLEM_KINDS];
};

/* What c->lower rests on, for an argument in words (explain.h). */
struct problem_lower {
    enum {
        LOWER_AVERAGE, /* of potential `at` */
        LOWER_HOLES,   /* the at * D + 1 longest vertices on D devices */
        LOWER_CUT,     /* the end of the device of vertex `at`: up, m (crossing_bound.h) */
        LOWER_SEARCH,  /* nothing is below it, even without `at` vertices */
        LOWER_FLAT     /* the optimum if all devices were in one group */
    } by;
    uint32_t at, m;
    bool up;
};

struct problem {
    const struct wdag *g;
    const struct cluster *cluster;
    struct arena *mem;
    uint32_t nkind;
    struct problem_kind kind[PROBLEM_KINDS];
    struct problem_class cls[CLUSTER_CLASSES];
    /* vertex -> nets that cost some class something, of at least two pins if not detailed */
    struct csr net_of;
    uint64_t guard; /* the top bits of the fields of label.used */
    uint32_t npot;
    struct problem_pot pot[PROBLEM_POTS];
    uint32_t cross_pot; /* the potential to which crossing nets may be added */
    bool limited;       /* some kind's memory is binding */
    bool turned;        /* edges are those of the problem reversed (reversed.h) */
    /* The load of a device is more than a sum: transfers overlap, passes count apart, or devices share a
     * stage.  Then problem_loads says what a stage costs, and labels have two values; what prunes stays
     * the sum (of computing alone, with overlap), which is never more than the load times copies. */
    bool detailed, apart, overlap;
    /* ps of computing that each stage with vertices takes more, for its parts; 0 where values are
       those of plans whose parts cost nothing (claim.h adds it) */
    int64_t start;
    int64_t lower;         /* no plan is better, ps: made by problem_build, of any shape */
    const char *lower_why; /* "average load", ... */
    struct problem_lower lower_by;
    const char *lower_proof; /* lines; NULL: what lower_by says (explain.h) */
};

/* The problem of placing g on c; memory >= 0 raises every bounded memory to at least that.
 * Lives in a.  An error if the devices are of too many kinds.  Times and bytes must add up to less than
 * CTX_SUM_MAX (ctx_base sees to it).  O(kinds * V + pins). */
struct problem *problem_build(const struct wdag *g, const struct cluster *c, int64_t memory,
                              struct arena *a, struct diag *d);

/* The problem of placing g, a smaller graph of the same pins, with the scales and memories of `like`: what
 * devices hold of potential 0 is then measured alike in both. */
struct problem *problem_build_like(const struct wdag *g, const struct problem *like,
                                   struct arena *a, struct diag *d);

/* Makes everything take no time and no transfer, so that any plan that fits is optimal. */
void problem_forget_times(struct problem *c);

/* Capacities for loads of at most `limit`. */
struct problem_caps {
    int64_t limit;
    int64_t keep; /* labels of a larger value are of no use */
    int64_t cap[PROBLEM_POTS][PROBLEM_KINDS];
};
/* x * scale >> SCALE_BITS, at most LOAD_INF */
int64_t problem_scaled(int64_t x, int64_t scale);
/* What a device holds for vertex v or net e of c by the scales of p, a potential of times. */
int64_t problem_weight(const struct problem *c, const struct problem_pot *p, uint32_t v);
int64_t problem_net_weight(const struct problem *c, const struct problem_pot *p, uint32_t e);
/* Whether net e is part of the weight of each ideal that touches it. */
static inline bool problem_weighs(const struct problem *c, uint32_t e)
{
    return c->g->net_host[e] && c->g->net_pin.at[e + 1] - c->g->net_pin.at[e] > 1;
}
void problem_set_limit(const struct problem *c, struct problem_caps *caps, int64_t limit);

/* Loads of a stage on `copies` devices of kind k that take turns: load[0], and load[1] of the backward
 * pass if it counts apart (else 0). */
void problem_loads(const struct problem *c, uint32_t k, const struct problem_parts *p,
                   uint32_t copies, int64_t load[2]);

/* A partial plan: label 0 is none. */
struct label {
    int64_t value;         /* largest load so far; apart: of the forward pass */
    int64_t back;          /* apart: largest load of the backward pass; else 0 */
    uint64_t used;         /* devices of each kind, a field for each */
    uint32_t parent, next; /* labels; next in the list of the same ideal */
    uint32_t at;           /* the ideal or position */
    uint16_t kind;         /* of the last device */
    uint16_t copies;       /* 0 or 1: one device */
};

struct labels {
    struct arena *mem;
    struct label *v;
    uint32_t n, cap;
};

/* Whether `a` uses no more devices of any kind than b. */
static inline bool problem_no_more(const struct problem *c, uint64_t a, uint64_t b)
{
    return (((b | c->guard) - a) & c->guard) == c->guard;
}

/* Adds nw to the list *head unless a label there is as good; replaces the first that is not better in any
 * way, and takes the others that are not out of the list.  The label, or 0 if it was not needed. */
uint32_t labels_relax(struct labels *l, const struct problem *c, uint32_t *head, struct label nw);

/* A label that may be extended by a device of some kind, and how far at least that device must get:
 * the weight of the new ideal must be >= low of every potential. */
struct live {
    int64_t value, back;
    uint64_t used; /* with the new device */
    uint32_t left; /* devices of its kind that the new stage could have */
    uint32_t label;
    int64_t low[PROBLEM_POTS];
};
/* Those of list head that are not dominated, better than the limit, and have a device of kind k
 * left; low_min: the smallest of each potential.  Returns their number; *out is grown. */
uint32_t problem_live(const struct problem *c, const struct labels *l, uint32_t head, uint32_t k,
                      const struct problem_caps *caps, struct live **out, uint32_t *cap,
                      int64_t low_min[PROBLEM_POTS]);

/* How far a stage on `copies` devices must get, each of which could hold cap; devices without bound that
 * are left ask for nothing. */
static inline int64_t problem_low(const struct problem *c, const struct live *l, uint32_t p,
                                  uint32_t copies, int64_t cap)
{
    bool bounded = l->low[p] > c->pot[p].total - LOAD_INF;
    return bounded ? sat_add(l->low[p], sat_mul(copies - 1, cap)) : l->low[p];
}

/* A plan for the vertices of g. */
struct problem_plan {
    int64_t value;    /* LOAD_INF: none */
    int32_t *dev;     /* [vertex]; room for n */
    uint32_t *copies; /* [device] as in struct plan; needed if the cluster replicates, else NULL */
};

/* A step of a chain: the kind of its devices, and how many. */
struct problem_step {
    uint16_t kind, copies;
};
/* Devices for a chain of `nstep` steps; step[vertex].  Gives the devices of a kind in the order of the
 * steps, to best->dev and best->copies. */
void problem_assign(const struct problem *c, const uint32_t *step, const struct problem_step *steps,
                    uint32_t nstep, struct problem_plan *best);

#endif
