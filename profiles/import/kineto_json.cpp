// PyTorch profiler (Kineto): kernels joined to the operator that launched them, with its
// dimensions. kernel -> correlation -> launch call -> the operators open on that thread at that
// time; of these the nearest that carries a shape. Without a launch call, the External id names the
// operator. A trace without any kernel was taken on a processor: then the operators that carry a
// shape are what was timed.
#include "profiles/import/formats.hpp"
#include "profiles/import/kineto_events.hpp"
#include "profiles/import/kineto_leaf.hpp"
#include "profiles/launch_sums.hpp"
#include "profiles/operator_layer.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <deque>
#include <functional>
#include <numeric>
#include <unordered_map>
#include <utility>

namespace eyeroof::profiles {

namespace {

// What a trace may take while its events are joined; a larger one is summed without its operators.
constexpr std::size_t kMostJoinedBytes = std::size_t{180} << 20U;

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
                "bad-time", std::to_string(bad_times_) + " kernels have no time or a negative one",
                "a kernel has `ts` and `dur` in microseconds; write the trace again",
                {input_.name, 0, 0});
        }
        if (!joins_ && built_.profile.launches.empty()) {
            return Result<Profile>::failure(
                "too-large", "the trace has no kernels and more operators than are joined",
                "trace fewer steps: torch.profiler.schedule(active=1)", {input_.name, 0, 0});
        }
        built_.profile.run = *head;
        built_.profile.run.tool = "kineto-json";
        if (joins_) {
            sort_tables();
            if (kernels_.empty()) {
                take_operators();
            } else {
                take_kernels();
            }
            take_copies();
        }
        auto& notes = built_.profile.notes;
        notes.insert(notes.end(), names_.profile.notes.begin(), names_.profile.notes.end());
        return std::move(built_.profile);
    }

  private:
    void take(const TraceEvent& event) {
        switch (event.kind) {
        case TraceKind::kernel:
            take_kernel(event);
            break;
        case TraceKind::copy:
            take_copy(event);
            break;
        case TraceKind::launch_call:
            if (joins_ && event.correlation != kNone) {
                calls_.push_back({event.correlation, static_cast<std::uint32_t>(calls_.size()),
                                  thread_of(event.thread), event.ts_us});
                count(sizeof(Call));
            }
            break;
        case TraceKind::cpu_op:
        case TraceKind::annotation:
        case TraceKind::python:
            if (joins_) {
                take_span(event);
            }
            break;
        case TraceKind::other:
            break;
        }
    }

    void take_kernel(const TraceEvent& event) {
        constexpr double kLatestUs = 9e15; // beyond, nanoseconds do not fit 63 bits
        if (event.dur_us < 0.0 || event.ts_us < 0.0 || event.ts_us > kLatestUs) {
            ++bad_times_;
            return;
        }
        const LaunchShape shape{event.grid, event.block, event.stream, event.device};
        if (!joins_) {
            Launch launch = launch_of(built_.kernel(event.name), shape);
            launch.duration_ns = event.dur_us * 1e3;
            sums_.add(built_.profile, std::move(launch));
            return;
        }
        const auto next = static_cast<std::uint32_t>(shapes_.size());
        const auto [at, fresh] = shape_numbers_.try_emplace(shape, next);
        if (fresh) {
            shapes_.push_back(shape);
            count(3 * sizeof(LaunchShape));
        }
        kernels_.push_back({event.ts_us, event.dur_us, event.correlation, event.external_id,
                            names_.kernel(event.name), at->second});
        count(sizeof(TracedKernel) + sizeof(Origin) + sizeof(Question));
    }

    void take_copy(const TraceEvent& event) {
        constexpr double kLatestUs = 9e15;
        const bool fine = event.dur_us >= 0.0 && event.ts_us >= 0.0 && event.ts_us < kLatestUs &&
                          event.bytes >= 0;
        if (!joins_ || !fine || copies_.size() >= kMostLaunches) {
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

    void take_span(const TraceEvent& event) {
        Span span;
        span.start_us = event.ts_us;
        span.end_us = event.ts_us + std::max(event.dur_us, 0.0);
        const std::uint32_t thread = thread_of(event.thread);
        if (event.kind == TraceKind::annotation) {
            span.range = names_.range(event.name);
            steps_.take(event.name, event.ts_us, event.dur_us);
        } else if (event.kind == TraceKind::python) {
            span.module = modules_.module(event.name.substr(kModule.size()));
        } else {
            span.sequence = event.sequence;
            span.backward = event.sequence != kNone && event.forward_thread != 0;
            span.module = modules_.hierarchy(event.modules);
            span.op = names_.op(event.op);
            span.carries_shape = !event.op.input_dims.empty() && carries_shape(event.name);
            tell_work(span);
            if (event.external_id != kNone) {
                named_.push_back(
                    {event.external_id, static_cast<std::uint32_t>(named_.size()), span.op});
                count(sizeof(Named));
            }
        }
        spans_[thread].push_back(span);
        count(sizeof(Span));
    }

    // The same for all calls with one name and dimensions.
    void tell_work(Span& span) {
        if (span.op == kNone) {
            return;
        }
        constexpr std::uint8_t kSaysWork = 1, kHasTensors = 2;
        const auto at = static_cast<std::size_t>(span.op);
        if (at >= works_.size()) {
            works_.resize(names_.profile.operators.size(), 0);
            const Operator& op = names_.profile.operators[at];
            works_[at] = static_cast<std::uint8_t>((any_layer_of(op) ? kSaysWork : 0) |
                                                   (has_tensors(op) ? kHasTensors : 0));
        }
        span.says_work = (works_[at] & kSaysWork) != 0;
        span.has_tensors = (works_[at] & kHasTensors) != 0;
    }

    std::uint32_t thread_of(const std::string& name) {
        const auto [it, added] =
            threads_.try_emplace(name, static_cast<std::uint32_t>(threads_.size()));
        if (added) {
            spans_.emplace_back();
            constexpr std::size_t kThreadBytes = 1024; // of the table and the first block of spans
            count(kThreadBytes + name.size());
        }
        return it->second;
    }

    // Counts what is kept for joining, and gives joining up where that is too much.
    void count(std::size_t bytes) {
        bytes_ += bytes;
        if (bytes_ <= kMostJoinedBytes || !joins_) {
            return;
        }
        joins_ = false;
        sums_.begin_sums(built_.profile);
        built_.profile.notes.emplace_back(
            "operators and ranges are not joined to kernels: the trace is "
            "too large");
        for (const TracedKernel& kernel : kernels_) {
            Launch launch = launch_of(kernel_number(kernel.kernel), shapes_[kernel.shape]);
            launch.duration_ns = kernel.dur_us * 1e3;
            sums_.add(built_.profile, std::move(launch));
        }
        release(kernels_);
        release(calls_);
        release(named_);
        release(spans_);
        release(threads_);
        release(shape_numbers_);
        release(copies_);
        names_ = {};
    }

    template <class Table> static void release(Table& table) { Table().swap(table); }

    Launch launch_of(std::uint32_t kernel, const LaunchShape& shape) {
        Launch launch;
        launch.source = built_.source(input_.name);
        launch.kernel = kernel;
        launch.grid = shape.grid;
        launch.block = shape.block;
        launch.stream = shape.stream;
        launch.device = shape.device;
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
    std::int32_t op_number(std::int32_t op) {
        return op == kNone ? kNone
                           : built_.op(names_.profile.operators[static_cast<std::size_t>(op)]);
    }
    std::int32_t range_number(std::int32_t range) {
        return range == kNone
                   ? kNone
                   : built_.range(names_.profile.ranges[static_cast<std::size_t>(range)]);
    }

    void sort_tables() {
        for (auto& spans : spans_) {
            std::ranges::sort(spans, [](const Span& a, const Span& b) {
                return a.start_us != b.start_us ? a.start_us < b.start_us : a.end_us > b.end_us;
            });
        }
        std::ranges::sort(calls_, {},
                          [](const Call& c) { return std::pair(c.correlation, c.order); });
        steps_.sort();
        std::ranges::sort(named_, {}, [](const Named& n) { return std::pair(n.id, n.order); });
    }

    // The last of the entries with this number; nullptr without one.
    template <class Table, class Number>
    static auto last_of(const Table& table, std::int64_t wanted, Number number) -> const
        typename Table::value_type* {
        const auto after = std::ranges::upper_bound(table, wanted, {}, number);
        const bool found =
            after != table.begin() && std::invoke(number, *std::prev(after)) == wanted;
        return found ? &*std::prev(after) : nullptr;
    }

    // Kernels in order of time, each with the operator and the range that launched it.
    void take_kernels() {
        const std::vector<Origin> origins = joined();
        std::vector<std::uint32_t> order(kernels_.size());
        std::iota(order.begin(), order.end(), 0U);
        std::ranges::stable_sort(order, {},
                                 [this](std::uint32_t i) { return kernels_[i].start_ns(); });
        for (const std::uint32_t i : order) {
            const TracedKernel& kernel = kernels_[i];
            Launch launch = launch_of(kernel_number(kernel.kernel), shapes_[kernel.shape]);
            launch.start_ns = kernel.start_ns();
            launch.duration_ns = kernel.dur_us * 1e3;
            const Origin& origin = origins[i];
            launch.called_ns = origin.called_ns;
            launch.step = origin.called_ns == kNone
                              ? kNone
                              : steps_.at(static_cast<double>(origin.called_ns) * 1e-3);
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

    void take_copies() {
        for (TracedCopy& traced : copies_) {
            traced.copy.source = built_.source(input_.name);
            if (const Call* call = last_of(calls_, traced.correlation, &Call::correlation)) {
                traced.copy.called_ns = std::llround(call->at_us * 1e3);
                traced.copy.step = steps_.at(call->at_us);
            }
            built_.profile.copies.push_back(traced.copy);
        }
        std::ranges::stable_sort(built_.profile.copies, {}, &DeviceCopy::start_ns);
    }

    std::vector<Origin> joined() {
        std::vector<std::vector<Question>> questions(spans_.size());
        for (std::uint32_t i = 0; i < kernels_.size(); ++i) {
            if (const Call* call = last_of(calls_, kernels_[i].correlation, &Call::correlation)) {
                questions[call->thread].push_back({call->at_us, i});
            }
        }
        std::vector<Origin> origins(kernels_.size());
        for (std::size_t thread = 0; thread < spans_.size(); ++thread) {
            answer(spans_[thread], questions[thread], origins);
        }
        modules_.give_gradients(origins);
        for (std::size_t i = 0; i < kernels_.size(); ++i) {
            const std::int64_t id = kernels_[i].external_id;
            const Named* named = id == kNone ? nullptr : last_of(named_, id, &Named::id);
            if (origins[i].op == kNone && named != nullptr) {
                origins[i].op = origins[i].leaf = named->op;
                origins[i].op_call = origins[i].leaf_call = kFirstExternalCall + id;
            }
        }
        return origins;
    }

    // Sweeps one thread's spans in order of time with the stack of those that are open.
    void answer(const std::deque<Span>& spans, std::vector<Question>& questions,
                std::vector<Origin>& origins) {
        std::ranges::sort(questions, {}, &Question::at_us);
        std::vector<std::size_t> open;
        std::size_t next = 0;
        for (const Question& question : questions) {
            for (; next < spans.size() && spans[next].start_us <= question.at_us; ++next) {
                close_before(spans[next].start_us, spans, open);
                open.push_back(next);
                modules_.opened(spans, open);
            }
            close_before(question.at_us, spans, open);
            Origin& origin = origins[question.kernel];
            origin = origin_of(spans, open);
            origin.module = modules_.of(spans, open);
            leaves_.add_to(origin, spans, open, calls_so_far_);
            constexpr double kLatestUs = 9e15;
            if (question.at_us >= 0.0 && question.at_us < kLatestUs) {
                origin.called_ns = std::llround(question.at_us * 1e3);
            }
        }
        calls_so_far_ += static_cast<std::int64_t>(spans.size());
    }

    // The outermost operators that carry a shape, with the time from their call
    // to their return. Without starts: what lies between two of them is other operators, and no
    // gap.
    void take_operators() {
        std::int64_t call = 0;
        for (const std::deque<Span>& spans : spans_) {
            double covered_us = -1.0;
            std::vector<std::size_t> open;
            for (std::size_t i = 0; i < spans.size(); ++i) {
                const Span& span = spans[i];
                close_before(span.start_us, spans, open);
                open.push_back(i);
                if (!span.carries_shape || span.start_us < covered_us ||
                    !(span.end_us > span.start_us)) {
                    continue;
                }
                covered_us = span.end_us;
                const Origin origin = origin_of(spans, open);
                Launch launch;
                launch.source = built_.source(input_.name);
                launch.kernel =
                    built_.kernel(names_.profile.operators[static_cast<std::size_t>(span.op)].name);
                launch.duration_ns = (span.end_us - span.start_us) * 1e3;
                launch.range = range_number(origin.range);
                launch.range_call = origin.range_call;
                launch.op = op_number(span.op);
                launch.op_call = call++;
                sums_.add(built_.profile, std::move(launch));
            }
            calls_so_far_ += static_cast<std::int64_t>(spans.size());
        }
        if (!built_.profile.launches.empty()) {
            built_.profile.notes.emplace_back("the trace holds no kernels: times are of operators "
                                              "on the processor, from call to return");
        }
    }

    static void close_before(double at_us, const std::deque<Span>& spans,
                             std::vector<std::size_t>& open) {
        while (!open.empty() && spans[open.back()].end_us < at_us) {
            open.pop_back();
        }
    }

    // The innermost operator that carries a shape, else the outermost operator; and the innermost
    // annotation.
    Origin origin_of(const std::deque<Span>& spans, const std::vector<std::size_t>& open) const {
        Origin origin;
        bool shaped = false;
        for (auto it = open.rbegin(); it != open.rend(); ++it) {
            const Span& span = spans[*it];
            const std::int64_t call = calls_so_far_ + static_cast<std::int64_t>(*it);
            if (span.range != kNone && origin.range == kNone) {
                origin.range = span.range;
                origin.range_call = call;
            }
            if (span.backward) { // the outermost of them
                origin.backward = true;
                origin.sequence = span.sequence;
            }
            if (span.op != kNone && !shaped) {
                origin.op = span.op;
                origin.op_call = call;
                shaped = span.carries_shape;
            }
        }
        return origin;
    }

    static constexpr std::int64_t kFirstExternalCall = std::int64_t{1} << 40;

    const ImportInput& input_;
    ProfileBuilder built_; // what is returned
    ProfileBuilder names_; // tables of all that was read
    LeafFinder leaves_{names_};
    ModuleFinder modules_{names_};
    LaunchSums sums_;
    bool joins_ = true;
    std::size_t bytes_ = 0; // that joining takes
    std::unordered_map<std::string, std::uint32_t> threads_;
    std::vector<std::deque<Span>> spans_; // by thread
    std::deque<Call> calls_;
    std::deque<Named> named_;
    std::deque<TracedKernel> kernels_;
    std::deque<TracedCopy> copies_;
    StepWindows steps_;
    std::vector<std::uint8_t> works_; // by number of names_'s operator
    std::vector<LaunchShape> shapes_;
    std::unordered_map<LaunchShape, std::uint32_t, LaunchShapeHash> shape_numbers_;
    std::vector<std::int64_t> kernel_numbers_; // of names_, in built_
    std::int64_t calls_so_far_ = 0;
    std::size_t bad_times_ = 0;
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
