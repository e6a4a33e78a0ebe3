/* The program pcc-gen: writes synthetic ONNX models and workloads, from a seed, for tests and measurements.
 *
 *   pcc-gen SHAPE -o FILE [options]
 *
 * The graph is built as protobuf-c structs and then streamed to the file; weights are computed while they are
 * written, so the memory needed depends on the number of nodes only.  Equal options give equal bytes.  This file
 * parses the command line and prints --help, both by the tables shapes[] and rows[].  Exit codes: 0 done, 1 the file
 * could not be written, 2 wrong usage. */
#include "tools/gen/gen.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Shapes (kinds of graphs), as bits; MODELS: all ONNX models, ALL: the workload, too. */
enum {
    GPT = 1,
    RESNET = 2,
    INCEPTION = 4,
    STAR = 8,
    LADDER = 16,
    DENSE = 32,
    BERT = 64,
    LLAMA = 128,
    MOE = 256,
    UNET = 512,
    DLRM = 1024,
    TRAIN = 2048,
    SEQ2SEQ = 4096,
    DETECTOR = 8192,
    RANDOM_LAYERS = 16384,
    MODELS = 16383,
    ALL = 32767
};

/* The shapes: word on the command line, bit, function that makes it, help text. */
static const struct shape {
    const char *name;
    unsigned bit;
    /* builds the model; for a workload, writes its file, and struct gen is NULL */
    int (*make)(struct gen *, const struct gen_opt *);
    const char *help;
} shapes[] = {
    {"gpt", GPT, gen_gpt,
     "pre-norm decoder, input_ids [batch, sequence] -> logits;\n"
     "             nodes: 32*layers + 12 (34*layers + 15 with --kv; 1 less with --untied)"},
    {"bert", BERT, gen_bert,
     "post-norm encoder, input_ids, attention_mask, token_type_ids -> last_hidden_state,\n"
     "             pooler_output; nodes: 34*layers + 17"},
    {"llama", LLAMA, gen_llama,
     "decoder with RMSNorm, rotary embeddings, grouped queries, SwiGLU; input_ids -> logits;\n"
     "             nodes: 58*layers + 21 (60*layers + 24 with --kv; 6*layers less without groups)"},
    {"moe", MOE, gen_llama,
     "llama with a mixture of experts, chosen by top-k, in each layer;\n"
     "             nodes: (58 + 10*experts)*layers + 21, else as llama"},
    {"unet", UNET, gen_unet,
     "denoising U-Net with skips and attention, sample, timestep -> output"},
    {"dlrm", DLRM, gen_dlrm,
     "recommendation model, dense, indices.N -> output;\n"
     "             nodes: 3*tables + 6*layers + 7"},
    {"train", TRAIN, gen_train,
     "forward, backward and SGD of a decoder: input_ids, labels, learning_rate -> loss,\n"
     "             and P_grad, P_update, P_new for each parameter P; nodes: 157*layers + 56"},
    {"encoder-decoder", SEQ2SEQ, gen_seq2seq,
     "\n             transformer, input_ids, attention_mask, decoder_input_ids -> logits; shapes of\n"
     "             every Reshape made on the spot; nodes: 176*layers + 46"},
    {"detector", DETECTOR, gen_detector,
     "one image -> boxes, scores, labels, masks: backbone, feature pyramid, heads on each level,\n"
     "             a branch with NonMaxSuppression for each class, RoiAlign on each level;\n"
     "             nodes: (5*layers + 28)*levels + 18*classes + 54"},
    {"resnet", RESNET, gen_resnet, "torchvision-style residual network, input -> output"},
    {"inception", INCEPTION, gen_inception, "blocks of four parallel branches, 14 nodes each"},
    {"star", STAR, gen_star, "one value read by nodes-1 consumers, all of them outputs"},
    {"ladder", LADDER, gen_ladder, "two chains of nodes/3 steps with an Add between them"},
    {"dense", DENSE, gen_dense, "layers of MatMul, Add, Relu; 4*layers*width^2 weight bytes"},
    {"random-layers", RANDOM_LAYERS, gen_random_layers,
     "a workload (JSON with times), not a model: layers of `width` nodes, each reading one or two\n"
     "             of the layer before, 0.001 to 1 ms, CPU 10 times that, transfers 0 to 0.3 ms"},
};

