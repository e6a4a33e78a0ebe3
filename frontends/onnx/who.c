/* Returns the words for a tensor and its owner in messages (build.h). */
#include "frontends/onnx/build.h"

const char *onnx_owner_text(const struct onnx_build *b, const struct onnx_owner *owner,
                            const Onnx__TensorProto *t)
{
    if (owner->node != NULL)
        return arena_fmt(b->tmp, "node '%s': attribute '%s'", owner->node, owner->attr);
    return arena_fmt(b->tmp, "initializer '%s'", t->name != NULL ? t->name : "");
}
