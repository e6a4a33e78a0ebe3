/* Following the lists of a schedule (runner.h; ir/plan/schedule.h says what instructions mean and wait for).
 *
 * A lane stands at an instruction of one sample.  Lanes move under the lock: each goes on until its instruction has to
 * wait, and is then woken by what it waits for; COMPUTE is left to the device's thread.  How often each instruction was
 * executed is counted: instruction i of sample k is done if its count is above k, and may be executed when it is k. A
 * lane skips instructions of samples that are not to run, as in the first and last rounds; so after an error at sample
 * k the lists do what they do in a run of k samples, and end in the same way.
 *
 * A SEND to another rank is done when its receiver has taken the message, a round trip later.  The SEND of the next
 * sample begins meanwhile, so that no link is idle for a round trip after each message; the number of messages under
 * way is bounded by FREE, which waits for SEND.
 *
 * ALLOC waits for room in the receiving queue, if the file gives the queue less room than it needs.  O(1) for an
 * instruction that is executed or skipped, and for a lane that is woken. */
#include "tools/run/ranks.h"
#include "tools/run/runner.h"

#include "ir/base/json_in.h"
#include "ir/base/numbers.h"
#include "ir/plan/schedule_check.h"

#include <string.h>

enum { SHOWN = 16 }; /* number of lanes that lists_where() names, at most */
enum { MOVES = 4 };  /* kinds of instructions about tensors: SEND, RECV, ALLOC, FREE */

/* A list that is being executed. */
struct lane {
    uint32_t dev; /* the device that executes the list; ndev: the host */
    /* index of its instruction in schedule.item; behind the last one: the lane is at its end */
    uint32_t item;
    uint32_t from, to; /* instructions [from, to) are those of its phase */
    int64_t low, high; /* least and largest offset of the instructions of the phase */
    int64_t base;      /* first sample of the chunk */
    int64_t round;     /* number of the round in the chunk */
    /* 1 + the next lane in a list of lanes that wait for a key, or that are to move; 0: none */
    uint32_t next;
    bool computing; /* the lane's instruction, a COMPUTE, is left to the device's thread */
};

/* All lists. */
struct run_lists {
    struct lane *lane; /* [nlane] */
    uint32_t first;    /* 1 + the first lane that is to move; 0: none */
    uint32_t *waiting; /* [key] 1 + the first lane that waits for the key; 0: none */
    int64_t *count;    /* [key] how often the instruction of the key was executed */
    int64_t *begun;    /* [place] number of messages to another rank that have begun to leave */
    /* [lane] of a receiving lane: number of tensors that have room and are not received yet */
    uint32_t *queued;
    uint32_t nkey;
};

/* ---- keys: what is counted and waited for ------------------------------------------------------ */

/* Returns the number of places: pairs of a tensor and a device. */
static uint32_t places(const struct runner *r)
{
    return r->w->place.at[r->w->ntensor];
}

/* Returns the key of the COMPUTE of a part. */
static uint32_t key_ran(uint32_t part)
{
    return part;
}

/* Returns the key of an instruction other than COMPUTE.  place: index in place.to of its tensor and device. */
static uint32_t key_of(const struct runner *r, enum do_kind kind, uint32_t place)
{
    return r->w->npart + ((uint32_t)kind - DO_SEND) * places(r) + place;
}

/* Returns the key for room in the queue of a receiving lane. */
static uint32_t key_room(const struct runner *r, uint32_t lane)
{
    return r->w->npart + MOVES * places(r) + lane;
}

/* Returns the key that lanes wait for until another sample, or a state, comes in. */
static uint32_t key_loaded(const struct runner *r)
{
    return r->w->npart + MOVES * places(r) + r->schedule->nlane;
}

/* Returns the device that makes a tensor; ndev: the host. */
static uint32_t home_of(const struct runner *r, uint32_t tensor)
{
    return r->w->place.to[r->w->place.at[tensor]];
}

/* ---- lanes ------------------------------------------------------------------------------------ */

/* Returns the instruction at which a lane stands. */
static const struct instruction *at(const struct runner *r, const struct lane *l)
{
    return &r->schedule->item[l->item];
}

