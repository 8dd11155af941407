#include "analysis/exam/conflicts.hpp"

#include "analysis/exam/fewest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <sstream>

namespace eyeroof::analysis {

using namespace model; // NOLINT(google-build-using-namespace): the vocabulary of the field

namespace {

constexpr double kLimit_s = 5.0; // that a person waits for reasons

// One constraint, by its key: of a level, or of all.
struct Rule {
    std::string key;
    std::size_t level = 0;
    std::string sort;     // "temporal"
    std::string argument; // "K", "input"
};

std::optional<Rule> rule_of(const std::string& key) {
    Rule rule{key, 0, key, ""};
    if (!key.starts_with("levels[")) {
        return rule;
    }
    const std::size_t close = key.find("].");
    if (close == std::string::npos) {
        return std::nullopt;
    }
    rule.level = static_cast<std::size_t>(std::stoul(key.substr(7, close - 7)));
    const std::string rest = key.substr(close + 2);
    const std::size_t dot = rest.find('.');
    rule.sort = rest.substr(0, dot);
    rule.argument = dot == std::string::npos ? "" : rest.substr(dot + 1);
    return rule;
}

std::optional<std::size_t> dim_at(const std::string& letters) {
    const std::size_t at = letters.size() == 1 ? kDimLetters.find(letters[0]) : std::string::npos;
    return at == std::string::npos ? std::nullopt : std::optional(at);
}

std::optional<Operand> operand_of(const std::string& name) {
    for (const Operand o : kAllOperands) {
        if (operand_name(o) == name) {
            return o;
        }
    }
    return std::nullopt;
}

void leave_out(const Rule& rule, mapper::Constraints& rules) {
    if (rule.sort == "min_utilization") {
        rules.min_utilization = 0.0;
    }
    if (rule.level >= rules.levels.size()) {
        return;
    }
    mapper::LevelConstraint& level = rules.levels[rule.level];
    const auto dim = dim_at(rule.argument);
    const auto operand = operand_of(rule.argument);
    if (rule.sort == "temporal" && dim) {
        level.temporal[*dim].reset();
        level.temporal_range[*dim] = {};
    } else if (rule.sort == "spatial" && dim) {
        level.spatial[*dim].reset();
        level.spatial_range[*dim] = {};
    } else if (rule.sort == "axes") {
        level.axis_dims.reset();
    } else if (rule.sort == "order") {
        level.order.clear();
    } else if (rule.sort == "keep" && operand) {
        level.keep.erase(*operand);
    } else if (rule.sort == "bypass" && operand) {
        level.bypass.erase(*operand);
    }
}

// "K8", "K at most 4"
std::string trips_text(const std::string& dim, const std::optional<Count>& fixed,
                       const mapper::TripRange& range) {
    if (fixed || !range.limits()) {
        return fmt::format("{}{}", dim, fixed.value_or(1));
    }
    const bool open = range.most == mapper::TripRange{}.most;
    return range.least == 1 ? fmt::format("{} at most {}", dim, range.most)
           : open           ? fmt::format("{} at least {}", dim, range.least)
                            : fmt::format("{} {} to {}", dim, range.least, range.most);
}

std::string described(const Rule& rule, const mapper::Task& task) {
    if (rule.level >= task.constraints.levels.size() || rule.sort == "min_utilization") {
        return fmt::format("a utilization of at least {:.4g}", task.constraints.min_utilization);
    }
    const mapper::LevelConstraint& level = task.constraints.levels[rule.level];
    const std::string& name = task.machine.levels[rule.level].name;
    const auto dim = dim_at(rule.argument);
    if (rule.sort == "temporal" && dim) {
        return fmt::format(
            "{} loops {} in time", name,
            trips_text(rule.argument, level.temporal[*dim], level.temporal_range[*dim]));
    }
    if (rule.sort == "spatial" && dim) {
        return fmt::format(
            "{} spreads {} in space", name,
            trips_text(rule.argument, level.spatial[*dim], level.spatial_range[*dim]));
    }
    if (rule.sort == "keep" || rule.sort == "bypass") {
        return fmt::format("the {} {} {}", rule.argument,
                           rule.sort == "keep" ? "must rest in" : "must pass by", name);
    }
    return fmt::format("{} of {}", rule.sort == "axes" ? "the dimensions on the axes" : "the order",
                       name);
}

class Finder {
  public:
    Finder(const mapper::Task& task, const std::stop_token& stop) : task_(task), stop_(stop) {}

