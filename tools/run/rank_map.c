/* Tells which rank has which device (ranks.h), as --map acc0=0,cpu0=1 says.  Without --map, rank i has device number i
 * of those that have parts.  O(devices * values of --map). */
#include "tools/run/ranks.h"

#include "ir/base/units.h"

#include <inttypes.h>
#include <string.h>

/* Returns the device of this name that has parts; RUN_NONE: there is none. */
static uint32_t device_named(const struct runner *r, const char *name)
{
    for (uint32_t d = 0; d < r->ndev; d++)
        if (r->dev[d].loaded && !strcmp(r->dev[d].name, name))
            return d;
    return RUN_NONE;
}

/* Returns the names of the devices that have parts but no rank, with commas between them, in r->a. */
static const char *names_without_rank(const struct runner *r)
{
    const char *text = "";
    for (uint32_t d = 0; d < r->ndev; d++)
        if (r->dev[d].loaded && r->ranks->rank[d] == RUN_NONE)
            text = arena_fmt(r->a, "%s%s%s", text, *text ? ", " : "", r->dev[d].name);
    return text;
}

/* Gives a device a rank, as `text` says, DEVICE=RANK, which is changed here.  Notes the rank in r->ranks->rank[], and
 * the device in device[rank], where RUN_NONE means that the rank has no device yet.  Returns 0, or -1 and an error. */
static int map_one(struct runner *r, char *text, uint32_t *device)
{
    struct ranks *x = r->ranks;
    char *eq = strrchr(text, '=');
    int64_t rank;
    const char *whole = arena_strdup(r->a, text, strlen(text));
    if (!eq || eq == text || !count_parse(eq + 1, &rank))
        return diag_error(r->d, "--map '%s': expected DEVICE=RANK such as acc0=0", whole);
    *eq = 0;
    uint32_t d = device_named(r, text);
    if (d == RUN_NONE)
        return diag_error(r->d, "--map '%s': no device '%s' has parts", whole, text);
    if (x->rank[d] != RUN_NONE)
        return diag_error(r->d, "--map '%s': device '%s' has rank %u already", whole, text,
                          x->rank[d]);
    if (rank >= x->m.ranks)
        return diag_error(r->d, "--map '%s': expected a rank below %d, the number of ranks", whole,
                          x->m.ranks);
    if (device[rank] != RUN_NONE)
        return diag_error(r->d, "--map '%s': rank %" PRId64 " has device '%s' already", whole, rank,
                          r->dev[device[rank]].name);
    x->rank[d] = (uint32_t)rank;
    device[rank] = d;
    return 0;
}

/* Gives all `ndevice` devices that have parts the ranks of --map, as map_one() does.  Returns 0, or -1 and an error. */
static int map_given(struct runner *r, uint32_t ndevice, uint32_t *device)
{
    uint32_t n = 0;
    char *rest = NULL;
    for (uint32_t i = 0; i < r->set.nmap; i++) {
        char *text = arena_strdup(r->a, r->set.map[i], strlen(r->set.map[i]));
        for (char *word = strtok_r(text, ",", &rest); word; word = strtok_r(NULL, ",", &rest), n++)
            if (map_one(r, word, device))
                return -1;
    }
    if (n == ndevice)
        return 0;
    return diag_error(r->d, "--map gives ranks to %u of %u devices that have parts; it lacks %s", n,
                      ndevice, names_without_rank(r));
}

int ranks_map_devices(struct runner *r)
{
    struct ranks *x = r->ranks;
    uint32_t n = 0, ranks = (uint32_t)x->m.ranks, next = 0;
    uint32_t *device = arena_array(r->a, (size_t)ranks + 1, sizeof *device);
    x->rank = arena_array(r->a, (size_t)r->ndev + 1, sizeof *x->rank);
    for (uint32_t d = 0; d < r->ndev; d++) {
        n += r->dev[d].loaded != NULL;
        x->rank[d] = RUN_NONE;
    }
    x->rank[r->ndev] = 0;
    if (n != ranks)
        return diag_error(
            r->d, "%s: %u device%s ha%s parts, and there %s %u rank%s: expected mpirun -n %u",
            r->set.folder, n, n == 1 ? "" : "s", n == 1 ? "s" : "ve", ranks == 1 ? "is" : "are",
            ranks, ranks == 1 ? "" : "s", n);
    for (uint32_t k = 0; k < ranks; k++)
        device[k] = RUN_NONE;
    if (r->set.nmap && map_given(r, n, device))
        return -1;
    for (uint32_t d = 0; d < r->ndev && !r->set.nmap; d++)
        if (r->dev[d].loaded) {
            x->rank[d] = next;
            device[next++] = d;
        }
    x->device = device; /* complete, since the thread of signs of life reads it */
    return 0;
}
