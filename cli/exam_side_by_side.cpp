// eyeroof exam --on A --on B: the same network on several machines.
#include "cli/exam_study.hpp"
#include "cli/origin.hpp"

#include <fmt/format.h>

namespace eyeroof::cli {

namespace {

// What asks about one machine only.
Exit one_only(Context& context, const std::string& what) {
    return context.fail_usage(what + " goes with one --on", "ask for one machine at a time");
}

std::string rendered(const std::vector<study::Side>& sides, const OutputOptions& output,
                     bool colour) {
    return output.format == "json"   ? study::side_by_side_json(sides)
           : output.format == "csv"  ? study::side_by_side_csv(sides)
           : output.format == "md"   ? study::side_by_side_markdown(sides)
           : output.format == "html" ? study::side_by_side_html(sides)
                                     : study::side_by_side_text(sides, colour);
}

ExamOptions on(const ExamOptions& options, const std::string& machine) {
    ExamOptions own = options;
    own.machine = machine;
    return own;
}

} // namespace

Exit exam_side_by_side(Context& context, const ExamOptions& options, const std::string& command) {
    for (const auto& [given, what] :
         {std::pair(!options.compat.empty(), "--compat"), std::pair(options.advice, "--advice"),
          std::pair(options.details, "--details"), std::pair(!options.fail_if.empty(), "--fail-if"),
          std::pair(options.require_proof, "--require-proof"),
          std::pair(!options.measured.none(), "a measurement")}) {
        if (given) {
            return one_only(context, what);
        }
    }
    const auto wired = load_wired_workload(context, options.network, options.dims);
    std::vector<model::Machine> machines;
    model::Diagnostics all = wired.diagnostics();
    for (const std::string& name : options.machines) {
        auto machine = named_machine(context, on(options, name));
        all.append(machine.diagnostics());
        if (machine) {
            machines.push_back(*std::move(machine));
        }
    }
    if (all.has_errors()) {
        return context.fail(all);
    }
    context.report(all);
    std::vector<study::Side> sides;
    for (std::size_t i = 0; i < machines.size(); ++i) {
        const ExamOptions own = on(options, options.machines[i]);
        const auto wanted = wanted_study(context, own, machines[i]);
        if (!wanted) {
            return context.fail(wanted.diagnostics());
        }
        auto report =
            study::run(wired->network, machines[i], *wanted, context.stop(), context.progress());
        if (!report) {
            return context.fail(report.diagnostics());
        }
        context.report(report.diagnostics());
        add_chip_figures(context, machines[i], *report);
        sides.push_back({*std::move(report), memory_of(context, own, *wired, machines[i])});
    }
    const std::string text = rendered(sides, options.output, context.colour(options.output.file));
    return context.write(with_origin(text, options.output.format, command, std::move(machines)),
                         options.output.file);
}

} // namespace eyeroof::cli
