/* Finds and measures the processor (processor.h).
 *
 * Cores: the cores of the affinity mask; two processors of it are one core if /sys says that they are threads of one
 * core.  Limits of control groups: version 2 has cpu.max ("150000 100000": 1.5 cores) and memory.max, version 1
 * cpu.cfs_quota_us, cpu.cfs_period_us and memory.limit_in_bytes; the smallest limit of the process's group and of all
 * groups around it counts.  A container sees its own group at the top, and the path in /proc/self/cgroup may not
 * exist below it.
 *
 * Rates: f32 as measured (speed.h), for as many cores as the process may use at once; f64 half of
 * the rate of f32, since vectors hold half as many numbers; i8 four times the rate of f32 where
 * there is an instruction for products of bytes (VNNI, SDOT); f16 twice the rate of f32 on arm64
 * with instructions for f16.  Matrix units such as AMX do not count: ONNX Runtime makes little use
 * of them. */
#include "ir/cluster/detect/processor.h"

#include "ir/base/units.h"
#include "ir/cluster/detect/machine_file.h"
#include "ir/cluster/detect/speed.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#if defined __x86_64__
#include <cpuid.h>
#elif defined __aarch64__
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif

enum {
    CPUS = 8192,             /* the most processors that an affinity mask is read for */
    LEAST_BUFFER = 64 << 20, /* bytes of the buffers that are copied */
    MOST_BUFFER = 512 << 20,
    MIB = 1 << 20,
    SHARE = 8, /* the buffers take at most 1/SHARE of the free memory */
    /* where nothing is measured: f32 operations, and bytes, per second and thousandth of a core, from the preset
     * "cpu" */
    FLOPS_PER_CORE = 78125000,
    BYTES_PER_CORE = 3200000
};

int64_t two_digits(int64_t n)
{
    int64_t unit = 1;
    while (n / unit >= 100)
        unit *= 10;
    return n / unit * unit + (n % unit >= unit - unit / 2 && unit > 1 ? unit : 0);
}

/* Returns the number of cores in the affinity mask; at least 1. */
static uint32_t count_cores(const char *root, struct arena *a)
{
    size_t size = CPU_ALLOC_SIZE(CPUS);
    cpu_set_t *mask = arena_alloc(a, size);
    /* [first thread of a core] the core is counted */
    bool *seen = arena_array(a, CPUS, sizeof *seen);
    uint32_t cores = 0;
    if (sched_getaffinity(0, size, mask))
        return 1;
    for (uint32_t i = 0; i < CPUS; i++) {
        if (!CPU_ISSET_S(i, size, mask))
            continue;
        struct arena_mark mark = arena_mark(a);
        int64_t first = machine_number(
            root, arena_fmt(a, "/sys/devices/system/cpu/cpu%u/topology/thread_siblings_list", i),
            a);
        arena_release(a, mark);
        if (first < 0 || first >= CPUS)
            first = i;
        if (!seen[first])
            cores++;
        seen[first] = true;
    }
    return cores ? cores : 1;
}

/* Returns the path of the process's control group, in a, from the text of /proc/self/cgroup.
 * controller: the controller of version 1 whose group is wanted; NULL: the group of version 2 is
 * wanted.  Returns NULL if the process is in no such group. */
static char *group_path(const char *text, const char *controller, struct arena *a)
{
    for (const char *line = text; line; line = machine_next_line(line)) {
        const char *names = strchr(line, ':');
        const char *path = names ? strchr(names + 1, ':') : NULL;
        if (!path || path > line + strcspn(line, "\n"))
            continue;
        const char *list = arena_fmt(a, ",%.*s,", (int)(path - names - 1), names + 1);
        bool wanted = controller ? strstr(list, arena_fmt(a, ",%s,", controller)) != NULL
                                 : strcmp(list, ",,") == 0;
        if (wanted)
            return arena_strdup(a, path + 1, strcspn(path + 1, "\n"));
    }
    return NULL;
}

/* Returns a limit of the control group at `folder`: thousandths of a core, or bytes; -1: it has none. */
typedef int64_t group_limit(const char *root, const char *folder, struct arena *a);

