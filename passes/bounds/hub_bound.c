/* Finds lower bounds by what the devices of hubs hold and pay (hub_bound.h).
 *
 * Idea: a hub is a vertex with many or dear transfers, such as the Concat behind hundreds of branches.  The last node
 * of a branch is either on the hub's device, or its device sends a value that the hub's device receives.  Take a plan
 * with loads of at most T on D devices.  Let w be weights, W their total, S the set of vertices on the hub's device,
 * c(S) the cost of the nets that leave S.  Each of these nets is paid by the hub's device and by another device, so
 *   D T  >=  W + 2 c(S),   T  >=  w(S) + c(S).
 * Adding mu times the second line to the first gives, for every multiplier mu >= 0,
 *   (D + mu) T  >=  W + min over sets S with the hub of ((2 + mu) c(S) + mu w(S)).
 * With mu = 0 this is the bound by the average load, with a large mu the least load of a device with the hub; with mu
 * in between the bound can be above both.  The minimum is a minimum cut, as for closures (least_load.c), and any flow
 * is a lower bound of it.
 *
 * The bounds of several hubs, on one device or on several, add up: each hub has a multiplier and a flow of its own.
 * But all flows together must use a net for twice its cost at most, beside mu times the cost for each flow, since the
 * first line counts each net twice only.  (A net with a pin on the host is paid by one device at least, which W counts;
 * so one payment of it is left instead of two.)  So each flow leaves less for the following flows.
 *
 * Readers: a dear net that many vertices read may be paid by many devices.  If its pins are on j devices, each of these
 * pays it, and together they hold a set S with all pins: j T >= w(S) + c(S) + j times the net's cost.  So S is one more
 * hub, whose multiplier counts j times.  Each j from 1 on is a case with a bound of its own, and the last case is "j or
 * more" (without the second line); the least bound of all cases holds.
 *
 * Potential 0 of problem.h gives the weights, so that the loads of devices of several kinds can be added up.  Hubs are
 * added one by one, beginning with the hubs whose nets cost most; then the multiplier of each hub in use is improved
 * once more, with what the flows of the other hubs leave.  As mu grows, the cheapest set S gets a smaller load; the
 * best multiplier is the one at which the load of S falls below the bound.  It is found by Newton's method: the cost of
 * each set is a straight line in mu (Dinkelbach, Management Science 13 (1967)).  Cost: some flows for each hub and
 * number j, within the work allowed. */
#include "passes/bounds/hub_bound.h"

#include "ir/base/keyed.h"
#include "ir/base/max_flow.h"
#include "ir/base/units.h"
#include "passes/bounds/explain.h"

#include <assert.h>

enum {
    UNIT = 256, /* multipliers are in units of 1 / UNIT */
    /* the largest sum of multipliers: MOST / UNIT times all weights must stay below 2^62 */
    MOST = 4 * UNIT,
    TRIES = 5,      /* number of multipliers tried for a hub at a time, at most */
    HUBS = 8,       /* number of vertices tried, at most */
    READERS = 8,    /* the largest number j of devices with pins of the dear net */
    FLOWS = 1000,   /* arcs looked at for each vertex, net and pin until some hubs are in use */
    LOOKS = 1 << 24 /* arcs looked at between two looks at the clock */
};

/* A hub, and the flow from it. */
struct hub {
    uint32_t v; /* the hub's vertex; UINT32_MAX: all pins of the dear net together are the hub */
    uint32_t m; /* the hub's multiplier, in 1 / UNIT; 0: the hub is not used */
    /* number of devices that hold the hub (j in the head of this file): the multiplier counts for each of them */
    uint32_t times;
    int64_t flow; /* ps: the value of the flow */
    /* [net] ps: part of the net's payments, which all hubs share, that this flow uses */
    int64_t *used;
};

