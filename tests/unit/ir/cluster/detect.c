/* -d detect on machines that are not this one: programs on PATH print what the makers' programs print, or hang, or lie;
 * a folder has files as /sys and /proc do.  What nvidia-smi prints of the H200, its matrix of links with NICs, what
 * rocm-smi prints of Radeons and what nvidia-smi says when it fails was recorded; the rest is written after the makers'
 * pages. */
#include "ir/base/units.h"
#include "ir/cluster/detect/detect.h"
#include "ir/cluster/detect/gpu.h"
#include "ir/cluster/detect/processor.h"
#include "ir/cluster/detect/speed.h"
#include "tests/support/said.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <ftw.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define LONG                                                                                       \
    (60 * INT64_C(1000000000)) /* ns: more than a program takes on a machine that is very busy */

/* A machine that is not this one. */
struct fake {
    char root[40];
    struct arena *a;
    struct said notes;
    struct diag d;
    struct gpu_search s;
    struct cluster c;
};

static void keep(void *user, enum diag_level level, enum warning w, const char *line)
{
    (void)w;
    (void)level;
    say(user, "%s\n", line);
}

/* Makes a machine without files, and without programs on PATH but those that tests put there. */
static void make(struct fake *f)
{
    memset(f, 0, sizeof *f);
    snprintf(f->root, sizeof f->root, "/tmp/unit_detect_XXXXXX");
    assert_non_null(mkdtemp(f->root));
    f->a = arena_new(NULL);
    f->d = (struct diag){.emit = keep, .user = &f->notes};
    const char *built = getenv("PCC_BUILT");
    f->s = (struct gpu_search){.root = f->root,
                               .limit = LONG,
                               .a = f->a,
                               .d = &f->d,
                               .nvml = arena_fmt(f->a, "%s/libfake-nvml.so", built ? built : ".")};
    setenv("PATH", arena_fmt(f->a, "%s/bin", f->root), 1);
    unsetenv("FAKE_NVML");
}

