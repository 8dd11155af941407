#include "profiles/matching.hpp"

#include "base/pattern.hpp"
#include "profiles/library_log.hpp"
#include "profiles/step_marks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace eyeroof::profiles {

namespace {

std::optional<model::Op> op_of(KernelCategory category) {
    switch (category) {
    case KernelCategory::gemm:
        return model::Op::gemm;
    case KernelCategory::conv:
        return model::Op::conv2d;
    case KernelCategory::attention:
        return model::Op::attention;
    case KernelCategory::softmax:
        return model::Op::softmax;
    default:
        return std::nullopt;
    }
}

// "eyeroof:layer=conv2;op=conv;N=4" -> "conv2".
std::string_view layer_in_range(std::string_view range) {
    constexpr std::string_view kPrefix = "eyeroof:layer=";
    const std::size_t at = range.rfind(kPrefix);
    if (at == std::string_view::npos) {
        return {};
    }
    const std::string_view rest = range.substr(at + kPrefix.size());
    return rest.substr(0, std::min(rest.find(';'), rest.find(kRangeJoint)));
}

struct Rule {
    std::size_t layer;
    Pattern kernel;
    std::string range;
};

class Matcher {
  public:
    Matcher(const Profile& profile, const std::vector<model::Layer>& layers)
        : profile_(profile), layers_(layers) {
        for (std::size_t i = 0; i < layers.size(); ++i) {
            by_name_.try_emplace(layers[i].name, i);
        }
    }

    Result<MatchResult> run(const std::vector<ManualAssignment>& manual) {
        read_rules(manual);
        if (found_.has_errors()) {
            return Result<MatchResult>(std::move(found_));
        }
        find_shapes();
        find_gradients();
        MatchResult result;
        result.batch = other_batch();
        for (std::size_t i = 0; i < profile_.launches.size(); ++i) {
            result.of_launch.push_back(match_one(i));
            if (result.of_launch.back().method == MatchMethod::none) {
                result.unmatched.push_back(i);
            }
        }
        return result;
    }

  private:
    void read_rules(const std::vector<ManualAssignment>& manual) {
        for (const ManualAssignment& assignment : manual) {
            const auto layer = by_name_.find(assignment.layer);
            if (layer == by_name_.end()) {
                found_.error("unknown-layer",
                             fmt::format("there is no layer '{}'", assignment.layer),
                             "`eyeroof net show NETWORK` lists them");
                continue;
            }
            auto kernel = Pattern::compile(assignment.kernel_regex);
            found_.append(kernel.diagnostics());
            const bool says_something =
                !assignment.kernel_regex.empty() || !assignment.range.empty();
            if (kernel && says_something) {
                rules_.push_back({layer->second, std::move(*kernel), assignment.range});
            }
        }
    }

    // For each operator of the profile, the layers that have its shape.
    void find_shapes() {
        for (const Operator& op : profile_.operators) {
            auto known = layer_of(op);
            std::vector<std::size_t> candidates;
            for (std::size_t i = 0; known && i < layers_.size(); ++i) {
                if (fits(layers_[i], *known)) {
                    candidates.push_back(i);
                }
            }
            candidates_.push_back(std::move(candidates));
            known_.push_back(std::move(known));
        }
    }

    // Where the shapes of most operators fit no layer but for the batch: how the batches differ.
    std::optional<BatchRatio> other_batch() const {
        std::map<BatchRatio, std::size_t> votes;
        std::size_t known = 0;
        for (std::size_t op = 0; op < known_.size(); ++op) {
            known += known_[op] ? 1 : 0;
            std::set<BatchRatio> ratios;
            for (std::size_t i = 0; known_[op] && candidates_[op].empty() && i < layers_.size();
                 ++i) {
                if (const auto ratio = batch_apart(layers_[i], *known_[op])) {
                    ratios.insert(*ratio);
                }
            }
            for (const BatchRatio& ratio : ratios) {
                votes[ratio] += 1;
            }
        }
        const auto most =
            std::ranges::max_element(votes, {}, [](const auto& vote) { return vote.second; });
        return most != votes.end() && 2 * most->second >= known ? std::optional(most->first)
                                                                : std::nullopt;
    }

