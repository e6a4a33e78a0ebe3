/* The chart of samples that go through the parts of a plan in rounds (ir/exec/sample/rounds.h).
 *
 * Each device has a lane; where transfers overlap computing, it has further lanes for its link.  Each run of a task
 * for one sample is a bar with the sample's number.  In training the hue of a bar is its pass (blue or orange, which
 * the colour-blind can tell apart), and its shade tells neighbouring samples apart; else its colour depends on the
 * sample.  Above the lanes a span shows one period of the busiest lane in the steady state, which is the plan's
 * value.
 *
 * If the plan is not contiguous, a device may run several parts of a pass for each sample.  Then each of these parts
 * has a row of its own within the lane, as in Figure 3b of the placement paper; the device runs one of them at a
 * time.
 *
 * O(n log n) for n = tasks * samples. */
#include "backends/label.h"
#include "ir/base/strings.h"
#include "tools/lib/exec/replay.h"
#include "tools/lib/exec/sample/rounds_shown.h"

#include <assert.h>
#include <string.h>

/* SAMPLE_HUES: number of colours for samples.  Lanes get more than one row only if there are at most FEW_LANES lanes
 * and the lane needs at most MOST_ROWS rows. */
enum { SAMPLE_HUES = 6, FEW_LANES = 10, MOST_ROWS = 6 };

/* [sample % SAMPLE_HUES] colours of bars, light enough for dark letters. */
static const char *const of_sample[SAMPLE_HUES] = {"#7fb3e6", "#f5b96b", "#6cc3a4",
                                                   "#f2a3b8", "#c9b8ea", "#e5dc72"};
/* [2 * pass + sample % 2] colours of bars in training; pass 0: forward, 1: backward. */
static const char *const of_pass[] = {"#7fb3e6", "#b5d3f0", "#f0a04b", "#f8cd98"};

/* The chart while it is made, and for its function describe(). */
struct rounds {
    const struct result *r;
    struct replay y;
    struct chart *c;
    struct arena *a;
    /* pass: 0 forward, 1 backward */
    int64_t *load[2]; /* [pass][lane] ps for which the lane works for each sample */
    /* [direction][2 * part + pass] bytes that the part receives (direction 0) or sends (1) for each sample */
    int64_t *bytes[2];
};

/* Returns the name of a lane, such as "acc0 in". */
static const char *lane_text(const struct rounds *x, uint32_t lane)
{
    return replay_lane_name(&x->y, &x->r->scene, lane, x->a);
}

/* Makes x->load from the tasks of the replay. */
static void add_loads(struct rounds *x)
{
    for (int p = 0; p < 2; p++)
        x->load[p] = arena_array(x->a, (size_t)x->y.nlane + 1, sizeof *x->load[p]);
    for (uint32_t t = 0; t < x->y.ntask; t++) {
        int64_t *load = &x->load[x->y.task[t].back][x->y.task[t].lane];
        *load = sat_add(*load, x->y.task[t].time);
    }
}

/* Writes title and subtitle of the chart: how far the replay's time per sample is above the plan's. */
static void make_title(struct rounds *x)
{
    assert(x->y.samples > 0);
    char each[UNIT_TEXT], value[UNIT_TEXT];
    const struct replay *y = &x->y;
    const struct result *r = x->r;
    int64_t v = r->verdict->value;
    double over = (double)(y->end - v * y->samples) / ((double)(v ? v : 1) * y->samples);
    const char *how = !y->training                  ? ""
                      : exec_apart(&r->scene.model) ? ", forward then backward (GPipe)"
                                                    : ", forward and backward in turn (1F1B)";
    x->c->title = arena_fmt(x->a, "%s: %u sample%s on %u device%s%s",
                            shorten_name(label_plain(x->a, x->c->model), x->a), y->samples,
                            y->samples == 1 ? "" : "s", r->scene.cluster->ndev,
                            r->scene.cluster->ndev == 1 ? "" : "s", how);
    x->c->subtitle = arena_fmt(
        x->a,
        "time per sample %s in this replay, %.2f %% above the plan's %s: devices fill and empty "
        "(the more samples, the closer)",
        time_short(each, y->end / y->samples), 100 * over, time_short(value, v));
}

/* Makes the texts on which part is in which row, "a part 0, b part 3": for each lane with lettered rows, and for the
 * legend, if the texts of all lanes together are short enough.  row_of: [task] its row. */
