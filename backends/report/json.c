/* Writes a plan as JSON.  A plan of a workload file is written in the placement paper's form (plan_json.h), unless
 * this form cannot hold it (paper_split_possible); all other plans in pcc's form. */
#include "backends/backends.h"
#include "ir/plan/plan_json.h"

/* For writer.write: writes the plan as JSON: in the form of the placement paper's splits if the plan has such a
 * form, else in pcc's own form.  If --judge has another objective, the plan's value by that objective is written,
 * too.  Returns 0, or -1 and an error. */
static int write_json(const struct result *r, const void *opts, const char *path)
{
    const struct result *m = r->made ? r->made : r;
    const struct plan_report t = {.scene = &m->scene,
                                  .plan = m->plan,
                                  .verdict = m->verdict,
                                  .calls = r->calls,
                                  .judged = r->made ? &r->scene : NULL,
                                  .judged_value = r->verdict->value};
    (void)opts;
    if (paper_split_possible(&t))
        return paper_split_write(&t, path, r->out, r->diag);
    return plan_json_write(&t, path, r->out, r->diag);
}

const struct writer writer_json = {.name = "json",
                                   .suffix = ".json",
                                   .to_stdout = true,
                                   .needs = WRITER_TAKES_PLAN,
                                   .write = write_json};
