#include "profiles/matching.hpp"

#include "profiles/library_log.hpp"
#include "profiles/operator_work.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <regex>

namespace eyeroof::profiles {

namespace {

struct NamePart {
    std::string_view part;
    KernelCategory category;
};
// The first part found in the lower-case name decides; the more telling come first.
constexpr NamePart kNameParts[] = {
    {"flash", KernelCategory::attention},
    {"fmha", KernelCategory::attention},
    {"attention", KernelCategory::attention},
    {"softmax", KernelCategory::softmax},
    {"layer_norm", KernelCategory::normalization},
    {"layernorm", KernelCategory::normalization},
    {"batch_norm", KernelCategory::normalization},
    {"bn_fw", KernelCategory::normalization},
    {"bn_bw", KernelCategory::normalization},
    {"rms_norm", KernelCategory::normalization},
    {"winograd", KernelCategory::conv},
    {"implicit_gemm", KernelCategory::conv},
    {"fprop", KernelCategory::conv},
    {"dgrad", KernelCategory::conv},
    {"wgrad", KernelCategory::conv},
    {"conv", KernelCategory::conv},
    {"cudnn", KernelCategory::conv},
    {"gemm", KernelCategory::gemm},
    {"gemv", KernelCategory::gemm},
    {"cublas", KernelCategory::gemm},
    {"cutlass", KernelCategory::gemm},
    {"xmma", KernelCategory::gemm},
    {"nvjet", KernelCategory::gemm},
    {"matmul", KernelCategory::gemm},
    {"pool", KernelCategory::pooling},
    {"reduce", KernelCategory::reduction},
    {"elementwise", KernelCategory::elementwise},
    {"memcpy", KernelCategory::copy},
    {"memset", KernelCategory::copy},
    {"copy", KernelCategory::copy},
    {"transpose", KernelCategory::copy},
    {"nchwtonhwc", KernelCategory::copy},
};

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
    const std::size_t at = range.find(kPrefix);
    if (at == std::string_view::npos) {
        return {};
    }
    const std::string_view rest = range.substr(at + kPrefix.size());
    return rest.substr(0, rest.find(';'));
}

// Products are equal when their work is: [m, k] x [k, n] may be stored transposed, so m and n may
// be exchanged, and a batch with shared weights is folded into m.
bool same_shape(const model::Layer& layer, const model::Layer& op) {
    const auto* gemm = std::get_if<model::GemmShape>(&layer.shape);
    const auto* other = std::get_if<model::GemmShape>(&op.shape);
    if (gemm != nullptr && other != nullptr) {
        if (layer.op == model::Op::bmm || op.op == model::Op::bmm) {
            return *gemm == *other;
        }
        const model::Count m = gemm->m * gemm->batch;
        const model::Count om = other->m * other->batch;
        const bool straight = m == om && gemm->n == other->n;
        const bool exchanged = m == other->n && gemm->n == om;
        return gemm->k == other->k && (straight || exchanged);
    }
    const auto* conv = std::get_if<model::ConvShape>(&layer.shape);
    const auto* other_conv = std::get_if<model::ConvShape>(&op.shape);
    return conv != nullptr && other_conv != nullptr && *conv == *other_conv;
}

// With stride and padding unknown, what is known must agree.
bool same_operands(const model::Layer& layer, const model::Layer& op) {
    const auto* conv = std::get_if<model::ConvShape>(&layer.shape);
    const auto* other = std::get_if<model::ConvShape>(&op.shape);
    if (conv == nullptr || other == nullptr) {
        return false;
    }
    model::ConvShape known = *conv;
    known.stride = other->stride;
    known.pad = other->pad;
    known.dilation = other->dilation;
    return known == *other;
}

bool same_direction(model::Direction layer, const OperatorLayer& op) {
    const bool backward = op.layer.direction != model::Direction::fwd;
    return backward ? layer != model::Direction::fwd : layer == model::Direction::fwd;
}

struct Rule {
    std::size_t layer;
    std::optional<std::regex> kernel;
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

    model::Result<MatchResult> run(const std::vector<ManualAssignment>& manual) {
        read_rules(manual);
        if (found_.has_errors()) {
            return model::Result<MatchResult>(std::move(found_));
        }
        find_shapes();
        MatchResult result;
        for (std::size_t i = 0; i < profile_.launches.size(); ++i) {
            result.of_launch.push_back(match_one(profile_.launches[i]));
            if (result.of_launch.back().method == MatchMethod::none) {
                result.unmatched.push_back(i);
            }
        }
        return result;
    }

  private:
    void read_rules(const std::vector<ManualAssignment>& manual) {
        constexpr std::size_t kLongestRegex = 1000;
        for (const ManualAssignment& assignment : manual) {
            const auto layer = by_name_.find(assignment.layer);
            if (layer == by_name_.end()) {
                found_.error("unknown-layer",
                             fmt::format("there is no layer '{}'", assignment.layer));
                continue;
            }
            Rule rule{layer->second, std::nullopt, assignment.range};
            try {
                if (assignment.kernel_regex.size() > kLongestRegex) {
                    throw std::regex_error(std::regex_constants::error_complexity);
                }
                if (!assignment.kernel_regex.empty()) {
                    rule.kernel = std::regex(assignment.kernel_regex);
                }
            } catch (const std::regex_error&) {
                found_.error("bad-regex",
                             fmt::format("'{}' is not a regular expression of at most 1000 "
                                         "characters",
                                         assignment.kernel_regex));
            }
            rules_.push_back(std::move(rule));
        }
    }

