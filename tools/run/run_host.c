/* The host of a run (runner.h), which is the main thread: it lets samples in (begins them) as places become free, gives
 * their outputs to the user in order, and looks a few times a second whether Ctrl-C was pressed, whether anything
 * moves, and whether a part takes long.  No thread is ever cancelled: all threads end by themselves, then they are
 * joined. */
#include "tools/run/ranks.h"
#include "tools/run/runner.h"

#include "ir/base/clock.h"
#include "ir/base/numbers.h"
#include "ir/base/units.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

enum { FAILED = 1, INTERRUPTED = 130 }; /* exit codes */
#define TICK_NS INT64_C(50000000)       /* ns for which the host sleeps if nothing wakes it */
#define S_NS INT64_C(1000000000)

/* The host's own state. */
struct hosting {
    struct runner *r;
    struct run_samples *samples;
    struct box **first; /* [ninput] inputs of the sample that comes in */
    uint64_t moves;     /* value of runner.moves after its last change */
    int64_t moved;      /* ns: time of that change */
    bool stopped;       /* Ctrl-C was pressed, and no more samples come in */
    bool stalled;       /* nothing has moved for the time of --stall */
    /* no files are read or written for samples, so that devices' threads let them in and out, too */
    bool light;
    int exit;      /* exit code that all ranks agree on before the first sample; 0: samples begin */
    bool unlocked; /* the host has given up the lock, set by unlock() */
    struct run_states left; /* with --state and --replan: states after the last sample */
};

/* ---- samples in and out ----------------------------------------------------------------------- */

/* Gives up the lock for work that takes long; does nothing if the work is light. */
static void unlock(struct hosting *h)
{
    if (h->light)
        return;
    h->unlocked = true;
    pthread_mutex_unlock(&h->r->lock);
}

/* Takes the lock again that unlock() has given up. */
static void lock_again(struct hosting *h)
{
    if (!h->unlocked)
        return;
    pthread_mutex_lock(&h->r->lock);
    h->unlocked = false;
}

/* Lets sample r->loaded in: its inputs go into the table, unless it is not to run any more.  An error fails the run at
 * this sample.  Under the lock, which is given up meanwhile. */
static void load_sample(struct hosting *h)
{
    struct runner *r = h->r;
    struct engine_error err = {"out of memory"};
    int64_t k = r->loaded;
    unlock(h);
    int rc = samples_load(h->samples, k, h->first, &err);
    lock_again(h);
    if (rc) {
        char line[sizeof r->error];
        snprintf(line, sizeof line, "sample %" PRId64 ": %s", r->set.first + k, err.line);
        run_fail(r, k, line);
        return;
    }
    if (k < r->n) {
        flight_begin(r, h->first);
        return;
    }
    for (uint32_t i = 0; i < r->s.ninput; i++) /* the sample is not to run any more */
        if (h->first[i] && h->first[i]->of != RUN_NONE)
            box_return(r, h->first[i]);
}

/* Gives the outputs of a sample to the user, and drops the tensors that the host holds of it.  Under the lock, which is
 * given up while outputs are written. */
static void give_outputs(struct hosting *h, struct flight *f)
{
    struct runner *r = h->r;
    struct engine_error err = {"out of memory"};
    struct figures *g = &r->figures;
    g->last = larger(g->last, f->ended);
    g->first = g->samples ? g->first : f->ended;
    g->samples++;
    times_add(&g->latency, f->ended - f->began);
    unlock(h);
    int rc = outputs_write(r, f, &err);
    lock_again(h);
    if (rc) {
        char line[sizeof r->error];
        snprintf(line, sizeof line, "sample %" PRId64 ": %s", r->set.first + f->sample, err.line);
        run_fail(r, f->sample, line);
    }
    flight_give(r, f);
}

/* Whether the next sample may come in: it is to run, there is a place for it, Ctrl-C was not pressed, and with
 * --order=model the sample before it is through. */
static bool may_load(const struct runner *r)
{
    return r->loaded < r->n && r->flight[r->loaded % r->width].sample < 0 && !*r->stop &&
           (!r->set.by_model || r->loaded == r->given);
}

/* Gives away the outputs of the next sample if it has ended, else loads another sample if there is room for it.
 * Returns false if it did neither. */
static bool pass_sample(struct hosting *h)
{
    struct flight *out = flight_next_out(h->r);
    bool in = !out && may_load(h->r);
    if (out)
        give_outputs(h, out);
    if (in)
        load_sample(h);
    return out || in;
}

void run_wake_host(struct runner *r)
{
    const struct hosting *h = r->ranks ? r->ranks->hosting : NULL;
    if (ranks_host(r) && !(h && h->light))
        pthread_cond_signal(&r->host);
}

void run_pass_samples(struct runner *r)
{
    struct hosting *h = r->ranks->hosting;
    while (h && h->light && r->given < r->n && pass_sample(h)) {
    }
}

