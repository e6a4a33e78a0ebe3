/* CBC (COIN-OR branch and cut): the stronger of the two solvers, where pcc was built with it.
 *
 * CBC gives a lower bound even when it runs out of time, so its own limit of time is shorter (0.97) than the time after
 * which it would be killed.  By default it looks for solutions that are better by 1e-5 or more; here the limit is 1e-7.
 * "Infeasible" counts only if the search ended: CBC out of time without a solution has no answer.  Cost: the time that
 * CBC gets.
 *
 * The library is opened when a planner first asks for it (PCC_CBC_LIBRARY, third_party/solvers.cmake). */
#include "passes/integer/mip.h"

#if PCC_HAVE_CBC

#include <Cbc_C_Interface.h>
#include <dlfcn.h>
#include <string.h>

/* CBC's functions, as its header declares them. */
struct cbc {
    __typeof__(&Cbc_newModel) new_model;
    __typeof__(&Cbc_addCol) add_col;
    __typeof__(&Cbc_addRow) add_row;
    __typeof__(&Cbc_setObjSense) set_obj_sense;
    __typeof__(&Cbc_setLogLevel) set_log_level;
    __typeof__(&Cbc_setParameter) set_parameter;
    __typeof__(&Cbc_setAllowableGap) set_allowable_gap;
    __typeof__(&Cbc_solve) solve;
    __typeof__(&Cbc_status) status;
    __typeof__(&Cbc_isInitialSolveProvenOptimal) is_initial_solve_proven_optimal;
    __typeof__(&Cbc_getColSolution) get_col_solution;
    __typeof__(&Cbc_bestSolution) best_solution;
    __typeof__(&Cbc_getNodeCount) get_node_count;
    __typeof__(&Cbc_getObjValue) get_obj_value;
    __typeof__(&Cbc_isProvenOptimal) is_proven_optimal;
    __typeof__(&Cbc_getBestPossibleObjValue) get_best_possible_obj_value;
    __typeof__(&Cbc_isProvenInfeasible) is_proven_infeasible;
    __typeof__(&Cbc_isInitialSolveProvenPrimalInfeasible) is_initial_solve_proven_primal_infeasible;
    __typeof__(&Cbc_getVersion) get_version;
};

/* Opens CBC's library, which stays open, and looks up the functions.  Returns 0; -1: the library or one of the
 * functions is not there. */
static int open_cbc(struct cbc *to)
{
    const struct {
        const char *name;
        /* address of a pointer to a function; void *, since POSIX lets dlsym() write it so */
        void *slot;
    } functions[] = {
        {"Cbc_newModel", &to->new_model},
        {"Cbc_addCol", &to->add_col},
        {"Cbc_addRow", &to->add_row},
        {"Cbc_setObjSense", &to->set_obj_sense},
        {"Cbc_setLogLevel", &to->set_log_level},
        {"Cbc_setParameter", &to->set_parameter},
        {"Cbc_setAllowableGap", &to->set_allowable_gap},
        {"Cbc_solve", &to->solve},
        {"Cbc_status", &to->status},
        {"Cbc_isInitialSolveProvenOptimal", &to->is_initial_solve_proven_optimal},
        {"Cbc_getColSolution", &to->get_col_solution},
        {"Cbc_bestSolution", &to->best_solution},
        {"Cbc_getNodeCount", &to->get_node_count},
        {"Cbc_getObjValue", &to->get_obj_value},
        {"Cbc_isProvenOptimal", &to->is_proven_optimal},
        {"Cbc_getBestPossibleObjValue", &to->get_best_possible_obj_value},
        {"Cbc_isProvenInfeasible", &to->is_proven_infeasible},
        {"Cbc_isInitialSolveProvenPrimalInfeasible",
         &to->is_initial_solve_proven_primal_infeasible},
        {"Cbc_getVersion", &to->get_version},
    };
    void *library = dlopen(PCC_CBC_LIBRARY, RTLD_LAZY | RTLD_LOCAL);
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        void *found = library ? dlsym(library, functions[i].name) : NULL;
        if (!found)
            return -1;
        memcpy(functions[i].slot, &found, sizeof found);
    }
    return 0;
}

