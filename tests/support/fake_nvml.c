/* A stand-in for NVIDIA's management library (ir/cluster/detect/gpu_nvidia.c): it tells of as many GPUs as the
 * environment variable FAKE_NVML has words "CORES,BUS_BITS,MAJOR.MINOR"; "hang" instead: the first call never ends. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int nvmlInit_v2(void);
int nvmlDeviceGetCount_v2(unsigned *n);
int nvmlDeviceGetHandleByIndex_v2(unsigned i, void **gpu);
int nvmlDeviceGetNumGpuCores(void *gpu, unsigned *cores);
int nvmlDeviceGetMemoryBusWidth(void *gpu, unsigned *bits);
int nvmlDeviceGetCudaComputeCapability(void *gpu, int *major, int *minor);

/* The words from the i-th on; NULL: there are not so many. */
static char *word(unsigned i)
{
    char *s = getenv("FAKE_NVML");
    for (; s && i; i--)
        s = strchr(s, ' ') ? strchr(s, ' ') + 1 : NULL;
    return s && *s ? s : NULL;
}

int nvmlInit_v2(void)
{
    while (word(0) && !strcmp(word(0), "hang"))
        pause();
    return 0;
}

int nvmlDeviceGetCount_v2(unsigned *n)
{
    for (*n = 0; word(*n);)
        ++*n;
    return 0;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned i, void **gpu)
{
    *gpu = word(i);
    return *gpu ? 0 : 2;
}

int nvmlDeviceGetNumGpuCores(void *gpu, unsigned *cores)
{
    return sscanf(gpu, "%u", cores) == 1 ? 0 : 3;
}

int nvmlDeviceGetMemoryBusWidth(void *gpu, unsigned *bits)
{
    return sscanf(gpu, "%*u,%u", bits) == 1 ? 0 : 3;
}

int nvmlDeviceGetCudaComputeCapability(void *gpu, int *major, int *minor)
{
    return sscanf(gpu, "%*u,%*u,%d.%d", major, minor) == 2 ? 0 : 3;
}