static void name_rows(struct rounds *x, const uint32_t *row_of)
{
    enum { LEGEND = 70 }; /* most bytes of these texts in the legend */
    const struct replay *y = &x->y;
    const char *all = "";
    for (uint32_t t = 0; t < y->ntask; t++) {
        struct chart_lane *lane = &x->c->lane[y->task[t].lane];
        if (!lane->lettered || y->task[t].back || !y->task[t].time)
            continue;
        lane->letters = arena_fmt(x->a, "%s%s%c part %u", lane->letters ? lane->letters : "",
                                  lane->letters ? ", " : "", 'a' + (int)row_of[t], y->task[t].part);
    }
    for (uint32_t l = 0; l < x->c->nlane && strlen(all) <= LEGEND; l++)
        if (x->c->lane[l].letters)
            all = arena_fmt(x->a, "%s%s%s: %s", all, *all ? "; " : "", x->c->lane[l].name,
                            x->c->lane[l].letters);
    if (*all)
        x->c->letters = arena_fmt(x->a, "%s (%s)", x->c->letters,
                                  strlen(all) <= LEGEND ? all : "which: point at a row's name");
}

/* Sets the number of rows of each lane, and the texts on lettered rows, and returns an array, [task] its row.  A lane
 * gets a row for each part that its device runs in one pass (the larger number of the two passes), unless there are too
 * many or the plan is contiguous.  Parts of the forward pass take rows 0, 1, ... in their order, parts of the backward
 * pass in reverse order. */
static uint32_t *make_rows(struct rounds *x)
{
    const struct replay *y = &x->y;
    uint32_t *row_of = arena_array(x->a, (size_t)y->ntask + 1, sizeof *row_of);
    /* [pass][lane] n: number of tasks that take time; seen: number of these that were handled so far */
    uint32_t *n[2], *seen[2];
    for (int p = 0; p < 2; p++) {
        n[p] = arena_array(x->a, (size_t)y->nlane + 1, sizeof *n[p]);
        seen[p] = arena_array(x->a, (size_t)y->nlane + 1, sizeof *seen[p]);
    }
    for (uint32_t t = 0; t < y->ntask; t++)
        n[y->task[t].back][y->task[t].lane] += y->task[t].time > 0;
    for (uint32_t l = 0; l < y->nlane; l++) {
        uint32_t rows = larger_u32(n[0][l], n[1][l]);
        if (rows > MOST_ROWS || rows < 1 || y->nlane > FEW_LANES || x->r->verdict->contiguous)
            rows = 1;
        x->c->lane[l].rows = rows;
        x->c->lane[l].lettered = rows > 1;
        if (rows > 1)
            x->c->letters = "a, b ...: parts of one device, at work one at a time";
    }
    for (uint32_t t = 0; t < y->ntask; t++) {
        int p = y->task[t].back;
        uint32_t l = y->task[t].lane, k = seen[p][l];
        if (x->c->lane[l].rows > 1 && y->task[t].time > 0)
            row_of[t] = p ? n[p][l] - 1 - k : k;
        seen[p][l] += y->task[t].time > 0;
        assert(row_of[t] < x->c->lane[l].rows);
    }
    name_rows(x, row_of);
    return row_of;
}

/* Makes the chart's lanes, one for each lane of the replay, without their rows, which make_rows() sets.  Perhaps no
 * lane is the busiest: with GPipe the value can be made of the loads of two lanes. */
static void make_lanes(struct rounds *x)
{
    char t[UNIT_TEXT];
    int64_t value = x->r->verdict->value;
    x->c->busy = "busy per sample";
    x->c->nlane = x->y.nlane;
    x->c->lane = arena_array(x->a, (size_t)x->y.nlane + 1, sizeof *x->c->lane);
    for (uint32_t l = 0; l < x->y.nlane; l++) {
        int64_t load = sat_add(x->load[0][l], x->load[1][l]);
        x->c->lane[l] =
            (struct chart_lane){.name = lane_text(x, l),
                                .class = class_of(x->r, x->y.lane[l].dev)->name,
                                .dev = x->y.lane[l].dev,
                                .busiest = load && load == value,
                                .busy = load ? arena_fmt(x->a, "%s, %d %%", time_short(t, load),
                                                         percent_of(load, value))
                                             : "idle"};
    }
}

