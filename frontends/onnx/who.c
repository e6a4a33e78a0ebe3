/* What messages call a tensor (build.h). */
#include "frontends/onnx/build.h"

const char *onnx_who_text(const struct onnx_build *b, const struct onnx_who *who,
                          const Onnx__TensorProto *t)
{
    if (who->node != NULL)
        return arena_fmt(b->tmp, "node '%s': attribute '%s'", who->node, who->attr);
    return arena_fmt(b->tmp, "initializer '%s'", t->name != NULL ? t->name : "");
}
