#include "hwdb/lint.hpp"

#include "hwdb/accelerator_reader.hpp"
#include "hwdb/catalog.hpp"
#include "hwdb/gpu_reader.hpp"
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

void check_sources(LintReport& report, const model::Machine& machine,
                   const std::vector<std::string>& numbers, const Document& document) {
    report.loads = true;
    report.name = machine.name;
    report.numbers = static_cast<int>(numbers.size());
    for (const std::string& field : numbers) {
        if (const auto* source = model::find_provenance(machine.provenance, field)) {
            ++report.confidences[source->confidence];
        }
    }
    if (report.in_catalog && machine.id != report.id) {
        report.findings.warning(
            "id-mismatch",
            fmt::format("the machine calls itself '{}', its file '{}'", machine.id, report.id),
            "rename one of them", document.locate("id").where(), "id");
    }
}

LintReport lint_accelerator(LintReport report, Document& document) {
    const auto read = read_accelerator(document, report.id);
    report.findings = read.diagnostics();
    if (!read) {
        return report;
    }
    const auto& machine = std::get<model::Accelerator>(read->machine.kind);
    report.units = static_cast<double>(model::mac_units(machine));
    report.peak_macs_per_s = report.units * machine.clock_hz;
    report.printed_peak_macs_per_s = read->printed_peak_macs_per_s;
    check_sources(report, read->machine, read->numbers, document);
    check_peak(report, document);
    return report;
}

// The printed fp32 peak against SMs x lanes x clock.
LintReport lint_gpu(LintReport report, Document& document) {
    const auto read = read_gpu(document, report.id);
    report.findings = read.diagnostics();
    if (!read) {
        return report;
    }
    const auto& gpu = std::get<model::Gpu>(read->machine.kind);
    report.units = static_cast<double>(gpu.sms) * gpu.fp32_lanes;
    report.peak_macs_per_s = report.units * gpu.boost_hz;
    const double printed = gpu.rate(model::DataType::fp32).flops_per_s / 2.0;
    if (printed > 0.0) {
        report.printed_peak_macs_per_s = printed;
    }
    check_sources(report, read->machine, read->numbers, document);
    check_peak(report, document);
    return report;
}

} // namespace

LintReport lint_machine(const std::filesystem::path& file) {
    LintReport report;
    report.id = file.stem().string();
    report.in_catalog = stands_in_catalog(file);
    auto document = load_yaml(file);
    if (!document) {
        report.findings = document.diagnostics();
        return report;
    }
    return is_gpu_document(*document) ? lint_gpu(std::move(report), *document)
                                      : lint_accelerator(std::move(report), *document);
}

bool fit_for_benchmarks(const LintReport& report) {
    return report.loads && !report.confidences.contains(model::Confidence::recalled);
}

} // namespace eyeroof::hwdb
