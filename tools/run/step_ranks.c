/* Runs steps with a process for each device (step.h, ranks.h).
 *
 * Each rank follows the lists of its own device; rank 0 those of the host, too, which has batches, parameters and the
 * printed lines.  A tensor that a list sends to a device of another rank becomes two messages: its type and sizes, and
 * its elements, for which the receiver makes room when the sizes have come; a SEND is done when both have left.  The
 * main thread looks after messages.  Sums of gradients over several devices are gathered by the rank of the first
 * device, which adds them in the order of devices and sends the sum back, so that bits are those of one process; with
 * --sum=as-made, MPI_Iallreduce adds them.  After a step rank 0 sends new parameters to the ranks whose parts read
 * them.  O(bytes of messages). */
#include "tools/run/step_ranks.h"

#include "tools/run/ranks.h"

#include "ir/base/clock.h"
#include "ir/base/numbers.h"
#include "ir/model/module.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { FAILED = 1, USAGE = 2 };   /* exit codes */
#define NAP_NS 50000L             /* ns between two looks at messages */
#define TELL_NS INT64_C(50000000) /* ns between two reports of where this rank stands */

/* ---- messages; under the lock ----------------------------------------------------------------- */

/* A message with a value. */
struct step_message {
    struct rank_sizes sizes; /* sent before the elements */
    /* the value; of a message that is received: NULL until the sizes have come */
    struct engine_value *value;
    uint64_t handle[2]; /* handles of the sizes and of the elements; 0: not begun */
    bool done[2];       /* sizes, elements: have left or come */
    bool takes;         /* the message is received; false: it is sent */
    bool over;          /* all of it has left or come */
    bool begun;         /* elements have come, and are being received */
    int peer;
    int64_t tag;
    /* tensor and place, numbered as in the lists; place STEP_NONE: no list carries it */
    uint32_t tensor, place;
    struct step_message *next;
};

/* The ranks of a run of steps. */
struct step_ranks {
    struct runner *r;      /* names of devices, folder and options */
    struct ranks *x;       /* the ranks of r */
    uint8_t *begun, *left; /* [place] 1: the message of the place has begun to leave; has left */
    uint8_t *reads; /* [rank * nparameter + parameter] a part of the rank reads the parameter */
    int *group;     /* [part of whole] number of its group of ranks, for --sum=as-made */
    /* fresh: messages that the main thread does not look at yet; under the lock.  active: messages that it looks at; no
     * other thread uses this list */
    struct step_message *fresh, *active;
    uint64_t moves;  /* number of messages that are over */
    int64_t told_at; /* ns: when this rank last told the others where it stands */
    /* word of a failure: heard from another rank, sent by this rank */
    struct rank_word heard, word;
    uint64_t hearing; /* handle of the receive for `heard` */
    bool hears;       /* the receive for `heard` was begun */
    bool broken; /* an iteration has failed: messages may be under way, whose tensors must stay */
    const signal_flag *stop; /* Ctrl-C, which counts at rank 0 alone, between two steps */
    signal_flag halt; /* always 0: the stop flag within an iteration, which Ctrl-C does not end */
};

/* Ends the iteration with an error; does nothing after an earlier error.  line "": another rank has reported the
 * error. */
static void fail(struct stepper *s, const char *line)
{
    if (!s->now.failed)
        snprintf(s->now.error, sizeof s->now.error, "%s", line);
    s->now.failed = true;
    pthread_cond_broadcast(&s->now.moved);
}

/* If rc, the result of a call of MPI, is an error, ends the iteration with MPI's reason. */
static void check_mpi(struct stepper *s, int rc)
{
    char line[RANK_LINE];
    if (!rc)
        return;
    snprintf(line, sizeof line, "MPI: %s", s->ranks->x->m.why);
    fail(s, line);
}

/* Fills in m->sizes, which is sent before the elements of the value.  Returns the address of the elements; NULL: they
 * cannot be sent, and the iteration has failed. */
