/* Reading types, tensors and attributes of the textual IR (grammar: text.md).
 *
 * Nested types are read with a stack, not by recursion.  A list goes to a pool of the module (an array such as
 * module.ints) element by element; its entries are contiguous, since nothing inside an element goes to the same pool.
 * All int functions return 0, or -1 after an error.  O(text). */
#include "ir/text/parse.h"

#include "ir/model/dim.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const text_attr_kind[ATTR_TYPES + 1] = {
    "none",    "float",   "int",    "string", "tensor",  "graph", "floats", "ints",
    "strings", "tensors", "graphs", "sparse", "sparses", "type",  "types"};

/* Reads a number or an expression into *d.  It starts at the current token and ends before a ',' or ']'.  It is read
 * from the text directly, since its characters are not tokens.  Returns 0, or -1 and an error. */
static int parse_dim(struct parser *p, struct dim *d)
{
    static const char other[] = "_. +-*/()";
    char buf[TEXT_DIM];
    size_t n = 0, at = p->tok.at;
    int depth = 0;

    for (;; n++) {
        int c = at + n < p->n ? (unsigned char)p->src[at + n] : -1;
        depth += (c == '(') - (c == ')');
        bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                     (c > 0 && strchr(other, c) != NULL) || (c == ',' && depth > 0);
        if (!plain || n == sizeof buf - 1)
            break;
        buf[n] = (char)c;
    }
    p->pos = at + n;
    text_next(p);
    while (n > 0 && buf[n - 1] == ' ')
        n--;
    buf[n] = '\0';
    /* digits only: a number; an empty text is an error */
    if (strspn(buf, "0123456789") == n) {
        errno = 0;
        *d = (struct dim){n > 0 ? strtoll(buf, NULL, 10) : -1, 0};
        if (n == 0 || errno == ERANGE)
            return text_error(p, at, "expected a dimension (a number, symbol, expression or '?')");
        return 0;
    }
    *d = dim_parse(p->m, buf);
    /* a quoted name is no expression of the textual IR */
    if (!dim_known(*d) || (d->sym != 0 && module_str(p->m, d->sym)[0] == '\''))
        return text_error(p, at, "cannot read the dimension '%s'", buf);
    return 0;
}

/* Reads "[batch,3,?]", or "[*]" for an unknown rank, into the dimensions of t.  Returns 0, or -1 and an error. */
static int parse_dims(struct parser *p, struct type *t)
{
    if (text_want(p, '[', "'['") < 0)
        return -1;
    if (text_take(p, '*')) {
        t->rank = -1;
        return text_want(p, ']', "']'");
    }
    t->dim = p->m->ndim;
    while (p->tok.kind != ']') {
        struct dim d = dim_unknown();
        if (t->rank > 0 && text_want(p, ',', "',' or ']'") < 0)
            return -1;
        if (p->tok.kind == T_STR) {
            d.sym = str_id_n(p->m, p->tok.s, p->tok.len);
            text_next(p);
        } else if (!text_take(p, '?') && parse_dim(p, &d) < 0) {
            return -1;
        }
        if (p->failed)
            return -1;
        if (t->rank == INT16_MAX)
            return text_error(p, p->tok.at, "a type has at most %d dimensions", INT16_MAX);
        module_add_dims(p->m, &d, 1);
        t->rank++;
    }
    if (t->rank == 0)
        t->dim = 0;
    return text_want(p, ']', "']'");
}

/* Takes the name of an element type, such as "f32", or "none", into *elem (enum elem).  Returns 0, or -1 and an
 * error. */
static int parse_elem(struct parser *p, uint8_t *elem)
{
    enum elem e = p->tok.kind == T_WORD ? elem_of_name(p->tok.s, p->tok.len) : ELEM_NONE;

    if (e == ELEM_NONE && !(p->tok.kind == T_WORD && text_is(p, "none")))
        return text_expected(p, "a type");
    *elem = (uint8_t)e;
    text_next(p);
    return 0;
}

/* Reads a type that does not contain another type into module.type; its index goes to *out, 0 for '?'.  Returns 0, or
 * -1 and an error. */
