/* Reports a training iteration, for the terminal and in manifest.json (iteration_shown.h).  O(nodes + stages). */
#include "tools/lib/exec/iteration/iteration_shown.h"

#include "backends/label.h"
#include "ir/base/json_out.h"
#include "ir/base/page.h"
#include "ir/base/units.h"
#include "ir/base/utf8.h"
#include "ir/plan/training_json.h"
#include "ir/plan/update_pass.h"

enum {
    STAGES_SHOWN = 64,  /* most stages in the table */
    COLUMNS = 8,        /* number of columns of the table */
    DEVICES_COLUMN = 1, /* index of the column of devices, which is aligned to the left */
    /* index of the column of updates, left out if they are within backward passes */
    UPDATE_COLUMN = 6,
    FORWARD_COLUMNS = 4 /* number of columns of the table if there is no backward pass */
};

/* Returns the number of devices of stage k. */
static uint32_t devices_of(const struct stages *s, uint32_t k)
{
    return s->device.at[k + 1] - s->device.at[k];
}

/* Returns the ps for which one device alone would compute in an iteration: the passes of all devices, and the update of
 * each stage once, although each of the stage's devices makes it. */
static int64_t all_work(const struct iteration_run *t, const struct stages *s)
{
    int64_t sum = 0;
    for (uint32_t k = 0; k < t->x.nstage; k++) {
        uint32_t slices = iteration_turns(&t->x, k % t->x.nplace) > 1 ? 1 : devices_of(s, k);
        int64_t pass = sat_add(t->stage[k].forward, t->stage[k].backward);
        sum = sat_add(sum, sat_mul(sat_mul(pass, slices), t->x.micro_batches));
        sum = sat_add(sum, t->stage[k].update);
    }
    return sum;
}

void iteration_gain(FILE *f, const struct result *r, struct arena *a)
{
    char was[UNIT_TEXT], is[UNIT_TEXT];
    int64_t work = all_work(r->verdict->run, r->verdict->stages);
    const struct cluster *c = r->scene.cluster;
    (void)a;
    fprintf(f, "%.3gx the computing of one %s alone (%s to %s per iteration)\n",
            r->verdict->value ? (double)work / (double)r->verdict->value : 1.0,
            c->cls[cluster_main_class(c)].name, time_short(was, work),
            time_short(is, r->verdict->value));
}

/* Finds the first and the last forward node of each stage k: end[k][0] and end[k][1]; 0: the stage has none. */
static void find_ends(const struct result *r, nid (*end)[2], struct arena *a)
{
    const struct module *m = r->scene.m;
    const struct graph *g = &m->graph[1];
    const struct staged_plan planned = {&r->scene, r->plan, r->verdict->stages};
    const int32_t *stage_of = plan_stage_of(&planned, a);
    for (nid n = g->first; n < g->first + g->count; n++) {
        int32_t k = stage_of[n];
        if (k < 0 || (m->backward && m->backward[n]))
            continue;
        if (!end[k][0])
            end[k][0] = n;
        end[k][1] = n;
    }
}

/* Whether some stage updates its parameters in a task of its own, after its backward passes. */
static bool has_updates(const struct iteration_run *run)
{
    bool any = false;
    for (uint32_t k = 0; k < run->x.nstage; k++)
        any = any || run->stage[k].update > 0;
    return any;
}

/* Adds a row to the table of stages, without the cells about backward passes and updates if the iteration has none. */
static void add_cells(struct page_table *t, const struct iteration_run *run, const char **cell)
{
    if (run->x.forward_only)
        cell[FORWARD_COLUMNS - 1] = cell[FORWARD_COLUMNS];
    if (!has_updates(run))
        cell[UPDATE_COLUMN] = cell[UPDATE_COLUMN + 1];
    page_table_row(t, cell);
}

/* Adds the row of stage k to the table of stages. */
static void add_stage(struct page_table *t, const struct result *r, uint32_t k, struct arena *a)
{
    const struct iteration_run *run = r->verdict->run;
    const struct stage_work *w = &run->stage[k];
    const struct stages *s = run->stages;
    char b[5][UNIT_TEXT];
    const char *cell[COLUMNS] = {arena_fmt(a, "%u", k),
                                 label_stage(r->scene.cluster, s, k, a),
                                 arena_fmt(a, "%s", time_short(b[0], w->forward)),
                                 arena_fmt(a, "%s", time_short(b[1], w->backward)),
                                 k + 1 < s->n ? arena_fmt(a, "%s", time_short(b[2], w->send)) : "",
                                 arena_fmt(a, "%s", time_short(b[3], w->reduce)),
                                 arena_fmt(a, "%s", time_short(b[4], w->update)),
                                 arena_fmt(a, "%u%s", w->ahead, w->recompute ? "*" : " ")};
    add_cells(t, run, cell);
}

/* Prints a line about stage k: memory used, memory of its devices, first and last node (end[0], end[1]). */
static void print_inside(FILE *f, const struct result *r, uint32_t k, const nid *end,
                         struct arena *a)
{
    const struct iteration_run *run = r->verdict->run;
    const struct stages *s = run->stages;
    char t[2][UNIT_TEXT];
    uint32_t dev = s->device.to[s->device.at[k]];
    int64_t memory = run->memory[k % run->x.nplace];
    plan_print_words(f, r,
                     arena_fmt(a, "      %s of %s, %s to %s",
                               bytes_short(t[0], r->verdict->load[dev].used),
                               memory < 0 ? "any" : bytes_short(t[1], memory),
                               end[0] ? utf8_text(a, node_name(r->scene.m, end[0])) : "nothing",
                               end[1] ? utf8_text(a, node_name(r->scene.m, end[1])) : "nothing"),
                     /*at=*/0, /*indent=*/8);
}

