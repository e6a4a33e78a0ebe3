/* Mixed integer programs, as data for any solver.  A program asks for values of its columns (variables), each within
 * bounds, some of them integers, such that each row, a sum of terms factor * column, is within bounds, and a linear
 * objective is as small as possible.
 *
 * Numbers are doubles; the code that makes a model chooses units in which its figures lie near 1 (ip_model.h). */
#ifndef PCC_PASSES_INTEGER_MIP_H
#define PCC_PASSES_INTEGER_MIP_H

#include "passes/problem/problem.h"

#define MIP_INF 1e30 /* in place of a bound of a column or row: there is none */
/* a solver's figure may be wrong by this share of itself, a small figure by this number */
#define MIP_TOLERANCE 1e-6

/* Numbers of columns that are the constants 0 and 1: mip_term drops a term with MIP_ZERO, and takes a term with MIP_ONE
 * into the bounds of its row. */
#define MIP_ZERO UINT32_MAX
#define MIP_ONE (UINT32_MAX - 1)

struct mip_col {
    const char *name; /* for people; mip_write makes names legal and different */
    double lo, hi;    /* the column's value is in lo .. hi; hi MIP_INF, lo -MIP_INF: no limit */
    double cost;      /* factor of the value in the objective, which is minimised */
    bool integer;     /* the value must be an integer */
};

struct mip_row {
    const char *name;
    double lo, hi; /* the sum of the row's terms is in lo .. hi, as in mip_row() */
    /* index of the row's first term; the terms of the next row come after the row's last term */
    uint32_t at;
};

struct mip_term {
    uint32_t col;
    double by; /* factor of the column; not 0 */
};

struct mip {
    struct arena *mem;
    const char *title; /* one line for people; "" until a caller sets it */
    uint32_t ncol, nrow, nterm, capcol, caprow, capterm, capseen;
    struct mip_col *col;
    /* [nrow + 1] `at` of the last entry is where the terms of the last row end */
    struct mip_row *row;
    struct mip_term *term;
    /* [col] 1 + index of the last term of the column, by which terms of one column in a row are added up; 0: none */
    uint32_t *seen;
    bool impossible; /* true: a row without terms does not hold, so there is no solution */
};

enum { MIP_MOST_TERMS = 4000000 }; /* the most terms of an integer program that planners make */

/* Returns an integer program without columns or rows, which lives in a. */
struct mip *mip_new(struct arena *a);
/* Adds a column with values from lo to hi (MIP_INF: no limit); returns its number.  integer: its values are
 * integers. */
uint32_t mip_col(struct mip *m, const char *name, double lo, double hi, double cost, bool integer);
/* Add a column without cost and return its number: mip_bit() one with the values 0 and 1, mip_share() one with all
 * values from 0 to 1. */
uint32_t mip_bit(struct mip *m, const char *name);
uint32_t mip_share(struct mip *m, const char *name);
/* Begins a row, to which all terms belong that are added next.  The sum of its terms must be at least lo (hi is
 * MIP_INF), at most hi (lo is -MIP_INF), or equal to lo (hi is the same).  A row that gets no terms is dropped when the
 * next one begins, or by mip_finish. */
void mip_row(struct mip *m, const char *name, double lo, double hi);
/* Adds the term by * col to the last row; terms of one column are added up. */
void mip_term(struct mip *m, uint32_t col, double by);
/* Ends the last row; an integer program must be ended so before it is solved or written. */
void mip_finish(struct mip *m);
/* For an integer program that is `impossible`: adds and ends a row that cannot hold, so that a solver that reads m from
 * a file also finds it infeasible. */
void mip_say_impossible(struct mip *m);

/* Writes the integer program to a file, in the format that the end of its name says: ".lp" (CPLEX LP), ".mps" (free
 * MPS).  The file appears complete or not at all.  Returns 0, or -1 and reports an error. */
int mip_write(const struct mip *m, const char *path, struct diag *d);

enum mip_status {
    MIP_NONE,      /* no answer */
    MIP_OPTIMAL,   /* x is as good as any, up to the gap and the solver's tolerance */
    MIP_FEASIBLE,  /* x is a solution, perhaps not the best */
    MIP_INFEASIBLE /* there is no solution, up to the solver's tolerance */
};

struct mip_answer {
    enum mip_status status;
    double value;    /* objective of x; MIP_INF: there is no x */
    double bound;    /* no solution has a smaller objective; -MIP_INF: no such bound is known */
    double *x;       /* [col] values of the columns in the best solution found */
    uint64_t nodes;  /* number of nodes of the search tree; 0: not known */
    const char *why; /* MIP_NONE and MIP_FEASIBLE: what kept the solver from a complete answer */
};

/* Where a solver in a child process reports each better solution and, once, how it ended. */
struct mip_report {
    FILE *out;
    uint32_t ncol;
};
void mip_report_solution(const struct mip_report *r, double value, const double *x);
void mip_report_end(const struct mip_report *r, enum mip_status s, double bound, uint64_t nodes);

struct mip_limits {
    double seconds;   /* time after which the solver should end; 0: no limit */
    double gap;       /* share of the objective: a solution this near to the bound is good enough */
    uint32_t attempt; /* number of the solver's configuration to try: 0, 1, ... */
};

struct mip_solver {
    const char *name; /* "lp_solve" */
    /* number of configurations of the solver; 0: pcc was built without the solver */
    uint32_t attempts;
    /* returns the version; NULL if attempts is 0: callers use mip_version() */
    const char *(*version)(struct arena *a);
    /* Returns the name of the library without which the solver cannot work and which this machine lacks; NULL: it is
     * there.  The pointer itself is NULL if the solver is linked. */
    const char *(*lacks)(void);
    /* Solves m in a child process and reports to *r.  Returns 0; if it returns something else, the bounds that it has
     * reported do not count. */
    int (*solve)(const struct mip *m, const struct mip_limits *l, const struct mip_report *r);
};
extern const struct mip_solver mip_lpsolve, mip_cbc;
/* Whether the solver can solve here: pcc was built with it, and its library is there. */
bool mip_usable(const struct mip_solver *s);
/* Returns the solver's version, such as "5.5.2.5", in a, or "not built in". */
const char *mip_version(const struct mip_solver *s, struct arena *a);

/* Solves m and writes what the solver says to *answer; the caller checks it.  gap: as in mip_limits.  Ends when the
 * clock is out, with the best solution found until then.  answer->x lives in a. */
void mip_solve(const struct mip_solver *s, const struct mip *m, double gap, struct clock *clock,
               struct arena *a, struct mip_answer *answer);

#endif
