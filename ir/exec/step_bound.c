/* Lower bounds on the time of one sample alone (step_bound.h).
 *
 * Computes two bounds: nodes on a path through the graph run one after the other; and all devices together have to run
 * all nodes.  Each node counts with its time on the fastest class; transfers do not count. */
#include "ir/exec/step_bound.h"

#include "ir/base/units.h"

/* Returns the time of a node on the class that runs it fastest, ps; 0 if no class can run it. */
static int64_t least_time(const struct scene *s, nid n)
{
    int64_t least = COST_NEVER;
    for (uint32_t k = 0; k < s->cluster->ncls; k++) {
        int64_t t = s->m->cost->time[k][n];
        if (s->cluster->cls[k].count && t != COST_NEVER && (least == COST_NEVER || t < least))
            least = t;
    }
    return least == COST_NEVER ? 0 : least;
}

/* Returns an array, in a: [value] 1 + the value's net; 0: it has no net. */
static const uint32_t *nets_by_value(const struct scene *s, struct arena *a)
{
    uint32_t *net = arena_array(a, s->m->nval, sizeof *net);
    for (uint32_t e = 0; e < s->place->nnet; e++)
        net[s->place->net_value[e]] = e + 1;
    return net;
}

struct step_bound step_bound(const struct scene *s, struct arena *a)
{
    struct step_bound b = {0};
    const struct graph *g = &s->m->graph[1];
    struct arena *own = arena_new(a);
    const uint32_t *net = nets_by_value(s, own);
    /* [node] ps: the longest path up to the start of the node; final when the loop below comes to the node */
    int64_t *start = arena_array(own, s->m->nnode, sizeof *start);
    for (nid n = g->first; n < g->first + g->count; n++) { /* a topological order */
        if (s->place->kind[n] != PLACE_NODE)
            continue;
        int64_t time = least_time(s, n), end = sat_add(start[n], time);
        b.work = sat_add(b.work, time);
        b.path = larger(end, b.path);
        for (uint32_t i = 0; i < s->m->node[n].out.n; i++) {
            uint32_t e = net[node_out(s->m, n, i)]; /* 1 + the net */
            if (!e)
                continue;
            for_row (reader, s->place->net_pin, e - 1)
                if (reader != n)
                    start[reader] = larger(end, start[reader]);
        }
    }
    b.work = mul_div_ceil(b.work, 1, s->cluster->ndev ? s->cluster->ndev : 1);
    arena_free(own);
    return b;
}

struct exec_bound step_bound_of(const struct scene *s, bool shared, struct arena *a)
{
    struct step_bound b = step_bound(s, a);
    char path[UNIT_TEXT], work[UNIT_TEXT];
    bool by_path = !shared || b.path >= b.work;
    const char *proof = arena_fmt(a,
                                  "the longest way through the nodes, each on the fastest device "
                                  "and without transfers, takes %s\n",
                                  time_short(path, b.path));
    if (shared)
        proof =
            arena_fmt(a, "%sall nodes, each on the fastest device, shared by %u devices, take %s\n",
                      proof, s->cluster->ndev, time_short(work, b.work));
    return (struct exec_bound){.value = by_path ? b.path : b.work,
                               .why = by_path ? "the longest way through the nodes"
                                              : "all work, shared by all devices",
                               .proof = proof};
}
