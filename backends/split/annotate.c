/* Writes the plan into the metadata (metadata_props) of nodes, which viewers such as Netron show: in the whole model
 * and in the parts it says where a node runs and how long it takes as planned.
 *
 * In the whole model ONNX Runtime's layer assignment reads layer_ann; pcc.device, pcc.part and pcc.time ("5.5912us",
 * exact) are for other readers.  For a node that is copied to several parts pcc.device and pcc.part list the devices
 * and parts, separated by commas, and layer_ann and pcc.time are of the first device.  pcc.slot is written if the plan
 * has slots.  Of devices that take turns with one stage the whole model's metadata says how many they are, under
 * pcc.copies and the first device ("pcc.copies.acc0": "2").  Stages of training have no words there.  A node that no
 * part needs gets none of these keys.  In a part, nodes have pcc.device, pcc.part and pcc.time of that part.  The IR
 * version is not changed: formally, metadata of nodes needs IR 10, but runtimes load it at any version.  With
 * --annotate=ir11 nodes of the whole get device configurations, too (device_config.c), and the IR version is raised.
 * O(nodes + copies in parts). */
#include "backends/onnx/make.h"
#include "backends/onnx/pack.h"
#include "backends/split/split.h"
#include "ir/base/outfile.h"

#include <string.h>

/* The metadata keys that pcc writes. */
enum { LAYER, DEVICE, PART, TIME, SLOT, NKEYS };
static const char *const keys[NKEYS] = {"layer_ann", "pcc.device", "pcc.part", "pcc.time",
                                        "pcc.slot"};

#define COPIES                                                                                     \
    "pcc.copies." /* beginning of keys of the model's metadata; the name of a device follows */

/* What the metadata of a node will say. */
struct whereabouts {
    char *value[NKEYS]; /* value for keys[i]; NULL: the key is not written */
    /* [0] of value[DEVICE], [1] of value[PART]: bytes: its length; capacity: the bytes allocated for it, 0: it is
     * the text of its single item */
    uint32_t bytes[2], capacity[2];
};

/* Appends an item to the comma-separated list w->value[key], where key is DEVICE or PART: "a,b" and "c" give "a,b,c".
 * Leaves the list unchanged if its last item is the same.  Takes O(length of the item), in the mean, however long the
 * list is: a constant may have copies in very many parts. */
static void append_item(struct split *s, struct whereabouts *w, int key, const char *item)
{
    uint32_t *bytes = &w->bytes[key - DEVICE], *capacity = &w->capacity[key - DEVICE];
    uint32_t n = *bytes, k = (uint32_t)strlen(item);
    char *list = w->value[key];
    if (!list) {
        w->value[key] = (char *)item;
        *bytes = k;
        return;
    }
    if (n >= k && memcmp(list + n - k, item, k) == 0 && (n == k || list[n - k - 1] == ','))
        return;
    bool shared = *capacity == 0;
    char *longer = vec_grow(s->a, shared ? NULL : list, capacity, n + k + 2, 1);
    if (shared)
        memcpy(longer, list, n);
    longer[n] = ',';
    memcpy(longer + n + 1, item, k + 1u);
    w->value[key] = longer;
    *bytes = n + 1 + k;
}

/* Returns the planned time of node n on a device as text. */
static char *planned_time(struct split *s, nid n, uint32_t dev)
{
    char t[UNIT_TEXT];
    uint32_t cls = cluster_class(s->r->scene.cluster, dev);
    return arena_fmt(s->a, "%s", time_print(t, s->m->cost->time[cls][n]));
}

/* Adds to w, which is about node n, that the node is in part x.  device: the name of the part's device. */
static void add_whereabouts(struct split *s, struct whereabouts *w, nid n, uint32_t x,
                            const char *device)
{
    if (!w->value[LAYER]) {
        w->value[LAYER] = (char *)device;
        w->value[TIME] = planned_time(s, n, s->parts->part[x].dev);
    }
    append_item(s, w, DEVICE, device);
    append_item(s, w, PART, s->file[x]);
}

/* Returns an array, in s->a: [node] what the node's metadata will say of its part and device. */
static struct whereabouts *find_whereabouts(struct split *s)
{
    struct whereabouts *w = arena_array(s->a, s->m->nnode, sizeof *w);
    const uint32_t *slot = s->r->plan->slot;
    for (uint32_t x = 0; x < s->parts->nparts; x++) {
        const struct part *t = &s->parts->part[x];
        const char *device = cluster_device_name(s->r->scene.cluster, s->a, t->dev);
        for (uint32_t i = 0; i < t->nnode; i++)
            add_whereabouts(s, &w[t->node[i]], t->node[i], x, device);
        for (uint32_t i = 0; i < t->ncopy; i++)
            add_whereabouts(s, &w[t->copy[i]], t->copy[i], x, device);
    }
    for (uint32_t n = 0; slot && n < s->m->nnode; n++)
        if (slot[n] && w[n].value[LAYER])
            w[n].value[SLOT] = arena_fmt(s->a, "%u", slot[n]);
    return w;
}

