/* Children that die, hang, talk too much or lie, and solvers that do: child_run says what happened, leaves no
 * process behind, and no plan comes out of an answer that does not hold.  Extras: liars need lp_solve to lie about, and
 * under qemu posix_spawn does not say that a program is missing.
 *
 * extras: liars programs */
#include "ir/base/child.h"
#include "passes/contiguous/interval_dp.h"
#include "passes/integer/ip_search.h"
#include "tests/support/extras.h"
#include "tests/support/instances.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum {
    GRAPHS = 60,
    MS = 1000000,
    SOON = 10000
}; /* ms: far less than the children here would take */

/* ---- children -------------------------------------------------------------------------------- */

static int says_hello(void *arg, FILE *out)
{
    puts("not for the user");
    fprintf(stderr, "not either");
    return fputs(arg, out) < 0;
}

static int says_half_and(void *arg, FILE *out)
{
    const int *how = arg;
    fputs("half", out);
    fflush(out);
    if (*how > 0)
        raise(*how);
    for (; *how == 0;)
        pause();
    return -*how;
}

static int exits(void *arg, FILE *out)
{
    fputs(arg, out);
    exit(0);
}

static int never_stops_talking(void *arg, FILE *out)
{
    (void)arg;
    while (fputs("and so on, ", out) >= 0)
        ;
    return 0;
}

/* The end of the pipe is not the end of the child. */
static int closes_its_pipe_and_hangs(void *arg, FILE *out)
{
    close(fileno(out));
    while (pause() && !arg)
        ;
    return 0;
}

/* What it has said is still in the stream, which then cannot be written out. */
static int loses_its_pipe(void *arg, FILE *out)
{
    (void)arg;
    return fputs("never written", out) < 0 || close(fileno(out));
}

/* Stand for the system's functions: they fail with these errors, if these are set. */
static int read_error, pipe_error;

ssize_t read(int fd, void *to, size_t n)
{
    if (!read_error)
        return syscall(SYS_read, fd, to, n);
    errno = read_error;
    return -1;
}

int pipe2(int fd[2], int flags)
{
    if (!pipe_error)
        return (int)syscall(SYS_pipe2, fd, flags);
    errno = pipe_error;
    return -1;
}

static void check_child(int (*work)(void *arg, FILE *out), void *arg, struct clock *clock,
                        enum child_end end, const char *said, const char *reason)
{
    struct arena *a = arena_new(NULL);
    int64_t start = clock_now();
    struct child_answer to = child_run(work, arg, clock, 1000, a);
    assert_int_equal(to.end, end);
    assert_true(clock_now() - start < (int64_t)SOON * MS);
    if (said)
        assert_true(to.n == strlen(said) && !memcmp(to.bytes, said, to.n));
    if (reason)
        assert_string_equal(to.why, reason);
    assert_true(waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD); /* nobody is left */
    arena_free(a);
}

/* A library that exits in the child does not write what streams of the caller hold. */
static void test_streams_of_the_caller(void **state)
{
    char hello[] = "hello", held[32] = "";
    struct clock none = {0};
    FILE *f = tmpfile();
    (void)state;
    assert_non_null(f);
    fputs("once", f);
    check_child(exits, hello, &none, CHILD_DONE, "hello", NULL);
    assert_int_equal(fflush(f), 0);
    rewind(f);
    assert_string_equal(fgets(held, sizeof held, f), "once");
    fclose(f);
}

/* The pipe of a child takes the numbers 0 and 2 where the caller has closed its own. */
static void test_closed_streams(void **state)
{
    char hello[] = "hello";
    struct clock none = {0};
    int in = dup(0), out = dup(1), err = dup(2);
    (void)state;
    for (int closed = 0; closed < 3; closed++) {
        close(2);
        if (closed > 0)
            close(1);
        if (closed > 1)
            close(0);
        struct arena *a = arena_new(NULL);
        struct child_answer to = child_run(says_hello, hello, &none, 100, a);
        dup2(in, 0);
        dup2(out, 1);
        dup2(err, 2);
        assert_int_equal(to.end, CHILD_DONE);
        assert_true(to.n == 5 && !memcmp(to.bytes, hello, to.n));
        arena_free(a);
    }
    close(in);
    close(out);
    close(err);
}

static void check_program(const char *shell, unsigned seconds, enum child_end end, const char *said)
{
    char text[40] = "?", sh[] = "/bin/sh", c[] = "-c", *line = strdup(shell);
    char *argv[] = {sh, c, line, NULL};
    assert_int_equal(child_program(argv, seconds, text, sizeof text, NULL), end);
    assert_string_equal(text, said);
    assert_true(waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD);
    free(line);
}

