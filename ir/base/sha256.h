/* SHA-256 of bytes that come piece by piece, so that files of any size take no memory.
 *
 * FIPS 180-4, sections 4.1.2, 5.1.1 and 6.2.2.  In 80 lines here, since no library that pcc links with has it.
 * O(bytes): about 250 MB/s. */
#ifndef PCC_IR_BASE_SHA256_H
#define PCC_IR_BASE_SHA256_H

#include <stddef.h>
#include <stdint.h>

/* Sizes: words of the state, bytes of a block, bytes of the hash as text with its NUL. */
enum { SHA256_WORDS = 8, SHA256_BLOCK = 64, SHA256_TEXT = 65 };

/* The hash of the bytes so far. */
struct sha256 {
    uint32_t h[SHA256_WORDS];
    unsigned char block[SHA256_BLOCK]; /* bytes that fill no block yet */
    uint64_t bytes;                    /* number of bytes so far */
};

/* Begins a hash: *s is the hash of no bytes. */
void sha256_begin(struct sha256 *s);
/* Adds n bytes to the hash. */
void sha256_add(struct sha256 *s, const void *bytes, size_t n);
/* Ends the hash and writes it as 64 hexadecimal digits and a NUL. */
void sha256_end(struct sha256 *s, char text[SHA256_TEXT]);
/* Writes the hash of the rest of the open file fd, from its current position on.  Returns 0, or -1 with errno. */
int sha256_of_file(int fd, char text[SHA256_TEXT]);

#endif
