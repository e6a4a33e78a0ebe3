/* What operators do (op_kind.h): tables of words that names of operators hold or begin with. */
#include "backends/picture/op_kind.h"

#include <string.h>

static const char *const products[] = {"MatMul", "Gemm", "Conv", "Einsum", "Attention",
                                       "LSTM",   "GRU",  "RNN",  NULL};
static const char *const reductions[] = {"Reduce", "Norm", "Softmax", "Pool",
                                         "ArgM",   "TopK", "CumSum",  NULL};
static const char *const movements[] = {
    "Reshape", "Transpose", "Gather",       "Scatter",      "Slice",    "Concat",  "Split",
    "Squeeze", "Unsqueeze", "Expand",       "Tile",         "Pad",      "Flatten", "Identity",
    "Cast",    "Resize",    "DepthToSpace", "SpaceToDepth", "Constant", NULL};

static bool holds(const char *op, const char *const *words)
{
    for (; *words; words++)
        if (strstr(op, *words))
            return true;
    return false;
}

enum op_kind op_kind(const struct module *m, nid x)
{
    const char *op = node_op(m, x);
    return holds(op, products)     ? KIND_PRODUCT
           : holds(op, reductions) ? KIND_REDUCTION
           : holds(op, movements)  ? KIND_MOVEMENT
                                   : KIND_OTHER;
}
