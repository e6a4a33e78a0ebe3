/* Makes the integer program for one sample that passes through a plan alone, by subgraphs (subgraph_model.h).
 *
 * Source: the placement paper (Tarnawski et al., NeurIPS 2020), appendix A: Figure 6, which with one slot is Figure 5,
 * and Lemma A.1.  Numbers in brackets are those of the paper's rows.  x[v,j] = 1 iff unit v is at place j, a slot or a
 * class of hosts.
 *     (1)  sum_j x[v,j] = 1;  units that must share a device have the same sum of x over the slots of each device
 *          (with one slot they have the same columns)
 *     (2)  z[v,s] >= x[v,s];  z[u,s] >= z[v,s] and z[v,s] <= x[v,s] - x[u,s] + 1 along each edge u -> v
 *     (3*) the bytes of all slots of a device fit its memory
 *     (4), (5)  in[e,s] >= x[v,s] - x[u,s],  out[e,s] >= x[u,s] - x[v,s]  for a value e from u to v
 *     (6)  start[s] >= L[u] - H (1 - in[e,s])
 *     (7)  finish[s] = start[s] + transfers in + units + transfers out (+ what running a part costs)
 *     (8), (9)  L[v] >= L[u] + time of v, if it is on a host
 *     (10) L[v] >= finish[s] - H (1 - x[v,s])
 *     (14) start[s] >= finish[the subgraph before s on its device]
 * and T >= L[v] where no unit reads v.  L[v] is when v's results are in the host's memory; H is the most that T may be.
 * In training graphs a slot has two subgraphs: first the forward ones run in the order of slots, then the backward ones
 * in the reverse order; (2) holds for each pass by itself.
 *
 * Some rows follow from these if all x are whole numbers, but are added since they tighten the relaxation: T is no less
 * than the last finish of a device; T is no less than L[v] plus the longest way on from a unit v on a host; L[v], and
 * the start of each subgraph that v's value goes into, are no less than the longest way up to v.  A way is the time of
 * a path of the graph: the sum of the fastest times of its units, without transfers.
 *
 * Subgraphs that wait for each other in a circle cannot meet (6) to (14) unless the whole circle takes no time.  Where
 * that may be, the model has the rows (6) to (14) once more with a step of 1 in place of each time, which no circle can
 * meet.
 *
 * A unit has no column for a place where it cannot be.  Accelerators that are alike are numbered in the order in which
 * the classes of units, sorted by falling time, first use them.  Cost: O(terms), at most MIP_MOST_TERMS. */
#include "passes/integer/subgraph_model.h"

#include "passes/integer/mip_units.h"

#include <assert.h>
#include <string.h>

/* relative tolerance: the limit is raised by this share, so that a solver's rounding does not exclude a plan at the
 * limit */
#define TOLERANCE 1e-8

enum { COLUMN_T = 0 }; /* number of the column T, which is made first */

/* A value that units other than its maker read: either it is transferred, or its readers just wait for the maker to
 * end. */
struct crossing {
    /* the unit that makes the value; UINT32_MAX: none does, the value is an input of the model */
    uint32_t src;
    uint32_t net;      /* the value's net; UINT32_MAX: nothing is moved */
    uint32_t from, to; /* the readers are builder.reader[from .. to - 1] */
};

/* A model that is being built.  A unit is a vertex of g.  A class of units has the units that must share a device
 * (subgraph_ask.together); other classes are device classes of the cluster. */
struct builder {
    struct subgraph_model *m;
    const struct problem *c;
    const struct wdag *g;
    struct mip *p;
    struct arena *a;
    uint32_t n, npass; /* number of units; number of passes: 2 in training graphs, else 1 */
    /* number of subgraphs; subgraph i * npass is that of slot i (in training, in the forward pass), i * npass + 1 that
     * of slot i in the backward pass */
    uint32_t nsub;
    const char **sub;       /* [subgraph] name of the subgraph */
    uint32_t *first_of;     /* [class of units] the first unit of the class */
    struct crossing *cross; /* the ncross values that may go from one subgraph to another */
    uint32_t ncross, capcross;
    uint32_t *reader, nreader, capreader; /* [nreader] readers of all crossings: numbers of units */
    /* [crossing * nsub + subgraph] columns that are 1 if the value goes into, or out of, the subgraph */
    uint32_t *in, *out;
    double most; /* H, the upper limit of T, in the model's unit of time */
    /* [unit] ps.  way_to: the longest way up to the end of the unit; way_on: the longest way from the end of the unit
     * to the end of the graph */
    int64_t *way_to, *way_on;
};

/* Returns the time t, in ps, in the model's unit of time. */
static double in_time(const struct builder *b, int64_t t)
{
    return (double)t / (double)b->m->unit;
}

/* ---- places ------------------------------------------------------------------------------------- */

