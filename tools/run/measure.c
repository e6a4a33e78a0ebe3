/* Measures parts (measure.h).
 *
 * In a turn all parts are loaded, and some samples go through them: a part's weights have left the caches when it runs
 * again, as when the split runs.  (A part that ran again and again alone took up to 17 % less.) If memory is short, the
 * parts take turns one after the other: each is loaded, run some times and unloaded.  A part's time in a turn is the
 * lower quartile of the processor time that its thread spent (with several threads: the least time by the clock).  The
 * part's time is the smallest of two turns, since other programs on the machine add to single runs and to single turns;
 * if the two differ by more than a tenth, there is a third turn.  O(runs). */
#include "tools/run/measure.h"
#include "tools/run/part_memory.h"

#include "ir/base/clock.h"
#include "ir/base/numbers.h"
#include "ir/base/units.h"

#include <inttypes.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* Turns of a part may differ by 1 / TENTH; the number of turns that each part has. */
enum { TENTH = 10, TURNS = 2 };

/* Reports that part k failed.  Returns -1. */
static int failed(const struct measuring *m, uint32_t k, const char *why)
{
    const struct split_part *p = &m->s->part[k];
    return diag_error(m->d, "%s%s%s%s: %s", p->file, p->nnode ? ", first node '" : "",
                      p->nnode ? p->node[0] : "", p->nnode ? "'" : "", why);
}

struct loaded *measure_load(const struct measuring *m, uint32_t k, const struct engine_load *how)
{
    struct engine_error err;
    struct loaded *p = m->e->face->load(m->e, how, &err);
    if (!p)
        failed(m, k, err.line);
    return p;
}

/* Returns the ps of processor time that has been spent: by this thread if operators have no others, else by the
 * process. */
static int64_t spent_now(const struct measuring *m)
{
    struct timespec t;
    if (m->threads == 1)
        return m->e->face->spent(m->e);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (int64_t)t.tv_sec * PS_PER_S + t.tv_nsec * INT64_C(1000);
}

int measure_run(const struct measuring *m, uint32_t k, struct loaded *p, struct timing *t)
{
    const struct split_part *part = &m->s->part[k];
    struct engine_error err;
    struct arena *own = arena_new(m->a);
    struct engine_value **in = arena_array(own, (size_t)part->nin + 1, sizeof *in);
    struct engine_value **out = arena_array(own, (size_t)part->nout + 1, sizeof *out);
    for (uint32_t i = 0; i < part->nin; i++)
        in[i] = m->table[part->in[i]];
    for (uint32_t i = 0; i < part->nout; i++) { /* free the outputs of the run before */
        m->e->face->value_free(m->e, m->table[part->out[i]]);
        m->table[part->out[i]] = NULL;
    }
    const struct engine_call call = {part->in_name,   in,        part->nin, part->out_name, out,
                                     part->out_bytes, part->nout};
    int64_t clock = clock_now(), spent = spent_now(m);
    int rc = m->e->face->run(p, &call, &err);
    *t = (struct timing){spent_now(m) - spent, (clock_now() - clock) * 1000};
    for (uint32_t i = 0; i < part->nout; i++)
        m->table[part->out[i]] = out[i];
    arena_free(own);
    return rc ? failed(m, k, arena_fmt(m->a, "%s" INPUTS_HINT, err.line)) : 0;
}

/* Compare two runs for qsort(): by_spent() by processor time, by_clock() by the time by the clock. */
static int by_spent(const void *a, const void *b)
{
    return by_i64(&((const struct timing *)a)->spent, &((const struct timing *)b)->spent);
}

static int by_clock(const void *a, const void *b)
{
    return by_i64(&((const struct timing *)a)->clock, &((const struct timing *)b)->clock);
}

/* Adds a turn of part k to *f: the times t[m->runs] of its runs, which are sorted here.  With several threads, warns if
 * they were not busy. */
static void add_turn(const struct measuring *m, uint32_t k, struct timing *t,
                     struct part_figures *f)
{
    int64_t spent = 0, clock = 0;
    for (uint32_t i = 0; i < m->runs; i++) {
        spent += t[i].spent;
        clock += t[i].clock;
    }
    qsort(t, m->runs, sizeof *t, m->threads == 1 ? by_spent : by_clock);
    /* the lower quartile, or the least time by the clock */
    int64_t ps = m->threads == 1 ? t[m->runs / 4].spent : t[0].clock;
    /* each thread has worked for less than 10/11 of the time by the clock */
    if (m->threads > 1 && ps / (TENTH + 1) * TENTH > t[0].spent / m->threads)
        diag_warning(m->d, WARN_NONE,
                     "%s: its threads were not busy all the time: %" PRId64
                     " us by the clock, %" PRId64 " us of processor time each",
                     m->s->part[k].file, ps / 1000000, t[0].spent / m->threads / 1000000);
    f->turn[f->turns] = ps;
    f->had[f->turns] = (uint32_t)percent_of(spent / m->threads, clock);
    f->ps = f->ps < 0 ? ps : smaller(f->ps, ps);
    f->turns++;
}

