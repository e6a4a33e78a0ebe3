/* Tells whether an operator of ai.onnx means the same in two versions of the opset. */
#ifndef PCC_PASSES_FUNCTIONS_OPSET_HISTORY_H
#define PCC_PASSES_FUNCTIONS_OPSET_HISTORY_H

#include <stdbool.h>
#include <stdint.h>

enum { OPSET_KNOWN = 28 }; /* the newest version that the table knows */

/* Whether operator op means the same in versions a and b of ai.onnx: it exists in both, and no version between them
 * changed it.  Versions above OPSET_KNOWN: whether a == b. */
bool opset_same(const char *op, int64_t a, int64_t b);

#endif
