/* Replacing a folder as a whole (folder.h).
 *
 * The new folder is made beside the final path and then renamed.  A split folder that is there already is exchanged
 * with the new one (renameat2, RENAME_EXCHANGE), then its files are removed one by one.  If the file system cannot
 * exchange folders, the old folder is renamed to NAME.old first, and renamed back if the second renaming fails.  Only
 * files with names that pcc writes are ever removed, and of parts only those that the old manifest lists: a folder
 * with any other file is refused before any work.
 *
 * A split that lies beside its source is written into a folder that stays.  Its files are made in a temporary folder
 * inside it and renamed into it, the manifest last, after the old manifest was removed: so at any moment a folder with
 * a manifest is complete.
 *
 * A run that is killed leaves its temporary folder.  A run locks its temporary folder (flock) as long as it lives, so
 * a later run for the same path recognizes a stale folder: it can lock the folder.  Folders called NAME.old are never
 * removed: after a failure they may be the only copy of a split. */
#include "backends/split/folder.h"

#include "ir/base/infile.h"
#include "ir/base/json_in.h"
#include "ir/base/outfile.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    TRIES = 10,     /* attempts to make a temporary folder */
    TEMP_RANDOM = 6 /* random characters that mkdtemp() puts at the end of a name */
};

/* Names of files of splits, except parts, their data files, and copies of the source's files; fixed[0] is the
 * manifest. */
static const char *const fixed[] = {
    "manifest.json", "schedule.json", "weights.data", "model.onnx",   "plan.dot",
    "plan.svg",      "plan.pdf",      "plan.png",     "blocks.dot",   "blocks.svg",
    "blocks.pdf",    "blocks.png",    "nodes.dot",    "run_split.py", NULL};

/* Whether s consists of stem, at least one digit, and end. */
static bool is_numbered(const char *s, const char *stem, const char *end)
{
    size_t k = strlen(stem), n;
    if (strncmp(s, stem, k) != 0)
        return false;
    n = strspn(s + k, "0123456789");
    return n && strcmp(s + k + n, end) == 0;
}

/* Whether s is the name of a part: part0.onnx, part00.onnx, ... */
static bool is_part_name(const char *s)
{
    return is_numbered(s, "part", ".onnx");
}

/* Whether s is the name of a data file of a part (part0.data), or of a copy of a file of the source (source0.data). */
static bool is_data_name(const char *s)
{
    return is_numbered(s, "part", PART_DATA_END) || is_numbered(s, SOURCE_STEM, SOURCE_END);
}

bool folder_own_name(const char *name)
{
    for (int k = 0; fixed[k]; k++)
        if (strcmp(name, fixed[k]) == 0)
            return true;
    return is_part_name(name) || is_data_name(name);
}

static void add_known(struct folder *f, const char *name)
{
    names_add(&f->known, arena_strdup(f->a, name, strlen(name)), 1);
}

/* Fills f->known with the names that files of the split at `path` may have: the fixed ones, and what the manifest
 * lists.  With f->into, weights.data must be listed, too: it may be the source's own file.  Returns false, and leaves
 * f->known empty, if the folder has no manifest that pcc wrote. */
static bool read_known(struct folder *f, const char *path)
{
    const char *file_name = arena_fmt(f->a, "%s/manifest.json", path);
    struct arena *own = arena_new(f->a);
    struct diag quiet = diag_silent();
    size_t n = 0, i;
    const char *text = infile_read(file_name, INFILE_PLAN, own, &n, &quiet);
    const json_t *root = text ? json_read(own, text, n, NULL) : NULL;
    const json_t *part, *parts = json_object_get(root, "parts");
    const json_t *files = json_object_get(json_object_get(root, "weights"), "files");
    bool ours = json_is_integer(json_object_get(root, "pcc_manifest"));
    f->known = names_new(f->a, 16);
    for (int k = 0; ours && fixed[k]; k++)
        if (!f->into || strcmp(fixed[k], "weights.data") != 0)
            names_add(&f->known, fixed[k], 1);
    json_array_foreach(parts, i, part)
    {
        const char *file = json_get_text(part, "file");
        if (ours && file && is_part_name(file))
            add_known(f, file);
    }
    json_array_foreach(files, i, part)
    {
        const char *file = json_string_value(part);
        if (ours && file && (is_data_name(file) || strcmp(file, "weights.data") == 0))
            add_known(f, file);
    }
    arena_free(own);
    return ours;
}

static void close_dir(void *dir)
{
    closedir(dir);
}

/* Opens a folder, which is closed when `own` is freed.  Returns NULL and errno on failure. */
static DIR *open_dir(const char *path, struct arena *own)
{
    DIR *dir = opendir(path);
    if (dir)
        arena_defer(own, close_dir, dir);
    return dir;
}

