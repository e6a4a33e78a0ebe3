/* manifest.json (manifest.schema.json): what is in the folder and how to run it.
 *
 * Written as it is made, key by key in the order of the contract: times are exact decimals of
 * seconds, which no binary floating point number could hold, and a hundred thousand nodes need no
 * tree. Strings are checked UTF-8; bytes that are not become U+FFFD. What is read of it again, as a plan, is read in
 * ir/plan/plan_json.c, which also writes "objective". */
#include "backends/split/split.h"
#include "backends/split/type_words.h"
#include "ir/base/json_out.h"
#include "ir/base/map.h"
#include "ir/model/dim.h"
#include "ir/plan/plan_json.h"
#include "ir/plan/schedule_json.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

struct out {
    FILE *f;
    const struct split *s;
    bool first; /* nothing yet in the innermost list */
};

/* ---- JSON ----------------------------------------------------------------------------------- */

static void put_ps(FILE *f, int64_t ps)
{
    json_put_decimal(f, ps, 12);
}

/* Separator before the next element of a list of lines. */
static void put_separator(struct out *o, const char *indent)
{
    fprintf(o->f, o->first ? "\n%s" : ",\n%s", indent);
    o->first = false;
}

static void put_names(struct out *o, const vid *v, uint32_t n)
{
    putc('[', o->f);
    for (uint32_t i = 0; i < n; i++) {
        if (i)
            fputs(", ", o->f);
        json_put_string(o->f, value_name(o->s->m, v[i]));
    }
    putc(']', o->f);
}

static void put_files(struct out *o, const uint32_t *part, uint32_t n)
{
    putc('[', o->f);
    for (uint32_t i = 0; i < n; i++)
        fprintf(o->f, "%s\"%s\"", i ? ", " : "", o->s->file[part[i]]);
    putc(']', o->f);
}

/* "name": ..., "type": ..., "shape": ... */
static void put_value(struct out *o, vid v)
{
    const struct module *m = o->s->m;
    fputs("\"name\": ", o->f);
    json_put_string(o->f, value_name(m, v));
    fputs(", \"type\": ", o->f);
    type_put(o->f, m, m->value[v].type, TYPE_WORDS_IR);
    fputs(", \"shape\": ", o->f);
    shape_put(o->f, m, m->value[v].type);
}

/* ---- replicas ------------------------------------------------------------------------------- */

/* Whether parts have replicas: how these share the work. */
static void put_replication(struct out *o)
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
        fprintf(o->f, "  \"replication\": \"%s\",\n", slices ? "slices" : "turns");
}

/* ---- the sections --------------------------------------------------------------------------- */

static void put_model(struct out *o)
{
    const struct split *s = o->s;
    const char *path = str(s->m, s->m->path), *base = strrchr(path, '/');
    fprintf(o->f, "  \"model\": {\"file\": \"%s\", \"source\": ", MODEL_FILE);
    json_put_string(o->f, base ? base + 1 : path);
    int64_t ir = s->m->ir_version;
    fprintf(o->f, ", \"nodes\": %u, \"ir_version\": %" PRId64 "},\n", s->m->graph[1].count,
            s->o->annotate == ANNOTATE_IR11 && ir < IR_DEVICES ? IR_DEVICES : ir);
}

/* Where the weights are, and the files outside the parts that hold some. */
static void put_weights(struct out *o)
{
    const struct split *s = o->s;
    const char *sep = "";
    fprintf(o->f, "  \"weights\": {\"mode\": \"%s\", \"files\": [",
            weights_mode_names[s->o->weights]);
    for (uint32_t k = 1; k < s->m->nfile; k++) {
        if (!s->sources.used[k])
            continue;
        fputs(sep, o->f);
        json_put_string(o->f, s->sources.source[k]);
        sep = ", ";
    }
    if (s->weights.data)
        fprintf(o->f, "%s\"%s\"", sep, WEIGHTS_FILE);
    fputs("]},\n", o->f);
}

