/* The event core (events.h).
 *
 * One heap holds the moments to come: ends of running items, and release times of items that wait for nothing else.
 * An item is ready when all items that it waits for have ended and its release time has come; from that moment until
 * the item starts, start[item] holds the moment.
 *
 * Requests wait in queues, one queue for all requests of the same lanes; only the first of a queue can start next.  If
 * one of its lanes is full, the queue is put into the list of that lane and tried again when an item ends there. */
#include "ir/exec/events.h"

#include "ir/base/heap.h"
#include "ir/base/map.h"
#include "ir/base/numbers.h"
#include "ir/base/units.h"

#include <assert.h>
#include <string.h>

enum {
    STARTED = UINT32_MAX, /* in run.left: the item has started */
    LOOK_EACH = 4096      /* moments between two looks at the clock */
};

/* The ready requests (items) that need the same lanes. */
struct queue {
    struct heap ready; /* items, in the order in which they became ready; ties by rank */
    /* 1 + the next queue in the list of queues that the same lane blocks; 0: none */
    uint32_t next;
    bool pending; /* the queue is blocked by a lane, or in run.tried or run.request */
};

/* What is on a lane at the current moment. */
struct lane_state {
    uint32_t held;     /* number of running items on the lane */
    uint32_t at;       /* LIST: position in g->list.to of the lane's next item */
    uint32_t ended;    /* the item that ended last on the lane; NO_ITEM: none yet */
    uint32_t started;  /* the item that started last; NO_ITEM: none yet */
    struct heap ready; /* FIFO, RANK: ready items of tasks that hold no other lane */
    uint32_t blocked; /* 1 + the first queue that this lane blocks, linked by queue.next; 0: none */
    bool changed;     /* the lane is in run.changed */
};

/* State of a run.  An instance of a buffer is the memory that one instance of its task allocates. */
struct run {
    const struct task_graph *g;
    struct timeline *t; /* the result */
    struct arena *a;
    /* [item] the task of the item; NULL: each task has one item with the same number */
    uint32_t *task_of;
    /* [item] number of items that it still waits for, or 1 while it waits for its release time only; 0: it is ready;
     * STARTED: it has started */
    uint32_t *left;
    struct csr next; /* task -> tasks that wait for this task */
    struct csr made; /* task -> buffers that begin with this task */
    struct csr used; /* task -> buffers that the task uses */
    /* [buffer] number of its first instance; NULL: each buffer has one instance, with the number of the buffer */
    uint32_t *buffer_first;
    uint32_t *uses;      /* [instance of a buffer] number of items that still have to use it */
    int64_t *bytes;      /* [dev] bytes in its memory now */
    uint8_t *listed;     /* [task] 1: its items stand in the lists of its lanes */
    uint32_t *queue_of;  /* [task] queue of a request; NULL: there are no requests */
    struct queue *queue; /* the nqueue queues of requests */
    uint32_t nqueue;
    struct lane_state *lane; /* [lane] what the lane runs, and what waits for it */
    /* items by the time (ps) of their next event: their end, or their release */
    struct heap moment;
    struct heap delay;           /* ready items without lanes */
    uint32_t *tried, ntried;     /* queues whose first request may be able to start now */
    struct heap request;         /* the first request of each queue in `tried` */
    uint32_t *changed, nchanged; /* lanes on which an item may be able to start now */
};

/* Returns the task of an item. */
static uint32_t task_at(const struct run *r, uint32_t item)
{
    return r->task_of ? r->task_of[item] : item;
}

/* Returns the first instance of a buffer. */
static uint32_t first_of(const struct run *r, uint32_t buffer)
{
    return r->buffer_first ? r->buffer_first[buffer] : buffer;
}

/* ---- setting up ------------------------------------------------------------------------------- */

bool task_graph_number(struct task_graph *g, struct arena *a)
{
    uint64_t n = 0;
    g->first = arena_array(a, (size_t)g->ntask + 1, sizeof *g->first);
    for (uint32_t t = 0; t < g->ntask; t++) {
        assert(g->task[t].count >= 1 && g->task[t].time >= 0);
        n += g->task[t].count;
        if (n >= NO_ITEM)
            return false;
        g->first[t + 1] = (uint32_t)n;
    }
    return true;
}

