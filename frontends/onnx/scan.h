/* The pre-scan of an ONNX file; for the reader alone. */
#ifndef PCC_FRONTENDS_ONNX_SCAN_H
#define PCC_FRONTENDS_ONNX_SCAN_H

#include "ir/base/arena.h"
#include "ir/base/diag.h"

/* A payload that stays in the file: the contents of field `field` (raw_data, float_data or
 * double_data, in little-endian packed form) of a TensorProto. */
struct onnx_payload {
    uint64_t off, len;
    uint32_t field;
};

/* The file without its large payloads, to be unpacked by protobuf-c. */
struct onnx_skeleton {
    const uint8_t *bytes;
    size_t size;
    struct onnx_payload *payload;
    uint32_t npayload, cappayload;
};

enum {
    ONNX_MARK = 17,        /* bytes of a marker; raw_data of just this length is always one */
    ONNX_FIELD_FLOAT = 4,  /* TensorProto.float_data */
    ONNX_FIELD_RAW = 9,    /* TensorProto.raw_data */
    ONNX_FIELD_DOUBLE = 10 /* TensorProto.double_data */
};

/* Checks the wire format of a ModelProto of `size` bytes in the file fd and makes its skeleton in a.
 * 0, or -1 and a diagnostic with offset and field path.  O(size of the skeleton). */
int onnx_scan(int fd, uint64_t size, const char *path, struct arena *a, struct onnx_skeleton *out,
              struct diag *d);

/* The payload that a marker (ONNX_MARK bytes of raw_data) stands for. */
uint32_t onnx_mark_index(const uint8_t *mark);

#endif
