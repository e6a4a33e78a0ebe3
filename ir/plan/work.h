/* The work of all devices for one sample: parts to run, and tensors to move between devices.
 *
 * Schedules (schedule.h) and their checker use a split in this form only.  The host has the number ndev: it sends the
 * model's inputs and receives its outputs.  State that stays on a device between samples is no tensor here; its bytes
 * are part of `lasting`.
 *
 * The work of an iteration of training is made in three steps: the work of a micro-batch as if the first device of each
 * stage did all; work_slice() gives each device of a stage its slice of the micro-batch; work_unroll() repeats that for
 * all micro-batches. */
#ifndef PCC_IR_PLAN_WORK_H
#define PCC_IR_PLAN_WORK_H

#include "ir/plan/parts.h"

/* A part, as schedules see it. */
struct work_part {
    const char *name; /* "part0.onnx" */
    uint32_t dev;
    /* bytes of the weights and state that the part reads and no earlier part of its device reads; they stay on the
     * device all the time */
    int64_t lasting;
    /* most bytes alive at one time while the part runs, without lasting bytes and inputs */
    int64_t running;
    /* in an iteration: the part runs once, after the last micro-batch, and reads sums of gradients, which stay on its
     * device and are counted in `lasting` */
    bool once;
};

/* A tensor that is moved between devices or kept for a later part. */
struct work_tensor {
    const char *name;
    vid value; /* the value in the module; 0: unknown, the work was read from a file */
    int64_t bytes;
    uint32_t from; /* the part that makes the tensor; npart: the tensor is an input of the model */
    bool returned; /* the tensor is an output of the model, which is sent to the host */
    /* the tensor is a gradient that is added up over micro-batches for a part that runs once */
    bool summed;
    /* the tensor has an axis of the batch, and its rows along that axis are samples; false: the tensor has the same
     * size for any number of samples */
    bool has_rows;
    /* of a slice of a tensor with rows (work_slice()): number of the slice's first sample in the micro-batch, and
     * number of its samples */
    int64_t first_row, rows;
};

/* How the devices of stages share a micro-batch.  All fields zero: each part runs on its own device, for the whole
 * micro-batch. */
struct work_share {
    /* [part] the devices that run the part, each with its slice; the first device is work_part.dev */
    struct csr device;
    /* samples of a micro-batch, >= 1, a multiple of the number of devices of each part */
    int64_t samples;
    int64_t profiled; /* samples that the bytes of tensors with rows are about, >= 1 */
};

/* The parts and tensors of one sample, of a micro-batch, or of an iteration. */
struct sample_work {
    uint32_t ndev, npart, ntensor;
    const char **dev_name; /* [ndev + 1] name of each device; dev_name[ndev] is "host" */
    int64_t *memory;       /* [ndev] bytes of memory that may be used; -1: no limit */
    struct work_part *part;
    struct work_tensor *tensor;
    /* part -> tensors that the part reads, each once; part -> tensors that the part makes */
    struct csr in, out;
    /* `reader` and `place` are made by work_finish(). */
    struct csr reader; /* tensor -> parts that read the tensor, ascending */
    /* tensor -> devices that hold the tensor: first its home, the device that makes it (of a model input: the host),
     * then, ascending, the devices that receive it.  An index into place.to stands for a pair (tensor, device). */
    struct csr place;
    struct work_share share; /* set in the work of a micro-batch */
    /* Set only in the work of slices, see work_slice().  whole: the work of the micro-batch before it was cut; NULL:
     * this is no work of slices.  first_copy: [part of whole] its first part here (there is one for each of its
     * devices, in their order); first_slice: [tensor of whole] its first tensor here.  Both arrays have one more
     * entry, for the end. */
    const struct sample_work *whole;
    uint32_t *first_copy, *first_slice;
    /* Set only in the work of an iteration, see work_unroll().  each: the work of one micro-batch; NULL: this is no
     * iteration.  instance: [part] micro-batch * each->npart + number of the part in `each` */
    const struct sample_work *each;
    uint32_t micro_batches;
    uint32_t *instance;
};

