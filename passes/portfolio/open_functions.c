/* open-functions: opens calls of the model's functions, that is, replaces them by the functions' nodes while a plan
 * is made.
 *
 * So planners can cut inside functions.  When the plan is written, calls that no cut divides become calls again
 * (../functions/opened.c).  Only calls in the main graph are opened, and calls in the nodes that replace them; calls
 * in the body of an If or Loop could not be cut anyway.  These calls stay whole: recursive ones; those of functions
 * of another opset (../functions/function_opsets.c); calls for which --costs or --profile-at gives a time, since
 * that time says nothing about the nodes inside; all calls, if the model would have more than CALLS_MOST nodes; and
 * with the option `plan` all calls, if they were whole when that plan was made.  O(nodes of the result). */
#include "passes/functions/opened_calls.h"
#include "passes/cost/measured.h"
#include "passes/functions/opened.h"
#include "passes/given/plan_read.h"

#include <inttypes.h>

/* The values of the options in open_opts. */
struct open_options {
    const char *plan; /* path of a file with a plan; "": none */
};

static const struct opt open_opts[] = {
    {OPT_TEXT, "plan", offsetof(struct open_options, plan), "",
     .help = "nothing is opened if calls were whole when this plan was made (as plan{from=...})"},
    {0}};

/* Times of nodes that the user has given: calls with a time are not opened. */
struct choice {
    const struct cost_table *given; /* NULL: no times */
    uint32_t nclass;                /* number of device classes */
};

/* Returns whether the user has given a time of a call for some class of devices. */
static bool has_time(const struct choice *c, nid call)
{
    for (uint32_t k = 0; c->given != NULL && k < c->nclass; k++)
        if (cost_table_time(c->given, call, k) >= 0)
            return true;
    return false;
}

/* inline_how.enters (inliner.h): returns whether a call that could be opened is to be opened.  in: the function in
 * which the call stands; 0: the main graph.  Only calls in the main graph can have times from files (has_time). */
static bool is_opened(void *user, uint32_t in, nid call, sid name)
{
    const struct choice *c = user;
    (void)name;
    return in != 0 || !has_time(c, call);
}

/* pass.run: opens the calls whose nodes planners shall see (head of this file).  Returns 0, or -1 after an error. */
static int open_run(struct ctx *x, const void *options)
{
    const struct open_options *o = options;
    struct module *m = x->scene.m;
    uint64_t nodes;
    uint32_t before = m->graph[1].count;
    if (m->nfunction == 0 || !module_has_calls(m) || m->cost != NULL || x->results.plan != NULL ||
        (*o->plan != '\0' && !plan_calls_open(x, o->plan)))
        return 0; /* costs or a plan that came with the input are about whole calls */
    if (x->levels.base != NULL || x->results.inferred)
        return diag_error(x->use.diag,
                          "open-functions comes before all other passes: what they found "
                          "out does not hold for the new nodes");
    struct choice c = {cost_table_peek(x, m),
                       x->scene.cluster != NULL ? x->scene.cluster->ncls : 0};
    x->results.looked_inside = true;
    struct functions *f = functions_study(m, m->mem);
    /* a copy: functions_fit adds opsets to it, which the model gets only if the calls are opened */
    struct module opsets = *m;
    opsets.mem = x->use.scratch;
    opsets.capopset = opsets.nopset;
    functions_fit(&opsets, f, "open-functions", x->use.scratch, x->use.diag);
    functions_measure(m, f);
    const struct inline_how how = {.functions = f, .enters = is_opened, .user = &c};
    int64_t calls = calls_few(m, f, &nodes) ? opened_make(x, how) : -1;
    if (calls < 0)
        diag_note(x->use.diag,
                  "open-functions: calls stay whole: opened, they would be more than %d "
                  "nodes, or have names that take too much memory",
                  CALLS_MOST);
    if (calls > 0)
        diag_detail(x->use.diag, "open-functions: %" PRId64 " calls are opened: %u nodes are %u",
                    calls, before, m->graph[1].count);
    return 0;
}

const struct pass pass_open_functions = {
    .name = "open-functions",
    .help = "plan inside of calls of the model's functions; parts keep those that no cut divides",
    .opts = open_opts,
    .optsize = sizeof(struct open_options),

    .run = open_run,
};
