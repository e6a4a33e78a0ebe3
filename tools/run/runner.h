/* The state of a run of a split (pcc-run): a thread for each device, and the host, which is the main thread.
 *
 * All that several threads see is changed under one lock, runner.lock, which a thread gives up while it runs a part,
 * reads or writes a file, or waits.  All else between two parts, such as the lists of a schedule, moves under the lock
 * in microseconds: on one machine a tensor that crosses is handed over by its address.
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

/* States behind the last sample of a run, for the first one of the next. */
struct run_states {
    const char **name;           /* [n] the inputs of the model that they are */
    struct engine_value **value; /* [n] */
    uint32_t n;                  /* 0: there was no run yet */
    const char *lost;            /* an input whose state could not be kept; NULL: none */
};

/* What the user wants. */
struct run_settings {
    const char *folder;
    int64_t samples; /* how many; 0: as many as files, or 1 */
    int64_t
        first; /* number of the first sample for the user; 0 but after a switch to another split */
    int64_t in_flight; /* samples on their way at once; 0: as the schedule has it */
    int64_t stall;     /* ns after which a run that stands still is ended; 0: never */
    uint64_t seed;
    int threads; /* of an operator; 0: as many as processors that --cores gives the device, else 1 */
    bool optimise, state, by_model, check, memory;
    const char *const *file; /* [nfile] samples */
    uint32_t nfile;
    const char *output;          /* folder for outputs; NULL: they are dropped */
    const char *trace;           /* file for the trace; NULL: none */
    struct run_states *states;   /* with --replan: from run to run; NULL: each begins anew */
    const char *const *cores;    /* [ncores] values of --cores */
    const char *const *map;      /* [nmap] values of --map */
    const char *const *provider; /* [nprovider] values of --provider */
    uint32_t ncores, nmap, nprovider;
    int64_t
        most_bytes; /* the most bytes of a tensor between ranks whose size is not known before */
    int64_t
        step_options; /* a number made of the options of steps that must be equal in all ranks */
};

/* A tensor on its way. */
struct box {
    struct engine_value *value;
    uint32_t entries; /* number of entries of samples' tables that hold this box: two for a state */
    uint32_t
        of; /* the value; the free box goes to spare[of]; RUN_NONE: the box stays, as of repeated inputs */
    struct box *next; /* in the list of free boxes */
};

/* A sample on its way. */
struct flight {
    int64_t sample;    /* its number; -1: this place is free */
    struct box **box;  /* [value] NULL: not made yet, or no longer held */
    uint32_t *holders; /* [value] of box[value]: devices, the host, the sample itself, a next one */
    uint32_t held;     /* boxes that are not NULL */
    bool *ran;         /* [part] */
    uint32_t to_run;   /* parts that have not run */
    uint32_t to_come;  /* outputs in the lists that the host has not received yet */
    uint32_t *lacks;   /* [part] without lists: number of inputs and parts that it waits for */
    bool *handed;      /* [state] it was handed to the next sample, or is not wanted there */
    bool given;        /* its outputs are with the user */
    int64_t began,
        ended;      /* ns: when its first part began, and its last output was there; 0: not yet */
    int64_t *bytes; /* [value] counted for the device of the value's part */
    int64_t *made;  /* [value] ns: when a part made it */
};

/* A device: a thread, and the parts that it has loaded. */
struct run_device {
    struct runner *r;
    const char *name;
    pthread_t thread;
    bool started;        /* there is a thread */
    pthread_cond_t work; /* it may have something to do */
    cpu_set_t cores;     /* where its thread runs */
    bool pinned;         /* cores counts */
    int threads;         /* of an operator */
    bool cuda;           /* its parts run on a GPU by CUDA, and gpu counts */
    struct engine_gpu gpu;
    struct loaded **loaded; /* [part] NULL: the part never runs here */
    struct heap ready;      /* without lists: (sample, part) that can run */
    /* with lists: the part and the sample that its list stands at, when they can run; RUN_NONE: it waits */
    uint32_t next_part;
    int64_t next_sample;
    /* what it runs now; RUN_NONE: nothing */
    uint32_t part;
    int64_t sample, since;           /* since: ns */
    int64_t told;                    /* ns: when it was last said that the part runs long */
    int64_t bytes, most;             /* with lists: what the plan counts as held, now and at most */
    struct engine_value **in, **out; /* for calls: the most that a part has */
    struct box **made;
};

