/* Failing allocations, linked into pcc-faults and pcc-every-allocation (with an arena that gives every block its own
 * calloc).
 *
 * malloc, calloc and realloc of the program stand before the C library's: they count the calls, also
 * those from jansson and from the C library itself, and fail as PCC_FAIL_ALLOC says:
 *   N    the N-th call alone fails (a large block, the next smaller one fits)
 *   N+   the N-th and all that follow (memory has run out)
 *   0    none; the number of calls is printed at exit: "allocations: N"
 * or as faults_plant says.
 * Calls from libcgraph, libcdt and the dynamic linker are not counted: the first two do not look at
 * what they get, whatever the caller does.  Nor are those while jansson reads: its lexer goes on with a text that it
 * could not extend, and reads past its end.  glibc only, and not with AddressSanitizer, which brings functions of its
 * own. */
#include "tests/planted/faults.h"
#include "tests/planted/next.h"

#include <errno.h>
#include <jansson.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void *__libc_malloc(size_t n);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t n);
void __libc_free(void *p);
/* The shared libraries must see them. */
#define SEEN __attribute__((visibility("default")))
SEEN void *malloc(size_t n);
SEEN void *calloc(size_t n, size_t size);
SEEN void *realloc(void *p, size_t n);
SEEN void free(void *p);

/* Global: allocation functions have no argument for them. */
static unsigned long wanted;
static _Atomic unsigned long calls;
static _Atomic long live;
static enum mode { UNREAD, OFF, COUNT, ONE, REST } mode;

/* Where the code of libraries lies whose calls are not counted. */
enum { STRETCHES = 64 };
static struct {
    uintptr_t from, to;
} uncounted[STRETCHES];
static int stretches;

/* Notes where a library lies, if its calls are not counted. */
static int note_library(struct dl_phdr_info *info, size_t size, void *user)
{
    (void)size, (void)user;
    if (!strstr(info->dlpi_name, "libcgraph") && !strstr(info->dlpi_name, "libcdt") &&
        !strstr(info->dlpi_name, "/ld-"))
        return 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        if (part->p_type != PT_LOAD || !(part->p_flags & PF_X))
            continue;
        if (stretches == STRETCHES)
            abort();
        uncounted[stretches].from = info->dlpi_addr + part->p_vaddr;
        uncounted[stretches].to = uncounted[stretches].from + part->p_memsz;
        stretches++;
    }
    return 0;
}

/* Runs when all libraries have been set up: what these ask for before (Fortran's, for one) is not counted. */
static void __attribute__((constructor)) read_mode(void)
{
    dl_iterate_phdr(note_library, NULL);
    if (stretches < 3) /* each has one at least */
        abort();
    const char *s = getenv("PCC_FAIL_ALLOC");
    char *end;
    if (!s) {
        mode = OFF;
        return;
    }
    wanted = strtoul(s, &end, 10);
    mode = wanted == 0 ? COUNT : *end == '+' ? REST : ONE;
}

/* Counts the call that returns to `from`; true: it must fail. */
static bool fails(const void *from)
{
    if (mode == UNREAD || mode == OFF)
        return false;
    for (int i = 0; i < stretches; i++)
        if ((uintptr_t)from >= uncounted[i].from && (uintptr_t)from < uncounted[i].to)
            return false;
    unsigned long call = ++calls;
    if (mode == COUNT || call < wanted || (mode == ONE && call > wanted))
        return false;
    errno = ENOMEM;
    return true;
}

static void *counted(void *p)
{
    live += p != NULL;
    return p;
}

void *malloc(size_t n)
{
    return fails(__builtin_return_address(0)) ? NULL : counted(__libc_malloc(n));
}

void *calloc(size_t n, size_t size)
{
    return fails(__builtin_return_address(0)) ? NULL : counted(__libc_calloc(n, size));
}

void *realloc(void *p, size_t n)
{
    void *now = fails(__builtin_return_address(0)) ? NULL : __libc_realloc(p, n);
    return p ? now : counted(now);
}

void free(void *p)
{
    live -= p != NULL;
    __libc_free(p);
}

void faults_plant(unsigned long n, bool rest)
{
    wanted = n;
    calls = 0;
    mode = n == 0 ? COUNT : rest ? REST : ONE;
}

void faults_pause(bool on)
{
    static enum mode before;
    if (on) {
        before = mode;
        mode = OFF;
    } else {
        mode = before;
    }
}

/* These stand before jansson's. */
json_t *json_loadb(const char *text, size_t n, size_t flags, json_error_t *e)
{
    json_t *(*real)(const char *, size_t, size_t, json_error_t *) = next_function("json_loadb");
    faults_pause(true);
    json_t *root = real(text, n, flags, e);
    faults_pause(false);
    return root;
}

json_t *json_load_callback(json_load_callback_t next, void *data, size_t flags, json_error_t *e)
{
    json_t *(*real)(json_load_callback_t, void *, size_t, json_error_t *) =
        next_function("json_load_callback");
    faults_pause(true);
    json_t *root = real(next, data, flags, e);
    faults_pause(false);
    return root;
}

unsigned long faults_calls(void)
{
    return calls;
}

long faults_live(void)
{
    return live;
}

static void __attribute__((destructor)) show(void)
{
    char line[64];
    if (mode == COUNT && getenv("PCC_FAIL_ALLOC")) {
        int n = snprintf(line, sizeof line, "allocations: %lu\n", (unsigned long)calls);
        if (write(STDERR_FILENO, line, (size_t)n) != n)
            _exit(99);
    }
}
