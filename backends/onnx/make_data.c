/* Makes messages of types, tensors and attributes (make.h).
 *
 * A message from the file that agrees with the module is used as it is.  In a module that was read from text
 * (module.patterns), a message has only the fields that the module does not model: it is copied, and the copy gets
 * the other fields.  Payloads are not copied: a message points to the bytes in memory, or to the addresses that
 * stand for bytes of a file (infile_addresses).  O(size of the messages). */
#include "backends/onnx/make.h"
#include "backends/onnx/pack.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

char *make_text(const struct module *m, sid s)
{
    return (char *)(uintptr_t)module_str(m, s);
}

bool text_agrees(const struct module *m, const char *have, sid want)
{
    return strcmp(have != NULL ? have : "", module_str(m, want)) == 0;
}

void set_text(const struct module *m, char **field, sid want)
{
    if (!text_agrees(m, *field, want))
        *field = want != 0 ? make_text(m, want) : NULL;
}

Onnx__StringStringEntryProto *make_entry(struct arena *a, const char *key, const char *value)
{
    Onnx__StringStringEntryProto *e = arena_alloc(a, sizeof *e);
    onnx__string_string_entry_proto__init(e);
    e->key = (char *)(uintptr_t)key;
    e->value = (char *)(uintptr_t)value;
    return e;
}

/* Whether the metadata entries have[nhave] of a message have the keys and values of `meta` (about.meta). */
static bool meta_agrees(const struct module *m, struct slice meta,
                        Onnx__StringStringEntryProto **have, size_t nhave)
{
    bool same = nhave == meta.n / 2;
    for (uint32_t i = 0; same && i < meta.n; i++) {
        const char *text = i % 2 == 0 ? have[i / 2]->key : have[i / 2]->value;
        same = text_agrees(m, text, m->sids[meta.at + i]);
    }
    return same;
}

void make_about(const struct maker *k, uint32_t about, bool own, char **doc,
                Onnx__StringStringEntryProto ***meta, size_t *nmeta)
{
    const struct module *m = k->m;
    const struct about *x = &m->about[about];

    if (x->doc != 0 || own)
        *doc = x->doc != 0 ? make_text(m, x->doc) : NULL;
    if ((x->meta.n == 0 && !own) || meta_agrees(m, x->meta, *meta, *nmeta))
        return;
    *nmeta = x->meta.n / 2;
    *meta = arena_array(k->a, *nmeta + 1, sizeof **meta);
    for (uint32_t i = 0; i < *nmeta; i++)
        (*meta)[i] = make_entry(k->a, module_str(m, m->sids[x->meta.at + 2 * i]),
                                module_str(m, m->sids[x->meta.at + 2 * i + 1]));
}

/* ---- types -------------------------------------------------------------------------------------- */

/* Returns the message of a tensor type's shape; NULL: the rank is unknown. */
static Onnx__TensorShapeProto *make_shape(const struct module *m, const struct type *t,
                                          struct arena *a)
{
    if (t->rank < 0)
        return NULL;
    Onnx__TensorShapeProto *p = arena_alloc(a, sizeof *p);
    onnx__tensor_shape_proto__init(p);
    p->n_dim = (size_t)t->rank;
    p->dim = arena_array(a, p->n_dim, sizeof *p->dim);
    for (size_t i = 0; i < p->n_dim; i++) {
        const struct dim *d = &m->dim[t->dim + i];
        Onnx__TensorShapeProto__Dimension *q = arena_alloc(a, sizeof *q);
        onnx__tensor_shape_proto__dimension__init(q);
        if (d->value >= 0) {
            q->value_case = ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE;
            q->dim_value = d->value;
        } else if (d->sym) {
            q->value_case = ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_PARAM;
            q->dim_param = make_text(m, d->sym);
        }
        p->dim[i] = q;
    }
    return p;
}

/* Makes p the message of the tensor type t. */
static void set_tensor_type(const struct module *m, const struct type *t, Onnx__TypeProto *p,
                            struct arena *a)
{
    Onnx__TypeProto__Tensor *q = arena_alloc(a, sizeof *q);
    onnx__type_proto__tensor__init(q);
    q->has_elem_type = t->elem != ELEM_NONE;
    q->elem_type = t->elem;
    q->shape = make_shape(m, t, a);
    p->value_case = ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE;
    p->tensor_type = q;
}

