/* Tensors of strings in numpy's archives. */
#ifndef PCC_TOOLS_RUN_NPZ_TEXT_H
#define PCC_TOOLS_RUN_NPZ_TEXT_H

#include "tools/run/npz.h"

/* Fills *to, but for its name, with the tensor of strings that an engine's value_texts() has returned: texts[0 .. n),
 * of this rank; in a.  Returns 0; -1: an element is not UTF-8, which numpy's strings are made of. */
int npz_texts(struct npz_array *to, const unsigned char *texts, size_t rank, size_t n,
              struct arena *a);

/* Makes to->text of an array of strings that was read, in a: to->data has its elements, as to->letters and narrow say.
 * Returns 0; -1: an element is not UTF-8, is no Unicode, or has a NUL within. */
int npz_read_texts(struct npz_array *to, struct arena *a);

#endif
