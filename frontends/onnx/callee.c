/* Finds the function of the model that a node calls (build.h). */
#include "frontends/onnx/build.h"

sid onnx_function_key(struct onnx_build *b, const char *domain, const char *name,
                      const char *overload)
{
    struct arena_mark mark = arena_mark(b->tmp);
    sid d = onnx_domain(b->m, domain);
    sid key = str_id(b->m, arena_fmt(b->tmp, "function %s:%s:%s", module_str(b->m, d),
                                     name != NULL ? name : "", overload != NULL ? overload : ""));

    arena_release(b->tmp, mark);
    return key;
}

uint32_t onnx_callee(struct onnx_build *b, const Onnx__NodeProto *n)
{
    return b->function.mask == 0
               ? 0
               : map_get(&b->function, onnx_function_key(b, n->domain, n->op_type, n->overload));
}
