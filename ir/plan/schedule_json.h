/* Reads and writes schedules (schedule.h) as JSON: schedule.json of a split folder, whose form
 * backends/split/schedule.schema.json describes. */
#ifndef PCC_IR_PLAN_SCHEDULE_JSON_H
#define PCC_IR_PLAN_SCHEDULE_JSON_H

#include "ir/base/diag.h"
#include "ir/plan/schedule.h"
#include "ir/plan/work.h"

#include <stdio.h>

#define SCHEDULE_FILE "schedule.json"

/* The text of a JSON file. */
struct json_text {
    const char *path; /* for messages */
    const char *text;
    size_t n; /* bytes of text */
};

/* Reads the work (work.h) of a split from its manifest.json.  Returns it, in a; or NULL and an error. */
struct sample_work *work_read(const struct json_text *j, struct arena *a, struct diag *d);
/* Reads the lists of a schedule of work w.  Returns the schedule s, in a; or NULL and an error.  The lists are not
 * checked: the caller calls schedule_check() with s->work, which is w, or the work of all micro-batches that
 * work_unroll() made of w. */
struct schedule *schedule_read(const struct json_text *j, const struct sample_work *w,
                               struct arena *a, struct diag *d);
/* Writes the lists of s, a schedule of work w, to f as schedule.json. */
void schedule_put(FILE *f, const struct sample_work *w, const struct schedule *s);

#endif
