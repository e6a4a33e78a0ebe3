/* The state of a run of a split (pcc-run): a thread for each device, and the host, which is the main thread.
 *
 * Data that several threads use change under one lock, runner.lock, which a thread gives up while it runs a part, reads
 * or writes a file, or waits.  All other work between two parts, such as moving the lists of a schedule, is done under
 * the lock and takes microseconds, since on one machine a tensor that crosses is handed over by its address.
 *
 *     run_lists.c     who runs what next: as schedule.json's lists say
 *     run_turns.c     the same without lists: the earliest part of the earliest sample
 *     run_values.c    tensors of samples on their way, and their buffers
 *     run_device.c    a device's thread
 *     run_samples.c   inputs and outputs
 *     run_host.c      samples in, outputs out, errors, Ctrl-C, the watchdog */
#ifndef PCC_TOOLS_RUN_RUNNER_H
#define PCC_TOOLS_RUN_RUNNER_H

#include "ir/base/signal_flag.h"
#include "tools/run/gpus.h"
#include "tools/run/engine.h"
#include "tools/run/run_figures.h"
#include "tools/run/split_in.h"

#include "ir/base/clock.h"
#include "ir/base/csr.h"
#include "ir/base/heap.h"
#include "ir/base/json_out.h"
#include "ir/plan/schedule.h"
#include "ir/plan/work.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>

enum { RUN_NONE = UINT32_MAX };

/* States after the last sample of a run, for the first sample of the next run. */
struct run_states {
    const char **name;           /* [n] name of the input that takes the state in the next sample */
    struct engine_value **value; /* [n] their values */
    uint32_t n;                  /* number of states; 0: there was no run yet */
    const char *lost;            /* an input whose state could not be kept; NULL: none */
};

/* What the user wants. */
struct run_settings {
    const char *folder;
    int64_t samples; /* number of samples to run; 0: one for each file[k], or one if nfile is 0 */
    /* number that messages and files give to the first sample: 0, or more if another split has run earlier samples */
    int64_t first;
    /* the most samples that run at the same time; 0: in_flight of schedule.json */
    int64_t in_flight;
    int64_t stall; /* ns after which a run that stands still is ended; 0: never */
    uint64_t seed;
    int threads; /* most threads of an operator; 0: the number of processors that --cores gives the device, else 1 */
    bool optimise; /* parts are loaded with the engine's optimisations */
    bool state;    /* --state: states go from sample to sample */
    /* --order=model: one sample at a time, parts in the model's order, without schedule.json */
    bool by_model;
    bool check;  /* schedule.json is checked against the work of a sample (schedule_check()) */
    bool memory; /* --memory: memory of the parts is measured before the run */
    const char *const *file; /* [nfile] samples */
    uint32_t nfile;
    const char *output; /* folder for outputs; NULL: they are dropped */
    const char *trace;  /* file for the trace; NULL: none */
    /* with --replan: states that go from run to run; NULL: each run begins with zeros */
    struct run_states *states;
    const char *const *cores; /* [ncores] values of --cores */
    const char *const *map;   /* [nmap] values of --map */
    uint32_t ncores, nmap;
    struct gpu_choice gpus; /* values of --provider */
    /* the most bytes of a tensor between ranks whose size is not known before */
    int64_t most_bytes;
    /* a number made of the options of steps that must be equal in all ranks */
    int64_t step_options;
};

/* A tensor on its way. */
struct box {
    struct engine_value *value;
    uint32_t entries; /* number of entries of samples' tables that hold this box: two for a state */
    /* value whose list of free boxes, runner.spare[of], the box returns to; RUN_NONE: the box returns to no list, as it
     * belongs to a sample that may be repeated */
    uint32_t of;
    struct box *next; /* next box in the list of free boxes */
};

/* A sample on its way. */
struct flight {
    int64_t sample; /* number of the sample; -1: the place is free */
    /* [value] the box of the value; NULL: the value was not made yet, or is no longer held */
    struct box **box;
    /* [value] number of holders of box[value]: devices, the host, this sample, the next sample */
    uint32_t *holders;
    uint32_t held;   /* number of boxes that are not NULL */
    bool *ran;       /* [part] the part has run for this sample */
    uint32_t to_run; /* number of parts that have not run yet */
    /* number of outputs that lists or ranks bring to the host and that it has not received yet */
    uint32_t to_come;
    uint32_t *lacks; /* [part] without lists: number of inputs and parts that it waits for */
    /* [state] the state was handed to the next sample, or the next sample brings its own */
    bool *handed;
    bool given; /* the sample's outputs were given to the user */
    /* ns: when its first part began, and its last output was there; 0: not yet */
    int64_t began, ended;
    int64_t *bytes; /* [value] bytes that the device of the value's part counts for it */
    int64_t *made;  /* [value] ns: when a part made it */
};

