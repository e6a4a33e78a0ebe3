/* The C library of pcc, which splits neural networks over several devices.  This header declares all of its calls.
 *
 *     struct pcc *p = pcc_new();
 *     if (pcc_set(p, "devices", "2xa100:40GiB,1xcpu") || pcc_open(p, "model.onnx") || pcc_plan(p, NULL) ||
 *         pcc_write(p, "split"))
 *         fprintf(stderr, "%s\n", pcc_error(p));
 *     else
 *         printf("%s", pcc_text(p, "table"));
 *     pcc_free(p);
 *
 * A handle holds settings, a model, its devices and a plan.  Handles share nothing: several threads may each use a
 * handle at the same time, but only one thread at a time may use the same handle.  No call prints, ends the program,
 * or changes the program's locale, signal handlers or current folder, and results do not depend on the locale.
 * Solvers and partitioners run in child processes; the program `dot` lays out pictures.
 *
 * A string that a call needs must not be NULL; a call that gets none fails with PCC_BAD_USE.
 *
 * Times are in picoseconds (ps), sizes in bytes.  Returned strings are UTF-8 if all names in the model are.
 *
 * Compatibility: before version 1.0, version 0.(x+1) may change anything that 0.x had, and its shared library has
 * another file name; version 0.x.(y+1) neither adds nor removes anything.  From 1.0 on, only a new first number
 * removes calls, settings or fields; a new second number may add some, at the end of structs and enums.  The texts
 * of messages may change in any version. */
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

/* Results of calls.  The first five are also the exit codes of the program pcc. */
enum pcc_status {
    PCC_OK = 0,
    /* a model or a file that a setting names is faulty or cannot be read; an output cannot be written; or a warning
     * occurred that the setting "warnings" turns into a failure */
    PCC_BAD_INPUT = 1,
    PCC_BAD_USE = 2,    /* wrong setting, unknown pass or text, or calls in a wrong order */
    PCC_NO_PLAN = 3,    /* no plan fits the memory of the devices */
    PCC_UNVERIFIED = 4, /* pcc found a mistake in its own result: a fault of pcc */
    PCC_NO_MEMORY = 5 /* memory ran out; the handle can only be passed to pcc_error and pcc_free */
};

/* A handle. */
struct pcc;

/* Returns the version of the library: "0.1.0". */
PCC_API const char *pcc_version(void);

/* Returns a new handle without settings and without a model; NULL if memory runs out. */
PCC_API struct pcc *pcc_new(void);
/* Frees the handle with everything that calls for it have returned.  p == NULL: does nothing. */
PCC_API void pcc_free(struct pcc *p);

/* Kinds of messages. */
enum pcc_level { PCC_NOTE, PCC_WARNING, PCC_ERROR };

/* How far a running call is. */
struct pcc_progress {
    /* name of the running pass, as in a pipeline; NULL: the call reads or writes */
    const char *pass;
    /* such as "searching"; NULL: the pass, the reading or the writing just begins or has ended */
    const char *phase;
    uint32_t done; /* thousandths of the phase that are done; 0: just begun, or unknown */
    int64_t best;  /* value of the best plan so far (pcc_verdict.value), ps; 0: there is none yet */
    int64_t bound; /* lower bound on the values of the plans that are searched, ps; 0: unknown */
};

/* Functions of the user that the library calls; each may be NULL.  They must not call the library with the same
 * handle, except pcc_stop. */
struct pcc_listener {
    void *user; /* passed to both functions as their first argument */
    /* Called with each message.  name: of a warning, as in the option -Wno-NAME of the program; NULL for notes and
     * errors.  line: the text, one line without a newline. */
    void (*message)(void *user, enum pcc_level level, const char *name, const char *line);
    /* Called many times a second, in the thread of the running call, while it reads a model, runs passes or writes.
     * Returns 0: go on.  Another value ends the work: reading fails, a planner finishes with the best plan so far;
     * writing goes on all the same. */
    int (*progress)(void *user, const struct pcc_progress *at);
};
/* From now on calls *l's functions for p; copies *l.  l == NULL: no functions are called any more. */
PCC_API void pcc_listen(struct pcc *p, const struct pcc_listener *l);
/* Returns the first error message of the last call that failed, one line without a newline; "" if no call has failed.
 * Never returns NULL. */
PCC_API const char *pcc_error(const struct pcc *p);
/* Ends the work of a call that is running for p: pcc_open fails; in pcc_plan the planner finishes with the best plan
 * so far; pcc_write and pcc_recompose fail and leave nothing behind.  May be called by another thread or by a signal
 * handler. */
PCC_API void pcc_stop(struct pcc *p);

/* Gives a setting a value, for all later calls.  name: the name of a long option of the program (pcc --help=all), such
 * as "devices", "link", "dim", "costs", "pin", "time-limit" or "weights".  value: as on the command line; "" for an
 * option without a value; NULL: forgets the values given so far.  All values of a setting count if the help text of its
 * option says "(repeats)", else the last one.  Checks only the name (of "warnings" also the value): a wrong value lets
 * the later call fail that needs the setting. */
