/* Words between rank 0 and the other ranks, and waiting for messages (ranks.h).
 *
 * One thread at a time looks after the messages of a rank.  While the device has no part to run, it is the device's
 * thread, which then runs the part that a message was for: nothing is handed from thread to thread.  For EAGER after
 * the last message this thread looks again at once, only giving up the processor; later it looks ever more seldom.  If
 * ranks outnumber processors, it sleeps between looks from the start.  While the device's thread runs a part, the main
 * thread looks every LOOK_BUSY.  If there is a processor for the main thread, too, the main thread looks all the time
 * meanwhile, and the device's thread waits after a part, at most for AWAIT, until the messages with its outputs have
 * left.  As long as a long tensor is under way, looks do not become more seldom. */
#include "tools/run/ranks.h"

#include "ir/base/clock.h"
#include "ir/base/numbers.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Times in ns. */
#define US INT64_C(1000)
#define MS INT64_C(1000000)
/* LOOK_BUSY: the shortest sleep of the main thread between two looks while the device runs a part.  LOOK_CROWDED: the
 * shortest sleep of the device's thread if ranks outnumber processors.  LOOK_IDLE: the longest sleep of both threads.
 * EAGER: the time after a message for which a thread does not sleep. */
#define LOOK_BUSY (200 * US)
#define LOOK_CROWDED (20 * US)
#define LOOK_IDLE (1 * MS)
#define EAGER (5 * MS)
/* most time that ranks_await() takes: less than a thread takes to fall asleep and wake up */
#define AWAIT (3 * US)
#define TELL (50 * MS)    /* time between two reports of the main thread (rank_pulse_tell()) */
#define DRAIN (2000 * MS) /* time for which ranks_drain() waits at most */
#define SAMPLES_MOST INT64_C(1000000000) /* the number of samples that --samples takes */

/* ---- words ------------------------------------------------------------------------------------ */

/* Begins to send a word to a rank. */
static void send_word(struct runner *r, int to, const struct rank_word *word)
{
    struct transfer *t = ranks_transfer(r, SEND_WORD, word->sample);
    if (!t)
        return;
    t->word = *word;
    ranks_watch(r, t,
                r->ranks->m.face->send(CHANNEL_WORD, to, 0, &t->word, sizeof t->word, &t->handle));
}

/* Sends a word to all other ranks. */
static void send_all(struct runner *r, const struct rank_word *word)
{
    for (int k = 1; k < r->ranks->m.ranks; k++)
        send_word(r, k, word);
}

/* Begins to receive the next word into t, if t is not NULL: rank 0 from any rank, others from rank 0. */
static void take_word(struct runner *r, struct transfer *t)
{
    struct messages *m = &r->ranks->m;
    if (t)
        ranks_watch(r, t,
                    m->face->receive(CHANNEL_WORD, m->rank ? 0 : MESSAGES_ANY, 0, &t->word,
                                     sizeof t->word, &t->handle));
}

void ranks_trouble(struct runner *r, int64_t sample, const char *line)
{
    struct ranks *x = r->ranks;
    if (x->trouble >= 0 && x->trouble <= sample)
        return;
    x->trouble = sample;
    snprintf(x->why, sizeof x->why, "%s", line);
}

void ranks_limit(struct runner *r, int64_t n)
{
    const struct rank_word word = {.kind = WORD_LIMIT, .sample = n, .failed = r->failed};
    if (ranks_host(r))
        send_all(r, &word);
}

void ranks_fail(struct runner *r, int64_t sample, const char *line)
{
    struct rank_word word = {.kind = WORD_FAIL, .sample = sample};
    snprintf(word.line, sizeof word.line, "%s", line);
    if (ranks_host(r))
        ranks_limit(r, sample);
    else if (!r->ranks->over)
        send_word(r, 0, &word);
}

/* Called at the host when all parts of a sample have run at a rank.  age: ns since the rank began its first part of the
 * sample; -1: the rank has no part of the sample. */
static void part_of_sample_ran(struct runner *r, struct flight *f, int64_t age)
{
    int64_t now = run_now(r), began = now - age;
    if (age >= 0 && (!f->began || began < f->began))
        f->began = began;
    f->to_run--;
    flight_note_end(r, f, now);
}

