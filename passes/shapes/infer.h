/* Shared by the files of shape inference: the state of one run, and the functions that rules of operators use.
 *
 * A run computes a type for every value.  It has two modes.  Symbolic mode: types that can be
 * proven, with names of dimensions; pure mode (infer.pure) is a variant of it.  Bound mode, only
 * for planning: every name is replaced by its value under the bindings (bind_dims.h), so that
 * slices, ranges and broadcasts whose size is unknown in general get numbers. */
#ifndef PCC_PASSES_SHAPES_INFER_H
#define PCC_PASSES_SHAPES_INFER_H

#include "passes/shapes/bind_dims.h"
#include "passes/passes.h"

enum {
    /* a tensor with more dimensions gets no inferred shape: the shape in the file stays */
    SHAPE_RANK = 16,
    SHAPE_VALUES = 64,   /* elements of integer tensors with more elements are not followed */
    CONFLICTS_SHOWN = 10 /* most warnings of shapes in the file that contradict the operands */
};

/* The shape and element type of a tensor. */
struct shape {
    uint8_t elem;             /* enum elem; 0: unknown */
    int rank;                 /* number of dimensions; -1: unknown */
    struct dim d[SHAPE_RANK]; /* [rank] the dimensions; those behind are not set */
};

enum num_kind { NUM_UNKNOWN, NUM_INT, NUM_SYM };

/* An element of an integer tensor: a number, an expression of names of dimensions, or unknown (all fields 0). */
struct num {
    int64_t v;    /* NUM_INT: the number */
    sid sym;      /* NUM_SYM: text of the expression */
    uint8_t kind; /* enum num_kind */
};

/* The elements of a small integer tensor, in the order in which ONNX stores them. */
struct nums {
    uint32_t n;
    struct num at[];
};

struct body_state; /* shapes of the values that a loop carries: infer_bodies.c */

/* State of a run of shape inference. */
struct infer {
    struct module *m;
    struct arena *mem;
    struct diag *diag; /* where conflicts are reported; NULL: nowhere */
    bool bound;        /* bound mode; else symbolic mode */
    /* pure mode, a kind of symbolic mode: names in dimensions are those of the model's inputs (nameless inputs get
     * names, too), and each Slice is taken to lie within its operand */
    bool pure;
    /* the run in symbolic mode found less than a run in pure mode would: it kept a name of the file where the
     * operands give another dimension, or a Slice may reach beyond the end */
    bool hides;
    int64_t opset; /* version of ai.onnx for the node that is visited; INT64_MAX: the newest */
    /* [node] the version of ai.onnx for which the node is written, -1: not given; NULL: the model's version for all
     * nodes */
    const int64_t *versions;
    uint32_t *type;  /* [value] the type known so far, an index in m->type; 0: unknown */
    uint32_t *start; /* [value] the type before the run */
    /* [value] elements of the value; n == 0: nothing is known about them; NULL: not looked up yet */
    const struct nums **data;
    struct dim_values *values; /* bound mode: values of the names; else NULL */
    const sid *input_names;    /* names in the dimensions of the model's inputs, ascending */
    uint32_t ninput_names;
    /* [node] its first body, 0: none; NULL: the module has no bodies, and next_body, carried and visited are NULL,
     * too */
    uint32_t *first_body;
    uint32_t *next_body; /* [graph] the next body of the same node; 0: none */
    /* [graph] what the body of a Loop or Scan carries; NULL: not visited yet */
    struct body_state **carried;
    uint8_t *visited;   /* [node] 1: its bodies have been visited */
    uint32_t conflicts; /* number of shapes in the file that contradict the operands */
    tid missing;        /* the first tensor that was needed and is in a missing file; 0: none */
    bool unreadable;    /* a file could not be read; the error is reported, so the run fails */
};

/* A rule infers the types of the results of node n from its operands and attributes.  arg: the number in the operator's
 * row of the table, which tells operators that share a rule apart; each rule says what it means. */
typedef void shape_fn(struct infer *f, nid n, int arg);

/* A row of the table: the rule of an operator. */
struct shape_rule {
    const char *op;
    shape_fn *fn;
    int arg;
};

