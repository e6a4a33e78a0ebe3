/* Reads CSV field by field (csv_in.h).  O(length). */
#include "ir/base/csv_in.h"

#include <string.h>

const char *csv_plain(const char *s)
{
    return *s == '\'' && s[1] && strchr("=+-@'", s[1]) ? s + 1 : s;
}

bool csv_field(char **s, char **out, char *stop)
{
    char *p = *s, *to = *s;
    *out = p;
    if (*p == '"') {
        p++;
        while (*p != 0 && (*p != '"' || p[1] == '"')) {
            if (*p == '"')
                p++; /* "" within quotes stands for one quote */
            *to++ = *p++;
        }
        if (*p != '"')
            return false;
        p++;
    } else {
        while (*p != 0 && *p != ',' && *p != '\n' && *p != '\r')
            *to++ = *p++;
    }
    if (*p == '\r' && p[1] == '\n')
        p++;
    *stop = *p;
    *s = *p != 0 ? p + 1 : p;
    *to = 0; /* may overwrite *p, which *stop has now */
    return *stop == 0 || *stop == ',' || *stop == '\n';
}