/* Makes p the message of the sparse tensor type t. */
static void set_sparse_type(const struct module *m, const struct type *t, Onnx__TypeProto *p,
                            struct arena *a)
{
    Onnx__TypeProto__SparseTensor *q = arena_alloc(a, sizeof *q);
    onnx__type_proto__sparse_tensor__init(q);
    q->has_elem_type = t->elem != ELEM_NONE;
    q->elem_type = t->elem;
    q->shape = make_shape(m, t, a);
    p->value_case = ONNX__TYPE_PROTO__VALUE_SPARSE_TENSOR_TYPE;
    p->sparse_tensor_type = q;
}

/* Makes p the message of the sequence, optional or map type t.  Returns the field for the message of its inner type. */
static Onnx__TypeProto **wrap_type(const struct type *t, Onnx__TypeProto *p, struct arena *a)
{
    assert(t->kind == TYPE_SEQ || t->kind == TYPE_OPT || t->kind == TYPE_MAP);
    if (t->kind == TYPE_SEQ) {
        p->value_case = ONNX__TYPE_PROTO__VALUE_SEQUENCE_TYPE;
        p->sequence_type = arena_alloc(a, sizeof *p->sequence_type);
        onnx__type_proto__sequence__init(p->sequence_type);
        return &p->sequence_type->elem_type;
    }
    if (t->kind == TYPE_OPT) {
        p->value_case = ONNX__TYPE_PROTO__VALUE_OPTIONAL_TYPE;
        p->optional_type = arena_alloc(a, sizeof *p->optional_type);
        onnx__type_proto__optional__init(p->optional_type);
        return &p->optional_type->elem_type;
    }
    p->value_case = ONNX__TYPE_PROTO__VALUE_MAP_TYPE;
    p->map_type = arena_alloc(a, sizeof *p->map_type);
    onnx__type_proto__map__init(p->map_type);
    p->map_type->has_key_type = t->elem != ELEM_NONE;
    p->map_type->key_type = t->elem;
    return &p->map_type->value_type;
}

Onnx__TypeProto *make_type(const struct module *m, uint32_t type, struct arena *a)
{
    Onnx__TypeProto *top = NULL, **place = &top;
    for (; m->type[type].kind != TYPE_NONE; type = m->type[type].inner) {
        const struct type *t = &m->type[type];
        Onnx__TypeProto *p = *place = arena_alloc(a, sizeof *p);
        onnx__type_proto__init(p);
        if (t->kind == TYPE_TENSOR)
            set_tensor_type(m, t, p, a);
        else if (t->kind == TYPE_SPARSE)
            set_sparse_type(m, t, p, a);
        /* the module keeps neither domain nor name of an opaque type, so the message of the type is empty */
        if (t->kind == TYPE_TENSOR || t->kind == TYPE_SPARSE || t->kind == TYPE_OPAQUE)
            break;
        place = wrap_type(t, p, a);
    }
    return top;
}

/* ---- tensors ------------------------------------------------------------------------------------ */

/* Reports an error about tensor t; why: a clause that follows its name. */
static void refuse_tensor(struct maker *k, tid t, const char *why)
{
    k->failed = true;
    diag_error(k->d, "%s: tensor '%s' %s", module_str(k->m, k->m->path),
               module_str(k->m, k->m->tensor[t].name), why);
}

/* Reads the payload of tensor t and returns it, in k->a; on failure reports an error and returns NULL.  After an
 * earlier error nothing is read, and the bytes are 0. */
static uint8_t *read_bytes(struct maker *k, tid t)
{
    const struct tensor *x = &k->m->tensor[t];
    uint8_t *to = arena_alloc(k->a, (size_t)x->len + 1);
    if (k->failed || tensor_read(k->m, t, 0, to, (size_t)x->len) == 0)
        return to;
    k->failed = true;
    return NULL;
}

/* Whether the message field of type e (float_data, ...) has elements in memory in the same form as raw_data. */
static bool typed_as_raw(enum elem e)
{
    return e == ELEM_F32 || e == ELEM_F64 || e == ELEM_C64 || e == ELEM_C128 || e == ELEM_I32 ||
           e == ELEM_I64 || e == ELEM_U64;
}

