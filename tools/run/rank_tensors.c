/* Sends tensors as messages between ranks (ranks.h).
 *
 * A tensor whose type and sizes are the same for all samples is one message, from the sender's buffer into the
 * receiver's; the type and sizes of any other tensor are a message ahead of it.  The first bytes of a long tensor are a
 * message of their own, so that both ranks look after messages without a pause while the other bytes come
 * (rank_words.c).  Tags tell tensors and samples apart, so that a message that is missing, or comes twice, is never
 * taken for that of another sample.  O(readers of a value) each. */
#include "tools/run/ranks.h"

#include "ir/base/clock.h"
#include "ir/base/numbers.h"
#include "ir/model/module.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A tensor of more than LONG bytes is long.  Its first HEAD bytes are its head, a single piece for MPI. */
#define LONG (128 * 1024)
#define HEAD 1024

/* Returns the bytes of the head of a tensor of so many bytes; 0: the tensor is not long. */
static int64_t head_bytes(int64_t bytes)
{
    return bytes > LONG ? HEAD : 0;
}

/* ---- records of messages ---------------------------------------------------------------------- */

struct transfer *ranks_transfer(struct runner *r, enum transfer_step step, int64_t sample)
{
    struct ranks *x = r->ranks;
    struct transfer *t = x->look.spare;
    if (t)
        x->look.spare = t->next;
    else
        t = malloc(sizeof *t);
    if (!t) {
        ranks_trouble(r, sample, "out of memory");
        return NULL;
    }
    t->step = step;
    t->sample = sample;
    t->box = NULL;
    t->packed = NULL;
    t->rest = NULL;
    t->head_is_out = false;
    t->has_ended = false;
    t->next = NULL;
    return t;
}

/* Adds the record of an ended message to the spare records, and frees its packed bytes. */
static void transfer_over(struct runner *r, struct transfer *t)
{
    free(t->packed);
    t->packed = NULL;
    t->next = r->ranks->look.spare;
    r->ranks->look.spare = t;
}

void ranks_watch(struct runner *r, struct transfer *t, int rc)
{
    struct ranks *x = r->ranks;
    if (rc) {
        char line[RANK_LINE];
        snprintf(line, sizeof line, "MPI: %s", x->m.why);
        ranks_trouble(r, t->sample, line);
        return;
    }
    t->next = x->look.fresh;
    x->look.fresh = t;
}

int64_t ranks_key(const struct runner *r, const struct transfer *t)
{
    /* the first keys are the places of the lists; the last ones are the values, for tensors that no list carries */
    return t->place == RUN_NONE ? r->ranks->tags.keys - r->s.nvalue + t->value : t->place;
}

const char *ranks_key_name(const struct runner *r, int64_t key)
{
    int64_t v = key - (r->ranks->tags.keys - r->s.nvalue);
    uint32_t t = 0;
    while (v < 0 && r->w->place.at[t + 1] <= key)
        t++;
    return r->s.value[v < 0 ? r->wires.value[t] : v].name;
}

/* Returns the tag of a tensor of a sample. */
static int64_t tag_of(const struct runner *r, const struct transfer *t)
{
    return ranks_key(r, t) + r->ranks->tags.keys * (t->sample % r->ranks->tags.rounds);
}

/* ---- routes ----------------------------------------------------------------------------------- */

/* Returns the rank that runs a part for a sample. */
static uint32_t rank_of_part(const struct runner *r, uint32_t part, int64_t sample)
{
    return r->ranks->rank[r->wires.place[part][sample % r->wires.nplace[part]]];
}

/* Returns the rank that makes value v of a sample. */
static uint32_t rank_of_maker(const struct runner *r, uint32_t v, int64_t sample)
{
    uint32_t part = r->ranks->maker[v];
    return part == RUN_NONE ? 0 : rank_of_part(r, part, sample);
}

/* Marks in to[rank] the ranks with a part that reads v for a sample, on a device to which no list brings v. */
static void mark_readers(const struct runner *r, uint32_t v, int64_t sample, bool *to)
{
    uint32_t t = r->wires.tensor[v];
    for_row (part, r->wires.readers, v) {
        uint32_t d = r->wires.place[part][sample % r->wires.nplace[part]];
        if (!r->schedule || t == RUN_NONE || work_place(r->w, t, d) == RUN_NONE)
            to[r->ranks->rank[d]] = true;
    }
}

