/* What kind of input a file is: by the end of its name, else by its first bytes (JSON starts with a
 * brace, textual IR is text, everything else is left to the ONNX reader to judge).  O(1). */
#include "frontends/frontends.h"

#include "ir/base/strings.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum input_kind input_kind_of(const char *path)
{
    unsigned char head[512];
    struct stat st;
    ssize_t n = 0, first = 0;

    if (str_ends(path, ".onnx"))
        return INPUT_ONNX;
    if (str_ends(path, ".json"))
        return INPUT_WORKLOAD;
    if (str_ends(path, ".pir"))
        return INPUT_TEXT;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd >= 0) {
        /* what is read from a pipe would be lost to the reader */
        n = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) ? read(fd, head, sizeof head) : 0;
        close(fd);
    }
    for (ssize_t i = 0; i < n; i++) {
        bool space = head[i] == ' ' || (head[i] >= '\t' && head[i] <= '\r');
        if ((head[i] < ' ' && !space) || head[i] == 0x7f)
            return INPUT_ONNX;
        first += first == i && space;
    }
    return n <= 0 || first == n ? INPUT_ONNX : head[first] == '{' ? INPUT_WORKLOAD : INPUT_TEXT;
}
