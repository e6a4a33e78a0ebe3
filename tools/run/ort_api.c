/* The table of slots, and taking the functions from them (ort_api.h).  O(slots). */
#include "tools/run/ort_api.h"

#include <string.h>

/* The number of each function's slot in the library's table, in the order of slots. */
static const struct ort_slot slots[] = {
#define SLOT(n, name) {n, #name, offsetof(struct ort_api, name)}
    SLOT(2, GetErrorMessage),
    SLOT(3, CreateEnv),
    SLOT(7, CreateSession),
    SLOT(9, Run),
    SLOT(10, CreateSessionOptions),
    SLOT(13, SetSessionExecutionMode),
    SLOT(14, EnableProfiling),
    SLOT(17, DisableMemPattern),
    SLOT(18, EnableCpuMemArena),
    SLOT(22, SetSessionLogSeverityLevel),
    SLOT(23, SetSessionGraphOptimizationLevel),
    SLOT(24, SetIntraOpNumThreads),
    SLOT(25, SetInterOpNumThreads),
    SLOT(39, CreateRunOptions),
    SLOT(46, RunOptionsSetTerminate),
    SLOT(48, CreateTensorAsOrtValue),
    SLOT(51, GetTensorMutableData),
    SLOT(52, FillStringTensor),
    SLOT(53, GetStringTensorDataLength),
    SLOT(54, GetStringTensorContent),
    SLOT(60, GetTensorElementType),
    SLOT(61, GetDimensionsCount),
    SLOT(62, GetDimensions),
    SLOT(65, GetTensorTypeAndShape),
    SLOT(67, GetValueType),
    SLOT(68, CreateMemoryInfo),
    SLOT(69, CreateCpuMemoryInfo),
    SLOT(76, AllocatorFree),
    SLOT(78, GetAllocatorWithDefaultOptions),
    SLOT(80, GetValue),
    SLOT(81, GetValueCount),
    SLOT(82, CreateValue),
    SLOT(92, ReleaseEnv),
    SLOT(93, ReleaseStatus),
    SLOT(94, ReleaseMemoryInfo),
    SLOT(95, ReleaseSession),
    SLOT(96, ReleaseValue),
    SLOT(97, ReleaseRunOptions),
    SLOT(99, ReleaseTensorTypeAndShapeInfo),
    SLOT(100, ReleaseSessionOptions),
    SLOT(110, SessionEndProfiling),
    SLOT(130, AddSessionConfigEntry),
    SLOT(131, CreateAllocator),
    SLOT(132, ReleaseAllocator),
    SLOT(144, CreateAndRegisterAllocator),
    SLOT(156, CreateArenaCfg),
    SLOT(157, ReleaseArenaCfg),
    SLOT(204, SessionOptionsAppendExecutionProvider_CUDA_V2),
    SLOT(205, CreateCUDAProviderOptions),
    SLOT(206, UpdateCUDAProviderOptions),
    SLOT(208, ReleaseCUDAProviderOptions),
    SLOT(298, GetKeyValuePairs),
    SLOT(300, ReleaseKeyValuePairs),
    SLOT(319, AllocatorGetStats),
#undef SLOT
};

enum {
    SLOTS = sizeof slots / sizeof *slots,
    SLOT_STATS = 298 /* the first of version ORT_VERSION_STATS */
};

const struct ort_slot *ort_slot_at(size_t i)
{
    return i < SLOTS ? &slots[i] : NULL;
}

void ort_api_take(struct ort_api *api, const void *table, unsigned version)
{
    const char *from = table;
    *api = (struct ort_api){0};
    for (size_t i = 0; i < SLOTS; i++)
        if (slots[i].slot < SLOT_STATS || version >= ORT_VERSION_STATS)
            memcpy((char *)api + slots[i].field, from + slots[i].slot * sizeof(void *),
                   sizeof(void *));
}
