/* Reading textual IR: parsing, verifying, and finding what the text refers to.
 *
 * Weights are in files beside the text.  The rules are those of external data: regular files of one name, beneath the
 * folder of the text, with no link on the way; --allow-links lets paths lead anywhere.  A file that is not there, or
 * that is out of bounds, is an error when its bytes are wanted, not before: planning does not need them.  (A model's
 * external data without a size was not there when the text was made; a model that is written may refer to it.)  One
 * that is there has the size that the text says, or its offsets mean something else. O(text + files). */
#include "frontends/frontends.h"

#include "ir/base/infile.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

static void close_fd(void *fd)
{
    close((int)(intptr_t)fd);
}

/* Why a path beside the text `name` could not be opened, from errno. */
static const char *why_barred(const char *name, struct arena *a)
{
    return errno == ENOENT || errno == ENOTDIR
               ? arena_fmt(a, "is not there (files are looked for beside '%s')", name)
           : errno == ELOOP ? "is a symbolic link or behind one (--allow-links follows it)"
           : errno == EXDEV ? "lies outside of the folder of the text (--allow-links reads it)"
                            : strerror(errno);
}

/* Where files are looked for. */
struct beside {
    const char *name;   /* the text's */
    const char *folder; /* "." or with a slash at its end */
    int dir;            /* the same, open */
    bool links;
};

/* Opens file k of the module. */
static int open_one(struct module *m, uint32_t k, const struct beside *b, struct arena *tmp,
                    struct diag *d)
{
    struct file *f = &m->file[k];
    const char *path = module_str(m, f->path), *text = b->name;
    const bool links = b->links;
    uint64_t size, names, said = f->size;
    int fd = *path == '/' && !links ? -1 : infile_open_beneath(b->dir, path, links, tmp);
    int e = errno;

    if (fd >= 0) /* before anything takes memory */
        arena_defer(m->mem, close_fd, (void *)(intptr_t)fd);
    if (*path != '/' && strcmp(b->folder, ".") != 0)
        f->path = str_id(m, arena_fmt(tmp, "%s%s", b->folder, path));
    if (fd < 0) {
        errno = *path == '/' && !links ? EXDEV : e;
        if (said != 0 || (e != ENOENT && e != ENOTDIR) || f->location == 0)
            f->barred = why_barred(text, m->mem); /* else it was not there for the text either */
        return 0;
    }
    const char *wrong = infile_wrong(fd, INFILE_DATA, &size, &names);
    if (wrong == NULL && names != 1 && !links)
        wrong = "has several names, hard links (--allow-links accepts links)";
    if (wrong != NULL)
        return diag_error(d, "%s: file %u '%s' %s", text, k, path, wrong);
    if (said != 0 && said != size)
        return diag_error(d,
                          "%s: file %u '%s' has %" PRIu64 " bytes, the text says %" PRIu64
                          ": it is not the one that the text was made for",
                          text, k, path, size, said);
    f->fd = fd;
    f->size = size;
    f->map = f->location == 0 && size > 0 ? infile_addresses(size, m->mem) : NULL;
    return 0;
}

/* Opens the files of the module, which stand beside the text of that name. */
static int open_files(struct module *m, const char *name, bool links, struct diag *d)
{
    struct arena *tmp = arena_new(m->mem);
    const char *slash = strrchr(name, '/');
    struct beside b = {name, ".", -1, links};
    int rc = 0;

    if (slash != NULL)
        b.folder = arena_strdup(tmp, name, (size_t)(slash - name) + 1);
    b.dir = m->nfile > 1 ? open(b.folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (b.dir >= 0)
        arena_defer(tmp, close_fd, (void *)(intptr_t)b.dir);
    for (uint32_t k = 1; k < m->nfile && b.dir >= 0 && rc == 0; k++)
        rc = open_one(m, k, &b, tmp, d);
    module_share_files(m);
    arena_free(tmp);
    return rc;
}

int text_read(struct text_module *out, const struct named_text *t, bool allow_links,
              struct arena *of, struct diag *d)
{
    if (module_parse(out, t, of, d) != 0)
        return -1;
    struct module *m = out->scene.m;
    if (open_files(m, t->name, allow_links, d) == 0 && module_verify(m, d) == 0 &&
        onnx_carried(m, d) == 0)
        return 0;
    arena_free(m->mem);
    *out = (struct text_module){0};
    return -1;
}
