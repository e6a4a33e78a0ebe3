/* Reads a folder for steps (step.h): lists, gradients, loss.  Parts that read parameters are copied, with the
 * parameters as further inputs, so that each step can be given the values that the step before made; an input that is
 * not given has the value in the part's file.  O(bytes of manifest, schedule and parts without large weights). */
#include "tools/run/parameter_inputs.h"
#include "tools/run/scratch.h"
#include "tools/run/step_ranks.h"

#include "ir/base/json_in.h"
#include "ir/base/name_table.h"
#include "ir/plan/schedule_check.h"
#include "ir/plan/schedule_json.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Tables of the names in a folder. */
struct names_of {
    struct names tensor;    /* name -> number of the tensor in `whole` */
    struct names parameter; /* name -> number in stepper.parameter */
    bool *given;            /* [tensor of `whole`] it is the new value of a parameter */
};

/* Reports that the folder cannot run steps, for the reason `why`, and names options to plan with.  Returns -1. */
static int no_steps(struct stepper *s, const char *why)
{
    return diag_error(s->d,
                      "%s: %s: --steps needs a split that pcc wrote with "
                      "--objective=iteration-time --update=apart",
                      s->set.folder, why);
}

/* Reports that a device would get a fraction of a sample.  Names the first stage whose number of devices does not
 * divide the size of a micro-batch, with these numbers, if the manifest tells them.  Returns -1. */
static int no_slices(struct stepper *s, const json_t *training)
{
    const json_t *stages = json_object_get(training, "stages");
    int64_t size = 0, n;
    json_int_in(json_object_get(training, "micro_batch_size"), 1, UINT32_MAX, &size);
    for (size_t k = 0; size && k < json_array_size(stages); k++) {
        n = (int64_t)json_array_size(json_object_get(json_array_get(stages, k), "devices"));
        if (n && size % n)
            return diag_error(s->d,
                              "%s: \"runnable\": false: the %" PRId64 " devices of stage %zu would "
                              "get %.6g samples each of a micro-batch of %" PRId64
                              ": plan with --slices=whole",
                              s->set.folder, n, k, (double)size / (double)n, size);
    }
    return diag_error(s->d,
                      "%s: \"runnable\": false: devices would get parts of a sample; plan with "
                      "--slices=whole",
                      s->set.folder);
}

/* Reads the lists, s->lists, and the works that they are about, s->w, each and whole, and checks that the folder can
 * run steps.  Returns 0, or -1 and an error. */
static int read_lists(struct stepper *s)
{
    struct json_text manifest, lists;
    const json_t *training = json_object_get(s->split.manifest, "training");
    if (!json_is_object(training))
        return no_steps(s, "it is of no training by stages");
    if (json_is_false(json_object_get(training, "runnable")))
        return no_slices(s, training);
    const char *order = json_get_text(training, "schedule");
    if (order && strcmp(order, "pipedream") == 0)
        return diag_error(s->d,
                          "%s: --schedule=pipedream keeps versions of weights, so that no step is "
                          "one of the whole batch: plan with --schedule=dapple, gpipe, zb-h1 or "
                          "interleaved",
                          s->set.folder);
    const char *why = json_get_text(s->split.manifest, "schedule_why");
    if (json_is_null(json_object_get(s->split.manifest, "schedule")))
        return no_steps(s,
                        arena_fmt(s->a, "it has no schedule (%s)", why ? why : "why is not said"));
    if (!json_array_size(json_object_get(training, "gradients")))
        return no_steps(s, "its updates have no parts of their own");
    if (json_array_size(json_object_get(s->split.manifest, "states")))
        return diag_error(s->d, "%s: states go from sample to sample: --steps knows none",
                          s->set.folder);
    if (split_read_text(&manifest, s->set.folder, "manifest.json", s->a, s->d) ||
        !(s->whole = work_read(&manifest, s->a, s->d)) ||
        split_read_text(&lists, s->set.folder, SCHEDULE_FILE, s->a, s->d) ||
        !(s->lists = schedule_read(&lists, s->whole, s->a, s->d)))
        return -1;
    s->w = s->lists->work;
    s->each = s->w->each;
    if (!s->each)
        return diag_error(s->d, "%s: it is not of an iteration of training", lists.path);
    const char *fault = schedule_check(s->w, s->lists, s->a);
    return fault ? diag_error(s->d, "%s: %s", lists.path, fault) : 0;
}

