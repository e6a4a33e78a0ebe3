/* Pins of nodes in a model that devices share: a pinned node is on its device alone (SHARD_ONCE).
 *
 * If several patterns match a node's name or path, the first of them counts, as for other plans.  Patterns are tried
 * on the nodes of the given model; pieces and exchanges, which are made of them, have no pins.  O(nodes * pins). */
#include "passes/functions/patterns.h"
#include "passes/shard/shard.h"

#include <string.h>

uint32_t shard_home(struct shard *s, uint32_t dev)
{
    uint32_t i = 0;
    while (i < s->ndev && s->dev[i] != dev)
        i++;
    if (i == s->ndev)
        s->dev[s->ndev++] = dev;
    return i;
}

/* Pins the nodes that p's pattern matches and no earlier pattern has; *hits: the number of nodes that the pattern
 * matches. Returns 0, or -1 and reports an error. */
static int pin_nodes(struct shard *s, const struct pin *p, uint8_t *pinned, uint32_t *hits)
{
    const struct graph *g = &s->m->graph[1];
    char why[PATTERN_WHY];
    int dev = cluster_device(s->x->scene.cluster, p->device);
    struct arena *own = arena_new(s->a);
    const struct regex *re = dev >= 0 ? pattern_compile(p->pattern, own, why) : NULL;
    *hits = 0;
    for (nid n = g->first; re != NULL && n < g->first + g->count; n++) {
        if ((s->kind[n] != SHARD_NODE && s->kind[n] != SHARD_ONCE) ||
            !pattern_matches_node(re, s->m, n, own))
            continue;
        ++*hits;
        if (pinned[n]) /* by an earlier pattern */
            continue;
        pinned[n] = 1;
        s->kind[n] = SHARD_ONCE;
        s->home[n] = shard_home(s, (uint32_t)dev);
        if (s->m->cost->time[cluster_class(s->x->scene.cluster, (uint32_t)dev)][n] == COST_NEVER) {
            arena_free(own);
            return diag_error(s->x->use.diag,
                              "--pin '%s=%s': node '%s' (%s) cannot run on this device", p->pattern,
                              p->device, node_name(s->m, n), node_op(s->m, n));
        }
    }
    arena_free(own);
    return re != NULL ? 0
                      : diag_error(s->x->use.diag, "--pin '%s=%s': no such device, or no pattern",
                                   p->pattern, p->device);
}

int shard_pin(struct shard *s)
{
    const struct settings *set = ctx_settings(s->x);
    uint8_t *pinned = arena_alloc(s->a, s->m->nnode);
    s->hits = arena_array(s->a, (size_t)set->npins + 1, sizeof *s->hits);
    for (uint32_t k = 0; k < set->npins; k++)
        if (pin_nodes(s, &set->pins[k], pinned, &s->hits[k]) != 0)
            return -1;
    s->pinned = pinned;
    return 0;
}

void shard_warn_pins(const struct shard *s)
{
    const struct settings *set = ctx_settings(s->x);
    for (uint32_t k = 0; k < set->npins; k++)
        if (s->hits[k] == 0)
            diag_warning(s->x->use.diag, WARN_UNMATCHED_PIN,
                         "--pin '%s=%s' matches no node that is placed", set->pins[k].pattern,
                         set->pins[k].device);
}

int64_t shard_whole_time(const struct shard *s, nid n)
{
    uint32_t cls = cluster_class(s->x->scene.cluster, s->dev[s->home[n]]);
    return shard_is_copied(s, n) ? 0 : sat_add(s->m->cost->time[cls][n], s->extra[n].weighed);
}

void shard_list_pins(const struct shard *s, struct sharding *k)
{
    const struct graph *g = &s->m->graph[1];
    struct arena *mem = s->x->use.mem;
    struct sharded_pin *list = NULL;
    uint32_t cap = 0;
    for (nid n = g->first; n < g->first + g->count; n++) {
        if (!s->pinned[n])
            continue;
        list = vec_grow(mem, list, &cap, k->npin + 1, sizeof *list);
        list[k->npin++] = (struct sharded_pin){node_name(s->m, n), s->dev[s->home[n]]};
    }
    k->pin = list;
}