/* Returns entry i of an array of little-endian entries of n bytes each; entries of the types i8 and i16 (e) have a sign
 * that is carried on. */
static int64_t entry_at(const uint8_t *bytes, uint64_t i, uint32_t n, enum elem e)
{
    bool negative = (e == ELEM_I8 || e == ELEM_I16) && bytes[i * n + n - 1] >= 0x80;
    uint64_t v = negative ? ~UINT64_C(0) : 0;
    for (uint32_t b = n; b-- > 0;)
        v = v << 8 | bytes[i * n + b];
    return (int64_t)v;
}

/* Sets the field of p for tensor t's element type (float_data, ...) to its payload.  bytes: the payload; NULL after an
 * error, when the content of p does not matter any more. */
static void set_typed(struct maker *k, tid t, Onnx__TensorProto *p, uint8_t *bytes)
{
    const struct tensor *x = &k->m->tensor[t];
    enum elem e = (enum elem)x->elem;
    /* bytes of an entry: small types are packed */
    uint32_t size = elem_bits(e) < 8 ? 1 : elem_bits(e) / 8;
    uint64_t n = x->len / size;
    if (e == ELEM_F32 || e == ELEM_C64) {
        p->n_float_data = x->len / sizeof(float);
        p->float_data = (void *)bytes;
    } else if (e == ELEM_F64 || e == ELEM_C128) {
        p->n_double_data = x->len / sizeof(double);
        p->double_data = (void *)bytes;
    } else if (e == ELEM_I64) {
        p->n_int64_data = n;
        p->int64_data = (void *)bytes;
    } else if (e == ELEM_U64 || e == ELEM_U32) {
        p->n_uint64_data = n;
        p->uint64_data = arena_array(k->a, n + 1, sizeof *p->uint64_data);
        for (uint64_t i = 0; bytes && i < n; i++)
            p->uint64_data[i] = (uint64_t)entry_at(bytes, i, size, e);
    } else {
        p->n_int32_data = n;
        p->int32_data = arena_array(k->a, n + 1, sizeof *p->int32_data);
        for (uint64_t i = 0; bytes && i < n; i++)
            p->int32_data[i] = (int32_t)entry_at(bytes, i, size, e);
    }
}

/* Sets string_data of p, the message of tensor t. */
static void set_strings(struct maker *k, tid t, Onnx__TensorProto *p)
{
    const struct module *m = k->m;
    const struct tensor *x = &m->tensor[t];
    p->n_string_data = x->len;
    p->string_data = arena_array(k->a, x->len + 1, sizeof *p->string_data);
    for (uint64_t i = 0; i < x->len; i++) {
        sid s = m->sids[x->off + i];
        p->string_data[i] = (ProtobufCBinaryData){str_size(m, s), (uint8_t *)make_text(m, s)};
    }
}

/* Marks p, the message of tensor t, as external data; if the tensor is in a file, with location, offset and length.
 * Reports an error if pcc may not read that file (file.barred), from which a writer would copy; but not for textual
 * IR (without_source), which only names the file. */
static void set_external(struct maker *k, tid t, Onnx__TensorProto *p)
{
    const struct tensor *x = &k->m->tensor[t];
    const struct file *f = &k->model->file[x->file];
    if (x->where == TENSOR_FILE && f->fd < 0 && f->barred && !k->without_source)
        refuse_tensor(
            k, t,
            arena_fmt(k->a, "needs the file '%s', which %s", module_str(k->m, f->path), f->barred));
    p->has_data_location = 1;
    p->data_location = ONNX__TENSOR_PROTO__DATA_LOCATION__EXTERNAL;
    if (x->where == TENSOR_SLICE || p->n_external_data > 0)
        /* the writer adds the location; or p is the message from the file, which has the right location */
        return;
    p->external_data = arena_array(k->a, 3, sizeof *p->external_data);
    p->external_data[p->n_external_data++] =
        make_entry(k->a, "location", module_str(k->m, f->location));
    p->external_data[p->n_external_data++] =
        make_entry(k->a, "offset", arena_fmt(k->a, "%" PRIu64, x->off));
    p->external_data[p->n_external_data++] =
        make_entry(k->a, "length", arena_fmt(k->a, "%" PRIu64, x->len));
}

