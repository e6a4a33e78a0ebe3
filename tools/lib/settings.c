/* The settings that say what is planned and for which devices: their table, and their way into the context
 * (settings.h).  O(n^2) for n values of settings; there are few. */
#include "tools/lib/settings.h"

#include "tools/lib/table_sizes.h"

#include "backends/engines/engines.h"
#include "ir/base/infile.h"
#include "ir/base/nearest.h"
#include "ir/base/strings.h"
#include "ir/cluster/detect/detect.h"
#include "passes/cost/table_facts.h"

#include <string.h>

/* The offset of a field in struct settings, for opt.off. */
#define FIELD(name) offsetof(struct settings, name)

/* The settings that belong to no execution model and no writer.  Rows without FIELD() are read with handle_given() by
 * the functions that use them. */
static const struct opt table[] = {
    {OPT_TEXT, "devices", .topic = IN_DEVICES, .letter = 'd', .arg = "CLUSTER",
     .help =
         "'2xa100', '4xa100:40GiB,1xcpu', a cluster's name such as 'dapple-a', 'detect', or a JSON "
         "file (default: 2xa100)"},
    {OPT_TEXT, "link", .topic = IN_DEVICES, .arg = "RATE,LATENCY", .with = WITH_SHOWN,
     .help = "each accelerator's link to the host: '25GB/s,10us', 'pcie4x16'"},
    {OPT_TEXT, "group", .topic = IN_DEVICES, .arg = "N:LINK|N:SHARE", .with = WITH_SHOWN,
     .help = "accelerators stand in groups of N, joined by such a link or at a share of the cost: "
             "'4:300GB/s,2us', '8:nvlink4'"},
    {OPT_TEXT, "levels", .topic = IN_DEVICES, .arg = "N:LINK[,RATE]/...", .with = WITH_SHOWN,
     .help =
         "levels of links, innermost first, each with its size and, for training, the rate of an AllReduce: "
         "'8:25GB/s,0us/2:3GB/s,0us'"},
    {OPT_TEXT, "precision", .topic = IN_DEVICES, .arg = "TYPE[:CLASS],...", .with = WITH_SHOWN,
     .help =
         "what devices compute f32 in, as their runtime is set: f32, tf32, f16, bf16 or i8, of a "
         "class as in 'f16:a100' (default: f32)"},
    {OPT_TEXT, "reserve", .topic = IN_DEVICES, .arg = "SHARE|BYTES",
     .with = WITH_PLAN | WITH_MEMORY,
     .help = "of each accelerator's memory, left to the runtime: '10%', '2GiB' (default: 0)"},
    {OPT_RATE, "allreduce", .lo = "1B/s", .topic = IN_TRAINING, .like = "3GB/s",
     .about = ABOUT_ITERATION,
     .help = "bytes per second of an AllReduce over several groups (default: the link's)"},
    {OPT_INT, "global-batch", .lo = "1", .hi = "4294967295", .topic = IN_TRAINING,
     .about = ABOUT_ITERATION, .help = "samples of all micro-batches"},
    {OPT_TEXT, "gradient", .topic = IN_TRAINING, .arg = "PARAMETER=VALUE", .about = ABOUT_ITERATION,
     .help =
         "the gradient of a parameter, where updates apart take another value for it (repeats)"},
    {OPT_TEXT, "next", .topic = IN_TRAINING, .arg = "INITIALIZER=OUTPUT", .about = ABOUT_ITERATION,
     .help =
         "the value in the next step of an initializer that no gradient leads to, as of a count "
         "of steps, if the output is not called INITIALIZER_new; itself: it stays (repeats)"},
    {OPT_TEXT, "transfer-scale", .topic = IN_INPUT, .arg = "X",
     .help = "multiply a workload's transfers: 1000 where a file has them in seconds, not ms"},
    {OPT_CHOICE, "uneven-edges", .topic = IN_INPUT,
     .names = (const char *const[]){"shared", "apart", NULL},
     .help =
         "edges of a workload that leave a node at unequal costs: those of one cost are one tensor, or each is one"},
    {OPT_TEXT, "dim", .topic = IN_INPUT, .arg = "NAME=N",
     .help =
         "plan for this size of a symbolic dimension; '?=N': of those without a name (repeats)"},
    {OPT_TEXT, "state", .topic = IN_INPUT, .arg = "IN=OUT",
     .help = "an input and output that hold state on one device (repeats)"},
    {OPT_BOOL, "allow-links", .topic = IN_INPUT,
     .help = "external data may be reached through links"},
    {OPT_TEXT, "costs", .topic = IN_COSTS, .arg = "FILE[:CLASS]",
     .help =
         "times and memory from a CSV or JSON table or ONNX Runtime's profile (repeats; passes/cost/costs.md)"},
    {OPT_TEXT, "support", .topic = IN_DEVICES, .arg = "FILE:CLASS",
     .help =
         "what devices of a class cannot run: lines [domain.]OpType, or where an engine puts the "
         "nodes (repeats; docs/devices.md)"},
    {OPT_TEXT, "profile-at", .topic = IN_COSTS, .arg = "B=FILE[:CLASS]",
     .help =
         "the same, measured at batch size B: what two sizes or more predict for that of --dim is "
         "planned with (repeats)"},
    {OPT_TEXT, "profile-check", .topic = IN_COSTS, .arg = "B=FILE[:CLASS]",
     .help = "compare what --profile-at predicts for batch size B with a measurement (repeats)"},
    {OPT_TEXT, "judge", .topic = IN_PLANNING, .with = WITH_PLAN, /* arg: set by pcc/cli.c */
     .help = "what plans are shown by (default: the objective)"},
    {OPT_CHOICE, "cut", FIELD(cut),
     .names = (const char *const[]){"auto", "few", "transfers", NULL}, .topic = IN_PLANNING,
     .with = WITH_PLAN,
     .help =
         "as few parts as can be, or an end wherever a value comes or goes, so that parts take one "
         "sample as long as nodes do (auto: as few, unless these save 5 % of a makespan)"},
    {OPT_TEXT, "pin", .topic = IN_PLANNING, .arg = "REGEX=DEVICE|@FILE", .with = WITH_SHOWN,
     .help = "fix the nodes whose name or path matches (repeats)"},
    {OPT_TEXT, "cut-at", .topic = IN_PLANNING, .arg = "REGEX", .with = WITH_PLAN,
     .help = "cut behind the nodes whose name or path matches (repeats)"},
    {OPT_TEXT, "no-cut", .topic = IN_PLANNING, .arg = "REGEX", .with = WITH_PLAN,
     .help = "never cut between two nodes whose names or paths match (repeats)"},
    {OPT_BOOL, "keep-blocks", FIELD(keep_blocks), .topic = IN_PLANNING,
     .help = "never cut inside a layer that repeats: all its copies stay whole"},
    {OPT_TIME, "time-limit", FIELD(time_limit), .topic = IN_PLANNING, .like = "30s",
     .with = WITH_PLAN, .help = "for one planner: '30s'; then the best plan so far"},
    {OPT_INT, "max-states", FIELD(max_states), .lo = "1", .topic = IN_PLANNING, .with = WITH_PLAN,
     .help = "sets of nodes that a planner may visit in its search"},
    {OPT_TEXT, "warnings", .topic = IN_OUTPUT, .letter = 'W', .arg = "[no-]NAME",
     .help =
         "hide a warning (-Wno-NAME) or let it fail the run (-Werror, -Werror=NAME); see below (repeats)"}};

