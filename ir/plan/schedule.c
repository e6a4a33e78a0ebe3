/* Makes the lists of a schedule (schedule.h).
 *
 * Source: the streams of Baechi-PyTorch's assigner, here written down as lists (1.3.3, Algorithm 1).  All lists keep
 * to one global order: round by round, and in a round the parts by level and number; of micro-batches, the parts by the
 * times when they end.  A SEND stands at the part that makes its tensor (of a model input: at the part that reads it),
 * an ALLOC before that position, a FREE after it.  So no instructions wait for each other in a circle. */
#include "ir/plan/schedule.h"

#include "ir/base/keyed.h"
#include "ir/plan/work.h"

#include <assert.h>
#include <stdlib.h>

/* Most instructions, over all samples in flight, that are checked while a plan is judged or a folder is written. */
enum { MOST_UNROLLED = 1 << 20 };

/* The position of an instruction relative to the i-th part of its device: before it, at it (its COMPUTE), behind it.
 * A computing lane has SLOTS slots for each part: slot SLOTS * i + BEFORE, + AT, + BEHIND. */
enum { BEFORE, AT, BEHIND, SLOTS };

/* An instruction with its position in its lane; lay_out() sorts by it. */
struct positioned {
    struct instruction what;
    uint32_t lane, slot; /* slot: see above; 0 in lanes for sending and receiving */
    uint32_t nth;        /* number of instructions that were put before */
    int64_t time;        /* ps, decides the order within a slot if there are no rounds; else 0 */
};

/* State of schedule_make(). */
struct schedule_build {
    const struct sample_work *w;
    const struct rhythm *y;
    struct arena *a;
    /* device -> the parts of the device, in the order in which it runs them */
    struct csr parts;
    uint32_t *nth;           /* [part] position of the part in its device's row of `parts` */
    uint32_t *order;         /* all parts, by phase, level and number */
    struct positioned *item; /* all instructions, in the order in which they were put */
    /* [tensor of a micro-batch] of a gradient: the slot of the last ADD that was put; ADDs of later micro-batches get
     * this slot or a later one */
    uint32_t *added;
    uint32_t n; /* number of instructions */
};

/* ---- order ------------------------------------------------------------------------------------ */

/* Whether part a comes before b in a round. */
static bool is_before(const struct rhythm *y, uint32_t a, uint32_t b)
{
    if (y->phase[a] != y->phase[b])
        return y->phase[a] < y->phase[b];
    if (y->level[a] != y->level[b])
        return y->level[a] < y->level[b];
    return a < b;
}

/* Returns the entries x of row[0 .. n) sorted by key[x], which is below `keys`; entries with equal keys keep their
 * order. */
static uint32_t *sort_by(const uint32_t *row, uint32_t n, const uint32_t *key, uint32_t keys,
                         struct arena *a)
{
    uint32_t *of = arena_array(a, (size_t)n + 1, sizeof *of);
    for (uint32_t i = 0; i < n; i++)
        of[i] = key[row[i]];
    return csr_build(a, keys, n, of, row).to;
}

/* Fills b->order with all parts, by phase, level and number; b->parts with the parts of each device in that order,
 * and b->nth with their positions there. */
static void order_parts(struct schedule_build *b)
{
    uint32_t n = b->w->npart, *phase = arena_array(b->a, (size_t)n + 1, sizeof *phase);
    uint32_t *dev = arena_array(b->a, (size_t)n + 1, sizeof *dev), levels = 1, phases = 1;
    b->order = arena_array(b->a, (size_t)n + 1, sizeof *b->order);
    b->nth = arena_array(b->a, (size_t)n + 1, sizeof *b->nth);
    for (uint32_t x = 0; x < n; x++) {
        b->order[x] = x;
        phase[x] = b->y->phase[x];
        if (b->y->level[x] >= levels)
            levels = b->y->level[x] + 1;
        if (phase[x] >= phases)
            phases = phase[x] + 1;
    }
    /* both sorts keep the order of equal parts, so the second one leaves the parts of a phase sorted by level */
    b->order = sort_by(b->order, n, b->y->level, levels, b->a);
    b->order = sort_by(b->order, n, phase, phases, b->a);
    for (uint32_t i = 0; i < n; i++)
        dev[i] = b->w->part[b->order[i]].dev;
    b->parts = csr_build(b->a, b->w->ndev, n, dev, b->order);
    for (uint32_t d = 0; d < b->w->ndev; d++)
        for (uint32_t i = b->parts.at[d]; i < b->parts.at[d + 1]; i++)
            b->nth[b->parts.to[i]] = i - b->parts.at[d];
}