/* A search for the bound: the hubs in use, and what their flows leave. */
struct hubs {
    const struct problem *c;
    struct arena *a;
    struct clock *clock;
    uint64_t work; /* arcs that may still be looked at */
    /* [net] ps: part of the net's payments, which all hubs share, that no flow uses yet */
    int64_t *left;
    uint32_t *arc; /* [net] the net's arc in the network; UINT32_MAX: none */
    struct hub hub[HUBS + 1];
    /* number of hubs that are vertices; sum over all hubs of multiplier * devices */
    uint32_t n, m;
    /* ps: sum of the flows of all hubs, plus payments of the dear net that W does not count */
    int64_t flow;
    /* net: the dear net, UINT32_MAX: none.  The present case: pins of this net are on exactly `devices` devices; last:
     * on at least as many; devices = 0: on any number */
    uint32_t net, devices;
    bool last;
};

/* Returns the number of pins of net e. */
static uint32_t pins_of(const struct wdag *g, uint32_t e)
{
    return g->net_pin.at[e + 1] - g->net_pin.at[e];
}

/* Returns m / UNIT of x ps, rounded down. */
static int64_t share(int64_t x, uint32_t m)
{
    return (int64_t)((__int128)x * m / UNIT);
}

/* Returns what the devices of hub h pay for the dear net, ps; 0 unless h is all pins of that net, on several devices.
 */
static int64_t paid_by(const struct hubs *s, const struct hub *h)
{
    if (h->v != UINT32_MAX || h->times == 1)
        return 0;
    return (h->times - s->c->g->net_host[s->net]) * s->c->pot[0].net[s->net];
}

/* Returns the network for hub h with multiplier m, in s->a: the vertices, two nodes for each net, the sink, the source.
 * A cut around a set of vertices costs m / UNIT of the weight of each vertex in the set, m / UNIT of the cost of each
 * net with the host that has pins in the set, and, for each net that leaves the set, the capacity of the net's arc
 * (s->arc). */
static struct flow make_network(struct hubs *s, const struct hub *h, uint32_t m)
{
    const struct wdag *g = s->c->g;
    const struct problem_pot *p = &s->c->pot[0];
    uint32_t sink = g->n + 2 * g->nnet;
    struct flow f =
        flow_new(sink + 2, 2 * g->n + 1 + 2 * g->nnet + 2 * g->net_pin.at[g->nnet], s->a);
    for (uint32_t v = 0; v < g->n; v++)
        flow_arc(&f, v, sink, share(p->w[v], m));
    for (uint32_t e = 0; e < g->nnet; e++) {
        uint32_t in = g->n + 2 * e, out = in + 1;
        int64_t own = share(p->net[e], m); /* the net's cost within m / UNIT of the device's load */
        s->arc[e] = UINT32_MAX;
        if (pins_of(g, e) < 2 || p->net[e] == 0)
            continue;
        if (g->net_host[e]) /* the device pays it even if the set has all pins */
            flow_arc(&f, in, sink, own);
        s->arc[e] = f.narc;
        flow_arc(&f, in, out, smaller(s->left[e] + (g->net_host[e] ? 0 : own), FLOW_INF));
        for_row (pin, g->net_pin, e) {
            flow_arc(&f, pin, in, FLOW_INF);
            flow_arc(&f, out, pin, FLOW_INF);
        }
    }
    /* the source, node sink + 1, leads to the vertices that the hub's device must hold */
    if (h->v != UINT32_MAX)
        flow_arc(&f, sink + 1, h->v, FLOW_INF);
    else
        for_row (pin, g->net_pin, s->net)
            flow_arc(&f, sink + 1, pin, FLOW_INF);
    s->work -= smaller_u64(f.narc / 8 + 1, s->work); /* making the network is work, too */
    return f;
}

/* What a set of vertices costs, as a straight line in the multiplier m: once + m / UNIT * load, ps. */
struct line {
    int64_t once, load;
};

