/* A listener hears the progress of long work, and may end the work.  The library prints no progress itself. */
#ifndef PCC_IR_BASE_LISTENER_H
#define PCC_IR_BASE_LISTENER_H

#include "ir/base/signal_flag.h"

#include <stdbool.h>
#include <stdint.h>

/* How far the work is. */
struct progress {
    const char *pass;  /* name of the running pass, as in -p; NULL: no pass is running */
    const char *phase; /* such as "searching"; NULL: the pass begins, or has ended */
    uint32_t done;     /* thousandths of the phase that are done; 0: just begun, or unknown */
    int64_t value;     /* value of the best plan so far in ps; 0: there is none yet */
    int64_t bound; /* lower bound in ps on the values of the plans that are searched; 0: unknown */
};

/* The caller's ways to hear progress and to end the work.  If all fields are zero, it does neither. */
struct listener {
    /* the stop flag, which a signal handler may set: *stop != 0: finish with the best plan so far; NULL: no flag */
    const signal_flag *stop;
    /* Called with the progress, many times a second, by the thread that runs the passes.  Returns true: finish with
     * the best plan so far.  NULL: no calls. */
    bool (*tell)(void *user, const struct progress *p);
    void *user; /* passed to tell() */
    /* set by the library: */
    const char *pass;     /* name of the running pass; NULL: none */
    struct progress last; /* the last progress passed to tell() */
    bool ended;           /* tell returned true */
};

/* Calls l's tell() with p, in which the running pass is filled in; does nothing if l is NULL, has no tell(), or tell()
 * has returned true before.  No other thread may call listener_ended() at the same time. */
void listener_tell(struct listener *l, struct progress p);
/* Repeats the last progress to l, so that l can end the work after some time without progress. */
void listener_tell_again(struct listener *l);
/* Whether l wants the work to end: by its stop flag, or because tell() has returned true.  false for l == NULL. */
bool listener_ended(const struct listener *l);
/* Whether l's stop flag is set; false for l == NULL. */
bool listener_stopped(const struct listener *l);

#endif
