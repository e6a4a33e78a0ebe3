/* pcc with passes of tests: --wrap puts __wrap_pass_find in place of every call of pass_find. */
#include "tests/editing/editing.h"

#include <string.h>

const struct pass *__real_pass_find(const char *name);
const struct pass *__wrap_pass_find(const char *name);

const struct pass *__wrap_pass_find(const char *name)
{
    static const struct pass *const own[] = {&pass_make_everything, &pass_edit_script,
                                             &pass_break_module, &pass_compare_module,
                                             &pass_slice_weights, &pass_insert_identities};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (strcmp(own[i]->name, name) == 0)
            return own[i];
    return __real_pass_find(name);
}
