// Filtering, merging, joining and summing of profiles.
#include "base/pattern.hpp"
#include "profiles/launch_sums.hpp"
#include "profiles/measurement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

namespace eyeroof::profiles {

namespace {

// Copies launches with the table entries they use, each of which is looked up once.
class CarryOver {
  public:
    CarryOver(const Profile& from, ProfileBuilder& to)
        : from_(from), to_(to), kernels_(from.kernels.size(), kNone),
          sources_(from.sources.size(), kNone), ops_(from.operators.size(), kNone),
          ranges_(from.ranges.size(), kNone) {}

    DeviceCopy operator()(DeviceCopy copy) {
        copy.source = static_cast<std::uint32_t>(
            once(sources_, copy.source, [&](auto i) { return to_.source(from_.sources[i]); }));
        return copy;
    }

    Launch operator()(Launch launch) {
        launch.kernel = static_cast<std::uint32_t>(once(kernels_, launch.kernel, [&](auto i) {
            return to_.kernel(from_.kernels[i].name, from_.kernels[i].mangled);
        }));
        launch.source = static_cast<std::uint32_t>(
            once(sources_, launch.source, [&](auto i) { return to_.source(from_.sources[i]); }));
        launch.range =
            once(ranges_, launch.range, [&](auto i) { return to_.range(from_.ranges[i]); });
        launch.module =
            once(ranges_, launch.module, [&](auto i) { return to_.range(from_.ranges[i]); });
        launch.op = once(ops_, launch.op, [&](auto i) { return to_.op(from_.operators[i]); });
        launch.leaf = once(ops_, launch.leaf, [&](auto i) { return to_.op(from_.operators[i]); });
        return launch;
    }

  private:
    using Numbers = std::vector<std::int32_t>;

    template <class Find>
    static std::int32_t once(Numbers& known, std::int64_t old, const Find& find) {
        if (old == kNone) {
            return kNone;
        }
        const auto i = static_cast<std::size_t>(old);
        if (known[i] == kNone) {
            known[i] = static_cast<std::int32_t>(find(i));
        }
        return known[i];
    }

