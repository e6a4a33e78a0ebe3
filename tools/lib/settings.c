/* Settings that say what is planned and for which devices, into the context (settings.h).  O(settings^2), which are
 * few. */
#include "tools/lib/settings.h"

#include "ir/base/infile.h"
#include "ir/base/nearest.h"
#include "ir/base/strings.h"
#include "ir/cluster/detect.h"

#include <string.h>

/* Settings beside the options of writers. */
static const char *const table[] = {"devices",
                                    "link",
                                    "group",
                                    "levels",
                                    "transfer-scale",
                                    "io",
                                    "overlap",
                                    "schedule",
                                    "replicate",
                                    "sync",
                                    "efficiency",
                                    "reserve",
                                    "part-cost",
                                    "dim",
                                    "costs",
                                    "profile-at",
                                    "profile-check",
                                    "pin",
                                    "state",
                                    "keep-blocks",
                                    "time-limit",
                                    "max-states",
                                    "allow-links",
                                    "warnings",
                                    "objective",
                                    "judge",
                                    "network",
                                    "contention",
                                    "dispatch",
                                    "memory-model",
                                    "cut",
                                    "cpus",
                                    "pieces",
                                    "micro-batches",
                                    "micro-batch-size",
                                    "profiled-batch",
                                    "global-batch",
                                    "slices",
                                    "warmup",
                                    "recompute",
                                    "duplex",
                                    "allreduce",
                                    "allreduce-lane",
                                    "allreduce-overlap",
                                    "workspace",
                                    "weight-gradient-share",
                                    "stages-per-device",
                                    "optimizer"};

const char *setting_named(const char *name)
{
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (!strcmp(table[i], name))
            return table[i];
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
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        nearest_try(&t, table[i]);
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
            if (!eq || eq == name || !count_parse(eq + 1, &value) || value < 1)
                return diag_error(&p->diag, "--dim '%s': expected NAME=N with N >= 1", name);
            *eq = 0;
            dims = vec_grow(a, dims, &cap, s->ndims + 1, sizeof *dims);
            dims[s->ndims++] = (struct dim_binding){name, value};
            t += n + (t[n] == ',');
        }
    s->dims = dims;
    return 0;
}

static int add_pin(struct pin *pin, const char *text, struct arena *a, struct diag *d)
{
    char *pattern = arena_strdup(a, text, strlen(text)), *eq = strrchr(pattern, '=');
    if (!eq || eq == pattern || !eq[1])
        return diag_error(d, "--pin '%s': expected REGEX=DEVICE", text);
    *eq = 0;
    *pin = (struct pin){pattern, eq + 1};
    return 0;
}

static enum pcc_status read_pins(struct pcc *p)
{
    struct arena *a = p->x.use.mem;
    struct settings *s = &p->settings;
    struct pin *pins = NULL;
    const char *said;
    uint32_t cap = 0;
    for (uint32_t i = 0; (said = given_nth(p, "pin", i)); i++) {
        size_t len = strlen(said);
        char *text = arena_strdup(a, said, len), *save = NULL;
        if (*said == '@' && !(text = infile_read_list(said + 1, a, &len, &p->diag)))
            return PCC_BAD_INPUT;
        for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
            if (*said == '@' && (*line == '#' || !line[strspn(line, " \t\r")]))
                continue;
            line[strcspn(line, "\r")] = 0;
            pins = vec_grow(a, pins, &cap, s->npins + 1, sizeof *pins);
            if (add_pin(&pins[s->npins++], line, a, &p->diag))
                return *said == '@' ? PCC_BAD_INPUT : PCC_BAD_USE;
        }
    }
    s->pins = pins;
    return PCC_OK;
}

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

/* "8=times.csv:a100" of option `name`, all that were given. */
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

static int read_limits(struct pcc *p)
{
    const char *limit = given(p, "time-limit"), *states = given(p, "max-states");
    struct settings *s = &p->settings;
    if (limit && !time_parse(limit, &s->time_limit))
        return diag_error(&p->diag, "--time-limit '%s': expected a time such as 30s", limit);
    if (states && (!count_parse(states, &s->max_states) || s->max_states < 1))
        return diag_error(&p->diag, "--max-states '%s': expected a number >= 1", states);
    return 0;
}

