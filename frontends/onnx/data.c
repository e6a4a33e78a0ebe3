/* Makes types, tensors and attributes of the module of their messages (build.h).
 *
 * The payload of a tensor is mostly not copied: the module refers to its bytes in the file (read.c), or in memory where
 * protobuf-c unpacked them.  The fields raw_data, float_data, double_data and int64_data all have the form of raw_data
 * (little endian, packed).  Only fields with entries larger than the elements (int32_data for f16, i8, ...; uint64_data
 * for u32) are copied into that form.  The size of a payload must agree with the shape; later code relies on it.
 *
 * Cost: O(messages).  No recursion: a type has at most one inner type. */
#include "frontends/onnx/build.h"

#include "ir/model/dim.h"

#include <assert.h>
#include <string.h>

sid onnx_domain(struct module *m, const char *domain)
{
    return domain != NULL && strcmp(domain, "ai.onnx") == 0 ? 0 : str_id(m, domain);
}

uint32_t onnx_about(struct module *m, const char *doc, Onnx__StringStringEntryProto *const *meta,
                    size_t nmeta)
{
    struct about a = {.doc = str_id(m, doc)};

    if (a.doc == 0 && nmeta == 0)
        return 0;
    a.meta = module_add_sids(m, NULL, 2 * (uint32_t)nmeta);
    for (uint32_t i = 0; i < nmeta; i++) {
        m->sids[a.meta.at + 2 * i] = str_id(m, meta[i]->key);
        m->sids[a.meta.at + 2 * i + 1] = str_id(m, meta[i]->value);
    }
    return module_add_about(m, a);
}

/* Returns the element type (enum elem) of a TensorProto.DataType; ELEM_NONE: pcc does not know it. */
static uint8_t elem_of(int32_t data_type)
{
    return data_type > 0 && data_type < ELEM_COUNT ? (uint8_t)data_type : ELEM_NONE;
}

/* ---- types ---- */

/* Appends a dense or sparse tensor type to module.type and returns its index.  shape NULL: the rank is unknown; so is a
 * rank above INT16_MAX. */
static uint32_t add_tensor_type(struct module *m, enum type_kind kind, int32_t elem,
                                const Onnx__TensorShapeProto *shape)
{
    struct type t = {.kind = (uint8_t)kind, .elem = elem_of(elem), .rank = -1};

    if (shape == NULL || shape->n_dim > INT16_MAX)
        return module_add_type(m, t);
    t.rank = (int16_t)shape->n_dim;
    t.dim = module_add_dims(m, NULL, (uint32_t)shape->n_dim).at;
    for (size_t i = 0; i < shape->n_dim; i++) {
        const Onnx__TensorShapeProto__Dimension *x = shape->dim[i];
        struct dim d = dim_unknown();
        if (x->value_case == ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE &&
            x->dim_value >= 0)
            d = dim_num(x->dim_value);
        else if (x->value_case == ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_PARAM &&
                 x->dim_param != NULL && *x->dim_param != '\0')
            d = dim_parse(m, x->dim_param);
        m->dim[t.dim + i] = d;
    }
    return module_add_type(m, t);
}

