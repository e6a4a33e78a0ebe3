/* Operators that work along the axis of the batch. */
#ifndef PCC_IR_PLAN_BATCH_ALONG_H
#define PCC_IR_PLAN_BATCH_ALONG_H

#include "ir/model/module.h"

/* Returns NULL if node n treats the rows of its operands along the axis of the batch one by one, as far as is known.
 * Else returns the reason: a clause that follows the name of the node, "works along the axis of the batch".  axis:
 * [value] its axis of the batch; -1: none.  O(operands of n). */
const char *batch_along_why(const struct module *m, const int32_t *axis, nid n);

/* Writes the integers of value v to out[max] and returns how many there are.  v must be the result
 * of a Constant, or an initializer that is no input of the model.  -1: v is neither, or has more
 * than max elements. */
int constant_ints(const struct module *m, vid v, int64_t *out, uint32_t max);

#endif
