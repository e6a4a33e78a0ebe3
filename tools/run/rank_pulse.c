/* Signs of life of ranks (ranks.h): a thread of its own, so that a part that computes for long is told from a process
 * that was stopped or killed.
 *
 * Each rank tells rank 0 every BEAT where it stands, and rank 0 tells the others.  If a rank is silent for SILENT, the
 * run ends with one message: rank 0 writes it, or rank 1 if rank 0 is silent.  mpirun, too, ends all ranks when one was
 * killed: it wakes them by SIGCONT first and ends them by SIGTERM a second later.  So after SIGCONT a rank counts as
 * silent after HURRY already, to write the message in time. */
#include "ir/base/signal_flag.h"
#include "tools/run/ranks.h"

#include "ir/base/clock.h"
#include "ir/base/numbers.h"
#include "ir/base/units.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Times in ns. */
#define MS INT64_C(1000000)
#define BEAT (100 * MS) /* time from a sign of life to the next */
#define LOOK (20 * MS)  /* time for which the thread sleeps before it looks again */
#define SILENT (3000 * MS)
#define HURRY (600 * MS)
#define NEXT (200 * MS) /* by which a rank waits longer before it speaks than the rank before it */
#define STALL_LEAST (5 * BEAT) /* the shortest --stall that is looked for here */
enum {
    FAILED = 1,      /* exit code */
    TEXT = 320,      /* bytes of the words for where a rank stands */
    LINE = 16 * TEXT /* bytes of a message */
};

/* What a rank says. */
struct pulse {
    int64_t ends;  /* the run ends now: somebody has said why */
    int64_t moves; /* value of runner.moves at the rank */
    int64_t runs;  /* 1: the rank runs a part now */
    char where[TEXT];
};

/* The other ranks, as the thread knows them. */
struct rank_pulse {
    struct runner *r;
    pthread_t thread;
    pthread_mutex_t lock;
    bool started;                  /* there is a thread */
    bool over;                     /* under the lock: the thread shall end */
    struct pulse mine;             /* under the lock: the pulse that is sent next */
    struct pulse *last;            /* [rank] under the lock: the pulse that came last */
    int64_t *heard;                /* [rank] ns: when that pulse came */
    struct pulse *in, *out;        /* [rank] pulses that are being received, and sent */
    uint64_t *receiving, *sending; /* [rank] their handles */
    bool *sends;                   /* [rank] the last pulse was sent: sending[] is its handle */
    int64_t hurry;                 /* ns: when mpirun has woken this process; 0: it has not */
    /* ns, under the lock: --stall, at least STALL_LEAST; 0: runs that stand still are not looked for */
    int64_t stall;
    uint64_t moves; /* sum of the moves of all ranks, as of the last look */
    int64_t moved;  /* ns: when that sum last changed */
};

static signal_flag woken; /* SIGCONT has come */

/* Handles SIGCONT. */
static void on_wake(int signal)
{
    (void)signal;
    woken = 1;
}

/* Whether pulses go between this rank and rank k. */
static bool is_peer(const struct messages *m, int k)
{
    return k != m->rank && (m->rank == 0 || k == 0);
}

/* Begins to receive the next pulse of rank k. */
static void listen(struct rank_pulse *p, int k)
{
    p->r->ranks->m.face->receive(CHANNEL_PULSE, k, 0, &p->in[k], sizeof p->in[k], &p->receiving[k]);
}

/* Says to rank k where this rank stands, unless the last pulse is still under way. */
static void beat(struct rank_pulse *p, int k)
{
    struct message_end end;
    const struct messages_face *face = p->r->ranks->m.face;
    if (p->sends[k] && face->ended(&p->sending[k], 1, &end) == 0)
        return;
    pthread_mutex_lock(&p->lock);
    p->out[k] = p->mine;
    pthread_mutex_unlock(&p->lock);
    p->sends[k] =
        face->send(CHANNEL_PULSE, k, 0, &p->out[k], sizeof p->out[k], &p->sending[k]) == 0;
}