uint32_t task_of_item(const struct task_graph *g, uint32_t item)
{
    assert(item < g->first[g->ntask]);
    return count_below(g->first + 1, g->ntask - 1, item + 1);
}

/* The instances from, from + 1, ..., to - 1 of a task. */
struct instances {
    uint32_t from, to;
};

/* Returns the instances of task `on` to which instance i of task t is related, where t waits for `on` or uses a
 * buffer that `on` allocates.  By the rule of tasks.h: instance i if both tasks have as many instances, else all. */
static struct instances related_instances(const struct task_graph *g, uint32_t t, uint32_t i,
                                          uint32_t on)
{
    if (g->task[t].count != g->task[on].count)
        return (struct instances){0, g->task[on].count};
    return (struct instances){i, i + 1};
}

/* Returns the number of instances that related_instances() gives, which is the same for every i. */
static uint32_t count_related(const struct task_graph *g, uint32_t t, uint32_t on)
{
    struct instances x = related_instances(g, t, 0, on);
    return x.to - x.from;
}

/* Sets *t to the timeline of a run in which no item has started, with arrays for all items, lanes and devices of g. */
static void set_up_timeline(struct timeline *t, const struct task_graph *g, struct arena *a)
{
    *t = (struct timeline){.last = NO_ITEM, .over_item = NO_ITEM, .nitem = g->first[g->ntask]};
    t->start = arena_array(a, (size_t)t->nitem + 1, sizeof *t->start);
    t->because = arena_array(a, (size_t)t->nitem + 1, sizeof *t->because);
    memset(t->because, 0xff, ((size_t)t->nitem + 1) * sizeof *t->because); /* NO_ITEM */
    t->busy = arena_array(a, (size_t)g->nlane + 1, sizeof *t->busy);
    t->peak = arena_array(a, (size_t)g->ndev + 1, sizeof *t->peak);
    t->peak_at = arena_array(a, (size_t)g->ndev + 1, sizeof *t->peak_at);
}

/* Numbers the items task by task, and counts how many items each one waits for: fills task_of, left and next of r. */
static void set_up_items(struct run *r)
{
    const struct task_graph *g = r->g;
    struct timeline *t = r->t;
    r->left = arena_array(r->a, (size_t)t->nitem + 1, sizeof *r->left);
    if (t->nitem > g->ntask)
        r->task_of = arena_array(r->a, t->nitem, sizeof *r->task_of);
    for (uint32_t k = 0; k < g->ntask; k++) {
        uint32_t waits = 0;
        for_row (on, g->waits, k)
            waits += count_related(g, k, on);
        for (uint32_t i = g->first[k]; i < g->first[k + 1]; i++) {
            r->left[i] = waits;
            if (r->task_of)
                r->task_of[i] = k;
        }
    }
    r->next = csr_transpose(r->a, &g->waits, g->ntask, g->ntask);
}

/* Makes the state of all lanes, which are free and stand at the first items of their lists; marks the tasks that
 * stand in lists (r->listed), and allocates r->changed. */
static void set_up_lanes(struct run *r)
{
    const struct task_graph *g = r->g;
    r->lane = arena_array(r->a, (size_t)g->nlane + 1, sizeof *r->lane);
    r->changed = arena_array(r->a, (size_t)g->nlane + 1, sizeof *r->changed);
    r->listed = arena_alloc(r->a, (size_t)g->ntask + 1);
    for (uint32_t l = 0; l < g->nlane; l++) {
        struct lane_state *x = &r->lane[l];
        x->ready.a = r->a;
        x->ended = x->started = NO_ITEM;
        x->at = g->list.at ? g->list.at[l] : 0;
        for (uint32_t i = x->at; g->list.at && i < g->list.at[l + 1]; i++)
            r->listed[task_at(r, g->list.to[i])] = 1;
    }
}

