/* Writes manifest.json: what is in the folder and how to run it.  manifest.md describes all members, and
 * manifest.schema.json their form; most functions here write the member of their name.
 *
 * The manifest is written member by member, without a JSON tree in memory, because there may be a hundred thousand
 * nodes; times are exact decimal numbers of seconds, which binary floating point numbers could not hold.  Bytes that
 * are not UTF-8 become U+FFFD.  ir/plan/plan_json.c writes "objective" and "order", and reads a manifest as a plan. */
#include "backends/split/border.h"
#include "backends/split/sharding.h"
#include "backends/split/sizes.h"
#include "backends/split/split.h"
#include "backends/split/type_words.h"
#include "ir/base/json_out.h"
#include "ir/base/strings.h"
#include "ir/cluster/presets.h"
#include "ir/model/batch.h"
#include "ir/plan/plan_json.h"
#include "ir/plan/schedule_json.h"

#include <assert.h>
#include <string.h>

/* The manifest while it is written. */
struct manifest_out {
    struct json_out j;
    const struct split *s;
    /* [value] the axis along which the samples of the value lie; -1: no axis.  NULL: the plan is not for an
     * iteration of training, or the batch dimension has no name */
    const int32_t *batch_axis;
};

/* ---- JSON ----------------------------------------------------------------------------------- */

/* Writes the member `key`: a list of the names of the values v[n]. */
static void put_value_names(struct manifest_out *o, const char *key, const vid *v, uint32_t n)
{
    json_open(&o->j, key, '[', JSON_ROW);
    for (uint32_t i = 0; i < n; i++)
        json_text(&o->j, NULL, value_name(o->s->m, v[i]));
    json_close(&o->j, JSON_ROW);
}

/* Writes the member `key`: a list of the file names of the parts part[n]. */
static void put_part_files(struct manifest_out *o, const char *key, const uint32_t *part,
                           uint32_t n)
{
    json_open(&o->j, key, '[', JSON_ROW);
    for (uint32_t i = 0; i < n; i++)
        json_text(&o->j, NULL, o->s->file[part[i]]);
    json_close(&o->j, JSON_ROW);
}

/* Opens an object for a tensor and writes its members name, type, shape, bytes and, if samples lie along an axis,
 * batch_axis.  v: the value that the tensor is, or one of its pieces. */
static void open_tensor(struct manifest_out *o, const char *name, uint32_t type, int64_t bytes,
                        vid v)
{
    json_open(&o->j, NULL, '{', JSON_ROW);
    json_text(&o->j, "name", name);
    type_put(&o->j, o->s->m, type, TYPE_WORDS_IR);
    shape_put(&o->j, o->s->m, type);
    json_int(&o->j, "bytes", bytes);
    if (o->batch_axis && o->batch_axis[v] >= 0)
        json_int(&o->j, "batch_axis", o->batch_axis[v]);
}

/* ---- replicas ------------------------------------------------------------------------------- */

/* Writes "replication" if several devices run the same part: how these devices share the work, "turns" or "slices". */
static void put_replication(struct manifest_out *o)
{
    const struct result *r = o->s->r;
    bool any = false;
    for (uint32_t d = 0; r->plan->copies && d < r->scene.cluster->ndev; d++)
        any = any || r->plan->copies[d] > 1;
    const struct stages *stages = r->verdict->stages;
    for (uint32_t k = 0; stages && k < stages->n; k++)
        any = any || stages->device.at[k + 1] - stages->device.at[k] > 1;
    bool slices = stages && r->scene.model.training.schedule != TRAINING_PIPEDREAM;
    if (any)
        json_text(&o->j, "replication", slices ? "slices" : "turns");
}

/* ---- the sections --------------------------------------------------------------------------- */

/* Writes "model": the file with the whole model, its source, and figures that readers compare. */
static void put_model(struct manifest_out *o)
{
    const struct split *s = o->s;
    int64_t ir = s->m->ir_version;
    json_open(&o->j, "model", '{', JSON_ROW);
    json_text(&o->j, "file", MODEL_FILE);
    json_text(&o->j, "source", path_base(module_str(s->m, s->m->path)));
    json_int(&o->j, "nodes", s->m->graph[1].count);
    json_int(&o->j, "ir_version",
             s->o->annotate == ANNOTATE_IR11 && ir < IR_DEVICES ? IR_DEVICES : ir);
    json_close(&o->j, JSON_ROW);
}

