/* Messages by MPI (messages.h), a shared library of its own.  Tensors are sent synchronously: a message has left only
 * when its receive is posted, so that all data under way lie in the sender's buffer or the receiver's, and in no buffer
 * of MPI. */
#include "tools/run/messages.h"

#include "ir/model/module.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    CHUNK = 1 << 30,       /* bytes of a piece of a long message: an int must count them */
    CHUNKS_MOST = 1 << 14, /* number of pieces of a message, at most */
    GROUPS = 1 << 12       /* number of groups that group() can make */
};

/* The state of this shared library: a process can have only one, as it can open MPI only once. */
static struct {
    struct messages *m; /* the argument of open_all(); lives as long as MPI runs */
    MPI_Comm channel[CHANNELS];
    MPI_Comm group[GROUPS]; /* [groups] the groups that were made */
    int groups;
    MPI_Op bytes; /* MPI's operation for add_bytes(); valid if `adds` */
    bool adds;
} mpi;

_Static_assert(sizeof(MPI_Request) <= sizeof(uint64_t), "a request fits a handle");

/* Notes why a call failed.  Returns -1. */
static int failed(int rc)
{
    char text[MPI_MAX_ERROR_STRING];
    int n = 0;
    if (MPI_Error_string(rc, text, &n))
        n = 0;
    snprintf(mpi.m->why, sizeof mpi.m->why, "%.*s", n, text);
    return -1;
}

/* Convert a request to the handle that stands for it, and a handle to its request: both have the same bytes. */
static uint64_t handle_of(MPI_Request q)
{
    uint64_t handle = 0;
    memcpy(&handle, &q, sizeof q);
    return handle;
}

static MPI_Request request_of(uint64_t handle)
{
    MPI_Request q;
    memcpy(&q, &handle, sizeof q);
    return q;
}

/* Makes an MPI type that stands for `bytes` bytes, more than CHUNK: pieces of CHUNK bytes, and a last one with the
 * rest, as an int must count the bytes of each.  Returns 0 or an error code of MPI. */
static int long_type(int64_t bytes, MPI_Datatype *type)
{
    int n = (int)(bytes / CHUNK) + 1;
    if (bytes / CHUNK >= CHUNKS_MOST)
        return MPI_ERR_COUNT;
    int *length = calloc((size_t)n, sizeof *length);
    MPI_Aint *at = calloc((size_t)n, sizeof *at);
    int rc = length && at ? 0 : MPI_ERR_NO_MEM;
    for (int i = 0; i < n && !rc; i++) {
        length[i] = i < n - 1 ? CHUNK : (int)(bytes % CHUNK);
        at[i] = (MPI_Aint)i * CHUNK;
    }
    if (!rc)
        rc = MPI_Type_create_hindexed(n, length, at, MPI_BYTE, type);
    if (!rc)
        rc = MPI_Type_commit(type);
    free(length);
    free(at);
    return rc;
}

/* Writes to *type and *n what stands for `bytes` bytes: n elements of that type, to be freed by free_type().  Returns 0
 * or an error of MPI. */
static int elements_of(int64_t bytes, MPI_Datatype *type, int *n)
{
    *type = MPI_BYTE;
    *n = bytes > CHUNK ? 1 : (int)bytes;
    return bytes > CHUNK ? long_type(bytes, type) : 0;
}

/* Frees the type that elements_of() wrote.  A message that has begun with it may still run: MPI keeps what it needs. */
static void free_type(MPI_Datatype type)
{
    if (type != MPI_BYTE)
        MPI_Type_free(&type);
}

/* ---- the functions of struct messages_face, described there ------------------------------------ */

static int send_message(enum channel c, int to, int64_t tag, const void *data, int64_t bytes,
                        uint64_t *handle)
{
    MPI_Datatype type;
    MPI_Request q = MPI_REQUEST_NULL;
    int n, rc = elements_of(bytes, &type, &n);
    if (!rc && c == CHANNEL_TENSOR)
        rc = MPI_Issend(data, n, type, to, (int)tag, mpi.channel[c], &q);
    else if (!rc)
        rc = MPI_Isend(data, n, type, to, (int)tag, mpi.channel[c], &q);
    free_type(type);
    *handle = handle_of(q);
    return rc ? failed(rc) : 0;
}

