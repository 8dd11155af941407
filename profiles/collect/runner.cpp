#include "profiles/collect/runner.hpp"

#include "base/file.hpp"
#include "base/terminal_process.hpp"
#include "profiles/collect/collector.hpp"
#include "profiles/collect/work_folder.hpp"
#include "profiles/import/importer.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <sstream>

namespace eyeroof::profiles {

namespace {

namespace fs = std::filesystem;

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
    Diagnostics found;
};

// The files that the processes of one pass left in the folder, by process number. Others than the
// token's are nothing of this run.
std::vector<fs::path> outputs_of(const fs::path& folder, const std::string& begin) {
    std::vector<fs::path> files;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(folder, error)) {
        struct stat found {};
        const bool ours = ::lstat(entry.path().c_str(), &found) == 0 && S_ISREG(found.st_mode) &&
                          found.st_uid == ::geteuid();
        if (ours && entry.path().filename().string().starts_with(begin)) {
            files.push_back(entry.path());
        }
    }
    std::ranges::sort(files);
    return files;
}

Pass collect_outputs(const std::vector<fs::path>& files) {
    Pass pass;
    std::error_code error;
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
            Diagnostic copy = diagnostic;
            copy.severity = Severity::warning;
            pass.found.add(std::move(copy));
        }
        if (profile && !profile->launches.empty()) {
            order_by_correlation(*profile);
            pass.processes.push_back(std::move(*profile));
        }
    }
    return pass;
}

// A pipe, a file or a socket: what one pass has read, the next cannot read again.
bool stdin_holds_data() {
    struct stat found {};
    return ::fstat(STDIN_FILENO, &found) == 0 && !S_ISCHR(found.st_mode);
}

class Runner {
  public:
    Runner(const RunnerOptions& options, std::stop_token stop, const ProgressCallback& progress,
           ProgramEnd& end)
        : options_(options), stop_(std::move(stop)), progress_(progress), end_(end) {}

    Result<Profile> run() {
        Pass times;
        Pass counters;
        if (options_.timing && !run_pass("timing", 0.0, times)) {
            return Result<Profile>(std::move(found_));
        }
        const bool go_on = !end_.cancelled || !options_.timing;
        if (options_.counters && go_on && !run_pass("counters", 0.5, counters)) {
            return Result<Profile>(std::move(found_));
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
        request.token = token_;
        const std::string begin = mode + "-" + token_;
        const fs::path file = options_.folder / (begin + ".request");
        if (!write_request(request, file)) {
            return false;
        }
        const ChildCommand command{options_.command,
                                   {{kRequestVariable, file.string()},
                                    {"CUDA_INJECTION64_PATH", options_.inject_library},
                                    {"NVTX_INJECTION64_PATH", options_.inject_library}},
                                   first_pass_done_};
        if (first_pass_done_ && stdin_holds_data()) {
            found_.warning("stdin-once",
                           fmt::format("the {} pass ran with an empty stdin: the first pass has "
                                       "read it",
                                       mode),
                           "let the program read a file, or collect --timing-only");
        }
        const ChildEnd ended = run_in_terminal(command, stop_, stop_plan(begin + "-"));
        end_.status = end_.status == 0 ? ended.status : end_.status;
        end_.cancelled = end_.cancelled || ended.cancelled;
        if (!ended.started) {
            found_.error(
                "cannot-run",
                fmt::format("'{}' cannot be started: {}", options_.command.front(), ended.why),
                "give its path as a shell would run it, after --");
            return false;
        }
        first_pass_done_ = true;
        pass = collect_outputs(outputs_of(options_.folder, begin + "-"));
        found_.append(pass.found);
        return judge(mode, ended, pass);
    }

    // A program that has measured something gets time to write it.
    StopPlan stop_plan(const std::string& begin) const {
        StopPlan plan;
        plan.signal = options_.stop_signal;
        plan.has_results = [this, begin] {
            return std::ranges::any_of(outputs_of(options_.folder, begin), [](auto& output) {
                std::error_code error;
                return fs::file_size(output, error) > 0 && !error;
            });
        };
        return plan;
    }

    bool write_request(const CollectRequest& request, const fs::path& file) {
        if (!is_private_folder(options_.folder)) {
            found_.error(
                "unsafe-folder",
                fmt::format("'{}' is not a folder of yours alone", options_.folder.string()),
                "the program would load what others put there");
            return false;
        }
        const auto written = write_file(file, request_text(request));
        if (!written || ::chmod(file.c_str(), S_IRUSR | S_IWUSR) != 0) {
            found_.append(written.diagnostics());
            if (!found_.has_errors()) {
                found_.error("cannot-write", fmt::format("cannot write '{}'", file.string()),
                             "is the temporary directory (TMPDIR) full or not writable?");
            }
            return false;
        }
        return true;
    }

    // A pass that measured something counts, however the program ended.
    bool judge(const std::string& mode, const ChildEnd& ended, const Pass& pass) {
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
                Diagnostic diagnostic = diagnostic_of(fault);
                diagnostic.severity = Severity::warning;
                found_.add(std::move(diagnostic));
            }
            return true;
        }
        found_.add(diagnostic_of(pass.faults.empty() ? BackendFault{Fault::never_used, 0, {}}
                                                     : pass.faults.front()));
        return false;
    }

    Result<Profile> put_together(Pass times, Pass counters) {
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
            auto pair = i < counters.size()
                            ? join_runs(timed, counters[i])
                            : Result<Profile>::failure("runs-differ",
                                                       "the other run had fewer "
                                                       "processes",
                                                       "a program that starts processes by chance "
                                                       "cannot be joined; profile one of them");
            if (pair) {
                pair->run = counters[i].run;
                joined.push_back(std::move(*pair));
                continue;
            }
            for (Diagnostic diagnostic : pair.diagnostics()) {
                diagnostic.severity = Severity::warning;
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
    const ProgressCallback& progress_;
    ProgramEnd& end_;
    const std::string token_ = random_token();
    bool first_pass_done_ = false;
    Diagnostics found_;
};

} // namespace

Result<Profile> profile_program(const RunnerOptions& options, std::stop_token stop,
                                const ProgressCallback& progress, ProgramEnd* end) {
    if (options.command.empty()) {
        return Result<Profile>::failure("usage", "no program was given",
                                        "as in eyeroof profile -- ./program its arguments");
    }
    ProgramEnd unasked;
    return Runner(options, std::move(stop), progress, end == nullptr ? unasked : *end).run();
}

} // namespace eyeroof::profiles
