// eyeroof bound: how far a program is from what the machine can do, and what stands between.
#include "base/units.hpp"
#include "cli/answer.hpp"
#include "cli/scenario_options.hpp"
#include "report/bound/bound_answer.hpp"

namespace eyeroof::cli {

namespace {

namespace bounds = analysis::bound;

struct BoundOptions {
    ScenarioOptions scenario;
    std::string measured;
    OutputOptions output;
};

Result<std::optional<double>> measured_time(const std::string& text) {
    using Answer = Result<std::optional<double>>;
    if (text.empty()) {
        return Answer(std::nullopt);
    }
    const auto seconds = parse_quantity(text, "s", "a measured time");
    return seconds && *seconds > 0.0 && *seconds < 1e9
               ? Answer(*seconds)
               : Answer::failure("usage", "--measured " + text + " is not a time",
                                 "as in --measured 1.26ms");
}

Exit bound(Context& context, BoundOptions& options) {
    const auto measured = measured_time(options.measured);
    const auto question = question_of(context, options.scenario);
    Diagnostics all = measured.diagnostics();
    all.append(question.diagnostics());
    if (all.has_errors()) {
        return context.fail(all);
    }
    context.report(all);
    const auto found = bounds::bound(*question, *measured, context.stop());
    if (!found) {
        return context.fail(found.diagnostics());
    }
    context.report(found.diagnostics());
    return write_answer(context,
                        report::bound_answer(*found, question->network.id, question->machine.id),
                        options.output);
}

} // namespace

void add_bound(Frame& frame) {
    auto options = std::make_shared<BoundOptions>();
    CLI::App& app = frame.add(
        "bound", "Compute lower bounds of a program's time, and explain the gap to its time",
        "eyeroof bound resnet18 --on a100-sxm-40gb --dtype tf32\n"
        "# a measured time: launches, traffic, kernels, and what is unexplained\n"
        "eyeroof bound resnet18 --on a100-sxm-40gb --dtype tf32 --measured 2.71ms\n"
        "# the operators that a compiler makes\n"
        "eyeroof bound bert-base --on h100-sxm-80gb --compiled --launch graph\n"
        "eyeroof bound alexnet --on eyeriss-v1 --format json");
    add_scenario(app, options->scenario);
    app.add_option("--measured", options->measured, "Measured time of a step to explain")
        ->type_name("TIME");
    add_output(app, options->output, answer_formats());
    frame.run(app, [options](Context& context) { return bound(context, *options); });
}

} // namespace eyeroof::cli
