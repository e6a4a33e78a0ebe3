/* Splits that refer to the files of the source (--weights=original, --weights=link).
 *
 * Runtimes refuse external data outside the folder of a model, and symbolic links in it.  So either the split is
 * written into the source's folder and refers to the source's files by their names; or the split's folder gets a
 * second file, called *twin* here, for each file of the source: source0.data, source1.data, ...  With `original` a
 * twin shares its blocks with the source's file (FICLONE) or is a copy, and the user's files stay unchanged.  With
 * `link` a twin is a hard link; some loaders refuse files with several links, and then refuse the source's file,
 * too.
 *
 * Twins are made from open descriptors, so they have the content that was planned for, even if another file has got the
 * source's name since.  A split beside the source may refer to a file that is missing: the user can add it later.
 * O(files) + the copying. */
#include "backends/split/folder.h"
#include "backends/split/split.h"
#include "ir/base/infile.h"
#include "ir/base/strings.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

bool sources_beside(const struct split *s, const char *folder)
{
    const char *path = module_str(s->m, s->m->path), *slash = strrchr(path, '/');
    const char *own = slash ? arena_strdup(s->a, path, (size_t)(slash - path) + 1) : ".";
    return s->weights.mode == WEIGHTS_ORIGINAL && infile_same(own, folder);
}

/* Makes the split, which lies beside the source, refer to file k of the module by the file's own name: sets
 * s->sources.source[k].  The file may be missing.  folder: of the split, for errors.  Returns 0; or -1 and an error if
 * a file of the split has that name, or runtimes would refuse the file. */
static int keep_name(struct split *s, uint32_t k, const char *folder)
{
    assert(k > 0 && k < s->m->nfile);
    const struct file *f = &s->m->file[k];
    const char *name =
        f->location ? module_str(s->m, f->location) : path_base(module_str(s->m, f->path));
    struct stat st;
    if (f->nowhere && s->sources.used[k])
        return diag_error(s->diag,
                          "%s: the model came in memory, there is no file with its weights: use "
                          "--weights=shared, or give another folder than '%s'",
                          module_str(s->m, f->path), folder);
    if (folder_own_name(path_base(name)))
        return diag_error(s->diag,
                          "%s: has the name of a file of a split, which cannot lie beside it then: "
                          "rename it, or give another folder than '%s'",
                          module_str(s->m, f->path), folder);
    if (s->sources.used[k] && lstat(arena_fmt(s->a, "%s/%s", folder, name), &st) == 0 &&
        S_ISLNK(st.st_mode))
        return diag_error(s->diag,
                          "%s: is a symbolic link, which runtimes refuse: give another folder than "
                          "'%s', where it is copied, or use --weights=shared",
                          module_str(s->m, f->path), folder);
    s->sources.source[k] = name;
    return 0;
}

/* Makes the twin of file k as a hard link.  folder: of the split, for errors.  Returns 0, or -1 and an error. */
static int link_file(struct split *s, uint32_t k, const char *folder)
{
    assert(s->m->file[k].fd >= 0 && s->sources.source[k]);
    const struct file *f = &s->m->file[k];
    const char *fd = arena_fmt(s->a, "/proc/self/fd/%d", f->fd);
    if (linkat(AT_FDCWD, fd, s->dirfd, s->sources.source[k], AT_SYMLINK_FOLLOW) == 0)
        return 0;
    return diag_error(
        s->diag,
        "%s: %s%s: '%s' cannot have a link to it: give a folder on its file system, or "
        "use --weights=original, which copies it there",
        module_str(s->m, f->path), errno == EXDEV ? "" : "cannot be linked: ",
        errno == EXDEV ? "lies on another file system" : strerror(errno), folder);
}

bool sources_can_clone(const struct split *s, uint32_t k)
{
    int from = s->m->file[k].fd, to = openat(s->dirfd, ".", O_WRONLY | O_TMPFILE | O_CLOEXEC, 0666);
    bool can = from >= 0 && to >= 0 && ioctl(to, FICLONE, from) == 0;
    if (to >= 0)
        close(to);
    return can;
}

/* Makes a twin of file k that shares the file's blocks.  Returns 1; 0 if the file system cannot do that, and then there
 * is no twin; -1 and an error. */
static int clone_file(struct split *s, uint32_t k)
{
    int fd = weights_create(s, s->sources.source[k]);
    if (fd < 0)
        return -1;
    struct stat st;
    bool shares = ioctl(fd, FICLONE, s->m->file[k].fd) == 0;
    /* a clone must have as many bytes as the file had when it was opened; copy_file() finds that out by itself */
    bool whole = !shares || (fstat(fd, &st) == 0 && (uint64_t)st.st_size >= s->m->file[k].size);
    close(fd);
    if (!whole)
        return diag_error(s->diag, "%s: the file has become shorter since it was read",
                          module_str(s->m, s->m->file[k].path));
    if (!shares)
        unlinkat(s->dirfd, s->sources.source[k], 0);
    return shares;
}

