/* Replays a plan (rounds.h).
 *
 * Source: the placement paper, 5.2 and 5.3 (pipelines of contiguous and other splits, Figures 3 and 4).  A part has two
 * halves, its forward nodes and its backward nodes; one of them is often empty.  Each half is a task.  Its time is that
 * of its nodes and of the transfers that its device pays: a value that leaves the device is paid by the half that makes
 * it, a value that comes is paid by the first part of the device that reads it.  Where transfers overlap computing
 * (H.1) a half is three tasks: transfers in, computing, transfers out, on lanes of the device and of its link.
 *
 * Rounds.  The level of a task is the largest level of the tasks that it waits for, plus one for tasks on other lanes.
 * In round r a lane runs each of its tasks for the sample r - level.  So a lane never waits for a task that another
 * lane does in the same round, and a round takes no longer than the most loaded lane needs.  Hence N samples take at
 * least N and at most N + levels times the plan's value.  This checks the judge (load_verdict()), which finds the value
 * in a quite different way.  The parts of a device whose nodes are not contiguous are the paper's virtual devices:
 * tasks of one lane.  O(samples * (tasks + edges between them)). */
#include "ir/exec/sample/rounds.h"

#include "ir/exec/events.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum {
    FEW = REPLAY_FEW,
    /* where the user does not give the number of samples: the most runs of tasks, since a chart draws a bar for each */
    MANY = 1 << 14
};

/* The nodes of a part that belong to one training pass. */
struct half {
    int64_t compute, in, out; /* ps for one sample: computing, transfers in, transfers out */
    uint32_t task[4];         /* [enum task_kind] 1 + the half's task of that kind; 0: none */
    bool used;                /* the half has nodes or transfers */
};

/* State of replay_run(). */
struct replay_build {
    const struct module *m;
    const struct place *p;
    const struct cluster *c;
    const struct exec_model *model;
    const int32_t *dev;
    const struct parts *parts;
    struct arena *a;
    struct replay *r;
    struct half *half; /* [2 * part + pass] pass: 0 forward, 1 backward */
    struct pairs edge; /* between halves: `to` reads a value that `from` makes */
};

/* Whether node n is of the backward pass. */
static bool is_back(const struct replay_build *b, nid n)
{
    return b->m->backward && b->m->backward[n];
}

/* Returns the half that node n belongs to. */
static uint32_t half_of(const struct replay_build *b, nid n)
{
    assert(b->parts->part_of[n] >= 0 && (uint32_t)b->parts->part_of[n] < b->parts->nparts);
    return 2 * (uint32_t)b->parts->part_of[n] + is_back(b, n);
}

/* Notes that half `to` reads a value that half `from` makes. */
static void add_edge(struct replay_build *b, uint32_t from, uint32_t to)
{
    if (from != to)
        pairs_add(&b->edge, from, to);
}

/* Adds the transfers of net e to the halves that pay them, and its edges between halves.  Each device with a pin pays
 * one transfer, in the pass of the producer: on the producer's device the producer's part pays, on each other device
 * the first part that reads the value.  Readers wait for the producer and, on other devices, for the half that pays the
 * transfer.  first_part: scratch, [device], all UINT32_MAX before and afterwards. */
static void add_net(struct replay_build *b, uint32_t e, uint32_t *first_part)
{
    vid v = b->p->net_value[e];
    nid def = b->m->value[v].def;
    bool made = def && b->p->kind[def] == PLACE_NODE;
    bool back = def && is_back(b, def), moves = b->p->net_host[e], inner = !moves;
    const nid *pin = b->p->net_pin.to + b->p->net_pin.at[e];
    uint32_t n = b->p->net_pin.at[e + 1] - b->p->net_pin.at[e];
    for (uint32_t i = 0; i < n; i++) {
        uint32_t d = (uint32_t)b->dev[pin[i]], part = (uint32_t)b->parts->part_of[pin[i]];
        first_part[d] = smaller_u32(first_part[d], part);
        moves = moves || b->dev[pin[i]] != b->dev[pin[0]];
        inner = inner && cluster_group(b->c, d) == cluster_group(b->c, (uint32_t)b->dev[pin[0]]);
    }
    if (made)
        first_part[b->dev[def]] = (uint32_t)b->parts->part_of[def];
    for (uint32_t i = 0; i < n; i++) {
        uint32_t payer = 2 * first_part[b->dev[pin[i]]] + back; /* a half: 2 * part + pass */
        if (made)
            add_edge(b, half_of(b, def), payer);
        if (made && pin[i] != def)
            add_edge(b, payer, half_of(b, pin[i]));
    }
    for (uint32_t i = 0; i < n; i++) {
        uint32_t d = (uint32_t)b->dev[pin[i]];
        if (first_part[d] == UINT32_MAX)
            continue; /* an earlier pin has paid for the device */
        struct half *x = &b->half[2 * first_part[d] + back];
        int64_t ps = moves ? cluster_transfer(b->c, cluster_class(b->c, d), inner,
                                              place_moved(b->p, b->m->cost, e))
                           : 0;
        if (made && d == (uint32_t)b->dev[def])
            x->out += ps;
        else
            x->in += ps;
        x->used = x->used || made || moves;
        first_part[d] = UINT32_MAX;
    }
}

