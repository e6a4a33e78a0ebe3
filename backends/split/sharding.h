/* The member "sharding" of a manifest. */
#ifndef PCC_BACKENDS_SPLIT_SHARDING_H
#define PCC_BACKENDS_SPLIT_SHARDING_H

#include "backends/backends.h"
#include "ir/base/json_out.h"

/* Writes the member "sharding": the devices that share nodes, the states and weights that these devices have in
 * pieces, and the tensors that they exchange.  r must be sharded.  Takes memory from a. */
void sharding_put(struct json_out *j, const struct result *r, struct arena *a);

#endif