static void *announce(struct stepper *s, struct step_message *m)
{
    struct engine_shape shape;
    if (s->e->face->value_shape(s->e, m->value, &shape, m->sizes.size)) {
        fail(s, "what goes to another rank is no tensor of plain numbers");
        return NULL;
    }
    m->sizes.elem = shape.elem;
    m->sizes.rank = (int64_t)shape.rank;
    m->sizes.bytes = tensor_bytes(s->e, m->value);
    m->sizes.hash = ranks_hash(s->e->face->value_data(s->e, m->value), m->sizes.bytes);
    return s->e->face->value_data(s->e, m->value);
}

/* Begins to send v to the rank `peer` or, if v is NULL, to receive a value from it.  Returns the message; NULL: no
 * memory.  An error ends the iteration.  If the caller gives the message a place, over() frees the message; else the
 * caller frees it when it is over. */
static struct step_message *begin(struct stepper *s, int peer, int64_t tag, struct engine_value *v)
{
    const struct messages_face *face = s->ranks->x->m.face;
    struct step_message *m = calloc(1, sizeof *m);
    if (!m) {
        fail(s, "out of memory");
        return NULL;
    }
    *m = (struct step_message){
        .value = v, .takes = !v, .peer = peer, .tag = tag, .place = STEP_NONE};
    const void *data = v ? announce(s, m) : NULL;
    if (!v)
        check_mpi(
            s, face->receive(CHANNEL_SIZES, peer, tag, &m->sizes, sizeof m->sizes, &m->handle[0]));
    else if (!s->now.failed)
        check_mpi(s,
                  face->send(CHANNEL_SIZES, peer, tag, &m->sizes, sizeof m->sizes, &m->handle[0]) ||
                      face->send(CHANNEL_TENSOR, peer, tag, data, m->sizes.bytes, &m->handle[1]));
    m->next = s->ranks->fresh;
    s->ranks->fresh = m;
    return m;
}

/* Called when the sizes of a message have come: makes the tensor for its elements; an error ends the iteration. */
static void make_room(struct stepper *s, struct step_message *m)
{
    struct engine_error err = {"out of memory"};
    m->value = rank_value_new(s->e, &m->sizes, &err);
    if (!m->value)
        fail(s, err.line);
}

/* Returns words for what a message with this tag has, in a.  Tags are, one after the other: a tensor of a micro-batch
 * for each place of the lists; a sum of gradients for each tensor of `each`; a parameter. */
static const char *tag_text(const struct stepper *s, int64_t tag, struct arena *a)
{
    const struct sample_work *w = s->w, *each = s->each;
    int64_t places = w->place.at[w->ntensor], sum = tag - places, parameter = sum - each->ntensor;
    if (parameter >= 0)
        return arena_fmt(a, "parameter '%s'", s->parameter[parameter].name);
    if (sum >= 0)
        return arena_fmt(a, "sum of gradient '%s'", s->whole->tensor[s->owner[sum]].name);
    uint32_t t = 0;
    while (w->place.at[t + 1] <= tag)
        t++;
    return arena_fmt(a, "'%s' of micro-batch %u",
                     s->whole->tensor[s->owner[t % each->ntensor]].name, t / each->ntensor);
}

/* Ends the iteration, since a message is not what it should be. */
static void fail_message(struct stepper *s, const struct step_message *m, const char *why)
{
    struct arena *own = arena_new(s->a);
    fail(s, arena_fmt(own, "%s: its message %s rank %d %s", tag_text(s, m->tag, own),
                      m->takes ? "from" : "to", m->peer, why));
    arena_free(own);
}

/* Whether the elements that have come are those whose hash was announced. */
static bool came_as_sent(const struct stepper *s, const struct step_message *m)
{
    const void *data = s->e->face->value_data(s->e, m->value);
    return ranks_hash(data, m->sizes.bytes) == m->sizes.hash;
}

/* Called when a message has left or come: counts the message.  If a list carries the message, notes that it has left,
 * or puts its tensor into the table, and then frees the message. */
