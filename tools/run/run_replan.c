/* Plans again from what a run measured (run_replan.h).
 *
 * The samples are cut into as many stretches as there are runs.  After each stretch the times of parts go to the
 * planner: a node keeps its share of its part's time (passes/cost/run_trace.c).  Devices of a class need not be equally
 * fast: a device whose parts took longer than promised counts as slower by that factor, and for planning each device is
 * a class of its own, with times by its own speed.  If the new plan promises at least a fiftieth less time than the
 * plan that runs, it runs the next stretch; else planning ends, and the remaining samples run on the split that was
 * measured best.  O(rounds * planning) beside the runs. */
#include "tools/run/run_replan.h"

#include "backends/split/folder.h"
#include "ir/base/infile.h"
#include "ir/base/json_in.h"
#include "ir/base/json_out.h"
#include "ir/base/numbers.h"
#include "ir/base/outfile.h"
#include "ir/base/units.h"
#include "ir/cluster/cluster.h"
#include "passes/cost/table_facts.h"
#include "tools/run/folder_files.h"
#include "tools/run/plan_args.h"
#include "tools/run/scratch.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MARGIN = 50 };       /* a plan is taken if it promises less time by 1 / MARGIN */
enum { INTERRUPTED = 130 }; /* exit code */

/* A split, with its promised and its measured time. */
struct tried {
    const char *folder;
    /* time from one sample to the next: promised, ps; measured, ns; -1: not known */
    int64_t promised, each;
    const char *nodes;    /* nodes and devices of its parts, by split_plan_text() */
    const json_t *states; /* the manifest's "states" */
};

/* How much longer a device takes than the costs before the first run say. */
struct speed {
    const char *name;
    double slow; /* factor of the time of its parts; 1: as fast as the costs say */
};

/* The state of replan_run(). */
struct replanning {
    const struct replan *of;
    struct plan_call call;
    struct split split;     /* the first split */
    struct cluster cluster; /* a class for each device, if `apart` */
    bool apart;
    /* [class of the cluster] name of the class that its device was in before part_classes() */
    const char *class[CLUSTER_CLASSES];
    struct speed *speed; /* [nspeed] devices that have run */
    uint32_t nspeed, capspeed;
    struct tried *tried; /* [n] the splits that have run, in order */
    uint32_t n;
    struct run_states states; /* with --state: states after the last sample */
    const char *scratch;      /* folder for temporary files */
    struct arena *a;
    struct diag *d;
};

/* ---- devices ---------------------------------------------------------------------------------- */

/* Whether each device of a cluster can be a class of its own: the classes are not too many, and no groups, levels or
 * links join devices. */
static bool can_part(const struct cluster *c)
{
    bool good = c->ndev <= CLUSTER_CLASSES && c->nlevel == 0 && c->nlink == 0;
    for (uint32_t k = 0; k < c->ncls; k++)
        good = good && c->cls[k].group == 0;
    return good;
}

/* Makes each device of the cluster a class of its own, in the same order, so that devices keep their names. */
static void part_classes(struct replanning *w)
{
    struct cluster *c = &w->cluster, to = *c;
    to.ncls = 0;
    for (uint32_t k = 0; k < c->ncls; k++)
        for (uint32_t i = 0; i < c->cls[k].count; i++) {
            struct device_class *one = &to.cls[to.ncls];
            w->class[to.ncls++] = c->cls[k].name;
            *one = c->cls[k];
            one->name = arena_fmt(w->a, "%s-%u", c->cls[k].name, i);
            one->count = 1;
        }
    *c = to;
}

/* Finds the cluster of the arguments, and writes it with a class for each device.  Returns 0, or -1 and an error. */
static int find_cluster(struct replanning *w)
{
    struct outfile f;
    const char *text = cli_value(&w->call.args, "devices"), *joined[] = {"group", "levels"};
    if (cluster_parse(&w->cluster, w->a, text ? text : "2xa100", w->d))
        return -1;
    w->apart = can_part(&w->cluster);
    for (size_t i = 0; i < sizeof joined / sizeof *joined; i++)
        w->apart = w->apart && !cli_value(&w->call.args, joined[i]);
    if (!w->apart)
        return 0;
    part_classes(w);
    w->call.devices = arena_fmt(w->a, "%s/cluster.json", w->scratch);
    if (outfile_open(&f, w->call.devices, w->a, w->d))
        return -1;
    fputs(cluster_file_text(&w->cluster, /*oneline=*/false, w->a), f.f);
    return outfile_close(&f, true);
}