static int parse_plain_type(struct parser *p, uint32_t *out)
{
    struct type t = {.kind = TYPE_TENSOR};

    *out = 0;
    if (text_take(p, '?'))
        return 0;
    if (text_take_word(p, "opaque")) {
        t.kind = TYPE_OPAQUE;
        t.rank = -1;
    } else {
        t.kind = text_take_word(p, "sparse") ? TYPE_SPARSE : TYPE_TENSOR;
        if (parse_elem(p, &t.elem) < 0 || parse_dims(p, &t) < 0)
            return -1;
    }
    *out = module_add_type(p->m, t);
    return 0;
}

int text_type(struct parser *p, uint32_t *out)
{
    struct type open[TEXT_DEPTH]; /* types around the innermost one, the outermost first */
    uint32_t n = 0;

    for (;; n++) {
        struct type t = {.rank = -1,
                         .kind = text_is(p, "seq")   ? TYPE_SEQ
                                 : text_is(p, "opt") ? TYPE_OPT
                                 : text_is(p, "map") ? TYPE_MAP
                                                     : TYPE_NONE};
        if (t.kind == TYPE_NONE || p->tok.kind != T_WORD)
            break;
        if (n == TEXT_DEPTH)
            return text_error(p, p->tok.at, "types are nested more than %d deep", TEXT_DEPTH);
        text_next(p);
        if (text_want(p, '(', "'('") < 0)
            return -1;
        if (t.kind == TYPE_MAP && (parse_elem(p, &t.elem) < 0 || text_want(p, ',', "','") < 0))
            return -1;
        open[n] = t;
    }
    if (parse_plain_type(p, out) < 0)
        return -1;
    while (n-- > 0) {
        open[n].inner = *out;
        *out = module_add_type(p->m, open[n]);
        if (text_want(p, ')', "')'") < 0)
            return -1;
    }
    return 0;
}

/* Reads "f32[2,3]" into the element type and shape of x.  Returns 0, or -1 and an error. */
static int parse_tensor_shape(struct parser *p, struct tensor *x)
{
    if (parse_elem(p, &x->elem) < 0 || text_want(p, '[', "'['") < 0)
        return -1;
    x->dim = p->m->nints;
    while (p->tok.kind != ']') {
        int64_t v;
        if ((x->rank > 0 && text_want(p, ',', "',' or ']'") < 0) ||
            text_int(p, 0, INT64_MAX, &v, "a dimension (a number)") < 0)
            return -1;
        module_add_ints(p->m, &v, 1);
        x->rank++;
    }
    return text_want(p, ']', "']'");
}

/* Gives x the element type and shape of module.type[type], the type of the initializer's value; reads nothing.  Returns
 * 0, or -1 and an error. */
static int copy_shape_of_type(struct parser *p, uint32_t type, struct tensor *x)
{
    const struct type *t = &p->m->type[type];

    if (t->kind != TYPE_TENSOR || t->rank < 0)
        return text_error(p, p->tok.at, "expected 'tensor' and a shape: the value's type has none");
    x->elem = t->elem;
    x->rank = (uint32_t)t->rank;
    x->dim = p->m->nints;
    for (uint32_t i = 0; i < x->rank; i++) {
        int64_t v = p->m->dim[t->dim + i].value;
        if (v < 0)
            return text_error(p, p->tok.at,
                              "expected 'tensor' and a shape: the value's has symbols");
        module_add_ints(p->m, &v, 1);
    }
    return 0;
}

/* Reads the payload of x as hexadecimal digits in quotes, after the word "bytes".  Returns 0, or -1 and an error. */
static int parse_bytes(struct parser *p, struct tensor *x)
{
    unsigned char *data;
    size_t n;

    if (text_hex(p, &data, &n) < 0)
        return -1;
    x->data = data;
    x->len = n;
    return 0;
}

/* Reads a float, which may be written without a '.', or "inf", "nan", "nan(0x7fc00001)", into *out.  Returns 0, or -1
 * and an error. */
