/* The pass inline-functions replaces calls of the model's functions by the functions' nodes, so that all later passes
 * (fusion, planners, the division into parts) see these nodes.
 *
 * Calls are replaced in the main graph and in bodies of If, Loop and Scan, and so are the calls among the new nodes
 * (inliner.c).  A new node is named after the call and the node in the function, with a slash between the two names.
 * A call stays if the function's nodes were written for other versions of their operators than the model's, unless
 * these operators did not change between the versions (opset_history.h), or if the option `only` does not match the
 * function's name.  The model then also imports the opsets that only the replaced functions imported.
 * Recursive functions, calls nested deeper than CALL_DEPTH and models that would get more than max-nodes nodes are
 * errors: a file of a kilobyte can ask for 2^100 nodes.  Functions that no node calls any more are removed.
 * O(size of the new model). */
#include "passes/functions/inliner.h"
#include "passes/functions/patterns.h"

#include <inttypes.h>

/* Options of the pass; the table below describes them. */
struct inline_options {
    const char *only;
    int64_t max_nodes;
};

static const struct opt inline_opts[] = {
    {OPT_TEXT, "only", offsetof(struct inline_options, only), "",
     .help = "regular expression: functions whose name it does not match stay; empty: all go"},
    {OPT_INT, "max-nodes", offsetof(struct inline_options, max_nodes), "1000000", .lo = "1",
     .hi = "100000000", .help = "most nodes that the model may have afterwards"},
    {0}};

/* The new model may have at most ENTRIES_PER_NODE * max-nodes entries in its arrays (nodes, values, operands, ...). */
enum { ENTRIES_PER_NODE = 64 };

/* ---- functions that stay ---- */

/* Sets the fate FATE_UNWANTED of each function whose name the regular expression `only` ("": all match) does not match.
 * Returns 0, or -1 after an error. */
static int choose_functions(struct ctx *x, struct functions *f, const char *only)
{
    char why[PATTERN_WHY];
    bool any = false;
    if (*only == '\0')
        return 0;
    struct arena *own = arena_new(x->use.scratch);
    const struct regex *re = pattern_compile(only, own, why);
    if (!re)
        return diag_error(x->use.diag,
                          "inline-functions: only=%.200s: not a regular expression: %s", only, why);
    for (uint32_t i = 1; i < f->n; i++) {
        bool match = pattern_matches(re, module_str(x->scene.m, x->scene.m->function[i].name),
                                     x->use.scratch);
        any = any || match;
        f->fate[i] = match ? f->fate[i] : FATE_UNWANTED;
    }
    arena_free(own);
    if (!any)
        return diag_error(x->use.diag, "inline-functions: only=%s matches no function of the model",
                          only);
    return 0;
}

/* ---- limits ---- */

/* Returns a function that `body` calls and from which calls lead into a cycle (or which is on one); 0: there is
 * none. */
static uint32_t cyclic_callee(const struct module *body, const struct functions *f)
{
    for (nid n = 1; n < body->nnode; n++) {
        uint32_t k = body->node[n].callee;
        if (k != 0 && f->fate[k] == FATE_CYCLE)
            return k;
    }
    return 0;
}

/* Returns a function on the cycle of calls that function `from` is on or leads to: the first function that a walk along
 * calls meets for the second time. */
static uint32_t find_in_cycle(const struct module *m, const struct functions *f, uint32_t from,
                              struct arena *scratch)
{
    uint8_t *seen = arena_alloc(scratch, (size_t)f->n + 1);
    uint32_t at = from, next = from;
    for (; next != 0 && !seen[next]; next = cyclic_callee(m->function[at].body, f)) {
        at = next;
        seen[at] = 1;
    }
    return next ? next : at;
}

/* Checks function k (0: none), which node `call` of module `in` calls.  Returns 0, or -1 after an error: k leads to a
 * recursive function, or calls in k are nested too deep. */