/* Returns the cost of the set that holds the vertices with side[vertex] = 1 for hub h.  once: what is left of the
 * shared payments of the nets that leave the set; load: the load of the devices that hold the set. */
static struct line line_of(const struct hubs *s, const struct hub *h, const uint8_t *side)
{
    const struct wdag *g = s->c->g;
    const struct problem_pot *p = &s->c->pot[0];
    struct line x = {.load = paid_by(s, h)};
    for (uint32_t v = 0; v < g->n; v++)
        x.load += side[v] ? p->w[v] : 0;
    for (uint32_t e = 0; e < g->nnet; e++) {
        uint32_t n = pins_of(g, e), in = 0;
        for_row (pin, g->net_pin, e)
            in += side[pin];
        bool leaves = in > 0 && in < n;
        if (leaves)
            x.once += s->left[e];
        /* a net with the host is paid even if all its vertices are in the set */
        if (leaves || (in > 0 && n > 1 && g->net_host[e]))
            x.load += p->net[e];
    }
    return x;
}

/* Returns (W + flow) / (D + m / UNIT), ps, rounded up, where D is the number of devices, each multiplied by the scale
 * of its kind in potential 0, and m by the largest of these scales; 0 if there are no devices. */
static int64_t bound_of(const struct problem *c, uint32_t m, int64_t flow)
{
    const struct problem_pot *p = &c->pot[0];
    int64_t most = 0;
    __int128 devices = 0, whole = (__int128)p->total + flow;
    for (uint32_t k = 0; k < c->nkind; k++) {
        devices += (__int128)c->kind[k].count * p->scale[k];
        most = larger(p->scale[k], most);
    }
    devices = devices * UNIT + (__int128)most * m;
    whole *= (int64_t)UNIT << SCALE_BITS;
    return devices ? (int64_t)((whole + devices - 1) / devices) : 0;
}

/* Returns what hub h with multiplier m adds to the sum of flows, ps: a flow in what the other hubs leave, plus, if h is
 * all pins of the dear net, m / UNIT of what its devices pay for that net.  If `used` is not NULL, writes to used[net]
 * how much of the net's shared payments the flow uses; if `cut` is not NULL, writes the cost of the set of the minimum
 * cut to *cut. */
static int64_t send(struct hubs *s, const struct hub *h, uint32_t m, int64_t *used,
                    struct line *cut)
{
    const struct wdag *g = s->c->g;
    struct arena_mark mark = arena_mark(s->a);
    struct flow f = make_network(s, h, m);
    uint32_t sink = g->n + 2 * g->nnet;
    int64_t flow = share(paid_by(s, h), m);
    for (bool more = true; more && s->work && !clock_out(s->clock);) {
        uint64_t given = smaller_u64(s->work, LOOKS), left = given;
        flow += flow_max(&f, sink + 1, sink, &left); /* goes on from the flow so far */
        s->work -= given - left;
        more = left == 0;
    }
    if (cut)
        *cut = line_of(s, h, flow_side(&f, sink + 1));
    /* the capacity of the opposite arc (^ 1) is the flow through the net's arc; of this, m / UNIT of the net's cost is
     * not a shared payment but part of the load */
    for (uint32_t e = 0; used && e < g->nnet; e++) {
        int64_t own = g->net_host[e] ? 0 : share(s->c->pot[0].net[e], m);
        used[e] = s->arc[e] == UINT32_MAX ? 0 : larger(f.room[s->arc[e] ^ 1] - own, 0);
        assert(used[e] <= s->left[e]);
    }
    arena_release(s->a, mark);
    return flow;
}

/* by = 1: removes hub h from the sums s->m and s->flow, and adds what its flow uses to s->left again; by = -1: undoes
 * this. */
static void take_out(struct hubs *s, const struct hub *h, int by)
{
    uint32_t m = h->m * h->times;
    s->m = by > 0 ? s->m - m : s->m + m;
    s->flow -= by * h->flow;
    for (uint32_t e = 0; h->m && e < s->c->g->nnet; e++)
        s->left[e] += by * h->used[e];
}

