#include "study/what_if/knobs.hpp"

#include "hwdb/accelerator_reader.hpp"
#include "hwdb/gpu_reader.hpp"
#include "model/base/any_case.hpp"
#include "model/base/suggest.hpp"
#include "model/base/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>

namespace eyeroof::study {

namespace {

using model::Accelerator;
using model::Gpu;
using model::Machine;
using model::Result;

constexpr int kExactDigits = 12;    // as many as anybody writes
constexpr double kMostValue = 1e18; // bytes, bytes/s, Hz
constexpr double kMostCount = 1e6;

Accelerator& accelerator(Machine& machine) {
    return std::get<Accelerator>(machine.kind);
}
Gpu& gpu(Machine& machine) {
    return std::get<Gpu>(machine.kind);
}
model::Count whole(double value) {
    return static_cast<model::Count>(std::llround(std::max(1.0, value)));
}

std::vector<std::pair<std::string, int>> words_of(const Accelerator& machine,
                                                  model::OperandSet operands) {
    std::vector<std::pair<std::string, int>> words;
    for (const model::Operand o : model::kAllOperands) {
        if (operands.contains(o)) {
            words.emplace_back(operand_name(o), machine.word_bits[index(o)]);
        }
    }
    return words;
}

// "spad weight", "GLB input output": says which store of a level that has several.
std::string store_name(const Accelerator& machine, const model::Level& level,
                       const model::Store& store) {
    std::string name = level.name;
    if (level.stores.size() > 1) {
        for (const auto& [operand, bits] : words_of(machine, store.operands)) {
            name += " " + operand;
        }
    }
    return name;
}

void add_stores(std::vector<Knob>& knobs, const Accelerator& machine, std::size_t index) {
    const model::Level& level = machine.levels[index];
    for (std::size_t s = 0; s < level.stores.size(); ++s) {
        const model::Store& store = level.stores[s];
        if (!store.capacity_bytes) {
            continue;
        }
        Knob knob{"",
                  store_name(machine, level, store) + " capacity",
                  "B",
                  static_cast<double>(*store.capacity_bytes),
                  true,
                  [=](Machine& m, double v) {
                      accelerator(m).levels[index].stores[s].capacity_bytes = whole(v);
                  }};
        knob.fields = {fmt::format("levels[{}].stores[{}].capacity", index, s)};
        knob.words = words_of(machine, store.operands);
        knobs.push_back(std::move(knob));
    }
}

void add_channels(std::vector<Knob>& knobs, const Accelerator& machine, std::size_t index) {
    const model::Level& level = machine.levels[index];
    for (std::size_t c = 0; c < level.channels.size(); ++c) {
        const model::Channel& channel = level.channels[c];
        if (!std::isfinite(channel.down_bytes_per_cycle)) {
            continue;
        }
        const std::string name = channel.name.empty() ? level.name : channel.name;
        Knob knob{"",
                  name + " bandwidth",
                  "B/cycle",
                  channel.down_bytes_per_cycle,
                  false,
                  [=](Machine& m, double v) {
                      auto& changed = accelerator(m).levels[index].channels[c];
                      const double factor = v / changed.down_bytes_per_cycle;
                      changed.down_bytes_per_cycle = v;
                      changed.up_bytes_per_cycle *= factor;
                  }};
        knob.units = {{"B/s", 1.0 / machine.clock_hz}};
        knob.words = words_of(machine, channel.operands);
        knob.fields = {fmt::format("levels[{}].channels[{}].down", index, c),
                       fmt::format("levels[{}].channels[{}].up", index, c)};
        knobs.push_back(std::move(knob));
    }
}

void add_level(std::vector<Knob>& knobs, const Accelerator& machine, std::size_t index) {
    add_stores(knobs, machine, index);
    add_channels(knobs, machine, index);
    const model::Level& level = machine.levels[index];
    for (std::size_t a = 0; a < level.fanout.size(); ++a) {
        if (level.fanout[a].size > 1) {
            knobs.push_back({"",
                             "axis " + level.fanout[a].name,
                             "",
                             static_cast<double>(level.fanout[a].size),
                             true,
                             [=](Machine& m, double v) {
                                 accelerator(m).levels[index].fanout[a].size = whole(v);
                             },
                             {fmt::format("levels[{}].fanout.{}", index, level.fanout[a].name)}});
        }
    }
}

// The outermost memory is another chip: it keeps its bytes per second.
void set_clock(Accelerator& machine, double hertz) {
    const double factor = hertz / machine.clock_hz;
    machine.clock_hz = hertz;
    for (model::Channel& channel : machine.levels.front().channels) {
        channel.down_bytes_per_cycle /= factor;
        channel.up_bytes_per_cycle /= factor;
    }
}

std::vector<Knob> knobs(const Accelerator& machine) {
    std::vector<Knob> all = {{"",
                              "clock",
                              "Hz",
                              machine.clock_hz,
                              false,
                              [](Machine& m, double v) { set_clock(accelerator(m), v); },
                              {"clock"}}};
    for (std::size_t i = 0; i < machine.levels.size(); ++i) {
        add_level(all, machine, i);
    }
    return all;
}

// The peak of each data type on its own: what wider units of one precision would bring.
void add_peaks(std::vector<Knob>& knobs, const Gpu& machine) {
    for (const std::string_view name : model::data_type_names()) {
        const auto type = *model::data_type_from_name(name);
        if (machine.rate(type).flops_per_s > 0.0) {
            Knob knob{
                "",       std::string(name) + " peak",
                "FLOP/s", machine.rate(type).flops_per_s,
                false,    [type](Machine& m, double v) { gpu(m).rate(type).flops_per_s = v; }};
            knob.units = {{"FLOP/cycle", machine.sms * model::pipe_clock_hz(machine, type)}};
            knob.fields = {"peaks." + std::string(name)};
            knobs.push_back(std::move(knob));
        }
    }
}

// The peaks that follow from what is changed, and the change's own fields.
std::vector<std::string> with_peaks(const Gpu& machine, std::vector<std::string> fields) {
    for (const std::string_view name : model::data_type_names()) {
        if (machine.rate(*model::data_type_from_name(name)).flops_per_s > 0.0) {
            fields.push_back("peaks." + std::string(name));
        }
    }
    return fields;
}

std::vector<Knob> knobs(const Gpu& machine) {
    std::vector<Knob> all;
    all.push_back({"", "SMs", "", static_cast<double>(machine.sms), true,
                   [](Machine& m, double v) {
                       const double factor = static_cast<double>(whole(v)) / gpu(m).sms;
                       gpu(m).sms = static_cast<int>(whole(v));
                       for (model::Rate& rate : gpu(m).rates) {
                           rate.flops_per_s *= factor; // each SM brings its own units
                       }
                   },
                   with_peaks(machine, {"sms"})});
    all.push_back({"", "boost clock", "Hz", machine.boost_hz, false,
                   [](Machine& m, double v) {
                       const double factor = v / gpu(m).boost_hz;
                       gpu(m).boost_hz = v;
                       gpu(m).tensor_hz *= factor;
                       gpu(m).base_hz *= factor;
                       for (model::Rate& rate : gpu(m).rates) {
                           rate.flops_per_s *= factor;
                       }
                   },
                   with_peaks(machine, {"clocks.boost", "clocks.tensor", "clocks.base"})});
    all.push_back({"",
                   "DRAM bandwidth",
                   "B/s",
                   machine.dram_bytes_per_s,
                   false,
                   [](Machine& m, double v) { gpu(m).dram_bytes_per_s = v; },
                   {"dram.bandwidth"}});
    if (machine.l2_bytes > 0.0) {
        all.push_back({"",
                       "L2 capacity",
                       "B",
                       machine.l2_bytes,
                       true,
                       [](Machine& m, double v) { gpu(m).l2_bytes = v; },
                       {"l2.capacity"}});
    }
    if (machine.l2_bytes_per_s > 0.0) {
        all.push_back({"",
                       "L2 bandwidth",
                       "B/s",
                       machine.l2_bytes_per_s,
                       false,
                       [](Machine& m, double v) { gpu(m).l2_bytes_per_s = v; },
                       {"l2.bandwidth"}});
    }
    add_peaks(all, machine);
    return all;
}

// "DRAM bandwidth" becomes "dram-bandwidth"; a second of the same name gets a number.
std::string key_of(const std::string& name) {
    std::string key;
    for (const char c : name) {
        const bool upper = c >= 'A' && c <= 'Z';
        const bool plain = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.';
        key += upper ? static_cast<char>(c - 'A' + 'a') : plain ? c : '-';
    }
    return key;
}

void give_keys(std::vector<Knob>& knobs) {
    std::map<std::string, int> seen;
    for (Knob& knob : knobs) {
        knob.key = key_of(knob.name);
        const int times = ++seen[knob.key];
        knob.key += times > 1 ? fmt::format("-{}", times) : std::string{};
    }
}

std::optional<double> plain_number(std::string_view text) {
    double value = 0.0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool whole_text = error == std::errc{} && end == text.data() + text.size();
    return whole_text && std::isfinite(value) ? std::optional(value) : std::nullopt;
}

Result<double> bad_value(const Knob& knob, std::string_view text, const char* hint) {
    return Result<double>::failure("bad-value", fmt::format("'{}' is no {}", text, knob.name),
                                   hint);
}

Result<const Knob*> find(const std::vector<Knob>& knobs, std::string_view key,
                         const Machine& machine) {
    std::vector<std::string> keys;
    const std::string wanted = key_of(std::string(key));
    for (const Knob& knob : knobs) {
        if (key_of(knob.key) == wanted) {
            return Result<const Knob*>(&knob);
        }
        keys.push_back(knob.key);
    }
    return Result<const Knob*>::failure("unknown-parameter",
                                        fmt::format("{} has no parameter '{}'", machine.name, key),
                                        model::suggestion(key, keys, 40));
}

} // namespace

std::vector<Knob> knobs_of(const model::Machine& machine) {
    auto all = std::visit([](const auto& kind) { return knobs(kind); }, machine.kind);
    give_keys(all);
    return all;
}

std::string value_text(const Knob& knob, double value) {
    if (knob.unit.empty()) {
        return fmt::format("{:.0f}", value);
    }
    return knob.unit == "B" && knob.whole ? model::format_iec(value, "B", kExactDigits)
                                          : model::format_si(value, knob.unit, kExactDigits);
}

namespace {

// Bytes of one word, when all of the knob's operands have words of one width; nothing without any.
Result<double> word_bytes(const Knob& knob, std::string_view text) {
    std::string each;
    bool same = true;
    for (const auto& [operand, bits] : knob.words) {
        each += fmt::format("{}{} {} bit", each.empty() ? "" : ", ", operand, bits);
        same = same && bits == knob.words.front().second;
    }
    if (same) {
        return Result<double>(knob.words.front().second / 8.0);
    }
    return Result<double>::failure(
        "ambiguous-unit",
        fmt::format("'{}' does not say words of which operand of {}", text, knob.name),
        fmt::format("their words differ ({}): write it in {}", each, knob.unit));
}

// In the knob's own unit, from that or any other that a machine file takes in this place.
Result<double> parse_in_its_units(const Knob& knob, std::string_view text) {
    auto own = model::parse_quantity_any_case(text, knob.unit, knob.name);
    if (own || own.diagnostics().begin()->code != "wrong-unit") {
        return own;
    }
    for (const auto& [unit, factor] : knob.units) {
        const auto other = model::parse_quantity_any_case(text, unit, knob.name);
        if (other) {
            return Result<double>(*other * factor);
        }
        if (other.diagnostics().begin()->code == "ambiguous-unit") {
            return other;
        }
    }
    const char* word = knob.unit == "B/cycle" ? "word/cycle" : "word";
    const auto words = model::parse_quantity_any_case(text, word, knob.name);
    if (knob.words.empty() || !words) {
        return own;
    }
    const auto each = word_bytes(knob, text);
    return each ? Result<double>(*words * *each) : each;
}

} // namespace

Result<double> parse_value(const Knob& knob, std::string_view text) {
    double value = 0.0;
    if (text.starts_with('x') || text.starts_with('X')) {
        const auto factor = plain_number(text.substr(1));
        if (!factor) {
            return bad_value(knob, text, "x2 stands for twice the machine's own value");
        }
        value = knob.value * *factor;
    } else if (knob.unit.empty()) {
        const auto count = plain_number(text);
        if (!count || *count != std::floor(*count)) {
            return bad_value(knob, text, "it is a whole number");
        }
        value = *count;
    } else {
        const auto quantity = parse_in_its_units(knob, text);
        if (!quantity) {
            return quantity;
        }
        value = *quantity;
    }
    value = knob.whole ? std::round(value) : value;
    const double most = knob.unit.empty() ? kMostCount : kMostValue;
    const bool fits = value > 0.0 && value <= std::max(most, knob.value);
    return fits ? Result<double>(value) : bad_value(knob, text, "it is positive and not endless");
}

Result<Change> parse_change(const model::Machine& machine, std::string_view text) {
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos) {
        return Result<Change>::failure("bad-change", fmt::format("'{}' sets nothing", text),
                                       "write parameter=value, for example clock=1 GHz");
    }
    const auto trimmed = [](std::string_view part) {
        const std::size_t from = part.find_first_not_of(' ');
        const std::size_t to = part.find_last_not_of(' ');
        return from == std::string_view::npos ? std::string_view{}
                                              : part.substr(from, to - from + 1);
    };
    const auto knobs = knobs_of(machine);
    const auto knob = find(knobs, trimmed(text.substr(0, equals)), machine);
    if (!knob) {
        return Result<Change>(knob.diagnostics());
    }
    const auto value = parse_value(**knob, trimmed(text.substr(equals + 1)));
    return value ? Result<Change>(Change{(*knob)->key, *value})
                 : Result<Change>(value.diagnostics());
}

