// A FAKE driver and NVML for the tests of device facts: the shapes of the calls as NVIDIA documents
// them, with invented answers. It says nothing of real libraries.
#include <cstring>

extern "C" {

int cuInit(unsigned) {
    return 0;
}
int cuDeviceGetCount(int* count) {
    *count = 2;
    return 0;
}
int cuDeviceGet(int* device, int ordinal) {
    *device = 10 + ordinal;
    return ordinal < 2 ? 0 : 101;
}
int cuDeviceGetName(char* name, int size, int device) {
    std::strncpy(name, device == 11 ? "Fake GPU B" : "Fake GPU A", static_cast<unsigned>(size));
    return 0;
}
int cuDeviceGetAttribute(int* value, int attribute, int) {
    *value = attribute == 75 ? 9 : attribute == 76 ? 0 : attribute == 16 ? 132 : -1;
    return 0;
}
int cuDeviceGetPCIBusId(char* id, int size, int device) {
    std::strncpy(id, device == 11 ? "0000:0B:00.0" : "0000:0A:00.0", static_cast<unsigned>(size));
    return 0;
}
int cuDriverGetVersion(int* version) {
    *version = 12040;
    return 0;
}

static int gpu_a, gpu_b;

int nvmlInit_v2() {
    return 0;
}
int nvmlSystemGetDriverVersion(char* text, unsigned size) {
    std::strncpy(text, "580.65.06", size);
    return 0;
}
int nvmlDeviceGetHandleByPciBusId_v2(const char* id, void** device) {
    *device = std::strcmp(id, "0000:0B:00.0") == 0 ? &gpu_b : &gpu_a;
    return 0;
}
int nvmlDeviceGetMaxClockInfo(void*, int which, unsigned* mhz) {
    *mhz = which == 2 ? 2619 : 1980;
    return 0;
}
int nvmlDeviceGetEnforcedPowerLimit(void* device, unsigned* milliwatt) {
    *milliwatt = device == &gpu_b ? 350'000 : 700'000;
    return 0;
}
int nvmlDeviceGetClockInfo(void*, int, unsigned* mhz) {
    *mhz = 1755;
    return 0;
}
int nvmlDeviceGetPowerUsage(void*, unsigned* milliwatt) {
    *milliwatt = 512'500;
    return 0;
}
int nvmlDeviceGetTemperature(void*, int, unsigned* celsius) {
    *celsius = 61;
    return 0;
}
// nvmlDeviceGetUtilizationRates is left out: older drivers lack functions too
}