enum pcc_status settings_read(struct pcc *p)
{
    struct settings *s = &p->settings;
    const char **costs = arena_array(p->x.use.mem, (size_t)p->ngiven + 1, sizeof *costs);
    *s = (struct settings){0};
    if (settings_dims(p) || read_pairs(p) || read_limits(p) || read_measured(p))
        return PCC_BAD_USE;
    while ((costs[s->ncost_files] = given_nth(p, "costs", s->ncost_files)))
        s->ncost_files++;
    s->cost_files = costs;
    s->keep_blocks = given(p, "keep-blocks") != NULL;
    return read_pins(p);
}

/* The place of a setting's value among names; the default if it is not given; -1, an error. */
static int read_choice(struct pcc *p, const char *name, const char *const *names, int def)
{
    const char *text = given(p, name);
    for (int i = 0; text && names[i]; i++)
        if (!strcmp(text, names[i]))
            return i;
    if (!text)
        return def;
    const char *all = names[0];
    for (int i = 1; names[i]; i++)
        all = arena_fmt(p->x.use.mem, "%s%s%s", all, names[i + 1] ? ", " : " or ", names[i]);
    return diag_error(&p->diag, "--%s '%s': expected %s", name, text, all);
}

/* The option of what a value rests on: "memory-model". */
static const char *basis_option(enum basis b, struct arena *a)
{
    char *name = arena_strdup(a, basis_key[b], strlen(basis_key[b]));
    for (char *c = name; *c; c++)
        *c = *c == '_' ? '-' : *c;
    return name;
}

/* What is said of b by the option of that name, if it is: its number, or -1 and an error. */
static int read_basis(struct pcc *p, enum basis b, const char *option)
{
    const char *text = given(p, option);
    int word = basis_find(&p->x.scene.model, b, text);
    if (word < 0)
        diag_error(&p->diag, "--%s '%s': expected %s", option, text,
                   basis_choices(&p->x.scene.model, b, p->x.use.mem));
    return word;
}

/* How a step runs, and what plans are to make small. */
static int describe_step(struct pcc *p)
{
    struct exec_model *e = &p->x.scene.model;
    for (enum basis b = 0; b < BASES; b++) {
        const char *option = basis_option(b, p->x.use.mem);
        int word = given(p, option) ? read_basis(p, b, option) : 0;
        if (word < 0)
            return -1;
        if (given(p, option)) {
            basis_set(e, b, (uint32_t)word);
            p->settings.said |= 1U << b;
        }
    }
    static const char *const cuts[] = {"few", "transfers", NULL};
    if (read_choice(p, "cut", cuts, 0) < 0)
        return -1;
    int judge = given(p, "judge") ? read_basis(p, BASIS_OBJECTIVE, "judge") : -1;
    if (given(p, "judge") && judge < 0)
        return -1;
    p->settings.judged = judge >= 0;
    p->settings.judge = judge >= 0 ? (uint32_t)judge : TIME_PER_SAMPLE;
    const char *why = exec_refuses(e, p->x.use.mem), *memory = given(p, "memory-model");
    uint32_t fields = exec_kind(e)->fields | exec_kind_of(e, p->settings.judge)->fields;
    if (memory && e->memory > MEMORY_SUM && !(fields >> BASIS_MEMORY & 1))
        return diag_error(&p->diag,
                          "--memory-model=%s is about one sample alone: it needs "
                          "--objective=makespan or --judge=makespan",
                          memory);
    return why ? diag_error(&p->diag, "%s", why) : 0;
}

static enum pcc_status find_devices(struct pcc *p)
{
    struct ctx *x = &p->x;
    struct cluster *own = p->own;
    const char *text = given(p, "devices");
    bool detects = text && !strcmp(text, "detect");
    if (own && (text || given(p, "link") || given(p, "levels"))) {
        diag_error(x->use.diag, "%s brings its own devices: -d, --link and --levels do not apply",
                   p->name);
        return PCC_BAD_USE;
    }
    if (detects && !(text = cluster_detect(x->use.mem, x->use.diag)))
        return PCC_BAD_INPUT;
    x->scene.model = p->own_model;
    x->scene.cluster = own ? own : arena_alloc(x->use.mem, sizeof *x->scene.cluster);
    if (text && cluster_parse(x->scene.cluster, x->use.mem, text, x->use.diag))
        return str_ends(text, ".json") ? PCC_BAD_INPUT : PCC_BAD_USE;
    if (!own && !text)
        cluster_default(x->scene.cluster);
    return 0;
}

