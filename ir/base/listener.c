/* Passes progress to a listener, and asks whether it wants the work to end (listener.h).  O(1) each. */
#include "ir/base/listener.h"

#include <assert.h>

void listener_tell(struct listener *l, struct progress p)
{
    assert(p.done <= 1000 && p.value >= 0 && p.bound >= 0);
    if (!l || !l->tell || l->ended)
        return;
    p.pass = l->pass;
    l->last = p;
    l->ended = l->tell(l->user, &p);
}

void listener_tell_again(struct listener *l)
{
    if (l)
        listener_tell(l, l->last);
}

bool listener_ended(const struct listener *l)
{
    return l && (l->ended || listener_stopped(l));
}

bool listener_stopped(const struct listener *l)
{
    return l && l->stop && *l->stop;
}
