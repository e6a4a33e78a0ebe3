/* Handles and the calls of pcc.h: messages, settings, and what each call does before and after its work.
 *
 * While a call runs, its thread has the locale "C", so that numbers in files and settings have decimal points
 * whatever the locale of the program.  Each call costs O(settings) beside its work. */
#include "tools/lib/handle.h"

#include "frontends/frontends.h"
#include "ir/base/warning_switch.h"
#include "tools/lib/exec/kinds.h"
#include "tools/lib/lists.h"
#include "tools/lib/recompose/recompose.h"
#include "tools/lib/settings.h"
#include "tools/lib/write.h"

#include <assert.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

const char *pcc_version(void)
{
    return PCC_VERSION;
}

/* ---- messages --------------------------------------------------------------------------------- */

/* diag.emit: keeps the first error of a call in p->error, and passes each message to the user's listener. */
static void emit_message(void *user, enum diag_level level, enum warning w, const char *line)
{
    struct pcc *p = user;
    if (level == DIAG_ERROR && !p->spoke) {
        snprintf(p->error, sizeof p->error, "%s", line);
        p->spoke = true;
    }
    if (p->user.message)
        p->user.message(p->user.user, (enum pcc_level)level, warning_text(w).name, line);
}

/* listener.tell: passes progress to the user's listener; returns whether the user wants the work to end. */
static bool tell_progress(void *handle, const struct progress *at)
{
    struct pcc *p = handle;
    const struct pcc_progress out = {at->pass, at->phase, at->done, at->value, at->bound};
    return p->user.progress(p->user.user, &out) != 0;
}

void pcc_listen(struct pcc *p, const struct pcc_listener *l)
{
    p->user = l ? *l : (struct pcc_listener){0};
    p->listener.tell = p->user.progress ? tell_progress : NULL;
}

const char *pcc_error(const struct pcc *p)
{
    return p->error;
}

enum pcc_status check_warned(struct pcc *p)
{
    uint32_t n = p->diag.failures;
    if (!n)
        return PCC_OK;
    diag_error(&p->diag, "-Werror: %u warning%s", n, n > 1 ? "s" : "");
    return PCC_BAD_INPUT;
}

/* ---- settings --------------------------------------------------------------------------------- */

const char *handle_given(const struct pcc *p, const char *name)
{
    for (uint32_t i = p->ngiven; i-- > 0;)
        if (!strcmp(p->given[i].name, name))
            return p->given[i].value;
    return NULL;
}

const struct exec_kind *given_kind(const struct pcc *p)
{
    const char *name = handle_given(p, "objective");
    for (uint32_t i = 0; name && exec_kinds[i]; i++)
        if (!strcmp(exec_kinds[i]->name, name))
            return exec_kinds[i];
    return exec_kinds[p->own_model.objective];
}

const char *given_nth(const struct pcc *p, const char *name, uint32_t i)
{
    for (uint32_t k = 0; k < p->ngiven; k++)
        if (!strcmp(p->given[k].name, name) && i-- == 0)
            return p->given[k].value;
    return NULL;
}

/* Removes all values of a setting from p->given; keeps the order of the others. */
static void forget_setting(struct pcc *p, const char *name)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < p->ngiven; i++)
        if (strcmp(p->given[i].name, name))
            p->given[n++] = p->given[i];
    p->ngiven = n;
}

/* Does the work of pcc_set(): adds a value to p->given; "warnings" takes effect on p->diag at once.  Returns the
 * status. */
static enum pcc_status store_setting(struct pcc *p, const char *name, const char *value)
{
    const char *known = setting_named(name);
    if (!known) {
        diag_error(&p->diag, "there is no setting '%s'%s", name, setting_hint(name, p->mem));
        return PCC_BAD_USE;
    }
    if (!value) {
        forget_setting(p, known);
        if (!strcmp(known, "warnings"))
            warning_reset(&p->diag);
        return PCC_OK;
    }
    if (!strcmp(known, "warnings"))
        return warning_switch(&p->diag, value, p->mem) ? PCC_BAD_USE : PCC_OK;
    p->given = vec_grow(p->mem, p->given, &p->capgiven, p->ngiven + 1, sizeof *p->given);
    p->given[p->ngiven++] = (struct given){known, arena_strdup(p->mem, value, strlen(value))};
    return PCC_OK;
}