/* ---- what a run said -------------------------------------------------------------------------- */

/* Returns the mean time of a run of a part, ps; 0: it did not run often enough.  (Not the median: another program on
 * the same processor takes slices of milliseconds, which most runs of a short part do not meet.) */
static int64_t part_ps(const struct runner *r, uint32_t k)
{
    const struct times *t = &r->figures.part[k];
    return t->n > 0 ? t->sum / t->n * 1000 : 0;
}

/* Returns the address of speed.slow of the named device, which stays valid until the next call.  A device without an
 * entry gets one with 1: as fast as the costs say. */
static double *slow_of(struct replanning *w, const char *name)
{
    uint32_t d = 0;
    while (d < w->nspeed && strcmp(w->speed[d].name, name) != 0)
        d++;
    if (d == w->nspeed) {
        w->speed = vec_grow(w->a, w->speed, &w->capspeed, d + 1, sizeof *w->speed);
        w->speed[w->nspeed++] = (struct speed){arena_fmt(w->a, "%s", name), 1};
    }
    return &w->speed[d].slow;
}

/* Multiplies speed.slow of each device by the quotient of the time that its parts took and the time that the manifest
 * gives them; leaves out devices for which one of both is not known. */
static void learn_speeds(struct replanning *w, struct runner *r)
{
    for (uint32_t d = 0; d < r->ndev; d++) {
        int64_t took = 0, said = 0;
        for (uint32_t k = 0; k < r->s.npart; k++)
            if (!strcmp(r->s.part[k].device, r->dev[d].name) && r->s.part[k].compute_ps > 0) {
                took = sat_add(took, part_ps(r, k));
                said = sat_add(said, r->s.part[k].compute_ps);
            }
        if (took > 0 && said > 0)
            *slow_of(w, r->dev[d].name) *= (double)took / (double)said;
    }
}

/* Writes the times that the parts took to the file `path`, in the form of a trace: as they would be on `device`, by the
 * speeds of the devices; NULL: as they were on the devices where the parts ran.  Returns 0, or -1 and an error. */
static int write_times(struct replanning *w, struct runner *r, const char *device, const char *path)
{
    struct outfile f;
    if (outfile_open(&f, path, w->a, w->d))
        return -1;
    struct json_out o = {.f = f.f};
    json_open(&o, NULL, '{', 1);
    json_open(&o, "otherData", '{', 2);
    json_int(&o, "pcc_run", 1);
    json_open(&o, "parts", '[', 3);
    for (uint32_t k = 0; k < r->s.npart; k++) {
        const struct split_part *p = &r->s.part[k];
        double by = device ? *slow_of(w, device) : 1; /* read now: the next slow_of() may move it */
        if (device)
            by /= *slow_of(w, p->device);
        int64_t ps = llround((double)part_ps(r, k) * by);
        if (ps > 0)
            run_trace_part(&o, p, ps);
    }
    json_close(&o, 2);
    json_close(&o, 1);
    json_close(&o, 0);
    return outfile_close(&f, true);
}

/* Returns the value of --costs for the next plan: as the user gave it or, if each device is a class of its own
 * (part_classes()), with these classes in place of the class that they were made of. */
static const char *own_costs(struct replanning *w)
{
    const char *classes, *path = table_path(w->of->costs, &classes, w->a), *text = path;
    for (const char *s = classes; w->apart && s; s = *s == ',' ? s + 1 : NULL) {
        size_t n = strcspn(s, ",");
        for (uint32_t k = 0; k < w->cluster.ncls; k++)
            if (strlen(w->class[k]) == n && !strncmp(w->class[k], s, n))
                text = arena_fmt(w->a, "%s%c%s", text, text == path ? ':' : ',',
                                 w->cluster.cls[k].name);
        s += n;
    }
    return text == path ? w->of->costs : text;
}

