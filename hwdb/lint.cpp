#include "hwdb/lint.hpp"

#include "base/date.hpp"
#include "base/units.hpp"
#include "hwdb/accelerator_reader.hpp"
#include "hwdb/catalog.hpp"
#include "hwdb/gpu_reader.hpp"

#include <fmt/format.h>

#include <cmath>
#include <sstream>
#include <string_view>

namespace eyeroof::hwdb {

namespace {

void check_peak(LintReport& report, const Document& document) {
    if (!report.printed_peak_macs_per_s) {
        return;
    }
    const double printed = *report.printed_peak_macs_per_s;
    const double deviation = std::fabs(printed - report.peak_macs_per_s) / report.peak_macs_per_s;
    if (deviation > model::kPeakTolerance) {
        report.findings.warning(
            "peak-mismatch",
            fmt::format("the printed peak is {}, but {:.0f} units at this clock make {}",
                        format_si(printed, "MAC/s"), report.units,
                        format_si(report.peak_macs_per_s, "MAC/s")),
            "the recomputed peak is used", document.locate("peak").where(), "peak");
    }
}

void check_sources(LintReport& report, const model::Machine& machine,
                   const std::vector<std::string>& numbers, const Document& document) {
    report.loads = true;
    report.name = machine.name;
    report.numbers = static_cast<int>(numbers.size());
    for (const std::string& field : numbers) {
        if (const auto* source = find_provenance(machine.provenance, field)) {
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

struct Capabilities {
    model::GpuArch arch;
    std::string_view known; // beginnings, separated by blanks
};
// Source: NVIDIA, CUDA C++ programming guide, "Compute Capabilities"; LLVM targets of AMD.
constexpr Capabilities kCapabilities[] = {{model::GpuArch::kepler, "3."},
                                          {model::GpuArch::maxwell, "5."},
                                          {model::GpuArch::pascal, "6."},
                                          {model::GpuArch::volta, "7.0 7.2"},
                                          {model::GpuArch::turing, "7.5"},
                                          {model::GpuArch::ampere, "8.0 8.6 8.7 8.8"},
                                          {model::GpuArch::ada, "8.9"},
                                          {model::GpuArch::hopper, "9."},
                                          {model::GpuArch::blackwell, "10. 11. 12."},
                                          {model::GpuArch::amd, "gfx"}};

bool is_capability_of(const Capabilities& row, const std::string& capability) {
    std::istringstream known{std::string(row.known)};
    for (std::string beginning; known >> beginning;) {
        if (capability.starts_with(beginning)) {
            return true;
        }
    }
    return false;
}

void check_capability(LintReport& report, const model::Gpu& gpu, const Document& document) {
    for (const Capabilities& row : kCapabilities) {
        if (row.arch == gpu.arch && !gpu.compute_capability.empty() &&
            !is_capability_of(row, gpu.compute_capability)) {
            report.findings.warning(
                "capability-mismatch",
                fmt::format("compute capability {} is not of the architecture {}",
                            gpu.compute_capability, gpu_arch_name(gpu.arch)),
                fmt::format("that has {}", row.known),
                document.locate("compute_capability").where(), "compute_capability");
        }
    }
}

void check_prices(LintReport& report, const model::Machine& machine,
                  const std::vector<std::string>& numbers, std::chrono::year_month_day today,
                  const Document& document) {
    constexpr std::chrono::days most_age{365};
    for (const std::string& field : numbers) {
        const auto* source = find_provenance(machine.provenance, field);
        if (!field.starts_with("prices.") || source == nullptr) {
            continue;
        }
        const auto date = date_in(source->source);
        const auto age = std::chrono::sys_days(today) - date.value_or(std::chrono::sys_days());
        if (!date || age > most_age) {
            report.findings.warning(
                "old-price",
                date ? fmt::format("this price is {} months old", age / std::chrono::months(1))
                     : std::string("this price has no date"),
                "look it up again; upgrade takes --from-per-hour and --to-per-hour",
                document.locate(field).where(), field);
        }
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

// The reader holds printed peaks against SMs, lanes and clock.
LintReport lint_gpu(LintReport report, std::optional<std::chrono::year_month_day> today,
                    Document& document) {
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
    check_capability(report, gpu, document);
    if (today) {
        check_prices(report, read->machine, read->numbers, *today, document);
    }
    return report;
}

} // namespace

LintReport lint_machine(const std::filesystem::path& file,
                        std::optional<std::chrono::year_month_day> today) {
    LintReport report;
    report.id = file.stem().string();
    report.in_catalog = stands_in_catalog(file);
    auto document = load_yaml(file);
    if (!document) {
        report.findings = document.diagnostics();
        return report;
    }
    return is_gpu_document(*document) ? lint_gpu(std::move(report), today, *document)
                                      : lint_accelerator(std::move(report), *document);
}

bool fit_for_benchmarks(const LintReport& report) {
    return report.loads && !report.confidences.contains(Confidence::recalled);
}

} // namespace eyeroof::hwdb
