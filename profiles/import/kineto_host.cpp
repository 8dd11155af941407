#include "profiles/import/kineto_host.hpp"

#include "profiles/operator_functions.hpp"
#include "profiles/operator_layer.hpp"
#include "profiles/step_marks.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <utility>

namespace eyeroof::profiles {

namespace {

template <class Table> void free_table(Table& table) {
    Table().swap(table);
}

// The last of the entries with this number; the end without one.
template <class Table, class Number>
auto last_of(const Table& table, std::int64_t wanted, Number number) {
    const auto after = std::ranges::upper_bound(table, wanted, {}, number);
    const bool found = after != table.begin() && std::invoke(number, *std::prev(after)) == wanted;
    return found ? std::prev(after) : table.end();
}

// Calls that put no work on the device: most of a trace's.
bool launches_nothing(std::string_view call) {
    constexpr std::string_view kWords[] = {"Synchronize", "Event", "Occupancy", "Attribute",
                                           "IsCapturing"};
    return std::ranges::any_of(kWords, [call](std::string_view word) {
        return call.find(word) != std::string_view::npos;
    });
}

void close_before(double at_us, const std::deque<Span>& spans, std::vector<std::size_t>& open) {
    while (!open.empty() && spans[open.back()].end_us < at_us) {
        open.pop_back();
    }
}

} // namespace

std::size_t HostEvents::take_call(const TraceEvent& event) {
    if (launches_nothing(event.name)) {
        return 0;
    }
    std::uint32_t thread = 0;
    const std::size_t bytes = thread_of(event.thread, thread);
    calls_.push_back({event.correlation, static_cast<std::uint32_t>(calls_.size()), thread,
                      event.ts_us, event.name.find("GraphLaunch") != std::string::npos});
    return bytes + sizeof(Call);
}

std::size_t HostEvents::take_span(const TraceEvent& event) {
    Span span;
    span.start_us = event.ts_us;
    span.end_us = event.ts_us + std::max(event.dur_us, 0.0);
    std::uint32_t thread = 0;
    std::size_t bytes = sizeof(Span) + thread_of(event.thread, thread);
    if (event.kind == TraceKind::annotation) {
        span.range = names_.range(event.name);
        span.marks_step = step_kind(event.name).has_value();
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
            bytes += sizeof(Named);
        }
    }
    spans_[thread].push_back(span);
    return bytes;
}

// The same for all calls with one name and dimensions.
void HostEvents::tell_work(Span& span) {
    if (span.op == kNone) {
        return;
    }
    constexpr std::uint8_t kSaysWork = 1, kHasTensors = 2, kIsView = 4;
    const auto at = static_cast<std::size_t>(span.op);
    if (at >= works_.size()) {
        works_.resize(names_.profile.operators.size(), 0);
        const Operator& op = names_.profile.operators[at];
        works_[at] = static_cast<std::uint8_t>((any_layer_of(op) ? kSaysWork : 0) |
                                               (has_tensors(op) ? kHasTensors : 0) |
                                               (profiles::is_view(op.name) ? kIsView : 0));
    }
    span.says_work = (works_[at] & kSaysWork) != 0;
    span.has_tensors = (works_[at] & kHasTensors) != 0;
    span.is_view = (works_[at] & kIsView) != 0;
}

std::size_t HostEvents::thread_of(const std::string& name, std::uint32_t& thread) {
    const auto [it, added] =
        threads_.try_emplace(name, static_cast<std::uint32_t>(threads_.size()));
    thread = it->second;
    if (!added) {
        return 0;
    }
    spans_.emplace_back();
    constexpr std::size_t kThreadBytes = 1024; // of the table and the first block of spans
    return kThreadBytes + name.size();
}

void HostEvents::sort() {
    for (auto& spans : spans_) {
        std::ranges::sort(spans, [](const Span& a, const Span& b) {
            return a.start_us != b.start_us ? a.start_us < b.start_us : a.end_us > b.end_us;
        });
    }
    std::ranges::sort(calls_, {}, [](const Call& c) { return std::pair(c.correlation, c.order); });
    steps_.sort();
    std::ranges::sort(named_, {}, [](const Named& n) { return std::pair(n.id, n.order); });
}

std::optional<std::size_t> HostEvents::place_of(std::int64_t correlation) const {
    const auto at = last_of(calls_, correlation, &Call::correlation);
    return at == calls_.end() ? std::nullopt
                              : std::optional(static_cast<std::size_t>(at - calls_.begin()));
}

const Named* HostEvents::named(std::int64_t id) const {
    const auto at = id == kNone ? named_.end() : last_of(named_, id, &Named::id);
    return at == named_.end() ? nullptr : &*at;
}

