/* Finds what an operator does by the words in its name (op_kind.h). */
#include "backends/picture/op_kind.h"

#include <string.h>

/* Words in names of operators; each list ends with NULL.  The first list with a word of a name tells its kind. */
static const char *const products[] = {"MatMul", "Gemm", "Conv", "Einsum", "Attention",
                                       "LSTM",   "GRU",  "RNN",  NULL};
static const char *const reductions[] = {"Reduce", "Norm", "Softmax", "Pool",
                                         "ArgM",   "TopK", "CumSum",  NULL};
static const char *const movements[] = {
    "Reshape", "Transpose", "Gather",       "Scatter",      "Slice",    "Concat",  "Split",
    "Squeeze", "Unsqueeze", "Expand",       "Tile",         "Pad",      "Flatten", "Identity",
    "Cast",    "Resize",    "DepthToSpace", "SpaceToDepth", "Constant", NULL};

/* Whether the name of an operator contains one of the words, a list that ends with NULL. */
static bool has_word(const char *op, const char *const *words)
{
    for (; *words; words++)
        if (strstr(op, *words))
            return true;
    return false;
}

enum op_kind op_kind(const struct module *m, nid x)
{
    const char *op = node_op(m, x);
    return has_word(op, products)     ? KIND_PRODUCT
           : has_word(op, reductions) ? KIND_REDUCTION
           : has_word(op, movements)  ? KIND_MOVEMENT
                                      : KIND_OTHER;
}
