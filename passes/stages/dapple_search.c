/* DAPPLE's planner (dapple_search.h).
 *
 * Source: DAPPLE (arXiv 2007.01045), formulas (4) and (5).  A prefix is stages for the first j layers on some devices;
 * with one more stage, for the layers that are left on all devices that are left, it is a plan.  From a prefix one gets
 * to the next by a stage of the layers [j, j') on m' devices, which each of three policies picks among the free ones.
 * Of prefixes with the same layers and the same number of devices used in each server only some are kept.  By the
 * latency of their plan alone, as in the paper, good prefixes are lost (a plan whose last stage is too large says
 * little of what comes of dividing it), so half of them are kept by their own bottleneck: the slowest stage, of all
 * micro-batches, and the slowest link.
 *
 * Where there are too many layers or devices for the work allowed, cuts are tried at as many layers as it allows,
 * evenly by time, and numbers of devices that grow by half; and at each cut only the best prefixes go on, by latency
 * and by balance in turn: the larger one of their own bottleneck and of what is left, shared by all devices left. */
#include "passes/stages/dapple_search.h"

#include "ir/base/keyed.h"
#include "ir/base/units.h"
#include "passes/stages/stage_formula.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum {
    USUAL_BEAM = 4,
    USUAL_MOST = 64,
    USUAL_WORK = 12000000,
    ENOUGH = 40, /* prefixes to go on from at each cut, before fewer cuts and counts are tried */
    LEAST_CUTS = 16,
    NONE = -1,
    STAGES = 1024
};

struct prefix {
    int32_t parent;
    uint32_t end, nstage, ndev;
    uint32_t take, used;         /* sets, in the pool */
    int64_t worst, reduce, link; /* of its stages: forward + backward, AllReduce, a transfer */
    int64_t latency, key; /* latency: of the prefix completed to a plan; key: of the prefix alone */
    /* the larger one of the prefix's key and the key of the remaining layers on the remaining devices */
    int64_t balance;
};

/* Prefixes with the same end and the same devices (coarse: the same number of them), `beam` by latency, then `beam` by
 * key. */
struct state {
    uint32_t used; /* coarse: no set */
    int32_t *kept; /* NULL: no prefix is like that yet */
};

struct search {
    const struct layer_chain *c;
    const struct dapple_rules *r;
    const struct servers *s;
    struct arena *a, *own;
    uint32_t beam, most;
    bool coarse; /* there are too many ways to use devices */
    struct prefix *prefix;
    uint32_t nprefix, cap;
    uint16_t *pool; /* sets: servers numbers each */
    uint32_t nset, capset;
    struct state **at; /* [cut] states of prefixes that end at the cut */
    uint32_t *nstate, *capstate;
    uint32_t **table, *mask;     /* [cut] by hash: state + 1, 0 free */
    uint32_t *cut, ncut;         /* layers where a stage may begin, ascending; then n */
    uint32_t *count, ncount;     /* numbers of devices for a stage, ascending */
    struct formula_stage *stage; /* of the prefix at hand, links between them; room for a plan */
    int32_t *best;               /* [most] prefixes of the best plans */
    uint64_t evaluated, allowed;
    struct clock *clock;
};

static const uint16_t *set_at(const struct search *x, uint32_t set)
{
    return x->pool + (size_t)set * x->s->n;
}

static void load_set(const struct search *x, uint32_t set, struct device_set *out)
{
    memset(out, 0, sizeof *out);
    memcpy(out->of, set_at(x, set), x->s->n * sizeof *out->of);
}

static uint32_t keep_set(struct search *x, const struct device_set *set)
{
    x->pool = vec_grow(x->own, x->pool, &x->capset, (x->nset + 1) * x->s->n, sizeof *x->pool);
    memcpy(x->pool + (size_t)x->nset * x->s->n, set->of, x->s->n * sizeof *set->of);
    return x->nset++;
}

/* ---- figures ------------------------------------------------------------------------------------ */

