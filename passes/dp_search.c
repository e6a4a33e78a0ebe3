/* The exact search over chains of ideals (dp_search.h).
 *
 * Source: the placement paper, 5.1.1.  The recurrence is pushed forward: from
 * each ideal I' that a partial plan ends at, in order of |I'|, all S above it are enumerated that
 * one device could hold, and the partial plans that end at I' + S are improved.
 *
 * Enumeration.  Vertices whose predecessors are in stand in a list; taking one appends those that
 * it enables, skipping one leaves it and all above it out for good.  So each S is met once, without
 * a set of visited ones; everything is kept up to date in O(degree) per step and undone on the way
 * back (dp_step.c).
 *
 * What is cut off (all of it sound: only plans strictly better than the best known are sought):
 *  - time and bytes of S only grow, and so do the costs of nets with a pin in S and a pin in I', on
 *    the host, or skipped: they stay cut whatever is taken later;
 *  - the window: what is left of V must fit on what is left of the devices (potentials of chain.h).
 *    A skipped vertex takes all above it with it, so a skip that leaves too little within reach is
 *    not allowed; neither is a step after which the device is full before it has got there;
 *  - nets that cross I' + S are paid by what is left once more.
 *
 * Ideals are hashed only when a partial plan ends there: Zobrist key, then exact comparison of the
 * bits.  They are stored without the leading words that are all ones and the trailing ones that are
 * zero.
 *
 * A start that takes a quarter of all steps allowed ends the search: it would not get through.
 *
 * Time: O(degree) for each pair (I', S) that is not cut off.  Memory: the ideals that
 * partial plans end at. */
#include "passes/dp_search.h"

#include "passes/dp_step.h"
#include "passes/topo.h"
#include "ir/units.h"

#include <stdio.h>
#include <string.h>

enum {
    STEPS_PER_STATE = 8,
    START_SHARE = 4,
    REACH_EXACT = 8192,
    CHECK_EVERY = 4096,
    SCAN_PER_STEP = 32
};
#define MEMORY_MAX (UINT64_C(1) << 27)

/* ---- weights above --------------------------------------------------------------------------- */

/* Exact weights of up-sets, 64 targets at a time: O(V * (V + E) / 64) words, O(V^2) additions. */
static void weigh_exactly(struct search *s)
{
    uint64_t *mask = arena_array(s->a, (size_t)s->n + 1, sizeof *mask);
    for (uint32_t base = 0; base < s->n; base += 64) {
        uint32_t top = base + 64 < s->n ? base + 64 : s->n;
        uint64_t full = top - base == 64 ? UINT64_MAX : (UINT64_C(1) << (top - base)) - 1;
        int64_t block[CHAIN_POTS] = {0};
        for (uint32_t p = 0; p < s->c->npot; p++)
            for (uint32_t v = base; v < top; v++)
                block[p] += s->c->pot[p].w[v];
        for (uint32_t v = top; v-- > 0;) {
            uint64_t m = v >= base ? UINT64_C(1) << (v - base) : 0;
            for (uint32_t i = s->g->succ.at[v]; i < s->g->succ.at[v + 1]; i++)
                if (s->g->succ.to[i] < top)
                    m |= mask[s->g->succ.to[i]];
            mask[v] = m;
            for (uint32_t p = 0; p < s->c->npot; p++) {
                int64_t sum = m == full ? block[p] : 0;
                for (uint64_t x = m == full ? 0 : m; x; x &= x - 1)
                    sum += s->c->pot[p].w[base + (uint32_t)__builtin_ctzll(x)];
                s->above[p][v] += sum;
            }
        }
    }
}

/* A lower bound: the heaviest path. */
static void weigh_paths(struct search *s)
{
    for (uint32_t p = 0; p < s->c->npot; p++)
        for (uint32_t v = s->n; v-- > 0;) {
            int64_t most = 0;
            for (uint32_t i = s->g->succ.at[v]; i < s->g->succ.at[v + 1]; i++) {
                int64_t w = s->above[p][s->g->succ.to[i]];
                most = w > most ? w : most;
            }
            s->above[p][v] = most + s->c->pot[p].w[v];
        }
}