/* Whether task k is a request (events.h). */
static bool is_request(const struct run *r, uint32_t k)
{
    const struct task *x = &r->g->task[k];
    return x->lane[0] != NO_LANE && !r->listed[k] && (x->lane[1] != NO_LANE || x->request);
}

/* Makes a queue for each set of lanes that requests hold, numbered in the order of their first tasks, and fills
 * r->queue_of. */
static void set_up_queues(struct run *r)
{
    const struct task_graph *g = r->g;
    struct map queue = {0};
    for (uint32_t k = 0; k < g->ntask; k++) {
        uint32_t x = g->task[k].lane[0], y = g->task[k].lane[1];
        assert(y >= LANE_SETS || (x < g->nlane && y < g->nlane && x != y));
        assert(y < LANE_SETS || y == NO_LANE || g->set.to[g->set.at[y - LANE_SETS]] == x);
        if (!is_request(r, k))
            continue;
        if (!r->queue_of)
            r->queue_of = arena_array(r->a, (size_t)g->ntask + 1, sizeof *r->queue_of);
        /* tasks that hold the same lanes get the same key; numbers of sets and NO_LANE are above all lanes */
        uint64_t key = x < y ? map_key(x, y) : map_key(y, x);
        uint32_t p = map_get(&queue, key);
        if (!p) {
            p = ++r->nqueue;
            map_set(&queue, r->a, key, p);
        }
        r->queue_of[k] = p - 1;
    }
    r->queue = arena_array(r->a, (size_t)r->nqueue + 1, sizeof *r->queue);
    r->tried = arena_array(r->a, (size_t)r->nqueue + 1, sizeof *r->tried);
    for (uint32_t p = 0; p < r->nqueue; p++)
        r->queue[p].ready.a = r->a;
}

/* After r->bytes[dev] has grown at `at` ps by the start of an item (NO_ITEM: before the run): updates the device's
 * peak, and notes the first moment at which a device is over its memory. */
static void note_bytes(struct run *r, uint32_t dev, uint32_t item, int64_t at)
{
    struct timeline *t = r->t;
    if (r->bytes[dev] > t->peak[dev]) {
        t->peak[dev] = r->bytes[dev];
        t->peak_at[dev] = at;
    }
    if (r->g->memory && r->g->memory[dev] >= 0 && r->bytes[dev] > r->g->memory[dev] && !t->over) {
        t->over = r->bytes[dev] - r->g->memory[dev];
        t->over_item = item;
        t->over_dev = dev;
        t->over_at = at;
    }
}

/* Puts the bytes of g->lasting into the memory of the devices; fills r->made, r->used and r->buffer_first, and counts
 * in r->uses how many items have to use each instance of a buffer. */
static void set_up_buffers(struct run *r)
{
    const struct task_graph *g = r->g;
    r->bytes = arena_array(r->a, (size_t)g->ndev + 1, sizeof *r->bytes);
    for (uint32_t d = 0; d < g->ndev && g->lasting; d++) {
        r->bytes[d] = g->lasting[d];
        note_bytes(r, d, NO_ITEM, 0);
    }
    uint32_t n = 0;
    if (!g->nbuffer)
        return;
    r->made.at = arena_array(r->a, (size_t)g->ntask + 1, sizeof *r->made.at);
    r->made.to = arena_array(r->a, g->nbuffer, sizeof *r->made.to);
    if (r->task_of)
        r->buffer_first = arena_array(r->a, g->nbuffer, sizeof *r->buffer_first);
    for (uint32_t b = 0; b < g->nbuffer; b++) {
        const struct buffer *x = &g->buffer[b];
        assert(x->dev < g->ndev && x->bytes >= 0 && x->task < g->ntask);
        r->made.at[x->task + 1]++;
        if (r->buffer_first)
            r->buffer_first[b] = n;
        n += g->task[x->task].count;
    }
    csr_starts(r->made.at, g->ntask);
    r->uses = arena_array(r->a, n, sizeof *r->uses);
    for (uint32_t b = 0; b < g->nbuffer; b++) {
        uint32_t maker = g->buffer[b].task;
        r->made.to[r->made.at[maker + 1]++] = b;
        for_row (user, g->use, b)
            for (uint32_t k = 0; k < g->task[maker].count; k++)
                r->uses[first_of(r, b) + k] += count_related(g, maker, user);
    }
    r->used = csr_transpose(r->a, &g->use, g->nbuffer, g->ntask);
}

