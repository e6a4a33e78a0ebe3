/* Which functions mean the same among the opsets of the model, and what the model has to import for them.
 *
 * A function's nodes can stand in the model if the model imports the same versions of their domains, or
 * none yet, or if the history of the opset says that their operators did not change in between
 * (opset_history.h).  Functions are taken from the callers down, so that what one adds to the model's
 * imports counts for the next.  O(functions + their nodes). */
#include "passes/functions/inliner.h"
#include "passes/functions/opset_history.h"

#include <inttypes.h>

enum { MOST_NOTES = 8 };

const char *function_name(const struct module *m, uint32_t f, struct arena *a)
{
    const struct function *p = &m->function[f];
    return arena_fmt(a, "%s%s%s%s%s", module_str(m, p->domain), p->domain != 0 ? ":" : "",
                     module_str(m, p->name), p->overload != 0 ? ":" : "",
                     module_str(m, p->overload));
}

/* Domain -> version: of several entries for a domain the first counts, as for module_opset. */
static struct map list_versions(const struct module *m, struct arena *a)
{
    struct map at = {0};
    for (uint32_t i = m->nopset; i-- > 1;)
        map_set(&at, a, map_key(1, m->opset[i].domain), i);
    return at;
}

static int64_t version(const struct module *m, const struct map *at, sid domain)
{
    uint32_t i = at->mask != 0 ? map_get(at, map_key(1, domain)) : 0;
    return i != 0 ? m->opset[i].version : -1;
}

/* The first node of a function that means something else under the model's opsets; 0: none. */
static nid find_misfit(const struct module *m, const struct map *model, const struct module *body,
                       struct arena *a)
{
    struct map own = list_versions(body, a);
    for (nid n = 1; n < body->nnode; n++) {
        const struct node *k = &body->node[n];
        int64_t here = version(m, model, k->domain), there = version(body, &own, k->domain);
        if (k->callee != 0) /* a call: replaced, or still a function */
            continue;
        if (there < 0 || (here >= 0 && here != there &&
                          (k->domain != 0 || !opset_same(module_str(body, k->op), here, there))))
            return n;
    }
    return 0;
}

/* Adds the opsets that the function imports, and the model does not, to the model. */
static void import_opsets(struct module *m, struct map *model, const struct module *body,
                          struct arena *a)
{
    for (uint32_t i = 1; i < body->nopset; i++) {
        sid domain = body->opset[i].domain;
        if (model->mask != 0 && map_get(model, map_key(1, domain)) != 0)
            continue;
        map_set(model, a, map_key(1, domain), m->nopset);
        module_add_opset(m, domain, body->opset[i].version);
    }
}

static void note_misfit(const struct module *m, uint32_t f, nid n, const char *who, struct arena *a,
                        struct diag *d)
{
    const struct module *body = m->function[f].body;
    sid domain = body->node[n].domain;
    int64_t here = module_opset(m, domain), there = module_opset(body, domain);
    const char *name = domain != 0 ? module_str(m, domain) : "ai.onnx";
    if (there < 0)
        diag_note(d, "%s: '%s' stays: it imports no opset of %s, which its %s needs", who,
                  function_name(m, f, a), name, node_op(body, n));
    else
        diag_note(d,
                  "%s: '%s' stays: its %s is of opset %s %" PRId64
                  ", the model's would be of %" PRId64,
                  who, function_name(m, f, a), node_op(body, n), name, there, here);
}

static void mark_callees(const struct module *m, uint8_t *reached)
{
    for (nid n = 1; n < m->nnode; n++)
        reached[m->node[n].callee] = 1;
}

/* Callers before callees: functions that only functions which stay call are not looked at. */
void functions_fit(struct module *m, struct functions *f, const char *who, struct arena *scratch,
                   struct diag *d)
{
    uint8_t *reached = arena_alloc(scratch, (size_t)f->n + 1);
    struct map model = list_versions(m, scratch);
    uint32_t left = 0;
    mark_callees(m, reached);
    for (uint32_t i = 0; i < f->norder; i++) {
        uint32_t k = f->order[i];
        const struct module *body = m->function[k].body;
        if (reached[k] == 0 || f->fate[k] != FATE_FREE)
            continue;
        nid bad = find_misfit(m, &model, body, scratch);
        if (bad == 0) {
            import_opsets(m, &model, body, scratch);
            mark_callees(body, reached);
            continue;
        }
        f->fate[k] = FATE_OPSET;
        if (left++ < MOST_NOTES)
            note_misfit(m, k, bad, who, scratch, d);
    }
    if (left > MOST_NOTES)
        diag_note(d, "%s: %u more functions stay because of their opsets", who, left - MOST_NOTES);
}

void functions_import(struct module *m, const struct functions *f, const uint8_t *entered,
                      struct arena *scratch)
{
    struct map model = list_versions(m, scratch);
    for (uint32_t i = 0; i < f->norder; i++)
        if (entered[f->order[i]] != 0)
            import_opsets(m, &model, m->function[f->order[i]].body, scratch);
}
