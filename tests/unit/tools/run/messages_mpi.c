/* The module of messages (messages_mpi.c) over an MPI that fails: messages end, and stray ones are found once.  The
 * functions of MPI that the module calls here are those below. */
#include "tools/run/messages.h"

#include "ir/model/module.h"

#include <mpi.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { LOOKS = 5 }; /* how often a loop below looks for stray messages at most */

/* With sanitizers malloc() returns NULL, too, where there is no memory. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "allocator_may_return_null=1";
}

messages_make pcc_messages;

/* What the functions below do, and what they were asked for. */
static struct {
    int64_t stray;    /* bytes of the message that has come */
    bool there;       /* a message has come, and no probe has taken it out of MPI's list */
    int64_t received; /* bytes of the message that was received; -1: none was */
    int64_t type;     /* bytes of the type of several pieces */
    int rc;           /* what MPI_Testsome() and MPI_Op_create() return */
    int made, sums;   /* number of operations made, and of sums begun */
} fake;

int MPI_Init_thread(int *argc, char ***argv, int wanted, int *got)
{
    (void)argc, (void)argv;
    *got = wanted;
    return 0;
}

int MPI_Comm_rank(MPI_Comm c, int *rank)
{
    (void)c;
    *rank = 0;
    return 0;
}

int MPI_Comm_size(MPI_Comm c, int *size)
{
    (void)c;
    *size = 2;
    return 0;
}

int MPI_Comm_dup(MPI_Comm c, MPI_Comm *to)
{
    *to = c;
    return 0;
}

int MPI_Comm_set_errhandler(MPI_Comm c, MPI_Errhandler h)
{
    (void)c, (void)h;
    return 0;
}

int MPI_Comm_get_attr(MPI_Comm c, int key, void *to, int *flag)
{
    (void)c, (void)key, (void)to;
    *flag = 0;
    return 0;
}

int MPI_Comm_split_type(MPI_Comm c, int type, int key, MPI_Info info, MPI_Comm *to)
{
    (void)type, (void)key, (void)info;
    *to = c;
    return 0;
}

int MPI_Error_string(int rc, char *text, int *n)
{
    *n = rc == MPI_ERR_OTHER;
    memcpy(text, "?", 2);
    return 0;
}

int MPI_Improbe(int from, int tag, MPI_Comm c, int *there, MPI_Message *message, MPI_Status *status)
{
    (void)from, (void)tag, (void)c;
    *message = MPI_MESSAGE_NULL;
    *status = (MPI_Status){.MPI_SOURCE = 1, .MPI_TAG = 3};
    *there = fake.there;
    fake.there = false;
    return 0;
}

int MPI_Get_elements_x(const MPI_Status *status, MPI_Datatype type, MPI_Count *n)
{
    (void)status, (void)type;
    *n = fake.stray;
    return 0;
}

int MPI_Type_create_hindexed(int n, const int *length, const MPI_Aint *at, MPI_Datatype piece,
                             MPI_Datatype *type)
{
    (void)piece;
    fake.type = 0;
    for (int i = 0; i < n; i++) {
        assert_int_equal(at[i], fake.type);
        fake.type += length[i];
    }
    *type = MPI_INT; /* any other than MPI_BYTE */
    return 0;
}

int MPI_Type_commit(MPI_Datatype *type)
{
    (void)type;
    return 0;
}

int MPI_Type_free(MPI_Datatype *type)
{
    *type = MPI_BYTE;
    return 0;
}

int MPI_Mrecv(void *to, int n, MPI_Datatype type, MPI_Message *message, MPI_Status *status)
{
    (void)to, (void)message, (void)status;
    fake.received = type == MPI_BYTE ? n : n * fake.type;
    return 0;
}

int MPI_Testsome(int n, MPI_Request *q, int *found, int *index, MPI_Status *status)
{
    (void)q;
    *found = 0;
    if (fake.rc == MPI_ERR_IN_STATUS) {
        *found = 1;
        index[0] = n - 1;
        status[0] = (MPI_Status){.MPI_SOURCE = 1, .MPI_ERROR = MPI_ERR_OTHER};
    }
    return fake.rc;
}

int MPI_Op_create(MPI_User_function *f, int commute, MPI_Op *op)
{
    (void)f, (void)commute;
    if (fake.rc)
        return fake.rc;
    *op = MPI_SUM;
    fake.made++;
    return 0;
}

int MPI_Iallreduce(const void *from, void *to, int n, MPI_Datatype type, MPI_Op op, MPI_Comm c,
                   MPI_Request *q)
{
    (void)from, (void)to, (void)n, (void)type, (void)c;
    assert_true(op == MPI_SUM);
    *q = MPI_REQUEST_NULL;
    fake.sums++;
    return 0;
}

static struct messages m;

static int open_mpi(void **state)
{
    (void)state;
    m.face = pcc_messages();
    return m.face->open(&m);
}

/* Looks for stray messages until there is none, when one of this length has come, and checks how many bytes were
 * received. */
static void stray(int64_t bytes, int64_t received)
{
    int from = 0, looks = 0;
    int64_t tag = 0;
    fake.there = true;
    fake.stray = bytes;
    fake.received = -1;
    while (looks < LOOKS && m.face->stray(CHANNEL_TENSOR, &from, &tag))
        looks++;
    assert_int_equal(looks, 1);
    assert_int_equal(from, 1);
    assert_int_equal(tag, 3);
    assert_int_equal(fake.received, received);
}

static void test_strays(void **state)
{
    (void)state;
    const int64_t gib = INT64_C(1) << 30;
    stray(0, 0);
    stray(7, 7);
    stray(gib + 5, gib + 5);
    stray(INT64_MAX, -1); /* there is no memory for it */
}

static void test_failed(void **state)
{
    (void)state;
    struct message_end end[2] = {{0}};
    uint64_t handle[2] = {0};
    fake.rc = MPI_ERR_OTHER; /* nothing is said of any message */
    m.why[0] = 0;
    assert_int_equal(m.face->ended(handle, 2, end), 2);
    assert_string_equal(m.why, "?");
    for (uint32_t i = 0; i < 2; i++)
        assert_true(end[i].failed && end[i].index == i && end[i].bytes == 0);
    fake.rc = MPI_ERR_IN_STATUS;
    fake.stray = 3;
    m.why[0] = 0;
    assert_int_equal(m.face->ended(handle, 2, end), 1);
    assert_string_equal(m.why, "?");
    assert_true(end[0].failed && end[0].index == 1 && end[0].bytes == 3);
    fake.rc = 0;
    assert_int_equal(m.face->ended(handle, 2, end), 0);
}

static void test_sums(void **state)
{
    (void)state;
    unsigned char data[2] = {0};
    uint64_t handle;
    fake.rc = MPI_ERR_OTHER;
    assert_int_equal(m.face->sum(0, data, ELEM_U8, sizeof data, &handle), -1);
    fake.rc = 0;
    assert_int_equal(m.face->sum(0, data, ELEM_U8, sizeof data, &handle), 0);
    assert_int_equal(m.face->sum(0, data, ELEM_U8, sizeof data, &handle), 0);
    assert_int_equal(fake.made, 1);
    assert_int_equal(fake.sums, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_strays), cmocka_unit_test(test_failed),
                                       cmocka_unit_test(test_sums)};
    return cmocka_run_group_tests(tests, open_mpi, NULL);
}
