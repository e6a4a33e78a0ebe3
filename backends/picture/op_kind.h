/* Kinds of operators for the view of nodes, which has a colour for each kind. */
#ifndef PCC_BACKENDS_PICTURE_OP_KIND_H
#define PCC_BACKENDS_PICTURE_OP_KIND_H

#include "ir/ir.h"

/* PRODUCT: matrix products, convolutions, recurrent layers.  REDUCTION: sums, norms, pools and the like.  MOVEMENT:
 * only moves or converts elements. */
enum op_kind { KIND_OTHER, KIND_PRODUCT, KIND_REDUCTION, KIND_MOVEMENT };

/* Returns the kind of node x by the name of its operator, whatever the domain.  O(1). */
enum op_kind op_kind(const struct module *m, nid x);

#endif
