/* Shared parts of pcc-gen: options, the graph builder (build.c), layers that several models use (layers.c), the models
 * (gpt.c, bert.c, llama.c, unet.c, dlrm.c, train.c, seq2seq.c, detector.c, models.c), workloads (workload.c) and the
 * streaming writer (write.c).
 *
 * Weights are never held in memory. A weight is a row of `gen.weights` (element count, mean,
 * spread, key); its TensorProto carries the true byte length and a marker pointer into an
 * inaccessible address range, and the writer produces the bytes when protobuf-c hands it that
 * pointer. All other memory lives in one arena that is freed at the end. */
#ifndef PCC_TOOLS_GEN_H
#define PCC_TOOLS_GEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "onnx.pb-c.h"

enum {
    GEN_MAX_STAGES = 8,    /* entries of --blocks a,b,c */
    GEN_EXTERN_MIN = 1024, /* smaller initializers stay inline */
    GEN_ALIGN = 4096,      /* of every tensor in the weights file */
    GEN_MAX_EXPERTS = 1024,
    GEN_MAX_TABLES = 1024,
    GEN_OPSET = 20,
    GEN_IR = 10,
    GEN_F32 = ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT,
    GEN_I64 = ONNX__TENSOR_PROTO__DATA_TYPE__INT64
};

/* Where initializers of at least GEN_EXTERN_MIN bytes go. */
enum gen_mode {
    GEN_INLINE,   /* into the model file */
    GEN_EXTERNAL, /* into <stem>.weights */
    GEN_NONE      /* nowhere: the model refers to <stem>.weights, which is not written */
};

struct gen_list {
    int n;
    int64_t v[GEN_MAX_STAGES];
};

/* Command line, after defaults. */
struct gen_opt {
    const char *out;
    int64_t layers, width, heads, vocab, seq, depth, size, classes, nodes, seed, blocks;
    int64_t kv_heads, ffn, experts, topk, levels, tables, rows, features, bag, boxes;
    int64_t devices;
    struct gen_list stages; /* resnet --blocks; n == 0: from depth */
    bool kv, untied, no_weights, external;
};

/* Random weight: `count` float32, uniform with this mean and standard deviation. */
struct gen_weight {
    uint64_t key; /* seed of its own stream, from --seed and the name */
    uint64_t count;
    uint64_t offset; /* in the weights file; unused when inline */
    bool external;
    float mean, std;
};

/* A dimension: a name when `param` is set, else a number. */
struct gen_dim {
    int64_t value;
    const char *param;
};

struct gen_chunk;

/* Growing array of pointers, handed to protobuf-c at the end. */
struct gen_ptrs {
    void **v;
    size_t n, cap;
};

struct gen {
    enum gen_mode mode;
    uint64_t seed;
    const char *location; /* base name of the weights file */
    const char *scope;    /* prefix of node names */
    struct gen_chunk *chunks;
    struct gen_ptrs nodes, inits, inputs, outputs;
    struct gen_weight *weights;
    size_t nweights, weights_cap;
    uint64_t external_end; /* size of the weights file so far */
    uint8_t *marker;       /* inaccessible range: marker + i stands for the bytes of weight i */
    size_t marker_size;
    Onnx__NodeProto *last; /* node that gen_attr_* and gen_rename act on */
};

/* ---- build.c. Running out of memory ends the program with one line and exit code 1. ---- */

/* Starts an empty model. `location` and the returned strings live as long as `g`. */
void gen_open(struct gen *g, enum gen_mode mode, int64_t seed, const char *location);
void gen_close(struct gen *g);

/* Formatted string owned by `g`. */
char *gen_str(struct gen *g, const char *fmt, ...)
    __attribute__((format(printf, 2, 3), nonnull(2)));
/* Sets the prefix of node names, e.g. "/h.3". */
void gen_scope(struct gen *g, const char *scope);

/* Adds a node called scope + path, where the last component of `path` is the operator plus an
 * optional "_N": "/attn/Reshape_1". Returns the value it makes, "<name>_output_0". */
const char *gen_node(struct gen *g, const char *path, int nin, const char *const in[]);
const char *gen_op1(struct gen *g, const char *path, const char *a);
const char *gen_op2(struct gen *g, const char *path, const char *a, const char *b);
const char *gen_op3(struct gen *g, const char *path, const char *a, const char *b, const char *c);
/* One more output of the last node: "<name>_output_N". */
const char *gen_more(struct gen *g);
/* Renames output 0 of the last node, before anything reads it. */
const char *gen_rename(struct gen *g, const char *name);

void gen_attr_i(struct gen *g, const char *name, int64_t v);
void gen_attr_f(struct gen *g, const char *name, float v);
void gen_attr_s(struct gen *g, const char *name, const char *v);
void gen_attr_ints(struct gen *g, const char *name, int n, const int64_t v[]);

/* Random float initializer; returns its name. */
const char *gen_weight(struct gen *g, const char *name, int rank, const int64_t dims[], double mean,
                       double std);
