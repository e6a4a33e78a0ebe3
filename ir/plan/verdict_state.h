/* State of computing a verdict, shared by load_verdict() (load_verdict.c) and plan_check() (check.c). */
#ifndef PCC_IR_PLAN_VERDICT_STATE_H
#define PCC_IR_PLAN_VERDICT_STATE_H

#include "ir/plan/plan.h"

/* A plan and its verdict while that is computed. */
struct verdict_state {
    /* the scene; m, p and c below are its members m, place and cluster */
    const struct scene *s;
    const struct module *m;
    const struct place *p;
    const struct cluster *c;
    const int32_t *dev;     /* [node], as in struct plan */
    const uint32_t *copies; /* [device], as in struct plan; NULL: 1 for each device */
    struct arena *a;
    struct verdict *v; /* the verdict that is being filled in */
};

/* Writes the devices of the nodes in row `row` of c (whose entries are nodes) to list[], each device once, and
 * returns their number.  in: [device] scratch, all 0 before and after. */
uint32_t plan_devices(const struct verdict_state *j, const struct csr *c, uint32_t row,
                      uint32_t *list, uint8_t *in);
/* Whether the devices d + 1 .. d + copies[d] - 1 exist, are of the class of d, and have no nodes or copies of their
 * own.  copies[d] must be > 1. */
bool plan_copies_free(const struct verdict_state *j, uint32_t d);

#endif