/* ---- which items may start -------------------------------------------------------------------- */

/* Whether the lane can run one more item. */
static bool has_room(const struct run *r, uint32_t lane)
{
    uint32_t width = r->g->lane[lane].width;
    return r->lane[lane].held < (width ? width : 1);
}

/* Puts the lane into the list of lanes on which an item may be able to start now. */
static void mark_changed(struct run *r, uint32_t lane)
{
    if (r->lane[lane].changed)
        return;
    r->lane[lane].changed = true;
    r->changed[r->nchanged++] = lane;
}

/* Puts queue p into the list of queues whose first request may be able to start now. */
static void mark_tried(struct run *r, uint32_t p)
{
    r->queue[p].pending = true;
    r->tried[r->ntried++] = p;
}

/* Makes an item ready at the time `now`, once it waits neither for other items nor for its release
 * time any more: puts it where ready items of its task wait for their lanes. */
static void make_ready(struct run *r, uint32_t item, int64_t now)
{
    uint32_t k = task_at(r, item);
    const struct task *x = &r->g->task[k];
    r->t->start[item] = now;
    if (x->lane[0] == NO_LANE) {
        heap_push(&r->delay, 0, 0, item);
    } else if (r->listed[k]) {
        mark_changed(r, x->lane[0]);
    } else if (is_request(r, k)) {
        struct queue *p = &r->queue[r->queue_of[k]];
        heap_push(&p->ready, now, x->rank, item);
        if (!p->pending)
            mark_tried(r, r->queue_of[k]);
    } else {
        bool by_rank = r->g->lane[x->lane[0]].discipline == LANE_RANK;
        assert(r->g->lane[x->lane[0]].discipline != LANE_LIST);
        heap_push(&r->lane[x->lane[0]].ready, by_rank ? 0 : now, x->rank, item);
        mark_changed(r, x->lane[0]);
    }
}

/* Ends, at the time `now`, the wait of an item for its release time, which was its last wait, and
 * makes the item ready. */
static void make_released(struct run *r, uint32_t item, int64_t now)
{
    r->left[item] = 0;
    make_ready(r, item, now);
}

/* Ends one wait of the item at the time `now`, because the item `by` has ended (NO_ITEM: because
 * the run begins).  After the last wait the item becomes ready, or waits for its release time. */
static void wait_less(struct run *r, uint32_t item, uint32_t by, int64_t now)
{
    assert(r->left[item] && r->left[item] != STARTED);
    if (--r->left[item])
        return;
    int64_t release = r->g->task[task_at(r, item)].release;
    if (release > now) {
        r->left[item] = 1;
        heap_push(&r->moment, release, 0, item);
        return;
    }
    r->t->because[item] = by;
    make_ready(r, item, now);
}

/* ---- starting and ending ---------------------------------------------------------------------- */

/* Allocates the buffers that begin with the item, of task k, on their devices. */
static void allocate_buffers(struct run *r, uint32_t k, uint32_t item, int64_t now)
{
    for_row (x, r->made, k) {
        const struct buffer *b = &r->g->buffer[x];
        r->bytes[b->dev] = sat_add(r->bytes[b->dev], b->bytes);
        note_bytes(r, b->dev, item, now);
    }
}

/* Ends the uses of buffers by the item, of task k, and frees the buffers whose last use this was. */
static void release_buffers(struct run *r, uint32_t k, uint32_t item)
{
    for_row (y, r->used, k) {
        const struct buffer *b = &r->g->buffer[y];
        struct instances x = related_instances(r->g, k, item - r->g->first[k], b->task);
        for (uint32_t j = x.from; j < x.to; j++)
            if (--r->uses[first_of(r, y) + j] == 0)
                r->bytes[b->dev] -= b->bytes;
    }
}

