/* Splits that refer to the files of the source (--weights=original).
 *
 * Runtimes refuse external data outside the folder of a model, and symbolic links in it.  So either
 * the split goes into the folder of the source and names its files as they are named there; or the
 * files get further names in the folder of the split, as hard links source0.data, source1.data, ...,
 * which needs one file system.  Links are made from the open descriptors: it is the very file that
 * was read, whatever its name stands for meanwhile.  A file that is not there keeps its name, for
 * whoever puts it into the folder of the split.  O(files). */
#include "backends/folder.h"
#include "backends/split.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool sources_beside(const struct split *s, const char *folder)
{
    const char *path = str(s->m, s->m->path), *slash = strrchr(path, '/');
    const char *own = slash ? arena_strdup(s->a, path, (size_t)(slash - path) + 1) : ".";
    struct stat a, b;
    return s->mode == WEIGHTS_ORIGINAL && stat(own, &a) == 0 && stat(folder, &b) == 0 &&
           a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* A file beside the split, or one that is not there, by its own name. */
static int name_as_is(struct split *s, uint32_t k, const char *folder)
{
    const struct file *f = &s->m->file[k];
    const char *name = f->location ? str(s->m, f->location) : base_name(str(s->m, f->path));
    struct stat st;
    if (folder_own_name(base_name(name)))
        return diag_error(s->diag,
                          "%s: has the name of a file of a split, which cannot lie beside it then: "
                          "rename it%s%s%s",
                          str(s->m, f->path), s->beside ? ", or give another folder than '" : "",
                          s->beside ? folder : "", s->beside ? "'" : "");
    if (s->beside && s->used[k] && lstat(arena_fmt(s->a, "%s/%s", folder, name), &st) == 0 &&
        S_ISLNK(st.st_mode))
        return diag_error(s->diag,
                          "%s: is a symbolic link, which runtimes refuse: give another folder than "
                          "'%s', where it gets a hard link, or use --weights=shared",
                          str(s->m, f->path), folder);
    s->source[k] = name;
    return 0;
}

static int link_file(struct split *s, uint32_t k, const char *name, const char *folder)
{
    const struct file *f = &s->m->file[k];
    const char *fd = arena_fmt(s->a, "/proc/self/fd/%d", f->fd);
    s->source[k] = name;
    if (linkat(AT_FDCWD, fd, s->dirfd, name, AT_SYMLINK_FOLLOW) == 0)
        return 0;
    return diag_error(s->diag,
                      "%s: %s%s: the parts cannot refer to it from '%s': give the folder of the "
                      "model (-o), or one on its file system, or use --weights=shared",
                      str(s->m, f->path), errno == EXDEV ? "" : "cannot be linked: ",
                      errno == EXDEV ? "lies on another file system" : strerror(errno), folder);
}

static void note_missing(struct split *s, const char *folder)
{
    uint32_t n = 0, first = 0;
    for (uint32_t k = 1; k < s->m->nfile; k++)
        if (s->used[k] && s->m->file[k].fd < 0 && n++ == 0)
            first = k;
    if (n)
        diag_note(s->diag,
                  "%s: %u file%s of weights %s not there: the parts refer to '%s'%s in '%s'",
                  str(s->m, s->m->path), n, n > 1 ? "s" : "", n > 1 ? "are" : "is",
                  s->source[first], n > 1 ? " and so on" : "", folder);
}

int sources_link(struct split *s, const char *folder)
{
    uint32_t links = 0;
    s->source = arena_array(s->a, s->m->nfile, sizeof *s->source);
    for (uint32_t k = 1; k < s->m->nfile && s->mode == WEIGHTS_ORIGINAL; k++) {
        bool as_is = s->beside || (s->used[k] && s->m->file[k].fd < 0);
        if (as_is ? name_as_is(s, k, folder)
            : s->used[k]
                ? link_file(s, k, arena_fmt(s->a, SOURCE_STEM "%u" SOURCE_END, links++), folder)
                : 0)
            return -1;
    }
    note_missing(s, folder);
    if (links)
        diag_note(
            s->diag,
            "%s: %u file%s of the source %s a second name in it: ONNX Runtime runs such parts, "
            "but onnx's own tools refuse files of several names, in the source, too; pcc wants "
            "--allow-links for them",
            folder, links, links > 1 ? "s" : "", links > 1 ? "have" : "has");
    return 0;
}