uint32_t onnx_type(struct onnx_build *b, const Onnx__TypeProto *t)
{
    enum { DEEPEST = 64 }; /* most containers around a type; scan.c allows about 50 */
    struct type outer[DEEPEST];
    unsigned n = 0;
    uint32_t at = 0;

    for (bool leaf = false; t != NULL && !leaf && n < DEEPEST;) {
        outer[n] = (struct type){.rank = -1};
        switch (t->value_case) {
        case ONNX__TYPE_PROTO__VALUE_SEQUENCE_TYPE:
            outer[n++].kind = TYPE_SEQ;
            t = t->sequence_type->elem_type;
            break;
        case ONNX__TYPE_PROTO__VALUE_OPTIONAL_TYPE:
            outer[n++].kind = TYPE_OPT;
            t = t->optional_type->elem_type;
            break;
        case ONNX__TYPE_PROTO__VALUE_MAP_TYPE:
            outer[n].elem = elem_of(t->map_type->key_type);
            outer[n++].kind = TYPE_MAP;
            t = t->map_type->value_type;
            break;
        case ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE:
            at = add_tensor_type(b->m, TYPE_TENSOR, t->tensor_type->elem_type,
                                 t->tensor_type->shape);
            leaf = true;
            break;
        case ONNX__TYPE_PROTO__VALUE_SPARSE_TENSOR_TYPE:
            at = add_tensor_type(b->m, TYPE_SPARSE, t->sparse_tensor_type->elem_type,
                                 t->sparse_tensor_type->shape);
            leaf = true;
            break;
        case ONNX__TYPE_PROTO__VALUE__NOT_SET:
            leaf = true;
            break;
        default:
            at = module_add_type(b->m, (struct type){.kind = TYPE_OPAQUE, .rank = -1});
            leaf = true;
            break;
        }
    }
    while (n > 0) {
        outer[--n].inner = at;
        at = module_add_type(b->m, outer[n]);
    }
    return at;
}

uint32_t onnx_tensor_type(struct onnx_build *b, tid t)
{
    assert(t > 0 && t < b->m->ntensor);
    struct module *m = b->m;
    const struct tensor x = m->tensor[t];

    if (x.rank > INT16_MAX)
        return module_add_tensor_type(m, (enum elem)x.elem, -1, NULL);
    struct slice s = module_add_dims(m, NULL, x.rank);
    for (uint32_t i = 0; i < x.rank; i++)
        m->dim[s.at + i] = dim_num(m->ints[x.dim + i]);
    return module_add_type(
        m,
        (struct type){.kind = TYPE_TENSOR, .elem = x.elem, .rank = (int16_t)x.rank, .dim = s.at});
}

/* ---- tensors ---- */

/* A field of a TensorProto with elements, such as float_data. */
struct typed_field {
    const void *at; /* n entries */
    size_t n;
    unsigned size; /* bytes of an entry; 0: the element type has no such field */
};

/* Returns the field of t that has elements of type e if raw_data is not set. */
static struct typed_field typed_field_of(const Onnx__TensorProto *t, enum elem e)
{
    switch (e) {
    case ELEM_NONE:
    case ELEM_STR:
    case ELEM_COUNT:
        return (struct typed_field){0};
    case ELEM_F32:
    case ELEM_C64:
        return (struct typed_field){t->float_data, t->n_float_data, 4};
    case ELEM_F64:
    case ELEM_C128:
        return (struct typed_field){t->double_data, t->n_double_data, 8};
    case ELEM_I64:
        return (struct typed_field){t->int64_data, t->n_int64_data, 8};
    case ELEM_U32:
    case ELEM_U64:
        return (struct typed_field){t->uint64_data, t->n_uint64_data, 8};
    default:
        return (struct typed_field){t->int32_data, t->n_int32_data, 4};
    }
}

/* Returns how many bytes, the lowest ones, of an entry of a typed field with `size` bytes hold an element of type e in
 * the form of raw_data. */
static unsigned used_bytes(enum elem e, unsigned size)
{
    unsigned bits = elem_bits(e);

    return e == ELEM_C64 || e == ELEM_C128 || bits >= 8 * size ? size : bits < 8 ? 1 : bits / 8;
}

/* Makes x refer to the payload of tensor t (where, file, off, data, typed), whose length x->len must agree with.
 * Returns 0, or -1 and an error. */
