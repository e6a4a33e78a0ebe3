/* Messages between the processes of a run (ranks.h): the calls of MPI that it needs, as a table.  A shared library of
 * its own is linked with MPI (messages_mpi.c).  It is opened only if a run has several processes, so that programs
 * start, and can be built, without MPI.
 *
 * Several threads may call at a time, but functions that all ranks call must be called by one thread.  A call that
 * fails returns -1 and leaves a line in m->why. */
#ifndef PCC_TOOLS_RUN_MESSAGES_H
#define PCC_TOOLS_RUN_MESSAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Kinds of messages; a message of one channel is never received by a receive of another channel. */
enum channel {
    CHANNEL_TENSOR, /* elements of tensors; a message has left when its receiver has room for it */
    CHANNEL_SIZES,  /* types and sizes of tensors of unknown size, ahead of their elements */
    CHANNEL_WORD,   /* words between rank 0 and the others */
    CHANNEL_PULSE,  /* signs of life */
    CHANNELS
};

enum {
    MESSAGES_ANY = -1, /* any sender, or any tag */
    MESSAGES_LOOK = 64 /* number of messages that ended() looks at, at most */
};

/* A message that has ended. */
struct message_end {
    uint32_t index; /* index of the ended message in the list that was asked for */
    int from;       /* the sender's rank, if the message was received */
    int64_t bytes;  /* length of the message, if it was received */
    bool failed;    /* the message was longer than the room for it, or could not be sent */
};

struct messages_face;

/* What a process of a run knows of all processes. */
struct messages {
    const struct messages_face *face;
    int rank, ranks;
    int here;      /* number of ranks on this machine */
    int64_t tags;  /* tags are 0 .. tags - 1 */
    char why[256]; /* the reason of the last failure */
};

/* The calls. */
struct messages_face {
    /* Starts MPI, and fills in all fields of *m but face.  *m must live until close(). */
    int (*open)(struct messages *m);
    /* Begins to send a message; *handle stands for the message until ended() says that it has ended. */
    int (*send)(enum channel c, int to, int64_t tag, const void *data, int64_t bytes,
                uint64_t *handle);
    /* Begins to receive a message of at most `bytes` bytes; *handle as for send().  from, tag: MESSAGES_ANY for any. */
    int (*receive)(enum channel c, int from, int64_t tag, void *data, int64_t bytes,
                   uint64_t *handle);
    /* Begins to receive a message of exactly `bytes` bytes, if a message has come.  Returns 1; 0: none has come; -1:
     * the call failed, or the message has another length.  (With receive(), Open MPI 4.1.4 writes behind the room if a
     * long message does not fit.) */
    int (*receive_exactly)(enum channel c, int from, int64_t tag, void *data, int64_t bytes,
                           uint64_t *handle);
    /* Looks which of the n <= MESSAGES_LOOK messages handle[] have ended.  Returns their number, and writes an entry of
     * end[] for each.  If MPI fails, all n messages count as ended, and as failed.  After a failure m->why has the
     * reason. */
    uint32_t (*ended)(uint64_t *handle, uint32_t n, struct message_end *end);
    /* Cancels a receive. */
    void (*cancel)(uint64_t *handle);
    /* Takes a message that has come and for which there is no receive, so that the next call does not find it again.
     * Returns whether there is one, and writes its sender and tag. */
    bool (*stray)(enum channel c, int *from, int64_t *tag);
    /* Called by all ranks: rank 0 gets `bytes` bytes of each rank, in the order of ranks. */
    int (*gather)(const void *mine, void *all, int64_t bytes);
    /* Called by all ranks: all get what rank 0 has. */
    int (*share)(void *data, int64_t bytes);
    /* Called by the n ranks rank[n], which become a group in this order; writes its number, for sum(), to *group.
     * Groups that are made at the same time must have different tags. */
    int (*group)(const int *rank, int n, int tag, int *group);
    /* Called by all ranks of a group: begins to add up their data (floats, doubles or bytes, by ONNX's number elem), in
     * an order of MPI's choice; the sums replace the data of each rank. */
    int (*sum)(int group, void *data, int elem, int64_t bytes, uint64_t *handle);
    /* Ends all ranks at once, with this exit code. */
    void (*abort)(int exit);
    /* Called by all ranks: ends MPI in good order. */
    void (*close)(void);
};

/* The name and the type of the one function that the shared library exports. */
#define MESSAGES_SYMBOL "pcc_messages"
typedef const struct messages_face *messages_make(void);

#endif
