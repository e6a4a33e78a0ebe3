/* Child processes for foreign libraries and programs (child.h).
 *
 * Solvers and partitioners take over signals (METIS: SIGABRT and SIGTERM), print to stdout, cannot be
 * stopped, or call abort() on inputs that they do not like.  A child process keeps all that away from pcc: it can be
 * killed at any time and leaves nothing but the bytes that it wrote into a pipe.  Cost: a fork, and reading these
 * bytes. */
#include "ir/base/child.h"

#include <assert.h>
#include <limits.h>
#include <sys/stat.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    TICK = 50, /* ms: the longest wait for output before the clock is looked at again */
    NAP = 5,   /* ms: the longest time between two looks at a running process */
    /* seconds to wait for a killed process to end: a process that waits for a stuck driver never ends */
    DYING = 1,
    SLACK = 3,      /* seconds of the clock that a program gets for each second of processor time */
    BLOCK = 1 << 16 /* bytes: the largest single read from a child */
};

/* bytes of an answer, at most: vec_grow() counts them in 32 bits */
#define MOST_BYTES (UINT32_MAX / 2)

extern char **environ;

/* The work of a forked child, as passed to child_run(). */
struct job {
    int (*work)(void *arg, FILE *out);
    void *arg;
    FILE *out; /* the pipe to the parent */
    int rc;    /* result of work(); 0: success */
};

/* Runs the work of the struct job `arg` and stores its result; a function for arena_guard(). */
static void run_job(void *arg)
{
    struct job *j = arg;
    j->rc = j->work(j->arg, j->out);
}

/* Closes all descriptors of the child but fd and the standard three.  If a library calls exit(), the stdio buffers
 * inherited from the parent are flushed; with their files closed, nothing is written twice. */
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

/* Runs the job in the forked child, with fd as the pipe to the parent, and exits: with 0 if work() returned 0, else
 * with 1.  A failed allocation in a does not go back to the parent's guard: the child has an arena_guard() of its
 * own. */
static _Noreturn void be_child(struct job *j, int fd, pid_t parent, struct arena *a)
{
    struct sigaction plain = {.sa_handler = SIG_DFL};
    /* gives the pipe a number above those of the three standard streams: fd may have one of theirs, if the parent had
     * closed these streams */
    int pipe = fcntl(fd, F_DUPFD, STDERR_FILENO + 1);
    int null_device = open("/dev/null", O_RDWR);
    for (int s = 1; s < NSIG; s++)
        sigaction(s, &plain, NULL);
    signal(SIGINT, SIG_IGN); /* Ctrl-C reaches the parent, too, which ends the child if need be */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent || null_device < 0 || pipe < 0)
        _exit(1);
    dup2(null_device, STDIN_FILENO);
    dup2(null_device, STDOUT_FILENO);
    dup2(null_device, STDERR_FILENO);
    close_all_but(pipe);
    j->out = fdopen(pipe, "wb");
    j->rc = 1;
    if (!j->out || !arena_guard(a, run_job, j, NULL) || fclose(j->out))
        _exit(1);
    _exit(j->rc ? 1 : 0);
}

/* A child of this process, and the pipe that it writes to. */
struct child_process {
    pid_t pid; /* 0: the process has ended, or was never started */
    int fd;    /* the pipe from the process, open for reading; -1: none yet */
};

/* Waits until the child has ended, or the clock is out. Returns whether the child has ended; if so, *status is as
 * waitpid() gives it, or unchanged if the system has forgotten the child. */
static bool wait_for(pid_t pid, struct clock *clock, int *status)
{
    struct timespec nap = {0, 20000}; /* 20 us, then twice as long each time */
    for (;;) {
        pid_t done = waitpid(pid, status, WNOHANG);
        if (done > 0 || (done < 0 && errno != EINTR))
            return true;
        if (clock_out(clock))
            return false;
        nanosleep(&nap, NULL);
        nap.tv_nsec = nap.tv_nsec * 2 < NAP * 1000000 ? nap.tv_nsec * 2 : NAP * 1000000;
    }
}

