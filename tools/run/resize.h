/* Other sizes for a split than those it was planned for. */
#ifndef PCC_TOOLS_RUN_RESIZE_H
#define PCC_TOOLS_RUN_RESIZE_H

#include "tools/run/split_in.h"

/* Gives the inputs of a split's model the sizes that dim[ndim], each NAME=N, and what the manifest says of other names
 * come to, as pcc works them out for the whole model in the folder.  Returns 0, or -1 and an error. */
int split_resize(struct split *s, const char *const *dim, uint32_t ndim, struct arena *a,
                 struct diag *d);
struct pcc;
/* Returns a handle with the model at a path, whose types, times and bytes are worked out for the sizes that the split
 * was planned for, or other ones, dim[ndim], each NAME=N; freed with a.  NULL after an error. */
struct pcc *split_model(const struct split *s, const char *path, const char *const *dim,
                        uint32_t ndim, struct arena *a, struct diag *d);
/* Whether a key of "dims" is a name that --dim can say: not an expression of names, as shapes of inputs have them, nor
 * a name with a comma. */
bool split_names_dim(const struct split *s, const char *dim);

#endif
