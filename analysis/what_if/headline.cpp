#include "analysis/what_if/headline.hpp"

#include "analysis/exam/run.hpp"
#include "analysis/scenario/power_cap.hpp"
#include "analysis/what_if/parameters.hpp"
#include "analysis/what_if/trials.hpp"
#include "base/parallel.hpp"
#include "base/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

namespace eyeroof::analysis {

namespace {

constexpr double kTwice = 2.0;
constexpr double kLeast = 1e-3;   // of the time: a smaller saving is none
constexpr double kAlike = 0.99;   // savings this close are one: the more specific resource is named
constexpr double kBinds = 0.05;   // of the time: what saves less limits little alone
constexpr double kMuchMore = 2.0; // times what one saves, of a pair that is named instead
constexpr std::size_t kPaired = 5; // resources, those that save most

// A clock quickens all that is on the chip and names nothing. Peaks of types that no layer has may
// still count: those of fp32 are the lanes of all other operators.
bool concerns(const Parameter& parameter) {
    return parameter.name.find("clock") == std::string::npos;
}

// More SMs bring more of everything that is in one.
bool is_general(const Parameter& parameter) {
    return parameter.name == "SMs";
}

double saved_share(const Headline& one) {
    return one.saved_s / (one.time_s + one.saved_s);
}

// What is doubled, or the cap that ends, and what it gives.
struct Doubled {
    Headline headline;
    std::string noun;            // of what is doubled: "the DRAM bandwidth"; empty: the cap ends
    bool host = false;           // its speed
    std::vector<Change> changes; // of the machine
};

Doubled doubled_both(const Doubled& a, const Doubled& b) {
    const std::string noun = a.noun + " and " + b.noun;
    Doubled pair{{a.headline.resource + " and " + b.headline.resource + " together",
                  "twice " + noun, a.headline.option + " " + b.headline.option},
                 noun,
                 a.host || b.host,
                 a.changes};
    pair.changes.insert(pair.changes.end(), b.changes.begin(), b.changes.end());
    return pair;
}

class Doubler {
  public:
    Doubler(const Question& question, const Report& now, const std::stop_token& stop)
        : question_(question), now_(now), known_(known_mappings(now)), stop_(stop) {}

    // The end of a power cap, and each resource alone, those that gain most first.
    std::vector<Doubled> each() const {
        std::vector<Doubled> all;
        add_cap(all);
        add_host(all);
        for (const bool general : {false, true}) {
            for (const Parameter& parameter : tried_parameters(question_.machine)) {
                if (concerns(parameter) && is_general(parameter) == general) {
                    add(parameter, all);
                }
            }
        }
        examine(all);
        std::ranges::stable_sort(all, std::greater{},
                                 [](const Doubled& one) { return one.headline.saved_s; });
        put_specific_first(all);
        return all;
    }

    // The two of the first few that gain most together.
    std::optional<Headline> pair_of(const std::vector<Doubled>& each) const {
        std::vector<Doubled> pairs;
        for (std::size_t i = 0; i < std::min(kPaired, each.size()); ++i) {
            for (std::size_t j = 0; j < i; ++j) {
                if (!each[i].noun.empty() && !each[j].noun.empty()) {
                    pairs.push_back(doubled_both(each[j], each[i]));
                }
            }
        }
        examine(pairs);
        const auto most = std::ranges::max_element(
            pairs, {}, [](const Doubled& pair) { return pair.headline.saved_s; });
        return most == pairs.end() ? std::nullopt : std::optional(most->headline);
    }

  private:
    void add_cap(std::vector<Doubled>& all) const {
        if (question_.uncapped) {
            all.push_back({{"power cap", "no power cap", "without --power-cap"}, "", false, {}});
        }
    }

    void add_host(std::vector<Doubled>& all) const {
        const auto* gpu = std::get_if<model::Gpu>(&question_.machine.kind);
        if (gpu != nullptr && gpu->arch != model::GpuArch::host) {
            all.push_back(
                {{"CPU launch overhead", "twice the host's launch speed",
                  fmt::format("--host-speed {:.6g}", question_.scenario.host_speed * kTwice)},
                 "the host's launch speed",
                 true,
                 {}});
        }
    }

    void add(const Parameter& parameter, std::vector<Doubled>& all) const {
        std::vector<Change> changes = {{parameter.key, turned_value(parameter, kTwice)}};
        if (changed(question_.machine, changes)) {
            const std::string noun = "the " + parameter.name;
            all.push_back({{parameter.name, "twice " + noun,
                            fmt::format("--set {}={}", parameter.key, doubled_value(parameter))},
                           noun,
                           false,
                           std::move(changes)});
        }
    }

