/* A run with a process for each device (runner.h): pcc-run under mpirun.
 *
 * Each process, a rank, follows the lists of its own device; rank 0 is also the host, with samples, outputs and report.
 * What the lists send to a device of another rank goes by messages straight from and into the engine's buffers: ALLOC
 * posts the receive, SEND the message, and either is done when the message has ended, so that all waits, and the peak
 * of memory, are those of the lists.  What no list carries, such as inputs where the plan counts them as free, and all
 * tensors where devices take turns, goes from its maker to each rank that reads it when it is made.
 *
 *     messages.h        the calls of MPI; messages_open.c opens the module that has them
 *     ranks_start.c     --processes: mpirun on this machine
 *     rank_map.c        which rank has which device
 *     ranks.c           beginning and end, where all ranks agree
 *     rank_compare.c    what must be the same at all ranks: files, versions; their clocks
 *     rank_tensors.c    tensors as messages; rank_pack.c: strings and sequences
 *     rank_contents.c   whether they came as they left
 *     rank_pulse.c      signs of life: a rank that was stopped or killed ends the run
 *     rank_words.c      words between rank 0 and the others; waiting for messages */
#ifndef PCC_TOOLS_RUN_RANKS_H
#define PCC_TOOLS_RUN_RANKS_H

#include "tools/run/messages.h"
#include "tools/run/runner.h"

enum { RANK_LINE = 1000, RANK_DIMS = 64, RANK_HOST = 64 };
enum { RANK_PACKED = -1 };

/* Type and sizes of a tensor, ahead of its elements. */
struct rank_sizes {
    /* as ONNX numbers it; 0: no tensor comes, the state before it is the input; RANK_PACKED: rank_pack() has it */
    int64_t elem;
    int64_t bytes, rank;
    int64_t size[RANK_DIMS];
    uint64_t hash; /* of the elements, where steps send them; 0 otherwise */
};

/* Kinds of words (messages without a tensor) between rank 0 and the other ranks. */
enum word_kind {
    WORD_RAN,   /* to rank 0: all parts of a sample have run at this rank */
    WORD_FAIL,  /* to rank 0: the run fails at a sample */
    WORD_LIMIT, /* to all: samples from this one on are not to run; failed: because of an error */
    WORD_END    /* to all: all samples are through */
};
struct rank_word {
    int64_t kind, sample, failed;
    int64_t
        age; /* of WORD_RAN: ns since the first part of the sample began here; -1: it has none here */
    char line[RANK_LINE];
};

/* A message of this rank that is under way. */
struct transfer {
    uint64_t handle;
    enum transfer_step {
        SEND_SIZES,
        SEND_TENSOR,
        TAKE_SIZES,
        TAKE_TENSOR,
        SEND_WORD,
        TAKE_WORD
    } step;
    struct box *box; /* the box that a received tensor fills */
    unsigned char
        *packed; /* [bytes] what is sent or received in place of elements; NULL: elements */
    uint32_t value, place; /* place: of the lists (work.h); RUN_NONE: no list carries it */
    int64_t sample, bytes;
    int64_t began; /* ns: when it began to leave */
    int peer;
    union {
        struct rank_sizes sizes;
        struct rank_word word;
    };
    struct transfer *next;
};

/* Hashes of a tensor's messages that have left this rank less those of messages that have come, modulo 2^64; and the
 * same with each times its sample's number from 1 on. */
struct content_sum {
    uint64_t content, placed;
};

/* Looking after messages; under the lock. */
struct ranks_looking {
    bool begun;       /* samples are on their way: both threads of a rank look */
    bool now;         /* a thread looks at this moment */
    bool crowded;     /* ranks here outnumber processors */
    bool spare_core;  /* a processor is free for the main thread of each rank here */
    int64_t ended;    /* ns: when a message last ended, as a thread saw it */
    int64_t sent;     /* ns: when a message with a value last began to leave */
    uint32_t sending; /* messages with values that have not left */
    uint32_t nactive, room;
    struct transfer **active;       /* [nactive], room for `room`; of the thread that looks */
    struct transfer *fresh, *spare; /* not looked at yet; free records */
};