/* Fills m->place: the slots of all accelerators, then the classes of hosts. */
static void make_places(struct builder *b)
{
    struct subgraph_model *m = b->m;
    const struct cluster *cl = b->c->cluster;
    uint32_t slots = m->ask.slots;
    m->place = arena_array(b->a, (size_t)cl->ndev * slots + cl->ncls + 1, sizeof *m->place);
    for (uint32_t d = 0; d < cl->ndev; d++)
        for (uint32_t s = 0; s < slots && !cl->cls[cluster_class(cl, d)].host; s++)
            m->place[m->nplace++] = (struct subgraph_place){
                .dev = d, .slot = s, .cls = cluster_class(cl, d), .kind = problem_kind_of(b->c, d)};
    m->nslot = m->nplace;
    /* the devices of a class stand in a row; last: the class of the device before */
    for (uint32_t d = 0, last = UINT32_MAX; d < cl->ndev; d++) {
        uint32_t k = cluster_class(cl, d);
        if (cl->cls[k].host && k != last)
            m->place[m->nplace++] = (struct subgraph_place){.dev = d, .cls = k, .host = true};
        last = k;
    }
}

/* Returns the name of place j: "acc0", or with several slots "acc0_2". */
static const char *place_name(const struct builder *b, uint32_t j)
{
    const struct subgraph_place *p = &b->m->place[j];
    const char *dev = cluster_device_name(b->c->cluster, b->a, p->dev);
    return b->m->ask.slots > 1 && !p->host ? arena_fmt(b->a, "%s_%u", dev, p->slot + 1) : dev;
}

/* Fills b->sub: the name of the subgraph's place, with "_back" for the backward pass. */
static void name_subgraphs(struct builder *b)
{
    b->sub = arena_array(b->a, (size_t)b->nsub + 1, sizeof *b->sub);
    for (uint32_t s = 0; s < b->nsub; s++)
        b->sub[s] =
            arena_fmt(b->a, "%s%s", place_name(b, s / b->npass), s % b->npass ? "_back" : "");
}

/* Returns the ps that unit v takes at place j: on a class of hosts the least time of its kinds; COST_NEVER: v cannot be
 * there. */
static int64_t time_at(const struct builder *b, uint32_t v, uint32_t j)
{
    const struct subgraph_place *p = &b->m->place[j];
    int64_t least = COST_NEVER;
    if (!p->host)
        return b->c->kind[p->kind].time[v];
    for (uint32_t k = 0; k < b->c->nkind; k++)
        if (b->c->kind[k].cls == p->cls && b->c->kind[k].time[v] < least)
            least = b->c->kind[k].time[v];
    return least;
}

/* Fills b->way_to and b->way_on (struct builder), with each unit at its least time over all kinds. */
static void find_ways(struct builder *b)
{
    const struct wdag *g = b->g;
    int64_t *least = arena_array(b->a, (size_t)b->n + 1, sizeof *least);
    b->way_to = arena_array(b->a, (size_t)b->n + 1, sizeof *b->way_to);
    b->way_on = arena_array(b->a, (size_t)b->n + 1, sizeof *b->way_on);
    for (uint32_t v = 0; v < b->n; v++) {
        least[v] = COST_NEVER;
        for (uint32_t k = 0; k < b->c->nkind; k++)
            least[v] = smaller(b->c->kind[k].time[v], least[v]);
        least[v] = least[v] == COST_NEVER ? 0 : least[v];
        for_row (u, g->pred, v)
            b->way_to[v] = larger(b->way_to[v], b->way_to[u]);
        b->way_to[v] += least[v];
    }
    for (uint32_t v = b->n; v-- > 0;)
        for_row (w, g->succ, v)
            b->way_on[v] = larger(b->way_on[v], b->way_on[w] + least[w]);
}

/* Returns the pass of unit v: 0 forward, 1 backward. */
static uint32_t pass_of(const struct builder *b, uint32_t v)
{
    return b->npass > 1 && b->g->pass[v] == 2;
}

/* ---- where units can be -------------------------------------------------------------------------- */

/* Returns an array [class of units * nplace + place]: 1: all units of the class can be at the place; else 0. */
static uint8_t *find_allowed(const struct builder *b)
{
    const struct subgraph_model *m = b->m;
    uint8_t *may = arena_alloc(b->a, (size_t)m->ask.nclass * m->nplace + 1);
    memset(may, 1, (size_t)m->ask.nclass * m->nplace);
    for (uint32_t v = 0; v < b->n; v++)
        for (uint32_t j = 0; j < m->nplace; j++)
            if (time_at(b, v, j) == COST_NEVER)
                may[(size_t)m->ask.together[v] * m->nplace + j] = 0;
    return may;
}

/* Returns the class of units with the largest time[] (ps) among the classes with taken[] 0; UINT32_MAX: all are
 * taken. */
static uint32_t longest_class(const struct builder *b, const int64_t *time, const uint8_t *taken)
{
    uint32_t best = UINT32_MAX;
    for (uint32_t i = 0; i < b->m->ask.nclass; i++)
        if (!taken[i] && (best == UINT32_MAX || time[i] > time[best]))
            best = i;
    return best;
}

/* Leaves out some plans that differ from others only by exchanging alike devices: the i-th longest class of units,
 * counted from 0, may only be on the first i + 1 devices of kind k.  Sets may[], the result of find_allowed(), to 0
 * for the places that this forbids. */
