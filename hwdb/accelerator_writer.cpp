#include "base/units.hpp"
#include "hwdb/accelerator_reader.hpp"
#include "hwdb/yaml_write.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <set>

namespace eyeroof::hwdb {

using model::Accelerator;
using model::Channel;
using model::Dataflow;
using model::DimSet;
using model::Level;
using model::OperandSet;
using model::Store;

namespace {

std::string bytes_text(Count bytes) {
    constexpr std::pair<Count, const char*> units[] = {
        {Count{1} << 30, "GiB"}, {Count{1} << 20, "MiB"}, {Count{1} << 10, "KiB"}};
    for (const auto& [size, name] : units) {
        if (bytes % size == 0) {
            return fmt::format("{} {}", bytes / size, name);
        }
    }
    return fmt::format("{} B", bytes);
}

std::string energy_text(double pj) {
    return fmt::format("{} pJ", pj);
}

constexpr int kReadDigits = 15; // that the reader keeps of figures in seconds

std::string bandwidth_text(double bytes_per_cycle, bool in_seconds, double clock_hz) {
    return in_seconds ? format_si(bytes_per_cycle * clock_hz, "B/s", kReadDigits)
                      : fmt::format("{} B/cycle", bytes_per_cycle);
}

std::string leakage_text(double pj, bool in_seconds, double clock_hz) {
    return in_seconds ? format_si(pj * 1e-12 * clock_hz, "W", kReadDigits)
                      : fmt::format("{} pJ/cycle", pj);
}

std::string clock_text(double hertz) {
    const std::string text = format_si(hertz, "Hz", 17);
    const auto back = parse<Hertz>(text);
    return back && back->value == hertz ? text : fmt::format("{} Hz", hertz);
}

std::string operands_text(OperandSet operands) {
    if (operands.size() == static_cast<int>(model::kOperands)) {
        return "all";
    }
    std::string text;
    for (const model::Operand o : model::kAllOperands) {
        if (operands.contains(o)) {
            text += (text.empty() ? "" : ", ") + std::string(model::operand_name(o));
        }
    }
    return "[" + text + "]";
}

std::string dims_text(DimSet dims) {
    std::string text;
    for (const model::Dim d : model::kAllDims) {
        if (dims.contains(d)) {
            text += (text.empty() ? "" : ", ") + std::string(1, model::letter(d));
        }
    }
    return "[" + text + "]";
}

// Lines of YAML at one indentation, under one field path.
class Block {
  public:
    Block(std::string& out, const ProvenanceMap& provenance,
          const std::map<std::string, std::string>& names, std::string field, int indent)
        : out_(out), provenance_(provenance), names_(names), field_(std::move(field)),
          indent_(indent) {}

    Block nested(const std::string& key) const {
        return {out_, provenance_, names_, path(key), indent_ + 2};
    }
    Block element(const std::string& list, std::size_t i) const {
        Block block(out_, provenance_, names_, fmt::format("{}[{}]", path(list), i), indent_ + 4);
        block.dash_ = true;
        return block;
    }
    void line(const std::string& key, const std::string& text) {
        const int width = indent_ - (dash_ ? 2 : 0);
        out_ += std::string(static_cast<std::size_t>(width), ' ');
        out_ += (dash_ ? "- " : "") + key + ":" + (text.empty() ? "" : " " + text) + "\n";
        dash_ = false;
    }
    // A number, with its own source where it has one.
    void number(const std::string& key, const std::string& text) {
        const auto own = provenance_.find(path(key));
        line(key, own == provenance_.end()
                      ? text
                      : fmt::format("{{value: {}, source: {}, confidence: {}}}", text,
                                    names_.at(own->second.source),
                                    confidence_name(own->second.confidence)));
    }
    // The source in force for this whole mapping, where it has one.
    void own_source() {
        if (const auto own = provenance_.find(field_); own != provenance_.end()) {
            line("source", names_.at(own->second.source));
            line("confidence", confidence_name(own->second.confidence));
        }
    }

  private:
    std::string path(const std::string& key) const {
        return field_.empty() ? key : field_ + "." + key;
    }

