/* Times and memory of the nodes of a part (measure.h).
 *
 * The part runs without optimisations, so that nodes keep their names, while the engine's profiler writes a trace: one
 * event on a line.  A node's time is the least after the first runs, because means and medians depend on what else runs
 * on the machine.  A node's memory is the bytes of its results and of its workspace; the engine writes a table of
 * workspaces when a session is asked to.  O(events). */
#include "tools/run/measure.h"

#include "ir/base/infile.h"
#include "ir/base/csv_in.h"
#include "ir/base/json_in.h"
#include "ir/base/name_table.h"
#include "ir/base/numbers.h"
#include "ir/base/strings.h"
#include "ir/base/units.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PS_PER_US INT64_C(1000000)

/* The nodes of a part while its trace is read. */
struct trace {
    struct names names;     /* name -> number of the node */
    uint32_t *seen;         /* [node] number of its events so far */
    int64_t *work;          /* [node] bytes of its workspace, results left out */
    struct node_figures *f; /* [node] */
    int64_t inlined;        /* ps of nodes that stand in place of calls, in all runs together */
    uint32_t discard;       /* number of first events of each node that do not count */
};

/* Reads a line of the trace.  If it is an event of a node of the part, counts it in t->seen; events behind the first
 * t->discard also count for the node's least time and largest output.  The name of an event is that of its node and
 * "_kernel_time"; if it begins with "_inlfunc_" and is no node of the part, a node ran in place of a call of a
 * function, and its time goes to t->inlined. */
static void take_line(struct trace *t, const char *line, size_t n)
{
    static const char suffix[] = "_kernel_time", inlined[] = "_inlfunc_";
    json_error_t e;
    int64_t us, bytes;
    const char *text;
    if (*line != '{')
        return;
    json_t *event = json_loadb(line, n, 0, &e);
    const char *cat = json_get_text(event, "cat"), *full = json_get_text(event, "name");
    if (cat && full && !strcmp(cat, "Node") && str_ends(full, suffix) &&
        json_int_in(json_object_get(event, "dur"), 0, INT64_MAX / PS_PER_US, &us)) {
        char *name = strndup(full, strlen(full) - (sizeof suffix - 1));
        uint32_t v = name ? names_get(&t->names, name, UINT32_MAX) : UINT32_MAX;
        if (v == UINT32_MAX && !strncmp(full, inlined, sizeof inlined - 1))
            t->inlined = sat_add(t->inlined, us * PS_PER_US);
        if (v != UINT32_MAX && t->seen[v]++ >= t->discard) {
            struct node_figures *f = &t->f[v];
            int64_t ps = larger(us * PS_PER_US, NODE_FLOOR_PS);
            f->ps = f->ps < 0 ? ps : smaller(f->ps, ps);
            text = json_get_text(json_object_get(event, "args"), "output_size");
            if (text && count_parse(text, &bytes))
                f->bytes = larger(f->bytes, bytes);
        }
        free(name);
    }
    json_decref(event);
}

/* Reads the trace at `path`, a JSON array with one event on a line, into *t, and removes the file.  Returns 0, or -1
 * and an error. */
static int read_trace(const struct measuring *m, const char *path, struct trace *t)
{
    struct arena *own = arena_new(m->a);
    size_t n;
    char *text = infile_read(path, INFILE_TABLE, own, &n, m->d);
    for (char *line = text, *next; line && *line; line = next) {
        size_t from = strspn(line, "[ \t"), end = strcspn(line, "\n");
        next = line + end + (line[end] == '\n');
        while (end > from && strchr(",] \t\r", line[end - 1]))
            end--;
        if (end > from)
            take_line(t, line + from, end - from);
    }
    unlink(path);
    arena_free(own);
    return text ? 0 : -1;
}

