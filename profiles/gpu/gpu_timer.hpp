// Times work on a stream with events, memory that is freed again, and errors as one fault.
#pragma once

#include "profiles/collect/fault.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <vector>

namespace eyeroof::gpu {

// Thrown inside this library only; its entry turns it into a line of JSON.
struct Failure {
    profiles::BackendFault fault;
};

inline void check(cudaError_t code, const char* call) {
    if (code != cudaSuccess) {
        auto fault = profiles::fault_of_driver(static_cast<int>(code), call);
        if (code == cudaErrorInsufficientDriver) {
            fault.fault = profiles::Fault::driver_mismatch;
        }
        throw Failure{std::move(fault)};
    }
}

class DeviceMemory {
  public:
    explicit DeviceMemory(std::size_t bytes) { check(cudaMalloc(&data_, bytes), "cudaMalloc"); }
    DeviceMemory(const DeviceMemory&) = delete;
    DeviceMemory& operator=(const DeviceMemory&) = delete;
    ~DeviceMemory() { cudaFree(data_); }
    void* get() const { return data_; }

  private:
    void* data_ = nullptr;
};

class PinnedMemory {
  public:
    explicit PinnedMemory(std::size_t bytes) {
        check(cudaMallocHost(&data_, bytes), "cudaMallocHost");
    }
    PinnedMemory(const PinnedMemory&) = delete;
    PinnedMemory& operator=(const PinnedMemory&) = delete;
    ~PinnedMemory() { cudaFreeHost(data_); }
    void* get() const { return data_; }

  private:
    void* data_ = nullptr;
};

// Seconds of one repeat, per trial.
struct Trials {
    std::vector<double> seconds;

    double best() const { return *std::ranges::min_element(seconds); }
    double worst() const { return *std::ranges::max_element(seconds); }
    double median() const {
        std::vector<double> sorted = seconds;
        std::ranges::sort(sorted);
        return sorted[sorted.size() / 2];
    }
};

class Timer {
  public:
    Timer(int trials, double trial_s) : trials_(trials), trial_s_(trial_s) {
        check(cudaStreamCreate(&stream_), "cudaStreamCreate");
        check(cudaEventCreate(&begin_), "cudaEventCreate");
        check(cudaEventCreate(&end_), "cudaEventCreate");
    }
    Timer(const Timer&) = delete;
    Timer& operator=(const Timer&) = delete;
    ~Timer() {
        cudaEventDestroy(begin_);
        cudaEventDestroy(end_);
        cudaStreamDestroy(stream_);
    }

    cudaStream_t stream() const { return stream_; }

    // Device time of `work`, which enqueues on the stream; repeated until a trial lasts trial_s.
    Trials on_device(const std::function<void()>& work) {
        return repeat([&](int repeats) {
            check(cudaEventRecord(begin_, stream_), "cudaEventRecord");
            for (int i = 0; i < repeats; ++i) {
                work();
            }
            check(cudaGetLastError(), "kernel launch");
            check(cudaEventRecord(end_, stream_), "cudaEventRecord");
            check(cudaEventSynchronize(end_), "cudaEventSynchronize");
            float milliseconds = 0.0F;
            check(cudaEventElapsedTime(&milliseconds, begin_, end_), "cudaEventElapsedTime");
            return 1e-3 * static_cast<double>(milliseconds);
        });
    }

    // Host time of `work` repeated, until the stream is empty again.
    Trials on_host(const std::function<void()>& work) {
        return repeat([&](int repeats) {
            check(cudaStreamSynchronize(stream_), "cudaStreamSynchronize");
            const auto begin = std::chrono::steady_clock::now();
            for (int i = 0; i < repeats; ++i) {
                work();
            }
            check(cudaGetLastError(), "kernel launch");
            check(cudaStreamSynchronize(stream_), "cudaStreamSynchronize");
            return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
        });
    }

  private:
    Trials repeat(const std::function<double(int)>& seconds_of) const {
        constexpr int kMostRepeats = 1 << 20;
        seconds_of(1); // compiles, touches memory, wakes clocks
        int repeats = 1;
        for (double s = seconds_of(1); s < trial_s_ && repeats < kMostRepeats;
             s = seconds_of(repeats)) {
            const double growth = std::clamp(1.2 * trial_s_ / std::max(s, 1e-9), 2.0, 64.0);
            repeats = static_cast<int>(std::ceil(repeats * growth));
        }
        Trials trials;
        for (int i = 0; i < trials_; ++i) {
            trials.seconds.push_back(seconds_of(repeats) / repeats);
        }
        return trials;
    }

    int trials_;
    double trial_s_;
    cudaStream_t stream_ = nullptr;
    cudaEvent_t begin_ = nullptr, end_ = nullptr;
};

} // namespace eyeroof::gpu