/* Fills in n->tensor, and the tables of s by which tensors and parts of the schedule's work lead to values and parts of
 * the folder.  Returns 0, or -1 and an error. */
static int link_work(struct stepper *s, struct names_of *n)
{
    const struct sample_work *w = s->whole, *each = s->each;
    struct names values = names_new(s->a, s->split.nvalue + 1);
    for (uint32_t v = 0; v < s->split.nvalue; v++)
        names_add(&values, s->split.value[v].name, v);
    n->tensor = names_new(s->a, w->ntensor + 1);
    s->value = arena_array(s->a, (size_t)w->ntensor + 1, sizeof *s->value);
    s->owner = arena_array(s->a, (size_t)each->ntensor + 1, sizeof *s->owner);
    s->part_of = arena_array(s->a, (size_t)each->npart + 1, sizeof *s->part_of);
    for (uint32_t t = 0; t < w->ntensor; t++) {
        names_add(&n->tensor, w->tensor[t].name, t);
        s->value[t] = names_get(&values, w->tensor[t].name, STEP_NONE);
        for (uint32_t x = each->first_slice[t]; x < each->first_slice[t + 1]; x++)
            s->owner[x] = t;
        if (s->value[t] == STEP_NONE)
            return diag_error(s->d, "%s/manifest.json: \"values\" lacks '%s'", s->set.folder,
                              w->tensor[t].name);
    }
    for (uint32_t p = 0; p < w->npart; p++)
        for (uint32_t x = each->first_copy[p]; x < each->first_copy[p + 1]; x++)
            s->part_of[x] = p;
    return 0;
}

/* Reads the axes of the batch, s->axis, of the tensors in the manifest's list with this key. */
static void read_axes(struct stepper *s, struct names_of *n, const char *key)
{
    json_t *row;
    size_t i;
    json_array_foreach(json_object_get(s->split.manifest, key), i, row)
    {
        const char *name = json_get_text(row, "name");
        uint32_t t = name ? names_get(&n->tensor, name, STEP_NONE) : STEP_NONE;
        int64_t axis;
        if (t != STEP_NONE &&
            json_int_in(json_object_get(row, "batch_axis"), 0, ENGINE_AXES - 1, &axis))
            s->axis[t] = (int32_t)axis;
    }
}

/* Adds a parameter or counter to s->parameter, and its name to n->parameter.  new: its name, the names of its gradient
 * (NULL: a counter) and of its new value.  Returns 0, or -1 and an error. */
static int add_parameter(struct stepper *s, struct names_of *n, const struct step_parameter *new)
{
    struct step_parameter *p = &s->parameter[s->nparameter];
    *p = *new;
    p->name = arena_strdup(s->a, new->name, strlen(new->name));
    p->sum = new->gradient ? names_get(&n->tensor, new->gradient, STEP_NONE) : STEP_NONE;
    p->made = names_get(&n->tensor, new->fresh, STEP_NONE);
    if (names_get(&n->parameter, p->name, STEP_NONE) != STEP_NONE)
        return diag_error(s->d, "%s/manifest.json: training: '%s' is there twice", s->set.folder,
                          p->name);
    if (p->gradient && (p->sum == STEP_NONE || !s->whole->tensor[p->sum].summed))
        return diag_error(s->d, "%s/manifest.json: training: no update reads the gradient '%s'",
                          s->set.folder, p->gradient);
    if (p->made == STEP_NONE || !s->whole->tensor[p->made].returned)
        return diag_error(s->d, "%s/manifest.json: training: '%s' is no output of %s",
                          s->set.folder, p->fresh, p->gradient ? "an update" : "a part");
    if (n->given[p->made])
        return diag_error(s->d, "%s/manifest.json: training: two parameters get the new value '%s'",
                          s->set.folder, p->fresh);
    n->given[p->made] = true;
    names_add(&n->parameter, p->name, s->nparameter++);
    return 0;
}

