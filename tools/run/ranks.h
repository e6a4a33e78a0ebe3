/* A run with a process for each device (runner.h): pcc-run under mpirun.
 *
 * Each process, a rank, follows the lists of its own device; rank 0 is also the host, with samples, outputs and report.
 * A tensor that the lists send to a device of another rank is a message, straight from and into the engine's buffers:
 * ALLOC posts the receive, SEND the message, and both are done when the message has ended, so that all waits, and the
 * peak of memory, are those of the lists.  Tensors that no list carries (inputs, if the plan counts them as free; all
 * tensors, if devices take turns) are sent by their maker to each rank that reads them, as soon as they are made.
 *
 *     messages.h        the calls of MPI; messages_open.c opens the module that has them
 *     ranks_start.c     --processes: mpirun on this machine
 *     rank_map.c        which rank has which device
 *     ranks.c           beginning and end, where all ranks agree
 *     rank_compare.c    what must be the same at all ranks: files, versions; their clocks
 *     rank_tensors.c    tensors as messages; rank_pack.c: strings and sequences
 *     rank_contents.c   whether tensors came as they left
 *     rank_pulse.c      signs of life: a rank that was stopped or killed ends the run
 *     rank_words.c      words between rank 0 and the others; waiting for messages */
#ifndef PCC_TOOLS_RUN_RANKS_H
#define PCC_TOOLS_RUN_RANKS_H

#include "tools/run/messages.h"
#include "tools/run/runner.h"

enum {
    RANK_LINE = 1000, /* bytes of the line of an error */
    RANK_HOST = 64    /* bytes of the name of a machine */
};
enum { RANK_PACKED = -1 }; /* value of rank_sizes.elem */

/* Type and sizes of a tensor: a message that is sent before its elements. */
struct rank_sizes {
    /* element type, as ONNX numbers it; RANK_PACKED: the elements are bytes made by rank_pack(); 0: no elements follow,
     * the receiver takes the state of the sample before */
    int64_t elem;
    int64_t bytes, rank;
    int64_t size[ENGINE_AXES];
    uint64_t hash; /* hash of the elements in steps of training; else 0 */
};

/* Kinds of words (messages without a tensor) between rank 0 and the other ranks. */
enum word_kind {
    WORD_RAN,   /* to rank 0: all parts of a sample have run at this rank */
    WORD_FAIL,  /* to rank 0: the run fails at a sample */
    WORD_LIMIT, /* to all: samples from this one on are not to run; `failed`: because of an error */
    WORD_END    /* to all: all samples are through */
};

/* A word. */
struct rank_word {
    int64_t kind, sample, failed;
    /* of WORD_RAN: ns since this rank began its first part of the sample; -1: it has no part of it */
    int64_t age;
    char line[RANK_LINE];
};

/* A message of this rank that is under way. */
struct transfer {
    uint64_t handle;
    /* what is sent or received now; of a tensor whose sizes go ahead, first these, then its elements; the first bytes
     * of a long tensor are a message of their own, its HEAD */
    enum transfer_step {
        SEND_SIZES,
        SEND_HEAD,
        SEND_TENSOR,
        TAKE_SIZES,
        TAKE_HEAD,
        TAKE_TENSOR,
        SEND_WORD,
        TAKE_WORD
    } step;
    struct box *box; /* the box that a received tensor fills */
    /* [bytes] what is sent or received in place of elements; NULL: elements */
    unsigned char *packed;
    /* place: its number in the lists (work.h); RUN_NONE: no list carries the value */
    uint32_t value, place;
    int64_t sample;
    /* bytes of the message that `step` says; for the elements of a tensor, all of them, including the head */
    int64_t bytes;
    int64_t began;         /* ns: when this rank began to send it */
    struct transfer *rest; /* if this is the head of a tensor: the transfer of the other bytes */
    bool head_is_out;      /* the tensor's head has not ended */
    bool has_ended;        /* the other bytes have ended before the head, as `end` says */
    struct message_end end;
    int peer;
    union {
        struct rank_sizes sizes;
        struct rank_word word;
    };
    struct transfer *next;
};

/* Hashes of a tensor's messages, modulo 2^64: of messages that have left this rank, less of messages that have come. */
struct content_sum {
    uint64_t content; /* sum of the hashes */
    uint64_t placed;  /* sum of the hashes, each times the number of its sample, from 1 on */
};

