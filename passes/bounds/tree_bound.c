/* Finds lower bounds by trees of transfers (tree_bound.h).
 *
 * Idea: where everything is connected with everything by many short ways, as in random graphs or in the butterfly of a
 * Fourier transform, no device can hold its share of the model without many transfers.  A tree leads from one vertex,
 * its root, over nets to all vertices and brings each vertex v the amount w(v), its weight.  A net carries the weights
 * of all vertices behind it in the tree.  Take R trees with any roots, and choose f such that f times the amount that
 * a net carries in all trees is at most the net's cost, for every net.  Let W be the weight of all vertices.  Let a
 * device hold the set S, whose weight is x and which has r of the roots.  All that is brought from a root in S to a
 * vertex outside S, or from a root outside S to a vertex in S, goes over nets that leave S, and the device pays for
 * these nets.  So its load is at least
 *   x + f (r (W - x) + (R - r) x)  =  x (1 + phi) + f r (W - 2 x),   where phi = f R.
 * Let T be the largest load, D the number of devices.  Either some device has x > W / 2; then r <= R gives T >= min(W,
 * W (1 + phi) / 2).  Or all have x <= W / 2, thus x <= T / (1 + phi), and the sum over all devices is
 *   D T  >=  W (1 + phi) + phi max(0, W - 2 T / (1 + phi)).
 * The bound is the lesser of the two.  Devices of several kinds count by the scales of a potential (problem.h), which
 * gives the weights.  The weights of vertices that trees do not reach, and what rounding down takes from weights,
 * count in no x, only in the sum over all devices.  So does one payment of each net with a pin on the host; half of
 * the cost of such a net is then left for each device that it leaves.
 *
 * CPUs pay no transfers.  If there are CPUs, the weights are times on accelerators.  CPUs hold a weight of H T at
 * most, where H is the largest quotient of weight and time on a CPU, summed over the CPUs; and at most as many roots
 * as so much weight can have if T is below the value of the best plan known.  Then the weight and the roots of CPUs
 * are taken off the sum over all devices, and no payment for the host counts in it.
 *
 * The largest f for given roots is the value of a concurrent flow between all pairs of vertices (Leighton and Rao, J.
 * ACM 46 (1999)).  The trees come nearer to it one by one: each is a tree of shortest ways, where the length of a net
 * grows with a power of the amount that earlier trees make it carry, relative to its cost (Shahrokhi and Matula, J.
 * ACM 37 (1990), with a power in place of the exponential function).  Later trees count more often than early trees,
 * when little was known of what nets carry.  Any trees give a valid bound.
 *
 * How good it is: in a graph that expands like a random graph, a way between two of V vertices has about log V nets;
 * the bound is too low by about this factor.  For 500 vertices with values that four of 500 others read, drawn at
 * random, each value as long to send as a vertex to run, phi is 0.141.  Eigenvalues (the second least one of a
 * quadratic form that is nowhere above what nets cost) would give phi = 1/6, for any number of vertices; the best plan
 * known for two devices pays 0.42.  In random regular graphs no polynomial method is expected to prove more crossing
 * edges than eigenvalues do: conjectured, with evidence, by Bandeira, Banks, Kunisky, Moore, Wein, "Spectral planting
 * and the hardness of refuting cuts, colorability, and communities in random graphs" (COLT 2021).
 *
 * Cost: O(pins + nets log V) for each tree. */
#include "passes/bounds/tree_bound.h"

#include "ir/base/heap.h"
#include "ir/base/random.h"
#include "ir/base/units.h"
#include "passes/bounds/explain.h"

#include <assert.h>

enum {
    FIRST = 16, /* number of trees after which phi tells whether to go on */
    HOPE = 4,   /* a search ends if even HOPE times the present phi would give no better bound */
    IDLE = 4,   /* a search ends if the last 1 / IDLE of its trees did not raise the bound */
    /* the first EPOCH trees count once each, the next EPOCH trees twice each, and so on */
    EPOCH = 16,
    MOST_TIMES = 1048576, /* no more trees are made when R (trees.times) has reached this number */
    /* one tree brings less than 2^WEIGHT_BITS units of 2^shift ps to all vertices together, so that the amount that a
     * net carries for all trees stays below 2^61 */
    WEIGHT_BITS = 40,
    /* The length of a net is (FLAT + x)^4 * y.  x: how full the net is, the amount carried over its cost, in a scale in
     * which the fullest net has STEEP; y: 16 times (the largest cost of a net over this net's cost), at most DEARER */
    FLAT = 32,
    STEEP = 512,
    DEARER = 1048576,
    PHI_BITS = 20,      /* phi (head of this file) is in units of 2^-PHI_BITS */
    PHI_MOST = 67108864 /* larger values of phi count as PHI_MOST */
};
#define UNREACHED UINT32_MAX
#define CAP_MOST (INT64_C(1) << 50) /* ps: nets that cost more count as costing this */

