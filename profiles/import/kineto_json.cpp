// PyTorch profiler (Kineto): kernels joined to the operator that launched them, with its
// dimensions. kernel -> correlation -> launch call -> the operators open on that thread at that
// time; of these the nearest that carries a shape. Without a launch call, the External id names the
// operator. A trace without any kernel was taken on a processor: then the operators that carry a
// shape are what was timed.
#include "profiles/import/aside_kernels.hpp"
#include "profiles/import/formats.hpp"
#include "profiles/import/kineto_events.hpp"
#include "profiles/import/kineto_host.hpp"
#include "profiles/launch_sums.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <deque>
#include <numeric>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace eyeroof::profiles {

namespace {

// What a trace may take while its events are joined; the kernels of a larger one are summed.
constexpr std::size_t kMostJoinedBytes = std::size_t{80} << 20U;

// Different operators of a trace whose kernels are summed; of more the kernels alone are kept.
constexpr std::size_t kMostSummedOperators = 60'000;

// Pages of freed blocks go back to the system: the launches that follow do not come on top of them.
void return_freed_memory() {
#ifdef __GLIBC__
    ::malloc_trim(0);
#endif
}

class KinetoReader {
  public:
    explicit KinetoReader(const ImportInput& input) : input_(input) {}

    Result<Profile> run() {
        auto source = input_.open();
        if (!source) {
            return Result<Profile>(source.diagnostics());
        }
        auto head = read_trace_events(**source, [this](const TraceEvent& event) { take(event); });
        if (!head) {
            return Result<Profile>(head.diagnostics());
        }
        if (bad_times_ > 0) {
            return Result<Profile>::failure(
                "bad-time",
                std::to_string(bad_times_) +
                    " kernels have a `ts` or `dur` that is missing, negative, above 9e15, or no "
                    "number",
                "a kernel has `ts` and `dur` in microseconds; write the trace again",
                {input_.name, 0, 0});
        }
        if (join_ == Join::nothing && kernel_count_ == 0) {
            return Result<Profile>::failure(
                "too-large", "the trace has no kernels and more operators than are joined",
                "trace fewer steps: torch.profiler.schedule(active=1)", {input_.name, 0, 0});
        }
        if (kernel_count_ == 0 && launches_ > 0) { // an operator's time is that of its launch
            return Result<Profile>::failure(
                "no-kernels",
                "the trace has calls that launch kernels (" + std::to_string(launches_) +
                    "), and no kernel",
                "the profiler lost them: trace again, with a step of warm-up, and without another "
                "profiler on the GPU",
                {input_.name, 0, 0});
        }
        built_.profile.run = *head;
        built_.profile.run.tool = "kineto-json";
        host_.sort();
        take_copies();
        if (kernel_count_ == 0) {
            take_operators();
        } else if (join_ == Join::kernels) {
            take_kernels();
        } else if (auto failed = sum_kernels(); failed.has_errors()) {
            return Result<Profile>(std::move(failed));
        }
        auto& notes = built_.profile.notes;
        notes.insert(notes.end(), names_.profile.notes.begin(), names_.profile.notes.end());
        Diagnostics lost = lost_times();
        return {std::move(built_.profile), std::move(lost)};
    }

  private:
    Diagnostics lost_times() const {
        Diagnostics found;
        if (without_time_ > 0) {
            found.warning("no-time",
                          std::to_string(without_time_) +
                              " kernels have neither start nor duration and are left out",
                          "the profiler lost their times; trace fewer steps", {input_.name, 0, 0});
        }
        if (without_time_on_host_ > 0) {
            found.warning("bad-time",
                          std::to_string(without_time_on_host_) +
                              " operators, calls, or copies are left out: their `ts` or `dur` is "
                              "negative, above 9e15, or no number",
                          "`ts` and `dur` are microseconds; write the trace again",
                          {input_.name, 0, 0});
        }
        const RunInfo& run = built_.profile.run;
        if (kernel_count_ == 0 && !run.gpu.empty() && !built_.profile.launches.empty()) {
            found.warning("no-kernels",
                          "the trace names " + run.gpu +
                              " and has none of its kernels: if the program ran there, these are "
                              "times of launches",
                          "trace both: activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]",
                          {input_.name, 0, 0});
        }
        return found;
    }

