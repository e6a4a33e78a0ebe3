/* Computes time and memory of an iteration of training by a plan with stages (iteration_verdict.h).
 *
 * Source: DAPPLE (arXiv 2007.01045), III and IV: the devices of a stage share each micro-batch in equal slices and make
 * their gradients equal at the end of the iteration.  PipeDream (SOSP 2019): the devices take micro-batches in turn,
 * and make their gradients equal after each one.  Costs are given for the profiled batch.  A slice of a micro-batch
 * costs in proportion to its samples, rounded up once; only what an operator takes beside computing (costs.overhead)
 * does not shrink with the slice.  A value is moved from stage to stage up to the last stage that reads it; gradients
 * are moved in the other direction.  Gradients move between the same pairs of devices, so they move as fast (as in
 * DAPPLE's formula).  In a profile the gradients of a value are added up before they are moved, so they are as large as
 * the value.
 *
 * Memory of a device: weights, their gradients, the optimizer's copies, the workspace; with PipeDream's schedule one
 * more version of the weights for each micro-batch under way; activations from the forward to the backward pass.  For
 * an ONNX graph the peak of the device's lists counts instead (written_plan.h), so that a plan and its folder have the
 * same figure. */
#include "ir/exec/iteration/iteration_verdict.h"

#include "ir/base/units.h"
#include "ir/exec/iteration/update_cost.h"
#include "ir/exec/iteration/written_plan.h"
#include "ir/plan/stages.h"
#include "ir/plan/weight_pass.h"

#include <assert.h>

enum {
    /* PipeDream: number of micro-batches for each device that run before the steady state is measured */
    STEADY_ROUNDS = 4,
    MOST_RUNS = 1 << 23 /* the most stages * micro-batches that are run */
};

/* ---- from sums to work -------------------------------------------------------------------------- */

/* Whether the devices of a stage take whole micro-batches in turn, instead of sharing each one. */
static bool takes_turns(const struct scene *s)
{
    return s->model.training.schedule == TRAINING_PIPEDREAM;
}

bool iteration_keeps_values(const struct scene *s)
{
    return s->m->ir_version && s->m->backward;
}

/* Returns the bytes that stay on a device with `parameter` bytes of weights: the weights, in training their gradients
 * and the optimizer's copies, and the workspace. */
static int64_t lasting_bytes(const struct scene *s, int64_t parameter)
{
    return sat_add(sat_mul(parameter, exec_weight_copies(&s->model, s->m->backward)),
                   s->model.training.workspace);
}

/* Sets the times of passes, update and AllReduce, the stored bytes and the turns of *w, a stage with the sums *sum on
 * the devices of a set; transfers are set elsewhere. */
static void set_stage(const struct scene *s, const struct servers *servers,
                      const struct stage_sums *sum, const struct device_set *set,
                      struct stage_work *w)
{
    const struct training *t = &s->model.training;
    uint32_t n = servers_devices(servers, set), slices = takes_turns(s) ? 1 : n;
    /* the share of the backward pass that makes gradients of weights, in millionths.  If the user gives none, it is a
     * half; but if the nodes that make these gradients are known, their times count instead (below) */
    int64_t share = t->weight_share ? t->weight_share : 500000;
    w->forward = training_time(t, sum->forward, sum->overhead.forward, slices);
    w->backward = training_time(t, sum->backward, sum->overhead.backward, slices);
    w->weight = mul_div_ceil(w->backward, share, 1000000);
    if (weight_pass_apart(s) && !t->weight_share) {
        w->weight = training_time(t, sum->weight, sum->overhead.weight, slices);
        w->weight = smaller(w->weight, w->backward);
    }
    w->stored = training_share(t, sum->stored, slices);
    w->turns = takes_turns(s) ? n : 1;
    int64_t reduce = s->m->backward ? servers_reduce(servers, set, sum->parameter) : 0;
    if (t->reduce_when != REDUCE_AFTER && s->m->backward)
        reduce = reduce_exposed(servers, set, &sum->parts, w->backward, sum->backward);
    /* the AllReduce also runs during a forward pass of the next iteration */
    if (t->reduce_when == REDUCE_ACROSS)
        reduce = reduce > w->forward ? reduce - w->forward : 0;
    w->forward = sat_add(w->forward, s->model.part_cost);
    w->backward = sat_add(w->backward, s->model.part_cost);
    w->update = sum->update > 0 ? sat_add(sum->update, s->model.part_cost) : 0;
    /* with turns, gradients are exchanged after each micro-batch instead of once an iteration */
    if (takes_turns(s))
        w->backward = sat_add(w->backward, reduce);
    else
        w->reduce = reduce;
}

/* Returns the ps that a device takes to cut or to join the rows of `values` values with `bytes` bytes together, by one
 * operator for each value that reads the value and writes it.  Returns 0 if the costs have no overheads, that is, do
 * not come from the cost model. */