/* Whether levels of links, of --levels or of the devices, leave room for the other settings that tell of links. */
static int check_levels(struct pcc *p)
{
    static const char *const other[] = {"link", "group", "allreduce"};
    const struct cluster *c = p->x.scene.cluster;
    const char *levels = given(p, "levels"), *devices = given(p, "devices");
    const char *who = levels ? "--levels" : devices ? devices : p->name;
    bool tells[] = {levels || c->nlevel, levels || c->nlevel, false};
    for (uint32_t l = c->nlevel > 1; l < c->nlevel; l++)
        tells[2] = tells[2] || c->level[l].reduce;
    for (uint32_t i = 0; i < 3; i++)
        if (tells[i] && given(p, other[i]))
            return diag_error(p->x.use.diag, "%s tells of all links: --%s does not apply", who,
                              other[i]);
    return 0;
}

static int describe_devices(struct pcc *p)
{
    struct ctx *x = &p->x;
    const char *levels = given(p, "levels"), *link = given(p, "link");
    const char *group = given(p, "group"), *reserve = given(p, "reserve");
    if (levels && cluster_set_levels(x->scene.cluster, x->use.mem, levels, x->use.diag))
        return -1;
    if (check_levels(p))
        return -1;
    if (link && cluster_set_link(x->scene.cluster, link, x->use.diag))
        return -1;
    if (group && cluster_set_groups(x->scene.cluster, group, x->use.diag))
        return -1;
    const char *reduce = given(p, "allreduce");
    if (reduce && (!rate_parse(reduce, &x->scene.cluster->reduce_bandwidth) ||
                   x->scene.cluster->reduce_bandwidth < 1))
        return diag_error(x->use.diag, "--allreduce '%s': expected a rate such as 3GB/s", reduce);
    if (reserve && cluster_set_reserve(x->scene.cluster, reserve, x->use.diag))
        return -1;
    return 0;
}

static bool is_iteration(const struct pcc *p)
{
    return given_kind(p)->feed == FEED_MICRO_BATCHES;
}

static int describe_model(struct pcc *p)
{
    struct exec_model *e = &p->x.scene.model;
    const char *io = given(p, "io"), *eff = given(p, "efficiency");
    const char *part = given(p, "part-cost");
    if (part && (!time_parse(part, &e->part_cost) || e->part_cost < 0 || e->part_cost > PS_PER_S))
        return diag_error(&p->diag, "--part-cost '%s': expected a time in 0s..1s, such as 20us",
                          part);
    if (io && strcmp(io, "free") && strcmp(io, "paid"))
        return diag_error(&p->diag, "--io '%s': expected paid or free", io);
    e->io_free = io ? !strcmp(io, "free") : e->io_free;
    int overlap = read_choice(p, "overlap", overlap_name, (int)e->overlap);
    /* what an iteration of training does is settings_training()'s */
    int schedule = is_iteration(p)
                       ? (int)e->schedule
                       : read_choice(p, "schedule", micro_schedule_name, (int)e->schedule);
    if (overlap < 0 || schedule < 0)
        return -1;
    e->overlap = (enum overlap)overlap;
    e->schedule = (enum micro_schedule)schedule;
    e->replicate = e->replicate || given(p, "replicate");
    const char *sync = given(p, "sync");
    if (sync && (!rate_parse(sync, &e->sync_bandwidth) || e->sync_bandwidth < 1))
        return diag_error(&p->diag, "--sync '%s': expected a rate such as 25GB/s", sync);
    if (eff && !share_parse(eff, &e->efficiency))
        return diag_error(&p->diag, "--efficiency '%s': expected a share in 0.000001..1", eff);
    return 0;
}

enum pcc_status settings_devices(struct pcc *p)
{
    enum pcc_status s = find_devices(p);
    return s                                                              ? s
           : describe_devices(p) || describe_model(p) || describe_step(p) ? PCC_BAD_USE
           : is_iteration(p) && settings_training(p)                      ? PCC_BAD_USE
           : ctx_check_pins(&p->x)                                        ? PCC_BAD_USE
                                                                          : PCC_OK;
}
