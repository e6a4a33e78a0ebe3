/* Reads clusters as users write them: the shorthand, the JSON form, links, groups, levels of links, reserved memory.
 *
 * cluster.md describes the JSON form.  An unknown key is an error.  Numbers are integers or strings with units, never
 * floating point.  Functions with an int result return 0, or -1 and an error in w->d or d.  O(text). */
#include "ir/cluster/presets.h"

#include "ir/base/infile.h"
#include "ir/base/json_in.h"
#include "ir/base/strings.h"
#include "ir/base/units.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What each reader needs: memory, a place to report errors to, and the words that its messages begin with. */
struct where {
    struct arena *mem; /* memory for all that the reader makes */
    struct diag *d;
    const char *at; /* place of the error: "cluster '2xa100'", "rack.json: classes[1]" */
};

/* Adds a class, with its devices, to the cluster.  Returns 0, or -1 and an error. */
static int class_add(struct cluster *c, const struct device_class *cls, const struct where *w)
{
    if (c->ncls == CLUSTER_CLASSES)
        return diag_error(w->d, "%s: more than %d classes of devices", w->at, CLUSTER_CLASSES);
    if (cls->count > CLUSTER_DEVICES - c->ndev) {
        return diag_error(w->d, "%s: %u devices in all, expected 1 to %d", w->at,
                          c->ndev + cls->count, CLUSTER_DEVICES);
    }
    c->cls[c->ncls++] = *cls;
    c->ndev += cls->count;
    return 0;
}

/* Parses a size above 0, or "unbounded", which makes *bytes -1; returns false if s is neither. */
static bool memory_parse(const char *s, int64_t *bytes)
{
    if (strcmp(s, "unbounded") == 0) {
        *bytes = -1;
        return true;
    }
    return bytes_parse(s, bytes) && *bytes > 0;
}

/* Reports that the class name[0 .. n) of an item with `count` devices is unknown, and what the user may have meant;
 * returns -1. */
static int refuse_class(const char *name, size_t n, uint32_t count, const struct where *w)
{
    const char *near = preset_near(name, n, &count);

    if (near != NULL)
        return diag_error(w->d, "%s: unknown class '%.*s'; did you mean '%s'? (see --list-devices)",
                          w->at, (int)n, name,
                          count > 1 ? arena_fmt(w->mem, "%ux%s", count, near) : near);
    return diag_error(
        w->d,
        "%s: unknown class '%.*s', expected COUNTxCLASS[:MEMORY] such as 2xa100, with a class of "
        "--list-devices, or a file that ends in .json",
        w->at, (int)n, name);
}

/* Adds the class that the item s[0 .. n) of the shorthand describes, such as "4xa100:40GiB" or "cpu".  Returns 0, or -1
 * and an error. */