/* The rules for the operators of a domain, sorted by operator (bytewise). */
struct rule_domain {
    const char *name; /* "ai.onnx", "com.microsoft", ... */
    const struct shape_rule *rule;
    uint32_t n;
};

enum { RULE_DOMAINS = 7 };
extern const struct rule_domain rule_domain[RULE_DOMAINS]; /* rules.c */

/* Sets f->opset to the version of ai.onnx that node n is written for. */
void infer_at(struct infer *f, nid n);

/* --- types (infer_core.c) --- */

/* Writes the shape of value v to *s; returns false, and writes an unknown shape, if v is 0 or not known to be a
 * tensor. */
bool shape_of(const struct infer *f, vid v, struct shape *s);
/* Writes the shape of operand i of node n to *s; returns false, and writes an unknown shape, if the operand is omitted
 * or not known to be a tensor. */
bool shape_in(const struct infer *f, nid n, uint32_t i, struct shape *s);
/* Returns the shape of operand i of node n; an unknown shape if the operand is omitted or not known to be a tensor. */
struct shape operand_shape(const struct infer *f, nid n, uint32_t i);
/* Return a shape with element type e and unknown rank (shape_unknown), or rank 0 (shape_scalar). */
struct shape shape_unknown(enum elem e);
struct shape shape_scalar(enum elem e);
struct shape shape_vector(enum elem e, struct dim d); /* rank 1; d: its length */
/* Returns dimension i of *s, counted from the end if negative; an unknown dimension if there is no dimension i. */
struct dim shape_dim(const struct shape *s, int i);
/* Swaps the last two dimensions of *s, if it has two. */
void shape_swap_last(struct shape *s);
/* Merges the inferred shape *s into the type known for value v, as the head of infer_core.c says.  n: the node, for
 * messages. */
void shape_merge(struct infer *f, nid n, vid v, const struct shape *s);
/* Merges the inferred shape *s into the type known for result i of node n. */
void shape_set(struct infer *f, nid n, uint32_t i, const struct shape *s);
/* Merges the type with the shape of value v and element type e (0: the element type of v) into the type known for
 * result i of node n. */
void shape_set_like(struct infer *f, nid n, uint32_t i, vid v, enum elem e);
/* Returns the element type of operand i of node n; 0: unknown. */
enum elem elem_in(const struct infer *f, nid n, uint32_t i);
/* Returns the dimension to which a and b are broadcast; unknown if that is not certain. */
struct dim broadcast_dim(const struct infer *f, struct dim a, struct dim b);
/* Replaces *acc by the shape to which *acc and *s are broadcast; the element type of *acc stays. */
void shape_broadcast(const struct infer *f, struct shape *acc, const struct shape *s);
/* Returns the product of d[from .. to). */
struct dim dim_product(struct module *m, const struct dim *d, int from, int to);
/* Returns axis, counted from the end if negative, as a number in [0, rank); -1 if it is out of range. */
int axis_of(int64_t axis, int rank);
/* Writes the integers of an attribute to out[max]; returns their number; -1: it is absent, or has more than max. */
int attr_ints(const struct infer *f, nid n, const char *name, int64_t *out, int max);
/* Writes integers that are an attribute in old opsets and operand i in new ones to out[max]; returns their number;
 * -1: neither is given; -2: they are given, but not known or more than max. */
int attr_or_input(struct infer *f, nid n, const char *name, uint32_t i, int64_t *out, int max);
/* Returns d + c, for a number c of any sign. */
struct dim dim_shift(struct module *m, struct dim d, int64_t c);
/* Whether d is certainly not negative, whatever its names stand for. */
bool dim_nonneg(const struct module *m, struct dim d);

/* --- values (infer_values.c) --- */

/* Whether the bytes of tensor t can be read; if its file is missing, f->missing notes the tensor. */
bool tensor_at_hand(struct infer *f, tid t);
/* Writes the elements of an integer tensor to out[max]; returns their number, or -1: not readable, or more than max. */
int tensor_small_ints(struct infer *f, tid t, int64_t *out, int max);

