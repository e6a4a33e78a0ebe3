/* Lists from parts and rounds (schedule.h).
 *
 * Source: Baechi-PyTorch's assigner, its streams made lists (1.3.3, Algorithm 1).  All follow one order, in which
 * the parts of a round stand by level and number and a round stands behind the one before it: a SEND is where its
 * tensor is made (of an input: where it is read), an ALLOC before the place of its SEND, a FREE behind it.  So nothing
 * waits in a circle. */
#include "ir/plan/schedule.h"

#include "ir/plan/work.h"

#include <assert.h>
#include <stdlib.h>

/* Where an instruction goes: before the i-th part of its device, its COMPUTE, behind it. */
enum { BEFORE, AT, BEHIND, SLOTS };

struct timed_instruction {
    struct instruction what;
    uint32_t lane, slot; /* SLOTS * i + BEFORE, ...; 0 where no part stands in the lane */
    uint32_t nth;        /* put() */
    int64_t at;          /* ps; without rounds: the order within a slot */
};

struct schedule_build {
    const struct sample_work *w;
    const struct rhythm *y;
    struct arena *a;
    struct csr parts;             /* device -> its parts, in order */
    uint32_t *nth;                /* [part] place of the part in its device's row */
    uint32_t *order;              /* parts by phase, level and number */
    struct timed_instruction *at; /* all instructions */
    uint32_t n;
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

/* Sorts rows (keys below `keys`) by key, equal ones as they stand. */
static uint32_t *sort_by(const uint32_t *row, uint32_t n, const uint32_t *key, uint32_t keys,
                         struct arena *a)
{
    uint32_t *of = arena_array(a, (size_t)n + 1, sizeof *of);
    for (uint32_t i = 0; i < n; i++)
        of[i] = key[row[i]];
    return csr_build(a, keys, n, of, row).to;
}

static void order_parts(struct schedule_build *b)
{
    uint32_t n = b->w->npart, *phase = arena_array(b->a, (size_t)n + 1, sizeof *phase);
    uint32_t *dev = arena_array(b->a, (size_t)n + 1, sizeof *dev), levels = 1, phases = 1;
    b->order = arena_array(b->a, (size_t)n + 1, sizeof *b->order);
    b->nth = arena_array(b->a, (size_t)n + 1, sizeof *b->nth);
    for (uint32_t x = 0; x < n; x++) {
        b->order[x] = x;
        phase[x] = b->y->phase[x];
        levels = b->y->level[x] >= levels ? b->y->level[x] + 1 : levels;
        phases = phase[x] >= phases ? phase[x] + 1 : phases;
    }
    b->order = sort_by(b->order, n, b->y->level, levels, b->a);
    b->order = sort_by(b->order, n, phase, phases, b->a);
    for (uint32_t i = 0; i < n; i++)
        dev[i] = b->w->part[b->order[i]].dev;
    b->parts = csr_build(b->a, b->w->ndev, n, dev, b->order);
    for (uint32_t d = 0; d < b->w->ndev; d++)
        for (uint32_t i = b->parts.at[d]; i < b->parts.at[d + 1]; i++)
            b->nth[b->parts.to[i]] = i - b->parts.at[d];
}

static uint32_t count_parts(const struct schedule_build *b, uint32_t dev)
{
    return b->parts.at[dev + 1] - b->parts.at[dev];
}

static uint32_t nth_part(const struct schedule_build *b, uint32_t dev, uint32_t i)
{
    assert(i < count_parts(b, dev));
    return b->parts.to[b->parts.at[dev] + i];
}

/* Whether part a of one device is done when b of another one is: in a round, or by their times. */
static bool is_done_before(const struct rhythm *y, uint32_t a, uint32_t b)
{
    if (y->repeats || y->end[a] == y->end[b])
        return is_before(y, a, b);
    return y->end[a] < y->end[b];
}

/* How many parts of the device are done before part x of another one. */
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

static void put(struct schedule_build *b, uint32_t lane, uint32_t slot, struct instruction what)
{
    b->at[b->n] = (struct timed_instruction){.what = what, .lane = lane, .slot = slot, .nth = b->n};
    b->n++;
}

/* An instruction for a tensor, in the round of part x for the same sample, or `later` rounds after that round. */
static struct instruction instruct(const struct schedule_build *b, enum do_kind kind,
                                   uint32_t tensor, uint32_t x, int32_t later)
{
    return (struct instruction){.kind = (uint8_t)kind,
                                .phase = b->y->phase[x],
                                .offset = -(int32_t)b->y->level[x] - later,
                                .what = tensor};
}

/* Room for an input of the model that part x is the first to read. */
static void put_alloc_input(struct schedule_build *b, uint32_t tensor, uint32_t x)
{
    uint32_t lane = lane_compute(b->w->part[x].dev);
    if (b->y->repeats)
        put(b, lane, SLOTS * b->nth[x] + BEFORE, instruct(b, DO_ALLOC, tensor, x, -1));
    else
        put(b, lane, (b->y->close && b->nth[x] ? SLOTS * (b->nth[x] - 1) : 0) + BEFORE,
            instruct(b, DO_ALLOC, tensor, x, 0));
}

/* Room on dev for what part x makes elsewhere; the part that reads it comes later in any case. */
static void put_alloc(struct schedule_build *b, uint32_t tensor, uint32_t x, uint32_t dev)
{
    put(b, lane_compute(dev), SLOTS * count_before(b, dev, x) + BEFORE,
        instruct(b, DO_ALLOC, tensor, x, 0));
    b->at[b->n - 1].at = b->y->repeats ? 0 : b->y->end[x];
}

/* Frees the tensor on dev behind part `last`. */
static void put_free(struct schedule_build *b, uint32_t tensor, uint32_t dev, uint32_t last)
{
    put(b, lane_compute(dev), SLOTS * b->nth[last] + BEHIND, instruct(b, DO_FREE, tensor, last, 0));
}

/* The last part of x's device that starts before the tensor has left it; at least x. */
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

/* Frees what part x makes and sends: behind the last reader at home (x: none), and not before it can have left. */
static void put_free_sent(struct schedule_build *b, uint32_t tensor, uint32_t x, uint32_t last)
{
    const uint32_t *level = b->y->level;
    uint32_t lane = lane_compute(b->w->part[x].dev);
    if (!b->y->repeats) {
        uint32_t y = find_last_before(b, tensor, x),
                 i = b->nth[b->nth[y] > b->nth[last] ? y : last];
        put(b, lane, SLOTS * (i + 1) + BEFORE, instruct(b, DO_FREE, tensor, last, 0));
        b->at[b->n - 1].at = b->y->sent[tensor];
    } else if (b->y->phase[last] > b->y->phase[x] || level[last] > level[x] + 1 ||
               (level[last] == level[x] + 1 && b->nth[last] >= b->nth[x])) {
        put_free(b, tensor, b->w->part[x].dev, last);
    } else {
        put(b, lane, SLOTS * b->nth[x] + BEHIND, instruct(b, DO_FREE, tensor, x, 1));
    }
}

/* The first and last part of a device in the order that read the tensor; false: none. */
static bool find_readers(const struct schedule_build *b, uint32_t tensor, uint32_t dev,
                         uint32_t *first, uint32_t *last)
{
    const struct csr *reader = &b->w->reader;
    bool any = false;
    for_row (x, *reader, tensor) {
        if (b->w->part[x].dev != dev)
            continue;
        *first = !any || is_before(b->y, x, *first) ? x : *first;
        *last = !any || is_before(b->y, *last, x) ? x : *last;
        any = true;
    }
    return any;
}

/* ---- lists ------------------------------------------------------------------------------------ */

/* A tensor on its way to a device; part: the one that makes it or, of an input of the model, reads it first there. */
struct way {
    uint32_t tensor, home, dev, part;
};

/* Lists the ways of all tensors, by tensor, then device (put_ways sorts them into sending order), and puts the
 * ALLOC and FREE of each tensor. */
static const struct way *find_ways(struct schedule_build *b, uint32_t *n)
{
    const struct sample_work *w = b->w;
    uint32_t most = w->place.at[w->ntensor], last = 0;
    struct way *way = arena_array(b->a, (size_t)most + 1, sizeof *way);
    *n = 0;
    for (uint32_t t = 0; t < w->ntensor; t++) {
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
            way[(*n)++] = (struct way){t, home, dev, home == w->ndev ? first : from};
        }
        if (home == w->ndev)
            continue;
        if (!find_readers(b, t, home, &first, &last))
            last = from;
        if (leaves)
            put_free_sent(b, t, from, last);
        else
            put_free(b, t, home, last);
    }
    return way;
}

