/* Planning with arguments of pcc (plan_args.h). */
#include "tools/run/plan_args.h"

#include "tools/lib/handle.h"
#include "tools/lib/idle.h"
#include "tools/run/resize.h"

#include <string.h>

int plan_args_parse(struct cli *c, char **args, struct arena *a, struct diag *d)
{
    int n = 0;
    while (args[n])
        n++;
    char **argv = arena_array(a, (size_t)n + 2, sizeof *argv);
    *c = (struct cli){0};
    argv[0] = arena_fmt(a, "pcc");
    memcpy(argv + 1, args, (size_t)n * sizeof *argv);
    return cli_parse(c, n + 1, argv, a, d);
}

int plan_args_check(char **args, struct arena *a, struct diag *d)
{
    struct cli c;
    if (plan_args_parse(&c, args, a, d))
        return -1;
    if (c.input)
        return diag_error(d, "'%s' behind --: the model stands before it", c.input);
    const char *objective = cli_value(&c, "objective");
    if (objective && strcmp(objective, "time-per-sample") != 0)
        return diag_error(d, "--objective=%s behind --: rounds make the time per sample small",
                          objective);
    if (cli_value(&c, "for"))
        return diag_error(
            d, "--for behind --: pcc FOLDER --for=ENGINE adds files to the split that is left");
    if (cli_value(&c, "costs"))
        return diag_error(d, "--costs behind --: the rounds measure");
    for (int id = 0; id < CLI_OWN; id++)
        if (c.n[id] && id != CLI_PASSES)
            return diag_error(d,
                              "--%s behind --: expected options that say what is planned, and -p",
                              c.option[id].row->name);
    return 0;
}

const char *plan_args_dim(char **args, uint32_t i, struct arena *a)
{
    struct cli c;
    struct diag quiet = diag_silent();
    if (plan_args_parse(&c, args, a, &quiet))
        return NULL;
    int id = cli_named(&c, "dim")->id;
    return i < c.n[id] ? c.list[id][i] : NULL;
}

bool plan_args_has(char **args, const char *name, struct arena *a)
{
    struct cli c;
    struct diag quiet = diag_silent();
    return plan_args_parse(&c, args, a, &quiet) == 0 && c.n[cli_named(&c, name)->id] > 0;
}

/* Passes on errors of the library, but for those that Ctrl-C causes. */
static void pass_on(void *user, enum pcc_level level, const char *name, const char *line)
{
    const struct plan_call *c = user;
    (void)name;
    if (level == PCC_ERROR && !*c->stop)
        diag_error(c->d, "%s", line);
}

/* Whether Ctrl-C ends the call of the library. */
static int stopped(void *user, const struct pcc_progress *at)
{
    const struct plan_call *c = user;
    (void)at;
    return *c->stop;
}

/* Sets in the handle p: the n cost files, the options of c->args, and the other fields of c: pairs of states (unless
 * the options have --state), sizes of dimensions, and devices. */
static enum pcc_status set_all(const struct plan_call *c, struct pcc *p, const char *const *costs,
                               uint32_t n)
{
    enum pcc_status s = PCC_OK;
    const char *name;
    json_t *size;
    for (uint32_t i = 0; i < n && !s; i++)
        s = pcc_set(p, "costs", costs[i]);
    for (int id = CLI_OWN; id < (int)c->args.noption && !s; id++)
        for (uint32_t i = 0; i < c->args.n[id] && !s; i++)
            s = pcc_set(p, c->args.option[id].row->name, c->args.list[id][i]);
    for (size_t i = 0; i < json_array_size(c->states) && !s && !cli_value(&c->args, "state"); i++) {
        const json_t *state = json_array_get(c->states, i);
        const char *in = json_string_value(json_object_get(state, "in"));
        const char *out = json_string_value(json_object_get(state, "out"));
        if (in && out)
            s = pcc_set(p, "state", arena_fmt(c->a, "%s=%s", in, out));
    }
    json_object_foreach((json_t *)c->dims, name, size)
    {
        const char *text = arena_fmt(c->a, "%s=%lld", name, (long long)json_integer_value(size));
        if (!s)
            s = pcc_set(p, "dim", text);
    }
    return s || !c->devices ? s : pcc_set(p, "devices", c->devices);
}

enum pcc_status plan_write(struct plan_call *c, const char *const *costs, uint32_t n,
                           const char *folder)
{
    struct arena *own = arena_new(c->a);
    struct pcc *p = library_handle(own);
    pcc_listen(p, &(struct pcc_listener){.user = c, .message = pass_on, .progress = stopped});
    c->idle = NULL;
    enum pcc_status s = set_all(c, p, costs, n);
    if (!s)
        s = pcc_open(p, c->model);
    if (!s)
        s = pcc_plan(p, c->args.value[CLI_PASSES]);
    if (!s && pcc_verdict(p))
        c->idle = idle_text(&p->judged.r.scene, p->judged.r.plan, c->a);
    if (!s)
        s = pcc_write(p, folder);
    arena_free(own);
    return s;
}