static int text_float(struct parser *p, float *out)
{
    char buf[64], *end = buf;
    uint32_t bits = UINT32_C(0x7fc00000); /* of "nan" alone */
    size_t at = p->tok.at;

    if (text_take_word(p, "inf")) {
        *out = INFINITY;
        return 0;
    }
    if (text_take_word(p, "nan")) {
        if (text_take(p, '(')) {
            if (p->tok.kind == T_NUM && text_copy(p, buf, sizeof buf))
                bits = (uint32_t)strtoul(buf, &end, 16);
            /* the bits of a NaN, without its sign, are a larger number than those of infinity */
            if (end == buf || *end != '\0' || (bits & 0x7fffffff) <= 0x7f800000)
                return text_error(p, at, "expected the bits of a nan in hexadecimal");
            text_next(p);
            if (text_want(p, ')', "')'") < 0)
                return -1;
        }
        memcpy(out, &bits, sizeof bits);
        return p->failed ? -1 : 0;
    }
    errno = 0;
    if (p->tok.kind == T_NUM && text_copy(p, buf, sizeof buf))
        *out = strtof(buf, &end);
    if (end == buf || *end != '\0' || isnan(*out))
        return text_expected(p, "a number");
    if (errno == ERANGE && isinf(*out))
        return text_error(p, at, "%s is too large for f32", buf);
    text_next(p);
    return p->failed ? -1 : 0;
}

/* Reads a double or "inf" into *out.  Returns 0, or -1 after an error was reported. */
static int text_double(struct parser *p, double *out)
{
    char buf[64], *end = buf;

    if (text_take_word(p, "inf")) {
        *out = (double)INFINITY;
        return 0;
    }
    errno = 0;
    if (p->tok.kind == T_NUM && text_copy(p, buf, sizeof buf))
        *out = strtod(buf, &end);
    if (end == buf || *end != '\0' || isnan(*out))
        return text_expected(p, "a number");
    if (errno == ERANGE && isinf(*out))
        return text_error(p, p->tok.at, "%s is too large for f64", buf);
    text_next(p);
    return p->failed ? -1 : 0;
}

/* Reads one element of type e; its bits go to the low end of *bits.  Returns 0, or -1 and an error. */
static int parse_element(struct parser *p, enum elem e, uint64_t *bits)
{
    uint32_t width = elem_bits(e), word;
    bool is_signed = e == ELEM_I8 || e == ELEM_I16 || e == ELEM_I32 || e == ELEM_I64;
    int64_t v;
    float f = 0;
    double d = 0;

    if (e == ELEM_F32) {
        int rc = text_float(p, &f);
        memcpy(&word, &f, sizeof word);
        *bits = word;
        return rc;
    }
    if (e == ELEM_F64) {
        int rc = text_double(p, &d);
        memcpy(bits, &d, sizeof d);
        return rc;
    }
    if (e == ELEM_BOOL)
        return text_uint(p, 1, bits, "0 or 1");
    if (!elem_is_integer(e) || width < 8)
        return text_error(p, p->tok.at, "elements of %s are written as bytes \"...\"",
                          elem_name(e));
    if (!is_signed)
        return text_uint(p, UINT64_MAX >> (64 - width), bits, "an integer");
    int64_t hi = (int64_t)(UINT64_MAX >> (65 - width));
    int rc = text_int(p, -hi - 1, hi, &v, "an integer");
    *bits = rc == 0 ? (uint64_t)v : 0;
    return rc;
}

/* Reads "1, 2]", the elements of x after '[', and stores them little-endian.  Returns 0, or -1 and an error. */
static int parse_numbers(struct parser *p, struct tensor *x)
{
    uint32_t size = elem_bits((enum elem)x->elem) / 8, n = 0;
    uint64_t bits = 0;

    while (p->tok.kind != ']') {
        if ((n > 0 && text_want(p, ',', "',' or ']'") < 0) ||
            parse_element(p, (enum elem)x->elem, &bits) < 0)
            return -1;
        if (n > UINT32_MAX - size)
            return text_error(p, p->tok.at, "the elements take more than 4 GiB");
        p->bytes = vec_grow(p->a, p->bytes, &p->capbytes, n + size, 1);
        for (uint32_t i = 0; i < size; i++)
            p->bytes[n++] = (unsigned char)(bits >> (8 * i));
    }
    unsigned char *data = arena_alloc(p->m->mem, (size_t)n + 1);
    if (n > 0)
        memcpy(data, p->bytes, n);
    x->data = data;
    x->len = n;
    return text_want(p, ']', "']'");
}

