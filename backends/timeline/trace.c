/* The chart of a plan at work as a trace for Perfetto (https://ui.perfetto.dev) or any other viewer of Chrome's Trace
 * Event Format (JSON).
 *
 * The process is the model, its threads are the lanes.  Every bar is a complete event (ph X) with its time and
 * duration in microseconds, written to the picosecond; in the viewer arrows lead from bar to bar of a flow (bind_id).
 * Bars come in order of their start, then, device by device, counters (ph C) of the bytes in memory from a moment on.
 * O(n log n) for n bars; of samples in rounds more than a million are refused. */
#include "backends/label.h"
#include "ir/base/json_out.h"
#include "ir/base/outfile.h"
#include "backends/timeline/chart.h"

#include <assert.h>
#include <inttypes.h>

enum { MOST = 1 << 20 };

static void put_text(FILE *f, struct arena *a, const char *s)
{
    json_put_string(f, label_plain(a, s));
}

/* Microseconds with all digits. */
static void put_us(FILE *f, int64_t ps)
{
    assert(ps >= 0);
    const int64_t us = PS_PER_S / 1000000;
    fprintf(f, "%" PRId64, ps / us);
    if (ps % us) {
        int width = 6;
        int64_t digits = ps % us;
        for (; digits % 10 == 0; width--)
            digits /= 10;
        fprintf(f, ".%0*" PRId64, width, digits);
    }
}

/* The names of process and threads. */
static void put_names(FILE *f, const struct chart *c, struct arena *a)
{
    fputs("{\"ph\": \"M\", \"name\": \"process_name\", \"pid\": 1, \"args\": {\"name\": ", f);
    put_text(f, a, c->model);
    fputs("}}", f);
    for (uint32_t l = 0; l < c->nlane; l++) {
        fprintf(f, ",\n{\"ph\": \"M\", \"name\": \"thread_name\", \"pid\": 1, \"tid\": %u, ",
                l + 1);
        fputs("\"args\": {\"name\": ", f);
        put_text(f, a, arena_fmt(a, "%s (%s)", c->lane[l].name, c->lane[l].class));
        fprintf(f,
                "}},\n{\"ph\": \"M\", \"name\": \"thread_sort_index\", \"pid\": 1, \"tid\": %u, "
                "\"args\": {\"sort_index\": %u}}",
                l + 1, l);
    }
}

/* What is told of a bar, as members of an object. */
static void put_facts(FILE *f, const struct chart_detail *d, struct arena *a)
{
    for (uint32_t i = 0; i < d->nfact; i++) {
        fprintf(f, "%s\"%s\": ", i ? ", " : "", d->fact[i].key);
        if (d->fact[i].text)
            put_text(f, a, d->fact[i].text);
        else
            fprintf(f, "%" PRId64, d->fact[i].number);
    }
}

static void put_bar(FILE *f, const struct chart *c, const struct chart_bar *b, struct arena *a)
{
    struct chart_detail d = c->describe(c, b->item, a);
    fputs(",\n{\"ph\": \"X\", \"name\": ", f);
    put_text(f, a, d.name);
    fprintf(f, ", \"cat\": \"%s\", \"pid\": 1, \"tid\": %u, \"ts\": ", d.category, b->lane + 1);
    put_us(f, b->at);
    fputs(", \"dur\": ", f);
    put_us(f, b->end - b->at);
    fputs(", \"args\": {", f);
    put_facts(f, &d, a);
    putc('}', f);
}

/* All bars with their arrows. */
static void put_bars(FILE *f, const struct chart *c, struct arena *a)
{
    uint32_t *all = arena_array(a, (size_t)c->nflow + 1, sizeof *all);
    uint32_t *had = arena_array(a, (size_t)c->nflow + 1, sizeof *had);
    for (size_t i = 0; i < c->nbar; i++)
        all[c->bar[i].flow]++;
    for (size_t i = 0; i < c->nbar; i++) {
        uint32_t flow = c->bar[i].flow;
        assert(flow <= c->nflow);
        struct arena_mark mark = arena_mark(a);
        put_bar(f, c, &c->bar[i], a);
        arena_release(a, mark);
        had[flow]++;
        if (flow)
            fprintf(f, ", \"bind_id\": \"%u\"%s%s", flow,
                    had[flow] > 1 ? ", \"flow_in\": true" : "",
                    had[flow] < all[flow] ? ", \"flow_out\": true" : "");
        putc('}', f);
    }
}

/* The bytes that devices hold from moment to moment. */
static void put_counters(FILE *f, const struct chart *c, struct arena *a)
{
    for (uint32_t k = 0; k < c->ncurve; k++)
        for (uint32_t i = 0; i < c->curve[k].of.n; i++) {
            const struct curve_point *p = &c->curve[k].of.point[i];
            fputs(",\n{\"ph\": \"C\", \"name\": ", f);
            put_text(f, a, c->curve[k].name);
            fputs(", \"pid\": 1, \"ts\": ", f);
            put_us(f, p->at);
            fprintf(f, ", \"args\": {\"bytes\": %" PRId64 "}}", p->bytes);
        }
}

static int write_trace(const struct result *r, const void *opts, const char *path)
{
    assert(r->parts && r->plan);
    struct outfile o;
    struct chart c;
    struct arena *a = arena_new(r->scene.m->mem);
    int rc = chart_make(&c, r, opts, MOST, a);
    if (!rc && !(rc = outfile_open_to(&o, path, r->out, r->scene.m->mem, r->diag))) {
        fputs("{\"displayTimeUnit\": \"ns\", \"traceEvents\": [\n", o.f);
        put_names(o.f, &c, a);
        put_bars(o.f, &c, a);
        put_counters(o.f, &c, a);
        fputs("\n]}\n", o.f);
        rc = outfile_close(&o, true);
    }
    arena_free(a);
    return rc;
}

static const struct writer_opt *const options[] = {&chart_samples, NULL};

const struct writer writer_trace = {.name = "trace",
                                    .suffix = ".trace.json",
                                    .to_stdout = true,
                                    .as_planned = true,
                                    .needs = WRITER_NEEDS_PLAN,
                                    .opts = options,
                                    .optsize = sizeof(struct chart_options),
                                    .write = write_trace};
