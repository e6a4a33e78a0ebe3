/* Options of passes and writers, and settings of a run: tables of rows, each a field of a struct, its values in words.
 *
 * What a row says is said nowhere else: the command line, the library, files, help, the manual page, completions and
 * warnings of options without effect go by rows (CONTRIBUTING.md, "An option"). */
#ifndef PCC_IR_BASE_OPTIONS_H
#define PCC_IR_BASE_OPTIONS_H

#include "ir/base/arena.h"

#include <stdbool.h>
#include <stddef.h>

/* SET: some of the names, "a,b", or "none".  RATE: bytes per second.  SHARE: millionths. */
enum opt_kind {
    OPT_INT,
    OPT_BOOL,
    OPT_BYTES,
    OPT_TIME,
    OPT_TEXT,
    OPT_CHOICE,
    OPT_SET,
    OPT_RATE,
    OPT_SHARE
};

/* Where help and the manual page show a setting: a section each. */
enum opt_topic {
    IN_INPUT,
    IN_DEVICES,
    IN_COSTS,
    IN_PLANNING,
    IN_TRAINING,
    IN_OUTPUT,
    IN_LOOKING,
    IN_COMPARING, /* only comparisons with published figures and benchmarks need it */
    OPT_TOPICS
};

/* What must be there for a setting to have an effect: bits.  SHOWN: something is planned, written or listed.
 * BACKWARD: the model trains.  COPIES: stages may run on several devices.  MEMORY: of stated size. */
enum { WITH_SHOWN = 1, WITH_PLAN = 2, WITH_COPIES = 4, WITH_BACKWARD = 8, WITH_MEMORY = 16 };

/* One option: a field of the struct of options at `off`: a number, bool, const char *; of CHOICE a number, the
 * place in names, which ends in NULL; of SET a number, bits by such places.  What follows `help` is of settings alone:
 * --NAME=VALUE of the program, pcc_set(NAME, VALUE) of the library. */
struct opt {
    enum opt_kind kind;
    const char *name;
    size_t off;
    const char *def;     /* text of the default; of settings NULL: as the help says */
    const char *lo, *hi; /* INT, BYTES, TIME, RATE: inclusive; NULL: none */
    const char *const
        *names; /* CHOICE, SET; a first one that is "" is no word; of INT names[k] stands for -k */
    const char *help;
    unsigned bytes; /* of a number's field: 1 (bool), 4 (an enum, uint32_t); 0: int64_t */

    enum opt_topic topic;
    char letter;      /* -x; 0: none */
    const char *arg;  /* name of the value in help; NULL: by the kind */
    const char *like; /* a value, for messages: "25GB/s" */
    unsigned with;    /* WITH_*: all of these must hold */
    unsigned about;   /* ABOUT_* (ir/cluster/exec_model.h), any of them, and WITH_PLAN; 0: all */
    const char *key;  /* in the textual IR; NULL: the name, with '_' for '-' */
    bool in_plans;    /* JSON of plans has it, named so; of BYTES "_bytes" follows */
    unsigned rare;    /* bits by place: names that stand with IN_COMPARING */
    const char *rare_help; /* of these */
};

/* The defaults of all rows of a table (NULL: none); opts has room for them. */
void opts_reset(const struct opt *table, void *opts);
/* Stores what text says into its field of opts; false: text does not fit.  TEXT keeps the pointer. */
bool opt_set(const struct opt *o, void *opts, const char *text);
/* Whether text is a valid value of o. */
bool opt_fits(const struct opt *o, const char *text);
/* The field as a number; not of TEXT. */
int64_t opt_number(const struct opt *o, const void *opts);
void opt_put(const struct opt *o, void *opts, int64_t v);
/* Whether v is a value of it: of CHOICE a place in names, else within the bounds. */
bool opt_has(const struct opt *o, int64_t v);
/* The field in words that opt_set takes; lives in a or as long as opts. */
const char *opt_get(const struct opt *o, const void *opts, struct arena *a);
/* The valid values of o in words, for messages and help: "an integer in 1..5", "one of shared inline". */
const char *opt_wants(const struct opt *o, struct arena *a);
/* The names of a CHOICE or SET, all but the last two joined by sep: "devices, blocks or nodes". */
const char *opt_names(const struct opt *o, const char *sep, const char *last, struct arena *a);
/* The valid values of a setting in words, for messages: "few or transfers", "a rate such as 25GB/s". */
const char *opt_expected(const struct opt *o, struct arena *a);
/* Its name in files: in the textual IR, in JSON. */
const char *opt_key(const struct opt *o, struct arena *a);
const char *opt_json(const struct opt *o, struct arena *a);

#endif