void rank_pulse_end_all(struct runner *r)
{
    struct messages *m = &r->ranks->m;
    const struct pulse last = {.ends = 1};
    uint64_t handle;
    for (int k = 0; k < m->ranks; k++)
        if (k != m->rank)
            m->face->send(CHANNEL_PULSE, k, 0, &last, sizeof last, &handle);
    m->face->abort(FAILED);
    _exit(FAILED);
}

/* Appends to line[LINE], behind its first n bytes, where this rank and its peers stand, as far as there is room.  but:
 * a rank that is left out; -1: none.  Under the lock.  Returns the length of the line. */
static size_t put_where(const struct rank_pulse *p, int but, char *line, size_t n)
{
    const struct ranks *x = p->r->ranks;
    const char *between = but < 0 ? ": " : "; ";
    /* 64: for the words around `where` */
    for (int i = 0; i < x->m.ranks && n < LINE - TEXT - 64; i++) {
        const struct pulse *of = i == x->m.rank ? &p->mine : &p->last[i];
        if (i == but || (i != x->m.rank && !is_peer(&x->m, i)))
            continue;
        n += (size_t)snprintf(line + n, LINE - n, "%srank %d (%s): %s", between, i,
                              ranks_name(p->r, i), of->where);
        between = "; ";
    }
    return n < LINE ? n : LINE - 1; /* names of devices may be of any length */
}

/* Says a line of n bytes, which has room for one more, and ends this run.  Does not return. */
static void say_last(struct rank_pulse *p, char *line, size_t n)
{
    line[n++] = '\n';
    if (write(STDERR_FILENO, line, n) < 0)
        _exit(FAILED);
    rank_pulse_end_all(p->r);
}

/* Says that rank k is silent, where it stood, and where the others stand.  Does not return. */
static void mourn(struct rank_pulse *p, int k, int64_t silent)
{
    const struct runner *r = p->r;
    const struct ranks *x = r->ranks;
    char line[LINE];
    pthread_mutex_lock(&p->lock);
    size_t n = (size_t)snprintf(
        line, sizeof line,
        "pcc-run: error: rank %d (%s on %s) was stopped or killed: nothing was heard of it for %d.%d s; "
        "it stood at: %s",
        k, ranks_name(r, k), x->machine + (size_t)k * RANK_HOST, (int)(silent / (1000 * MS)),
        (int)(silent / (100 * MS) % 10), p->last[k].where);
    n = put_where(p, k, line, n);
    pthread_mutex_unlock(&p->lock);
    say_last(p, line, n);
}

/* Ends the run, with a message that says where all ranks stand, if rank_pulse_watch() has begun to look for that, no
 * rank runs a part, and no rank has moved for the time of --stall.  after: ns since this thread looked last; if that
 * is long, this process was stopped, and the time begins anew. */
static void look_for_stall(struct rank_pulse *p, int64_t after)
{
    char line[LINE], text[UNIT_TEXT];
    int64_t now = clock_now();
    uint64_t moves = 0;
    bool runs = false;
    pthread_mutex_lock(&p->lock);
    for (int k = 0; k < p->r->ranks->m.ranks && p->stall; k++) {
        const struct pulse *of = k == p->r->ranks->m.rank ? &p->mine : &p->last[k];
        moves += (uint64_t)of->moves;
        runs = runs || of->runs;
    }
    if (!p->stall || runs || moves != p->moves || after > p->stall / 2) {
        p->moves = moves;
        p->moved = now;
    }
    size_t n = (size_t)snprintf(line, sizeof line,
                                "pcc-run: error: nothing has moved for %s; the lists stand at",
                                time_short(text, p->stall * 1000));
    bool stands = p->stall && now - p->moved > p->stall;
    n = stands ? put_where(p, /*but=*/-1, line, n) : n;
    pthread_mutex_unlock(&p->lock);
    if (stands)
        say_last(p, line, n);
}

