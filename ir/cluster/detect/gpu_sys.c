/* Finds GPUs in /sys and /proc (gpu.h), in case a maker's program is absent or does not answer, and for facts that
 * the program does not tell.
 *
 * /sys/bus/pci/devices has a folder per device; a device of class 0x03 (display) or 0x12 (accelerator) whose maker's
 * driver is loaded is a GPU that programs can use.  This excludes the display controllers of servers.  Names come
 * from amdgpu's product_name, /proc/driver/nvidia/gpus/BUS/information, or the system's list of PCI names (pci.ids).
 * AMD's compute driver tells cores, clocks and memory bus in /sys/class/kfd/kfd/topology/nodes. */
#include "ir/cluster/detect/gpu.h"

#include "ir/base/infile.h"
#include "ir/base/strings.h"
#include "ir/base/units.h"
#include "ir/cluster/detect/machine_file.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* PATH_TEXT: bytes of the path of a driver; NODES: the most devices of AMD's compute driver that are looked at */
enum { PATH_TEXT = 256, NODES = 512 };

/* The makers by the numbers of PCI. */
static const struct {
    long vendor;
    enum gpu_maker maker;
    const char *drivers; /* names of the maker's drivers, each between blanks */
} makers[] = {
    {0x10de, NVIDIA, " nvidia "}, {0x1002, AMD, " amdgpu "}, {0x8086, INTEL, " i915 xe "}};
enum { MAKERS = sizeof makers / sizeof makers[0] };

/* Returns the hexadecimal number in a file of a device's folder; -1: the file is missing or empty. */
static long read_hex(const struct gpu_search *s, const char *folder, const char *file)
{
    const char *text = machine_text(s->root, arena_fmt(s->a, "%s/%s", folder, file), s->a);
    return text && *text ? strtol(text, NULL, 16) : -1;
}

/* Whether the driver of the device is one of the names, each between blanks. */
static bool driven_by(const struct gpu_search *s, const char *folder, const char *drivers)
{
    char target[PATH_TEXT];
    ssize_t n =
        readlink(arena_fmt(s->a, "%s%s/driver", s->root, folder), target, sizeof target - 1);
    if (n <= 0)
        return false;
    target[n] = 0;
    const char *slash = strrchr(target, '/');
    return strstr(drivers, arena_fmt(s->a, " %s ", slash ? slash + 1 : target)) != NULL;
}

/* Returns the bytes per second of the device's link; 0: not told.  Takes the largest speed ("16.0 GT/s PCIe"), since
 * the current one changes with the load, but the current number of lanes, since a slot may have fewer lanes than the
 * device. */
static int64_t link_rate(const struct gpu_search *s, const char *folder)
{
    static const int tenths[] = {0, 25, 50, 80, 160, 320, 640}; /* [generation] tenths of GT/s */
    const char *speed = machine_text(s->root, arena_fmt(s->a, "%s/max_link_speed", folder), s->a);
    int64_t lanes = machine_number(s->root, arena_fmt(s->a, "%s/current_link_width", folder), s->a);
    int64_t whole = speed ? machine_parse(speed) : -1;
    int64_t tenth =
        whole < 0 ? -1 : whole * 10 + (!strncmp(strchrnul(speed, '.'), ".5", 2) ? 5 : 0);
    for (int g = 1; g < (int)(sizeof tenths / sizeof *tenths); g++)
        if (tenths[g] == tenth)
            return gpu_pcie_rate(g, lanes);
    return 0;
}

/* Returns the name of a device in the system's list of PCI names, in s->a; "": it is not there. */
static const char *listed_name(const struct gpu_search *s, long vendor, long device)
{
    static const char *const file[] = {"/usr/share/misc/pci.ids", "/usr/share/hwdata/pci.ids"};
    struct arena *own = arena_new(s->a);
    struct diag silent = diag_silent();
    const char *name = "", *text = NULL;
    size_t n;
    for (int i = 0; i < 2 && !text; i++)
        text = infile_read(arena_fmt(own, "%s%s", s->root, file[i]), INFILE_LIST, own, &n, &silent);
    /* a line "10de  NVIDIA Corporation" for each vendor, and lines "\t2204  GA102 [GeForce RTX 3090]" below it */
    bool here = false; /* the line is about a device of the vendor */
    for (const char *line = text; line && *line && !*name;) {
        if (*line != '\t' && *line != '#' && *line != '\n')
            here = strtol(line, NULL, 16) == vendor;
        else if (here && *line == '\t' && line[1] != '\t' && strtol(line, NULL, 16) == device) {
            const char *word = line + strcspn(line, " \n");
            word += strspn(word, " ");
            name = arena_strdup(s->a, word, strcspn(word, "\n"));
        }
        line += strcspn(line, "\n");
        if (*line)
            line++;
    }
    arena_free(own);
    return name;
}

/* Returns the device's name, in s->a: what its driver tells, else what the list of PCI names has; "": unknown. */
static const char *name_of(const struct gpu_search *s, const char *folder, const char *bus)
{
    const char *name = machine_text(s->root, arena_fmt(s->a, "%s/product_name", folder), s->a);
    const char *info = machine_text(
        s->root, arena_fmt(s->a, "/proc/driver/nvidia/gpus/%s/information", bus), s->a);
    if (name && *name)
        return name;
    if (info && !strncmp(info, "Model:", 6)) {
        info += 6 + strspn(info + 6, " \t");
        return arena_strdup(s->a, info, strcspn(info, "\n"));
    }
    return listed_name(s, read_hex(s, folder, "vendor"), read_hex(s, folder, "device"));
}

