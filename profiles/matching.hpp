// Which kernel belongs to which layer, by which evidence, and how sure that is.
#pragma once

#include "model/workload/layer.hpp"
#include "profiles/kernel_names.hpp"
#include "profiles/measurement.hpp"
#include "profiles/operator_fit.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace eyeroof::profiles {

// In order of trust.
// library_log: dimensions from a library's own log, joined by order of calls.
enum class MatchMethod { manual, nvtx, op_dims, library_log, order, category, none };
const char* match_method_name(MatchMethod method);

// A range of this and a layer's name: the layer was made of the operator that launched the kernel.
inline constexpr std::string_view kTracedLayer = "trace:layer=";

struct Match {
    std::size_t layer = 0; // index into the layers; meaningless for method none
    MatchMethod method = MatchMethod::none;
    double confidence = 0.0; // 0 … 1
    std::string why;         // one clause for people: "range 'eyeroof:layer=conv2'"

    bool operator==(const Match&) const = default;
};

// "launch" -> layer by hand: kernels (regular expression over the name) or ranges that contain
// text.
struct ManualAssignment {
    std::string layer;
    std::string kernel_regex = {};
    std::string range = {};

    bool operator==(const ManualAssignment&) const = default;
};

struct MatchResult {
    std::vector<Match> of_launch;       // one per launch of the profile
    std::vector<std::size_t> unmatched; // launches with method none
    // The profile's batch over the network's, where most operators fit only with another batch.
    std::optional<BatchRatio> batch;

    // Time of the launches that are matched by something better than a category, over all time.
    double matched_share(const Profile& profile) const;
    bool operator==(const MatchResult&) const = default;
};

// Manual assignments first; then an NVTX range "eyeroof:layer=NAME" or one that is the layer's
// name; then the operator's dimensions against the layer's shape: one layer with that shape is
// sure, several are taken in turn by the operator's calls (method order). Then the category, which
// names a kind of layer only when the network has a single layer of that kind. Errors: "bad-regex";
// "unknown-layer" for an assignment to a layer that does not exist.
Result<MatchResult> match(const Profile& profile, const std::vector<model::Layer>& layers,
                          const std::vector<ManualAssignment>& manual = {});

// Operations counted against 2 M N K (per execution, `direction` and `repeats` included).
// padding: counted a little more (tiles); fits: within 2 %; fewer: less than the layer needs, so
// kernels are missing or it is another layer; more: over 1.5 times, so others are mixed in.
enum class WorkCheck { unknown, fits, padding, fewer, more };
WorkCheck check_work(double counted_flops, double layer_flops);
const char* work_check_name(WorkCheck check);

} // namespace eyeroof::profiles