/* Which file says who does what in which order; pairs of inputs and outputs that a device keeps between samples. */
static void put_schedule(struct out *o)
{
    const struct split *s = o->s;
    const struct place *p = s->r->scene.place;
    if (s->schedule) {
        fputs("  \"schedule\": \"" SCHEDULE_FILE "\",\n", o->f);
    } else {
        fputs("  \"schedule\": null,\n  \"schedule_why\": ", o->f);
        json_put_string(o->f, s->no_schedule);
        fputs(",\n", o->f);
    }
    fputs("  \"states\": [", o->f);
    o->first = true;
    for (uint32_t i = 0; i < p->nstate; i++) {
        put_separator(o, "    {\"in\": ");
        json_put_string(o->f, value_name(s->m, p->state_in[i]));
        fputs(", \"out\": ", o->f);
        json_put_string(o->f, value_name(s->m, p->state_out[i]));
        putc('}', o->f);
    }
    fputs("],\n", o->f);
}

static void put_layer_assignment(struct out *o, struct arena *a)
{
    const char *why, *settings = layer_assignment(o->s->r, a, &why);
    fputs("  \"ort_layer_assignment\": ", o->f);
    if (settings) {
        json_put_string(o->f, settings);
    } else {
        fputs("null,\n  \"ort_layer_assignment_why\": ", o->f);
        json_put_string(o->f, why);
    }
    fputs(",\n", o->f);
}

/* The place of a device among those whose class has the same name. */
static uint32_t index_in_class(const struct cluster *c, uint32_t dev)
{
    uint32_t cls = cluster_class(c, dev), first = 0, before = 0;
    for (uint32_t k = 0; k < cls; k++) {
        first += c->cls[k].count;
        before += strcmp(c->cls[k].name, c->cls[cls].name) == 0 ? c->cls[k].count : 0;
    }
    return before + dev - first;
}

static void put_devices(struct out *o, struct arena *a)
{
    const struct split *s = o->s;
    const struct cluster *c = s->r->scene.cluster;
    uint32_t *of = arena_array(a, s->parts->nparts, sizeof *of);
    for (uint32_t x = 0; x < s->parts->nparts; x++)
        of[x] = s->parts->part[x].dev;
    struct csr parts = csr_build(a, c->ndev, s->parts->nparts, of, NULL);
    fputs("  \"devices\": [", o->f);
    o->first = true;
    for (uint32_t d = 0; d < c->ndev; d++) {
        const struct device_class *k = &c->cls[cluster_class(c, d)];
        const struct device_load *l = &s->r->verdict->load[d];
        put_separator(o, "    {\"name\": ");
        json_put_string(o->f, cluster_device_name(c, a, d));
        fputs(", \"class\": ", o->f);
        json_put_string(o->f, k->name);
        fprintf(o->f, ", \"index\": %u", index_in_class(c, d));
        if (k->memory >= 0)
            fprintf(o->f, ", \"memory_bytes\": %" PRId64, k->memory + k->reserve);
        else
            fputs(", \"memory_bytes\": null", o->f);
        fprintf(o->f,
                ", \"reserved_bytes\": %" PRId64 ", \"used_bytes\": %" PRId64 ", \"load_s\": ",
                k->reserve, l->used);
        put_ps(o->f, l->load);
        fputs(", \"compute_s\": ", o->f);
        put_ps(o->f, l->compute);
        fputs(", \"transfer_s\": ", o->f);
        put_ps(o->f, l->transfer);
        fputs(", \"parts\": ", o->f);
        put_files(o, parts.to + parts.at[d], parts.at[d + 1] - parts.at[d]);
        fprintf(o->f, ", \"weights_bytes\": %" PRId64 ", \"live_peak_bytes\": %" PRId64 "}",
                l->weights, l->live_peak);
    }
    fputs("\n  ],\n", o->f);
}