/* Sets lanes, clock, generation and memory rate of AMD's GPUs from the files of their compute driver.  The driver has a
 * folder for each device; the file "properties" in it tells the PCI address as a number, bus * 256 + device * 8 +
 * function. */
static void take_kfd(const struct gpu_search *s, struct gpus *g)
{
    for (int i = 0; g->n && i < NODES; i++) {
        const char *node = arena_fmt(s->a, "/sys/class/kfd/kfd/topology/nodes/%d", i);
        const char *text = machine_text(s->root, arena_fmt(s->a, "%s/properties", node), s->a);
        const char *bank =
            machine_text(s->root, arena_fmt(s->a, "%s/mem_banks/0/properties", node), s->a);
        if (!text && i > 0)
            return; /* there are no more devices */
        if (!text)
            continue; /* device 0, a processor, may be missing */
        int64_t at = machine_field(text, "location_id"), domain = machine_field(text, "domain");
        struct gpu *to = NULL;
        if (at >= 0) {
            unsigned bus = (unsigned)at >> 8;
            unsigned device = (unsigned)at >> 3 & 31;
            unsigned function = (unsigned)at & 7;
            to = gpu_at(g, arena_fmt(s->a, "%04x:%02x:%02x.%x", (unsigned)(domain < 0 ? 0 : domain),
                                     bus, device, function));
        }
        int64_t simds = machine_field(text, "simd_count");
        int64_t per_unit = machine_field(text, "simd_per_cu");
        if (!to || simds <= 0 || per_unit <= 0)
            continue;
        /* each compute unit starts 64 multiply-adds in a cycle */
        to->lanes = sat_mul(simds / per_unit, 64);
        to->mhz = machine_field(text, "max_engine_clk_fcompute");
        to->generation = machine_field(text, "gfx_target_version");
        int64_t bits = bank ? machine_field(bank, "width") : -1;
        int64_t clock = bank ? machine_field(bank, "mem_clk_max") : -1;
        /* bits that a pin moves in a cycle: 2 for HBM2; 4 for HBM3, which gfx942 and later GPUs have; 16 for GDDR6.  A
         * bus of less than 1024 bits is taken for GDDR6 */
        int64_t in_cycle = bits < 1024 ? 16 : to->generation < 90402 ? 2 : 4;
        if (bits > 0 && clock > 0)
            to->memory_rate = sat_mul(sat_mul(clock, in_cycle * 1000000), bits / 8);
    }
}

/* Adds the device of a folder in /sys/bus/pci/devices to g, if it is a GPU that programs can use. */
static void take_device(const struct gpu_search *s, const char *bus, struct gpus g[GPU_MAKERS])
{
    const char *folder = arena_fmt(s->a, "/sys/bus/pci/devices/%s", bus);
    long class = read_hex(s, folder, "class") >> 16, vendor = read_hex(s, folder, "vendor");
    /* classes of PCI: 0x03 display controllers, 0x12 processing accelerators */
    for (int i = 0; i < MAKERS && (class == 0x03 || class == 0x12); i++) {
        if (makers[i].vendor != vendor || !driven_by(s, folder, makers[i].drivers))
            continue;
        struct gpu *to = gpu_add(&g[makers[i].maker], s->a);
        if (!to)
            return;
        int64_t total =
            machine_number(s->root, arena_fmt(s->a, "%s/mem_info_vram_total", folder), s->a);
        int64_t used =
            machine_number(s->root, arena_fmt(s->a, "%s/mem_info_vram_used", folder), s->a);
        to->maker = makers[i].maker;
        to->told_by = "/sys";
        to->bus = gpu_bus(bus, s->a);
        to->name = name_of(s, folder, to->bus);
        to->link_rate = link_rate(s, folder);
        to->memory = total <= 0 ? 0 : used > 0 && used < total ? total - used : total;
    }
}

/* Closes the folder; arena_defer() calls it. */
static void close_folder(void *folder)
{
    closedir(folder);
}

void gpu_find_sys(const struct gpu_search *s, struct gpus g[GPU_MAKERS])
{
    struct arena *own = arena_new(s->a);
    DIR *folder = opendir(arena_fmt(own, "%s/sys/bus/pci/devices", s->root));
    const char **bus = NULL;
    uint32_t n = 0, cap = 0;
    if (folder)
        arena_defer(own, close_folder, folder);
    for (struct dirent *e; folder && (e = readdir(folder));) {
        if (e->d_name[0] == '.')
            continue;
        bus = vec_grow(own, bus, &cap, n + 1, sizeof *bus);
        bus[n++] = arena_strdup(own, e->d_name, strlen(e->d_name));
    }
    if (n)
        qsort(bus, n, sizeof *bus, str_order);
    for (uint32_t i = 0; i < n; i++)
        take_device(s, bus[i], g);
    take_kfd(s, &g[AMD]);
    arena_free(own);
}
