/* Asks nvidia-smi for GPUs and their NVLinks, and NVIDIA's management library for facts that nvidia-smi does not
 * tell: cores, width of the memory bus, compute capability (gpu.h).
 *
 * GPUs without a memory of their own, such as Orin's, use the memory of the host; nvidia-smi writes "[N/A]" for
 * theirs.  The memory clock that nvidia-smi tells is half of the data rate of a pin, for all kinds of memory.  The
 * library is loaded in a child process, so that pcc goes on if it hangs or crashes; it lists the GPUs in the order of
 * nvidia-smi. */
#include "ir/cluster/detect/gpu.h"

#include "ir/base/child.h"
#include "ir/base/units.h"
#include "ir/cluster/detect/machine_file.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* FIELDS: fields of a line of nvidia-smi; MOST_SAID: bytes that a child may write about all GPUs */
enum { FIELDS = 8, MIB = 1 << 20, MOST_SAID = 1 << 16 };

/* The columns of nvidia-smi's answer, in the order in which they are asked for. */
enum { NAME, FREE, TOTAL, CORE_CLOCK, MEMORY_CLOCK, BUS, LINK, LANES };

/* Splits a line at its commas into field[FIELDS]; missing fields become "".  Changes the line. */
static void split_fields(char *line, char *field[FIELDS])
{
    char *end = line + strlen(line);
    for (int i = 0; i < FIELDS; i++) {
        field[i] = line ? line + strspn(line, " ") : end;
        line = line ? strchr(line, ',') : NULL;
        if (line)
            *line++ = 0;
        field[i][strcspn(field[i], "\r\n")] = 0;
    }
}

/* Returns the number in a field; 0: the field is no number, such as "[N/A]". */
static int64_t field_number(const char *field)
{
    int64_t n = machine_parse(field);
    return n > 0 ? n : 0;
}

/* Makes *g the GPU that a line of the program's output describes; a note says if the line lacks the free memory.  old:
 * the GPUs that /sys tells of. */
static void take_line(const struct gpu_search *s, struct gpu *g, char *const field[FIELDS],
                      const struct gpus *old)
{
    int64_t free = field_number(field[FREE]), total = field_number(field[TOTAL]),
            mib = free ? free : total;
    if (!free)
        diag_note(s->d, "-d detect: nvidia-smi does not tell the free memory of %s: %s is taken",
                  field[NAME], total ? "all" : "that of the host");
    g->maker = NVIDIA;
    g->told_by = "nvidia-smi";
    g->name = field[NAME];
    g->bus = gpu_bus(field[BUS], s->a);
    g->memory = mib ? sat_mul(mib, MIB) : larger(s->host, 0);
    g->mhz = field_number(field[CORE_CLOCK]);
    /* bits per second of a pin, two in each cycle; take_chips() multiplies by the pins */
    g->memory_rate = sat_mul(field_number(field[MEMORY_CLOCK]), 2000000);
    g->link_rate = gpu_pcie_rate(field_number(field[LINK]), field_number(field[LANES]));
    if (!g->link_rate && gpu_at(old, g->bus))
        g->link_rate = gpu_at(old, g->bus)->link_rate;
}

/* ---- the library --------------------------------------------------------------------------------- */

/* The functions of NVIDIA's management library (NVML) that pcc calls; each returns 0 for success. */
struct library {
    int (*init)(void), (*count)(unsigned *), (*handle)(unsigned, void **);
    int (*cores)(void *, unsigned *), (*bus)(void *, unsigned *),
        (*capability)(void *, int *, int *);
};

/* Writes the address of the library's function `name` to the pointer at `to`.  Returns whether the library has it. */
static bool find_function(void *library, const char *name, void *to)
{
    void *at = dlsym(library, name);
    memcpy(to, &at, sizeof at);
    return at != NULL;
}

/* Loads the library at `path` and writes to out a line "CORES BUS_BITS GENERATION" for each GPU, with 0 for figures
 * that the library does not tell.  Runs in a child process.  Returns 0, or -1 if the library cannot be used. */
