/* Types in the words of the textual IR, ONNX and numpy (type_words.h).
 *
 * ONNX's words are those in the documentation of ONNX's operators; ONNX Runtime uses the same words.  numpy has no
 * bfloat16, no float8 and no types of less than eight bits: programs that make such arrays must use ONNX's word. */
#include "backends/split/type_words.h"

#include <string.h>

/* [enum elem] the names of the element type; numpy NULL: numpy has no such type. */
static const struct {
    const char *onnx, *numpy;
} elem_words[ELEM_COUNT] = {
    [ELEM_F32] = {"float", "float32"},
    [ELEM_U8] = {"uint8", "uint8"},
    [ELEM_I8] = {"int8", "int8"},
    [ELEM_U16] = {"uint16", "uint16"},
    [ELEM_I16] = {"int16", "int16"},
    [ELEM_I32] = {"int32", "int32"},
    [ELEM_I64] = {"int64", "int64"},
    [ELEM_STR] = {"string", "object"},
    [ELEM_BOOL] = {"bool", "bool"},
    [ELEM_F16] = {"float16", "float16"},
    [ELEM_F64] = {"double", "float64"},
    [ELEM_U32] = {"uint32", "uint32"},
    [ELEM_U64] = {"uint64", "uint64"},
    [ELEM_C64] = {"complex64", "complex64"},
    [ELEM_C128] = {"complex128", "complex128"},
    [ELEM_BF16] = {"bfloat16", NULL},
    [ELEM_F8E4M3FN] = {"float8e4m3fn", NULL},
    [ELEM_F8E4M3FNUZ] = {"float8e4m3fnuz", NULL},
    [ELEM_F8E5M2] = {"float8e5m2", NULL},
    [ELEM_F8E5M2FNUZ] = {"float8e5m2fnuz", NULL},
    [ELEM_U4] = {"uint4", NULL},
    [ELEM_I4] = {"int4", NULL},
    [ELEM_F4E2M1] = {"float4e2m1", NULL},
    [ELEM_F8E8M0] = {"float8e8m0", NULL},
    [ELEM_U2] = {"uint2", NULL},
    [ELEM_I2] = {"int2", NULL},
};

enum elem elem_of_onnx_word(const char *word, size_t n)
{
    for (int e = ELEM_NONE + 1; e < ELEM_COUNT; e++)
        if (elem_words[e].onnx && strlen(elem_words[e].onnx) == n &&
            !memcmp(elem_words[e].onnx, word, n))
            return (enum elem)e;
    return ELEM_NONE;
}

/* Whether x has an inner type: is a sequence, an optional or a map. */
static bool is_container(const struct type *x)
{
    return x->kind == TYPE_SEQ || x->kind == TYPE_OPT || x->kind == TYPE_MAP;
}

/* Returns the name of the element type of x; of a map, of its keys. */
static const char *elem_word(const struct type *x, enum type_words words)
{
    return words == TYPE_WORDS_IR ? elem_name((enum elem)x->elem) : elem_words[x->elem].onnx;
}

/* Writes the text before the inner type of x, a sequence, an optional or a map: "seq<", "map(int64,". */
static void put_container(FILE *f, const struct type *x, enum type_words words)
{
    bool ir = words == TYPE_WORDS_IR;
    if (x->kind == TYPE_MAP)
        fprintf(f, ir ? "map<%s," : "map(%s,", elem_word(x, words));
    else if (x->kind == TYPE_SEQ)
        fputs(ir ? "seq<" : "seq(", f);
    else
        fputs(ir ? "opt<" : "optional(", f);
}

void type_put(struct json_out *o, const struct module *m, uint32_t type, enum type_words words)
{
    FILE *f = json_member(o, words == TYPE_WORDS_IR ? "type" : "onnx_type");
    const struct type *x = &m->type[type];
    uint32_t depth = 0;
    bool ir = words == TYPE_WORDS_IR, known = true;
    for (; is_container(x); depth++) {
        known = known && (x->kind != TYPE_MAP || x->elem != ELEM_NONE);
        x = &m->type[x->inner];
    }
    if (!known || (x->kind != TYPE_TENSOR && x->kind != TYPE_SPARSE) || x->elem == ELEM_NONE) {
        fputs("null", f);
        return;
    }
    putc('"', f);
    for (x = &m->type[type]; is_container(x); x = &m->type[x->inner])
        put_container(f, x, words);
    if (x->kind == TYPE_SPARSE)
        fprintf(f, ir ? "sparse<%s>" : "sparse_tensor(%s)", elem_word(x, words));
    else
        fprintf(f, ir ? "%s" : "tensor(%s)", elem_word(x, words));
    while (depth--)
        putc(ir ? '>' : ')', f);
    putc('"', f);
}

void numpy_type_put(struct json_out *o, const struct module *m, uint32_t type)
{
    const struct type *x = &m->type[type];
    json_text(o, "numpy_type", x->kind == TYPE_TENSOR ? elem_words[x->elem].numpy : NULL);
}

void shape_put(struct json_out *o, const struct module *m, uint32_t type)
{
    const struct type *t = &m->type[type];
    if ((t->kind != TYPE_TENSOR && t->kind != TYPE_SPARSE) || t->rank < 0) {
        json_text(o, "shape", NULL);
        return;
    }
    json_open(o, "shape", '[', JSON_ROW);
    for (int i = 0; i < t->rank; i++) {
        const struct dim *d = &m->dim[t->dim + (uint32_t)i];
        if (d->value >= 0)
            json_int(o, NULL, d->value);
        else
            json_text(o, NULL, d->sym ? module_str(m, d->sym) : NULL);
    }
    json_close(o, JSON_ROW);
}
