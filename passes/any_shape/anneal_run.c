/* Does one run of simulated annealing over plans of any shape (anneal_run.h).
 *
 * Source: Kirkpatrick, Gelatt, Vecchi, "Optimization by simulated annealing", Science 220 (1983); the loads are
 * those of the placement paper, 5.1.  Most moves do not change the largest load; therefore annealing minimises not
 * the largest load, but an energy: the sum over the devices of what their loads exceed a target by, plus a small
 * share of all loads, plus a price for each byte of memory that a device lacks.  The target is a little below the
 * best value known.
 *
 * Three moves: a vertex goes to a device that one of its nets touches; two vertices change places; a clump of
 * vertices, bonded by costly nets, goes to another device.  Clumps matter where transfers take longer than
 * computing: there no single vertex can leave its neighbours.  A move is made if the energy rises by less than
 * T * -ln u, for a random u in (0, 1); the temperature T falls geometrically.
 *
 * Cost: O(nets of the vertices moved) per move. */
#include "passes/any_shape/anneal_run.h"

#include "ir/base/log2_int.h"
#include "ir/base/random.h"

#include <assert.h>
#include <string.h>

enum {
    SPAN_BITS = 47, /* bits of the energy of one device, at most */
    /* added to the energy of a plan's value, so that temperatures are above 0 even if the plan takes no time */
    LEAST_UNIT = 1 << 20,
    STEP = 64,        /* a step: moves after which all energies are worked out anew */
    CLOCK_STEPS = 64, /* steps between two looks at the clock */
    COOLINGS = 4096,  /* times that the temperature falls in a run, at most */
    BOND_PINS = 64,   /* nets with more pins than this bond no vertices */
    /* clumps have up to 2^SMALL_SIZES vertices in graphs of up to LARGE vertices, and up to twice as many for each
     * doubling of the graph's size */
    SMALL_SIZES = 7,
    LARGE = 500,
    LN2 = 11629080 /* ln 2 << FIXED_BITS */
};

/* The state of a run. */
struct anneal_walker {
    struct loads l;
    const struct anneal_tables *t;
    int64_t **plain; /* [kind][net] ps: costs of nets (loads.cost) without a surcharge */
    /* [kind][net] ps: costs of nets with the surcharge of the present run; NULL: no run has a surcharge */
    int64_t **surcharged;
    int64_t surcharge; /* ps: surcharge of the present run */
    uint64_t rng;      /* state of the random numbers */
    int64_t *energy;   /* [device] the device's part of the energy */
    /* [kind] the share of a load that counts as energy in any case, in 1 / 2^16 */
    int64_t share[PROBLEM_KINDS];
    /* [kind] the energy of a byte that the device lacks, in 1 / 2^20 */
    int64_t price[PROBLEM_KINDS];
    int64_t target;      /* ps: loads above it count as energy; pass_loads: forward loads */
    int64_t target_back; /* ps; pass_loads: backward loads above it count as energy */
    /* pass_loads: share of the forward pass in the value of the best plan, in 1 / 2^16 */
    int64_t forward;
    int64_t heat; /* the temperature, in units of energy / 2^16 */
    /* the device with the largest load when update_energies() was last called */
    uint32_t worst;
    uint32_t *list;        /* the vertices of the present clump */
    uint32_t *mark, stamp; /* mark[vertex] == stamp: the vertex is in the present clump */
    uint32_t sizes;        /* clumps have up to 2^sizes vertices */
    /* an empty set, which has_room() fills with the vertices of a device; NULL: sums of bytes are enough */
    struct set_memory *at_once;
    struct anneal_run *run;
    uint64_t left; /* number of moves left */
};

/* ---- tables ---------------------------------------------------------------------------------- */

