/* The chart of an iteration of training (ir/exec/iteration/iteration.h): the passes of each stage for each
 * micro-batch, the transfers between stages, and the AllReduces.
 *
 * Devices that share each micro-batch of a stage do the same at the same time: one lane stands for all of them.
 * Devices that take micro-batches in turn have a lane each.  Below the devices of a place come the lanes of the link
 * to the next place, then a lane for the AllReduce of each stage, if it occupies no link.
 *
 * If there would be too many bars, fewer micro-batches are shown, and the title says so.  O(n log n) for n bars. */
#include "backends/label.h"
#include "ir/base/strings.h"
#include "ir/base/units.h"
#include "tools/lib/exec/iteration/iteration_shown.h"

#include <assert.h>

/* Texts and colours of each kind of task: colour of its bars, word in the legend and in texts, category in a
 * trace. */
static const char *const colours[ITERATION_KINDS] = {
    [ITERATION_FORWARD] = "#7fb3e6",   [ITERATION_BACKWARD] = "#f0a04b",
    [ITERATION_WEIGHT] = "#e5dc72",    [ITERATION_SEND] = "#6cc3a4",
    [ITERATION_SEND_BACK] = "#f2a3b8", [ITERATION_REDUCE] = "#c9b8ea",
    [ITERATION_UPDATE] = "#a8a8a8"};
static const char *const words[ITERATION_KINDS] = {[ITERATION_FORWARD] = "forward",
                                                   [ITERATION_BACKWARD] = "backward",
                                                   [ITERATION_WEIGHT] = "gradients of weights",
                                                   [ITERATION_SEND] = "values to the next stage",
                                                   [ITERATION_SEND_BACK] = "gradients back",
                                                   [ITERATION_REDUCE] = "AllReduce",
                                                   [ITERATION_UPDATE] = "update"};
static const char *const categories[ITERATION_KINDS] = {
    [ITERATION_FORWARD] = "forward",    [ITERATION_BACKWARD] = "backward",
    [ITERATION_WEIGHT] = "weight",      [ITERATION_SEND] = "transfer",
    [ITERATION_SEND_BACK] = "transfer", [ITERATION_REDUCE] = "allreduce",
    [ITERATION_UPDATE] = "update"};
/* The first letter of a bar's text; AllReduces and updates have another text. */
static const char letter[ITERATION_KINDS] = {[ITERATION_FORWARD] = 'F',
                                             [ITERATION_BACKWARD] = 'B',
                                             [ITERATION_WEIGHT] = 'W',
                                             [ITERATION_SEND] = 'F',
                                             [ITERATION_SEND_BACK] = 'B'};

/* The chart while it is made, and for its function describe().  A wire is what the chart may show as a lane: a lane
 * of the event core, wire = its number; or the AllReduces of a stage that occupy no lane, wire = g->nlane +
 * stage. */
struct iteration_chart {
    const struct result *r;
    struct iteration_run run;   /* the iteration that is shown */
    const struct task_graph *g; /* &run.g */
    const struct timeline *t;   /* &run.t */
    struct chart *c;
    struct arena *a;
    /* [kind][stage] the stage's first task of the kind; NO_ITEM: none */
    uint32_t *first[ITERATION_KINDS];
    uint32_t *lane;    /* [wire] lane of the chart; NO_ITEM: not shown */
    uint8_t *used;     /* [wire] 1: some task ran there */
    uint8_t *critical; /* [item] 1: on the critical chain (events.h) */
    /* ps of computing [0], transfers [1] and AllReduces [2] on the critical chain */
    int64_t chain[3];
};

/* Returns the wire of a task. */
static uint32_t wire_of(const struct iteration_chart *x, const struct task *t)
{
    return t->lane[0] != NO_LANE ? t->lane[0] : x->g->nlane + t->number;
}

/* Makes x->first and x->used, and counts the bars of the chart. */
static void find_tasks(struct iteration_chart *x)
{
    for (uint32_t k = 0; k < ITERATION_KINDS; k++) {
        x->first[k] = arena_array(x->a, x->run.x.nstage, sizeof *x->first[k]);
        for (uint32_t s = 0; s < x->run.x.nstage; s++)
            x->first[k][s] = NO_ITEM;
    }
    x->used = arena_alloc(x->a, (size_t)x->g->nlane + x->run.x.nstage);
    for (uint32_t i = 0; i < x->g->ntask; i++) {
        const struct task *t = &x->g->task[i];
        if (x->first[t->kind][t->number] == NO_ITEM)
            x->first[t->kind][t->number] = i;
        x->used[wire_of(x, t)] = 1;
        x->c->nbar += t->count;
    }
}

/* Returns the micro-batch of an item.  The items of one stage and kind are either the instances of one task, or
 * tasks one behind the other with one instance each. */
