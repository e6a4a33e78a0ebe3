/* Writes schedule.json (schedule_json.h).
 *
 *     {"pcc_schedule": 1, "in_flight", "phases", "devices": [{"name", "peak_bytes",
 *       "compute": [{"alloc": tensor, "sample": offset} or "compute": part or "free": tensor],
 *       "send": [{"tensor", "to", "sample"}],
 *       "recv": [{"from", "queue", "tensors": [{"tensor", "sample"}]}]}, ...],
 *     "host": {"send", "recv"}}
 *
 * "sample" is the offset of an instruction (struct instruction); "phase" follows it if the phase is not 0.  In the
 * schedule of a training iteration, "pcc_schedule" is 2, "micro_batches" replaces "in_flight" and "phases", and each
 * instruction is executed once, for the micro-batch "sample".  There "rows": [first, number] follows in "send" and
 * "recv" where samples of a slice move, not all of the micro-batch.  Where parts run once, behind all micro-batches,
 * "pcc_schedule" is 3, and "compute" also has {"add": tensor, "sample"} and {"reduce": part,
 * "sample"}.  O(instructions + D^2). */
#include "ir/plan/schedule_json.h"

#include "ir/base/json_out.h"
#include "ir/base/numbers.h"

/* ---- writing ---------------------------------------------------------------------------------- */

/* The key in JSON for what an instruction is about, a part or a tensor. */
static const char *const key_of[] = {
    [DO_COMPUTE] = "compute", [DO_ALLOC] = "alloc", [DO_FREE] = "free",  [DO_REDUCE] = "reduce",
    [DO_ADD] = "add",         [DO_SEND] = "tensor", [DO_RECV] = "tensor"};

/* Returns which part or tensor an instruction of the iteration w is about, as its number in w->each, the work of one
 * micro-batch in slices; writes the number of the micro-batch to *batch. */
static uint32_t number_in(const struct sample_work *w, const struct instruction *i, uint32_t *batch)
{
    bool part = is_about_part(i);
    uint32_t what = part ? w->instance[i->what] : i->what;
    uint32_t n = part ? w->each->npart : w->each->ntensor;
    *batch = what / n;
    return what % n;
}

/* Returns which of n parts copy x belongs to, or which of n tensors slice x belongs to. first: [part or tensor] its
 * first copy or slice, ascending; first[n]: how many there are in all. */
static uint32_t owner_of(const uint32_t *first, uint32_t n, uint32_t x)
{
    return count_below(first + 1, n, x + 1);
}

/* Writes the members of the object for instruction i[0] of the iteration w; i[0 .. left) are the instructions left
 * in its lane.  Names are those of the work before it was cut into slices.  Returns how many instructions the object
 * stands for: it can be several ALLOC, FREE or ADD, since these are written once for all slices that a device has
 * of a tensor. */
static uint32_t put_iteration(struct json_out *o, const struct sample_work *w,
                              const struct instruction *i, uint32_t left)
{
    const struct sample_work *slices = w->each, *whole = slices->whole;
    uint32_t batch, other, x = number_in(w, i, &batch), n = 1;
    if (is_about_part(i)) {
        uint32_t part = owner_of(slices->first_copy, whole->npart, x);
        json_text(o, key_of[i->kind], whole->part[part].name);
        json_int(o, "sample", batch);
        return n;
    }
    uint32_t t = owner_of(slices->first_slice, whole->ntensor, x);
    const struct work_tensor *of = &slices->tensor[x];
    json_text(o, key_of[i->kind], whole->tensor[t].name);
    if (i->kind == DO_SEND)
        json_text(o, "to", w->dev_name[i->other]);
    json_int(o, "sample", batch);
    bool moves = i->kind == DO_SEND || i->kind == DO_RECV;
    if (moves && of->has_rows && of->rows < slices->share.samples) {
        json_open(o, "rows", '[', JSON_ROW);
        json_int(o, NULL, of->first_row);
        json_int(o, NULL, of->rows);
        json_close(o, JSON_ROW);
    }
    /* counts the instructions of the same kind and sample that follow for the next slices of the tensor */
    while (!moves && n < left && i[n].kind == i->kind) {
        uint32_t next = number_in(w, &i[n], &other);
        if (next >= slices->first_slice[t + 1] || next != x + n || other != batch)
            break;
        n++;
    }
    return n;
}