/* Marks in x->to the ranks other than the maker's that get value v of a sample without lists. */
static void mark_targets(struct runner *r, uint32_t v, int64_t sample)
{
    struct ranks *x = r->ranks;
    uint32_t t = r->wires.tensor[v], state = r->wires.state_of[v];
    memset(x->to, 0, (size_t)x->m.ranks * sizeof *x->to);
    mark_readers(r, v, sample, x->to);
    if (state != RUN_NONE)
        mark_readers(r, r->wires.state_in[state], sample + 1, x->to);
    if (r->wires.is_output[v] && !(r->schedule && t != RUN_NONE && r->w->tensor[t].returned))
        x->to[0] = true;
    x->to[rank_of_maker(r, v, sample)] = false;
}

/* Returns the number of the state pair with input v; RUN_NONE: v holds no state. */
static uint32_t state_of_input(const struct runner *r, uint32_t v)
{
    uint32_t i = 0;
    while (i < r->wires.nstate && r->wires.state_in[i] != v)
        i++;
    return i < r->wires.nstate ? i : RUN_NONE;
}

/* ---- sending ---------------------------------------------------------------------------------- */

/* Ends the run at the sample of a transfer whose value cannot be packed into a message. */
static void refuse(struct runner *r, const struct transfer *of)
{
    char line[RANK_LINE];
    snprintf(line, sizeof line,
             "sample %" PRId64 ": '%.200s' is no tensor, sequence or map that can go to another "
             "rank",
             r->set.first + of->sample, r->s.value[of->value].name);
    ranks_trouble(r, of->sample, line);
}

/* Fills in *to, the message that goes ahead of value v; if v is no tensor of numbers, packs its bytes into of->packed.
 * v NULL: *to says that no value comes.  Returns 0; -1: v cannot be sent. */
static int announce(struct runner *r, struct transfer *of, const struct engine_value *v,
                    struct rank_sizes *to)
{
    struct engine_shape shape;
    *to = (struct rank_sizes){0};
    if (!v)
        return 0;
    if (r->e->face->value_shape(r->e, v, &shape, to->size)) {
        of->packed = rank_pack(r->e, v, &to->bytes);
        to->elem = RANK_PACKED;
        return of->packed ? 0 : -1;
    }
    to->elem = shape.elem;
    to->rank = (int64_t)shape.rank;
    return (to->bytes = value_bytes(r->e, v)) < 0 ? -1 : 0;
}

/* Sends type and sizes of value v ahead of its elements; v NULL: sends word that no value comes.  of: the transfer of
 * the elements; its field `packed` is set if v is packed.  Returns the bytes of the elements or packed bytes, 0 if v is
 * NULL; -1: v cannot be sent, and the run fails. */
static int64_t send_sizes(struct runner *r, struct transfer *of, const struct engine_value *v)
{
    struct transfer *t = ranks_transfer(r, SEND_SIZES, of->sample);
    if (!t)
        return -1;
    t->value = of->value;
    t->place = of->place;
    if (announce(r, of, v, &t->sizes)) {
        transfer_over(r, t);
        refuse(r, of);
        return -1;
    }
    int64_t bytes = t->sizes.bytes; /* read first: ranks_watch() may end t */
    ranks_watch(r, t,
                r->ranks->m.face->send(CHANNEL_SIZES, of->peer, tag_of(r, t), &t->sizes,
                                       sizeof t->sizes, &t->handle));
    return bytes;
}

/* Called when the tensor of a message has left: notes the times, if a part made it for another device, drops the
 * message's hold on the tensor, and moves the lists that wait for the message. */
static void sent(struct runner *r, struct transfer *t)
{
    struct flight *f = flight_of(r, t->sample);
    uint32_t place = t->place;
    r->ranks->look.sending--;
    bool to_host = place != RUN_NONE && r->w->place.to[place] == r->ndev;
    if (r->ranks->maker[t->value] != RUN_NONE && !to_host) {
        times_add(&r->figures.transfer, r->ranks->look.ended - f->made[t->value]);
        times_add(&r->figures.message, r->ranks->look.ended - t->began);
    }
    box_drop(r, f, t->value);
    transfer_over(r, t);
    if (place != RUN_NONE)
        lists_moved(r, place);
}

