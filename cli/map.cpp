#include "analysis/exam/best_mappings.hpp"
#include "analysis/exam/word_types.hpp"
#include "analysis/exam/words.hpp"
#include "analysis/program/lower.hpp"
#include "analysis/search/achievable_report.hpp"
#include "analysis/search/map_network.hpp"
#include "analysis/search/trade_offs.hpp"
#include "cli/answer.hpp"
#include "cli/fail_if.hpp"
#include "cli/map_options.hpp"
#include "formats/mapping_yaml.hpp"
#include "report/answer/write.hpp"
#include "report/search/map_answer.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace eyeroof::cli {

namespace {

constexpr const char* kMapExamples =
    "# the optimal mapping of each AlexNet layer on Eyeriss, with its proof\n"
    "eyeroof map alexnet --on eyeriss-v1 --objective edp\n"
    "# one layer with its loop nest, imperfect factors included\n"
    "eyeroof map resnet50 --on nvdla-large --layers conv1 --factors any --details\n"
    "# energy counts twice as much as time\n"
    "eyeroof map vgg16 --on simba --layers CONV3_1 --objective 'energy^2*latency'\n"
    "# convergence of the search strategies towards the proven bound\n"
    "eyeroof map vgg16 --on eyeriss-v1 --layers CONV3_1 --plot convergence.svg\n"
    "# what speed costs in energy, and what on-chip capacity buys\n"
    "eyeroof map alexnet --on eyeriss-v1 --layers CONV3 --pareto --plot front.svg\n"
    "eyeroof map alexnet --on eyeriss-v1 --layers CONV3 --capacity-curve GLB --plot curve.svg\n"
    "# which of the machine's bounds a mapping can reach\n"
    "eyeroof map alexnet --on eyeriss-v1 --layers CONV3 --factors any --chain\n"
    "# Timeloop's files as they are\n"
    "eyeroof map prob.yaml --on arch.yaml --constraints cstr.yaml --counting timeloop";

// The layers as they run, where they are mapped, and what is asked of the search.
struct Inputs {
    model::Network network;
    model::Machine machine;
    analysis::MapOptions wanted;
    formats::TimeloopNames names;
    std::string words;

