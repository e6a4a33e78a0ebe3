/* pcc with passes of tests: this pass_find stands before the library's. */
#include "tests/editing/editing.h"
#include "tests/planted/next.h"

#include <string.h>

const struct pass *pass_find(const struct exec_kind *const *kinds, const char *name)
{
    static const struct pass *const own[] = {&pass_make_everything, &pass_edit_script,
                                             &pass_break_module,    &pass_compare_module,
                                             &pass_slice_weights,   &pass_insert_identities};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (strcmp(own[i]->name, name) == 0)
            return own[i];
    const struct pass *(*real)(const struct exec_kind *const *, const char *) =
        next_function("pass_find");
    return real(kinds, name);
}
