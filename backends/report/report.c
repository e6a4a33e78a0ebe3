/* Prints the report on the terminal: a summary of a model, or the tables of a plan. */
#include "backends/report/sharding.h"
#include "backends/backends.h"
#include "backends/type_text.h"
#include "ir/exec/evaluate.h"
#include "ir/plan/parts.h"
#include "backends/report/layer_table.h"
#include "backends/report/model_figures.h"
#include "backends/report/profile_report.h"
#include "ir/base/page.h"
#include "ir/base/utf8.h"
#include "ir/exec/sample/rounds.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum {
    SHOWN = 10, /* entries of a list that are printed */
    BAR = 20,   /* characters of the longest bar */
    KEY = 12    /* width of the words at the left of the summary; indent of further lines */
};

/* ---- summary ---------------------------------------------------------------------------------- */

/* A row of a list that will be sorted: an operator with its count and operations, or a value with its bytes. */
struct tally {
    const char *name;
    uint32_t count; /* number of nodes; of a value 0 */
    uint32_t id;    /* of a value: a number by which the caller finds it again */
    int64_t flops, bytes;
};

/* For qsort(), of struct tally: in the order of their names. */
static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct tally *)a)->name, ((const struct tally *)b)->name);
}

/* For qsort(), of struct tally: the larger count first, equal counts by name. */
static int by_count(const void *a, const void *b)
{
    const struct tally *x = a, *y = b;
    if (x->count != y->count)
        return x->count < y->count ? 1 : -1;
    return strcmp(x->name, y->name);
}

/* For qsort(), of struct tally: more bytes first, equal bytes by name. */
static int by_bytes(const void *a, const void *b)
{
    const struct tally *x = a, *y = b;
    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? 1 : -1;
    return strcmp(x->name, y->name);
}

/* Merges the rows of t[n] that have the same name into one row, whose count and operations are their sums.  Returns the
 * number of rows that are left. */
static uint32_t add_up(struct tally *t, uint32_t n)
{
    uint32_t k = 0;
    qsort(t, n, sizeof *t, by_name);
    for (uint32_t i = 0; i < n; i++) {
        if (!k || strcmp(t[k - 1].name, t[i].name)) {
            t[k++] = t[i];
            continue;
        }
        t[k - 1].count += t[i].count;
        t[k - 1].flops = sat_add(t[k - 1].flops, t[i].flops);
    }
    return k;
}

/* Prints the most frequent operators, each with its number of nodes in all graphs and its FLOPs in the main graph. */
static void print_operators(FILE *f, const struct module *m, struct arena *a)
{
    struct tally *t = arena_array(a, m->nnode, sizeof *t);
    uint32_t n = 0;
    char buf[UNIT_TEXT];
    for (nid i = 1; i < m->nnode; i++)
        t[n++] = (struct tally){.name = node_op(m, i),
                                .count = 1,
                                .flops = m->node[i].graph == 1 ? m->cost->flops[i] : 0};
    n = add_up(t, n);
    qsort(t, n, sizeof *t, by_count);
    const char *line =
        arena_fmt(a, "operators   %u kind%s%s", n, n == 1 ? "" : "s", n > 0 ? ":" : "");
    for (uint32_t i = 0; i < n && i < SHOWN; i++)
        line = arena_fmt(a, "%s %s %u (%s)%s", line, utf8_text(a, t[i].name), t[i].count,
                         count_short(buf, t[i].flops), i + 1 < n && i + 1 < SHOWN ? "," : "");
    page_words(f, n > SHOWN ? arena_fmt(a, "%s, ...", line) : line, /*at=*/0, KEY);
}

/* Prints a line with name and type for each value of a slice of module.arg that has none of the flags `without`
 * (VALUE_*), for SHOWN values at most.  what: the word at the left, "input". */
static void print_values(FILE *f, const struct module *m, const char *what, struct slice list,
                         uint32_t without, struct arena *a)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < list.n; i++) {
        vid v = m->arg[list.at + i];
        if (m->value[v].flags & without)
            continue;
        if (++n > SHOWN)
            continue;
        page_words(f,
                   arena_fmt(a, "%-11s %s : %s", what, utf8_text(a, value_name(m, v)),
                             type_text(m, m->value[v].type, a)),
                   /*at=*/0, KEY);
    }
    if (n > SHOWN)
        fprintf(f, "%-11s ... %u more\n", what, n - SHOWN);
}

