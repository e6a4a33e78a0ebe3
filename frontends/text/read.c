/* Reads textual IR: parses and verifies the text, and opens the files with weights to which it refers.
 *
 * The rules for these files are those for a model's external data: regular files without further hard links, below the
 * folder of the text, with no symbolic link in their path.  With --allow-links, paths may lead anywhere and links are
 * followed.  A file that is missing or outside the folder is an error only when its bytes are needed: planning does not
 * need them.  (If the text gives no size for a file of external data, the file was missing when the text was written,
 * too; a model that is written may refer to it nevertheless.)  A file that exists must have the size that the text
 * says, because otherwise the offsets of weights would be wrong.  O(text + files). */
#include "frontends/frontends.h"

#include "ir/base/infile.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

/* For arena_defer(): closes the file with this descriptor. */
static void close_fd(void *fd)
{
    close((int)(intptr_t)fd);
}

/* Returns why a path beside the text `name` could not be opened, by errno. */
static const char *why_barred(const char *name, struct arena *a)
{
    return errno == ENOENT || errno == ENOTDIR
               ? arena_fmt(a, "is not there (files are looked for beside '%s')", name)
           : errno == ELOOP ? "is a symbolic link or behind one (--allow-links follows it)"
           : errno == EXDEV ? "lies outside of the folder of the text (--allow-links reads it)"
                            : strerror(errno);
}

/* Where the files of a text are looked for. */
struct search_place {
    const char *name;   /* name of the text */
    const char *folder; /* "." or a path with a slash at its end */
    int dir;            /* descriptor of the folder */
    bool links;         /* --allow-links */
};

/* Opens file k of the module.  A file that cannot be opened is no error yet: the reason is kept in file.barred, unless
 * the file was missing when the text was made, too.  Returns 0; or -1 and an error if the file is not the one that the
 * text means, or may not be used. */
static int open_file(struct module *m, uint32_t k, const struct search_place *b, struct arena *tmp,
                     struct diag *d)
{
    struct file *f = &m->file[k];
    const char *path = module_str(m, f->path), *text = b->name;
    const bool links = b->links, outside = *path == '/' && !links;
    uint64_t size, hard_links, text_size = f->size;
    int fd = outside ? -1 : infile_open_beneath(b->dir, path, links, tmp);
    int e = outside ? EXDEV : errno; /* what follows may change errno */

    if (fd >= 0) /* first, since any allocation below may fail */
        arena_defer(m->mem, close_fd, (void *)(intptr_t)fd);
    if (*path != '/' && strcmp(b->folder, ".") != 0)
        f->path = str_id(m, arena_fmt(tmp, "%s%s", b->folder, path));
    if (fd < 0) {
        /* external data without a size was missing when the text was made, and may be missing still */
        bool was_missing = text_size == 0 && f->location != 0;
        errno = e;
        if (!was_missing || (e != ENOENT && e != ENOTDIR))
            f->barred = why_barred(text, m->mem);
        return 0;
    }
    const char *wrong = infile_wrong(fd, INFILE_DATA, &size, &hard_links);
    if (wrong == NULL && hard_links != 1 && !links)
        wrong = "has several names, hard links (--allow-links accepts links)";
    if (wrong != NULL)
        return diag_error(d, "%s: file %u '%s' %s", text, k, path, wrong);
    if (text_size != 0 && text_size != size)
        return diag_error(d,
                          "%s: file %u '%s' has %" PRIu64 " bytes, the text says %" PRIu64
                          ": it is not the one that the text was made for",
                          text, k, path, size, text_size);
    f->fd = fd;
    f->size = size;
    f->map = f->location == 0 && size > 0 ? infile_addresses(size, m->mem) : NULL;
    return 0;
}

/* Opens the files of the module, looking for them in the folder of the text `name`; links: also behind symbolic
 * links and outside of the folder (--allow-links).  If the folder does not exist, no file is opened; that is an
 * error only when a file is needed.  Returns 0, or -1 and an error. */
static int open_files(struct module *m, const char *name, bool links, struct diag *d)
{
    struct arena *tmp = arena_new(m->mem);
    const char *slash = strrchr(name, '/');
    struct search_place b = {name, ".", -1, links};
    int rc = 0;

    if (slash != NULL)
        b.folder = arena_strdup(tmp, name, (size_t)(slash - name) + 1);
    b.dir = m->nfile > 1 ? open(b.folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (b.dir >= 0)
        arena_defer(tmp, close_fd, (void *)(intptr_t)b.dir);
    for (uint32_t k = 1; k < m->nfile && b.dir >= 0 && rc == 0; k++)
        rc = open_file(m, k, &b, tmp, d);
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