void anneal_tables_make(struct anneal_tables *t, const struct loads *l, int64_t surcharge,
                        struct arena *a)
{
    const struct problem *c = l->c;
    int64_t most = 1, sum = 0;
    t->surcharge = surcharge;
    for (uint32_t k = 0; k < c->nkind; k++) {
        int64_t all = 0;
        for (uint32_t v = 0; v < c->g->n; v++)
            all = sat_add(all, c->kind[k].time[v] == COST_NEVER ? 0 : c->kind[k].time[v]);
        for (uint32_t e = 0; e < l->nnet; e++) {
            all = sat_add(all, sat_add(l->cost[k][e], surcharge));
            sum = sat_add(sum, l->cost[k][e]);
        }
        most = larger(all, most);
    }
    /* up, down: the shifts by which `most`, the largest load that a device can have, gets SPAN_BITS bits */
    t->up = t->down = 0;
    while (most >> t->down >> SPAN_BITS)
        t->down++;
    while (!(most << t->up >> (SPAN_BITS - 1)))
        t->up++;
    int64_t mean = 1 + (l->nnet ? sum / ((int64_t)l->nnet * c->nkind) : 0);
    /* from mean / 20 to 20 * mean, which is 400 times as much */
    int64_t low = fixed_log2((uint64_t)mean / 20 + 1), span = fixed_log2(400);
    t->tau = arena_array(a, ANNEAL_TAUS, sizeof *t->tau);
    for (uint32_t i = 0; i < ANNEAL_TAUS; i++)
        t->tau[i] = (int64_t)fixed_exp2(low + span * i / ANNEAL_TAUS);
    t->wait = arena_array(a, ANNEAL_WAITS, sizeof *t->wait);
    int64_t one = fixed_log2(2 * ANNEAL_WAITS); /* u = (2 i + 1) / (2 * ANNEAL_WAITS) */
    for (uint32_t i = 0; i < ANNEAL_WAITS; i++)
        t->wait[i] = (uint32_t)(((one - fixed_log2(2 * i + 1)) * LN2) >> (2 * FIXED_BITS - 16));
}

struct anneal_walker *anneal_walker_new(const struct loads *l, const struct anneal_tables *t,
                                        struct arena *a)
{
    struct anneal_walker *m = arena_alloc(a, sizeof *m);
    uint32_t n = l->c->g->n;
    loads_twin(&m->l, l, a);
    m->t = t;
    m->plain = m->l.cost;
    m->surcharged =
        t->surcharge ? arena_array(a, (size_t)l->c->nkind + 1, sizeof *m->surcharged) : NULL;
    for (uint32_t k = 0; t->surcharge && k < l->c->nkind; k++)
        m->surcharged[k] = arena_array(a, (size_t)l->nnet + 1, sizeof **m->surcharged);
    m->energy = arena_array(a, (size_t)l->ndev + 1, sizeof *m->energy);
    m->list = arena_array(a, (size_t)n + 1, sizeof *m->list);
    m->mark = arena_array(a, (size_t)n + 1, sizeof *m->mark);
    m->at_once = l->c->values ? set_memory_new(l->c->values, a) : NULL;
    m->sizes = SMALL_SIZES;
    for (uint32_t i = n; i > LARGE; i /= 2)
        m->sizes++;
    return m;
}

/* Returns an exponentially distributed random number with this mean. */
static inline int64_t draw_wait(struct anneal_walker *m, int64_t mean)
{
    /* 12 random bits are a number below ANNEAL_WAITS; the table is in 1 / 2^16 */
    return (int64_t)(((__int128)mean * m->t->wait[random_bits(&m->rng) >> 52]) >> 16);
}

/* Returns a random number in [lo, hi] whose logarithm is uniform; lo >= 1. */
static int64_t draw_log_uniform(uint64_t *rng, int64_t lo, int64_t hi)
{
    int64_t a = fixed_log2((uint64_t)lo), b = fixed_log2((uint64_t)hi);
    int64_t y = a + (int64_t)(((__int128)(b - a) * (random_bits(rng) >> 32)) >> 32);
    return (int64_t)fixed_exp2(y);
}

/* ---- energy ---------------------------------------------------------------------------------- */

/* Returns the energy that a time of `ps` stands for. */
static inline int64_t energy_of_time(const struct anneal_tables *t, int64_t ps)
{
    return ps << t->up >> t->down;
}

/* Returns the energy of device d if it has these loads and bytes.  load: ps, of the forward pass if passes have loads
 * of their own; back: ps of the backward pass, else 0. */
