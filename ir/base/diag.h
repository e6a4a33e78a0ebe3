/* Diagnostics: errors, warnings and notes, each one line that is passed to a sink; no globals.
 *
 * A function that can fail returns 0, or reports at least one error and returns -1: `return diag_error(d, ...)` does
 * both.  Lines are lower case, quote names, say what was expected, and never end in a newline.  Control characters and
 * other bytes that a terminal would interpret are shown as \xNN (utf8.h); a character in an error or a warning that
 * looks like another one, or like none, is named behind it.  Warnings have names, by which the user can hide them or
 * make them fail the run (warnings.h).  All functions but diag_tell() take d == NULL: messages go to stderr and are not
 * counted. */
#ifndef PCC_IR_BASE_DIAG_H
#define PCC_IR_BASE_DIAG_H

#include "ir/base/warnings.h"

#include <stdbool.h>
#include <stdint.h>

struct clock;
struct listener;

enum diag_level { DIAG_NOTE, DIAG_WARNING, DIAG_ERROR };

struct diag {
    /* the sink, called with each line; NULL: lines go to stderr.  w: WARN_NONE for notes and errors */
    void (*emit)(void *user, enum diag_level level, enum warning w, const char *line);
    void *user;                                 /* passed to emit() */
    uint32_t errors, warnings;                  /* numbers of errors and of warnings so far */
    uint32_t failures;                          /* number of warnings that make the run fail */
    bool hidden[WARN_COUNT], fatal[WARN_COUNT]; /* -Wno-NAME, -Werror=NAME */
    bool verbose;                               /* details are shown, as notes */
    /* a file or folder is being written, and the user may interrupt that (diag_broken_off); an interrupted file or
     * folder is removed */
    bool may_break_off;
    uint32_t limit;      /* number of errors that are shown, further ones are only counted; 0: 20 */
    struct clock *clock; /* says when readers and shape inference must end; NULL: never */
    struct listener *listener; /* hears the progress of readers and writers; NULL: no listener */
    uint32_t looks;            /* number of calls of diag_stopped() */
};

/* Returns a struct diag that counts messages and shows none, for attempts that may fail without an error. */
struct diag diag_silent(void);
/* Counts an error and shows it, unless d->limit errors were shown before.  Always returns -1. */
int diag_error(struct diag *d, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Counts the warning w and shows it; does nothing if d->hidden[w]. */
void diag_warning(struct diag *d, enum warning w, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* Tells d's listener, if any, that `done` of `of` parts of a phase ("writing weights") are done (of == 0: the total
 * is unknown).  phase == NULL: the phase has ended.  d must not be NULL. */
void diag_tell(struct diag *d, const char *phase, uint64_t done, uint64_t of);
/* For loops over an input: returns whether d->clock is out and the loop must end; the first such call reports an error.
 * Only every 1024th call looks at the clock, and lets d's listener hear the last progress again. */
bool diag_stopped(struct diag *d);
/* For loops that write an output: if d->may_break_off and the stop flag of d's listener is set, reports an error and
 * returns -1; else returns 0. */
int diag_broken_off(struct diag *d);
/* Shows a note: information that the user may act on. */
void diag_note(struct diag *d, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Shows a detail of the work as a note if d->verbose (or d == NULL), else does nothing. */
void diag_detail(struct diag *d, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
