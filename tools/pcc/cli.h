/* The command line: one table of options, those of the writers (backends.h) among them. */
#ifndef PCC_TOOLS_CLI_H
#define PCC_TOOLS_CLI_H

#include "backends/backends.h"
#include "passes/passes.h"

enum cli_id {
    CLI_PASSES,
    CLI_OUTPUT,
    CLI_DEVICES,
    CLI_LINK,
    CLI_GROUP,
    CLI_LEVELS,
    CLI_TRANSFER_SCALE,
    CLI_IO,
    CLI_OVERLAP,
    CLI_SCHEDULE,
    CLI_MICRO_BATCHES,
    CLI_MICRO_BATCH_SIZE,
    CLI_GLOBAL_BATCH,
    CLI_PROFILED_BATCH,
    CLI_SLICES,
    CLI_WARMUP,
    CLI_RECOMPUTE,
    CLI_DUPLEX,
    CLI_ALLREDUCE,
    CLI_ALLREDUCE_LANE,
    CLI_ALLREDUCE_OVERLAP,
    CLI_WORKSPACE,
    CLI_WEIGHT_SHARE,
    CLI_PER_DEVICE,
    CLI_REPLICATE,
    CLI_SYNC,
    CLI_EFFICIENCY,
    CLI_RESERVE,
    CLI_PART_COST,
    CLI_OBJECTIVE,
    CLI_JUDGE,
    CLI_NETWORK,
    CLI_CONTENTION,
    CLI_DISPATCH,
    CLI_MEMORY_MODEL,
    CLI_OPTIMIZER,
    CLI_CUT,
    CLI_CPUS,
    CLI_PIECES,
    CLI_DIM,
    CLI_COSTS,
    CLI_PROFILE_AT,
    CLI_PROFILE_CHECK,
    CLI_PIN,
    CLI_STATE,
    CLI_KEEP_BLOCKS,
    CLI_TIME_LIMIT,
    CLI_MAX_STATES,
    CLI_EMIT,
    CLI_REPLAY,
    CLI_ORDER_REPORT,
    CLI_COMPARE,
    CLI_BASELINES,
    CLI_EXPLAIN_BOUND,
    CLI_ALLOW_LINKS,
    CLI_CHECK_ANNOTATIONS,
    CLI_CHECK_SCHEDULE,
    CLI_PRINT_PIPELINE,
    CLI_PRINT_BEFORE,
    CLI_PRINT_AFTER,
    CLI_PRINT_AFTER_ALL,
    CLI_STOP_AFTER,
    CLI_VERIFY_EACH,
    CLI_TIME_PASSES,
    CLI_QUIET,
    CLI_VERBOSE,
    CLI_COLOR,
    CLI_DIAG,
    CLI_WARNINGS,
    CLI_LIST_DEVICES,
    CLI_LIST_PASSES,
    CLI_LIST_OPS,
    CLI_HELP_PASS,
    CLI_HELP_MAN,
    CLI_HELP_COMPLETION,
    CLI_HELP,
    CLI_VERSION,
    CLI_WRITER, /* the first of the writers' own options */
    CLI_COUNT = CLI_WRITER + 64
};

/* Where --help shows an option. */
enum cli_group { IN_INPUT, IN_DEVICES, IN_COSTS, IN_PLANNING, IN_OUTPUT, IN_LOOKING, CLI_GROUPS };
extern const char *const cli_group_name[CLI_GROUPS];
#define CLI_SHORT "short" /* value of --help if it is said as -h */

/* Exit codes. */
enum {
    EXIT_INPUT = 1,
    EXIT_USAGE = 2,
    EXIT_INFEASIBLE = 3,
    EXIT_UNVERIFIED = 4,
    EXIT_INTERNAL = 70
};

struct cli_option {
    int id; /* enum cli_id, or CLI_WRITER and more */
    enum cli_group group;
    char letter;                     /* 0: none */
    const char *name, *arg, *help;   /* arg NULL: a flag */
    const struct writer_opt *writer; /* of a writer's own option, else NULL */
};

struct cli {
    const struct cli_option *option; /* the table, in the order of --help */
    uint32_t noption;
    const char *input;
    const char *value[CLI_COUNT]; /* the last one given; "" for a flag; NULL: not given */
    const char **list[CLI_COUNT]; /* all that were given, for options that repeat */
    uint32_t n[CLI_COUNT];
    bool replay; /* the options are those of a reproducer: repro.h */
};

/* 0, or -1 with a diagnostic (usage).  c->option is there in any case; all of it lives in a. */
int cli_parse(struct cli *c, int argc, char **argv, struct arena *a, struct diag *d);
/* --help, and -h: the options that most use. */
void cli_help(FILE *f, const struct cli *c);
void cli_help_short(FILE *f, const struct cli *c);
/* Whether what goes to f has colours, by the value of --color (NULL: not given). */
bool cli_colored(const char *choice, FILE *f);
/* The option of a name; NULL: none. */
const struct cli_option *cli_named(const struct cli *c, const char *name);

#endif
