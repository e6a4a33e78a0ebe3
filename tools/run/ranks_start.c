/* pcc-run --processes: mpirun on this machine (ranks.h), with a process for each device that has parts.  Settings of
 * Open MPI are made in the environment, where they count like options of mpirun; a setting that the user has made there
 * stays.  O(manifest). */
#include "tools/run/ranks.h"

#include "ir/base/clock.h"
#include "ir/cluster/detect/machine_file.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    FAILED = 1, /* exit codes; of a program that signal n ends: SIGNALLED + n */
    SIGNALLED = 128,
    INTERRUPTED = 130,
    PROCESSES = 512 /* number of processes among which a stopped one is looked for */
};
/* ns after which a stopped rank is killed: longer than ranks wait for signs of life */
#define STOPPED INT64_C(5000000000)

/* Settings of Open MPI for ranks on one machine. */
static const char *const setting[][2] = {
    {"OMPI_MCA_rmaps_base_oversubscribe", "1"},     /* more ranks than processors */
    {"OMPI_MCA_hwloc_base_binding_policy", "none"}, /* pcc-run itself gives devices processors */
    {"OMPI_MCA_mpi_yield_when_idle", "1"},          /* a waiting rank gives up its processor */
    {"OMPI_MCA_orte_execute_quiet", "1"},           /* pcc-run itself says why a run ended */
};

/* Returns how many devices of a split have parts; 0 after an error. */
static uint32_t count_devices(const char *folder, struct arena *a, struct diag *d)
{
    struct runner r = {.set = {.folder = folder}, .a = a, .d = d};
    uint32_t n = 0;
    if (run_read_split(&r))
        return 0;
    for (uint32_t k = 0; k < r.ndev; k++)
        n += r.dev[k].loaded != NULL;
    return n;
}

/* Called in a new process: makes it mpirun, with the arguments `args`, in a process group of its own.  It is ended
 * when the parent ends, however that ends.  SIGUSR1 is ignored until mpirun listens to it.  If mpirun cannot be
 * started, errno is written to the pipe `tell`.  Does not return. */
static void become(char **args, pid_t parent, const sigset_t *mask, int tell)
{
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent)
        _exit(FAILED);
    int none[2];
    /* standard input is an empty pipe: a group in the background may not read from a terminal */
    if (pipe2(none, O_CLOEXEC) == 0)
        dup2(none[0], STDIN_FILENO);
    signal(SIGUSR1, SIG_IGN);
    pthread_sigmask(SIG_SETMASK, mask, NULL);
    execvp(args[0], args);
    int why = errno;
    (void)!write(tell, &why, sizeof why);
    _exit(FAILED);
}

/* Starts mpirun with the arguments `args` and the signal mask *mask.  Returns its process; or -1, with the reason in
 * errno.  The pipe closes by itself when mpirun begins, so that reading it tells whether that succeeded. */
static pid_t start(char **args, const sigset_t *mask)
{
    int tell[2], why = 0;
    if (pipe2(tell, O_CLOEXEC))
        return -1;
    pid_t parent = getpid(), pid = fork();
    if (pid == 0)
        become(args, parent, mask, tell[1]);
    int failed = pid < 0 ? errno : 0;
    close(tell[1]);
    if (pid > 0 && read(tell[0], &why, sizeof why) == (ssize_t)sizeof why) {
        waitpid(pid, NULL, 0);
        failed = why;
    }
    close(tell[0]);
    errno = failed;
    return failed ? -1 : pid;
}

/* Returns the text of a file of /proc about a process, in a; "" if the process is gone. */
static const char *proc_text(pid_t pid, const char *file, struct arena *a)
{
    const char *text = machine_text("", arena_fmt(a, "/proc/%d/%s", pid, file), a);
    return text ? text : "";
}

/* Whether a process was stopped. */
static bool is_stopped(pid_t pid, struct arena *a)
{
    const char *name = strrchr(proc_text(pid, "stat", a), ')'); /* the state stands behind it */
    return name && !strncmp(name, ") T", 3);
}

/* Returns a process that mpirun has started, itself or through others, and that was stopped; 0: there is none. */
static pid_t find_stopped(pid_t mpirun, struct arena *a)
{
    pid_t pid[PROCESSES] = {mpirun};
    int n = 1;
    for (int i = 0; i < n; i++) {
        if (i > 0 && is_stopped(pid[i], a))
            return pid[i];
        char *end;
        const char *text = proc_text(pid[i], arena_fmt(a, "task/%d/children", pid[i]), a);
        for (long child; n < PROCESSES && (child = strtol(text, &end, 10)) > 0; text = end)
            pid[n++] = (pid_t)child;
    }
    return 0;
}

/* A rank that was stopped. */
struct stopped {
    pid_t pid;     /* 0: no rank was stopped at the last look */
    int64_t since; /* ns: when that process was first seen stopped */
    pid_t killed;  /* the rank that was killed; 0: none */
};

