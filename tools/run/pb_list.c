/* Reads sequences and maps in ONNX's own form (pb_in.h): the message SequenceProto, whose elements are tensors, and
 * MapProto, whose keys are integers or strings and whose values are a sequence of tensors of one element each.
 *
 * Their few fields are taken off the wire here; tensors in them go to pb_tensor().  A map becomes two arrays, keys and
 * values, from which ONNX Runtime makes a map.  O(bytes). */
#include "tools/run/pb_in.h"

#include "ir/model/module.h"

#include <string.h>

/* Numbers of fields. */
enum { SEQUENCE_TYPE = 2, SEQUENCE_TENSORS = 3 };
enum { MAP_KEYS = 3, MAP_TEXT_KEYS = 4, MAP_VALUES = 5 };

enum { ITEMS_MOST = 1 << 20 }; /* elements of a sequence or map */

/* A message that is read. */
struct wire {
    const unsigned char *at, *end;
    /* the field that was read last: its number; bytes[n], or a number (bytes NULL) */
    int field;
    const unsigned char *bytes;
    uint64_t n, number;
    bool bad; /* the message is cut off, or is none */
};

/* Returns the message in bytes[0 .. n); none of its fields was read yet. */
static struct wire wire_of(const void *bytes, uint64_t n)
{
    return (struct wire){.at = bytes, .end = (const unsigned char *)bytes + n};
}

/* Reads a number in the form of seven bits a byte.  Returns 0 and sets w->bad if it is cut off or too long. */
static uint64_t read_number(struct wire *w)
{
    uint64_t v = 0;
    for (int shift = 0; shift < 64 && w->at < w->end; shift += 7) {
        v |= (uint64_t)(*w->at & 127) << shift;
        if (!(*w->at++ & 128))
            return v;
    }
    w->bad = true;
    return 0;
}

/* The forms that a field of a message can have; 3 and 4, groups, are in no message of ONNX. */
enum { WIRE_NUMBER = 0, WIRE_8_BYTES = 1, WIRE_BYTES = 2, WIRE_4_BYTES = 5 };

/* Reads the next field: its number into w->field; its content into w->bytes and w->n, or into w->number (fields of 4
 * or 8 bytes, which no message here has, are skipped: both are 0).  Returns false at the end of the message, and where
 * it is bad. */
static bool next_field(struct wire *w)
{
    enum { NO_SUCH_FIELD = 100 }; /* all larger numbers: no message here has such fields */
    if (w->at == w->end)
        return false;
    uint64_t tag = read_number(w), form = tag & 7;
    w->field = tag >> 3 > NO_SUCH_FIELD ? NO_SUCH_FIELD : (int)(tag >> 3);
    w->bytes = NULL;
    w->number = 0;
    w->n = 0; /* bytes of content behind w->at; 0 for a number, which is read here */
    switch (form) {
    case WIRE_NUMBER:
        w->number = read_number(w);
        break;
    case WIRE_BYTES:
        w->n = read_number(w);
        break;
    case WIRE_8_BYTES:
        w->n = 8;
        break;
    case WIRE_4_BYTES:
        w->n = 4;
        break;
    default:
        w->bad = true;
    }
    w->bad = w->bad || w->n > (uint64_t)(w->end - w->at);
    if (w->bad)
        return false;
    if (form == WIRE_BYTES)
        w->bytes = w->at;
    w->at += w->n;
    return true;
}

/* Reads the tensors of a sequence into to->item.  Returns 0, or -1 and an error. */
static int read_items(struct npz_array *to, struct wire w, const char *path, struct arena *a,
                      struct diag *d)
{
    struct npz_array *item = NULL;
    uint32_t cap = 0;
    while (next_field(&w)) {
        if (w.field == SEQUENCE_TYPE && w.number > 1) /* 0: not known, 1: tensors */
            return diag_error(d, "%s: expected a sequence of tensors", path);
        if (w.field != SEQUENCE_TENSORS || !w.bytes)
            continue;
        if (to->nitem == ITEMS_MOST)
            return diag_error(d, "%s: more than %d elements", path, ITEMS_MOST);
        item = vec_grow(a, item, &cap, to->nitem + 1, sizeof *item);
        item[to->nitem] = (struct npz_array){.name = to->name};
        const struct pb_bytes from = {(const char *)w.bytes, w.n, path};
        if (pb_tensor(&item[to->nitem++], &from, a, d))
            return -1;
    }
    to->item = item;
    if (w.bad)
        return diag_error(d, "%s: expected a sequence in ONNX's form", path);
    return to->nitem ? 0 : diag_error(d, "%s: an empty sequence, which cannot be made", path);
}

/* Makes *to an array of n elements: the single element of each of the arrays item[n], which must have one type.
 * Returns 0, or -1 and an error. */
