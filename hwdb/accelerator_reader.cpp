#include "hwdb/accelerator_reader.hpp"

#include "base/suggest.hpp"
#include "base/units.hpp"
#include "hwdb/dataflow_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <set>

namespace eyeroof::hwdb {

using model::Accelerator;
using model::Axis;
using model::Cast;
using model::Channel;
using model::Level;
using model::Operand;
using model::OperandSet;
using model::Store;

namespace {

constexpr std::pair<std::string_view, Cast> kCasts[] = {
    {"unicast", Cast::unicast},
    {"multicast", Cast::multicast},
    {"broadcast", Cast::broadcast},
    {"hierarchical_mesh", Cast::hierarchical_mesh},
};

constexpr std::pair<std::string_view, Operand> kOperandNames[] = {
    {"input", Operand::input}, {"weight", Operand::weight}, {"output", Operand::output}};

constexpr std::size_t kLongestName = 80;
constexpr double kMaxCapacityBytes = 0x1p60;

// Quantities are decimal text scaled by powers of ten; rounding to the 15 digits that any decimal
// survives undoes the scaling error, so that "6.1 pJ" is 6.1 and not 6.1000000000000005.
double decimal(double value) {
    const std::string text = fmt::format("{:.15g}", value);
    double result = value;
    std::from_chars(text.data(), text.data() + text.size(), result);
    return result;
}

bool is_unlimited(const Node& node) {
    return node.is_scalar() && node.text() == "unlimited";
}

bool mentions_words(const Node& node) {
    return node.is_scalar() && node.text().value_or("").find("word") != std::string::npos;
}

int read_word(const Sourced& word) {
    const auto bytes = word.quantity<Bytes>();
    if (!bytes) {
        return 8;
    }
    const double bits = bytes->value * 8.0;
    if (bits != std::floor(bits) || bits > 1024.0) {
        word.node().error("bad-word", "a word has 1 to 1024 whole bits", "such as \"16 bit\"");
        return 8;
    }
    return static_cast<int>(bits);
}

double read_energy(const Sourced& energy) {
    const auto joules = energy.quantity<Joules>(Zero::allowed);
    return joules ? decimal(joules->value * 1e12) : 0.0;
}

// One energy for all operands of a store, or one for each of them.
void read_each(const Sourced& energy, OperandSet operands, double& all,
               model::PerOperand<std::optional<double>>& own) {
    const bool named = energy && energy.node().is_map() && !energy.node()["value"];
    for (const auto& [name, operand] : kOperandNames) {
        if (named && operands.contains(operand)) {
            own[index(operand)] = read_energy(energy.need(name));
        }
    }
    all = named ? 0.0 : read_energy(energy);
}

void read_energies(const Sourced& entry, Store& store) {
    const Sourced both = entry["energy"];
    const Sourced read = entry["read_energy"];
    const Sourced write = entry["write_energy"];
    if (both && (read || write)) {
        both.node().error("conflict", "give `energy` or `read_energy` and `write_energy`",
                          "`energy` counts for both; leave one of the two ways out");
    }
    read_each(both ? both : read, store.operands, store.read_pj, store.own_read_pj);
    if (both) {
        store.write_pj = store.read_pj;
        store.own_write_pj = store.own_read_pj;
    } else {
        read_each(write, store.operands, store.write_pj, store.own_write_pj);
    }
    if (const Sourced update = entry["update_energy"]) {
        store.update_pj = read_energy(update);
    }
}

// Zeros are not sent; a packet of so many bits carries so many other words.
std::optional<double> read_zero_coding(const Sourced& coding) {
    if (!coding) {
        return std::nullopt;
    }
    const auto packet = coding.need("packet").quantity<Bytes>();
    const auto nonzeros = coding.need("nonzeros").integer({1, 1024});
    return packet && nonzeros ? std::optional(packet->value * 8.0 / static_cast<double>(*nonzeros))
                              : std::nullopt;
}

double read_cycles(const Sourced& cycles, double otherwise) {
    return cycles ? cycles.number(0.0, 1e6).value_or(otherwise) : otherwise;
}

OperandSet read_operands(const Node& owner) {
    OperandSet set;
    const Node node = owner.need("operands");
    if (node.is_scalar() && node.text() == "all") {
        return {Operand::input, Operand::weight, Operand::output};
    }
    for (const Node& element : node.one_or_more()) {
        if (const auto operand = element.choice(kOperandNames, "operand")) {
            if (set.contains(*operand)) {
                element.error("duplicate-operand", "this operand is listed twice",
                              "list each of input, weight and output at most once");
            }
            set.insert(*operand);
        }
    }
    return set;
}

std::string read_standard(const Node& node) {
    std::vector<std::pair<std::string_view, std::string>> standards;
    for (const model::DramStandard& standard : model::dram_standards()) {
        standards.emplace_back(standard.name, standard.name);
    }
    return node.need("standard")
        .choice(standards, "DRAM standard")
        .value_or(standards.front().second);
}

void read_pattern(const Node& node, model::DramLink& link) {
    static constexpr std::pair<std::string_view, bool> kPatterns[] = {{"stated", false},
                                                                      {"mapping", true}};
    static constexpr std::pair<std::string_view, model::TensorLayout> kLayouts[] = {
        {"channels_first", model::TensorLayout::channels_first},
        {"channels_last", model::TensorLayout::channels_last}};
    link.by_mapping = node["pattern"].choice(kPatterns, "pattern").value_or(false);
    const Node layout = node["layout"];
    link.layout = layout.choice(kLayouts, "layout").value_or(link.layout);
    if (link.by_mapping && node.has("run")) {
        node["run"].error("conflict", "`pattern: mapping` takes runs from each mapping",
                          "remove `run`, or `pattern`");
    }
    if (!link.by_mapping && layout) {
        layout.error("conflict", "`layout` has an effect only on runs that follow the mapping",
                     "add `pattern: mapping`, or remove `layout`");
    }
}

// Once the levels are known: an axis is one of theirs.
void read_types(const Sourced& types, Accelerator& accelerator) {
    for (const auto& [name, place] : types.entries()) {
        const auto type = model::data_type_from_name(name);
        if (!type) {
            place.node().error("unknown-dtype", "'" + name + "' is not a data type",
                               suggestion(name, model::data_type_names()));
            continue;
        }
        const int bits = model::storage_bits(*type);
        if (bits > accelerator.word_bits[index(model::Operand::input)]) {
            place.node().error(
                "wide-type",
                fmt::format("{} has {} bit, wider than the machine's words", name, bits),
                "a type of at most the width of `words`");
        }
        const auto peak = place.need("peak").quantity<FlopsPerSec>();
        std::vector<std::pair<std::string, std::string>> axes;
        for (const model::Level& level : accelerator.levels) {
            for (const model::Axis& axis : level.fanout) {
                axes.emplace_back(axis.name, axis.name);
            }
        }
        const auto axis = place.node().need("along").choice(axes, "axis");
        if (peak && axis) {
            accelerator.type_rates.push_back({*type, peak->value / 2.0, *axis});
        }
    }
}

void check_function(const Node& node, const std::string& function) {
    std::vector<std::string> known;
    for (const auto name : model::elementwise_functions()) {
        known.emplace_back(name);
    }
    for (const auto name : model::op_names()) {
        known.emplace_back(name);
    }
    if (std::find(known.begin(), known.end(), function) == known.end()) {
        node.error("unknown-function", fmt::format("no operator is called '{}'", function),
                   suggestion(function, known));
    }
}

class AcceleratorReader {
  public:
    AcceleratorReader(Document& document, const std::string& id) : document_(document), id_(id) {}

