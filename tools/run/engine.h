/* The interface of engines, which run parts of a split: ONNX Runtime (ort.c), and a stub for tests (stub.c).
 *
 *     struct engine *e = engine_open(&choice, a, d);        closed with a
 *     struct loaded *p = e->face->load(e, &how, &err);      one session
 *     e->face->run(p, &call, &err)                          as often as wanted
 *     e->face->unload(p);
 * A call that fails returns NULL or -1 and leaves one line in the struct engine_error that its caller passes.
 * Different parts may be loaded and run by different threads at the same time; one part by one thread at a time, but
 * for terminate(). */
#ifndef PCC_TOOLS_RUN_ENGINE_H
#define PCC_TOOLS_RUN_ENGINE_H

#include "ir/base/arena.h"
#include "ir/base/diag.h"

enum { ENGINE_AXES = 64 }; /* number of axes of a tensor, at most */

/* The reason why a call failed: one line, as the engine says it. */
struct engine_error {
    char line[400];
};

/* Which engine the user wants. */
struct engine_choice {
    const char *engine; /* "onnxruntime", or "stub" with its settings (stub.c); NULL: onnxruntime */
    const char *library; /* the file of ONNX Runtime; NULL: where it is usually found */
};

/* A GPU that runs a part by CUDA. */
struct engine_gpu {
    int number;     /* the GPU's number in CUDA's count */
    int64_t memory; /* the most bytes that the session's arena may take on the GPU; -1: no limit */
    bool tf32;      /* products of f32 are computed in TF32 */
};

/* How a part is loaded. */
struct engine_load {
    const char *path; /* the ONNX file */
    int threads;      /* the most threads that one operator may use, >= 1 */
    bool optimise;    /* all optimisations; false: none, and nodes keep their names */
    /* beginning of the name of the file for times of nodes; NULL: none are taken */
    const char *profile;
    const char *node_memory; /* file for the bytes that nodes work in; NULL: not asked for */
    const char *data;        /* folder of the model's external data; NULL: the folder of `path` */
    /* [nnode] names of the part's nodes, which the stub makes its times from */
    const char *const *node;
    size_t nnode;
    const struct engine_gpu *gpu; /* the GPU that runs the part; NULL: the CPU does */
};

/* A value: a tensor, a sequence, a map or an optional value.  Its maker frees it with value_free(). */
struct engine_value;
/* A part that is loaded. */
struct loaded;

/* One run of a part. */
struct engine_call {
    const char *const *in_name; /* [nin] names of inputs */
    struct engine_value *const *in;
    size_t nin;
    const char *const *out_name; /* [nout] names of outputs */
    /* [nout] NULL: run() sets the entry to a new value, perhaps also if it fails; else a tensor of the output's type
     * and sizes, into which run() writes */
    struct engine_value **out;
    /* [nout] bytes that each output is expected to take, -1: not known; NULL: not known of any */
    const int64_t *out_bytes;
    size_t nout;
};

/* Sizes of an arena: total bytes that it has taken from the system, and the most bytes that values had in it at
 * once. */
struct engine_arena {
    int64_t total, peak;
};

/* Type and shape of a tensor: element type, as ONNX numbers them, and sizes. */
struct engine_shape {
    int elem;
    size_t rank;
    const int64_t *size; /* [rank] */
};

struct engine;