static int check_callee(struct ctx *x, const struct functions *f, uint32_t k, nid call,
                        const struct module *in)
{
    if (k != 0 && f->fate[k] == FATE_CYCLE)
        return diag_error(x->use.diag,
                          "%s: node '%s' calls '%s', which leads to '%s', which calls itself: "
                          "recursive functions cannot be inlined",
                          module_str(x->scene.m, x->scene.m->path), node_name(in, call),
                          function_name(x->scene.m, k, x->use.scratch),
                          function_name(x->scene.m, find_in_cycle(x->scene.m, f, k, x->use.scratch),
                                        x->use.scratch));
    if (k != 0 && f->fate[k] == FATE_DEEP)
        return diag_error(
            x->use.diag,
            "%s: node '%s' calls '%s': calls nested %u deep cannot be inlined, expected "
            "at most %d",
            module_str(x->scene.m, x->scene.m->path), node_name(in, call),
            function_name(x->scene.m, k, x->use.scratch), f->depth[k], CALL_DEPTH);
    return 0;
}

/* Checks the called functions of all nodes of the model.  Returns 0, or -1 after an error: calls are recursive or
 * nested too deep. */
static int check_calls(struct ctx *x, const struct functions *f)
{
    const struct module *m = x->scene.m;
    for (nid n = 1; n < m->nnode; n++) {
        if (check_callee(x, f, m->node[n].callee, n, m) != 0)
            return -1;
    }
    return 0;
}

/* Returns 0, or -1 after an error: with its calls replaced the model would have more than `most` nodes, or more than
 * ENTRIES_PER_NODE * most entries. */
static int check_size(struct ctx *x, const struct functions *f, int64_t most)
{
    uint64_t nodes, entries;
    functions_total(x->scene.m, f, &nodes, &entries);
    if (nodes <= (uint64_t)most && entries / ENTRIES_PER_NODE <= (uint64_t)most)
        return 0;
    uint32_t worst = 0;
    for (nid n = 1; n < x->scene.m->nnode; n++) {
        uint32_t k = x->scene.m->node[n].callee;
        if (k != 0 && f->fate[k] == FATE_FREE && (worst == 0 || f->entries[k] > f->entries[worst]))
            worst = k;
    }
    const char *name = worst != 0 ? function_name(x->scene.m, worst, x->use.scratch) : "";
    if (nodes <= (uint64_t)most)
        return diag_error(
            x->use.diag,
            "%s: with its calls replaced the model's nodes would have up to %" PRIu64
            " operands, values and the like, most of them from function '%s': expected at most %d for "
            "each of %" PRId64 " nodes (inline-functions{max-nodes=...}), or say which with only=",
            module_str(x->scene.m, x->scene.m->path), entries, name, ENTRIES_PER_NODE, most);
    return diag_error(x->use.diag,
                      "%s: with its calls replaced the model would have %s %" PRIu64
                      " nodes, most of them from function '%s': expected at most %" PRId64
                      " (inline-functions{max-nodes=...}), or say which with only=",
                      module_str(x->scene.m, x->scene.m->path),
                      nodes == UINT64_MAX ? "more than" : "up to", nodes, name, most);
}

/* ---- after the calls are replaced ---- */

/* Appends the functions that nodes of m, the model or a body, call to todo[*n], unless called[function] is set:
 * then the function is in todo already. Updates called[] and *n. */
static void list_callees(const struct module *m, bool *called, uint32_t *todo, uint32_t *n)
{
    for (nid k = 1; k < m->nnode; k++) {
        uint32_t f = m->node[k].callee;
        if (f == 0 || called[f])
            continue;
        called[f] = true;
        todo[(*n)++] = f;
    }
}

/* Removes functions that the model's nodes do not call, directly or through other functions; the others keep their
 * order. */
