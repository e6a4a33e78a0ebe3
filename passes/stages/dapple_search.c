/* DAPPLE's search for stages (dapple_search.h).
 *
 * Source: DAPPLE (arXiv 2007.01045), formulas (4) and (5).  A prefix is some stages for the first j layers.  With one
 * more stage, which has all remaining layers and all remaining devices, the prefix becomes a plan.  A prefix is
 * extended by a stage of the layers [j, j') on m' of the free devices; each of three policies picks such devices.
 * Among prefixes with the same layers and the same number of devices used in each server only the best are kept.  The
 * paper keeps those whose plans have the least latency.  That loses good prefixes: if the last stage of the plan is too
 * large, its latency says little about plans that divide this stage.  So half of the kept prefixes are those with the
 * least `key`, the time that the slowest stage or the slowest link needs for all micro-batches.
 *
 * If there are too many layers or devices for the work allowed, the search is coarse: it cuts only at some layers,
 * evenly by time; it tries numbers of devices that grow by half; prefixes are compared if they use equally many devices
 * in all; and at each cut only some prefixes are extended, the best by latency and the best by balance in turn.
 * Balance is the larger one of `key` and the time of the remaining layers on all remaining devices. */
#include "passes/stages/dapple_search.h"

#include "ir/base/keyed.h"
#include "ir/base/units.h"
#include "passes/stages/stage_formula.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum {
    /* the usual values of dapple_rules.beam, most and work, which count if these are 0 */
    USUAL_BEAM = 4,
    USUAL_MOST = 64,
    USUAL_WORK = 12000000,
    ENOUGH = 40, /* the search is coarse if the work does not allow this many prefixes per cut */
    LEAST_CUTS = 16, /* number of cuts that a coarse search has at least */
    NONE = -1,       /* the number of no prefix, or of the empty prefix */
    STAGES = 1024    /* the most stages of a plan */
};

/* Stages for the layers from 0 to `end` - 1. */
struct prefix {
    int32_t parent; /* the prefix without the last stage; NONE: there is only one stage */
    uint32_t end, nstage, ndev; /* ndev: number of devices used */
    uint32_t take, used;        /* sets in the pool: devices of the last stage; of all stages */
    /* ps, each the largest among the stages: of forward and backward pass of a micro-batch together; of the AllReduce;
     * of the transfer to the next stage */
    int64_t worst, reduce, link;
    int64_t latency; /* ps of an iteration of the plan with one more stage */
    int64_t key; /* ps that the slowest stage or link of the prefix takes for all micro-batches */
    /* ps: the larger one of `key` and of the time of the stage of all remaining layers, reckoned as `key` is */
    int64_t balance;
};

/* Prefixes with the same end and the same devices in use (coarse: the same number of devices). */
struct state {
    uint32_t used; /* the set of devices in use, in the pool; coarse: not set */
    /* [2 * beam] indices of prefixes: first the `beam` ones of least latency, then the `beam` ones of least prefix.key;
     * both halves ascend, with NONE in unused entries.  NULL: no prefix is kept yet */
    int32_t *kept;
};

/* The state of the search. */
struct search {
    const struct layer_chain *c;
    const struct dapple_rules *r;
    const struct servers *s;
    struct arena *a, *own; /* a: memory for the result; own: memory for the search */
    uint32_t beam, most;   /* beam and most of struct dapple_rules, or their usual values */
    bool coarse;           /* see the head of this file */
    struct prefix *prefix; /* [nprefix] all prefixes that were ever kept */
    uint32_t nprefix, cap;
    /* [nset * servers] sets of devices: for each set, a number of devices for each server */
    uint16_t *pool;
    uint32_t nset, capset;
    /* [cut][i] states of prefixes that end at the cut; in a coarse search i is the number of devices in use */
    struct state **at;
    /* nstate: [cut] number of states; capstate: [cut] number of states for which there is room */
    uint32_t *nstate, *capstate;
    /* table: [cut] a hash table of states by `used`: an entry is 1 + the state, or 0: free; mask: [cut] the size of
     * that table - 1 */
    uint32_t **table, *mask;
    uint32_t *cut, ncut; /* [ncut] layers at which a stage may begin, ascending, the first one 0 */
    uint32_t *count, ncount; /* [ncount] numbers of devices that a stage may have, ascending */
    /* stages and links of a prefix (unroll), and space for two more stages */
    struct formula_stage *stage;
    int32_t *best; /* [most] prefixes of the best plans, by latency; NONE at the end */
    /* number of evaluations of the formula so far; about the most that are allowed */
    uint64_t evaluated, allowed;
    struct clock *clock;
};

