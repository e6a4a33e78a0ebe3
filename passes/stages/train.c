/* Runs plans of stages, and leaves the best one as a planner's result (train.h).
 *
 * For each stage of a plan two things are chosen here: how many forward passes it does before its first backward pass
 * (`ahead`), by DAPPLE's two policies, but at most what the memory of its devices holds; and whether it recomputes,
 * that is, runs its forward pass again before the backward pass.  It recomputes where memory does not suffice
 * otherwise, and, as another try, where memory holds fewer micro-batches than the policy wants.  The fastest try that
 * fits is kept.  O(runs of the iteration). */
#include "passes/stages/train.h"

#include "ir/base/units.h"
#include "ir/exec/evaluate.h"
#include "ir/plan/update_pass.h"
#include "ir/plan/weight_pass.h"
#include "passes/problem/claim.h"
#include "passes/stages/stage_bound.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_SETS = 4 /* up to this many stages every choice of recomputing stages is tried */ };

/* Returns whether stages of the plan on unequal numbers of devices read each other's numbers of samples. */
static bool passes_counts(const struct train *t, const struct stage_layout *p)
{
    uint32_t places = p->places ? p->places : p->n;
    for (uint32_t i = 0; i < t->rules.counts.n; i++) {
        const struct layer_span *x = &t->rules.counts.span[i];
        uint32_t from = p->stage_of[x->from] % places, to = p->stage_of[x->to] % places;
        if (servers_devices(&t->servers, &p->set[from]) !=
            servers_devices(&t->servers, &p->set[to]))
            return true;
    }
    return false;
}

/* Returns whether updates of the plan have parts of their own, if t->update is set. */
static bool updates_apart(const struct train *t, const struct stage_layout *p)
{
    return update_pass_wanted(&t->x->scene) && !passes_counts(t, p);
}

/* With PipeDream's schedule, whose devices take whole micro-batches, updates are never within for that reason. */
bool train_updates_within(const struct train *t, const struct stage_layout *p)
{
    return t->rules.own && update_pass_wanted(&t->x->scene) &&
           t->x->scene.model.training.schedule != TRAINING_PIPEDREAM && passes_counts(t, p);
}

void train_set_size(struct training *m, int64_t global, int64_t size)
{
    assert(size > 0 && global % size == 0);
    m->micro_size = size;
    m->micro_batches = (uint32_t)(global / size);
}

/* ---- sums and stages ---------------------------------------------------------------------------- */

/* Sets sum[stage].parts: for each layer of the stage the bytes of its gradients and the time in the stage's backward
 * pass at which they are ready.  The backward pass begins with the last layer. */
static void add_parts(const struct train *t, const struct stage_layout *p, struct stage_sums *sum,
                      struct arena *a)
{
    const struct layers_of *l = &t->layers;
    bool apart = updates_apart(t, p);
    int64_t *now = arena_array(a, (size_t)p->n + 1, sizeof *now); /* [stage] ps passed so far */
    for (uint32_t v = 0; v < l->n; v++)
        sum[p->stage_of[v]].parts.n++;
    for (uint32_t k = 0; k < p->n; k++) {
        struct reduce_parts *of = &sum[k].parts;
        of->part = arena_array(a, (size_t)of->n + 1, sizeof *of->part);
        of->n = 0; /* counts the parts that are added from here on */
    }
    for (uint32_t v = l->n; v-- > 0;) {
        uint32_t k = p->stage_of[v];
        struct reduce_parts *of = &sum[k].parts;
        now[k] = sat_add(now[k], l->backward[v]);
        if (t->update)
            now[k] = sat_add(now[k], apart ? t->update[v].each : t->update[v].within);
        if (l->parameter[v])
            of->part[of->n++] = (struct reduce_part){now[k], l->parameter[v]};
    }
}

/* Adds to *bytes and *values the bytes and the number of values of a span. */
static void add_sent(int64_t *bytes, int64_t *values, const struct layer_span *x)
{
    *bytes = sat_add(*bytes, x->amount);
    *values = sat_add(*values, x->values);
}

/* Adds to the sums of a graph in ONNX the bytes of values and gradients on the link behind each stage, and the time of
 * backward nodes that only make gradients of weights. */
static void add_spans(const struct train *t, const struct stage_layout *p, struct stage_sums *sum)
{
    for (uint32_t i = 0; i < t->values.n; i++) {
        const struct layer_span *x = &t->values.span[i];
        for (uint32_t k = p->stage_of[x->from]; k < p->stage_of[x->to]; k++)
            add_sent(&sum[k].send, &sum[k].values, x);
    }
    for (uint32_t i = 0; i < t->gradients.n; i++) {
        const struct layer_span *x = &t->gradients.span[i];
        for (uint32_t k = p->stage_of[x->to]; k < p->stage_of[x->from]; k++)
            add_sent(&sum[k].send_back, &sum[k].gradients, x);
    }
    for (uint32_t i = 0; i < t->waiting.n; i++) {
        const struct layer_span *x = &t->waiting.span[i];
        uint32_t k = p->stage_of[x->from];
        if (p->stage_of[x->to] != k)
            continue;
        sum[k].weight = sat_add(sum[k].weight, x->amount);
        sum[k].overhead.weight = sat_add(sum[k].overhead.weight, x->overhead);
    }
}

