/* A plan of a workload as the placement paper's split.
 *
 *     {"cpus": [{"load": ms, "nodes": [ids]}], "fpgas": [...], "maxLoad": ms}
 *
 * Every device is listed, ids ascend, and loads are the judge's: exact, since a picosecond is 10^-9
 * of a millisecond.  O(nodes log nodes). */
#include "backends/backends.h"
#include "ir/base/outfile.h"
#include "ir/base/units.h"

#include <inttypes.h>
#include <stdlib.h>

static int ascending(const void *x, const void *y)
{
    int64_t a = *(const int64_t *)x, b = *(const int64_t *)y;
    return (a > b) - (a < b);
}

static void put_ms(FILE *f, int64_t ps)
{
    const int64_t ms = PS_PER_S / 1000;
    char digits[16];
    int n = snprintf(digits, sizeof digits, "%09" PRId64, ps % ms);
    while (n > 1 && digits[n - 1] == '0')
        n--;
    fprintf(f, "%" PRId64 ".%.*s", ps / ms, n, digits);
}

static void put_device(FILE *f, const struct result *r, uint32_t dev, int64_t *ids)
{
    const struct graph *g = &r->scene.m->graph[1];
    const struct device_load *l = &r->verdict->load[dev];
    size_t n = 0;
    for (nid v = g->first; v < g->first + g->count; v++)
        if (r->plan->dev[v] == (int32_t)dev)
            ids[n++] = node_attr_int(r->scene.m, v, "id", -1);
    qsort(ids, n, sizeof *ids, ascending);
    fputs("        {\"load\": ", f);
    put_ms(f, l->load);
    fputs(", \"nodes\": [", f);
    for (size_t i = 0; i < n; i++)
        fprintf(f, "%s%" PRId64, i ? ", " : "", ids[i]);
    fputs("]}", f);
}

/* The devices that are (or are not) the host's. */
static void put_devices(FILE *f, const struct result *r, const char *key, bool host, int64_t *ids)
{
    bool first = true;
    fprintf(f, "    \"%s\": [", key);
    for (uint32_t d = 0; d < r->scene.cluster->ndev; d++) {
        if (r->scene.cluster->cls[cluster_class(r->scene.cluster, d)].host != host)
            continue;
        fputs(first ? "\n" : ",\n", f);
        first = false;
        put_device(f, r, d, ids);
    }
    fputs(first ? "],\n" : "\n    ],\n", f);
}

int paper_split_write(const struct result *r, const char *path)
{
    const struct graph *g = &r->scene.m->graph[1];
    struct outfile o;
    for (nid v = g->first; v < g->first + g->count; v++)
        if (r->plan->dev[v] >= 0 && !node_attr(r->scene.m, v, "id"))
            return diag_error(r->diag,
                              "%s: node '%s' has no id: only plans of workloads can be "
                              "written in the paper's form",
                              path, node_name(r->scene.m, v));
    if (outfile_open_to(&o, path, r->out, r->scene.m->mem, r->diag))
        return -1;
    struct arena *a = arena_new(r->scene.m->mem);
    int64_t *ids = arena_array(a, (size_t)g->count + 1, sizeof *ids);
    fputs("{\n", o.f);
    put_devices(o.f, r, "cpus", true, ids);
    put_devices(o.f, r, "fpgas", false, ids);
    fputs("    \"maxLoad\": ", o.f);
    put_ms(o.f, r->verdict->value);
    fputs("\n}\n", o.f);
    arena_free(a);
    return outfile_close(&o, true);
}
