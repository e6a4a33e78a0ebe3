/* Declarations that the files of this folder share; together they write a split folder.
 *
 * The *source* is the model file that is split.  The ONNX messages of the parts are made of the source's messages: a
 * message that changes is copied shallowly into the split's arena; all others are not copied, but pointed to. */
#ifndef PCC_BACKENDS_SPLIT_SPLIT_H
#define PCC_BACKENDS_SPLIT_SPLIT_H

#include "backends/backends.h"
#include "ir/exec/iteration/part_places.h"
#include "ir/plan/parts.h"
#include "ir/plan/schedule.h"
#include "ir/plan/work.h"
#include "ir/base/name_table.h"
#include "backends/onnx/pack.h"

#include "onnx.pb-c.h"

#define WEIGHTS_FILE "weights.data"
#define MODEL_FILE "model.onnx"
#define MANIFEST_FILE "manifest.json"
#define RUNNER_FILE "run_split.py"
#define REPORT_FILE "report.html"
/* Values of split_weights.at[] that are no offsets.  INLINE: the tensor's bytes are in the message of the tensor.
 * SOURCE: the message refers to the file of the source that has the bytes.  OPEN: with WEIGHTS_PARTS, no data file that
 * was made until now has the bytes. */
#define WEIGHT_INLINE UINT64_MAX
#define WEIGHT_SOURCE (UINT64_MAX - 1)
#define WEIGHT_OPEN (UINT64_MAX - 2)
#define IR_DEVICES 11       /* the first IR version with device configurations */
#define CONFIGURATION "pcc" /* name of the model's device configuration */

/* Where a node runs, as its device configuration will say (device_config.c). */
struct station {
    int32_t stage;         /* number of the part that is the node's pipeline stage; -1: none */
    uint32_t ndev, capdev; /* entries of dev[] in use; entries that dev[] has memory for */
    uint32_t *dev;         /* the devices that run the node, each once */
};

/* A message of the source, and the id of what was read from it: a node of the module, 1 + an index in
 * sharding.node, or an index in split_weights.list. */
struct origin {
    const void *src;
    uint32_t id;
};

/* A tensor and the module that it belongs to: the model's, that of a function, or m->aside. */
struct module_tensor {
    const struct module *m;
    tid t;
};

/* A data file of WEIGHTS_PARTS. */
struct data_file {
    const char *name; /* "part0.data" */
    uint64_t size;    /* bytes; 0: the part has no such file */
};

/* A reference to a tensor in the data file that is being made. */
struct open_reference {
    uint32_t t;  /* index in split_weights.list */
    uint64_t at; /* offset of the tensor, set when all tensors of the file are known */
    /* entry of the tensor's message that gets `at` as its value */
    Onnx__StringStringEntryProto *offset;
};

/* What part_data.c keeps with WEIGHTS_PARTS. */
struct split_part_data {
    struct data_file *file; /* [part] its file; [number of parts] WEIGHTS_FILE */
    uint32_t making;        /* index of the file that is being made */
    uint32_t *home; /* [index in list] the first file that has the tensor, if at[] is an offset */
    struct open_reference *open; /* [nopen] all references to the file that is being made */
    uint32_t nopen, capopen;
};

/* All tensors of the model, and where the split has the bytes of each (weights.c). */
struct split_weights {
    bool keep; /* tensors stay as they are in the source, and the other fields are not used */
    enum weights_mode mode; /* where the files that are written now have their weights */
    /* the tensors of the main module, of its functions, and of m->aside; entry 0 is none */
    struct module_tensor *list;
    uint32_t nlist; /* entries of list[] with entry 0 */
    /* the messages of tensors in list[] that were read from a file, ascending by address; origin.id: index in list[] */
    struct origin *origin;
    uint32_t norigin;
    /* [index in list] offset in weights.data (PARTS: in the first data file that has the tensor), or WEIGHT_INLINE, or
     * WEIGHT_SOURCE, or WEIGHT_OPEN */
    uint64_t *at;
    /* a tensor that is no initializer of the main graph lies in another file than the model */
    bool nested;
    bool data;     /* at least one tensor goes into weights.data */
    uint64_t size; /* bytes of weights.data */
    struct split_part_data part_data;
    /* files to whose bytes messages point (pack.h), ascending by address */
    struct mapping *map;
    uint32_t nmap;
    /* [module.file] address that stands for the file's first byte; NULL: none */
    const uint8_t **mapped_at;
};

/* The files of the source that hold weights to which the split refers (sources.c). */
struct split_sources {
    bool beside;         /* the split goes into the folder of the source */
    uint8_t *used;       /* [module.file] 1: the split refers to the file */
    const char **source; /* [module.file] name of the file, or of its copy or link, in the split */
};

/* What device_config.c keeps while it writes device configurations. */
struct split_configs {
    struct station *station; /* [node] its station */
    /* [value] last node that got a sharding spec for the value as an operand; 0: none yet */
    nid *read_by;
};

