/* Computing operators on constants inside pcc: the results of a node whose operands are known, with exactly the bits
 * that ONNX Runtime's CPU kernels give.
 *
 * pcc computes operators that return shapes and sizes, operators that only move elements, element-wise operators on
 * integers, element-wise operators on floats whose result is one IEEE rounding, and reductions of integers.  It does
 * not compute: functions whose bits depend on a library (Exp, Tanh, Pow in general), sums of floats, random numbers,
 * quantization, strings, types of less than a byte, arithmetic in f16 and bf16 (runtimes compute in f32 and differ in
 * when they round), and everything wrong or undefined: an index out of range, division by zero, an integer overflow,
 * a result that is NaN or infinite.  Files may contain any of these: the functions then return false and report
 * nothing.
 *
 * A tensor may be known in part: Shape of [batch, 8, 64] is [?, 8, 64], and Gather of entry 1 of that result is 8. */
#ifndef PCC_IR_MODEL_COMPUTE_H
#define PCC_IR_MODEL_COMPUTE_H

#include "ir/model/edit.h"

enum {
    COMPUTE_RANK = 16, /* tensors with more dimensions are not computed */
    /* An integer tensor of at most this many elements may be an operand even if no element is known:
     * Concat([?], [8]) is [?, 8]. */
    COMPUTE_PART = 64
};

/* What is known of a value without running the model: its element type and rank always, its sizes and elements
 * perhaps. */
struct known {
    enum elem elem;
    uint32_t rank;      /* number of dimensions */
    const int64_t *dim; /* [rank] sizes; -1: not known */
    int64_t n;          /* number of elements; -1: not known, then no element is known */
    /* the n elements, in the form of ONNX raw_data; NULL: no element is known, or they can be read from `tensor` */
    unsigned char *data;
    /* [n] 1: the element is known, 0: unknown (0 in data, too); NULL: all n are known */
    uint8_t *mask;
    tid tensor; /* tensor from which the elements can be read if `data` is NULL; 0: none */
};

/* One computation: an operator of domain ai.onnx with its attributes and operands, and its results. */
struct computation {
    const struct module *m;  /* module with the tensors and attributes */
    struct arena *a;         /* memory for results, and for operands that are read */
    const char *op;          /* name of the operator */
    int64_t opset;           /* version of ai.onnx; -1: the newest */
    struct slice attr;       /* attributes, in m->attr */
    struct known *const *in; /* [nin] operands; NULL: omitted */
    uint32_t nin;
    struct known *out; /* [nout] results, filled by compute_run() */
    uint32_t nout;
    int64_t most;      /* bytes: larger results are not computed */
    int64_t most_read; /* bytes: larger operands are not read */
    int64_t spent;     /* compute_run() adds the bytes of operands used and of results made */
    bool failed;       /* for compute*.c: the computation is not possible */
    bool partial;      /* for compute*.c: an operand with unknown elements was used */
};

/* Whether compute_run() can compute the operator op of ai.onnx.  O(log(number of operators)). */
bool compute_offers(const char *op);
/* Computes the results of an operator.  Returns true and fills c->out: the shapes are known, the elements all or in
 * part.  Returns false if that is not possible; c->out is undefined then.  O(bytes of operands and results). */
bool compute_run(struct computation *c);

/* Writes to *k what is known of tensor t, without reading its elements; its shape is allocated in a.  Returns false
 * if t has more than COMPUTE_RANK dimensions. */
bool known_of_tensor(const struct module *m, tid t, struct known *k, struct arena *a);
/* Writes to *k what a type (index in m->type) says of a value; the shape is allocated in a.  Returns false if the
 * type is not a tensor of known rank with at most COMPUTE_RANK dimensions. */
bool known_of_type(const struct module *m, uint32_t type, struct known *k, struct arena *a);
/* Whether all elements of k are known and in k->data. */
bool known_whole(const struct known *k);

/* ---- new weights computed from other weights ---- */

/* Adds a tensor with the elements of k, which must all be known, to the edited module and returns it. */
tid edit_constant(struct edit *e, const struct known *k);
/* Computes an operator of ai.onnx with one result, in the opset that the module imports, from the tensors of[n] (0:
 * an omitted operand) and the attributes attr (in module.attr).  Adds the result to the module as a tensor and
 * returns it; 0: it cannot be computed. */
tid edit_compute(struct edit *e, const char *op, const tid *of, uint32_t n, struct slice attr);

#endif