static int receive_message(enum channel c, int from, int64_t tag, void *data, int64_t bytes,
                           uint64_t *handle)
{
    MPI_Datatype type;
    MPI_Request q = MPI_REQUEST_NULL;
    int n, rc = elements_of(bytes, &type, &n);
    if (!rc)
        rc = MPI_Irecv(data, n, type, from == MESSAGES_ANY ? MPI_ANY_SOURCE : from,
                       tag == MESSAGES_ANY ? MPI_ANY_TAG : (int)tag, mpi.channel[c], &q);
    free_type(type);
    *handle = handle_of(q);
    return rc ? failed(rc) : 0;
}

static int receive_exactly(enum channel c, int from, int64_t tag, void *data, int64_t bytes,
                           uint64_t *handle)
{
    MPI_Datatype type;
    MPI_Request q = MPI_REQUEST_NULL;
    MPI_Message message;
    MPI_Status status;
    MPI_Count got = 0;
    int n, found = 0, rc = MPI_Improbe(from, (int)tag, mpi.channel[c], &found, &message, &status);
    if (rc || !found)
        return rc ? failed(rc) : 0;
    MPI_Get_elements_x(&status, MPI_BYTE, &got);
    if (got != bytes) {
        snprintf(mpi.m->why, sizeof mpi.m->why, "has another length than expected");
        return -1;
    }
    rc = elements_of(bytes, &type, &n);
    if (!rc)
        rc = MPI_Imrecv(data, n, type, &message, &q);
    free_type(type);
    if (rc)
        return failed(rc);
    *handle = handle_of(q);
    return 1;
}

static uint32_t ended_messages(uint64_t *handle, uint32_t n, struct message_end *end)
{
    MPI_Request q[MESSAGES_LOOK];
    MPI_Status status[MESSAGES_LOOK];
    int index[MESSAGES_LOOK], found = 0;
    for (uint32_t i = 0; i < n; i++)
        q[i] = request_of(handle[i]);
    int rc = MPI_Testsome((int)n, q, &found, index, status);
    if (rc && rc != MPI_ERR_IN_STATUS) {
        /* the call would fail again, and none of the messages would ever end */
        failed(rc);
        for (uint32_t i = 0; i < n; i++)
            end[i] = (struct message_end){.index = i, .from = MESSAGES_ANY, .failed = true};
        return n;
    }
    if (found == MPI_UNDEFINED)
        return 0;
    for (int i = 0; i < found; i++) {
        MPI_Count bytes = 0;
        MPI_Get_elements_x(&status[i], MPI_BYTE, &bytes);
        bool bad = rc && status[i].MPI_ERROR != MPI_SUCCESS;
        if (bad)
            failed(status[i].MPI_ERROR);
        end[i] = (struct message_end){(uint32_t)index[i], status[i].MPI_SOURCE, bytes, bad};
    }
    for (uint32_t i = 0; i < n; i++)
        handle[i] = handle_of(q[i]);
    return (uint32_t)found;
}

static void cancel_message(uint64_t *handle)
{
    MPI_Request q = request_of(*handle);
    if (q == MPI_REQUEST_NULL)
        return; /* it has ended, with an error */
    MPI_Cancel(&q);
    MPI_Request_free(&q);
}

static bool take_stray(enum channel c, int *from, int64_t *tag)
{
    MPI_Message message;
    MPI_Status status;
    MPI_Datatype type = MPI_BYTE;
    MPI_Count bytes = 0;
    int there = 0, n;
    /* from here on MPI shows the message no more, even if there is no memory to receive it */
    if (MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, mpi.channel[c], &there, &message, &status) ||
        !there)
        return false;
    *from = status.MPI_SOURCE;
    *tag = status.MPI_TAG;
    MPI_Get_elements_x(&status, MPI_BYTE, &bytes);
    void *to = malloc((size_t)bytes + 1);
    if (to && elements_of(bytes, &type, &n) == 0)
        MPI_Mrecv(to, n, type, &message, &status);
    free_type(type);
    free(to);
    return true;
}

static int gather_all(const void *mine, void *all, int64_t bytes)
{
    int rc = MPI_Gather(mine, (int)bytes, MPI_BYTE, all, (int)bytes, MPI_BYTE, 0,
                        mpi.channel[CHANNEL_WORD]);
    return rc ? failed(rc) : 0;
}