static void put_borders(struct out *o)
{
    const struct split *s = o->s;
    const struct graph *g = &s->m->graph[1];
    fputs("  \"inputs\": [", o->f);
    o->first = true;
    for (uint32_t i = 0; i < g->in.n; i++) {
        vid v = s->m->arg[g->in.at + i];
        if (s->m->value[v].flags & VALUE_INIT)
            continue;
        put_separator(o, "    {");
        put_value(o, v);
        fprintf(o->f, ", \"bytes\": %" PRId64 "}", s->m->cost->bytes[v]);
    }
    fputs("\n  ],\n  \"outputs\": [", o->f);
    o->first = true;
    for (uint32_t i = 0; i < g->out.n; i++) {
        int32_t from = s->parts->out_from[i];
        put_separator(o, "    {");
        put_value(o, s->m->arg[g->out.at + i]);
        fprintf(o->f, ", \"bytes\": %" PRId64 ", \"from\": \"%s\"}",
                s->m->cost->bytes[s->m->arg[g->out.at + i]],
                from >= 0               ? s->file[from]
                : from == PART_OF_INPUT ? "input"
                                        : "weights");
    }
    fputs("\n  ],\n", o->f);
}

/* One tensor of an interface, unless it was there before. */
static void put_typed(struct out *o, vid v, uint8_t *seen)
{
    const struct module *m = o->s->m;
    uint32_t type = m->value[v].type;
    if (seen[v])
        return;
    seen[v] = 1;
    put_separator(o, "    ");
    json_put_string(o->f, value_name(m, v));
    fputs(": {\"type\": ", o->f);
    type_put(o->f, m, type, TYPE_WORDS_IR);
    fputs(", \"onnx_type\": ", o->f);
    type_put(o->f, m, type, TYPE_WORDS_ONNX);
    fputs(", \"numpy_type\": ", o->f);
    numpy_type_put(o->f, m, type);
    fputs(", \"shape\": ", o->f);
    shape_put(o->f, m, type);
    putc('}', o->f);
}

/* Every tensor that goes into or comes out of the model or a part, once, in the order of the parts. */
static void put_values(struct out *o, struct arena *a)
{
    const struct split *s = o->s;
    const struct graph *g = &s->m->graph[1];
    uint8_t *seen = arena_alloc(a, s->m->nval);
    memset(seen, 0, s->m->nval);
    fputs("  \"values\": {", o->f);
    o->first = true;
    for (uint32_t i = 0; i < g->in.n; i++)
        if (!(s->m->value[s->m->arg[g->in.at + i]].flags & VALUE_INIT))
            put_typed(o, s->m->arg[g->in.at + i], seen);
    for (uint32_t x = 0; x < s->parts->nparts; x++)
        for (uint32_t i = 0; i < s->parts->part[x].nout; i++)
            put_typed(o, s->parts->part[x].out[i], seen);
    for (uint32_t i = 0; i < g->out.n; i++)
        put_typed(o, s->m->arg[g->out.at + i], seen);
    fputs("\n  },\n", o->f);
}

static int64_t weight_bytes(const struct module *m, vid v)
{
    assert(v > 0 && v < m->nval);
    const struct tensor *t = &m->tensor[m->value[v].tensor];
    return t->where == TENSOR_INLINE || t->where == TENSOR_FILE ? (int64_t)t->len
                                                                : m->cost->bytes[v];
}

/* The devices that run a part, in turn or each its slice, if there are several; of a plan of stages also which, and the
 * pass. */
static void put_replicas(struct out *o, uint32_t x, struct arena *a)
{
    static const char *const pass[] = {"forward", "backward", "both", "weight"};
    const struct result *r = o->s->r;
    const struct part_places *places = &o->s->places;
    uint32_t dev = o->s->parts->part[x].dev, n = r->plan->copies ? r->plan->copies[dev] : 1;
    const uint32_t *list = NULL;
    if (places->stage) {
        const struct csr *of = &r->verdict->stages->device;
        list = of->to + of->at[places->stage[x]];
        n = of->at[places->stage[x] + 1] - of->at[places->stage[x]];
        fprintf(o->f, ", \"stage\": %u, \"pass\": \"%s\"", places->stage[x], pass[places->pass[x]]);
    }
    for (uint32_t i = 0; n > 1 && i < n; i++)
        fprintf(o->f, "%s\"%s\"%s", i ? ", " : ", \"replicas\": [",
                cluster_device_name(r->scene.cluster, a, list ? list[i] : dev + i),
                i == n - 1 ? "]" : "");
}