    static bool launches_kernels(const std::string& call) {
        return call.find("LaunchKernel") != std::string::npos || // CUDA, HIP
               call.find("KernelLaunch") != std::string::npos || // Unified Runtime
               call.find("GraphLaunch") != std::string::npos;
    }

    // What is kept while the file is read. Where kernels and host events are too many, the kernels
    // go to a temporary file, from which each is joined and summed. Where host events alone are,
    // they go too.
    enum class Join { kernels, calls, nothing };

    struct CallOrigin {
        std::int32_t op = kNone, leaf = kNone, range = kNone;
    };
    static constexpr std::size_t kKernelBytes =
        sizeof(TracedKernel) + sizeof(Origin) + sizeof(Question);
    static constexpr std::size_t kCallBytes = sizeof(CallOrigin) + sizeof(Question);

    void take(const TraceEvent& event) {
        const bool ended =
            event.dur_us >= 0.0 && event.dur_us <= kLatestUs && std::abs(event.ts_us) <= kLatestUs;
        if ((event.bad_time || !ended) && event.kind != TraceKind::kernel) {
            ++without_time_on_host_;
            return;
        }
        switch (event.kind) {
        case TraceKind::kernel:
            take_kernel(event);
            break;
        case TraceKind::copy:
            take_copy(event);
            break;
        case TraceKind::launch_call:
            launches_ += launches_kernels(event.name) ? 1 : 0;
            if (join_ != Join::nothing && event.correlation != kNone) {
                const std::size_t bytes = host_.take_call(event);
                count(bytes + (bytes > 0 && join_ == Join::calls ? kCallBytes : 0));
            }
            break;
        case TraceKind::cpu_op:
        case TraceKind::annotation:
        case TraceKind::python:
            if (join_ != Join::nothing) {
                count(host_.take_span(event));
            }
            break;
        case TraceKind::other:
            break;
        }
    }

    void take_kernel(const TraceEvent& event) {
        const double end_us = event.ts_us + event.dur_us;
        if (event.bad_time || event.dur_us < 0.0 || event.ts_us < 0.0 || end_us > kLatestUs) {
            ++bad_times_;
            return;
        }
        if (event.ts_us == 0.0 && event.dur_us == 0.0) {
            ++without_time_;
            return;
        }
        ++kernel_count_;
        if (join_ != Join::kernels) {
            set_aside_.add({shape_of(event), event.dur_us, event.correlation, event.external_id,
                            built_.kernel(event.name)});
            return;
        }
        const auto next = static_cast<std::uint32_t>(shapes_.size());
        const auto [at, fresh] = shape_numbers_.try_emplace(shape_of(event), next);
        if (fresh) {
            shapes_.push_back(shape_of(event));
        }
        kernels_.push_back({event.ts_us, event.dur_us, event.correlation, event.external_id,
                            names_.kernel(event.name), at->second});
        count(kKernelBytes + (fresh ? kShapeBytes : 0));
    }

    void take_copy(const TraceEvent& event) {
        const bool fine = event.ts_us >= 0.0 && event.bytes >= 0;
        if (join_ == Join::nothing || !fine || copies_.size() >= kMostLaunches) {
            return;
        }
        TracedCopy traced;
        traced.correlation = event.correlation;
        traced.copy.kind = copy_kind(event.name);
        traced.copy.pageable = event.name.find("Pageable") != std::string::npos;
        traced.copy.bytes = event.bytes;
        traced.copy.stream = event.stream;
        traced.copy.device = event.device;
        traced.copy.start_ns = std::llround(event.ts_us * 1e3);
        traced.copy.duration_ns = event.dur_us * 1e3;
        copies_.push_back(traced);
        count(2 * sizeof(TracedCopy));
    }

