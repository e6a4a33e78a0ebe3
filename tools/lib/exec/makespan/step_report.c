/* The report of a makespan: its settings, its critical chain and its parts (step_shown.h). */
#include "tools/lib/exec/makespan/step_shown.h"

#include "ir/base/numbers.h"
#include "ir/base/page.h"
#include "ir/base/utf8.h"
#include "ir/exec/evaluate.h"

enum { SHOWN = 12 }; /* most lines of the critical chain that are shown */

/* Returns the run of the step, which the verdict has. */
static const struct step_run *run_of(const struct result *r)
{
    return r->verdict->run;
}

/* Prints the settings of the step, and number and bytes of its transfers. */
static void print_transfers(FILE *f, const struct result *r)
{
    const struct task_graph *g = &run_of(r)->g;
    uint32_t n = 0;
    int64_t bytes = 0;
    char text[UNIT_TEXT];
    for (uint32_t i = 0; i < g->ntask; i++) {
        if (g->task[i].kind == STEP_COMPUTE)
            continue;
        vid v = r->scene.place->net_value[g->task[i].number];
        n++;
        bytes = sat_add(bytes, r->scene.m->cost->bytes[v]);
    }
    const struct exec_model *e = &r->scene.model;
    fprintf(f, "network %s, contention %s, dispatch %s, memory %s", network_name[e->step.network],
            contention_name[e->step.contention], dispatch_name[e->step.dispatch],
            memory_model_name[exec_memory(e)]);
    if (e->optimizer)
        fprintf(f, ", optimizer %u", e->optimizer);
    fprintf(f, "\n%u transfer%s, %s\n", n, n == 1 ? "" : "s", bytes_short(text, bytes));
}

/* A line of the critical chain: one transfer, or consecutive nodes of one device. */
struct stretch {
    uint32_t from, to; /* its items are chain[from .. to) */
    int64_t time;      /* ps from the start of the first item to the end of the last one */
};

/* Returns the task of an item. */
static const struct task *task_of(const struct result *r, uint32_t item)
{
    return &run_of(r)->g.task[task_of_item(&run_of(r)->g, item)];
}

/* Returns the stretch that begins at chain[at]; n: number of items on the chain. */
static struct stretch next_stretch(const struct result *r, const uint32_t *chain, uint32_t n,
                                   uint32_t at)
{
    const struct task *first = task_of(r, chain[at]);
    struct stretch s = {.from = at, .to = at + 1};
    while (first->kind == STEP_COMPUTE && s.to < n) {
        const struct task *t = task_of(r, chain[s.to]);
        if (t->kind != STEP_COMPUTE || t->from != first->from)
            break;
        s.to++;
    }
    uint32_t last = chain[s.to - 1];
    const int64_t *start = run_of(r)->t.start;
    s.time = start[last] + task_of(r, last)->time - start[chain[at]];
    return s;
}

/* Prints the line of a stretch: its time, where it was, and which value or nodes it is. */
static void print_stretch(FILE *f, const struct result *r, const uint32_t *chain,
                          const struct stretch *s, struct arena *a)
{
    const struct cluster *c = r->scene.cluster;
    const struct task *t = task_of(r, chain[s->from]);
    const struct task *last = task_of(r, chain[s->to - 1]);
    char time[UNIT_TEXT], bytes[UNIT_TEXT];
    const char *what = NULL, *where = cluster_device_name(c, a, t->from);
    if (t->kind != STEP_COMPUTE) {
        vid v = r->scene.place->net_value[t->number];
        what = arena_fmt(a, "%s to %s: %s, %s", t->kind == STEP_IN ? "host" : where,
                         t->kind == STEP_OUT ? "host" : cluster_device_name(c, a, t->to),
                         utf8_text(a, value_name(r->scene.m, v)),
                         bytes_short(bytes, r->scene.m->cost->bytes[v]));
    } else if (s->to - s->from == 1) {
        what = arena_fmt(a, "%s: %s", where, utf8_text(a, node_name(r->scene.m, t->number)));
    } else {
        what = arena_fmt(a, "%s: %u nodes, %s to %s", where, s->to - s->from,
                         utf8_text(a, node_name(r->scene.m, t->number)),
                         utf8_text(a, node_name(r->scene.m, last->number)));
    }
    plan_print_words(f, r, arena_fmt(a, "  %10s  %s", time_short(time, s->time), what), /*at=*/0,
                     /*indent=*/14);
}

