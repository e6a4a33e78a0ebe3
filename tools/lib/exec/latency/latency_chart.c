/* The chart of one sample alone by subgraphs (ir/exec/latency/latency.h): a lane for each device with bars for its
 * subgraphs, whose transfers in and out are pale; a host has a bar for each node.  If several subgraphs of a device run
 * at the same time (--cpus=unbounded, or --pieces=apart), each bar takes the first free row of the lane; if all
 * MOST_ROWS rows are taken, the first one, over another bar. */
#include "backends/label.h"
#include "ir/base/strings.h"
#include "tools/lib/exec/latency/latency_shown.h"

#include <assert.h>

enum { MOST_ROWS = 6 }; /* the most rows of a lane */
enum { HUE_FORWARD, HUE_BACKWARD, HUE_HOST };

/* [HUE_*] colours of bars */
static const char *const colours[] = {"#7fb3e6", "#f0a04b", "#6cc3a4"};

/* The chart while it is made, and for its function describe().  Items are subgraphs. */
struct latency_chart {
    const struct result *r;
    const struct latency_run *run; /* the run that the verdict has */
    struct chart *c;
    struct arena *a;
    const uint32_t *on; /* [subgraph] device that runs the subgraph */
    uint32_t *lane;     /* [device] lane of the chart; NO_ITEM: the device is idle and not shown */
    uint8_t *critical;  /* [subgraph] 1: on the critical chain (events.h) */
    uint32_t ncritical; /* number of subgraphs on the critical chain */
    bool used_hue[3];   /* [hue] some bar has it */
};

/* Returns the hue of the bar of subgraph i: HUE_*. */
static uint8_t hue_of(const struct latency_chart *x, uint32_t i)
{
    const struct subgraph *k = &x->run->k.sub[i];
    const uint8_t *backward = x->r->scene.m->backward;
    return k->back || (backward && backward[k->first]) ? HUE_BACKWARD
           : k->host                                   ? HUE_HOST
                                                       : HUE_FORWARD;
}

/* Finds the critical chain: makes x->critical and x->ncritical. */
static void mark_chain(struct latency_chart *x)
{
    const uint32_t *chain = timeline_chain(&x->run->t, &x->ncritical, x->a);
    x->critical = arena_alloc(x->a, (size_t)x->run->k.n + 1);
    for (uint32_t i = 0; i < x->ncritical; i++)
        x->critical[chain[i]] = 1;
}

/* Makes a lane for each device that has nodes. */
static void make_lanes(struct latency_chart *x)
{
    const struct cluster *k = x->r->scene.cluster;
    const struct verdict *v = x->r->verdict;
    char time[UNIT_TEXT];
    x->c->busy = "busy";
    x->c->lane = arena_array(x->a, (size_t)k->ndev + 1, sizeof *x->c->lane);
    x->lane = arena_array(x->a, (size_t)k->ndev + 1, sizeof *x->lane);
    for (uint32_t d = 0; d < k->ndev; d++) {
        x->lane[d] = NO_ITEM;
        if (!v->load[d].nodes)
            continue;
        x->lane[d] = x->c->nlane;
        x->c->lane[x->c->nlane++] = (struct chart_lane){
            .name = cluster_device_name(k, x->a, d),
            .class = class_of(x->r, d)->name,
            .dev = d,
            .rows = 1,
            .busiest = d == v->bottleneck && v->load[d].load > 0,
            .busy = arena_fmt(x->a, "%s, %d %%", time_short(time, v->load[d].load),
                              percent_of(v->load[d].load, x->run->t.end))};
    }
}

/* Sets the rows of bars that overlap on a lane: each bar takes the first free row; if none is free, the first one. */
static void make_rows(struct latency_chart *x)
{
    struct chart *c = x->c;
    /* [lane][row] ps at which the last bar of the row ends */
    int64_t (*until)[MOST_ROWS] = arena_array(x->a, (size_t)c->nlane + 1, sizeof *until);
    for (size_t i = 0; i < c->nbar; i++) {
        struct chart_bar *b = &c->bar[i];
        uint32_t row = 0;
        while (row + 1 < MOST_ROWS && until[b->lane][row] > b->at)
            row++;
        b->row = until[b->lane][row] > b->at ? 0 : row;
        until[b->lane][b->row] = larger(b->end, until[b->lane][b->row]);
        c->lane[b->lane].rows = larger_u32(c->lane[b->lane].rows, b->row + 1);
    }
}