/* Kinds of values of options: a number, numbers with commas, no value, a path, an element type, an activation. */
enum kind { KIND_INT, KIND_LIST, KIND_FLAG, KIND_FILE, KIND_DTYPE, KIND_ACTIVATION };

/* The options.  A name may have several rows, for different shapes. */
static const struct row {
    const char *name;
    unsigned mask; /* bits of the shapes that have the option */
    enum kind kind;
    size_t off;          /* offset of the option's field in struct gen_opt */
    int64_t def, lo, hi; /* of numbers: default, least and largest value */
    const char *help;
} rows[] = {
#define AT(f) offsetof(struct gen_opt, f)
    {"-o", ALL, KIND_FILE, AT(out), 0, 0, 0, "the file to write; -: standard output"},
    {"--layers", GPT, KIND_INT, AT(layers), 12, 1, 1000000, "decoder layers"},
    {"--layers", DENSE, KIND_INT, AT(layers), 12, 1, 1000000, "dense layers"},
    {"--layers", BERT, KIND_INT, AT(layers), 12, 1, 1000000, "encoder layers"},
    {"--layers", LLAMA, KIND_INT, AT(layers), 32, 1, 1000000, "decoder layers"},
    {"--layers", MOE, KIND_INT, AT(layers), 4, 1, 100000, "decoder layers"},
    {"--layers", UNET, KIND_INT, AT(layers), 2, 1, 64, "residual blocks per level and direction"},
    {"--layers", DLRM, KIND_INT, AT(layers), 3, 1, 1000, "layers of each MLP"},
    {"--layers", TRAIN, KIND_INT, AT(layers), 2, 1, 100000, "decoder layers"},
    {"--layers", SEQ2SEQ, KIND_INT, AT(layers), 6, 1, 100000, "layers of each side"},
    {"--layers", DETECTOR, KIND_INT, AT(layers), 2, 1, 100000, "residual blocks per level"},
    {"--width", GPT, KIND_INT, AT(width), 768, 1, 131072, "hidden size, a multiple of heads"},
    {"--width", RESNET, KIND_INT, AT(width), 64, 1, 4096, "channels of the first stage"},
    {"--width", INCEPTION, KIND_INT, AT(width), 64, 1, 4096, "channels of a branch"},
    {"--width", DENSE, KIND_INT, AT(width), 1024, 1, 131072, "features"},
    {"--width", BERT, KIND_INT, AT(width), 768, 1, 131072, "hidden size, a multiple of heads"},
    {"--width", LLAMA, KIND_INT, AT(width), 4096, 2, 131072, "hidden size, a multiple of 2*heads"},
    {"--width", MOE, KIND_INT, AT(width), 512, 2, 131072, "hidden size, a multiple of 2*heads"},
    {"--width", UNET, KIND_INT, AT(width), 64, 2, 4096, "channels of the first level"},
    {"--width", DLRM, KIND_INT, AT(width), 64, 1, 131072, "of an embedding"},
    {"--width", TRAIN, KIND_INT, AT(width), 128, 1, 131072, "hidden size, a multiple of heads"},
    {"--width", SEQ2SEQ, KIND_INT, AT(width), 512, 1, 131072, "hidden size, a multiple of heads"},
    {"--width", DETECTOR, KIND_INT, AT(width), 64, 1, 4096, "channels of the first level"},
    {"--heads", GPT, KIND_INT, AT(heads), 12, 1, 131072, "attention heads"},
    {"--heads", BERT, KIND_INT, AT(heads), 12, 1, 131072, "attention heads"},
    {"--heads", LLAMA, KIND_INT, AT(heads), 32, 1, 65536, "query heads"},
    {"--heads", MOE, KIND_INT, AT(heads), 8, 1, 65536, "query heads"},
    {"--heads", UNET | TRAIN, KIND_INT, AT(heads), 4, 1, 131072, "attention heads"},
    {"--heads", SEQ2SEQ, KIND_INT, AT(heads), 8, 1, 131072, "attention heads"},
    {"--kv-heads", LLAMA, KIND_INT, AT(kv_heads), 8, 1, 65536, "key and value heads"},
    {"--kv-heads", MOE, KIND_INT, AT(kv_heads), 4, 1, 65536, "key and value heads"},
    {"--ffn", BERT | TRAIN | SEQ2SEQ, KIND_INT, AT(ffn), 0, 0, 1048576, "inner width, 0: 4*width"},
    {"--ffn", LLAMA, KIND_INT, AT(ffn), 14336, 1, 1048576, "inner width"},
    {"--ffn", MOE, KIND_INT, AT(ffn), 1024, 1, 1048576, "inner width of an expert"},
    {"--ffn", DLRM, KIND_INT, AT(ffn), 512, 1, 1048576, "inner width of the MLPs"},
    {"--experts", MOE, KIND_INT, AT(experts), 8, 1, GEN_MAX_EXPERTS, "experts per layer"},
    {"--top-k", MOE, KIND_INT, AT(topk), 2, 1, GEN_MAX_EXPERTS, "experts per token"},
    {"--vocab", GPT, KIND_INT, AT(vocab), 50257, 1, 16777216, "tokens"},
    {"--vocab", BERT, KIND_INT, AT(vocab), 30522, 1, 16777216, "tokens"},
    {"--vocab", LLAMA, KIND_INT, AT(vocab), 32000, 1, 16777216, "tokens"},
    {"--vocab", MOE, KIND_INT, AT(vocab), 8192, 1, 16777216, "tokens"},
    {"--vocab", TRAIN, KIND_INT, AT(vocab), 1024, 1, 16777216, "tokens"},
    {"--vocab", SEQ2SEQ, KIND_INT, AT(vocab), 32128, 1, 16777216, "tokens"},
    {"--tables", DLRM, KIND_INT, AT(tables), 26, 1, GEN_MAX_TABLES, "embedding tables"},
    {"--rows", DLRM, KIND_INT, AT(rows), 10000, 1, 1073741824, "rows of a table"},
    {"--features", DLRM, KIND_INT, AT(features), 13, 1, 1048576, "dense features"},
    {"--bag", DLRM, KIND_INT, AT(bag), 4, 1, 65536, "rows of a table that are summed"},
    {"--levels", UNET, KIND_INT, AT(levels), 3, 1, 8, "sizes, each half the one before"},
    {"--levels", DETECTOR, KIND_INT, AT(levels), 5, 1, 8, "sizes, each half the one before"},
    {"--boxes", DETECTOR, KIND_INT, AT(boxes), 100, 1, 100000, "boxes that are found"},
    {"--seq", GPT, KIND_INT, AT(seq), 0, 0, 16777216, "fixed sequence length, 0: symbolic"},
    {"--kv", GPT | LLAMA | MOE, KIND_FLAG, AT(has.kv), 0, 0, 0,
     "past_key_values inputs, present outputs"},
    {"--activation", GPT | BERT, KIND_ACTIVATION, AT(activation), 0, 0, 0,
     "of the MLP: erf (gelu of five operators), gelu (of one), tanh (of eight), relu (erf)"},
    {"--adam", TRAIN, KIND_FLAG, AT(has.adam), 0, 0, 0,
     "Adam, with P_m and P_v for each parameter P and a count of steps, not SGD;\n"
     "                then 349*layers + 122 nodes"},
    {"--mlm", BERT, KIND_FLAG, AT(has.mlm), 0, 0, 0, "head over the vocabulary: prediction_logits"},
    {"--untied", GPT, KIND_FLAG, AT(has.untied), 0, 0, 0, "head with its own matrix, not wte"},
    {"--depth", RESNET, KIND_INT, AT(depth), 50, 0, 1000, "18, 34, 50, 101 or 152"},
    {"--blocks", RESNET, KIND_LIST, AT(stages), 0, 1, 100000,
     "a,b,..: bottleneck blocks per stage, instead of --depth; at most 8 stages"},
    {"--blocks", INCEPTION, KIND_INT, AT(blocks), 9, 1, 1000000, "blocks"},
    {"--size", RESNET | INCEPTION, KIND_INT, AT(size), 224, 32, 65536, "height and width"},
    {"--size", DETECTOR, KIND_INT, AT(size), 512, 8, 65536,
     "height and width, a multiple of 4*2^(levels-1)"},
    {"--size", UNET, KIND_INT, AT(size), 64, 1, 65536, "height and width, halved per level"},
    {"--classes", RESNET | INCEPTION, KIND_INT, AT(classes), 1000, 1, 16777216, "outputs"},
    {"--classes", DETECTOR, KIND_INT, AT(classes), 80, 1, 65536, "classes"},
    {"--nodes", STAR, KIND_INT, AT(nodes), 100000, 2, 10000000, "nodes in all"},
    {"--nodes", LADDER, KIND_INT, AT(nodes), 100000, 3, 10000000, "nodes in all"},
    {"--nodes", RANDOM_LAYERS, KIND_INT, AT(nodes), 1000, 1, 10000000, "nodes in all"},
    {"--width", RANDOM_LAYERS, KIND_INT, AT(width), 8, 1, 1000000, "nodes of a layer"},
    {"--devices", RANDOM_LAYERS, KIND_INT, AT(devices), 8, 1, 1000, "accelerators, beside one CPU"},
    {"--seed", ALL, KIND_INT, AT(seed), 1, 0, INT64_MAX, "seed of the weights, or of the workload"},
    {"--no-weights", MODELS, KIND_FLAG, AT(has.no_weights), 0, 0, 0,
     "initializers of 1 KiB and more refer to <FILE stem>.weights, which is not written"},
    {"--external", MODELS, KIND_FLAG, AT(has.external), 0, 0, 0, "the same, and it is written"},
    {"--dtype", MODELS, KIND_DTYPE, 0, 0, 0, 0, "f32, the only element type so far"},
#undef AT
};

