/* Measures links within this machine (links.h).
 *
 * A sender writes a block that both sides see, and posts a semaphore; a receiver, a thread or a process that sleeps
 * until then, copies the block into its own memory and notes the time.  In a run, a device gets values of another
 * device in this way.  Blocks of each size are copied several times, and the lower quartile of the times counts.  Sizes
 * grow by factors of two; 20 further sizes, drawn at random, show how far the fit is off.  O(bytes copied), a few
 * seconds each way. */
#include "tools/run/links.h"

#include "ir/base/clock.h"
#include "ir/base/json_out.h"
#include "ir/base/numbers.h"
#include "ir/base/outfile.h"
#include "ir/base/random.h"
#include "ir/base/units.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Bytes of the largest block that is copied; if memory is short, it becomes smaller, down to SMALLEST_LARGEST. */
#define LARGEST ((size_t)512 << 20)
#define SMALLEST_LARGEST ((size_t)1 << 20)
#define ENOUGH_NS INT64_C(10000000) /* no further copy of a size begins after that */
enum {
    COPIES_LEAST = 3, /* number of copies of a size: at least, at most */
    COPIES_MOST = 51,
    SIZES_MOST = 40, /* number of sizes to which a line is fitted, at most */
    GROWTH = 2,      /* factor between two sizes */
    FRESH = 20,      /* number of further sizes, on which the fit is tried */
    ROUNDS = 50,     /* number of fits with changed weights */
    ANSWER_S = 60    /* seconds after which a receiver counts as dead */
};
#define RATE_STEP INT64_C(10000000) /* rates are rounded to 10 MB/s */

/* What both sides see beside the block. */
struct shared {
    sem_t go, done;
    size_t bytes; /* number of bytes to copy; 0: the receiver shall end */
    int64_t got;  /* ns, CLOCK_MONOTONIC: end of the copy */
};

/* A link that is being measured. */
struct wire {
    struct shared *s;
    /* [largest] the block that both sides see; the receiver's own memory */
    unsigned char *block, *to;
    size_t largest;
    enum link_way way;
    pthread_t thread;
    pid_t process;
};

const char *link_way_name(enum link_way way)
{
    static const char *const name[] = {"threads", "processes", "ranks"};
    return name[way];
}

/* ---- both sides ------------------------------------------------------------------------------- */

/* Waits until the semaphore is posted; a signal does not end the wait. */
static void wait_for(sem_t *s)
{
    while (sem_wait(s) && errno == EINTR)
        ;
}

/* The receiver: copies a block into its own memory each time that w->s->go is posted, notes the time, and posts
 * w->s->done; until bytes is 0. */
static void *receive(void *arg)
{
    struct wire *w = arg;
    memset(w->to, 1, w->largest); /* so the system has given all pages before the first copy */
    sem_post(&w->s->done);
    for (;;) {
        wait_for(&w->s->go);
        if (w->s->bytes == 0)
            return NULL;
        memcpy(w->to, w->block, w->s->bytes);
        w->s->got = clock_now();
        sem_post(&w->s->done);
    }
}

/* Waits for the receiver.  Returns 0; -1: it gives no answer. */
static int wait_answer(struct wire *w)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += ANSWER_S;
    while (sem_timedwait(&w->s->done, &until))
        if (errno != EINTR)
            return -1;
    return 0;
}

int64_t link_quartile(int64_t *ns, int n)
{
    qsort(ns, (size_t)n, sizeof *ns, by_i64);
    return larger(ns[n / 4], 1);
}

/* link_copier.copy: copies a block to the receiver several times; arg: the struct wire. */
static int64_t copy_time(void *arg, size_t bytes)
{
    struct wire *w = arg;
    int64_t ns[COPIES_MOST], begin = clock_now();
    int n = 0;
    while (n < COPIES_MOST && (n < COPIES_LEAST || clock_now() - begin < ENOUGH_NS)) {
        memset(w->block, n, bytes); /* the sender writes the block anew, as a part makes a value */
        w->s->bytes = bytes;
        int64_t sent = clock_now();
        sem_post(&w->s->go);
        if (wait_answer(w))
            return -1;
        ns[n++] = w->s->got - sent;
    }
    return link_quartile(ns, n);
}

