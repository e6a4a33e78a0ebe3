/* Replacing a folder as a whole.
 *
 * The new one is made beside the final name and renamed.  A split folder that is in the way changes
 * places with it (renameat2, RENAME_EXCHANGE) and its files are removed one by one; where the file
 * system cannot exchange, it is moved aside first and put back if the second rename fails.  Only
 * names that we write are ever removed, and of parts only those that the old manifest lists: a
 * folder that holds anything else is refused before any work. */
#include "backends/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const fixed[] = {"manifest.json", "weights.data", "model.onnx", "plan.svg",
                                    "plan.dot",      "blocks.svg",   "blocks.dot", NULL};

/* part0.onnx, part00.onnx, ... */
static bool is_part_name(const char *s)
{
    size_t n;
    if (strncmp(s, "part", 4) != 0)
        return false;
    n = strspn(s + 4, "0123456789");
    return n && strcmp(s + 4 + n, ".onnx") == 0;
}

/* Fills f->known from the manifest of the folder; false: it has none of ours. */
static bool read_known(struct folder *f, const char *path)
{
    json_t *root =
        json_load_file(arena_fmt(f->a, "%s/manifest.json", path), JSON_REJECT_DUPLICATES, NULL);
    const json_t *part, *parts = json_object_get(root, "parts");
    size_t i;
    bool ours = json_is_integer(json_object_get(root, "pcc_manifest"));
    f->known = names_new(f->a, 16);
    for (int k = 0; ours && fixed[k]; k++)
        names_add(&f->known, fixed[k], 1);
    json_array_foreach(parts, i, part)
    {
        const char *file = json_string_value(json_object_get(part, "file"));
        if (ours && file && is_part_name(file))
            names_add(&f->known, arena_strdup(f->a, file, strlen(file)), 1);
    }
    json_decref(root);
    return ours;
}

/* The first name (in byte order) in a folder that is not known, NULL if there is none; *n counts
 * all entries.  NULL and *n = -1: the folder cannot be read. */
static const char *foreign_file(struct folder *f, const char *path, int *n)
{
    DIR *dir = opendir(path);
    const char *found = NULL;
    *n = dir ? 0 : -1;
    for (struct dirent *e; dir && (e = readdir(dir));) {
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
            continue;
        (*n)++;
        if (names_get(&f->known, e->d_name, 0) && e->d_type != DT_DIR)
            continue;
        if (!found || strcmp(e->d_name, found) < 0)
            found = arena_strdup(f->a, e->d_name, strlen(e->d_name));
    }
    if (dir)
        closedir(dir);
    return found;
}

/* Whether what is at f->final may be replaced. */
static int check_existing(struct folder *f, const struct stat *st)
{
    struct stat here;
    int n;
    if (!S_ISDIR(st->st_mode))
        return diag_error(f->diag, "%s: is there already and is not a folder", f->name);
    if (stat(".", &here) == 0 && here.st_dev == st->st_dev && here.st_ino == st->st_ino)
        return diag_error(f->diag, "%s: is the current folder, which cannot be replaced", f->name);
    bool ours = read_known(f, f->final);
    const char *foreign = foreign_file(f, f->final, &n);
    if (n < 0)
        return diag_error(f->diag, "%s: cannot be read: %s", f->name, strerror(errno));
    if (foreign && !ours)
        return diag_error(f->diag,
                          "%s: is not empty (it has '%s') and no split folder of ours: give "
                          "another name",
                          f->name, foreign);
    if (foreign)
        return diag_error(f->diag,
                          "%s: holds '%s', which does not belong to the split that is there: "
                          "move it away or give another name",
                          f->name, foreign);
    f->replaces = n > 0;
    return 0;
}