/* The calls of an engine. */
struct engine_face {
    const char *name; /* name of the engine: "onnxruntime", "stub" */
    void (*close)(struct engine *e);
    struct loaded *(*load)(struct engine *e, const struct engine_load *how,
                           struct engine_error *err);
    void (*unload)(struct loaded *p);
    int (*run)(struct loaded *p, const struct engine_call *c, struct engine_error *err);
    /* Ends a run of p that is under way with an error, and lets all later runs of p fail; any thread may call it. */
    void (*terminate)(struct loaded *p);
    /* Stops taking times of nodes.  Writes to *path, in a, the path of the file with the times: a trace as ONNX
     * Runtime's profiler writes it. */
    int (*profile)(struct loaded *p, const char **path, struct arena *a, struct engine_error *err);
    /* Writes the sizes of the arena of p's session to *out.  Returns 0; -1: the engine cannot tell. */
    int (*arena)(struct loaded *p, struct engine_arena *out);
    /* Returns a tensor of zeros; of strings: of empty ones.  Once a part is loaded for a GPU its memory is pinned, so
     * that copies to and from GPUs need no other buffer. */
    struct engine_value *(*value_new)(struct engine *e, const struct engine_shape *shape,
                                      struct engine_error *err);
    /* Writes type and shape of a tensor of plain numbers to *s, its sizes to size[ENGINE_AXES].  Returns 0; -1: v is no
     * such tensor. */
    int (*value_shape)(struct engine *e, const struct engine_value *v, struct engine_shape *s,
                       int64_t *size);
    /* Returns the address of a tensor's elements; NULL: it has none that can be shown. */
    void *(*value_data)(struct engine *e, struct engine_value *v);
    /* Sets the elements of a tensor of strings. */
    int (*value_strings)(struct engine *e, struct engine_value *v, const char *const *text,
                         size_t n, struct engine_error *err);
    /* Writes to *n the number of values of a sequence; of a map 2, its keys and its values.  Writes to *map, unless
     * that is NULL, whether v is a map.  Returns 0; -1: v is neither. */
    int (*value_count)(struct engine *e, const struct engine_value *v, size_t *n, bool *map);
    /* Returns value number i of a sequence or a map, which the caller frees; NULL after an error. */
    struct engine_value *(*value_item)(struct engine *e, const struct engine_value *v, size_t i);
    /* Returns a sequence of n values; or a map (n is 2: item[0] has its keys, item[1] its values).  The caller still
     * frees item[].  Returns NULL after an error. */
    struct engine_value *(*value_join)(struct engine *e, struct engine_value *const *item, size_t n,
                                       bool map, struct engine_error *err);
    /* Returns a tensor of strings as bytes: its sizes (int64_t each), then for each element where it begins in the text
     * behind (size_t), then that text: all elements, with nothing between them.  Equal bytes mean equal tensors.
     * Writes the number of bytes to *n, and the number of sizes to *rank unless rank is NULL.  The caller frees the
     * bytes by free().  Returns NULL if v is no such tensor, or after a failure. */
    unsigned char *(*value_texts)(struct engine *e, const struct engine_value *v, size_t *rank,
                                  size_t *n);
    void (*value_free)(struct engine *e, struct engine_value *v);
    /* Returns the processor time, ps, that this thread has spent so far: a run took the difference of two such times.
     * With the stub it is the time that its parts pretend to take. */
    int64_t (*spent)(const struct engine *e);
};

/* The first fields of an engine; each kind of engine adds its own fields behind. */
struct engine {
    const struct engine_face *face;
    const char *version; /* version of the library, for reports */
    const char *library; /* path of the library's file; "": there is none, as for the stub */
};

/* Returns the engine of a choice, in a, closed with a; NULL after an error, which says what to do. */
struct engine *engine_open(const struct engine_choice *choice, struct arena *a, struct diag *d);
/* Opens ONNX Runtime from this file; NULL: from where it is usually found.  Returns NULL after an error. */
struct engine *ort_open(const char *library, struct arena *a, struct diag *d);
/* Opens the stub with the settings behind "stub:".  Returns NULL after an error. */
struct engine *stub_open(const char *text, struct arena *a, struct diag *d);

/* Returns the settings of a session in words, for reports: "threads 1", "optimisations all", ...; "" after the last
 * one.  i: 0, 1, ...; lives in a. */
const char *engine_setting(const struct engine_load *how, size_t i, struct arena *a);
/* Notes, if the user wants details, the engine with its library, and the settings of its sessions. */
void engine_tell(const struct engine *e, const struct engine_load *how, struct arena *a,
                 struct diag *d);

#endif
