/* The tables of device classes, links and clusters that users can name (presets.h).
 *
 * The figures come from the makers' data sheets that are named below.  Peaks are for dense tensors: of a figure that a
 * sheet states "with sparsity", half is taken.  For f16 and bf16 the figure with sums in f32 is taken where a sheet
 * states several; for f32 the figure of the general cores.  The option --efficiency scales them all.  TF32, which
 * counts where --precision says so, has half the rate of BF16 on NVIDIA's GPUs, as the sheets from Ampere to Blackwell
 * state it (a100: 156 TFLOPS, h100: 494.5).  Memory that a sheet gives in GB is taken as GiB, which the chips have.
 * Each operator takes 5 us, the usual time to launch a kernel; 10 us on an NPU.  All accelerators have one link to the
 * host, with about the bandwidth of PCIe 4.0 x16 (LINK_BANDWIDTH; the option --link changes it), unless said otherwise.
 *
 * NVIDIA, servers:
 *  - a100: NVIDIA A100 80GB SXM, "NVIDIA A100 Tensor Core GPU" data sheet: FP64 9.7 TFLOPS, FP32
 *    19.5 TFLOPS, FP16 and BF16 Tensor Core 312 TFLOPS, INT8 Tensor Core 624 TOPS (all dense),
 *    80 GB HBM2e at 2,039 GB/s.
 *  - v100: NVIDIA V100 SXM2, "NVIDIA V100 Tensor Core GPU" data sheet: double precision 7.8 TFLOPS,
 *    single precision 15.7 TFLOPS, Tensor Performance (FP16) 125 TFLOPS, 32 GB HBM2 at 900 GB/s.  Its
 *    Tensor Cores know neither BF16 nor INT8.
 *  - a100-80g-pcie, a100-40g-pcie, a100-40g-sxm: the same data sheet, and that of the 40 GB cards: the rates of the
 *    a100; 80 GB at 1,935 GB/s, 40 GB at 1,555 GB/s.
 *  - v100-pcie: NVIDIA V100 PCIe, data sheet of the v100: double precision 7 TFLOPS, single precision 14 TFLOPS, Tensor
 *    Performance 112 TFLOPS, 32 GB HBM2 at 900 GB/s.
 *  - h100: NVIDIA H100 SXM, "NVIDIA H100 Tensor Core GPU" data sheet: FP64 34 TFLOPS, FP32 67 TFLOPS,
 *    FP16 and BF16 Tensor Core 1,979 TFLOPS, FP8 3,958 TFLOPS, INT8 3,958 TOPS, these four "with
 *    sparsity": here half of that, 80 GB at 3.35 TB/s.
 *  - h200: NVIDIA H200 SXM, "NVIDIA H200 Tensor Core GPU" data sheet: the rates of the h100,
 *    141 GB HBM3e at 4.8 TB/s.
 *  - h800: NVIDIA H800 SXM, "NVIDIA H800 Tensor Core GPU" data sheet: the h100 with FP64 1 TFLOPS.
 *  - h20: "NVIDIA H20" data sheet: FP64 1 TFLOPS, FP32 44 TFLOPS, FP16 and BF16 148 TFLOPS, FP8 296 TFLOPS, INT8 296
 *    TOPS (dense), 96 GB HBM3 at 4.0 TB/s.
 *  - gh200: "NVIDIA GH200 Grace Hopper Superchip" data sheet, its GPU: the rates of the h100, 96 GB HBM3 at 4 TB/s;
 *    NVLink-C2C to the host, 900 GB/s in both directions together.
 *  - b200: NVIDIA B200 SXM of an HGX, "NVIDIA Blackwell Architecture" data sheet, one GPU of HGX B200: FP64 37
 *    TFLOPS, FP32 75 TFLOPS, FP16 and BF16 4.5 PFLOPS, FP8 9 PFLOPS, INT8 9 POPS, these four "with sparsity": here
 *    half of that; 180 GB HBM3e at 7.7 TB/s (other papers state 8 TB/s, for GB200).
 *  - gb200: one of the two GPUs of "NVIDIA GB200 NVL72", data sheet, column of the superchip: FP64 80 TFLOPS, FP32 160
 *    TFLOPS, FP16 and BF16 10 PFLOPS, FP8 20 PFLOPS, INT8 20 POPS, these four "with sparsity", 372 GB HBM3e at 16
 *    TB/s: here half of that, and of sparse rates a quarter; NVLink-C2C as the gh200.
 *  - b300: one of the eight GPUs of "NVIDIA HGX B300", data sheet: FP64 10 TFLOPS, FP32 600 TFLOPS, FP16 and BF16 36
 *    PFLOPS, FP8 72 PFLOPS, INT8 2 POPS, these four "with sparsity", 2.3 TB: here an eighth, of sparse rates a
 *    sixteenth; 8 TB/s by "Inside NVIDIA Blackwell Ultra".
 *  - t4: "NVIDIA T4 Tensor Core GPU" data sheet: single precision 8.1 TFLOPS, mixed precision 65 TFLOPS, INT8 130
 *    TOPS, 16 GB GDDR6 at 300 GB/s (other papers state 320).
 *  - l4: "NVIDIA L4 Tensor Core GPU" data sheet: FP32 30.3 TFLOPS, FP16 and BF16 242 TFLOPS, FP8 485 TFLOPS, INT8 485
 *    TOPS with sparsity: here half of these; 24 GB at 300 GB/s.
 *  - a10: "NVIDIA A10 Tensor Core GPU" data sheet: FP32 31.2 TFLOPS, FP16 and BF16 125 TFLOPS, INT8 250 TOPS (dense),
 *    24 GB GDDR6 at 600 GB/s.
 *  - a30: "NVIDIA A30 Tensor Core GPU" data sheet: FP64 5.2 TFLOPS, FP32 10.3 TFLOPS, FP16 and BF16 165 TFLOPS, INT8
 *    330 TOPS (dense), 24 GB HBM2 at 933 GB/s.
 *  - a40: "NVIDIA A40" data sheet: FP32 37.4 TFLOPS, FP16 and BF16 149.7 TFLOPS, INT8 299.3 TOPS (dense), 48 GB GDDR6
 *    at 696 GB/s.
 *  - l40: "NVIDIA L40" data sheet: FP32 90.5 TFLOPS, FP16 and BF16 181.05 TFLOPS, FP8 362 TFLOPS, INT8 362 TOPS
 *    (dense), 48 GB GDDR6 at 864 GB/s.
 *  - l40s: "NVIDIA L40S" data sheet: FP32 91.6 TFLOPS, FP16 and BF16 362.05 TFLOPS, FP8 733 TFLOPS, INT8 733 TOPS
 *    (dense), 48 GB GDDR6 at 864 GB/s.
 *
 * NVIDIA, workstations and small machines:
 *  - a6000: RTX A6000, "NVIDIA Ampere GA102 GPU Architecture" white paper: FP32 38.7 TFLOPS, FP16 and BF16 with sums in
 *    FP32 154.8 TFLOPS, INT8 309.7 TOPS (dense), 48 GB GDDR6 at 768 GB/s.
 *  - rtx6000-ada: "NVIDIA Ada GPU Architecture" white paper, RTX 6000 Ada Generation: FP32 91.1 TFLOPS, FP16 and BF16
 *    with sums in FP32 364.2 TFLOPS, FP8 728.5 TFLOPS, INT8 728.5 TOPS (dense), 48 GB GDDR6 at 960 GB/s.
 *  - rtx3080: GeForce RTX 3080 (10 GB), white paper as a6000: FP32 29.8 TFLOPS, FP16 and BF16 with sums in FP32 59.5
 *    TFLOPS, INT8 238 TOPS (dense), 10 GB GDDR6X at 760 GB/s.
 *  - rtx3090: GeForce RTX 3090, white paper as a6000: FP32 35.6 TFLOPS, FP16 and BF16
 *    with sums in FP32 71 TFLOPS, INT8 284 TOPS (dense), 24 GB GDDR6X at 936 GB/s.
 *  - rtx4080: GeForce RTX 4080, white paper as rtx6000-ada: FP32 48.7 TFLOPS, FP16 and BF16 with sums in FP32 97.5
 *    TFLOPS, FP8 with sums in FP32 194.9 TFLOPS, INT8 389.9 TOPS (dense), 16 GB GDDR6X at 716.8 GB/s.
 *  - rtx4090: GeForce RTX 4090, white paper as rtx6000-ada: FP32 82.6 TFLOPS, FP16 and BF16 with sums
 *    in FP32 165.2 TFLOPS, FP8 with sums in FP32 330.3 TFLOPS, INT8 660.6 TOPS (dense), 24 GB GDDR6X at 1008 GB/s.
 *  - rtx5080: GeForce RTX 5080, "NVIDIA RTX Blackwell GPU Architecture" white paper: FP32 56.3 TFLOPS, FP16 and BF16
 *    with sums in FP32 112.6 TFLOPS, FP8 with sums in FP32 225.1 TFLOPS, INT8 450.2 TOPS (dense), 16 GB GDDR7 at 960
 *    GB/s.
 *  - rtx5090: GeForce RTX 5090, white paper as rtx5080: FP32 104.8 TFLOPS, FP16 and BF16 with sums in FP32 209.5
 *    TFLOPS, FP8 with sums in FP32 419 TFLOPS, INT8 838 TOPS (dense), 32 GB GDDR7 at 1792 GB/s.
 *  - orin: Jetson AGX Orin 64 GB, "NVIDIA Jetson AGX Orin Series" technical brief, the GPU alone: FP32 5.3 TFLOPS, INT8
 *    170 TOPS "sparse": here half of that, and FP16 half of INT8, as in all of its generation; 64 GB LPDDR5 at 204.8
 *    GB/s.
 *  - thor: Jetson T5000, "NVIDIA Jetson Thor Series Modules" data sheet: 2560 cores at 1.57 GHz, which give FP32 8.0
 *    TFLOPS, FP8 1035 TFLOPS "sparse": here half of that, FP16 half of FP8 and INT8 as FP8, as in its generation; 128
 *    GB LPDDR5X at 273 GB/s.
 *
 * AMD:
 *  - mi250: one of the two dies of a card, each of which ROCm counts as a device: half of the "AMD Instinct MI250
 *    Accelerator" data sheet: vector FP64 and FP32 45.3 TFLOPS, matrix FP16 and BF16 362.1 TFLOPS, INT8 362.1 TOPS
 *    (dense), 128 GB HBM2e at 3.2768 TB/s.
 *  - mi300x: "AMD Instinct MI300X Accelerator" data sheet: vector FP64 81.7 TFLOPS and FP32 163.4 TFLOPS, matrix FP16
 *    and BF16 1307.4 TFLOPS, FP8 (the FNUZ variants of the types) 2614.9 TFLOPS, INT8 2614.9 TOPS (dense), 192 GB at
 *    5.3 TB/s.
 *  - mi325x: "AMD Instinct MI325X Accelerator" data sheet: the rates of the mi300x, 256 GB HBM3E at 6 TB/s.
 *  - mi355x: "AMD Instinct MI355X GPU" data sheet: vector FP64 78.6 TFLOPS and FP32 157.3 TFLOPS, matrix FP16 and BF16
 *    2516.6 TFLOPS, FP8 5033.2 TFLOPS, INT8 5033.2 TOPS (dense), 288 GB HBM3E at 8 TB/s.
 *
 * Intel, and processors with a GPU of their own:
 *  - gaudi2, gaudi3: "Intel Gaudi 3 AI Accelerator" white paper, both columns: matrix BF16 432 and 1835 TFLOPS, FP8 865
 *    and 1835 TFLOPS, vector BF16 11 and 28.7 TFLOPS; 96 GB at 2.45 TB/s, 128 GB at 3.7 TB/s.  FP16 as BF16, and FP32
 *    at half of vector BF16, are assumed.
 *  - arc-a770: "Intel Arc A770 Graphics" specifications (16 GB): 32 Xe-cores of 128 lanes at 2.1 GHz, which give f32
 *    17.2 TFLOPS, INT8 262 TOPS; f16 at half of that, as its matrix engines do; 560 GB/s.
 *  - arc-b580: "Intel Arc B580 Graphics" specifications: 20 Xe-cores of 128 lanes at 2.67 GHz, which give f32 13.7
 *    TFLOPS, INT8 233 TOPS, f16 as arc-a770; 12 GB at 456 GB/s.
 *  - arc-140v: "Intel Core Ultra 9 288V" specifications: 8 Xe-cores of 128 lanes at 2.05 GHz, which give f32 4.2
 *    TFLOPS, INT8 67 TOPS, f16 as arc-a770; LPDDR5X-8533 on 128 bits gives 136.5 GB/s.
 *  - iris-xe: "Intel Core i7-1185G7" specifications: 96 EUs of 8 lanes at 1.35 GHz, which give f32 2.07 TFLOPS, f16
 *    twice and INT8 four times that ("Xe-LP" in the developer's guide to its GPUs); LPDDR4X-4267 on 128 bits gives 68.3
 *    GB/s.
 *  - m1, m1-pro, m1-max, m1-ultra, m2, m2-pro, m2-max, m2-ultra: the GPU with the most cores, as Apple stated when the
 *    chips were presented: 2.6, 5.2, 10.4, 21 TFLOPS; 3.6 TFLOPS of ten cores, so 6.8, 13.6, 27.2 of 19, 38, 76;
 *    memory at 68.25 (LPDDR4X-4266 on 128 bits), 200, 400, 800 and 100, 200, 400, 800 GB/s, the most that can be
 *    bought.  Their f16 is not stated, and counts as f32.
 *  - adreno: the GPU of "Snapdragon X Elite", product brief: 4.6 TFLOPS, LPDDR5X at 135 GB/s.
 *  GPUs of laptops use memory of the host, as NPUs do: 16 GiB is assumed.
 *
 * NPUs.  f16 at half the rate of i8 where matrix units are known to do that; f32, which they hardly compute, at a
 * sixteenth of i8, is assumed.
 *  - npu: a generic one, as in laptops: Intel's Core Ultra 200V has an NPU with 48 TOPS and LPDDR5X-8533 memory,
 *    which gives 136 GB/s on 128 bits.
 *  - meteor-lake: "Intel Core Ultra 7 155H" specifications: NPU 11 TOPS; LPDDR5X-7467 on 128 bits gives 119.5 GB/s.
 *  - xdna: AMD Ryzen 8040, "Ryzen 7 8845HS" specifications: NPU 16 TOPS; LPDDR5X-7500 on 128 bits gives 120 GB/s.
 *  - xdna2: AMD Ryzen AI 300, "Ryzen AI 9 HX 370" specifications: NPU 50 TOPS; memory as xdna.
 *  - snapdragon: the NPU of "Snapdragon X Elite", product brief: 45 TOPS, LPDDR5X at 135 GB/s.
 *
 * Processors.  xeon and epyc stand for one socket.  With a number behind the name (xeon32) the rates are those of so
 * many cores, and the bandwidth is that of as many sockets as hold these cores.
 *  - cpu: a 64-core server like AMD's EPYC 7763 with 2.45 GHz and eight channels of DDR4-3200, which give 204.8 GB/s;
 *    two 256-bit FMA per cycle and core give 5.0 TFLOPS f32 and 2.5 TFLOPS f64; the rate of i8 is assumed.
 *  - xeon: "Intel Xeon Platinum 8480+" specifications: 56 cores at 2.0 GHz, two 512-bit FMA per cycle, for i8 four
 *    times as many (VNNI; not AMX, of which ONNX Runtime makes little use); eight channels of DDR5-4800 give 307.2
 *    GB/s.
 *  - epyc: "AMD EPYC 9654" specifications: 96 cores at 2.4 GHz, two 256-bit FMA per cycle, for i8 four times as many
 *    (VNNI); twelve channels of DDR5-4800 give 460.8 GB/s.
 *
 * Clusters:
 *  - dapple-a, dapple-b, dapple-c: the clusters of DAPPLE (arXiv 2007.01045): V100 with 16 GB.  a: 2 servers with 8
 *    devices each, NVLink within and 25 Gbps Ethernet between servers; b: 16 servers with one device each, 25 Gbps;
 *    c: as b, 10 Gbps.  The rates are those of DAPPLE's published planner: NVLink 25e9 bytes per second between two
 *    devices, Ethernet 1.0e9, an AllReduce over Ethernet 3.0e9, memory 16e9 bytes.  The planner has no rates for
 *    dapple-c; 1.0e9 for both Ethernet rates gives the published plans.  Latencies are 0. */