/* Looking after messages; under the lock. */
struct ranks_looking {
    bool begun;       /* samples are on their way: both threads of a rank look */
    bool now;         /* a thread looks at this moment */
    bool crowded;     /* the machine has more ranks than processors */
    bool spare_core;  /* a processor is free for the main thread of each rank here */
    int64_t ended;    /* ns: when a message last ended, as a thread saw it */
    int64_t sent;     /* ns: when a message with a value last began to leave */
    uint32_t sending; /* messages with values that have not left */
    int32_t coming; /* long tensors under way: their heads have ended, their other bytes have not */
    uint32_t nactive, room;
    /* [nactive], room for `room`: messages under way; only for the thread that looks */
    struct transfer **active;
    struct transfer *fresh, *spare; /* lists: messages that are not in `active` yet; free records */
};

/* The state of one rank, with what it knows of the other ranks of the run. */
struct ranks {
    struct messages m;
    const char *machine; /* [rank * RANK_HOST] names of machines */
    /* [rank] at rank 0: ns that its clock is ahead of rank 0's; ns by which that may be wrong */
    int64_t *offset, *unsure;
    struct rank_pulse *pulse;
    int64_t told_at;  /* ns: when the pulse last got to know where this rank stands */
    const char *kept; /* the first error of a rank other than 0 */
    uint32_t *device; /* [rank] its device */
    /* [device] its rank, RUN_NONE: the device has no parts; [ndev] 0, the rank of the host */
    uint32_t *rank;
    uint32_t *maker; /* [value] the part that makes it; RUN_NONE: an input of the model */
    uint32_t *loose; /* [nloose] values that no list carries to a rank that reads them */
    bool *is_loose;  /* [value] it is one of `loose` */
    uint32_t nloose;
    int64_t *ran; /* [rank] at the host: samples 0 .. ran - 1 are through there */
    bool *near;   /* [rank] the rank is on this machine */
    bool *to;     /* [rank] scratch of mark_targets() */
    /* [width * nstate] the host has sent word on which value is the state of the sample */
    bool *told;
    struct {
        int64_t keys, rounds; /* number of tags of a sample; number of samples whose tags differ */
        struct content_sum *sum; /* [keys] */
    } tags;
    /* the earliest sample of the errors that ranks_trouble() has noted and for which run_fail() is still to be called;
     * -1: none */
    int64_t trouble;
    char why[RANK_LINE]; /* the error at `trouble` */
    bool over;    /* rank 0 has said that all samples are through, or a word of rank 0 is lost */
    bool missed;  /* a word of rank 0 could not be received */
    bool unheard; /* the word of rank 0 that all is through could not be sent */
    struct {
        int64_t *next;          /* [place] the sample whose message the lists count next */
        struct transfer *early; /* ended messages of later samples */
    } order;                    /* under the lock */
    struct ranks_looking look;
    struct box **none; /* [ninput] NULL: inputs of samples, at ranks other than 0 */
    /* at rank 0: the state of run_host.c; NULL: no samples are let in yet */
    struct hosting *hosting;
};

/* ---- messages_open.c */
/* Returns the rank of this process by its environment; -1: mpirun has not started it. */
int messages_rank(void);
/* Opens the shared library that is linked with MPI, and returns its calls; NULL after an error. */
const struct messages_face *messages_find(struct arena *a, struct diag *d);

/* ---- ranks_start.c */
/* Runs mpirun, with a process of this program for each device of the split that has parts; argv, without --processes,
 * are the arguments of each.  Returns mpirun's exit code; 130 after Ctrl-C, if that had to end mpirun; 1 after an
 * error. */
int ranks_start(struct runner *r, char **argv);

/* ---- ranks.c */
/* struct diag.emit: keeps the first error's line.  kept: char[RANK_LINE]. */
void ranks_keep(void *kept, enum diag_level level, enum warning w, const char *line);
/* Makes r->ranks and meets the other ranks, for which it waits at most r->set.stall; r->ranks stays NULL if mpirun has
 * not started this process.  kept: where ranks_keep() keeps this rank's error.  Returns 0, or -1 and an error, which
 * rank 0 has reported if r->ranks is set. */
int ranks_open(struct runner *r, const char *kept);
/* Whether a device's parts run in this process.  dev == ndev: whether this process is the host. */
bool ranks_have(const struct runner *r, uint32_t dev);
/* Whether a part runs on a device of this process. */
bool ranks_run_part(const struct runner *r, uint32_t part);
/* Returns the name of a rank's device; "no device yet" before ranks_map_devices(). */
const char *ranks_name(const struct runner *r, int rank);
/* Whether a device's parts run on this machine. */
bool ranks_near(const struct runner *r, uint32_t dev);
/* Returns the beginning of an error of this process, in r->a: "rank 0 on HOST: "; "" for other ranks, whose errors rank
 * 0 reports, and for a process that is alone. */
