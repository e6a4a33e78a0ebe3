/* Classes of devices that are known by name (presets.h).
 *
 * Figures of the presets, from the vendors' sheets that are named: peaks of dense tensors, so half of what a sheet
 * states "with sparsity"; of f16 and bf16 with sums in f32, where a sheet states several; of f32 on the usual cores,
 * not TF32; --efficiency scales them all.  GB of memory are read as GiB, which the chips have.  5 us per operator is a
 * usual kernel launch.  All have one link to the host, about what PCIe 4.0 x16 gives (LINK_BANDWIDTH; --link).
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
 *  - b200: NVIDIA B200 SXM of an HGX, "NVIDIA Blackwell Architecture" data sheet, one GPU of HGX B200: FP64 37 TFLOPS,
 *    FP32 75 TFLOPS, FP16 and BF16 4.5 PFLOPS, FP8 9 PFLOPS, INT8 9 POPS, these four "with sparsity": here half of
 *    that; 180 GB HBM3e at 7.7 TB/s (the 8 TB/s of other papers are those of GB200).
 *  - t4: "NVIDIA T4 Tensor Core GPU" data sheet: single precision 8.1 TFLOPS, mixed precision 65 TFLOPS, INT8 130
 *    TOPS, 16 GB GDDR6 at 300 GB/s (other papers say 320).
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
 *    in FP32 165.2 TFLOPS, FP8 so 330.3 TFLOPS, INT8 660.6 TOPS (dense), 24 GB GDDR6X at 1008 GB/s.
 *  - mi300x: "AMD Instinct MI300X Accelerator" data sheet: vector FP64 81.7 TFLOPS and FP32 163.4 TFLOPS, matrix FP16
 *    and BF16 1307.4 TFLOPS, FP8 (its own kinds, FNUZ) 2614.9 TFLOPS, INT8 2614.9 TOPS (dense), 192 GB at 5.3 TB/s.
 *  - npu: generic, of the kind that laptops carry: Intel's Core Ultra 200V has an NPU of 48 TOPS
 *    and LPDDR5X-8533, which gives 136 GB/s on 128 bits; f16 at half the rate of i8, f32 and the
 *    memory of 16 GiB are assumed.
 *  - dapple-a, dapple-b, dapple-c: the clusters of DAPPLE (arXiv 2007.01045): V100 of 16 GB, 2 servers of 8 with NVLink
 *    and 25 Gbps between them; 16 servers of one and 25 Gbps; the same with 10 Gbps.  The rates are those of its
 *    published planner: NVLink 25e9 bytes per second between two devices, Ethernet 1.0e9, an AllReduce over it 3.0e9,
 *    memory 16e9 bytes; it has none for dapple-c, where 1.0e9 for both gives the published plans.  No latencies.
 *  - cpu: a 64-core server like AMD's EPYC 7763: 2.45 GHz, eight channels of DDR4-3200, that is
 *    204.8 GB/s; two 256-bit FMA a cycle make 5.0 TFLOPS f32 and 2.5 TFLOPS f64; i8 is assumed. */
#include "ir/cluster/presets.h"

#include <assert.h>
#include <string.h>
#include <strings.h>

#define TERA INT64_C(1000000000000)
#define GIGA INT64_C(1000000000)
#define MICRO INT64_C(1000000) /* ps in a us */