/* Entries of metadata that all nodes of a part share (annotate.c). */
struct part_entries {
    uint32_t part_number;
    Onnx__StringStringEntryProto *device, *part; /* NULL: not made yet */
};

/* Tables by which part.c finds messages of the source. */
struct split_index {
    /* names of values -> values; a name that several graphs use: the main graph's value */
    struct names values;
    struct names functions;      /* "domain\x1fname\x1foverload" -> index in src->functions */
    Onnx__ValueInfoProto **info; /* [value] its description (type) in the source; NULL: none */
    /* [value] its quantization annotation, or NULL; quant NULL: the source has no annotations */
    Onnx__TensorAnnotation **quant;
    Onnx__NodeProto **node; /* [node] its message in parts; NULL: not made yet */
    uint32_t *in_part; /* [value] number + 1 of the last part made that holds the value; 0: none */
    struct part_entries entries; /* the entries of the last part made */
};

/* A split folder while it is written. */
struct split {
    const struct result *r;        /* the plan and its figures; NULL before planning */
    const struct split_options *o; /* options of the user */
    const struct module *m;        /* the model */
    const struct parts *parts;     /* the parts of the plan */
    const Onnx__ModelProto *src;   /* message of the whole model, m->src */
    struct arena *a;               /* memory of everything that is made for the split */
    struct diag *diag;
    int dirfd;                /* descriptor of the new folder */
    const char **file;        /* [part] its file name, "part0.onnx" */
    uint8_t *unchecked;       /* [part] 1: an input or output of the part has no known rank */
    bool failed;              /* an error was reported while a message was made */
    struct sample_work *work; /* made by split_schedule() */
    /* made by split_schedule() for plans with stages; else its arrays are NULL */
    struct part_places places;
    struct schedule *schedule; /* NULL: there is none, for the reason no_schedule */
    const char *no_schedule;
    struct split_weights weights;
    struct split_sources sources;
    struct split_configs configs;
    struct split_index index;
};

/* The values of --weights, "shared" and so on, by enum weights_mode, and "auto"; ends with NULL. */
extern const char *const weights_mode_names[];

/* origins_sort() sorts list[n] by src.  origin_id() returns the id of `src` in a sorted list; 0: src is not in the
 * list. */
void origins_sort(struct origin *list, uint32_t n);
uint32_t origin_id(const struct origin *list, uint32_t n, const void *src);

/* Fills s->weights and s->sources.used: decides where each weight goes if the mode is s->weights.mode.  May be called
 * again after the mode has changed.  Returns 0, or -1 and an error, mostly because a file with weights is missing. */
int weights_plan(struct split *s);
/* Checks that the new folder's file system has `bytes` bytes left.  Returns 0, or -1 and an error; what: name of the
 * bytes in the error.  Checks only ext4 and tmpfs: other file systems may share or compress blocks. */
int split_check_room(const struct split *s, uint64_t bytes, const char *what);
/* Writes weights.data, unless no weight goes there; with WEIGHTS_PARTS only checks that there is room for what
 * part_data_write() will write.  Returns 0, or -1 and an error. */
int weights_write(struct split *s);
/* Returns the index in s->weights.list of the tensor with the message src; 0: none. */
uint32_t weights_index(const struct split *s, const void *src);
/* Returns the bytes of tensor t of s->weights.list. */
uint64_t weights_bytes(const struct split *s, uint32_t t);
/* Returns the first offset from `offset` on at which a tensor may begin in a data file. */
uint64_t weights_align(uint64_t offset);
/* Creates a data file in the new folder.  Returns its descriptor, or -1 and an error. */
int weights_create(const struct split *s, const char *name);
/* Copies tensor t of s->weights.list to offset `at` of the open data file `out`.  name: of that file, for messages.
 * Returns 0, or -1 and an error. */
int weights_copy(struct split *s, uint32_t t, uint64_t at, int out, const char *name);
/* Return the message of a tensor of the source as files of the split have it, by s->weights: with the bytes, or with a
 * reference to a file; src itself if nothing changes.  Errors are reported and set s->failed. */
Onnx__TensorProto *weights_tensor(struct split *s, const Onnx__TensorProto *src);
Onnx__SparseTensorProto *weights_sparse(struct split *s, Onnx__SparseTensorProto *src);

/* Data files of WEIGHTS_PARTS (part_data.c); with another mode there is nothing to be made or written.
 * part_data_prepare: fills s->weights.part_data, to be called after weights_plan(). */
void part_data_prepare(struct split *s);
/* Begins the data file of part x (x == number of parts: of the whole model).  All messages made until part_data_write()
 * refer to this file. */
void part_data_begin(struct split *s, uint32_t x);
/* With WEIGHTS_PARTS: returns the name of the data file to which the message that is being made refers for tensor t of
 * s->weights.list.  offset: the entry "offset" of that message; its value is set now, if the place of the tensor is
 * known already, or else by part_data_write(). */
