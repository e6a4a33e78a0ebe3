/* Checks the bytes of an ONNX file before protobuf-c unpacks them, and leaves large payloads of tensors in the file. */
#ifndef PCC_FRONTENDS_ONNX_SCAN_H
#define PCC_FRONTENDS_ONNX_SCAN_H

#include "ir/base/arena.h"
#include "ir/base/diag.h"

/* The elements of a tensor that stay in the file: len bytes from offset off, little endian and packed. */
struct onnx_payload {
    uint64_t off, len;
    uint32_t field; /* field of TensorProto that has them: ONNX_FIELD_RAW, FLOAT or DOUBLE */
};

/* The bytes of a model file for protobuf-c to unpack, in which a marker stands in place of each large payload. */
struct onnx_skeleton {
    const uint8_t *bytes;
    size_t size;
    struct onnx_payload *payload; /* [number in a marker] the payload that the marker stands for */
    uint32_t npayload, cappayload;
};

enum {
    /* bytes of a marker: in a skeleton, all raw_data of this length are markers */
    ONNX_MARK = 17,
    ONNX_FIELD_FLOAT = 4,  /* TensorProto.float_data */
    ONNX_FIELD_RAW = 9,    /* TensorProto.raw_data */
    ONNX_FIELD_DOUBLE = 10 /* TensorProto.double_data */
};

/* Checks the protobuf encoding of the ModelProto in file fd, which has `size` bytes, and makes its skeleton *out, in a.
 * Returns 0; or -1 and an error that tells the offset and path of the wrong field ("graph.node[1]").
 * O(size of the skeleton). */
int onnx_scan(int fd, uint64_t size, const char *path, struct arena *a, struct onnx_skeleton *out,
              struct diag *d);

/* Returns the index in onnx_skeleton.payload for which a marker, ONNX_MARK bytes of raw_data, stands. */
uint32_t onnx_mark_index(const uint8_t *mark);

#endif
