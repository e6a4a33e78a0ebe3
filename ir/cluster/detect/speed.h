/* Measures the processor that pcc runs on. */
#ifndef PCC_IR_CLUSTER_DETECT_SPEED_H
#define PCC_IR_CLUSTER_DETECT_SPEED_H

#include <stdint.h>

/* Returns the number of bits of the widest vectors for which this processor has multiply-add instructions that programs
 * such as ONNX Runtime use: 512 with AVX-512, 256 with AVX2 and FMA, else 128. */
uint32_t speed_vector_bits(void);

enum { SPEED_THREADS = 512 }; /* the most threads that measure at the same time */

/* The rates that all threads reached together. */
struct speed {
    /* f32 operations per second, a multiply-add counts as two; 0: the threads got no time to multiply */
    int64_t flops;
    /* bytes per second that copying reads and writes, both counted; 0: the threads got no time or memory to copy */
    int64_t bytes;
};

/* Measures with `threads` threads (1 to SPEED_THREADS) at the same time, in at most 0.2 s: multiply-adds in
 * registers, with vectors of speed_vector_bits(), then copies within the threads' buffers, `buffer` bytes in all; a
 * thread with less than half a MiB copies nothing.  If the system starts fewer threads, measures with those that it
 * starts. */
struct speed speed_measure(uint32_t threads, int64_t buffer);

#endif