/* ---- calls ------------------------------------------------------------------------------------ */

/* The arguments of a call of pcc.h, and where its result goes.  A call uses only some of the fields. */
struct call {
    const char *name;  /* name of a setting, an input or a folder */
    const char *value; /* value of a setting; or a pipeline, a path, the name of a text */
    const void *bytes; /* [n] content of an input; NULL: it is a file */
    size_t n;
    const char **text;               /* gets the text that the call returns */
    const struct pcc_verdict **view; /* gets the verdict that the call returns */
};

/* A call, for arena_guard(). */
struct guarded_call {
    enum pcc_status (*what)(struct pcc *, const struct call *); /* does the work of the call */
    struct pcc *p;
    const struct call *c;
    enum pcc_status status; /* result of what() */
};

/* Runs a struct guarded_call; called by arena_guard(). */
static void run_guarded(void *arg)
{
    struct guarded_call *w = arg;
    w->status = w->what(w->p, w->c);
}

/* Runs what(p, c), the work of a call of pcc.h, in the locale "C" and under a guard for running out of memory. */
static enum pcc_status run_call(struct pcc *p,
                                enum pcc_status (*what)(struct pcc *, const struct call *),
                                const struct call *c)
{
    struct guarded_call w = {what, p, c, PCC_NO_MEMORY};
    size_t wanted;
    if (p->lost)
        return PCC_NO_MEMORY;
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0), theirs = uselocale(plain);
    p->spoke = false;
    p->diag.errors = 0; /* each call may show as many errors as diag.limit says */
    if (!arena_guard(p->mem, run_guarded, &w, &wanted)) {
        p->lost = true;
        if (!p->spoke) /* else the user has an error message of this call already */
            diag_error(&p->diag, "out of memory: %zu bytes wanted", wanted);
    }
    uselocale(theirs);
    freelocale(plain);
    assert(w.status || !p->spoke); /* a call that reported an error must not return PCC_OK */
    return w.status || !p->spoke ? w.status : PCC_BAD_INPUT;
}

/* services.read_model: reads an ONNX model whose annotations a pass wants. */
static struct module *read_model(const char *path, struct arena *of, struct diag *d)
{
    struct onnx_options o = {0}; /* the weights, which links may hide, are not needed */
    return onnx_read(path, &o, of, d);
}

/* Resets all that belongs to a model; afterwards no model is open.  Settings stay. */
static void reset_model(struct pcc *p)
{
    p->settings = (struct settings){0};
    p->x = (struct ctx){.settings = &p->settings,
                        .use.mem = arena_new(p->mem),
                        .use.scratch = arena_new(p->mem),
                        .use.diag = &p->diag,
                        .use.listener = &p->listener,
                        .use.read_model = read_model,
                        .scene.model.kinds = exec_kinds};
    p->judged = (struct plan_figures){0};
    p->name = NULL;
    p->own = NULL;
    p->own_model = p->x.scene.model;
    p->planned = false;
}

/* Frees the open model, its plan and its texts; reset_model() must follow. */
static void free_model(struct pcc *p)
{
    arena_free(p->x.use.scratch);
    arena_free(p->x.use.mem);
}

/* Does reset_model() for a new handle; called by arena_guard(). */
static void reset_new_handle(void *handle)
{
    reset_model(handle);
}