static void over(struct stepper *s, struct step_message *m)
{
    m->over = true;
    s->ranks->moves++;
    if (m->place == STEP_NONE)
        return;
    if (!m->takes) {
        s->ranks->left[m->place] = 1;
        free(m);
        return;
    }
    s->now.sent[m->place] = 1;
    struct engine_value **tensor = &s->now.tensor[m->tensor];
    if (*tensor) { /* it has come before: for the host, or for the device */
        s->e->face->value_free(s->e, m->value);
        s->now.holders[m->tensor]++;
    } else {
        *tensor = m->value;
        s->now.holders[m->tensor] = 1;
    }
    free(m);
}

/* Receives the elements of a message, for which there is room, if they have come. */
static void take_elements(struct stepper *s, struct step_message *m)
{
    struct messages *x = &s->ranks->x->m;
    void *data = s->e->face->value_data(s->e, m->value);
    int rc = x->face->receive_exactly(CHANNEL_TENSOR, m->peer, m->tag, data, m->sizes.bytes,
                                      &m->handle[1]);
    m->begun = rc > 0;
    if (rc < 0)
        fail_message(s, m, x->why);
}

/* Looks whether the two halves of a message have left or come: its sizes (i == 0) and its elements (i == 1).  Elements
 * are received only when the sizes have come: makes room for them, begins to receive them, and checks them.  An error
 * ends the iteration.  The lock is given up meanwhile.  Returns whether the message is over. */
static bool look(struct stepper *s, struct step_message *m)
{
    for (int i = 0; i < 2; i++) {
        struct message_end end = {0};
        bool takes_elements = i == 1 && m->takes;
        if (m->done[i] || (takes_elements && !m->done[0]))
            continue;
        if (takes_elements && !m->begun && !s->now.failed)
            take_elements(s, m);
        if (s->now.failed || (takes_elements && !m->begun))
            continue;
        pthread_mutex_unlock(&s->now.lock);
        m->done[i] = s->ranks->x->m.face->ended(&m->handle[i], 1, &end) > 0;
        pthread_mutex_lock(&s->now.lock);
        int64_t want = i == 0 ? (int64_t)sizeof m->sizes : m->sizes.bytes;
        if (m->done[i] && (end.failed || (m->takes && end.bytes != want)))
            fail_message(s, m,
                         end.failed && end.bytes <= want ? "could not be sent or received"
                                                         : "has another length than expected");
        else if (m->done[i] && takes_elements && !came_as_sent(s, m))
            fail_message(s, m, "came with other bytes than it was sent with");
        if (m->done[i] && i == 0 && m->takes && !s->now.failed)
            make_room(s, m);
    }
    return m->done[0] && m->done[1] && !s->now.failed;
}

/* Looks at all messages once, and calls over() for those that have left or come; stops when the iteration has failed.
 * Returns whether messages are left. */
static bool look_at_all(struct stepper *s)
{
    struct step_ranks *k = s->ranks;
    while (k->fresh) {
        struct step_message *m = k->fresh;
        k->fresh = m->next;
        m->next = k->active;
        k->active = m;
    }
    for (struct step_message **at = &k->active; *at && !s->now.failed;) {
        struct step_message *m = *at;
        if (look(s, m)) {
            *at = m->next;
            over(s, m);
        } else {
            at = &m->next;
        }
    }
    return k->active || k->fresh;
}

bool step_is_broken(const struct stepper *s)
{
    return s->ranks && s->ranks->broken;
}

const char *step_speaker(const struct stepper *s)
{
    return s->ranks ? ranks_speaker(s->ranks->r) : "";
}

/* ---- lists ------------------------------------------------------------------------------------ */

bool step_here(const struct stepper *s, uint32_t dev)
{
    return !s->ranks || ranks_have(s->ranks->r, dev);
}

/* Returns the rank of a device. */
static int rank_of(const struct stepper *s, uint32_t dev)
{
    return (int)s->ranks->x->rank[dev];
}