static void break_symmetry(const struct builder *b, uint32_t k, uint8_t *may)
{
    const struct subgraph_model *m = b->m;
    int64_t *time = arena_array(b->a, (size_t)m->ask.nclass + 1, sizeof *time);
    uint8_t *taken = arena_alloc(b->a, (size_t)m->ask.nclass + 1);
    for (uint32_t v = 0; v < b->n; v++)
        time[m->ask.together[v]] = sat_add(time[m->ask.together[v]], b->c->kind[k].time[v]);
    for (uint32_t i = 0; i + 1 < b->c->kind[k].count; i++) {
        uint32_t cls = longest_class(b, time, taken), at = 0;
        if (cls == UINT32_MAX)
            return;
        taken[cls] = 1;
        for (uint32_t j = 0; j < m->nslot; j++) {
            if (m->place[j].kind != k)
                continue;
            if (at / m->ask.slots > i) /* at: number of slots of kind k before slot j */
                may[(size_t)cls * m->nplace + j] = 0;
            at++;
        }
    }
}

/* Returns the column x of unit v at place j.  On hosts, and everywhere if there is one slot, units of one class share
 * the column of the first unit of the class; else v has a column of its own. */
static uint32_t make_col(struct builder *b, uint32_t v, uint32_t j)
{
    const struct subgraph_model *m = b->m;
    uint32_t first = b->first_of[m->ask.together[v]];
    if (v != first && (m->ask.slots == 1 || m->place[j].host))
        return m->col[(size_t)first * m->nplace + j];
    return mip_bit(b->p, arena_fmt(b->a, "x_%s_%s", m->ask.name[v], place_name(b, j)));
}

/* Adds the row that says: unit v is on the device whose slots begin at place `at` if and only if unit `first` is, the
 * first unit of v's class. */
static void share_device(struct builder *b, uint32_t v, uint32_t first, uint32_t at)
{
    const struct subgraph_model *m = b->m;
    mip_row(b->p, arena_fmt(b->a, "with_%s_%s", m->ask.name[v], place_name(b, at)), 0, 0);
    for (uint32_t j = at; j < at + m->ask.slots; j++) {
        mip_term(b->p, m->col[(size_t)v * m->nplace + j], 1);
        mip_term(b->p, m->col[(size_t)first * m->nplace + j], -1);
    }
}

/* Makes the columns x and rows (1). */
static void make_x(struct builder *b)
{
    struct subgraph_model *m = b->m;
    uint8_t *may = find_allowed(b);
    for (uint32_t k = 0; k < b->c->nkind; k++)
        if (!b->c->cluster->cls[b->c->kind[k].cls].host && b->c->kind[k].count > 1)
            break_symmetry(b, k, may);
    m->col = arena_array(b->a, (size_t)b->n * m->nplace + 1, sizeof *m->col);
    for (uint32_t v = 0; v < b->n; v++) {
        uint32_t *col = &m->col[(size_t)v * m->nplace], places = 0;
        const uint8_t *here = &may[(size_t)m->ask.together[v] * m->nplace];
        uint32_t first = b->first_of[m->ask.together[v]];
        for (uint32_t j = 0; j < m->nplace; j++)
            places += here[j];
        /* a unit that can only be in one place has the constant 1 there */
        for (uint32_t j = 0; j < m->nplace; j++)
            col[j] = !here[j] ? MIP_ZERO : places == 1 ? MIP_ONE : make_col(b, v, j);
        /* with one slot for each device, units that must be together have the columns of the first one */
        if (v != first && m->ask.slots == 1)
            continue;
        mip_row(b->p, arena_fmt(b->a, "one_%s", m->ask.name[v]), 1, 1);
        for (uint32_t j = 0; j < m->nplace; j++)
            mip_term(b->p, col[j], 1);
        for (uint32_t j = 0; v != first && j < m->nslot; j += m->ask.slots)
            share_device(b, v, first, j);
    }
}

/* Returns column x of unit v in subgraph s; MIP_ZERO: v is of the other pass, or cannot be there. */
static uint32_t x_in(const struct builder *b, uint32_t v, uint32_t s)
{
    return pass_of(b, v) == s % b->npass ? b->m->col[(size_t)v * b->m->nplace + s / b->npass]
                                         : MIP_ZERO;
}

/* ---- what crosses ------------------------------------------------------------------------------- */

/* Begins a crossing, which has no readers yet: net `net` of unit src. */
static void begin_crossing(struct builder *b, uint32_t src, uint32_t net)
{
    b->cross = vec_grow(b->a, b->cross, &b->capcross, b->ncross + 1, sizeof *b->cross);
    b->cross[b->ncross++] = (struct crossing){src, net, b->nreader, b->nreader};
}

/* Adds reader v to the last crossing. */
static void add_reader(struct builder *b, uint32_t v)
{
    b->reader = vec_grow(b->a, b->reader, &b->capreader, b->nreader + 1, sizeof *b->reader);
    b->reader[b->nreader++] = v;
    b->cross[b->ncross - 1].to = b->nreader;
}

/* Adds a crossing for each net that unit u makes, and a crossing without a net for the units that wait for u without
 * reading a net of u.  seen: [unit] u + 1 if the unit reads a net of u. */
