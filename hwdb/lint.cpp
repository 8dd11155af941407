#include "hwdb/lint.hpp"

#include "hwdb/accelerator_reader.hpp"
#include "model/base/units.hpp"

#include <fmt/format.h>

#include <cmath>

namespace eyeroof::hwdb {

namespace {

constexpr double kPeakTolerance = 0.01;

void check_peak(LintReport& report, const Document& document) {
    if (!report.printed_peak_macs_per_s) {
        return;
    }
    const double printed = *report.printed_peak_macs_per_s;
    const double deviation = std::fabs(printed - report.peak_macs_per_s) / report.peak_macs_per_s;
    if (deviation > kPeakTolerance) {
        report.findings.warning(
            "peak-mismatch",
            fmt::format("the printed peak is {}, but {:.0f} units at this clock make {}",
                        model::format_si(printed, "MAC/s"), report.units,
                        model::format_si(report.peak_macs_per_s, "MAC/s")),
            "the recomputed peak is used", document.locate("peak").where(), "peak");
    }
}

} // namespace

LintReport lint_machine(const std::filesystem::path& file) {
    LintReport report;
    report.id = file.stem().string();
    auto document = load_yaml(file);
    if (!document) {
        report.findings = document.diagnostics();
        return report;
    }
    const auto read = read_accelerator(*document, report.id);
    report.findings = read.diagnostics();
    if (!read) {
        return report;
    }
    const auto& machine = std::get<model::Accelerator>(read->machine.kind);
    report.loads = true;
    report.name = read->machine.name;
    report.numbers = static_cast<int>(read->numbers.size());
    for (const std::string& field : read->numbers) {
        if (const auto* source = model::find_provenance(read->machine.provenance, field)) {
            ++report.confidences[source->confidence];
        }
    }
    report.units = static_cast<double>(model::mac_units(machine));
    report.peak_macs_per_s = report.units * machine.clock_hz;
    report.printed_peak_macs_per_s = read->printed_peak_macs_per_s;
    check_peak(report, *document);
    if (read->machine.id != report.id) {
        report.findings.warning("id-mismatch",
                                fmt::format("the machine calls itself \"{}\", its file \"{}\"",
                                            read->machine.id, report.id),
                                "rename one of them", document->locate("id").where(), "id");
    }
    return report;
}

bool fit_for_benchmarks(const LintReport& report) {
    return report.loads && !report.confidences.contains(model::Confidence::recalled);
}

} // namespace eyeroof::hwdb