static int ask_library(void *path, FILE *out)
{
    struct library l = {0};
    void *at = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    unsigned n = 0;
    if (!at || !find_function(at, "nvmlInit_v2", &l.init) ||
        !find_function(at, "nvmlDeviceGetCount_v2", &l.count) ||
        !find_function(at, "nvmlDeviceGetHandleByIndex_v2", &l.handle) || l.init() || l.count(&n))
        return -1;
    find_function(at, "nvmlDeviceGetNumGpuCores", &l.cores);
    find_function(at, "nvmlDeviceGetMemoryBusWidth", &l.bus);
    find_function(at, "nvmlDeviceGetCudaComputeCapability", &l.capability);
    for (unsigned i = 0; i < n && i < GPU_MOST; i++) {
        unsigned cores = 0, bits = 0;
        int major = 0, minor = 0;
        void *gpu = NULL;
        if (l.handle(i, &gpu))
            return -1;
        if (!l.cores || l.cores(gpu, &cores))
            cores = 0;
        if (!l.bus || l.bus(gpu, &bits))
            bits = 0;
        if (!l.capability || l.capability(gpu, &major, &minor))
            major = minor = 0;
        fprintf(out, "%u %u %d\n", cores, bits, major * 10 + minor);
    }
    return 0;
}

/* If the list has a GPU without a preset, asks the library in a child process and sets cores, generation and memory
 * rate of all GPUs; a fact that the library does not tell becomes 0. */
static void take_chips(const struct gpu_search *s, struct gpus *g)
{
    struct device_class k;
    struct clock clock = {0};
    uint32_t known = 0;
    while (known < g->n && gpu_preset(NVIDIA, g->gpu[known].name, &k))
        known++;
    if (known == g->n)
        return;
    clock_limit(&clock, s->limit);
    char *path = arena_strdup(s->a, s->nvml, strlen(s->nvml));
    struct child_answer said = child_run(ask_library, path, &clock, MOST_SAID, s->a);
    char *text = said.end == CHILD_DONE ? arena_strdup(s->a, said.bytes, said.n) : NULL;
    char *save = NULL, *line = text ? strtok_r(text, "\n", &save) : NULL;
    for (uint32_t i = 0; i < g->n; i++) {
        unsigned cores = 0, bits = 0;
        int generation = 0;
        if (line && sscanf(line, "%u %u %d", &cores, &bits, &generation) == 3)
            line = strtok_r(NULL, "\n", &save);
        g->gpu[i].lanes = cores;
        g->gpu[i].generation = generation;
        /* memory_rate is still the bits per second of one pin (take_line()); the bus has `bits` pins */
        g->gpu[i].memory_rate = sat_mul(g->gpu[i].memory_rate, bits / 8);
    }
}

/* ---- NVLinks --------------------------------------------------------------------------------------- */

/* Returns the start of the next word behind *at and moves *at to the word's end, where no NUL is written; escapes for
 * terminals count as blanks.  At the end of the line the word is empty. */
static char *next_word(char **at)
{
    char *s = *at;
    while (*s == ' ' || *s == '\t' || *s == '\033') {
        if (*s == '\033') /* an escape for colours ends in an 'm' */
            s += strcspn(s, "m\n");
        if (*s && *s != '\n')
            s++;
    }
    char *end = s + strcspn(s, " \t\r\n\033");
    *at = end;
    return s;
}

/* Returns k if the word that ends at `end` is "GPUk" with k < n, else -1. */
static int64_t gpu_number(const char *word, const char *end, uint32_t n)
{
    int64_t k = end > word + 3 && !strncmp(word, "GPU", 3) ? machine_parse(word + 3) : -1;
    return k < n ? k : -1;
}

/* Reads the matrix of `nvidia-smi topo -m`: a line of column heads with GPU0, GPU1, ..., then a line for each GPU with
 * its own name first.  "NV12" is 12 NVLinks. */