static int64_t rows_time(const struct scene *s, int64_t bytes, int64_t values)
{
    const struct device_class *d = &s->cluster->cls[cluster_main_class(s->cluster)];
    if (!s->m->cost->overhead || values == 0)
        return 0;
    /* rate: bytes a second that operators reach; reached: the same from 1 to INT64_MAX */
    __int128 rate = (__int128)d->bandwidth * exec_efficiency(&s->model) / 1000000;
    int64_t reached = rate < 1 ? 1 : rate < INT64_MAX ? (int64_t)rate : INT64_MAX;
    return sat_add(sat_mul(values, d->overhead),
                   mul_div_ceil(sat_mul(2, bytes), PS_PER_S, reached));
}

/* Adds the time for cutting and joining rows to the passes of stages k and k + 1, if their numbers of devices differ
 * (DAPPLE, V-B2).  A stage on x devices has such work if x is no multiple of y, the number of devices of the other
 * stage: then a device has rows for several devices of the other stage, so it cuts the tensors that it sends and joins
 * those that it gets. */
static void add_rows(const struct scene *s, const struct servers *servers,
                     const struct stages_on *on, uint32_t k, struct stage_work *w)
{
    const struct training *t = &s->model.training;
    const struct stage_sums *sum = &on->sum[k];
    uint32_t n[2] = {servers_devices(servers, &on->set[k]),
                     servers_devices(servers, &on->set[k + 1])};
    for (uint32_t i = 0; i < 2 && !takes_turns(s); i++) {
        if (n[i] % n[1 - i] == 0)
            continue;
        int64_t there = rows_time(s, training_share(t, sum->send, n[i]), sum->values);
        int64_t back = rows_time(s, training_share(t, sum->send_back, n[i]), sum->gradients);
        w[k + i].forward = sat_add(w[k + i].forward, there);
        w[k + i].backward = sat_add(w[k + i].backward, back);
    }
}

/* Sets lasting, version and memory of *r: for each place the bytes that last during an iteration, the bytes of one
 * version of its weights, and the memory of its devices. */
static void set_places(const struct scene *s, const struct stages_on *on, struct iteration_run *r,
                       struct arena *a)
{
    uint32_t cls = cluster_main_class(s->cluster);
    r->lasting = arena_array(a, on->nplace, sizeof *r->lasting);
    r->version = arena_array(a, on->nplace, sizeof *r->version);
    r->memory = arena_array(a, on->nplace, sizeof *r->memory);
    for (uint32_t p = 0; p < on->nplace; p++) {
        int64_t constant = 0;
        for (uint32_t k = p; k < on->n; k += on->nplace) {
            r->version[p] = sat_add(r->version[p], on->sum[k].parameter);
            constant = sat_add(constant, on->sum[k].constant);
        }
        r->lasting[p] = sat_add(lasting_bytes(s, r->version[p]), constant);
        r->memory[p] = s->cluster->cls[cls].memory;
    }
}

struct iteration_run iteration_set_up(const struct scene *s, const struct servers *servers,
                                      const struct stages_on *on, struct arena *a)
{
    static const enum iteration_order order[TRAINING_SCHEDULES] = {
        [TRAINING_DAPPLE] = ITERATION_1F1B,
        [TRAINING_GPIPE] = ITERATION_GPIPE,
        [TRAINING_ZB_H1] = ITERATION_ZB_H1,
        [TRAINING_INTERLEAVED] = ITERATION_INTERLEAVED,
        [TRAINING_PIPEDREAM] = ITERATION_1F1B};
    const struct training *t = &s->model.training;
    const struct stage_sums *sum = on->sum;
    const struct device_set *set = on->set;
    struct iteration_run r = {.value = INT64_MAX};
    r.stage = arena_array(a, on->n, sizeof *r.stage);
    r.x = (struct iteration){.order = order[t->schedule],
                             .nstage = on->n,
                             .nplace = on->nplace,
                             .micro_batches = training_count(t),
                             .half_duplex = t->half_duplex,
                             .forward_only = !s->m->backward,
                             .joint_update = on->joint_update,
                             .stage = r.stage};
    for (uint32_t k = 0; k < on->n; k++) {
        struct stage_work *w = &r.stage[k];
        set_stage(s, servers, &sum[k], &set[k], w);
        w->ahead = r.x.order == ITERATION_INTERLEAVED
                       ? iteration_ahead_interleaved(&r.x, k % on->nplace)
                       : 1;
        /* with `ahead` by policy A, each stage then keeps as many micro-batches as stage 0 does */
        w->lag = k;
        w->reduce_shares = !t->own_reduce_lane && k > 0 && w->reduce > 0;
        if (k + 1 < on->n && on->nplace > 1) {
            w->send =
                servers_move(servers, &set[k], &set[k + 1], training_share(t, sum[k].send, 1));
            w->send_back =
                servers_move(servers, &set[k], &set[k + 1], training_share(t, sum[k].send_back, 1));
        }
        /* if the forward pass runs again, only the inputs of the stage are kept for a micro-batch */
        if (k > 0)
            w->checkpoint = training_share(t, sum[k - 1].send,
                                           w->turns > 1 ? 1 : servers_devices(servers, &set[k]));
        w->checkpoint = smaller(w->checkpoint, w->stored);
    }
    for (uint32_t k = 0; k + 1 < on->n && on->nplace > 1; k++)
        add_rows(s, servers, on, k, r.stage);
    set_places(s, on, &r, a);
    return r;
}

