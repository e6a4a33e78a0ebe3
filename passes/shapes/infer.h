/* Inside shape inference: the state of one run, and what its rules are written with.
 *
 * A run computes a type for every value.  It has two modes.  Symbolic: types as they can be proven,
 * names kept.  Bound: every name has its value under the bindings, so slices, ranges and broadcasts
 * that are unknown in general come out as numbers; made for planning only. */
#ifndef PCC_PASSES_SHAPES_INFER_H
#define PCC_PASSES_SHAPES_INFER_H

#include "passes/shapes/bind_dims.h"
#include "passes/passes.h"

enum {
    SHAPE_RANK = 16,     /* tensors of higher rank keep the file's shape and get none inferred */
    SHAPE_VALUES = 64,   /* integer tensors up to this size are tracked by value */
    CONFLICTS_SHOWN = 10 /* shapes in the file that the operands contradict, each with a warning */
};

struct shape {
    uint8_t elem; /* enum elem; 0: unknown */
    int rank;     /* -1: unknown */
    struct dim d[SHAPE_RANK];
};

enum num_kind { NUM_UNKNOWN, NUM_INT, NUM_SYM };

/* An integer element: known, or an expression, or unknown. */
struct num {
    int64_t v;
    sid sym;
    uint8_t kind;
};

/* The elements of a small integer tensor, in its own order. */
struct nums {
    uint32_t n;
    struct num at[];
};

struct body_state; /* shapes of loop-carried values: infer_shapes.c */

struct infer {
    struct module *m;
    struct arena *mem;
    struct diag *diag; /* NULL: quiet */
    bool bound;
    int64_t opset; /* of ai.onnx, for the node at hand */
    /* [node] the version of ai.onnx that each node is written for; NULL: the model's for all */
    const int64_t *versions;
    uint32_t *type;            /* [value] index into m->type: the type known so far */
    uint32_t *start;           /* [value] what was known before the run */
    const struct nums **data;  /* [value] NULL: not looked up yet */
    struct dim_values *values; /* bound: values of the names */
    const sid *input_names;    /* names of the dimensions of the model's inputs, ascending */
    uint32_t ninput_names;
    uint32_t *first_body;        /* [node] its first body, NULL if the module has none */
    uint32_t *next_body;         /* [graph] */
    struct body_state **carried; /* [graph] */
    uint8_t *visited;            /* [node] owners: bodies have been visited */
    uint32_t conflicts;
    tid missing; /* the first tensor that was to be read and lies in a file that is not there; 0: none */
    bool unreadable; /* a file of the model could not be read, which was said: the run fails */
};

/* A rule infers the types of the results of node n.  arg comes from the rule's row. */
typedef void shape_fn(struct infer *f, nid n, int arg);

struct shape_rule {
    const char *op;
    shape_fn *fn;
    int arg;
};

/* The operators of a domain; the rows are sorted by operator. */
struct rule_domain {
    const char *name; /* "ai.onnx", "com.microsoft", ... */
    const struct shape_rule *rule;
    uint32_t n;
};

enum { RULE_DOMAINS = 7 };
extern const struct rule_domain rule_domain[RULE_DOMAINS]; /* rules.c */

/* --- types (infer_core.c) --- */

/* The shape of a value; false, and an unknown shape, if it has none or is not a tensor. */
bool shape_of(const struct infer *f, vid v, struct shape *s);
/* The shape of operand i of n. */
bool shape_in(const struct infer *f, nid n, uint32_t i, struct shape *s);
/* The same; unknown if it has none. */
struct shape operand_shape(const struct infer *f, nid n, uint32_t i);
struct shape shape_unknown(enum elem e);
struct shape shape_scalar(enum elem e);
struct shape shape_vector(enum elem e, struct dim d);
/* Dimension i, counted from the end if negative; unknown if there is none. */
struct dim shape_dim(const struct shape *s, int i);
/* Merges the inferred shape *s into the type known for value v. n: the node, for messages. */
void shape_merge(struct infer *f, nid n, vid v, const struct shape *s);
void shape_set(struct infer *f, nid n, uint32_t i, const struct shape *s);
/* Result i has the shape of value v, and element type e (0: that of v). */
void shape_set_like(struct infer *f, nid n, uint32_t i, vid v, enum elem e);
/* Element type of operand i; 0: unknown. */
enum elem elem_in(const struct infer *f, nid n, uint32_t i);
struct dim broadcast_dim(const struct infer *f, struct dim a, struct dim b);
/* acc = broadcast(acc, s). */
void shape_broadcast(const struct infer *f, struct shape *acc, const struct shape *s);
/* Product of d[from .. to). */
struct dim dim_product(struct module *m, const struct dim *d, int from, int to);
/* axis in [0, rank), or -1 if it is out of range. */
int axis_of(int64_t axis, int rank);
/* Reads the integers of an attribute into out; returns their number; -1: it is absent, or has more than max. */
int attr_ints(const struct infer *f, nid n, const char *name, int64_t *out, int max);
/* Reads integers that are an attribute in old opsets and operand i in new ones into out; returns their number; -1:
 * neither is given; -2: given, but not known. */