#include "ir/cluster/presets.h"

#include "ir/base/units.h"

#include <assert.h>
#include <string.h>
#include <strings.h>

#define GIGA INT64_C(1000000000)
#define MEGA INT64_C(1000000)
#define MICRO INT64_C(1000000) /* ps in a us */

/* A device class, in the units of data sheets. */
struct preset {
    const char *name, *also; /* also: another name; "": none */
    enum gpu_maker maker;
    int64_t memory;                      /* GiB; 0: a host class */
    int64_t rate;                        /* bandwidth of the memory, MB per second */
    int64_t f64, f32, f16, bf16, f8, i8; /* 1e9 operations per second by element type; 0: none */
    int64_t us;                          /* us that each operator takes besides computing */
    bool fnuz;                           /* f8 stands for the FNUZ variants of the f8 types */
    int64_t link;   /* MB per second over the link to the host; 0: LINK_BANDWIDTH */
    uint32_t cores; /* of a socket, for names such as xeon32; 0: the name takes no number */
    enum gpu_generation gen;
    int64_t units; /* multiprocessors; 0 without a generation */
};

/* clang-format off: one row each */
static const struct preset presets[] = {
    {"a100", "", NVIDIA, 80, 2039000, 9700, 19500, 312000, 312000, 0, 624000, .us = 5,
     .gen = AMPERE, .units = 108},
    {"v100", "", NVIDIA, 32, 900000, 7800, 15700, 125000, 0, 0, 0, .us = 5, .gen = VOLTA,
     .units = 80},
    {"h100", "h100-80g-sxm", NVIDIA, 80, 3350000, 34000, 67000, 989500, 989500, 1979000, 1979000,
     .us = 5, .gen = HOPPER, .units = 132},
    {"h200", "", NVIDIA, 141, 4800000, 34000, 67000, 989500, 989500, 1979000, 1979000, .us = 5,
     .gen = HOPPER, .units = 132},
    {"h800", "", NVIDIA, 80, 3350000, 1000, 67000, 989500, 989500, 1979000, 1979000, .us = 5,
     .gen = HOPPER, .units = 132},
    {"h20", "", NVIDIA, 96, 4000000, 1000, 44000, 148000, 148000, 296000, 296000, .us = 5,
     .gen = HOPPER, .units = 78},
    {"gh200", "", NVIDIA, 96, 4000000, 34000, 67000, 989500, 989500, 1979000, 1979000, .us = 5,
     .link = 450000, .gen = HOPPER, .units = 132},
    {"b200", "", NVIDIA, 180, 7700000, 37000, 75000, 2250000, 2250000, 4500000, 4500000, .us = 5,
     .gen = BLACKWELL, .units = 148},
    {"gb200", "", NVIDIA, 186, 8000000, 40000, 80000, 2500000, 2500000, 5000000, 5000000, .us = 5,
     .link = 450000, .gen = BLACKWELL, .units = 148},
    {"b300", "", NVIDIA, 288, 8000000, 1250, 75000, 2250000, 2250000, 4500000, 125000, .us = 5,
     .gen = BLACKWELL, .units = 148},
    {"a100-80g-pcie", "", NVIDIA, 80, 1935000, 9700, 19500, 312000, 312000, 0, 624000, .us = 5,
     .gen = AMPERE, .units = 108},
    {"a100-40g-pcie", "", NVIDIA, 40, 1555000, 9700, 19500, 312000, 312000, 0, 624000, .us = 5,
     .gen = AMPERE, .units = 108},
    {"a100-40g-sxm", "", NVIDIA, 40, 1555000, 9700, 19500, 312000, 312000, 0, 624000, .us = 5,
     .gen = AMPERE, .units = 108},
    {"v100-pcie", "v100-32g-pcie", NVIDIA, 32, 900000, 7000, 14000, 112000, 0, 0, 0, .us = 5,
     .gen = VOLTA, .units = 80},
    {"t4", "", NVIDIA, 16, 300000, 0, 8100, 65000, 0, 0, 130000, .us = 5, .gen = TURING,
     .units = 40},
    {"l4", "", NVIDIA, 24, 300000, 0, 30300, 121000, 121000, 242500, 242500, .us = 5, .gen = ADA,
     .units = 58},
    {"a10", "", NVIDIA, 24, 600000, 0, 31200, 125000, 125000, 0, 250000, .us = 5, .gen = AMPERE,
     .units = 72},
    {"a30", "", NVIDIA, 24, 933000, 5200, 10300, 165000, 165000, 0, 330000, .us = 5, .gen = AMPERE,
     .units = 56},
    {"a40", "", NVIDIA, 48, 696000, 0, 37400, 149700, 149700, 0, 299300, .us = 5, .gen = AMPERE,
     .units = 84},
    {"l40", "", NVIDIA, 48, 864000, 0, 90500, 181050, 181050, 362000, 362000, .us = 5, .gen = ADA,
     .units = 142},
    {"l40s", "", NVIDIA, 48, 864000, 0, 91600, 362050, 362050, 733000, 733000, .us = 5, .gen = ADA,
     .units = 142},
    {"a6000", "rtx-a6000", NVIDIA, 48, 768000, 0, 38700, 154800, 154800, 0, 309700, .us = 5,
     .gen = AMPERE, .units = 84},
    {"rtx6000-ada", "6000-ada", NVIDIA, 48, 960000, 0, 91100, 364200, 364200, 728500, 728500,
     .us = 5, .gen = ADA, .units = 142},
    {"rtx3080", "3080", NVIDIA, 10, 760000, 0, 29800, 59500, 59500, 0, 238000, .us = 5,
     .gen = AMPERE, .units = 68},
    {"rtx3090", "3090", NVIDIA, 24, 936000, 0, 35600, 71000, 71000, 0, 284000, .us = 5,
     .gen = AMPERE, .units = 82},
    {"rtx4080", "4080", NVIDIA, 16, 716800, 0, 48700, 97500, 97500, 194900, 389900, .us = 5,
     .gen = ADA, .units = 76},
    {"rtx4090", "4090", NVIDIA, 24, 1008000, 0, 82600, 165200, 165200, 330300, 660600, .us = 5,
     .gen = ADA, .units = 128},
    {"rtx5080", "5080", NVIDIA, 16, 960000, 0, 56300, 112600, 112600, 225100, 450200, .us = 5,
     .gen = BLACKWELL, .units = 84},
    {"rtx5090", "5090", NVIDIA, 32, 1792000, 0, 104800, 209500, 209500, 419000, 838000, .us = 5,
     .gen = BLACKWELL, .units = 170},
    {"orin", "agx-orin", NVIDIA, 64, 204800, 0, 5300, 42500, 42500, 0, 85000, .us = 5,
     .gen = AMPERE, .units = 16},
    {"thor", "agx-thor", NVIDIA, 128, 273000, 0, 8000, 258500, 258500, 517000, 517000, .us = 5,
     .gen = BLACKWELL, .units = 20},
    {"mi250", "", AMD, 64, 1638400, 22650, 22650, 181050, 181050, 0, 181050, .us = 5},
    {"mi300x", "mi300", AMD, 192, 5300000, 81700, 163400, 1307400, 1307400, 2614900, 2614900,
     .us = 5, .fnuz = true},
    {"mi325x", "mi325", AMD, 256, 6000000, 81700, 163400, 1307400, 1307400, 2614900, 2614900,
     .us = 5, .fnuz = true},
    {"mi355x", "mi355", AMD, 288, 8000000, 78600, 157300, 2516600, 2516600, 5033200, 5033200,
     .us = 5},
    {"gaudi2", "", NO_GPU, 96, 2450000, 0, 5500, 432000, 432000, 865000, 0, .us = 5},
    {"gaudi3", "gaudi", NO_GPU, 128, 3700000, 0, 14350, 1835000, 1835000, 1835000, 0, .us = 5},
    {"arc-a770", "a770", INTEL, 16, 560000, 0, 17200, 131000, 131000, 0, 262000, .us = 5},
    {"arc-b580", "b580", INTEL, 12, 456000, 0, 13670, 116500, 116500, 0, 233000, .us = 5},
    {"arc-140v", "140v", INTEL, 16, 136500, 0, 4200, 33500, 33500, 0, 67000, .us = 5},
    {"iris-xe", "igpu", INTEL, 16, 68300, 0, 2070, 4150, 0, 0, 8300, .us = 5},
    {"m1", "", NO_GPU, 16, 68250, 0, 2600, 0, 0, 0, 0, .us = 5},
    {"m1-pro", "m1pro", NO_GPU, 32, 200000, 0, 5200, 0, 0, 0, 0, .us = 5},
    {"m1-max", "m1max", NO_GPU, 64, 400000, 0, 10400, 0, 0, 0, 0, .us = 5},
    {"m1-ultra", "m1ultra", NO_GPU, 128, 800000, 0, 21000, 0, 0, 0, 0, .us = 5},
    {"m2", "", NO_GPU, 24, 100000, 0, 3600, 0, 0, 0, 0, .us = 5},
    {"m2-pro", "m2pro", NO_GPU, 32, 200000, 0, 6800, 0, 0, 0, 0, .us = 5},
    {"m2-max", "m2max", NO_GPU, 96, 400000, 0, 13600, 0, 0, 0, 0, .us = 5},
    {"m2-ultra", "m2ultra", NO_GPU, 192, 800000, 0, 27200, 0, 0, 0, 0, .us = 5},
    {"adreno", "adreno-x1", NO_GPU, 16, 135000, 0, 4600, 0, 0, 0, 0, .us = 5},
    {"npu", "lunar-lake", NPU, 16, 136000, 0, 3000, 24000, 0, 0, 48000, .us = 10},
    {"meteor-lake", "", NPU, 16, 119500, 0, 688, 5500, 0, 0, 11000, .us = 10},
    {"xdna", "hawk-point", NPU, 16, 120000, 0, 1000, 0, 0, 0, 16000, .us = 10},
    {"xdna2", "strix", NPU, 16, 120000, 0, 3125, 0, 0, 0, 50000, .us = 10},
    {"snapdragon", "hexagon", NPU, 16, 135000, 0, 2813, 0, 0, 0, 45000, .us = 10},
    {"cpu", "", NO_GPU, 0, 204800, 2500, 5000, 0, 0, 0, 10000, .us = 1},
    {"xeon", "", NO_GPU, 0, 307200, 3584, 7168, 0, 0, 0, 28672, .us = 1, .cores = 56},
    {"epyc", "", NO_GPU, 0, 460800, 3686, 7373, 0, 0, 0, 29491, .us = 1, .cores = 96},
};
/* clang-format on */
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
    /* tensor cores of NVIDIA compute TF32 at half the rate of bf16 */
    c->tf32 = p->maker == NVIDIA ? p->bf16 * GIGA / 2 : 0;
    c->bandwidth = p->rate * MEGA;
    c->overhead = p->us * MICRO;
    kernel_rates(p->name, p->gen, p->units, c->kernel);
    c->link_latency = host ? 0 : LINK_LATENCY;
    c->link_bandwidth = host ? 0 : p->link ? p->link * MEGA : LINK_BANDWIDTH;
    return true;
}

