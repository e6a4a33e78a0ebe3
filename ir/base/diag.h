/* Diagnostics: one line per finding, handed to a sink; no globals.
 *
 * A function that can fail returns 0, or -1 after it has added at least one error here, so that
 * `return diag_error(d, ...)` is all a check needs.  Lines are lower case, quote names, say what was
 * expected, and never end in a newline.  What a terminal would obey is shown as \xNN (utf8.h).  Warnings
 * have names, by which they can be hidden or made to fail the run (warnings.h). */
#ifndef PCC_IR_BASE_DIAG_H
#define PCC_IR_BASE_DIAG_H

#include "ir/base/warnings.h"

#include <stdbool.h>
#include <stdint.h>

struct clock;
struct listener;

enum diag_level { DIAG_NOTE, DIAG_WARNING, DIAG_ERROR };

struct diag {
    /* NULL: to stderr; w: which warning, WARN_NONE for notes and errors */
    void (*emit)(void *user, enum diag_level level, enum warning w, const char *line);
    void *user;
    uint32_t errors, warnings;
    uint32_t failures;                          /* number of warnings that make the run fail */
    bool hidden[WARN_COUNT], fatal[WARN_COUNT]; /* -Wno-NAME, -Werror=NAME */
    bool verbose;                               /* details are shown, as notes */
    bool may_break_off; /* something is written now that can end in the middle, with nothing left */
    uint32_t limit;     /* errors shown, the rest only counted; 0: 20 */
    struct clock *clock;       /* when readers and shape inference must end; NULL: never */
    struct listener *listener; /* hears the progress of readers and writers; NULL: no listener */
    uint32_t looks;            /* of diag_stopped */
};

/* A struct diag that counts messages and shows none, for attempts that may fail without an error. */
struct diag diag_silent(void);
/* Always returns -1. */
int diag_error(struct diag *d, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Neither shown nor counted if it is hidden. */
void diag_warning(struct diag *d, enum warning w, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* Tells d's listener, if any, that `done` of `of` parts of a phase ("writing weights") are done (of == 0: the total
 * is unknown). phase == NULL: the phase has ended. */
void diag_tell(struct diag *d, const char *phase, uint64_t done, uint64_t of);
/* For loops over an input: whether d->clock is out, which is an error, said once; every 1024th call looks, and tells
 * d's listener that time has passed.  d may be NULL: no. */
bool diag_stopped(struct diag *d);
/* For loops that write what d->may_break_off is about: -1 and an error if d's listener was told to stop, else 0. */
int diag_broken_off(struct diag *d);
/* A note: information that the user may act on. */
void diag_note(struct diag *d, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* A detail of the work: a note if d->verbose, else nothing. */
void diag_detail(struct diag *d, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
