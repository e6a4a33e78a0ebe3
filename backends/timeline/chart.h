/* A chart of a plan at work, which the writers of this folder draw: lanes with bars, and curves of memory.
 *
 * Each execution model makes its own chart from the run of a plan (exec_shows.chart); the writers know nothing of plans
 * and runs. */
#ifndef PCC_BACKENDS_TIMELINE_CHART_H
#define PCC_BACKENDS_TIMELINE_CHART_H

#include "backends/backends.h"
#include "backends/timeline/memory_curve.h"

/* A lane of the chart: a device, or a direction of its link. */
struct chart_lane {
    const char *name;  /* "acc0 in" */
    const char *class; /* class of the lane's device */
    uint32_t dev;
    uint32_t rows; /* rows of bars, >= 1; bars of different rows may overlap in time */
    bool lettered; /* the lane's rows have the letters a, b, ... */
    /* the meaning of the letters: "a part 0, b part 3"; NULL: nothing to say */
    const char *letters;
    const char *busy; /* text at the right of the lane: "3.2 ms, 80 %" */
    bool busiest;     /* no lane is busier than this one: its text `busy` is bold */
    bool minor;       /* only transfers run on it: the lane is lower */
};

/* A bar of the chart: an item of the run (a task for one sample) while it runs on a lane. */
struct chart_bar {
    int64_t at, end; /* ps: start and end of the bar */
    uint32_t lane;
    uint32_t row;  /* row of the lane, from 0 */
    uint32_t item; /* number for chart.describe() */
    uint32_t flow; /* in a trace, arrows connect the bars of equal flow, in order; 0: no arrows */
    uint8_t hue;   /* index in chart.colour */
    bool critical; /* on the critical chain, the items that set the end of the run */
};

/* A fact about an item: a key with a text or, if text is NULL, with a number. */
struct chart_fact {
    const char *key, *text;
    int64_t number;
};
enum { CHART_FACTS = 5 };

/* The texts and figures of an item. */
struct chart_detail {
    const char *name;     /* name in a trace: "forward 3" */
    const char *category; /* category in a trace: "forward" */
    const char *full;     /* tooltip in a Gantt chart: "sample 3, part 0, forward" */
    const char *brief;    /* text on the bar if there is room for it */
    const char *least;    /* text on the bar if there is no room for `brief`; NULL: no text */
    int64_t in, out;      /* ps of transfers at the beginning and the end of the item */
    /* bytes that the transfers of `in` and `out` move; 0: not known */
    int64_t in_bytes, out_bytes;
    struct chart_fact fact[CHART_FACTS]; /* [nfact] shown in a trace */
    uint32_t nfact;
};

/* A named stretch of time, drawn as a bracket above the lanes. */
struct chart_span {
    int64_t at, end; /* ps */
    const char *text;
};

/* The memory of a device over time. */
struct chart_curve {
    const char *name; /* "acc0 memory" */
    const char *note; /* text at its right: "peak 3.2 GiB of 40 GiB" */
    uint32_t dev;
    int64_t most, limit; /* bytes: the peak, and what the device has (-1: no limit) */
    struct memory_curve of;
};

/* An entry of the legend: a colour ("#7fb3e6") and what it means. */
struct chart_key {
    const char *colour, *text;
};

/* A chart: all that the writers of this folder need to draw it. */
struct chart {
    const char *title, *subtitle;
    const char *model;         /* name of the model */
    const char *busy;          /* heading of the texts chart_lane.busy */
    const char *letters;       /* entry of the legend about lettered rows; NULL: there are none */
    int64_t end;               /* ps: end of the time axis, which begins at 0 */
    struct chart_lane *lane;   /* [nlane] from top to bottom, lanes of one device together */
    struct chart_bar *bar;     /* [nbar] in order of start, then end */
    struct chart_key *key;     /* [nkey] the legend */
    struct chart_span *span;   /* [nspan] */
    struct chart_curve *curve; /* [ncurve] by device, ascending */
    const char *const *colour; /* [hue] such as "#7fb3e6" */
    /* the critical chain is drawn, and bars that are joined in the drawing have the hue of the longest one */
    bool dense;
    uint32_t nlane, nkey, nspan, ncurve;
    uint32_t nflow; /* flows are 1 .. nflow */
    size_t nbar;
    const void *of; /* data of the execution model, for describe() */
    /* Returns the details of an item (chart_bar.item), in a. */
    struct chart_detail (*describe)(const struct chart *c, uint32_t item, struct arena *a);
};

/* Options of the writers that show a chart. */
struct chart_options {
    int64_t samples; /* number of samples (in training: micro-batches) shown; 0: by default */
    bool curves;     /* show memory over time */
};
extern const struct writer_opt chart_samples, chart_curves; /* --replay, --curves */

/* Makes the chart of a result with a verdict, as its execution model draws it (exec_shows.chart).  Returns 0; -1 and an
 * error: there would be more than `most` bars, times are too large, or the plan has copies of a stage.  Lives in a;
 * points into r.  O(n log n) for n bars. */
int chart_make(struct chart *c, const struct result *r, const struct chart_options *o,
               uint32_t most, struct arena *a);

/* Functions for execution models that make a chart. */
/* Sorts the bars by start, then end, then item, then lane. */
void chart_sort_bars(struct chart *c);
/* Says in the tooltip and the facts of an item that it is on the critical chain. */
void mark_critical(struct chart_detail *d, struct arena *a);
/* Returns `time` (ps) in percent of t->end; 0 if that is 0. */
double share_of_end(const struct timeline *t, int64_t time);
/* Returns the class of a device. */
const struct device_class *class_of(const struct result *r, uint32_t dev);
/* Returns the name, shortened to at most 28 bytes ("..." at its end, UTF-8 characters stay whole); in a if
 * shortened. */
const char *shorten_name(const char *s, struct arena *a);

#endif
