/* Printing names, types, tensors and attributes of the textual IR (grammar: text.md).
 *
 * Everything is printed exactly: a float with the shortest digits that are read as the same number (a nan with its
 * bits), a dimension without quotes only if the parser would read the same text from it.  O(text). */
#include "ir/text/print.h"

#include "ir/model/dim.h"
#include "ir/text/parse.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* An inline tensor of more elements is written as hexadecimal bytes, not as numbers. */
enum { SHOWN = 64 };

void text_put(const struct printer *p, const char *s)
{
    fputs(s, p->f);
}

/* Writes n bytes in quotes; quotes, backslashes and all but printable ASCII as escapes such as \n and \x80. */
static void put_bytes_quoted(const struct printer *p, const char *s, size_t n)
{
    static const char from[] = "\"\\\n\r\t", to[] = "\"\\nrt";

    putc('"', p->f);
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)s[i];
        const char *e = c != 0 ? strchr(from, c) : NULL;
        if (e != NULL) {
            putc('\\', p->f);
            putc(to[e - from], p->f);
        } else if (c < 0x20 || c >= 0x7f) {
            fprintf(p->f, "\\x%02x", c);
        } else {
            putc(c, p->f);
        }
    }
    putc('"', p->f);
}

void text_put_quoted(const struct printer *p, const char *s)
{
    put_bytes_quoted(p, s, strlen(s));
}

/* Writes a string of an attribute or of a tensor of strings, which may hold NUL bytes, in quotes. */
static void put_string(const struct printer *p, sid s)
{
    put_bytes_quoted(p, module_str(p->m, s), str_size(p->m, s));
}

