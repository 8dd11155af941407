#include "cli/context.hpp"

#include "analysis/scenario/fields.hpp"
#include "base/file.hpp"
#include "base/lines.hpp"
#include "base/printable.hpp"
#include "base/text_file.hpp"
#include "base/told_once.hpp"
#include "cli/asked.hpp"
#include "cli/paint.hpp"

#include <fmt/format.h>

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <ostream>
#include <stop_token>
#include <thread>

namespace eyeroof::cli {

namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kQuietTime = std::chrono::seconds(1);
constexpr auto kLogTime = std::chrono::seconds(10);
constexpr auto kRedrawTime = std::chrono::milliseconds(100);
constexpr std::string_view kEraseLine = "\r\033[K";

std::string progress_text(const Progress& progress) {
    constexpr std::size_t widest = 78;
    std::string found = progress.best > 0.0 ? fmt::format("  best {:.4g}", progress.best) : "";
    if (progress.gap >= 0.0) {
        found += fmt::format("{}gap {:.1f} %", found.empty() ? "  " : ", ", 100.0 * progress.gap);
    }
    std::string text =
        fmt::format("{:3.0f} %  {}", 100.0 * progress.fraction, printable(progress.activity));
    text.resize(std::min(text.size(), widest - found.size())); // what was found is never cut off
    text += found;
    return text;
}

std::string painted(const Diagnostic& diagnostic) {
    std::string text = to_string(diagnostic);
    const bool error = diagnostic.severity == Severity::error;
    const std::string word = error ? "error:" : "warning:";
    const std::string colour = error ? "\033[1;31m" : "\033[1;33m";
    if (const auto at = text.find(word); at != std::string::npos) {
        text.replace(at, word.size(), colour + word + "\033[0m");
    }
    return text;
}

} // namespace

struct Context::ProgressLine {
    std::ostream& err;
    Clock::time_point since = Clock::now();
    Clock::time_point drawn{};
    bool visible = false;
    std::mutex lines; // of what follows, and of `drawn` while lines are written
    Progress last{0.0, "working", 0.0, -1.0};

    explicit ProgressLine(std::ostream& stream) : err(stream) {}

    void draw(const Progress& progress) {
        const auto now = Clock::now();
        if (now - since < kQuietTime || now - drawn < kRedrawTime) {
            return;
        }
        err << kEraseLine << progress_text(progress) << std::flush;
        drawn = now;
        visible = true;
    }
    void log(const Progress& progress) {
        const std::lock_guard lock(lines);
        last = progress;
        log_last();
    }
    // A line where there was none for that long, until it is stopped: one step may take minutes.
    void log_again(const std::stop_token& stop) {
        std::unique_lock lock(lines);
        std::condition_variable_any stopped;
        while (!stop.stop_requested()) {
            stopped.wait_until(lock, stop, drawn + kLogTime, [] { return false; });
            if (!stop.stop_requested()) {
                log_last();
            }
        }
    }
    void clear() {
        if (visible) {
            err << kEraseLine << std::flush;
            visible = false;
        }
    }

  private:
    void log_last() {
        const auto now = Clock::now();
        if (now - drawn >= kLogTime) {
            err << progress_text(last) << '\n' << std::flush;
            drawn = now;
        }
    }
};

Context::Context(Environment environment)
    : environment_(std::move(environment)),
      line_(std::make_shared<ProgressLine>(*environment_.err)) {}

Context::~Context() {
    line_->clear();
}

std::vector<std::filesystem::path> Context::existing(const char* folder) const {
    std::vector<std::filesystem::path> found;
    for (const auto& dir : environment_.data_dirs) {
        std::error_code ignored;
        if (std::filesystem::is_directory(dir / folder, ignored)) {
            found.push_back(dir / folder);
        }
    }
    return found;
}

std::vector<std::filesystem::path> Context::machine_dirs() const {
    std::vector<std::filesystem::path> dirs(global_.hwdb.begin(), global_.hwdb.end());
    const auto rest = existing("hwdb");
    dirs.insert(dirs.end(), rest.begin(), rest.end());
    return dirs;
}

std::vector<std::filesystem::path> Context::network_dirs() const {
    return existing("networks");
}

