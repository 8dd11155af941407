// PyTorch profiler (Kineto): kernels joined to the operator that launched them, with its
// dimensions. kernel -> correlation -> launch call -> the operators open on that thread at that
// time; of these the nearest that carries a shape. Without a launch call, the External id names the
// operator. A trace without any kernel was taken on a processor: then the operators that carry a
// shape are what was timed.
#include "profiles/import/formats.hpp"
#include "profiles/import/kineto_events.hpp"
#include "profiles/operator_work.hpp"

#include <algorithm>
#include <cmath>
#include <unordered_map>

namespace eyeroof::profiles {

namespace {

// Compact, because a trace holds millions: everything that is text lives in a table.
struct Span {
    double start_us = 0.0, end_us = 0.0;
    std::int32_t op = kNone;    // an operator …
    std::int32_t range = kNone; // … or an annotation
    bool carries_shape = false;
};
struct Call {
    std::uint32_t thread = 0;
    double at_us = 0.0;
};
struct Origin {
    std::int32_t op = kNone, range = kNone;
    std::int64_t op_call = kNone, range_call = kNone;
};
// A launch whose origin is to be looked up on one thread.
struct Question {
    double at_us = 0.0;
    std::size_t launch = 0;
};

class KinetoReader {
  public:
    explicit KinetoReader(const ImportInput& input)
        : input_(input), source_(built_.source(input.name)) {}

    model::Result<Profile> run() {
        auto source = input_.open();
        if (!source) {
            return model::Result<Profile>(source.diagnostics());
        }
        auto head = read_trace_events(**source, [this](const TraceEvent& event) { take(event); });
        if (!head) {
            return model::Result<Profile>(head.diagnostics());
        }
        if (bad_times_ > 0) {
            return model::Result<Profile>::failure(
                "bad-time", std::to_string(bad_times_) + " kernels have no time or a negative one",
                "a kernel has `ts` and `dur` in microseconds; write the trace again",
                {input_.name, 0, 0});
        }
        built_.profile.run = *head;
        built_.profile.run.tool = "kineto-json";
        const bool on_processor = built_.profile.launches.empty();
        join();
        if (on_processor) {
            take_operators();
        }
        order_by_start();
        return std::move(built_.profile);
    }

  private:
    void take(const TraceEvent& event) {
        switch (event.kind) {
        case TraceKind::kernel:
            take_kernel(event);
            break;
        case TraceKind::launch_call:
            if (event.correlation != kNone) {
                calls_[event.correlation] = {thread_of(event.thread), event.ts_us};
            }
            break;
        case TraceKind::cpu_op:
        case TraceKind::annotation:
            take_span(event);
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
        Launch launch;
        launch.source = source_;
        launch.kernel = built_.kernel(event.name);
        launch.grid = event.grid;
        launch.block = event.block;
        launch.stream = event.stream;
        launch.device = event.device;
        launch.start_ns = std::llround(event.ts_us * 1e3);
        launch.duration_ns = event.dur_us * 1e3;
        correlations_.push_back(event.correlation);
        external_ids_.push_back(event.external_id);
        built_.profile.launches.push_back(std::move(launch));
    }

    void take_span(const TraceEvent& event) {
        Span span;
        span.start_us = event.ts_us;
        span.end_us = event.ts_us + std::max(event.dur_us, 0.0);
        const std::uint32_t thread = thread_of(event.thread);
        if (event.kind == TraceKind::annotation) {
            span.range = built_.range(event.name);
        } else {
            span.op = built_.op(event.op);
            span.carries_shape = !event.op.input_dims.empty() && carries_shape(event.name);
            if (event.external_id != kNone) {
                by_external_id_[event.external_id] = {span.op, kNone, event.external_id, kNone};
            }
        }
        spans_[thread].push_back(span);
    }

    std::uint32_t thread_of(const std::string& name) {
        const auto [it, added] =
            threads_.try_emplace(name, static_cast<std::uint32_t>(threads_.size()));
        if (added) {
            spans_.emplace_back();
        }
        return it->second;
    }

    void join() {
        std::vector<std::vector<Question>> questions(spans_.size());
        auto& launches = built_.profile.launches;
        for (std::size_t i = 0; i < launches.size(); ++i) {
            const auto call = calls_.find(correlations_[i]);
            if (call != calls_.end()) {
                questions[call->second.thread].push_back({call->second.at_us, i});
            }
        }
        for (std::size_t thread = 0; thread < spans_.size(); ++thread) {
            answer(spans_[thread], questions[thread]);
        }
        for (std::size_t i = 0; i < launches.size(); ++i) {
            const auto named = by_external_id_.find(external_ids_[i]);
            if (launches[i].op == kNone && named != by_external_id_.end()) {
                launches[i].op = named->second.op;
                launches[i].op_call = kFirstExternalCall + named->second.op_call;
            }
        }
    }

    // Sweeps one thread's spans in order of time with the stack of those that are open.
    void answer(std::vector<Span>& spans, std::vector<Question>& questions) {
        std::ranges::sort(spans, [](const Span& a, const Span& b) {
            return a.start_us != b.start_us ? a.start_us < b.start_us : a.end_us > b.end_us;
        });
        std::ranges::sort(questions, {}, &Question::at_us);
        std::vector<std::size_t> open;
        std::size_t next = 0;
        for (const Question& question : questions) {
            for (; next < spans.size() && spans[next].start_us <= question.at_us; ++next) {
                close_before(spans[next].start_us, spans, open);
                open.push_back(next);
            }
            close_before(question.at_us, spans, open);
            give(origin_of(spans, open), built_.profile.launches[question.launch]);
        }
        calls_so_far_ += static_cast<std::int64_t>(spans.size());
    }

    // The outermost operators that carry a shape, with the time from their call to their return.
    // Without starts: what lies between two of them is other operators, and no gap.
    void take_operators() {
        std::int64_t call = 0;
        for (const std::vector<Span>& spans : spans_) { // sorted by join()
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
                Launch launch;
                launch.source = source_;
                const std::string name =
                    built_.profile.operators[static_cast<std::size_t>(span.op)].name;
                launch.kernel = built_.kernel(name);
                launch.duration_ns = (span.end_us - span.start_us) * 1e3;
                launch.range = origin_of(spans, open).range;
                launch.range_call = origin_of(spans, open).range_call;
                launch.op = span.op;
                launch.op_call = call++;
                built_.profile.launches.push_back(std::move(launch));
            }
        }
        if (!built_.profile.launches.empty()) {
            built_.profile.notes.emplace_back("the trace holds no kernels: times are of operators "
                                              "on the processor, from call to return");
        }
    }