/* Returns whether the plan's stages are ranges of the row of layers. */
static bool are_ranges(const struct train *t, const struct stage_layout *p)
{
    bool ranges = true;
    for (uint32_t v = 1; v < t->layers.n; v++)
        ranges = ranges && p->stage_of[v] >= p->stage_of[v - 1];
    return ranges;
}

/* Adds the same as add_spans(), from each node and its readers: where stages are no ranges of the row of layers, the
 * layer of a reader that stands farthest in the row need not be in the farthest stage.  O(nodes + pins). */
static void add_readers(const struct train *t, const struct stage_layout *p, struct stage_sums *sum)
{
    const struct scene *s = &t->x->scene;
    const struct graph *g = &s->m->graph[1];
    struct arena *own = arena_new(t->x->use.scratch);
    int32_t *stage_of = arena_array(own, (size_t)s->m->nnode + 1, sizeof *stage_of); /* [node] */
    const uint8_t *update = t->rules.own;
    for (nid n = g->first; n < g->first + g->count; n++)
        if (s->place->kind[n] == PLACE_NODE)
            stage_of[n] = (int32_t)p->stage_of[train_layer(t, n)];
    for (uint32_t e = 0; e < s->place->nnet; e++) {
        vid v = s->place->net_value[e];
        nid def = s->m->value[v].def;
        if (!def || s->place->kind[def] != PLACE_NODE || (update && update[def]))
            continue;
        const struct layer_span x = {.amount = s->m->cost->bytes[v], .values = 1};
        int32_t low = stage_of[def], high = low;
        for_row (y, s->place->net_pin, e) {
            low = stage_of[y] < low ? stage_of[y] : low;
            high = stage_of[y] > high ? stage_of[y] : high;
        }
        for (int32_t k = stage_of[def]; k < high && !s->m->backward[def]; k++)
            add_sent(&sum[k].send, &sum[k].values, &x);
        for (int32_t k = low; k < stage_of[def] && s->m->backward[def]; k++)
            add_sent(&sum[k].send_back, &sum[k].gradients, &x);
    }
    const uint8_t *weight = weight_pass_apart(s) ? weight_pass_nodes(s, stage_of, own) : NULL;
    uint32_t cls = cluster_main_class(s->cluster);
    for (nid n = g->first; weight && n < g->first + g->count; n++) {
        if (!weight[n] || (update && update[n]))
            continue;
        struct stage_sums *to = &sum[stage_of[n]];
        int64_t ps = s->m->cost->time[cls][n];
        to->weight = sat_add(to->weight, ps == COST_NEVER ? 0 : ps);
        to->overhead.weight = sat_add(to->overhead.weight, costs_overhead(s->m->cost, cls, n));
    }
    arena_free(own);
}

/* Adds what the updates of a layer take to the sums of its stage.  apart: updates are apart from backward passes. */
static void add_update(const struct layer_update *u, bool apart, struct stage_sums *sum)
{
    sum->backward = sat_add(sum->backward, apart ? u->each : u->within);
    sum->weight = sat_add(sum->weight, apart ? u->weight : u->within);
    int64_t overhead = apart ? u->each : u->within_overhead;
    sum->overhead.backward = sat_add(sum->overhead.backward, overhead);
    sum->overhead.weight = sat_add(sum->overhead.weight, apart ? u->weight : overhead);
    sum->update = sat_add(sum->update, apart ? u->once : 0);
}