/* Returns the first name, in byte order, of an entry of the folder that is not a file in f->known; NULL: there is none.
 * With f->into only names that a file of a split may have count: all others can stay.  *n: number of all entries; -1,
 * with errno: the folder cannot be read. */
static const char *foreign_file(struct folder *f, const char *path, int *n)
{
    struct arena *own = arena_new(f->a);
    DIR *dir = open_dir(path, own);
    const char *found = NULL;
    *n = dir ? 0 : -1;
    for (struct dirent *e; dir && (e = readdir(dir));) {
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
            continue;
        (*n)++;
        if (names_get(&f->known, e->d_name, 0) && e->d_type != DT_DIR)
            continue;
        if (f->into && !folder_own_name(e->d_name))
            continue;
        if (!found || strcmp(e->d_name, found) < 0)
            found = arena_strdup(f->a, e->d_name, strlen(e->d_name));
    }
    int e = errno;
    arena_free(own);
    errno = e;
    return found;
}

/* Checks that what exists at f->final, with status st, may be replaced (with f->into: extended), and sets f->known and
 * f->replaces.  model: path of the model that is split, or NULL.  Returns 0, or -1 and an error. */
static int check_existing(struct folder *f, const struct stat *st, const char *model)
{
    struct stat here;
    int n;
    if (!S_ISDIR(st->st_mode))
        return diag_error(f->diag, "%s: is there already and is not a folder", f->name);
    if (!f->into && stat(".", &here) == 0 && here.st_dev == st->st_dev && here.st_ino == st->st_ino)
        return diag_error(f->diag, "%s: is the current folder, which cannot be replaced", f->name);
    /* ours: the folder has a manifest of a split; foreign: name of a file that no split of ours wrote there, NULL:
     * none */
    bool ours = read_known(f, f->final);
    const char *foreign = foreign_file(f, f->final, &n);
    if (n < 0)
        return diag_error(f->diag, "%s: cannot be read: %s", f->name, strerror(errno));
    if (foreign && !ours && f->into && model &&
        infile_same(arena_fmt(f->a, "%s/%s", f->final, foreign), model))
        return diag_error(
            f->diag,
            "%s: the model itself is '%s' there, the name of a file of a split: rename the model, "
            "or give another folder",
            f->name, foreign);
    if (foreign && !ours && f->into)
        return diag_error(
            f->diag,
            "%s: holds '%s', the name of a file of a split, but no manifest of one: move it "
            "away or give another folder",
            f->name, foreign);
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
    f->replaces = f->into ? ours : n > 0;
    return 0;
}

/* Sets f->final, the path without links, and checks what exists there (check_existing).  Returns 0, or -1 and an
 * error. */
static int find_place(struct folder *f, const char *model)
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
        arena_defer(f->a, free, real);
        f->final = real;
        return check_existing(f, &st, model);
    }
    if (errno != ENOENT || lstat(f->final, &st) == 0)
        return diag_error(f->diag, "%s: %s", f->name, strerror(errno == ENOENT ? ELOOP : errno));
    return 0;
}

/* Removes the files of the open folder fd for whose names which(f, name) is true.  Returns 0 or an errno.  Does not
 * allocate, because it is also called when memory has run out. */
static int remove_files(const struct folder *f, int fd,
                        bool (*which)(const struct folder *, const char *))
{
    _Alignas(struct dirent64) char buf[4096];
    ssize_t n;
    int rc = 0;
    lseek(fd, 0, SEEK_SET);
    while ((n = getdents64(fd, buf, sizeof buf)) > 0)
        for (ssize_t at = 0; at < n;) {
            const struct dirent64 *e = (const struct dirent64 *)(const void *)(buf + at);
            at += e->d_reclen;
            if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0 || !which(f, e->d_name))
                continue;
            if (unlinkat(fd, e->d_name, 0) && errno != ENOENT && !rc)
                rc = errno;
        }
    return n < 0 && !rc ? errno : rc;
}

/* This function and the next three choose files for remove_files().  any_name: returns true for all files. */
static bool any_name(const struct folder *f, const char *name)
{
    (void)f;
    (void)name;
    return true;
}

/* Whether the split that was in the folder before has a file of this name. */
static bool known_name(const struct folder *f, const char *name)
{
    return names_get(&f->known, name, 0) != 0;
}

/* Whether a file belongs to the old split, and the new split has no file of its name. */
static bool outdated_name(const struct folder *f, const char *name)
{
    return known_name(f, name) && !names_get(&f->made, name, 0);
}

/* Whether a file of this name belongs to any split, or is a temporary file (".pcc-...") that becomes one of a split. */
static bool any_split_name(const struct folder *f, const char *name)
{
    (void)f;
    return folder_own_name(name) || strncmp(name, ".pcc-", 5) == 0;
}