/* Writes "weights": where the weights are, and the files to which parts or the whole model refer. */
static void put_weights(struct manifest_out *o)
{
    const struct split *s = o->s;
    json_open(&o->j, "weights", '{', JSON_ROW);
    json_text(&o->j, "mode", weights_mode_names[s->o->weights]);
    json_open(&o->j, "files", '[', JSON_ROW);
    for (uint32_t k = 1; k < s->m->nfile; k++)
        if (s->sources.used[k])
            json_text(&o->j, NULL, s->sources.source[k]);
    const struct data_file *own = s->weights.part_data.file;
    for (uint32_t k = 0; own && k <= s->parts->nparts; k++)
        if (own[k].size)
            json_text(&o->j, NULL, own[k].name);
    if (s->weights.data)
        json_text(&o->j, NULL, WEIGHTS_FILE);
    json_close(&o->j, JSON_ROW);
    json_close(&o->j, JSON_ROW);
}

/* Writes a row of "states". */
static void put_state(struct manifest_out *o, const char *in, const char *out)
{
    json_open(&o->j, NULL, '{', JSON_ROW);
    json_text(&o->j, "in", in);
    json_text(&o->j, "out", out);
    json_close(&o->j, JSON_ROW);
}

/* Writes "schedule", the name of the schedule file, and "states", pairs of an input and an output of the model that are
 * one state (struct state_pair).  A state that devices keep in pieces is listed once, under its whole tensors. */
static void put_schedule(struct manifest_out *o, struct arena *a)
{
    const struct split *s = o->s;
    const struct place *p = s->r->scene.place;
    const struct sharding *k = s->r->sharding;
    uint32_t npair = k ? k->npair : 0;
    struct names pieces = names_new(a, npair);
    json_text(&o->j, "schedule", s->schedule ? SCHEDULE_FILE : NULL);
    if (!s->schedule)
        json_text(&o->j, "schedule_why", s->no_schedule);
    json_open(&o->j, "states", '[', /*indent=*/4);
    for (uint32_t i = 0; i < npair; i++) {
        put_state(o, k->pair[i].in.name, k->pair[i].out.name);
        for (uint32_t w = 0; w < k->ways; w++)
            names_add(&pieces, k->pair[i].in.piece[w], 1);
    }
    for (uint32_t i = 0; i < p->nstate; i++)
        if (!names_get(&pieces, value_name(s->m, p->state_in[i]), 0))
            put_state(o, value_name(s->m, p->state_in[i]), value_name(s->m, p->state_out[i]));
    json_close(&o->j, JSON_ROW);
}

/* Writes ONNX Runtime's settings that make one session run the plan, by annotations and by names of nodes
 * ("ort_layer_assignment", "ort_name_assignment"); where there is none, null and the reason. */
static void put_layer_assignment(struct manifest_out *o, struct arena *a)
{
    const char *why, *settings = layer_assignment(o->s->r, a, &why);
    json_text(&o->j, "ort_layer_assignment", settings);
    if (!settings)
        json_text(&o->j, "ort_layer_assignment_why", why);
    settings = name_assignment(o->s->r, a, &why);
    json_text(&o->j, "ort_name_assignment", settings);
    if (!settings)
        json_text(&o->j, "ort_name_assignment_why", why);
}

/* Returns the position of a device among all devices whose class has the same name: 1 for the second a100. */
static uint32_t index_in_class(const struct cluster *c, uint32_t dev)
{
    /* first: first device of the class; before: devices of earlier classes of the same name */
    uint32_t cls = cluster_class(c, dev), first = 0, before = 0;
    for (uint32_t k = 0; k < cls; k++) {
        first += c->cls[k].count;
        before += strcmp(c->cls[k].name, c->cls[cls].name) == 0 ? c->cls[k].count : 0;
    }
    return before + dev - first;
}

