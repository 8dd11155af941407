// How a spatial accelerator is shown by hw show.
#include "base/units.hpp"
#include "cli/hw_parts.hpp"
#include "hwdb/accelerator_reader.hpp"

#include <fmt/format.h>

#include <cmath>

namespace eyeroof::cli {

using model::Accelerator;
using Json = nlohmann::ordered_json;

namespace {

std::string dataflows_text(const Accelerator& machine) {
    std::string text;
    for (const model::Dataflow& dataflow : machine.dataflows) {
        text += (text.empty() ? "" : ", ") + std::string(model::dataflow_name(dataflow.kind));
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

std::string energies_text(const model::Store& store) {
    const bool alike = store.own_read_pj == model::PerOperand<std::optional<double>>{} &&
                       store.own_write_pj == store.own_read_pj;
    std::string text;
    for (const model::Operand o : model::kAllOperands) {
        if (store.operands.contains(o) && (text.empty() || !alike)) {
            text += fmt::format(", {}{:.4g} pJ read, {:.4g} pJ write",
                                alike ? "" : std::string(operand_name(o)) + " ",
                                store.read_pj_of(o), store.write_pj_of(o));
        }
    }
    return text;
}

std::string store_text(const model::Store& store) {
    std::string text = fmt::format("    {:<22} {:>10}", operands_text(store.operands),
                                   store.capacity_bytes
                                       ? format_iec(static_cast<double>(*store.capacity_bytes), "B")
                                       : std::string("unlimited"));
    if (store.bank_bytes > 1) {
        text +=
            fmt::format(", banks of {}", format_iec(static_cast<double>(store.bank_bytes), "B"));
    }
    if (store.buffers > 1) {
        text += fmt::format(", {} buffers", store.buffers);
    }
    if (store.prefetch) {
        text += ", prefetches";
    }
    text += energies_text(store);
    if (store.leak_pj > 0.0) {
        text += fmt::format(", leaks {:g} pJ/cycle", store.leak_pj);
    }
    return text + "\n";
}

// "      ddr4-3200 x 2: 51.2 GB/s peak, runs of 64 B: bursts 100 %, rows 47 %, refresh 95 %".
std::string dram_text(const model::DramLink& link) {
    const model::DramRate rate = model::rate_of(link);
    if (link.by_mapping) {
        return fmt::format(
            "      {} x {}: {} peak; a stream reaches {:.3g} % of it, a mapping what "
            "its tiles allow (tensors {})\n",
            link.standard, link.channels, format_si(rate.peak_bytes_per_s, "B/s"),
            100.0 * rate.bytes_per_s() / rate.peak_bytes_per_s,
            link.layout == model::TensorLayout::channels_last ? "channels last" : "channels first");
    }
    const Count run =
        link.run_bytes > 0 ? link.run_bytes : model::dram_standard(link.standard)->row_bytes;
    return fmt::format(
        "      {} x {}: {} peak; in runs of {} {:.3g} % of it (bursts {:.3g} %, bank "
        "groups {:.3g} %, rows {:.3g} %, refresh {:.3g} %)\n",
        link.standard, link.channels, format_si(rate.peak_bytes_per_s, "B/s"),
        format_iec(static_cast<double>(run), "B"),
        100.0 * rate.bytes_per_s() / rate.peak_bytes_per_s, 100.0 * rate.burst_share,
        100.0 * rate.group_share, 100.0 * rate.row_share, 100.0 * rate.refresh_share);
}

// "      mesh of links of 8 B/cycle, 4 pJ a word".
std::string wires_text(const model::Channel& channel) {
    return fmt::format("      {} of links of {}, {:.4g} pJ a word delivered\n",
                       model::wire_shape_name(channel.wires->topology),
                       rate_text(channel.wires->link_bytes_per_cycle), channel.hop_pj);
}

std::string channel_text(const model::Channel& channel) {
    const std::string rates =
        channel.half_duplex ? rate_text(channel.down_bytes_per_cycle) + " both ways together"
        : channel.operands.contains(model::Operand::output)
            ? fmt::format("{} down, {} up", rate_text(channel.down_bytes_per_cycle),
                          rate_text(channel.up_bytes_per_cycle))
            : rate_text(channel.down_bytes_per_cycle);
    return fmt::format("    {:<22} {}: {}, {}\n", channel.name, operands_text(channel.operands),
                       rates, hwdb::cast_name(channel.cast)) +
           (channel.dram    ? dram_text(*channel.dram)
            : channel.wires ? wires_text(channel)
                            : std::string());
}

std::string level_text(const Accelerator& machine, std::size_t i) {
    const model::Level& level = machine.levels[i];
    const Count instances = model::instances_of(machine, i);
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

// "  array CIMU: 2304 rows x 256 columns of 1 bit, 2304 rows and 1 input bit at a time …".
std::string array_text(const Accelerator& machine) {
    const model::ComputeInMemory& array = *machine.array;
    const model::ArrayStep step = model::step_of(array, machine.word_bits);
    std::string text = fmt::format(
        "  array {}: {} rows x {} columns of {} bit, {} rows and {} bit of an input at a time\n",
        array.name, array.rows, array.columns, array.bits_per_cell, array.parallel_rows,
        array.input_bits);
    text += fmt::format("    a step: {} evaluation{}, {:g} cycles at {}; a weight: {} column{}\n",
                        step.evaluations, step.evaluations > 1 ? "s" : "", step.cycles,
                        format_si(array.clock_hz, "Hz"), step.weight_columns,
                        step.weight_columns > 1 ? "s" : "");
    text +=
        fmt::format("    ADC: {} bit, one for {} column{}, {:.4g} pJ a conversion", array.adc_bits,
                    array.columns_per_adc, array.columns_per_adc > 1 ? "s" : "", array.adc_pj);
    text += step.exact_adc_bits > array.adc_bits
                ? fmt::format("; exact sums take {} bit\n", step.exact_adc_bits)
                : std::string("; sums are exact\n");
    if (const auto area = model::area_of(array)) {
        text +=
            fmt::format("    area: cells {:.3g} mm2, ADCs {:.3g} mm2, periphery {:.3g} mm2\n",
                        area->cells_um2 * 1e-6, area->adcs_um2 * 1e-6, area->periphery_um2 * 1e-6);
    }
    return text;
}

} // namespace

std::string accelerator_text(const Accelerator& machine) {
    const double units = static_cast<double>(model::mac_units(machine));
    std::string text = fmt::format("  {} MAC/cycle at {}: {}\n", model::mac_units(machine),
                                   format_si(machine.clock_hz, "Hz"),
                                   format_si(units * machine.clock_hz, "MAC/s"));
    text += fmt::format("  words: {} bit input, {} bit weight, {} bit output; {} pJ a MAC\n",
                        machine.word_bits[0], machine.word_bits[1], machine.word_bits[2],
                        machine.mac_pj);
    text += machine.array ? array_text(machine) : std::string();
    text += "  dataflows: " + dataflows_text(machine) + "\n\n";
    for (std::size_t i = 0; i < machine.levels.size(); ++i) {
        text += level_text(machine, i);
    }
    return text;
}

namespace {

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

// One number, or one for each operand where they differ.
Json energies_json(const model::Store& store,
                   double (model::Store::*energy)(model::Operand) const) {
    Json each = Json::object();
    bool alike = true;
    for (const model::Operand o : model::kAllOperands) {
        if (store.operands.contains(o)) {
            const Json one = (store.*energy)(o);
            alike = alike && (each.empty() || each.front() == one);
            each[std::string(operand_name(o))] = one;
        }
    }
    return alike && !each.empty() ? each.front() : each;
}

Json words_json(const model::Level& level) {
    Json words = Json::object();
    for (const model::Operand o : model::kAllOperands) {
        if (level.word_bits[index(o)] > 0) {
            words[std::string(operand_name(o))] = level.word_bits[index(o)];
        }
    }
    return words;
}

Json dram_json(const model::Channel& channel) {
    if (!channel.dram) {
        return nullptr;
    }
    const model::DramRate rate = model::rate_of(*channel.dram);
    return {{"standard", channel.dram->standard},
            {"channels", channel.dram->channels},
            {"run_bytes", channel.dram->run_bytes},
            {"pattern", channel.dram->by_mapping ? "mapping" : "stated"},
            {"peak_bytes_per_s", rate.peak_bytes_per_s},
            {"bytes_per_s", rate.bytes_per_s()}};
}

Json level_json(const model::Level& level) {
    Json json = {{"name", level.name},
                 {"word_bits", words_json(level)},
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
             {"prefetch", store.prefetch},
             {"leakage_pj_per_cycle", store.leak_pj},
             {"read_energy_pj", energies_json(store, &model::Store::read_pj_of)},
             {"write_energy_pj", energies_json(store, &model::Store::write_pj_of)},
             {"may_bypass", store.may_bypass}});
        if (store.update_pj) {
            json["stores"].back()["update_energy_pj"] = *store.update_pj;
        }
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
             {"adds_at_once", channel.adds_at_once},
             {"forwards", channel.forwards},
             {"hop_energy_pj", channel.hop_pj},
             {"bits_per_nonzero",
              channel.bits_per_nonzero ? Json(*channel.bits_per_nonzero) : Json(nullptr)},
             {"dram", dram_json(channel)},
             {"topology", channel.wires
                              ? Json(std::string(model::wire_shape_name(channel.wires->topology)))
                              : Json(nullptr)}});
    }
    for (const model::Axis& axis : level.fanout) {
        json["fanout"].push_back({{"axis", axis.name}, {"size", axis.size}});
    }
    return json;
}

} // namespace