static void add_crossings_of(struct builder *b, uint32_t u, uint32_t *seen)
{
    const struct wdag *g = b->g;
    for_row (e, g->net_of, u) {
        uint32_t lo = g->net_pin.at[e], hi = g->net_pin.at[e + 1];
        if (g->net_src[e] != u || hi - lo < 2)
            continue;
        begin_crossing(b, u, e);
        for (uint32_t j = lo; j < hi; j++)
            if (g->net_pin.to[j] != u) {
                add_reader(b, g->net_pin.to[j]);
                seen[g->net_pin.to[j]] = u + 1;
            }
    }
    bool more = false;
    for_row (w, g->succ, u) {
        if (seen[w] == u + 1)
            continue;
        if (!more)
            begin_crossing(b, u, UINT32_MAX);
        more = true;
        add_reader(b, w);
    }
}

/* Makes the crossings of all units, and of the model's inputs that two units or more read; the transfer of an input
 * that one unit reads is part of that unit's time.  State (a value without maker that is not on the host) costs
 * nothing. */
static void find_crossings(struct builder *b)
{
    const struct wdag *g = b->g;
    uint32_t *seen = arena_array(b->a, (size_t)b->n + 1, sizeof *seen);
    for (uint32_t u = 0; u < b->n; u++)
        add_crossings_of(b, u, seen);
    for (uint32_t e = 0; e < g->nnet; e++) {
        if (g->net_src[e] != UINT32_MAX || !g->net_host[e] ||
            g->net_pin.at[e + 1] - g->net_pin.at[e] < 2)
            continue;
        begin_crossing(b, UINT32_MAX, e);
        for_row (pin, g->net_pin, e)
            add_reader(b, pin);
    }
}

/* Returns the ps that transferring value *i into subgraph s, or out of it, takes. */
static int64_t cost_at(const struct builder *b, const struct crossing *i, uint32_t s)
{
    return i->net == UINT32_MAX ? 0 : b->g->net_cost[b->m->place[s / b->npass].cls][i->net];
}

/* Returns a name such as "in_NODE_3_acc0" of a column or row of value i and subgraph s. */
static const char *crossing_name(const struct builder *b, const char *what, uint32_t i, uint32_t s)
{
    const struct crossing *v = &b->cross[i];
    return v->src == UINT32_MAX
               ? arena_fmt(b->a, "%s_input%u_%s", what, v->net, b->sub[s])
               : arena_fmt(b->a, "%s_%s_%u_%s", what, b->m->ask.name[v->src], i, b->sub[s]);
}

/* Returns a new column that says that value i goes into subgraph s, with its rows (4).  MIP_ZERO: the value cannot
 * go there, or going there costs nothing and nothing waits for the value. */
static uint32_t make_in(struct builder *b, uint32_t i, uint32_t s)
{
    const struct crossing *v = &b->cross[i];
    /* own: column x of the maker in s; here: number of readers that can be in s */
    uint32_t own = v->src == UINT32_MAX ? MIP_ZERO : x_in(b, v->src, s), here = 0;
    if (own == MIP_ONE || (v->src == UINT32_MAX && !cost_at(b, v, s)))
        return MIP_ZERO;
    for (uint32_t r = v->from; r < v->to; r++)
        here += x_in(b, b->reader[r], s) != MIP_ZERO;
    if (here == 0)
        return MIP_ZERO;
    const char *name = crossing_name(b, "in", i, s);
    uint32_t col = mip_share(b->p, name);
    for (uint32_t r = v->from; r < v->to; r++) {
        uint32_t x = x_in(b, b->reader[r], s);
        if (x == MIP_ZERO || x == own)
            continue;
        mip_row(b->p, arena_fmt(b->a, "%s_%u", name, r - v->from), 0, MIP_INF);
        mip_term(b->p, col, 1);
        mip_term(b->p, x, -1);
        mip_term(b->p, own, 1);
    }
    return col;
}

/* Returns a new column that says that value i goes out of subgraph s, with its rows (5).  MIP_ZERO: the value cannot
 * leave s, or leaving costs nothing. */
static uint32_t make_out(struct builder *b, uint32_t i, uint32_t s)
{
    const struct crossing *v = &b->cross[i];
    uint32_t own = v->src == UINT32_MAX ? MIP_ZERO : x_in(b, v->src, s);
    if (own == MIP_ZERO || !cost_at(b, v, s))
        return MIP_ZERO;
    /* some reader is outside s in every plan with the maker in s */
    bool sure = b->g->net_host[v->net];
    for (uint32_t r = v->from; r < v->to; r++)
        sure = sure || x_in(b, b->reader[r], s) == MIP_ZERO;
    if (sure)
        return own;
    const char *name = crossing_name(b, "out", i, s);
    uint32_t col = mip_share(b->p, name);
    for (uint32_t r = v->from; r < v->to; r++) {
        uint32_t x = x_in(b, b->reader[r], s);
        if (x == own)
            continue;
        mip_row(b->p, arena_fmt(b->a, "%s_%u", name, r - v->from), 0, MIP_INF);
        mip_term(b->p, col, 1);
        mip_term(b->p, own, -1);
        mip_term(b->p, x, 1);
    }
    return col;
}