/* Writes "devices": class, parts, times and bytes of each device. */
static void put_devices(struct manifest_out *o, struct arena *a)
{
    const struct split *s = o->s;
    const struct cluster *c = s->r->scene.cluster;
    uint32_t *of = arena_array(a, s->parts->nparts, sizeof *of); /* [part] its device */
    for (uint32_t x = 0; x < s->parts->nparts; x++)
        of[x] = s->parts->part[x].dev;
    struct csr parts = csr_build(a, c->ndev, s->parts->nparts, of, NULL); /* device -> its parts */
    json_open(&o->j, "devices", '[', /*indent=*/4);
    int32_t *gpu = arena_array(a, c->ndev, sizeof *gpu);
    cluster_number_gpus(c, a, gpu);
    for (uint32_t d = 0; d < c->ndev; d++) {
        const struct device_class *k = &c->cls[cluster_class(c, d)];
        const struct device_load *l = &s->r->verdict->load[d];
        json_open(&o->j, NULL, '{', JSON_ROW);
        json_text(&o->j, "name", cluster_device_name(c, a, d));
        json_text(&o->j, "class", k->name);
        json_int(&o->j, "index", index_in_class(c, d));
        if (gpu[d] >= 0)
            json_int(&o->j, "gpu", gpu[d]);
        if (k->memory >= 0)
            json_int(&o->j, "memory_bytes", k->memory + k->reserve);
        else
            json_text(&o->j, "memory_bytes", NULL);
        json_int(&o->j, "reserved_bytes", k->reserve);
        if (k->precision != PRECISION_AS_MODEL)
            json_text(&o->j, "precision", precision_name[k->precision]);
        json_int(&o->j, "used_bytes", l->used);
        json_seconds(&o->j, "load_s", l->load);
        json_seconds(&o->j, "compute_s", l->compute);
        json_seconds(&o->j, "transfer_s", l->transfer);
        put_part_files(o, "parts", parts.to + parts.at[d], parts.at[d + 1] - parts.at[d]);
        json_int(&o->j, "weights_bytes", l->weights);
        json_int(&o->j, "live_peak_bytes", l->live_peak);
        json_close(&o->j, JSON_ROW);
    }
    json_close(&o->j, 2);
}

/* Writes "inputs" and "outputs" of the model (border_rows); initializers that are listed as inputs are left out.
 * "from" of an output names the part that makes it, or says that the output is an input, a weight, or in pieces. */
static void put_inputs_outputs(struct manifest_out *o, struct arena *a)
{
    const struct split *s = o->s;
    const struct graph *g = &s->m->graph[1];
    uint32_t n;
    const struct border_row *row = border_rows(s, /*inputs=*/true, &n, a);
    json_open(&o->j, "inputs", '[', /*indent=*/4);
    for (uint32_t i = 0; i < n; i++) {
        open_tensor(o, row[i].name, row[i].type, row[i].bytes, s->m->arg[g->in.at + row[i].at]);
        sizes_put(&o->j, s->r, row[i].at, row[i].axis, row[i].ways);
        json_close(&o->j, JSON_ROW);
    }
    json_close(&o->j, 2);
    row = border_rows(s, /*inputs=*/false, &n, a);
    json_open(&o->j, "outputs", '[', /*indent=*/4);
    for (uint32_t i = 0; i < n; i++) {
        int32_t from = s->parts->out_from[row[i].at];
        open_tensor(o, row[i].name, row[i].type, row[i].bytes, s->m->arg[g->out.at + row[i].at]);
        json_text(&o->j, "from",
                  row[i].ways > 1         ? "pieces"
                  : from >= 0             ? s->file[from]
                  : from == PART_OF_INPUT ? "input"
                                          : "weights");
        json_close(&o->j, JSON_ROW);
    }
    json_close(&o->j, 2);
}

/* Writes a member of "values": type and shape of the tensor with that name. */
static void put_type(struct manifest_out *o, const char *name, uint32_t type)
{
    const struct module *m = o->s->m;
    json_open(&o->j, name, '{', JSON_ROW);
    type_put(&o->j, m, type, TYPE_WORDS_IR);
    type_put(&o->j, m, type, TYPE_WORDS_ONNX);
    numpy_type_put(&o->j, m, type);
    shape_put(&o->j, m, type);
    json_close(&o->j, JSON_ROW);
}