/* Runs part k with the engine's profiler, and reads the trace into t.  Returns 0, or -1 after an error. */
static int profile(const struct measuring *m, uint32_t k, struct trace *t)
{
    const struct split_part *part = &m->s->part[k];
    struct engine_error err;
    struct engine_load how = split_load(part, m->threads, /*optimise=*/false);
    how.profile = arena_fmt(m->a, "%s/profile", m->folder);
    struct loaded *p = measure_load(m, k, &how);
    struct timing unused;
    const char *path;
    int rc = p ? 0 : -1;
    /* the part runs once even after Ctrl-C, since later parts need its outputs */
    for (uint32_t i = 0; i < m->node_discard + m->node_runs && !rc && (i == 0 || !*m->stop); i++)
        rc = measure_run(m, k, p, &unused);
    if (!rc && m->e->face->profile(p, &path, m->a, &err))
        rc = diag_error(m->d, "%s: %s", part->file, err.line);
    if (p)
        m->e->face->unload(p);
    return rc || *m->stop ? rc : read_trace(m, path, t);
}

/* Reads the engine's table of workspaces into t->work: the column #name has the node's name with a number behind the
 * last '_', the column total_temp_allocations the bytes.  Does nothing if the table is missing or has another form. */
static void read_work(const char *path, struct trace *t, struct arena *a)
{
    struct diag quiet = diag_silent();
    size_t n;
    char *s = access(path, F_OK) == 0 ? infile_read(path, INFILE_TABLE, a, &n, &quiet) : NULL;
    char *cell, stop, *name = NULL;
    int name_at = -1, bytes_at = -1, column = 0, row = 0;
    while (s && *s) {
        int64_t bytes;
        if (!csv_field(&s, &cell, &stop)) /* `stop`: the character behind the field */
            return;
        if (row == 0) {
            name_at = !strcmp(cell, "#name") ? column : name_at;
            bytes_at = !strcmp(cell, "total_temp_allocations") ? column : bytes_at;
        } else if (column == name_at) {
            char *end = strrchr(cell, '_');
            name = cell;
            if (end)
                *end = 0;
        } else if (column == bytes_at && name && count_parse(cell, &bytes)) {
            uint32_t v = names_get(&t->names, name, UINT32_MAX);
            if (v != UINT32_MAX)
                t->work[v] = larger(t->work[v], bytes);
        }
        bool goes_on = stop == ',';
        column = goes_on ? column + 1 : 0;
        row += !goes_on;
    }
}

/* Runs part k once for the table of workspaces, and adds these to the memory of its nodes.  Returns 0, or -1 after an
 * error. */
static int add_work(const struct measuring *m, uint32_t k, struct trace *t, struct arena *own)
{
    const struct split_part *part = &m->s->part[k];
    const char *path = arena_fmt(own, "%s/memory.csv", m->folder);
    struct engine_load how = split_load(part, m->threads, /*optimise=*/false);
    how.node_memory = path;
    struct loaded *p = measure_load(m, k, &how);
    struct timing unused;
    int rc = p ? measure_run(m, k, p, &unused) : -1;
    if (p)
        m->e->face->unload(p);
    if (!rc)
        read_work(path, t, own);
    unlink(path);
    return rc;
}

int measure_nodes(const struct measuring *m, uint32_t k, struct part_figures *f)
{
    const struct split_part *part = &m->s->part[k];
    struct arena *own = arena_new(m->a);
    struct trace t = {.names = names_new(own, part->nnode), .discard = m->node_discard};
    t.seen = arena_array(own, (size_t)part->nnode + 1, sizeof *t.seen);
    t.work = arena_array(own, (size_t)part->nnode + 1, sizeof *t.work);
    t.f = arena_array(m->a, (size_t)part->nnode + 1, sizeof *t.f);
    for (uint32_t v = 0; v < part->nnode; v++) {
        names_add(&t.names, part->node[v], v);
        t.f[v] = (struct node_figures){-1, -1};
    }
    int rc = profile(m, k, &t);
    if (!rc && !*m->stop)
        rc = add_work(m, k, &t, own);
    for (uint32_t v = 0; v < part->nnode; v++)
        if (t.f[v].bytes >= 0)
            t.f[v].bytes = sat_add(t.f[v].bytes, t.work[v]);
    if (!rc && !*m->stop) {
        f->node = t.f;
        f->nameless_ps = t.inlined / (m->node_discard + m->node_runs); /* mean of one run */
        if (t.inlined > 0)
            diag_warning(
                m->d, WARN_NONE,
                "%s: calls of functions run as other nodes: they get no time, and keep pcc's estimate",
                part->file);
    }
    arena_free(own);
    return rc;
}