const char *ranks_speaker(const struct runner *r);
/* Whether this process has samples, outputs and report. */
bool ranks_host(const struct runner *r);
/* Finds the values that ranks send to each other: fills r->ranks->maker, loose and is_loose. */
void ranks_map(struct runner *r);
/* Makes the arrays of r->ranks whose sizes depend on the number of samples that can run at the same time.  Returns 0,
 * or -1 and an error. */
int ranks_prepare(struct runner *r);
/* Called by all ranks when they are prepared: checks that folder, options and engine of all ranks are those of rank 0,
 * and measures how far each rank's clock is ahead of rank 0's.  Returns 0, or the exit code that all ranks agree on. */
int ranks_compare(struct runner *r);
/* Called by all ranks.  Returns the largest exit code of all ranks.  Rank 0 reports the error of the first rank with an
 * exit code above 0, unless rank 0 has an error itself.  line: this rank's error; NULL: the error that ranks_keep()
 * kept. */
int ranks_agree(struct runner *r, int exit, const char *line);
/* Called by all ranks after a run.  good: all samples ran at this rank.  If all samples ran at all ranks, looks for
 * messages for which there is no receive, such as a message that came twice, and for messages that came with other
 * bytes than were sent.  Returns 0, or -1 and an error that names the tensor. */
int ranks_check_messages(struct runner *r, bool good);
/* Called by all ranks when their threads have ended: brings the figures of all ranks to rank 0. */
void ranks_collect(struct runner *r);
/* Ends MPI.  Returns the exit code of rank 0, with which all ranks end. */
int ranks_close(struct runner *r, int exit);

/* ---- rank_map.c */
/* Gives each rank its device.  Returns 0, or -1 and an error in usage. */
int ranks_map_devices(struct runner *r);

/* ---- rank_tensors.c; all under the lock */
/* Begins to send a tensor of sample f, for a SEND of the lists to the place `place`. */
void ranks_send(struct runner *r, struct flight *f, uint32_t tensor, uint32_t place);
/* Begins to receive a tensor of sample f, for an ALLOC of the lists at the place `place`. */
void ranks_take(struct runner *r, struct flight *f, uint32_t tensor, uint32_t place);
/* Called when sample f begins: posts receives for the tensors that come without lists; at the host, sends the inputs,
 * and posts receives for the outputs that lists bring there. */
void ranks_begin(struct runner *r, struct flight *f);
/* Puts value v of sample f, which was made here, into its table, and sends it to ranks that get it without lists. */
void ranks_made(struct runner *r, struct flight *f, uint32_t v, struct box *b);
/* Returns flight.to_run of a sample that begins: the number of its parts that run at this rank, and at the host 1 more
 * for the word of each other rank.  Adds the number of outputs that come without lists to *to_come. */
uint32_t ranks_to_run(const struct runner *r, int64_t sample, uint32_t *to_come);
/* Returns how many holders (flight.holders) value v of a sample gets in this process; 1 for an input, which the sample
 * itself holds.  made: a part here has made the value; else another rank has sent it, without lists. */
uint32_t ranks_holders(const struct runner *r, uint32_t v, int64_t sample, bool made);
/* Whether a part here reads state i of a sample, and the host has sent word that the sample before makes this state. */
bool ranks_state_known(const struct runner *r, int64_t sample, uint32_t i);
/* Called when a message with a tensor, or with its sizes, has ended as `end` says: if it was sent, drops a holder of
 * its value; if it has come, puts the tensor into the sample's table, or receives its elements. */
void ranks_ended(struct runner *r, struct transfer *t, const struct message_end *end);
/* Returns the key of a message's tensor, from which the message's tag follows, and its place in tags.sum. */
int64_t ranks_key(const struct runner *r, const struct transfer *t);
/* Returns the name of the tensor with this key. */
const char *ranks_key_name(const struct runner *r, int64_t key);
/* Returns a new record of a message, which lives until the message has ended; NULL: no memory, and the run will
 * fail. */
struct transfer *ranks_transfer(struct runner *r, enum transfer_step step, int64_t sample);
/* Adds a message that was begun to those that are looked after.  rc: result of the call that began it; if that is an
 * error, the run will fail instead. */