/* Reads the payload of x, '["a", "b"]', after the word "strings".  Returns 0, or -1 and an error. */
static int parse_strings(struct parser *p, struct tensor *x)
{
    x->off = p->m->nsids;
    if (text_want(p, '[', "'['") < 0)
        return -1;
    while (p->tok.kind != ']') {
        sid s;
        if ((x->len > 0 && text_want(p, ',', "',' or ']'") < 0) ||
            text_bytes(p, &s, "a string") < 0)
            return -1;
        module_add_sids(p->m, &s, 1);
        x->len++;
    }
    return text_want(p, ']', "']'");
}

/* Reads "1 at 123 len 432": number of a file, offset and length of the payload of x in bytes.  Returns 0, or -1 and an
 * error. */
static int parse_file_place(struct parser *p, struct tensor *x)
{
    uint64_t file;
    size_t at = p->tok.at;

    if (text_uint(p, UINT32_MAX, &file, "the number of a file") < 0)
        return -1;
    if (file == 0 || file >= p->m->nfile)
        return text_error(p, at, "there is no file %llu above", (unsigned long long)file);
    x->file = (uint32_t)file;
    if (!text_take_word(p, "at"))
        return text_expected(p, "'at'");
    if (text_uint(p, INT64_MAX, &x->off, "an offset") < 0)
        return -1;
    if (!text_take_word(p, "len"))
        return text_expected(p, "'len'");
    at = p->tok.at;
    if (text_uint(p, INT64_MAX, &x->len, "a length") < 0)
        return -1;
    uint64_t size = p->m->file[x->file].size;
    if (size > 0 && (x->off > size || x->len > size - x->off))
        return text_error(p, at, "the file has only %llu bytes", (unsigned long long)size);
    return x->off > INT64_MAX - x->len ? text_error(p, at, "offset and length overflow") : 0;
}

static int parse_payload(struct parser *p, struct tensor *x, uint32_t depth, tid *out);
enum { OUTERMOST = 0 }; /* depth of a tensor that is inside no other one */

/* Reads a tensor inside another tensor, shape and payload; its index goes to *out.  depth: of the other tensor, as for
 * parse_payload().  Returns 0, or -1 and an error. */
static int parse_inner(struct parser *p, uint32_t depth, tid *out)
{
    struct tensor x = {0};

    /* slices inside a sparse tensor may be one level deeper than TENSOR_DEPTH */
    if (depth > TENSOR_DEPTH)
        return text_error(p, p->tok.at, "tensors are nested more than %d deep", TENSOR_DEPTH + 1);
    return parse_tensor_shape(p, &x) < 0 ? -1 : parse_payload(p, &x, depth + 1, out);
}

/* Reads "f32[2] [1.0, 2.0], i64[2] [0, 3]}": the values of the sparse tensor x and their indices, each of which may be
 * '_' if the model does not give it. depth: number of tensors that x is inside of. Returns 0, or -1 and an error. */
static int parse_sparse(struct parser *p, struct tensor *x, uint32_t depth)
{
    for (int k = 0; k < 2; k++) {
        if ((k > 0 && text_want(p, ',', "','") < 0) ||
            (!text_take_word(p, "_") && parse_inner(p, depth, &x->of[k]) < 0))
            return -1;
    }
    return text_want(p, '}', "'}'");
}

/* Reads "0 [0:128, 256:384] of (f32[512,64] file 1 at 0 len 131072)": axis, ranges and tensor of the slice x. depth:
 * number of tensors that x is inside of. Returns 0, or -1 and an error. */
