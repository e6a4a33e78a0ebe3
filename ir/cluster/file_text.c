/* Writes a cluster as a file that cluster_parse() reads (cluster_file_text() in cluster.h).  All figures are written,
 * also those of presets, in exact numbers with units, so that a file is the same cluster in every version of pcc.
 * O(classes + links). */
#include "ir/cluster/kernel_rates.h"

#include "ir/base/json_out.h"
#include "ir/base/memory.h"
#include "ir/base/units.h"

#include <stdio.h>
#include <string.h>

/* Returns the indent of the closing bracket behind members that stand at `indent`: two blanks less, or JSON_ROW if
 * `indent` is JSON_ROW. */
static int end_indent(int indent)
{
    return indent == JSON_ROW ? JSON_ROW : indent - 2;
}

/* Writes a link as an object with bandwidth and latency. */
static void put_link(struct json_out *o, const char *key, int64_t bandwidth, int64_t latency)
{
    char text[UNIT_TEXT];
    json_open(o, key, '{', JSON_ROW);
    json_text(o, "bandwidth", rate_print(text, bandwidth));
    json_text(o, "latency", time_print(text, latency));
    json_close(o, JSON_ROW);
}

/* Prints operations per second into buf[UNIT_TEXT], exactly, and returns it: "312T", "19500G". */
static char *print_count(char *buf, int64_t n)
{
    static const char *const unit[] = {"", "k", "M", "G", "T"};
    int thousands = 0;
    for (; thousands < 4 && n % 1000 == 0; thousands++)
        n /= 1000;
    snprintf(buf, UNIT_TEXT, "%lld%s", (long long)n, unit[thousands]);
    return buf;
}

/* Writes operations per second by element type. */
static void put_peaks(struct json_out *o, const struct device_class *k)
{
    char text[UNIT_TEXT];
    json_open(o, "peak", '{', JSON_ROW);
    for (int e = 0; e < ELEM_COUNT; e++)
        if (k->peak[e])
            json_text(o, elem_name((enum elem)e), print_count(text, k->peak[e]));
    if (k->tf32)
        json_text(o, "tf32", print_count(text, k->tf32));
    json_close(o, JSON_ROW);
}

/* Writes what kernels of a class reach, "kernels": {"units": 108, ...}, if that is known.  Leaves out each fact whose
 * value is the one that its absence means to a reader (kernel_key.unsaid). */
static void put_kernels(struct json_out *o, const struct device_class *k)
{
    char text[UNIT_TEXT];
    if (!k->kernel[KERNEL_UNITS])
        return;
    json_open(o, "kernels", '{', JSON_ROW);
    for (int i = 0; i < KERNEL_FACTS; i++) {
        const struct kernel_key *key = &kernel_keys[i];
        if (k->kernel[i] == key->unsaid)
            continue;
        if (key->parse == count_parse)
            json_int(o, key->name, k->kernel[i]);
        else
            json_text(o, key->name, kernel_print(text, (enum kernel_fact)i, k->kernel[i]));
    }
    json_close(o, JSON_ROW);
}

/* Writes the size of a class's groups and their inner link.  levels: the groups follow from levels of links, and are
 * not written. */
static void put_group(struct json_out *o, const struct device_class *k, bool levels)
{
    char share[UNIT_TEXT];
    if (!k->group || levels)
        return;
    json_int(o, "group", k->group);
    if (k->inner_bandwidth)
        put_link(o, "inner_link", k->inner_bandwidth, k->inner_latency);
    snprintf(share, sizeof share, "%lld.%06lld", (long long)(k->inner_share / 1000000),
             (long long)(k->inner_share % 1000000));
    if (k->inner_share)
        json_text(o, "inner_share", share);
}

/* Writes a class as an object whose members stand at this indent. */
static void put_class(struct json_out *o, const struct cluster *c, const struct device_class *k,
                      int indent)
{
    char text[UNIT_TEXT];
    json_open(o, NULL, '{', indent);
    json_text(o, "name", k->name);
    if (k->note)
        json_text(o, "note", k->note);
    json_int(o, "count", k->count);
    if (k->host)
        fputs("true", json_member(o, "host"));
    json_text(o, "memory", k->memory < 0 ? "unbounded" : bytes_print(text, k->memory + k->reserve));
    put_peaks(o, k);
    json_text(o, "bandwidth", rate_print(text, k->bandwidth));
    json_text(o, "overhead", time_print(text, k->overhead));
    put_kernels(o, k);
    if (k->precision)
        json_text(o, "precision", precision_name[k->precision]);
    if (!k->host)
        put_link(o, "link", k->link_bandwidth, k->link_latency);
    put_group(o, k, c->nlevel > 0);
    if (k->nops) {
        json_open(o, k->ops_only ? "supported" : "unsupported", '[', JSON_ROW);
        for (uint32_t i = 0; i < k->nops; i++)
            json_text(o, NULL, k->ops[i]);
        json_close(o, JSON_ROW);
    }
    json_close(o, end_indent(indent));
}

/* Writes the levels of links: "levels": [{"size": 8, "link": {...}, "allreduce": "100GB/s"}, ...]. */
static void put_levels(struct json_out *o, const struct cluster *c, int indent)
{
    char text[UNIT_TEXT];
    json_open(o, "levels", '[', indent);
    for (uint32_t l = 0; l < c->nlevel; l++) {
        json_open(o, NULL, '{', JSON_ROW);
        json_int(o, "size", c->level[l].size);
        put_link(o, "link", c->level[l].bandwidth, c->level[l].latency);
        if (c->level[l].reduce)
            json_text(o, "allreduce", rate_print(text, c->level[l].reduce));
        json_close(o, JSON_ROW);
    }
    json_close(o, end_indent(indent));
}

/* Writes the links between two devices.  names: arena for the names of devices. */
static void put_links(struct json_out *o, const struct cluster *c, int indent, struct arena *names)
{
    char text[UNIT_TEXT];
    json_open(o, "links", '[', indent);
    for (uint32_t i = 0; i < c->nlink; i++) {
        const struct device_link *l = &c->link[i];
        json_open(o, NULL, '{', JSON_ROW);
        json_text(o, "from", cluster_device_name(c, names, l->from));
        json_text(o, "to", cluster_device_name(c, names, l->to));
        json_text(o, "bandwidth", rate_print(text, l->bandwidth));
        json_text(o, "latency", time_print(text, l->latency));
        if (l->oneway)
            fputs("true", json_member(o, "oneway"));
        json_close(o, JSON_ROW);
    }
    json_close(o, end_indent(indent));
}

const char *cluster_file_text(const struct cluster *c, bool oneline, struct arena *a)
{
    struct memory m;
    memory_begin(&m, a);
    /* the indents of the three depths of members; JSON_ROW: all in one line */
    const int outer = oneline ? JSON_ROW : 2;
    const int list = oneline ? JSON_ROW : 4;
    const int member = oneline ? JSON_ROW : 6;
    struct json_out o = {.f = m.f};
    if (!o.f)
        arena_exhausted(a, 1);
    json_open(&o, NULL, '{', outer);
    json_open(&o, "classes", '[', list);
    for (uint32_t k = 0; k < c->ncls; k++)
        put_class(&o, c, &c->cls[k], member);
    json_close(&o, outer);
    if (c->nlevel)
        put_levels(&o, c, list);
    if (c->nlink)
        put_links(&o, c, list, a);
    json_close(&o, oneline ? JSON_ROW : 0);
    const char *text = memory_close(&m, a);
    if (!text)
        arena_exhausted(a, 1);
    return text;
}