/* Writes the member of value v in "values", unless seen[v] says that it was written; sets seen[v]. */
static void put_value_type(struct manifest_out *o, vid v, uint8_t *seen)
{
    if (!seen[v])
        put_type(o, value_name(o->s->m, v), o->s->m->value[v].type);
    seen[v] = 1;
}

/* Writes "values": each input and output of the model and of the parts once, in the order of the parts; then the inputs
 * and outputs that the model had before the pass shard cut them into pieces. */
static void put_values(struct manifest_out *o, struct arena *a)
{
    const struct split *s = o->s;
    const struct graph *g = &s->m->graph[1];
    const struct sharding *k = s->r->sharding;
    uint8_t *seen = arena_alloc(a, s->m->nval);
    json_open(&o->j, "values", '{', /*indent=*/4);
    for (uint32_t i = 0; i < g->in.n; i++)
        if (!(s->m->value[s->m->arg[g->in.at + i]].flags & VALUE_INIT))
            put_value_type(o, s->m->arg[g->in.at + i], seen);
    for (uint32_t x = 0; x < s->parts->nparts; x++)
        for (uint32_t i = 0; i < s->parts->part[x].nout; i++)
            put_value_type(o, s->parts->part[x].out[i], seen);
    for (uint32_t i = 0; i < g->out.n; i++)
        put_value_type(o, s->m->arg[g->out.at + i], seen);
    for (uint32_t i = 0; k && i < k->npair; i++) {
        put_type(o, k->pair[i].in.name, k->pair[i].in.type);
        put_type(o, k->pair[i].out.name, k->pair[i].out.type);
    }
    json_close(&o->j, 2);
}

/* Returns the bytes of an initializer: the length of its payload or, if it has no payload of its own (a slice of
 * another tensor, a sparse tensor), the bytes by its type. */
static int64_t weight_bytes(const struct module *m, vid v)
{
    assert(v > 0 && v < m->nval);
    const struct tensor *t = &m->tensor[m->value[v].tensor];
    return t->where == TENSOR_INLINE || t->where == TENSOR_FILE ? (int64_t)t->len
                                                                : m->cost->bytes[v];
}

/* Writes the members of part x about stages and replicas: for a plan with stages "stage" and "pass"; if several devices
 * run the part, "replicas", the names of these devices. */
static void put_replicas(struct manifest_out *o, uint32_t x, struct arena *a)
{
    static const char *const pass[] = {"forward", "backward", "both", "weight", "update"};
    const struct result *r = o->s->r;
    const struct part_places *places = &o->s->places;
    uint32_t dev = o->s->parts->part[x].dev, n = r->plan->copies ? r->plan->copies[dev] : 1;
    const uint32_t *list = NULL; /* [n] the devices; NULL: n devices from dev on */
    if (places->stage) {
        const struct csr *of = &r->verdict->stages->device;
        list = of->to + of->at[places->stage[x]];
        n = of->at[places->stage[x] + 1] - of->at[places->stage[x]];
        json_int(&o->j, "stage", places->stage[x]);
        json_text(&o->j, "pass", pass[places->pass[x]]);
    }
    if (n < 2)
        return;
    json_open(&o->j, "replicas", '[', JSON_ROW);
    for (uint32_t i = 0; i < n; i++)
        json_text(&o->j, NULL, cluster_device_name(r->scene.cluster, a, list ? list[i] : dev + i));
    json_close(&o->j, JSON_ROW);
}

/* Writes two members of part x, if the plan is of an iteration with a schedule whose devices run slices of
 * micro-batches: "slice_samples", how many samples of a micro-batch each device of the part runs, and
 * "slice_peak_bytes", the memory that the part needs for them. */
static void put_slice(struct manifest_out *o, uint32_t x)
{
    const struct schedule *e = o->s->schedule;
    const struct sample_work *w = e && e->work->each ? e->work->each->whole : NULL;
    if (!w)
        return;
    json_int(&o->j, "slice_samples", work_slice_rows(w, x));
    json_int(
        &o->j, "slice_peak_bytes",
        sat_add(o->s->work->part[x].lasting, sat_add(work_bytes_in(w, x), w->part[x].running)));
}