/* A device: a thread, and the parts that it has loaded. */
struct run_device {
    struct runner *r;
    const char *name;
    pthread_t thread;
    bool started;                 /* there is a thread */
    pthread_cond_t work;          /* signalled when its thread may have something to do */
    cpu_set_t cores;              /* processors on which its thread runs */
    bool pinned;                  /* `cores` is set */
    int threads;                  /* most threads of an operator */
    const struct engine_gpu *gpu; /* runs the device's parts by CUDA; NULL: the CPU does */
    struct loaded **loaded;       /* [part] its session; NULL: the part never runs here */
    struct heap ready;            /* without lists: (sample, part) that can run */
    /* with lists: the part and the sample that its list stands at, when they can run; RUN_NONE: it waits */
    uint32_t next_part;
    int64_t next_sample;
    /* the part that the device runs now; RUN_NONE: none */
    uint32_t part;
    int64_t sample, since; /* sample of that part; ns: when it began */
    int64_t told;          /* ns: when the user was last told that the part takes long */
    int64_t bytes, most; /* with lists: bytes that it holds by the plan's rules, now and at most */
    /* scratch for calls, with room for the inputs and outputs of any part */
    struct engine_value **in, **out;
    struct box **made;
};

/* Tables of makers and readers of values; they do not change during a run. */
struct wires {
    uint32_t **place; /* [part] its devices: sample k runs on place[k % nplace] */
    uint32_t *nplace; /* [part] number of these devices */
    /* [value] number of the tensor in runner.w; RUN_NONE: it has no such tensor */
    uint32_t *tensor;
    uint32_t *value; /* [tensor of runner.w] number of its value in runner.s */
    bool *is_input;  /* [value] an input of the model */
    bool *is_output; /* [value] an output of the model, made by a part */
    bool *plain;     /* [value] a tensor of numbers; false: it must not be asked for its sizes */
    bool *direct;    /* [value] an output that the lists do not send to the host */
    /* [value] number of the state whose output the value is; RUN_NONE: no state */
    uint32_t *state_of;
    /* [value] type and sizes, if all samples have the same ones; elem 0: not known */
    struct engine_shape *shape;
    /* [value] type and sizes by the manifest, with which values of the engine are compared; size -1: any size; elem 0:
     * not known */
    struct engine_shape *said;
    struct csr readers; /* value -> parts that read it */
    /* [nstate] input and output of each state, as numbers of values */
    uint32_t *state_in, *state_out;
    uint32_t nstate;  /* 0 without --state */
    uint32_t *output; /* [noutput] values, in the order of the model */
    /* [noutput] "input", "weights", or the file of the part that makes it */
    const char **output_from;
    /* [noutput] a weight that is an output, the same for all samples; NULL: a part makes the output */
    struct box **constant;
    uint32_t noutput;
};

struct run_lists;
struct ranks;

/* A run. */
struct runner {
    struct run_settings set;
    struct engine *e;
    struct engine_choice choice; /* how e was opened */
    struct split s;
    struct arena *a; /* arena that only the main thread uses */
    struct diag *d;
    const signal_flag *stop; /* 1: Ctrl-C was pressed */
    /* The schedule and its work; NULL: there is none, devices take turns. */
    const struct sample_work *w;
    struct schedule *schedule;
    struct run_lists *lists;
    struct ranks *ranks; /* with a process for each device (ranks.h); NULL: this process is alone */
    struct run_device *dev; /* [ndev] as the manifest has them */
    uint32_t ndev;
    struct wires wires;
    /* Numbers of samples at the same time. */
    int64_t chunk;  /* the lists are executed for chunks of so many samples, one after the other */
    uint32_t width; /* number of places for samples that run */
    /* Changes under the lock. */
    pthread_mutex_t lock;
    pthread_cond_t host;   /* signalled when the host may have something to do */
    struct flight *flight; /* [width] sample k is at k % width */
    struct box **spare;    /* [value] boxes that are free */
    int64_t n;             /* number of samples to run; becomes smaller after an error or Ctrl-C */
    int64_t loaded;        /* samples 0 .. loaded - 1 have got their inputs */
    int64_t given;         /* samples 0 .. given - 1 have given their outputs */
    uint64_t moves;        /* number of instructions and parts executed so far */
    bool over;             /* threads shall end */
    uint32_t opening;      /* number of devices that have not loaded their parts yet */
    bool failed;
    char error[600]; /* message of the first failure */
    struct figures figures;
    /* ns: the time in a simulation (run_planned.c); -1: the clock counts */
    int64_t virtual;
};

