/* How a plan trains, as JSON (training_json.h):
 *
 *     {"schedule", "micro_batches", "micro_batch_size", "profiled_batch", "replication", "slices", "duplex",
 *      "allreduce_lane", "allreduce_overlap", "workspace_bytes", "runnable",
 *      "stages": [{"devices": [names], "ahead", "recompute", "nodes": [names]}]}
 *
 * "nodes" is there where stages share devices, and in plans only: a manifest says it with the parts.
 * O(devices + nodes). */
#include "ir/plan/training_json.h"

#include <string.h>

/* ---- reading ---------------------------------------------------------------------------------- */

static int expected(const struct assignment *r, const char *what)
{
    return diag_error(r->diag, "%s: training: expected %s", r->path, what);
}

static bool is_word(const json_t *o, const char *key, const char *word)
{
    const char *text = json_string_value(json_object_get(o, key));
    return text && strcmp(text, word) == 0;
}

/* The nodes of stage k, if they are said. */
static int read_nodes(struct assignment *r, const json_t *list, uint32_t k)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *name = json_string_value(json_array_get(list, i));
        if (!name)
            return expected(r, "names in 'nodes' of a stage");
        if (assign_stage(r, name, k))
            return -1;
    }
    return 0;
}

/* "devices", "ahead", "recompute" and "nodes" of stage k. */
static int read_stage(struct assignment *r, const json_t *o, uint32_t k)
{
    const json_t *devices = json_object_get(o, "devices"), *ahead = json_object_get(o, "ahead");
    struct stages *s = r->stages;
    uint32_t n = s->device.at[k];
    if (!json_array_size(devices) || !json_is_integer(ahead) || json_integer_value(ahead) < 1 ||
        json_integer_value(ahead) > UINT32_MAX)
        return expected(r, "a list 'devices' and a number 'ahead' >= 1 in every one of 'stages'");
    for (size_t i = 0; i < json_array_size(devices); i++) {
        const char *name = json_string_value(json_array_get(devices, i));
        int dev = name ? assign_device(r, name) : expected(r, "names in 'devices' of a stage");
        if (dev < 0)
            return -1;
        s->device.to[n++] = (uint32_t)dev;
    }
    s->device.at[k + 1] = n;
    s->ahead[k] = (uint32_t)json_integer_value(ahead);
    s->recompute[k] = json_is_true(json_object_get(o, "recompute"));
    return read_nodes(r, json_object_get(o, "nodes"), k);
}

/* A number >= 0 of "training"; -1 and an error. */
static int64_t read_count(const struct assignment *r, const json_t *o, const char *key)
{
    const json_t *j = json_object_get(o, key);
    if (!json_is_integer(j) || json_integer_value(j) < 0 || json_integer_value(j) > UINT32_MAX)
        return diag_error(r->diag, "%s: training: %s: expected a number from 0 to %u", r->path, key,
                          UINT32_MAX);
    return json_integer_value(j);
}

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
    const char *schedule = json_string_value(json_object_get(o, "schedule"));
    struct training *t = &r->said.model.training;
    size_t n = json_array_size(list);
    if (!o)
        return 0;
    int word = -1;
    for (int i = 0; schedule && training_schedule_name[i]; i++)
        word = strcmp(schedule, training_schedule_name[i]) ? word : i;
    if (word < 0 || !n || n > r->scene->m->nnode)
        return expected(r, "a known 'schedule' and as many 'stages' as there are nodes, or "
                           "fewer, in 'training'");
    int64_t count = read_count(r, o, "micro_batches");
    if (count > TRAINING_MICRO_BATCHES)
        return diag_error(r->diag, "%s: training: micro_batches: expected at most %d", r->path,
                          TRAINING_MICRO_BATCHES);
    int64_t size = count < 0 ? -1 : read_count(r, o, "micro_batch_size"),
            profiled = size < 0 ? -1 : read_count(r, o, "profiled_batch");
    if (count < 0 || size < 0 || profiled < 0 || (size > 0) != (profiled > 0))
        return count < 0 || size < 0 || profiled < 0
                   ? -1
                   : expected(r, "both of 'micro_batch_size' and 'profiled_batch', or neither");
    const json_t *bytes = json_object_get(o, "workspace_bytes");
    t->any_slices = is_word(o, "slices", "any");
    t->half_duplex = is_word(o, "duplex", "half");
    t->own_reduce_lane = is_word(o, "allreduce_lane", "own");
    for (int i = 0; reduce_when_name[i]; i++)
        t->reduce_when = is_word(o, "allreduce_overlap", reduce_when_name[i]) ? (enum reduce_when)i
                                                                              : t->reduce_when;
    t->workspace = json_integer_value(bytes) > 0 ? json_integer_value(bytes) : 0;
    t->schedule = (enum training_schedule)word;
    t->micro_batches = (uint32_t)count;
    t->micro_size = size;
    t->profiled = profiled;
    return read_stages(r, list);
}

/* ---- writing ---------------------------------------------------------------------------------- */

/* stage -> its nodes; without rows if the plan does not tell them. */
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

/* NULL: the plan does not tell. */
static json_t *make_nodes(const struct module *m, const struct csr *of, uint32_t k)
{
    json_t *list = of->at ? json_array() : NULL;
    for (uint32_t i = list ? of->at[k] : 0; list && i < of->at[k + 1]; i++)
        json_array_append_new(list, json_string(node_name(m, of->to[i])));
    return list;
}

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

json_t *training_json(const struct scene *scene, const struct stages *s, const struct plan *p,
                      struct arena *a)
{
    const struct training *t = &scene->model.training;
    if (!s)
        return NULL;
    bool turns = t->schedule == TRAINING_PIPEDREAM, parts = false; /* of samples */
    for (uint32_t k = 0; k < s->n && !turns; k++)
        parts = parts || t->micro_size % (s->device.at[k + 1] - s->device.at[k]);
    struct csr of = nodes_by_stage(scene->m, p, s->n, a);
    const char **name = arena_array(a, (size_t)scene->cluster->ndev + 1, sizeof *name);
    for (uint32_t d = 0; d < scene->cluster->ndev; d++)
        name[d] = cluster_device_name(scene->cluster, a, d);
    return json_pack("{s:s, s:I, s:I, s:I, s:s, s:s, s:s, s:s, s:s, s:I, s:b, s:o}", "schedule",
                     training_schedule_name[t->schedule], "micro_batches",
                     (json_int_t)(training_count(t)), "micro_batch_size", (json_int_t)t->micro_size,
                     "profiled_batch", (json_int_t)t->profiled, "replication",
                     turns ? "turns" : "slices", "slices", t->any_slices ? "any" : "whole",
                     "duplex", t->half_duplex ? "half" : "full", "allreduce_lane",
                     t->own_reduce_lane ? "own" : "shared", "allreduce_overlap",
                     reduce_when_name[t->reduce_when], "workspace_bytes", (json_int_t)t->workspace,
                     "runnable", !parts, "stages", make_stages(scene->m, s, &of, name));
}