/* Reads "gradients" and "counters" into s->parameter.  Returns 0, or -1 and an error. */
static int read_parameters(struct stepper *s, struct names_of *n, const json_t *training)
{
    const json_t *list = json_object_get(training, "gradients");
    const json_t *counters = json_object_get(training, "counters");
    if (counters && !json_is_array(counters))
        return diag_error(s->d, "%s/manifest.json: training: expected 'counters' to be a list",
                          s->set.folder);
    size_t count = json_array_size(list) + json_array_size(counters), i;
    json_t *row;
    n->parameter = names_new(s->a, (uint32_t)count + 1);
    n->given = arena_array(s->a, (size_t)s->whole->ntensor + 1, sizeof *n->given);
    s->parameter = arena_array(s->a, count + 1, sizeof *s->parameter);
    json_array_foreach(list, i, row)
    {
        const struct step_parameter p = {.name = json_get_text(row, "parameter"),
                                         .gradient = json_get_text(row, "gradient"),
                                         .fresh = json_get_text(row, "new")};
        if (!p.name || !p.gradient || !p.fresh)
            return diag_error(s->d,
                              "%s/manifest.json: training: expected names 'parameter', 'gradient' "
                              "and 'new' in each of 'gradients'",
                              s->set.folder);
        if (add_parameter(s, n, &p))
            return -1;
    }
    json_array_foreach(counters, i, row)
    {
        const struct step_parameter p = {.name = json_get_text(row, "value"),
                                         .fresh = json_get_text(row, "new")};
        if (!p.name || !p.fresh)
            return diag_error(s->d,
                              "%s/manifest.json: training: expected names 'value' and 'new' in "
                              "each of 'counters'",
                              s->set.folder);
        if (add_parameter(s, n, &p))
            return -1;
    }
    return 0;
}

/* Reads "gradients", "counters" and "loss": sets s->parameter, loss, mean and confirm.  If the folder does not tell how
 * the loss joins samples, --loss must.  Notes operators that take the samples of a batch together.  Returns 0, or -1
 * and an error. */
static int read_training(struct stepper *s, struct names_of *n)
{
    const json_t *o = json_object_get(s->split.manifest, "training");
    const json_t *loss = json_object_get(o, "loss");
    if (read_parameters(s, n, o))
        return -1;
    /* told: "mean" or "sum", as the folder tells it; NULL: it does not, and then --loss counts */
    const char *value = json_get_text(loss, "value"), *told = json_get_text(loss, "reduction");
    s->loss = value ? names_get(&n->tensor, value, STEP_NONE) : STEP_NONE;
    if (told && s->set.loss && strcmp(told, s->set.loss) != 0)
        return diag_error(s->d, "--loss=%s: the loss '%s' is a %s", s->set.loss, value ? value : "",
                          told);
    if (s->loss != STEP_NONE && s->whole->tensor[s->loss].from >= s->whole->npart)
        return diag_error(s->d, "%s/manifest.json: training: no part makes the loss '%s'",
                          s->set.folder, value);
    /* "said": the folder has it from the user */
    s->confirm = !told || json_is_true(json_object_get(loss, "said"));
    const char *how = told ? told : s->set.loss;
    const char *op = json_get_text(loss, "operator");
    if (!how)
        return diag_error(
            s->d, "%s: how %s%s%s%s%s%s joins samples is not known: say --loss=mean or --loss=sum",
            s->set.folder, value ? "the loss '" : "its loss", value ? value : "", value ? "'" : "",
            op ? " (" : "", op ? op : "", op ? ")" : "");
    s->mean = strcmp(how, "mean") == 0;
    const json_t *mixing = json_object_get(o, "batch_dependent");
    const char *first = json_string_value(json_array_get(mixing, 0));
    if (first)
        diag_note(s->d,
                  "%zu operator%s samples together, the first '%s': a step need not be one of the "
                  "whole batch",
                  json_array_size(mixing), json_array_size(mixing) == 1 ? " takes" : "s take",
                  first);
    return 0;
}

