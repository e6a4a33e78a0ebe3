/* The report of a latency: its settings, its critical chain and its parts (latency_shown.h). */
#include "tools/lib/exec/latency/latency_shown.h"

#include "ir/base/page.h"
#include "ir/base/utf8.h"
#include "ir/exec/latency/latency_parts.h"

enum { SHOWN = 12 }; /* most lines of the critical chain that are shown */

const char *latency_shape(const struct result *r, struct arena *a)
{
    const struct latency_run *run = r->verdict->run;
    const struct subgraphs *k = &run->k;
    uint32_t *of = arena_array(a, (size_t)r->scene.cluster->ndev + 1, sizeof *of);
    /* of: [device] number of its subgraphs; all: number of subgraphs of accelerators; cut: number of accelerators with
     * several subgraphs; pieces: number of subgraphs of these `cut` accelerators; by_pass: number of accelerators whose
     * subgraphs are several only because they are of two passes */
    uint32_t all = 0, cut = 0, pieces = 0, by_pass = 0;
    for (uint32_t i = 0; i < k->n; i++)
        if (!k->sub[i].host) {
            all++;
            of[k->sub[i].dev]++;
        }
    for (uint32_t d = 0; d < r->scene.cluster->ndev; d++) {
        bool several = of[d] > 1 && !k->slotted;
        if (several && r->scene.m->backward && subgraphs_by_pass(&r->scene, r->plan->dev, d, a)) {
            by_pass++;
        } else if (several) {
            cut++;
            pieces += of[d];
        }
    }
    if (!all)
        return "no subgraphs, hosts alone";
    if (!cut)
        return by_pass ? "contiguous subgraphs of each pass" : "contiguous subgraphs";
    return arena_fmt(a, "not contiguous, %u accelerator%s cut into %u subgraphs%s", cut,
                     cut == 1 ? "" : "s", pieces,
                     r->scene.model.latency.pieces == PIECES_APART ? " that may run at once" : "");
}

/* Prints the settings, the numbers of subgraphs of accelerators and of nodes on hosts, and the latency with an
 * unlimited number of CPUs if it is another one. */
static void print_basis(FILE *f, const struct result *r, struct arena *a)
{
    const struct latency_run *run = r->verdict->run;
    const struct latency_model *how = &r->scene.model.latency;
    char text[UNIT_TEXT];
    uint32_t of_accelerators = 0, host_nodes = 0;
    for (uint32_t i = 0; i < run->k.n; i++)
        if (run->k.sub[i].host)
            host_nodes += run->k.sub[i].nnode; /* the nodes of an atom are one subgraph */
        else
            of_accelerators++;
    fprintf(f, "cpus %s, pieces %s; %u subgraph%s of accelerators, %u node%s of hosts\n",
            cpus_name[how->cpus], run->k.slotted ? "by slots" : pieces_name[how->pieces],
            of_accelerators, of_accelerators == 1 ? "" : "s", host_nodes,
            host_nodes == 1 ? "" : "s");
    if (!host_nodes || how->cpus != CPUS_LIST)
        return;
    struct scene endless = r->scene;
    endless.model.latency.cpus = CPUS_UNBOUNDED;
    int64_t value = latency_value(&endless, r->plan->dev, r->plan->slot, a);
    if (value != r->verdict->value)
        fprintf(f, "with --cpus=unbounded %s\n", time_short(text, value));
}

/* A line of the critical chain: one subgraph, or consecutive nodes of hosts. */
struct stretch {
    uint32_t from, to; /* its subgraphs are chain[from .. to) */
};

/* Returns the stretch that begins at chain[at]; n: number of subgraphs on the chain. */
static struct stretch next_stretch(const struct latency_run *run, const uint32_t *chain, uint32_t n,
                                   uint32_t at)
{
    struct stretch s = {at, at + 1};
    while (run->k.sub[chain[at]].host && s.to < n && run->k.sub[chain[s.to]].host)
        s.to++;
    return s;
}

/* Returns the time at which the last input of subgraph i arrives, ps from the start of the run. */
static int64_t ready_at(const struct latency_run *run, uint32_t i)
{
    int64_t at = 0;
    for_row (on, run->g.waits, i) {
        int64_t end = run->t.start[on] + run->g.task[on].time;
        at = larger(end, at);
    }
    return at;
}