void iteration_report(FILE *f, const struct result *r, struct arena *a)
{
    const struct training *t = &r->scene.model.training;
    const struct iteration_run *run = r->verdict->run;
    const struct stages *s = run->stages;
    nid(*end)[2] = arena_array(a, (size_t)s->n + 1, sizeof *end);
    struct page_table table;
    find_ends(r, end, a);
    fprintf(f, "%u micro-batch%s", run->x.micro_batches, run->x.micro_batches == 1 ? "" : "es");
    if (t->micro_size)
        fprintf(f, " of %lld sample%s", (long long)t->micro_size, t->micro_size == 1 ? "" : "s");
    fprintf(f, " through %u stage%s\n", s->n, s->n == 1 ? "" : "s");
    fprintf(f, "schedule %s, links %s duplex, devices of a stage take %s\n",
            training_schedule_name[t->schedule], t->half_duplex ? "half" : "full",
            t->schedule == TRAINING_PIPEDREAM ? "turns" : "slices");
    fprintf(f, "busy %.1f %%\n", 100 * iteration_busy(run));
    uint32_t columns = run->x.forward_only ? FORWARD_COLUMNS : COLUMNS - !has_updates(run);
    page_table_begin(&table, columns, /*left=*/1U << DEVICES_COLUMN, a);
    add_cells(&table, run,
              (const char *[COLUMNS]){"stage", "devices", "forward", "backward", "to next",
                                      "AllReduce", "update", "ahead "});
    for (uint32_t k = 0; k < s->n && k < STAGES_SHOWN; k++)
        add_stage(&table, r, k, a);
    for (uint32_t k = 0; k < table.nrow; k++) {
        page_table_put(f, &table, k);
        fputs(k ? "\n" : "\n      memory used of, layers\n", f);
        if (k)
            print_inside(f, r, k - 1, end[k - 1], a);
    }
    if (s->n > STAGES_SHOWN)
        fprintf(f, "  ... %u more\n", s->n - STAGES_SHOWN);
    if (stages_recompute(s))
        fputs("* runs forward once more before backward\n", f);
}

/* Returns the value of the member "loss": JSON's null without a loss, else an object.  "value" is the name of the loss;
 * "reduction" tells how the loss joins samples; "said" is true if the user gave the reduction.  If the reduction is not
 * known, "operator" names the operator that makes the loss. */
static json_t *loss_json(const struct module *m, const struct update_pass *u, struct arena *a)
{
    enum loss_join shown;
    vid loss = loss_find(m, &shown, a);
    json_t *o = loss ? json_pack("{s:s, s:s?}", "value", value_name(m, loss), "reduction",
                                 loss_join_name[u->join])
                     : json_null();
    if (loss && !shown)
        json_object_set_new(o, "operator", json_string(node_op(m, m->value[loss].def)));
    if (loss && u->join_said)
        json_object_set_new(o, "said", json_true());
    return o;
}

/* Adds to o, the object "training" of the manifest, the members by which a runtime adds up gradients and updates
 * parameters: "gradients", "loss" and, if there are any, "counters", and "batch_dependent" with the names of nodes that
 * mix samples.  Does nothing if updates have no parts of their own. */
static void add_updates(json_t *o, const struct result *r, struct arena *a)
{
    const struct module *m = r->scene.m;
    const struct staged_plan p = {&r->scene, r->plan, r->verdict->stages};
    if (!update_pass_wanted(&r->scene))
        return;
    const int32_t *stage_of = plan_stage_of(&p, a);
    const struct update_pass u = update_pass_find(&p, stage_of, a);
    if (u.why)
        return;
    json_t *list = json_array();
    for (uint32_t i = 0; i < u.n; i++)
        json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:i}", "parameter",
                                              value_name(m, u.of[i].parameter), "gradient",
                                              value_name(m, u.of[i].gradient), "new",
                                              value_name(m, u.of[i].fresh), "stage",
                                              (int)stage_of[m->value[u.of[i].fresh].def]));
    json_object_set_new(o, "gradients", list);
    json_t *counters = u.ncounter ? json_array() : NULL;
    for (uint32_t i = 0; i < u.ncounter; i++)
        json_array_append_new(counters,
                              json_pack("{s:s, s:s}", "value", value_name(m, u.counter[i].value),
                                        "new", value_name(m, u.counter[i].next)));
    if (counters)
        json_object_set_new(o, "counters", counters);
    json_t *mixing = u.nmixing ? json_array() : NULL;
    for (uint32_t i = 0; i < u.nmixing; i++)
        json_array_append_new(mixing, json_string(node_name(m, u.mixing[i])));
    if (mixing)
        json_object_set_new(o, "batch_dependent", mixing);
    json_object_set_new(o, "loss", loss_json(m, &u, a));
}

void iteration_manifest(struct json_out *o, const struct result *r, struct arena *a)
{
    json_t *training = training_json(&r->scene, r->verdict->stages, NULL, a);
    add_updates(training, r, a);
    json_dumpf(training, json_member(o, "training"), 0);
    json_decref(training);
    int64_t peak = 0;
    for (uint32_t d = 0; d < r->scene.cluster->ndev; d++)
        peak = larger(r->verdict->load[d].used, peak);
    json_open(o, "iteration", '{', JSON_ROW);
    json_seconds(o, "time_s", r->verdict->value);
    fprintf(json_member(o, "bubble"), "%.6f", 1 - iteration_busy(r->verdict->run));
    json_int(o, "peak_bytes", peak);
    json_close(o, JSON_ROW);
}
