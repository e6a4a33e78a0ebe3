/* Steps of training: iterations of a split whose updates have parts of their own (pcc-run --steps).
 *
 *     step_read.c    what the folder says: schedule, gradients, loss; parts whose parameters are inputs
 *     step_lists.c   an iteration: a thread for each device, which follows its list
 *     step_ranks.c   the same with a process for each device
 *     step_confirm.c whether the loss joins samples as the user says
 *     step_values.c  tensors: rows of batches, sums of gradients
 *     step.c         step after step */
#ifndef PCC_TOOLS_RUN_STEP_H
#define PCC_TOOLS_RUN_STEP_H

#include "ir/base/signal_flag.h"
#include "tools/run/engine.h"
#include "tools/run/gpus.h"
#include "tools/run/split_in.h"

#include "ir/plan/schedule.h"
#include "ir/plan/work.h"

#include <pthread.h>
#include <stdio.h>

enum { STEP_NONE = UINT32_MAX };

/* What the user wants. */
struct step_settings {
    const char *folder;
    int64_t steps;
    const char *const *file; /* [nfile] inputs of steps, which repeat; none: random ones */
    uint32_t nfile;
    /* file with the parameters of the first step; NULL: those in the folder.  File for the parameters after the last
     * step; NULL: none */
    const char *load, *save;
    const char *loss; /* "mean" or "sum", if the folder does not tell; NULL: not given */
    bool as_made; /* --sum=as-made: gradients are added as soon as they are made, not in order */
    struct gpu_choice gpus; /* values of --provider */
    uint64_t seed;          /* seed of random inputs */
    int threads;            /* most threads of an operator */
    bool optimise;
};

/* A parameter, or a counter: an initializer that goes on without a gradient. */
struct step_parameter {
    /* names of the parameter, its gradient (NULL: it is a counter) and its new value */
    const char *name, *gradient, *fresh;
    uint32_t sum;               /* number in `whole` of the gradient's tensor; STEP_NONE: none */
    uint32_t made;              /* number in `whole` of the new value's tensor */
    struct engine_value *value; /* value in the next step; NULL: the value in the part's file */
    bool known;                 /* a part reads it: the fields below are its type */
    int elem;                   /* ONNX's number of the element type */
    uint32_t rank;
    const int64_t *size; /* [rank] */
};

/* A part on one of its devices, each of which runs a slice of every micro-batch. */
struct step_copy {
    const struct split_part *part;
    struct loaded *loaded; /* NULL: the device is not of this process */
    uint32_t *parameter;   /* [nparameter] the parameters that it reads */
    uint32_t nparameter;
    const char **in_name; /* [part->nin + nparameter] names of inputs, then of parameters */
};

struct stepper;
struct step_ranks;

/* A device. */
struct step_device {
    struct stepper *s;
    uint32_t number;
    pthread_t thread;
    int64_t bytes, most; /* bytes that it holds now; the most in all steps */
    bool runs;           /* the device runs a part now; under the lock */
};

/* Where an iteration stands; changes under the lock. */
struct step_now {
    pthread_mutex_t lock;
    /* signalled when lists have moved, sums are complete, or something has failed */
    pthread_cond_t moved;
    uint32_t *at;                 /* [lane] the next instruction */
    uint64_t moves;               /* number of instructions done in all steps */
    struct engine_value **tensor; /* [tensor of w] its value; NULL: not made yet, or freed */
    /* [tensor of w] number of those that hold it: devices, and the host */
    uint32_t *holders;
    uint8_t *made;               /* [tensor of w] 1: it was made */
    uint32_t *added;             /* [tensor of each] number of micro-batches in its sum */
    uint8_t *divided;            /* [tensor of each] 1: its sum was divided, and is a mean */
    uint32_t *reducing;          /* [part of whole] number of devices whose sums are complete */
    uint8_t *reduced;            /* [part of whole] 1: its sums are those over all devices */
    double *loss;                /* [micro-batch] its loss, summed over devices */
    uint8_t *room, *sent, *here; /* [place] 1: its ALLOC, SEND, RECV was executed */
    bool failed;
    char error[1000]; /* the first error; room for RANK_LINE bytes */
};

