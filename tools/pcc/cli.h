/* The command line: one table of options, with the writers' options (backends.h). */
#ifndef PCC_TOOLS_CLI_H
#define PCC_TOOLS_CLI_H

#include "backends/backends.h"
#include "passes/passes.h"

/* The program's own options; settings (tools/lib/settings.h) and the options of writers follow. */
enum cli_id {
    CLI_PASSES,
    CLI_OUTPUT,
    CLI_EMIT,
    CLI_REPLAY,
    CLI_COMPARE,
    CLI_BASELINES,
    CLI_EXPLAIN_BOUND,
    CLI_QUIET,
    CLI_VERBOSE,
    CLI_COLOR,
    CLI_DIAG,
    CLI_LIST_DEVICES,
    CLI_CHECK_ANNOTATIONS,
    CLI_CHECK_SCHEDULE,
    CLI_PRINT_PIPELINE,
    CLI_PRINT_BEFORE,
    CLI_PRINT_AFTER,
    CLI_PRINT_AFTER_ALL,
    CLI_STOP_AFTER,
    CLI_VERIFY_EACH,
    CLI_TIME_PASSES,
    CLI_LIST_PASSES,
    CLI_LIST_OPS,
    CLI_HELP_PASS,
    CLI_HELP_MAN,
    CLI_HELP_COMPLETION,
    CLI_HELP,
    CLI_VERSION,
    CLI_ORDER_REPORT,
    CLI_OWN,
    CLI_COUNT = CLI_OWN + 128
};

extern const char *const cli_topic_name[OPT_TOPICS];

/* Exit codes. */
enum {
    EXIT_INPUT = 1,
    EXIT_USAGE = 2,
    EXIT_INFEASIBLE = 3,
    EXIT_UNVERIFIED = 4,
    EXIT_INTERNAL = 70
};

struct cli_option {
    int id; /* enum cli_id, or CLI_OWN and more */
    const struct opt *row;
    const char *arg, *help;          /* of this program; arg NULL: a flag */
    enum opt_topic topic;            /* the row's, or that of its rare values */
    bool optional;                   /* a value follows behind '=' or not at all */
    const struct writer_opt *writer; /* of a writer's own option, else NULL */
};

struct cli {
    const struct cli_option *option; /* the table, in the order of --help */
    uint32_t noption, nshown;        /* behind the options: rare values of some, for help alone */
    const char *input;
    const char *value[CLI_COUNT]; /* the last one given; "" for a flag; NULL: not given */
    const char **list[CLI_COUNT]; /* all that were given, for options that repeat */
    uint32_t n[CLI_COUNT];
    bool replay; /* the options are those of a reproducer: repro.h */
};

/* 0, or -1 with a diagnostic (usage).  c->option is there in any case; all of it lives in a. */
int cli_parse(struct cli *c, int argc, char **argv, struct arena *a, struct diag *d);
/* --help: the options that most use; --help=all, --help=training. */
void cli_help(FILE *f, const struct cli *c);
void cli_help_all(FILE *f, const struct cli *c);
void cli_help_training(FILE *f, const struct cli *c);
/* Whether what goes to f has colours, by the value of --color (NULL: not given). */
bool cli_colored(const char *choice, FILE *f);
/* The option of a name; NULL: none. */
const struct cli_option *cli_named(const struct cli *c, const char *name);
/* The value of an option that there is; NULL: not given. */
const char *cli_value(const struct cli *c, const char *name);

#endif