/* Does what follows from a word of the rank `from`; ignores a word with a sample that no run has. */
static void hear(struct runner *r, int from, const struct rank_word *word)
{
    if (word->sample < 0 || word->sample > SAMPLES_MOST)
        return;
    struct flight *f = flight_of(r, word->sample);
    switch ((enum word_kind)word->kind) {
    case WORD_RAN:
        r->ranks->ran[from] = word->sample + 1;
        /* else the sample has not come in yet, and ranks_to_run() will leave this rank out */
        if (f->sample == word->sample && f->to_run > 0)
            part_of_sample_ran(r, f, word->age);
        break;
    case WORD_FAIL:
        run_fail(r, word->sample, word->line);
        break;
    case WORD_LIMIT:
        r->failed = r->failed || word->failed;
        r->n = smaller(r->n, word->sample);
        if (r->lists)
            lists_move(r);
        break;
    case WORD_END:
        r->ranks->over = true;
        pthread_cond_signal(&r->host);
        break;
    }
    r->moves++;
}

/* ---- looking after messages ------------------------------------------------------------------- */

/* Moves the messages of the list x->look.fresh into the array x->look.active, which only the thread that looks may
 * change.  Without memory for them, notes an error.  Under the lock. */
static void take_fresh(struct runner *r)
{
    struct ranks *x = r->ranks;
    while (x->look.fresh) {
        struct transfer *t = x->look.fresh;
        if (x->look.nactive == x->look.room) {
            uint32_t room = 2 * x->look.room + MESSAGES_LOOK;
            struct transfer **more = realloc(x->look.active, room * sizeof(struct transfer *));
            if (!more) {
                ranks_trouble(r, t->sample, "out of memory");
                return;
            }
            x->look.active = more;
            x->look.room = room;
        }
        x->look.fresh = t->next;
        x->look.active[x->look.nactive++] = t;
    }
}

/* Does what follows from a word that could not be sent or received: notes an error, at the sample that rank 0 was to be
 * told of, or else at the next one.  A rank that has missed a word of rank 0 ends by itself, since that word may have
 * been the last one; if the last one could not be sent, ranks_drain() ends all.  The record of the word is not used
 * again: MPI may still use its memory.  Under the lock. */
static void word_failed(struct runner *r, const struct transfer *t)
{
    struct ranks *x = r->ranks;
    char line[RANK_LINE];
    bool sent = t->step == SEND_WORD, ran = sent && t->word.kind == WORD_RAN;
    if (!sent && x->over)
        return; /* all words have come */
    snprintf(line, sizeof line, "a word %s rank %d (%s) is lost: MPI: %s", sent ? "of" : "to",
             x->m.rank, ranks_name(r, x->m.rank), x->m.why);
    ranks_trouble(r, ran ? smaller(r->given, t->sample) : r->given, line);
    x->missed = x->missed || (!sent && !ranks_host(r));
    x->unheard = x->unheard || (sent && t->word.kind == WORD_END);
}

/* Does what follows from the end of a message.  The record of a word that has left becomes spare; a word that has come
 * is obeyed, and the next one is awaited; tensors are left to ranks_ended().  Under the lock. */
static void message_ended(struct runner *r, struct transfer *t, const struct message_end *end)
{
    struct rank_word word;
    bool is_word = t->step == SEND_WORD || t->step == TAKE_WORD;
    if (is_word && end->failed) {
        word_failed(r, t);
    } else if (t->step == SEND_WORD) {
        t->next = r->ranks->look.spare;
        r->ranks->look.spare = t;
    } else if (t->step == TAKE_WORD) {
        word = t->word;
        word.line[RANK_LINE - 1] = 0;
        take_word(r, t);
        if (end->bytes == (int64_t)sizeof word)
            hear(r, end->from, &word);
    } else {
        ranks_ended(r, t, end);
    }
}

/* Looks once at all messages that are looked after, MESSAGES_LOOK at a time, and does what follows from those that
 * have ended.  Returns how many have ended; 0 if another thread looks at this moment.  Called under the lock, which is
 * given up while MPI is asked.  Ended messages are taken out of the list before their consequences, which may add
 * others. */