static uint32_t micro_batch(const struct iteration_chart *x, uint32_t item)
{
    uint32_t task = task_of_item(x->g, item);
    const struct task *t = &x->g->task[task];
    return item - x->g->first[task] + task - x->first[t->kind][t->number];
}

/* Finds the critical chain: makes x->critical, and adds up x->chain. */
static void mark_chain(struct iteration_chart *x)
{
    uint32_t n;
    const uint32_t *chain = timeline_chain(x->t, &n, x->a);
    x->critical = arena_alloc(x->a, (size_t)x->t->nitem + 1);
    for (uint32_t i = 0; i < n; i++) {
        const struct task *t = &x->g->task[task_of_item(x->g, chain[i])];
        int64_t *time = &x->chain[0];
        if (t->kind == ITERATION_SEND || t->kind == ITERATION_SEND_BACK)
            time = &x->chain[1];
        else if (t->kind == ITERATION_REDUCE)
            time = &x->chain[2];
        x->critical[chain[i]] = 1;
        *time = sat_add(*time, t->time);
    }
}

/* ---- lanes -------------------------------------------------------------------------------------- */

/* Adds `lane` to the chart for a wire, and fills in how long it is busy. */
static void add_lane(struct iteration_chart *x, uint32_t wire, struct chart_lane lane)
{
    char time[UNIT_TEXT];
    bool in_core = wire < x->g->nlane;
    int64_t busy = in_core ? x->t->busy[wire] : x->run.stage[wire - x->g->nlane].reduce;
    lane.rows = 1;
    lane.busy = arena_fmt(x->a, "%s, %d %%", time_short(time, busy), percent_of(busy, x->t->end));
    x->lane[wire] = x->c->nlane;
    x->c->lane[x->c->nlane++] = lane;
}

/* Adds a lane for the link from a place (the devices of one stage or, if stages take turns on them, of several) to the
 * next place; back: for the link from the next place to this one.  Does nothing if no task uses the link, or if it has
 * a lane already.  dev: device that the lane is drawn under. */
static void add_link(struct iteration_chart *x, uint32_t place, uint32_t dev, bool back)
{
    const struct iteration *it = &x->run.x;
    /* numbers as link_of() (ir/exec/iteration/iteration.c) gives them to lanes.  With two places, the link back from
     * the next place is the same lane as that place's own link to its next place */
    uint32_t wire = x->g->ndev + place, to = (place + 1) % it->nplace;
    if (!it->half_duplex && back)
        wire = x->g->ndev + (it->nplace == 2 ? to : it->nplace + place);
    if (wire >= x->g->nlane || !x->used[wire] || x->lane[wire] != NO_ITEM)
        return;
    const char *name = it->half_duplex ? arena_fmt(x->a, "%u with %u", place, to)
                       : back          ? arena_fmt(x->a, "%u to %u", to, place)
                                       : arena_fmt(x->a, "%u to %u", place, to);
    add_lane(x, wire,
             (struct chart_lane){.name = arena_fmt(x->a, "link %s", name),
                                 .class = "link between stages",
                                 .dev = dev,
                                 .minor = true});
}

/* Returns the most ps for which a device computes. */
static int64_t most_computing(const struct iteration_chart *x)
{
    int64_t most = 0;
    for (uint32_t d = 0; d < x->g->ndev; d++)
        most = larger(x->t->busy[d], most);
    return most;
}

/* Returns the stages of a place: "stage 1" or "stages 1, 5, 9". */
static const char *stages_at(const struct iteration_chart *x, uint32_t place)
{
    const struct iteration *it = &x->run.x;
    const char *text = arena_fmt(x->a, "stage%s %u", it->nstage > it->nplace ? "s" : "", place);
    for (uint32_t s = place + it->nplace; s < it->nstage; s += it->nplace)
        text = arena_fmt(x->a, "%s, %u", text, s);
    return text;
}

/* Returns the name of a device lane: "stage 1: acc4 to acc7"; if devices take turns, "stage 1: acc5" for device
 * number `turn` of the place. */
static const char *lane_name(const struct iteration_chart *x, uint32_t place, uint32_t turn)
{
    const struct stages *st = x->run.stages;
    uint32_t dev = st->device.to[st->device.at[place] + turn];
    const char *who = iteration_turns(&x->run.x, place) > 1
                          ? cluster_device_name(x->r->scene.cluster, x->a, dev)
                          : label_stage(x->r->scene.cluster, st, place, x->a);
    return arena_fmt(x->a, "%s: %s", stages_at(x, place), who);
}