/* Finds the times of both halves of each part, and which half reads from which: fills b->half and b->edge. */
static void make_halves(struct replay_build *b)
{
    const struct graph *g = &b->m->graph[1];
    uint32_t *first = arena_array(b->a, (size_t)b->c->ndev + 1, sizeof *first);
    b->half = arena_array(b->a, 2 * (size_t)b->parts->nparts + 1, sizeof *b->half);
    b->edge = (struct pairs){.a = b->a};
    memset(first, 0xff, (b->c->ndev + 1) * sizeof *first); /* UINT32_MAX */
    for (nid n = g->first; n < g->first + g->count; n++) {
        if (b->p->kind[n] != PLACE_NODE)
            continue;
        struct half *x = &b->half[half_of(b, n)];
        if (!x->used)
            x->compute += b->model->part_cost;
        x->used = true;
        x->compute += b->m->cost->time[cluster_class(b->c, (uint32_t)b->dev[n])][n];
    }
    for (uint32_t e = 0; e < b->p->nnet; e++)
        add_net(b, e, first);
}

/* ---- tasks ------------------------------------------------------------------------------------ */

/* Returns the lane of device `dev` for tasks of a kind: all tasks of a device share a lane (OVERLAP_SUM), or transfers
 * have a second lane (OVERLAP_MAX), or transfers out a third one (OVERLAP_DUPLEX). */
static uint32_t lane_of(const struct replay_build *b, uint32_t dev, uint8_t kind)
{
    uint32_t per = b->model->overlap == OVERLAP_SUM ? 1 : b->model->overlap == OVERLAP_MAX ? 2 : 3;
    if (per == 1 || kind == TASK_COMPUTE)
        return per * dev;
    return per * dev + (per == 3 && kind == TASK_OUT ? 2 : 1);
}

/* Makes the lanes of all devices, as lane_of() numbers them. */
static void make_lanes(struct replay_build *b)
{
    struct replay *r = b->r;
    r->nlane = lane_of(b, b->c->ndev, TASK_COMPUTE);
    r->lane = arena_array(b->a, (size_t)r->nlane + 1, sizeof *r->lane);
    for (uint32_t d = 0; d < b->c->ndev; d++) {
        /* from OUT to IN: the lane of both transfers (OVERLAP_MAX) is called TASK_IN */
        for (uint8_t k = TASK_OUT; k >= TASK_IN; k--)
            r->lane[lane_of(b, d, k)] = (struct round_lane){d, k};
        if (b->model->overlap == OVERLAP_SUM)
            r->lane[d].kind = TASK_WHOLE;
    }
}

/* Adds the task of a kind that a half has. */
static void add_task(struct replay_build *b, uint32_t half, uint8_t kind)
{
    struct replay *r = b->r;
    struct half *x = &b->half[half];
    uint32_t part = half / 2;
    assert(part < b->parts->nparts && !x->task[kind]);
    bool whole = kind == TASK_WHOLE;
    struct round_task t = {.part = part,
                           .lane = lane_of(b, b->parts->part[part].dev, kind),
                           .back = half % 2,
                           .kind = kind,
                           .in = whole || kind == TASK_IN ? x->in : 0,
                           .out = whole || kind == TASK_OUT ? x->out : 0};
    t.time = t.in + (whole || kind == TASK_COMPUTE ? x->compute : 0) + t.out;
    x->task[kind] = r->ntask + 1;
    r->task[r->ntask++] = t;
    r->training = r->training || t.back;
}