/* Returns a pointer to the payload of tensor t for its message: bytes in memory, or addresses that stand for bytes of a
 * file (file.map), which the writer copies; on failure reports an error and returns NULL. */
static uint8_t *bytes_of(struct maker *k, tid t)
{
    const struct tensor *x = &k->m->tensor[t];
    if (x->where == TENSOR_INLINE && x->data != NULL)
        return (uint8_t *)(uintptr_t)x->data;
    /* whether the payload stays in the file: it is long enough to be copied by the writer, and its bytes in the
     * file have the form of the message's field in memory */
    bool stays = x->where == TENSOR_FILE && x->len >= PACK_COPY &&
                 k->model->file[x->file].map != NULL &&
                 (!x->typed || typed_as_raw((enum elem)x->elem));
    return stays ? (uint8_t *)(uintptr_t)(k->model->file[x->file].map + x->off) : read_bytes(k, t);
}

/* Sets the payload of p, the message of tensor t: strings, a reference to external data, or bytes.  inside: as for
 * make_tensor(). */
static void set_payload(struct maker *k, tid t, Onnx__TensorProto *p, bool inside)
{
    const struct tensor *x = &k->m->tensor[t];
    if (x->where == TENSOR_STRINGS) {
        set_strings(k, t, p);
    } else if ((x->where == TENSOR_FILE && k->model->file[x->file].location != 0) ||
               (x->where == TENSOR_SLICE && !inside)) {
        set_external(k, t, p);
    } else {
        uint8_t *bytes = x->len > 0 ? bytes_of(k, t) : NULL;
        p->has_raw_data = p->has_raw_data || !x->typed;
        if (x->typed && x->len > 0)
            set_typed(k, t, p, bytes);
        else if (x->len > 0)
            p->raw_data = (ProtobufCBinaryData){(size_t)x->len, bytes};
    }
}

/* Returns a copy of the message from which tensor x was read, or a new message, with the tensor's name. */
static Onnx__TensorProto *begin_tensor(struct maker *k, const struct tensor *x)
{
    Onnx__TensorProto *p = arena_alloc(k->a, sizeof *p);
    if (x->src != NULL && !k->without_source)
        *p = *(const Onnx__TensorProto *)x->src;
    else
        onnx__tensor_proto__init(p);
    set_text(k->m, &p->name, x->name);
    return p;
}

Onnx__TensorProto *make_tensor(struct maker *k, tid t, bool inside)
{
    struct module *m = k->m;
    struct tensor *x = &m->tensor[t];
    const Onnx__TensorProto *src = k->without_source ? NULL : x->src;
    assert(t > 0 && t < m->ntensor && x->where != TENSOR_SPARSE);
    if (src != NULL && !m->patterns && text_agrees(m, src->name, x->name))
        return (Onnx__TensorProto *)(uintptr_t)src;
    Onnx__TensorProto *p = begin_tensor(k, x);
    if (src == NULL || m->patterns) {
        if (x->where == TENSOR_OPAQUE && x->elem != ELEM_NONE && src == NULL && !k->without_source)
            refuse_tensor(k, t,
                          "is opaque, and its bytes are not given (!onnx): it cannot be written");
        p->n_dims = x->rank;
        p->dims = m->ints + x->dim;
        p->has_data_type = x->elem != ELEM_NONE || p->has_data_type;
        if (x->elem != ELEM_NONE)
            p->data_type = x->elem;
        if (x->where != TENSOR_OPAQUE)
            set_payload(k, t, p, inside);
    }
    if (!k->without_source)
        x->src = p;
    return p;
}