/* Returns set number `set` of the pool: [server] number of devices. */
static const uint16_t *set_at(const struct search *x, uint32_t set)
{
    return x->pool + (size_t)set * x->s->n;
}

/* Copies a set of the pool to *out. */
static void load_set(const struct search *x, uint32_t set, struct device_set *out)
{
    memset(out, 0, sizeof *out);
    memcpy(out->of, set_at(x, set), x->s->n * sizeof *out->of);
}

/* Appends a set to the pool; returns its number there. */
static uint32_t keep_set(struct search *x, const struct device_set *set)
{
    x->pool = vec_grow(x->own, x->pool, &x->capset, (x->nset + 1) * x->s->n, sizeof *x->pool);
    memcpy(x->pool + (size_t)x->nset * x->s->n, set->of, x->s->n * sizeof *set->of);
    return x->nset++;
}

/* ---- times -------------------------------------------------------------------------------------- */

/* Returns ps, lowered to what the formula can handle. */
static int64_t formula_ps(int64_t ps)
{
    return smaller(ps, FORMULA_MOST);
}

/* Returns the ps of a pass on each of n devices that share it.  ps: the time on one device, of which each device
 * takes `overhead` whole. */
static int64_t share_of(int64_t ps, int64_t overhead, uint32_t n)
{
    return sat_add(overhead, mul_div_ceil(ps - overhead, 1, n));
}

/* Returns the times of a stage with the layers from .. to - 1 on the devices of a set. */
static struct formula_stage stage_of(const struct search *x, uint32_t from, uint32_t to,
                                     const struct device_set *set)
{
    const struct layer_chain *c = x->c;
    uint32_t n = servers_devices(x->s, set);
    int64_t reduce = servers_reduce(x->s, set, c->parameter[to] - c->parameter[from]);
    int64_t forward = share_of(c->forward[to] - c->forward[from],
                               chain_overhead(c->forward_overhead, from, to), n);
    int64_t backward = share_of(c->backward[to] - c->backward[from],
                                chain_overhead(c->backward_overhead, from, to), n);
    return (struct formula_stage){.forward = formula_ps(forward),
                                  .backward = formula_ps(backward),
                                  .reduce = formula_ps(reduce)};
}

/* Returns the times of the link between two stages, of which the second one begins at layer `at`. */
static struct formula_stage link_of(const struct search *x, uint32_t at,
                                    const struct device_set *from, const struct device_set *to)
{
    int64_t t = formula_ps(servers_move(x->s, from, to, x->c->cut[at]));
    return (struct formula_stage){.forward = t, .backward = t};
}

/* Writes the stages of a prefix and the links between them to x->stage; returns the number of both together. */
static uint32_t unroll(struct search *x, int32_t prefix)
{
    if (prefix == NONE)
        return 0;
    uint32_t n = x->prefix[prefix].nstage;
    struct device_set set, before;
    load_set(x, x->prefix[prefix].take, &set);
    /* from the last stage to the first; stage k is x->stage[2 * k], the link before it x->stage[2 * k - 1] */
    for (uint32_t k = n; k-- > 0;) {
        const struct prefix *own = &x->prefix[prefix];
        uint32_t from = own->parent == NONE ? 0 : x->prefix[own->parent].end;
        x->stage[2 * k] = stage_of(x, from, own->end, &set);
        if (own->parent == NONE)
            break;
        load_set(x, x->prefix[own->parent].take, &before);
        x->stage[2 * k - 1] = link_of(x, from, &before, &set);
        set = before;
        prefix = own->parent;
    }
    return 2 * n - 1;
}