/* ---- watching --------------------------------------------------------------------------------- */

/* If Ctrl-C was pressed, lets no more samples in; samples that have begun are completed. */
static void look_for_stop(struct hosting *h)
{
    struct runner *r = h->r;
    if (h->stopped || !*r->stop)
        return;
    h->stopped = true;
    r->n = smaller(r->n, r->loaded);
    if (r->ranks)
        ranks_limit(r, r->n);
    if (r->lists)
        lists_move(r);
}

/* Notes parts that take long, and ends a run in which nothing has moved for the time of --stall. */
static void watch(struct hosting *h)
{
    struct runner *r = h->r;
    int64_t now = clock_now();
    char text[UNIT_TEXT];
    bool runs = false;
    for (uint32_t i = 0; i < r->ndev; i++) {
        struct run_device *d = &r->dev[i];
        runs = runs || d->part != RUN_NONE || d->next_part != RUN_NONE || d->ready.n > 0;
        if (d->part == RUN_NONE || !r->set.stall || now - d->told < r->set.stall)
            continue;
        d->told = now;
        diag_note(r->d, "%s (%s), sample %" PRId64 ": it has been running for %s",
                  r->s.part[d->part].file, d->name, r->set.first + d->sample,
                  time_short(text, (now - d->since) * 1000));
    }
    uint64_t moves = r->moves; /* here, and at other ranks */
    runs = (r->ranks && rank_pulse_heard(r, &moves)) || runs;
    if (runs || r->opening || moves != h->moves || !r->set.stall) {
        h->moves = moves;
        h->moved = now;
        return;
    }
    if (now - h->moved < r->set.stall)
        return;
    h->stalled = true;
    const char *where = r->ranks ? rank_pulse_where(r) : r->lists ? lists_where(r, r->a) : "";
    diag_error(r->d, "nothing has moved for %s%s%s", time_short(text, r->set.stall * 1000),
               *where ? "; the lists stand at: " : "", where);
}

void run_doze(struct runner *r, pthread_cond_t *woken, int64_t ns)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    int64_t end = t.tv_nsec + ns; /* counted from the second t.tv_sec */
    t.tv_sec += (time_t)(end / S_NS);
    t.tv_nsec = (long)(end % S_NS);
    pthread_cond_timedwait(woken, &r->lock, &t);
}

/* Waits until something may have changed; under the lock, which is given up meanwhile. */
static void wait_a_while(struct runner *r)
{
    /* a short --stall is looked at several times */
    run_doze(r, &r->host, r->set.stall ? smaller(TICK_NS, r->set.stall / 4 + 1) : TICK_NS);
}

/* ---- the run ---------------------------------------------------------------------------------- */

/* Makes lock and conditions; waits for conditions use CLOCK_MONOTONIC, which never jumps. */
static void make_lock(struct runner *r)
{
    pthread_condattr_t attr;
    pthread_mutexattr_t spins;
    pthread_mutexattr_init(&spins);
#ifdef __GLIBC__ /* spins: the lock is held for less time than a thread takes to sleep and wake up */
    pthread_mutexattr_settype(&spins, PTHREAD_MUTEX_ADAPTIVE_NP);
#endif
    pthread_mutex_init(&r->lock, &spins);
    pthread_mutexattr_destroy(&spins);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&r->host, &attr);
    for (uint32_t d = 0; d < r->ndev; d++)
        pthread_cond_init(&r->dev[d].work, &attr);
    pthread_condattr_destroy(&attr);
}

/* Starts a thread for each device of this process that has parts, and sets r->opening to their number.  If one cannot
 * be started, the run fails.  Under the lock. */
