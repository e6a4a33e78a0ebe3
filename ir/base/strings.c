/* Interned strings (strings.h): open addressing with linear probing over ids.
 *
 * The slots hold ids only (0: free).  Each string keeps its hash, so that no string is hashed again when the table
 * grows.  The table is at most half full.  The hash has a random key (hash.h), so that a file cannot choose names that
 * collide.  Ids do not depend on the key, and so no order that pcc derives from ids does. */
#include "ir/base/strings.h"

#include "ir/base/hash.h"

#include <string.h>

/* An interned string. */
struct string {
    const char *text;
    size_t n; /* bytes without the final NUL */
    uint32_t hash;
};

/* The interned strings of a module, and the table that finds them. */
struct strings {
    struct arena *mem;
    struct string *item; /* [id] the string with that id */
    uint32_t n, cap;     /* number of ids; ids that item[] has memory for */
    uint32_t *slot;      /* [slot] id; 0: free */
    uint32_t mask;       /* number of slots - 1; the number of slots is a power of two */
    struct hash_key key;
};

struct strings *strings_new(struct arena *a)
{
    struct strings *t = arena_alloc(a, sizeof *t);

    t->mem = a;
    t->key = hash_key_new();
    t->mask = 1023;
    t->slot = arena_array(a, (size_t)t->mask + 1, sizeof *t->slot);
    t->item = vec_grow(a, NULL, &t->cap, 512, sizeof *t->item);
    t->item[0].text = "";
    t->n = 1;
    return t;
}

/* Doubles the number of slots and puts all ids into the new slots. */
static void slots_double(struct strings *t)
{
    if (t->mask == UINT32_MAX)
        arena_array(t->mem, SIZE_MAX, 2); /* 2^31 strings: fails as if out of memory */
    t->mask = t->mask * 2 + 1;
    t->slot = arena_array(t->mem, (size_t)t->mask + 1, sizeof *t->slot);
    for (uint32_t id = 1; id < t->n; id++) {
        uint32_t i = t->item[id].hash & t->mask;
        while (t->slot[i] != 0)
            i = (i + 1) & t->mask;
        t->slot[i] = id;
    }
}

uint32_t strings_id(struct strings *t, const char *s, size_t n)
{
    if (n == 0)
        return 0;
    uint32_t h = (uint32_t)hash_bytes(&t->key, s, n), i = h & t->mask;
    for (; t->slot[i] != 0; i = (i + 1) & t->mask) {
        const struct string *x = &t->item[t->slot[i]];
        if (x->hash == h && x->n == n && memcmp(x->text, s, n) == 0)
            return t->slot[i];
    }
    if (t->n > t->mask / 2) {
        slots_double(t);
        i = h & t->mask;
        while (t->slot[i] != 0) /* finds the free slot in the larger table */
            i = (i + 1) & t->mask;
    }
    uint32_t id = t->n;
    t->item = vec_grow(t->mem, t->item, &t->cap, id + 1, sizeof *t->item);
    t->item[id].text = arena_strdup(t->mem, s, n);
    t->item[id].n = n;
    t->item[id].hash = h;
    t->n++;
    t->slot[i] = id;
    return id;
}

const char *strings_text(const struct strings *t, uint32_t id)
{
    return id < t->n ? t->item[id].text : "";
}

uint32_t strings_count(const struct strings *t)
{
    return t->n;
}

size_t strings_size(const struct strings *t, uint32_t id)
{
    return id < t->n ? t->item[id].n : 0;
}

bool str_ends(const char *s, const char *end)
{
    size_t n = strlen(s), k = strlen(end);

    return n >= k && strcmp(s + n - k, end) == 0;
}

int str_order(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

const char *path_base(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}
