/* Writes integer programs to files for other solvers: CPLEX's LP format, and MPS in free format.
 *
 * CBC, HiGHS, SCIP, GLPK and the commercial solvers read both formats, lp_solve reads MPS.  Names of columns and rows
 * are made of names of nodes, which may have any characters; the names written here consist of letters, digits and '_',
 * begin with a letter, have at most 100 bytes, and are all different.  Numbers are printed so that reading them gives
 * the same double.
 *
 * O(terms + names). */
#include "passes/integer/mip.h"

#include "ir/base/outfile.h"
#include "ir/base/strings.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum {
    NAME_MOST = 100, /* the most characters of a name */
    LINE_MOST = 200  /* a line of more characters is continued on the next one */
};

struct writer {
    FILE *f;
    const struct mip *m;
    const char **col, **row;
    int width; /* characters written in the present line of an LP file */
};

/* Returns a legal name that is not in `seen` yet, and adds it to `seen`.  That is `name` itself, or if `name` is not
 * legal or is there already, a name that begins with `kind` and `number`, such as "c17_NAME". */
static const char *make_legal(const char *name, char kind, uint32_t number, struct strings *seen,
                              struct arena *a)
{
    char text[NAME_MOST + 1];
    size_t n = 0;
    for (const char *s = name; *s && n < NAME_MOST; s++)
        text[n++] = isalnum((unsigned char)*s) && (unsigned char)*s < 128 ? *s : '_';
    text[n] = 0;
    bool good = n && isalpha((unsigned char)*text) && !name[n];
    /* words that readers of LP files would take for sections; names such as e1, which they would take for numbers, are
     * excluded below */
    static const char *const words[] = {"free",    "inf",    "infinity", "st",
                                        "subject", "bounds", "end",      "obj"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        good = good && strcasecmp(text, words[i]) != 0;
    good =
        good && !((*text == 'e' || *text == 'E') && (isdigit((unsigned char)text[1]) || !text[1]));
    for (uint32_t more = 0;; more++) {
        uint32_t before = strings_count(seen);
        const char *t = good ? text
                             : arena_fmt(a, "%c%u_%.60s%s", kind, number, text,
                                         more ? arena_fmt(a, "_%u", more) : "");
        if (strings_id(seen, t, strlen(t)) == before) /* a new string gets the next number */
            return arena_strdup(a, t, strlen(t));
        good = false;
    }
}

/* Fills w->col and w->row with the legal names of columns and rows. */
static void name_all(struct writer *w, struct arena *a)
{
    struct strings *cols = strings_new(a), *rows = strings_new(a);
    w->col = arena_array(a, (size_t)w->m->ncol + 1, sizeof *w->col);
    w->row = arena_array(a, (size_t)w->m->nrow + 1, sizeof *w->row);
    for (uint32_t c = 0; c < w->m->ncol; c++)
        w->col[c] = make_legal(w->m->col[c].name, 'c', c, cols, a);
    for (uint32_t r = 0; r < w->m->nrow; r++)
        w->row[r] = make_legal(w->m->row[r].name, 'r', r, rows, a);
}

/* Prints x with 15 digits, or with 17 if 15 digits read as another double; returns text. */
static const char *number_text(char text[32], double x)
{
    snprintf(text, 32, "%.15g", x);
    if (strtod(text, NULL) < x || strtod(text, NULL) > x)
        snprintf(text, 32, "%.17g", x);
    return text;
}

/* Whether x, as a lower bound, is a bound at all. */
static bool is_finite_low(double x)
{
    return x > -MIP_INF;
}

/* Whether x, as an upper bound, is a bound at all. */
static bool is_finite_high(double x)
{
    return x < MIP_INF;
}

/* Whether x and y are the same number; written without ==, of which compilers warn. */
static bool is_same(double x, double y)
{
    return !(x < y) && !(x > y);
}

/* Returns the relation of a row: 0: equal; 1: >=; 2: <=. */
static int row_sense(const struct mip_row *r)
{
    return !is_finite_high(r->hi) ? 1 : !is_finite_low(r->lo) ? 2 : 0;
}

/* Returns the right side of a row. */
static double row_bound(const struct mip_row *r)
{
    return is_finite_high(r->hi) ? r->hi : r->lo;
}

/* ---- LP --------------------------------------------------------------------------------------- */

/* Writes a term of a sum, such as " + 3 x_1"; begins a new line if the present one is long. */
static void write_lp_term(struct writer *w, double by, const char *name)
{
    char text[32];
    const char *sign = by < 0 ? "-" : "+";
    double size = by < 0 ? -by : by;
    if (w->width > LINE_MOST)
        w->width = fprintf(w->f, "\n ") - 1; /* the newline is not in the new line */
    if (is_same(size, 1))
        w->width += fprintf(w->f, " %s %s", sign, name);
    else
        w->width += fprintf(w->f, " %s %s %s", sign, number_text(text, size), name);
}

/* Writes the integer program in the LP format of CPLEX. */
static void write_lp(struct writer *w)
{
    const struct mip *m = w->m;
    static const char *const relation[] = {"=", ">=", "<="};
    char lo[32], hi[32];
    fprintf(w->f, "\\ %s\nMinimize\n", m->title);
    w->width = fprintf(w->f, " obj:");
    for (uint32_t c = 0; c < m->ncol; c++)
        if (!is_same(m->col[c].cost, 0))
            write_lp_term(w, m->col[c].cost, w->col[c]);
    fprintf(w->f, "\nSubject To\n");
    for (uint32_t r = 0; r < m->nrow; r++) {
        const struct mip_row *row = &m->row[r];
        w->width = fprintf(w->f, " %s:", w->row[r]);
        for (uint32_t i = row->at; i < row[1].at; i++)
            write_lp_term(w, m->term[i].by, w->col[m->term[i].col]);
        fprintf(w->f, " %s %s\n", relation[row_sense(row)], number_text(lo, row_bound(row)));
    }
    fprintf(w->f, "Bounds\n");
    for (uint32_t c = 0; c < m->ncol; c++) {
        const struct mip_col *col = &m->col[c];
        bool below = is_finite_high(col->hi), above = is_finite_low(col->lo);
        if (below && above && is_same(col->lo, col->hi))
            fprintf(w->f, " %s = %s\n", w->col[c], number_text(lo, col->lo));
        else if (!below && !above)
            fprintf(w->f, " %s free\n", w->col[c]);
        else if (!below && is_same(col->lo, 0))
            continue;
        else
            fprintf(w->f, " %s <= %s <= %s\n", above ? number_text(lo, col->lo) : "-inf", w->col[c],
                    below ? number_text(hi, col->hi) : "+inf");
    }
    fprintf(w->f, "General\n");
    for (uint32_t c = 0; c < m->ncol; c++)
        if (m->col[c].integer)
            fprintf(w->f, " %s\n", w->col[c]);
    fprintf(w->f, "End\n");
}

/* ---- MPS -------------------------------------------------------------------------------------- */

/* The terms sorted by columns: those of column c are entries at[c] .. at[c + 1] - 1 of row[] and by[]. */
struct columns {
    uint32_t *at, *row;
    double *by;
};

/* Returns the terms of m sorted by columns, as the MPS format wants them. */
static struct columns sort_by_columns(const struct mip *m, struct arena *a)
{
    struct columns c = {.at = arena_array(a, (size_t)m->ncol + 2, sizeof *c.at),
                        .row = arena_array(a, (size_t)m->nterm + 1, sizeof *c.row),
                        .by = arena_array(a, (size_t)m->nterm + 1, sizeof *c.by)};
    uint32_t *fill = arena_array(a, (size_t)m->ncol + 1, sizeof *fill);
    for (uint32_t i = 0; i < m->nterm; i++)
        c.at[m->term[i].col + 1]++;
    for (uint32_t i = 0; i < m->ncol; i++) {
        c.at[i + 1] += c.at[i];
        fill[i] = c.at[i];
    }
    for (uint32_t r = 0; r < m->nrow; r++)
        for (uint32_t i = m->row[r].at; i < m->row[r + 1].at; i++) {
            uint32_t to = fill[m->term[i].col]++;
            c.row[to] = r;
            c.by[to] = m->term[i].by;
        }
    return c;
}

/* Writes the section BOUNDS of the MPS format. */
static void write_mps_bounds(struct writer *w)
{
    char text[32];
    for (uint32_t c = 0; c < w->m->ncol; c++) {
        const struct mip_col *col = &w->m->col[c];
        bool below = is_finite_high(col->hi), above = is_finite_low(col->lo);
        const char *name = w->col[c];
        if (below && above && is_same(col->lo, col->hi)) {
            fprintf(w->f, " FX BND %s %s\n", name, number_text(text, col->lo));
            continue;
        }
        if (!above && !below) {
            fprintf(w->f, " FR BND %s\n", name);
            continue;
        }
        if (!above)
            fprintf(w->f, " MI BND %s\n", name);
        else if (!is_same(col->lo, 0))
            fprintf(w->f, " LO BND %s %s\n", name, number_text(text, col->lo));
        if (below)
            fprintf(w->f, " UP BND %s %s\n", name, number_text(text, col->hi));
        else if (col->integer)
            /* the bound is written because some readers give integer columns the upper bound 1 by default */
            fprintf(w->f, " PL BND %s\n", name);
    }
}

/* Writes the integer program in the MPS format. */
static void write_mps(struct writer *w, struct arena *a)
{
    const struct mip *m = w->m;
    struct columns by = sort_by_columns(m, a);
    char text[32];
    bool in_integers = false;
    uint32_t markers = 0;
    fprintf(w->f, "* %s\nNAME pcc\nROWS\n N obj\n", m->title);
    for (uint32_t r = 0; r < m->nrow; r++)
        fprintf(w->f, " %c %s\n", "EGL"[row_sense(&m->row[r])], w->row[r]);
    fprintf(w->f, "COLUMNS\n");
    /* the last turn only ends a sequence of integer columns */
    for (uint32_t c = 0; c <= m->ncol; c++) {
        bool integer = c < m->ncol && m->col[c].integer;
        if (integer != in_integers)
            fprintf(w->f, " MARKER%u 'MARKER' '%s'\n", markers++, integer ? "INTORG" : "INTEND");
        in_integers = integer;
        if (c == m->ncol)
            break;
        if (!is_same(m->col[c].cost, 0) || by.at[c] == by.at[c + 1])
            fprintf(w->f, " %s obj %s\n", w->col[c], number_text(text, m->col[c].cost));
        for (uint32_t i = by.at[c]; i < by.at[c + 1]; i++)
            fprintf(w->f, " %s %s %s\n", w->col[c], w->row[by.row[i]], number_text(text, by.by[i]));
    }
    fprintf(w->f, "RHS\n");
    for (uint32_t r = 0; r < m->nrow; r++) {
        if (!is_same(row_bound(&m->row[r]), 0))
            fprintf(w->f, " RHS %s %s\n", w->row[r], number_text(text, row_bound(&m->row[r])));
    }
    fprintf(w->f, "BOUNDS\n");
    write_mps_bounds(w);
    fprintf(w->f, "ENDATA\n");
}

int mip_write(const struct mip *m, const char *path, struct diag *d)
{
    struct writer w = {.m = m};
    struct outfile o;
    bool lp = str_ends(path, ".lp");
    if (!lp && !str_ends(path, ".mps"))
        return diag_error(d, "write=%s: expected a name that ends in .lp or .mps", path);
    struct arena *a = arena_new(m->mem);
    name_all(&w, a);
    int rc = outfile_open(&o, path, m->mem, d);
    if (!rc) {
        w.f = o.f;
        if (lp)
            write_lp(&w);
        else
            write_mps(&w, a);
        rc = outfile_close(&o, /*ok=*/true);
    }
    arena_free(a);
    return rc;
}