    Result<AcceleratorFile> read() {
        const Sourced root(document_.root(), book_);
        read_head(root);
        read_basics(root);
        for (const Sourced& level : root.need("levels").items(1)) {
            accelerator_.levels.push_back(read_level(level));
        }
        if (const Sourced types = root["types"]) {
            read_types(types, accelerator_);
        }
        for (const Sourced& dataflow : root.need("dataflows").items(1)) {
            accelerator_.dataflows.push_back(read_dataflow(dataflow));
        }
        if (const Sourced unit = root["vector_unit"]) {
            accelerator_.vector_unit = read_vector_unit(unit);
        }
        if (const Sourced array = root["array"]) {
            place_array(root, read_array(array));
        }
        report_unsourced(root.node(), book_);
        adopt_apart(document_, model::validate(accelerator_));
        file_.machine.kind = std::move(accelerator_);
        file_.machine.provenance = std::move(book_.provenance);
        file_.numbers = std::move(book_.numbers);
        return document_.conclude(std::move(file_));
    }

  private:
    // Names stand in tables and charts: one line, not longer than one.
    std::string read_name(const Node& node) {
        const std::string name = node.text().value_or("");
        check_name(node, name);
        return name;
    }

    void check_name(const Node& node, const std::string& name) {
        if (name.size() > kLongestName || name.find_first_of("\n\r\t") != std::string::npos) {
            node.error("bad-name",
                       fmt::format("a name is one line of at most {} bytes", kLongestName),
                       "shorten it");
        }
    }

