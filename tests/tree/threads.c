/* threads MODEL FOLDER [children]: two handles share nothing.
 *
 * Jobs that plan, show and write, some with threads of their own, run all at the same time, twice; what they leave must
 * be the same.  "children": those with child processes, too, and before that one after the other.  Without it the
 * program is for ThreadSanitizer, which finds nothing in jobs that wait for each other, and whose allocator may stand
 * still in a child of a program with threads (gcc 12) (test_subproject.py).
 * Exits with 1 and a line for each job that differs. */
#define _POSIX_C_SOURCE 200809L

#include <pcc.h>

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 2, TEXTS = 6, AGAIN = 20 };

static const char *const texts[TEXTS] = {"table", "json", "csv", "dot", "gantt", "trace"};

struct job {
    const char *devices, *pipeline, *output; /* output NULL: nothing is written */
    bool children;                           /* it has child processes */
    const char *model, *folder;
    char *came, *wanted; /* texts and messages */
};

static const struct job jobs[] = {
    {.devices = "2xa100", .output = "a"},
    {.devices = "3xa100", .pipeline = "fuse,anneal-place{starts=1:moves=5000}", .output = "b.svg"},
    {.devices = "4xh100:1GiB", .pipeline = "fuse{range=5},dp-place", .output = "f"},
    {.devices = "2xa100:1MiB", .pipeline = "dp-place", .output = "g"},
    {.devices = "2xa1000"},
    {.devices = "2xv100", .pipeline = "ip-place{starts=1:moves=100:gap=0.2}", .children = true},
    {.devices = "2xa100", .pipeline = "scotch-place", .output = "d.dot", .children = true},
    {.devices = "2xa100", .pipeline = "metis-place", .output = "e.json", .children = true}};

enum { JOBS = sizeof jobs / sizeof *jobs };

static void keep(void *user, enum pcc_level level, const char *name, const char *line)
{
    (void)level;
    fprintf(user, "%s: %s\n", name ? name : "", line);
}

static void *run(void *arg)
{
    struct job *j = arg;
    size_t n;
    FILE *f = open_memstream(&j->came, &n);
    struct pcc *p = pcc_new();
    const struct pcc_listener l = {.user = f, .message = keep};
    char path[4096];
    pcc_listen(p, &l);
    snprintf(path, sizeof path, "%s/%s", j->folder, j->output ? j->output : "");
    if (pcc_set(p, "devices", j->devices) || pcc_open(p, j->model) || pcc_plan(p, j->pipeline) ||
        (j->output && pcc_write(p, path)))
        fprintf(f, "failed: %s\n", pcc_error(p));
    for (int i = 0; pcc_verdict(p) && i < TEXTS; i++) {
        const char *text = pcc_text(p, texts[i]);
        for (int again = 0; again < AGAIN && !strcmp(texts[i], "dot"); again++)
            text = pcc_text(p, texts[i]);
        fputs(text ? text : pcc_error(p), f);
    }
    pcc_free(p);
    fclose(f);
    return NULL;
}

static int compare(struct job *j, int n, int first)
{
    int differs = 0;
    for (int i = 0; i < n; i++) {
        if (first) {
            j[i].wanted = j[i].came;
            continue;
        }
        if (strcmp(j[i].came, j[i].wanted) != 0) {
            printf("job %d differs:\n%s\n-- was:\n%s\n", i, j[i].came, j[i].wanted);
            differs = 1;
        }
        free(j[i].came);
    }
    return differs;
}

int main(int argc, char **argv)
{
    struct job j[JOBS];
    pthread_t id[JOBS];
    /* the number of the first round, whose results later rounds must repeat; -1: its jobs run one after the other */
    const int first = argc == 4 ? -1 : 0;
    int differs = 0, n = 0;
    if (argc != 3 && (argc != 4 || strcmp(argv[3], "children") != 0))
        return 2;
    for (int i = 0; i < JOBS; i++) {
        if (jobs[i].children && argc == 3)
            continue;
        j[n] = jobs[i];
        j[n].model = argv[1];
        j[n].folder = argv[2];
        if (first < 0)
            run(&j[n]);
        n++;
    }
    if (first < 0)
        compare(j, n, 1);
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < n; i++)
            if (pthread_create(&id[i], NULL, run, &j[i]))
                return 3;
        for (int i = 0; i < n; i++)
            pthread_join(id[i], NULL);
        differs |= compare(j, n, round == first);
    }
    for (int i = 0; i < n; i++) {
        printf("job %d: %zu bytes\n", i, strlen(j[i].wanted));
        free(j[i].wanted);
    }
    return differs;
}