static void read_matrix(char *text, struct gpus *g, struct arena *a)
{
    int64_t column[2 * GPU_MOST]; /* GPU of each column; -1: another device */
    uint32_t ncolumn = 0;
    g->nvlinks = arena_array(a, (size_t)g->n * g->n, 1);
    for (char *line = text, *next; line; line = next) {
        next = strchr(line, '\n');
        if (next)
            *next++ = 0;
        char *at = line, *word = next_word(&at); /* the word ends at `at` */
        bool heads = !ncolumn && at > word; /* the first line that is not empty has the heads */
        int64_t row = heads ? -1 : gpu_number(word, at, g->n);
        for (uint32_t i = 0; heads && at > word && i < 2 * GPU_MOST; i++, word = next_word(&at))
            column[ncolumn++] = gpu_number(word, at, g->n);
        for (uint32_t i = 0; row >= 0 && i < ncolumn; i++) {
            word = next_word(&at);
            int64_t links = at > word + 2 && !strncmp(word, "NV", 2) ? machine_parse(word + 2) : 0;
            if (column[i] >= 0 && links > 0 && links < 256)
                g->nvlinks[row * g->n + column[i]] = (uint8_t)links;
        }
    }
}

/* Returns the bytes per second of the first active NVLink in the output of `nvidia-smi nvlink -s`, such as "Link 0:
 * 26.562 GB/s"; 0: none is active. */
static int64_t read_link_rate(const char *text, struct arena *a)
{
    int64_t rate = 0;
    for (const char *s = text; !rate && (s = strstr(s, "Link "));) {
        s += strcspn(s, ":\n");
        s += strspn(s, ": ");
        if (!rate_parse(arena_fmt(a, "%.*sGB/s", (int)strspn(s, "0123456789."), s), &rate))
            rate = 0;
    }
    return rate;
}

/* Asks nvidia-smi for the NVLinks between the GPUs and sets g->nvlinks and g->nvlink_rate. */
static void ask_links(const struct gpu_search *s, struct gpus *g)
{
    char *text = gpu_tool(s, (const char *[]){"nvidia-smi", "topo", "-m", NULL});
    bool some = false;
    if (!text)
        return;
    read_matrix(text, g, s->a);
    for (size_t i = 0; i < (size_t)g->n * g->n; i++)
        some = some || g->nvlinks[i];
    char *rate = some ? gpu_tool(s, (const char *[]){"nvidia-smi", "nvlink", "-s", NULL}) : NULL;
    g->nvlink_rate = rate ? read_link_rate(rate, s->a) : 0;
    if (!g->nvlink_rate)
        g->nvlink_rate = INT64_C(25000000000); /* the rate of NVLink 2 to 4 */
}

void gpu_ask_nvidia(const struct gpu_search *s, struct gpus *g)
{
    char *text =
        gpu_tool(s, (const char *[]){"nvidia-smi",
                                     "--query-gpu=name,memory.free,memory.total,clocks.max.sm,"
                                     "clocks.max.mem,pci.bus_id,pcie.link.gen.max,"
                                     "pcie.link.width.max",
                                     "--format=csv,noheader,nounits", NULL});
    struct gpus found = {0};
    const char *strange = NULL; /* the first line that is no GPU */
    char *save = NULL, *line = text ? strtok_r(text, "\n", &save) : NULL;
    for (; line; line = strtok_r(NULL, "\n", &save)) {
        char *field[FIELDS];
        const char *whole = arena_strdup(s->a, line, strlen(line));
        split_fields(line, field);
        struct gpu *to = *field[NAME] && *field[FREE] ? gpu_add(&found, s->a) : NULL;
        if (to)
            take_line(s, to, field, g);
        else if (!strange)
            strange = whole;
    }
    if (strange)
        diag_note(s->d, "-d detect: nvidia-smi says what is no GPU%s: %.200s",
                  found.n == GPU_MOST ? ", or one too many" : "", strange);
    if (!found.n)
        return;
    *g = found;
    take_chips(s, g);
    if (g->n > 1)
        ask_links(s, g);
}
