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

struct job {
    int (*work)(void *arg, FILE *out);
    void *arg;
    FILE *out;
    int rc;
};

static void run_job(void *arg)
{
    struct job *j = arg;
    j->rc = j->work(j->arg, j->out);
}

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

/* Memory that runs out ends the child alone: the guards below are its parent's. */
static _Noreturn void be_child(struct job *j, int fd, pid_t parent, struct arena *a)
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
    j->out = fdopen(pipe, "wb");
    j->rc = 1;
    if (!j->out || !arena_guard(a, run_job, j, NULL) || fclose(j->out))
        _exit(1);
    _exit(j->rc ? 1 : 0);
}

struct running {
    pid_t pid; /* 0: it has ended */
    int fd;
};

/* Nobody waits for it any more. */
static void end_child(void *p)
{
    struct running *r = p;
    close(r->fd);
    if (r->pid) {
        kill(r->pid, SIGKILL);
        while (waitpid(r->pid, NULL, 0) < 0 && errno == EINTR)
            ;
    }
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
    struct arena *own = arena_new(a);
    struct running r = {0, -1};
    struct job j = {.work = work, .arg = arg};
    arena_defer(own, end_child, &r);
    *why = NULL;
    *bytes = NULL;
    *n = 0;
    if (most > UINT32_MAX / 2 || pipe2(fd, O_CLOEXEC)) {
        arena_free(own);
        *why = "no pipe";
        return CHILD_FAILED;
    }
    pid_t pid = fork();
    if (pid == 0) {
        close(fd[0]);
        be_child(&j, fd[1], parent, a);
    }
    int e = errno;
    close(fd[1]);
    r = (struct running){pid > 0 ? pid : 0, fd[0]};
    if (pid < 0) {
        arena_free(own);
        *why = arena_fmt(a, "%s", strerror(e));
        return CHILD_FAILED;
    }
    enum child_end end = collect(r.fd, clock, most, a, bytes, n, why);
    while (end == CHILD_DONE && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    r.pid = end == CHILD_DONE ? 0 : pid;
    arena_free(own);
    if (end == CHILD_DONE && status) {
        *why = WIFSIGNALED(status) ? arena_fmt(a, "signal %d", WTERMSIG(status))
                                   : arena_fmt(a, "exit status %d", WEXITSTATUS(status));
        return CHILD_FAILED;
    }
    return end;
}
