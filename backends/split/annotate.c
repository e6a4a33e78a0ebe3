/* Writes the plan into the whole model: the metadata_props of each node of the main graph say where it runs.
 *
 * ONNX Runtime's layer assignment reads layer_ann; pcc.device and pcc.part are for other readers.  For a node that is
 * copied to several parts these two list the devices and parts, separated by commas, and layer_ann is the first
 * device.  pcc.slot is written if the plan has slots.  A node that no part needs gets none of these keys.  The IR
 * version is not changed: formally, metadata of nodes needs IR 10, but runtimes load it at any version.  With
 * --annotate=ir11 nodes get device configurations, too (device_config.c), and the IR version is raised.
 * O(nodes + copies in parts). */
#include "backends/onnx/pack.h"
#include "backends/split/split.h"
#include "ir/base/outfile.h"

#include <string.h>

enum { NKEYS = 4 }; /* number of metadata keys that pcc writes */

static const char *const keys[NKEYS] = {"layer_ann", "pcc.device", "pcc.part", "pcc.slot"};

/* What the metadata of a node will say. */
struct whereabouts {
    char *value[NKEYS]; /* value for keys[i]; NULL: the key is not written */
};

/* Returns a comma-separated list with an item appended: "a,b" and "c" give "a,b,c"; NULL is an empty list.  Returns
 * the list unchanged if its last item is the same. */
static char *append_item(struct split *s, char *list, const char *item)
{
    if (!list)
        return (char *)item;
    size_t n = strlen(list), k = strlen(item);
    if (n >= k && strcmp(list + n - k, item) == 0 && (n == k || list[n - k - 1] == ','))
        return list;
    return arena_fmt(s->a, "%s,%s", list, item);
}

/* Adds that the node of w is in the part `file` on that device. */
static void add_whereabouts(struct split *s, struct whereabouts *w, const char *device,
                            const char *file)
{
    if (!w->value[0])
        w->value[0] = (char *)device;
    w->value[1] = append_item(s, w->value[1], device);
    w->value[2] = append_item(s, w->value[2], file);
}

/* Returns [node] the texts that the metadata of the node will have. */
static struct whereabouts *find_whereabouts(struct split *s)
{
    struct whereabouts *w = arena_array(s->a, s->m->nnode, sizeof *w);
    const uint32_t *slot = s->r->plan->slot;
    for (uint32_t x = 0; x < s->parts->nparts; x++) {
        const struct part *t = &s->parts->part[x];
        const char *device = cluster_device_name(s->r->scene.cluster, s->a, t->dev);
        for (uint32_t i = 0; i < t->nnode; i++)
            add_whereabouts(s, &w[t->node[i]], device, s->file[x]);
        for (uint32_t i = 0; i < t->ncopy; i++)
            add_whereabouts(s, &w[t->copy[i]], device, s->file[x]);
    }
    for (uint32_t n = 0; slot && n < s->m->nnode; n++)
        if (slot[n] && w[n].value[0])
            w[n].value[3] = arena_fmt(s->a, "%u", slot[n]);
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

/* Returns a copy of the message of node `id` with the metadata of w in place of what an earlier run wrote. */
static Onnx__NodeProto *annotate_node(struct split *s, const Onnx__NodeProto *src,
                                      const struct whereabouts *w, nid id)
{
    Onnx__NodeProto *n = arena_alloc(s->a, sizeof *n);
    *n = s->weights.nested && !s->weights.keep ? *rewrite_node(s, src) : *src;
    n->metadata_props = arena_array(s->a, src->n_metadata_props + NKEYS, sizeof *n->metadata_props);
    n->n_metadata_props = 0;
    for (size_t i = 0; i < src->n_metadata_props; i++)
        if (!is_our_key(src->metadata_props[i]->key))
            n->metadata_props[n->n_metadata_props++] = src->metadata_props[i];
    for (int i = 0; i < NKEYS; i++) {
        if (!w->value[i])
            continue;
        Onnx__StringStringEntryProto *e = arena_alloc(s->a, sizeof *e);
        onnx__string_string_entry_proto__init(e);
        e->key = (char *)keys[i];
        e->value = w->value[i];
        n->metadata_props[n->n_metadata_props++] = e;
    }
    if (s->o->annotate == ANNOTATE_IR11)
        device_config_node(s, id, n);
    return n;
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

/* Writes the model as one ONNX file: with the plan in its metadata, or, if nothing was planned, as it is. */
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
    if (!r->verdict)
        return s.o->annotate == ANNOTATE_IR11
                   ? diag_error(r->diag, "--annotate=ir11: -o %s needs a planner in -p", path)
                   : onnx_write(r->scene.m, path, r->diag);
    if (!s.parts)
        return diag_error(r->diag, "%s: the plan has no parts that could be written into a model",
                          path);
    s.a = arena_new(s.m->mem);
    s.file = arena_array(s.a, (size_t)s.parts->nparts + 1, sizeof *s.file);
    for (uint32_t x = 0; x < s.parts->nparts; x++)
        s.file[x] = part_file(s.parts, x, s.a);
    annotate_model(&s, &model);
    int rc = onnx_pack_path(s.m, &model, path, r->diag);
    arena_free(s.a);
    return rc;
}

/* Checks before planning that the file can be written.  Returns 0, or -1 and an error. */
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