/* Makes a file below the root, with its folders. */
static const char *put(struct fake *f, const char *path, const char *text)
{
    char *whole = arena_fmt(f->a, "%s/%s", f->root, path);
    for (char *s = whole + strlen(f->root) + 1; (s = strchr(s, '/')); *s++ = '/') {
        *s = 0;
        mkdir(whole, 0755);
    }
    FILE *file = fopen(whole, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    return whole;
}

/* Puts a program on PATH: a shell script. */
static void program(struct fake *f, const char *name, const char *script)
{
    const char *path =
        put(f, arena_fmt(f->a, "bin/%s", name), arena_fmt(f->a, "#!/bin/sh\n%s\n", script));
    chmod(path, 0755);
}

/* A script that prints the text. */
static const char *prints(struct fake *f, const char *text)
{
    return arena_fmt(f->a, "/bin/cat <<'END'\n%s\nEND", text);
}

/* Puts nvidia-smi on PATH, with what it prints when it is asked for GPUs, for their matrix and for their links. */
static void nvidia_smi(struct fake *f, const char *gpus, const char *matrix, const char *links)
{
    program(
        f, "nvidia-smi",
        arena_fmt(
            f->a,
            "case $1 in\n--query-gpu=name,memory.free,memory.total,*)\n%s\n;;\ntopo)\n%s\n;;\nnvlink)\n%s\n;;\nesac",
            prints(f, gpus), prints(f, matrix), prints(f, links)));
}

/* Puts a device into /sys. */
static void pci(struct fake *f, const char *bus, const char *class, const char *vendor,
                const char *device, const char *driver)
{
    char *folder = arena_fmt(f->a, "sys/bus/pci/devices/%s", bus);
    put(f, arena_fmt(f->a, "%s/class", folder), class);
    put(f, arena_fmt(f->a, "%s/vendor", folder), vendor);
    put(f, arena_fmt(f->a, "%s/device", folder), device);
    if (driver)
        assert_int_equal(symlink(arena_fmt(f->a, "../../../bus/pci/drivers/%s", driver),
                                 arena_fmt(f->a, "%s/%s/driver", f->root, folder)),
                         0);
}

static int drop(const char *path, const struct stat *st, int type, struct FTW *w)
{
    (void)st;
    (void)type;
    (void)w;
    return remove(path);
}

static void destroy(struct fake *f)
{
    nftw(f->root, drop, 16, FTW_DEPTH | FTW_PHYS);
    arena_free(f->a);
}

/* Finds the GPUs and compares them with words, a line per class: "2xa100:80000MiB 31.5GB/s 4:300GB/s f32 ...". */
static void expect(struct fake *f, const char *want)
{
    struct said got = {0};
    char memory[UNIT_TEXT], link[UNIT_TEXT], inner[UNIT_TEXT];
    memset(&f->c, 0, sizeof f->c);
    memset(&f->notes, 0, sizeof f->notes);
    gpu_find(&f->s, &f->c);
    for (uint32_t i = 0; i < f->c.ncls; i++) {
        const struct device_class *k = &f->c.cls[i];
        say(&got, "%ux%s:%s %s", k->count, k->name, bytes_print(memory, k->memory),
            rate_print(link, k->link_bandwidth));
        if (k->group)
            say(&got, " %u:%s", k->group, rate_print(inner, k->inner_bandwidth));
        if (!strncmp(k->note, "estimated", 9)) {
            say(&got, " f32 %lldG f16 %lldG i8 %lldG %lldGB/s",
                (long long)(k->peak[ELEM_F32] / 1000000000),
                (long long)(k->peak[ELEM_F16] / 1000000000),
                (long long)(k->peak[ELEM_I8] / 1000000000), (long long)(k->bandwidth / 1000000000));
        }
        say(&got, "\n");
        assert_true(k->memory > 0 && k->bandwidth > 0 && k->peak[ELEM_F32] > 0 && !k->host);
    }
    if (strcmp(got.text, want))
        fail_msg("found:\n%swanted:\n%snotes:\n%s", got.text, want, f->notes.text);
}

static void expect_note(struct fake *f, const char *words)
{
    if (!strstr(f->notes.text, words))
        fail_msg("no note '%s' in:\n%s", words, f->notes.text);
}

/* ---- NVIDIA ---------------------------------------------------------------------------------------- */

#define H200 "NVIDIA H200, 143156, 143771, 1980, 3201, 00000000:00:06.0, 5, 16"
#define A100(free, bus)                                                                            \
    "NVIDIA A100-SXM4-80GB, " free ", 81920, 1410, 1593, 00000000:" bus ":00.0, 4, 16\n"
#define LEGEND                                                                                     \
    "\nLegend:\n\n  X    = Self\n  NV#  = Connection traversing a bonded set of # NVLinks"

static void nvidia(void **state)
{
    struct fake f;
    (void)state;
    make(&f);
    expect(&f, "");
    nvidia_smi(&f, H200, "", "");
    expect(&f, "1xh200:143156MiB 63015384608B/s\n");
    assert_string_equal(f.notes.text, "");
    assert_string_equal(f.c.cls[0].note, "NVIDIA H200 by nvidia-smi");

    /* two that NVLinks join; the class has the memory of the one with less; heads in escapes, as they come */
    nvidia_smi(
        &f, A100("80996", "07") A100("80403", "0F"),
        "\t\033[4mGPU0\tGPU1\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\033[0m\n"
        "GPU0\t X \tNV12\t0-15\t0\t\tN/A\nGPU1\tNV12\t X \t0-15\t0\t\tN/A\n" LEGEND,
        "GPU 0: NVIDIA A100-SXM4-80GB (UUID: GPU-1)\n\t Link 0: <inactive>\n\t Link 1: 25 GB/s");
    expect(&f, "2xa100:80403MiB 31507692304B/s 2:300GB/s\n");

    /* four with network cards in between */
    nvidia_smi(
        &f, A100("80996", "07") A100("80996", "0F") A100("80996", "47") A100("80996", "4E"),
        "        GPU0    GPU1    GPU2    GPU3    NIC0    NIC1    CPU Affinity    NUMA Affinity\n"
        "GPU0     X      NV6     NV6     NV6     PIX     SYS     6,14,22,30      3\n"
        "GPU1    NV6      X      NV6     NV6     SYS     PIX     4,12,20,28      1\n"
        "GPU2    NV6     NV6      X      NV6     SYS     SYS     7,15,23,31      7\n"
        "GPU3    NV6     NV6     NV6      X      SYS     SYS     5,13,21,29      5\n"
        "NIC0    PIX     SYS     SYS     SYS      X      SYS\n" LEGEND,
        "GPU 0: x\n         Link 0: 26.562 GB/s");
    expect(&f, "4xa100:80996MiB 31507692304B/s 4:160GB/s\n");

    /* pairs, one of which has fewer links; then links that make no blocks */
    const char *four =
        A100("80996", "07") A100("80996", "0F") A100("80996", "47") A100("80996", "4E");
    nvidia_smi(&f, four,
               "\tGPU0\tGPU1\tGPU2\tGPU3\nGPU0\t X \tNV2\tSYS\tSYS\nGPU1\tNV2\t X \tSYS\tSYS\n"
               "GPU2\tSYS\tSYS\t X \tNV4\nGPU3\tSYS\tSYS\tNV4\t X ",
               "");
    expect(&f, "4xa100:80996MiB 31507692304B/s 2:50GB/s\n");
    nvidia_smi(&f, four,
               "\tGPU0\tGPU1\tGPU2\tGPU3\nGPU0\t X \tSYS\tNV4\tSYS\nGPU1\tSYS\t X \tSYS\tNV4\n"
               "GPU2\tNV4\tSYS\t X \tSYS\nGPU3\tSYS\tNV4\tSYS\t X ",
               "");
    expect(&f, "4xa100:80996MiB 31507692304B/s\n");
    destroy(&f);
}

/* Names that do not stand for a preset, with cores from the library and without. */
static void nvidia_estimated(void **state)
{
    struct fake f;
    (void)state;
    make(&f);
    nvidia_smi(&f,
               "NVIDIA GeForce RTX 3090 Ti, 24000, 24564, 1860, 10501, 00000000:01:00.0, 4, 16\n"
               "NVIDIA GeForce RTX 3060, 11900, 12288, 2100, 7501, 00000000:02:00.0, 4, 8",
               "\tGPU0\tGPU1\nGPU0\t X \tPHB\nGPU1\tPHB\t X ", "");
    setenv("FAKE_NVML", "10752,384,8.6 3584,192,8.6", 1);
    /* 2 * 10752 * 1.86 GHz; 384 / 8 * 2 * 10501 MHz */
    expect(
        &f,
        "1xnvidia-geforce-rtx-3090-ti:24000MiB 31507692304B/s f32 40000G f16 80000G i8 320000G 1000GB/s\n"
        "1xnvidia-geforce-rtx-3060:11900MiB 15753846152B/s f32 15000G f16 30000G i8 120000G 360GB/s\n");
    expect_note(&f, "nvidia-geforce-rtx-3060 is estimated: NVIDIA GeForce RTX 3060 by nvidia-smi, "
                    "3584 cores at 2100 MHz");
    setenv("FAKE_NVML", "10752 3584,192",
           1); /* the types that are told by the generation are as of the nearest preset */
    expect(
        &f,
        "1xnvidia-geforce-rtx-3090-ti:24000MiB 31507692304B/s f32 40000G f16 160000G i8 320000G 300GB/s\n"
        "1xnvidia-geforce-rtx-3060:11900MiB 15753846152B/s f32 15000G f16 30000G i8 120000G 360GB/s\n");
    for (int i = 0; i < 2; i++) { /* it hangs, knows none */
        setenv("FAKE_NVML", i ? "" : "hang", 1);
        f.s.limit = i ? LONG : 100000000;
        expect(
            &f,
            "1xnvidia-geforce-rtx-3090-ti:24000MiB 31507692304B/s f32 30300G f16 121000G i8 242500G 300GB/s\n"
            "1xnvidia-geforce-rtx-3060:11900MiB 15753846152B/s f32 29800G f16 59500G i8 238000G 760GB/s\n");
        expect_note(
            &f, "is estimated: NVIDIA GeForce RTX 3060 by nvidia-smi, the rest as of the rtx3080");
    }
    f.s.nvml = "/nowhere/libnvidia-ml.so.1";
    expect(
        &f,
        "1xnvidia-geforce-rtx-3090-ti:24000MiB 31507692304B/s f32 30300G f16 121000G i8 242500G 300GB/s\n"
        "1xnvidia-geforce-rtx-3060:11900MiB 15753846152B/s f32 29800G f16 59500G i8 238000G 760GB/s\n");
    destroy(&f);
}

/* A program that fails, hangs, prints nothing useful, or says of memory that it cannot be read. */
static void nvidia_broken(void **state)
{
    struct fake f;
    struct timespec before, after;
    (void)state;
    make(&f);
    program(&f, "nvidia-smi",
            "echo 'Failed to initialize NVML: Driver/library version mismatch'; exit 18");
    expect(&f, "");
    expect_note(&f, "nvidia-smi fails (exit status 18): Failed to initialize NVML: "
                    "Driver/library version mismatch");
    /* what the driver tells in /proc; the display controller of the board is no GPU, nor what another driver has */
    pci(&f, "0000:01:00.0", "0x030200", "0x10de", "0x2335", "nvidia");
    pci(&f, "0000:02:00.0", "0x030000", "0x1a03", "0x2000", "ast");
    pci(&f, "0000:03:00.0", "0x030200", "0x10de", "0x2335", "vfio-pci");
    pci(&f, "0000:04:00.0", "0x020000", "0x10de", "0x2335", "nvidia");
    pci(&f, "0000:05:00.0", "0x030200", "0x10de", "0x2335", NULL);
    put(&f, "proc/driver/nvidia/gpus/0000:01:00.0/information",
        "Model: \t\t NVIDIA H200\nIRQ:   \t\t 41\n");
    put(&f, "sys/bus/pci/devices/0000:01:00.0/max_link_speed", "32.0 GT/s PCIe\n");
    put(&f, "sys/bus/pci/devices/0000:01:00.0/current_link_width", "16\n");
    expect(&f, "1xh200:141GiB 63015384608B/s\n");
    assert_string_equal(f.c.cls[0].note, "NVIDIA H200 by /sys");
    program(&f, "nvidia-smi", "exec /bin/sleep 100");
    f.s.limit = 200000000;
    clock_gettime(CLOCK_MONOTONIC, &before);
    expect(&f, "1xh200:141GiB 63015384608B/s\n");
    clock_gettime(CLOCK_MONOTONIC, &after);
    assert_true(after.tv_sec - before.tv_sec < 20);
    expect_note(&f, "nvidia-smi does not answer within 200ms");
    f.s.limit = 2000000000;
    program(&f, "nvidia-smi", "echo 'No devices were found'; exit 6");
    expect(&f, "1xh200:141GiB 63015384608B/s\n");
    program(&f, "nvidia-smi", "printf 'a line\\n\\001\\377,\\n,,,,,,,,,\\n'; /bin/cat /dev/zero");
    expect(&f, "1xh200:141GiB 63015384608B/s\n");
    expect_note(&f, "nvidia-smi fails (more than 1048576 bytes)");
    program(&f, "nvidia-smi", "printf 'a line\\n,\\n'");
    expect(&f, "1xh200:141GiB 63015384608B/s\n");
    expect_note(&f, "nvidia-smi says what is no GPU: a line");
    nvidia_smi(&f, "NVIDIA A30, [N/A], 24576, [N/A], [N/A], 00000000:01:00.0, [N/A], [N/A]\n", "",
               "");
    expect(&f, "1xa30:24GiB 63015384608B/s\n");
    expect_note(&f, "nvidia-smi does not tell the free memory of NVIDIA A30: all is taken");
    nvidia_smi(&f, "Orin (nvgpu), [N/A], [N/A], [N/A], [N/A], [N/A], [N/A], [N/A]\n", "", "");
    expect(&f, "1xorin:64GiB 25GB/s\n");
    f.s.host = INT64_C(30) << 30;
    expect(&f, "1xorin:30GiB 25GB/s\n");
    expect_note(&f, "does not tell the free memory of Orin (nvgpu): that of the host is taken");
    destroy(&f);
}

/* GPUs that are alike are one class, and there is room for seven classes. */
static void classes(void **state)
{
    struct fake f;
    (void)state;
    make(&f);
    nvidia_smi(
        &f,
        A100("80000", "01") A100("71000", "02") A100("1000", "03")
            A100("81000",
                 "04") "Tesla T4, 15000, 15360, 1590, 5001, 00000000:05:00.0, 3, 16\n" A100("81000",
                                                                                            "06"),
        "", "");
    expect(&f, "2xa100:71000MiB 31507692304B/s\n1xa100:1000MiB 31507692304B/s\n"
               "1xa100:81000MiB 31507692304B/s\n1xt4:15000MiB 15753846144B/s\n"
               "1xa100:81000MiB 31507692304B/s\n");
    struct said many = {0};
    for (int i = 0; i < 300; i++)
        say(&many, "NVIDIA %s, 1000\n", i % 2 ? "T4" : "A30");
    nvidia_smi(&f, many.text, "", "");
    expect(&f,
           "1xa30:1000MiB 25GB/s\n1xt4:1000MiB 25GB/s\n1xa30:1000MiB 25GB/s\n1xt4:1000MiB 25GB/s\n"
           "1xa30:1000MiB 25GB/s\n1xt4:1000MiB 25GB/s\n1xa30:1000MiB 25GB/s\n");
    expect_note(&f, "249 GPUs are left out: there is room for 7 classes of them");
    destroy(&f);
}

/* ---- AMD and Intel --------------------------------------------------------------------------------- */

static void kfd(struct fake *f, int node, const char *properties, const char *bank)
{
    put(f, arena_fmt(f->a, "sys/class/kfd/kfd/topology/nodes/%d/properties", node), properties);
    if (bank)
        put(f, arena_fmt(f->a, "sys/class/kfd/kfd/topology/nodes/%d/mem_banks/0/properties", node),
            bank);
}

#define MI210                                                                                      \
    "1xaldebaran-mi200-instinct-mi210:66406250KiB 31507692304B/s f32 23000G f16 184000G i8 "       \
    "184000G 1600GB/s\n"

static void amd(void **state)
{
    static const char answer[] =
        "WARNING: AMD GPU device(s) is/are in a low-power state. Check power control/runtime_status\n"
        "{\"card0\": {\"VRAM Total Memory (B)\": \"68702699520\", \"VRAM Total Used Memory (B)\": \"10960896\", "
        "\"Card Series\": \"AMD Instinct MI210\", \"Card Model\": \"0x740f\", \"PCI Bus\": \"0000:C4:00.0\"},\n"
        "\"card1\": {\"VRAM Total Memory (B)\": \"21458059264\", \"VRAM Total Used Memory (B)\": \"27856896\", "
        "\"Card series\": \"Radeon RX 7900 XT\", \"Card model\": \"0x744c\", \"PCI Bus\": \"0000:03:00.0\"},\n"
        "\"card2\": {\"VRAM Total Memory (B)\": \"206141652992\", \"VRAM Total Used Memory (B)\": \"0\", "
        "\"Card Series\": \"AMD Instinct MI300X OAM\", \"PCI Bus\": \"0000:05:00.0\"}}";
    struct fake f;
    (void)state;
    make(&f);
    pci(&f, "0000:c4:00.0", "0x038000", "0x1002", "0x740f", "amdgpu");
    put(&f, "sys/bus/pci/devices/0000:c4:00.0/max_link_speed", "16.0 GT/s PCIe\n");
    put(&f, "sys/bus/pci/devices/0000:c4:00.0/current_link_width", "16\n");
    put(&f, "sys/bus/pci/devices/0000:c4:00.0/mem_info_vram_total", "68702699520\n");
    put(&f, "sys/bus/pci/devices/0000:c4:00.0/mem_info_vram_used", "702699520\n");
    put(&f, "usr/share/misc/pci.ids",
        "# names\n10de  NVIDIA\n\t740f  Another\n1002  AMD\n\t73bf  Navi 21\n"
        "\t740f  Aldebaran/MI200 [Instinct MI210]\n\t\t1002 0c34  A board\n");
    kfd(&f, 0, "cpu_cores_count 64\nsimd_count 0\nlocation_id 0\n", "width 64\nmem_clk_max 2400\n");
    kfd(&f, 1,
        "cpu_cores_count 0\nsimd_count 416\nsimd_per_cu 4\nlocation_id 50176\ndomain 0\n"
        "max_engine_clk_fcompute 1700\ngfx_target_version 90010\n",
        "heap_type 1\nsize_in_bytes 68702699520\nflags 0\nwidth 4096\nmem_clk_max 1600\n");
    /* without rocm-smi: 104 units of 64 at 1.7 GHz, 4096 / 8 * 2 * 1.6 GHz; the sheet: 22.6, 181, 1.6 TB/s */
    expect(&f, MI210);
    program(&f, "rocm-smi", prints(&f, answer));
    expect(
        &f,
        "1xamd-instinct-mi210:67081776KiB 31507692304B/s f32 23000G f16 184000G i8 184000G 1600GB/s\n"
        "1xradeon-rx-7900-xt:20927932KiB 25GB/s f32 22650G f16 181050G i8 181050G 1638GB/s\n"
        "1xmi300x:196592MiB 25GB/s\n");
    static const char *const broken[][2] = {
        {"echo '{\"card0\": {'", "rocm-smi says nothing of GPUs: {\"card0\": {"},
        {"echo 'ERROR:root:Driver not initialized (amdgpu not found in modules)'",
         "rocm-smi says nothing of GPUs: ERROR:root"},
        {"exit 2", "rocm-smi fails (exit status 2)"},
        {"echo '{\"card0\": 7, \"system\": {}, \"cardx\": {}}'", "rocm-smi says nothing of GPUs"}};
    for (int i = 0; i < 4; i++) {
        program(&f, "rocm-smi", broken[i][0]);
        expect(&f, MI210);
        expect_note(&f, broken[i][1]);
    }
    /* 304 units of 64 at 2.1 GHz, 8192 / 8 * 4 * 1.3 GHz */
    pci(&f, "0001:05:00.0", "0x120000", "0x1002", "0x74a2", "amdgpu");
    put(&f, "sys/bus/pci/devices/0001:05:00.0/product_name", "AMD Instinct MI308X\n");
    put(&f, "sys/bus/pci/devices/0001:05:00.0/mem_info_vram_total", "206158430208\n");
    kfd(&f, 2,
        "simd_count 1216\nsimd_per_cu 4\nlocation_id 1280\ndomain 1\nmax_engine_clk_fcompute 2100\n"
        "gfx_target_version 90402\n",
        "heap_type 1\nwidth 8192\nmem_clk_max 1300\n");
    program(&f, "rocm-smi", "exit 1");
    expect(&f, MI210
           "1xamd-instinct-mi308x:192GiB 25GB/s f32 82000G f16 656000G i8 1312000G 5300GB/s\n");
    destroy(&f);
}

static void intel(void **state)
{
    struct fake f;
    (void)state;
    make(&f);
    pci(&f, "0000:00:02.0", "0x030000", "0x8086", "0x9a49", "i915");
    put(&f, "usr/share/hwdata/pci.ids",
        "8086  Intel Corporation\n\t9a49  TigerLake-LP GT2 [Iris Xe Graphics]\n");
    expect(&f, "1xiris-xe:16GiB 25GB/s\n");
    program(
        &f, "xpu-smi",
        "case $* in 'discovery -j') /bin/cat <<'END'\n"
        "{\"device_list\": [{\"device_id\": 0, \"device_name\": \"Intel(R) Data Center GPU Flex 170\", "
        "\"pci_bdf_address\": \"0000:4d:00.0\"}, {\"device_id\": 1, \"device_name\": "
        "\"Intel(R) Arc(TM) A770 Graphics\", \"pci_bdf_address\": \"0000:5d:00.0\"}]}\nEND\n;;\n"
        "'discovery -d 0 -j') echo '{\"core_clock_rate_mhz\": \"2050\", \"number_of_eus\": \"512\", "
        "\"physical_eu_simd_width\": \"8\", \"memory_physical_size_byte\": \"14260000000\", "
        "\"memory_free_size_byte\": \"14000000000\", \"pcie_generation\": \"4\", "
        "\"pcie_max_link_width\": \"16\"}';;\n*) exit 1;; esac");
    /* 512 EUs of 8 at 2.05 GHz; it does not tell the rate of the memory */
    expect(
        &f,
        "1xintel-data-center-gpu-flex-170:13671875KiB 31507692304B/s f32 17000G f16 136000G i8 272000G 456GB/s\n"
        "1xarc-a770:16GiB 25GB/s\n");
    expect_note(&f, "xpu-smi fails (exit status 1)");
    program(&f, "xpu-smi", "echo '{\"error\": \"no device\"}'");
    expect(&f, "1xiris-xe:16GiB 25GB/s\n");
    destroy(&f);
}

/* ---- names and estimates --------------------------------------------------------------------------- */

static void names(void **state)
{
    static const struct {
        enum gpu_maker maker;
        const char *name, *preset;
    } is[] = {
        {NVIDIA, "NVIDIA GeForce RTX 3090", "rtx3090"},
        {NVIDIA, "NVIDIA GeForce RTX 3090 Ti", NULL},
        {NVIDIA, "NVIDIA GeForce RTX 3090Ti", NULL},
        {NVIDIA, "NVIDIA GeForce RTX 4090 D", NULL},
        {NVIDIA, "NVIDIA GeForce RTX 4090 Laptop GPU", NULL},
        {NVIDIA, "NVIDIA GeForce RTX 4080 SUPER", NULL},
        {NVIDIA, "NVIDIA GeForce RTX 3080", "rtx3080"},
        {NVIDIA, "NVIDIA RTX A6000", "a6000"},
        {NVIDIA, "NVIDIA RTX 6000 Ada Generation", "rtx6000-ada"},
        {NVIDIA, "Quadro RTX 6000", NULL},
        {NVIDIA, "NVIDIA RTX PRO 6000 Blackwell Workstation Edition", NULL},
        {NVIDIA, "NVIDIA A100 80GB PCIe", "a100"},
        {NVIDIA, "NVIDIA A100-PCIE-40GB", "a100"},
        {NVIDIA, "GRID A100-10C", "a100"},
        {NVIDIA, "Tesla V100-SXM2-32GB", "v100"},
        {NVIDIA, "NVIDIA H100 80GB HBM3", "h100"},
        {NVIDIA, "NVIDIA H100 NVL", "h100"},
        {NVIDIA, "NVIDIA GH200 480GB", "gh200"},
        {NVIDIA, "NVIDIA GB200", "gb200"},
        {NVIDIA, "NVIDIA L4", "l4"},
        {NVIDIA, "NVIDIA L40", "l40"},
        {NVIDIA, "NVIDIA L40S", "l40s"},
        {NVIDIA, "NVIDIA L400", NULL},
        {NVIDIA, "NVIDIA A10G", NULL},
        {NVIDIA, "NVIDIA PA10", NULL},
        {NVIDIA, "NVIDIA Thor", "thor"},
        {NVIDIA, "Author T", NULL},
        {NVIDIA, "AMD Instinct MI300X", NULL},
        {NVIDIA, "GA102 [GeForce RTX 3090]", "rtx3090"},
        {NVIDIA, "", NULL},
        {AMD, "AMD Instinct MI300X VF", "mi300x"},
        {AMD, "AMD INSTINCT MI250 (MCM) OAM AC MBA", "mi250"},
        {AMD, "AMD Instinct MI250X", NULL},
        {AMD, "NVIDIA L4", NULL},
        {INTEL, "Intel(R) Arc(TM) A770 Graphics", "arc-a770"},
        {INTEL, "Intel(R) Arc(TM) Graphics", NULL},
        {INTEL, "Intel(R) Arc(TM) A770M Graphics", NULL},
        {INTEL, "DG2 [Arc A770]", "arc-a770"},
        {INTEL, "Battlemage G21 [Arc B580]", "arc-b580"},
        {INTEL, "Lunar Lake [Intel Arc Graphics 130V / 140V]", "arc-140v"},
        {INTEL, "Intel(R) Iris(R) Xe Graphics", "iris-xe"},
        {INTEL, "Intel(R) Xeon(R)", NULL},
    };
    struct device_class k;
    (void)state;
    for (size_t i = 0; i < sizeof is / sizeof *is; i++) {
        bool found = gpu_preset(is[i].maker, is[i].name, &k);
        if (found != (is[i].preset != NULL) || (found && strcmp(k.name, is[i].preset)))
            fail_msg("'%s' is %s", is[i].name, found ? k.name : "nothing");
    }
}

/* Estimates of GPUs that there are presets of, by cores, clocks and bus from their makers: within a fifth. */
static void estimates(void **state)
{
    static const struct {
        const char *preset;
        enum gpu_maker maker;
        int64_t lanes, mhz, gbs, generation;
    } is[] = {
        {"v100", NVIDIA, 5120, 1530, 900, 70},      {"t4", NVIDIA, 2560, 1590, 320, 75},
        {"a100", NVIDIA, 6912, 1410, 2039, 80},     {"a30", NVIDIA, 3584, 1440, 933, 80},
        {"a10", NVIDIA, 9216, 1695, 600, 86},       {"a6000", NVIDIA, 10752, 1800, 768, 86},
        {"rtx3080", NVIDIA, 8704, 1710, 760, 86},   {"rtx3090", NVIDIA, 10496, 1695, 936, 86},
        {"orin", NVIDIA, 2048, 1300, 205, 87},      {"l4", NVIDIA, 7424, 2040, 300, 89},
        {"rtx4090", NVIDIA, 16384, 2520, 1008, 89}, {"rtx6000-ada", NVIDIA, 18176, 2505, 960, 89},
        {"h100", NVIDIA, 16896, 1980, 3350, 90},    {"b200", NVIDIA, 18944, 1965, 7700, 100},
        {"thor", NVIDIA, 2560, 1575, 273, 110},     {"rtx5090", NVIDIA, 21760, 2407, 1792, 120},
        {"mi250", AMD, 6656, 1700, 1638, 90010},    {"arc-a770", INTEL, 4096, 2100, 560, 0},
    };
    (void)state;
    struct arena *a = arena_new(NULL);
    for (size_t i = 0; i < sizeof is / sizeof *is; i++) {
        struct device_class k, want;
        struct gpu g = {.maker = is[i].maker,
                        .bus = "",
                        .told_by = "a test",
                        .lanes = is[i].lanes,
                        .name = strstr(is[i].preset, "rtx") && !strstr(is[i].preset, "ada")
                                    ? "GeForce of a test"
                                    : "A test",
                        .mhz = is[i].mhz,
                        .memory_rate = is[i].gbs * 1000000000,
                        .generation = is[i].generation};
        assert_true(gpu_class(&g, &k, a));
        assert_true(preset_of(is[i].preset, strlen(is[i].preset), NULL, &want));
        static const enum elem types[] = {ELEM_F32, ELEM_F16, ELEM_I8};
        for (int t = 0; t < 3; t++) {
            int64_t x = cluster_peak(&k, types[t]), y = cluster_peak(&want, types[t]);
            if (x > y / 5 * 6 || x < y / 5 * 4)
                fail_msg("%s: %s is estimated as %lld, not %lld", is[i].preset, elem_name(types[t]),
                         (long long)x, (long long)y);
        }
    }
    arena_free(a);
}

/* ---- the processor --------------------------------------------------------------------------------- */

/* What the control groups and /sys tell, seen from the processors that this test may use. */
static void processor(void **state)
{
    struct fake f;
    cpu_set_t mask;
    (void)state;
    make(&f);
    assert_int_equal(sched_getaffinity(0, sizeof mask, &mask), 0);
    uint32_t cpus = (uint32_t)CPU_COUNT(&mask);
    struct processor p = processor_find(f.root, f.a);
    assert_true(p.cores == cpus && p.quota == -1 && p.memory == -1 && p.cache == 0);
    /* all are threads of one core */
    for (int i = 0; i < CPU_SETSIZE; i++)
        if (CPU_ISSET(i, &mask))
            put(&f, arena_fmt(f.a, "sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", i),
                "0-3\n");
    put(&f, "sys/devices/system/cpu/cpu0/cache/index0/size", "48K\n");
    put(&f, "sys/devices/system/cpu/cpu0/cache/index3/size", "32768K\n");
    put(&f, "proc/meminfo",
        "MemTotal:       65536000 kB\nMemFree:  1000 kB\nMemAvailable:   32768000 kB\n");
    p = processor_find(f.root, f.a);
    assert_true(p.cores == 1 && p.cache == 32 << 20 && p.memory == INT64_C(32768000) * 1024);

    /* version 2: the least of the group and those around it; "max" is none */
    put(&f, "proc/self/cgroup", "0::/a/b\n");
    put(&f, "sys/fs/cgroup/cpu.max", "max 100000\n");
    put(&f, "sys/fs/cgroup/a/cpu.max", "150000 100000\n");
    put(&f, "sys/fs/cgroup/a/b/cpu.max", "300000 100000\n");
    put(&f, "sys/fs/cgroup/a/b/memory.max", "max\n");
    put(&f, "sys/fs/cgroup/a/memory.max", "1073741824\n");
    p = processor_find(f.root, f.a);
    assert_true(p.quota == 1500 && p.memory == 1 << 30);
    put(&f, "proc/self/cgroup", "0::/elsewhere\n"); /* a container: its group is the top */
    put(&f, "sys/fs/cgroup/cpu.max", "50000 100000\n");
    p = processor_find(f.root, f.a);
    assert_true(p.quota == 500 && p.memory == INT64_C(32768000) * 1024);
    put(&f, "sys/fs/cgroup/cpu.max", "no number\n");
    assert_true(processor_find(f.root, f.a).quota == -1);

    /* version 1 */
    put(&f, "proc/self/cgroup", "5:memory:/m\n3:cpu,cpuacct:/x/y\n1:name=systemd:/z\n");
    put(&f, "sys/fs/cgroup/cpu,cpuacct/x/cpu.cfs_quota_us", "-1\n");
    put(&f, "sys/fs/cgroup/cpu,cpuacct/x/cpu.cfs_period_us", "100000\n");
    put(&f, "sys/fs/cgroup/cpu,cpuacct/x/y/cpu.cfs_quota_us", "250000\n");
    put(&f, "sys/fs/cgroup/cpu,cpuacct/x/y/cpu.cfs_period_us", "100000\n");
    put(&f, "sys/fs/cgroup/memory/m/memory.limit_in_bytes", "2147483648\n");
    put(&f, "sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
    p = processor_find(f.root, f.a);
    assert_true(p.quota == 2500 && p.memory == INT64_C(1) << 31);
    destroy(&f);
}

/* What is measured here: a tenth of a core does a tenth of what one does; all stays within the time. */
static void measured(void **state)
{
    struct timespec before, after;
    struct arena *a = arena_new(NULL);
    struct device_class k;
    (void)state;
    /* of processor time, which other programs take no part in, the 0.2 s of one thread are the most */
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &before);
    struct speed s = speed_measure(1, 64 << 20);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &after);
    assert_true((after.tv_sec - before.tv_sec) * 1000 + (after.tv_nsec - before.tv_nsec) / 1000000 <
                200);
    /* other programs may take all the time of a phase */
    for (int i = 0; i < 9 && (s.flops == 0 || s.bytes == 0); i++)
        s = speed_measure(1, 64 << 20);
    assert_true(s.flops > 100000000 && s.flops < INT64_C(1000000000000));
    assert_true(s.bytes > 100000000 && s.bytes < INT64_C(1000000000000));
    assert_true(speed_vector_bits() == 128 || speed_vector_bits() == 256 ||
                speed_vector_bits() == 512);
    processor_class(&(struct processor){.cores = 1, .quota = 100, .memory = (5 << 20) + 1}, &k, a);
    assert_true(k.host && k.memory == 5 << 20 && k.peak[ELEM_F32] < s.flops / 3 &&
                k.peak[ELEM_F32] > s.flops / 40);
    assert_true(k.peak[ELEM_F64] == k.peak[ELEM_F32] / 2 &&
                k.peak[ELEM_F32] == two_digits(k.peak[ELEM_F32]));
    assert_non_null(strstr(k.note, "measured: 1 core, 0.100 at once, vectors of "));
    /* no memory for a copy: half a MiB for each thread is the least */
    assert_true(speed_measure(2, (1 << 20) - 1).bytes == 0);
    arena_free(a);
}

