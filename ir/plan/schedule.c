/* Lists from parts and rounds (schedule.h).
 *
 * Source: Baechi-PyTorch's assigner, its streams made lists (list-scheduling.md 3.4).  All follow one order, in which
 * the parts of a round stand by level and number and a round stands behind the one before it: a SEND is where its
 * tensor is made (of an input: where it is read), an ALLOC before the place of its SEND, a FREE behind it.  So nothing
 * waits in a circle. */
#include "ir/plan/schedule.h"

#include "ir/plan/work.h"

#include <assert.h>
#include <stdlib.h>

/* Where an instruction goes: before the i-th part of its device, its COMPUTE, behind it. */
enum { BEFORE, AT, BEHIND, SLOTS };

struct placed {
    struct instruction what;
    uint32_t lane, slot; /* SLOTS * i + BEFORE, ...; 0 where no part stands in the lane */
};

struct listing {
    const struct work *w;
    const struct rhythm *y;
    struct arena *a;
    struct csr parts;  /* device -> its parts, in order */
    uint32_t *nth;     /* [part] its place there */
    uint32_t *order;   /* parts by phase, level and number */
    struct placed *at; /* all instructions */
    uint32_t n;
};

/* ---- order ------------------------------------------------------------------------------------ */

/* Whether part x comes before y in a round. */
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

static void order_parts(struct listing *b)
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

static uint32_t count_parts(const struct listing *b, uint32_t dev)
{
    return b->parts.at[dev + 1] - b->parts.at[dev];
}

static uint32_t nth_part(const struct listing *b, uint32_t dev, uint32_t i)
{
    assert(i < count_parts(b, dev));
    return b->parts.to[b->parts.at[dev] + i];
}

