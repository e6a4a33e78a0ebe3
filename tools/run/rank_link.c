/* Measures how long messages between two ranks take (links.h): pcc-profile --links under mpirun, on one machine or on
 * two.
 *
 * Rank 0 says how many messages of which size follow.  Each message goes to rank 1 and back, and half of the time until
 * it is back is its time, so that no clock of one rank is compared with the other's.  O(bytes). */
#include "tools/run/links.h"
#include "tools/run/messages.h"
#include "tools/run/ranks.h"

#include "ir/base/clock.h"
#include "ir/base/numbers.h"

#include <stdlib.h>

#define LARGEST ((size_t)16 << 20) /* bytes of the largest message */
/* A size is sent TIMES_MOST times, or less often if fewer times send ENOUGH bytes, but at least TIMES_LEAST times. */
#define ENOUGH ((int64_t)8 << 20)
enum { TIMES_LEAST = 3, TIMES_MOST = 51 };

/* What a rank has to send and receive blocks; each of the two ranks has its own. */
struct pair {
    struct messages m;
    unsigned char *block; /* [LARGEST] bytes that are sent, or that have come */
    bool failed;          /* a call of MPI has failed: m.why */
};

/* What rank 0 announces: how many messages of which size follow.  times 0: the measurement is over. */
struct order {
    int64_t bytes, times;
};

/* Waits until a message has ended.  rc: the result of the call that began it.  Sets p->failed if the message failed. */
static void wait_for(struct pair *p, uint64_t handle, int rc)
{
    struct message_end end = {0};
    while (!rc && !p->failed && p->m.face->ended(&handle, 1, &end) == 0)
        sched_yield();
    p->failed = p->failed || rc || end.failed;
}

/* Sends bytes to the other rank, and waits until they have left; does nothing after a failure. */
static void give(struct pair *p, const void *data, int64_t bytes)
{
    uint64_t handle = 0;
    if (p->failed)
        return;
    int rc = p->m.face->send(CHANNEL_TENSOR, !p->m.rank, 0, data, bytes, &handle);
    wait_for(p, handle, rc);
}

/* Waits for bytes of the other rank; does nothing after a failure. */
static void take(struct pair *p, void *data, int64_t bytes)
{
    uint64_t handle = 0;
    if (p->failed)
        return;
    int rc = p->m.face->receive(CHANNEL_TENSOR, !p->m.rank, 0, data, bytes, &handle);
    wait_for(p, handle, rc);
}

/* link_copier.copy, at rank 0: sends a block to rank 1 and back several times; half of the time until it is back counts
 * as the time of a copy.  arg: the struct pair. */
static int64_t copy_time(void *arg, size_t bytes)
{
    struct pair *p = arg;
    int64_t ns[TIMES_MOST], size = (int64_t)bytes;
    struct order order = {size, smaller(TIMES_MOST, larger(TIMES_LEAST, ENOUGH / size))};
    give(p, &order, sizeof order);
    for (int64_t i = 0; i < order.times; i++) {
        int64_t began = clock_now();
        give(p, p->block, size);
        take(p, p->block, size);
        ns[i] = (clock_now() - began) / 2;
    }
    return p->failed ? -1 : link_quartile(ns, (int)order.times);
}

/* Rank 1: sends back what comes, until rank 0 is through. */
static void answer(struct pair *p)
{
    struct order order = {0};
    do {
        take(p, &order, sizeof order);
        for (int64_t i = 0; i < order.times && !p->failed; i++) {
            take(p, p->block, order.bytes);
            give(p, p->block, order.bytes);
        }
    } while (order.times > 0 && !p->failed);
}

int link_measure_ranks(const signal_flag *stop, struct link_fit *out, struct arena *a,
                       struct diag *d)
{
    struct pair p = {.m.face = messages_find(a, d)};
    const struct link_copier copier = {copy_time, &p, LARGEST};
    const struct order end = {0, 0};
    int rc = 0;
    if (!p.m.face)
        return -1;
    if (p.m.face->open(&p.m))
        return diag_error(d, "MPI: %s", p.m.why);
    p.block = calloc(1, LARGEST);
    if (p.m.ranks != 2) {
        rc = p.m.rank ? -1
                      : diag_error(d, "--links: expected mpirun -n 2, found %d rank%s", p.m.ranks,
                                   p.m.ranks == 1 ? "" : "s");
    } else if (!p.block) {
        diag_error(d, "--links: out of memory");
        p.m.face->abort(1);
    } else if (p.m.rank) { /* rank 1 answers until rank 0 has measured */
        answer(&p);
    } else {
        rc = link_find(&copier, stop, out);
        out->way = LINK_RANKS;
        give(&p, &end, sizeof end);
    }
    if (p.failed)
        rc = diag_error(d, "MPI: %s", p.m.why);
    else
        p.m.face->close();
    free(p.block);
    return rc;
}