#define COUNT(a) (sizeof(a) / sizeof *(a))

/* Prints an error in usage: what is wrong, and the argument.  Returns -1. */
static int usage_error(const char *what, const char *arg)
{
    fprintf(stderr, "pcc-gen: %s '%s'; see pcc-gen --help\n", what, arg);
    return -1;
}

/* Returns the field of an option in *o. */
static void *field(struct gen_opt *o, const struct row *r)
{
    return (char *)o + r->off;
}

/* Sets the numbers among the options of a shape (a bit) to their defaults. */
static void set_defaults(struct gen_opt *o, unsigned shape)
{
    for (size_t i = 0; i < COUNT(rows); i++)
        if (rows[i].kind == KIND_INT && (rows[i].mask & shape) != 0)
            *(int64_t *)field(o, &rows[i]) = rows[i].def;
}

/* Reads the number at s, which must be within the row's bounds, into *out, and sets *end behind it.  Returns 0; or
 * prints an error and returns -1. */
static int read_int(const struct row *r, const char *s, const char **end, int64_t *out)
{
    char *stop;

    errno = 0;
    long long v = strtoll(s, &stop, 10);
    if (stop == s || errno != 0 || v < r->lo || v > r->hi) {
        fprintf(stderr, "pcc-gen: %s: '%s' is not a number in %lld..%lld\n", r->name, s,
                (long long)r->lo, (long long)r->hi);
        return -1;
    }
    *end = stop;
    *out = v;
    return 0;
}