/* Returns the time of a run, ns. */
static inline int64_t run_now(const struct runner *r)
{
    return r->virtual < 0 ? clock_now() : r->virtual;
}

/* ---- run_prepare.c */
/* Reads the manifest: values, parts and devices.  Returns 0, or -1 and an error. */
int run_read_split(struct runner *r);
/* Reads the folder, checks the schedule, and fills in the fields that do not change.  Returns 0, or the exit code of an
 * error: 1, or 2 if devices have no ranks. */
int run_prepare(struct runner *r);
/* Makes the data that change while r runs: places for samples, boxes, lists or turns, figures; run_planned.c calls it,
 * too.  Returns 0, or -1 and an error: the lists cannot be executed at all. */
int run_begin(struct runner *r);

/* ---- run_cores.c */
/* Gives each device the processors of --cores, or an equal share of the processors that no other device has.  Returns
 * 0; -1 and an error in usage. */
int run_cores(struct runner *r);

/* ---- run_values.c */
/* Begins sample r->loaded.  first: [ninput] a box for each input; NULL: a state, which the sample before hands on.
 * Under the lock. */
void flight_begin(struct runner *r, struct box *const *first);
/* Called when a sample's outputs were given to the user: drops the boxes that the host holds; under the lock. */
void flight_give(struct runner *r, struct flight *f);
/* Frees the places of samples that are over.  Returns the next sample whose outputs are to be given to the user; NULL:
 * it is not ready. */
struct flight *flight_next_out(struct runner *r);
/* Returns a free box for a value; under the lock.  NULL: none is left. */
struct box *box_take(struct runner *r, uint32_t value);
/* Puts a box into the table of a sample, with this number of holders; 0: nobody needs it, and the box is returned. */
void box_put(struct runner *r, struct flight *f, uint32_t value, struct box *b, uint32_t holders);
/* Takes a holder of a sample's value away; with the last one the box leaves the table. */
void box_drop(struct runner *r, struct flight *f, uint32_t value);
/* Returns a box that is in no table to the free boxes of its value. */
void box_return(struct runner *r, struct box *b);
/* Makes the buffer of a box, if it has none and the value's sizes are known.  Without the lock.  Returns 0, or -1 with
 * the reason in *err. */
int box_fill(struct runner *r, struct box *b, struct engine_error *err);
/* Returns bytes of a value of plain numbers; -1: of something else. */
int64_t value_bytes(struct engine *e, const struct engine_value *v);
/* Returns the place of a sample. */
static inline struct flight *flight_of(struct runner *r, int64_t sample)
{
    return &r->flight[sample % r->width];
}

/* Wakes the main thread, unless run_pass_samples() does the main thread's work with samples. */
void run_wake_host(struct runner *r);

/* If the last output of a sample is there, notes the time and wakes the host; under the lock. */
static inline void flight_note_end(struct runner *r, struct flight *f, int64_t now)
{
    if (f->to_run > 0 || f->to_come > 0 || f->ended)
        return;
    f->ended = now;
    run_wake_host(r);
}

/* ---- run_lists.c; all under the lock */
/* Makes the lanes of a schedule.  Returns 0, or -1 and an error: lists that cannot be executed at all. */
int lists_make(struct runner *r);
/* Moves all lists as far as they go: at the beginning, and after runner.n has become smaller. */
void lists_move(struct runner *r);
/* Called when a sample has got its inputs, or its state: moves the lists that wait for that. */
void lists_loaded(struct runner *r);
/* Called when the part at which device d's list stands has run: counts that, and moves all lists that can go on. */
void lists_ran(struct runner *r, uint32_t d);
/* Called when the message of a SEND to or from another rank has ended: counts that, and moves all lists that can go on.
 * place: index in place.to of the message's tensor and receiver. */
void lists_moved(struct runner *r, uint32_t place);
/* Returns words for where the lists stand, in a, leaving out lists whose part runs now; "" if all are left out. */
const char *lists_where(struct runner *r, struct arena *a);