struct stage_sums *train_sums(const struct train *t, const struct stage_layout *p, struct arena *a)
{
    const struct layers_of *l = &t->layers;
    bool graph = t->x->scene.m->ir_version, apart = updates_apart(t, p);
    struct stage_sums *sum = arena_array(a, (size_t)p->n + 1, sizeof *sum);
    for (uint32_t v = 0; v < l->n; v++) {
        uint32_t k = p->stage_of[v], last = k;
        sum[k].forward = sat_add(sum[k].forward, l->forward[v]);
        sum[k].backward = sat_add(sum[k].backward, l->backward[v]);
        sum[k].overhead.forward = sat_add(sum[k].overhead.forward, l->forward_overhead[v]);
        sum[k].overhead.backward = sat_add(sum[k].overhead.backward, l->backward_overhead[v]);
        if (t->update)
            add_update(&t->update[v], apart, &sum[k]);
        sum[k].parameter = sat_add(sum[k].parameter, l->parameter[v]);
        sum[k].stored = sat_add(sum[k].stored, t->stored[v]);
        sum[k].constant = sat_add(sum[k].constant, t->constant[v]);
        /* a layer's result is sent behind each stage from the layer's on to the last one that reads the result */
        for (uint32_t i = l->succ.at[v]; i < l->succ.at[v + 1] && !graph; i++)
            last = larger_u32(p->stage_of[l->succ.to[i]], last);
        for (; k < last; k++)
            sum[k].send = sat_add(sum[k].send, l->activation[v]);
    }
    /* in a profile gradients have the bytes of the values; in a graph both are 0 so far */
    for (uint32_t k = 0; k < p->n; k++)
        sum[k].send_back = sum[k].send;
    if (graph && are_ranges(t, p))
        add_spans(t, p, sum);
    else if (graph)
        add_readers(t, p, sum);
    if (t->x->scene.model.training.reduce_when != REDUCE_AFTER)
        add_parts(t, p, sum, a);
    return sum;
}

struct stage_layout train_cut(const struct train *t, uint32_t n, const uint32_t *end,
                              const struct device_set *set)
{
    uint32_t *stage_of = arena_array(t->x->use.scratch, (size_t)t->layers.n + 1, sizeof *stage_of);
    for (uint32_t v = 0, k = 0; v < t->layers.n; v++) {
        while (v >= end[k])
            k++;
        stage_of[v] = k;
    }
    return (struct stage_layout){.n = n, .stage_of = stage_of, .set = set};
}

/* Returns whether the forward and backward passes through the layers from .. to - 1 take at most about `most` ps on
 * each of n devices. */
static bool stage_takes(const struct layer_chain *c, uint32_t from, uint32_t to, uint32_t n,
                        int64_t most)
{
    int64_t all =
        sat_add(c->forward[to], c->backward[to]) - sat_add(c->forward[from], c->backward[from]);
    int64_t overhead = sat_add(chain_overhead(c->forward_overhead, from, to),
                               chain_overhead(c->backward_overhead, from, to));
    return overhead <= most && all - overhead <= sat_mul(most - overhead, n);
}

/* Fills end[] (see train_cut) with the p->n stages of p: as many layers for each as take `most` ps on its devices,
 * but at least one, and so many that at least one layer is left for each later stage.  Returns false if a stage
 * takes longer than `most`, or if layers are left over. */
static bool fill_stages(const struct train *t, const struct layer_chain *c,
                        const struct stage_layout *p, int64_t most, uint32_t *end)
{
    uint32_t layer = 0;
    for (uint32_t k = 0; k < p->n; k++) {
        uint32_t from = layer++, left = p->n - k - 1;
        uint32_t n = servers_devices(&t->servers, &p->set[k]);
        while (layer + left < c->n && stage_takes(c, from, layer + 1, n, most))
            layer++;
        end[k] = layer;
        if (!stage_takes(c, from, layer, n, most))
            return false;
    }
    return layer == c->n;
}

struct stage_layout train_even(const struct train *t, const struct layer_chain *chain, uint32_t n,
                               uint32_t places, const struct device_set *set)
{
    struct arena *a = t->x->use.scratch;
    uint32_t *end = arena_array(a, (size_t)n + 1, sizeof *end);
    struct device_set *of = arena_array(a, (size_t)n + 1, sizeof *of);
    assert(n <= chain->n);
    for (uint32_t k = 0; k < n; k++)
        of[k] = set[k % places];
    struct stage_layout p = {.n = n, .set = of, .places = places};
    int64_t low = 0, high = sat_add(chain->forward[chain->n], chain->backward[chain->n]);
    while (low < high) { /* bisection for the least `most` that fill_stages can keep */
        int64_t half = low + (high - low) / 2;
        if (fill_stages(t, chain, &p, half, end))
            high = half;
        else
            low = half + 1;
    }
    fill_stages(t, chain, &p, high, end);
    p.stage_of = train_cut(t, n, end, of).stage_of;
    return p;
}

/* ---- order of passes and memory ----------------------------------------------------------------- */

/* Returns the number of forward passes that stage k should do before its first backward pass if memory allows.  Where
 * neither the schedule nor the user sets it, each stage does `slope` more than the next stage: 1 is DAPPLE's policy A,
 * 2 its policy B. */
static uint32_t wanted_ahead(const struct iteration_run *r, const struct training *t,
                             uint32_t slope, uint32_t k)
{
    uint32_t n = r->x.nstage, most = r->x.micro_batches;
    if (t->schedule == TRAINING_GPIPE)
        return most;
    if (t->warm_up > 0)
        return (uint32_t)t->warm_up;
    if (t->schedule == TRAINING_PIPEDREAM)
        return iteration_ahead_turns(r->stage, n, k);
    return smaller_u32(slope * (n - 1 - k) + 1, most);
}

