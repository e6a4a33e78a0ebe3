/* Strings as numpy has them (npz_text.h): all elements of an array take the room of the longest, a character is its
 * code point in four bytes, and the rest is zeros.  O(elements * longest). */
#include "tools/run/npz_text.h"

#include "ir/base/utf8.h"
#include "ir/model/module.h"

#include <string.h>

/* Returns the number of characters of s[0 .. n), and writes their code points to `to` unless that is NULL; -1: the
 * bytes are not UTF-8. */
static int64_t decode(const char *s, size_t n, uint32_t *to)
{
    int64_t letters = 0;
    for (size_t at = 0; at < n; letters++) {
        uint32_t code;
        size_t length = utf8_decode(s + at, n - at, &code);
        if (length == 0)
            return -1;
        if (to)
            to[letters] = code;
        at += length;
    }
    return letters;
}

int npz_texts(struct npz_array *to, const unsigned char *texts, size_t rank, size_t n,
              struct arena *a)
{
    int64_t *size = arena_array(a, rank + 1, sizeof *size);
    int64_t longest = 1; /* characters; numpy has no strings of less room */
    memcpy(size, texts, rank * sizeof *size);
    size_t elems = (size_t)shape_elems(size, (uint32_t)rank), head = rank * sizeof *size;
    /* [elems + 1] where each element begins in `bytes`, and behind the last one where it ends */
    size_t *from = arena_array(a, elems + 1, sizeof *from);
    memcpy(from, texts + head, elems * sizeof *from);
    const char *bytes = (const char *)texts + head + elems * sizeof *from;
    from[elems] = n - head - elems * sizeof *from;
    for (size_t i = 0; i < elems; i++) {
        int64_t letters = decode(bytes + from[i], from[i + 1] - from[i], NULL);
        if (letters < 0)
            return -1;
        longest = letters > longest ? letters : longest;
    }
    uint32_t *code = arena_array(a, elems * (size_t)longest + 1, sizeof *code);
    for (size_t i = 0; i < elems; i++)
        decode(bytes + from[i], from[i + 1] - from[i], code + i * (size_t)longest);
    to->elem = ELEM_STR;
    to->rank = (uint32_t)rank;
    to->size = size;
    to->letters = longest;
    to->data = code;
    to->bytes = elems * (size_t)longest * sizeof *code;
    return 0;
}
