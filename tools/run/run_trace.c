/* The trace of a run (runner.h), for Perfetto or any other viewer of Chrome's Trace Event Format, as pcc's own traces:
 * for each device a lane as it was planned and a lane as it was, and of each part its time and its nodes.  O(bars). */
#include "tools/run/ranks.h"
#include "tools/run/runner.h"

#include "ir/base/json_out.h"
#include "ir/base/numbers.h"
#include "ir/base/outfile.h"

#include <inttypes.h>

enum {
    BARS_MOST = 1 << 16, /* number of planned bars, at most */
    MEDIAN = 500,        /* thousandths of the times, for times_rank() */
    DIGITS_US = 3        /* digits after the point of a time in us, which is given in ns */
};

/* Returns the number of a device's lane: odd for planned bars, even for measured ones (`real`). */
static uint32_t lane_of(uint32_t dev, bool real)
{
    return 2 * dev + 1 + real;
}

/* Writes the names of the lanes, "acc0 planned" and "acc0 measured" for each device that has parts, and their order. */
static void put_lanes(FILE *f, struct runner *r)
{
    fputs("{\"ph\": \"M\", \"name\": \"process_name\", \"pid\": 1, \"args\": {\"name\": ", f);
    json_put_string(f, r->set.folder);
    fputs("}}", f);
    for (uint32_t k = 0; k < 2 * r->ndev; k++) {
        const char *name =
            arena_fmt(r->a, "%s %s", r->dev[k / 2].name, k % 2 ? "measured" : "planned");
        if (!r->dev[k / 2].loaded)
            continue;
        fprintf(f,
                ",\n{\"ph\": \"M\", \"name\": \"thread_name\", \"pid\": 1, \"tid\": %u, \"args\": "
                "{\"name\": ",
                lane_of(k / 2, k % 2));
        json_put_string(f, name);
        fprintf(f,
                "}},\n{\"ph\": \"M\", \"name\": \"thread_sort_index\", \"pid\": 1, \"tid\": %u, "
                "\"args\": {\"sort_index\": %u}}",
                lane_of(k / 2, k % 2), k);
    }
}

/* Writes bars, measured (`real`) or planned ones.  from: ns; the trace's times count from there. */
static void put_bars(FILE *f, struct runner *r, const struct bars *b, int64_t from, bool real)
{
    for (uint32_t i = 0; i < b->n; i++) {
        const struct bar *x = &b->at[i];
        fputs(",\n{\"ph\": \"X\", \"name\": ", f);
        json_put_string(f, r->s.part[x->part].file);
        fprintf(f, ", \"cat\": \"%s\", \"pid\": 1, \"tid\": %u, \"ts\": ",
                real ? "measured" : "planned", lane_of(x->dev, real));
        json_put_decimal(f, larger(0, x->start - from), DIGITS_US);
        fputs(", \"dur\": ", f);
        json_put_decimal(f, x->end - x->start, DIGITS_US);
        fprintf(f, ", \"args\": {\"sample\": %" PRId64 "}}", x->sample);
    }
}

void run_trace_part(struct json_out *o, const struct split_part *p, int64_t ps)
{
    json_open(o, NULL, '{', JSON_ROW);
    json_text(o, "file", p->file);
    json_text(o, "device", p->device);
    json_int(o, "time", ps);
    json_open(o, "nodes", '[', JSON_ROW);
    for (uint32_t i = 0; i < p->nnode; i++)
        json_text(o, NULL, p->node[i]);
    json_close(o, JSON_ROW);
    json_close(o, JSON_ROW);
}

/* Writes of each part its device, the median of its times, ps, and its nodes: --costs of pcc reads that. */
static void put_parts(FILE *f, struct runner *r)
{
    struct json_out o = {.f = f};
    json_open(&o, NULL, '[', 2);
    for (uint32_t k = 0; k < r->s.npart; k++) {
        int64_t ns = times_rank(&r->figures.part[k], MEDIAN, r->a);
        if (ns >= 0) /* below 0: the run ended before the part had a time */
            run_trace_part(&o, &r->s.part[k], 1000 * ns);
    }
    json_close(&o, 0);
}

/* Writes of each device the most bytes that it held, by the plan's rules. */
static void put_devices(FILE *f, struct runner *r)
{
    struct json_out o = {.f = f};
    json_open(&o, NULL, '[', JSON_ROW);
    for (uint32_t d = 0; d < r->ndev; d++) {
        json_open(&o, NULL, '{', JSON_ROW);
        json_text(&o, "name", r->dev[d].name);
        if (r->w)
            json_int(&o, "most_bytes", r->dev[d].most);
        json_close(&o, JSON_ROW);
    }
    json_close(&o, JSON_ROW);
}

/* Writes of each rank its device, how far its clock is ahead of the clock of rank 0, ns, and by how much that may be
 * wrong.  The times of all bars are those of rank 0's clock. */
static void put_clocks(FILE *f, struct runner *r)
{
    struct json_out o = {.f = f};
    fputs(", \"ranks\": ", f);
    json_open(&o, NULL, '[', JSON_ROW);
    for (int k = 0; k < r->ranks->m.ranks; k++) {
        json_open(&o, NULL, '{', JSON_ROW);
        json_text(&o, "device", ranks_name(r, k));
        json_int(&o, "clock_ahead", r->ranks->offset[k]);
        json_int(&o, "clock_unsure", r->ranks->unsure[k]);
        json_close(&o, JSON_ROW);
    }
    json_close(&o, JSON_ROW);
}

int run_trace(struct runner *r)
{
    struct outfile o;
    struct bars planned = bars_new(BARS_MOST, r->a);
    if (outfile_open(&o, r->set.trace, r->a, r->d))
        return -1;
    run_planned(r, &planned);
    fputs("{\"displayTimeUnit\": \"ns\", \"traceEvents\": [\n", o.f);
    put_lanes(o.f, r);
    put_bars(o.f, r, &planned, 0, /*real=*/false);
    put_bars(o.f, r, &r->figures.bars, r->figures.began, /*real=*/true);
    fputs("\n],\n\"otherData\": {\"pcc_run\": 1, \"parts\": ", o.f);
    put_parts(o.f, r);
    if (r->ranks)
        put_clocks(o.f, r);
    fputs(", \"devices\": ", o.f);
    put_devices(o.f, r);
    fputs("}}\n", o.f);
    if (r->figures.bars.n == r->figures.bars.cap)
        diag_note(r->d, "%s: it has the first %u runs of parts", r->set.trace, r->figures.bars.n);
    return outfile_close(&o, /*ok=*/true);
}
