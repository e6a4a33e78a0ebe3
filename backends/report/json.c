/* A plan as JSON; of a workload, in the placement paper's form (plan_json.h). */
#include "backends/backends.h"
#include "ir/plan/plan_json.h"

static int write_json(const struct result *r, const void *opts, const char *path)
{
    (void)opts;
    if (r->scene.m->ir_version == 0)
        return paper_split_write(&r->scene, r->plan, r->verdict, path, r->diag);
    return plan_json_write(&r->scene, r->plan, r->verdict, r->calls, path, r->diag);
}

const struct writer writer_json = {.name = "json",
                                   .suffix = ".json",
                                   .to_stdout = true,
                                   .needs = WRITER_NEEDS_PLAN,
                                   .write = write_json};