/* Reads the list of numbers s, "a,b,c", each within the row's bounds, into *out.  Returns 0; or prints an error and
 * returns -1. */
static int read_list(const struct row *r, const char *s, struct gen_list *out)
{
    out->n = 0;
    for (;; s++) {
        if (out->n == GEN_MAX_STAGES)
            return usage_error("too many numbers in", s);
        if (read_int(r, s, &s, &out->v[out->n++]) != 0)
            return -1;
        if (*s == '\0')
            return 0;
        if (*s != ',')
            return usage_error("expected ',' before", s);
    }
}

/* Stores the activation called s in *out.  Returns 0; or prints an error and returns -1. */
static int read_activation(const char *s, enum gen_activation_kind *out)
{
    for (int i = 0; i < GEN_ACTIVATIONS; i++)
        if (strcmp(s, gen_activation_words[i]) == 0) {
            *out = (enum gen_activation_kind)i;
            return 0;
        }
    return usage_error("expected erf, gelu, tanh or relu, not", s);
}

/* Stores the value s of the option r in its field of *o; sets the field of a flag to true, without a look at s.
 * Returns 0; or prints an error and returns -1. */
static int set_value(struct gen_opt *o, const struct row *r, const char *s)
{
    const char *end = "";

    switch (r->kind) {
    case KIND_INT:
        if (read_int(r, s, &end, field(o, r)) != 0)
            return -1;
        return *end != '\0' ? usage_error("unexpected text after a number:", end) : 0;
    case KIND_LIST:
        return read_list(r, s, field(o, r));
    case KIND_FILE:
        *(const char **)field(o, r) = s;
        return *s == '\0' ? usage_error("empty file name", s) : 0;
    case KIND_DTYPE:
        return strcmp(s, "f32") != 0 ? usage_error("element type is not f32:", s) : 0;
    case KIND_ACTIVATION:
        return read_activation(s, field(o, r));
    case KIND_FLAG:
        break;
    }
    *(bool *)field(o, r) = true;
    return 0;
}