std::string accelerator_heading() {
    return fmt::format("{:>5}  {:>11}", "MACs", "peak");
}

std::string accelerator_columns(const Accelerator& machine) {
    const double peak = static_cast<double>(model::mac_units(machine)) * machine.clock_hz;
    return fmt::format("{:>5}  {:>11}", model::mac_units(machine), format_si(peak, "MAC/s"));
}

Json array_json(const Accelerator& machine) {
    if (!machine.array) {
        return nullptr;
    }
    const model::ComputeInMemory& array = *machine.array;
    const model::ArrayStep step = model::step_of(array, machine.word_bits);
    const auto area = model::area_of(array);
    return {{"name", array.name},
            {"clock_hz", array.clock_hz},
            {"rows", array.rows},
            {"columns", array.columns},
            {"bits_per_cell", array.bits_per_cell},
            {"parallel_rows", array.parallel_rows},
            {"input_bits", array.input_bits},
            {"columns_per_adc", array.columns_per_adc},
            {"adc_bits", array.adc_bits},
            {"exact_adc_bits", step.exact_adc_bits},
            {"weight_columns", step.weight_columns},
            {"evaluations", step.evaluations},
            {"step_cycles", step.cycles},
            {"cell_energy_pj", array.cell_pj},
            {"driver_energy_pj", array.driver_pj},
            {"adc_energy_pj", array.adc_pj},
            {"sum_energy_pj", array.sum_pj},
            {"area_mm2", area ? Json(area->all() * 1e-6) : Json(nullptr)}};
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
        {"mac_leakage_pj_per_cycle", machine.mac_leak_pj},
        {"gates_idle", machine.gates_idle},
        {"pipeline_stages", machine.pipeline_stages},
        {"array", array_json(machine)},
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

} // namespace eyeroof::cli
