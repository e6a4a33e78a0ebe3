/* Finds what only the ONNX messages of a module have, for textual IR: fields that the module does not model, as
 * bytes (about.rest).
 *
 * For each message from the file, a second message is made from the module alone; the fields of the first one that
 * differ are kept, serialized as in a file.  frontends/onnx/carried.c turns these bytes into messages again.
 * A message is compared field by field, but without the messages inside it: the line of a node, attribute or tensor
 * in the text only has the bytes of its own message.  Payloads of tensors are not compared.  O(the messages without
 * payloads). */
#include "backends/onnx/make.h"
#include "backends/onnx/walk.h"

#include "backends/backends.h"

#include <string.h>

/* What all functions here work with. */
struct carrier {
    struct maker k;    /* makes messages from the module alone, without the messages of the file */
    struct arena *tmp; /* scratch memory */
};

/* ---- messages field by field ---------------------------------------------------------------------- */

/* Returns the size of the quantity that protobuf-c keeps for a field (has_quantity): a size_t with the number of its
 * values; or an int that says whether the field is set (protobuf_c_boolean), or which field of a oneof is set (an
 * enum, which is as large). */
static size_t quantity_size(const ProtobufCFieldDescriptor *f)
{
    return f->label == PROTOBUF_C_LABEL_REPEATED ? sizeof(size_t) : sizeof(protobuf_c_boolean);
}

/* Whether protobuf-c keeps a quantity for the field.  A single string or message outside of a oneof has none: its
 * pointer is NULL if it is not set. */
static bool has_quantity(const ProtobufCFieldDescriptor *f)
{
    return f->label == PROTOBUF_C_LABEL_REPEATED || (f->flags & PROTOBUF_C_FIELD_FLAG_ONEOF) != 0 ||
           (f->type != PROTOBUF_C_TYPE_STRING && f->type != PROTOBUF_C_TYPE_MESSAGE);
}

/* Returns the size of the field's member in the C struct of its message. */
static size_t member_size(const ProtobufCFieldDescriptor *f)
{
    if (f->label == PROTOBUF_C_LABEL_REPEATED)
        return sizeof(void *);
    switch (f->type) {
    case PROTOBUF_C_TYPE_BYTES:
        return sizeof(ProtobufCBinaryData);
    case PROTOBUF_C_TYPE_STRING:
    case PROTOBUF_C_TYPE_MESSAGE:
        return sizeof(void *);
    case PROTOBUF_C_TYPE_DOUBLE:
    case PROTOBUF_C_TYPE_INT64:
    case PROTOBUF_C_TYPE_SINT64:
    case PROTOBUF_C_TYPE_SFIXED64:
    case PROTOBUF_C_TYPE_UINT64:
    case PROTOBUF_C_TYPE_FIXED64:
        return 8;
    default:
        return 4;
    }
}

/* Returns field f of the message `of`, serialized, in a; 0 bytes if the field is not set.  Serializes a message that is
 * empty but for this field, with its quantity and member copied from `of`. */
static ProtobufCBinaryData pack_field(const ProtobufCMessage *of, const ProtobufCFieldDescriptor *f,
                                      struct arena *a)
{
    const ProtobufCMessageDescriptor *desc = of->descriptor;
    char *one = arena_alloc(a, desc->sizeof_message);
    desc->message_init((ProtobufCMessage *)one);
    if (has_quantity(f))
        memcpy(one + f->quantifier_offset, (const char *)of + f->quantifier_offset,
               quantity_size(f));
    memcpy(one + f->offset, (const char *)of + f->offset, member_size(f));
    size_t n = protobuf_c_message_get_packed_size((const ProtobufCMessage *)one);
    uint8_t *bytes = arena_alloc(a, n + 1);
    protobuf_c_message_pack((const ProtobufCMessage *)one, bytes);
    return (ProtobufCBinaryData){n, bytes};
}

/* Returns the fields of a message that pcc's description of ONNX (onnx.proto) does not know, serialized, in a. */
static ProtobufCBinaryData pack_unknown(const ProtobufCMessage *of, struct arena *a)
{
    ProtobufCMessage *one = arena_alloc(a, of->descriptor->sizeof_message);
    of->descriptor->message_init(one);
    one->n_unknown_fields = of->n_unknown_fields;
    one->unknown_fields = of->unknown_fields;
    size_t n = protobuf_c_message_get_packed_size(one);
    uint8_t *bytes = arena_alloc(a, n + 1);
    protobuf_c_message_pack(one, bytes);
    return (ProtobufCBinaryData){n, bytes};
}

