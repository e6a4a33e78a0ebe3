/* Searches for plans by integer programs (ip_search.h).
 *
 * The value of a known plan makes the model small: T may be at most that value less the gap, and a vertex has no column
 * for a device on which it takes longer, or, in a chain, for a device too early or too late for it (ip_model.c).  If
 * the solver says "infeasible", the plan is the best up to the gap.  If the solver finds another plan, its exact value
 * is worked out, and the better plan stays.  What a solver says is checked where it can be: an answer is thrown away if
 * its plan does not fit, is worse than the solver said, or does not have the shape.  Cost: that of the solver; in a
 * chain for each order of kinds. */
#include "passes/integer/ip_search.h"

#include "passes/problem/memory_need.h"

#include "ir/base/bits.h"
#include "ir/base/strings.h"
#include "ir/base/units.h"

#include <assert.h>
#include <string.h>

enum {
    MILLION = 1000000,
    REDUCTION_WORK = 100000000 /* work of a reduction, in arcs: a second or two */
};

bool ip_has_shape(const struct problem *c, const struct ip_ask *ask, const uint32_t *place,
                  const int32_t *dev)
{
    bool chain = ask->shape == IP_CHAIN;
    const struct wdag *g = ask->paths.g && !chain ? ask->paths.g : c->g;
    const uint32_t *merged = chain ? NULL : ask->paths.merged;
    struct arena *a = arena_new(g->mem);
    int32_t last = 0;
    bool good = true;
    for (uint32_t v = 0; v < c->g->n; v++)
        last = dev[v] > last ? dev[v] : last;
    uint32_t word = (uint32_t)last / 64 + 1; /* number of words that have a bit for each device */
    /* [vertex * word] bit d: some path to the vertex has left device d, which must therefore not hold the vertex */
    uint64_t *left = arena_array(a, ((size_t)g->n + 1) * word, sizeof *left);
    for (uint32_t v = 0; v < g->n && ask->shape != IP_ANY; v++) {
        uint64_t *own = left + (size_t)v * word;
        uint32_t d = (uint32_t)dev[merged ? merged[v] : v];
        for_row (u, g->pred, v) {
            uint32_t e = (uint32_t)dev[merged ? merged[u] : u];
            if (chain)
                good = good && place[e] <= place[d];
            for (uint32_t w = 0; w < word; w++)
                own[w] |= left[(size_t)u * word + w];
            if (e != d)
                bits_add(own, e);
        }
        good = good && !bits_have(own, d);
    }
    arena_free(a);
    return good;
}

/* ---- orders of kinds in a chain ---------------------------------------------------------------- */

/* The order of devices that is being searched.  Orders of devices with the same kinds in the same slots count as
 * one. */
struct orders {
    uint8_t kind[CLUSTER_DEVICES];   /* [slot] kind of its device */
    uint32_t slot[CLUSTER_DEVICES];  /* [slot] device in the slot */
    uint32_t place[CLUSTER_DEVICES]; /* [device] slot of the device */
    uint32_t n;                      /* number of devices */
    uint64_t count;                  /* number of orders in all; not exact above IP_MOST_ORDERS */
};

/* Fills o->slot and o->place from o->kind: the devices of a kind in order of number. */
static void fill_slots(struct orders *o, const struct loads *l)
{
    uint32_t next[PROBLEM_KINDS] = {0};
    for (uint32_t s = 0; s < o->n; s++) {
        uint32_t *d = &next[o->kind[s]];
        while (l->kind[*d] != o->kind[s])
            ++*d;
        o->place[*d] = s;
        o->slot[s] = (*d)++;
    }
}

/* Makes the first order, the kinds by number, and counts the orders. */
static void first_order(struct orders *o, const struct loads *l)
{
    *o = (struct orders){.n = l->ndev, .count = 1};
    for (uint32_t k = 0, s = 0; k < l->c->nkind; k++)
        for (uint32_t i = 1; i <= l->c->kind[k].count; i++) {
            o->kind[s++] = (uint8_t)k;
            /* the count is a product of binomial coefficients: each factor s / i leaves no remainder */
            if (o->count <= IP_MOST_ORDERS)
                o->count = o->count * s / i;
        }
    fill_slots(o, l);
}

