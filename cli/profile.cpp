// eyeroof profile -- ./app: times and hardware counters of an unmodified CUDA program.
#include "analysis/measured/lay_profile.hpp"
#include "base/printable.hpp"
#include "base/units.hpp"
#include "cli/command.hpp"
#include "cli/metric_files.hpp"
#include "cli/own_library.hpp"
#include "profiles/collect/device_check.hpp"
#include "profiles/collect/device_facts.hpp"
#include "profiles/collect/runner.hpp"
#include "profiles/collect/work_folder.hpp"
#include "profiles/profile_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

namespace eyeroof::cli {

namespace {

namespace fs = std::filesystem;

struct ProfileOptions {
    std::vector<std::string> command;
    std::string set = "roofline";
    std::string save = "profile.jsonl";
    std::string metrics_folder;
    std::string library;
    std::string cupti;
    bool timing_only = false;
    bool no_check = false;
    profiles::KernelFilter filter;
    std::size_t window = 512;
};

Result<profiles::RunnerOptions> prepare(const Context& context, const ProfileOptions& options,
                                        const fs::path& folder) {
    using Prepared = Result<profiles::RunnerOptions>;
    const auto library =
        find_own_library(context, options.library, "libeyeroof_inject.so", "cupti");
    if (!library) {
        return Prepared::failure(
            "unavailable", "this build has no collector (libeyeroof_inject.so)",
            "build with the CUDA toolkit, or name the library with --collector");
    }
    profiles::RunnerOptions runner;
    runner.command = options.command;
    runner.inject_library = library->string();
    runner.folder = folder;
    runner.counters = !options.timing_only;
    runner.request.cupti_folder = options.cupti;
    runner.request.filter = options.filter;
    runner.request.window = options.window;
    runner.date = utc_now();
    const auto known = load_metric_files(context, options.metrics_folder);
    if (!known && !options.timing_only) {
        return Prepared(known.diagnostics());
    }
    for (const auto& family : known ? *known : std::vector<profiles::MetricFamily>{}) {
        const profiles::MetricSet* set = family.find_set(options.set);
        for (const std::string& chip : family.chips) {
            runner.request.metrics[chip] =
                set != nullptr ? set->counters : std::vector<std::string>{};
        }
    }
    return runner;
}

std::string summary(const profiles::Profile& profile, const std::string& file) {
    constexpr std::size_t kRows = 15;
    std::string text =
        fmt::format("{} launches, kept in {}\n", profile.launches.size(), printable(file));
    for (const std::string& fact : analysis::facts_of(profile.run)) {
        text += "  " + fact + "\n";
    }
    for (const std::string& note : profile.notes) {
        text += "note: " + note + "\n";
    }
    text += fmt::format("\n{:>7} {:>12} {:>8}  kernel\n", "share", "time", "calls");
    const auto sums = profiles::summarise(profile);
    for (std::size_t i = 0; i < std::min(sums.size(), kRows); ++i) {
        text +=
            fmt::format("{:>5.1f} % {:>12} {:>8}  {}\n", 100.0 * sums[i].share,
                        format_si(sums[i].time_s, "s"), sums[i].calls, sums[i].name.substr(0, 60));
    }
    return text;
}

// Of the device that the first launch ran on; what was sampled is of the first device.
void add_facts(profiles::Profile& profile, profiles::DeviceWatch& watch) {
    const auto device =
        profile.launches.empty() ? profiles::kNone : profile.launches.front().device;
    const int ordinal = device == profiles::kNone ? 0 : static_cast<int>(device);
    profiles::describe_device(profile.run, ordinal);
    if (ordinal == 0) {
        watch.finish(profile.run);
    }
}

Exit profile(Context& context, const ProfileOptions& options) {
    const auto checked = profiles::filter({}, options.filter); // is the expression one?
    if (!checked) {
        return context.fail(checked.diagnostics());
    }
    if (!options.no_check) {
        if (const auto fault = profiles::check_device()) {
            Diagnostics found;
            found.add(profiles::diagnostic_of(*fault));
            return context.fail(found);
        }
    }
    const auto folder = profiles::WorkFolder::create();
    if (!folder) {
        return context.fail(folder.diagnostics());
    }
    auto runner = prepare(context, options, folder->path());
    if (!runner) {
        return context.fail(runner.diagnostics());
    }
    constexpr auto kToFinish = std::chrono::seconds(10);
    context.take_time_to_stop(kToFinish); // the program's own: it is asked, then ended
    runner->stop_signal = [&context] { return context.signal(); };
    profiles::DeviceWatch watch(0);
    profiles::ProgramEnd end;
    auto measured = profiles::profile_program(*runner, context.stop(), context.progress(), &end);
    if (!measured) {
        const Exit failed = context.fail(measured.diagnostics());
        return failed != Exit::cancelled && end.status != 0 ? static_cast<Exit>(end.status)
                                                            : failed;
    }
    add_facts(*measured, watch);
    context.report(measured.diagnostics());
    const auto written = profiles::write_profile(*measured, options.save);
    if (!written) {
        return context.fail(written.diagnostics());
    }
    const Exit ended = end.cancelled ? Exit::cancelled : static_cast<Exit>(end.status);
    return context.write(summary(*measured, options.save), {}, ended);
}

} // namespace

void add_profile(Frame& frame) {
    auto options = std::make_shared<ProfileOptions>();
    CLI::App& app = frame.add(
        "profile", "Profile the kernels of a CUDA program: times, bytes, and counters",
        "# times, and DRAM, L2 and L1 bytes, in two runs of the program\n"
        "eyeroof profile --save run.jsonl -- ./app --batch 8\n"
        "# operations by precision too, of the first ten GEMMs\n"
        "eyeroof profile --metrics roofline-full --kernel gemm --count 10 -- python3 net.py");
    app.add_option("COMMAND", options->command, "The program and its arguments, behind --")
        ->required();
    add_choice(app, "--metrics", options->set, {"roofline", "roofline-full", "roofline-shared"},
               "Counters to collect: bytes and time in one pass, operations too, or bytes of "
               "shared memory [roofline]");
    app.add_flag("--timing-only", options->timing_only,
                 "Collect times only; needs no permission and one run");
    app.add_option("--kernel", options->filter.name_regex,
                   "Profile only kernels whose name matches")
        ->type_name("REGEX");
    app.add_option("--nvtx", options->filter.range,
                   "Profile launches in NVTX ranges that contain this")
        ->type_name("TEXT");
    app.add_option("--skip", options->filter.skip, "Skip the first N that match")
        ->check(CLI::Range(0, 1'000'000'000));
    app.add_option("--count", options->filter.count, "Collect at most N")
        ->check(CLI::PositiveNumber);
    app.add_option("--window", options->window, "Launches between two reads of the counters [512]")
        ->check(CLI::Range(1, 2000));
    app.add_option("--save", options->save, "Profile to write (.jsonl, .gz) [profile.jsonl]")
        ->type_name("FILE");
    app.add_option("--metrics-dir", options->metrics_folder, "Folder of metric files")
        ->type_name("DIR");
    app.add_option("--collector", options->library, "Collector library to inject into the program")
        ->type_name("FILE");
    app.add_option("--cupti", options->cupti, "Folder with libcupti and libnvperf_host")
        ->type_name("DIR");
    app.add_flag("--no-device-check", options->no_check,
                 "Skip the check for a GPU before the program starts");
    frame.run(app, [options](Context& context) { return profile(context, *options); });
}

} // namespace eyeroof::cli
