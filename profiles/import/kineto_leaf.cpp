#include "profiles/import/kineto_leaf.hpp"

#include "profiles/operator_layer.hpp"
#include "profiles/step_marks.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

namespace eyeroof::profiles {

CopyKind copy_kind(std::string_view name) {
    const auto says = [&](const char* part) { return name.find(part) != std::string_view::npos; };
    return says("HtoD") || says("HostToDevice")   ? CopyKind::host_to_device
           : says("DtoH") || says("DeviceToHost") ? CopyKind::device_to_host
           : says("PtoP") || says("Peer")         ? CopyKind::to_peer
           : says("set") || says("Set")           ? CopyKind::fill
                                                  : CopyKind::on_device;
}

void StepWindows::take(std::string_view annotation, double start_us, double dur_us) {
    constexpr std::string_view kStep = "ProfilerStep#";
    constexpr std::size_t kMostSteps = 10'000;
    if (engine_.size() < kMostSteps && step_kind(annotation)) {
        engine_.push_back({start_us, start_us + std::max(dur_us, 0.0), 0});
    }
    if (!annotation.starts_with(kStep) || steps_.size() >= kMostSteps) {
        return;
    }
    const std::string_view digits = annotation.substr(kStep.size());
    std::int32_t number = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (error == std::errc{} && end == digits.data() + digits.size() && number >= 0) {
        steps_.push_back({start_us, start_us + std::max(dur_us, 0.0), number});
    }
}

void StepWindows::sort() {
    if (steps_.empty()) {
        steps_ = std::exchange(engine_, {});
        std::ranges::stable_sort(steps_, {}, &StepWindow::start_us);
        for (std::size_t i = 0; i < steps_.size(); ++i) {
            steps_[i].number = static_cast<std::int32_t>(i);
        }
    }
    std::ranges::sort(steps_, {}, &StepWindow::start_us);
}

std::int32_t StepWindows::at(double us) const {
    const auto after = std::ranges::upper_bound(steps_, us, {}, &StepWindow::start_us);
    const bool inside = after != steps_.begin() && us < std::prev(after)->end_us;
    return inside ? std::prev(after)->number : kNone;
}

void LeafFinder::add_to(Origin& origin, const std::deque<Span>& spans,
                        const std::vector<std::size_t>& open, std::int64_t first_call) {
    std::size_t innermost = spans.size(), tensors = spans.size();
    for (auto it = open.rbegin(); it != open.rend(); ++it) {
        const Span& span = spans[*it];
        if (span.op == kNone) {
            continue;
        }
        if (span.says_work) {
            origin.leaf = span.op;
            origin.leaf_call = first_call + static_cast<std::int64_t>(*it);
            return;
        }
        innermost = innermost == spans.size() ? *it : innermost;
        const bool serves =
            span.has_tensors && (!communicates(spans[innermost]) || communicates(span));
        tensors = tensors == spans.size() && serves ? *it : tensors;
    }
    if (innermost == spans.size()) {
        return;
    }
    const std::size_t at = tensors == spans.size() ? innermost : tensors;
    const std::size_t from = tensors == spans.size() ? beside(spans, at) : spans.size();
    origin.leaf = from == spans.size() ? spans[at].op : borrowed(spans[at].op, spans[from].op);
    origin.leaf_call = first_call + static_cast<std::int64_t>(at);
}

// Of a collective the last operator before it that has tensors, else the next one behind: what
// reads the result.
std::size_t LeafFinder::beside(const std::deque<Span>& spans, std::size_t at) const {
    constexpr std::size_t kFar = 16;
    if (communicates(spans[at])) {
        std::size_t passed = 0;
        for (std::size_t i = at; i-- > 0 && passed < kFar;) {
            passed += spans[i].module == kNone ? 1 : 0;
            if (spans[i].end_us <= spans[at].start_us && is_source(spans[i])) {
                return i;
            }
        }
        return spans.size();
    }
    std::size_t passed = 1;
    for (std::size_t i = at + 1; i < spans.size() && passed < kFar; ++i) {
        passed += spans[i].module == kNone ? 1 : 0;
        if (spans[i].start_us >= spans[at].end_us && is_source(spans[i])) {
            return i;
        }
    }
    return spans.size();
}

// A collective; its tensors are not those of an operator around it.
bool LeafFinder::communicates(const Span& span) const {
    return is_collective(names_.profile.operators[static_cast<std::size_t>(span.op)].name);
}

bool LeafFinder::is_source(const Span& span) const {
    if (span.op == kNone || !span.has_tensors) {
        return false;
    }
    const Operator& op = names_.profile.operators[static_cast<std::size_t>(span.op)];
    constexpr std::size_t kScalar = 1;
    return std::ranges::any_of(op.input_dims, [](const auto& dims) {
        return dims.size() > kScalar ||
               (!dims.empty() && dims[0] > static_cast<std::int64_t>(kScalar));
    });
}

std::int32_t LeafFinder::borrowed(std::int32_t to, std::int32_t from) {
    Operator op = names_.profile.operators[static_cast<std::size_t>(to)];
    const Operator& other = names_.profile.operators[static_cast<std::size_t>(from)];
    op.input_dims = other.input_dims;
    op.input_types = other.input_types;
    op.concrete_inputs.clear();
    op.borrowed_from = other.name;
    const std::int32_t number = names_.op(op);
    return number == kNone ? to : number;
}

std::int32_t ModuleFinder::module(std::string_view name) {
    any_ = true;
    return names_.range(name.substr(0, kLongestPath));
}

std::int32_t ModuleFinder::hierarchy(std::string_view text) {
    std::string path(text.substr(0, kLongestPath));
    std::ranges::replace(path, '.', '/');
    any_ = any_ || !path.empty();
    return names_.range(path);
}

void ModuleFinder::opened(const std::deque<Span>& spans, const std::vector<std::size_t>& open) {
    const Span& span = spans[open.back()];
    if (any_ && span.sequence != kNone && !span.backward) {
        of_sequence_[span.sequence] = of(spans, open);
    }
}

std::int32_t ModuleFinder::of(const std::deque<Span>& spans, const std::vector<std::size_t>& open) {
    if (!any_) {
        return kNone;
    }
    std::string path;
    for (const std::size_t i : open) {
        if (path.size() >= kLongestPath) {
            break;
        }
        if (spans[i].module == kNone) {
            continue;
        }
        const std::string& name = names_.profile.ranges[static_cast<std::size_t>(spans[i].module)];
        if (spans[i].op != kNone) {
            path = name;
        } else {
            path.append(path.empty() ? "" : "/").append(name);
        }
    }
    return names_.range(path.substr(0, kLongestPath));
}

void ModuleFinder::give_gradients(std::vector<Origin>& origins) const {
    for (Origin& origin : origins) {
        const auto at = of_sequence_.find(origin.sequence);
        if (origin.backward && at != of_sequence_.end()) {
            origin.module = at->second;
        }
    }
}

} // namespace eyeroof::profiles
