// eyeroof roofline: layers as predicted and kernels as measured, below the roofs of machines.
#include "cli/exam_options.hpp"
#include "cli/gpu_options.hpp"
#include "cli/search_options.hpp"
#include "study/app/session.hpp"
#include "study/draw/plot_level.hpp"
#include "study/draw/plot_make.hpp"
#include "study/draw/svg.hpp"
#include "study/exam/launch_names.hpp"
#include "study/exam/run.hpp"
#include "study/formats/catalog.hpp"
#include "study/formats/file_kind.hpp"
#include "study/report/plot_csv.hpp"
#include "study/report/plot_html.hpp"
#include "study/upgrade/surroundings.hpp"
#include "study/what_if/knobs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

namespace eyeroof::cli {

namespace {

constexpr const char* kRooflineExamples =
    "# the layers of AlexNet below Eyeriss's roofs\n"
    "eyeroof roofline alexnet --on eyeriss-v1 -o alexnet.svg\n"
    "# the same network on two GPUs, as a page that answers the pointer\n"
    "eyeroof roofline resnet50 --on v100-sxm2-16gb --on a100-sxm-40gb -o resnet50.html\n"
    "# measured kernels over the roofs, the heaviest that make up 90 % of the time\n"
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

struct RooflineOptions {
    std::string network;
    std::vector<std::string> machines;
    MeasurementFiles measured;
    std::string format;
    std::string file;
    std::string session;
    std::string ladder;
    std::string layers;
    std::string theme = "light";
    std::string colour_by = "auto";
    std::string size = "1000x640";
    std::string data_type;
    PhaseOptions phase;
    std::string launch;  // empty: the session's, else stream
    std::string mapping; // empty: the session's, else auto
    EffortOptions effort;
    std::vector<std::string> set;
    std::vector<study::MappingEdit> edits; // of a session, on the first machine
    std::optional<std::int64_t> batch;
    std::optional<double> top_share;
    std::vector<std::string> roofs, hidden, selected;
    std::string x_range, y_range;
    study::ViewState view;
};

// What the plot is made of, and the reports behind it.
struct Material {
    study::PlotInput input;
    std::vector<study::Report> reports;
    model::Diagnostics notes;
};

model::Result<study::Canvas> canvas_of(const std::string& size) {
    int width = 0;
    int height = 0;
    char beyond = 0;
    if (std::sscanf(size.c_str(), "%5dx%5d%c", &width, &height, &beyond) != 2 || width < 240 ||
        height < 180 || width > 20000 || height > 20000) {
        return model::Result<study::Canvas>::failure(
            "usage", fmt::format("roofline: '{}' is not a size", size),
            "WIDTHxHEIGHT in pixels, from 240x180 to 20000x20000");
    }
    return model::Result<study::Canvas>(
        study::Canvas{static_cast<double>(width), static_cast<double>(height)});
}

// By --format, or else by the ending of the file.
std::string format_of(const RooflineOptions& options) {
    if (!options.format.empty()) {
        return options.format;
    }
    const std::string ending = std::filesystem::path(options.file).extension().string();
    for (const char* known : {"svg", "html", "csv", "json"}) {
        if (ending == std::string(".") + known) {
            return known;
        }
    }
    return "svg";
}

study::StudyOptions study_options(const RooflineOptions& options) {
    study::StudyOptions wanted;
    wanted.batch = options.batch;
    wanted.data_type = model::data_type_from_name(options.data_type);
    wanted.policy = policy_named(options.mapping);
    set_effort(options.effort, options.mapping, wanted);
    wanted.operators = operators_of(options.phase);
    wanted.training = training_of(options.phase);
    wanted.launch = study::launch_named(options.launch);
    if (!options.layers.empty()) {
        wanted.layers = options.layers;
    }
    return wanted;
}

// One report a machine; gives the network's name.
model::Result<std::string> predict(Context& context, const RooflineOptions& options,
                                   const std::vector<model::Machine>& machines,
                                   Material& material) {
    const auto network = study::read::load_network(options.network, context.network_dirs());
    if (!network) {
        return model::Result<std::string>(network.diagnostics());
    }
    material.notes.append(network.diagnostics());
    for (const model::Machine& machine : machines) {
        const auto host = study::host_issue({}, machine, context.machine_dirs());
        if (!host) {
            return model::Result<std::string>(host.diagnostics());
        }
        study::StudyOptions wanted = study_options(options);
        wanted.host = *host;
        auto report = study::run(*network, machine, wanted, context.stop(), context.progress());
        if (!report) {
            return model::Result<std::string>(report.diagnostics());
        }
        material.notes.append(report.diagnostics());
        if (&machine == &machines.front()) {
            material.notes.append(study::apply_edits(*report, machine, options.edits, wanted));
        }
        material.reports.push_back(std::move(*report));
    }
    const std::string& name = material.reports.front().network_name;
    return name.empty() ? network->id : name;
}

model::Result<Material> gather(Context& context, const RooflineOptions& options) {
    Material material;
    model::Diagnostics problems;
    std::vector<model::Machine> machines;
    for (const std::string& name : options.machines) {
        auto machine = load_machine(context, name);
        if (machine && &name == &options.machines.front()) {
            machine = study::changed(*machine, options.set);
        }
        problems.append(machine.diagnostics());
        if (machine) {
            machines.push_back(std::move(*machine));
        }
    }
    study::make_distinct(machines);
    const auto measured = load_measurements(context, options.measured);
    problems.append(measured.diagnostics());
    if (problems.has_errors()) {
        return model::Result<Material>(std::move(problems));
    }
    material.notes = std::move(problems);
    std::string title;
    if (!options.network.empty()) {
        auto name = predict(context, options, machines, material);
        if (!name) {
            return model::Result<Material>(name.diagnostics());
        }
        title = *std::move(name);
    }
    auto plot = study::make_plot(
        std::move(title), machines, material.reports,
        {measured->profiles, measured->ceilings, measured->assignments, measured->families});
    if (!plot) {
        return model::Result<Material>(plot.diagnostics());
    }
    material.notes.append(plot.diagnostics());
    material.input = *std::move(plot);
    return model::Result<Material>(std::move(material));
}

study::SvgTheme svg_theme(const RooflineOptions& options) {
    return options.theme == "dark"   ? study::SvgTheme::dark
           : options.theme == "auto" ? study::SvgTheme::automatic
                                     : study::SvgTheme::light;
}

Exit draw_ladder(Context& context, const RooflineOptions& options, const Material& material,
                 const study::Canvas& canvas) {
    if (material.reports.empty()) {
        return context.fail_usage("roofline: --ladder needs a NETWORK",
                                  "as in eyeroof roofline alexnet --on eyeriss-v1 --ladder");
    }
    const study::Report& report = material.reports.front();
    const auto found = std::find_if(
        report.layers.begin(), report.layers.end(),
        [&](const study::LayerReport& layer) { return layer.layer.name == options.ladder; });
    if (found == report.layers.end()) {
        model::Diagnostics unknown;
        unknown.error("unknown-layer", fmt::format("no layer is named '{}'", options.ladder),
                      "the first one is named " + report.layers.front().layer.name);
        return context.fail(unknown);
    }
    const auto index = static_cast<std::size_t>(found - report.layers.begin());
    const auto scene = study::make_waterfall(report, index, canvas);
    return context.write(study::to_svg(scene, svg_theme(options)), options.file);
}

std::string rendered(const study::RooflineScene& scene, const Material& material,
                     const study::ViewState& view, const study::Canvas& canvas,
                     const RooflineOptions& options) {
    const std::string format = format_of(options);
    return format == "csv"    ? study::to_csv(scene, material.input)
           : format == "json" ? study::to_json(scene, material.input)
           : format == "html"
               ? study::to_html(study::level_scenes(scene, material.input, view, canvas),
                                material.input)
               : study::to_svg(scene, svg_theme(options));
}

// A session's contents, where the command line does not say otherwise.
void take_session(RooflineOptions& options, const study::Session& session) {
    if (options.network.empty()) {
        options.network = session.network;
    }
    if (options.machines.empty()) {
        options.machines = session.machines;
    }
    if (options.measured.profiles.empty()) {
        options.measured.profiles = session.profiles;
    }
    if (options.measured.ceilings.empty()) {
        options.measured.ceilings = session.ceilings;
    }
    if (options.measured.assignments.empty()) {
        options.measured.assignments = session.assignments;
    }
    options.edits = session.mappings;
    options.batch = options.batch ? options.batch : session.batch;
    if (options.data_type.empty()) {
        options.data_type = session.data_type;
    }
    if (options.mapping.empty()) {
        options.mapping = session.mapping == study::MappingPolicy::best       ? "best"
                          : session.mapping == study::MappingPolicy::dataflow ? "dataflow"
                                                                              : "auto";
    }
    if (options.launch.empty()) {
        options.launch = study::launch_name(session.launch);
    }
    if (session.phase != "inference" && options.phase.phase == "inference") {
        options.phase.phase = "training";
        options.phase.optimizer = session.phase;
    }
    if (options.set.empty()) {
        options.set = session.set;
    }
    options.view = session.view;
    if (session.view.theme == study::Theme::dark) {
        options.theme = "dark";
    }
}

// `roofline run.jsonl` means the measurement.
void take_measurement(RooflineOptions& options) {
    std::error_code ignored;
    if (std::filesystem::is_regular_file(options.network, ignored)) {
        const auto kind = study::read::kind_of_file(options.network);
        if (kind && *kind == study::read::FileKind::profile) {
            options.measured.profiles.push_back(std::exchange(options.network, {}));
        }
    }
}

model::Result<study::LogRange> range_of(const std::string& option, const std::string& text) {
    study::LogRange range{};
    char beyond = 0;
    if (std::sscanf(text.c_str(), "%lf:%lf%c", &range.min, &range.max, &beyond) != 2 ||
        !(range.min > 0.0) || !(range.max > range.min) || !std::isfinite(range.max)) {
        return model::Result<study::LogRange>::failure(
            "usage", fmt::format("roofline: '{}' is no range for {}", text, option),
            "two positive numbers, the smaller first, such as 0.1:1000");
    }
    return range;
}

// What the view options say, on top of a session's view.
model::Result<study::ViewState> view_of(const RooflineOptions& options) {
    study::ViewState view = options.view;
    model::Diagnostics wrong;
    const auto set_range = [&](const char* option, const std::string& text, auto& into) {
        if (!text.empty()) {
            const auto range = range_of(option, text);
            wrong.append(range.diagnostics());
            into = range ? std::optional(*range) : into;
        }
    };
    set_range("--x-range", options.x_range, view.x);
    set_range("--y-range", options.y_range, view.y);
    if (options.top_share) {
        view.top_share = *options.top_share / 100.0;
    }
    if (!options.roofs.empty()) {
        view.roofs.emplace(options.roofs.begin(), options.roofs.end());
        view.roofs->erase("none");
    }
    for (const std::string& hidden : options.hidden) {
        (hidden == "predicted" ? view.predicted : view.measured) = false;
    }
    view.selection.insert(options.selected.begin(), options.selected.end());
    if (options.colour_by != "auto") {
        view.colour_by =
            options.colour_by == "machine" ? study::ColourBy::machine : study::ColourBy::limiter;
    }
    if (wrong.has_errors()) {
        return wrong;
    }
    return view;
}

Exit roofline(Context& context, RooflineOptions options) {
    take_measurement(options);
    if (!options.session.empty()) {
        const auto session = study::load_session(options.session);
        if (!session) {
            return context.fail(session.diagnostics());
        }
        take_session(options, *session);
    }
    if (options.machines.empty() && (options.measured.none() || !options.network.empty())) {
        if (!options.network.empty()) { // that its name is wrong comes first
            const auto network = load_workload(context, options.network);
            if (!network) {
                return context.fail(network.diagnostics());
            }
        }
        return context.fail_usage("roofline: below which roofs?", "give --on MACHINE");
    }
    if (options.network.empty() && options.measured.none()) {
        return context.fail_usage("roofline: nothing to draw",
                                  "give a NETWORK, or --profile FILE, or both");
    }
    const auto canvas = canvas_of(options.size);
    auto view = view_of(options);
    if (!canvas || !view) {
        model::Diagnostics wrong = canvas.diagnostics();
        wrong.append(view.diagnostics());
        return context.fail(wrong);
    }
    const auto material = gather(context, options);
    if (!material) {
        return context.fail(material.diagnostics());
    }
    context.report(material->notes);
    const auto level = study::level_named(material->input, view->level);
    if (!level) {
        return context.fail(level.diagnostics());
    }
    view->level = *level;
    if (!options.ladder.empty()) {
        return draw_ladder(context, options, *material, *canvas);
    }
    const auto scene = study::make_scene(material->input, *view, *canvas);
    if (!scene) {
        return context.fail(scene.diagnostics());
    }
    model::Diagnostics warnings;
    for (const std::string& warning : scene->warnings) {
        warnings.warning("plot", warning);
    }
    context.report(warnings);
    return context.write(rendered(*scene, *material, *view, *canvas, options), options.file);
}

void add_view_options(CLI::App& app, RooflineOptions& options) {
    app.add_option("--filter", options.view.filter, "Only points whose name matches")
        ->type_name("REGEX");
    app.add_option("--top", options.view.top, "Only the N names that take most of the time")
        ->check(CLI::Range(1, 1'000'000))
        ->type_name("N");
    app.add_option("--top-share", options.top_share,
                   "Only the heaviest names that make up this percentage of the time")
        ->check(CLI::Range(0.0, 100.0))
        ->type_name("PERCENT");
    app.add_option("--level", options.view.level,
                   "Memory level whose bytes give the intensity, or all [the outermost]")
        ->type_name("LEVEL");
    add_choice(app, "--colour-by", options.colour_by, {"auto", "limiter", "machine"},
               "What colours and shapes tell [auto: machines when there are several]");
    app.add_option("--roof", options.roofs,
                   "Show this roof and no others than those named (repeatable), or none; JSON has "
                   "their ids [those that the points need]")
        ->type_name("ROOF")
        ->allow_extra_args(false);
    app.add_option("--x-range", options.x_range, "Intensities to show [what there is]")
        ->type_name("FROM:TO");
    app.add_option("--y-range", options.y_range, "FLOP/s to show [what there is]")
        ->type_name("FROM:TO");
    app.add_option("--hide", options.hidden, "Leave out predicted or measured points")
        ->check(CLI::IsMember({"predicted", "measured"}))
        ->type_name("{predicted,measured}")
        ->allow_extra_args(false);
    app.add_option("--select", options.selected, "Mark the point of this id (repeatable)")
        ->type_name("POINT")
        ->allow_extra_args(false);
    app.add_flag("--labels,!--no-labels", options.view.labels, "Name the heaviest points [yes]");
    add_choice(app, "--theme", options.theme, {"light", "dark", "auto"},
               "Colours of the SVG; auto follows the reader's setting [light]");
    app.add_option("--size", options.size, "Size of the picture in pixels [1000x640]")
        ->type_name("WxH");
}

} // namespace

void add_roofline(Frame& frame) {
    auto options = std::make_shared<RooflineOptions>();
    CLI::App& app =
        frame.add("roofline", "Draw layers and measured kernels below the roofs of machines",
                  kRooflineExamples);
    app.add_option("NETWORK", options->network,
                   "Name in the catalog, a network YAML, a CSV of layers, or a measurement")
        ->type_name("NETWORK|FILE");
    app.add_option("--on", options->machines, "Machine to draw (repeatable)")
        ->type_name("MACHINE|FILE")
        ->allow_extra_args(false);
    add_measurement_options(app, options->measured);
    app.add_option("--session", options->session,
                   "Draw what a session of eyeroof-gui shows; its view replaces the view options")
        ->type_name("FILE");
    app.add_option("--batch", options->batch, "Multiply the network's batch by N")
        ->check(CLI::Range(std::int64_t{1}, model::kMaxDimension))
        ->type_name("N");
    add_dtype(app, options->data_type);
    add_phase(app, options->phase);
    add_network_launch(app, options->launch);
    add_choice(app, "--mapping", options->mapping, {"auto", "dataflow", "best"},
               std::string(kMappingWords) + " [auto; with --session: the session's]");
    add_set(app, options->set);
    app.add_option("--layers", options->layers, "Examine only layers whose name matches")
        ->type_name("REGEX");
    app.add_option("--ladder", options->ladder, "Draw the seven steps of this layer instead")
        ->type_name("LAYER");
    add_view_options(app, *options);
    add_choice(app, "--format", options->format, {"svg", "html", "csv", "json"},
               "Output format [by the ending of FILE, else svg]");
    app.add_option("-o,--output", options->file,
                   "Write the result to a file; it is whole or untouched, also on errors")
        ->type_name("FILE");
    frame.run(app, [options](Context& context) { return roofline(context, *options); });
}

} // namespace eyeroof::cli
