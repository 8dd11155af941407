#include "model/accelerator.hpp"

#include "model/base/checked.hpp"

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

Count fanout_of(const Level& level) {
    Count product = 1;
    for (const Axis& axis : level.fanout) {
        product *= axis.size;
    }
    return product;
}

class Checker {
  public:
    explicit Checker(const Accelerator& machine) : machine_(machine) {}

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
        require(machine_.clock_hz > 0 && std::isfinite(machine_.clock_hz), "bad-clock",
                "the clock must be above 0", "clock");
        require(!machine_.levels.empty(), "no-levels", "a machine needs at least one level",
                "levels");
        for (const int bits : machine_.word_bits) {
            require(bits >= 1 && bits <= 1024, "bad-word", "a word must have 1 to 1024 bits",
                    "word_bits");
        }
        require(machine_.mac_pj >= 0 && std::isfinite(machine_.mac_pj), "bad-energy",
                "an energy must not be negative", "mac_pj");
        require(machine_.pipeline_stages >= 1, "bad-pipeline",
                "a PE has at least one pipeline stage", "pipeline_stages");
    }

    void check_level(const Level& level, const std::string& field) {
        require(!level.name.empty(), "no-name", "a level needs a name", field + ".name");
        require(names_.insert(level.name).second, "duplicate-level",
                fmt::format("two levels are called '{}'", level.name), field + ".name");
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
        require(store.bank_bytes >= 1, "bad-bank", "a bank has at least one byte", field + ".bank");
        require(store.buffers >= 1 && store.buffers <= 16, "bad-buffers",
                "a store has 1 to 16 buffers", field + ".buffers");
        require(store.read_bytes_per_cycle > 0 && store.write_bytes_per_cycle > 0, "bad-bandwidth",
                "a bandwidth must be above 0", field);
        require(store.read_pj >= 0 && store.write_pj >= 0, "bad-energy",
                "an energy must not be negative", field);
    }

    void check_channel(const Channel& channel, const std::string& field) {
        require(channel.down_bytes_per_cycle > 0 && channel.up_bytes_per_cycle > 0, "bad-bandwidth",
                "a bandwidth must be above 0", field);
        require(channel.hop_pj >= 0, "bad-energy", "an energy must not be negative", field);
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

    void check_dataflows() {
        for (std::size_t i = 0; i < machine_.dataflows.size(); ++i) {
            for (const SpatialRule& rule : machine_.dataflows[i].spatial) {
                require(axes_.count(rule.axis) > 0, "unknown-axis",
                        fmt::format("no level has an axis '{}'", rule.axis),
                        fmt::format("dataflows[{}].spatial", i));
            }
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

// Run-length coding sends the non-zero words only, each with its own overhead.
double bytes_per_word(const Accelerator& accelerator, const Channel& channel, Operand operand,
                      double zeros) {
    const double plain_bits = accelerator.word_bits[index(operand)];
    const double coded_bits =
        channel.bits_per_nonzero ? *channel.bits_per_nonzero * (1.0 - zeros) : plain_bits;
    return std::min(plain_bits, coded_bits) / 8.0;
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
    return Checker(accelerator).run();
}

} // namespace eyeroof::model