struct ranks {
    struct messages m;
    const char *machine; /* [rank * RANK_HOST] names of machines */
    int64_t *offset,
        *unsure; /* [rank] at rank 0: ns that its clock is ahead, and how much that may be wrong */
    struct rank_pulse *pulse;
    int64_t told_at;  /* ns: when the pulse last got to know where this rank stands */
    const char *kept; /* the first error of a rank other than 0 */
    uint32_t *device; /* [rank] its device */
    uint32_t *rank;   /* [device] its rank; [ndev], the host: 0; RUN_NONE: it has no parts */
    uint32_t *maker;  /* [value] the part that makes it; RUN_NONE: an input of the model */
    uint32_t *loose;  /* [nloose] values that some rank gets without lists */
    bool *is_loose;   /* [value] */
    uint32_t nloose;
    int64_t *ran; /* [rank] at the host: samples 0 .. ran - 1 are through there */
    bool *near;   /* [rank] the rank is on this machine */
    bool *to;     /* [rank] for calls */
    bool *told;   /* [width * nstate] whether the host has said what the state is of a sample */
    struct {
        int64_t keys, rounds;    /* tags of one sample; samples with tags of their own */
        struct content_sum *sum; /* [keys] */
    } tags;
    int64_t
        trouble; /* the earliest sample at which the run is to fail, where lists were moving; -1: none */
    char why[RANK_LINE]; /* its error */
    bool over;           /* rank 0 has said that all is through */
    struct {
        int64_t *next;          /* [place] the sample whose message the lists count next */
        struct transfer *early; /* ended messages of later samples */
    } order;                    /* under the lock */
    struct ranks_looking look;
    struct box **none;       /* [ninput] NULL: inputs of samples, at ranks other than 0 */
    struct hosting *hosting; /* at rank 0: of run_host.c; NULL: no samples come yet */
};

/* ---- messages_open.c */
/* Returns the rank of this process by its environment; -1: mpirun has not started it. */
int messages_rank(void);
/* Opens the module.  Returns NULL after an error. */
const struct messages_face *messages_find(struct arena *a, struct diag *d);

/* ---- ranks_start.c */
/* Runs mpirun, with a process for each device of the split that has parts, each with these arguments.  Returns its exit
 * code, or 1 after an error. */
int ranks_start(struct runner *r, char **argv);

/* ---- ranks.c */
/* struct diag.emit: keeps the first error's line.  kept: char[RANK_LINE]. */
void ranks_keep(void *kept, enum diag_level level, enum warning w, const char *line);
/* Begins with the other ranks, for which it waits as long as r->set.stall says: r->ranks stays NULL if mpirun has not
 * started this process.  kept: where ranks_keep() keeps this rank's error.  Returns 0, or -1 and an error, which with
 * r->ranks rank 0 has said. */
int ranks_open(struct runner *r, const char *kept);
/* Whether a device's parts run in this process; of the host, whether this process is it. */
bool ranks_have(const struct runner *r, uint32_t dev);
/* Whether a part runs on a device of this process. */
bool ranks_run_part(const struct runner *r, uint32_t part);
/* Returns the name of a rank's device; "no device yet" before ranks have some. */
const char *ranks_name(const struct runner *r, int rank);
/* Whether a device's parts run on this machine. */
bool ranks_near(const struct runner *r, uint32_t dev);
/* Returns what begins an error of this process: "rank 0 on HOST: "; "" for the others, for which rank 0 says it, and
 * for a process that is alone.  Lives in r->a. */
const char *ranks_speaker(const struct runner *r);
/* Whether this process has samples, outputs and report. */
bool ranks_host(const struct runner *r);
/* Finds what goes by messages. */
void ranks_map(struct runner *r);
/* Makes what depends on how many samples can be on their way.  Returns 0, or -1 and an error. */
int ranks_prepare(struct runner *r);
/* Called by all ranks, when each is prepared: checks that folder, options and engine are those of rank 0, and how its
 * clock goes beside rank 0's.  Returns 0, or the exit code that all have agreed on. */
int ranks_compare(struct runner *r);
/* Called by all ranks: tells all the largest exit code; rank 0 says what the first rank with one says, unless it has an
 * own error.  line: this rank's; NULL: what was kept.  Returns that code. */
int ranks_agree(struct runner *r, int exit, const char *line);
/* Called by all ranks after a run; good: all samples ran here.  If so everywhere, looks for messages that nothing here
 * receives, such as one that came twice, and for some that came as other bytes than were sent.  Returns 0, or -1 and an
 * error that names the tensor. */
int ranks_check_messages(struct runner *r, bool good);
/* Called by all ranks when their threads have ended: rank 0 gets what was measured. */
void ranks_collect(struct runner *r);
/* Ends: all ranks with rank 0's exit code.  Returns it. */
int ranks_close(struct runner *r, int exit);

/* ---- rank_map.c */
/* Gives each rank its device.  Returns 0, or -1 and an error in usage. */
int ranks_map_devices(struct runner *r);

/* ---- rank_tensors.c; all under the lock */
/* Sends a tensor, or takes room for one, for an instruction of the lists. */
void ranks_send(struct runner *r, struct flight *f, uint32_t tensor, uint32_t place);
void ranks_take(struct runner *r, struct flight *f, uint32_t tensor, uint32_t place);
/* Sample f has begun: posts receives of what comes without lists; at the host, sends the inputs. */
void ranks_begin(struct runner *r, struct flight *f);
/* Puts value v of sample f, which was made here, into its table, and sends it to ranks that get it without lists. */
void ranks_made(struct runner *r, struct flight *f, uint32_t v, struct box *b);
/* Returns how many things a sample that begins waits for at this rank: parts that run here; at the host a word of each
 * other rank.  Adds outputs that come without lists to *to_come. */
