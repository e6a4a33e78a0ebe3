/* Reads and writes the member "training" of plans and manifests (training_json.h):
 *
 *     {"schedule", "micro_batches", "micro_batch_size", "profiled_batch", "replication", "slices", "duplex",
 *      "allreduce_lane", "allreduce_overlap", "workspace_bytes", "runnable",
 *      "stages": [{"devices": [names], "ahead", "recompute", "nodes": [names]}]}
 *
 * "runnable" is false if a device of a stage would get a fraction of a sample.  "nodes" is written only in plans, and
 * only if stages share devices; a manifest has the stage of each part instead.  O(devices + nodes). */
#include "ir/plan/training_json.h"

#include "ir/base/json_in.h"

/* ---- reading ---------------------------------------------------------------------------------- */

/* Reports the error that "training" does not have the expected form; returns -1. */
static int expect_form(const struct assignment *r, const char *what)
{
    return diag_error(r->diag, "%s: training: expected %s", r->path, what);
}

/* Reads the member "nodes" of stage k; list == NULL: there is none.  Returns 0, or -1 and an error. */
static int read_nodes(struct assignment *r, const json_t *list, uint32_t k)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *name = json_string_value(json_array_get(list, i));
        if (!name)
            return expect_form(r, "names in 'nodes' of a stage");
        if (assign_stage(r, name, k))
            return -1;
    }
    return 0;
}

/* Reads stage k from o: its members "devices", "ahead", "recompute" and "nodes".  Returns 0, or -1 and an error. */
static int read_stage(struct assignment *r, const json_t *o, uint32_t k)
{
    const json_t *devices = json_object_get(o, "devices");
    struct stages *s = r->stages;
    uint32_t n = s->device.at[k];
    int64_t ahead;
    if (!json_array_size(devices) ||
        !json_int_in(json_object_get(o, "ahead"), 1, UINT32_MAX, &ahead))
        return expect_form(r,
                           "a list 'devices' and a number 'ahead' >= 1 in every one of 'stages'");
    for (size_t i = 0; i < json_array_size(devices); i++) {
        const char *name = json_string_value(json_array_get(devices, i));
        int dev = name ? assign_device(r, name) : expect_form(r, "names in 'devices' of a stage");
        if (dev < 0)
            return -1;
        s->device.to[n++] = (uint32_t)dev;
    }
    s->device.at[k + 1] = n;
    s->ahead[k] = (uint32_t)ahead;
    s->recompute[k] = json_is_true(json_object_get(o, "recompute"));
    return read_nodes(r, json_object_get(o, "nodes"), k);
}

/* Reads the setting `row`, a member of o, the object "training", into r->said.model.  A setting of kind OPT_INT must
 * be there; another number that is left out is 0, a word that is left out changes nothing.  Returns 0, or -1 and an
 * error. */
static int read_setting(struct assignment *r, const json_t *o, const struct opt *row)
{
    const char *key = opt_json(row, r->a), *text = json_get_text(o, key);
    const json_t *j = json_object_get(o, key);
    int64_t n = 0;
    if (!json_int_in(j, 0, row->kind == OPT_INT ? UINT32_MAX : INT64_MAX, &n) &&
        row->kind == OPT_INT)
        return diag_error(r->diag, "%s: training: %s: expected a number from 0 to %u", r->path, key,
                          UINT32_MAX);
    if (row->kind == OPT_INT && n && !opt_has(row, n))
        return diag_error(r->diag, "%s: training: %s: expected at most %s", r->path, key, row->hi);
    if (row->kind != OPT_CHOICE)
        opt_put(row, &r->said.model, n);
    else if (text && !opt_set(row, &r->said.model, text))
        return diag_error(r->diag, "%s: training: %s '%s': expected %s", r->path, key, text,
                          opt_expected(row, r->a));
    return 0;
}

bool training_has(const struct opt *row)
{
    return row->in_plans && !(row->about & ~(unsigned)ABOUT_ITERATION);
}

/* Reads the member "stages" into r->stages.  Returns 0, or -1 and an error. */
static int read_stages(struct assignment *r, const json_t *list)
{
    size_t n = json_array_size(list), devices = 0;
    for (size_t k = 0; k < n; k++)
        devices += json_array_size(json_object_get(json_array_get(list, k), "devices"));
    r->stages = arena_alloc(r->a, sizeof *r->stages);
    r->stages->n = (uint32_t)n;
    r->stages->device.at = arena_array(r->a, n + 1, sizeof(uint32_t));
    r->stages->device.to = arena_array(r->a, devices + 1, sizeof(uint32_t));
    r->stages->ahead = arena_array(r->a, n, sizeof(uint32_t));
    r->stages->recompute = arena_alloc(r->a, n);
    for (uint32_t k = 0; k < n; k++)
        if (read_stage(r, json_array_get(list, k), k))
            return -1;
    const char *why = stages_refuse(r->stages, r->scene->cluster->ndev, r->a);
    return why ? diag_error(r->diag, "%s: training: %s", r->path, why) : 0;
}

