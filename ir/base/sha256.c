/* Computes SHA-256 (sha256.h). */
#include "ir/base/sha256.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* ROUNDS: rounds of mixing for each block; CHUNK: bytes that are read at once; LENGTH_BYTES: bytes of the message's
 * length, which ends the last block */
enum { ROUNDS = 64, CHUNK = 1 << 16, LENGTH_BYTES = 8 };

/* First 32 bits of the fractional parts of the square roots of the first 8 primes. */
static const uint32_t start[SHA256_WORDS] = {
    0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
};

/* First 32 bits of the fractional parts of the cube roots of the first 64 primes. */
static const uint32_t key[ROUNDS] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t rotate(uint32_t x, int n)
{
    return x >> n | x << (32 - n);
}

/* Updates the hash h by a block of SHA256_BLOCK bytes. */
static void take_block(uint32_t *h, const unsigned char *block)
{
    /* FIPS 180-4, section 6.2.2.  Its names: w is the message schedule W, `last` is h, `one` and `two` are T1 and T2 */
    uint32_t w[ROUNDS];
    for (int t = 0; t < 16; t++)
        w[t] = (uint32_t)block[4 * t] << 24 | (uint32_t)block[4 * t + 1] << 16 |
               (uint32_t)block[4 * t + 2] << 8 | block[4 * t + 3];
    for (int t = 16; t < ROUNDS; t++) {
        uint32_t x = w[t - 15], y = w[t - 2];
        w[t] = w[t - 16] + (rotate(x, 7) ^ rotate(x, 18) ^ x >> 3) + w[t - 7] +
               (rotate(y, 17) ^ rotate(y, 19) ^ y >> 10);
    }
    uint32_t a = h[0], b = h[1], c = h[2], d = h[3], e = h[4], f = h[5], g = h[6], last = h[7];
    for (int t = 0; t < ROUNDS; t++) {
        uint32_t one = last + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) +
                       ((e & f) ^ (~e & g)) + key[t] + w[t];
        uint32_t two =
            (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
        last = g, g = f, f = e, e = d + one;
        d = c, c = b, b = a, a = one + two;
    }
    h[0] += a, h[1] += b, h[2] += c, h[3] += d;
    h[4] += e, h[5] += f, h[6] += g, h[7] += last;
}

void sha256_begin(struct sha256 *s)
{
    memcpy(s->h, start, sizeof s->h);
    s->bytes = 0;
}

void sha256_add(struct sha256 *s, const void *bytes, size_t n)
{
    const unsigned char *from = bytes;
    while (n > 0) {
        size_t at = s->bytes % SHA256_BLOCK, some = SHA256_BLOCK - at;
        if (n < some)
            some = n;
        if (some == SHA256_BLOCK) { /* a whole block, of which nothing is in s->block yet */
            take_block(s->h, from);
        } else {
            memcpy(s->block + at, from, some);
            if (at + some == SHA256_BLOCK)
                take_block(s->h, s->block);
        }
        s->bytes += some;
        from += some;
        n -= some;
    }
}

void sha256_end(struct sha256 *s, char text[SHA256_TEXT])
{
    /* FIPS 180-4, section 5.1.1: behind the message come a bit 1, as many bits 0 as needed, and the message's length in
     * bits, which ends a block */
    static const unsigned char one = 0x80, zeros[SHA256_BLOCK];
    uint64_t bits = s->bytes * 8;
    unsigned char length[LENGTH_BYTES];
    for (int i = 0; i < LENGTH_BYTES; i++)
        length[i] = (unsigned char)(bits >> (8 * (LENGTH_BYTES - 1 - i)));
    sha256_add(s, &one, 1);
    sha256_add(s, zeros,
               (2 * SHA256_BLOCK - LENGTH_BYTES - s->bytes % SHA256_BLOCK) % SHA256_BLOCK);
    sha256_add(s, length, sizeof length);
    for (size_t i = 0; i < SHA256_WORDS; i++)
        snprintf(text + 8 * i, 9, "%08x", s->h[i]);
}

int sha256_of_file(int fd, char text[SHA256_TEXT])
{
    unsigned char chunk[CHUNK];
    struct sha256 s;
    ssize_t n;
    sha256_begin(&s);
    while ((n = read(fd, chunk, sizeof chunk)) > 0)
        sha256_add(&s, chunk, (size_t)n);
    sha256_end(&s, text);
    return n < 0 ? -1 : 0;
}