/* Finds f->final; 0 or -1. */
static int find_place(struct folder *f)
{
    size_t n = strlen(f->name);
    struct stat st;
    while (n > 1 && f->name[n - 1] == '/')
        n--;
    f->final = arena_strdup(f->a, f->name, n);
    if (!n)
        return diag_error(f->diag, "the split folder needs a name");
    if (stat(f->final, &st) == 0) {
        char *real = realpath(f->final, NULL);
        if (!real)
            return diag_error(f->diag, "%s: %s", f->name, strerror(errno));
        f->final = arena_strdup(f->a, real, strlen(real));
        free(real);
        return check_existing(f, &st);
    }
    if (errno != ENOENT || lstat(f->final, &st) == 0)
        return diag_error(f->diag, "%s: %s", f->name, strerror(errno == ENOENT ? ELOOP : errno));
    return 0;
}

int folder_begin(struct folder *f, const char *name, struct arena *a, struct diag *d)
{
    *f = (struct folder){.a = a, .diag = d, .name = name, .dirfd = -1};
    if (find_place(f))
        return -1;
    char *slash = strrchr(f->final, '/');
    const char *base = slash ? slash + 1 : f->final;
    int parent = slash ? (int)(slash - f->final) + 1 : 0;
    f->temp = arena_fmt(a, "%.*s.%.200s.XXXXXX", parent, f->final, base);
    if (!mkdtemp(f->temp)) {
        f->temp = NULL;
        return diag_error(d, "%s: no folder can be made beside it: %s", name, strerror(errno));
    }
    mode_t mask = umask(0);
    umask(mask);
    f->dirfd = open(f->temp, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (f->dirfd < 0 || fchmod(f->dirfd, 0777 & ~mask)) {
        diag_error(d, "%s: %s", f->temp, strerror(errno));
        folder_abort(f);
        return -1;
    }
    return 0;
}

/* Removes the known (or all) files of a folder, then the folder; 0 or an errno. */
static int remove_folder(struct folder *f, const char *path, bool all)
{
    DIR *dir = opendir(path);
    int rc = dir ? 0 : errno;
    for (struct dirent *e; dir && (e = readdir(dir));) {
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0 ||
            !(all || names_get(&f->known, e->d_name, 0)))
            continue;
        if (unlinkat(dirfd(dir), e->d_name, 0) && !rc)
            rc = errno;
    }
    if (dir)
        closedir(dir);
    if (rmdir(path) && !rc)
        rc = errno;
    return rc;
}

static void close_fd(struct folder *f)
{
    if (f->dirfd >= 0)
        close(f->dirfd);
    f->dirfd = -1;
}

void folder_abort(struct folder *f)
{
    close_fd(f);
    if (f->temp)
        remove_folder(f, f->temp, true);
    f->temp = NULL;
}

/* Puts temp where a split folder is; *old is where that one went. */
static int exchange(struct folder *f, char **old)
{
    *old = f->temp;
    if (renameat2(AT_FDCWD, f->temp, AT_FDCWD, f->final, RENAME_EXCHANGE) == 0)
        return 0;
    if (errno != EINVAL && errno != ENOSYS && errno != EOPNOTSUPP)
        return -1;
    *old = arena_fmt(f->a, "%s.old", f->temp);
    if (rename(f->final, *old))
        return -1;
    if (rename(f->temp, f->final) == 0)
        return 0;
    int why = errno;
    if (rename(*old, f->final))
        diag_error(f->diag, "%s: the folder that was there is now '%s': %s", f->name, *old,
                   strerror(errno));
    errno = why;
    return -1;
}

int folder_commit(struct folder *f)
{
    int n, rc;
    char *old = NULL;
    const char *foreign = f->replaces ? foreign_file(f, f->final, &n) : NULL;
    if (foreign) {
        diag_error(f->diag, "%s: '%s' has appeared in it meanwhile", f->name, foreign);
        folder_abort(f);
        return -1;
    }
    if (f->replaces ? exchange(f, &old) : rename(f->temp, f->final)) {
        diag_error(f->diag, "%s: cannot be put in its place: %s", f->name, strerror(errno));
        folder_abort(f);
        return -1;
    }
    f->temp = NULL;
    close_fd(f);
    if (f->replaces && (rc = remove_folder(f, old, false)) != 0)
        diag_warning(f->diag, "%s: what was there is left in '%s': %s", f->name, old, strerror(rc));
    return 0;
}
