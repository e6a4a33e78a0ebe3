/* Adds files for engines to a split folder that is there (split_export).
 *
 * The files are made in a temporary folder inside the split folder, with a manifest that lists them, and are then moved
 * into the split folder one by one (folder_add).  Nothing else of the folder changes.  A run locks the folder
 * (flock) before it reads the manifest, and keeps the lock until the new manifest is there; so two runs at the same
 * time cannot lose each other's entries. */
#include "backends/split/folder.h"
#include "backends/split/split.h"
#include "backends/engines/engines.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* Makes the files in a temporary folder and moves them into the folder, whose manifest was read (export_read).  Returns
 * 0, or -1 and an error. */
static int add_files(struct export_folder *x)
{
    struct folder f;
    if (folder_begin(&f, x->name, /*into=*/true, NULL, x->a, x->diag))
        return -1;
    x->to = f.dirfd;
    int rc = export_write(x);
    uint32_t made = x->nmade;
    if (!rc)
        rc = export_text(x, FOLDER_LISTING, x->both);
    x->nmade = made; /* export_text() has counted FOLDER_LISTING, which is no file for an engine */
    if (!rc)
        return folder_add(&f);
    folder_abort(&f);
    return -1;
}

/* Locks the folder, whose descriptor is fd and whose path is `path`, against other runs that add files; waits for a run
 * that has it locked.  A file system without locks is no error.  Returns 0; -1 and an error: a signal came while it
 * waited, or another folder has this path now. */
static int lock_folder(int fd, const char *path, struct diag *d)
{
    struct stat opened, there;
    if (flock(fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK) {
        diag_note(d, "%s: waiting for another program that has it locked", path);
        if (flock(fd, LOCK_EX) && errno == EINTR)
            return diag_error(d, "%s: nothing was added: interrupted", path);
    }
    if (fstat(fd, &opened) || stat(path, &there))
        return diag_error(d, "%s: %s", path, strerror(errno));
    if (opened.st_dev != there.st_dev || opened.st_ino != there.st_ino)
        return diag_error(d, "%s: has been replaced meanwhile: try again", path);
    return 0;
}

int split_export(const char *folder, const struct export_options *o, read_model_fn *reads,
                 uint32_t *files, struct arena *a, struct diag *d)
{
    size_t n = strlen(folder);
    while (n > 1 && folder[n - 1] == '/') /* without slashes at the end */
        n--;
    const char *name = arena_strdup(a, folder, n);
    struct export_folder x = {
        .name = name, .at = name, .o = o, .read_model = reads, .a = a, .diag = d};
    engines_check_options(o, d);
    x.from = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (x.from < 0)
        return diag_error(d, "%s: %s", folder, strerror(errno));
    struct arena *own = arena_new(a);
    arena_defer(own, folder_close_descriptor, (void *)(intptr_t)x.from);
    int rc = lock_folder(x.from, name, d) || export_read(&x) || add_files(&x) ? -1 : 0;
    arena_free(own);
    *files = x.nmade;
    return rc;
}
