/* pcc-run --processes: mpirun on this machine (ranks.h), with a process for each device that has parts.  What is set in
 * the environment counts for Open MPI, as options of mpirun would; a setting of the user's own stays.  O(manifest). */
#include "tools/run/ranks.h"

#include <errno.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FAILED = 1 };

/* Settings of Open MPI for ranks on one machine. */
static const char *const setting[][2] = {
    {"OMPI_MCA_rmaps_base_oversubscribe", "1"},     /* more ranks than processors */
    {"OMPI_MCA_hwloc_base_binding_policy", "none"}, /* pcc-run itself gives devices processors */
    {"OMPI_MCA_mpi_yield_when_idle", "1"},          /* ranks that wait give their processor up */
    {"OMPI_MCA_orte_execute_quiet", "1"},           /* what ends the run says pcc-run */
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

/* Waits for mpirun, which has a process group of its own, so that Ctrl-C comes here: it is passed on as the signal that
 * mpirun forwards to ranks; the second one ends mpirun.  Returns its exit code. */
static int wait_for(pid_t pid, const volatile sig_atomic_t *stop)
{
    int status = 0;
    bool told = false;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
        if (*stop && !told)
            kill(pid, SIGUSR1);
        told = *stop;
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : FAILED;
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
    char **args = arena_array(r->a, (size_t)argc + 8, sizeof(char *)), self[4096] = {0};
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
    posix_spawnattr_t attr;
    pid_t pid;
    posix_spawnattr_init(&attr);
    posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETPGROUP);
    int rc = posix_spawnp(&pid, run, NULL, &attr, args, environ);
    posix_spawnattr_destroy(&attr);
    if (rc)
        return diag_error(
                   r->d,
                   "--processes: mpirun: %s: install openmpi-bin and libopenmpi-dev, or MPICH",
                   strerror(rc)),
               FAILED;
    return wait_for(pid, r->stop);
}
