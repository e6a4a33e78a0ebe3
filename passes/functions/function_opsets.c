/* Finds the functions whose nodes would mean the same under the opsets that the model imports, and makes the model
 * import the other opsets that these nodes need.
 *
 * A function's nodes can stand in the model if the model imports the same version of each of their domains, or does not
 * import the domain yet, or if their operators did not change between the two versions (opset_history.h).  Callers
 * are handled before the functions that they call: if both need a domain that the model does not import, it gets
 * the caller's version. O(functions + their nodes). */
#include "passes/functions/inliner.h"
#include "passes/functions/opset_history.h"

#include <inttypes.h>

/* the most functions with misfitting opsets that get a note each; further ones are only counted */
enum { MOST_NOTES = 8 };

const char *function_name(const struct module *m, uint32_t f, struct arena *a)
{
    const struct function *p = &m->function[f];
    return arena_fmt(a, "%s%s%s%s%s", module_str(m, p->domain), p->domain != 0 ? ":" : "",
                     module_str(m, p->name), p->overload != 0 ? ":" : "",
                     module_str(m, p->overload));
}

/* Returns a table, in a: map_key(1, domain) -> index in m->opset (1: a key must not be 0, and ai.onnx is domain 0).  If
 * a domain has several entries, the first counts, as in module_opset(). */
static struct map index_opsets(const struct module *m, struct arena *a)
{
    struct map at = {0};
    for (uint32_t i = m->nopset; i-- > 1;)
        map_set(&at, a, map_key(1, m->opset[i].domain), i);
    return at;
}

/* Returns the version of the domain that m imports; -1: none.  index: index_opsets() of m. */
static int64_t version(const struct module *m, const struct map *index, sid domain)
{
    uint32_t i = map_get(index, map_key(1, domain));
    return i != 0 ? m->opset[i].version : -1;
}

/* Returns the first node of a function's body that would mean something else under the opsets of m, or whose domain
 * the function does not import; 0: no node is like that.  model: index_opsets() of m. */
static nid find_misfit(const struct module *m, const struct map *model, const struct module *body,
                       struct arena *a)
{
    struct map own = index_opsets(body, a);
    for (nid n = 1; n < body->nnode; n++) {
        const struct node *k = &body->node[n];
        int64_t here = version(m, model, k->domain), there = version(body, &own, k->domain);
        if (k->callee != 0) /* a call of a function of the model: opsets do not matter */
            continue;
        if (there < 0 || (here >= 0 && here != there &&
                          (k->domain != 0 || !opset_same(module_str(body, k->op), here, there))))
            return n;
    }
    return 0;
}

/* Adds to m the opsets that the function with this body imports and m does not.  model: index_opsets() of m, which is
 * updated. */
static void import_opsets(struct module *m, struct map *model, const struct module *body,
                          struct arena *a)
{
    for (uint32_t i = 1; i < body->nopset; i++) {
        sid domain = body->opset[i].domain;
        if (map_get(model, map_key(1, domain)) != 0)
            continue;
        map_set(model, a, map_key(1, domain), m->nopset);
        module_add_opset(m, domain, body->opset[i].version);
    }
}

/* Notes in d that function f stays, because of node n of its body, a result of find_misfit().  who: name of the pass,
 * which begins the note. */
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

/* Sets reached[function] to 1 for each function that a node of m, the model or a body, calls. */
static void mark_callees(const struct module *m, uint8_t *reached)
{
    for (nid n = 1; n < m->nnode; n++)
        reached[m->node[n].callee] = 1;
}

/* f->order has callers before callees, so a function is examined only if the model calls it, or a
 * function that was found to fit. */
void functions_fit(struct module *m, struct functions *f, const char *who, struct arena *scratch,
                   struct diag *d)
{
    uint8_t *reached = arena_alloc(scratch, (size_t)f->n + 1);
    struct map model = index_opsets(m, scratch);
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
    struct map model = index_opsets(m, scratch);
    for (uint32_t i = 0; i < f->norder; i++)
        if (entered[f->order[i]] != 0)
            import_opsets(m, &model, m->function[f->order[i]].body, scratch);
}