/* Serialized fields, one directly behind the other. */
struct fields {
    uint8_t *bytes; /* [n] */
    uint32_t n, cap;
};

/* Appends a serialized field. */
static void append_field(struct carrier *c, struct fields *all, ProtobufCBinaryData p)
{
    all->bytes = vec_grow(c->tmp, all->bytes, &all->cap, all->n + (uint32_t)p.len, 1);
    memcpy(all->bytes + all->n, p.data, p.len);
    all->n += (uint32_t)p.len;
}

/* Whether the number of a field is in the list, which 0 ends. */
static bool is_listed(const unsigned *list, unsigned number)
{
    while (*list != 0 && *list != number)
        list++;
    return *list != 0;
}

/* Serializes the fields of `had` that `made` lacks or has with another content, and those that pcc's description of
 * ONNX does not know; but not the fields whose numbers are in `left` (0 ends the list).  Returns these bytes as a
 * string of the module; 0: there are none.  Fields that are only in `made` are not found; no caller has such a
 * field. */
static sid fields_apart(struct carrier *c, const ProtobufCMessage *had,
                        const ProtobufCMessage *made, const unsigned *left)
{
    struct arena_mark mark = arena_mark(c->tmp);
    struct fields all = {0};
    for (unsigned i = 0; i < had->descriptor->n_fields; i++) {
        const ProtobufCFieldDescriptor *f = &had->descriptor->fields[i];
        if (is_listed(left, f->id))
            continue;
        ProtobufCBinaryData p = pack_field(had, f, c->tmp), q = pack_field(made, f, c->tmp);
        if (p.len != q.len || memcmp(p.data, q.data, p.len) != 0)
            append_field(c, &all, p);
    }
    append_field(c, &all, pack_unknown(had, c->tmp));
    sid s = all.n > 0 ? str_id_n(c->k.m, (const char *)all.bytes, all.n) : 0;
    arena_release(c->tmp, mark);
    return s;
}

/* Sets the field `rest` of entry *about of module.about.  As other things may refer to that entry, a copy with the new
 * field is added, and *about becomes the copy's index.  Adds nothing if neither the entry nor `rest` has bytes. */
static void note_rest(struct carrier *c, uint32_t *about, sid rest)
{
    struct module *m = c->k.m;
    if (rest == 0 && m->about[*about].rest == 0)
        return;
    struct about x = m->about[*about];
    x.rest = rest;
    *about = module_add_about(m, x);
}

/* ---- the messages below the model ------------------------------------------------------------------ */

/* Notes in about.rest the fields that only the message of node n has.  All functions carry_... leave out the fields
 * with the numbers in a list, `below`: these fields are in the module, or another carry_... function notes them. */
static void carry_node(struct carrier *c, nid n)
{
    static const unsigned below[] = {1, 2, 5, 0}; /* inputs, outputs, attributes */
    struct node *x = &c->k.m->node[n];
    const Onnx__NodeProto *made = make_node(&c->k, n);
    if (x->src != NULL)
        note_rest(c, &x->about, fields_apart(c, x->src, &made->base, below));
}

/* Returns the number of the TensorProto field that has the tensor's payload (string_data is 6, raw_data 9, float_data
 * 4, ...); 0: no field has it. */
static unsigned payload_field(const struct tensor *x)
{
    enum elem e = (enum elem)x->elem;
    if (x->where == TENSOR_OPAQUE || x->len == 0)
        return 0;
    if (x->where == TENSOR_STRINGS || !x->typed)
        return x->where == TENSOR_STRINGS ? 6 : 9;
    return e == ELEM_F32 || e == ELEM_C64    ? 4
           : e == ELEM_F64 || e == ELEM_C128 ? 10
           : e == ELEM_I64                   ? 7
           : e == ELEM_U32 || e == ELEM_U64  ? 11
                                             : 5;
}

/* Refuses a tensor of a small type, such as i8, whose message has a number that is too large for the type; messages
 * have such numbers in fields of 32 or 64 bits.  made: the message made from the module alone, in which such
 * numbers are cut off.  Returns 0; -1 and an error, also in c->k.failed. */
