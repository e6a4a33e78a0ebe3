/* The workloads of pcc-gen: profiled graphs as JSON, in the form of the placement paper's inputs.
 *
 * random-layers: layers of `width` nodes; each node reads one or two nodes of the layer before it, chosen at random.
 * A node takes 0.001 to 1 ms on an accelerator and ten times that on the CPU, its transfer 0 to 0.3 ms; all times
 * are uniform whole microseconds.  Nodes are numbered layer by layer.  They draw their random numbers one after the
 * other from one stream, so a larger graph of the same seed begins with the smaller one.  O(nodes) time, O(width)
 * memory. */
#include "tools/gen/gen.h"

#include <stdlib.h>

/* The random numbers of a node. */
struct draw {
    /* for its times: the lower half for computing, the upper half for the transfer */
    uint64_t bits;
    int64_t read[2]; /* 1 + number of each node that it reads; 0: none */
};

/* Returns the random numbers of node v, drawn from the stream.  state: of the stream; width: nodes of a layer. */
static struct draw draw_node(uint64_t *state, int64_t v, int64_t width)
{
    struct draw d = {.bits = gen_random(state)};
    /* bits 32 to 63 of pick: the first node that is read; bits 0 to 30: the second one; bit 31: whether there is a
     * second one */
    uint64_t pick = gen_random(state);
    /* the first node of the layer before; < 0: there is none */
    int64_t before = v / width * width - width;
    uint64_t first = (pick >> 32) % (uint64_t)width, second = (pick & 0x7fffffff) % (uint64_t)width;

    if (before < 0)
        return d;
    d.read[0] = before + (int64_t)first + 1;
    if ((pick >> 31 & 1) && second != first)
        d.read[1] = before + (int64_t)second + 1;
    return d;
}

/* Returns the time of a transfer in microseconds, 0 to 300; bits: draw.bits of the node that makes the value. */
static int64_t us_of_transfer(uint64_t bits)
{
    return (int64_t)((bits >> 32) % 301);
}

/* Writes the elements of the JSON array "nodes". */
static void write_nodes(FILE *f, const struct gen_opt *o)
{
    uint64_t state = (uint64_t)o->seed;

    for (int64_t v = 0; v < o->nodes; v++) {
        int64_t us = 1 + (int64_t)((draw_node(&state, v, o->width).bits & 0xffffffff) % 1000);
        fprintf(f, "%s{\"id\":%lld,\"cpuLatency\":%lld.%02lld,\"fpgaLatency\":%lld.%03lld}",
                v ? ",\n" : "", (long long)v + 1, (long long)us / 100, (long long)us % 100,
                (long long)us / 1000, (long long)us % 1000);
    }
}

/* Writes the elements of the JSON array "edges".  Draws the numbers of all nodes anew, as write_nodes() did.  cost:
 * scratch, [node % (2 * width)] microseconds that a transfer of the node's value takes, for the nodes of this layer and
 * the layer before. */
static void write_edges(FILE *f, const struct gen_opt *o, int64_t *cost)
{
    uint64_t state = (uint64_t)o->seed;
    const char *sep = "";

    for (int64_t v = 0; v < o->nodes; v++) {
        struct draw d = draw_node(&state, v, o->width);
        cost[v % (2 * o->width)] = us_of_transfer(d.bits);
        for (int i = 0; i < 2; i++) {
            if (!d.read[i])
                continue;
            fprintf(f, "%s{\"sourceId\":%lld,\"destId\":%lld,\"cost\":0.%03lld}", sep,
                    (long long)d.read[i], (long long)v + 1,
                    (long long)cost[(d.read[i] - 1) % (2 * o->width)]);
            sep = ",\n";
        }
    }
}

/* Writes the whole workload to f.  Returns 0, or -1 and errno. */
static int write_random_layers(FILE *f, const struct gen_opt *o)
{
    int64_t *cost = calloc(2 * (size_t)o->width, sizeof *cost);

    if (cost == NULL)
        return -1;
    fprintf(f, "{\"maxSizePerFPGA\":%lld,\"maxFPGAs\":%lld,\"maxCPUs\":1,\"nodes\":[\n",
            (long long)o->nodes, (long long)o->devices);
    write_nodes(f, o);
    fputs("\n],\"edges\":[\n", f);
    write_edges(f, o, cost);
    fputs("\n]}\n", f);
    free(cost);
    return ferror(f) ? -1 : 0;
}

int gen_random_layers(struct gen *none, const struct gen_opt *o)
{
    (void)none;
    return gen_write_text(o, write_random_layers);
}
