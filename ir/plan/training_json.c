/* How a plan trains, as JSON (training_json.h):
 *
 *     {"schedule", "micro_batches", "micro_batch_size", "profiled_batch", "replication", "slices", "duplex",
 *      "allreduce_lane", "allreduce_overlap", "workspace_bytes", "runnable",
 *      "stages": [{"devices": [names], "ahead", "recompute"}]}
 *
 * O(devices). */
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

/* "devices", "ahead" and "recompute" of stage k. */
static int read_stage(struct assignment *r, const json_t *o, uint32_t k, uint8_t *taken)
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
        if (taken[dev])
            return diag_error(r->diag, "%s: device '%s' is in two stages", r->path, name);
        taken[dev] = 1;
        s->device.to[n++] = (uint32_t)dev;
    }
    s->device.at[k + 1] = n;
    s->ahead[k] = (uint32_t)json_integer_value(ahead);
    s->recompute[k] = json_is_true(json_object_get(o, "recompute"));
    return 0;
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
    size_t n = json_array_size(list);
    r->stages = arena_alloc(r->a, sizeof *r->stages);
    r->stages->n = (uint32_t)n;
    r->stages->device.at = arena_array(r->a, n + 1, sizeof(uint32_t));
    r->stages->device.to = arena_array(r->a, (size_t)r->scene->cluster->ndev + 1, sizeof(uint32_t));
    r->stages->ahead = arena_array(r->a, n, sizeof(uint32_t));
    r->stages->recompute = arena_alloc(r->a, n);
    uint8_t *taken = arena_alloc(r->a, (size_t)r->scene->cluster->ndev + 1);
    for (uint32_t k = 0; k < n; k++)
        if (read_stage(r, json_array_get(list, k), k, taken))
            return -1;
    return 0;
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
    if (word < 0 || !n || n > r->scene->cluster->ndev)
        return expected(r, "a known 'schedule' and as many 'stages' as there are devices, or "
                           "fewer, in 'training'");
    int64_t count = read_count(r, o, "micro_batches"), size = read_count(r, o, "micro_batch_size"),
            profiled = read_count(r, o, "profiled_batch");
    if (count > TRAINING_MICRO_BATCHES)
        return diag_error(r->diag, "%s: training: micro_batches: expected at most %d", r->path,
                          TRAINING_MICRO_BATCHES);
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

static json_t *make_stages(const struct stages *s, const char *const *name)
{
    json_t *list = json_array();
    for (uint32_t k = 0; k < s->n; k++) {
        json_t *devices = json_array();
        for (uint32_t i = s->device.at[k]; i < s->device.at[k + 1]; i++)
            json_array_append_new(devices, json_string(name[s->device.to[i]]));
        json_array_append_new(list,
                              json_pack("{s:o, s:I, s:b}", "devices", devices, "ahead",
                                        (json_int_t)s->ahead[k], "recompute", s->recompute[k]));
    }
    return list;
}

json_t *training_json(const struct scene *scene, const struct stages *s, struct arena *a)
{
    const struct training *t = &scene->model.training;
    if (!s)
        return NULL;
    bool turns = t->schedule == TRAINING_PIPEDREAM, parts = false; /* of samples */
    for (uint32_t k = 0; k < s->n && !turns; k++)
        parts = parts || t->micro_size % (s->device.at[k + 1] - s->device.at[k]);
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
                     "runnable", !parts, "stages", make_stages(s, name));
}