/* If the tensor of transfer t is long, begins to send (step SEND_HEAD) or to receive (TAKE_HEAD) its first bytes, at
 * `data`.  When these bytes have come, both ranks know that the other bytes come now.  Returns the number of these
 * first bytes; 0: the tensor is short. */
static int64_t head(struct runner *r, struct transfer *t, enum transfer_step step,
                    unsigned char *data)
{
    const struct messages_face *face = r->ranks->m.face;
    int64_t bytes = head_bytes(t->bytes);
    struct transfer *h = bytes > 0 ? ranks_transfer(r, step, t->sample) : NULL;
    if (!h)
        return 0; /* short; or out of memory, and the run fails */
    h->value = t->value;
    h->place = t->place;
    h->peer = t->peer;
    h->bytes = bytes;
    h->rest = t;
    t->head_is_out = true;
    ranks_watch(
        r, h,
        step == SEND_HEAD
            ? face->send(CHANNEL_TENSOR, h->peer, tag_of(r, h), data, bytes, &h->handle)
            : face->receive(CHANNEL_TENSOR, h->peer, tag_of(r, h), data, bytes, &h->handle));
    return bytes;
}

/* Begins to send value v of a sample to the rank `to`, for the lists' place `place` (RUN_NONE: no list carries it); the
 * message holds the value until it has left.  If its sizes are not known to the receiver, they are sent ahead. */
static void send_value(struct runner *r, struct flight *f, uint32_t v, uint32_t place, uint32_t to)
{
    struct ranks *x = r->ranks;
    struct transfer *t = ranks_transfer(r, SEND_TENSOR, f->sample);
    if (!t)
        return;
    struct engine_value *value = f->box[v]->value;
    t->value = v;
    t->place = place;
    t->peer = (int)to;
    f->holders[v]++;
    t->bytes = r->wires.shape[v].elem ? value_bytes(r->e, value) : send_sizes(r, t, value);
    if (t->bytes < 0)
        return; /* the run has failed */
    unsigned char *data = t->packed ? t->packed : r->e->face->value_data(r->e, value);
    ranks_count(r, t, data);
    t->began = x->look.sent = clock_now();
    x->look.sending++;
    int64_t ahead = head(r, t, SEND_HEAD, data);
    ranks_watch(r, t,
                x->m.face->send(CHANNEL_TENSOR, t->peer, tag_of(r, t), data + ahead,
                                t->bytes - ahead, &t->handle));
}

void ranks_send(struct runner *r, struct flight *f, uint32_t tensor, uint32_t place)
{
    send_value(r, f, r->wires.value[tensor], place, r->ranks->rank[r->w->place.to[place]]);
}

/* Sends value v of a sample to all ranks that get it without lists. */
static void send_loosely(struct runner *r, struct flight *f, uint32_t v)
{
    mark_targets(r, v, f->sample);
    for (uint32_t k = 0; k < (uint32_t)r->ranks->m.ranks; k++)
        if (r->ranks->to[k])
            send_value(r, f, v, RUN_NONE, k);
}

void ranks_made(struct runner *r, struct flight *f, uint32_t v, struct box *b)
{
    box_put(r, f, v, b, 1 + ranks_holders(r, v, f->sample, /*made=*/true));
    if (r->ranks->is_loose[v])
        send_loosely(r, f, v);
    box_drop(r, f, v);
}

/* ---- receiving -------------------------------------------------------------------------------- */

/* Begins to receive the elements of a tensor, whose buffer t->box has. */
static void take_elements(struct runner *r, struct transfer *t)
{
    unsigned char *data = t->packed ? t->packed : r->e->face->value_data(r->e, t->box->value);
    t->step = TAKE_TENSOR;
    int64_t ahead = head(r, t, TAKE_HEAD, data);
    ranks_watch(r, t,
                r->ranks->m.face->receive(CHANNEL_TENSOR, t->peer, tag_of(r, t), data + ahead,
                                          t->bytes - ahead, &t->handle));
}

/* Begins to receive value v of a sample from the rank `from`, for the lists' place `place` (RUN_NONE: no list carries
 * it): its elements, into a box with a buffer; or first its sizes, if they are not known. */