/* Writes members of part x if it has a data file of its own: "data", its name, and "data_bytes". */
static void put_data_file(struct manifest_out *o, uint32_t x)
{
    const struct data_file *own = o->s->weights.part_data.file;
    if (!own || !own[x].size)
        return;
    json_text(&o->j, "data", own[x].name);
    json_int(&o->j, "data_bytes", (int64_t)own[x].size);
}

/* Writes "parts": each part with its files, device, number of nodes, inputs, outputs, time and bytes. */
static void put_parts(struct manifest_out *o, struct arena *a)
{
    const struct split *s = o->s;
    const struct cluster *c = s->r->scene.cluster;
    json_open(&o->j, "parts", '[', /*indent=*/4);
    for (uint32_t x = 0; x < s->parts->nparts; x++) {
        const struct part *t = &s->parts->part[x];
        const int64_t *time = s->m->cost->time[cluster_class(c, t->dev)];
        int64_t compute = 0, bytes = 0;
        for (uint32_t i = 0; i < t->nnode; i++)
            compute = sat_add(compute, time[t->node[i]]);
        for (uint32_t i = 0; i < t->nweight; i++)
            bytes = sat_add(bytes, weight_bytes(s->m, t->weight[i]));
        const struct work_part *k = &s->work->part[x];
        json_open(&o->j, NULL, '{', JSON_ROW);
        json_text(&o->j, "file", s->file[x]);
        put_data_file(o, x);
        json_text(&o->j, "device", cluster_device_name(c, a, t->dev));
        json_int(&o->j, "nodes", t->nnode);
        put_value_names(o, "inputs", t->in, t->nin);
        put_value_names(o, "outputs", t->out, t->nout);
        json_seconds(&o->j, "compute_s", compute);
        json_int(&o->j, "weights_bytes", bytes);
        json_int(&o->j, "lasting_bytes", k->lasting);
        json_int(&o->j, "live_peak_bytes",
                 sat_add(k->lasting, sat_add(work_bytes_in(s->work, x), k->running)));
        put_slice(o, x);
        if (s->unchecked[x])
            fputs("true", json_member(&o->j, "unchecked"));
        put_replicas(o, x, a);
        if (s->r->part_slot && s->r->plan->slot && s->r->part_slot[x])
            json_int(&o->j, "slot", s->r->part_slot[x]);
        json_close(&o->j, JSON_ROW);
    }
    json_close(&o->j, 2);
}

/* Writes "tensors": the values that go from one part to others. */
static void put_tensors(struct manifest_out *o)
{
    const struct split *s = o->s;
    const struct parts *c = s->parts;
    json_open(&o->j, "tensors", '[', /*indent=*/4);
    for (uint32_t i = 0; i < c->ncross; i++) {
        vid v = c->cross[i];
        open_tensor(o, value_name(s->m, v), s->m->value[v].type, s->m->cost->bytes[v], v);
        json_text(&o->j, "from", s->file[c->part_of[s->m->value[v].def]]);
        put_part_files(o, "to", c->cross_to.to + c->cross_to.at[i],
                       c->cross_to.at[i + 1] - c->cross_to.at[i]);
        json_close(&o->j, JSON_ROW);
    }
    json_close(&o->j, 2);
}

/* Writes "nodes", the names of the nodes of each part, and "calls" (struct result). */
static void put_nodes(struct manifest_out *o)
{
    const struct split *s = o->s;
    json_open(&o->j, "nodes", '{', /*indent=*/4);
    for (uint32_t x = 0; x < s->parts->nparts; x++) {
        json_open(&o->j, s->file[x], '[', JSON_ROW);
        for (uint32_t i = 0; i < s->parts->part[x].nnode; i++)
            json_text(&o->j, NULL, node_name(s->m, s->parts->part[x].node[i]));
        json_close(&o->j, JSON_ROW);
    }
    json_close(&o->j, 2);
    if (s->r->calls)
        json_text(&o->j, "calls", s->r->calls);
}

/* Returns a table of `rows` rows, in a: value -> the parts that have it as a weight; or, if `weights` is false, node ->
 * the parts that have a copy of it. */