/* How many parts of the device stand before part x, which may be another's. */
static uint32_t count_before(const struct listing *b, uint32_t dev, uint32_t x)
{
    uint32_t low = 0, high = count_parts(b, dev);
    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        if (is_before(b->y, nth_part(b, dev, mid), x))
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

/* The places [first, end) of a device's parts in a phase. */
static void find_phase(const struct listing *b, uint32_t dev, uint8_t phase, uint32_t *first,
                       uint32_t *end)
{
    uint32_t low[2];
    for (uint32_t k = 0; k < 2; k++) {
        uint32_t lo = 0, hi = count_parts(b, dev);
        while (lo < hi) {
            uint32_t mid = lo + (hi - lo) / 2;
            if (b->y->phase[nth_part(b, dev, mid)] < phase + k)
                lo = mid + 1;
            else
                hi = mid;
        }
        low[k] = lo;
    }
    *first = low[0];
    *end = low[1];
}

/* ---- instructions ----------------------------------------------------------------------------- */

static void put(struct listing *b, uint32_t lane, uint32_t slot, struct instruction what)
{
    b->at[b->n++] = (struct placed){what, lane, slot};
}

/* Of a tensor, in the round of part x for the same sample, or so many rounds later. */
static struct instruction instruct(const struct listing *b, enum do_kind kind, uint32_t tensor,
                                   uint32_t x, int32_t later)
{
    return (struct instruction){.kind = (uint8_t)kind,
                                .phase = b->y->phase[x],
                                .offset = -(int32_t)b->y->level[x] - later,
                                .what = tensor};
}

/* Room for an input of the model that part x is the first to read: before the part before it. */
static void put_alloc_input(struct listing *b, uint32_t tensor, uint32_t x)
{
    uint32_t dev = b->w->part[x].dev, i = b->nth[x], first, end;
    int32_t later = 0;
    find_phase(b, dev, b->y->phase[x], &first, &end);
    if (i > first) {
        i--;
    } else if (b->y->repeats) {
        i = end - 1;
        later = -1;
    }
    put(b, lane_compute(dev), SLOTS * i + BEFORE, instruct(b, DO_ALLOC, tensor, x, later));
}

/* Room on dev for what part x makes elsewhere. */
static void put_alloc(struct listing *b, uint32_t tensor, uint32_t x, uint32_t dev)
{
    uint32_t i = count_before(b, dev, x), first, end;
    int32_t later = 0;
    find_phase(b, dev, b->y->phase[x], &first, &end);
    if (i == end && b->y->repeats) {
        i = first;
        later = 1;
    }
    put(b, lane_compute(dev), SLOTS * i + BEFORE, instruct(b, DO_ALLOC, tensor, x, later));
}

/* Frees the tensor on dev behind part `last`. */
static void put_free(struct listing *b, uint32_t tensor, uint32_t dev, uint32_t last)
{
    put(b, lane_compute(dev), SLOTS * b->nth[last] + BEHIND, instruct(b, DO_FREE, tensor, last, 0));
}

/* Frees what part x makes and sends: behind the last reader at home (x: none), and not before the next part. */
static void put_free_sent(struct listing *b, uint32_t tensor, uint32_t x, uint32_t last)
{
    uint32_t dev = b->w->part[x].dev, i = b->nth[x] + 1, first, end;
    int32_t later = 0;
    find_phase(b, dev, b->y->phase[x], &first, &end);
    if (i == end && b->y->repeats) {
        i = first;
        later = 1;
    } else if (i == end) {
        i = end - 1;
    }
    bool after =
        b->y->phase[last] > b->y->phase[x] ||
        (int32_t)b->y->level[last] > (int32_t)b->y->level[x] + later ||
        ((int32_t)b->y->level[last] == (int32_t)b->y->level[x] + later && b->nth[last] >= i);
    if (after)
        put_free(b, tensor, dev, last);
    else
        put(b, lane_compute(dev), SLOTS * i + BEHIND, instruct(b, DO_FREE, tensor, x, later));
}

/* The first and last part of a device in the order that read the tensor; false: none. */
static bool find_readers(const struct listing *b, uint32_t tensor, uint32_t dev, uint32_t *first,
                         uint32_t *last)
{
    const struct csr *reader = &b->w->reader;
    bool any = false;
    for (uint32_t i = reader->at[tensor]; i < reader->at[tensor + 1]; i++) {
        uint32_t x = reader->to[i];
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

/* All ways, in the order in which they are sent: by part, then device, then tensor.  Puts ALLOC and FREE. */
static const struct way *find_ways(struct listing *b, uint32_t *n)
{
    const struct work *w = b->w;
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

static void put_ways(struct listing *b)
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

/* Lays the instructions out: by lane, slot and phase, equal ones as they were put. */
static void lay_out(struct listing *b, struct schedule *s)
{
    uint32_t rows = 0, *base = arena_array(b->a, (size_t)s->nlane + 1, sizeof *base);
    uint32_t *row = arena_array(b->a, (size_t)b->n + 1, sizeof *row);
    uint32_t *key = arena_array(b->a, (size_t)b->n + 1, sizeof *key);
    for (uint32_t l = 0; l < s->nlane; l++) {
        base[l] = rows;
        rows += l < b->w->ndev ? SLOTS * count_parts(b, l) + 1 : 1;
    }
    for (uint32_t i = 0; i < b->n; i++) {
        row[i] = i;
        key[i] = b->at[i].what.phase;
        s->phases = key[i] >= s->phases ? key[i] + 1 : s->phases;
        s->at[b->at[i].lane + 1]++;
    }
    row = sort_by(row, b->n, key, s->phases, b->a);
    for (uint32_t i = 0; i < b->n; i++)
        key[i] = base[b->at[i].lane] + b->at[i].slot;
    row = sort_by(row, b->n, key, rows, b->a);
    for (uint32_t l = 0; l < s->nlane; l++)
        s->at[l + 1] += s->at[l];
    for (uint32_t i = 0; i < b->n; i++)
        s->item[i] = b->at[row[i]].what;
}

struct schedule *schedule_make(const struct work *w, const struct rhythm *y, struct arena *a)
{
    struct schedule *s = arena_alloc(a, sizeof *s);
    struct listing b = {.w = w, .y = y, .a = arena_new(a)};
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

/* A tensor is made, moved and freed within as many rounds as there are offsets: so many samples at once meet in a
 * round. */
uint32_t schedule_samples(const struct schedule *s)
{
    int64_t low = 0, high = 0;
    for (uint32_t i = 0; i < s->at[s->nlane]; i++) {
        low = s->item[i].offset < low ? s->item[i].offset : low;
        high = s->item[i].offset > high ? s->item[i].offset : high;
    }
    return (uint32_t)(high - low + 1);
}
