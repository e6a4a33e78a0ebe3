/* Rows of times (run_figures.h).  Only the last of them are kept: a run may have any number of samples. */
#include "tools/run/run_figures.h"

#include "ir/base/numbers.h"

#include <stdlib.h>
#include <string.h>

struct bars bars_new(uint32_t most, struct arena *a)
{
    return (struct bars){arena_array(a, (size_t)most + 1, sizeof(struct bar)), 0, most};
}

void bars_add(struct bars *b, struct bar bar)
{
    if (b->n < b->cap)
        b->at[b->n++] = bar;
}

struct times times_new(struct arena *a)
{
    return (struct times){.ns = arena_array(a, FIGURES_KEPT, sizeof(int64_t))};
}

void times_add(struct times *t, int64_t ns)
{
    t->ns[t->n++ % FIGURES_KEPT] = ns;
    t->sum += ns;
}

int64_t times_rank(const struct times *t, int per_mille, struct arena *a)
{
    int64_t n = smaller(t->n, FIGURES_KEPT);
    if (n == 0)
        return -1;
    int64_t *sorted = arena_copy(a, t->ns, (size_t)n * sizeof *sorted);
    qsort(sorted, (size_t)n, sizeof *sorted, by_i64);
    return sorted[(n - 1) * per_mille / 1000];
}
