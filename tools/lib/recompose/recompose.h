/* Putting the parts of a split folder together to one model. */
#ifndef PCC_TOOLS_LIB_RECOMPOSE_H
#define PCC_TOOLS_LIB_RECOMPOSE_H

#include "ir/base/arena.h"
#include "ir/base/diag.h"

/* What was written. */
struct recomposed {
    uint32_t nodes, parts; /* nodes of the model's graph; parts that they come from */
    const char *data;      /* path of the file with the weights; NULL: there is none */
    uint64_t bytes;        /* size of that file */
};

/* Writes the model whose split is in `folder` to the file `path`, its weights of 1 KiB and more to the file path.data
 * beside it.  links: parts may reach their weights through symbolic and hard links.  Returns 0; or -1 and an error, and
 * then there is no new file. */
int recompose(const char *folder, const char *path, bool links, struct recomposed *out,
              struct arena *a, struct diag *d);

#endif