    const model::Accelerator* accelerator() const {
        return std::get_if<model::Accelerator>(&machine.kind);
    }
};

Result<Inputs> read_inputs(Context& context, MapOptions& options) {
    const auto question = question_of(context, options.scenario);
    if (!question) {
        return question.diagnostics();
    }
    context.report(question.diagnostics());
    auto network = analysis::lowered_network(*question);
    auto wanted = map_options(options, *question);
    Diagnostics all = network.diagnostics();
    all.append(wanted.diagnostics());
    const auto* accelerator = std::get_if<model::Accelerator>(&question->machine.kind);
    if (network && accelerator != nullptr) {
        all.append(analysis::check_types(*network, question->machine, *accelerator,
                                         question->scenario.data_type));
    }
    if (all.has_errors()) {
        return all;
    }
    context.report(all);
    return Inputs{*std::move(network), question->machine, *std::move(wanted),
                  analysis::workload_names(question->scenario.network),
                  analysis::scenario_words(*question)};
}

// Every strategy on the first layer that matches, for the plot.
Result<std::string> plot_of(const Inputs& inputs, const std::stop_token& stop) {
    const auto tasks = analysis::layer_tasks(inputs.network, inputs.machine, inputs.wanted);
    if (!tasks) {
        return Result<std::string>(tasks.diagnostics());
    }
    const mapper::Task& task = tasks->front().task;
    std::vector<report::Convergence> runs;
    for (const char* name : {"exact", "random", "random-pruned", "annealing", "genetic"}) {
        mapper::SearchOptions search = inputs.wanted.search;
        search.strategy = *mapper::strategy_from_name(name);
        auto found = mapper::search(task, search, stop);
        if (stop.stop_requested()) {
            return Result<std::string>::failure("cancelled", "the plot was cancelled");
        }
        if (found) { // a baseline may find none in its time
            runs.push_back({name, *std::move(found)});
        }
    }
    return Result<std::string>(
        report::convergence_svg(task.problem.name + " on " + inputs.machine.name, runs));
}

void say_cancelled(Context& context) {
    Diagnostics said;
    said.warning("cancelled", "the search was cancelled: this is what was found so far");
    context.report(said);
}

// The files beside the result: plot and mapping of the first layer.
Exit write_files(Context& context, const MapOptions& options, const Inputs& inputs,
                 const analysis::MapReport& report, const std::string& svg) {
    const auto& first = report.layers.front().found;
    const model::Accelerator& accelerator = *inputs.accelerator();
    Exit exit = Exit::done;
    if (!options.plot.empty() && !report.cancelled) {
        exit = context.write(svg, options.plot);
    }
    if (exit == Exit::done && !options.save_mapping.empty() && first) {
        exit = context.write(formats::write_mapping_yaml(first->mapping, accelerator),
                             options.save_mapping);
    }
    if (exit == Exit::done && !options.save_timeloop.empty() && first) {
        const auto text =
            formats::write_timeloop_mapping(first->mapping, accelerator, inputs.names);
        exit =
            text ? context.write(*text, options.save_timeloop) : context.fail(text.diagnostics());
    }
    return exit;
}

// The answer to --pareto, --capacity-curve, or --chain, and its picture with --plot.
template <class Report>
Exit write_trade_off(Context& context, const MapOptions& options, const Inputs& inputs,
                     const Result<Report>& report, auto answer_of) {
    if (!report) {
        return context.fail(report.diagnostics());
    }
    if (report->cancelled) {
        say_cancelled(context);
    }
    report::Answer answer = answer_of(*report);
    answer.question = inputs.words;
    if (!options.plot.empty() && answer.picture) {
        const Exit exit = context.write(report::to_svg_picture(answer), options.plot);
        if (exit != Exit::done) {
            return exit;
        }
    }
    return write_answer(context, answer, options.output,
                        report->cancelled ? Exit::cancelled : Exit::done);
}

Exit answer(Context& context, const MapOptions& options, const Inputs& inputs) {
    if (options.pareto) {
        return write_trade_off(
            context, options, inputs,
            analysis::front_of(inputs.network, inputs.machine, inputs.wanted, options.tolerance,
                               context.stop(), context.progress()),
            [&](const analysis::FrontReport& report) {
                return report::front_answer(report, *inputs.accelerator(), options.details);
            });
    }
    if (options.chain) {
        return write_trade_off(context, options, inputs,
                               analysis::achievable_of(inputs.network, inputs.machine,
                                                       inputs.wanted, context.stop(),
                                                       context.progress()),
                               report::reach_answer);
    }
    return write_trade_off(context, options, inputs,
                           analysis::curve_of(inputs.network, inputs.machine, inputs.wanted,
                                              options.curve_level, options.tolerance,
                                              context.stop(), context.progress()),
                           report::capacity_answer);
}

bool all_mapped(const analysis::MapReport& report, Diagnostics& why) {
    for (const analysis::MappedLayer& layer : report.layers) {
        if (!layer.same_as && !layer.found) {
            for (Diagnostic d : layer.why) {
                const bool note = d.severity == Severity::note;
                d.message = (note ? "" : layer.name + ": ") + d.message;
                why.add(std::move(d));
            }
        }
    }
    return !why.has_errors();
}

Exit map(Context& context, MapOptions& options) {
    if (const auto wrong = contradiction(options)) {
        return context.fail_usage(*wrong, "eyeroof map --help has an example of each");
    }
    const auto fail_if = FailIf::parse(options.fail_if, gate_figures(analysis::MapReport{}).keys);
    if (!fail_if) {
        return context.fail(fail_if.diagnostics());
    }
    const auto inputs = read_inputs(context, options);
    if (!inputs) {
        return context.fail(inputs.diagnostics());
    }
    if (options.pareto || options.chain || !options.curve_level.empty()) {
        return answer(context, options, *inputs);
    }
    const auto report = analysis::map_network(inputs->network, inputs->machine, inputs->wanted,
                                              context.stop(), context.progress());
    if (!report) {
        return context.fail(report.diagnostics());
    }
    Diagnostics unmapped;
    if (!all_mapped(*report, unmapped) && !report->cancelled) {
        return context.fail(unmapped);
    }
    const auto svg = options.plot.empty() || report->cancelled ? Result<std::string>(std::string())
                                                               : plot_of(*inputs, context.stop());
    if (!svg) {
        return context.fail(svg.diagnostics());
    }
    const Exit files = write_files(context, options, *inputs, *report, *svg);
    if (files != Exit::done) {
        return files;
    }
    if (report->cancelled) {
        say_cancelled(context);
    }
    report::Answer answer = report::map_answer(*report, *inputs->accelerator(), options.details);
    answer.question = inputs->words;
    return write_answer(context, answer, options.output, *fail_if, gate_figures(*report),
                        report->cancelled ? Exit::cancelled : Exit::done);
}

} // namespace

void add_map(Frame& frame) {
    auto options = std::make_shared<MapOptions>();
    CLI::App& app = frame.add(
        "map", "Find the best mapping of each layer, and prove that none is better", kMapExamples);
    options->scenario.usual.policy = analysis::MappingPolicy::best;
    options->scenario.usual.search_nodes = 0; // until the proof
    add_scenario(app, options->scenario,
                 {{"host", "host-speed", "clocks", "power-cap", "library", "layout", "compiled",
                   "launch", "streams", "copies", "pageable", "mapping", "in-place", "states"}});
    add_map_search(app, *options);
    app.add_option("--save-mapping", options->save_mapping,
                   "Write the first layer's mapping, for exam --mapping")
        ->type_name("FILE");
    app.add_option("--save-timeloop", options->save_timeloop,
                   "Write the first layer's mapping in Timeloop's format")
        ->type_name("FILE");
    app.add_option("--plot", options->plot,
                   "Draw an SVG: the front, the curve, or how all strategies converge on the first "
                   "layer that matches")
        ->type_name("FILE");
    app.add_flag("--pareto", options->pareto,
                 "Find each layer's Pareto front of latency and energy");
    app.add_option("--capacity-curve", options->curve_level,
                   "Plot each layer's least traffic over buffer capacity; "
                   "the machine's LEVEL is marked")
        ->type_name("LEVEL");
    app.add_flag("--chain", options->chain,
                 "Show bounds of steps 1 to 6: the machine's, and those "
                 "that the fastest mapping reaches");
    app.add_option("--tolerance", options->tolerance,
                   "Drop points this close to another, as a share [0: none]")
        ->check(CLI::Range(0.0, 10.0))
        ->type_name("SHARE");
    app.add_flag("--details", options->details, "Add loop nests and search effort");
    add_fail_if(app, options->fail_if);
    add_output(app, options->output, answer_formats());
    frame.run(app, [options](Context& context) { return map(context, *options); });
}

} // namespace eyeroof::cli