/* Returns the number of micro-batches that stage k keeps in memory at once if it does `ahead` forward passes before its
 * first backward pass.  ZB-H1 computes gradients of weights k backward passes later, and keeps k micro-batches more. */
static uint32_t kept_at_once(const struct iteration_run *r, const struct training *t, uint32_t k,
                             uint32_t ahead)
{
    uint64_t n = (uint64_t)ahead + (t->schedule == TRAINING_ZB_H1 ? k : 0);
    return n < r->x.micro_batches ? (uint32_t)n : r->x.micro_batches;
}

/* Values of `which`: which stages recompute, if the planner may choose.  RECOMPUTE_NEEDED: stages that have no room
 * otherwise.  RECOMPUTE_EAGER: in addition, stages whose memory holds fewer micro-batches than the policy wants.  A
 * number of 0 or more: stage k recomputes if the number has bit k. */
enum { RECOMPUTE_NEEDED = -2, RECOMPUTE_EAGER = -1 };

/* Sets `recompute` of stage k (which: RECOMPUTE_NEEDED, RECOMPUTE_EAGER or a mask of stages), and `ahead` as its memory
 * allows.  Returns false if the stage cannot hold even the least that it needs: with GPipe all micro-batches, else the
 * micro-batches that it holds with `ahead` 1. */
static bool settle_stage(const struct train *t, struct iteration_run *r, uint32_t slope,
                         int64_t which, uint32_t k)
{
    const struct training *m = &t->x->scene.model.training;
    struct stage_work *w = &r->stage[k];
    uint32_t want = wanted_ahead(r, m, slope, k);
    bool rigid = m->schedule == TRAINING_GPIPE; /* the number of forward passes is fixed */
    w->recompute = m->recompute == RECOMPUTE_ALL || (which >= 0 && which >> k & 1);
    uint32_t room = iteration_room(r, &t->x->scene, k, w->recompute);
    uint32_t least = rigid ? r->x.micro_batches : kept_at_once(r, m, k, 1);
    bool eager = which == RECOMPUTE_EAGER && room < kept_at_once(r, m, k, want);
    if (m->recompute == RECOMPUTE_AUTO && which < 0 && (room < least || eager)) {
        w->recompute = true;
        room = iteration_room(r, &t->x->scene, k, /*recompute=*/true);
    }
    if (room < least)
        return false;
    /* the stage holds at least one micro-batch for each pass ahead, with ZB-H1 more */
    if (!rigid && want > 1)
        want = smaller_u32(want, room);
    while (!rigid && want > 1 && kept_at_once(r, m, k, want) > room)
        want--;
    w->ahead = want;
    return true;
}

/* Settles all stages of *r (settle_stage).  Returns false if a stage has no room. */
static bool settle_stages(const struct train *t, struct iteration_run *r, uint32_t slope,
                          int64_t which)
{
    for (uint32_t k = 0; k < r->x.nstage; k++)
        if (!settle_stage(t, r, slope, which, k))
            return false;
    iteration_settle_ahead(r->stage, r->x.nstage);
    return true;
}

/* Returns whether some stage cannot hold the micro-batches that the policy wants, unless it recomputes. */
static bool is_memory_short(const struct train *t, const struct iteration_run *r, uint32_t slope)
{
    const struct training *m = &t->x->scene.model.training;
    for (uint32_t k = 0; k < r->x.nstage; k++)
        if (iteration_room(r, &t->x->scene, k, /*recompute=*/false) <
            kept_at_once(r, m, k, wanted_ahead(r, m, slope, k)))
            return true;
    return false;
}

/* Copies value, ahead and recompute from a run to the plan; new arrays live in a. */
static void keep_run(struct stage_layout *p, const struct iteration_run *r, struct arena *a)
{
    p->value = r->value;
    if (!p->ahead) {
        p->ahead = arena_array(a, p->n, sizeof *p->ahead);
        p->recompute = arena_alloc(a, p->n);
    }
    for (uint32_t k = 0; k < p->n; k++) {
        p->ahead[k] = r->stage[k].ahead;
        p->recompute[k] = r->stage[k].recompute;
    }
}

bool train_size_said(const struct ctx *x)
{
    return ctx_said(x, "micro-batches") || ctx_said(x, "micro-batch-size");
}

/* Returns whether the devices of a set cannot share a micro-batch in slices of whole samples, though the settings
 * demand whole samples. */
static bool splits_samples(const struct train *t, const struct device_set *set)
{
    const struct training *m = &t->x->scene.model.training;
    return !m->any_slices && m->micro_size && m->schedule != TRAINING_PIPEDREAM &&
           m->micro_size % servers_devices(&t->servers, set) != 0;
}