static uint32_t look(struct runner *r)
{
    struct ranks *x = r->ranks;
    struct message_end end[MESSAGES_LOOK];
    struct transfer *t[MESSAGES_LOOK];
    uint64_t handle[MESSAGES_LOOK];
    uint32_t all = 0;
    if (x->look.now)
        return 0;
    x->look.now = true;
    take_fresh(r);
    for (uint32_t from = x->look.nactive; from > 0;) {
        uint32_t n = smaller_u32(from, MESSAGES_LOOK);
        from -= n;
        for (uint32_t i = 0; i < n; i++)
            handle[i] = x->look.active[from + i]->handle;
        pthread_mutex_unlock(&r->lock);
        uint32_t ended = x->m.face->ended(handle, n, end);
        int64_t now = ended ? clock_now() : 0;
        pthread_mutex_lock(&r->lock);
        x->look.ended = ended ? now : x->look.ended;
        for (uint32_t i = 0; i < n; i++)
            x->look.active[from + i]->handle = handle[i];
        for (uint32_t i = 0; i < ended; i++) { /* ended messages are listed in any order */
            t[i] = x->look.active[from + end[i].index];
            x->look.active[from + end[i].index] = NULL;
        }
        uint32_t kept = from;
        for (uint32_t i = from; i < x->look.nactive; i++)
            if (x->look.active[i])
                x->look.active[kept++] = x->look.active[i];
        x->look.nactive = kept;
        for (uint32_t i = 0; i < ended; i++)
            message_ended(r, t[i], &end[i]);
        all += ended;
    }
    x->look.now = false;
    return all;
}

/* Waits until it is time to look at messages again.  An eager thread looks at once if a message has ended in the last
 * EAGER, or a long tensor is under way: where MPI may not copy from process to process, as in most containers, each
 * look of both ranks brings but a few pieces of it.  Otherwise the thread sleeps for at least `ns`, the longer the
 * longer no message has ended, but at most LOOK_IDLE, or until `woken` is signalled.  Under the lock, which is given up
 * meanwhile. */
static void rest(struct runner *r, bool eager, pthread_cond_t *woken, int64_t ns)
{
    const struct ranks_looking *look = &r->ranks->look;
    int64_t idle = look->coming > 0 ? 0 : clock_now() - look->ended;
    if (!eager || idle >= EAGER) {
        run_doze(r, woken, smaller(LOOK_IDLE, larger(ns, idle / 16)));
        return;
    }
    pthread_mutex_unlock(&r->lock);
    if (!look->spare_core)
        sched_yield();
    pthread_mutex_lock(&r->lock);
}

/* ---- a rank other than 0 ---------------------------------------------------------------------- */

/* Tells rank 0 of samples whose parts have run here, in order, counts them in r->given, and drops their inputs. */
static void report_samples(struct runner *r)
{
    for (;;) {
        struct flight *f = flight_of(r, r->given);
        if (f->sample != r->given || f->to_run > 0 || r->given >= r->n)
            return;
        int64_t age = f->began ? clock_now() - f->began : -1;
        const struct rank_word word = {.kind = WORD_RAN, .sample = f->sample, .age = age};
        for (uint32_t i = 0; i < r->s.ninput; i++)
            if (f->box[r->s.input[i]])
                box_drop(r, f, r->s.input[i]);
        f->given = true;
        r->given++;
        if (r->figures.samples++ == 0)
            r->figures.first = clock_now();
        send_word(r, 0, &word);
    }
}

/* Ends samples that are through here, and begins others for which there is room. */
static void next_samples(struct runner *r)
{
    report_samples(r);
    flight_next_out(r);
    while (r->loaded < r->n && flight_of(r, r->loaded)->sample < 0)
        flight_begin(r, r->ranks->none);
}

/* ---- both threads of a rank ------------------------------------------------------------------- */

void ranks_look(struct runner *r)
{
    struct ranks *x = r->ranks;
    if (!x->look.begun)
        return;
    look(r);
    if (x->trouble >= 0) {
        run_fail(r, x->trouble, x->why); /* tells rank 0, unless x->over is set */
        x->trouble = -1;
        x->over = x->over || x->missed;
    }
    if (ranks_host(r))
        run_pass_samples(r);
    else
        next_samples(r);
}