/* Makes the next order: the next permutation of kinds in lexical order; returns false if there is none. */
static bool next_order(struct orders *o, const struct loads *l)
{
    assert(o->n == l->ndev && o->n > 0);
    uint32_t i = o->n, j = o->n - 1;
    /* kind[i - 1 ..] is the longest end of the list that does not rise.  The last kind in it that is above kind[i - 2]
     * changes places with kind[i - 2]; then the end is turned round */
    while (i > 1 && o->kind[i - 2] >= o->kind[i - 1])
        i--;
    if (i <= 1)
        return false;
    while (o->kind[j] <= o->kind[i - 2])
        j--;
    uint8_t t = o->kind[j];
    o->kind[j] = o->kind[i - 2];
    o->kind[i - 2] = t;
    for (j = o->n - 1, i--; i < j; i++, j--) {
        t = o->kind[j];
        o->kind[j] = o->kind[i];
        o->kind[i] = t;
    }
    fill_slots(o, l);
    return true;
}

/* ---- one model -------------------------------------------------------------------------------- */

struct reduction *ip_reduction(const struct problem *c, struct ip_ask *ask, struct clock *clock,
                               struct arena *a)
{
    uint64_t work = REDUCTION_WORK;
    if (ask->shape != IP_ANY || ask->limit >= LOAD_INF || c->detailed)
        return NULL;
    struct reduction *k = reduction_make(c, ask->limit + 1, /*explained=*/false, &work, clock, a);
    const char **name = arena_array(a, (size_t)k->small->g->n + 1, sizeof *name);
    for (uint32_t v = c->g->n; ask->name && v-- > 0;)
        name[k->map[v]] = ask->name[v];
    ask->name = ask->name ? name : NULL;
    ask->may = k->may;
    return k;
}

/* Returns by how many ps a plan must be better than a plan of `value` to count as better: the gap, at least 1. */
static int64_t least_gain(const struct ip_how *r, int64_t value)
{
    int64_t by = mul_div_ceil(value, r->gap, MILLION);
    return larger(by, 1);
}

/* Returns the limit, ps, of the next model: below the best plan by the gap, and at most r->limit. */
static int64_t target_value(const struct ip_how *r, const struct problem_plan *best)
{
    int64_t t = best->value < LOAD_INF ? best->value - least_gain(r, best->value) : LOAD_INF;
    return smaller(t, r->limit);
}

/* Returns the path of the file for model `number` of `of` models: "x.3.lp" for the third of several; `path` itself
 * if of is 1. */
static const char *numbered_path(const char *path, uint32_t number, uint64_t of, struct arena *a)
{
    size_t n = strlen(path), dot = n;
    while (dot > 0 && path[dot - 1] != '.')
        dot--;
    if (of <= 1 || dot == 0)
        return path;
    return arena_fmt(a, "%.*s%u.%s", (int)dot, path, number, path + dot);
}

/* State of ip_search(). */
struct ip_search_run {
    const struct problem *c;
    struct loads *l; /* tables of c, for the loads of plans */
    const struct ip_how *how;
    struct ip_found found; /* the result so far */
    struct arena *a;       /* for temporary data */
    struct diag *d;
};

/* A model of the problem or of its reduction. */
struct reduced_model {
    struct ip_model m;
    struct reduction *reduction; /* NULL: m is a model of the problem itself */
};

/* Checks shape, devices, memory and value of an answer's plan, and takes the plan if it is better than *best.  Returns
 * whether the plan passed the checks.  place: as for ip_has_shape(). */
