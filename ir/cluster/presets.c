/* Device classes, links and clusters that are known by name (presets.h).
 *
 * The figures come from the vendors' data sheets that are named below.  Peaks are for dense tensors, so half of a
 * figure that a sheet states "with sparsity"; for f16 and bf16 with sums in f32, where a sheet states several; for
 * f32 on the general cores, not TF32; --efficiency scales them all.  Memory that a sheet gives in GB is taken as GiB,
 * which the chips have.  5 us per operator is the usual time to launch a kernel.  All accelerators have one link to
 * the host, with about the bandwidth of PCIe 4.0 x16 (LINK_BANDWIDTH; the option --link changes it).
 *  - a100: NVIDIA A100 80GB SXM, "NVIDIA A100 Tensor Core GPU" data sheet: FP64 9.7 TFLOPS, FP32
 *    19.5 TFLOPS, FP16 and BF16 Tensor Core 312 TFLOPS, INT8 Tensor Core 624 TOPS (all dense),
 *    80 GB HBM2e at 2,039 GB/s.
 *  - v100: NVIDIA V100 SXM2, "NVIDIA V100 Tensor Core GPU" data sheet: double precision 7.8 TFLOPS,
 *    single precision 15.7 TFLOPS, Tensor Performance (FP16) 125 TFLOPS, 32 GB HBM2 at 900 GB/s.  Its
 *    Tensor Cores know neither BF16 nor INT8.
 *  - h100: NVIDIA H100 SXM, "NVIDIA H100 Tensor Core GPU" data sheet: FP64 34 TFLOPS, FP32 67 TFLOPS,
 *    FP16 and BF16 Tensor Core 1,979 TFLOPS, FP8 3,958 TFLOPS, INT8 3,958 TOPS, these four "with
 *    sparsity": here half of that, 80 GB at 3.35 TB/s.
 *  - h200: NVIDIA H200 SXM, "NVIDIA H200 Tensor Core GPU" data sheet: the rates of the h100,
 *    141 GB HBM3e at 4.8 TB/s.
 *  - b200: NVIDIA B200 SXM of an HGX, "NVIDIA Blackwell Architecture" data sheet, one GPU of HGX B200: FP64 37
 *    TFLOPS, FP32 75 TFLOPS, FP16 and BF16 4.5 PFLOPS, FP8 9 PFLOPS, INT8 9 POPS, these four "with sparsity": here
 *    half of that; 180 GB HBM3e at 7.7 TB/s (other papers state 8 TB/s, for GB200).
 *  - t4: "NVIDIA T4 Tensor Core GPU" data sheet: single precision 8.1 TFLOPS, mixed precision 65 TFLOPS, INT8 130
 *    TOPS, 16 GB GDDR6 at 300 GB/s (other papers state 320).
 *  - l4: "NVIDIA L4 Tensor Core GPU" data sheet: FP32 30.3 TFLOPS, FP16 and BF16 242 TFLOPS, FP8 485 TFLOPS, INT8 485
 *    TOPS with sparsity: here half of these; 24 GB at 300 GB/s.
 *  - a10: "NVIDIA A10 Tensor Core GPU" data sheet: FP32 31.2 TFLOPS, FP16 and BF16 125 TFLOPS, INT8 250 TOPS (dense),
 *    24 GB GDDR6 at 600 GB/s.
 *  - a30: "NVIDIA A30 Tensor Core GPU" data sheet: FP64 5.2 TFLOPS, FP32 10.3 TFLOPS, FP16 and BF16 165 TFLOPS, INT8
 *    330 TOPS (dense), 24 GB HBM2 at 933 GB/s.
 *  - l40s: "NVIDIA L40S" data sheet: FP32 91.6 TFLOPS, FP16 and BF16 362.05 TFLOPS, FP8 733 TFLOPS, INT8 733 TOPS
 *    (dense), 48 GB GDDR6 at 864 GB/s.
 *  - rtx3090: GeForce RTX 3090, "NVIDIA Ampere GA102 GPU Architecture" white paper: FP32 35.6 TFLOPS, FP16 and BF16
 *    with sums in FP32 71 TFLOPS, INT8 284 TOPS (dense), 24 GB GDDR6X at 936 GB/s.
 *  - rtx4090: GeForce RTX 4090, "NVIDIA Ada GPU Architecture" white paper: FP32 82.6 TFLOPS, FP16 and BF16 with sums
 *    in FP32 165.2 TFLOPS, FP8 with sums in FP32 330.3 TFLOPS, INT8 660.6 TOPS (dense), 24 GB GDDR6X at 1008 GB/s.
 *  - mi300x: "AMD Instinct MI300X Accelerator" data sheet: vector FP64 81.7 TFLOPS and FP32 163.4 TFLOPS, matrix FP16
 *    and BF16 1307.4 TFLOPS, FP8 (the FNUZ variants of the types) 2614.9 TFLOPS, INT8 2614.9 TOPS (dense), 192 GB at
 *    5.3 TB/s.
 *  - npu: a generic one, as in laptops: Intel's Core Ultra 200V has an NPU with 48 TOPS and LPDDR5X-8533 memory,
 *    which gives 136 GB/s on 128 bits; f16 at half the rate of i8, the rate of f32 and 16 GiB of memory are assumed.
 *  - dapple-a, dapple-b, dapple-c: the clusters of DAPPLE (arXiv 2007.01045): V100 with 16 GB.  a: 2 servers with 8
 *    devices each, NVLink within and 25 Gbps Ethernet between servers; b: 16 servers with one device each, 25 Gbps;
 *    c: as b, 10 Gbps.  The rates are those of DAPPLE's published planner: NVLink 25e9 bytes per second between two
 *    devices, Ethernet 1.0e9, an AllReduce over Ethernet 3.0e9, memory 16e9 bytes.  The planner has no rates for
 *    dapple-c; 1.0e9 for both Ethernet rates gives the published plans.  Latencies are 0.
 *  - cpu: a 64-core server like AMD's EPYC 7763 with 2.45 GHz and eight channels of DDR4-3200, which give 204.8 GB/s;
 *    two 256-bit FMA per cycle and core give 5.0 TFLOPS f32 and 2.5 TFLOPS f64; the rate of i8 is assumed. */
