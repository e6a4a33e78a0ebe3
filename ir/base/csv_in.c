/* Reading CSV field by field (csv_in.h).  O(length). */
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
        for (p++; *p != 0 && (*p != '"' || p[1] == '"'); *to++ = *p++)
            p += *p == '"';
        if (*p++ != '"')
            return false;
    } else {
        while (*p != 0 && *p != ',' && *p != '\n' && *p != '\r')
            *to++ = *p++;
    }
    p += *p == '\r' && p[1] == '\n';
    *stop = *p;
    *s = p + (*p != 0);
    *to = 0;
    return *stop == 0 || *stop == ',' || *stop == '\n';
}
