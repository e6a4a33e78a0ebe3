/* A verdict under way: the state that load_verdict() and plan_check() share. */
#ifndef PCC_IR_PLAN_VERDICT_STATE_H
#define PCC_IR_PLAN_VERDICT_STATE_H

#include "ir/plan/plan.h"

struct verdict_state {
    const struct scene *s;
    const struct module *m;
    const struct place *p;
    const struct cluster *c;
    const int32_t *dev;
    const uint32_t *copies; /* NULL: 1 everywhere */
    struct arena *a;
    struct verdict *v;
};

/* Writes the distinct devices of a row to list[device]; returns their number.  in[device]: zero, and left so. */
uint32_t plan_devices(const struct verdict_state *j, const struct csr *c, uint32_t row,
                      uint32_t *list, uint8_t *in);
/* Whether all copies of device d are of the class of d and hold no nodes of their own. */
bool plan_copies_free(const struct verdict_state *j, uint32_t d);

#endif