static inline int64_t energy_of(const struct anneal_walker *m, uint32_t d, int64_t load,
                                int64_t back, int64_t bytes)
{
    uint32_t k = m->l.kind[d];
    int64_t e = load > m->target ? energy_of_time(m->t, load - m->target) : 0;
    e += back > m->target_back ? energy_of_time(m->t, back - m->target_back) : 0;
    e += (energy_of_time(m->t, load + back) * m->share[k]) >> 16;
    int64_t over = bytes - m->l.c->kind[k].memory;
    if (over > 0) {
        __int128 price = ((__int128)over * m->price[k]) >> 20;
        e += price >> SPAN_BITS ? INT64_C(1) << SPAN_BITS : (int64_t)price;
    }
    return e;
}

/* Works out all energies anew, and finds the device with the largest load (m->worst). */
static void update_energies(struct anneal_walker *m)
{
    m->worst = 0;
    for (uint32_t d = 0; d < m->l.ndev; d++) {
        const struct loads *l = &m->l;
        m->energy[d] = energy_of(m, d, l->load[d], l->back[d], l->bytes[d]);
        if (l->load[d] + l->back[d] > l->load[m->worst] + l->back[m->worst])
            m->worst = d;
    }
}

/* Sets the target at random: 0 to 10 % below the best value, small distances more often, but not below the lower bound.
 * pass_loads: divides the target between the two passes as the best plan does, with a random shift of up to a sixteenth
 * of the target. */
static void choose_target(struct anneal_walker *m)
{
    int64_t value = m->run->value, r = random_below(&m->rng, 1 << 16);
    m->target = value - (int64_t)(((__int128)value * r * r / 10) >> 32);
    m->target = larger(m->target, m->l.c->lower.value);
    if (!m->l.c->pass_loads)
        return;
    int64_t forward = m->forward + random_below(&m->rng, 1 << 13) - (1 << 12);
    forward = smaller(larger(forward, 0), 1 << 16);
    m->target_back = m->target - (int64_t)(((__int128)m->target * forward) >> 16);
    m->target -= m->target_back;
}

/* Sets m->forward to the share of the forward pass in the present plan's value. */
static void find_forward(struct anneal_walker *m)
{
    int64_t most = 0, value = loads_value(&m->l);
    for (uint32_t d = 0; d < m->l.ndev; d++)
        most = larger(m->l.load[d], most);
    m->forward = value ? (int64_t)(((__int128)most << 16) / value) : 0;
}

/* Returns whether each device has room for what its vertices need at one time.  O(V + pins * log V). */
static bool has_room(struct anneal_walker *m)
{
    const struct loads *l = &m->l;
    bool good = true;
    for (uint32_t d = 0; d < l->ndev && m->at_once && good; d++) {
        for (uint32_t v = 0; v < l->c->g->n; v++)
            if (l->dev[v] == (int32_t)d)
                set_memory_add(m->at_once, v);
        good = l->bytes[d] + set_memory_peak(m->at_once) <= l->c->kind[l->kind[d]].room;
        set_memory_clear(m->at_once);
    }
    return good;
}

enum { LOOKS_PER_MOVE = 4 }; /* vertices that has_room() looks at in the time of a move */

/* Keeps the present plan as the run's best one, and chooses a new target, if the plan is better and fits the memory.
 * a, b: the devices whose loads have just changed; they are checked first. */
static void keep_if_better(struct anneal_walker *m, uint32_t a, uint32_t b)
{
    const struct loads *l = &m->l;
    struct anneal_run *r = m->run;
    if (l->load[a] >= r->value || l->load[b] >= r->value)
        return; /* the usual case, seen at once */
    for (uint32_t d = 0; d < l->ndev; d++)
        if (l->load[d] >= r->value || l->bytes[d] > l->c->kind[l->kind[d]].memory)
            return;
    if (l->c->pass_loads && loads_value(l) >= r->value)
        return;
    if (m->at_once) { /* the look at all devices counts as moves */
        uint64_t looks = l->c->g->n / LOOKS_PER_MOVE;
        m->left = m->left > looks ? m->left - looks : 0;
    }
    if (!has_room(m))
        return;
    r->value = loads_value(l);
    r->better = true;
    memcpy(r->dev, l->dev, l->c->g->n * sizeof *r->dev);
    if (l->c->pass_loads)
        find_forward(m);
    choose_target(m);
    update_energies(m);
}