std::string change_text(const model::Machine& machine, const Change& change) {
    for (const Knob& knob : knobs_of(machine)) {
        if (knob.key == change.key) {
            return change.key + "=" + value_text(knob, change.value);
        }
    }
    return fmt::format("{}={}", change.key, change.value);
}

Result<Machine> changed(const Machine& machine, const std::vector<Change>& changes) {
    const auto knobs = knobs_of(machine);
    Machine result = machine;
    model::Diagnostics problems;
    for (const Change& change : changes) {
        const auto knob = find(knobs, change.key, machine);
        problems.append(knob.diagnostics());
        if (knob) {
            (*knob)->set(result, change.value);
            for (const std::string& field : (*knob)->fields) { // no longer what its source says
                result.provenance[field] = {"changed by the user; not " + machine.name + "'s",
                                            model::Confidence::user};
            }
        }
    }
    problems.append(std::visit([](const auto& kind) { return validate(kind); }, result.kind));
    if (problems.has_errors()) {
        return Result<Machine>(std::move(problems));
    }
    if (!changes.empty()) {
        result.name += " (changed)";
    }
    return Result<Machine>(std::move(result));
}

Result<Machine> changed(const Machine& machine, const std::vector<std::string>& texts) {
    std::vector<Change> changes;
    model::Diagnostics problems;
    for (const std::string& text : texts) {
        const auto change = parse_change(machine, text);
        problems.append(change.diagnostics());
        if (change) {
            changes.push_back(*change);
        }
    }
    return problems.has_errors() ? Result<Machine>(std::move(problems)) : changed(machine, changes);
}

std::string changed_machine_yaml(const Machine& origin, const std::vector<Change>& changes,
                                 const std::string& id) {
    auto result = changed(origin, changes);
    Machine machine = result ? *std::move(result) : origin;
    machine.id = id;
    machine.name = id;
    machine.summary = fmt::format("{} with", origin.name);
    for (const Change& change : changes) {
        machine.summary += " " + change_text(origin, change);
    }
    return std::holds_alternative<Gpu>(machine.kind) ? hwdb::write_gpu(machine, id, origin.id)
                                                     : hwdb::write_accelerator(machine);
}

} // namespace eyeroof::study
