/* Reads plans that were made elsewhere from files, for plan{from=FILE} and --compare. */
#ifndef PCC_PASSES_GIVEN_PLAN_READ_H
#define PCC_PASSES_GIVEN_PLAN_READ_H

#include "passes/passes.h"

/* A plan as a file gives it. */
struct given_plan {
    int32_t *dev;   /* [node] its device; -1: it is not placed */
    uint32_t *rank; /* as in struct plan; NULL: the file gives no order */
    /* the settings that the file gives, a set of exec_bit(); their values are in `model` */
    uint64_t said;
    struct exec_model model;
    double bound;          /* seconds: the file claims that no plan in `scope` takes less */
    const char *scope;     /* "contiguous", ...; NULL: the file claims no bound */
    uint32_t *slot;        /* as in struct plan; NULL: the file gives no slots */
    uint32_t *copies;      /* as in struct plan; NULL: the file gives no copies */
    struct stages *stages; /* how the plan trains, with model.training; NULL: the file gives none */
    int32_t *stage_of;     /* as in struct plan */
};

/* Reads a plan into *p, in x->use.mem.  Returns 0, or -1 and an error if `from` cannot be read, names unknown nodes
 * or devices, gives a node two devices, or leaves a placed node without one.  `from` is a plan JSON, a split folder
 * or its manifest, a split of the placement paper, an annotated ONNX model ("self": the annotations of the input), or
 * a text of lines regex=device, of which the first that matches a node counts.  Builds the base level if it is
 * missing. */
int plan_read(struct given_plan *p, struct ctx *x, const char *from);

/* Returns the plan, without a claim, as the execution model of the scene judges it: copies take turns with samples that
 * come all the time, and count in no other model. */
struct plan plan_given(const struct given_plan *p, const struct scene *s);

/* Returns whether calls of functions stood open (passes/functions/opened.h) when the plan in `from` was made.  Returns
 * true for models; false if the file says that the calls were whole, is not JSON with names of nodes, or cannot be
 * read; plan_read() reports that error later. */
bool plan_calls_open(struct ctx *x, const char *from);

#endif
