/* Finds the backward nodes that compute gradients of weights (weight_pass.h).
 *
 * Source: "Zero Bubble Pipeline Parallelism" divides a backward pass into B, for which the stage before waits, and W,
 * for which no other stage waits.  Nodes are numbered topologically, so one walk from the last node to the first
 * visits a node after all readers of its results: the node is in W if all these readers are in W of the same stage. */
#include "ir/plan/weight_pass.h"

bool weight_pass_apart(const struct scene *s)
{
    return exec_kind(&s->model)->feed == FEED_MICRO_BATCHES &&
           s->model.training.schedule == TRAINING_ZB_H1 && s->m->ir_version && s->m->backward;
}

uint8_t *weight_pass_nodes(const struct scene *s, const int32_t *stage_of, struct arena *a)
{
    const struct graph *g = &s->m->graph[1];
    const struct csr *pin = &s->place->net_pin;
    uint8_t *own = arena_alloc(a, (size_t)s->m->nnode + 1);
    struct arena *scratch = arena_new(a);
    struct csr made = place_nets_made(s->m, s->place, scratch);
    for (nid n = g->first + g->count; n-- > g->first;) {
        bool leaves = false;
        if (s->place->kind[n] != PLACE_NODE || !s->m->backward[n])
            continue;
        for_row (b, made, n)
            for_row (x, *pin, b)
                leaves = leaves || (x != n && (!own[x] || stage_of[x] != stage_of[n]));
        own[n] = !leaves;
    }
    arena_free(scratch);
    return own;
}
