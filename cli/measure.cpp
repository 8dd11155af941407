// eyeroof measure cpu: what this machine really reaches, as a profile and a machine overlay.
#include "cli/command.hpp"
#include "model/base/units.hpp"
#include "profiles/host/measure_host.hpp"
#include "profiles/points.hpp"
#include "profiles/profile_file.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <chrono>

namespace eyeroof::cli {

namespace {

struct Options {
    profiles::HostOptions host;
    OutputOptions output;
    std::string save;
    std::string overlay;
    bool no_layers = false;
};

std::string utc_now() {
    const auto now =
        std::chrono::time_point_cast<std::chrono::seconds>(std::chrono::system_clock::now());
    return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}",
                       fmt::gmtime(std::chrono::system_clock::to_time_t(now)));
}

std::string ceiling_text(const profiles::Ceiling& ceiling) {
    const bool bandwidth = !ceiling.level.empty();
    return fmt::format("{:<14} {:>10}  median {:>10}  spread {:>4.1f} %  {}\n", ceiling.name,
                       model::format_si(ceiling.value, bandwidth ? "B/s" : "FLOP/s"),
                       model::format_si(ceiling.median, bandwidth ? "B/s" : "FLOP/s"),
                       100.0 * ceiling.spread, ceiling.how);
}

std::string point_text(const profiles::MeasuredPoint& point) {
    const auto& traffic = point.traffic.front();
    return fmt::format("{:<30} {:>9}  {:>13}  {:>8.2f} FLOP/B of {}\n", point.name,
                       model::format_si(point.time_s, "s"),
                       model::format_si(point.flops_per_s(), "FLOP/s"),
                       point.intensity(traffic.level), traffic.level);
}

std::string text_of(const profiles::Profile& profile,
                    const std::vector<profiles::MeasuredPoint>& points) {
    std::string text = profile.run.gpu + "\n" + profile.notes.front() + "\n\n";
    for (const profiles::Ceiling& ceiling : profile.ceilings) {
        text += ceiling_text(ceiling);
    }
    text += points.empty() ? "" : "\n";
    for (const profiles::MeasuredPoint& point : points) {
        text += point_text(point);
    }
    return text;
}

Exit measure_cpu(Context& context, Options options) {
    options.host.layers = !options.no_layers;
    options.host.date = utc_now();
    options.host.command = "eyeroof measure cpu";
    auto profile = profiles::measure_host(options.host, context.stop(), context.progress());
    if (!profile) {
        return context.fail(profile.diagnostics());
    }
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
    return context.write(text, options.output.file);
}

} // namespace

void add_measure(Frame& frame) {
    CLI::App& measure =
        frame.add("measure", "What does this very machine reach?",
                  "# memory, caches, multiply-add and real layers of this processor\n"
                  "eyeroof measure cpu --save cpu.jsonl --overlay cpu.yaml");
    auto options = std::make_shared<Options>();
    CLI::App& cpu = frame.add("cpu", "Bandwidths, multiply-add rates and layers of this processor",
                              "eyeroof measure cpu\n"
                              "# one thread, kept as a profile for the roofline\n"
                              "eyeroof measure cpu --threads 1 --save cpu.jsonl",
                              &measure);
    cpu.add_option("--threads", options->host.threads, "Threads; 0: all processors [0]")
        ->check(CLI::Range(0, 4096));
    cpu.add_option("--trials", options->host.trials, "Trials of each loop; the best counts [25]")
        ->check(CLI::Range(1, 1000));
    cpu.add_option("--trial-time", options->host.trial_s,
                   "Seconds that a trial lasts at least [0.005]")
        ->check(CLI::Range(1e-4, 60.0));
    cpu.add_flag("--no-layers", options->no_layers, "Only the ceilings");
    cpu.add_option("--save", options->save, "Keep the measurement as a profile (.jsonl, .gz)")
        ->type_name("FILE");
    cpu.add_option("--overlay", options->overlay, "Write the ceilings as YAML")->type_name("FILE");
    add_output(cpu, options->output, {"text", "json", "yaml"});
    frame.run(cpu, [options](Context& context) { return measure_cpu(context, *options); });
}

} // namespace eyeroof::cli
