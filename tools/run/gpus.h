/* The devices of a split whose parts run on a GPU by CUDA, as --provider says. */
#ifndef PCC_TOOLS_RUN_GPUS_H
#define PCC_TOOLS_RUN_GPUS_H

#include "ir/base/arena.h"
#include "ir/base/diag.h"
#include "tools/run/split_in.h"

#include <jansson.h>

/* The values of --provider. */
struct gpu_choice {
    const char *const *item; /* [n] each a list NAME=cuda[:N],... */
    uint32_t n;
};

/* Reads the choice for the devices of a split's manifest.  Returns an array, in a: [device] the GPU that runs its
 * parts; NULL: the CPU does.  Returns NULL after an error in usage. */
const struct engine_gpu *const *gpus_chosen(const struct gpu_choice *choice, const json_t *manifest,
                                            struct arena *a, struct diag *d);

/* Writes to line[room] the message that a device cannot load a part.  gpu: the GPU of the device; NULL: it uses the
 * CPU. */
void gpus_not_loaded(char *line, size_t room, const struct split_part *part, const char *device,
                     const struct engine_gpu *gpu, const struct engine_error *err);

#endif