    void read_head(const Sourced& root) {
        const Node& node = root.node();
        constexpr std::pair<std::string_view, int> versions[] = {{"machine/1", 1}};
        node.need("eyeroof").choice(versions, "format of this file");
        constexpr std::pair<std::string_view, int> kinds[] = {{"accelerator", 0}};
        node.need("kind").choice(kinds, "kind of machine");
        const Node id = node["id"];
        file_.machine.id = id ? read_name(id) : id_;
        file_.machine.name = read_name(node.need("name"));
        file_.machine.summary = node["summary"].text().value_or("");
    }

    void read_basics(const Sourced& root) {
        accelerator_.clock_hz = root.need("clock").quantity<Hertz>().value_or(Hertz{}).value;
        for (const auto& [name, clock] : root["clocks"].entries()) {
            domains_[name] = clock.quantity<Hertz>().value_or(Hertz{}).value;
        }
        const Sourced words = root.need("words");
        for (const auto& [name, operand] : kOperandNames) {
            accelerator_.word_bits[index(operand)] = read_word(words.need(name));
        }
        accelerator_.mac_pj = read_energy(root["mac_energy"]);
        accelerator_.mac_leak_pj =
            read_leakage(root["mac_leakage"], accelerator_.mac_leak_in_seconds);
        accelerator_.gates_idle = root.node()["gates_idle"].boolean().value_or(false);
        constexpr IntegerRange stages{1, 1000};
        accelerator_.pipeline_stages =
            static_cast<int>(root["pipeline_stages"].integer(stages).value_or(1));
        const Sourced filter = root["max_filter"];
        accelerator_.max_filter_height = filter["height"].integer();
        accelerator_.max_filter_width = filter["width"].integer();
        read_peak(root["peak"]);
        if (const Sourced process = root["process_nm"]) {
            file_.machine.process_nm = process.number(1.0, 1000.0).value_or(0.0);
        }
    }

    // Printed peaks come as MAC/s or as operations, two a MAC.
    void read_peak(const Sourced& peak) {
        const Node node = peak.value();
        if (!node) {
            return;
        }
        const std::string text = node.text().value_or("");
        if (const auto macs = parse_quantity(text, "MAC/s", "a peak rate")) {
            file_.printed_peak_macs_per_s = *macs;
        } else if (const auto flops = node.quantity<FlopsPerSec>()) {
            file_.printed_peak_macs_per_s = flops->value / 2.0;
        }
    }

    // pJ per core cycle of one instance, from pJ/cycle or from watts.
    double read_leakage(const Sourced& leakage, bool& in_seconds) {
        if (!leakage) {
            return 0.0;
        }
        const Node node = leakage.value();
        const std::string text = node.is_scalar() ? node.text().value_or("") : "";
        in_seconds = text.find('W') != std::string::npos;
        if (in_seconds) {
            const auto watts = node.quantity_in("W", "a leakage", Zero::allowed);
            const bool known = watts && accelerator_.clock_hz > 0.0;
            return known ? decimal(*watts / accelerator_.clock_hz * 1e12) : 0.0;
        }
        const auto joules =
            node.quantity_in("J/cycle", "a leakage in watts or per cycle", Zero::allowed);
        return joules ? decimal(*joules * 1e12) : 0.0;
    }