static int read_payload(struct onnx_build *b, const Onnx__TensorProto *t,
                        const struct onnx_owner *owner, struct tensor *x)
{
    const struct file *model = &b->model->file[1];
    struct typed_field f = typed_field_of(t, (enum elem)x->elem);
    unsigned used = used_bytes((enum elem)x->elem, f.size);
    uint64_t have = (uint64_t)f.n * used;

    if (t->has_raw_data && (t->raw_data.len > 0 || f.n == 0)) {
        f = (struct typed_field){t->raw_data.data, t->raw_data.len, 1};
        used = 1;
        have = f.n;
    }
    if (have != x->len) {
        return diag_error(b->d, "%s: %s has %llu bytes of data, expected %llu by its shape",
                          b->path, onnx_owner_text(b, owner, t), (unsigned long long)have,
                          (unsigned long long)x->len);
    }
    x->typed = f.size != 1;
    x->data = f.at;
    /* the payload is at an address that stands for a byte of the model's file: the difference, which is unsigned, is
     * less than the size */
    if ((uintptr_t)f.at - (uintptr_t)model->map < model->size) {
        x->where = TENSOR_FILE;
        x->file = 1;
        x->off = (uintptr_t)f.at - (uintptr_t)model->map;
        x->data = NULL;
    } else if (used < f.size) {
        /* entries are larger than elements: copies the first bytes of each */
        uint8_t *raw = arena_alloc(b->m->mem, x->len + (x->len == 0));
        for (size_t i = 0; i < f.n; i++)
            memcpy(raw + i * used, (const uint8_t *)f.at + i * f.size, used);
        x->data = raw;
    }
    return 0;
}

/* Adds the strings of tensor t, `elems` by its shape, to the module as the payload of x.  Returns 0, or -1 and an
 * error. */
static int read_strings(struct onnx_build *b, const Onnx__TensorProto *t,
                        const struct onnx_owner *owner, int64_t elems, struct tensor *x)
{
    struct module *m = b->m;

    if ((uint64_t)elems != t->n_string_data) {
        return diag_error(b->d, "%s: %s has %zu strings, expected %lld by its shape", b->path,
                          onnx_owner_text(b, owner, t), t->n_string_data, (long long)elems);
    }
    struct slice s = module_add_sids(m, NULL, (uint32_t)t->n_string_data);
    for (uint32_t i = 0; i < s.n; i++) {
        m->sids[s.at + i] =
            str_id_n(m, (const char *)t->string_data[i].data, t->string_data[i].len);
    }
    x->where = TENSOR_STRINGS;
    x->off = s.at;
    x->len = s.n;
    return 0;
}

/* Copies the shape dims[n] of tensor x into the module (x->rank, x->dim).  Returns the number of elements, or -1 and an
 * error. */
static int64_t copy_shape(struct onnx_build *b, const Onnx__TensorProto *t,
                          const struct onnx_owner *owner, struct tensor *x, size_t n,
                          const int64_t *dims)
{
    int64_t all = 1;
    bool large = false, empty = false;

    for (size_t i = 0; i < n; i++) {
        if (dims[i] < 0) {
            return diag_error(b->d, "%s: %s: dimension %zu is %lld, expected 0 or more", b->path,
                              onnx_owner_text(b, owner, t), i, (long long)dims[i]);
        }
        empty |= dims[i] == 0;
        large |= dims[i] > 0 && __builtin_mul_overflow(all, dims[i], &all);
    }
    if (!empty && (large || elem_bytes((enum elem)x->elem, all) == INT64_MAX)) {
        return diag_error(b->d, "%s: %s: its shape takes more than 2^63 bytes", b->path,
                          onnx_owner_text(b, owner, t));
    }
    x->rank = (uint32_t)n;
    x->dim = module_add_ints(b->m, dims, (uint32_t)n).at;
    return empty ? 0 : all;
}

/* Whether the payload of t is in another file (external data). */
static bool is_external(const Onnx__TensorProto *t)
{
    return t != NULL && t->has_data_location &&
           t->data_location == ONNX__TENSOR_PROTO__DATA_LOCATION__EXTERNAL;
}

