/* Files of a split folder that another folder takes over (folder_files.h).  O(files); O(bytes) between file systems. */
#include "tools/run/folder_files.h"

#include "backends/onnx/pack.h"
#include "backends/split/folder.h"
#include "ir/base/infile.h"
#include "ir/base/strings.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* Makes in the folder `to` a hard link to the file at `path`, or a copy of the file if it is on another file system.
 * Returns 0, or -1 and an error. */
static int take_file(const char *path, int to, struct diag *d)
{
    const char *name = path_base(path);
    uint64_t size;
    if (linkat(AT_FDCWD, path, to, name, 0) == 0)
        return 0;
    int in = infile_open(path, INFILE_DATA, &size, d);
    if (in < 0)
        return -1;
    int out = openat(to, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    int rc = out < 0 ? -1 : copy_bytes(in, 0, size, out, name, d);
    if (out < 0 || (close(out) && !rc))
        rc = diag_error(d, "%s: cannot be copied: %s", path, strerror(errno));
    close(in);
    return rc;
}

int folder_take_files(const char *from, int to, bool manifest, struct arena *a, struct diag *d)
{
    DIR *dir = opendir(from);
    int rc = dir ? 0 : diag_error(d, "%s: cannot be read: %s", from, strerror(errno));
    for (struct dirent *e; dir && !rc && (e = readdir(dir));)
        if (folder_own_name(e->d_name) && (manifest || strcmp(e->d_name, "manifest.json") != 0))
            rc = take_file(arena_fmt(a, "%s/%s", from, e->d_name), to, d);
    if (dir)
        closedir(dir);
    return rc;
}

const char *folder_same_file(const char *folder, const char *path, struct arena *a)
{
    const char *same = NULL;
    DIR *dir = opendir(folder);
    for (struct dirent *e; dir && !same && (e = readdir(dir));) {
        const char *one = arena_fmt(a, "%s/%s", folder, e->d_name);
        if (folder_own_name(e->d_name) && infile_same(path, one))
            same = one;
    }
    if (dir)
        closedir(dir);
    return same;
}