static int64_t at_most(int64_t ps)
{
    return smaller(ps, FORMULA_MOST);
}

static struct formula_stage stage_of(const struct search *x, uint32_t from, uint32_t to,
                                     const struct device_set *set)
{
    const struct layer_chain *c = x->c;
    int64_t n = servers_devices(x->s, set);
    int64_t reduce = servers_reduce(x->s, set, c->parameter[to] - c->parameter[from]);
    return (struct formula_stage){at_most(mul_div_ceil(c->forward[to] - c->forward[from], 1, n)),
                                  at_most(mul_div_ceil(c->backward[to] - c->backward[from], 1, n)),
                                  at_most(reduce)};
}

static struct formula_stage link_of(const struct search *x, uint32_t at,
                                    const struct device_set *from, const struct device_set *to)
{
    int64_t t = at_most(servers_move(x->s, from, to, x->c->cut[at]));
    return (struct formula_stage){t, t, 0};
}

/* Stages and links of a prefix, into x->stage; how many there are. */
static uint32_t unroll(struct search *x, int32_t prefix)
{
    uint32_t n = 0;
    if (prefix == NONE)
        return 0;
    uint32_t nstage = n = x->prefix[prefix].nstage;
    struct device_set set, next;
    load_set(x, x->prefix[prefix].take, &next);
    for (int32_t p = prefix; p != NONE; p = x->prefix[p].parent) {
        const struct prefix *own = &x->prefix[p];
        uint32_t from = own->parent == NONE ? 0 : x->prefix[own->parent].end;
        set = next;
        nstage--;
        x->stage[2 * nstage] = stage_of(x, from, own->end, &set);
        if (own->parent == NONE)
            break;
        load_set(x, x->prefix[own->parent].take, &next);
        x->stage[2 * nstage - 1] = link_of(x, from, &next, &set);
    }
    return 2 * n - 1;
}

/* Whether so many devices can share a micro-batch; where samples are 0, any can. */
static bool can_share(const struct search *x, uint32_t devices)
{
    return x->r->samples % devices == 0;
}

/* Takes devices away from `rest`, those of the last server first, until the ones left can share a micro-batch. Returns
 * how many are left. */
static uint32_t trim(const struct search *x, struct device_set *rest)
{
    uint32_t n = servers_devices(x->s, rest), v = x->s->n;
    while (n && !can_share(x, n)) {
        while (!rest->of[v - 1])
            v--;
        rest->of[v - 1]--;
        n--;
    }
    return n;
}

/* Whether layers have room on so many devices, with one micro-batch at a time. */
static bool has_room(const struct search *x, uint32_t from, uint32_t to, uint32_t devices)
{
    const struct layer_chain *c = x->c;
    int64_t need = sat_mul(x->r->weight_copies, c->parameter[to] - c->parameter[from]);
    return !x->r->memory ||
           sat_add(need, (c->stored[to] - c->stored[from]) / devices) <= x->r->memory;
}

/* ---- beams -------------------------------------------------------------------------------------- */

static uint32_t hash_of(const struct search *x, const uint16_t *set)
{
    uint64_t h = 0;
    for (uint32_t v = 0; v < x->s->n; v++)
        h = (h ^ set[v]) * UINT64_C(0x9e3779b97f4a7c15);
    return (uint32_t)(h >> 32);
}

static void grow_table(struct search *x, uint32_t cut)
{
    uint32_t size = x->mask[cut] ? 2 * (x->mask[cut] + 1) : 16;
    uint32_t *table = x->table[cut] = arena_array(x->own, size, sizeof *table);
    x->mask[cut] = size - 1;
    for (uint32_t i = 0; i < x->nstate[cut]; i++) {
        uint32_t at = hash_of(x, set_at(x, x->at[cut][i].used)) & x->mask[cut];
        while (table[at])
            at = (at + 1) & x->mask[cut];
        table[at] = i + 1;
    }
}