/* Returns the elements of v if it is a small integer tensor and something is known about them, else NULL. */
const struct nums *nums_of(struct infer *f, vid v);
/* Whether elements of type e are followed: integers, and f32 and f64 as long as they hold integers. */
bool elem_followed(enum elem e);
/* Writes the elements of v to out[max]; returns their number; -1 if one is unknown or there are more than max. */
int ints_of(struct infer *f, vid v, int64_t *out, int max);
/* Returns the elements of a list attribute if node n has it, else of operand i; NULL: nothing is known. */
const struct nums *nums_attr_or_input(struct infer *f, nid n, const char *name, uint32_t i);
/* Returns n <= SHAPE_VALUES unknown elements, in f->mem. */
struct nums *nums_new(struct infer *f, uint32_t n);
/* Sets the elements of result i of node n to x; NULL: does nothing. */
void nums_set(struct infer *f, nid n, uint32_t i, const struct nums *x);
struct num num_int(int64_t v); /* the number v as an element */
/* num_of_dim() returns the element that has the value of dimension d, num_dim() the dimension that has the value of
 * element x; each is unknown if its operand is.  num_dim() is unknown for negative numbers, too. */
struct num num_of_dim(struct dim d);
struct dim num_dim(struct num x);
/* Return a + b, a - b, a * b; unknown if an operand is unknown, a number overflows, or dim.h cannot write the
 * result. */
struct num num_add(struct infer *f, struct num a, struct num b);
struct num num_sub(struct infer *f, struct num a, struct num b);
struct num num_mul(struct infer *f, struct num a, struct num b);
/* Returns x; unknown if 32-bit floats do not tell x from the integers next to it. */
struct num num_as_float(struct num x);
/* Operations on single elements, by which elements are followed through an operator. */
enum num_op {
    NUM_NONE, /* elements are not followed */
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
    NUM_NEG, /* operators from here on have one operand */
    NUM_NOT,
    NUM_ABS,
    NUM_COPY
};
/* Sets the elements of result 0 of node n, which does op element by element, as far as the elements of its operands are
 * known.  Follows scalars and vectors; if op has one operand, tensors of any rank. */
void values_elementwise(struct infer *f, nid n, enum num_op op);

/* Returns element j of operand i of node n as a dimension; unknown if the element is. */
struct dim value_dim(struct infer *f, nid n, uint32_t i, uint32_t j);

/* --- values of `arg` of rules, where it is more than a number --- */

/* arg of rule_broadcast(): an enum num_op, in the bits of NUM_MASK, and flags: RULE_BOOL: the result is bool;
 * RULE_QLINEAR: a scale and a zero point follow each operand. */
enum { NUM_MASK = 31, RULE_BOOL = 32, RULE_QLINEAR = 64 };
/* arg of rule_like(): number of the operand + (element type of the result << LIKE_ELEM); type 0: the type of the
 * operand. */
enum { LIKE_ELEM = 8 };
/* arg of rule_fixed_elem(): where the element type of the result comes from. */
enum {
    FIXED_NONE,       /* the type of operand 0 */
    FIXED_BOOL,       /* always bool */
    FIXED_TO,         /* attribute "to" (Cast); elements are followed */
    FIXED_BITS,       /* attribute "to" (BitCast); elements are not followed */
    FIXED_LIKE_1,     /* the type of operand 1; through CastLike elements are followed */
    FIXED_QUANTIZE,   /* the type of operand 2, the zero point; else "output_dtype"; else u8 */
    FIXED_DEQUANTIZE, /* attribute "output_dtype"; else the type of operand 1, the scale */
    FIXED_DYNAMIC,    /* always u8; results 1 and 2 are the scale and the zero point */
    FIXED_DTYPE,      /* attribute "dtype"; else the type of operand 0 */
    FIXED_FLOAT,      /* always f32 */
    FIXED_HASH        /* u32, or i32 if attribute "positive" is 0 */
};
/* arg of rule_reduce(): an enum num_op, and flags: REDUCE_ATTR: the axes are an attribute, never an operand;
 * REDUCE_WIDE: the result has another element type than the operand. */
enum { REDUCE_ATTR = 32, REDUCE_WIDE = 64 };
/* arg of rule_dropout(): the mask has a bool (MASK_BOOL) or a bit (MASK_BITS) for each element. */
enum { MASK_BOOL, MASK_BITS };
/* arg of rule_classifier(): the kind of the classifier. */
enum { CLASSIFY_TREE, CLASSIFY_LINEAR, CLASSIFY_SVM };
/* arg of rule_regressor(): where the number of targets and the element type are given: attribute n_targets, f32 (TREE);
 * attribute targets, f32 (LINEAR); always one target, f32 (ONE); n_targets, type of the operand (ENSEMBLE). */