struct pcc *pcc_new(void)
{
    struct pcc *p = calloc(1, sizeof *p);
    if (!p)
        return NULL;
    p->diag = (struct diag){.emit = emit_message, .user = p, .listener = &p->listener};
    p->listener = (struct listener){.stop = &p->stop, .user = p};
    p->mem = arena_new(NULL);
    if (p->mem && arena_guard(p->mem, reset_new_handle, p, NULL))
        return p;
    arena_free(p->mem);
    free(p);
    return NULL;
}

void pcc_free(struct pcc *p)
{
    if (!p)
        return;
    arena_free(p->mem);
    free(p);
}

void pcc_stop(struct pcc *p)
{
    p->stop = 1;
}

/* Refuses a call, for run_call(), since a string that it needs is NULL.  Returns PCC_BAD_USE. */
static enum pcc_status do_refuse(struct pcc *p, const struct call *c)
{
    (void)c;
    diag_error(&p->diag, "expected a string, found NULL");
    return PCC_BAD_USE;
}

/* Does the work of pcc_set() for run_call().  Returns the status of the call. */
static enum pcc_status do_set(struct pcc *p, const struct call *c)
{
    return store_setting(p, c->name, c->value);
}

enum pcc_status pcc_set(struct pcc *p, const char *name, const char *value)
{
    return run_call(p, name ? do_set : do_refuse, &(struct call){.name = name, .value = value});
}

/* Does the work of pcc_open() and pcc_open_memory() for run_call(): frees the open model, if any, and reads another
 * one.  Returns the status of the call. */
static enum pcc_status do_open(struct pcc *p, const struct call *c)
{
    struct input in = {c->name, c->bytes, c->n};
    p->stop = 0;
    p->listener.ended = false;
    if (p->x.scene.m) {
        free_model(p);
        reset_model(p);
        p->diag.errors = p->diag.warnings = p->diag.failures = 0;
    }
    return open_input(p, &in);
}

enum pcc_status pcc_open(struct pcc *p, const char *path)
{
    return run_call(p, path ? do_open : do_refuse, &(struct call){.name = path});
}

enum pcc_status pcc_open_memory(struct pcc *p, const char *name, const void *bytes, size_t n)
{
    /* bytes NULL would mean a file */
    bool given = name && (bytes || n == 0);
    return run_call(p, given ? do_open : do_refuse,
                    &(struct call){.name = name, .bytes = n ? bytes : "", .n = n});
}

/* Does the work of pcc_plan() for run_call().  Returns the status of the call. */
static enum pcc_status do_plan(struct pcc *p, const struct call *c)
{
    struct pipeline pipeline = {.kinds = exec_kinds};
    struct run_options none = {0};
    if (!p->x.scene.m || p->planned) {
        diag_error(&p->diag,
                   p->planned ? "%s: it was planned already: open it again"
                              : "there is no model to plan: open one",
                   p->name);
        return PCC_BAD_USE;
    }
    enum pcc_status s = settings_read(p);
    if (s)
        return s;
    if (c->value && pipeline_parse(&pipeline, c->value, p->x.use.mem, &p->diag))
        return PCC_BAD_USE;
    s = settings_devices(p);
    if (s)
        return s;
    /* the default pipeline depends on the devices and the objective, which are known now */
    if (!c->value && pipeline_parse(&pipeline, default_pipeline(p), p->x.use.mem, &p->diag))
        return PCC_BAD_USE;
    pipeline_complete(&pipeline, p->x.use.mem);
    s = run_passes(p, &pipeline, &none);
    if (!s)
        s = judge_result(p);
    return s ? s : check_warned(p);
}

enum pcc_status pcc_plan(struct pcc *p, const char *pipeline)
{
    p->stop = 0;
    p->listener.ended = false;
    return run_call(p, do_plan, &(struct call){.value = pipeline});
}

/* Does the work of pcc_verdict() for run_call().  Returns the status of the call. */
static enum pcc_status do_view(struct pcc *p, const struct call *c)
{
    *c->view = view_of(p);
    return PCC_OK;
}

