/* Classes of devices that are known by name (presets.h).
 *
 * Figures of the presets, from public sheets (peaks as vendors state them; --efficiency scales):
 *  - a100: NVIDIA A100 80GB SXM, "NVIDIA A100 Tensor Core GPU" data sheet: FP64 9.7 TFLOPS, FP32
 *    19.5 TFLOPS, FP16 and BF16 Tensor Core 312 TFLOPS, INT8 Tensor Core 624 TOPS (all dense),
 *    80 GB HBM2e at 2,039 GB/s.  5 us per operator is a usual kernel launch, here and below.
 *  - v100: NVIDIA V100 SXM2, "NVIDIA V100 Tensor Core GPU" data sheet: double precision 7.8 TFLOPS,
 *    single precision 15.7 TFLOPS, Tensor Performance (FP16) 125 TFLOPS, 32 GB HBM2 at 900 GB/s.  Its
 *    Tensor Cores know neither BF16 nor INT8.
 *  - h100: NVIDIA H100 SXM, "NVIDIA H100 Tensor Core GPU" data sheet: FP64 34 TFLOPS, FP32 67 TFLOPS,
 *    FP16 and BF16 Tensor Core 1,979 TFLOPS, FP8 3,958 TFLOPS, INT8 3,958 TOPS, these four "with
 *    sparsity": here half of that, 80 GB at 3.35 TB/s.
 *  - h200: NVIDIA H200 SXM, "NVIDIA H200 Tensor Core GPU" data sheet: the rates of the h100,
 *    141 GB HBM3e at 4.8 TB/s.
 *    (GB of the sheets' memory sizes are read as GiB; f32 is that of the CUDA cores, not TF32.)
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
        if (strlen(presets[i].name) == n && memcmp(presets[i].name, name, n) == 0)
            return &presets[i];
    return NULL;
}

const char *preset_hint(const char *name, size_t n, struct arena *a)
{
    struct nearest t = nearest_to(name, n);
    for (int i = 0; i < PRESETS; i++)
        nearest_try(&t, presets[i].name);
    return nearest_hint(&t, a);
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

bool cluster_preset(struct cluster *c, const char *name)
{
    for (int i = 0; i < CLUSTERS; i++) {
        if (strcmp(clusters[i].name, name) != 0)
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
