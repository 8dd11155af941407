// What was measured: a profile of kernel launches with their times, counters and origins.
// Made by the importers, the collector and the host measurement; read by points, matching and
// study.
#pragma once

#include "base/result.hpp"
#include "profiles/counters.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace eyeroof::profiles {

// Where and how the measurement was taken. Empty text and 0 mean "not known".
struct RunInfo {
    std::string tool =
        {}; // what wrote the measurement: "nsight-compute-csv", "kineto", "eyeroof-cupti"
    std::string gpu = {};                // device name, or the processor's for a host measurement
    std::string chip = {};               // NVIDIA's chip name, "GH100"
    std::string compute_capability = {}; // "9.0"
    std::string driver = {};
    std::string cuda = {};
    std::string command = {};
    std::string date = {}; // ISO 8601, UTC
    std::string host = {};
    std::int64_t sm_count = 0;
    std::int64_t ranks = 0;       // of the distributed run that this is one process of
    std::int64_t rank = -1;       // of this process; -1: not known
    double memory_bytes = 0.0;    // of the device
    double sm_clock_hz = 0.0;     // while the kernels ran: the median of what was sampled
    double sm_clock_max_hz = 0.0; // that the GPU may reach
    double memory_clock_hz = 0.0;
    double power_limit_w = 0.0;
    double power_w = 0.0;                      // highest drawn while the kernels ran
    double temperature_c = 0.0;                // highest
    double memory_bandwidth_bytes_per_s = 0.0; // as the tool reports it, not measured

    bool operator==(const RunInfo&) const = default;
};

struct Dim3 {
    std::int64_t x = 1, y = 1, z = 1;

    bool operator==(const Dim3&) const = default;
};

struct Kernel {
    std::string name;    // for people, demangled
    std::string mangled; // empty when the source has none

    bool operator==(const Kernel&) const = default;
};

// A tensor of a list that an operator was called with.
struct ListedTensor {
    std::uint32_t argument = 0; // whose list it is
    std::vector<std::int64_t> dims;

    bool operator==(const ListedTensor&) const = default;
};

// The framework's operator that launched a kernel, with the shapes it was called with.
struct Operator {
    std::string name;                                  // "aten::mm"
    std::vector<std::vector<std::int64_t>> input_dims; // an empty list for a scalar
    std::vector<std::string> input_types;              // "float", "c10::Half"
    std::vector<std::string> concrete_inputs; // strides, padding … as the framework prints
    std::vector<ListedTensor> listed = {};    // tensors of the arguments that are lists
    // Elements between neighbors along each dimension, beside input_dims; empty: not recorded.
    std::vector<std::vector<std::int64_t>> input_strides = {};
    // The operator beside this one whose dimensions these are, where it has none of its own.
    std::string borrowed_from = {};

    bool operator==(const Operator&) const = default;
};

inline constexpr std::int32_t kNone = -1;
inline constexpr double kUnknown = -1.0;

struct Launch {
    std::uint32_t kernel = 0;   // index into Profile::kernels
    std::uint32_t source = 0;   // index into Profile::sources
    std::int32_t op = kNone;    // index into Profile::operators
    std::int32_t range = kNone; // index into Profile::ranges: innermost NVTX range or annotation
    // Launches of one source with the same op_call (range_call) belong to one execution of the
    // operator (the range); numbered in launch order.
    std::int64_t op_call = kNone;
    std::int64_t range_call = kNone;
    Dim3 grid, block; // blocks, and threads in a block
    std::int64_t stream = kNone;
    std::int64_t device = kNone;
    std::int64_t start_ns = kNone;  // on the source's own clock
    std::int64_t called_ns = kNone; // when the host launched it, on the same clock
    std::int32_t step = kNone;      // number of the step that launched it ("ProfilerStep#7": 7)
    // The innermost operator whose dimensions alone say its work, and its execution; `op` is the
    // innermost GEMM or convolution, else the outermost operator.
    std::int32_t leaf = kNone;
    std::int64_t leaf_call = kNone;
    // Index into Profile::ranges: path of the modules ("Model/Block/Linear") whose forward pass
    // launched it, or whose forward pass its gradient is of.
    std::int32_t module = kNone;
    bool backward = false;         // launched by an operator of the backward pass
    double duration_ns = kUnknown; // time on the device
    std::int64_t calls = 1;    // launches that this is the sum of; the duration is theirs together
    bool under_replay = false; // the duration was taken while counters were replayed: no wall time
    // Hardware counters by the tool's name, in base units (byte, ns, Hz, cycle, inst, %), and the
    // neutral names "flops.<precision>", "flops.<precision>.tensor", "bytes.<level>".
    Counters counters;

    bool operator==(const Launch&) const = default;
};

enum class CopyKind { host_to_device, device_to_host, on_device, to_peer, fill };
const char* copy_kind_name(CopyKind kind); // "h2d", "d2h", "d2d", "peer", "fill"
std::optional<CopyKind> copy_kind_from_name(std::string_view name);

