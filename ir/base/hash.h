/* Hashes with a key that nobody can know: names come from strangers, who could otherwise choose them to collide.
 *
 * SipHash-1-3 (Aumasson, Bernstein, "SipHash: a fast short-input PRF", 2012) under a key from the system's random
 * numbers, one for each table.  Nothing that pcc writes may depend on it: tables are never listed by slot. */
#ifndef PCC_IR_BASE_HASH_H
#define PCC_IR_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

struct hash_key {
    uint64_t k[2];
};

/* A random key. */
struct hash_key hash_key_new(void);
/* O(n). */
uint64_t hash_bytes(const struct hash_key *key, const void *bytes, size_t n);

#endif
