/* Makes temporary folders (scratch.h). */
#include "tools/run/scratch.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OPEN_FOLDERS = 8 }; /* number of folders that nftw() may have open */

/* Function for nftw(): removes a file or an empty folder. */
static int remove_entry(const char *path, const struct stat *st, int kind, struct FTW *at)
{
    (void)st, (void)kind, (void)at;
    remove(path);
    return 0;
}

/* arena_defer(): removes the folder. */
static void remove_folder(void *path)
{
    nftw(path, remove_entry, OPEN_FOLDERS, FTW_DEPTH | FTW_PHYS);
}

const char *scratch_folder(struct arena *a, struct diag *d)
{
    const char *root = getenv("TMPDIR");
    /* pipelines such as plan{from=FILE} name files in the folder, and these characters end a name there */
    if (root && root[strcspn(root, ",:}")]) {
        diag_error(d, "TMPDIR '%s': expected a folder without ',', ':' and '}' in its path", root);
        return NULL;
    }
    char *path = arena_fmt(a, "%s/pcc-XXXXXX", root && *root ? root : P_tmpdir);
    if (!mkdtemp(path)) {
        diag_error(d, "%s: %s: TMPDIR names a folder for temporary files", path, strerror(errno));
        return NULL;
    }
    arena_defer(a, remove_folder, path);
    return path;
}
