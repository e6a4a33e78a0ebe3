/* A pcc that is robbed: at call number PCC_SHRINK_AT of pread or copy_file_range the file PCC_SHRINK is cut to half of
 * its size, as another program may do to a model that is being read.  For test_security.py.
 *
 * The linker puts the functions below in place of every call of these two (--wrap). */
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

ssize_t __real_pread(int fd, void *to, size_t n, off_t at);
ssize_t __wrap_pread(int fd, void *to, size_t n, off_t at);
ssize_t __real_copy_file_range(int in, off_t *at, int out, off_t *to, size_t n, unsigned flags);
ssize_t __wrap_copy_file_range(int in, off_t *at, int out, off_t *to, size_t n, unsigned flags);

static void rob(void)
{
    static long calls;
    const char *file = getenv("PCC_SHRINK"), *when = getenv("PCC_SHRINK_AT");
    struct stat st;
    if (file && when && ++calls == atol(when) && stat(file, &st) == 0 &&
        truncate(file, st.st_size / 2))
        abort();
}

ssize_t __wrap_pread(int fd, void *to, size_t n, off_t at)
{
    rob();
    return __real_pread(fd, to, n, at);
}

ssize_t __wrap_copy_file_range(int in, off_t *at, int out, off_t *to, size_t n, unsigned flags)
{
    rob();
    return __real_copy_file_range(in, at, out, to, n, flags);
}
