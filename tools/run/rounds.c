/* Rounds of planning and measuring (rounds.h).
 *
 * A planner prefers nodes whose times were measured too low, so a plan from times of nodes is slower than promised.  A
 * round plans with the times so far, writes the split, measures its parts, and scales the times of their nodes to the
 * measured ones.  The rounds end when a plan comes back that was measured already, or when the slowest device takes the
 * promised time, within 2 %.  The output is the split whose slowest device was measured fastest; if its parts take
 * other times than promised, it is written once more with the measured times.  O(rounds * (planning + runs)). */
#include "tools/run/rounds.h"

#include "backends/split/folder.h"
#include "ir/base/infile.h"
#include "ir/base/outfile.h"
#include "ir/base/strings.h"
#include "ir/base/units.h"
#include "ir/base/utf8.h"
#include "tools/run/costs_out.h"
#include "tools/run/folder_files.h"
#include "tools/run/plan_args.h"

#include <string.h>

enum { NEAR = 50 }; /* a promise is kept within 1 / NEAR */

/* A round. */
struct round {
    const char *folder, *costs; /* folder of the round's split; file of costs for its planning */
    const char *plan;           /* nodes and devices of its parts, by split_plan_text() */
    struct profiled found;
    /* ps of the slowest device per sample, by the plan and as measured */
    int64_t promised, measured;
    const char *slowest; /* name of that device */
    /* folder from which promise_again() read the plan to write the split once more; NULL: it has not done so */
    const char *read_from;
};

/* The state of rounds_run(). */
struct work {
    const struct rounds *of;
    struct plan_call call;
    struct round *round; /* [n] complete rounds */
    uint32_t n;
    struct arena *a;
    struct diag *d;
};

/* ---- a round ------------------------------------------------------------------------------------ */

/* Sets r->measured and r->slowest: the largest measured time of a device, the sum over its parts, and that device; and
 * r->promised: the largest planned time of a device. */
static void find_slowest(struct round *r)
{
    const struct split *s = &r->found.s;
    for (uint32_t k = 0; k < s->npart; k++) {
        int64_t promised = 0, measured = 0;
        for (uint32_t j = 0; j < s->npart; j++)
            if (!strcmp(s->part[j].device, s->part[k].device)) {
                promised = sat_add(promised, s->part[j].compute_ps > 0 ? s->part[j].compute_ps : 0);
                measured = sat_add(measured, r->found.f[j].ps);
            }
        r->promised = promised > r->promised ? promised : r->promised;
        if (measured > r->measured) {
            r->measured = measured;
            r->slowest = s->part[k].device;
        }
    }
}

/* Whether the measured time of a round is the promised one, within 1 / NEAR. */
static bool keeps(const struct round *r)
{
    int64_t off = r->measured > r->promised ? r->measured - r->promised : r->promised - r->measured;
    return off <= r->promised / NEAR;
}

/* Writes a file of costs with what was measured of a folder.  Returns 0, or -1 after an error. */
static int write_costs(const struct work *w, const struct profiled *found, const char *path)
{
    struct costs_out out = {
        .m = &found->m, .part = found->f, .source = w->of->model, .cores = w->of->cores};
    out.row = costs_rows(&found->m, found->f, &out.nrow, w->a);
    return costs_write(&out, path, w->a, w->d);
}

/* Whether all parts of a folder are measured: Ctrl-C may have ended that. */
static bool whole(const struct profiled *found)
{
    for (uint32_t k = 0; k < found->s.npart; k++)
        if (!measured_whole(&found->m, &found->f[k]))
            return false;
    return true;
}

/* How a round has ended.  GOES_ON: another one may follow; KEPT: the promise is kept; KNOWN: the plan was measured
 * before; ENDED: by Ctrl-C; FAILED: with an error. */
enum outcome { GOES_ON, KEPT, KNOWN, ENDED, FAILED };

/* Plans and measures round number w->n with its file of costs, and writes the file of costs for the next round.  A
 * round that was measured counts in w->n.  *status: the status of planning. */
static enum outcome take_round(struct work *w, enum pcc_status *status)
{
    struct round *r = &w->round[w->n];
    struct costs_in rows;
    r->folder = arena_fmt(w->a, "%s/round%u", w->of->p->m.folder, w->n + 1);
    *status = plan_write(&w->call, &r->costs, 1, r->folder);
    if (*w->of->p->m.stop)
        return ENDED;
    if (*status)
        return FAILED;
    if (costs_read(&rows, r->costs, w->a, w->d) || split_read(&r->found.s, r->folder, w->a, w->d))
        return FAILED;
    r->plan = split_plan_text(&r->found.s, w->a);
    for (uint32_t i = 0; i < w->n; i++)
        if (!strcmp(w->round[i].plan, r->plan))
            return KNOWN;
    if (profile_folder(w->of->p, r->folder, &rows, &r->found))
        return FAILED;
    if (!whole(&r->found))
        return ENDED;
    find_slowest(r);
    w->n++;
    w->round[w->n].costs = arena_fmt(w->a, "%s/costs%u.json", w->of->p->m.folder, w->n);
    if (write_costs(w, &r->found, w->round[w->n].costs))
        return FAILED;
    return keeps(r) ? KEPT : GOES_ON;
}

/* ---- what is left ------------------------------------------------------------------------------- */

/* Returns the round that was measured fastest, of equal ones the first. */
static struct round *best_round(const struct work *w)
{
    struct round *best = &w->round[0];
    for (uint32_t i = 1; i < w->n; i++)
        if (w->round[i].measured < best->measured)
            best = &w->round[i];
    return best;
}

/* Prints the table of the rounds: for each the promised and the measured time of the slowest device; the best one is
 * marked. */
