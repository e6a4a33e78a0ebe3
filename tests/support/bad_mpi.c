/* An MPI that loses, swaps or repeats a message: put before the real one by LD_PRELOAD, through the interface that MPI
 * has for such libraries (MPI standard, "Profiling interface").  BAD_MPI=drop@N, swap@N or twice@N, of the messages
 * with tensors that a rank sends, from 0 on; BAD_MPI_RANK: the rank. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A message that waits for the next one. */
static struct {
    const void *data;
    int n, to, tag;
    MPI_Request done;
} held;

static int answer(void *extra, MPI_Status *status)
{
    (void)extra;
    MPI_Status_set_cancelled(status, 0);
    return MPI_SUCCESS;
}
static int no_free(void *extra)
{
    (void)extra;
    return MPI_SUCCESS;
}
static int no_cancel(void *extra, int complete)
{
    (void)extra, (void)complete;
    return MPI_SUCCESS;
}

/* Gives a request that has ended. */
static int pretend(MPI_Request *request)
{
    int rc = MPI_Grequest_start(answer, no_free, no_cancel, NULL, request);
    return rc ? rc : MPI_Grequest_complete(*request);
}

int MPI_Issend(const void *data, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm,
               MPI_Request *request)
{
    static long sent;
    const char *said = getenv("BAD_MPI"), *rank = getenv("BAD_MPI_RANK"),
               *own = getenv("OMPI_COMM_WORLD_RANK");
    const char *at = said ? strchr(said, '@') : NULL;
    long which = at && rank && own && !strcmp(rank, own) ? strtol(at + 1, NULL, 10) : -1;
    __typeof__(MPI_Issend) *real, *later;
    MPI_Request second;
    *(void **)&real = dlsym(RTLD_DEFAULT, "PMPI_Issend");
    *(void **)&later = dlsym(RTLD_DEFAULT, "PMPI_Isend");
    if (which >= 0 && sent++ == which) {
        if (!strncmp(said, "drop", 4))
            return pretend(request);
        if (!strncmp(said, "twice", 5)) {
            int rc = real(data, n, type, to, tag, comm, request);
            real(data, n, type, to, tag, comm, &second);
            return rc;
        }
        held.data = data, held.n = n, held.to = to, held.tag = tag;
        int rc = MPI_Grequest_start(answer, no_free, no_cancel, NULL, request);
        held.done = *request;
        return rc;
    }
    if (which >= 0 && sent == which + 2 && !strncmp(said, "swap", 4)) {
        later(held.data, held.n, type, to, tag, comm, &second);
        MPI_Grequest_complete(held.done);
        return real(data, n, type, held.to, held.tag, comm, request);
    }
    return real(data, n, type, to, tag, comm, request);
}
