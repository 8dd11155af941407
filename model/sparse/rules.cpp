#include "model/sparse/rules.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace eyeroof::model::sparse {

namespace {

bool has(const Level& level, Operand o) {
    return store_of(level, o) != nullptr || channel_of(level, o) != nullptr;
}

// Does the format say where zeros are?
bool tells_zeros(const std::vector<Rank>& ranks) {
    return std::any_of(ranks.begin(), ranks.end(), [](const Rank& rank) {
        return rank.kind != RankKind::uncompressed && rank.kind != RankKind::offsets;
    });
}

class Checker {
  public:
    Checker(const Rules& rules, const Accelerator& machine) : rules_(rules), machine_(machine) {}

    Diagnostics run() {
        for (std::size_t i = 0; i < rules_.levels.size() && i < machine_.levels.size(); ++i) {
            check_formats(i);
            for (std::size_t n = 0; n < rules_.levels[i].left_out.size(); ++n) {
                check_left_out(i, n);
            }
        }
        if (rules_.units) {
            check_units(*rules_.units);
        }
        return std::move(found_);
    }

  private:
    void check_formats(std::size_t i) {
        for (const Operand o : kAllOperands) {
            if (!rules_.levels[i].formats[index(o)].empty() && !has(machine_.levels[i], o)) {
                found_.error(
                    "no-such-operand",
                    fmt::format("{} neither stores nor sends the {}", machine_.levels[i].name,
                                operand_name(o)),
                    "a format is for operands of the level", {},
                    fmt::format("levels.{}.formats.{}", machine_.levels[i].name, operand_name(o)));
            }
        }
    }

    void check_left_out(std::size_t i, std::size_t n) {
        const Level& level = machine_.levels[i];
        const LeftOut& rule = rules_.levels[i].left_out[n];
        const std::string field = fmt::format("levels.{}.left_out[{}]", level.name, n);
        if (!has(level, rule.operand)) {
            found_.error("no-such-operand",
                         fmt::format("{} neither stores nor sends the {}", level.name,
                                     operand_name(rule.operand)),
                         "only accesses that there are can be left out", {}, field + ".operand");
        }
        if (rule.leaders.contains(rule.operand)) {
            found_.error("leads-itself",
                         fmt::format("the {} cannot be left out where it is zero itself",
                                     operand_name(rule.operand)),
                         "a format leaves its own zeros out", {}, field + ".where");
        }
        for (const Operand o : kAllOperands) {
            if (rule.how == Saving::skip && rule.leaders.contains(o) && o != rule.operand &&
                !tells_zeros(rules_.levels[i].formats[index(o)])) {
                no_metadata(o, level.name, field + ".where");
            }
        }
    }

    void check_units(const UnitRule& rule) {
        for (const Operand o : kAllOperands) {
            std::size_t home = machine_.levels.size();
            for (std::size_t i = 0; i < machine_.levels.size(); ++i) {
                home = store_of(machine_.levels[i], o) != nullptr ? i : home;
            }
            const bool marked =
                home < rules_.levels.size() && tells_zeros(rules_.levels[home].formats[index(o)]);
            if (rule.how == Saving::skip && rule.leaders.contains(o) && !marked) {
                no_metadata(o, home < machine_.levels.size() ? machine_.levels[home].name : "",
                            "units.where");
            }
        }
        if (rule.lanes && !rule.leaders.contains(*rule.lanes)) {
            found_.error("no-such-operand",
                         fmt::format("lanes take non-zero words of the {}, but its zeros are not "
                                     "skipped",
                                     operand_name(*rule.lanes)),
                         "name it in `where`, or leave `lanes` away", {}, "units.lanes");
        }
    }

    void no_metadata(Operand o, const std::string& level, std::string field) {
        found_.error("no-metadata",
                     fmt::format("nothing tells {} where the {} is zero: it is plain there", level,
                                 operand_name(o)),
                     "give it a bitmask, run-length or coordinates format, or gate instead of skip",
                     {}, std::move(field));
    }

    const Rules& rules_;
    const Accelerator& machine_;
    Diagnostics found_;
};

} // namespace

Diagnostics validate(const Rules& rules, const Accelerator& machine) {
    return Checker(rules, machine).run();
}

} // namespace eyeroof::model::sparse