/* Returns the row of the option called arg[0 .. len) that a shape (a bit) has; NULL: the shape has no such option. */
static const struct row *find_row(const char *arg, size_t len, unsigned shape)
{
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct row *r = &rows[i];
        if ((r->mask & shape) != 0 && strlen(r->name) == len && memcmp(r->name, arg, len) == 0)
            return r;
    }
    return NULL;
}

/* Reads the options in argv[2 ..] for a shape into *o; "--name value" and "--name=value" are the same.  Returns 0; or
 * prints an error and returns -1. */
static int read_args(struct gen_opt *o, const struct shape *shape, int argc, char **argv)
{
    set_defaults(o, shape->bit);
    for (int i = 2; i < argc; i++) {
        size_t len = strcspn(argv[i], "=");
        const char *value = argv[i][len] == '=' ? argv[i] + len + 1 : NULL;
        const struct row *r = find_row(argv[i], len, shape->bit);
        if (r == NULL) {
            fprintf(stderr, "pcc-gen: %s has no option '%s'; see pcc-gen --help\n", shape->name,
                    argv[i]);
            return -1;
        }
        if (r->kind == KIND_FLAG && value != NULL)
            return usage_error("option takes no value:", argv[i]);
        if (r->kind != KIND_FLAG && value == NULL) {
            if (++i == argc)
                return usage_error("missing value of", r->name);
            value = argv[i];
        }
        if (set_value(o, r, value) != 0)
            return -1;
    }
    if (o->out == NULL)
        return usage_error("missing option", "-o FILE");
    if (o->has.external && o->has.no_weights)
        return usage_error("--external excludes", "--no-weights");
    if (o->has.external && strcmp(o->out, "-") == 0)
        return usage_error("--external needs a file beside which the weights can stand, here is",
                           "-o -");
    return 0;
}