/* Makes a bar for each task and sample.  row_of: [task] its row. */
static void make_bars(struct rounds *x, const uint32_t *row_of)
{
    const struct replay *y = &x->y;
    const struct event *e = replay_events(y, x->a);
    struct chart *c = x->c;
    c->nbar = (size_t)y->ntask * y->samples;
    c->bar = arena_array(x->a, c->nbar + 1, sizeof *c->bar);
    c->colour = y->training ? of_pass : of_sample;
    c->nflow = y->ntask > 1 ? y->samples : 0;
    for (size_t i = 0; i < c->nbar; i++) {
        const struct round_task *t = &y->task[e[i].task];
        c->bar[i] = (struct chart_bar){.at = e[i].at,
                                       .end = e[i].end,
                                       .lane = t->lane,
                                       .row = row_of[e[i].task],
                                       .item = e[i].task * y->samples + e[i].sample,
                                       .flow = c->nflow ? e[i].sample + 1 : 0,
                                       .hue = (uint8_t)(y->training ? 2u * t->back + e[i].sample % 2
                                                                    : e[i].sample % SAMPLE_HUES)};
    }
}

/* Adds the bytes of net e to x->bytes: the part that makes the value sends them; on each other device that reads the
 * value, the first part that reads it receives them.  Both count in the pass of the node that makes the value, as
 * ir/exec/sample/rounds.c charges the transfers.  first: scratch, [device], all UINT32_MAX before and after. */
static void add_net_bytes(struct rounds *x, uint32_t e, uint32_t *first)
{
    const struct result *r = x->r;
    const struct place *pl = r->scene.place;
    const struct parts *parts = r->parts;
    nid def = r->scene.m->value[pl->net_value[e]].def;
    bool made = def && pl->kind[def] == PLACE_NODE, crosses = pl->net_host[e];
    bool back = made && r->scene.m->backward && r->scene.m->backward[def];
    uint32_t home = made ? parts->part[parts->part_of[def]].dev : UINT32_MAX;
    const nid *pin = pl->net_pin.to + pl->net_pin.at[e];
    uint32_t n = pl->net_pin.at[e + 1] - pl->net_pin.at[e];
    int64_t bytes = place_moved(pl, r->scene.m->cost, e).bytes;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t part = (uint32_t)parts->part_of[pin[i]], dev = parts->part[part].dev;
        first[dev] = smaller_u32(first[dev], part);
        crosses = crosses || dev != parts->part[parts->part_of[pin[0]]].dev;
    }
    for (uint32_t i = 0; i < n; i++) {
        uint32_t dev = parts->part[parts->part_of[pin[i]]].dev;
        bool leaves = dev == home;
        if (first[dev] == UINT32_MAX)
            continue;
        uint32_t part = leaves ? (uint32_t)parts->part_of[def] : first[dev];
        int64_t *sum = &x->bytes[leaves][2 * part + back];
        if (crosses)
            *sum = sat_add(*sum, bytes);
        first[dev] = UINT32_MAX;
    }
}

/* Makes x->bytes, net by net. */
static void add_bytes(struct rounds *x)
{
    uint32_t *first = arena_array(x->a, (size_t)x->r->scene.cluster->ndev + 1, sizeof *first);
    memset(first, 0xff, ((size_t)x->r->scene.cluster->ndev + 1) * sizeof *first); /* UINT32_MAX */
    for (int k = 0; k < 2; k++)
        x->bytes[k] = arena_array(x->a, 2 * (size_t)x->r->parts->nparts + 2, sizeof *x->bytes[k]);
    for (uint32_t e = 0; e < x->r->scene.place->nnet; e++)
        add_net_bytes(x, e, first);
}

/* chart.describe: returns the texts on an item, which is number task * samples + sample. */
static struct chart_detail describe(const struct chart *c, uint32_t item, struct arena *a)
{
    /* [enum task_kind] ends of the long and of the short text */
    static const char *const with[] = {"", ", transfers in", "", ", transfers out"};
    static const char *const ending[] = {"", " receive", "", " send"};
    const struct rounds *x = c->of;
    const struct replay *y = &x->y;
    uint32_t sample = item % y->samples + 1;
    const struct round_task *t = &y->task[item / y->samples];
    const char *pass = t->back ? "backward" : "forward";
    /* where a bar has transfers of its own, `in` and `out` show them */
    const char *what = t->in || t->out ? "" : ending[t->kind];
    const char *name = arena_fmt(a, "part %u%s%s%s", t->part, y->training ? " " : "",
                                 y->training ? pass : "", what);
    const char *full = arena_fmt(a, "sample %u, part %u%s%s%s", sample, t->part,
                                 y->training ? ", " : "", y->training ? pass : "", with[t->kind]);
    return (struct chart_detail){.name = name,
                                 .category = y->training ? pass : "sample",
                                 .full = full,
                                 .brief = arena_fmt(a, "%u", sample),
                                 .in = t->in,
                                 .out = t->out,
                                 .in_bytes = x->bytes[0][2 * t->part + t->back],
                                 .out_bytes = x->bytes[1][2 * t->part + t->back],
                                 .fact = {{"sample", NULL, sample}, {"part", NULL, t->part}},
                                 .nfact = 2};
}

