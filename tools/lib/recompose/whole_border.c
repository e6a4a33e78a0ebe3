/* Inputs, outputs and descriptions of values of a model that is put together from parts.
 *
 * The model gets the inputs and outputs that the manifest lists, in its order.  A part that has the value at its border
 * gives the description; if none has, the manifest does.  Weights that the parts list as inputs, too (models before IR
 * version 4), follow.  Values that cross from part to part are described in value_info, if their shape is known.
 * O(values). */
#include "tools/lib/recompose/whole.h"

#include "ir/base/json_in.h"

#include <string.h>

/* The state of finding inputs and outputs. */
struct border {
    struct whole *w;
    struct message_list known; /* descriptions that parts have at their borders */
    struct names in, out;      /* name of a value -> 1 + index in `known`: inputs, and outputs */
    struct names outer;        /* names of the model's inputs and outputs */
    struct names described;    /* names in w->info */
    struct names maker;        /* output of a part -> 1 + index of the first such part */
};

static const char *name_of(const Onnx__ValueInfoProto *p)
{
    return p->name ? p->name : "";
}

/* Enters descriptions list[n] of a part's border into b->known and a table of it. */
static void enter_descriptions(struct border *b, struct names *table, Onnx__ValueInfoProto **list,
                               size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!names_get(table, name_of(list[i]), 0)) {
            whole_append(b->w, &b->known, list[i]);
            names_add(table, name_of(list[i]), b->known.n);
        }
}

/* Checks that the names in `row`, a list of the manifest, are among the descriptions list[n] of the part s.  what:
 * "inputs" or "outputs".  Returns 0, or -1 and an error. */
static int check_side(struct whole *w, const struct source *s, const char *what,
                      Onnx__ValueInfoProto **list, size_t n)
{
    struct names here = names_new(w->a, (uint32_t)n), wanted = names_new(w->a, (uint32_t)n);
    const json_t *row = json_object_get(s->row, what), *name;
    size_t i;
    for (i = 0; i < n; i++)
        names_add(&here, name_of(list[i]), 1);
    json_array_foreach(row, i, name)
    {
        names_add(&wanted, json_string_value(name), 1);
        if (!names_get(&here, json_string_value(name), 0))
            return diag_error(w->diag, "%s: '%s' is not among its %s, but %s lists it there",
                              s->path, json_string_value(name), what, w->manifest);
    }
    for (i = 0; i < n; i++)
        if (!names_get(&wanted, name_of(list[i]), 0) && !names_get(&w->weight, name_of(list[i]), 0))
            return diag_error(w->diag, "%s: '%s' is among its %s, but not in %s", s->path,
                              name_of(list[i]), what, w->manifest);
    return 0;
}

/* Returns the manifest's description of a value that no part has at its border. */
static Onnx__ValueInfoProto *describe(struct whole *w, const char *name)
{
    Onnx__ValueInfoProto *p = arena_alloc(w->a, sizeof *p);
    onnx__value_info_proto__init(p);
    p->name = (char *)(uintptr_t)name;
    p->type = whole_type(w, name);
    return p;
}

/* Adds the model's inputs: first the inputs that the manifest lists, then weights that a part lists as inputs.  Returns
 * 0, or -1 and an error. */
static int add_inputs(struct border *b)
{
    struct whole *w = b->w;
    const json_t *row;
    size_t i;
    json_array_foreach(json_object_get(w->x.manifest, "inputs"), i, row)
    {
        const char *name = json_get_text(row, "name");
        uint32_t at = names_get(&b->in, name, 0);
        if (names_get(&b->outer, name, 0) || names_get(&w->made, name, 0) ||
            names_get(&w->weight, name, 0))
            return diag_error(w->diag, "%s: inputs: '%s' is %s", w->manifest, name,
                              names_get(&b->outer, name, 0) ? "listed twice" : "made by a part");
        whole_append(w, &w->in, at ? b->known.v[at - 1] : describe(w, name));
        names_add(&b->outer, name, w->in.n);
    }
    for (uint32_t k = 0; k < b->known.n; k++) {
        const char *name = name_of(b->known.v[k]);
        if (names_get(&b->in, name, 0) != k + 1 || !names_get(&w->weight, name, 0))
            continue;
        whole_append(w, &w->in, b->known.v[k]);
        names_add(&b->outer, name, w->in.n);
    }
    return 0;
}