/* Who makes and reads what; all by number, and the same from beginning to end. */
struct wires {
    uint32_t **place; /* [part] its devices: sample k runs on place[k % nplace] */
    uint32_t *nplace; /* [part] */
    uint32_t *tensor; /* [value] number of the tensor in w; RUN_NONE: w has no such tensor */
    uint32_t *value;  /* [tensor of w] its number in s */
    bool *is_input;   /* [value] of the model */
    bool *is_output;  /* [value] of the model, made by a part */
    bool *plain;      /* [value] a tensor of numbers: others may not be asked for their sizes */
    bool *direct;     /* [value] an output that the lists do not send to the host */
    uint32_t
        *state_of; /* [value] number of the state whose output the value is; RUN_NONE: no state */
    /* [value] what it is, if all samples have the same sizes there; elem 0: that is not known */
    struct engine_shape *shape;
    /* [value] what the manifest says of it, for what is made by the engine; size -1: any; elem 0: nothing */
    struct engine_shape *said;
    struct csr readers;             /* value -> parts */
    uint32_t *state_in, *state_out; /* [nstate] values */
    uint32_t nstate;                /* 0 without --state */
    uint32_t *output;               /* [noutput] values, in the order of the model */
    const char **output_from;       /* [noutput] "input", "weights", or a part */
    struct box **
        constant; /* [noutput] a weight that is an output, the same for all samples; NULL: a part makes the output */
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
    struct arena *a; /* of the main thread */
    struct diag *d;
    const signal_flag *stop; /* 1: Ctrl-C */
    /* With a schedule; else NULL. */
    const struct sample_work *w;
    struct schedule *schedule;
    struct run_lists *lists;
    struct ranks *ranks; /* with a process for each device (ranks.h); NULL: this process is alone */
    struct run_device *dev; /* [ndev] as the manifest has them */
    uint32_t ndev;
    struct wires wires;
    /* How far apart samples may be. */
    int64_t chunk;  /* the lists are executed for so many samples, then for the next */
    uint32_t width; /* places for samples on their way */
    /* Changes under the lock. */
    pthread_mutex_t lock;
    pthread_cond_t host;   /* the host may have something to do */
    struct flight *flight; /* [width] sample k is at k % width */
    struct box **spare;    /* [value] boxes that are free */
    int64_t n;             /* samples that are to run: fewer after an error or Ctrl-C */
    int64_t loaded;        /* samples 0 .. loaded - 1 have got their inputs */
    int64_t given;         /* samples 0 .. given - 1 have given their outputs */
    uint64_t moves;        /* instructions and parts that were executed */
    bool over;             /* threads end */
    uint32_t opening;      /* devices that have not loaded their parts yet */
    bool failed;
    char error[600]; /* of the first failure */
    struct figures figures;
    /* ns: the time where it only passes as parts say (run_planned.c); -1: the clock's */
    int64_t virtual;
};

/* Returns the time of a run, ns. */
static inline int64_t run_now(const struct runner *r)
{
    return r->virtual < 0 ? clock_now() : r->virtual;
}

/* ---- run_prepare.c, and what run_planned.c repeats of it */
/* Reads the manifest: values, parts and devices.  Returns 0, or -1 and an error. */
int run_read_split(struct runner *r);
/* Reads the folder, checks the schedule, and fills in all that does not change.  Returns 0, or the exit code of an
 * error: 1, or 2 where devices have no ranks. */
int run_prepare(struct runner *r);
/* Makes all that changes while r runs: places for samples, boxes, lists or turns, figures.  Returns 0, or -1 and an
 * error: lists that cannot be executed at all. */
int run_begin(struct runner *r);

/* ---- run_cores.c */
/* Gives each device the processors that --cores says, or else an equal share of those that are left.  Returns 0; -1 and
 * an error in usage. */
int run_cores(struct runner *r);

/* ---- run_gpus.c */
/* Finds the devices that --provider makes GPUs.  Returns 0; -1 and an error in usage. */
int run_gpus(struct runner *r);

/* ---- run_values.c */
/* Begins sample r->loaded, with a box for each input, NULL for a state; under the lock. */
void flight_begin(struct runner *r, struct box *const *first);
/* Drops what the host holds of a sample whose outputs are given; under the lock. */
void flight_give(struct runner *r, struct flight *f);
/* Frees the places of samples that are over.  Returns the sample that gives its outputs next; NULL: it is not ready. */
struct flight *flight_next_out(struct runner *r);
/* Returns a free box for a value; under the lock.  NULL: none is left. */
struct box *box_take(struct runner *r, uint32_t value);
/* Puts a box into the table of a sample, with this many holders there; 0: it is not wanted and goes back. */
void box_put(struct runner *r, struct flight *f, uint32_t value, struct box *b, uint32_t holders);
/* Takes a holder of a sample's value away; with the last one the box leaves the table. */
void box_drop(struct runner *r, struct flight *f, uint32_t value);
/* Gives a box back that is in no table. */
void box_return(struct runner *r, struct box *b);
/* Makes the buffer of a box, if it has none and the value's sizes are known.  Without the lock.  Returns 0 or -1. */
int box_fill(struct runner *r, struct box *b, struct engine_error *err);
/* Returns bytes of a value of plain numbers; -1: of something else. */
int64_t value_bytes(struct engine *e, const struct engine_value *v);
/* Returns the place of a sample. */
static inline struct flight *flight_of(struct runner *r, int64_t sample)
{
    return &r->flight[sample % r->width];
}

