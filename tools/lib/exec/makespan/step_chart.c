/* The chart of one sample alone (ir/exec/makespan/step_verdict.h): what each device computes, and the transfers over
 * its ports, channel or links.
 *
 * The lanes of all devices are shown, and other lanes of the event core if a transfer used them.  A transfer that
 * holds no lane is shown on an extra lane: "out" of the device that sends it or, if it comes from the host, "in" of
 * the device that receives it.  Transfers on an extra lane may overlap: each takes the first free row, and if all
 * MOST_ROWS rows are taken, the last one, over another bar. */
#include "backends/label.h"
#include "ir/base/strings.h"
#include "tools/lib/exec/makespan/step_shown.h"

#include <assert.h>
#include <string.h>

enum { MOST_ROWS = 6 }; /* the most rows of a lane */
enum { HUE_FORWARD, HUE_BACKWARD, HUE_TRANSFER };

/* [HUE_*] colours of bars */
static const char *const colours[] = {"#7fb3e6", "#f0a04b", "#6cc3a4"};

/* A wire is what the chart may show as a lane: a lane of the event core, or an extra lane for transfers without a
 * lane.  Wire w < nlane is lane w of the event core, nlane + d is "out" of device d, nlane + ndev + d is "in" of
 * device d. */
struct wire {
    uint32_t lane; /* lane of the chart; set if the wire is shown */
    uint32_t task; /* the last task that uses the wire; NO_ITEM: none */
    uint32_t n;    /* number of tasks that use the wire */
    uint32_t dev;  /* device that the wire is drawn under */
    int64_t bytes; /* bytes of all transfers over the wire */
};

/* The chart while it is made, and for its function describe().  Tasks have one item each, of the same number. */
struct step_chart {
    const struct result *r;
    const struct task_graph *g; /* task graph of the verdict's run */
    const struct timeline *t;   /* timeline of the verdict's run */
    struct chart *c;
    struct arena *a;
    struct wire *wire; /* [nwire] */
    uint32_t nwire;
    uint8_t *critical;        /* [item] 1: on the critical chain (events.h) */
    uint32_t ncritical[2];    /* number of nodes [0] and transfers [1] on the critical chain */
    int64_t critical_time[2]; /* ps of these nodes and transfers */
    uint32_t transfers;       /* number of all transfers */
    int64_t bytes;            /* bytes of all transfers */
    bool training;            /* some nodes are of the backward pass */
};

/* Whether a task moves a value, instead of running a node. */
static bool is_transfer(const struct task *t)
{
    return t->kind != STEP_COMPUTE;
}

/* Returns the value that a transfer moves. */
static vid value_of(const struct step_chart *x, const struct task *t)
{
    assert(is_transfer(t));
    return x->r->scene.place->net_value[t->number];
}

/* Returns the bytes that a task moves; 0 for nodes. */
static int64_t bytes_of(const struct step_chart *x, const struct task *t)
{
    return is_transfer(t) ? x->r->scene.m->cost->bytes[value_of(x, t)] : 0;
}

/* Returns the hue of a task's bars: HUE_*. */
static uint8_t hue_of(const struct step_chart *x, const struct task *t)
{
    const uint8_t *backward = x->r->scene.m->backward;
    if (is_transfer(t))
        return HUE_TRANSFER;
    return backward && backward[t->number] ? HUE_BACKWARD : HUE_FORWARD;
}

/* Returns the name of the place where a task begins (end 0) or ends (end 1): a device, "acc0", or for transfers
 * "host". */
static const char *place_name(const struct step_chart *x, const struct task *t, int end,
                              struct arena *a)
{
    if (t->kind == (end ? STEP_OUT : STEP_IN))
        return "host";
    return cluster_device_name(x->r->scene.cluster, a, end ? t->to : t->from);
}

/* ---- the critical chain ------------------------------------------------------------------------- */

/* Finds the critical chain: makes x->critical, and adds up ncritical and critical_time. */
static void mark_chain(struct step_chart *x)
{
    uint32_t n;
    const uint32_t *chain = timeline_chain(x->t, &n, x->a);
    x->critical = arena_alloc(x->a, (size_t)x->t->nitem + 1);
    for (uint32_t i = 0; i < n; i++) {
        const struct task *t = &x->g->task[chain[i]];
        x->critical[chain[i]] = 1;
        x->ncritical[is_transfer(t)]++;
        int64_t *time = &x->critical_time[is_transfer(t)];
        *time = sat_add(*time, t->time);
    }
}

/* ---- lanes -------------------------------------------------------------------------------------- */

