/* The opset versions in which operators of ai.onnx got their present meaning. */
#ifndef PCC_PASSES_FUNCTIONS_OPSET_HISTORY_H
#define PCC_PASSES_FUNCTIONS_OPSET_HISTORY_H

#include <stdbool.h>
#include <stdint.h>

enum { OPSET_KNOWN = 28 }; /* the newest version that the table knows */

/* The operator is the same in versions a and b of ai.onnx for all that is known: no version between them
 * changed it, and it was there in both. */
bool opset_same(const char *op, int64_t a, int64_t b);

#endif
