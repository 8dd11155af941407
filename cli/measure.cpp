// eyeroof measure cpu|gpu|host: what this machine really reaches, as a profile and a machine
// overlay.
#include "analysis/exam/host_speed.hpp"
#include "analysis/measured/lay_profile.hpp"
#include "base/operation_rate.hpp"
#include "base/units.hpp"
#include "cli/answer.hpp"
#include "cli/own_library.hpp"
#include "cli/scenario_options.hpp"
#include "profiles/ceilings.hpp"
#include "profiles/collect/measure_gpu.hpp"
#include "profiles/host/measure_host.hpp"
#include "profiles/points.hpp"
#include "profiles/profile_file.hpp"
#include "report/bound/host_speed_answer.hpp"

#include <fmt/format.h>

#include <chrono>

namespace eyeroof::cli {

namespace {

// A trial ends before a measurement can be cut off: most take milliseconds, the first touch of
// gigabytes seconds. A second signal ends the program at once.
constexpr std::chrono::milliseconds kTimeToStop{10000};

struct MeasureOptions {
    profiles::HostOptions host;
    profiles::GpuMeasureOptions gpu;
    OutputOptions output;
    std::string save;
    std::string overlay;
    bool no_layers = false;
};

std::string ceiling_text(const profiles::Ceiling& ceiling) {
    const std::string_view unit = !ceiling.level.empty() ? "B/s"
                                  : !ceiling.precision.empty()
                                      ? operation_rate_unit(ceiling.precision)
                                      : "s";
    return fmt::format("{:<24} {:>10}  median {:>10}  spread {:>4.1f} %  {}\n", ceiling.name,
                       format_si(ceiling.value, unit), format_si(ceiling.median, unit),
                       100.0 * ceiling.spread, ceiling.how);
}

std::string point_text(const profiles::MeasuredPoint& point) {
    std::string text = fmt::format("{:<48} {:>9}  {:>13}", point.name, format_si(point.time_s, "s"),
                                   format_si(point.flops_per_s(), "FLOP/s"));
    if (!point.traffic.empty()) {
        const auto& traffic = point.traffic.front();
        text +=
            fmt::format("  {:>8.2f} FLOP/B of {}", point.intensity(traffic.level), traffic.level);
    }
    return text + "\n";
}

std::string text_of(const profiles::Profile& profile,
                    const std::vector<profiles::MeasuredPoint>& points) {
    std::string text;
    for (const std::string& fact : analysis::facts_of(profile.run)) {
        text += fact + "\n";
    }
    for (const std::string& note : profile.notes) {
        text += note + "\n";
    }
    text += "\n";
    for (const profiles::Ceiling& ceiling : profile.ceilings) {
        text += ceiling_text(ceiling);
    }
    text += points.empty() ? "" : "\n";
    for (const profiles::MeasuredPoint& point : points) {
        text += point_text(point);
    }
    return text;
}

bool was_cut_off(const Result<profiles::Profile>& profile) {
    for (const Diagnostic& d : profile.diagnostics()) {
        if (d.code == "cancelled") {
            return true;
        }
    }
    return false;
}

// The measurement to where it was wanted: profile, overlay, result. One that was cut off is kept
// all the same, with the exit code of a signal.
Exit deliver(Context& context, const MeasureOptions& options,
             const Result<profiles::Profile>& profile) {
    if (!profile) {
        return context.fail(profile.diagnostics());
    }
    context.report(profile.diagnostics());
    const auto points = profiles::points_of(*profile, nullptr);
    if (!points) {
        return context.fail(points.diagnostics());
    }
    if (!options.save.empty()) {
        const auto written = profiles::write_profile(*profile, options.save);
        if (!written) {
            return context.fail(written.diagnostics());
        }
    }
    if (!options.overlay.empty() &&
        context.write(profiles::ceilings_yaml(*profile), options.overlay) != Exit::done) {
        return Exit::bad_input;
    }
    const std::string text = options.output.format == "json"   ? profiles::profile_text(*profile)
                             : options.output.format == "yaml" ? profiles::ceilings_yaml(*profile)
                                                               : text_of(*profile, *points);
    return context.write(text, options.output.file,
                         was_cut_off(profile) ? Exit::cancelled : Exit::done);
}

Exit measure_cpu(Context& context, MeasureOptions options) {
    options.host.layers = !options.no_layers;
    options.host.date = utc_now();
    options.host.command = "eyeroof measure cpu";
    context.take_time_to_stop(kTimeToStop);
    return deliver(context, options,
                   profiles::measure_host(options.host, context.stop(), context.progress(true)));
}

Exit measure_gpu(Context& context, MeasureOptions options) {
    const auto library = find_own_library(context, options.gpu.library, "libeyeroof_gpu.so", "gpu");
    options.gpu.library = library ? library->string() : "libeyeroof_gpu.so";
    options.gpu.layers = !options.no_layers;
    options.gpu.date = utc_now();
    options.gpu.command = "eyeroof measure gpu";
    return deliver(context, options,
                   profiles::measure_gpu(options.gpu, context.stop(), context.progress(true)));
}

void add_results(CLI::App& app, MeasureOptions& options) {
    app.add_flag("--no-layers", options.no_layers, "Measure only the ceilings");
    app.add_option("--save", options.save, "Write the measurement as a profile (.jsonl, .gz)")
        ->type_name("FILE");
    app.add_option("--overlay", options.overlay,
                   "Write the ceilings as YAML, for exam and roofline --ceilings")
        ->type_name("FILE");
    add_output(app, options.output, {"text", "json", "yaml"});
}

void add_gpu(Frame& frame, CLI::App& measure, const std::shared_ptr<MeasureOptions>& options) {
    CLI::App& gpu =
        frame.add("gpu", "Measure bandwidths, arithmetic rates, launches, and copies of a GPU",
                  "eyeroof measure gpu --overlay gpu.yaml\n"
                  "# its ceilings beside the data sheet's\n"
                  "eyeroof roofline resnet50 --on a100-sxm-40gb --ceilings gpu.yaml -o roof.svg",
                  &measure);
    gpu.add_option("--device", options->gpu.device, "GPU, as CUDA counts them [0]")
        ->check(CLI::Range(0, 1023));
    gpu.add_option("--trials", options->gpu.trials,
                   "Trials of each ceiling, of which the best counts [15]")
        ->check(CLI::Range(1, 1000));
    gpu.add_option("--trial-time", options->gpu.trial_s, "Least duration of a trial, s [0.02]")
        ->check(CLI::Range(1e-4, 60.0));
    gpu.add_option("--kernels", options->gpu.library, "Library of measuring kernels")
        ->type_name("FILE");
    gpu.add_option("--cublas", options->gpu.library_folder, "Folder with libcublasLt")
        ->type_name("DIR");
    add_results(gpu, *options);
    frame.run(gpu, [options](Context& context) { return measure_gpu(context, *options); });
}

struct HostSpeedOptions {
    ScenarioOptions scenario;
    std::string measured;
    OutputOptions output;
};

Exit infer_host(Context& context, HostSpeedOptions& options) {
    const auto question = question_of(context, options.scenario);
    const auto seconds = parse_quantity(options.measured, "s", "a measured time");
    Diagnostics all = question.diagnostics();
    all.append(seconds.diagnostics());
    if (seconds && !(*seconds > 0.0 && *seconds < 1e9)) {
        all.error("usage", "--measured " + options.measured + " is not a time",
                  "as in --measured 31us");
    }
    if (all.has_errors()) {
        return context.fail(all);
    }
    context.report(all);
    const auto found = analysis::infer_host_speed(*question, *seconds, context.stop());
    if (!found) {
        return context.fail(found.diagnostics());
    }
    return write_answer(context, report::host_speed_answer(*found, question->host_id, *seconds),
                        options.output);
}

void add_host(Frame& frame, CLI::App& measure) {
    auto options = std::make_shared<HostSpeedOptions>();
    CLI::App& host = frame.add(
        "host", "Infer how fast a host launches kernels from the time of a small program",
        "# one activation that took 12 us between two events; also for a captured PyTorch program\n"
        "eyeroof measure host relu.yaml --on h100-sxm-80gb --measured 12us",
        &measure);
    add_scenario(host, options->scenario);
    host.add_option("--measured", options->measured,
                    "Measured time of the program, launched as --launch says [eager]")
        ->required()
        ->type_name("TIME");
    add_output(host, options->output, answer_formats());
    frame.run(host, [options](Context& context) { return infer_host(context, *options); });
}

} // namespace

void add_measure(Frame& frame) {
    CLI::App& measure =
        frame.add("measure", "Measure what this machine reaches",
                  "# memory, caches, multiply-add and real layers of this processor\n"
                  "eyeroof measure cpu --save cpu.jsonl --overlay cpu.yaml\n"
                  "# what a GPU reaches: memory, caches, tensor cores, launches, copies\n"
                  "eyeroof measure gpu --overlay gpu.yaml\n"
                  "# how fast the host launches, from one small program\n"
                  "eyeroof measure host relu.yaml --on h100-sxm-80gb --measured 12us");
    auto options = std::make_shared<MeasureOptions>();
    CLI::App& cpu =
        frame.add("cpu", "Measure bandwidths, multiply-add rates, and layers on this processor",
                  "eyeroof measure cpu\n"
                  "# one thread, kept as a profile for the roofline\n"
                  "eyeroof measure cpu --threads 1 --save cpu.jsonl",
                  &measure);
    cpu.add_option("--threads", options->host.threads, "Threads; 0: all processors [0]")
        ->check(CLI::Range(0, 4096));
    cpu.add_option("--trials", options->host.trials,
                   "Trials of each loop, of which the best counts [25]")
        ->check(CLI::Range(1, 1000));
    cpu.add_option("--trial-time", options->host.trial_s, "Least duration of a trial, s [0.005]")
        ->check(CLI::Range(1e-4, 60.0));
    add_results(cpu, *options);
    frame.run(cpu, [options](Context& context) { return measure_cpu(context, *options); });
    add_gpu(frame, measure, options);
    add_host(frame, measure);
}

} // namespace eyeroof::cli