static const struct device_class presets[] = {
    {.name = "a100",
     .count = 1,
     .memory = INT64_C(80) << 30,
     .peak = {[ELEM_F64] = 9700 * GIGA,
              [ELEM_F32] = 19500 * GIGA,
              [ELEM_F16] = 312 * TERA,
              [ELEM_BF16] = 312 * TERA,
              [ELEM_I8] = 624 * TERA},
     .bandwidth = 2039 * GIGA,
     .overhead = 5 * MICRO,
     .link_latency = LINK_LATENCY,
     .link_bandwidth = LINK_BANDWIDTH},
    {.name = "v100",
     .count = 1,
     .memory = INT64_C(32) << 30,
     .peak = {[ELEM_F64] = 7800 * GIGA, [ELEM_F32] = 15700 * GIGA, [ELEM_F16] = 125 * TERA},
     .bandwidth = 900 * GIGA,
     .overhead = 5 * MICRO,
     .link_latency = LINK_LATENCY,
     .link_bandwidth = LINK_BANDWIDTH},
    {.name = "h100",
     .count = 1,
     .memory = INT64_C(80) << 30,
     .peak = {[ELEM_F64] = 34 * TERA,
              [ELEM_F32] = 67 * TERA,
              [ELEM_F16] = 989500 * GIGA,
              [ELEM_BF16] = 989500 * GIGA,
              [ELEM_F8E4M3FN] = 1979 * TERA,
              [ELEM_F8E5M2] = 1979 * TERA,
              [ELEM_I8] = 1979 * TERA},
     .bandwidth = 3350 * GIGA,
     .overhead = 5 * MICRO,
     .link_latency = LINK_LATENCY,
     .link_bandwidth = LINK_BANDWIDTH},
    {.name = "h200",
     .count = 1,
     .memory = INT64_C(141) << 30,
     .peak = {[ELEM_F64] = 34 * TERA,
              [ELEM_F32] = 67 * TERA,
              [ELEM_F16] = 989500 * GIGA,
              [ELEM_BF16] = 989500 * GIGA,
              [ELEM_F8E4M3FN] = 1979 * TERA,
              [ELEM_F8E5M2] = 1979 * TERA,
              [ELEM_I8] = 1979 * TERA},
     .bandwidth = 4800 * GIGA,
     .overhead = 5 * MICRO,
     .link_latency = LINK_LATENCY,
     .link_bandwidth = LINK_BANDWIDTH},
    {.name = "b200",
     .count = 1,
     .memory = INT64_C(180) << 30,
     .peak = {[ELEM_F64] = 37 * TERA,
              [ELEM_F32] = 75 * TERA,
              [ELEM_F16] = 2250 * TERA,
              [ELEM_BF16] = 2250 * TERA,
              [ELEM_F8E4M3FN] = 4500 * TERA,
              [ELEM_F8E5M2] = 4500 * TERA,
              [ELEM_I8] = 4500 * TERA},
     .bandwidth = 7700 * GIGA,
     .overhead = 5 * MICRO,
     .link_latency = LINK_LATENCY,
     .link_bandwidth = LINK_BANDWIDTH},
    {.name = "t4",
     .count = 1,
     .memory = INT64_C(16) << 30,
     .peak = {[ELEM_F32] = 8100 * GIGA, [ELEM_F16] = 65 * TERA, [ELEM_I8] = 130 * TERA},
     .bandwidth = 300 * GIGA,
     .overhead = 5 * MICRO,
     .link_latency = LINK_LATENCY,
     .link_bandwidth = LINK_BANDWIDTH},
    {.name = "l4",
     .count = 1,
     .memory = INT64_C(24) << 30,
     .peak = {[ELEM_F32] = 30300 * GIGA,
              [ELEM_F16] = 121 * TERA,
              [ELEM_BF16] = 121 * TERA,
              [ELEM_F8E4M3FN] = 242500 * GIGA,
              [ELEM_F8E5M2] = 242500 * GIGA,
              [ELEM_I8] = 242500 * GIGA},
     .bandwidth = 300 * GIGA,
     .overhead = 5 * MICRO,
     .link_latency = LINK_LATENCY,
     .link_bandwidth = LINK_BANDWIDTH},
    {.name = "a10",
     .count = 1,
     .memory = INT64_C(24) << 30,
     .peak = {[ELEM_F32] = 31200 * GIGA,
              [ELEM_F16] = 125 * TERA,
              [ELEM_BF16] = 125 * TERA,
              [ELEM_I8] = 250 * TERA},
     .bandwidth = 600 * GIGA,
     .overhead = 5 * MICRO,
     .link_latency = LINK_LATENCY,
     .link_bandwidth = LINK_BANDWIDTH},
    {.name = "a30",
     .count = 1,
     .memory = INT64_C(24) << 30,
     .peak = {[ELEM_F64] = 5200 * GIGA,
              [ELEM_F32] = 10300 * GIGA,
              [ELEM_F16] = 165 * TERA,
              [ELEM_BF16] = 165 * TERA,
              [ELEM_I8] = 330 * TERA},
     .bandwidth = 933 * GIGA,
     .overhead = 5 * MICRO,
     .link_latency = LINK_LATENCY,
     .link_bandwidth = LINK_BANDWIDTH},
    {.name = "l40s",
     .count = 1,
     .memory = INT64_C(48) << 30,
     .peak = {[ELEM_F32] = 91600 * GIGA,
              [ELEM_F16] = 362050 * GIGA,
              [ELEM_BF16] = 362050 * GIGA,
              [ELEM_F8E4M3FN] = 733 * TERA,
              [ELEM_F8E5M2] = 733 * TERA,
              [ELEM_I8] = 733 * TERA},
     .bandwidth = 864 * GIGA,
     .overhead = 5 * MICRO,
     .link_latency = LINK_LATENCY,
     .link_bandwidth = LINK_BANDWIDTH},
    {.name = "rtx3090",
     .count = 1,
     .memory = INT64_C(24) << 30,
     .peak = {[ELEM_F32] = 35600 * GIGA,
              [ELEM_F16] = 71 * TERA,
              [ELEM_BF16] = 71 * TERA,
              [ELEM_I8] = 284 * TERA},
     .bandwidth = 936 * GIGA,
     .overhead = 5 * MICRO,
     .link_latency = LINK_LATENCY,
     .link_bandwidth = LINK_BANDWIDTH},
    {.name = "rtx4090",
     .count = 1,
     .memory = INT64_C(24) << 30,
     .peak = {[ELEM_F32] = 82600 * GIGA,
              [ELEM_F16] = 165200 * GIGA,
              [ELEM_BF16] = 165200 * GIGA,
              [ELEM_F8E4M3FN] = 330300 * GIGA,
              [ELEM_F8E5M2] = 330300 * GIGA,
              [ELEM_I8] = 660600 * GIGA},
     .bandwidth = 1008 * GIGA,
     .overhead = 5 * MICRO,
     .link_latency = LINK_LATENCY,
     .link_bandwidth = LINK_BANDWIDTH},
    {.name = "mi300x",
     .count = 1,
     .memory = INT64_C(192) << 30,
     .peak = {[ELEM_F64] = 81700 * GIGA,
              [ELEM_F32] = 163400 * GIGA,
              [ELEM_F16] = 1307400 * GIGA,
              [ELEM_BF16] = 1307400 * GIGA,
              [ELEM_F8E4M3FNUZ] = 2614900 * GIGA,
              [ELEM_F8E5M2FNUZ] = 2614900 * GIGA,
              [ELEM_I8] = 2614900 * GIGA},
     .bandwidth = 5300 * GIGA,
     .overhead = 5 * MICRO,
     .link_latency = LINK_LATENCY,
     .link_bandwidth = LINK_BANDWIDTH},
    {.name = "npu",
     .count = 1,
     .memory = INT64_C(16) << 30,
     .peak = {[ELEM_I8] = 48 * TERA, [ELEM_F16] = 24 * TERA, [ELEM_F32] = 3 * TERA},
     .bandwidth = 136 * GIGA,
     .overhead = 10 * MICRO,
     .link_latency = LINK_LATENCY,
     .link_bandwidth = LINK_BANDWIDTH},
    {.name = "cpu",
     .host = true,
     .count = 1,
     .memory = -1,
     .peak = {[ELEM_F32] = 5 * TERA, [ELEM_F64] = 2500 * GIGA, [ELEM_I8] = 10 * TERA},
     .bandwidth = 204800 * (GIGA / 1000),
     .overhead = 1 * MICRO},
};
enum { PRESETS = sizeof presets / sizeof presets[0] };