const char *preset_also(uint32_t i)
{
    return i < PRESETS ? presets[i].also : NULL;
}

enum gpu_maker preset_maker(uint32_t i)
{
    assert(i < PRESETS);
    return presets[i].maker;
}

enum kernel_source preset_kernels(uint32_t i)
{
    int64_t kernel[KERNEL_FACTS];
    assert(i < PRESETS);
    return kernel_rates(presets[i].name, presets[i].gen, presets[i].units, kernel);
}

/* Whether name[0 .. n) is this word, capitals ignored, and is not empty. */
static bool is_word(const char *word, const char *name, size_t n)
{
    return n && strlen(word) == n && strncasecmp(word, name, n) == 0;
}

/* Changes *c from one socket of processor p to `cores` cores, and its name to one that says so, in a: "xeon32". */
static void take_cores(struct device_class *c, const struct preset *p, uint32_t cores,
                       struct arena *a)
{
    for (int e = 0; e < ELEM_COUNT; e++)
        c->peak[e] = mul_div_ceil(c->peak[e], cores, p->cores);
    c->bandwidth *= (cores - 1) / p->cores + 1; /* each socket brings its own memory bandwidth */
    c->name = arena_fmt(a, "%s%u", p->name, cores);
}

/* Returns the row of presets[] whose name or other name is name[0 .. n), capitals ignored; NULL: there is none. */
static const struct preset *find_preset(const char *name, size_t n)
{
    for (uint32_t i = 0; i < PRESETS; i++)
        if (is_word(presets[i].name, name, n) || is_word(presets[i].also, name, n))
            return &presets[i];
    return NULL;
}

