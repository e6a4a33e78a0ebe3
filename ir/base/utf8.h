/* UTF-8: checked where names come in, made harmless where they go out.
 *
 * Text from a file may hold what a terminal obeys (ESC, U+009B), what turns the direction of writing, or bytes that are
 * no character at all: utf8_plain and utf8_put are how such text goes into messages, tables and lists. */
#ifndef PCC_IR_BASE_UTF8_H
#define PCC_IR_BASE_UTF8_H

#include "ir/base/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Length of the character at s (at most n > 0 bytes are there), 0: no UTF-8; its code in *code. */
size_t utf8_decode(const char *s, size_t n, uint32_t *code);
/* Whether it may be shown: no control character, surrogate or mark of direction. */
bool utf8_shown(uint32_t code);
/* Bytes of s[n] before the first that is not UTF-8; n: all are.  O(n). */
size_t utf8_good(const char *s, size_t n);

/* Whether all of s may be shown. */
bool utf8_harmless(const char *s);
/* s with unprintable bytes as \xNN and unprintable characters as \uNNNN or \UNNNNNN; out has room for 4 * strlen(s) +
 * 1. */
void utf8_plain(char *out, const char *s);
/* The same, allocated in a; s itself if nothing has to be replaced. */
const char *utf8_text(struct arena *a, const char *s);
/* The same to f. */
void utf8_put(FILE *f, const char *s);

#endif
