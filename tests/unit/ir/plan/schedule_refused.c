/* What the reader of split folders' manifests and schedules refuses, and the checker: the words of each error, and what
 * is taken at the limits.
 *
 * One manifest and one schedule that hold; each case changes some text in one of them. */
#include "ir/plan/schedule_check.h"
#include "ir/plan/schedule_json.h"
#include "tests/support/kept.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

/* acc0 runs p0 (x -> t, u) and p2 (t -> z), acc1 runs p1 (t, u -> y). */
static const char manifest[] =
    "{'pcc_manifest': 1, 'schedule': 'schedule.json', 'devices': [{'name': 'acc0', 'memory_bytes': "
    "99, 'reserved_bytes': 9}, {'name': 'acc1', 'memory_bytes': null}],\n"
    "'inputs': [{'name': 'x', 'bytes': 4}], 'outputs': [{'name': 'y', 'bytes': 8, 'from': 'p1'}, "
    "{'name': 'z', 'bytes': 5, 'from': 'p2'}],\n"
    "'parts': [{'file': 'p0', 'device': 'acc0', 'inputs': ['x'], 'outputs': ['t', 'u'], "
    "'lasting_bytes': 10, 'live_peak_bytes': 30},\n"
    "{'file': 'p1', 'device': 'acc1', 'inputs': ['t', 'u'], 'outputs': ['y'], 'lasting_bytes': 0, "
    "'live_peak_bytes': 31},\n"
    "{'file': 'p2', 'device': 'acc0', 'inputs': ['t'], 'outputs': ['z'], 'lasting_bytes': 0, "
    "'live_peak_bytes': 32}],\n"
    "'tensors': [{'name': 't', 'bytes': 6}, {'name': 'u', 'bytes': 2}], 'states': []}";

static const char schedule[] =
    "{'pcc_schedule': 1, 'in_flight': 1, 'phases': 1, 'devices': [\n"
    "{'name': 'acc0', 'peak_bytes': 90, 'compute': [{'alloc': 'x', 'sample': 0}, "
    "{'compute': 'p0', 'sample': 0}, {'free': 'x', 'sample': 0}, {'compute': 'p2', 'sample': 0}, "
    "{'free': 'u', 'sample': 0}, {'free': 't', 'sample': 0}, {'free': 'z', 'sample': 0}],\n"
    "'send': [{'tensor': 't', 'to': 'acc1', 'sample': 0}, {'tensor': 'u', 'to': 'acc1', 'sample': 0}, "
    "{'tensor': 'z', 'to': 'host', 'sample': 0}],\n"
    "'recv': [{'from': 'host', 'queue': 1, 'tensors': [{'tensor': 'x', 'sample': 0}]}]},\n"
    "{'name': 'acc1', 'peak_bytes': 90, 'compute': [{'alloc': 't', 'sample': 0}, "
    "{'alloc': 'u', 'sample': 0}, {'compute': 'p1', 'sample': 0}, {'free': 't', 'sample': 0}, "
    "{'free': 'u', 'sample': 0}, {'free': 'y', 'sample': 0}],\n"
    "'send': [{'tensor': 'y', 'to': 'host', 'sample': 0}],\n"
    "'recv': [{'from': 'acc0', 'queue': 2, 'tensors': [{'tensor': 't', 'sample': 0}, "
    "{'tensor': 'u', 'sample': 0}]}]}],\n"
    "'host': {'send': [{'tensor': 'x', 'to': 'acc0', 'sample': 0}], 'recv': [{'from': 'acc0', "
    "'tensors': [{'tensor': 'z', 'sample': 0}]}, {'from': 'acc1', 'tensors': [{'tensor': 'y', "
    "'sample': 0}]}]}}";

struct change {
    const char *from, *to;
};

/* A case: what is changed, in the manifest where it occurs there, else in the schedule; what is said, "" if all is
 * taken. */
struct refused {
    struct change change[3];
    const char *want;
};

static char *replaced(struct arena *a, const char *text, struct change c)
{
    const char *at = strstr(text, c.from);
    return arena_fmt(a, "%.*s%s%s", (int)(at - text), text, c.to, at + strlen(c.from));
}