/* Makes the chart's lanes, place by place: devices, links, AllReduces. */
static void make_lanes(struct iteration_chart *x)
{
    const struct iteration *it = &x->run.x;
    const struct stages *st = x->run.stages;
    /* number of wires: the lanes of the run, then one for the AllReduce of each stage */
    uint32_t wires = x->g->nlane + it->nstage;
    int64_t most = most_computing(x);
    x->c->busy = "busy";
    x->c->lane = arena_array(x->a, (size_t)wires + 1, sizeof *x->c->lane);
    x->lane = arena_array(x->a, wires, sizeof *x->lane);
    for (uint32_t w = 0; w < wires; w++)
        x->lane[w] = NO_ITEM;
    for (uint32_t p = 0, d = 0; p < it->nplace; p++) {
        const char *class = class_of(x->r, st->device.to[st->device.at[p]])->name;
        uint32_t last = d + iteration_turns(it, p) - 1;
        for (uint32_t q = 0; d <= last; q++, d++)
            add_lane(x, d,
                     (struct chart_lane){.name = lane_name(x, p, q),
                                         .class = class,
                                         .dev = d,
                                         .busiest = most > 0 && x->t->busy[d] == most});
        for (uint32_t back = 0; back < 2; back++)
            add_link(x, p, last, back);
        for (uint32_t s = p; s < it->nstage; s += it->nplace)
            if (x->used[x->g->nlane + s])
                add_lane(x, x->g->nlane + s,
                         (struct chart_lane){.name = arena_fmt(x->a, "AllReduce %u", s),
                                             .class = "links of a stage's devices",
                                             .dev = last,
                                             .minor = true});
    }
}

/* ---- bars --------------------------------------------------------------------------------------- */

/* Makes a bar for each item. */
static void make_bars(struct iteration_chart *x)
{
    struct chart *c = x->c;
    size_t n = 0;
    c->bar = arena_array(x->a, c->nbar + 1, sizeof *c->bar);
    for (uint32_t i = 0; i < x->g->ntask; i++) {
        const struct task *t = &x->g->task[i];
        for (uint32_t item = x->g->first[i]; item < x->g->first[i + 1]; item++)
            c->bar[n++] = (struct chart_bar){.at = x->t->start[item],
                                             .end = sat_add(x->t->start[item], t->time),
                                             .lane = x->lane[wire_of(x, t)],
                                             .item = item,
                                             .flow = x->critical[item],
                                             .hue = t->kind,
                                             .critical = x->critical[item]};
    }
    assert(n == c->nbar);
    chart_sort_bars(c);
    c->nflow = 1;
}

/* Returns the texts on an AllReduce or an update. */
static struct chart_detail describe_once(const struct task *t, struct arena *a)
{
    const char *full = arena_fmt(a, "%s of stage %u", words[t->kind], t->number);
    return (struct chart_detail){.name = full,
                                 .category = categories[t->kind],
                                 .full = full,
                                 .brief = words[t->kind],
                                 .least = t->kind == ITERATION_REDUCE ? "AR" : "U",
                                 .fact = {{"stage", NULL, t->number}},
                                 .nfact = 1};
}

/* chart.describe: returns the texts on an item; a bar of micro-batch 3 shows "F3", with several stages on a device
 * "F3.5" for stage 5. */
static struct chart_detail describe(const struct chart *c, uint32_t item, struct arena *a)
{
    const struct iteration_chart *x = c->of;
    const struct task *t = &x->g->task[task_of_item(x->g, item)];
    struct chart_detail d;
    if (t->kind >= ITERATION_REDUCE) {
        d = describe_once(t, a);
    } else {
        /* a transfer goes from stage `number` to the next one, or (SEND_BACK) from the next one to stage `number` */
        uint32_t at = micro_batch(x, item), to = t->number + (t->kind == ITERATION_SEND);
        const char *name = arena_fmt(a, "%c%u", letter[t->kind], at);
        if (x->run.x.nstage > x->run.x.nplace) /* a device has several stages */
            name = arena_fmt(a, "%s.%u", name, t->number);
        const char *where =
            t->kind <= ITERATION_WEIGHT
                ? arena_fmt(a, "stage %u", t->number)
                : arena_fmt(a, "stage %u to %u", t->number + (t->kind == ITERATION_SEND_BACK), to);
        d = (struct chart_detail){
            .name = name,
            .category = categories[t->kind],
            .full = arena_fmt(a, "micro-batch %u, %s, %s", at, where, words[t->kind]),
            .brief = name,
            .least = arena_fmt(a, "%u", at),
            .fact = {{"micro_batch", NULL, at}, {"stage", NULL, t->number}},
            .nfact = 2};
    }
    if (x->critical[item])
        mark_critical(&d, a);
    return d;
}

/* ---- title, legend, memory ---------------------------------------------------------------------- */