/* Writes the times that r measured to files, one for each class of the cluster, if each device is a class of its own,
 * else one.  Lists in costs[] the values of --costs for the next plan: the user's, if there is one, then these files.
 * Returns their number, or -1 after an error. */
static int write_costs(struct replanning *w, struct runner *r, const char **costs)
{
    int n = 0;
    if (w->of->costs)
        costs[n++] = own_costs(w);
    for (uint32_t k = 0; k < (w->apart ? w->cluster.ncls : 1); k++) {
        const char *path = arena_fmt(w->a, "%s/run%u-%u.json", w->scratch, w->n, k);
        const char *device = w->apart ? cluster_device_name(&w->cluster, w->a, k) : NULL;
        if (write_times(w, r, device, path))
            return -1;
        costs[n++] = w->apart ? arena_fmt(w->a, "%s:%s", path, w->cluster.cls[k].name) : path;
    }
    return n;
}

/* ---- a plan ----------------------------------------------------------------------------------- */

/* Reads promised, nodes and states of t from the manifest of its folder.  Returns 0, or -1 and an error. */
static int read_promise(struct replanning *w, struct tried *t)
{
    struct split s;
    if (split_read(&s, t->folder, w->a, w->d))
        return -1;
    t->states = json_object_get(s.manifest, "states");
    double value =
        json_number_value(json_object_get(json_object_get(s.manifest, "objective"), "value_s"));
    t->promised = value > 0 && value < 1e6 ? llround(value * 1e12) : -1; /* s to ps, which fit */
    t->nodes = split_plan_text(&s, w->a);
    return 0;
}

/* Whether two lists "states" of manifests have the same entries, JSON objects with "in" and "out", in any order. */
static bool same_states(const json_t *x, const json_t *y)
{
    size_t i, k, found = 0;
    const json_t *one, *other;
    json_array_foreach((json_t *)(uintptr_t)x, i, one)
    {
        json_array_foreach((json_t *)(uintptr_t)y, k, other)
        {
            if (json_equal(one, other)) {
                found++;
                break;
            }
        }
    }
    return found == json_array_size(x) && found == json_array_size(y);
}

/* Returns an input whose state is no tensor of numbers, so that it cannot be moved to another split; NULL: none. */
static const char *unmoved_state(const struct split *s)
{
    const json_t *states = json_object_get(s->manifest, "states");
    for (size_t i = 0; i < json_array_size(states); i++) {
        const char *in = json_get_text(json_array_get(states, i), "in");
        for (uint32_t k = 0; in && k < s->ninput; k++) {
            const struct split_value *v = &s->value[s->input[k]];
            enum elem elem = elem_of_name(v->type, strlen(v->type));
            if (!strcmp(v->name, in) && (elem == ELEM_NONE || elem == ELEM_STR))
                return v->name;
        }
    }
    return NULL;
}

/* Plans again with the times that r measured.  each: ns from one sample to the next, of the best split so far.
 * Returns 1, and the new split is w->tried[w->n]; 0, after a note with the reason, if the new plan is no reason to
 * switch; -1 after an error. */
static int plan_again(struct replanning *w, struct runner *r, int64_t each)
{
    const char *costs[CLUSTER_CLASSES + 2];
    struct tried *t = &w->tried[w->n];
    char promised[UNIT_TEXT], now[UNIT_TEXT];
    *t = (struct tried){.folder = arena_fmt(w->a, "%s/split%u", w->scratch, w->n), .each = -1};
    int n = write_costs(w, r, costs);
    if (n < 0 || plan_write(&w->call, costs, (uint32_t)n, t->folder) || read_promise(w, t))
        return -1;
    if (w->call.idle)
        diag_note(w->d, "%s", w->call.idle);
    for (uint32_t i = 0; i < w->n; i++)
        if (!strcmp(w->tried[i].nodes, t->nodes)) {
            diag_note(w->d, "planned again: a plan that has run already comes back");
            return 0;
        }
    if (w->of->runner->set.state && !same_states(t->states, w->tried[0].states)) {
        diag_note(w->d,
                  "planned again: the new split keeps other states, so that they cannot be moved");
        return 0;
    }
    bool better = t->promised >= 0 && t->promised <= each * 1000 - each * 1000 / MARGIN;
    time_short(promised, t->promised);
    time_short(now, each * 1000);
    diag_note(w->d, "planned again: %s a sample promised, %s measured so far%s", promised, now,
              better ? "" : ": less than 2 % are no reason to switch");
    return better;
}

