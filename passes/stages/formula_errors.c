/* DAPPLE's formula against what runs (formula_errors.h).
 *
 * Source: DAPPLE (arXiv 2007.01045), formula (2), which knows nothing of bubbles within a pipeline, and so is a lower
 * bound where nothing is exchanged at the end: with transfers there and back over one channel, as it counts them, and
 * without running forward again. */
#include "passes/stages/formula_errors.h"

#include <stdlib.h>

static bool is_alone(const struct servers *s, const struct trained *p)
{
    for (uint32_t k = 0; k < p->n; k++)
        if (servers_devices(s, &p->set[k]) > 1)
            return false;
    return true;
}

void formula_errors_add(struct formula_errors *e, const struct layer_chain *c,
                        const struct dapple_rules *r, const struct trained *p)
{
    uint32_t *end = arena_array(e->a, p->n, sizeof *end);
    for (uint32_t v = 0, k = 0; v < c->n; v++) {
        if (p->stage_of[v] != k && (p->stage_of[v] != k + 1 || v == 0))
            return;
        k = p->stage_of[v];
        end[k] = v + 1;
    }
    struct stage_plan plan = {.n = p->n, .end = end, .devices = (struct device_set *)p->set};
    int64_t said = stage_plan_latency(c, r, &plan, e->a);
    bool alone = is_alone(r->servers, p);
    e->error = vec_grow(e->a, e->error, &e->cap, e->n + 1, sizeof *e->error);
    e->error[e->n++] = p->value > 0 ? (double)llabs(said - p->value) / (double)p->value : 0;
    e->alone += alone;
    e->alone_above += alone && said > p->value;
}

static int by_size(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

const char *formula_errors_tell(struct formula_errors *e)
{
    if (!e->n)
        return "no plan was run";
    qsort(e->error, e->n, sizeof *e->error, by_size);
    return arena_fmt(e->a,
                     "against %u plans that were run: median error %.2f %%, largest %.2f %%; of %u "
                     "without AllReduce it is above %u",
                     e->n, 100 * e->error[e->n / 2], 100 * e->error[e->n - 1], e->alone,
                     e->alone_above);
}
