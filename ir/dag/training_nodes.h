/* Training graphs: which nodes are of the backward pass, and which initializers a step of training gives new values. */
#ifndef PCC_IR_DAG_TRAINING_NODES_H
#define PCC_IR_DAG_TRAINING_NODES_H

#include "ir/dag/placeable.h"

/* The backward pass as names and outputs show it. */
struct training_nodes {
    uint8_t *backward; /* [node] 1: a backward node */
    uint8_t *output;   /* [value] 1: an output of the main graph */
};

/* Finds the backward pass, in a.  kind: place.kind; NULL: it is not known which nodes are placed, and few names
 * suffice.  Returns false, with no node marked, if m is no ONNX model of a training step.  O(nodes + operands). */
bool training_nodes_find(const struct module *m, const uint8_t *kind, struct training_nodes *to,
                         struct arena *a);
/* Whether node n gives its operand p a new value: p is no result of a node and has two elements or more, n has a result
 * of p's type, and n is an optimizer or the graph returns that result. */
bool training_updates(const struct module *m, const struct training_nodes *t, nid n, vid p);
/* Returns an array, in a: [value] 1: an initializer to which a step of the training graph m may give a new value, since
 * an output follows from the initializer over values of its type alone, or is called after it: C_new; else 0.  Expected
 * O(nodes + operands). */
uint8_t *training_renewed(const struct module *m, struct arena *a);

#endif
