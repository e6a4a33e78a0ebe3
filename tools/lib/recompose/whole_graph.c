/* Joins the graphs of parts to one.
 *
 * The nodes of the parts follow each other in the order of the parts, which is legal, as earlier parts make the values
 * that a part reads.  Of a node that several parts copy, and of a weight that several parts read, the first part's is
 * taken.  On the way the parts are checked against the manifest: names and order of nodes, that no value is made twice,
 * and that nodes, weights and functions of several parts are equal (whole_same.c), bytes of weights included.
 * O(messages + bytes of weights that lie in several files). */
#include "tools/lib/recompose/whole.h"

#include "ir/base/json_in.h"
#include "ir/base/numbers.h"

#include <string.h>

void whole_append(struct whole *w, struct message_list *l, void *message)
{
    l->v = vec_grow(w->a, l->v, &l->cap, l->n + 1, sizeof *l->v);
    l->v[l->n++] = message;
}

/* ---- nodes ---------------------------------------------------------------------------------- */

/* Removes the entries of metadata that a split writes from a list: keys that begin with "pcc.", and with them
 * layer_ann. */
static void drop_split_metadata(Onnx__StringStringEntryProto **list, size_t *n)
{
    size_t kept = 0;
    bool ours = false;
    for (size_t i = 0; i < *n; i++)
        ours = ours || (list[i]->key && !strncmp(list[i]->key, "pcc.", 4));
    for (size_t i = 0; i < *n; i++) {
        const char *key = list[i]->key ? list[i]->key : "";
        if (strncmp(key, "pcc.", 4) != 0 && !(ours && !strcmp(key, "layer_ann")))
            list[kept++] = list[i];
    }
    *n = kept;
}

/* Whether two texts of messages are the same; NULL is "". */
static bool same_text(const char *a, const char *b)
{
    return !strcmp(a ? a : "", b ? b : "");
}

static const char *name_of(const Onnx__NodeProto *n)
{
    return n->name ? n->name : "";
}

/* Checks that `message` of the part s equals `before`, a message of a part that was read earlier.  what, name: of the
 * message, for the error.  Returns 0, or -1 and an error. */
static int check_same(struct whole *w, const struct source *s, const void *before,
                      const void *message, const char *what, const char *name)
{
    int same = whole_same_message(w, before, message);
    if (!same)
        diag_error(w->diag, "%s: %s '%s' is not the one that a part before it has", s->path, what,
                   name);
    return same > 0 ? 0 : -1;
}

/* Appends node n of a part to w->node.  copy: other parts may have the node, too; if one was taken already, checks that
 * n equals it, and appends nothing.  Returns 0, or -1 and an error. */
static int take_node(struct whole *w, const struct source *s, Onnx__NodeProto *n, bool copy)
{
    /* 1 + index in w->node of a node, taken before, that makes a result of n; 0: none */
    uint32_t before = 0;
    for (size_t i = 0; i < n->n_output && !before; i++)
        before = *n->output[i] ? names_get(&w->made, n->output[i], 0) : 0;
    drop_split_metadata(n->metadata_props, &n->n_metadata_props);
    if (before && copy)
        return check_same(w, s, w->node.v[before - 1], n, "node", name_of(n));
    if (before)
        return diag_error(w->diag, "%s: node '%s' makes what node '%s' of a part before it makes",
                          s->path, name_of(n), name_of(w->node.v[before - 1]));
    whole_append(w, &w->node, n);
    for (size_t i = 0; i < n->n_output; i++)
        if (*n->output[i])
            names_add(&w->made, n->output[i], w->node.n);
    return 0;
}

/* Returns the key of node `name` as a copy in `file`, in a. */
static const char *copy_key(const char *name, const char *file, struct arena *a)
{
    return arena_fmt(a, "%s\x1f%s", name, file);
}

/* Enters the copies of nodes that the manifest lists into w->copy. */
static void list_copies(struct whole *w)
{
    json_t *copies = json_object_get(json_object_get(w->x.manifest, "copies"), "nodes"), *files;
    const json_t *file;
    const char *name;
    size_t i;
    w->copy = names_new(w->a, 16);
    json_object_foreach(copies, name, files)
    {
        json_array_foreach(files, i, file) if (json_is_string(file))
            names_add(&w->copy, copy_key(name, json_string_value(file), w->a), 1);
    }
}

