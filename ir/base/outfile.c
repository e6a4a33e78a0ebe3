/* Files that appear complete or not at all (see outfile.h).
 *
 * Where the system supports it, the file has no name until it is complete (O_TMPFILE), so that a killed run leaves
 * nothing.  Then the file gets its final name; if another file has that name, it gets a temporary name and is renamed,
 * which replaces the other file.  Elsewhere it has the temporary name from the beginning.  Temporary names are in the
 * same folder, so that renaming stays on one file system.  They do not contain the final name, so that a long name plus
 * a suffix is never too long.  Cost: some system calls in addition to writing. */
#include "ir/base/outfile.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TRIES = 100 }; /* the most temporary names that are tried until one is free */

/* Closes the struct outfile p if it is still open, and removes its temporary file; called when o->own is freed. */
static void discard_file(void *p)
{
    struct outfile *o = p;
    if (o->f != NULL)
        fclose(o->f);
    if (o->temp != NULL)
        unlink(o->temp);
}

/* Returns the number of bytes of o->path up to and including its last slash; 0: it has none. */
static int folder_length(const struct outfile *o)
{
    const char *slash = strrchr(o->path, '/');

    return slash == NULL ? 0 : (int)(slash - o->path) + 1;
}

/* Gives the file a temporary name, in o->temp.  fd < 0: creates the file; else fd is an open file without a name, which
 * gets the name.  Returns the file's descriptor, or -1 with errno. */
static int give_temporary_name(struct outfile *o, int fd)
{
    char open_file[32];
    int made = -1;

    snprintf(open_file, sizeof open_file, "/proc/self/fd/%d", fd);
    for (int i = 0; i < TRIES && made < 0 && (i == 0 || errno == EEXIST); i++) {
        char *name =
            arena_fmt(o->own, "%.*s.pcc-%ld-%d", folder_length(o), o->path, (long)getpid(), i);
        if (fd < 0)
            made = open(name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
        else if (linkat(AT_FDCWD, open_file, AT_FDCWD, name, AT_SYMLINK_FOLLOW) == 0)
            made = fd;
        if (made >= 0)
            o->temp = name;
    }
    return made;
}

/* Creates the file: without a name if the system can name it later, else with a temporary name.  Returns its
 * descriptor, or -1 with errno. */
static int create_file(struct outfile *o)
{
    const char *folder = arena_fmt(o->own, "%.*s.", folder_length(o), o->path);
    int fd = -1;

    if (access("/proc/self/fd", X_OK) == 0)
        fd = open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
    return fd >= 0 ? fd : give_temporary_name(o, -1);
}

/* Gives the file, which has no name, its final name or, if another file has that name, a temporary name.  Returns 0,
 * or -1 with errno. */
static int give_name(struct outfile *o)
{
    char open_file[32];

    snprintf(open_file, sizeof open_file, "/proc/self/fd/%d", fileno(o->f));
    if (linkat(AT_FDCWD, open_file, AT_FDCWD, o->path, AT_SYMLINK_FOLLOW) == 0)
        return 0;
    return errno == EEXIST && give_temporary_name(o, fileno(o->f)) >= 0 ? 0 : -1;
}

int outfile_open_to(struct outfile *o, const char *path, FILE *out, struct arena *of,
                    struct diag *d)
{
    if (strcmp(path, "-") != 0)
        return outfile_open(o, path, of, d);
    *o = (struct outfile){.f = out != NULL ? out : stdout, .path = path, .diag = d};
    return 0;
}

const char *outfile_missing(const char *path, struct arena *a)
{
    struct stat st;
    /* slash: the first of the slashes behind each folder of the path; a slash at the path's beginning ends no folder */
    const char *slash = *path ? strchr(path + 1, '/') : NULL;
    for (; slash; slash = strchr(slash + strspn(slash, "/"), '/')) {
        const char *folder = arena_strdup(a, path, (size_t)(slash - path));
        if (!slash[strspn(slash, "/")])
            break; /* path ends in slashes: the caller creates its last folder */
        if (stat(folder, &st) != 0 && errno == ENOENT)
            return folder;
    }
    return NULL;
}

int outfile_open(struct outfile *o, const char *path, struct arena *of, struct diag *d)
{
    struct stat st;

    *o = (struct outfile){.path = path, .diag = d};
    bool there = stat(path, &st) == 0;
    if (there && !S_ISREG(st.st_mode))
        return diag_error(d, "%s: is there already and is not a regular file", path);
    /* the name is too long: outfile_close(), which gives the file this name, would fail */
    if (!there && errno == ENAMETOOLONG)
        return diag_error(d, "%s: cannot be written: %s", path, strerror(errno));
    o->own = arena_new(of);
    arena_defer(o->own, discard_file, o);
    int fd = create_file(o);
    o->f = fd < 0 ? NULL : fdopen(fd, "w");
    if (o->f != NULL)
        return 0;
    int e = errno;
    const char *missing = e == ENOENT ? outfile_missing(path, o->own) : NULL;
    if (missing != NULL)
        diag_error(d, "%s: cannot create a file beside it: there is no folder %s: make it first",
                   path, missing);
    else
        diag_error(d, "%s: cannot create a file beside it: %s", path, strerror(e));
    if (fd >= 0)
        close(fd);
    arena_free(o->own);
    return -1;
}

int outfile_check(const char *path, struct arena *of, struct diag *d)
{
    struct outfile o;

    assert(strcmp(path, "-") != 0);
    if (outfile_open(&o, path, of, d) != 0)
        return -1;
    outfile_close(&o, /*ok=*/false);
    /* closed, since path is not "-": NOLINTNEXTLINE(clang-analyzer-unix.Stream) */
    return 0;
}

int outfile_close(struct outfile *o, bool ok)
{
    if (strcmp(o->path, "-") == 0)
        return ok && fflush(o->f) == 0 ? 0 : -1;
    ok = ok && diag_broken_off(o->diag) == 0;
    bool whole = ok && fflush(o->f) == 0 && ferror(o->f) == 0;
    whole = whole && (o->temp != NULL || give_name(o) == 0);
    int e = errno; /* of the first failure, which the message names */
    if (fclose(o->f) != 0 && whole) {
        whole = false;
        e = errno;
    }
    o->f = NULL;
    if (whole && o->temp != NULL && rename(o->temp, o->path) != 0) {
        whole = false;
        e = errno;
    }
    if (whole)
        o->temp = NULL; /* discard_file() has nothing to remove */
    arena_free(o->own);
    if (ok && !whole)
        diag_error(o->diag, "%s: cannot be written: %s", o->path, strerror(e));
    return whole ? 0 : -1;
}

int outfile_close_both(struct outfile *o, struct outfile *data, bool ok)
{
    bool was_there = access(o->path, F_OK) == 0;
    bool named = outfile_close(data, ok) == 0;
    int rc = outfile_close(o, named);
    if (named && rc != 0 && !was_there)
        unlink(data->path); /* a file that was there before may need the data */
    return rc;
}