    // Counts what is kept for joining, and keeps less where that is too much.
    void count(std::size_t bytes) {
        bytes_ += bytes;
        if (bytes_ > kMostJoinedBytes && join_ == Join::kernels) {
            join_ = Join::calls;
            bytes_ -= kKernelBytes * kernels_.size() + kShapeBytes * shapes_.size();
            bytes_ += kCallBytes * host_.call_count();
            for (const TracedKernel& kernel : kernels_) {
                set_aside_.add({shapes_[kernel.shape], kernel.dur_us, kernel.correlation,
                                kernel.external_id,
                                built_.kernel(names_.profile.kernels[kernel.kernel].name)});
            }
            release(kernels_);
            release(shape_numbers_);
            release(shapes_);
            return_freed_memory();
        }
        if (bytes_ > kMostJoinedBytes && join_ == Join::calls) {
            join_ = Join::nothing;
            built_.profile.notes.emplace_back(
                "operators and ranges are not joined to kernels: the trace is too large");
            host_.release();
            release(copies_);
            names_ = {};
            return_freed_memory();
        }
    }

    template <class Table> static void release(Table& table) { Table().swap(table); }

    static LaunchShape shape_of(const TraceEvent& event) {
        return {event.grid, event.block, event.stream, event.device};
    }

    Launch launch_of(std::uint32_t kernel, const LaunchShape& shape, double dur_us) {
        Launch launch;
        launch.source = built_.source(input_.name);
        launch.kernel = kernel;
        launch.grid = shape.grid;
        launch.block = shape.block;
        launch.stream = shape.stream;
        launch.device = shape.device;
        launch.duration_ns = dur_us * 1e3;
        return launch;
    }

    // Of a name of names_ in the profile, where it stands in the order of use.
    std::uint32_t kernel_number(std::uint32_t name) {
        kernel_numbers_.resize(names_.profile.kernels.size(), kNone);
        std::int64_t& number = kernel_numbers_[name];
        if (number == kNone) {
            number = built_.kernel(names_.profile.kernels[name].name);
        }
        return static_cast<std::uint32_t>(number);
    }
    // Each operator moves to the profile when it is first used: a trace may have many.
    std::int32_t op_number(std::int32_t op) {
        if (op == kNone) {
            return kNone;
        }
        constexpr std::int32_t kNotYet = -2;
        op_numbers_.resize(names_.profile.operators.size(), kNotYet);
        const auto at = static_cast<std::size_t>(op);
        std::int32_t& number = op_numbers_[at];
        if (number == kNotYet) {
            number =
                has_space_for_op() ? built_.op(std::move(names_.profile.operators[at])) : kNone;
        }
        return number;
    }

    bool has_space_for_op() {
        if (!sums_.sums() || built_.profile.operators.size() < kMostSummedOperators) {
            return true;
        }
        if (!std::exchange(crowded_, true)) {
            built_.profile.notes.emplace_back(
                "not every operator is kept: there are too many different ones");
        }
        return false;
    }
    std::int32_t range_number(std::int32_t range) {
        return range == kNone
                   ? kNone
                   : built_.range(names_.profile.ranges[static_cast<std::size_t>(range)]);
    }