static int parse_slice(struct parser *p, struct tensor *x, uint32_t depth)
{
    uint64_t axis;
    int64_t end[2];

    if (text_uint(p, UINT32_MAX, &axis, "an axis") < 0 || text_want(p, '[', "'['") < 0)
        return -1;
    x->axis = (uint32_t)axis;
    x->range.at = p->m->nints;
    while (p->tok.kind != ']') {
        if ((x->range.n > 0 && text_want(p, ',', "',' or ']'") < 0) ||
            text_int(p, 0, INT64_MAX, &end[0], "where a range begins") < 0 ||
            text_want(p, ':', "':'") < 0 ||
            text_int(p, 0, INT64_MAX, &end[1], "where a range ends") < 0)
            return -1;
        module_add_ints(p->m, end, 2);
        x->range.n += 2;
    }
    if (text_want(p, ']', "']'") < 0)
        return -1;
    if (!text_take_word(p, "of"))
        return text_expected(p, "'of'");
    return text_want(p, '(', "'('") < 0 || parse_inner(p, depth, &x->of[0]) < 0
               ? -1
               : text_want(p, ')', "')'");
}

/* Reads the payload of x, which follows the shape; "typed", "named" and keys after the payload are not read. depth:
 * number of tensors that x is inside of. Returns 0, or -1 and an error. */
static int parse_data(struct parser *p, struct tensor *x, uint32_t depth)
{
    if (text_take_word(p, "opaque")) {
        x->where = TENSOR_OPAQUE;
        return 0;
    }
    if (text_take_word(p, "file")) {
        x->where = TENSOR_FILE;
        return parse_file_place(p, x);
    }
    if (text_take_word(p, "strings")) {
        x->where = TENSOR_STRINGS;
        return parse_strings(p, x);
    }
    if (text_take_word(p, "slice")) {
        x->where = TENSOR_SLICE;
        return parse_slice(p, x, depth);
    }
    if (text_take(p, '{')) {
        x->where = TENSOR_SPARSE;
        return parse_sparse(p, x, depth);
    }
    x->where = TENSOR_INLINE;
    if (text_take_word(p, "bytes"))
        return parse_bytes(p, x);
    return text_take(p, '[')
               ? parse_numbers(p, x)
               : text_expected(p, "'file', 'bytes', 'strings', 'slice', 'opaque', '{' or '['");
}

/* Checks that the payload of x is as large as its shape says; sets the length of a slice.  at: position for errors.
 * Returns 0, or -1 and an error. */
static int check_length(struct parser *p, struct tensor *x, size_t at)
{
    int64_t elems = dims_elems(p->m, x->dim, x->rank);
    if (x->where == TENSOR_OPAQUE || x->where == TENSOR_SPARSE)
        return 0;
    if (elems < 0)
        return text_error(p, at, "the tensor has too many elements");
    int64_t want = x->where == TENSOR_STRINGS ? elems : elem_bytes((enum elem)x->elem, elems);
    if (x->where == TENSOR_SLICE) /* verify_ranges.c checks its ranges */
        x->len = (uint64_t)want;
    if ((uint64_t)want == x->len)
        return 0;
    return text_error(p, at, "the shape wants %lld %s, here are %llu", (long long)want,
                      x->where == TENSOR_STRINGS ? "strings" : "bytes", (unsigned long long)x->len);
}

/* Reads all that follows the shape of x: payload, name, keys; adds x to module.tensor and writes its index to *out.
 * depth: number of tensors that x is inside of.  Returns 0, or -1 and an error. */
static int parse_payload(struct parser *p, struct tensor *x, uint32_t depth, tid *out)
{
    size_t at = p->tok.at;

    if (parse_data(p, x, depth) < 0)
        return -1;
    x->typed = text_take_word(p, "typed");
    if ((text_take_word(p, "named") && text_string(p, &x->name, "a string") < 0) ||
        text_about(p, &x->about) < 0 || check_length(p, x, at) < 0)
        return -1;
    *out = module_add_tensor(p->m);
    p->m->tensor[*out] = *x;
    return p->failed ? -1 : 0;
}

int text_init_tensor(struct parser *p, uint32_t type, sid name, tid *out)
{
    assert(type < p->m->ntype);
    struct tensor x = {.name = name};
    int rc =
        text_take_word(p, "tensor") ? parse_tensor_shape(p, &x) : copy_shape_of_type(p, type, &x);

    return rc < 0 ? -1 : parse_payload(p, &x, OUTERMOST, out);
}

/* Reads the label of a body, "@then", in an attribute of node n.  *out is the label's index in p->label, which
 * finish_bodies() (parse.c) later replaces by a graph.  Returns 0, or -1 and an error. */