/* Returns the bytes of one more version of the weights of place k; 0 if the schedule keeps no versions. */
static int64_t version_bytes(const struct iteration_run *r, const struct scene *s, uint32_t k)
{
    return takes_turns(s) ? r->version[k] : 0;
}

uint32_t iteration_room(const struct iteration_run *r, const struct scene *s, uint32_t k,
                        bool recompute)
{
    const struct stage_work *w = &r->stage[k];
    assert(r->x.nstage == r->x.nplace);
    if (r->memory[k] < 0)
        return UINT32_MAX;
    if (r->memory[k] < r->lasting[k])
        return 0;
    /* the bytes left for micro-batches, each with its version of the weights: lasting[k] contains the first one's
     * version */
    int64_t left = r->memory[k] - r->lasting[k] + version_bytes(r, s, k);
    int64_t each = sat_add(version_bytes(r, s, k), recompute ? w->checkpoint : w->stored);
    /* while a stage recomputes, it holds all values of one micro-batch */
    left -= recompute ? w->stored - w->checkpoint : 0;
    if (left < 0)
        return 0;
    return each <= 0 || left / each > UINT32_MAX ? UINT32_MAX : (uint32_t)(left / each);
}

const char *iteration_refuses(const struct scene *s, uint32_t nstage, uint32_t nplace,
                              struct arena *a)
{
    const struct training *t = &s->model.training;
    uint32_t m = training_count(t);
    if (t->schedule != TRAINING_INTERLEAVED)
        return nstage == nplace ? NULL
                                : "stages share devices, which only --schedule=interleaved runs";
    if (m % nplace == 0)
        return NULL;
    const char *other =
        m > nplace ? arena_fmt(a, "%u or %u", m / nplace * nplace, (m / nplace + 1) * nplace)
                   : arena_fmt(a, "%u", nplace);
    return arena_fmt(
        a,
        "--schedule=interleaved takes stages on %u sets of devices through a multiple of "
        "%u micro-batches, which %u is not: --micro-batches=%s would do",
        nplace, nplace, m, other);
}

/* ---- the run ------------------------------------------------------------------------------------ */

/* Runs the iteration with r->x.micro_batches micro-batches; sets g and t, or only t.status = RUN_STOPPED if they are
 * too many. */
static void run_once(struct iteration_run *r, const struct scene *s, struct arena *a)
{
    if ((uint64_t)r->x.nstage * r->x.micro_batches > MOST_RUNS) {
        r->t = (struct timeline){.status = RUN_STOPPED};
        return;
    }
    uint32_t ndev = iteration_devices(&r->x), d = 0;
    int64_t *stays = arena_array(a, (size_t)ndev + 1, sizeof *stays);
    int64_t *memory = arena_array(a, (size_t)ndev + 1, sizeof *memory);
    for (uint32_t k = 0; k < r->x.nplace; k++)
        for (uint32_t q = 0; q < iteration_turns(&r->x, k); q++, d++) {
            int64_t versions = sat_mul(version_bytes(r, s, k), r->stage[k].ahead - 1);
            stays[d] = sat_add(r->lasting[k], versions);
            memory[d] = r->memory[k];
        }
    r->g = iteration_tasks(&r->x, stays, memory, a);
    r->t = events_run(&r->g, NULL, a);
}

void iteration_run(struct iteration_run *r, const struct scene *s, struct arena *a)
{
    uint32_t m = r->x.micro_batches;
    r->x.stage = r->stage;
    /* steady state: the value is m / more of the time that `more` micro-batches add to a run */
    if (takes_turns(s)) {
        struct arena *own = arena_new(a);
        r->x.micro_batches = STEADY_ROUNDS * iteration_devices(&r->x);
        run_once(r, s, own);
        int64_t before = r->t.end;
        /* m micro-batches for each device, but no more than half of MOST_RUNS allows */
        uint32_t devices = iteration_devices(&r->x), most = MOST_RUNS / 2 / r->x.nstage / devices;
        uint32_t more = devices * (m < most ? m : larger_u32(most, 1));
        r->x.micro_batches += more;
        run_once(r, s, own);
        if (r->t.status == RUN_DONE)
            r->value = mul_div_ceil(r->t.end - before, m, more);
        arena_free(own);
        r->x.micro_batches = m;
    }
    run_once(r, s, a);
    if (r->t.status == RUN_DONE && !takes_turns(s))
        r->value = r->t.end;
}

/* ---- the verdict -------------------------------------------------------------------------------- */