void ranks_watch(struct runner *r, struct transfer *t, int rc);
/* Returns a new tensor of the announced type and sizes, without elements; NULL after an error, with the reason in *err:
 * such as announced bytes that do not agree with the sizes. */
struct engine_value *rank_value_new(struct engine *e, const struct rank_sizes *z,
                                    struct engine_error *err);

/* ---- rank_contents.c */
/* Returns a hash of the bytes of a message; a long message is hashed in some places only. */
uint64_t ranks_hash(const void *data, int64_t bytes);
/* Adds the bytes of a message that leaves, or that has come, to the sum of its tensor; under the lock. */
void ranks_count(struct runner *r, const struct transfer *t, const void *data);
/* Called by all ranks after a good run: compares the hashes of sent and received messages over all ranks.  Returns 0,
 * or -1 and an error of rank 0. */
int ranks_check_contents(struct runner *r);

/* ---- rank_pack.c */
/* Returns a tensor of strings, a sequence or a map as bytes, which the caller frees by free(), and their number in
 * *bytes; NULL: v is of another kind, or there is no memory. */
unsigned char *rank_pack(struct engine *e, const struct engine_value *v, int64_t *bytes);
/* Returns the value that rank_pack() has made these bytes of; NULL after an error, with the reason in *err. */
struct engine_value *rank_unpack(struct engine *e, const unsigned char *data, int64_t bytes,
                                 struct engine_error *err);

/* ---- rank_words.c; all under the lock */
/* Notes an error at a sample, found while lists may be moving: ranks_look() calls run_fail() for the noted error of the
 * earliest sample when they stand still. */
void ranks_trouble(struct runner *r, int64_t sample, const char *line);
/* Lets the run fail at a sample: tells rank 0 so, or, at rank 0, all other ranks. */
void ranks_fail(struct runner *r, int64_t sample, const char *line);
/* Rank 0 tells the other ranks that no samples from number n on will come. */
void ranks_limit(struct runner *r, int64_t n);
/* Called before the first sample: from now on both threads of this rank look after messages. */
void ranks_hear(struct runner *r);
/* Looks at the messages once, and calls the functions that handle those that have ended; the lock is given up
 * meanwhile. */
void ranks_look(struct runner *r);
/* Called after a part has run: waits for a short time until the messages with its outputs have left. */
void ranks_await(struct runner *r);
/* The device's thread waits until it is time to look again; the lock is given up meanwhile. */
void ranks_rest(struct runner *r, struct run_device *d);
/* The main thread looks and waits until something may have changed; the lock is given up meanwhile. */
void ranks_wait(struct runner *r);
/* Runs a rank other than 0 until rank 0 says that all is through. */
void ranks_serve(struct runner *r);
/* Called by rank 0: tells the other ranks that all samples are through. */
void ranks_end(struct runner *r);
/* Waits until the messages of samples that ran have left, and cancels receives of messages that were never sent.
 * Returns whether all tensors have come and left; if not, MPI may still read and write their buffers, which must
 * stay.  Ends all ranks, with an error, if another rank cannot know that all is through. */
bool ranks_drain(struct runner *r);

/* ---- rank_pulse.c */
/* Starts the thread that sends and hears signs of life.  Returns 0, or -1 and an error. */
int rank_pulse_start(struct runner *r);
/* Ends the thread of rank_pulse_start(); called when all ranks are through. */
void rank_pulse_end(struct runner *r);
/* Ends the run at all ranks, after this rank has said why: tells the other ranks to end, and has MPI end those that do
 * not hear it.  Does not return. */
void rank_pulse_end_all(struct runner *r);
/* Gives the thread the words for where this rank stands, which the next signs of life carry; under the lock of the
 * run. */
void rank_pulse_tell(struct runner *r);
/* Gives the thread what its next signs of life say: number of moves so far, whether a part runs, `where` this rank
 * stands. */
void rank_pulse_say(struct runner *r, uint64_t moves, bool runs, const char *where);
/* At the host: adds how far the other ranks have moved to *moves.  Returns whether one of them runs a part. */
bool rank_pulse_heard(struct runner *r, uint64_t *moves);
/* Called at the host: from now on ends the run, with an error that tells where all ranks stand, if no rank runs a part
 * and nothing has moved for the time of --stall, also while the main thread waits for other ranks. */
void rank_pulse_watch(struct runner *r);
/* At the host: returns words for where all ranks stand. */
const char *rank_pulse_where(struct runner *r);

#endif
