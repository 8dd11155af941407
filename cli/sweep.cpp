// eyeroof sweep: a grid of points over fields of the machine, the network and the options.
#include "analysis/exam/words.hpp"
#include "analysis/scenario/fields.hpp"
#include "analysis/sweep/front.hpp"
#include "analysis/sweep/sweep_file.hpp"
#include "base/lines.hpp"
#include "base/pattern.hpp"
#include "base/text_file.hpp"
#include "base/units.hpp"
#include "cli/answer.hpp"
#include "cli/scenario_options.hpp"
#include "report/answer/write.hpp"
#include "report/sweep/sweep_answer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <mutex>

namespace eyeroof::cli {

namespace {

constexpr const char* kSweepExamples =
    "# array, bandwidth, and batch, for a spreadsheet\neyeroof sweep resnet50 --on npu-int8 --vary "
    "axes.kernel=16:64:16 --vary batch=1,4\neyeroof sweep resnet50 --on npu-int8 --vary "
    "'dram-link-bandwidth=25.6 GB/s,x1,x2'\n# the Pareto front of time and energy, and a plot of "
    "all points\neyeroof sweep alexnet --on npu-int8 --vary axes.kernel=8:64:8 --pareto "
    "time,energy --plot f.svg\n# many arrays, each with its dataflow's own mapping, without a "
    "search\neyeroof sweep alexnet --on npu-int8 --vary axes.kernel=1:64:1 --mapping dataflow -o "
    "a.csv\n# a long sweep that you can interrupt and resume\neyeroof sweep resnet50 --on npu-int8 "
    "--vary batch=1:8:x2 -o all.csv --resume\n# in two parts, on two machines, and together "
    "again\neyeroof sweep alexnet --on npu-int8 --vary axes.kernel=8:64:8 --shard 1/2 -o "
    "part1.csv\neyeroof sweep alexnet --on npu-int8 --vary axes.kernel=8:64:8 --shard 2/2 -o "
    "part2.csv\neyeroof sweep merge part1.csv part2.csv -o merged.csv\n# every GPU of a list, two "
    "batches\neyeroof sweep resnet50 --vary machine=v100-sxm2-16gb,a100-sxm-40gb --vary batch=1,64";

struct SweepOptions {
    ScenarioOptions scenario;
    std::string network, machine; // for titles
    std::string shard, pareto, plot;
    std::vector<std::string> vary;
    bool resume = false;
    OutputOptions output;
};

// "2/8": the second of eight parts.
Result<analysis::PointRange> range_of(const std::string& shard, std::uint64_t points) {
    if (shard.empty()) {
        return Result<analysis::PointRange>(analysis::PointRange{0, points});
    }
    std::uint64_t index = 0;
    std::uint64_t count = 0;
    const char* end = shard.data() + shard.size();
    const auto [slash, wrong] = std::from_chars(shard.data(), end, index);
    const bool parted = wrong == std::errc{} && slash != end && *slash == '/';
    const auto [last, bad] =
        parted ? std::from_chars(slash + 1, end, count) : std::from_chars_result{end, wrong};
    if (!parted || bad != std::errc{} || last != end || index < 1 || index > count) {
        return Result<analysis::PointRange>::failure(
            "usage", "--shard: '" + shard + "' is no part of a whole", "as in --shard 2/8");
    }
    return Result<analysis::PointRange>(analysis::shard_of(points, index, count));
}

analysis::RowFormat format_of(const SweepOptions& options) {
    return options.output.format == "jsonl" ? analysis::RowFormat::jsonl : analysis::RowFormat::csv;
}

// One document with all rows, in place of a file that grows row by row.
bool is_page(const SweepOptions& options) {
    return options.output.format == "html" || options.output.format == "md";
}

// A table for people on stdout, in place of rows.
bool is_table(const SweepOptions& options) {
    return options.output.file.empty() && options.output.format == "text" &&
           options.pareto.empty() && options.plot.empty();
}

// All points, or their front with --pareto, and the picture that --plot names.
Exit answer(Context& context, const SweepOptions& options, std::string_view rows,
            const std::string& name, const std::string& words) {
    const auto table = analysis::parse_rows(rows, name);
    if (!table) {
        return context.fail(table.diagnostics());
    }
    const auto aims =
        analysis::parse_aims(options.pareto.empty() ? "time,energy" : options.pareto, *table);
    if (!aims && !is_page(options) && !(options.pareto.empty() && options.plot.empty())) {
        return context.fail(aims.diagnostics());
    }
    report::Answer found = report::sweep_answer(
        *table,
        fmt::format("Sweep of {} on {}", options.network.empty() ? "networks" : options.network,
                    options.machine.empty() ? "machines" : options.machine),
        aims ? *aims : std::vector<analysis::Aim>(), !options.pareto.empty() && !is_page(options));
    found.question = words;
    if (!options.plot.empty() && found.picture) {
        const Exit drawn = context.write(report::to_svg_picture(found), options.plot);
        if (drawn != Exit::done || (options.pareto.empty() && !is_page(options))) {
            return drawn;
        }
    }
    return is_page(options) ? write_answer(context, found, options.output)
                            : context.write(report::to_text(found, context.columns("")));
}

// Points to stdout, or to a file that grows row by row.
struct Swept {
    std::string text; // where they go to stdout
    std::uint64_t points = 0;
    std::uint64_t failed = 0;
    Diagnostics wrong;
};

// Says once, after a second, how long a sweep takes at most: points that come later share more.
class Forecast {
  public:
    Forecast(Context& context, std::uint64_t points) : context_(context), points_(points) {}