/* Returns the first task of a half (last: the last one), in the order in which they run; UINT32_MAX: it has none. */
static uint32_t first_or_last_task(const struct half *x, bool last)
{
    for (int k = 0; k < 4; k++)
        if (x->task[last ? 3 - k : k])
            return x->task[last ? 3 - k : k] - 1;
    return UINT32_MAX;
}

/* Removes repeated entries from each row of c; entries are below `rows`. */
static void drop_repeats(struct csr *c, uint32_t rows, struct arena *a)
{
    uint32_t *seen = arena_array(a, (size_t)rows + 1, sizeof *seen), n = 0, at = 0;
    for (uint32_t i = 0; i < rows; i++) {
        for (; at < c->at[i + 1]; at++) {
            uint32_t e = c->to[at];
            if (seen[e] != i + 1)
                c->to[n++] = e;
            seen[e] = i + 1;
        }
        c->at[i + 1] = n;
    }
}

/* Makes the tasks, ordered by part, of each part the forward ones first; then fills r->after. */
static void make_tasks(struct replay_build *b)
{
    struct replay *r = b->r;
    uint32_t nhalf = 2 * b->parts->nparts;
    struct pairs waits = {.a = b->a};
    r->task = arena_array(b->a, 3 * (size_t)nhalf + 1, sizeof *r->task);
    for (uint32_t i = 0; i < nhalf; i++) {
        struct half *x = &b->half[i];
        if (x->used && b->model->overlap == OVERLAP_SUM) {
            add_task(b, i, TASK_WHOLE);
        } else if (x->used) {
            add_task(b, i, TASK_IN);
            add_task(b, i, TASK_COMPUTE);
            add_task(b, i, TASK_OUT);
        }
    }
    /* within a half computing waits for the transfers in, and the transfers out wait for computing: each for the task
     * that was added just before it (half.task has 1 + the number of a task) */
    for (uint32_t i = 0; i < nhalf; i++)
        for (int k = TASK_COMPUTE; k <= TASK_OUT && b->half[i].task[k]; k++)
            pairs_add(&waits, b->half[i].task[k] - 1, b->half[i].task[k] - 2);
    for (uint32_t i = 0; i < b->edge.n; i++) {
        uint32_t task = first_or_last_task(&b->half[b->edge.to[i]], /*last=*/false);
        uint32_t on = first_or_last_task(&b->half[b->edge.from[i]], /*last=*/true);
        if (task != UINT32_MAX && on != UINT32_MAX)
            pairs_add(&waits, task, on);
    }
    r->after = pairs_rows(&waits, r->ntask);
    drop_repeats(&r->after, r->ntask, b->a);
}

/* ---- running ---------------------------------------------------------------------------------- */

/* Raises the levels of backward tasks that would else run before the forward pass ends, as they read only values of the
 * forward pass.  Such a task gets the latest level that does not delay its readers; without readers, the largest level
 * of a forward task.  order: the tasks, topologically; next: task -> tasks that wait for it. */
static void delay_backward(struct replay *r, const uint32_t *order, const struct csr *next)
{
    uint32_t forward_end = 0;
    for (uint32_t t = 0; t < r->ntask; t++)
        if (!r->task[t].back && r->task[t].level > forward_end)
            forward_end = r->task[t].level;
    for (uint32_t i = r->ntask; i-- > 0;) {
        struct round_task *t = &r->task[order[i]];
        uint32_t level = UINT32_MAX;
        if (!t->back || t->level >= forward_end)
            continue;
        for_row (y, *next, order[i]) {
            /* a reader on another lane runs at least one round later */
            const struct round_task *u = &r->task[y];
            uint32_t latest = u->lane != t->lane ? u->level - 1 : u->level;
            level = smaller_u32(latest, level);
        }
        t->level = level == UINT32_MAX ? forward_end : level;
    }
}

/* Sets the level of each task, and r->levels.  Returns the rows level -> tasks; in a row each task stands behind the
 * tasks that it waits for. */