    // For each operator of the profile, the layers that have its shape.
    void find_shapes() {
        for (const Operator& op : profile_.operators) {
            std::vector<std::size_t> candidates;
            const auto known = layer_of(op);
            for (std::size_t i = 0; known && i < layers_.size(); ++i) {
                const bool fits = known->approximate ? same_operands(layers_[i], known->layer)
                                                     : same_shape(layers_[i], known->layer);
                if (fits && same_direction(layers_[i].direction, *known)) {
                    candidates.push_back(i);
                }
            }
            candidates_.push_back(std::move(candidates));
            approximate_.push_back(known && known->approximate);
        }
    }

    Match match_one(const Launch& launch) {
        if (auto found = manual(launch)) {
            return *found;
        }
        if (auto found = by_range(launch)) {
            return *found;
        }
        if (auto found = by_dims(launch)) {
            return *found;
        }
        if (auto found = by_category(launch)) {
            return *found;
        }
        return {};
    }

    std::optional<Match> manual(const Launch& launch) const {
        constexpr std::size_t kLongestSubject = 4096;
        for (const Rule& rule : rules_) {
            const bool range_fits = rule.range.empty() || profile_.range_of(launch).find(
                                                              rule.range) != std::string_view::npos;
            const std::string name = profile_.kernel_of(launch).name.substr(0, kLongestSubject);
            const bool says_something = rule.kernel || !rule.range.empty();
            if (says_something && range_fits &&
                (!rule.kernel || std::regex_search(name, *rule.kernel))) {
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
        const auto layer = by_name_.find(named.empty() ? range : named);
        if (range.empty() || layer == by_name_.end()) {
            return std::nullopt;
        }
        return Match{layer->second, MatchMethod::nvtx, named.empty() ? kSameText : kNamed,
                     fmt::format("range '{}'", range)};
    }

    std::optional<Match> by_dims(const Launch& launch) {
        if (launch.op == kNone) {
            return std::nullopt;
        }
        const auto op = static_cast<std::size_t>(launch.op);
        const auto& candidates = candidates_[op];
        if (candidates.empty()) {
            return std::nullopt;
        }
        const std::string& name = profile_.operators[op].name;
        const bool logged = is_logged(profile_.operators[op]);
        const double sure = logged ? 0.6 : approximate_[op] ? 0.7 : 0.95;
        if (candidates.size() == 1) {
            return Match{candidates[0], logged ? MatchMethod::library_log : MatchMethod::op_dims,
                         sure, fmt::format("dimensions of {}", name)};
        }
        const auto turn = static_cast<std::size_t>(call_number(launch)) % candidates.size();
        return Match{candidates[turn], MatchMethod::order, sure / 2.0,
                     fmt::format("dimensions of {}, {} layers have them; taken in turn", name,
                                 candidates.size())};
    }

    // How many calls of operators with the same candidates came before this launch's call.
    std::int64_t call_number(const Launch& launch) {
        auto& calls = calls_[candidates_[static_cast<std::size_t>(launch.op)]];
        const auto [it, added] = calls.try_emplace({launch.source, launch.op_call},
                                                   static_cast<std::int64_t>(calls.size()));
        return it->second;
    }

    std::optional<Match> by_category(const Launch& launch) const {
        const KernelCategory category = category_of(profile_.kernel_of(launch).name);
        const auto op = op_of(category);
        if (!op) {
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
    model::Diagnostics found_;
    std::map<std::string, std::size_t, std::less<>> by_name_;
    std::vector<Rule> rules_;
    std::vector<std::vector<std::size_t>> candidates_; // by operator
    std::vector<bool> approximate_;                    // by operator
    std::map<std::vector<std::size_t>,
             std::map<std::pair<std::uint32_t, std::int64_t>, std::int64_t>>
        calls_;
};

} // namespace

KernelCategory category_of(std::string_view kernel_name) {
    std::string lower(kernel_name);
    std::ranges::transform(lower, lower.begin(),
                           [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    for (const NamePart& entry : kNameParts) {
        if (lower.find(entry.part) != std::string::npos) {
            return entry.category;
        }
    }
    return KernelCategory::unknown;
}

const char* category_name(KernelCategory category) {
    constexpr const char* kNames[] = {"unknown",     "gemm",      "conv",          "attention",
                                      "elementwise", "reduction", "normalization", "softmax",
                                      "pooling",     "copy"};
    return kNames[static_cast<std::size_t>(category)];
}

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

model::Result<MatchResult> match(const Profile& profile, const std::vector<model::Layer>& layers,
                                 const std::vector<ManualAssignment>& manual) {
    auto problems = validate(profile);
    if (problems.has_errors()) {
        return model::Result<MatchResult>(std::move(problems));
    }
    return Matcher(profile, layers).run(manual);
}

} // namespace eyeroof::profiles
