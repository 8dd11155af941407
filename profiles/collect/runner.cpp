#include "profiles/collect/runner.hpp"

#include "profiles/collect/collector.hpp"
#include "profiles/import/importer.hpp"

#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>
#include <sstream>
#include <thread>

namespace eyeroof::profiles {

namespace {

namespace fs = std::filesystem;

struct Ended {
    bool started = false;
    std::string why; // why it did not start
    int status = 0;  // exit status, or 128 + signal
    bool cancelled = false;
};

// The caller's environment with these variables set or replaced.
class ChildEnvironment {
  public:
    explicit ChildEnvironment(const std::vector<std::pair<std::string, std::string>>& set) {
        for (char** entry = ::environ; *entry != nullptr; ++entry) {
            const std::string_view text = *entry;
            const auto replaced = [&](const auto& pair) {
                return text.starts_with(pair.first + "=");
            };
            if (std::ranges::none_of(set, replaced)) {
                texts_.emplace_back(text);
            }
        }
        for (const auto& [name, value] : set) {
            texts_.push_back(name + "=" + value);
        }
        for (std::string& text : texts_) {
            pointers_.push_back(text.data());
        }
        pointers_.push_back(nullptr);
    }
    char* const* get() const { return pointers_.data(); }

  private:
    std::vector<std::string> texts_;
    std::vector<char*> pointers_;
};

// Waits; on a stop request the program is asked to end, so that its collector can still write.
Ended wait_for(pid_t child, const std::stop_token& stop) {
    constexpr auto kPoll = std::chrono::milliseconds(20);
    Ended ended;
    ended.started = true;
    int status = 0;
    bool asked = false;
    for (;;) {
        const pid_t got = waitpid(child, &status, WNOHANG);
        if (got == child || (got < 0 && errno != EINTR)) {
            break;
        }
        if (stop.stop_requested() && !asked) {
            kill(child, SIGINT);
            asked = true;
        }
        std::this_thread::sleep_for(kPoll);
    }
    ended.cancelled = asked;
    constexpr int kSignalBase = 128;
    ended.status = WIFSIGNALED(status) ? kSignalBase + WTERMSIG(status) : WEXITSTATUS(status);
    return ended;
}

Ended run_program(const std::vector<std::string>& command, const ChildEnvironment& environment,
                  const std::stop_token& stop) {
    std::vector<std::string> words = command;
    std::vector<char*> arguments;
    for (std::string& word : words) {
        arguments.push_back(word.data());
    }
    arguments.push_back(nullptr);
    pid_t child = 0;
    const int code =
        posix_spawnp(&child, arguments[0], nullptr, nullptr, arguments.data(), environment.get());
    if (code != 0) {
        Ended ended;
        ended.why = std::strerror(code);
        return ended;
    }
    return wait_for(child, stop);
}

std::string text_of(const fs::path& path) {
    std::ostringstream text;
    text << std::ifstream(path, std::ios::binary).rdbuf();
    return std::move(text).str();
}

// The timing pass writes records as the device finishes them; the launch order is the
// correlation's.
void order_by_correlation(Profile& profile) {
    const auto correlation = [](const Launch& launch) {
        const auto it = launch.counters.find("correlation");
        return it == launch.counters.end() ? 0.0 : it->second;
    };
    std::ranges::stable_sort(profile.launches, {}, correlation);
    for (Launch& launch : profile.launches) {
        launch.counters.erase("correlation");
    }
}

struct Pass {
    std::vector<Profile> processes;
    std::vector<BackendFault> faults;
    model::Diagnostics found;
};

// What the processes of one pass left in the folder, by process number.
Pass collect_outputs(const fs::path& folder, const std::string& mode) {
    Pass pass;
    std::vector<fs::path> files;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(folder, error)) {
        if (entry.path().filename().string().starts_with(mode + "-")) {
            files.push_back(entry.path());
        }
    }
    std::ranges::sort(files);
    for (const fs::path& file : files) {
        if (file.extension() == ".fault") {
            const auto fault = fault_from_text(text_of(file));
            pass.faults.push_back(
                fault.value_or(BackendFault{Fault::internal, 0, "unreadable fault"}));
            continue;
        }
        if (fs::file_size(file, error) == 0) {
            continue; // the process ended before it collected anything
        }
        auto profile = import_file(file.string());
        for (const auto& diagnostic : profile.diagnostics()) {
            model::Diagnostic copy = diagnostic;
            copy.severity = model::Severity::warning;
            pass.found.add(std::move(copy));
        }
        if (profile && !profile->launches.empty()) {
            order_by_correlation(*profile);
            pass.processes.push_back(std::move(*profile));
        }
    }
    return pass;
}

class Runner {
  public:
    Runner(const RunnerOptions& options, std::stop_token stop,
           const model::ProgressCallback& progress)
        : options_(options), stop_(std::move(stop)), progress_(progress) {}