/* Gives part k a turn: loads it, runs it and unloads it.  If `counts`, the turn is added to *f.  Otherwise the part
 * runs only once, so that the parts behind it have their inputs.  Its outputs stay in the table.  Returns 0, or -1
 * after an error. */
static int take_turn(const struct measuring *m, uint32_t k, bool counts, struct part_figures *f)
{
    const struct split_part *part = &m->s->part[k];
    const struct engine_load how = split_load(part, m->threads, /*optimise=*/true);
    struct loaded *p = measure_load(m, k, &how);
    struct arena *own = arena_new(m->a);
    uint32_t n = counts ? m->discard + m->runs : 1, done = 0;
    struct timing *t = arena_array(own, n, sizeof *t);
    int rc = p ? 0 : -1;
    /* the part runs once even after Ctrl-C, since later parts need its outputs */
    for (; done < n && !rc && (done == 0 || !*m->stop); done++)
        rc = measure_run(m, k, p, &t[done]);
    if (p)
        m->e->face->unload(p);
    if (!rc && counts && done == n)
        add_turn(m, k, t + m->discard, f);
    arena_free(own);
    return rc;
}

/* Called when part k is done: frees the values in the table that no later part reads.  left: [value] number of parts
 * that have still to read the value. */
static void forget(const struct measuring *m, uint32_t k, uint32_t *left)
{
    const struct split_part *p = &m->s->part[k];
    for (uint32_t i = 0; i < p->nin; i++)
        left[p->in[i]]--;
    for (uint32_t v = 0; v < p->nin + p->nout; v++) {
        uint32_t at = v < p->nin ? p->in[v] : p->out[v - p->nin];
        if (left[at] == 0) {
            m->e->face->value_free(m->e, m->table[at]);
            m->table[at] = NULL;
        }
    }
}

/* Writes to left[value] how many parts read each value; inputs of the model stay. */
static void count_readers(const struct split *s, uint32_t *left)
{
    for (uint32_t v = 0; v < s->nvalue; v++)
        left[v] = 0;
    for (uint32_t k = 0; k < s->npart; k++)
        for (uint32_t i = 0; i < s->part[k].nin; i++)
            left[s->part[k].in[i]]++;
    for (uint32_t i = 0; i < s->ninput; i++)
        left[s->input[i]]++;
}

/* Whether two turns of a part differ by more than a tenth. */
static bool differ(const struct part_figures *f)
{
    int64_t low = smaller(f->turn[0], f->turn[1]), high = larger(f->turn[0], f->turn[1]);
    return f->turns >= TURNS && high - low > low / TENTH;
}

/* Notes that the turns of part k differ by more than a tenth, with their times. */
static void tell_turns(const struct measuring *m, uint32_t k, const struct part_figures *f)
{
    char text[TURNS_MOST][UNIT_TEXT];
    for (int i = 0; i < TURNS_MOST; i++)
        time_short(text[i], f->turn[i]);
    diag_warning(
        m->d, WARN_NONE,
        "%s: its turns differ: %s, %s, %s (its thread had the processor for %u, %u, %u %% of the time): "
        "something else runs here; the least counts",
        m->s->part[k].file, text[0], text[1], text[2], f->had[0], f->had[1], f->had[2]);
}

/* Measures nodes and memory of the parts, one after the other.  left: scratch, [value].  Returns 0, or -1 after an
 * error. */
static int part_by_part(const struct measuring *m, uint32_t *left, struct part_figures *f)
{
    int rc = 0;
    count_readers(m->s, left);
    for (uint32_t k = 0; k < m->s->npart && !rc && !*m->stop; k++) {
        if (m->memory && part_memory(m, k, &f[k].bytes) < 0)
            rc = -1;
        else if (m->node_runs > 0)
            rc = measure_nodes(m, k, &f[k]);
        else
            rc = take_turn(m, k, /*counts=*/false, NULL); /* as later parts need its outputs */
        if (!rc && !*m->stop)
            forget(m, k, left);
    }
    return rc;
}