/* Whether s is a word of the textual IR, which needs no quotes. */
static bool is_word(const char *s)
{
    static const char first[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
    static const char all[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789.";

    return *s != '\0' && strchr(first, *s) != NULL && s[strspn(s, all)] == '\0';
}

void text_put_name(const struct printer *p, const char *s)
{
    if (is_word(s))
        text_put(p, s);
    else
        text_put_quoted(p, s);
}

void text_put_value_name(const struct printer *p, const char *s)
{
    assert(s);
    /* no quotes are needed: only letters, digits, "_./-", and ':' before a digit */
    bool plain = *s != '\0';

    for (const char *c = s; plain && *c != '\0'; c++) {
        bool digit = *c >= '0' && *c <= '9';
        bool letter = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z');
        plain = digit || letter || strchr("_./-", *c) != NULL ||
                (*c == ':' && c[1] >= '0' && c[1] <= '9');
    }
    putc('%', p->f);
    if (plain)
        text_put(p, s);
    else
        text_put_quoted(p, s);
}

void text_put_label(const struct printer *p, gid g)
{
    assert(g > 0 && g < p->m->ngraph);
    if (g == 1)
        text_put(p, "@main");
    else
        fprintf(p->f, "@g%u", g);
}

/* Whether the parser reads the expression s without quotes, and as the same text. */
static bool dim_is_plain(struct printer *p, const char *s)
{
    static const char all[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789"
                              " .+-*/(),";
    int depth = 0;

    if (s[0] == '\0' || strchr(" .+-*/),", s[0]) != NULL || s[strspn(s, all)] != '\0' ||
        strlen(s) >= TEXT_DIM || s[strlen(s) - 1] == ' ')
        return false;
    for (const char *c = s; *c != '\0'; c++) {
        depth += (*c == '(') - (*c == ')');
        if (depth < 0 || (*c == ',' && depth == 0))
            return false;
    }
    struct dim d = dim_parse(p->dims, s);
    return d.sym != 0 && strcmp(module_str(p->dims, d.sym), s) == 0;
}

/* Writes a dimension: '?', a number, or an expression, in quotes if it needs them. */
static void put_dim(struct printer *p, struct dim d)
{
    if (d.sym == 0 && d.value < 0)
        text_put(p, "?");
    else if (d.sym == 0)
        fprintf(p->f, "%lld", (long long)d.value);
    else if (dim_is_plain(p, module_str(p->m, d.sym)))
        text_put(p, module_str(p->m, d.sym));
    else
        text_put_quoted(p, module_str(p->m, d.sym));
}

void text_put_type(struct printer *p, uint32_t type)
{
    assert(type < p->m->ntype);
    const struct module *m = p->m;
    const struct type *t = &m->type[type];
    uint32_t open = 0;

    for (; open < TEXT_DEPTH; open++, t = &m->type[t->inner])
        if (t->kind == TYPE_MAP)
            fprintf(p->f, "map(%s, ", elem_name((enum elem)t->elem));
        else if (t->kind == TYPE_SEQ || t->kind == TYPE_OPT)
            text_put(p, t->kind == TYPE_SEQ ? "seq(" : "opt(");
        else
            break;
    if (t->kind == TYPE_OPAQUE) {
        text_put(p, "opaque");
    } else if (t->kind == TYPE_TENSOR || t->kind == TYPE_SPARSE) {
        fprintf(p->f, "%s%s[%s", t->kind == TYPE_SPARSE ? "sparse " : "",
                elem_name((enum elem)t->elem), t->rank < 0 ? "*" : "");
        for (int i = 0; i < t->rank; i++) {
            text_put(p, i > 0 ? "," : "");
            put_dim(p, m->dim[t->dim + (uint32_t)i]);
        }
        text_put(p, "]");
    } else {
        text_put(p, "?");
    }
    while (open-- > 0)
        text_put(p, ")");
}

/* Writes v with 6 significant digits, or with as many more as are needed to read the same number again, and with a
 * '.', 'e' or letter, so that it does not look like an integer.  single: v is a float, and is read as one. */
static void put_double(const struct printer *p, double v, bool single)
{
    char buf[40];

    if (isinf(v)) {
        text_put(p, v < 0 ? "-inf" : "inf");
        return;
    }
    for (int digits = 6; digits <= 17; digits++) {
        snprintf(buf, sizeof buf, "%.*g", digits, v);
        if (single ? strtof(buf, NULL) == (float)v : strtod(buf, NULL) == v)
            break;
    }
    text_put(p, buf);
    if (strpbrk(buf, ".en") == NULL)
        text_put(p, ".0");
}

/* Writes a float; a nan other than the usual one with its bits, "nan(0x7fc00001)". */
static void put_float(const struct printer *p, float v)
{
    uint32_t bits;

    memcpy(&bits, &v, sizeof bits);
    if (!isnan(v))
        put_double(p, (double)v, /*single=*/true);
    else if (bits == UINT32_C(0x7fc00000))
        text_put(p, "nan");
    else
        fprintf(p->f, "nan(0x%08x)", bits);
}

/* Returns the bits of element i of a tensor with inline data, of `size` bytes each, stored little-endian. */
static uint64_t read_element(const struct tensor *t, uint32_t size, uint64_t i)
{
    const unsigned char *b = (const unsigned char *)t->data + i * size;
    uint64_t v = 0;

    for (uint32_t k = 0; k < size; k++)
        v |= (uint64_t)b[k] << (8 * k);
    return v;
}

/* Returns element i of an inline tensor of f32 or f64. */
static double read_float(const struct tensor *t, uint64_t i)
{
    uint64_t bits = read_element(t, t->elem == ELEM_F32 ? 4 : 8, i);
    uint32_t word = (uint32_t)bits;
    double d;
    float f;

    memcpy(&d, &bits, sizeof d);
    memcpy(&f, &word, sizeof f);
    return t->elem == ELEM_F32 ? (double)f : d;
}

/* Whether an inline tensor of `elems` elements is written as numbers: at most SHOWN elements of a type that has
 * numbers in the text, and no nan. */
static bool shown_as_numbers(const struct tensor *t, int64_t elems)
{
    enum elem e = (enum elem)t->elem;
    bool real = e == ELEM_F32 || e == ELEM_F64;

    if (elems < 0 || elems > SHOWN || (!real && !elem_is_integer(e)) || elem_bits(e) < 8 ||
        (uint64_t)elem_bytes(e, elems) != t->len)
        return false;
    for (uint64_t i = 0; i < (uint64_t)elems; i++)
        if ((real && isnan(read_float(t, i))) || (e == ELEM_BOOL && read_element(t, 1, i) > 1))
            return false;
    return true;
}

/* Writes the `elems` elements of an inline tensor, "[1, 2]": of F32 and F64 as floats, of the signed integer types as
 * signed numbers, of other types as unsigned numbers. */
static void put_numbers(const struct printer *p, const struct tensor *t, uint64_t elems)
{
    uint32_t bits = elem_bits((enum elem)t->elem);

    text_put(p, "[");
    for (uint64_t i = 0; i < elems; i++) {
        text_put(p, i > 0 ? ", " : "");
        if (t->elem == ELEM_F32 || t->elem == ELEM_F64) {
            put_double(p, read_float(t, i), t->elem == ELEM_F32);
            continue;
        }
        uint64_t v = read_element(t, bits / 8, i);
        bool is_signed =
            t->elem == ELEM_I8 || t->elem == ELEM_I16 || t->elem == ELEM_I32 || t->elem == ELEM_I64;
        if (is_signed) /* extend the sign */
            fprintf(p->f, "%lld", (long long)((int64_t)(v << (64 - bits)) >> (64 - bits)));
        else
            fprintf(p->f, "%llu", (unsigned long long)v);
    }
    text_put(p, "]");
}

static void put_payload(struct printer *p, tid id, sid name);

/* Writes element type and shape of a tensor, "f32[2,3] ". */
static void put_shape(struct printer *p, const struct tensor *t)
{
    fprintf(p->f, "%s[", elem_name((enum elem)t->elem));
    for (uint32_t i = 0; i < t->rank; i++)
        fprintf(p->f, "%s%lld", i > 0 ? "," : "", (long long)p->m->ints[t->dim + i]);
    text_put(p, "] ");
}

/* Writes "{f32[2] [1.0, 2.0], i64[2] [0, 3]}": the values of a sparse tensor and their indices. */
static void put_sparse(struct printer *p, const struct tensor *t)
{
    text_put(p, "{");
    for (int k = 0; k < 2; k++) {
        text_put(p, k > 0 ? ", " : "");
        if (t->of[k] == 0) {
            text_put(p, "_");
            continue;
        }
        put_shape(p, &p->m->tensor[t->of[k]]);
        put_payload(p, t->of[k], 0);
    }
    text_put(p, "}");
}

/* Writes a slice: "slice 0 [0:128, 256:384] of (f32[512,64] file 1 at 0 len 131072)". */
static void put_slice(struct printer *p, const struct tensor *t)
{
    const int64_t *range = p->m->ints + t->range.at;

    fprintf(p->f, "slice %u [", t->axis);
    for (uint32_t i = 0; i + 1 < t->range.n; i += 2)
        fprintf(p->f, "%s%lld:%lld", i > 0 ? ", " : "", (long long)range[i],
                (long long)range[i + 1]);
    text_put(p, "] of (");
    put_shape(p, &p->m->tensor[t->of[0]]);
    /* the recursion ends: slices are at most TENSOR_DEPTH deep (verify_ranges.c) */
    put_payload(p, t->of[0], 0);
    text_put(p, ")");
}

/* Writes a tensor without its shape: "[1.0, 2.0]", "file 1 at 0 len 8", and so on, then " typed", " named \"w\"" and
 * its documentation.  name: its default name, which is not written. */
static void put_payload(struct printer *p, tid id, sid name)
{
    const struct tensor *t = &p->m->tensor[id];
    int64_t elems = tensor_elems(p->m, id);

    if (t->where == TENSOR_OPAQUE) {
        text_put(p, "opaque");
    } else if (t->where == TENSOR_SPARSE) {
        put_sparse(p, t);
    } else if (t->where == TENSOR_SLICE) {
        put_slice(p, t);
    } else if (t->where == TENSOR_FILE) {
        fprintf(p->f, "file %u at %llu len %llu", t->file, (unsigned long long)t->off,
                (unsigned long long)t->len);
    } else if (t->where == TENSOR_STRINGS) {
        text_put(p, "strings [");
        for (uint64_t i = 0; i < t->len; i++) {
            text_put(p, i > 0 ? ", " : "");
            put_string(p, p->m->sids[t->off + i]);
        }
        text_put(p, "]");
    } else if (shown_as_numbers(t, elems)) {
        put_numbers(p, t, (uint64_t)elems);
    } else {
        text_put(p, "bytes ");
        text_put_hex(p, t->data, t->len);
    }
    text_put(p, t->typed ? " typed" : "");
    if (t->name != name) {
        text_put(p, " named ");
        text_put_quoted(p, module_str(p->m, t->name));
    }
    text_put_about(p, t->about);
}

/* Whether module.type[type] is a tensor type with the element type and shape of t. */
static bool is_same_shape(const struct module *m, const struct tensor *t, uint32_t type)
{
    const struct type *y = &m->type[type];
    bool same = y->kind == TYPE_TENSOR && y->elem == t->elem && y->rank >= 0 &&
                (uint32_t)y->rank == t->rank;

    for (uint32_t i = 0; same && i < t->rank; i++) {
        struct dim d = m->dim[y->dim + i];
        same = d.sym == 0 && d.value == m->ints[t->dim + i];
    }
    return same;
}

/* Writes a tensor in an attribute: "tensor f32[2] [1.0, 2.0]", or with "sparse". */
static void put_tensor_value(struct printer *p, tid t, bool sparse)
{
    text_put(p, sparse ? "sparse " : "tensor ");
    put_shape(p, &p->m->tensor[t]);
    put_payload(p, t, 0);
}

/* Writes entry i of the pool (an array such as module.ints) that holds lists of the given kind. */
static void put_list_element(struct printer *p, enum attr_kind kind, uint32_t i)
{
    const struct module *m = p->m;

    if (kind == ATTR_INTS)
        fprintf(p->f, "%lld", (long long)m->ints[i]);
    else if (kind == ATTR_FLOATS)
        put_float(p, m->floats[i]);
    else if (kind == ATTR_STRINGS)
        put_string(p, m->sids[i]);
    else if (kind == ATTR_GRAPHS)
        text_put_label(p, m->refs[i]);
    else if (kind == ATTR_TYPES)
        text_put_type(p, m->refs[i]);
    else
        put_tensor_value(p, m->refs[i], kind == ATTR_SPARSES);
}

/* Writes the value of an attribute: "1.5", "\"same\"", "[1, 2]", "@g2", "tensor f32[2] [1.0, 2.0]".  A list without
 * entries and a list of types begin with their kind, "ints[]", which nothing else tells. */
static void put_attr_value(struct printer *p, const struct attr *a)
{
    switch ((enum attr_kind)a->kind) {
    case ATTR_FLOAT:
        put_float(p, a->u.f);
        return;
    case ATTR_INT:
        fprintf(p->f, "%lld", (long long)a->u.i);
        return;
    case ATTR_STRING:
        put_string(p, a->u.s);
        return;
    case ATTR_GRAPH:
        text_put_label(p, a->u.g);
        return;
    case ATTR_TENSOR:
    case ATTR_SPARSE:
        put_tensor_value(p, a->u.t, a->kind == ATTR_SPARSE);
        return;
    case ATTR_NONE:
        text_put(p, text_attr_kind[a->kind]);
        return;
    case ATTR_TYPE:
        text_put(p, "type ");
        text_put_type(p, a->u.type);
        return;
    default:
        break;
    }
    text_put(p, a->u.list.n == 0 || a->kind == ATTR_TYPES ? text_attr_kind[a->kind] : "");
    text_put(p, "[");
    for (uint32_t i = 0; i < a->u.list.n; i++) {
        text_put(p, i > 0 ? ", " : "");
        put_list_element(p, (enum attr_kind)a->kind, a->u.list.at + i);
    }
    text_put(p, "]");
}

void text_put_attr(struct printer *p, const struct attr *a)
{
    assert(a->kind <= ATTR_TYPES);
    text_put_name(p, module_str(p->m, a->name));
    text_put(p, "=");
    if (a->ref != 0) {
        fprintf(p->f, "ref %s ", text_attr_kind[a->kind]);
        text_put_quoted(p, module_str(p->m, a->ref));
    } else {
        put_attr_value(p, a);
    }
    text_put(p, a->untyped && a->kind != ATTR_NONE ? " untyped" : "");
    text_put(p, a->unset ? " unset" : "");
    /* without the word "about" the keys would be the tensor's */
    text_put(p, a->about != 0 ? " about" : "");
    text_put_about(p, a->about);
}

void text_put_init(struct printer *p, vid v)
{
    assert(p->m->value[v].tensor != 0);
    const struct value *x = &p->m->value[v];

    if (!is_same_shape(p->m, &p->m->tensor[x->tensor], x->type)) {
        text_put(p, "tensor ");
        put_shape(p, &p->m->tensor[x->tensor]);
    }
    put_payload(p, x->tensor, x->name);
}
