/* The context's levels: the base level is built when the first pass wants it. */
#include "passes/functions/opened.h"

#include "ir/base/units.h"
#include "passes/shapes/bind_dims.h"
#include "passes/functions/patterns.h"
#include "passes/coarsen/undivided.h"

#include <assert.h>
#include <inttypes.h>

/* What a pattern of --pin says of a node by the names of the open calls that it is in. */
/* FOLLOWS: a call matches, but it is a Shape in it */
enum { CALL_SILENT, CALL_MATCHES, CALL_FOLLOWS };

/* [node] that; NULL: no call is open. */
static uint8_t *called(const struct ctx *x, const regex_t *re, const uint8_t *follows)
{
    const struct opened *o = x->opened;
    if (!o)
        return NULL;
    uint8_t *site = arena_alloc(x->scratch, o->nsite), *in = arena_alloc(x->scratch, x->m->nnode);
    for (uint32_t s = 1; s < o->nsite; s++)
        site[s] =
            site[o->site[s].parent] || pattern_matches(re, str(x->m, o->site[s].name), x->scratch);
    for (uint32_t v = 0; v < x->base->n; v++) {
        nid n = x->base->node[v];
        if (site[o->within[n]])
            in[n] = follows[n] ? CALL_FOLLOWS : CALL_MATCHES;
    }
    return in;
}

/* Fixes the vertices of a pattern to a device; how many. */
static uint32_t pin_all(struct ctx *x, const regex_t *re, int dev, const uint8_t *follows)
{
    const uint8_t *in = called(x, re, follows);
    uint32_t hits = 0;
    for (uint32_t v = 0; v < x->base->n; v++) {
        nid n = x->base->node[v];
        int call = in ? in[n] : CALL_SILENT;
        if (call == CALL_MATCHES ||
            (call == CALL_SILENT && pattern_matches(re, node_name(x->m, n), x->scratch))) {
            x->base->pin[v] = dev;
            hits++;
        }
    }
    return hits;
}

/* Fixes vertices to devices by --pin 'regex=device'; the first pattern that matches a node, or a call that
 * it is in, wins. */
static int apply_pins(struct ctx *x)
{
    const uint8_t *follows = place_follows(x->m, x->place, x->scratch);
    for (uint32_t k = x->npins; k-- > 0;) {
        const struct pin *p = &x->pins[k];
        int dev = cluster_device(x->cluster, p->device);
        char why[PATTERN_WHY];
        if (dev < 0)
            return diag_error(x->diag, "--pin '%s=%s': there is no device '%s'; the first is '%s'",
                              p->pattern, p->device, p->device,
                              cluster_device_name(x->cluster, x->mem, 0));
        struct arena *own = arena_new(x->scratch);
        const regex_t *re = pattern_compile(p->pattern, own, why);
        if (!re)
            return diag_error(x->diag, "--pin '%s=%s': not a regular expression: %s", p->pattern,
                              p->device, why);
        uint32_t hits = pin_all(x, re, dev, follows);
        arena_free(own);
        if (!hits)
            diag_warning(x->diag, WARN_UNMATCHED_PIN,
                         "--pin '%s=%s' matches no node that is placed", p->pattern, p->device);
    }
    return 0;
}

int ctx_check_costs(const struct ctx *x)
{
    assert(x->m->cost && x->cluster->ncls > 0);
    if (x->m->cost->nclass == x->cluster->ncls)
        return 0;
    return diag_error(
        x->diag, "%s: it has costs for %u device classes, the cluster has %u: expected one each",
        str(x->m, x->m->path), x->m->cost->nclass, x->cluster->ncls);
}

/* Sums of times and of bytes (each net once for each pin) must not overflow. */
static int check_sums(const struct ctx *x)
{
    const struct wdag *g = x->base;
    int64_t bytes = wdag_bytes(g);
    for (uint32_t k = 0; k < g->ncls; k++) {
        int64_t sum = 0;
        for (uint32_t v = 0; v < g->n; v++)
            sum = sat_add(sum, g->time[k][v] != COST_NEVER ? g->time[k][v] : 0);
        for (uint32_t e = 0; e < g->nnet; e++)
            sum = sat_add(sum, sat_mul(g->net_cost[k][e], g->net_pin.at[e + 1] - g->net_pin.at[e]));
        if (sum >= CTX_SUM_MAX)
            return diag_error(x->diag,
                              "the times of all nodes on class '%s' add up to more than pcc can "
                              "count (%" PRId64 " s)%s",
                              x->cluster->cls[k].name, CTX_SUM_MAX / PS_PER_S, bind_excuse(x));
    }
    for (uint32_t e = 0; e < g->nnet; e++)
        bytes = sat_add(bytes, sat_mul(x->m->cost->bytes[x->place->net_value[e]],
                                       g->net_pin.at[e + 1] - g->net_pin.at[e]));
    if (bytes >= CTX_SUM_MAX)
        return diag_error(x->diag, "the bytes of all nodes add up to more than pcc can count%s",
                          bind_excuse(x));
    return 0;
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
    if (check_sums(x) || apply_pins(x))
        return -1;
    warn_undivided(x);
    return 0;
}

void ctx_push(struct ctx *x, struct wdag *level)
{
    assert(level && x->base && level->ncls == x->base->ncls);
    x->top = level;
}