    // One call of an operator may launch the kernels of both gradients. A kernel whose name does
    // not say which one it serves, as a change of layout, goes with the next of the call that
    // does, and after the last one with that.
    void find_gradients() {
        gradients_.resize(profile_.launches.size());
        std::map<std::pair<std::uint32_t, std::int64_t>, std::vector<std::size_t>> calls;
        for (std::size_t i = 0; i < profile_.launches.size(); ++i) {
            const Launch& launch = profile_.launches[i];
            const bool both = launch.op != kNone && known_[index_of(launch)] &&
                              known_[index_of(launch)]->repeats == 2;
            if (both) {
                gradients_[i] = gradient_of(profile_.kernel_of(launch).name);
                calls[{launch.source, launch.op_call}].push_back(i);
            }
        }
        const auto pass_on = [&](auto first, auto last) {
            std::optional<model::Direction> said;
            for (; first != last; ++first) {
                said = gradients_[*first] ? gradients_[*first] : said;
                gradients_[*first] = said;
            }
        };
        for (const auto& [call, launches] : calls) {
            pass_on(launches.rbegin(), launches.rend());
            pass_on(launches.begin(), launches.end());
        }
    }

    Match match_one(std::size_t i) {
        const Launch& launch = profile_.launches[i];
        if (auto found = manual(launch)) {
            return *found;
        }
        if (auto found = by_range(launch)) {
            return *found;
        }
        if (auto found = by_dims(launch, gradients_[i])) {
            return *found;
        }
        if (auto found = by_category(launch)) {
            return *found;
        }
        return {};
    }

    std::optional<Match> manual(const Launch& launch) const {
        for (const Rule& rule : rules_) {
            const bool range_fits = rule.range.empty() || profile_.range_of(launch).find(
                                                              rule.range) != std::string_view::npos;
            if (range_fits && rule.kernel.found_in(profile_.kernel_of(launch).name)) {
                return Match{rule.layer, MatchMethod::manual, 1.0, "assigned by hand"};
            }
        }
        return std::nullopt;
    }

    std::optional<Match> by_range(const Launch& launch) const {
        const std::string_view range = profile_.range_of(launch);
        const std::string_view named = layer_in_range(range);
        constexpr double kNamed = 0.99;
        constexpr double kSameText = 0.9;
        const bool traced = range.starts_with(kTracedLayer);
        auto layer = by_name_.find(traced          ? range.substr(kTracedLayer.size())
                                   : named.empty() ? range
                                                   : named);
        // Of nested ranges the innermost that is a layer's name.
        for (std::string_view path = range; layer == by_name_.end() && !path.empty();
             path = outer_ranges(path)) {
            layer = by_name_.find(innermost_range(path));
        }
        if (range.empty() || layer == by_name_.end()) {
            return std::nullopt;
        }
        if (traced) {
            return Match{layer->second, MatchMethod::op_dims, kNamed,
                         "made of the operator that launched it"};
        }
        return Match{layer->second, MatchMethod::nvtx, named.empty() ? kSameText : kNamed,
                     fmt::format("range '{}'", range)};
    }

    std::optional<Match> by_dims(const Launch& launch, std::optional<model::Direction> gradient) {
        if (launch.op == kNone || candidates_[index_of(launch)].empty()) {
            return std::nullopt;
        }
        const Operator& op = profile_.operators[index_of(launch)];
        const OperatorLayer& known = *known_[index_of(launch)];
        const bool both = known.repeats == 2;
        const auto candidates = both ? of_direction(candidates_[index_of(launch)],
                                                    gradient.value_or(model::Direction::bwd_weight))
                                     : candidates_[index_of(launch)];
        const bool logged = is_logged(op);
        const double sure = logged ? 0.6 : known.approximate ? 0.7 : both && !gradient ? 0.5 : 0.95;
        const std::string why = fmt::format("dimensions of {}{}", op.name,
                                            both && !gradient ? ", both gradients in one" : "");
        if (candidates.size() == 1) {
            return Match{candidates[0], logged ? MatchMethod::library_log : MatchMethod::op_dims,
                         sure, why};
        }
        const auto turn = static_cast<std::size_t>(call_number(launch)) % candidates.size();
        return Match{candidates[turn], MatchMethod::order, sure / 2.0,
                     fmt::format("{}, {} layers have them; taken in turn", why, candidates.size())};
    }

