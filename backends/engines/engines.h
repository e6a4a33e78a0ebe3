/* Makes the files that engines read, for a split folder: --for=ENGINE.
 *
 * An engine is a program or library of the user's that runs models.  The files that an engine reads beside the
 * parts are called its *export* here.  An export is made of the folder alone: of its manifest and the files that
 * the manifest lists, never of the plan in memory. So an old folder gets the same files as a new one. */
#ifndef PCC_BACKENDS_ENGINES_ENGINES_H
#define PCC_BACKENDS_ENGINES_ENGINES_H

#include "backends/backends.h"
#include "ir/base/name_table.h"

#include <jansson.h>

/* A split folder to which exports are added. */
struct export_folder {
    const char *name; /* path of the folder, for messages */
    /* path of the folder while it is made under a temporary name; else the same as name */
    const char *at;
    int from;         /* descriptor of the folder that has the parts */
    int to;           /* descriptor of the folder in which files are made; may be `from` */
    const char *text; /* [size] content of manifest.json */
    size_t size;      /* bytes */
    /* manifest.json, parsed and checked by export_read(); a state that devices keep in pieces is listed as its
     * pieces (ir/plan/state_pieces.h) */
    json_t *manifest;
    struct names device; /* name of a device -> 1 + its row in "devices" */
    struct names gpu;    /* device that is a GPU -> 1 + its number (gpus_number()) */
    const struct export_options *o;
    read_model_fn *read_model; /* reads models of the folder; NULL: the caller has no reader */
    struct arena *a;
    struct diag *diag;
    /* [nfile] files that the current engine's export has, as paths in the folder */
    const char **file;
    uint32_t nfile, capfile;
    uint32_t nmade; /* number of files of all exports together */
    /* set by export_write(): text of a manifest that lists the files of the new exports and of the exports that they
     * replace */
    const char *both;
};

/* What an engine's files do with states of which each device keeps a piece ("sharding" of the manifest). */
enum engine_pieces {
    PIECES_REFUSED, /* the engine cannot run such splits */
    PIECES_SHOWN,   /* users of the engine's files give and take the pieces */
    PIECES_JOINED   /* users of the engine's files give and take whole tensors */
};

/* An engine. */
struct engine_kind {
    const char *name; /* word for --for */
    /* programs and versions that have read its exports, for readers of the manifest */
    const char *verified_with;
    /* each part needs its weights in a file of its own: pcc writes such files, unless --weights says otherwise */
    bool apart;
    /* ps that a part costs its device beside computing, as tools/bench/part_cost.py measures it (four tensors in and
     * out, a thread of a CPU); 0: it was not measured */
    int64_t part_cost;
    enum engine_pieces pieces;
    /* Checks that the engine can run the split.  Returns 0; or -1 and an error that names the rule, and the tensor,
     * part or device that breaks the rule. */
    int (*check)(const struct export_folder *x);
    /* Makes the export's files in x->to, after all engines' checks.  Returns 0, or -1 and an error. */
    int (*write)(struct export_folder *x);
};

/* A row of the manifest's "exports". */
struct export_row {
    const char *engine; /* name of the engine */
    const char *json;   /* the row's text */
};

/* The words for --for; engine_names[k] is the engine of bit k.  NULL ends the list. */
extern const char *const engine_names[];
/* Returns the largest cost of a part, in ps, that was measured of the engines in `words` (a value of --for), and sets
 * *name to the name of the engine with it; 0: no engine's cost was measured. */
int64_t engines_part_cost(const char *words, const char **name);
/* Whether an engine of the set (bit k: engine_names[k]) needs the weights of each part in a data file of the part's
 * own. */
bool engines_apart(int64_t engines);
/* Warns of options that have no effect on the engines asked for. */
void engines_check_options(const struct export_options *o, struct diag *d);

/* Reads the folder's manifest; x->name, at, from, o, a and diag must be set.  Checks what exports rely on: the form of
 * the manifest's members, that tensors are in "values", and that the files of the parts exist.  Returns 0, or -1 and an
 * error. */
int export_read(struct export_folder *x);
/* Makes in x->to the exports that x->o asks for, and a manifest.json that lists them, which replaces the folder's
 * old one. export_read() must have been called.  Returns 0, or -1 and an error; then the caller removes x->to. */
int export_write(struct export_folder *x);

/* Functions by which engines make files.  Paths are relative to the folder: "triton/gpt/config.pbtxt".  All return 0,
 * or -1 and an error.  export_dir: makes a folder.  export_text, export_bytes: make a file with this text or these
 * bytes.  export_copy: copies the folder's file `file` to the new file `path`. */
int export_dir(struct export_folder *x, const char *path);
int export_text(struct export_folder *x, const char *path, const char *text);
int export_bytes(struct export_folder *x, const char *path, const unsigned char *bytes, size_t n);
int export_copy(struct export_folder *x, const char *file, const char *path);
/* Reads the folder's model `file`, into the arena `of`.  engine: name for the error.  Returns NULL after an error. */
struct module *export_model(const struct export_folder *x, const char *engine, const char *file,
                            struct arena *of);
/* Returns the number of a device among the GPUs of its maker; -1: it is a CPU or an NPU. */
int64_t export_gpu(const struct export_folder *x, const char *device);
/* Checks that the devices of a part are CPUs and GPUs, none of them known to be of another maker than NVIDIA.  engine:
 * name for the error.  Returns 0, or -1 and an error. */
int export_check_devices(const struct export_folder *x, const char *engine, const json_t *part);

/* Returns the first file of weights that parts share; NULL: each part has its weights in its own files. */
const char *export_shared_weights(const struct export_folder *x);

/* The bytes of tools/python/pcc/run_openvino.py, hetero.py and ray_split.py, and of tools/web/index.html and run.mjs;
 * the build makes these arrays. */
extern const unsigned char run_openvino_text[], hetero_text[], ray_split_text[], web_page_text[],
    web_run_text[];
extern const size_t run_openvino_size, hetero_size, ray_split_size, web_page_size, web_run_size;

/* Returns the manifest `text`, in a, with rows[n] added to its list "exports"; older rows about the same engines are
 * removed.  path: of the manifest, for errors.  NULL after an error. */
const char *exports_put(const char *text, const char *path, const struct export_row *rows,
                        uint32_t n, struct arena *a, struct diag *d);

/* Hashes of the files of a part (ir/base/sha256.h). */
struct part_hashes {
    /* file: hash of the part's model file; data: hash of its data file, NULL: it has none */
    const char *file, *data;
};

/* Returns the manifest `text`, in a, with new hashes in place of its old ones: part k gets of[k] as "sha256" and
 * "data_sha256"; the object "weights" gets the list `weights`, text of JSON, as "sha256" (NULL: it gets none).
 * path: of the manifest, for errors.  NULL after an error. */
const char *hashes_put(const char *text, const char *path, const struct part_hashes *of,
                       const char *weights, struct arena *a, struct diag *d);

#endif