/* Writes instruction i[0] of work w as an object; i[0 .. left) are the instructions left in its lane.  Returns how
 * many instructions the object stands for. */
static uint32_t put_instruction(struct json_out *o, const struct sample_work *w,
                                const struct instruction *i, uint32_t left)
{
    uint32_t n = 1;
    json_open(o, NULL, '{', JSON_ROW);
    if (w->each) {
        n = put_iteration(o, w, i, left);
    } else {
        bool part = i->kind == DO_COMPUTE;
        json_text(o, key_of[i->kind], part ? w->part[i->what].name : w->tensor[i->what].name);
        if (i->kind == DO_SEND)
            json_text(o, "to", w->dev_name[i->other]);
        json_int(o, "sample", i->offset);
    }
    if (i->phase)
        json_int(o, "phase", i->phase);
    json_close(o, JSON_ROW);
    return n;
}

/* Writes the list of a lane as member `key`. */
static void put_lane(struct json_out *o, const char *key, const struct sample_work *w,
                     const struct schedule *s, uint32_t lane, int indent)
{
    json_open(o, key, '[', indent);
    for (uint32_t i = s->at[lane]; i < s->at[lane + 1];)
        i += put_instruction(o, w, &s->item[i], s->at[lane + 1] - i);
    json_close(o, JSON_ROW);
}

/* Writes the members "send" and "recv" of a device, or of the host (dev == w->ndev). */
static void put_moves(struct json_out *o, const struct sample_work *w, const struct schedule *s,
                      uint32_t dev)
{
    put_lane(o, "send", w, s, lane_send(w->ndev, dev), /*indent=*/7);
    json_open(o, "recv", '[', /*indent=*/7);
    for (uint32_t from = 0; from <= w->ndev; from++) {
        uint32_t lane = lane_recv(w->ndev, dev, from);
        if (s->at[lane] == s->at[lane + 1])
            continue;
        json_open(o, NULL, '{', JSON_ROW);
        json_text(o, "from", w->dev_name[from]);
        if (dev < w->ndev)
            json_int(o, "queue", s->queue[lane]);
        put_lane(o, "tensors", w, s, lane, /*indent=*/9);
        json_close(o, JSON_ROW);
    }
    json_close(o, JSON_ROW);
}

/* Returns the number of the file's form, "pcc_schedule": 1 without micro-batches, 2 for an iteration, 3 for an
 * iteration with parts that run once. */
static int form_of(const struct sample_work *w)
{
    bool once = false;
    for (uint32_t x = 0; w->each && x < w->each->npart; x++)
        once = once || w->each->part[x].once;
    return once ? 3 : w->each ? 2 : 1;
}

void schedule_put(FILE *f, const struct sample_work *w, const struct schedule *s)
{
    struct json_out o = {.f = f};
    json_open(&o, NULL, '{', /*indent=*/2);
    json_int(&o, "pcc_schedule", form_of(w));
    if (w->each) {
        json_int(&o, "micro_batches", w->micro_batches);
    } else {
        json_int(&o, "in_flight", s->in_flight);
        json_int(&o, "phases", s->phases);
    }
    json_open(&o, "devices", '[', /*indent=*/4);
    for (uint32_t d = 0; d < w->ndev; d++) {
        json_open(&o, NULL, '{', JSON_ROW);
        json_text(&o, "name", w->dev_name[d]);
        json_int(&o, "peak_bytes", s->peak[d]);
        json_indent(&o, 5);
        put_lane(&o, "compute", w, s, lane_compute(d), /*indent=*/7);
        put_moves(&o, w, s, d);
        json_close(&o, JSON_ROW);
    }
    json_close(&o, 2);
    json_open(&o, "host", '{', /*indent=*/5);
    put_moves(&o, w, s, w->ndev);
    json_close(&o, JSON_ROW);
    json_close(&o, 0);
    putc('\n', f);
}