static void begin(struct search *s)
{
    const struct wdag *g = s->g;
    uint64_t state = 1;
    s->zobrist = arena_array(s->a, (size_t)s->n + 1, sizeof *s->zobrist);
    for (uint32_t v = 0; v < s->n; v++)
        s->zobrist[v] = topo_random(&state);
    for (uint32_t p = 0; p < s->c->npot; p++)
        s->above[p] = arena_array(s->a, (size_t)s->n + 1, sizeof(int64_t));
    if (s->n <= REACH_EXACT)
        weigh_exactly(s);
    else
        weigh_paths(s);
    s->bits = arena_array(s->a, (size_t)s->nword + 1, sizeof *s->bits);
    s->missing = arena_array(s->a, (size_t)s->n + 1, sizeof *s->missing);
    s->missing_stamp = arena_array(s->a, (size_t)s->n + 1, sizeof *s->missing_stamp);
    s->net = arena_array(s->a, (size_t)g->nnet + 1, sizeof *s->net);
    for (uint32_t e = 0; e < g->nnet; e++) {
        s->net[e].pins = g->net_pin.at[e + 1] - g->net_pin.at[e];
        s->net[e].host = g->net_host[e];
        s->net[e].back = g->net_back && g->net_back[e];
    }
    s->need = arena_array(s->a, (size_t)g->nshared + 1, sizeof *s->need);
    s->frontier = arena_array(s->a, (size_t)s->n + 1, sizeof *s->frontier);
    s->list = arena_array(s->a, (size_t)s->n + 1, sizeof *s->list);
    s->choice = arena_array(s->a, (size_t)s->n + 1, sizeof *s->choice);
    s->bucket = arena_array(s->a, (size_t)s->n + 1, sizeof *s->bucket);
    s->mask = 1023;
    s->slot = arena_array(s->a, (size_t)s->mask + 1, sizeof *s->slot);
    s->labels.mem = s->a;
    s->nideal = 1;
}

/* ---- ideals ---------------------------------------------------------------------------------- */

static bool same_bits(const struct search *s, const struct ideal *d)
{
    uint64_t differs = 0;
    for (uint32_t w = 0; w < d->word; w++)
        differs |= ~s->bits[w];
    for (uint32_t w = d->word + d->nword; w < s->nword; w++)
        differs |= s->bits[w];
    return !differs &&
           memcmp(s->bits + d->word, s->pool + d->bits, d->nword * sizeof *s->bits) == 0;
}

static void rehash(struct search *s)
{
    s->mask = s->mask * 2 + 1;
    s->slot = arena_array(s->a, (size_t)s->mask + 1, sizeof *s->slot);
    for (uint32_t i = 1; i < s->nideal; i++) {
        uint32_t at = (uint32_t)s->ideal[i].key & s->mask;
        while (s->slot[at])
            at = (at + 1) & s->mask;
        s->slot[at] = i;
    }
}

/* The ideal I' + S, made if it is new. */
static uint32_t intern(struct search *s)
{
    uint32_t at = (uint32_t)s->key & s->mask;
    for (; s->slot[at]; at = (at + 1) & s->mask) {
        const struct ideal *o = &s->ideal[s->slot[at]];
        if (o->key == s->key && o->card == s->card && same_bits(s, o))
            return s->slot[at];
    }
    uint32_t id = s->nideal, lo = 0, hi = s->nword;
    while (lo < hi && s->bits[lo] == UINT64_MAX)
        lo++;
    while (hi > lo && s->bits[hi - 1] == 0)
        hi--;
    s->ideal = vec_grow(s->a, s->ideal, &s->capideal, id + 1, sizeof *s->ideal);
    s->pool = vec_grow(s->a, s->pool, &s->cappool, s->npool + hi - lo + 1, sizeof *s->pool);
    struct ideal *d = &s->ideal[id];
    *d = (struct ideal){.key = s->key,
                        .card = s->card,
                        .word = lo,
                        .nword = hi - lo,
                        .bits = s->npool,
                        .next = s->bucket[s->card],
                        .cross = s->cross};
    memcpy(d->weight, s->weight, sizeof d->weight);
    memcpy(s->pool + s->npool, s->bits + lo, (hi - lo) * sizeof *s->bits);
    s->npool += hi - lo;
    s->bucket[s->card] = id;
    s->slot[at] = id;
    s->nideal++;
    if (s->nideal > s->mask / 2)
        rehash(s);
    if (s->nideal > s->opt->max_states)
        s->check = 0; /* look at the limits now */
    return id;
}