bool step_send(struct stepper *s, uint32_t tensor, uint32_t place)
{
    struct step_ranks *k = s->ranks;
    if (!k->begun[place] && !s->now.failed) {
        k->begun[place] = 1;
        struct step_message *m =
            begin(s, rank_of(s, s->w->place.to[place]), place, s->now.tensor[tensor]);
        if (m) {
            m->tensor = tensor;
            m->place = place;
        }
    }
    return k->left[place];
}

void step_receive(struct stepper *s, uint32_t tensor, uint32_t place)
{
    uint32_t home = s->w->place.to[s->w->place.at[tensor]];
    struct step_message *m = begin(s, rank_of(s, home), place, NULL);
    if (m) {
        m->tensor = tensor;
        m->place = place;
    }
}

/* Whether all lists of this process are at their end. */
static bool at_end(const struct stepper *s)
{
    for (uint32_t l = 0; l < s->lists->nlane; l++)
        if (s->now.at[l] < s->lists->at[l + 1] && step_here(s, lane_device(s->w->ndev, l)))
            return false;
    return true;
}

/* If another rank has sent word of a failure, ends the iteration.  If the iteration has failed, sends word of that to
 * the ranks that do not know of it, once (*told). */
static void hear(struct stepper *s, bool *told)
{
    struct step_ranks *k = s->ranks;
    struct messages *m = &k->x->m;
    struct message_end end = {0};
    if (k->hears && m->face->ended(&k->hearing, 1, &end)) {
        k->hears = false;
        k->heard.line[RANK_LINE - 1] = 0;
        if (end.failed)
            check_mpi(s, -1);
        else
            fail(s, m->rank ? "" : k->heard.line);
    }
    if (!s->now.failed || *told)
        return;
    *told = true;
    k->word = (struct rank_word){.kind = WORD_FAIL};
    snprintf(k->word.line, sizeof k->word.line, "%s", s->now.error);
    /* rank 0 tells all others; another rank tells rank 0, unless it has heard of the failure from there */
    for (int i = 0; i < m->ranks; i++)
        if (m->rank == 0 ? i > 0 : i == 0 && *s->now.error) {
            uint64_t handle; /* nothing waits for the message: the process ends soon */
            m->face->send(CHANNEL_WORD, i, 0, &k->word, sizeof k->word, &handle);
        }
}

/* Whether a part runs in this process. */
static bool runs_part(const struct stepper *s)
{
    for (uint32_t d = 0; d < s->w->ndev; d++)
        if (s->dev[d].runs)
            return true;
    return false;
}

/* Gives the thread of signs of life words for where this rank stands: in its lists (if `lists`), or at a message that
 * no list carries.  Does nothing within TELL_NS of the last time. */
static void tell(struct stepper *s, bool lists)
{
    struct step_ranks *k = s->ranks;
    int64_t now = clock_now();
    if (now - k->told_at < TELL_NS)
        return;
    k->told_at = now;
    struct arena *own = arena_new(s->a);
    const char *where = lists ? step_where(s, own) : "";
    const struct step_message *m = k->active;
    while (m && m->place != STEP_NONE)
        m = m->next;
    if (!*where && m)
        where = arena_fmt(own, "%s %s", m->takes ? "receives" : "sends", tag_text(s, m->tag, own));
    rank_pulse_say(k->r, k->moves + s->now.moves, runs_part(s), where);
    arena_free(own);
}

void step_look_after(struct stepper *s, bool lists)
{
    const struct timespec nap = {.tv_nsec = NAP_NS};
    bool told = false, left = true;
    while (!s->now.failed && (left || (lists && !at_end(s)))) {
        uint64_t moves = s->ranks->moves;
        left = look_at_all(s);
        if (lists && moves != s->ranks->moves)
            step_move(s);
        hear(s, &told);
        tell(s, lists);
        pthread_mutex_unlock(&s->now.lock);
        if (moves == s->ranks->moves)
            nanosleep(&nap, NULL);
        pthread_mutex_lock(&s->now.lock);
    }
    hear(s, &told);
    s->ranks->broken = s->now.failed;
}

