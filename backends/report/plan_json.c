/* A plan as JSON. */
#include "backends/backends.h"
#include "ir/base/json_keep.h"
#include "ir/base/outfile.h"

#include <errno.h>
#include <string.h>

/* Picoseconds as seconds, the way the manifest writes them. */
static json_t *seconds(int64_t ps)
{
    return ps < 0 ? json_null() : json_real((double)ps / (double)PS_PER_S);
}

/* NULL: no memory (errno is ENOMEM), or a name is not UTF-8; *bad is its node then. */
static json_t *device_json(const struct result *r, uint32_t d, struct arena *a, nid *bad)
{
    const struct device_load *l = &r->verdict->load[d];
    const char *name = cluster_device_name(r->scene.cluster, a, d);
    json_t *nodes = json_array(); /* nothing of an arena from here on: it would be lost */
    for (nid n = 1; n < r->scene.m->nnode; n++)
        if (r->plan->dev[n] == (int32_t)d &&
            json_array_append_new(nodes, json_string(node_name(r->scene.m, n)))) {
            *bad = n;
            json_decref(nodes);
            return NULL;
        }
    return json_pack("{s:s, s:s, s:o, s:o, s:o, s:I, s:o}", "name", name, "class",
                     r->scene.cluster->cls[cluster_class(r->scene.cluster, d)].name, "load_s",
                     seconds(l->load), "compute_s", seconds(l->compute), "transfer_s",
                     seconds(l->transfer), "used_bytes", (json_int_t)l->used, "nodes", nodes);
}

/* {"pcc_plan": 1, "planner", "objective": {...}, "devices": [{"name", ..., "nodes": [names]}]}, and
 * "calls" if the model has functions; NULL like device_json, *bad is 0 for other names than nodes'. */
static json_t *plan_json(const struct result *r, struct arena *a, nid *bad)
{
    const struct plan *p = r->plan;
    json_t *devices = json_keep(a, json_array());
    for (uint32_t d = 0; d < r->scene.cluster->ndev; d++)
        if (json_array_append_new(devices, device_json(r, d, a, bad)))
            return NULL;
    return json_pack("{s:i, s:s, s:{s:s, s:o, s:o, s:s, s:s, s:s, s:o}, s:O, s:s*}", "pcc_plan", 1,
                     "planner", p->planner, "objective", "name", "time-per-sample", "value_s",
                     seconds(r->verdict->value), "bound_s", seconds(p->bound), "status",
                     plan_status_name(p->status), "argument", p->argument ? p->argument : "",
                     "scope", plan_scope_name(p->scope), "bound_all_s", seconds(p->bound_all),
                     "devices", devices, "calls", r->calls);
}

int plan_json_write(const struct result *r, const char *path)
{
    struct outfile o;
    struct arena *a = arena_new(r->scene.m->mem);
    nid bad = 0;
    errno = 0;
    json_t *root = json_keep(a, plan_json(r, a, &bad));
    int rc = 0;
    if (!root && errno == ENOMEM)
        rc = diag_error(r->diag, "%s: %s", path, strerror(errno));
    else if (!root && bad)
        rc = diag_error(r->diag, "%s: the name of node '%s' is not UTF-8, which JSON cannot hold",
                        path, node_name(r->scene.m, bad));
    else if (!root)
        rc = diag_error(r->diag, "%s: a name is not UTF-8, which JSON cannot hold", path);
    if (!rc)
        rc = outfile_open_to(&o, path, r->out, r->scene.m->mem, r->diag);
    if (!rc) {
        bool done = json_dumpf(root, o.f,
                               JSON_INDENT(1) | JSON_PRESERVE_ORDER | JSON_REAL_PRECISION(15)) == 0;
        bool full = ferror(o.f) != 0; /* outfile_close tells */
        if (!done && !full)
            diag_error(r->diag, "%s: cannot be written: %s", path, strerror(errno));
        putc('\n', o.f);
        rc = outfile_close(&o, done || full);
    }
    arena_free(a);
    return rc;
}

/* Of a workload, the placement paper's form. */
static int write_json(const struct result *r, const void *opts, const char *path)
{
    (void)opts;
    return r->scene.m->ir_version ? plan_json_write(r, path) : paper_split_write(r, path);
}

const struct writer writer_json = {.name = "json",
                                   .suffix = ".json",
                                   .to_stdout = true,
                                   .needs = WRITER_NEEDS_PLAN,
                                   .write = write_json};