/* Makes a bar for each subgraph. */
static void make_bars(struct latency_chart *x)
{
    struct chart *c = x->c;
    c->bar = arena_array(x->a, (size_t)x->run->k.n + 1, sizeof *c->bar);
    for (uint32_t i = 0; i < x->run->k.n; i++) {
        uint8_t hue = hue_of(x, i);
        int64_t at = x->run->t.start[i];
        x->used_hue[hue] = true;
        c->bar[c->nbar++] = (struct chart_bar){.at = at,
                                               .end = sat_add(at, x->run->g.task[i].time),
                                               .lane = x->lane[x->on[i]],
                                               .item = i,
                                               .flow = x->critical[i],
                                               .hue = hue,
                                               .critical = x->critical[i]};
    }
    chart_sort_bars(c);
    make_rows(x);
    c->nflow = 1;
}

/* chart.describe: returns the texts on a subgraph, or on a node of a host. */
static struct chart_detail describe(const struct chart *c, uint32_t item, struct arena *a)
{
    static const char *const category[] = {"forward", "backward", "host"};
    const struct latency_chart *x = c->of;
    const struct subgraph *k = &x->run->k.sub[item];
    const struct subgraph_time *t = &x->run->time[item];
    char in[UNIT_TEXT], compute[UNIT_TEXT], out[UNIT_TEXT];
    const char *full = subgraph_text(&x->r->scene, &x->run->k, item, a);
    const char *name = shorten_name(node_name(x->r->scene.m, k->first), a);
    if (!k->host) {
        full = arena_fmt(a, "%s: in %s, computing %s, out %s", full, time_short(in, t->in),
                         time_short(compute, t->compute), time_short(out, t->out));
        name = arena_fmt(a, "subgraph %u%s", k->slot, k->back ? ", backward" : "");
    }
    struct chart_detail d = {.name = name,
                             .category = category[hue_of(x, item)],
                             .full = full,
                             .brief = name,
                             .least = k->host ? NULL : arena_fmt(a, "%u", k->slot),
                             .in = t->in,
                             .out = t->out,
                             .fact = {{"nodes", NULL, k->nnode}, {"slot", NULL, k->slot}},
                             .nfact = k->host ? 1 : 2};
    if (x->critical[item])
        mark_critical(&d, a);
    return d;
}

/* Writes title, subtitle and legend of the chart. */
static void make_texts(struct latency_chart *x)
{
    struct chart *c = x->c;
    char end[UNIT_TEXT];
    const struct latency_model *how = &x->r->scene.model.latency;
    static const char *const words[] = {"a subgraph", "backward", "node of a host"};
    uint32_t ndev = x->r->scene.cluster->ndev, of_accelerators = 0, host_nodes = 0;
    for (uint32_t i = 0; i < x->run->k.n; i++)
        if (x->run->k.sub[i].host)
            host_nodes += x->run->k.sub[i].nnode; /* the nodes of an atom are one subgraph */
        else
            of_accelerators++;
    c->title = arena_fmt(x->a, "%s: one sample on %u device%s, latency %s",
                         shorten_name(label_plain(x->a, c->model), x->a), ndev,
                         ndev == 1 ? "" : "s", time_short(end, x->run->t.end));
    c->subtitle = arena_fmt(
        x->a,
        "cpus %s, pieces %s; %u subgraph%s of accelerators, %u node%s of hosts; %u of these critical",
        cpus_name[how->cpus], x->run->k.slotted ? "by slots" : pieces_name[how->pieces],
        of_accelerators, of_accelerators == 1 ? "" : "s", host_nodes, host_nodes == 1 ? "" : "s",
        x->ncritical);
    c->key = arena_array(x->a, 5, sizeof *c->key);
    c->colour = colours;
    c->dense = true;
    for (uint32_t h = 0; h < 3; h++)
        if (x->used_hue[h])
            c->key[c->nkey++] = (struct chart_key){
                colours[h], h == HUE_FORWARD && x->used_hue[HUE_BACKWARD] ? "forward" : words[h]};
    c->key[c->nkey++] = (struct chart_key){"#eef3f8", "pale: transfers"};
    c->key[c->nkey++] = (struct chart_key){"#b3261e", "critical chain"};
}

int chart_of_latency(struct chart *c, const struct result *r, int64_t samples, uint32_t most,
                     struct arena *a)
{
    const struct latency_run *run = r->verdict->run;
    (void)samples;
    (void)most;
    assert(run && run->t.status == RUN_DONE);
    struct latency_chart *x = arena_alloc(a, sizeof *x);
    *c = (struct chart){.model = path_base(module_str(r->scene.m, r->scene.m->path)),
                        .end = run->t.end,
                        .of = x,
                        .describe = describe};
    *x = (struct latency_chart){.r = r, .run = run, .c = c, .a = a};
    x->on = latency_devices(&r->scene, run, a);
    mark_chain(x);
    make_lanes(x);
    make_bars(x);
    make_texts(x);
    return 0;
}