/* Returns the limit of a control group (version 2), in thousandths of a core; -1: none. */
static int64_t cpu_max(const char *root, const char *folder, struct arena *a)
{
    const char *text = machine_text(root, arena_fmt(a, "%s/cpu.max", folder), a);
    int64_t quota = text ? machine_parse(text) : -1;
    int64_t period = quota > 0 && strchr(text, ' ') ? machine_parse(strchr(text, ' ')) : -1;
    return period > 0 ? mul_div_ceil(quota, 1000, period) : -1;
}

/* Returns the limit of a control group (version 1), in thousandths of a core; -1: none. */
static int64_t cpu_cfs(const char *root, const char *folder, struct arena *a)
{
    int64_t quota = machine_number(root, arena_fmt(a, "%s/cpu.cfs_quota_us", folder), a);
    int64_t period = machine_number(root, arena_fmt(a, "%s/cpu.cfs_period_us", folder), a);
    return quota > 0 && period > 0 ? mul_div_ceil(quota, 1000, period) : -1;
}

/* Returns the memory limit of a control group (version 2), in bytes; -1: none. */
static int64_t memory_max(const char *root, const char *folder, struct arena *a)
{
    return machine_number(root, arena_fmt(a, "%s/memory.max", folder), a);
}

/* Returns the memory limit of a control group (version 1), in bytes; -1: none. */
static int64_t memory_limit(const char *root, const char *folder, struct arena *a)
{
    return machine_number(root, arena_fmt(a, "%s/memory.limit_in_bytes", folder), a);
}

/* Returns the smaller of two limits; -1 means no limit. */
static int64_t tighter(int64_t x, int64_t y)
{
    return x < 0 || (y >= 0 && y < x) ? y : x;
}

/* Returns the least limit of the group at `path` below the mount point, and of all groups around it. */
static int64_t least_limit(const char *root, const char *mount, char *path, group_limit *limit,
                           struct arena *a)
{
    int64_t least = limit(root, mount, a);
    for (char *slash; path && (slash = strrchr(path, '/')) && slash[1]; *slash = 0)
        least = tighter(least, limit(root, arena_fmt(a, "%s%s", mount, path), a));
    return least;
}

/* Finds the limits of the control groups: *quota in thousandths of a core, *memory in bytes; -1: none. */
static void find_limits(const char *root, int64_t *quota, int64_t *memory, struct arena *a)
{
    /* control groups of version 1 have the controller "cpu" in one of these two folders */
    static const char *const cpu[] = {"/sys/fs/cgroup/cpu", "/sys/fs/cgroup/cpu,cpuacct"};
    const char *text = machine_text(root, "/proc/self/cgroup", a);
    text = text ? text : "";
    *quota = least_limit(root, "/sys/fs/cgroup", group_path(text, NULL, a), cpu_max, a);
    *memory = least_limit(root, "/sys/fs/cgroup", group_path(text, NULL, a), memory_max, a);
    for (int i = 0; i < 2; i++)
        *quota = tighter(*quota, least_limit(root, cpu[i], group_path(text, "cpu", a), cpu_cfs, a));
    *memory = tighter(*memory, least_limit(root, "/sys/fs/cgroup/memory",
                                           group_path(text, "memory", a), memory_limit, a));
}

struct processor processor_find(const char *root, struct arena *a)
{
    struct arena *own = arena_new(a);
    struct processor p = {.cores = count_cores(root, own)};
    int64_t limit;
    find_limits(root, &p.quota, &limit, own);
    const char *info = machine_text(root, "/proc/meminfo", own);
    int64_t available = info ? machine_field(info, "MemAvailable") : -1; /* in KiB */
    p.memory = tighter(available < 0 ? -1 : sat_mul(available, 1024), limit);
    for (int i = 0; i < 8; i++) { /* 8: more caches than a core has */
        int64_t size = machine_number(
            root, arena_fmt(own, "/sys/devices/system/cpu/cpu0/cache/index%d/size", i), own);
        if (size > p.cache / 1024) /* the file has KiB: "32768K" */
            p.cache = sat_mul(size, 1024);
    }
    arena_free(own);
    return p;
}

