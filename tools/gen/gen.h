/* Shared parts of pcc-gen: options, the graph builder (build.c), layers that several models use (layers.c), the
 * models (gpt.c, bert.c, llama.c, unet.c, dlrm.c, train.c, seq2seq.c, detector.c, models.c), workloads (workload.c)
 * and the streaming writer (write.c).
 *
 * A value of the graph is known by its name.  Functions that add nodes take names of values as operands (x, a, b,
 * ...) and return the name of the value that the last node makes.
 *
 * Weights are never held in memory.  A weight is a struct gen_weight, from which its bytes are computed; its
 * TensorProto has the true number of bytes and a marker, a pointer into an inaccessible address range.  When
 * protobuf-c passes a marker to the writer, the writer computes the bytes.  All other memory is freed at the end
 * (gen_close). */
#ifndef PCC_TOOLS_GEN_H
#define PCC_TOOLS_GEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "onnx.pb-c.h"

enum {
    GEN_MAX_STAGES = 8,    /* most numbers in --blocks a,b,c */
    GEN_EXTERN_MIN = 1024, /* bytes; smaller initializers stay in the model file */
    GEN_ALIGN = 4096,      /* offsets in the weights file are multiples of it, bytes */
    GEN_MAX_EXPERTS = 1024,
    GEN_MAX_TABLES = 1024,
    GEN_OPSET = 20, /* version of the ONNX operators */
    GEN_IR = 10,    /* version of the ONNX format */
    GEN_F32 = ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT,
    GEN_I64 = ONNX__TENSOR_PROTO__DATA_TYPE__INT64
};

/* Where initializers of at least GEN_EXTERN_MIN bytes are written. */
enum gen_mode {
    GEN_INLINE,   /* into the model file */
    GEN_EXTERNAL, /* into <stem>.weights */
    GEN_NONE      /* not written; the model refers to a missing <stem>.weights */
};

/* The numbers of an option such as --blocks a,b,c. */
struct gen_list {
    int n;
    int64_t v[GEN_MAX_STAGES]; /* [n] */
};

/* Activations of an MLP (--activation). */
enum gen_activation_kind {
    GEN_ERF,  /* gelu of five operators, through Erf */
    GEN_GELU, /* the operator Gelu */
    GEN_TANH, /* gelu's approximation by Tanh, of eight operators */
    GEN_RELU,
    GEN_ACTIVATIONS
};
extern const char *const gen_activation_words[GEN_ACTIVATIONS];

/* The options without a value, which are given or not. */
struct gen_flags {
    bool kv, untied, mlm, adam, no_weights, external;
};

/* The options of the command line, or their defaults.  A field has the name of its option: `layers` is --layers; the
 * table rows[] in main.c says what each option means. */
struct gen_opt {
    const char *out; /* -o: path of the file to write */
    int64_t layers, width, heads, vocab, seq, depth, size, classes, nodes, seed, blocks;
    int64_t kv_heads, ffn, experts, topk, levels, tables, rows, features, bag, boxes;
    int64_t devices;
    /* --blocks of resnet: blocks of each stage; n == 0: --depth tells them */
    struct gen_list stages;
    enum gen_activation_kind activation;
    struct gen_flags has;
};

/* A random weight: `count` numbers (float32), uniformly distributed with this mean and standard deviation. */
struct gen_weight {
    uint64_t key;    /* seed of its random numbers, from --seed and its name */
    uint64_t count;  /* number of elements */
    uint64_t offset; /* place in the weights file, bytes; unused unless external */
    /* the weight is in the weights file, or left out with GEN_NONE; false: in the model file */
    bool external;
    float mean, std;
};

/* A dimension of an input or output: symbolic with the name `param`; if that is NULL, the number `value`. */
struct gen_dim {
    int64_t value;
    const char *param;
};

struct gen_chunk;

/* A growing array of pointers to protobuf-c structs. */
struct gen_ptrs {
    void **v; /* [n], with memory for cap */
    size_t n, cap;
};

/* A model while it is built. */
struct gen {
    enum gen_mode mode;
    uint64_t seed;            /* --seed */
    const char *location;     /* base name of the weights file */
    const char *scope;        /* prefix of node names: gen_scope() */
    struct gen_chunk *chunks; /* blocks of memory (build.c), the newest first */
    struct gen_ptrs nodes, inits, inputs, outputs; /* inits: initializers */
    struct gen_weight *weights;                    /* [nweights] */
    size_t nweights, weights_cap;
    uint64_t external_end; /* bytes of the weights file so far */
    /* an inaccessible address range: marker + i stands for the bytes of weight i */
    uint8_t *marker;
    size_t marker_size; /* bytes of that range: the most weights */
    /* the node added last, which gen_attr_*, gen_more and gen_rename change */
    Onnx__NodeProto *last;
};

/* ---- build.c.  If memory runs out, its functions end the program with a message and exit code 1. ---- */

