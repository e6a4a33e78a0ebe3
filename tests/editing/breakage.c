/* break-module{how=...}: edits that leave no module, for the program's answer (test_edit_everything.py).
 *
 * The first two nodes of the main graph in a row are edited: a, and b, which reads what a makes. */
#include "tests/editing/editing.h"

enum how { CIRCLE, DROP, BEYOND, KIND, BODY };

struct break_options {
    int64_t how;
};

static const char *const hows[] = {"circle", "drop", "beyond", "kind", "body", NULL};

static const struct opt break_opts[] = {{.kind = OPT_CHOICE,
                                         .name = "how",
                                         .off = offsetof(struct break_options, how),
                                         .def = "circle",
                                         .names = hows,
                                         .help = "what is wrong afterwards"},
                                        {0}};

/* A node that reads a result of another one, *maker; 0: there is none. */
static nid find_reader(const struct module *m, nid *maker)
{
    for (nid n = m->graph[1].first; n < m->graph[1].first + m->graph[1].count; n++)
        for (uint32_t i = 0; i < m->node[n].nformal; i++) {
            *maker = m->value[node_in(m, n, i)].def;
            if (*maker != 0)
                return n;
        }
    return 0;
}

static int run(struct ctx *x, const void *options)
{
    const struct break_options *o = options;
    struct module *m = x->scene.m;
    nid a, b = find_reader(m, &a);
    vid w = m->graph[1].init.n > 0 ? m->arg[m->graph[1].init.at] : 0;
    if (b == 0 || w == 0)
        return diag_error(x->use.diag, "break-module: no two nodes in a row, or no weight");
    struct edit *e = edit_begin(m, x->use.scratch);
    if (o->how == CIRCLE)
        edit_set_operand(e, a, 0, node_out(m, b, 0));
    else if (o->how == DROP)
        edit_drop(e, a);
    else if (o->how == KIND)
        edit_set_attr(e, b, (struct attr){.name = str_id(m, "group_size")});
    else if (o->how == BEYOND) {
        const struct tensor *t = &m->tensor[m->value[w].tensor];
        int64_t n = m->ints[t->dim];
        tid s = edit_slice(e, m->value[w].tensor, 0, (int64_t[]){n - 1, n + 1}, 1);
        edit_set_operand(e, a, 0, edit_weight(e, 1, "piece", s));
    } else { /* what a body makes is read outside */
        nid n = edit_after(e, a, "If"), in;
        gid g = edit_set_body(e, n, "then_branch");
        edit_operands(e, n, &w, 1);
        in = edit_add(e, g, "Identity");
        edit_operands(e, in, &w, 1);
        vid r = edit_result(e, in, "inner", w);
        edit_output(e, g, r);
        edit_set_operand(e, b, 0, r);
    }
    edit_end(e);
    return 0;
}

const struct pass pass_break_module = {.name = "break-module",
                                       .help = "edits that leave no module",
                                       .opts = break_opts,
                                       .optsize = sizeof(struct break_options),
                                       .rewrites = true,
                                       .run = run};