/* A search for trees: the trees made so far, and the present one. */
struct trees {
    const struct problem *c;
    /* the potential that gives the weights; the one of accelerators if there are CPUs */
    const struct problem_pot *pot;
    /* ps: value of the best plan known; only plans with smaller values count */
    int64_t upper;
    /* H (head of this file) in units of 2^-SCALE_BITS; 0: CPUs hold nothing */
    int64_t hosts;
    bool cpus; /* true: there are CPUs */
    /* state of random numbers; number of pins that may still be looked at */
    uint64_t rng, work;
    uint32_t shift; /* a tree brings w >> shift to a vertex of weight w */
    /* [net] ps that a device pays for a net which leaves it; 0: trees do not use the net */
    int64_t *cap;
    int64_t *carried; /* [net] weight that all trees send over the net, in units of 2^shift ps */
    int64_t *length;  /* [net] length for the next tree; 0: trees do not use the net */
    /* the present tree: far[vertex]: length of the way from the root to the vertex; by[vertex]: the last net of that
     * way; from[net]: the vertex from which the tree entered the net, UNREACHED: none */
    int64_t *far;
    uint32_t *by, *from;
    uint32_t *order; /* the vertices in the order in which the present tree reaches them */
    /* [vertex] weight that the present tree brings to the vertex and to all vertices behind it */
    int64_t *behind;
    struct heap heap;
    uint32_t *root, nroot; /* the nroot vertices that may be roots, in random order */
    uint32_t *rooted;      /* [vertex] how often, in sum, the trees with the vertex as root count */
    /* number of trees; R: sum of how often each tree counts */
    uint32_t trees, times;
    /* ps.  mass: W, the weight of all vertices that trees reach; rest: what counts in the sum over all devices, but in
     * no x (head of this file) */
    int64_t mass, rest;
};

/* What some trees prove. */
struct proven {
    int64_t value;   /* ps: no plan takes less */
    int64_t phi;     /* phi (head of this file), in units of 2^-PHI_BITS */
    int64_t stay;    /* phi less the share of the roots that may be on CPUs */
    uint32_t net;    /* the net that carries most relative to its cost */
    int64_t carried; /* what that net carries, in units of 2^shift ps */
    uint32_t times;  /* R: sum of how often each tree counts */
};

/* ---- one tree ---------------------------------------------------------------------------------- */

/* Makes the tree of shortest ways from `root` (Dijkstra) to all vertices that nets with a length connect with the root;
 * fills s->far, s->by, s->from, and s->order with the nearest vertex first.  Returns the number of vertices reached,
 * the root included. */
static uint32_t grow(struct trees *s, uint32_t root)
{
    const struct wdag *g = s->c->g;
    uint32_t n = 0;
    for (uint32_t v = 0; v < g->n; v++)
        s->far[v] = INT64_MAX;
    for (uint32_t e = 0; e < g->nnet; e++)
        s->from[e] = UNREACHED;
    s->far[root] = 0;
    s->by[root] = UNREACHED;
    heap_push(&s->heap, 0, 0, root);
    s->work -= smaller_u64(s->work, g->n + g->nnet);
    while (s->heap.n) {
        struct heap_entry at = heap_pop(&s->heap);
        if (at.key > s->far[at.item])
            continue; /* the vertex has been reached on a shorter way */
        s->order[n++] = at.item;
        for_row (e, s->c->net_of, at.item) {
            if (s->length[e] == 0 || s->from[e] != UNREACHED)
                continue;
            int64_t far = sat_add(at.key, s->length[e]);
            s->from[e] = at.item;
            s->work -= smaller_u64(s->work, g->net_pin.at[e + 1] - g->net_pin.at[e]);
            for_row (pin, g->net_pin, e)
                if (far < s->far[pin]) {
                    s->far[pin] = far;
                    s->by[pin] = e;
                    heap_push(&s->heap, far, 0, pin);
                }
        }
    }
    return n;
}

/* Adds to s->carried what the present tree, which reaches n vertices and counts `times` times, makes each net carry. */
static void send(struct trees *s, uint32_t n, uint32_t times)
{
    for (uint32_t i = 0; i < n; i++)
        s->behind[s->order[i]] = s->pot->w[s->order[i]] >> s->shift;
    /* from the last vertex reached to the first one behind the root, order[0] */
    for (uint32_t i = n; i-- > 1;) {
        uint32_t v = s->order[i], e = s->by[v];
        s->carried[e] += s->behind[v] * times;
        s->behind[s->from[e]] += s->behind[v];
    }
}