/* Returns whether two lines cost the same at each multiplier. */
static bool is_same(struct line a, struct line b)
{
    return a.once == b.once && a.load == b.load;
}

/* Returns the multiplier at which the sets of the two lines cost the same, or the nearest one above lo and below hi. */
static uint32_t where_equal(struct line low, struct line high, uint32_t lo, uint32_t hi)
{
    __int128 rise = (__int128)low.load - high.load;
    __int128 m = rise > 0 ? ((__int128)high.once - low.once) * UNIT / rise : hi;
    if (m <= lo)
        return lo + 1;
    return m >= hi ? hi - 1 : (uint32_t)m;
}

/* Changes the multiplier of hub h if another one gives a higher bound.  The best multiplier is one at which a set with
 * a load above the bound (low; at first all vertices) costs the same as a set with a load below the bound (high; at
 * first the hub alone), and no other set costs less. */
static void improve_hub(struct hubs *s, struct hub *h)
{
    const struct wdag *g = s->c->g;
    struct arena_mark mark = arena_mark(s->a);
    uint8_t *alone = arena_alloc(s->a, (size_t)g->n + 1);
    int64_t best = bound_of(s->c, s->m, s->flow);
    uint32_t lo = 0, hi, found = 0;
    take_out(s, h, 1);
    hi = (MOST - s->m) / h->times + 1; /* so that the sum of all multipliers is MOST at most */
    if (h->v != UINT32_MAX)
        alone[h->v] = 1;
    else
        for_row (pin, g->net_pin, s->net)
            alone[pin] = 1;
    struct line low = {.load = s->c->pot[0].total}, high = line_of(s, h, alone), cut;
    for (uint32_t i = 0; i < TRIES && lo + 1 < hi && s->work && !clock_out(s->clock); i++) {
        uint32_t m = where_equal(low, high, lo, hi);
        int64_t flow = send(s, h, m, NULL, &cut);
        int64_t value = bound_of(s->c, s->m + m * h->times, s->flow + flow);
        bool above = cut.load > (__int128)h->times * value; /* the load is above the bound */
        /* no set costs less at m than low and high: m is the best */
        bool same = is_same(cut, low) || is_same(cut, high);
        if (value > best) {
            best = value;
            found = m;
        }
        if (above) {
            lo = m;
            low = cut;
        } else {
            hi = m;
            high = cut;
        }
        if (same)
            break;
    }
    arena_release(s->a, mark);
    if (found) {
        h->m = found;
        h->flow = send(s, h, found, h->used, NULL);
    }
    take_out(s, h, -1);
}

/* ---- hubs and cases ---------------------------------------------------------------------------- */

/* Returns the cost of the nets of vertex v, ps, without the two dearest nets. */
static int64_t beyond_chain(const struct problem *c, uint32_t v)
{
    int64_t sum = 0, first = 0, second = 0;
    for_row (e, c->net_of, v) {
        int64_t cost = c->pot[0].net[e];
        sum = sat_add(sum, cost);
        second = larger(second, smaller(first, cost));
        first = larger(first, cost);
    }
    return sum - first - second;
}

struct keyed *hub_order(const struct problem *c, struct arena *a)
{
    struct keyed *of = arena_array(a, (size_t)c->g->n + 1, sizeof *of);
    for (uint32_t v = 0; v < c->g->n; v++)
        of[v] = (struct keyed){-beyond_chain(c, v), v};
    keyed_sort(of, c->g->n);
    return of;
}

/* Returns the hubs to try, with no case begun: the first vertices of hub_order(), and behind them all pins of the dear
 * net.  O(pins + V log V). */
