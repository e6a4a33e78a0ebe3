/* Builds a task graph whose arrays are as long as they have to be: what there is is told three times in the same way
 * (how many tasks and buffers; how many waits and uses each has; what they are).
 *
 *     struct task_builder b = {0};
 *     while (task_builder_turn(&b, a))
 *         tell(&b);   // build_task, build_buffer, build_wait, build_use, in the same order each time
 *
 * Afterwards b.g has tasks, buffers, waits and uses; lanes, lists and numbers are the caller's.  O(1) for each call,
 * O(tasks + buffers + waits + uses) for the turns. */
#ifndef PCC_IR_EXEC_TASK_BUILDER_H
#define PCC_IR_EXEC_TASK_BUILDER_H

#include "ir/exec/tasks.h"

struct task_builder {
    struct task_graph g;
    enum build_turn { BUILD_NONE, BUILD_SIZES, BUILD_ROWS, BUILD_ENTRIES } turn;
};

/* Goes on to the next turn: true three times, then false. */
bool task_builder_turn(struct task_builder *b, struct arena *a);

/* x is looked at in BUILD_ENTRIES only. */
static inline uint32_t build_task(struct task_builder *b, const struct task *x)
{
    if (b->turn == BUILD_ENTRIES)
        b->g.task[b->g.ntask] = *x;
    return b->g.ntask++;
}

static inline uint32_t build_buffer(struct task_builder *b, struct buffer x)
{
    if (b->turn == BUILD_ENTRIES)
        b->g.buffer[b->g.nbuffer] = x;
    return b->g.nbuffer++;
}

/* In BUILD_ROWS at[row + 1] counts, in BUILD_ENTRIES it is where the next entry goes. */
static inline void build_entry(const struct task_builder *b, struct csr *c, uint32_t row,
                               uint32_t entry)
{
    if (b->turn == BUILD_ROWS)
        c->at[row + 1]++;
    else if (b->turn == BUILD_ENTRIES)
        c->to[c->at[row + 1]++] = entry;
}

static inline void build_wait(struct task_builder *b, uint32_t task, uint32_t before)
{
    build_entry(b, &b->g.waits, task, before);
}

static inline void build_use(struct task_builder *b, uint32_t buffer, uint32_t task)
{
    build_entry(b, &b->g.use, buffer, task);
}

#endif