/* ---- run_turns.c; all under the lock */
/* Makes the heap of parts that can run, for each device. */
void turns_make(struct runner *r);
/* Called when a sample has got its inputs: counts what each part waits for, and has parts run that can. */
void turns_loaded(struct runner *r, struct flight *f);
/* Called when a value of a sample is there, such as a state: has parts run that waited for it last. */
void turns_arrived(struct runner *r, struct flight *f, uint32_t value);
/* Called when a part of a sample has run, and its outputs are in the table: has parts run that waited for them last,
 * and drops the part's inputs. */
void turns_ran(struct runner *r, struct flight *f, uint32_t part);

/* ---- run_device.c */
/* The thread of a device. */
void *device_run(void *device);
/* Sets d->part and d->sample to what d runs next.  Returns false if nothing can run.  The caller of this function and
 * the next two holds the lock. */
bool device_choose(struct runner *r, struct run_device *d);
/* Begins the run of d->part: notes the time, counts the bytes that the part works in, and finds its inputs, and boxes
 * for its outputs.  Returns false if no box is left. */
bool device_begin(struct runner *r, struct run_device *d);
/* Ends the run of d->part: puts its outputs into the sample's table, and moves lists or turns that wait for them. */
void device_end(struct runner *r, struct run_device *d);
/* Ends the run with an error at a sample; earlier samples are still completed.  Under the lock. */
void run_fail(struct runner *r, int64_t sample, const char *line);
/* Hands states of sample k - 1 that are there on to sample k.  Under the lock. */
void states_hand_on(struct runner *r, int64_t k);

/* ---- run_states.c */
/* Returns copies of the states after the last sample whose outputs were given; without r->set.states, none.  Called
 * when no thread runs. */
struct run_states states_left(struct runner *r);
/* Keeps the states `left` in r->set.states, in place of the states that the run began with, which are freed. */
void states_keep(struct runner *r, const struct run_states *left);
/* Returns the value that state i has from an earlier run; the caller must not free it.  NULL: there is none. */
struct engine_value *states_from(const struct runner *r, uint32_t i);
/* Frees the values. */
void states_free(struct engine *e, struct run_states *s);

/* ---- run_samples.c */
struct run_samples;
/* Makes as many samples as fit the memory for them; samples_load() makes the others when they are due.  Returns NULL
 * after an error. */
struct run_samples *samples_make(struct runner *r);
/* Puts the inputs of sample k into to[ninput], making or reading them if they are not there yet; without the lock.
 * Returns 0, or -1 with the reason in *err. */
int samples_load(struct run_samples *s, int64_t k, struct box **to, struct engine_error *err);
/* Whether samples are made or read when they are due. */
bool samples_late(const struct run_samples *s);
/* Frees what samples_make() made. */
void samples_free(struct run_samples *s);
/* Makes the outputs that are weights, which no part has, and the folder for outputs; does nothing if outputs are not
 * written.  Returns 0, or -1 and an error. */
int outputs_prepare(struct runner *r, struct run_samples *s);
/* Writes the outputs of a sample to the folder; without the lock.  Returns 0, or -1 with the reason in err. */
int outputs_write(struct runner *r, struct flight *f, struct engine_error *err);

/* ---- run_host.c */
/* Runs all samples.  Returns an exit code: 0; 1 after an error; 130 after Ctrl-C. */
int run_all(struct runner *r);
/* Begins samples for which there are places, and gives outputs to the user, unless files are read or written for that;
 * under the lock.  Only with several ranks. */
void run_pass_samples(struct runner *r);
/* Sleeps for ns, or until `woken` is signalled.  Under the lock, which is given up meanwhile. */
void run_doze(struct runner *r, pthread_cond_t *woken, int64_t ns);

/* ---- run_memory.c */
/* Measures the memory of the parts of each device, and prints it beside the plan's.  Returns 0; -1 and an error, such
 * as that a device has less memory than its parts need. */
int run_memory(struct runner *r, struct run_samples *s);
/* Prints the most memory that this process has held, if --memory is given. */
void run_memory_end(struct runner *r, FILE *f);

/* ---- run_planned.c */
/* Writes to *to the times at which parts would run if each took its planned time; nothing, if a part has no planned
 * time. */
void run_planned(struct runner *r, struct bars *to);

/* ---- run_report.c, run_trace.c */
/* Prints throughput, latency, and the times of parts and devices beside the plan's. */
void run_report(struct runner *r, FILE *f);
/* Writes the trace.  Returns 0, or -1 and an error. */
int run_trace(struct runner *r);
/* Writes the object of a part in a trace, with its time, ps, in the form that --costs of pcc reads
 * (passes/cost/run_trace.h). */
void run_trace_part(struct json_out *o, const struct split_part *p, int64_t ps);

#endif