Onnx__SparseTensorProto *make_sparse(struct maker *k, tid t, bool inside)
{
    struct module *m = k->m;
    struct tensor *x = &m->tensor[t];
    assert(t > 0 && t < m->ntensor && x->where == TENSOR_SPARSE);
    const Onnx__SparseTensorProto *src = k->without_source ? NULL : x->src;
    /* ONNX has the name of a sparse tensor in the message of its values */
    if (x->of[0] != 0 && m->tensor[x->of[0]].name != x->name)
        m->tensor[x->of[0]].name = x->name;
    Onnx__TensorProto *part[2] = {NULL, NULL}; /* values, indices */
    for (int i = 0; i < 2; i++)
        if (x->of[i] != 0)
            part[i] = make_tensor(k, x->of[i], inside);
    if (src != NULL && !m->patterns && src->values == part[0] && src->indices == part[1])
        return (Onnx__SparseTensorProto *)(uintptr_t)src;
    Onnx__SparseTensorProto *p = arena_alloc(k->a, sizeof *p);
    if (src != NULL)
        *p = *src;
    else
        onnx__sparse_tensor_proto__init(p);
    p->values = part[0];
    p->indices = part[1];
    p->n_dims = x->rank;
    p->dims = m->ints + x->dim;
    if (!k->without_source)
        x->src = p;
    return p;
}

/* ---- attributes --------------------------------------------------------------------------------- */

/* Sets the value of an attribute that is a list of dense or sparse tensors. */
static void set_tensors(struct maker *k, const struct attr *x, Onnx__AttributeProto *p)
{
    const uint32_t *ref = k->m->refs + x->u.list.at;
    size_t n = x->u.list.n;
    if (x->kind == ATTR_SPARSES) {
        p->n_sparse_tensors = n;
        p->sparse_tensors = arena_array(k->a, n + 1, sizeof *p->sparse_tensors);
        for (size_t i = 0; i < n; i++)
            p->sparse_tensors[i] = make_sparse(k, ref[i], true);
        return;
    }
    p->n_tensors = n;
    p->tensors = arena_array(k->a, n + 1, sizeof *p->tensors);
    for (size_t i = 0; i < n; i++)
        p->tensors[i] = make_tensor(k, ref[i], true);
}

/* Sets the value of an attribute that is a list of graphs to the messages graph.src. */
static void set_graphs(struct maker *k, const struct attr *x, Onnx__AttributeProto *p)
{
    p->n_graphs = x->u.list.n;
    p->graphs = arena_array(k->a, p->n_graphs + 1, sizeof *p->graphs);
    for (uint32_t i = 0; i < x->u.list.n; i++)
        p->graphs[i] = (void *)(uintptr_t)k->m->graph[k->m->refs[x->u.list.at + i]].src;
}

/* Sets the value of an attribute that is a list of floats or ints. */
static void set_numbers(struct maker *k, const struct attr *x, Onnx__AttributeProto *p)
{
    struct slice s = x->u.list;
    if (x->kind == ATTR_FLOATS) {
        p->n_floats = s.n;
        p->floats = k->m->floats + s.at;
        return;
    }
    p->n_ints = s.n;
    p->ints = k->m->ints + s.at;
}

/* Sets the value of p, the message of attribute x, which is a list.  A message that has types (type_protos) keeps
 * them. */
static void set_lists(struct maker *k, const struct attr *x, Onnx__AttributeProto *p)
{
    const struct module *m = k->m;
    struct slice s = x->u.list;
    if (x->kind == ATTR_STRINGS) {
        p->n_strings = s.n;
        p->strings = arena_array(k->a, (size_t)s.n + 1, sizeof *p->strings);
        for (uint32_t i = 0; i < s.n; i++)
            p->strings[i] = (ProtobufCBinaryData){str_size(m, m->sids[s.at + i]),
                                                  (uint8_t *)make_text(m, m->sids[s.at + i])};
    } else if (x->kind == ATTR_TYPES && p->n_type_protos == 0) {
        p->n_type_protos = s.n;
        p->type_protos = arena_array(k->a, (size_t)s.n + 1, sizeof *p->type_protos);
        for (uint32_t i = 0; i < s.n; i++) {
            Onnx__TypeProto *t = make_type(m, m->refs[s.at + i], k->a);
            p->type_protos[i] = t != NULL ? t : arena_alloc(k->a, sizeof *t);
            if (t == NULL)
                onnx__type_proto__init(p->type_protos[i]);
        }
    } else if (x->kind == ATTR_GRAPHS) {
        set_graphs(k, x, p);
    } else if (x->kind == ATTR_TENSORS || x->kind == ATTR_SPARSES) {
        set_tensors(k, x, p);
    } else if (x->kind != ATTR_TYPES) {
        set_numbers(k, x, p);
    }
}