    // Bytes of one word, when all operands have words of one width.
    std::optional<double> word_bytes(const Node& node, OperandSet operands) {
        std::optional<int> bits;
        for (const Operand o : model::kAllOperands) {
            const int own = level_words_[index(o)];
            const int width = own > 0 ? own : accelerator_.word_bits[index(o)];
            if (!operands.contains(o)) {
                continue;
            }
            if (bits && *bits != width) {
                node.error("ambiguous-unit",
                           "\"words\" is ambiguous: these operands have data of different widths",
                           "write it in bytes");
                return std::nullopt;
            }
            bits = width;
        }
        return bits ? std::optional(*bits / 8.0) : std::nullopt;
    }

    std::optional<Count> read_capacity(const Sourced& capacity, OperandSet operands) {
        if (is_unlimited(capacity.node())) {
            return std::nullopt;
        }
        const Node node = capacity.value();
        std::optional<double> bytes;
        if (mentions_words(node)) {
            const auto words = node.quantity_in("word", "a capacity");
            const auto each = word_bytes(node, operands);
            bytes = words && each ? std::optional(*words * *each) : std::nullopt;
        } else {
            bytes = node.quantity_in("B", "a capacity");
        }
        if (!bytes) {
            return 1;
        }
        if (*bytes != std::floor(*bytes) || *bytes < 1.0 || *bytes > kMaxCapacityBytes) {
            node.error("bad-capacity",
                       fmt::format("{} bytes is not a whole number of bytes in range", *bytes),
                       "write the capacity in whole bytes, as in 108KiB");
            return 1;
        }
        return static_cast<Count>(*bytes);
    }

    // The clock that a store or channel counts cycles in.
    struct Domain {
        double in_core_cycle = 1.0; // cycles of it
        bool own = false;           // not the core clock
    };

    Domain read_domain(const Node& owner) {
        const Node clock = owner["clock"];
        std::vector<std::pair<std::string, double>> known{{"core", accelerator_.clock_hz}};
        known.insert(known.end(), domains_.begin(), domains_.end());
        const auto hertz = clock ? clock.choice(known, "clock domain") : std::nullopt;
        return hertz && accelerator_.clock_hz > 0.0
                   ? Domain{*hertz / accelerator_.clock_hz, clock.text() != "core"}
                   : Domain{};
    }

    static double in_core_cycles(double bytes_per_cycle, const Domain& domain) {
        return domain.own ? decimal(bytes_per_cycle * domain.in_core_cycle) : bytes_per_cycle;
    }

    // Bytes per core cycle, and whether they are fixed in seconds.
    double read_bandwidth(const Sourced& bandwidth, OperandSet operands, const Domain& domain,
                          bool& in_seconds) {
        if (!bandwidth || is_unlimited(bandwidth.node())) {
            return model::kUnlimited;
        }
        in_seconds = domain.own;
        const Node node = bandwidth.value();
        if (mentions_words(node)) {
            const auto words = node.quantity_in("word/cycle", "a bandwidth");
            const auto each = word_bytes(node, operands);
            return words && each ? in_core_cycles(*words * *each, domain) : model::kUnlimited;
        }
        const std::string text = node.is_scalar() ? node.text().value_or("") : "";
        if (parse_quantity(text, "B/s", "a bandwidth")) {
            const auto rate = node.quantity_in("B/s", "a bandwidth");
            const bool known = rate && accelerator_.clock_hz > 0.0;
            in_seconds = true;
            return known ? decimal(*rate / accelerator_.clock_hz) : model::kUnlimited;
        }
        const auto rate = node.quantity_in("B/cycle", "a bandwidth per cycle or per second");
        return rate ? in_core_cycles(*rate, domain) : model::kUnlimited;
    }

