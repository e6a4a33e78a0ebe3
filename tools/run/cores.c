/* Pins processes and threads to processors (cores.h).  O(processors). */
#include "tools/run/cores.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* Reads the next item of the list *s, a processor ("2") or a range ("0-3"), into *low and *high, which are equal for a
 * processor, and moves *s to the item behind it, or to the end.  Returns whether this is an item: *low <= *high <
 * CPU_SETSIZE, and the list ends behind it, or goes on with a comma and more text. */
static bool read_item(const char **s, unsigned long *low, unsigned long *high)
{
    char *end;
    if (**s < '0' || **s > '9')
        return false;
    *low = *high = strtoul(*s, &end, 10);
    if (*end == '-') {
        const char *from = end + 1;
        if (*from < '0' || *from > '9')
            return false;
        *high = strtoul(from, &end, 10);
    }
    bool more = *end == ',' && end[1]; /* another item follows */
    *s = more ? end + 1 : end;
    return (*end == 0 || more) && *low <= *high && *high < CPU_SETSIZE;
}

int cores_read(const char *list, cpu_set_t *want, struct diag *d)
{
    cpu_set_t have;
    unsigned long low, high;
    CPU_ZERO(want);
    if (sched_getaffinity(0, sizeof have, &have))
        return diag_error(d, "--cores: %s", strerror(errno));
    /* s == list: an empty list is an error, too */
    for (const char *s = list; *s || s == list;) {
        if (!read_item(&s, &low, &high))
            return diag_error(d, "--cores '%s': expected processors such as 0-3 or 0,2", list);
        for (; low <= high; low++) {
            if (CPU_ISSET(low, want))
                return diag_error(d, "--cores '%s': processor %lu comes twice", list, low);
            if (!CPU_ISSET(low, &have))
                return diag_error(d, "--cores '%s': there is no processor %lu for this program",
                                  list, low);
            CPU_SET(low, want);
        }
    }
    return 0;
}

int cores_use(const char *list, struct diag *d)
{
    cpu_set_t want;
    if (cores_read(list, &want, d))
        return -1;
    return sched_setaffinity(0, sizeof want, &want) ? diag_error(d, "--cores: %s", strerror(errno))
                                                    : 0;
}

int64_t cores_count(const char *list)
{
    int64_t n = 0;
    unsigned long low, high;
    for (const char *s = list; s && *s && read_item(&s, &low, &high);)
        n += (int64_t)(high - low + 1);
    return n;
}

void cores_take(const char *list, uint32_t k, uint32_t n)
{
    cpu_set_t want;
    uint32_t at = 0;
    unsigned long low, high;
    bool enough = n > 0 && k < (uint64_t)cores_count(list) / n;
    CPU_ZERO(&want);
    for (const char *s = list; *s && read_item(&s, &low, &high);)
        for (; low <= high; low++, at++)
            if (!enough || at / n == k)
                CPU_SET(low, &want);
    sched_setaffinity(0, sizeof want, &want);
}