// A transfer of the device's copy engines, or a fill of its memory.
struct DeviceCopy {
    CopyKind kind = CopyKind::on_device;
    std::uint32_t source = 0; // index into Profile::sources
    bool pageable = false;    // the host's side is not pinned
    std::int64_t bytes = 0;
    std::int64_t stream = kNone;
    std::int64_t device = kNone;
    std::int64_t start_ns = kNone;
    std::int64_t called_ns = kNone;
    std::int32_t step = kNone;
    double duration_ns = 0.0;

    bool operator==(const DeviceCopy&) const = default;
};

// What a machine was measured to reach, beside what its data sheet says; never a replacement for
// it.
struct Ceiling {
    std::string name;           // "dram read", "fma fp32"
    std::string level = {};     // of a bandwidth: "dram", "l3", "l2", "l1", "shared", "pcie"
    std::string precision = {}; // of an arithmetic rate: "fp32" …
    std::string pipe = {};      // "fma", "tensor"
    double value = 0.0;  // byte/s of a level, operation/s of a precision, s of neither (overhead)
    double median = 0.0; // over all trials; `value` is the best
    double spread = 0.0; // (best - worst) / best
    std::int64_t trials = 0;
    std::string how = {}; // what ran: sizes, threads

    bool operator==(const Ceiling&) const = default;
};

struct Profile {
    RunInfo run;
    std::vector<std::string> sources; // files that were merged into this profile
    std::vector<std::string> notes;   // what a reader must know: lost tail, replayed times
    std::vector<Kernel> kernels;
    std::vector<Operator> operators;
    std::vector<std::string> ranges;
    std::vector<Launch> launches;   // in launch order within a source
    std::vector<DeviceCopy> copies; // in order of start within a source
    std::vector<Ceiling> ceilings;

    const Kernel& kernel_of(const Launch& launch) const { return kernels[launch.kernel]; }
    const Operator* operator_of(const Launch& launch) const;
    std::string_view range_of(const Launch& launch) const;
    std::int64_t launch_count() const; // sums by their calls
    bool operator==(const Profile&) const = default;
};

// Every index in range, every time and counter finite.
Diagnostics validate(const Profile& profile);

// Adds kernels, operators and ranges once each; used by everything that builds a profile. Its
// tables take a limited memory: of more, kernels become one of the name "(further kernels)",
// operators and ranges none, and a note says so.
class ProfileBuilder {
  public:
    static constexpr std::size_t kMostTableBytes = std::size_t{64} << 20U;
    static constexpr std::string_view kFurther = "(further kernels)";

    Profile profile;

    std::uint32_t kernel(std::string_view name, std::string_view mangled = {});
    std::int32_t op(const Operator& op);
    std::int32_t op(Operator&& op); // moves what is new; what has no space stays where it is
    std::int32_t range(std::string_view text); // kNone for empty text
    std::uint32_t source(std::string_view file);
    // When nothing is added any more: the names that lookups need are freed.
    void forget_names();

  private:
    bool has_space(std::size_t bytes); // for one more entry of a table
    // The number of an operator that is known; kNone for a new one, whose key is then in key_.
    std::int32_t known_op(const Operator& op);
    std::int32_t add_op(Operator op); // under key_
    // Looked up by views: a lookup makes no string.
    struct Hash {
        using is_transparent = void;
        std::size_t operator()(std::string_view text) const {
            return std::hash<std::string_view>{}(text);
        }
    };
    using Index = std::unordered_map<std::string, std::int32_t, Hash, std::equal_to<>>;

    Index kernels_;   // by name, a zero byte, and mangled name
    Index operators_; // by all fields joined
    Index ranges_;
    Index sources_;
    std::string key_; // of the lookup at hand
    std::size_t table_bytes_ = 0;
    bool crowded_ = false;
};

struct KernelFilter {
    std::string name_regex = {}; // empty: all; matched anywhere in the demangled name
    std::string range = {};      // keep launches whose range contains this text
    std::int64_t skip = 0;       // of those that match
    std::int64_t count = -1;     // negative: all

    bool operator==(const KernelFilter&) const = default;
};

// The launches that pass, with tables reduced to what they use.
// Error "bad-regex": the regular expression does not parse or is longer than 1000 characters.
Result<Profile> filter(Profile profile, const KernelFilter& filter);

// These launches alone (indices, rising), with tables reduced to what they use; no ceilings.
Profile keep_launches(const Profile& profile, const std::vector<std::size_t>& launches);

// One profile with all launches, in the order given. Warns where device or driver differ.
Result<Profile> merge(std::vector<Profile> profiles);

// Joins a run with times to a run with counters of the same program: launch i with launch i, where
// name and grid agree. Refused as a whole ("runs-differ", naming the first launch that differs)
// when they do not: a counter on the wrong kernel is worse than none.
Result<Profile> join_runs(const Profile& times, const Profile& counters);

// Launches of equal kernel, summed; the longest first.
struct KernelSummary {
    std::string name;
    std::int64_t calls = 0;
    double time_s = 0.0;
    double share = 0.0; // of the profile's total kernel time
    // Of one launch; the deviation is that of the population. Of sums of launches, as many equal
    // ones.
    double mean_s = 0.0, min_s = 0.0, max_s = 0.0, deviation_s = 0.0;
};
std::vector<KernelSummary> summarise(const Profile& profile);

} // namespace eyeroof::profiles
