/* Work of foreign libraries, done in a child process. */
#ifndef PCC_IR_BASE_CHILD_H
#define PCC_IR_BASE_CHILD_H

#include "ir/base/arena.h"
#include "ir/base/clock.h"

#include <stdio.h>

enum child_end {
    CHILD_DONE,   /* work() returned 0: the answer is whole */
    CHILD_FAILED, /* it returned something else, or died */
    CHILD_STOPPED /* the clock was out, or Ctrl-C: it was killed */
};

/* Runs work(arg, out) in a forked child.  *bytes, *n: what it wrote to out, at most `most` bytes, in a.  The child's
 * stdout and stderr go nowhere, it has no other files open; signals have their default actions there.  It is killed
 * when the clock is out.  Other threads of this process may be running: what they hold locked stays so in the child,
 * but for malloc and streams.  *why (for CHILD_FAILED): "exit status 1", "signal 6", "more than N bytes". */
enum child_end child_run(int (*work)(void *arg, FILE *out), void *arg, struct clock *clock,
                         size_t most, struct arena *a, char **bytes, size_t *n, const char **why);

#endif
