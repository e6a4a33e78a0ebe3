/* Random inputs, and inputs of a .npz file (inputs.h).  A normal number is the sum of twelve uniform ones less 6 (the
 * central limit, good to a few per cent), in integers, so that the same seed gives the same bytes on every machine.
 * O(elements). */
#include "tools/run/inputs.h"

#include "ir/base/infile.h"
#include "ir/base/json_in.h"
#include "ir/base/random.h"
#include "ir/base/strings.h"
#include "ir/model/module.h"
#include "tools/run/npz.h"
#include "tools/run/pb_in.h"
#include "tools/run/resize.h"
#include "tools/run/cut_tensors.h"

#include <inttypes.h>
#include <string.h>

/* Returns a number of a normal distribution with variance 1, in 1/65536: the sum of 12 uniform ones of 16 bits, less
 * the sum's mean. */
static int32_t normal(uint64_t *state)
{
    int32_t sum = 0;
    for (int k = 0; k < 3; k++)
        for (uint64_t bits = random_bits(state), j = 0; j < 4; j++, bits >>= 16)
            sum += (int32_t)(bits & 0xffff);
    return sum - 6 * 65536;
}

/* Returns x / 65536 as a float of 16 bits, rounded towards zero: |x| <= 6 * 65536. */
static uint16_t half_of(int32_t x)
{
    uint32_t n = (uint32_t)(x < 0 ? -x : x), e = 15;
    uint32_t sign = (uint32_t)(x < 0) << 15;
    if (n < 4) /* below 2^-14, the least normal number */
        return (uint16_t)sign;
    for (; n >= UINT32_C(2) << 16; n >>= 1)
        e++;
    for (; n < UINT32_C(1) << 16; n <<= 1)
        e--;
    return (uint16_t)(sign | e << 10 | (n & 0xffff) >> 6);
}

/* A source of random numbers. */
struct randoms {
    uint64_t state;
    enum random_integers integers;
};

/* Writes n random elements of a type to `to`: floats of 16 bits and more from a normal distribution, complex numbers as
 * two such floats; integers as r->integers says; bools, and the bytes of floats of 8 bits, 0 or 1.  Returns false, and
 * writes nothing, for types without whole bytes, such as strings. */
static bool fill(void *to, enum elem elem, int64_t n, struct randoms *r)
{
    size_t bytes = elem_bits(elem) / 8;
    unsigned char *at = to;
    if (elem == ELEM_C64 || elem == ELEM_C128) /* two floats each */
        return fill(to, elem == ELEM_C64 ? ELEM_F32 : ELEM_F64, 2 * n, r);
    for (int64_t i = 0; i < n && bytes > 0; i++, at += bytes) {
        int32_t x = elem_is_float(elem) && bytes > 1 ? normal(&r->state) : 0;
        float f = (float)x / 65536;
        double d = (double)x / 65536;
        /* 0 or 1, for all types but floats.  It is drawn for a float that happens to be 0, too: a seed must go on
         * giving the same inputs. */
        uint64_t one = x == 0 ? random_bits(&r->state) >> 63 : 0;
        if (r->integers != INTEGERS_RANDOM && elem_is_integer(elem) && elem != ELEM_BOOL)
            one = r->integers == INTEGERS_ONE;
        uint32_t word;
        if (elem == ELEM_F32) {
            memcpy(at, &f, sizeof f);
        } else if (elem == ELEM_F64) {
            memcpy(at, &d, sizeof d);
        } else if (elem == ELEM_F16) {
            uint16_t h = half_of(x);
            memcpy(at, &h, sizeof h);
        } else if (elem == ELEM_BF16) {
            memcpy(&word, &f, sizeof word);
            word >>= 16; /* the upper half of the f32 */
            memcpy(at, &word, 2);
        } else { /* integers, bools, and raw bytes of floats of 8 bits; little endian */
            memcpy(at, &one, bytes);
        }
    }
    return bytes > 0;
}

/* Reports the engine's reason why the input v cannot be made, and frees `made`, if not NULL.  Returns NULL. */
static struct engine_value *no_value(struct engine *e, const struct split_value *v,
                                     struct engine_value *made, const struct engine_error *err,
                                     struct diag *d)
{
    diag_error(d, "input '%s': %s", v->name, err->line);
    e->face->value_free(e, made);
    return NULL;
}

/* Returns a random tensor for an input, of the planned type and sizes; of strings, "0" and "1".  NULL after an error:
 * its type cannot be made, or its sizes are not known. */
