/* In which type devices compute what a model has in f32 (enum precision, cluster.h).
 *
 * A model says its types; a runtime may compute in others: TF32 in the matrix units of NVIDIA's GPUs, half precision or
 * integers in engines such as TensorRT, Core ML or an NPU's.  That is a setting of the runtime, so it is said and never
 * assumed.  O(classes) for each item of the text. */
#include "ir/cluster/cluster.h"

#include <string.h>

const char *const precision_name[PRECISIONS + 1] = {"f32", "tf32", "f16", "bf16", "i8", NULL};

enum precision precision_of(const char *name, size_t n)
{
    int p = 0;
    while (p < PRECISIONS && (strlen(precision_name[p]) != n || memcmp(precision_name[p], name, n)))
        p++;
    return (enum precision)p;
}

enum elem precision_elem(enum precision p)
{
    static const enum elem elem[PRECISIONS] = {ELEM_F32, ELEM_F32, ELEM_F16, ELEM_BF16, ELEM_I8};
    return elem[p];
}

int64_t cluster_precision_peak(const struct device_class *cls, enum precision p)
{
    return p == PRECISION_TF32 ? cls->tf32 : cls->peak[precision_elem(p)];
}

/* Sets precision p for the class called name[0 .. n), or for all that have a rate for it if n is 0.  Returns NULL, or
 * what was expected, as the end of a message. */
static const char *set_precision(struct cluster *c, enum precision p, const char *name, size_t n)
{
    bool known = false, set = false;
    for (uint32_t k = 0; k < c->ncls; k++) {
        struct device_class *cls = &c->cls[k];
        if (n && (strlen(cls->name) != n || memcmp(cls->name, name, n)))
            continue;
        known = true;
        if (!cluster_precision_peak(cls, p))
            continue;
        cls->precision = p;
        set = true;
    }
    return set      ? NULL
           : !known ? "there is no such class, expected the name of one of the cluster"
           : n      ? "the class has no rate for it, expected a \"peak\" in a cluster file"
                    : "no class has a rate for it, expected a \"peak\" in a cluster file";
}

int cluster_set_precision(struct cluster *c, const char *text, struct diag *d)
{
    for (const char *s = text;;) {
        size_t n = strcspn(s, ","), type = strcspn(s, ":,");
        size_t name = type < n ? n - type - 1 : 0;
        enum precision p = precision_of(s, type);
        if (p == PRECISIONS || (type < n && !name))
            return diag_error(
                d,
                "--precision '%.*s': expected f32, tf32, f16, bf16 or i8, perhaps for "
                "a class as in f16:a100",
                (int)n, s);
        const char *wrong = set_precision(c, p, s + n - name, name);
        if (wrong)
            return diag_error(d, "--precision '%.*s': %s", (int)n, s, wrong);
        if (!s[n])
            return 0;
        s += n + 1;
    }
}