/* ---- the fit ---------------------------------------------------------------------------------- */

/* A line through times: latency + bytes * per_byte, ns. */
struct line {
    double latency, per_byte;
};

/* Returns by which share of the measured time the line's time for so many bytes is off, >= 0. */
static double relative_error(const struct line *l, size_t bytes, int64_t ns)
{
    return fabs((l->latency + (double)bytes * l->per_byte) / (double)ns - 1);
}

/* Returns the line through n times for which the sum of weight[i] * (relative error)^2 is least.  If one of its terms
 * would be below 0, it is 0, and the other one is fitted alone.  (aa, ab, bb, a and b are the normal equations for u,
 * which goes with the latency, and v, which goes with per_byte.) */
static struct line fit_squares(const size_t *bytes, const int64_t *ns, const double *weight, int n)
{
    double aa = 0, ab = 0, bb = 0, a = 0, b = 0;
    for (int i = 0; i < n; i++) {
        double w = weight[i], u = 1 / (double)ns[i], v = (double)bytes[i] / (double)ns[i];
        aa += w * u * u;
        ab += w * u * v;
        bb += w * v * v;
        a += w * u;
        b += w * v;
    }
    double det = aa * bb - ab * ab;
    struct line l = {det > 0 ? (a * bb - b * ab) / det : 0, det > 0 ? (b * aa - a * ab) / det : 0};
    if (l.latency < 0 || det <= 0)
        l = (struct line){0, b / bb};
    else if (l.per_byte < 0)
        l = (struct line){a / aa, 0};
    return l;
}

/* Returns the line with the least sum of relative errors, by least squares whose weights, 1 / error, undo the square.
 * Blocks that fit in caches are many times faster for each byte than larger ones, so that no line fits both; unweighted
 * squares would fit neither. */
static struct line fit(const size_t *bytes, const int64_t *ns, int n)
{
    double weight[SIZES_MOST];
    for (int i = 0; i < n; i++)
        weight[i] = 1;
    struct line l = fit_squares(bytes, ns, weight, n);
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < n; i++)
            weight[i] = 1 / fmax(relative_error(&l, bytes[i], ns[i]), 1e-3);
        l = fit_squares(bytes, ns, weight, n);
    }
    return l;
}

int link_find(const struct link_copier *c, const signal_flag *stop, struct link_fit *out)
{
    size_t bytes[SIZES_MOST];
    int64_t ns[SIZES_MOST], off[FRESH];
    uint64_t rng = 1;
    int n = 0;
    /* 1, 2, 4, ..., and the largest size at last */
    for (size_t b = 1; b / GROWTH < c->largest && n < SIZES_MOST; b *= GROWTH, n++) {
        bytes[n] = b < c->largest ? b : c->largest;
        if (*stop)
            return 1;
        ns[n] = c->copy(c->arg, bytes[n]);
        if (ns[n] < 0)
            return -1;
    }
    struct line l = fit(bytes, ns, n);
    for (int i = 0; i < FRESH; i++) { /* sizes whose logarithms are evenly distributed */
        double share = (double)random_below(&rng, 1000000) / 1000000;
        size_t b = (size_t)pow((double)c->largest, share);
        if (*stop)
            return 1;
        int64_t found = c->copy(c->arg, b);
        if (*stop) /* then the copy may have been disturbed */
            return 1;
        if (found < 0)
            return -1;
        off[i] = (int64_t)(1000 * relative_error(&l, b, found));
    }
    qsort(off, FRESH, sizeof *off, by_i64);
    int64_t bps = l.per_byte > 1e-9 ? (int64_t)(1e9 / l.per_byte) : INT64_MAX;
    *out = (struct link_fit){.latency_ps = (int64_t)l.latency * 1000,
                             .bps = larger(bps / RATE_STEP, 1) * RATE_STEP,
                             .largest = (int64_t)c->largest,
                             .off = off[FRESH / 2]};
    return 0;
}

/* ---- making and ending ------------------------------------------------------------------------ */