static void make_kept(struct search *x, struct state *s)
{
    s->kept = arena_array(x->own, 2 * (size_t)x->beam, sizeof *s->kept);
    memset(s->kept, 0xff, 2 * x->beam * sizeof *s->kept);
}

/* The state with `ndev` devices at a cut. */
static struct state *coarse_state_at(struct search *x, uint32_t cut, uint32_t ndev)
{
    if (!x->nstate[cut]) {
        x->nstate[cut] = x->s->ndev + 1;
        x->at[cut] = arena_array(x->own, x->nstate[cut], sizeof **x->at);
    }
    struct state *s = &x->at[cut][ndev];
    if (!s->kept)
        make_kept(x, s);
    return s;
}

/* The state of those devices at a cut, a new one if need be. */
static struct state *state_at(struct search *x, uint32_t cut, const struct device_set *used)
{
    if (x->coarse)
        return coarse_state_at(x, cut, servers_devices(x->s, used));
    if (2 * x->nstate[cut] >= x->mask[cut])
        grow_table(x, cut);
    uint32_t at = hash_of(x, used->of) & x->mask[cut], *table = x->table[cut];
    for (; table[at]; at = (at + 1) & x->mask[cut])
        if (!memcmp(set_at(x, x->at[cut][table[at] - 1].used), used->of,
                    x->s->n * sizeof *used->of))
            return &x->at[cut][table[at] - 1];
    x->at[cut] =
        vec_grow(x->own, x->at[cut], &x->capstate[cut], x->nstate[cut] + 1, sizeof **x->at);
    struct state *s = &x->at[cut][x->nstate[cut]++];
    table[at] = x->nstate[cut];
    s->used = keep_set(x, used);
    make_kept(x, s);
    return s;
}

/* Puts a value into a row of `n` that is ascending by it; false: it is too large. */
static bool enters(const struct search *x, const int32_t *row, uint32_t n, bool by_key, int64_t v)
{
    int32_t last = row[n - 1];
    return last == NONE || v < (by_key ? x->prefix[last].key : x->prefix[last].latency);
}

static void enter(const struct search *x, int32_t *row, uint32_t n, bool by_key, int32_t p)
{
    int64_t v = by_key ? x->prefix[p].key : x->prefix[p].latency;
    uint32_t i = n - 1;
    for (; i > 0 && enters(x, row, i, by_key, v); i--)
        row[i] = row[i - 1];
    row[i] = p;
}

static int32_t keep(struct search *x, const struct prefix *p, const struct device_set *take)
{
    x->prefix = vec_grow(x->own, x->prefix, &x->cap, x->nprefix + 1, sizeof *x->prefix);
    x->prefix[x->nprefix] = *p;
    x->prefix[x->nprefix].take = keep_set(x, take);
    return (int32_t)x->nprefix++;
}

/* ---- the search --------------------------------------------------------------------------------- */

/* Data of the present prefix and of a stage behind the prefix, independent of the stage's end. */
struct prefix_extension {
    int32_t prefix;
    uint32_t n; /* in x->stage */
    struct device_set used, take, now, rest;
    uint32_t ntake, nrest;     /* devices of these */
    struct formula_stage link; /* to the new stage */
};

/* Tries the stage that ends at cut `to`: the longer prefix, and the plan with all remaining layers in one more
 * stage. */