int training_json_read(struct assignment *r, const json_t *o)
{
    const json_t *list = json_object_get(o, "stages");
    const struct training *t = &r->said.model.training;
    size_t n = json_array_size(list);
    if (!o)
        return 0;
    /* unlike other words, which read_setting() lets be left out, the schedule must be there */
    if (!json_is_string(json_object_get(o, "schedule")) || !n || n > r->scene->m->nnode)
        return expect_form(r, "a known 'schedule' and as many 'stages' as there are nodes, or "
                              "fewer, in 'training'");
    for (const struct opt *row = exec_settings; row->name; row++)
        if (training_has(row) && read_setting(r, o, row))
            return -1;
    if ((t->micro_size > 0) != (t->profiled > 0))
        return expect_form(r, "both of 'micro_batch_size' and 'profiled_batch', or neither");
    return read_stages(r, list);
}

/* ---- writing ---------------------------------------------------------------------------------- */

/* Returns stage -> nodes of the stage, for nstage stages; all zero if p is NULL or has no stage_of. */
static struct csr nodes_by_stage(const struct module *m, const struct plan *p, uint32_t nstage,
                                 struct arena *a)
{
    const struct graph *g = &m->graph[1];
    struct pairs stage = {.a = a};
    if (!p || !p->stage_of)
        return (struct csr){0};
    for (nid v = g->first; v < g->first + g->count; v++)
        if (p->dev[v] >= 0 && p->stage_of[v] >= 0)
            pairs_add(&stage, (uint32_t)p->stage_of[v], v);
    return pairs_rows(&stage, nstage);
}

/* Returns the member "nodes" of the JSON object of stage k.  of: from nodes_by_stage(); NULL if that is all zero. */
static json_t *make_nodes(const struct module *m, const struct csr *of, uint32_t k)
{
    json_t *list = of->at ? json_array() : NULL;
    for (uint32_t i = list ? of->at[k] : 0; list && i < of->at[k + 1]; i++)
        json_array_append_new(list, json_string(node_name(m, of->to[i])));
    return list;
}

/* Returns the member "stages" of the JSON object of training.  of: from nodes_by_stage().  name: [device] its name. */
static json_t *make_stages(const struct module *m, const struct stages *s, const struct csr *of,
                           const char *const *name)
{
    json_t *list = json_array();
    for (uint32_t k = 0; k < s->n; k++) {
        json_t *devices = json_array();
        for_row (d, s->device, k)
            json_array_append_new(devices, json_string(name[d]));
        json_array_append_new(list, json_pack("{s:o, s:I, s:b, s:o*}", "devices", devices, "ahead",
                                              (json_int_t)s->ahead[k], "recompute", s->recompute[k],
                                              "nodes", make_nodes(m, of, k)));
    }
    return list;
}

/* Returns the value of a setting: a word or a number. */
static json_t *make_setting(const struct opt *row, const struct exec_model *e, struct arena *a)
{
    if (row->kind == OPT_CHOICE)
        return json_string(opt_get(row, e, a));
    bool counts = row->off == offsetof(struct exec_model, training.micro_batches);
    return json_integer(counts ? training_count(&e->training) : opt_number(row, e));
}

json_t *training_json(const struct scene *scene, const struct stages *s, const struct plan *p,
                      struct arena *a)
{
    const struct training *t = &scene->model.training;
    if (!s)
        return NULL;
    /* fractions: a device of some stage would get a fraction of a sample */
    bool turns = t->schedule == TRAINING_PIPEDREAM, fractions = false;
    for (uint32_t k = 0; k < s->n && !turns; k++)
        fractions = fractions || t->micro_size % (s->device.at[k + 1] - s->device.at[k]);
    struct csr of = nodes_by_stage(scene->m, p, s->n, a);
    const char **name = arena_array(a, (size_t)scene->cluster->ndev + 1, sizeof *name);
    for (uint32_t d = 0; d < scene->cluster->ndev; d++)
        name[d] = cluster_device_name(scene->cluster, a, d);
    /* the settings are null at first, which fixes the order of the members; their values are set below */
    json_t *o = json_pack("{s:n, s:n, s:n, s:n, s:s, s:n, s:n, s:n, s:n, s:n, s:b, s:o}",
                          "schedule", "micro_batches", "micro_batch_size", "profiled_batch",
                          "replication", turns ? "turns" : "slices", "slices", "duplex",
                          "allreduce_lane", "allreduce_overlap", "workspace_bytes", "runnable",
                          !fractions, "stages", make_stages(scene->m, s, &of, name));
    for (const struct opt *row = exec_settings; o && row->name; row++)
        if (training_has(row))
            json_object_set_new(o, opt_json(row, a), make_setting(row, &scene->model, a));
    return o;
}
