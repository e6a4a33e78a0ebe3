/* --compare: prints the judge's figures of two plans, a row for each (compare.h).  O(nodes + pins). */
#include "compare.h"

#include "ir/exec/evaluate.h"
#include "ir/plan/parts.h"
#include "passes/given/plan_read.h"

/* Prints the row of a plan: value, bottleneck, largest memory of a device, bytes that cross between parts, name. */
static void print_row(FILE *f, struct ctx *x, const char *name, const struct verdict *v,
                      const struct parts *parts)
{
    char b[3][UNIT_TEXT];
    int64_t crossing = 0, used = 0;
    for (uint32_t i = 0; i < parts->ncross; i++)
        crossing = sat_add(crossing, x->scene.m->cost->bytes[parts->cross[i]]);
    for (uint32_t d = 0; d < x->scene.cluster->ndev; d++)
        used = larger(v->load[d].used, used);
    fprintf(f, "%15s  %-10s %14s %12s  %s\n",
            v->runnable ? time_short(b[0], v->value) : "cannot run",
            cluster_device_name(x->scene.cluster, x->use.mem, v->bottleneck),
            bytes_short(b[1], used), bytes_short(b[2], crossing), name);
}

int compare_print(FILE *f, struct ctx *x, const struct result *r, const char *from)
{
    struct given_plan given;
    if (plan_read(&given, x, from))
        return -1;
    const struct plan other = plan_given(&given, &r->scene);
    struct evaluation e = plan_evaluate(&r->scene, &other, x->use.mem);
    const struct parts *parts =
        parts_of_plan(&(struct staged_plan){&r->scene, &other, e.v.stages}, x->use.mem);
    if (!parts) /* NULL: a node has no stage */
        parts = parts_build(&r->scene, other.dev, x->use.mem);
    if (e.why_not)
        diag_warning(x->use.diag, WARN_INVALID_PLAN, "%s: this plan does not hold: %s", from,
                     e.why_not);
    fprintf(f, "%15s  %-10s %14s %12s  %s\n", exec_kind(&r->scene.model)->text, "bottleneck",
            "largest memory", "bytes cut", "plan");
    print_row(f, x, r->plan->planner, r->verdict, r->parts);
    print_row(f, x, from, &e.v, parts);
    return 0;
}
