/* The replay of a plan as a trace for Perfetto (https://ui.perfetto.dev) or any other viewer of
 * Chrome's Trace Event Format (JSON).
 *
 * The process is the model, its threads are the lanes.  Every task at work for a sample is a complete
 * event (ph X) with its time and duration in microseconds, written to the picosecond; in the viewer an
 * arrow leads from each task of a sample to its next one (bind_id).  Events come in order of their
 * start.  O(n log n) for n = tasks * samples; more than a million are refused. */
#include "backends/label.h"
#include "ir/base/json_out.h"
#include "ir/base/outfile.h"
#include "backends/timeline/replay_result.h"
#include "ir/base/strings.h"

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
static void put_names(FILE *f, const struct result *r, const struct replay *y, struct arena *a)
{
    fputs("{\"ph\": \"M\", \"name\": \"process_name\", \"pid\": 1, \"args\": {\"name\": ", f);
    put_text(f, a, path_base(str(r->scene.m, r->scene.m->path)));
    fputs("}}", f);
    for (uint32_t l = 0; l < y->nlane; l++) {
        const struct device_class *k =
            &r->scene.cluster->cls[cluster_class(r->scene.cluster, y->lane[l].dev)];
        const char *name = replay_lane_name(y, &r->scene, l, a);
        fprintf(f, ",\n{\"ph\": \"M\", \"name\": \"thread_name\", \"pid\": 1, \"tid\": %u, ",
                l + 1);
        fputs("\"args\": {\"name\": ", f);
        put_text(f, a, arena_fmt(a, "%s (%s)", name, k->name));
        fprintf(f,
                "}},\n{\"ph\": \"M\", \"name\": \"thread_sort_index\", \"pid\": 1, \"tid\": %u, "
                "\"args\": {\"sort_index\": %u}}",
                l + 1, l);
    }
}

/* left: how many events of the sample come after this one. */
static void put_event(FILE *f, const struct replay *y, const struct event *e, uint32_t left)
{
    assert(left < y->ntask);
    static const char *const kind[] = {"", " in", "", " out"};
    const struct round_task *t = &y->task[e->task];
    const char *pass = t->back ? "backward" : y->training ? "forward" : "sample";
    fprintf(f, ",\n{\"ph\": \"X\", \"name\": \"%s %u%s\", \"cat\": \"%s\", \"pid\": 1, ", pass,
            e->sample + 1, kind[t->kind], pass);
    fprintf(f, "\"tid\": %u, \"ts\": ", t->lane + 1);
    put_us(f, e->at);
    fputs(", \"dur\": ", f);
    put_us(f, t->time);
    fprintf(f, ", \"args\": {\"sample\": %u, \"part\": %u}", e->sample + 1, t->part);
    if (y->ntask > 1)
        fprintf(f, ", \"bind_id\": \"%u\"%s%s", e->sample + 1,
                left + 1 < y->ntask ? ", \"flow_in\": true" : "",
                left ? ", \"flow_out\": true" : "");
    putc('}', f);
}

static int write_trace(const struct result *r, const void *opts, const char *path)
{
    const struct replay_options *want = opts;
    assert(r->parts && r->plan);
    struct outfile o;
    struct replay y;
    struct arena *a = arena_new(r->scene.m->mem);
    int rc = replay_result(&y, r, want->samples, MOST, a);
    if (!rc && !(rc = outfile_open_to(&o, path, r->out, r->scene.m->mem, r->diag))) {
        const struct event *e = replay_events(&y, a);
        uint32_t *left = arena_array(a, (size_t)y.samples + 1, sizeof *left);
        for (uint32_t s = 0; s < y.samples; s++)
            left[s] = y.ntask;
        fputs("{\"displayTimeUnit\": \"ns\", \"traceEvents\": [\n", o.f);
        put_names(o.f, r, &y, a);
        for (size_t i = 0; i < (size_t)y.ntask * y.samples; i++)
            put_event(o.f, &y, &e[i], --left[e[i].sample]);
        fputs("\n]}\n", o.f);
        rc = outfile_close(&o, true);
    }
    arena_free(a);
    return rc;
}

const struct writer writer_trace = {.name = "trace",
                                    .suffix = ".trace.json",
                                    .to_stdout = true,
                                    .as_planned = true,
                                    .needs = WRITER_NEEDS_PLAN,
                                    .opts = replay_options,
                                    .optsize = sizeof(struct replay_options),
                                    .write = write_trace};
