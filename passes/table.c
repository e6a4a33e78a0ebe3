/* The tables of passes and planners, one line for each, in the order in which a pipeline usually has them; and the
 * functions that find passes in them (passes.h). */
#include "passes/passes.h"

#include <string.h>

extern const struct pass pass_inline_functions, pass_open_functions, pass_infer_shapes,
    pass_drop_identity, pass_fold_constants, pass_split_batch, pass_cost, pass_shard,
    pass_subdivide, pass_recompute, pass_contract, pass_fuse, pass_linearize, pass_levels;
extern const struct planner planner_dpl_place, planner_dp_place, planner_hier_place,
    planner_ip_place, planner_anneal_place, planner_auto_place, planner_one_place,
    planner_greedy_place, planner_local_place, planner_pipedream_place, planner_scotch_place,
    planner_metis_place, planner_dfs_place, planner_order_place, planner_celeritas_place,
    planner_heft_place, planner_m_topo_place, planner_m_etf_place, planner_m_sct_place,
    planner_portfolio_place, planner_dapple_place, planner_pipeline_place,
    planner_pipedream_hier_place, planner_data_parallel_place, planner_latency_place, planner_plan;

static const struct pass *const pass_table[] = {
    &pass_inline_functions, &pass_open_functions, &pass_infer_shapes, &pass_drop_identity,
    &pass_fold_constants,   &pass_split_batch,    &pass_cost,         &pass_shard,
    &pass_recompute,        &pass_subdivide,      &pass_contract,     &pass_fuse,
    &pass_linearize,        &pass_levels};

static const struct planner *const planner_table[] = {&planner_dpl_place,
                                                      &planner_dp_place,
                                                      &planner_hier_place,
                                                      &planner_ip_place,
                                                      &planner_anneal_place,
                                                      &planner_auto_place,
                                                      &planner_one_place,
                                                      &planner_greedy_place,
                                                      &planner_local_place,
                                                      &planner_pipedream_place,
                                                      &planner_scotch_place,
                                                      &planner_metis_place,
                                                      &planner_dfs_place,
                                                      &planner_order_place,
                                                      &planner_celeritas_place,
                                                      &planner_heft_place,
                                                      &planner_m_topo_place,
                                                      &planner_m_etf_place,
                                                      &planner_m_sct_place,
                                                      &planner_portfolio_place,
                                                      &planner_dapple_place,
                                                      &planner_pipeline_place,
                                                      &planner_pipedream_hier_place,
                                                      &planner_data_parallel_place,
                                                      &planner_latency_place,
                                                      &planner_plan};

enum {
    PASSES = sizeof pass_table / sizeof *pass_table,
    PLANNERS = sizeof planner_table / sizeof *planner_table
};

const struct planner *planner_at(const struct exec_kind *const *kinds, uint32_t i)
{
    if (i < PLANNERS)
        return planner_table[i];
    i -= PLANNERS;
    for (; kinds && *kinds; kinds++)
        for (uint32_t k = 0; (*kinds)->plans && (*kinds)->plans->own && (*kinds)->plans->own[k];
             k++)
            if (i-- == 0)
                return (*kinds)->plans->own[k];
    return NULL;
}

const struct pass *pass_at(const struct exec_kind *const *kinds, uint32_t i)
{
    const struct planner *p = i < PASSES ? NULL : planner_at(kinds, i - PASSES);
    return i < PASSES ? pass_table[i] : p ? &p->pass : NULL;
}

const struct pass *pass_find(const struct exec_kind *const *kinds, const char *name)
{
    const struct pass *p;
    for (uint32_t i = 0; (p = pass_at(kinds, i)); i++)
        if (strcmp(p->name, name) == 0)
            return p;
    return NULL;
}

const struct planner *planner_of(const struct exec_kind *const *kinds, const struct pass *p)
{
    const struct planner *k;
    for (uint32_t i = 0; (k = planner_at(kinds, i)); i++)
        if (&k->pass == p)
            return k;
    return NULL;
}
