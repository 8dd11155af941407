#include "profiles/metric_family.hpp"

#include <algorithm>

namespace eyeroof::profiles {

const MetricSet* MetricFamily::find_set(std::string_view set_name) const {
    const auto it = std::ranges::find(sets, set_name, &MetricSet::name);
    return it == sets.end() ? nullptr : &*it;
}

namespace {

const MetricFamily* with(std::span<const MetricFamily> families,
                         std::vector<std::string> MetricFamily::*list, const std::string& text) {
    if (text.empty()) {
        return nullptr;
    }
    const auto has = [&](const MetricFamily& family) {
        return std::ranges::find(family.*list, text) != (family.*list).end();
    };
    const auto it = std::ranges::find_if(families, has);
    return it == families.end() ? nullptr : &*it;
}

void add_once(std::vector<std::string>& names, const std::string& name) {
    if (!name.empty() && std::ranges::find(names, name) == names.end()) {
        names.push_back(name);
    }
}

} // namespace

const MetricFamily* find_family(std::span<const MetricFamily> families, const RunInfo& run) {
    const MetricFamily* family = with(families, &MetricFamily::chips, run.chip);
    return family != nullptr
               ? family
               : with(families, &MetricFamily::compute_capabilities, run.compute_capability);
}

const MetricFamily* family_of_profile(std::span<const MetricFamily> families,
                                      const Profile& profile) {
    if (!profile.run.chip.empty() || !profile.run.compute_capability.empty()) {
        return find_family(families, profile.run);
    }
    constexpr std::size_t kLooked = 64;
    const MetricFamily* best = nullptr;
    std::size_t most = 0;
    for (const MetricFamily& family : families) {
        std::size_t known = 0;
        for (const std::string& counter : counters_of(family)) {
            for (std::size_t i = 0; i < std::min(kLooked, profile.launches.size()); ++i) {
                known += profile.launches[i].counters.contains(counter) ? 1 : 0;
            }
        }
        if (known > most) {
            most = known;
            best = &family;
        }
    }
    return best;
}

std::optional<Evaluated> evaluate(std::span<const MetricTerm> terms, const Counters& counters) {
    Evaluated sum;
    bool any = false;
    for (const MetricTerm& term : terms) {
        const auto it = counters.find(term.counter);
        if (it == counters.end()) {
            sum.missing.push_back(term.counter);
            continue;
        }
        any = true;
        sum.value += term.weight * it->second;
    }
    return any ? std::optional(sum) : std::nullopt;
}

std::vector<std::string> counters_of(const MetricFamily& family) {
    std::vector<std::string> names;
    for (const std::string* name : {&family.time_counter, &family.clock_counter,
                                    &family.tensor_active_counter, &family.occupancy_counter}) {
        add_once(names, *name);
    }
    for (const WorkMetric& work : family.work) {
        for (const MetricTerm& term : work.terms) {
            add_once(names, term.counter);
        }
    }
    for (const TrafficMetric& traffic : family.traffic) {
        for (const MetricTerm& term : traffic.terms) {
            add_once(names, term.counter);
        }
    }
    return names;
}

} // namespace eyeroof::profiles