const struct device_class *preset_of(const char *name, size_t n)
{
    for (int i = 0; i < PRESETS; i++)
        if (strlen(presets[i].name) == n && strncasecmp(presets[i].name, name, n) == 0)
            return &presets[i];
    return NULL;
}

const struct device_class *preset_at(uint32_t i)
{
    return i < PRESETS ? &presets[i] : NULL;
}

/* Links by name, one direction.  PCI Express: 8, 16, 32 GT/s a lane, 128 bits in 130 (base specifications 3.0, 4.0,
 * 5.0).  NVLink of a whole GPU: half of the 300, 600, 900 and 1800 GB/s that the data sheets of V100, A100, H100 and
 * B200 add up over both directions.  Ethernet and InfiniBand: the bits of their names.  Latencies are those usual for
 * a transfer that a program starts, not of the wire. */
static const struct link_preset links[] = {
    {"pcie3x8", 7877 * (GIGA / 1000), 10 * MICRO},
    {"pcie3x16", 15754 * (GIGA / 1000), 10 * MICRO},
    {"pcie4x8", 15754 * (GIGA / 1000), 10 * MICRO},
    {"pcie4x16", 31508 * (GIGA / 1000), 10 * MICRO},
    {"pcie5x8", 31508 * (GIGA / 1000), 10 * MICRO},
    {"pcie5x16", 63015 * (GIGA / 1000), 10 * MICRO},
    {"nvlink2", 150 * GIGA, 2 * MICRO},
    {"nvlink3", 300 * GIGA, 2 * MICRO},
    {"nvlink4", 450 * GIGA, 2 * MICRO},
    {"nvlink5", 900 * GIGA, 2 * MICRO},
    {"ethernet10", 1250 * (GIGA / 1000), 50 * MICRO},
    {"ethernet25", 3125 * (GIGA / 1000), 50 * MICRO},
    {"ethernet100", 12500 * (GIGA / 1000), 50 * MICRO},
    {"infiniband200", 25 * GIGA, 5 * MICRO},
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
    for (size_t at = 1; at < n; at++) { /* 2a100, a100x2 */
        bool before = at == digits;
        uint32_t number = before            ? preset_count(name, at)
                          : name[at] == 'x' ? preset_count(name + at + 1, n - at - 1)
                                            : 0;
        const struct device_class *k = before ? preset_of(name + at, n - at) : preset_of(name, at);
        if (number && k) {
            *count = number;
            return k->name;
        }
    }
    struct nearest t = nearest_to(name, n);
    for (int i = 0; i < PRESETS; i++)
        nearest_try(&t, presets[i].name);
    bool gpu = n - digits >= 3 &&
               !strncasecmp(name + digits, "gpu", 3); /* near to cpu by its letters alone */
    return gpu ? NULL : t.best;
}

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
        c->cls[0] = *preset_of("v100", 4);
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
