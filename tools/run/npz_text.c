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

/* Writes the UTF-8 of a code point to `to`, and returns its length in bytes; 0: it is no character of Unicode. */
static size_t encode(uint32_t code, char *to)
{
    static const struct {
        uint32_t below;
        unsigned char first; /* bits that the first byte begins with */
    } row[] = {{0x80, 0}, {0x800, 0xc0}, {0x10000, 0xe0}, {0x110000, 0xf0}};
    enum {
        ROWS = sizeof row / sizeof *row,
        BITS = 6
    }; /* each further byte has the bits 10, then 6 bits of the code point */
    bool surrogate = code >= 0xd800 && code < 0xe000;
    size_t n = 0;
    while (n < ROWS && code >= row[n].below)
        n++;
    if (n == ROWS || surrogate)
        return 0;
    for (size_t k = n; k > 0; k--, code >>= BITS)
        to[k] = (char)(0x80 | (code & 0x3f));
    to[0] = (char)(row[n].first | code);
    return n + 1;
}

/* Writes an element of `letters` characters at `from` to `to`, which has 4 bytes for each and 1 more, as UTF-8 that
 * ends with a NUL.  Returns its length with the NUL; 0: it is not UTF-8, is no Unicode, or has a NUL within. */
static size_t read_text(const unsigned char *from, size_t letters, bool narrow, char *to)
{
    size_t n = 0, wide = narrow ? 1 : sizeof(uint32_t);
    bool ended = false;
    for (size_t k = 0; k < letters; k++) {
        uint32_t code = from[k];
        if (!narrow)
            memcpy(&code, from + k * wide, wide);
        if (code != 0 && ended)
            return 0;
        ended = code == 0;
        if (narrow && code != 0)
            to[n++] = (char)code;
        else if (code != 0) {
            size_t length = encode(code, to + n);
            if (length == 0)
                return 0;
            n += length;
        }
    }
    to[n] = 0;
    return utf8_good(to, n) == n ? n + 1 : 0;
}

int npz_read_texts(struct npz_array *to, struct arena *a)
{
    size_t elems = (size_t)shape_elems(to->size, to->rank), letters = (size_t)to->letters;
    size_t each = letters * (to->narrow ? 1 : sizeof(uint32_t));
    const char **text = arena_array(a, elems + 1, sizeof *text);
    /* letters: any number in a file without elements */
    char *one = arena_alloc(a, elems > 0 ? letters * sizeof(uint32_t) + 1 : 1);
    for (size_t i = 0; i < elems; i++) {
        size_t n = read_text((const unsigned char *)to->data + i * each, letters, to->narrow, one);
        if (n == 0)
            return -1;
        text[i] = arena_strdup(a, one, n - 1);
    }
    to->text = text;
    to->data = NULL;
    to->bytes = 0;
    return 0;
}