/* Returns the item that held up a ready item of task x until now: an item that ends now on one of its lanes, else an
 * item that starts now on one of them, before it; NO_ITEM: there is neither. */
static uint32_t held_up_by(const struct run *r, const struct task *x, int64_t now)
{
    uint32_t before = NO_ITEM, n;
    const uint32_t *lane = task_lanes(r->g, x, &n);
    for (uint32_t i = 0; i < n; i++) {
        const struct lane_state *l = &r->lane[lane[i]];
        if (l->ended != NO_ITEM &&
            sat_add(r->t->start[l->ended], r->g->task[task_at(r, l->ended)].time) == now)
            return l->ended;
        if (l->started != NO_ITEM && r->t->start[l->started] == now)
            before = l->started;
    }
    return before;
}

/* Starts the item now: notes what held it up if it was ready before, takes its lanes, adds its time to their t->busy,
 * allocates its buffers, and enters its end among the moments to come. */
static void start_item(struct run *r, uint32_t item, int64_t now)
{
    uint32_t k = task_at(r, item), n;
    const struct task *x = &r->g->task[k];
    const uint32_t *lane = task_lanes(r->g, x, &n);
    struct timeline *t = r->t;
    if (t->start[item] < now)
        t->because[item] = held_up_by(r, x, now);
    t->start[item] = now;
    r->left[item] = STARTED;
    for (uint32_t i = 0; i < n; i++) {
        r->lane[lane[i]].held++;
        r->lane[lane[i]].started = item;
        t->busy[lane[i]] = sat_add(t->busy[lane[i]], x->time);
    }
    if (r->g->nbuffer)
        allocate_buffers(r, k, item, now);
    heap_push(&r->moment, sat_add(now, x->time), 0, item);
}

/* Ends the item now: gives its lanes back, so that they and the queues that they block are looked at again, frees
 * buffers, and ends the waits of the items that wait for it.  Updates the end of the timeline. */
static void end_item(struct run *r, uint32_t item, int64_t now)
{
    uint32_t k = task_at(r, item), n;
    const struct task_graph *g = r->g;
    const uint32_t *lane = task_lanes(g, &g->task[k], &n);
    if (now > r->t->end || r->t->last == NO_ITEM) {
        r->t->end = now;
        r->t->last = item;
    }
    for (uint32_t i = 0; i < n; i++) {
        struct lane_state *l = &r->lane[lane[i]];
        l->held--;
        l->ended = item;
        mark_changed(r, lane[i]);
        for (uint32_t p = l->blocked; p; p = r->queue[p - 1].next)
            mark_tried(r, p - 1);
        l->blocked = 0;
    }
    if (g->nbuffer)
        release_buffers(r, k, item);
    for_row (u, r->next, k) { /* y: the instances of task u that wait for this item */
        struct instances y = related_instances(g, k, item - g->first[k], u);
        for (uint32_t j = y.from; j < y.to; j++)
            wait_less(r, g->first[u] + j, item, now);
    }
}

/* ---- a moment --------------------------------------------------------------------------------- */

/* Adds the first request of queue p, which is not empty, to the heap r->request. */
static void push_first(struct run *r, uint32_t p)
{
    const struct heap_entry *first = &r->queue[p].ready.at[0];
    assert(r->queue[p].ready.n);
    heap_push(&r->request, first->key, first->tie, first->item);
}

/* Starts all requests that can start now, in their order.  A queue whose first request finds a full lane goes into
 * the list of queues that this lane blocks. */
static void start_requests(struct run *r, int64_t now)
{
    while (r->ntried)
        push_first(r, r->tried[--r->ntried]);
    while (r->request.n) {
        uint32_t item = heap_pop(&r->request).item, k = task_at(r, item), p = r->queue_of[k];
        uint32_t n, i = 0;
        const uint32_t *lane = task_lanes(r->g, &r->g->task[k], &n);
        struct queue *x = &r->queue[p];
        while (i < n && has_room(r, lane[i]))
            i++;
        if (i < n) {
            x->next = r->lane[lane[i]].blocked;
            r->lane[lane[i]].blocked = p + 1;
            continue;
        }
        heap_pop(&x->ready);
        start_item(r, item, now);
        if (x->ready.n)
            push_first(r, p);
        else
            x->pending = false;
    }
}