    // Kernels in order of time, each with the operator and the range that launched it.
    void take_kernels() {
        const std::vector<Origin> origins = joined();
        host_.release();
        names_.forget_names();
        return_freed_memory();
        if (kernels_.size() > kMostLaunches) {
            sums_.begin_sums(built_.profile);
        } else {
            built_.profile.launches.reserve(kernels_.size());
        }
        std::vector<std::uint32_t> order(kernels_.size());
        std::iota(order.begin(), order.end(), 0U);
        std::ranges::stable_sort(order, {},
                                 [this](std::uint32_t i) { return kernels_[i].start_ns(); });
        for (const std::uint32_t i : order) {
            const TracedKernel& kernel = kernels_[i];
            Launch launch =
                launch_of(kernel_number(kernel.kernel), shapes_[kernel.shape], kernel.dur_us);
            launch.start_ns = kernel.start_ns();
            const Origin& origin = origins[i];
            launch.called_ns = origin.called_ns;
            launch.step = origin.called_ns == kNone
                              ? kNone
                              : host_.step_at(static_cast<double>(origin.called_ns) * 1e-3);
            launch.leaf = op_number(origin.leaf);
            launch.leaf_call = origin.leaf_call;
            launch.module = range_number(origin.module);
            launch.backward = origin.backward;
            launch.range = range_number(origin.range);
            launch.range_call = origin.range_call;
            launch.op = op_number(origin.op);
            launch.op_call = origin.op_call;
            sums_.add(built_.profile, std::move(launch));
        }
    }

    std::vector<Origin> joined() {
        std::vector<std::vector<Question>> questions(host_.thread_count());
        for (std::uint32_t i = 0; i < kernels_.size(); ++i) {
            if (const auto place = host_.place_of(kernels_[i].correlation)) {
                const Call& call = host_.call(*place);
                questions[call.thread].push_back({call.at_us, i});
            }
        }
        std::vector<Origin> origins(kernels_.size());
        host_.answer(std::move(questions), [&origins](std::uint32_t kernel, const Origin& origin) {
            origins[kernel] = origin;
        });
        host_.give_gradients(origins);
        for (std::size_t i = 0; i < kernels_.size(); ++i) {
            const auto place = host_.place_of(kernels_[i].correlation);
            if (place && host_.call(*place).graph) {
                origins[i].op = origins[i].leaf = kNone;
                origins[i].op_call = origins[i].leaf_call = kNone;
                continue;
            }
            const std::int64_t id = kernels_[i].external_id;
            const Named* named = origins[i].op == kNone ? host_.named(id) : nullptr;
            if (named != nullptr) {
                origins[i].op = origins[i].leaf = named->op;
                origins[i].op_call = origins[i].leaf_call = kFirstExternalCall + id;
            }
        }
        return origins;
    }

    // Sums the kernels that were set aside, each with what launched it.
    Diagnostics sum_kernels() {
        sums_.begin_sums(built_.profile);
        const std::vector<CallOrigin> origins = origins_of_calls();
        host_.release_spans();
        names_.forget_names();
        return_freed_memory();
        const bool whole =
            set_aside_.each([&](const AsideKernel& kernel) { sum_kernel(kernel, origins); });
        Diagnostics found;
        if (!whole) {
            found.error("cannot-write", "the temporary file of a large trace is not writable",
                        "free space in /tmp, or trace fewer steps", {input_.name, 0, 0});
        }
        return found;
    }

    std::vector<CallOrigin> origins_of_calls() {
        std::vector<std::vector<Question>> questions(host_.thread_count());
        for (std::uint32_t i = 0; i < host_.call_count(); ++i) {
            const Call& call = host_.call(i);
            questions[call.thread].push_back({call.at_us, i});
        }
        std::vector<CallOrigin> origins(host_.call_count());
        host_.answer(std::move(questions), [&origins](std::uint32_t call, const Origin& origin) {
            origins[call] = {origin.op, origin.leaf, origin.range};
        });
        return origins;
    }

    void sum_kernel(const AsideKernel& kernel, const std::vector<CallOrigin>& origins) {
        const auto place = host_.place_of(kernel.correlation);
        CallOrigin origin = place ? origins[*place] : CallOrigin{};
        const bool graph = place && host_.call(*place).graph;
        if (graph) {
            origin.op = origin.leaf = kNone;
        }
        const Named* named =
            origin.op == kNone && !graph ? host_.named(kernel.external_id) : nullptr;
        if (named != nullptr) {
            origin.op = origin.leaf = named->op;
        }
        Launch launch = launch_of(kernel.kernel, kernel.shape, kernel.dur_us);
        launch.leaf = op_number(origin.leaf);
        launch.range = range_number(origin.range);
        launch.op = op_number(origin.op);
        sums_.add(built_.profile, std::move(launch));
    }