static struct hubs choose_hubs(const struct problem *c, struct arena *a)
{
    const struct wdag *g = c->g;
    struct hubs s = {.c = c, .a = a, .n = smaller_u32(HUBS, g->n), .net = UINT32_MAX};
    const struct keyed *of = hub_order(c, a);
    s.left = arena_array(a, (size_t)g->nnet + 1, sizeof *s.left);
    s.arc = arena_array(a, (size_t)g->nnet + 1, sizeof *s.arc);
    for (uint32_t i = 0; i <= s.n; i++) /* hub number s.n: all pins of the dear net */
        s.hub[i] = (struct hub){.v = i < s.n ? of[i].item : UINT32_MAX,
                                .times = 1,
                                .used = arena_array(a, (size_t)g->nnet + 1, sizeof(int64_t))};
    return s;
}

/* Begins a case (see struct hubs) without any flow.  devices: number of devices with pins of the dear net s->net, the
 * least number if s->last; 0: any number. */
static void begin_case(struct hubs *s, uint32_t devices)
{
    const struct wdag *g = s->c->g;
    const int64_t *cost = s->c->pot[0].net;
    s->m = 0;
    s->flow = 0;
    s->devices = devices;
    for (uint32_t i = 0; i <= HUBS; i++) {
        s->hub[i].m = 0;
        s->hub[i].flow = 0;
    }
    for (uint32_t e = 0; e < g->nnet; e++)
        s->left[e] = (g->net_host[e] ? 1 : 2) * cost[e];
    if (devices == 0)
        return;
    /* what the devices pay for the dear net is added to s->flow right here, so no flow may use it */
    s->left[s->net] = 0;
    s->flow = devices > 1 ? (devices - g->net_host[s->net]) * cost[s->net] : 0;
    s->hub[s->n].times = devices;
}

/* Improves all hubs of a case with at most `work` arcs, and returns the bound, ps. */
static int64_t run_case(struct hubs *s, uint64_t work, struct clock *clock)
{
    /* hub number s->n is all pins of the dear net; it is of use only if the number of its devices is known exactly */
    uint32_t n = s->n + (s->devices && !s->last);
    s->work = work;
    /* the first n turns improve all hubs, the next n turns only the hubs in use */
    for (uint32_t i = 0; i < 2 * n && s->work && !clock_out(clock); i++)
        if (i < n || s->hub[i - n].m)
            improve_hub(s, &s->hub[i % n]);
    return bound_of(s->c, s->m, s->flow);
}

uint32_t hub_dear_net(const struct problem *c)
{
    uint32_t best = UINT32_MAX;
    for (uint32_t e = 0; e < c->g->nnet; e++)
        if (pins_of(c->g, e) > 2 && c->pot[0].net[e] > c->pot[0].total / HUB_DEAR &&
            (best == UINT32_MAX || c->pot[0].net[e] > c->pot[0].net[best]))
            best = e;
    return best;
}

/* ---- the argument ------------------------------------------------------------------------------ */

/* Adds to the text the lines about one case, whose bound is `value` ps. */
static void prove_case(struct explain *e, const struct hubs *s, int64_t value)
{
    const struct problem *c = s->c;
    /* s->flow without the hubs' flows: what the devices pay for the dear net */
    int64_t paid = s->flow;
    for (uint32_t i = 0; i <= s->n; i++)
        paid -= s->hub[i].m ? s->hub[i].flow : 0;
    if (s->devices)
        explain_add(e, "if they are on %u device%s%s, these pay that transfer, %s\n", s->devices,
                    s->devices == 1 ? "" : "s", s->last ? " or more" : "", explain_time(e, paid));
    for (uint32_t i = 0; i <= s->n; i++)
        if (s->hub[i].m)
            explain_add(e, "  %s by %s, %u/%d of its load\n", explain_time(e, s->hub[i].flow),
                        s->hub[i].v == UINT32_MAX ? "the devices of all of them"
                                                  : e->name[s->hub[i].v],
                        s->hub[i].m, UNIT);
    explain_add(e, "  devices with loads of at most T hold at most");
    for (uint32_t k = 0; k < c->nkind; k++)
        explain_add(e, "%s %u * %s", k ? " +" : "", c->kind[k].count,
                    explain_share(e, c->pot[0].scale[k]));
    explain_add(e, " + %u/%d times T: (%s + %s) / that = %s\n", s->m, UNIT,
                explain_time(e, c->pot[0].total), explain_time(e, s->flow), explain_time(e, value));
}

