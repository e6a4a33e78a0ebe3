/* Copies of a part side by side (side_by_side.h).
 *
 * Each copy is a session of its own.  A turn has some runs of the first copy alone, and as many of each copy together,
 * each in a thread; the two alternate, so that other programs on the machine slow both down alike.  Together, each copy
 * goes on until all copies have had their runs.  A figure is the median of all runs by the clock, which includes the
 * time spent waiting for memory or for a processor.  O(turns * runs). */
#include "tools/run/side_by_side.h"
#include "tools/run/cores.h"

#include "ir/base/clock.h"
#include "ir/base/numbers.h"
#include "ir/base/units.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { TURNS = 5 }; /* number of turns: runs alone, then together */

/* What the copies share. */
struct race {
    const struct measuring *m;
    const struct split_part *part;
    const char *cores;
    atomic_uint busy;   /* number of copies that have not had their runs yet */
    atomic_bool failed; /* a copy failed, or Ctrl-C was pressed */
};

/* A copy. */
struct copy {
    struct race *race;
    uint32_t k; /* number of the copy */
    pthread_t thread;
    struct loaded *p;                /* its session */
    struct engine_value **in, **out; /* [inputs of the part], [outputs of the part] */
    int64_t *ns;                     /* [runs] time of each run by the clock, in the last turn */
    struct engine_error err;
    bool failed; /* its last run failed, for the reason in err */
};

int64_t side_by_side_factor(const struct side_by_side *s)
{
    return s->together > 0 ? mul_div_ceil(s->alone, 1000, s->together) : 0;
}

/* Runs a copy of the part once, and frees its outputs.  Returns ns by the clock; or -1, and sets c->failed, with the
 * reason in c->err. */
static int64_t run_once(struct copy *c)
{
    const struct measuring *m = c->race->m;
    const struct split_part *part = c->race->part;
    const struct engine_call call = {part->in_name, c->in,           part->nin, part->out_name,
                                     c->out,        part->out_bytes, part->nout};
    int64_t before = clock_now();
    int rc = m->e->face->run(c->p, &call, &c->err);
    int64_t ns = clock_now() - before;
    for (uint32_t i = 0; i < part->nout; i++) {
        m->e->face->value_free(m->e, c->out[i]);
        c->out[i] = NULL;
    }
    c->failed = rc != 0;
    return rc ? -1 : ns;
}

/* Thread of a copy, `arg`: first m->discard runs that are not measured, then m->runs measured ones; after these it goes
 * on running, so that the other copies are not measured with less load, until all have their measured runs. */
static void *run_copy(void *arg)
{
    struct copy *c = arg;
    struct race *r = c->race;
    uint32_t n = r->m->discard + r->m->runs;
    if (r->cores)
        cores_take(r->cores, c->k, (uint32_t)r->m->threads);
    for (uint32_t i = 0; (i < n || atomic_load(&r->busy) > 0) && !atomic_load(&r->failed); i++) {
        int64_t ns = *r->m->stop ? -1 : run_once(c);
        if (ns < 0)
            atomic_store(&r->failed, true);
        else if (i >= r->m->discard && i < n)
            c->ns[i - r->m->discard] = ns;
        if (i + 1 == n)
            atomic_fetch_sub(&r->busy, 1);
    }
    return NULL;
}

/* Has the first n copies run, each in a thread, and appends their times to ns[*nns].  Returns 0; -1: a thread cannot be
 * started. */
static int run_copies(struct copy *c, uint32_t n, int64_t *ns, size_t *nns)
{
    struct race *r = c->race;
    uint32_t started = 0;
    atomic_store(&r->busy, n);
    while (started < n && pthread_create(&c[started].thread, NULL, run_copy, &c[started]) == 0)
        started++;
    if (started < n)
        atomic_store(&r->failed, true);
    for (uint32_t k = 0; k < started; k++)
        pthread_join(c[k].thread, NULL);
    for (uint32_t k = 0; k < n && !atomic_load(&r->failed); k++)
        for (uint32_t i = 0; i < r->m->runs; i++)
            ns[(*nns)++] = c[k].ns[i];
    return started < n ? -1 : 0;
}

