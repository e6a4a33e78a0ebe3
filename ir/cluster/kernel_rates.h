/* Tells what kernels reach of a device's peak and bandwidth: the facts by name, and figures for the classes of
 * presets.c. */
#ifndef PCC_IR_CLUSTER_KERNEL_RATES_H
#define PCC_IR_CLUSTER_KERNEL_RATES_H

#include "ir/cluster/cluster.h"

/* How a fact is written in cluster files and in the textual IR. */
struct kernel_key {
    const char *name; /* "units" */
    /* reads the value: a number, a share (in millionths) or a time (in ps); returns false if the text is none */
    bool (*parse)(const char *text, int64_t *value);
    int64_t least, most; /* the range of what may be written */
    int64_t unsaid;      /* the value of this fact if a file gives "units" but not the fact */
    const char *like;    /* an example, for messages */
};
extern const struct kernel_key kernel_keys[KERNEL_FACTS];

/* Generations of NVIDIA's GPUs.  NO_GENERATION: any other device. */
enum gpu_generation { NO_GENERATION, VOLTA, TURING, AMPERE, ADA, HOPPER, BLACKWELL };

/* Where the kernel rates of a class come from.  UNKNOWN: there are none, the class has only peaks.  ESTIMATED:
 * measured on similar classes.  MEASURED: measured on the class. */
enum kernel_source { KERNELS_UNKNOWN, KERNELS_ESTIMATED, KERNELS_MEASURED };

/* Sets kernel[KERNEL_FACTS] to the rates for the class with this name, generation and number of multiprocessors, and
 * returns where they come from: measured rates of the class; else for each fact the median over measured classes of
 * the generation, or, if there are none, over all measured classes.  Without a generation all facts are 0. */
enum kernel_source kernel_rates(const char *name, enum gpu_generation g, int64_t units,
                                int64_t *kernel);
/* Prints the value of fact k into buf[UNIT_TEXT], in the form that kernel_keys[k].parse reads, and returns buf. */
char *kernel_print(char *buf, enum kernel_fact k, int64_t value);
/* If kernel[] has units, gives the facts that are 0 their values for files that do not set them (kernel_key.unsaid).
 * Returns NULL, or what is wrong with the facts, as the end of a message, in a. */
const char *kernel_complete(int64_t *kernel, struct arena *a);

#endif
