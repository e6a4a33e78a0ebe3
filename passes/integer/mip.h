/* Mixed integer programs, as data for any solver: minimise a linear objective over columns within bounds, some of
 * them integer, such that rows of linear terms stay within bounds.
 *
 * Numbers are doubles; whoever makes a model chooses units in which its figures lie near 1 (ip_model.h). */
#ifndef PCC_PASSES_INTEGER_MIP_H
#define PCC_PASSES_INTEGER_MIP_H

#include "passes/problem/problem.h"

#define MIP_INF 1e30 /* no bound */

/* Columns that are constants: terms with them vanish, or go to the bounds of their row. */
#define MIP_ZERO UINT32_MAX
#define MIP_ONE (UINT32_MAX - 1)

struct mip_col {
    const char *name; /* for people; mip_write makes names legal and different */
    double lo, hi, cost;
    bool integer;
};

struct mip_row {
    const char *name;
    double lo, hi;
    /* index of the row's first term; the terms of the next row come after the row's last term */
    uint32_t at;
};

struct mip_term {
    uint32_t col;
    double by; /* not 0 */
};

struct mip {
    struct arena *mem;
    const char *title; /* one line for people, may be set */
    uint32_t ncol, nrow, nterm, capcol, caprow, capterm, capseen;
    struct mip_col *col;
    struct mip_row *row; /* [nrow + 1] */
    struct mip_term *term;
    uint32_t *seen;  /* [col] [col] 1 + the last term with it, to add up terms of one row */
    bool impossible; /* some row without terms does not hold: there is no solution */
};

enum { MIP_MOST_TERMS = 4000000 };

struct mip *mip_new(struct arena *a);
/* Adds a column; returns its number. */
uint32_t mip_col(struct mip *m, const char *name, double lo, double hi, double cost, bool integer);
/* Begins a row to which the terms that follow belong: terms >= lo (hi: MIP_INF), terms <= hi (lo: -MIP_INF), or
 * terms = lo = hi.  A row that gets no terms is dropped when the next one begins, or by mip_finish. */
void mip_row(struct mip *m, const char *name, double lo, double hi);
/* Adds by * col to the last row. */
void mip_term(struct mip *m, uint32_t col, double by);
void mip_finish(struct mip *m);
/* Adds a row that cannot hold, so that a file of m is infeasible, too; ends as mip_finish does. */
void mip_say_impossible(struct mip *m);

/* Writes the model to a file as its name ends: ".lp" (CPLEX LP format), ".mps" (free MPS).  The file appears
 * complete or not at all.  0, or -1 and an error. */
int mip_write(const struct mip *m, const char *path, struct diag *d);

enum mip_status {
    MIP_NONE,      /* no answer */
    MIP_OPTIMAL,   /* x is as good as any, up to the gap and the solver's tolerance */
    MIP_FEASIBLE,  /* x is a solution */
    MIP_INFEASIBLE /* there is no solution, up to the solver's tolerance */
};

struct mip_answer {
    enum mip_status status;
    double value, bound; /* value: of x; bound: no solution has less (-MIP_INF: not known) */
    double *x;           /* [col] */
    uint64_t nodes;      /* of the search tree; 0: not known */
    const char *why;     /* MIP_NONE and MIP_FEASIBLE: what kept the solver from more */
};

/* Where a solver in a child process reports solutions and bounds. */
struct mip_report {
    FILE *out;
    uint32_t ncol;
};
void mip_report_solution(const struct mip_report *r, double value, const double *x);
void mip_report_end(const struct mip_report *r, enum mip_status s, double bound, uint64_t nodes);

struct mip_limits {
    double seconds;   /* of time; 0: no limit */
    double gap;       /* relative: a solution this near to the bound is good enough */
    uint32_t attempt; /* 0, 1, ...: number of the solver's configuration to try */
};

struct mip_solver {
    const char *name; /* "lp_solve" */
    /* number of configurations of the solver; 0: pcc was built without the solver */
    uint32_t attempts;
    const char *(*version)(struct arena *a); /* NULL without it: ask mip_version */
    /* Runs in a child: reports, and returns 0; anything else is no answer. */
    int (*solve)(const struct mip *m, const struct mip_limits *l, const struct mip_report *r);
};
extern const struct mip_solver mip_lpsolve, mip_cbc;
/* "5.5.2.5", in a, or "not built in". */
const char *mip_version(const struct mip_solver *s, struct arena *a);

/* Solves m.  Ends when the clock is out, with the best solution found until then.  Answers are what the solver says:
 * the caller checks them.  x lives in a. */
void mip_solve(const struct mip_solver *s, const struct mip *m, double gap, struct clock *clock,
               struct arena *a, struct mip_answer *answer);

#endif
