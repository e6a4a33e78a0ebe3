/* Computes new weights from other weights, in an edit (compute.h).  O(bytes). */
#include "ir/model/compute.h"

#include "ir/model/edit_state.h"

#include <assert.h>

tid edit_constant(struct edit *e, const struct known *k)
{
    assert(known_whole(k));
    return edit_tensor(e, k->elem, k->dim, k->rank, k->data, (size_t)elem_bytes(k->elem, k->n));
}

tid edit_compute(struct edit *e, const char *op, const tid *of, uint32_t n, struct slice attr)
{
    struct known *in = arena_array(e->a, (size_t)n + 1, sizeof *in), out;
    struct known **list = arena_array(e->a, (size_t)n + 1, sizeof *list);
    for (uint32_t i = 0; i < n; i++) {
        if (of[i] != 0 && !known_of_tensor(e->m, of[i], &in[i], e->a))
            return 0;
        list[i] = of[i] != 0 ? &in[i] : NULL;
    }
    struct computation c = {.m = e->m, .a = e->a, .op = op, .opset = module_opset(e->m, 0)};
    c.attr = attr;
    c.in = list;
    c.nin = n;
    c.out = &out;
    c.nout = 1;
    c.most = c.most_read = INT64_MAX;
    return compute_run(&c) && known_whole(&out) ? edit_constant(e, &out) : 0;
}
