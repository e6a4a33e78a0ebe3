/* Execution plans as JSON: schedule.json of a split folder (backends/split/schedule.schema.json). */
#ifndef PCC_IR_PLAN_SCHEDULE_JSON_H
#define PCC_IR_PLAN_SCHEDULE_JSON_H

#include "ir/base/diag.h"
#include "ir/plan/schedule.h"
#include "ir/plan/work.h"

#include <stdio.h>

#define SCHEDULE_FILE "schedule.json"

struct json_text {
    const char *path; /* for messages */
    const char *text;
    size_t n;
};

/* The work that a manifest describes; NULL and an error.  Lives in a. */
struct sample_work *work_read(const struct json_text *j, struct arena *a, struct diag *d);
/* The lists of a schedule of that work, as they are: whether they hold is schedule_check's, for s->work: w, or that of
 * its micro-batches (work_unroll).  NULL and an error.  Lives in a. */
struct schedule *schedule_read(const struct json_text *j, const struct sample_work *w,
                               struct arena *a, struct diag *d);
/* Writes schedule.json to f. */
void schedule_put(FILE *f, const struct sample_work *w, const struct schedule *s);

#endif
