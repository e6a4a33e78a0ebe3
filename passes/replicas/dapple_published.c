/* The planner of DAPPLE's published program, its faults included (dapple_published.h).
 *
 * Source: the program published with DAPPLE (arXiv 2007.01045), which does not compute the paper's formulas (4) and
 * (5).  It looks at three kinds of plans.  First, for each i >= 2: pipelines of i devices, of which floor(devices / i)
 * copies run side by side; of these the program takes the pipeline with the least b, the time of its slowest stage
 * or its slowest link (there and back, for all copies).  Second, the same with one device for each stage, for i = 2
 * and i = all devices.  Third, every plan of two stages.  These plans are scored by
 *     b (M - 1) + C / (copies M) + sum of links + max over stages i of (AllReduce - i b),
 * where M is the number of micro-batches of each copy, C the time of the whole batch on a single device, and b the
 * time of the slowest stage or link for a micro-batch (a link counts there and back, in plans of two stages one way).
 * AllReduce is the exchange of the gradients of stage i; its bytes count one state too many for every stage but the
 * last. */
#include "passes/replicas/dapple_published.h"

#include "ir/base/units.h"

#include <string.h>

/* A partial plan: stages that have the layers of state `end`. */
struct cell {
    uint32_t parent; /* the cell without the last stage */
    uint32_t end;
    uint32_t ndev;          /* devices that each copy uses */
    struct device_set used; /* devices that all copies use */
    struct device_set take; /* devices of the last stage, of all copies */
    int64_t worst;          /* ps for a micro-batch: the slowest stage or link */
};

/* The search: the best plans so far, and the partial plans of the pipelines that are being searched. */
struct search {
    const struct stage_states *s;
    const struct published_rules *r;
    struct clock *clock;
    struct published_plan *best; /* [PUBLISHED_PLANS] the best plans so far, the best one first */
    struct arena *a;             /* memory of the cells */
    uint32_t size;               /* devices of each copy of the pipelines that are searched now */
    uint32_t copies;
    struct cell *cell; /* cell 0: the empty plan */
    uint32_t ncell, cap;
    /* [state] the cells that end at the state: ending[state][0 .. nending[state]) */
    uint32_t **ending, *nending, *capending;
};

/* Returns v, a time or size for r->of samples, scaled to a micro-batch (r->size samples). */
static int64_t scaled(const struct search *x, int64_t v)
{
    return mul_div_ceil(v, x->r->size, x->r->of);
}

/* Returns how many ps one device computes for a micro-batch, forward and backward, if it has the layers of state
 * `to` that are not in state `from`. */
static int64_t work_time(const struct search *x, uint32_t from, uint32_t to)
{
    const struct stage_states *s = x->s;
    return scaled(x, s->forward[to] + s->backward[to] - s->forward[from] - s->backward[from]);
}

/* Returns the ps to send the values that leave state `at` from the devices `from` to the devices `to`, one way, for a
 * micro-batch. */
static int64_t move_time(const struct search *x, uint32_t at, const struct device_set *from,
                         const struct device_set *to)
{
    return servers_move(x->r->servers, from, to, scaled(x, x->s->cut[at]));
}

/* ---- the score ---------------------------------------------------------------------------------- */

/* Returns the ps of the AllReduce of a stage on the devices `set` that has the layers between the states `from` and
 * `to`. */
static int64_t reduce_time(const struct search *x, uint32_t from, uint32_t to,
                           const struct device_set *set)
{
    /* a fault of the published program: one state too many */
    uint32_t last = to < x->s->n ? to + 1 : to;
    return servers_reduce(x->r->servers, set, x->s->parameter[last] - x->s->parameter[from]);
}

/* Inserts *p into x->best before the first plan that is worse; the last plan falls out.  Does nothing if x->best
 * has *p already, or has no worse plan. */
static void keep_plan(const struct search *x, const struct published_plan *p)
{
    for (uint32_t i = 0; i < PUBLISHED_PLANS; i++) {
        struct published_plan *old = &x->best[i];
        bool same = old->n == p->n && !memcmp(old->end, p->end, p->n * sizeof *p->end) &&
                    !memcmp(old->set, p->set, p->n * sizeof *p->set);
        if (same)
            return;
        if (p->latency >= old->latency)
            continue;
        memmove(old + 1, old, (PUBLISHED_PLANS - 1 - i) * sizeof *old);
        *old = *p;
        return;
    }
}

/* Sets p->latency to the plan's score (the head of this file), and keeps *p if it is good enough (keep_plan).
 * link_factor: how often the slowest link counts in b, the time of the slowest stage or link. */
