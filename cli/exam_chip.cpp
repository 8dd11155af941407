// What an exam says beside its layers: the chip's area and power, whether the step fits the device.
#include "analysis/chip/chip.hpp"
#include "analysis/chip/chip_figures.hpp"
#include "cli/answer.hpp"
#include "cli/exam_options.hpp"
#include "hwdb/technology_reader.hpp"
#include "report/chip/chip_answer.hpp"

#include <fmt/format.h>

namespace eyeroof::cli {

void add_chip_options(CLI::App& app, ChipOptions& options) {
    const std::string group = "Area and power of the chip";
    app.add_flag("--chip", options.asked,
                 "Area of an accelerator's chip by component, and its power while the network runs")
        ->group(group);
    app.add_option("--process", options.process,
                   "Process node in nm, interpolated between those of the table [the machine's "
                   "process_nm, or the published chip's]")
        ->check(CLI::Range(1.0, 1000.0))
        ->type_name("NM")
        ->group(group);
    app.add_option("--areas", options.areas,
                   "Accelergy area reference table (ART), in place of the estimates of levels of "
                   "the same name")
        ->type_name("FILE")
        ->group(group);
}

Exit exam_chip(Context& context, const ExamOptions& options, const analysis::Question& question,
               const analysis::Report& report) {
    const auto technology = hwdb::load_technology(context.machine_dirs());
    Diagnostics all = technology.diagnostics();
    std::vector<analysis::NamedArea> areas;
    if (!options.chip.areas.empty()) {
        const auto table = analysis::read_area_table(options.chip.areas);
        all.append(table.diagnostics());
        areas = table ? *table : areas;
    }
    if (all.has_errors()) {
        return context.fail(all);
    }
    const auto chip =
        analysis::chip_report(question.machine, *technology, options.chip.process, areas, &report);
    if (!chip) {
        return context.fail(chip.diagnostics());
    }
    report::Answer answer = report::chip_answer(*chip);
    answer.question = report.words;
    return write_answer(context, answer, options.output);
}

void add_chip_figures(Context& context, const model::Machine& machine, analysis::Report& report) {
    if (!std::holds_alternative<model::Accelerator>(machine.kind)) {
        return;
    }
    const auto technology = hwdb::load_technology(context.machine_dirs());
    if (technology) {
        context.report(analysis::add_chip(machine, *technology, report));
        return;
    }
    for (Diagnostic d : technology.diagnostics()) {
        Diagnostics said; // the examination does not need the file
        d.severity = Severity::warning;
        said.add(std::move(d));
        context.report(said);
    }
}

} // namespace eyeroof::cli