/* Wakes the main thread, where samples come and go only by it. */
void run_wake_host(struct runner *r);

/* Notes that the last output of a sample is there, if so; under the lock. */
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
/* A sample has got its inputs, or its state. */
void lists_loaded(struct runner *r);
/* The part that device d's list stands at has run. */
void lists_ran(struct runner *r, uint32_t d);
/* The message of a SEND to or from another rank has ended; place: of its tensor and receiver. */
void lists_moved(struct runner *r, uint32_t place);
/* Returns words for where the lists stand, in a; "" if all are at their end. */
const char *lists_where(struct runner *r, struct arena *a);

/* ---- run_turns.c; all under the lock */
void turns_make(struct runner *r);
/* A sample has got its inputs. */
void turns_loaded(struct runner *r, struct flight *f);
/* A sample has got a state. */
void turns_arrived(struct runner *r, struct flight *f, uint32_t value);
/* A part of a sample has run; its outputs are in the table. */
void turns_ran(struct runner *r, struct flight *f, uint32_t part);

/* ---- run_device.c */
/* The thread of a device. */
void *device_run(void *device);
/* Sets what d runs next, d->part of d->sample.  Returns whether there is anything.  This and the next two under the
 * lock. */
bool device_choose(struct runner *r, struct run_device *d);
/* Begins the part: finds its inputs, and boxes for its outputs.  Returns false if there is none. */
bool device_begin(struct runner *r, struct run_device *d);
/* Ends the part: its outputs are there for others. */
void device_end(struct runner *r, struct run_device *d);
/* Ends the run with an error at a sample: earlier samples still come to their end.  Under the lock. */
void run_fail(struct runner *r, int64_t sample, const char *line);
/* Hands states of sample k - 1 that are there on to sample k.  Under the lock. */
void states_hand_on(struct runner *r, int64_t k);

/* ---- run_states.c */
/* Returns copies of the states behind the last sample that was given, if r->set.states is there; no thread runs. */
struct run_states states_left(struct runner *r);
/* Keeps them in r->set.states, in place of those that the run began with, which nothing may use any more. */
void states_keep(struct runner *r, const struct run_states *left);
/* Returns the value that state i has from an earlier run, which is not the caller's; NULL: none. */
struct engine_value *states_from(const struct runner *r, uint32_t i);
/* Frees the values. */
void states_free(struct engine *e, struct run_states *s);

/* ---- run_samples.c */
struct run_samples;
/* Makes samples before the run, as far as memory for them goes.  Returns NULL after an error. */
struct run_samples *samples_make(struct runner *r);
/* Puts the inputs of sample k into *f, making or reading them if need be; without the lock.  Returns 0, or -1 with the
 * reason in err. */
int samples_load(struct run_samples *s, int64_t k, struct box **to, struct engine_error *err);
/* Whether samples are made or read when they are due. */
bool samples_late(const struct run_samples *s);
/* Frees what samples_make() made. */
void samples_free(struct run_samples *s);
/* Makes the outputs that are weights, which no part has.  Returns 0, or -1 and an error. */
int outputs_prepare(struct runner *r, struct run_samples *s);
/* Writes the outputs of a sample to the folder; without the lock.  Returns 0, or -1 with the reason in err. */
int outputs_write(struct runner *r, struct flight *f, struct engine_error *err);

/* ---- run_host.c */
/* Runs all samples.  Returns an exit code: 0; 1 after an error; 130 after Ctrl-C. */
int run_all(struct runner *r);
/* Lets samples in and out, where no files are read or written for that.  Under the lock. */
void run_pass_samples(struct runner *r);

/* ---- run_memory.c */
/* Measures what the parts of each device hold, and says so beside the plan.  Returns 0; -1 and an error: a device has
 * less. */
int run_memory(struct runner *r, struct run_samples *s);
/* Prints what this process held at most, if memory is asked for. */
void run_memory_end(struct runner *r, FILE *f);

/* ---- run_planned.c */
/* Writes to *to when parts would run if each took what was planned; nothing, if the plan does not say it of all. */
void run_planned(struct runner *r, struct bars *to);

/* ---- run_report.c, run_trace.c */
/* Prints what was measured. */
void run_report(struct runner *r, FILE *f);
/* Writes the trace.  Returns 0, or -1 and an error. */
int run_trace(struct runner *r);
/* Writes a part of a trace with its time: what --costs of pcc reads (passes/cost/run_trace.h). */
void run_trace_part(struct json_out *o, const struct split_part *p, int64_t ps);

#endif
