/* The base level, built when the first pass needs it: ctx_base() of passes.h.  O(nodes + operands + pins), and O(nodes)
 * for each --pin. */
#include "ir/base/name_table.h"
#include "ir/base/units.h"
#include "passes/coarsen/undivided.h"
#include "passes/functions/patterns.h"
#include "passes/shapes/bind_dims.h"

#include <inttypes.h>
#include <string.h>

/* ---- pins ---- */

/* Pins to device dev all vertices whose node, or an open call around the node, matches `re`, even vertices that
 * have a pin already; returns the number of these vertices.  follows: [node] 1: a Shape (place_follows).  own:
 * scratch memory. */
static uint32_t pin_all(struct ctx *x, const struct regex *re, int dev, const uint8_t *follows,
                        struct arena *own)
{
    uint32_t hits;
    const uint8_t *in = pattern_nodes(re, x, follows, own, &hits);
    for (uint32_t v = 0; v < x->levels.base->n; v++)
        if (in[x->levels.base->node[v]])
            x->levels.base->pin[v] = dev;
    return hits;
}

/* Writes the pins of the base level's vertices to scene.place.pinned_to, [node], which the judge reads. */
static void note_pins(struct ctx *x)
{
    int32_t *to = arena_array(x->use.mem, x->scene.m->nnode, sizeof *to);
    memset(to, 0xff, x->scene.m->nnode * sizeof *to); /* -1: not pinned */
    for (uint32_t v = 0; v < x->levels.base->n; v++)
        to[x->levels.base->node[v]] = x->levels.base->pin[v];
    x->scene.place->pinned_to = to;
}

/* Returns the compiled pattern of a pin, in a, and writes the number of its device to *dev.  Returns NULL and reports
 * an error if there is no such device, or the pattern is no regular expression. */
static const struct regex *read_pin(const struct ctx *x, const struct pin *p, struct arena *a,
                                    int *dev)
{
    char why[PATTERN_WHY];
    const struct regex *re;
    *dev = cluster_device(x->scene.cluster, p->device);
    if (*dev < 0) {
        diag_error(x->use.diag, "--pin '%s=%s': there is no device '%s': expected one of %s",
                   p->pattern, p->device, p->device, cluster_devices(x->scene.cluster, a));
        return NULL;
    }
    re = pattern_compile(p->pattern, a, why);
    if (!re)
        diag_error(x->use.diag, "--pin '%.200s=%s': not a regular expression: %s", p->pattern,
                   p->device, why);
    return re;
}

int ctx_check_pins(const struct ctx *x)
{
    struct arena *own = arena_new(x->use.scratch);
    bool good = true;
    int dev;
    char why[PATTERN_WHY];
    for (uint32_t i = 0; good && i < ctx_settings(x)->ncuts; i++) {
        const struct cut_rule *r = &ctx_settings(x)->cuts[i];
        good = pattern_compile(r->pattern, own, why) != NULL;
        if (!good)
            diag_error(x->use.diag, "--%s '%.200s': not a regular expression: %s",
                       r->cut ? "cut-at" : "no-cut", r->pattern, why);
    }
    for (uint32_t k = ctx_settings(x)->npins; good && k-- > 0;)
        good = read_pin(x, &ctx_settings(x)->pins[k], own, &dev) != NULL;
    arena_free(own);
    return good ? 0 : -1;
}

/* Pins each node that the pass shard keeps on one device, which sharding.pin lists by name, to that device. */
static void pin_shared(struct ctx *x)
{
    const struct sharding *k = x->results.sharding;
    struct wdag *g = x->levels.base;
    struct arena *own = arena_new(x->use.scratch);
    struct names dev = names_new(own, k->npin);
    for (uint32_t i = 0; i < k->npin; i++)
        names_add(&dev, k->pin[i].node, k->pin[i].dev + 1);
    for (uint32_t v = 0; v < g->n; v++) {
        uint32_t to = names_get(&dev, node_name(x->scene.m, g->node[v]), 0);
        if (to != 0)
            g->pin[v] = (int32_t)to - 1;
    }
    arena_free(own);
}

/* Pins vertices by all --pin 'regex=device'.  The first pattern that matches a node's name or path, or an open call
 * around the node, decides: so the last pattern is applied first, and earlier patterns overwrite its pins.  Returns
 * 0, or -1 after an error. */
