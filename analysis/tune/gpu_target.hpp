// Measures candidates on a GPU: compiled by NVRTC, loaded and timed through the driver, each in a
// process of its own, so that what a kernel breaks ends with it. Needs CUDA neither to be built nor
// to be refused.
#pragma once

#include "analysis/trials/gpu_plan.hpp"
#include "analysis/tune/gpu_data.hpp"
#include "analysis/tune/outcome.hpp"

#include <memory>
#include <stop_token>

namespace eyeroof::analysis::tune {

struct GpuOptions {
    std::string driver = "libcuda.so.1";
    std::string nvrtc; // empty: found by its usual names
    int device = 0;
    std::vector<std::string> flags; // of NVRTC
    double time_s = 0.25;           // for the repeats of one candidate, at most
    double limit_s = 20.0;          // for a candidate to be compiled and to end
    Statistic statistic = Statistic::median;
    // Replaces a candidate's source, for tests of what goes wrong.
    std::function<std::string(const GpuPlan&)> source = {};
};

class GpuSession {
  public:
    // Errors: "unavailable": no driver, no GPU (or one before compute capability 7.0), no NVRTC.
    static Result<std::unique_ptr<GpuSession>> open(const GpuOptions& options,
                                                    std::stop_token stop = {});

    const GpuMachine& machine() const { return machine_; }
    const std::string& compiler() const { return compiler_; } // "NVRTC 12.4, driver 12.8"
    const std::string& flags() const { return flags_; }

    // No process runs beyond this moment; a candidate that is ended by it counts as "stopped".
    void end_by(Deadline deadline) { deadline_ = deadline; }

    // Computes the workload's result once, on this host. Errors "cancelled" and "time-limit". The
    // session and the space must outlive the target.
    Result<std::unique_ptr<Target>> target(const Workload& work, const Space& space);

    // Repeats until half the range between the quartiles over the root of their number is below
    // 0.5 % of the median, by events around enough launches for 50 us; what split_k adds up is
    // cleared within. Operands stay where they are: they may lie in L2.
    Outcome measure(const GpuPlan& plan, const GpuData& data);

  private:
    GpuSession(GpuOptions options, std::stop_token stop)
        : options_(std::move(options)), stop_(std::move(stop)) {}

    GpuOptions options_;
    std::stop_token stop_;
    Deadline deadline_;
    GpuMachine machine_;
    std::string compiler_, flags_;
};

} // namespace eyeroof::analysis::tune