static bool take_answer(struct ip_search_run *r, const struct reduced_model *made,
                        const struct mip_answer *a, const uint32_t *place,
                        struct problem_plan *best)
{
    const struct ip_model *m = &made->m;
    const struct reduction *reduction = made->reduction;
    const struct problem *c = r->c;
    struct loads *l = r->l;
    int32_t *got = arena_array(r->a, (size_t)m->c->g->n + 1, sizeof *got);
    int32_t *dev = arena_array(r->a, (size_t)c->g->n + 1, sizeof *dev);
    if (!ip_model_decode(m, a->x, got))
        return false;
    for (uint32_t v = 0; v < c->g->n; v++)
        dev[v] = got[reduction ? reduction->map[v] : v];
    if (!ip_has_shape(c, &m->ask, place, dev))
        return false;
    for (uint32_t v = 0; v < c->g->n; v++)
        if (!loads_allows(l, v, (uint32_t)dev[v]))
            return false;
    loads_set(l, dev);
    if (loads_over(l) ||
        ip_model_value(m, loads_value(l)) > a->value * (1 + MIP_TOLERANCE) + MIP_TOLERANCE)
        return false;
    if (loads_value(l) < best->value) {
        best->value = loads_value(l);
        memcpy(best->dev, dev, c->g->n * sizeof *dev);
    }
    return true;
}

/* Returns the lower bound, ps, that the solver's answer to model m gives for all plans.  Plans above the limit are not
 * in the model, so the bound is never above limit + 1.  holds: the answer has a plan that passed the checks. */
static int64_t answer_bound(const struct ip_how *r, const struct ip_model *m,
                            const struct mip_answer *a, bool holds, int64_t limit,
                            const struct problem_plan *best)
{
    if (a->status == MIP_INFEASIBLE)
        return limit < LOAD_INF ? limit + 1 : LOAD_INF;
    /* the solver may have passed over a plan that is better than this one by less than the gap */
    if (a->status == MIP_OPTIMAL && holds)
        return best->value - (int64_t)((__int128)best->value * r->gap / MILLION);
    double bound = a->bound * (1 - MIP_TOLERANCE) * (double)m->unit;
    int64_t most = limit < LOAD_INF ? limit + 1 : best->value;
    int64_t least = smaller(m->c->lower.value, most);
    if (bound < (double)least)
        return least;
    return bound < (double)most ? (int64_t)bound : most;
}

/* Builds the model of one order of devices.  Returns 0, or -1 and reports an error. */
static int build_model(struct ip_search_run *r, struct ip_ask *ask, struct reduced_model *to)
{
    struct reduction *k = to->reduction = ip_reduction(r->c, ask, r->how->clock, r->a);
    if (ip_model_build(&to->m, k ? k->small : r->c, ask, r->how->planner, r->a, r->d))
        return -1;
    struct mip *mip = to->m.mip;
    struct ip_found *f = &r->found;
    mip->impossible = mip->impossible || (k && k->none);
    f->ncol = larger_u32(mip->ncol, f->ncol);
    f->nrow = larger_u32(mip->nrow, f->nrow);
    return 0;
}

/* Writes to how->write a model for other solvers: it has the limit how->limit, but makes no use of bounds and plans
 * found here.  Returns 0, or -1 and reports an error. */
static int write_model(struct ip_search_run *r, const struct orders *o)
{
    const struct ip_how *how = r->how;
    struct ip_ask ask = {.shape = how->shape,
                         .paths = how->paths,
                         .limit = how->limit,
                         .slot = o->slot,
                         .name = how->name};
    struct reduced_model made;
    bool several = how->shape == IP_CHAIN && o->count > 1;
    if (build_model(r, &ask, &made))
        return -1;
    if (made.m.mip->impossible)
        mip_say_impossible(made.m.mip);
    return mip_write(
        made.m.mip, numbered_path(how->write, r->found.models, several ? o->count : 1, r->a), r->d);
}

/* Makes and solves the model of one order of devices; updates *best and r->found.  Returns 0, or -1 and reports an
 * error. */
static int solve_model(struct ip_search_run *r, const struct orders *o, struct problem_plan *best)
{
    const struct ip_how *how = r->how;
    struct ip_found *f = &r->found;
    struct ip_ask ask = {.shape = how->shape,
                         .paths = how->paths,
                         .limit = target_value(how, best),
                         .lower = r->c->lower.value,
                         .slot = o->slot,
                         .name = how->name};
    struct reduced_model made;
    struct mip_answer a;
    f->models++;
    if (how->write && write_model(r, o))
        return -1;
    if (how->write_only)
        return 0;
    if (build_model(r, &ask, &made))
        return -1;
    problem_tell(r->c, how->clock, "solving integer programs", 0, best->value);
    mip_solve(how->solver, made.m.mip, (double)how->gap / MILLION, how->clock, r->a, &a);
    bool found = a.value < MIP_INF && a.status != MIP_INFEASIBLE, holds = true;
    if (found)
        holds = take_answer(r, &made, &a, o->place, best);
    f->refused += !holds;
    int64_t bound = answer_bound(how, &made.m, &a, found && holds, ask.limit, best);
    f->bound = smaller(bound, f->bound);
    f->nodes += a.nodes;
    if (a.status != MIP_INFEASIBLE && !(a.status == MIP_OPTIMAL && holds)) {
        f->complete = false;
        /* a.why is a text that lasts, since choose_solver() has seen that the solver is there (mip_solve() makes a text
         * in r->a if it is not) */
        f->why = holds ? a.why : "its answer did not hold";
    }
    return 0;
}

