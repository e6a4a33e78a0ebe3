/* Text for people, in 80 columns. */
#ifndef PCC_IR_BASE_PAGE_H
#define PCC_IR_BASE_PAGE_H

#include "ir/base/arena.h"

#include <stdint.h>
#include <stdio.h>

enum { PAGE_COLUMNS = 80, PAGE_CELLS = 16 };

/* What turns a terminal's colour on, and all of it off. */
#define PAGE_RED "\033[1;31m"
#define PAGE_YELLOW "\033[1;33m"
#define PAGE_GREEN "\033[1;32m"
#define PAGE_PLAIN "\033[0m"

/* text and a line's end.  The cursor stands in column `at`; what of a line has no room in `columns` goes to lines of
 * their own behind `indent` blanks, broken at blanks, never before a unit ("2 ms"); a longer word stands alone. */
void page_words(FILE *f, const char *text, unsigned at, unsigned indent);
void page_words_in(FILE *f, const char *text, unsigned at, unsigned indent, unsigned columns);

/* A table; each column is as wide as its widest cell. */
struct page_table {
    uint32_t ncol, nrow, cap;
    uint32_t left; /* bits: columns that begin at the left */
    unsigned width[PAGE_CELLS];
    const char **cell; /* [nrow][ncol] */
    struct arena *own;
};
/* At most PAGE_CELLS columns.  Texts of cells are kept by the caller until it is printed; it lives as long as a. */
void page_table_begin(struct page_table *t, uint32_t ncol, uint32_t left, struct arena *a);
/* A row of t->ncol cells, NULL for one that is empty; the first row is the head. */
void page_table_row(struct page_table *t, const char *const *cell);
/* How wide a row is, with a blank behind each cell. */
unsigned page_table_width(const struct page_table *t);
/* Row i without a line's end, a blank behind each cell. */
void page_table_put(FILE *f, const struct page_table *t, uint32_t row);

/* Width of s in columns: its number of UTF-8 characters. */
unsigned page_width(const char *s);

#endif
