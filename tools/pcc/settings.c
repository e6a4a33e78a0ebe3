/* Options that say what is planned and for which devices (settings.h). */
#include "settings.h"

#include "ir/base/infile.h"
#include "ir/base/strings.h"

#include <string.h>

int settings_dims(const struct cli *c, struct settings *s, struct arena *a, struct diag *d)
{
    struct dim_binding *dims = NULL;
    uint32_t cap = 0;
    for (uint32_t i = 0; i < c->n[CLI_DIM]; i++)
        for (const char *t = c->list[CLI_DIM][i]; *t;) {
            size_t n = strcspn(t, ",");
            char *name = arena_strdup(a, t, n), *eq = strrchr(name, '=');
            int64_t value;
            if (!eq || eq == name || !count_parse(eq + 1, &value) || value < 1)
                return diag_error(d, "--dim '%s': expected NAME=N with N >= 1", name);
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

int settings_pins(const struct cli *c, struct settings *s, struct arena *a, struct diag *d)
{
    struct pin *pins = NULL;
    uint32_t cap = 0;
    for (uint32_t i = 0; i < c->n[CLI_PIN]; i++) {
        const char *said = c->list[CLI_PIN][i];
        size_t len = strlen(said);
        char *text = arena_strdup(a, said, len), *save = NULL;
        if (*said == '@' && !(text = infile_read(said + 1, a, &len, d)))
            return EXIT_INPUT;
        for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
            if (*said == '@' && (*line == '#' || !line[strspn(line, " \t\r")]))
                continue;
            line[strcspn(line, "\r")] = 0;
            pins = vec_grow(a, pins, &cap, s->npins + 1, sizeof *pins);
            if (add_pin(&pins[s->npins++], line, a, d))
                return *said == '@' ? EXIT_INPUT : EXIT_USAGE;
        }
    }
    s->pins = pins;
    return 0;
}

int settings_pairs(const struct cli *c, struct settings *s, struct arena *a, struct diag *d)
{
    struct state_pair *pairs = arena_array(a, c->n[CLI_STATE] + 1, sizeof *pairs);
    for (uint32_t i = 0; i < c->n[CLI_STATE]; i++) {
        const char *t = c->list[CLI_STATE][i], *eq = strchr(t, '=');
        if (!eq || eq == t || !eq[1])
            return diag_error(d, "--state '%s': expected INPUT=OUTPUT", t);
        pairs[s->npairs++] = (struct state_pair){arena_strdup(a, t, (size_t)(eq - t)), eq + 1};
    }
    s->pairs = pairs;
    return 0;
}

int settings_limits(const struct cli *c, struct settings *s, struct diag *d)
{
    const char *limit = c->value[CLI_TIME_LIMIT], *states = c->value[CLI_MAX_STATES];
    if (limit && !time_parse(limit, &s->time_limit))
        return diag_error(d, "--time-limit '%s': expected a time such as 30s", limit);
    if (states && (!count_parse(states, &s->max_states) || s->max_states < 1))
        return diag_error(d, "--max-states '%s': expected a number >= 1", states);
    return 0;
}

/* The place of an option's value among names; the option's default if it is not given; -1, an error. */
static int read_choice(const struct cli *c, enum cli_id id, const char *option,
                       const char *const *names, int def, struct diag *d)
{
    const char *text = c->value[id];
    for (int i = 0; text && names[i]; i++)
        if (!strcmp(text, names[i]))
            return i;
    if (!text)
        return def;
    return diag_error(d, "%s '%s': expected %s, %s%s%s", option, text, names[0], names[1],
                      names[2] ? ", " : "", names[2] ? names[2] : "");
}

int settings_devices(const struct cli *c, struct ctx *x, struct cluster *own)
{
    const char *text = c->value[CLI_DEVICES];
    if (own && (text || c->value[CLI_LINK])) {
        diag_error(x->use.diag, "%s brings its own devices: -d and --link do not apply", c->input);
        return EXIT_USAGE;
    }
    x->scene.cluster = own ? own : arena_alloc(x->use.mem, sizeof *x->scene.cluster);
    if (text && cluster_parse(x->scene.cluster, x->use.mem, text, x->use.diag))
        return str_ends(text, ".json") ? EXIT_INPUT : EXIT_USAGE;
    if (!own && !text)
        cluster_default(x->scene.cluster);
    return 0;
}

int settings_cluster(const struct cli *c, struct ctx *x)
{
    const char *io = c->value[CLI_IO], *eff = c->value[CLI_EFFICIENCY];
    if (c->value[CLI_LINK] && cluster_set_link(x->scene.cluster, c->value[CLI_LINK], x->use.diag))
        return -1;
    if (c->value[CLI_GROUP] &&
        cluster_set_groups(x->scene.cluster, c->value[CLI_GROUP], x->use.diag))
        return -1;
    if (c->value[CLI_RESERVE] &&
        cluster_set_reserve(x->scene.cluster, c->value[CLI_RESERVE], x->use.diag))
        return -1;
    const char *part = c->value[CLI_PART_COST];
    if (part && (!time_parse(part, &x->scene.cluster->part_cost) ||
                 x->scene.cluster->part_cost < 0 || x->scene.cluster->part_cost > PS_PER_S))
        return diag_error(x->use.diag, "--part-cost '%s': expected a time in 0s..1s, such as 20us",
                          part);
    if (io && strcmp(io, "free") && strcmp(io, "paid"))
        return diag_error(x->use.diag, "--io '%s': expected paid or free", io);
    x->scene.cluster->io_free = io ? !strcmp(io, "free") : x->scene.cluster->io_free;
    int overlap = read_choice(c, CLI_OVERLAP, "--overlap", overlap_name,
                              (int)x->scene.cluster->overlap, x->use.diag);
    int schedule = read_choice(c, CLI_SCHEDULE, "--schedule", schedule_name,
                               (int)x->scene.cluster->schedule, x->use.diag);
    if (overlap < 0 || schedule < 0)
        return -1;
    x->scene.cluster->overlap = (enum overlap)overlap;
    x->scene.cluster->schedule = (enum schedule)schedule;
    x->scene.cluster->replicate = x->scene.cluster->replicate || c->value[CLI_REPLICATE];
    const char *sync = c->value[CLI_SYNC];
    if (sync && (!rate_parse(sync, &x->scene.cluster->sync_bandwidth) ||
                 x->scene.cluster->sync_bandwidth < 1))
        return diag_error(x->use.diag, "--sync '%s': expected a rate such as 25GB/s", sync);
    if (eff && !share_parse(eff, &x->scene.cluster->efficiency))
        return diag_error(x->use.diag, "--efficiency '%s': expected a share in 0.000001..1", eff);
    return 0;
}