static int item_parse(struct cluster *c, const char *s, size_t n, const struct where *w)
{
    size_t digits = 0;
    uint32_t count = 1;

    while (digits < n && s[digits] >= '0' && s[digits] <= '9')
        digits++;
    if (digits > 0 && digits < n && s[digits] == 'x') {
        count = preset_count(s, digits);
        if (count == 0)
            return diag_error(w->d, "%s: '%.*s' devices of a class, expected 1 to %d", w->at,
                              (int)digits, s, CLUSTER_DEVICES);
        s += digits + 1;
        n -= digits + 1;
    }
    const char *colon = memchr(s, ':', n);
    size_t name = colon != NULL ? (size_t)(colon - s) : n;
    struct device_class cls;
    if (!preset_of(s, name, w->mem, &cls))
        return refuse_class(s, name, count, w);
    cls.count = count;
    if (colon != NULL) {
        const char *text = arena_strdup(w->mem, colon + 1, n - name - 1);
        if (!memory_parse(text, &cls.memory))
            return diag_error(w->d, "%s: memory '%s', expected a size above 0 such as 40GiB", w->at,
                              text);
        /* a number without a unit, such as "80", hardly means bytes */
        if (text[strspn(text, "0123456789.")] == '\0')
            return diag_error(w->d, "%s: memory '%s', expected a size with a unit, such as 80GiB",
                              w->at, text);
    }
    return class_add(c, &cls, w);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

/* A kind of number that the value of a key may be. */
struct quantity {
    bool (*parse)(const char *, int64_t *); /* parses the number from a text with a unit */
    int64_t least;                          /* the smallest valid number */
    const char *example;                    /* a valid text, for messages */
};

/* Reads the value of a key to *out: an integer in the base unit, or a string with a unit.  Without the key *out does
 * not change.  Returns 0, or -1 and an error. */
static int quantity_read(const json_t *object, const char *key, struct quantity q, int64_t *out,
                         const struct where *w)
{
    const json_t *v = json_object_get(object, key);
    int64_t n = 0;

    if (v == NULL)
        return 0;
    bool ok = json_is_string(v) && q.parse(json_string_value(v), &n);
    if (json_is_integer(v)) {
        n = json_integer_value(v);
        ok = true;
    }
    /* memory_parse() makes n -1 for the text "unbounded"; an integer of -1 is refused */
    bool may_be_unbounded = q.parse == memory_parse && json_is_string(v);
    if (!ok || (n < q.least && !may_be_unbounded)) {
        char *text = json_dumps(v, JSON_ENCODE_ANY | JSON_COMPACT);
        diag_error(w->d, "%s: \"%s\" is %.80s, expected an integer or a text such as \"%s\", %s",
                   w->at, key, text != NULL ? text : "?", q.example,
                   q.least > 0 ? "above 0" : "not negative");
        free(text);
        return -1;
    }
    *out = n;
    return 0;
}

/* Checks that the object has only keys of the list `known`, which NULL ends; list: these keys as text, for messages.
 * Returns 0, or -1 and an error. */
static int keys_check(const json_t *object, const char *const *known, const char *list,
                      const struct where *w)
{
    const char *key;
    json_t *value;

    json_object_foreach((json_t *)(uintptr_t)object, key, value)
    {
        const char *const *k = known;
        while (*k != NULL && strcmp(*k, key) != 0)
            k++;
        if (*k != NULL)
            continue;
        if (strcmp(key, "links") == 0 || strcmp(key, "topology") == 0) {
            return diag_error(w->d,
                              "%s: unknown key \"%s\", expected %s; links between devices are "
                              "\"links\" beside \"classes\"",
                              w->at, key, list);
        }
        return diag_error(w->d, "%s: unknown key \"%s\", expected %s", w->at, key, list);
    }
    return 0;
}

/* Reads "peak" of a class: operations per second by element type.  Returns 0, or -1 and an error. */
static int peak_read(const json_t *cls, struct device_class *out, const struct where *w)
{
    const json_t *peak = json_object_get(cls, "peak");
    const struct where peak_at = {w->mem, w->d, arena_fmt(w->mem, "%s: \"peak\"", w->at)};
    const char *key;
    json_t *value;

    if (peak == NULL)
        return 0;
    if (!json_is_object(peak)) {
        return diag_error(w->d, "%s: \"peak\": expected an object such as {\"f32\": \"19.5T\"}",
                          w->at);
    }
    json_object_foreach((json_t *)(uintptr_t)peak, key, value)
    {
        /* "tf32" is no element type: this peak is the rate of products of f32 numbers that are cut to TF32 */
        bool tf32 = strcmp(key, "tf32") == 0;
        enum elem e = elem_of_name(key, strlen(key));
        if (e == ELEM_NONE && !tf32) {
            return diag_error(w->d,
                              "%s: \"peak\": unknown element type \"%s\", expected f32, f16, "
                              "i8, ...",
                              w->at, key);
        }
        if (quantity_read(peak, key, (struct quantity){count_parse, 1, "19.5T"},
                          tf32 ? &out->tf32 : &out->peak[e], &peak_at) != 0)
            return -1;
    }
    return 0;
}

/* Reads "kernels" of a class, the figures of what kernels reach.  own: the class states a peak or bandwidth of its own.
 * Without the key the preset's figures stay, but if `own`, all are 0, so that kernels reach the stated rates.  Returns
 * 0, or -1 and an error. */
static int kernels_read(const json_t *cls, struct device_class *out, bool own,
                        const struct where *w)
{
    const json_t *kernels = json_object_get(cls, "kernels");
    const struct where at = {w->mem, w->d, arena_fmt(w->mem, "%s: \"kernels\"", w->at)};
    const char *keys[KERNEL_FACTS + 1] = {NULL}, *list = "", *wrong;
    if (kernels != NULL || own)
        memset(out->kernel, 0, sizeof out->kernel);
    if (kernels == NULL)
        return 0;
    if (!json_is_object(kernels))
        return diag_error(
            w->d, "%s: expected an object such as {\"units\": 108, \"product\": \"0.92\"}", at.at);
    for (int k = 0; k < KERNEL_FACTS; k++) {
        keys[k] = kernel_keys[k].name;
        list = arena_fmt(w->mem, "%s%s%s", list,
                         k == 0                 ? ""
                         : k + 1 < KERNEL_FACTS ? ", "
                                                : " or ",
                         keys[k]);
    }
    if (keys_check(kernels, keys, list, &at) != 0)
        return -1;
    for (int k = 0; k < KERNEL_FACTS; k++) {
        const struct kernel_key *key = &kernel_keys[k];
        if (quantity_read(kernels, key->name, (struct quantity){key->parse, key->least, key->like},
                          &out->kernel[k], &at) != 0)
            return -1;
    }
    wrong = kernel_complete(out->kernel, w->mem);
    return wrong == NULL ? 0 : diag_error(w->d, "%s: %s", at.at, wrong);
}

/* Reads "precision" of a class, the type that it computes f32 in.  Returns 0, or -1 and an error. */
static int precision_read(const json_t *cls, struct device_class *out, const struct where *w)
{
    const json_t *said = json_object_get(cls, "precision");
    const char *name = json_string_value(said);
    if (said == NULL)
        return 0;
    enum precision p = name != NULL ? precision_of(name, strlen(name)) : PRECISIONS;
    if (p == PRECISIONS)
        return diag_error(w->d, "%s: \"precision\": expected f32, tf32, f16, bf16 or i8", w->at);
    if (!cluster_precision_peak(out, p))
        return diag_error(w->d, "%s: \"precision\": needs a \"peak\" for %s", w->at, name);
    out->precision = p;
    return 0;
}

/* Reads "link" of a class, the link to the host.  Without the key the class has the link of its preset, or the
 * default link.  A host class has none: the key is an error, and rate and latency become 0.  Returns 0, or -1 and an
 * error. */
static int link_read(const json_t *cls, struct device_class *out, const struct where *w)
{
    static const char *const keys[] = {"bandwidth", "latency", NULL};
    const json_t *link = json_object_get(cls, "link");

    if (out->host) {
        out->link_bandwidth = out->link_latency = 0;
        return link == NULL
                   ? 0
                   : diag_error(w->d, "%s: \"link\": a host class has no link to the host", w->at);
    }
    if (out->link_bandwidth == 0) {
        out->link_bandwidth = LINK_BANDWIDTH;
        out->link_latency = LINK_LATENCY;
    }
    if (link == NULL)
        return 0;
    if (!json_is_object(link)) {
        return diag_error(w->d,
                          "%s: \"link\": expected an object such as {\"bandwidth\": \"25GB/s\","
                          " \"latency\": \"10us\"}",
                          w->at);
    }
    const struct where link_at = {w->mem, w->d, arena_fmt(w->mem, "%s: \"link\"", w->at)};
    if (keys_check(link, keys, "bandwidth or latency", &link_at) != 0 ||
        quantity_read(link, "bandwidth", (struct quantity){rate_parse, 1, "25GB/s"},
                      &out->link_bandwidth, &link_at) != 0)
        return -1;
    return quantity_read(link, "latency", (struct quantity){time_parse, 0, "10us"},
                         &out->link_latency, &link_at);
}

/* Reads "bandwidth", which must be there, and "latency" of a link between devices; *bandwidth must be 0 at first.
 * Returns 0, or -1 and an error. */
static int fast_link_read(const json_t *link, int64_t *bandwidth, int64_t *latency,
                          const struct where *w)
{
    if (quantity_read(link, "bandwidth", (struct quantity){rate_parse, 1, "300GB/s"}, bandwidth,
                      w) != 0)
        return -1;
    if (*bandwidth == 0)
        return diag_error(w->d, "%s: needs a \"bandwidth\"", w->at);
    return quantity_read(link, "latency", (struct quantity){time_parse, 0, "2us"}, latency, w);
}

/* Reads "group", "inner_link" and "inner_share" of a class: the number of devices in a group and the link within it.
 * Returns 0, or -1 and an error. */
static int group_read(const json_t *cls, struct device_class *out, const struct where *w)
{
    static const char *const keys[] = {"bandwidth", "latency", NULL};
    const json_t *link = json_object_get(cls, "inner_link");
    const struct where inner_at = {w->mem, w->d, arena_fmt(w->mem, "%s: \"inner_link\"", w->at)};
    int64_t group = 0;

    if (quantity_read(cls, "group", (struct quantity){count_parse, 1, "4"}, &group, w) != 0 ||
        quantity_read(cls, "inner_share", (struct quantity){share_parse, 1, "0.25"},
                      &out->inner_share, w) != 0)
        return -1;
    if (out->inner_share > 1000000)
        return diag_error(w->d, "%s: \"inner_share\": expected a share in 0.000001..1", w->at);
    if (link != NULL && !json_is_object(link)) {
        return diag_error(w->d,
                          "%s: \"inner_link\": expected an object such as {\"bandwidth\": "
                          "\"300GB/s\", \"latency\": \"2us\"}",
                          w->at);
    }
    if (link != NULL &&
        (keys_check(link, keys, "bandwidth or latency", &inner_at) != 0 ||
         fast_link_read(link, &out->inner_bandwidth, &out->inner_latency, &inner_at) != 0))
        return -1;
    bool inner = out->inner_bandwidth != 0 || out->inner_share != 0;
    if ((group != 0) != inner) {
        return diag_error(w->d,
                          "%s: \"group\" goes with \"inner_link\" or \"inner_share\": expected "
                          "both, or neither",
                          w->at);
    }
    if (group != 0 && out->host)
        return diag_error(w->d, "%s: \"group\": a host class pays for no link", w->at);
    if (group != 0 && out->count % group != 0) {
        return diag_error(w->d, "%s: \"group\" is %lld, expected a divisor of the %u devices",
                          w->at, (long long)group, out->count);
    }
    out->group = (uint32_t)group;
    return 0;
}

/* Whether s may be a name of a class: 1 to 64 letters, digits, '_', '-' and '.', since names appear in file names and
 * in the textual IR. */
static bool name_ok(const char *s)
{
    size_t n = strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.");

    return n > 0 && n <= 64 && s[n] == '\0';
}

/* Reads "preset" of a class: makes *out the class of --list-devices with this name.  Returns 0, or -1 and an error. */
static int preset_read(const json_t *preset, struct device_class *out, const struct where *w)
{
    const char *s = json_is_string(preset) ? json_string_value(preset) : "";
    uint32_t count = 1;

    if (preset_of(s, strlen(s), w->mem, out))
        return 0;
    const char *near = preset_near(s, strlen(s), &count);
    return diag_error(w->d, "%s: \"preset\": unknown class '%s'%s (see --list-devices)", w->at, s,
                      near ? arena_fmt(w->mem, "; did you mean '%s'?", near) : "");
}

/* Sets *out to the preset's values if there is a "preset", else to zeros with unbounded memory; then reads "name",
 * "host", "note" and "count".  Returns 0, or -1 and an error. */
static int head_read(const json_t *cls, struct device_class *out, const struct where *w)
{
    const json_t *preset = json_object_get(cls, "preset"), *name = json_object_get(cls, "name");
    const json_t *host = json_object_get(cls, "host"), *note = json_object_get(cls, "note");
    int64_t count = 1;

    memset(out, 0, sizeof *out);
    out->memory = -1;
    if (preset != NULL && preset_read(preset, out, w) != 0)
        return -1;
    if (name != NULL || out->name == NULL) {
        if (!json_is_string(name) || !name_ok(json_string_value(name))) {
            return diag_error(w->d, "%s: \"name\": expected 1 to 64 letters, digits, '_', '-', '.'",
                              w->at);
        }
        out->name = arena_strdup(w->mem, json_string_value(name), json_string_length(name));
    }
    if (host != NULL) {
        if (!json_is_boolean(host))
            return diag_error(w->d, "%s: \"host\": expected true or false", w->at);
        out->host = json_is_true(host);
    }
    if (note != NULL && !json_is_string(note))
        return diag_error(w->d, "%s: \"note\": expected a text", w->at);
    if (note != NULL)
        out->note = arena_strdup(w->mem, json_string_value(note), json_string_length(note));
    if (quantity_read(cls, "count", (struct quantity){count_parse, 1, "2"}, &count, w) != 0)
        return -1;
    if (count > CLUSTER_DEVICES) {
        return diag_error(w->d, "%s: \"count\" is %lld, expected 1 to %d", w->at, (long long)count,
                          CLUSTER_DEVICES);
    }
    out->count = (uint32_t)count;
    return 0;
}

/* Reads "supported" or "unsupported" of a class: a list of operator types, which it sorts.  Returns 0, or -1 and an
 * error. */
static int ops_read(const json_t *cls, struct device_class *out, const struct where *w)
{
    const json_t *yes = json_object_get(cls, "supported");
    const json_t *no = json_object_get(cls, "unsupported");
    const json_t *list = yes != NULL ? yes : no;
    const char *key = yes != NULL ? "supported" : "unsupported";
    size_t n = json_array_size(list);

    if (list == NULL)
        return 0;
    if (yes != NULL && no != NULL)
        return diag_error(w->d, "%s: \"supported\" and \"unsupported\": expected one of them",
                          w->at);
    const char **ops = arena_array(w->mem, (size_t)n + 1, sizeof *ops);
    bool ok = n > 0 && n < UINT32_MAX;
    for (size_t i = 0; ok && i < n; i++) {
        const json_t *op = json_array_get(list, i);
        ok = json_is_string(op) && json_string_length(op) > 0;
        if (ok)
            ops[i] = arena_strdup(w->mem, json_string_value(op), json_string_length(op));
    }
    if (!ok) {
        return diag_error(w->d, "%s: \"%s\": expected a list of operator types such as [\"Conv\"]",
                          w->at, key);
    }
    qsort(ops, n, sizeof *ops, str_order);
    out->ops = ops;
    out->nops = (uint32_t)n;
    out->ops_only = yes != NULL;
    return 0;
}

/* Reads one entry of "classes" and adds the class to c.  Returns 0, or -1 and an error. */
static int class_read(struct cluster *c, const json_t *cls, const struct where *w)
{
    static const char *const keys[] = {
        "name",        "preset",    "host",        "count", "memory",    "peak",
        "bandwidth",   "overhead",  "kernels",     "link",  "group",     "inner_link",
        "inner_share", "supported", "unsupported", "note",  "precision", NULL};
    struct device_class out;
    bool own = json_object_get(cls, "peak") != NULL || json_object_get(cls, "bandwidth") != NULL;

    if (!json_is_object(cls))
        return diag_error(w->d, "%s: expected an object", w->at);
    if (keys_check(cls, keys,
                   "name, preset, host, count, memory, peak, bandwidth, overhead, kernels, link, "
                   "precision, group, inner_link, inner_share, supported, unsupported or note",
                   w) != 0 ||
        head_read(cls, &out, w) != 0 ||
        quantity_read(cls, "memory", (struct quantity){memory_parse, 1, "80GiB"}, &out.memory, w) !=
            0 ||
        quantity_read(cls, "bandwidth", (struct quantity){rate_parse, 1, "2039GB/s"},
                      &out.bandwidth, w) != 0 ||
        quantity_read(cls, "overhead", (struct quantity){time_parse, 0, "5us"}, &out.overhead, w) !=
            0 ||
        peak_read(cls, &out, w) != 0 || kernels_read(cls, &out, own, w) != 0 ||
        precision_read(cls, &out, w) != 0 || link_read(cls, &out, w) != 0 ||
        group_read(cls, &out, w) != 0 || ops_read(cls, &out, w) != 0)
        return -1;
    if (out.bandwidth == 0)
        return diag_error(w->d, "%s: needs a \"bandwidth\" or a \"preset\"", w->at);
    if (out.peak[ELEM_F32] == 0) {
        return diag_error(w->d,
                          "%s: needs a \"peak\" for f32, which stands for types without one, "
                          "or a \"preset\"",
                          w->at);
    }
    return class_add(c, &out, w);
}

/* Reads one entry of "links", such as {"from": "acc0", "to": "acc1", "bandwidth": "300GB/s", "latency": "2us"}, and
 * adds the link to c.  Returns 0, or -1 and an error. */
static int device_link_read(struct cluster *c, const json_t *link, const struct where *w)
{
    static const char *const keys[] = {"from", "to", "bandwidth", "latency", "oneway", NULL};
    const json_t *oneway = json_object_get(link, "oneway");
    struct device_link l = {.oneway = json_is_true(oneway)};
    const char *name[2];

    if (!json_is_object(link)) {
        return diag_error(w->d,
                          "%s: expected an object such as {\"from\": \"acc0\", \"to\": \"acc1\", "
                          "\"bandwidth\": \"300GB/s\", \"latency\": \"2us\"}",
                          w->at);
    }
    if (keys_check(link, keys, "from, to, bandwidth, latency or oneway", w) != 0)
        return -1;
    for (int i = 0; i < 2; i++) {
        name[i] = json_get_text(link, keys[i]);
        if (name[i] == NULL) {
            return diag_error(w->d, "%s: \"%s\": expected the name of a device such as \"acc0\"",
                              w->at, keys[i]);
        }
    }
    if (oneway != NULL && !json_is_boolean(oneway))
        return diag_error(w->d, "%s: \"oneway\": expected true or false", w->at);
    if (fast_link_read(link, &l.bandwidth, &l.latency, w) != 0)
        return -1;
    const char *refused = cluster_add_link(c, w->mem, l, name);
    return refused == NULL ? 0 : diag_error(w->d, "%s: %s", w->at, refused);
}

/* Reads `links`, the member "links" of a file (NULL: there is none), and adds the links to c.  Returns 0, or -1 and an
 * error. */
static int links_read(struct cluster *c, const json_t *links, const struct where *w)
{
    if (links != NULL && !json_is_array(links))
        return diag_error(w->d, "%s: \"links\": expected a list of links between devices", w->at);
    for (size_t i = 0; i < json_array_size(links); i++) {
        struct where at = *w;
        at.at = arena_fmt(w->mem, "%s: links[%zu]", w->at, i);
        if (device_link_read(c, json_array_get(links, i), &at) != 0)
            return -1;
    }
    return 0;
}

/* Reads one entry of "levels", such as {"size": 8, "link": {"bandwidth": "25GB/s"}, "allreduce": "100GB/s"}, and
 * adds the level to c.  Returns 0, or -1 and an error. */
static int level_read(struct cluster *c, const json_t *level, const struct where *w)
{
    static const char *const keys[] = {"size", "link", "allreduce", NULL};
    static const char *const link_keys[] = {"bandwidth", "latency", NULL};
    struct cluster_level *l = &c->level[c->nlevel++];
    const json_t *link = json_object_get(level, "link");
    const struct where link_at = {w->mem, w->d, arena_fmt(w->mem, "%s: \"link\"", w->at)};
    int64_t size = 0;
    if (!json_is_object(level) || !json_is_object(link))
        return diag_error(w->d,
                          "%s: expected an object such as {\"size\": 8, \"link\": {\"bandwidth\": "
                          "\"25GB/s\"}}",
                          w->at);
    if (keys_check(level, keys, "size, link or allreduce", w) != 0 ||
        keys_check(link, link_keys, "bandwidth or latency", &link_at) != 0 ||
        quantity_read(level, "size", (struct quantity){count_parse, 1, "8"}, &size, w) != 0 ||
        fast_link_read(link, &l->bandwidth, &l->latency, &link_at) != 0 ||
        quantity_read(level, "allreduce", (struct quantity){rate_parse, 1, "3GB/s"}, &l->reduce,
                      w) != 0)
        return -1;
    if (size < 1 || size > CLUSTER_DEVICES)
        return diag_error(w->d, "%s: \"size\": expected 1 to %d", w->at, CLUSTER_DEVICES);
    l->size = (uint32_t)size;
    return 0;
}

/* Reads `levels`, the member "levels" of a file (NULL: there is none), and sets link and groups of the class from it.
 * Returns 0, or -1 and an error. */
static int levels_read(struct cluster *c, const json_t *levels, const struct where *w)
{
    size_t n = json_array_size(levels);
    if (levels == NULL)
        return 0;
    if (n < 1 || n > CLUSTER_LEVELS)
        return diag_error(w->d, "%s: \"levels\": expected a list of 1 to %d levels", w->at,
                          CLUSTER_LEVELS);
    for (size_t i = 0; i < n; i++) {
        struct where at = *w;
        at.at = arena_fmt(w->mem, "%s: levels[%zu]", w->at, i);
        if (level_read(c, json_array_get(levels, i), &at) != 0)
            return -1;
    }
    const char *refused = cluster_take_levels(c, w->mem);
    return refused == NULL ? 0 : diag_error(w->d, "%s: \"levels\": %s", w->at, refused);
}

/* Reads the outermost object of a cluster file.  Returns 0, or -1 and an error. */
static int document_read(struct cluster *c, const json_t *root, const struct where *w)
{
    static const char *const keys[] = {"classes", "links", "levels", NULL};
    const json_t *classes = json_object_get(root, "classes");

    if (!json_is_object(root))
        return diag_error(w->d, "%s: expected an object with \"classes\"", w->at);
    if (keys_check(root, keys, "classes, links or levels", w) != 0)
        return -1;
    if (!json_is_array(classes) || json_array_size(classes) == 0)
        return diag_error(w->d, "%s: \"classes\": expected a list of at least one class", w->at);
    for (size_t i = 0; i < json_array_size(classes); i++) {
        struct where at = *w;
        at.at = arena_fmt(w->mem, "%s: classes[%zu]", w->at, i);
        if (class_read(c, json_array_get(classes, i), &at) != 0)
            return -1;
    }
    if (levels_read(c, json_object_get(root, "levels"), w) != 0)
        return -1;
    return links_read(c, json_object_get(root, "links"), w);
}

/* Reads the file at `path`, a cluster as JSON, into *c.  Returns 0, or -1 and an error. */
static int file_read(struct cluster *c, const char *path, struct arena *a, struct diag *d)
{
    struct where w = {a, d, path};
    json_error_t e;
    struct arena *own = arena_new(a);
    size_t n;
    const char *text = infile_read(path, INFILE_LIST, own, &n, d);
    const json_t *root = text ? json_read(own, text, n, &e) : NULL;

    if (root == NULL) {
        arena_free(own);
        return text ? diag_error(d, "%s:%d:%d: %s", path, e.line, e.column, e.text) : -1;
    }
    int r = document_read(c, root, &w);
    arena_free(own);
    return r;
}

/* ---- text ------------------------------------------------------------------------------------ */

int cluster_parse(struct cluster *c, struct arena *a, const char *text, struct diag *d)
{
    memset(c, 0, sizeof *c);
    if (str_ends(text, ".json"))
        return file_read(c, text, a, d);
    if (cluster_preset(c, text))
        return 0;
    struct where w = {a, d, arena_fmt(a, "cluster '%s'", text)};
    for (const char *s = text;;) {
        size_t k = strcspn(s, ",");
        if (item_parse(c, s, k, &w) != 0)
            return -1;
        if (s[k] == '\0')
            return 0;
        s += k + 1;
    }
}

/* Reports what is wrong with the text of a link (bandwidth, latency or name) and returns -1. */
static int refuse_link(const char *text, struct diag *d)
{
    const char *comma = strchr(text, ',');
    char rate[UNIT_TEXT * 2];
    struct nearest t = nearest_to(text, strlen(text));
    const struct link_preset *l;
    int64_t bandwidth;

    for (uint32_t i = 0; (l = link_preset_at(i)) != NULL; i++)
        nearest_try(&t, l->name);
    snprintf(rate, sizeof rate, "%.*s", (int)strcspn(text, ","), text);
    bool good = rate_parse(rate, &bandwidth) && bandwidth > 0;
    if (comma && good)
        return diag_error(d, "link '%s': latency '%s', expected a time such as 10us", text,
                          comma + 1);
    if (comma)
        return diag_error(d,
                          "link '%s': rate '%s', expected one above 0 such as 25GB/s (capitals "
                          "count: kB, MB, GB, TB, KiB, MiB, GiB)",
                          text, rate);
    if (good)
        return diag_error(d, "link '%s': the latency is missing, expected both as in 25GB/s,10us",
                          text);
    if (t.best)
        return diag_error(
            d, "link '%s': there is none of this name; did you mean '%s'? (see --list-devices)",
            text, t.best);
    return diag_error(d,
                      "link '%s': expected a rate above 0 and a time such as 25GB/s,10us, or a "
                      "name such as pcie4x16 (see --list-devices)",
                      text);
}

/* Parses a link, "25GB/s,10us" or a name such as "nvlink4", to bytes per second and ps; returns false if it is
 * neither. */
static bool rate_latency_parse(const char *text, int64_t *bandwidth, int64_t *latency)
{
    char rate[UNIT_TEXT * 2];
    const struct link_preset *named = link_preset_of(text);
    if (named != NULL) {
        *bandwidth = named->bandwidth;
        *latency = named->latency;
        return true;
    }
    const char *comma = strchr(text, ',');
    if (comma == NULL || (size_t)(comma - text) >= sizeof rate)
        return false;
    size_t n = (size_t)(comma - text);
    memcpy(rate, text, n);
    rate[n] = '\0';
    return rate_parse(rate, bandwidth) && *bandwidth > 0 && time_parse(comma + 1, latency);
}

int cluster_set_link(struct cluster *c, const char *text, struct diag *d)
{
    int64_t bandwidth = 0, latency = 0;

    if (!rate_latency_parse(text, &bandwidth, &latency))
        return refuse_link(text, d);
    for (uint32_t i = 0; i < c->ncls; i++) {
        if (!c->cls[i].host) {
            c->cls[i].link_bandwidth = bandwidth;
            c->cls[i].link_latency = latency;
        }
    }
    return 0;
}

int cluster_set_groups(struct cluster *c, const char *text, struct diag *d)
{
    int64_t group = 0, bandwidth = 0, latency = 0, share = 0;
    const char *colon = strchr(text, ':');
    size_t n = strspn(text, "0123456789");

    for (size_t i = 0; i < n && group <= CLUSTER_DEVICES; i++)
        group = group * 10 + (text[i] - '0');
    if (colon == NULL || colon != text + n || group < 1 || group > CLUSTER_DEVICES ||
        (!share_parse(colon + 1, &share) && !rate_latency_parse(colon + 1, &bandwidth, &latency))) {
        return diag_error(d,
                          "group '%s': expected a number of devices and their inner link, such as "
                          "4:300GB/s,2us, or a share of the outer one, such as 4:0.25",
                          text);
    }
    for (uint32_t i = 0; i < c->ncls; i++) {
        struct device_class *k = &c->cls[i];
        if (k->host)
            continue;
        if (k->count % (uint32_t)group != 0) {
            return diag_error(d, "group '%s': class %s has %u devices, expected a multiple of %lld",
                              text, k->name, k->count, (long long)group);
        }
        k->group = (uint32_t)group;
        k->inner_bandwidth = bandwidth;
        k->inner_latency = latency;
        k->inner_share = share;
    }
    return 0;
}

/* ---- levels ----------------------------------------------------------------------------------- */

const char *cluster_take_levels(struct cluster *c, struct arena *a)
{
    struct device_class *k = NULL;
    uint64_t all = 1;
    assert(c->nlevel > 0 && c->nlevel <= CLUSTER_LEVELS);
    for (uint32_t i = 0; i < c->ncls; i++) {
        if (c->cls[i].host)
            continue;
        if (k)
            return "there are accelerators of several classes: expected one";
        k = &c->cls[i];
    }
    for (uint32_t l = 0; l < c->nlevel; l++)
        all *= c->level[l].size;
    if (!k || all != k->count)
        return arena_fmt(a, "they hold %llu devices, and there are %u accelerators",
                         (unsigned long long)all, k ? k->count : 0);
    if (k->group)
        return "there are groups, too: expected one of both";
    const struct cluster_level *inner = &c->level[0], *outer = &c->level[c->nlevel - 1];
    k->link_bandwidth = outer->bandwidth;
    k->link_latency = outer->latency;
    if (c->nlevel > 1) {
        k->group = inner->size;
        k->inner_bandwidth = inner->bandwidth;
        k->inner_latency = inner->latency;
        k->inner_share = 0;
    }
    return NULL;
}

/* Parses one level of links, n bytes such as "8:25GB/s,0us,100GB/s"; returns false if it is not valid. */
static bool level_parse(const char *text, size_t n, struct cluster_level *l)
{
    char copy[4 * UNIT_TEXT], *end;
    if (n >= sizeof copy)
        return false;
    memcpy(copy, text, n);
    copy[n] = '\0';
    char *rate = strchr(copy, ':'), *time = rate ? strchr(rate + 1, ',') : NULL;
    if (!time)
        return false;
    /* cuts the copy into size, rate, time and, if it is there, the rate of reductions */
    *rate++ = '\0';
    *time++ = '\0';
    char *reduce = strchr(time, ',');
    if (reduce)
        *reduce++ = '\0';
    unsigned long size = strtoul(copy, &end, 10);
    l->size = (uint32_t)size;
    l->reduce = 0;
    return copy[0] >= '0' && copy[0] <= '9' && !*end && size >= 1 && size <= CLUSTER_DEVICES &&
           rate_parse(rate, &l->bandwidth) && l->bandwidth > 0 && time_parse(time, &l->latency) &&
           (!reduce || (rate_parse(reduce, &l->reduce) && l->reduce > 0));
}

bool cluster_levels_parse(struct cluster *c, const char *text)
{
    const char *s = text;
    for (c->nlevel = 0; c->nlevel < CLUSTER_LEVELS;) {
        size_t n = strcspn(s, "/");
        /* a slash before an 's' belongs to a rate ("25GB/s") */
        while (s[n] == '/' && s[n + 1] == 's')
            n += 1 + strcspn(s + n + 1, "/");
        if (!level_parse(s, n, &c->level[c->nlevel++]))
            return false;
        if (!s[n])
            return true;
        s += n + 1;
    }
    return false;
}

int cluster_set_levels(struct cluster *c, struct arena *a, const char *text, struct diag *d)
{
    bool good = cluster_levels_parse(c, text);
    const char *why = good ? cluster_take_levels(c, a) : NULL;
    if (!good || why)
        diag_error(d, "levels '%s': %s", text,
                   why ? why
                       : "expected sizes and links of 1 to 4 levels, innermost first, such as "
                         "8:25GB/s,0us/2:3GB/s,0us");
    return good && !why ? 0 : -1;
}

const char *cluster_levels_text(const struct cluster *c, struct arena *a)
{
    const char *s = "";
    for (uint32_t i = 0; i < c->nlevel; i++) {
        const struct cluster_level *l = &c->level[i];
        s = arena_fmt(a, "%s%s%u:%lldB/s,%lldps", s, i ? "/" : "", l->size, (long long)l->bandwidth,
                      (long long)l->latency);
        if (l->reduce)
            s = arena_fmt(a, "%s,%lldB/s", s, (long long)l->reduce);
    }
    return s;
}

void cluster_default(struct cluster *c)
{
    memset(c, 0, sizeof *c);
    preset_of(PRESET_DEFAULT, strlen(PRESET_DEFAULT), NULL, &c->cls[0]);
    c->cls[0].count = c->ndev = 2;
    c->ncls = 1;
}

int cluster_set_reserve(struct cluster *c, const char *text, struct diag *d)
{
    char have[UNIT_TEXT];
    int64_t share = 0, bytes = 0;
    /* share_parse() refuses a share of 0: with "0%" is_share is false, and `bytes` stays 0 */
    bool is_share = share_parse(text, &share);
    if (!is_share && strcmp(text, "0%") != 0 && !bytes_parse(text, &bytes))
        return diag_error(d, "--reserve '%s': expected a share such as 10%% or a size such as 2GiB",
                          text);
    for (uint32_t k = 0; k < c->ncls; k++) {
        struct device_class *cls = &c->cls[k];
        if (cls->host || cls->memory < 0)
            continue;
        int64_t all = cls->memory + cls->reserve;
        int64_t reserve = is_share ? mul_div_ceil(all, share, 1000000) : bytes;
        if (reserve > 0 && reserve >= all)
            return diag_error(d,
                              "--reserve '%s': leaves nothing of the %s of a device of class '%s': "
                              "expected less",
                              text, bytes_short(have, all), cls->name);
        cls->reserve = reserve;
        cls->memory = all - reserve;
    }
    return 0;
}
