/* What MPI itself takes for a tensor: the program that ranks.py compares pcc-run with.
 *
 *   mpirun -n 2 bare_mpi BYTES TIMES BUFFERS
 * TIMES times: rank 1 posts a receive and says so; rank 0 writes a buffer anew, as a part does, and sends it
 * synchronously.  Both take their buffers in turns, one for each sample that pcc-run has on its way, and give their
 * processor up while they wait.  Prints the median time of a send, from its call until the message has left, in ns. */
#define _GNU_SOURCE
#include <mpi.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Returns the time in ns, from an arbitrary start. */
static int64_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

/* Waits until a message has been sent or received.  The loop gives the processor up between two tests, as waiting
 * threads of pcc-run do: MPI_Wait() would keep the processor busy. */
static void wait_for(MPI_Request *q)
{
    int there = 0;
    while (MPI_Test(q, &there, MPI_STATUS_IGNORE) == MPI_SUCCESS && !there)
        sched_yield();
}

/* Order for qsort(): by the int64_t that each argument points to. */
static int compare(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    int rank, level, bytes = argc > 1 ? atoi(argv[1]) : 1, times = argc > 2 ? atoi(argv[2]) : 1;
    int buffers = argc > 3 && atoi(argv[3]) > 1 ? atoi(argv[3]) : 1;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    size_t room = (size_t)bytes / 64 * 64 + 64; /* from one buffer to the next: whole cache lines */
    char *all = calloc((size_t)buffers, room), word = 0;
    int64_t *ns = calloc((size_t)times + 1, sizeof *ns);
    for (int i = 0; i < times && all && ns; i++) {
        MPI_Request q;
        char *block = all + (size_t)(i % buffers) * room;
        if (rank) { /* the receiver; rank 0 goes on below */
            MPI_Irecv(block, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, &q);
            MPI_Send(&word, 1, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
            wait_for(&q);
            continue;
        }
        memset(block, i, (size_t)bytes);
        MPI_Irecv(&word, 1, MPI_BYTE, 1, 1, MPI_COMM_WORLD, &q);
        wait_for(&q);
        int64_t began = now();
        MPI_Issend(block, bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD, &q);
        wait_for(&q);
        ns[i] = now() - began;
    }
    if (!rank && ns) {
        qsort(ns, (size_t)times, sizeof *ns, compare);
        printf("%lld\n", (long long)ns[times / 2]);
    }
    free(all);
    free(ns);
    MPI_Finalize();
    return 0;
}