static struct csr set_levels(struct replay_build *b)
{
    struct replay *r = b->r;
    uint32_t *order = arena_array(b->a, (size_t)r->ntask + 1, sizeof *order);
    uint32_t *level = arena_array(b->a, (size_t)r->ntask + 1, sizeof *level);
    struct csr next = csr_transpose(b->a, &r->after, r->ntask, r->ntask);
    uint32_t sorted = csr_topo(&next, r->ntask, NULL, order, b->a);
    assert(sorted == r->ntask);
    for (uint32_t i = 0; i < sorted; i++) {
        struct round_task *t = &r->task[order[i]];
        for_row (y, next, order[i]) {
            /* a task that waits for t runs a round later if its lane is another one */
            struct round_task *u = &r->task[y];
            uint32_t after = u->lane != t->lane ? t->level + 1 : t->level;
            u->level = larger_u32(after, u->level);
        }
    }
    delay_backward(r, order, &next);
    for (uint32_t i = 0; i < r->ntask; i++) {
        level[i] = r->task[order[i]].level;
        r->levels = larger_u32(level[i] + 1, r->levels);
    }
    return csr_build(b->a, r->levels, r->ntask, level, order);
}

/* Appends the tasks of a pass (0: forward, 1: backward, 2: both) to the lists of their lanes, round by round.  Round r
 * has the tasks of each level for sample r - level, if that sample exists.  level: the rows of set_levels().  The next
 * entry of a lane goes to position list->at[lane + 1] of list->to. */
static void list_pass(const struct replay *r, const struct csr *level, int pass, struct csr *list)
{
    for (uint32_t round = 0; round < r->samples + r->levels - 1; round++) {
        uint32_t low = round < r->samples ? 0 : round - r->samples + 1;
        uint32_t high = round < r->levels ? round : r->levels - 1;
        for (uint32_t i = level->at[low]; i < level->at[high + 1]; i++) {
            uint32_t x = level->to[i];
            const struct round_task *t = &r->task[x];
            assert(t->lane < r->nlane && round - t->level < r->samples);
            if (pass == 2 || t->back == pass)
                list->to[list->at[t->lane + 1]++] = x * r->samples + round - t->level;
        }
    }
}

/* Returns the list of each lane, lane -> items (task * samples + sample).  level: the rows of
 * set_levels(); batch: all samples go forward before the first one goes backward. */
static struct csr make_lists(const struct replay *r, const struct csr *level, bool batch,
                             struct arena *a)
{
    struct csr list = {.at = arena_array(a, (size_t)r->nlane + 2, sizeof *list.at),
                       .to = arena_array(a, (size_t)r->ntask * r->samples + 1, sizeof *list.to)};
    for (uint32_t t = 0; t < r->ntask; t++)
        list.at[r->task[t].lane + 1] += r->samples;
    csr_starts(list.at, r->nlane);
    if (batch) {
        list_pass(r, level, /*pass=*/0, &list);
        list_pass(r, level, /*pass=*/1, &list);
    } else {
        list_pass(r, level, /*pass=*/2, &list);
    }
    return list;
}

/* Returns the rows task -> tasks that it waits for.  With `batch` there is one more task, r->ntask, between the
 * passes: it waits for all forward tasks, and all backward tasks wait for it.  Forward tasks then do not wait for
 * backward ones, which belong to the batch before. */
static struct csr make_waits(const struct replay *r, bool batch, struct arena *a)
{
    if (!batch)
        return r->after;
    struct pairs waits = {.a = a};
    for (uint32_t t = 0; t < r->ntask; t++) {
        bool back = r->task[t].back;
        for_row (on, r->after, t)
            if (back || !r->task[on].back)
                pairs_add(&waits, t, on);
        pairs_add(&waits, back ? t : r->ntask, back ? r->ntask : t);
    }
    return pairs_rows(&waits, r->ntask + 1);
}

/* Runs the tasks on the event core, by the lists of their lanes; sets r->start and r->end.  level,
 * batch: as for make_lists(). */
static void run_tasks(struct replay *r, const struct csr *level, bool batch, struct arena *a)
{
    struct task_graph g = {.ntask = r->ntask + batch, .nlane = r->nlane};
    g.task = arena_array(a, (size_t)g.ntask + 1, sizeof *g.task);
    g.lane = arena_array(a, (size_t)g.nlane + 1, sizeof *g.lane);
    for (uint32_t t = 0; t < r->ntask; t++)
        g.task[t] = (struct task){
            .time = r->task[t].time, .lane = {r->task[t].lane, NO_LANE}, .count = r->samples};
    if (batch) /* the task between the passes (make_waits()), which takes no time */
        g.task[r->ntask] = (struct task){.lane = {NO_LANE, NO_LANE}, .count = 1};
    g.waits = make_waits(r, batch, a);
    g.list = make_lists(r, level, batch, a);
    bool numbered = task_graph_number(&g, a);
    assert(numbered);
    (void)numbered;
    struct timeline t = events_run(&g, NULL, a);
    assert(t.status == RUN_DONE);
    r->start = t.start;
    r->end = t.end;
}