bool preset_is_npu(const char *name)
{
    const struct preset *p = find_preset(name, strlen(name));
    return p && p->maker == NPU;
}

bool preset_is_gpu(const struct device_class *c)
{
    return !c->host && !preset_is_npu(c->name);
}

bool preset_is_other_gpu(const char *name, enum gpu_maker maker)
{
    const struct preset *p = find_preset(name, strlen(name));
    return p && p->maker != NPU && p->maker != maker;
}

void gpus_number(const char *const *class, uint32_t n, int32_t *number)
{
    int32_t next[GPU_MAKERS] = {0}; /* [maker] number of its next GPU */
    enum gpu_maker first = NO_GPU;  /* the maker of the first GPU that is a preset */
    for (uint32_t i = 0; i < n && first == NO_GPU; i++) {
        const struct preset *p = class[i] ? find_preset(class[i], strlen(class[i])) : NULL;
        if (p && p->maker != NPU)
            first = p->maker;
    }
    for (uint32_t i = 0; i < n; i++) {
        const struct preset *p = class[i] ? find_preset(class[i], strlen(class[i])) : NULL;
        bool gpu = class[i] && !(p && p->maker == NPU);
        number[i] = gpu ? next[p ? p->maker : first]++ : -1;
    }
}

void cluster_number_gpus(const struct cluster *c, struct arena *a, int32_t *number)
{
    const char **class = arena_array(a, c->ndev, sizeof *class);
    for (uint32_t d = 0; d < c->ndev; d++) {
        const struct device_class *k = &c->cls[cluster_class(c, d)];
        class[d] = k->host ? NULL : k->name;
    }
    gpus_number(class, c->ndev, number);
}