static void start_threads(struct runner *r)
{
    sigset_t all, before;
    sigfillset(&all); /* signals are for the main thread */
    pthread_sigmask(SIG_BLOCK, &all, &before);
    for (uint32_t i = 0; i < r->ndev; i++)
        r->opening += r->dev[i].loaded && ranks_have(r, i);
    for (uint32_t i = 0; i < r->ndev; i++) {
        struct run_device *d = &r->dev[i];
        int rc =
            d->loaded && ranks_have(r, i) ? pthread_create(&d->thread, NULL, device_run, d) : -1;
        d->started = rc == 0;
        if (rc <= 0)
            continue;
        char line[sizeof r->error];
        snprintf(line, sizeof line, "%s: no thread can be started: %s", d->name, strerror(rc));
        r->opening--;
        run_fail(r, 0, line);
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* Ends and joins all threads, and destroys the lock, which the caller holds, and the conditions. */
static void end_threads(struct runner *r)
{
    r->over = true;
    for (uint32_t d = 0; d < r->ndev; d++)
        pthread_cond_signal(&r->dev[d].work);
    pthread_mutex_unlock(&r->lock);
    for (uint32_t d = 0; d < r->ndev; d++)
        if (r->dev[d].started)
            pthread_join(r->dev[d].thread, NULL);
    for (uint32_t d = 0; d < r->ndev; d++)
        pthread_cond_destroy(&r->dev[d].work);
    pthread_cond_destroy(&r->host);
    pthread_mutex_destroy(&r->lock);
}

/* Frees the sessions of all devices, and the tensors of samples and of free boxes. */
static void free_all(struct runner *r)
{
    for (uint32_t i = 0; i < r->width; i++)
        for (uint32_t v = 0; v < r->s.nvalue && r->flight[i].held > 0; v++)
            while (r->flight[i].box[v])
                box_drop(r, &r->flight[i], v);
    for (uint32_t v = 0; v < r->s.nvalue; v++)
        for (const struct box *b = r->spare[v]; b; b = b->next)
            r->e->face->value_free(r->e, b->value);
    for (uint32_t d = 0; d < r->ndev; d++)
        for (uint32_t k = 0; k < r->s.npart && r->dev[d].loaded; k++)
            if (r->dev[d].loaded[k])
                r->e->face->unload(r->dev[d].loaded[k]);
}

/* Waits until all devices have loaded their parts, then lets samples in and out, until all are through, or the run is
 * ended by Ctrl-C or because it stands still.  A rank other than 0 does what rank 0 says instead.  Under the lock.
 * arg: the struct hosting. */
static void serve(void *arg)
{
    struct hosting *h = arg;
    struct runner *r = h->r;
    while (r->opening)
        wait_a_while(r);
    if (r->ranks && (h->exit = ranks_agree(r, r->failed, r->error))) {
        r->n = 0;
        return;
    }
    r->figures.began = h->moved = clock_now();
    if (r->ranks) {
        h->light = h->samples && !r->set.output && !samples_late(h->samples);
        r->ranks->hosting = h;
        ranks_hear(r);
    }
    if (r->lists && !r->ranks)
        lists_move(r);
    if (!ranks_host(r)) {
        ranks_serve(r);
        return;
    }
    while (r->given < r->n && !h->stalled) {
        bool passed = pass_sample(h);
        if (!passed && r->ranks)
            ranks_wait(r);
        else if (!passed)
            wait_a_while(r);
        look_for_stop(h);
        watch(h);
    }
    if (r->ranks)
        ranks_end(r);
}

/* Makes samples, and what outputs need.  Returns 0, or an exit code after an error. */
static int prepare_host(struct hosting *h)
{
    struct runner *r = h->r;
    h->samples = samples_make(r);
    if (!h->samples)
        return *r->stop ? INTERRUPTED : FAILED;
    if (r->set.memory && run_memory(r, h->samples))
        return FAILED;
    h->first = arena_array(r->a, (size_t)r->s.ninput + 1, sizeof(struct box *));
    return outputs_prepare(r, h->samples) ? FAILED : 0;
}

/* Starts the threads, lets all samples in and out, ends the threads, and frees sessions and tensors, unless MPI may
 * still use one of the tensors. */
static void run_samples(struct hosting *h)
{
    struct runner *r = h->r;
    size_t wanted;
    make_lock(r);
    pthread_mutex_lock(&r->lock);
    start_threads(r);
    bool served = arena_guard(r->a, serve, h, &wanted);
    if (h->unlocked)
        lock_again(h);
    h->light = false; /* from here on devices' threads let no samples in or out */
    bool unused = !r->ranks || !served || h->exit || ranks_drain(r);
    end_threads(r);
    if (!served) /* memory ran out: reported only now, when no thread runs */
        arena_exhausted(r->a, wanted);
    if (r->failed)
        diag_error(r->d, "%s", r->error);
    h->left = states_left(r);
    if (unused)
        free_all(r);
}

int run_all(struct runner *r)
{
    struct hosting h = {.r = r};
    int rc = ranks_host(r) ? prepare_host(&h) : 0;
    if (r->ranks)
        rc = ranks_agree(r, rc, "");
    if (!rc)
        run_samples(&h);
    if (h.samples)
        samples_free(h.samples);
    if (!rc)
        states_keep(r, &h.left);
    for (uint32_t i = 0; i < r->wires.noutput && r->wires.constant; i++)
        if (r->wires.constant[i])
            r->e->face->value_free(r->e, r->wires.constant[i]->value);
    if (r->ranks && !rc && !h.exit)
        ranks_collect(r);
    bool good = !r->failed && !h.stalled && !h.stopped && !*r->stop;
    if (r->ranks && !rc && !h.exit && ranks_check_messages(r, good))
        return FAILED;
    if (rc || h.exit)
        return rc ? rc : h.exit;
    if (r->failed || h.stalled)
        return FAILED;
    return h.stopped ? INTERRUPTED : 0;
}