/* Writes title and subtitle of the chart. */
static void make_title(struct iteration_chart *x)
{
    char end[UNIT_TEXT], value[UNIT_TEXT];
    const struct training *t = &x->r->scene.model.training;
    const struct iteration_run *plan = x->r->verdict->run;
    uint32_t m = x->run.x.micro_batches, all = plan->x.micro_batches;
    const char *of = m == all ? "" : arena_fmt(x->a, " (the plan's iteration has %u)", all);
    const char *last = t->schedule == TRAINING_PIPEDREAM
                           ? arena_fmt(x->a, "; without end an iteration takes %s",
                                       time_short(value, x->run.value))
                           : "";
    x->c->title = arena_fmt(x->a, "%s: %u micro-batch%s through %u stage%s, %s%s%s",
                            shorten_name(label_plain(x->a, x->c->model), x->a), m,
                            m == 1 ? "" : "es", x->run.x.nstage, x->run.x.nstage == 1 ? "" : "s",
                            time_short(end, x->t->end), last, of);
    x->c->subtitle = arena_fmt(
        x->a,
        "schedule %s, links %s duplex, devices of a stage take %s; critical chain: "
        "computing %.0f %% of the time, transfers %.0f %%, AllReduce %.0f %%",
        training_schedule_name[t->schedule], x->run.x.half_duplex ? "half" : "full",
        t->schedule == TRAINING_PIPEDREAM ? "turns" : "slices", share_of_end(x->t, x->chain[0]),
        share_of_end(x->t, x->chain[1]), share_of_end(x->t, x->chain[2]));
}

/* Makes the chart's legend, with the kinds of tasks that the iteration has. */
static void make_legend(struct iteration_chart *x)
{
    struct chart *c = x->c;
    c->key = arena_array(x->a, ITERATION_KINDS + 1, sizeof *c->key);
    c->colour = colours;
    c->dense = true;
    for (uint32_t k = 0; k < ITERATION_KINDS; k++) {
        bool any = false;
        for (uint32_t s = 0; s < x->run.x.nstage; s++)
            any = any || x->first[k][s] != NO_ITEM;
        if (any)
            c->key[c->nkey++] = (struct chart_key){colours[k], words[k]};
    }
    c->key[c->nkey++] = (struct chart_key){"#b3261e", "critical chain"};
}

/* Makes the memory curve of each device lane.  The curve shows the sums of bytes that stages hold.  A plan for an ONNX
 * model also knows the peak of the device's lists; if this peak is another one, the note on the curve has both. */
static void make_curves(struct iteration_chart *x)
{
    struct chart *c = x->c;
    const struct verdict *v = x->r->verdict;
    const struct stages *s = ((const struct iteration_run *)v->run)->stages;
    struct memory_curve *of = memory_curves(x->g, x->t, x->a);
    c->curve = arena_array(x->a, (size_t)x->g->ndev + 1, sizeof *c->curve);
    for (uint32_t p = 0; p < x->run.x.nplace; p++)
        for (uint32_t q = 0; q < iteration_turns(&x->run.x, p); q++) {
            char peak[UNIT_TEXT], limit[UNIT_TEXT], lists[UNIT_TEXT];
            uint32_t d = c->ncurve++;
            int64_t used = v->load[s->device.to[s->device.at[p] + q]].used;
            const char *note = arena_fmt(x->a, "peak %s", bytes_short(peak, x->t->peak[d]));
            if (x->r->scene.m->ir_version && used != x->t->peak[d])
                note = arena_fmt(x->a, "%s by sums, %s by lists", note, bytes_short(lists, used));
            if (x->g->memory[d] >= 0)
                note = arena_fmt(x->a, "%s of %s", note, bytes_short(limit, x->g->memory[d]));
            c->curve[d] =
                (struct chart_curve){.name = arena_fmt(x->a, "%s memory", lane_name(x, p, q)),
                                     .note = note,
                                     .dev = d,
                                     .most = x->t->peak[d],
                                     .limit = x->g->memory[d],
                                     .of = of[d]};
        }
}

int chart_of_iteration(struct chart *c, const struct result *r, int64_t micro_batches,
                       uint32_t most, struct arena *a)
{
    struct iteration_chart *x = arena_alloc(a, sizeof *x);
    assert(r->verdict->run);
    *c = (struct chart){.model = path_base(module_str(r->scene.m, r->scene.m->path)),
                        .of = x,
                        .describe = describe};
    *x = (struct iteration_chart){.r = r, .c = c, .a = a};
    if (replay_iteration(&x->run, r, micro_batches, most, a))
        return -1;
    x->g = &x->run.g;
    x->t = &x->run.t;
    c->end = x->t->end;
    find_tasks(x);
    mark_chain(x);
    make_lanes(x);
    make_bars(x);
    make_title(x);
    make_legend(x);
    make_curves(x);
    return 0;
}
