/* Makes command lines for TensorRT: --for=tensorrt.
 *
 * trtexec.sh has a line for each part, which calls the program trtexec to build an engine of the part.  TensorRT wants
 * the least, the usual and the largest sizes of each input that has sizes without a number.  The least size of a symbol
 * is 1, or 0 if the plan was made for 0; the usual and the largest size are both the size in the plan, since the
 * plan gives memory for no larger size.  Types and operators are those of the list that the project onnx-tensorrt
 * publishes (docs/operators.md of TensorRT 10.15); restrictions of single operators are not checked.  O(nodes). */
#include "backends/engines/engines.h"
#include "ir/base/json_in.h"
#include "ir/base/memory.h"
#include "ir/base/strings.h"
#include "ir/model/dim.h"

#include <stdlib.h>
#include <string.h>

#define LIST "TensorRT 10.15's list"
enum { OPSET_FIRST = 9, OPSET_LAST = 24 }; /* versions of ai.onnx that the list is about */

/* Operators of the list, ascending by strcmp(). */
static const char *const operators[] = {"Abs",
                                        "Acos",
                                        "Acosh",
                                        "Add",
                                        "And",
                                        "ArgMax",
                                        "ArgMin",
                                        "Asin",
                                        "Asinh",
                                        "Atan",
                                        "Atanh",
                                        "Attention",
                                        "AveragePool",
                                        "BatchNormalization",
                                        "BlackmanWindow",
                                        "Cast",
                                        "CastLike",
                                        "Ceil",
                                        "Celu",
                                        "Clip",
                                        "Concat",
                                        "Constant",
                                        "ConstantOfShape",
                                        "Conv",
                                        "ConvTranspose",
                                        "Cos",
                                        "Cosh",
                                        "CumSum",
                                        "DeformConv",
                                        "DepthToSpace",
                                        "DequantizeLinear",
                                        "Div",
                                        "Dropout",
                                        "Einsum",
                                        "Elu",
                                        "Equal",
                                        "Erf",
                                        "Exp",
                                        "Expand",
                                        "EyeLike",
                                        "Flatten",
                                        "Floor",
                                        "GRU",
                                        "Gather",
                                        "GatherElements",
                                        "GatherND",
                                        "Gelu",
                                        "Gemm",
                                        "GlobalAveragePool",
                                        "GlobalLpPool",
                                        "GlobalMaxPool",
                                        "Greater",
                                        "GreaterOrEqual",
                                        "GridSample",
                                        "GroupNormalization",
                                        "HammingWindow",
                                        "HannWindow",
                                        "HardSigmoid",
                                        "HardSwish",
                                        "Hardmax",
                                        "Identity",
                                        "If",
                                        "ImageScaler",
                                        "InstanceNormalization",
                                        "IsInf",
                                        "IsNaN",
                                        "LRN",
                                        "LSTM",
                                        "LayerNormalization",
                                        "LeakyRelu",
                                        "Less",
                                        "LessOrEqual",
                                        "Log",
                                        "LogSoftmax",
                                        "Loop",
                                        "LpNormalization",
                                        "LpPool",
                                        "MatMul",
                                        "Max",
                                        "MaxPool",
                                        "Mean",
                                        "MeanVarianceNormalization",
                                        "Min",
                                        "Mish",
                                        "Mod",
                                        "Mul",
                                        "Neg",
                                        "NonMaxSuppression",
                                        "NonZero",
                                        "Not",
                                        "OneHot",
                                        "Or",
                                        "PRelu",
                                        "Pad",
                                        "ParametricSoftplus",
                                        "Pow",
                                        "QuantizeLinear",
                                        "RMSNormalization",
                                        "RNN",
                                        "RandomNormal",
                                        "RandomNormalLike",
                                        "RandomUniform",
                                        "RandomUniformLike",
                                        "Range",
                                        "Reciprocal",
                                        "ReduceL1",
                                        "ReduceL2",
                                        "ReduceLogSum",
                                        "ReduceLogSumExp",
                                        "ReduceMax",
                                        "ReduceMean",
                                        "ReduceMin",
                                        "ReduceProd",
                                        "ReduceSum",
                                        "ReduceSumSquare",
                                        "Relu",
                                        "Reshape",
                                        "Resize",
                                        "ReverseSequence",
                                        "RoiAlign",
                                        "RotaryEmbedding",
                                        "Round",
                                        "STFT",
                                        "ScaledTanh",
                                        "Scan",
                                        "Scatter",
                                        "ScatterElements",
                                        "ScatterND",
                                        "Selu",
                                        "Shape",
                                        "Shrink",
                                        "Sigmoid",
                                        "Sign",
                                        "Sin",
                                        "Sinh",
                                        "Size",
                                        "Slice",
                                        "Softmax",
                                        "Softplus",
                                        "Softsign",
                                        "SpaceToDepth",
                                        "Split",
                                        "Sqrt",
                                        "Squeeze",
                                        "Sub",
                                        "Sum",
                                        "Tan",
                                        "Tanh",
                                        "TensorScatter",
                                        "ThresholdedRelu",
                                        "Tile",
                                        "TopK",
                                        "Transpose",
                                        "Trilu",
                                        "Unsqueeze",
                                        "Upsample",
                                        "Where",
                                        "Xor"};

