/* Reads plans that Olive's pass SplitModel wrote into a model: its metadata "split_assignments". */
#ifndef PCC_PASSES_GIVEN_SPLIT_ASSIGNMENTS_H
#define PCC_PASSES_GIVEN_SPLIT_ASSIGNMENTS_H

#include "passes/passes.h"

enum { SPLIT_NONE = -1 /* in place of the number of a split: the node is in no split */ };

/* Returns the text that the model's metadata has under "split_assignments"; NULL: it has none. */
const char *split_assignments_of(const struct module *m);
/* Returns an array, in a: [node of m] the number of its split by that text, SPLIT_NONE for nodes in bodies and for
 * Constant; NULL after an error about the file `path`. */
const int32_t *split_assignments_read(const struct module *m, const char *text, const char *path,
                                      struct arena *a, struct diag *d);

#endif