    Store read_store(const Sourced& entry) {
        const Node& node = entry.node();
        Store store;
        store.operands = read_operands(node);
        const Domain domain = read_domain(node);
        store.capacity_bytes = read_capacity(entry.need("capacity"), store.operands);
        if (const Sourced bank = entry["bank"]) {
            store.bank_bytes = read_capacity(bank, store.operands).value_or(1);
        }
        store.buffers = static_cast<int>(entry["buffers"].integer({1, 16}).value_or(1));
        store.access_words = entry["access_words"].integer({1, 1 << 20}).value_or(1);
        store.read_bytes_per_cycle =
            read_bandwidth(entry["read"], store.operands, domain, store.read_in_seconds);
        store.write_bytes_per_cycle =
            read_bandwidth(entry["write"], store.operands, domain, store.write_in_seconds);
        store.prefetch = node["prefetch"].boolean().value_or(false);
        read_energies(entry, store);
        store.leak_pj = read_leakage(entry["leakage"], store.leak_in_seconds);
        store.may_bypass = node["may_bypass"].boolean().value_or(true);
        return store;
    }

    model::DramLink read_dram(const Sourced& entry) {
        model::DramLink link;
        link.standard = read_standard(entry.node());
        link.channels = entry["channels"].integer({1, 4096}).value_or(1);
        if (const Sourced run = entry["run"]) {
            link.run_bytes = read_capacity(run, {Operand::input}).value_or(0);
        }
        link.one_group = entry.node()["one_bank_group"].boolean().value_or(false);
        read_pattern(entry.node(), link);
        return link;
    }

    double dram_bandwidth(const Sourced& entry, const model::DramLink& link) {
        if (const Sourced down = entry["down"]) {
            down.node().error("conflict", "`dram` says what the channel gives",
                              "remove `down`, or `dram`");
        }
        if (entry.node()["half_duplex"] && !entry.node()["half_duplex"].boolean().value_or(true)) {
            entry.node()["half_duplex"].error("conflict", "both directions share a DRAM's pins",
                                              "remove `half_duplex: false`");
        }
        return accelerator_.clock_hz > 0.0
                   ? decimal(model::rate_of(link).bytes_per_s() / accelerator_.clock_hz)
                   : model::kUnlimited;
    }

    // The rates follow once the level's fan-out is known.
    Channel read_network(const Sourced& entry, const Sourced& network, Channel channel,
                         const Domain& domain) {
        for (const char* key :
             {"down", "up", "half_duplex", "hop_energy", "adds_at_once", "dram"}) {
            if (const Node node = entry.node()[key]) {
                node.error("conflict", fmt::format("`{}` follows from `network`", key),
                           "remove it, or `network`");
            }
        }
        std::vector<std::pair<std::string_view, model::WireShape>> names;
        for (const auto topology :
             {model::WireShape::bus, model::WireShape::crossbar, model::WireShape::ring,
              model::WireShape::tree, model::WireShape::mesh}) {
            names.emplace_back(model::wire_shape_name(topology), topology);
        }
        model::Wires wires;
        wires.topology = network.node()
                             .need("topology")
                             .choice(names, "topology")
                             .value_or(model::WireShape::bus);
        wires.link_bytes_per_cycle =
            read_bandwidth(network.need("link"), channel.operands, domain, channel.down_in_seconds);
        channel.up_in_seconds = channel.down_in_seconds;
        wires.link_pj = read_energy(network["link_energy"]);
        channel.wires = wires;
        const Node node = entry.node();
        channel.cast = node.need("cast").choice(kCasts, "cast").value_or(Cast::multicast);
        channel.reduces = node["reduces"].boolean().value_or(channel.reduces);
        channel.forwards = node["forwards"].boolean().value_or(channel.forwards);
        channel.bits_per_nonzero = read_zero_coding(entry["zero_coding"]);
        return channel;
    }