PCC_API enum pcc_status pcc_set(struct pcc *p, const char *name, const char *value);

/* Reads a model from an ONNX file, a workload (.json) or textual IR (.pir); frees the model that was open before,
 * with its plan and texts.  Weights are not read: their files stay open (RLIMIT_NOFILE limits their number) and must
 * not be changed. */
PCC_API enum pcc_status pcc_open(struct pcc *p, const char *path);
/* Does the same with the model in bytes[0 .. n), which are copied.  name: a path that messages show; its ending and
 * the bytes tell the form of the model, and external data is looked for in its folder. */
PCC_API enum pcc_status pcc_open_memory(struct pcc *p, const char *name, const void *bytes,
                                        size_t n);

/* Runs a pipeline of passes (pcc --list-passes) on the model: "fuse,dp-place{max-states=1000000}"; further passes
 * that these need are inserted.  NULL: the program's default for the setting "objective"; for the time per sample it
 * is "open-functions,fuse,auto-place".  Can be called once after each pcc_open. */
PCC_API enum pcc_status pcc_plan(struct pcc *p, const char *pipeline);

/* A device and its work under the plan. */
struct pcc_device {
    const char *name;         /* name of the device: "acc0" */
    const char *device_class; /* name of its class: "a100" */
    /* ps for which the device is busy, per sample or training iteration: compute and transfer together; the settings
     * decide whether the two overlap */
    int64_t load;
    int64_t compute, transfer; /* ps of computing and of transfers, per sample or iteration */
    int64_t memory, used;      /* bytes that the plan may use (-1: no limit), and that it needs */
};

/* A node of the model. */
struct pcc_node {
    const char *name, *op; /* name of the node; name of its operator: "MatMul" */
    /* index in pcc_verdict.device; -1: each part that needs the node, if any, has a copy of it */
    int32_t device;
    int32_t part; /* number of its part of the split; -1: as for device */
};

/* A plan with its figures, computed independently of the planner. */
struct pcc_verdict {
    const char *planner; /* name of the pass that made the plan: "dp-place" */
    /* how good the plan is among the plans of `scope`: "optimal", "feasible", ... */
    const char *status;
    const char *scope; /* set of plans that status and bound are about: "all", "contiguous", ... */
    const char *argument;  /* reason for the status, one line; "": none is given */
    const char *proof;     /* reason why the bound holds, several lines; NULL: none to show */
    const char *objective; /* the time that `value` measures: "time-per-sample", "makespan", ... */
    int64_t value;         /* ps: the time that the plan takes; the smaller, the better */
    int64_t bound;         /* no plan of `scope` has a smaller value, ps; -1: no bound is known */
    int64_t bound_all;     /* no plan at all has a smaller value, ps; -1: no bound is known */
    uint32_t nparts; /* number of parts of the split, numbered in an order in which they can run */
    uint32_t ndevices;
    const struct pcc_device *device; /* [ndevices] */
    uint32_t nnodes;
    /* [nnodes] the nodes of the model's graph, in an order in which they can run */
    const struct pcc_node *node;
};
/* Returns the plan of the open model, valid until the next pcc_open; NULL if there is no plan. */
PCC_API const struct pcc_verdict *pcc_verdict(struct pcc *p);

/* Returns a text, valid until the next pcc_open; NULL: an error.  what: "table" (the plan), "summary" (the model), or
 * a value of the option --emit: "json" (the plan), "csv", "ir", "dot", "gantt", "trace" or "levels" (the result of the
 * pass levels, which must have run), all as the program prints them.  Without a model, too, as JSON: "settings" (all
 * names for pcc_set, with their values and help), "devices" (the classes of devices that the setting "devices"
 * describes; without it all that are known by name). */
PCC_API const char *pcc_text(struct pcc *p, const char *what);
/* Writes an output, complete or not at all.  The ending of the path tells its form, as with the program's option -o:
 * ".svg", ".pdf", ".png", ".dot", ".json", ".csv", ".onnx", ".pir", ".gantt.svg", ".trace.json", ".html",
 * ".explorer.json" or ".levels.csv"; another name is a folder, which gets the split. */
PCC_API enum pcc_status pcc_write(struct pcc *p, const char *path);
/* Puts the parts of a split together to one model again: writes it to `path`, which ends in ".onnx" and lies outside of
 * `folder`, and its weights of 1 KiB and more to path.data, both complete or not at all.  Needs no open model and no
 * plan, and changes neither; of the settings only "allow-links" and "warnings" count. */
PCC_API enum pcc_status pcc_recompose(struct pcc *p, const char *folder, const char *path);

#ifdef __cplusplus
}
#endif
#endif
