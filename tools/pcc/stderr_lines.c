/* Writes lines on stderr (stderr_lines.h), piece by piece, since memory may have run out. */
#include "stderr_lines.h"

#include "ir/base/json_out.h"

#include <stdlib.h>
#include <string.h>

void stderr_json(const char *level, const char *name, const char *message)
{
    fprintf(stderr, "{\"level\":\"%s\",\"message\":", level);
    json_put_string(stderr, message);
    if (name) {
        fputs(",\"name\":", stderr);
        json_put_string(stderr, name);
    }
    fputs("}\n", stderr);
}

void stderr_report(const struct cli *c, const char *name, const char *text)
{
    const char *form = c->value[CLI_DIAG];
    size_t n = strlen(text);
    if (!form || strcmp(form, "json")) {
        fputs(text, stderr);
        return;
    }
    char *line = strndup(text, n && text[n - 1] == '\n' ? n - 1 : n);
    stderr_json("report", name, line ? line : "out of memory");
    free(line);
}