/* Fills b->in and b->out, the columns of all crossings. */
static void make_transfers(struct builder *b)
{
    size_t n = (size_t)b->ncross * b->nsub + 1;
    b->in = arena_array(b->a, n, sizeof *b->in);
    b->out = arena_array(b->a, n, sizeof *b->out);
    for (uint32_t i = 0; i < b->ncross; i++)
        for (uint32_t s = 0; s < b->nsub; s++) {
            b->in[(size_t)i * b->nsub + s] = make_in(b, i, s);
            b->out[(size_t)i * b->nsub + s] = make_out(b, i, s);
        }
}

/* ---- contiguity --------------------------------------------------------------------------------- */

/* Adds rows (2) of the edges that leave u: z[] are the columns z of subgraph s. */
static void make_paths(struct builder *b, uint32_t s, const uint32_t *z, uint32_t u)
{
    uint32_t x = x_in(b, u, s);
    for_row (v, b->g->succ, u) {
        if (pass_of(b, v) != s % b->npass)
            continue;
        const char *edge = arena_fmt(b->a, "%s_%u_%s", b->m->ask.name[u], v, b->sub[s]);
        mip_row(b->p, arena_fmt(b->a, "path_%s", edge), 0, MIP_INF);
        mip_term(b->p, z[u], 1);
        mip_term(b->p, z[v], -1);
        if (x == MIP_ZERO) /* z[v] <= 1 is all that the next row would say */
            continue;
        mip_row(b->p, arena_fmt(b->a, "gap_%s", edge), -MIP_INF, 1);
        mip_term(b->p, z[v], 1);
        mip_term(b->p, x_in(b, v, s), -1);
        mip_term(b->p, x, 1);
    }
}

/* Makes the columns z and rows (2) of all subgraphs. */
static void make_contiguous(struct builder *b)
{
    uint32_t *z = arena_array(b->a, (size_t)b->n + 1, sizeof *z);
    for (uint32_t s = 0; s < b->nsub; s++) {
        for (uint32_t v = 0; v < b->n; v++)
            z[v] = pass_of(b, v) != s % b->npass
                       ? MIP_ZERO
                       : mip_share(b->p, arena_fmt(b->a, "z_%s_%s", b->m->ask.name[v], b->sub[s]));
        for (uint32_t v = 0; v < b->n; v++) {
            if (z[v] == MIP_ZERO)
                continue;
            if (x_in(b, v, s) != MIP_ZERO) {
                mip_row(b->p, arena_fmt(b->a, "z_in_%s_%s", b->m->ask.name[v], b->sub[s]), 0,
                        MIP_INF);
                mip_term(b->p, z[v], 1);
                mip_term(b->p, x_in(b, v, s), -1);
            }
            make_paths(b, s, z, v);
        }
    }
}

/* ---- time --------------------------------------------------------------------------------------- */

/* Columns that tell when units and subgraphs end: as a time, or as a number of steps, with one step for each unit on
 * a host and for each subgraph. */
struct ends {
    const char *what; /* prefix of names */
    bool steps;
    double most;              /* upper limit of all columns: H, or the largest number of steps */
    uint32_t *unit;           /* [unit] columns L */
    uint32_t *start, *finish; /* [subgraph] columns of its start and its finish */
};

/* Adds to the row that was begun last the terms of row (7), each multiplied by `by`: the times of the units of subgraph
 * s and of its transfers.  Adds nothing if ends are counted in steps. */
static void add_subgraph(struct builder *b, const struct ends *t, uint32_t s, double by)
{
    if (t->steps)
        return;
    for (uint32_t v = 0; v < b->n; v++) {
        uint32_t x = x_in(b, v, s);
        if (x != MIP_ZERO)
            mip_term(b->p, x, by * in_time(b, time_at(b, v, s / b->npass)));
    }
    for (uint32_t i = 0; i < b->ncross; i++) {
        double cost = by * in_time(b, cost_at(b, &b->cross[i], s));
        mip_term(b->p, b->in[(size_t)i * b->nsub + s], cost);
        mip_term(b->p, b->out[(size_t)i * b->nsub + s], cost);
    }
}

/* Returns a new column that is 1 if subgraph s has units; MIP_ZERO: none is needed, since running a part costs
 * nothing. */
static uint32_t make_used(struct builder *b, uint32_t s)
{
    const char *name = arena_fmt(b->a, "used_%s", b->sub[s]);
    if (!b->c->scene->model.part_cost)
        return MIP_ZERO;
    uint32_t used = mip_share(b->p, name);
    for (uint32_t v = 0; v < b->n; v++) {
        uint32_t x = x_in(b, v, s);
        if (x == MIP_ZERO)
            continue;
        mip_row(b->p, arena_fmt(b->a, "%s_by_%u", name, v), 0, MIP_INF);
        mip_term(b->p, used, 1);
        mip_term(b->p, x, -1);
    }
    return used;
}

