/* Replaces a folder as a whole (folder.h).
 *
 * The new folder is made beside the final path and then renamed.  An old split folder is exchanged with the new one
 * (renameat2, RENAME_EXCHANGE), then the files of the old one are removed one by one.  If the file system cannot
 * exchange folders, the old folder is renamed to NAME.old first, and renamed back if the second renaming fails.
 * Only files with names that pcc writes are ever removed, and of parts only those that the old manifest lists: a
 * folder with any other file is refused before any work.
 *
 * A split beside its source is written into the source's folder, which stays.  The split's files are made in a
 * temporary folder inside that folder. Then the old manifest is removed, and the new files are renamed into the
 * folder, the manifest last: so at any moment a folder with a manifest is complete.
 *
 * Folders for engines ("triton") may lie in a split folder if its manifest lists all of their files; they are removed
 * file by file, too.  A split folder is refused if a folder for an engine in it has any other file.
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
    TRIES = 10,      /* attempts to make a temporary folder */
    TEMP_RANDOM = 6, /* random characters that mkdtemp() puts at the end of a name */
    TREE_LEVELS = 3, /* folders inside each other below a split folder: triton/gpt/1 */
    TREE_PATH = 1024 /* bytes of a path in a split folder, with its final NUL */
};

/* Names of files of splits, except parts, their data files, and copies of the source's files; fixed[0] is the
 * manifest. */
static const char *const fixed[] = {"manifest.json", "schedule.json", "weights.data", "model.onnx",
                                    "plan.dot",      "plan.svg",      "plan.pdf",     "plan.png",
                                    "blocks.dot",    "blocks.svg",    "blocks.pdf",   "blocks.png",
                                    "nodes.dot",     "run_split.py",  "report.html",  NULL};

/* Folders of a split folder in which files made for an engine (--for) may lie. */
static const char *const engine_folders[] = {"triton/", "web/", NULL};

/* Files made for an engine (--for) that may lie at the top of a split folder. */
static const char *const engine_files[] = {
    "genai_config.json", "hetero.json",           "hetero.py",  "hosts", "rankfile", "ray_split.py",
    "run_openvino.py",   "split_assignments.txt", "trtexec.sh", NULL};

/* Whether name is in engine_files[]. */
static bool is_engine_file(const char *name)
{
    for (int k = 0; engine_files[k]; k++)
        if (strcmp(name, engine_files[k]) == 0)
            return true;
    return false;
}

/* Returns the entry of engine_folders[] that the path begins with; NULL: none. */
static const char *engine_folder(const char *path)
{
    for (int k = 0; engine_folders[k]; k++)
        if (strncmp(path, engine_folders[k], strlen(engine_folders[k])) == 0)
            return engine_folders[k];
    return NULL;
}

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
    return is_part_name(name) || is_data_name(name) || is_engine_file(name);
}

/* Adds a name or path to f->known. */
static void add_known(struct folder *f, const char *name)
{
    names_add(&f->known, arena_strdup(f->a, name, strlen(name)), 1);
}

/* Adds engines' files that the manifest's "exports" lists, and the names of engines' folders with such files, to
 * f->known. */
static void read_exports(struct folder *f, const json_t *root)
{
    const json_t *exports = json_object_get(root, "exports"), *files;
    size_t i, k;
    json_t *row, *file;
    json_array_foreach(exports, i, row)
    {
        files = json_object_get(row, "files");
        json_array_foreach(files, k, file)
        {
            const char *path = json_string_value(file), *top = path ? engine_folder(path) : NULL;
            if (path && (top || is_engine_file(path)))
                add_known(f, path);
            if (top)
                add_known(f, top);
        }
    }
}

/* Fills f->known with the names that files of the split at `path` may have: the names in fixed[], and the files that
 * the manifest lists.  With f->into, weights.data is known only if the manifest lists it, as it may be the source's
 * own file.  Returns false, and leaves f->known empty, if the folder has no manifest that pcc wrote. */