static int join_items(struct npz_array *to, const struct npz_array *item, uint32_t n,
                      const char *path, struct arena *a, struct diag *d)
{
    int64_t *size = arena_array(a, 1, sizeof *size);
    bool one = shape_elems(item[0].size, item[0].rank) == 1;
    /* 0 if an item is not one element: the loop refuses item 0 then */
    size_t each = one ? item[0].bytes : 0;
    char *data = arena_array(a, (size_t)n + 1, each + 1);
    const char **text = arena_array(a, (size_t)n + 1, sizeof *text);
    size[0] = n;
    *to = (struct npz_array){
        .name = item[0].name, .elem = item[0].elem, .rank = 1, .size = size, .data = data};
    to->bytes = each * n;
    to->text = item[0].text ? text : NULL;
    for (uint32_t i = 0; i < n; i++) {
        if (item[i].elem != to->elem || item[i].bytes != each ||
            shape_elems(item[i].size, item[i].rank) != 1)
            return diag_error(d, "%s: expected a map to values of one element and type each", path);
        if (to->text)
            text[i] = item[i].text[0];
        else
            memcpy(data + i * each, item[i].data, each);
    }
    return 0;
}

/* The keys of a map: integers or strings. */
struct keys {
    int64_t *number;
    const char **text;
    uint32_t n, cap;
};

/* Adds a key to a map: the text, or, if text is NULL, the number.  Returns false if the map has too many keys. */
static bool add_key(struct keys *k, const char *text, int64_t number, struct arena *a)
{
    uint32_t room = k->cap; /* both arrays grow alike */
    if (k->n == ITEMS_MOST)
        return false;
    k->text = vec_grow(a, k->text, &room, k->n + 1, sizeof *k->text);
    k->number = vec_grow(a, k->number, &k->cap, k->n + 1, sizeof *k->number);
    k->text[k->n] = text;
    k->number[k->n++] = number;
    return true;
}

/* Adds the keys in the field that was read last: a string, a number, or packed numbers.  Returns false if the map has
 * too many keys. */
static bool add_keys(struct keys *k, struct wire *w, struct arena *a)
{
    if (w->field == MAP_TEXT_KEYS && memchr(w->bytes, 0, w->n)) {
        w->bad = true; /* a text would end at the NUL */
        return true;
    }
    if (w->field == MAP_TEXT_KEYS)
        return add_key(k, arena_strdup(a, (const char *)w->bytes, w->n), 0, a);
    if (!w->bytes)
        return add_key(k, NULL, (int64_t)w->number, a);
    struct wire inner = wire_of(w->bytes, w->n);
    while (inner.at < inner.end && !inner.bad)
        if (!add_key(k, NULL, (int64_t)read_number(&inner), a))
            return false;
    w->bad = inner.bad;
    return true;
}

/* Reads a map into to->item, its keys and its values.  Returns 0, or -1 and an error. */
static int read_map(struct npz_array *to, struct wire w, const char *path, struct arena *a,
                    struct diag *d)
{
    struct keys k = {0};
    struct npz_array values = {.name = to->name}, *pair = arena_array(a, 2, sizeof *pair);
    while (!w.bad && next_field(&w)) {
        bool key = w.field == MAP_KEYS || (w.field == MAP_TEXT_KEYS && w.bytes);
        if (key && !add_keys(&k, &w, a))
            return diag_error(d, "%s: more than %d elements", path, ITEMS_MOST);
        if (w.field != MAP_VALUES || !w.bytes)
            continue;
        /* if a map has several fields with values, the last one counts */
        values = (struct npz_array){.name = to->name};
        if (read_items(&values, wire_of(w.bytes, w.n), path, a, d))
            return -1;
    }
    if (w.bad || !k.n || values.nitem != k.n)
        return diag_error(d, "%s: expected a map in ONNX's form, with a value for each key", path);
    int64_t *size = arena_array(a, 1, sizeof *size);
    bool text = k.text[0] != NULL;
    size[0] = k.n;
    pair[0] = (struct npz_array){.name = to->name,
                                 .elem = text ? ELEM_STR : ELEM_I64,
                                 .rank = 1,
                                 .size = size,
                                 .data = k.number,
                                 .bytes = text ? 0 : k.n * sizeof *k.number,
                                 .text = text ? k.text : NULL};
    for (uint32_t i = 0; i < k.n; i++)
        if ((k.text[i] != NULL) != text)
            return diag_error(d, "%s: a map with keys of two types", path);
    to->item = pair;
    to->nitem = 2;
    return join_items(&pair[1], values.item, values.nitem, path, a, d);
}

int pb_list(struct npz_array *to, const char *type, const struct pb_bytes *from, struct arena *a,
            struct diag *d)
{
    struct wire w = wire_of(from->at, from->n);
    return *type == 'm' ? read_map(to, w, from->path, a, d) : read_items(to, w, from->path, a, d);
}
