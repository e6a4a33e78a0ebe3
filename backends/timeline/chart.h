/* A chart of a plan at work: what the writers of this folder show, whatever the plan is and however it runs.
 *
 * Lanes, on them bars: what is done when; below, what is in memory then.  Each execution model turns its timeline and
 * the names of what ran into one. */
#ifndef PCC_BACKENDS_TIMELINE_CHART_H
#define PCC_BACKENDS_TIMELINE_CHART_H

#include "backends/backends.h"
#include "backends/timeline/memory_curve.h"

struct chart_lane {
    const char *name;  /* "acc0 in" */
    const char *class; /* of its device */
    uint32_t dev;
    uint32_t rows;       /* >= 1: bars of different rows may overlap */
    bool lettered;       /* its rows are a, b, ... */
    const char *letters; /* "a part 0, b part 3"; NULL: nothing to say */
    const char *busy;    /* beside it: "3.2 ms, 80 %" */
    bool busiest;
    bool minor; /* nothing computes there */
};

/* An item at work on a lane. */
struct chart_bar {
    int64_t at, end; /* ps */
    uint32_t lane, row;
    uint32_t item; /* of the timeline */
    uint32_t flow; /* arrows lead from bar to bar of equal number; 0: none */
    uint8_t hue;   /* of the chart's hues */
    bool critical; /* on the chain that the end waits for */
};

/* A key and a number or, if it is not NULL, a text. */
struct chart_fact {
    const char *key, *text;
    int64_t number;
};
enum { CHART_FACTS = 5 };

/* What is told of an item. */
struct chart_detail {
    const char *name;            /* "forward 3" */
    const char *category;        /* "forward" */
    const char *full;            /* "sample 3, part 0, forward" */
    const char *brief;           /* shown on its bar if there is room, else ... */
    const char *least;           /* ... this; NULL: nothing */
    int64_t in, out;             /* ps that are transfers, at its beginning and its end */
    int64_t in_bytes, out_bytes; /* that these bring and take; 0: not known */
    struct chart_fact fact[CHART_FACTS];
    uint32_t nfact;
};

/* A stretch of time with a name. */
struct chart_span {
    int64_t at, end; /* ps */
    const char *text;
};

/* The memory of a device over time. */
struct chart_curve {
    const char *name; /* "acc0 memory" */
    const char *note; /* beside it: "peak 3.2 GiB of 40 GiB" */
    uint32_t dev;
    int64_t most, limit; /* bytes; limit -1: none */
    struct memory_curve of;
};

struct chart_key {
    const char *colour, *text;
};

struct chart {
    const char *title, *subtitle;
    const char *model;   /* its name */
    const char *busy;    /* over what stands beside the lanes */
    const char *letters; /* what lettered rows are; NULL: there are none */
    int64_t end;         /* ps */
    struct chart_lane *lane;
    struct chart_bar *bar;     /* in the order of start, then end */
    struct chart_key *key;     /* the legend */
    struct chart_span *span;   /* over the lanes */
    struct chart_curve *curve; /* of devices, ascending */
    const char *const *colour; /* [hue] */
    bool dense; /* many bars, a chain: several that are drawn as one keep the hue of the longest */
    uint32_t nlane, nkey, nspan, ncurve;
    uint32_t nflow; /* flows are 1 .. nflow */
    size_t nbar;
    const void *of; /* for describe */
    struct chart_detail (*describe)(const struct chart *c, uint32_t item, struct arena *a);
};

/* Options of the writers that show a chart. */
struct chart_options {
    int64_t samples; /* 0: a few */
    bool curves;
};
extern const struct writer_opt chart_samples, chart_curves;

/* The chart of a result with a verdict, as its execution model draws it (exec_shows.chart).  -1 and an error where
 * samples make more than `most` bars, where times do not fit, and for a plan with copies of a stage.  Lives in a and as
 * long as r.  O(n log n) for n bars. */
int chart_make(struct chart *c, const struct result *r, const struct chart_options *o,
               uint32_t most, struct arena *a);

/* Bars in the order of start, then end, then item, then lane. */
void chart_sort_bars(struct chart *c);
/* Says of an item that it is on the critical chain. */
void mark_critical(struct chart_detail *d, struct arena *a);
/* Percent of all of a timeline. */
double share_of_end(const struct timeline *t, int64_t time);
/* The class of a device. */
const struct device_class *class_of(const struct result *r, uint32_t dev);
/* A name of bounded length, characters left whole. */
const char *shorten_name(const char *s, struct arena *a);

#endif