/* Removes the temporary folder `name` in the open folder `parent`, unless a run still has it locked. */
static void remove_stale(const struct folder *f, int parent, const char *name)
{
    struct stat st;
    int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return;
    if (fstat(fd, &st) == 0 && st.st_uid == geteuid() && flock(fd, LOCK_EX | LOCK_NB) == 0 &&
        remove_files(f, fd, any_split_name) == 0)
        unlinkat(parent, name, AT_REMOVEDIR); /* fails if the folder has other files, too */
    close(fd);
}

/* Removes the temporary folders of killed runs.  stem: path of a temporary folder without its last TEMP_RANDOM
 * characters. */
static void remove_all_stale(const struct folder *f, const char *stem)
{
    const char *slash = strrchr(stem, '/'), *base = slash ? slash + 1 : stem;
    size_t n = strlen(base);
    DIR *dir = opendir(slash ? arena_strdup(f->a, stem, (size_t)(base - stem)) : ".");
    for (struct dirent *e; dir && (e = readdir(dir));)
        if (strncmp(e->d_name, base, n) == 0 && strlen(e->d_name + n) == TEMP_RANDOM)
            remove_stale(f, dirfd(dir), e->d_name);
    if (dir)
        closedir(dir);
}

/* Closes the descriptor of the temporary folder, if it is open. */
static void close_fd(struct folder *f)
{
    if (f->dirfd >= 0)
        close(f->dirfd);
    f->dirfd = -1;
}

/* Removes the temporary folder with its files, if there is one. */
static void drop_temp(struct folder *f)
{
    if (f->dirfd >= 0)
        remove_files(f, f->dirfd, any_name);
    close_fd(f);
    if (f->temp)
        rmdir(f->temp);
    f->temp = NULL;
}

/* drop_temp() as a deferred call of an arena (arena_defer). */
static void drop_folder_temp(void *p)
{
    drop_temp(p);
}

void folder_abort(struct folder *f)
{
    arena_free(f->own);
}

/* Makes and locks the temporary folder, whose path is stem and TEMP_RANDOM random characters.  Returns 0 or an errno;
 * ENOENT: another run took the folder for a stale one and removed it before it was locked, or its parent is missing. */
static int make_temp(struct folder *f, const char *stem)
{
    struct stat made, there;
    f->temp = arena_fmt(f->a, "%sXXXXXX", stem);
    if (!mkdtemp(f->temp)) {
        f->temp = NULL;
        return errno;
    }
    f->dirfd = open(f->temp, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (f->dirfd < 0)
        return errno;
    /* If the file system has no locks, no other run can lock the folder and remove it as stale. */
    if (flock(f->dirfd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK)
        return ENOENT;
    if (fstat(f->dirfd, &made) || lstat(f->temp, &there))
        return errno;
    return made.st_dev == there.st_dev && made.st_ino == there.st_ino ? 0 : ENOENT;
}

/* Returns the mode that mkdir() would give a folder (mkdtemp() makes folders for the owner alone), or -errno.  It is
 * the mode of a file that is created as a test: umask() cannot be asked without changing the mask of all threads. */
static int usual_mode(const struct folder *f)
{
    struct stat st;
    int fd = openat(f->dirfd, fixed[0], O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0777);
    int rc = fd < 0 || fstat(fd, &st) || unlinkat(f->dirfd, fixed[0], 0) ? -errno
                                                                         : (int)(st.st_mode & 0777);
    if (fd >= 0)
        close(fd);
    return rc;
}

int folder_begin(struct folder *f, const char *name, bool into, const char *model, struct arena *a,
                 struct diag *d)
{
    *f = (struct folder){.a = a, .diag = d, .name = name, .dirfd = -1, .into = into};
    if (find_place(f, model))
        return -1;
    char *slash = strrchr(f->final, '/');
    const char *base = slash ? slash + 1 : f->final;
    int rc = ENOENT, parent = slash ? (int)(slash - f->final) + 1 : 0;
    /* hidden, so that a folder that is not complete is not taken for a split */
    const char *stem = into ? arena_fmt(a, "%s/.split.pcc-", f->final)
                            : arena_fmt(a, "%.*s.%.200s.pcc-", parent, f->final, base);
    remove_all_stale(f, stem);
    f->own = arena_new(a);
    arena_defer(f->own, drop_folder_temp, f);
    for (int i = 0; i < TRIES && rc == ENOENT; i++) {
        drop_temp(f);
        rc = make_temp(f, stem);
    }
    const char *missing = !f->temp && rc == ENOENT ? outfile_missing(f->final, a) : NULL;
    if (missing)
        diag_error(d, "%s: no folder can be made beside it: there is no folder %s (mkdir -p)", name,
                   missing);
    else if (!f->temp)
        diag_error(d, "%s: no folder can be made beside it: %s", name, strerror(rc));
    int mode = f->temp && !rc ? usual_mode(f) : 0;
    if (f->temp && !rc)
        rc = mode < 0 ? -mode : fchmod(f->dirfd, (mode_t)mode) ? errno : 0;
    if (f->temp && rc)
        diag_error(d, "%s: %s", f->temp, strerror(rc));
    if (!rc)
        return 0;
    folder_abort(f);
    return -1;
}

/* Removes the folder at `path`, which was replaced, with its known files.  Returns 0 or an errno. */
static int remove_old(const struct folder *f, const char *path)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return errno;
    int rc = remove_files(f, fd, known_name);
    close(fd);
    return rmdir(path) && !rc ? errno : rc;
}

/* Puts the temporary folder into the place of the split folder at f->final; *old becomes the new path of that folder.
 * Returns 0, or -1 and errno. */
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

/* Returns the names of the *n files in the temporary folder; NULL and errno: it cannot be read. */
static const char **made_files(struct folder *f, uint32_t *n)
{
    uint32_t cap = 1;
    const char **list = arena_alloc(f->a, sizeof *list);
    struct arena *own = arena_new(f->a);
    DIR *dir = open_dir(f->temp, own);
    *n = 0;
    for (struct dirent *e; dir && (e = readdir(dir));)
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0) {
            list = vec_grow(f->a, list, &cap, *n + 1, sizeof *list);
            list[(*n)++] = arena_strdup(f->a, e->d_name, strlen(e->d_name));
        }
    int e = errno;
    arena_free(own);
    errno = e;
    return dir ? list : NULL;
}

