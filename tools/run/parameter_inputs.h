/* Copies of parts in which parameters, which training updates, are inputs. */
#ifndef PCC_TOOLS_RUN_PARAMETER_INPUTS_H
#define PCC_TOOLS_RUN_PARAMETER_INPUTS_H

#include "ir/base/name_table.h"
#include "tools/run/extra_inputs.h"
#include "tools/run/split_in.h"

/* The parameters that the file of a part has. */
struct parameter_inputs {
    struct extra_input *in; /* [n] their names and types */
    uint32_t *number;       /* [n] their numbers in the table of names */
    uint32_t n;
};

/* Writes a copy of a part's file to `folder`, in which the initializers in `names` are inputs, and makes *p stand for
 * the copy: sets its path and the folder of its weights.  An input that is not given has the initializer's value.  A
 * part without such initializers stays as it is.  Lists the initializers in *out, in a.  Returns 0, or -1 and an error.
 * O(bytes of the file). */
int parameter_inputs(struct split_part *p, const struct names *names, const char *folder,
                     struct parameter_inputs *out, struct arena *a, struct diag *d);
/* Calls parameter_inputs() for all parts of a split.  names: the parameters; NULL: the parameters and counters that the
 * split's manifest lists ("gradients" and "counters" of "training"), if the split has parts for updates.  Without
 * parameters nothing is done.  Returns 0, or -1 and an error. */
int parameter_inputs_all(struct split *s, const struct names *names, const char *folder,
                         struct arena *a, struct diag *d);

#endif
