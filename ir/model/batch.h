/* The batch dimension of a model: the name of the dimension that counts samples, and the axis of each value that has
 * it. */
#ifndef PCC_IR_MODEL_BATCH_H
#define PCC_IR_MODEL_BATCH_H

#include "ir/model/module.h"

/* Whether models use this name for a batch size: "batch", "batch_size", "N". */
bool batch_is_name(const char *name);
/* Returns the name of the batch dimension: of the first dimensions of the model's inputs (without initializers) the
 * first name that batch_is_name() knows, else the first dimension that is a name or an expression.  0: the first
 * dimensions are numbers.  O(inputs). */
sid batch_name(const struct module *m);
/* Returns an array, in a: [value of the main graph] the first axis whose size depends on batch_name(). If no axis is
 * known to depend on it, the first axis of unknown size, which is assumed to depend on it; for a value of unknown rank,
 * or one that is no tensor, axis 0. -1: no axis does: the value is the same for any number of samples. Returns NULL if
 * the batch dimension has no name. Expected O(values * rank). */
const int32_t *value_batch_axes(const struct module *m, struct arena *a);
/* Returns an array, in a: [value of the main graph] 1 if the sizes of several of its axes depend on batch_name(), else
 * 0.  Expected O(values * rank). */
const uint8_t *value_batch_squares(const struct module *m, struct arena *a);

#endif
