/* Makes the tasks of an iteration of training, for the event core (iteration.h).
 *
 * Each stage has a task for each kind of work, whose instances are the micro-batches.  If devices of some place take
 * micro-batches in turn, the instances of a task would need several lanes; so in that case each micro-batch has tasks
 * of its own, at all stages.  O(stages * micro-batches). */
#include "ir/exec/iteration/iteration.h"

#include "ir/base/units.h"
#include "ir/exec/task_builder.h"

#include <assert.h>

/* State of iteration_tasks(). */
struct iteration_build {
    const struct iteration *x;
    struct task_builder b;
    /* each micro-batch has tasks of its own, instead of an instance of common tasks */
    bool per_micro_batch;
    uint32_t *first_dev; /* [place] its first device */
    /* [kind][stage] the stage's task of that kind, with per_micro_batch its first one; NO_ITEM: it has none */
    uint32_t *first[ITERATION_KINDS];
};

/* Returns the number of tasks that a stage has of each kind but REDUCE and UPDATE, of which it has one. */
static uint32_t task_copies(const struct iteration_build *t)
{
    return t->per_micro_batch ? t->x->micro_batches : 1;
}

/* Returns the task of a kind that stage s has for micro-batch i; without t->per_micro_batch it is
 * one task for all micro-batches.  NO_ITEM: the stage has no such task. */
static uint32_t task_at(const struct iteration_build *t, enum iteration_kind kind, uint32_t s,
                        uint32_t i)
{
    return t->first[kind][s] == NO_ITEM ? NO_ITEM
                                        : t->first[kind][s] + (t->per_micro_batch ? i : 0);
}

/* Returns the device that runs stage s for a micro-batch. */
static uint32_t device_of(const struct iteration_build *t, uint32_t s, uint32_t micro_batch)
{
    uint32_t place = s % t->x->nplace;
    return t->first_dev[place] + micro_batch % iteration_turns(t->x, place);
}

/* Returns the lane that moves values from stage s to stage s + 1 or, if back is true, gradients from s + 1 to s.  With
 * two places the stages alternate between them, so there is one lane for each direction: values from stage s + 1 to s +
 * 2 go the same way as gradients from s + 1 to s. */
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

/* Adds the tasks of a kind at stage s, as copies of x with kind, number and count set, and notes the first one in
 * t->first.  If the tasks are passes, their lane is the device that runs them. */
static void add_tasks(struct iteration_build *t, enum iteration_kind kind, uint32_t s,
                      struct task x)
{
    x.kind = kind;
    x.number = s;
    t->first[kind][s] = t->b.g.ntask;
    bool once = kind == ITERATION_REDUCE || kind == ITERATION_UPDATE;
    for (uint32_t i = 0; i < (once ? 1 : task_copies(t)); i++) {
        x.count = once || t->per_micro_batch ? 1 : t->x->micro_batches;
        if (kind <= ITERATION_WEIGHT)
            x.lane[0] = device_of(t, s, i);
        build_task(&t->b, &x);
    }
}

/* Adds all tasks of stage s; transfers, AllReduces and updates that take no time are left out. */
static void add_stage(struct iteration_build *t, uint32_t s)
{
    const struct stage_work *w = &t->x->stage[s];
    bool weight_pass = t->x->order == ITERATION_ZB_H1, last = s + 1 == t->x->nstage;
    struct task x = {.lane = {NO_LANE, NO_LANE}};
    for (uint32_t kind = 0; kind < ITERATION_KINDS; kind++)
        t->first[kind][s] = NO_ITEM;
    /* add_tasks() sets the lane of a pass, which is the device */
    x.time = w->forward;
    add_tasks(t, ITERATION_FORWARD, s, x);
    x.time = sat_add(w->backward - (weight_pass ? w->weight : 0), w->recompute ? w->forward : 0);
    if (!t->x->forward_only)
        add_tasks(t, ITERATION_BACKWARD, s, x);
    x.time = w->weight;
    if (weight_pass && !t->x->forward_only)
        add_tasks(t, ITERATION_WEIGHT, s, x);
    x = (struct task){.time = w->send, .lane = {link_of(t, s, /*back=*/false), NO_LANE}};
    if (!last && w->send > 0)
        add_tasks(t, ITERATION_SEND, s, x);
    x = (struct task){.time = w->send_back, .lane = {link_of(t, s, /*back=*/true), NO_LANE}};
    if (!last && w->send_back > 0)
        add_tasks(t, ITERATION_SEND_BACK, s, x);
    x = (struct task){.time = w->reduce, .lane = {NO_LANE, NO_LANE}};
    if (w->reduce_shares && s > 0)
        x.lane[0] = link_of(t, s - 1, /*back=*/true);
    if (w->reduce > 0)
        add_tasks(t, ITERATION_REDUCE, s, x);
    /* where devices take turns, there is no update apart, so the stage has one device and the micro-batch does not
     * matter */
    x = (struct task){.time = w->update, .lane = {device_of(t, s, 0), NO_LANE}};
    if (w->update > 0)
        add_tasks(t, ITERATION_UPDATE, s, x);
}

/* ---- waits and buffers -------------------------------------------------------------------------- */

/* Makes `task` wait for the task `on`, if there are both. */
static void wait_for(struct iteration_build *t, uint32_t task, uint32_t on)
{
    if (task != NO_ITEM && on != NO_ITEM)
        build_wait(&t->b, task, on);
}

/* Returns the first task unless it is NO_ITEM, else the second one. */
static uint32_t first_task_of(uint32_t task, uint32_t other)
{
    return task != NO_ITEM ? task : other;
}

