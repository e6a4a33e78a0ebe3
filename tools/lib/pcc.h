/* pcc splits neural networks over several devices.  This is the one header to begin with:
 *
 *     struct pcc *p = pcc_new();
 *     if (pcc_set(p, "devices", "2xa100:40GiB,1xcpu") || pcc_open(p, "model.onnx") || pcc_plan(p, NULL) ||
 *         pcc_write(p, "split"))
 *         fprintf(stderr, "%s\n", pcc_error(p));
 *     else
 *         printf("%s", pcc_text(p, "table"));
 *     pcc_free(p);
 *
 * A handle holds a model, its devices, a plan, and what was said of them.  Handles share nothing: each may be used in a
 * thread of its own, by one thread at a time.  No call prints or ends the program; none changes its locale, its signal
 * handlers or its folder, and results do not depend on these.  Solvers and partitioners work in child processes of
 * their own, and pictures are laid out by the program `dot`.
 *
 * Times are picoseconds, sizes bytes.  Strings are UTF-8 where the model's are.
 *
 * What may change: while the version is 0.x, anything may with 0.(x+1), and the shared library's name with it;
 * 0.x.(y+1) adds nothing and takes nothing away.  From 1.0 on, only a new first number takes calls, settings or fields
 * away; a new second one may add some, at the end of structs and lists.  The texts of messages may change at any
 * time. */
#ifndef PCC_H
#define PCC_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define PCC_API __attribute__((visibility("default")))
#else
#define PCC_API
#endif

/* The first five are the exit codes of the program. */
enum pcc_status {
    PCC_OK = 0,
    PCC_BAD_INPUT = 1,  /* a model, or a file that a setting names */
    PCC_BAD_USE = 2,    /* a setting, a pass, or an order of calls */
    PCC_NO_PLAN = 3,    /* no plan fits the devices */
    PCC_UNVERIFIED = 4, /* a check of pcc's own failed: a fault of pcc */
    PCC_NO_MEMORY = 5   /* the handle is good for nothing but pcc_error and pcc_free */
};

struct pcc;

/* "0.1.0" */
PCC_API const char *pcc_version(void);

/* A handle without model; NULL: no memory. */
PCC_API struct pcc *pcc_new(void);
/* Frees all that its calls returned.  NULL is fine. */
PCC_API void pcc_free(struct pcc *p);

enum pcc_level { PCC_NOTE, PCC_WARNING, PCC_ERROR };

/* How far a call is. */
struct pcc_progress {
    const char *pass;  /* at work, as pipelines name it; NULL: none, it is reading or writing */
    const char *phase; /* what it does, such as "searching"; NULL: it begins, or has ended */
    uint32_t done;     /* thousandths of the phase; 0: it just began, or nobody knows */
    int64_t best;      /* value of the best plan so far (struct pcc_verdict), ps; 0: none yet */
    int64_t bound;     /* no plan that is looked for takes less, ps; 0: nothing is known */
};

/* Functions that calls call; each may be NULL.  They must not call pcc for the same handle, pcc_stop excepted. */
struct pcc_listener {
    void *user; /* their first argument */
    /* A note, a warning with its name, or an error (name: NULL), as a line without its end. */
    void (*message)(void *user, enum pcc_level level, const char *name, const char *line);
    /* Many times a second while a model is read, passes run or something is written, in the thread of the call.  Not 0:
       end the reading, which fails then, or finish with the best plan so far; writing goes on. */
    int (*progress)(void *user, const struct pcc_progress *at);
};
/* Copies *l; NULL: nobody listens. */
PCC_API void pcc_listen(struct pcc *p, const struct pcc_listener *l);
/* What the last call that failed said first, one line; "" if none has.  Never NULL. */
PCC_API const char *pcc_error(const struct pcc *p);
/* The planner at work, if any, shall stop with the best plan so far; what is being written ends with an error, and
 * nothing of it is left.  May be called from another thread or a signal handler. */
PCC_API void pcc_stop(struct pcc *p);

/* A setting has the name of a long option of the program (pcc --help): "devices", "link", "group", "reserve", "dim",
 * "costs", "profile-at", "pin", "state", "time-limit", "weights", "view", ... Those that repeat add up.  NULL: what was
 * said of it is forgotten.  Flags take "".  Names are checked here, values where they are needed. */
PCC_API enum pcc_status pcc_set(struct pcc *p, const char *name, const char *value);

/* Reads a model in place of the one that is there: an ONNX file, a workload (.json) or textual IR (.pir).  Weights stay
 * in their files, which are kept open (RLIMIT_NOFILE says how many can be) and have to stay as they are. */
PCC_API enum pcc_status pcc_open(struct pcc *p, const char *path);
/* The same of bytes, which are copied; the name is for messages, and external data is looked for beside it. */
PCC_API enum pcc_status pcc_open_memory(struct pcc *p, const char *name, const void *bytes,
                                        size_t n);

/* Runs a pipeline of passes, "fuse,dp-place{max-states=1000000}" (pcc --list-passes), on the model, once for each time
 * that it was opened; what passes need runs before them.  NULL: what the program runs for
 * the objective, "open-functions,fuse,auto-place" for the time per sample. */
PCC_API enum pcc_status pcc_plan(struct pcc *p, const char *pipeline);

struct pcc_device {
    const char *name;         /* "acc0" */
    const char *device_class; /* "a100" */
    /* how long the device is busy in a sample or iteration, ps: compute and transfer, as the settings add them up */
    int64_t load;
    int64_t compute, transfer;
    int64_t memory, used; /* bytes; memory -1: without limit */
};

struct pcc_node {
    const char *name, *op;
    int32_t device; /* -1: none of its own, it runs wherever it is needed */
    int32_t part;   /* of the split, numbered in an order in which they can run; -1: as above */
};

/* A plan, as the judge finds it. */
struct pcc_verdict {
    const char *planner;   /* "dp-place" */
    const char *status;    /* "optimal", "feasible", ... within scope */
    const char *scope;     /* the plans that status and bound are about: "all", "contiguous", ... */
    const char *argument;  /* why the status, a line */
    const char *proof;     /* why the bound holds, lines; NULL: nothing to show */
    const char *objective; /* "time-per-sample", "makespan", ... */
    int64_t value;         /* ps */
    int64_t bound;         /* no plan in scope has a smaller value, ps; -1: not known */
    int64_t bound_all;     /* no plan at all has a smaller value, ps; -1: not known */
    uint32_t nparts;
    uint32_t ndevices;
    const struct pcc_device *device; /* [ndevices] */
    uint32_t nnodes;
    const struct pcc_node
        *node; /* [nnodes] of the model's graph, in an order in which they can run */
};
/* NULL: there is no plan. */
PCC_API const struct pcc_verdict *pcc_verdict(struct pcc *p);

/* What the program shows: "table" (of the plan), "summary" (of the model), or a form of --emit: "json" (the plan),
 * "csv", "ir", "dot", "gantt", "trace", "levels" (of the pass levels, if it has run).  NULL: an error.  It lives until
 * the model is opened again. */
PCC_API const char *pcc_text(struct pcc *p, const char *what);
/* Writes what the path says: a folder for a split, or a file with the ending of an output of the program: ".svg",
 * ".pdf", ".png", ".dot", ".json", ".csv", ".onnx", ".pir", ".gantt.svg", ".trace.json", ".levels.csv".  It
 * appears whole or not at all. */
PCC_API enum pcc_status pcc_write(struct pcc *p, const char *path);

#ifdef __cplusplus
}
#endif
#endif
