#include "analysis/step/streaming.hpp"

#include <algorithm>
#include <numeric>

namespace eyeroof::analysis::step {

namespace {

// Smaller weights stay, and parts are not cut below it: two buffers are for what takes long.
constexpr Count kLeastPart = Count{1} << 20;
// Below it the start of a copy over PCIe takes longer than its bytes.
constexpr Count kLeastActivation = Count{1} << 17;

// What each operator adds to the end of the step.
std::vector<double> durations(const Timeline& line) {
    std::vector<double> took;
    double end = 0.0;
    for (const Span& span : line.spans) {
        took.push_back(std::max(span.end_s - end, 0.0));
        end = std::max(end, span.end_s);
    }
    return took;
}

double copy_s(const Link& link, Count bytes) {
    return bytes > 0 ? link.start_s + static_cast<double>(bytes) / link.bytes_per_s : 0.0;
}

// A step's end while operators wait for copies.
struct Clock {
    double ended_s = 0.0;
    std::vector<std::pair<OperatorId, double>> waits;

    void run(OperatorId op, double ready_s, double took_s) {
        if (ready_s > ended_s) {
            waits.emplace_back(op, ready_s - ended_s);
            ended_s = ready_s;
        }
        ended_s += took_s;
    }
};

// The operators that it is between on the device, and those around its absence.
struct Away {
    TensorId tensor = kNone;
    Count bytes = 0;
    OperatorId after = 0, before = 0; // last forward use and first gradient; of weights unused
    double hides = 0.0;               // seconds a byte of the operators that read it
    bool at_once = false; // an activation whose operators wait, so that it is not there any longer
};

// 0, 1/2, 1/4, 3/4 …: any first few of these lie evenly in 0 to 1.
double spread(std::size_t n) {
    double value = 0.0;
    for (double half = 0.5; n > 0; half /= 2.0, n /= 2) {
        value += n % 2 == 1 ? half : 0.0;
    }
    return value;
}

// What hides its copies best first. Equal layers follow each other evenly spread over the network,
// so that the link is busy between them.
void sort_by_hiding(std::vector<Away>& all) {
    constexpr double kEqual = 1e-6;
    std::stable_sort(all.begin(), all.end(),
                     [](const Away& a, const Away& b) { return a.hides > b.hides; });
    for (std::size_t begin = 0, end = 0; begin < all.size(); begin = end) {
        while (end < all.size() && all[end].hides >= all[begin].hides * (1.0 - kEqual)) {
            ++end;
        }
        const std::vector<Away> equal(all.begin() + static_cast<std::ptrdiff_t>(begin),
                                      all.begin() + static_cast<std::ptrdiff_t>(end));
        std::vector<std::pair<double, std::size_t>> at; // where the n-th of them lies
        for (std::size_t n = 0; n < equal.size(); ++n) {
            at.emplace_back(spread(n), n);
        }
        std::sort(at.begin(), at.end());
        for (std::size_t n = 0; n < equal.size(); ++n) {
            all[begin + at[n].second] = equal[n];
        }
    }
}

Count bytes_of(const std::vector<Away>& all) {
    return std::accumulate(all.begin(), all.end(), Count{0},
                           [](Count sum, const Away& a) { return sum + a.bytes; });
}

// Finds the peak again after the curve has changed, with what holds it.
void settle(const Graph& graph, const std::vector<std::vector<bool>>& absent, Memory& memory) {
    memory.peak = 0;
    memory.holders.clear();
    for (std::size_t i = 0; i < memory.at.size(); ++i) {
        if (const Count total = total_of(memory.at[i]); total > memory.peak) {
            memory.peak = total;
            memory.peak_at = static_cast<OperatorId>(i);
            memory.at_peak = memory.at[i];
        }
    }
    const std::vector<Lifetime> lives = lifetimes_of(graph);
    for (TensorId t = 0; t < static_cast<TensorId>(lives.size()); ++t) {
        const bool here = lives[t].used && lives[t].first <= memory.peak_at &&
                          memory.peak_at <= lives[t].last &&
                          (absent[t].empty() || !absent[t][memory.peak_at]);
        if (here) {
            memory.holders.push_back({t, graph.tensors[t].bytes});
        }
    }
    std::stable_sort(memory.holders.begin(), memory.holders.end(),
                     [](const Holder& a, const Holder& b) { return a.bytes > b.bytes; });
    constexpr std::size_t kMost = 20;
    memory.holders.resize(std::min(memory.holders.size(), kMost));
}

Count peak_of(const Memory& memory) {
    Count peak = 0;
    for (const Bytes& at : memory.at) {
        peak = std::max(peak, total_of(at));
    }
    return peak;
}

// Weights -----------------------------------------------------------------------------------------

class Weights {
  public:
    Weights(const Graph& graph, const Timeline& line, const Memory& memory, const Link& link)
        : graph_(graph), took_(durations(line)), memory_(memory), link_(link) {
        std::vector<double> reads_s(graph.tensors.size(), 0.0);
        for (std::size_t i = 0; i < graph.operators.size(); ++i) {
            for (const TensorId t : graph.reads_of(graph.operators[i])) {
                reads_s[t] += took_[i];
            }
        }
        for (TensorId t = 0; t < static_cast<TensorId>(graph.tensors.size()); ++t) {
            const Tensor& tensor = graph.tensors[t];
            if (tensor.role == Role::weight && tensor.bytes >= kLeastPart) {
                all_.push_back(
                    {t, tensor.bytes, 0, 0, reads_s[t] / static_cast<double>(tensor.bytes)});
            }
        }
        sort_by_hiding(all_);
    }

