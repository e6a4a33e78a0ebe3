/* Cleaning up at exit.
 *
 * Running out of memory ends the program from wherever it is (ir/base/arena.h), by exit().  The functions
 * that were at work are then still on the stack, and with them the records of what they were
 * making: the list links these records, needs no memory of its own, and is walked by a function
 * given to atexit.  O(1) each; removal searches the list, which holds two or three. */
#include "ir/base/unfinished.h"

#include <stdbool.h>
#include <stdlib.h>

/* Global because exit handlers have no argument; only the main thread writes files. */
static struct unfinished *pending;
static bool registered;

static void drop_all(void)
{
    while (pending) {
        struct unfinished *u = pending;
        pending = u->next;
        u->drop(u->p);
    }
}

void unfinished_add(struct unfinished *u, void (*drop)(void *), void *p)
{
    if (!registered)
        registered = atexit(drop_all) == 0;
    *u = (struct unfinished){.next = pending, .drop = drop, .p = p};
    pending = u;
}

void unfinished_remove(struct unfinished *u)
{
    struct unfinished **at = &pending;
    while (*at && *at != u)
        at = &(*at)->next;
    if (*at)
        *at = u->next;
}
