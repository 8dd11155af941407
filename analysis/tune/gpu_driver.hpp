// NVIDIA's driver interface, opened when it is needed: memory, modules, launches, events. So that
// the program needs no CUDA, nothing here includes its headers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>

namespace eyeroof::analysis::tune {

// An error code of the CUDA driver, by name: "CUDA_ERROR_ILLEGAL_ADDRESS".
class DriverError : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

struct DriverCalls; // its functions

// One device with its primary context. Every call but the destructor throws DriverError.
class GpuDriver {
  public:
    // Throws DriverError: the library is not there or too old, there is no such device.
    GpuDriver(const std::string& library, int device);
    ~GpuDriver();
    GpuDriver(const GpuDriver&) = delete;
    GpuDriver& operator=(const GpuDriver&) = delete;

    std::string name() const;
    int attribute(int which) const; // a CUdevice_attribute
    int version() const;            // of CUDA: 12040

    using Address = std::uint64_t;
    Address allocate(std::size_t bytes);
    void upload(Address to, const void* from, std::size_t bytes);
    void download(void* to, Address from, std::size_t bytes);
    void fill(Address to, std::uint32_t word, std::size_t words); // in order with launches

    void* load(const std::string& image, const char* kernel);
    void allow_shared(void* function, int bytes);
    // Two dimensions of CTAs, one of threads; one argument of any size.
    void launch(void* function, unsigned ctas, unsigned parts, unsigned threads, unsigned shared,
                void* argument);
    void wait();
    // Seconds between the beginning and the end of what `work` enqueues.
    template <class Work> double timed(Work&& work) {
        begin_event();
        work();
        return end_event();
    }

  private:
    void begin_event();
    double end_event();
    void check(int status, const char* call) const;

    DriverCalls* calls_ = nullptr;
    int device_ = 0;
    void* begin_ = nullptr;
    void* end_ = nullptr;
};

} // namespace eyeroof::analysis::tune
