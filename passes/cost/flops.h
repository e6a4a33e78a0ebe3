/* Computes the number of operations of a node, and other facts that its cost depends on. */
#ifndef PCC_PASSES_COST_FLOPS_H
#define PCC_PASSES_COST_FLOPS_H

#include "passes/shapes/infer.h"

/* Data about one module for the functions below. */
struct flops {
    struct infer f;       /* the module, with types for planning */
    const int64_t *elems; /* [value] number of elements, estimated if unknown */
    /* [value] number of its readers, plus the number of times that it is a result of its graph; 2: two or more */
    const uint8_t *reads;
    uint8_t *row; /* [name of an operator] 2 + its row in the table; 0: not looked up; 1: none */
};

/* Returns the data, in a.  type: [value] type (index in m->type) with numbers for as many dimensions as possible;
 * elems: as in the struct.  Both arrays must stay. */
struct flops *flops_new(struct module *m, uint32_t *type, const int64_t *elems, struct arena *a);
/* Returns the number of operations of node n without its bodies: two for each multiply-add; without a rule for the
 * operator, one for each element of the first result.  At most INT64_MAX. */
int64_t flops_of(struct flops *x, nid n);
/* The matrix products that make up the work of a node: `count` products of [rows, sum] and [sum, columns]; all
 * numbers are above 0. */
struct products {
    int64_t count, rows, columns, sum;
    bool conv; /* these are the products of a convolution */
};
/* Writes the matrix products that make up the work of node n to *p; returns false if its work is not made of matrix
 * products.  Products that share the second operand count as one product with all their rows; a convolution is a
 * product for each of its groups, a row of which is a place of the result. */
bool node_products(struct flops *x, nid n, struct products *p);
/* Returns the number of elements that node n normalises together (a row), and sets *passes to the number of times
 * that the node reads its operand if rows do not stay in a cache; 0: it normalises nothing. */
int64_t node_normal_row(struct flops *x, nid n, int *passes);
/* If node n adds a vector of weights (a bias) to the result of a matrix product, and nothing else reads that result,
 * returns the node of the product, whose kernel adds the bias, too; else returns 0. */
nid node_biases(struct flops *x, nid n);
/* Whether node n takes no time, not even the overhead of a device: Reshape, Identity, Shape, Constant and the like. */
bool node_is_free(struct flops *x, nid n);
/* Whether node n reads as many elements of operand 0 as it returns, as Gather does, not the whole operand. */
bool node_gathers(struct flops *x, nid n);
/* Returns the element type whose peak rate counts for node n. */
enum elem compute_type(struct flops *x, nid n);
/* Returns how many times the body of Loop or Scan n runs; -1: not known. */
int64_t trip_count(struct flops *x, nid n);

#endif
