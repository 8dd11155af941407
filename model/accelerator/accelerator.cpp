#include "model/accelerator/accelerator.hpp"

#include "base/checked.hpp"
#include "base/plausible.hpp"
#include "base/suggest.hpp"
#include "base/units.hpp"
#include "model/accelerator/fanout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

namespace eyeroof::model {

namespace {

constexpr std::array<std::pair<DataflowKind, std::string_view>, 6> kDataflowNames = {
    {{DataflowKind::ws, "ws"},
     {DataflowKind::os, "os"},
     {DataflowKind::is, "is"},
     {DataflowKind::nlr, "nlr"},
     {DataflowKind::rs, "rs"},
     {DataflowKind::rs_plus, "rs-plus"}}};

// More PEs than any machine has; keeps products of fan-outs in range.
constexpr Count kMaxInstances = Count{1} << 40;
// Ten times as deep as any hierarchy that was built; mappings of deeper ones are never done.
constexpr std::size_t kMaxLevels = 64;

bool is_energy(double picojoules) {
    return picojoules >= 0.0 && picojoules <= kMaxPicojoules;
}

bool is_bandwidth(double bytes_per_cycle) {
    return bytes_per_cycle > 0.0 &&
           (bytes_per_cycle <= kMaxBytesPerCycle || bytes_per_cycle == kUnlimited);
}

class MachineChecker {
  public:
    explicit MachineChecker(const Accelerator& machine) : machine_(machine) {}

    Diagnostics run() {
        check_machine();
        for (std::size_t i = 0; i < machine_.levels.size(); ++i) {
            check_level(machine_.levels[i], fmt::format("levels[{}]", i));
        }
        check_instances();
        check_homes();
        check_dataflows();
        return std::move(found_);
    }

  private:
    void fail(std::string code, std::string message, std::string field, std::string hint = {}) {
        found_.error(std::move(code), std::move(message), std::move(hint), {}, std::move(field));
    }
    void require(bool ok, const char* code, std::string message, std::string field) {
        if (!ok) {
            fail(code, std::move(message), std::move(field));
        }
    }

    void check_machine() {
        const double hertz = machine_.clock_hz;
        if (!(hertz >= kMinClockHz && hertz <= kMaxClockHz)) {
            fail("bad-clock", fmt::format("{:g} Hz is no plausible clock", hertz), "clock",
                 fmt::format("{:g} Hz to {:g} Hz", kMinClockHz, kMaxClockHz));
        }
        require(!machine_.levels.empty(), "no-levels", "a machine needs at least one level",
                "levels");
        if (machine_.levels.size() > kMaxLevels) {
            fail("too-many-levels",
                 fmt::format("a machine has at most {} levels, this one has {}", kMaxLevels,
                             machine_.levels.size()),
                 "levels", "join levels that hold the same operands; the search takes at most 8");
        }
        for (const int bits : machine_.word_bits) {
            require(bits >= 1 && bits <= 1024, "bad-word", "a word must have 1 to 1024 bits",
                    "words");
        }
        check_energy(machine_.mac_pj, "mac_energy");
        check_energy(machine_.mac_leak_pj, "mac_leakage");
        check_vector_unit();
        check_array();
        require(machine_.pipeline_stages >= 1, "bad-pipeline",
                "a PE has at least one pipeline stage", "pipeline_stages");
    }

    void check_vector_unit() {
        if (!machine_.vector_unit) {
            return;
        }
        const VectorUnit& unit = *machine_.vector_unit;
        require(unit.lanes >= 1 && unit.lanes <= kMaxInstances, "bad-lanes",
                "a vector unit has at least one lane", "vector_unit.lanes");
        require(unit.level < machine_.levels.size(), "unknown-level",
                "the vector unit works at a level that there is not", "vector_unit.level");
        check_bandwidth(unit.read_bytes_per_cycle, "vector_unit.read");
        check_bandwidth(unit.write_bytes_per_cycle, "vector_unit.write");
        check_energy(unit.operation_pj, "vector_unit.operation_energy");
        for (const VectorRate& rate : unit.rates) {
            require(rate.elements_per_lane > 0.0 && rate.elements_per_lane <= 1e6, "bad-rate",
                    fmt::format("{} elements a lane and cycle is no plausible rate",
                                rate.elements_per_lane),
                    "vector_unit.rates." + rate.function);
        }
    }

    void check_array() {
        if (!machine_.array) {
            return;
        }
        const Diagnostics own = validate(*machine_.array, machine_.word_bits);
        found_.append(own);
        require(!machine_.vector_unit, "array-vector-unit",
                "a vector unit counts in cycles of a core clock, and a machine with an array has "
                "none",
                "vector_unit");
        require(own.has_errors() || machine_.levels.size() >= 3, "no-levels",
                "an array needs a memory around it: give at least one level", "levels");
    }

