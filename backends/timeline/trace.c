/* The chart of a plan at work as a trace for Perfetto (https://ui.perfetto.dev) or any other viewer of Chrome's Trace
 * Event Format (JSON).
 *
 * The process is the model, its threads are the lanes.  Every bar is a complete event (ph X) with its time and
 * duration in microseconds, written to the picosecond; in the viewer arrows lead from bar to bar of a flow (bind_id).
 * A bar that receives, computes and sends is an event for each.  Bars come in order of their start, then counters (ph
 * C) of the bytes on their way over the link of a lane, and, device by device, of those in memory from a moment on.
 * O(n log n) for n bars; of samples in rounds more than a million are refused. */
#include "backends/label.h"
#include "ir/base/json_out.h"
#include "ir/base/outfile.h"
#include "backends/timeline/chart.h"

#include <assert.h>
#include <inttypes.h>

enum { MOST = 1 << 20 };

static void put_text(struct json_out *o, const char *key, struct arena *a, const char *s)
{
    json_text(o, key, label_plain(a, s));
}

/* Microseconds with all digits. */
static void put_us(struct json_out *o, const char *key, int64_t ps)
{
    assert(ps >= 0);
    const int64_t us = PS_PER_S / 1000000;
    FILE *f = json_member(o, key);
    fprintf(f, "%" PRId64, ps / us);
    if (ps % us) {
        int width = 6;
        int64_t digits = ps % us;
        for (; digits % 10 == 0; width--)
            digits /= 10;
        fprintf(f, ".%0*" PRId64, width, digits);
    }
}

/* Begins an event. */
static void open_event(struct json_out *o, const char *phase, const char *name)
{
    json_open(o, NULL, '{', JSON_ROW);
    json_text(o, "ph", phase);
    json_text(o, "name", name);
}

/* The names of process and threads. */
static void put_names(struct json_out *o, const struct chart *c, struct arena *a)
{
    open_event(o, "M", "process_name");
    json_int(o, "pid", 1);
    json_open(o, "args", '{', JSON_ROW);
    put_text(o, "name", a, c->model);
    json_close(o, JSON_ROW);
    json_close(o, JSON_ROW);
    for (uint32_t i = 0; i < 2 * c->nlane; i++) {
        const struct chart_lane *l = &c->lane[i / 2];
        open_event(o, "M", i % 2 ? "thread_sort_index" : "thread_name");
        json_int(o, "pid", 1);
        json_int(o, "tid", i / 2 + 1);
        json_open(o, "args", '{', JSON_ROW);
        if (i % 2)
            json_int(o, "sort_index", i / 2);
        else
            put_text(o, "name", a, arena_fmt(a, "%s (%s)", l->name, l->class));
        json_close(o, JSON_ROW);
        json_close(o, JSON_ROW);
    }
}

/* A stretch of a bar: what it receives, computes, sends. */
struct stretch {
    const char *what; /* NULL: all of it */
    int64_t at, end;
};

/* The stretches of a bar, at least one, at most three. */
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

static void put_stretch(struct json_out *o, const struct chart_bar *b, const struct chart_detail *d,
                        const struct stretch *s, struct arena *a)
{
    open_event(o, "X", label_plain(a, s->what ? arena_fmt(a, "%s %s", d->name, s->what) : d->name));
    json_text(o, "cat", d->category);
    json_int(o, "pid", 1);
    json_int(o, "tid", b->lane + 1);
    put_us(o, "ts", s->at);
    put_us(o, "dur", s->end - s->at);
    json_open(o, "args", '{', JSON_ROW);
    for (uint32_t i = 0; i < d->nfact; i++) {
        const struct chart_fact *x = &d->fact[i];
        if (x->text)
            put_text(o, x->key, a, x->text);
        else
            json_int(o, x->key, x->number);
    }
    json_close(o, JSON_ROW);
}

/* All bars with their arrows. */
static void put_bars(struct json_out *o, const struct chart *c, struct arena *a)
{
    uint32_t *all = arena_array(a, (size_t)c->nflow + 1, sizeof *all);
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
            put_stretch(o, &c->bar[i], &d, &s[k], a);
            if (flow)
                json_text(o, "bind_id", arena_fmt(a, "%u", flow));
            if (flow && (had[flow] > 1 || k > 0))
                fputs("true", json_member(o, "flow_in"));
            if (flow && (had[flow] < all[flow] || k + 1 < n))
                fputs("true", json_member(o, "flow_out"));
            json_close(o, JSON_ROW);
        }
        arena_release(a, mark);
    }
}

/* From a moment on so many bytes. */
static void put_count(struct json_out *o, const char *name, int64_t at, int64_t bytes)
{
    open_event(o, "C", name);
    json_int(o, "pid", 1);
    put_us(o, "ts", at);
    json_open(o, "args", '{', JSON_ROW);
    json_int(o, "bytes", bytes);
    json_close(o, JSON_ROW);
    json_close(o, JSON_ROW);
}

/* So many bytes, then none. */
static void put_traffic(struct json_out *o, const char *name, int64_t at, int64_t end,
                        int64_t bytes)
{
    put_count(o, name, at, bytes);
    put_count(o, name, end, 0);
}

/* What is on its way over the link of each lane. */
static void put_links(struct json_out *o, const struct chart *c, struct arena *a)
{
    for (size_t i = 0; i < c->nbar; i++) {
        const struct chart_bar *b = &c->bar[i];
        struct arena_mark mark = arena_mark(a);
        struct chart_detail d = c->describe(c, b->item, a);
        const char *lane = label_plain(a, c->lane[b->lane].name);
        if (d.in && d.in_bytes)
            put_traffic(o, arena_fmt(a, "%s receives", lane), b->at, b->at + d.in, d.in_bytes);
        if (d.out && d.out_bytes)
            put_traffic(o, arena_fmt(a, "%s sends", lane), b->end - d.out, b->end, d.out_bytes);
        arena_release(a, mark);
    }
}

/* The bytes that devices hold from moment to moment. */
static void put_counters(struct json_out *o, const struct chart *c, struct arena *a)
{
    for (uint32_t k = 0; k < c->ncurve; k++)
        for (uint32_t i = 0; i < c->curve[k].of.n; i++) {
            const struct curve_point *p = &c->curve[k].of.point[i];
            put_count(o, label_plain(a, c->curve[k].name), p->at, p->bytes);
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
        struct json_out j = {.f = o.f};
        json_open(&j, NULL, '{', JSON_ROW);
        json_text(&j, "displayTimeUnit", "ns");
        json_open(&j, "traceEvents", '[', 0);
        put_names(&j, &c, a);
        put_bars(&j, &c, a);
        put_links(&j, &c, a);
        put_counters(&j, &c, a);
        json_close(&j, 0);
        json_close(&j, JSON_ROW);
        putc('\n', o.f);
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
