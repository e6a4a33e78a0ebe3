/* The processor that pcc may use: cores, memory, speed. */
#ifndef PCC_IR_CLUSTER_DETECT_PROCESSOR_H
#define PCC_IR_CLUSTER_DETECT_PROCESSOR_H

#include "ir/cluster/cluster.h"
#include "ir/cluster/detect/speed.h"

/* What this process may use of the machine. */
struct processor {
    /* number of cores that the process may run on; two threads of one core count once */
    uint32_t cores;
    /* thousandths of a core that control groups allow the process, above 0; -1: no limit */
    int64_t quota;
    /* free bytes of memory, at most the limit of the control groups of the process; -1: not told */
    int64_t memory;
    int64_t cache; /* bytes of the largest cache; 0: not told */
};

/* Finds cores, limits, memory and cache in root/proc and root/sys (root: see machine_file.h).  O(cores). */
struct processor processor_find(const char *root, struct arena *a);
/* Measures the processor and makes *c its class, with a note on where the figures come from, in a; 0.2 s. */
void processor_class(const struct processor *p, struct device_class *c, struct arena *a);
/* Makes *c the class of the processor from *s, measured by `threads` threads (speed.h), with a note on the source, in
 * a.  If the process may use less or more time than these threads had, the figures are scaled in proportion (the
 * bandwidth only to less); a figure that was not measured is the preset "cpu"'s per core. */
void processor_rate(const struct processor *p, uint32_t threads, const struct speed *s,
                    struct device_class *c, struct arena *a);

/* Returns n rounded to its two leading digits: 1234567 becomes 1200000. */
int64_t two_digits(int64_t n);

#endif