static void put_parts(struct out *o, struct arena *a)
{
    const struct split *s = o->s;
    const struct cluster *c = s->r->scene.cluster;
    fputs("  \"parts\": [", o->f);
    o->first = true;
    for (uint32_t x = 0; x < s->parts->nparts; x++) {
        const struct part *t = &s->parts->part[x];
        const int64_t *time = s->m->cost->time[cluster_class(c, t->dev)];
        int64_t compute = 0, bytes = 0;
        for (uint32_t i = 0; i < t->nnode; i++)
            compute = sat_add(compute, time[t->node[i]]);
        for (uint32_t i = 0; i < t->nweight; i++)
            bytes = sat_add(bytes, weight_bytes(s->m, t->weight[i]));
        put_separator(o, "    {\"file\": ");
        fprintf(o->f, "\"%s\", \"device\": \"%s\", \"nodes\": %u, \"inputs\": ", s->file[x],
                cluster_device_name(c, a, t->dev), t->nnode);
        put_names(o, t->in, t->nin);
        fputs(", \"outputs\": ", o->f);
        put_names(o, t->out, t->nout);
        fputs(", \"compute_s\": ", o->f);
        put_ps(o->f, compute);
        const struct work_part *k = &s->work->part[x];
        fprintf(o->f,
                ", \"weights_bytes\": %" PRId64 ", \"lasting_bytes\": %" PRId64
                ", \"live_peak_bytes\": %" PRId64 "%s",
                bytes, k->lasting,
                sat_add(k->lasting, sat_add(work_bytes_in(s->work, x), k->running)),
                s->unchecked[x] ? ", \"unchecked\": true" : "");
        put_replicas(o, x, a);
        if (s->r->part_slot && s->r->plan->slot && s->r->part_slot[x])
            fprintf(o->f, ", \"slot\": %u", s->r->part_slot[x]);
        putc('}', o->f);
    }
    fputs("\n  ],\n", o->f);
}

static void put_tensors(struct out *o)
{
    const struct split *s = o->s;
    const struct parts *c = s->parts;
    fputs("  \"tensors\": [", o->f);
    o->first = true;
    for (uint32_t i = 0; i < c->ncross; i++) {
        vid v = c->cross[i];
        put_separator(o, "    {");
        put_value(o, v);
        fprintf(o->f, ", \"bytes\": %" PRId64 ", \"from\": \"%s\", \"to\": ", s->m->cost->bytes[v],
                s->file[c->part_of[s->m->value[v].def]]);
        put_files(o, c->cross_to.to + c->cross_to.at[i], c->cross_to.at[i + 1] - c->cross_to.at[i]);
        putc('}', o->f);
    }
    fputs("\n  ],\n", o->f);
}

static void put_node_list(struct out *o, const nid *node, uint32_t n)
{
    putc('[', o->f);
    for (uint32_t i = 0; i < n; i++) {
        if (i)
            fputs(", ", o->f);
        json_put_string(o->f, node_name(o->s->m, node[i]));
    }
    putc(']', o->f);
}

static void put_nodes(struct out *o)
{
    const struct split *s = o->s;
    fputs("  \"nodes\": {", o->f);
    o->first = true;
    for (uint32_t x = 0; x < s->parts->nparts; x++) {
        put_separator(o, "    ");
        fprintf(o->f, "\"%s\": ", s->file[x]);
        put_node_list(o, s->parts->part[x].node, s->parts->part[x].nnode);
    }
    fputs("\n  },\n", o->f);
    if (s->r->calls)
        fprintf(o->f, "  \"calls\": \"%s\",\n", s->r->calls);
}

static int64_t size_of_name(void *user, const char *name)
{
    const struct result *r = ((const struct out *)user)->s->r;
    for (uint32_t i = 0; i < r->ndims; i++)
        if (strcmp(r->dim_name[i], name) == 0)
            return r->dim_value[i];
    return -1;
}

/* The sizes of expressions in the shape of an input, each once. */
static void put_expressions(struct out *o, vid v, struct map *seen, struct arena *a)
{
    const struct module *m = o->s->m;
    const struct type *t = &m->type[m->value[v].type];
    for (int i = 0; t->kind == TYPE_TENSOR && i < t->rank; i++) {
        struct dim d = m->dim[t->dim + (uint32_t)i];
        if (!d.sym || map_get(seen, map_key(0, d.sym)))
            continue;
        map_set(seen, a, map_key(0, d.sym), 1);
        int64_t size = size_of_name(o, str(m, d.sym)) < 0 ? dim_eval(m, d, size_of_name, o) : -1;
        if (size < 0) /* a name, which is there already, or a size that nothing tells */
            continue;
        fputs(", ", o->f);
        json_put_string(o->f, str(m, d.sym));
        fprintf(o->f, ": %" PRId64, size);
    }
}

