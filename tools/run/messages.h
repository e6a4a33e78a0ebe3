/* Messages between the processes of a run (ranks.h): the calls of MPI that it needs, as a table.  The module that is
 * linked with MPI (messages_mpi.c) is opened only where a run has several processes, so that programs start without
 * MPI, and are built without it where it is missing.
 *
 * Calls may come from several threads at a time, those that all ranks call from one.  Those that fail return -1 and
 * leave a line in m->why. */
#ifndef PCC_TOOLS_RUN_MESSAGES_H
#define PCC_TOOLS_RUN_MESSAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a message is about; messages of one channel never meet receives of another one. */
enum channel {
    CHANNEL_TENSOR, /* elements of tensors; a message has left when its receiver has room for it */
    CHANNEL_SIZES,  /* types and sizes of tensors of unknown size, ahead of their elements */
    CHANNEL_WORD,   /* words between rank 0 and the others */
    CHANNEL_PULSE,  /* signs of life */
    CHANNELS
};

enum { MESSAGES_ANY = -1, MESSAGES_LOOK = 64 };

/* A message that has ended. */
struct message_end {
    uint32_t index; /* index of the ended message in the list that was asked for */
    int from;       /* the sender's rank, if the message was received */
    int64_t bytes;  /* length of the message, if it was received */
    bool failed;    /* the message was longer than the room for it, or could not be sent */
};

struct messages_face;

/* The processes of a run, as one of them sees them. */
struct messages {
    const struct messages_face *face;
    int rank, ranks;
    int here;     /* ranks on this machine */
    int64_t tags; /* tags are 0 .. tags - 1 */
    char why[256];
};

struct messages_face {
    /* Begins, and fills in *m but for face.  *m lives until close(). */
    int (*open)(struct messages *m);
    /* Begin to send or to receive; *handle is the message's until ended() says that it has ended.  from, tag:
     * MESSAGES_ANY for any. */
    int (*send)(enum channel c, int to, int64_t tag, const void *data, int64_t bytes,
                uint64_t *handle);
    int (*receive)(enum channel c, int from, int64_t tag, void *data, int64_t bytes,
                   uint64_t *handle);
    /* Begins to receive a message of so many bytes, if one has come.  Returns 1; 0: none has; -1: it has another
     * length, too.  With receive() Open MPI 4.1.4 writes behind the room that a long message finds too small. */
    int (*receive_exactly)(enum channel c, int from, int64_t tag, void *data, int64_t bytes,
                           uint64_t *handle);
    /* Returns how many of n <= MESSAGES_LOOK messages have ended, and writes which. */
    uint32_t (*ended)(uint64_t *handle, uint32_t n, struct message_end *end);
    /* Gives a message up that is to be received. */
    void (*cancel)(uint64_t *handle);
    /* Takes a message that has come and that no receive is for.  Returns whether there is one, and who has sent it. */
    bool (*stray)(enum channel c, int *from, int64_t *tag);
    /* Called by all ranks: rank 0 gets `bytes` of each, all[rank]. */
    int (*gather)(const void *mine, void *all, int64_t bytes);
    /* Called by all ranks: all get what rank 0 has. */
    int (*share)(void *data, int64_t bytes);
    /* Called by the n ranks of a group, in the order rank[]: *group is its number for sum(); tag tells groups apart
     * that are made at the same time. */
    int (*group)(const int *rank, int n, int tag, int *group);
    /* Called by all ranks of a group: begins to add up their floats, doubles or bytes, by ONNX's number elem, each to
     * be replaced by the sum, in an order of MPI's. */
    int (*sum)(int group, void *data, int elem, int64_t bytes, uint64_t *handle);
    /* Ends all ranks now, with an exit code. */
    void (*abort)(int exit);
    /* Called by all ranks: ends in good order. */
    void (*close)(void);
};

/* The module's one function, by this name. */
#define MESSAGES_SYMBOL "pcc_messages"
typedef const struct messages_face *messages_make(void);

#endif