    void take(std::uint64_t points) {
        done_ += points;
        const std::chrono::duration<double> gone = std::chrono::steady_clock::now() - begun_;
        const double left =
            gone.count() * static_cast<double>(points_ - done_) / static_cast<double>(done_);
        if (said_ || gone.count() < 1.0 || left < kShort) {
            return;
        }
        said_ = true;
        Diagnostics estimate;
        estimate.add({Severity::note,
                      "estimate",
                      fmt::format("{} of {} points after {:.0f} s, at most {} more", done_, points_,
                                  gone.count(), format_si(left, "s", 2)),
                      "--mapping dataflow takes the dataflow's own mapping of each point, without "
                      "a search",
                      {},
                      {}});
        context_.report(estimate);
    }

  private:
    static constexpr double kShort = 10.0; // seconds of which nothing is said
    Context& context_;
    std::uint64_t points_;
    std::uint64_t done_ = 0;
    bool said_ = false;
    std::chrono::steady_clock::time_point begun_ = std::chrono::steady_clock::now();
};

Swept to_file(Context& context, const SweepOptions& options, const analysis::SweepGrid& grid,
              analysis::PointRange range, const analysis::RowText& row) {
    Swept swept;
    const auto format = format_of(options);
    auto file =
        analysis::SweepFile::open(options.output.file, analysis::note_of(grid, range, format),
                                  analysis::header_of(grid, format), options.resume);
    if (!file) {
        swept.wrong = file.diagnostics();
        return swept;
    }
    swept.points = file->next() - range.from;
    Forecast forecast(context, range.to - file->next());
    swept.points += analysis::run_sweep(
        grid, {file->next(), range.to}, options.scenario.usual.threads, row,
        [&](std::string_view rows, std::uint64_t points) {
            forecast.take(points);
            return file->append(rows, points);
        },
        context.stop(), context.progress(true));
    swept.wrong = file->close().diagnostics();
    return swept;
}

Swept to_text(Context& context, const SweepOptions& options, const analysis::SweepGrid& grid,
              analysis::PointRange range, const analysis::RowText& row) {
    Swept swept;
    swept.text = analysis::header_of(grid, format_of(options));
    Forecast forecast(context, range.to - range.from);
    swept.points = analysis::run_sweep(
        grid, range, options.scenario.usual.threads, row,
        [&](std::string_view rows, std::uint64_t points) {
            forecast.take(points);
            swept.text += rows;
            return true;
        },
        context.stop(), context.progress(true));
    return swept;
}

// Points without figures, and points whose step does not fit the memory.
struct Unusable {
    std::uint64_t without = 0, unfit = 0;
    std::string why; // the first has no figures

