#include "analysis/bound/program_bounds.hpp"

#include "analysis/bound/rereads.hpp"
#include "analysis/exam/best_mappings.hpp"
#include "analysis/exam/residency.hpp"
#include "analysis/program/lower.hpp"
#include "model/accelerator/residency.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace eyeroof::analysis::bound {

using model::Layer;
using model::Op;
using step::TensorId;

namespace {

constexpr std::size_t kStep4 = 4; // numbers of steps
constexpr std::size_t kStep7 = 7;
constexpr double kRounding = 1e-9;

// The share of a convolution's direct multiplications that every algorithm has to do.
double least_share(const Layer& layer) {
    const auto* c = std::get_if<model::ConvShape>(&layer.shape);
    if (c == nullptr) {
        return 1.0;
    }
    const auto along = [](Count taps, Count stride) {
        return static_cast<double>(std::min(taps, stride)) / static_cast<double>(taps);
    };
    return along(c->r, c->stride.h) * along(c->s, c->stride.w);
}

Wall wall_of(const Bound& b) {
    const double most = std::max({b.arithmetic_s, b.memory_s, b.on_chip_s, b.start_s});
    return most == b.arithmetic_s ? Wall::arithmetic
           : most == b.memory_s   ? Wall::memory
           : most == b.on_chip_s  ? Wall::on_chip
                                  : Wall::start;
}

Bound closed(Bound b) {
    b.time_s = b.start_s + std::max({b.arithmetic_s, b.memory_s, b.on_chip_s});
    b.wall = wall_of(b);
    return b;
}

// Words that a GEMM moves at least, see bound.hpp, in bytes.
double gemm_bytes(const Layer& layer, const Peaks& peaks) {
    const auto* g = std::get_if<model::GemmShape>(&layer.shape);
    const double word = model::bytes_per_element(layer.types.input);
    const double words = peaks.chip_bytes / word;
    if (g == nullptr || words <= 0.0) {
        return 0.0;
    }
    const double macs = static_cast<double>(g->batch) * static_cast<double>(g->m) *
                        static_cast<double>(g->n) * static_cast<double>(g->k);
    return std::max(2.0 * macs / std::sqrt(words) - 2.0 * words, 0.0) * word;
}

// Bytes of one run of a layer on an accelerator that cross its outermost memory whatever the
// mapping: the weights', and those of activations that no level keeps.
struct OuterBytes {
    double weights = 0.0, read = 0.0, written = 0.0;
};

OuterBytes outer_bytes_of(const Layer& layer, const model::Accelerator& accelerator) {
    OuterBytes bytes;
    const auto nests = nests_of(layer);
    if (!nests || !model::multiplies(layer.op)) {
        return bytes; // what a vector unit reads of a program's inputs is not counted
    }
    for (const model::Problem& nest : *nests) {
        for (const model::Operand o : model::kAllOperands) {
            (o == nest.produced            ? bytes.written
             : o == model::Operand::weight ? bytes.weights
                                           : bytes.read) +=
                model::compulsory_bytes(nest, accelerator, o);
        }
    }
    return bytes;
}

// Seconds of one run at a step's bound of the machine: what no mapping does better.
double machine_seconds(const MachineSummary& machine, const LayerReport& row, std::size_t step) {
    const double work = row.steps.back().macs_per_cycle * row.cycles;
    const double rate = row.machine_steps[step - 1].macs_per_cycle * machine.clock_hz;
    return rate > 0.0 ? work / rate : 0.0;
}

class Bounder {
  public:
    Bounder(const Question& question, const Report& report, const Peaks& peaks)
        : report_(report), graph_(report.program), peaks_(peaks),
          beside_(question.scenario.streams > 1), read_(graph_.tensors.size(), 0.0),
          written_(graph_.tensors.size(), 0.0) {
        if (peaks_.accelerator != nullptr && weight_keeper(*peaks_.accelerator) != nullptr) {
            scheduled_ = scheduled_machines(graph_, *peaks_.accelerator);
        }
    }

