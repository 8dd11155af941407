#include "analysis/exam/host_speed.hpp"

#include "analysis/exam/run.hpp"

#include <fmt/format.h>

#include <cmath>

namespace eyeroof::analysis {

namespace {

constexpr double kSlowest = 0.001;
constexpr double kFastest = 1000.0;
constexpr double kMostOnDevice = 0.7;
constexpr double kApart = 1.15;

// The step's time falls with the host's speed: bisection on its logarithm.
class Seeker {
  public:
    Seeker(const Question& question, const std::stop_token& stop)
        : question_(question), stop_(stop) {}

    Result<double> time_at(double speed) {
        question_.scenario.host_speed = speed;
        const auto report = run(question_, stop_);
        return report ? Result<double>(report->total.time_s) : Result<double>(report.diagnostics());
    }

    double speed_of(double seconds) {
        constexpr int kRounds = 40;
        double low = kSlowest;
        double high = kFastest;
        for (int i = 0; i < kRounds; ++i) {
            const double middle = std::sqrt(low * high);
            const auto time = time_at(middle);
            (time && *time > seconds ? low : high) = middle;
        }
        return std::sqrt(low * high);
    }

  private:
    Question question_;
    std::stop_token stop_;
};

} // namespace

Result<HostSpeed> infer_host_speed(const Question& question, double measured_s,
                                   const std::stop_token& stop) {
    const auto* gpu = std::get_if<model::Gpu>(&question.machine.kind);
    if (gpu == nullptr || gpu->arch == model::GpuArch::host) {
        return Result<HostSpeed>::failure("not-a-gpu", "a host launches the kernels of a GPU",
                                          "`eyeroof hw list` has the GPUs");
    }
    Seeker seeker(question, stop);
    const auto at_once = seeker.time_at(kFastest);
    if (!at_once) {
        return at_once.diagnostics();
    }
    if (*at_once > kMostOnDevice * measured_s) {
        return Result<HostSpeed>::failure(
            "not-host-bound",
            fmt::format("{:.3g} us of {:.3g} us are the device's, so the host does not show",
                        *at_once * 1e6, measured_s * 1e6),
            "measure a smaller program, such as one activation of a thousand elements");
    }
    return HostSpeed{seeker.speed_of(measured_s), seeker.speed_of(measured_s * kApart),
                     seeker.speed_of(measured_s / kApart), *at_once};
}

} // namespace eyeroof::analysis