/* Types of the list, as the module calls them; NULL ends them.  TensorRT takes u8 only at the borders of a part, which
 * is not checked. */
static const char *const types[] = {"f64", "f32", "f16", "bf16", "f8e4m3fn", "f4e2m1", "i32",
                                    "i64", "i8",  "i4",  "u8",   "bool",     NULL};

/* Reports that TensorRT cannot run a part, `file`.  Returns -1. */
static int refuse(const struct export_folder *x, const char *file, const char *why)
{
    return diag_error(x->diag, "%s: --for=tensorrt: %s: %s", x->name, file, why);
}

/* Checks that the operators of a part, the module m, and the version of ai.onnx that it imports are in the list.
 * Returns 0, or -1 and an error. */
static int check_operators(const struct export_folder *x, const struct module *m, const char *file)
{
    for (nid n = 1; n < m->nnode; n++) {
        const char *op = node_op(m, n), *domain = module_str(m, m->node[n].domain);
        if (m->node[n].domain != 0 || !bsearch(&op, operators, sizeof operators / sizeof *operators,
                                               sizeof *operators, str_order))
            return refuse(x, file,
                          arena_fmt(x->a, "node '%s' is %s%s%s, which is not in " LIST,
                                    node_name(m, n), domain, *domain ? "." : "", op));
    }
    for (uint32_t i = 1; i < m->nopset; i++)
        if (m->opset[i].domain == 0 &&
            (m->opset[i].version < OPSET_FIRST || m->opset[i].version > OPSET_LAST))
            return refuse(x, file,
                          arena_fmt(x->a, "it has opset %lld, " LIST " is of %d to %d",
                                    (long long)m->opset[i].version, OPSET_FIRST, OPSET_LAST));
    return 0;
}

/* Checks the types of the values of a part, as far as the file has them.  Returns 0, or -1 and an error. */
static int check_types(const struct export_folder *x, const struct module *m, const char *file)
{
    for (vid v = 1; v < m->nval; v++) {
        const struct type *t = &m->type[m->value[v].type];
        const char *name = elem_name((enum elem)t->elem);
        uint32_t k = 0;
        if (t->kind == TYPE_NONE || (t->kind == TYPE_TENSOR && t->elem == ELEM_NONE))
            continue;
        while (types[k] && strcmp(types[k], name) != 0)
            k++;
        if (t->kind != TYPE_TENSOR || !types[k])
            return refuse(x, file,
                          arena_fmt(x->a, "'%s' is %s, which is not in " LIST, value_name(m, v),
                                    t->kind == TYPE_TENSOR ? name : "no tensor"));
    }
    return 0;
}

/* Returns the size that a symbol or an expression of symbols had when the plan was made (the manifest's "dims"); -1:
 * "dims" does not have it. */