    static void close_before(double at_us, const std::vector<Span>& spans,
                             std::vector<std::size_t>& open) {
        while (!open.empty() && spans[open.back()].end_us < at_us) {
            open.pop_back();
        }
    }

    // The innermost operator that carries a shape, else the outermost operator; and the innermost
    // annotation.
    Origin origin_of(const std::vector<Span>& spans, const std::vector<std::size_t>& open) const {
        Origin origin;
        bool shaped = false;
        for (auto it = open.rbegin(); it != open.rend(); ++it) {
            const Span& span = spans[*it];
            const std::int64_t call = calls_so_far_ + static_cast<std::int64_t>(*it);
            if (span.range != kNone && origin.range == kNone) {
                origin.range = span.range;
                origin.range_call = call;
            }
            if (span.op != kNone && !shaped) {
                origin.op = span.op;
                origin.op_call = call;
                shaped = span.carries_shape;
            }
        }
        return origin;
    }

    static void give(const Origin& origin, Launch& launch) {
        launch.op = origin.op;
        launch.op_call = origin.op_call;
        launch.range = origin.range;
        launch.range_call = origin.range_call;
    }

    // Writes launches in order of time and drops the table entries that no launch uses.
    void order_by_start() {
        if (!std::ranges::is_sorted(built_.profile.launches, {}, &Launch::start_ns)) {
            std::ranges::stable_sort(built_.profile.launches, {}, &Launch::start_ns);
        }
        auto all = filter(std::move(built_.profile), {});
        built_.profile = std::move(all).value();
    }

    static constexpr std::int64_t kFirstExternalCall = std::int64_t{1} << 40;

    const ImportInput& input_;
    ProfileBuilder built_;
    std::uint32_t source_ = 0;
    std::unordered_map<std::string, std::uint32_t> threads_;
    std::vector<std::vector<Span>> spans_; // by thread
    std::unordered_map<std::int64_t, Call> calls_;
    std::unordered_map<std::int64_t, Origin> by_external_id_;
    std::vector<std::int64_t> correlations_, external_ids_; // by launch
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
    model::Result<Profile> read(const ImportInput& input) const override {
        return KinetoReader(input).run();
    }
};

} // namespace

const Importer& kineto_importer() {
    static const KinetoImporter importer;
    return importer;
}

} // namespace eyeroof::profiles