/* Prints the five values with the most bytes. */
static void print_largest(FILE *f, const struct module *m, struct arena *a)
{
    /* tally.id: the value */
    struct tally *t = arena_array(a, m->nval, sizeof *t);
    uint32_t n = 0;
    char buf[UNIT_TEXT];
    for (vid v = 1; v < m->nval; v++)
        if (m->cost->bytes[v] > 0 && m->value[v].name && !(m->value[v].flags & VALUE_LOST))
            t[n++] = (struct tally){.name = value_name(m, v), .id = v, .bytes = m->cost->bytes[v]};
    qsort(t, n, sizeof *t, by_bytes);
    for (uint32_t i = 0; i < n && i < 5; i++)
        page_words(f,
                   arena_fmt(a, "%-11s %s  %s : %s%s", i ? "" : "largest",
                             bytes_short(buf, t[i].bytes), utf8_text(a, t[i].name),
                             type_text(m, m->value[t[i].id].type, a),
                             m->value[t[i].id].flags & VALUE_INIT ? " (weight)" : ""),
                   /*at=*/0, KEY + 11);
}

/* Prints the name of the file, its ONNX IR version, and its operator sets with their versions. */
static void print_versions(FILE *f, const struct module *m, struct arena *a)
{
    const char *line =
        arena_fmt(a, "%s: IR %lld", utf8_text(a, module_str(m, m->path)), (long long)m->ir_version);
    for (uint32_t i = 1; i < m->nopset && i <= SHOWN; i++)
        line = arena_fmt(a, "%s, %s %lld", line,
                         m->opset[i].domain ? utf8_text(a, module_str(m, m->opset[i].domain))
                                            : "ai.onnx",
                         (long long)m->opset[i].version);
    if (m->nopset > SHOWN + 1)
        line = arena_fmt(a, "%s, and %u more", line, m->nopset - 1 - SHOWN);
    page_words(f, line, /*at=*/0, KEY);
}

/* Prints the summary of a model that is no profile of layers. */
static void model_summary_print(FILE *f, const struct module *m)
{
    struct arena *a = arena_new(m->mem);
    const struct graph *g = &m->graph[1];
    struct model_figures x = model_figures(m);
    char b1[UNIT_TEXT], b2[UNIT_TEXT];
    if (module_is_profiled(m)) {
        page_words(f,
                   arena_fmt(a, "%s: a workload of %u nodes with times (-p auto-place plans it)",
                             utf8_text(a, module_str(m, m->path)), g->count),
                   /*at=*/0, KEY);
        arena_free(a);
        return;
    }
    print_versions(f, m, a);
    uint32_t inside = m->nnode - 1 - g->count;
    fprintf(f, "nodes       %u", g->count);
    if (inside)
        fprintf(f, ", and %u in %u %s", inside, m->ngraph - 2,
                m->ngraph == 3 ? "body of an If, Loop or Scan" : "bodies of If, Loop or Scan");
    fputc('\n', f);
    print_operators(f, m, a);
    layers_print(f, m, a);
    fprintf(f, "weights     %s parameters, %s\n", count_short(b1, x.params),
            bytes_short(b2, x.weight));
    fprintf(f, "work        %s FLOP per sample\n", count_short(b1, x.flops));
    fprintf(f, "shapes      %lld of %lld results known\n", (long long)x.with_shape,
            (long long)x.results);
    print_values(f, m, "input", g->in, VALUE_INIT, a); /* in ONNX IR 3 weights are inputs, too */
    print_values(f, m, "output", g->out, 0, a);
    print_largest(f, m, a);
    arena_free(a);
}

void summary_print(FILE *f, const struct module *m)
{
    if (is_layer_profile(m))
        profile_summary_print(f, m);
    else
        model_summary_print(f, m);
}

/* ---- plan ------------------------------------------------------------------------------------- */

void plan_print_words(FILE *f, const struct result *r, const char *text, unsigned at,
                      unsigned indent)
{
    page_words_in(f, text, at, indent, r->columns ? r->columns : PAGE_COLUMNS);
}

/* Prints a bar for part / whole, at most `room` and BAR characters wide, and the percent.  Rounds the number of '#'
 * down, so that only a bar of 100 % has no '.'. */