static int64_t planned_size(const struct export_folder *x, const char *symbol)
{
    int64_t size;
    const json_t *dims = json_object_get(x->manifest, "dims");
    return json_int_in(json_object_get(dims, symbol), 0, INT32_MAX, &size) ? size : -1;
}

/* Which size symbol_size() is to return. */
struct size_wanted {
    const struct export_folder *x;
    bool least; /* the least size; false: the size for which the plan was made */
};

/* For dim_eval(): returns the size of a symbol that `user`, a struct size_wanted, asks for; -1: not known. */
static int64_t symbol_size(void *user, const char *symbol)
{
    const struct size_wanted *q = user;
    int64_t size = planned_size(q->x, symbol);
    return q->least && size > 1 ? 1 : size;
}

/* Returns the size of dimension k of the input v of a part, the module m: the least size, or (least
 * false) the size for which the plan was made; -1: it is not known, or it would be below 0, as that
 * of [s - 2] for the least s.  The part's file may have a symbol for the dimension that is no size
 * of a model input; then the manifest's "values" may have an expression of known symbols. */
static int64_t size_of(const struct export_folder *x, struct module *m, vid v, int k, bool least)
{
    struct size_wanted q = {x, least};
    struct dim d = m->dim[m->type[m->value[v].type].dim + (uint32_t)k];
    int64_t size = -1;
    if (d.value >= 0)
        size = d.value;
    else if (d.sym)
        size = dim_eval(m, d, symbol_size, &q);
    const json_t *values = json_object_get(x->manifest, "values"),
                 *shape = json_object_get(json_object_get(values, value_name(m, v)), "shape");
    const char *text = json_string_value(json_array_get(shape, (size_t)k));
    return size < 0 && text ? dim_eval(m, dim_parse(m, text), symbol_size, &q) : size;
}

/* Whether input v of a part, which is no weight, has a size that is no number, or an unknown number of dimensions. */
static bool is_open(const struct module *m, vid v)
{
    const struct type *t = &m->type[m->value[v].type];
    bool open = t->rank < 0;
    for (int k = 0; k < t->rank; k++)
        open = open || m->dim[t->dim + (uint32_t)k].value < 0;
    return open && !(m->value[v].flags & VALUE_INIT);
}

/* Checks that the sizes of a part's inputs are known, and that their names can be written.  Returns 0, or -1 and an
 * error. */
static int check_inputs(const struct export_folder *x, struct module *m, const char *file)
{
    for (uint32_t i = 0; i < m->graph[1].in.n; i++) {
        vid v = m->arg[m->graph[1].in.at + i];
        const struct type *t = &m->type[m->value[v].type];
        bool told = t->rank >= 0;
        for (int k = 0; k < t->rank; k++)
            told = told && size_of(x, m, v, k, false) >= 0;
        if (is_open(m, v) && !told)
            return refuse(x, file,
                          arena_fmt(x->a,
                                    "input '%s' has a size that nothing tells: say it by --dim",
                                    value_name(m, v)));
        if (strpbrk(value_name(m, v), "'\n"))
            return refuse(x, file,
                          arena_fmt(x->a, "trtexec has no way to write the name of input '%s'",
                                    value_name(m, v)));
    }
    return 0;
}

/* Refuses models with functions of their own, and parts that TensorRT cannot run: for their device, operators, types or
 * inputs.  Returns 0, or -1 and an error. */
static int check_tensorrt(const struct export_folder *x)
{
    size_t i;
    json_t *part;
    if (json_object_get(x->manifest, "calls"))
        return diag_error(x->diag,
                          "%s: --for=tensorrt: the model calls functions of its own: put their "
                          "nodes into the model by the pass inline-functions",
                          x->name);
    json_array_foreach(json_object_get(x->manifest, "parts"), i, part)
    {
        const char *file = json_get_text(part, "file"), *device = json_get_text(part, "device");
        struct arena *own = arena_new(x->a);
        if (export_gpu(x, device) < 0)
            return refuse(x, file,
                          arena_fmt(x->a, "it runs on %s: TensorRT has GPUs alone", device));
        if (export_check_devices(x, "tensorrt", part))
            return -1;
        struct module *m = export_model(x, "tensorrt", file, own);
        if (!m || check_operators(x, m, file) || check_types(x, m, file) ||
            check_inputs(x, m, file))
            return -1;
        arena_free(own);
    }
    return 0;
}

