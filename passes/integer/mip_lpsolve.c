/* lp_solve (http://lpsolve.sourceforge.net): the solver that ip-place uses by default, where pcc was built with it.
 *
 * How to get right answers from version 5.5.2:
 * - Scaling is off in the first attempt, since with the default scaling the simplex method stalls on the degenerate
 *   relaxations of staircase models.  The second attempt has the default scaling.
 * - Never NODE_RCOSTFIXING: it cuts off optima.
 * - A column that must be 0 is left out of the model, or has both bounds 0; an upper bound of 0 alone has another
 *   effect in lp_solve.
 * - The results NUMFAILURE and ACCURACYERROR count as no answer, although lp_solve may have a solution then.
 * - Its relative gap is a share of 1 + value, so lp_solve gets half of our gap.  That is safe for values >= 1, and
 *   units of time are chosen such that values are at least 1 (mip_time_unit()).
 * - What lp_solve says of a search that was cut short is no answer, not even "infeasible".
 * - Bounds of a column of the objective are given as rows: given as bounds, one search in a thousand ends with a wrong
 *   optimum.
 * - lp_solve gives no lower bound of its own; one follows only from OPTIMAL, or from INFEASIBLE under a limit.
 * Cost: the time that lp_solve gets. */
#include "passes/integer/mip.h"

#if PCC_HAVE_LPSOLVE

#include <lp_lib.h>

/* What the callbacks of lp_solve get as their argument. */
struct run {
    const struct mip_report *report;
    struct clock clock; /* ends when the solver's seconds are over */
    double best;        /* objective of the best solution reported so far */
};

/* A callback that lp_solve calls again and again: returns 1 when the time is over, which ends the search; else 0. */
static int __WINAPI out_of_time(lprec *lp, void *user)
{
    struct run *r = user;
    (void)lp;
    return clock_out(&r->clock);
}

/* Takes lp_solve's messages, and drops them. */
static void __WINAPI say_nothing(lprec *lp, void *user, char *text)
{
    (void)lp;
    (void)user;
    (void)text;
}

/* Whether a column has a cost other than 0. */
static bool is_in_objective(const struct mip_col *col)
{
    return col->cost > 0 || col->cost < 0;
}

/* Adds the bounds of the objective's columns as rows.  Returns 0; -1: lp_solve has no memory. */
static int add_objective_bounds(lprec *lp, const struct mip *m)
{
    for (uint32_t c = 0; c < m->ncol; c++) {
        const struct mip_col *col = &m->col[c];
        int name = (int)c + 1;
        double one = 1;
        if (!is_in_objective(col))
            continue;
        if (!add_constraintex(lp, 1, &one, &name, GE, col->lo) ||
            (col->hi < MIP_INF && !add_constraintex(lp, 1, &one, &name, LE, col->hi)))
            return -1;
    }
    return 0;
}

/* Adds the objective, the rows, and, as rows, too, the bounds of the objective's columns.  Returns 0; -1: lp_solve has
 * no memory. */
static int add_rows(lprec *lp, const struct mip *m)
{
    uint32_t most = m->ncol + 1;
    int *col = arena_array(m->mem, most, sizeof *col);
    double *by = arena_array(m->mem, most, sizeof *by);
    int n = 0;
    for (uint32_t c = 0; c < m->ncol; c++)
        if (is_in_objective(&m->col[c])) {
            col[n] = (int)c + 1; /* lp_solve numbers columns from 1 */
            by[n++] = m->col[c].cost;
        }
    if (!set_obj_fnex(lp, n, by, col))
        return -1;
    for (uint32_t r = 0; r < m->nrow; r++) {
        const struct mip_row *row = &m->row[r];
        n = 0;
        for (uint32_t i = row->at; i < row[1].at; i++) {
            col[n] = (int)m->term[i].col + 1;
            by[n++] = m->term[i].by;
        }
        bool below = row->hi < MIP_INF;
        bool above = row->lo > -MIP_INF;
        if (!add_constraintex(lp, n, by, col,
                              below && above ? EQ
                              : below        ? LE
                                             : GE,
                              below ? row->hi : row->lo))
            return -1;
    }
    return add_objective_bounds(lp, m);
}