static struct engine_value *random_value(struct engine *e, const struct split_value *v,
                                         struct randoms *r, struct arena *a, struct diag *d)
{
    struct engine_error err = {"its data cannot be reached"};
    enum elem elem = elem_of_name(v->type, strlen(v->type));
    struct engine_shape shape = {(int)elem, v->rank, v->size};
    int64_t n = v->size ? shape_elems(v->size, v->rank) : -1;
    if (elem == ELEM_NONE || (n < 0 && v->size) || (elem != ELEM_STR && elem_bits(elem) < 8)) {
        diag_error(d, "input '%s': no random values of type '%s' can be made: give it by %s",
                   v->name, v->type,
                   strchr(v->type, '<') ? "a folder of input_0.pb, input_1.pb, ..."
                                        : "--inputs=FILE.npz");
        return NULL;
    }
    if (n < 0) {
        diag_error(
            d,
            "input '%s': nothing says how large it is: give it by --inputs=FILE.npz, or its sizes by --dim",
            v->name);
        return NULL;
    }
    struct engine_value *to = e->face->value_new(e, &shape, &err);
    if (!to)
        return no_value(e, v, NULL, &err, d);
    bool good = n == 0;
    if (elem == ELEM_STR) {
        const char **text = arena_array(a, (size_t)n + 1, sizeof *text);
        for (int64_t i = 0; i < n; i++)
            text[i] = random_bits(&r->state) >> 63 ? "1" : "0";
        good = e->face->value_strings(e, to, text, (size_t)n, &err) == 0;
    } else if (n > 0) {
        void *data = e->face->value_data(e, to);
        good = data && fill(data, elem, n, r);
    }
    return good ? to : no_value(e, v, to, &err, d);
}

const char *sizes_text(const int64_t *size, uint32_t rank, struct arena *a)
{
    const char *text = "";
    for (uint32_t k = 0; k < rank; k++)
        text = arena_fmt(a, "%s%s%" PRId64, text, k ? "," : "", size[k]);
    return arena_fmt(a, "[%s]", text);
}

/* Checks that an array of a file has the sizes that the plan has for input v, unless of->any_sizes allows others.
 * Returns 0, or -1 and an error, which names the options --dim for the array's sizes. */
static int check_sizes(const struct split *s, const struct split_value *v,
                       const struct npz_array *g, const struct inputs_of *of, struct arena *a,
                       struct diag *d)
{
    json_t *row, *shape = NULL;
    const char *fix = "";
    size_t i;
    if (of->any_sizes || !v->size || g->item ||
        (v->rank == g->rank && !memcmp(v->size, g->size, v->rank * sizeof *v->size)))
        return 0;
    json_array_foreach((json_t *)(uintptr_t)split_list(s, "inputs"), i, row)
    {
        const char *name = json_get_text(row, "name");
        shape = name && !strcmp(name, v->name) ? json_object_get(row, "shape") : shape;
    }
    for (uint32_t k = 0; k < v->rank && v->rank == g->rank && !of->all; k++) {
        const char *dim = json_string_value(json_array_get(shape, k));
        if (v->size[k] != g->size[k] && dim && split_names_dim(s, dim))
            fix = arena_fmt(a, "%s%s --dim %s=%" PRId64, fix, *fix ? "" : ":", dim, g->size[k]);
    }
    return diag_error(d, "%s: input '%s': expected %s, found %s%s", of->file, v->name,
                      sizes_text(v->size, v->rank, a), sizes_text(g->size, g->rank, a), fix);
}

/* Returns the type of g, a value of a file, in the words of split_value.type, in a; NULL: g is a sequence whose
 * elements have different types. */
static const char *type_text(const struct npz_array *g, bool map, struct arena *a)
{
    if (!g->item)
        return elem_name((enum elem)g->elem);
    for (uint32_t i = 1; i < g->nitem && !map; i++)
        if (g->item[i].elem != g->item[0].elem)
            return NULL;
    const char *first = elem_name((enum elem)g->item[0].elem);
    return map ? arena_fmt(a, "map<%s,%s>", first, elem_name((enum elem)g->item[1].elem))
               : arena_fmt(a, "seq<%s>", first);
}

/* Returns a tensor for input v with the elements of g, an array of a file; or NULL after an error. */
static struct engine_value *given_tensor(struct engine *e, const struct split_value *v,
                                         const struct npz_array *g, struct diag *d)
{
    struct engine_error err = {"its data cannot be reached"};
    struct engine_value *to =
        e->face->value_new(e, &(struct engine_shape){g->elem, g->rank, g->size}, &err);
    if (to && g->text) {
        int64_t n = shape_elems(g->size, g->rank);
        if (e->face->value_strings(e, to, g->text, n > 0 ? (size_t)n : 0, &err))
            return no_value(e, v, to, &err, d);
    }
    void *data = to && g->bytes > 0 ? e->face->value_data(e, to) : NULL;
    if (!to || (g->bytes > 0 && !data))
        return no_value(e, v, to, &err, d);
    if (data)
        memcpy(data, g->data, g->bytes);
    return to;
}