/* Whether the manifest says that node `name` is copied into the part s. */
static bool is_copy(const struct whole *w, const struct source *s, const char *name)
{
    struct arena_mark mark = arena_mark(w->a);
    bool found = names_get(&w->copy, copy_key(name, s->file, w->a), 0) != 0;
    arena_release(w->a, mark);
    return found;
}

/* Takes the nodes of a part.  They must be the nodes that the manifest lists for the part, in the manifest's order;
 * copies of nodes of other parts may stand between them.  Returns 0, or -1 and an error. */
static int take_nodes(struct whole *w, const struct source *s)
{
    const json_t *names = json_object_get(json_object_get(w->x.manifest, "nodes"), s->file);
    const Onnx__GraphProto *g = s->model->graph;
    size_t next = 0; /* index of the manifest's next node */
    if (!json_is_array(names))
        return diag_error(w->diag, "%s: nodes: expected a list for %s", w->manifest, s->file);
    for (size_t i = 0; i < g->n_node; i++) {
        const char *want = json_string_value(json_array_get(names, next));
        const char *name = name_of(g->node[i]);
        bool own = want && !strcmp(want, name);
        if (!own && !is_copy(w, s, name))
            return diag_error(w->diag,
                              "%s: node %zu is '%s': it is not the part that %s lists, with "
                              "'%s' in that place",
                              s->path, i, name, w->manifest, want ? want : "no node");
        next += own;
        if (take_node(w, s, g->node[i], !own))
            return -1;
    }
    if (next < json_array_size(names)) {
        const char *name = json_string_value(json_array_get(names, next));
        return diag_error(w->diag, "%s: lacks node '%s', which %s lists", s->path, name ? name : "",
                          w->manifest);
    }
    return 0;
}

/* ---- weights -------------------------------------------------------------------------------- */

/* Whether the message of an initializer is a SparseTensorProto. */
static bool is_sparse(const ProtobufCMessage *message)
{
    return message->descriptor == &onnx__sparse_tensor_proto__descriptor;
}

/* Returns the name of an initializer; a sparse initializer has the name of the tensor of its values. */
static const char *weight_name(const void *message)
{
    const Onnx__TensorProto *named =
        is_sparse(message) ? ((const Onnx__SparseTensorProto *)message)->values : message;
    return named && named->name ? named->name : "";
}

int whole_take_weight(struct whole *w, const struct source *s, void *message)
{
    const struct module_tensor t = whole_tensor(w, message);
    const char *name = weight_name(message);
    if (!t.t)
        return diag_error(w->diag, "%s: weight '%s' cannot be read", s->path, name);
    uint32_t before = names_get(&w->weight, name, 0);
    int same = before ? whole_same_weight(w->held[before - 1], t) : 1;
    if (same <= 0)
        return same
                   ? -1
                   : diag_error(w->diag, "%s: weight '%s' is not the one that a part before it has",
                                s->path, name);
    if (before)
        return 0;
    w->held = vec_grow(w->a, w->held, &w->capheld, w->nheld + 1, sizeof *w->held);
    w->held[w->nheld++] = t;
    names_add(&w->weight, name, w->nheld);
    whole_append(w, is_sparse(message) ? &w->sparse : &w->dense, message);
    return 0;
}

/* Takes the weights of a part.  Returns 0, or -1 and an error. */
static int take_weights(struct whole *w, const struct source *s)
{
    const Onnx__GraphProto *g = s->model->graph;
    for (size_t i = 0; i < g->n_initializer; i++)
        if (whole_take_weight(w, s, g->initializer[i]))
            return -1;
    for (size_t i = 0; i < g->n_sparse_initializer; i++)
        if (whole_take_weight(w, s, g->sparse_initializer[i]))
            return -1;
    return 0;
}

/* ---- the rest ------------------------------------------------------------------------------- */

/* Takes the functions of a part that no part before it has.  known: name -> 1 + index in w->function.  Returns 0, or -1
 * and an error. */
static int take_functions(struct whole *w, const struct source *s, struct names *known)
{
    for (size_t i = 0; i < s->model->n_functions; i++) {
        Onnx__FunctionProto *f = s->model->functions[i];
        const char *key = arena_fmt(w->a, "%s\x1f%s\x1f%s", f->domain ? f->domain : "",
                                    f->name ? f->name : "", f->overload ? f->overload : "");
        uint32_t before = names_get(known, key, 0);
        if (before && check_same(w, s, w->function.v[before - 1], f, "function", f->name))
            return -1;
        if (before)
            continue;
        whole_append(w, &w->function, f);
        names_add(known, key, w->function.n);
    }
    return 0;
}

