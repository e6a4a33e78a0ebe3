/* Finds the shared library that is linked with MPI (messages.h): beside the program, as both are built, or in
 * ../lib/pcc, as they are installed. */
#include "tools/run/program.h"
#include "tools/run/ranks.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int messages_rank(void)
{
    static const char *const said[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"};
    for (size_t i = 0; i < sizeof said / sizeof *said; i++) {
        const char *text = getenv(said[i]);
        if (text && *text)
            return atoi(text);
    }
    return -1;
}

const struct messages_face *messages_find(struct arena *a, struct diag *d)
{
    static const char *const at[] = {"", "../lib/pcc/"};
    const char *folder = program_folder(a);
    void *module = NULL;
    for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
        const char *path = arena_fmt(a, "%s%s%s", folder, at[i], PCC_MPI_MODULE);
        if (access(path, R_OK))
            continue;
        /* RTLD_GLOBAL: the module, and MPI's own modules, look for MPI's symbols among the global ones */
        if (dlopen(PCC_MPI_LIBRARY, RTLD_NOW | RTLD_GLOBAL))
            module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        if (module)
            break;
        diag_error(d, "MPI: %s: install openmpi-bin", dlerror());
        return NULL;
    }
    messages_make *make = NULL;
    if (module)
        *(void **)&make = dlsym(module, MESSAGES_SYMBOL);
    if (make)
        return make();
    diag_error(d, "this pcc-run cannot run with mpirun: it was built without MPI: install "
                  "libopenmpi-dev and openmpi-bin, or MPICH, and build pcc again");
    return NULL;
}