static void print_bar(FILE *f, int64_t part, int64_t whole, unsigned room)
{
    double share = whole > 0 ? (double)part / (double)whole : 0;
    unsigned bar = smaller_u32(room, BAR), filled = (unsigned)(share * bar);
    for (unsigned i = 0; i < bar; i++)
        fputs(i < filled ? "#" : ".", f);
    fprintf(f, " %3d %%\n", percent_of(part, whole));
}

/* Adds the row of device d to the table of devices.  parts: number of its parts. */
static void add_device(struct page_table *t, const struct result *r, uint32_t d, uint32_t parts,
                       struct arena *a)
{
    char b[4][UNIT_TEXT];
    const struct device_load *l = &r->verdict->load[d];
    const struct device_class *k = &r->scene.cluster->cls[cluster_class(r->scene.cluster, d)];
    page_table_row(
        t, (const char *[]){cluster_device_name(r->scene.cluster, a, d), k->name,
                            arena_fmt(a, "%u", parts), arena_fmt(a, "%u", l->nodes),
                            arena_fmt(a, "%s", time_short(b[0], l->compute)),
                            arena_fmt(a, "%s", time_short(b[1], l->transfer)),
                            arena_fmt(a, "%s of %s", bytes_short(b[2], l->used),
                                      k->memory < 0 ? "any" : bytes_short(b[3], k->memory))});
}

/* Prints the table of devices with a bar for the load of each, and the devices that take turns. */
static void print_devices(FILE *f, const struct result *r, struct arena *a)
{
    enum { PERCENT = 6, LEAST = 5 }; /* columns of the percent; of the shortest bar */
    struct page_table t;
    uint32_t ndev = r->scene.cluster->ndev, *parts = arena_array(a, ndev, sizeof *parts);
    for (uint32_t i = 0; i < r->parts->nparts; i++)
        parts[r->parts->part[i].dev]++;
    page_table_begin(&t, /*ncol=*/7, 1U << 0 | 1U << 1, a); /* the first two columns are texts */
    bool live = exec_live_parts(&r->scene.model);
    page_table_row(&t, (const char *[]){"device", "class", "parts", "nodes", "compute", "transfer",
                                        live ? "memory live of" : "memory used of"});
    for (uint32_t d = 0; d < ndev; d++)
        add_device(&t, r, d, parts[d], a);
    /* room: characters that the table leaves for the bar */
    unsigned width = page_table_width(&t),
             room = (r->columns ? r->columns : PAGE_COLUMNS) - PERCENT;
    room = width + LEAST < room ? room - width : LEAST;
    page_table_put(f, &t, 0);
    fputs("busy\n", f);
    for (uint32_t d = 0; d < ndev; d++) {
        page_table_put(f, &t, d + 1);
        print_bar(f, r->verdict->load[d].load, r->verdict->value, room);
    }
    for (uint32_t d = 0; r->plan->copies && d < r->scene.cluster->ndev; d++)
        if (r->plan->copies[d] > 1)
            fprintf(f, "%s to %s take turns with the parts of %s\n",
                    cluster_device_name(r->scene.cluster, a, d),
                    cluster_device_name(r->scene.cluster, a, d + r->plan->copies[d] - 1),
                    cluster_device_name(r->scene.cluster, a, d));
}

/* With -v, prints the memory of each device: lasting bytes, the bytes of one sample, the bytes of its neighbours in
 * time, the peak, and the sum of all bytes.  Prints nothing without -v, or if the execution model does not look at the
 * memory of parts. */
static void print_memory(FILE *f, const struct result *r, struct arena *a)
{
    struct page_table t;
    uint32_t ndev = r->scene.cluster->ndev;
    char b[4][UNIT_TEXT];
    if (!r->diag || !r->diag->verbose || !exec_live_parts(&r->scene.model))
        return;
    page_table_begin(&t, /*ncol=*/5, 1U << 0, a);
    page_table_row(
        &t, (const char *[]){"memory live", "weights, state", "one sample", "others", "together"});
    for (uint32_t d = 0; d < ndev; d++) {
        const struct device_load *l = &r->verdict->load[d];
        int64_t others = larger(l->used - l->lasting - l->one_sample, 0);
        page_table_row(&t, (const char *[]){cluster_device_name(r->scene.cluster, a, d),
                                            arena_fmt(a, "%s", bytes_short(b[0], l->lasting)),
                                            arena_fmt(a, "%s", bytes_short(b[1], l->one_sample)),
                                            arena_fmt(a, "%s", bytes_short(b[2], others)),
                                            arena_fmt(a, "%s", bytes_short(b[3], l->used))});
    }
    page_table_put(f, &t, 0);
    fputs("as sum\n", f);
    for (uint32_t d = 0; d < ndev; d++) {
        page_table_put(f, &t, d + 1);
        fprintf(f, "%s\n", bytes_short(b[0], r->verdict->load[d].sum));
    }
}