/* Adds rows (6), (7) and (10) of subgraph s. */
static void make_subgraph(struct builder *b, const struct ends *t, uint32_t s)
{
    for (uint32_t i = 0; i < b->ncross; i++) {
        uint32_t in = b->in[(size_t)i * b->nsub + s];
        if (in == MIP_ZERO || b->cross[i].src == UINT32_MAX)
            continue;
        mip_row(b->p, crossing_name(b, arena_fmt(b->a, "%sstart", t->what), i, s), -t->most,
                MIP_INF);
        mip_term(b->p, t->start[s], 1);
        mip_term(b->p, t->unit[b->cross[i].src], -1);
        mip_term(b->p, in, -t->most);
    }
    uint32_t used = t->steps ? MIP_ZERO : make_used(b, s);
    double step = t->steps ? 1 : 0;
    mip_row(b->p, arena_fmt(b->a, "%sfinish_%s", t->what, b->sub[s]), step, step);
    mip_term(b->p, t->finish[s], 1);
    mip_term(b->p, t->start[s], -1);
    add_subgraph(b, t, s, /*by=*/-1);
    mip_term(b->p, used, -in_time(b, b->c->scene->model.part_cost));
    for (uint32_t v = 0; v < b->n; v++) {
        uint32_t x = x_in(b, v, s);
        if (x == MIP_ZERO)
            continue;
        mip_row(b->p, arena_fmt(b->a, "%sdone_%s_%s", t->what, b->m->ask.name[v], b->sub[s]),
                -t->most, MIP_INF);
        mip_term(b->p, t->unit[v], 1);
        mip_term(b->p, t->finish[s], -1);
        mip_term(b->p, x, -t->most);
    }
}

/* Subtracts from the row that was begun last the time of unit v (or 1 step), which counts if v is on hosts. */
static void add_host(struct builder *b, const struct ends *t, uint32_t v)
{
    for (uint32_t j = b->m->nslot; j < b->m->nplace; j++) {
        uint32_t x = b->m->col[(size_t)v * b->m->nplace + j];
        if (x != MIP_ZERO)
            mip_term(b->p, x, t->steps ? -1 : -in_time(b, time_at(b, v, j)));
    }
}

/* Adds row (8) of unit v, or if v has predecessors rows (9), from which (8) follows. */
static void make_unit(struct builder *b, const struct ends *t, uint32_t v)
{
    const struct csr *pred = &b->g->pred;
    const char *name = b->m->ask.name[v];
    if (pred->at[v] == pred->at[v + 1]) {
        mip_row(b->p, arena_fmt(b->a, "%sfirst_%s", t->what, name), 0, MIP_INF);
        mip_term(b->p, t->unit[v], 1);
        add_host(b, t, v);
    }
    for_row (u, *pred, v) {
        mip_row(b->p, arena_fmt(b->a, "%safter_%u_%s", t->what, u, name), 0, MIP_INF);
        mip_term(b->p, t->unit[v], 1);
        mip_term(b->p, t->unit[u], -1);
        add_host(b, t, v);
    }
}

/* Returns the subgraph that the device of s runs next: forward ones by slot, then backward ones from the last slot to
 * the first; UINT32_MAX: s is the last. */
static uint32_t next_subgraph(const struct builder *b, uint32_t s)
{
    uint32_t slot = b->m->place[s / b->npass].slot, np = b->npass;
    if (s % np != 0) /* backward: the same pass of the slot before */
        return slot > 0 ? s - np : UINT32_MAX;
    if (slot + 1 < b->m->ask.slots) /* forward: the same pass of the next slot */
        return s + np;
    return np > 1 ? s + 1 : UINT32_MAX; /* forward in the last slot: the slot's backward subgraph */
}

/* Makes the columns of t, and rows (6) to (10) and (14). */
static void make_ends(struct builder *b, struct ends *t)
{
    t->unit = arena_array(b->a, (size_t)b->n + 1, sizeof *t->unit);
    t->start = arena_array(b->a, (size_t)b->nsub + 1, sizeof *t->start);
    t->finish = arena_array(b->a, (size_t)b->nsub + 1, sizeof *t->finish);
    for (uint32_t v = 0; v < b->n; v++) {
        double least = t->steps ? 0 : in_time(b, b->way_to[v]);
        t->unit[v] = mip_col(b->p, arena_fmt(b->a, "%sL_%s", t->what, b->m->ask.name[v]),
                             least < t->most ? least : t->most, t->most, 0, /*integer=*/false);
    }
    for (uint32_t s = 0; s < b->nsub; s++) {
        t->start[s] = mip_col(b->p, arena_fmt(b->a, "%sS_%s", t->what, b->sub[s]), 0, t->most, 0,
                              /*integer=*/false);
        t->finish[s] = mip_col(b->p, arena_fmt(b->a, "%sF_%s", t->what, b->sub[s]), 0, t->most, 0,
                               /*integer=*/false);
    }
    for (uint32_t v = 0; v < b->n; v++)
        make_unit(b, t, v);
    for (uint32_t s = 0; s < b->nsub; s++) {
        uint32_t next = next_subgraph(b, s);
        make_subgraph(b, t, s);
        if (next == UINT32_MAX)
            continue;
        mip_row(b->p, arena_fmt(b->a, "%sorder_%s", t->what, b->sub[next]), 0, MIP_INF);
        mip_term(b->p, t->start[next], 1);
        mip_term(b->p, t->finish[s], -1);
    }
}

/* Whether on some kind of device a subgraph could take no time though a value goes in and a value goes out: only then
 * can a circle of subgraphs take no time. */