static int parse_body(struct parser *p, nid n, uint32_t *out)
{
    if (p->tok.kind != T_GRAPH)
        return text_expected(p, "a graph (@name)");
    sid name = str_id_n(p->m, p->tok.s, p->tok.len);
    uint32_t l = text_lookup(p, (uint32_t)SPACE_LABELS, name);
    if (l != 0) {
        return text_error(p, p->tok.at, "graph @%s %s", module_str(p->m, name),
                          p->label[l].graph != 0 ? "is defined above the node that owns it"
                                                 : "is a body of another attribute already");
    }
    l = p->nlabel++;
    p->label = vec_grow(p->a, p->label, &p->caplabel, p->nlabel, sizeof *p->label);
    p->label[l] = (struct text_label){.name = name, .owner = n, .at = p->tok.at};
    text_bind(p, (uint32_t)SPACE_LABELS, name, l);
    *out = l;
    text_next(p);
    return p->failed ? -1 : 0;
}

/* Reads a tensor in an attribute: `word` ("tensor" or "sparse"), shape and payload; its index goes to *out.  Returns 0,
 * or -1 and an error. */
static int parse_tensor_value(struct parser *p, const char *word, tid *out)
{
    struct tensor x = {0};

    if (!text_take_word(p, word))
        return text_expected(p, word[0] == 't' ? "'tensor'" : "'sparse'");
    return parse_tensor_shape(p, &x) < 0 ? -1 : parse_payload(p, &x, OUTERMOST, out);
}

/* Returns the kind of a list whose first element is the current token; for a number ATTR_INTS or ATTR_FLOATS. */
static enum attr_kind list_kind(const struct parser *p)
{
    if (p->tok.kind == T_STR)
        return ATTR_STRINGS;
    if (p->tok.kind == T_GRAPH)
        return ATTR_GRAPHS;
    if (p->tok.kind == T_WORD) {
        return text_is(p, "tensor")   ? ATTR_TENSORS
               : text_is(p, "sparse") ? ATTR_SPARSES
                                      : ATTR_FLOATS;
    }
    bool integer = p->tok.kind == T_NUM;
    for (size_t i = p->tok.s[0] == '-' ? 1 : 0; integer && i < p->tok.len; i++)
        integer = p->tok.s[i] >= '0' && p->tok.s[i] <= '9';
    return integer ? ATTR_INTS : ATTR_FLOATS;
}

/* Reads an element of a list of the given kind, in an attribute of node n, and adds it to the kind's pool.  Returns 0,
 * or -1 and an error. */
static int parse_list_element(struct parser *p, nid n, enum attr_kind kind)
{
    int64_t i = 0;
    float f = 0;
    uint32_t ref = 0;
    int rc;

    switch (kind) {
    case ATTR_INTS:
        rc = text_int(p, INT64_MIN, INT64_MAX, &i, "an integer");
        module_add_ints(p->m, &i, 1);
        return rc;
    case ATTR_FLOATS:
        rc = text_float(p, &f);
        module_add_floats(p->m, &f, 1);
        return rc;
    case ATTR_STRINGS:
        rc = text_bytes(p, &ref, "a string");
        module_add_sids(p->m, &ref, 1);
        return rc;
    case ATTR_GRAPHS:
        rc = parse_body(p, n, &ref);
        break;
    case ATTR_TYPES:
        rc = text_type(p, &ref);
        break;
    default:
        rc = parse_tensor_value(p, kind == ATTR_SPARSES ? "sparse" : "tensor", &ref);
        break;
    }
    module_add_refs(p->m, &ref, 1);
    return rc;
}

/* Reads a list from its '[' on into attribute a of node n.  kind ATTR_NONE: the first element tells the kind.  Returns
 * 0, or -1 and an error. */