struct ip_found ip_search(const struct problem *c, struct loads *l, const struct ip_how *how,
                          struct problem_plan *best, struct arena *scratch, struct diag *d)
{
    assert(l->c == c && how->solver && how->clock);
    struct ip_search_run r = {.c = c, .l = l, .how = how, .a = scratch, .d = d};
    struct ip_found *f = &r.found;
    struct orders o;
    f->complete = true;
    f->bound = LOAD_INF;
    f->grain = ip_grain(c);
    first_order(&o, l);
    if (how->shape == IP_CHAIN && o.count > IP_MOST_ORDERS) {
        f->rc = diag_error(
            d,
            "%s: the devices can stand in more than %d orders: contiguous=chain tries all of "
            "them: use contiguous=convex, or dp-place",
            how->planner, IP_MOST_ORDERS);
        return *f;
    }
    do {
        if (clock_out(how->clock)) {
            f->complete = false;
            f->bound = c->lower.value;
            f->why = how->clock->why;
            break;
        }
        struct arena_mark mark = arena_mark(scratch);
        f->rc = solve_model(&r, &o, best);
        arena_release(scratch, mark);
        if (f->rc)
            return *f;
    } while (how->shape == IP_CHAIN && next_order(&o, l));
    f->bound = f->bound < c->lower.value || how->write_only ? c->lower.value : f->bound;
    /* loads are multiples of the grain, so the bound is rounded up to a multiple */
    if (f->complete && f->grain > 1 && f->bound < LOAD_INF)
        f->bound = (f->bound + f->grain - 1) / f->grain * f->grain;
    f->bound = smaller(f->bound, best->value);
    return *f;
}

/* ---- memory ----------------------------------------------------------------------------------- */

/* Returns the memory, bytes, to which devices must be raised so that the plan in l fits; 0: it fits as it is. */
static int64_t memory_needed(const struct loads *l)
{
    int64_t need = 0;
    for (uint32_t d = 0; d < l->ndev; d++)
        if (loads_excess(l, d) && l->bytes[d] > need)
            need = l->bytes[d];
    return need;
}

int64_t ip_least_memory(const struct problem *c, struct loads *l, const struct ip_how *how,
                        bool *proven, struct arena *scratch, struct diag *d)
{
    struct ip_ask ask = {.shape = how->shape,
                         .paths = how->paths,
                         .limit = LOAD_INF,
                         .memory = true,
                         .name = how->name};
    int32_t *dev = arena_array(scratch, (size_t)c->g->n + 1, sizeof *dev);
    struct ip_model m;
    struct mip_answer a;
    *proven = false;
    if (ip_model_build(&m, c, &ask, how->planner, scratch, d))
        return -1;
    mip_solve(how->solver, m.mip, 0, how->clock, scratch, &a);
    if (!(a.value < MIP_INF)) {
        *proven = a.status == MIP_INFEASIBLE;
        return -1;
    }
    if (!ip_model_decode(&m, a.x, dev) || !ip_has_shape(c, &ask, NULL, dev))
        return -1;
    loads_set(l, dev);
    int64_t need =
        exec_live_parts(&c->scene->model) ? memory_of_plan(c, dev, scratch) : memory_needed(l);
    /* + 0.5: the need and the model's optimum may differ by rounding */
    *proven = a.status == MIP_OPTIMAL && (double)need <= ip_model_bytes(&m, a.value) + 0.5;
    return need;
}
