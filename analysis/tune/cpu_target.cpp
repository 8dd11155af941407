#include "analysis/tune/cpu_target.hpp"

#include "analysis/tune/cpu_source.hpp"
#include "base/printable.hpp"

#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>

namespace eyeroof::analysis::tune {

namespace {

namespace fs = std::filesystem;

// Where a compiler complains.
std::string complaint(const std::string& text) {
    const std::size_t at = text.find("error:");
    return at == std::string::npos ? first_line(text) : first_line(text.substr(at));
}

// The processors that this process may run on, ascending; none where the kernel does not tell.
std::vector<int> usable_cpus() {
    cpu_set_t set;
    CPU_ZERO(&set);
    std::vector<int> usable;
    for (int cpu = 0; ::sched_getaffinity(0, sizeof set, &set) == 0 && cpu < CPU_SETSIZE; ++cpu) {
        if (CPU_ISSET(cpu, &set)) {
            usable.push_back(cpu);
        }
    }
    return usable;
}

std::vector<std::string> kernel_flags(const CpuPlan& plan) {
    std::vector<std::string> flags = {"-std=c++17", "-shared", "-fPIC", "-w"};
    if (plan.threads > 1) {
        flags.push_back("-fopenmp");
    }
    return flags;
}

class CpuTarget final : public Target {
  public:
    CpuTarget(CpuSession& session, Workload work, const Space& space, std::string reference)
        : session_(session), work_(std::move(work)), space_(space),
          reference_(std::move(reference)) {}
    Outcome measure(const Point& point) override {
        return session_.measure(cpu_plan(space_, point), work_, reference_);
    }