/* Makes ideal id the start: its bits, and the vertices that can come next. */
static void begin_start(struct search *s, uint32_t id)
{
    const struct ideal *d = &s->ideal[id];
    const struct csr *pred = &s->g->pred;
    s->start = id;
    s->steps_before = s->opt->steps;
    s->stamp++;
    memset(s->bits, 0xff, d->word * sizeof *s->bits);
    memcpy(s->bits + d->word, s->pool + d->bits, d->nword * sizeof *s->bits);
    memset(s->bits + d->word + d->nword, 0, (s->nword - d->word - d->nword) * sizeof *s->bits);
    s->nfrontier = 0;
    s->opt->steps += (s->n - d->word * 64) / SCAN_PER_STEP; /* starting is work, too */
    for (uint32_t v = d->word * 64; v < s->n; v++) {
        if (has(s, v))
            continue;
        /* the last predecessor is the one most likely to be missing */
        uint32_t i = pred->at[v + 1];
        while (i > pred->at[v] && has(s, pred->to[i - 1]))
            i--;
        if (i == pred->at[v])
            s->frontier[s->nfrontier++] = v;
    }
}

/* ---- ends ------------------------------------------------------------------------------------ */

/* A better plan of the whole: from now on only better ones are sought. */
static void tighten(struct search *s, int64_t limit)
{
    chain_set_limit(s->c, &s->caps, limit);
    s->room = sat_mul(s->copies, limit);
}

/* arrive() where loads are more than sums: S on any number of devices that a label has left. */
static void arrive_detailed(struct search *s)
{
    const struct chain *c = s->c;
    uint32_t id = 0;
    if (s->copies > 1)
        s->opt->steps += (uint64_t)s->copies * s->nlive;
    for (uint32_t copies = 1; copies <= s->copies; copies++) {
        int64_t load[2];
        chain_loads(c, s->k, &s->parts, copies, load);
        for (uint32_t x = 0; x < s->nlive; x++) {
            const struct live *l = &s->live[x];
            bool far = copies <= l->left;
            for (uint32_t p = 0; p < c->npot && far; p++) {
                int64_t low = chain_low(c, l, p, copies, s->caps.cap[p][s->k]);
                far = s->weight[p] - (p == c->cross_pot ? s->cross : 0) >= low;
            }
            struct label nw = {.value = load[0] > l->value ? load[0] : l->value,
                               .back = load[1] > l->back ? load[1] : l->back,
                               .used = l->used + ((uint64_t)(copies - 1) << c->kind[s->k].shift),
                               .parent = l->label,
                               .kind = (uint16_t)s->k,
                               .copies = (uint16_t)copies};
            if (!far || nw.value + nw.back > s->caps.keep)
                continue;
            if (!id)
                id = intern(s);
            nw.at = id;
            uint32_t made = labels_relax(&s->labels, c, &s->ideal[id].head, nw);
            if (s->card == s->n && made) {
                s->last = made;
                tighten(s, nw.value + nw.back - 1);
            }
        }
    }
}

/* Improves the partial plans that end at I' + S. */
static void arrive(struct search *s)
{
    if (s->c->detailed) {
        arrive_detailed(s);
        return;
    }
    int64_t load = s->compute + s->cut;
    if (load > s->caps.limit)
        return;
    for (uint32_t p = 0; p < s->c->npot; p++)
        if (s->weight[p] < s->low[p])
            return;
    uint32_t id = 0;
    for (uint32_t x = 0; x < s->nlive; x++) {
        const struct live *l = &s->live[x];
        bool far = true;
        for (uint32_t p = 0; p < s->c->npot; p++)
            far = far && s->weight[p] - (p == s->c->cross_pot ? s->cross : 0) >= l->low[p];
        struct label nw = {.value = load > l->value ? load : l->value,
                           .used = l->used,
                           .parent = l->label,
                           .kind = (uint16_t)s->k};
        if (s->refute)
            nw.value = l->value + search_excess(s, load);
        if (!far || nw.value + (s->refute && s->c->cross_pot == 0 ? s->cross : 0) > s->caps.keep)
            continue;
        if (!id)
            id = intern(s);
        nw.at = id;
        uint32_t made = labels_relax(&s->labels, s->c, &s->ideal[id].head, nw);
        if (s->card == s->n && made) {
            s->last = made;
            if (!s->refute)
                tighten(s, nw.value - 1);
        }
    }
}