static void drop_functions(struct ctx *x)
{
    struct module *m = x->scene.m;
    /* now: [function] the new index of a function that stays */
    uint32_t n = m->nfunction, *now = arena_array(x->use.scratch, (size_t)n + 1, sizeof *now);
    uint32_t *todo = arena_array(x->use.scratch, (size_t)n + 1, sizeof *todo), ntodo = 0, kept = 1;
    bool *called = arena_array(x->use.scratch, (size_t)n + 1, sizeof *called);
    list_callees(m, called, todo, &ntodo);
    for (uint32_t i = 0; i < ntodo; i++)
        list_callees(m->function[todo[i]].body, called, todo, &ntodo);
    for (uint32_t f = 1; f < n; f++) {
        if (!called[f])
            continue;
        m->function[kept] = m->function[f];
        now[f] = kept++;
    }
    m->nfunction = kept;
    for (nid k = 1; k < m->nnode; k++)
        m->node[k].callee = now[m->node[k].callee];
    for (uint32_t f = 1; f < kept; f++) {
        struct module *b = m->function[f].body;
        for (nid k = 1; k < b->nnode; k++)
            b->node[k].callee = now[b->node[k].callee];
    }
}

/* Notes how many nodes and calls the model had (r->nnode0 - 1, calls) and has now, and names the first call that is
 * left of a function with a body. */
static void note_inlined(const struct ctx *x, const struct inlined_module *r, uint32_t calls)
{
    const struct module *m = x->scene.m;
    uint32_t left = 0;
    nid first = 0;
    for (nid n = 1; n < m->nnode; n++) {
        if (m->node[n].callee == 0)
            continue;
        first = left++ == 0 ? n : first;
    }
    diag_note(x->use.diag,
              "inline-functions: %u nodes with %u calls are now %u nodes with %u calls",
              r->nnode0 - 1, calls, m->nnode - 1, left);
    for (nid n = first; n < m->nnode && n != 0; n++) { /* first is 0 if no call is left */
        uint32_t f = m->node[n].callee;
        if (f == 0 || x->scene.m->function[f].body == NULL)
            continue;
        diag_note(x->use.diag, "inline-functions: the first call that is left is node '%s' of '%s'",
                  node_name(m, n), function_name(x->scene.m, f, x->use.scratch));
        break;
    }
}

/* pass.run: replaces calls by the nodes of their functions: all calls, or the calls of functions whose names the option
 * `only` matches.  Returns 0, or -1 after an error. */
static int run_inline(struct ctx *x, const void *options)
{
    const struct inline_options *o = options;
    struct module *m = x->scene.m;
    struct inlined_module r;
    uint32_t calls = 0;
    for (nid n = 1; n < m->nnode; n++)
        calls += m->node[n].callee != 0;
    if (calls == 0) {
        diag_note(x->use.diag, "inline-functions: nothing calls a function of the model");
        return 0;
    }
    if (m->cost != NULL || x->levels.base != NULL || x->results.plan != NULL || x->results.inferred)
        return diag_error(x->use.diag,
                          "inline-functions comes before all other passes: what they found "
                          "out does not hold for the new nodes");
    struct functions *f = functions_study(m, x->use.scratch);
    if (choose_functions(x, f, o->only) != 0 || check_calls(x, f) != 0)
        return -1;
    functions_fit(m, f, "inline-functions", x->use.scratch, x->use.diag);
    functions_measure(m, f);
    if (check_size(x, f, o->max_nodes) != 0)
        return -1;
    const struct inline_how how = {.functions = f, .names = true};
    if (inline_calls(m, &how, m->mem, x->use.scratch, x->use.diag, &r) != 0)
        return -1;
    *m = r.m;
    m->rewritten = true;
    m->edits++;
    x->results.looked_inside = *o->only == '\0';
    drop_functions(x);
    note_inlined(x, &r, calls);
    return 0;
}

const struct pass pass_inline_functions = {
    .name = "inline-functions",
    .help = "replace calls of the model's functions by their nodes",
    .opts = inline_opts,
    .optsize = sizeof(struct inline_options),
    .rewrites = true,
    .run = run_inline,
};
