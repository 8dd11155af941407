/* The one door to the library that measures a GPU: plain C, so that the program that opens it at
   run time needs neither CUDA nor the same compiler. Used by profiles/collect/measure_gpu.cpp and
   implemented in profiles/gpu. */
#ifndef EYEROOF_GPU_MEASURE_ABI_H
#define EYEROOF_GPU_MEASURE_ABI_H

#define EYEROOF_GPU_MEASURE_VERSION 1
#define EYEROOF_GPU_MEASURE_ENTRY "eyeroof_measure_gpu"

struct EyeroofGpuMeasureRequest {
    int version;        /* EYEROOF_GPU_MEASURE_VERSION */
    int device;         /* as CUDA counts */
    int trials;         /* of each ceiling */
    double trial_s;     /* that a trial lasts at least */
    int layers;         /* also products with and without copies */
    const char* library_folder; /* of cuBLASLt; empty: where it was at build time, then anywhere */
    void* user;
    void (*progress)(void* user, double fraction, const char* activity); /* may be null */
    int (*stopped)(void* user);                                          /* may be null */
};

/* Calls `result` once with a profile (JSON lines) or, returning another value than 0, with one line
   of JSON that says what stood in the way (profiles/collect/fault.hpp). */
typedef int (*EyeroofMeasureGpu)(const struct EyeroofGpuMeasureRequest* request,
                                 void (*result)(void* user, const char* text));

#endif