/* ' stands for ". */
static struct json_text quoted(const char *path, char *text)
{
    for (char *c = text; *c; c++)
        *c = *c == '\'' ? '"' : *c;
    return (struct json_text){path, text, strlen(text)};
}

static const char *said_of(const struct refused *r, struct arena *a, char *error)
{
    struct diag d = {.emit = keep_error, .user = error};
    char *m = arena_strdup(a, manifest, strlen(manifest));
    char *s = arena_strdup(a, schedule, strlen(schedule));
    error[0] = '\0';
    for (int i = 0; i < 3 && r->change[i].from; i++)
        if (strstr(m, r->change[i].from))
            m = replaced(a, m, r->change[i]);
        else if (strstr(s, r->change[i].from))
            s = replaced(a, s, r->change[i]);
        else
            fail_msg("there is no %s", r->change[i].from);
    struct json_text first = quoted("m", m), second = quoted("s", s);
    struct sample_work *w = work_read(&first, a, &d);
    struct schedule *read = w ? schedule_read(&second, w, a, &d) : NULL;
    assert_int_equal(d.errors, !read);
    const char *why = read ? schedule_check(read->work, read, a) : error;
    return why ? why : "";
}

static void check_all(const struct refused *t, size_t n)
{
    struct arena *a = arena_new(NULL);
    char error[KEPT];
    int wrong = 0;
    for (size_t i = 0; i < n; i++) {
        const char *got = said_of(&t[i], a, error);
        if (strcmp(got, t[i].want) == 0)
            continue;
        print_error("%s -> %s:\ngot:  %s\nwant: %s\n", t[i].change[0].from, t[i].change[0].to, got,
                    t[i].want);
        wrong++;
    }
    arena_free(a);
    assert_int_equal(wrong, 0);
}

#define CHECK_ALL(t) check_all(t, sizeof(t) / sizeof *(t))

