/* Work of foreign libraries and programs, done in a child process. */
#ifndef PCC_IR_BASE_CHILD_H
#define PCC_IR_BASE_CHILD_H

#include "ir/base/arena.h"
#include "ir/base/clock.h"

#include <stdio.h>

enum child_end {
    CHILD_DONE,    /* work() returned 0: the answer is whole */
    CHILD_FAILED,  /* work() returned something else, or the child died or wrote too much */
    CHILD_STOPPED, /* the child was killed, since its time was up or the listener ended the work */
    CHILD_MISSING  /* the program cannot be started */
};

/* What a child wrote, and how it ended. */
struct child_answer {
    enum child_end end;
    char *bytes; /* [n] output of the child */
    size_t n;
    /* why the child failed (CHILD_FAILED): "exit status 1", "signal 6", "more than N bytes", or an error of the system;
     * else NULL */
    const char *why;
};

/* Runs work(arg, out) in a forked child and returns what work writes to out, at most `most` bytes
 * (less than 2 GiB), in a.  work returns 0 if it has succeeded; with another result the child has
 * failed (CHILD_FAILED).  The child's stdout and stderr go nowhere, it has no other files open, and
 * signals have their default actions there, except Ctrl-C, which it ignores.  The child is killed
 * when the clock is out.  Other threads of this process may be running: locks that they hold stay
 * locked in the child, except those of malloc and of streams. */
struct child_answer child_run(int (*work)(void *arg, FILE *out), void *arg, struct clock *clock,
                              size_t most, struct arena *a);

/* Returns the absolute path of a program, in a; NULL if there is none.  Only the folders of PATH that are absolute
 * paths are searched.  A caller that starts the program several times keeps the path. */
char *child_find(const char *name, struct arena *a);
/* Returns the path as an argument that no program takes for an option: "./-x" for "-x". */
char *child_operand(const char *path, struct arena *a);
/* Runs the program at the path argv[0] with the arguments argv, which NULL ends, and with this process's stdin and
 * stdout.  Writes to said[room] the first line of the program's stderr, cut to fit, or the reason why the program
 * cannot be started.  The program is killed after `seconds` seconds of processor time, so that the result does not
 * depend on the load of the machine, at the latest after three times as many seconds of the clock.  While it runs, l
 * (NULL: no listener) hears the last progress again and may have the program killed. */
enum child_end child_program(char *const argv[], unsigned seconds, char *said, size_t room,
                             struct listener *l);

#endif