static void test_programs(void **state)
{
    char none[] = "no-such-program-of-pcc", text[8], *argv[] = {none, NULL};
    (void)state;
    check_program("exit 0", 10, CHILD_DONE, "");
    check_program("echo one >&2; echo two >&2", 10, CHILD_DONE, "one");
    check_program("echo what is wrong >&2; exit 3", 10, CHILD_FAILED, "what is wrong");
    check_program("echo a line of far more than forty bytes is cut >&2; kill -9 $$", 10,
                  CHILD_FAILED, "a line of far more than forty bytes is ");
    /* exec: the shell has no child of its own, which would stay, and keep the output of the test open */
    check_program("exec sleep 100", 0, CHILD_STOPPED, "");
    assert_int_equal(child_program(argv, 10, text, sizeof text, NULL), CHILD_MISSING);
    assert_string_equal(text, "No such"); /* cut */
}

static void test_children(void **state)
{
    signal_flag stop = 1;
    struct listener listener = {.stop = &stop};
    struct clock none = {0}, late = {.deadline = 1}, stopped = {.listener = &listener};
    int die[] = {SIGKILL, SIGSEGV, SIGTERM}, code = -7, hang = 0;
    char text[32], hello[] = "hello", nothing[] = "";
    (void)state;
    check_child(says_hello, hello, &none, CHILD_DONE, "hello", NULL);
    check_child(says_hello, nothing, NULL, CHILD_DONE, "", NULL);
    for (int i = 0; i < 3; i++) {
        snprintf(text, sizeof text, "signal %d", die[i]);
        check_child(says_half_and, &die[i], &none, CHILD_FAILED, "half", text);
    }
    check_child(says_half_and, &code, &none, CHILD_FAILED, "half", "exit status 1");
    check_child(loses_its_pipe, NULL, &none, CHILD_FAILED, "", "exit status 1");
    check_child(never_stops_talking, NULL, &none, CHILD_FAILED, NULL, "more than 1000 bytes");
    check_child(says_half_and, &hang, &late, CHILD_STOPPED, NULL, NULL);
    check_child(says_half_and, &hang, &stopped, CHILD_STOPPED, NULL, NULL);
    struct clock soon = {.deadline = clock_now() + 200 * (int64_t)MS};
    check_child(says_half_and, &hang, &soon, CHILD_STOPPED, "half", NULL);
    assert_string_equal(soon.why, "time limit reached");
    soon = (struct clock){.deadline = clock_now() + 100 * (int64_t)MS};
    check_child(closes_its_pipe_and_hangs, NULL, &soon, CHILD_STOPPED, "", NULL);
}

/* ---- solvers --------------------------------------------------------------------------------- */

static const char *version(struct arena *a)
{
    (void)a;
    return "0";
}

/* All columns alike, claimed to be worth `value`. */
static void report_all(const struct mip *m, const struct mip_report *r, double value, double x)
{
    double *all = calloc((size_t)m->ncol + 1, sizeof *all);
    for (uint32_t c = 0; c < m->ncol; c++)
        all[c] = x;
    mip_report_solution(r, value, all);
    free(all);
}

static int claims_zero(const struct mip *m, const struct mip_limits *l, const struct mip_report *r)
{
    (void)l;
    report_all(m, r, 0, 0);
    mip_report_end(r, MIP_OPTIMAL, 0, 1);
    return 0;
}

static int claims_nan(const struct mip *m, const struct mip_limits *l, const struct mip_report *r)
{
    double inf = strtod("inf", NULL), nan = strtod("nan", NULL);
    (void)l;
    report_all(m, r, nan, nan);
    report_all(m, r, -inf, inf);
    mip_report_end(r, MIP_OPTIMAL, nan, UINT64_MAX);
    return 0;
}

/* Everything everywhere, and then noise. */
static int makes_noise(const struct mip *m, const struct mip_limits *l, const struct mip_report *r)
{
    uint64_t rng = m->ncol;
    (void)l;
    report_all(m, r, -1, 1);
    for (int i = 0; i < 1000; i++)
        fputc((int)random_below(&rng, 256), r->out);
    return 0;
}

static int falls_over(const struct mip *m, const struct mip_limits *l, const struct mip_report *r)
{
    (void)l;
    report_all(m, r, 1e-9, 0.5);
    mip_report_end(r, MIP_INFEASIBLE, MIP_INF, 1);
    raise(SIGKILL);
    return 0;
}

/* The true solution first, then "there is none". */
static int contradicts_itself(const struct mip *m, const struct mip_limits *l,
                              const struct mip_report *r)
{
    int rc = mip_lpsolve.solve(m, l, r);
    mip_report_end(r, MIP_INFEASIBLE, -MIP_INF, 0);
    return rc;
}

static int64_t search(const struct mip_solver *s, const struct instance *t, struct loads *l,
                      const struct ip_how *like, struct ip_found *found)
{
    struct clock clock = {0};
    struct diag d = {0};
    int32_t dev[MAX_N + 1];
    struct problem_plan best = {LOAD_INF, dev, NULL};
    struct ip_how how = *like;
    how.solver = s;
    how.clock = &clock;
    *found = ip_search(l->c, l, &how, &best, t->a, &d);
    assert_int_equal(found->rc, 0);
    if (best.value == LOAD_INF)
        return LOAD_INF;
    loads_set(l, dev);
    assert_true(!loads_over(l) && loads_value(l) == best.value);
    return best.value;
}