/* Closes the pipe of the struct child_process p and kills its process if it still runs. */
static void end_child(void *p)
{
    const struct child_process *r = p;
    struct clock dying = {0};
    int status;
    close(r->fd);
    if (r->pid) {
        kill(r->pid, SIGKILL);
        clock_limit(&dying, DYING * INT64_C(1000000000));
        wait_for(r->pid, &dying, &status);
    }
}

/* Reads the child's output from the pipe fd into to->bytes. Sets to->end to CHILD_DONE at the end of the pipe, to
 * CHILD_STOPPED when the clock is out; for more than `most` bytes, or an error, sets to->why instead. */
static void read_answer(int fd, struct clock *clock, size_t most, struct arena *a,
                        struct child_answer *to)
{
    uint32_t cap = 0;
    for (;;) {
        struct pollfd p = {.fd = fd, .events = POLLIN};
        if (clock_out(clock)) {
            to->end = CHILD_STOPPED;
            return;
        }
        ssize_t got = poll(&p, 1, TICK);
        if (got == 0 || (got < 0 && errno == EINTR)) {
            listener_tell_again(clock ? clock->listener : NULL);
            continue;
        }
        if (got > 0) {
            to->bytes = vec_grow(a, to->bytes, &cap, (uint32_t)to->n + BLOCK, 1);
            got = read(fd, to->bytes + to->n, BLOCK);
            if (got < 0 && errno == EINTR)
                continue;
        }
        if (got < 0) {
            to->why = arena_fmt(a, "%s", strerror(errno));
            return;
        }
        if (got == 0) {
            to->end = CHILD_DONE;
            return;
        }
        to->n += (size_t)got;
        if (to->n > most) {
            to->why = arena_fmt(a, "more than %zu bytes", most);
            return;
        }
    }
}

struct child_answer child_run(int (*work)(void *arg, FILE *out), void *arg, struct clock *clock,
                              size_t most, struct arena *a)
{
    int fd[2], status = 0;
    pid_t parent = getpid();
    struct arena *own = arena_new(a);
    struct child_process r = {0, -1};
    struct job j = {.work = work, .arg = arg};
    struct child_answer to = {.end = CHILD_FAILED};
    arena_defer(own, end_child, &r);
    if (most > MOST_BYTES || pipe2(fd, O_CLOEXEC)) {
        to.why = most > MOST_BYTES ? arena_fmt(a, "more than %zu bytes", (size_t)MOST_BYTES)
                                   : arena_fmt(a, "%s", strerror(errno));
        arena_free(own);
        return to;
    }
    pid_t pid = fork();
    if (pid == 0) {
        close(fd[0]);
        be_child(&j, fd[1], parent, a); /* does not return */
    }
    int e = errno;
    /* this process's copy of the writing end: the pipe ends when the child closes the other one */
    close(fd[1]);
    r = (struct child_process){pid > 0 ? pid : 0, fd[0]};
    if (pid < 0) {
        arena_free(own);
        to.why = arena_fmt(a, "%s", strerror(e));
        return to;
    }
    read_answer(r.fd, clock, most, a, &to);
    if (to.end == CHILD_DONE) { /* the child has closed its pipe, but may still be running */
        bool ended = wait_for(pid, clock, &status);
        if (ended)
            r.pid = 0;
        to.end = ended ? CHILD_DONE : CHILD_STOPPED;
    }
    arena_free(own);
    if (to.end == CHILD_DONE && status) {
        to.end = CHILD_FAILED;
        to.why = WIFSIGNALED(status) ? arena_fmt(a, "signal %d", WTERMSIG(status))
                                     : arena_fmt(a, "exit status %d", WEXITSTATUS(status));
    }
    return to;
}

/* ---- programs --------------------------------------------------------------------------------- */

/* Reads all that the program has written to fd so far, without waiting.  Appends it to said[room], which has *n bytes
 * from earlier calls; drops what does not fit, and ends the text at its first line break. */
