/* The report of a run (runner.h): throughput, latency, and the time of each part and device beside the plan's. */
#include "tools/run/runner.h"

#include "ir/base/json_in.h"
#include "ir/base/numbers.h"
#include "ir/base/units.h"
#include "ir/base/utf8.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { MEDIAN = 500, P99 = 990 }; /* thousandths of the times, for times_rank() */
#define PS_OF_NS INT64_C(1000)

/* Returns a time as text, in to[UNIT_TEXT]; "-" if it is not known (ns < 0). */
static const char *time_text(char *to, int64_t ns)
{
    return ns < 0 ? "-" : time_short(to, ns > INT64_MAX / PS_OF_NS ? INT64_MAX : ns * PS_OF_NS);
}

/* Returns seconds of the manifest in ns; -1: it says none, or too many for ns. */
static int64_t planned_ns(const json_t *seconds)
{
    double s = json_number_value(seconds);
    return json_is_number(seconds) && s >= 0 && s < 1e6 ? llround(s * 1e9) : -1;
}

/* Returns the mean time, ns, from the outputs of a sample to the outputs of the next one; -1: fewer than two samples
 * have given outputs. */
static int64_t each_ns(const struct figures *g)
{
    return g->samples > 1 ? (g->last - g->first) / (g->samples - 1) : -1;
}

/* Prints a measured time, the planned time (-1: not known), and their ratio. */
static void put_beside(FILE *f, int64_t ns, int64_t planned)
{
    char text[UNIT_TEXT];
    fprintf(f, "%s", time_text(text, ns));
    if (planned > 0)
        fprintf(f, ", planned %s", time_text(text, planned));
    if (planned > 0 && ns >= 0)
        fprintf(f, " (%.2f of it)", (double)ns / (double)planned);
    putc('\n', f);
}

/* Prints a row for each part. */
static void put_parts(struct runner *r, FILE *f)
{
    for (uint32_t k = 0; k < r->s.npart; k++) {
        const struct split_part *p = &r->s.part[k];
        int64_t ns = times_rank(&r->figures.part[k], MEDIAN, r->a);
        fputs("  ", f);
        utf8_put(f, p->file);
        fputs(" on ", f);
        for (uint32_t i = 0; i < r->wires.nplace[k]; i++) {
            fputs(i ? ", " : "", f);
            utf8_put(f, r->dev[r->wires.place[k][i]].name);
        }
        fputs(": ", f);
        put_beside(f, ns, p->compute_ps < 0 ? -1 : p->compute_ps / PS_OF_NS);
    }
}

/* Prints a row for each device. */
static void put_devices(struct runner *r, FILE *f)
{
    int64_t span = r->figures.samples > 1 ? r->figures.last - r->figures.first : 0;
    char text[UNIT_TEXT];
    for (uint32_t d = 0; d < r->ndev; d++) {
        if (!r->dev[d].loaded)
            continue;
        fputs("  ", f);
        utf8_put(f, r->dev[d].name);
        if (span > 0)
            fprintf(f, ": %d %% busy", percent_of(smaller(r->figures.busy[d], span), span));
        if (r->w)
            fprintf(f, "%s%s held at most", span > 0 ? ", " : ": ",
                    bytes_short(text, r->dev[d].most));
        putc('\n', f);
    }
}

/* If the split was measured with copies of a part side by side, prints what share of their speed alone these copies
 * reached. */
static void put_side_by_side(const struct runner *r, FILE *f)
{
    const json_t *side =
        json_object_get(json_object_get(r->s.manifest, "measured"), "side_by_side");
    double factor = json_number_value(json_object_get(side, "factor"));
    if (factor > 0 && factor < 1e6) /* a manifest may hold any number */
        fprintf(
            f,
            "  not counted in the plan: parts side by side reached %.3f of their speed when it was measured\n",
            factor);
}

void run_report(struct runner *r, FILE *f)
{
    const struct figures *g = &r->figures;
    const json_t *goal = json_object_get(r->s.manifest, "objective");
    const char *name = json_get_text(goal, "name");
    char first[UNIT_TEXT], each[UNIT_TEXT], high[UNIT_TEXT];
    if (g->samples == 0)
        return;
    fprintf(f, "%" PRId64 " sample%s, first after %s", g->samples, g->samples == 1 ? "" : "s",
            time_text(first, g->first - g->began));
    if (g->samples > 1)
        fprintf(f, ", then %s each: %.4g a second", time_text(each, each_ns(g)),
                1e9 / (double)larger(1, each_ns(g)));
    fprintf(f, "\nlatency %s", time_text(first, times_rank(&g->latency, MEDIAN, r->a)));
    if (g->samples > 1)
        fprintf(f, ", 99 %% of samples within %s",
                time_text(high, times_rank(&g->latency, P99, r->a)));
    putc('\n', f);
    if (name && !strcmp(name, "time-per-sample") && g->samples > 1) {
        fputs("time per sample ", f);
        put_beside(f, each_ns(g), planned_ns(json_object_get(goal, "value_s")));
        put_side_by_side(r, f);
    }
    put_parts(r, f);
    put_devices(r, f);
    if (g->transfer.n > 0) {
        fprintf(f, "tensors from device to device: taken %s after they were made (median), %s",
                time_text(first, times_rank(&g->transfer, MEDIAN, r->a)),
                r->ranks ? "by messages" : "none copied");
        if (g->message.n > 0)
            fprintf(f, ", which took %s (median)",
                    time_text(first, times_rank(&g->message, MEDIAN, r->a)));
        putc('\n', f);
    }
    run_memory_end(r, f);
}
