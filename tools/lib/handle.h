/* The struct behind a handle of pcc.h, and the steps of a run, which the calls of pcc.h and the program pcc take.
 *
 * Order of the steps: settings_read(), open_input(), settings_devices(), run_passes(), judge_result(); after them
 * any number of outputs (write.h) and texts.  Each step returns PCC_OK; or reports an error to p->diag and returns
 * another status. */
#ifndef PCC_TOOLS_LIB_HANDLE_H
#define PCC_TOOLS_LIB_HANDLE_H

#include "backends/backends.h"
#include "ir/base/signal_flag.h"
#include "ir/exec/evaluate.h"
#include "passes/functions/close_plan.h"
#include "ir/exec/iteration/written_plan.h"
#include "passes/pipeline.h"
#include "tools/lib/pcc.h"

/* A value that the user gave to a setting. */
struct given {
    const char *name, *value;
};

/* A model to be read: a file, or bytes in memory. */
struct input {
    const char *name;  /* path of the file; for bytes a name for messages */
    const void *bytes; /* [n]; NULL: the model is in the file `name` */
    size_t n;
};

/* The plan after the passes, as judge_result() finds it. */
struct plan_figures {
    bool done; /* the other fields are set */
    struct evaluation evaluation;
    struct closed_plan closed; /* the plan with its function calls closed (close_plan.h) */
    struct result planned;     /* the plan as the planner made it: opened function calls are open */
    /* the plan as it is written, with closed calls; r.verdict is NULL if there is no plan or the plan is invalid */
    struct result r;
    /* if stages of the plan recompute: the plan with the nodes that run again, as a folder gets it.  write_one() makes
     * it; until then again.plan is NULL */
    struct written_plan written;
    struct verdict written_verdict; /* figures of the plan, with the nodes of `written` counted */
    struct result again;
    struct pcc_verdict view; /* made by view_of(); view.planner is NULL before */
};

enum { ERROR_BYTES = 4096 };

/* A handle of pcc.h. */
struct pcc {
    struct arena *mem; /* the root of all arenas of the handle; holds the settings */
    bool lost; /* memory ran out in a call: what the call was changing must not be read any more */
    struct diag diag;
    struct pcc_listener user; /* the user's functions, set by pcc_listen() */
    /* hears the progress of passes and tells it to `user`; its stop flag is `stop` */
    struct listener listener;
    bool spoke;              /* the running call has reported an error */
    char error[ERROR_BYTES]; /* the first error message of the last call that failed */
    signal_flag stop;        /* 1: the running work shall end */
    struct given *given; /* [ngiven] values of settings, in the order in which they were given */
    uint32_t ngiven, capgiven;
    /* All further fields but standard_input are of the open model; x.scene.m is NULL if no model is open. */
    const char *name; /* name of the model for messages: its path */
    bool from_memory; /* the model was read from bytes, not from a file */
    /* set by the program: what it has read from standard input; bytes NULL: nothing yet */
    struct input standard_input;
    struct cluster *own; /* devices that the model's file describes; NULL: it describes none */
    /* execution model that the model's file describes; if it describes none, the default one */
    struct exec_model own_model;
    bool planned;             /* passes have run */
    struct settings settings; /* `given` in the form that passes read: x.settings */
    struct ctx x;
    struct plan_figures judged;
};

/* Returns the last value that the user gave to a setting; NULL: none. */
const char *handle_given(const struct pcc *p, const char *name);
/* Returns the execution model of the objective that the setting "objective" names.  Without this setting, or if it
 * names no objective, the objective is the one that the input states, else the time per sample. */
const struct exec_kind *given_kind(const struct pcc *p);
/* Returns value number i = 0, 1, ... that the user gave to a setting; NULL: there are no more. */
const char *given_nth(const struct pcc *p, const char *name, uint32_t i);

/* Reads a model into p->x, in which no model may be open. */
enum pcc_status open_input(struct pcc *p, const struct input *in);
/* Reads a model by the settings of p, without using p->x.  Writes to *s the module, as module_new(of) makes it, and
 * the devices and the execution model that its file describes (s->cluster NULL: no devices); to *plan the plan in
 * the file (NULL: none).  Returns 0; or reports an error to d, leaves *s empty and returns -1. */
int read_input(const struct pcc *p, const struct input *in, struct scene *s, struct plan **plan,
               struct arena *of, struct diag *d);

/* Returns the pipeline that runs if the user names no passes.  Groups that a cluster file has, or that are detected,
 * are known after settings_devices(). */
const char *default_pipeline(const struct pcc *p);
/* Runs a pipeline on the open model.  If no plan fits the memory, also notes what the user might change. */
enum pcc_status run_passes(struct pcc *p, const struct pipeline *pipeline,
                           const struct run_options *o);
/* Returns the plan of p->judged in the form of pcc.h; NULL: there is none. */
const struct pcc_verdict *view_of(struct pcc *p);
/* Returns the text that pcc_text() calls `what`, in p->x.use.mem; NULL after an error. */
const char *view_text(struct pcc *p, const char *what);
/* Has the judge evaluate the plan and prepares it for writing: fills p->judged, once for each plan.  If no pass has
 * run yet, p->judged has only the model. */
enum pcc_status judge_result(struct pcc *p);
/* Returns PCC_BAD_INPUT and reports an error if there were warnings that fail the run (-Werror), else PCC_OK. */
enum pcc_status check_warned(struct pcc *p);

#endif
