/* What must be the same at all ranks (ranks.h): the bytes of the manifest, the schedule and each rank's parts; a
 * warning where another version of the engine runs, whose bits may be others.  And how far clocks are apart: of ROUNDS
 * messages there and back the quickest says it, to half its time.  O(bytes of the files + ranks * ROUNDS). */
#include "tools/run/ranks.h"

#include "ir/base/clock.h"
#include "ir/base/hash.h"
#include "ir/base/infile.h"
#include "ir/base/json_in.h"
#include "ir/base/numbers.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

enum { CHUNK = 1 << 16, ROUNDS = 16, TIME_TAG = 1, ENGINE = 128, FAILED = 1 };

/* Writes a hash of a file's bytes to *hash, which shows files that differ by mistake, not on purpose.  Returns 0, or -1
 * and an error. */
static int hash_file(struct runner *r, const char *path, uint64_t *hash)
{
    static const char what[] = "pcc";
    unsigned char *chunk = arena_alloc(r->a, CHUNK);
    uint64_t size;
    int fd = infile_open(path, INFILE_MODEL, &size, r->d);
    struct hash_key key = {{0, 0}};
    ssize_t n = 0;
    memcpy(&key.k[1], what, sizeof what);
    if (fd < 0)
        return -1;
    while ((n = read(fd, chunk, CHUNK)) > 0)
        key.k[0] = hash_bytes(&key, chunk, (size_t)n);
    close(fd);
    *hash = key.k[0];
    return n < 0 ? diag_error(r->d, "%s: it cannot be read", path) : 0;
}

/* Returns the path of file number i: the manifest, the schedule, then each part; NULL: there is none. */
static const char *path_of(const struct runner *r, uint32_t i)
{
    const char *schedule = json_get_text(r->s.manifest, "schedule");
    if (i == 0)
        return arena_fmt(r->a, "%s/manifest.json", r->set.folder);
    if (i == 1)
        return schedule && !strchr(schedule, '/')
                   ? arena_fmt(r->a, "%s/%s", r->set.folder, schedule)
                   : NULL;
    return r->s.part[i - 2].path;
}

/* Whether this rank reads file number i. */
static bool reads(const struct runner *r, uint32_t i)
{
    if (i < 2 || ranks_host(r))
        return true;
    for (uint32_t k = 0; k < r->wires.nplace[i - 2]; k++)
        if (ranks_have(r, r->wires.place[i - 2][k]))
            return true;
    return false;
}

/* Checks that the files which this rank reads are rank 0's.  Returns 0, or -1 and an error. */
static int compare_files(struct runner *r)
{
    uint32_t n = r->s.npart + 2, all = n;
    if (r->ranks->m.face->share(&all, sizeof all)) /* the split may be another one than rank 0's */
        return diag_error(r->d, "MPI: %s", r->ranks->m.why);
    uint64_t *mine = arena_array(r->a, larger_u32(n, all), sizeof *mine);
    bool bad = false;
    for (uint32_t i = 0; i < n && !bad; i++) {
        const char *path = path_of(r, i);
        bad = path && reads(r, i) && hash_file(r, path, &mine[i]);
    }
    uint64_t *want = arena_copy(r->a, mine, larger_u32(n, all) * sizeof *mine);
    if (r->ranks->m.face->share(want, (int64_t)(all * sizeof *want)))
        return diag_error(r->d, "MPI: %s", r->ranks->m.why);
    if (bad)
        return -1;
    for (uint32_t i = 0; i < n; i++) /* of another number of parts the manifest differs */
        if (reads(r, i) && mine[i] != want[i])
            return diag_error(r->d,
                              "%s: its hash is %016" PRIx64 ", that of rank 0's file %016" PRIx64
                              ": expected the same folder at all ranks",
                              path_of(r, i), mine[i], want[i]);
    return 0;
}

/* Warns where another version of the engine runs. */
static void compare_engines(struct runner *r)
{
    size_t ranks = (size_t)r->ranks->m.ranks;
    char mine[ENGINE] = {0}, *all = arena_alloc(r->a, ranks * ENGINE);
    snprintf(mine, sizeof mine, "%s %s", r->e->face->name, r->e->version);
    if (r->ranks->m.face->gather(mine, all, ENGINE) || !ranks_host(r))
        return;
    for (size_t k = 1; k < ranks; k++) {
        all[(k + 1) * ENGINE - 1] = 0;
        if (strcmp(mine, all + k * ENGINE) != 0) {
            diag_warning(r->d, WARN_NONE, "rank %zu (%s) has %s, rank 0 %s: bits may differ", k,
                         ranks_name(r, (int)k), all + k * ENGINE, mine);
            return;
        }
    }
}

/* Waits for a message.  Returns 0, or -1: it failed. */
static int wait_for(struct runner *r, uint64_t handle, int rc)
{
    struct message_end end = {0};
    while (!rc && r->ranks->m.face->ended(&handle, 1, &end) == 0)
        sched_yield();
    return rc || end.failed ? -1 : 0;
}

/* Sends a time to a rank, or receives one.  Returns 0, or -1. */
static int say_time(struct runner *r, int to, int64_t time)
{
    uint64_t handle = 0;
    int rc = r->ranks->m.face->send(CHANNEL_WORD, to, TIME_TAG, &time, sizeof time, &handle);
    return wait_for(r, handle, rc);
}
static int hear_time(struct runner *r, int from, int64_t *time)
{
    uint64_t handle = 0;
    int rc = r->ranks->m.face->receive(CHANNEL_WORD, from, TIME_TAG, time, sizeof *time, &handle);
    return wait_for(r, handle, rc);
}

/* Finds how far the clocks of the others are ahead of rank 0's.  Returns 0, or -1 and an error. */
static int compare_clocks(struct runner *r)
{
    struct ranks *x = r->ranks;
    int rc = 0, peers = x->m.rank ? 1 : x->m.ranks;
    int64_t time = 0;
    x->offset = arena_array(r->a, (size_t)x->m.ranks, sizeof *x->offset);
    x->unsure = arena_array(r->a, (size_t)x->m.ranks, sizeof *x->unsure);
    for (int k = 0; k < peers; k++) {
        for (int i = 0; i < ROUNDS && !rc && k != x->m.rank; i++) {
            int64_t began = clock_now();
            if (x->m.rank) {
                rc = hear_time(r, 0, &time) || say_time(r, 0, clock_now());
                continue;
            }
            rc = say_time(r, k, began) || hear_time(r, k, &time);
            int64_t half = (clock_now() - began) / 2;
            if (i == 0 || half < x->unsure[k]) {
                x->unsure[k] = half;
                x->offset[k] = time - began - half;
            }
        }
    }
    return rc ? diag_error(r->d, "MPI: %s", x->m.why) : 0;
}

/* Checks that samples run here as at rank 0, which else waits for what never comes.  Returns 0, or -1 and an error. */
static int compare_options(struct runner *r)
{
    const int64_t mine[] = {r->n, r->width, r->set.state};
    int64_t want[] = {r->n, r->width, r->set.state};
    if (r->ranks->m.face->share(want, sizeof want))
        return diag_error(r->d, "MPI: %s", r->ranks->m.why);
    return memcmp(mine, want, sizeof want)
               ? diag_error(r->d, "expected the --samples, --in-flight and --state of rank 0")
               : 0;
}

int ranks_compare(struct runner *r)
{
    int rc = compare_files(r);
    rc = compare_options(r) || rc;
    compare_engines(r);
    return ranks_agree(r, compare_clocks(r) || rc ? FAILED : 0, NULL);
}