/* Writes to wire[] the wires that show a task and returns their number, 1 or 2. */
static uint32_t wires_of(const struct step_chart *x, const struct task *t, uint32_t wire[2])
{
    uint32_t n = 0;
    for (int i = 0; i < 2; i++)
        if (t->lane[i] != NO_LANE)
            wire[n++] = t->lane[i];
    if (!n)
        wire[n++] = x->g->nlane + (t->kind == STEP_IN ? x->g->ndev : 0) + t->from;
    return n;
}

/* Returns the device that a wire is drawn under: its own; the sender, if the wire is a link (CONTENTION_LINK).
 * Ports and channels are numbered in the order of devices. */
static uint32_t wire_device(const struct step_chart *x, uint32_t w)
{
    const struct wire *wire = &x->wire[w];
    if (w >= x->g->nlane)
        return (w - x->g->nlane) % x->g->ndev;
    if (w >= x->g->ndev && x->r->scene.model.step.contention == CONTENTION_LINK)
        return wire->task == NO_ITEM ? 0 : x->g->task[wire->task].from;
    return w % x->g->ndev;
}

/* Makes x->wire from the tasks, and counts the chart's bars and x->transfers. */
static void use_wires(struct step_chart *x)
{
    x->nwire = x->g->nlane + 2 * x->g->ndev;
    x->wire = arena_array(x->a, (size_t)x->nwire + 1, sizeof *x->wire);
    for (uint32_t w = 0; w < x->nwire; w++)
        x->wire[w].task = NO_ITEM;
    for (uint32_t i = 0; i < x->g->ntask; i++) {
        const struct task *t = &x->g->task[i];
        uint32_t wire[2], n = wires_of(x, t, wire);
        x->c->nbar += n;
        x->transfers += is_transfer(t);
        x->training = x->training || hue_of(x, t) == HUE_BACKWARD;
        x->bytes = sat_add(x->bytes, bytes_of(x, t));
        for (uint32_t k = 0; k < n; k++) {
            struct wire *w = &x->wire[wire[k]];
            w->task = i;
            w->n++;
            w->bytes = sat_add(w->bytes, bytes_of(x, t));
        }
    }
    for (uint32_t w = 0; w < x->nwire; w++)
        x->wire[w].dev = wire_device(x, w);
}

/* Returns the name of a wire's lane: "acc0", "acc0 out", "acc0 channel", "acc0 to acc1". */
static const char *wire_name(const struct step_chart *x, uint32_t w)
{
    const char *dev = cluster_device_name(x->r->scene.cluster, x->a, x->wire[w].dev);
    if (w < x->g->ndev)
        return dev;
    if (w >= x->g->nlane)
        return arena_fmt(x->a, "%s %s", dev, w < x->g->nlane + x->g->ndev ? "out" : "in");
    const struct task *t = &x->g->task[x->wire[w].task];
    switch (x->r->scene.model.step.contention) {
    case CONTENTION_LINK:
        return arena_fmt(x->a, "%s to %s", place_name(x, t, 0, x->a), place_name(x, t, 1, x->a));
    case CONTENTION_HALF:
    case CONTENTION_BAECHI:
        return arena_fmt(x->a, "%s channel", dev);
    case CONTENTION_RX:
        return arena_fmt(x->a, "%s in", dev);
    default:
        return arena_fmt(x->a, "%s %s", dev, w < 2 * x->g->ndev ? "out" : "in");
    }
}

/* Returns the text beside a wire's lane: "3.2 ms, 80 %, 14 MiB"; without bytes if they are 0, as in profiles, which
 * do not tell bytes. */
static const char *busy_text(const struct step_chart *x, uint32_t w)
{
    char time[UNIT_TEXT], bytes[UNIT_TEXT];
    const struct wire *wire = &x->wire[w];
    const char *text;
    if (!wire->n)
        return "idle";
    if (w < x->g->nlane)
        text = arena_fmt(x->a, "%s, %d %%", time_short(time, x->t->busy[w]),
                         percent_of(x->t->busy[w], x->t->end));
    else
        text = arena_fmt(x->a, "%u transfer%s", wire->n, wire->n == 1 ? "" : "s");
    if (!wire->bytes)
        return text;
    return arena_fmt(x->a, "%s, %s", text, bytes_short(bytes, wire->bytes));
}

/* Returns the most ps for which a device computes. */
static int64_t most_computing(const struct step_chart *x)
{
    int64_t most = 0;
    for (uint32_t d = 0; d < x->g->ndev; d++)
        most = larger(x->t->busy[d], most);
    return most;
}