/* Returns the index behind the last instruction of a lane. */
static uint32_t end_of(const struct runner *r, const struct lane *l)
{
    return r->schedule->at[l - r->lists->lane + 1];
}

/* Whether a lane has no further instruction. */
static bool at_end(const struct runner *r, const struct lane *l)
{
    return l->item == end_of(r, l);
}

/* Returns the sample that a lane's instruction is about now. */
static int64_t sample_of(const struct runner *r, const struct lane *l)
{
    return l->base + l->round + at(r, l)->offset;
}

/* Begins the phase whose first instruction is `from`: sets the lane's fields from, to, item, low and high, and the
 * first round, in which the instruction with the largest offset is about the first sample. */
static void begin_phase(const struct runner *r, struct lane *l, uint32_t from)
{
    const struct instruction *i = r->schedule->item;
    l->from = l->to = l->item = from;
    l->low = INT64_MAX;
    l->high = INT64_MIN;
    for (; l->to < end_of(r, l) && i[l->to].phase == i[from].phase; l->to++) {
        l->low = smaller(l->low, i[l->to].offset);
        l->high = larger(l->high, i[l->to].offset);
    }
    l->round = -l->high;
}

/* Moves a lane to the next instruction, of any sample; after the last round, in which the instruction with the least
 * offset is about the last sample, to the next phase, then to the next chunk, then to its end. */
static void step(const struct runner *r, struct lane *l)
{
    int64_t samples = smaller(r->chunk, r->n - l->base);
    uint32_t lane = (uint32_t)(l - r->lists->lane);
    if (++l->item < l->to)
        return;
    l->item = l->from;
    if (++l->round < samples - l->low)
        return;
    if (l->to < r->schedule->at[lane + 1]) {
        begin_phase(r, l, l->to);
    } else if (r->n - l->base > r->chunk) {
        l->base += r->chunk;
        begin_phase(r, l, r->schedule->at[lane]);
    } else {
        l->item = r->schedule->at[lane + 1];
    }
}

/* If a lane stands at an instruction that is not to be executed, moves the lane to the next instruction that is. */
static void skip(const struct runner *r, struct lane *l)
{
    while (!at_end(r, l)) {
        int64_t k = sample_of(r, l);
        if (k >= l->base && k < l->base + r->chunk && k < r->n)
            return;
        step(r, l);
    }
}

/* ---- waiting ---------------------------------------------------------------------------------- */

/* Adds a lane to the list of lanes that move_all() moves. */
static void push(struct runner *r, uint32_t lane)
{
    struct run_lists *x = r->lists;
    x->lane[lane].next = x->first;
    x->first = lane + 1;
}

/* Adds all lanes that wait for a key to the list of lanes that move_all() moves. */
static void wake(struct runner *r, uint32_t key)
{
    uint32_t lane = r->lists->waiting[key];
    r->lists->waiting[key] = 0;
    while (lane) {
        uint32_t next = r->lists->lane[lane - 1].next;
        push(r, lane - 1);
        lane = next;
    }
}

/* Counts that the instruction of a key was executed, and wakes the lanes that wait for it. */
static void done(struct runner *r, uint32_t key)
{
    r->lists->count[key]++;
    r->moves++;
    wake(r, key);
}

/* Whether the instruction of the key was executed for sample k. */
static bool was_done(const struct runner *r, uint32_t key, int64_t k)
{
    return r->lists->count[key] > k;
}

/* Returns the key that the COMPUTE of a part of sample k waits for; RUN_NONE: it need not wait. */
static uint32_t compute_waits(struct runner *r, uint32_t part, int64_t k)
{
    const struct split_part *p = &r->s.part[part];
    const struct flight *f = flight_of(r, k);
    uint32_t dev = r->w->part[part].dev;
    if (f->sample != k)
        return key_loaded(r);
    for (uint32_t i = 0; i < p->nin; i++) {
        uint32_t t = r->wires.tensor[p->in[i]],
                 place = t == RUN_NONE ? RUN_NONE : work_place(r->w, t, dev);
        if (place == RUN_NONE) {
            if (!f->box[p->in[i]]) /* it comes with the sample, or as a state: no list brings it */
                return key_loaded(r);
            continue;
        }
        uint32_t here =
            home_of(r, t) == dev ? key_ran(r->w->tensor[t].from) : key_of(r, DO_RECV, place);
        if (!was_done(r, here, k))
            return here;
        if (was_done(r, key_of(r, DO_FREE, place), k))
            return key_of(r, DO_FREE, place); /* waits for ever: the tensor was freed too early */
    }
    return RUN_NONE;
}