/* Returns the number of parts that the device runs. */
static uint32_t count_parts(const struct schedule_build *b, uint32_t dev)
{
    return b->parts.at[dev + 1] - b->parts.at[dev];
}

/* Returns the i-th part that the device runs, i >= 0. */
static uint32_t nth_part(const struct schedule_build *b, uint32_t dev, uint32_t i)
{
    assert(i < count_parts(b, dev));
    return b->parts.to[b->parts.at[dev] + i];
}

/* Whether part a of one device ends before part b of another device: by their order in a round, or by their times. */
static bool is_done_before(const struct rhythm *y, uint32_t a, uint32_t b)
{
    if (y->repeats || y->end[a] == y->end[b])
        return is_before(y, a, b);
    return y->end[a] < y->end[b];
}

/* Returns how many parts of the device, its first ones, end before part x of another device. */
static uint32_t count_before(const struct schedule_build *b, uint32_t dev, uint32_t x)
{
    uint32_t low = 0, high = count_parts(b, dev);
    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        if (is_done_before(b->y, nth_part(b, dev, mid), x))
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

/* ---- instructions ----------------------------------------------------------------------------- */

/* Adds an instruction to the slot of the lane, after the instructions put there before. */
static void put_instruction(struct schedule_build *b, uint32_t lane, uint32_t slot,
                            struct instruction what)
{
    b->item[b->n] = (struct positioned){.what = what, .lane = lane, .slot = slot, .nth = b->n};
    b->n++;
}

/* Returns an instruction for `what` (a tensor; of COMPUTE a part) that is executed, for each sample, `later` rounds
 * after the round in which part x runs for that sample. */
static struct instruction make_instruction(const struct schedule_build *b, enum do_kind kind,
                                           uint32_t what, uint32_t x, int32_t later)
{
    return (struct instruction){.kind = (uint8_t)kind,
                                .phase = b->y->phase[x],
                                .offset = -(int32_t)b->y->level[x] - later,
                                .what = what};
}

/* Puts the ALLOC of an input of the model into the list of the device of part x, which is its first reader there:
 * with rounds one round before x; without rounds one part before x if the rhythm says `close`, else at the
 * beginning. */
static void put_alloc_input(struct schedule_build *b, uint32_t tensor, uint32_t x)
{
    uint32_t lane = lane_compute(b->w->part[x].dev);
    if (b->y->repeats)
        put_instruction(b, lane, SLOTS * b->nth[x] + BEFORE,
                        make_instruction(b, DO_ALLOC, tensor, x, /*later=*/-1));
    else
        put_instruction(b, lane, (b->y->close && b->nth[x] ? SLOTS * (b->nth[x] - 1) : 0) + BEFORE,
                        make_instruction(b, DO_ALLOC, tensor, x, /*later=*/0));
}

/* Puts the ALLOC of a tensor that part x makes on another device into the list of dev: before the first part there
 * that does not end before x.  So it stands before every reader on dev, since readers come after x. */
static void put_alloc(struct schedule_build *b, uint32_t tensor, uint32_t x, uint32_t dev)
{
    put_instruction(b, lane_compute(dev), SLOTS * count_before(b, dev, x) + BEFORE,
                    make_instruction(b, DO_ALLOC, tensor, x, /*later=*/0));
    b->item[b->n - 1].time = b->y->repeats ? 0 : b->y->end[x];
}

/* Puts the FREE of the tensor into the list of dev, behind the part `last`, its last reader. */
static void put_free(struct schedule_build *b, uint32_t tensor, uint32_t dev, uint32_t last)
{
    put_instruction(b, lane_compute(dev), SLOTS * b->nth[last] + BEHIND,
                    make_instruction(b, DO_FREE, tensor, last, /*later=*/0));
}

/* Puts the ADD of a gradient, which part x makes: behind x and behind the ADDs of earlier micro-batches, so that sums
 * are in the order of micro-batches. */
static void put_add(struct schedule_build *b, uint32_t tensor, uint32_t x)
{
    uint32_t *last = &b->added[tensor % b->w->each->ntensor];
    *last = larger_u32(SLOTS * b->nth[x] + BEHIND, *last);
    put_instruction(b, lane_compute(b->w->part[x].dev), *last,
                    make_instruction(b, DO_ADD, tensor, x, /*later=*/0));
}

/* Returns the last part of x's device that starts before the tensor, which x makes, has left the device; at least x. */
static uint32_t find_last_before(const struct schedule_build *b, uint32_t tensor, uint32_t x)
{
    uint32_t dev = b->w->part[x].dev, low = b->nth[x], high = count_parts(b, dev);
    while (low + 1 < high) {
        uint32_t mid = low + (high - low) / 2;
        if (b->y->start[nth_part(b, dev, mid)] < b->y->sent[tensor])
            low = mid;
        else
            high = mid;
    }
    return nth_part(b, dev, low);
}

/* Puts the FREE of a tensor that part x makes and its device sends into the list of that device: behind `last`, the
 * last reader there (x if there is none), and not before the tensor has left; with rounds, at least one round after
 * x. */
static void put_free_sent(struct schedule_build *b, uint32_t tensor, uint32_t x, uint32_t last)
{
    const uint32_t *level = b->y->level;
    uint32_t lane = lane_compute(b->w->part[x].dev);
    if (!b->y->repeats) {
        uint32_t late = find_last_before(b, tensor, x);
        uint32_t i = larger_u32(b->nth[late], b->nth[last]);
        put_instruction(b, lane, SLOTS * (i + 1) + BEFORE,
                        make_instruction(b, DO_FREE, tensor, last, /*later=*/0));
        b->item[b->n - 1].time = b->y->sent[tensor];
    } else if (b->y->phase[last] > b->y->phase[x] || level[last] > level[x] + 1 ||
               (level[last] == level[x] + 1 && b->nth[last] >= b->nth[x])) {
        /* `last` runs at least one round after x */
        put_free(b, tensor, b->w->part[x].dev, last);
    } else {
        put_instruction(b, lane, SLOTS * b->nth[x] + BEHIND,
                        make_instruction(b, DO_FREE, tensor, x, /*later=*/1));
    }
}

/* Writes the first and the last part of the device that read the tensor, in the order of is_before(), to *first and
 * *last.  Returns false, and writes nothing, if no part of the device reads it. */
static bool find_readers(const struct schedule_build *b, uint32_t tensor, uint32_t dev,
                         uint32_t *first, uint32_t *last)
{
    const struct csr *reader = &b->w->reader;
    bool any = false;
    for_row (x, *reader, tensor) {
        if (b->w->part[x].dev != dev)
            continue;
        if (!any || is_before(b->y, x, *first))
            *first = x;
        if (!any || is_before(b->y, *last, x))
            *last = x;
        any = true;
    }
    return any;
}

/* ---- lists ------------------------------------------------------------------------------------ */

/* The sending of a tensor from its home to device dev.  part: the part that makes the tensor; of a model input, its
 * first reader on dev. */
struct sending {
    uint32_t tensor, home, dev, part;
};

/* Puts the ALLOC, FREE and ADD instructions of all tensors.  Returns all sendings of tensors, by tensor, then device,
 * and writes their number to *n; put_tensors() brings them into the order of the lists. */
static const struct sending *put_memory(struct schedule_build *b, uint32_t *n)
{
    const struct sample_work *w = b->w;
    uint32_t most = w->place.at[w->ntensor], last = 0;
    struct sending *sending = arena_array(b->a, (size_t)most + 1, sizeof *sending);
    *n = 0;
    for (uint32_t t = 0; t < w->ntensor; t++) {
        /* home: the device that makes the tensor; ndev, the host, for an input of the model */
        uint32_t from = w->tensor[t].from, home = w->place.to[w->place.at[t]], first = from;
        bool leaves = w->place.at[t + 1] - w->place.at[t] > 1;
        for (uint32_t i = w->place.at[t] + 1; i < w->place.at[t + 1]; i++) {
            uint32_t dev = w->place.to[i];
            bool read = find_readers(b, t, dev, &first, &last);
            if (read && home == w->ndev)
                put_alloc_input(b, t, first);
            else if (read)
                put_alloc(b, t, from, dev);
            if (read)
                put_free(b, t, dev, last);
            sending[(*n)++] = (struct sending){t, home, dev, home == w->ndev ? first : from};
        }
        if (home == w->ndev)
            continue; /* the host's memory is not counted */
        /* at home: a gradient of a parameter is added to its sum; another tensor is freed behind its last reader */
        if (w->tensor[t].summed) {
            put_add(b, t, from);
            continue;
        }
        if (!find_readers(b, t, home, &first, &last))
            last = from;
        if (leaves)
            put_free_sent(b, t, from, last);
        else
            put_free(b, t, home, last);
    }
    return sending;
}

/* Returns an array: [part] its position in the one order of all parts: of micro-batches the order in which they end, by
 * which put_alloc() places memory, too; else the order of b->order. */
static uint32_t *part_positions(const struct schedule_build *b)
{
    uint32_t n = b->w->npart;
    uint32_t *position = arena_array(b->a, (size_t)n + 1, sizeof *position);
    struct keyed *k = arena_array(b->a, (size_t)n + 1, sizeof *k);
    for (uint32_t i = 0; i < n; i++)
        k[i] = (struct keyed){b->w->each ? b->y->end[b->order[i]] : 0, i};
    keyed_sort(k, n);
    for (uint32_t i = 0; i < n; i++)
        position[b->order[k[i].item]] = i;
    return position;
}

/* Puts all instructions for tensors.  SEND and RECV stand in each lane by the order of their parts, then by device,
 * then by tensor. */
static void put_tensors(struct schedule_build *b)
{
    uint32_t n, npart = b->w->npart, ndev = b->w->ndev;
    const struct sending *sending = put_memory(b, &n);
    uint32_t *row = arena_array(b->a, (size_t)n + 1, sizeof *row);
    uint32_t *dev = arena_array(b->a, (size_t)n + 1, sizeof *dev);
    uint32_t *place = arena_array(b->a, (size_t)n + 1, sizeof *place);
    const uint32_t *position = part_positions(b);
    for (uint32_t i = 0; i < n; i++) {
        row[i] = i;
        dev[i] = sending[i].dev;
        place[i] = position[sending[i].part];
    }
    /* entries are by tensor; sort_by() keeps the order of equal ones */
    row = sort_by(row, n, dev, ndev + 1, b->a);
    row = sort_by(row, n, place, npart, b->a);
    for (uint32_t i = 0; i < n; i++) {
        const struct sending *x = &sending[row[i]];
        struct instruction send = make_instruction(b, DO_SEND, x->tensor, x->part, /*later=*/0);
        struct instruction recv = send;
        recv.kind = DO_RECV;
        send.other = x->dev;
        recv.other = x->home;
        put_instruction(b, lane_send(ndev, x->home), 0, send);
        put_instruction(b, lane_recv(ndev, x->dev, x->home), 0, recv);
    }
}

/* For qsort(): by phase, then time, then the order in which the instructions were put. */
static int by_time(const void *a, const void *b)
{
    const struct positioned *x = a, *y = b;
    if (x->what.phase != y->what.phase)
        return x->what.phase < y->what.phase ? -1 : 1;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    return (x->nth > y->nth) - (x->nth < y->nth);
}

/* Fills in s->item, s->at and s->phases: the instructions by lane, slot, phase and time, else as they were put. */
static void lay_out(struct schedule_build *b, struct schedule *s)
{
    /* row: indices in b->item; key: number of the item's pair (lane, slot), counted over all lanes; the pairs of lane
     * l are base[l], base[l] + 1, ... */
    uint32_t pairs = 0, *base = arena_array(b->a, (size_t)s->nlane + 1, sizeof *base);
    uint32_t *row = arena_array(b->a, (size_t)b->n + 1, sizeof *row);
    uint32_t *key = arena_array(b->a, (size_t)b->n + 1, sizeof *key);
    for (uint32_t l = 0; l < s->nlane; l++) {
        base[l] = pairs;
        /* a computing lane has one more slot, behind all parts (put_free_sent()) */
        pairs += l < b->w->ndev ? SLOTS * count_parts(b, l) + 1 : 1;
    }
    qsort(b->item, b->n, sizeof *b->item, by_time);
    for (uint32_t i = 0; i < b->n; i++) {
        uint32_t phase = b->item[i].what.phase;
        row[i] = i;
        key[i] = base[b->item[i].lane] + b->item[i].slot;
        if (phase >= s->phases)
            s->phases = phase + 1;
        s->at[b->item[i].lane + 1]++;
    }
    row = sort_by(row, b->n, key, pairs, b->a);
    for (uint32_t l = 0; l < s->nlane; l++)
        s->at[l + 1] += s->at[l];
    for (uint32_t i = 0; i < b->n; i++)
        s->item[i] = b->item[row[i]].what;
}

struct schedule *schedule_make(const struct sample_work *w, const struct rhythm *y, struct arena *a)
{
    struct schedule *s = arena_alloc(a, sizeof *s);
    struct schedule_build b = {.w = w, .y = y, .a = arena_new(a)};
    /* COMPUTE and REDUCE for each part; SEND, RECV, ALLOC and FREE for each pair of a tensor and a device that holds
     * it */
    size_t most = 2 * (size_t)w->npart + 4 * (size_t)w->place.at[w->ntensor];
    order_parts(&b);
    if (w->each)
        b.added = arena_array(b.a, (size_t)w->each->ntensor + 1, sizeof *b.added);
    b.item = arena_array(b.a, most + 1, sizeof *b.item);
    for (uint32_t i = 0; i < w->npart; i++) {
        uint32_t x = b.order[i];
        put_instruction(&b, lane_compute(w->part[x].dev), SLOTS * b.nth[x] + AT,
                        make_instruction(&b, DO_COMPUTE, x, x, /*later=*/0));
        if (work_is_reduced(w, x))
            put_instruction(&b, lane_compute(w->part[x].dev), SLOTS * b.nth[x] + BEFORE,
                            make_instruction(&b, DO_REDUCE, x, x, /*later=*/0));
    }
    put_tensors(&b);
    assert(b.n <= most);
    s->work = w;
    s->phases = 1;
    s->nlane = lane_count(w->ndev);
    s->at = arena_array(a, (size_t)s->nlane + 2, sizeof *s->at);
    s->item = arena_array(a, (size_t)b.n + 1, sizeof *s->item);
    s->queue = arena_array(a, (size_t)s->nlane + 1, sizeof *s->queue);
    s->peak = arena_array(a, (size_t)w->ndev + 1, sizeof *s->peak);
    lay_out(&b, s);
    arena_free(b.a);
    return s;
}

/* All instructions for a sample are executed in consecutive rounds, as many as there are offsets from the smallest to
 * the largest.  That is also the largest number of samples that one round is about. */
uint32_t schedule_samples(const struct schedule *s)
{
    int64_t low = 0, high = 0;
    for (uint32_t i = 0; i < s->at[s->nlane]; i++) {
        low = smaller(s->item[i].offset, low);
        high = larger(s->item[i].offset, high);
    }
    return (uint32_t)(high - low + 1);
}

uint32_t schedule_usual_samples(const struct schedule *s)
{
    /* at least 1 sample, and no division by 0 in a schedule without instructions */
    uint32_t most = MOST_UNROLLED / (s->at[s->nlane] + 1) + 1, all = schedule_samples(s);
    return all < most ? all : most;
}