/* Returns lp_solve's model of m (lp_solve numbers columns from 1); NULL: lp_solve has no memory. */
static lprec *build_lp(const struct mip *m)
{
    lprec *lp = make_lp(0, (int)m->ncol);
    if (!lp)
        return NULL;
    set_verbose(lp, NEUTRAL);
    set_add_rowmode(lp, TRUE);
    bool good = add_rows(lp, m) == 0;
    set_add_rowmode(lp, FALSE);
    for (uint32_t c = 0; c < m->ncol; c++) {
        if (!is_in_objective(&m->col[c]))
            set_bounds(lp, (int)c + 1, m->col[c].lo, m->col[c].hi);
        set_int(lp, (int)c + 1, m->col[c].integer);
    }
    if (good)
        return lp;
    delete_lp(lp);
    return NULL;
}

/* A callback that lp_solve calls when it has found a solution: reports the solution if it is the best so far. */
static void __WINAPI report_better(lprec *lp, void *user, int message)
{
    struct run *r = user;
    double *x;
    (void)message;
    if (get_solutioncount(lp) < 1 || get_working_objective(lp) >= r->best ||
        !get_ptr_variables(lp, &x))
        return;
    r->best = get_working_objective(lp);
    mip_report_solution(r->report, r->best, x);
}

/* mip_solver.solve: solves m by lp_solve within the limits, and tells `report` solutions and the end. */
static int solve_it(const struct mip *m, const struct mip_limits *l,
                    const struct mip_report *report)
{
    struct run run = {.report = report, .best = MIP_INF};
    double *x;
    lprec *lp = build_lp(m);
    if (!lp)
        return 1;
    if (l->seconds > 0)
        clock_limit(&run.clock, (int64_t)(l->seconds * 1e9));
    set_minim(lp);
    if (l->attempt == 0)
        set_scaling(lp, 0);
    set_bb_rule(lp, NODE_PSEUDONONINTSELECT);
    set_bb_floorfirst(lp, BRANCH_CEILING);
    set_mip_gap(lp, TRUE, 1e-9);        /* the absolute gap */
    set_mip_gap(lp, FALSE, l->gap / 2); /* the relative gap */
    put_abortfunc(lp, out_of_time, &run);
    put_logfunc(lp, say_nothing, &run);
    put_msgfunc(lp, report_better, &run, MSG_MILPFEASIBLE | MSG_MILPBETTER);
    int status = solve(lp);
    uint64_t nodes = (uint64_t)get_total_nodes(lp);
    if ((status == OPTIMAL || status == SUBOPTIMAL || status == PRESOLVED) &&
        get_ptr_variables(lp, &x))
        mip_report_solution(report, get_objective(lp), x);
    if (run.clock.why)
        mip_report_end(report, MIP_NONE, -MIP_INF, nodes);
    else if (status == OPTIMAL)
        mip_report_end(report, MIP_OPTIMAL, get_objective(lp) * (1 - l->gap), nodes);
    else if (status == INFEASIBLE)
        mip_report_end(report, MIP_INFEASIBLE, -MIP_INF, nodes);
    else
        mip_report_end(report, MIP_NONE, -MIP_INF, nodes);
    return 0; /* the process ends: nothing is freed */
}

/* Returns the version of lp_solve, in a. */
static const char *version(struct arena *a)
{
    int major, minor, release, build;
    lp_solve_version(&major, &minor, &release, &build);
    return arena_fmt(a, "%d.%d.%d.%d", major, minor, release, build);
}

const struct mip_solver mip_lpsolve = {"lp_solve", 2, version, NULL, solve_it};

#else

const struct mip_solver mip_lpsolve = {.name = "lp_solve"};

#endif