const struct pcc_verdict *pcc_verdict(struct pcc *p)
{
    const struct pcc_verdict *view = NULL;
    run_call(p, do_view, &(struct call){.view = &view});
    return view;
}

/* Checks that a model is open, and fills p->judged for an output.  what: name of the output, for the error. */
static enum pcc_status prepare_output(struct pcc *p, const char *what)
{
    if (p->x.scene.m)
        return judge_result(p);
    diag_error(&p->diag, "%s: there is no model: open one", what);
    return PCC_BAD_USE;
}

/* Reports an error if the output `what` needs costs (`needed`) and the model has none yet. */
static enum pcc_status check_costs(struct pcc *p, bool needed, const char *what)
{
    if (!needed || p->x.scene.m->cost)
        return PCC_OK;
    diag_error(&p->diag, "%s: there are no costs: plan first (with the pass cost, at least)", what);
    return PCC_BAD_USE;
}

/* Does the work of pcc_text() for run_call().  Returns the status of the call. */
static enum pcc_status do_text(struct pcc *p, const struct call *c)
{
    bool settings = !strcmp(c->value, "settings");
    if (settings || !strcmp(c->value, "devices")) {
        *c->text = settings ? settings_list(p) : devices_list(p);
        return *c->text ? PCC_OK : PCC_BAD_USE;
    }
    const struct writer *w = writer_named(c->value, strlen(c->value));
    bool needed = w ? w->needs != WRITER_NEEDS_NOTHING : !strcmp(c->value, "summary");
    enum pcc_status s = prepare_output(p, c->value);
    if (!s)
        s = check_costs(p, needed, c->value);
    if (s)
        return s;
    *c->text = view_text(p, c->value);
    return *c->text ? PCC_OK : PCC_BAD_USE;
}

const char *pcc_text(struct pcc *p, const char *what)
{
    const char *text = NULL;
    run_call(p, what ? do_text : do_refuse, &(struct call){.value = what, .text = &text});
    return text;
}

/* Does the work of pcc_write() for run_call().  Returns the status of the call. */
static enum pcc_status do_write(struct pcc *p, const struct call *c)
{
    if (write_check_path(p->from_memory ? NULL : p->name, c->value, p->x.use.mem, &p->diag))
        return PCC_BAD_USE;
    const struct writer *w = writer_of(c->value);
    enum pcc_status s = prepare_output(p, c->value);
    p->stop = 0;
    p->listener.ended = false;
    if (!s)
        s = check_costs(p, w->needs != WRITER_NEEDS_NOTHING, c->value);
    if (s)
        return s;
    p->judged.r.annotated = w->has_model;
    return write_one(p, w, c->value) ? PCC_BAD_INPUT : check_warned(p);
}

enum pcc_status pcc_write(struct pcc *p, const char *path)
{
    return run_call(p, path ? do_write : do_refuse, &(struct call){.value = path});
}

/* Does the work of pcc_recompose() for run_call().  Returns the status of the call. */
static enum pcc_status do_recompose(struct pcc *p, const struct call *c)
{
    struct recomposed made;
    uint32_t failures = p->diag.failures; /* failures of earlier calls, which do not count here */
    p->stop = 0;
    p->listener.ended = false;
    if (writer_of(c->value) != writer_named("onnx", 4) || write_is_stdout(c->value)) {
        diag_error(&p->diag, "%s: expected the name of a file that ends in .onnx", c->value);
        return PCC_BAD_USE;
    }
    struct arena *a = arena_new(p->mem);
    int rc =
        recompose(c->name, c->value, handle_given(p, "allow-links") != NULL, &made, a, &p->diag);
    arena_free(a);
    return rc ? PCC_BAD_INPUT : p->diag.failures > failures ? check_warned(p) : PCC_OK;
}

enum pcc_status pcc_recompose(struct pcc *p, const char *folder, const char *path)
{
    return run_call(p, folder && path ? do_recompose : do_refuse,
                    &(struct call){.name = folder, .value = path});
}
