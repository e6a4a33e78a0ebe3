/* Finds the GPUs of the machine, and what the makers' programs and the system tell of each. */
#ifndef PCC_IR_CLUSTER_DETECT_GPU_H
#define PCC_IR_CLUSTER_DETECT_GPU_H

#include "ir/base/diag.h"
#include "ir/cluster/presets.h"

/* What a search for GPUs is told: where to look, with which limits, and where results and notes go. */
struct gpu_search {
    const char *root; /* "" for this machine; in tests a folder in place of / (machine_file.h) */
    /* file name of NVIDIA's management library, which tells the cores of its GPUs */
    const char *nvml;
    int64_t limit;   /* ns that a run of a program gets */
    int64_t host;    /* bytes of the host's memory that are free; -1: not told */
    struct arena *a; /* memory of all results */
    struct diag *d;  /* gets notes on what was not found or not understood */
};

/* What is known of one GPU; 0 or "": not told. */
struct gpu {
    enum gpu_maker maker;
    const char *name;    /* "NVIDIA GeForce RTX 3090" */
    const char *bus;     /* PCI address "0000:01:00.0", in small letters */
    const char *told_by; /* "nvidia-smi", "/sys" */
    int64_t memory;      /* bytes of its memory that are free */
    int64_t lanes;       /* f32 multiply-adds that it starts per cycle */
    int64_t mhz;         /* MHz: clock of these cycles */
    int64_t memory_rate; /* bytes per second of its memory */
    int64_t link_rate;   /* bytes per second to the host */
    /* compute capability of NVIDIA, 86 for 8.6; version of AMD's instructions, 90402 for gfx942 */
    int64_t generation;
};

/* GPUs of one maker, in the order of the numbers that the maker's runtime gives to GPUs. */
struct gpus {
    struct gpu *gpu; /* the n GPUs */
    uint32_t n, cap;
    /* for NVIDIA: [i * n + j] number of NVLinks between GPUs i and j; NULL: not told */
    uint8_t *nvlinks;
    int64_t nvlink_rate; /* bytes per second each way of one NVLink */
};

enum { GPU_MOST = 256 }; /* GPUs of a maker; more are left out */

/* Adds a GPU of which nothing is known, and returns it; NULL: there are GPU_MOST already. */
struct gpu *gpu_add(struct gpus *g, struct arena *a);
/* Finds the GPUs whose driver is loaded, and what /sys and /proc tell of them: g[maker] gets the GPUs of a maker.
 * O(PCI devices). */
void gpu_find_sys(const struct gpu_search *s, struct gpus g[GPU_MAKERS]);
/* Each asks the program of one maker.  If the program answers, replaces *g by what it says, completed by facts that
 * only /sys tells.  Adds a note on what cannot be read. */
void gpu_ask_nvidia(const struct gpu_search *s, struct gpus *g);
void gpu_ask_amd(const struct gpu_search *s, struct gpus *g);
void gpu_ask_intel(const struct gpu_search *s, struct gpus *g);
/* Makes *k the class of a GPU, one device, with a note on where its figures come from, in a: the preset whose name is
 * in the GPU's name, with the GPU's own memory and link, or, without such a preset, estimated figures.  Returns
 * whether they are estimated. */
bool gpu_class(const struct gpu *g, struct device_class *k, struct arena *a);
/* Makes *k the preset of that maker whose name is part of a GPU's name; returns false if there is none. */
bool gpu_preset(enum gpu_maker maker, const char *name, struct device_class *k);

/* Finds all GPUs of the machine and adds them to the empty cluster *c, with notes on GPUs that are estimated or left
 * out. */
void gpu_find(const struct gpu_search *s, struct cluster *c);

/* Runs the program argv[0], found on PATH, with the arguments argv[1], ..., which NULL ends, for at most s->limit.
 * Returns its output, in s->a; NULL: there is no such program; NULL and a note: it hangs, fails or prints too much. */
char *gpu_tool(const struct gpu_search *s, const char *const argv[]);
/* Returns the bytes per second each way of a PCI Express link of that generation and number of lanes; 0: not known. */
int64_t gpu_pcie_rate(int64_t generation, int64_t lanes);
/* Returns the GPU with this address; NULL: there is none, or the address is "". */
struct gpu *gpu_at(const struct gpus *g, const char *bus);
/* Returns a PCI address in the form of struct gpu.bus, in a: "0000:c4:00.0" for "00000000:C4:00.0". */
const char *gpu_bus(const char *text, struct arena *a);

#endif