/* Whether pcc writes this metadata key. */
static bool is_our_key(const char *key)
{
    for (int i = 0; i < NKEYS; i++)
        if (key && strcmp(key, keys[i]) == 0)
            return true;
    return false;
}

/* Gives n, a copy of the message src of a node, a list of metadata of its own: the entries of src except those that an
 * earlier run of pcc wrote, with room for `more` entries. */
static void begin_metadata(struct split *s, Onnx__NodeProto *n, const Onnx__NodeProto *src,
                           size_t more)
{
    n->metadata_props = arena_array(s->a, src->n_metadata_props + more, sizeof *n->metadata_props);
    n->n_metadata_props = 0;
    for (size_t i = 0; i < src->n_metadata_props; i++)
        if (!is_our_key(src->metadata_props[i]->key))
            n->metadata_props[n->n_metadata_props++] = src->metadata_props[i];
}

/* Returns a copy of src, the message of node `id`, for the whole model: with the metadata that w says, in place of what
 * an earlier run wrote; with --annotate=ir11 also with a device configuration. */
static Onnx__NodeProto *annotate_node(struct split *s, const Onnx__NodeProto *src,
                                      const struct whereabouts *w, nid id)
{
    Onnx__NodeProto *n = arena_alloc(s->a, sizeof *n);
    *n = s->weights.nested && !s->weights.keep ? *rewrite_node(s, src) : *src;
    begin_metadata(s, n, src, NKEYS);
    for (int i = 0; i < NKEYS; i++)
        if (w->value[i])
            n->metadata_props[n->n_metadata_props++] = make_entry(s->a, keys[i], w->value[i]);
    if (s->o->annotate == ANNOTATE_IR11)
        device_config_node(s, id, n);
    return n;
}

Onnx__NodeProto *annotate_in_part(struct split *s, const Onnx__NodeProto *src, nid id, uint32_t x)
{
    struct part_entries *e = &s->index.entries;
    Onnx__NodeProto *n = arena_alloc(s->a, sizeof *n);
    uint32_t dev = s->parts->part[x].dev;
    if (!e->device || e->part_number != x) /* the first node of the part */
        *e = (struct part_entries){
            x, make_entry(s->a, keys[DEVICE], cluster_device_name(s->r->scene.cluster, s->a, dev)),
            make_entry(s->a, keys[PART], s->file[x])};
    *n = *src;
    begin_metadata(s, n, src, 3);
    n->metadata_props[n->n_metadata_props++] = e->device;
    n->metadata_props[n->n_metadata_props++] = e->part;
    n->metadata_props[n->n_metadata_props++] =
        make_entry(s->a, keys[TIME], planned_time(s, id, dev));
    return n;
}

void annotate_begin_model(struct split *s, Onnx__ModelProto *out, size_t more)
{
    size_t n = out->n_metadata_props;
    Onnx__StringStringEntryProto **src = out->metadata_props;
    out->metadata_props = arena_array(s->a, n + more, sizeof *out->metadata_props);
    out->n_metadata_props = 0;
    for (size_t i = 0; i < n; i++)
        if (!src[i]->key || strncmp(src[i]->key, COPIES, strlen(COPIES)) != 0)
            out->metadata_props[out->n_metadata_props++] = src[i];
}

/* Adds the copies of the plan to the metadata of the model, in place of those that an earlier run of pcc wrote. */
static void annotate_copies(struct split *s, Onnx__ModelProto *out)
{
    const struct cluster *c = s->r->scene.cluster;
    const uint32_t *copies = s->r->plan->copies;
    annotate_begin_model(s, out, c->ndev);
    for (uint32_t d = 0; copies && d < c->ndev; d++)
        if (copies[d] > 1)
            out->metadata_props[out->n_metadata_props++] =
                make_entry(s->a, arena_fmt(s->a, COPIES "%s", cluster_device_name(c, s->a, d)),
                           arena_fmt(s->a, "%u", copies[d]));
}