static void try_stage(struct search *x, const struct prefix_extension *e, uint32_t to)
{
    const struct prefix *before = e->prefix == NONE ? NULL : &x->prefix[e->prefix];
    uint32_t from = before ? before->end : 0, n = e->n, end = x->cut[to];
    if (!has_room(x, from, end, e->ntake))
        return;
    struct prefix p = {.parent = e->prefix, .end = end, .nstage = 1};
    if (before) {
        p = *before;
        p.parent = e->prefix;
        p.end = end;
        p.nstage++;
        x->stage[n++] = e->link;
        p.link = larger(p.link, e->link.forward);
    }
    struct formula_stage own = stage_of(x, from, end, &e->take);
    struct formula_stage last = stage_of(x, end, x->c->n, &e->rest);
    struct formula_stage link = link_of(x, end, &e->take, &e->rest);
    x->stage[n++] = own;
    x->stage[n++] = link;
    x->stage[n++] = last;
    p.worst = larger(p.worst, own.forward + own.backward);
    p.reduce = larger(p.reduce, own.reduce);
    int64_t m = x->r->micro_batches;
    p.key = larger(sat_add(sat_mul(m, p.worst), p.reduce), sat_mul(2 * m, p.link));
    p.balance = larger(p.key, sat_mul(m, last.forward + last.backward));
    p.latency = stage_formula(x->stage, n, x->r->micro_batches, x->r->literal).latency;
    x->evaluated++;
    struct state *s = state_at(x, to, &e->now);
    bool by_latency = enters(x, s->kept, x->beam, false, p.latency);
    bool by_key = enters(x, s->kept + x->beam, x->beam, true, p.key);
    bool best = can_share(x, servers_devices(x->s, &e->rest)) &&
                enters(x, x->best, x->most, false, p.latency);
    if (!by_latency && !by_key && !best)
        return;
    p.used = x->coarse ? keep_set(x, &e->now) : s->used;
    p.ndev = servers_devices(x->s, &e->now);
    int32_t id = keep(x, &p, &e->take);
    if (by_latency)
        enter(x, s->kept, x->beam, false, id);
    if (by_key)
        enter(x, s->kept + x->beam, x->beam, true, id);
    if (best)
        enter(x, x->best, x->most, false, id);
}

/* All stages that may come behind a prefix (NONE: behind nothing), which ends at cut `at`. */
static void expand(struct search *x, int32_t prefix, uint32_t at)
{
    struct prefix_extension e = {.prefix = prefix, .n = unroll(x, prefix)};
    struct device_set seen[ASSIGN_POLICIES], before;
    uint32_t used = prefix == NONE ? 0 : x->prefix[prefix].ndev;
    if (prefix != NONE) {
        load_set(x, x->prefix[prefix].used, &e.used);
        load_set(x, x->prefix[prefix].take, &before);
        if (x->prefix[prefix].nstage + 2 >= STAGES)
            return;
    }
    for (uint32_t k = 0; k < x->ncount && used + x->count[k] < x->s->ndev; k++) {
        uint32_t nseen = 0;
        for (uint32_t p = 0; p < ASSIGN_POLICIES; p++) {
            bool twice = !servers_assign(x->s, &e.used, p, x->count[k], &e.take);
            for (uint32_t i = 0; i < nseen && !twice; i++)
                twice = !memcmp(&seen[i], &e.take, sizeof e.take);
            if (twice)
                continue;
            seen[nseen++] = e.take;
            e.ntake = x->count[k];
            for (uint32_t v = 0; v < x->s->n; v++) {
                e.now.of[v] = (uint16_t)(e.used.of[v] + e.take.of[v]);
                e.rest.of[v] = (uint16_t)(x->s->size[v] - e.now.of[v]);
            }
            e.nrest = trim(x, &e.rest);
            if (prefix != NONE)
                e.link = link_of(x, x->prefix[prefix].end, &before, &e.take);
            for (uint32_t to = at + 1; to < x->ncut; to++)
                try_stage(x, &e, to);
        }
    }
}

/* ---- how much is tried -------------------------------------------------------------------------- */

/* At most `most` layers at which a stage may begin, evenly by time. */
static void choose_cuts(struct search *x, uint32_t most)
{
    const struct layer_chain *c = x->c;
    x->cut = arena_array(x->own, (size_t)c->n + 1, sizeof *x->cut);
    x->cut[x->ncut++] = 0;
    int64_t all = c->forward[c->n] + c->backward[c->n];
    for (uint32_t l = 1; l < c->n; l++) {
        int64_t done = c->forward[l] + c->backward[l];
        bool due = (__int128)done * most >= (__int128)all * x->ncut;
        if (c->n - 1 <= most || (due && x->ncut < most))
            x->cut[x->ncut++] = l;
    }
}