    // The fastest of all sizes of parts that fit; finer ones expose less and cost more starts.
    Streamed within(Count limit) const {
        Count part = std::max(largest_read(marked(all_.size())), kLeastPart);
        std::optional<Streamed> best;
        while (true) {
            if (const std::size_t some = enough_of(part, limit); some <= all_.size()) {
                Streamed found = with(some, part, limit);
                best = !best || found.time_s < best->time_s ? std::move(found) : best;
            }
            if (part <= kLeastPart || (best && best->tensors == 0)) {
                return best ? *std::move(best) : with(all_.size(), part, limit);
            }
            part = std::max(part / 2, kLeastPart);
        }
    }

  private:
    std::vector<bool> marked(std::size_t some) const {
        std::vector<bool> leaves(graph_.tensors.size(), false);
        for (std::size_t n = 0; n < some; ++n) {
            leaves[all_[n].tensor] = true;
        }
        return leaves;
    }

    Count read_by(std::size_t op, const std::vector<bool>& leaves) const {
        Count bytes = 0;
        for (const TensorId t : graph_.reads_of(graph_.operators[op])) {
            bytes += leaves[t] ? graph_.tensors[t].bytes : 0;
        }
        return bytes;
    }

    Count largest_read(const std::vector<bool>& leaves) const {
        Count largest = 0;
        for (std::size_t i = 0; i < graph_.operators.size(); ++i) {
            largest = std::max(largest, read_by(i, leaves));
        }
        return largest;
    }

    // Two parts of different operators, or of one that is cut.
    Count buffers_of(const std::vector<bool>& leaves, Count part) const {
        Count largest = 0, second = 0;
        for (std::size_t i = 0; i < graph_.operators.size(); ++i) {
            const Count bytes = read_by(i, leaves);
            const Count one = std::min(bytes, part);
            second = std::max(second, bytes > part ? one : std::min(one, largest));
            largest = std::max(largest, one);
        }
        return largest + second;
    }

    Count peak_with(std::size_t some, Count part) const {
        Count left = memory_.peak;
        for (std::size_t n = 0; n < some; ++n) {
            left -= all_[n].bytes;
        }
        return some == 0 ? left : left + buffers_of(marked(some), part);
    }