bool preset_of(const char *name, size_t n, struct arena *a, struct device_class *c)
{
    const struct preset *p = find_preset(name, n);
    uint32_t cores = 0;
    /* a processor with a number of cores behind its name: xeon32 */
    for (uint32_t i = 0; !p && !cores && i < PRESETS; i++) {
        size_t k = strlen(presets[i].name);
        if (presets[i].cores && n > k && !strncasecmp(presets[i].name, name, k))
            cores = preset_count(name + k, n - k);
        p = cores ? &presets[i] : NULL;
    }
    if (p)
        preset_at((uint32_t)(p - presets), c);
    if (cores)
        take_cores(c, p, cores, a);
    return p != NULL;
}

/* Links by name; bandwidths are for one direction, as large copies reach them, where that is published:
 *  - pcie3x16, pcie4x16: CUDA's bandwidthTest, pinned memory, the slower way, github.com/jdh4/della-gpu-A100: 12.4 GB/s
 *    to a P100 (15.754 by the specification), 25.7 from an A100 PCIe (31.508).  github.com/JuliaGPU/GPUInspector.jl
 *    has 24.33 GiB/s for a DGX A100, 26.1 GB/s.
 *  - pcie5x16, nvlink4: nvbandwidth on eight H100, the slowest GPU or pair, github.com/Azure/cluster-health-monitor:
 *    55.1 GB/s from a GPU (63.015), 395 from GPU to GPU (450 by the sheet).
 *  - nvlink3: GPU to GPU on a DGX A100, GPUInspector.jl: about 244 GiB/s for any two, 262 GB/s (300 by the sheet).
 *  - infiniband: OSU's test both ways over EDR, github.com/hpc-cofc/generic-benchmarks: 24.3 GB/s of 25; of HDR and NDR
 *    the same share, 0.97.
 * The others are estimates: half of the x16 for x8; NVLink of all links of a GPU together (the sheets of V100 and B200
 * state 300 and 1800 GB/s for both directions) at the share that nvlink3 and nvlink4 reach, 0.875; Ethernet at 1448 of
 * 1538 bytes of a frame, which is what TCP has of it.  So are all latencies: usual ones from a program's start of a
 * transfer to its end, not of the wire alone. */
