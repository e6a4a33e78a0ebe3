/* Checks schedules (schedule_check.h).
 *
 * First checks the lists as written, which does not depend on the number of samples: whether each instruction is
 * there once, and in the right order.  Then unrolls the lists for N samples, so that there is an event for each
 * instruction and sample, and executes the events without regard to time: a lane goes on while its next event waits
 * for nothing.  A schedule ends under every timing if and only if this execution ends; else some lanes wait for each
 * other in a circle.  Memory and queues follow from the computing lanes alone. */
#include "ir/plan/schedule_check.h"

#include "ir/base/units.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

enum {
    NONE = UINT32_MAX,
    MOST_EVENTS = 1 << 24, /* limit of events; that many take about 300 MiB */
    SHOWN = 8              /* how many lanes of a circle an error lists */
};

/* State of a check.  An item is an index into s->item: an instruction. */
struct schedule_state {
    const struct sample_work *w;
    struct schedule *s;
    struct arena *a;
    const char *why;   /* the first error; NULL: none so far */
    uint32_t *lane_of; /* [item] lane of the item */
    uint32_t *compute; /* [part] the item that computes the part; NONE: none */
    uint32_t *reduce;  /* [part] the item that reduces the part's sums (REDUCE); NONE: none */
    /* [index into w->place.to, for a tensor and a device] the item that allocates, sends (to the device), receives or
     * frees the tensor; NONE: none */
    uint32_t *alloc, *send, *recv, *free;
    uint32_t samples; /* number of samples for which the lists are unrolled */
    /* [event] item and sample of the event; lane l has events s->at[l] * samples .. s->at[l + 1] * samples - 1, in the
     * order in which the lane executes them */
    uint32_t *item, *sample;
    uint32_t *event; /* [item * samples + sample] number of the event */
    uint32_t *done;  /* [lane] the first event that has not been executed */
};

