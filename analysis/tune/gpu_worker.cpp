#include "analysis/tune/gpu_worker.hpp"

#include "analysis/tune/gpu_driver.hpp"
#include "analysis/tune/gpu_source.hpp"
#include "analysis/tune/nvrtc.hpp"
#include "base/statistics.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>

namespace eyeroof::analysis::tune {

namespace {

constexpr std::size_t kGuard = 1024; // floats around the result that no one may write
constexpr float kUntouched = -12345.0F;

void say(int file, const std::string& line) {
    const std::string text = line + "\n";
    if (::write(file, text.data(), text.size()) < 0) {
        ::_exit(1); // the reader is gone
    }
}

// A CUdevice_attribute's number.
enum Attribute {
    kClockKhz = 13,
    kSms = 16,
    kMemoryKhz = 36,
    kMemoryBits = 37,
    kL2Bytes = 38,
    kThreadsOfSm = 39,
    kMajor = 75,
    kMinor = 76,
    kSharedOfSm = 81,
    kRegistersOfSm = 82,
    kSharedOfCta = 97,
    kCtasOfSm = 106
};

// A workload's operands on the device, its result between guards.
class Bench {
  public:
    Bench(GpuDriver& driver, const GpuData& data) : driver_(driver), data_(data) {
        args_.in = given(data.in);
        args_.w = given(data.w);
        args_.pixel = given(data.pixel);
        guarded_.assign(data.wanted.size() + 2 * kGuard, kUntouched);
        out_ = given(guarded_);
        args_.out = out_ + kGuard * sizeof(float);
        const Workload& work = data.work;
        args_.rows = static_cast<std::int32_t>(work.rows);
        args_.cols = static_cast<std::int32_t>(work.cols);
        args_.depth = static_cast<std::int32_t>(work.depth);
        args_.total = static_cast<std::int32_t>(work.depth * work.taps());
        args_.taps_w = static_cast<std::int32_t>(work.taps_w);
        args_.step_r = data.step_r();
        args_.step_s = data.step_s();
    }

    void run(void* kernel, const GpuPlan& plan) {
        if (plan.split_k > 1) {
            driver_.fill(args_.out, 0, data_.wanted.size());
        }
        const GpuGrid grid = gpu_grid(plan, data_.work.rows, data_.work.cols);
        driver_.launch(kernel, static_cast<unsigned>(grid.ctas), static_cast<unsigned>(grid.parts),
                       static_cast<unsigned>(plan.threads()),
                       static_cast<unsigned>(plan.shared_bytes()), &args_);
    }

    // Empty, or what is wrong with the result.
    std::string checked() {
        driver_.download(guarded_.data(), out_, guarded_.size() * sizeof(float));
        for (std::size_t i = 0; i < data_.wanted.size(); ++i) {
            if (guarded_[kGuard + i] != data_.wanted[i]) {
                return fmt::format("element {} is {:.9g}, not {:.9g}", i, guarded_[kGuard + i],
                                   data_.wanted[i]);
            }
        }
        const auto touched = [](float value) { return value != kUntouched; };
        const auto guard = static_cast<std::ptrdiff_t>(kGuard);
        const bool beyond = std::any_of(guarded_.begin(), guarded_.begin() + guard, touched) ||
                            std::any_of(guarded_.end() - guard, guarded_.end(), touched);
        return beyond ? "it writes beyond the result" : "";
    }

  private:
    template <class T> GpuDriver::Address given(const std::vector<T>& values) {
        const auto at = driver_.allocate(values.size() * sizeof(T));
        driver_.upload(at, values.data(), values.size() * sizeof(T));
        return at;
    }

