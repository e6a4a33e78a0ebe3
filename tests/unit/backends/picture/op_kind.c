/* What operators do, by their names (op_kind.h). */
#include "backends/picture/op_kind.h"
#include "ir/text/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static enum op_kind kind(const char *op)
{
    struct text_module t;
    struct diag d = {0};
    char text[100];
    snprintf(text, sizeof text, "graph { %%a = %s() }", op);
    assert_int_equal(
        module_parse(&t, &(struct named_text){"test.pir", text, strlen(text), NULL}, NULL, &d), 0);
    enum op_kind k = op_kind(t.scene.m, t.scene.m->graph[1].first);
    arena_free(t.scene.m->mem);
    return k;
}

static void kinds(void **state)
{
    static const struct {
        enum op_kind kind;
        const char *op[7];
    } rows[] = {
        {KIND_PRODUCT, {"MatMul", "QLinearMatMul", "Gemm", "ConvTranspose", "Einsum", "LSTM"}},
        {KIND_PRODUCT, {"GRU", "RNN", "com.microsoft:GroupQueryAttention", "ConvInteger"}},
        {KIND_REDUCTION, {"ReduceMean", "LayerNormalization", "LogSoftmax", "GlobalAveragePool"}},
        {KIND_REDUCTION, {"ArgMax", "TopK", "CumSum"}},
        {KIND_MOVEMENT, {"Reshape", "Transpose", "GatherND", "ScatterElements", "Slice", "Concat"}},
        {KIND_MOVEMENT, {"Split", "Squeeze", "Unsqueeze", "Expand", "Tile", "Pad", "Flatten"}},
        {KIND_MOVEMENT, {"Identity", "CastLike", "Resize", "DepthToSpace", "SpaceToDepth"}},
        {KIND_MOVEMENT, {"ConstantOfShape"}},
        {KIND_OTHER, {"Add", "Relu", "op", "Where", "Sum", "Erf"}},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (size_t j = 0; j < 7 && rows[i].op[j]; j++)
            if (kind(rows[i].op[j]) != rows[i].kind)
                fail_msg("%s is of kind %d", rows[i].op[j], kind(rows[i].op[j]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(kinds)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