/* Returns whether to run plans with DAPPLE's policy A (slope 1) or B (slope 2).  Where the schedule or the user sets
 * `ahead`, both policies give the same plan, so only A is run. */
static bool is_policy_tried(const struct training *m, uint32_t slope)
{
    bool settles = m->schedule == TRAINING_DAPPLE || m->schedule == TRAINING_ZB_H1;
    if (!settles || m->warm_up > 0)
        return slope == 1;
    return m->warm_up == WARM_UP_BEST || slope == (m->warm_up == WARM_UP_B ? 2 : 1);
}

/* A stage, the memory that recomputing the stage saves, and the time that recomputing takes. */
struct saving {
    uint32_t stage;
    int64_t bytes; /* memory that recomputing the stage saves */
    int64_t ps;    /* time of running the stage forward once more, >= 1 */
};

/* Compares savings by bytes per ps, the largest first, then by stage; for qsort(). */
static int by_saving(const void *a, const void *b)
{
    const struct saving *x = a, *y = b;
    __int128 p = (__int128)x->bytes * y->ps, q = (__int128)y->bytes * x->ps;
    if (p != q)
        return p > q ? -1 : 1;
    return x->stage < y->stage ? -1 : x->stage > y->stage;
}

/* Sets `recompute` of the stages of a place: to 1 for the n stages that save most for their time, to 0 for all other
 * stages there.  list: room for all stages of a place. */
static void recompute_best(struct iteration_run *r, uint32_t place, uint32_t n, struct saving *list)
{
    uint32_t count = 0;
    for (uint32_t k = place; k < r->x.nstage; k += r->x.nplace) {
        const struct stage_work *w = &r->stage[k];
        list[count++] = (struct saving){
            .stage = k, .bytes = w->stored - w->checkpoint, .ps = larger(w->forward, 1)};
    }
    qsort(list, count, sizeof *list, by_saving);
    for (uint32_t i = 0; i < count; i++)
        r->stage[list[i].stage].recompute = i < n;
}

/* Returns an iteration, ready to run (iteration_set_up), whose places have the memory that t->beyond and t->spare
 * leave. */
static struct iteration_run set_up(const struct train *t, const struct stages_on *on,
                                   struct arena *a)
{
    struct iteration_run r = iteration_set_up(&t->x->scene, &t->servers, on, a);
    for (uint32_t k = 0; k < on->nplace; k++)
        if (r.memory[k] >= 0)
            r.memory[k] = larger(r.memory[k] - larger(t->beyond ? t->beyond[k] : 0, t->spare), 0);
    return r;
}

/* Runs a plan with the interleaved schedule, once for every set of stages that recompute, and keeps the fastest run
 * that fits.  Leaves out the empty set, since try_interleaved() has run that one. */
static void try_every_set(const struct train *t, struct stage_layout *p, const struct stages_on *on,
                          struct arena *own)
{
    const struct scene *s = &t->x->scene;
    for (uint32_t set = 1; set < 1U << p->n; set++) {
        struct arena_mark mark = arena_mark(own);
        struct iteration_run r = set_up(t, on, own);
        for (uint32_t k = 0; k < p->n; k++)
            r.stage[k].recompute = set >> k & 1;
        iteration_run(&r, s, own);
        if (r.t.status == RUN_DONE && r.t.over == 0 && r.value < p->value)
            keep_run(p, &r, t->x->use.scratch);
        arena_release(own, mark);
    }
}

/* Runs a plan with the interleaved schedule, which sets `ahead` itself; only `recompute` is chosen: on places where
 * memory does not suffice for 1, 2, 4, ... stages, until it does or all stages recompute; if t wants it and memory is
 * short, also every other set of stages.  Keeps the fastest run that fits; sets p->too_long. */
static void try_interleaved(const struct train *t, struct stage_layout *p,
                            const struct stages_on *on, struct arena *own)
{
    const struct scene *s = &t->x->scene;
    enum recompute recompute = s->model.training.recompute;
    struct iteration_run r = set_up(t, on, own);
    for (uint32_t k = 0; k < p->n; k++)
        r.stage[k].recompute = recompute == RECOMPUTE_ALL;
    iteration_run(&r, s, own);
    uint32_t each = p->n / on->nplace; /* number of stages on each place */
    /* [place] number of stages that recompute, if the planner may choose */
    uint32_t *n = arena_array(own, on->nplace, sizeof *n);
    struct saving *list = arena_array(own, p->n, sizeof *list);
    bool more = recompute == RECOMPUTE_AUTO; /* there is another choice to try */
    bool tight = more && r.t.status == RUN_DONE && r.t.over > 0; /* some stages have to recompute */
    while (more && r.t.status == RUN_DONE && r.t.over > 0) {
        more = false;
        for (uint32_t place = 0; place < on->nplace; place++) {
            if (r.memory[place] < 0 || r.t.peak[place] <= r.memory[place] || n[place] == each)
                continue;
            n[place] = smaller_u32(n[place] ? 2 * n[place] : 1, each);
            recompute_best(&r, place, n[place], list);
            more = true;
        }
        if (more)
            iteration_run(&r, s, own);
    }
    if (r.t.status == RUN_DONE && r.t.over == 0)
        keep_run(p, &r, t->x->use.scratch);
    p->too_long = r.t.status == RUN_DONE && r.t.over == 0 && r.value == INT64_MAX;
    if (tight && t->more == EVERY_RECOMPUTE && p->n <= MOST_SETS)
        try_every_set(t, p, on, own);
}