static int apply_pins(struct ctx *x)
{
    const uint8_t *follows = place_follows(x->scene.m, x->scene.place, x->use.scratch);
    if (x->results.sharding)
        pin_shared(x);
    for (uint32_t k = x->results.sharding ? 0 : ctx_settings(x)->npins; k-- > 0;) {
        const struct pin *p = &ctx_settings(x)->pins[k];
        struct arena *own = arena_new(x->use.scratch);
        int dev;
        const struct regex *re = read_pin(x, p, own, &dev);
        uint32_t hits = re ? pin_all(x, re, dev, follows, own) : 0;
        arena_free(own);
        if (!re)
            return -1;
        if (!hits)
            diag_warning(x->use.diag, WARN_UNMATCHED_PIN,
                         "--pin '%s=%s' matches no node that is placed", p->pattern, p->device);
    }
    if (ctx_settings(x)->npins > 0)
        note_pins(x);
    return 0;
}

/* ---- the level ---- */

/* Returns what all nodes and transfers take on class k, ps, each net counted once for each pin. */
static int64_t all_times(const struct wdag *g, uint32_t k)
{
    int64_t sum = 0;
    for (uint32_t v = 0; v < g->n; v++)
        sum = sat_add(sum, g->time[k][v] != COST_NEVER ? g->time[k][v] : 0);
    for (uint32_t e = 0; e < g->nnet; e++)
        sum = sat_add(sum, sat_mul(g->net_cost[k][e], g->net_pin.at[e + 1] - g->net_pin.at[e]));
    return sum;
}

/* Returns the most bytes that pcc may have to add up for a plan of the base level. */
static int64_t all_bytes(const struct ctx *x)
{
    const struct wdag *g = x->levels.base;
    const struct costs *c = x->scene.m->cost;
    int64_t bytes = wdag_bytes(g);
    for (uint32_t e = 0; e < g->nnet; e++)
        bytes = sat_add(bytes, sat_mul(c->bytes[x->scene.place->net_value[e]],
                                       g->net_pin.at[e + 1] - g->net_pin.at[e]));
    /* where plans are judged by the memory in use at one time (g->runs), the workspaces of nodes may be in memory, too,
     * and each value three times: where it is made, and twice where it comes from another device */
    for (uint32_t v = 0; g->runs && v < g->n; v++)
        bytes = sat_add(bytes, c->own[g->node[v]]);
    for (vid v = 0; g->runs && v < x->scene.m->nval; v++)
        bytes = sat_add(bytes, sat_mul(3, c->bytes[v]));
    return bytes;
}

/* Checks that the times and transfers of each class, and all bytes, add up to less than CTX_SUM_MAX.  Returns 0, or -1
 * after an error. */
static int check_sums(const struct ctx *x)
{
    for (uint32_t k = 0; k < x->levels.base->ncls; k++)
        if (all_times(x->levels.base, k) >= CTX_SUM_MAX)
            return diag_error(x->use.diag,
                              "the times of all nodes on class '%s' add up to more than pcc can "
                              "count (%" PRId64 " s)%s",
                              x->scene.cluster->cls[k].name, CTX_SUM_MAX / PS_PER_S,
                              bind_excuse(x));
    if (all_bytes(x) >= CTX_SUM_MAX)
        return diag_error(x->use.diag, "the bytes of all nodes add up to more than pcc can count%s",
                          bind_excuse(x));
    return 0;
}

int ctx_base(struct ctx *x)
{
    if (x->levels.base)
        return 0;
    if (ctx_check_costs(x))
        return -1;
    x->scene.place = place_build(x->scene.m, ctx_settings(x)->pairs, ctx_settings(x)->npairs,
                                 x->use.mem, x->use.diag);
    if (!x->scene.place)
        return -1;
    if (x->scene.model.io_free)
        place_free_io(x->scene.m, x->scene.place, x->use.mem);
    x->levels.base = wdag_base(&x->scene, x->use.mem);
    x->levels.top = x->levels.base;
    if (check_sums(x) || apply_pins(x)) {
        x->levels.base = x->levels.top = NULL; /* no level, so that a second call fails, too */
        return -1;
    }
    warn_undivided(x);
    return 0;
}