/* Adds the waits of the tasks of stage s for micro-batch i, and of the forward task of stage s + 1. */
static void add_waits(struct iteration_build *t, uint32_t s, uint32_t i)
{
    uint32_t forward = task_at(t, ITERATION_FORWARD, s, i);
    uint32_t backward = task_at(t, ITERATION_BACKWARD, s, i);
    uint32_t weight = task_at(t, ITERATION_WEIGHT, s, i);
    wait_for(t, backward, forward);
    wait_for(t, weight, backward);
    wait_for(t, t->first[ITERATION_REDUCE][s], first_task_of(weight, backward));
    /* the update of the stage, or with joint_update of every stage, waits for the gradients of stage s */
    for (uint32_t k = 0; k < t->x->nstage; k++)
        if (k == s || t->x->joint_update)
            wait_for(t, t->first[ITERATION_UPDATE][k],
                     first_task_of(t->first[ITERATION_REDUCE][s], first_task_of(weight, backward)));
    if (s + 1 == t->x->nstage)
        return;
    uint32_t send = task_at(t, ITERATION_SEND, s, i);
    uint32_t send_back = task_at(t, ITERATION_SEND_BACK, s, i);
    wait_for(t, send, forward);
    wait_for(t, task_at(t, ITERATION_FORWARD, s + 1, i), first_task_of(send, forward));
    wait_for(t, send_back, task_at(t, ITERATION_BACKWARD, s + 1, i));
    wait_for(t, backward, first_task_of(send_back, task_at(t, ITERATION_BACKWARD, s + 1, i)));
}

/* Adds the memory of the values of stage s that the forward pass of micro-batch i keeps until the backward pass is
 * done (with ZB_H1 the pass for gradients of weights).  With recompute only the checkpoint is kept from the forward
 * pass on; the other bytes are there from the start of the backward pass.  In an iteration without backward passes
 * the values are there until they are sent. */
static void add_buffers(struct iteration_build *t, uint32_t s, uint32_t i)
{
    const struct stage_work *w = &t->x->stage[s];
    uint32_t backward = task_at(t, ITERATION_BACKWARD, s, i), dev = device_of(t, s, i);
    uint32_t end = first_task_of(task_at(t, ITERATION_WEIGHT, s, i), backward);
    if (t->x->forward_only)
        end = first_task_of(task_at(t, ITERATION_SEND, s, i), task_at(t, ITERATION_FORWARD, s, i));
    struct buffer b = {dev, task_at(t, ITERATION_FORWARD, s, i),
                       w->recompute ? w->checkpoint : w->stored};
    if (b.bytes > 0)
        build_use(&t->b, build_buffer(&t->b, b), end);
    b = (struct buffer){dev, backward, w->stored - w->checkpoint};
    if (w->recompute && b.bytes > 0)
        build_use(&t->b, build_buffer(&t->b, b), end);
}

/* Describes the whole graph to the task builder, once in each turn. */
static void describe(struct iteration_build *t)
{
    for (uint32_t s = 0; s < t->x->nstage; s++)
        add_stage(t, s);
    for (uint32_t s = 0; s < t->x->nstage; s++)
        for (uint32_t i = 0; i < task_copies(t); i++) {
            add_waits(t, s, i);
            add_buffers(t, s, i);
        }
}

/* ---- lanes -------------------------------------------------------------------------------------- */

/* Makes g->list, in a: the list of each device has its passes, then the updates of its stages; the lanes of links
 * have no lists. */
static void make_lists(struct iteration_build *t, struct arena *a)
{
    struct task_graph *g = &t->b.g;
    struct arena *own = arena_new(a);
    uint32_t n = 0, d = 0;
    g->list.at = arena_array(a, (size_t)g->nlane + 1, sizeof *g->list.at);
    for (uint32_t p = 0; p < t->x->nplace; p++)
        for (uint32_t turn = 0; turn < iteration_turns(t->x, p); turn++)
            n += iteration_length(t->x, p, turn);
    for (uint32_t s = 0; s < t->x->nstage; s++)
        n += t->first[ITERATION_UPDATE][s] != NO_ITEM;
    g->list.to = arena_array(a, (size_t)n + 1, sizeof *g->list.to);
    n = 0;
    for (uint32_t p = 0; p < t->x->nplace; p++)
        for (uint32_t turn = 0; turn < iteration_turns(t->x, p); turn++, d++) {
            struct arena_mark mark = arena_mark(own);
            const struct iteration_entry *list = iteration_list(t->x, p, turn, own);
            for (uint32_t i = 0; i < iteration_length(t->x, p, turn); i++) {
                uint32_t task = task_at(t, list[i].kind, list[i].stage, list[i].micro_batch);
                g->list.to[n++] = g->first[task] + (t->per_micro_batch ? 0 : list[i].micro_batch);
            }
            for (uint32_t s = p; s < t->x->nstage && turn == 0; s += t->x->nplace)
                if (t->first[ITERATION_UPDATE][s] != NO_ITEM)
                    g->list.to[n++] = g->first[t->first[ITERATION_UPDATE][s]];
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
        t.per_micro_batch = t.per_micro_batch || iteration_turns(x, p) > 1;
    }
    for (uint32_t kind = 0; kind < ITERATION_KINDS; kind++)
        t.first[kind] = arena_array(a, x->nstage, sizeof *t.first[kind]);
    g->ndev = t.first_dev[x->nplace];
    while (task_builder_turn(&t.b, a))
        describe(&t);
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