/* Figures of a processor from what its threads did: shares of a core, more cores than threads, nothing measured. */
static void rates(void **state)
{
    static const struct {
        uint32_t cores;
        int64_t quota;
        uint32_t threads;
        struct speed s;
        int64_t f32, bandwidth; /* 1e9 per second */
        const char *note;       /* its end, or its middle */
    } is[] = {
        {2, -1, 2, {160000000000, 20000000000}, 160, 20, "measured: 2 cores, vectors of "},
        {4, 1500, 2, {160000000000, 20000000000}, 120, 15, "4 cores, 1.500 at once, vectors of "},
        {600, -1, 512, {5120000000000, 300000000000}, 6000, 300, "600 cores, vectors of "},
        {64, -1, 64, {0, 20000000000}, 5000, 20, "bits, peaks not measured"},
        {64, -1, 64, {160000000000, 0}, 160, 200, "bits, bandwidth not measured"},
        {1, 1, 1, {0, 0}, 0, 0, "0.001 at once, vectors of "},
    };
    struct arena *a = arena_new(NULL);
    struct device_class k;
    (void)state;
    for (size_t i = 0; i < sizeof is / sizeof *is; i++) {
        const struct processor p = {.cores = is[i].cores, .quota = is[i].quota, .memory = -1};
        processor_rate(&p, is[i].threads, &is[i].s, &k, a);
        assert_true(k.memory == -1 && k.peak[ELEM_F32] > 0 && k.bandwidth > 0);
        assert_int_equal(k.peak[ELEM_F32] / 1000000000, is[i].f32);
        assert_int_equal(k.bandwidth / 1000000000, is[i].bandwidth);
        assert_non_null(strstr(k.note, is[i].note));
    }
    arena_free(a);
}

static void rounding(void **state)
{
    (void)state;
    static const int64_t rounded[][2] = {
        {0, 0},      {7, 7},          {99, 99},
        {104, 100},  {105, 110},      {1249, 1200},
        {995, 1000}, {99501, 100000}, {INT64_C(170500000001), INT64_C(170000000000)}};
    for (size_t i = 0; i < sizeof rounded / sizeof *rounded; i++)
        assert_int_equal(two_digits(rounded[i][0]), rounded[i][1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nvidia),        cmocka_unit_test(nvidia_estimated),
        cmocka_unit_test(nvidia_broken), cmocka_unit_test(classes),
        cmocka_unit_test(amd),           cmocka_unit_test(intel),
        cmocka_unit_test(names),         cmocka_unit_test(estimates),
        cmocka_unit_test(processor),     cmocka_unit_test(measured),
        cmocka_unit_test(rates),         cmocka_unit_test(rounding),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
