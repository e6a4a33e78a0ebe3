/* The member "sharding" of a manifest. */
#ifndef PCC_BACKENDS_SPLIT_SHARDING_H
#define PCC_BACKENDS_SPLIT_SHARDING_H

#include "backends/backends.h"
#include "ir/base/json_out.h"

/* Writes "sharding": the devices that share nodes, what each has a piece of, and what is exchanged.  r must be
 * sharded. */
void sharding_put(struct json_out *j, const struct result *r, struct arena *a);

#endif