/* Kills a rank that has been stopped for longer than STOPPED, at most one in a run; mpirun then ends all other ranks.
 * The other ranks find a silent rank themselves, but only between its first and its last sign of life. */
static void end_stopped(struct stopped *x, pid_t mpirun, struct arena *a)
{
    struct arena *own = arena_new(a);
    pid_t now = find_stopped(mpirun, own);
    arena_free(own);
    if (!now || now != x->pid)
        *x = (struct stopped){now, clock_now(), x->killed};
    else if (!x->killed && clock_now() - x->since > STOPPED)
        x->killed = kill(now, SIGKILL) ? 0 : now;
}

/* Waits until mpirun ends, and ends ranks that were stopped.  mpirun has a process group of its own, so that Ctrl-C
 * comes here and not there.  The first Ctrl-C is passed on as SIGUSR1, which mpirun forwards to the ranks; it is sent
 * again and again, since mpirun ignores it at first.  The second Ctrl-C ends mpirun and all ranks; the third one kills
 * mpirun.  signals: the signals that this function waits for, which the caller has blocked.  Returns the exit code for
 * this program: mpirun's; INTERRUPTED if Ctrl-C ended mpirun or a rank; FAILED if a signal did. */
static int wait_for(struct runner *r, pid_t pid, const sigset_t *signals)
{
    const struct timespec again = {.tv_nsec = 500000000};
    struct stopped of = {0};
    int status = 0, said = *r->stop; /* said: number of Ctrl-C so far */
    pid_t ended;
    while ((ended = waitpid(pid, &status, WNOHANG)) == 0) {
        end_stopped(&of, pid, r->a);
        int got = sigtimedwait(signals, NULL, &again);
        bool more = got > 0 && got != SIGCHLD;
        said += more;
        if (said == 1)
            kill(pid, SIGUSR1);
        else if (more)
            kill(pid, said == 2 ? SIGTERM : SIGKILL);
    }
    bool early = said && WIFEXITED(status) && WEXITSTATUS(status) == SIGNALLED + SIGUSR1;
    /* early: the signal ended a rank that did not listen to it yet, before the first sample */
    if (said > 1 || early)
        return INTERRUPTED;
    int code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
    if (of.killed && code == SIGNALLED + SIGKILL) {
        diag_error(
            r->d,
            "a rank (process %d) was stopped before the ranks had met, or when they were through: all "
            "were ended",
            of.killed);
        return FAILED;
    }
    /* shown in addition to what ranks that have begun report */
    if (code > SIGNALLED && code != INTERRUPTED)
        diag_warning(r->d, WARN_NONE, "mpirun: a rank was ended by signal %d", code - SIGNALLED);
    if (ended == pid && WIFEXITED(status))
        return code;
    return diag_error(r->d, "mpirun was ended by signal %d", WTERMSIG(status)), FAILED;
}

int ranks_start(struct runner *r, char **argv)
{
    struct arena *own = arena_new(r->a);
    uint32_t n = count_devices(r->set.folder, own, r->d), m = 0, argc = 0;
    arena_free(own);
    if (n == 0)
        return FAILED;
    while (argv[argc])
        argc++;
    /* 4 words before the arguments, and NULL behind them */
    char **args = arena_array(r->a, (size_t)argc + 5, sizeof(char *)), self[4096] = {0};
    char count[16], run[] = "mpirun", option[] = "-n";
    snprintf(count, sizeof count, "%u", n);
    if (readlink("/proc/self/exe", self, sizeof self - 1) < 0)
        return diag_error(r->d, "/proc/self/exe: %s", strerror(errno)), FAILED;
    args[m++] = run;
    args[m++] = option;
    args[m++] = count;
    args[m++] = self;
    for (uint32_t i = 1; i < argc; i++)
        if (strcmp(argv[i], "--processes") != 0)
            args[m++] = argv[i];
    for (size_t i = 0; i < sizeof setting / sizeof *setting; i++)
        setenv(setting[i][0], setting[i][1], /*overwrite=*/0);
    static const int waited[] = {SIGINT, SIGTERM, SIGHUP, SIGCHLD};
    struct sigaction now;
    sigset_t signals, mask;
    signal(SIGCHLD, SIG_DFL); /* if SIGCHLD were ignored, waitpid() could not tell the exit code */
    sigemptyset(&signals);
    for (size_t i = 0; i < sizeof waited / sizeof *waited; i++)
        /* an ignored signal stays ignored, as nohup(1) wants it */
        if (sigaction(waited[i], NULL, &now) || now.sa_handler != SIG_IGN)
            sigaddset(&signals, waited[i]);
    pthread_sigmask(SIG_BLOCK, &signals, &mask);
    pid_t pid = start(args, &mask);
    if (pid < 0)
        return diag_error(
                   r->d,
                   "--processes: mpirun: %s: install openmpi-bin and libopenmpi-dev, or MPICH",
                   strerror(errno)),
               FAILED;
    return wait_for(r, pid, &signals);
}
