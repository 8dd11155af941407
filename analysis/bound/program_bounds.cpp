#include "analysis/bound/program_bounds.hpp"

#include "analysis/bound/rereads.hpp"
#include "analysis/exam/best_mappings.hpp"
#include "analysis/exam/nest_figures.hpp"
#include "analysis/exam/residency.hpp"
#include "analysis/program/lower.hpp"
#include "model/accelerator/residency.hpp"
#include "model/vector_unit.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <span>

namespace eyeroof::analysis::bound {

using model::Layer;
using model::Op;
using step::TensorId;

namespace {

constexpr std::size_t kStep4 = 4; // numbers of steps
constexpr std::size_t kStep7 = 7;
constexpr double kRounding = 1e-9;
constexpr model::OperandSet kEvery = {model::Operand::input, model::Operand::weight,
                                      model::Operand::output};

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
// mapping, as the exam counts them.
model::PassingBytes outer_bytes_of(const Layer& layer, const model::Accelerator& accelerator) {
    const auto work = model::work_of(layer);
    const auto nests = nests_of(layer);
    if (!work || !nests) {
        return {};
    }
    if (nests->empty() || work->macs == 0) {
        return accelerator.vector_unit ? model::vector_cost(layer, *work, accelerator).outer
                                       : outer_only(layer, *work, accelerator).outer;
    }
    model::PassingBytes bytes;
    for (const model::Problem& nest : *nests) {
        for (const model::Operand o : model::kAllOperands) {
            (o == nest.produced ? bytes.up : bytes.down)[model::index(o)] +=
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
          written_(graph_.tensors.size(), 0.0), reads_(graph_.tensors.size()),
          writes_(graph_.tensors.size()) {
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
        made.cached =
            peaks_.gpu != nullptr
                ? fused(std::max(alone_bytes_,
                                 made.fused.bytes + reread_bytes(graph_, peaks_.chip_bytes)))
                : made.fused;
        made.roofline = roofline(made.fused);
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

    // What of an operator's bytes tensors move: even shares, no more than another operator says.
    struct Moved {
        double bytes = model::kUnlimited; // at least, by one of the operators
        model::OperandSet as;             // by all of them
    };

    void share_out(std::span<const TensorId> tensors, const model::PerOperand<double>& bytes,
                   model::OperandSet operands, std::vector<Moved>& moved) const {
        double sum = 0.0;
        for (const model::Operand o : model::kAllOperands) {
            sum += operands.contains(o) ? bytes[model::index(o)] : 0.0;
        }
        for (const TensorId t : tensors) {
            moved[t].bytes = std::min(moved[t].bytes, sum / static_cast<double>(tensors.size()));
            for (const model::Operand o : model::kAllOperands) {
                if (operands.contains(o) && bytes[model::index(o)] > 0.0) {
                    moved[t].as.insert(o);
                }
            }
        }
    }

    // Where no tensor is the network's weight, the second operand of a product is data.
    void share_out(const step::Operator& op, const model::PassingBytes& moved) {
        using model::Operand;
        const auto reads = graph_.reads_of(op);
        std::vector<TensorId> weights, others;
        for (const TensorId t : reads) {
            (graph_.tensors[t].role == step::Role::weight ? weights : others).push_back(t);
        }
        if (!weights.empty() && (report_.layers[op.layer].macs > 0 ||
                                 moved.down[model::index(Operand::weight)] > 0.0)) {
            share_out(weights, moved.down, {Operand::weight}, reads_);
            share_out(others, moved.down, {Operand::input, Operand::output}, reads_);
        } else {
            share_out(reads, moved.down, kEvery, reads_);
        }
        share_out(graph_.writes_of(op), moved.up, kEvery, writes_);
    }

    double outer_s(const model::PassingBytes& bytes) const {
        return model::passing_cycles(peaks_.accelerator->levels.front(), bytes) /
               peaks_.accelerator->clock_hz;
    }

    // The machine's chain says what no mapping does better; bytes are those that cross the
    // outermost memory, which the exam counts alike.
    void add_on_accelerator(const step::Operator& op) {
        const LayerReport& row = report_.layers[op.layer];
        const model::PassingBytes moved = outer_bytes_of(
            row.layer, scheduled_.empty() ? *peaks_.accelerator : scheduled_[op.layer]);
        share_out(op, moved);
        Bound own;
        own.bytes = static_cast<double>(row.bytes);
        own.memory_s = outer_s(moved);
        own.arithmetic_s = row.macs > 0 ? machine_seconds(report_.machine, row, kStep4) : 0.0;
        const double least_s = machine_seconds(report_.machine, row, kStep7);
        own.on_chip_s =
            least_s > std::max(own.memory_s, own.arithmetic_s) * (1.0 + kRounding) ? least_s : 0.0;
        add(op, closed(own), 0, own.arithmetic_s);
    }

    // Do all of these operands pass the same store and network of the outermost memory?
    bool one_path(const model::OperandSet& operands) const {
        const model::Level& outer = peaks_.accelerator->levels.front();
        std::set<std::pair<const model::Store*, const model::Channel*>> paths;
        for (const model::Operand o : model::kAllOperands) {
            if (operands.contains(o)) {
                paths.emplace(model::store_of(outer, o), model::channel_of(outer, o));
            }
        }
        return paths.size() == 1;
    }

    // The program's inputs, states, and weights in, its outputs out. Bytes that may take one of
    // several ways take no time.
    void add_outside(Bound& b) const {
        model::PassingBytes passing;
        const auto pass = [&](const Moved& moved, model::PerOperand<double>& bytes) {
            b.bytes += std::isfinite(moved.bytes) ? moved.bytes : 0.0;
            for (const model::Operand o : model::kAllOperands) {
                if (moved.as.contains(o) && one_path(moved.as)) {
                    bytes[model::index(o)] += moved.bytes;
                    return;
                }
            }
        };
        for (std::size_t t = 0; t < graph_.tensors.size(); ++t) {
            if (graph_.tensors[t].producer == step::kNone) {
                pass(reads_[t], passing.down);
            } else if (graph_.tensors[t].output) {
                pass(writes_[t], passing.up);
            }
        }
        b.memory_s = outer_s(passing);
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
        if (peaks_.gpu == nullptr) {
            add_outside(b);
            b.start_s = most_start_s_;
            return closed(b);
        }
        for (std::size_t t = 0; t < graph_.tensors.size(); ++t) {
            const step::Tensor& tensor = graph_.tensors[t];
            const auto bytes = static_cast<double>(tensor.bytes);
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
    Bound roofline(const Bound& fused) const {
        Bound b;
        for (const auto& [pipe, seconds] : direct_) {
            b.arithmetic_s = std::max(b.arithmetic_s, seconds);
        }
        b.bytes = fused.bytes;
        b.memory_s = peaks_.gpu == nullptr            ? fused.memory_s
                     : peaks_.outer_bytes_per_s > 0.0 ? b.bytes / peaks_.outer_bytes_per_s
                                                      : 0.0;
        return closed(b);
    }

    const Report& report_;
    const step::Graph& graph_;
    const Peaks& peaks_;
    bool beside_ = false;                       // operators may run beside each other
    std::vector<model::Accelerator> scheduled_; // as each layer finds it; empty: all alike
    std::vector<Bound> of_layer_;
    std::vector<double> read_, written_; // of each tensor, bytes at most; on GPUs
    std::vector<Moved> reads_, writes_;  // the same; on accelerators
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