int step_read(struct stepper *s)
{
    struct names_of n;
    if (split_read_manifest(&s->split, s->set.folder, s->a, s->d) || read_lists(s) ||
        link_work(s, &n) || read_training(s, &n))
        return -1;
    const struct sample_work *w = s->w;
    uint32_t places = w->place.at[w->ntensor];
    s->axis = arena_array(s->a, (size_t)s->whole->ntensor + 1, sizeof *s->axis);
    memset(s->axis, 0xff, s->whole->ntensor * sizeof *s->axis); /* all -1: none */
    read_axes(s, &n, "inputs");
    read_axes(s, &n, "tensors");
    read_axes(s, &n, "outputs");
    s->sum = arena_array(s->a, (size_t)s->each->ntensor + 1, sizeof *s->sum);
    s->now.added = arena_array(s->a, (size_t)s->each->ntensor + 1, sizeof *s->now.added);
    s->now.divided = arena_alloc(s->a, (size_t)s->each->ntensor + 1);
    s->now.reducing = arena_array(s->a, (size_t)s->whole->npart + 1, sizeof *s->now.reducing);
    s->now.reduced = arena_alloc(s->a, (size_t)s->whole->npart + 1);
    s->now.loss = arena_array(s->a, (size_t)w->micro_batches + 1, sizeof *s->now.loss);
    s->now.at = arena_array(s->a, (size_t)s->lists->nlane + 1, sizeof *s->now.at);
    s->now.tensor = arena_array(s->a, (size_t)w->ntensor + 1, sizeof *s->now.tensor);
    s->now.holders = arena_array(s->a, (size_t)w->ntensor + 1, sizeof *s->now.holders);
    s->now.made = arena_alloc(s->a, (size_t)w->ntensor + 1);
    s->now.room = arena_alloc(s->a, (size_t)places + 1);
    s->now.sent = arena_alloc(s->a, (size_t)places + 1);
    s->now.here = arena_alloc(s->a, (size_t)places + 1);
    s->dev = arena_array(s->a, (size_t)w->ndev + 1, sizeof *s->dev);
    for (uint32_t d = 0; d < w->ndev; d++)
        s->dev[d] = (struct step_device){.s = s, .number = d};
    return 0;
}

/* ---- parts ---------------------------------------------------------------------------------------- */

/* Fills in s->copy for part p on each of its devices, opens a session on each device of this process, and notes the
 * types of the parameters that the part reads.  names: of the parameters; folder: for the part's copy.  A part of
 * other processes may lack its file here.  Returns 0, or -1 and an error. */
static int open_part(struct stepper *s, uint32_t p, const struct names *names, const char *folder)
{
    struct split_part *part = &s->split.part[p];
    struct parameter_inputs found;
    struct engine_error err;
    bool here = false;
    for (uint32_t x = s->each->first_copy[p]; x < s->each->first_copy[p + 1]; x++)
        here = here || step_here(s, s->each->part[x].dev);
    if (access(part->path, R_OK))
        return here ? diag_error(s->d, "%s%s: it does not exist, but %s/manifest.json lists it",
                                 step_speaker(s), part->path, s->set.folder)
                    : 0;
    if (parameter_inputs(part, names, folder, &found, s->a, s->d))
        return -1;
    /* the part's inputs, then the parameters that it reads */
    const char **name = arena_array(s->a, (size_t)part->nin + found.n + 1, sizeof(const char *));
    for (uint32_t i = 0; i < part->nin; i++)
        name[i] = part->in_name[i];
    for (uint32_t i = 0; i < found.n; i++) {
        struct step_parameter *parameter = &s->parameter[found.number[i]];
        const struct extra_input *in = &found.in[i];
        name[part->nin + i] = parameter->name;
        parameter->known = true;
        parameter->elem = in->elem;
        parameter->rank = in->rank;
        parameter->size = in->size;
    }
    struct engine_load how = split_load(part, s->set.threads, s->set.optimise);
    for (uint32_t x = s->each->first_copy[p]; x < s->each->first_copy[p + 1]; x++) {
        s->copy[x] = (struct step_copy){part, NULL, found.number, found.n, name};
        uint32_t dev = s->each->part[x].dev;
        if (!step_here(s, dev))
            continue;
        how.gpu = s->gpu[dev];
        s->copy[x].loaded = s->e->face->load(s->e, &how, &err);
        if (s->copy[x].loaded)
            continue;
        gpus_not_loaded(s->now.error, sizeof s->now.error, part, s->w->dev_name[dev], how.gpu,
                        &err);
        return diag_error(s->d, "%s", s->now.error);
    }
    return 0;
}

int step_open(struct stepper *s)
{
    const char *folder = scratch_folder(s->a, s->d);
    struct names names = names_new(s->a, s->nparameter + 1);
    for (uint32_t k = 0; k < s->nparameter; k++)
        names_add(&names, s->parameter[k].name, k);
    s->copy = arena_array(s->a, (size_t)s->each->npart + 1, sizeof *s->copy);
    for (uint32_t p = 0; folder && p < s->whole->npart; p++)
        if (open_part(s, p, &names, folder))
            return -1;
    return folder ? 0 : -1;
}
