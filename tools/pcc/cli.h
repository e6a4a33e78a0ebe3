/* The command line of pcc: the table of all options, parsing, and --help. */
#ifndef PCC_TOOLS_CLI_H
#define PCC_TOOLS_CLI_H

#include "backends/backends.h"
#include "passes/passes.h"

/* Numbers of the options that only the program has.  Settings (tools/lib/settings.h) and writers' options get the
 * numbers from CLI_OWN on, in the order of the table. */
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

/* [enum opt_topic] titles of the sections of help. */
extern const char *const cli_topic_name[OPT_TOPICS];

/* Exit codes of pcc beside 0.  The first four are equal to values of enum pcc_status; INTERNAL: a fault of pcc. */
enum {
    EXIT_INPUT = 1,
    EXIT_USAGE = 2,
    EXIT_INFEASIBLE = 3,
    EXIT_UNVERIFIED = 4,
    EXIT_INTERNAL = 70
};

/* An option in the table; or, behind the options, the rare values of an option, which help shows as a row of their
 * own. */
struct cli_option {
    int id;                 /* enum cli_id; of settings and writers' options CLI_OWN and more */
    const struct opt *row;  /* the option's description */
    const char *arg, *help; /* word for the value, and text, in help; arg NULL: takes no value */
    enum opt_topic topic;   /* section of help that shows it */
    bool optional;          /* a value can only follow behind '=', and may be missing */
    /* the option as the writer has it; NULL: not a writer's option */
    const struct writer_opt *writer;
};

/* The command line after parsing.  Arrays are indexed by option id. */
struct cli {
    /* [nshown] the table: options in the order of --help, then rare values */
    const struct cli_option *option;
    uint32_t noption, nshown; /* number of options; number of rows with the rare values */
    const char *input;        /* path of the model; NULL: not given */
    /* the last value given; "": given without value; NULL: not given */
    const char *value[CLI_COUNT];
    const char **list[CLI_COUNT]; /* [id][n[id]] all values given, in order */
    uint32_t n[CLI_COUNT];        /* number of times the option is given */
    bool replay; /* the input is a reproducer, whose options were taken over (repro.h) */
};

/* Makes the table c->option and parses the command line into *c, with memory of a.  Returns 0; or reports an error in
 * usage and returns -1, then only the table is complete. */
int cli_parse(struct cli *c, int argc, char **argv, struct arena *a, struct diag *d);
/* Prints the most usual command lines to f. */
void cli_usage(FILE *f);
/* Print help to f: cli_help() prints the usual options (--help), cli_help_all() all options (--help=all),
 * cli_help_training() the options of training. */
void cli_help(FILE *f, const struct cli *c);
void cli_help_all(FILE *f, const struct cli *c);
void cli_help_training(FILE *f, const struct cli *c);
/* Whether output to f is to have colours.  choice: value of --color; NULL: not given. */
bool cli_colored(const char *choice, FILE *f);
/* Returns the option with this long name; NULL: there is none. */
const struct cli_option *cli_named(const struct cli *c, const char *name);
/* Returns the last value given for the option with this name, which must exist; NULL: not given. */
const char *cli_value(const struct cli *c, const char *name);

#endif
