/* Cuts whole tensors, which users give, into the pieces that parts of a sharded split read, and joins pieces that parts
 * make into whole tensors, which users take. */
#ifndef PCC_TOOLS_RUN_CUT_TENSORS_H
#define PCC_TOOLS_RUN_CUT_TENSORS_H

#include "tools/run/engine.h"
#include "tools/run/split_in.h"

/* Returns piece i of a tensor that is cut as c says; NULL after an error, with the reason in *err. */
struct engine_value *cut_tensor(struct engine *e, const struct split_cut *c,
                                const struct engine_value *whole, uint32_t i,
                                struct engine_error *err);
/* Returns the tensor that the pieces piece[c->ways] make up; NULL after an error, with the reason in *err. */
struct engine_value *cut_tensor_join(struct engine *e, const struct split_cut *c,
                                     struct engine_value *const *piece, struct engine_error *err);
/* Puts the name of the whole tensor before the reason in *err.  Returns -1. */
int cut_tensor_blame(const struct split *s, const struct split_cut *c, struct engine_error *err);

/* Cuts the whole inputs in table[value] into their pieces, and puts these into the table, too.  keep: the whole tensors
 * stay in the table; else they are freed.  Returns 0; or -1 with the reason in *err, and then no pieces are there. */
int cut_inputs(struct engine *e, const struct split *s, struct engine_value **table, bool keep,
               struct engine_error *err);
/* For each output whose pieces are all in table[value]: puts the whole tensor into the table, and frees the pieces.
 * Returns 0; or -1 with the reason in *err. */
int join_outputs(struct engine *e, const struct split *s, struct engine_value **table,
                 struct engine_error *err);

#endif
