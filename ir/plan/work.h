/* The work of all devices for one sample: parts to run, and tensors to move between devices.
 *
 * Schedules (schedule.h) and their checker use a split in this form only.  The host has the number ndev: it sends the
 * model's inputs and receives its outputs.  State that stays on a device between samples is no tensor here; its bytes
 * are part of `lasting`. */
#ifndef PCC_IR_PLAN_WORK_H
#define PCC_IR_PLAN_WORK_H

#include "ir/plan/parts.h"

struct work_part {
    const char *name; /* "part0.onnx" */
    uint32_t dev;
    /* bytes of the weights and state that the part reads and no earlier part of its device reads; they stay on the
     * device all the time */
    int64_t lasting;
    /* most bytes alive at one time while the part runs, without lasting bytes and inputs */
    int64_t running;
};

struct work_tensor {
    const char *name;
    vid value; /* the value in the module; 0: unknown, the work was read from a file */
    int64_t bytes;
    uint32_t from; /* the part that makes the tensor; npart: it is an input of the model */
    bool returned; /* it is an output of the model, which is sent to the host */
};

struct sample_work {
    uint32_t ndev, npart, ntensor;
    const char **dev_name; /* [ndev + 1] name of each device; dev_name[ndev] is "host" */
    int64_t *memory;       /* [ndev] bytes of memory that may be used; -1: no limit */
    struct work_part *part;
    struct work_tensor *tensor;
    /* part -> tensors that the part reads, each once; part -> tensors that the part makes */
    struct csr in, out;
    /* The next two are made by work_finish(). */
    struct csr reader; /* tensor -> parts that read the tensor, ascending */
    /* tensor -> devices that hold the tensor: first its home, the device that makes it (of a model input: the host),
     * then, ascending, the devices that receive it.  An index into place.to stands for a pair (tensor, device). */
    struct csr place;
    /* The next three are of the work of an iteration only, see work_unroll().  each: the work of one micro-batch; NULL:
     * this is no iteration.  instance: [part] micro-batch * each->npart + number of the part in `each` */
    const struct sample_work *each;
    uint32_t micro_batches;
    uint32_t *instance;
};

/* Returns the work of the parts of a plan.  Lives in a.  O(nodes + pins + weights' users). */
struct sample_work *work_of_parts(const struct scene *s, const struct parts *parts,
                                  struct arena *a);
/* Makes w->reader and w->place from the other fields.  O(inputs log inputs). */
void work_finish(struct sample_work *w, struct arena *a);

/* Returns the work of an iteration: `micro_batches` copies of w.  A part of it is an instance: a part of w for one
 * micro-batch.  list: device -> instances, numbered as in sample_work.instance, in the order in which the device runs
 * them.  The parts are numbered in an order in which they can run, which keeps to the lists; tensors are numbered
 * micro-batch * w->ntensor + tensor.  Returns NULL and the reason in *why if an instance is not listed exactly once, or
 * instances wait for each other in a circle.  Lives in a.  O(micro-batches * uses * log). */
struct sample_work *work_unroll(const struct sample_work *w, uint32_t micro_batches,
                                const struct csr *list, const char **why, struct arena *a);

/* Returns the bytes of all inputs of a part. */
int64_t work_bytes_in(const struct sample_work *w, uint32_t part);
/* Returns the index in w->place.to of the pair (tensor, dev); UINT32_MAX: dev does not hold the tensor.
 * O(log devices). */
uint32_t work_place(const struct sample_work *w, uint32_t tensor, uint32_t dev);

#endif