static bool may_have_circles(const struct builder *b)
{
    if (b->c->scene->model.part_cost) /* each subgraph takes time */
        return false;
    for (uint32_t s = 0; s < b->nsub; s += b->npass) {
        bool in = false, out = false;
        uint32_t k = b->m->place[s / b->npass].kind;
        for (uint32_t i = 0; i < b->ncross; i++) {
            const struct crossing *v = &b->cross[i];
            if (v->src == UINT32_MAX || cost_at(b, v, s))
                continue;
            out = out || b->c->kind[k].time[v->src] == 0;
            for (uint32_t r = v->from; r < v->to && !in; r++)
                in = b->c->kind[k].time[b->reader[r]] == 0;
        }
        if (in && out)
            return true;
    }
    return false;
}

/* Adds the redundant rows of ways (head of this file), which tighten the relaxation. */
static void make_ways(struct builder *b, const struct ends *t)
{
    for (uint32_t s = 0; s < b->nsub; s++) {
        for (uint32_t i = 0; i < b->ncross; i++) {
            uint32_t in = b->in[(size_t)i * b->nsub + s], u = b->cross[i].src;
            if (in == MIP_ZERO || u == UINT32_MAX || !b->way_to[u])
                continue;
            mip_row(b->p, crossing_name(b, "way", i, s), 0, MIP_INF);
            mip_term(b->p, t->start[s], 1);
            mip_term(b->p, in, -in_time(b, b->way_to[u]));
        }
        if (next_subgraph(b, s) != UINT32_MAX)
            continue;
        mip_row(b->p, arena_fmt(b->a, "last_%s", b->sub[s]), 0, MIP_INF);
        mip_term(b->p, COLUMN_T, 1);
        mip_term(b->p, t->finish[s], -1);
    }
    for (uint32_t v = 0; v < b->n; v++) {
        if (!b->way_on[v])
            continue;
        mip_row(b->p, arena_fmt(b->a, "way_on_%s", b->m->ask.name[v]), 0, MIP_INF);
        mip_term(b->p, COLUMN_T, 1);
        mip_term(b->p, t->unit[v], -1);
        for (uint32_t j = b->m->nslot; j < b->m->nplace; j++)
            mip_term(b->p, b->m->col[(size_t)v * b->m->nplace + j], -in_time(b, b->way_on[v]));
    }
}

/* Makes all columns and rows of time, and T >= L[v] where no unit reads v. */
static void make_times(struct builder *b)
{
    struct ends t = {.what = "", .most = b->most}, steps = {.what = "step_", .steps = true};
    make_ends(b, &t);
    make_ways(b, &t);
    for (uint32_t v = 0; v < b->n; v++) {
        if (b->g->succ.at[v] != b->g->succ.at[v + 1])
            continue;
        mip_row(b->p, arena_fmt(b->a, "end_%s", b->m->ask.name[v]), 0, MIP_INF);
        mip_term(b->p, COLUMN_T, 1);
        mip_term(b->p, t.unit[v], -1);
    }
    b->m->ordered = may_have_circles(b);
    steps.most = b->n + b->nsub; /* each unit and each subgraph is one step at most */
    if (b->m->ordered)
        make_ends(b, &steps);
}

/* ---- memory ------------------------------------------------------------------------------------- */

/* Adds by * x[v, j] to the row that was begun last, for the places j = at .. end - 1. */
static void add_places(struct builder *b, uint32_t v, uint32_t at, uint32_t end, double by)
{
    for (uint32_t j = at; j < end; j++)
        mip_term(b->p, b->m->col[(size_t)v * b->m->nplace + j], by);
}

/* Returns a new column that says whether the places at .. end - 1 need shared item i, with its rows. */
static uint32_t make_shared(struct builder *b, uint32_t i, uint32_t at, uint32_t end)
{
    const struct csr *by = &b->g->shared_by;
    const char *name = arena_fmt(b->a, "shared_%u_%s", i, place_name(b, at));
    uint32_t u = mip_share(b->p, name);
    for_row (x, *by, i) {
        mip_row(b->p, arena_fmt(b->a, "%s_by_%u", name, x), 0, MIP_INF);
        mip_term(b->p, u, 1);
        add_places(b, x, at, end, /*by=*/-1);
    }
    return u;
}

/* Adds row (3*): the places at .. end - 1 together hold at most `room` bytes. */
static void make_room(struct builder *b, const struct mip_bytes *bytes, uint32_t at, uint32_t end,
                      int64_t room)
{
    uint32_t *item = arena_array(b->a, (size_t)b->g->nshared + 1, sizeof *item);
    for (uint32_t i = 0; i < b->g->nshared; i++)
        item[i] = make_shared(b, i, at, end);
    mip_row(b->p, arena_fmt(b->a, "memory_%s", place_name(b, at)), -MIP_INF, mip_room(bytes, room));
    for (uint32_t v = 0; v < b->n; v++)
        add_places(b, v, at, end, mip_byte_units(bytes, b->g->size[v]));
    for (uint32_t i = 0; i < b->g->nshared; i++)
        mip_term(b->p, item[i], mip_byte_units(bytes, b->g->shared_size[i]));
}