    // The fewest rules that leave no mapping; not more than can go one after the other, where the
    // time is over before that is known.
    std::vector<Rule> fewest(const std::vector<Rule>& rules) const {
        const auto can_hold = [&](const std::vector<bool>& kept) {
            mapper::Task task = task_;
            for (std::size_t i = 0; i < rules.size(); ++i) {
                if (!kept[i]) {
                    leave_out(rules[i], task.constraints);
                }
            }
            return any_mapping(std::move(task));
        };
        std::vector<Rule> few;
        for (const std::size_t i : fewest_rules(rules.size(), can_hold).rules) {
            few.push_back(rules[i]);
        }
        return few;
    }

    // What would help beside leaving out rules; empty where nothing is known to.
    std::string remedy() const {
        mapper::Task other = task_;
        other.factors = mapper::Factors::any;
        if (task_.factors == mapper::Factors::perfect && possible(other)) {
            return "no loops that divide evenly keep the rules: with --factors any there is a "
                   "mapping";
        }
        other.factors = task_.factors;
        for (Level& level : other.machine.levels) {
            for (Axis& axis : level.fanout) {
                axis.size *= 64;
            }
        }
        return possible(other) ? "the array is too small for the rules: with longer axes there is "
                                 "a mapping"
                               : "";
    }

  private:
    bool possible(const mapper::Task& task) const { return any_mapping(task).value_or(false); }

    // Is there a mapping? All are worth the same, so that the first one found ends the search;
    // nothing when the time was over before.
    std::optional<bool> any_mapping(mapper::Task task) const {
        const std::chrono::duration<double> gone = Clock::now() - start_;
        if (gone.count() >= kLimit_s) {
            return std::nullopt;
        }
        task.objective = {0.0, 0.0};
        task.time = mapper::Time::overlapped;
        mapper::SearchOptions options;
        options.time_limit_s = kLimit_s - gone.count();
        const auto found = mapper::search(task, options, stop_);
        const auto& d = found.diagnostics();
        const bool none = !found && std::any_of(d.begin(), d.end(), [](const Diagnostic& x) {
            return x.code == "infeasible";
        });
        return found ? std::optional(true) : none ? std::optional(false) : std::nullopt;
    }

    using Clock = std::chrono::steady_clock;
    const mapper::Task& task_;
    const std::stop_token& stop_;
    Clock::time_point start_ = Clock::now();
};

std::vector<std::string> words_of(const std::string& text) {
    std::istringstream stream(text);
    std::vector<std::string> words;
    for (std::string word; stream >> word;) {
        words.push_back(word);
    }
    return words;
}

// The error at the first place that is known, notes at the others.
void add_placed(Diagnostic error, const std::vector<Rule>& rules, const mapper::Task& task,
                const ConstraintPlaces& places, Diagnostics& all) {
    Diagnostics notes;
    for (const Rule& rule : rules) {
        const auto place = places.find(rule.key);
        if (place == places.end()) {
            continue;
        }
        if (error.where.file.empty()) {
            error.where = place->second;
        } else if (!(error.where == place->second)) {
            notes.add({Severity::note, "infeasible", described(rule, task), "", place->second, ""});
        }
    }
    error.field.clear();
    all.add(std::move(error));
    all.append(notes);
}

} // namespace

Diagnostics explain_conflicts(const mapper::Task& task, const Diagnostics& reasons,
                              const ConstraintPlaces& places, const std::stop_token& stop) {
    Diagnostics all;
    for (const Diagnostic& reason : reasons) {
        std::vector<Rule> rules;
        for (const std::string& word : words_of(reason.field)) {
            if (const auto rule = rule_of(word)) {
                rules.push_back(*rule);
            }
        }
        Diagnostic error = reason;
        const bool least = task.constraints.min_utilization > 0.0;
        if (reason.code == "infeasible" && rules.empty() && (least || !places.empty())) {
            for (const auto& [key, where] : places) {
                if (const auto rule = rule_of(key)) {
                    rules.push_back(*rule);
                }
            }
            if (least && !places.contains("min_utilization")) { // an option of the command line
                rules.push_back(*rule_of("min_utilization"));
            }
            Finder finder(task, stop);
            rules = finder.fewest(rules);
            std::string names;
            for (const Rule& rule : rules) {
                names += (names.empty() ? "" : "; ") + described(rule, task);
            }
            const std::string remedy = finder.remedy();
            error.hint = remedy.empty() ? error.hint : remedy;
            if (!names.empty()) {
                error.message += ": " + names;
            } else if (remedy.empty() && !task.machine.dataflows.empty()) {
                error.hint = "the dataflow's own rules leave none: --dataflow free forgets them";
            }
        }
        add_placed(std::move(error), rules, task, places, all);
    }
    return all;
}

} // namespace eyeroof::analysis
