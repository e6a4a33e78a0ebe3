/* Gives devices their processors (runner.h): those that --cores names, as in acc0=0-1,cpu0=2; the other devices that
 * run parts get equal shares of the rest, or, if the rest is fewer than they are, no processors of their own.  With
 * --cores=any no device is pinned.  O(devices^2 * processors). */
#include "tools/run/cores.h"
#include "tools/run/ranks.h"
#include "tools/run/runner.h"

#include "ir/base/numbers.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* Takes the processors of one device, NAME=LIST.  seen: [device] an earlier item has named it.  Returns 0, or -1 and an
 * error. */
static int take_device(struct runner *r, const char *text, bool *seen)
{
    const char *eq = strrchr(text, '=');
    const char *name = eq && eq > text ? arena_strdup(r->a, text, (size_t)(eq - text)) : NULL;
    uint32_t d = 0;
    if (!name)
        return diag_error(r->d, "--cores '%s': expected DEVICE=LIST such as acc0=0-1", text);
    while (d < r->ndev && strcmp(r->dev[d].name, name) != 0)
        d++;
    if (d == r->ndev)
        return diag_error(r->d, "--cores '%s': the folder has no device '%s'", text, name);
    if (seen[d])
        return diag_error(r->d, "--cores: device '%s' comes twice", name);
    seen[d] = true;
    if (cores_read(eq + 1, &r->dev[d].cores, r->d))
        return -1;
    r->dev[d].pinned = true;
    r->dev[d].threads = r->set.threads ? r->set.threads : CPU_COUNT(&r->dev[d].cores);
    return 0;
}

/* Takes a value of --cores: items NAME=LIST with commas between them; a list may have commas, too.  Returns 0, or -1
 * and an error. */
static int take_value(struct runner *r, const char *value, bool *seen)
{
    char *text = arena_strdup(r->a, value, strlen(value)), *from = text;
    for (char *s = text;; s++) {
        /* An item ends with the value, or at a comma behind which another NAME=LIST begins. */
        const char *behind = s + 1;
        bool end = !*s;
        if (!end && !(*s == ',' && memchr(behind, '=', strcspn(behind, ","))))
            continue;
        *s = 0;
        if (take_device(r, from, seen))
            return -1;
        if (end)
            return 0;
        from = s + 1;
    }
}

/* Whether a device takes a share of the processors that this process may use: it has parts, runs on this machine, and
 * mpirun has given its process no processors of its own. */
static bool shares(const struct runner *r, uint32_t d, const cpu_set_t *have)
{
    bool bound = r->ranks && CPU_COUNT(have) < (int)sysconf(_SC_NPROCESSORS_ONLN);
    return r->dev[d].loaded && ranks_near(r, d) && (!bound || ranks_have(r, d));
}

/* Gives devices without processors equal shares of the processors have[] that no other device has, and sets their
 * threads.  If there are fewer processors than such devices, these devices get none of their own, and *short_of is how
 * many processors are missing; else 0. */
static void share_rest(struct runner *r, const cpu_set_t *have, uint32_t *short_of)
{
    uint32_t left[CPU_SETSIZE], n = 0, want = 0, nth = 0;
    for (uint32_t c = 0; c < CPU_SETSIZE; c++) {
        bool taken = !CPU_ISSET(c, have);
        for (uint32_t d = 0; d < r->ndev; d++)
            taken = taken || (r->dev[d].pinned && CPU_ISSET(c, &r->dev[d].cores));
        if (!taken)
            left[n++] = c;
    }
    for (uint32_t d = 0; d < r->ndev; d++)
        want += shares(r, d, have) && !r->dev[d].pinned;
    *short_of = want > n ? want - n : 0;
    for (uint32_t d = 0; d < r->ndev; d++) {
        struct run_device *x = &r->dev[d];
        if (!shares(r, d, have) || x->pinned)
            continue;
        x->threads = r->set.threads ? r->set.threads : 1;
        x->cores = *have;
        if (!*short_of) {
            CPU_ZERO(&x->cores);
            for (uint32_t i = nth * n / want; i < (nth + 1) * n / want; i++)
                CPU_SET(left[i], &x->cores);
        }
        nth++;
    }
    /* only now, since the loop above asks which devices are pinned */
    for (uint32_t d = 0; d < r->ndev; d++)
        r->dev[d].pinned = r->dev[d].pinned || (shares(r, d, have) && !*short_of);
}

/* Returns the first device that shares a processor with an earlier one; ndev: none does. */
static uint32_t overlapping(const struct runner *r)
{
    for (uint32_t d = 0; d < r->ndev; d++)
        for (uint32_t e = 0; e < d; e++) {
            cpu_set_t both;
            CPU_AND(&both, &r->dev[d].cores, &r->dev[e].cores);
            if (r->dev[d].pinned && r->dev[e].pinned && r->dev[d].loaded && r->dev[e].loaded &&
                CPU_COUNT(&both) > 0)
                return d;
        }
    return r->ndev;
}

int run_cores(struct runner *r)
{
    bool *seen = arena_array(r->a, (size_t)r->ndev + 1, sizeof *seen);
    cpu_set_t have;    /* processors that this process may use */
    uint32_t short_of; /* number of processors that are missing */
    int busy = 0;      /* number of devices that take a share of the processors */
    if (sched_getaffinity(0, sizeof have, &have))
        return diag_error(r->d, "--cores: %s", strerror(errno));
    bool any = r->set.ncores == 1 && !strcmp(r->set.cores[0], "any");
    for (uint32_t i = 0; i < r->set.ncores && !any; i++)
        if (take_value(r, r->set.cores[i], seen))
            return -1;
    share_rest(r, &have, &short_of);
    for (uint32_t k = 0; k < r->ndev; k++) {
        busy += shares(r, k, &have);
        r->dev[k].pinned = r->dev[k].pinned && !any;
    }
    uint32_t d = overlapping(r);
    if (d < r->ndev)
        diag_warning(
            r->d, WARN_NONE,
            "--cores: %s shares processors with another device: while both run parts, each is slower",
            r->dev[d].name);
    if (short_of)
        diag_warning(r->d, WARN_NONE,
                     "there are fewer processors than devices: devices share them, and the run "
                     "takes up to %d times as long as planned",
                     (busy + CPU_COUNT(&have) - 1) / CPU_COUNT(&have));
    return 0;
}