/* Sets the lengths of all nets from the amounts that they carry and from their costs (formula: see FLAT).  dearest: the
 * largest cost of a net, ps. */
static void set_lengths(struct trees *s, int64_t dearest)
{
    const uint32_t nnet = s->c->g->nnet;
    uint32_t most = UNREACHED; /* the fullest net: the net that carries most relative to its cost */
    for (uint32_t e = 0; e < nnet; e++)
        if (s->cap[e] && (most == UNREACHED || (__int128)s->carried[e] * s->cap[most] >
                                                   (__int128)s->carried[most] * s->cap[e]))
            most = e;
    for (uint32_t e = 0; e < nnet; e++) {
        if (s->cap[e] == 0)
            continue;
        /* how full the net is, in a scale in which the fullest net has STEEP */
        __int128 full = 0;
        if (s->carried[most])
            full = (__int128)s->carried[e] * s->cap[most] / s->carried[most] * STEEP / s->cap[e];
        int64_t base = FLAT + (int64_t)full;
        s->length[e] = base * base * base * base * smaller(16 * (dearest / s->cap[e]), DEARER);
    }
}

/* ---- the bound --------------------------------------------------------------------------------- */

/* Returns x / y rounded up, at most LOAD_INF; y > 0. */
static int64_t divide_up(__int128 x, __int128 y)
{
    __int128 q = (x + y - 1) / y;
    return q < LOAD_INF ? (int64_t)q : LOAD_INF;
}

/* Returns an upper limit, for plans below s->upper, of how often the trees with roots on CPUs count, in sum. */
static int64_t roots_on_hosts(const struct trees *s)
{
    __int128 most = 0, held = ((__int128)s->hosts * s->upper >> SCALE_BITS) + 1;
    for (uint32_t i = 0; i < s->nroot && s->hosts; i++) {
        uint32_t v = s->root[i];
        int64_t mass = s->pot->w[v] >> s->shift << s->shift;
        /* the number if all that CPUs hold had as many trees for its weight as v has */
        __int128 n = (s->rooted[v] * held + mass - 1) / mass;
        most = n > most ? n : most;
    }
    return most < s->times ? (int64_t)most : s->times;
}

/* Returns the bound, ps, that follows from phi: the lesser of the bounds for the two cases in the head of this file, at
 * most s->upper.  stay: phi less the share of the roots that may be on CPUs. */
static int64_t bound_of(const struct trees *s, int64_t phi, int64_t stay)
{
    const __int128 one = (__int128)1 << PHI_BITS, scale = (__int128)1 << SCALE_BITS;
    __int128 devices = 0, most = 0, w = s->mass, both = one + phi;
    for (uint32_t k = 0; k < s->c->nkind; k++) {
        devices += s->pot->scale[k] > 0 ? (__int128)s->c->kind[k].count * s->pot->scale[k] : 0;
        most = s->pot->scale[k] > most ? s->pot->scale[k] : most;
    }
    if (devices == 0)
        return 0;
    devices += (s->hosts * both + one - 1) / one;
    /* case 1: some device holds more than half of the weight */
    __int128 half = w * both / (2 * one);
    int64_t large = divide_up((half < w ? half : w) * scale, most);
    /* case 2: no device holds more than half; `even` is the bound without the max() term, `small` with it */
    int64_t even = divide_up((w * both / one + s->rest) * scale, devices);
    __int128 all = w * (both + stay) / one + s->rest;
    /* + 1: the divisor is rounded down */
    int64_t small =
        divide_up(all * both / one * scale, (devices * both + 2 * stay * most) / one + 1);
    return smaller(smaller(large, larger(even, small)), s->upper);
}

/* Returns what the trees so far prove: phi is R times the least quotient, over all nets, of a net's cost and the amount
 * that it carries. */
static struct proven prove(const struct trees *s)
{
    struct proven p = {.phi = PHI_MOST, .net = UNREACHED, .times = s->times};
    for (uint32_t e = 0; e < s->c->g->nnet; e++) {
        if (s->carried[e] == 0)
            continue;
        /* carried in units of 2^shift ps of weight */
        __int128 phi = (((__int128)s->cap[e] * s->times) << PHI_BITS >> s->shift) / s->carried[e];
        if (phi < p.phi) {
            p.phi = (int64_t)phi;
            p.net = e;
            p.carried = s->carried[e];
        }
    }
    p.stay = (int64_t)((__int128)p.phi * (s->times - roots_on_hosts(s)) / s->times);
    p.value = p.net == UNREACHED ? 0 : bound_of(s, p.phi, p.stay);
    return p;
}