static void take_value(struct runner *r, struct flight *f, uint32_t v, uint32_t place,
                       uint32_t from)
{
    struct ranks *x = r->ranks;
    struct engine_error err = {"out of memory"};
    bool known = r->wires.shape[v].elem != 0;
    struct transfer *t = ranks_transfer(r, TAKE_SIZES, f->sample);
    if (!t)
        return;
    t->value = v;
    t->place = place;
    t->peer = (int)from;
    t->box = box_take(r, v);
    if (!t->box || (known && box_fill(r, t->box, &err))) {
        ranks_trouble(r, f->sample, err.line);
        return;
    }
    t->bytes = known ? value_bytes(r->e, t->box->value) : (int64_t)sizeof t->sizes;
    if (known)
        take_elements(r, t);
    else
        ranks_watch(r, t,
                    x->m.face->receive(CHANNEL_SIZES, t->peer, tag_of(r, t), &t->sizes, t->bytes,
                                       &t->handle));
}

void ranks_take(struct runner *r, struct flight *f, uint32_t tensor, uint32_t place)
{
    uint32_t home = r->w->place.to[r->w->place.at[tensor]];
    take_value(r, f, r->wires.value[tensor], place, r->ranks->rank[home]);
}

struct engine_value *rank_value_new(struct engine *e, const struct rank_sizes *z,
                                    struct engine_error *err)
{
    const struct engine_shape shape = {(int)z->elem, (size_t)z->rank, z->size};
    if (z->rank < 0 || z->rank > ENGINE_AXES) {
        snprintf(err->line, sizeof err->line, "no tensor has %" PRId64 " dimensions", z->rank);
        return NULL;
    }
    int64_t elems = shape_elems(z->size, (uint32_t)z->rank);
    if (elems < 0 || z->bytes != elem_bytes((enum elem)z->elem, elems) ||
        !elem_bits((enum elem)z->elem)) {
        snprintf(err->line, sizeof err->line, "its bytes are not those of its sizes");
        return NULL;
    }
    return e->face->value_new(e, &shape, err);
}

/* Makes the tensor that t->sizes announces, or room for the bytes of a packed value.  Returns 0, or -1 and an error in
 * line[]. */
static int make_room(struct runner *r, struct transfer *t, char *line, size_t room)
{
    struct engine_error err = {"out of memory"};
    const struct rank_sizes *s = &t->sizes;
    uint32_t part = r->ranks->maker[t->value];
    if (s->bytes > r->set.most_bytes) {
        snprintf(line, room,
                 "%.100s makes %" PRId64 " bytes of it, and --most-bytes is %" PRId64 " for what "
                 "another rank makes in a size not known before",
                 part == RUN_NONE ? "the sample" : r->s.part[part].file, s->bytes,
                 r->set.most_bytes);
        return -1;
    }
    if (s->elem == RANK_PACKED && s->bytes >= 0) {
        t->packed = malloc((size_t)s->bytes + 1);
        if (t->packed)
            return 0;
    } else {
        t->box->value = rank_value_new(r->e, s, &err);
        if (t->box->value)
            return 0;
    }
    snprintf(line, room, "%.200s", err.line);
    return -1;
}

/* Makes the value of t from its packed bytes, which have come.  Returns 0, or -1 and an error in line[]. */
static int unpack(struct runner *r, struct transfer *t, char *line, size_t room)
{
    struct engine_error err = {"out of memory"};
    t->box->value = rank_unpack(r->e, t->packed, t->bytes, &err);
    if (t->box->value)
        return 0;
    snprintf(line, room, "%.200s", err.line);
    return -1;
}

/* Puts a tensor that has come into the table of its sample. */
static void put_box(struct runner *r, struct flight *f, const struct transfer *t, uint32_t holders)
{
    if (f->box[t->value]) { /* the value has come before, for the host or for the device */
        f->holders[t->value] += holders;
        box_return(r, t->box);
    } else {
        box_put(r, f, t->value, t->box, holders);
    }
}

/* Called when value v, which no list brings, has come: has lists or devices that wait for it go on, counts it as an
 * output at the host, and hands it on if it is a state. */