/* ---- moves ----------------------------------------------------------------------------------- */

/* Returns whether v may be on device d. */
static inline bool allows(const struct anneal_walker *m, uint32_t v, uint32_t d)
{
    return loads_allows(&m->l, v, d);
}

/* Returns the energy of device d after the change *x of loads; i is the index of d in the change. */
static inline int64_t energy_after(const struct anneal_walker *m, uint32_t d,
                                   const struct loads_change *x, int i)
{
    const struct loads *l = &m->l;
    return energy_of(m, d, l->load[d] + x->load[i], l->back[d] + x->back[i],
                     l->bytes[d] + x->bytes[i]);
}

/* Moves v to another device b if the energy rises by at most `most`; returns whether v was moved. */
static bool try_single(struct anneal_walker *m, uint32_t v, uint32_t b, int64_t most)
{
    struct loads *l = &m->l;
    uint32_t a = (uint32_t)l->dev[v];
    struct loads_change x = loads_peek(l, v, b);
    int64_t ea = energy_after(m, a, &x, 0), eb = energy_after(m, b, &x, 1);
    if (ea - m->energy[a] + eb - m->energy[b] > most)
        return false;
    loads_move(l, v, (int32_t)b);
    m->energy[a] = ea;
    m->energy[b] = eb;
    keep_if_better(m, a, b);
    return true;
}

/* Returns a random device that one of v's nets touches; one time in eight, or if the device drawn is v's own, any
 * device. */
static uint32_t draw_device(struct anneal_walker *m, uint32_t v)
{
    const struct loads *l = &m->l;
    uint32_t from = l->net_of.at[v], nets = l->net_of.at[v + 1] - from;
    if (nets && random_below(&m->rng, 8)) {
        uint32_t e = l->net_of.to[from + random_below(&m->rng, nets)], at = l->pin.at[e];
        uint32_t u = l->pin.to[at + random_below(&m->rng, l->pin.at[e + 1] - at)];
        if (l->dev[u] != l->dev[v])
            return (uint32_t)l->dev[u];
    }
    return random_below(&m->rng, l->ndev);
}

/* Moves a random vertex to a random device, if it may be there and the energy does not rise too much; counts as a
 * move. */
static void move_single(struct anneal_walker *m)
{
    uint32_t v = random_below(&m->rng, m->l.c->g->n), b = draw_device(m, v);
    int64_t most = draw_wait(m, m->heat) >> 16;
    m->left--;
    if (b != (uint32_t)m->l.dev[v] && allows(m, v, b))
        try_single(m, v, b, most);
}

/* Exchanges the devices of two random vertices, if they may be there and the energy does not rise too much; counts as
 * two moves. */
static void swap_two(struct anneal_walker *m)
{
    struct loads *l = &m->l;
    uint32_t n = l->c->g->n, v = random_below(&m->rng, n), w = random_below(&m->rng, n);
    uint32_t a = (uint32_t)l->dev[v], b = (uint32_t)l->dev[w];
    int64_t most = draw_wait(m, m->heat) >> 16;
    m->left -= m->left > 1 ? 2 : 1;
    if (a == b || !allows(m, v, b) || !allows(m, w, a))
        return;
    struct loads_change x = loads_peek_swap(l, v, w);
    int64_t ea = energy_after(m, a, &x, 0), eb = energy_after(m, b, &x, 1);
    if (ea - m->energy[a] + eb - m->energy[b] > most)
        return;
    loads_move(l, v, (int32_t)b);
    loads_move(l, w, (int32_t)a);
    m->energy[a] = ea;
    m->energy[b] = eb;
    keep_if_better(m, a, b);
}

/* Returns a random vertex to grow a clump from; one time in four a vertex of the device with the largest load, if 16
 * draws find one. */
static uint32_t draw_seed(struct anneal_walker *m)
{
    uint32_t n = m->l.c->g->n, v = random_below(&m->rng, n);
    if (random_below(&m->rng, 4) == 0)
        for (int i = 0; i < 16 && (uint32_t)m->l.dev[v] != m->worst; i++)
            v = random_below(&m->rng, n);
    return v;
}