static int share_all(void *data, int64_t bytes)
{
    int rc = MPI_Bcast(data, (int)bytes, MPI_BYTE, 0, mpi.channel[CHANNEL_WORD]);
    return rc ? failed(rc) : 0;
}

static int make_group(const int *rank, int n, int tag, int *group)
{
    MPI_Group all, some;
    int rc = mpi.groups < GROUPS ? MPI_Comm_group(MPI_COMM_WORLD, &all) : MPI_ERR_NO_MEM;
    if (rc)
        return failed(rc);
    rc = MPI_Group_incl(all, n, rank, &some);
    MPI_Group_free(&all);
    if (rc)
        return failed(rc);
    rc = MPI_Comm_create_group(MPI_COMM_WORLD, some, tag, &mpi.group[mpi.groups]);
    MPI_Group_free(&some);
    if (rc)
        return failed(rc);
    MPI_Comm_set_errhandler(mpi.group[mpi.groups], MPI_ERRORS_RETURN);
    *group = mpi.groups++;
    return 0;
}

/* MPI_User_function: adds bytes modulo 256, where MPI_SUM of Open MPI 4.1.4 stops at 255. */
static void add_bytes(void *from, void *to, int *n, MPI_Datatype *type)
{
    const unsigned char *x = from;
    unsigned char *sum = to;
    (void)type;
    for (int i = 0; i < *n; i++)
        sum[i] = (unsigned char)(sum[i] + x[i]);
}

static int sum_up(int group, void *data, int elem, int64_t bytes, uint64_t *handle)
{
    bool f32 = elem == ELEM_F32, f64 = elem == ELEM_F64;
    MPI_Datatype type = f32 ? MPI_FLOAT : f64 ? MPI_DOUBLE : MPI_UINT8_T;
    int64_t n = bytes / (f32 ? (int64_t)sizeof(float) : f64 ? (int64_t)sizeof(double) : 1);
    MPI_Request q = MPI_REQUEST_NULL;
    int rc = n > CHUNK ? MPI_ERR_COUNT : 0;
    if (!rc && !mpi.adds) {
        rc = MPI_Op_create(add_bytes, /*commute=*/1, &mpi.bytes);
        mpi.adds = rc == 0;
    }
    if (!rc)
        rc = MPI_Iallreduce(MPI_IN_PLACE, data, (int)n, type, f32 || f64 ? MPI_SUM : mpi.bytes,
                            mpi.group[group], &q);
    *handle = handle_of(q);
    return rc ? failed(rc) : 0;
}

static void abort_all(int exit)
{
    MPI_Abort(MPI_COMM_WORLD, exit);
}

static void close_all(void)
{
    MPI_Finalize();
}

static int open_all(struct messages *m)
{
    int got = 0, flag = 0, *most = NULL;
    MPI_Comm here;
    mpi.m = m;
    int rc = MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &got);
    if (rc)
        return failed(rc);
    if (got < MPI_THREAD_MULTIPLE) {
        snprintf(m->why, sizeof m->why,
                 "this MPI gives threads of level %d, expected MPI_THREAD_MULTIPLE (%d): build or "
                 "choose one with threads",
                 got, MPI_THREAD_MULTIPLE);
        return -1;
    }
    MPI_Comm_rank(MPI_COMM_WORLD, &m->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &m->ranks);
    for (int c = 0; c < CHANNELS; c++) {
        rc = MPI_Comm_dup(MPI_COMM_WORLD, &mpi.channel[c]);
        if (rc)
            return failed(rc);
        MPI_Comm_set_errhandler(mpi.channel[c], MPI_ERRORS_RETURN);
    }
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &most, &flag);
    m->tags = flag ? (int64_t)*most + 1 : 32768; /* the least number that MPI demands */
    if (MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &here) == 0)
        MPI_Comm_size(here, &m->here);
    return 0;
}

static const struct messages_face face = {.open = open_all,
                                          .send = send_message,
                                          .receive = receive_message,
                                          .receive_exactly = receive_exactly,
                                          .ended = ended_messages,
                                          .cancel = cancel_message,
                                          .stray = take_stray,
                                          .gather = gather_all,
                                          .share = share_all,
                                          .group = make_group,
                                          .sum = sum_up,
                                          .abort = abort_all,
                                          .close = close_all};

messages_make pcc_messages;

__attribute__((visibility("default"))) const struct messages_face *pcc_messages(void)
{
    return &face;
}
