/* The picture of a model before the pass shard, with the axes along which devices cut its tensors: --view=shards. */
#ifndef PCC_BACKENDS_PICTURE_SHARDS_H
#define PCC_BACKENDS_PICTURE_SHARDS_H

#include "backends/backends.h"

/* Checks that the model is sharded.  path: the picture, for the error.  Returns 0, or -1 and an error. */
int shards_check(const struct result *r, const char *path);
/* Writes the picture as DOT to `path` ("-": r->out).  Returns 0; -1 and an error: the model is not sharded, or the file
 * cannot be written. */
int shards_write(const struct result *r, const char *path);

#endif
