/* split MODEL FOLDER [DEVICES]: a program around pcc.h alone.  Plans the model, writes the split and its plan as JSON
 * beside it, and prints what the plan takes, why it is good, and where the time goes. */
#include <pcc.h>

#include <stdio.h>

static void show_line(void *user, enum pcc_level level, const char *name, const char *line)
{
    (void)user;
    if (level == PCC_WARNING)
        printf("warning (%s): %s\n", name, line);
}

static void show_plan(struct pcc *p)
{
    const struct pcc_verdict *v = pcc_verdict(p);
    printf("%s: %s %.3f ms, bound %.3f ms: %s among %s plans\n", v->planner, v->objective,
           (double)v->value / 1e9, (double)v->bound / 1e9, v->status, v->scope);
    for (uint32_t d = 0; d < v->ndevices; d++) {
        uint32_t nodes = 0;
        for (uint32_t n = 0; n < v->nnodes; n++)
            nodes += v->node[n].device == (int32_t)d;
        printf("%s (%s): %u nodes, %.3f ms, %lld bytes\n", v->device[d].name,
               v->device[d].device_class, nodes, (double)v->device[d].load / 1e9,
               (long long)v->device[d].used);
    }
    if (v->proof)
        printf("%s", v->proof);
}

static enum pcc_status run(struct pcc *p, const char *model, const char *folder,
                           const char *devices)
{
    const struct pcc_listener listener = {.message = show_line};
    char json[4096];
    enum pcc_status s;
    pcc_listen(p, &listener);
    if ((s = pcc_set(p, "devices", devices)) || (s = pcc_open(p, model)) ||
        (s = pcc_plan(p, NULL)) || (s = pcc_write(p, folder)))
        return s;
    show_plan(p);
    snprintf(json, sizeof json, "%s.json", folder);
    return pcc_write(p, json);
}

int main(int argc, char **argv)
{
    struct pcc *p = pcc_new();
    if (!p || argc < 3) {
        fprintf(stderr, "%s\n", p ? "usage: split MODEL FOLDER [DEVICES]" : "out of memory");
        pcc_free(p);
        return 2;
    }
    enum pcc_status s = run(p, argv[1], argv[2], argc > 3 ? argv[3] : "2xa100");
    if (s)
        fprintf(stderr, "pcc %s: %s\n", pcc_version(), pcc_error(p));
    pcc_free(p);
    return s;
}