/* Returns the next item of the lane's list if it is ready, all its lanes have room and it is next on the lists of all
 * of them; else NO_ITEM. */
static uint32_t startable_head(const struct run *r, uint32_t lane)
{
    const struct csr *list = &r->g->list;
    uint32_t at = r->lane[lane].at;
    if (at == list->at[lane + 1])
        return NO_ITEM;
    uint32_t item = list->to[at], n;
    if (r->left[item])
        return NO_ITEM;
    const uint32_t *held = task_lanes(r->g, &r->g->task[task_at(r, item)], &n);
    for (uint32_t i = 0; i < n; i++) {
        const struct lane_state *l = &r->lane[held[i]];
        if (!has_room(r, held[i]) || l->at == list->at[held[i] + 1] || list->to[l->at] != item)
            return NO_ITEM;
    }
    return item;
}

/* Starts the items that can start on the lane now, by the lane's discipline; requests are not among them. */
static void start_on_lane(struct run *r, uint32_t lane, int64_t now)
{
    struct lane_state *l = &r->lane[lane];
    if (r->g->lane[lane].discipline != LANE_LIST) {
        while (l->ready.n && has_room(r, lane))
            start_item(r, heap_pop(&l->ready).item, now);
        return;
    }
    for (uint32_t item; has_room(r, lane) && (item = startable_head(r, lane)) != NO_ITEM;) {
        uint32_t n;
        const uint32_t *held = task_lanes(r->g, &r->g->task[task_at(r, item)], &n);
        start_item(r, item, now);
        /* the item was the next one in the lists of all lanes that it holds: each list moves on */
        for (uint32_t i = 0; i < n; i++) {
            r->lane[held[i]].at++;
            mark_changed(r, held[i]);
        }
    }
}

/* Starts all items that can start now: those without lanes, requests, then the others lane by lane. */
static void start_all(struct run *r, int64_t now)
{
    while (r->delay.n)
        start_item(r, heap_pop(&r->delay).item, now);
    start_requests(r, now);
    while (r->nchanged) {
        uint32_t lane = r->changed[--r->nchanged];
        r->lane[lane].changed = false;
        start_on_lane(r, lane, now);
    }
}

/* ---- deadlock --------------------------------------------------------------------------------- */

/* Returns an item that never started and that must start before `item`, which never started, either: `item` waits for
 * it, or it is the next item of a list in which `item` stands.  NO_ITEM: there is none. */
static uint32_t blocking_item(const struct run *r, uint32_t item)
{
    const struct task_graph *g = r->g;
    uint32_t k = task_at(r, item), n;
    const uint32_t *held = task_lanes(g, &g->task[k], &n);
    /* left[item] is 0 if the item waits for nothing but its turn in lists */
    for (uint32_t i = g->waits.at[k]; i < g->waits.at[k + 1] && r->left[item]; i++) {
        uint32_t on = g->waits.to[i];
        struct instances x = related_instances(g, k, item - g->first[k], on);
        for (uint32_t j = x.from; j < x.to; j++)
            if (r->left[g->first[on] + j] != STARTED)
                return g->first[on] + j;
    }
    for (uint32_t i = 0; i < n; i++) {
        uint32_t at = r->lane[held[i]].at;
        if (r->listed[k] && at < g->list.at[held[i] + 1] && g->list.to[at] != item)
            return g->list.to[at];
    }
    return NO_ITEM;
}

/* Writes a cycle of waits to t->cycle.  Goes from an item that never started to the item that blocks it, and so on.
 * Each item that never started is blocked by another such item, so at some time an item comes up again, and this item
 * is on a cycle. */
