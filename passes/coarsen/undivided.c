/* Warns of nodes that no plan can divide although they take much of the time: calls of functions that were not opened,
 * and nodes with bodies (If, Loop, Scan and the like).
 *
 * No plan divides a node: if one node takes all of the time, "optimal" means that everything is on one device.  There
 * is a warning if all calls together take more than a twentieth of the time, or if a node with bodies takes more than
 * half: then no number of devices makes the model twice as fast.  Shares are those on the class of devices where they
 * are largest.  With one device there are no warnings.  O(nodes * classes), and O(functions) for a warning. */
#include "passes/coarsen/undivided.h"

#include "ir/base/units.h"
#include "passes/functions/opened_calls.h"
#include "passes/cost/measured.h"

/* Shares of the model's time, in percent, above which there is a warning. */
enum {
    PERCENT_CALLS = 5, /* all calls together */
    PERCENT_BODY = 50  /* a single node with bodies */
};

/* The base level, and the sum of the times of all its vertices: [class] ps. */
struct times {
    const struct wdag *g;
    int64_t total[CLUSTER_CLASSES];
};

/* Returns the time of vertex v on class k, ps; 0 if the class cannot run v. */
static int64_t time_of(const struct wdag *g, uint32_t k, uint32_t v)
{
    return g->time[k][v] == COST_NEVER ? 0 : g->time[k][v];
}

/* Returns the largest share, over the classes, that part[class] has in the class's total, in percent, rounded down. */
static int largest_percent(const struct times *t, const int64_t *part)
{
    int most = 0;
    for (uint32_t k = 0; k < t->g->ncls; k++) {
        int p = t->total[k] > 0 ? (int)((__int128)part[k] * 100 / t->total[k]) : 0;
        most = p > most ? p : most;
    }
    return most;
}

/* Whether part[class] is more than `most` percent of the total on some class. */
static bool is_more_than(const struct times *t, const int64_t *part, int most)
{
    for (uint32_t k = 0; k < t->g->ncls; k++)
        if ((__int128)part[k] * 100 > (__int128)t->total[k] * most)
            return true;
    return false;
}

/* Sets part[class] to the time of vertex v, ps. */
static void node_times(const struct times *t, uint32_t v, int64_t part[CLUSTER_CLASSES])
{
    for (uint32_t k = 0; k < t->g->ncls; k++)
        part[k] = time_of(t->g, k, v);
}

/* ---- calls ---- */

/* Returns the reason why `call` was not opened, or what the user can do to have it opened. */
static const char *reason_text(struct ctx *x, nid call)
{
    const struct module *m = x->scene.m;
    struct functions *f = functions_study(m, x->use.scratch);
    const struct cost_table *given = cost_table_peek(x, m);
    struct diag quiet = diag_silent();
    /* a copy of the module, since functions_fit adds the opset imports of functions to it */
    struct module opsets = *m;
    uint64_t nodes;
    opsets.mem = x->use.scratch;
    opsets.capopset = opsets.nopset;
    functions_fit(&opsets, f, /*who=*/"", x->use.scratch, &quiet);
    functions_measure(m, f);
    const char *obstacle = call_obstacle(m, f, m, call);
    switch ((enum fate)f->fate[m->node[call].callee]) {
    case FATE_CYCLE:
        return "its function calls itself";
    case FATE_DEEP:
        return "calls are nested too deep in it";
    case FATE_OPSET:
        return "its function was written for another opset than the model's";
    default:
        break;
    }
    for (uint32_t k = 0; given != NULL && k < x->scene.cluster->ncls; k++)
        if (cost_table_time(given, call, k) >= 0)
            return "--costs gives its time (or --profile-at), and none for what is inside";
    if (obstacle != NULL)
        return obstacle;
    return calls_few(m, f, &nodes)
               ? "begin -p with open-functions, and parts keep the calls that no cut divides"
               : "opened, the model's calls would be too many nodes";
}

/* Sums over the calls that were not opened. */
struct whole {
    int64_t sum[CLUSTER_CLASSES]; /* [class] ps: time of all these calls */
    /* number of these calls; the vertex of the call with the largest share of the time */
    uint32_t calls, worst;
    /* share of the time that the call of `worst` takes, percent; -1: all calls were opened */
    int most;
};

/* Returns the sums over all calls among the vertices. */
static struct whole add_calls(const struct ctx *x, const struct times *t)
{
    struct whole w = {.most = -1};
    int64_t part[CLUSTER_CLASSES];
    for (uint32_t v = 0; v < t->g->n; v++) {
        if (x->scene.m->node[t->g->node[v]].callee == 0)
            continue;
        node_times(t, v, part);
        int p = largest_percent(t, part);
        for (uint32_t k = 0; k < t->g->ncls; k++)
            w.sum[k] = sat_add(w.sum[k], part[k]);
        w.worst = p > w.most ? v : w.worst;
        w.most = p > w.most ? p : w.most;
        w.calls++;
    }
    return w;
}

/* Warns, once, of all calls if they take more than PERCENT_CALLS of the time together. */
static void warn_calls(struct ctx *x, const struct times *t)
{
    struct whole w = add_calls(x, t);
    if (!is_more_than(t, w.sum, PERCENT_CALLS))
        return;
    nid n = t->g->node[w.worst];
    diag_warning(
        x->use.diag, WARN_WHOLE_CALL,
        "%u call%s of functions stay%s whole and take%s %d %% of the time, the largest '%s' "
        "(%s) with %d %%: %s",
        w.calls, w.calls == 1 ? "" : "s", w.calls == 1 ? "s" : "", w.calls == 1 ? "s" : "",
        largest_percent(t, w.sum), node_name(x->scene.m, n),
        function_name(x->scene.m, x->scene.m->node[n].callee, x->use.scratch), w.most,
        reason_text(x, n));
}

/* ---- bodies ---- */

/* Returns what the user can do about a node with bodies. */
static const char *way_out(const struct module *m, nid n)
{
    if (node_is(m, n, "If"))
        return "plan for the branch that runs as a model of its own (a merged decoder: export it "
               "without and with its cache apart), or make the condition a constant";
    if (node_is(m, n, "Loop") || node_is(m, n, "Scan"))
        return "plan for the body as a model of its own, or export the model with the loop unrolled";
    return "plan for the models in its attributes, each as a model of its own";
}

/* Warns of each node with bodies that takes more than PERCENT_BODY of the time. */
static void warn_bodies(struct ctx *x, const struct times *t)
{
    int64_t part[CLUSTER_CLASSES];
    for (uint32_t v = 0; v < t->g->n; v++) {
        nid n = t->g->node[v];
        node_times(t, v, part);
        if (!is_more_than(t, part, PERCENT_BODY) || !node_has_body(x->scene.m, n))
            continue;
        diag_warning(x->use.diag, WARN_WHOLE_BODY,
                     "node '%s' (%s) takes %d %% of the time and no plan divides its bodies: %s",
                     node_name(x->scene.m, n), node_op(x->scene.m, n), largest_percent(t, part),
                     way_out(x->scene.m, n));
    }
}

void warn_undivided(struct ctx *x)
{
    struct times t = {.g = x->levels.base};
    if (x->scene.cluster->ndev < 2)
        return;
    for (uint32_t k = 0; k < t.g->ncls; k++)
        for (uint32_t v = 0; v < t.g->n; v++)
            t.total[k] = sat_add(t.total[k], time_of(t.g, k, v));
    warn_calls(x, &t);
    warn_bodies(x, &t);
}
