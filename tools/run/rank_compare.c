/* Checks what must be the same at all ranks (ranks.h): the bytes of the manifest, of the schedule and of each rank's
 * parts.  If the manifest has the SHA-256 of a part, the part is compared with that, so that no rank needs the parts of
 * other ranks.  Warns if the ranks have different engines or versions, whose results may differ in some bits.  Also
 * measures how far the ranks' clocks are apart: ROUNDS messages go there and back, and the quickest of them tells the
 * difference, which is off by at most half the time that this message took.  O(bytes of the files + ranks * ROUNDS). */
#include "tools/run/ranks.h"

#include "ir/base/clock.h"
#include "ir/base/hash.h"
#include "ir/base/infile.h"
#include "ir/base/json_in.h"
#include "ir/base/numbers.h"
#include "ir/base/sha256.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

enum {
    CHUNK = 1 << 16, /* bytes that are read at a time */
    ROUNDS = 16,     /* number of messages there and back that compare two clocks */
    TIME_TAG = 1,    /* the tag of these messages */
    ENGINE = 128,    /* bytes of the text that names the engine of a rank */
    FAILED = 1       /* exit code */
};

/* Writes a hash of a file's bytes to *hash, which shows files that differ by mistake, not on purpose.  Returns 0, or -1
 * and an error. */