/* Starts an empty model.  `location` (struct gen) must live as long as g. */
void gen_open(struct gen *g, enum gen_mode mode, int64_t seed, const char *location);
/* Ends the program because memory has run out. */
_Noreturn void gen_no_memory(void);
/* Frees the model with all strings that functions returned for it. */
void gen_close(struct gen *g);

/* Returns a new string, formatted as by printf, which lives as long as g. */
char *gen_str(struct gen *g, const char *fmt, ...)
    __attribute__((format(printf, 2, 3), nonnull(2)));
#define NO_SCOPE ""
/* Sets the prefix of the names of further nodes, such as "/h.3"; NO_SCOPE: their names get none. */
void gen_scope(struct gen *g, const char *scope);

/* Adds a node named scope + path that reads in[0 .. nin).  The last component of path is its operator, with an
 * optional "_N" behind it to make the name unique: "/attn/Reshape_1".  Returns the name of its result,
 * "<node>_output_0".  gen_op1, gen_op2, gen_op3: the same for one, two and three operands. */
const char *gen_node(struct gen *g, const char *path, int nin, const char *const in[]);
const char *gen_op1(struct gen *g, const char *path, const char *a);
const char *gen_op2(struct gen *g, const char *path, const char *a, const char *b);
const char *gen_op3(struct gen *g, const char *path, const char *a, const char *b, const char *c);
/* Gives the last node one more result and returns its name: "<node>_output_N". */
const char *gen_more(struct gen *g);
/* Renames the first result of the last node, which no other node may read yet.  Returns the new name. */
const char *gen_rename(struct gen *g, const char *name);

/* Each adds an attribute to the last node: an integer, a float, a string, or a list of n integers. */
void gen_attr_i(struct gen *g, const char *name, int64_t v);
void gen_attr_f(struct gen *g, const char *name, float v);
void gen_attr_s(struct gen *g, const char *name, const char *v);
void gen_attr_ints(struct gen *g, const char *name, int n, const int64_t v[]);

/* Adds a random initializer of floats with this shape, mean and standard deviation.  Returns its name. */
const char *gen_weight(struct gen *g, const char *name, int rank, const int64_t dims[], double mean,
                       double std);
/* Add a constant initializer and return its name: a float scalar, a list of n floats, an int64 scalar, or a list of n
 * int64 numbers. */
const char *gen_float(struct gen *g, const char *name, float v);
const char *gen_floats(struct gen *g, const char *name, int n, const float v[]);
const char *gen_int(struct gen *g, const char *name, int64_t v);
const char *gen_ints(struct gen *g, const char *name, int n, const int64_t v[]);

/* Add an input or an output of the model.  type: GEN_F32 or GEN_I64; dims: [rank] its shape. */
void gen_input(struct gen *g, const char *name, int type, int rank, const struct gen_dim dims[]);
void gen_output(struct gen *g, const char *name, int type, int rank, const struct gen_dim dims[]);

/* Returns the message of the finished model, which shares all memory with g.  name: of its graph. */
Onnx__ModelProto *gen_model(struct gen *g, const char *name);

/* ---- layers.c ----
 *
 * Functions add a layer and return the name of its result.  path: of the layer, such as "/attn/q"; the names of the
 * layer's nodes are that path and their operators.  Its parameters are named <param>.weight and <param>.bias.
 * Letters in shapes: B batch, S sequence, W width, H heads, D size of a head (W = H D), T all tokens, cached ones
 * included. */

/* Constants of attention over [batch, sequence, heads * dim]. */
struct gen_heads {
    int64_t heads, dim; /* number of heads, size of a head */
    const char *split;  /* shape operand of the Reshape [B,S,W] -> [B,S,H,D] */
    const char *merge;  /* shape operand of the Reshape [B,S,H,D] -> [B,S,W] */
    const char *scale;  /* sqrt(dim), by which scores are divided */
};

/* Values for causal attention, in which a token attends only to itself and earlier tokens. */
struct gen_causal {
    /* int64 [sequence]: positions of the new tokens, behind those of cached ones */
    const char *rows;
    /* bool [sequence, total]: true where the new token may attend to the other one */
    const char *mask;
};

/* A linear layer: x W + b; without bias x W. */
struct gen_linear {
    int64_t in, out; /* last dimension of x and of the result */
    double std;      /* standard deviation of W */
    bool bias;
};

/* Adds the nodes <path>/MatMul and, with a bias, <path>/Add. */
const char *gen_linear(struct gen *g, const char *path, const char *param, const char *x,
                       struct gen_linear l);
/* Adds a LayerNormalization of the last axis, which has `width` elements; here path includes the operator. */
const char *gen_layer_norm(struct gen *g, const char *path, const char *param, const char *x,
                           int64_t width);
/* Add a Transpose, or a Concat of in[0 .. n) along an axis; here path includes the operator. */
const char *gen_transpose(struct gen *g, const char *path, const char *x, int rank,
                          const int64_t perm[]);
const char *gen_concat(struct gen *g, const char *path, int64_t axis, int n,
                       const char *const in[]);
