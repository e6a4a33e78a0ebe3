/* Files that appear complete or not at all (see outfile.h).
 *
 * The temporary file has a name of its own in the same folder, so that renaming stays on one file
 * system and a long name needs no room for a suffix. */
#include "backends/outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TRIES = 100 }; /* temporary names */

/* At exit: the file is still open. */
static void drop(void *p)
{
    const struct outfile *o = p;
    unlink(o->temp);
}

/* Creates o->temp in the folder of o->path; its descriptor, or -1 and errno. */
static int create(struct outfile *o)
{
    const char *slash = strrchr(o->path, '/');
    int fd = -1, folder = slash == NULL ? 0 : (int)(slash - o->path) + 1;

    for (int i = 0; i < TRIES && fd < 0 && (i == 0 || errno == EEXIST); i++) {
        free(o->temp);
        if (asprintf(&o->temp, "%.*s.pcc-%ld-%d", folder, o->path, (long)getpid(), i) < 0) {
            o->temp = NULL;
            errno = ENOMEM;
            return -1;
        }
        fd = open(o->temp, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    }
    return fd;
}

int outfile_open(struct outfile *o, const char *path, struct diag *d)
{
    struct stat st;

    *o = (struct outfile){.f = stdout, .path = path, .diag = d};
    if (strcmp(path, "-") == 0)
        return 0;
    if (stat(path, &st) == 0 && !S_ISREG(st.st_mode))
        return diag_error(d, "%s: is there already and is not a regular file", path);
    int fd = create(o);
    o->f = fd < 0 ? NULL : fdopen(fd, "w");
    if (o->f != NULL) {
        unfinished_add(&o->unfinished, drop, o);
        return 0;
    }
    diag_error(d, "%s: cannot create a file beside it: %s", path, strerror(errno));
    if (fd >= 0) {
        close(fd);
        unlink(o->temp);
    }
    free(o->temp);
    return -1;
}

int outfile_close(struct outfile *o, bool ok)
{
    if (o->temp == NULL)
        return ok && fflush(o->f) == 0 ? 0 : -1;
    unfinished_remove(&o->unfinished);
    bool written = ferror(o->f) == 0;
    written = fclose(o->f) == 0 && written;
    if (ok && written && rename(o->temp, o->path) == 0) {
        free(o->temp);
        return 0;
    }
    if (ok)
        diag_error(o->diag, "%s: cannot be written: %s", o->path, strerror(errno));
    unlink(o->temp);
    free(o->temp);
    return -1;
}
