/* The problem that placement planners solve: to divide a weighted DAG among the devices of a cluster.
 *
 * A contiguous plan is a chain of ideals (down-sets) {} = I_0 < I_1 < ... < I_r = V and a device for the difference of
 * every two neighbours in the chain.  This file has what the exact search, interval DP, annealing and the bounds share:
 * kinds of devices, costs in the form that inner loops want, lower bounds on what is still to be placed, and labels
 * (partial plans).
 *
 * A kind is a set of devices that are alike: the devices of one class that no vertex is pinned to, or one device that
 * some vertex is pinned to.  The transfer of a net with one vertex and the host is paid wherever that vertex is, so its
 * cost is part of the vertex's time here.
 *
 * A potential gives each vertex a weight, such that a device of kind k with a load of at most L holds vertices with a
 * total weight of at most cap[k](L).  What a partial plan leaves to be placed must fit into the devices that it leaves;
 * a partial plan is dropped (it is "outside the window") if the weights say that this cannot be.  A net with a pin on
 * the host is paid by one device at least.  So the weight of an ideal is that of its vertices, plus the weights of the
 * nets that it touches and that have the host and two vertices or more. */
#ifndef PCC_PASSES_PROBLEM_PROBLEM_H
#define PCC_PASSES_PROBLEM_PROBLEM_H

#include "ir/base/clock.h"
#include "passes/passes.h"
#include "passes/problem/set_memory.h"

enum {
    PROBLEM_KINDS = 32, /* the most kinds of a problem */
    PROBLEM_POTS = 4,   /* the most potentials */
    SCALE_BITS = 20     /* problem_pot.scale is in units of 2^-SCALE_BITS */
};

#define LOAD_INF (INT64_C(1) << 61) /* above every load; sums of two do not overflow */

/* What a set of vertices costs on a device.  t[0] is for the forward pass, t[1] for the backward pass; each has a time
 * for computing, one for transfers in and one for transfers out. */
enum { PART_COMPUTE, PART_IN, PART_OUT, PARTS };
struct problem_parts {
    int64_t t[2][PARTS]; /* ps */
    int64_t params;      /* bytes of the parameters, which copies keep equal */
    uint32_t vertices;   /* number of vertices in the set */
    /* [pass] number of vertices with nodes of the pass; kept only if the problem is by_pass */
    uint32_t of_pass[2];
};

struct problem_kind {
    uint32_t cls;   /* class of the devices, in the cluster */
    int32_t dev;    /* the one device, or -1: all devices of the class without pinned vertices */
    uint32_t count; /* devices, >= 1 */
    int64_t memory; /* bytes of each device; LOAD_INF: no limit, or all vertices fit */
    /* bytes of each device for all that it holds at one time (set_memory.h); LOAD_INF: any set fits */
    int64_t room;
    const int64_t *time; /* [vertex] ps; COST_NEVER: devices of this kind cannot run the vertex */
    const int64_t *back; /* [vertex] the backward pass's part of `time`; NULL: no backward pass */
    uint32_t copies;     /* the most devices that may share a stage; 1: stages are not copied */
    /* shift: the lowest bit of the kind's field in label.used; width: the number of bits of the field, of which the top
     * one stays 0 */
    uint32_t shift, width;
};

struct problem_class {
    const int64_t *cost; /* [net] ps that a device of the class pays for a net which leaves it */
};

/* A potential (head of this file). */
struct problem_pot {
    int64_t *w;    /* [vertex] weight of the vertex */
    int64_t *net;  /* [net] weight of the net for a device that pays the net's transfer */
    int64_t total; /* weight of the whole graph */
    bool memory;   /* the weights are bytes; else scaled ps */
    /* if the weights are times: cap[k](L) = scale[k] * L >> SCALE_BITS; if they are bytes: cap[k] = scale[k], the bytes
     * of a device; -1: no limit */
    int64_t scale[PROBLEM_KINDS];
};

/* What a bound rests on, for an argument in words (explain.h). */
struct problem_lower {
    enum {
        LOWER_AVERAGE, /* the devices together must hold all of potential number `at` */
        LOWER_HOLES,   /* one of D devices gets at + 1 or more of the at * D + 1 longest vertices */
        LOWER_CUT, /* what must cross the end of the device of vertex `at` (cut_bound_at, crossing_bound.h) */
        /* a search found no plan below the bound, even after `at` vertices were left out of the graph */
        LOWER_SEARCH,
        LOWER_FLAT /* the optimum if all devices were in one group */
    } by;
    uint32_t at;
    /* LOWER_CUT: multiplier and direction, as the parameters of cut_bound_at of these names */
    uint32_t m;
    bool up;
};

