/* Returns a type as text for tables and pictures. */
#ifndef PCC_BACKENDS_TYPE_TEXT_H
#define PCC_BACKENDS_TYPE_TEXT_H

#include "ir/model/module.h"

/* Returns a type (index in m->type), in a: "f32[batch,128,768]"; at most 16 dimensions, then "...". */
char *type_text(const struct module *m, uint32_t type, struct arena *a);

#endif
