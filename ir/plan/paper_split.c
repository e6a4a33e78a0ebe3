/* A plan of a workload as the placement paper's split.
 *
 *     {"cpus": [{"load": ms, "nodes": [ids]}], "fpgas": [...], "maxLoad": ms}
 *
 * Every device is listed, ids ascend, and loads are the judge's: exact, since a picosecond is 10^-9
 * of a millisecond.  A plan for a latency has totalLatency instead of maxLoad; with slots there are "q" entries in
 * "fpgas" for each accelerator, its slots in order, without loads.  O(q * devices * nodes + nodes log nodes). */
#include "ir/plan/plan_json.h"

#include "ir/base/json_out.h"
#include "ir/base/outfile.h"

#include <inttypes.h>
#include <stdlib.h>

static int ascending(const void *x, const void *y)
{
    int64_t a = *(const int64_t *)x, b = *(const int64_t *)y;
    return (a > b) - (a < b);
}

/* What is written. */
struct split {
    FILE *f;
    const struct plan_told *t;
    int64_t *ids; /* room for those of a device */
    uint32_t q;   /* slots of each accelerator; 0: there are none */
};

static void put_ms(FILE *f, int64_t ps)
{
    json_put_decimal(f, ps, 9);
}

/* slot 0: all of the device. */
static void put_device(const struct split *w, uint32_t dev, uint32_t slot)
{
    const struct graph *g = &w->t->scene->m->graph[1];
    size_t n = 0;
    for (nid v = g->first; v < g->first + g->count; v++)
        if (w->t->plan->dev[v] == (int32_t)dev && (!slot || w->t->plan->slot[v] == slot))
            w->ids[n++] = node_attr_int(w->t->scene->m, v, "id", -1);
    qsort(w->ids, n, sizeof *w->ids, ascending);
    fputs("        {", w->f);
    if (!slot) {
        fputs("\"load\": ", w->f);
        put_ms(w->f, w->t->verdict->load[dev].load);
        fputs(", ", w->f);
    }
    fputs("\"nodes\": [", w->f);
    for (size_t i = 0; i < n; i++)
        fprintf(w->f, "%s%" PRId64, i ? ", " : "", w->ids[i]);
    fputs("]}", w->f);
}

/* The devices that are (or are not) the host's. */
static void put_devices(const struct split *w, const char *key, bool host)
{
    const struct cluster *c = w->t->scene->cluster;
    bool first = true;
    fprintf(w->f, "    \"%s\": [", key);
    for (uint32_t d = 0; d < c->ndev; d++) {
        if (c->cls[cluster_class(c, d)].host != host)
            continue;
        for (uint32_t slot = host || !w->q ? 0 : 1; slot <= (host ? 0 : w->q); slot++) {
            fputs(first ? "\n" : ",\n", w->f);
            first = false;
            put_device(w, d, slot);
        }
    }
    fputs(first ? "],\n" : "\n    ],\n", w->f);
}

/* The most slots that an accelerator has.  A latency alone knows them: its judge has seen that each node has one. */
static uint32_t count_slots(const struct plan_told *t)
{
    const struct graph *g = &t->scene->m->graph[1];
    uint32_t most = 0;
    bool known = t->plan->slot && t->scene->model.objective == OBJECTIVE_LATENCY;
    for (nid v = g->first; known && v < g->first + g->count; v++)
        most = t->plan->dev[v] >= 0 && t->plan->slot[v] > most ? t->plan->slot[v] : most;
    return most;
}

int paper_split_write(const struct plan_told *t, const char *path, FILE *out, struct diag *d)
{
    const struct module *m = t->scene->m;
    const struct graph *g = &m->graph[1];
    struct outfile o;
    for (nid n = g->first; n < g->first + g->count; n++)
        if (t->plan->dev[n] >= 0 && !node_attr(m, n, "id"))
            return diag_error(d,
                              "%s: node '%s' has no id: only plans of workloads can be "
                              "written in the paper's form",
                              path, node_name(m, n));
    if (outfile_open_to(&o, path, out, m->mem, d))
        return -1;
    struct arena *a = arena_new(m->mem);
    const struct split w = {o.f, t, arena_array(a, (size_t)g->count + 1, sizeof *w.ids),
                            count_slots(t)};
    fputs("{\n", o.f);
    put_devices(&w, "cpus", true);
    put_devices(&w, "fpgas", false);
    if (w.q)
        fprintf(o.f, "    \"q\": %u,\n", w.q);
    fputs(t->scene->model.objective == OBJECTIVE_LATENCY ? "    \"totalLatency\": "
                                                         : "    \"maxLoad\": ",
          o.f);
    put_ms(o.f, t->verdict->value);
    fputs("\n}\n", o.f);
    arena_free(a);
    return outfile_close(&o, true);
}
