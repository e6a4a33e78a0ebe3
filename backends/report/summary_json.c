/* What is in a model, as JSON: the figures of the summary on the terminal.  O(nodes log nodes + values). */
#include "backends/backends.h"
#include "backends/report/model_figures.h"
#include "ir/base/json_out.h"
#include "ir/base/outfile.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void put_operators(FILE *f, const struct module *m, struct arena *a)
{
    const struct graph *g = &m->graph[1];
    const char **op = arena_array(a, (size_t)g->count + 1, sizeof *op);
    for (uint32_t i = 0; i < g->count; i++)
        op[i] = node_op(m, g->first + i);
    qsort(op, g->count, sizeof *op, by_name);
    fputs("  \"operators\": {", f);
    for (uint32_t i = 0, n; i < g->count; i += n) {
        for (n = 1; i + n < g->count && !strcmp(op[i], op[i + n]); n++)
            continue;
        fputs(i ? ", " : "", f);
        json_put_string(f, op[i]);
        fprintf(f, ": %u", n);
    }
    fputs("},\n", f);
}

/* {"name", "type", "shape"}: a dimension that is not a number is its text. */
static void put_value(FILE *f, const struct module *m, vid v, struct arena *a)
{
    const struct type *t = &m->type[m->value[v].type];
    fputs("{\"name\": ", f);
    json_put_string(f, value_name(m, v));
    if (t->kind == TYPE_TENSOR) {
        fputs(", \"type\": ", f);
        json_put_string(f, elem_name(t->elem));
    }
    if (t->kind == TYPE_TENSOR && t->rank >= 0) {
        fputs(", \"shape\": [", f);
        for (int i = 0; i < t->rank; i++) {
            const char *s = dim_text(m, m->dim[t->dim + (uint32_t)i], a);
            bool number = *s && !s[strspn(s, "0123456789")];
            fputs(i ? ", " : "", f);
            if (number)
                fputs(s, f);
            else
                json_put_string(f, s);
        }
        fputc(']', f);
    }
    fputc('}', f);
}

/* The values of a list that have none of the flags `without`. */
static void put_values(FILE *f, const struct module *m, struct slice list, uint32_t without,
                       struct arena *a)
{
    bool any = false;
    fputc('[', f);
    for (uint32_t i = 0; i < list.n; i++) {
        vid v = m->arg[list.at + i];
        if (m->value[v].flags & without)
            continue;
        fputs(any ? ",\n    " : "\n    ", f);
        put_value(f, m, v, a);
        any = true;
    }
    fputs(any ? "\n  ]" : "]", f);
}

static void put_figures(FILE *f, const struct module *m)
{
    const struct graph *g = &m->graph[1];
    struct model_figures x = model_figures(m);
    fprintf(f,
            "  \"nodes\": %u,\n  \"nodes_in_bodies\": %u,\n  \"parameters\": %" PRId64
            ",\n  \"weight_bytes\": %" PRId64 ",\n  \"flops\": %" PRId64 ",\n"
            "  \"results\": %" PRId64 ",\n  \"results_with_shape\": %" PRId64 ",\n",
            g->count, m->nnode - 1 - g->count, x.params, x.weight, x.flops, x.results,
            x.with_shape);
}

int summary_json(const struct result *r, const char *path)
{
    const struct module *m = r->scene.m;
    const struct graph *g = &m->graph[1];
    struct arena *a = arena_new(m->mem);
    struct outfile o;
    int rc = outfile_open_to(&o, path, r->out, a, r->diag);
    if (!rc) {
        fputs("{\n  \"pcc_summary\": 1,\n  \"model\": ", o.f);
        json_put_string(o.f, str(m, m->path));
        fprintf(o.f, ",\n  \"ir_version\": %" PRId64 ",\n  \"opsets\": {", (int64_t)m->ir_version);
        for (uint32_t i = 1; i < m->nopset; i++) {
            fputs(i > 1 ? ", " : "", o.f);
            json_put_string(o.f, m->opset[i].domain ? str(m, m->opset[i].domain) : "ai.onnx");
            fprintf(o.f, ": %" PRId64, (int64_t)m->opset[i].version);
        }
        fputs("},\n", o.f);
        put_figures(o.f, m);
        put_operators(o.f, m, a);
        fputs("  \"inputs\": ", o.f);
        put_values(o.f, m, g->in, VALUE_INIT, a); /* IR 3 lists its weights, too */
        fputs(",\n  \"outputs\": ", o.f);
        put_values(o.f, m, g->out, 0, a);
        fputs("\n}\n", o.f);
        rc = outfile_close(&o, true);
    }
    arena_free(a);
    return rc;
}
