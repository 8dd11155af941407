// Measures candidates on this host: compiles, loads and times them, each in a process of its own.
#pragma once

#include "analysis/trials/cpu_plan.hpp"
#include "analysis/trials/tuned.hpp"
#include "analysis/tune/outcome.hpp"
#include "profiles/collect/work_folder.hpp"

#include <stop_token>

namespace eyeroof::analysis::tune {

struct CpuOptions {
    std::string compiler; // empty: the first of c++, g++ and clang++ that runs
    std::vector<std::string> flags = {"-O2", "-march=native"};
    int cpu = -1;          // that candidates are pinned to; -1: the last one this process may use
    double time_s = 0.25;  // for the repeats of one candidate, at most
    double limit_s = 20.0; // for a candidate to end, and for its reference result
    double compile_limit_s = 60.0;
    Statistic statistic = Statistic::median;
    // Replaces a candidate's source, for tests of what goes wrong.
    std::function<std::string(const CpuPlan&)> source = {};
};

// The folder that candidates are built in is private (0700) and removed with the session.
class CpuSession {
  public:
    // Errors: "unavailable" without a compiler that works; "cannot-write" on a full disk;
    // "no-such-cpu"; "time-limit" when the compiler does not end.
    static Result<std::unique_ptr<CpuSession>> open(const CpuOptions& options,
                                                    std::stop_token stop = {});

    const Toolchain& toolchain() const { return toolchain_; }
    const std::filesystem::path& folder() const { return folder_.path(); }
    int cpu() const { return options_.cpu; }

    // No process runs beyond this moment; a candidate that is ended by it counts as "stopped".
    void end_by(Deadline deadline) { deadline_ = deadline; }

    // Computes the workload's reference result once. Errors: "unavailable": not enough memory or
    // disk for it; "time-limit"; "cancelled". The session and the space must outlive the target.
    Result<std::unique_ptr<Target>> target(const Workload& work, const Space& space);

    Outcome measure(const CpuPlan& plan, const Workload& work, const std::string& reference);

    // A file of the session's folder that was compiled from a text. Errors: "compile", "failed",
    // "timeout", "stopped".
    Result<std::string> built(const std::string& text, const std::string& name,
                              const std::vector<std::string>& flags);
    // The same of a candidate's kernel.
    Result<std::string> kernel(const CpuPlan& plan, const std::string& name);
    // A process of the session, which ends with it and by the deadline.
    ProcessEnd run(const std::vector<std::string>& words, double limit_s) const;
    double limit_s() const { return options_.limit_s; }
    Statistic statistic() const { return options_.statistic; }

  private:
    CpuSession(CpuOptions options, profiles::WorkFolder folder, std::stop_token stop)
        : options_(std::move(options)), folder_(std::move(folder)), stop_(std::move(stop)) {}

    std::string compile(const std::string& text, const std::string& name,
                        const std::vector<std::string>& flags, Outcome& outcome);

    CpuOptions options_;
    profiles::WorkFolder folder_;
    std::stop_token stop_;
    Deadline deadline_;
    Toolchain toolchain_;
    int references_ = 0;
};

} // namespace eyeroof::analysis::tune