/* Makes the chart's lanes, device by device: the device itself, then its wires that some task uses. */
static void make_lanes(struct step_chart *x)
{
    struct chart *c = x->c;
    struct pairs wire = {.a = x->a}; /* (device, wire) for each wire that is shown */
    int64_t most = most_computing(x);
    for (uint32_t w = 0; w < x->nwire; w++)
        if (w < x->g->ndev || x->wire[w].n)
            pairs_add(&wire, x->wire[w].dev, w);
    struct csr of = pairs_rows(&wire, x->g->ndev);
    c->busy = "busy";
    c->lane = arena_array(x->a, (size_t)wire.n + 1, sizeof *c->lane);
    for (c->nlane = 0; c->nlane < wire.n; c->nlane++) {
        uint32_t w = of.to[c->nlane];
        x->wire[w].lane = c->nlane;
        c->lane[c->nlane] =
            (struct chart_lane){.name = wire_name(x, w),
                                .class = class_of(x->r, x->wire[w].dev)->name,
                                .dev = x->wire[w].dev,
                                .rows = 1,
                                .minor = w >= x->g->ndev,
                                .busiest = w < x->g->ndev && most > 0 && x->t->busy[w] == most,
                                .busy = busy_text(x, w)};
    }
}

/* ---- bars --------------------------------------------------------------------------------------- */

/* Sets the rows of bars on the extra lanes, where bars may overlap: each bar takes the first free row. */
static void make_rows(struct step_chart *x)
{
    struct chart *c = x->c;
    int64_t *free_at = arena_array(x->a, (size_t)c->nlane * MOST_ROWS + 1, sizeof *free_at);
    for (size_t i = 0; i < c->nbar; i++) {
        struct chart_bar *b = &c->bar[i];
        uint32_t wire[2], row = 0;
        int64_t *at = &free_at[(size_t)b->lane * MOST_ROWS];
        wires_of(x, &x->g->task[b->item], wire);
        if (wire[0] < x->g->nlane)
            continue;
        while (row + 1 < MOST_ROWS && at[row] > b->at)
            row++;
        at[row] = larger(at[row], b->end);
        b->row = row;
        c->lane[b->lane].rows = larger_u32(c->lane[b->lane].rows, row + 1);
    }
}

/* Makes the bars of all tasks, one on each wire that shows the task. */
static void make_bars(struct step_chart *x)
{
    struct chart *c = x->c;
    c->bar = arena_array(x->a, c->nbar + 1, sizeof *c->bar);
    c->nbar = 0;
    for (uint32_t i = 0; i < x->g->ntask; i++) {
        const struct task *t = &x->g->task[i];
        uint32_t wire[2], n = wires_of(x, t, wire);
        for (uint32_t k = 0; k < n; k++)
            c->bar[c->nbar++] = (struct chart_bar){.at = x->t->start[i],
                                                   .end = sat_add(x->t->start[i], t->time),
                                                   .lane = x->wire[wire[k]].lane,
                                                   .item = i,
                                                   .flow = x->critical[i],
                                                   .hue = hue_of(x, t),
                                                   .critical = x->critical[i]};
    }
    chart_sort_bars(c);
    c->nflow = 1;
    make_rows(x);
}

/* ---- names -------------------------------------------------------------------------------------- */

/* Returns the last component of a name: "MatMul" for "/layers.0/MatMul". */
static const char *last_name(const char *s)
{
    const char *slash = strrchr(s, '/');
    return slash && slash[1] ? slash + 1 : s;
}

/* Returns the texts on a node. */
static struct chart_detail describe_node(const struct step_chart *x, const struct task *t,
                                         struct arena *a)
{
    const struct module *m = x->r->scene.m;
    const char *name = node_name(m, t->number), *op = module_str(m, m->node[t->number].op);
    const char *pass = hue_of(x, t) == HUE_BACKWARD ? "backward" : x->training ? "forward" : NULL;
    return (struct chart_detail){
        .name = name,
        .category = pass ? pass : "computing",
        .full = arena_fmt(a, "%s (%s)%s%s", name, op, pass ? ", " : "", pass ? pass : ""),
        .brief = name,
        .least = last_name(name),
        .fact = {{"node", name, 0}, {"operator", op, 0}},
        .nfact = 2};
}

/* Returns the texts on a transfer. */
static struct chart_detail describe_transfer(const struct step_chart *x, const struct task *t,
                                             struct arena *a)
{
    char text[UNIT_TEXT];
    const char *bytes =
        bytes_of(x, t) ? arena_fmt(a, ", %s", bytes_short(text, bytes_of(x, t))) : "";
    const char *name = value_name(x->r->scene.m, value_of(x, t));
    const char *from = place_name(x, t, 0, a), *to = place_name(x, t, 1, a);
    return (struct chart_detail){.name = name,
                                 .category = "transfer",
                                 .full = arena_fmt(a, "%s%s, %s to %s", name, bytes, from, to),
                                 .brief = arena_fmt(a, "%s%s", last_name(name), bytes),
                                 .least = last_name(name),
                                 .fact = {{"value", name, 0},
                                          {"bytes", NULL, bytes_of(x, t)},
                                          {"from", from, 0},
                                          {"to", to, 0}},
                                 .nfact = 4};
}

