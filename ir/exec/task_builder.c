/* Builds task graphs in three turns (task_builder.h). */
#include "ir/exec/task_builder.h"

#include <assert.h>

/* Allocates c->to for rows whose entries were counted in c->at, and sets where each row begins. */
static void allocate_entries(struct csr *c, uint32_t rows, struct arena *a)
{
    size_t n = 0;
    for (uint32_t r = 0; r < rows; r++)
        n += c->at[r + 1];
    c->to = arena_array(a, n + 1, sizeof *c->to);
    csr_starts(c->at, rows);
}

bool task_builder_turn(struct task_builder *b, struct arena *a)
{
    struct task_graph *g = &b->g;
    assert(b->turn <= BUILD_ENTRIES);
    if (b->turn == BUILD_ENTRIES)
        return false;
    if (b->turn == BUILD_SIZES) {
        g->task = arena_array(a, (size_t)g->ntask + 1, sizeof *g->task);
        g->buffer = arena_array(a, (size_t)g->nbuffer + 1, sizeof *g->buffer);
        g->waits.at = arena_array(a, (size_t)g->ntask + 1, sizeof *g->waits.at);
        g->use.at = arena_array(a, (size_t)g->nbuffer + 1, sizeof *g->use.at);
    }
    if (b->turn == BUILD_ROWS) {
        allocate_entries(&g->waits, g->ntask, a);
        allocate_entries(&g->use, g->nbuffer, a);
    }
    b->turn++;
    g->ntask = g->nbuffer = 0;
    return true;
}