/* Returns the file name of a part, "part0.onnx"; "part 0" if no ONNX models can be written. */
static const char *name_part(const struct result *r, int32_t part, struct arena *a)
{
    return r->scene.m->src ? part_file(r->parts, (uint32_t)part, a) : arena_fmt(a, "part %d", part);
}

/* Prints the values that cross from part to part, the largest first, with their readers; without bytes if the input
 * is a profile that gives none. */
static void print_crossings(FILE *f, const struct result *r, struct arena *a)
{
    const struct parts *parts = r->parts;
    struct tally *t = arena_array(a, (size_t)parts->ncross + 1, sizeof *t);
    char buf[UNIT_TEXT];
    int64_t total = 0;
    for (uint32_t i = 0; i < parts->ncross; i++) {
        /* tally.id: index in parts->cross */
        t[i] = (struct tally){.name = value_name(r->scene.m, parts->cross[i]),
                              .id = i,
                              .bytes = r->scene.m->cost->bytes[parts->cross[i]]};
        total = sat_add(total, t[i].bytes);
    }
    qsort(t, parts->ncross, sizeof *t, by_bytes);
    bool sized = total > 0 || !module_is_profiled(r->scene.m);
    fprintf(f, "%u tensor%s cross%s%s%s\n", parts->ncross, parts->ncross == 1 ? "" : "s",
            parts->ncross == 1 ? "es" : "", sized ? ", " : "",
            sized ? bytes_short(buf, total) : "");
    for (uint32_t i = 0; i < parts->ncross && i < SHOWN; i++) {
        uint32_t k = t[i].id;
        vid v = parts->cross[k];
        const char *line = arena_fmt(a, "  %10s  %s ->", sized ? bytes_short(buf, t[i].bytes) : "",
                                     name_part(r, parts->part_of[r->scene.m->value[v].def], a));
        uint32_t from = parts->cross_to.at[k], to = parts->cross_to.at[k + 1];
        for (uint32_t j = from; j < to && j < from + SHOWN; j++)
            line = arena_fmt(a, "%s%s %s", line, j > from && !r->scene.m->src ? "," : "",
                             name_part(r, (int32_t)parts->cross_to.to[j], a));
        if (to - from > SHOWN)
            line = arena_fmt(a, "%s and %u more", line, to - from - SHOWN);
        plan_print_words(f, r,
                         arena_fmt(a, "%s  %s%s%s", line, utf8_text(a, t[i].name),
                                   module_is_profiled(r->scene.m) ? "" : " : ",
                                   module_is_profiled(r->scene.m)
                                       ? ""
                                       : type_text(r->scene.m, r->scene.m->value[v].type, a)),
                         /*at=*/0, /*indent=*/14);
    }
    if (parts->ncross > SHOWN)
        fprintf(f, "  ... %u more\n", parts->ncross - SHOWN);
}

/* Returns the share of the time that depends on estimated sizes, in thousandths; 0 if it is at most a tenth.  With
 * a larger share, plan and claim hold for these sizes alone. */
static uint32_t estimated_sizes(const struct result *r)
{
    const struct costs *k = r->scene.m->cost;
    return k && k->estimated > 100 ? k->estimated : 0;
}

/* Prints the claim of the plan, each on lines of its own: value; bound, gap, status and scope; shape and number of
 * parts; argument; what other plans could save; the assumed efficiency and cost of parts. */