static void choose_counts(struct search *x, bool all)
{
    x->count = arena_array(x->own, (size_t)x->s->ndev + 1, sizeof *x->count);
    for (uint32_t m = 1; m < x->s->ndev; m = all || m == 1 || x->r->samples ? m + 1 : m + m / 2)
        if (can_share(x, m))
            x->count[x->ncount++] = m;
}

/* Settles what is tried; true: all of it, as far as the beams go. */
static bool choose_work(struct search *x)
{
    double n = x->c->n, d = x->s->ndev, allowed = (double)x->allowed;
    bool all = n * n / 2 * d <= allowed / ENOUGH;
    choose_counts(x, all);
    x->coarse = !all;
    uint32_t most = x->c->n;
    while (most > LEAST_CUTS && (double)most * most / 2 * x->ncount > allowed / ENOUGH)
        most -= most / 8 + 1;
    choose_cuts(x, most);
    return all && most >= x->c->n;
}

/* How many prefixes that end at a cut the work allows to go on from. */
static uint32_t allowed_at(const struct search *x, uint32_t at)
{
    double each = (double)(x->ncut - at) * x->ncount * (x->s->n > 1 ? 2 : 1);
    double n = (double)x->allowed / x->ncut / each;
    return n < 2 ? 2 : n > 1e9 ? 1000000000 : (uint32_t)n;
}

/* The prefixes that are kept at a cut, or the best of them by latency and by balance in turn. */
static uint32_t prefixes_at(const struct search *x, uint32_t at, int32_t **list)
{
    uint32_t n = 0, most = allowed_at(x, at);
    int32_t *all = arena_array(x->own, 2 * (size_t)x->beam * x->nstate[at] + 1, sizeof *all);
    for (uint32_t i = 0; i < x->nstate[at]; i++)
        for (uint32_t k = 0; x->at[at][i].kept && k < 2 * x->beam; k++) {
            int32_t p = x->at[at][i].kept[k];
            bool again = p == NONE;
            for (uint32_t b = 0; b < x->beam && k >= x->beam; b++)
                again = again || x->at[at][i].kept[b] == p;
            if (!again)
                all[n++] = p;
        }
    *list = all;
    if (n <= most)
        return n;
    struct keyed *by[2] = {arena_array(x->own, n, sizeof **by),
                           arena_array(x->own, n, sizeof **by)};
    for (uint32_t i = 0; i < n; i++) {
        by[0][i] = (struct keyed){x->prefix[all[i]].latency, (uint32_t)all[i]};
        by[1][i] = (struct keyed){x->prefix[all[i]].balance, (uint32_t)all[i]};
    }
    keyed_sort(by[0], n);
    keyed_sort(by[1], n);
    uint8_t *taken = arena_alloc(x->own, x->nprefix);
    uint32_t kept = 0;
    for (uint32_t i = 0; kept < most; i++)
        for (uint32_t k = 0; k < 2 && kept < most; k++)
            if (!taken[by[k][i].item]) {
                taken[by[k][i].item] = 1;
                all[kept++] = (int32_t)by[k][i].item;
            }
    return kept;
}

/* ---- the result --------------------------------------------------------------------------------- */

/* The plan that a prefix makes; NONE: of a single stage. */
static struct stage_plan plan_of(struct search *x, int32_t prefix)
{
    struct stage_plan p = {.n = prefix == NONE ? 1 : x->prefix[prefix].nstage + 1};
    p.end = arena_array(x->a, p.n, sizeof *p.end);
    p.devices = arena_array(x->a, p.n, sizeof *p.devices);
    struct device_set used = {{0}};
    p.end[p.n - 1] = x->c->n;
    for (uint32_t s = p.n - 1; s-- > 0; prefix = x->prefix[prefix].parent) {
        if (s == p.n - 2) {
            load_set(x, x->prefix[prefix].used, &used);
            p.latency = x->prefix[prefix].latency;
        }
        p.end[s] = x->prefix[prefix].end;
        load_set(x, x->prefix[prefix].take, &p.devices[s]);
    }
    for (uint32_t v = 0; v < x->s->n; v++)
        p.devices[p.n - 1].of[v] = (uint16_t)(x->s->size[v] - used.of[v]);
    trim(x, &p.devices[p.n - 1]);
    if (p.n == 1)
        p.latency = stage_plan_latency(x->c, x->r, &p, x->own);
    return p;
}