const struct opt *setting_at(uint32_t i)
{
    uint32_t n = sizeof table / sizeof *table;
    return i < n ? &table[i] : exec_settings[i - n].name ? &exec_settings[i - n] : NULL;
}

const char *setting_named(const char *name)
{
    const struct opt *s;
    for (uint32_t i = 0; (s = setting_at(i)); i++)
        if (!strcmp(s->name, name))
            return s->name;
    for (const struct writer *const *w = writer_table; *w; w++) {
        const struct writer_opt *o = writer_opt(*w, name);
        if (o)
            return o->opt.name;
    }
    return NULL;
}

const char *setting_hint(const char *name, struct arena *a)
{
    struct nearest t = nearest_to(name, strlen(name));
    const struct opt *s;
    for (uint32_t i = 0; (s = setting_at(i)); i++)
        nearest_try(&t, s->name);
    for (const struct writer *const *w = writer_table; *w; w++)
        for (const struct writer_opt *const *o = (*w)->opts; o && *o; o++)
            nearest_try(&t, (*o)->opt.name);
    return nearest_hint(&t, a);
}

int settings_dims(struct pcc *p)
{
    struct arena *a = p->x.use.mem;
    struct settings *s = &p->settings;
    struct dim_binding *dims = NULL;
    const char *t;
    uint32_t cap = 0;
    for (uint32_t i = 0; (t = given_nth(p, "dim", i)); i++)
        while (*t) {
            size_t n = strcspn(t, ",");
            char *name = arena_strdup(a, t, n), *eq = strrchr(name, '=');
            int64_t value;
            if (!eq || eq == name || !count_parse(eq + 1, &value))
                return diag_error(&p->diag, "--dim '%s': expected NAME=N with N >= 0", name);
            *eq = 0;
            t += n + (t[n] == ',');
            uint32_t at = 0; /* a later size of the same name replaces the earlier one */
            while (at < s->ndims && strcmp(dims[at].name, name) != 0)
                at++;
            dims = vec_grow(a, dims, &cap, at + 1, sizeof *dims);
            dims[at] = (struct dim_binding){name, value, NULL};
            s->ndims = larger_u32(s->ndims, at + 1);
        }
    s->dims = dims;
    return 0;
}