/* Constant initializers; gen_ints with rank 0 is a scalar (n is 1), with rank 1 a list. */
const char *gen_float(struct gen *g, const char *name, float v);
const char *gen_floats(struct gen *g, const char *name, int n, const float v[]);
const char *gen_ints(struct gen *g, const char *name, int rank, int n, const int64_t v[]);

void gen_input(struct gen *g, const char *name, int type, int rank, const struct gen_dim dims[]);
void gen_output(struct gen *g, const char *name, int type, int rank, const struct gen_dim dims[]);

/* The finished model: shares everything with `g`. */
Onnx__ModelProto *gen_model(struct gen *g, const char *name);

/* ---- layers.c. `path` is the module's, without operator, e.g. "/attn/q"; parameters are called
 * <param>.weight and <param>.bias. ---- */

/* Shapes and scale of attention over [batch, sequence, heads * dim]. */
struct gen_heads {
    int64_t heads, dim;
    const char *split; /* shape for [B,S,W] -> [B,S,H,D] */
    const char *merge; /* and back */
    const char *scale; /* sqrt(dim) */
};

/* Causal attention: positions of the new tokens, and the mask of earlier tokens for each. */
struct gen_causal {
    const char *rows; /* int64 [sequence]: past .. total */
    const char *mask; /* bool [sequence, total] */
};

/* x W + b with weights of that standard deviation; without bias, x W. */
struct gen_linear {
    int64_t in, out;
    double std;
    bool bias;
};

/* Nodes <path>/MatMul and, with a bias, <path>/Add. */
const char *gen_linear(struct gen *g, const char *path, const char *param, const char *x,
                       struct gen_linear l);
const char *gen_layer_norm(struct gen *g, const char *path, const char *param, const char *x,
                           int64_t width);
const char *gen_transpose(struct gen *g, const char *path, const char *x, int rank,
                          const int64_t perm[]);
const char *gen_concat(struct gen *g, const char *path, int64_t axis, int n,
                       const char *const in[]);
/* x sigmoid(x): nodes <path>/Sigmoid and <path>/Mul. */
const char *gen_silu(struct gen *g, const char *path, const char *x);
/* Sum or mean over `axes`, the name of an int64 list. */
const char *gen_reduce(struct gen *g, const char *path, const char *x, const char *axes, bool keep);
struct gen_heads gen_heads(struct gen *g, int64_t heads, int64_t dim);
/* [B,S,W] -> [B,H,S,D], or [B,H,D,S] when `keys`. */
const char *gen_split_heads(struct gen *g, const char *path, const struct gen_heads *h,
                            const char *x, bool keys);
/* Self-attention of x [B,S,W] with q, k, v and out projections; `mask` is added to the scores
 * unless NULL. */
const char *gen_attention(struct gen *g, const char *path, const char *param,
                          const struct gen_heads *h, const char *x, const char *mask);
/* A convolution with "same" padding and a square kernel; `gain` on He weights. */
struct gen_conv {
    int64_t in, out, kernel, stride;
    double gain;
};

/* Node <path>/Conv with parameters <param>.weight and .bias. */
const char *gen_conv(struct gen *g, const char *path, const char *param, const char *x,
                     struct gen_conv c);
/* 3x3 pooling with padding 1. */
const char *gen_max_pool(struct gen *g, const char *path, const char *x, int64_t stride);
/* From the shape of input_ids and, unless NULL, of a cached [B,H,past,D]. */
struct gen_causal gen_causal(struct gen *g, const char *cached);
/* --width must be a multiple of --heads times `factor`; -1 after one line if it is not. */
int gen_check_heads(const struct gen_opt *o, int64_t factor);

/* ---- models: 0, or -1 after one line on stderr ---- */

int gen_gpt(struct gen *g, const struct gen_opt *o);
int gen_bert(struct gen *g, const struct gen_opt *o);
int gen_llama(struct gen *g, const struct gen_opt *o); /* a mixture of experts if o->experts > 0 */
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

/* ---- workload.c: a profiled graph as JSON, not a model: `none` is NULL, o->out is
 * written. 0, or -1 after one line on stderr ---- */

int gen_random_layers(struct gen *none, const struct gen_opt *o);

/* ---- write.c ---- */

/* Writes the model to `path`, and with GEN_EXTERNAL the weights to `weights_path`, each through a
 * temporary file in the same folder that is renamed once both are complete. A target that exists
 * must be a regular file. 0, or -1 after one line on stderr. */
int gen_write(const struct gen *g, const Onnx__ModelProto *m, const char *path,
              const char *weights_path);

/* The text file o->out, by write_to (0, or -1 and errno), by way of a temporary file as above. */
int gen_write_text(const struct gen_opt *o, int (*write_to)(FILE *, const struct gen_opt *));

/* The next number of a stream (splitmix64). */
uint64_t gen_random(uint64_t *state);

#endif