    // How many of the first leave room enough; more than there are: none of them do.
    std::size_t enough_of(Count part, Count limit) const {
        if (memory_.peak <= limit) {
            return 0;
        }
        std::size_t low = 1, high = all_.size() + 1;
        while (low < high) {
            const std::size_t middle = (low + high) / 2;
            if (middle <= all_.size() && peak_with(middle, part) > limit) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return low;
    }

    Streamed with(std::size_t some, Count part, Count limit) const {
        const std::vector<bool> leaves = marked(some);
        Streamed result;
        Clock clock;
        double copied = 0.0, last = 0.0, before = 0.0; // ends of the last part and that before it
        for (std::size_t i = 0; i < graph_.operators.size(); ++i) {
            const Count bytes = read_by(i, leaves);
            const Count parts = bytes > 0 ? (bytes + part - 1) / part : 1;
            for (Count n = 0; n < parts; ++n) {
                const Count own = bytes * (n + 1) / parts - bytes * n / parts;
                copied = own > 0 ? std::max(copied, before) + copy_s(link_, own) : copied;
                clock.run(static_cast<OperatorId>(i), own > 0 ? copied : 0.0,
                          took_[i] / static_cast<double>(parts));
                before = own > 0 ? last : before;
                last = own > 0 ? clock.ended_s : last;
                result.part = std::max(result.part, own);
            }
            result.to_device += bytes;
        }
        result.time_s = clock.ended_s;
        result.waits = std::move(clock.waits);
        result.tensors = some;
        result.of = bytes_of(all_);
        for (std::size_t n = 0; n < some; ++n) {
            result.streamed += all_[n].bytes;
        }
        result.memory = memory_;
        const Count less = result.streamed - (some > 0 ? buffers_of(leaves, part) : 0);
        for (Bytes& at : result.memory.at) {
            at[static_cast<std::size_t>(Role::weight)] -= less;
        }
        result.memory.resident -= less;
        std::vector<std::vector<bool>> absent(graph_.tensors.size());
        for (std::size_t n = 0; n < some; ++n) {
            absent[all_[n].tensor].assign(graph_.operators.size(), true);
        }
        settle(graph_, absent, result.memory);
        result.fits = result.memory.peak <= limit;
        return result;
    }

    const Graph& graph_;
    std::vector<double> took_;
    const Memory& memory_;
    const Link& link_;
    std::vector<Away> all_; // what hides its copies best first
};

// Activations -------------------------------------------------------------------------------------

// The order in which tensors leave and come, and when.
struct Transfers {
    std::vector<Away> out, in;       // by last forward use, by first gradient
    std::vector<OperatorId> held;    // of `out`: it is there to this operator's end
    std::vector<OperatorId> trigger; // of `in`: it begins to come at this operator's end
};

Transfers transfers_of(const std::vector<Away>& some, OperatorId first_gradient) {
    Transfers all{some, some, {}, {}};
    const auto by = [](auto member) {
        return [member](const Away& a, const Away& b) {
            return a.*member != b.*member ? a.*member < b.*member : a.tensor < b.tensor;
        };
    };
    std::sort(all.out.begin(), all.out.end(), by(&Away::after));
    std::sort(all.in.begin(), all.in.end(), by(&Away::before));
    for (std::size_t j = 0; j < some.size(); ++j) {
        const OperatorId next = j + 1 < some.size() ? all.out[j + 1].after : all.out[j].after + 1;
        const OperatorId early =
            j < 2 ? first_gradient - 1 : std::min(all.in[j - 2].before, all.in[j].before - 1);
        all.held.push_back(all.out[j].at_once ? all.out[j].after : next);
        all.trigger.push_back(all.in[j].at_once ? all.in[j].before - 1 : early);
    }
    return all;
}

class Activations {
  public:
    Activations(const Graph& graph, const Timeline& line, const Memory& memory, const Link& link)
        : graph_(graph), took_(durations(line)), memory_(memory), link_(link) {
        find();
        sort_by_hiding(all_);
    }

