/* Whoever waits for a long piece of work: is told how far it is, and may end it.  The library prints none of it. */
#ifndef PCC_IR_BASE_LISTENER_H
#define PCC_IR_BASE_LISTENER_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

/* How far the work is. */
struct progress {
    const char *pass;  /* whose work it is, as -p names it; NULL: of no pass */
    const char *phase; /* what it does, such as "searching"; NULL: it begins, or has ended */
    uint32_t done;     /* thousandths of the phase; 0: it just began, or nobody knows */
    int64_t value;     /* of the best plan so far, ps; 0: none yet */
    int64_t bound;     /* no plan that is looked for takes less, ps; 0: nothing is known */
};

/* Zeroed, it hears nothing and ends nothing. */
struct listener {
    const volatile sig_atomic_t *stop; /* not 0: finish with the best so far; NULL: never */
    /* Is told of progress, many times a second, by the thread that runs the passes; true: finish with the best
       so far.  NULL: nobody is told. */
    bool (*tell)(void *user, const struct progress *p);
    void *user;
    /* the library's own: */
    const char *pass;     /* that runs now */
    struct progress last; /* that was told */
    bool ended;           /* tell returned true */
};

/* Tells l, which may be NULL; p's pass is filled in.  No other thread may ask listener_ended() meanwhile. */
void listener_tell(struct listener *l, struct progress p);
/* Tells l what it was told last: time has passed, and it may want the work to end. */
void listener_tell_again(struct listener *l);
/* Whether l, which may be NULL, wants the work to end. */
bool listener_ended(const struct listener *l);
/* Whether *l->stop says so; l may be NULL. */
bool listener_stopped(const struct listener *l);

#endif
