/* Kinds of operators (products, reductions, movements of elements), one colour for each kind. */
#ifndef PCC_BACKENDS_PICTURE_OP_KIND_H
#define PCC_BACKENDS_PICTURE_OP_KIND_H

#include "ir/ir.h"

enum op_kind { KIND_OTHER, KIND_PRODUCT, KIND_REDUCTION, KIND_MOVEMENT };

/* By the operator's name, in any domain.  O(1). */
enum op_kind op_kind(const struct module *m, nid x);

#endif
