// eyeroof import: other tools' measurements into one profile; merged, filtered, summed up.
#include "cli/command.hpp"
#include "model/base/units.hpp"
#include "profiles/import/importer.hpp"
#include "profiles/matching.hpp"
#include "profiles/profile_file.hpp"
#include "study/read/assignments.hpp"
#include "study/read/catalog.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace eyeroof::cli {

namespace {

struct Options {
    std::vector<std::string> files;
    std::string from;
    profiles::KernelFilter filter;
    std::string save;
    bool join = false;
    std::string network;
    std::string assignments;
    OutputOptions output;
};

std::vector<std::string> format_names() {
    std::vector<std::string> names;
    for (const profiles::Importer* importer : profiles::importers()) {
        names.emplace_back(importer->name());
    }
    return names;
}

model::Result<profiles::Profile> read_all(const Options& options) {
    std::vector<profiles::Profile> read;
    model::Diagnostics found;
    for (const std::string& file : options.files) {
        auto profile = profiles::import_file(file, options.from);
        found.append(profile.diagnostics());
        if (profile) {
            read.push_back(std::move(*profile));
        }
    }
    if (found.has_errors()) {
        return model::Result<profiles::Profile>(std::move(found));
    }
    auto all = options.join ? profiles::join_runs(read.at(0), read.at(1)) : profiles::merge(read);
    if (!all) {
        return all;
    }
    found.append(all.diagnostics());
    auto kept = profiles::filter(*all, options.filter);
    return kept ? model::Result<profiles::Profile>(std::move(*kept), std::move(found)) : kept;
}

std::string summary_text(const profiles::Profile& profile) {
    constexpr std::size_t kRows = 20;
    constexpr std::size_t kNameWidth = 60;
    const auto sums = profiles::summarise(profile);
    std::string text =
        fmt::format("{} launches of {} kernels", profile.launches.size(), sums.size());
    text += profile.run.gpu.empty() ? "\n" : " on " + profile.run.gpu + "\n";
    for (const std::string& note : profile.notes) {
        text += "note: " + note + "\n";
    }
    text += fmt::format("\n{:>7} {:>12} {:>8}  kernel\n", "share", "time", "calls");
    for (std::size_t i = 0; i < std::min(sums.size(), kRows); ++i) {
        text += fmt::format("{:>5.1f} % {:>12} {:>8}  {}\n", 100.0 * sums[i].share,
                            model::format_si(sums[i].time_s, "s"), sums[i].calls,
                            sums[i].name.substr(0, kNameWidth));
    }
    if (sums.size() > kRows) {
        text += fmt::format("        … and {} kernels more\n", sums.size() - kRows);
    }
    return text;
}

// One line a layer: how its kernels were found, and how sure that is at worst.
std::string match_text(const profiles::Profile& profile, const std::vector<model::Layer>& layers,
                       const profiles::MatchResult& result) {
    struct Row {
        double time_s = 0.0;
        std::int64_t launches = 0;
        double confidence = 1.0;
        profiles::MatchMethod method = profiles::MatchMethod::manual;
    };
    std::vector<Row> rows(layers.size());
    double unmatched_s = 0.0;
    for (std::size_t i = 0; i < result.of_launch.size(); ++i) {
        const profiles::Match& match = result.of_launch[i];
        const double time_s = std::max(profile.launches[i].duration_ns, 0.0) * 1e-9;
        if (match.method == profiles::MatchMethod::none) {
            unmatched_s += time_s;
            continue;
        }
        Row& row = rows[match.layer];
        row.time_s += time_s;
        row.launches += 1;
        row.confidence = std::min(row.confidence, match.confidence);
        row.method = std::max(row.method, match.method);
    }
    std::string text = fmt::format("\n{:<24} {:>8} {:>12}  {:<9} {}\n", "layer", "launches", "time",
                                   "found by", "confidence");
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const Row& row = rows[i];
        text += row.launches == 0
                    ? fmt::format("{:<24} {:>8}\n", layers[i].name, "none")
                    : fmt::format("{:<24} {:>8} {:>12}  {:<9} {:.2f}\n", layers[i].name,
                                  row.launches, model::format_si(row.time_s, "s"),
                                  profiles::match_method_name(row.method), row.confidence);
    }
    return text + fmt::format("{:<24} {:>8} {:>12}\n", "(no layer)", result.unmatched.size(),
                              model::format_si(unmatched_s, "s"));
}