/* Returns the key that an ALLOC for a receiving lane waits for; RUN_NONE: it need not wait.  After an error it never
 * waits, since tensors of samples that were given up stay in the queues. */
static uint32_t alloc_waits(const struct runner *r, uint32_t lane)
{
    bool room = r->lists->queued[lane] < r->schedule->queue[lane];
    return room || r->failed ? RUN_NONE : key_room(r, lane);
}

/* Returns the key if its instruction was not executed for sample k yet; RUN_NONE if it was. */
static uint32_t until_done(const struct runner *r, uint32_t key, int64_t k)
{
    return was_done(r, key, k) ? RUN_NONE : key;
}

/* Returns the key that the instruction of a lane waits for; RUN_NONE: it can be executed now.
 *
 * ALLOC waits for room in the queue; SEND for the tensor and for the receiver's ALLOC; RECV for the SEND; FREE at a
 * receiver for the RECV; FREE at the tensor's own device for the tensor and all its SENDs. */
static uint32_t waits_for(struct runner *r, const struct lane *l)
{
    const struct instruction *i = at(r, l);
    const struct sample_work *w = r->w;
    int64_t k = sample_of(r, l);
    uint32_t to = i->kind == DO_SEND ? i->other : l->dev;
    uint32_t place = i->kind == DO_COMPUTE ? RUN_NONE : work_place(w, i->what, to);
    uint32_t own = i->kind == DO_COMPUTE ? key_ran(i->what) : key_of(r, i->kind, place);
    bool message = i->kind == DO_SEND && !ranks_have(r, to);
    if ((message ? r->lists->begun[place] : r->lists->count[own]) != k)
        return own; /* waits for ever: the list has the instruction twice, or not in the order of samples */
    if (i->kind == DO_COMPUTE)
        return compute_waits(r, i->what, k);
    /* The device that makes the tensor (ndev: the host), and its place there; the key of its making, and whether it is
     * made. */
    uint32_t home = home_of(r, i->what), first = w->place.at[i->what];
    uint32_t made = home == w->ndev ? key_loaded(r) : key_ran(w->tensor[i->what].from);
    bool there = home == w->ndev ? flight_of(r, k)->sample == k : was_done(r, made, k);
    switch ((enum do_kind)i->kind) {
    case DO_ALLOC:
        if (!ranks_have(r, home) && flight_of(r, k)->sample != k)
            return key_loaded(r); /* a message is received for a sample that has begun */
        return alloc_waits(r, lane_recv(w->ndev, l->dev, home));
    case DO_SEND:
        if (!there)
            return made;
        if (home < w->ndev && was_done(r, key_of(r, DO_FREE, first), k))
            return key_of(r, DO_FREE, first); /* waits for ever: the tensor was freed too early */
        /* the host has no ALLOC; the ALLOC of another rank is not counted in this process */
        if (to == w->ndev || !ranks_have(r, to))
            return RUN_NONE;
        return until_done(r, key_of(r, DO_ALLOC, place), k);
    case DO_RECV:
        return until_done(r, key_of(r, DO_SEND, place), k);
    case DO_FREE:
        if (l->dev != home)
            return until_done(r, key_of(r, DO_RECV, place), k);
        if (!there)
            return made;
        for (uint32_t x = first + 1; x < w->place.at[i->what + 1]; x++)
            if (!was_done(r, key_of(r, DO_SEND, x), k))
                return key_of(r, DO_SEND, x);
        return RUN_NONE;
    default:
        return RUN_NONE;
    }
}

/* ---- executing -------------------------------------------------------------------------------- */

