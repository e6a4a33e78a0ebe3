/* Files below a folder (infile.h), by openat2 and, as on kernels without it, component by component: a child process
 * takes the system call away from itself.
 * extras: filter */
#include "ir/base/arena.h"
#include "ir/base/infile.h"
#include "tests/support/extras.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static const struct {
    const char *path;
    int with, without; /* errno with links and without; 0: it opens */
} rows[] = {
    {"file", 0, 0},
    {"in/file", 0, 0},
    {"in//file", 0, 0},
    {"./in/./file", 0, 0},
    {"in/deep/file", 0, 0},
    {"in", 0, 0},
    {"gone", ENOENT, ENOENT},
    {"in/gone", ENOENT, ENOENT},
    {"gone/file", ENOENT, ENOENT},
    {"file/x", ENOTDIR, ENOTDIR},
    {"link", 0, ELOOP},
    {"in/link", 0, ELOOP},
    {"linked/file", 0, ELOOP},
    {"in/linked/file", 0, ELOOP},
};

static void make_file(int dir, const char *name)
{
    int fd = openat(dir, name, O_CREAT | O_WRONLY, 0600);
    assert_true(fd >= 0);
    close(fd);
}

static int make_folder(char *path)
{
    assert_non_null(mkdtemp(path));
    int dir = open(path, O_RDONLY | O_DIRECTORY);
    assert_true(dir >= 0);
    assert_int_equal(mkdirat(dir, "in", 0700), 0);
    assert_int_equal(mkdirat(dir, "in/deep", 0700), 0);
    make_file(dir, "file");
    make_file(dir, "in/file");
    make_file(dir, "in/deep/file");
    assert_int_equal(symlinkat("in/file", dir, "link"), 0);
    assert_int_equal(symlinkat("file", dir, "in/link"), 0);
    assert_int_equal(symlinkat("in", dir, "linked"), 0);
    assert_int_equal(symlinkat("deep", dir, "in/linked"), 0);
    return dir;
}

static void remove_folder(const char *path, int dir)
{
    static const char *const files[] = {"file",    "in/file", "in/deep/file", "link",
                                        "in/link", "linked",  "in/linked"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        unlinkat(dir, files[i], 0);
    unlinkat(dir, "in/deep", AT_REMOVEDIR);
    unlinkat(dir, "in", AT_REMOVEDIR);
    close(dir);
    rmdir(path);
}

/* Whether each row is as it should be, said on stderr if not. */
static int wrong_rows(int dir)
{
    struct arena *a = arena_new(NULL);
    int wrong = 0;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (int links = 0; links < 2; links++) {
            int want = links ? rows[i].with : rows[i].without;
            int fd = infile_open_beneath(dir, rows[i].path, links, a);
            int got = fd < 0 ? errno : 0;
            if (fd >= 0)
                close(fd);
            if (got != want) {
                fprintf(stderr, "%s, links %d: %s, expected %s\n", rows[i].path, links,
                        strerror(got), strerror(want));
                wrong++;
            }
        }
    arena_free(a);
    return wrong;
}

/* Nothing outside is reached, whatever the system calls it. */
static int wrong_outside(int dir, const char *folder)
{
    struct arena *a = arena_new(NULL);
    const char *name = strrchr(folder, '/') + 1;
    const char *const out[] = {arena_fmt(a, "../%s/file", name),
                               arena_fmt(a, "in/../../%s/file", name),
                               arena_fmt(a, "%s/file", folder), ".."};
    int wrong = 0;
    for (size_t i = 0; i < sizeof out / sizeof *out; i++) {
        int fd = infile_open_beneath(dir, out[i], false, a);
        if (fd >= 0) {
            fprintf(stderr, "%s: opened\n", out[i]);
            close(fd);
            wrong++;
        }
    }
    arena_free(a);
    return wrong;
}

static void with_call(void **state)
{
    char path[] = "/tmp/pcc-infile-XXXXXX";
    int dir = make_folder(path);
    (void)state;
    assert_int_equal(wrong_rows(dir) + wrong_outside(dir, path), 0);
    remove_folder(path, dir);
}

/* openat2 fails with ENOSYS from here on; whether that could be had. */
static bool forget_call(void)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat2, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {.len = sizeof code / sizeof *code, .filter = code};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

static void without_call(void **state)
{
    char path[] = "/tmp/pcc-infile-XXXXXX";
    int dir = make_folder(path), status = 0;
    (void)state;
    pid_t child = fork();
    if (child == 0)
        _exit(!forget_call() || wrong_rows(dir) + wrong_outside(dir, path) != 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    remove_folder(path, dir);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

static bool filters_work(void)
{
    int status = 0;
    pid_t child = fork();
    if (child == 0)
        _exit(!forget_call());
    return waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest plain[] = {cmocka_unit_test(with_call)};
    const struct CMUnitTest filter[] = {cmocka_unit_test(without_call)};
    if (!extra_is(argc, argv, "filter"))
        return cmocka_run_group_tests(plain, NULL, NULL);
    if (!filters_work())
        return extra_skipped("system calls cannot be filtered here");
    return cmocka_run_group_tests(filter, NULL, NULL);
}
