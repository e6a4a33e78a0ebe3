/* Keyed hashes (hash.h): SipHash with one round for each eight bytes and three rounds at the end.  O(bytes). */
#include "ir/base/hash.h"

#include <string.h>
#include <sys/auxv.h>
#include <sys/random.h>

struct hash_key hash_key_new(void)
{
    struct hash_key key = {{0}};
    if (getrandom(&key, sizeof key, GRND_NONBLOCK) == (ssize_t)sizeof key)
        return key;
    /* getrandom() is forbidden, or not ready so soon after boot: takes the random bytes that the
     * kernel gives each process when it starts */
    const void *own = (const void *)(uintptr_t)getauxval(AT_RANDOM);
    if (own)
        memcpy(&key, own, sizeof key);
    return key;
}

/* Returns x rotated left by `by` bits, 0 < by < 64. */
static inline uint64_t rotate_left(uint64_t x, int by)
{
    return x << by | x >> (64 - by);
}

/* One round of SipHash on the state v. */
static inline void sip_round(uint64_t v[4])
{
    v[0] += v[1];
    v[1] = rotate_left(v[1], 13) ^ v[0];
    v[0] = rotate_left(v[0], 32);
    v[2] += v[3];
    v[3] = rotate_left(v[3], 16) ^ v[2];
    v[0] += v[3];
    v[3] = rotate_left(v[3], 21) ^ v[0];
    v[2] += v[1];
    v[1] = rotate_left(v[1], 17) ^ v[2];
    v[2] = rotate_left(v[2], 32);
}

/* Returns the eight bytes at p as a number, the lowest byte first on every machine. */
static inline uint64_t word_at(const unsigned char *p)
{
    uint64_t w;
    memcpy(&w, p, sizeof w);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    w = __builtin_bswap64(w);
#endif
    return w;
}

uint64_t hash_bytes(const struct hash_key *key, const void *bytes, size_t n)
{
    /* the constants, and 0xff before the last rounds, are those of SipHash; `last` holds the bytes behind the last
     * eight, and the number of bytes in its highest byte */
    const unsigned char *p = bytes;
    uint64_t last = (uint64_t)n << 56;
    uint64_t v[4] = {
        key->k[0] ^ UINT64_C(0x736f6d6570736575), key->k[1] ^ UINT64_C(0x646f72616e646f6d),
        key->k[0] ^ UINT64_C(0x6c7967656e657261), key->k[1] ^ UINT64_C(0x7465646279746573)};
    for (; n >= 8; n -= 8, p += 8) {
        uint64_t w = word_at(p);
        v[3] ^= w;
        sip_round(v);
        v[0] ^= w;
    }
    for (size_t i = 0; i < n; i++)
        last |= (uint64_t)p[i] << (8 * i);
    v[3] ^= last;
    sip_round(v);
    v[0] ^= last;
    v[2] ^= 0xff;
    sip_round(v);
    sip_round(v);
    sip_round(v);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}