static void read_first_line(int fd, char *said, size_t room, size_t *n)
{
    char rest[512];
    for (;;) {
        size_t left = room - 1 - *n;
        ssize_t k = left ? read(fd, said + *n, left) : read(fd, rest, sizeof rest);
        if (k <= 0)
            break;
        if (left)
            *n += (size_t)k;
    }
    said[*n] = 0;
    said[strcspn(said, "\r\n")] = 0;
}

/* Whether the process has used at least `seconds` seconds of processor time. */
static bool time_used_up(pid_t pid, unsigned seconds)
{
    clockid_t clock;
    struct timespec used = {0, 0};
    if (clock_getcpuclockid(pid, &clock) == 0)
        clock_gettime(clock, &used);
    return used.tv_sec >= (time_t)seconds;
}

/* Watches a program and keeps the first line of its stderr in said[room].  Returns CHILD_DONE if it
 * exited with 0, CHILD_FAILED if it ended otherwise (r->pid is 0 in both cases), and CHILD_STOPPED
 * if it still runs, but has used up `seconds` seconds of processor time, has run SLACK times as
 * long by the clock, or l wants it to stop. */
static enum child_end watch_program(struct child_process *r, unsigned seconds, char *said,
                                    size_t room, struct listener *l)
{
    const struct timespec nap = {0, NAP * 1000000};
    struct clock latest = {0};
    size_t n = 0;
    int status;
    clock_limit(&latest, SLACK * (int64_t)seconds * 1000000000);
    while (!time_used_up(r->pid, seconds) && !clock_out(&latest) && !listener_stopped(l)) {
        pid_t done = waitpid(r->pid, &status, WNOHANG);
        read_first_line(r->fd, said, room, &n);
        if (done == 0 || (done < 0 && errno == EINTR)) {
            nanosleep(&nap, NULL);
            listener_tell_again(l);
            continue;
        }
        r->pid = 0;
        return done > 0 && status == 0 ? CHILD_DONE : CHILD_FAILED;
    }
    return CHILD_STOPPED;
}

char *child_find(const char *name, struct arena *a)
{
    const char *at = getenv("PATH");
    for (const char *end; at && *at; at = *end ? end + 1 : end) {
        struct stat st;
        end = strchrnul(at, ':');
        size_t n = (size_t)(end - at);
        char *path = arena_fmt(a, "%.*s/%s", (int)n, at, name);
        if (*at == '/' && n < PATH_MAX && stat(path, &st) == 0 && S_ISREG(st.st_mode) &&
            access(path, X_OK) == 0)
            return path;
    }
    return NULL;
}

char *child_operand(const char *path, struct arena *a)
{
    return arena_fmt(a, "%s%s", *path == '-' ? "./" : "", path);
}

/* Starts the program argv[0] with the descriptor `err` as its stderr and writes its process id to *pid.  Returns 0, or
 * an errno value. */
static int start_program(pid_t *pid, char *const argv[], int err)
{
    posix_spawn_file_actions_t act;
    int rc = posix_spawn_file_actions_init(&act);
    if (rc)
        return rc;
    rc = posix_spawn_file_actions_adddup2(&act, err, STDERR_FILENO);
    if (!rc)
        rc = posix_spawn(pid, argv[0], &act, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&act);
    return rc;
}

enum child_end child_program(char *const argv[], unsigned seconds, char *said, size_t room,
                             struct listener *l)
{
    assert(argv[0] && room > 0);
    int fd[2];
    struct child_process r = {0};
    *said = 0;
    if (pipe2(fd, O_CLOEXEC | O_NONBLOCK)) {
        snprintf(said, room, "%s", strerror(errno));
        return CHILD_FAILED;
    }
    r.fd = fd[0];
    int rc = start_program(&r.pid, argv, fd[1]);
    close(fd[1]);
    if (rc) {
        snprintf(said, room, "%s", strerror(rc));
        r.pid = 0;
    }
    enum child_end end = rc ? CHILD_MISSING : watch_program(&r, seconds, said, room, l);
    end_child(&r);
    return end;
}
