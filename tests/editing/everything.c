/* make-everything: a pass that makes one of all that a pass can make, by ir/model/edit.h alone.
 *
 * The model (test_edit_everything.py writes it) has an input x, values h and logits, weights W in the model's file and E
 * beside it, and a function fn::Twice.  Behind logits comes com.microsoft::AllReduce; there are nodes with an attribute of
 * each kind, with bodies in bodies, and calls; weights of every type, small and large, sparse and strings, and slices of W
 * and E.  With run=true only what ONNX Runtime can run is made.  Everything leads to an output. */
#include "tests/editing/editing.h"

enum { SMALL = 8, LARGE = 2048 }; /* elements */

struct everything_options {
    bool run;
};

static const struct opt everything_opts[] = {{.kind = OPT_BOOL,
                                              .name = "run",
                                              .off = offsetof(struct everything_options, run),
                                              .def = "false",
                                              .help = "only what ONNX Runtime knows"},
                                             {0}};

static vid unary(struct edit *e, gid g, const char *op, vid v, const char *result)
{
    nid n = edit_add(e, g, op);
    edit_operands(e, n, &v, 1);
    return edit_result(e, n, result, v);
}

static vid binary(struct edit *e, gid g, const char *op, vid v, vid w, const char *result)
{
    nid n = edit_add(e, g, op);
    edit_operands(e, n, (vid[]){v, w}, 2);
    return edit_result(e, n, result, v);
}

/* logits = Identity(AllReduce(what logits was, new_weight)). */
static void add_allreduce(struct edit *e, struct module *m)
{
    static const float ones[] = {1, 1, 1, 1};
    vid logits = value_called(m, "logits");
    nid n = edit_after(e, m->value[logits].def, "AllReduce");
    edit_set_operator(e, n, "AllReduce", "com.microsoft", 1);
    vid w = edit_weight(e, 1, "new_weight",
                        edit_tensor(e, ELEM_F32, (int64_t[]){2, 2}, 2, ones, sizeof ones));
    edit_set_int(e, n, "group_size", 2);
    vid reduced = edit_result(e, n, "reduced", logits);
    nid last = edit_after(e, n, "Identity");
    edit_operands(e, last, &reduced, 1);
    edit_replace(e, logits, edit_result(e, last, NULL, logits));
    edit_operands(e, n, (vid[]){logits, w}, 2); /* it alone goes on reading what was logits */
}

/* A body of node n, as attribute `name`, that returns Neg of an outer value. */
static void fill_body(struct edit *e, gid g, vid outer)
{
    edit_output(e, g, unary(e, g, "Neg", outer, "negative"));
}

static struct attr attr_of(struct module *m, const char *name, enum attr_kind kind)
{
    return (struct attr){.name = str_id(m, name), .kind = (uint8_t)kind};
}

static void set_numbers(struct edit *e, nid n, struct module *m)
{
    edit_set_float(e, n, "f", 0.1f);
    edit_set_int(e, n, "i", INT64_MIN);
    struct attr a = attr_of(m, "s", ATTR_STRING);
    a.u.s = str_id_n(m, "a\0b\xff", 4); /* strings of attributes hold any bytes */
    edit_set_attr(e, n, a);
    a = attr_of(m, "floats", ATTR_FLOATS);
    a.u.list = module_add_floats(m, (float[]){1.5f, -0.0f}, 2);
    edit_set_attr(e, n, a);
    edit_set_ints(e, n, "ints", (int64_t[]){1, -2, 3}, 3);
    a = attr_of(m, "strings", ATTR_STRINGS);
    a.u.list = module_add_sids(m, (sid[]){str_id(m, "p"), 0, str_id_n(m, "\0", 1)}, 3);
    edit_set_attr(e, n, a);
}

static void set_types(struct edit *e, nid n, struct module *m)
{
    struct dim d[] = {{.value = 3}, {.value = -1, .sym = str_id(m, "n")}, {.value = -1}};
    uint32_t tensor = module_add_tensor_type(m, ELEM_F16, 3, d);
    uint32_t seq = module_add_type(m, (struct type){.kind = TYPE_SEQ, .inner = tensor});
    uint32_t map =
        module_add_type(m, (struct type){.kind = TYPE_MAP, .elem = ELEM_STR, .inner = seq});
    struct attr a = attr_of(m, "tp", ATTR_TYPE);
    a.u.type = module_add_type(m, (struct type){.kind = TYPE_OPT, .inner = tensor});
    edit_set_attr(e, n, a);
    a = attr_of(m, "type_protos", ATTR_TYPES);
    a.u.list =
        module_add_refs(m, (uint32_t[]){map, module_add_tensor_type(m, ELEM_I64, -1, NULL)}, 2);
    edit_set_attr(e, n, a);
}

