/* The slots of ONNX Runtime's C interface that these programs use, declared here since wheels bring no header.
 *
 * The interface is a table of function pointers that only ever grows, so the number of a slot is stable.  The table of
 * ort_api.c says which slot each field comes from; tests/program/test_profile.py compares it with a real header where
 * one is given.  Unless noted, a function returns NULL for success, or a status that the caller reads and releases. */
#ifndef PCC_TOOLS_RUN_ORT_API_H
#define PCC_TOOLS_RUN_ORT_API_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Versions of the interface: the oldest that has all slots up to SetTerminate and the allocators, the oldest whose CUDA
 * provider can be told whether to use TF32, and the oldest that has statistics of an arena. */
enum { ORT_VERSION_OLDEST = 16, ORT_VERSION_TF32 = 18, ORT_VERSION_STATS = 23 };

/* Numbers that the interface fixes. */
enum { ORT_SEQUENTIAL = 0, ORT_OPTIMISE_NONE = 0, ORT_OPTIMISE_ALL = 99 };
enum { ORT_LOG_FATAL = 4, ORT_ARENA = 1, ORT_MEMORY_DEFAULT = 0, ORT_EXTEND_AS_REQUESTED = 1 };
enum { ORT_NO_ARENA = 0, ORT_MEMORY_CPU_OUTPUT = -1 };
enum { ORT_TYPE_TENSOR = 1, ORT_TYPE_SEQUENCE = 2, ORT_TYPE_MAP = 3 };

/* Objects of the library. */
typedef struct OrtStatus OrtStatus;
typedef struct OrtEnv OrtEnv;
typedef struct OrtSession OrtSession;
typedef struct OrtSessionOptions OrtSessionOptions;
typedef struct OrtRunOptions OrtRunOptions;
typedef struct OrtValue OrtValue;
typedef struct OrtMemoryInfo OrtMemoryInfo;
typedef struct OrtArenaCfg OrtArenaCfg;
typedef struct OrtTensorTypeAndShapeInfo OrtTensorTypeAndShapeInfo;
typedef struct OrtKeyValuePairs OrtKeyValuePairs;
typedef struct OrtCUDAProviderOptionsV2 OrtCUDAProviderOptionsV2;

/* An allocator, whose fields the interface fixes.  Later versions of the interface add fields; `version` says which
 * fields an allocator has. */
typedef struct OrtAllocator OrtAllocator;
struct OrtAllocator {
    uint32_t version;
    void *(*Alloc)(OrtAllocator *, size_t bytes);
    void (*Free)(OrtAllocator *, void *);
    const OrtMemoryInfo *(*Info)(const OrtAllocator *);
};