/* Runs a plan with one policy and one choice of stages that recompute (settle_stage), and keeps the run if it is the
 * fastest so far that fits the memory; sets p->too_long if it fits, but its time cannot be counted. */
static void try_policy(const struct train *t, struct stage_layout *p, const struct stages_on *on,
                       uint32_t slope, int64_t which, struct arena *own)
{
    const struct scene *s = &t->x->scene;
    struct arena_mark mark = arena_mark(own);
    struct iteration_run r = set_up(t, on, own);
    bool fits = settle_stages(t, &r, slope, which);
    /* an eager run in which no stage recomputes is the same as the run with RECOMPUTE_NEEDED, which came before */
    bool repeated = which == RECOMPUTE_EAGER;
    for (uint32_t k = 0; k < p->n; k++)
        repeated = repeated && !r.stage[k].recompute;
    if (fits && !repeated) {
        iteration_run(&r, s, own);
        fits = r.t.status == RUN_DONE && r.t.over == 0;
        p->too_long = p->too_long || (fits && r.value == INT64_MAX);
        if (fits && r.value < p->value)
            keep_run(p, &r, t->x->use.scratch);
    }
    arena_release(own, mark);
}

/* Runs a plan with each policy of warm-up that is to be tried (slope 1: policy A of DAPPLE, 2: policy B), without
 * and with eager recomputing; if t wants it and memory is short, also with every set of recomputing stages, which
 * try_policy() takes as the bits of a number.  The best run is kept in *p. */
static void try_policies(const struct train *t, struct stage_layout *p, const struct stages_on *on,
                         struct arena *own)
{
    const struct training *m = &t->x->scene.model.training;
    bool choose = m->recompute == RECOMPUTE_AUTO; /* the planner chooses which stages recompute */
    int64_t last = choose ? RECOMPUTE_EAGER : RECOMPUTE_NEEDED;
    for (int64_t which = RECOMPUTE_NEEDED; which <= last; which++)
        for (uint32_t slope = 1; slope <= 2; slope++)
            if (is_policy_tried(m, slope))
                try_policy(t, p, on, slope, which, own);
    if (!choose || t->more != EVERY_RECOMPUTE || p->n > MOST_SETS)
        return;
    for (uint32_t slope = 1; slope <= 2; slope++) {
        if (!is_policy_tried(m, slope))
            continue;
        struct iteration_run r = set_up(t, on, own);
        bool every = is_memory_short(t, &r, slope);
        for (int64_t which = 1; every && which < INT64_C(1) << p->n; which++)
            try_policy(t, p, on, slope, which, own);
    }
}

/* Runs a plan whose stages run further ahead than by DAPPLE's policies, and keeps the fastest run that fits.  Does
 * nothing if the schedule is neither dapple nor zb-h1, if the user sets how far stages run ahead, or if the plan has a
 * single stage or no run yet. */
static void try_farther(const struct train *t, struct stage_layout *p, const struct stages_on *on,
                        struct arena *own)
{
    const struct training *m = &t->x->scene.model.training;
    bool settles = m->schedule == TRAINING_DAPPLE || m->schedule == TRAINING_ZB_H1;
    if (!settles || m->warm_up != WARM_UP_BEST || p->value == INT64_MAX || p->n < 2)
        return;
    /* tries slopes 3, 4, 6, 9, ... (wanted_ahead) until a slope brings nothing; goes on after the first one in any
     * case, since it is close to policy B */
    enum { FIRST_SLOPE = 3 };
    for (uint32_t slope = FIRST_SLOPE; slope <= training_count(m); slope += slope / 2) {
        int64_t before = p->value;
        try_policy(t, p, on, slope, RECOMPUTE_NEEDED, own);
        if (m->recompute == RECOMPUTE_AUTO)
            try_policy(t, p, on, slope, RECOMPUTE_EAGER, own);
        if (slope > FIRST_SLOPE && p->value == before)
            break;
    }
}