/* Returns CBC's model of m. */
static Cbc_Model *build_model(const struct cbc *cbc, const struct mip *m)
{
    Cbc_Model *model = cbc->new_model();
    uint32_t most = 1;
    for (uint32_t c = 0; c < m->ncol; c++) {
        const struct mip_col *col = &m->col[c];
        cbc->add_col(model, arena_fmt(m->mem, "c%u", c), col->lo, col->hi, col->cost, col->integer,
                     0, NULL, NULL);
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
        /* a row with two limits is an equation: lo == hi (mip_row) */
        bool below = row->hi < MIP_INF;
        bool above = row->lo > -MIP_INF;
        cbc->add_row(model, arena_fmt(m->mem, "r%u", r), n, col, by,
                     below && above ? 'E'
                     : below        ? 'L'
                                    : 'G',
                     below ? row->hi : row->lo);
    }
    return model;
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
    struct cbc opened;
    const struct cbc *cbc = &opened;
    if (open_cbc(&opened) != 0)
        return -1;
    Cbc_Model *model = build_model(cbc, m);
    char text[32];
    cbc->set_obj_sense(model, 1);
    cbc->set_log_level(model, 0);
    cbc->set_parameter(model, "integerTolerance", "1e-8");
    cbc->set_parameter(model, "increment", "1e-7");
    cbc->set_allowable_gap(model, 1e-9);
    snprintf(text, sizeof text, "%.9g", l->gap);
    cbc->set_parameter(model, "ratioGap", text);
    if (l->seconds > 0) { /* so that CBC ends shortly before it would be killed */
        snprintf(text, sizeof text, "%.3f", l->seconds * 0.97);
        cbc->set_parameter(model, "timeMode", "elapsed");
        cbc->set_parameter(model, "seconds", text);
    }
    cbc->solve(model);
    /* status 0: the search ended; 1: it was stopped; -1: CBC never branched, because no column is integer or the
     * relaxation has no solution */
    int status = cbc->status(model);
    bool relaxed = status == -1 && cbc->is_initial_solve_proven_optimal(model) && !any_integer(m);
    const double *x = relaxed ? cbc->get_col_solution(model) : cbc->best_solution(model);
    uint64_t nodes = (uint64_t)cbc->get_node_count(model);
    if (x)
        mip_report_solution(report, cbc->get_obj_value(model), x);
    if (relaxed)
        mip_report_end(report, MIP_OPTIMAL, cbc->get_obj_value(model), nodes);
    else if (status == 0 && x && cbc->is_proven_optimal(model))
        mip_report_end(report, MIP_OPTIMAL, cbc->get_best_possible_obj_value(model), nodes);
    else if (status == 0 && !x && cbc->is_proven_infeasible(model))
        mip_report_end(report, MIP_INFEASIBLE, -MIP_INF, nodes);
    else if (status == -1 && cbc->is_initial_solve_proven_primal_infeasible(model))
        mip_report_end(report, MIP_INFEASIBLE, -MIP_INF, nodes);
    else
        mip_report_end(report, MIP_NONE,
                       status == 1 ? cbc->get_best_possible_obj_value(model) : -MIP_INF, nodes);
    return 0; /* the process ends: nothing is freed */
}

/* Returns the version of CBC that was found, or the name of the library that was looked for. */
static const char *version(struct arena *a)
{
    struct cbc cbc;
    return open_cbc(&cbc) == 0 ? arena_fmt(a, "%s", cbc.get_version()) : PCC_CBC_LIBRARY;
}

/* Returns the name of the library that is missing; NULL: CBC can be used. */
static const char *lacks(void)
{
    struct cbc cbc;
    return open_cbc(&cbc) == 0 ? NULL : PCC_CBC_LIBRARY;
}

const struct mip_solver mip_cbc = {"CBC", 1, version, lacks, solve_it};

#else

const struct mip_solver mip_cbc = {.name = "CBC"};

#endif
