/* Opens models (handle.h): ONNX, workloads, profiles of layers and textual IR, from files or from bytes in memory. */
#include "frontends/frontends.h"
#include "ir/base/infile.h"
#include "tools/lib/exec/kinds.h"
#include "tools/lib/settings.h"

#include <stdlib.h>
#include <string.h>

/* Writes the settings "transfer-scale" and "uneven-edges" of the model `in` to *how.  Returns 0; or reports an error
 * and returns -1 if a value is wrong or the model is no workload. */
static int edges_read(const struct pcc *p, const struct input *in, enum input_kind kind,
                      struct workload_edges *how, struct diag *d)
{
    const char *text = handle_given(p, "transfer-scale"), *uneven = handle_given(p, "uneven-edges");
    char *end;
    double x = text ? strtod(text, &end) : 1;
    *how = (struct workload_edges){.scale = x, .apart = uneven && strcmp(uneven, "apart") == 0};
    if (text && (end == text || *end || !(x >= 1e-6 && x <= 1e6)))
        return diag_error(d, "--transfer-scale '%s': expected a number from 0.000001 to 1000000",
                          text);
    if (text && kind != INPUT_WORKLOAD)
        return diag_error(d, "%s: --transfer-scale is for workloads; for a model give --link",
                          in->name);
    if (uneven && kind != INPUT_WORKLOAD)
        return diag_error(d,
                          "%s: --uneven-edges is for workloads: a model has values, not edges that "
                          "cost something",
                          in->name);
    return 0;
}

/* Does the work of read_input() for textual IR.  links: files of weights may be reached through links.  Returns 0, or
 * -1 and an error. */
static int read_text(const struct input *in, bool links, struct scene *s, struct plan **plan,
                     struct arena *of, struct diag *d)
{
    struct text_module t = {0};
    struct arena *a = arena_new(of);
    size_t n = in->n;
    const char *text =
        in->bytes ? arena_strdup(a, in->bytes, n) : infile_read(in->name, INFILE_GRAPH, a, &n, d);
    if (text && in->bytes && infile_text(in->name, text, n, d))
        text = NULL;
    if (text)
        text_read(&t, &(struct named_text){in->name, text, n, exec_kinds}, links, of, d);
    *s = t.scene;
    *plan = t.plan;
    arena_free(a);
    return s->m ? 0 : -1;
}

/* Does the work of read_input() for a profile of layers, which has no devices and no plan.  Returns 0, or -1 and an
 * error. */
static int read_profile(const struct input *in, struct scene *s, struct arena *of, struct diag *d)
{
    struct arena *a = arena_new(of);
    size_t n = in->n;
    const char *text = in->bytes ? in->bytes : infile_read(in->name, INFILE_GRAPH, a, &n, d);
    if (text && in->bytes && infile_text(in->name, text, n, d))
        text = NULL;
    s->m = text ? layer_profile_parse(in->name, text, n, of, d) : NULL;
    arena_free(a);
    return s->m ? 0 : -1;
}

int read_input(const struct pcc *p, const struct input *in, struct scene *s, struct plan **plan,
               struct arena *of, struct diag *d)
{
    struct onnx_options o = {
        .allow_links = handle_given(p, "allow-links") != NULL, .bytes = in->bytes, .size = in->n};
    enum input_kind kind =
        in->bytes ? input_kind_in(in->name, in->bytes, in->n) : input_kind_of(in->name);
    struct workload_edges edges;
    const char *foreign = input_foreign(in->name, in->bytes, in->n);
    *s = (struct scene){0};
    *plan = NULL;
    if (edges_read(p, in, kind, &edges, d))
        return -1;
    if (foreign)
        return diag_error(d,
                          "%s: it is %s, not an ONNX model: export the model first, as by "
                          "torch.onnx.export",
                          in->name, foreign);
    switch (kind) {
    case INPUT_WORKLOAD:
        return in->bytes ? workload_parse(s, &(struct named_text){in->name, in->bytes, in->n, NULL},
                                          &edges, of, d)
                         : workload_read(s, in->name, &edges, of, d);
    case INPUT_ONNX:
        s->m = onnx_read(in->name, &o, of, d);
        s->model.part_cost = s->m ? exec_usual_part_cost(false) : 0;
        return s->m ? 0 : -1;
    case INPUT_PROFILE:
        return read_profile(in, s, of, d);
    case INPUT_TEXT:
        return read_text(in, o.allow_links, s, plan, of, d);
    }
    return -1;
}

enum pcc_status open_input(struct pcc *p, const struct input *in)
{
    p->name = arena_strdup(p->x.use.mem, in->name, strlen(in->name));
    p->from_memory = in->bytes != NULL;
    struct clock clock = ctx_clock(&p->x);
    clock_at_least(&clock, CLOCK_READING);
    p->diag.clock = &clock;
    diag_tell(&p->diag, "reading", 0, 0);
    int rc = read_input(p, in, &p->x.scene, &p->x.results.plan, p->x.use.mem, &p->diag);
    p->diag.clock = NULL;
    diag_tell(&p->diag, NULL, 0, 0);
    p->own = p->x.scene.cluster;
    p->x.scene.model.sized = p->x.scene.m && p->x.scene.m->ir_version != 0;
    p->x.scene.model.kinds = exec_kinds;
    p->own_model = p->x.scene.model;
    return rc ? PCC_BAD_INPUT : PCC_OK;
}
