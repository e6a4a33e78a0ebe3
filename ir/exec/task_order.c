/* Orders tasks (task_order.h): longest paths to the end, computed against the direction of the waits, then sorting. */
#include "ir/exec/task_order.h"

#include "ir/base/keyed.h"
#include "ir/base/numbers.h"
#include "ir/base/units.h"

#include <assert.h>

/* Returns an array: [task] its level, ps: the length of the longest path of waits from its start to the end of all
 * tasks.  The level of a task on a cycle of waits, or of a task for which a task on a cycle waits, is too small. */
static int64_t *find_levels(const struct task_graph *g, struct arena *a)
{
    uint32_t n = g->ntask;
    int64_t *level = arena_array(a, (size_t)n + 1, sizeof *level);
    uint32_t *order = arena_array(a, (size_t)n + 1, sizeof *order);
    uint32_t sorted = csr_topo(&g->waits, n, NULL, order, a);
    for (uint32_t i = 0; i < sorted; i++) {
        uint32_t k = order[i];
        level[k] = sat_add(level[k], g->task[k].time);
        for_row (on, g->waits, k)
            level[on] = larger(level[k], level[on]);
    }
    return level;
}

void rank_by_level(struct task_graph *g, uint32_t n, struct arena *a)
{
    assert(n <= g->ntask);
    struct arena_mark before = arena_mark(a);
    const int64_t *level = find_levels(g, a);
    struct keyed *x = arena_array(a, (size_t)n + 1, sizeof *x);
    for (uint32_t k = 0; k < n; k++)
        x[k] = (struct keyed){-level[k], k};
    keyed_sort(x, n);
    for (uint32_t r = 0; r < n; r++)
        g->task[x[r].item].rank = r;
    arena_release(a, before);
}

/* Returns the tasks 0 .. n - 1 ordered by rank, ties by number.  If the largest rank is at most about 4 n, as it is
 * when ranks are a permutation, a counting sort takes O(n). */
static uint32_t *sort_by_rank(const struct task_graph *g, uint32_t n, struct arena *a)
{
    uint32_t most = 0, *order = arena_array(a, (size_t)n + 1, sizeof *order);
    for (uint32_t k = 0; k < n; k++)
        most = larger_u32(g->task[k].rank, most);
    if (most / 4 <= n) {
        uint32_t *at = arena_array(a, (size_t)most + 2, sizeof *at);
        for (uint32_t k = 0; k < n; k++)
            at[g->task[k].rank + 1]++;
        csr_starts(at, most + 1);
        for (uint32_t k = 0; k < n; k++)
            order[at[g->task[k].rank + 1]++] = k;
        return order;
    }
    struct keyed *x = arena_array(a, (size_t)n + 1, sizeof *x);
    for (uint32_t k = 0; k < n; k++)
        x[k] = (struct keyed){g->task[k].rank, k};
    keyed_sort(x, n);
    for (uint32_t i = 0; i < n; i++)
        order[i] = x[i].item;
    return order;
}

void list_by_rank(struct task_graph *g, uint32_t n, struct arena *a)
{
    assert(n <= g->ntask);
    g->list.at = arena_array(a, (size_t)g->nlane + 1, sizeof *g->list.at);
    g->list.to = arena_array(a, (size_t)n + 1, sizeof *g->list.to);
    struct arena_mark before = arena_mark(a);
    const uint32_t *order = sort_by_rank(g, n, a);
    for (uint32_t k = 0; k < n; k++)
        g->list.at[g->task[k].lane[0] + 1]++;
    csr_starts(g->list.at, g->nlane);
    for (uint32_t i = 0; i < n; i++)
        g->list.to[g->list.at[g->task[order[i]].lane[0] + 1]++] = order[i];
    arena_release(a, before);
}
