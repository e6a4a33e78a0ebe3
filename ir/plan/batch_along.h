/* Operators that work along the axis of the batch. */
#ifndef PCC_IR_PLAN_BATCH_ALONG_H
#define PCC_IR_PLAN_BATCH_ALONG_H

#include "ir/model/module.h"

/* Returns NULL, or why node n does not treat the rows of its operands along the axis of the batch one by one: a clause
 * that follows the name of the node.  axis: [value] of the batch; -1: none.  O(operands of n). */
const char *batch_along_why(const struct module *m, const int32_t *axis, nid n);

/* Writes the integers of an initializer that is no input, or of a Constant, to out[max] and returns how many there are;
 * -1: the value is something else, or has more than max. */
int constant_ints(const struct module *m, vid v, int64_t *out, uint32_t max);

#endif
