/* The context's levels: the base level is built when the first pass wants it. */
#include "passes/passes.h"

#include <regex.h>

/* Fixes vertices to devices by --pin 'regex=device'; the first pattern that matches a node wins. */
static int apply_pins(struct ctx *x)
{
    for (uint32_t k = x->npins; k-- > 0;) {
        const struct pin *p = &x->pins[k];
        int dev = cluster_device(x->cluster, p->device);
        regex_t re;
        char why[128];
        uint32_t hits = 0;
        if (dev < 0)
            return diag_error(x->diag, "--pin '%s=%s': there is no device '%s'; the first is '%s'",
                              p->pattern, p->device, p->device,
                              cluster_device_name(x->cluster, x->mem, 0));
        int rc = regcomp(&re, p->pattern, REG_EXTENDED | REG_NOSUB);
        if (rc) {
            regerror(rc, &re, why, sizeof why);
            return diag_error(x->diag, "--pin '%s=%s': not a regular expression: %s", p->pattern,
                              p->device, why);
        }
        for (uint32_t v = 0; v < x->base->n; v++)
            if (regexec(&re, node_name(x->m, x->base->node[v]), 0, NULL, 0) == 0) {
                x->base->pin[v] = dev;
                hits++;
            }
        regfree(&re);
        if (!hits)
            diag_warning(x->diag, "--pin '%s=%s' matches no node that is placed", p->pattern,
                         p->device);
    }
    return 0;
}

int ctx_check_costs(const struct ctx *x)
{
    if (x->m->cost->nclass == x->cluster->ncls)
        return 0;
    return diag_error(x->diag,
                      "%s: it has costs for %u device classes, the cluster has %u: expected one each",
                      str(x->m, x->m->path), x->m->cost->nclass, x->cluster->ncls);
}

int ctx_base(struct ctx *x)
{
    if (x->base)
        return 0;
    if (ctx_check_costs(x))
        return -1;
    x->place = place_build(x->m, x->pairs, x->npairs, x->mem, x->diag);
    if (!x->place)
        return -1;
    if (x->cluster->io_free)
        place_free_io(x->m, x->place);
    x->base = wdag_base(x->m, x->place, x->cluster, x->mem);
    x->top = x->base;
    return apply_pins(x);
}

void ctx_push(struct ctx *x, struct wdag *level)
{
    x->top = level;
}