    model::Result<Profile> run() {
        Pass times;
        Pass counters;
        if (options_.timing && !run_pass("timing", 0.0, times)) {
            return model::Result<Profile>(std::move(found_));
        }
        if (options_.counters && !run_pass("counters", 0.5, counters)) {
            return model::Result<Profile>(std::move(found_));
        }
        return put_together(std::move(times), std::move(counters));
    }

  private:
    bool run_pass(const std::string& mode, double fraction, Pass& pass) {
        if (progress_) {
            progress_({fraction, mode + " pass: " + options_.command.front()});
        }
        CollectRequest request = options_.request;
        request.mode = mode;
        request.folder = options_.folder.string();
        const fs::path file = options_.folder / (mode + ".request");
        std::ofstream(file) << request_text(request);
        const ChildEnvironment environment({{kRequestVariable, file.string()},
                                            {"CUDA_INJECTION64_PATH", options_.inject_library},
                                            {"NVTX_INJECTION64_PATH", options_.inject_library}});
        const Ended ended = run_program(options_.command, environment, stop_);
        if (!ended.started) {
            found_.error("cannot-run", fmt::format("'{}' cannot be started: {}",
                                                   options_.command.front(), ended.why));
            return false;
        }
        pass = collect_outputs(options_.folder, mode);
        found_.append(pass.found);
        return judge(mode, ended, pass);
    }

    // A pass that measured something counts, however the program ended.
    bool judge(const std::string& mode, const Ended& ended, const Pass& pass) {
        if (ended.cancelled && pass.processes.empty()) {
            found_.error("cancelled", "the measurement was cancelled");
            return false;
        }
        if (ended.status != 0 || ended.cancelled) {
            found_.warning(
                "program-failed",
                fmt::format("the program ended with status {} in the {} pass", ended.status, mode),
                "what was measured until then is kept");
        }
        if (!pass.processes.empty()) {
            for (const BackendFault& fault : pass.faults) {
                model::Diagnostic diagnostic = diagnostic_of(fault);
                diagnostic.severity = model::Severity::warning;
                found_.add(std::move(diagnostic));
            }
            return true;
        }
        found_.add(diagnostic_of(pass.faults.empty() ? BackendFault{Fault::never_used, 0, {}}
                                                     : pass.faults.front()));
        return false;
    }

    model::Result<Profile> put_together(Pass times, Pass counters) {
        std::vector<Profile> joined;
        const bool both = !times.processes.empty() && !counters.processes.empty();
        if (!both) {
            joined = times.processes.empty() ? std::move(counters.processes)
                                             : std::move(times.processes);
        } else {
            join_processes(times.processes, counters.processes, joined);
        }
        auto all = merge(joined);
        if (!all) {
            return all;
        }
        found_.append(all.diagnostics());
        RunInfo& run = all->run;
        run.date = options_.date;
        run.command = fmt::format("{}", fmt::join(options_.command, " "));
        return {std::move(*all), std::move(found_)};
    }

    // Process i of one run is process i of the other, in the order of their numbers.
    void join_processes(std::vector<Profile>& times, std::vector<Profile>& counters,
                        std::vector<Profile>& joined) {
        for (std::size_t i = 0; i < times.size(); ++i) {
            auto filtered = filter(times[i], options_.request.filter);
            const Profile& timed = filtered ? *filtered : times[i];
            auto pair =
                i < counters.size()
                    ? join_runs(timed, counters[i])
                    : model::Result<Profile>::failure("runs-differ", "the other run had fewer "
                                                                     "processes");
            if (pair) {
                pair->run = counters[i].run;
                joined.push_back(std::move(*pair));
                continue;
            }
            for (model::Diagnostic diagnostic : pair.diagnostics()) {
                diagnostic.severity = model::Severity::warning;
                found_.add(std::move(diagnostic));
            }
            joined.push_back(timed); // both, side by side: neither is thrown away
            if (i < counters.size()) {
                joined.push_back(std::move(counters[i]));
            }
        }
    }

    const RunnerOptions& options_;
    std::stop_token stop_;
    const model::ProgressCallback& progress_;
    model::Diagnostics found_;
};

} // namespace

model::Result<Profile> profile_program(const RunnerOptions& options, std::stop_token stop,
                                       const model::ProgressCallback& progress) {
    if (options.command.empty()) {
        return model::Result<Profile>::failure("usage", "no program was given");
    }
    return Runner(options, std::move(stop), progress).run();
}

} // namespace eyeroof::profiles