/* The stages of a plan while their sums are computed. */
struct sums_state {
    const struct scene *s;
    const struct stages *st;
    const int32_t *dev;      /* [node] of the plan */
    const int32_t *stage_of; /* [node] -1: none */
    struct stage_sums *sum;  /* [stage] sums over the nodes of the stage */
    /* [back][stage] bytes on the link behind the stage less the bytes on the link before it; back: 0 values of the
     * forward pass, 1 values of the backward pass */
    __int128 *send[2];
    /* [back][stage] number of values on the link behind the stage less the number on the link before it */
    int64_t *values[2];
    const char *why; /* why the stages are no pipeline; NULL: they are */
    struct arena *a;
};

/* Adds the times that node n takes for adding up gradients (u->each) and for the update (u->once) to *to, the sums of
 * its stage.  weight: whether the node is in the pass for gradients of weights. */
static void add_update(const struct update_cost *u, nid n, bool weight, struct stage_sums *to)
{
    to->backward = sat_add(to->backward, u->each[n]);
    to->overhead.backward = sat_add(to->overhead.backward, u->each[n]);
    to->weight = sat_add(to->weight, weight ? u->each[n] : 0);
    to->overhead.weight = sat_add(to->overhead.weight, weight ? u->each[n] : 0);
    to->update = sat_add(to->update, u->once[n]);
}

/* Adds the times, overheads and stored bytes of all placed nodes to the sums of their stages.  Nodes of an update
 * (u->own) count only by their times in u. */
static void add_nodes(struct sums_state *w, const struct update_cost *u)
{
    const struct module *m = w->s->m;
    const struct graph *g = &m->graph[1];
    const struct costs *k = m->cost;
    bool by_value = iteration_keeps_values(w->s);
    const uint8_t *weight =
        weight_pass_apart(w->s) ? weight_pass_nodes(w->s, w->stage_of, w->a) : NULL;
    for (nid n = g->first; n < g->first + g->count; n++) {
        if (w->s->place->kind[n] != PLACE_NODE)
            continue;
        struct stage_sums *to = &w->sum[w->stage_of[n]];
        if (u->own)
            add_update(u, n, weight && weight[n], to);
        if (u->own && u->own[n])
            continue;
        uint32_t cls = cluster_class(w->s->cluster, (uint32_t)w->dev[n]);
        int64_t time = k->time[cls][n], overhead = costs_overhead(k, cls, n);
        bool back = m->backward && m->backward[n];
        int64_t *sum = back ? &to->backward : &to->forward;
        int64_t *fixed = back ? &to->overhead.backward : &to->overhead.forward;
        *sum = sat_add(*sum, time);
        *fixed = sat_add(*fixed, overhead);
        if (weight && weight[n]) {
            to->weight = sat_add(to->weight, time);
            to->overhead.weight = sat_add(to->overhead.weight, overhead);
        }
        int64_t params = m->ir_version ? 0 : costs_params(k, n);
        if (!back && !by_value) /* if by_value, add_stored() counts the bytes */
            to->stored = sat_add(to->stored, k->own[n] - params);
    }
}

/* Adds the bytes of weights and folded constants to the sums.  Each counts once for each device that needs it, in the
 * stage of the first node of the device that reads it.  In a profile (ir_version 0) adds the parameters of each node
 * to the sums of its stage. */
static void add_parameters(struct sums_state *w)
{
    const struct scene *s = w->s;
    const struct graph *g = &s->m->graph[1];
    const struct csr *user = &s->place->weight_user;
    uint32_t *seen = arena_array(w->a, (size_t)s->cluster->ndev + 1, sizeof *seen);
    for (nid n = g->first; n < g->first + g->count; n++)
        if (s->place->kind[n] == PLACE_NODE && !s->m->ir_version) {
            int64_t *to = &w->sum[w->stage_of[n]].parameter;
            *to = sat_add(*to, costs_params(s->m->cost, n));
        }
    for (uint32_t i = 0; i < s->place->nweight; i++)
        for_row (n, *user, i) {
            if (seen[w->dev[n]] == i + 1)
                continue;
            seen[w->dev[n]] = i + 1;
            struct stage_sums *sum = &w->sum[w->stage_of[n]];
            int64_t *to = place_is_parameter(s->m, s->place, i) ? &sum->parameter : &sum->constant;
            *to = sat_add(*to, s->place->weight_bytes[i]);
        }
}

/* Returns x if it is at most INT64_MAX, else INT64_MAX. */
static int64_t saturate(__int128 x)
{
    return x < INT64_MAX ? (int64_t)x : INT64_MAX;
}

/* Adds the bytes of net e, a value of the forward pass, to the stored bytes of each stage whose backward nodes read the
 * value.  seen: [stage] 1 + the last net that was added to the stage. */