static struct csr find_holders(const struct split *s, bool weights, uint32_t rows, struct arena *a)
{
    struct pairs in = {.a = a};
    for (uint32_t x = 0; x < s->parts->nparts; x++) {
        const struct part *t = &s->parts->part[x];
        for (uint32_t i = 0; i < (weights ? t->nweight : t->ncopy); i++)
            pairs_add(&in, weights ? t->weight[i] : t->copy[i], x);
    }
    return pairs_rows(&in, rows);
}

/* Writes "copies": copied nodes with the parts that have them, and weights that several parts have. */
static void put_copies(struct manifest_out *o, struct arena *a)
{
    const struct module *m = o->s->m;
    struct csr in = find_holders(o->s, /*weights=*/false, m->nnode, a);
    json_open(&o->j, "copies", '{', JSON_ROW);
    json_open(&o->j, "nodes", '{', /*indent=*/4);
    for (nid n = 1; n < m->nnode; n++)
        if (in.at[n] < in.at[n + 1])
            put_part_files(o, node_name(m, n), in.to + in.at[n], in.at[n + 1] - in.at[n]);
    json_close(&o->j, 2);
    in = find_holders(o->s, /*weights=*/true, m->nval, a);
    json_open(&o->j, "weights", '{', /*indent=*/4);
    for (vid v = 1; v < m->nval; v++)
        if (in.at[v + 1] - in.at[v] > 1)
            put_part_files(o, value_name(m, v), in.to + in.at[v], in.at[v + 1] - in.at[v]);
    json_close(&o->j, 2);
    json_close(&o->j, JSON_ROW);
}

/* Writes "recomputed": the name of each node that runs a forward node again, and the name of that forward node.
 * Writes nothing if there are no such nodes. */
static void put_recomputed(struct manifest_out *o)
{
    const struct module *m = o->s->m;
    const struct graph *g = &m->graph[1];
    bool open = false;
    for (nid n = g->first; n < g->first + g->count; n++) {
        const char *of = node_meta(m, n, META_RECOMPUTES);
        if (!of || !*of)
            continue;
        if (!open)
            json_open(&o->j, "recomputed", '{', /*indent=*/4);
        open = true;
        json_text(&o->j, node_name(m, n), of);
    }
    if (open)
        json_close(&o->j, 2);
}

/* Writes "dropped": the nodes that no part needs. */
static void put_dropped(struct manifest_out *o)
{
    const struct module *m = o->s->m;
    const struct graph *g = &m->graph[1];
    json_open(&o->j, "dropped", '[', /*indent=*/4);
    for (nid n = g->first; n < g->first + g->count; n++)
        if (o->s->r->scene.place->kind[n] == PLACE_NONE)
            json_text(&o->j, NULL, node_name(m, n));
    json_close(&o->j, 2);
}

int manifest_write(const struct split *s)
{
    struct split_file f;
    if (split_file_open(&f, s, MANIFEST_FILE))
        return -1;
    struct arena *a = arena_new(s->a);
    struct manifest_out o = {.s = s, .j = {.f = f.f}};
    if (s->r->verdict->stages)
        o.batch_axis = value_batch_axes(s->m, a);
    json_open(&o.j, NULL, '{', /*indent=*/2);
    json_int(&o.j, "pcc_manifest", 1);
    put_model(&o);
    const struct result *made = s->r->made ? s->r->made : s->r;
    plan_put_objective(&o.j, &made->scene, made->plan, made->verdict->value, made->parts_value);
    if (s->r->plan->rank)
        plan_put_order(&o.j, &s->r->scene, s->r->plan, a);
    const struct exec_shows *shows = exec_kind(&s->r->scene.model)->shows;
    if (shows->json)
        shows->json(&o.j, s->r, a);
    put_replication(&o);
    put_devices(&o, a);
    put_inputs_outputs(&o, a);
    put_values(&o, a);
    put_parts(&o, a);
    put_tensors(&o);
    put_nodes(&o);
    if (s->r->ndims)
        dims_put(&o.j, s->r, a);
    put_weights(&o);
    put_schedule(&o, a);
    if (s->r->sharding)
        sharding_put(&o.j, s->r, a);
    put_layer_assignment(&o, a);
    put_copies(&o, a);
    put_recomputed(&o);
    put_dropped(&o);
    json_close(&o.j, 0);
    putc('\n', f.f);
    arena_free(a);
    return split_file_close(&f);
}