/* Returns whether `devices` devices can share a micro-batch; with samples 0 any number can. */
static bool can_share(const struct search *x, uint32_t devices)
{
    return x->r->samples % devices == 0;
}

/* Takes devices out of `rest`, beginning with the last server, until the remaining devices can share a micro-batch.
 * Returns the number of devices that stay. */
static uint32_t trim_to_share(const struct search *x, struct device_set *rest)
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

/* Returns whether a stage with the layers from .. to - 1 fits the memory of `devices` devices, with one micro-batch at
 * a time. */
static bool has_room(const struct search *x, uint32_t from, uint32_t to, uint32_t devices)
{
    const struct layer_chain *c = x->c;
    int64_t need = sat_mul(x->r->weight_copies, c->parameter[to] - c->parameter[from]);
    return !x->r->memory ||
           sat_add(need, (c->stored[to] - c->stored[from]) / devices) <= x->r->memory;
}

/* ---- beams -------------------------------------------------------------------------------------- */

/* Returns the hash of a set of devices.  set: [server] number of the server's devices in the set. */
static uint32_t hash_of(const struct search *x, const uint16_t *set)
{
    uint64_t h = 0;
    for (uint32_t v = 0; v < x->s->n; v++)
        h = (h ^ set[v]) * UINT64_C(0x9e3779b97f4a7c15);
    return (uint32_t)(h >> 32);
}

/* Doubles the hash table of a cut, or makes its first one. */
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

/* Gives a new state an empty list of prefixes. */
static void make_kept(struct search *x, struct state *s)
{
    s->kept = arena_array(x->own, 2 * (size_t)x->beam, sizeof *s->kept);
    memset(s->kept, 0xff, 2 * x->beam * sizeof *s->kept);
}

/* Returns the state of prefixes that end at a cut and use `ndev` devices; for coarse searches. */
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

/* Returns the state of prefixes that end at a cut and use the devices *used (coarse: as many devices); makes a new one
 * if there is none. */
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

/* Returns whether a prefix with latency v (by_key: with key v) belongs among the n best prefixes, row[0 .. n), which
 * ascend by that number; unused entries are NONE. */
static bool enters(const struct search *x, const int32_t *row, uint32_t n, bool by_key, int64_t v)
{
    int32_t last = row[n - 1];
    return last == NONE || v < (by_key ? x->prefix[last].key : x->prefix[last].latency);
}

/* Inserts prefix p into a row as enters() takes it; the row's last entry is lost.  enters() must be true for p. */
static void insert_sorted(const struct search *x, int32_t *row, uint32_t n, bool by_key, int32_t p)
{
    int64_t v = by_key ? x->prefix[p].key : x->prefix[p].latency;
    uint32_t i = n - 1;
    /* p belongs before row[i - 1] if it is among the best i, so row[i - 1] moves one place back */
    for (; i > 0 && enters(x, row, i, by_key, v); i--)
        row[i] = row[i - 1];
    row[i] = p;
}

/* Appends a copy of *p to x->prefix, with the devices `take` for its last stage; returns its number. */
static int32_t add_prefix(struct search *x, const struct prefix *p, const struct device_set *take)
{
    x->prefix = vec_grow(x->own, x->prefix, &x->cap, x->nprefix + 1, sizeof *x->prefix);
    x->prefix[x->nprefix] = *p;
    x->prefix[x->nprefix].take = keep_set(x, take);
    return (int32_t)x->nprefix++;
}

/* ---- the search --------------------------------------------------------------------------------- */