static const struct link_preset links[] = {
    {"pcie3x8", 6200 * MEGA, 10 * MICRO, false},
    {"pcie3x16", 12400 * MEGA, 10 * MICRO, true},
    {"pcie4x8", 12850 * MEGA, 10 * MICRO, false},
    {"pcie4x16", 25700 * MEGA, 10 * MICRO, true},
    {"pcie5x8", 27550 * MEGA, 10 * MICRO, false},
    {"pcie5x16", 55100 * MEGA, 10 * MICRO, true},
    {"nvlink2", 131 * GIGA, 2 * MICRO, false},
    {"nvlink3", 262 * GIGA, 2 * MICRO, true},
    {"nvlink4", 395 * GIGA, 2 * MICRO, true},
    {"nvlink5", 788 * GIGA, 2 * MICRO, false},
    {"ethernet10", 1177 * MEGA, 50 * MICRO, false},
    {"ethernet25", 2942 * MEGA, 50 * MICRO, false},
    {"ethernet100", 11768 * MEGA, 50 * MICRO, false},
    {"infiniband200", 24250 * MEGA, 5 * MICRO, false},
    {"infiniband400", 48500 * MEGA, 5 * MICRO, false},
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

/* Returns the name of the class that the mistyped word[0 .. n) may mean; NULL: none.  It is the nearest name; for a
 * word that ends in digits, the name of a processor if that is nearer to the word without the digits; if no name is
 * near, the first name that begins with the word. */
static const char *nearest_class(const char *word, size_t n)
{
    size_t letters = n;
    while (letters > 0 && word[letters - 1] >= '0' && word[letters - 1] <= '9')
        letters--;
    struct nearest t = nearest_to(word, n), u = nearest_to(word, letters);
    for (int i = 0; i < PRESETS; i++) {
        nearest_try(&t, presets[i].name);
        if (*presets[i].also)
            nearest_try(&t, presets[i].also);
        if (presets[i].cores)
            nearest_try(&u, presets[i].name);
    }
    /* no name is near: takes the first name that begins with the word, such as "arc" */
    for (int i = 0; n > 2 && !t.best && i < PRESETS; i++)
        if (strncasecmp(presets[i].name, word, n) == 0)
            t.best = presets[i].name;
    return u.best && u.distance < t.distance ? u.best : t.best;
}

const char *preset_near(const char *name, size_t n, uint32_t *count)
{
    size_t digits = 0;
    while (digits < n && name[digits] >= '0' && name[digits] <= '9')
        digits++;
    /* the word may be a class and a number without the 'x' or in the wrong order: 2a100, a100x2 */
    for (size_t at = 1; at < n; at++) {
        uint32_t number = 0;
        const struct preset *p = NULL;
        if (at == digits) {
            number = preset_count(name, at);
            p = find_preset(name + at, n - at);
        } else if (name[at] == 'x') {
            number = preset_count(name + at + 1, n - at - 1);
            p = find_preset(name, at);
        }
        if (number && p) {
            *count = number;
            return p->name;
        }
    }
    /* "gpu" is near to "cpu" by its letters, but means another device */
    bool gpu = n - digits >= 3 && !strncasecmp(name + digits, "gpu", 3);
    return gpu ? NULL : nearest_class(name, n);
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
        preset_of("v100", 4, NULL, &c->cls[0]);
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
