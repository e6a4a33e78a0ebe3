/* Options of passes and writers, and settings of a run: tables in which each row (struct opt) describes one option, its
 * values, and the struct field that holds its value.
 *
 * A row is the only description of its option: the command line, the library, files, help, the manual page,
 * completions and the warnings of options without effect are made from the rows (CONTRIBUTING.md, "An option"). */
#ifndef PCC_IR_BASE_OPTIONS_H
#define PCC_IR_BASE_OPTIONS_H

#include "ir/base/arena.h"

#include <stdbool.h>
#include <stddef.h>

/* Kinds of values, with their text and the number that the field holds. */
enum opt_kind {
    OPT_INT,    /* a count such as "4" or "2k" */
    OPT_BOOL,   /* "true" or "false" */
    OPT_BYTES,  /* "16GiB"; the value is in bytes */
    OPT_TIME,   /* "12.5us", "0"; the value is in ps */
    OPT_TEXT,   /* any text; the field is a const char * */
    OPT_CHOICE, /* one of the words opt.names; the value is the word's index */
    OPT_SET,    /* some of opt.names, "a,b", or "none": bit k is set for names[k] */
    OPT_RATE,   /* "25GB/s"; the value is in bytes per second */
    OPT_SHARE   /* "0.35"; the value is in millionths */
};

/* The sections of help and of the manual page; each setting is shown in one. */
enum opt_topic {
    IN_INPUT,
    IN_DEVICES,
    IN_COSTS,
    IN_PLANNING,
    IN_TRAINING,
    IN_OUTPUT,
    IN_LOOKING,
    IN_COMPARING, /* settings that only comparisons with published figures and benchmarks need */
    OPT_TOPICS    /* number of sections */
};

/* Conditions for a setting to have an effect, as bits.  SHOWN: something is planned, written or listed.  PLAN: a plan
 * is made.  COPIES: stages may run on several devices.  BACKWARD: the model has a backward pass.  MEMORY: an
 * accelerator has a memory of stated size. */
enum { WITH_SHOWN = 1, WITH_PLAN = 2, WITH_COPIES = 4, WITH_BACKWARD = 8, WITH_MEMORY = 16 };

/* One option.  Its value is in the field at byte `off` of a struct of options that the caller passes.  The members from
 * `topic` on are only for settings: --NAME=VALUE of the program, pcc_set(NAME, VALUE) of the library. */
struct opt {
    enum opt_kind kind;
    const char *name;
    size_t off;          /* offset of the field, in bytes */
    const char *def;     /* text of the default; NULL for settings, whose help tells the default */
    const char *lo, *hi; /* limits of INT, BYTES, TIME, RATE, as text, both included; NULL: none */
    /* words for values; the last entry is NULL. CHOICE and SET: see enum opt_kind; names[0] may be "", which is no
     * valid word. INT: names[k] is the word for the number -k; NULL: no words */
    const char *const *names;
    const char *help;
    unsigned bytes; /* size of a number's field: 1 (bool), 4 (enum or uint32_t); 0: 8 (int64_t) */

    enum opt_topic topic;
    char letter;      /* 'x' for the short option -x; 0: none */
    const char *arg;  /* word for the value in help, such as "FILE"; NULL: a word for the kind */
    const char *like; /* an example of a value, for messages: "25GB/s" */
    unsigned with;    /* WITH_*: the setting has an effect only if all of these hold */
    /* ABOUT_* (ir/cluster/exec_model.h): the setting has an effect only if a plan is made and the execution model has
     * one of these bits; 0: in every execution model */
    unsigned about;
    const char *key; /* name in the textual IR; NULL: the option's name with '_' for '-' */
    bool in_plans;   /* plan JSON has the setting, under the name opt_json() */
    /* bit k: help shows names[k] in the section IN_COMPARING, with rare_help, instead of beside the other names */
    unsigned rare;
    const char *rare_help;
};

/* Stores the default of each row of a table (NULL: no rows) in its field of the struct opts. */
void opts_reset(const struct opt *table, void *opts);
/* Stores the value that text stands for in o's field of opts; returns false if text is no valid value.  Of TEXT the
 * pointer itself is stored. */
bool opt_set(const struct opt *o, void *opts, const char *text);
/* Whether text is a valid value of o. */
bool opt_fits(const struct opt *o, const char *text);
/* Returns o's field of opts as a number.  o must not be a TEXT. */
int64_t opt_number(const struct opt *o, const void *opts);
/* Stores the number v in o's field of opts, unchecked.  o must not be a TEXT. */
void opt_put(const struct opt *o, void *opts, int64_t v);
/* Whether the number v is a valid value of o: of CHOICE an index of a name; else within the bounds, or -k for a
 * names[k]. */
bool opt_has(const struct opt *o, int64_t v);
/* Returns o's field of opts as text that opt_set() takes.  The text lives in a, or as long as the table and opts. */
const char *opt_get(const struct opt *o, const void *opts, struct arena *a);
/* Returns words for the valid values of a pass's or writer's option, for messages and help: "an integer in 1..5",
 * "one of shared inline". */
const char *opt_wants(const struct opt *o, struct arena *a);
/* Returns o's names in a row, with `last` before the last name and sep between the others: "devices, blocks or
 * nodes". */
const char *opt_names(const struct opt *o, const char *sep, const char *last, struct arena *a);
/* Returns words for the valid values of a setting, for messages: "few or transfers", "a rate such as 25GB/s".  Of
 * options with a default that are neither CHOICE nor SET: as opt_wants(). */
const char *opt_expected(const struct opt *o, struct arena *a);
/* Both return a setting's name in files: opt_key() in the textual IR; opt_json() in plan JSON, where the names of sizes
 * end in "_bytes". */
const char *opt_key(const struct opt *o, struct arena *a);
const char *opt_json(const struct opt *o, struct arena *a);

#endif
