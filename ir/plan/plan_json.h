/* Reads and writes plans as JSON, in three forms: pcc's own plan, the part of a split's manifest that is about its
 * plan, and the placement paper's splits. */
#ifndef PCC_IR_PLAN_PLAN_JSON_H
#define PCC_IR_PLAN_PLAN_JSON_H

#include "ir/base/json_out.h"
#include "ir/plan/assign.h"
#include "ir/plan/plan.h"

#include <stdio.h>

/* Reads a plan from n bytes of JSON in any of the three forms into r, after assign_begin(r).  Returns 0, or -1 and an
 * error: the text is not JSON, has none of the forms, or names a node or device that does not exist. */
int plan_json_read(struct assignment *r, const char *text, size_t n);
/* Whether calls of functions were open when the plan was made, so that it names their nodes.  False: the plan says that
 * they were whole, has the placement paper's form (node ids only), or is not JSON. */
bool plan_json_calls_open(const char *text, size_t n);

/* A plan and its figures. */
struct plan_report {
    const struct scene *scene;
    const struct plan *plan;
    const struct verdict *verdict;
    /* calls of functions while the plan was made: "opened" or "whole"; NULL: the model has none */
    const char *calls;
    const struct scene *judged; /* the scene with the objective of --judge; NULL: no such option */
    int64_t judged_value;       /* ps: value of the plan for that objective */
};

/* Checks that a plan file may list `slots` slots in all: at most SLOTS_EMPTY more than the model has nodes.  Returns
 * 0, or -1 and an error. */
int plan_slots_check(uint64_t slots, const struct module *m, const char *path, struct diag *d);
/* Writes a plan in pcc's own form to path, or to `out` if path is "-" (outfile_open_to()).  Returns 0, or -1 and an
 * error; a name that is not UTF-8, or more slots than plan_slots_check() allows, is an error, too. */
int plan_json_write(const struct plan_report *t, const char *path, FILE *out, struct diag *d);
/* Whether the plan can be written in the placement paper's form: the execution model has that form (exec_kind.paper),
 * the plan has no order of nodes, and all placed nodes have ids, as those of workloads have. */
bool paper_split_possible(const struct plan_report *t);
/* Does the same as plan_json_write() in the placement paper's form, without the plan's order.  The placed nodes must
 * have ids. */
int paper_split_write(const struct plan_report *t, const char *path, FILE *out, struct diag *d);
/* Writes the member "objective" of a manifest.  value: ps of the plan; bounds are null unless they are proven.
 * of_parts: ps for one sample alone through the parts, written only by execution models for one sample alone. */
void plan_put_objective(struct json_out *o, const struct scene *s, const struct plan *p,
                        int64_t value, int64_t of_parts);
/* Writes the member "order" of a manifest: for each device the names of its nodes, in the order of the plan. */
void plan_put_order(struct json_out *o, const struct scene *s, const struct plan *p,
                    struct arena *scratch);

#endif