/* Returns a number of samples, at least 1, that shows some rounds of the steady state; a smaller one if tasks would
 * have more than MANY runs in all. */
static uint32_t enough_samples(const struct replay *r)
{
    /* all lanes are busy after as many samples as there are levels.  As many samples again, and 4 more, show that
     * state; if there are many levels, only 4 more samples do */
    uint32_t n = r->levels < FEW / 2 ? 2 * r->levels + 4 : r->levels + 4;
    uint32_t most = r->ntask ? MANY / r->ntask : MANY;
    n = smaller_u32(n, most);
    return n ? n : 1;
}

struct replay replay_run(const struct scene *s, const int32_t *dev, const struct parts *parts,
                         uint32_t samples, struct arena *a)
{
    assert(s->m->cost && parts->part_of);
    struct replay r = {.levels = 1};
    struct replay_build b = {.m = s->m,
                             .p = s->place,
                             .c = s->cluster,
                             .model = &s->model,
                             .dev = dev,
                             .parts = parts,
                             .a = a,
                             .r = &r};
    make_halves(&b);
    make_lanes(&b);
    make_tasks(&b);
    struct csr level = set_levels(&b);
    r.samples = samples ? samples : enough_samples(&r);
    run_tasks(&r, &level, exec_apart(&s->model) && r.training, a);
    return r;
}

uint32_t replay_on_way(const struct scene *s, const struct replay *r, const uint32_t *copies,
                       struct arena *a)
{
    uint32_t most = 1, *order = arena_array(a, (size_t)r->ntask + 1, sizeof *order);
    /* [task] rounds before the task starts, at the earliest */
    uint32_t *from = arena_array(a, (size_t)r->ntask + 1, sizeof *from);
    struct csr next = csr_transpose(a, &r->after, r->ntask, r->ntask);
    uint32_t sorted = csr_topo(&next, r->ntask, NULL, order, a);
    for (uint32_t i = 0; i < sorted; i++) {
        const struct round_task *t = &r->task[order[i]];
        uint32_t dev = r->lane[t->lane].dev, turns = copies && copies[dev] > 1 ? copies[dev] : 1;
        uint32_t end = from[order[i]] + (t->time ? turns : 0);
        most = larger_u32(end, most);
        for_row (y, next, order[i]) {
            const struct round_task *u = &r->task[y];
            if (!exec_apart(&s->model) || t->back == u->back)
                from[y] = larger_u32(t->lane == u->lane ? from[order[i]] : end, from[y]);
        }
    }
    return most;
}

/* ---- for output ------------------------------------------------------------------------------- */

/* Compares two events for qsort: by start, end, task, sample. */
static int by_start(const void *a, const void *b)
{
    const struct event *x = a, *y = b;
    if (x->at != y->at)
        return x->at < y->at ? -1 : 1;
    if (x->end != y->end)
        return x->end < y->end ? -1 : 1;
    if (x->task != y->task)
        return x->task < y->task ? -1 : 1;
    return x->sample < y->sample ? -1 : x->sample > y->sample;
}

const struct event *replay_events(const struct replay *r, struct arena *a)
{
    size_t n = 0;
    struct event *e = arena_array(a, (size_t)r->ntask * r->samples + 1, sizeof *e);
    for (uint32_t t = 0; t < r->ntask; t++)
        for (uint32_t s = 0; s < r->samples; s++, n++)
            e[n] = (struct event){r->start[n], r->start[n] + r->task[t].time, t, s};
    qsort(e, n, sizeof *e, by_start);
    return e;
}

const char *replay_lane_name(const struct replay *r, const struct scene *s, uint32_t lane,
                             struct arena *a)
{
    assert(lane < r->nlane && r->lane[lane].dev < s->cluster->ndev);
    static const char *const what[OVERLAPS][4] = {
        [OVERLAP_MAX] = {[TASK_IN] = " link"},
        [OVERLAP_DUPLEX] = {[TASK_IN] = " in", [TASK_OUT] = " out"}};
    const struct round_lane *l = &r->lane[lane];
    const char *suffix = what[s->model.overlap][l->kind];
    return arena_fmt(a, "%s%s", cluster_device_name(s->cluster, a, l->dev), suffix ? suffix : "");
}
