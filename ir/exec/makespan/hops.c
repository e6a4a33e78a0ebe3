/* Hops of one step (hops.h).  With n devices, the lanes 0 .. n - 1 are for computing.  With CONTENTION_LINK each pair
 * (sender, receiver) of hops gets a lane of its own, numbered by first use.  With other contentions there are two more
 * blocks of n lanes: n + d is the out-port of device d or its only channel, 2 n + d its in-port. */
#include "ir/exec/makespan/hops.h"

#include "ir/exec/makespan/single_step.h"

#include <assert.h>

_Static_assert(CLUSTER_DEVICES < 1 << TASK_DEV, "tasks tell devices and the host");

struct hops hops_of(const struct scene *of, struct arena *a)
{
    const struct cluster *c = of->cluster;
    uint32_t n = c->ndev;
    bool links = of->model.step.contention == CONTENTION_LINK;
    struct hops h = {.of = of, .host = n, .nlane = links ? n : 3 * n, .a = a};
    h.end = arena_array(a, (size_t)n + 1, sizeof *h.end);
    for (uint32_t d = 0; d < n; d++) {
        uint32_t cls = cluster_class(c, d);
        h.end[d] = (struct end){c->cls[cls].host ? n : d, cls, cluster_group(c, d)};
    }
    return h;
}

uint32_t hop_before(const struct hops *h, uint32_t home, uint32_t to)
{
    bool two = h->of->model.step.network == NETWORK_HOST && home != h->host && to != h->host;
    return two ? h->host : home;
}

bool hops_stay_inside(const struct hops *h, const int32_t *dev, uint32_t net)
{
    const struct csr *pin = &h->of->place->net_pin;
    bool one = !h->of->place->net_host[net];
    for (uint32_t i = pin->at[net]; one && i < pin->at[net + 1]; i++)
        one = h->end[dev[pin->to[i]]].group == h->end[dev[pin->to[pin->at[net]]]].group;
    return one;
}

/* Returns the lane of hops from one end to another (CONTENTION_LINK); makes it at the first call. */
static uint32_t link_lane(struct hops *h, uint32_t from, uint32_t to)
{
    uint32_t lane = map_get(&h->link, map_key(from, to));
    if (!lane) {
        lane = ++h->nlane;
        map_set(&h->link, h->a, map_key(from, to), lane);
    }
    return lane - 1; /* the map has 1 + the lane */
}

/* Sets the lanes that the hop x from one end to another holds, by the model's contention.  The host has no lanes. */
static void set_lanes(struct hops *h, struct task *x, uint32_t from, uint32_t to)
{
    /* [contention] from: the block of n lanes, counted from 1, in which the sending device holds a lane; to: the same
     * for the receiving device; 0: the device holds none */
    static const struct {
        uint8_t from, to;
    } port[CONTENTIONS] = {[CONTENTION_PORT] = {2, 3},
                           [CONTENTION_HALF] = {2, 2},
                           [CONTENTION_RX] = {0, 2},
                           [CONTENTION_BLOCKING] = {1, 1}};
    enum contention how = h->of->model.step.contention;
    uint32_t n = h->host, out = port[how].from, in = port[how].to;
    assert(from != to);
    x->lane[0] = out && from < n ? (out - 1) * n + from : NO_LANE;
    x->lane[1] = in && to < n ? (in - 1) * n + to : NO_LANE;
    if (how == CONTENTION_LINK)
        x->lane[0] = link_lane(h, from, to);
    if (x->lane[0] == NO_LANE) {
        x->lane[0] = x->lane[1];
        x->lane[1] = NO_LANE;
    }
    if (how == CONTENTION_BAECHI)
        x->lane[0] = n + (to < n ? to : from);
    /* a hop from or to the host may hold only one lane, but is served in one queue with hops that hold two */
    x->request = out && in;
}

struct task hop_make(struct hops *h, uint32_t net, uint32_t from, uint32_t to, bool inner)
{
    struct task x = {.count = 1, .number = net};
    const struct cluster *c = h->of->cluster;
    struct moved_value v = place_moved(h->of->place, h->of->m->cost, net);
    /* the devices at both ends; if one end is the host, the device at the other end twice */
    uint32_t near = from < h->host ? from : to, far = to < h->host ? to : from;
    x.kind = from == h->host ? STEP_IN : to == h->host ? STEP_OUT : STEP_MOVE;
    task_between(&x, near, far);
    x.time = x.kind == STEP_MOVE ? cluster_route(c, from, to, v)
                                 : cluster_transfer(c, h->end[near].cls, inner, v);
    set_lanes(h, &x, from, to);
    return x;
}
