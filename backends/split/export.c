/* Adds files for engines to a split folder that is there (split_export).
 *
 * The files are made in a temporary folder inside the split's, with a manifest that lists them, and then put into it
 * one by one, the manifest last.  Nothing else of the folder changes. */
#include "backends/split/folder.h"
#include "backends/split/split.h"
#include "backends/engines/engines.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static void close_descriptor(void *fd)
{
    close((int)(intptr_t)fd);
}

/* Makes the files in a temporary folder and puts them into the folder, which was read.  Returns 0, or -1 and an
 * error. */
static int add_files(struct export_folder *x)
{
    struct folder f;
    if (folder_begin(&f, x->name, /*into=*/true, NULL, x->a, x->diag))
        return -1;
    x->to = f.dirfd;
    if (export_write(x) == 0)
        return folder_add(&f);
    folder_abort(&f);
    return -1;
}

int split_export(const char *folder, const struct export_options *o, uint32_t *files,
                 struct arena *a, struct diag *d)
{
    size_t n = strlen(folder);
    while (n > 1 && folder[n - 1] == '/')
        n--;
    const char *name = arena_strdup(a, folder, n);
    struct export_folder x = {.name = name, .at = name, .o = o, .a = a, .diag = d};
    engines_check_options(o, d);
    x.from = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (x.from < 0)
        return diag_error(d, "%s: %s", folder, strerror(errno));
    struct arena *own = arena_new(a);
    arena_defer(own, close_descriptor, (void *)(intptr_t)x.from);
    int rc = export_read(&x) || add_files(&x) ? -1 : 0;
    arena_free(own);
    *files = x.nmade;
    return rc;
}