void HostEvents::answer(std::vector<std::vector<Question>> questions, const UseOrigin& use) {
    for (std::size_t thread = 0; thread < spans_.size(); ++thread) {
        answer_thread(spans_[thread], questions[thread], use);
        free_table(questions[thread]);
    }
}

// Sweeps one thread's spans in order of time with the stack of those that are open.
void HostEvents::answer_thread(const std::deque<Span>& spans, std::vector<Question>& questions,
                               const UseOrigin& use) {
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
        Origin origin = origin_of(spans, open);
        origin.module = modules_.of(spans, open);
        leaves_.add_to(origin, spans, open, calls_so_far_);
        if (question.at_us >= 0.0 && question.at_us < kLatestUs) {
            origin.called_ns = std::llround(question.at_us * 1e3);
        }
        use(question.kernel, origin);
    }
    calls_so_far_ += static_cast<std::int64_t>(spans.size());
}

namespace {

bool says_work(const Span& span) {
    return (span.carries_shape || span.says_work) && !span.is_view && span.end_us > span.start_us;
}

// No operator is around it, and none within says its work.
bool stands_alone(const std::deque<Span>& spans, std::size_t at,
                  const std::vector<std::size_t>& open) {
    const Span& span = spans[at];
    const auto around = [&](std::size_t i) { return i != at && spans[i].op != kNone; };
    if (span.op == kNone || !span.has_tensors || span.is_view ||
        std::ranges::any_of(open, around)) {
        return false;
    }
    for (std::size_t i = at + 1; i < spans.size() && spans[i].start_us < span.end_us; ++i) {
        if (says_work(spans[i])) {
            return false;
        }
    }
    return true;
}

} // namespace

namespace {

// An operator that no other is around, and how long operators of known work within it took.
struct Region {
    const Span* span = nullptr;
    double known_us = 0.0;
};

// The rest of a region that mostly runs what has no event, as generated kernels.
void tell_rest(const Region& region, const HostEvents::UseOperator& use) {
    constexpr double kLeast_us = 50.0;
    const double all_us = region.span->end_us - region.span->start_us;
    const double rest_us = all_us - region.known_us;
    if (rest_us < kLeast_us || 2.0 * rest_us < all_us || region.span->is_view) {
        return;
    }
    Span rest = *region.span;
    rest.end_us = rest.start_us + rest_us;
    use(rest, {});
}

} // namespace

void HostEvents::each_operator(const UseOperator& use) {
    for (const std::deque<Span>& spans : spans_) {
        double covered_us = -1.0;
        std::vector<std::size_t> open;
        std::vector<Region> regions; // at the top, in order
        for (std::size_t i = 0; i < spans.size(); ++i) {
            const Span& span = spans[i];
            close_before(span.start_us, spans, open);
            open.push_back(i);
            if (span.op != kNone &&
                (regions.empty() || span.start_us >= regions.back().span->end_us)) {
                regions.push_back({&span, 0.0});
            }
            if (span.start_us < covered_us || !(span.end_us > span.start_us) ||
                (!says_work(span) && !stands_alone(spans, i, open))) {
                continue;
            }
            covered_us = span.end_us;
            if (!regions.empty() && span.start_us < regions.back().span->end_us) {
                regions.back().known_us += span.end_us - span.start_us;
            }
            use(span, origin_of(spans, open));
        }
        for (const Region& region : regions) {
            tell_rest(region, use);
        }
        calls_so_far_ += static_cast<std::int64_t>(spans.size());
    }
}

// The innermost operator that carries a shape, else the outermost operator; and the innermost
// annotation, behind the step's mark of an inference engine.
Origin HostEvents::origin_of(const std::deque<Span>& spans,
                             const std::vector<std::size_t>& open) const {
    Origin origin;
    bool shaped = false;
    std::int32_t mark = kNone;
    for (auto it = open.rbegin(); it != open.rend(); ++it) {
        const Span& span = spans[*it];
        const std::int64_t call = calls_so_far_ + static_cast<std::int64_t>(*it);
        if (span.range != kNone && origin.range == kNone) {
            origin.range = span.range;
            origin.range_call = call;
        }
        mark = span.marks_step ? span.range : mark;
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
    if (mark != kNone && mark != origin.range) {
        const auto& ranges = names_.profile.ranges;
        origin.range = names_.range(joined_range(ranges[static_cast<std::size_t>(mark)],
                                                 ranges[static_cast<std::size_t>(origin.range)]));
    }
    return origin;
}

void HostEvents::release_spans() {
    free_table(spans_);
    free_table(threads_);
}

void HostEvents::release() {
    release_spans();
    free_table(calls_);
    free_table(named_);
}

} // namespace eyeroof::profiles