    // All of them where none has that direction.
    std::vector<std::size_t> of_direction(const std::vector<std::size_t>& candidates,
                                          model::Direction direction) const {
        std::vector<std::size_t> kept;
        std::ranges::copy_if(candidates, std::back_inserter(kept),
                             [&](std::size_t i) { return layers_[i].direction == direction; });
        return kept.empty() ? candidates : kept;
    }

    static std::size_t index_of(const Launch& launch) {
        return static_cast<std::size_t>(launch.op);
    }

    // How many calls of operators with the same candidates came before this launch's call.
    std::int64_t call_number(const Launch& launch) {
        auto& calls = calls_[candidates_[index_of(launch)]];
        const auto [it, added] = calls.try_emplace({launch.source, launch.op_call},
                                                   static_cast<std::int64_t>(calls.size()));
        return it->second;
    }

    std::optional<Match> by_category(const Launch& launch) const {
        const KernelCategory category = category_of(profile_.kernel_of(launch).name);
        const auto op = op_of(category);
        const bool other_shape = launch.op != kNone && known_[index_of(launch)].has_value();
        if (!op || other_shape) { // a shape that fits no layer says more than a name
            return std::nullopt;
        }
        const auto is_of_kind = [&](const model::Layer& layer) { return layer.op == *op; };
        if (std::ranges::count_if(layers_, is_of_kind) != 1) {
            return std::nullopt;
        }
        constexpr double kOnlyKind = 0.3;
        const auto layer = std::ranges::find_if(layers_, is_of_kind) - layers_.begin();
        return Match{static_cast<std::size_t>(layer), MatchMethod::category, kOnlyKind,
                     fmt::format("a {} kernel, and the only such layer", category_name(category))};
    }

    const Profile& profile_;
    const std::vector<model::Layer>& layers_;
    Diagnostics found_;
    std::map<std::string, std::size_t, std::less<>> by_name_;
    std::vector<Rule> rules_;
    std::vector<std::vector<std::size_t>> candidates_;       // by operator
    std::vector<std::optional<OperatorLayer>> known_;        // by operator
    std::vector<std::optional<model::Direction>> gradients_; // by launch, of calls for both
    std::map<std::vector<std::size_t>,
             std::map<std::pair<std::uint32_t, std::int64_t>, std::int64_t>>
        calls_;
};

} // namespace

const char* match_method_name(MatchMethod method) {
    constexpr const char* kNames[] = {"manual", "nvtx",     "op dims", "library log",
                                      "order",  "category", "none"};
    return kNames[static_cast<std::size_t>(method)];
}

const char* work_check_name(WorkCheck check) {
    constexpr const char* kNames[] = {"unknown", "fits", "padding", "fewer", "more"};
    return kNames[static_cast<std::size_t>(check)];
}

WorkCheck check_work(double counted_flops, double layer_flops) {
    if (!(counted_flops > 0.0) || !(layer_flops > 0.0)) {
        return WorkCheck::unknown;
    }
    constexpr double kEqual = 0.02;
    constexpr double kMostPadding = 1.5;
    const double ratio = counted_flops / layer_flops;
    if (ratio < 1.0 - kEqual) {
        return WorkCheck::fewer;
    }
    if (ratio <= 1.0 + kEqual) {
        return WorkCheck::fits;
    }
    return ratio <= kMostPadding ? WorkCheck::padding : WorkCheck::more;
}

double MatchResult::matched_share(const Profile& profile) const {
    double matched = 0.0;
    double all = 0.0;
    for (std::size_t i = 0; i < of_launch.size(); ++i) {
        const double time = std::max(profile.launches[i].duration_ns, 0.0);
        const MatchMethod method = of_launch[i].method;
        all += time;
        matched += method != MatchMethod::none && method != MatchMethod::category ? time : 0.0;
    }
    return all > 0.0 ? matched / all : 0.0;
}

Result<MatchResult> match(const Profile& profile, const std::vector<model::Layer>& layers,
                          const std::vector<ManualAssignment>& manual) {
    auto problems = validate(profile);
    if (problems.has_errors()) {
        return Result<MatchResult>(std::move(problems));
    }
    return Matcher(profile, layers).run(manual);
}

} // namespace eyeroof::profiles
