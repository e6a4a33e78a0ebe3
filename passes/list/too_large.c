/* Finds nodes that are too large for every device (too_large.h).
 *
 * A group of nodes that must share a device needs at least the nodes' weights, each once, and bytes for results.  With
 * the memory model SUM, and in a profile, whose bytes all stay, these are the bytes of all nodes.  With LIVE they are
 * the bytes of the node that needs most while it runs; the values that the node reads count, too, unless some device is
 * a CPU, since the memory of the host already holds the model's inputs.  With PAPER only the weights are certain. */
#include "passes/list/too_large.h"

#include "ir/base/units.h"
#include "passes/problem/claim.h"

/* What the bytes of groups are computed from. */
struct sizes {
    const struct ctx *x;
    const struct wdag *g; /* the base level */
    struct csr member;    /* group -> vertices */
    uint32_t *seen;       /* [shared item] 1 + the last group for which the item was counted */
    bool host;            /* some device is the host (a CPU) */
};

/* Returns the bytes that a device needs at least while v runs, without weights. */
static int64_t running_bytes(const struct sizes *s, uint32_t v)
{
    const struct costs *cost = s->x->scene.m->cost;
    int64_t bytes = s->g->size[v];
    for (uint32_t i = s->g->net_of.at[v]; !s->host && i < s->g->net_of.at[v + 1]; i++) {
        uint32_t e = s->g->net_of.to[i];
        /* whether a node makes the value or it comes from the host; if not, it is a state, kept from run to run */
        bool comes = s->g->net_src[e] != UINT32_MAX || s->g->net_host[e];
        if (comes && s->g->net_src[e] != v)
            bytes = sat_add(bytes, cost->bytes[s->x->scene.place->net_value[e]]);
    }
    return bytes;
}

/* Returns the bytes that a device needs at least for a group. */
static int64_t need_of(struct sizes *s, uint32_t group)
{
    enum memory_model model = exec_memory(&s->x->scene.model);
    /* whether the bytes of all vertices last; if not, LIVE counts the bytes of the one vertex that runs, and PAPER
     * counts none */
    bool lasting = model == MEMORY_SUM || (model == MEMORY_LIVE && s->x->scene.m->ir_version == 0);
    int64_t stays = 0, runs = 0;
    for_row (v, s->member, group) {
        int64_t bytes = lasting ? s->g->size[v] : model == MEMORY_LIVE ? running_bytes(s, v) : 0;
        stays = sat_add(stays, lasting ? bytes : 0);
        runs = !lasting && bytes > runs ? bytes : runs;
        for_row (item, s->g->shared_of, v) {
            if (s->seen[item] != group + 1)
                stays = sat_add(stays, s->g->shared_size[item]);
            s->seen[item] = group + 1;
        }
    }
    return sat_add(stays, runs);
}

/* Returns the bytes of the largest memory among devices that can run all of a group; INT64_MAX: no limit. */
static int64_t most_memory(const struct sizes *s, uint32_t group)
{
    const struct cluster *c = s->x->scene.cluster;
    int64_t most = 0;
    for (uint32_t k = 0; k < c->ncls; k++) {
        bool can = c->cls[k].count > 0;
        for (uint32_t i = s->member.at[group]; can && i < s->member.at[group + 1]; i++)
            can = s->g->time[k][s->member.to[i]] != COST_NEVER;
        int64_t memory = c->cls[k].memory < 0 ? INT64_MAX : c->cls[k].memory;
        most = can && memory > most ? memory : most;
    }
    return most;
}

const char *list_too_large(const struct ctx *x, struct arena *a)
{
    struct sizes s = {.x = x, .g = x->levels.base};
    struct arena *own = arena_new(a);
    const struct wdag *any = any_shape_level(x);
    const char *text = NULL;
    s.member = csr_build(own, any->n, s.g->n, wdag_flatten(any, own), NULL);
    s.seen = arena_array(own, (size_t)s.g->nshared + 1, sizeof *s.seen);
    for (uint32_t k = 0; k < x->scene.cluster->ncls; k++)
        s.host = s.host || (x->scene.cluster->cls[k].host && x->scene.cluster->cls[k].count);
    for (uint32_t k = 0; k < any->n && !text; k++) {
        int64_t need = need_of(&s, k), has = most_memory(&s, k);
        uint32_t n = s.member.at[k + 1] - s.member.at[k];
        char bytes[UNIT_TEXT], memory[UNIT_TEXT];
        if (need > has)
            text = arena_fmt(
                a, "'%s'%s needs %s, and no device that can run it has more than %s",
                node_name(x->scene.m, s.g->node[s.member.to[s.member.at[k]]]),
                n == 1 ? "" : arena_fmt(a, " with all %u nodes that must be where it is", n),
                bytes_short(bytes, need), bytes_short(memory, has));
    }
    arena_free(own);
    return text;
}