void annotate_model(struct split *s, Onnx__ModelProto *out)
{
    const struct module *m = s->m;
    const struct whereabouts *w = find_whereabouts(s);
    const Onnx__GraphProto *src = s->src->graph;
    Onnx__GraphProto *g = arena_alloc(s->a, sizeof *g);
    struct origin *from = arena_array(s->a, m->nnode, sizeof *from);
    uint32_t nfrom = 0;
    for (nid n = m->graph[1].first; n < m->graph[1].first + m->graph[1].count; n++)
        from[nfrom++] = (struct origin){m->node[n].src, n};
    origins_sort(from, nfrom);
    /* shallow copies: lists that change are replaced below, all else stays shared with the source */
    *out = *s->src;
    *g = *src;
    out->graph = g;
    g->node = arena_array(s->a, g->n_node, sizeof *g->node);
    device_config_model(s, out);
    annotate_copies(s, out);
    for (size_t i = 0; i < g->n_node; i++) {
        nid n = origin_id(from, nfrom, src->node[i]);
        g->node[i] = annotate_node(s, src->node[i], &w[n], n);
    }
    g->initializer = arena_array(s->a, g->n_initializer, sizeof *g->initializer);
    for (size_t i = 0; i < g->n_initializer; i++)
        g->initializer[i] = weights_tensor(s, src->initializer[i]);
    g->sparse_initializer =
        arena_array(s->a, g->n_sparse_initializer, sizeof *g->sparse_initializer);
    for (size_t i = 0; i < g->n_sparse_initializer; i++)
        g->sparse_initializer[i] = weights_sparse(s, src->sparse_initializer[i]);
    if (s->weights.keep)
        return;
    out->functions = arena_array(s->a, out->n_functions, sizeof *out->functions);
    for (size_t i = 0; i < out->n_functions; i++)
        out->functions[i] = (Onnx__FunctionProto *)rewrite_function(s, s->src->functions[i]);
    out->training_info = arena_array(s->a, out->n_training_info, sizeof *out->training_info);
    for (size_t i = 0; i < out->n_training_info; i++)
        out->training_info[i] =
            (Onnx__TrainingInfoProto *)rewrite_training(s, s->src->training_info[i]);
}

/* For writer.write: writes the model as one ONNX file, with the plan in its metadata; as it is if nothing was planned;
 * with sharding specs if the model is sharded and --annotate=ir11 is given.  Returns 0, or -1 and an error. */
static int write_onnx(const struct result *r, const void *opts, const char *path)
{
    struct split s = {.r = r,
                      .o = opts,
                      .m = r->scene.m,
                      .parts = r->parts,
                      .src = r->scene.m->src,
                      .diag = r->diag,
                      .weights.keep = true,
                      .dirfd = -1};
    Onnx__ModelProto model;
    if (!r->verdict && s.o->annotate == ANNOTATE_IR11)
        return diag_error(r->diag, "--annotate=ir11: -o %s needs a planner in -p", path);
    if (!r->verdict) /* nothing was planned */
        return onnx_write(r->scene.m, path, r->diag);
    if (!s.parts)
        return diag_error(r->diag, "%s: the plan has no parts that could be written into a model",
                          path);
    if (r->plan->stages)
        diag_note(r->diag, "%s: it does not say which nodes are a stage: -o plan.json does", path);
    s.a = arena_new(s.m->mem);
    s.file = arena_array(s.a, (size_t)s.parts->nparts + 1, sizeof *s.file);
    for (uint32_t x = 0; x < s.parts->nparts; x++)
        s.file[x] = part_file(s.parts, x, s.a);
    int rc;
    if (r->sharding && s.o->annotate == ANNOTATE_IR11) {
        rc = shard_specs_model(&s, &model);
        if (!rc)
            rc = onnx_pack_source(s.m, &model, path, r->diag);
    } else {
        annotate_model(&s, &model);
        rc = onnx_pack_path(s.m, &model, path, r->diag);
    }
    arena_free(s.a);
    return rc;
}

/* For writer.check: checks before planning that the file can be written.  Returns 0, or -1 and an error. */
static int check_onnx(const struct module *m, const void *opts, const char *path, struct diag *d)
{
    (void)opts;
    return outfile_check(path, m->mem, d);
}

static const char *const annotate_names[] = {"metadata", "ir11", NULL}; /* indexed by ANNOTATE_* */
const struct writer_opt annotate_option = {
    .opt = {OPT_CHOICE, "annotate", offsetof(struct split_options, annotate), "metadata",
            .names = annotate_names,
            .help = "form of the plan in the whole model; ir11: device configurations, too"},
    .unused = "no ONNX model is written with the plan",
    .needs_plan = true};

const struct writer writer_onnx = {.name = "onnx",
                                   .suffix = ".onnx",
                                   .has_model = true,
                                   .opts =
                                       (const struct writer_opt *const[]){&annotate_option, NULL},
                                   .optsize = sizeof(struct split_options),
                                   .check = check_onnx,
                                   .write = write_onnx};
