/* Writes the summary of a model as JSON, with the figures of the terminal's summary.  O(nodes log nodes + values). */
#include "backends/backends.h"
#include "backends/report/model_figures.h"
#include "backends/report/print.h"
#include "ir/base/json_out.h"
#include "ir/base/strings.h"

#include <stdlib.h>
#include <string.h>

/* Writes the member "operators": each operator of the main graph with its number of nodes, in the order of names. */
static void put_operators(struct json_out *o, const struct module *m, struct arena *a)
{
    const struct graph *g = &m->graph[1];
    const char **op = arena_array(a, (size_t)g->count + 1, sizeof *op);
    for (uint32_t i = 0; i < g->count; i++)
        op[i] = node_op(m, g->first + i);
    qsort(op, g->count, sizeof *op, str_order);
    json_open(o, "operators", '{', JSON_ROW);
    for (uint32_t i = 0, n; i < g->count; i += n) {
        for (n = 1; i + n < g->count && !strcmp(op[i], op[i + n]); n++)
            continue;
        json_int(o, op[i], n);
    }
    json_close(o, JSON_ROW);
}

/* Writes the object of a value: "name", and, for a tensor, "type" and, if its rank is known, "shape", in which a
 * dimension that is not a number is a string. */
static void put_value(struct json_out *o, const struct module *m, vid v, struct arena *a)
{
    const struct type *t = &m->type[m->value[v].type];
    json_open(o, NULL, '{', JSON_ROW);
    json_text(o, "name", value_name(m, v));
    if (t->kind == TYPE_TENSOR)
        json_text(o, "type", elem_name(t->elem));
    if (t->kind == TYPE_TENSOR && t->rank >= 0) {
        json_open(o, "shape", '[', JSON_ROW);
        for (int i = 0; i < t->rank; i++) {
            const char *s = dim_text(m, m->dim[t->dim + (uint32_t)i], a);
            if (*s && !s[strspn(s, "0123456789")]) /* digits alone */
                fputs(s, json_member(o, NULL));
            else
                json_text(o, NULL, s);
        }
        json_close(o, JSON_ROW);
    }
    json_close(o, JSON_ROW);
}

/* Writes the member `key`: a list of the values of a slice of module.arg that have none of the flags `without`
 * (VALUE_*). */
static void put_values(struct json_out *o, const char *key, const struct module *m,
                       struct slice list, uint32_t without, struct arena *a)
{
    bool any = false;
    json_open(o, key, '[', /*indent=*/4);
    for (uint32_t i = 0; i < list.n; i++) {
        vid v = m->arg[list.at + i];
        if (m->value[v].flags & without)
            continue;
        put_value(o, m, v, a);
        any = true;
    }
    json_close(o, any ? 2 : JSON_ROW);
}

/* Writes the figures of the model as members: numbers of nodes, of parameters and their bytes, of operations, of
 * results. */
static void put_figures(struct json_out *o, const struct module *m)
{
    const struct graph *g = &m->graph[1];
    struct model_figures x = model_figures(m);
    json_int(o, "nodes", g->count);
    json_int(o, "nodes_in_bodies", m->nnode - 1 - g->count);
    json_int(o, "parameters", x.params);
    json_int(o, "weight_bytes", x.weight);
    json_int(o, "flops", x.flops);
    json_int(o, "results", x.results);
    json_int(o, "results_with_shape", x.with_shape);
}

/* Writes the whole document. */
static void put_document(FILE *f, const struct result *r, struct arena *a)
{
    const struct module *m = r->scene.m;
    const struct graph *g = &m->graph[1];
    struct json_out o = {.f = f};
    json_open(&o, NULL, '{', /*indent=*/2);
    json_int(&o, "pcc_summary", 1);
    json_text(&o, "model", module_str(m, m->path));
    json_int(&o, "ir_version", m->ir_version);
    json_open(&o, "opsets", '{', JSON_ROW);
    for (uint32_t i = 1; i < m->nopset; i++)
        json_int(&o, m->opset[i].domain ? module_str(m, m->opset[i].domain) : "ai.onnx",
                 m->opset[i].version);
    json_close(&o, JSON_ROW);
    put_figures(&o, m);
    put_operators(&o, m, a);
    /* without VALUE_INIT: in ONNX IR 3 weights are inputs, too */
    put_values(&o, "inputs", m, g->in, VALUE_INIT, a);
    put_values(&o, "outputs", m, g->out, 0, a);
    json_close(&o, 0);
    putc('\n', f);
}

int summary_json(const struct result *r, const char *path)
{
    return writer_print(r, path, put_document);
}