/* Sets the field of p, the message of attribute x, that holds a value of x's kind; x->unset: the message has no such
 * field. */
static void set_value(struct maker *k, const struct attr *x, Onnx__AttributeProto *p)
{
    switch ((enum attr_kind)x->kind) {
    case ATTR_NONE:
        break;
    case ATTR_FLOAT:
        p->has_f = !x->unset;
        p->f = x->u.f;
        break;
    case ATTR_INT:
        p->has_i = !x->unset;
        p->i = x->u.i;
        break;
    case ATTR_STRING:
        p->has_s = !x->unset;
        p->s = (ProtobufCBinaryData){str_size(k->m, x->u.s), (uint8_t *)make_text(k->m, x->u.s)};
        break;
    case ATTR_TENSOR:
        p->t = make_tensor(k, x->u.t, true);
        break;
    case ATTR_SPARSE:
        p->sparse_tensor = make_sparse(k, x->u.t, true);
        break;
    case ATTR_GRAPH:
        p->g = (void *)(uintptr_t)k->m->graph[x->u.g].src;
        break;
    case ATTR_TYPE:
        if (p->tp == NULL)
            p->tp = make_type(k->m, x->u.type, k->a);
        break;
    default:
        set_lists(k, x, p);
        break;
    }
}

/* Whether the bodies and tensors below src, the complete message from which attribute x was read, still have the
 * messages that the module has for them.  True for attributes without bodies and tensors. */
static bool has_same_below(struct maker *k, const struct attr *x, const Onnx__AttributeProto *src)
{
    const struct module *m = k->m;
    bool same = true;
    if (x->kind == ATTR_GRAPH)
        return src->g == m->graph[x->u.g].src;
    if (x->kind == ATTR_TENSOR)
        return src->t == make_tensor(k, x->u.t, true);
    if (x->kind == ATTR_SPARSE)
        return src->sparse_tensor == make_sparse(k, x->u.t, true);
    if (x->kind != ATTR_GRAPHS && x->kind != ATTR_TENSORS && x->kind != ATTR_SPARSES)
        return true;
    for (uint32_t i = 0; i < x->u.list.n && same; i++) {
        uint32_t ref = m->refs[x->u.list.at + i];
        same = x->kind == ATTR_GRAPHS    ? src->graphs[i] == m->graph[ref].src
               : x->kind == ATTR_TENSORS ? src->tensors[i] == make_tensor(k, ref, true)
                                         : src->sparse_tensors[i] == make_sparse(k, ref, true);
    }
    return same;
}

Onnx__AttributeProto *make_attribute(struct maker *k, const struct attr *x, const char *node)
{
    const Onnx__AttributeProto *src = k->without_source ? NULL : x->src;
    bool whole = src != NULL && !k->m->patterns; /* src is a message with all fields */
    bool same = whole && (x->ref != 0 || has_same_below(k, x, src));
    if (same && text_agrees(k->m, src->name, x->name))
        return (Onnx__AttributeProto *)(uintptr_t)src;
    Onnx__AttributeProto *p = arena_alloc(k->a, sizeof *p);
    if (src != NULL)
        *p = *src;
    else
        onnx__attribute_proto__init(p);
    if (!text_agrees(k->m, p->name, x->name))
        p->name = make_text(k->m, x->name);
    if (same)
        return p;
    if (!whole) {
        p->has_type = p->has_type || !x->untyped;
        if (!x->untyped)
            p->type = (Onnx__AttributeProto__AttributeType)x->kind;
        if (!text_agrees(k->m, p->ref_attr_name, x->ref))
            p->ref_attr_name = make_text(k->m, x->ref);
    }
    /* single numbers and strings of a complete message agree: an attribute that a pass makes has no src */
    if (x->ref == 0 && (!whole || x->kind >= ATTR_TENSOR))
        set_value(k, x, p);
    if (x->kind == ATTR_TYPE && p->tp == NULL && x->ref == 0 && !k->without_source && !x->unset) {
        k->failed = true;
        diag_error(
            k->d, "%s: node '%s': attribute '%s' is a type that is not known: it cannot be written",
            module_str(k->m, k->m->path), node, module_str(k->m, x->name));
    }
    return p;
}
