/* Makes the chart of a result, by the function of its execution model; and functions that several execution models use
 * when they make a chart (chart.h). */
#include "backends/timeline/chart.h"

#include <stdlib.h>
#include <string.h>

enum { NAME_SHOWN = 28 /* bytes of a shortened name */ };

const struct writer_opt chart_samples = {
    .opt =
        {OPT_INT, "replay", offsetof(struct chart_options, samples), "0",
         .help =
             "samples that are shown (default: a few, until the plan's rhythm is seen); of an iteration of "
             "training its micro-batches (default: all)"},
    .needs_plan = true};

const struct writer_opt chart_curves = {
    .opt = {OPT_BOOL, "curves", offsetof(struct chart_options, curves), "false",
            .help = "in .gantt.svg, the memory of each device over time (--objective=makespan or "
                    "iteration-time)"},
    .needs_plan = true};

int chart_make(struct chart *c, const struct result *r, const struct chart_options *o,
               uint32_t most, struct arena *a)
{
    return exec_kind(&r->scene.model)->shows->chart(c, r, o->samples, most, a);
}

/* For qsort(): compares bars by start, end, item and lane. */
static int compare_bars(const void *a, const void *b)
{
    const struct chart_bar *x = a, *y = b;
    if (x->at != y->at)
        return x->at < y->at ? -1 : 1;
    if (x->end != y->end)
        return x->end < y->end ? -1 : 1;
    if (x->item != y->item)
        return x->item < y->item ? -1 : 1;
    return x->lane < y->lane ? -1 : x->lane > y->lane;
}

void chart_sort_bars(struct chart *c)
{
    qsort(c->bar, c->nbar, sizeof *c->bar, compare_bars);
}

void mark_critical(struct chart_detail *d, struct arena *a)
{
    d->full = arena_fmt(a, "%s, critical", d->full);
    d->fact[d->nfact++] = (struct chart_fact){"critical", "yes", 0};
}

double share_of_end(const struct timeline *t, int64_t time)
{
    return t->end ? 100 * (double)time / (double)t->end : 0;
}

const struct device_class *class_of(const struct result *r, uint32_t dev)
{
    return &r->scene.cluster->cls[cluster_class(r->scene.cluster, dev)];
}

const char *shorten_name(const char *s, struct arena *a)
{
    size_t n = strlen(s);
    if (n <= NAME_SHOWN)
        return s;
    n = NAME_SHOWN - 3;
    while (n > 0 && ((unsigned char)s[n] & 0xc0) == 0x80) /* a byte within a character of UTF-8 */
        n--;
    return arena_fmt(a, "%.*s...", (int)n, s);
}
