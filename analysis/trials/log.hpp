// Logs of trials: JSON lines, one per trial, each on disk before the next trial begins.
// Written by `eyeroof tune`; read to resume, to learn from, to draw, and by `exam --tuned`.
#pragma once

#include "analysis/trials/cpu_machine.hpp"
#include "analysis/trials/gpu_machine.hpp"
#include "analysis/trials/search_task.hpp"
#include "analysis/trials/workload.hpp"
#include "base/result.hpp"

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace eyeroof::analysis::tune {

inline constexpr const char* kTrialSchema = "eyeroof/trial/1";

// Where a trial was measured, and by what.
struct TrialOrigin {
    std::string target; // "cpu", "gpu", "model"
    std::string machine;
    int cores = 0;
    Count l1_bytes = 0, l2_bytes = 0, l3_bytes = 0;
    int lanes = 0, registers = 0;
    std::string compiler, flags;
    std::string date;    // UTC, ISO 8601
    std::string command; // strategy, features, loss, batch: what makes a search repeatable
    std::uint64_t seed = 1;
    std::optional<GpuMachine> gpu; // of GPU templates; its name is `machine`

    bool operator==(const TrialOrigin&) const = default;
};

// One line. Knobs by name, so that a template can grow new ones.
struct TrialLine {
    std::string template_name;
    Workload work;
    TrialOrigin origin;
    std::vector<std::pair<std::string, Count>> knobs;
    int round = 0;
    Count trial = 0; // from 0, of its search
    double predicted = 0.0;
    double at_s = 0.0;
    Outcome outcome;

    bool operator==(const TrialLine&) const = default;
};

// The processor that a line was measured on, as far as features need it.
CpuMachine machine_of(const TrialOrigin& origin);

std::string trial_text(const TrialLine& line); // with its line break

// The lines of a text. Errors, all at once with their place: "bad-json", "bad-trial" (a key is
// missing or of the wrong kind, a number is none that can be), "unknown-schema". A last line
// without line break is dropped with the warning "half-a-line".
Result<std::vector<TrialLine>> parse_trials(std::string_view text, const std::string& file);
Result<std::vector<TrialLine>> load_trials(const std::filesystem::path& path);

// A point's knobs by name.
std::vector<std::pair<std::string, Count>> knobs_of(const Space& space, const Point& point);
// The point that a line's knobs name; none when the space has not all of them, or other ones.
std::optional<Point> point_of(const Space& space, const TrialLine& line);
TrialLine line_of(const SearchTask& search_task, const Workload& work, const TrialOrigin& origin,
                  const Trial& trial, Count number);

// What a line was a trial of: the template's space and closed form for the machine that the line
// tells. Nothing for templates that are not known here.
std::optional<SearchTask> search_task_of(const TrialLine& line);

// Lines of several logs, each once (same template, shape, machine, search and number).
std::vector<TrialLine> merged(const std::vector<std::vector<TrialLine>>& logs);

// A log that is being written. One at a time: a second process is refused.
class TrialLog {
  public:
    // Opens or begins a log; half a line at its end is cut off, with the warning "half-a-line".
    // Errors: "cannot-write"; "in-use"; those of parse_trials.
    static Result<TrialLog> open(const std::filesystem::path& path);

    TrialLog(TrialLog&& other) noexcept;
    TrialLog& operator=(TrialLog&&) = delete;
    TrialLog(const TrialLog&) = delete;
    TrialLog& operator=(const TrialLog&) = delete;
    ~TrialLog();

    const std::vector<TrialLine>& before() const { return before_; } // what was there
    // One write, then to the disk. Error "cannot-write"; what had been written of the line is cut
    // off again.
    Result<Done> append(const TrialLine& line);

  private:
    TrialLog() = default;

    std::filesystem::path path_;
    int file_ = -1;
    std::vector<TrialLine> before_;
};

} // namespace eyeroof::analysis::tune