static void add_stored(struct sums_state *w, uint32_t e, uint32_t *seen)
{
    const struct module *m = w->s->m;
    vid v = w->s->place->net_value[e];
    nid maker = m->value[v].def;
    if (!maker || w->s->place->kind[maker] != PLACE_NODE || m->backward[maker])
        return;
    for_row (reader, w->s->place->net_pin, e) {
        int32_t k = w->stage_of[reader];
        if (!m->backward[reader] || seen[k] == e + 1)
            continue;
        seen[k] = e + 1;
        w->sum[k].stored = sat_add(w->sum[k].stored, m->cost->bytes[v]);
    }
}

/* Adds the bytes of net e, unless an update makes its value, to the links from the stage of its maker to the furthest
 * stage that reads it.  Sets w->why if a stage before the maker's reads a value of the forward pass, or a stage
 * behind the maker's one of the backward pass. */
static void add_net(struct sums_state *w, const struct update_cost *u, uint32_t e)
{
    const struct module *m = w->s->m;
    const struct csr *pin = &w->s->place->net_pin;
    vid v = w->s->place->net_value[e];
    nid def = m->value[v].def;
    if (!def || w->s->place->kind[def] != PLACE_NODE || (u->own && u->own[def]))
        return;
    int32_t at = w->stage_of[def], low = at, high = at;
    bool back = m->backward && m->backward[def];
    for_row (x, *pin, e) {
        int32_t to = w->stage_of[x];
        if (to < low)
            low = to;
        if (to > high)
            high = to;
    }
    if (!w->why && (back ? high > at : low < at))
        w->why = arena_fmt(
            w->a, "'%s', which stage %d makes, is read by stage %d: that is no %s pass",
            value_name(m, v), (int)at, (int)(back ? high : low), back ? "backward" : "forward");
    /* differences: send[pass][k] becomes, summed up over k, the bytes over the link behind stage k */
    w->send[back][back ? low : at] += m->cost->bytes[v];
    w->send[back][back ? at : high] -= m->cost->bytes[v];
    w->values[back][back ? low : at]++;
    w->values[back][back ? at : high]--;
}

/* Sets send and send_back of all sums, the bytes that cross the link behind each stage, and values and gradients, their
 * numbers.  In a profile, gradients have the bytes of the values.  Where stages keep single values
 * (iteration_keeps_values()), adds their bytes to stored. */
static void add_nets(struct sums_state *w, const struct update_cost *u)
{
    __int128 now[2] = {0, 0};
    int64_t many[2] = {0, 0};
    bool graph = w->s->m->ir_version;
    for (int back = 0; back < 2; back++) {
        w->send[back] = arena_array(w->a, (size_t)w->st->n + 1, sizeof *w->send[back]);
        w->values[back] = arena_array(w->a, (size_t)w->st->n + 1, sizeof *w->values[back]);
    }
    uint32_t *seen = arena_array(w->a, (size_t)w->st->n + 1, sizeof *seen);
    bool by_value = iteration_keeps_values(w->s);
    for (uint32_t e = 0; e < w->s->place->nnet; e++) {
        add_net(w, u, e);
        if (by_value)
            add_stored(w, e, seen);
    }
    for (uint32_t k = 0; k < w->st->n; k++) {
        for (int back = 0; back < 2; back++) {
            now[back] += w->send[back][k];
            many[back] += w->values[back][k];
        }
        w->sum[k].send = saturate(now[0]);
        w->sum[k].send_back = saturate(graph ? now[1] : now[0]);
        w->sum[k].values = graph ? many[0] : 0;
        w->sum[k].gradients = graph ? many[1] : 0;
    }
}

/* Returns the number, from 0, of a device among those of the main class, on which stages stand; -1: the device is of
 * another class. */
static int32_t stage_device_number(const struct cluster *c, uint32_t dev)
{
    uint32_t cls = cluster_main_class(c), first = 0;
    for (uint32_t k = 0; k < cls; k++)
        first += c->cls[k].count;
    return cluster_class(c, dev) == cls ? (int32_t)(dev - first) : -1;
}

/* Returns an array: [stage] how many devices it has in each server, in w->a.  If a stage stands on a device outside the
 * main class, returns NULL and sets *why. */
static struct device_set *stage_sets(const struct sums_state *w, const struct servers *servers,
                                     const char **why)
{
    const struct stages *st = w->st;
    struct device_set *set = arena_array(w->a, st->n, sizeof *set);
    for (uint32_t k = 0; k < st->n; k++)
        for_row (d, st->device, k) {
            int32_t number = stage_device_number(w->s->cluster, d);
            if (number < 0) {
                *why =
                    "a stage stands on a device of another class than accelerators, or, without any, hosts";
                return NULL;
            }
            set[k].of[servers_find(servers, (uint32_t)number)]++;
        }
    return set;
}