/* ---- stretches of samples ----------------------------------------------------------------------- */

/* Returns the split that was measured to be the fastest; the first one, if none was measured. */
static const struct tried *best_of(const struct replanning *w)
{
    const struct tried *best = &w->tried[0];
    for (uint32_t i = 1; i < w->n; i++)
        if (w->tried[i].each >= 0 && (best->each < 0 || w->tried[i].each < best->each))
            best = &w->tried[i];
    return best;
}

/* Runs n samples, from number `first` on, on the split in `folder`, and prints the report; *r becomes the state of this
 * run.  The engine stays open for the next run.  Sets *each to the time from one sample to the next, ns; -1: not known.
 * Returns an exit code. */
static int stretch(struct replanning *w, struct runner *r, const char *folder, int64_t first,
                   int64_t n, int64_t *each)
{
    *r = *w->of->runner;
    r->set.states = r->set.state ? &w->states : NULL;
    r->set.folder = folder;
    r->set.first = first;
    r->set.samples = n;
    printf("samples %" PRId64 " to %" PRId64 ", %s:\n", first, first + n - 1,
           folder == w->of->runner->set.folder ? folder : "planned again");
    int rc = w->of->run(r);
    w->of->runner->e = r->e;
    const struct figures *g = &r->figures;
    *each = g->samples > 1 ? (g->last - g->first) / (g->samples - 1) : -1;
    return rc;
}

/* Returns the path for the best split, beside the first split, in w->a. */
static const char *beside(const struct replanning *w)
{
    char *whole = realpath(w->tried[0].folder, NULL);
    const char *to = arena_fmt(w->a, "%s-replanned", whole ? whole : w->tried[0].folder);
    free(whole);
    return to;
}

/* If the best split is not the first one, writes it beside the first one.  Returns 0, or -1 and an error. */
static int leave_best(struct replanning *w)
{
    const struct tried *best = best_of(w);
    char text[2][UNIT_TEXT];
    struct folder f;
    if (best == &w->tried[0]) {
        diag_note(w->d, "no plan was measured to be faster than %s", best->folder);
        return 0;
    }
    const char *to = beside(w);
    if (folder_begin(&f, to, /*into=*/false, best->folder, w->a, w->d))
        return -1;
    if (folder_take_files(best->folder, f.dirfd, /*manifest=*/true, w->a, w->d)) {
        folder_abort(&f);
        return -1;
    }
    time_short(text[0], best->each * 1000);
    time_short(text[1], w->tried[0].each * 1000);
    diag_note(w->d, "%s: %s a sample instead of %s", to, text[0], text[1]);
    return folder_commit(&f);
}

/* Checks before the first run that the split has no states in pieces, that the model and --costs can be read, and that
 * the best split can be written.  Returns 0, or -1 and an error. */
static int check_files(struct replanning *w)
{
    const char *classes, *costs = w->of->costs ? table_path(w->of->costs, &classes, w->a) : NULL;
    struct folder f;
    if (w->split.ncut > 0)
        return diag_error(w->d,
                          "--replan: devices keep states of %s in pieces, and its model.onnx has "
                          "these as inputs: plan the model itself again, with pcc --costs",
                          w->tried[0].folder);
    if (access(w->call.model, R_OK))
        return diag_error(w->d, "%s: %s: --replan plans the whole model again", w->call.model,
                          strerror(errno));
    if (costs && access(costs, R_OK))
        return diag_error(w->d, "--costs: %s: %s", costs, strerror(errno));
    if (folder_begin(&f, beside(w), /*into=*/false, w->tried[0].folder, w->a, w->d))
        return -1;
    folder_abort(&f);
    return 0;
}

