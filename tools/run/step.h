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
    const char *load, *save; /* files of parameters; NULL: those of the folder; they are not kept */
    const char *loss;        /* "mean" or "sum" where the folder does not say; NULL: not given */
    bool as_made;            /* gradients are added when they are made, not in order */
    uint64_t seed;
    int threads; /* of an operator */
    bool optimise;
};

/* A parameter. */
struct step_parameter {
    const char *name, *gradient, *fresh;
    uint32_t sum;               /* number in `whole` of the gradient's tensor */
    uint32_t made;              /* number in `whole` of the new value's tensor */
    struct engine_value *value; /* what the next step reads; NULL: what the parts have */
    bool known;                 /* a part reads it, and the fields below are its type */
    int elem;                   /* ONNX's number */
    uint32_t rank;
    const int64_t *size; /* [rank] */
};

/* A part on one of its devices: a copy in the work of a micro-batch in slices. */
struct step_copy {
    const struct split_part *part;
    struct loaded *loaded;
    uint32_t *parameter; /* [nparameter] that it reads */
    uint32_t nparameter;
    const char **in_name; /* inputs, then parameters */
};

struct stepper;
struct step_ranks;
/* A device. */
struct step_device {
    struct stepper *s;
    uint32_t number;
    pthread_t thread;
    int64_t bytes, most; /* held now, and at most in all steps */
    bool runs;           /* a part; under the lock */
};

/* Where an iteration stands; changes under the lock. */
struct step_now {
    pthread_mutex_t lock;
    pthread_cond_t moved;
    uint32_t *at;                 /* [lane] the next instruction */
    uint64_t moves;               /* instructions done in all steps */
    struct engine_value **tensor; /* [tensor of w] NULL: not made yet, or freed */
    uint32_t *holders;            /* [tensor of w] devices and the host */
    uint8_t *made;                /* [tensor of w] */
    uint32_t *added;              /* [tensor of each] micro-batches in its sum */
    uint8_t *divided;             /* [tensor of each] its sum has become a mean */
    uint32_t *reducing;           /* [part of whole] devices whose sums are complete */
    uint8_t *reduced;             /* [part of whole] its sums are those of all devices */
    double *loss;                 /* [micro-batch] sum over devices */
    uint8_t *room, *sent, *here;  /* [place] ALLOC, SEND, RECV are done */
    bool failed;
    char error[1000]; /* as long as RANK_LINE */
};

struct stepper {
    struct step_settings set;
    struct engine *e;
    struct split split;
    struct arena *a;
    struct diag *d;
    const signal_flag *stop;
    struct schedule *lists;
    /* the work of the iteration; of a micro-batch in slices; of a micro-batch */
    const struct sample_work *w, *each, *whole;
    uint32_t *value;                  /* [tensor of whole] its value in split */
    uint32_t *owner;                  /* [tensor of each] its tensor in whole */
    uint32_t *part_of;                /* [part of each] its part in whole */
    int32_t *axis;                    /* [tensor of whole] of the batch; -1: none */
    struct step_parameter *parameter; /* [nparameter] */
    uint32_t nparameter;
    struct step_copy *copy;    /* [part of each] */
    uint32_t loss;             /* number in whole of the loss; STEP_NONE: there is none */
    bool mean;                 /* micro-batches' gradients are averaged, else added */
    bool confirm;              /* only the user says so */
    struct engine_value **sum; /* [tensor of each] of summed ones; kept from step to step */
    struct step_device *dev;   /* [ndev] */
    struct step_ranks *ranks; /* with a process for each device (step_ranks.h); NULL: all is here */
    struct step_now now;
};

/* Reads the folder, checks its schedule, and says what is missing for steps.  Returns 0, or -1 and an error. */
int step_read(struct stepper *s);
/* Opens the sessions of all parts; those with parameters from copies whose parameters are inputs.  Returns 0, or -1 and
 * an error. */
int step_open(struct stepper *s);
/* Runs the lists once; tensors of the host must be there.  Afterwards the host's outputs are in s->tensor.  Returns 0,
 * or -1 and an error. */
int step_iteration(struct stepper *s);
/* Returns how many means a sum of part p of `whole` is of: one for each micro-batch and device of the part that makes
 * the loss; where there is no loss, of part p. */
uint32_t step_divisor(const struct stepper *s, uint32_t p);
/* Frees all tensors of an iteration. */
void step_clear(struct stepper *s);

/* ---- step_values.c; none of these takes memory from an arena */
/* Returns rows `from` .. `from` + rows - 1 of `of` equal stretches of a tensor along the axis; NULL, with the reason in
 * *err. */
struct engine_value *rows_cut(struct engine *e, const struct engine_value *v, int32_t axis,
                              const int64_t from_rows_of[3], struct engine_error *err);
/* Returns n tensors behind each other along the axis; NULL, with the reason in *err. */
struct engine_value *rows_join(struct engine *e, struct engine_value *const *v, uint32_t n,
                               int32_t axis, struct engine_error *err);
/* Adds v to *sum, or begins it if `first`.  Returns 0, or -1 with the reason in *err: v is not finite, or of a type
 * that cannot be added. */
int sum_add(struct engine *e, struct engine_value **sum, const struct engine_value *v, bool first,
            struct engine_error *err);
/* Adds up n sums of the same size, in their order, and writes the result to each of them. */
int sum_reduce(struct engine *e, struct engine_value *const *sum, uint32_t n,
               struct engine_error *err);
/* Divides the sum of n tensors by n: multiplies by 1/n in its type. */
int sum_divide(struct engine *e, struct engine_value *sum, uint32_t n, struct engine_error *err);
/* Returns the bytes of a tensor of plain numbers; 0: of something else. */
int64_t tensor_bytes(struct engine *e, const struct engine_value *v);
/* Returns the first element of a tensor of floats. */
double first_element(struct engine *e, struct engine_value *v);
/* How the gradients of a micro-batch and those of the same one twice compare, over all parameters. */
struct comparison {
    double largest; /* largest element of the gradients of one micro-batch */
    double off
        [2]; /* gradients of the same micro-batch twice: largest distance from those of one; from their double */
    double both,
        one; /* sums of products of the two, and of squares: their quotient is the factor */
};
/* Adds the elements of two gradients of as many elements to *c. */
void compare_add(struct engine *e, const struct engine_value *one, const struct engine_value *two,
                 struct comparison *c);

/* ---- step_confirm.c */
/* Checks on the first micro-batch that the loss joins samples as the user says.  Returns 0, or -1 and an error; where
 * it cannot be told, a note. */
int step_confirm(struct stepper *s);

/* ---- step.c */
/* Makes or reads the inputs of a step, of all micro-batches together, table[value of the split], which the caller
 * frees.  Returns 0, or -1 and an error; then none is left. */
int step_inputs(struct stepper *s, int64_t step, struct engine_value **table);
/* Runs all steps.  Returns an exit code. */
int step_run(struct stepper *s);

#endif