#include "ir/cluster/presets.h"

#include <assert.h>
#include <string.h>
#include <strings.h>

#define GIGA INT64_C(1000000000)
#define MEGA INT64_C(1000000)
#define MICRO INT64_C(1000000) /* ps in a us */

/* A device class, in the units of data sheets. */
struct preset {
    const char *name;
    int64_t memory, rate; /* GiB, 0: a host class; memory bandwidth in MB per second */
    int64_t f64, f32, f16, bf16, f8, i8; /* 1e9 operations per second by element type; 0: none */
    int64_t overhead;                    /* us per operator */
    bool fnuz;                           /* f8 stands for the FNUZ variants of the f8 types */
};

static const struct preset presets[] = {
    {"a100", 80, 2039000, 9700, 19500, 312000, 312000, 0, 624000, 5, false},
    {"v100", 32, 900000, 7800, 15700, 125000, 0, 0, 0, 5, false},
    {"h100", 80, 3350000, 34000, 67000, 989500, 989500, 1979000, 1979000, 5, false},
    {"h200", 141, 4800000, 34000, 67000, 989500, 989500, 1979000, 1979000, 5, false},
    {"b200", 180, 7700000, 37000, 75000, 2250000, 2250000, 4500000, 4500000, 5, false},
    {"t4", 16, 300000, 0, 8100, 65000, 0, 0, 130000, 5, false},
    {"l4", 24, 300000, 0, 30300, 121000, 121000, 242500, 242500, 5, false},
    {"a10", 24, 600000, 0, 31200, 125000, 125000, 0, 250000, 5, false},
    {"a30", 24, 933000, 5200, 10300, 165000, 165000, 0, 330000, 5, false},
    {"l40s", 48, 864000, 0, 91600, 362050, 362050, 733000, 733000, 5, false},
    {"rtx3090", 24, 936000, 0, 35600, 71000, 71000, 0, 284000, 5, false},
    {"rtx4090", 24, 1008000, 0, 82600, 165200, 165200, 330300, 660600, 5, false},
    {"mi300x", 192, 5300000, 81700, 163400, 1307400, 1307400, 2614900, 2614900, 5, true},
    {"npu", 16, 136000, 0, 3000, 24000, 0, 0, 48000, 10, false},
    {"cpu", 0, 204800, 2500, 5000, 0, 0, 0, 10000, 1, false},
};
enum { PRESETS = sizeof presets / sizeof presets[0] };

bool preset_at(uint32_t i, struct device_class *c)
{
    if (i >= PRESETS)
        return false;
    const struct preset *p = &presets[i];
    bool host = p->memory == 0;
    *c = (struct device_class){.name = p->name, .host = host, .count = 1};
    c->memory = host ? -1 : p->memory << 30;
    c->peak[ELEM_F64] = p->f64 * GIGA;
    c->peak[ELEM_F32] = p->f32 * GIGA;
    c->peak[ELEM_F16] = p->f16 * GIGA;
    c->peak[ELEM_BF16] = p->bf16 * GIGA;
    c->peak[p->fnuz ? ELEM_F8E4M3FNUZ : ELEM_F8E4M3FN] = p->f8 * GIGA;
    c->peak[p->fnuz ? ELEM_F8E5M2FNUZ : ELEM_F8E5M2] = p->f8 * GIGA;
    c->peak[ELEM_I8] = p->i8 * GIGA;
    c->bandwidth = p->rate * MEGA;
    c->overhead = p->overhead * MICRO;
    c->link_latency = host ? 0 : LINK_LATENCY;
    c->link_bandwidth = host ? 0 : LINK_BANDWIDTH;
    return true;
}

bool preset_of(const char *name, size_t n, struct device_class *c)
{
    for (uint32_t i = 0; i < PRESETS; i++)
        if (strlen(presets[i].name) == n && strncasecmp(presets[i].name, name, n) == 0)
            return preset_at(i, c);
    return false;
}