/* ---- the search -------------------------------------------------------------------------------- */

/* Fills s->cap: what a device pays for each net that leaves it, ps, at most CAP_MOST; half of that for a net with the
 * host unless there are CPUs (head of this file).  Returns the largest entry. */
static int64_t set_caps(struct trees *s)
{
    const struct wdag *g = s->c->g;
    int64_t dearest = 0;
    for (uint32_t e = 0; e < g->nnet; e++) {
        if (g->net_pin.at[e + 1] - g->net_pin.at[e] > 1)
            s->cap[e] = smaller(s->pot->net[e] / (g->net_host[e] && !s->cpus ? 2 : 1), CAP_MOST);
        dearest = larger(s->cap[e], dearest);
    }
    return dearest;
}

/* Returns H (head of this file): the most weight that all CPUs together hold for each ps of load, in units of
 * 2^-SCALE_BITS; at most LOAD_INF, which also stands for "any weight". */
static int64_t hosts_hold(const struct problem *c, const struct problem_pot *p)
{
    int64_t all = 0;
    for (uint32_t k = 0; k < c->nkind; k++) {
        if (p->scale[k] >= 0)
            continue; /* not CPUs */
        /* the largest quotient of a vertex's weight and its time on devices of kind k */
        __int128 best = 0;
        for (uint32_t v = 0; v < c->g->n; v++) {
            int64_t time = c->kind[k].time[v];
            if (time == COST_NEVER || p->w[v] == 0)
                continue;
            __int128 rate = time ? (((__int128)p->w[v] << SCALE_BITS) + time - 1) / time : LOAD_INF;
            best = rate > best ? rate : best;
        }
        all = sat_add(all, sat_mul(c->kind[k].count, best < LOAD_INF ? (int64_t)best : LOAD_INF));
    }
    return smaller(all, LOAD_INF);
}

/* Fills s->root, in random order, with the vertices that nets connect with the heaviest vertex and whose weight is not
 * 0 after the shift.  Sets s->nroot, s->shift, s->mass and s->rest. */
static void choose_roots(struct trees *s)
{
    const struct problem_pot *p = s->pot;
    uint32_t heaviest = 0;
    int64_t sum = 0;
    for (uint32_t v = 0; v < s->c->g->n; v++) {
        heaviest = p->w[v] > p->w[heaviest] ? v : heaviest;
        sum += p->w[v];
    }
    while (sum >> s->shift >> WEIGHT_BITS)
        s->shift++;
    uint32_t n = grow(s, heaviest);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t v = s->order[i], at;
        if (p->w[v] >> s->shift == 0)
            continue;
        s->mass += p->w[v] >> s->shift << s->shift;
        /* v takes a random place in root[]; the root that was there goes to the end */
        at = random_below(&s->rng, ++s->nroot);
        s->root[s->nroot - 1] = s->root[at];
        s->root[at] = v;
    }
    s->rest = (s->cpus ? sum : p->total) - s->mass;
}

/* Makes trees until work or time is used up, or until more trees can hardly raise the bound.  Proves a bound after each
 * new tree, and returns the best one.  known: a bound known before, ps; dearest: as for set_lengths(). */
static struct proven make_trees(struct trees *s, int64_t known, int64_t dearest,
                                struct clock *clock)
{
    struct proven best = {.value = 0};
    uint32_t since = 0; /* number of trees with which `best` was proven */
    while (s->work && s->times < MOST_TIMES && !clock_out(clock)) {
        uint32_t times = 1 + s->trees / EPOCH;
        uint32_t root = s->root[s->trees % s->nroot];
        send(s, grow(s, root), times);
        s->rooted[root] += times;
        s->trees++;
        s->times += times;
        set_lengths(s, dearest);
        struct proven now = prove(s);
        if (now.value > best.value || best.value == 0) {
            best = now;
            since = s->trees;
        }
        /* the first net behind the root carries all that the tree brings, so few trees prove little: hope for more */
        int64_t hope = smaller(HOPE * now.phi * larger(FIRST / s->trees, 1), PHI_MOST);
        if (bound_of(s, hope, hope) <= known || best.value == s->upper ||
            s->trees - since > FIRST + s->trees / IDLE)
            break;
    }
    return best;
}

