/* schedule.json (schedule_json.h).
 *
 *     {"pcc_schedule": 1, "in_flight", "phases", "devices": [{"name", "peak_bytes",
 *       "compute": [{"alloc": tensor, "sample": offset} or "compute": part or "free": tensor],
 *       "send": [{"tensor", "to", "sample"}],
 *       "recv": [{"from", "queue", "tensors": [{"tensor", "sample"}]}]}, ...],
 *     "host": {"send", "recv"}}
 *
 * "phase" stands beside "sample" where it is not 0.  Of an iteration of training "pcc_schedule" is 2, "micro_batches"
 * stands for "in_flight" and "phases", and each instruction is done once, for the micro-batch "sample".
 * O(instructions + D^2). */
#include "ir/plan/schedule_json.h"

#include "ir/base/json_out.h"

#include <inttypes.h>

/* ---- writing ---------------------------------------------------------------------------------- */

static const char *const key_of[] = {[DO_COMPUTE] = "compute",
                                     [DO_ALLOC] = "alloc",
                                     [DO_FREE] = "free",
                                     [DO_SEND] = "tensor",
                                     [DO_RECV] = "tensor"};

static void put_instruction(FILE *f, const struct work *w, const struct instruction *i)
{
    const struct work *each = w->each ? w->each : w;
    bool part = i->kind == DO_COMPUTE;
    uint32_t what = part && w->each ? w->instance[i->what] : i->what,
             n = part ? each->npart : each->ntensor;
    fprintf(f, "{\"%s\": ", key_of[i->kind]);
    json_put_string(f, part ? each->part[what % n].name : each->tensor[what % n].name);
    if (i->kind == DO_SEND) {
        fputs(", \"to\": ", f);
        json_put_string(f, w->dev_name[i->other]);
    }
    fprintf(f, ", \"sample\": %" PRId32, w->each ? (int32_t)(what / n) : i->offset);
    if (i->phase)
        fprintf(f, ", \"phase\": %u", i->phase);
    putc('}', f);
}

/* The list of a lane, its lines indented by so many blanks. */
static void put_lane(FILE *f, const struct work *w, const struct schedule *s, uint32_t lane,
                     int indent)
{
    putc('[', f);
    for (uint32_t i = s->at[lane]; i < s->at[lane + 1]; i++) {
        fprintf(f, "%s\n%*s", i > s->at[lane] ? "," : "", indent, "");
        put_instruction(f, w, &s->item[i]);
    }
    putc(']', f);
}

/* "send": ..., "recv": ... of a device or the host. */
static void put_moves(FILE *f, const struct work *w, const struct schedule *s, uint32_t dev)
{
    const char *sep = "";
    fputs("\"send\": ", f);
    put_lane(f, w, s, lane_send(w->ndev, dev), 7);
    fputs(",\n     \"recv\": [", f);
    for (uint32_t from = 0; from <= w->ndev; from++) {
        uint32_t lane = lane_recv(w->ndev, dev, from);
        if (s->at[lane] == s->at[lane + 1])
            continue;
        fprintf(f, "%s\n       {\"from\": ", sep);
        json_put_string(f, w->dev_name[from]);
        if (dev < w->ndev)
            fprintf(f, ", \"queue\": %u", s->queue[lane]);
        fputs(", \"tensors\": ", f);
        put_lane(f, w, s, lane, 9);
        putc('}', f);
        sep = ",";
    }
    putc(']', f);
}

void schedule_put(FILE *f, const struct work *w, const struct schedule *s)
{
    if (w->each)
        fprintf(f, "{\n  \"pcc_schedule\": 2,\n  \"micro_batches\": %u,\n", w->micro_batches);
    else
        fprintf(f, "{\n  \"pcc_schedule\": 1,\n  \"in_flight\": %u,\n  \"phases\": %u,\n",
                s->in_flight, s->phases);
    fputs("  \"devices\": [", f);
    for (uint32_t d = 0; d < w->ndev; d++) {
        fprintf(f, "%s\n    {\"name\": ", d ? "," : "");
        json_put_string(f, w->dev_name[d]);
        fprintf(f, ", \"peak_bytes\": %" PRId64 ",\n     \"compute\": ", s->peak[d]);
        put_lane(f, w, s, lane_compute(d), 7);
        fputs(",\n     ", f);
        put_moves(f, w, s, d);
        putc('}', f);
    }
    fputs("\n  ],\n  \"host\": {\n     ", f);
    put_moves(f, w, s, w->ndev);
    fputs("}\n}\n", f);
}
