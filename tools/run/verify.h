/* The model and the parts of its split that pcc-verify compares: reading them, and running them. */
#ifndef PCC_TOOLS_RUN_VERIFY_H
#define PCC_TOOLS_RUN_VERIFY_H

#include "ir/base/name_table.h"
#include "ir/base/signal_flag.h"
#include "ir/model/module.h"
#include "tools/run/engine.h"
#include "tools/run/same.h"
#include "tools/run/split_in.h"

/* Where an output of the model comes from in a split: a part makes it, it is an input that the model returns unchanged,
 * or an initializer that no part has. */
enum verify_source { FROM_PART, FROM_INPUT, FROM_WEIGHTS };

/* An output of the model. */
struct verify_output {
    uint32_t value; /* number of the value in the split's list */
    enum verify_source from;
    bool rounded; /* computed from a float of 16 bits that crosses from part to part */
    bool random;  /* computed from the results of a random operator */
};

/* Files that together compute the outputs of the model, run in their order. */
struct verify_side {
    const char *who; /* words for the side in messages: "the model", "the parts" */
    const struct split_part *part;
    const struct module *const *m; /* [npart] the models in the files */
    uint32_t npart;
};

/* A model and its split while they are compared. */
struct verifying {
    struct engine *e;
    const struct split *s;
    struct verify_side whole, parts, annotated; /* the model, its parts, the model in the folder */
    struct verify_output *output;               /* [noutput] */
    uint32_t noutput;
    struct names values; /* name of a value of the split -> its number */
    /* [value of the model's module] bytes of the value, at the sizes of the plan or of --dim */
    const int64_t *bytes;
    /* how the model differs from the source of the split; NULL: not known, or not at all */
    const char *other;
    const bool *of_random; /* [value of the model's module] it depends on a random operator */
    struct names marked;   /* name of a value of a part -> index of the value in `mark` */
    /* [index] how the value depends on floats of 16 bits, as bits: HALF, OF_HALF, CUT, REACHED (verify_read.c says what
     * each means) */
    const uint8_t *mark;
    const char *random; /* name of the first random operator; NULL: there is none */
    double tolerance;   /* share of an output's largest value by which floats may differ */
    /* number of values that cross as floats of 16 bits, or as casts of such floats */
    uint32_t ncrossing;
    const signal_flag *stop; /* 1: no further run begins */
    struct arena *a;
    struct diag *d;
};

/* Reads the files: fills in the sides, the outputs, and all other fields that are known without a run.  dim[ndim]:
 * values of --dim.  Returns 0; -1 after an error: a file cannot be read, or its inputs or outputs are not those of the
 * manifest; 1 after an error: the model cannot be read. */
int verify_read(struct verifying *v, const char *model, const char *const *dim, uint32_t ndim);

/* Reports how the model differs from the source of the split: v->other is not NULL.  Returns -1. */
int verify_tell_other(const struct verifying *v);
/* Whether a value that a part makes may be off by rounding, as it is computed from a float of 16 bits that crosses. */
bool verify_rounds(const struct verifying *v, const char *value);
/* Whether a difference between two values is within the tolerance.  Only floats may differ, each tensor of a list by a
 * share of its own largest value. */
static inline bool verify_tolerates(const struct verifying *v, const struct difference *how)
{
    return how->floats && how->share <= v->tolerance;
}

/* A run that failed. */
struct verify_failure {
    const char *file;         /* the file of the side that failed */
    struct engine_error line; /* the engine's reason */
    bool loaded;              /* true: loading succeeded, running failed; false: loading failed */
    bool stopped;             /* Ctrl-C ended the run */
};

/* Runs the files of a side on samples: table[sample][value] has the inputs of the model, and gets its outputs, which
 * the caller frees.  Returns 0; or -1, with the reason in *f, then no outputs are left. */
int verify_run(const struct verifying *v, const struct verify_side *side, bool optimise,
               struct engine_value ***table, uint32_t nsample, struct verify_failure *f);
/* Frees the outputs of the model in table[value]. */
void verify_free_outputs(const struct verifying *v, struct engine_value **table);

#endif