void step_ranks_begin(struct stepper *s)
{
    const struct sample_work *w = s->w;
    uint32_t places = w->place.at[w->ntensor];
    if (!s->ranks)
        return;
    memset(s->ranks->begun, 0, places);
    memset(s->ranks->left, 0, places);
    for (uint32_t t = 0; t < w->ntensor && ranks_host(s->ranks->r); t++) {
        uint32_t place = w->tensor[t].returned ? work_place(w, t, w->ndev) : STEP_NONE;
        if (place != STEP_NONE && !step_here(s, w->place.to[w->place.at[t]]))
            step_receive(s, t, place);
    }
}

/* ---- sums ------------------------------------------------------------------------------------- */

/* Waits until a message is over, and frees it.  Returns its value; NULL: the iteration has failed, and the message
 * stays.  m: NULL if begin() had no memory. */
static struct engine_value *wait_for(struct stepper *s, struct step_message *m)
{
    while (m && !m->over && !s->now.failed)
        pthread_cond_wait(&s->now.moved, &s->now.lock);
    struct engine_value *v = m && m->over ? m->value : NULL;
    if (m && m->over)
        free(m);
    return v;
}

/* Copies the elements of `from` to `to`, a tensor of the same size; if the sizes differ, copies as many bytes as both
 * have. */
static void copy_elements(struct stepper *s, struct engine_value *to, struct engine_value *from)
{
    int64_t bytes = smaller(tensor_bytes(s->e, to), tensor_bytes(s->e, from));
    if (bytes > 0)
        memcpy(s->e->face->value_data(s->e, to), s->e->face->value_data(s->e, from), (size_t)bytes);
}

/* Called at the first device of a part: adds the sums of the part's other devices to its own, and sends the result to
 * these devices.  dev[n]: the devices, dev[0] the first; slice[n]: numbers of their sums, tensors of `each`. */
static void gather(struct stepper *s, const uint32_t *slice, const uint32_t *dev, uint32_t n)
{
    struct engine_error err;
    struct engine_value **sum = calloc(n, sizeof(void *));
    int64_t tags = s->w->place.at[s->w->ntensor];
    for (uint32_t i = 1; sum && i < n; i++)
        sum[i] = wait_for(s, begin(s, rank_of(s, dev[i]), tags + slice[i], NULL));
    if (!sum)
        fail(s, "out of memory");
    if (!s->now.failed) {
        struct arena *own = arena_new(s->a);
        sum[0] = s->sum[slice[0]];
        if (sum_reduce(s->e, sum, n, &err))
            fail(s, arena_fmt(own, "%s: %s", tag_text(s, tags + slice[0], own), err.line));
        arena_free(own);
    }
    for (uint32_t i = 1; i < n && !s->now.failed; i++)
        wait_for(s, begin(s, rank_of(s, dev[i]), tags + slice[i], sum[0]));
    for (uint32_t i = 1; sum && i < n && !s->now.failed; i++)
        s->e->face->value_free(s->e, sum[i]);
    free(sum);
}

/* Called at the other devices of a part: sends its sum to the device `first`, and receives the sum over all devices. */
static void give(struct stepper *s, uint32_t slice, uint32_t first)
{
    int64_t tag = (int64_t)s->w->place.at[s->w->ntensor] + slice;
    wait_for(s, begin(s, rank_of(s, first), tag, s->sum[slice]));
    struct engine_value *v =
        s->now.failed ? NULL : wait_for(s, begin(s, rank_of(s, first), tag, NULL));
    if (v) {
        copy_elements(s, s->sum[slice], v);
        s->e->face->value_free(s->e, v);
    }
}

/* Has MPI add up the sum number `slice` over the devices of part p, and waits for the result, which replaces the sum;
 * the lock is given up meanwhile. */