/* Whatever it says: no plan that there is not, and no bound above the best plan. */
static void check_solver(const struct mip_solver *s, bool finds)
{
    struct instance *t = malloc(sizeof *t);
    uint32_t refused = 0;
    for (uint64_t seed = 1; seed <= GRAPHS; seed++) {
        struct diag d = {0};
        struct loads l;
        make_instance(t, seed);
        struct problem *c = problem_build(&t->g, &(struct scene){.cluster = &t->c}, -1, t->a, &d);
        const struct ip_how how = {
            .planner = "test", .shape = (enum ip_shape)(seed % 2), .gap = 1, .limit = LOAD_INF};
        struct ip_found r, good;
        assert_int_equal(loads_new(&l, c, "test", t->a, &d), 0);
        int64_t want = search(&mip_lpsolve, t, &l, &how, &good);
        int64_t got = search(s, t, &l, &how, &r);
        if (r.bound > want || (finds ? got != want : got < want))
            fail_msg("%s, seed %llu: found %lld, bound %lld, want %lld", s->name,
                     (unsigned long long)seed, (long long)got, (long long)r.bound, (long long)want);
        refused += r.refused;
        arena_free(t->a);
    }
    assert_true(finds == (refused == 0));
    free(t);
}

static void test_liars(void **state)
{
    const struct mip_solver zero = {"zero", 1, version, NULL, claims_zero},
                            nan = {"nan", 1, version, NULL, claims_nan},
                            noise = {"noise", 2, version, NULL, makes_noise},
                            falls = {"falls", 1, version, NULL, falls_over},
                            both = {"both", 1, version, NULL, contradicts_itself};
    (void)state;
    check_solver(&zero, false);
    check_solver(&nan, false);
    check_solver(&noise, false);
    check_solver(&falls, false);
    check_solver(&both, true);
}

static const char *lacks_it(void)
{
    return "libsolver.so.7";
}

/* A solver whose library is not there solves nothing and says which library that is. */
static void test_missing_library(void **state)
{
    const struct mip_solver gone = {"gone", 1, version, lacks_it, claims_zero};
    struct arena *a = arena_new(NULL);
    struct clock clock = {0};
    struct mip *m = mip_new(a);
    struct mip_answer answer;
    (void)state;
    mip_col(m, "x", 0, 1, 1, true);
    mip_finish(m);
    mip_solve(&gone, m, 0, &clock, a, &answer);
    assert_int_equal(answer.status, MIP_NONE);
    assert_string_equal(answer.why, "libsolver.so.7 is not found");
    assert_false(mip_usable(&gone));
    assert_string_equal(mip_version(&gone, a), "not found (libsolver.so.7)");
    arena_free(a);
}

/* Programs are looked for in absolute folders only; no path is an option. */
static void test_finding(void **state)
{
    struct arena *a = arena_new(NULL);
    char *before = strdup(getenv("PATH"));
    (void)state;
    setenv("PATH", ".::bin:/nonexistent:/bin:/usr/bin", 1);
    assert_string_equal(child_find("sh", a), "/bin/sh");
    assert_null(child_find("no-such-program", a));
    assert_null(child_find("", a)); /* a folder */
    setenv("PATH", "", 1);
    assert_null(child_find("sh", a));
    unsetenv("PATH");
    assert_null(child_find("sh", a));
    setenv("PATH", before, 1);
    free(before);
    assert_string_equal(child_operand("-x", a), "./-x");
    assert_string_equal(child_operand("/-x", a), "/-x");
    assert_string_equal(child_operand("x-", a), "x-");
    arena_free(a);
}

/* An answer that cannot be read is none, nor is one that may be too long. */
static void test_broken(void **state)
{
    char hello[] = "hello";
    struct clock none = {0};
    (void)state;
    struct arena *a = arena_new(NULL);
    struct child_answer to = child_run(says_hello, hello, &none, SIZE_MAX, a);
    assert_int_equal(to.end, CHILD_FAILED);
    assert_string_equal(to.why, "more than 2147483647 bytes");
    arena_free(a);
    read_error = EIO;
    check_child(says_hello, hello, &none, CHILD_FAILED, "", strerror(EIO));
    read_error = 0;
    pipe_error = EMFILE;
    check_child(says_hello, hello, &none, CHILD_FAILED, NULL, strerror(EMFILE));
    pipe_error = 0;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest liars[] = {cmocka_unit_test(test_liars)};
    const struct CMUnitTest programs[] = {cmocka_unit_test(test_programs)};
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_children),        cmocka_unit_test(test_finding),
        cmocka_unit_test(test_missing_library), cmocka_unit_test(test_streams_of_the_caller),
        cmocka_unit_test(test_closed_streams),  cmocka_unit_test(test_broken)};
    if (extra_is(argc, argv, "programs"))
        return cmocka_run_group_tests(programs, NULL, NULL);
    if (extra_is(argc, argv, "liars"))
        return mip_lpsolve.attempts ? cmocka_run_group_tests(liars, NULL, NULL)
                                    : extra_skipped("no lp_solve");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
