/* Reads folders of inputs as ONNX's test data have them: input_0.pb, input_1.pb, ..., each a tensor, a sequence or a
 * map. */
#ifndef PCC_TOOLS_RUN_PB_IN_H
#define PCC_TOOLS_RUN_PB_IN_H

#include "tools/run/npz.h"
#include "tools/run/split_in.h"

/* Reads the inputs of a split's model, in their order, into *out, in a: from a folder, or from its subfolder
 * test_data_set_0 if it has one; or, for a model with one input, from a file of one value.  Returns 0, or -1 and an
 * error: a file is missing, there are more files than inputs, or a file is no value of its input's kind. */
int pb_read(struct npz *out, const char *folder, const struct split *s, struct arena *a,
            struct diag *d);
/* A message of a file. */
struct pb_bytes {
    const char *at; /* [n] */
    size_t n;
    const char *path; /* path of the file, for errors */
};
/* Reads a message TensorProto, in a.  Returns 0, or -1 and an error. */
int pb_tensor(struct npz_array *to, const struct pb_bytes *from, struct arena *a, struct diag *d);
/* Reads a sequence or a map, of a type such as "seq<f32>" or "map<i64,f32>" (pb_list.c), in a.  Returns 0, or -1 and an
 * error. */
int pb_list(struct npz_array *to, const char *type, const struct pb_bytes *from, struct arena *a,
            struct diag *d);

#endif
