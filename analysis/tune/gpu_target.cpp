#include "analysis/tune/gpu_target.hpp"

#include "analysis/tune/gpu_source.hpp"
#include "analysis/tune/gpu_worker.hpp"
#include "analysis/tune/nvrtc.hpp"
#include "base/printable.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <map>

namespace eyeroof::analysis::tune {

namespace {

using Facts = std::map<std::string, std::string>;

Facts facts_of(const std::string& output) {
    Facts facts;
    for (std::size_t at = 0; at < output.size();) {
        const std::string line = first_line(output.substr(at));
        const std::size_t gap = line.find(' ');
        if (gap != std::string::npos) {
            facts[line.substr(0, gap)] = line.substr(gap + 1);
        }
        at += line.size() + 1;
    }
    return facts;
}

// The keys are CUdevice_attribute numbers: gpu_worker.cpp names them.
GpuMachine machine_from(const Facts& facts) {
    const auto number = [&](const char* key) {
        const auto at = facts.find(key);
        return at == facts.end() ? 0.0 : std::max(0.0, std::atof(at->second.c_str()));
    };
    const auto set = [](auto& to, double value) {
        if (value > 0.0) {
            to = static_cast<std::decay_t<decltype(to)>>(value);
        }
    };
    GpuMachine machine;
    machine = with_limits_of(static_cast<int>(10 * number("75") + number("76")), machine);
    machine.name = facts.contains("name") ? facts.at("name") : "GPU";
    set(machine.clock_hz, 1e3 * number("13"));
    set(machine.sms, number("16"));
    set(machine.l2_bytes, number("38"));
    set(machine.max_threads, number("39"));
    set(machine.sm_shared_bytes, number("81"));
    set(machine.registers, number("82"));
    set(machine.cta_shared_bytes, number("97"));
    set(machine.max_ctas, number("106"));
    set(machine.dram_bytes_per_s, 2e3 * number("36") * number("37") / 8.0); // two bits a clock
    constexpr double kPort = 32.0; // bytes a cycle of an SM from L2, usual
    machine.l2_bytes_per_s = kPort * machine.sms * machine.clock_hz;
    return machine;
}

class GpuTarget final : public Target {
  public:
    GpuTarget(GpuSession& session, GpuData data, const Space& space)
        : session_(session), data_(std::move(data)), space_(space) {}
    Outcome measure(const Point& point) override {
        return session_.measure(gpu_plan(space_, point, data_.work, session_.machine()), data_);
    }

  private:
    GpuSession& session_;
    GpuData data_;
    const Space& space_;
};

} // namespace

Result<std::unique_ptr<GpuSession>> GpuSession::open(const GpuOptions& options,
                                                     std::stop_token stop) {
    using Made = Result<std::unique_ptr<GpuSession>>;
    std::unique_ptr<GpuSession> session(new GpuSession(options, std::move(stop)));
    const ProcessEnd end = run_forked([&](int file) { return tell_device(options, file); },
                                      options.limit_s, session->stop_);
    if (end.stopped) {
        return Made::failure("cancelled", "stopped before the first trial");
    }
    const Facts facts = facts_of(end.output);
    if (!end.ok()) {
        return Made::failure(
            "unavailable",
            fmt::format("--target gpu needs an NVIDIA GPU here: {}",
                        facts.contains("failed") ? facts.at("failed")
                        : end.timed_out          ? std::string("the driver does not answer")
                        : end.signal != 0        ? "the driver ended: " + signal_text(end.signal)
                                                 : std::string("the driver does not start")),
            "tune on the processor (--target cpu), or on a computed GPU: --target model --on "
            "a100-sxm-80gb");
    }
    session->machine_ = machine_from(facts);
    constexpr int kOldest = 70;
    if (session->machine_.capability < kOldest) {
        return Made::failure("unavailable",
                             fmt::format("'{}' has compute capability {}.{}; the template is for "
                                         "7.0 and later",
                                         session->machine_.name, session->machine_.capability / 10,
                                         session->machine_.capability % 10),
                             "choose another GPU with --gpu");
    }
    const auto nvrtc = Nvrtc::open(options.nvrtc);
    if (!nvrtc) {
        return Made(nvrtc.diagnostics());
    }
    const int driver = facts.contains("driver") ? std::atoi(facts.at("driver").c_str()) : 0;
    session->compiler_ =
        fmt::format("{}, driver {}.{}", nvrtc->version(), driver / 1000, driver % 1000 / 10);
    session->flags_ = fmt::format("{}", fmt::join(options.flags, " "));
    return session;
}

Result<std::unique_ptr<Target>> GpuSession::target(const Workload& work, const Space& space) {
    using Made = Result<std::unique_ptr<Target>>;
    const double limit_s = seconds_left(options_.limit_s, deadline_);
    const auto start = std::chrono::steady_clock::now();
    const auto spent = [&] {
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    };
    auto data = gpu_data(work, [&] { return stop_.stop_requested() || spent() > limit_s; });
    if (!data && !stop_.stop_requested()) {
        return Made::failure("time-limit",
                             fmt::format("the reference result of '{}' takes longer than {:.3g} s",
                                         printable(work.name), limit_s),
                             "raise --limit and --time-limit, or take a smaller layer");
    }
    return data ? Made(std::make_unique<GpuTarget>(*this, *std::move(data), space))
                : Made(data.diagnostics());
}

Outcome GpuSession::measure(const GpuPlan& plan, const GpuData& data) {
    const std::string source = options_.source ? options_.source(plan) : gpu_source(plan);
    ProcessEnd end = run_forked(
        [&](int file) {
            return run_candidate(options_, machine_.capability, source, plan, data, file);
        },
        seconds_left(options_.limit_s, deadline_), stop_);
    end.stopped = end.stopped || (end.timed_out && is_over(deadline_));
    return outcome_of(end, options_.statistic);
}

} // namespace eyeroof::analysis::tune