/* Adds x sigmoid(x): nodes <path>/Sigmoid and <path>/Mul. */
const char *gen_silu(struct gen *g, const char *path, const char *x);
/* What becomes of axes that are reduced: they stay with size 1, or not at all. */
enum gen_reduced { DROP_AXES, KEEP_AXES };
/* Adds a reduction such as ReduceSum, the operator in path, along axes, the name of an int64 list. */
const char *gen_reduce(struct gen *g, const char *path, const char *x, const char *axes,
                       enum gen_reduced reduced);
/* Adds and returns the constants for attention with this number and size of heads. */
struct gen_heads gen_heads(struct gen *g, int64_t heads, int64_t dim);
/* Adds a Reshape and a Transpose of x, [B,S,W] -> [B,H,S,D]; for keys -> [B,H,D,S]. */
const char *gen_split_heads(struct gen *g, const char *path, const struct gen_heads *h,
                            const char *x, bool keys);
/* Adds self-attention of x [B,S,W] with the linear layers q, k, v and out.  mask: is added to the scores; NULL:
 * none. */
const char *gen_attention(struct gen *g, const char *path, const char *param,
                          const struct gen_heads *h, const char *x, const char *mask);
/* An activation and the names of its constants; NULL: the activation has no such constant. */
struct gen_activation {
    enum gen_activation_kind kind;
    const char *sqrt2, *one, *half, *three, *cube, *slope;
};
/* Adds the constants that the activation needs, and returns it with their names. */
struct gen_activation gen_activation(struct gen *g, enum gen_activation_kind kind);
/* Adds the activation a of the value h, nodes <path>/Erf and the like.  Returns the name of the result. */
const char *gen_activate(struct gen *g, const char *path, const struct gen_activation *a,
                         const char *h);
/* A convolution with a square kernel, padded so that with stride 1 height and width stay. */
struct gen_conv {
    /* channels in and out; height of the kernel; step in both directions */
    int64_t in, out, kernel, stride;
    /* factor on the standard deviation of He-scaled weights, sqrt(2 / inputs of an output) */
    double gain;
};

/* Adds the node <path>/Conv. */
const char *gen_conv(struct gen *g, const char *path, const char *param, const char *x,
                     struct gen_conv c);
/* Adds a MaxPool of 3 x 3 with padding 1; here path includes the operator. */
const char *gen_max_pool(struct gen *g, const char *path, const char *x, int64_t stride);
/* Adds the values for causal attention, from the shape of the input input_ids and of `cached`, the keys of earlier
 * tokens [B,H,past,D]; NULL: there are none. */
struct gen_causal gen_causal(struct gen *g, const char *cached);
/* What the size of a head, --width / --heads, must be a multiple of. */
enum gen_head_size {
    HEADS_WHOLE = 1,
    HEADS_EVEN = 2 /* for rotary embeddings, which split a head into two halves */
};
/* Checks that the size of a head is a multiple of `size`.  Returns 0; or prints an error and returns -1. */
int gen_check_heads(const struct gen_opt *o, enum gen_head_size size);

/* ---- models ---- */

/* Each builds a model by the options in g, which is empty before.  Returns 0; or prints an error and returns -1. */
int gen_gpt(struct gen *g, const struct gen_opt *o);
int gen_bert(struct gen *g, const struct gen_opt *o);
int gen_llama(struct gen *g, const struct gen_opt *o); /* o->experts > 0: moe, else llama */
int gen_unet(struct gen *g, const struct gen_opt *o);
int gen_dlrm(struct gen *g, const struct gen_opt *o);
int gen_train(struct gen *g, const struct gen_opt *o);
int gen_seq2seq(struct gen *g, const struct gen_opt *o);
int gen_detector(struct gen *g, const struct gen_opt *o);
int gen_resnet(struct gen *g, const struct gen_opt *o);
int gen_inception(struct gen *g, const struct gen_opt *o);
int gen_star(struct gen *g, const struct gen_opt *o);
int gen_ladder(struct gen *g, const struct gen_opt *o);
int gen_dense(struct gen *g, const struct gen_opt *o);

/* ---- workload.c ---- */

/* Writes a workload, a profiled graph as JSON, to o->out.  none: not used, NULL.  Returns 0; or prints an error and
 * returns -1. */
int gen_random_layers(struct gen *none, const struct gen_opt *o);

/* ---- write.c ---- */

/* Writes the model to `path` ("-": to standard output), and with GEN_EXTERNAL the weights to `weights_path`.  Both
 * are first written to temporary files beside the final ones, and renamed when both are complete.  A file that is
 * replaced must be a regular one.  Returns 0; or prints an error and returns -1. */
int gen_write(const struct gen *g, const Onnx__ModelProto *m, const char *path,
              const char *weights_path);

/* Writes the text file o->out with the function write_to, which returns 0, or -1 and errno; uses a temporary file in
 * the same way.  Returns 0; or prints an error and returns -1. */
int gen_write_text(const struct gen_opt *o, int (*write_to)(FILE *, const struct gen_opt *));

/* Returns the next random number of a stream (splitmix64) and advances its state. */
uint64_t gen_random(uint64_t *state);

#endif