    void check_energy(double picojoules, std::string field) {
        if (!is_energy(picojoules)) {
            fail("bad-energy", fmt::format("{:g} pJ is no plausible energy", picojoules),
                 std::move(field), fmt::format("0 to {:g} pJ", kMaxPicojoules));
        }
    }

    void check_bandwidth(double bytes_per_cycle, std::string field) {
        if (!is_bandwidth(bytes_per_cycle)) {
            fail("bad-bandwidth",
                 fmt::format("{:g} B/cycle is no plausible bandwidth", bytes_per_cycle),
                 std::move(field),
                 fmt::format("above 0, at most {:g} B/cycle, or unlimited", kMaxBytesPerCycle));
        }
    }

    void check_level(const Level& level, const std::string& field) {
        require(!level.name.empty(), "no-name", "a level needs a name", field + ".name");
        require(names_.insert(level.name).second, "duplicate-level",
                fmt::format("two levels are called '{}'", level.name), field + ".name");
        for (const int bits : level.word_bits) {
            require(bits >= 0 && bits <= 1024, "bad-word", "a word must have 1 to 1024 bits",
                    field + ".words");
        }
        OperandSet stored;
        for (std::size_t i = 0; i < level.stores.size(); ++i) {
            check_store(level.stores[i], fmt::format("{}.stores[{}]", field, i));
            check_once(level.stores[i].operands, stored, "store",
                       fmt::format("{}.stores[{}]", field, i));
        }
        for (const Axis& axis : level.fanout) {
            require(axis.size >= 1, "bad-fanout",
                    fmt::format("axis '{}' must have at least one instance", axis.name),
                    field + ".fanout");
            axes_.insert(axis.name);
        }
        OperandSet carried;
        for (std::size_t i = 0; i < level.channels.size(); ++i) {
            check_channel(level.channels[i], fmt::format("{}.channels[{}]", field, i));
            check_once(level.channels[i].operands, carried, "channel",
                       fmt::format("{}.channels[{}]", field, i));
        }
    }

    void check_once(OperandSet operands, OperandSet& seen, const char* what,
                    const std::string& field) {
        require(!operands.empty(), "no-operands", fmt::format("a {} needs an operand", what),
                field);
        for (const Operand o : kAllOperands) {
            if (operands.contains(o)) {
                require(!seen.contains(o), "operand-twice",
                        fmt::format("{} is in two {}s of one level", operand_name(o), what), field);
                seen.insert(o);
            }
        }
    }

    void check_store(const Store& store, const std::string& field) {
        require(!store.capacity_bytes || *store.capacity_bytes >= 0, "bad-capacity",
                "a capacity must not be negative", field + ".capacity");
        require(store.buffers >= 1 && store.buffers <= 16, "bad-buffers",
                "a store has 1 to 16 buffers", field + ".buffers");
        check_bank(store, field);
        check_bandwidth(store.read_bytes_per_cycle, field + ".read");
        check_bandwidth(store.write_bytes_per_cycle, field + ".write");
        require(store.access_words >= 1, "bad-access", "an access needs at least one word",
                field + ".access_words");
        check_energy(store.read_pj, field + ".read_energy");
        check_energy(store.write_pj, field + ".write_energy");
        check_energy(store.update_pj.value_or(0.0), field + ".update_energy");
        check_energy(store.leak_pj, field + ".leakage");
        for (const Operand o : kAllOperands) {
            check_energy(store.own_read_pj[index(o)].value_or(0.0), field + ".read_energy");
            check_energy(store.own_write_pj[index(o)].value_or(0.0), field + ".write_energy");
        }
    }

    void check_bank(const Store& store, const std::string& field) {
        require(store.bank_bytes >= 1, "bad-bank", "a bank has at least one byte", field + ".bank");
        if (store.capacity_bytes && store.bank_bytes > std::max<Count>(*store.capacity_bytes, 1)) {
            fail("bad-bank",
                 fmt::format("a bank of {} is larger than its store of {}",
                             format_iec(static_cast<double>(store.bank_bytes), "B"),
                             format_iec(static_cast<double>(*store.capacity_bytes), "B")),
                 field + ".bank", "a store consists of whole banks");
        }
    }

    void check_channel(const Channel& channel, const std::string& field) {
        require(!channel.dram || field.starts_with("levels[0]."), "dram-inside",
                "only the outermost memory is a DRAM", field + ".dram");
        check_bandwidth(channel.down_bytes_per_cycle, field + ".down");
        check_bandwidth(channel.up_bytes_per_cycle, field + ".up");
        check_energy(channel.hop_pj, field + ".hop_energy");
    }

    void check_instances() {
        std::optional<Count> units = 1;
        for (const Level& level : machine_.levels) {
            for (const Axis& axis : level.fanout) {
                units = units ? checked_mul(*units, std::max<Count>(axis.size, 1)) : std::nullopt;
            }
        }
        require(units && *units <= kMaxInstances, "too-many-units",
                "the fan-outs multiply to more MAC units than are supported", "levels");
    }

