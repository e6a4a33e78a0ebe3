/* Makes files for mpirun: --for=mpi.
 *
 * pcc-run has a rank for each device that has parts, in the manifest's order (docs/machines.md).  "hosts" is a
 * hostfile: it gives each host of --hosts an equal share of the ranks, in order.  "rankfile" also gives each rank a
 * processor of its own on its host.  The manifest gets hashes of the parts' files.
 * O(devices * parts + bytes of parts and their data files). */
#include "backends/engines/engines.h"

#include "ir/base/infile.h"
#include "ir/base/json_in.h"
#include "ir/base/memory.h"
#include "ir/base/sha256.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

/* The hosts of --hosts. */
struct hosts {
    const char **name; /* [n] */
    uint32_t n;
};

/* Puts the names between the commas of --hosts into *to, or localhost if the option is not given.  Returns 0, or -1 and
 * an error. */
static int take_hosts(const struct export_folder *x, struct hosts *to)
{
    const char *said = x->o->hosts && *x->o->hosts ? x->o->hosts : "localhost";
    to->n = 0;
    to->name = arena_array(x->a, strlen(said) + 1, sizeof(const char *));
    for (const char *s = said;; s++) {
        size_t n = strcspn(s, ",");
        const char *name = to->name[to->n++] = arena_strdup(x->a, s, n);
        bool good = n > 0;
        for (size_t i = 0; i < n; i++)
            good = good && (isalnum((unsigned char)s[i]) || strchr(".-_:", s[i]));
        if (!good)
            return diag_error(x->diag,
                              "--hosts '%s': expected names of hosts such as a,b: '%s' is none",
                              said, name);
        for (uint32_t k = 0; k + 1 < to->n; k++)
            if (!strcmp(to->name[k], name))
                return diag_error(x->diag, "--hosts '%s': '%s' comes twice", said, name);
        s += n;
        if (!*s)
            return 0;
    }
}

/* Whether the device with this name runs a part, alone or as one of several replicas. */
static bool runs_parts(const struct export_folder *x, const char *device)
{
    size_t i, k;
    json_t *part, *replica;
    json_array_foreach(json_object_get(x->manifest, "parts"), i, part)
    {
        const json_t *replicas = json_object_get(part, "replicas");
        const char *alone = json_get_text(part, "device");
        if (!json_array_size(replicas) && alone && !strcmp(alone, device))
            return true;
        json_array_foreach(replicas, k, replica)
        {
            if (!strcmp(json_string_value(replica), device))
                return true;
        }
    }
    return false;
}

/* Returns the number of ranks: devices that run parts. */
static uint32_t count_ranks(const struct export_folder *x)
{
    uint32_t n = 0;
    size_t i;
    json_t *row;
    json_array_foreach(json_object_get(x->manifest, "devices"), i, row)
    {
        n += runs_parts(x, json_get_text(row, "name"));
    }
    return n;
}

/* Refuses wrong names in --hosts, and more hosts than ranks.  Returns 0, or -1 and an error. */
static int check_mpi(const struct export_folder *x)
{
    struct hosts h;
    uint32_t ranks = count_ranks(x);
    if (take_hosts(x, &h))
        return -1;
    if (h.n <= ranks)
        return 0;
    return diag_error(x->diag,
                      "%s: --for=mpi: %u hosts for %u devices that have parts: expected at "
                      "most as many",
                      x->name, h.n, ranks);
}

/* Returns the SHA-256 of a file of the folder as text, in x->a; NULL after an error. */
static const char *hash_of(const struct export_folder *x, const char *file)
{
    char *text = arena_alloc(x->a, SHA256_TEXT);
    int fd = infile_open_beneath(x->from, file, /*links=*/false, x->a);
    int rc = fd < 0 ? -1 : sha256_of_file(fd, text);
    if (rc)
        diag_error(x->diag, "%s/%s: %s", x->name, file, strerror(errno));
    if (fd >= 0)
        close(fd);
    return rc ? NULL : text;
}

/* Sets *list to a list of JSON, in x->a, with the hashes of the files of weights that parts share; NULL: each part has
 * a file of its own, or the manifest does not say where weights are.  Returns 0, or -1 and an error. */
static int hash_weights(const struct export_folder *x, const char **list)
{
    const json_t *weights = json_object_get(x->manifest, "weights"), *name;
    const char *mode = json_get_text(weights, "mode");
    size_t i;
    *list = NULL;
    if (!mode || strcmp(mode, "parts") == 0)
        return 0;
    const char *text = "[";
    json_array_foreach(json_object_get(weights, "files"), i, name)
    {
        const char *hash = hash_of(x, json_string_value(name));
        if (!hash)
            return -1;
        text = arena_fmt(x->a, "%s%s\"%s\"", text, i ? ", " : "", hash);
    }
    *list = arena_fmt(x->a, "%s]", text);
    return 0;
}

/* Puts hashes of the files of parts and weights into the text of the manifest (x->text, x->size); ranks on several
 * machines compare these hashes to see that they have the same files.  Returns 0, or -1 and an error. */
static int put_hashes(struct export_folder *x)
{
    const json_t *parts = json_object_get(x->manifest, "parts");
    size_t n = json_array_size(parts);
    struct part_hashes *of = arena_array(x->a, n + 1, sizeof *of);
    for (size_t k = 0; k < n; k++) {
        const json_t *part = json_array_get(parts, k);
        const char *data = json_get_text(part, "data");
        of[k].file = hash_of(x, json_get_text(part, "file"));
        if (!of[k].file)
            return -1;
        if (data)
            of[k].data = hash_of(x, data);
        if (data && !of[k].data)
            return -1;
    }
    const char *weights, *path = arena_fmt(x->a, "%s/manifest.json", x->name);
    if (hash_weights(x, &weights))
        return -1;
    const char *text = hashes_put(x->text, path, of, weights, x->a, x->diag);
    if (!text)
        return -1;
    x->text = text;
    x->size = strlen(text);
    return 0;
}

/* Makes the files "hosts" and "rankfile", and adds hashes to the manifest.  Returns 0, or -1 and an error. */
static int write_mpi(struct export_folder *x)
{
    struct hosts h;
    struct memory hosts, ranks;
    uint32_t n = count_ranks(x);
    if (take_hosts(x, &h))
        return -1;
    /* of n ranks, host k gets k * n / h.n, ..., (k + 1) * n / h.n - 1: equal shares, give or take one rank */
    memory_begin(&hosts, x->a);
    for (uint32_t k = 0; k < h.n && hosts.f; k++)
        fprintf(hosts.f, "%s slots=%u\n", h.name[k], (k + 1) * n / h.n - k * n / h.n);
    const char *list = memory_end(&hosts, /*ok=*/true, "hosts", x->a, x->diag);
    memory_begin(&ranks, x->a);
    for (uint32_t k = 0, r = 0; k < h.n && ranks.f; k++)
        for (uint32_t first = r; r < (k + 1) * n / h.n; r++)
            fprintf(ranks.f, "rank %u=%s slot=%u\n", r, h.name[k], r - first);
    const char *slots = memory_end(&ranks, /*ok=*/true, "rankfile", x->a, x->diag);
    if (!list || !slots || export_text(x, "hosts", list) || export_text(x, "rankfile", slots))
        return -1;
    return put_hashes(x);
}

const struct engine_kind engine_mpi = {.name = "mpi",
                                       .verified_with = "Open MPI 4.1.4, on one machine",
                                       .pieces = PIECES_JOINED,
                                       .check = check_mpi,
                                       .write = write_mpi};
