/* DAPPLE's published planner, its ways and its faults (dapple_published.h).
 *
 * Source: the planner published with DAPPLE (arXiv 2007.01045), which is not the paper's formulas (4) and (5).  It
 * looks at three kinds of plans: pipelines of i devices, as many copies side by side as there is room for, whose
 * slowest stage, or link there and back for all copies, is fastest; the same with a device for each stage, for i = 2
 * and all devices; and every plan of two stages.  These it scores by
 *     b (M - 1) + C / (copies M) + sum of links + max over stages i of (AllReduce - i b),
 * M micro-batches of each copy, C all computing on one device, b the slowest stage or link (of pipelines there and
 * back, of two stages one way).  The AllReduce counts one state too many for every stage but the last. */
#include "passes/replicas/dapple_published.h"

#include "ir/base/units.h"

#include <string.h>

/* Stages up to a state on some devices. */
struct cell {
    uint32_t parent, end, ndev; /* ndev: devices of one copy */
    struct device_set used, take;
    int64_t worst;
};

struct search {
    const struct stage_states *s;
    const struct published_rules *r;
    struct clock *clock;
    struct published_plan *best;
    struct arena *a; /* of one kind of pipeline */
    uint32_t size, copies;
    struct cell *cell; /* cell 0: the empty plan */
    uint32_t ncell, cap;
    uint32_t **at, *nat, *capat; /* [state] cells that end at the state */
};

static int64_t scaled(const struct search *x, int64_t v)
{
    return mul_div_ceil(v, x->r->size, x->r->of);
}

/* A device's time for a micro-batch, forward and backward. */
static int64_t work(const struct search *x, uint32_t from, uint32_t to)
{
    const struct stage_states *s = x->s;
    return scaled(x, s->forward[to] + s->backward[to] - s->forward[from] - s->backward[from]);
}

static int64_t move(const struct search *x, uint32_t at, const struct device_set *from,
                    const struct device_set *to)
{
    return servers_move(x->r->servers, from, to, scaled(x, x->s->cut[at]));
}

/* ---- the score ---------------------------------------------------------------------------------- */

static int64_t reduce(const struct search *x, uint32_t from, uint32_t to,
                      const struct device_set *set)
{
    uint32_t last = to < x->s->n ? to + 1 : to; /* the published program's fault */
    return servers_reduce(x->r->servers, set, x->s->parameter[last] - x->s->parameter[from]);
}

/* Scores a plan, and keeps it if it is among the best.  ways: how often the block counts a link. */
static void enter(const struct search *x, struct published_plan *p, uint32_t ways)
{
    uint32_t n, each = x->r->micro_batches / p->copies;
    int64_t block = 0, links = 0, late = 0;
    if (!each)
        return;
    for (uint32_t k = 0; k < p->n; k++) {
        uint32_t from = k ? p->end[k - 1] : 0;
        int64_t link = k ? move(x, from, &p->set[k - 1], &p->set[k]) : 0;
        n = servers_devices(x->r->servers, &p->set[k]);
        int64_t here = (int64_t)((__int128)work(x, from, p->end[k]) * p->copies / n);
        block = larger(block, larger(here, ways * link));
        links += link;
    }
    for (uint32_t k = 0; k < p->n; k++) {
        int64_t all = reduce(x, k ? p->end[k - 1] : 0, p->end[k], &p->set[k]);
        late = larger(late, all - sat_mul(k, block));
    }
    int64_t fill =
        mul_div_ceil(work(x, 0, x->s->n), x->r->micro_batches, (int64_t)p->copies * (int64_t)each);
    p->latency = sat_add(sat_mul(block, each - 1), fill + links + late);
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

/* ---- pipelines side by side --------------------------------------------------------------------- */

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

static void put(struct search *x, const struct cell *c)
{
    uint32_t e = c->end;
    for (uint32_t i = 0; i < x->nat[e]; i++) {
        struct cell *old = &x->cell[x->at[e][i]];
        if (old->ndev == c->ndev && !memcmp(&old->used, &c->used, sizeof c->used)) {
            if (c->worst < old->worst)
                *old = *c;
            return;
        }
    }
    x->at[e] = vec_grow(x->a, x->at[e], &x->capat[e], x->nat[e] + 1, sizeof **x->at);
    x->at[e][x->nat[e]++] = x->ncell;
    x->cell = vec_grow(x->a, x->cell, &x->cap, x->ncell + 1, sizeof *x->cell);
    x->cell[x->ncell++] = *c;
}

/* Extends a cell by one more stage, on `count` devices of each copy. */
static void extend(struct search *x, uint32_t at, uint32_t count, enum assign_policy policy)
{
    struct cell before = x->cell[at], c = {.parent = at, .ndev = before.ndev + count};
    if (!take_devices(x, &before.used, policy, count, &c.take))
        return;
    c.used = before.used;
    for (uint32_t v = 0; v < x->r->servers->n; v++)
        c.used.of[v] = (uint16_t)(c.used.of[v] + c.take.of[v]);
    int64_t link = before.end ? move(x, before.end, &before.take, &c.take) : 0;
    link = sat_mul(link, 2 * (int64_t)x->copies); /* of all copies: only the score divides it */
    bool last = c.ndev == x->size;
    for (c.end = last ? x->s->n : before.end + 1; c.end <= (last ? x->s->n : x->s->n - 1);
         c.end++) {
        if (!state_is_before(x->s, before.end, c.end))
            continue;
        c.worst = larger(before.worst, larger(link, work(x, before.end, c.end) / count));
        put(x, &c);
    }
}

/* The plan whose slowest stage or link is fastest. */
static void enter_best(struct search *x)
{
    uint32_t best = 0;
    for (uint32_t i = 0; i < x->nat[x->s->n]; i++) {
        uint32_t c = x->at[x->s->n][i];
        best = !best || x->cell[c].worst < x->cell[best].worst ? c : best;
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
    enter(x, &p, 2);
}

static void try_pipelines(struct search *x, uint32_t size, bool straight)
{
    struct arena *own = arena_new(x->a), *before = x->a;
    x->a = own;
    x->size = size;
    x->copies = x->r->servers->ndev / size;
    x->cell = NULL;
    x->cap = 0;
    x->at = arena_array(own, (size_t)x->s->n + 1, sizeof(uint32_t *));
    x->nat = arena_array(own, (size_t)x->s->n + 1, sizeof *x->nat);
    x->capat = arena_array(own, (size_t)x->s->n + 1, sizeof *x->capat);
    x->cell = vec_grow(own, x->cell, &x->cap, 1, sizeof *x->cell);
    x->cell[0] = (struct cell){0};
    x->ncell = 1;
    for (uint32_t j = 0; j < x->s->n; j++)
        for (uint32_t i = 0; i < (j ? x->nat[j] : 1) && !clock_out(x->clock); i++) {
            uint32_t c = j ? x->at[j][i] : 0, left = size - x->cell[c].ndev;
            for (uint32_t m = 1; m <= (straight ? 1 : left) && left; m++)
                for (uint32_t p = 0; p < ASSIGN_POLICIES; p++)
                    extend(x, c, m, (enum assign_policy)p);
        }
    enter_best(x);
    x->a = before;
    arena_free(own);
}

/* ---- two stages --------------------------------------------------------------------------------- */

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
                enter(x, &p, 1);
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
        try_pipelines(&x, size, false);
    if (ndev >= 2 && ndev <= PUBLISHED_STAGES) {
        try_pipelines(&x, 2, true);
        try_pipelines(&x, ndev, true);
        try_two_stages(&x);
    }
    arena_free(x.a);
}