/* Makes the twin of file k as a copy.  Returns 0, or -1 and an error. */
static int copy_file(struct split *s, uint32_t k)
{
    const struct file *f = &s->m->file[k];
    int fd = weights_create(s, s->sources.source[k]);
    if (fd < 0)
        return -1;
    int rc = copy_bytes(f->fd, 0, f->size, fd, s->sources.source[k], s->diag);
    if (close(fd) && !rc)
        rc = diag_error(s->diag, "%s: %s", s->sources.source[k], strerror(errno));
    return rc;
}

/* Makes the twins of the files copy[n], which could not be cloned, as copies.  First adds a note that tells how
 * many bytes the copies take.  Returns 0, or -1 and an error, also if there is no room. */
static int copy_files(struct split *s, const uint32_t *copy, uint32_t n, const char *folder)
{
    char size[UNIT_TEXT];
    int64_t bytes = 0;
    for (uint32_t i = 0; i < n; i++)
        bytes = sat_add(bytes, (int64_t)s->m->file[copy[i]].size);
    if (n)
        diag_note(
            s->diag,
            "%s: copying %u file%s of the source into it, %s: its file system shares no blocks "
            "with it (-o the model's own folder copies nothing)",
            folder, n, n > 1 ? "s" : "", bytes_short(size, bytes));
    if (split_check_room(s, (uint64_t)bytes, n > 1 ? "the source's files" : "the source's file"))
        return -1;
    for (uint32_t i = 0; i < n; i++)
        if (copy_file(s, copy[i]))
            return -1;
    return 0;
}

/* Shows a note if files that parts refer to are missing. */
static void note_missing(struct split *s, const char *folder)
{
    uint32_t n = 0, first = 0;
    for (uint32_t k = 1; k < s->m->nfile; k++)
        if (s->sources.used[k] && s->m->file[k].fd < 0) {
            first = n == 0 ? k : first;
            n++;
        }
    if (n)
        diag_note(s->diag,
                  "%s: %u file%s of weights %s not there: the parts refer to '%s'%s in '%s'",
                  module_str(s->m, s->m->path), n, n > 1 ? "s" : "", n > 1 ? "are" : "is",
                  s->sources.source[first], n > 1 ? " and so on" : "", folder);
}

/* Calls keep_name() for each file of the model.  Returns 0, or -1 and an error. */
static int keep_all_names(struct split *s, const char *folder)
{
    for (uint32_t k = 1; k < s->m->nfile; k++)
        if (keep_name(s, k, folder))
            return -1;
    return 0;
}

/* Sets s->sources.source[k] to the name of a twin for each file k to which the split refers.  Returns the number of
 * twins. */
static uint32_t name_twins(struct split *s)
{
    uint32_t n = 0;
    for (uint32_t k = 1; k < s->m->nfile; k++)
        if (s->sources.used[k])
            s->sources.source[k] = arena_fmt(s->a, SOURCE_STEM "%u" SOURCE_END, n++);
    return n;
}

/* Calls link_file() for each file whose weights the split uses.  Returns 0, or -1 and an error. */
static int link_all(struct split *s, const char *folder)
{
    for (uint32_t k = 1; k < s->m->nfile; k++)
        if (s->sources.used[k] && link_file(s, k, folder))
            return -1;
    return 0;
}

/* Makes twins of all used files; copies the files that cannot be cloned.  Returns 0, or -1 and an error. */
static int clone_or_copy_all(struct split *s, const char *folder)
{
    uint32_t *copy = arena_array(s->a, s->m->nfile, sizeof *copy), n = 0;
    for (uint32_t k = 1; k < s->m->nfile; k++) {
        if (!s->sources.used[k])
            continue;
        int cloned = clone_file(s, k);
        if (cloned < 0)
            return -1;
        if (!cloned)
            copy[n++] = k;
    }
    return copy_files(s, copy, n, folder);
}

/* Fills s->sources.source, the names by which the split refers to files of the source, and writes the number of files
 * that must get a twin to *twins.  Returns 0, or -1 and an error. */
static int name_sources(struct split *s, const char *folder, uint32_t *twins)
{
    s->sources.source = arena_array(s->a, s->m->nfile, sizeof *s->sources.source);
    *twins = 0;
    if (s->sources.beside)
        return keep_all_names(s, folder);
    if (s->weights.mode == WEIGHTS_ORIGINAL || s->weights.mode == WEIGHTS_LINK)
        *twins = name_twins(s);
    return 0;
}

int sources_check(struct split *s, const char *folder)
{
    uint32_t twins;
    if (name_sources(s, folder, &twins))
        return -1;
    return s->weights.mode == WEIGHTS_LINK ? link_all(s, folder) : 0;
}

int sources_bring(struct split *s, const char *folder)
{
    uint32_t twins;
    if (name_sources(s, folder, &twins))
        return -1;
    if (s->sources.beside)
        note_missing(s, folder);
    if (!twins)
        return 0;
    diag_tell(s->diag, "copying weights", 0, 0);
    if (s->weights.mode == WEIGHTS_ORIGINAL)
        return clone_or_copy_all(s, folder);
    if (link_all(s, folder))
        return -1;
    diag_note(s->diag,
              "%s: %u file%s of the source %s a second name in it: ONNX Runtime runs such parts, "
              "but onnx's own tools refuse files of several names, in the source, too; pcc wants "
              "--allow-links for them",
              folder, twins, twins > 1 ? "s" : "", twins > 1 ? "have" : "has");
    return 0;
}
