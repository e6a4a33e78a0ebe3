/* Planning with arguments of pcc, as they stand behind "--" on the command line of pcc-profile and pcc-run. */
#ifndef PCC_TOOLS_RUN_PLAN_ARGS_H
#define PCC_TOOLS_RUN_PLAN_ARGS_H

#include "ir/base/signal_flag.h"
#include "tools/lib/pcc.h"
#include "tools/pcc/cli.h"

#include <jansson.h>

/* Checks the arguments of pcc, which NULL ends.  Returns 0, or -1 and an error: the arguments name an output, a
 * model, --costs, an objective other than the time per sample, or an option that only the program pcc has. */
int plan_args_check(char **args, struct arena *a, struct diag *d);
/* Returns value number i = 0, 1, ... of --dim among these arguments; NULL: there are no more. */
const char *plan_args_dim(char **args, uint32_t i, struct arena *a);

/* Whether an option of pcc is among these arguments.  name: its long name, without "--". */
bool plan_args_has(char **args, const char *name, struct arena *a);

/* A model, and the settings for planning it. */
struct plan_call {
    struct cli args;     /* the arguments, made by plan_args_parse() */
    const char *model;   /* path of the model */
    const char *devices; /* devices in place of the arguments' own; NULL: the arguments' own */
    const json_t *dims; /* sizes of dimensions by name, beside --dim of the arguments; NULL: none */
    /* pairs as in the manifest, which count if the arguments have no --state; NULL: none */
    const json_t *states;
    const signal_flag *stop; /* 1: Ctrl-C was pressed */
    /* set by plan_write(): what idle_text() says of the plan, in a; NULL: nothing */
    const char *idle;
    struct arena *a;
    struct diag *d;
};

/* Parses the arguments into *to.  Returns 0, or -1 and an error. */
int plan_args_parse(struct cli *to, char **args, struct arena *a, struct diag *d);
/* Plans the model with n files of costs, as --costs takes them, and writes the split.  Returns the status of the
 * library; errors are reported, unless Ctrl-C causes them. */
enum pcc_status plan_write(struct plan_call *c, const char *const *costs, uint32_t n,
                           const char *folder);

#endif