    Streamed within(Count limit) const {
        std::size_t low = 0, high = all_.size(); // so many suffice, if any number does
        while (low < high) {
            const std::size_t middle = (low + high) / 2;
            if (peak_of(memory_with(first(middle), nullptr)) <= limit) {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        return with(needed(tightened(first(low), limit), limit), limit);
    }

  private:
    // Where even all of them leave the peak above the limit, those leave and come at once that are
    // at the peak only because they are early or late.
    std::vector<Away> tightened(std::vector<Away> some, Count limit) const {
        for (bool more = true; more;) {
            const Memory memory = memory_with(some, nullptr);
            const auto peak = std::max_element(
                memory.at.begin(), memory.at.end(),
                [](const Bytes& a, const Bytes& b) { return total_of(a) < total_of(b); });
            if (peak == memory.at.end() || total_of(*peak) <= limit) {
                return some;
            }
            const auto at = static_cast<OperatorId>(peak - memory.at.begin());
            more = false;
            for (Away& one : some) {
                const bool beside = one.after < at && at < one.before;
                more = more || (beside && !one.at_once);
                one.at_once = one.at_once || beside;
            }
        }
        return some;
    }

    // Without those that the limit does not ask for: what hides its copies worst stays first.
    std::vector<Away> needed(std::vector<Away> some, Count limit) const {
        constexpr std::size_t kMostTried = 512; // each try walks over the step
        std::size_t tried = 0;
        for (std::size_t n = some.size(); n-- > 0 && tried < kMostTried; ++tried) {
            std::vector<Away> fewer = some;
            fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(n));
            if (peak_of(memory_with(fewer, nullptr)) <= limit) {
                some = std::move(fewer);
            }
        }
        return some;
    }

    std::vector<Away> first(std::size_t some) const {
        return {all_.begin(), all_.begin() + static_cast<std::ptrdiff_t>(some)};
    }

    // Activations that the forward half reads last, well before a gradient reads them.
    void find() {
        const auto operators = static_cast<OperatorId>(graph_.operators.size());
        std::vector<Away> found(graph_.tensors.size());
        std::vector<bool> forward(graph_.tensors.size(), false), back(graph_.tensors.size(), false);
        first_gradient_ = operators;
        for (OperatorId i = 0; i < operators; ++i) {
            const Operator& op = graph_.operators[i];
            const bool gradient = op.kind != model::Issued::forward;
            first_gradient_ = gradient ? std::min(first_gradient_, i) : first_gradient_;
            const auto touch = [&](TensorId t) {
                if (!gradient) {
                    found[t].after = i;
                    forward[t] = true;
                } else if (!back[t]) {
                    found[t].before = i;
                    back[t] = true;
                }
            };
            for (const TensorId t : graph_.reads_of(op)) {
                touch(t);
            }
            for (const TensorId t : graph_.writes_of(op)) {
                touch(t);
            }
        }
        for (TensorId t = 0; t < static_cast<TensorId>(found.size()); ++t) {
            const Tensor& tensor = graph_.tensors[t];
            Away& one = found[t];
            const bool away = tensor.role == Role::activation && !tensor.output && forward[t] &&
                              back[t] && one.after + 2 < one.before &&
                              tensor.bytes >= kLeastActivation;
            if (away) {
                one.tensor = t;
                one.bytes = tensor.bytes;
                one.hides = (took_[one.after] + took_[one.before]) / static_cast<double>(one.bytes);
                all_.push_back(one);
            }
        }
    }

    // `absent`: where it is asked for, at which operators each tensor is away.
    Memory memory_with(const std::vector<Away>& some,
                       std::vector<std::vector<bool>>* absent) const {
        constexpr auto kActivations = static_cast<std::size_t>(Role::activation);
        const Transfers all = transfers_of(some, first_gradient_);
        std::vector<OperatorId> trigger(graph_.tensors.size(), 0);
        for (std::size_t j = 0; j < all.in.size(); ++j) {
            trigger[all.in[j].tensor] = all.trigger[j];
        }
        Memory memory = memory_;
        std::vector<Count> away(memory.at.size() + 1, 0); // differences
        for (std::size_t j = 0; j < all.out.size(); ++j) {
            const Away& one = all.out[j];
            for (OperatorId i = all.held[j] + 1; absent != nullptr && i <= trigger[one.tensor];
                 ++i) {
                (*absent)[one.tensor].resize(memory.at.size(), false);
                (*absent)[one.tensor][i] = true;
            }
            if (all.held[j] < trigger[one.tensor]) {
                away[all.held[j] + 1] += one.bytes;
                away[trigger[one.tensor] + 1] -= one.bytes;
            }
        }
        Count now = 0;
        for (std::size_t i = 0; i < memory.at.size(); ++i) {
            now += away[i];
            memory.at[i][kActivations] -= now;
        }
        return memory;
    }

    Streamed with(const std::vector<Away>& some, Count limit) const {
        const Transfers all = transfers_of(some, first_gradient_);
        Streamed result;
        Clock clock;
        std::vector<double> gone_s(graph_.tensors.size(), 0.0), come_s = gone_s, ends;
        std::size_t leaving = 0, gone = 0, coming = 0;
        double out_s = 0.0, in_s = 0.0;
        for (OperatorId i = 0; i < static_cast<OperatorId>(graph_.operators.size()); ++i) {
            double ready = 0.0;
            for (; gone < leaving && all.held[gone] < i; ++gone) {
                ready = std::max(ready, gone_s[all.out[gone].tensor]);
            }
            for (; coming < all.in.size() && all.trigger[coming] < i; ++coming) {
                const Away& one = all.in[coming];
                in_s = std::max({in_s, ends[all.trigger[coming]], gone_s[one.tensor]}) +
                       copy_s(link_, one.bytes);
                come_s[one.tensor] = in_s;
            }
            for (const TensorId t : graph_.reads_of(graph_.operators[i])) {
                ready = std::max(ready, come_s[t]);
            }
            clock.run(i, ready, took_[i]);
            ends.push_back(clock.ended_s);
            for (; leaving < all.out.size() && all.out[leaving].after == i; ++leaving) {
                out_s = std::max(out_s, clock.ended_s) + copy_s(link_, all.out[leaving].bytes);
                gone_s[all.out[leaving].tensor] = out_s;
            }
        }
        result.time_s = clock.ended_s;
        result.waits = std::move(clock.waits);
        result.tensors = some.size();
        result.streamed = result.to_device = result.to_host = bytes_of(some);
        result.of = bytes_of(all_);
        for (const Away& one : some) {
            result.part = std::max(result.part, one.bytes);
        }
        std::vector<std::vector<bool>> absent(graph_.tensors.size());
        result.memory = memory_with(some, &absent);
        settle(graph_, absent, result.memory);
        result.fits = result.memory.peak <= limit;
        return result;
    }

    const Graph& graph_;
    std::vector<double> took_;
    const Memory& memory_;
    const Link& link_;
    OperatorId first_gradient_ = 0;
    std::vector<Away> all_; // what hides its copies best first
};

} // namespace

Link pcie_of(const model::Gpu& gpu) {
    constexpr Count kMany = 1'000'000'000, kFew = 4;
    if (gpu.pcie_bytes_per_s <= 0.0 || gpu.arch == model::GpuArch::host) {
        return {};
    }
    const double start_s = copy_seconds(gpu, kFew, false);
    const double rest_s = copy_seconds(gpu, kMany, false) - start_s;
    return {static_cast<double>(kMany - kFew) / std::max(rest_s, 1e-15), start_s};
}

Diagnostics check_stream(Operand operand, bool training, const Link& link) {
    Diagnostics found;
    if (training != (operand == Operand::activations)) {
        training ? found.error("usage", "weights stream in inference; a training step updates them",
                               "--stream activations, or --phase inference")
                 : found.error("usage", "inference keeps no activations for gradients",
                               "--stream weights, or --phase training");
    }
    if (link.bytes_per_s <= 0.0) {
        found.error("no-link", "the machine names no link to its host",
                    "write its bandwidth, as in --link 25GB/s");
    }
    return found;
}

Streamed stream(const Graph& graph, const Timeline& line, const Memory& memory, Operand operand,
                const Link& link, Count limit) {
    Streamed result = operand == Operand::weights
                          ? Weights(graph, line, memory, link).within(limit)
                          : Activations(graph, line, memory, link).within(limit);
    result.alone_s = line.time_s;
    result.time_s = std::max(result.time_s, line.time_s);
    std::stable_sort(result.waits.begin(), result.waits.end(),
                     [](const auto& a, const auto& b) { return a.second > b.second; });
    return result;
}

} // namespace eyeroof::analysis::step