    void check_homes() {
        if (machine_.levels.empty()) {
            return;
        }
        for (const Operand o : kAllOperands) {
            require(store_of(machine_.levels.front(), o) != nullptr, "no-home",
                    fmt::format("the outermost level has no store for the {}", operand_name(o)),
                    "levels[0].stores");
        }
    }

    void check_axes(const std::vector<SpatialRule>& rules, const std::string& place) {
        std::set<std::string> seen;
        for (const SpatialRule& rule : rules) {
            const std::string field = fmt::format("{}.{}", place, rule.axis);
            if (axes_.count(rule.axis) == 0) {
                const std::vector<std::string> known(axes_.begin(), axes_.end());
                fail("unknown-axis", fmt::format("no level has an axis '{}'", rule.axis), field,
                     suggestion(rule.axis, known));
            }
            require(seen.insert(rule.axis).second, "axis-twice",
                    fmt::format("axis '{}' has two rules in one dataflow", rule.axis), field);
        }
    }

    void check_dataflows() {
        for (std::size_t i = 0; i < machine_.dataflows.size(); ++i) {
            check_axes(machine_.dataflows[i].spatial, fmt::format("dataflows[{}].spatial", i));
            check_axes(machine_.dataflows[i].image_spatial,
                       fmt::format("dataflows[{}].image.spatial", i));
        }
    }

    const Accelerator& machine_;
    Diagnostics found_;
    std::set<std::string> names_;
    std::set<std::string> axes_;
};

} // namespace

Count mac_units(const Accelerator& accelerator) {
    return instances_of(accelerator, accelerator.levels.size());
}

Count instances_of(const Accelerator& accelerator, std::size_t level) {
    Count product = 1;
    for (std::size_t i = 0; i < level && i < accelerator.levels.size(); ++i) {
        product *= fanout_of(accelerator.levels[i]);
    }
    return product;
}

const Store* store_of(const Level& level, Operand operand) {
    const auto found = std::find_if(level.stores.begin(), level.stores.end(),
                                    [&](const Store& s) { return s.operands.contains(operand); });
    return found == level.stores.end() ? nullptr : &*found;
}

const Channel* channel_of(const Level& level, Operand operand) {
    const auto found = std::find_if(level.channels.begin(), level.channels.end(),
                                    [&](const Channel& c) { return c.operands.contains(operand); });
    return found == level.channels.end() ? nullptr : &*found;
}

int bits_at(const Accelerator& accelerator, std::size_t level, Operand operand) {
    const int own = accelerator.levels[level].word_bits[index(operand)];
    return own > 0 ? own : accelerator.word_bits[index(operand)];
}

// Run-length coding sends the non-zero words only, each with its own overhead.
double bytes_per_word(const Channel& channel, int bits, double zeros) {
    const double plain_bits = bits;
    const double coded_bits =
        channel.bits_per_nonzero ? *channel.bits_per_nonzero * (1.0 - zeros) : plain_bits;
    return std::min(plain_bits, coded_bits) / 8.0;
}

Accelerator at_clock(Accelerator accelerator, double hertz) {
    accelerator = without_array(accelerator);
    const double slower = accelerator.clock_hz / hertz;
    accelerator.clock_hz = hertz;
    for_each_per_cycle(
        accelerator, [&](double& figure, bool in_seconds) { figure *= in_seconds ? slower : 1.0; });
    if (accelerator.array) {
        ComputeInMemory array = *accelerator.array;
        array.clock_hz = hertz;
        accelerator.array.reset(); // its levels are not there
        set_array(accelerator, std::move(array));
    }
    return accelerator;
}

Dataflow dataflow_for(const Problem& problem, const Dataflow& dataflow) {
    const auto size = [&](Dim d) { return problem.bounds[index(d)]; };
    const bool image = dataflow.image_channels > 0 && problem.has_weight && size(Dim::G) == 1 &&
                       size(Dim::C) <= dataflow.image_channels && size(Dim::R) * size(Dim::S) > 1;
    Dataflow rules = dataflow;
    if (image) {
        rules.spatial = dataflow.image_spatial;
    }
    rules.image_channels = 0;
    rules.image_spatial.clear();
    return rules;
}

std::string_view dataflow_name(DataflowKind kind) {
    for (const auto& [value, name] : kDataflowNames) {
        if (value == kind) {
            return name;
        }
    }
    return "ws";
}

std::optional<DataflowKind> dataflow_from_name(std::string_view name) {
    for (const auto& [value, known] : kDataflowNames) {
        if (known == name) {
            return value;
        }
    }
    return std::nullopt;
}

Diagnostics validate(const Accelerator& accelerator) {
    return MachineChecker(accelerator).run();
}

} // namespace eyeroof::model
