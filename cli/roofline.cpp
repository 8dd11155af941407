// eyeroof roofline: layers as predicted and kernels as measured, below the roofs of machines.
#include "analysis/exam/report_warnings.hpp"
#include "analysis/exam/run.hpp"
#include "analysis/what_if/parameters.hpp"
#include "cli/answer.hpp"
#include "cli/origin.hpp"
#include "cli/roofline_options.hpp"
#include "report/answer/write.hpp"
#include "report/draw/plot_html.hpp"
#include "report/draw/plot_level.hpp"
#include "report/draw/plot_make.hpp"
#include "report/roofline/roofline_answer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

namespace eyeroof::cli {

namespace {

constexpr const char* kRooflineExamples =
    "# the layers of AlexNet below Eyeriss's roofs, in the terminal and as a picture\n"
    "eyeroof roofline alexnet --on eyeriss-v1\n"
    "eyeroof roofline alexnet --on eyeriss-v1 -o alexnet.svg\n"
    "# the same network on two GPUs, as an interactive page\n"
    "eyeroof roofline resnet50 --on v100-sxm2-16gb --on a100-sxm-40gb -o resnet50.html\n"
    "# measured kernels over the roofs, those that make up 90 % of the time\n"
    "eyeroof roofline run.jsonl --on a100-sxm-40gb --top-share 90 -o run.svg\n"
    "# layers as predicted and as measured, joined; the data sheet's roofs and the measured ones\n"
    "eyeroof roofline resnet50 --on a100-sxm-40gb --profile run.jsonl --ceilings gpu.yaml -o "
    "joined.svg\n"
    "# what this processor was measured to reach, below its own measured roofs\n"
    "eyeroof roofline cpu.jsonl -o cpu.svg\n"
    "# what twice the bandwidth would do\n"
    "eyeroof roofline alexnet --on eyeriss-v1 --set dram-link-bandwidth=x2 -o faster.svg\n"
    "# the seven steps of one layer as a picture\n"
    "eyeroof roofline alexnet --on eyeriss-v1 --ladder CONV1 -o conv1.svg";

// The plot's input, and the reports behind it.
struct Material {
    report::PlotInput input;
    std::vector<analysis::Report> reports;
    std::vector<model::Machine> machines;
    Diagnostics notes;
};

// One report a machine, the session's edits in the first; gives the network's name.
Result<std::string> predict(Context& context, const RooflineOptions& options,
                            const std::vector<analysis::Question>& questions, Material& material) {
    for (const analysis::Question& question : questions) {
        auto report = analysis::run(question, context.stop(), context.progress());
        if (!report) {
            return Result<std::string>(report.diagnostics());
        }
        material.notes.append(report.diagnostics());
        material.notes.append(analysis::fit_warning(*report));
        if (&question == &questions.front()) {
            material.notes.append(analysis::apply_edits(*report, question, options.edits));
        }
        material.reports.push_back(std::move(*report));
    }
    const analysis::Report& first = material.reports.front();
    return first.network_name.empty() ? first.network_id : first.network_name;
}

// The scenario on each of the machines; the changes are the first's.
Result<std::vector<analysis::Question>> on_each(Context& context, const RooflineOptions& options,
                                                analysis::Scenario scenario) {
    std::vector<analysis::Question> questions;
    Diagnostics problems;
    for (const std::string& name : options.scenario.machines) {
        scenario.machine = name;
        auto question = analysis::resolve(scenario, folders_of(context));
        problems.append(question.diagnostics());
        scenario.changes.clear();
        if (question) {
            questions.push_back(*std::move(question));
        }
    }
    if (problems.has_errors()) {
        return problems;
    }
    return {std::move(questions), std::move(problems)};
}

// The roofs alone, where nothing is predicted.
Result<std::vector<analysis::Question>>
machines_of(Context& context, const RooflineOptions& options, const analysis::Scenario& scenario) {
    std::vector<analysis::Question> questions;
    Diagnostics problems;
    for (const std::string& name : options.scenario.machines) {
        auto machine = load_machine(context, name);
        if (machine && questions.empty()) {
            machine = analysis::changed(*machine, scenario.changes);
        }
        problems.append(machine.diagnostics());
        if (machine) {
            analysis::Question question;
            question.scenario = scenario;
            question.machine = *std::move(machine);
            questions.push_back(std::move(question));
        }
    }
    if (problems.has_errors()) {
        return problems;
    }
    return {std::move(questions), std::move(problems)};
}

Result<Material> gather(Context& context, const RooflineOptions& options,
                        const analysis::Scenario& scenario) {
    Material material;
    auto questions = scenario.network.empty() ? machines_of(context, options, scenario)
                                              : on_each(context, options, scenario);
    auto measured = load_measurements(context, options.measured);
    Diagnostics problems = questions.diagnostics();
    problems.append(measured.diagnostics());
    if (problems.has_errors()) {
        return Result<Material>(std::move(problems));
    }
    material.notes = std::move(problems);
    if (!scenario.network.empty() && measured->profiles.empty()) {
        add_own_times(context, scenario, options.scenario.machines, *measured);
    }
    for (const analysis::Question& question : *questions) {
        material.machines.push_back(question.machine);
    }
    report::make_distinct(material.machines);
    std::string title;
    if (!scenario.network.empty()) {
        for (std::size_t i = 0; i < questions->size(); ++i) {
            (*questions)[i].machine = material.machines[i];
        }
        auto name = predict(context, options, *questions, material);
        if (!name) {
            return Result<Material>(name.diagnostics());
        }
        title = *std::move(name);
    }
    std::vector<std::string> runs; // several are a series each
    for (const std::string& file : options.measured.profiles) {
        runs.push_back(std::filesystem::path(file).filename().string());
    }
    auto plot = report::make_plot(
        std::move(title), material.machines, material.reports,
        {measured->profiles, measured->ceilings, measured->assignments, measured->families, runs});
    if (!plot) {
        return Result<Material>(plot.diagnostics());
    }
    material.notes.append(plot.diagnostics());
    material.input = *std::move(plot);
    return Result<Material>(std::move(material));
}

Exit draw_ladder(Context& context, const RooflineOptions& options, const Material& material,
                 const report::Canvas& canvas) {
    if (material.reports.empty()) {
        return context.fail_usage("roofline: --ladder needs a NETWORK",
                                  "as in eyeroof roofline alexnet --on eyeriss-v1 --ladder");
    }
    const analysis::Report& report = material.reports.front();
    const auto found = std::find_if(
        report.layers.begin(), report.layers.end(),
        [&](const analysis::LayerReport& layer) { return layer.layer.name == options.ladder; });
    if (found == report.layers.end()) {
        Diagnostics unknown;
        unknown.error("unknown-layer", fmt::format("no layer is named '{}'", options.ladder),
                      "the first one is named " + report.layers.front().layer.name);
        return context.fail(unknown);
    }
    const auto index = static_cast<std::size_t>(found - report.layers.begin());
    const auto scene = report::make_waterfall(report, index, canvas);
    return context.write(report::to_svg(scene, svg_theme(options)), options.file);
}

std::string rendered(Context& context, const report::RooflineScene& scene, const Material& material,
                     const report::ViewState& view, const report::Canvas& canvas,
                     const RooflineOptions& options) {
    // One network on one machine is named by its scenario; several, by the plot's title.
    const report::Answer answer = report::roofline_answer(
        scene, material.input, material.reports.size() == 1 ? material.reports.front().words : "");
    const std::string format = roofline_format(options);
    report_warnings(context, answer, format);
    return format == "svg" ? report::to_svg(scene, svg_theme(options))
           : format == "html"
               ? report::to_html(report::level_scenes(scene, material.input, view, canvas),
                                 material.input, report::html_lead(answer),
                                 report::html_notes(answer))
               : report::written(answer, format, context.columns(options.file));
}

// The line that prints the same page: the format may come from the name of a file that it has not.
std::string page_command(const CLI::App& app, const RooflineOptions& options) {
    return command_line(app) +
           (options.format.empty() ? " --format " + roofline_format(options) : "");
}

// The exit of a question that lacks a part; nothing where it is complete.
std::optional<Exit> incomplete(Context& context, const RooflineOptions& options,
                               const analysis::Scenario& scenario) {
    if (options.scenario.machines.empty() &&
        (options.measured.none() || !scenario.network.empty())) {
        if (!scenario.network.empty()) { // that its name is wrong comes first
            const auto network =
                analysis::load_workload(scenario.network, scenario.sizes, folders_of(context));
            if (!network) {
                return context.fail(network.diagnostics());
            }
        }
        return context.fail_usage("roofline: below which roofs?", "give --on MACHINE");
    }
    if (scenario.network.empty() && options.measured.none()) {
        return context.fail_usage("roofline: nothing to draw",
                                  "give a NETWORK, or --profile FILE, or both");
    }
    return std::nullopt;
}

Exit roofline(Context& context, RooflineOptions options, const std::string& command) {
    if (!options.session.empty()) {
        const auto session = report::load_session(options.session);
        if (!session) {
            return context.fail(session.diagnostics());
        }
        take_session(options, *session);
    }
    auto scenario = scenario_of(context, options.scenario);
    if (!scenario) {
        return context.fail(scenario.diagnostics());
    }
    // A trace on the GPU that it names: its operators are the points. On a machine that is named
    // here its kernels are, as those of every measurement.
    const auto trace = trace_of(*scenario);
    const bool operators =
        !options.scenario.given("on") && trace && *trace && is_its_own(context, **trace, *scenario);
    if (!operators) {
        take_measurement(options, *scenario);
    }
    if (const auto exit = incomplete(context, options, *scenario)) {
        return *exit;
    }
    const auto canvas = canvas_of(options);
    auto view = view_of(options);
    if (!canvas || !view) {
        Diagnostics wrong = canvas.diagnostics();
        wrong.append(view.diagnostics());
        return context.fail(wrong);
    }
    const auto material = gather(context, options, *scenario);
    if (!material) {
        return context.fail(material.diagnostics());
    }
    context.report(material->notes);
    const auto level = report::level_named(material->input, view->level);
    if (!level) {
        return context.fail(level.diagnostics());
    }
    view->level = *level;
    if (!options.ladder.empty()) {
        return draw_ladder(context, options, *material, *canvas);
    }
    const auto scene = report::make_scene(material->input, *view, *canvas);
    if (!scene) {
        return context.fail(scene.diagnostics());
    }
    return context.write(with_origin(rendered(context, *scene, *material, *view, *canvas, options),
                                     roofline_format(options), command, material->machines),
                         options.file);
}

} // namespace

void add_roofline(Frame& frame) {
    auto options = std::make_shared<RooflineOptions>();
    CLI::App& app = frame.add(
        "roofline", "Draw layers and measured kernels on the roofline of one or more machines",
        kRooflineExamples);
    add_scenario(app, options->scenario, {{}, true});
    add_measurement_options(app, options->measured);
    app.add_option(
           "--session", options->session,
           "Draw what a session of eyeroof-gui shows; its view replaces the view options here")
        ->type_name("FILE");
    app.add_option("--ladder", options->ladder, "Draw the seven steps of this layer")
        ->type_name("LAYER");
    add_view_options(app, *options);
    const std::vector<std::string> formats = {"text", "svg", "html", "csv", "json", "md"};
    const CLI::Option* format = add_choice(app, "--format", options->format, formats,
                                           "Output format [by the ending of FILE; text on stdout]");
    app.add_option("-o,--output", options->file, "Write the result to a file, atomically")
        ->type_name("FILE")
        ->check([formats, format](const std::string& file) {
            return format->count() > 0 ? std::string() : not_written(file, formats);
        });
    frame.run(app, [options, &app](Context& context) {
        return roofline(context, *options, page_command(app, *options));
    });
}

} // namespace eyeroof::cli