/* Returns the time, ps, in which at least one subgraph of a stretch has all its inputs and waits for a device.  Times
 * in which several subgraphs wait count once: goes from the last subgraph to the first, and counts of each only the
 * time before `from`, at which a later subgraph was ready. */
static int64_t waiting_of(const struct latency_run *run, const uint32_t *chain,
                          const struct stretch *s)
{
    int64_t waited = 0, from = INT64_MAX;
    for (uint32_t k = s->to; k-- > s->from;) {
        int64_t ready = ready_at(run, chain[k]), until = smaller(run->t.start[chain[k]], from);
        if (until > ready)
            waited += until - ready;
        from = smaller(from, ready);
    }
    return waited;
}

/* Prints the line of a stretch: time spent waiting for a device, transfers in, computing, transfers out, and its
 * name. */
static void print_stretch(FILE *f, const struct result *r, const uint32_t *chain,
                          const struct stretch *s, struct arena *a)
{
    const struct latency_run *run = r->verdict->run;
    struct subgraph_time sum = {0};
    uint32_t nodes = 0;
    char text[4][UNIT_TEXT];
    for (uint32_t k = s->from; k < s->to; k++) {
        const struct subgraph_time *t = &run->time[chain[k]];
        sum.in = sat_add(sum.in, t->in);
        sum.compute = sat_add(sum.compute, t->compute);
        sum.out = sat_add(sum.out, t->out);
        nodes += run->k.sub[chain[k]].nnode;
    }
    const char *what =
        s->to - s->from == 1
            ? utf8_text(a, subgraph_text(&r->scene, &run->k, chain[s->from], a))
            : arena_fmt(a, "%u nodes of hosts, '%s' to '%s'", nodes,
                        utf8_text(a, node_name(r->scene.m, run->k.sub[chain[s->from]].first)),
                        utf8_text(a, node_name(r->scene.m, run->k.sub[chain[s->to - 1]].first)));
    fprintf(f, "  %9s %9s %9s %9s  ", time_short(text[0], waiting_of(run, chain, s)),
            time_short(text[1], sum.in), time_short(text[2], sum.compute),
            time_short(text[3], sum.out));
    enum { NAME_AT = 43 }; /* columns of the four times before the name */
    plan_print_words(f, r, what, NAME_AT, NAME_AT);
}

/* Prints the critical chain; of a long one only the first and the last lines. */
static void print_chain(FILE *f, const struct result *r, struct arena *a)
{
    const struct latency_run *run = r->verdict->run;
    uint32_t n, lines = 0;
    const uint32_t *chain = timeline_chain(&run->t, &n, a);
    for (uint32_t at = 0; at < n; lines++)
        at = next_stretch(run, chain, n, at).to;
    fprintf(
        f,
        "critical chain, whose tasks set the latency\n(waiting: for a device, with all inputs there):\n"
        "  %9s %9s %9s %9s\n",
        "waiting", "in", "computing", "out");
    for (uint32_t at = 0, k = 0; at < n; k++) {
        struct stretch s = next_stretch(run, chain, n, at);
        at = s.to;
        /* line k of `lines`: shown if it is among the first or the last SHOWN / 2 */
        if (k < SHOWN / 2 || k + SHOWN / 2 >= lines)
            print_stretch(f, r, chain, &s, a);
        else if (k == SHOWN / 2)
            fprintf(f, "  %39s  ... %u more\n", "", lines - SHOWN);
    }
}

void latency_report(FILE *f, const struct result *r, struct arena *a)
{
    char text[UNIT_TEXT];
    int64_t value = r->verdict->value, more = r->parts_value - value;
    plan_print_tables(f, r, a);
    print_basis(f, r, a);
    print_chain(f, r, a);
    fprintf(f, "as %u part%s, each of which waits for all that it reads: %s", r->parts->nparts,
            r->parts->nparts == 1 ? "" : "s", time_short(text, r->parts_value));
    if (more && value > 0)
        fprintf(f, " (%+.1f %%)", 100.0 * (double)more / (double)value);
    fputs("\n", f);
}

void latency_cut(struct result *r, enum parts_cut how, struct arena *a)
{
    const struct latency_run *run = r->verdict->run;
    struct plan *p = arena_alloc(a, sizeof *p);
    (void)how;
    *p = *r->plan;
    p->dev = latency_nodes_ran(&r->scene, run, a);
    r->plan = p;
    r->parts = latency_parts(&r->scene, run, &r->parts_value, &r->part_slot, a);
}