/* Takes quantization annotations that no part before has.  known: annotated value -> 1 + index in w->note.  Returns 0,
 * or -1 and an error. */
static int take_notes(struct whole *w, const struct source *s, struct names *known)
{
    const Onnx__GraphProto *g = s->model->graph;
    for (size_t i = 0; i < g->n_quantization_annotation; i++) {
        Onnx__TensorAnnotation *q = g->quantization_annotation[i];
        const char *name = q->tensor_name ? q->tensor_name : "";
        uint32_t before = names_get(known, name, 0);
        if (before && check_same(w, s, w->note.v[before - 1], q, "annotation of", name))
            return -1;
        if (before)
            continue;
        whole_append(w, &w->note, q);
        names_add(known, name, w->note.n);
    }
    return 0;
}

/* Checks that a part is written in the operator sets and the version of the first one.  Returns 0, or -1 and an
 * error. */
static int check_versions(const struct whole *w, const struct source *s)
{
    const Onnx__ModelProto *a = w->part[0].model, *b = s->model;
    bool same = a->ir_version == b->ir_version && a->n_opset_import == b->n_opset_import;
    for (size_t i = 0; same && i < a->n_opset_import; i++)
        same = same_text(a->opset_import[i]->domain, b->opset_import[i]->domain) &&
               a->opset_import[i]->version == b->opset_import[i]->version;
    return same ? 0
                : diag_error(w->diag, "%s: has other versions of ONNX or its operators than %s",
                             s->path, w->part[0].file);
}

/* Returns the name of the whole graph: the name of the first part's graph, without the "/part0" that the split has
 * added. */
static char *graph_name(struct whole *w)
{
    const char *name = w->graph.name ? w->graph.name : "", *end = strrchr(name, '/');
    bool ours = end && !strcmp(end, "/part0");
    return arena_strdup(w->a, name, ours ? (size_t)(end - name) : strlen(name));
}

/* Makes w->model: the graph from the lists, everything outside of the graph from the first part. */
static void make_model(struct whole *w)
{
    Onnx__GraphProto *g = &w->graph;
    w->model = *w->part[0].model;
    *g = *w->part[0].model->graph;
    w->model.graph = g;
    g->name = graph_name(w);
    g->node = (void *)w->node.v, g->n_node = w->node.n;
    g->initializer = (void *)w->dense.v, g->n_initializer = w->dense.n;
    g->sparse_initializer = (void *)w->sparse.v, g->n_sparse_initializer = w->sparse.n;
    g->quantization_annotation = (void *)w->note.v, g->n_quantization_annotation = w->note.n;
    w->model.functions = (void *)w->function.v, w->model.n_functions = w->function.n;
    drop_split_metadata(w->model.metadata_props, &w->model.n_metadata_props);
    drop_split_metadata(g->metadata_props, &g->n_metadata_props);
}

/* Checks that no weight of the list is made by a node, too.  Returns 0, or -1 and an error. */
static int check_apart(const struct whole *w, const struct message_list *weights)
{
    for (uint32_t i = 0; i < weights->n; i++) {
        const char *name = weight_name(weights->v[i]);
        uint32_t node = names_get(&w->made, name, 0);
        if (node)
            return diag_error(w->diag,
                              "%s: '%s' is a weight of one part and made by node '%s' of another",
                              w->x.name, name, name_of(w->node.v[node - 1]));
    }
    return 0;
}

int whole_join(struct whole *w)
{
    struct names functions = names_new(w->a, 16), notes = names_new(w->a, 16);
    w->made = names_new(w->a, 1024);
    w->weight = names_new(w->a, 1024);
    list_copies(w);
    for (uint32_t x = 0; x < w->npart; x++) {
        const struct source *s = &w->part[x];
        if (check_versions(w, s) || take_nodes(w, s) || take_weights(w, s) ||
            take_functions(w, s, &functions) || take_notes(w, s, &notes))
            return -1;
    }
    if (check_apart(w, &w->dense) || check_apart(w, &w->sparse))
        return -1;
    make_model(w);
    return 0;
}