static bool read_known(struct folder *f, const char *path)
{
    const char *file_name = arena_fmt(f->a, "%s/manifest.json", path);
    struct arena *own = arena_new(f->a);
    struct diag quiet = diag_silent();
    size_t n = 0, i;
    const char *text = infile_read(file_name, INFILE_PLAN, own, &n, &quiet);
    const json_t *root = text ? json_read(own, text, n, NULL) : NULL;
    const json_t *row, *parts = json_object_get(root, "parts");
    const json_t *files = json_object_get(json_object_get(root, "weights"), "files");
    bool ours = json_is_integer(json_object_get(root, "pcc_manifest"));
    f->known = names_new(f->a, 16);
    if (!ours) {
        arena_free(own);
        return false;
    }
    for (int k = 0; fixed[k]; k++)
        if (!f->into || strcmp(fixed[k], "weights.data") != 0)
            names_add(&f->known, fixed[k], 1);
    json_array_foreach(parts, i, row)
    {
        const char *file = json_get_text(row, "file");
        if (file && is_part_name(file))
            add_known(f, file);
    }
    json_array_foreach(files, i, row)
    {
        const char *file = json_string_value(row);
        if (file && (is_data_name(file) || strcmp(file, "weights.data") == 0))
            add_known(f, file);
    }
    read_exports(f, root);
    arena_free(own);
    return true;
}

/* For arena_defer(): closes an open folder, a DIR. */
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

/* Whether the entry `name` of the open folder dir is a folder.  type: of the entry, as readdir() tells it. */
static bool is_folder(int dir, const char *name, unsigned char type)
{
    struct stat st;
    return type == DT_DIR ||
           (type == DT_UNKNOWN && fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
            S_ISDIR(st.st_mode));
}