static int check_numbers(struct carrier *c, const struct tensor *x, const Onnx__TensorProto *made)
{
    const Onnx__TensorProto *had = x->src;
    if (!x->typed || x->where != TENSOR_INLINE)
        return 0;
    bool same =
        had->n_int32_data == made->n_int32_data && had->n_uint64_data == made->n_uint64_data;
    if (same && had->n_int32_data > 0)
        same = !memcmp(had->int32_data, made->int32_data, had->n_int32_data * sizeof(int32_t));
    if (same && had->n_uint64_data > 0)
        same = !memcmp(had->uint64_data, made->uint64_data, had->n_uint64_data * sizeof(uint64_t));
    if (same)
        return 0;
    c->k.failed = true;
    return diag_error(
        c->k.d,
        "%s: tensor '%s' has numbers that are too large for its type %s: textual IR cannot carry them",
        module_str(c->k.m, c->k.m->path), module_str(c->k.m, x->name),
        elem_name((enum elem)x->elem));
}

/* Notes in about.rest the fields that only the message of tensor t has. */
static void carry_tensor(struct carrier *c, tid t)
{
    static const unsigned sparse[] = {1, 2, 3, 0}; /* values, indices, dims */
    struct tensor *x = &c->k.m->tensor[t];
    if (x->src == NULL)
        return;
    if (x->where == TENSOR_SPARSE) {
        Onnx__SparseTensorProto made = ONNX__SPARSE_TENSOR_PROTO__INIT;
        note_rest(c, &x->about, fields_apart(c, x->src, &made.base, sparse));
        return;
    }
    const unsigned payload[] = {payload_field(x), 0};
    const Onnx__TensorProto *made = make_tensor(&c->k, t, true);
    if (check_numbers(c, x, made) == 0)
        note_rest(c, &x->about, fields_apart(c, x->src, &made->base, payload));
}

/* Notes in about.rest the fields that only the message of attribute i (index in module.attr) has. */
static void carry_attribute(struct carrier *c, uint32_t i)
{
    static const unsigned below[] = {5, 6, 10, 11, 22, 23, 0}; /* tensors and graphs */
    struct attr *x = &c->k.m->attr[i];
    if (x->src == NULL)
        return;
    const Onnx__AttributeProto *made = make_attribute(&c->k, x, "");
    note_rest(c, &x->about, fields_apart(c, x->src, &made->base, below));
}

/* Calls carry_attribute() for all attributes of a slice of module.attr. */
static void carry_attributes(struct carrier *c, struct slice list)
{
    for (uint32_t i = 0; i < list.n; i++)
        carry_attribute(c, list.at + i);
}

/* Descriptions (types and shapes) of values in a message of a graph or function: of its inputs or outputs, or its
 * value_info. */
struct descriptions {
    Onnx__ValueInfoProto **list;
    size_t n;
    uint32_t flag; /* VALUE_INPUT, VALUE_OUTPUT; 0: value_info */
};

/* Returns the value that a description in graph g's message is about; 0: there is none.  name: of the value; output:
 * the description is of an output.  A body may return a value of a graph around the body, so the name of an output
 * is sought in those graphs, too. */
static vid described_value(const struct module *m, const struct map *values, gid g, sid name,
                           bool output)
{
    vid v = name != 0 ? map_get(values, map_key(g, name)) : 0;
    while (name != 0 && v == 0 && output && m->graph[g].owner != 0) {
        g = m->node[m->graph[g].owner].graph;
        v = map_get(values, map_key(g, name));
    }
    return v;
}

/* Reduces l, descriptions of values in graph g, to the descriptions that the module alone would not make: a
 * description that differs from the module's own, and every description of a value that has several.  Sets the flag
 * VALUE_TYPED of inputs, outputs and initializers that value_info describes, too, so that the module makes that
 * description again.  values: (graph, name) -> value. */
static void keep_odd(struct carrier *c, struct descriptions *l, gid g, const struct map *values)
{
    static const unsigned none[] = {0};
    struct module *m = c->k.m;
    Onnx__ValueInfoProto **odd = arena_array(c->k.a, l->n + 1, sizeof *odd);
    struct map count = {0}; /* map_key(1, name) -> number of descriptions of that name */
    size_t n = 0;
    for (size_t i = 0; i < l->n; i++) {
        uint64_t name = map_key(1, str_id(m, l->list[i]->name));
        map_set(&count, c->tmp, name, 1 + map_get(&count, name));
    }
    for (size_t i = 0; i < l->n; i++) {
        sid name = str_id(m, l->list[i]->name);
        bool twice = map_get(&count, map_key(1, name)) > 1;
        vid v = described_value(m, values, g, name, l->flag == VALUE_OUTPUT);
        const Onnx__ValueInfoProto *made = v != 0 ? make_info(&c->k, v) : NULL;
        bool same = made != NULL && (made->type == NULL) == (l->list[i]->type == NULL) &&
                    fields_apart(c, &l->list[i]->base, &made->base, none) == 0;
        bool border =
            v != 0 && (m->value[v].flags & (VALUE_INPUT | VALUE_OUTPUT | VALUE_INIT)) != 0;
        if (same && !twice && l->flag == 0 && border)
            m->value[v].flags |= VALUE_TYPED;
        if (!same || twice)
            odd[n++] = l->list[i];
    }
    l->list = odd;
    l->n = n;
}