/* The slices for which devices run the parts of an iteration. */
struct slice_sizes {
    const int32_t *axis; /* [value] the axis of the batch (ir/model/batch.h); -1: none */
    const uint32_t *n;   /* [part] number of devices that share a micro-batch */
};

/* Returns the work of the parts of a plan, for the samples that costs are about.  slices: how many
 * devices share a micro-batch in each part, so that `running` of a part is for the slice of one of
 * them; bytes of tensors are for all samples.  NULL: each part runs for all samples.  Lives in a.
 * O(nodes + pins + weights' users). */
struct sample_work *work_of_parts(const struct scene *s, const struct parts *parts,
                                  const struct slice_sizes *slices, struct arena *a);
/* Makes w->reader and w->place from the other fields.  O(inputs log inputs). */
void work_finish(struct sample_work *w, struct arena *a);

/* For the parts of w that run once (work_part.once): marks the tensors that they read from other parts as summed,
 * counts the bytes of these sums as lasting, and no longer returns these tensors to the host.  O(inputs of the
 * parts). */
void work_mark_sums(struct sample_work *w);

/* Returns the work of a micro-batch that the devices of stages share, as w->share says.  It has each part once for
 * each of its devices.  A tensor with rows is cut wherever the slice of a device that makes or reads it ends, so that
 * each of its slices comes from one device and is read as a whole.  A tensor without rows is made as a whole by each
 * device of its maker; a device of another stage reads the copy of one of these devices, the host the copy of the
 * first.  Returns NULL, and the reason in *why, if devices would get fractions of a sample, or if there would be more
 * than `most` parts, tensors and inputs.  Lives in a.  O(parts and tensors of the result). */
struct sample_work *work_slice(const struct sample_work *w, uint64_t most, const char **why,
                               struct arena *a);
/* Returns the bytes of `rows` samples of a tensor with rows, or of the whole tensor if it has no rows.  w: the work of
 * a micro-batch. */
int64_t work_row_bytes(const struct sample_work *w, uint32_t tensor, int64_t rows);
/* Returns the first slice of a tensor (with rows, of w->whole) whose first sample is `sample` or later; if there is
 * none, the number behind its last slice.  w: the work of slices.  O(log slices). */
uint32_t work_slice_from(const struct sample_work *w, uint32_t tensor, int64_t sample);
/* Returns the number of samples in the slice of each device that runs the part.  w: the work of a micro-batch. */
int64_t work_slice_rows(const struct sample_work *w, uint32_t part);

/* Returns the work of an iteration: `micro_batches` copies of w.  A part of it is an instance: a part of w for one
 * micro-batch.  list: device -> instances, numbered as in sample_work.instance, in the order in which the device runs
 * them.  The parts are numbered in an order in which they can run, which keeps to the lists; tensors are numbered
 * micro-batch * w->ntensor + tensor.  A part that runs once has one instance, of the last micro-batch.  The instance
 * has no gradients among its inputs: schedule_prove() checks that it comes behind all sums.  Returns NULL and the
 * reason in *why if an instance is not listed exactly once, or instances wait for each other in a circle.  Lives in a.
 * O(micro-batches * uses * log). */
struct sample_work *work_unroll(const struct sample_work *w, uint32_t micro_batches,
                                const struct csr *list, const char **why, struct arena *a);

/* Whether part x of the work of an iteration runs once and on several devices, so that the sums that it reads must be
 * made equal on them (REDUCE). */
bool work_is_reduced(const struct sample_work *w, uint32_t x);
/* Returns the bytes of all inputs of a part; where devices share micro-batches, of one device's slice. */
int64_t work_bytes_in(const struct sample_work *w, uint32_t part);
/* Returns the index in w->place.to of the pair (tensor, dev); UINT32_MAX: dev does not hold the tensor.
 * O(log devices). */
uint32_t work_place(const struct sample_work *w, uint32_t tensor, uint32_t dev);

#endif