void ranks_await(struct runner *r)
{
    struct ranks *x = r->ranks;
    int64_t until = x->look.sent + AWAIT;
    while (x->look.begun && x->look.spare_core && x->look.sending > 0 && clock_now() < until)
        ranks_look(r);
}

void ranks_rest(struct runner *r, struct run_device *d)
{
    if (r->ranks->look.begun)
        rest(r, !r->ranks->look.crowded, &d->work, LOOK_CROWDED);
    else
        pthread_cond_wait(&d->work, &r->lock);
}

void ranks_wait(struct runner *r)
{
    struct ranks *x = r->ranks;
    const struct run_device *d = &r->dev[x->device[x->m.rank]];
    ranks_look(r);
    int64_t now = clock_now();
    if (now - x->told_at > TELL) {
        x->told_at = now;
        rank_pulse_tell(r);
    }
    if (!x->over)
        rest(r, x->look.spare_core && d->part != RUN_NONE, &r->host, LOOK_BUSY);
}

/* Whether the main thread has a processor of its own: each rank on this machine has processors for it and for the
 * threads of its operators, and this process may use enough processors for its own threads. */
static bool has_spare_core(const struct runner *r, const struct run_device *d)
{
    cpu_set_t own;
    int threads = 1 + d->threads;
    bool bound = sched_getaffinity(0, sizeof own, &own) || CPU_COUNT(&own) < threads;
    return !bound && (int64_t)r->ranks->m.here * threads <= sysconf(_SC_NPROCESSORS_ONLN);
}

void ranks_hear(struct runner *r)
{
    struct ranks *x = r->ranks;
    struct run_device *d = &r->dev[x->device[x->m.rank]];
    x->look.spare_core = has_spare_core(r, d);
    x->look.begun = true;
    take_word(r, ranks_transfer(r, TAKE_WORD, 0));
    if (r->lists)
        lists_move(r);
    pthread_cond_signal(&d->work);
}

void ranks_serve(struct runner *r)
{
    while (!r->ranks->over)
        ranks_wait(r);
}

/* ---- the end ---------------------------------------------------------------------------------- */

void ranks_end(struct runner *r)
{
    const struct rank_word word = {.kind = WORD_END};
    r->ranks->over = true;
    send_all(r, &word);
}

/* Whether ranks_drain() must wait for a message: for a word that this rank sends, or a tensor that it sends for a
 * sample that runs. */
static bool is_wanted(const struct runner *r, const struct transfer *t)
{
    bool sends = t->step == SEND_SIZES || t->step == SEND_HEAD || t->step == SEND_TENSOR;
    return t->step == SEND_WORD || (sends && t->sample < r->n);
}

/* Waits until no other thread looks after messages, and keeps others from beginning to. */
static void look_alone(struct runner *r)
{
    r->ranks->look.begun = false;
    while (r->ranks->look.now) {
        pthread_mutex_unlock(&r->lock);
        sched_yield();
        pthread_mutex_lock(&r->lock);
    }
}

bool ranks_drain(struct runner *r)
{
    struct ranks *x = r->ranks;
    int64_t until = clock_now() + DRAIN;
    look_alone(r);
    for (bool wanted = true; wanted && clock_now() < until;) {
        look(r);
        take_fresh(r); /* messages that look() has begun */
        wanted = false;
        for (uint32_t i = 0; i < x->look.nactive; i++)
            wanted = wanted || is_wanted(r, x->look.active[i]);
    }
    if (x->unheard) {
        diag_error(r->d, "%s", r->failed ? r->error : x->why);
        rank_pulse_end_all(r);
    }
    bool ended = true;
    for (uint32_t i = 0; i < x->look.nactive; i++) {
        struct transfer *t = x->look.active[i];
        bool takes = t->step == TAKE_SIZES || t->step == TAKE_HEAD || t->step == TAKE_TENSOR ||
                     t->step == TAKE_WORD;
        if (takes)
            x->m.face->cancel(&t->handle);
        ended = ended && t->step == TAKE_WORD;
    }
    return ended;
}