static void add_as_made(struct stepper *s, uint32_t p, uint32_t slice)
{
    struct messages *m = &s->ranks->x->m;
    struct engine_value *v = s->sum[slice];
    struct engine_shape shape;
    int64_t size[ENGINE_AXES];
    struct message_end end = {0};
    uint64_t handle;
    const struct timespec nap = {.tv_nsec = NAP_NS};
    if (s->e->face->value_shape(s->e, v, &shape, size)) {
        fail(s, "a sum of gradients is no tensor of plain numbers");
        return;
    }
    check_mpi(s, m->face->sum(s->ranks->group[p], s->e->face->value_data(s->e, v), shape.elem,
                              tensor_bytes(s->e, v), &handle));
    while (!s->now.failed && m->face->ended(&handle, 1, &end) == 0) {
        pthread_mutex_unlock(&s->now.lock);
        nanosleep(&nap, NULL);
        pthread_mutex_lock(&s->now.lock);
    }
    check_mpi(s, end.failed ? -1 : 0);
}

void step_reduce(struct stepper *s, uint32_t p, uint32_t dev)
{
    const struct sample_work *each = s->each;
    uint32_t first = each->first_copy[p], n = each->first_copy[p + 1] - first;
    /* at[i]: device number i of the part; slice[i]: the sum on that device; mine: the i of dev */
    uint32_t *slice = calloc(n, sizeof *slice), *at = calloc(n, sizeof *at), mine = 0;
    if (!slice || !at)
        fail(s, "out of memory");
    for (uint32_t i = 0; i < n && !s->now.failed; i++) {
        at[i] = each->part[first + i].dev;
        mine = at[i] == dev ? i : mine;
    }
    uint32_t from = each->in.at[first];
    for (uint32_t k = from; k < each->in.at[first + 1] && !s->now.failed; k++) {
        if (!each->tensor[each->in.to[k]].summed)
            continue;
        /* the sum of each device stands at the same place of its row */
        for (uint32_t i = 0; i < n; i++)
            slice[i] = each->in.to[k - from + each->in.at[first + i]];
        if (s->set.as_made)
            add_as_made(s, p, slice[mine]);
        else if (mine == 0)
            gather(s, slice, at, n);
        else
            give(s, slice[mine], at[0]);
    }
    free(slice);
    free(at);
}

/* ---- between iterations ----------------------------------------------------------------------- */

/* Begins to send parameters (rank 0) or to receive them (other ranks); under the lock.  Writes the messages to message:
 * [rank * nparameter + parameter]. */
static void begin_parameters(struct stepper *s, struct step_message **message)
{
    const struct ranks *x = s->ranks->x;
    int64_t tags = (int64_t)s->w->place.at[s->w->ntensor] + s->each->ntensor;
    for (uint32_t k = 0; k < s->nparameter; k++)
        for (uint32_t i = 1; i < (uint32_t)x->m.ranks; i++) {
            size_t at = (size_t)i * s->nparameter + k;
            if (!s->ranks->reads[at])
                continue;
            if (x->m.rank == 0 && s->parameter[k].value)
                message[at] = begin(s, (int)i, tags + k, s->parameter[k].value);
            else if (x->m.rank == (int)i)
                message[at] = begin(s, 0, tags + k, NULL);
        }
}

int step_give_parameters(struct stepper *s)
{
    const struct ranks *x = s->ranks->x;
    size_t n = (size_t)x->m.ranks * s->nparameter;
    struct step_message **message = calloc(n + 1, sizeof(void *));
    if (!message)
        arena_exhausted(s->a, (n + 1) * sizeof(void *));
    pthread_mutex_lock(&s->now.lock);
    begin_parameters(s, message);
    step_look_after(s, /*lists=*/false);
    for (size_t i = 0; i < n && !s->now.failed; i++) {
        struct step_parameter *p = &s->parameter[i % s->nparameter];
        if (message[i] && message[i]->takes) {
            s->e->face->value_free(s->e, p->value);
            p->value = message[i]->value;
        }
        free(message[i]);
    }
    pthread_mutex_unlock(&s->now.lock);
    free(message);
    return step_agree(s, s->now.failed ? diag_error(s->d, "%s", s->now.error) : 0);
}

