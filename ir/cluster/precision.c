/* Sets the type in which devices compute what a model has in f32 (enum precision, cluster.h).
 *
 * A model gives its types, but a runtime may compute in others: TF32 in the matrix units of NVIDIA's GPUs, half
 * precision or integers in engines such as TensorRT, Core ML or an NPU's.  That is a setting of the runtime, so the
 * user gives it (--precision), and it is never assumed.  O(classes + items of the text) for each item. */
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

/* Sets precision p for the class called name[0 .. n); if n is 0, for all classes that have a rate for p.  Returns
 * NULL, or what was expected, as the end of a message. */
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

/* Whether an item of `text` before the item at s is for the class name[0 .. n), or, if n is 0, for all classes. */
static bool is_set_before(const char *text, const char *s, const char *name, size_t n)
{
    bool found = false;
    for (const char *at = text; at < s && !found; at += strcspn(at, ",") + 1) {
        /* size: bytes of the class in TYPE:CLASS; 0: the item is TYPE */
        size_t item = strcspn(at, ","), type = strcspn(at, ":,");
        size_t size = type < item ? item - type - 1 : 0;
        found = size == n && memcmp(at + item - size, name, n) == 0;
    }
    return found;
}

int cluster_set_precision(struct cluster *c, const char *text, struct diag *d)
{
    /* items for all classes come first, so that items for one class win */
    for (int turn = 0; turn < 2; turn++)
        for (const char *s = text;;) {
            /* the item is s[0 .. n): a type of `type` letters, perhaps with ':' and a class of `name` letters; name
             * 0: the item is for all classes */
            size_t n = strcspn(s, ","), type = strcspn(s, ":,");
            size_t name = type < n ? n - type - 1 : 0;
            bool its_turn = turn == (name > 0);
            enum precision p = precision_of(s, type);
            const char *wrong = NULL, *class = s + n - name;
            if (p == PRECISIONS || (type < n && !name))
                wrong = "expected f32, tf32, f16, bf16 or i8, perhaps for a class as in f16:a100";
            else if (its_turn && is_set_before(text, s, class, name))
                wrong = name
                            ? "a second type for this class, expected one"
                            : "a second type without a class, expected one, and others for a class "
                              "each as in f16:a100";
            else if (its_turn)
                wrong = set_precision(c, p, class, name);
            if (wrong)
                return diag_error(d, "--precision '%.*s': %s", (int)n, s, wrong);
            if (!s[n])
                break;
            s += n + 1;
        }
    return 0;
}
