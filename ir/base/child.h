/* Work of foreign libraries and programs, done in a child process. */
#ifndef PCC_IR_BASE_CHILD_H
#define PCC_IR_BASE_CHILD_H

#include "ir/base/arena.h"
#include "ir/base/clock.h"

#include <stdio.h>

enum child_end {
    CHILD_DONE,    /* work() returned 0: the answer is whole */
    CHILD_FAILED,  /* it returned something else, or died */
    CHILD_STOPPED, /* the clock was out, or Ctrl-C: it was killed */
    CHILD_MISSING  /* the program cannot be started */
};

struct child_answer {
    enum child_end end;
    char *bytes; /* output of the child */
    size_t n;
    /* of CHILD_FAILED: "exit status 1", "signal 6", "more than N bytes"; else NULL */
    const char *why;
};

/* Runs work(arg, out) in a forked child; what it writes to out, at most `most` bytes, comes back, in a.  The child's
 * stdout and stderr go nowhere, it has no other files open; signals have their default actions there.  It is killed
 * when the clock is out.  Other threads of this process may be running: what they hold locked stays so in the child,
 * but for malloc and streams. */
struct child_answer child_run(int (*work)(void *arg, FILE *out), void *arg, struct clock *clock,
                              size_t most, struct arena *a);

/* The absolute path of a program in one of PATH's folders that are absolute themselves, in a; NULL: there is none.  A
 * caller that starts the program several times keeps the path. */
char *child_find(const char *name, struct arena *a);
/* A path as an argument that no program takes for an option: "./-x" for "-x". */
char *child_operand(const char *path, struct arena *a);
/* Runs the program argv[0], a path, which gets argv (the last is NULL) and this process's stdin and stdout.
 * said[room]: the first line of what it says on stderr, cut; or why it cannot be started (CHILD_MISSING).  It is
 * killed after so many seconds of processor time, so that what comes of it does not depend on what else the machine
 * does; and after three times as many of the clock.  l, which may be NULL, is told meanwhile that time passes. */
enum child_end child_program(char *const argv[], unsigned seconds, char *said, size_t room,
                             struct listener *l);

#endif