/* A tensor of zeros but for the value 0.5 at places 1 and 4 of its 6. */
static tid sparse_tensor(struct edit *e)
{
    tid values = edit_tensor(e, ELEM_F32, (int64_t[]){2}, 1, (float[]){0.5f, 0.5f}, 8);
    tid places = edit_tensor(e, ELEM_I64, (int64_t[]){2}, 1, (int64_t[]){1, 4}, 16);
    return edit_sparse(e, (int64_t[]){6}, 1, values, places);
}

static void set_tensors(struct edit *e, nid n, struct module *m)
{
    tid t[] = {edit_tensor(e, ELEM_I32, NULL, 0, (int32_t[]){7}, 4),
               edit_tensor(e, ELEM_U8, (int64_t[]){0, 3}, 2, NULL, 0)};
    tid s[] = {sparse_tensor(e), sparse_tensor(e)};
    edit_set_tensor(e, n, "t", t[0]);
    struct attr a = attr_of(m, "tensors", ATTR_TENSORS);
    a.u.list = module_add_refs(m, t, 2);
    edit_set_attr(e, n, a);
    a = attr_of(m, "sparse_tensor", ATTR_SPARSE);
    a.u.t = sparse_tensor(e);
    edit_set_attr(e, n, a);
    a = attr_of(m, "sparse_tensors", ATTR_SPARSES);
    a.u.list = module_add_refs(m, s, 2);
    edit_set_attr(e, n, a);
}

/* A node of a domain of its own with an attribute of each of the 14 kinds, documentation and metadata. */
static vid add_kinds(struct edit *e, struct module *m, vid h)
{
    nid n = edit_add(e, 1, "Kinds");
    edit_set_operator(e, n, "Kinds", "test.kinds", 3);
    edit_operands(e, n, (vid[]){h, 0, h}, 3);
    set_numbers(e, n, m);
    set_types(e, n, m);
    set_tensors(e, n, m);
    fill_body(e, edit_set_body(e, n, "g"), h);
    fill_body(e, edit_add_body(e, n, "graphs"), h);
    fill_body(e, edit_add_body(e, n, "graphs"), h);
    edit_set_doc(e, n, "all \"kinds\"\nof attributes");
    edit_set_meta(e, n, "author", "a pass");
    edit_set_meta(e, n, "layer", "6");
    edit_set_meta(e, n, "layer", "7");
    edit_name_node(e, n, "kinds");
    return edit_result(e, n, "kinds", h);
}

static vid add_use(struct edit *e, const vid *v, uint32_t n, vid like, const char *result)
{
    nid user = edit_add(e, 1, "Use");
    edit_set_operator(e, user, "Use", "test.kinds", 3);
    edit_operands(e, user, v, n);
    return edit_result(e, user, result, like);
}

/* Weights of every type, byte i of each being i * 37 + its type, and strings.  One node reads them all. */
static vid add_weights(struct edit *e, struct module *m, vid h)
{
    enum { MOST = 2 * ELEM_COUNT + 4 };
    unsigned char bytes[LARGE * 16];
    vid all[MOST];
    uint32_t n = 0;
    for (uint32_t t = 1; t < ELEM_COUNT; t++) {
        for (size_t i = 0; i < sizeof bytes; i++)
            bytes[i] = (unsigned char)(t == ELEM_BOOL ? i % 2 : i * 37 + t);
        for (int64_t k = SMALL; k <= LARGE && t != ELEM_STR; k += LARGE - SMALL)
            all[n++] = edit_weight(e, 1, arena_fmt(m->mem, "%s_%lld", elem_name(t), (long long)k),
                                   edit_tensor(e, t, &k, 1, bytes, (size_t)elem_bytes(t, k)));
    }
    sid s[] = {str_id(m, "first"), 0, str_id_n(m, "a\0b", 3), str_id_n(m, "\xff\xfe", 2)};
    all[n++] = edit_weight(e, 1, "str_4", edit_strings(e, (int64_t[]){2, 2}, 2, s));
    all[n++] = h;
    return add_use(e, all, n, h, "used");
}

static vid flag(struct edit *e, gid g, const char *name)
{
    return edit_weight(e, g, name, edit_tensor(e, ELEM_BOOL, NULL, 0, "\1", 1));
}

/* If(yes) { Relu(h) } else { h * half }, half being a weight of the body. */
static vid add_if(struct edit *e, gid at, vid h, const char *result)
{
    nid n = edit_add(e, at, "If");
    gid yes = edit_set_body(e, n, "then_branch"), no = edit_set_body(e, n, "else_branch");
    vid c = flag(e, at, "yes");
    edit_operands(e, n, &c, 1);
    edit_output(e, yes, unary(e, yes, "Relu", h, "positive"));
    vid half = edit_weight(e, no, "half", edit_tensor(e, ELEM_F32, NULL, 0, (float[]){0.5f}, 4));
    edit_output(e, no, binary(e, no, "Mul", h, half, "halved"));
    return edit_result(e, n, result, h);
}