/* Whether name is "." or "..". */
static bool is_dots(const char *name)
{
    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

/* Opens the folder `name` in the open folder dir; a symbolic link is not followed.  Returns a descriptor, or -1 and
 * errno. */
static int open_below(int dir, const char *name)
{
    return openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* Returns the path of a file that is not in f->known, in the folder `name` of the open folder dir or in folders below
 * it; NULL: there is none.  path: of the folder `name` in the split, with a slash at its end.  levels: how many
 * folders below folder `name` may lie inside each other.  For a folder that cannot be read, or lies too deep,
 * returns its own path. */
static const char *foreign_below(struct folder *f, int dir, const char *name, const char *path,
                                 int levels)
{
    int fd = open_below(dir, name);
    DIR *d = fd < 0 ? NULL : fdopendir(fd);
    if (!d) {
        if (fd >= 0)
            close(fd);
        return path;
    }
    struct arena *own = arena_new(f->a);
    arena_defer(own, close_dir, d);
    const char *found = NULL;
    for (struct dirent *e; !found && (e = readdir(d));) {
        if (is_dots(e->d_name))
            continue;
        const char *at = arena_fmt(f->a, "%s%s", path, e->d_name);
        if (!is_folder(fd, e->d_name, e->d_type))
            found = names_get(&f->known, at, 0) ? NULL : at;
        else
            found = levels ? foreign_below(f, fd, e->d_name, arena_fmt(f->a, "%s/", at), levels - 1)
                           : at;
    }
    arena_free(own);
    return found;
}

/* Returns NULL if the entry e of the open folder dir, a split, and all files in it belong to the split (f->known);
 * else the entry's name or, of a folder, the path of a file in it that does not belong to the split. */
static const char *foreign_entry(struct folder *f, int dir, const struct dirent *e)
{
    const char *path = arena_fmt(f->a, "%s/", e->d_name);
    if (!is_folder(dir, e->d_name, e->d_type))
        return names_get(&f->known, e->d_name, 0) ? NULL
                                                  : arena_strdup(f->a, path, strlen(path) - 1);
    if (names_get(&f->known, path, 0))
        return foreign_below(f, dir, e->d_name, path, TREE_LEVELS - 1);
    return arena_strdup(f->a, path, strlen(path) - 1);
}

/* Returns the first name, in byte order, of an entry of the folder that is not in f->known; NULL: there is none.  With
 * f->into, only names that every split gives its files count: other files can stay, also files with the names of
 * engines' files, which may be the user's own (entry_in_the_way() finds the files that a new file would replace).  *n:
 * number of all entries; -1, with errno: the folder cannot be read. */
static const char *foreign_file(struct folder *f, const char *path, int *n)
{
    struct arena *own = arena_new(f->a);
    DIR *dir = open_dir(path, own);
    const char *found = NULL;
    *n = dir ? 0 : -1;
    for (struct dirent *e; dir && (e = readdir(dir));) {
        if (is_dots(e->d_name))
            continue;
        (*n)++;
        if (f->into && (!folder_own_name(e->d_name) || is_engine_file(e->d_name)))
            continue;
        const char *foreign = foreign_entry(f, dirfd(dir), e);
        if (foreign && (!found || strcmp(foreign, found) < 0))
            found = foreign;
    }
    int e = errno;
    arena_free(own); /* closes the folder, and may change errno */
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

/* Sets f->final and checks what exists there (check_existing): the path without links or, if there is nothing, the path
 * as it was given, without slashes at its end.  Returns 0, or -1 and an error. */
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
    if (errno != ENOENT)
        return diag_error(f->diag, "%s: %s", f->name, strerror(errno));
    if (lstat(f->final, &st) == 0) /* a link that leads nowhere */
        return diag_error(f->diag, "%s: %s", f->name, strerror(ELOOP));
    return 0;
}

/* Whether remove_files() is to remove the file at `path`, a path in the split folder.  A path with a slash at its
 * end is a folder: then returns whether it may hold such files. */
typedef bool choose_path(const struct folder *f, const char *path);

static int remove_below(const struct folder *f, int fd, char *path, size_t at, choose_path *which);

/* Removes the files that `which` chooses in a folder, and the folder itself if it is empty then.  path: of the folder
 * in the split, in memory of TREE_PATH bytes, which is used and restored; path + at: its name in the open folder fd.
 * Returns 0 or an errno. */
static int remove_folder(const struct folder *f, int fd, char *path, size_t at, choose_path *which)
{
    size_t n = at + strlen(path + at);
    memcpy(path + n, "/", 2);
    bool chosen = which(f, path);
    path[n] = '\0';
    if (!chosen)
        return 0;
    int below = open_below(fd, path + at), rc = below < 0 ? errno : 0;
    if (below >= 0) {
        path[n] = '/';
        rc = remove_below(f, below, path, n + 1, which);
        close(below);
        path[n] = '\0';
    }
    return unlinkat(fd, path + at, AT_REMOVEDIR) && !rc ? errno : rc;
}

/* Removes the files that `which` chooses in the open folder fd and in folders below it.  path[0 .. at): path of the
 * folder in the split, "" or with a slash at its end.  Returns 0, or the errno of the first failure, after which other
 * files are still removed.  Does not allocate, because it is also called when memory has run out.  At most TREE_LEVELS
 * folders lie inside each other; deeper ones stay, and so do files whose path takes more than TREE_PATH bytes. */
static int remove_below(const struct folder *f, int fd, char *path, size_t at, choose_path *which)
{
    _Alignas(struct dirent64) char buf[4096];
    ssize_t n;
    int rc = 0, levels = 0;
    for (size_t k = 0; k < at; k++)
        levels += path[k] == '/';
    lseek(fd, 0, SEEK_SET);
    while ((n = getdents64(fd, buf, sizeof buf)) > 0)
        for (ssize_t k = 0; k < n;) {
            const struct dirent64 *e = (const struct dirent64 *)(const void *)(buf + k);
            size_t len = strlen(e->d_name);
            int why = 0;
            k += e->d_reclen;
            if (is_dots(e->d_name) || at + len + 2 > TREE_PATH)
                continue;
            memcpy(path + at, e->d_name, len + 1);
            if (!is_folder(fd, e->d_name, e->d_type))
                why = which(f, path) && unlinkat(fd, path + at, 0) ? errno : 0;
            else if (levels < TREE_LEVELS)
                why = remove_folder(f, fd, path, at, which);
            if (why && why != ENOENT && !rc)
                rc = why;
        }
    return n < 0 && !rc ? errno : rc;
}

/* Removes the files that `which` chooses in the open folder fd, which is a split.  Returns 0 or an errno. */
static int remove_files(const struct folder *f, int fd, choose_path *which)
{
    char path[TREE_PATH];
    return remove_below(f, fd, path, 0, which);
}

/* A choose_path, as the next three functions: chooses all files. */
static bool any_name(const struct folder *f, const char *path)
{
    (void)f;
    (void)path;
    return true;
}

/* A choose_path: chooses the files of the split that was in the folder before (f->known), and folders for engines with
 * such files. */
static bool known_name(const struct folder *f, const char *path)
{
    const char *top = path[strlen(path) - 1] == '/' ? engine_folder(path) : NULL;
    return names_get(&f->known, top ? top : path, 0) != 0;
}

/* A choose_path: chooses the files of the old split that the new split (f->made) has not replaced, by a file of the
 * same name or by a folder for the same engine. */
static bool outdated_name(const struct folder *f, const char *path)
{
    const char *top = engine_folder(path);
    return known_name(f, path) && !names_get(&f->made, top ? top : path, 0);
}

/* A choose_path: chooses the files that any split may have, and temporary files (".pcc-...") that become such files. */
static bool any_split_name(const struct folder *f, const char *name)
{
    (void)f;
    return folder_own_name(name) || strncmp(name, ".pcc-", 5) == 0 || engine_folder(name);
}

/* Removes the temporary folder `name` in the open folder `parent`, unless a run still has it locked. */
static void remove_stale(const struct folder *f, int parent, const char *name)
{
    struct stat st;
    int fd = open_below(parent, name);
    if (fd < 0)
        return;
    if (fstat(fd, &st) == 0 && st.st_uid == geteuid() && flock(fd, LOCK_EX | LOCK_NB) == 0 &&
        remove_files(f, fd, any_split_name) == 0)
        /* fails, as it should, if the folder still has other files */
        unlinkat(parent, name, AT_REMOVEDIR);
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

/* For arena_defer(): calls drop_temp() for p, a struct folder. */
static void drop_folder_temp(void *p)
{
    drop_temp(p);
}

void folder_abort(struct folder *f)
{
    arena_free(f->own);
}

/* Makes and locks the temporary folder, whose path is stem and TEMP_RANDOM random characters.  Returns 0 or an errno;
 * ENOENT: its parent is missing; or another run removed the folder as a stale one before this run had locked it. */
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

/* Returns the mode that mkdir() would give a folder, or -errno; mkdtemp() makes folders for the owner alone.  Finds the
 * mode by creating a file and removing it: umask() cannot tell the mask without changing it for all threads. */
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

/* Gives the temporary folder the mode that mkdir() would give it.  Returns 0 or an errno. */
static int set_usual_mode(const struct folder *f)
{
    int mode = usual_mode(f);
    if (mode < 0)
        return -mode;
    return fchmod(f->dirfd, (mode_t)mode) ? errno : 0;
}

/* Reports that the temporary folder could not be made; why: the errno. */
static void tell_no_temp(const struct folder *f, int why)
{
    const char *missing = why == ENOENT ? outfile_missing(f->final, f->a) : NULL;
    if (missing)
        diag_error(f->diag,
                   "%s: no folder can be made beside it: there is no folder %s: make it first",
                   f->name, missing);
    else
        diag_error(f->diag, "%s: no folder can be made beside it: %s", f->name, strerror(why));
}

int folder_begin(struct folder *f, const char *name, bool into, const char *model, struct arena *a,
                 struct diag *d)
{
    *f = (struct folder){.a = a, .diag = d, .name = name, .dirfd = -1, .into = into};
    if (find_place(f, model))
        return -1;
    char *slash = strrchr(f->final, '/');
    const char *base = slash ? slash + 1 : f->final;
    /* parent: bytes of the path of the folder above f->final */
    int rc = ENOENT, parent = slash ? (int)(slash - f->final) + 1 : 0;
    /* the name begins with '.', so that nobody takes the incomplete folder for a split; 200: no name may have more
     * than 255 bytes */
    const char *stem = into ? arena_fmt(a, "%s/.split.pcc-", f->final)
                            : arena_fmt(a, "%.*s.%.200s.pcc-", parent, f->final, base);
    remove_all_stale(f, stem);
    f->own = arena_new(a);
    arena_defer(f->own, drop_folder_temp, f);
    for (int i = 0; i < TRIES && rc == ENOENT; i++) {
        drop_temp(f);
        rc = make_temp(f, stem);
    }
    if (rc == 0)
        rc = set_usual_mode(f);
    if (rc == 0)
        return 0;
    if (f->temp)
        diag_error(d, "%s: %s", f->temp, strerror(rc));
    else
        tell_no_temp(f, rc);
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

/* Puts the temporary folder into the place of the split folder at f->final; *old becomes the new path of the folder
 * that was there.  Returns 0, or -1 and errno. */
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
    if (rename(*old, f->final)) /* puts the old folder back */
        diag_error(f->diag, "%s: the folder that was there is now '%s': %s", f->name, *old,
                   strerror(errno));
    errno = why;
    return -1;
}

/* Returns the names of all files and folders in the temporary folder, in f->a, those of folders with a slash at the
 * end, and writes their number to *n; NULL and errno: the folder cannot be read. */
static const char **made_files(struct folder *f, uint32_t *n)
{
    uint32_t cap = 1;
    const char **list = arena_alloc(f->a, sizeof *list);
    struct arena *own = arena_new(f->a);
    DIR *dir = open_dir(f->temp, own);
    *n = 0;
    for (struct dirent *e; dir && (e = readdir(dir));)
        if (!is_dots(e->d_name)) {
            bool folder = is_folder(dirfd(dir), e->d_name, e->d_type);
            list = vec_grow(f->a, list, &cap, *n + 1, sizeof *list);
            list[(*n)++] = arena_fmt(f->a, "%s%s", e->d_name, folder ? "/" : "");
        }
    int e = errno;
    arena_free(own);
    errno = e;
    return dir ? list : NULL;
}

/* Returns the length of the name of an entry without the slash that is at its end if the entry is a folder. */
static size_t bare_length(const char *name)
{
    size_t n = strlen(name);
    return name[n - 1] == '/' ? n - 1 : n;
}

/* Moves the entry `name` of the temporary folder (a folder, if it ends in a slash) into the open folder `to`.  An entry
 * of that name in `to` moves into the temporary folder, or is replaced.  Returns 0 or an errno. */
static int put_entry(struct folder *f, int to, const char *name)
{
    char path[TREE_PATH];
    size_t n = bare_length(name);
    if (n + 1 >= TREE_PATH) /* remove_folder() adds a slash */
        return ENAMETOOLONG;
    memcpy(path, name, n);
    path[n] = '\0';
    if (renameat(f->dirfd, path, to, path) == 0)
        return 0;
    if (errno != ENOTEMPTY && errno != EEXIST)
        return errno;
    /* a folder is in the way: exchange the two; if the file system cannot, remove the old one first */
    if (renameat2(f->dirfd, path, to, path, RENAME_EXCHANGE) == 0)
        return 0;
    int rc = remove_folder(f, to, path, 0, known_name);
    if (rc)
        return rc;
    return renameat(f->dirfd, path, to, path) ? errno : 0;
}

/* Returns what is in the way of the new entries file[n] (a slash at the end: a folder) in the open folder `to`: the
 * name of an entry that does not belong to the split there, or is a file instead of a folder or the other way round,
 * or the path of a foreign file in such a folder; NULL: nothing is. */
static const char *entry_in_the_way(struct folder *f, int to, const char *const *file, uint32_t n)
{
    struct stat st;
    for (uint32_t i = 0; i < n; i++) {
        size_t bare = bare_length(file[i]);
        const char *name = arena_strdup(f->a, file[i], bare);
        if (fstatat(to, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
            continue;
        bool folder = S_ISDIR(st.st_mode), known = names_get(&f->known, file[i], 0) != 0;
        if (!known || folder != (file[i][bare] == '/'))
            return name;
        const char *foreign = folder ? foreign_below(f, to, name, file[i], TREE_LEVELS - 1) : NULL;
        if (foreign)
            return foreign;
    }
    return NULL;
}

/* Reports that the entry `foreign` of f->final is in the way of a new entry.  Returns -1. */
static int refuse_entry(const struct folder *f, const char *foreign)
{
    return diag_error(f->diag, "%s: holds '%s', which %s: move it away, or say another folder",
                      f->name, foreign,
                      f->replaces ? "its manifest does not list" : "has the name of a new file");
}

/* Moves the files of the temporary folder into the open folder `to`.  Removes the old manifest first, and moves the new
 * one (fixed[0]) last, so that a manifest always lists complete files.  If the folder replaces an old split, removes
 * those of its files that no new file has replaced.  *foreign becomes an entry that is in the way, and then nothing is
 * changed; NULL: there is none.  Returns 0 or an errno. */
static int move_files(struct folder *f, int to, const char **foreign)
{
    uint32_t n;
    const char **file = made_files(f, &n);
    *foreign = file ? entry_in_the_way(f, to, file, n) : NULL;
    if (!file || *foreign)
        return file ? EEXIST : errno;
    f->made = names_new(f->a, n);
    for (uint32_t i = 0; i < n; i++)
        names_add(&f->made, file[i], 1);
    if (unlinkat(to, fixed[0], 0) && errno != ENOENT)
        return errno;
    int rc = 0;
    for (uint32_t i = 0; i < n && !rc; i++)
        rc = strcmp(file[i], fixed[0]) != 0 ? put_entry(f, to, file[i]) : 0;
    if (rc)
        return rc;
    /* the new split is complete even if an old file cannot be removed: the manifest is moved, the error returned */
    rc = f->replaces ? remove_files(f, to, outdated_name) : 0;
    return renameat(f->dirfd, fixed[0], to, fixed[0]) ? errno : rc;
}

void folder_close_descriptor(void *fd)
{
    close((int)(intptr_t)fd);
}

/* Does the work of folder_commit() for a folder with f->into: moves the files, then removes the temporary folder.
 * Returns 0, or -1 and an error. */
static int commit_into(struct folder *f)
{
    struct arena *own = arena_new(f->a);
    int n, to = open(f->final, O_RDONLY | O_DIRECTORY | O_CLOEXEC), rc = to < 0 ? errno : 0;
    if (to >= 0)
        arena_defer(own, folder_close_descriptor, (void *)(intptr_t)to);
    const char *foreign = foreign_file(f, f->final, &n), *other = NULL;
    if (!rc && !foreign)
        rc = move_files(f, to, &other);
    if (foreign)
        diag_error(f->diag, "%s: '%s' has appeared in it meanwhile", f->name, foreign);
    else if (rc && other)
        refuse_entry(f, other);
    else if (rc)
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

/* Moves the new entries file[n] into the open folder `to`: FOLDER_LISTING first, as the manifest, and the new manifest
 * last.  Returns 0 or an errno. */
static int add_entries(struct folder *f, int to, const char *const *file, uint32_t n)
{
    int rc = renameat(f->dirfd, FOLDER_LISTING, to, fixed[0]) ? errno : 0;
    for (uint32_t i = 0; i < n && !rc; i++)
        if (strcmp(file[i], fixed[0]) != 0 && strcmp(file[i], FOLDER_LISTING) != 0)
            rc = put_entry(f, to, file[i]);
    return rc ? rc : put_entry(f, to, fixed[0]);
}

int folder_add(struct folder *f)
{
    struct arena *own = arena_new(f->a);
    uint32_t n = 0;
    int to = open(f->final, O_RDONLY | O_DIRECTORY | O_CLOEXEC), rc = to < 0 ? errno : 0;
    if (to >= 0)
        arena_defer(own, folder_close_descriptor, (void *)(intptr_t)to);
    const char **file = rc ? NULL : made_files(f, &n);
    if (!rc && !file)
        rc = errno;
    const char *foreign = file ? entry_in_the_way(f, to, file, n) : NULL;
    if (!rc && !foreign)
        rc = add_entries(f, to, file, n);
    if (foreign)
        refuse_entry(f, foreign);
    else if (rc)
        diag_error(f->diag, "%s: files cannot be put into it: %s", f->name, strerror(rc));
    arena_free(own);
    folder_abort(f);
    return foreign || rc ? -1 : 0;
}