/* chart.describe: returns the texts on an item. */
static struct chart_detail describe(const struct chart *c, uint32_t item, struct arena *a)
{
    const struct step_chart *x = c->of;
    const struct task *t = &x->g->task[item];
    struct chart_detail d = is_transfer(t) ? describe_transfer(x, t, a) : describe_node(x, t, a);
    if (x->critical[item])
        mark_critical(&d, a);
    return d;
}

/* ---- title, legend, memory ---------------------------------------------------------------------- */

/* Writes title and subtitle of the chart. */
static void make_title(struct step_chart *x)
{
    char end[UNIT_TEXT], bytes[UNIT_TEXT];
    const struct step_model *how = &x->r->scene.model.step;
    uint32_t ndev = x->g->ndev;
    x->c->title = arena_fmt(x->a, "%s: one sample on %u device%s, makespan %s",
                            shorten_name(label_plain(x->a, x->c->model), x->a), ndev,
                            ndev == 1 ? "" : "s", time_short(end, x->t->end));
    x->c->subtitle = arena_fmt(
        x->a,
        "network %s, contention %s, dispatch %s; critical chain: %u node%s (%.0f %% of the time), "
        "%u transfer%s (%.0f %%); %u transfer%s in all%s%s",
        network_name[how->network], contention_name[how->contention], dispatch_name[how->dispatch],
        x->ncritical[0], x->ncritical[0] == 1 ? "" : "s", share_of_end(x->t, x->critical_time[0]),
        x->ncritical[1], x->ncritical[1] == 1 ? "" : "s", share_of_end(x->t, x->critical_time[1]),
        x->transfers, x->transfers == 1 ? "" : "s", x->bytes ? ", " : "",
        x->bytes ? bytes_short(bytes, x->bytes) : "");
}

/* Makes the chart's legend. */
static void make_legend(struct step_chart *x)
{
    struct chart *c = x->c;
    c->key = arena_array(x->a, 4, sizeof *c->key);
    c->colour = colours;
    c->dense = true;
    if (x->training) {
        c->key[c->nkey++] = (struct chart_key){colours[HUE_FORWARD], "forward"};
        c->key[c->nkey++] = (struct chart_key){colours[HUE_BACKWARD], "backward"};
    } else {
        c->key[c->nkey++] = (struct chart_key){colours[HUE_FORWARD], "computing"};
    }
    if (x->transfers)
        c->key[c->nkey++] = (struct chart_key){colours[HUE_TRANSFER], "transfer"};
    c->key[c->nkey++] = (struct chart_key){"#b3261e", "critical chain"};
}

/* Makes the memory curve of each device. */
static void make_curves(struct step_chart *x)
{
    struct chart *c = x->c;
    struct memory_curve *of = memory_curves(x->g, x->t, x->a);
    c->ncurve = x->g->ndev;
    c->curve = arena_array(x->a, (size_t)c->ncurve + 1, sizeof *c->curve);
    for (uint32_t d = 0; d < c->ncurve; d++) {
        char peak[UNIT_TEXT], limit[UNIT_TEXT];
        int64_t memory = x->g->memory ? x->g->memory[d] : -1;
        const char *note = arena_fmt(x->a, "peak %s", bytes_short(peak, x->t->peak[d]));
        if (memory >= 0)
            note = arena_fmt(x->a, "%s of %s", note, bytes_short(limit, memory));
        c->curve[d] = (struct chart_curve){
            .name = arena_fmt(x->a, "%s memory", cluster_device_name(x->r->scene.cluster, x->a, d)),
            .note = note,
            .dev = d,
            .most = x->t->peak[d],
            .limit = memory,
            .of = of[d]};
    }
}

int chart_of_step(struct chart *c, const struct result *r, int64_t samples, uint32_t most,
                  struct arena *a)
{
    const struct step_run *run = r->verdict->run;
    (void)samples;
    (void)most;
    assert(run && run->t.status == RUN_DONE);
    struct step_chart *x = arena_alloc(a, sizeof *x);
    *c = (struct chart){.model = path_base(module_str(r->scene.m, r->scene.m->path)),
                        .end = run->t.end,
                        .of = x,
                        .describe = describe};
    *x = (struct step_chart){.r = r, .g = &run->g, .t = &run->t, .c = c, .a = a};
    mark_chain(x);
    use_wires(x);
    make_lanes(x);
    make_bars(x);
    make_title(x);
    make_legend(x);
    make_curves(x);
    return 0;
}
