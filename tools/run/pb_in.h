/* Reading folders of inputs as ONNX's test data have them: input_0.pb, input_1.pb, ..., a tensor each. */
#ifndef PCC_TOOLS_RUN_PB_IN_H
#define PCC_TOOLS_RUN_PB_IN_H

#include "tools/run/npz.h"
#include "tools/run/split_in.h"

/* Reads the inputs of a split's model, in their order, from a folder, or its folder test_data_set_0; or from a file of
 * one tensor, for a model with one input; in a.  Returns 0, or -1 and an error: a file is missing, is one more than the
 * model has inputs, or is no tensor. */
int pb_read(struct npz *out, const char *folder, const struct split *s, struct arena *a,
            struct diag *d);

#endif