static void put_dims(struct out *o, struct arena *a)
{
    const struct result *r = o->s->r;
    const struct module *m = o->s->m;
    struct map seen = {0};
    if (!r->ndims)
        return;
    fputs("  \"dims\": {", o->f);
    for (uint32_t i = 0; i < r->ndims; i++) {
        if (i)
            fputs(", ", o->f);
        json_put_string(o->f, r->dim_name[i]);
        fprintf(o->f, ": %" PRId64, r->dim_value[i]);
    }
    for (uint32_t i = 0; i < m->graph[1].in.n; i++)
        put_expressions(o, m->arg[m->graph[1].in.at + i], &seen, a);
    fputs("},\n", o->f);
}

/* Row -> parts that hold it, from the parts' lists of copies or weights. */
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

static void put_copies(struct out *o, struct arena *a)
{
    const struct module *m = o->s->m;
    struct csr in = find_holders(o->s, false, m->nnode, a);
    fputs("  \"copies\": {\"nodes\": {", o->f);
    o->first = true;
    for (nid n = 1; n < m->nnode; n++) {
        if (in.at[n] == in.at[n + 1])
            continue;
        put_separator(o, "    ");
        json_put_string(o->f, node_name(m, n));
        fputs(": ", o->f);
        put_files(o, in.to + in.at[n], in.at[n + 1] - in.at[n]);
    }
    in = find_holders(o->s, true, m->nval, a);
    fputs("\n  }, \"weights\": {", o->f);
    o->first = true;
    for (vid v = 1; v < m->nval; v++) {
        if (in.at[v + 1] - in.at[v] < 2)
            continue;
        put_separator(o, "    ");
        json_put_string(o->f, value_name(m, v));
        fputs(": ", o->f);
        put_files(o, in.to + in.at[v], in.at[v + 1] - in.at[v]);
    }
    fputs("\n  }},\n", o->f);
}

static void put_dropped(struct out *o)
{
    const struct module *m = o->s->m;
    const struct graph *g = &m->graph[1];
    fputs("  \"dropped\": [", o->f);
    o->first = true;
    for (nid n = g->first; n < g->first + g->count; n++) {
        if (o->s->r->scene.place->kind[n] != PLACE_NONE)
            continue;
        put_separator(o, "    ");
        json_put_string(o->f, node_name(m, n));
    }
    fputs("\n  ]\n", o->f);
}

int manifest_write(const struct split *s)
{
    struct split_file f;
    if (split_file_open(&f, s, MANIFEST_FILE))
        return -1;
    struct arena *a = arena_new(s->a);
    struct out o = {.s = s, .f = f.f};
    fputs("{\n  \"pcc_manifest\": 1,\n", o.f);
    put_model(&o);
    fputs("  \"objective\": ", o.f);
    const struct result *made = s->r->made ? s->r->made : s->r;
    plan_put_objective(o.f, &made->scene, made->plan, made->verdict->value, s->r->parts_value);
    fputs(",\n", o.f);
    if (s->r->plan->rank) {
        fputs("  \"order\": ", o.f);
        plan_put_order(o.f, &s->r->scene, s->r->plan, a);
        fputs(",\n", o.f);
    }
    const struct exec_shows *shows = exec_kind(&s->r->scene.model)->shows;
    if (shows->json)
        shows->json(o.f, s->r, a);
    put_replication(&o);
    put_devices(&o, a);
    put_borders(&o);
    put_values(&o, a);
    put_parts(&o, a);
    put_tensors(&o);
    put_nodes(&o);
    put_dims(&o, a);
    put_weights(&o);
    put_schedule(&o);
    put_layer_assignment(&o, a);
    put_copies(&o, a);
    put_dropped(&o);
    fputs("}\n", o.f);
    arena_free(a);
    return split_file_close(&f);
}
