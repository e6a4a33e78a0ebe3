/* Makes the type of a value from the manifest: its "onnx_type", "seq(tensor(float))", and its "shape".  For values that
 * no part has at its border, such as inputs of the model that nothing reads.  O(length of the words + dimensions). */
#include "tools/lib/recompose/whole.h"

#include "backends/split/type_words.h"
#include "ir/base/json_in.h"

#include <string.h>

/* Makes the pointer p point to a new message of its type, in a, which the message's function `init` has made empty. */
#define NEW_MESSAGE(p, a, init) ((p) = arena_alloc(a, sizeof *(p)), init(p))

/* Returns the shape [2, "batch", null] as a message; NULL: no shape is known. */
static Onnx__TensorShapeProto *make_shape(const json_t *shape, struct arena *a)
{
    Onnx__TensorShapeProto *p;
    const json_t *size;
    size_t i;
    if (!json_is_array(shape))
        return NULL;
    NEW_MESSAGE(p, a, onnx__tensor_shape_proto__init);
    p->n_dim = json_array_size(shape);
    p->dim = arena_array(a, p->n_dim + 1, sizeof *p->dim);
    json_array_foreach(shape, i, size)
    {
        NEW_MESSAGE(p->dim[i], a, onnx__tensor_shape_proto__dimension__init);
        if (json_is_integer(size)) {
            p->dim[i]->value_case = ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE;
            p->dim[i]->dim_value = json_integer_value(size);
        } else if (json_is_string(size)) {
            p->dim[i]->value_case = ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_PARAM;
            p->dim[i]->dim_param = (char *)(uintptr_t)json_string_value(size);
        }
    }
    return p;
}

/* If *words begin with `word`, moves *words behind it and returns true. */
static bool skip_word(const char **words, const char *word)
{
    size_t n = strlen(word);
    bool found = strncmp(*words, word, n) == 0;
    if (found)
        *words += n;
    return found;
}

/* Returns the element type whose name *words begin with, as its number in ONNX, which enum elem has, too; ELEM_NONE:
 * there is no such type.  Moves *words behind the name and the character after it. */
static int32_t read_elem(const char **words)
{
    size_t n = strcspn(*words, ",)");
    enum elem e = elem_of_onnx_word(*words, n);
    *words += n + ((*words)[n] != '\0');
    return (int32_t)e;
}

/* Sets p, an empty message, to the tensor type with which the words begin.  Returns false if they begin with none. */
static bool set_tensor(Onnx__TypeProto *p, const char *words, const json_t *shape, struct arena *a)
{
    if (skip_word(&words, "tensor(")) {
        p->value_case = ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE;
        NEW_MESSAGE(p->tensor_type, a, onnx__type_proto__tensor__init);
        p->tensor_type->has_elem_type = 1;
        p->tensor_type->elem_type = read_elem(&words);
        p->tensor_type->shape = make_shape(shape, a);
        return p->tensor_type->elem_type != ELEM_NONE;
    }
    if (!skip_word(&words, "sparse_tensor("))
        return false;
    p->value_case = ONNX__TYPE_PROTO__VALUE_SPARSE_TENSOR_TYPE;
    NEW_MESSAGE(p->sparse_tensor_type, a, onnx__type_proto__sparse_tensor__init);
    p->sparse_tensor_type->has_elem_type = 1;
    p->sparse_tensor_type->elem_type = read_elem(&words);
    p->sparse_tensor_type->shape = make_shape(shape, a);
    return p->sparse_tensor_type->elem_type != ELEM_NONE;
}

/* If the words begin with a sequence, an optional or a map type, sets p to that type, moves *words to its inner type
 * and returns the message for the inner type; else returns NULL. */
static Onnx__TypeProto *set_container(Onnx__TypeProto *p, const char **words, struct arena *a)
{
    Onnx__TypeProto *inner;
    NEW_MESSAGE(inner, a, onnx__type_proto__init);
    if (skip_word(words, "seq(")) {
        p->value_case = ONNX__TYPE_PROTO__VALUE_SEQUENCE_TYPE;
        NEW_MESSAGE(p->sequence_type, a, onnx__type_proto__sequence__init);
        p->sequence_type->elem_type = inner;
    } else if (skip_word(words, "optional(")) {
        p->value_case = ONNX__TYPE_PROTO__VALUE_OPTIONAL_TYPE;
        NEW_MESSAGE(p->optional_type, a, onnx__type_proto__optional__init);
        p->optional_type->elem_type = inner;
    } else if (skip_word(words, "map(")) {
        p->value_case = ONNX__TYPE_PROTO__VALUE_MAP_TYPE;
        NEW_MESSAGE(p->map_type, a, onnx__type_proto__map__init);
        p->map_type->has_key_type = 1;
        p->map_type->key_type = read_elem(words);
        p->map_type->value_type = inner;
    } else {
        return NULL;
    }
    return inner;
}

Onnx__TypeProto *whole_type(struct whole *w, const char *name)
{
    const json_t *value = json_object_get(json_object_get(w->x.manifest, "values"), name);
    const char *words = json_get_text(value, "onnx_type");
    Onnx__TypeProto *top, *p, *inner;
    NEW_MESSAGE(top, w->a, onnx__type_proto__init);
    if (!words)
        return NULL;
    for (p = top; (inner = set_container(p, &words, w->a));)
        p = inner;
    return set_tensor(p, words, json_object_get(value, "shape"), w->a) ? top : NULL;
}