/* Adds row (3*) for each accelerator and each class of hosts whose memory may be too small. */
static void make_memory(struct builder *b)
{
    const struct cluster *cl = b->c->cluster;
    const struct mip_bytes bytes = mip_bytes_of(b->g, cl->ndev + 1);
    int64_t all = wdag_bytes(b->g);
    for (uint32_t j = 0; j < b->m->nplace;) {
        const struct subgraph_place *p = &b->m->place[j];
        uint32_t end = p->host ? j + 1 : j + b->m->ask.slots;
        int64_t room = cl->cls[p->cls].memory;
        if (room >= 0 && p->host) /* hosts of a class share their memory */
            room = sat_mul(room, cl->cls[p->cls].count);
        if (room >= 0 && room < all)
            make_room(b, &bytes, j, end, room);
        j = end;
    }
}

/* ---- the whole ---------------------------------------------------------------------------------- */

/* Returns the ps of all units and transfers one after the other, each at its longest: no plan takes longer. */
static int64_t longest_plan(const struct builder *b)
{
    const struct wdag *g = b->g;
    int64_t sum = 0;
    for (uint32_t v = 0; v < b->n; v++) {
        int64_t most = 0;
        for (uint32_t k = 0; k < b->c->nkind; k++) {
            int64_t t = b->c->kind[k].time[v];
            most = t != COST_NEVER && t > most ? t : most;
        }
        sum = sat_add(sum, sat_add(most, b->c->scene->model.part_cost));
    }
    /* a value is moved out once, and in at most once for each pin */
    for (uint32_t e = 0; e < g->nnet; e++)
        for (uint32_t k = 0; k < b->c->cluster->ncls; k++)
            sum = sat_add(sum, sat_mul(g->net_cost[k][e],
                                       (int64_t)(g->net_pin.at[e + 1] - g->net_pin.at[e]) + 1));
    return sum;
}

/* Fills b->first_of: the first unit of each class of units. */
static void find_classes(struct builder *b)
{
    const struct subgraph_ask *ask = &b->m->ask;
    b->first_of = arena_array(b->a, (size_t)ask->nclass + 1, sizeof *b->first_of);
    for (uint32_t v = b->n; v-- > 0;)
        b->first_of[ask->together[v]] = v;
}

int subgraph_model_build(struct subgraph_model *m, const struct problem *c,
                         const struct subgraph_ask *ask, struct arena *a, struct diag *d)
{
    struct builder b = {.m = m, .c = c, .g = c->g, .a = a, .n = c->g->n, .npass = 1};
    assert(ask->slots > 0 && ask->lower >= 0);
    *m = (struct subgraph_model){.c = c, .ask = *ask};
    for (uint32_t v = 0; c->g->pass && v < b.n; v++)
        b.npass = c->g->pass[v] == 2 ? 2 : b.npass;
    make_places(&b);
    b.nsub = m->nslot * b.npass;
    find_crossings(&b);
    /* a rough upper estimate: terms for each unit, edge, reader and crossing in one subgraph */
    uint64_t terms = ((uint64_t)b.n * 10 + (uint64_t)b.g->succ.at[b.n] * 8 +
                      (uint64_t)b.nreader * 8 + b.ncross * 8) *
                     (b.nsub + 1);
    if (terms > MIP_MOST_TERMS)
        return diag_error(d,
                          "ip-place: %u nodes with %u uses of tensors in %u subgraphs are too many "
                          "for an integer program of latency: use latency-place",
                          b.n, b.nreader, b.nsub);
    int64_t top = ask->limit < LOAD_INF ? ask->limit : longest_plan(&b);
    m->unit = mip_time_unit(larger(top, ask->lower));
    b.most = in_time(&b, top) * (1 + TOLERANCE);
    b.p = m->mip = mip_new(a);
    double least = in_time(&b, ask->lower);
    b.p->impossible = b.most < least;
    uint32_t t = mip_col(b.p, "T", least, b.most, 1, /*integer=*/false);
    assert(t == COLUMN_T);
    (void)t;
    name_subgraphs(&b);
    find_classes(&b);
    find_ways(&b);
    make_x(&b);
    make_transfers(&b);
    make_contiguous(&b);
    make_times(&b);
    make_memory(&b);
    mip_finish(b.p);
    b.p->title = arena_fmt(a, "%u nodes, latency with %u subgraphs on each accelerator; T in %s",
                           b.n, ask->slots, mip_time_unit_name(m->unit));
    return 0;
}

bool subgraph_model_decode(const struct subgraph_model *m, const double *x, int32_t *dev,
                           uint32_t *slot)
{
    for (uint32_t v = 0; v < m->c->g->n; v++) {
        uint32_t found = 0;
        for (uint32_t j = 0; j < m->nplace; j++) {
            uint32_t col = m->col[(size_t)v * m->nplace + j];
            if (col != MIP_ONE && (col == MIP_ZERO || x[col] <= 0.5))
                continue;
            found++;
            /* the place of a class of hosts stands for all of them: a pinned unit goes to its own */
            bool pinned = m->place[j].host && m->c->g->pin[v] >= 0;
            dev[v] = pinned ? m->c->g->pin[v] : (int32_t)m->place[j].dev;
            slot[v] = m->place[j].host ? 0 : m->place[j].slot + 1;
        }
        if (found != 1)
            return false;
    }
    return true;
}
