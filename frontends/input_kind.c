/* Finds the kind of an input file: by the end of its name, else by its first bytes.  JSON starts with a brace, a
 * profile of layers with a layer, textual IR is other text; everything else counts as ONNX, whose reader reports an
 * error if the input is no ONNX model.  O(1). */
#include "frontends/frontends.h"

#include "ir/base/infile.h"
#include "ir/base/strings.h"

#include <string.h>
#include <unistd.h>

enum { HEAD = 512 }; /* number of bytes looked at */

/* Finds the kind of an input by the end of its name.  Returns false if the end is none of .json, .pir and .onnx. */
static bool kind_by_name(const char *path, enum input_kind *kind)
{
    *kind = str_ends(path, ".json")  ? INPUT_WORKLOAD
            : str_ends(path, ".pir") ? INPUT_TEXT
                                     : INPUT_ONNX;
    return *kind != INPUT_ONNX || str_ends(path, ".onnx");
}

/* Whether the first line that is not empty is a layer: "node1 -- name -- forward_compute_time=...". */
static bool begins_profile(const unsigned char *head, size_t n)
{
    static const char mark[] = " -- ";
    const char *at = memmem(head, n, mark, sizeof mark - 1);
    /* before the mark comes the id of the layer, and before the id nothing but blanks and line breaks */
    size_t before = at ? (size_t)(at - (const char *)head) : n;
    while (before && head[before - 1] > ' ')
        before--;
    for (size_t i = 0; i < before; i++)
        if (head[i] > ' ')
            return false;
    return at != NULL;
}

/* Returns the kind of an input that begins with head[n]. */
static enum input_kind kind_by_bytes(const unsigned char *head, size_t n)
{
    size_t first = 0; /* position of the first byte that is no white space */
    for (size_t i = 0; i < n; i++) {
        bool space = head[i] == ' ' || (head[i] >= '\t' && head[i] <= '\r');
        if ((head[i] < ' ' && !space) || head[i] == 0x7f) /* a control character: no text */
            return INPUT_ONNX;
        if (first == i && space)
            first++;
    }
    return first == n                ? INPUT_ONNX
           : head[first] == '{'      ? INPUT_WORKLOAD
           : begins_profile(head, n) ? INPUT_PROFILE
                                     : INPUT_TEXT;
}

/* Reads the first bytes of a file into head[HEAD]; returns their number, 0 if the file cannot be read. */
static size_t read_head(const char *path, unsigned char *head)
{
    struct diag quiet = diag_silent();
    uint64_t size;
    ssize_t n = 0;
    int fd = infile_open(path, INFILE_MODEL, &size, &quiet);

    if (fd >= 0) {
        n = read(fd, head, HEAD);
        close(fd);
    }
    return n < 0 ? 0 : (size_t)n;
}

enum input_kind input_kind_of(const char *path)
{
    unsigned char head[HEAD] = {0};
    enum input_kind kind;

    return kind_by_name(path, &kind) ? kind : kind_by_bytes(head, read_head(path, head));
}

enum input_kind input_kind_in(const char *name, const void *bytes, size_t n)
{
    enum input_kind kind;
    return kind_by_name(name, &kind) ? kind : kind_by_bytes(bytes, smaller_u64(n, HEAD));
}

/* The first bytes that are looked for cannot be those of an ONNX model: as a protobuf tag they would be a field that
 * ModelProto does not have. */
const char *input_foreign(const char *name, const void *bytes, size_t n)
{
    unsigned char own[HEAD] = {0};
    const unsigned char *head = bytes ? bytes : own;

    if (!bytes)
        n = read_head(name, own);
    if (n >= 4 && !memcmp(head, "PK\3\4", 4))
        return "a zip archive, as torch.save writes it";
    if (n >= 2 && !memcmp(head, "\x80\2", 2))
        return "a pickle, as torch.save writes it";
    if (n >= 4 && !memcmp(head, "\x89HDF", 4))
        return "an HDF5 file, as Keras writes it";
    /* the length of the header, 8 bytes, and the header, which is JSON */
    if (n >= 9 && str_ends(name, ".safetensors") && head[8] == '{')
        return "a file of weights without a graph";
    return n && str_ends(name, ".py") ? "a Python program" : NULL;
}