static void test_manifest(void **state)
{
    static const struct refused t[] = {
        {{{"'reserved_bytes': 9", "'reserved_bytes': 99"}},
         "acc0 needs 90 B at once for 1 sample in flight and has 0 B"},
        {{{"'reserved_bytes': 9", "'reserved_bytes': 100"}},
         "m: expected an integer 'reserved_bytes' in 0..99"},
        {{{"'pcc_manifest': 1", "'pcc_manifest': 2"}}, "m: expected 'pcc_manifest': 1"},
        {{{"'pcc_manifest': 1", "'pcc_manifest': 0"}}, "m: expected 'pcc_manifest': 1"},
        {{{"'pcc_manifest': 1", "'pcc_manifest' 1"}}, "m:1: ':' expected near '1'"},
        {{{"'schedule': 'schedule.json'", "'schedule': null"}},
         "m: the folder has no execution plan"},
        {{{"'schedule': 'schedule.json'", "'schedule': null, 'schedule_why': 'it has loops'"}},
         "m: the folder has no execution plan: it has loops"},
        {{{"'devices': [{'name': 'acc0'", "'devices': {}, 'rest': [{'name': 'acc0'"}},
         "m: expected a list 'devices'"},
        {{{"'name': 'acc1'", "'name': 'acc0'"}}, "m: 'acc0' is there twice"},
        {{{"'name': 'acc1'", "'name': 'host'"}}, "m: 'host' is there twice"},
        {{{"'name': 'acc1'", "'name': 1"}}, "m: expected a name 'name' in each of 'devices'"},
        {{{"'memory_bytes': 99", "'memory_bytes': -1"}},
         "m: expected an integer 'memory_bytes' in 0..9223372036854775807"},
        {{{"'memory_bytes': 99", "'memory_bytes': '99'"}},
         "m: expected an integer 'memory_bytes' in 0..9223372036854775807"},
        {{{"'name': 't', 'bytes': 6", "'name': 'q', 'bytes': 6"}},
         "m: the size of tensor 't' is not said"},
        {{{"'name': 't', 'bytes': 6", "'name': 't'"}},
         "m: expected an integer 'bytes' in 0..9223372036854775807"},
        {{{"'name': 't', 'bytes': 6", "'name': 'x', 'bytes': 6"}},
         "m: expected one size for each tensor"},
        {{{"'name': 't', 'bytes': 6", "'name': 't', 'bytes': 9223372036854775807"}},
         "m: 'live_peak_bytes' of 'p1' is less than what it holds and reads"},
        {{{"'outputs': ['t', 'u']", "'outputs': ['t', 't']"}}, "m: 't' is there twice"},
        {{{"'outputs': ['t', 'u']", "'outputs': ['t', 1]"}}, "m: expected names of tensors"},
        {{{"'outputs': ['t', 'u']", "'outputs': 't'"}}, "m: expected a list 'outputs'"},
        {{{"'file': 'p1'", "'file': 'p0'"}}, "m: 'p0' is there twice"},
        {{{"'file': 'p1'", "'name': 'p0'"}}, "m: expected a name 'file' in each of 'parts'"},
        {{{"'device': 'acc1'", "'device': 'acc2'"}},
         "m: 'p1' is on 'acc2', which is none of the devices"},
        {{{"'device': 'acc1'", "'device': 'host'"}},
         "m: 'p1' is on 'host', which is none of the devices"},
        {{{"'live_peak_bytes': 30", "'live_peak_bytes': 14"}}, ""},
        {{{"'live_peak_bytes': 30", "'live_peak_bytes': 13"}},
         "m: 'live_peak_bytes' of 'p0' is less than what it holds and reads"},
        {{{"'lasting_bytes': 10", "'lasting_bytes': -1"}},
         "m: expected an integer 'lasting_bytes' in 0..9223372036854775807"},
        {{{"'inputs': ['t', 'u']", "'inputs': ['t', 'q']"}},
         "m: 'p1' reads 'q', which is neither an input nor made by a part"},
        {{{"'inputs': ['t', 'u']", "'inputs': ['t', 7]"}}, "m: expected names of tensors"},
        {{{"'inputs': ['t', 'u']", "'inputs': ['t', 't']"}}, "m: 'p1' reads 't' twice"},
        {{{"'from': 'p1'", "'from': 'p0'"}}, "m: output 'y' does not come from 'p0'"},
        {{{"'from': 'p1'", "'from': 'p7'"}}, "m: output 'y' does not come from 'p7'"},
        {{{"'from': 'p1'", "'from': 7"}}, "m: expected a name 'from' in each of 'outputs'"},
        {{{"'states': []", "'states': [{'in': 'x'}]"}},
         "m: expected a name 'out' in each of 'states'"},
        {{{"'states': []", "'state': []"}}, "m: expected a list 'states'"},
    };

    (void)state;
    CHECK_ALL(t);
}