static int parse_list(struct parser *p, nid n, enum attr_kind kind, struct attr *a)
{
    const struct module *m = p->m;

    if (text_want(p, '[', "'['") < 0)
        return -1;
    if (kind == ATTR_NONE && p->tok.kind == ']')
        return text_error(p, p->tok.at, "an empty list needs its kind: ints[], floats[], ...");
    if (kind == ATTR_NONE)
        kind = list_kind(p);
    a->kind = (uint8_t)kind;
    a->u.list.at = kind == ATTR_INTS      ? m->nints
                   : kind == ATTR_FLOATS  ? m->nfloats
                   : kind == ATTR_STRINGS ? m->nsids
                                          : m->nrefs;
    while (p->tok.kind != ']') {
        if ((a->u.list.n > 0 && text_want(p, ',', "',' or ']'") < 0) ||
            parse_list_element(p, n, kind) < 0)
            return -1;
        a->u.list.n++;
    }
    return text_want(p, ']', "']'");
}

/* Reads a value that starts with a word, such as "nan", "tensor", "ints[" or "ref", into attribute a of node n.
 * Returns 0, or -1 and an error. */
static int parse_word_value(struct parser *p, nid n, struct attr *a)
{
    bool ref = text_take_word(p, "ref");
    unsigned k = 0;

    if (!ref && (text_is(p, "inf") || text_is(p, "nan"))) {
        a->kind = ATTR_FLOAT;
        return text_float(p, &a->u.f);
    }
    while (k <= ATTR_TYPES && !(p->tok.kind == T_WORD && text_is(p, text_attr_kind[k])))
        k++;
    if (k > ATTR_TYPES)
        return text_expected(p, ref ? "a kind of attribute" : "the value of an attribute");
    a->kind = (uint8_t)k;
    if (ref) {
        text_next(p);
        return text_string(p, &a->ref, "the name of an attribute of the function, quoted");
    }
    if (k == ATTR_TENSOR || k == ATTR_SPARSE)
        return parse_tensor_value(p, text_attr_kind[k], &a->u.t);
    /* "float", "int", "string" and "graph" stand only after "ref": values of these kinds have no word before them */
    if (k != ATTR_NONE && k < ATTR_FLOATS)
        return text_expected(p, "the value of an attribute");
    text_next(p);
    return k == ATTR_NONE   ? 0
           : k == ATTR_TYPE ? text_type(p, &a->u.type)
                            : parse_list(p, n, (enum attr_kind)k, a);
}

/* Reads the value after the '=' of attribute a of node n.  Returns 0, or -1 and an error. */
static int parse_attr_value(struct parser *p, nid n, struct attr *a)
{
    if (p->tok.kind == '[')
        return parse_list(p, n, ATTR_NONE, a);
    if (p->tok.kind == T_WORD)
        return parse_word_value(p, n, a);
    if (p->tok.kind == T_STR) {
        a->kind = ATTR_STRING;
        return text_bytes(p, &a->u.s, "a string");
    }
    if (p->tok.kind == T_GRAPH) {
        a->kind = ATTR_GRAPH;
        return parse_body(p, n, &a->u.g);
    }
    if (p->tok.kind == T_NUM && list_kind(p) == ATTR_INTS) {
        a->kind = ATTR_INT;
        return text_int(p, INT64_MIN, INT64_MAX, &a->u.i, "an integer");
    }
    if (p->tok.kind == T_NUM) {
        a->kind = ATTR_FLOAT;
        return text_float(p, &a->u.f);
    }
    return text_expected(p, "the value of an attribute");
}

int text_attrs(struct parser *p, nid n, struct slice *out)
{
    assert(n < p->m->nnode);
    struct slice all = {p->m->nattr, 0};

    if (text_want(p, '{', "'{'") < 0)
        return -1;
    while (p->tok.kind != '}') {
        struct attr a;
        memset(&a, 0, sizeof a);
        if ((all.n > 0 && text_want(p, ',', "',' or '}'") < 0) ||
            text_name(p, &a.name, "the name of an attribute") < 0 || text_want(p, '=', "'='") < 0 ||
            parse_attr_value(p, n, &a) < 0)
            return -1;
        /* an attribute without a value ("none") is always one whose message does not give its kind */
        a.untyped = text_take_word(p, "untyped") || (a.kind == ATTR_NONE && a.ref == 0);
        a.unset = text_take_word(p, "unset");
        if (text_take_word(p, "about") && text_about(p, &a.about) < 0)
            return -1;
        module_add_attrs(p->m, &a, 1);
        all.n++;
    }
    *out = all;
    return text_want(p, '}', "'}'");
}
