/* The work of devices for each sample: parts to run, and tensors to move between devices.
 *
 * Execution plans (schedule.h) and their checker see a split in this form only.  The host is device ndev: it has the
 * model's inputs and takes its outputs.  State that stays on a device between samples is no tensor here, but counts as
 * lasting. */
#ifndef PCC_IR_PLAN_WORK_H
#define PCC_IR_PLAN_WORK_H

#include "ir/plan/parts.h"

struct work_part {
    const char *name; /* "part0.onnx" */
    uint32_t dev;
    /* bytes that stay on its device all the time: weights that no earlier part of the device has */
    int64_t lasting;
    /* the most bytes alive at once while the part runs, without lasting bytes and inputs */
    int64_t running;
};

struct work_tensor {
    const char *name;
    vid value; /* 0: read from a file */
    int64_t bytes;
    uint32_t from; /* the part that makes the tensor; npart: an input of the model */
    bool returned; /* an output of the model, which goes to the host */
};

struct sample_work {
    uint32_t ndev, npart, ntensor;
    const char **dev_name; /* [ndev + 1] the last one is "host" */
    int64_t *memory;       /* [ndev] bytes that may be used; -1: without end */
    struct work_part *part;
    struct work_tensor *tensor;
    /* part -> tensors that the part reads, each once; part -> tensors that the part makes */
    struct csr in, out;
    /* made by work_finish: */
    struct csr reader; /* tensor -> parts that read the tensor, ascending */
    /* tensor -> devices that hold the tensor: first its home, where it is made (inputs: the host), then, ascending,
     * the devices that receive it.  A position in place.to stands for a pair (tensor, device). */
    struct csr place;
    /* of an iteration: the work of one micro-batch.  Each part here is an instance of a part of `each`, numbered
     * micro-batch * each->npart + part; tensors are numbered micro-batch * each->ntensor + tensor.  NULL: no
     * iteration */
    const struct sample_work *each;
    uint32_t micro_batches;
    uint32_t *instance; /* [part] */
};

/* The work of parts of a plan.  O(nodes + pins + weights' users). */
struct sample_work *work_of_parts(const struct scene *s, const struct parts *parts,
                                  struct arena *a);
/* Makes reader and place from the rest.  O(inputs log inputs). */
void work_finish(struct sample_work *w, struct arena *a);

/* The work of `micro_batches` copies of w.  Its parts are numbered topologically, those of a device in the order of
 * `list` (device -> instances, as above), earliest level first, then the smallest instance first.  NULL, and *why: an
 * instance is not listed exactly once, or instances wait for each other in a circle.  Lives in a.  O(micro-batches *
 * uses * log). */
struct sample_work *work_unroll(const struct sample_work *w, uint32_t micro_batches,
                                const struct csr *list, const char **why, struct arena *a);

/* Bytes of all inputs of a part. */
int64_t work_bytes_in(const struct sample_work *w, uint32_t part);
/* The place of (tensor, dev); UINT32_MAX: it does not go there.  O(log devices). */
uint32_t work_place(const struct sample_work *w, uint32_t tensor, uint32_t dev);

#endif
