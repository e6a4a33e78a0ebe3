/* Prints the table of the pass `levels` (level_table.h): on the terminal its first rows, as CSV a row for each node.
 * O(V). */
#include "backends/backends.h"
#include "backends/report/csv.h"
#include "backends/report/print.h"
#include "ir/dag/level_table.h"
#include "ir/base/page.h"
#include "ir/base/utf8.h"

#include <assert.h>

enum {
    SHOWN = 40, /* number of rows on the terminal, at most */
    NAMES = 3   /* number of node names in a row, at most */
};

/* Returns the name of the node of base-level vertex v. */
static const char *base_name(const struct level_table *t, uint32_t v)
{
    const struct wdag *base = t->top;
    while (base->finer) /* down to the base level, whose vertices are nodes */
        base = base->finer;
    return node_name(t->m, base->node[v]);
}

/* Returns the names of the nodes of vertex v of the top level, in a: with at_length "n0, n4, n6 and 2 more", else
 * "n0 (+4)". */
static const char *say_vertex(const struct level_table *t, uint32_t v, bool at_length,
                              struct arena *a)
{
    uint32_t from = t->members.at[v], to = t->members.at[v + 1], most = at_length ? NAMES : 1;
    const char *s = "";
    for (uint32_t i = from; i < to && i < from + most; i++)
        s = arena_fmt(a, "%s%s%s", s, i > from ? ", " : "",
                      utf8_text(a, base_name(t, t->members.to[i])));
    return to - from > most
               ? arena_fmt(a, at_length ? "%s and %u more" : "%s (+%u)", s, to - from - most)
               : s;
}

/* Writes a / b with three decimals to buf[UNIT_TEXT] and returns it; "n/a" if b is 0. */
static const char *ratio(char *buf, double a, double b)
{
    if (b <= 0)
        return "n/a";
    snprintf(buf, UNIT_TEXT, "%.3f", a / b);
    return buf;
}

/* Prints for each level its size, its times, and three ratios of transfers to computing.  "CCR": the sum over all
 * edges to the sum over all vertices.  "of means": the mean edge to the mean vertex.  "once": as CCR, but a tensor
 * counts once for each vertex that reads it. */
static void print_weights(FILE *f, const struct level_table *t)
{
    char b[5][UNIT_TEXT];
    fprintf(f, "%-12s %8s %8s %11s %11s %8s %8s %7s\n", "level", "vertices", "edges", "transfers",
            "computing", "CCR", "of means", "once");
    for (uint32_t i = 0; i < t->nweight; i++) {
        const struct level_weight *w = &t->weight[i];
        double transfer = (double)w->transfer, compute = (double)w->compute;
        fprintf(f, "%-12s %8u %8llu %11s %11s %8s %8s %7s\n", w->maker, w->vertices,
                (unsigned long long)w->edges, time_short(b[0], w->transfer),
                time_short(b[1], w->compute), ratio(b[2], transfer, compute),
                ratio(b[3], transfer * w->vertices, compute * (double)w->edges),
                ratio(b[4], (double)w->once, compute));
    }
}

void levels_print(FILE *f, const struct result *r)
{
    const struct level_table *t = r->table;
    assert(t);
    const struct cpd_paths *p = &t->path;
    char b[3][UNIT_TEXT];
    struct arena *a = arena_new(r->scene.m->mem);
    print_weights(f, t);
    fprintf(f, "critical path: %s, %u of %u vertices\n", time_short(b[0], p->longest), t->ncritical,
            t->top->n);
    const char *path = " ";
    for (uint32_t i = 0; i < t->ncritical && i < SHOWN; i++)
        path = arena_fmt(a, "%s%s %s", path, i ? " ->" : "",
                         say_vertex(t, t->critical[i], /*at_length=*/false, a));
    if (t->ncritical)
        page_words(f, t->ncritical > SHOWN ? arena_fmt(a, "%s -> ...", path) : path, /*at=*/0,
                   /*indent=*/2);
    fprintf(f, "%12s %12s %12s  vertex\n", "tlevel", "blevel", "sum");
    for (uint32_t v = 0; v < t->top->n && v < SHOWN; v++) {
        fprintf(f, "%12s %12s %12s  ", time_short(b[0], p->tlevel[v]),
                time_short(b[1], p->blevel[v]),
                time_short(b[2], sat_add(p->tlevel[v], p->blevel[v])));
        page_words(f, say_vertex(t, v, /*at_length=*/true, a), /*at=*/40, /*indent=*/40);
    }
    if (t->top->n > SHOWN)
        fprintf(f, "... %u more: -o FILE.levels.csv has all\n", t->top->n - SHOWN);
    arena_free(a);
}

/* Writes a CSV row for each node: its name; its vertex of the top level; that vertex's tlevel, blevel and their sum, in
 * ps; 1 if the vertex is on the critical path, else 0. */
static void put_table(FILE *f, const struct result *r, struct arena *a)
{
    const struct level_table *t = r->table;
    assert(t && t->ncritical <= t->top->n);
    uint8_t *critical = arena_alloc(a, (size_t)t->top->n + 1);
    for (uint32_t i = 0; i < t->ncritical; i++)
        critical[t->critical[i]] = 1;
    fputs("name,vertex,tlevel_ps,blevel_ps,sum_ps,critical\n", f);
    for (uint32_t v = 0; v < t->top->n; v++)
        for_row (member, t->members, v) {
            int64_t above = t->path.tlevel[v], below = t->path.blevel[v];
            csv_text(f, base_name(t, member), a);
            fprintf(f, ",%u,%lld,%lld,%lld,%d\n", v, (long long)above, (long long)below,
                    (long long)sat_add(above, below), critical[v]);
        }
}

/* writer.write: writes the table of the pass levels. */
static int write_levels(const struct result *r, const void *opts, const char *path)
{
    (void)opts;
    if (!r->table)
        return diag_error(r->diag, "%s: the table needs the pass levels: add it to -p", path);
    return writer_print(r, path, put_table);
}

const struct writer writer_levels = {.name = "levels",
                                     .suffix = ".levels.csv",
                                     .to_stdout = true,
                                     .needs = WRITER_NEEDS_LEVELS,
                                     .write = write_levels};