static void came_loosely(struct runner *r, struct flight *f, uint32_t v)
{
    uint32_t state = state_of_input(r, v);
    if (state != RUN_NONE)
        r->ranks->told[(size_t)(f->sample % r->width) * r->wires.nstate + state] = true;
    if (r->lists)
        lists_loaded(r);
    else if (f->box[v])
        turns_arrived(r, f, v);
    if (r->wires.is_output[v] && ranks_host(r) && !(r->lists && !r->wires.direct[v])) {
        f->to_come--;
        flight_note_end(r, f, run_now(r));
    }
    /* v is an input that holds state; or it may be an output that is a state of the next sample */
    if (r->wires.nstate)
        states_hand_on(r, state != RUN_NONE ? f->sample : f->sample + 1);
}

/* Called when a tensor has come: puts it into the table of its sample, and has what waits for it go on. */
static void came(struct runner *r, struct transfer *t)
{
    struct flight *f = flight_of(r, t->sample);
    uint32_t v = t->value, place = t->place;
    if (!t->box->value)
        box_return(r, t->box); /* a state that the sample does not bring */
    else
        put_box(r, f, t, place == RUN_NONE ? ranks_holders(r, v, f->sample, false) : 1);
    transfer_over(r, t);
    r->moves++;
    if (place == RUN_NONE)
        came_loosely(r, f, v);
    else
        lists_moved(r, place);
}

/* Called when the message of a tensor for the lists has ended.  Lists count the messages of a place, whose samples
 * follow each other: a message that overtook the message of an earlier sample waits until that one has ended. */
static void ended_for_lists(struct runner *r, struct transfer *t)
{
    struct ranks *x = r->ranks;
    uint32_t place = t->place;
    t->next = x->order.early;
    x->order.early = t;
    for (struct transfer **at = &x->order.early; *at;) {
        struct transfer *early = *at;
        if (early->place != place || early->sample != x->order.next[place]) {
            at = &early->next;
            continue;
        }
        *at = early->next; /* its turn has come: takes it out of the list */
        x->order.next[place]++;
        if (early->step == SEND_TENSOR)
            sent(r, early);
        else
            came(r, early);
        at = &x->order.early; /* looks for the next sample's message from the beginning */
    }
}

/* Called when the head of a long tensor has ended: now its other bytes are looked after at once, or, if they have ended
 * before, the tensor's message is over. */
static void head_ended(struct runner *r, struct transfer *head)
{
    struct transfer *t = head->rest;
    t->head_is_out = false;
    r->ranks->look.coming++;
    transfer_over(r, head);
    if (t->has_ended)
        ranks_ended(r, t, &t->end);
}

void ranks_ended(struct runner *r, struct transfer *t, const struct message_end *end)
{
    if (t->head_is_out) {
        t->has_ended = true;
        t->end = *end;
        return;
    }
    char line[RANK_LINE], why[RANK_LINE / 2] = "its message has another length than expected";
    bool elements = t->step == SEND_TENSOR || t->step == TAKE_TENSOR;
    bool takes = t->step == TAKE_SIZES || t->step == TAKE_HEAD || t->step == TAKE_TENSOR;
    int64_t ahead = elements ? head_bytes(t->bytes) : 0;
    int64_t expected = t->step == TAKE_SIZES ? (int64_t)sizeof t->sizes : t->bytes - ahead;
    bool bad = end->failed || (takes && end->bytes != expected);
    r->ranks->look.coming -= ahead > 0;
    if (end->failed && (!takes || end->bytes <= expected))
        snprintf(why, sizeof why, "MPI: %s", r->ranks->m.why);
    /* takes what has come, as far as it is good */
    if (!bad && t->step == TAKE_SIZES && t->sizes.elem)
        bad = make_room(r, t, why, sizeof why);
    if (!bad && t->step == TAKE_TENSOR)
        ranks_count(r, t, t->packed ? t->packed : r->e->face->value_data(r->e, t->box->value));
    if (!bad && t->step == TAKE_TENSOR && t->packed)
        bad = unpack(r, t, why, sizeof why);
    /* what follows: an error, the elements behind their sizes, or the end of the tensor's message */
    if (bad) {
        snprintf(line, sizeof line, "sample %" PRId64 ": '%.200s': %s", r->set.first + t->sample,
                 r->s.value[t->value].name, why);
        ranks_trouble(r, t->sample, line);
    } else if (t->step == SEND_SIZES) {
        transfer_over(r, t);
    } else if (t->step == SEND_HEAD || t->step == TAKE_HEAD) {
        head_ended(r, t);
    } else if (t->step == TAKE_SIZES && t->sizes.elem) {
        t->bytes = t->sizes.bytes;
        take_elements(r, t);
    } else if (t->place != RUN_NONE) {
        ended_for_lists(r, t);
    } else if (t->step == SEND_TENSOR) {
        sent(r, t);
    } else {
        came(r, t);
    }
}