    std::string& out_;
    const ProvenanceMap& provenance_;
    const std::map<std::string, std::string>& names_;
    std::string field_;
    int indent_;
    bool dash_ = false;
};

void write_energy(Block& block, const std::string& key, double all,
                  const model::PerOperand<std::optional<double>>& own) {
    if (own == model::PerOperand<std::optional<double>>{}) {
        block.number(key, energy_text(all));
        return;
    }
    block.line(key, "");
    Block each = block.nested(key);
    for (const model::Operand o : model::kAllOperands) {
        if (own[index(o)]) {
            each.number(std::string(operand_name(o)), energy_text(*own[index(o)]));
        }
    }
}

void write_bandwidth(Block& block, const std::string& key, double bytes_per_cycle, bool in_seconds,
                     double clock_hz) {
    if (bytes_per_cycle == model::kUnlimited) {
        block.line(key, "unlimited");
    } else {
        block.number(key, bandwidth_text(bytes_per_cycle, in_seconds, clock_hz));
    }
}

void write_store(Block block, const Store& store, double clock_hz) {
    block.line("operands", operands_text(store.operands));
    block.own_source();
    if (store.capacity_bytes) {
        block.number("capacity", bytes_text(*store.capacity_bytes));
    } else {
        block.line("capacity", "unlimited");
    }
    if (store.bank_bytes != 1) {
        block.number("bank", bytes_text(store.bank_bytes));
    }
    if (store.buffers != 1) {
        block.number("buffers", std::to_string(store.buffers));
    }
    if (store.access_words != 1) {
        block.number("access_words", std::to_string(store.access_words));
    }
    if (store.read_bytes_per_cycle != model::kUnlimited) {
        write_bandwidth(block, "read", store.read_bytes_per_cycle, store.read_in_seconds, clock_hz);
    }
    if (store.write_bytes_per_cycle != model::kUnlimited) {
        write_bandwidth(block, "write", store.write_bytes_per_cycle, store.write_in_seconds,
                        clock_hz);
    }
    if (store.prefetch) {
        block.line("prefetch", "true");
    }
    const bool alike = store.read_pj == store.write_pj && store.own_read_pj == store.own_write_pj;
    write_energy(block, alike ? "energy" : "read_energy", store.read_pj, store.own_read_pj);
    if (!alike) {
        write_energy(block, "write_energy", store.write_pj, store.own_write_pj);
    }
    if (store.update_pj) {
        block.number("update_energy", energy_text(*store.update_pj));
    }
    if (store.leak_pj > 0.0) {
        block.number("leakage", leakage_text(store.leak_pj, store.leak_in_seconds, clock_hz));
    }
    if (!store.may_bypass) {
        block.line("may_bypass", "false");
    }
}

void write_dram(Block block, const model::DramLink& link) {
    block.line("standard", link.standard);
    block.own_source();
    block.number("channels", std::to_string(link.channels));
    if (link.run_bytes > 0) {
        block.number("run", bytes_text(link.run_bytes));
    }
    if (link.one_group) {
        block.line("one_bank_group", "true");
    }
    if (link.by_mapping) {
        block.line("pattern", "mapping");
    }
    if (link.layout == model::TensorLayout::channels_last) {
        block.line("layout", "channels_last");
    }
}

void write_wires(Block block, const Channel& channel, double clock_hz) {
    const model::Wires& wires = *channel.wires;
    block.line("topology", std::string(model::wire_shape_name(wires.topology)));
    block.own_source();
    write_bandwidth(block, "link", wires.link_bytes_per_cycle, channel.down_in_seconds, clock_hz);
    if (wires.link_pj > 0.0) {
        block.number("link_energy", energy_text(wires.link_pj));
    }
}

void write_rates(Block& block, const Channel& channel, double clock_hz) {
    if (channel.dram) {
        block.line("dram", "");
        write_dram(block.nested("dram"), *channel.dram);
    } else {
        write_bandwidth(block, "down", channel.down_bytes_per_cycle, channel.down_in_seconds,
                        clock_hz);
    }
    if (channel.half_duplex) {
        block.line("half_duplex", "true");
    } else {
        write_bandwidth(block, "up", channel.up_bytes_per_cycle, channel.up_in_seconds, clock_hz);
    }
    if (channel.adds_at_once) {
        block.line("adds_at_once", "true");
    }
    block.number("hop_energy", energy_text(channel.hop_pj));
}

void write_channel(Block block, const Channel& channel, double clock_hz) {
    block.line("name", yaml_scalar(channel.name));
    block.own_source();
    block.line("operands", operands_text(channel.operands));
    if (channel.wires) {
        block.line("network", "");
        write_wires(block.nested("network"), channel, clock_hz);
    } else {
        write_rates(block, channel, clock_hz);
    }
    block.line("cast", std::string(cast_name(channel.cast)));
    block.line("reduces", channel.reduces ? "true" : "false");
    block.line("forwards", channel.forwards ? "true" : "false");
    if (channel.bits_per_nonzero) {
        block.line("zero_coding", "");
        Block coding = block.nested("zero_coding");
        coding.own_source();
        coding.number("packet", fmt::format("{} bit", *channel.bits_per_nonzero));
        coding.number("nonzeros", "1");
    }
}

void write_level(Block block, const Level& level, double clock_hz) {
    block.line("name", yaml_scalar(level.name));
    block.own_source();
    if (level.keeps_between_layers) {
        block.line("keeps_between_layers", "true");
    }
    if (level.keeps_weights) {
        block.line("keeps_weights", "true");
    }
    if (level.word_bits != model::PerOperand<int>{}) {
        block.line("words", "");
        Block words = block.nested("words");
        words.own_source();
        for (const model::Operand o : model::kAllOperands) {
            if (level.word_bits[index(o)] > 0) {
                words.number(std::string(operand_name(o)),
                             fmt::format("{} bit", level.word_bits[index(o)]));
            }
        }
    }
    block.line("stores", level.stores.empty() ? "[]" : "");
    for (std::size_t i = 0; i < level.stores.size(); ++i) {
        write_store(block.element("stores", i), level.stores[i], clock_hz);
    }
    if (!level.channels.empty()) {
        block.line("channels", "");
        for (std::size_t i = 0; i < level.channels.size(); ++i) {
            write_channel(block.element("channels", i), level.channels[i], clock_hz);
        }
    }
    if (!level.fanout.empty()) {
        block.line("fanout", "");
        Block fanout = block.nested("fanout");
        fanout.own_source();
        for (const model::Axis& axis : level.fanout) {
            fanout.number(yaml_scalar(axis.name), std::to_string(axis.size));
        }
    }
}

void write_rules(Block block, const std::vector<model::SpatialRule>& rules) {
    for (const model::SpatialRule& rule : rules) {
        block.line(yaml_scalar(rule.axis), dims_text(rule.dims));
    }
}

void write_dataflow(Block block, const Dataflow& dataflow) {
    block.line("kind", std::string(model::dataflow_name(dataflow.kind)));
    block.own_source();
    block.line("spatial", dataflow.spatial.empty() ? "{}" : "");
    write_rules(block.nested("spatial"), dataflow.spatial);
    if (!dataflow.whole.empty()) {
        block.line("whole", dims_text(dataflow.whole));
    }
    block.line("stationary", dataflow.stationary
                                 ? std::string(model::operand_name(*dataflow.stationary))
                                 : "none");
    if (dataflow.repeats_on_one_axis) {
        block.line("repeats_on_one_axis", "true");
    }
    if (dataflow.free_banks > 0) {
        block.number("free_banks", std::to_string(dataflow.free_banks));
    }
    if (dataflow.image_channels > 0) {
        block.line("image", "");
        Block image = block.nested("image");
        image.own_source();
        image.number("channels", std::to_string(dataflow.image_channels));
        image.line("spatial", dataflow.image_spatial.empty() ? "{}" : "");
        write_rules(image.nested("spatial"), dataflow.image_spatial);
    }
}

// What a machine without rules does: any dimension may lie on any axis.
Dataflow any_dataflow(const Accelerator& machine) {
    Dataflow any;
    any.kind = model::DataflowKind::nlr;
    DimSet dims;
    for (const model::Dim d : model::kAllDims) {
        dims.insert(d);
    }
    for (const Level& level : machine.levels) {
        for (const model::Axis& axis : level.fanout) {
            any.spatial.push_back({axis.name, dims});
        }
    }
    return any;
}

void write_vector_unit(Block block, const Accelerator& machine) {
    const model::VectorUnit& unit = *machine.vector_unit;
    block.own_source();
    block.number("lanes", std::to_string(unit.lanes));
    block.line("level", yaml_scalar(machine.levels[unit.level].name));
    write_bandwidth(block, "read", unit.read_bytes_per_cycle, unit.read_in_seconds,
                    machine.clock_hz);
    write_bandwidth(block, "write", unit.write_bytes_per_cycle, unit.write_in_seconds,
                    machine.clock_hz);
    block.number("operation_energy", energy_text(unit.operation_pj));
    if (!unit.rates.empty()) {
        block.line("rates", "");
        Block rates = block.nested("rates");
        rates.own_source();
        for (const model::VectorRate& rate : unit.rates) {
            rates.number(rate.function, fmt::format("{}", rate.elements_per_lane));
        }
    }
    if (!unit.overlaps) {
        block.line("overlaps", "false");
    }
}

void write_basics(Block& root, const Accelerator& machine) {
    root.number("clock", clock_text(machine.clock_hz));
    root.line("words", "");
    Block words = root.nested("words");
    words.own_source();
    for (const model::Operand o : model::kAllOperands) {
        words.number(std::string(model::operand_name(o)),
                     fmt::format("{} bit", machine.word_bits[index(o)]));
    }
    if (!machine.type_rates.empty()) {
        root.line("types", "");
        Block types = root.nested("types");
        for (const model::TypeRate& rate : machine.type_rates) {
            const std::string name(model::data_type_name(rate.type));
            types.line(name, "");
            Block one = types.nested(name);
            one.own_source();
            one.number("peak", fmt::format("{} FLOP/s", 2.0 * rate.macs_per_s));
            one.line("along", yaml_scalar(rate.axis));
        }
    }
    if (!machine.array) {
        root.number("mac_energy", energy_text(machine.mac_pj));
    }
    if (machine.mac_leak_pj > 0.0) {
        root.number("mac_leakage", leakage_text(machine.mac_leak_pj, machine.mac_leak_in_seconds,
                                                machine.clock_hz));
    }
    if (machine.gates_idle) {
        root.line("gates_idle", "true");
    }
    if (!machine.array) {
        root.number("pipeline_stages", std::to_string(machine.pipeline_stages));
    }
    if (machine.max_filter_height || machine.max_filter_width) {
        root.line("max_filter", "");
        Block filter = root.nested("max_filter");
        filter.own_source();
        if (machine.max_filter_height) {
            filter.number("height", std::to_string(*machine.max_filter_height));
        }
        if (machine.max_filter_width) {
            filter.number("width", std::to_string(*machine.max_filter_width));
        }
    }
}

void write_array(Block block, const model::ComputeInMemory& array) {
    const auto count = [&](const char* key, Count value, Count otherwise) {
        if (value != otherwise) {
            block.number(key, std::to_string(value));
        }
    };
    const auto figure = [&](const char* key, double value) {
        if (value > 0.0) {
            block.number(key, fmt::format("{}", value));
        }
    };
    const auto energy = [&](const char* key, double pj) {
        if (pj > 0.0) {
            block.number(key, energy_text(pj));
        }
    };
    block.line("name", yaml_scalar(array.name));
    block.own_source();
    count("rows", array.rows, 0);
    count("columns", array.columns, 0);
    count("bits_per_cell", array.bits_per_cell, 1);
    count("parallel_rows", array.parallel_rows, array.rows);
    count("input_bits", array.input_bits, 1);
    count("columns_per_adc", array.columns_per_adc, 1);
    count("adc_bits", array.adc_bits, 0);
    figure("evaluation_cycles", array.evaluation_cycles);
    figure("conversion_cycles", array.conversion_cycles);
    figure("row_write_cycles", array.row_write_cycles);
    energy("cell_energy", array.cell_pj);
    energy("cell_write_energy", array.cell_write_pj);
    energy("driver_energy", array.driver_pj);
    energy("adc_energy", array.adc_pj);
    energy("sum_energy", array.sum_pj);
    if (array.input_bytes > 0) {
        block.number("inputs", bytes_text(array.input_bytes));
    }
    if (array.sum_bytes > 0) {
        block.number("sums", bytes_text(array.sum_bytes));
    }
    figure("cell_um2", array.cell_um2);
    figure("adc_um2", array.adc_um2);
    figure("periphery_um2", array.periphery_um2);
}

// Short names for the sources, in the order of the fields that they stand for.
std::map<std::string, std::string> name_sources(const ProvenanceMap& provenance) {
    std::map<std::string, std::string> names;
    for (const auto& [field, entry] : provenance) {
        names.emplace(entry.source, fmt::format("s{}", names.size() + 1));
    }
    return names;
}

} // namespace

std::string write_accelerator(const model::Machine& machine) {
    const Accelerator accelerator = model::without_array(std::get<Accelerator>(machine.kind));
    const auto names = name_sources(machine.provenance);
    std::string out;
    Block root(out, machine.provenance, names, "", 0);
    root.line("eyeroof", "machine/1");
    root.line("kind", "accelerator");
    root.line("id", yaml_scalar(machine.id));
    root.line("name", yaml_scalar(machine.name));
    if (!machine.summary.empty()) {
        root.line("summary", yaml_scalar(machine.summary));
    }
    if (!names.empty()) {
        root.line("sources", "");
        for (const auto& [text, name] : names) {
            root.nested("sources").line(name, yaml_scalar(text));
        }
    }
    root.own_source();
    write_basics(root, accelerator);
    if (machine.process_nm > 0.0) {
        root.number("process_nm", fmt::format("{:g}", machine.process_nm));
    }
    root.line("levels", "");
    for (std::size_t i = 0; i < accelerator.levels.size(); ++i) {
        write_level(root.element("levels", i), accelerator.levels[i], accelerator.clock_hz);
    }
    root.line("dataflows", "");
    const std::vector<Dataflow> dataflows = accelerator.dataflows.empty()
                                                ? std::vector{any_dataflow(accelerator)}
                                                : accelerator.dataflows;
    for (std::size_t i = 0; i < dataflows.size(); ++i) {
        write_dataflow(root.element("dataflows", i), dataflows[i]);
    }
    if (accelerator.vector_unit) {
        root.line("vector_unit", "");
        write_vector_unit(root.nested("vector_unit"), accelerator);
    }
    if (accelerator.array) {
        root.line("array", "");
        write_array(root.nested("array"), *accelerator.array);
    }
    return out;
}

} // namespace eyeroof::hwdb
