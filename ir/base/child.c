/* Child processes for foreign libraries (child.h).
 *
 * Solvers and partitioners take over signals (METIS: SIGABRT and SIGTERM), print to stdout, cannot be
 * stopped, or call abort() on inputs that they do not like.  A child keeps all that from pcc: it can be
 * killed at any time, and what it leaves behind is what it wrote into a pipe.  Cost: a fork, and the bytes that come
 * back. */
#include "ir/base/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TICK = 50, BLOCK = 1 << 16 }; /* ms between looks at the clock; bytes */

/* What the caller's streams hold is written by the caller alone, should the library end the child by exit(). */
static void close_all_but(int fd)
{
#ifdef SYS_close_range
    if (fd > STDERR_FILENO + 1)
        syscall(SYS_close_range, STDERR_FILENO + 1, fd - 1, 0);
    syscall(SYS_close_range, fd + 1, ~0U, 0);
#else
    (void)fd;
#endif
}

static _Noreturn void be_child(int (*work)(void *arg, FILE *out), void *arg, int fd, pid_t parent)
{
    struct sigaction plain = {.sa_handler = SIG_DFL};
    int pipe =
        fcntl(fd, F_DUPFD, STDERR_FILENO + 1); /* fd may be one of the three, if they are closed */
    int nothing = open("/dev/null", O_RDWR);
    for (int s = 1; s < NSIG; s++)
        sigaction(s, &plain, NULL);
    signal(SIGINT, SIG_IGN); /* Ctrl-C reaches the parent, which decides */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent || nothing < 0 || pipe < 0)
        _exit(1);
    dup2(nothing, STDIN_FILENO);
    dup2(nothing, STDOUT_FILENO);
    dup2(nothing, STDERR_FILENO);

    close_all_but(pipe);
    FILE *out = fdopen(pipe, "wb");
    int rc = out ? work(arg, out) : 1;
    if (out && fclose(out))
        rc = 1;
    _exit(rc ? 1 : 0);
}

/* Reads until the end of the pipe; what is wrong, or NULL. */
static enum child_end collect(int fd, struct clock *clock, size_t most, struct arena *a,
                              char **bytes, size_t *n, const char **why)
{
    uint32_t cap = 0;
    for (;;) {
        struct pollfd p = {.fd = fd, .events = POLLIN};
        if (clock_out(clock))
            return CHILD_STOPPED;
        if (poll(&p, 1, TICK) <= 0) {
            listener_tell_again(clock ? clock->listener : NULL);
            continue;
        }
        *bytes = vec_grow(a, *bytes, &cap, (uint32_t)*n + BLOCK, 1);
        ssize_t got = read(fd, *bytes + *n, BLOCK);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return CHILD_DONE;
        *n += (size_t)got;
        if (*n > most) {
            *why = arena_fmt(a, "more than %zu bytes", most);
            return CHILD_FAILED;
        }
    }
}

enum child_end child_run(int (*work)(void *arg, FILE *out), void *arg, struct clock *clock,
                         size_t most, struct arena *a, char **bytes, size_t *n, const char **why)
{
    int fd[2], status = 0;
    pid_t parent = getpid();
    *why = NULL;
    *bytes = NULL;
    *n = 0;
    if (most > UINT32_MAX / 2 || pipe2(fd, O_CLOEXEC)) {
        *why = "no pipe";
        return CHILD_FAILED;
    }
    pid_t pid = fork();
    if (pid == 0) {
        close(fd[0]);
        be_child(work, arg, fd[1], parent);
    }
    close(fd[1]);
    if (pid < 0) {
        close(fd[0]);
        *why = arena_fmt(a, "%s", strerror(errno));
        return CHILD_FAILED;
    }
    enum child_end end = collect(fd[0], clock, most, a, bytes, n, why);
    close(fd[0]);
    if (end != CHILD_DONE)
        kill(pid, SIGKILL);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    if (end == CHILD_DONE && status) {
        *why = WIFSIGNALED(status) ? arena_fmt(a, "signal %d", WTERMSIG(status))
                                   : arena_fmt(a, "exit status %d", WEXITSTATUS(status));
        return CHILD_FAILED;
    }
    return end;
}
