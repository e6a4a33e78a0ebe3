/* A listener hears the progress of long work, and may end the work.  The library prints no progress itself. */
#ifndef PCC_IR_BASE_LISTENER_H
#define PCC_IR_BASE_LISTENER_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

/* How far the work is. */
struct progress {
    const char *pass;  /* the pass at work, named as in -p; NULL: no pass */
    const char *phase; /* such as "searching"; NULL: the pass begins, or has ended */
    uint32_t done;     /* thousandths of the phase; 0: just begun, or unknown */
    int64_t value;     /* of the best plan so far, ps; 0: none yet */
    int64_t bound;     /* no plan that is looked for takes less, ps; 0: nothing is known */
};

/* Zeroed, it hears nothing and ends nothing. */
struct listener {
    const volatile sig_atomic_t *stop; /* not 0: finish with the best so far; NULL: never */
    /* Called with the progress, many times a second, by the thread that runs the passes.  Returns true: finish with
     * the best plan so far.  NULL: no calls. */
    bool (*tell)(void *user, const struct progress *p);
    void *user;
    /* the library's own: */
    const char *pass;     /* pass at work */
    struct progress last; /* last progress passed to tell() */
    bool ended;           /* tell returned true */
};

/* Tells l, which may be NULL; p's pass is filled in.  No other thread may ask listener_ended() meanwhile. */
void listener_tell(struct listener *l, struct progress p);
/* Repeats the last progress to l, so that l can end the work after some time without progress. */
void listener_tell_again(struct listener *l);
/* Whether l, which may be NULL, wants the work to end. */
bool listener_ended(const struct listener *l);
/* Whether *l->stop says so; l may be NULL. */
bool listener_stopped(const struct listener *l);

#endif