/* Takes the output `name`, a weight that no part has, from model.onnx.  Returns its description; NULL after an
 * error. */
static Onnx__ValueInfoProto *take_original(struct whole *w, const char *name)
{
    const Onnx__GraphProto *g = w->original.model->graph;
    bool found = false;
    for (size_t i = 0; i < g->n_initializer; i++)
        if (!strcmp(g->initializer[i]->name ? g->initializer[i]->name : "", name)) {
            found = true;
            if (whole_take_weight(w, &w->original, g->initializer[i]))
                return NULL;
        }
    for (size_t i = 0; i < g->n_output && found; i++)
        if (!strcmp(name_of(g->output[i]), name))
            return g->output[i];
    diag_error(w->diag, "%s: has no weight '%s' that is an output, as %s says", w->original.path,
               name, w->manifest);
    return NULL;
}

/* Returns the description of the output `name`; NULL after an error.  from: where the output comes from by the
 * manifest: "input", "weights" or the file of a part. */
static Onnx__ValueInfoProto *find_output(struct border *b, const char *name, const char *from)
{
    struct whole *w = b->w;
    uint32_t maker = names_get(&b->maker, name, 0), at = names_get(&b->outer, name, 0);
    if (!strcmp(from, "weights"))
        return take_original(w, name);
    if (!strcmp(from, "input") && at)
        return w->in.v[at - 1];
    if (maker && !strcmp(from, w->part[maker - 1].file))
        return b->known.v[names_get(&b->out, name, 0) - 1];
    diag_error(w->diag, "%s: outputs: '%s' comes from '%s', which does not have it", w->manifest,
               name, from);
    return NULL;
}

/* Adds the model's outputs.  Returns 0, or -1 and an error. */
static int add_outputs(struct border *b)
{
    struct whole *w = b->w;
    const json_t *row;
    size_t i;
    json_array_foreach(json_object_get(w->x.manifest, "outputs"), i, row)
    {
        const char *from = json_get_text(row, "from");
        Onnx__ValueInfoProto *p = find_output(b, json_get_text(row, "name"), from ? from : "");
        if (!p)
            return -1;
        whole_append(w, &w->out, p);
    }
    for (i = 0; i < w->out.n; i++)
        names_add(&b->outer, name_of(w->out.v[i]), (uint32_t)i + 1);
    return 0;
}

/* Adds to w->info the descriptions list[n] of values inside the model, if they tell a shape and the value has no
 * description there yet. */
static void add_infos(struct border *b, Onnx__ValueInfoProto **list, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const char *name = name_of(list[i]);
        if (names_get(&b->outer, name, 0) || names_get(&b->described, name, 0) ||
            !info_has_shape(list[i]))
            continue;
        whole_append(b->w, &b->w->info, list[i]);
        names_add(&b->described, name, 1);
    }
}

int whole_border(struct whole *w)
{
    struct border b = {.w = w,
                       .in = names_new(w->a, 64),
                       .out = names_new(w->a, 64),
                       .outer = names_new(w->a, 64),
                       .described = names_new(w->a, 64),
                       .maker = names_new(w->a, 64)};
    for (uint32_t x = 0; x < w->npart; x++) {
        const Onnx__GraphProto *g = w->part[x].model->graph;
        if (check_side(w, &w->part[x], "inputs", g->input, g->n_input) ||
            check_side(w, &w->part[x], "outputs", g->output, g->n_output))
            return -1;
        enter_descriptions(&b, &b.in, g->input, g->n_input);
        enter_descriptions(&b, &b.out, g->output, g->n_output);
        for (size_t i = 0; i < g->n_output; i++)
            names_add(&b.maker, name_of(g->output[i]), x + 1);
    }
    if (add_inputs(&b) || add_outputs(&b))
        return -1;
    for (uint32_t x = 0; x < w->npart; x++) {
        const Onnx__GraphProto *g = w->part[x].model->graph;
        add_infos(&b, g->value_info, g->n_value_info);
        add_infos(&b, g->output, g->n_output);
    }
    w->graph.input = (void *)w->in.v, w->graph.n_input = w->in.n;
    w->graph.output = (void *)w->out.v, w->graph.n_output = w->out.n;
    w->graph.value_info = (void *)w->info.v, w->graph.n_value_info = w->info.n;
    w->graph.initializer = (void *)w->dense.v, w->graph.n_initializer = w->dense.n;
    return 0;
}