std::vector<std::filesystem::path> Context::claim_dirs() const {
    return existing("claims");
}

ProgressCallback Context::progress(bool in_lines) {
    line_->since = Clock::now();
    if (!environment_.err_is_terminal) {
        if (!in_lines) {
            return {};
        }
        line_->drawn = Clock::now();
        // Ends with the last copy of the callback, which is when the work ends.
        const auto again = std::make_shared<std::jthread>(
            [line = line_](const std::stop_token& stop) { line->log_again(stop); });
        return [line = line_, again](const Progress& progress) { line->log(progress); };
    }
    return [line = line_](const Progress& progress) { line->draw(progress); };
}

bool Context::colour(const std::string& output_file) const {
    if (global_.colour != "auto") {
        return global_.colour == "always";
    }
    return environment_.out_is_terminal && !environment_.no_colour && output_file.empty();
}

std::size_t Context::columns(const std::string& output_file) const {
    constexpr std::size_t most = 120;
    return output_file.empty() ? std::clamp(environment_.columns, kTextColumns, most)
                               : kTextColumns;
}

bool Context::colour_errors() const {
    return global_.colour != "never" && environment_.err_is_terminal && !environment_.no_colour;
}

Result<std::string> Context::document(const std::string& name) {
    const auto known = documents_.find(name);
    if (known != documents_.end()) {
        return Result<std::string>(known->second);
    }
    auto text = read_text_file(name == "-" ? "/dev/stdin" : name);
    if (text) {
        documents_[name] = *text;
    }
    return text;
}

void Context::remember(const analysis::Scenario& scenario) {
    scenario_ = analysis::scenario_json(scenario);
}

void Context::report(const Diagnostics& diagnostics) {
    line_->clear();
    for (const Diagnostic& diagnostic : told_once(diagnostics)) {
        *environment_.err << (colour_errors() ? painted(diagnostic) : to_string(diagnostic))
                          << '\n';
    }
    environment_.err->flush();
}

Exit Context::fail(const Diagnostics& diagnostics) {
    report(diagnostics);
    for (const Diagnostic& diagnostic : diagnostics) {
        if (diagnostic.code == "cancelled") {
            return Exit::cancelled;
        }
        if (diagnostic.code == "usage") {
            return Exit::usage;
        }
        if (diagnostic.code == "uncosted") {
            return Exit::says_no;
        }
        if (diagnostic.code == "unavailable") {
            return Exit::unavailable;
        }
    }
    return Exit::bad_input;
}

Exit Context::fail_usage(const std::string& message, const std::string& hint) {
    Diagnostics diagnostics;
    diagnostics.error("usage", message, hint);
    return fail(diagnostics);
}

Exit Context::write(std::string_view text, const std::string& output_file, Exit otherwise) {
    const auto all = [text](const TextSink& sink) { return sink(text); };
    return write(all, output_file, otherwise);
}

Exit Context::write(const std::function<bool(const TextSink&)>& plain,
                    const std::string& output_file, Exit otherwise) {
    line_->clear();
    const auto write = [&](const TextSink& sink) {
        bool first = true; // the piece with the schema
        return plain([&](std::string_view piece) {
            const bool start = std::exchange(first, false);
            return !start ? sink(piece)
                   : for_people_ && colour(output_file)
                       ? sink(painted_answer(piece))
                       : sink(with_question(piece, asked_, scenario_));
        });
    };
    if (!output_file.empty() && output_file != "-") {
        auto file = AtomicFile::create(output_file);
        if (!file) {
            return fail(file.diagnostics());
        }
        write([&file](std::string_view piece) { return file->append(piece); });
        const auto written = file->commit(); // says what could not be written
        return written ? otherwise : fail(written.diagnostics());
    }
    std::ostream& out = *environment_.out;
    write([&out](std::string_view piece) { return static_cast<bool>(out << piece); });
    out << std::flush;
    if (!out) {
        Diagnostics diagnostics;
        diagnostics.error("cannot-write", "stdout does not take the result",
                          "is the disk full, or the reader gone?");
        return fail(diagnostics);
    }
    return otherwise;
}

} // namespace eyeroof::cli
