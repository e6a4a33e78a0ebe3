/* Pieces of a model: parts of about equal time along its order, written as a split folder to be measured. */
#ifndef PCC_TOOLS_RUN_PIECES_H
#define PCC_TOOLS_RUN_PIECES_H

#include "ir/base/arena.h"
#include "ir/base/diag.h"
#include "ir/base/name_table.h"
#include "ir/base/signal_flag.h"

/* What is to be cut. */
struct pieces_of {
    const char *model;      /* path of an ONNX file */
    const char *const *dim; /* [ndim] values of --dim, NAME=N */
    uint32_t ndim;
    const signal_flag *stop; /* 1: the work ends with an error, without a message */
    const char *costs;       /* value of --costs of pcc; NULL: none */
    uint32_t count;     /* number of pieces wanted, at least 1; a model with few nodes gets fewer */
    const char *folder; /* path of the new split folder */
};

/* Returns a handle of the library with the model open on of->count CPUs, which lives as long as a and passes errors on
 * to d, warnings as notes; NULL after an error. */
struct pcc *pieces_open(const struct pieces_of *of, struct arena *a, struct diag *d);
/* Cuts a model and writes its pieces.  Each cut lies where the fewest bytes cross, at most 0.3 of a piece's time away
 * from the cut that would make the pieces equal; the roofline of the class cpu gives the times.  *parameters: a new
 * table of the weights that steps of training update, in parts of their own.  Returns 0; -1 after an error. */
int pieces_write(const struct pieces_of *of, struct names *parameters, struct arena *a,
                 struct diag *d);

#endif