    Channel read_channel(const Sourced& entry) {
        const Node& node = entry.node();
        Channel channel;
        channel.name = read_name(node.need("name"));
        channel.operands = read_operands(node);
        const Domain domain = read_domain(node);
        if (const Sourced dram = entry["dram"]) {
            channel.dram = read_dram(dram);
        }
        if (const Sourced network = entry["network"]) {
            return read_network(entry, network, std::move(channel), domain);
        }
        // Both directions share the pins of a DRAM.
        channel.half_duplex = node["half_duplex"].boolean().value_or(channel.dram.has_value());
        channel.down_in_seconds = channel.dram.has_value();
        channel.down_bytes_per_cycle = channel.dram
                                           ? dram_bandwidth(entry, *channel.dram)
                                           : read_bandwidth(entry.need("down"), channel.operands,
                                                            domain, channel.down_in_seconds);
        const bool carries_up = channel.operands.contains(Operand::output) && !channel.half_duplex;
        const Sourced up = carries_up ? entry.need("up") : entry["up"];
        if (channel.half_duplex && up) {
            up.node().error("conflict", "a half-duplex channel has one bandwidth for both ways",
                            "remove `up`, or set `half_duplex: false`");
        }
        channel.up_in_seconds = channel.half_duplex && channel.down_in_seconds;
        channel.up_bytes_per_cycle =
            channel.half_duplex
                ? channel.down_bytes_per_cycle
                : read_bandwidth(up, channel.operands, domain, channel.up_in_seconds);
        channel.cast = node.need("cast").choice(kCasts, "cast").value_or(Cast::multicast);
        channel.reduces = node["reduces"].boolean().value_or(channel.reduces);
        channel.adds_at_once = node["adds_at_once"].boolean().value_or(channel.adds_at_once);
        channel.forwards = node["forwards"].boolean().value_or(channel.forwards);
        channel.hop_pj = read_energy(entry["hop_energy"]);
        channel.bits_per_nonzero = read_zero_coding(entry["zero_coding"]);
        return channel;
    }

    Level read_level(const Sourced& entry) {
        Level level;
        level.name = read_name(entry.node().need("name"));
        const Sourced words = entry["words"];
        for (const auto& [name, operand] : kOperandNames) {
            level.word_bits[index(operand)] = words[name] ? read_word(words[name]) : 0;
        }
        level_words_ = level.word_bits;
        for (const Sourced& store : entry.need("stores").items()) {
            level.stores.push_back(read_store(store));
        }
        for (const auto& [name, size] : entry["fanout"].entries()) {
            check_name(size.node(), name);
            if (!axes_.insert(name).second) {
                size.node().error("duplicate-axis",
                                  fmt::format("another level has an axis \"{}\" already", name),
                                  "dataflows name axes: call one of them otherwise");
            }
            level.fanout.push_back({name, size.integer({1, 1 << 20}).value_or(1)});
        }
        for (const Sourced& channel : entry["channels"].items()) {
            level.channels.push_back(read_channel(channel));
            model::follow_wires(level, level.channels.back());
        }
        level.keeps_between_layers = entry.node()["keeps_between_layers"].boolean().value_or(false);
        level.keeps_weights = entry.node()["keeps_weights"].boolean().value_or(false);
        return level;
    }

    // The level by its name; rates of functions are elements a lane and cycle.
    model::VectorUnit read_vector_unit(const Sourced& entry) {
        model::VectorUnit unit;
        unit.lanes = entry.need("lanes").integer({1, 1 << 30}).value_or(1);
        std::vector<std::pair<std::string, std::size_t>> names;
        for (std::size_t i = 0; i < accelerator_.levels.size(); ++i) {
            names.emplace_back(accelerator_.levels[i].name, i);
        }
        unit.level = entry.node().need("level").choice(names, "level").value_or(0);
        level_words_ = unit.level < accelerator_.levels.size()
                           ? accelerator_.levels[unit.level].word_bits
                           : model::PerOperand<int>{};
        unit.read_bytes_per_cycle =
            read_bandwidth(entry["read"], {Operand::input}, {}, unit.read_in_seconds);
        unit.write_bytes_per_cycle =
            read_bandwidth(entry["write"], {Operand::input}, {}, unit.write_in_seconds);
        unit.operation_pj = read_energy(entry["operation_energy"]);
        for (const auto& [function, rate] : entry["rates"].entries()) {
            check_function(rate.node(), function);
            unit.rates.push_back({function, rate.number(1e-6, 1e6).value_or(1.0)});
        }
        unit.overlaps = entry.node()["overlaps"].boolean().value_or(true);
        return unit;
    }

