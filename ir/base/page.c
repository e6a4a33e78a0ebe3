/* Writes wrapped text and tables for terminals (page.h).  Every character counts as one column.  O(length). */
#include "ir/base/page.h"

#include "ir/base/numbers.h"

#include <assert.h>
#include <string.h>
#include <sys/ioctl.h>

enum { NARROW = 60, WIDE = 160 }; /* limits of page_columns() on a terminal */

/* Returns the width of s[0 .. n) in columns. */
static unsigned width_of(const char *s, size_t n)
{
    unsigned columns = 0;
    for (size_t i = 0; i < n; i++)
        columns += ((unsigned char)s[i] & 0xc0) != 0x80; /* only first bytes of characters */
    return columns;
}

unsigned page_width(const char *s)
{
    return width_of(s, strlen(s));
}

/* Whether word[0 .. n) is a unit, with punctuation or without: "ms", "MiB),".  It stays on the line of its number. */
static bool is_unit(const char *word, size_t n)
{
    static const char *const units[] = {"ps",  "ns",  "us", "ms", "s", "B", "KiB", "MiB",
                                        "GiB", "TiB", "k",  "M",  "G", "T", "%"};
    while (n && strchr("),;:.", word[n - 1]))
        n--;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strlen(units[i]) == n && !memcmp(units[i], word, n))
            return true;
    return false;
}

/* Returns the number of bytes at s that must stay on one line: a word, or a number with its unit. */
static size_t unbreakable_length(const char *s)
{
    size_t n = strcspn(s, " \n");
    if (n && s[n - 1] >= '0' && s[n - 1] <= '9' && s[n] == ' ') {
        size_t more = strcspn(s + n + 1, " \n");
        if (more && is_unit(s + n + 1, more))
            n += 1 + more;
    }
    return n;
}

unsigned page_columns(FILE *f)
{
    struct winsize w;
    int fd = fileno(f); /* -1: f writes to memory */
    if (fd < 0 || ioctl(fd, TIOCGWINSZ, &w) != 0 || w.ws_col == 0)
        return PAGE_COLUMNS;
    return w.ws_col < NARROW ? NARROW : smaller_u32(w.ws_col, WIDE);
}

void page_words_in(FILE *f, const char *text, unsigned at, unsigned indent, unsigned columns)
{
    /* whether the line is empty so far: the next word then stays on it, however long the word is */
    bool line_start = true;
    while (*text) {
        size_t blanks = strspn(text, " ");
        const char *word = text + blanks;
        size_t n = unbreakable_length(word);
        unsigned width = width_of(word, n);
        if (n && !line_start && at + blanks + width > columns) {
            fprintf(f, "\n%*s", (int)indent, "");
            at = indent;
            blanks = 0;
        }
        if (n)
            fprintf(f, "%*s%.*s", (int)blanks, "", (int)n, word);
        at += (unsigned)blanks + width;
        text = word + n;
        line_start = *text == '\n';
        if (line_start) {
            text++;
            at = 0;
            if (*text) /* the last line is ended below */
                putc('\n', f);
        }
    }
    putc('\n', f);
}

void page_words(FILE *f, const char *text, unsigned at, unsigned indent)
{
    page_words_in(f, text, at, indent, page_columns(f));
}

void page_table_begin(struct page_table *t, uint32_t ncol, uint32_t left, struct arena *a)
{
    assert(ncol <= PAGE_CELLS);
    *t = (struct page_table){.ncol = ncol, .left = left, .own = a};
}

void page_table_row(struct page_table *t, const char *const *cell)
{
    uint32_t at = t->nrow++ * t->ncol;
    t->cell = vec_grow(t->own, t->cell, &t->cap, at + t->ncol, sizeof *t->cell);
    for (uint32_t k = 0; k < t->ncol; k++) {
        unsigned w = cell[k] ? page_width(cell[k]) : 0;
        t->cell[at + k] = cell[k] ? cell[k] : "";
        t->width[k] = larger_u32(w, t->width[k]);
    }
}

unsigned page_table_width(const struct page_table *t)
{
    unsigned sum = 0;
    for (uint32_t k = 0; k < t->ncol; k++)
        sum += t->width[k] + 1;
    return sum;
}

void page_table_put(FILE *f, const struct page_table *t, uint32_t row)
{
    for (uint32_t k = 0; k < t->ncol; k++) {
        const char *s = t->cell[row * t->ncol + k];
        int pad = (int)(t->width[k] - page_width(s));
        bool left = t->left >> k & 1;
        fprintf(f, "%*s%s%*s ", left ? 0 : pad, "", s, left ? pad : 0, "");
    }
}