/* Fills m->list with a clump: the seed, and vertices on the seed's device that nets bond to the clump.  Costlier
 * nets bond with a higher probability; `most` vertices at most.  Returns their number. */
static uint32_t grow_clump(struct anneal_walker *m, uint32_t seed, uint32_t most)
{
    const struct loads *l = &m->l;
    uint32_t n = 0;
    int32_t a = l->dev[seed];
    int64_t tau = m->t->tau[random_below(&m->rng, ANNEAL_TAUS)];
    /* a new stamp unmarks all vertices; when stamps have run out, marks are cleared */
    if (++m->stamp == 0) {
        memset(m->mark, 0, l->c->g->n * sizeof *m->mark);
        m->stamp = 1;
    }
    m->mark[seed] = m->stamp;
    m->list[n++] = seed;
    for (uint32_t i = 0; i < n && n < most; i++) {
        uint32_t v = m->list[i];
        for (uint32_t j = l->net_of.at[v]; j < l->net_of.at[v + 1] && n < most; j++) {
            /* a net bonds the clump if it has few pins, if several pins are on the device, and if it wins a draw
             * whose odds grow with its cost */
            uint32_t e = l->net_of.to[j];
            if (l->pins[e] > BOND_PINS || l->held[(size_t)e * l->ndev + (uint32_t)a] < 2 ||
                draw_wait(m, tau) > l->cost[l->kind[a]][e])
                continue;
            for (uint32_t k = l->pin.at[e]; k < l->pin.at[e + 1] && n < most; k++) {
                uint32_t u = l->pin.to[k];
                if (l->dev[u] == a && m->mark[u] != m->stamp) {
                    m->mark[u] = m->stamp;
                    m->list[n++] = u;
                }
            }
        }
    }
    return n;
}

/* Grows a clump from a random vertex, to a size of at most a random power of two, and moves it to a random device
 * if all its vertices may be there and the energy does not rise too much; counts as a move for each vertex of the
 * clump. */
static void move_clump(struct anneal_walker *m)
{
    struct loads *l = &m->l;
    uint32_t v = draw_seed(m), a = (uint32_t)l->dev[v];
    uint32_t n = grow_clump(m, v, 2U << random_below(&m->rng, m->sizes));
    uint32_t b = draw_device(m, m->list[random_below(&m->rng, n)]);
    int64_t most = draw_wait(m, m->heat) >> 16;
    m->left -= smaller_u64(m->left, n);
    if (b == a)
        return;
    for (uint32_t i = 0; i < n; i++)
        if (!allows(m, m->list[i], b))
            return;
    if (n == 1) {
        try_single(m, v, b, most);
        return;
    }
    for (uint32_t i = 0; i < n; i++)
        loads_move(l, m->list[i], (int32_t)b);
    const struct loads_change none = {0}; /* the loads include the move already */
    int64_t ea = energy_after(m, a, &none, 0), eb = energy_after(m, b, &none, 1);
    if (ea - m->energy[a] + eb - m->energy[b] > most) {
        for (uint32_t i = n; i-- > 0;)
            loads_move(l, m->list[i], (int32_t)a);
        return;
    }
    m->energy[a] = ea;
    m->energy[b] = eb;
    keep_if_better(m, a, b);
}

/* ---- the run --------------------------------------------------------------------------------- */

/* Chooses at random the share of the loads that counts as energy in any case (0, or up to 0.03), and the price of
 * bytes: a device that lacks a hundredth of its memory adds a tenth or a hundredth of `unit` to the energy.  unit:
 * energy that stands for the plan's value. */
static void choose_weights(struct anneal_walker *m, int64_t unit)
{
    const struct problem *c = m->l.c;
    int64_t share = random_below(&m->rng, 3) ? random_below(&m->rng, 1966) : 0; /* up to 0.03 */
    int64_t weight = random_below(&m->rng, 2) ? 1 : 10;
    for (uint32_t k = 0; k < c->nkind; k++) {
        int64_t memory = c->kind[k].memory > 0 ? c->kind[k].memory : 1;
        m->share[k] = c->cluster->cls[c->kind[k].cls].host ? 0 : share;
        __int128 price = ((__int128)weight * unit << 20) / memory;
        m->price[k] = price >> 40 ? INT64_C(1) << 40 : (int64_t)price + 1; /* 1 .. 2^40 */
    }
}