    void take_copies() {
        for (TracedCopy& traced : copies_) {
            traced.copy.source = built_.source(input_.name);
            if (const auto place = host_.place_of(traced.correlation)) {
                const double at_us = host_.call(*place).at_us;
                traced.copy.called_ns = std::llround(at_us * 1e3);
                traced.copy.step = host_.step_at(at_us);
            }
            built_.profile.copies.push_back(traced.copy);
        }
        std::ranges::stable_sort(built_.profile.copies, {}, &DeviceCopy::start_ns);
    }

    // With the time from their call to their return. Without starts: what lies between two of them
    // is other operators, and no gap.
    void take_operators() {
        names_.forget_names();
        return_freed_memory();
        std::int64_t call = 0;
        host_.each_operator([&](const Span& span, const Origin& origin) {
            const std::int32_t op = op_number(span.op);
            const std::string_view name =
                op == kNone
                    ? ProfileBuilder::kFurther
                    : std::string_view(built_.profile.operators[static_cast<std::size_t>(op)].name);
            Launch launch = launch_of(built_.kernel(name), {}, span.end_us - span.start_us);
            launch.range = range_number(origin.range);
            launch.range_call = origin.range_call;
            launch.op = op;
            launch.op_call = call++;
            sums_.add(built_.profile, std::move(launch));
        });
        if (!built_.profile.launches.empty()) {
            built_.profile.notes.emplace_back("the trace holds no kernels: times are of operators "
                                              "on the processor, from call to return");
        }
    }

    static constexpr std::int64_t kFirstExternalCall = std::int64_t{1} << 40;
    static constexpr std::size_t kShapeBytes = 3 * sizeof(LaunchShape);

    const ImportInput& input_;
    ProfileBuilder built_; // what is returned
    ProfileBuilder names_; // tables of all that was read
    HostEvents host_{names_};
    LaunchSums sums_;
    Join join_ = Join::kernels;
    std::size_t bytes_ = 0; // that joining takes
    std::deque<TracedKernel> kernels_;
    AsideKernels set_aside_;
    std::deque<TracedCopy> copies_;
    std::vector<LaunchShape> shapes_;
    std::unordered_map<LaunchShape, std::uint32_t, LaunchShapeHash> shape_numbers_;
    std::vector<std::int64_t> kernel_numbers_; // of names_, in built_
    std::vector<std::int32_t> op_numbers_;     // the same for operators
    std::size_t kernel_count_ = 0;
    std::size_t launches_ = 0; // of kernels and graphs, by their calls
    std::size_t bad_times_ = 0;
    std::size_t without_time_ = 0; // kernels at 0 for 0
    std::size_t without_time_on_host_ = 0;
    bool crowded_ = false;
};

class KinetoImporter final : public Importer {
  public:
    std::string_view name() const override { return "kineto-json"; }
    std::string_view what() const override {
        return "PyTorch profiler: prof.export_chrome_trace(\"t.json\"), gz too, with "
               "record_shapes=True";
    }
    bool recognises(std::string_view head) const override {
        const std::size_t first = head.find_first_not_of(" \t\r\n\xef\xbb\xbf");
        if (first == std::string_view::npos) {
            return false;
        }
        const bool object =
            head[first] == '{' && (head.find("\"traceEvents\"") != std::string_view::npos ||
                                   head.find("\"deviceProperties\"") != std::string_view::npos ||
                                   head.find("\"schemaVersion\"") != std::string_view::npos);
        const bool list = head[first] == '[' && head.find("\"ph\"") != std::string_view::npos;
        return object || list;
    }
    Result<Profile> read(const ImportInput& input) const override {
        return KinetoReader(input).run();
    }
};

} // namespace

const Importer& kineto_importer() {
    static const KinetoImporter importer;
    return importer;
}

} // namespace eyeroof::profiles
