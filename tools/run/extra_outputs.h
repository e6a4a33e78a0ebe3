/* Copies of a model in which further values are outputs, so that a run returns them. */
#ifndef PCC_TOOLS_RUN_EXTRA_OUTPUTS_H
#define PCC_TOOLS_RUN_EXTRA_OUTPUTS_H

#include "ir/model/module.h"

/* Writes a copy of the ONNX file `from` to the file `to`, with the values name[n] as further outputs; none of them may
 * be an output already.  Engines find its external data by engine_load.data, or by extra_outputs_links().  Returns 0,
 * or -1 and an error. */
int extra_outputs(const char *from, const char *to, const char *const *name, uint32_t n,
                  struct arena *a, struct diag *d);
/* Makes links in a folder to the files with external data of m, under the names that the model has for them, for
 * engines that look for these files only in the folder of a copy.  A link that cannot be made is left out. */
void extra_outputs_links(const struct module *m, const char *folder, struct arena *a);

#endif