enum { TARGETS_TREE, TARGETS_LINEAR, TARGETS_ONE, TARGETS_ENSEMBLE };
/* arg of rule_regions(): the operator (RoiAlign, MaxRoiPool, CropAndResize); it tells where node n says to which size
 * each region is brought. */
enum { REGION_ALIGN, REGION_POOL, REGION_CROP };
/* arg of rule_conv(), rule_pool(): element type of the result (0: that of the operand), in the bits of WINDOW_ELEM,
 * and flags: WINDOW_LAST: the channels are the last axis; WINDOW_MAYBE_LAST: the channels are the last axis if
 * attribute channels_last is not 0; WINDOW_INDICES: a second result holds indices. */
enum { WINDOW_ELEM = 63, WINDOW_LAST = 64, WINDOW_MAYBE_LAST = 128, WINDOW_INDICES = 256 };
/* arg of rule_matmul(): which operand is the second matrix, and where the element type of the result comes from. */
enum {
    MATMUL_PLAIN,    /* operand 1; type of operand 0 */
    MATMUL_INTEGER,  /* operand 1; i32 */
    MATMUL_QLINEAR,  /* operand 3; type of operand 7, the zero point of the result */
    MATMUL_TO_FLOAT, /* operand 1; type of operand 2, the scale */
    MATMUL_ORDERED,  /* operand 2; type of operand 0 */
    MATMUL_SPARSE    /* operand 1; type of operand 1, since operand 0 is a sparse tensor */
};
/* arg of rule_listed(): number of the operand that lists the shape, in the bits of LISTED_OPERAND, and a flag:
 * LISTED_DTYPE: attribute dtype gives the element type (f32 if it is absent). */
enum { LISTED_OPERAND = 7, LISTED_DTYPE = 8 };
/* arg of rule_nms(): NonMaxSuppression, or TensorRT's EfficientNMS_TRT. */
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

/* Finds types of values of unknown type by the schemas of operators: an operand or result may always have one type, or
 * the type of another operand or result, which is known.  Sets the types in f->type, and in f->start for another run.
 * Returns whether any were found.  O(nodes + operands). */
bool types_from_schemas(struct infer *f);

/* --- containers (rules_seq.c) --- */

/* Makes *acc the shape that holds for both *acc and *s: dimensions that differ become unknown. */
void shape_join(struct shape *acc, const struct shape *s);
/* Returns the narrowest type that holds for values of both types (indices in m->type); 0: there is none. */
uint32_t type_join(struct infer *f, uint32_t a, uint32_t b);
/* Returns the type for a sequence of tensors whose shapes are unknown, if `type` is a sequence of tensors; 0 for other
 * containers; `type` itself if it is no container. */
uint32_t type_without_shape(struct infer *f, uint32_t type);
/* Sets the type of result i of node n.  If its type is known already, only unknown parts of it are filled in. */
void container_set(struct infer *f, nid n, uint32_t i, uint32_t type);
/* Sets the types of the inputs of g, the body of SequenceMap n: the elements of operands that are sequences, and other
 * operands themselves. */
void enter_sequence_map(struct infer *f, nid n, gid g);

/* Runs inference over all graphs, with calls of functions replaced (opened_calls.h).  Returns an array, in mem: [value]
 * its type, an index in m->type.  diag: where conflicts are reported; NULL: nowhere.  values: the bindings, for bound
 * mode; NULL: symbolic mode. */
uint32_t *infer_types(struct module *m, struct arena *mem, struct diag *diag,
                      struct dim_values *values);
/* Returns a name, made in mem, for dimension `axis` of input number `input` of the model.  It is used where the model
 * gives that dimension neither name nor size. */
const char *open_dim_name(struct arena *mem, uint32_t input, uint32_t axis);
/* Runs inference in symbolic mode, without messages, for callers that then ask for elements of values (nums_of(),
 * ints_of()).  Calls of functions are not looked into.  The state lives in mem. */
struct infer *infer_values(struct module *m, struct arena *mem);

#endif