/* Prints the text of --help: the shapes, and each option with the shapes that have it and its default. */
static void print_help(void)
{
    printf("usage: pcc-gen SHAPE -o FILE [options]\n\n"
           "Writes a seeded ONNX model (IR %d, opset %d) or a workload. Equal options give equal "
           "bytes.\n\nshapes:\n",
           GEN_IR, GEN_OPSET);
    for (size_t i = 0; i < COUNT(shapes); i++)
        printf("  %-10s %s\n", shapes[i].name, shapes[i].help);
    printf("\noptions:\n");
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct row *r = &rows[i];
        printf("  %-13s ", r->name);
        /* shapes are named unless all have the option; any: something stands before the colon */
        bool listed = r->mask != ALL && r->mask != MODELS, any = r->mask == MODELS;
        fputs(any ? "models" : "", stdout);
        for (size_t s = 0; s < COUNT(shapes) && listed; s++) {
            if ((r->mask & shapes[s].bit) != 0) {
                printf("%s%s", any ? ", " : "", shapes[s].name);
                any = true;
            }
        }
        printf("%s%s", any ? ": " : "", r->help);
        if (r->kind == KIND_INT)
            printf(" (%lld)", (long long)r->def);
        putchar('\n');
    }
}

/* Returns the name of the weights file for a model at `path`: ".weights" in place of ".onnx", or behind the whole name;
 * with the path of its folder only if `folder` is true.  The caller frees it; NULL: out of memory. */
static char *weights_name(const char *path, bool folder)
{
    const char *slash = strrchr(path, '/');
    const char *start = folder || slash == NULL ? path : slash + 1;
    size_t n = strlen(start);
    char *s = malloc(n + sizeof ".weights");

    if (s == NULL)
        return NULL;
    if (n > 5 && strcmp(start + n - 5, ".onnx") == 0)
        n -= 5;
    memcpy(s, start, n);
    memcpy(s + n, ".weights", sizeof ".weights");
    return s;
}

/* Makes the shape and writes its files.  Returns the exit code of the program. */
static int generate(const struct shape *shape, const struct gen_opt *o)
{
    const enum gen_mode inside = o->has.no_weights ? GEN_NONE : GEN_INLINE;
    const enum gen_mode mode = o->has.external ? GEN_EXTERNAL : inside;
    char *location = weights_name(o->out, /*folder=*/false),
         *path = weights_name(o->out, /*folder=*/true);
    struct gen g;
    int rc = 1;

    if ((shape->bit & MODELS) == 0) {
        rc = shape->make(NULL, o) != 0;
    } else if (location == NULL || path == NULL) {
        fputs("pcc-gen: out of memory\n", stderr);
    } else {
        gen_open(&g, mode, o->seed, location);
        if (shape->make(&g, o) != 0)
            rc = 2;
        else if (gen_write(&g, gen_model(&g, shape->name), o->out, path) == 0)
            rc = 0;
        gen_close(&g);
    }
    free(location);
    free(path);
    return rc;
}

int main(int argc, char **argv)
{
    struct gen_opt o = {0};

    /* writing beyond the limit on file sizes then fails with an error, as on a full disk */
    signal(SIGXFSZ, SIG_IGN);
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            print_help();
            return 0;
        }
    }
    if (argc < 2) {
        usage_error("missing", "SHAPE");
        return 2;
    }
    for (size_t i = 0; i < COUNT(shapes); i++)
        if (strcmp(argv[1], shapes[i].name) == 0)
            return read_args(&o, &shapes[i], argc, argv) != 0 ? 2 : generate(&shapes[i], &o);
    usage_error("unknown shape", argv[1]);
    return 2;
}