static void score_plan(const struct search *x, struct published_plan *p, uint32_t link_factor)
{
    uint32_t per_copy = x->r->micro_batches / p->copies; /* micro-batches of each copy */
    int64_t block = 0, links = 0, late = 0; /* ps: b; the sum of links; the maximum in the score */
    if (!per_copy)
        return;
    for (uint32_t k = 0; k < p->n; k++) {
        uint32_t from = k ? p->end[k - 1] : 0;
        int64_t link = k ? move_time(x, from, &p->set[k - 1], &p->set[k]) : 0;
        uint32_t n = servers_devices(x->r->servers, &p->set[k]); /* devices of all copies */
        int64_t here = (int64_t)((__int128)work_time(x, from, p->end[k]) * p->copies / n);
        block = larger(block, larger(here, link_factor * link));
        links += link;
    }
    for (uint32_t k = 0; k < p->n; k++) {
        int64_t all = reduce_time(x, k ? p->end[k - 1] : 0, p->end[k], &p->set[k]);
        late = larger(late, all - sat_mul(k, block));
    }
    /* C / (copies M): work_time() is that of one of the x->r->micro_batches micro-batches of the batch */
    int64_t fill = mul_div_ceil(work_time(x, 0, x->s->n), x->r->micro_batches,
                                (int64_t)p->copies * (int64_t)per_copy);
    p->latency = sat_add(sat_mul(block, per_copy - 1), fill + links + late);
    keep_plan(x, p);
}

/* ---- pipelines side by side --------------------------------------------------------------------- */

/* Picks `need` devices outside `used` for a stage in each copy, one copy after the other, by the policy: writes all of
 * them to *take.  Returns false if there are not enough devices for some copy. */
static bool take_devices(const struct search *x, const struct device_set *used,
                         enum assign_policy policy, uint32_t need, struct device_set *take)
{
    struct device_set now = *used, more;
    memset(take, 0, sizeof *take);
    for (uint32_t i = 0; i < x->copies; i++) {
        if (!servers_assign(x->r->servers, &now, policy, need, &more))
            return false;
        for (uint32_t v = 0; v < x->r->servers->n; v++) {
            now.of[v] = (uint16_t)(now.of[v] + more.of[v]);
            take->of[v] = (uint16_t)(take->of[v] + more.of[v]);
        }
    }
    return true;
}

/* Adds cell c, unless there is a cell as good as c: of two cells with the same state and the same devices the one
 * with the smaller `worst` stays. */
static void keep_cell(struct search *x, const struct cell *c)
{
    uint32_t e = c->end;
    for (uint32_t i = 0; i < x->nending[e]; i++) {
        struct cell *old = &x->cell[x->ending[e][i]];
        if (old->ndev == c->ndev && !memcmp(&old->used, &c->used, sizeof c->used)) {
            if (c->worst < old->worst)
                *old = *c;
            return;
        }
    }
    x->ending[e] =
        vec_grow(x->a, x->ending[e], &x->capending[e], x->nending[e] + 1, sizeof **x->ending);
    x->ending[e][x->nending[e]++] = x->ncell;
    x->cell = vec_grow(x->a, x->cell, &x->cap, x->ncell + 1, sizeof *x->cell);
    x->cell[x->ncell++] = *c;
}

/* Adds the cells that extend cell `at` by one stage on `count` devices of each copy.  The last stage, which uses up
 * the devices of a copy, has all layers that are left. */
static void extend_cell(struct search *x, uint32_t at, uint32_t count, enum assign_policy policy)
{
    struct cell before = x->cell[at], c = {.parent = at, .ndev = before.ndev + count};
    if (!take_devices(x, &before.used, policy, count, &c.take))
        return;
    c.used = before.used;
    for (uint32_t v = 0; v < x->r->servers->n; v++)
        c.used.of[v] = (uint16_t)(c.used.of[v] + c.take.of[v]);
    int64_t link = before.end ? move_time(x, before.end, &before.take, &c.take) : 0;
    /* there and back, for all copies; score_plan() does not multiply by the copies */
    link = sat_mul(link, 2 * (int64_t)x->copies);
    bool last = c.ndev == x->size;
    uint32_t first_end = last ? x->s->n : before.end + 1, last_end = last ? x->s->n : x->s->n - 1;
    for (c.end = first_end; c.end <= last_end; c.end++) {
        if (!state_is_before(x->s, before.end, c.end))
            continue;
        c.worst = larger(before.worst, larger(link, work_time(x, before.end, c.end) / count));
        keep_cell(x, &c);
    }
}

