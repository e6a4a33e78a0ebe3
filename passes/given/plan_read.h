/* Plans that were made elsewhere: read from files, for plan{from} and --compare. */
#ifndef PCC_PASSES_GIVEN_PLAN_READ_H
#define PCC_PASSES_GIVEN_PLAN_READ_H

#include "passes/passes.h"

/* A plan as a file gives it. */
struct given_plan {
    int32_t *dev;   /* [node] -1: it is not placed */
    uint32_t *rank; /* as of struct plan; NULL: the file gives no order */
    /* settings of `model` on which the file's figures rest, as exec_bit() */
    uint64_t said;
    struct exec_model model;
    double bound;          /* seconds that its planner claimed no plan of the scope to be below */
    const char *scope;     /* "contiguous", ...; NULL: it claims none */
    uint32_t *slot;        /* as of struct plan; NULL: the file gives none */
    struct stages *stages; /* how it trains, with model.training; NULL: the file gives none */
    int32_t *stage_of;     /* as of struct plan */
};

/* Reads a plan into *p, in x->use.mem.  0, or -1 and an error if `from` cannot be read,
 * names unknown nodes or devices, gives a node two devices or leaves a placed node without one.
 * `from` is a plan JSON, a split folder or its manifest, a split of the placement paper, an annotated
 * ONNX model (`self`: the input's own annotations), or a text of lines regex=device of which the
 * first that matches a node counts.  The base level is built if it is not there yet. */
int plan_read(struct given_plan *p, struct ctx *x, const char *from);

/* Whether calls of functions stood open when the plan in `from` was made: false if it says that they were whole, or
 * does not name nodes.  A file that cannot be read counts as such; plan_read will say so. */
bool plan_calls_open(struct ctx *x, const char *from);

#endif
