/* What the judge (judge.c) and plan_check (check.c) share. */
#ifndef PCC_IR_PLAN_JUDGING_H
#define PCC_IR_PLAN_JUDGING_H

#include "ir/plan/plan.h"

struct judging {
    const struct scene *s;
    const struct module *m;
    const struct place *p;
    const struct cluster *c;
    const int32_t *dev;
    const uint32_t *copies; /* NULL: one each */
    struct arena *a;
    struct verdict *v;
};

/* Writes the distinct devices of a row to list[device]; returns their number.  in[device]: zero, and left so. */
uint32_t plan_devices(const struct judging *j, const struct csr *c, uint32_t row, uint32_t *list,
                      uint8_t *in);
/* Whether the copies of device d are of its class and idle but for that. */
bool plan_copies_free(const struct judging *j, uint32_t d);

#endif
