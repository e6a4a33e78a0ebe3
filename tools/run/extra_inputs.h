/* Copies of a model whose initializers may be given as inputs. */
#ifndef PCC_TOOLS_RUN_EXTRA_INPUTS_H
#define PCC_TOOLS_RUN_EXTRA_INPUTS_H

#include "ir/base/arena.h"
#include "ir/base/diag.h"

#include <stdbool.h>
#include <stdint.h>

/* An initializer that becomes an input. */
struct extra_input {
    const char *name;
    int elem; /* ONNX's number of the element type */
    uint32_t rank;
    const int64_t *size; /* [rank] */
    bool there;          /* the initializer is an input of the model already */
};

/* Writes the model at `from` to `to`, with the initializers in[n] as further inputs.  If an input is not given, the
 * initializer's elements are its value.  Returns 0, or -1 and an error.  O(bytes of the file). */
int extra_inputs(const char *from, const char *to, const struct extra_input *in, uint32_t n,
                 struct arena *a, struct diag *d);

#endif