/* Links by name; bandwidths are for one direction.  PCI Express: 8, 16, 32 GT/s per lane, of which 128 of 130 bits
 * are data (base specifications 3.0, 4.0, 5.0).  NVLink: all links of a GPU together, half of the 300, 600, 900 and
 * 1800 GB/s that the data sheets of V100, A100, H100 and B200 state for both directions.  Ethernet and InfiniBand:
 * the Gbit/s of their names.  Latencies are usual ones from a program's start of a transfer to its end, not of the
 * wire alone. */
static const struct link_preset links[] = {
    {"pcie3x8", 7877 * MEGA, 10 * MICRO},      {"pcie3x16", 15754 * MEGA, 10 * MICRO},
    {"pcie4x8", 15754 * MEGA, 10 * MICRO},     {"pcie4x16", 31508 * MEGA, 10 * MICRO},
    {"pcie5x8", 31508 * MEGA, 10 * MICRO},     {"pcie5x16", 63015 * MEGA, 10 * MICRO},
    {"nvlink2", 150 * GIGA, 2 * MICRO},        {"nvlink3", 300 * GIGA, 2 * MICRO},
    {"nvlink4", 450 * GIGA, 2 * MICRO},        {"nvlink5", 900 * GIGA, 2 * MICRO},
    {"ethernet10", 1250 * MEGA, 50 * MICRO},   {"ethernet25", 3125 * MEGA, 50 * MICRO},
    {"ethernet100", 12500 * MEGA, 50 * MICRO}, {"infiniband200", 25 * GIGA, 5 * MICRO},
    {"infiniband400", 50 * GIGA, 5 * MICRO},
};
enum { LINKS = sizeof links / sizeof links[0] };

const struct link_preset *link_preset_at(uint32_t i)
{
    return i < LINKS ? &links[i] : NULL;
}

const struct link_preset *link_preset_of(const char *name)
{
    for (int i = 0; i < LINKS; i++)
        if (strcasecmp(links[i].name, name) == 0)
            return &links[i];
    return NULL;
}

uint32_t preset_count(const char *s, size_t n)
{
    uint32_t number = 0;
    for (size_t i = 0; i < n; i++) {
        if (s[i] < '0' || s[i] > '9' || number > CLUSTER_DEVICES)
            return 0;
        number = number * 10 + (uint32_t)(s[i] - '0');
    }
    return number <= CLUSTER_DEVICES ? number : 0;
}

const char *preset_near(const char *name, size_t n, uint32_t *count)
{
    size_t digits = 0;
    while (digits < n && name[digits] >= '0' && name[digits] <= '9')
        digits++;
    for (size_t at = 1; at < n; at++) { /* a class and a number: 2a100, a100x2 */
        bool before = at == digits;
        uint32_t number = before            ? preset_count(name, at)
                          : name[at] == 'x' ? preset_count(name + at + 1, n - at - 1)
                                            : 0;
        struct device_class k;
        if (number && (before ? preset_of(name + at, n - at, &k) : preset_of(name, at, &k))) {
            *count = number;
            return k.name;
        }
    }
    struct nearest t = nearest_to(name, n);
    for (int i = 0; i < PRESETS; i++)
        nearest_try(&t, presets[i].name);
    /* "gpu" is near to "cpu" by its letters, but means another device */
    bool gpu = n - digits >= 3 && !strncasecmp(name + digits, "gpu", 3);
    return gpu ? NULL : t.best;
}

/* A whole cluster: 16 devices of the class v100, with these levels of links, innermost first. */
struct cluster_row {
    const char *name;
    uint32_t nlevel;
    struct cluster_level level[2];
};

static const struct cluster_row clusters[] = {
    {"dapple-a", 2, {{8, 0, 25 * GIGA, 0}, {2, 0, 1 * GIGA, 3 * GIGA}}},
    {"dapple-b", 1, {{16, 0, 1 * GIGA, 3 * GIGA}}},
    {"dapple-c", 1, {{16, 0, 1 * GIGA, 1 * GIGA}}},
};
enum { CLUSTERS = sizeof clusters / sizeof clusters[0] };

const char *cluster_preset_name(uint32_t i)
{
    return i < CLUSTERS ? clusters[i].name : NULL;
}

bool cluster_preset(struct cluster *c, const char *name)
{
    for (int i = 0; i < CLUSTERS; i++) {
        if (strcasecmp(clusters[i].name, name) != 0)
            continue;
        memset(c, 0, sizeof *c);
        preset_of("v100", 4, &c->cls[0]);
        c->cls[0].count = c->ndev = 16;
        c->cls[0].memory = 16 * GIGA;
        c->ncls = 1;
        c->nlevel = clusters[i].nlevel;
        memcpy(c->level, clusters[i].level, sizeof clusters[i].level);
        const char *refused = cluster_take_levels(c, NULL);
        assert(!refused);
        return !refused;
    }
    return false;
}
