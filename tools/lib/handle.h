/* What is behind a handle of pcc.h, for its own sources and for the program, which does the same in smaller steps.
 *
 * The steps, in this order: settings_read, open_input, settings_devices, run_passes, judge_result, then writing and
 * showing as often as wanted.  Each returns a status, with an error in p->diag unless it is PCC_OK. */
#ifndef PCC_TOOLS_LIB_HANDLE_H
#define PCC_TOOLS_LIB_HANDLE_H

#include "backends/backends.h"
#include "ir/exec/evaluate.h"
#include "passes/functions/close_plan.h"
#include "passes/pipeline.h"
#include "tools/lib/pcc.h"

/* A setting as it was given. */
struct given {
    const char *name, *value;
};

/* A model: a file, or bytes with a name. */
struct input {
    const char *name;
    const void *bytes; /* NULL: the file of that name */
    size_t n;
};

/* The plan after the passes: its evaluation, results for writers, and the public view. */
struct plan_figures {
    bool done;
    struct evaluation evaluation;
    struct closed_plan closed;
    struct result planned; /* with calls open, as the planner saw it */
    struct result r;       /* as it is written; r.verdict is NULL without a plan that holds */
    struct pcc_verdict view;
};

enum { ERROR_BYTES = 4096 };

struct pcc {
    struct arena *mem; /* settings; as long as the handle; all other arenas belong to it */
    bool lost;         /* memory ran out in a call: what is in the handle must not be looked at */
    struct diag diag;
    struct pcc_listener user;
    struct listener listener; /* what passes tell: stop and user */
    bool spoke;               /* the call has said an error already */
    char error[ERROR_BYTES];  /* the first one of the last call that failed */
    volatile sig_atomic_t stop;
    struct given *given; /* in the order in which they were */
    uint32_t ngiven, capgiven;
    /* of the model that is open; x.scene.m is NULL without one */
    const char *name;
    bool nowhere; /* it came in memory */
    struct input
        standard_input; /* bytes of the input that the program has read; bytes NULL: none yet */
    /* devices that came with it, and how they run a plan; NULL: none */
    struct cluster *own;
    struct exec_model own_model;
    bool planned;
    struct settings settings; /* what `given` means: x.settings */
    struct ctx x;
    struct plan_figures judged;
};

/* The value that was given last; NULL: none. */
const char *handle_given(const struct pcc *p, const char *name);
/* The execution model that --objective names; if it names none, that of the time per sample. */
const struct exec_kind *given_kind(const struct pcc *p);
/* The i-th value of a setting that repeats; NULL: no more. */
const char *given_nth(const struct pcc *p, const char *name, uint32_t i);

/* Reads the model in place of the one that is there. */
enum pcc_status open_input(struct pcc *p, const struct input *in);
/* Reads a model into a module as module_new(of) makes it, with what its file says of devices (else s->cluster is NULL),
 * of how they run a plan, and of a plan, without looking at p->x; 0, or -1, *s empty and an error in d. */
int read_input(const struct pcc *p, const struct input *in, struct scene *s, struct plan **plan,
               struct arena *of, struct diag *d);

/* The default passes. */
const char *default_pipeline(const struct pcc *p);
enum pcc_status run_passes(struct pcc *p, const struct pipeline *pipeline,
                           const struct run_options *o);
/* The plan as pcc.h shows it; NULL: there is none. */
const struct pcc_verdict *view_of(struct pcc *p);
/* A text by its name; NULL and an error.  Lives in p->x.use.mem. */
const char *view_text(struct pcc *p, const char *what);
/* The plan as the judge sees it and as it will be written, into p->judged; before any pass has run, the model alone. */
enum pcc_status judge_result(struct pcc *p);
/* -Werror: were there warnings that fail the run?  PCC_BAD_INPUT and an error, else PCC_OK. */
enum pcc_status check_warned(struct pcc *p);

#endif
