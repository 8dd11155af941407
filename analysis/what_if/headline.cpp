#include "analysis/what_if/headline.hpp"

#include "analysis/exam/run.hpp"
#include "analysis/what_if/parameters.hpp"
#include "analysis/what_if/trials.hpp"
#include "base/parallel.hpp"
#include "base/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

namespace eyeroof::analysis {

namespace {

constexpr double kTwice = 2.0;
constexpr double kLeast = 1e-3; // of the time: a smaller saving is none
constexpr double kAlike = 0.99; // savings this close are one: the more specific resource is named

// A clock quickens all that is on the chip and names nothing. Peaks of types that no layer has may
// still count: those of fp32 are the lanes of all other operators.
bool concerns(const Parameter& parameter) {
    return parameter.name.find("clock") == std::string::npos;
}

// More SMs bring more of everything that is in one.
bool is_general(const Parameter& parameter) {
    return parameter.name == "SMs";
}

class Doubler {
  public:
    Doubler(const Question& question, const Report& now, const std::stop_token& stop)
        : question_(question), now_(now), known_(known_mappings(now)), stop_(stop) {}

    std::vector<Headline> all() {
        add_host();
        for (const bool general : {false, true}) {
            for (const Parameter& parameter : tried_parameters(question_.machine)) {
                if (concerns(parameter) && is_general(parameter) == general) {
                    add(parameter);
                }
            }
        }
        examine_all();
        std::erase_if(
            found_, [&](const Headline& one) { return one.saved_s < kLeast * now_.total.time_s; });
        std::ranges::stable_sort(found_, std::greater{}, &Headline::saved_s);
        put_specific_first();
        return std::move(found_);
    }

  private:
    void add_host() {
        const auto* gpu = std::get_if<model::Gpu>(&question_.machine.kind);
        if (gpu == nullptr || gpu->arch == model::GpuArch::host) {
            return;
        }
        Question other = question_;
        other.scenario.host_speed *= kTwice;
        found_.push_back({"CPU launch overhead", "the host's launch speed",
                          fmt::format("--host-speed {:.6g}", other.scenario.host_speed)});
        asked_.push_back(std::move(other));
    }

    void add(const Parameter& parameter) {
        const std::vector<Change> change = {{parameter.key, turned_value(parameter, kTwice)}};
        auto machine = changed(question_.machine, change);
        if (!machine) {
            return;
        }
        Question other = question_;
        other.machine = *std::move(machine);
        found_.push_back(
            {parameter.name, "the " + parameter.name, fmt::format("--set {}=x2", parameter.key)});
        asked_.push_back(std::move(other));
    }

    void examine_all() {
        in_parallel(thread_count(question_.scenario.threads), asked_.size(), [&](std::size_t i) {
            if (stop_.stop_requested()) {
                return;
            }
            if (const auto report = run_near(asked_[i], known_, stop_)) {
                found_[i].time_s = report->total.time_s;
                found_[i].saved_s = now_.total.time_s - report->total.time_s;
            }
        });
    }

    void put_specific_first() {
        const auto specific = std::ranges::find_if(found_, [&](const Headline& one) {
            return one.resource != "SMs" && one.saved_s >= kAlike * found_.front().saved_s;
        });
        if (specific != found_.end()) {
            std::rotate(found_.begin(), specific, specific + 1);
        }
    }

    const Question& question_;
    const Report& now_;
    KnownMappings known_;
    std::stop_token stop_;
    std::vector<Question> asked_;
    std::vector<Headline> found_; // of each
};

} // namespace

std::vector<Headline> doubled_resources(const Question& question, const Report& now,
                                        const std::stop_token& stop) {
    return Doubler(question, now, stop).all();
}

void find_headline(Report& report, const Question& question, const std::stop_token& stop) {
    const auto all = doubled_resources(question, report, stop);
    report.headline = all.empty() ? Headline{} : all.front();
}

std::string bound_by_text(const Headline& headline) {
    return headline.resource.empty()
               ? "Bound by no single resource: twice as much of any one saves less than 0.1 %"
               : "Bound by " + headline.resource;
}

std::string largest_saving_text(const Headline& headline, double time_s) {
    return headline.resource.empty() || !(time_s > 0.0)
               ? std::string()
               : fmt::format("Largest saving: {} ({:.1f} %) with twice {} ({})",
                             format_si(headline.saved_s, "s"), 100.0 * headline.saved_s / time_s,
                             headline.what, headline.option);
}

} // namespace eyeroof::analysis
