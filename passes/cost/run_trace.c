/* Reads traces of runs and applies their times (run_trace.h).
 *
 * A run knows what parts take, not what their nodes take.  So the time of a part is divided among its nodes in
 * proportion to the times that the nodes had before, from other files of --costs or from the roofline model.  Shares
 * are rounded such that they sum to the part's time.  O(nodes * classes). */
#include "passes/cost/run_trace.h"

#include "ir/base/json_in.h"
#include "ir/base/name_table.h"

#include <inttypes.h>

bool run_trace_is(const json_t *root)
{
    return json_object_get(json_object_get(root, "otherData"), "pcc_run") != NULL;
}

int run_trace_read(struct sheet *to, const json_t *root, uint32_t classes, struct ctx *x)
{
    const json_t *other = json_object_get(root, "otherData");
    const json_t *parts = json_object_get(other, "parts"), *part, *node;
    struct arena *a = x->use.scratch;
    int64_t version;
    size_t k, i;
    if (!json_int_in(json_object_get(other, "pcc_run"), 1, 1, &version) || !json_is_array(parts))
        return diag_error(x->use.diag,
                          "%s: otherData: expected \"pcc_run\": 1 and a list \"parts\"", to->path);
    if (json_array_size(parts) == 0)
        return diag_error(x->use.diag, "%s: no part ran: there are no times", to->path);
    to->run = true;
    to->classes = classes;
    to->part = arena_array(a, json_array_size(parts) + 1, sizeof *to->part);
    json_array_foreach((json_t *)parts, k, part)
    {
        const json_t *nodes = json_object_get(part, "nodes");
        struct run_part *p = &to->part[to->npart++];
        if (!json_int_in(json_object_get(part, "time"), 0, FIT_QUANTITY_MAX, &p->ps) ||
            !json_is_array(nodes))
            return diag_error(
                x->use.diag,
                "%s: otherData: parts[%zu]: expected \"time\", an integer of ps below "
                "2^60, and a list \"nodes\"",
                to->path, k);
        p->node = arena_array(a, json_array_size(nodes) + 1, sizeof *p->node);
        json_array_foreach((json_t *)nodes, i, node)
        {
            const char *name = json_string_value(node);
            if (name)
                p->node[p->nnode++] = arena_fmt(a, "%s", name);
        }
    }
    return 0;
}

/* Divides `ps`, the time of a part on class k, among the part's n nodes in proportion to their times; equally if these
 * are all 0.  A node's share is the difference of two rounded sums, that of all shares up to the node and that of all
 * shares before it; so all shares add up to ps.  What of a share is overhead is not known: it counts as none. */
static void share_out(struct module *m, const nid *node, uint32_t n, uint32_t k, int64_t ps)
{
    int64_t *time = m->cost->time[k];
    __int128 all = 0, before = 0;
    /* runs: number of nodes that class k can run; seen: number of these nodes that have got a share */
    uint32_t runs = 0, seen = 0;
    for (uint32_t i = 0; i < n; i++)
        if (time[node[i]] != COST_NEVER) {
            all += time[node[i]];
            runs++;
        }
    /* number of bits by which sums of times are shifted right, so that their products with ps do not overflow */
    int down = 0;
    while (all >> down >= (__int128)1 << 62)
        down++;
    for (uint32_t i = 0; i < n; i++) {
        int64_t *t = &time[node[i]];
        if (*t == COST_NEVER)
            continue;
        /* after, whole: sums of times; if all times are 0, numbers of nodes instead */
        __int128 after = all > 0 ? before + *t : (__int128)++seen, whole = all > 0 ? all : runs;
        *t = (int64_t)((after >> down) * ps / (whole >> down)) -
             (int64_t)((before >> down) * ps / (whole >> down));
        before = after;
        if (m->cost->overhead != NULL)
            m->cost->overhead[k][node[i]] = 0;
    }
}

/* Applies one trace to the times of the scene's module, and warns if nodes of the trace are not in the module.  given:
 * [node] all false at first; becomes true for the nodes of the trace's parts.  Returns 0; or -1 and reports an error if
 * no node of the trace is in the module. */
static int apply(const struct sheet *s, const struct names *names, bool *given, struct ctx *x)
{
    struct module *m = x->scene.m;
    uint32_t known = 0, unknown = 0;
    const char *first = "";
    for (uint32_t p = 0; p < s->npart; p++) {
        const struct run_part *part = &s->part[p];
        nid *node = arena_array(x->use.scratch, (size_t)part->nnode + 1, sizeof *node);
        uint32_t n = 0;
        for (uint32_t i = 0; i < part->nnode; i++) {
            nid v = names_get(names, part->node[i], 0);
            if (v == 0 && unknown++ == 0)
                first = part->node[i];
            /* a node with copies in several parts counts in the first part */
            if (v == 0 || given[v])
                continue;
            given[v] = true;
            node[n++] = v;
        }
        known += n;
        for (uint32_t k = 0; k < m->cost->nclass; k++)
            if (s->classes >> k & 1)
                share_out(m, node, n, k, part->ps);
    }
    if (known == 0)
        return diag_error(x->use.diag,
                          "%s: none of its %u nodes is in the model, the first is '%s': another "
                          "model ran",
                          s->path, unknown, first);
    if (unknown > 0)
        diag_warning(x->use.diag, WARN_UNMATCHED_COST,
                     "%s: %u node%s not in the model, the first is '%s': its part's time goes to "
                     "the others",
                     s->path, unknown, unknown == 1 ? " is" : "s are", first);
    return 0;
}

int run_traces_apply(const struct sheet *sheet, uint32_t n, struct ctx *x)
{
    const struct graph *g = &x->scene.m->graph[1];
    struct names names = {0};
    int rc = 0;
    for (uint32_t i = 0; i < n && !rc; i++) {
        if (!sheet[i].run)
            continue;
        if (names.a == NULL) {
            names = names_new(x->use.scratch, g->count);
            for (nid v = g->first; v < g->first + g->count; v++)
                names_add(&names, node_name(x->scene.m, v), v);
        }
        bool *given = arena_array(x->use.scratch, x->scene.m->nnode, sizeof *given);
        rc = apply(&sheet[i], &names, given, x);
    }
    return rc;
}
