/* An iteration of training as tasks for the event core (iteration.h).
 *
 * Every stage has a task for each kind of work, whose instances are the micro-batches.  Where some devices take
 * micro-batches in turn, the instances of a task would be on several lanes; so each micro-batch has tasks of its own
 * there.  O(stages * micro-batches). */
#include "ir/exec/iteration/iteration.h"

#include "ir/base/units.h"
#include "ir/exec/task_builder.h"

#include <assert.h>

struct iteration_build {
    const struct iteration *x;
    struct task_builder b;
    bool apart;                       /* a task for each micro-batch */
    uint32_t *first_dev;              /* [place] */
    uint32_t *first[ITERATION_KINDS]; /* [stage] the task of a kind, the first one if apart */
};

static uint32_t copies(const struct iteration_build *t)
{
    return t->apart ? t->x->micro_batches : 1;
}

/* The task of a kind at a stage that micro-batch i has; NO_ITEM: there is none of that kind. */
static uint32_t task_at(const struct iteration_build *t, enum iteration_kind kind, uint32_t s,
                        uint32_t i)
{
    return t->first[kind][s] == NO_ITEM ? NO_ITEM : t->first[kind][s] + (t->apart ? i : 0);
}

static uint32_t device_of(const struct iteration_build *t, uint32_t s, uint32_t micro_batch)
{
    uint32_t place = s % t->x->nplace;
    return t->first_dev[place] + micro_batch % iteration_turns(t->x, place);
}

/* The link that brings values (back: gradients) from stage s to stage s + 1 (from there).  Two places have one link for
 * each direction, whatever goes over it. */
static uint32_t link_of(const struct iteration_build *t, uint32_t s, bool back)
{
    uint32_t places = t->x->nplace, from = s % places;
    if (t->x->half_duplex)
        return t->b.g.ndev + (places == 2 ? 0 : from);
    if (places == 2)
        return t->b.g.ndev + (back ? 1 - from : from);
    return t->b.g.ndev + from + (back ? places : 0);
}

/* ---- tasks -------------------------------------------------------------------------------------- */

static void add_tasks(struct iteration_build *t, enum iteration_kind kind, uint32_t s,
                      struct task x)
{
    const struct iteration *o = t->x;
    x.kind = kind;
    x.number = s;
    t->first[kind][s] = t->b.g.ntask;
    for (uint32_t i = 0; i < (kind == ITERATION_REDUCE ? 1 : copies(t)); i++) {
        x.count = kind == ITERATION_REDUCE || t->apart ? 1 : o->micro_batches;
        if (kind <= ITERATION_WEIGHT)
            x.lane[0] = device_of(t, s, i);
        build_task(&t->b, &x);
    }
}

static void add_stage(struct iteration_build *t, uint32_t s)
{
    const struct stage_work *w = &t->x->stage[s];
    bool apart = t->x->order == ITERATION_ZB_H1, last = s + 1 == t->x->nstage;
    struct task x = {.lane = {NO_LANE, NO_LANE}};
    for (uint32_t kind = 0; kind < ITERATION_KINDS; kind++)
        t->first[kind][s] = NO_ITEM;
    x.time = w->forward;
    add_tasks(t, ITERATION_FORWARD, s, x);
    x.time = sat_add(w->backward - (apart ? w->weight : 0), w->recompute ? w->forward : 0);
    add_tasks(t, ITERATION_BACKWARD, s, x);
    x.time = w->weight;
    if (apart)
        add_tasks(t, ITERATION_WEIGHT, s, x);
    x = (struct task){.time = w->send, .lane = {link_of(t, s, false), NO_LANE}};
    if (!last && w->send > 0)
        add_tasks(t, ITERATION_SEND, s, x);
    x = (struct task){.time = w->send_back, .lane = {link_of(t, s, true), NO_LANE}};
    if (!last && w->send_back > 0)
        add_tasks(t, ITERATION_SEND_BACK, s, x);
    x = (struct task){.time = w->reduce, .lane = {NO_LANE, NO_LANE}};
    if (w->reduce_shares && s > 0)
        x.lane[0] = link_of(t, s - 1, true);
    if (w->reduce > 0)
        add_tasks(t, ITERATION_REDUCE, s, x);
}

/* ---- waits and buffers -------------------------------------------------------------------------- */

static void wait_for(struct iteration_build *t, uint32_t task, uint32_t on)
{
    if (task != NO_ITEM && on != NO_ITEM)
        build_wait(&t->b, task, on);
}

static uint32_t pick(uint32_t transfer, uint32_t work)
{
    return transfer != NO_ITEM ? transfer : work;
}