/* Adds to the text how much weight devices with loads of at most T can hold. */
static void explain_held(struct explain *e, const struct trees *s, const struct proven *p)
{
    explain_add(e, "devices with loads of at most T hold at most");
    for (uint32_t k = 0, n = 0; k < s->c->nkind; k++)
        if (s->pot->scale[k] >= 0)
            explain_add(e, "%s %u * %s", n++ ? " +" : "", s->c->kind[k].count,
                        explain_share(e, s->pot->scale[k]));
    explain_add(e, " times T\n");
    if (s->cpus)
        explain_add(
            e,
            "CPUs hold at most %s times T, and so much of the nodes that trees lead from that "
            "%lld/%d is left for the others\n",
            explain_share(e, s->hosts), (long long)p->stay, 1 << PHI_BITS);
}

/* Returns the proof, as a text in with->mem, that no plan takes less than p->value. */
static const char *write_proof(const struct trees *s, const struct proven *p,
                               const struct bound_means *with)
{
    const struct problem *c = s->c;
    struct explain e = explain_new(c, with->m, with->mem);
    const char *phi = arena_fmt(with->mem, "%lld/%d", (long long)p->phi, 1 << PHI_BITS);
    explain_add(&e,
                "trees of transfers, %u in all, lead from some nodes to all nodes that transfers "
                "join, and bring each what it takes, rounded down to a multiple of %lld ps: %s\n",
                p->times, 1LL << s->shift, explain_time(&e, s->mass));
    explain_add(
        &e,
        "the one that carries most for what it takes, of %s, takes %s%s and carries %lld times "
        "%lld ps: %s of what %u trees bring\n",
        e.name[c->g->net_pin.to[c->g->net_pin.at[p->net]]], explain_time(&e, s->cap[p->net]),
        c->g->net_host[p->net] && !s->cpus ? ", half of it," : "", (long long)p->carried,
        1LL << s->shift, phi, p->times);
    explain_add(
        &e,
        "so a device that holds x of these %s, half at most, pays transfers of %s of x; one that "
        "holds more, of %s of what it does not hold\n",
        explain_time(&e, s->mass), phi, phi);
    explain_add(&e, "beside that all devices together have loads of %s\n",
                explain_time(&e, s->rest));
    explain_held(&e, s, p);
    explain_add(
        &e, "so no plan takes less than %s: if no device holds more than half, or if one does\n",
        explain_time(&e, p->value));
    return explain_text(&e);
}

/* Allocates the arrays of *s for the graph g, in a. */
static void allocate_trees(struct trees *s, const struct wdag *g, struct arena *a)
{
    s->cap = arena_array(a, (size_t)g->nnet + 1, sizeof *s->cap);
    s->carried = arena_array(a, (size_t)g->nnet + 1, sizeof *s->carried);
    s->length = arena_array(a, (size_t)g->nnet + 1, sizeof *s->length);
    s->from = arena_array(a, (size_t)g->nnet + 1, sizeof *s->from);
    s->far = arena_array(a, (size_t)g->n + 1, sizeof *s->far);
    s->by = arena_array(a, (size_t)g->n + 1, sizeof *s->by);
    s->order = arena_array(a, (size_t)g->n + 1, sizeof *s->order);
    s->behind = arena_array(a, (size_t)g->n + 1, sizeof *s->behind);
    s->root = arena_array(a, (size_t)g->n + 1, sizeof *s->root);
    s->rooted = arena_array(a, (size_t)g->n + 1, sizeof *s->rooted);
}

struct bound tree_bound(const struct problem *c, int64_t known, int64_t upper,
                        const struct bound_means *with, uint64_t *spent)
{
    assert(!c->detailed);
    const struct wdag *g = c->g;
    struct arena *own = arena_new(with->scratch);
    struct trees s = {.c = c, .upper = upper, .rng = 1, .work = with->work, .heap.a = own};
    struct bound b = {.why = "what must cross where all nodes are near each other"};
    allocate_trees(&s, g, own);
    s.pot = &c->pot[c->cross_pot];
    /* only CPUs have no scale (below 0) in this potential */
    for (uint32_t k = 0; k < c->nkind; k++)
        s.cpus = s.cpus || s.pot->scale[k] < 0;
    s.hosts = hosts_hold(c, s.pot);
    int64_t dearest = set_caps(&s);
    /* if no transfer costs anything, or CPUs can hold everything, no roots are chosen, and the bound is 0 */
    if (g->n && dearest && s.hosts < LOAD_INF) {
        set_lengths(&s, dearest);
        choose_roots(&s);
    }
    struct proven p = {.value = 0};
    if (s.nroot > 1)
        p = make_trees(&s, known, dearest, with->clock);
    b.value = p.value;
    b.proof = p.value > known ? write_proof(&s, &p, with) : NULL;
    *spent = with->work - s.work;
    arena_free(own);
    return b;
}