/* Moves the files of the temporary folder into the open folder `to`, the manifest (fixed[0]) last, and removes the
 * files of an old split that no new file has replaced.  Returns 0 or an errno. */
static int move_files(struct folder *f, int to)
{
    uint32_t n;
    const char **file = made_files(f, &n);
    if (!file)
        return errno;
    f->made = names_new(f->a, n);
    for (uint32_t i = 0; i < n; i++)
        names_add(&f->made, file[i], 1);
    if (unlinkat(to, fixed[0], 0) && errno != ENOENT)
        return errno;
    for (uint32_t i = 0; i < n; i++)
        if (strcmp(file[i], fixed[0]) != 0 && renameat(f->dirfd, file[i], to, file[i]))
            return errno;
    int rc = f->replaces ? remove_files(f, to, outdated_name) : 0;
    return renameat(f->dirfd, fixed[0], to, fixed[0]) ? errno : rc;
}

static void close_descriptor(void *fd)
{
    close((int)(intptr_t)fd);
}

/* folder_commit() if f->into: moves the files, then removes the temporary folder.  Returns 0, or -1 and an error. */
static int commit_into(struct folder *f)
{
    struct arena *own = arena_new(f->a);
    int n, to = open(f->final, O_RDONLY | O_DIRECTORY | O_CLOEXEC), rc = to < 0 ? errno : 0;
    if (to >= 0)
        arena_defer(own, close_descriptor, (void *)(intptr_t)to);
    const char *foreign = foreign_file(f, f->final, &n);
    if (foreign)
        diag_error(f->diag, "%s: '%s' has appeared in it meanwhile", f->name, foreign);
    else if ((rc = rc ? rc : move_files(f, to)) != 0)
        diag_error(f->diag, "%s: the split cannot be put into it: %s", f->name, strerror(rc));
    arena_free(own);
    folder_abort(f);
    return foreign || rc ? -1 : 0;
}

int folder_commit(struct folder *f)
{
    int n = 0, rc = 0;
    char *old = NULL;
    if (f->into)
        return commit_into(f);
    const char *foreign = f->replaces ? foreign_file(f, f->final, &n) : NULL;
    if (foreign)
        rc = diag_error(f->diag, "%s: '%s' has appeared in it meanwhile", f->name, foreign);
    else if (n < 0 || (f->replaces ? exchange(f, &old) : rename(f->temp, f->final)))
        rc = diag_error(f->diag, "%s: cannot be put in its place: %s", f->name, strerror(errno));
    if (rc) {
        folder_abort(f);
        return -1;
    }
    f->temp = NULL;
    close_fd(f);
    arena_free(f->own);
    if (f->replaces && (rc = remove_old(f, old)) != 0)
        diag_warning(f->diag, WARN_LEFT_BEHIND,
                     "%s: the folder that stood there before is left in '%s': %s", f->name, old,
                     strerror(rc));
    return 0;
}
