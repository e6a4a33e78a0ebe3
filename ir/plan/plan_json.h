/* Plans as JSON, read and written here alone: pcc's own form, what a split's manifest says of its plan, and the
 * placement paper's splits. */
#ifndef PCC_IR_PLAN_PLAN_JSON_H
#define PCC_IR_PLAN_PLAN_JSON_H

#include "ir/base/json_out.h"
#include "ir/plan/assign.h"
#include "ir/plan/plan.h"

#include <stdio.h>

/* Reads n bytes of JSON in any of the three forms, which their keys tell apart, into r (assign_begin has been called).
 * 0, or -1 and an error: r->path is not JSON, has none of the forms, or names what there is not. */
int plan_json_read(struct assignment *r, const char *text, size_t n);
/* Whether calls of functions stood open when the plan was made: not if it says that they were whole, or knows no
 * names of nodes (also where it is no JSON). */
bool plan_json_calls_open(const char *text, size_t n);

/* A plan and its figures. */
struct plan_report {
    const struct scene *scene;
    const struct plan *plan;
    const struct verdict *verdict;
    /* of functions, while it was made: "opened", "whole"; NULL: there are none */
    const char *calls;
    const struct scene *judged; /* the scene with the objective of --judge; NULL: not given */
    int64_t judged_value;       /* ps */
};

/* Whether a plan in a file can have `slots` slots: at most SLOTS_EMPTY more than the model has nodes.  0, or -1 and an
 * error. */
int plan_slots_check(uint64_t slots, const struct module *m, const char *path, struct diag *d);
/* Writes it in pcc's own form to path, or to `out` (outfile_open_to).  0, or -1 and an error: names that are not
 * UTF-8 cannot be written, nor plans with millions of slots without nodes. */
int plan_json_write(const struct plan_report *t, const char *path, FILE *out, struct diag *d);
/* The same in the placement paper's form, which the plan's execution model has.  -1 and an error if a node has no id,
 * which only workloads' have, or as above. */
int paper_split_write(const struct plan_report *t, const char *path, FILE *out, struct diag *d);
/* The member "objective" of a manifest: bounds only where they are proven; of one sample alone that of the
 * parts, too. */
void plan_put_objective(struct json_out *o, const struct scene *s, const struct plan *p,
                        int64_t value, int64_t of_parts);
/* The member "order" of a manifest: the nodes of each device in order, of a plan that has ranks. */
void plan_put_order(struct json_out *o, const struct scene *s, const struct plan *p,
                    struct arena *scratch);

#endif