/* Makes the chart's legend: which colour means what. */
static void make_legend(struct rounds *x)
{
    struct chart *c = x->c;
    c->key = arena_array(x->a, 3, sizeof *c->key);
    if (x->y.training) {
        c->key[c->nkey++] = (struct chart_key){of_pass[0], "forward"};
        c->key[c->nkey++] = (struct chart_key){of_pass[2], "backward"};
    } else {
        c->key[c->nkey++] = (struct chart_key){of_sample[0], "a sample with its number"};
    }
    c->key[c->nkey++] = (struct chart_key){"#eef3f8", "pale: transfers"};
}

/* Adds a span named `what` to the chart that shows one period of the steady state: from the start of a sample on the
 * busiest lane to the start of the next sample there, where these are exactly the lane's load apart.  It takes the last
 * such sample up to the middle of the replay, else the first one.  Adds none if there is none, as in a replay too short
 * for a steady state.  pass: whose loads count, 0: forward, 1: backward, 2: both together. */
static void add_period(struct rounds *x, int pass, const char *what)
{
    char text[UNIT_TEXT];
    const struct replay *y = &x->y;
    /* lane: the busiest lane, with the load `most`; task: its longest task of the pass; at: the sample at whose start
     * the span begins: the last one up to the middle of the replay, else the first one */
    int64_t most = 0;
    uint32_t lane = 0, task = UINT32_MAX, at = UINT32_MAX;
    for (uint32_t l = 0; l < y->nlane; l++) {
        int64_t load = pass < 2 ? x->load[pass][l] : sat_add(x->load[0][l], x->load[1][l]);
        if (load > most)
            lane = l;
        most = larger(load, most);
    }
    for (uint32_t i = 0; i < y->ntask && most; i++)
        if (y->task[i].lane == lane && (pass == 2 || y->task[i].back == pass) &&
            (task == UINT32_MAX || y->task[i].time > y->task[task].time))
            task = i;
    for (uint32_t s = 0; s + 1 < y->samples && task != UINT32_MAX; s++) {
        const int64_t *start = &y->start[(size_t)task * y->samples];
        if (start[s + 1] - start[s] == most && (at == UINT32_MAX || 2 * s <= y->samples))
            at = s;
    }
    if (at == UINT32_MAX)
        return;
    const int64_t *start = &y->start[(size_t)task * y->samples + at];
    x->c->span[x->c->nspan++] = (struct chart_span){
        start[0], start[1],
        arena_fmt(x->a, "%s of %s: %s", what, lane_text(x, lane), time_short(text, most))};
}

/* Adds the period of the plan to the chart; with GPipe, where the passes come apart, one for each pass. */
static void make_periods(struct rounds *x)
{
    x->c->span = arena_array(x->a, 2, sizeof *x->c->span);
    if (x->y.training && exec_apart(&x->r->scene.model)) {
        add_period(x, 0, "forward period");
        add_period(x, 1, "backward period");
    } else {
        add_period(x, 2, "one period");
    }
}

int chart_of_rounds(struct chart *c, const struct result *r, int64_t samples, uint32_t most,
                    struct arena *a)
{
    struct rounds *x = arena_alloc(a, sizeof *x);
    *c = (struct chart){.model = path_base(module_str(r->scene.m, r->scene.m->path)),
                        .of = x,
                        .describe = describe};
    *x = (struct rounds){.r = r, .c = c, .a = a};
    if (replay_result(&x->y, r, samples, most, a))
        return -1;
    c->end = x->y.end;
    add_loads(x);
    add_bytes(x);
    make_title(x);
    make_lanes(x);
    make_bars(x, make_rows(x));
    make_legend(x);
    make_periods(x);
    return 0;
}