/* Returns NULL, or the reason if a stage cannot divide a micro-batch into slices of whole samples. */
static const char *refuse_uneven_slices(const struct sums_state *w)
{
    const struct training *t = &w->s->model.training;
    const struct stages *st = w->st;
    for (uint32_t k = 0; k < st->n && !t->any_slices && t->micro_size && !takes_turns(w->s); k++) {
        uint32_t n = st->device.at[k + 1] - st->device.at[k];
        if (t->micro_size % n)
            return arena_fmt(w->a,
                             "stage %u cannot share micro-batches of %lld samples among %u devices "
                             "(--slices=any lets it)",
                             k, (long long)t->micro_size, n);
    }
    return NULL;
}

/* Computes the sums of all stages, sets up the iteration *r with the plan's settings and runs it.  Returns NULL, or
 * the reason why it cannot be run. */
static const char *set_up_and_run(struct sums_state *w, struct iteration_run *r)
{
    struct servers servers;
    const char *why = servers_of(w->s->cluster, &servers);
    struct device_set *set = why ? NULL : stage_sets(w, &servers, &why);
    if (!set)
        return why;
    const struct update_cost update = update_cost_find(w->s, w->st, w->stage_of, w->a);
    add_nodes(w, &update);
    add_parameters(w);
    add_nets(w, &update);
    const struct reduce_parts *parts = NULL;
    if (w->s->model.training.reduce_when != REDUCE_AFTER && w->s->m->backward)
        parts = reduce_parts_of(w->s, w->dev, w->stage_of, w->st->n, &update, w->a);
    for (uint32_t k = 0; parts && k < w->st->n; k++)
        w->sum[k].parts = parts[k];
    /* if the update explains why stages would read backwards, its reason is the better one */
    why = w->why && update.joint && update.why ? update.why : w->why;
    if (!why)
        why = refuse_uneven_slices(w);
    if (why)
        return why;
    struct stages_on on = {w->st->n, stages_places(w->st), w->sum, set, update.joint};
    *r = iteration_set_up(w->s, &servers, &on, w->a);
    for (uint32_t k = 0; k < w->st->n; k++) {
        if (r->x.order != ITERATION_INTERLEAVED)
            r->stage[k].ahead = w->st->ahead[k];
        r->stage[k].recompute = w->st->recompute[k] && !r->x.forward_only;
    }
    iteration_run(r, w->s, w->a);
    return r->t.status == RUN_DONE      ? NULL
           : r->t.status == RUN_STOPPED ? "there are too many micro-batches, or stages, to run"
                                        : "stages wait for each other for ever";
}

/* Sets the loads of all devices from the lanes of the run.  Devices of a place share a lane unless they take turns. */
static void set_loads(const struct sums_state *w, const struct iteration_run *r, struct verdict *v)
{
    const struct stages *st = w->st;
    uint32_t lane = 0;
    for (uint32_t p = 0; p < r->x.nplace; p++) {
        int64_t reduce = 0;
        for (uint32_t k = p; k < st->n; k += r->x.nplace)
            reduce = sat_add(reduce, r->stage[k].reduce);
        for_row (d, st->device, p) {
            struct device_load *l = &v->load[d];
            l->load = l->compute = r->t.busy[lane];
            l->sync = reduce;
            l->used = l->live_peak = r->t.peak[lane];
            l->weights = r->lasting[p];
            if (l->load > v->load[v->bottleneck].load)
                v->bottleneck = d;
            if (iteration_turns(&r->x, p) > 1) /* each device that takes turns has a lane */
                lane++;
        }
        if (iteration_turns(&r->x, p) == 1)
            lane++;
    }
}

/* Whether net e is a value of the forward pass that a node of the backward pass reads. */
static bool is_kept(const struct scene *s, uint32_t e)
{
    nid maker = s->m->value[s->place->net_value[e]].def;
    if (!maker || s->place->kind[maker] != PLACE_NODE || s->m->backward[maker])
        return false;
    for_row (reader, s->place->net_pin, e)
        if (s->m->backward[reader])
            return true;
    return false;
}

/* Returns an array: [place] an upper limit of the bytes of temporary values in a forward pass: of
 * the values that a stage of the place makes and that no backward node reads, the sum; of several
 * stages, the largest sum. */
static int64_t *passing_bytes(const struct sums_state *w, uint32_t nplace)
{
    const struct scene *s = w->s;
    const struct graph *g = &s->m->graph[1];
    int64_t *passing = arena_array(w->a, (size_t)s->m->nnode + 1, sizeof *passing); /* [node] */
    int64_t *of_stage = arena_array(w->a, (size_t)w->st->n + 1, sizeof *of_stage);
    int64_t *most = arena_array(w->a, (size_t)nplace + 1, sizeof *most);
    for (nid n = g->first; n < g->first + g->count; n++)
        if (s->place->kind[n] == PLACE_NODE && !s->m->backward[n])
            passing[n] = s->m->cost->own[n];
    for (uint32_t e = 0; e < s->place->nnet; e++) {
        vid v = s->place->net_value[e];
        if (is_kept(s, e))
            passing[s->m->value[v].def] -= s->m->cost->bytes[v];
    }
    for (nid n = g->first; n < g->first + g->count; n++)
        if (passing[n] > 0)
            of_stage[w->stage_of[n]] = sat_add(of_stage[w->stage_of[n]], passing[n]);
    for (uint32_t k = 0; k < w->st->n; k++) {
        uint32_t slices = takes_turns(w->s) ? 1 : w->st->device.at[k + 1] - w->st->device.at[k];
        int64_t bytes = training_share(&w->s->model.training, of_stage[k], slices);
        most[k % nplace] = larger(most[k % nplace], bytes);
    }
    return most;
}

