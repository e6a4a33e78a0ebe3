/* Rows of times (run_figures.h).  A row keeps only its last times, since a run may have any number of samples.  The
 * memory of a row is written when it is made, so that the process does not grow while it runs, and a leak would
 * show. */
#include "tools/run/run_figures.h"

#include "ir/base/numbers.h"

#include <stdlib.h>
#include <string.h>

struct bars bars_new(uint32_t most, struct arena *a)
{
    struct bar *at = arena_array(a, (size_t)most + 1, sizeof *at);
    memset(at, 0, ((size_t)most + 1) * sizeof *at);
    return (struct bars){at, 0, most};
}

void bars_add(struct bars *b, struct bar bar)
{
    if (b->n < b->cap)
        b->at[b->n++] = bar;
}

struct times times_new(struct arena *a)
{
    int64_t *ns = arena_array(a, FIGURES_KEPT, sizeof *ns);
    memset(ns, 0, FIGURES_KEPT * sizeof *ns);
    return (struct times){.ns = ns};
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