/* Receives the signs of life of other ranks.  Any rank may send a message that ends the run: it ends this process. */
static void hear_all(struct rank_pulse *p)
{
    const struct messages *m = &p->r->ranks->m;
    struct message_end end;
    for (int k = 0; k < m->ranks; k++) {
        if (k == m->rank || m->face->ended(&p->receiving[k], 1, &end) == 0 || end.failed)
            continue; /* after a failure rank k is silent */
        if (p->in[k].ends)
            _exit(FAILED);
        pthread_mutex_lock(&p->lock);
        p->last[k] = p->in[k];
        p->last[k].where[TEXT - 1] = 0;
        pthread_mutex_unlock(&p->lock);
        p->heard[k] = clock_now();
        listen(p, k);
    }
}

/* Ends the run, with a message, if a rank has been silent for too long: for SILENT, or for HURRY shortly after mpirun
 * has woken this process.  A rank other than 0 waits longer, by its number, so that only one rank speaks.  after: ns
 * since this thread looked last. */
static void look_for_silence(struct rank_pulse *p, int64_t after)
{
    const struct messages *m = &p->r->ranks->m;
    int64_t now = clock_now(), turn = m->rank > 1 ? (m->rank - 1) * NEXT : 0, most = SILENT;
    if (woken && !p->hurry)
        p->hurry = now;
    if (p->hurry && now - p->hurry > HURRY + turn && now - p->hurry < 3 * HURRY)
        /* if a rank that speaks before this one could speak, its message would have come by now */
        most = HURRY;
    most += turn;
    for (int k = 0; k < m->ranks; k++) {
        if (!is_peer(m, k))
            continue;
        if (after > most / 2)
            p->heard[k] = now; /* this process was stopped, so it could not hear others */
        if (now - p->heard[k] > most)
            mourn(p, k, now - p->heard[k]);
    }
}

/* The thread: sends a sign of life every BEAT, receives the signs of other ranks, and looks for silent ranks and
 * stalled runs, until rank_pulse_end() is called.  arg: the struct rank_pulse. */
static void *run_pulse(void *arg)
{
    struct rank_pulse *p = arg;
    const struct messages *m = &p->r->ranks->m;
    const struct timespec nap = {.tv_nsec = LOOK};
    int64_t last = 0, looked = clock_now();
    for (bool over = false; !over;) {
        bool due = clock_now() - last >= BEAT;
        hear_all(p);
        for (int k = 0; k < m->ranks && due; k++)
            if (is_peer(m, k))
                beat(p, k);
        last = due ? clock_now() : last;
        look_for_silence(p, clock_now() - looked);
        look_for_stall(p, clock_now() - looked);
        looked = clock_now();
        nanosleep(&nap, NULL);
        pthread_mutex_lock(&p->lock);
        over = p->over;
        pthread_mutex_unlock(&p->lock);
    }
    return NULL;
}

int rank_pulse_start(struct runner *r)
{
    struct ranks *x = r->ranks;
    size_t ranks = (size_t)x->m.ranks;
    struct rank_pulse *p = x->pulse = arena_alloc(r->a, sizeof *p);
    struct sigaction wake = {.sa_handler = on_wake, .sa_flags = SA_RESTART};
    sigset_t all, before;
    p->r = r;
    p->last = arena_array(r->a, ranks, sizeof *p->last);
    p->in = arena_array(r->a, ranks, sizeof *p->in);
    p->out = arena_array(r->a, ranks, sizeof *p->out);
    p->heard = arena_array(r->a, ranks, sizeof *p->heard);
    p->receiving = arena_array(r->a, ranks, sizeof *p->receiving);
    p->sending = arena_array(r->a, ranks, sizeof *p->sending);
    p->sends = arena_array(r->a, ranks, sizeof *p->sends);
    for (size_t k = 0; k < ranks; k++) {
        p->heard[k] = clock_now();
        snprintf(p->last[k].where, TEXT, "its beginning");
        if ((int)k != x->m.rank)
            listen(p, (int)k);
    }
    snprintf(p->mine.where, TEXT, "its beginning");
    pthread_mutex_init(&p->lock, NULL);
    sigaction(SIGCONT, &wake, NULL);
    sigfillset(&all); /* signals are for the main thread */
    pthread_sigmask(SIG_BLOCK, &all, &before);
    int rc = pthread_create(&p->thread, NULL, run_pulse, p);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    p->started = rc == 0;
    return rc ? diag_error(r->d, "no thread can be started: %s", strerror(rc)) : 0;
}

