/* Writes the cost table as CSV, and fields of any CSV file (csv.h). */
#include "backends/backends.h"
#include "backends/report/csv.h"
#include "backends/report/print.h"
#include "ir/base/utf8.h"

#include <assert.h>
#include <string.h>

/* Returns s, in a, with "\x5c" in place of each backslash that utf8_unescaped() would take for the beginning of an
 * escape, so that pcc's reader gives s back; s itself if it has no such backslash. */
static const char *backslashes_kept(const char *s, struct arena *a)
{
    if (utf8_unescaped(a, s) == s)
        return s;
    char *out = arena_alloc(a, 4 * strlen(s) + 1), *to = out;
    for (; *s; s++) {
        bool begins = *s == '\\' && s[1] && strchr("xuU", s[1]);
        if (begins)
            to = stpcpy(to, "\\x5c");
        else
            *to++ = *s;
    }
    *to = 0;
    return out;
}

void csv_text(FILE *f, const char *s, struct arena *a)
{
    /* text that a spreadsheet would take for a formula gets a ' in front */
    bool guard = *s && strchr("=+-@'", *s);
    s = utf8_text(a, backslashes_kept(s, a));
    bool quotes = s[strcspn(s, ",\"")] != 0;
    fprintf(f, "%s%s", quotes ? "\"" : "", guard ? "'" : "");
    for (; *s; s++) {
        if (*s == '"')
            putc('"', f);
        putc(*s, f);
    }
    if (quotes)
        putc('"', f);
}

/* Returns the bytes of the results of node n; in a profile, which has only the sum of results and weights, that sum. */
static int64_t result_bytes(const struct module *m, nid n)
{
    const struct slice out = m->node[n].out;
    int64_t sum = 0;
    if (m->ir_version == 0 && m->node[n].callee == 0) /* a profile has no ONNX version */
        return m->cost->own[n];
    for (uint32_t i = 0; i < out.n; i++)
        sum = sat_add(sum, m->cost->bytes[m->arg[out.at + i]]);
    return sum;
}

/* Whether a node of the main graph needs memory beyond its results.  Calls of functions do not count, as the nodes
 * inside need their memory. */
static bool needs_memory(const struct module *m)
{
    const struct graph *g = &m->graph[1];
    for (nid n = g->first; n < g->first + g->count; n++)
        if (m->node[n].callee == 0 && m->cost->own[n] > result_bytes(m, n))
            return true;
    return false;
}

/* Writes a row for each node of the main graph: name, operator, FLOPs, bytes read and written, bytes of results, bytes
 * of memory (if needs_memory()), and ps on each class of devices (empty: the node cannot run there). */
static void put_table(FILE *f, const struct result *r, struct arena *a)
{
    const struct module *m = r->scene.m;
    const struct cluster *c = r->scene.cluster;
    assert(m->cost && c);
    const struct graph *g = &m->graph[1];
    bool memory = needs_memory(m);
    fprintf(f, "name,op,flops,traffic_bytes,result_bytes%s", memory ? ",memory" : "");
    for (uint32_t k = 0; k < c->ncls; k++) {
        fputs(",ps_", f);
        csv_text(f, c->cls[k].name, a);
    }
    putc('\n', f);
    for (nid n = g->first; n < g->first + g->count; n++) {
        csv_text(f, node_name(m, n), a);
        putc(',', f);
        csv_text(f, node_op(m, n), a);
        fprintf(f, ",%lld,%lld,%lld", (long long)m->cost->flops[n], (long long)m->cost->traffic[n],
                (long long)result_bytes(m, n));
        if (memory)
            fprintf(f, ",%lld", (long long)m->cost->own[n]);
        for (uint32_t k = 0; k < c->ncls; k++)
            if (m->cost->time[k][n] == COST_NEVER)
                putc(',', f);
            else
                fprintf(f, ",%lld", (long long)m->cost->time[k][n]);
        putc('\n', f);
    }
}

/* writer.write: writes the costs of the nodes as a table. */
static int write_csv(const struct result *r, const void *opts, const char *path)
{
    (void)opts;
    if (!r->scene.m->cost)
        return diag_error(r->diag, "%s: the cost table needs costs: add cost to -p", path);
    return writer_print(r, path, put_table);
}

const struct writer writer_csv = {.name = "csv",
                                  .suffix = ".csv",
                                  .to_stdout = true,
                                  .needs = WRITER_NEEDS_COST,
                                  .write = write_csv};