/* A lower bound, as bounding methods return it. */
struct bound {
    int64_t value;   /* ps: no plan in the bound's scope takes less */
    const char *why; /* short reason, such as "average load" */
    /* lines by which a reader can check the bound, each ends in a newline; NULL: explain.h makes them from `by` */
    const char *proof;
    struct problem_lower by; /* source of the bound if `proof` is NULL */
};

/* What a bounding method may use: work, clock and arenas, and names of nodes for its proof. */
struct bound_means {
    /* about the most work that the method may do; the unit is one look at one arc of a flow network */
    uint64_t work;
    struct clock *clock;
    const struct module *m; /* names the nodes in the proof; NULL: vertices have numbers */
    struct arena *mem;      /* memory for texts of results */
    struct arena *scratch;  /* memory for temporary data, which the method releases */
};

struct problem {
    const struct wdag *g;
    /* the scene given to problem_build(), which must not be freed before the problem */
    const struct scene *scene;
    const struct cluster *cluster; /* the scene's cluster */
    struct arena *mem;
    uint32_t nkind;
    struct problem_kind kind[PROBLEM_KINDS];   /* [nkind] the kinds of devices */
    struct problem_class cls[CLUSTER_CLASSES]; /* [class of the cluster] */
    /* vertex -> nets that cost devices of some class something; if not detailed, only nets of two vertices or more */
    struct csr net_of;
    /* the top bit of each field of label.used, by which problem_no_more() compares all fields at once */
    uint64_t guard;
    uint32_t npot;
    struct problem_pot pot[PROBLEM_POTS]; /* [npot] the potentials (problem_pot) */
    /* index of the potential in which nets that cross an ideal count, too: the devices of the vertices outside the
     * ideal pay such a net once more, so the net's weight is added to the weight of these vertices */
    uint32_t cross_pot;
    bool limited; /* true: the memory of some kind of devices is too small for all vertices */
    /* for finding what a set of vertices needs at one time beside the bytes of its vertices; NULL: sets need nothing,
     * or no kind's room can be too small, or the need is not known */
    struct set_values *values;
    /* bytes, if there are `values`: the most that a set needs at one time, not counting what it reads and sends
     * (which counts twice) */
    int64_t most_at_once;
    /* if there are `values`: the time of each transfer follows from its bytes (problem_surely_fits) */
    bool by_bytes;
    bool timeless; /* problem_forget_times() has set all times and transfers to 0 */
    bool turned;   /* problem_mirror (reversed.h) has reversed all edges */
    /* detailed: the load of a device is more than a sum, since transfers overlap computing (overlap), the two passes
     * count apart (pass_loads), or devices share a stage.  Then problem_loads says what a stage costs.  Searches still
     * prune by the sum (with overlap: of computing alone), which is never more than the load times the copies. */
    bool detailed, pass_loads, overlap;
    /* ps that running parts adds to the computing of each stage that has vertices; if by_pass, once for each pass of
     * which the stage has nodes.  0: plans are valued here as if parts cost nothing (claim_start adds the cost) */
    int64_t start;
    bool by_pass; /* problem_build_by_pass made this problem */
    /* no plan of any shape has a lower value; problem_build sets a first bound, bounding methods raise it */
    struct bound lower;
};

/* memory of problem_build: each device has the memory that the cluster says. */
enum { MEMORY_UNCHANGED = -1 };
/* Makes the problem of placing g on the cluster of s under the execution model of s.  memory: devices with less memory
 * count as having so many bytes; MEMORY_UNCHANGED: each device has its own memory.  Lives in a.  Returns NULL and
 * reports an error if there are too many kinds.  Times and bytes must add up to less than CTX_SUM_MAX (ctx_base sees
 * to it).  O(kinds * V + pins). */
struct problem *problem_build(const struct wdag *g, const struct scene *s, int64_t memory,
                              struct arena *a, struct diag *d);

/* Does the same as problem_build, but loads contain the cost of parts, counted by passes, which problem_build leaves
 * out.  Returns NULL without an error if parts cost nothing, or if all vertices have nodes of the same passes: then
 * problem_build is enough. */