/* Starts the receiver, a thread or a process.  Returns 0; or -1, with the reason in errno. */
static int begin(struct wire *w)
{
    if (w->way == LINK_THREADS) {
        errno = pthread_create(&w->thread, NULL, receive, w);
        return errno ? -1 : 0;
    }
    w->process = fork();
    if (w->process == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* if this program dies, the receiver is killed */
        receive(w);
        _exit(0);
    }
    return w->process < 0 ? -1 : 0;
}

/* Ends the receiver, and waits until its thread or process has ended.  dead: the receiver gives no answer any more; if
 * it is a process, it is killed. */
static void end(struct wire *w, bool dead)
{
    w->s->bytes = 0;
    sem_post(&w->s->go);
    if (w->way == LINK_THREADS) {
        pthread_join(w->thread, NULL);
    } else {
        if (dead)
            kill(w->process, SIGKILL);
        while (waitpid(w->process, NULL, 0) < 0 && errno == EINTR)
            ;
    }
}

/* Returns `bytes` bytes of memory that a child process shares; NULL: there is no memory. */
static void *map(size_t bytes)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

/* Gives the memory of map() back; p may be NULL. */
static void unmap(void *p, size_t bytes)
{
    if (p)
        munmap(p, bytes);
}

/* Makes the blocks of both sides.  Returns whether there is memory for both. */
static bool map_blocks(struct wire *w)
{
    w->block = map(w->largest);
    w->to = w->block ? map(w->largest) : NULL;
    if (!w->to) {
        unmap(w->block, w->largest);
        w->block = NULL;
    }
    return w->to != NULL;
}

/* Returns the largest size that is copied: three blocks of it fit the memory that is free, or it is
 * SMALLEST_LARGEST. */
static size_t largest_block(void)
{
    size_t free_bytes = (size_t)sysconf(_SC_AVPHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE);
    size_t most = LARGEST;
    while (most > SMALLEST_LARGEST && most > free_bytes / 3)
        most /= 2;
    return most;
}

int link_measure(enum link_way way, const signal_flag *stop, struct link_fit *out, struct diag *d)
{
    struct wire w = {.way = way, .largest = largest_block()};
    int rc = -1;
    w.s = map(sizeof *w.s);
    while (!map_blocks(&w) && w.largest > SMALLEST_LARGEST)
        w.largest /= 2;
    if (!w.s || !w.to || sem_init(&w.s->go, 1, 0) || sem_init(&w.s->done, 1, 0) || begin(&w)) {
        diag_error(d, "--links: %s: %s", link_way_name(way), strerror(errno));
    } else {
        const struct link_copier copier = {copy_time, &w, w.largest};
        rc = wait_answer(&w) ? -1 : link_find(&copier, stop, out);
        out->way = way;
        end(&w, rc < 0);
        if (rc < 0)
            diag_error(d, "--links: %s: the receiver gives no answer", link_way_name(way));
    }
    unmap(w.s, sizeof *w.s);
    unmap(w.block, w.largest);
    unmap(w.to, w.largest);
    return rc;
}

int link_write(const struct link_fit *l, const char *path, struct arena *a, struct diag *d)
{
    struct outfile f;
    char rate[UNIT_TEXT], latency[UNIT_TEXT];
    if (outfile_open_to(&f, path, NULL, a, d))
        return -1;
    struct json_out o = {.f = f.f};
    json_open(&o, NULL, '{', 1);
    json_open(&o, "classes", '[', 2);
    json_open(&o, NULL, '{', JSON_ROW);
    json_text(&o, "preset", "cpu");
    json_text(&o, "name", "core");
    /* with "host": true, transfers between the two would cost nothing */
    fputs("false", json_member(&o, "host"));
    json_int(&o, "count", 2);
    json_open(&o, "link", '{', JSON_ROW);
    json_text(&o, "bandwidth", rate_print(rate, l->bps));
    json_text(&o, "latency", time_print(latency, l->latency_ps));
    json_close(&o, JSON_ROW);
    json_close(&o, JSON_ROW);
    json_close(&o, 1);
    json_close(&o, 0);
    return outfile_close(&f, true);
}