  private:
    CpuSession& session_;
    Workload work_;
    const Space& space_;
    std::string reference_;
};

} // namespace

// The path of what was compiled; empty and an outcome when that failed.
std::string CpuSession::compile(const std::string& text, const std::string& name,
                                const std::vector<std::string>& flags, Outcome& outcome) {
    const fs::path source = folder_.path() / (name + ".cpp");
    const std::string made = (folder_.path() / name).string();
    {
        std::ofstream file(source);
        file << text;
        file.close();
        if (!file) {
            outcome = failed_outcome("failed", "the source cannot be written; is the disk full?");
            return {};
        }
    }
    std::vector<std::string> words = {options_.compiler};
    words.insert(words.end(), options_.flags.begin(), options_.flags.end());
    std::vector<std::string> libraries = {
        "-ldl"}; // a linker looks into them for what stands before
    for (const std::string& flag : flags) {
        (flag.starts_with("-l") ? libraries : words).push_back(flag);
    }
    words.insert(words.end(), {source.string(), "-o", made});
    words.insert(words.end(), libraries.begin(), libraries.end());
    const ProcessEnd end = run(words, options_.compile_limit_s);
    if (end.ok()) {
        return made;
    }
    std::string exhausted;
    for (const int error : {ENOSPC, EMFILE}) {
        exhausted = end.output.find(std::strerror(error)) != std::string::npos
                        ? std::strerror(error)
                        : exhausted;
    }
    outcome = end.stopped     ? failed_outcome("stopped", {})
              : !end.started  ? failed_outcome("failed", "the compiler does not start: " + end.why)
              : end.timed_out ? failed_outcome("timeout", "the compiler took too long")
              : exhausted.empty() ? failed_outcome("compile", complaint(end.output))
                                  : failed_outcome("failed", "the compiler says " + exhausted);
    return {};
}

// A process of the session. One that the deadline ends was asked to stop: it says nothing of what
// ran.
ProcessEnd CpuSession::run(const std::vector<std::string>& words, double limit_s) const {
    ProcessEnd end = run_captured(words, folder_.path(), seconds_left(limit_s, deadline_), stop_);
    if (end.timed_out && is_over(deadline_)) {
        end.timed_out = false;
        end.stopped = true;
    }
    return end;
}

Result<std::unique_ptr<CpuSession>> CpuSession::open(const CpuOptions& options,
                                                     std::stop_token stop) {
    using Made = Result<std::unique_ptr<CpuSession>>;
    const std::vector<int> usable = usable_cpus();
    if (options.cpu >= 0 && std::find(usable.begin(), usable.end(), options.cpu) == usable.end()) {
        return Made::failure("no-such-cpu",
                             fmt::format("processor {} is none that may be used here", options.cpu),
                             fmt::format("there are: {}", fmt::join(usable, ", ")));
    }
    auto folder = profiles::WorkFolder::create();
    if (!folder) {
        return Made(folder.diagnostics());
    }
    std::unique_ptr<CpuSession> session(
        new CpuSession(options, *std::move(folder), std::move(stop))); // private constructor
    const std::vector<std::string> tried = options.compiler.empty()
                                               ? std::vector<std::string>{"c++", "g++", "clang++"}
                                               : std::vector<std::string>{options.compiler};
    Outcome why = failed_outcome("compile", "none was found");
    for (const std::string& compiler : tried) {
        const ProcessEnd version =
            session->run({compiler, "--version"}, session->options_.compile_limit_s);
        if (!version.ok()) {
            why = version.timed_out ? failed_outcome("timeout", "the compiler took too long")
                  : version.stopped ? failed_outcome("stopped", {})
                  : version.started || version.why == std::strerror(ENOENT)
                      ? why
                      : failed_outcome("failed", "no process can be started: " + version.why);
            continue;
        }
        session->options_.compiler = compiler;
        session->toolchain_ = {first_line(version.output),
                               fmt::format("{}", fmt::join(options.flags, " "))};
        if (!session->compile(harness_source(), "harness", {"-std=c++17"}, why).empty()) {
            if (session->options_.cpu < 0) {
                session->options_.cpu = usable.empty() ? -1 : usable.back();
            }
            return session;
        }
        if (why.error != "compile") {
            break; // another compiler meets the same limit
        }
    }
    if (why.error == "stopped") {
        return Made::failure("cancelled", "stopped before the first trial");
    }
    if (why.error == "timeout") {
        return Made::failure(
            "time-limit",
            fmt::format("{} ({:.3g} s)", why.detail, session->options_.compile_limit_s),
            "raise --limit, or name another compiler with --compiler");
    }
    if (why.error == "failed") {
        return Made::failure("cannot-write",
                             fmt::format("nothing can be compiled here: {}", why.detail),
                             "is the disk full, or are too many files open?");
    }
    return Made::failure(
        "unavailable",
        fmt::format("no C++ compiler works here ({}): {}", fmt::join(tried, ", "), why.detail),
        "install g++, or name a compiler with --compiler");
}

Result<std::unique_ptr<Target>> CpuSession::target(const Workload& work, const Space& space) {
    using Made = Result<std::unique_ptr<Target>>;
    const std::string file = (folder_.path() / fmt::format("reference{}", references_++)).string();
    std::vector<std::string> words = {(folder_.path() / "harness").string(), "reference", file};
    for (const std::string& word : harness_shape(work)) {
        words.push_back(word);
    }
    const ProcessEnd end = run(words, options_.limit_s);
    if (end.timed_out || is_over(deadline_)) {
        return Made::failure("time-limit",
                             fmt::format("the reference result of '{}' takes longer than {:.3g} s",
                                         printable(work.name), end.seconds),
                             "raise --limit and --time-limit, or take a smaller layer");
    }
    if (end.stopped) {
        return Made::failure("cancelled", "stopped before the first trial");
    }
    if (!end.ok()) {
        return Made::failure("unavailable",
                             fmt::format("the reference of '{}' cannot be computed: {}",
                                         printable(work.name),
                                         !end.started      ? end.why
                                         : end.signal != 0 ? signal_text(end.signal)
                                                           : end.output),
                             "check free memory and disk space for temporary files");
    }
    return Made(std::make_unique<CpuTarget>(*this, work, space, file));
}

Result<std::string> CpuSession::built(const std::string& text, const std::string& name,
                                      const std::vector<std::string>& flags) {
    Outcome outcome;
    const std::string made = compile(text, name, flags, outcome);
    return made.empty() ? Result<std::string>::failure(outcome.error, outcome.detail)
                        : Result<std::string>(made);
}

Result<std::string> CpuSession::kernel(const CpuPlan& plan, const std::string& name) {
    return built(options_.source ? options_.source(plan) : cpu_source(plan), name,
                 kernel_flags(plan));
}

Outcome CpuSession::measure(const CpuPlan& plan, const Workload& work,
                            const std::string& reference) {
    std::error_code ignored;
    Outcome outcome;
    const std::string kernel = compile(options_.source ? options_.source(plan) : cpu_source(plan),
                                       "candidate", kernel_flags(plan), outcome);
    if (!kernel.empty()) {
        const int cpu = plan.threads > 1 ? -1 : options_.cpu;
        std::vector<std::string> words = {
            (folder_.path() / "harness").string(), "run", kernel, reference, fmt::format("{}", cpu),
            fmt::format("{}", options_.time_s)};
        for (const std::string& word : harness_shape(work)) {
            words.push_back(word);
        }
        outcome = outcome_of(run(words, options_.limit_s), options_.statistic);
    }
    fs::remove(folder_.path() / "candidate", ignored);
    fs::remove(folder_.path() / "candidate.cpp", ignored);
    return outcome;
}

} // namespace eyeroof::analysis::tune
