/* What a plan of any shape costs, kept up to date while vertices move between devices.
 *
 * The load of a device is the time of its vertices and the cost of each net that it touches and that has a
 * pin elsewhere, or what problem_loads makes of them: transfers beside computing, both passes apart, devices that
 * take turns (problem.h).  Then a move takes longer, since loads are worked out anew. */
#ifndef PCC_PASSES_PROBLEM_DEVICE_LOADS_H
#define PCC_PASSES_PROBLEM_DEVICE_LOADS_H

#include "passes/problem/problem.h"

enum { NOWHERE = -1 };

struct loads {
    const struct problem *c;
    uint32_t ndev;
    uint8_t *kind;     /* [device] its kind in c */
    uint32_t nnet;     /* nets of two pins or more that cost something on some device */
    uint32_t *pins;    /* [net] pins, the host's included: a device that has less pays */
    int64_t **cost;    /* [kind][net] ps */
    struct csr net_of; /* vertex -> these nets */
    struct csr pin;    /* net -> vertices */
    uint32_t *src;     /* c->detailed: [net] vertex that makes it, or UINT32_MAX */
    uint8_t *net_back; /* c->detailed: [net] 1: of the backward pass */
    /* the plan */
    int32_t *dev;   /* [vertex] or NOWHERE */
    uint32_t *held; /* [net * ndev + device] pins of the net there */
    /* [shared item * ndev + device] vertices there that need it; NULL: memory is ample */
    uint32_t *users;
    int64_t *load;               /* [device] ps; passes apart: of the forward pass */
    int64_t *back;               /* [device] ps; passes apart: of the backward pass; else 0 */
    int64_t *bytes;              /* [device]; 0 where memory is ample */
    struct problem_parts *parts; /* c->detailed: [device]; else NULL */
    /* [device] as in struct plan, 0: one that takes turns with another; NULL: 1 each */
    uint32_t *copies;
};

/* Whether there can be loads of c: 0, or -1 and an error if (nets + shared items) * devices are above LOADS_MOST. */
int loads_check(const struct problem *c, const char *planner, struct diag *d);
/* The same; an error, too, if c is `detailed` (overlap, GPipe, copies): for planners that know sums only. */
int loads_check_sums(const struct problem *c, const char *planner, struct diag *d);
/* No vertex anywhere.  Lives in a.  -1 and an error as loads_check.  O(V + pins + nets * devices). */
int loads_new(struct loads *l, const struct problem *c, const char *planner, struct arena *a,
              struct diag *d);
enum { LOADS_MOST = 1 << 28 };

/* Another plan of the same problem, no vertex anywhere: shares the tables of l.  O(nets * devices). */
void loads_twin(struct loads *twin, const struct loads *l, struct arena *a);

/* Whether v can run on device d (time, pins, not a copy of another device). */
static inline bool loads_allows(const struct loads *l, uint32_t v, uint32_t d)
{
    return l->c->kind[l->kind[d]].time[v] != COST_NEVER && (!l->copies || l->copies[d]);
}
/* Says how many devices share the samples of each; no vertex may be anywhere. */
void loads_share(struct loads *l, const uint32_t *copies);

/* Moves v to device `to`, which allows it; from NOWHERE, too, and to it.  O(nets of v). */
void loads_move(struct loads *l, uint32_t v, int32_t to);
/* Moves all to where dev says (may be NOWHERE). */
void loads_set(struct loads *l, const int32_t *dev);

/* What loads_move would add to the loads (ps) and bytes of the device that v leaves [0] and of `to` [1], which
 * is another one.  O(nets of v). */
struct loads_change {
    int64_t load[2], back[2], bytes[2];
};
struct loads_change loads_peek(struct loads *l, uint32_t v, uint32_t to);
/* The same for v and w, on different devices, that change places: [0] is v's device, [1] w's. */
struct loads_change loads_peek_swap(struct loads *l, uint32_t v, uint32_t w);

/* The largest load; passes apart: the largest of each, in sum.  O(devices). */
int64_t loads_value(const struct loads *l);
/* Bytes above the memory of device d, of all devices. */
int64_t loads_excess(const struct loads *l, uint32_t d);
int64_t loads_over(const struct loads *l);

#endif