/* Fills the map `values` for all named values of the module: (graph, name) -> value. */
static void map_values(struct carrier *c, struct map *values)
{
    const struct module *m = c->k.m;
    for (vid v = 1; v < m->nval; v++)
        if (m->value[v].name != 0)
            map_set(values, c->tmp, map_key(m->value[v].graph, m->value[v].name), v);
}

/* Notes in about.rest the fields that only the message of graph g has, with descriptions of values that the module
 * alone would not make (keep_odd).  values: (graph, name) -> value. */
static void carry_graph(struct carrier *c, gid g, const struct map *values)
{
    static const unsigned below[] = {1, 5, 15, 0}; /* nodes, initializers, sparse initializers */
    struct module *m = c->k.m;
    struct graph *x = &m->graph[g];
    Onnx__GraphProto made = ONNX__GRAPH_PROTO__INIT;
    if (x->src == NULL)
        return;
    Onnx__GraphProto had = *(const Onnx__GraphProto *)x->src; /* a copy with fewer descriptions */
    struct descriptions in = {had.input, had.n_input, VALUE_INPUT},
                        out = {had.output, had.n_output, VALUE_OUTPUT},
                        more = {had.value_info, had.n_value_info, 0};
    keep_odd(c, &in, g, values);
    keep_odd(c, &out, g, values);
    keep_odd(c, &more, g, values);
    had.n_input = in.n;
    had.input = in.list;
    had.n_output = out.n;
    had.output = out.list;
    had.n_value_info = more.n;
    had.value_info = more.list;
    made.name = x->name != 0 ? make_text(m, x->name) : NULL;
    make_about(&c->k, x->about, /*own=*/true, &made.doc_string, &made.metadata_props,
               &made.n_metadata_props);
    note_rest(c, &x->about, fields_apart(c, &had.base, &made.base, below));
}

/* Notes in about.rest the fields that only the message of operator set i has. */
static void carry_opset(struct carrier *c, uint32_t i)
{
    static const unsigned none[] = {0};
    struct opset *x = &c->k.m->opset[i];
    if (x->src != NULL)
        note_rest(c, &x->about, fields_apart(c, x->src, &make_opset(&c->k, i)->base, none));
}

/* Notes in about.rest the fields that only the ONNX (protobuf) messages have, and the module does not, of all nodes,
 * attributes, tensors, graphs and operator sets of c->k.m.  main_graph: graph 1 has a message of its own; false for the
 * body of a function, which has none. */
static void carry_all(struct carrier *c, bool main_graph)
{
    struct module *m = c->k.m;
    struct map values = {0};
    map_values(c, &values);
    for (nid n = 1; n < m->nnode; n++)
        carry_node(c, n);
    for (nid n = 1; n < m->nnode; n++)
        carry_attributes(c, m->node[n].attr);
    for (tid t = 1; t < m->ntensor; t++)
        carry_tensor(c, t);
    for (gid g = main_graph ? 1 : 2; g < m->ngraph; g++)
        carry_graph(c, g, &values);
    for (uint32_t i = 1; i < m->nopset; i++)
        carry_opset(c, i);
}

/* Notes in about.rest the fields that only the ONNX (protobuf) messages have, and the module does not, of function f
 * and of all that is in its body. */
