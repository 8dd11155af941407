#include "cli/hw_views.hpp"

#include "hwdb/accelerator_reader.hpp"
#include "model/base/units.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

namespace eyeroof::cli {

using model::Accelerator;
using model::Confidence;
using model::Machine;
using Json = nlohmann::ordered_json;

namespace {

constexpr std::size_t kWidth = 100;

// Least trusted first.
constexpr std::array kTrust = {Confidence::user,     Confidence::recalled, Confidence::fitted,
                               Confidence::derived,  Confidence::measured, Confidence::paper,
                               Confidence::datasheet};

Confidence least_trusted(const model::ProvenanceMap& provenance) {
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

std::string dataflows_text(const Accelerator& machine) {
    std::string text;
    for (const model::Dataflow& dataflow : machine.dataflows) {
        text += (text.empty() ? "" : ", ") + std::string(model::dataflow_name(dataflow.kind));
    }
    return text;
}

std::string cut(std::string text, std::size_t width) {
    if (text.size() > width) {
        text.resize(width - 3);
        text += "...";
    }
    return text;
}

std::string operands_text(model::OperandSet operands) {
    std::string text;
    for (const model::Operand o : model::kAllOperands) {
        if (operands.contains(o)) {
            text += (text.empty() ? "" : "+") + std::string(model::operand_name(o));
        }
    }
    return text;
}

std::string rate_text(double bytes_per_cycle) {
    return std::isinf(bytes_per_cycle) ? "unlimited"
                                       : fmt::format("{:.4g} B/cycle", bytes_per_cycle);
}

std::string store_text(const model::Store& store) {
    std::string text = fmt::format(
        "    {:<22} {:>10}", operands_text(store.operands),
        store.capacity_bytes ? model::format_iec(static_cast<double>(*store.capacity_bytes), "B")
                             : std::string("unlimited"));
    if (store.bank_bytes > 1) {
        text += fmt::format(", banks of {}",
                            model::format_iec(static_cast<double>(store.bank_bytes), "B"));
    }
    if (store.buffers > 1) {
        text += fmt::format(", {} buffers", store.buffers);
    }
    return text + fmt::format(", {:.4g} pJ read, {:.4g} pJ write\n", store.read_pj, store.write_pj);
}

std::string channel_text(const model::Channel& channel) {
    const std::string rates =
        channel.half_duplex ? rate_text(channel.down_bytes_per_cycle) + " both ways together"
        : channel.operands.contains(model::Operand::output)
            ? fmt::format("{} down, {} up", rate_text(channel.down_bytes_per_cycle),
                          rate_text(channel.up_bytes_per_cycle))
            : rate_text(channel.down_bytes_per_cycle);
    return fmt::format("    {:<22} {}: {}, {}\n", channel.name, operands_text(channel.operands),
                       rates, hwdb::cast_name(channel.cast));
}

std::string level_text(const Accelerator& machine, std::size_t i) {
    const model::Level& level = machine.levels[i];
    const model::Count instances = model::instances_of(machine, i);
    std::string text =
        fmt::format("  {}{}{}\n", level.name, instances > 1 ? fmt::format(" x {}", instances) : "",
                    level.keeps_between_layers ? ", keeps activations" : "");
    for (const model::Store& store : level.stores) {
        text += store_text(store);
    }
    for (const model::Channel& channel : level.channels) {
        text += channel_text(channel);
    }
    if (!level.fanout.empty()) {
        std::string axes;
        for (const model::Axis& axis : level.fanout) {
            axes += fmt::format("{}{} {}", axes.empty() ? "" : " x ", axis.name, axis.size);
        }
        text += "    fans out to " + axes + "\n";
    }
    return text;
}

std::string accelerator_text(const Accelerator& machine) {
    const double units = static_cast<double>(model::mac_units(machine));
    std::string text = fmt::format("  {} MACs a cycle at {}: {}\n", model::mac_units(machine),
                                   model::format_si(machine.clock_hz, "Hz"),
                                   model::format_si(units * machine.clock_hz, "MAC/s"));
    text += fmt::format("  words: {} bit input, {} bit weight, {} bit output; {} pJ a MAC\n",
                        machine.word_bits[0], machine.word_bits[1], machine.word_bits[2],
                        machine.mac_pj);
    text += "  dataflows: " + dataflows_text(machine) + "\n\n";
    for (std::size_t i = 0; i < machine.levels.size(); ++i) {
        text += level_text(machine, i);
    }
    return text;
}

Json json_rate(double bytes_per_cycle) {
    return std::isinf(bytes_per_cycle) ? Json(nullptr) : Json(bytes_per_cycle);
}

Json operands_json(model::OperandSet operands) {
    Json list = Json::array();
    for (const model::Operand o : model::kAllOperands) {
        if (operands.contains(o)) {
            list.push_back(std::string(model::operand_name(o)));
        }
    }
    return list;
}

Json level_json(const model::Level& level) {
    Json json = {{"name", level.name},
                 {"keeps_between_layers", level.keeps_between_layers},
                 {"stores", Json::array()},
                 {"channels", Json::array()},
                 {"fanout", Json::array()}};
    for (const model::Store& store : level.stores) {
        json["stores"].push_back(
            {{"operands", operands_json(store.operands)},
             {"capacity_bytes", store.capacity_bytes ? Json(*store.capacity_bytes) : Json(nullptr)},
             {"bank_bytes", store.bank_bytes},
             {"buffers", store.buffers},
             {"read_bytes_per_cycle", json_rate(store.read_bytes_per_cycle)},
             {"write_bytes_per_cycle", json_rate(store.write_bytes_per_cycle)},
             {"read_energy_pj", store.read_pj},
             {"write_energy_pj", store.write_pj},
             {"may_bypass", store.may_bypass}});
    }
    for (const model::Channel& channel : level.channels) {
        json["channels"].push_back(
            {{"name", channel.name},
             {"operands", operands_json(channel.operands)},
             {"down_bytes_per_cycle", json_rate(channel.down_bytes_per_cycle)},
             {"up_bytes_per_cycle", json_rate(channel.up_bytes_per_cycle)},
             {"half_duplex", channel.half_duplex},
             {"cast", std::string(hwdb::cast_name(channel.cast))},
             {"reduces", channel.reduces},
             {"forwards", channel.forwards},
             {"hop_energy_pj", channel.hop_pj},
             {"bits_per_nonzero",
              channel.bits_per_nonzero ? Json(*channel.bits_per_nonzero) : Json(nullptr)}});
    }
    for (const model::Axis& axis : level.fanout) {
        json["fanout"].push_back({{"axis", axis.name}, {"size", axis.size}});
    }
    return json;
}

Json accelerator_json(const Accelerator& machine) {
    Json json = {
        {"clock_hz", machine.clock_hz},
        {"macs_per_cycle", model::mac_units(machine)},
        {"peak_macs_per_s", static_cast<double>(model::mac_units(machine)) * machine.clock_hz},
        {"word_bits",
         {{"input", machine.word_bits[0]},
          {"weight", machine.word_bits[1]},
          {"output", machine.word_bits[2]}}},
        {"mac_energy_pj", machine.mac_pj},
        {"pipeline_stages", machine.pipeline_stages},
        {"dataflows", Json::array()},
        {"levels", Json::array()}};
    for (const model::Dataflow& dataflow : machine.dataflows) {
        json["dataflows"].push_back(std::string(model::dataflow_name(dataflow.kind)));
    }
    for (const model::Level& level : machine.levels) {
        json["levels"].push_back(level_json(level));
    }
    return json;
}

// Source texts; one that only adds a "(note)" to another is left out.
std::string sources_text(const model::ProvenanceMap& provenance) {
    std::set<std::string> sources;
    for (const auto& [field, entry] : provenance) {
        sources.insert(entry.source);
    }
    std::string text = "\n  sources:\n";
    for (const std::string& source : sources) {
        const auto note = source.rfind(" (");
        if (source.ends_with(')') && sources.contains(source.substr(0, note))) {
            continue;
        }
        text += fmt::format("    {}\n", cut(source, kWidth - 4));
    }
    return text;
}

// What every machine has, whatever its kind.
Json head_json(const Machine& machine) {
    return {{"id", machine.id}, {"name", machine.name}, {"summary", machine.summary}};
}

Json confidences_json(const hwdb::LintReport& report) {
    Json json = Json::object();
    for (const auto& [confidence, count] : report.confidences) {
        json[model::confidence_name(confidence)] = count;
    }
    return json;
}

std::string confidences_text(const hwdb::LintReport& report) {
    std::string text;
    for (const auto& [confidence, count] : report.confidences) {
        text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count,
                            model::confidence_name(confidence));
    }
    return text;
}

} // namespace

std::string machines_text(const std::vector<ListedMachine>& machines) {
    std::size_t widest = 7;
    for (const ListedMachine& listed : machines) {
        widest = std::max(widest, listed.entry.id.size());
    }
    std::string text = fmt::format("{:<{}}  {:>5}  {:>11}  {:<9}  {}\n", "machine", widest, "MACs",
                                   "peak", "trust", "what it is");
    for (const ListedMachine& listed : machines) {
        const Machine& machine = listed.machine;
        std::string line = fmt::format("{:<{}}  ", listed.entry.id, widest);
        if (const auto* a = std::get_if<Accelerator>(&machine.kind)) {
            const double peak = static_cast<double>(model::mac_units(*a)) * a->clock_hz;
            line += fmt::format("{:>5}  {:>11}  ", model::mac_units(*a),
                                model::format_si(peak, "MAC/s"));
        } else {
            line += fmt::format("{:>18}  ", "");
        }
        line += fmt::format("{:<9}  ", model::confidence_name(least_trusted(machine.provenance)));
        text += line + cut(machine.summary, kWidth - line.size()) + "\n";
    }
    return text +
           "\nAlso systolic:ROWSxCOLUMNS, with :ws, :os or :is behind it. MACs are per cycle; "
           "trust is the\nleast trusted source of any number (eyeroof hw check counts "
           "them).\n";
}

std::string machines_json(const std::vector<ListedMachine>& machines) {
    Json json = {{"schema", "eyeroof/machines/1"}, {"machines", Json::array()}};
    for (const ListedMachine& listed : machines) {
        Json entry = head_json(listed.machine);
        entry["family"] = listed.entry.family;
        entry["trust"] = model::confidence_name(least_trusted(listed.machine.provenance));
        if (const auto* a = std::get_if<Accelerator>(&listed.machine.kind)) {
            entry["macs_per_cycle"] = model::mac_units(*a);
            entry["clock_hz"] = a->clock_hz;
            entry["peak_macs_per_s"] = static_cast<double>(model::mac_units(*a)) * a->clock_hz;
        }
        json["machines"].push_back(std::move(entry));
    }
    return json.dump(2) + "\n";
}

std::string machine_text(const Machine& machine) {
    std::string text = fmt::format("{} ({})\n", machine.name, machine.id);
    if (!machine.summary.empty()) {
        text += "  " + machine.summary + "\n";
    }
    if (const auto* a = std::get_if<Accelerator>(&machine.kind)) {
        text += accelerator_text(*a);
    }
    return text + sources_text(machine.provenance);
}

std::string machine_json(const Machine& machine) {
    Json json = {{"schema", "eyeroof/machine/1"}};
    json.update(head_json(machine));
    if (const auto* a = std::get_if<Accelerator>(&machine.kind)) {
        json["kind"] = "accelerator";
        json.update(accelerator_json(*a));
    }
    json["sources"] = Json::array();
    for (const auto& [field, provenance] : machine.provenance) {
        json["sources"].push_back({{"field", field},
                                   {"source", provenance.source},
                                   {"confidence", model::confidence_name(provenance.confidence)}});
    }
    return json.dump(2) + "\n";
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
                            model::format_si(report.peak_macs_per_s, "MAC/s"), report.numbers,
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
        for (const model::Diagnostic& d : report.findings) {
            entry["findings"].push_back({{"code", d.code},
                                         {"message", d.message},
                                         {"file", d.where.file},
                                         {"line", d.where.line},
                                         {"column", d.where.column},
                                         {"field", d.field}});
        }
        json["machines"].push_back(std::move(entry));
    }
    return json.dump(2) + "\n";
}

} // namespace eyeroof::cli