static void find_cycle(struct run *r, uint32_t item)
{
    struct timeline *t = r->t;
    uint8_t *seen = arena_alloc(r->a, t->nitem);
    uint32_t cap = 0;
    for (; item != NO_ITEM && !seen[item]; item = blocking_item(r, item))
        seen[item] = 1;
    assert(item != NO_ITEM);
    uint32_t first = item;
    do {
        t->cycle = vec_grow(r->a, t->cycle, &cap, t->ncycle + 1, sizeof *t->cycle);
        t->cycle[t->ncycle++] = item;
        item = blocking_item(r, item);
    } while (item != first);
}

/* ---- the whole -------------------------------------------------------------------------------- */

/* Ends the waits of the items that wait for no other item.  wait_less() ends one wait, so each item gets one first;
 * then it becomes ready or, if it has a release time, waits for that. */
static void make_first_ready(struct run *r)
{
    for (uint32_t i = 0; i < r->t->nitem; i++)
        if (!r->left[i]) {
            r->left[i] = 1;
            wait_less(r, i, NO_ITEM, 0);
        }
}

/* Runs all items, moment by moment: first ends the items that end then, then starts all items that can start.
 * Returns false if the clock ran out. */
static bool run_moments(struct run *r, struct clock *clock)
{
    uint32_t looks = 0;
    start_all(r, 0);
    while (r->moment.n) {
        int64_t now = r->moment.at[0].key;
        while (r->moment.n && r->moment.at[0].key == now) {
            uint32_t item = heap_pop(&r->moment).item;
            if (r->left[item] == STARTED)
                end_item(r, item, now);
            else
                make_released(r, item, now);
        }
        start_all(r, now);
        if (++looks % LOOK_EACH == 0 && clock_out(clock))
            return false;
    }
    return true;
}

struct timeline events_run(const struct task_graph *g, struct clock *clock, struct arena *a)
{
    assert(g->first);
    struct timeline t;
    set_up_timeline(&t, g, a);
    struct arena_mark before = arena_mark(a);
    struct run r = {.g = g, .t = &t, .a = a, .moment.a = a, .delay.a = a, .request.a = a};
    set_up_items(&r);
    set_up_lanes(&r);
    set_up_queues(&r);
    set_up_buffers(&r);
    make_first_ready(&r);
    if (!run_moments(&r, clock))
        t.status = RUN_STOPPED;
    uint32_t never = NO_ITEM; /* the first item that never started */
    for (uint32_t i = t.nitem; i-- > 0;)
        if (r.left[i] != STARTED) {
            t.start[i] = -1; /* instead of the moment at which it became ready */
            never = i;
        }
    if (t.status == RUN_DONE && never != NO_ITEM) {
        t.status = RUN_DEADLOCK;
        find_cycle(&r, never); /* t.cycle lives in a, too, so the memory of the run stays */
    } else {
        arena_release(a, before);
    }
    return t;
}

const uint32_t *timeline_chain(const struct timeline *t, uint32_t *n, struct arena *a)
{
    *n = 0;
    for (uint32_t i = t->last; i != NO_ITEM; i = t->because[i])
        ++*n;
    uint32_t *chain = arena_array(a, (size_t)*n + 1, sizeof *chain), k = *n;
    for (uint32_t i = t->last; i != NO_ITEM; i = t->because[i])
        chain[--k] = i;
    return chain;
}

const char *timeline_waits(const struct timeline *t, const char *head,
                           const char *(*text)(const void *of, uint32_t item, struct arena *a),
                           const void *of, struct arena *a)
{
    enum { SHOWN = 8 }; /* number of items of a cycle that are named */
    static const char *const joint[] = {" ", " waits for ", ", which waits for "};
    assert(t->ncycle > 0);
    for (uint32_t i = 0; i <= t->ncycle && i < SHOWN; i++)
        head = arena_fmt(a, "%s%s%s", head, joint[i < 2 ? i : 2],
                         text(of, t->cycle[i % t->ncycle], a));
    return t->ncycle < SHOWN ? head : arena_fmt(a, "%s, and so on", head);
}
