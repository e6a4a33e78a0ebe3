/* What a training iteration keeps of the results of forward nodes until the backward pass. */
#ifndef PCC_IR_EXEC_ITERATION_KEPT_BYTES_H
#define PCC_IR_EXEC_ITERATION_KEPT_BYTES_H

#include "ir/exec/evaluate.h"

/* Returns whether stages keep the values that backward nodes read: in a graph in ONNX with a backward pass.  Else they
 * keep all that forward nodes make. */
bool keeps_values(const struct scene *s);
/* Returns, in a, [node] the bytes of each forward node's results that are kept from its forward pass to the backward
 * pass, for the samples that costs are about; 0 for other nodes.  Of a graph in ONNX, the results that a node of the
 * backward pass reads; in a profile, or without a backward pass, all that the node makes.  O(nodes + readers of
 * values). */
const int64_t *kept_bytes(const struct scene *s, struct arena *a);

#endif