uint32_t ranks_to_run(const struct runner *r, int64_t sample, uint32_t *to_come);
/* Returns the holders of a value that a part here has made, or that has come without lists. */
uint32_t ranks_holders(const struct runner *r, uint32_t v, int64_t sample, bool made);
/* Whether state i of a sample may be that of the sample before, if that is there. */
bool ranks_state_known(const struct runner *r, int64_t sample, uint32_t i);
/* A message of tensors has ended. */
void ranks_ended(struct runner *r, struct transfer *t, const struct message_end *end);
/* Returns the key of the tensor of a message, of which tags and sums are made, and the name of that tensor. */
int64_t ranks_key(const struct runner *r, const struct transfer *t);
const char *ranks_key_name(const struct runner *r, int64_t key);
/* Returns a message's record, which stays until it has ended; NULL: no memory. */
struct transfer *ranks_transfer(struct runner *r, enum transfer_step step, int64_t sample);
/* Has a message looked after that was begun; rc: of beginning it. */
void ranks_watch(struct runner *r, struct transfer *t, int rc);
/* Returns a new tensor of the announced type and sizes, without elements; NULL, with the reason in *err, also if the
 * announced bytes are not those of the sizes. */
struct engine_value *rank_value_new(struct engine *e, const struct rank_sizes *z,
                                    struct engine_error *err);

/* ---- rank_contents.c */
/* Returns a hash of the bytes of a message, of some of them where it is long. */
uint64_t ranks_hash(const void *data, int64_t bytes);
/* Adds the bytes of a message that leaves, or that has come, to the sum of its tensor; under the lock. */
void ranks_count(struct runner *r, const struct transfer *t, const void *data);
/* Called by all ranks after a good run: compares what was sent with what came.  Returns 0, or -1 and rank 0's error. */
int ranks_check_contents(struct runner *r);

/* ---- rank_pack.c */
/* Returns a value of strings, or a sequence or map, as bytes, which the caller frees by free(), and their number; NULL:
 * it is of another kind, or there is no memory. */
unsigned char *rank_pack(struct engine *e, const struct engine_value *v, int64_t *bytes);
/* Returns the value of such bytes; NULL, with the reason in *err. */
struct engine_value *rank_unpack(struct engine *e, const unsigned char *data, int64_t bytes,
                                 struct engine_error *err);

/* ---- rank_words.c; all under the lock */
/* The run fails at a sample as soon as the lists stand still. */
void ranks_trouble(struct runner *r, int64_t sample, const char *line);
/* The run fails at a sample: tells rank 0, or all. */
void ranks_fail(struct runner *r, int64_t sample, const char *line);
/* Rank 0 tells the other ranks that no samples from number n on will come. */
void ranks_limit(struct runner *r, int64_t n);
/* Begins with samples: both threads look after messages from now on. */
void ranks_hear(struct runner *r);
/* Looks at messages once and does what follows from those that have ended; the lock is given up meanwhile. */
void ranks_look(struct runner *r);
/* A part has run: looks for a short time whether what it has made has left. */
void ranks_await(struct runner *r);
/* The device's thread waits until it is time to look again; the lock is given up meanwhile. */
void ranks_rest(struct runner *r, struct run_device *d);
/* The main thread looks and waits until something may have changed; the lock is given up meanwhile. */
void ranks_wait(struct runner *r);
/* Runs a rank other than 0 until rank 0 says that all is through. */
void ranks_serve(struct runner *r);
/* Rank 0: says that all is through. */
void ranks_end(struct runner *r);
/* Waits for the messages of samples that ran, and gives up what others never sent.  Returns whether all tensors have
 * come and left; if not, MPI may still read and write their buffers, which must stay. */
bool ranks_drain(struct runner *r);

/* ---- rank_pulse.c */
/* Starts the thread.  Returns 0, or -1 and an error. */
int rank_pulse_start(struct runner *r);
/* Ends it, when all ranks are through. */
void rank_pulse_end(struct runner *r);
/* Lets others know where this rank stands; under the lock of the run. */
void rank_pulse_tell(struct runner *r);
/* The same in words: what has moved so far, whether a part runs. */
void rank_pulse_say(struct runner *r, uint64_t moves, bool runs, const char *where);
/* At the host: adds how far the other ranks have moved to *moves.  Returns whether one of them runs a part. */
bool rank_pulse_heard(struct runner *r, uint64_t *moves);
/* At the host, from now on: ends all when no rank runs a part and nothing has moved for as long as --stall says, with
 * where all ranks stand, also while the main thread waits for other ranks. */
void rank_pulse_watch(struct runner *r);
/* At the host: returns words for where all ranks stand. */
const char *rank_pulse_where(struct runner *r);

#endif