    const Profile& from_;
    ProfileBuilder& to_;
    Numbers kernels_, sources_, ops_, ranges_; // by old number: the new one
};

void warn_if_differs(std::string_view what, const std::string& first, const std::string& other,
                     Diagnostics& found) {
    if (!first.empty() && !other.empty() && first != other) {
        found.warning(
            "runs-differ",
            fmt::format("the merged profiles differ in {}: '{}' and '{}'", what, first, other),
            "figures of different machines do not add up");
    }
}

bool same_grid(const Launch& a, const Launch& b) {
    return a.grid == b.grid && a.block == b.block;
}

bool same_kernel(const Kernel& a, const Kernel& b) {
    return a.name == b.name || (!a.mangled.empty() && a.mangled == b.mangled);
}

// `next` grows past every number that was given.
std::int64_t renumbered(std::int64_t call, std::int64_t first, std::int64_t& next) {
    if (call == kNone) {
        return kNone;
    }
    next = std::max(next, first + call + 1);
    return first + call;
}

std::optional<std::string> first_difference(const Profile& a, const Profile& b) {
    if (a.launches.size() != b.launches.size()) {
        return fmt::format("one run has {} launches, the other {}", a.launches.size(),
                           b.launches.size());
    }
    for (std::size_t i = 0; i < a.launches.size(); ++i) {
        const Launch& left = a.launches[i];
        const Launch& right = b.launches[i];
        if (!same_kernel(a.kernel_of(left), b.kernel_of(right)) || !same_grid(left, right) ||
            left.calls != right.calls) {
            return fmt::format("launch {} is '{}' in one run and '{}' in the other, or their grids "
                               "differ",
                               i, a.kernel_of(left).name, b.kernel_of(right).name);
        }
    }
    return std::nullopt;
}

// Are all entries of the tables used, and does each come first after those before it? Then what
// carries all launches over changes nothing.
bool tables_are_in_order(const Profile& profile) {
    std::size_t kernels = 0, sources = 0, ops = 0, ranges = 0; // how many have come
    const auto next = [](std::int64_t index, std::size_t& come) {
        come += index == static_cast<std::int64_t>(come) ? 1 : 0;
        return index < static_cast<std::int64_t>(come); // kNone too
    };
    const bool rising = std::ranges::all_of(profile.launches, [&](const Launch& launch) {
        return next(launch.kernel, kernels) && next(launch.source, sources) &&
               next(launch.op, ops) && next(launch.leaf, ops) && next(launch.range, ranges) &&
               next(launch.module, ranges);
    });
    return rising && kernels == profile.kernels.size() && sources == profile.sources.size() &&
           ops == profile.operators.size() && ranges == profile.ranges.size();
}

// For a filter by range that nothing passes.
std::string known_ranges(const Profile& profile) {
    constexpr std::size_t kShown = 5;
    if (profile.ranges.empty()) {
        return "the profile has no ranges (nsys profile --trace=cuda,nvtx)";
    }
    std::string list;
    for (std::size_t i = 0; i < std::min(kShown, profile.ranges.size()); ++i) {
        list += fmt::format("{}'{}'", i == 0 ? "" : ", ", profile.ranges[i].substr(0, 80));
    }
    return "its ranges are: " + list + (profile.ranges.size() > kShown ? ", …" : "");
}

} // namespace

Result<Profile> filter(Profile profile, const KernelFilter& filter) {
    const auto pattern = eyeroof::Pattern::compile(filter.name_regex);
    if (!pattern) {
        return Result<Profile>(pattern.diagnostics());
    }
    if (filter == KernelFilter{} && tables_are_in_order(profile)) {
        return profile;
    }
    std::vector<char> kernel_passes;
    for (const Kernel& kernel : profile.kernels) {
        kernel_passes.push_back(pattern->found_in(kernel.name) ? 1 : 0);
    }
    ProfileBuilder kept;
    kept.profile.run = profile.run;
    kept.profile.notes = profile.notes;
    kept.profile.ceilings = profile.ceilings;
    CarryOver carry_over(profile, kept);
    for (const DeviceCopy& copy :
         filter == KernelFilter{} ? profile.copies : std::vector<DeviceCopy>{}) {
        kept.profile.copies.push_back(carry_over(copy));
    }
    std::int64_t seen = 0;
    for (Launch& launch : profile.launches) {
        const bool in_range = filter.range.empty() ||
                              profile.range_of(launch).find(filter.range) != std::string_view::npos;
        if (kernel_passes[launch.kernel] == 0 || !in_range) {
            continue;
        }
        const std::int64_t position = seen++ - filter.skip;
        if (position >= 0 && (filter.count < 0 || position < filter.count)) {
            kept.profile.launches.push_back(carry_over(std::move(launch)));
        }
    }
    Diagnostics told;
    if (kept.profile.launches.empty() && !profile.launches.empty()) {
        told.warning("no-match", "no launch passes the filter",
                     filter.range.empty() ? std::string("`import` without it lists the kernels")
                                          : known_ranges(profile));
    }
    return {std::move(kept.profile), std::move(told)};
}

Profile keep_launches(const Profile& profile, const std::vector<std::size_t>& launches) {
    ProfileBuilder kept;
    kept.profile.run = profile.run;
    kept.profile.notes = profile.notes;
    CarryOver carry_over(profile, kept);
    for (const std::size_t i : launches) {
        kept.profile.launches.push_back(carry_over(profile.launches[i]));
    }
    return std::move(kept.profile);
}

Result<Profile> merge(std::vector<Profile> profiles) {
    if (profiles.size() == 1 && tables_are_in_order(profiles.front())) {
        return std::move(profiles.front());
    }
    ProfileBuilder all;
    LaunchSums sums;
    Diagnostics warnings;
    std::int64_t next_op = 0;
    std::int64_t next_range = 0;
    for (std::size_t i = 0; i < profiles.size(); ++i) {
        Profile& profile = profiles[i];
        if (i == 0) {
            all.profile.run = profile.run;
        }
        warn_if_differs("GPU", all.profile.run.gpu, profile.run.gpu, warnings);
        warn_if_differs("driver", all.profile.run.driver, profile.run.driver, warnings);
        for (const std::string& note : profile.notes) {
            if (std::ranges::find(all.profile.notes, note) == all.profile.notes.end()) {
                all.profile.notes.push_back(note);
            }
        }
        auto& ceilings = all.profile.ceilings;
        ceilings.insert(ceilings.end(), profile.ceilings.begin(), profile.ceilings.end());
        // Calls are numbered within a source, and two files may have sources of one name.
        const std::int64_t first_op = next_op;
        const std::int64_t first_range = next_range;
        CarryOver carry_over(profile, all);
        for (Launch& launch : profile.launches) {
            launch.op_call = renumbered(launch.op_call, first_op, next_op);
            launch.leaf_call = renumbered(launch.leaf_call, first_op, next_op);
            launch.range_call = renumbered(launch.range_call, first_range, next_range);
            sums.add(all.profile, carry_over(std::move(launch)));
        }
        for (const DeviceCopy& copy : profile.copies) {
            all.profile.copies.push_back(carry_over(copy));
        }
        profile.launches = {};
    }
    return {std::move(all.profile), std::move(warnings)};
}

Result<Profile> join_runs(const Profile& times, const Profile& counters) {
    if (const auto difference = first_difference(times, counters)) {
        return Result<Profile>::failure(
            "runs-differ", "the counters cannot be given to the timed launches: " + *difference,
            "profile the program with a fixed seed and input, or keep the two runs apart");
    }
    Profile joined = times;
    for (std::size_t i = 0; i < joined.launches.size(); ++i) {
        Launch& launch = joined.launches[i];
        launch.counters.add_missing(counters.launches[i].counters);
    }
    for (const std::string& note : counters.notes) {
        if (std::ranges::find(joined.notes, note) == joined.notes.end()) {
            joined.notes.push_back(note);
        }
    }
    return joined;
}

std::vector<KernelSummary> summarise(const Profile& profile) {
    std::vector<KernelSummary> sums(profile.kernels.size());
    std::vector<double> squares(sums.size(), 0.0); // of the distances to the mean (Welford)
    double total_s = 0.0;
    for (const Launch& launch : profile.launches) {
        KernelSummary& sum = sums[launch.kernel];
        const double time_s = launch.duration_ns > 0.0 ? launch.duration_ns * 1e-9 : 0.0;
        const auto calls = static_cast<double>(launch.calls);
        const double each_s = time_s / calls;
        sum.min_s = sum.calls == 0 ? each_s : std::min(sum.min_s, each_s);
        sum.max_s = std::max(sum.max_s, each_s);
        sum.calls += launch.calls;
        sum.time_s += time_s;
        const double before_s = sum.mean_s;
        sum.mean_s += (each_s - before_s) * calls / static_cast<double>(sum.calls);
        squares[launch.kernel] += calls * (each_s - before_s) * (each_s - sum.mean_s);
        total_s += time_s;
    }
    for (std::size_t i = 0; i < sums.size(); ++i) {
        const auto calls = static_cast<double>(std::max<std::int64_t>(sums[i].calls, 1));
        constexpr double kRounding = 1e-12; // of a sum of equal times, divided by its calls
        const bool equal = sums[i].max_s - sums[i].min_s <= kRounding * sums[i].max_s;
        sums[i].deviation_s = equal ? 0.0 : std::sqrt(std::max(squares[i], 0.0) / calls);
        sums[i].name = profile.kernels[i].name;
        sums[i].share = total_s > 0.0 ? sums[i].time_s / total_s : 0.0;
    }
    std::ranges::stable_sort(sums,
                             [](const auto& a, const auto& b) { return a.time_s > b.time_s; });
    return sums;
}

} // namespace eyeroof::profiles
