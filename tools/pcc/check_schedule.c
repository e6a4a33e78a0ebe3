/* Checks the schedule in a split folder, without planning anything (check_schedule.h). */
#include "check_schedule.h"

#include "ir/base/infile.h"
#include "ir/base/units.h"
#include "ir/base/utf8.h"
#include "ir/plan/schedule_check.h"
#include "ir/plan/schedule_json.h"

#include <string.h>

/* Reads the file `file` of a folder into *j, with memory of a.  Returns 0; or reports an error and returns -1. */
static int read_text(struct json_text *j, const char *folder, const char *file, struct arena *a,
                     struct diag *d)
{
    size_t n = strlen(folder);
    j->path = arena_fmt(a, "%s%s%s", folder, n && folder[n - 1] == '/' ? "" : "/", file);
    j->text = infile_read(j->path, INFILE_PLAN, a, &j->n, d);
    return j->text ? 0 : -1;
}

/* Prints that the schedule of a training iteration is correct. */
static void print_iteration(FILE *f, const struct sample_work *w, uint32_t transfers)
{
    fprintf(
        f,
        "the schedule holds for an iteration of %u micro-batch%s:\n%u part%s and %u transfer%s, "
        "each once; no deadlock, whatever the times\n",
        w->micro_batches, w->micro_batches == 1 ? "" : "es", w->npart, w->npart == 1 ? "" : "s",
        transfers, transfers == 1 ? "" : "s");
}

/* Prints that the schedule of samples in rounds is correct.  transfers: number for each sample. */
static void print_rounds(FILE *f, const struct sample_work *w, const struct schedule *s,
                         uint32_t transfers)
{
    fprintf(
        f,
        "the schedule holds for %u sample%s in flight:\n%u part%s and %u transfer%s a sample, each "
        "once; no deadlock, whatever the times\n",
        s->in_flight, s->in_flight == 1 ? "" : "s", w->npart, w->npart == 1 ? "" : "s", transfers,
        transfers == 1 ? "" : "s");
}

/* Prints what the check has proved, and for each device its most bytes in memory and its longest receive queue. */
static void print_proof(FILE *f, const struct sample_work *w, const struct schedule *s)
{
    char need[UNIT_TEXT], have[UNIT_TEXT];
    uint32_t transfers = 0;
    for (uint32_t d = 0; d <= w->ndev; d++) /* ndev: the host, which sends, too */
        transfers += s->at[lane_send(w->ndev, d) + 1] - s->at[lane_send(w->ndev, d)];
    if (w->each)
        print_iteration(f, w, transfers);
    else
        print_rounds(f, w, s, transfers);
    for (uint32_t d = 0; d < w->ndev; d++) {
        uint32_t queue = 0;
        for (uint32_t from = 0; from <= w->ndev; from++)
            queue = larger_u32(s->queue[lane_recv(w->ndev, d, from)], queue);
        fputs("  ", f);
        utf8_put(f, w->dev_name[d]);
        fprintf(f, ": at most %s%s%s", bytes_short(need, s->peak[d]),
                w->memory[d] < 0 ? "" : " of ",
                w->memory[d] < 0 ? "" : bytes_short(have, w->memory[d]));
        if (queue)
            fprintf(f, ", queues of %u at most", queue);
        putc('\n', f);
    }
}

/* Sets the number of samples in flight of s, and checks its lists and that memory suffices with that number.  Returns
 * NULL, or the first error as text, in a. */
static const char *prove_for_samples(const struct sample_work *w, struct schedule *s,
                                     uint32_t samples, struct arena *a)
{
    s->in_flight = samples;
    const char *why = schedule_prove(w, s, a);
    return why ? why : schedule_fits(w, s, a);
}

int check_schedule(const char *folder, uint32_t samples, FILE *f, struct arena *a, struct diag *d)
{
    struct json_text manifest, schedule;
    if (read_text(&manifest, folder, "manifest.json", a, d))
        return -1;
    const struct sample_work *w = work_read(&manifest, a, d);
    if (!w || read_text(&schedule, folder, SCHEDULE_FILE, a, d))
        return -1;
    struct schedule *s = schedule_read(&schedule, w, a, d);
    if (!s)
        return -1;
    w = s->work; /* in training this is the work of all micro-batches */
    if (samples && w->each)
        return diag_error(d, "%s: it is of one iteration: --in-flight does not apply",
                          schedule.path);
    const char *why = samples ? prove_for_samples(w, s, samples, a) : schedule_check(w, s, a);
    if (why)
        return diag_error(d, "%s: %s", schedule.path, why);
    print_proof(f, w, s);
    return 0;
}