/* Parses text, "REGEX=DEVICE", into *pin, with strings in a.  Returns 0; or reports an error and returns -1. */
static int parse_pin(struct pin *pin, const char *text, struct arena *a, struct diag *d)
{
    char *pattern = arena_strdup(a, text, strlen(text)), *eq = strrchr(pattern, '=');
    if (!eq || eq == pattern || !eq[1])
        return diag_error(d, "--pin '%s': expected REGEX=DEVICE", text);
    *eq = 0;
    *pin = (struct pin){pattern, eq + 1};
    return 0;
}

/* Reads all values of "pin" into p->settings.pins: each is a pin, or "@FILE" with a pin on each line of the file that
 * is not blank and does not begin with "#". */
static enum pcc_status read_pins(struct pcc *p)
{
    struct arena *a = p->x.use.mem;
    struct settings *s = &p->settings;
    struct pin *pins = NULL;
    const char *said;
    uint32_t cap = 0;
    for (uint32_t i = 0; (said = given_nth(p, "pin", i)); i++) {
        size_t len = strlen(said);
        bool in_file = *said == '@';
        char *text, *save = NULL;
        if (in_file)
            text = infile_read_list(said + 1, a, &len, &p->diag);
        else
            text = arena_strdup(a, said, len);
        if (!text)
            return PCC_BAD_INPUT;
        for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
            if (in_file && (*line == '#' || !line[strspn(line, " \t\r")]))
                continue;
            line[strcspn(line, "\r")] = 0;
            pins = vec_grow(a, pins, &cap, s->npins + 1, sizeof *pins);
            if (parse_pin(&pins[s->npins++], line, a, &p->diag))
                return in_file ? PCC_BAD_INPUT : PCC_BAD_USE;
        }
    }
    s->pins = pins;
    return PCC_OK;
}

/* Reads all values of "cut-at" and "no-cut" into p->settings.cuts. */
static void read_cuts(struct pcc *p)
{
    struct settings *s = &p->settings;
    struct cut_rule *cuts = arena_array(p->x.use.mem, (size_t)p->ngiven + 1, sizeof *cuts);
    const char *t;
    for (uint32_t i = 0; (t = given_nth(p, "cut-at", i)); i++)
        cuts[s->ncuts++] = (struct cut_rule){t, .cut = true};
    for (uint32_t i = 0; (t = given_nth(p, "no-cut", i)); i++)
        cuts[s->ncuts++] = (struct cut_rule){t, .cut = false};
    s->cuts = cuts;
}

/* Reads all values of "state", "INPUT=OUTPUT", into p->settings.pairs.  Returns 0; or reports an error and returns
 * -1. */
static int read_pairs(struct pcc *p)
{
    struct arena *a = p->x.use.mem;
    struct settings *s = &p->settings;
    struct state_pair *pairs = arena_array(a, (size_t)p->ngiven + 1, sizeof *pairs);
    const char *t;
    for (uint32_t i = 0; (t = given_nth(p, "state", i)); i++) {
        const char *eq = strchr(t, '=');
        if (!eq || eq == t || !eq[1])
            return diag_error(&p->diag, "--state '%s': expected INPUT=OUTPUT", t);
        pairs[s->npairs++] = (struct state_pair){arena_strdup(a, t, (size_t)(eq - t)), eq + 1};
    }
    s->pairs = pairs;
    return 0;
}