/* Prints the critical chain; of a long one only the first and the last lines. */
static void print_chain(FILE *f, const struct result *r, struct arena *a)
{
    uint32_t n, lines = 0;
    const uint32_t *chain = timeline_chain(&run_of(r)->t, &n, a);
    for (uint32_t at = 0; at < n; lines++)
        at = next_stretch(r, chain, n, at).to;
    fprintf(f, "critical chain, whose tasks set the makespan:\n");
    for (uint32_t at = 0, k = 0; at < n; k++) {
        struct stretch s = next_stretch(r, chain, n, at);
        at = s.to;
        /* line k of `lines`: shown if it is among the first or the last SHOWN / 2 */
        if (k < SHOWN / 2 || k + SHOWN / 2 >= lines)
            print_stretch(f, r, chain, &s, a);
        else if (k == SHOWN / 2)
            fprintf(f, "  %10s  ... %u more\n", "", lines - SHOWN);
    }
}

/* If the whole model as one part takes less than `parts` ps on a device that can hold it, prints which class of devices
 * takes least, the options that ask for that plan, and the time.  The plan's parts, which wait for all that they read,
 * are not worth it then. */
static void print_alone(FILE *f, const struct result *r, int64_t parts, struct arena *a)
{
    const struct cluster *c = r->scene.cluster;
    const struct device_class *best = NULL;
    int32_t *dev = arena_array(a, r->scene.m->nnode, sizeof *dev);
    char text[UNIT_TEXT];
    for (uint32_t k = 0, first = 0; k < c->ncls; first += c->cls[k++].count) {
        if (!c->cls[k].count)
            continue;
        for (nid n = 1; n < r->scene.m->nnode; n++)
            dev[n] = (int32_t)first;
        const struct plan plan = {.dev = dev};
        struct evaluation e = plan_evaluate(&r->scene, &plan, a);
        if (!evaluation_holds(&e, /*over_memory=*/false))
            continue;
        const struct parts *whole = parts_of_plan(&(struct staged_plan){&r->scene, &plan, NULL}, a);
        int64_t time = step_of_parts(&r->scene, &plan, whole, a);
        if (time < parts) {
            parts = time;
            best = &c->cls[k];
        }
    }
    if (best)
        fprintf(f, "as 1, on one %s (--judge=makespan -p one-place): %s\n", best->name,
                time_short(text, parts));
}

/* Prints the makespan of the plan's parts, "as 3 parts, ...: 2.1 ms (+4.0 %)".  Then prints the makespan of the parts
 * that the other value of --cut makes: of parts cut at transfers if they take less ("as 17, with --cut=transfers: 2.0
 * ms"), or of few parts if they are fewer.  If the plan's parts take more than its nodes, calls print_alone(). */
static void print_parts(FILE *f, const struct result *r, struct arena *a)
{
    char text[UNIT_TEXT];
    int64_t value = r->verdict->value, more = r->parts_value - value, other = value;
    fprintf(f, "as %u part%s, each of which waits for all that it reads: %s", r->parts->nparts,
            r->parts->nparts == 1 ? "" : "s", time_short(text, r->parts_value));
    if (more && value > 0)
        fprintf(f, " (%+.1f %%)", 100.0 * (double)more / (double)value);
    bool fine = r->parts_fine;
    const struct parts *parts = r->parts;
    if (fine || more > 0)
        parts =
            step_parts(&r->scene, r->plan, fine ? PARTS_FEW : PARTS_TRANSFERS, &other, &fine, a);
    if (fine != r->parts_fine && (fine ? other < r->parts_value : parts->nparts < r->parts->nparts))
        fprintf(f, "\nas %u, with --cut=%s: %s", parts->nparts, fine ? "transfers" : "few",
                time_short(text, other));
    fputs("\n", f);
    if (more > 0)
        print_alone(f, r, smaller(other, r->parts_value), a);
}

void step_report(FILE *f, const struct result *r, struct arena *a)
{
    plan_print_tables(f, r, a);
    print_transfers(f, r);
    print_chain(f, r, a);
    print_parts(f, r, a);
}

void step_cut(struct result *r, enum parts_cut how, struct arena *a)
{
    r->parts = step_parts(&r->scene, r->plan, how, &r->parts_value, &r->parts_fine, a);
    if (how == PARTS_TRANSFERS && !r->parts_fine)
        diag_note(r->diag, "--cut=transfers: parts that end at transfers could not follow each "
                           "other in this plan's order: there are as few as can be");
}