static bool out(struct search *s)
{
    struct dp_search *o = s->opt;
    s->check = o->steps + CHECK_EVERY;
    if (s->refute && s->last)
        o->why = "a plan was found";
    else if (s->nideal > o->max_states)
        o->why = "state limit reached";
    else if (o->steps > s->max_steps || o->steps - s->steps_before > s->max_steps / START_SHARE)
        o->why = "step limit reached";
    else if (arena_used(s->a) - s->used_before > MEMORY_MAX)
        o->why = "memory limit reached";
    else if (chain_out(o->clock))
        o->why = o->clock->why;
    if (o->progress && !o->why) {
        int64_t now = chain_now();
        if (now - s->began > 2000000000 && now - s->told > 200000000) {
            s->told = now;
            fprintf(stderr,
                    "\rdp-place: best %.6g ms, bound %.6g ms, %u ideals, %.3g M steps, "
                    "%.0f %% of the nodes passed ",
                    (double)(s->caps.limit + 1) / 1e9, (double)s->c->lower / 1e9, s->nideal - 1,
                    (double)o->steps / 1e6, 100.0 * (double)s->ideal[s->start].card / (double)s->n);
        }
    }
    return o->why != NULL;
}

/* Undoes choices up to the last vertex that was taken and can be skipped instead, and skips it.
 * The position in the list to go on from, or UINT32_MAX. */
static uint32_t backtrack(struct search *s)
{
    while (s->nchoice) {
        struct choice *h = &s->choice[--s->nchoice];
        uint32_t v = s->list[h->at];
        memcpy(s->reach, h->reach, sizeof s->reach);
        if (!h->taken) {
            step_unskip(s, v);
            continue;
        }
        step_untake(s, v);
        s->end = h->end;
        if (step_skip(s, v)) {
            h->taken = false;
            s->nchoice++;
            return h->at + 1;
        }
    }
    return UINT32_MAX;
}

/* All S above the start for device kind k.  False: out of time or room. */
static bool enumerate(struct search *s)
{
    uint32_t at = 0;
    s->nchoice = 0;
    memcpy(s->list, s->frontier, s->nfrontier * sizeof *s->list);
    s->end = s->nfrontier;
    for (;;) {
        if (at >= s->end) {
            at = backtrack(s);
            if (at == UINT32_MAX)
                return true;
            continue;
        }
        if (++s->opt->steps >= s->check && out(s)) {
            while (s->nchoice) {
                struct choice *h = &s->choice[--s->nchoice];
                if (h->taken)
                    step_untake(s, s->list[h->at]);
                else
                    step_unskip(s, s->list[h->at]);
            }
            return false;
        }
        struct choice *h = &s->choice[s->nchoice];
        h->at = at;
        h->end = s->end;
        memcpy(h->reach, s->reach, sizeof h->reach);
        h->taken = step_take(s, s->list[at]);
        if (h->taken || step_skip(s, s->list[at])) {
            s->nchoice++;
            at++;
            if (h->taken)
                arrive(s);
        } else {
            at = s->end; /* neither: nothing more here */
        }
    }
}

/* How many devices a stage may have at most for some live label. */
static uint32_t most_copies(const struct search *s)
{
    uint32_t most = 1;
    for (uint32_t x = 0; x < s->nlive; x++)
        most = s->live[x].left > most ? s->live[x].left : most;
    return most;
}

/* Extends the partial plans that end at ideal id by one device of each kind. */
static bool extend(struct search *s, uint32_t id)
{
    bool begun = false;
    for (s->k = 0; s->k < s->c->nkind; s->k++) {
        const struct ideal *d = &s->ideal[id];
        s->nlive =
            chain_live(s->c, &s->labels, d->head, s->k, &s->caps, &s->live, &s->caplive, s->low);
        bool hope = s->nlive > 0;
        uint32_t copies = most_copies(s);
        for (uint32_t p = 0; p < s->c->npot; p++)
            hope = hope && d->weight[p] + sat_mul(copies, s->caps.cap[p][s->k]) >= s->low[p];
        if (!hope)
            continue;
        if (!begun)
            begin_start(s, id);
        begun = true;
        s->kind = &s->c->kind[s->k];
        s->cls = &s->c->cls[s->kind->cls];
        s->compute = s->fixed = s->cut = s->bytes = 0;
        s->parts = (struct chain_parts){0};
        s->copies = copies;
        s->room = sat_mul(copies, s->caps.limit);
        s->weighs = s->kind->memory < CHAIN_INF || s->kind->copies > 1;
        s->cross = d->cross;
        s->spare = INT64_MIN;
        for (uint32_t x = 0; x < s->nlive; x++)
            if (s->caps.keep - s->live[x].value > s->spare)
                s->spare = s->caps.keep - s->live[x].value;
        s->key = d->key;
        s->card = d->card;
        memcpy(s->weight, d->weight, sizeof s->weight);
        for (uint32_t p = 0; p < s->c->npot; p++)
            s->reach[p] = s->c->pot[p].total;
        if (!enumerate(s))
            return false;
    }
    return true;
}