/* Reads all values of setting `name`, such as "8=times.csv:a100", into a new array *all with *n elements; *n must be
 * 0 before.  Returns 0; or reports an error and returns -1. */
static int read_measurements(struct pcc *p, const char *name, const struct measurement **all,
                             uint32_t *n)
{
    struct arena *a = p->x.use.mem;
    struct measurement *list = arena_array(a, (size_t)p->ngiven + 1, sizeof *list);
    const char *t;
    for (; (t = given_nth(p, name, *n)); ++*n) {
        const char *eq = strchr(t, '=');
        struct measurement *f = &list[*n];
        if (!eq || !eq[1] || !count_parse(arena_strdup(a, t, (size_t)(eq - t)), &f->batch) ||
            f->batch < 1 || f->batch > BATCH_MOST)
            return diag_error(&p->diag, "--%s '%s': expected B=FILE, B a batch size in 1..%lld",
                              name, t, (long long)BATCH_MOST);
        f->file = eq + 1;
    }
    *all = list;
    return 0;
}

/* Reads "profile-at" and "profile-check" into p->settings, and checks that there is something to predict from.
 * Returns 0; or reports an error and returns -1. */
static int read_measured(struct pcc *p)
{
    struct settings *s = &p->settings;
    bool two = false;
    if (read_measurements(p, "profile-at", &s->measured, &s->nmeasured) ||
        read_measurements(p, "profile-check", &s->checks, &s->nchecks))
        return -1;
    for (uint32_t i = 1; i < s->nmeasured; i++)
        two = two || s->measured[i].batch != s->measured[0].batch;
    if (s->nmeasured > MEASUREMENTS_MOST)
        return diag_error(&p->diag, "--profile-at: %u files, expected at most %d", s->nmeasured,
                          MEASUREMENTS_MOST);
    if (s->nmeasured && !two)
        return diag_error(
            &p->diag,
            "--profile-at: all files are of batch size %lld, expected two different "
            "sizes at least; a measurement of the size that is planned goes to --costs",
            (long long)s->measured[0].batch);
    if (s->nchecks && !s->nmeasured)
        return diag_error(&p->diag, "--profile-check: there is no prediction to check without "
                                    "--profile-at");
    return 0;
}

/* If the user gave setting o, stores its value in its field of the struct `of`; of == NULL: only checks the value.
 * Returns 0; or reports an error and returns -1. */
static int take_value(struct pcc *p, const struct opt *o, void *of)
{
    const char *text = handle_given(p, o->name);
    if (text && o->kind == OPT_BOOL && !*text)
        text = "true"; /* the option has no value on the command line, as in --replicate */
    if (!text || (of ? opt_set(o, of, text) : opt_fits(o, text)))
        return 0;
    return diag_error(&p->diag, "--%s '%s': expected %s", o->name, text,
                      opt_expected(o, p->x.use.mem));
}

/* Reads all values of "support", FILE:CLASS, into p->settings.support.  Returns 0; or reports an error and returns
 * -1. */
static int read_support(struct pcc *p)
{
    struct settings *s = &p->settings;
    const char **all = arena_array(p->x.use.mem, (size_t)p->ngiven + 1, sizeof *all);
    const char *text, *classes;
    for (; (text = given_nth(p, "support", s->nsupport)); s->nsupport++) {
        all[s->nsupport] = text;
        table_path(text, &classes, p->x.use.mem);
        if (!classes || !*classes)
            return diag_error(&p->diag, "--support '%s': expected FILE:CLASS", text);
    }
    s->support = all;
    return 0;
}

enum pcc_status settings_read(struct pcc *p)
{
    struct settings *s = &p->settings;
    const char **costs = arena_array(p->x.use.mem, (size_t)p->ngiven + 1, sizeof *costs);
    *s = (struct settings){0};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        bool has_field = table[i].off != 0; /* FIELD() of no setting is 0 */
        if (table[i].kind != OPT_TEXT && take_value(p, &table[i], has_field ? s : NULL))
            return PCC_BAD_USE;
    }
    if (settings_dims(p) || read_pairs(p) || read_measured(p) || read_support(p))
        return PCC_BAD_USE;
    for (const char *file; (file = given_nth(p, "costs", s->ncost_files)) != NULL;)
        costs[s->ncost_files++] = file;
    s->cost_files = costs;
    read_cuts(p);
    return take_table_sizes(p) ? PCC_BAD_INPUT : read_pins(p);
}