void rank_pulse_end(struct runner *r)
{
    struct rank_pulse *p = r->ranks->pulse;
    if (!p || !p->started)
        return;
    pthread_mutex_lock(&p->lock);
    p->over = true;
    pthread_mutex_unlock(&p->lock);
    pthread_join(p->thread, NULL);
    for (int k = 0; k < r->ranks->m.ranks; k++)
        if (k != r->ranks->m.rank)
            r->ranks->m.face->cancel(&p->receiving[k]);
    pthread_mutex_destroy(&p->lock);
}

void rank_pulse_say(struct runner *r, uint64_t moves, bool runs, const char *where)
{
    struct rank_pulse *p = r->ranks->pulse;
    pthread_mutex_lock(&p->lock);
    p->mine.moves = (int64_t)moves;
    p->mine.runs = runs;
    snprintf(p->mine.where, TEXT, "%.*s", TEXT - 1, *where ? where : "its end");
    pthread_mutex_unlock(&p->lock);
}

void rank_pulse_tell(struct runner *r)
{
    const struct run_device *d = &r->dev[r->ranks->device[r->ranks->m.rank]];
    struct arena *own = arena_new(r->a);
    const char *text = r->lists ? lists_where(r, own) : "a sample that has not come";
    if (d->part != RUN_NONE)
        text = arena_fmt(own, "%s, sample %lld, for %lld ms", r->s.part[d->part].file,
                         (long long)(r->set.first + d->sample),
                         (long long)((clock_now() - d->since) / MS));
    bool runs = d->part != RUN_NONE || d->next_part != RUN_NONE || d->ready.n > 0;
    rank_pulse_say(r, r->moves, runs, text);
    arena_free(own);
}

void rank_pulse_watch(struct runner *r)
{
    struct rank_pulse *p = r->ranks->pulse;
    pthread_mutex_lock(&p->lock);
    /* STALL_LEAST: what other ranks have said is up to a beat old */
    if (ranks_host(r) && r->set.stall)
        p->stall = larger(r->set.stall, STALL_LEAST);
    pthread_mutex_unlock(&p->lock);
}

bool rank_pulse_heard(struct runner *r, uint64_t *moves)
{
    struct rank_pulse *p = r->ranks->pulse;
    bool runs = false;
    pthread_mutex_lock(&p->lock);
    for (int k = 1; k < r->ranks->m.ranks; k++) {
        *moves += (uint64_t)p->last[k].moves;
        runs = runs || p->last[k].runs;
    }
    pthread_mutex_unlock(&p->lock);
    return runs;
}

const char *rank_pulse_where(struct runner *r)
{
    struct rank_pulse *p = r->ranks->pulse;
    const char *text = "";
    rank_pulse_tell(r);
    pthread_mutex_lock(&p->lock);
    for (int k = 0; k < r->ranks->m.ranks; k++)
        text = arena_fmt(r->a, "%s%srank %d (%s): %s", text, k ? "; " : "", k, ranks_name(r, k),
                         k ? p->last[k].where : p->mine.where);
    pthread_mutex_unlock(&p->lock);
    return text;
}