/* Writes the plan that ends in s->last. */
static void keep(struct search *s, struct chain_plan *best)
{
    uint32_t nstep = 0, at;
    for (uint32_t l = s->last; s->labels.v[l].parent; l = s->labels.v[l].parent)
        nstep++;
    struct chain_step *steps = arena_array(s->a, (size_t)nstep + 1, sizeof *steps);
    uint32_t *step = arena_array(s->a, (size_t)s->n + 1, sizeof *step);
    at = nstep;
    for (uint32_t l = s->last; s->labels.v[l].parent; l = s->labels.v[l].parent) {
        begin_start(s, s->labels.v[l].at);
        steps[--at] = (struct chain_step){s->labels.v[l].kind, s->labels.v[l].copies};
        for (uint32_t v = 0; v < s->n; v++)
            if (has(s, v))
                step[v] = at;
    }
    best->value = s->labels.v[s->last].value + s->labels.v[s->last].back;
    chain_assign(s->c, step, steps, nstep, best);
}

/* Searches for plans that s->caps allows. */
static void run(struct search *s)
{
    struct dp_search *opt = s->opt;
    opt->states = opt->steps = 0;
    opt->why = NULL;
    s->max_steps = opt->max_states * STEPS_PER_STATE;
    if (opt->max_steps && opt->max_steps < s->max_steps)
        s->max_steps = opt->max_steps;
    begin(s);
    s->check = CHECK_EVERY;
    s->began = chain_now();
    uint32_t empty = intern(s);
    labels_relax(&s->labels, s->c, &s->ideal[empty].head, (struct label){.at = empty});
    bool going = true;
    for (uint32_t card = 0; going && card < s->n; card++)
        for (uint32_t id = s->bucket[card]; going && id; id = s->ideal[id].next)
            going = extend(s, id);
    if (s->told)
        fprintf(stderr, "\r%78s\r", "");
    opt->states = s->nideal - 1;
    opt->passed = s->ideal[s->start].card;
    opt->complete = going;
}

static struct search search_of(const struct chain *c, struct dp_search *opt, struct arena *scratch)
{
    return (struct search){.c = c,
                           .crossing = c->pot[c->cross_pot].net,
                           .g = c->g,
                           .opt = opt,
                           .a = scratch,
                           .n = c->g->n,
                           .nword = (c->g->n + 63) / 64,
                           .used_before = arena_used(scratch)};
}

bool dp_search(const struct chain *c, struct dp_search *opt, struct chain_plan *best,
               struct arena *scratch)
{
    struct arena_mark mark = arena_mark(scratch);
    struct search s = search_of(c, opt, scratch);
    opt->states = opt->steps = 0;
    opt->why = NULL;
    opt->complete = best->value <= c->lower;
    if (opt->complete || s.n == 0)
        return false;
    chain_set_limit(c, &s.caps, best->value - 1);
    run(&s);
    if (s.last)
        keep(&s, best);
    arena_release(scratch, mark);
    return s.last != 0;
}

bool dp_refute(const struct chain *c, int64_t limit, int64_t floating, struct dp_search *opt,
               struct arena *scratch)
{
    struct arena_mark mark = arena_mark(scratch);
    struct search s = search_of(c, opt, scratch);
    s.refute = true;
    chain_set_limit(c, &s.caps, limit);
    s.caps.keep = -c->pot[0].total - floating;
    for (uint32_t k = 0; k < c->nkind; k++)
        s.caps.keep += sat_mul(c->kind[k].count, s.caps.cap[0][k]);
    opt->complete = s.caps.keep < 0;
    opt->steps = opt->states = 0;
    opt->why = NULL;
    if (s.caps.keep >= 0 && s.n > 0)
        run(&s);
    arena_release(scratch, mark);
    return opt->complete && !s.last;
}