static void put_ways(struct schedule_build *b)
{
    uint32_t n, npart = b->w->npart, ndev = b->w->ndev;
    const struct way *way = find_ways(b, &n);
    uint32_t *row = arena_array(b->a, (size_t)n + 1, sizeof *row);
    uint32_t *dev = arena_array(b->a, (size_t)n + 1, sizeof *dev);
    uint32_t *place = arena_array(b->a, (size_t)n + 1, sizeof *place);
    uint32_t *nth = arena_array(b->a, (size_t)npart + 1, sizeof *nth);
    for (uint32_t i = 0; i < npart; i++)
        nth[b->order[i]] = i;
    for (uint32_t i = 0; i < n; i++) {
        row[i] = i;
        dev[i] = way[i].dev;
        place[i] = nth[way[i].part];
    }
    row = sort_by(row, n, dev, ndev + 1, b->a);
    row = sort_by(row, n, place, npart, b->a);
    for (uint32_t i = 0; i < n; i++) {
        const struct way *x = &way[row[i]];
        struct instruction send = instruct(b, DO_SEND, x->tensor, x->part, 0), recv = send;
        recv.kind = DO_RECV;
        send.other = x->dev;
        recv.other = x->home;
        put(b, lane_send(ndev, x->home), 0, send);
        put(b, lane_recv(ndev, x->dev, x->home), 0, recv);
    }
}