/* Returns whether stages of the plan update by values that follow from gradients of other stages. */
static bool updates_jointly(const struct train *t, const struct stage_layout *p)
{
    for (uint32_t i = 0; i < t->joint.value.n; i++)
        if (p->stage_of[t->joint.value.span[i].from] != p->stage_of[t->joint.value.span[i].to])
            return true;
    return false;
}

/* Returns whether the plan can be run though its stages update jointly: each has one device, and updates are apart. */
static bool can_update_jointly(const struct train *t, const struct stage_layout *p)
{
    uint32_t n = 0;
    for (uint32_t k = 0; k < p->n; k++)
        n += servers_devices(&t->servers, &p->set[k]);
    return n == p->n && update_pass_wanted(&t->x->scene);
}

void train_try(const struct train *t, struct stage_layout *p)
{
    const struct scene *s = &t->x->scene;
    uint32_t places = p->places ? p->places : p->n;
    bool joint = updates_jointly(t, p);
    p->value = INT64_MAX;
    p->within = t->rules.needs_apart && train_updates_within(t, p);
    if (p->within || (joint && !can_update_jointly(t, p)))
        return;
    for (uint32_t k = 0; k < places; k++)
        p->uneven = p->uneven || splits_samples(t, &p->set[k]);
    struct arena *own = arena_new(t->x->use.scratch);
    p->odd = iteration_refuses(s, p->n, places, own) != NULL;
    if (!p->uneven && !p->odd) {
        struct stages_on on = {.n = p->n,
                               .nplace = places,
                               .sum = train_sums(t, p, own),
                               .set = p->set,
                               .joint_update = joint};
        if (s->model.training.schedule == TRAINING_INTERLEAVED)
            try_interleaved(t, p, &on, own);
        else
            try_policies(t, p, &on, own);
        if (t->more == FARTHER_AHEAD)
            try_farther(t, p, &on, own);
    }
    arena_free(own);
}

void train_farther(const struct train *t, struct stage_layout *p)
{
    struct arena *own = arena_new(t->x->use.scratch);
    struct stages_on on = {.n = p->n, .nplace = p->n, .sum = train_sums(t, p, own), .set = p->set};
    try_farther(t, p, &on, own);
    arena_free(own);
}

bool train_better(const struct stage_layout *p, const struct stage_layout *best)
{
    return p->value < best->value || !best->n || (best->uneven && !p->uneven) ||
           (best->odd && !p->odd);
}

/* ---- the planner's result ----------------------------------------------------------------------- */

/* Returns the stages of a plan with numbers of devices: each place gets the first free devices of each server in its
 * set, and all stages of a place get the same devices. */
static struct stages *choose_devices(const struct train *t, const struct stage_layout *p,
                                     struct arena *a)
{
    const struct cluster *c = t->x->scene.cluster;
    /* next[server]: number of its devices that stages have so far */
    uint32_t next[SERVERS] = {0}, cls = cluster_main_class(c), first = 0, n = 0;
    struct stages *s = arena_alloc(a, sizeof *s);
    s->n = p->n;
    s->ahead = arena_array(a, p->n, sizeof *s->ahead);
    s->recompute = arena_alloc(a, p->n);
    memcpy(s->ahead, p->ahead, p->n * sizeof *s->ahead);
    memcpy(s->recompute, p->recompute, p->n);
    s->device.at = arena_array(a, (size_t)p->n + 1, sizeof *s->device.at);
    uint32_t places = p->places ? p->places : p->n;
    s->device.to =
        arena_array(a, (size_t)t->servers.ndev * (p->n / places) + 1, sizeof *s->device.to);
    /* `first` becomes the first device of class cls */
    for (uint32_t k = 0; k < cls; k++)
        first += c->cls[k].count;
    for (uint32_t k = 0; k < p->n; k++) {
        uint32_t base = first, before = k % places;
        if (k >= places) { /* the stage gets the devices of its place's first stage, once more */
            uint32_t count = s->device.at[before + 1] - s->device.at[before];
            memcpy(s->device.to + n, s->device.to + s->device.at[before],
                   count * sizeof *s->device.to);
            s->device.at[k + 1] = n += count;
            continue;
        }
        for (uint32_t v = 0; v < t->servers.n; v++) {
            for (uint32_t i = 0; i < p->set[k].of[v]; i++)
                s->device.to[n++] = base + next[v]++;
            base += t->servers.size[v]; /* the first device of the next server */
        }
        s->device.at[k + 1] = n;
    }
    return s;
}

/* Sets bound, scope, proof and status of the claim on the plan: the bound of the work of all devices, or stage_bound()
 * if that is higher.  Returns the reason why the chosen bound holds. */