static void carry_function(struct carrier *c, struct function *f)
{
    /* inputs, outputs, attributes, nodes, opsets, defaults */
    static const unsigned below[] = {4, 5, 6, 7, 9, 11, 0};
    struct module *b = f->body;
    struct carrier in = *c; /* works on the body */
    struct map values = {0};
    in.k.m = b;
    carry_all(&in, /*main_graph=*/false);
    carry_attributes(&in, f->give);
    if (f->src == NULL)
        return;
    Onnx__FunctionProto made = ONNX__FUNCTION_PROTO__INIT,
                        had = *(const Onnx__FunctionProto *)f->src;
    struct descriptions more = {had.value_info, had.n_value_info, 0};
    map_values(&in, &values);
    keep_odd(&in, &more, 1, &values);
    had.n_value_info = more.n;
    had.value_info = more.list;
    made.name = f->name != 0 ? make_text(b, f->name) : NULL;
    made.domain = f->domain != 0 ? make_text(b, f->domain) : NULL;
    made.overload = f->overload != 0 ? make_text(b, f->overload) : NULL;
    make_about(&in.k, f->about, /*own=*/true, &made.doc_string, &made.metadata_props,
               &made.n_metadata_props);
    note_rest(&in, &f->about, fields_apart(&in, &had.base, &made.base, below));
}

/* ---- the model -------------------------------------------------------------------------------------- */

/* Whether msg or a message below it points to bytes that stay in file f (file.map). */
static bool points_into(const ProtobufCMessage *msg, const struct file *f, struct arena *a)
{
    struct walk w = walk_begin(msg, a);
    for (const ProtobufCMessage *x; (x = walk_next(&w)) != NULL;) {
        const Onnx__TensorProto *t = (const Onnx__TensorProto *)x;
        /* "p - map < size" holds for addresses within the file alone: below it the difference wraps around */
        if (x->descriptor == &onnx__tensor_proto__descriptor &&
            ((uintptr_t)t->raw_data.data - (uintptr_t)f->map < f->size ||
             (uintptr_t)t->float_data - (uintptr_t)f->map < f->size ||
             (uintptr_t)t->double_data - (uintptr_t)f->map < f->size))
            return true;
    }
    return false;
}

/* Refuses opaque tensors whose payload stays in file f: it would have to be part of the text.  Returns 0, or -1 and an
 * error. */
static int check_opaque(const struct module *m, const struct file *f, struct arena *a,
                        struct diag *d)
{
    for (tid t = 1; t < m->ntensor; t++)
        if (m->tensor[t].where == TENSOR_OPAQUE && m->tensor[t].src != NULL &&
            points_into(m->tensor[t].src, f, a))
            return diag_error(
                d,
                "%s: tensor '%s' is of a kind that pcc does not know, and its bytes are "
                "in the model's file: textual IR cannot carry it",
                module_str(m, m->path), module_str(m, m->tensor[t].name));
    return 0;
}

/* Refuses a model whose file has payloads of training_info or of opaque tensors: the module does not refer to these
 * bytes, so the text would have to hold them.  Returns 0, or -1 and an error. */
static int check_carried(const struct module *m, struct arena *a, struct diag *d)
{
    const Onnx__ModelProto *p = m->src;
    const struct file none = {0}, *f = m->nfile > 1 ? &m->file[1] : &none;
    for (size_t i = 0; i < p->n_training_info; i++)
        if (points_into(&p->training_info[i]->base, f, a))
            return diag_error(
                d,
                "%s: training_info has weights in the model's file: textual IR cannot "
                "carry it",
                module_str(m, m->path));
    for (uint32_t i = 1; i < m->nfunction; i++)
        if (check_opaque(m->function[i].body, f, a, d) != 0)
            return -1;
    return check_opaque(m, f, a, d);
}

int onnx_carry(struct module *m, struct diag *d)
{
    static const unsigned below[] = {7, 8, 25, 0}; /* graph, opsets, functions */
    if (m->src == NULL || m->patterns)
        return 0;
    struct carrier c = {
        .k = {.m = m, .model = m, .a = arena_new(m->mem), .d = d, .without_source = true}};
    c.tmp = arena_new(c.k.a);
    int rc = check_carried(m, c.tmp, d);
    if (rc == 0) {
        for (uint32_t f = 1; f < m->nfunction; f++)
            carry_function(&c, &m->function[f]);
        carry_all(&c, /*main_graph=*/true);
        Onnx__ModelProto made = ONNX__MODEL_PROTO__INIT;
        made.has_ir_version = m->ir_version != 0;
        made.ir_version = m->ir_version;
        make_about(&c.k, m->own_about, /*own=*/true, &made.doc_string, &made.metadata_props,
                   &made.n_metadata_props);
        note_rest(&c, &m->own_about, fields_apart(&c, m->src, &made.base, below));
        rc = c.k.failed ? -1 : 0;
    }
    arena_free(c.k.a);
    return rc;
}
