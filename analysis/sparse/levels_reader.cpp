#include "analysis/sparse/levels_reader.hpp"

#include "base/suggest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

namespace eyeroof::analysis {

using hwdb::Sourced;
using model::Operand;
using model::OperandSet;
using model::sparse::LeftOut;
using model::sparse::LevelRules;
using model::sparse::Rank;
using model::sparse::RankKind;
using model::sparse::Rules;
using model::sparse::Saving;
using model::sparse::UnitRule;

namespace {

constexpr std::pair<std::string_view, Operand> kOperands[] = {
    {"input", Operand::input}, {"weight", Operand::weight}, {"output", Operand::output}};
constexpr std::pair<std::string_view, Saving> kSavings[] = {{"gate", Saving::gate},
                                                            {"skip", Saving::skip}};
constexpr std::pair<std::string_view, RankKind> kRanks[] = {{"U", RankKind::uncompressed},
                                                            {"B", RankKind::bitmask},
                                                            {"CP", RankKind::coordinates},
                                                            {"RLE", RankKind::run_length},
                                                            {"UOP", RankKind::offsets}};
constexpr hwdb::IntegerRange kRankSlots{1, 1 << 20};
constexpr hwdb::IntegerRange kRankBits{1, 30};

class RulesReader {
  public:
    RulesReader(const Sourced& root, const model::Accelerator& machine)
        : root_(root), machine_(machine) {}

    Rules read() {
        Rules rules;
        rules.levels.resize(machine_.levels.size());
        for (const auto& [name, entry] : root_.need("levels").entries()) {
            if (const auto level = level_named(name, entry)) {
                rules.levels[*level] = read_level(name, entry);
            }
        }
        if (const Sourced units = root_["units"]) {
            rules.units = read_units(units);
        }
        for (const Diagnostic& d : model::sparse::validate(rules, machine_)) {
            const auto at = places_.find(d.field);
            (at == places_.end() ? root_.node() : at->second).error(d.code, d.message, d.hint);
        }
        return rules;
    }

  private:
    std::optional<std::size_t> level_named(const std::string& name, const Sourced& entry) {
        std::vector<std::string> names;
        for (std::size_t i = 0; i < machine_.levels.size(); ++i) {
            if (machine_.levels[i].name == name) {
                return i;
            }
            names.push_back(machine_.levels[i].name);
        }
        entry.node().error("unknown-level", fmt::format("the machine has no level '{}'", name),
                           suggestion(name, names));
        entry.node().ignore_rest();
        return std::nullopt;
    }

    LevelRules read_level(const std::string& name, const Sourced& entry) {
        const std::string field = "levels." + name;
        LevelRules level;
        const Sourced formats = entry["formats"];
        for (const auto& [operand, o] : kOperands) {
            if (const Sourced ranks = formats[operand]) {
                places_[fmt::format("{}.formats.{}", field, operand)] = ranks.node();
                for (const Sourced& rank : ranks.items(1)) {
                    level.formats[index(o)].push_back(read_rank(rank));
                }
            }
        }
        std::size_t number = 0;
        for (const Sourced& rule : entry["left_out"].items()) {
            const std::string own = fmt::format("{}.left_out[{}]", field, number++);
            places_[own + ".operand"] = rule.node()["operand"];
            places_[own + ".where"] = rule.node()["where"];
            LeftOut left;
            left.how = rule.node().need("how").choice(kSavings, "saving").value_or(Saving::gate);
            left.operand =
                rule.node().need("operand").choice(kOperands, "operand").value_or(Operand::weight);
            left.leaders = read_operands(rule.node().need("where"));
            left.leader_words = rule["words"].integer(kRankSlots).value_or(1);
            level.left_out.push_back(left);
        }
        return level;
    }

    static Rank read_rank(const Sourced& entry) {
        Rank rank;
        rank.kind = entry.node()
                        .need("rank")
                        .choice(kRanks, "rank of a format")
                        .value_or(RankKind::uncompressed);
        rank.places = entry.need("slots").integer(kRankSlots).value_or(1);
        const bool wide = rank.kind == RankKind::run_length || rank.kind == RankKind::offsets;
        if (wide) {
            rank.bits = static_cast<int>(entry.need("bits").integer(kRankBits).value_or(1));
        }
        return rank;
    }

    static OperandSet read_operands(const hwdb::Node& node) {
        OperandSet set;
        for (const hwdb::Node& element : node.one_or_more()) {
            if (const auto operand = element.choice(kOperands, "operand")) {
                set.insert(*operand);
            }
        }
        return set;
    }

    UnitRule read_units(const Sourced& entry) {
        UnitRule rule;
        places_["units.where"] = entry.node()["where"];
        places_["units.lanes"] = entry.node()["lanes"];
        rule.how = entry.node().need("how").choice(kSavings, "saving").value_or(Saving::gate);
        rule.leaders = read_operands(entry.node().need("where"));
        if (const Sourced energy = entry["gated_energy"]) {
            const auto joules = energy.quantity<Joules>(hwdb::Zero::allowed);
            rule.gated_pj = joules ? joules->value * 1e12 : 0.0;
        }
        if (const hwdb::Node lanes = entry.node()["lanes"]) {
            rule.lanes = lanes.choice(kOperands, "operand");
        }
        return rule;
    }

    const Sourced& root_;
    const model::Accelerator& machine_;
    std::map<std::string, hwdb::Node> places_; // by the fields that the model names
};

} // namespace

Rules read_sparse_rules(const Sourced& root, const model::Accelerator& machine) {
    return RulesReader(root, machine).read();
}

} // namespace eyeroof::analysis
