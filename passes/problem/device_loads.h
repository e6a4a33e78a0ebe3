/* The loads and bytes of the devices under a plan of any shape, kept up to date while vertices move between devices.
 *
 * The load of a device is the time of its vertices plus the cost of each net that has a pin on the device and a pin
 * elsewhere.  If the problem is `detailed` (problem.h: transfers beside computing, the two passes apart, devices that
 * take turns), problem_loads works the load out anew at each move, which takes longer. */
#ifndef PCC_PASSES_PROBLEM_DEVICE_LOADS_H
#define PCC_PASSES_PROBLEM_DEVICE_LOADS_H

#include "passes/problem/problem.h"

enum { NOWHERE = -1 }; /* in loads.dev: the vertex has no device */

struct loads {
    const struct problem *c;
    uint32_t ndev;
    uint8_t *kind; /* [device] index of the device's kind in c->kind */
    /* number of nets that cost something on some device if they are cut (if not c->detailed, only those of two vertices
     * or more); the tables by net have only these nets */
    uint32_t nnet;
    /* [net] number of pins, the host's included: a device that has some, but not all, pays */
    uint32_t *pins;
    int64_t **cost;    /* [kind][net] ps that a device of the kind pays for a cut net */
    struct csr net_of; /* vertex -> nets of the vertex, as far as they are among the nnet nets */
    struct csr pin;    /* net -> vertices */
    uint32_t *src;     /* c->detailed: [net] vertex that makes the value; UINT32_MAX: an input */
    uint8_t *net_back; /* c->detailed: [net] 1: of the backward pass */
    /* the plan: */
    int32_t *dev;   /* [vertex] its device, or NOWHERE */
    uint32_t *held; /* [net * ndev + device] number of the net's pins on the device */
    /* [shared item * ndev + device] number of vertices on the device that need the item; NULL: memory is ample */
    uint32_t *users;
    /* [device] ps: its load; with pass_loads, that of the forward pass */
    int64_t *load;
    /* [device] ps: with pass_loads, its load of the backward pass; else 0 */
    int64_t *back;
    int64_t *bytes;              /* [device]; 0 where memory is ample */
    struct problem_parts *parts; /* c->detailed: [device]; else NULL */
    /* [device] number of devices that share the device's stage, itself included; 0: it takes turns with a device of a
     * lower number, which has the stage; NULL: no device shares a stage */
    uint32_t *copies;
};

/* Checks that the tables for c are not too large.  Returns 0, or -1 and reports an error, which names `planner`, if
 * (nets + shared items) * devices are above LOADS_MOST. */
int loads_check(const struct problem *c, const char *planner, struct diag *d);
/* Makes *l, in which no vertex has a device yet; it lives in a.  Returns 0, or -1 and reports an error: the tables
 * would be too large, as in loads_check().  O(V + pins + nets * devices). */
int loads_new(struct loads *l, const struct problem *c, const char *planner, struct arena *a,
              struct diag *d);
enum { LOADS_MOST = 1 << 28 };

/* Makes *twin, another plan of the same problem, in which no vertex has a device yet; it shares the tables of l.
 * O(nets * devices). */
void loads_twin(struct loads *twin, const struct loads *l, struct arena *a);

/* Whether v may be put on device d: it can run there, is not pinned elsewhere, and d does not take turns for another
 * device. */
static inline bool loads_allows(const struct loads *l, uint32_t v, uint32_t d)
{
    return l->c->kind[l->kind[d]].time[v] != COST_NEVER && (!l->copies || l->copies[d]);
}
/* Sets l->copies, if devices can share stages, from copies[device] as in struct plan; no vertex may have a device
 * yet. */
void loads_share(struct loads *l, const uint32_t *copies);

/* Moves v to device `to`, for which loads_allows must hold, or to NOWHERE.  v need not have a device yet.  O(nets of
 * v). */
void loads_move(struct loads *l, uint32_t v, int32_t to);
/* Moves every vertex v to dev[v], which may be NOWHERE. */
void loads_set(struct loads *l, const int32_t *dev);

/* What a move adds to the loads and bytes of two devices.  loads_peek() returns the changes if v moved to device `to`,
 * which must be another device: [0] of the device that v would leave, [1] of `to`; it moves nothing.  O(nets of v). */
struct loads_change {
    int64_t load[2];  /* ps; where passes have loads of their own, of the forward pass */
    int64_t back[2];  /* ps of the backward pass; 0 where passes have no loads of their own */
    int64_t bytes[2]; /* 0 where memory is not counted */
};
struct loads_change loads_peek(struct loads *l, uint32_t v, uint32_t to);
/* Returns the changes if v and w, which are on different devices, changed places: [0] of v's present device, [1] of w's
 * present device. */
struct loads_change loads_peek_swap(struct loads *l, uint32_t v, uint32_t w);

/* Returns the plan's value, ps: the largest load; with the passes apart, the largest forward load plus the largest
 * backward load.  O(devices). */
int64_t loads_value(const struct loads *l);
/* Returns the bytes that device d holds beyond its memory; 0: they fit. */
int64_t loads_excess(const struct loads *l, uint32_t d);
/* Returns the sum of loads_excess over all devices. */
int64_t loads_over(const struct loads *l);

#endif