/* Adds `bytes`, below 0 if they are freed, to the bytes that a device holds by the plan's rules. */
static void hold_bytes(struct runner *r, uint32_t dev, int64_t bytes)
{
    struct run_device *d = &r->dev[dev];
    d->bytes += bytes;
    d->most = larger(d->most, d->bytes);
}

/* Called when a device or the host takes a tensor that crosses: makes room in the device's queue, or counts an output
 * at the host; notes the time of the transfer. */
static void receive(struct runner *r, const struct lane *l, struct flight *f, uint32_t tensor)
{
    uint32_t home = home_of(r, tensor), queue = lane_recv(r->w->ndev, l->dev, home);
    int64_t now = run_now(r);
    if (l->dev < r->w->ndev) {
        r->lists->queued[queue]--;
        wake(r, key_room(r, queue));
    } else {
        f->to_come--;
        flight_note_end(r, f, now);
    }
    if (l->dev < r->w->ndev && home < r->w->ndev && ranks_have(r, home))
        times_add(&r->figures.transfer, now - f->made[r->wires.value[tensor]]);
}

/* Executes the instruction of a lane, which waits for nothing and is no COMPUTE: begins messages to or from other
 * ranks; counts queues, holders of the tensor's box and bytes; and wakes lanes that wait for the instruction. */
static void execute(struct runner *r, const struct lane *l)
{
    const struct instruction *i = at(r, l);
    const struct sample_work *w = r->w;
    struct flight *f = flight_of(r, sample_of(r, l));
    uint32_t to = i->kind == DO_SEND ? i->other : l->dev;
    uint32_t place = work_place(w, i->what, to);
    if (i->kind == DO_SEND && !ranks_have(r, to)) {
        r->lists->begun[place]++;
        ranks_send(r, f, i->what, place);
        return; /* lists_moved() counts it when its message has left */
    }
    if (i->kind == DO_ALLOC) {
        if (!ranks_have(r, home_of(r, i->what)))
            ranks_take(r, f, i->what, place);
        r->lists->queued[lane_recv(w->ndev, l->dev, home_of(r, i->what))]++;
        hold_bytes(r, l->dev, w->tensor[i->what].bytes);
    } else if (i->kind == DO_SEND) {
        f->holders[r->wires.value[i->what]]++;
    } else if (i->kind == DO_RECV) {
        receive(r, l, f, i->what);
    } else {
        bool home = l->dev == home_of(r, i->what);
        hold_bytes(r, l->dev,
                   home ? -f->bytes[r->wires.value[i->what]] : -w->tensor[i->what].bytes);
        box_drop(r, f, r->wires.value[i->what]);
        if (f->held == 0) /* the sample's place may be free for another one */
            run_wake_host(r);
    }
    done(r, key_of(r, i->kind, place));
}

/* Leaves the COMPUTE that a lane stands at to its device's thread. */
static void offer(struct runner *r, struct lane *l)
{
    struct run_device *d = &r->dev[l->dev];
    l->computing = true;
    d->next_part = at(r, l)->what;
    d->next_sample = sample_of(r, l);
    pthread_cond_signal(&d->work);
}

/* Moves a lane until its instruction has to wait, or is a COMPUTE, which it offers to the thread, or the lane ends. */
static void move(struct runner *r, struct lane *l)
{
    struct run_lists *x = r->lists;
    skip(r, l);
    while (!at_end(r, l)) {
        uint32_t key = waits_for(r, l);
        if (key != RUN_NONE) { /* adds the lane to those that wait for the key */
            l->next = x->waiting[key];
            x->waiting[key] = (uint32_t)(l - x->lane) + 1;
            return;
        }
        if (at(r, l)->kind == DO_COMPUTE) {
            offer(r, l);
            return;
        }
        execute(r, l);
        step(r, l);
        skip(r, l);
    }
}

/* Moves the lanes of the list lists->first, and lanes that these wake, until the list is empty. */
static void move_all(struct runner *r)
{
    while (r->lists->first) {
        struct lane *l = &r->lists->lane[r->lists->first - 1];
        r->lists->first = l->next;
        move(r, l);
    }
}