/* Writes text as it stands between two single quotes of the shell; the caller writes these. */
static void put_quoted(FILE *f, const char *text)
{
    for (; *text; text++)
        fputs(*text == '\'' ? "'\\''" : (char[]){*text, 0}, f);
}

/* Writes trtexec's option for the sizes of the inputs of a part, the module m, that have sizes without a number, such
 * as " '--minShapes=x:1x8,y:1'".  least: with their least sizes; false: with the sizes that the plan was made for. */
static void put_shapes(FILE *f, const struct export_folder *x, struct module *m, const char *option,
                       bool least)
{
    const char *sign = "";
    fprintf(f, " '--%s=", option);
    for (uint32_t i = 0; i < m->graph[1].in.n; i++) {
        vid v = m->arg[m->graph[1].in.at + i];
        const struct type *t = &m->type[m->value[v].type];
        const char *name = value_name(m, v);
        if (!is_open(m, v))
            continue;
        if (strpbrk(name, ":,")) /* trtexec takes a name in quotes of its own */
            name = arena_fmt(x->a, "'%s'", name);
        fputs(sign, f);
        put_quoted(f, name);
        for (int k = 0; k < t->rank; k++)
            fprintf(f, "%c%lld", k ? 'x' : ':', (long long)larger(size_of(x, m, v, k, least), 0));
        sign = ",";
    }
    putc('\'', f);
}

/* Writes the command line of a part.  Returns 0, or -1 after an error. */
static int put_part(FILE *f, const struct export_folder *x, const json_t *part)
{
    const char *file = json_get_text(part, "file"), *device = json_get_text(part, "device");
    struct arena *own = arena_new(x->a);
    struct module *m = export_model(x, "tensorrt", file, own);
    bool open = false;
    for (uint32_t i = 0; m && i < m->graph[1].in.n; i++)
        open = open || is_open(m, m->arg[m->graph[1].in.at + i]);
    fprintf(f, "trtexec --onnx='");
    put_quoted(f, file);
    fprintf(f, "' --saveEngine='");
    put_quoted(f, arena_fmt(own, "%.*s", (int)strcspn(file, "."), file));
    fprintf(f, ".engine' --device=%lld", (long long)export_gpu(x, device));
    if (open) {
        put_shapes(f, x, m, "minShapes", /*least=*/true);
        put_shapes(f, x, m, "optShapes", /*least=*/false);
        put_shapes(f, x, m, "maxShapes", /*least=*/false);
    }
    fputs(" \"$@\"\n", f);
    arena_free(own);
    return m ? 0 : -1;
}

/* Makes trtexec.sh.  Returns 0, or -1 and an error. */
static int write_tensorrt(struct export_folder *x)
{
    struct memory m;
    size_t i;
    json_t *part;
    bool ok = true;
    memory_begin(&m, x->a);
    if (m.f)
        fputs(
            "#!/bin/sh\n"
            "# Builds an engine of each part by TensorRT's trtexec; arguments go to each call (--fp16).\n"
            "set -eu\ncd \"$(dirname \"$0\")\"\n",
            m.f);
    json_array_foreach(json_object_get(x->manifest, "parts"), i, part)
    {
        ok = ok && m.f && put_part(m.f, x, part) == 0;
    }
    const char *text = memory_end(&m, ok, "trtexec.sh", x->a, x->diag);
    return text ? export_text(x, "trtexec.sh", text) : -1;
}

const struct engine_kind engine_tensorrt = {
    .name = "tensorrt",
    .verified_with = "nothing: the list of operators of TensorRT 10.15 was read",
    .pieces = PIECES_SHOWN,
    .check = check_tensorrt,
    .write = write_tensorrt};