model::Result<std::string> matched(const Context& context, const Options& options,
                                   const profiles::Profile& profile) {
    using Text = model::Result<std::string>;
    const auto network = study::read::load_network(options.network, context.network_dirs());
    if (!network) {
        return Text(network.diagnostics());
    }
    std::vector<profiles::ManualAssignment> manual;
    if (!options.assignments.empty()) {
        auto read = study::load_assignments(options.assignments);
        if (!read) {
            return Text(read.diagnostics());
        }
        manual = std::move(*read);
    }
    const auto result = profiles::match(profile, network->layers, manual);
    return result ? Text(match_text(profile, network->layers, *result))
                  : Text(result.diagnostics());
}

std::string csv_field(const std::string& text) {
    std::string quoted = "\"";
    for (const char c : text) {
        quoted += c == '"' ? "\"\"" : std::string(1, c);
    }
    return quoted + '"';
}

std::string summary_csv(const profiles::Profile& profile) {
    std::string text = "kernel,calls,time_s,share\n";
    for (const auto& sum : profiles::summarise(profile)) {
        text += fmt::format("{},{},{},{}\n", csv_field(sum.name), sum.calls, sum.time_s, sum.share);
    }
    return text;
}

Exit import(Context& context, const Options& options) {
    if (options.join && options.files.size() != 2) {
        return context.fail_usage(
            "--join takes two files: the timed run, then the run with counters");
    }
    const auto profile = read_all(options);
    if (!profile) {
        return context.fail(profile.diagnostics());
    }
    context.report(profile.diagnostics());
    if (!options.save.empty()) {
        const auto written = profiles::write_profile(*profile, options.save);
        if (!written) {
            return context.fail(written.diagnostics());
        }
    }
    std::string layers;
    if (!options.network.empty()) {
        auto text = matched(context, options, *profile);
        if (!text) {
            return context.fail(text.diagnostics());
        }
        layers = std::move(*text);
    }
    const std::string text = options.output.format == "json"  ? profiles::profile_text(*profile)
                             : options.output.format == "csv" ? summary_csv(*profile)
                                                              : summary_text(*profile) + layers;
    return context.write(text, options.output.file);
}

} // namespace

void add_import(Frame& frame) {
    auto options = std::make_shared<Options>();
    CLI::App& app =
        frame.add("import", "Which kernels took the time, by another tool's measurement?",
                  "# a PyTorch trace, kept as a profile\n"
                  "eyeroof import trace.json.gz --save trace.jsonl\n"
                  "# times of one run, counters of another\n"
                  "eyeroof import times.sqlite counters.csv --join --save both.jsonl\n"
                  "# the first ten launches of one kernel\n"
                  "eyeroof import profile.jsonl --kernel gemm --count 10 --format csv");
    app.add_option("FILES", options->files, "Measurements; the format is told by content")
        ->required()
        ->type_name("FILE");
    add_choice(app, "--from", options->from, format_names(),
               "Format, when content does not tell it");
    app.add_option("--kernel", options->filter.name_regex, "Keep kernels whose name matches")
        ->type_name("REGEX");
    app.add_option("--nvtx", options->filter.range,
                   "Keep launches in ranges that contain this text")
        ->type_name("TEXT");
    app.add_option("--match", options->network,
                   "Say which kernels belong to which layer of a network")
        ->type_name("NETWORK|FILE");
    app.add_option("--assign", options->assignments,
                   "Assignments of kernels to layers by hand (YAML)")
        ->type_name("FILE");
    app.add_option("--skip", options->filter.skip, "Leave out the first N that match")
        ->check(CLI::NonNegativeNumber);
    app.add_option("--count", options->filter.count, "Keep at most N")
        ->check(CLI::NonNegativeNumber);
    app.add_flag("--join", options->join,
                 "Give the second file's counters to the first file's launches");
    app.add_option("--save", options->save, "Keep the result as a profile (.jsonl, .gz)")
        ->type_name("FILE");
    add_output(app, options->output, {"text", "csv", "json"});
    frame.run(app, [options](Context& context) { return import(context, *options); });
}

} // namespace eyeroof::cli