/* Scores the complete plan whose slowest stage or link takes the least time, if there is a complete plan. */
static void score_best(struct search *x)
{
    uint32_t best = 0;
    for (uint32_t i = 0; i < x->nending[x->s->n]; i++) {
        uint32_t c = x->ending[x->s->n][i];
        if (!best || x->cell[c].worst < x->cell[best].worst)
            best = c;
    }
    if (!best)
        return;
    struct published_plan p = {.copies = x->copies};
    for (uint32_t c = best; c; c = x->cell[c].parent)
        p.n++;
    for (uint32_t c = best, k = p.n; c; c = x->cell[c].parent) {
        p.end[--k] = x->cell[c].end;
        p.set[k] = x->cell[c].take;
    }
    score_plan(x, &p, 2);
}

/* Searches the pipelines of `size` devices, with as many copies as there are devices for, and scores the best one.
 * straight: each stage has one device in each copy. */
static void try_pipelines(struct search *x, uint32_t size, bool straight)
{
    struct arena *own = arena_new(x->a), *before = x->a;
    x->a = own;
    x->size = size;
    x->copies = x->r->servers->ndev / size;
    x->cell = NULL;
    x->cap = 0;
    x->ending = arena_array(own, (size_t)x->s->n + 1, sizeof(uint32_t *));
    x->nending = arena_array(own, (size_t)x->s->n + 1, sizeof *x->nending);
    x->capending = arena_array(own, (size_t)x->s->n + 1, sizeof *x->capending);
    x->cell = vec_grow(own, x->cell, &x->cap, 1, sizeof *x->cell);
    x->cell[0] = (struct cell){0};
    x->ncell = 1;
    /* extends the cells of each state j; only the empty plan, cell 0, ends at state 0.  A cell that is extended ends at
     * a later state, so the list of state j does not grow meanwhile. */
    for (uint32_t j = 0; j < x->s->n; j++) {
        uint32_t cells = j ? x->nending[j] : 1;
        for (uint32_t i = 0; i < cells && !clock_out(x->clock); i++) {
            uint32_t c = j ? x->ending[j][i] : 0;
            /* devices that each copy still has for stages */
            uint32_t left = size - x->cell[c].ndev;
            uint32_t most = straight ? smaller_u32(left, 1) : left;
            for (uint32_t m = 1; m <= most; m++)
                for (uint32_t p = 0; p < ASSIGN_POLICIES; p++)
                    extend_cell(x, c, m, (enum assign_policy)p);
        }
    }
    score_best(x);
    x->a = before;
    arena_free(own);
}

/* ---- two stages --------------------------------------------------------------------------------- */

/* Scores every plan of two stages that together use all devices: for each number m of devices of the first stage, each
 * policy that picks them, and each state at which the first stage ends. */
static void try_two_stages(struct search *x)
{
    const struct servers *v = x->r->servers;
    const struct device_set none = {{0}};
    struct published_plan p = {.n = 2, .copies = 1, .end = {0, x->s->n}};
    for (uint32_t m = 1; m < v->ndev; m++)
        for (uint32_t policy = 0; policy < ASSIGN_POLICIES; policy++) {
            if (!servers_assign(v, &none, (enum assign_policy)policy, m, &p.set[0]))
                continue;
            for (uint32_t i = 0; i < v->n; i++)
                p.set[1].of[i] = (uint16_t)(v->size[i] - p.set[0].of[i]);
            for (p.end[0] = 1; p.end[0] < x->s->n; p.end[0]++)
                score_plan(x, &p, 1);
        }
}

void dapple_published(const struct stage_states *s, const struct published_rules *r,
                      struct clock *clock, struct arena *scratch,
                      struct published_plan best[PUBLISHED_PLANS])
{
    uint32_t ndev = r->servers->ndev;
    struct search x = {.s = s, .r = r, .clock = clock, .best = best, .a = arena_new(scratch)};
    for (uint32_t i = 0; i < PUBLISHED_PLANS; i++)
        best[i] = (struct published_plan){.latency = INT64_MAX};
    for (uint32_t size = 2; size <= ndev && ndev <= PUBLISHED_STAGES; size++)
        try_pipelines(&x, size, /*straight=*/false);
    if (ndev >= 2 && ndev <= PUBLISHED_STAGES) {
        try_pipelines(&x, 2, /*straight=*/true);
        try_pipelines(&x, ndev, /*straight=*/true);
        try_two_stages(&x);
    }
    arena_free(x.a);
}
