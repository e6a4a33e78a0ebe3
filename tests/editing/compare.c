/* compare-module{with=FILE}: an error unless the model in FILE, which this module was written to, is the same. */
#include "frontends/frontends.h"
#include "tests/editing/editing.h"
#include "tests/support/module_equal.h"

struct compare_options {
    const char *with;
};

static const struct opt compare_opts[] = {{.kind = OPT_TEXT,
                                           .name = "with",
                                           .off = offsetof(struct compare_options, with),
                                           .def = "",
                                           .help = "the model's file"},
                                          {0}};

static int run(struct ctx *x, const void *options)
{
    const struct compare_options *o = options;
    struct onnx_options how = {.allow_links = true};
    struct module *m = onnx_read(o->with, &how, x->use.scratch, x->use.diag);
    if (m == NULL)
        return -1;
    return module_written(x->scene.m, m) ? 0
                                         : diag_error(x->use.diag, "%s: another module", o->with);
}

const struct pass pass_compare_module = {.name = "compare-module",
                                         .help = "compare with a file",
                                         .opts = compare_opts,
                                         .optsize = sizeof(struct compare_options),
                                         .run = run};