/* Whether the processor has an instruction that adds up four products of bytes. */
static bool has_byte_products(void)
{
#if defined __x86_64__
    unsigned eax = 0, ebx, ecx = 0, edx, none;
    __get_cpuid_count(7, 0, &none, &ebx, &ecx, &edx); /* bit 11 of ecx: AVX512_VNNI */
    __get_cpuid_count(7, 1, &eax, &ebx, &none, &edx); /* bit 4 of eax: AVX_VNNI */
    return speed_vector_bits() > 128 && ((ecx >> 11 & 1) || (eax >> 4 & 1));
#elif defined __aarch64__
    return getauxval(AT_HWCAP) & HWCAP_ASIMDDP;
#else
    return false;
#endif
}

/* Whether the processor computes with f16. */
static bool has_half(void)
{
#ifdef __aarch64__
    return getauxval(AT_HWCAP) & HWCAP_ASIMDHP;
#else
    return false;
#endif
}

/* Returns how many thousandths of a core the processor gives at once; above 0. */
static int64_t used_of(const struct processor *p)
{
    return tighter(p->cores * INT64_C(1000), p->quota > 0 ? p->quota : -1);
}

/* Returns the note of the class: what was counted, how many thousandths of a core may be used at once, and what could
 * not be measured. */
static const char *describe_processor(const struct processor *p, int64_t used,
                                      const struct speed *s, struct arena *a)
{
    const char *part = used < p->cores * INT64_C(1000)
                           ? arena_fmt(a, ", %lld.%03lld at once", (long long)(used / 1000),
                                       (long long)(used % 1000))
                           : "";
    return arena_fmt(a, "measured: %u core%s%s, vectors of %u bits%s%s", p->cores,
                     p->cores == 1 ? "" : "s", part, speed_vector_bits(),
                     s->flops > 0 ? "" : ", peaks not measured",
                     s->bytes > 0 ? "" : ", bandwidth not measured");
}

void processor_class(const struct processor *p, struct device_class *c, struct arena *a)
{
    /* a thread for each core that the process may use, even if it may use only a part of the last one; buffers of four
     * times the largest cache, so that copies go to the memory */
    int64_t threads = (used_of(p) + 999) / 1000, buffer = sat_mul(p->cache, 4);
    if (threads > SPEED_THREADS)
        threads = SPEED_THREADS;
    buffer = buffer < LEAST_BUFFER ? LEAST_BUFFER : buffer > MOST_BUFFER ? MOST_BUFFER : buffer;
    if (p->memory >= 0)
        buffer = tighter(buffer, p->memory / SHARE);
    struct speed s = speed_measure((uint32_t)threads, buffer);
    processor_rate(p, (uint32_t)threads, &s, c, a);
}

void processor_rate(const struct processor *p, uint32_t threads, const struct speed *s,
                    struct device_class *c, struct arena *a)
{
    int64_t used = used_of(p), measured = threads * INT64_C(1000);
    /* scaled from the threads that measured to the cores that may be used: control groups may leave the last thread a
     * part of a core, and there may be more cores than threads */
    int64_t flops = s->flops > 0 ? mul_div_ceil(s->flops, used, measured) : used * FLOPS_PER_CORE;
    /* cores share the memory: if more cores may be used than were measured, they copy no more than the measured ones
     * did */
    int64_t bytes = s->bytes <= 0     ? used * BYTES_PER_CORE
                    : used < measured ? mul_div_ceil(s->bytes, used, measured)
                                      : s->bytes;
    /* overhead: 1 us, as of the preset "cpu" */
    *c = (struct device_class){.name = "cpu", .host = true, .count = 1, .overhead = 1000000};
    c->peak[ELEM_F32] = two_digits(flops);
    c->peak[ELEM_F64] = c->peak[ELEM_F32] / 2;
    c->peak[ELEM_F16] = has_half() ? sat_mul(c->peak[ELEM_F32], 2) : 0;
    c->peak[ELEM_I8] = has_byte_products() ? sat_mul(c->peak[ELEM_F32], 4) : 0;
    c->bandwidth = two_digits(bytes);
    c->memory = p->memory < MIB ? p->memory : p->memory / MIB * MIB;
    c->note = describe_processor(p, used, s, a);
}