/* ---- samples ---------------------------------------------------------------------------------- */

/* At the host: sends input v of a sample to the ranks that read it; if v is a state that the sample does not bring,
 * sends them word that none comes. */
static void send_input(struct runner *r, struct flight *f, uint32_t v)
{
    struct transfer none = {.sample = f->sample, .value = v, .place = RUN_NONE};
    if (f->box[v]) {
        send_loosely(r, f, v);
        return;
    }
    mark_targets(r, v, f->sample);
    for (uint32_t k = 1; k < (uint32_t)r->ranks->m.ranks; k++)
        if (r->ranks->to[k]) {
            none.peer = (int)k;
            send_sizes(r, &none, NULL);
        }
}

void ranks_begin(struct runner *r, struct flight *f)
{
    struct ranks *x = r->ranks;
    uint32_t me = (uint32_t)x->m.rank;
    for (uint32_t i = 0; i < r->wires.nstate; i++)
        x->told[(size_t)(f->sample % r->width) * r->wires.nstate + i] = me == 0;
    for (uint32_t i = 0; i < x->nloose; i++) {
        uint32_t v = x->loose[i], from = rank_of_maker(r, v, f->sample);
        if (from == me) {
            if (x->maker[v] == RUN_NONE)
                send_input(r, f, v);
            continue;
        }
        mark_targets(r, v, f->sample);
        if (x->to[me])
            take_value(r, f, v, RUN_NONE, from);
    }
    for (uint32_t t = 0; me == 0 && r->lists && t < r->w->ntensor; t++) {
        uint32_t place = r->w->tensor[t].returned ? work_place(r->w, t, r->w->ndev) : RUN_NONE;
        if (place != RUN_NONE && !ranks_have(r, r->w->place.to[r->w->place.at[t]]))
            ranks_take(r, f, t, place);
    }
}

uint32_t ranks_to_run(const struct runner *r, int64_t sample, uint32_t *to_come)
{
    uint32_t me = (uint32_t)r->ranks->m.rank, n = 0;
    for (int k = 1; me == 0 && k < r->ranks->m.ranks; k++)
        n += r->ranks->ran[k] <= sample; /* parts without inputs may have run before */
    for (uint32_t k = 0; k < r->s.npart; k++)
        n += rank_of_part(r, k, sample) == me;
    for (uint32_t v = 0; me == 0 && v < r->s.nvalue; v++)
        *to_come += r->wires.is_output[v] && !(r->schedule && !r->wires.direct[v]) &&
                    rank_of_maker(r, v, sample) != 0;
    return n;
}

/* Returns how many parts that run here read v of a sample. */
static uint32_t readers_here(const struct runner *r, uint32_t v, int64_t sample)
{
    uint32_t n = 0;
    for_row (part, r->wires.readers, v)
        n += rank_of_part(r, part, sample) == (uint32_t)r->ranks->m.rank;
    return n;
}

uint32_t ranks_holders(const struct runner *r, uint32_t v, int64_t sample, bool made)
{
    uint32_t state = r->wires.state_of[v];
    bool given = r->lists ? r->wires.direct[v] : r->wires.is_output[v];
    if (r->wires.is_input[v])
        return 1; /* the sample itself */
    uint32_t n = given && ranks_host(r);
    n += state != RUN_NONE && readers_here(r, r->wires.state_in[state], sample + 1) > 0;
    /* with lists, the device that has made v holds it until its FREE, and each receiver's SEND adds a holder */
    return r->lists ? n + made : n + readers_here(r, v, sample);
}

bool ranks_state_known(const struct runner *r, int64_t sample, uint32_t i)
{
    return readers_here(r, r->wires.state_in[i], sample) > 0 &&
           r->ranks->told[(size_t)(sample % r->width) * r->wires.nstate + i];
}