/* A run of steps. */
struct stepper {
    struct step_settings set;
    struct engine *e;
    struct split split;
    struct arena *a;
    struct diag *d;
    const signal_flag *stop;
    struct schedule *lists;
    /* w: the work of an iteration; each: the work of one micro-batch, cut into the slices of devices; whole: the work
     * of one micro-batch, uncut */
    const struct sample_work *w, *each, *whole;
    uint32_t *value;                  /* [tensor of whole] its value in split */
    uint32_t *owner;                  /* [tensor of each] its tensor in whole */
    uint32_t *part_of;                /* [part of each] its part in whole */
    int32_t *axis;                    /* [tensor of whole] its axis of the batch; -1: none */
    struct step_parameter *parameter; /* [nparameter] */
    uint32_t nparameter;
    struct step_copy *copy; /* [part of each] the part on its device */
    uint32_t loss;          /* number in whole of the loss; STEP_NONE: there is none */
    bool mean;              /* micro-batches' gradients are averaged, else added */
    /* the folder does not tell `mean`, or has it from the user: step_confirm() checks it */
    bool confirm;
    /* [tensor of each] sum of a gradient, kept from step to step; NULL: it is not summed */
    struct engine_value **sum;
    struct step_device *dev;             /* [ndev] */
    const struct engine_gpu *const *gpu; /* [ndev] the GPU of a device's parts; NULL: the CPU */
    /* the other ranks, with a process for each device (step_ranks.h); NULL: this process has all devices */
    struct step_ranks *ranks;
    struct step_now now;
};

/* Reads the folder and checks its schedule.  Returns 0; or -1 and an error, if something that steps need is missing. */
int step_read(struct stepper *s);
/* Opens the sessions of all parts.  A part with parameters is opened from a copy of its file in which the parameters
 * are inputs.  Returns 0, or -1 and an error. */
int step_open(struct stepper *s);
/* Runs the lists once; tensors of the host must be there.  Afterwards the host's outputs are in s->now.tensor.  Returns
 * 0, or -1 and an error. */
int step_iteration(struct stepper *s);
/* Returns the number by which a sum of gradients of part p of `whole` is divided to get a mean: the micro-batches times
 * the devices of the part that makes the loss (or, without a loss, of part p). */
uint32_t step_divisor(const struct stepper *s, uint32_t p);
/* Frees all tensors of an iteration. */
void step_clear(struct stepper *s);

/* ---- step_values.c; none of these takes memory from an arena */
/* Cuts a tensor along the axis into from_rows_of[2] equal stretches, and returns from_rows_of[1] of them, from number
 * from_rows_of[0] on, as one tensor; or NULL, with the reason in *err. */
struct engine_value *rows_cut(struct engine *e, const struct engine_value *v, int32_t axis,
                              const int64_t from_rows_of[3], struct engine_error *err);
/* Returns a tensor of n tensors behind each other along the axis; or NULL, with the reason in *err. */
struct engine_value *rows_join(struct engine *e, struct engine_value *const *v, uint32_t n,
                               int32_t axis, struct engine_error *err);
/* Adds v to *sum; first: makes *sum a copy of v.  Returns 0; or -1 with the reason in *err: an element of v is not
 * finite (v is added all the same), or v cannot be added, for its type or size. */
int sum_add(struct engine *e, struct engine_value **sum, const struct engine_value *v, bool first,
            struct engine_error *err);
/* Adds up n sums of the same size, in their order, and writes the result to each of them.  Returns what sum_add()
 * returns. */
int sum_reduce(struct engine *e, struct engine_value *const *sum, uint32_t n,
               struct engine_error *err);
/* Divides the sum of n tensors by n: multiplies floats and doubles by 1/n in their type; bytes of the stub stay.
 * Returns 0, or -1 with the reason in *err. */
int sum_divide(struct engine *e, struct engine_value *sum, uint32_t n, struct engine_error *err);
/* Returns the bytes of a tensor of plain numbers; 0: of something else. */
int64_t tensor_bytes(struct engine *e, const struct engine_value *v);
/* Returns the first element of a tensor of floats; NaN: it has none. */
double first_element(struct engine *e, struct engine_value *v);
/* The gradients of all parameters of a single micro-batch, compared with the gradients of a doubled one, which has the
 * same samples twice. */
struct comparison {
    double largest; /* largest element of the single micro-batch's gradients */
    /* largest distance of an element of the doubled micro-batch's gradients: [0] from the element of the single one's,
     * [1] from twice that element */
    double off[2];
    /* sum of the products of corresponding elements of both gradients; sum of the squares of the single one's:
     * their quotient is the factor between the two */
    double both, one;
};
/* Adds the elements of two gradients to *c; does nothing if their numbers of elements differ. */
void compare_add(struct engine *e, const struct engine_value *one, const struct engine_value *two,
                 struct comparison *c);

/* ---- step_confirm.c */
/* Checks on the first micro-batch that the loss joins samples as the user says; if that cannot be decided, shows a
 * note.  Returns 0, or -1 and an error. */
int step_confirm(struct stepper *s);

/* ---- step.c */
/* Makes or reads the inputs of a step, of all micro-batches together, table[value of the split], which the caller
 * frees.  Returns 0, or -1 and an error; then none is left. */
int step_inputs(struct stepper *s, int64_t step, struct engine_value **table);
/* Runs all steps.  Returns an exit code. */
int step_run(struct stepper *s);

#endif
