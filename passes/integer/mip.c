/* Makes mixed integer programs, and has them solved in child processes (mip.h).
 *
 * A solver runs in a child process (child.h) and writes records into the pipe: one for each better solution, and one
 * for how it ended.  So the best solution is not lost if the solver is killed.  A solver with several configurations
 * (mip_solver.attempts) tries one after the other: the last configuration gets all the time that is left, each other
 * one a share of it.  mip_term drops constants and adds up terms of the same column in a row, in O(1) each. */
#include "passes/integer/mip.h"

#include "ir/base/child.h"

#include <assert.h>
#include <string.h>

enum {
    MOST_BYTES = 1 << 30, /* the most bytes that the child may write */
    NS_PER_S = 1000000000
};
enum { RECORD_SOLUTION = 1, RECORD_END = 2 }; /* values of record.what */

/* The head of each record that the child writes; behind a RECORD_SOLUTION stand the values of all columns. */
struct record {
    /* what: RECORD_*; status (an enum mip_status) and nodes only with RECORD_END */
    uint64_t what, status, nodes;
    double value; /* RECORD_SOLUTION: objective; RECORD_END: lower bound */
};

struct mip *mip_new(struct arena *a)
{
    struct mip *m = arena_alloc(a, sizeof *m);
    m->mem = a;
    m->title = "";
    m->row = vec_grow(a, NULL, &m->caprow, 1, sizeof *m->row);
    return m;
}

uint32_t mip_col(struct mip *m, const char *name, double lo, double hi, double cost, bool integer)
{
    assert(lo <= hi || m->impossible);
    m->col = vec_grow(m->mem, m->col, &m->capcol, m->ncol + 1, sizeof *m->col);
    m->seen = vec_grow(m->mem, m->seen, &m->capseen, m->ncol + 1, sizeof *m->seen);
    m->col[m->ncol] = (struct mip_col){name, lo, hi, cost, integer};
    return m->ncol++;
}

uint32_t mip_bit(struct mip *m, const char *name)
{
    return mip_col(m, name, 0, 1, 0, /*integer=*/true);
}

uint32_t mip_share(struct mip *m, const char *name)
{
    return mip_col(m, name, 0, 1, 0, /*integer=*/false);
}

/* Drops the terms of the last row that cancelled.  If the row has no terms left, drops the row; if 0 is then outside
 * its bounds, the integer program becomes impossible. */
void mip_finish(struct mip *m)
{
    if (m->nrow == 0)
        return;
    struct mip_row *r = &m->row[m->nrow - 1];
    uint32_t n = r->at;
    for (uint32_t i = r->at; i < m->nterm; i++) {
        bool zero = !(m->term[i].by > 0) && !(m->term[i].by < 0);
        m->seen[m->term[i].col] = 0;
        m->term[n] = m->term[i];
        n += !zero;
    }
    m->nterm = n;
    if (n == r->at) {
        m->impossible = m->impossible || r->lo > 0 || r->hi < 0;
        m->nrow--;
    }
    m->row[m->nrow].at = m->nterm; /* where the last row ends */
}

void mip_say_impossible(struct mip *m)
{
    uint32_t col = mip_col(m, "impossible", 0, 0, 0, /*integer=*/false);
    mip_row(m, "impossible", 1, MIP_INF);
    mip_term(m, col, 1);
    mip_finish(m);
}

void mip_row(struct mip *m, const char *name, double lo, double hi)
{
    assert(m->row);
    mip_finish(m);
    m->row = vec_grow(m->mem, m->row, &m->caprow, m->nrow + 2, sizeof *m->row);
    m->row[m->nrow++] = (struct mip_row){name, lo, hi, m->nterm};
}

void mip_term(struct mip *m, uint32_t col, double by)
{
    assert(m->nrow > 0);
    assert(col < m->ncol || col == MIP_ZERO || col == MIP_ONE);
    struct mip_row *r = &m->row[m->nrow - 1];
    if (col == MIP_ZERO)
        return;
    if (col == MIP_ONE) {
        r->lo -= r->lo > -MIP_INF ? by : 0;
        r->hi -= r->hi < MIP_INF ? by : 0;
        return;
    }
    uint32_t at = m->seen[col];
    /* whether the row has a term of col already */
    if (at > r->at && at <= m->nterm && m->term[at - 1].col == col) {
        m->term[at - 1].by += by;
        return;
    }
    m->term = vec_grow(m->mem, m->term, &m->capterm, m->nterm + 1, sizeof *m->term);
    m->term[m->nterm++] = (struct mip_term){col, by};
    m->seen[col] = m->nterm;
}

/* ---- in the child ----------------------------------------------------------------------------- */

void mip_report_solution(const struct mip_report *r, double value, const double *x)
{
    struct record head = {.what = RECORD_SOLUTION, .value = value};
    fwrite(&head, sizeof head, 1, r->out);
    fwrite(x, sizeof *x, r->ncol, r->out);
    fflush(r->out);
}

