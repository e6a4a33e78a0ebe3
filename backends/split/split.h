/* Private to the writers of split folders: split.c, part.c, weights.c, sources.c, rewrite.c, annotate.c,
 * device_config.c, schedule.c, manifest.c.
 *
 * The messages of the parts share everything with those of the source: what changes is copied
 * shallowly into the split's arena, the rest is pointed at. */
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
#define WEIGHT_INLINE UINT64_MAX
#define WEIGHT_SOURCE (UINT64_MAX - 1) /* where it lies in its file of the source */
#define IR_DEVICES 11                  /* the first IR version with device configurations */

/* Where a node runs, for device_config.c. */
struct station {
    int32_t stage; /* -1: not placed */
    uint32_t ndev, capdev;
    uint32_t *dev; /* each once */
};

/* A message of the source file and its node, value or tensor in the module. */
struct origin {
    const void *src;
    uint32_t id;
};

/* A tensor and the module that it belongs to: the model's, or that of a function. */
struct held {
    const struct module *m;
    tid t;
};

/* Of weights.c: the tensors of the model, and where each goes. */
struct split_weights {
    bool keep;              /* leave tensors as they are in the source */
    enum weights_mode mode; /* of the file that is being made */
    struct held *held;      /* the tensors of the module, of its functions, and aside; from 1 */
    uint32_t nheld;
    struct origin *tensor; /* those that have a src, ascending by it; their ids index held */
    uint32_t ntensor;
    uint64_t *at;        /* [held] offset in weights.data, or WEIGHT_INLINE, or WEIGHT_SOURCE */
    bool nested;         /* some tensor below a node lies in a file */
    bool data;           /* there is a weights.data */
    uint64_t size;       /* its bytes */
    struct mapping *map; /* files that messages point into, by address */
    uint32_t nmap;
    const uint8_t **mapped_at; /* [file] their beginning, or NULL */
};

/* Of sources.c: the files of the source that parts refer to. */
struct split_sources {
    bool beside;         /* the split goes into the folder of the source */
    uint8_t *used;       /* [file] 1: parts refer to it */
    const char **source; /* [file] by this name */
};

/* Of device_config.c. */
struct split_configs {
    struct station *station; /* [node] */
    nid *read_by;            /* [value] the last node that has a sharding spec for it */
};

/* Of part.c: the source's messages by node and by value. */
struct split_index {
    struct names values;            /* of all graphs; the main graph's first */
    struct names functions;         /* "domain\x1fname\x1foverload" -> index */
    Onnx__ValueInfoProto **info;    /* [value] the source's, or NULL */
    Onnx__TensorAnnotation **quant; /* [value]; NULL: there are none */
    Onnx__NodeProto **node;         /* [node] as parts hold it; made on demand */
    uint32_t *in_part;              /* [value] part + 1 that holds it, as of the last part made */
};

struct split {
    const struct result *r;
    const struct split_options *o;
    const struct module *m;
    const struct parts *parts;
    const Onnx__ModelProto *src;
    struct arena *a;
    struct diag *diag;
    int dirfd;                 /* the new folder */
    const char **file;         /* [part] */
    uint8_t *unchecked;        /* [part] 1: a tensor at its border has no known rank */
    bool failed;               /* an error was reported inside a rewrite */
    struct sample_work *work;  /* of schedule.c */
    struct part_places places; /* of schedule.c, of a plan of stages; NULLs: of another one */
    struct schedule *schedule; /* NULL: there is none: */
    const char *no_schedule;   /* why */
    struct split_weights weights;
    struct split_sources sources;
    struct split_configs configs;
    struct split_index index;
};

/* "shared", ..., by enum weights_mode; ends with NULL. */
extern const char *const weights_mode_names[];

/* Sorts by src; looks one up in a sorted list, 0: not there. */
void origins_sort(struct origin *list, uint32_t n);
uint32_t origin_id(const struct origin *list, uint32_t n, const void *src);

/* Decides where each weight goes in s->weights.mode; may be called again for another mode.  0, or -1 if a file
 * that is needed is not there. */
int weights_plan(struct split *s);
/* Whether there is room for so many bytes more in the folder: 0, or -1 and an error that names them `what`.  Only file
 * systems are asked that neither share blocks nor compress. */
int split_check_room(const struct split *s, uint64_t bytes, const char *what);
/* Writes weights.data (nothing if no weight goes there); 0 or -1. */
int weights_write(struct split *s);
/* The tensor as a file of the folder holds it: by reference, or inline. Sets s->failed on errors. */
Onnx__TensorProto *weights_tensor(struct split *s, const Onnx__TensorProto *src);
Onnx__SparseTensorProto *weights_sparse(struct split *s, Onnx__SparseTensorProto *src);

/* Whether a split in `folder` would lie beside the source, so that it can refer to its files. */
bool sources_beside(const struct split *s, const char *folder);
/* Names the files of s->used, after weights_plan; the folder is s->dirfd, and will be `folder`.  Where
 * the split does not lie beside them they are copied or linked into it.  0 or -1. */
int sources_bring(struct split *s, const char *folder);
/* Whether it would succeed, as far as that can be known before bytes are copied: -1 and an error, else 0.
 * May leave links in the folder. */
int sources_check(struct split *s, const char *folder);

/* The node with the tensors below it as weights_tensor has them; the same pointer if nothing
 * changes.  Sets s->failed on errors. */
const Onnx__NodeProto *rewrite_node(struct split *s, const Onnx__NodeProto *n);
const Onnx__FunctionProto *rewrite_function(struct split *s, const Onnx__FunctionProto *f);
const Onnx__TrainingInfoProto *rewrite_training(struct split *s, const Onnx__TrainingInfoProto *t);

/* Indices over the source, once before part_model. */
void part_prepare(struct split *s);
/* The message of a part. */
int part_model(struct split *s, uint32_t part, Onnx__ModelProto *out);
/* The whole model with the plan in the metadata of its nodes. */
void annotate_model(struct split *s, Onnx__ModelProto *out);
/* The IR-11 side of it.  First the model: out, whose graph is a copy already, gets the configuration
 * and the IR version.  Then n, the copy of the source's node `id` (0: none of the module's), gets
 * its own, in place of older ones of the same configuration. */
void device_config_model(struct split *s, Onnx__ModelProto *out);
void device_config_node(struct split *s, nid id, Onnx__NodeProto *n);

/* A text file of the folder while it is written. */
struct split_file {
    FILE *f;
    const char *name;
    struct arena *own; /* closes f if it is freed before */
    struct diag *diag;
};
/* f must not be moved until it is closed.  0, or -1 and an error. */
int split_file_open(struct split_file *f, const struct split *s, const char *name);
int split_file_close(struct split_file *f);

/* tools/python/pcc/run_split.py, which goes into every folder; made when pcc is built. */
extern const unsigned char run_split_text[];
extern const size_t run_split_size;

/* Makes s->work and s->schedule, with a note where there can be none or it takes too much memory.  0, or -1 if the
 * samples in flight that the user wants are too many. */
int split_schedule(struct split *s);
/* Writes schedule.json, if there is a schedule; 0 or -1. */
int schedule_write(const struct split *s);
/* Writes manifest.json, after split_schedule; 0 or -1. */
int manifest_write(const struct split *s);

#endif
