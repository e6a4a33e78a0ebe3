/* Finds favourite children by rounding Baechi's linear program (favourites.h).
 *
 * Source: Hanen and Munier (1995); Baechi (SoCC 2020).  Each edge has a column from 0 to 1; 0 means that the edge's
 * reader is the favourite of its first vertex.  Of the edges out of a vertex all but one must be 1; likewise of the
 * edges into a vertex.  The starts of vertices and the end of the whole graph are columns, too; the end is minimised.
 * Rounding takes the edges below TAKEN in order; a taken edge replaces edges taken before that have the same first
 * vertex or the same reader.  Times are scaled so that the longest path takes END_SCALE.  The solver determines the
 * time, so the number of edges is limited. */
#include "passes/list/favourites.h"

#include "ir/base/units.h"
#include "passes/integer/mip.h"

#include <string.h>

#define END_SCALE 1000.0 /* units of time in which the longest path is measured */
#define TAKEN 0.1        /* the reader of an edge whose column is below this may be a favourite */

/* Returns the ps of the longest path of computing (time[vertex]) and transfers (cost[index in g->pred.to]), at least 1.
 * Vertices are numbered in a topological order. */
static int64_t longest_path(const struct wdag *g, const int64_t *time, const int64_t *cost,
                            struct arena *a)
{
    int64_t *end = arena_array(a, (size_t)g->n + 1, sizeof *end), most = 1;
    for (uint32_t v = 0; v < g->n; v++) {
        for (uint32_t k = g->pred.at[v]; k < g->pred.at[v + 1]; k++) {
            int64_t t = sat_add(end[g->pred.to[k]], cost[k]);
            end[v] = larger(t, end[v]);
        }
        end[v] = sat_add(end[v], time[v]);
        most = larger(end[v], most);
    }
    return most;
}

/* If row v of `to` has two edges or more, adds the row of the program that says that all of them but one are 1.  edge:
 * [index in to->to] the column of the edge. */
static void all_but_one(struct mip *m, const struct csr *to, uint32_t v, const uint32_t *edge)
{
    uint32_t n = to->at[v + 1] - to->at[v];
    if (n < 2)
        return;
    mip_row(m, "one", n - 1, MIP_INF);
    for (uint32_t i = to->at[v]; i < to->at[v + 1]; i++)
        mip_term(m, edge[i], 1);
}

/* Returns the linear program.  Columns: the edges in the order of g->pred, then the starts of vertices, then the end.
 * unit: number of ps in one unit of the program's times. */
static struct mip *make_program(const struct wdag *g, const int64_t *time, const int64_t *cost,
                                double unit, struct arena *a)
{
    struct mip *m = mip_new(a);
    /* in, out: columns of the edges, [index in g->pred.to] and [index in g->succ.to] */
    uint32_t edges = g->pred.at[g->n], *in = arena_array(a, (size_t)edges + 1, sizeof *in);
    uint32_t *out = arena_array(a, (size_t)edges + 1, sizeof *out);
    uint32_t *next = arena_array(a, (size_t)g->n + 1, sizeof *next);
    memcpy(next, g->succ.at, g->n * sizeof *next);
    for (uint32_t k = 0; k < edges; k++)
        in[k] = mip_share(m, "edge");
    for (uint32_t v = 0; v < g->n; v++)
        mip_col(m, "start", 0, MIP_INF, 0, /*integer=*/false);
    uint32_t end = mip_col(m, "end", 0, MIP_INF, 1, /*integer=*/false);
    for (uint32_t v = 0; v < g->n; v++) {
        for (uint32_t k = g->pred.at[v]; k < g->pred.at[v + 1]; k++) {
            uint32_t u = g->pred.to[k];
            out[next[u]++] = k; /* rows of g->succ are ascending, too */
            /* v starts when u has ended and, unless the edge is 0, its value has been moved */
            mip_row(m, "after", (double)time[u] / unit, MIP_INF);
            mip_term(m, edges + v, 1);
            mip_term(m, edges + u, -1);
            if (cost[k] > 0)
                mip_term(m, k, -(double)cost[k] / unit);
        }
        mip_row(m, "last", (double)time[v] / unit, MIP_INF);
        mip_term(m, end, 1);
        mip_term(m, edges + v, -1);
    }
    for (uint32_t v = 0; v < g->n; v++) {
        all_but_one(m, &g->pred, v, in);
        all_but_one(m, &g->succ, v, out);
    }
    mip_finish(m);
    return m;
}

/* Returns the favourites that follow from x[column], the solution of the linear program: if an edge is below TAKEN, its
 * reader is the favourite of its first vertex, unless a later such edge has the same first vertex or the same
 * reader. */
static uint32_t *round_favourites(const struct wdag *g, const double *x, struct arena *a)
{
    uint32_t *favourite = arena_array(a, (size_t)g->n + 1, sizeof *favourite);
    uint32_t *parent = arena_array(a, (size_t)g->n + 1, sizeof *parent);
    memset(favourite, 0xff, ((size_t)g->n + 1) * sizeof *favourite);
    memset(parent, 0xff, ((size_t)g->n + 1) * sizeof *parent);
    for (uint32_t v = 0; v < g->n; v++)
        for (uint32_t k = g->pred.at[v]; k < g->pred.at[v + 1]; k++) {
            uint32_t u = g->pred.to[k];
            if (x[k] >= TAKEN)
                continue;
            if (favourite[u] != NO_FAVOURITE)
                parent[favourite[u]] = NO_FAVOURITE;
            if (parent[v] != NO_FAVOURITE)
                favourite[parent[v]] = NO_FAVOURITE;
            favourite[u] = v;
            parent[v] = u;
        }
    return favourite;
}

uint32_t *favourites_by_lp(const struct wdag *g, const int64_t *time, const int64_t *cost,
                           struct clock *clock, struct arena *a, double *bound)
{
    double unit = (double)longest_path(g, time, cost, a) / END_SCALE;
    struct mip_answer answer;
    if (!mip_lpsolve.attempts)
        return NULL;
    mip_solve(&mip_lpsolve, make_program(g, time, cost, unit, a), /*gap=*/1e-9, clock, a, &answer);
    if (answer.status != MIP_OPTIMAL)
        return NULL;
    *bound = answer.value * unit;
    return round_favourites(g, answer.x, a);
}
