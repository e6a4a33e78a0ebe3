/* Stands for an ONNX Runtime of before its interface 16, in test_profile.py. */
#include <stddef.h>
#include <stdint.h>

struct base {
    const void *(*get)(uint32_t version);
    const char *(*version)(void);
};

const struct base *OrtGetApiBase(void);

static const void *get(uint32_t version)
{
    (void)version;
    return NULL;
}

static const char *version(void)
{
    return "1.15.1";
}

static const struct base base = {get, version};

const struct base *OrtGetApiBase(void)
{
    return &base;
}
