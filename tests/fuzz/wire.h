/* Mutations that keep the wire format of protobuf, for targets that read it. */
#ifndef PCC_TESTS_FUZZ_WIRE_H
#define PCC_TESTS_FUZZ_WIRE_H

#include <stddef.h>
#include <stdint.h>

/* Changes the message p[0, n) within p[0, most); returns its new length.  What is no message, or would grow too long,
 * stays as it is.  *rng: not 0. */
size_t wire_mutate(uint8_t *p, size_t n, size_t most, uint64_t *rng);

#endif