/* Three times v = If(yes) { Relu(v) } else { v / 2 } + large, large being a weight of the body of 2 KiB. */
static vid add_loop(struct edit *e, struct module *m, vid h)
{
    static const int64_t three = 3;
    float large[512];
    for (int i = 0; i < 512; i++)
        large[i] = (float)i / 7;
    nid n = edit_add(e, 1, "Loop");
    gid g = edit_set_body(e, n, "body");
    vid times = edit_weight(e, 1, "times", edit_tensor(e, ELEM_I64, NULL, 0, &three, 8));
    edit_operands(e, n, (vid[]){times, 0, h}, 3);
    edit_input(e, g, "i", module_add_tensor_type(m, ELEM_I64, 0, NULL));
    vid c = edit_input(e, g, "more", module_add_tensor_type(m, ELEM_BOOL, 0, NULL));
    vid v = edit_input(e, g, "v", m->value[h].type);
    vid w = edit_weight(e, g, "large",
                        edit_tensor(e, ELEM_F32, (int64_t[]){16, 32}, 2, large, sizeof large));
    nid sum = edit_add(e, g, "ReduceSum"); /* [1, 32] */
    vid axes = edit_ints(e, g, "axes", (int64_t[]){0}, 1);
    edit_operands(e, sum, (vid[]){w, axes}, 2);
    edit_output(e, g, unary(e, g, "Identity", c, "go_on"));
    edit_output(
        e, g,
        binary(e, g, "Add", add_if(e, g, v, "inner"), edit_result(e, sum, "row", 0), "added"));
    return edit_result(e, n, "looped", h);
}

static vid add_call(struct edit *e, vid h)
{
    nid n = edit_add(e, 1, "Twice");
    edit_set_operator(e, n, "Twice", "fn", 1);
    edit_operands(e, n, &h, 1);
    return edit_result(e, n, "twice", h);
}

/* Slices of a weight of [rows, cols], each under its name and a suffix, as outputs through an Identity. */
static void add_slices(struct edit *e, struct module *m, const char *of)
{
    vid w = value_called(m, of);
    const tid t = m->value[w].tensor;
    const int64_t rows = m->ints[m->tensor[t].dim], cols = m->ints[m->tensor[t].dim + 1];
    int64_t even[64];
    for (int64_t i = 0; i < rows; i++)
        even[i] = i / 2 * 2 + i % 2; /* rows 0, 2, 4, ... */
    tid block = edit_slice(e, t, 1, (int64_t[]){cols / 4, 3 * cols / 4}, 1);
    const struct {
        const char *name;
        tid t;
    } slice[] = {
        {"top", edit_slice(e, t, 0, (int64_t[]){0, rows / 2}, 1)},
        {"block", block},
        {"even", edit_slice(e, t, 0, even, (uint32_t)rows / 2)},
        {"mixed", edit_slice(e, t, 1, (int64_t[]){cols - 2, cols, 1, 2, 0, 3, 5, 5}, 4)},
        {"inner", edit_slice(e, block, 0, (int64_t[]){rows - 1, rows, 1, 3}, 2)},
        {"none", edit_slice(e, t, 0, NULL, 0)},
    };
    for (size_t i = 0; i < sizeof slice / sizeof *slice; i++) {
        vid v = edit_weight(e, 1, arena_fmt(m->mem, "%s_%s", of, slice[i].name), slice[i].t);
        edit_output(e, 1,
                    unary(e, 1, "Identity", v, arena_fmt(m->mem, "%s_%s_out", of, slice[i].name)));
    }
}

static int run(struct ctx *x, const void *options)
{
    const struct everything_options *o = options;
    struct module *m = x->scene.m;
    struct edit *e = edit_begin(m, x->use.scratch);
    vid h = value_called(m, "h");
    if (!o->run) {
        add_allreduce(e, m);
        edit_output(e, 1, add_kinds(e, m, h));
        edit_output(e, 1, add_weights(e, m, h));
    }
    edit_output(e, 1, add_if(e, 1, h, "chosen"));
    edit_output(e, 1, add_loop(e, m, h));
    edit_output(e, 1, add_call(e, h));
    add_slices(e, m, "W");
    add_slices(e, m, "E");
    vid sparse = o->run ? 0 : edit_weight(e, 1, "sparse_6", sparse_tensor(e));
    if (sparse != 0)
        edit_output(e, 1, add_use(e, &sparse, 1, h, "scattered"));
    edit_end(e);
    return 0;
}

const struct pass pass_make_everything = {.name = "make-everything",
                                          .help = "make one of all that a pass can make",
                                          .opts = everything_opts,
                                          .optsize = sizeof(struct everything_options),
                                          .rewrites = true,
                                          .run = run};
