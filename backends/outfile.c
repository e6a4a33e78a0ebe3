/* Text files that appear complete or not at all (see outfile.h). */
#include "backends/outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int outfile_open(struct outfile *o, const char *path, struct diag *d)
{
    *o = (struct outfile){.f = stdout, .path = path, .diag = d};
    if (!strcmp(path, "-"))
        return 0;
    if (asprintf(&o->temp, "%s.XXXXXX", path) < 0)
        return diag_error(d, "%s: out of memory", path);
    int fd = mkostemp(o->temp, O_CLOEXEC);
    o->f = fd < 0 ? NULL : fdopen(fd, "w");
    if (o->f)
        return 0;
    diag_error(d, "%s: cannot be written: %s", path, strerror(errno));
    if (fd >= 0) {
        close(fd);
        unlink(o->temp);
    }
    free(o->temp);
    return -1;
}

int outfile_close(struct outfile *o, bool ok)
{
    if (!o->temp)
        return ok && fflush(o->f) == 0 ? 0 : -1;
    bool written = !ferror(o->f) && fchmod(fileno(o->f), 0644) == 0;
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
