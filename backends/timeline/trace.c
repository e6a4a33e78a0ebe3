/* Writes a chart (chart.h) as a trace for Perfetto (https://ui.perfetto.dev) or any other viewer of Chrome's Trace
 * Event Format (JSON).
 *
 * The viewer shows the model as a process and the lanes as its threads.  Every bar is a complete event (ph X) with its
 * start and duration in microseconds, exact to the picosecond; a bar that receives, computes and sends becomes three
 * events.  In the viewer, arrows connect the bars of a flow (bind_id).  The bars come first, in order of their start;
 * then counters (ph C): the bytes that the link of each lane is moving, and the bytes in the memory of each device.
 * O(n log n) for n bars. */
#include "backends/label.h"
#include "ir/base/json_out.h"
#include "ir/base/outfile.h"
#include "backends/timeline/chart.h"

#include <assert.h>
#include <inttypes.h>

enum { MOST = 1 << 20 }; /* bars of a chart; a replay with more is refused */

/* Writes a text as a JSON string, without characters that cannot be shown. */
static void put_text(FILE *f, struct arena *a, const char *s)
{
    json_put_string(f, label_plain(a, s));
}

/* Writes a time of `ps` picoseconds in microseconds, with all digits. */
static void put_us(FILE *f, int64_t ps)
{
    assert(ps >= 0);
    const int64_t us = PS_PER_S / 1000000;
    fprintf(f, "%" PRId64, ps / us);
    if (ps % us) {
        int width = 6; /* digits behind the point, without zeros at the end */
        int64_t digits = ps % us;
        for (; digits % 10 == 0; width--)
            digits /= 10;
        fprintf(f, ".%0*" PRId64, width, digits);
    }
}

/* Writes the names of the process and of its threads, and the order of the threads. */
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

/* Writes the facts of an item as members of a JSON object. */
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

/* A stretch of a bar in which it only receives, computes or sends. */
struct stretch {
    const char *what; /* "receive", "compute" or "send"; NULL: a whole bar without transfers */
    int64_t at, end;  /* ps */
};

/* Writes the stretches of a bar to s, which has room for three; returns their number, at least 1. */
static int split_bar(const struct chart_bar *b, const struct chart_detail *d, struct stretch *s)
{
    const int64_t cut[] = {b->at, b->at + d->in, b->end - d->out, b->end};
    static const char *const what[] = {"receive", "compute", "send"};
    int n = 0;
    for (int i = 0; i < 3 && (d->in || d->out); i++)
        if (cut[i + 1] > cut[i])
            s[n++] = (struct stretch){what[i], cut[i], cut[i + 1]};
    if (!n)
        s[n++] = (struct stretch){NULL, b->at, b->end};
    return n;
}

/* Writes a stretch of bar b as an event, without its closing brace. */
static void put_stretch(FILE *f, const struct chart_bar *b, const struct chart_detail *d,
                        const struct stretch *s, struct arena *a)
{
    fputs(",\n{\"ph\": \"X\", \"name\": ", f);
    put_text(f, a, s->what ? arena_fmt(a, "%s %s", d->name, s->what) : d->name);
    fprintf(f, ", \"cat\": \"%s\", \"pid\": 1, \"tid\": %u, \"ts\": ", d->category, b->lane + 1);
    put_us(f, s->at);
    fputs(", \"dur\": ", f);
    put_us(f, s->end - s->at);
    fputs(", \"args\": {", f);
    put_facts(f, d, a);
    putc('}', f);
}

/* Writes the events of all bars.  An event of a flow says whether an arrow ends at the event (flow_in: it is not
 * the flow's first one) and whether an arrow begins at the event (flow_out: it is not the flow's last one). */
static void put_bars(FILE *f, const struct chart *c, struct arena *a)
{
    /* [flow] number of bars of the flow */
    uint32_t *all = arena_array(a, (size_t)c->nflow + 1, sizeof *all);
    /* [flow] number of its bars written so far */
    uint32_t *had = arena_array(a, (size_t)c->nflow + 1, sizeof *had);
    for (size_t i = 0; i < c->nbar; i++)
        all[c->bar[i].flow]++;
    for (size_t i = 0; i < c->nbar; i++) {
        uint32_t flow = c->bar[i].flow;
        assert(flow <= c->nflow);
        struct arena_mark mark = arena_mark(a);
        struct chart_detail d = c->describe(c, c->bar[i].item, a);
        struct stretch s[3];
        int n = split_bar(&c->bar[i], &d, s);
        had[flow]++;
        for (int k = 0; k < n; k++) {
            put_stretch(f, &c->bar[i], &d, &s[k], a);
            if (flow)
                fprintf(f, ", \"bind_id\": \"%u\"%s%s", flow,
                        had[flow] > 1 || k > 0 ? ", \"flow_in\": true" : "",
                        had[flow] < all[flow] || k + 1 < n ? ", \"flow_out\": true" : "");
            putc('}', f);
        }
        arena_release(a, mark);
    }
}

/* Writes two values of the counter `name`: `bytes` at the time `at` (ps), when the transfer begins, 0 at the time `end`
 * (ps). */
static void put_traffic(FILE *f, const char *name, int64_t at, int64_t end, int64_t bytes)
{
    const int64_t time[] = {at, end}, value[] = {bytes, 0};
    for (int i = 0; i < 2; i++) {
        fputs(",\n{\"ph\": \"C\", \"name\": ", f);
        json_put_string(f, name);
        fputs(", \"pid\": 1, \"ts\": ", f);
        put_us(f, time[i]);
        fprintf(f, ", \"args\": {\"bytes\": %" PRId64 "}}", value[i]);
    }
}

/* Writes counters of the bytes that the link of each lane is receiving and sending. */
static void put_links(FILE *f, const struct chart *c, struct arena *a)
{
    for (size_t i = 0; i < c->nbar; i++) {
        const struct chart_bar *b = &c->bar[i];
        struct arena_mark mark = arena_mark(a);
        struct chart_detail d = c->describe(c, b->item, a);
        const char *lane = label_plain(a, c->lane[b->lane].name);
        if (d.in && d.in_bytes)
            put_traffic(f, arena_fmt(a, "%s receives", lane), b->at, b->at + d.in, d.in_bytes);
        if (d.out && d.out_bytes)
            put_traffic(f, arena_fmt(a, "%s sends", lane), b->end - d.out, b->end, d.out_bytes);
        arena_release(a, mark);
    }
}

/* Writes counters of the bytes in the memory of each device. */
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

/* For writer.write: writes the chart of the plan in the trace format of Chrome and Perfetto.  Returns 0, or -1 and an
 * error. */
static int write_trace(const struct result *r, const void *opts, const char *path)
{
    assert(r->parts && r->plan);
    struct outfile o;
    struct chart c;
    struct arena *a = arena_new(r->scene.m->mem);
    int rc = chart_make(&c, r, opts, MOST, a);
    if (!rc)
        rc = outfile_open_to(&o, path, r->out, r->scene.m->mem, r->diag);
    if (!rc) {
        fputs("{\"displayTimeUnit\": \"ns\", \"traceEvents\": [\n", o.f);
        put_names(o.f, &c, a);
        put_bars(o.f, &c, a);
        put_links(o.f, &c, a);
        put_counters(o.f, &c, a);
        fputs("\n]}\n", o.f);
        rc = outfile_close(&o, /*ok=*/true);
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
