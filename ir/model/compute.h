/* Operators computed in pcc itself: what a node makes of constants, with the very bits that ONNX Runtime's CPU kernels
 * give.
 *
 * Computed are shapes and sizes, what moves elements, what works element by element on integers and on floats where one
 * IEEE rounding decides the result, and reductions of integers.  Not computed, and left as they are: functions whose
 * bits depend on a library (Exp, Tanh, Pow in general), sums of floats, random numbers, quantization, strings, types
 * of less than a byte, arithmetic in f16 and bf16 (runtimes do it in f32, and round when they like), and all that is
 * wrong or undefined: an index out of range, division by zero, an integer that overflows, a result that is NaN or
 * infinite.  Files can say anything here: what cannot be computed is answered by false, without a message.
 *
 * Elements can be known in part.  Shape of [batch, 8, 64] is [?, 8, 64]; Gather of the entry 1 of that is 8. */
#ifndef PCC_IR_MODEL_COMPUTE_H
#define PCC_IR_MODEL_COMPUTE_H

#include "ir/model/edit.h"

enum {
    COMPUTE_RANK = 16, /* tensors of more dimensions are not looked at */
    /* integers of which none is known count as known in part up to this number: Concat([?], [8]) is [?, 8] */
    COMPUTE_PART = 64
};

/* What is known of a value without running the model. */
struct known {
    enum elem elem;
    uint32_t rank;
    const int64_t *dim; /* [rank]; -1: not known */
    int64_t n;          /* elements; -1: not known, and none of them is */
    /* the n elements as in ONNX raw_data; NULL: none is known, or they lie in `tensor` */
    unsigned char *data;
    uint8_t *mask; /* [n] 1: the element is known, others are 0 in data; NULL: all are */
    tid tensor;    /* where the elements are read from when they are wanted; 0: nowhere */
};

/* An operator of ai.onnx and what it is given. */
struct computation {
    const struct module *m; /* of tensors and attributes */
    struct arena *a;        /* memory of the results, and of operands that are read */
    const char *op;
    int64_t opset;           /* of ai.onnx; -1: the newest */
    struct slice attr;       /* of m->attr */
    struct known *const *in; /* [nin]; NULL: omitted */
    uint32_t nin;
    struct known *out; /* [nout]: the results */
    uint32_t nout;
    int64_t most;      /* bytes: larger results are not computed */
    int64_t most_read; /* bytes: operands that are larger are not read */
    int64_t spent;     /* bytes of operands looked at and of results made are added here */
    bool failed;       /* inside */
    bool partial;      /* inside: an operand is known in part */
};

/* Whether compute_run() knows an operator of ai.onnx.  O(log(number of operators)). */
bool compute_offers(const char *op);
/* Computes the operator.  true: c->out says what is known of the results: their shapes, and their elements all or
 * in part.  false: c->out is worth nothing.  O(bytes of operands and results). */
bool compute_run(struct computation *c);

/* What is known of an initializer; false: its elements are not in bytes.  Nothing is read. */
bool known_of_tensor(const struct module *m, tid t, struct known *k, struct arena *a);
/* What is known of a value by its type alone; false: not even how many dimensions it has. */
bool known_of_type(const struct module *m, uint32_t type, struct known *k, struct arena *a);
/* Whether all elements are known, and at hand. */
bool known_whole(const struct known *k);

/* ---- weights from weights ---- */

/* A tensor of elements that are all known. */
tid edit_constant(struct edit *e, const struct known *k);
/* A tensor of what the operator makes of tensors (0: an omitted operand), as in the newest opset: of its one result.
 * attr: of the module, as edit_attrs() gives it.  0: it cannot be computed. */
tid edit_compute(struct edit *e, const char *op, const tid *of, uint32_t n, struct slice attr);

#endif