static void print_rounds(const struct work *w)
{
    char promised[UNIT_TEXT], measured[UNIT_TEXT];
    const struct round *best = w->n ? best_round(w) : NULL;
    printf("round  promised     measured     off      slowest\n");
    for (uint32_t i = 0; i < w->n; i++) {
        const struct round *r = &w->round[i];
        printf("%-6u %-12s %-12s %+.1f %%  ", i + 1, time_short(promised, r->promised),
               time_short(measured, r->measured),
               r->promised ? 100 * ((double)r->measured / (double)r->promised - 1) : 0);
        utf8_put(stdout, r->slowest ? r->slowest : "");
        puts(r == best ? ", kept" : "");
    }
}

/* Writes to the folder `to` the manifest of a round, with the key "measured".  Returns 0, or -1 after an error. */
static int put_manifest(const struct work *w, const struct round *r, const char *to)
{
    struct outfile f;
    size_t n;
    char *text =
        infile_read(arena_fmt(w->a, "%s/manifest.json", r->folder), INFILE_PLAN, w->a, &n, w->d);
    char *end = text ? strrchr(text, '}') : NULL;
    if (!end || outfile_open(&f, arena_fmt(w->a, "%s/manifest.json", to), w->a, w->d))
        return -1;
    while (end > text && strchr(" \n", end[-1])) /* the key "measured" is put before the last '}' */
        end--;
    *end = 0;
    char *source =
        r->read_from ? strstr(text, arena_fmt(w->a, "read from %s", r->read_from)) : NULL;
    if (source) { /* names a folder for temporary files, which will be gone: other words replace it */
        size_t length = strlen("read from ") + strlen(r->read_from);
        fprintf(f.f, "%.*splan of a round, at the times of its parts", (int)(source - text), text);
        text = source + length;
    }
    fprintf(f.f, "%s,\n \"measured\": ", text);
    const struct costs_out out = {.m = &r->found.m,
                                  .part = r->found.f,
                                  .source = w->of->model,
                                  .cores = w->of->cores,
                                  .side = &r->found.side};
    costs_put_measured(f.f, &out, w->a);
    fputs("\n}\n", f.f);
    return outfile_close(&f, true);
}

/* Writes the plan of a round again, with the times and memory of its parts as they were measured, so that the folder
 * promises what was measured: r->folder is the new folder then, r->read_from the old one.  If planning fails then, as
 * when the parts need more memory than planned, the folder stays as it is. */
static void promise_again(struct work *w, struct round *r)
{
    struct split s;
    struct diag quiet = diag_silent(), *told = w->call.d;
    const char *costs = r[1].costs; /* the file for the next round: what was measured in this one */
    const char *folder = arena_fmt(w->a, "%s/again", w->of->p->m.folder);
    w->call.args.value[CLI_PASSES] = arena_fmt(w->a, "plan{from=%s}", r->folder);
    w->call.d = &quiet;
    if (!plan_write(&w->call, &costs, 1, folder) && !split_read(&s, folder, w->a, &quiet) &&
        !strcmp(split_plan_text(&s, w->a), r->plan)) {
        r->read_from = r->folder;
        r->folder = folder;
    }
    w->call.d = told;
}

/* Writes the split that was measured fastest to the output folder, with the key "measured" in its manifest.  Returns 0,
 * or -1 after an error. */
static int leave_best(struct work *w)
{
    struct round *best = best_round(w);
    struct folder f;
    if (!keeps(best) && !*w->of->p->m.stop)
        promise_again(w, best);
    if (folder_begin(&f, w->of->output, /*into=*/false, w->of->model, w->a, w->d))
        return -1;
    if (!folder_take_files(best->folder, f.dirfd, /*manifest=*/false, w->a, w->d) &&
        !put_manifest(w, best, f.temp))
        return folder_commit(&f);
    folder_abort(&f);
    return -1;
}

int rounds_run(const struct rounds *r, char **args)
{
    struct work w = {.of = r, .a = r->p->m.a, .d = r->p->m.d};
    w.call = (struct plan_call){.model = r->model, .stop = r->p->m.stop, .a = w.a, .d = w.d};
    struct profiled pieces;
    enum pcc_status status = PCC_OK;
    enum outcome end = GOES_ON;
    w.round = arena_array(w.a, (size_t)r->most + 1, sizeof *w.round);
    w.round[0].costs = arena_fmt(w.a, "%s/costs0.json", r->p->m.folder);
    /* no memory is measured, as the pieces are not the parts of a plan */
    struct profiling alone = *r->p;
    alone.m.memory = false;
    alone.side_by_side = 0;
    alone.parameters = r->parameters;
    if (plan_args_parse(&w.call.args, args, w.a, w.d) ||
        profile_folder(&alone, r->pieces, NULL, &pieces))
        return 1;
    if (!whole(&pieces))
        return diag_error(w.d, "ended by Ctrl-C: nothing is complete"), ROUNDS_INTERRUPTED;
    if (write_costs(&w, &pieces, w.round[0].costs))
        return 1;
    while (end == GOES_ON && w.n < r->most)
        end = take_round(&w, &status);
    if (w.n == 0 && end == ENDED)
        return diag_error(w.d, "ended by Ctrl-C: nothing is complete"), ROUNDS_INTERRUPTED;
    if (w.n == 0)
        return status ? (int)status : 1;
    print_rounds(&w);
    diag_note(w.d, "%s",
              end == KNOWN    ? "the plan was measured before: no further round"
              : end == KEPT   ? "the slowest device takes what was promised, within 2 %"
              : end == ENDED  ? "ended by Ctrl-C"
              : end == FAILED ? "a round failed: the best split so far is left"
                              : "all rounds are done");
    return leave_best(&w) || end == FAILED ? 1 : 0;
}