int64_t stage_plan_latency(const struct layer_chain *c, const struct dapple_rules *r,
                           const struct stage_plan *p, struct arena *scratch)
{
    struct arena_mark mark = arena_mark(scratch);
    const struct search x = {.c = c, .r = r, .s = r->servers};
    struct formula_stage *f = arena_array(scratch, 2 * (size_t)p->n, sizeof *f);
    for (uint32_t s = 0; s < p->n; s++) {
        uint32_t from = s ? p->end[s - 1] : 0;
        f[2 * s] = stage_of(&x, from, p->end[s], &p->devices[s]);
        if (s)
            f[2 * s - 1] = link_of(&x, from, &p->devices[s - 1], &p->devices[s]);
    }
    int64_t latency = stage_formula(f, 2 * p->n - 1, r->micro_batches, r->literal).latency;
    arena_release(scratch, mark);
    return latency;
}

static int by_latency(const void *a, const void *b)
{
    const struct stage_plan *x = a, *y = b;
    if (x->latency != y->latency)
        return x->latency < y->latency ? -1 : 1;
    return (x->n > y->n) - (x->n < y->n);
}

static void give_back(struct search *x, struct dapple_found *found)
{
    found->plan = arena_array(x->a, (size_t)x->most + 1, sizeof *found->plan);
    found->plan[found->nplan++] = plan_of(x, NONE);
    for (uint32_t i = 0; i < x->most; i++)
        if (x->best[i] != NONE)
            found->plan[found->nplan++] = plan_of(x, x->best[i]);
    qsort(found->plan, found->nplan, sizeof *found->plan, by_latency);
    found->evaluated = x->evaluated;
}

struct dapple_found dapple_search(const struct layer_chain *c, const struct dapple_rules *r,
                                  struct clock *clock, struct arena *a)
{
    struct search x = {
        .c = c, .r = r, .s = r->servers, .a = a, .own = arena_new(a), .clock = clock};
    struct dapple_found found = {0};
    assert(c->n > 0 && r->micro_batches > 0 && x.s->n <= SERVERS && x.s->ndev > 0);
    x.beam = r->beam ? r->beam : USUAL_BEAM;
    x.most = r->most ? r->most : USUAL_MOST;
    x.allowed = (uint64_t)(r->work > 0 ? r->work : USUAL_WORK);
    found.complete = choose_work(&x);
    x.at = arena_array(x.own, x.ncut, sizeof(struct state *));
    x.nstate = arena_array(x.own, x.ncut, sizeof *x.nstate);
    x.capstate = arena_array(x.own, x.ncut, sizeof *x.capstate);
    x.table = arena_array(x.own, x.ncut, sizeof(uint32_t *));
    x.mask = arena_array(x.own, x.ncut, sizeof *x.mask);
    x.stage = arena_array(x.own, 2 * (size_t)STAGES, sizeof *x.stage);
    x.best = arena_array(x.own, x.most, sizeof *x.best);
    memset(x.best, 0xff, x.most * sizeof *x.best);
    expand(&x, NONE, 0);
    bool done = true;
    for (uint32_t at = 1; at < x.ncut && done; at++) {
        int32_t *list;
        uint32_t n = prefixes_at(&x, at, &list);
        for (uint32_t i = 0; i < n && done; i++) {
            expand(&x, list[i], at);
            done = !clock_out(clock);
        }
    }
    found.complete = found.complete && done;
    give_back(&x, &found);
    arena_free(x.own);
    return found;
}
