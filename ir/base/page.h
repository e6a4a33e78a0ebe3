/* Writes wrapped text and tables for terminals. */
#ifndef PCC_IR_BASE_PAGE_H
#define PCC_IR_BASE_PAGE_H

#include "ir/base/arena.h"

#include <stdint.h>
#include <stdio.h>

enum {
    PAGE_COLUMNS = 80, /* width of a line of text that does not go to a terminal */
    PAGE_CELLS = 16    /* columns that a table may have */
};

/* Control sequences that turn a terminal's colour on, and (PAGE_PLAIN) all colours off. */
#define PAGE_RED "\033[1;31m"
#define PAGE_YELLOW "\033[1;33m"
#define PAGE_GREEN "\033[1;32m"
#define PAGE_PLAIN "\033[0m"

/* Returns the width of a line of text on f: of f's terminal, within limits, or PAGE_COLUMNS if f is no terminal. */
unsigned page_columns(FILE *f);

/* Both write text and a line end.  `at` is the number of columns that the line has already.  A line longer than
 * `columns` (in page_words(): page_columns(f)) is broken at blanks, but not between a number and its unit ("2 ms");
 * the lines after the first one begin with `indent` blanks.  A word that is too long for a line gets a line of its
 * own. */
void page_words(FILE *f, const char *text, unsigned at, unsigned indent);
void page_words_in(FILE *f, const char *text, unsigned at, unsigned indent, unsigned columns);

/* A table; each column is as wide as its widest cell. */
struct page_table {
    uint32_t ncol, nrow;
    uint32_t cap;               /* cells that cell[] has memory for */
    uint32_t left;              /* bit k: column k is aligned to the left, else to the right */
    unsigned width[PAGE_CELLS]; /* [column] width of the column's widest cell */
    const char **cell;          /* [row * ncol + column] text */
    struct arena *own;
};
/* Begins an empty table with ncol <= PAGE_CELLS columns, in a. left: bit k: column k is aligned to the left, else to
 * the right. The caller keeps the texts of the cells until the table is printed. */
void page_table_begin(struct page_table *t, uint32_t ncol, uint32_t left, struct arena *a);
/* Adds a row of t->ncol cells; NULL: an empty cell. */
void page_table_row(struct page_table *t, const char *const *cell);
/* Returns the width of a row in columns, with a blank after each cell. */
unsigned page_table_width(const struct page_table *t);
/* Writes a row without a line end, with a blank after each cell. */
void page_table_put(FILE *f, const struct page_table *t, uint32_t row);

/* Returns the width of s in columns: its number of UTF-8 characters. */
unsigned page_width(const char *s);

#endif