tid onnx_tensor(struct onnx_build *b, const Onnx__TensorProto *t, struct onnx_owner owner)
{
    struct tensor x = {.name = str_id(b->m, t->name), .elem = elem_of(t->data_type), .src = t};
    bool external = is_external(t);
    int64_t elems = copy_shape(b, t, &owner, &x, t->n_dims, t->dims);

    if (elems < 0)
        return 0;
    if (x.elem == ELEM_NONE || t->segment != NULL || (external && x.elem == ELEM_STR)) {
        x.where = TENSOR_OPAQUE;
    } else if (x.elem == ELEM_STR) {
        if (read_strings(b, t, &owner, elems, &x) != 0)
            return 0;
    } else {
        x.len = (uint64_t)elem_bytes((enum elem)x.elem, elems);
        if (external)
            x.where = TENSOR_FILE;
        int rc = external ? onnx_external(b, t, &owner, x.len, &x) : read_payload(b, t, &owner, &x);
        if (rc != 0)
            return 0;
    }
    tid id = module_add_tensor(b->m);
    b->m->tensor[id] = x;
    return id;
}

tid onnx_sparse(struct onnx_build *b, const Onnx__SparseTensorProto *s, struct onnx_owner owner)
{
    static const Onnx__TensorProto none = ONNX__TENSOR_PROTO__INIT;
    const Onnx__TensorProto *t = s->values != NULL ? s->values : &none;
    const Onnx__TensorProto *part[2] = {s->values, s->indices};
    struct tensor x = {.name = str_id(b->m, t->name),
                       .elem = elem_of(t->data_type),
                       .where = TENSOR_SPARSE,
                       .src = s};

    if (copy_shape(b, t, &owner, &x, s->n_dims, s->dims) < 0)
        return 0;
    for (int k = 0; k < 2; k++) {
        if (part[k] == NULL)
            continue;
        x.of[k] = onnx_tensor(b, part[k], owner);
        if (x.of[k] == 0)
            return 0;
    }
    tid id = module_add_tensor(b->m);
    b->m->tensor[id] = x;
    return id;
}

/* ---- attributes ---- */

/* Whether the message gives the attribute's kind. */
static bool gives_kind(const Onnx__AttributeProto *a)
{
    return a->has_type && (int)a->type > 0 && (int)a->type <= ATTR_TYPES;
}

enum attr_kind onnx_attr_kind(const Onnx__AttributeProto *a)
{
    if (gives_kind(a))
        return (enum attr_kind)a->type;
    return a->has_f              ? ATTR_FLOAT
           : a->has_i            ? ATTR_INT
           : a->has_s            ? ATTR_STRING
           : a->t != NULL        ? ATTR_TENSOR
           : a->g != NULL        ? ATTR_GRAPH
           : a->n_floats > 0     ? ATTR_FLOATS
           : a->n_ints > 0       ? ATTR_INTS
           : a->n_strings > 0    ? ATTR_STRINGS
           : a->n_tensors > 0    ? ATTR_TENSORS
           : a->n_graphs > 0     ? ATTR_GRAPHS
           : a->tp != NULL       ? ATTR_TYPE
           : a->sparse_tensor    ? ATTR_SPARSE
           : a->n_sparse_tensors ? ATTR_SPARSES
           : a->n_type_protos    ? ATTR_TYPES
                                 : ATTR_NONE;
}

/* Reads the value of an attribute that is a list into a->u.list; *body: as for onnx_attr().  Returns 0, or -1 and an
 * error. */
static int read_list_attr(struct onnx_build *b, const Onnx__AttributeProto *p,
                          struct onnx_owner owner, gid *body, struct attr *a)
{
    struct module *m = b->m;
    struct slice *s = &a->u.list;

