#include "cli/hw_views.hpp"

#include "base/csv.hpp"
#include "base/figures.hpp"
#include "base/json.hpp"
#include "base/units.hpp"
#include "cli/hw_parts.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <set>

namespace eyeroof::cli {

using model::Accelerator;
using model::Machine;
using Json = nlohmann::ordered_json;

namespace {

constexpr std::size_t kPageWidth = 100;

// Least trusted first.
constexpr std::array kTrust = {Confidence::user,      Confidence::recalled, Confidence::fitted,
                               Confidence::secondary, Confidence::derived,  Confidence::measured,
                               Confidence::paper,     Confidence::datasheet};

Confidence least_trusted(const ProvenanceMap& provenance) {
    for (const Confidence c : kTrust) {
        const bool found =
            std::any_of(provenance.begin(), provenance.end(),
                        [c](const auto& entry) { return entry.second.confidence == c; });
        if (found) {
            return c;
        }
    }
    return Confidence::user;
}

std::string cut(std::string text, std::size_t width) {
    if (text.size() > width) {
        std::size_t end = width - 3;
        while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) {
            --end; // not within a character
        }
        text.resize(end);
        text += "...";
    }
    return text;
}

// Source texts; one that only adds a "(note)" to another is left out.
std::string sources_text(const ProvenanceMap& provenance) {
    std::set<std::string> sources;
    for (const auto& [field, entry] : provenance) {
        sources.insert(entry.source);
    }
    std::set<std::string> lines; // texts that differ only in what is cut off are shown once
    for (const std::string& source : sources) {
        const auto note = source.rfind(" (");
        if (!source.ends_with(')') || !sources.contains(source.substr(0, note))) {
            lines.insert(cut(source, kPageWidth - 4));
        }
    }
    std::string text = "\n  sources:\n";
    for (const std::string& line : lines) {
        text += "    " + line + "\n";
    }
    return text;
}

// What every machine has, whatever its kind.
Json head_json(const Machine& machine) {
    return {{"id", machine.id}, {"name", machine.name}, {"summary", machine.summary}};
}

constexpr std::pair<std::string_view, std::string_view> kFamilies[] = {
    {"accelerators", "accelerator"}, {"gpus", "GPU"}, {"hosts", "host"}};

std::string heading_of(const Machine& machine) {
    return std::holds_alternative<Accelerator>(machine.kind) ? accelerator_heading()
                                                             : gpu_heading();
}

std::string columns_of(const Machine& machine) {
    if (const auto* a = std::get_if<Accelerator>(&machine.kind)) {
        return accelerator_columns(*a);
    }
    return gpu_columns(std::get<model::Gpu>(machine.kind));
}

// What fits behind the columns: a GPU's generation says more than the end of a sentence.
std::string description_of(const Machine& machine) {
    const auto* gpu = std::get_if<model::Gpu>(&machine.kind);
    if (gpu == nullptr || gpu->arch == model::GpuArch::host) {
        return machine.summary;
    }
    return fmt::format("{}, {}", model::gpu_arch_name(gpu->arch), gpu->launch_year);
}

// A table of one family; nothing when there is none of it.
std::string family_text(const std::vector<ListedMachine>& machines, std::string_view family,
                        std::string_view title) {
    std::size_t widest = title.size();
    const ListedMachine* first = nullptr;
    for (const ListedMachine& listed : machines) {
        if (listed.entry.family == family) {
            first = first == nullptr ? &listed : first;
            widest = std::max(widest, listed.entry.id.size());
        }
    }
    if (first == nullptr) {
        return {};
    }
    std::string text = fmt::format("{:<{}}  {}  {:<10}  description\n", title, widest,
                                   heading_of(first->machine), "confidence");
    for (const ListedMachine& listed : machines) {
        if (listed.entry.family == family) {
            const Machine& machine = listed.machine;
            std::string line =
                fmt::format("{:<{}}  {}  {:<10}  ", listed.entry.id, widest, columns_of(machine),
                            confidence_words(least_trusted(machine.provenance)));
            line += description_of(machine);
            text += cut(std::move(line), kPageWidth) + "\n";
        }
    }
    return text + "\n";
}

Json confidences_json(const hwdb::LintReport& report) {
    Json json = Json::object();
    for (const auto& [confidence, count] : report.confidences) {
        json[confidence_name(confidence)] = count;
    }
    return json;
}

std::string confidences_text(const hwdb::LintReport& report) {
    std::string text;
    for (const auto& [confidence, count] : report.confidences) {
        text +=
            fmt::format("{}{} {}", text.empty() ? "" : ", ", count, confidence_words(confidence));
    }
    return text;
}

} // namespace

