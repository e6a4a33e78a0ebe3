/* A pcc on a file system that can share blocks between files: FICLONE, which most cannot do, is answered
 * by a copy.  For test_weights.py.
 *
 * ioctl of the program stands before the C library's. */
#include <errno.h>
#include <linux/fs.h>
#include <stdarg.h>
#include <sys/ioctl.h>
#include <unistd.h>

int ioctl(int fd, unsigned long request, ...)
{
    char buf[4096];
    ssize_t k;
    off_t at = 0;
    va_list ap;
    va_start(ap, request);
    int from = va_arg(ap, int);
    va_end(ap);
    if (request != FICLONE) {
        errno = ENOTTY;
        return -1;
    }
    while ((k = pread(from, buf, sizeof buf, at)) > 0) {
        if (pwrite(fd, buf, (size_t)k, at) != k)
            return -1;
        at += k;
    }
    return (int)k;
}