void lists_move(struct runner *r)
{
    struct run_lists *x = r->lists;
    x->first = 0;
    /* no lane waits any more: all lanes look again */
    memset(x->waiting, 0, x->nkey * sizeof *x->waiting);
    for (uint32_t l = 0; l < r->schedule->nlane; l++) {
        bool device = l < r->w->ndev;
        if (device && r->dev[l].part != RUN_NONE)
            continue; /* the device's thread runs a part, and moves the lane behind it */
        if (device)
            r->dev[l].next_part = RUN_NONE;
        x->lane[l].computing = false;
        if (!at_end(r, &x->lane[l]))
            push(r, l);
    }
    move_all(r);
}

void lists_loaded(struct runner *r)
{
    wake(r, key_loaded(r));
    move_all(r);
}

void lists_moved(struct runner *r, uint32_t place)
{
    done(r, key_of(r, DO_SEND, place));
    move_all(r);
}

void lists_ran(struct runner *r, uint32_t d)
{
    struct lane *l = &r->lists->lane[d];
    uint32_t part = at(r, l)->what;
    l->computing = false;
    step(r, l);
    done(r, key_ran(part));
    push(r, d);
    move_all(r);
}

const char *lists_where(struct runner *r, struct arena *a)
{
    const char *text = "";
    uint32_t shown = 0;
    for (uint32_t k = 0; k < r->schedule->nlane; k++) {
        const struct lane *l = &r->lists->lane[k];
        if (at_end(r, l) || l->computing)
            continue;
        if (shown++ < SHOWN)
            text = arena_fmt(
                a, "%s%s%s", text, *text ? "; " : "",
                instruction_text(r->w, at(r, l), l->dev, r->set.first + sample_of(r, l), a));
    }
    return shown <= SHOWN ? text : arena_fmt(a, "%s; and %u more", text, shown - SHOWN);
}

/* ---- making ----------------------------------------------------------------------------------- */

/* Checks, for lists that were not proven, that a lane's instructions are about parts and tensors of its device.
 * Returns 0, or -1 and an error. */
static int check_lane(struct runner *r, uint32_t lane)
{
    const struct sample_work *w = r->w;
    uint32_t dev = lane_device(w->ndev, lane);
    for (uint32_t k = r->schedule->at[lane]; k < r->schedule->at[lane + 1]; k++) {
        const struct instruction *i = &r->schedule->item[k];
        bool part = i->kind == DO_COMPUTE;
        uint32_t to = i->kind == DO_SEND ? i->other : dev;
        bool good = part ? w->part[i->what].dev == dev && lane < w->ndev
                         : work_place(w, i->what, to) != RUN_NONE;
        if (good && (i->kind == DO_SEND || i->kind == DO_RECV || i->kind == DO_ALLOC))
            good = to != home_of(r, i->what) && (i->kind != DO_SEND || dev == home_of(r, i->what));
        if (!good)
            return diag_error(r->d, "%s/%s: '%s' has no place in a list of %s", r->set.folder,
                              json_get_text(r->s.manifest, "schedule"),
                              part ? w->part[i->what].name : w->tensor[i->what].name,
                              w->dev_name[dev]);
    }
    return 0;
}

int lists_make(struct runner *r)
{
    struct run_lists *x = r->lists = arena_alloc(r->a, sizeof *x);
    const struct schedule *s = r->schedule;
    x->nkey = key_loaded(r) + 1;
    x->lane = arena_array(r->a, (size_t)s->nlane + 1, sizeof *x->lane);
    x->waiting = arena_array(r->a, x->nkey, sizeof *x->waiting);
    x->count = arena_array(r->a, x->nkey, sizeof *x->count);
    x->begun = arena_array(r->a, (size_t)places(r) + 1, sizeof *x->begun);
    x->queued = arena_array(r->a, (size_t)s->nlane + 1, sizeof *x->queued);
    for (uint32_t k = 0; k < s->nlane; k++) {
        x->lane[k].dev = lane_device(r->w->ndev, k);
        if (check_lane(r, k))
            return -1;
        if (s->at[k] < s->at[k + 1] && ranks_have(r, x->lane[k].dev))
            begin_phase(r, &x->lane[k], s->at[k]);
        else
            x->lane[k].item = s->at[k + 1];
    }
    return 0;
}
