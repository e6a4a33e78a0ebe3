/* UTF-8: checking text of inputs, and making it harmless in outputs.
 *
 * Text from a file may contain characters that control a terminal (ESC, U+009B) or change the direction of writing, or
 * bytes that are no UTF-8.  Messages, tables and lists show such text by utf8_plain, utf8_text or utf8_put. */
#ifndef PCC_IR_BASE_UTF8_H
#define PCC_IR_BASE_UTF8_H

#include "ir/base/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Decodes the first character of s[0 .. n), n > 0.  Writes its code point to *code and returns its length in bytes; 0:
 * the bytes are not UTF-8. */
size_t utf8_decode(const char *s, size_t n, uint32_t *code);
/* Whether a code point from utf8_decode() can be shown as it is: no control character, no line or paragraph separator,
 * no mark of writing direction, and no U+FFFE or U+FFFF of any plane. */
bool utf8_shown(uint32_t code);
/* Returns the number of bytes of s[0 .. n) before the first one that is not UTF-8; n: all are UTF-8.  O(n). */
size_t utf8_good(const char *s, size_t n);

/* Whether s is UTF-8 and all its characters can be shown (utf8_shown). */
bool utf8_harmless(const char *s);
/* Finds the first character of the UTF-8 text s that looks like another character, or is invisible, and returns it in
 * words for a message: "U+FEFF (byte order mark)"; NULL: there is none. */
const char *utf8_stray(const char *s);
/* Reverses utf8_plain(): returns s with each escape \xNN, \uNNNN or \UNNNNNN replaced by its character, in a; s
 * itself if it has no '\'. */
const char *utf8_unescaped(struct arena *a, const char *s);
/* Writes s to out, with bytes that are not UTF-8, or ASCII control characters, as \xNN and other characters that cannot
 * be shown as \uNNNN or \UNNNNNN.  out must have 4 * strlen(s) + 1 bytes. */
void utf8_plain(char *out, const char *s);
/* Returns the text that utf8_plain() writes, in a; s itself if nothing has to be replaced. */
const char *utf8_text(struct arena *a, const char *s);
/* Writes to f the text that utf8_plain() writes. */
void utf8_put(FILE *f, const char *s);

#endif
