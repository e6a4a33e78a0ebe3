/* Measures the processor (speed.h).
 *
 * All threads do the same at the same time, each phase for a fixed time: fill their buffers, multiply and add in
 * registers, copy.  A phase is divided into windows, in which the work done is counted, and the best window counts,
 * so that other programs that run in some windows do no harm.  For multiplying, the best window of each thread
 * counts, since cores share nothing there; for copying, the best window of all threads together, since they share the
 * memory.
 *
 * A processor starts a multiply-add in every cycle, as a rule on two units, and ends it four or five cycles later, so
 * ten must be under way: the loops have twelve independent sums.  This file is compiled with -ffp-contract=fast,
 * which makes one instruction of s * m + c if the processor has it.  Wider vectors of arm64 (SVE) are not used: most
 * processors with SVE do as much with 128 bits.  All takes 0.2 s, however fast the machine is. */
#include "ir/cluster/detect/speed.h"

#include "ir/base/clock.h"

#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>

enum {
    MS = 1000000,    /* ns */
    FILL = 50 * MS,  /* ns: the longest time for filling the buffers */
    PHASE = 60 * MS, /* ns: time of multiplying, and time of copying */
    /* windows of a phase: each is shorter than the slices of time that systems give to programs */
    WINDOWS = 20,
    TURNS = 10000,    /* turns of a loop between two looks at the clock */
    SUMS = 12,        /* independent sums of a loop */
    BLOCK = 256 << 10 /* bytes that are filled or copied between two looks at the clock */
};

static_assert(FILL + 2 * PHASE < 200 * MS, "all takes 0.2 s at most, with what starts and ends it");

/* The loops compute s = s * TIMES + PLUS again and again; with these numbers s approaches 1, and never overflows. */
#define TIMES 0.75F
#define PLUS 0.25F

/* Vectors of 128, 256 and 512 bits. */
typedef float four __attribute__((vector_size(16)));
typedef float eight __attribute__((vector_size(32)));
typedef float sixteen __attribute__((vector_size(64)));

/* Each loop runs TURNS turns of SUMS multiply-adds, and returns a number that depends on all of them, so that the
 * compiler keeps them all. */
static float loop_four(float x)
{
    const four m = (four){0} + TIMES, c = (four){0} + PLUS;
    four s0 = (four){0} + x, s1 = s0 + c, s2 = s1 + c, s3 = s2 + c, s4 = s3 + c, s5 = s4 + c;
    four s6 = s5 + c, s7 = s6 + c, s8 = s7 + c, s9 = s8 + c, s10 = s9 + c, s11 = s10 + c;
    for (int i = 0; i < TURNS; i++) {
        s0 = s0 * m + c, s1 = s1 * m + c, s2 = s2 * m + c, s3 = s3 * m + c;
        s4 = s4 * m + c, s5 = s5 * m + c, s6 = s6 * m + c, s7 = s7 * m + c;
        s8 = s8 * m + c, s9 = s9 * m + c, s10 = s10 * m + c, s11 = s11 * m + c;
    }
    return (s0 + s1 + s2 + s3 + s4 + s5 + s6 + s7 + s8 + s9 + s10 + s11)[0];
}

#ifdef __x86_64__
__attribute__((target("avx2,fma"))) static float loop_eight(float x)
{
    const eight m = (eight){0} + TIMES, c = (eight){0} + PLUS;
    eight s0 = (eight){0} + x, s1 = s0 + c, s2 = s1 + c, s3 = s2 + c, s4 = s3 + c, s5 = s4 + c;
    eight s6 = s5 + c, s7 = s6 + c, s8 = s7 + c, s9 = s8 + c, s10 = s9 + c, s11 = s10 + c;
    for (int i = 0; i < TURNS; i++) {
        s0 = s0 * m + c, s1 = s1 * m + c, s2 = s2 * m + c, s3 = s3 * m + c;
        s4 = s4 * m + c, s5 = s5 * m + c, s6 = s6 * m + c, s7 = s7 * m + c;
        s8 = s8 * m + c, s9 = s9 * m + c, s10 = s10 * m + c, s11 = s11 * m + c;
    }
    return (s0 + s1 + s2 + s3 + s4 + s5 + s6 + s7 + s8 + s9 + s10 + s11)[0];
}

__attribute__((target("avx512f"))) static float loop_sixteen(float x)
{
    const sixteen m = (sixteen){0} + TIMES, c = (sixteen){0} + PLUS;
    sixteen s0 = (sixteen){0} + x, s1 = s0 + c, s2 = s1 + c, s3 = s2 + c, s4 = s3 + c, s5 = s4 + c;
    sixteen s6 = s5 + c, s7 = s6 + c, s8 = s7 + c, s9 = s8 + c, s10 = s9 + c, s11 = s10 + c;
    for (int i = 0; i < TURNS; i++) {
        s0 = s0 * m + c, s1 = s1 * m + c, s2 = s2 * m + c, s3 = s3 * m + c;
        s4 = s4 * m + c, s5 = s5 * m + c, s6 = s6 * m + c, s7 = s7 * m + c;
        s8 = s8 * m + c, s9 = s9 * m + c, s10 = s10 * m + c, s11 = s11 * m + c;
    }
    return (s0 + s1 + s2 + s3 + s4 + s5 + s6 + s7 + s8 + s9 + s10 + s11)[0];
}
#endif