int attr_or_input(struct infer *f, nid n, const char *name, uint32_t i, int64_t *out, int max);
/* d + c, for a number c of any sign. */
struct dim dim_shift(struct module *m, struct dim d, int64_t c);
/* No dimension can make it negative (sufficient, not necessary). */
bool dim_nonneg(const struct module *m, struct dim d);

/* --- values (infer_values.c) --- */

/* Whether the tensor's bytes can be read; if they lie in a file that is not there, f->missing notes it. */
bool tensor_at_hand(struct infer *f, tid t);
/* The elements of a constant tensor of at most `max` integers: their number, or -1. */
int tensor_small_ints(struct infer *f, tid t, int64_t *out, int max);

/* The elements of v if it is a small integer tensor and something is known about them, else NULL. */
const struct nums *nums_of(struct infer *f, vid v);
/* Whether elements of that type are followed: integers, and floats as long as they hold integers. */
bool elem_followed(enum elem e);
/* All elements as integers: their number; -1 if one is unknown or there are more than max. */
int ints_of(struct infer *f, vid v, int64_t *out, int max);
/* Elements of a list attribute if it is there, else of operand i; NULL: nothing is known. */
const struct nums *nums_attr_or_input(struct infer *f, nid n, const char *name, uint32_t i);
struct nums *nums_new(struct infer *f, uint32_t n);
void nums_set(struct infer *f, nid n, uint32_t i, const struct nums *x);
struct num num_int(int64_t v);
struct num num_of_dim(struct dim d);
struct dim num_dim(struct num x); /* unknown if negative */
struct num num_add(struct infer *f, struct num a, struct num b);
struct num num_sub(struct infer *f, struct num a, struct num b);
struct num num_mul(struct infer *f, struct num a, struct num b);
/* Elements of a result that an elementwise operator computes; arg: enum num_op. */
enum num_op {
    NUM_NONE,
    NUM_ADD,
    NUM_SUB,
    NUM_MUL,
    NUM_DIV,
    NUM_MOD,
    NUM_MIN,
    NUM_MAX,
    NUM_EQ,
    NUM_LT,
    NUM_GT,
    NUM_LE,
    NUM_GE,
    NUM_AND,
    NUM_OR,
    NUM_NEG,
    NUM_NOT,
    NUM_ABS,
    NUM_COPY
};
void values_elementwise(struct infer *f, nid n, enum num_op op);

/* Element j of the tensor that is operand i, as a dimension. */
struct dim value_dim(struct infer *f, nid n, uint32_t i, uint32_t j);

/* --- rules: what their arg is, where it is more than a number --- */

/* rule_broadcast: enum num_op, and flags. */
enum { NUM_MASK = 31, RULE_BOOL = 32, RULE_QLINEAR = 64 };
/* rule_like: number of the operand, plus the element type of the result (0: that of the operand) shifted by: */
enum { LIKE_ELEM = 8 };
/* rule_fixed_elem: where the element type of the result comes from. */
enum {
    FIXED_NONE,
    FIXED_BOOL,
    FIXED_TO,
    FIXED_BITS,
    FIXED_LIKE_1,
    FIXED_QUANTIZE,
    FIXED_DEQUANTIZE,
    FIXED_DYNAMIC,
    FIXED_DTYPE,
    FIXED_FLOAT,
    FIXED_HASH
};
/* rule_reduce: enum num_op, plus REDUCE_ATTR: axes are an attribute only, REDUCE_WIDE: the result's elements have
 * another type. */
enum { REDUCE_ATTR = 32, REDUCE_WIDE = 64 };
/* rule_dropout: form of the mask. */
enum { MASK_BOOL, MASK_BITS };
/* rule_classifier, rule_regressor: which operator. */
enum { CLASSIFY_TREE, CLASSIFY_LINEAR, CLASSIFY_SVM };
enum { TARGETS_TREE, TARGETS_LINEAR, TARGETS_ONE, TARGETS_ENSEMBLE };
/* rule_regions: where the size of the result is given. */
enum { REGION_ALIGN, REGION_POOL, REGION_CROP };
/* rule_conv, rule_pool: element type of the result (0: that of the operand), plus flags: the channels are last; the
 * attribute channels_last says whether; a second result holds indices. */
enum { WINDOW_ELEM = 63, WINDOW_LAST = 64, WINDOW_MAYBE_LAST = 128, WINDOW_INDICES = 256 };
/* rule_matmul: where the second matrix is, and what gives the element type. */
enum {
    MATMUL_PLAIN,
    MATMUL_INTEGER,
    MATMUL_QLINEAR,
    MATMUL_TO_FLOAT,
    MATMUL_ORDERED,
    MATMUL_SPARSE
};
/* rule_listed: number of the operand, and whether an attribute says the element type (f32, if it does not). */
enum { LISTED_OPERAND = 7, LISTED_DTYPE = 8 };
/* rule_nms: the operator's domain. */
enum { NMS_ONNX, NMS_TENSORRT };

