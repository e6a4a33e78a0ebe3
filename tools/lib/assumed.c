/* Makes the text on a plan's assumptions (assumed.h): devices, links, element types (whose rates give the
 * times), memory reserved for the runtime, what parts cost, sizes of dimensions; with the option that sets each of
 * them. */
#include "tools/lib/assumed.h"

#include "ir/base/strings.h"

#include <string.h>

/* DIMS_NAMED: most dimensions that are named.  SHARE: a type is named if it has at least 1/SHARE of the work. */
enum { DIMS_NAMED = 8, SHARE = 10 };

/* The assumptions found so far. */
struct list {
    /* what: the assumptions; how: the options that set them; both joined by ", "; NULL: none yet */
    const char *what, *how;
    struct arena *a; /* owns both texts */
};

/* Adds assumption `what` and the option `how` that sets it. */
static void add_assumption(struct list *l, const char *what, const char *how)
{
    l->what = l->what ? arena_fmt(l->a, "%s, %s", l->what, what) : what;
    l->how = l->how ? arena_fmt(l->a, "%s, %s", l->how, how) : how;
}

/* Adds the devices of the cluster, class by class: "2xa100:80GiB,1xcpu". */
static void add_devices(struct list *l, const struct cluster *c)
{
    char memory[UNIT_TEXT];
    const char *s = NULL;
    for (uint32_t k = 0; k < c->ncls; k++) {
        const struct device_class *d = &c->cls[k];
        s = arena_fmt(l->a, "%s%s%ux%s", s ? s : "", s ? "," : "", d->count, d->name);
        if (d->memory >= 0)
            s = arena_fmt(l->a, "%s:%s", s, bytes_print(memory, d->memory + d->reserve));
    }
    add_assumption(l, s, "-d");
}

/* Adds bandwidth and latency of the accelerators' links, if all accelerators have equal ones. */
static void add_links(struct list *l, const struct cluster *c)
{
    char rate[UNIT_TEXT], latency[UNIT_TEXT];
    const struct device_class *first = NULL;
    for (uint32_t k = 0; k < c->ncls; k++) {
        const struct device_class *d = &c->cls[k];
        if (first && !d->host &&
            (d->link_bandwidth != first->link_bandwidth || d->link_latency != first->link_latency))
            return;
        if (!first && !d->host)
            first = d;
    }
    if (first)
        add_assumption(l,
                       arena_fmt(l->a, "links of %s,%s", rate_print(rate, first->link_bandwidth),
                                 time_print(latency, first->link_latency)),
                       "--link");
}

enum elem assumed_type(const struct module *m, nid n)
{
    const struct slice both[] = {m->node[n].in, m->node[n].out};
    for (int s = 0; s < 2; s++)
        for (uint32_t i = 0; i < both[s].n; i++) {
            enum elem e = m->type[m->value[m->arg[both[s].at + i]].type].elem;
            if (elem_is_float(e))
                return e;
        }
    return ELEM_NONE;
}

/* Returns words for the rate that is assumed for nodes of these element types ("f32 and f16"): the peak, or the rate of
 * measured kernels, if the class has any.  Kernels are measured in f32 alone. */
static const char *rate_text(const struct cluster *c, const char *types)
{
    if (c->cls[cluster_main_class(c)].kernel[KERNEL_UNITS] == 0)
        return "peak rate";
    return strcmp(types, "f32") == 0 ? "the rate of measured kernels"
                                     : "the rate of kernels measured in f32";
}

/* Adds the element types in which the main graph is computed, without types of little work.  said: the user gave
 * --precision. */
static void add_types(struct list *l, const struct module *m, const struct cluster *c, bool said)
{
    int64_t sum[ELEM_COUNT] = {0}, all = 0;
    const struct graph *g = &m->graph[1];
    const char *s = NULL;
    for (nid n = g->first; n < g->first + g->count; n++) {
        enum elem e = assumed_type(m, n);
        sum[e] = sat_add(sum[e], m->cost->flops[n]);
        all = sat_add(all, m->cost->flops[n]);
    }
    const char *in = precision_name[c->cls[cluster_main_class(c)].precision];
    for (unsigned e = 1; e < ELEM_COUNT; e++)
        if (sum[e] > 0 && sum[e] >= all / SHARE)
            s = arena_fmt(l->a, "%s%s%s", s ? s : "", s ? " and " : "",
                          e == ELEM_F32 ? in : elem_name((enum elem)e));
    if (s)
        add_assumption(l, arena_fmt(l->a, "%s at %s", s, rate_text(c, s)),
                       !said && sum[ELEM_F32] > 0 ? "--efficiency, --precision" : "--efficiency");
}