static void add_waits(struct iteration_build *t, uint32_t s, uint32_t i)
{
    uint32_t forward = task_at(t, ITERATION_FORWARD, s, i);
    uint32_t backward = task_at(t, ITERATION_BACKWARD, s, i);
    uint32_t weight = task_at(t, ITERATION_WEIGHT, s, i);
    wait_for(t, backward, forward);
    wait_for(t, weight, backward);
    if (t->first[ITERATION_REDUCE][s] != NO_ITEM)
        wait_for(t, t->first[ITERATION_REDUCE][s], pick(weight, backward));
    if (s + 1 == t->x->nstage)
        return;
    uint32_t send = task_at(t, ITERATION_SEND, s, i);
    uint32_t send_back = task_at(t, ITERATION_SEND_BACK, s, i);
    wait_for(t, send, forward);
    wait_for(t, task_at(t, ITERATION_FORWARD, s + 1, i), pick(send, forward));
    wait_for(t, send_back, task_at(t, ITERATION_BACKWARD, s + 1, i));
    wait_for(t, backward, pick(send_back, task_at(t, ITERATION_BACKWARD, s + 1, i)));
}

/* What forward leaves for backward, until all of backward is done.  Where it is computed again, a checkpoint lasts so
 * long, and the rest is there while backward runs. */
static void add_buffers(struct iteration_build *t, uint32_t s, uint32_t i)
{
    const struct stage_work *w = &t->x->stage[s];
    uint32_t backward = task_at(t, ITERATION_BACKWARD, s, i), dev = device_of(t, s, i);
    uint32_t end = pick(task_at(t, ITERATION_WEIGHT, s, i), backward);
    struct buffer b = {dev, task_at(t, ITERATION_FORWARD, s, i),
                       w->recompute ? w->checkpoint : w->stored};
    if (b.bytes > 0)
        build_use(&t->b, build_buffer(&t->b, b), end);
    b = (struct buffer){dev, backward, w->stored - w->checkpoint};
    if (w->recompute && b.bytes > 0)
        build_use(&t->b, build_buffer(&t->b, b), end);
}

static void tell(struct iteration_build *t)
{
    for (uint32_t s = 0; s < t->x->nstage; s++)
        add_stage(t, s);
    for (uint32_t s = 0; s < t->x->nstage; s++)
        for (uint32_t i = 0; i < copies(t); i++) {
            add_waits(t, s, i);
            add_buffers(t, s, i);
        }
}

/* ---- lanes -------------------------------------------------------------------------------------- */

static void make_lists(struct iteration_build *t, struct arena *a)
{
    struct task_graph *g = &t->b.g;
    struct arena *own = arena_new(a);
    uint32_t n = 0, d = 0;
    g->list.at = arena_array(a, (size_t)g->nlane + 1, sizeof *g->list.at);
    for (uint32_t p = 0; p < t->x->nplace; p++)
        for (uint32_t turn = 0; turn < iteration_turns(t->x, p); turn++)
            n += iteration_length(t->x, p, turn);
    g->list.to = arena_array(a, (size_t)n + 1, sizeof *g->list.to);
    n = 0;
    for (uint32_t p = 0; p < t->x->nplace; p++)
        for (uint32_t turn = 0; turn < iteration_turns(t->x, p); turn++, d++) {
            struct arena_mark mark = arena_mark(own);
            const struct iteration_entry *list = iteration_list(t->x, p, turn, own);
            for (uint32_t i = 0; i < iteration_length(t->x, p, turn); i++) {
                uint32_t task = task_at(t, list[i].kind, list[i].stage, list[i].micro_batch);
                g->list.to[n++] = g->first[task] + (t->apart ? 0 : list[i].micro_batch);
            }
            g->list.at[d + 1] = n;
            arena_release(own, mark);
        }
    for (; d < g->nlane; d++)
        g->list.at[d + 1] = n;
    arena_free(own);
}

struct task_graph iteration_tasks(const struct iteration *x, const int64_t *lasting,
                                  const int64_t *memory, struct arena *a)
{
    struct iteration_build t = {.x = x};
    struct task_graph *g = &t.b.g;
    assert(x->nstage && x->nplace && x->nstage % x->nplace == 0 && x->micro_batches);
    t.first_dev = arena_array(a, (size_t)x->nplace + 1, sizeof *t.first_dev);
    for (uint32_t p = 0; p < x->nplace; p++) {
        t.first_dev[p + 1] = t.first_dev[p] + iteration_turns(x, p);
        t.apart = t.apart || iteration_turns(x, p) > 1;
    }
    for (uint32_t kind = 0; kind < ITERATION_KINDS; kind++)
        t.first[kind] = arena_array(a, x->nstage, sizeof *t.first[kind]);
    g->ndev = t.first_dev[x->nplace];
    while (task_builder_turn(&t.b, a))
        tell(&t);
    g->nlane = g->ndev + 2 * x->nplace;
    g->lane = arena_array(a, g->nlane, sizeof *g->lane);
    for (uint32_t l = 0; l < g->nlane; l++)
        g->lane[l].discipline = l < g->ndev ? LANE_LIST : LANE_FIFO;
    g->lasting = lasting;
    g->memory = memory;
    bool numbered = task_graph_number(g, a);
    assert(numbered);
    (void)numbered;
    make_lists(&t, a);
    return *g;
}
