/* Finds ONNX Runtime's library (ort_find.h).  A wheel has the file with its version in the name,
 * lib/pythonX.Y/site-packages/onnxruntime/capi/libonnxruntime.so.X.Y.Z, and no link to it: of several the last by name
 * is taken.  No path relative to the current folder is tried. */
#include "tools/run/ort_find.h"
#include "tools/run/program.h"

#include <dlfcn.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SONAME "libonnxruntime.so.1"
#define IN_ENVIRONMENT "lib*/python*/site-packages/onnxruntime/capi/libonnxruntime.so.*"

/* Opens a library by its path.  Returns whether that succeeds; if not, and `said` is not NULL, reports the loader's
 * reason.  said: beginning of that message, which tells where the path comes from. */
static bool open_file(const char *path, const char *said, struct ort_library *out, struct diag *d)
{
    out->handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    out->path = path;
    const char *why = out->handle ? NULL : dlerror();
    if (why && said) {
        bool named = strstr(why, path) != NULL;
        diag_error(d, "%s%s%s%s: expected the shared library of ONNX Runtime", said,
                   named ? "" : path, named ? "" : ": ", why);
    }
    return out->handle != NULL;
}

/* Returns the path of ONNX Runtime's library in the Python environment in the folder `root`, in a; NULL: there is
 * none. */
static const char *of_environment(const char *root, struct arena *a)
{
    glob_t found;
    const char *path = NULL;
    /* `root` as glob() takes it literally */
    char *escaped = arena_alloc(a, 2 * strlen(root) + 1), *to = escaped;
    for (const char *s = root; *s; s++) {
        if (strchr("*?[\\", *s))
            *to++ = '\\';
        *to++ = *s;
    }
    if (glob(arena_fmt(a, "%s/%s", escaped, IN_ENVIRONMENT), 0, NULL, &found) == 0)
        path = arena_fmt(a, "%s", found.gl_pathv[found.gl_pathc - 1]);
    globfree(&found);
    return path;
}

/* Returns the folder of the running program, as program_folder() does, if it was built there; NULL: it lies
 * elsewhere. */
static const char *build_tree(struct arena *a)
{
    const char *folder = program_folder(a);
    bool is_build = *folder && access(arena_fmt(a, "%sCMakeCache.txt", folder), F_OK) == 0;
    return is_build ? folder : NULL;
}

int ort_find(const char *library, struct ort_library *out, struct arena *a, struct diag *d)
{
    const char *named = getenv("PCC_ONNXRUNTIME"), *environment = getenv("VIRTUAL_ENV"), *path;
    if (library)
        return open_file(library, "--onnxruntime: ", out, d) ? 0 : -1;
    if (named && *named)
        return open_file(named, "PCC_ONNXRUNTIME: ", out, d) ? 0 : -1;
    if (open_file(SONAME, NULL, out, d))
        return 0;
    const char *tried = "PCC_ONNXRUNTIME is not set; " SONAME " is not where the system looks";
    if (!environment || *environment != '/') {
        tried = arena_fmt(a, "%s; VIRTUAL_ENV is not set", tried);
    } else {
        path = of_environment(environment, a);
        if (path)
            return open_file(path, "VIRTUAL_ENV: ", out, d) ? 0 : -1;
        tried = arena_fmt(a, "%s; VIRTUAL_ENV (%s) has none", tried, environment);
    }
    const char *built = build_tree(a);
    if (built) {
        /* Programs hold no folder of the machine that built them: only the way from the build folder is compiled in. */
        path = of_environment(arena_fmt(a, "%s" PCC_BUILD_TO_VENV, built), a);
        if (path)
            return open_file(path, "", out, d) ? 0 : -1;
        tried = arena_fmt(a, "%s; build/venv has none", tried);
    }
    return diag_error(
        d, "ONNX Runtime is not found: %s: pip install onnxruntime, or --onnxruntime=FILE", tried);
}