static int hash_file(struct runner *r, const char *path, uint64_t *hash)
{
    static const char what[] = "pcc"; /* any key that is the same at all ranks will do */
    unsigned char *chunk = arena_alloc(r->a, CHUNK);
    uint64_t size;
    int fd = infile_open(path, INFILE_MODEL, &size, r->d);
    struct hash_key key = {{1, 0}}; /* 1: an empty file has a hash that is not 0, too */
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

/* Returns the row of a part in the manifest. */
static const json_t *row_of(const struct runner *r, uint32_t part)
{
    return json_array_get(json_object_get(r->s.manifest, "parts"), part);
}

/* Returns the path of file number i that all ranks compare: the manifest, the schedule, then each part whose hash the
 * manifest does not have; NULL: there is none. */
static const char *path_of(const struct runner *r, uint32_t i)
{
    const char *schedule = json_get_text(r->s.manifest, "schedule");
    if (i == 0)
        return arena_fmt(r->a, "%s/manifest.json", r->set.folder);
    if (i == 1)
        return schedule && !strchr(schedule, '/')
                   ? arena_fmt(r->a, "%s/%s", r->set.folder, schedule)
                   : NULL;
    return json_get_text(row_of(r, i - 2), "sha256") ? NULL : r->s.part[i - 2].path;
}

/* Whether this rank compares file number i: manifest, schedule, or a part that it runs.  Rank 0 also compares other
 * ranks' parts whose files it can read. */
static bool compares(const struct runner *r, uint32_t i)
{
    const char *path = path_of(r, i);
    if (!path || i < 2 || ranks_run_part(r, i - 2))
        return path;
    return ranks_host(r) && access(path, R_OK) == 0;
}

/* For each of n files, rank 0 finds the first rank that has a hash of it (not 0); all ranks get that hash in want[],
 * and the number of that rank in of[].  mine: [n] this rank's hashes; 0: none.  Returns 0, or -1. */
static int share_hashes(struct runner *r, const uint64_t *mine, uint32_t n, uint64_t *want,
                        int64_t *of)
{
    struct ranks *x = r->ranks;
    size_t ranks = (size_t)x->m.ranks;
    uint64_t *all = arena_array(r->a, x->m.rank ? 1 : ranks * n, sizeof *all);
    if (x->m.face->gather(mine, all, (int64_t)(n * sizeof *all)))
        return -1;
    for (size_t k = ranks; k-- > 0 && x->m.rank == 0;)
        for (uint32_t i = 0; i < n; i++)
            if (all[k * n + i]) {
                want[i] = all[k * n + i];
                of[i] = (int64_t)k;
            }
    return x->m.face->share(want, (int64_t)(n * sizeof *want)) ||
                   x->m.face->share(of, (int64_t)(n * sizeof *of))
               ? -1
               : 0;
}

/* Checks that the manifest, the schedule and the parts that this rank runs (if the manifest lacks their hashes) are the
 * same as at the first rank that has them.  Returns 0, or -1 and an error. */
static int compare_files(struct runner *r)
{
    uint32_t own = r->s.npart + 2, all = own;
    if (r->ranks->m.face->share(&all, sizeof all)) /* the split may be another one than rank 0's */
        return diag_error(r->d, "MPI: %s", r->ranks->m.why);
    uint32_t n = larger_u32(own, all);
    uint64_t *mine = arena_array(r->a, n, sizeof *mine), *want = arena_array(r->a, n, sizeof *want);
    int64_t *of = arena_array(r->a, n, sizeof *of);
    bool bad = false;
    for (uint32_t i = 0; i < own && !bad; i++)
        bad = compares(r, i) && hash_file(r, path_of(r, i), &mine[i]);
    if (share_hashes(r, mine, all, want, of))
        return diag_error(r->d, "MPI: %s", r->ranks->m.why);
    if (bad)
        return -1;
    /* if rank 0 has fewer files, the manifests, file 0, differ: the loop ends before it comes to other files */
    for (uint32_t i = 0; i < own; i++)
        if (mine[i] != want[i] && (i < 2 || ranks_run_part(r, i - 2)))
            return diag_error(r->d,
                              "%s: its hash is %016" PRIx64 ", that of rank %" PRId64
                              "'s file %016" PRIx64 ": expected the same folder at all ranks",
                              path_of(r, i), mine[i], of[i], want[i]);
    return 0;
}

/* Checks that a file of the folder has the SHA-256 `want`, which the manifest says; file or want NULL: nothing is to be
 * checked.  Returns 0, or -1 and an error. */
static int check_hash(struct runner *r, const char *file, const char *want)
{
    char text[SHA256_TEXT] = "";
    if (!file || !want)
        return 0;
    const char *path = arena_fmt(r->a, "%s/%s", r->set.folder, file), *speaker = ranks_speaker(r);
    uint64_t size;
    int fd = infile_open(path, INFILE_DATA, &size, r->d);
    if (fd < 0)
        return -1;
    int rc = sha256_of_file(fd, text);
    close(fd);
    if (rc)
        return diag_error(r->d, "%s%s: it cannot be read", speaker, path);
    if (strcmp(text, want) != 0)
        return diag_error(r->d,
                          "%s%s: its SHA-256 is %s, that in manifest.json %s: expected the file "
                          "of this folder",
                          speaker, path, text, want);
    return 0;
}

/* Whether this is the first rank on its machine. */
static bool is_first_here(const struct runner *r)
{
    for (int k = 0; k < r->ranks->m.rank; k++)
        if (r->ranks->near[k])
            return false;
    return true;
}

/* Checks the files of weights that parts share, once on each machine.  Returns 0, or -1 and an error. */
static int check_weights(struct runner *r)
{
    const json_t *weights = json_object_get(r->s.manifest, "weights"), *name;
    const json_t *list = json_object_get(weights, "sha256");
    size_t i;
    json_array_foreach(json_object_get(weights, "files"), i, name)
    {
        const char *want = json_string_value(json_array_get(list, i));
        if (is_first_here(r) && check_hash(r, json_string_value(name), want))
            return -1;
    }
    return 0;
}

/* Checks the files of the parts that this rank runs, and shared weights.  Returns 0, or -1 and an error. */
static int check_hashes(struct runner *r)
{
    for (uint32_t k = 0; k < r->s.npart; k++) {
        const json_t *row = row_of(r, k);
        if (ranks_run_part(r, k) &&
            (check_hash(r, r->s.part[k].file, json_get_text(row, "sha256")) ||
             check_hash(r, json_get_text(row, "data"), json_get_text(row, "data_sha256"))))
            return -1;
    }
    return check_weights(r);
}

/* Called by all ranks: rank 0 warns of the first rank that has another engine, or another version of it, than rank
 * 0. */
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

/* Waits until a message has ended.  rc, handle: the result of the call that began it, and the handle that the call set.
 * Returns 0; -1: the message failed, or was not begun. */
static int wait_for(struct runner *r, uint64_t handle, int rc)
{
    struct message_end end = {0};
    while (!rc && r->ranks->m.face->ended(&handle, 1, &end) == 0)
        sched_yield();
    return rc || end.failed ? -1 : 0;
}

/* Sends a time to a rank.  Returns 0, or -1. */
static int say_time(struct runner *r, int to, int64_t time)
{
    uint64_t handle = 0;
    int rc = r->ranks->m.face->send(CHANNEL_WORD, to, TIME_TAG, &time, sizeof time, &handle);
    return wait_for(r, handle, rc);
}

/* Receives a time from a rank into *time.  Returns 0, or -1. */
static int hear_time(struct runner *r, int from, int64_t *time)
{
    uint64_t handle = 0;
    int rc = r->ranks->m.face->receive(CHANNEL_WORD, from, TIME_TAG, time, sizeof *time, &handle);
    return wait_for(r, handle, rc);
}

/* Called by all ranks: rank 0 finds how far the clock of each other rank is ahead of its own, x->offset, and by how
 * much that may be wrong, x->unsure.  It sends the others a message in turn, and each answers with its time.  Of ROUNDS
 * answers the fastest one counts: the time in it is taken for the time halfway between sending and receiving.  Returns
 * 0, or -1 and an error. */
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
            if (x->m.rank) { /* another rank answers rank 0 */
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

/* Checks that this rank has the same options as rank 0, as far as the order of samples, devices and messages depends on
 * them: with other options, a rank would wait for messages that never come.  Returns 0, or -1 and an error. */
static int compare_options(struct runner *r)
{
    const struct ranks *x = r->ranks;
    const int64_t mine[] = {r->n, r->width, r->set.state, r->set.most_bytes, r->set.step_options};
    int64_t want[] = {r->n, r->width, r->set.state, r->set.most_bytes, r->set.step_options};
    size_t bytes = (size_t)x->m.ranks * sizeof *x->device;
    uint32_t *device = arena_copy(r->a, x->device, bytes);
    if (x->m.face->share(want, sizeof want) || x->m.face->share(device, (int64_t)bytes))
        return diag_error(r->d, "MPI: %s", x->m.why);
    return memcmp(mine, want, sizeof want) || memcmp(device, x->device, bytes)
               ? diag_error(r->d, "expected the %s of rank 0",
                            r->w ? "--samples, --in-flight, --state, --map and --most-bytes"
                                 : "--steps, --load, --loss, --sum and --map")
               : 0;
}

int ranks_compare(struct runner *r)
{
    /* all checks run, also after an error: all ranks take part in them */
    int rc = compare_files(r);
    rc = check_hashes(r) || rc;
    rc = compare_options(r) || rc;
    compare_engines(r);
    return ranks_agree(r, compare_clocks(r) || rc ? FAILED : 0, NULL);
}