struct problem *problem_build_by_pass(const struct wdag *g, const struct scene *s, struct arena *a,
                                      struct diag *d);

/* Makes the problem of placing g, a smaller graph with the same pinned devices as `like`, with the scales and memories
 * of `like`: so weights in potential 0 can be compared between the two problems. */
struct problem *problem_build_like(const struct wdag *g, const struct problem *like,
                                   struct arena *a, struct diag *d);

/* If b is higher than c->lower, makes b that bound; returns whether it did. */
bool problem_raise(struct problem *c, struct bound b);

/* Sets all times and transfers of c to 0, so that any plan that fits the memory is optimal; then c is not detailed, its
 * stages have no copies, and its lower bound is 0. */
void problem_forget_times(struct problem *c);

/* What devices may hold of each potential if no load is above `limit`. */
struct problem_caps {
    int64_t limit; /* ps: no device may have a larger load */
    /* ps: partial plans of a larger value are dropped, since no plan that is wanted extends them */
    int64_t keep;
    /* [potential][kind] the most that a device of the kind may hold */
    int64_t cap[PROBLEM_POTS][PROBLEM_KINDS];
};
/* Multiplies the time x by the scale of a potential: x * scale >> SCALE_BITS, at most LOAD_INF. */
int64_t problem_scaled(int64_t x, int64_t scale);
/* Return the weight of vertex v, or of net e, in p, a potential of times: the least scaled time of v, or cost of e,
 * over the kinds with a scale. */
int64_t problem_weight(const struct problem *c, const struct problem_pot *p, uint32_t v);
int64_t problem_net_weight(const struct problem *c, const struct problem_pot *p, uint32_t e);
/* Whether net e counts in the weight of each ideal that touches e, because it has the host and two vertices or more. */
static inline bool problem_weighs(const struct problem *c, uint32_t e)
{
    return c->g->net_host[e] && c->g->net_pin.at[e + 1] - c->g->net_pin.at[e] > 1;
}
/* Fills *caps for loads of at most `limit` ps; keep becomes `limit`, too. */
void problem_set_limit(const struct problem *c, struct problem_caps *caps, int64_t limit);

/* Adds vertex v to the numbers of vertices in p (by = 1), or takes v off them (by = -1). */
void problem_count_vertex(const struct problem *c, struct problem_parts *p, uint32_t v, int by);
/* Sets load[] to the load, ps, of each of the `copies` devices of kind k that take turns in running the stage p.
 * pass_loads: load[0] is of the forward pass, load[1] of the backward pass; else load[1] is 0. */
void problem_loads(const struct problem *c, uint32_t k, const struct problem_parts *p,
                   uint32_t copies, int64_t load[2]);

/* A partial plan.  Labels are known by their index in an array; index 0 means no label. */
struct label {
    /* ps: the largest load so far; with pass_loads, the largest load of the forward pass */
    int64_t value;
    int64_t back; /* ps: with pass_loads, the largest load of the backward pass; else 0 */
    /* number of devices of each kind that the plan uses: a field of bits for each kind */
    uint64_t used;
    /* labels: parent: the plan without its last device; next: the next label of the same ideal */
    uint32_t parent, next;
    /* where the partial plan ends: the number of an ideal, or a position in an order */
    uint32_t at;
    uint16_t kind;   /* kind of the last device */
    uint16_t copies; /* copies of the last stage; 0 or 1: one device */
};

struct labels {
    struct arena *mem;
    struct label *v; /* [n] all labels; index 0 is not used, it stands for no label */
    uint32_t n, cap;
    /* number of labels that labels_relax() has looked at beyond the first LABELS_FEW of each list: with many kinds
     * of devices lists are long, and these looks take most of the time */
    uint64_t walked;
    uint32_t longest; /* number of labels of the longest list that labels_relax() has seen */
};
enum { LABELS_FEW = 8 };

/* Whether `a` uses no more devices of any kind than b; both as in label.used.  All fields are subtracted at once: the
 * top bit of a field, set in b, stays set unless a's number is larger. */
static inline bool problem_no_more(const struct problem *c, uint64_t a, uint64_t b)
{
    return (((b | c->guard) - a) & c->guard) == c->guard;
}

/* Returns the index in c->kind of the kind of device dev: the kind for just this device if there is one, else the kind
 * of its class. */
uint32_t problem_kind_of(const struct problem *c, uint32_t dev);