const char *part_data_refer(struct split *s, uint32_t t, Onnx__StringStringEntryProto *offset);
/* Writes the data file, if any message refers to it.  Returns 0, or -1 and an error. */
int part_data_write(struct split *s);
/* Returns the bytes that the data files will take at least: those of the parts' dense initializers. */
uint64_t part_data_bytes(const struct split *s);

/* Whether the mode is WEIGHTS_ORIGINAL and `folder` is the source's own folder, so that the parts can refer to the
 * source's files where these are. */
bool sources_beside(const struct split *s, const char *folder);
/* Whether a file in the split's folder can share the blocks of file k of the module. */
bool sources_can_clone(const struct split *s, uint32_t k);
/* Fills s->sources.source after weights_plan().  Unless the split lies beside the source, also copies or links the used
 * files into the new folder s->dirfd.  folder: its final path, for messages.  Returns 0, or -1 and an error. */
int sources_bring(struct split *s, const char *folder);
/* Checks as far as possible without copying bytes that sources_bring() will succeed.  Returns 0, or -1 and an error.
 * May leave links in s->dirfd. */
int sources_check(struct split *s, const char *folder);

/* Return a copy of a message of the source in which weights_tensor() has replaced all tensors; the message itself if no
 * tensor changes.  Errors are reported and set s->failed. */
const Onnx__NodeProto *rewrite_node(struct split *s, const Onnx__NodeProto *n);
const Onnx__FunctionProto *rewrite_function(struct split *s, const Onnx__FunctionProto *f);
const Onnx__TrainingInfoProto *rewrite_training(struct split *s, const Onnx__TrainingInfoProto *t);

/* Whether the description of a value gives a shape, or gives a type that has no shape, such as a sequence. */
bool info_has_shape(const Onnx__ValueInfoProto *p);
/* Fills s->index; to be called once, before part_model(). */
void part_prepare(struct split *s);
/* Makes the message of a part in *out.  Returns 0, or -1 and an error. */
int part_model(struct split *s, uint32_t part, Onnx__ModelProto *out);
/* Makes in *out the message of the whole model, with the plan in the metadata of the model and its nodes.  Errors set
 * s->failed. */
void annotate_model(struct split *s, Onnx__ModelProto *out);
/* Gives `out`, a copy of the source's message of the model, a list of metadata of its own: the source's entries, except
 * for what an earlier run of pcc wrote of a plan, with room for `more` entries. */
void annotate_begin_model(struct split *s, Onnx__ModelProto *out, size_t more);
/* Returns a copy of src, the message of node `id` in part x, whose metadata say device, part and planned time. */
Onnx__NodeProto *annotate_in_part(struct split *s, const Onnx__NodeProto *src, nid id, uint32_t x);
/* Write the plan as device configurations (device_config.c) into the message of the whole model.  First
 * device_config_model(): gives `out`, whose graph is a copy already, the configuration with the list of devices, and
 * the IR version that has configurations.  If the user did not ask for configurations, only warns if an earlier run
 * of pcc left one.  Then device_config_node() for each node: gives n, the copy of the message of node `id`, its stage
 * and devices, and removes configurations of an earlier run; id 0, a message of no node of the module: only removes. */
void device_config_model(struct split *s, Onnx__ModelProto *out);
void device_config_node(struct split *s, nid id, Onnx__NodeProto *n);
/* Gives n, a copy of a node's message, a list of device configurations without pcc's, with room for one more. */
void device_config_drop(struct split *s, Onnx__NodeProto *n);
/* Makes in *out the model before the pass shard, whose nodes say in sharding specs how devices share them.  Returns 0,
 * or -1 and an error. */
int shard_specs_model(struct split *s, Onnx__ModelProto *out);

/* A text file of the new folder while it is written. */
struct split_file {
    FILE *f;
    const char *name;
    struct arena *own; /* closes f when it is freed, if f is still open then */
    struct diag *diag;
};
/* Create a file in the new folder, which is an error if it exists; close it.  *f must not be moved while the file is
 * open.  Both return 0, or -1 and an error. */
int split_file_open(struct split_file *f, const struct split *s, const char *name);
int split_file_close(struct split_file *f);

/* The bytes of tools/python/pcc/run_split.py, which is written into each split folder; the build makes this array. */
extern const unsigned char run_split_text[];
extern const size_t run_split_size;

/* Makes s->work, s->places and s->schedule, or sets s->no_schedule, the reason why there is no schedule.  Shows a note
 * in that case, or if the schedule needs more memory than a device has.  May replace s->r by a copy with the memory
 * that the schedule needs.  Returns 0; or -1 and an error if --in-flight or --update asks for what cannot be. */
int split_schedule(struct split *s);
/* Writes schedule.json, if there is a schedule.  Returns 0, or -1 and an error. */
int schedule_write(const struct split *s);
/* Writes manifest.json; to be called after split_schedule().  Returns 0, or -1 and an error. */
int manifest_write(const struct split *s);

#endif