/* Runs `n` samples on the newest split, w->tried[w->n], and then, if `plans`, plans again.  If the new split fails,
 * that is noted, and it counts as not measured.  Adds the samples that are through to *done.  Sets *more: 1: there is a
 * new plan to run; 0: there is none; -1: planning failed.  Returns an exit code. */
static int take_round(struct replanning *w, int64_t n, bool plans, int64_t *done, int *more)
{
    struct runner r;
    struct tried *t = &w->tried[w->n];
    *more = 0;
    int rc = stretch(w, &r, t->folder, *done, n, &t->each);
    *done += r.given;
    if (w->states.lost && rc != INTERRUPTED && *done < w->of->runner->set.samples) {
        diag_error(w->d, "input '%s': its state behind sample %" PRId64 " could not be kept",
                   w->states.lost, *done - 1);
        return 1;
    }
    if (rc && rc != INTERRUPTED && w->n > 0) {
        diag_note(w->d, "the new split failed: the best one so far goes on");
        t->each = -1;
        return 0;
    }
    w->n++;
    if (rc || *w->of->runner->stop)
        return rc;
    learn_speeds(w, &r);
    if (plans)
        *more = plan_again(w, &r, best_of(w)->each);
    if (*more < 0 && !*w->of->runner->stop)
        diag_note(w->d, "planning again failed: the best split so far goes on");
    return 0;
}

/* Runs the samples in stretches, planning again after each, and the remaining samples on the best split, which is then
 * left beside the first one.  Returns an exit code. */
static int run_stretches(struct replanning *w, uint32_t rounds)
{
    struct runner *base = w->of->runner, r;
    int64_t total = base->set.samples, stretch_samples = total / (rounds + 1), done = 0, each;
    int rc = 0, more = 1;
    for (uint32_t round = 0; more > 0 && !rc && !*base->stop && round <= rounds; round++)
        rc = take_round(w, round < rounds ? stretch_samples : total - done, round < rounds, &done,
                        &more);
    bool failed = more < 0 && !*base->stop;
    if (w->n == 0 || (rc && rc != INTERRUPTED))
        return rc;
    if (done < total && !rc && !*base->stop)
        rc = stretch(w, &r, best_of(w)->folder, done, total - done, &each);
    bool left = leave_best(w) == 0;
    if (rc)
        return rc;
    if (!left || failed)
        return 1;
    return *base->stop ? INTERRUPTED : 0;
}

int replan_run(const struct replan *of)
{
    struct runner *base = of->runner;
    struct replanning w = {.of = of, .a = base->a, .d = base->d};
    w.tried = arena_array(w.a, (size_t)of->rounds + 2, sizeof *w.tried);
    w.tried[0] = (struct tried){.folder = base->set.folder, .each = -1};
    w.call = (struct plan_call){.model = arena_fmt(w.a, "%s/model.onnx", base->set.folder),
                                .stop = base->stop,
                                .a = w.a,
                                .d = w.d};
    /* all that can be wrong is found before the first run */
    if (!(w.scratch = scratch_folder(w.a, w.d)) ||
        plan_args_parse(&w.call.args, of->args, w.a, w.d) ||
        split_read(&w.split, base->set.folder, w.a, w.d) || read_promise(&w, &w.tried[0]) ||
        find_cluster(&w) || check_files(&w))
        return 1;
    w.call.dims = w.split.dims;
    w.call.states = w.tried[0].states;
    const char *unmoved = base->set.state ? unmoved_state(&w.split) : NULL;
    if (unmoved)
        diag_note(w.d,
                  "input '%s' holds state that is no tensor of numbers, which cannot be moved to "
                  "another split: nothing is planned again",
                  unmoved);
    int rc = run_stretches(&w, unmoved ? 0 : of->rounds);
    if (base->e)
        states_free(base->e, &w.states);
    return rc;
}
