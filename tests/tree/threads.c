/* threads MODEL FOLDER: two handles share nothing.
 *
 * Jobs that plan, show and write, some with threads and child processes of their own, run one after the other, and then
 * all at the same time, twice; what they leave must be the same.  For ThreadSanitizer (test_subproject.py).
 * Exits with 1 and a line for each job that differs. */
#define _POSIX_C_SOURCE 200809L

#include <pcc.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 2, TEXTS = 6, AGAIN = 20 };

static const char *const texts[TEXTS] = {"table", "json", "csv", "dot", "gantt", "trace"};

struct job {
    const char *devices, *pipeline, *output; /* output NULL: nothing is written */
    const char *model, *folder;
    char *came, *wanted; /* texts and messages */
};

static const struct job jobs[] = {
    {"2xa100", NULL, "a", NULL, NULL, NULL, NULL},
    {"3xa100", "fuse,anneal-place{moves=20000}", "b.svg", NULL, NULL, NULL, NULL},
    {"2xv100", "ip-place{starts=1:moves=100:gap=0.2}", NULL, NULL, NULL, NULL, NULL},
    {"2xa100", "scotch-place", "d.dot", NULL, NULL, NULL, NULL},
    {"2xa100", "metis-place", "e.json", NULL, NULL, NULL, NULL},
    {"4xh100:1GiB", "fuse{range=5},dp-place", "f", NULL, NULL, NULL, NULL},
    {"2xa100:1MiB", "dp-place", "g", NULL, NULL, NULL, NULL},
    {"2xa1000", NULL, NULL, NULL, NULL, NULL, NULL}};

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
    /* the limit: ip-place has one of a minute else, and a sanitizer is slow */
    if (pcc_set(p, "devices", j->devices) || pcc_set(p, "time-limit", "1h") ||
        pcc_open(p, j->model) || pcc_plan(p, j->pipeline) || (j->output && pcc_write(p, path)))
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

static int compare(struct job *j, int first)
{
    int differs = 0;
    for (int i = 0; i < JOBS; i++) {
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
    int differs = 0;
    if (argc != 3)
        return 2;
    for (int i = 0; i < JOBS; i++) {
        j[i] = jobs[i];
        j[i].model = argv[1];
        j[i].folder = argv[2];
        run(&j[i]);
    }
    compare(j, 1);
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < JOBS; i++)
            if (pthread_create(&id[i], NULL, run, &j[i]))
                return 3;
        for (int i = 0; i < JOBS; i++)
            pthread_join(id[i], NULL);
        differs |= compare(j, 0);
    }
    for (int i = 0; i < JOBS; i++) {
        printf("job %d: %zu bytes\n", i, strlen(j[i].wanted));
        free(j[i].wanted);
    }
    return differs;
}