/* Whether the objective is a time of training iterations. */
static bool is_iteration(const struct pcc *p)
{
    return given_kind(p)->feed == FEED_MICRO_BATCHES;
}

/* Whether setting o was given and applies: settings of a training iteration apply only if the objective is the time of
 * an iteration. */
static bool applies(const struct pcc *p, const struct opt *o)
{
    return handle_given(p, o->name) && (o->about != ABOUT_ITERATION || is_iteration(p));
}

/* Sets the cost of a part to the largest of the costs that were measured for the engines of --for.  Does nothing if
 * --part-cost or the model's file gives the cost, or if the file has times of nodes. */
static void take_engine_cost(struct pcc *p)
{
    const char *engines = handle_given(p, "for"), *name = NULL;
    int64_t cost = engines ? engines_part_cost(engines, &name) : 0;
    bool usual = p->own_model.part_cost == exec_usual_part_cost(/*brings_times=*/false);
    if (!cost || !usual || handle_given(p, "part-cost"))
        return;
    p->x.scene.model.part_cost = cost;
    p->settings.cost_of = name;
}

/* Sets the execution model from the settings in exec_settings, with the cost of a part (take_engine_cost()), and reads
 * "judge", the objective that plans are shown by.  Returns 0; or reports an error, also of settings that do not go
 * together, and returns -1. */
static int describe_model(struct pcc *p)
{
    struct exec_model *e = &p->x.scene.model;
    struct arena *a = p->x.use.mem;
    const char *schedule = handle_given(p, "schedule"), *judge = handle_given(p, "judge");
    if (schedule && !is_iteration(p) && strcmp(schedule, "pipedream") && strcmp(schedule, "gpipe"))
        return diag_error(&p->diag, "--schedule '%s': expected pipedream or gpipe", schedule);
    for (const struct opt *o = exec_settings; o->name; o++) {
        struct opt own = exec_values(e, o, a);
        /* the value of a setting that does not apply is checked, but not stored */
        if (take_value(p, &own, applies(p, o) ? e : NULL))
            return -1;
        p->settings.said |= applies(p, o) ? exec_bit(o) : 0;
    }
    int shown = judge ? exec_objective(e, judge) : TIME_PER_SAMPLE;
    struct opt objective = exec_values(e, exec_setting("objective"), a);
    if (shown < 0)
        return diag_error(&p->diag, "--judge '%s': expected %s", judge,
                          opt_expected(&objective, a));
    p->settings.judged = judge != NULL;
    p->settings.judge = (uint32_t)shown;
    take_engine_cost(p);
    const char *why = exec_refuses(e, a), *memory = handle_given(p, "memory-model");
    unsigned about = exec_kind(e)->about | exec_kind_of(e, p->settings.judge)->about;
    if (memory && e->memory == MEMORY_PAPER && !(about & ABOUT_STEP))
        return diag_error(&p->diag,
                          "--memory-model=%s is about one sample alone: it needs "
                          "--objective=makespan or --judge=makespan",
                          memory);
    return why ? diag_error(&p->diag, "%s", why) : 0;
}

/* Returns whether an accelerator of the cluster has a link of a known rate; the accelerators of a workload have
 * none. */
static bool has_links(const struct cluster *c)
{
    bool any = c->nlevel > 0;
    for (uint32_t i = 0; i < c->ncls; i++)
        any = any || c->cls[i].link_bandwidth > 0;
    return any;
}

/* Makes *c the devices of this machine.  NVLinks that no plan for the objective can use are left out. */
static void detect_devices(struct pcc *p, struct cluster *c)
{
    cluster_detect(c, p->x.use.mem, &p->diag);
    diag_note(&p->diag,
              "-d detect measures anew each time; pcc --list-devices=detect prints a file for -d");
    for (uint32_t k = 0; k < c->ncls && given_kind(p)->plans->useless & FEATURE_GROUPS; k++) {
        c->cls[k].group = 0;
        c->cls[k].inner_bandwidth = c->cls[k].inner_latency = 0;
    }
}