/* Returns the number of ways to choose how many devices of each kind are used; some number above `most` if there are
 * more than that. */
uint64_t problem_ways(const struct problem *c, uint64_t most);
/* Whether there are more ways to combine the numbers of used devices of all kinds than searches can keep labels for. */
bool labels_many(const struct problem *c);
enum { LABELS_MOST = 4096 /* labels of one list that searches keep, at most */ };

/* Adds nw to the list *head, unless the list has a label that is as good (no larger value, no more devices of any
 * kind).  Removes labels to which nw is as good; nw takes the place of the first one removed.  Returns nw's label; 0:
 * nw was not added. */
uint32_t labels_relax(struct labels *l, const struct problem *c, uint32_t *head, struct label nw);

/* A label that is to be extended by a device of some kind.  The device must take so many vertices that the rest fits
 * the devices that are left.  So the ideal that the extended plan ends at must weigh at least low[p] in each potential
 * p. */
struct live {
    int64_t value, back; /* ps: value and back of the label */
    uint64_t used;       /* as label.used, with the new device */
    uint32_t left;       /* number of devices that the new stage may have: 1 without copies */
    uint32_t label;      /* index of the label in labels.v */
    int64_t low[PROBLEM_POTS];
};
/* The labels of an ideal that can be extended by a device of one kind. */
struct live_list {
    struct live *v; /* [n] the entries */
    uint32_t n, cap;
    int64_t low[PROBLEM_POTS]; /* the smallest low[p] of all entries of v; LOAD_INF: v has none */
};
/* Returns how much of potential p fits the devices that a plan using `used` (as label.used) leaves. */
int64_t problem_room(const struct problem *c, const struct problem_caps *caps, uint64_t used,
                     uint32_t p);

/* Whether a device of kind k surely has room for a set of vertices whose lasting bytes are `bytes` and whose transfers
 * cost `cut` ps; false: that is not sure.  To be called only if c->values is not NULL. */
bool problem_surely_fits(const struct problem *c, uint32_t k, int64_t bytes, int64_t cut);

/* Returns the number that vertex v of c->g has in the level that c was made for: v, or if c is turned, v counted from
 * the other end. */
static inline uint32_t problem_own_number(const struct problem *c, uint32_t v)
{
    return c->turned ? c->g->n - 1 - v : v;
}

/* Fills *out (zeroes at first; in the memory of l, grown as needed) with the labels of the list `head` that can be
 * extended by a device of kind k: such a device is left, and the label's value is at most caps->keep. */
void problem_live(const struct problem *c, const struct labels *l, uint32_t head, uint32_t k,
                  const struct problem_caps *caps, struct live_list *out);

/* Returns the least weight in potential p of the ideal behind a stage on `copies` devices.  l->low[p] counts one of
 * these devices as used; each further one leaves `cap` less room for the rest.  Where a device without limit is
 * left, any rest fits, and low[p] stays. */
static inline int64_t problem_low(const struct problem *c, const struct live *l, uint32_t p,
                                  uint32_t copies, int64_t cap)
{
    bool bounded = l->low[p] > c->pot[p].total - LOAD_INF;
    return bounded ? sat_add(l->low[p], sat_mul(copies - 1, cap)) : l->low[p];
}

/* A plan for the vertices of g. */
struct problem_plan {
    int64_t value;    /* ps; LOAD_INF: there is no plan */
    int32_t *dev;     /* [vertex] the vertex's device; has room for g->n entries */
    uint32_t *copies; /* [device] as in struct plan; needed if the model replicates, else NULL */
};

/* Tells the clock's listener the progress of a search of c.  phase: name of the work; done: thousandths of the work
 * that are done; value: value of the best plan, ps, LOAD_INF: no plan is known yet.  clock may be NULL. */
void problem_tell(const struct problem *c, const struct clock *clock, const char *phase,
                  uint32_t done, int64_t value);

/* A stage of a chain: the kind of its devices, and their number (0 or 1: one device). */
struct problem_step {
    uint16_t kind, copies;
};
/* Writes best->dev and best->copies for a chain of the `nstep` stages steps[]; step[vertex]: index of the vertex's
 * stage.  The stages get the devices of their kind in order of number; if c is turned, the last stage first. */
void problem_assign(const struct problem *c, const uint32_t *step, const struct problem_step *steps,
                    uint32_t nstep, struct problem_plan *best);

#endif