    ProgramBounds make() {
        of_layer_.resize(graph_.layers.size());
        for (const step::Operator& op : graph_.operators) {
            peaks_.gpu != nullptr ? add_on_gpu(op) : add_on_accelerator(op);
        }
        ProgramBounds made;
        made.unfused = unfused();
        made.fused = fused(0.0);
        const double reread = reread_bytes(graph_, peaks_.chip_bytes);
        made.cached = peaks_.gpu != nullptr
                          ? fused(std::max(alone_bytes_, made.fused.bytes + reread))
                          : made.fused;
        made.roofline = roofline(made.fused.bytes);
        // No execution without fusion is below one that may fuse.
        made.cached.time_s = std::max(made.cached.time_s, made.fused.time_s);
        made.unfused.time_s = std::max(made.unfused.time_s, made.cached.time_s);
        made.of_layer = std::move(of_layer_);
        return made;
    }

  private:
    // Of one pipe of a GPU, MAC/s. A peak that is published for a lower clock than boost is no
    // bound.
    double rate(const Layer& layer) const {
        const model::Gpu& gpu = *peaks_.gpu;
        const double clock = model::pipe_clock_hz(gpu, layer.types.input);
        return gpu.rate(layer.types.input).flops_per_s / 2.0 *
               (clock > 0.0 ? std::max(gpu.boost_hz / clock, 1.0) : 1.0);
    }

    // Bytes of the operator's tensors: what its layer counts, and no more than its tensors hold;
    // a layer that stands for another shape (depth as channels) counts some of them repeatedly.
    double bytes_of(const step::Operator& op, double& alone) {
        const auto work = model::work_of(graph_.layers[op.layer]);
        double held_read = 0.0;
        double held_written = 0.0;
        bool outside = true;
        for (const TensorId t : graph_.reads_of(op)) {
            held_read += static_cast<double>(graph_.tensors[t].bytes);
            outside = outside && graph_.tensors[t].producer == step::kNone;
        }
        for (const TensorId t : graph_.writes_of(op)) {
            held_written += static_cast<double>(graph_.tensors[t].bytes);
            outside = outside && graph_.tensors[t].output;
        }
        const bool fused = graph_.fused.contains(op.layer);
        const double counted_read = work ? static_cast<double>(work->bytes_read()) : 0.0;
        const double counted_written = work ? static_cast<double>(work->bytes_written()) : 0.0;
        const double read = fused ? held_read : std::min(held_read, counted_read);
        const double written = fused ? held_written : std::min(held_written, counted_written);
        share_out(op, read, written);
        const double gemm = fused ? 0.0 : gemm_bytes(graph_.layers[op.layer], peaks_);
        alone = outside && gemm > read + written ? gemm : 0.0;
        const Layer& layer = graph_.layers[op.layer];
        const Rows rows = rows_of(layer);
        const bool norm = !fused && layer.op != Op::avgpool && rows.count * rows.bytes <= read;
        const double again = norm ? rows.again(peaks_.chip_bytes) : 0.0;
        return std::max(read + written + again, gemm);
    }

    // What all readers of a tensor together read of it, at most.
    void share_out(const step::Operator& op, double read, double written) {
        for (const TensorId t : graph_.reads_of(op)) {
            read_[t] += read;
        }
        for (const TensorId t : graph_.writes_of(op)) {
            written_[t] = std::max(written_[t], written);
        }
    }

    void add_on_gpu(const step::Operator& op) {
        const Layer& layer = graph_.layers[op.layer];
        const auto work = model::work_of(layer);
        const double macs = work ? static_cast<double>(work->macs) : 0.0;
        const double peak = rate(layer);
        const double direct_s = macs > 0.0 && peak > 0.0 ? macs / peak : 0.0;
        Bound own;
        double alone = 0.0;
        own.arithmetic_s = least_share(layer) * direct_s;
        own.bytes = bytes_of(op, alone);
        alone_bytes_ = std::max(alone_bytes_, alone);
        own.memory_s = peaks_.outer_s(own.bytes);
        own.on_chip_s = peaks_.port_s(own.bytes);
        own.start_s = macs > 0.0 ? peaks_.start_s : 0.0;
        const auto pipe = static_cast<int>(peaks_.gpu->rate(layer.types.input).pipe);
        add(op, closed(own), pipe, direct_s);
    }