static void print_objective(FILE *f, const struct result *r, struct arena *a)
{
    char v[UNIT_TEXT], b[UNIT_TEXT];
    const struct plan *p = r->plan;
    const char *facts = "no bound known", *status = plan_status_name(p->claim.status);
    bool green = r->colored && p->claim.status == PLAN_OPTIMAL;
    fprintf(f, "%s %s\n", exec_kind_of(&r->scene.model, p->claim.objective)->text,
            time_short(v, r->verdict->value));
    if (p->claim.bound >= 0)
        facts = arena_fmt(a, "bound %s, gap %.2f %%", time_short(b, p->claim.bound),
                          r->verdict->value ? 100.0 * (double)(r->verdict->value - p->claim.bound) /
                                                  (double)r->verdict->value
                                            : 0.0);
    fprintf(f, "%s: %s", facts, green ? PAGE_GREEN : "");
    plan_print_words(
        f, r,
        arena_fmt(a, "%s%s%s%s", status, green ? PAGE_PLAIN : "",
                  p->claim.status == PLAN_OPTIMAL && estimated_sizes(r) ? " for these sizes" : "",
                  p->claim.bound >= 0 ? plan_among(p->claim.scope) : ""),
        page_width(facts) + 2, /*indent=*/2);
    const struct exec_shows *shows = exec_kind(&r->scene.model)->shows;
    const char *shape = shows->shape ? shows->shape(r, a) : NULL;
    if (shape)
        fprintf(f, "shape: %s, %u part%s\n", shape, r->parts->nparts,
                r->parts->nparts == 1 ? "" : "s");
    const char *why = utf8_text(a, p->claim.argument ? p->claim.argument : p->planner);
    if (*why)
        plan_print_words(f, r, arena_fmt(a, "why: %s", why), /*at=*/0, /*indent=*/2);
    if (p->claim.offer)
        plan_print_words(f, r, p->claim.offer, /*at=*/0, /*indent=*/2);
    else if (p->claim.scope != SCOPE_ALL && p->claim.bound_all >= 0)
        fprintf(f, "no plan of any shape takes less than %s\n", time_short(b, p->claim.bound_all));
    int64_t share = exec_efficiency(&r->scene.model); /* millionths of the peak rates */
    if (share != 1000000)
        fprintf(f, "peak rates reached: %.4g %%\n", (double)share / 1e4);
    if (r->scene.model.part_cost)
        fprintf(f, "each part takes %s beside its nodes\n",
                time_print(v, r->scene.model.part_cost));
}

/* The plan with all nodes on one device. */
struct alone {
    uint32_t cls; /* class of the device; UINT32_MAX: no device can run all nodes */
    bool fits;
    int64_t value; /* ps, by the objective */
    int64_t used;  /* bytes of memory needed */
    int64_t lacks; /* used less the device's memory, bytes */
};

/* Whether x is better than y: only x fits; or both fit, and x is faster; or neither fits, and x lacks less memory.  Any
 * x is better than a y without a device. */
static bool is_better(const struct alone *x, const struct alone *y)
{
    if (y->cls == UINT32_MAX)
        return true;
    if (x->fits != y->fits)
        return x->fits;
    return x->fits ? x->value < y->value : x->lacks < y->lacks;
}

/* Returns the best plan with one device (is_better), over all classes of devices whose devices can run all nodes. */
static struct alone best_alone(const struct result *r, struct arena *a)
{
    const struct cluster *c = r->scene.cluster;
    struct alone best = {.cls = UINT32_MAX};
    int32_t *dev = arena_array(a, r->scene.m->nnode, sizeof *dev);
    uint32_t first = 0; /* the first device of class k */
    for (uint32_t k = 0; k < c->ncls; first += c->cls[k++].count) {
        if (!c->cls[k].count) /* a workload may have no accelerator, or no CPU */
            continue;
        for (nid n = 1; n < r->scene.m->nnode; n++)
            dev[n] = (int32_t)first;
        const struct plan plan = {.dev = dev};
        struct evaluation e = plan_evaluate(&r->scene, &plan, a);
        int64_t used = e.v.load[first].used;
        struct alone x = {k, e.v.fits, e.value, used, used - c->cls[k].memory};
        if (e.v.runnable && is_better(&x, &best))
            best = x;
    }
    return best;
}

/* Returns figures of the model as it was before the pass shard, for all nodes on one of the devices
 * that now share nodes. */
static struct alone alone_before_sharding(const struct result *r)
{
    const struct sharding *k = r->sharding;
    uint32_t cls = cluster_class(r->scene.cluster, k->dev[0]);
    int64_t memory = r->scene.cluster->cls[cls].memory; /* -1: no limit */
    return (struct alone){.cls = cls,
                          .fits = memory < 0 || k->whole_bytes <= memory,
                          .value = k->one_device,
                          .used = k->whole_bytes};
}