void mip_report_end(const struct mip_report *r, enum mip_status s, double bound, uint64_t nodes)
{
    struct record head = {RECORD_END, s, nodes, bound};
    fwrite(&head, sizeof head, 1, r->out);
    fflush(r->out);
}

/* The arguments of solve_in_child(). */
struct job {
    const struct mip_solver *s;
    const struct mip *m;
    struct mip_limits limits;
};

/* To be called in the child process: runs the solver, whose records go to `out`.  arg: the struct job.  Returns the
 * solver's result. */
static int solve_in_child(void *arg, FILE *out)
{
    const struct job *j = arg;
    struct mip_report r = {out, j->m->ncol};
    return j->s->solve(j->m, &j->limits, &r);
}

/* ---- in the parent ---------------------------------------------------------------------------- */

/* Reads the records that the child wrote into *to, up to the first that is incomplete or wrong. */
static void read_records(const char *bytes, size_t n, uint32_t ncol, struct mip_answer *to)
{
    size_t at = 0;
    struct record r;
    while (n - at >= sizeof r) {
        memcpy(&r, bytes + at, sizeof r);
        at += sizeof r;
        if (r.what == RECORD_SOLUTION) {
            size_t size = ncol * sizeof *to->x;
            if (n - at < size)
                return;
            if (r.value < to->value) {
                to->value = r.value;
                memcpy(to->x, bytes + at, size);
                to->status = MIP_FEASIBLE;
            }
            at += size;
        } else if (r.what == RECORD_END) {
            /* "infeasible" after a solution, and "optimal" without one, contradict themselves and do not count */
            bool found = to->status != MIP_NONE;
            to->bound = r.value > to->bound ? r.value : to->bound;
            to->nodes += r.nodes;
            if (r.status == (found ? MIP_OPTIMAL : MIP_INFEASIBLE))
                to->status = (enum mip_status)r.status;
        } else {
            return;
        }
    }
}

/* Returns the seconds that an attempt gets: if it is the last attempt, all that are left (at least a tenth of a
 * second), else 0.6 of these; 0: there is no deadline. */
static double seconds_left(const struct clock *clock, bool last)
{
    if (!clock->deadline)
        return 0;
    int64_t left = clock_left(clock);
    left = larger(left, NS_PER_S / 10); /* at least a tenth of a second: 0 would mean no limit */
    return (double)left / NS_PER_S * (last ? 1 : 0.6);
}

bool mip_usable(const struct mip_solver *s)
{
    return s->attempts > 0 && (!s->lacks || !s->lacks());
}

const char *mip_version(const struct mip_solver *s, struct arena *a)
{
    const char *library = s->lacks ? s->lacks() : NULL;
    if (library)
        return arena_fmt(a, "not found (%s)", library);
    return s->attempts ? s->version(a) : "not built in";
}

void mip_solve(const struct mip_solver *s, const struct mip *m, double gap, struct clock *clock,
               struct arena *a, struct mip_answer *answer)
{
    assert(s->attempts > 0);
    *answer = (struct mip_answer){.value = MIP_INF, .bound = -MIP_INF, .why = "no answer"};
    answer->x = arena_array(a, (size_t)m->ncol + 1, sizeof *answer->x);
    if (m->impossible) {
        answer->status = MIP_INFEASIBLE;
        return;
    }
    const char *library = s->lacks ? s->lacks() : NULL;
    if (library) {
        answer->why = arena_fmt(a, "%s is not found", library);
        return;
    }
    for (uint32_t i = 0; i < s->attempts; i++) {
        struct arena_mark mark = arena_mark(a);
        struct job job = {s, m, {seconds_left(clock, i + 1 == s->attempts), gap, i}};
        int64_t start = clock_now();
        double bound = answer->bound;
        struct child_answer said = child_run(solve_in_child, &job, clock, MOST_BYTES, a);
        enum child_end end = said.end;
        read_records(said.bytes, said.n, m->ncol, answer);
        arena_release(a, mark);
        /* the child failed: bounds that the child reported do not count; reported solutions can be checked */
        if (end == CHILD_FAILED) {
            answer->status = answer->value < MIP_INF ? MIP_FEASIBLE : MIP_NONE;
            answer->bound = bound;
        }
        /* whether the solver used up nearly all its time */
        bool late = job.limits.seconds > 0 &&
                    (double)(clock_now() - start) > job.limits.seconds * 0.9 * NS_PER_S;
        answer->why = end == CHILD_STOPPED  ? clock->why
                      : end == CHILD_FAILED ? "the solver failed"
                      : late                ? "time limit reached"
                                            : "the solver gave up";
        if (answer->status == MIP_OPTIMAL || answer->status == MIP_INFEASIBLE ||
            end == CHILD_STOPPED)
            return;
    }
}