/* Adds the symbolic dimensions whose sizes were guessed: "batch=1 sequence=128". */
static void add_dims(struct list *l, const struct ctx *x)
{
    const char *s = NULL;
    const struct dim_binding *b = x->results.guessed;
    uint32_t n = x->results.nguessed;
    for (uint32_t i = 0; i < n && i < DIMS_NAMED; i++)
        s = arena_fmt(l->a, "%s%s%s=%lld", s ? s : "", s ? " " : "", b[i].name,
                      (long long)b[i].value);
    if (n > DIMS_NAMED)
        s = arena_fmt(l->a, "%s and %u more", s, n - DIMS_NAMED);
    if (s)
        add_assumption(l, s, "--dim");
}

/* Adds that times are predicted from measurements at other batch sizes (--profile-at), if they are. */
static void add_predicted(struct list *l, const struct settings *s)
{
    const char *sizes = NULL;
    for (uint32_t i = 0; i < s->nmeasured; i++)
        sizes = arena_fmt(l->a, "%s%s%lld", sizes ? sizes : "", sizes ? ", " : "",
                          (long long)s->measured[i].batch);
    if (sizes)
        add_assumption(l, arena_fmt(l->a, "times predicted, roughly, from batches of %s", sizes),
                       "--costs");
}

/* Adds the time that a part costs its device beside computing, if it is assumed: because times of nodes are estimated,
 * and neither the user nor the input gives it. */
static void add_part_cost(struct list *l, const struct ctx *x)
{
    char text[UNIT_TEXT];
    int64_t cost = x->scene.model.part_cost;
    const char *engine = ctx_settings(x)->cost_of;
    if (x->results.priced && (engine || cost == exec_usual_part_cost(false)))
        add_assumption(l,
                       arena_fmt(l->a, "%s for each part%s%s", time_print(text, cost),
                                 engine ? " as measured of " : "", engine ? engine : ""),
                       "--part-cost");
}

const char *assumed_text(const struct pcc *p, bool sizes)
{
    const struct ctx *x = &p->x;
    struct list l = {.a = x->use.mem};
    const char *devices = handle_given(p, "devices");
    bool brought = p->own != NULL; /* the input has its own cluster */
    /* the user knows the figures of the devices, from a file or from a search of the machine */
    bool described = devices && (str_ends(devices, ".json") || !strcmp(devices, "detect"));
    bool limited = false; /* an accelerator has a memory of stated size */
    for (uint32_t k = 0; k < x->scene.cluster->ncls; k++) {
        const struct device_class *cls = &x->scene.cluster->cls[k];
        limited = limited || (!cls->host && cls->memory >= 0);
    }
    if (!brought && !devices)
        add_devices(&l, x->scene.cluster);
    if (!brought && !described && !handle_given(p, "link"))
        add_links(&l, x->scene.cluster);
    if (x->scene.m->cost->flops && x->scene.m->ir_version && !handle_given(p, "efficiency") &&
        !handle_given(p, "costs") && !handle_given(p, "profile-at"))
        add_types(&l, x->scene.m, x->scene.cluster, handle_given(p, "precision") != NULL);
    if (limited && !brought && !handle_given(p, "reserve"))
        add_assumption(&l, "nothing reserved", "--reserve");
    if (!handle_given(p, "part-cost"))
        add_part_cost(&l, x);
    if (!handle_given(p, "costs"))
        add_predicted(&l, &p->settings);
    if (sizes)
        add_dims(&l, x);
    return l.what ? arena_fmt(l.a, "%s; set with %s", l.what, l.how) : NULL;
}