int step_agree(struct stepper *s, int rc)
{
    struct step_ranks *k = s->ranks;
    if (!k)
        return rc;
    /* A rank that waits for the others runs nothing: if all wait, rank 0's watch over --stall ends the run. */
    rank_pulse_say(k->r, k->moves + s->now.moves, /*runs=*/false, "");
    rc = ranks_agree(k->r, rc ? FAILED : 0, NULL);
    /* Work before the next iteration, such as reading inputs, is one more move, and no stall. */
    s->now.moves++;
    rank_pulse_say(k->r, k->moves + s->now.moves, /*runs=*/true, "work between two iterations");
    k->told_at = 0; /* tell() speaks at once in the next iteration */
    return rc;
}

int step_strays(struct stepper *s, int64_t step)
{
    int from, rc = 0;
    int64_t tag;
    const struct messages_face *face = s->ranks ? s->ranks->x->m.face : NULL;
    while (face &&
           (face->stray(CHANNEL_TENSOR, &from, &tag) || face->stray(CHANNEL_SIZES, &from, &tag)))
        rc = rc ? rc
                : diag_error(s->d,
                             "%sstep %" PRId64
                             ": %s came from rank %d (%s) once more than it is received",
                             step_speaker(s), step + 1, tag_text(s, tag, s->a), from,
                             ranks_name(s->ranks->r, from));
    return rc;
}

bool step_stops(struct stepper *s)
{
    int64_t stops = *s->ranks->stop;
    return s->ranks->x->m.face->share(&stops, sizeof stops) || stops;
}

int step_gather(struct stepper *s, int64_t step)
{
    const struct messages *m = &s->ranks->x->m;
    uint32_t n = s->w->micro_batches + s->w->ndev;
    int rc = step_strays(s, step);
    struct arena *own = arena_new(s->a);
    double *mine = arena_array(own, n, sizeof *mine);
    double *all = arena_array(own, m->rank ? 1 : (size_t)n * (size_t)m->ranks, sizeof *all);
    memcpy(mine, s->now.loss, s->w->micro_batches * sizeof *mine);
    for (uint32_t d = 0; d < s->w->ndev; d++) /* exact as a double: below 2^53 bytes */
        mine[s->w->micro_batches + d] = (double)s->dev[d].most;
    if (m->face->gather(mine, all, (int64_t)(n * sizeof *mine)))
        rc = diag_error(s->d, "MPI: %s", m->why);
    for (int k = 1; k < m->ranks && m->rank == 0 && !rc; k++) {
        const double *of = all + (size_t)k * n;
        for (uint32_t i = 0; i < s->w->micro_batches; i++)
            s->now.loss[i] += of[i];
        uint32_t d = s->ranks->x->device[k];
        s->dev[d].most = (int64_t)of[s->w->micro_batches + d];
    }
    arena_free(own);
    return step_agree(s, rc);
}

/* ---- beginning and end ------------------------------------------------------------------------ */

/* Fills in the fields of r, a run of samples, that the functions of ranks.h use: devices and the places of parts. */
static void describe(struct stepper *s, struct runner *r)
{
    const struct sample_work *each = s->each;
    r->s = s->split;
    r->ndev = s->w->ndev;
    r->dev = arena_array(s->a, (size_t)r->ndev + 1, sizeof *r->dev);
    for (uint32_t d = 0; d < r->ndev; d++)
        r->dev[d] = (struct run_device){.name = s->w->dev_name[d], .part = STEP_NONE};
    r->wires.place = arena_array(s->a, (size_t)s->whole->npart + 1, sizeof *r->wires.place);
    r->wires.nplace = arena_array(s->a, (size_t)s->whole->npart + 1, sizeof *r->wires.nplace);
    for (uint32_t p = 0; p < s->whole->npart; p++) {
        uint32_t first = each->first_copy[p], n = each->first_copy[p + 1] - first;
        r->wires.nplace[p] = n;
        r->wires.place[p] = arena_array(s->a, n, sizeof **r->wires.place);
        for (uint32_t i = 0; i < n; i++) {
            uint32_t dev = each->part[first + i].dev;
            r->wires.place[p][i] = dev;
            if (!r->dev[dev].loaded) /* not NULL: the device has parts */
                r->dev[dev].loaded = arena_array(s->a, 1, sizeof(struct loaded *));
        }
    }
    r->n = s->set.steps;
}