    GpuDriver& driver_;
    const GpuData& data_;
    GpuArgs args_;
    std::vector<float> guarded_;
    GpuDriver::Address out_ = 0;
};

double doubt(std::vector<double> times) {
    std::sort(times.begin(), times.end());
    const std::size_t n = times.size();
    return 0.5 * (times[3 * n / 4] - times[n / 4]) / std::sqrt(static_cast<double>(n)) /
           times[n / 2];
}

std::vector<double> times_of(GpuDriver& driver, Bench& bench, void* kernel, const GpuPlan& plan,
                             double most_s) {
    using Clock = std::chrono::steady_clock;
    const auto start = Clock::now();
    const double once = driver.timed([&] { bench.run(kernel, plan); });
    constexpr double kLeast_s = 50e-6, kShortest_s = 1e-9;
    const int launches = std::max(1, static_cast<int>(kLeast_s / std::max(once, kShortest_s)));
    std::vector<double> times;
    const auto spent = [&] { return std::chrono::duration<double>(Clock::now() - start).count(); };
    while (times.size() < 3 ||
           (times.size() < 100 && spent() < most_s && (times.size() < 7 || doubt(times) > 0.005))) {
        const double seconds = driver.timed([&] {
            for (int i = 0; i < launches; ++i) {
                bench.run(kernel, plan);
            }
        });
        times.push_back(std::max(seconds / launches, kShortest_s));
    }
    return times;
}

std::string checked_on(GpuDriver& driver, Bench& bench, void* kernel, const GpuPlan& plan) {
    bench.run(kernel, plan);
    driver.wait();
    return bench.checked();
}

void measure_loaded(GpuDriver& driver, void* kernel, const GpuPlan& plan, const GpuData& data,
                    double time_s, int file) {
    constexpr int kUsualShared = 48 << 10;
    if (plan.shared_bytes() > kUsualShared) {
        driver.allow_shared(kernel, static_cast<int>(plan.shared_bytes()));
    }
    const auto odd_data = gpu_data(odd_workload(data.work, plan));
    Bench odd(driver, *odd_data);
    if (const std::string wrong = checked_on(driver, odd, kernel, plan); !wrong.empty()) {
        say(file, "wrong on an odd size: " + wrong);
        return;
    }
    Bench bench(driver, data);
    if (const std::string wrong = checked_on(driver, bench, kernel, plan); !wrong.empty()) {
        say(file, "wrong: " + wrong);
        return;
    }
    std::string line = "times";
    for (const double time : times_of(driver, bench, kernel, plan, time_s)) {
        line += fmt::format(" {:.9g}", time);
    }
    say(file, line);
}

} // namespace

int tell_device(const GpuOptions& options, int file) {
    try {
        const GpuDriver driver(options.driver, options.device);
        say(file, "name " + driver.name());
        say(file, fmt::format("driver {}", driver.version()));
        for (const int which :
             {+kClockKhz, +kSms, +kMemoryKhz, +kMemoryBits, +kL2Bytes, +kThreadsOfSm, +kMajor,
              +kMinor, +kSharedOfSm, +kRegistersOfSm, +kSharedOfCta, +kCtasOfSm}) {
            say(file, fmt::format("{} {}", which, driver.attribute(which)));
        }
        return 0;
    } catch (const std::exception& error) {
        say(file, std::string("failed ") + error.what());
        return 1;
    }
}

int run_candidate(const GpuOptions& options, int capability, const std::string& source,
                  const GpuPlan& plan, const GpuData& data, int file) {
    try {
        const auto nvrtc = Nvrtc::open(options.nvrtc);
        const auto image = nvrtc ? nvrtc->compile(source, capability, options.flags)
                                 : Result<GpuImage>(nvrtc.diagnostics());
        if (!image) {
            say(file, "compile " + image.diagnostics().items().front().message);
            return 0;
        }
        GpuDriver driver(options.driver, options.device);
        void* kernel = driver.load(image->bytes, kGpuKernel);
        measure_loaded(driver, kernel, plan, data, options.time_s, file);
    } catch (const DriverError& error) {
        say(file, std::string("crash ") + error.what());
    } catch (const std::exception& error) {
        say(file, std::string("failed ") + error.what());
    }
    return 0;
}

} // namespace eyeroof::analysis::tune