/* Replaces the memory of each device, which the run has computed from sums of stages, by the peak
 * of the lists that a written folder would have (written_plan.h): these tell which values a part
 * reads at which time.  If the plan has no lists (with weight versions, with slices of any size, or
 * with too many micro-batches), adds the temporary values of a pass instead.  Does nothing for a
 * profile. */
static void set_memory(const struct sums_state *w, const struct plan *p,
                       const struct iteration_run *run, struct verdict *v)
{
    const struct staged_plan of = {w->s, p, w->st};
    if (!w->s->m->ir_version)
        return;
    const int64_t *peak = written_plan_peaks(&of, run, w->a);
    for (uint32_t d = 0; peak && d < w->s->cluster->ndev; d++)
        v->load[d].used = v->load[d].live_peak = peak[d];
    if (peak || !iteration_keeps_values(w->s))
        return;
    const int64_t *passing = passing_bytes(w, run->x.nplace);
    for (uint32_t k = 0; k < run->x.nplace; k++)
        for_row (d, w->st->device, k)
            v->load[d].used = v->load[d].live_peak = sat_add(v->load[d].used, passing[k]);
}

/* Returns stages for a plan that has none, with dev[node]: one stage for each device that it uses,
 * in the order of their first forward nodes, then devices with backward nodes only. */
static const struct stages *stages_by_device(const struct scene *s, const int32_t *dev,
                                             struct arena *a)
{
    const struct graph *g = &s->m->graph[1];
    struct stages *st = arena_alloc(a, sizeof *st);
    uint8_t *seen = arena_alloc(a, (size_t)s->cluster->ndev + 1);
    st->device.at = arena_array(a, (size_t)s->cluster->ndev + 2, sizeof *st->device.at);
    st->device.to = arena_array(a, (size_t)s->cluster->ndev + 1, sizeof *st->device.to);
    st->ahead = arena_array(a, (size_t)s->cluster->ndev + 1, sizeof *st->ahead);
    st->recompute = arena_alloc(a, (size_t)s->cluster->ndev + 1);
    for (uint32_t back = 0; back < 2; back++)
        for (nid n = g->first; n < g->first + g->count; n++) {
            bool now = (s->m->backward && s->m->backward[n]) == (back == 1);
            if (s->place->kind[n] != PLACE_NODE || !now || seen[dev[n]])
                continue;
            seen[dev[n]] = 1;
            st->device.to[st->n++] = (uint32_t)dev[n];
            st->device.at[st->n] = st->n;
        }
    for (uint32_t k = 0; k < st->n; k++)
        st->ahead[k] = iteration_ahead_a(st->n, k, UINT32_MAX);
    return st;
}

/* Returns NULL, or the reason if two nodes that must share a device are in different stages. */
static const char *refuse_separated(const struct sums_state *w)
{
    const struct module *m = w->s->m;
    const struct graph *g = &m->graph[1];
    for (uint32_t i = 0; i < w->s->place->nsame; i++) {
        const struct same_pair *p = &w->s->place->same[i];
        if (w->stage_of[p->a] != w->stage_of[p->b])
            return arena_fmt(w->a, "nodes '%s' and '%s' must share a stage", node_name(m, p->a),
                             node_name(m, p->b));
    }
    /* [colour] the last placed node of this colour so far; 0: none */
    nid *last = arena_array(w->a, (size_t)module_most_color(m) + 1, sizeof *last);
    for (nid n = g->first; n < g->first + g->count && m->color; n++) {
        nid *other = &last[m->color[n]];
        if (!m->color[n] || w->s->place->kind[n] != PLACE_NODE)
            continue;
        if (*other && w->stage_of[*other] != w->stage_of[n])
            return arena_fmt(w->a, "nodes '%s' and '%s' of one colour class are in two stages",
                             node_name(m, *other), node_name(m, n));
        *other = n;
    }
    return NULL;
}