enum pcc_status settings_cluster(struct pcc *p, const char *text, struct cluster *c)
{
    struct services *use = &p->x.use;
    if (!strcmp(text, "detect")) {
        detect_devices(p, c);
        return PCC_OK;
    }
    if (!cluster_parse(c, use->mem, text, use->diag))
        return PCC_OK;
    return str_ends(text, ".json") ? PCC_BAD_INPUT : PCC_BAD_USE;
}

/* Makes the cluster from "devices", from the model's file, or the default one, and resets the execution model to the
 * one that the model's file describes. */
static enum pcc_status find_devices(struct pcc *p)
{
    struct ctx *x = &p->x;
    struct cluster *own = p->own;
    const char *text = handle_given(p, "devices");
    bool linked = own && has_links(own);
    if (own && (text || handle_given(p, "levels") || (linked && handle_given(p, "link")))) {
        diag_error(x->use.diag, "%s brings its own devices: -d%s and --levels do not apply",
                   p->name, linked ? ", --link" : "");
        return PCC_BAD_USE;
    }
    x->scene.model = p->own_model;
    x->scene.cluster = arena_alloc(x->use.mem, sizeof *x->scene.cluster);
    if (own)
        /* a copy, as settings change it, and a later plan must find p->own unchanged */
        *x->scene.cluster = *own;
    if (text)
        return settings_cluster(p, text, x->scene.cluster);
    if (!own)
        cluster_default(x->scene.cluster);
    return PCC_OK;
}

/* Refuses "link", "group" and "allreduce" if levels of links (from "levels" or from the devices) already say the
 * same.  Returns 0; or reports an error and returns -1. */
static int check_levels(struct pcc *p)
{
    static const char *const other[] = {"link", "group", "allreduce"};
    const struct cluster *c = p->x.scene.cluster;
    const char *levels = handle_given(p, "levels"), *devices = handle_given(p, "devices");
    const char *who = levels ? "--levels" : devices ? devices : p->name;
    /* [option of other] levels say what the option says */
    bool tells[] = {levels || c->nlevel, levels || c->nlevel, false};
    /* "allreduce" is a rate over several servers; of several levels, level 0 is within a server */
    for (uint32_t l = c->nlevel > 1 ? 1 : 0; l < c->nlevel; l++)
        tells[2] = tells[2] || c->level[l].reduce;
    for (uint32_t i = 0; i < 3; i++)
        if (tells[i] && handle_given(p, other[i]))
            return diag_error(p->x.use.diag, "%s tells of all links: --%s does not apply", who,
                              other[i]);
    return 0;
}

/* Applies "levels", "link", "group", "allreduce", "precision" and "reserve" to the cluster.  Returns 0; or
 * reports an error and returns -1. */
static int describe_devices(struct pcc *p)
{
    struct ctx *x = &p->x;
    const char *levels = handle_given(p, "levels"), *link = handle_given(p, "link");
    const char *group = handle_given(p, "group"), *reserve = handle_given(p, "reserve");
    if (levels && cluster_set_levels(x->scene.cluster, x->use.mem, levels, x->use.diag))
        return -1;
    if (check_levels(p))
        return -1;
    if (link && cluster_set_link(x->scene.cluster, link, x->use.diag))
        return -1;
    if (group && cluster_set_groups(x->scene.cluster, group, x->use.diag))
        return -1;
    const char *reduce = handle_given(p, "allreduce");
    if (reduce)
        rate_parse(reduce, &x->scene.cluster->reduce_bandwidth);
    const char *precision = handle_given(p, "precision");
    if (precision && cluster_set_precision(x->scene.cluster, precision, x->use.diag))
        return -1;
    if (reserve && cluster_set_reserve(x->scene.cluster, reserve, x->use.diag))
        return -1;
    return 0;
}

enum pcc_status settings_devices(struct pcc *p)
{
    enum pcc_status s = find_devices(p);
    if (s)
        return s;
    if (describe_devices(p) || describe_model(p))
        return PCC_BAD_USE;
    if (is_iteration(p) && settings_training(p))
        return PCC_BAD_USE;
    return ctx_check_pins(&p->x) ? PCC_BAD_USE : PCC_OK;
}
