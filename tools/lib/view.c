/* Makes the struct pcc_verdict of a plan, and the texts of pcc_text() (pcc.h).  O(nodes), once for each plan. */
#include "tools/lib/write.h"

#include <string.h>

/* Returns an array, in a: [device] its name, class, times and memory for pcc_verdict.device. */
static const struct pcc_device *make_devices(const struct result *r, struct arena *a)
{
    const struct cluster *c = r->scene.cluster;
    struct pcc_device *to = arena_array(a, (size_t)c->ndev + 1, sizeof *to);
    for (uint32_t d = 0; d < c->ndev; d++) {
        const struct device_load *l = &r->verdict->load[d];
        const struct device_class *cls = &c->cls[cluster_class(c, d)];
        to[d] = (struct pcc_device){.name = cluster_device_name(c, a, d),
                                    .device_class = cls->name,
                                    .load = l->load,
                                    .compute = l->compute,
                                    .transfer = l->transfer,
                                    .memory = cls->memory,
                                    .used = l->used};
    }
    return to;
}

/* Returns the nodes of pcc_verdict.node, in a, and their number in *n. */
static const struct pcc_node *make_nodes(const struct result *r, uint32_t *n, struct arena *a)
{
    const struct graph *g = &r->scene.m->graph[1];
    struct pcc_node *to = arena_array(a, (size_t)g->count + 1, sizeof *to);
    for (nid k = g->first; k < g->first + g->count; k++)
        to[k - g->first] = (struct pcc_node){.name = node_name(r->scene.m, k),
                                             .op = node_op(r->scene.m, k),
                                             .device = r->plan->dev[k],
                                             .part = r->parts->part_of[k]};
    *n = g->count;
    return to;
}

const struct pcc_verdict *view_of(struct pcc *p)
{
    const struct result *r = &p->judged.r;
    struct pcc_verdict *v = &p->judged.view;
    if (!p->judged.done || !r->verdict)
        return NULL;
    if (v->planner) /* set last: an earlier call has made *v */
        return v;
    const struct plan *plan = r->plan;
    *v = (struct pcc_verdict){.status = plan_status_name(plan->claim.status),
                              .scope = plan_scope_name(plan->claim.scope),
                              .argument = plan->claim.argument ? plan->claim.argument : "",
                              .proof = plan->claim.proof,
                              .objective = exec_kind(&r->scene.model)->name,
                              .value = r->verdict->value,
                              .bound = plan->claim.bound,
                              .bound_all = plan->claim.bound_all,
                              .nparts = r->parts->nparts,
                              .ndevices = r->scene.cluster->ndev,
                              .device = make_devices(r, p->x.use.mem)};
    v->node = make_nodes(r, &v->nnodes, p->x.use.mem);
    v->planner = plan->planner;
    return v;
}

/* ---- texts ------------------------------------------------------------------------------------ */

/* Returns the summary of the model; NULL after an error. */
static const char *summary_text(struct pcc *p)
{
    struct memory m;
    memory_begin(&m, p->x.use.mem);
    if (m.f)
        summary_print(m.f, p->x.scene.m);
    return memory_end(&m, /*ok=*/true, "summary", p->x.use.mem, &p->diag);
}

/* Returns the table of the plan, with its assumptions; NULL after an error, also if there is no plan. */
static const char *plan_text(struct pcc *p)
{
    struct result *r = &p->judged.r;
    if (!r->verdict) {
        diag_error(&p->diag, "table: there is no plan");
        return NULL;
    }
    return table_text(p, NULL);
}

/* Returns what writer w writes to stdout, as text; NULL after an error. */
static const char *written_text(struct pcc *p, const struct writer *w)
{
    struct memory m;
    memory_begin(&m, p->x.use.mem);
    p->judged.r.out = m.f;
    bool ok = m.f && write_one(p, w, "-") == 0;
    p->judged.r.out = NULL;
    /* an error of write_one() is reported already, unlike one of memory_begin() */
    return memory_end(&m, ok || !m.f, w->name, p->x.use.mem, &p->diag);
}

const char *view_text(struct pcc *p, const char *what)
{
    const struct writer *w = writer_named(what, strlen(what));
    if (!strcmp(what, "summary"))
        return summary_text(p);
    if (!strcmp(what, "table"))
        return plan_text(p);
    if (w && w->to_stdout)
        return written_text(p, w);
    diag_error(&p->diag, "there is no text '%s': expected table, summary, settings, devices, %s",
               what, writer_emits(", ", " or ", p->x.use.mem));
    return NULL;
}
