/* CBC (COIN-OR branch and cut): the stronger of the two solvers, where pcc was built with it.
 *
 * CBC gives a lower bound even when it runs out of time, so its own limit of time ends (0.97) shortly before it would
 * be killed.  By default it looks for solutions better by 1e-5 or more; here by 1e-7.  "Infeasible" counts only if the
 * search ended: CBC out of time without a solution has no answer.  Cost: the time that CBC gets. */
#include "passes/integer/mip.h"

#if PCC_HAVE_CBC

#include <Cbc_C_Interface.h>

/* Returns CBC's model of m. */
static Cbc_Model *build_cbc(const struct mip *m)
{
    Cbc_Model *cbc = Cbc_newModel();
    uint32_t most = 1;
    for (uint32_t c = 0; c < m->ncol; c++) {
        const struct mip_col *col = &m->col[c];
        Cbc_addCol(cbc, arena_fmt(m->mem, "c%u", c), col->lo, col->hi, col->cost, col->integer, 0,
                   NULL, NULL);
    }
    for (uint32_t r = 0; r < m->nrow; r++) {
        uint32_t n = m->row[r + 1].at - m->row[r].at;
        most = larger_u32(n, most);
    }
    int *col = arena_array(m->mem, most, sizeof *col);
    double *by = arena_array(m->mem, most, sizeof *by);
    for (uint32_t r = 0; r < m->nrow; r++) {
        const struct mip_row *row = &m->row[r];
        int n = 0;
        for (uint32_t i = row->at; i < row[1].at; i++) {
            col[n] = (int)m->term[i].col;
            by[n++] = m->term[i].by;
        }
        bool below = row->hi<MIP_INF, above = row->lo> - MIP_INF;
        Cbc_addRow(cbc, arena_fmt(m->mem, "r%u", r), n, col, by,
                   below && above ? 'E'
                   : below        ? 'L'
                                  : 'G',
                   below ? row->hi : row->lo);
    }
    return cbc;
}

/* Whether some column must have integer values. */
static bool any_integer(const struct mip *m)
{
    for (uint32_t c = 0; c < m->ncol; c++)
        if (m->col[c].integer)
            return true;
    return false;
}

/* mip_solver.solve: solves m by CBC within the limits, and tells `report` solutions and the end. */
static int solve_it(const struct mip *m, const struct mip_limits *l,
                    const struct mip_report *report)
{
    Cbc_Model *cbc = build_cbc(m);
    char text[32];
    Cbc_setObjSense(cbc, 1);
    Cbc_setLogLevel(cbc, 0);
    Cbc_setParameter(cbc, "integerTolerance", "1e-8");
    Cbc_setParameter(cbc, "increment", "1e-7");
    Cbc_setAllowableGap(cbc, 1e-9);
    snprintf(text, sizeof text, "%.9g", l->gap);
    Cbc_setParameter(cbc, "ratioGap", text);
    if (l->seconds > 0) {
        snprintf(text, sizeof text, "%.3f", l->seconds * 0.97);
        Cbc_setParameter(cbc, "timeMode", "elapsed");
        Cbc_setParameter(cbc, "seconds", text);
    }
    Cbc_solve(cbc);
    /* status 0: the search ended; 1: it was stopped; -1: CBC never branched, because no column is integer or the
     * relaxation has no solution */
    int status = Cbc_status(cbc);
    bool relaxed = status == -1 && Cbc_isInitialSolveProvenOptimal(cbc) && !any_integer(m);
    const double *x = relaxed ? Cbc_getColSolution(cbc) : Cbc_bestSolution(cbc);
    uint64_t nodes = (uint64_t)Cbc_getNodeCount(cbc);
    if (x)
        mip_report_solution(report, Cbc_getObjValue(cbc), x);
    if (relaxed)
        mip_report_end(report, MIP_OPTIMAL, Cbc_getObjValue(cbc), nodes);
    else if (status == 0 && x && Cbc_isProvenOptimal(cbc))
        mip_report_end(report, MIP_OPTIMAL, Cbc_getBestPossibleObjValue(cbc), nodes);
    else if (status == 0 && !x && Cbc_isProvenInfeasible(cbc))
        mip_report_end(report, MIP_INFEASIBLE, -MIP_INF, nodes);
    else if (status == -1 && Cbc_isInitialSolveProvenPrimalInfeasible(cbc))
        mip_report_end(report, MIP_INFEASIBLE, -MIP_INF, nodes);
    else
        mip_report_end(report, MIP_NONE, status == 1 ? Cbc_getBestPossibleObjValue(cbc) : -MIP_INF,
                       nodes);
    return 0; /* the process ends: nothing is freed */
}

static const char *version(struct arena *a)
{
    return arena_fmt(a, "%s", Cbc_getVersion());
}

const struct mip_solver mip_cbc = {"CBC", 1, version, solve_it};

#else

const struct mip_solver mip_cbc = {.name = "CBC"};

#endif