    // The machine's chain says what no mapping does better; bytes are those that cross the
    // outermost memory, which the exam counts alike.
    void add_on_accelerator(const step::Operator& op) {
        const LayerReport& row = report_.layers[op.layer];
        const OuterBytes moved = outer_bytes_of(
            row.layer, scheduled_.empty() ? *peaks_.accelerator : scheduled_[op.layer]);
        for (const TensorId t : graph_.reads_of(op)) {
            const bool weight = graph_.tensors[t].role == step::Role::weight;
            const double bytes = weight ? moved.weights : moved.read;
            read_[t] = read_[t] > 0.0 ? std::min(read_[t], bytes) : bytes;
        }
        for (const TensorId t : graph_.writes_of(op)) {
            written_[t] = moved.written;
        }
        Bound own;
        own.bytes = static_cast<double>(row.bytes);
        own.memory_s = peaks_.outer_s(own.bytes);
        own.arithmetic_s = row.macs > 0 ? machine_seconds(report_.machine, row, kStep4) : 0.0;
        const double least_s = machine_seconds(report_.machine, row, kStep7);
        own.on_chip_s =
            least_s > std::max(own.memory_s, own.arithmetic_s) * (1.0 + kRounding) ? least_s : 0.0;
        add(op, closed(own), 0, own.arithmetic_s);
    }

    void add(const step::Operator& op, const Bound& own, int pipe, double direct_s) {
        of_layer_[op.layer] = own;
        sum_.arithmetic_s += own.arithmetic_s;
        sum_.memory_s += own.memory_s;
        sum_.on_chip_s += own.on_chip_s;
        sum_.bytes += own.bytes;
        sum_.start_s += own.start_s;
        most_start_s_ = std::max(most_start_s_, own.start_s);
        sum_.time_s += own.time_s;
        pipes_[pipe] += own.arithmetic_s;
        direct_[pipe] += direct_s;
    }

    // Kernels of several streams may run beside each other: then only what each resource does adds
    // up, pipe by pipe.
    Bound unfused() const {
        Bound b = sum_;
        double pipe_s = 0.0;
        for (const auto& [pipe, seconds] : pipes_) {
            pipe_s = std::max(pipe_s, seconds);
        }
        if (beside_) {
            b.arithmetic_s = pipe_s;
            b.start_s = most_start_s_;
            return closed(b);
        }
        b.wall = wall_of(b);
        return b;
    }

    Bound fused(double least_bytes) const {
        Bound b;
        for (const auto& [pipe, seconds] : pipes_) {
            b.arithmetic_s = std::max(b.arithmetic_s, seconds);
        }
        for (std::size_t t = 0; t < graph_.tensors.size(); ++t) {
            const step::Tensor& tensor = graph_.tensors[t];
            // Words of an accelerator have widths of their own: its tensors' bytes say nothing.
            const double bytes = peaks_.gpu != nullptr ? static_cast<double>(tensor.bytes)
                                                       : std::max(read_[t], written_[t]);
            if (tensor.producer == step::kNone) {
                b.bytes += std::min(bytes, read_[t]);
            } else if (tensor.output) {
                b.bytes += std::min(bytes, written_[t]);
            }
        }
        b.bytes = std::max(b.bytes, least_bytes);
        b.memory_s = peaks_.outer_s(b.bytes);
        b.on_chip_s = peaks_.port_s(b.bytes);
        b.start_s = most_start_s_;
        return closed(b);
    }

    // What is usually called the speed of light: sums over the program, no bound.
    Bound roofline(double bytes) const {
        Bound b;
        for (const auto& [pipe, seconds] : direct_) {
            b.arithmetic_s = std::max(b.arithmetic_s, seconds);
        }
        b.bytes = bytes;
        b.memory_s = peaks_.outer_bytes_per_s > 0.0 ? bytes / peaks_.outer_bytes_per_s : 0.0;
        return closed(b);
    }

    const Report& report_;
    const step::Graph& graph_;
    const Peaks& peaks_;
    bool beside_ = false;                       // operators may run beside each other
    std::vector<model::Accelerator> scheduled_; // as each layer finds it; empty: all alike
    std::vector<Bound> of_layer_;
    std::vector<double> read_, written_; // of each tensor, bytes at most
    std::map<int, double> pipes_;        // arithmetic at peak
    std::map<int, double> direct_; // the same with every multiplication of a direct convolution
    Bound sum_;                    // of all operators
    double most_start_s_ = 0.0;
    double alone_bytes_ = 0.0; // of a GEMM between tensors that are there before and after
};
} // namespace

ProgramBounds bounds_of(const Question& question, const Report& report, const Peaks& peaks) {
    return Bounder(question, report, peaks).make();
}

} // namespace eyeroof::analysis::bound