    model::ComputeInMemory read_array(const Sourced& entry) {
        constexpr IntegerRange lines{1, 1 << 20};
        model::ComputeInMemory array;
        array.name = read_name(entry.node().need("name"));
        array.clock_hz = accelerator_.clock_hz;
        array.rows = entry.need("rows").integer(lines).value_or(1);
        array.columns = entry.need("columns").integer(lines).value_or(1);
        array.bits_per_cell = static_cast<int>(entry["bits_per_cell"].integer({1, 16}).value_or(1));
        array.parallel_rows = entry["parallel_rows"].integer(lines).value_or(array.rows);
        array.input_bits = static_cast<int>(entry["input_bits"].integer({1, 16}).value_or(1));
        array.columns_per_adc = entry["columns_per_adc"].integer(lines).value_or(1);
        array.adc_bits = static_cast<int>(entry.need("adc_bits").integer({1, 24}).value_or(8));
        array.evaluation_cycles = read_cycles(entry.need("evaluation_cycles"), 1.0);
        array.conversion_cycles = read_cycles(entry["conversion_cycles"], 0.0);
        array.row_write_cycles = read_cycles(entry.need("row_write_cycles"), 1.0);
        array.cell_pj = read_energy(entry["cell_energy"]);
        array.cell_write_pj = read_energy(entry["cell_write_energy"]);
        array.driver_pj = read_energy(entry["driver_energy"]);
        array.adc_pj = read_energy(entry["adc_energy"]);
        array.sum_pj = read_energy(entry["sum_energy"]);
        level_words_ = {};
        array.input_bytes = read_registers(entry["inputs"], Operand::input);
        array.sum_bytes = read_registers(entry["sums"], Operand::output);
        array.cell_um2 = entry["cell_um2"].number(0.0, 1e10).value_or(0.0);
        array.adc_um2 = entry["adc_um2"].number(0.0, 1e10).value_or(0.0);
        array.periphery_um2 = entry["periphery_um2"].number(0.0, 1e10).value_or(0.0);
        return array;
    }

    Count read_registers(const Sourced& capacity, Operand operand) {
        return capacity ? read_capacity(capacity, {operand}).value_or(0) : 0;
    }

    // The array's own numbers must hold before anything is made from them.
    void place_array(const Sourced& root, model::ComputeInMemory array) {
        for (const char* key : {"mac_energy", "pipeline_stages"}) {
            if (const Node node = root.node()[key]) {
                node.error("conflict",
                           fmt::format("`{}` of a machine with an `array` follows from it", key),
                           "leave it out; `cell_energy` is the energy of a cell that computes");
            }
        }
        for (const char* axis : {model::kRowAxis, model::kColumnAxis}) {
            if (axes_.contains(axis)) {
                root["array"].node().error(
                    "duplicate-axis", fmt::format("a level has an axis \"{}\" already", axis),
                    "the array's axes are called row and column: call the level's otherwise");
            }
        }
        if (model::validate(array, accelerator_.word_bits).has_errors()) {
            accelerator_.array = std::move(array); // reported with the machine's other findings
        } else {
            model::set_array(accelerator_, std::move(array));
        }
    }

    Document& document_;
    std::string id_;
    SourceBook book_;
    AcceleratorFile file_;
    Accelerator accelerator_;
    model::PerOperand<int> level_words_{}; // of the level that is read
    std::map<std::string, double> domains_;
    std::set<std::string> axes_;
};

} // namespace

std::string_view cast_name(Cast cast) {
    for (const auto& [name, value] : kCasts) {
        if (value == cast) {
            return name;
        }
    }
    return {};
}

Result<AcceleratorFile> read_accelerator(Document& document, const std::string& id) {
    return AcceleratorReader(document, id).read();
}

} // namespace eyeroof::hwdb