/* Sets the first temperature at random, between 0.2 and 6 % of the plan's value (warm: at most three tenths of that);
 * returns the factor, times 2^32, by which the temperature falls each of `coolings` times, to a last one between 0.001
 * and 0.01 %.  unit: as for choose_weights(). */
static int64_t choose_heat(struct anneal_walker *m, int64_t unit, uint64_t coolings)
{
    int64_t hot = draw_log_uniform(&m->rng, unit / 500, unit * 6 / 100);
    int64_t cold = draw_log_uniform(&m->rng, unit / 100000, unit / 10000);
    if (m->run->warm)
        hot = draw_log_uniform(&m->rng, cold, hot * 3 / 10);
    m->heat = hot << 16;
    int64_t fall = fixed_log2((uint64_t)cold) - fixed_log2((uint64_t)hot);
    return (int64_t)fixed_exp2_q32(fall / (int64_t)coolings);
}

/* Tries the moves of a step: of ten moves, on average, one moves a vertex, one moves a clump, and eight exchange
 * two vertices. */
static void make_moves(struct anneal_walker *m)
{
    uint64_t until = m->left > STEP ? m->left - STEP : 0;
    while (m->left > until) {
        uint32_t kind = random_below(&m->rng, 10);
        if (kind == 0)
            move_single(m);
        else if (kind == 1)
            move_clump(m);
        else
            swap_two(m);
    }
}

/* Takes all vertices off their devices if run r needs other copies of stages or other costs of nets: loads_share()
 * and the costs of nets may only change while no vertex has a device. */
static void clear_plan(struct anneal_walker *m, const struct anneal_run *r)
{
    struct loads *l = &m->l;
    bool other = l->copies != NULL || m->surcharge != r->surcharge;
    for (uint32_t v = 0; other && v < l->c->g->n; v++)
        loads_move(l, v, NOWHERE);
}

/* Sets m->l to the plan that run r starts from, with the costs of nets in that run. */
static void start_from(struct anneal_walker *m, const struct anneal_run *r)
{
    struct loads *l = &m->l;
    clear_plan(m, r);
    if (r->surcharge && r->surcharge != m->surcharge)
        for (uint32_t k = 0; k < l->c->nkind; k++)
            for (uint32_t e = 0; e < l->nnet; e++)
                m->surcharged[k][e] = sat_add(m->plain[k][e], r->surcharge);
    m->surcharge = r->surcharge;
    l->cost = r->surcharge ? m->surcharged : m->plain;
    loads_share(l, r->copies);
    loads_set(l, r->dev);
}

void anneal_run(struct anneal_walker *m, struct anneal_run *r, struct clock *clock)
{
    assert(r->surcharge >= 0 && r->surcharge <= m->t->surcharge);
    assert(!m->l.copies || r->copies);
    uint64_t steps = r->moves / STEP;
    uint64_t each = 1 + steps / COOLINGS; /* steps between two coolings */
    m->run = r;
    m->rng = r->seed;
    m->left = r->moves;
    r->better = false;
    start_from(m, r);
    int64_t value = r->value < LOAD_INF ? r->value : loads_value(&m->l);
    int64_t unit = energy_of_time(m->t, value) + LEAST_UNIT;
    choose_weights(m, unit);
    /* the factor of one cooling, times 2^32 */
    int64_t factor = choose_heat(m, unit, 1 + steps / each);
    /* until there is a plan to improve, loads count as energy as far as they are above the lower bound */
    m->target = m->l.c->lower.value;
    m->target_back = 0;
    find_forward(m);
    if (r->value < LOAD_INF)
        choose_target(m);
    update_energies(m);
    keep_if_better(m, 0, 0); /* the plan at the start may be better than the best one known */
    for (uint64_t i = 1; m->left && r->value > m->l.c->lower.value; i++) {
        make_moves(m);
        update_energies(m);
        if (i % each == 0)
            m->heat = (int64_t)(((__int128)m->heat * factor) >> 32);
        if (i % CLOCK_STEPS == 0 && clock_out(clock))
            break;
    }
    r->done = r->moves - m->left;
}
