/* An MPI that loses, swaps or repeats a message: put before the real one by LD_PRELOAD, through the interface that MPI
 * has for such libraries (MPI standard, "Profiling interface").  BAD_MPI=drop@N, swap@N or twice@N, of the messages
 * with tensors that a rank sends, from 0 on; BAD_MPI_RANK: the rank.  BAD_MPI=word@N: the word N that it sends
 * (struct rank_word) ends with an error; deaf@N: so do its receive N of a word and all later ones, when the
 * word has come.  BAD_MPI=order, version or runtime: what that rank says of itself has another byte there (struct
 * hello, ENGINE; ranks.c, rank_compare.c); threads: this MPI has none. */
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

/* Whether this is the rank that is bad. */
static int is_bad(void)
{
    const char *rank = getenv("BAD_MPI_RANK"), *own = getenv("OMPI_COMM_WORLD_RANK");
    return rank && own && !strcmp(rank, own);
}

int MPI_Init_thread(int *argc, char ***argv, int wanted, int *got)
{
    __typeof__(MPI_Init_thread) *real;
    *(void **)&real = dlsym(RTLD_DEFAULT, "PMPI_Init_thread");
    int rc = real(argc, argv, wanted, got);
    const char *said = getenv("BAD_MPI");
    if (said && !strcmp(said, "threads"))
        *got = MPI_THREAD_SERIALIZED;
    return rc;
}

int MPI_Gather(const void *mine, int n, MPI_Datatype type, void *all, int m, MPI_Datatype to,
               int root, MPI_Comm comm)
{
    enum { HELLO = 128 }; /* bytes, of both */
    static const struct {
        const char *name;
        int which, at; /* of these messages; byte */
    } change[] = {{"order", 0, 0}, {"version", 0, 4}, {"runtime", 1, 5}};
    static int seen;
    const char *said = getenv("BAD_MPI");
    char other[HELLO];
    __typeof__(MPI_Gather) *real;
    *(void **)&real = dlsym(RTLD_DEFAULT, "PMPI_Gather");
    for (size_t i = 0; n == HELLO && i < sizeof change / sizeof *change; i++)
        if (said && is_bad() && !strcmp(said, change[i].name) && seen == change[i].which) {
            memcpy(other, mine, HELLO);
            other[change[i].at] ^= 1;
            mine = other;
        }
    seen += n == HELLO;
    return real(mine, n, type, all, m, to, root, comm);
}

int MPI_Issend(const void *data, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm,
               MPI_Request *request)
{
    static long sent;
    const char *said = getenv("BAD_MPI"), *at = said ? strchr(said, '@') : NULL;
    int words = said && (!strncmp(said, "word", 4) || !strncmp(said, "deaf", 4));
    long which = at && !words && is_bad() ? strtol(at + 1, NULL, 10) : -1;
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

/* The request whose end MPI_Testsome() says is an error. */
static MPI_Request failing;
static int fails;

/* Whether the message of n bytes is the word that BAD_MPI names by `fault`, such as "word@", and a number, or, if
 * `later`, a word behind that one. */
static int is_bad_word(const char *fault, int later, int n, long *seen)
{
    enum { WORD = 1032 }; /* bytes of a struct rank_word */
    const char *said = getenv("BAD_MPI");
    size_t k = strlen(fault);
    if (!said || n != WORD || !is_bad() || strncmp(said, fault, k) != 0)
        return 0;
    long number = (*seen)++, bad = strtol(said + k, NULL, 10);
    return later ? number >= bad : number == bad;
}

/* Has a request end with an error. */
static void let_fail(MPI_Request request)
{
    failing = request;
    fails = 1;
}

int MPI_Isend(const void *data, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request *request)
{
    static long seen;
    __typeof__(MPI_Isend) *real;
    *(void **)&real = dlsym(RTLD_DEFAULT, "PMPI_Isend");
    if (!is_bad_word("word@", /*later=*/0, n, &seen))
        return real(data, n, type, to, tag, comm, request);
    int rc = pretend(request);
    let_fail(*request);
    return rc;
}

int MPI_Irecv(void *data, int n, MPI_Datatype type, int from, int tag, MPI_Comm comm,
              MPI_Request *request)
{
    static long seen;
    __typeof__(MPI_Irecv) *real;
    *(void **)&real = dlsym(RTLD_DEFAULT, "PMPI_Irecv");
    int rc = real(data, n, type, from, tag, comm, request);
    if (is_bad_word("deaf@", /*later=*/1, n, &seen))
        let_fail(*request);
    return rc;
}

int MPI_Testsome(int n, MPI_Request *request, int *ended, int *index, MPI_Status *status)
{
    __typeof__(MPI_Testsome) *real;
    int at = -1, found = 0;
    *(void **)&real = dlsym(RTLD_DEFAULT, "PMPI_Testsome");
    for (int i = 0; i < n && fails; i++)
        at = request[i] == failing ? i : at;
    int rc = real(n, request, ended, index, status);
    for (int i = 0; i < *ended && at >= 0 && !rc; i++)
        found = found || index[i] == at;
    for (int i = 0; i < *ended && found; i++)
        status[i].MPI_ERROR = index[i] == at ? MPI_ERR_OTHER : MPI_SUCCESS;
    if (!found)
        return rc;
    fails = 0;
    return MPI_ERR_IN_STATUS;
}