/* A prefix and the devices of a new stage behind it; where the new stage ends is open. */
struct prefix_extension {
    int32_t prefix; /* the prefix, an index of x->prefix; NONE: the empty prefix */
    uint32_t n;     /* number of stages and links of the prefix, in x->stage */
    /* used: devices of the prefix; take: devices of the new stage; now: both together; rest: the devices that one more
     * stage, the last one, would get */
    struct device_set used, take, now, rest;
    uint32_t ntake, nrest;     /* number of devices in take and rest */
    struct formula_stage link; /* the link from the prefix to the new stage */
};

/* Returns the prefix `before` (NULL: the empty one) made longer by a stage with the layers from .. end - 1, with its
 * times; its sets and its number of devices are not set yet.  x->stage: its first e->n entries are the prefix; behind
 * them this writes the new stage and the stage with all remaining layers, each with the link before it. */
static struct prefix longer_prefix(struct search *x, const struct prefix_extension *e,
                                   const struct prefix *before, uint32_t from, uint32_t end)
{
    uint32_t n = e->n;
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
    p.worst = larger(p.worst, sat_add(own.forward, own.backward));
    p.reduce = larger(p.reduce, own.reduce);
    int64_t m = x->r->micro_batches;
    p.key = larger(sat_add(sat_mul(m, p.worst), p.reduce), sat_mul(2 * m, p.link));
    p.balance = larger(p.key, sat_mul(m, sat_add(last.forward, last.backward)));
    p.latency = stage_formula(x->stage, n, x->r->micro_batches, x->r->literal).latency;
    x->evaluated++;
    return p;
}

/* Makes the longer prefix whose new stage ends at cut `to`; keeps it if it is among the best prefixes there, or if the
 * plan with all remaining layers in one more stage is among the best plans. */
static void try_stage(struct search *x, const struct prefix_extension *e, uint32_t to)
{
    const struct prefix *before = e->prefix == NONE ? NULL : &x->prefix[e->prefix];
    uint32_t from = before ? before->end : 0, end = x->cut[to];
    if (!has_room(x, from, end, e->ntake))
        return;
    struct prefix p = longer_prefix(x, e, before, from, end);
    struct state *s = state_at(x, to, &e->now);
    bool by_latency = enters(x, s->kept, x->beam, /*by_key=*/false, p.latency);
    bool by_key = enters(x, s->kept + x->beam, x->beam, /*by_key=*/true, p.key);
    bool best = can_share(x, servers_devices(x->s, &e->rest)) &&
                enters(x, x->best, x->most, /*by_key=*/false, p.latency);
    if (!by_latency && !by_key && !best)
        return;
    p.used = x->coarse ? keep_set(x, &e->now) : s->used;
    p.ndev = servers_devices(x->s, &e->now);
    int32_t id = add_prefix(x, &p, &e->take);
    if (by_latency)
        insert_sorted(x, s->kept, x->beam, /*by_key=*/false, id);
    if (by_key)
        insert_sorted(x, s->kept + x->beam, x->beam, /*by_key=*/true, id);
    if (best)
        insert_sorted(x, x->best, x->most, /*by_key=*/false, id);
}

/* Sets take, ntake, now, rest and nrest of *e: the new stage gets `count` of the free devices by an assignment policy.
 * seen: the *nseen sets that earlier policies took; appends the new one.  Returns false if the policy finds too few
 * devices, or takes a set that was taken before. */
static bool take_devices(const struct search *x, struct prefix_extension *e, uint32_t policy,
                         uint32_t count, struct device_set *seen, uint32_t *nseen)
{
    if (!servers_assign(x->s, &e->used, policy, count, &e->take))
        return false;
    for (uint32_t i = 0; i < *nseen; i++)
        if (!memcmp(&seen[i], &e->take, sizeof e->take))
            return false;
    seen[(*nseen)++] = e->take;
    e->ntake = count;
    for (uint32_t v = 0; v < x->s->n; v++) {
        e->now.of[v] = (uint16_t)(e->used.of[v] + e->take.of[v]);
        e->rest.of[v] = (uint16_t)(x->s->size[v] - e->now.of[v]);
    }
    e->nrest = trim_to_share(x, &e->rest);
    return true;
}

