/* Builds a task graph (tasks.h) with arrays of exactly the needed lengths: the caller describes the graph three times
 * in the same way.  The first turn counts tasks and buffers, the second one counts the waits of each task and the
 * uses of each buffer, the third one fills the arrays.
 *
 *     struct task_builder b = {0};
 *     while (task_builder_turn(&b, a))
 *         describe(&b);   // calls build_task, build_buffer, build_wait, build_use in the same order each time
 *
 * Afterwards b.g has tasks, buffers, waits and uses; the caller adds lanes and lists and calls task_graph_number().
 * O(1) for each call, O(tasks + buffers + waits + uses) for all turns together. */
#ifndef PCC_IR_EXEC_TASK_BUILDER_H
#define PCC_IR_EXEC_TASK_BUILDER_H

#include "ir/exec/tasks.h"

/* A task graph that is being built, and the current turn.  BUILD_NONE: no turn has begun. */
struct task_builder {
    struct task_graph g;
    /* SIZES: counts tasks and buffers; ROWS: counts waits and uses; ENTRIES: fills the arrays */
    enum build_turn { BUILD_NONE, BUILD_SIZES, BUILD_ROWS, BUILD_ENTRIES } turn;
};

/* Begins the next turn and allocates the arrays that it fills, in a.  Returns false when there have been three
 * turns. */
bool task_builder_turn(struct task_builder *b, struct arena *a);

/* Adds a task and returns its number.  *x is read only in the turn BUILD_ENTRIES. */
static inline uint32_t build_task(struct task_builder *b, const struct task *x)
{
    if (b->turn == BUILD_ENTRIES)
        b->g.task[b->g.ntask] = *x;
    return b->g.ntask++;
}

/* Adds a buffer and returns its number. */
static inline uint32_t build_buffer(struct task_builder *b, struct buffer x)
{
    if (b->turn == BUILD_ENTRIES)
        b->g.buffer[b->g.nbuffer] = x;
    return b->g.nbuffer++;
}

/* Adds an entry to a row of c.  In the turn BUILD_ROWS only counts it, in at[row + 1]; in BUILD_ENTRIES writes it to
 * position at[row + 1], which csr_starts() has set to the beginning of the row, and moves that position on. */
static inline void build_entry(const struct task_builder *b, struct csr *c, uint32_t row,
                               uint32_t entry)
{
    if (b->turn == BUILD_ROWS)
        c->at[row + 1]++;
    else if (b->turn == BUILD_ENTRIES)
        c->to[c->at[row + 1]++] = entry;
}

/* Makes `task` wait for the task `before`. */
static inline void build_wait(struct task_builder *b, uint32_t task, uint32_t before)
{
    build_entry(b, &b->g.waits, task, before);
}

/* Makes `task` a user of the buffer. */
static inline void build_use(struct task_builder *b, uint32_t buffer, uint32_t task)
{
    build_entry(b, &b->g.use, buffer, task);
}

#endif