uint32_t speed_vector_bits(void)
{
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx512f"))
        return 512;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return 256;
#endif
    return 128;
}

/* Returns the loop for vectors of that many bits. */
static float (*loop_of(uint32_t bits))(float)
{
#ifdef __x86_64__
    if (bits > 128)
        return bits == 512 ? loop_sixteen : loop_eight;
#endif
    assert(bits == 128);
    return loop_four;
}

/* A thread that measures, with the number of loops and copies that it has done. */
struct worker {
    float (*loop)(float);
    /* ns: when the phases of multiplying and copying begin; until `multiply` the thread fills its buffer */
    int64_t multiply, copy;
    size_t room; /* bytes of the thread's buffer */
    float sum;   /* sum of the loops' results, kept so that the compiler cannot drop the loops */
    uint64_t turn[WINDOWS];  /* [window] calls of the loop */
    uint64_t block[WINDOWS]; /* [window] blocks copied */
};

/* If the phase that begins at `start` ns has not begun, waits until it does.  Returns the window of the phase that it
 * is now; WINDOWS: the phase is over. */
static int window_at(int64_t start)
{
    int64_t at = clock_now() - start;
    while (at < 0)
        at = clock_now() - start;
    return at < PHASE ? (int)(at / (PHASE / WINDOWS)) : WINDOWS;
}

/* The function of a thread, whose struct worker is `arg`: fills the buffer, then runs loops, then copies, from the
 * lower half of the buffer's filled blocks to the upper half, again and again. */
static void *run_worker(void *arg)
{
    struct worker *w = arg;
    char *buffer = mmap(NULL, w->room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    size_t n = 0, at = 0, blocks = buffer == MAP_FAILED ? 0 : w->room / BLOCK;
    for (; n < blocks && clock_now() < w->multiply; n++)
        memset(buffer + n * BLOCK, (int)n, BLOCK);
    /* k: the window in which a turn or a copy begins */
    for (int k = window_at(w->multiply); k < WINDOWS; k = window_at(w->multiply)) {
        w->sum += w->loop(w->sum);
        w->turn[k]++;
    }
    n /= 2;
    for (int k = n ? window_at(w->copy) : WINDOWS; k < WINDOWS; k = window_at(w->copy)) {
        memcpy(buffer + (n + at) * BLOCK, buffer + at * BLOCK, BLOCK);
        at = at + 1 < n ? at + 1 : 0;
        w->block[k]++;
    }
    if (buffer != MAP_FAILED)
        munmap(buffer, w->room);
    return NULL;
}

/* Returns the sum over the workers w[n] of the most calls of the loop that the worker made in one window. */
static uint64_t most_turns(const struct worker *w, uint32_t n)
{
    uint64_t all = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint64_t most = 0;
        for (int k = 0; k < WINDOWS; k++)
            if (w[i].turn[k] > most)
                most = w[i].turn[k];
        all += most;
    }
    return all;
}

/* Returns how many blocks the workers copied in the window in which all together copied most. */
static uint64_t most_blocks(const struct worker *w, uint32_t n)
{
    uint64_t most = 0;
    for (int k = 0; k < WINDOWS; k++) {
        uint64_t all = 0;
        for (uint32_t i = 0; i < n; i++)
            all += w[i].block[k];
        if (all > most)
            most = all;
    }
    return most;
}

struct speed speed_measure(uint32_t threads, int64_t buffer)
{
    assert(threads >= 1 && threads <= SPEED_THREADS && buffer >= 0);
    const uint64_t per_second = 1000 * (uint64_t)MS / (PHASE / WINDOWS); /* windows per second */
    struct worker w[SPEED_THREADS];
    pthread_t thread[SPEED_THREADS];
    size_t room = (size_t)buffer / threads;
    uint32_t bits = speed_vector_bits(), started = 0;
    int64_t start = clock_now() + FILL;
    /* starts threads until the system refuses one; without any thread this one does the work */
    while (started < threads) {
        w[started] = (struct worker){loop_of(bits), start, start + PHASE, .room = room};
        if (pthread_create(&thread[started], NULL, run_worker, &w[started]) != 0)
            break;
        started++;
    }
    if (!started)
        run_worker(&w[0]);
    for (uint32_t i = 0; i < started; i++)
        pthread_join(thread[i], NULL);
    uint32_t n = started ? started : 1;
    /* 2: a multiply-add is two operations, on each of bits / 32 numbers; a copy reads its bytes and writes them */
    return (struct speed){
        .flops = (int64_t)(2 * most_turns(w, n) * TURNS * SUMS * (bits / 32) * per_second),
        .bytes = (int64_t)(2 * most_blocks(w, n) * BLOCK * per_second)};
}
