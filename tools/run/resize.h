/* Gives a split other sizes of dimensions than the plan has. */
#ifndef PCC_TOOLS_RUN_RESIZE_H
#define PCC_TOOLS_RUN_RESIZE_H

#include "tools/run/split_in.h"

/* Sets the sizes of the inputs of a split's model anew: dim[ndim], each NAME=N, gives names of dimensions other sizes;
 * all other names keep the manifest's sizes; pcc computes the shapes of the whole model in the folder.  Returns 0, or
 * -1 and an error. */
int split_resize(struct split *s, const char *const *dim, uint32_t ndim, struct arena *a,
                 struct diag *d);
struct pcc;
/* Returns a new handle of the library, which is freed with a. */
struct pcc *library_handle(struct arena *a);
/* Returns a handle with the model at a path, whose types, times and bytes are worked out for the sizes that the split
 * was planned for, or other ones, dim[ndim], each NAME=N; freed with a.  NULL after an error. */
struct pcc *split_model(const struct split *s, const char *path, const char *const *dim,
                        uint32_t ndim, struct arena *a, struct diag *d);
/* Whether the option --dim can set `dim`, a key of "dims" in the manifest: not if `dim` is an expression of names,
 * which shapes of inputs may have, or has a comma. */
bool split_names_dim(const struct split *s, const char *dim);

#endif
