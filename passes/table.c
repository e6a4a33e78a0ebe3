/* The table of passes: one line per pass, in the order in which a pipeline usually has them. */
#include "passes/passes.h"

#include <string.h>

extern const struct pass pass_inline_functions, pass_open_functions, pass_infer_shapes, pass_cost,
    pass_subdivide, pass_contract, pass_fuse, pass_linearize, pass_dpl_place, pass_dp_place,
    pass_hier_place, pass_ip_place, pass_anneal_place, pass_auto_place, pass_one_place,
    pass_greedy_place, pass_local_place, pass_pipedream_place, pass_scotch_place, pass_metis_place,
    pass_plan;

const struct pass *const pass_table[] = {&pass_inline_functions,
                                         &pass_open_functions,
                                         &pass_infer_shapes,
                                         &pass_cost,
                                         &pass_subdivide,
                                         &pass_contract,
                                         &pass_fuse,
                                         &pass_linearize,
                                         &pass_dpl_place,
                                         &pass_dp_place,
                                         &pass_hier_place,
                                         &pass_ip_place,
                                         &pass_anneal_place,
                                         &pass_auto_place,
                                         &pass_one_place,
                                         &pass_greedy_place,
                                         &pass_local_place,
                                         &pass_pipedream_place,
                                         &pass_scotch_place,
                                         &pass_metis_place,
                                         &pass_plan,
                                         NULL};

const struct pass *pass_find(const char *name)
{
    for (const struct pass *const *p = pass_table; *p; p++)
        if (strcmp((*p)->name, name) == 0)
            return *p;
    return NULL;
}