/* Returns the latency of the plan, in ps: the time that a replay of one sample takes until all parts are done. */
static int64_t measure_latency(const struct result *r, struct arena *a)
{
    return replay_run(&r->scene, r->plan->dev, r->parts, 1, a).end;
}

/* Returns the figure of the plan that is not its objective, in a: "latency 2.300 ms"; for an objective about one sample
 * alone "1.500 ms per sample". */
static const char *other_figure(const struct result *r, struct arena *a)
{
    char text[UNIT_TEXT];
    if (exec_kind(&r->scene.model)->feed != FEED_ALONE)
        return arena_fmt(a, "latency %s", time_short(text, measure_latency(r, a)));
    struct verdict v = load_verdict(&r->scene, r->plan->dev, r->plan->copies, a);
    return arena_fmt(a, "%s per sample", time_short(text, v.value));
}

/* Prints two lines: how much faster the plan is than the best plan with one device, "1.9x one a100 (2.237 ms to 1.176
 * ms per sample)", and its other figure, "latency 2.300 ms".  If one device is as fast, or no device can hold or run
 * the whole model, the first line says so. */
void plan_print_gain(FILE *f, const struct result *r, struct arena *a)
{
    assert(r->plan && r->verdict);
    char was[UNIT_TEXT], is[UNIT_TEXT], have[UNIT_TEXT], ratio[UNIT_TEXT];
    const char *unit = exec_kind_of(&r->scene.model, r->plan->claim.objective)->unit;
    const char *other = other_figure(r, a);
    int64_t value = r->verdict->value;
    /* a model with pieces of nodes is compared with the model before the pass shard */
    struct alone b = r->sharding ? alone_before_sharding(r) : best_alone(r, a);
    const struct device_class *k = &r->scene.cluster->cls[b.cls == UINT32_MAX ? 0 : b.cls];
    double times = value > 0 ? (double)b.value / (double)value : 1;
    snprintf(ratio, sizeof ratio, times < 1000 ? "%.3g" : "%.0f", times);
    time_short(is, value);
    if (b.cls == UINT32_MAX)
        fprintf(f, "no single device runs all of it: %s %s\n", is, unit);
    else if (b.fits && b.value == value)
        fprintf(f, "as fast as one %s: %s %s\n", k->name, is, unit);
    else if (b.fits)
        fprintf(f, "%sx one %s (%s to %s %s)\n", ratio, k->name, time_short(was, b.value), is,
                unit);
    else
        fprintf(f, "does not fit one %s (needs %s of %s): %s %s\n", k->name,
                bytes_short(was, b.used), bytes_short(have, k->memory), is, unit);
    fprintf(f, "%s\n", other);
}

/* Prints the links that the cluster file names between devices. */
static void print_links(FILE *f, const struct scene *s, struct arena *a)
{
    char rate[UNIT_TEXT], time[UNIT_TEXT];
    const struct cluster *c = s->cluster;
    const char *unused = s->model.step.network == NETWORK_HOST ? " (not used by network host)" : "";
    for (uint32_t i = 0; i < c->nlink && i < SHOWN; i++) {
        const struct device_link *l = &c->link[i];
        fprintf(f, "link %s %s %s: %s, %s%s\n", cluster_device_name(c, a, l->from),
                l->oneway ? "to" : "and", cluster_device_name(c, a, l->to),
                rate_print(rate, l->bandwidth), time_print(time, l->latency), unused);
    }
    if (c->nlink > SHOWN)
        fprintf(f, "... %u more links\n", c->nlink - SHOWN);
}

void plan_print_tables(FILE *f, const struct result *r, struct arena *a)
{
    assert(r->plan && r->parts && r->verdict);
    print_devices(f, r, a);
    print_memory(f, r, a);
    print_links(f, &r->scene, a);
    print_crossings(f, r, a);
}

const char *plan_shape(const struct result *r, struct arena *a)
{
    (void)a;
    return r->verdict->contiguous ? "contiguous" : "not contiguous";
}

/* Prints the memory that is reserved for the runtime on each class of devices. */
static void print_reserve(FILE *f, const struct cluster *c)
{
    char text[UNIT_TEXT];
    for (uint32_t k = 0; k < c->ncls; k++)
        if (c->cls[k].reserve)
            fprintf(f, "reserved for the runtime: %s of each %s\n",
                    bytes_short(text, c->cls[k].reserve), c->cls[k].name);
}

