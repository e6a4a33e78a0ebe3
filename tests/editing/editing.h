/* Passes that edit a model, for tests: pcc-editing is pcc with these among its passes. */
#ifndef PCC_TESTS_EDITING_H
#define PCC_TESTS_EDITING_H

#include "ir/model/edit.h"
#include "passes/passes.h"

#include <string.h>

extern const struct pass pass_make_everything; /* everything.c */
extern const struct pass pass_edit_script;     /* script.c */
extern const struct pass pass_break_module;    /* breakage.c */
extern const struct pass pass_slice_weights;   /* scale.c */
extern const struct pass pass_insert_identities;
extern const struct pass pass_compare_module; /* compare.c */

/* The value of that name in the main graph, 0: there is none. */
static inline vid value_called(const struct module *m, const char *name)
{
    for (vid v = 1; v < m->nval; v++)
        if (m->value[v].graph == 1 && strcmp(value_name(m, v), name) == 0)
            return v;
    return 0;
}

#endif