/* Returns a value for input v made of g, which the file has for it: a tensor, a sequence or a map; NULL after an
 * error. */
static struct engine_value *given_value(struct engine *e, const struct split_value *v,
                                        const struct npz_array *g, const char *file,
                                        struct arena *a, struct diag *d)
{
    bool map = g->item && !strncmp(v->type, "map<", 4);
    const char *type = type_text(g, map, a);
    struct engine_error err;
    struct engine_value *to = NULL;
    uint32_t n = 0;
    if (!type || strcmp(v->type, type) != 0) {
        diag_error(d, "%s: input '%s': expected %s, found %s", file, v->name, v->type,
                   type ? type : "elements of several types");
        return NULL;
    }
    if (!g->item)
        return given_tensor(e, v, g, d);
    struct engine_value **item = arena_array(a, g->nitem, sizeof *item);
    for (; n < g->nitem; n++) { /* ends early if an item cannot be made */
        item[n] = given_tensor(e, v, &g->item[n], d);
        if (!item[n])
            break;
    }
    if (n == g->nitem) {
        to = e->face->value_join(e, item, n, map, &err);
        if (!to)
            no_value(e, v, NULL, &err, d);
    }
    while (n > 0)
        e->face->value_free(e, item[--n]);
    return to;
}

/* Frees the first n inputs of the table. */
static void free_inputs(struct engine *e, const struct split *s, uint32_t n,
                        struct engine_value **table)
{
    for (uint32_t k = 0; k < n; k++) {
        e->face->value_free(e, table[s->given[k]]);
        table[s->given[k]] = NULL;
    }
}

/* Reports the first array of a file that is no input of the model. */
static void report_unknown(const struct split *s, const struct npz *npz, const char *file,
                           struct diag *d)
{
    for (uint32_t k = 0; k < npz->n; k++) {
        bool known = false;
        for (uint32_t j = 0; j < s->ngiven; j++)
            known |= !strcmp(s->value[s->given[j]].name, npz->array[k].name);
        if (!known) {
            diag_error(d, "%s: '%s' is no input of the model", file, npz->array[k].name);
            return;
        }
    }
}

/* Makes the inputs for inputs_make(), whole: not cut into pieces.  Returns 0; or -1 after an error, and then the table
 * has no input.  The contents of the file are read into a, which the caller may free at once: values are copies. */
static int make_all(struct engine *e, const struct split *s, const struct inputs_of *of,
                    struct engine_value **table, struct arena *a, struct diag *d)
{
    struct npz npz = {0};
    struct randoms randoms = {of->seed, of->integers};
    uint32_t used = 0, i;
    bool pb = of->file && of->all && (infile_is_folder(of->file) || str_ends(of->file, ".pb"));
    if (of->file && (pb ? pb_read(&npz, of->file, s, a, d) : npz_open(&npz, of->file, a, d)))
        return -1;
    for (i = 0; i < s->ngiven; i++) { /* ends early after an error: inputs 0 .. i - 1 were made */
        const struct split_value *v = &s->value[s->given[i]];
        const struct npz_array *g; /* the input in the file; NULL: the file lacks it */
        struct engine_value *to = NULL;
        if (npz_find(&npz, v->name, &g, a, d))
            break;
        bool kept = of->kept && of->kept[s->given[i]];
        if (!g && kept)
            continue;
        if (!g && of->file && of->all)
            diag_error(d, "%s: input '%s' is missing", of->file, v->name);
        else if (!g)
            to = random_value(e, v, &randoms, a, d);
        else if (kept || !check_sizes(s, v, g, of, a, d))
            to = given_value(e, v, g, of->file, a, d);
        if (!to)
            break;
        used += g != NULL;
        table[s->given[i]] = to;
    }
    bool made = i == s->ngiven;
    if (made && used == npz.n)
        return 0;
    if (made)
        report_unknown(s, &npz, of->file, d);
    free_inputs(e, s, i, table);
    return -1;
}

int inputs_make(struct engine *e, const struct split *s, const struct inputs_of *of,
                struct engine_value **table, struct arena *a, struct diag *d)
{
    struct arena *own = arena_new(a);
    struct engine_error err;
    int rc = make_all(e, s, of, table, own, d);
    arena_free(own);
    if (!rc && cut_inputs(e, s, table, of->whole, &err)) {
        rc =
            diag_error(d, "%s%sinput %s", of->file ? of->file : "", of->file ? ": " : "", err.line);
        free_inputs(e, s, s->ngiven, table);
    }
    return rc;
}