/* Tries all stages behind a prefix (NONE: the empty one), which ends at cut `at`. */
static void extend_prefix(struct search *x, int32_t prefix, uint32_t at)
{
    struct prefix_extension e = {.prefix = prefix, .n = unroll(x, prefix)};
    struct device_set seen[ASSIGN_POLICIES], before;
    uint32_t used = prefix == NONE ? 0 : x->prefix[prefix].ndev;
    if (prefix != NONE) {
        load_set(x, x->prefix[prefix].used, &e.used);
        load_set(x, x->prefix[prefix].take, &before);
        if (x->prefix[prefix].nstage + 2 >= STAGES) /* x->stage has no room for two more */
            return;
    }
    for (uint32_t k = 0; k < x->ncount && used + x->count[k] < x->s->ndev; k++) {
        uint32_t nseen = 0;
        for (uint32_t p = 0; p < ASSIGN_POLICIES; p++) {
            if (!take_devices(x, &e, p, x->count[k], seen, &nseen))
                continue;
            if (prefix != NONE)
                e.link = link_of(x, x->prefix[prefix].end, &before, &e.take);
            for (uint32_t to = at + 1; to < x->ncut; to++)
                try_stage(x, &e, to);
        }
    }
}

/* ---- how much is tried -------------------------------------------------------------------------- */

/* Sets cut[] to all layers; if there are more than `most`, to `most` layers at equal distances of time. */
static void choose_cuts(struct search *x, uint32_t most)
{
    const struct layer_chain *c = x->c;
    x->cut = arena_array(x->own, (size_t)c->n + 1, sizeof *x->cut);
    x->cut[x->ncut++] = 0;
    int64_t all = sat_add(c->forward[c->n], c->backward[c->n]);
    for (uint32_t l = 1; l < c->n; l++) {
        int64_t done = sat_add(c->forward[l], c->backward[l]);
        bool due = (__int128)done * most >= (__int128)all * x->ncut;
        if (c->n - 1 <= most || (due && x->ncut < most))
            x->cut[x->ncut++] = l;
    }
}

/* Sets count[]: all numbers of devices that can share a micro-batch; if `all` is false and any number can, only some
 * numbers, each about half as large again as the one before. */
static void choose_counts(struct search *x, bool all)
{
    bool each = all || x->r->samples != 0;
    x->count = arena_array(x->own, (size_t)x->s->ndev + 1, sizeof *x->count);
    for (uint32_t m = 1; m < x->s->ndev; m += each || m == 1 ? 1 : m / 2)
        if (can_share(x, m))
            x->count[x->ncount++] = m;
}

/* Chooses cuts, numbers of devices and x->coarse by the work allowed.  Returns whether no cut and no number is left
 * out. */
static bool choose_work(struct search *x)
{
    double n = x->c->n, d = x->s->ndev, allowed = (double)x->allowed;
    /* a prefix at each cut is extended to each later cut, by each number of devices */
    bool all = n * n / 2 * d <= allowed / ENOUGH;
    choose_counts(x, all);
    x->coarse = !all;
    uint32_t most = x->c->n;
    while (most > LEAST_CUTS && (double)most * most / 2 * x->ncount > allowed / ENOUGH)
        most -= most / 8 + 1;
    choose_cuts(x, most);
    return all && most >= x->c->n;
}

/* Returns the number of prefixes that end at cut `at` and may be extended within the work allowed, at least 2.  All
 * cuts have equal shares of the work.  A prefix is extended to each later cut, by each of the ncount numbers of
 * devices, in two ways if there are several servers. */
static uint32_t allowed_at(const struct search *x, uint32_t at)
{
    double each = (double)(x->ncut - at) * x->ncount * (x->s->n > 1 ? 2 : 1);
    double n = (double)x->allowed / x->ncut / each;
    if (n < 2)
        return 2;
    return n > 1e9 ? 1000000000 : (uint32_t)n; /* a number that uint32_t holds */
}