static int by_time(const void *a, const void *b)
{
    const struct timed_instruction *x = a, *y = b;
    if (x->what.phase != y->what.phase)
        return x->what.phase < y->what.phase ? -1 : 1;
    if (x->at != y->at)
        return x->at < y->at ? -1 : 1;
    return (x->nth > y->nth) - (x->nth < y->nth);
}

/* Lays the instructions out: by lane, slot, phase and time, equal ones as they were put. */
static void lay_out(struct schedule_build *b, struct schedule *s)
{
    uint32_t rows = 0, *base = arena_array(b->a, (size_t)s->nlane + 1, sizeof *base);
    uint32_t *row = arena_array(b->a, (size_t)b->n + 1, sizeof *row);
    uint32_t *key = arena_array(b->a, (size_t)b->n + 1, sizeof *key);
    for (uint32_t l = 0; l < s->nlane; l++) {
        base[l] = rows;
        rows += l < b->w->ndev ? SLOTS * count_parts(b, l) + 1 : 1;
    }
    qsort(b->at, b->n, sizeof *b->at, by_time);
    for (uint32_t i = 0; i < b->n; i++) {
        uint32_t phase = b->at[i].what.phase;
        row[i] = i;
        key[i] = base[b->at[i].lane] + b->at[i].slot;
        s->phases = phase >= s->phases ? phase + 1 : s->phases;
        s->at[b->at[i].lane + 1]++;
    }
    row = sort_by(row, b->n, key, rows, b->a);
    for (uint32_t l = 0; l < s->nlane; l++)
        s->at[l + 1] += s->at[l];
    for (uint32_t i = 0; i < b->n; i++)
        s->item[i] = b->at[row[i]].what;
}

struct schedule *schedule_make(const struct sample_work *w, const struct rhythm *y, struct arena *a)
{
    struct schedule *s = arena_alloc(a, sizeof *s);
    struct schedule_build b = {.w = w, .y = y, .a = arena_new(a)};
    size_t most = w->npart + 4 * (size_t)w->place.at[w->ntensor];
    order_parts(&b);
    b.at = arena_array(b.a, most + 1, sizeof *b.at);
    for (uint32_t i = 0; i < w->npart; i++) {
        uint32_t x = b.order[i];
        put(&b, lane_compute(w->part[x].dev), SLOTS * b.nth[x] + AT,
            instruct(&b, DO_COMPUTE, x, x, 0));
    }
    put_ways(&b);
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

/* A tensor is made, moved and freed within a window of rounds, as long as the range of offsets; that is also the
 * number of samples at work in one round. */
uint32_t schedule_samples(const struct schedule *s)
{
    int64_t low = 0, high = 0;
    for (uint32_t i = 0; i < s->at[s->nlane]; i++) {
        low = smaller(s->item[i].offset, low);
        high = larger(s->item[i].offset, high);
    }
    return (uint32_t)(high - low + 1);
}