/* Adds to the text the lines that come before all cases. */
static void begin_proof(struct explain *e, const struct problem *c)
{
    explain_add(e, "nodes and transfers that somebody pays: %s\n",
                explain_time(e, c->pot[0].total));
    explain_add(
        e,
        "what leaves the device of a node is paid twice; that, and the share given of the device's load, is "
        "by a minimum cut at least the time given (each payment counts for one of the nodes only)\n");
}

/* Adds to the text which vertices the dear net has. */
static void name_readers(struct explain *e, const struct hubs *s)
{
    const struct csr *pins = &s->c->g->net_pin;
    explain_add(e, "one value is read or made by ");
    explain_set(e, pins->to + pins->at[s->net], pins_of(s->c->g, s->net));
    explain_add(e, "\n");
}

/* Returns the least bound of all cases of how many devices have pins of the dear net, with its proof in with->mem.
 * Lowers *work by the arcs looked at. */
static struct bound bound_by_readers(struct hubs *s, uint64_t *work, const struct bound_means *with)
{
    struct bound b = {.value = 0};
    uint32_t ndev = 0, most;
    for (uint32_t k = 0; k < s->c->nkind; k++)
        ndev += s->c->kind[k].count;
    most = smaller_u32(smaller_u32(ndev, READERS), pins_of(s->c->g, s->net));
    struct explain e = explain_new(s->c, with->m, with->mem);
    begin_proof(&e, s->c);
    name_readers(&e, s);
    for (uint32_t j = 1; j <= most; j++) {
        uint64_t part = *work / (most - j + 1);
        s->last = j == most;
        begin_case(s, j);
        int64_t value = run_case(s, part, with->clock);
        *work -= part - s->work;
        b.value = j == 1 ? value : smaller(value, b.value);
        prove_case(&e, s, value);
    }
    explain_add(&e, "no plan takes less than the least of these, %s\n", explain_time(&e, b.value));
    b.proof = explain_text(&e);
    return b;
}

/* Returns the bound if there is no dear net, from all hubs that are vertices, with its proof in with->mem.  Lowers
 * *work by the arcs looked at. */
static struct bound bound_by_hubs(struct hubs *s, uint64_t *work, const struct bound_means *with)
{
    struct explain e = explain_new(s->c, with->m, with->mem);
    begin_case(s, 0);
    struct bound b = {.value = run_case(s, *work, with->clock)};
    *work = s->work;
    begin_proof(&e, s->c);
    prove_case(&e, s, b.value);
    explain_add(&e, "no plan takes less\n");
    b.proof = explain_text(&e);
    return b;
}

struct bound hub_bound(const struct problem *c, const struct bound_means *with, uint64_t *spent)
{
    assert(!c->detailed);
    struct arena *own = arena_new(with->scratch);
    struct hubs s = choose_hubs(c, own);
    uint64_t left = with->work;
    s.net = hub_dear_net(c);
    s.clock = with->clock;
    struct bound b =
        s.net == UINT32_MAX ? bound_by_hubs(&s, &left, with) : bound_by_readers(&s, &left, with);
    b.why = "what the devices of some nodes must hold or receive";
    *spent = with->work - left;
    arena_free(own);
    return b;
}

uint64_t hub_least_work(const struct problem *c)
{
    const struct wdag *g = c->g;
    return FLOWS * ((uint64_t)g->n + g->nnet + g->net_pin.at[g->nnet]);
}