/* The functions that are used, by the library's names. */
struct ort_api {
    /* returns the text, which belongs to the status */
    const char *(*GetErrorMessage)(const OrtStatus *);
    OrtStatus *(*CreateEnv)(int, const char *, OrtEnv **);
    OrtStatus *(*CreateSession)(const OrtEnv *, const char *, const OrtSessionOptions *,
                                OrtSession **);
    OrtStatus *(*Run)(OrtSession *, const OrtRunOptions *, const char *const *,
                      const OrtValue *const *, size_t, const char *const *, size_t, OrtValue **);
    OrtStatus *(*CreateSessionOptions)(OrtSessionOptions **);
    OrtStatus *(*SetSessionExecutionMode)(OrtSessionOptions *, int);
    OrtStatus *(*EnableProfiling)(OrtSessionOptions *, const char *);
    OrtStatus *(*DisableMemPattern)(OrtSessionOptions *);
    OrtStatus *(*EnableCpuMemArena)(OrtSessionOptions *);
    OrtStatus *(*SetSessionLogSeverityLevel)(OrtSessionOptions *, int);
    OrtStatus *(*SetSessionGraphOptimizationLevel)(OrtSessionOptions *, int);
    OrtStatus *(*SetIntraOpNumThreads)(OrtSessionOptions *, int);
    OrtStatus *(*SetInterOpNumThreads)(OrtSessionOptions *, int);
    OrtStatus *(*CreateRunOptions)(OrtRunOptions **);
    OrtStatus *(*RunOptionsSetTerminate)(OrtRunOptions *);
    OrtStatus *(*CreateTensorAsOrtValue)(OrtAllocator *, const int64_t *, size_t, int, OrtValue **);
    OrtStatus *(*GetTensorMutableData)(OrtValue *, void **);
    OrtStatus *(*FillStringTensor)(OrtValue *, const char *const *, size_t);
    OrtStatus *(*GetStringTensorDataLength)(const OrtValue *, size_t *);
    OrtStatus *(*GetStringTensorContent)(const OrtValue *, void *, size_t, size_t *, size_t);
    OrtStatus *(*GetTensorElementType)(const OrtTensorTypeAndShapeInfo *, int *);
    OrtStatus *(*GetDimensionsCount)(const OrtTensorTypeAndShapeInfo *, size_t *);
    OrtStatus *(*GetDimensions)(const OrtTensorTypeAndShapeInfo *, int64_t *, size_t);
    OrtStatus *(*GetTensorTypeAndShape)(const OrtValue *, OrtTensorTypeAndShapeInfo **);
    OrtStatus *(*GetValueType)(const OrtValue *, int *);
    OrtStatus *(*CreateMemoryInfo)(const char *, int, int, int, OrtMemoryInfo **);
    OrtStatus *(*CreateCpuMemoryInfo)(int, int, OrtMemoryInfo **);
    OrtStatus *(*AllocatorFree)(OrtAllocator *, void *);
    OrtStatus *(*GetAllocatorWithDefaultOptions)(OrtAllocator **);
    OrtStatus *(*GetValue)(const OrtValue *, int, OrtAllocator *, OrtValue **);
    OrtStatus *(*GetValueCount)(const OrtValue *, size_t *);
    OrtStatus *(*CreateValue)(const OrtValue *const *, size_t, int, OrtValue **);
    void (*ReleaseEnv)(OrtEnv *);
    void (*ReleaseStatus)(OrtStatus *);
    void (*ReleaseMemoryInfo)(OrtMemoryInfo *);
    void (*ReleaseSession)(OrtSession *);
    void (*ReleaseValue)(OrtValue *);
    void (*ReleaseRunOptions)(OrtRunOptions *);
    void (*ReleaseTensorTypeAndShapeInfo)(OrtTensorTypeAndShapeInfo *);
    void (*ReleaseSessionOptions)(OrtSessionOptions *);
    OrtStatus *(*SessionEndProfiling)(OrtSession *, OrtAllocator *, char **);
    OrtStatus *(*AddSessionConfigEntry)(OrtSessionOptions *, const char *, const char *);
    OrtStatus *(*CreateAllocator)(const OrtSession *, const OrtMemoryInfo *, OrtAllocator **);
    void (*ReleaseAllocator)(OrtAllocator *);
    OrtStatus *(*CreateAndRegisterAllocator)(OrtEnv *, const OrtMemoryInfo *, const OrtArenaCfg *);
    OrtStatus *(*CreateArenaCfg)(size_t, int, int, int, OrtArenaCfg **);
    void (*ReleaseArenaCfg)(OrtArenaCfg *);
    OrtStatus *(*SessionOptionsAppendExecutionProvider_CUDA_V2)(OrtSessionOptions *,
                                                                const OrtCUDAProviderOptionsV2 *);
    OrtStatus *(*CreateCUDAProviderOptions)(OrtCUDAProviderOptionsV2 **);
    OrtStatus *(*UpdateCUDAProviderOptions)(OrtCUDAProviderOptionsV2 *, const char *const *,
                                            const char *const *, size_t);
    void (*ReleaseCUDAProviderOptions)(OrtCUDAProviderOptionsV2 *);
    /* functions that libraries have from version ORT_VERSION_STATS on; NULL in an older library.  GetKeyValuePairs
     * returns nothing. */
    void (*GetKeyValuePairs)(const OrtKeyValuePairs *, const char *const **, const char *const **,
                             size_t *);
    void (*ReleaseKeyValuePairs)(OrtKeyValuePairs *);
    OrtStatus *(*AllocatorGetStats)(const OrtAllocator *, OrtKeyValuePairs **);
};

/* A row of the table of slots. */
struct ort_slot {
    unsigned slot;
    const char *name; /* name of the function, and of its field in struct ort_api */
    size_t field;     /* offset of that field */
};

/* Returns row i = 0, 1, ... of the table, in the order of slots; NULL after the last one. */
const struct ort_slot *ort_slot_at(size_t i);
/* Takes the functions of the library's table, of an interface of this version, into *api. */
void ort_api_take(struct ort_api *api, const void *table, unsigned version);

#endif
