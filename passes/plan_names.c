/* The names of nodes in a plan (plan_read.h), for those who have to know them before there are nodes.
 *
 * A plan by name is a plan JSON ("devices" with lists of names), a manifest ("nodes", lists of names by
 * part) or a model with annotations.  Its form is not checked here: whoever reads the plan does that.
 * O(file). */
#include "passes/plan_read.h"

#include "ir/infile.h"
#include "ir/strings.h"

#include <jansson.h>
#include <string.h>

struct naming {
    struct ctx *x;
    struct map *names;
    bool whole;
};

static void take_name(struct naming *t, const char *name)
{
    if (name && *name)
        map_set(t->names, t->x->mem, str_id(t->x->m, name), 1);
}

static void take_list(struct naming *t, const json_t *nodes)
{
    for (size_t i = 0; i < json_array_size(nodes); i++)
        take_name(t, json_string_value(json_array_get(nodes, i)));
}

static bool take_json(struct naming *t, const json_t *root)
{
    const json_t *devices = json_object_get(root, "devices");
    const char *calls = json_string_value(json_object_get(root, "calls"));
    json_t *nodes = json_object_get(root, "nodes");
    if (json_object_get(root, "pcc_plan"))
        for (size_t i = 0; i < json_array_size(devices); i++)
            take_list(t, json_object_get(json_array_get(devices, i), "nodes"));
    else if (json_object_get(root, "pcc_manifest"))
        for (void *it = json_object_iter(nodes); it; it = json_object_iter_next(nodes, it))
            take_list(t, json_object_iter_value(it));
    else
        return false;
    t->whole = calls && strcmp(calls, "whole") == 0;
    return true;
}

static bool take_annotated(struct naming *t, const struct module *m)
{
    for (nid n = 1; m->device_ann && n < m->nnode; n++)
        if (m->device_ann[n])
            take_name(t, node_name(m, n));
    return m->device_ann != NULL;
}

static bool take_model(struct naming *t, const char *from)
{
    struct diag quiet = diag_silent();
    struct module *m = t->x->read_model ? t->x->read_model(from, &quiet) : NULL;
    bool any = m && take_annotated(t, m);
    if (m)
        arena_free(m->mem);
    return any;
}

bool plan_names(struct ctx *x, const char *from, struct map *names, bool *whole)
{
    struct naming t = {.x = x, .names = names};
    struct diag quiet = diag_silent();
    size_t n;
    *whole = false;
    if (strcmp(from, "self") == 0)
        return take_annotated(&t, x->m);
    if (str_ends(from, ".onnx"))
        return take_model(&t, from);
    char *text = infile_read(plan_file(x, from), x->mem, &n, &quiet);
    json_t *root = text ? json_loadb(text, n, JSON_REJECT_DUPLICATES, NULL) : NULL;
    bool named = root && take_json(&t, root);
    json_decref(root);
    *whole = t.whole;
    return named;
}