std::string machines_text(const std::vector<ListedMachine>& machines) {
    std::string text;
    for (const auto& [family, title] : kFamilies) {
        text += family_text(machines, family, title);
    }
    return text +
           "Also systolic:ROWSxCOLUMNS, with :ws, :os or :is behind it. MACs are per cycle; "
           "confidence is\nthat of the least trusted source of any number (eyeroof hw check counts "
           "them).\n";
}

std::string machines_json(const std::vector<ListedMachine>& machines) {
    Json json = {{"schema", "eyeroof/machines/1"}, {"machines", Json::array()}};
    for (const ListedMachine& listed : machines) {
        Json entry = head_json(listed.machine);
        entry["family"] = listed.entry.family;
        entry["trust"] = confidence_name(least_trusted(listed.machine.provenance));
        if (const auto* a = std::get_if<Accelerator>(&listed.machine.kind)) {
            entry["macs_per_cycle"] = model::mac_units(*a);
            entry["clock_hz"] = a->clock_hz;
            entry["peak_macs_per_s"] = static_cast<double>(model::mac_units(*a)) * a->clock_hz;
        } else {
            const Json details = gpu_json(std::get<model::Gpu>(listed.machine.kind));
            entry["dram_bytes_per_s"] = details["dram_bytes_per_s"];
            entry["peaks"] = details["peaks"];
        }
        json["machines"].push_back(std::move(entry));
    }
    return json_document(json);
}

std::string machines_csv(const std::vector<ListedMachine>& machines) {
    std::string csv = "id,family,name,trust\n";
    for (const ListedMachine& listed : machines) {
        csv += fmt::format("{},{},{},{}\n", csv_quoted(listed.entry.id),
                           csv_quoted(listed.entry.family), csv_quoted(listed.machine.name),
                           confidence_name(least_trusted(listed.machine.provenance)));
    }
    return csv;
}

std::string machine_text(const Machine& machine) {
    std::string text = fmt::format("{} ({})\n", machine.name, machine.id);
    if (!machine.summary.empty()) {
        text += "  " + machine.summary + "\n";
    }
    if (const auto* a = std::get_if<Accelerator>(&machine.kind)) {
        text += accelerator_text(*a);
    } else {
        text += gpu_text(std::get<model::Gpu>(machine.kind));
    }
    return text + sources_text(machine.provenance);
}

std::string machine_json(const Machine& machine) {
    Json json = {{"schema", "eyeroof/machine/1"}};
    json.update(head_json(machine));
    if (const auto* a = std::get_if<Accelerator>(&machine.kind)) {
        json["kind"] = "accelerator";
        json.update(accelerator_json(*a));
    } else {
        json["kind"] = "gpu";
        json.update(gpu_json(std::get<model::Gpu>(machine.kind)));
    }
    json["sources"] = Json::array();
    for (const auto& [field, provenance] : machine.provenance) {
        json["sources"].push_back({{"field", field},
                                   {"source", provenance.source},
                                   {"confidence", confidence_name(provenance.confidence)}});
    }
    return json_document(json);
}

std::string lint_text(const std::vector<hwdb::LintReport>& reports) {
    std::size_t widest = 7;
    for (const hwdb::LintReport& report : reports) {
        widest = std::max(widest, report.id.size());
    }
    std::string text;
    for (const hwdb::LintReport& report : reports) {
        if (report.findings.has_errors()) {
            text += fmt::format("{:<{}}  fails\n", report.id, widest);
            continue;
        }
        text += fmt::format("{:<{}}  ok  {:>12}  {:>3} numbers: {}{}\n", report.id, widest,
                            format_si(report.peak_macs_per_s, "MAC/s"), report.numbers,
                            confidences_text(report),
                            hwdb::fit_for_benchmarks(report) ? "" : "; not for benchmarks");
    }
    return text;
}

std::string lint_json(const std::vector<hwdb::LintReport>& reports) {
    Json json = {{"schema", "eyeroof/hw-check/1"}, {"machines", Json::array()}};
    for (const hwdb::LintReport& report : reports) {
        Json entry = {{"id", report.id},
                      {"ok", !report.findings.has_errors()},
                      {"numbers", report.numbers},
                      {"confidences", confidences_json(report)},
                      {"macs_per_cycle", report.units},
                      {"peak_macs_per_s", report.peak_macs_per_s},
                      {"fit_for_benchmarks", hwdb::fit_for_benchmarks(report)},
                      {"findings", Json::array()}};
        if (report.printed_peak_macs_per_s) {
            entry["printed_peak_macs_per_s"] = *report.printed_peak_macs_per_s;
        }
        for (const Diagnostic& d : report.findings) {
            entry["findings"].push_back({{"code", d.code},
                                         {"message", d.message},
                                         {"file", d.where.file},
                                         {"line", d.where.line},
                                         {"column", d.where.column},
                                         {"field", d.field}});
        }
        json["machines"].push_back(std::move(entry));
    }
    return json_document(json);
}

} // namespace eyeroof::cli
