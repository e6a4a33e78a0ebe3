/* A chart of a plan at work: what the writers of this folder show, whatever the plan is and however it runs.
 *
 * Lanes, and on them bars: what is done when.  A maker turns a timeline and the names of what ran into one:
 * chart_of_rounds. */
#ifndef PCC_BACKENDS_TIMELINE_CHART_H
#define PCC_BACKENDS_TIMELINE_CHART_H

#include "backends/backends.h"

struct chart_lane {
    const char *name;  /* "acc0 in" */
    const char *class; /* of its device */
    uint32_t dev;
    uint32_t rows;    /* >= 1: bars of different rows may overlap */
    bool lettered;    /* its rows are a, b, ... */
    const char *busy; /* beside it: "3.2 ms, 80 %" */
    bool busiest;
};

/* An item at work on a lane. */
struct chart_bar {
    int64_t at, end; /* ps */
    uint32_t lane, row;
    uint32_t item; /* of the timeline */
    uint32_t flow; /* arrows lead from bar to bar of equal number; 0: none */
    uint8_t hue;   /* of the chart's hues */
};

/* A key and a number or, if it is not NULL, a text. */
struct chart_fact {
    const char *key, *text;
    int64_t number;
};
enum { CHART_FACTS = 4 };

/* What is told of an item. */
struct chart_detail {
    const char *name;     /* "forward 3" */
    const char *category; /* "forward" */
    const char *full;     /* "sample 3, part 0, forward" */
    const char *brief;    /* shown on its bar if there is room */
    int64_t in, out;      /* ps that are transfers, at its beginning and its end */
    struct chart_fact fact[CHART_FACTS];
    uint32_t nfact;
};

/* A stretch of time with a name. */
struct chart_span {
    int64_t at, end; /* ps */
    const char *text;
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
    struct chart_bar *bar;              /* in the order of start, then end */
    struct chart_key *key;              /* the legend */
    struct chart_span *span;            /* over the lanes */
    const char *const *colour;          /* [hue] */
    uint32_t nlane, nkey, nspan, nflow; /* flows are 1 .. nflow */
    size_t nbar;
    const void *of; /* for describe */
    struct chart_detail (*describe)(const struct chart *c, uint32_t item, struct arena *a);
};

/* Options of the writers that show a chart. */
struct chart_options {
    int64_t samples; /* 0: a few */
};
extern const struct writer_opt *const chart_options[];

/* The chart of a result with a verdict.  -1 and an error where it has more than `most` bars, where times do not fit,
 * and for a plan with copies of a stage.  Lives in a and as long as r.  O(n log n) for n bars. */
int chart_make(struct chart *c, const struct result *r, const struct chart_options *o,
               uint32_t most, struct arena *a);
/* Samples going through the parts of the plan in rounds. */
int chart_of_rounds(struct chart *c, const struct result *r, int64_t samples, uint32_t most,
                    struct arena *a);

/* The class of a device. */
const struct device_class *class_of(const struct result *r, uint32_t dev);
/* A name of bounded length, characters left whole. */
const char *shorten_name(const char *s, struct arena *a);

#endif
