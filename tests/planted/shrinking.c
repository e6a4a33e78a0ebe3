/* A pcc that is robbed: at call number PCC_SHRINK_AT of pread or copy_file_range the file PCC_SHRINK is cut to half of
 * its size, as another program may do to a model that is being read.  For test_security.py.
 *
 * The two of the program stand before the C library's. */
#include "tests/planted/next.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

static void rob(void)
{
    static long calls;
    const char *file = getenv("PCC_SHRINK"), *when = getenv("PCC_SHRINK_AT");
    struct stat st;
    if (file && when && ++calls == atol(when) && stat(file, &st) == 0 &&
        truncate(file, st.st_size / 2))
        abort();
}

ssize_t pread(int fd, void *to, size_t n, off_t at)
{
    ssize_t (*real)(int, void *, size_t, off_t) = next_function("pread");
    rob();
    return real(fd, to, n, at);
}

ssize_t copy_file_range(int in, off_t *at, int out, off_t *to, size_t n, unsigned flags)
{
    ssize_t (*real)(int, off_t *, int, off_t *, size_t, unsigned) =
        next_function("copy_file_range");
    rob();
    return real(in, at, out, to, n, flags);
}