/* Gives the parts turn number `turn`, one after the other: in the third turn only parts whose turns differ count.
 * Returns 0, or -1 after an error. */
static int one_by_one(const struct measuring *m, uint32_t turn, uint32_t *left,
                      struct part_figures *f)
{
    int rc = 0;
    count_readers(m->s, left);
    for (uint32_t k = 0; k < m->s->npart && !rc && !*m->stop; k++) {
        rc = take_turn(m, k, turn < TURNS || differ(&f[k]), &f[k]);
        if (!rc && !*m->stop)
            forget(m, k, left);
    }
    return rc;
}

/* Gives all parts turn number `turn`, sample by sample: each sample goes through all parts.  Returns 0, or -1 after an
 * error. */
static int sample_by_sample(const struct measuring *m, uint32_t turn, struct part_figures *f)
{
    uint32_t n = m->discard + m->runs, loaded = 0, done = 0;
    struct arena *own = arena_new(m->a);
    struct loaded **p = arena_array(own, m->s->npart, sizeof *p);
    struct timing *t = arena_array(own, (size_t)m->s->npart * n, sizeof *t); /* [part * n + run] */
    int rc = 0;
    for (; loaded < m->s->npart && !rc && !*m->stop; loaded += rc == 0) {
        const struct split_part *part = &m->s->part[loaded];
        const struct engine_load how = split_load(part, m->threads, /*optimise=*/true);
        rc = (p[loaded] = measure_load(m, loaded, &how)) ? 0 : -1;
    }
    for (; done < n && !rc && !*m->stop; done++)
        for (uint32_t k = 0; k < m->s->npart && !rc; k++)
            rc = measure_run(m, k, p[k], &t[(size_t)k * n + done]);
    for (uint32_t k = 0; k < loaded; k++)
        m->e->face->unload(p[k]);
    for (uint32_t k = 0; k < m->s->npart && !rc && done == n; k++)
        if (turn < TURNS || differ(&f[k]))
            add_turn(m, k, t + (size_t)k * n + m->discard, &f[k]);
    arena_free(own);
    return rc;
}

/* Whether all parts can be loaded at once: their memory is at most half of what is free. */
static bool all_fit(const struct measuring *m)
{
    int64_t free_bytes = sat_mul(sysconf(_SC_AVPHYS_PAGES), sysconf(_SC_PAGESIZE)), all = 0;
    for (uint32_t k = 0; k < m->s->npart; k++)
        all = sat_add(all, m->s->part[k].live_bytes > 0 ? m->s->part[k].live_bytes : 0);
    return all <= free_bytes / 2;
}

void measure_forget(const struct measuring *m)
{
    bool *input = arena_array(m->a, (size_t)m->s->nvalue + 1, sizeof *input);
    for (uint32_t i = 0; i < m->s->ninput; i++)
        input[m->s->input[i]] = true;
    for (uint32_t v = 0; v < m->s->nvalue; v++)
        if (!input[v]) {
            m->e->face->value_free(m->e, m->table[v]);
            m->table[v] = NULL;
        }
}

int measure_inputs(const struct measuring *m, uint32_t k)
{
    int rc = 0;
    for (uint32_t j = 0; j < k && !rc && !*m->stop; j++)
        rc = take_turn(m, j, /*counts=*/false, NULL);
    return rc;
}

int measure_parts(const struct measuring *m, struct part_figures *f)
{
    uint32_t *left = arena_array(m->a, (size_t)m->s->nvalue + 1, sizeof *left);
    uint32_t turns = m->parts ? TURNS_MOST : 0;
    bool together = all_fit(m);
    int rc = 0;
    for (uint32_t k = 0; k < m->s->npart; k++)
        f[k] = (struct part_figures){.ps = -1, .bytes = PART_BYTES_UNKNOWN};
    if (m->memory || m->node_runs > 0)
        rc = part_by_part(m, left, f);
    measure_forget(m);
    for (uint32_t turn = 0; turn < turns && !rc && !*m->stop; turn++) {
        bool wanted = turn < TURNS;
        for (uint32_t k = 0; k < m->s->npart; k++)
            wanted = wanted || differ(&f[k]);
        if (wanted)
            rc = together ? sample_by_sample(m, turn, f) : one_by_one(m, turn, left, f);
        measure_forget(m);
    }
    for (uint32_t k = 0; k < m->s->npart; k++)
        if (f[k].turns > TURNS)
            tell_turns(m, k, &f[k]);
    return rc;
}

bool measured_whole(const struct measuring *m, const struct part_figures *f)
{
    return (!m->parts || f->turns >= TURNS) && (m->node_runs == 0 || f->node);
}