/* Prints a path as a word for the shell, in quotes if needed. */
static void put_shell_word(FILE *f, const char *path)
{
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-";
    if (*path && !path[strspn(path, plain)]) {
        fputs(path, f);
        return;
    }
    putc('\'', f);
    for (; *path; path++) {
        /* a quote ends the quotes, stands escaped, and begins quotes again */
        if (*path == '\'')
            fputs("'\\'", f);
        putc(*path, f);
    }
    putc('\'', f);
}

/* Returns the path of the first file of weights that is missing or was not opened; NULL: there is none. */
static const char *missing_file(const struct module *m)
{
    for (uint32_t k = 2; k < m->nfile; k++) /* 1: the model itself */
        if (m->file[k].fd < 0)
            return module_str(m, m->file[k].path);
    return NULL;
}

/* Whether parts may compute other results than the whole model: ONNX Runtime's CPU provider computes 16-bit floats in
 * 32 bits, and rounds them only where the model is cut. */
static bool rounds_at_cuts(const struct result *r)
{
    const struct module *m = r->scene.m;
    bool half = false;
    for (vid v = 1; v < m->nval && !half; v++) {
        const struct type *t = &m->type[m->value[v].type];
        half = m->value[v].def && t->kind == TYPE_TENSOR &&
               (t->elem == ELEM_F16 || t->elem == ELEM_BF16);
    }
    return half && r->parts && r->parts->ncross > 0;
}

/* Prints the command that runs the split in `folder`, and the option that compares its outputs with the outputs of the
 * model, with a tolerance where parts round otherwise (rounds_at_cuts()).  If a file of weights is missing, says where
 * to put it first.  model: path of the model; NULL: it did not come from a file. */
static void print_runner(FILE *f, const struct result *r, const char *folder, const char *model,
                         struct arena *a)
{
    const char *missing = missing_file(r->scene.m);
    missing = missing ? utf8_text(a, missing) : NULL;
    size_t n = strlen(folder);
    assert(n > 0);
    if (missing) {
        fputs("put ", f);
        put_shell_word(f, missing);
        fputs(" in its place, then ", f);
    }
    fputs("run it: python3 ", f);
    put_shell_word(f, arena_fmt(a, "%s%srun_split.py", folder, folder[n - 1] == '/' ? "" : "/"));
    putc('\n', f);
    if (!model)
        return;
    fputs("to compare with the whole model, add --verify ", f);
    put_shell_word(f, model);
    fputs(rounds_at_cuts(r) ? " --tolerance 1e-2\n" : "\n", f);
}

void plan_print(FILE *f, const struct result *r, const char *split_folder)
{
    const struct module *m = r->scene.m;
    struct arena *a = arena_new(m->mem);
    const struct exec_shows *shows = exec_kind(&r->scene.model)->shows;
    uint32_t estimated = estimated_sizes(r);
    if (estimated)
        plan_print_words(f, r,
                         arena_fmt(a,
                                   "for estimated sizes: %u.%u %% of the time depends on sizes "
                                   "that are not known (--dim '?=N')",
                                   estimated / 10, estimated % 10),
                         /*at=*/0, /*indent=*/2);
    if (module_left_out(m, a))
        plan_print_words(f, r, utf8_text(a, module_left_out(m, a)), /*at=*/0, /*indent=*/2);
    shows->gain(f, r, a);
    if (r->assumed)
        plan_print_words(f, r, arena_fmt(a, "assuming %s", utf8_text(a, r->assumed)), /*at=*/0,
                         /*indent=*/2);
    print_reserve(f, r->scene.cluster);
    shows->report(f, r, a);
    print_objective(f, r, a);
    report_sharding(f, r, a);
    const char *why, *settings = r->annotated ? layer_assignment(r, a, &why) : NULL;
    if (settings)
        fprintf(f,
                "ONNX Runtime, whole model:\n  session.layer_assignment_settings=\"%s\"\n"
                "  (a device without a provider is only logged: see what the session's\n"
                "  get_provider_graph_assignment_info() says)\n",
                utf8_text(a, settings));
    if (split_folder)
        print_runner(
            f, r, utf8_text(a, split_folder),
            m->nfile > 1 && m->file[1].nowhere ? NULL : utf8_text(a, module_str(m, m->path)), a);
    arena_free(a);
}