/* Returns NULL, or the reason why the stages cannot be run, or why a node's device does not fit its stage. */
static const char *refuse_stages(const struct sums_state *w, const struct plan *p)
{
    const struct scene *s = w->s;
    const struct stages *st = w->st;
    const struct graph *g = &s->m->graph[1];
    const char *why = stages_refuse(st, s->cluster->ndev, w->a);
    if (!why)
        why = iteration_refuses(s, st->n, stages_places(st), w->a);
    for (nid n = g->first; n < g->first + g->count && !why; n++) {
        if (s->place->kind[n] != PLACE_NODE)
            continue;
        int32_t k = w->stage_of[n];
        const char *on = cluster_device_name(s->cluster, w->a, (uint32_t)w->dev[n]);
        if (k < 0 || (uint32_t)k >= st->n)
            why = arena_fmt(w->a, "node '%s' has no stage: %s is the first device of none",
                            node_name(s->m, n), on);
        else if (st->device.to[st->device.at[k]] != (uint32_t)w->dev[n])
            why = arena_fmt(w->a, "node '%s' of stage %d is on %s, not on the stage's first device",
                            node_name(s->m, n), (int)k, on);
    }
    return why || !p->stage_of ? why : refuse_separated(w);
}

struct verdict iteration_verdict(const struct scene *s, const struct plan *p, struct arena *a)
{
    struct verdict v = plan_check(s, p->dev, /*copies=*/NULL, /*what=*/0, a);
    struct sums_state w = {.s = s, .dev = p->dev, .a = a};
    v.value = INT64_MAX;
    if (!v.runnable)
        return v;
    const struct stages *st = w.st = p->stages ? p->stages : stages_by_device(s, p->dev, a);
    w.sum = arena_array(a, (size_t)st->n + 1, sizeof *w.sum);
    w.stage_of = plan_stage_of(&(struct staged_plan){s, p, st}, a);
    struct iteration_run *run = arena_alloc(a, sizeof *run);
    const char *why = refuse_stages(&w, p);
    if (!why)
        why = set_up_and_run(&w, run);
    if (why) {
        v.runnable = false;
        v.why_not = why;
        return v;
    }
    v.run = run;
    v.stages = run->stages = st;
    v.value = run->value;
    set_loads(&w, run, &v);
    set_memory(&w, p, run, &v);
    plan_check_memory(s, &v, a);
    return v;
}

/* ---- bound -------------------------------------------------------------------------------------- */

struct exec_bound iteration_bound(const struct scene *s, struct arena *a)
{
    const struct training *t = &s->model.training;
    const struct graph *g = &s->m->graph[1];
    uint32_t cls = cluster_main_class(s->cluster);
    /* ps.  all: time of the nodes that run in each pass; update: time of the nodes of updates; overhead,
     * update_overhead: the shares of these times that do not depend on the number of samples; apart: time of updates
     * that run once, and of adding gradients up */
    int64_t all = 0, overhead = 0, update = 0, update_overhead = 0;
    __int128 apart = 0;
    const struct update_cost u = update_cost_find(s, NULL, NULL, a);
    /* a micro-batch is `size` / `of` of the profiled batch */
    int64_t size = t->micro_size ? t->micro_size : 1, of = t->micro_size ? t->profiled : 1;
    for (nid n = g->first; n < g->first + g->count; n++) {
        int64_t time = s->m->cost->time[cls][n];
        if (s->place->kind[n] != PLACE_NODE || time == COST_NEVER)
            continue;
        if (u.own)
            apart += (__int128)u.each[n] * training_count(t) + u.once[n];
        bool is_update = u.own && u.own[n];
        int64_t *to = is_update ? &update : &all;
        int64_t *overhead_to = is_update ? &update_overhead : &overhead;
        *to = sat_add(*to, time);
        *overhead_to = sat_add(*overhead_to, costs_overhead(s->m->cost, cls, n));
    }
    __int128 each = (__int128)overhead * of + (__int128)(all - overhead) * size;
    /* the time of updates within the passes; this is less than `apart` if an iteration has fewer samples than the
     * profiled batch */
    __int128 within = (__int128)update_overhead * of + (__int128)(update - update_overhead) * size;
    within = within * training_count(t) / of;
    __int128 ps = each * training_count(t) / of + (within < apart ? within : apart);
    ps /= s->cluster->cls[cls].count;
    struct exec_bound b = {saturate(ps), "all work, shared by all devices", NULL};
    char text[UNIT_TEXT];
    b.proof =
        arena_fmt(a, "all nodes for all micro-batches, shared by %u %s, take %s\n",
                  s->cluster->cls[cls].count, s->cluster->cls[cls].name, time_short(text, b.value));
    return b;
}

double iteration_busy(const struct iteration_run *t)
{
    double busy = 0, all = 0;
    uint32_t lane = 0;
    /* a lane stands for `each` devices: the devices of a place that share micro-batches in slices, or one device of
     * those that take turns */
    for (uint32_t p = 0; p < t->x.nplace; p++) {
        uint32_t lanes = iteration_turns(&t->x, p);
        uint32_t each = (t->stages->device.at[p + 1] - t->stages->device.at[p]) / lanes;
        for (uint32_t q = 0; q < lanes; q++, lane++)
            busy += (double)each * (double)t->t.busy[lane];
        all += (double)(each * lanes) * (double)t->t.end;
    }
    return all > 0 ? busy / all : 0;
}
