/* Hashes with a secret random key: without it, an untrusted file could choose names whose hashes collide.
 *
 * SipHash-1-3 (Aumasson, Bernstein, "SipHash: a fast short-input PRF", 2012) under a random key, one for
 * each table.  No output of pcc may depend on the key: the entries of a table are never listed in the order of its
 * slots. */
#ifndef PCC_IR_BASE_HASH_H
#define PCC_IR_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

/* The random key of a hash. */
struct hash_key {
    uint64_t k[2];
};

/* Returns a new random key. */
struct hash_key hash_key_new(void);
/* Returns the hash of bytes[0 .. n).  O(n). */
uint64_t hash_bytes(const struct hash_key *key, const void *bytes, size_t n);

#endif
