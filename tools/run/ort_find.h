/* Finds ONNX Runtime's library. */
#ifndef PCC_TOOLS_RUN_ORT_FIND_H
#define PCC_TOOLS_RUN_ORT_FIND_H

#include "ir/base/arena.h"
#include "ir/base/diag.h"

/* A library that the loader has opened. */
struct ort_library {
    void *handle;     /* the library, as dlopen() returned it */
    const char *path; /* path of the library's file */
};

/* Opens the library: the file `library`, if it is not NULL; else the file $PCC_ONNXRUNTIME; else libonnxruntime.so.1 in
 * the system's folders; else the library of the Python environment $VIRTUAL_ENV; else, for a program in the folder
 * where it was built, the library of the source tree's build/venv.  Returns 0; or reports an error, which lists what
 * was tried, and returns -1. */
int ort_find(const char *library, struct ort_library *out, struct arena *a, struct diag *d);

#endif