/* Lists in *list all prefixes that are kept at a cut, each once, and returns their number. */
static uint32_t all_prefixes_at(const struct search *x, uint32_t at, int32_t **list)
{
    uint32_t n = 0;
    int32_t *all = arena_array(x->own, 2 * (size_t)x->beam * x->nstate[at] + 1, sizeof *all);
    for (uint32_t i = 0; i < x->nstate[at]; i++) {
        const int32_t *kept = x->at[at][i].kept;
        for (uint32_t k = 0; kept && k < 2 * x->beam; k++) {
            /* a prefix of the second half of `kept` may be in the first half, too */
            bool again = false;
            for (uint32_t b = 0; b < x->beam && k >= x->beam; b++)
                again = again || kept[b] == kept[k];
            if (kept[k] != NONE && !again)
                all[n++] = kept[k];
        }
    }
    *list = all;
    return n;
}

/* Lists in *list the prefixes at a cut that are to be extended, and returns their number: all prefixes that are kept
 * there or, if these are too many, the best by latency and the best by balance in turn. */
static uint32_t prefixes_at(const struct search *x, uint32_t at, int32_t **list)
{
    uint32_t n = all_prefixes_at(x, at, list), most = allowed_at(x, at);
    int32_t *all = *list;
    if (n <= most)
        return n;
    struct arena_mark mark = arena_mark(x->own);
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
    /* here, not at the end of the search: `taken` has a byte for each prefix, and there would be one for each cut */
    arena_release(x->own, mark);
    return kept;
}

/* ---- the result --------------------------------------------------------------------------------- */

/* Returns the plan of a prefix and one more stage with all remaining layers and devices; NONE: of a single stage. */
static struct stage_plan plan_of(struct search *x, int32_t prefix)
{
    struct stage_plan p = {.n = prefix == NONE ? 1 : x->prefix[prefix].nstage + 1};
    p.end = arena_array(x->a, p.n, sizeof *p.end);
    p.devices = arena_array(x->a, p.n, sizeof *p.devices);
    struct device_set used = {{0}};
    p.end[p.n - 1] = x->c->n;
    if (prefix != NONE) {
        load_set(x, x->prefix[prefix].used, &used);
        p.latency = x->prefix[prefix].latency;
    }
    for (uint32_t s = p.n - 1; s-- > 0; prefix = x->prefix[prefix].parent) {
        p.end[s] = x->prefix[prefix].end;
        load_set(x, x->prefix[prefix].take, &p.devices[s]);
    }
    for (uint32_t v = 0; v < x->s->n; v++)
        p.devices[p.n - 1].of[v] = (uint16_t)(x->s->size[v] - used.of[v]);
    trim_to_share(x, &p.devices[p.n - 1]);
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

/* Compares plans by latency, then by number of stages; for qsort. */
static int by_latency(const void *a, const void *b)
{
    const struct stage_plan *x = a, *y = b;
    if (x->latency != y->latency)
        return x->latency < y->latency ? -1 : 1;
    return (x->n > y->n) - (x->n < y->n);
}

/* Sets found->plan: the plan of a single stage and the best plans of the search. */
static void collect_plans(struct search *x, struct dapple_found *found)
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
    memset(x.best, 0xff, x.most * sizeof *x.best); /* all NONE */
    extend_prefix(&x, NONE, 0);
    bool done = true;
    for (uint32_t at = 1; at < x.ncut && done; at++) {
        int32_t *list;
        uint32_t n = prefixes_at(&x, at, &list);
        for (uint32_t i = 0; i < n && done; i++) {
            extend_prefix(&x, list[i], at);
            done = !clock_out(clock);
        }
    }
    found.complete = found.complete && done;
    collect_plans(&x, &found);
    arena_free(x.own);
    return found;
}