/* Returns the median of n times, which it sorts; 0 if there are none. */
static int64_t median(int64_t *ns, size_t n)
{
    qsort(ns, n, sizeof *ns, by_i64);
    return n ? ns[n / 2] : 0;
}

/* Returns the number of different devices that run the parts. */
static uint32_t count_devices(const struct split *s)
{
    uint32_t n = 0;
    for (uint32_t k = 0; k < s->npart; k++) {
        bool seen = false;
        for (uint32_t j = 0; j < k && !seen; j++)
            seen = !strcmp(s->part[j].device, s->part[k].device);
        n += !seen;
    }
    return n;
}

/* Loads copy k of the part, whose inputs are in the table.  Returns 0, or -1 after an error. */
static int load_copy(struct race *r, struct copy *c, uint32_t k)
{
    const struct measuring *m = r->m;
    const struct split_part *part = r->part;
    const struct engine_load how = split_load(part, m->threads, /*optimise=*/true);
    *c = (struct copy){.race = r, .k = k};
    c->in = arena_array(m->a, (size_t)part->nin + 1, sizeof *c->in);
    c->out = arena_array(m->a, (size_t)part->nout + 1, sizeof *c->out);
    c->ns = arena_array(m->a, m->runs, sizeof *c->ns);
    for (uint32_t v = 0; v < part->nin; v++)
        c->in[v] = m->table[part->in[v]];
    if (r->cores) /* threads of a session get the processors of this thread */
        cores_take(r->cores, k, (uint32_t)m->threads);
    c->p = m->e->face->load(m->e, &how, &c->err);
    return c->p ? 0 : diag_error(m->d, "%s: %s", part->file, c->err.line);
}

/* Measures n loaded copies: in each of TURNS turns the first copy runs alone, then all of them at once.  Writes the
 * medians to *out, unless Ctrl-C ended the runs.  Returns 0, or -1 and an error. */
static int take_turns(struct race *r, struct copy *c, uint32_t n, struct side_by_side *out)
{
    const struct measuring *m = r->m;
    size_t most = (size_t)TURNS * m->runs, nalone = 0, ntogether = 0;
    int64_t *alone = arena_array(m->a, most + 1, sizeof *alone);
    int64_t *together = arena_array(m->a, most * n + 1, sizeof *together);
    int rc = 0;
    for (int turn = 0; turn < TURNS && !rc && !atomic_load(&r->failed); turn++) {
        rc = run_copies(c, 1, alone, &nalone);
        if (!rc && !atomic_load(&r->failed))
            rc = run_copies(c, n, together, &ntogether);
    }
    if (rc)
        return diag_error(m->d, "--side-by-side: there are no threads for %u copies", n);
    for (uint32_t k = 0; k < n; k++)
        if (c[k].failed)
            return diag_error(m->d, "%s: copy %u of %u: %s", r->part->file, k + 1, n,
                              c[k].err.line);
    if (!atomic_load(&r->failed))
        *out = (struct side_by_side){n, r->part->file, 1000 * median(alone, nalone),
                                     1000 * median(together, ntogether)};
    return 0;
}

int side_by_side(const struct measuring *m, const struct part_figures *f, uint32_t most,
                 const char *cores, struct side_by_side *out)
{
    uint32_t slowest = 0, n = count_devices(m->s), loaded = 0;
    for (uint32_t k = 1; k < m->s->npart; k++)
        if (f[k].ps > f[slowest].ps)
            slowest = k;
    n = n < 2 ? 2 : smaller_u32(n, most);
    *out = (struct side_by_side){0};
    struct race r = {.m = m, .part = &m->s->part[slowest], .cores = cores};
    struct copy *c = arena_array(m->a, n, sizeof *c);
    int rc = measure_inputs(m, slowest);
    while (loaded < n && !rc && !*m->stop) {
        rc = load_copy(&r, &c[loaded], loaded);
        loaded += rc == 0;
    }
    if (cores) /* load_copy() has kept this thread to the processors of one copy: gives it the whole list again */
        cores_take(cores, 0, UINT32_MAX);
    if (loaded == n)
        rc = take_turns(&r, c, n, out);
    for (uint32_t k = 0; k < loaded; k++)
        m->e->face->unload(c[k].p);
    measure_forget(m);
    return rc;
}
