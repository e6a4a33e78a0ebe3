/* What a split folder's manifest says to programs that run its parts: files, values by number, sizes of inputs. */
#ifndef PCC_TOOLS_RUN_SPLIT_IN_H
#define PCC_TOOLS_RUN_SPLIT_IN_H

#include "ir/base/arena.h"
#include "ir/base/diag.h"
#include "tools/run/engine.h"

#include <jansson.h>

/* A value that crosses the border of a part or of the model. */
struct split_value {
    const char *name;
    const char *type; /* as the textual IR has it: "f32", "seq<f32>"; "": not known */
    /* [rank] of an input of the model: sizes that the plan was made for; NULL: not known */
    const int64_t *size;
    uint32_t rank;
    int64_t bytes;  /* bytes of the value at the sizes of the plan; -1: not known */
    uint32_t nuses; /* number of parts that read it, and 1 more if the model returns it */
    /* if it is a piece of an output: 1 + the number of that output in split.joined; else 0 */
    uint32_t joined;
};

/* A part.  in, out: numbers of values; in_name, out_name: their names, which engines take. */
struct split_part {
    const char *file, *path; /* name of its file in the folder; path of the file */
    const char *data;        /* folder of its weights; NULL: the folder of `path` */
    const char *device;      /* name of the device that runs it */
    uint32_t *in, *out;      /* [nin], [nout] numbers of values */
    const char **in_name, **out_name;
    int64_t *out_bytes; /* [nout] bytes of the outputs; -1: not known */
    uint32_t nin, nout;
    const char **node; /* [nnode] names of the model's nodes in it */
    uint32_t nnode;
    /* live_peak_bytes of the manifest: memory that the plan has for the part; -1: not known */
    int64_t live_bytes;
    int64_t compute_ps; /* time that the plan has for the part; -1: not known */
};

/* An input or output of the model that parts have in pieces: position p of the axis is in piece (p / run) mod ways. */
struct split_cut {
    uint32_t whole;        /* number of the whole value */
    const uint32_t *piece; /* [ways] numbers of the values that are the pieces */
    uint32_t ways, axis;
    int64_t run;
};

/* A folder. */
struct split {
    const char *folder;
    /* the whole file, changed by state_pieces(): of states that devices have in pieces, "states" lists the pieces */
    json_t *manifest;
    /* sizes of dimensions by name: the manifest's, or others (resize.h); NULL: none */
    const json_t *dims;
    struct split_value *value; /* [nvalue] */
    struct split_part *part;   /* [npart] in an order in which they can run */
    uint32_t *input; /* [ninput] values that are inputs of the model, or pieces of such inputs */
    uint32_t *given; /* [ngiven] values that are inputs of the model */
    struct split_cut *cut;    /* [ncut] inputs in pieces */
    struct split_cut *joined; /* [ncut] outputs in pieces */
    uint32_t nvalue, npart, ninput, ngiven, ncut;
};

/* Reads manifest.json of a folder into *s, in a.  Checks that the files lie in the folder, and that each input of a
 * part is an input of the model or made by an earlier part.  Returns 0, or -1 and an error that names file and key. */
int split_read_manifest(struct split *s, const char *folder, struct arena *a, struct diag *d);
/* Does the same, and checks that the file of each part is there. */
int split_read(struct split *s, const char *folder, struct arena *a, struct diag *d);
/* Returns the list "inputs", "outputs" or "states" of the manifest as the file has it: it has the whole tensors that
 * devices have in pieces, not the pieces. */
const json_t *split_list(const struct split *s, const char *key);
struct json_text;
/* Reads a file of the folder as text, in a.  Returns 0, or -1 and an error. */
int split_read_text(struct json_text *to, const char *folder, const char *file, struct arena *a,
                    struct diag *d);
/* Returns the nodes and devices of the parts as text, in a: equal plans have equal texts. */
const char *split_plan_text(const struct split *s, struct arena *a);
/* Returns how a part is loaded: without times or memory of nodes. */
struct engine_load split_load(const struct split_part *p, int threads, bool optimise);
/* Sets v->size to the list "sizes" of an input, of at most 64 numbers; NULL, if a size is not known. */
void split_take_sizes(struct split_value *v, const json_t *sizes, struct arena *a);

#endif
