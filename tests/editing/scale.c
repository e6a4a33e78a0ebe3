/* Passes for measuring how edits scale (tools/bench/edit.py).
 *
 * slice-weights{ways=N}: every matrix of the main graph becomes N weights, slices of its columns, joined by Concat.
 * insert-identities: an Identity behind each node, and as many copies of the first node in a row, each of the one before. */
#include "tests/editing/editing.h"

struct slices_options {
    int64_t ways;
};

static const struct opt slices_opts[] = {{.kind = OPT_INT,
                                          .name = "ways",
                                          .off = offsetof(struct slices_options, ways),
                                          .def = "2",
                                          .lo = "1",
                                          .hi = "64",
                                          .help = "slices of each"},
                                         {0}};

static void slice_one(struct edit *e, struct module *m, vid v, int64_t ways)
{
    const tid t = m->value[v].tensor;
    const struct tensor x = m->tensor[t];
    vid part[64];
    if (x.rank != 2 || !tensor_has_bytes(&x) || m->ints[x.dim + 1] < ways)
        return;
    const int64_t cols = m->ints[x.dim + 1];
    for (int64_t i = 0; i < ways; i++) {
        const int64_t range[] = {cols * i / ways, cols * (i + 1) / ways};
        part[i] = edit_weight(e, 1, "slice", edit_slice(e, t, 1, range, 1));
    }
    nid n = edit_add(e, 1, "Concat");
    edit_operands(e, n, part, (uint32_t)ways);
    edit_set_int(e, n, "axis", 1);
    edit_replace(e, v, edit_result(e, n, NULL, v));
}

static int slice_weights(struct ctx *x, const void *options)
{
    const struct slices_options *o = options;
    struct module *m = x->scene.m;
    struct edit *e = edit_begin(m, x->use.scratch);
    const struct slice init = m->graph[1].init;
    for (uint32_t i = 0; i < init.n; i++)
        slice_one(e, m, m->arg[init.at + i], o->ways);
    edit_sweep(e);
    edit_end(e);
    return 0;
}

const struct pass pass_slice_weights = {.name = "slice-weights",
                                        .help = "matrices become slices of columns",
                                        .opts = slices_opts,
                                        .optsize = sizeof(struct slices_options),
                                        .rewrites = true,
                                        .run = slice_weights};

static int insert_identities(struct ctx *x, const void *options)
{
    struct module *m = x->scene.m;
    struct edit *e = edit_begin(m, x->use.scratch);
    nid most = m->nnode, last = m->graph[1].first;
    (void)options;
    for (nid n = 1; n < most; n++) {
        vid v = node_out(m, n, 0);
        if (v == 0 || m->node[n].graph != 1 || (m->value[v].flags & VALUE_LOST) != 0)
            continue;
        nid k = edit_after(e, n, "Identity");
        edit_operands(e, k, &v, 1);
        edit_made_from(e, k, n);
        edit_replace(e, v, edit_result(e, k, NULL, v));
        last = edit_copy(e, last);
    }
    edit_end(e);
    return 0;
}

const struct pass pass_insert_identities = {
    .name = "insert-identities",
    .help = "an Identity behind each node, and copies of copies",
    .rewrites = true,
    .run = insert_identities};