static bool refuse(struct schedule_state *c, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* Stores an error in c->why; returns false. */
static bool refuse(struct schedule_state *c, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    c->why = arena_vfmt(c->a, fmt, ap);
    va_end(ap);
    return false;
}

/* Returns instruction `item` of the schedule. */
static const struct instruction *item_at(const struct schedule_state *c, uint32_t item)
{
    assert(item < c->s->at[c->s->nlane]);
    return &c->s->item[item];
}

/* Returns the device that makes the tensor; of a model input, the host. */
static uint32_t home_of(const struct schedule_state *c, uint32_t tensor)
{
    return c->w->place.to[c->w->place.at[tensor]];
}

const char *instruction_text(const struct sample_work *w, const struct instruction *i, uint32_t dev,
                             int64_t sample, struct arena *a)
{
    static const char *const does[] = {
        [DO_COMPUTE] = "computes",          [DO_SEND] = "sends", [DO_RECV] = "receives",
        [DO_ALLOC] = "makes room for",      [DO_FREE] = "frees", [DO_ADD] = "adds",
        [DO_REDUCE] = "reduces the sums of"};
    bool part = is_about_part(i), moves = i->kind == DO_SEND || i->kind == DO_RECV;
    return arena_fmt(a, "%s %s '%s' of sample %" PRId64 "%s%s", w->dev_name[dev], does[i->kind],
                     part ? w->part[i->what].name : w->tensor[i->what].name, sample,
                     !moves               ? ""
                     : i->kind == DO_SEND ? " to "
                                          : " from ",
                     moves ? w->dev_name[i->other] : "");
}

/* ---- positions of instructions ---------------------------------------------------------------- */

/* Stores the item in *at and returns true.  If *at has an item already, refuses the schedule and returns false.
 * done, name: words for the message, "sent" and the name of the tensor. */
static bool note_once(struct schedule_state *c, uint32_t *at, uint32_t item, const char *done,
                      const char *name)
{
    if (*at != NONE)
        return refuse(c, "'%s' is %s twice on %s", name, done,
                      c->w->dev_name[lane_device(c->w->ndev, c->lane_of[item])]);
    *at = item;
    return true;
}

/* Notes a COMPUTE in compute[], a REDUCE in reduce[], and returns true.  Refuses the schedule, and returns false, if
 * the part is unknown, belongs to another device, has the instruction already, or has no sums to be reduced. */
static bool note_part(struct schedule_state *c, uint32_t lane, uint32_t item)
{
    const struct instruction *i = item_at(c, item);
    const struct work_part *p = i->what < c->w->npart ? &c->w->part[i->what] : NULL;
    if (!p)
        return refuse(c, "%s computes a part that there is not", c->w->dev_name[lane]);
    if (p->dev != lane)
        return refuse(c, "'%s' is computed on %s, but belongs to %s", p->name, c->w->dev_name[lane],
                      c->w->dev_name[p->dev]);
    if (i->kind == DO_COMPUTE)
        return note_once(c, &c->compute[i->what], item, "computed", p->name);
    if (!work_is_reduced(c->w, i->what))
        return refuse(c, "'%s' reads no sums that several devices have: there is no REDUCE",
                      p->name);
    return note_once(c, &c->reduce[i->what], item, "reduced", p->name);
}

/* Notes an instruction for a tensor in alloc[], send[], recv[] or free[], and returns true.  Refuses the schedule,
 * and returns false, if the tensor is unknown, or if the instruction is not needed, there twice, in the wrong lane, or
 * an ADD where a FREE belongs or the reverse. */
static bool note_tensor(struct schedule_state *c, uint32_t lane, uint32_t item)
{
    const struct instruction *i = item_at(c, item);
    const struct sample_work *w = c->w;
    uint32_t dev = lane_device(c->w->ndev, lane), n = w->ndev;
    if (i->what >= w->ntensor)
        return refuse(c, "%s has to do with a tensor that there is not", w->dev_name[dev]);
    const char *name = w->tensor[i->what].name;
    uint32_t home = home_of(c, i->what);
    /* the device on which the instruction makes room for the tensor or frees it, or to which it brings the tensor */
    uint32_t holder = i->kind == DO_SEND ? i->other : dev;
    uint32_t place = work_place(w, i->what, holder);
    if (place == NONE)
        return refuse(c, "'%s' is not wanted on %s", name, holder <= n ? w->dev_name[holder] : "?");
    if (i->kind == DO_ADD && !w->tensor[i->what].summed)
        return refuse(c, "'%s' is added on %s, but is no gradient of a parameter", name,
                      w->dev_name[dev]);
    if (i->kind == DO_FREE && w->tensor[i->what].summed)
        return refuse(c, "'%s' is freed on %s, but not added", name, w->dev_name[dev]);
    if (i->kind == DO_FREE || i->kind == DO_ADD)
        return note_once(c, &c->free[place], item, i->kind == DO_ADD ? "added" : "freed", name);
    if (holder == home)
        return refuse(c, "'%s' is made on %s: there is no %s", name, w->dev_name[home],
                      i->kind == DO_ALLOC  ? "ALLOC of it"
                      : i->kind == DO_SEND ? "SEND of it to there"
                                           : "RECV of it");
    if (i->kind == DO_ALLOC)
        return note_once(c, &c->alloc[place], item, "given room", name);
    uint32_t right = i->kind == DO_SEND ? lane_send(n, home) : lane_recv(n, dev, home);
    if (lane != right || (i->kind == DO_RECV && i->other != home))
        return refuse(c, "'%s' is %s %s, but comes from %s", name,
                      i->kind == DO_SEND ? "sent by" : "received by", w->dev_name[dev],
                      w->dev_name[home]);
    return note_once(c, i->kind == DO_SEND ? &c->send[place] : &c->recv[place], item,
                     i->kind == DO_SEND ? "sent" : "received", name);
}

/* Fills in lane_of[], notes each instruction by note_part() or note_tensor(), and returns true.  Refuses the schedule,
 * and returns false, if one of these does, or if an instruction stands in a lane of the wrong kind or in an earlier
 * phase than the item before it. */
static bool note_all(struct schedule_state *c)
{
    const struct schedule *s = c->s;
    uint32_t n = c->w->ndev;
    for (uint32_t l = 0; l < s->nlane; l++)
        for (uint32_t i = s->at[l]; i < s->at[l + 1]; i++) {
            uint8_t k = s->item[i].kind;
            /* lanes for computing come first, then lanes for sending, then lanes for receiving */
            bool right = l < n                                    ? k != DO_SEND && k != DO_RECV
                         : l < lane_recv(n, /*to=*/0, /*from=*/0) ? k == DO_SEND
                                                                  : k == DO_RECV;
            c->lane_of[i] = l;
            if (!right || (i > s->at[l] && s->item[i].phase < s->item[i - 1].phase))
                return refuse(c, "an instruction of %s stands in a list where it cannot",
                              c->w->dev_name[lane_device(c->w->ndev, l)]);
            bool fine = is_about_part(&s->item[i]) ? note_part(c, l, i) : note_tensor(c, l, i);
            if (!fine)
                return false;
        }
    return true;
}

/* Whether each instruction that the work needs is in a list; refuses the schedule if not. */
static bool check_all_there(struct schedule_state *c)
{
    const struct sample_work *w = c->w;
    for (uint32_t x = 0; x < w->npart; x++)
        if (c->compute[x] == NONE)
            return refuse(c, "'%s' is never computed", w->part[x].name);
        else if (work_is_reduced(w, x) && c->reduce[x] == NONE)
            return refuse(c, "the sums of '%s' are never reduced", w->part[x].name);
    for (uint32_t t = 0; t < w->ntensor; t++)
        for (uint32_t i = w->place.at[t]; i < w->place.at[t + 1]; i++) {
            uint32_t dev = w->place.to[i];
            bool host = dev == w->ndev, home = i == w->place.at[t];
            const char *name = w->tensor[t].name, *on = w->dev_name[dev];
            if (!home && c->send[i] == NONE)
                return refuse(c, "'%s' is never sent to %s", name, on);
            if (!home && c->recv[i] == NONE)
                return refuse(c, "'%s' is never received by %s", name, on);
            if (!home && !host && c->alloc[i] == NONE)
                return refuse(c, "%s never makes room for '%s'", on, name);
            if (!host && c->free[i] == NONE)
                return refuse(c, "%s never %s '%s'", on, w->tensor[t].summed ? "adds" : "frees",
                              name);
        }
    return true;
}

/* ---- order ------------------------------------------------------------------------------------ */

/* Compares when two instructions are executed for the same sample.  Returns < 0 if a's phase or round is earlier, > 0
 * if it is later, 0 if both have the same phase and round. */
static int compare_rounds(const struct instruction *a, const struct instruction *b)
{
    if (a->phase != b->phase)
        return a->phase < b->phase ? -1 : 1;
    /* the larger offset is the earlier round: a sample's round is its number less the offset */
    return (a->offset < b->offset) - (a->offset > b->offset);
}

/* Whether item a is executed before item b of the same list, for the same sample. */
static bool precedes(const struct schedule_state *c, uint32_t a, uint32_t b)
{
    int order = compare_rounds(item_at(c, a), item_at(c, b));
    return order < 0 || (order == 0 && a < b);
}

/* Whether each device computes its parts in the order of phase, round and number; refuses the schedule if not. */
static bool check_parts(struct schedule_state *c)
{
    for (uint32_t d = 0; d < c->w->ndev; d++) {
        uint32_t last = NONE;
        for (uint32_t i = c->s->at[d]; i < c->s->at[d + 1]; i++) {
            if (item_at(c, i)->kind != DO_COMPUTE)
                continue;
            int order = last == NONE ? -1 : compare_rounds(item_at(c, last), item_at(c, i));
            if (order > 0 || (order == 0 && item_at(c, last)->what > item_at(c, i)->what))
                return refuse(c, "%s computes '%s' before '%s': not their order", c->w->dev_name[d],
                              c->w->part[item_at(c, last)->what].name,
                              c->w->part[item_at(c, i)->what].name);
            last = i;
        }
    }
    return true;
}

/* Returns the item of the COMPUTE in whose round a SEND belongs: of the part that makes the tensor, or, for an input
 * of the model, of the first reader on the receiving device. */
static uint32_t send_anchor(const struct schedule_state *c, const struct instruction *send)
{
    const struct sample_work *w = c->w;
    uint32_t from = w->tensor[send->what].from, first = NONE;
    if (from < w->npart)
        return c->compute[from];
    for_row (x, w->reader, send->what)
        if (w->part[x].dev == send->other && (first == NONE || precedes(c, c->compute[x], first)))
            first = c->compute[x];
    return first;
}

/* Compares where two SENDs of one device belong: by round, then by the part of the anchor, the receiver and the tensor.
 * Returns < 0 if a belongs before b, > 0 if it belongs behind b. */
static int compare_sends(const struct schedule_state *c, const struct instruction *a,
                         const struct instruction *b)
{
    uint32_t x = item_at(c, send_anchor(c, a))->what, y = item_at(c, send_anchor(c, b))->what;
    int order = compare_rounds(a, b);
    if (order || x != y)
        return order ? order : x < y ? -1 : 1;
    if (a->other != b->other)
        return a->other < b->other ? -1 : 1;
    return (a->what > b->what) - (a->what < b->what);
}

/* Returns the SEND of the list from .. before - 1 of device d that must belong before item `before`, the nearest one;
 * NONE: there is none.  Where micro-batches have instances of their own, numbers of parts of several devices tell
 * nothing about their times: then the SENDs of the host to each receiver have an order, and beyond that only circles
 * count. */
static uint32_t send_before(const struct schedule_state *c, uint32_t d, uint32_t from,
                            uint32_t before)
{
    bool any = d < c->w->ndev || !c->w->each;
    for (uint32_t i = before; i-- > from;)
        if (any || item_at(c, i)->other == item_at(c, before)->other)
            return i;
    return NONE;
}

/* Whether each device sends each tensor in the round of its anchor (send_anchor()), in the order of compare_sends(),
 * and each receiver receives tensors in the order in which they are sent; refuses the schedule if not. */
static bool check_sends(struct schedule_state *c)
{
    const struct sample_work *w = c->w;
    uint32_t *next = arena_array(c->a, (size_t)c->s->nlane + 1, sizeof *next);
    /* [receiving lane] the lane's next RECV to compare; there is one for each SEND to the lane (check_all_there()) */
    memcpy(next, c->s->at, (size_t)c->s->nlane * sizeof *next);
    for (uint32_t d = 0; d <= w->ndev; d++) {
        uint32_t lane = lane_send(w->ndev, d);
        for (uint32_t i = c->s->at[lane]; i < c->s->at[lane + 1]; i++) {
            const struct instruction *x = item_at(c, i);
            const char *name = w->tensor[x->what].name;
            if (compare_rounds(x, item_at(c, send_anchor(c, x))))
                return refuse(c, "%s sends '%s' of another sample than it is about to have",
                              w->dev_name[d], name);
            uint32_t last = send_before(c, d, c->s->at[lane], i);
            if (last != NONE && compare_sends(c, item_at(c, last), x) >= 0)
                return refuse(c, "%s sends '%s' before '%s': not their order", w->dev_name[d],
                              w->tensor[item_at(c, last)->what].name, name);
            uint32_t to = lane_recv(w->ndev, x->other, d);
            const struct instruction *y = item_at(c, next[to]++);
            if (y->what != x->what || compare_rounds(x, y))
                return refuse(c, "%s sends '%s' to %s, which does not receive it in that place",
                              w->dev_name[d], name, w->dev_name[x->other]);
        }
    }
    return true;
}

/* Whether each tensor has memory on each of its devices before it is made or used there, and until its last reader;
 * refuses the schedule if not. */
static bool check_lifetimes(struct schedule_state *c)
{
    const struct sample_work *w = c->w;
    for (uint32_t t = 0; t < w->ntensor; t++) {
        uint32_t home = home_of(c, t), from = w->tensor[t].from;
        const char *name = w->tensor[t].name;
        if (home < w->ndev && !precedes(c, c->compute[from], c->free[w->place.at[t]]))
            return refuse(c, "%s %s '%s' before it makes it", w->dev_name[home],
                          w->tensor[t].summed ? "adds" : "frees", name);
        for_row (x, w->reader, t) {
            uint32_t dev = w->part[x].dev, place = work_place(w, t, dev);
            uint32_t made = dev == home ? c->compute[from] : c->alloc[place];
            if (!precedes(c, made, c->compute[x]))
                return refuse(c, "%s computes '%s' before it %s '%s'", w->dev_name[dev],
                              w->part[x].name, dev == home ? "makes" : "makes room for", name);
            if (!precedes(c, c->compute[x], c->free[place]))
                return refuse(c, "%s frees '%s' before it computes '%s', which reads it",
                              w->dev_name[dev], name, w->part[x].name);
        }
    }
    return true;
}

/* Whether all gradients whose sums part k reads (k runs once) are made on its device and added before the sums are
 * reduced, or, without REDUCE, before k runs; and whether the REDUCE comes before k runs.  Refuses the schedule if
 * not. */
static bool check_sums_of(struct schedule_state *c, uint32_t k)
{
    const struct sample_work *w = c->w, *each = w->each;
    uint32_t x = w->instance[k] % each->npart;
    uint32_t by = c->reduce[k] == NONE ? c->compute[k] : c->reduce[k];
    const char *does = by == c->compute[k] ? "computes" : "reduces the sums of";
    const char *dev = w->dev_name[w->part[k].dev];
    for_row (t, each->in, x)
        for (uint32_t m = 0; each->tensor[t].summed && m < w->micro_batches; m++) {
            uint32_t gradient = m * each->ntensor + t, add = c->free[w->place.at[gradient]];
            if (home_of(c, gradient) != w->part[k].dev)
                return refuse(c, "'%s' reads the sum of '%s' on another device", w->part[k].name,
                              w->tensor[gradient].name);
            if (!precedes(c, add, by))
                return refuse(c, "%s %s '%s' before it adds '%s'", dev, does, w->part[k].name,
                              w->tensor[gradient].name);
        }
    if (by != c->compute[k] && !precedes(c, by, c->compute[k]))
        return refuse(c, "%s computes '%s' before it reduces its sums", dev, w->part[k].name);
    return true;
}

/* Whether all parts that run once read complete sums; refuses the schedule if not. */
static bool check_sums(struct schedule_state *c)
{
    const struct sample_work *each = c->w->each;
    for (uint32_t k = 0; each && k < c->w->npart; k++)
        if (each->part[c->w->instance[k] % each->npart].once && !check_sums_of(c, k))
            return false;
    return true;
}

/* ---- unrolled --------------------------------------------------------------------------------- */

/* Consecutive items of one lane that belong to the same phase. */
struct stretch {
    uint32_t to; /* the item behind the last one */
    /* rounds first .. end - 1 are the rounds in which at least one of the items is executed */
    int64_t first, end;
};

/* Returns the stretch that begins at item `from`; limit: the item behind the last one of the lane. */
static struct stretch next_stretch(const struct schedule_state *c, uint32_t from, uint32_t limit)
{
    struct stretch t = {from, INT64_MAX, INT64_MIN};
    for (; t.to < limit && item_at(c, t.to)->phase == item_at(c, from)->phase; t.to++) {
        int64_t o = item_at(c, t.to)->offset, end = (int64_t)c->samples - o;
        if (-o < t.first)
            t.first = -o;
        t.end = larger(end, t.end);
    }
    return t;
}

/* Returns false, and refuses the lists, if they are for no sample or too long to unroll (more than MOST_EVENTS events
 * and rounds together).  Else returns true and writes the largest number of rounds of a stretch to *most. */
static bool check_size(struct schedule_state *c, uint32_t *most)
{
    uint64_t sum = 0;
    *most = 0;
    if (!c->samples)
        return refuse(c, "it is for no sample: expected one in flight at least");
    for (uint32_t l = 0; l < c->s->nlane; l++)
        for (uint32_t i = c->s->at[l]; i < c->s->at[l + 1];) {
            struct stretch t = next_stretch(c, i, c->s->at[l + 1]);
            sum += (uint64_t)(t.end - t.first) + (uint64_t)(t.to - i) * c->samples;
            if (sum > MOST_EVENTS)
                return refuse(c, "%u samples are too many to check: it has %u instructions",
                              c->samples, c->s->at[c->s->nlane]);
            if (t.end - t.first > *most)
                *most = (uint32_t)(t.end - t.first);
            i = t.to;
        }
    return true;
}

/* Numbers the events of the stretch that begins at item `from`: by round, then by item.  Fills in item[], sample[] and
 * event[] for them.  at: scratch, two entries more than the stretch has rounds. */
static void unroll_stretch(struct schedule_state *c, uint32_t from, const struct stretch *t,
                           uint32_t *at)
{
    size_t rounds = (size_t)(t->end - t->first);
    /* next: number of the next event; active: number of items that are executed in the round */
    uint32_t next = from * c->samples, active = 0;
    memset(at, 0, (rounds + 2) * sizeof *at);
    /* at[round] is first the change of `active` in the round (modulo 2^32), since each item is executed in
     * `samples` consecutive rounds; then the number of the round's next event */
    for (uint32_t k = from; k < t->to; k++) {
        size_t round = (size_t)(-item_at(c, k)->offset - t->first);
        at[round]++;
        at[round + c->samples]--;
    }
    for (size_t round = 0; round < rounds; round++) {
        active += at[round];
        at[round] = next;
        next += active;
    }
    for (uint32_t k = from; k < t->to; k++)
        for (uint32_t i = 0; i < c->samples; i++) {
            uint32_t e = at[(size_t)((int64_t)i - item_at(c, k)->offset - t->first)]++;
            c->item[e] = k;
            c->sample[e] = i;
            c->event[(size_t)k * c->samples + i] = e;
        }
}

/* Fills in item[], sample[] and event[] for all lanes.  most_rounds: as check_size() found it. */
static void unroll(struct schedule_state *c, uint32_t most_rounds)
{
    size_t n = (size_t)c->s->at[c->s->nlane] * c->samples;
    uint32_t *scratch = arena_array(c->a, (size_t)most_rounds + 2, sizeof *scratch);
    c->item = arena_array(c->a, n + 1, sizeof *c->item);
    c->sample = arena_array(c->a, n + 1, sizeof *c->sample);
    c->event = arena_array(c->a, n + 1, sizeof *c->event);
    for (uint32_t l = 0; l < c->s->nlane; l++)
        for (uint32_t i = c->s->at[l]; i < c->s->at[l + 1];) {
            struct stretch t = next_stretch(c, i, c->s->at[l + 1]);
            unroll_stretch(c, i, &t, scratch);
            i = t.to;
        }
}

/* Does the work of next_wait() for the REDUCE of part x: returns, one after the other, the ADDs of the gradients that x
 * reads, of all micro-batches, on all devices that run the part of which x is a copy; *k as for next_wait(). */
static uint32_t next_add(const struct schedule_state *c, uint32_t x, uint32_t *k)
{
    const struct sample_work *w = c->w, *each = w->each;
    uint32_t copy = w->instance[x] % each->npart;
    /* p: the part that x is a copy of; its copies together have each->in.to[first .. first + inputs) */
    uint32_t p = count_below(each->first_copy + 1, each->whole->npart, copy + 1);
    uint32_t first = each->in.at[each->first_copy[p]];
    uint32_t inputs = each->in.at[each->first_copy[p + 1]] - first;
    while (*k < inputs * w->micro_batches) {
        uint32_t t = each->in.to[first + *k % inputs], m = *k / inputs;
        (*k)++;
        if (each->tensor[t].summed)
            return c->free[w->place.at[m * each->ntensor + t]];
    }
    return NONE;
}

/* Returns an item that must be executed before `item` for the same sample; each call with the same item returns
 * another one; NONE: there are no more.  *k is 0 in the first call for an item, and counts how far the calls have
 * come. */
static uint32_t next_wait(const struct schedule_state *c, uint32_t item, uint32_t *k)
{
    const struct sample_work *w = c->w;
    const struct instruction *i = item_at(c, item);
    uint32_t dev = lane_device(c->w->ndev, c->lane_of[item]);
    if (i->kind == DO_COMPUTE) { /* waits for the RECV of each input that another device makes */
        while (*k < w->in.at[i->what + 1] - w->in.at[i->what]) {
            uint32_t t = w->in.to[w->in.at[i->what] + (*k)++];
            if (home_of(c, t) != dev)
                return c->recv[work_place(w, t, dev)];
        }
    } else if (i->kind == DO_REDUCE) {
        return next_add(c, i->what, k);
    } else if (i->kind == DO_SEND) {
        /* waits for the part that makes the tensor, then for the receiver's ALLOC */
        uint32_t from = w->tensor[i->what].from, step = *k;
        if (step == 0 && from < w->npart) {
            *k = 1;
            return c->compute[from];
        }
        *k = 2;
        if (step < 2 && i->other < w->ndev)
            return c->alloc[work_place(w, i->what, i->other)];
    } else if (i->kind == DO_RECV) {
        if ((*k)++ == 0)
            return c->send[work_place(w, i->what, dev)];
    } else if ((i->kind == DO_FREE || i->kind == DO_ADD) && home_of(c, i->what) == dev) {
        /* on the device that made the tensor: waits for each SEND of the tensor */
        uint32_t first = w->place.at[i->what];
        if (++*k < w->place.at[i->what + 1] - first)
            return c->send[first + *k];
    }
    return NONE;
}

/* ---- deadlock --------------------------------------------------------------------------------- */

/* Returns words for an event: "acc0 computes 'part1.onnx' of sample 2". */
static const char *event_text(const struct schedule_state *c, uint32_t event)
{
    uint32_t item = c->item[event];
    return instruction_text(c->w, item_at(c, item), lane_device(c->w->ndev, c->lane_of[item]),
                            c->sample[event], c->a);
}

/* Refuses the schedule, and returns false, with a text on lanes that wait for each other in a circle.  lane: a lane
 * that cannot go on.  missing: [lane that cannot go on] the event that its next event waits for. */
static bool refuse_circle(struct schedule_state *c, uint32_t lane, const uint32_t *missing)
{
    uint8_t *seen = arena_alloc(c->a, c->s->nlane);
    const char *text = "";
    uint32_t n = 0;
    /* follows the waits until a lane comes again; that lane is in the circle */
    while (!seen[lane]) {
        seen[lane] = 1;
        lane = c->lane_of[c->item[missing[lane]]];
    }
    for (; seen[lane] == 1; n++) {
        uint32_t wanted = missing[lane], next = c->lane_of[c->item[wanted]];
        seen[lane] = 2;
        if (n < SHOWN)
            text = arena_fmt(c->a, "%s%s%s waits until %s%s%s", text, n ? "; " : "",
                             event_text(c, c->done[lane]), event_text(c, wanted),
                             wanted == c->done[next] ? "" : ", which comes after ",
                             wanted == c->done[next] ? "" : event_text(c, c->done[next]));
        lane = next;
    }
    if (n > SHOWN)
        text = arena_fmt(c->a, "%s; and so on over %u more lists", text, n - SHOWN);
    return refuse(c, "deadlock: %s", text);
}

/* Executes all events.  Refuses the schedule, and returns false, if lanes come to wait for each other in a circle. */
static bool check_deadlock(struct schedule_state *c)
{
    const struct schedule *s = c->s;
    uint32_t n = s->nlane, ready = n;
    size_t events = (size_t)s->at[n] * c->samples;
    /* [lane] the event that the lane's next event waits for; NONE: none */
    uint32_t *missing = arena_array(c->a, (size_t)n + 1, sizeof *missing);
    /* [0 .. ready) lanes that may go on */
    uint32_t *list = arena_array(c->a, (size_t)n + 1, sizeof *list);
    /* waiting: [event] 1 + the first lane that waits for the event; next: [lane] 1 + the next lane that waits for the
     * same event; 0: none */
    uint32_t *waiting = arena_array(c->a, events + 1, sizeof *waiting);
    uint32_t *next = arena_array(c->a, (size_t)n + 1, sizeof *next);
    /* [lane] the *k of next_wait() for the lane's next event */
    uint32_t *asked = arena_array(c->a, (size_t)n + 1, sizeof *asked);
    c->done = arena_array(c->a, (size_t)n + 1, sizeof *c->done);
    for (uint32_t l = 0; l < n; l++) {
        c->done[l] = s->at[l] * c->samples;
        list[l] = l;
    }
    while (ready) {
        uint32_t l = list[--ready];
        missing[l] = NONE;
        while (c->done[l] < s->at[l + 1] * c->samples && missing[l] == NONE) {
            uint32_t e = c->done[l], on = next_wait(c, c->item[e], &asked[l]);
            if (on == NONE) {
                asked[l] = 0;
                c->done[l]++;
                for (uint32_t k = waiting[e]; k; k = next[k - 1])
                    list[ready++] = k - 1;
                continue;
            }
            uint32_t wanted = c->event[(size_t)on * c->samples + c->sample[e]];
            if (wanted < c->done[c->lane_of[on]])
                continue;
            missing[l] = wanted;
            next[l] = waiting[wanted];
            waiting[wanted] = l + 1;
        }
    }
    for (uint32_t l = 0; l < n; l++)
        if (missing[l] != NONE)
            return refuse_circle(c, l, missing);
    return true;
}

/* ---- memory and queues ------------------------------------------------------------------------ */

/* Returns x, or INT64_MAX if x is larger. */
static int64_t clamp_to_int64(__int128 x)
{
    return x > INT64_MAX ? INT64_MAX : (int64_t)x;
}

/* Sets s->peak of a device to the most bytes in use at one time along the device's computing lane. lasting: bytes in
 * use all the time. */
static void find_peak(struct schedule_state *c, uint32_t dev, int64_t lasting)
{
    const struct sample_work *w = c->w;
    __int128 now = lasting, top = now;
    for (uint32_t e = c->s->at[dev] * c->samples; e < c->s->at[dev + 1] * c->samples; e++) {
        const struct instruction *i = item_at(c, c->item[e]);
        if (i->kind == DO_REDUCE)
            continue; /* sums are reduced in place */
        if (i->kind == DO_COMPUTE) {
            if (now + w->part[i->what].running > top)
                top = now + w->part[i->what].running;
            for_row (t, w->out, i->what)
                now += w->tensor[t].bytes;
        } else {
            now += (i->kind == DO_ALLOC ? 1 : -1) * (__int128)w->tensor[i->what].bytes;
        }
        if (now > top)
            top = now;
    }
    c->s->peak[dev] = clamp_to_int64(top);
}

/* Sets s->queue of each receiving lane of a device: the largest number of tensors whose ALLOC may be done before
 * their RECV.  When a part runs, its inputs have been received, and so has every tensor earlier in the same receiving
 * lane. */
static void find_queues(struct schedule_state *c, uint32_t dev)
{
    const struct sample_work *w = c->w;
    uint32_t n = w->ndev;
    /* [sender] numbers of tensors from the sender; allocated: with ALLOC done; received: certainly received */
    uint32_t *allocated = arena_array(c->a, (size_t)n + 1, sizeof *allocated);
    uint32_t *received = arena_array(c->a, (size_t)n + 1, sizeof *received);
    for (uint32_t e = c->s->at[dev] * c->samples; e < c->s->at[dev + 1] * c->samples; e++) {
        const struct instruction *i = item_at(c, c->item[e]);
        if (i->kind == DO_ALLOC) {
            uint32_t from = home_of(c, i->what), *most = &c->s->queue[lane_recv(n, dev, from)];
            uint32_t ahead = ++allocated[from] - received[from];
            *most = larger_u32(ahead, *most);
        }
        if (i->kind != DO_COMPUTE)
            continue;
        for_row (t, w->in, i->what) {
            uint32_t from = home_of(c, t);
            if (from == dev)
                continue;
            uint32_t recv = c->recv[work_place(w, t, dev)];
            uint32_t event = c->event[(size_t)recv * c->samples + c->sample[e]];
            uint32_t nth = event - c->s->at[c->lane_of[recv]] * c->samples + 1;
            received[from] = larger_u32(nth, received[from]);
        }
    }
}

/* ---- the whole check -------------------------------------------------------------------------- */

/* Returns an array with room for n items, all NONE. */
static uint32_t *items_new(struct arena *a, uint32_t n)
{
    uint32_t *item = arena_array(a, (size_t)n + 1, sizeof *item);
    memset(item, 0xff, ((size_t)n + 1) * sizeof *item); /* NONE */
    return item;
}

const char *schedule_prove(const struct sample_work *w, struct schedule *s, struct arena *a)
{
    uint32_t places = w->place.at[w->ntensor];
    struct schedule_state c = {.w = w, .s = s, .a = arena_new(a), .samples = s->in_flight};
    assert(s->nlane == lane_count(w->ndev));
    c.lane_of = arena_array(c.a, (size_t)s->at[s->nlane] + 1, sizeof *c.lane_of);
    c.compute = items_new(c.a, w->npart);
    c.reduce = items_new(c.a, w->npart);
    c.alloc = items_new(c.a, places);
    c.send = items_new(c.a, places);
    c.recv = items_new(c.a, places);
    c.free = items_new(c.a, places);
    memset(s->queue, 0, s->nlane * sizeof *s->queue);
    uint32_t most_rounds;
    bool good = note_all(&c) && check_all_there(&c) && check_parts(&c) && check_sends(&c) &&
                check_lifetimes(&c) && check_sums(&c) && check_size(&c, &most_rounds);
    if (good) {
        unroll(&c, most_rounds);
        good = check_deadlock(&c);
    }
    int64_t *lasting = arena_array(c.a, (size_t)w->ndev + 1, sizeof *lasting);
    for (uint32_t x = 0; x < w->npart; x++)
        lasting[w->part[x].dev] = sat_add(lasting[w->part[x].dev], w->part[x].lasting);
    for (uint32_t d = 0; good && d < w->ndev; d++) {
        find_peak(&c, d, lasting[d]);
        find_queues(&c, d);
    }
    const char *why = good ? NULL : arena_strdup(a, c.why, strlen(c.why));
    arena_free(c.a);
    return why;
}

const char *schedule_check(const struct sample_work *w, const struct schedule *s, struct arena *a)
{
    struct schedule own = *s;
    own.queue = arena_array(a, (size_t)s->nlane + 1, sizeof *own.queue);
    own.peak = arena_array(a, (size_t)w->ndev + 1, sizeof *own.peak);
    const char *why = schedule_prove(w, &own, a);
    for (uint32_t l = 0; !why && l < s->nlane; l++)
        if (s->queue[l] < own.queue[l]) {
            /* only lanes that receive have queues: finds the two devices of the lane from its number (lane_recv()) */
            uint32_t to = (l - lane_recv(w->ndev, /*to=*/0, /*from=*/0)) / (w->ndev + 1);
            uint32_t from = (l - lane_recv(w->ndev, /*to=*/0, /*from=*/0)) % (w->ndev + 1);
            why = arena_fmt(a, "%s has room for %u tensors at once from %s and needs it for %u",
                            w->dev_name[to], s->queue[l], w->dev_name[from], own.queue[l]);
        }
    for (uint32_t d = 0; !why && d < w->ndev; d++)
        if (s->peak[d] < own.peak[d])
            why = arena_fmt(a, "%s is said to need %" PRId64 " bytes at most and needs %" PRId64,
                            w->dev_name[d], s->peak[d], own.peak[d]);
    return why ? why : schedule_fits(w, s, a);
}

const char *schedule_fits(const struct sample_work *w, const struct schedule *s, struct arena *a)
{
    for (uint32_t d = 0; d < w->ndev; d++) {
        char need[UNIT_TEXT], have[UNIT_TEXT];
        if (w->memory[d] < 0 || s->peak[d] <= w->memory[d])
            continue;
        const char *samples = w->each ? ""
                                      : arena_fmt(a, " for %u sample%s in flight", s->in_flight,
                                                  s->in_flight == 1 ? "" : "s");
        return arena_fmt(a, "%s needs %s at once%s and has %s", w->dev_name[d],
                         bytes_short(need, s->peak[d]), samples, bytes_short(have, w->memory[d]));
    }
    return NULL;
}