/* With --sum=as-made, makes for each part on several devices the group of their ranks, which add up sums.  Returns 0,
 * or -1 and an error. */
static int make_groups(struct stepper *s)
{
    struct messages *m = &s->ranks->x->m;
    int *rank = arena_array(s->a, (size_t)m->ranks, sizeof *rank);
    s->ranks->group = arena_array(s->a, (size_t)s->whole->npart + 1, sizeof *s->ranks->group);
    for (uint32_t p = 0; p < s->whole->npart && s->set.as_made; p++) {
        uint32_t first = s->each->first_copy[p], n = s->each->first_copy[p + 1] - first;
        bool mine = false;
        for (uint32_t i = 0; i < n; i++) {
            rank[i] = rank_of(s, s->each->part[first + i].dev);
            mine = mine || rank[i] == m->rank;
        }
        if (n > 1 && mine && s->whole->part[p].once &&
            m->face->group(rank, (int)n, (int)p, &s->ranks->group[p]))
            return diag_error(s->d, "MPI: %s", m->why);
    }
    return 0;
}

int step_ranks_open(struct stepper *s, struct runner *r)
{
    struct step_ranks *k = arena_alloc(s->a, sizeof *k);
    uint32_t places = s->w->place.at[s->w->ntensor];
    k->r = r;
    k->x = r->ranks;
    k->stop = s->stop;
    /* a bit for each option, so that ranks_compare() finds ranks with other ones */
    r->set.step_options = (s->set.load ? 1 : 0) + (s->set.as_made ? 2 : 0) + (s->mean ? 4 : 0);
    describe(s, r);
    if (ranks_map_devices(r))
        return USAGE;
    s->ranks = k;
    s->stop = &k->halt;
    k->begun = arena_alloc(s->a, (size_t)places + 1);
    k->left = arena_alloc(s->a, (size_t)places + 1);
    int64_t tags = (int64_t)places + s->each->ntensor + s->nparameter;
    if (tags <= k->x->m.tags)
        return 0;
    diag_error(s->d, "%s: its messages need %" PRId64 " tags, and this MPI has %" PRId64,
               s->set.folder, tags, k->x->m.tags);
    return FAILED;
}

int step_ranks_ready(struct stepper *s)
{
    struct step_ranks *k = s->ranks;
    struct messages *m = &k->x->m;
    size_t n = (size_t)m->ranks * s->nparameter;
    k->reads = arena_alloc(s->a, n + 1);
    uint8_t *reads_here = arena_alloc(s->a, (size_t)s->nparameter + 1);
    for (uint32_t x = 0; x < s->each->npart; x++)
        for (uint32_t i = 0; i < s->copy[x].nparameter; i++)
            if (s->copy[x].loaded)
                reads_here[s->copy[x].parameter[i]] = 1;
    if (m->face->gather(reads_here, k->reads, s->nparameter) ||
        m->face->share(k->reads, (int64_t)n))
        return diag_error(s->d, "MPI: %s", m->why);
    k->hears = true;
    /* rank 0 listens to all ranks, the other ranks listen to rank 0 */
    int source = m->rank ? 0 : MESSAGES_ANY;
    check_mpi(s,
              m->face->receive(CHANNEL_WORD, source, 0, &k->heard, sizeof k->heard, &k->hearing));
    rank_pulse_watch(k->r);
    return make_groups(s);
}

void step_ranks_close(struct stepper *s)
{
    struct step_ranks *k = s->ranks;
    if (k && k->hears)
        k->x->m.face->cancel(&k->hearing);
    for (struct step_message *m = k ? k->active : NULL; m; m = m->next)
        for (int i = 0; i < 2 && m->takes; i++)
            if (m->handle[i] && !m->done[i])
                k->x->m.face->cancel(&m->handle[i]);
}