static const char *claim_bound(const struct train *t)
{
    struct ctx *x = t->x;
    struct claim *c = &x->results.plan->claim;
    const struct stage_bound_question of = {.model =
                                                t->offered ? t->offered : &x->scene.model.training,
                                            .n = t->offered ? t->noffered : 1,
                                            .upper = c->value};
    const struct scene easiest = stage_bound_least_work(t, &of);
    struct bound work = claim_run(x, &easiest);
    struct stage_bound b = stage_bound(t, &of);
    c->proof = arena_fmt(x->use.mem, "%s%s", c->proof, b.proof);
    if (b.value <= c->bound)
        return work.why;
    /* stage_bound() holds only for plans that keep layers whole; where groups need not share a device, other plans are
     * possible */
    if (mandatory_level(x)->n != x->levels.contiguous->n)
        c->scope = SCOPE_LAYERS;
    c->bound = b.value;
    c->bound_all = c->scope == SCOPE_ALL ? b.value : c->bound_all;
    c->status = c->bound >= c->value ? PLAN_OPTIMAL : PLAN_FEASIBLE;
    return b.why;
}

/* Returns the end of the message "no plan ...": the reason why there is no plan.  p: the best plan that was tried. */
static const char *why_none(const struct train *t, const struct stage_layout *p)
{
    if (!p->n)
        return arena_fmt(t->x->use.mem,
                         "can have %u stages on each of several devices (--stages-per-device): the "
                         "model has %u layer%s that can be parted",
                         t->x->scene.model.training.per_device, t->layers.n,
                         t->layers.n == 1 ? "" : "s");
    if (p->odd)
        return arena_fmt(
            t->x->use.mem, "that was tried can be run: %s",
            iteration_refuses(&t->x->scene, p->n, p->places ? p->places : p->n, t->x->use.mem));
    if (t->too_long || p->too_long)
        return "that was tried takes less than 2^63 ps (106 days) for an iteration, which is the most that pcc "
               "can count: train with a smaller batch";
    if (p->uneven)
        return "that was tried has whole samples of each micro-batch for all devices of a stage "
               "(--slices=any lets them share one)";
    if (p->within)
        return "that was tried can have updates of their own, as stages on unequal numbers of devices read how many "
               "samples others have (--update=within)";
    if (!p->why_not)
        return "that was tried has room on its devices";
    return arena_fmt(t->x->use.mem, "that was tried has room on its devices: of the last, %s",
                     p->why_not);
}

struct plan *train_plan(const struct train *t, const struct stage_layout *p, struct arena *a)
{
    struct ctx *x = t->x;
    const struct graph *g = &x->scene.m->graph[1];
    struct plan *plan = arena_alloc(a, sizeof *plan);
    *plan = (struct plan){.planner = t->planner, .stages = choose_devices(t, p, a)};
    plan->dev = arena_array(a, x->scene.m->nnode, sizeof *plan->dev);
    /* all bits set is -1: no device, and below no stage */
    memset(plan->dev, 0xff, x->scene.m->nnode * sizeof *plan->dev);
    bool shared = p->places && p->places < p->n;
    if (shared) {
        plan->stage_of = arena_array(a, x->scene.m->nnode, sizeof *plan->stage_of);
        memset(plan->stage_of, 0xff, x->scene.m->nnode * sizeof *plan->stage_of);
    }
    for (nid n = g->first; n < g->first + g->count; n++)
        if (x->scene.place->kind[n] == PLACE_NODE) {
            uint32_t k = p->stage_of[train_layer(t, n)];
            if (shared)
                plan->stage_of[n] = (int32_t)k;
            plan->dev[n] = (int32_t)plan->stages->device.to[plan->stages->device.at[k]];
        }
    return plan;
}

int train_leave(struct train *t, struct stage_layout *p, const char *found_by)
{
    struct ctx *x = t->x;
    const char *odd = NULL; /* why some of the plans that were tried cannot be run */
    train_fit(t, p, INT64_MAX);
    if (t->odd.plans)
        odd = iteration_refuses(&x->scene, t->odd.places, t->odd.places, x->use.mem);
    if (p->value < INT64_MAX && odd)
        diag_note(x->use.diag, "%s: %u of the plans that were tried cannot be run: %s", t->planner,
                  t->odd.plans, odd);
    if (p->value == INT64_MAX) {
        diag_error(x->use.diag, "%s: no plan %s", t->planner, why_none(t, p));
        return PASS_INFEASIBLE;
    }
    struct plan *plan = train_plan(t, p, x->use.mem);
    struct evaluation e = plan_evaluate(&x->scene, plan, x->use.scratch);
    if (e.why_not) {
        diag_error(x->use.diag, "%s: %s", t->planner, e.why_not);
        return PASS_INFEASIBLE;
    }
    plan->claim.objective = x->scene.model.objective;
    plan->claim.value = e.value;
    x->results.plan = plan;
    plan->claim.argument = arena_fmt(x->use.mem, "%s; bound: %s", found_by, claim_bound(t));
    return 0;
}