    // "x2" is of the machine without the scenario's changes.
    std::string doubled_value(const Parameter& parameter) const {
        std::string text = "x2";
        if (!question_.scenario.changes.empty()) {
            text = value_text(parameter, turned_value(parameter, kTwice));
            std::erase(text, ' ');
        }
        return text;
    }

    std::optional<Question> question_with(const Doubled& one) const {
        Question other = question_;
        if (one.noun.empty()) {
            std::erase_if(other.scenario.changes, is_power_cap);
            other.machine = *question_.uncapped;
            other.uncapped.reset();
            return other;
        }
        auto machine = changed(question_.machine, one.changes);
        if (!machine) {
            return std::nullopt;
        }
        other.scenario.host_speed *= one.host ? kTwice : 1.0;
        other.machine = *std::move(machine);
        return other;
    }

    // A report takes 4 kB a layer: those of large networks are made one after the other.
    void examine(std::vector<Doubled>& all) const {
        constexpr std::size_t kLayersAtOnce = 40'000;
        const std::size_t layers = std::max<std::size_t>(now_.layers.size(), 1);
        const auto most = static_cast<int>(std::max<std::size_t>(kLayersAtOnce / layers, 1));
        const int threads = std::min(thread_count(question_.scenario.threads), most);
        in_parallel(threads, all.size(), [&](std::size_t i) {
            const auto other = stop_.stop_requested() ? std::nullopt : question_with(all[i]);
            const auto report =
                other ? std::optional(run_near(*other, known_, stop_)) : std::nullopt;
            if (report && *report) {
                all[i].headline.time_s = (*report)->total.time_s;
                all[i].headline.saved_s = now_.total.time_s - (*report)->total.time_s;
            }
        });
    }

    static void put_specific_first(std::vector<Doubled>& all) {
        const auto specific = std::ranges::find_if(all, [&](const Doubled& one) {
            return one.headline.resource != "SMs" &&
                   one.headline.saved_s >= kAlike * all.front().headline.saved_s;
        });
        if (specific != all.end()) {
            std::rotate(all.begin(), specific, specific + 1);
        }
    }

    const Question& question_;
    const Report& now_;
    KnownMappings known_;
    std::stop_token stop_;
};

} // namespace

std::vector<Headline> doubled_resources(const Question& question, const Report& now,
                                        const std::stop_token& stop) {
    std::vector<Headline> all;
    for (const Doubled& one : Doubler(question, now, stop).each()) {
        if (one.headline.saved_s >= kLeast * now.total.time_s) {
            all.push_back(one.headline);
        }
    }
    return all;
}

void find_headline(Report& report, const Question& question, const std::stop_token& stop) {
    const Doubler doubler(question, report, stop);
    const std::vector<Doubled> each = doubler.each();
    report.headline.emplace();
    const double now_s = report.total.time_s;
    const double most_s = each.empty() ? 0.0 : each.front().headline.saved_s;
    if (most_s > 0.0 && most_s >= kLeast * now_s) {
        report.headline = each.front().headline;
    }
    if (most_s < kBinds * now_s) {
        const auto pair = doubler.pair_of(each);
        if (pair && pair->saved_s >= std::max(kBinds * now_s, kMuchMore * most_s)) {
            report.headline = *pair;
        }
    }
    report.headline->capped = question.uncapped.has_value();
}

std::string bound_by_name(const Headline& headline) {
    return headline.resource.empty() || saved_share(headline) < kBinds ? "no single resource"
                                                                       : headline.resource;
}

std::string bound_by_text(const Headline& headline) {
    std::string text = "Bound by " + bound_by_name(headline);
    const bool none = headline.resource.empty();
    if (!none && saved_share(headline) >= kBinds) {
        return text;
    }
    text += headline.capped
                ? " under the power cap: neither twice as much of any one nor its end saves "
                : ": twice as much of any one saves ";
    constexpr double kRounding = 1e-9;
    const double tenths = std::ceil(1e3 * saved_share(headline) - kRounding); // of a percent
    return text + (none ? (headline.capped ? "0.1 %" : "less than 0.1 %")
                        : fmt::format("{} {:.1f} %", headline.capped ? "more than" : "at most",
                                      0.1 * tenths));
}

std::string largest_saving_text(const Headline& headline, double time_s) {
    return headline.resource.empty() || !(time_s > 0.0)
               ? std::string()
               : fmt::format("Largest saving: {} ({:.1f} %) with {} ({})",
                             format_si(headline.saved_s, "s"), 100.0 * headline.saved_s / time_s,
                             headline.what, headline.option);
}

} // namespace eyeroof::analysis