    void add(const analysis::PointFigures& figures) {
        if (figures.error.empty()) {
            ++unfit;
        } else if (without++ == 0) {
            why = figures.error;
        }
    }
};

Exit written(Context& context, const SweepOptions& options, const Swept& swept,
             const std::string& words, analysis::PointRange range, const Unusable& unusable) {
    Diagnostics said = swept.wrong;
    if (swept.points < range.to - range.from && !said.has_errors()) {
        said.error(
            "cancelled",
            fmt::format("{} of {} points were worked out", swept.points, range.to - range.from),
            options.output.file.empty() ? "" : "--resume goes on with them");
    }
    if (unusable.without > 0) {
        said.warning("no-figures", fmt::format("{} points have no figures, the first because of {}",
                                               unusable.without, unusable.why));
    }
    if (unusable.unfit > 0) {
        said.warning("does-not-fit",
                     counted(unusable.unfit, "point") +
                         " without a place in memory: figures are of a run that would fit, and on "
                         "no front",
                     "the column error says by how much");
    }
    if (said.has_errors()) {
        return context.fail(said);
    }
    context.report(said);
    const bool looks = !options.pareto.empty() || !options.plot.empty();
    if (is_page(options) || is_table(options)) {
        return answer(context, options, swept.text, "the sweep", words);
    }
    if (!looks || options.output.file.empty()) {
        return looks ? answer(context, options, swept.text, "the sweep", "")
                     : context.write(swept.text);
    }
    const auto rows = read_text_file(options.output.file);
    return rows ? answer(context, options, *rows, options.output.file, "")
                : context.fail(rows.diagnostics());
}

analysis::SweepSources sources_of(Context& context, const analysis::Scenario& scenario) {
    analysis::SweepSources sources;
    sources.machine = [&](const std::string& name) {
        return load_machine(context, name, scenario.energies);
    };
    sources.network = [&](const std::string& name, const std::vector<std::string>& sizes) {
        return analysis::load_workload(name, sizes, folders_of(context));
    };
    sources.host = [&](const model::Machine& machine) {
        const auto host = analysis::load_issue(scenario.host, machine, folders_of(context));
        return host ? std::pair(host->issue, host->id)
                    : std::pair(model::HostIssue{}, std::string());
    };
    return sources;
}

// What a sweep cannot do without, and names that lead nowhere.
Diagnostics incomplete(const SweepOptions& options, const analysis::Scenario& scenario) {
    const auto varied = [&](const char* what) {
        return std::any_of(options.vary.begin(), options.vary.end(),
                           [&](const std::string& text) { return text.starts_with(what); });
    };
    const bool named = (!scenario.network.empty() || varied("network=")) &&
                       (!scenario.machine.empty() || varied("machine="));
    Diagnostics found;
    if (!named || options.vary.empty()) {
        found.error("usage", "a sweep needs NETWORK, --on MACHINE and --vary FIELD=VALUES",
                    "`eyeroof sweep --help` shows examples");
    }
    if (options.resume && options.output.file.empty()) {
        found.error("usage", "--resume goes on with a file", "name it with -o");
    }
    if (is_page(options) && (options.resume || !options.shard.empty())) {
        found.error("usage", "a page shows a whole sweep",
                    "--resume and --shard write rows: -o FILE.csv");
    }
    if (scenario.layers) {
        found.append(Pattern::compile(*scenario.layers).diagnostics());
    }
    return found;
}

constexpr std::uint64_t kLongSearch = 64; // points

// Is the mapping of each layer searched at each point?
bool searches(const analysis::Question& question) {
    const auto* accelerator = std::get_if<model::Accelerator>(&question.machine.kind);
    const auto context = accelerator == nullptr
                             ? std::nullopt
                             : std::optional(analysis::accelerator_context(question, *accelerator));
    return context && *context && (*context)->policy == analysis::MappingPolicy::best;
}

// The scenario of the first point in words: rows state only the fields that vary. A table of text
// begins with it; beside rows of other formats it is a note, as is the way to a shorter search.
std::string first_point(Context& context, const SweepOptions& options,
                        const analysis::SweepGrid& grid, std::uint64_t point) {
    const std::vector<std::size_t> at = grid.at(point);
    const auto machine = grid.machine_at(at);
    if (!machine) {
        return {};
    }
    const analysis::Question question = grid.question_at(at, *machine);
    const std::string words = analysis::scenario_words(question);
    const bool long_search = grid.points() >= kLongSearch && searches(question);
    if (long_search || !is_table(options)) {
        Diagnostics said;
        said.add({Severity::note,
                  "first-point",
                  words,
                  long_search ? "--mapping dataflow takes the dataflow's own mapping of each "
                                "point, without a search"
                              : "",
                  {},
                  {}});
        context.report(said);
    }
    return "First point: " + words;
}

Exit sweep(Context& context, SweepOptions& options) {
    const auto scenario = scenario_of(context, options.scenario);
    Diagnostics wrong = scenario ? incomplete(options, *scenario) : scenario.diagnostics();
    if (wrong.has_errors()) {
        return context.fail(wrong);
    }
    options.network = scenario->network;
    options.machine = scenario->machine;
    const auto host = scenario->host.empty() || scenario->machine.empty()
                          ? Result<model::Machine>(model::Machine{})
                          : load_machine(context, scenario->host);
    const auto grid =
        analysis::SweepGrid::make({*scenario, options.vary}, sources_of(context, *scenario));
    if (!grid || !host) {
        wrong.append(grid.diagnostics());
        wrong.append(host.diagnostics());
        return context.fail(wrong);
    }
    const auto range = range_of(options.shard, grid->points());
    if (!range) {
        return context.fail(range.diagnostics());
    }
    const std::string words = first_point(context, options, *grid, range->from);
    std::mutex mutex;
    Unusable unusable;
    const analysis::RowText row = [&](std::uint64_t point, const analysis::PointFigures& figures) {
        if (!figures.error.empty() || !figures.unfit.empty()) {
            const std::lock_guard lock(mutex);
            unusable.add(figures);
        }
        return analysis::row_of(*grid, format_of(options), point, figures);
    };
    const Swept swept = options.output.file.empty() || is_page(options)
                            ? to_text(context, options, *grid, *range, row)
                            : to_file(context, options, *grid, *range, row);
    return written(context, options, swept, words, *range, unusable);
}

struct MergeOptions {
    std::vector<std::string> parts;
    std::string to;
};

Exit merge(Context& context, const MergeOptions& options) {
    const auto merged =
        analysis::merge_sweep({options.parts.begin(), options.parts.end()}, options.to);
    return merged ? Exit::done : context.fail(merged.diagnostics());
}

} // namespace

void add_sweep(Frame& frame) {
    auto options = std::make_shared<SweepOptions>();
    CLI::App& app = frame.add(
        "sweep", "Evaluate a grid of machines, networks, and options, and find the best design",
        kSweepExamples);
    add_scenario(app, options->scenario);
    app.add_option(
           "--vary", options->vary,
           "Field and values, a list or FROM:TO:STEP (or FROM:TO:xFACTOR; repeatable, the last "
           "varies fastest): a parameter of the machine as in --set, network.PARAMETER, machine, "
           "network, or an option such as batch, dtype, launch, or phase")
        ->type_name("FIELD=VALUES")
        ->allow_extra_args(false);
    app.add_option("--shard", options->shard, "Evaluate only part I of N, for `sweep merge`")
        ->type_name("I/N");
    app.add_flag("--resume", options->resume, "Resume the file of -o where it ends");
    app.add_option("--pareto", options->pareto,
                   "Print the Pareto front of these columns (max:COLUMN where more is better), in "
                   "addition to what -o gets")
        ->type_name("COLUMN,COLUMN");
    app.add_option("--plot", options->plot, "Draw all points and the front as SVG")
        ->type_name("FILE");
    add_output(app, options->output, {"text", "csv", "jsonl", "md", "html"});
    app.get_option("--output")
        ->description("Write the points to a file, row by row: CSV or JSON lines by its ending; "
                      "--resume continues it");
    frame.run(app, [options](Context& context) { return sweep(context, *options); });

    auto parts = std::make_shared<MergeOptions>();
    CLI::App& merging = frame.add("merge", "Put the parts of a sweep together",
                                  "eyeroof sweep merge part1.csv part2.csv -o all.csv", &app);
    merging.add_option("FILE", parts->parts, "What the parts wrote")->required()->type_name("FILE");
    add_output_file(merging, parts->to);
    merging.get_option("--output")->required();
    frame.run(merging, [parts](Context& context) { return merge(context, *parts); });
    app.require_subcommand(0, 1);
}

} // namespace eyeroof::cli
