/* The command line of the programs that run splits: options by rows of struct opt, help, manual page and completions
 * made from them. */
#ifndef PCC_TOOLS_RUN_PROGRAM_H
#define PCC_TOOLS_RUN_PROGRAM_H

#include "ir/base/diag.h"
#include "ir/base/options.h"
#include "ir/base/signal_flag.h"

#include <stdio.h>

/* A program and its options.  Of a row of options only these fields count: kind, name, letter, arg, def, lo, hi, names,
 * help.  An OPT_BOOL whose arg is NULL takes no value. */
struct program {
    const char *name;        /* name of the program: "pcc-profile" */
    const char *does;        /* what it does, in a few words */
    const char *usage;       /* the forms of its command line, a line each */
    const char *description; /* a paragraph of help on what the program does */
    const char *operand;     /* what stands without an option, for completions: "model or folder" */
    const char *end;         /* last lines of help: exit codes, where to read on */
    const struct opt *row;   /* ends with a zero row */
};

/* Rows of the options that all these programs have: the engine, quiet and verbose, help. */
#define PROGRAM_ROWS                                                                                \
    {OPT_TEXT, "engine", .arg = "NAME",                                                             \
     .help =                                                                                        \
         "what runs parts: onnxruntime (default), or stub, which only pretends to, for tests"},     \
        {OPT_TEXT, "onnxruntime", .arg = "FILE",                                                    \
         .help =                                                                                    \
             "the shared library of ONNX Runtime (default: $PCC_ONNXRUNTIME, libonnxruntime.so.1, " \
             "then that of the Python environment)"},                                               \
        {OPT_BOOL, "quiet", .letter = 'q', .help = "no notes"},                                     \
        {OPT_BOOL, "verbose", .letter = 'v',                                                        \
         .help = "more notes: the library and what sessions are set to"},                           \
        {OPT_BOOL, "help", .letter = 'h', .help = "this text"},                                     \
        {OPT_BOOL, "help-man", .help = "the manual page, for man"},                                 \
        {OPT_CHOICE, "help-completion", .arg = "bash|zsh|fish",                                     \
         .names = (const char *const[]){"bash", "zsh", "fish", NULL},                               \
         .help = "completions for a shell"},                                                        \
        {OPT_BOOL, "version", .help = "the version of pcc"}

/* An option that was given. */
struct program_option {
    const struct opt *row;
    const char *value; /* "": the option takes no value */
};

/* The command line after parsing. */
struct program_args {
    const struct program *program;
    struct program_option *given; /* [ngiven] in their order */
    const char **operand;         /* [noperand] the arguments that are no options */
    uint32_t ngiven, noperand;
    char **rest; /* what follows "--", ends with NULL; NULL: there is no "--" */
};

/* Returns the last value of an option; NULL: it was not given. */
const char *program_value(const struct program_args *args, const char *name);
/* Returns value number i = 0, 1, ... of an option that repeats; NULL: there are no more. */
const char *program_nth(const struct program_args *args, const char *name, uint32_t i);
/* Returns the number that an option of kind INT, TIME or CHOICE has, or by default has. */
int64_t program_number(const struct program_args *args, const char *name);
/* Begins the program args->program: parses its command line into *args, sets d->verbose by --verbose, and prints help,
 * the manual page, completions or the version if one of them is asked for.  Returns whether the work is to be done;
 * *exit becomes 0, or 2 after an error in usage. */
bool program_begin(struct program_args *args, int argc, char **argv, struct arena *a,
                   struct diag *d, int *exit);
/* struct diag.emit: prints a line to stderr, "pcc-run: error: ..."; notes unless --quiet was given.  args: the struct
 * program_args. */
void program_show(void *args, enum diag_level level, enum warning w, const char *line);
/* Returns the folder of the running program, with a '/' behind it, in a; "": it is not known. */
const char *program_folder(struct arena *a);
/* Has Ctrl-C, and other signals that end a program, set *stop to 1; the second one ends the program.  Has writes beyond
 * the limit on file sizes fail, instead of a signal end the program. */
void program_catch(signal_flag *stop);
/* Has another signal set the flag of program_catch(), too. */
void program_catch_also(int signal);
/* Runs work(arg), which sets *exit and takes memory from `a` (NULL: there was no memory for the arena), and then frees
 * `a`.  Returns the exit code: *exit; or 1 and an error, if memory ran out. */
int program_guarded(const struct program *p, struct arena *a, void (*work)(void *arg), void *arg,
                    int *exit);

#endif