static void test_schedule(void **state)
{
    static const struct refused t[] = {
        {{{"'pcc_schedule': 1", "'pcc_schedule': 1"}}, ""},
        {{{"'pcc_schedule': 1", "'pcc_schedule': 4"}}, "s: expected 'pcc_schedule': 1, 2 or 3"},
        {{{"'in_flight': 1", "'in_flight': 0"}},
         "s: expected an integer 'in_flight' in 1..1073741824"},
        {{{"'in_flight': 1", "'in_flight': 1073741825"}},
         "s: expected an integer 'in_flight' in 1..1073741824"},
        {{{"'in_flight': 1", "'in_flight': 1073741824"}},
         "1073741824 samples are too many to check: it has 23 instructions"},
        {{{"'phases': 1", "'phases': 255"}}, ""},
        {{{"'phases': 1", "'phases': 256"}}, "s: expected an integer 'phases' in 1..255"},
        {{{"'phases': 1", "'phases': 0"}}, "s: expected an integer 'phases' in 1..255"},
        {{{"'compute': 'p0', 'sample': 0", "'compute': 'p0', 'sample': 0, 'phase': 1"}},
         "s: expected an integer 'phase' in 0..0"},
        {{{"'compute': 'p0', 'sample': 0", "'compute': 'p0', 'sample': 1048577"}},
         "s: expected an integer 'sample' in -1048576..1048576"},
        {{{"'compute': 'p0', 'sample': 0", "'compute': 'p0', 'sample': -1048577"}},
         "s: expected an integer 'sample' in -1048576..1048576"},
        {{{"'compute': 'p0', 'sample': 0", "'compute': 'p7', 'sample': 0"}},
         "s: there is no 'p7' in the manifest"},
        {{{"'compute': 'p0', 'sample': 0", "'compute': 7, 'sample': 0"}},
         "s: expected a name 'compute' in an instruction"},
        {{{"'compute': 'p0', 'sample': 0", "'sample': 0"}},
         "s: expected one of 'add', 'alloc', 'compute', 'free' and 'reduce' in each of 'compute'"},
        {{{"'compute': 'p0', 'sample': 0", "'compute': 'p0', 'free': 't', 'sample': 0"}},
         "s: expected one of 'add', 'alloc', 'compute', 'free' and 'reduce' in each of 'compute'"},
        {{{"'compute': 'p0', 'sample': 0", "'compute': 'p1', 'sample': 0"}},
         "'p1' is computed on acc0, but belongs to acc1"},
        {{{"'compute': 'p0', 'sample': 0", "'compute': 'p2', 'sample': 0"}},
         "'p2' is computed twice on acc0"},
        {{{", {'compute': 'p2', 'sample': 0}", ""}}, "'p2' is never computed"},
        {{{"{'compute': 'p0', 'sample': 0}, {'free': 'x', 'sample': 0}, {'compute': 'p2', 'sample': 0}",
           "{'compute': 'p2', 'sample': 0}, {'free': 'x', 'sample': 0}, {'compute': 'p0', 'sample': 0}"}},
         "acc0 computes 'p2' before 'p0': not their order"},
        {{{"{'alloc': 'x', 'sample': 0}, {'compute': 'p0', 'sample': 0}",
           "{'compute': 'p0', 'sample': 0}, {'alloc': 'x', 'sample': 0}"}},
         "acc0 computes 'p0' before it makes room for 'x'"},
        {{{"{'compute': 'p0', 'sample': 0}, {'free': 'x', 'sample': 0}",
           "{'free': 'x', 'sample': 0}, {'compute': 'p0', 'sample': 0}"}},
         "acc0 frees 'x' before it computes 'p0', which reads it"},
        {{{"{'alloc': 'x', 'sample': 0}, ", ""}}, "acc0 never makes room for 'x'"},
        {{{"{'free': 'x', 'sample': 0}, ", ""}}, "acc0 never frees 'x'"},
        {{{"{'alloc': 'x', 'sample': 0}, ",
           "{'alloc': 'x', 'sample': 0}, {'alloc': 'x', 'sample': 0}, "}},
         "'x' is given room twice on acc0"},
        {{{"{'free': 'x', 'sample': 0}, ",
           "{'free': 'x', 'sample': 0}, {'free': 'x', 'sample': 0}, "}},
         "'x' is freed twice on acc0"},
        {{{"{'alloc': 'x', 'sample': 0}", "{'alloc': 't', 'sample': 0}"}},
         "'t' is made on acc0: there is no ALLOC of it"},
        {{{"{'alloc': 'x', 'sample': 0}", "{'alloc': 'y', 'sample': 0}"}},
         "'y' is not wanted on acc0"},
        {{{"{'free': 'x', 'sample': 0}, ", "{'free': 'y', 'sample': 0}, "}},
         "'y' is not wanted on acc0"},
        {{{"{'tensor': 't', 'to': 'acc1', 'sample': 0}",
           "{'tensor': 't', 'to': 'acc0', 'sample': 0}"}},
         "'t' is made on acc0: there is no SEND of it to there"},
        {{{"{'tensor': 't', 'to': 'acc1', 'sample': 0}",
           "{'tensor': 't', 'to': 'host', 'sample': 0}"}},
         "'t' is not wanted on host"},
        {{{"{'tensor': 't', 'to': 'acc1', 'sample': 0}",
           "{'tensor': 't', 'to': 'acc7', 'sample': 0}"}},
         "s: there is no 'acc7' in the manifest"},
        {{{"{'tensor': 't', 'to': 'acc1', 'sample': 0}",
           "{'tensor': 't', 'to': 'acc1', 'sample': 1}"}},
         "acc0 sends 't' of another sample than it is about to have"},
        {{{"{'tensor': 't', 'to': 'acc1', 'sample': 0}, {'tensor': 'u', 'to': 'acc1', 'sample': 0}",
           "{'tensor': 'u', 'to': 'acc1', 'sample': 0}, {'tensor': 't', 'to': 'acc1', 'sample': 0}"}},
         "acc0 sends 'u' to acc1, which does not receive it in that place"},
        {{{"{'tensor': 't', 'to': 'acc1', 'sample': 0}, ", ""}}, "'t' is never sent to acc1"},
        {{{"{'tensor': 't', 'to': 'acc1', 'sample': 0}, ",
           "{'tensor': 't', 'to': 'acc1', 'sample': 0}, {'tensor': 't', 'to': 'acc1', 'sample': 0}, "}},
         "'t' is sent twice on acc0"},
        {{{"'tensors': [{'tensor': 't', 'sample': 0}, {'tensor': 'u', 'sample': 0}]",
           "'tensors': [{'tensor': 'u', 'sample': 0}, {'tensor': 't', 'sample': 0}]"}},
         "acc0 sends 't' to acc1, which does not receive it in that place"},
        {{{"'tensors': [{'tensor': 't', 'sample': 0}, ", "'tensors': ["}},
         "'t' is never received by acc1"},
        {{{"'from': 'acc0', 'queue': 2", "'from': 'host', 'queue': 2"}},
         "'t' is received by acc1, but comes from acc0"},
        {{{"'from': 'acc0', 'queue': 2", "'from': 'acc0', 'queue': 1"}},
         "acc1 has room for 1 tensors at once from acc0 and needs it for 2"},
        {{{"'from': 'acc0', 'queue': 2", "'from': 'acc0', 'queue': 4294967296"}},
         "s: expected an integer 'queue' in 0..4294967295"},
        {{{"'from': 'acc0', 'queue': 2", "'from': 'acc0'"}},
         "s: expected an integer 'queue' in 0..4294967295"},
        {{{"{'from': 'host', 'queue': 1, ",
           "{'from': 'host', 'queue': 1, 'tensors': []}, {'from': 'host', 'queue': 1, "}},
         "s: expected one list in 'recv' for each device"},
        {{{"{'tensor': 'x', 'to': 'acc0', 'sample': 0}",
           "{'tensor': 'x', 'to': 'acc1', 'sample': 0}"}},
         "'x' is not wanted on acc1"},
        {{{"'tensors': [{'tensor': 'x', 'sample': 0}]",
           "'tensors': [{'tensor': 'y', 'sample': 0}]"}},
         "'y' is not wanted on acc0"},
        {{{"{'name': 'acc0', 'peak_bytes': 90,", "{'name': 'acc0', 'peak_bytes': 91,"}},
         "acc0 needs 91 B at once for 1 sample in flight and has 90 B"},
        {{{"{'name': 'acc0', 'peak_bytes': 90,", "{'name': 'acc0', 'peak_bytes': 38,"}},
         "acc0 is said to need 38 bytes at most and needs 44"},
        {{{"{'name': 'acc0', 'peak_bytes': 90,", "{'name': 'acc0', 'peak_bytes': -1,"}},
         "s: expected an integer 'peak_bytes' in 0..9223372036854775807"},
        {{{"{'name': 'acc1', 'peak_bytes'", "{'name': 'acc0', 'peak_bytes'"}},
         "s: device 'acc0' is there twice"},
        {{{"{'name': 'acc1', 'peak_bytes'", "{'name': 'host', 'peak_bytes'"}},
         "s: expected the instructions of the host in 'host', not among 'devices'"},
        {{{"{'name': 'acc1', 'peak_bytes'", "{'name': 'gpu', 'peak_bytes'"}},
         "s: there is no 'gpu' in the manifest"},
        {{{"'host': {", "'hosts': {"}}, "s: expected a list 'send'"},
        /* a part that waits for what is sent after what waits for it */
        {{{"{'free': 'u', 'sample': 0}, {'free': 't', 'sample': 0}, {'free': 'z'", "{'free': 'z'"},
          {"{'alloc': 'x', 'sample': 0}, ",
           "{'alloc': 'x', 'sample': 0}, {'free': 't', 'sample': 0}, {'free': 'u', 'sample': 0}, "}},
         "acc0 frees 't' before it makes it"},
        /* what a list cannot hold */
        {{{"'phases': 1", "'phases': 2"},
          {"{'alloc': 'x', 'sample': 0}", "{'alloc': 'x', 'sample': 0, 'phase': 1}"}},
         "an instruction of acc0 stands in a list where it cannot"},
        {{{"'phases': 1", "'phases': 2"},
          {"{'free': 'z', 'sample': 0}", "{'free': 'z', 'sample': 0, 'phase': 1}"}},
         ""},
        {{{"'tensors': [{'tensor': 'x', 'sample': 0}]",
           "'tensors': [{'tensor': 't', 'sample': 0}]"}},
         "'t' is made on acc0: there is no RECV of it"},
        {{{"{'tensor': 'y', 'to': 'host', 'sample': 0}",
           "{'tensor': 'z', 'to': 'host', 'sample': 0}"}},
         "'z' is sent by acc1, but comes from acc0"},
        /* iterations */
        {{{"'pcc_schedule': 1, 'in_flight': 1", "'pcc_schedule': 2, 'micro_batches': 1"}}, ""},
        {{{"'pcc_schedule': 1, 'in_flight': 1", "'pcc_schedule': 2, 'micro_batches': 2"}},
         "s: expected each of 3 parts 2 times, found 3 times 'compute'"},
        {{{"'pcc_schedule': 1, 'in_flight': 1", "'pcc_schedule': 2, 'micro_batches': 0"}},
         "s: expected an integer 'micro_batches' in 1..1048576"},
        {{{"'pcc_schedule': 1, 'in_flight': 1", "'pcc_schedule': 2, 'micro_batches': 1048577"}},
         "s: expected an integer 'micro_batches' in 1..1048576"},
        {{{"'pcc_schedule': 1, 'in_flight': 1", "'pcc_schedule': 2, 'micro_batches': 1048576"}},
         "s: there are too many micro-batches, or devices that share them"},
        {{{"'pcc_schedule': 1, 'in_flight': 1", "'pcc_schedule': 2, 'micro_batches': 1"},
          {"'compute': 'p0', 'sample': 0", "'compute': 'p0', 'sample': 1"}},
         "s: micro-batch 1 of an instruction is none of 1"},
        {{{"'pcc_schedule': 1, 'in_flight': 1", "'pcc_schedule': 2, 'micro_batches': 1"},
          {"'compute': 'p0', 'sample': 0", "'compute': 'p0', 'sample': -1"}},
         "s: micro-batch -1 of an instruction is none of 1"},
    };

    (void)state;
    CHECK_ALL(t);
}

/* As many devices as a cluster may have, and one more. */
static void test_devices(void **state)
{
    char error[KEPT];

    (void)state;
    for (int n = 1024; n <= 1025; n++) {
        struct arena *a = arena_new(NULL);
        struct diag d = {.emit = keep_error, .user = error};
        size_t size = 0;
        char *text = NULL;
        FILE *f = open_memstream(&text, &size);
        fprintf(
            f,
            "{'pcc_manifest': 1, 'schedule': 's', 'inputs': [], 'outputs': [], 'parts': [], 'tensors': [], "
            "'states': [], 'devices': [");
        for (int i = 0; i < n; i++)
            fprintf(f, "%s{'name': 'd%d', 'memory_bytes': null}", i ? ", " : "", i);
        fprintf(f, "]}");
        fclose(f);
        struct json_text t = quoted("m", text);
        error[0] = '\0';
        assert_int_equal(work_read(&t, a, &d) != NULL, n == 1024);
        assert_string_equal(error,
                            n == 1024 ? "" : "m: 1025 devices are too many: expected 1024 at most");
        free(text);
        arena_free(a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_manifest),
                                       cmocka_unit_test(test_schedule),
                                       cmocka_unit_test(test_devices)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