    switch ((enum attr_kind)a->kind) {
    case ATTR_TYPES:
        *s = module_add_refs(m, NULL, (uint32_t)p->n_type_protos);
        for (uint32_t i = 0; i < s->n; i++) {
            uint32_t type = onnx_type(b, p->type_protos[i]);
            m->refs[s->at + i] = type;
        }
        break;
    case ATTR_FLOATS:
        *s = module_add_floats(m, p->floats, (uint32_t)p->n_floats);
        break;
    case ATTR_INTS:
        *s = module_add_ints(m, p->ints, (uint32_t)p->n_ints);
        break;
    case ATTR_STRINGS:
        *s = module_add_sids(m, NULL, (uint32_t)p->n_strings);
        for (uint32_t i = 0; i < s->n; i++)
            m->sids[s->at + i] = str_id_n(m, (const char *)p->strings[i].data, p->strings[i].len);
        break;
    case ATTR_GRAPHS:
        *s = module_add_refs(m, NULL, (uint32_t)p->n_graphs);
        for (uint32_t i = 0; i < s->n; i++)
            m->refs[s->at + i] = (*body)++;
        break;
    case ATTR_TENSORS:
    case ATTR_SPARSES:
        *s = module_add_refs(
            m, NULL, (uint32_t)(a->kind == ATTR_TENSORS ? p->n_tensors : p->n_sparse_tensors));
        for (uint32_t i = 0; i < s->n; i++) {
            tid t = a->kind == ATTR_TENSORS ? onnx_tensor(b, p->tensors[i], owner)
                                            : onnx_sparse(b, p->sparse_tensors[i], owner);
            if (t == 0)
                return -1;
            m->refs[s->at + i] = t;
        }
        break;
    default:
        break;
    }
    return 0;
}

/* Reads the value of an attribute into a->u; *body: as for onnx_attr().  Returns 0, or -1 and an error. */
static int read_attr(struct onnx_build *b, const Onnx__AttributeProto *p, struct onnx_owner owner,
                     gid *body, struct attr *a)
{
    struct module *m = b->m;

    switch ((enum attr_kind)a->kind) {
    case ATTR_FLOAT:
        a->u.f = p->f;
        return 0;
    case ATTR_INT:
        a->u.i = p->i;
        return 0;
    case ATTR_STRING:
        a->u.s = str_id_n(m, (const char *)p->s.data, p->s.len);
        return 0;
    case ATTR_GRAPH:
        a->u.g = (*body)++;
        return 0;
    case ATTR_TYPE:
        a->u.type = onnx_type(b, p->tp);
        return 0;
    case ATTR_TENSOR:
    case ATTR_SPARSE:
        if (a->kind == ATTR_TENSOR ? p->t == NULL : p->sparse_tensor == NULL) {
            return diag_error(b->d, "%s: node '%s': attribute '%s' has no tensor", b->path,
                              owner.node, owner.attr);
        }
        a->u.t = a->kind == ATTR_TENSOR ? onnx_tensor(b, p->t, owner)
                                        : onnx_sparse(b, p->sparse_tensor, owner);
        return a->u.t != 0 ? 0 : -1;
    default:
        return read_list_attr(b, p, owner, body, a);
    }
}

int onnx_attr(struct onnx_build *b, const Onnx__AttributeProto *p, const char *node, gid *body,
              struct attr *a)
{
    struct onnx_owner owner = {node, p->name != NULL ? p->name : ""};

    *a = (struct attr){.name = str_id(b->m, p->name),
                       .ref = str_id(b->m, p->ref_attr_name),
                       .kind = (uint8_t)onnx_attr_kind(p),
                       .src = p};
    a->unset = !(a->kind == ATTR_FLOAT    ? p->has_f
                 : a->kind == ATTR_INT    ? p->has_i
                 : a->kind == ATTR_STRING ? p->has_s
                 : a->kind == ATTR_TYPE   ? p->tp != NULL
                                          : true);
    a->untyped = !gives_kind(p);
    return a->ref == 0 ? read_attr(b, p, owner, body, a) : 0;
}

int onnx_attrs(struct onnx_build *b, const struct onnx_slot *s, struct slice *out)
{
    const Onnx__NodeProto *p = s->proto;
    gid body = s->bodies;

    b->attr = vec_grow(b->tmp, b->attr, &b->capattr, (uint32_t)p->n_attribute, sizeof *b->attr);
    for (size_t i = 0; i < p->n_attribute; i++) {
        struct attr a;
        if (onnx_attr(b, p->attribute[i], module_str(b->m, s->name), &body, &a) != 0)
            return -1;
        b->attr[i] = a;
    }
    *out = module_add_attrs(b->m, b->attr, (uint32_t)p->n_attribute);
    return 0;
}