/* --- rules --- */

shape_fn rule_same, rule_like, rule_each, rule_optimizer, rule_broadcast, rule_fixed_elem,
    rule_dropout, rule_skip, rule_scalar, rule_aten; /* rules.c */
shape_fn rule_conv, rule_conv_transpose, rule_pool, rule_global_pool, rule_matmul, rule_gemm,
    rule_rnn, rule_norm, rule_einsum, rule_loss, rule_qlinear_conv, rule_matmul_nbits,
    rule_matmul_fpq4, rule_rows, rule_mul_integer, rule_norm_grad, rule_cdist; /* rules_nn.c */
shape_fn rule_attention, rule_flex_attention, rule_linear_attention, rule_causal_conv,
    rule_ms_attention, rule_multi_head, rule_group_query, rule_packed_attention,
    rule_decoder_attention, rule_position_bias, rule_embed_layer_norm, rule_padding,
    rule_search; /* rules_attention.c */
shape_fn rule_resize, rule_depth_space, rule_regions, rule_nms, rule_center_crop_pad, rule_col2im,
    rule_unfold, rule_max_unpool, rule_affine_grid, rule_grid_sample, rule_image_decoder,
    rule_reorder, rule_crop, rule_pyramid; /* rules_image.c */
shape_fn rule_ngram_hash, rule_varlen_conv, rule_gated_delta, rule_pre_mix, rule_indexer,
    rule_packed_indexer;                                        /* rules_tokens.c */
shape_fn rule_dft, rule_stft, rule_window, rule_mel, rule_rfft; /* rules_signal.c */
shape_fn rule_classifier, rule_regressor, rule_one_hot_encoder, rule_array_features,
    rule_label_encoder, rule_feature_vectorizer, rule_dict_vectorizer, rule_cast_map,
    rule_string_normalizer, rule_string_split, rule_tfidf; /* rules_ml.c */
shape_fn rule_reshape, rule_flatten, rule_transpose, rule_squeeze, rule_unsqueeze, rule_concat,
    rule_split, rule_slice, rule_gather, rule_gather_elements, rule_gather_nd, rule_gather_blocks,
    rule_embedding, rule_det; /* rules_move.c */
shape_fn rule_expand, rule_tile, rule_pad, rule_topk, rule_onehot, rule_shape, rule_size,
    rule_constant, rule_constant_of_shape, rule_range, rule_reduce, rule_arg_reduce, rule_where,
    rule_nonzero, rule_random, rule_compress, rule_unique, rule_multinomial, rule_listed,
    rule_split_half, rule_unknown_vectors, rule_bfp, rule_tensor_fill, rule_time_warping,
    rule_bifurcation;                   /* rules_make.c */
shape_fn rule_if, rule_loop, rule_scan; /* infer_bodies.c */
enum seq_rule { SEQ_CONSTRUCT, SEQ_EMPTY, SEQ_INSERT, SEQ_ERASE, SEQ_SPLIT, SEQ_LENGTH, SEQ_AT };
shape_fn rule_sequence, rule_concat_from_sequence, rule_optional, rule_sequence_map,
    rule_zip_map; /* rules_seq.c */

/* --- types from schemas (infer_types.c) --- */

/* Sets f->type, and f->start for another run, for values of unknown type which an operator's schema says have the
 * same type as a known one.  True: it set some.  O(nodes + operands). */
bool types_from_schemas(struct infer *f);

/* --- containers (rules_seq.c) --- */

/* Makes *acc the shape that holds for both *acc and *s: dimensions that differ become unknown. */
void shape_join(struct shape *acc, const struct shape *s);
/* The narrowest type that holds for values of both types; 0: there is none. */
uint32_t type_join(struct infer *f, uint32_t a, uint32_t b);
/* The type without the shapes of tensors: for a sequence of tensors, one of unknown shapes; 0 for other containers. */
uint32_t type_without_shape(struct infer *f, uint32_t type);
/* Result i is of that type, as far as the file leaves it open. */
void container_set(struct infer *f, nid n, uint32_t i, uint32_t type);
/* Sets the types of the inputs of a SequenceMap's body. */
void enter_sequence_map(struct infer *f, nid n, gid g);

/* One run over all graphs.  Returns [value] types in f.mem.  values NULL: symbolic mode. */
uint32_t *infer_types(struct module *m, struct arena *mem, struct diag *diag,
                      struct dim_values *values);
/* A symbolic run without a word, for who asks for values afterwards (nums_of, ints_of); calls stay closed.  Lives in
 * mem. */
struct infer *infer_values(struct module *m, struct arena *mem);

#endif
