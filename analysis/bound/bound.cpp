#include "analysis/bound/bound.hpp"

#include "analysis/exam/best_mappings.hpp"
#include "analysis/exam/report_warnings.hpp"
#include "analysis/exam/run.hpp"
#include "analysis/program/lower.hpp"
#include "analysis/what_if/headline.hpp"
#include "base/units.hpp"
#include "model/accelerator/residency.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

namespace eyeroof::analysis::bound {

using model::Gpu;
using model::Layer;
using model::Op;
using step::OperatorId;
using step::TensorId;

std::string_view wall_text(Wall wall) {
    constexpr std::array<std::string_view, 4> texts = {"arithmetic", "memory", "on-chip", "start"};
    return texts[static_cast<std::size_t>(wall)];
}

namespace {

// Registers, and the most shared memory and L1, of an SM, bytes: where a file does not say.
constexpr double kRegisterBytes = 262144.0;
constexpr double kSharedBytes = 262144.0;
constexpr std::size_t kStep4 = 4; // numbers of steps
constexpr std::size_t kStep7 = 7;
constexpr double kRounding = 1e-9;
constexpr double kStart_s = 1.2e-6; // of a kernel of products: see bound.hpp

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

// Rates of a machine that no execution exceeds.
struct Peaks {
    const Gpu* gpu = nullptr;                        // one of the two
    const model::Accelerator* accelerator = nullptr; //
    double outer_bytes_per_s = 0.0;
    double port_bytes_per_s = 0.0; // 0: not bounded
    double cache_bytes = 0.0;      // that may hold data from the run before
    double chip_bytes = 0.0;       // all of the chip's stores

    double outer_s(double bytes) const {
        return outer_bytes_per_s > 0.0 ? std::max(bytes - cache_bytes, 0.0) / outer_bytes_per_s
                                       : 0.0;
    }
    double port_s(double bytes) const {
        return port_bytes_per_s > 0.0 ? bytes / port_bytes_per_s : 0.0;
    }
};

Peaks peaks_of(const Question& question, const MachineSummary& machine) {
    Peaks peaks;
    peaks.gpu = std::get_if<Gpu>(&question.machine.kind);
    peaks.outer_bytes_per_s = machine.outer_bytes_per_s;
    if (peaks.gpu != nullptr) {
        const Gpu& gpu = *peaks.gpu;
        peaks.cache_bytes = gpu.l2_bytes;
        peaks.port_bytes_per_s = model::l2_port_bandwidth(gpu);
        const bool host = gpu.arch == model::GpuArch::host;
        peaks.chip_bytes =
            gpu.l2_bytes + (host ? 0.0
                                 : gpu.sms * (std::max(gpu.registers_bytes_per_sm, kRegisterBytes) +
                                              std::max(gpu.shared_bytes_per_sm, kSharedBytes)));
        return peaks;
    }
    const auto& accelerator = std::get<model::Accelerator>(question.machine.kind);
    peaks.accelerator = &accelerator;
    double per_cycle = 0.0; // both directions of every channel at once
    for (const model::Channel& channel : accelerator.levels.front().channels) {
        per_cycle +=
            channel.down_bytes_per_cycle + (channel.half_duplex ? 0.0 : channel.up_bytes_per_cycle);
    }
    peaks.outer_bytes_per_s = per_cycle * accelerator.clock_hz;
    double instances = 1.0;
    for (const model::Level& level : accelerator.levels) {
        for (const model::Store& store : level.stores) {
            peaks.chip_bytes += instances * static_cast<double>(store.capacity_bytes.value_or(0));
        }
        for (const model::Axis& axis : level.fanout) {
            instances *= static_cast<double>(axis.size);
        }
    }
    return peaks;
}

// Results along a dimension whose window's tap over `pad` lies inside: each has an input of its
// own.
Count inside(Count size, Count results, Count taps, Count stride, Count pad, Count dilation) {
    const Count shift = (pad + dilation - 1) / dilation * dilation - pad;
    const bool held = shift + pad <= dilation * (taps - 1) && shift < size;
    return held ? std::min(results, (size - 1 - shift) / stride + 1) : 0;
}

// Results of a product that have an operand of their own each, which no other of them needs.
double own_operands(const Layer& layer) {
    const auto at = [](Count a, Count b) { return static_cast<double>(std::min(a, b)); };
    if (const auto* g = std::get_if<model::GemmShape>(&layer.shape)) {
        return static_cast<double>(g->batch) * static_cast<double>(g->m) * at(g->k, g->n);
    }
    const auto* c = std::get_if<model::ConvShape>(&layer.shape);
    if (c == nullptr || c->depth != 1 || c->groups != 1) {
        return 0.0;
    }
    return static_cast<double>(c->n) * at(c->c, c->k) *
           static_cast<double>(inside(c->h, c->p(), c->r, c->stride.h, c->pad.h, c->dilation.h)) *
           static_cast<double>(inside(c->w, c->q(), c->s, c->stride.w, c->pad.w, c->dilation.w));
}

// Does every result depend on an element of each operand that no other result needs?
bool of_own_elements(const Layer& layer) {
    constexpr std::array<std::string_view, 7> others = {"permute", "transpose", "copy", "concat",
                                                        "pick",    "dropout",   "where"};
    const auto* e = std::get_if<model::ElementwiseShape>(&layer.shape);
    const auto* r = std::get_if<model::RowsShape>(&layer.shape);
    return e != nullptr ? std::find(others.begin(), others.end(), e->fn) == others.end()
                        : layer.op == Op::batchnorm && r != nullptr && r->images == 0;
}

// What depends on the whole of a row before any of its results: bytes of a row, and their number.
struct Rows {
    double count = 0.0, bytes = 0.0;

    // A row is read again after its last element was read, but for what the chip may hold of it.
    double again(double chip_bytes) const { return count * std::max(bytes - chip_bytes, 0.0); }
};

Rows rows_of(const Layer& layer) {
    const double width = model::bytes_per_element(layer.types.input);
    const auto* rows = std::get_if<model::RowsShape>(&layer.shape);
    const bool statistics = layer.op == Op::softmax || layer.op == Op::layernorm ||
                            (layer.op == Op::batchnorm && rows != nullptr && rows->images > 0);
    if (rows != nullptr && statistics && layer.direction == model::Direction::fwd) {
        return {static_cast<double>(rows->rows), width * static_cast<double>(rows->cols)};
    }
    const auto* pool = std::get_if<model::PoolShape>(&layer.shape);
    const bool whole = pool != nullptr && pool->p() == 1 && pool->q() == 1 && pool->pad.h == 0 &&
                       pool->pad.w == 0 && pool->r == pool->h && pool->s == pool->w;
    return whole ? Rows{static_cast<double>(pool->n) * static_cast<double>(pool->c),
                        width * static_cast<double>(pool->h) * static_cast<double>(pool->w)}
                 : Rows{};
}

// Readings of the program's inputs that the chip's size forces however operators are fused, and
// whatever is computed again: see bound.hpp.
class Rereads {
  public:
    Rereads(const step::Graph& graph, double chip_bytes)
        : graph_(graph), chip_bytes_(chip_bytes), flows_(graph.tensors.size()),
          waits_(graph.tensors.size(), step::kNone) {
        for (const step::Operator& op : graph.operators) {
            if (!graph.fused.contains(op.layer)) {
                pass(op);
            }
        }
    }

    double bytes() const {
        double sum = 0.0;
        for (const auto& [input, again] : again_) {
            sum += again;
        }
        return sum;
    }

  private:
    // Bytes of a tensor that depend on as many of one input, each on its own.
    struct Flow {
        TensorId input = step::kNone;
        double bytes = 0.0;
        bool mixed = false; // by a product: its rows share what they are made of
    };

    double bytes_of(TensorId t) const { return static_cast<double>(graph_.tensors[t].bytes); }

    Flow flow_of(TensorId t) const {
        return graph_.tensors[t].producer == step::kNone ? Flow{t, bytes_of(t)} : flows_[t];
    }

    // Not of a part of the tensor, nor of one that is repeated.
    bool covers(const Rows& rows, TensorId t) const {
        return std::abs(rows.count * rows.bytes - bytes_of(t)) < 1e-3 * bytes_of(t);
    }

    void pass(const step::Operator& op) {
        const Layer& layer = graph_.layers[op.layer];
        const auto reads = graph_.reads_of(op);
        const auto writes = graph_.writes_of(op);
        if (reads.empty() || writes.empty() || layer.direction != model::Direction::fwd) {
            return;
        }
        const Rows rows = rows_of(layer);
        Flow flow = flow_of(reads[0]);
        TensorId waited = step::kNone;
        if (layer.op == Op::gemm || layer.op == Op::conv2d) {
            flow.bytes = std::min(flow.bytes, own_operands(layer) *
                                                  model::bytes_per_element(layer.types.input));
            flow.input = flow.mixed ? step::kNone : flow.input;
            flow.mixed = true;
        } else if (layer.op == Op::avgpool && rows.count == 1.0 && covers(rows, reads[0]) &&
                   !flow.mixed) {
            waited = flow.input;
            flow = {};
        } else if (rows.count > 0.0 && covers(rows, reads[0])) {
            add_norm(layer.op, flow, rows);
        } else if (of_own_elements(layer)) {
            waited = combined(reads, flow);
        } else {
            flow = {};
        }
        for (const TensorId t : writes) {
            waits_[t] = waited;
            flows_[t] = {flow.input, std::min(flow.bytes, bytes_of(t)), flow.mixed};
        }
    }

    // A norm reads its rows twice. Where a product made them, only a batch's statistics need all
    // that it read.
    void add_norm(Op op, const Flow& flow, const Rows& rows) {
        if (flow.input == step::kNone) {
            return;
        }
        if (!flow.mixed && covers(rows, flow.input)) {
            add(flow.input, rows.again(chip_bytes_));
        } else if (flow.mixed && op == Op::batchnorm) {
            add(flow.input, Rows{1.0, flow.bytes}.again(chip_bytes_));
        }
    }

    // Whatever of a tensor is combined with a sum over all of it waits for its last element.
    TensorId combined(const std::vector<TensorId>& reads, Flow& flow) {
        TensorId waited = step::kNone;
        for (const TensorId t : reads) {
            waited = waits_[t] != step::kNone ? waits_[t] : waited;
            const Flow other = flow_of(t);
            flow = other.bytes > flow.bytes ? other : flow;
        }
        const bool whole = waited != step::kNone && waited == flow.input && !flow.mixed &&
                           covers({1.0, flow.bytes}, waited);
        if (whole) {
            add(waited, Rows{1.0, flow.bytes}.again(chip_bytes_));
        }
        return waited;
    }

    void add(TensorId input, double again) {
        if (input != step::kNone) {
            again_[input] = std::max(again_[input], again);
        }
    }

    const step::Graph& graph_;
    double chip_bytes_ = 0.0;
    std::vector<Flow> flows_;
    std::vector<TensorId> waits_; // for the sum over this input
    std::map<TensorId, double> again_;
};

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
    Bounder(const Question& question, const Report& report)
        : report_(report), graph_(report.program), peaks_(peaks_of(question, report.machine)),
          rereads_(graph_, peaks_.chip_bytes), beside_(question.scenario.streams > 1),
          read_(graph_.tensors.size(), 0.0), written_(graph_.tensors.size(), 0.0) {}

    BoundReport make() {
        of_layer_.resize(graph_.layers.size());
        for (const step::Operator& op : graph_.operators) {
            peaks_.gpu != nullptr ? add_on_gpu(op) : add_on_accelerator(op);
        }
        BoundReport made;
        made.unfused = unfused();
        made.fused = fused(0.0);
        made.cached = peaks_.gpu != nullptr
                          ? fused(std::max(alone_bytes_, made.fused.bytes + rereads_.bytes()))
                          : made.fused;
        made.roofline = roofline(made.fused.bytes);
        // No execution without fusion is below one that may fuse.
        made.cached.time_s = std::max(made.cached.time_s, made.fused.time_s);
        made.unfused.time_s = std::max(made.unfused.time_s, made.cached.time_s);
        made.operators = operators();
        return made;
    }

    const Peaks& peaks() const { return peaks_; }
    const Bound& of_layer(std::size_t layer) const { return of_layer_[layer]; }

  private:
    // Of one pipe of a GPU, MAC/s. A peak that is published for a lower clock than boost is no
    // bound.
    double rate(const Layer& layer) const {
        const Gpu& gpu = *peaks_.gpu;
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
        own.start_s = macs > 0.0 && peaks_.gpu->arch != model::GpuArch::host ? kStart_s : 0.0;
        const auto pipe = static_cast<int>(peaks_.gpu->rate(layer.types.input).pipe);
        add(op, closed(own), pipe, direct_s);
    }

    // The machine's chain says what no mapping does better; bytes are those that cross the
    // outermost memory, which the exam counts alike.
    void add_on_accelerator(const step::Operator& op) {
        const LayerReport& row = report_.layers[op.layer];
        const OuterBytes moved = outer_bytes_of(row.layer, *peaks_.accelerator);
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

    std::vector<OperatorBound> operators() const {
        std::vector<OperatorBound> rows;
        for (std::uint32_t i = 0; i < graph_.layers.size(); ++i) {
            rows.push_back({graph_.layers[i].name, graph_.layers[i].count, of_layer_[i],
                            report_.layers[i].time_s});
        }
        const auto gain = [](const OperatorBound& o) {
            return static_cast<double>(o.runs) * (o.predicted_s - o.bound.time_s);
        };
        std::stable_sort(rows.begin(), rows.end(),
                         [&](const auto& a, const auto& b) { return gain(a) > gain(b); });
        return rows;
    }

    const Report& report_;
    const step::Graph& graph_;
    Peaks peaks_;
    Rereads rereads_;
    bool beside_ = false; // operators may run beside each other
    std::vector<Bound> of_layer_;
    std::vector<double> read_, written_; // of each tensor, bytes at most
    std::map<int, double> pipes_;        // arithmetic at peak
    std::map<int, double> direct_; // the same with every multiplication of a direct convolution
    Bound sum_;                    // of all operators
    double most_start_s_ = 0.0;
    double alone_bytes_ = 0.0; // of a GEMM between tensors that are there before and after
};

std::string assumptions_of(const Peaks& peaks) {
    if (peaks.gpu == nullptr) {
        return "no mapping does better (step 7 of the machine's chain); data as wide as the "
               "machine stores them; activations that fit a level which keeps them stay on the "
               "chip between layers, the network's input and output too; no weights are kept";
    }
    return fmt::format("data sheet peaks at {}, {} to memory, a last-level cache of {} that may "
                       "hold data from the run before, and the start of a kernel of products",
                       format_si(peaks.gpu->boost_hz, "Hz"),
                       format_si(peaks.outer_bytes_per_s, "B/s"),
                       format_si(peaks.cache_bytes, "B"));
}

// What kernels take above their operators' bounds, by what they do meanwhile.
struct Excess {
    double arithmetic_s = 0.0, traffic_s = 0.0, on_chip_s = 0.0, start_s = 0.0;

    void add(const LayerReport& row, const Bound& bound) {
        const auto runs = static_cast<double>(row.layer.count);
        TimeSplit left = row.split;
        double spent = bound.time_s; // by the bound's own wall first
        const auto spend = [&](double& from) {
            const double taken = std::min(from, spent);
            from -= taken;
            spent -= taken;
        };
        if (bound.wall == Wall::arithmetic) {
            spend(left.compute_s);
        }
        if (bound.wall == Wall::start) {
            spend(left.on_chip_stall_s);
        }
        spend(left.dram_stall_s);
        spend(left.on_chip_stall_s);
        spend(left.compute_s);
        spend(left.overhead_s);
        arithmetic_s += runs * left.compute_s;
        traffic_s += runs * left.dram_stall_s;
        on_chip_s += runs * left.on_chip_stall_s;
        start_s += runs * left.overhead_s;
    }
};

Excess excess_of(const Bounder& bounder, const Report& report) {
    Excess excess;
    for (std::size_t i = 0; i < report.layers.size(); ++i) {
        excess.add(report.layers[i], bounder.of_layer(i));
    }
    return excess;
}

// What all kernels or mappings take above their bounds, by what they do meanwhile. Where kernels
// run beside each other, their excess shrinks alike.
void add_kernels(const Excess& excess, double above_s, std::vector<GapPart>& parts) {
    const double all = excess.arithmetic_s + excess.traffic_s + excess.on_chip_s + excess.start_s;
    const double scale = all > 0.0 ? above_s / all : 0.0;
    parts.push_back({"arithmetic", scale * excess.arithmetic_s,
                     "below peak rates: tensor cores unused, clocks, multiplications of direct "
                     "convolution"});
    parts.push_back({"traffic", scale * excess.traffic_s,
                     "memory above compulsory bytes, and below the data sheet's bandwidth"});
    parts.push_back({"tails and stalls", all > 0.0 ? scale * excess.on_chip_s : above_s,
                     "partial waves, low occupancy, operand loads, dependent steps"});
    parts.push_back(
        {"kernel starts", scale * excess.start_s, "filling and draining an empty device"});
}

// Seconds that at least one kernel runs.
double busy_s(const Report& report) {
    return report.machine.kind == "accelerator" ? report.total.time_s : report.timeline.busy_s;
}

// A measurement below the prediction: its parts above the bound are that much shorter.
void scale_to(const BoundReport& made, std::vector<GapPart>& parts) {
    const double bound_s = std::min(made.fused.time_s, *made.measured_s);
    const double above_s = made.predicted_s - made.fused.time_s;
    const double scale = above_s > 0.0 ? (*made.measured_s - bound_s) / above_s : 0.0;
    parts.front().seconds = bound_s;
    for (std::size_t i = 1; i < parts.size(); ++i) {
        parts[i].seconds *= scale;
    }
}

// From the bound upwards: traffic that fusion would spare, kernels above their own bounds,
// launches, and what is left. None is negative.
std::vector<GapPart> gap_of(const BoundReport& made, const Bounder& bounder, const Report& report) {
    std::vector<GapPart> parts;
    const double busy = busy_s(report);
    parts.push_back(
        {"speed of light", made.fused.time_s,
         fmt::format("{} of inputs, weights, and outputs", wall_text(made.fused.wall))});
    parts.push_back({"unfused traffic", made.unfused.time_s - made.fused.time_s,
                     "tensors between operators, each written and read again"});
    add_kernels(excess_of(bounder, report), std::max(busy - made.unfused.time_s, 0.0), parts);
    parts.push_back({"launch", std::max(made.predicted_s - busy, 0.0),
                     "the device waits for the host or for copies"});
    if (!made.measured_s) {
        return parts;
    }
    const bool within = made.low_s && made.high_s && *made.measured_s >= *made.low_s &&
                        *made.measured_s <= *made.high_s;
    const std::string interval =
        within ? "within the prediction's interval" : "outside of the prediction's interval";
    const double above_s = *made.measured_s - made.predicted_s;
    if (above_s < 0.0) {
        scale_to(made, parts);
    }
    parts.push_back({"unexplained", std::max(above_s, 0.0),
                     above_s >= 0.0
                         ? interval
                         : fmt::format("the prediction is {} above the measurement, {}; the parts "
                                       "above the bound are scaled to it",
                                       format_si(-above_s, "s"), interval)});
    return parts;
}

// Kernels that a compiler made of several operators, the largest few by name.
std::string fused_words(const Report& report) {
    constexpr std::size_t kShown = 3;
    std::vector<std::pair<std::size_t, std::string>> groups;
    for (const auto& [layer, fused] : report.program.fused) {
        if (fused.members.size() > 1) {
            groups.emplace_back(fused.members.size(), report.program.layers[layer].name);
        }
    }
    if (groups.empty()) {
        return {};
    }
    std::stable_sort(groups.begin(), groups.end(),
                     [](const auto& a, const auto& b) { return a.first > b.first; });
    std::string words = fmt::format("{} kernel{} of several operators: ", groups.size(),
                                    groups.size() == 1 ? "" : "s");
    for (std::size_t i = 0; i < std::min(kShown, groups.size()); ++i) {
        words += (i == 0 ? "" : ", ") + groups[i].second;
    }
    return words;
}

// The same program compiled, captured, both, with channels last, and in 16 bits.
std::vector<Change> changes_of(const Question& question, const std::stop_token& stop) {
    std::vector<Change> changes;
    const auto* gpu = std::get_if<Gpu>(&question.machine.kind);
    if (gpu == nullptr || gpu->arch == model::GpuArch::host) {
        return changes;
    }
    const auto with = [&](std::string name, const auto& change) {
        Question other = question;
        change(other.scenario);
        if (other.scenario == question.scenario) {
            return;
        }
        if (const auto report = run(other, stop)) {
            changes.push_back({std::move(name), report->total.time_s, fused_words(*report)});
        }
    };
    with("compiled", [](Scenario& s) { s.compiled = true; });
    with("captured graph", [](Scenario& s) { s.launch = model::Launch::graph; });
    with("compiled, captured graph", [](Scenario& s) {
        s.compiled = true;
        s.launch = model::Launch::graph;
    });
    const bool convolves =
        std::any_of(question.network.layers.begin(), question.network.layers.end(),
                    [](const Layer& l) { return l.op == Op::conv2d; });
    if (convolves && layout_of(question) == model::Layout::channels_first) {
        with("channels last", [](Scenario& s) { s.layout = model::Layout::channels_last; });
    }
    for (const model::DataType type : {model::DataType::tf32, model::DataType::fp16}) {
        const bool narrower = std::any_of(
            question.network.layers.begin(), question.network.layers.end(), [&](const Layer& l) {
                return model::multiplies(l.op) &&
                       gpu->rate(type).flops_per_s > gpu->rate(l.types.input).flops_per_s;
            });
        if (narrower && !question.scenario.data_type) {
            with(std::string(model::data_type_name(type)),
                 [&](Scenario& s) { s.data_type = type; });
        }
    }
    std::stable_sort(changes.begin(), changes.end(),
                     [](const Change& a, const Change& b) { return a.time_s < b.time_s; });
    return changes;
}

} // namespace

Result<BoundReport> bound(const Question& question, std::optional<double> measured_s,
                          const std::stop_token& stop) {
    auto report = run(question, stop);
    if (!report) {
        return report.diagnostics();
    }
    find_headline(*report, question, stop);
    Bounder bounder(question, *report);
    BoundReport made = bounder.make();
    made.words = report->words;
    made.network = report->network_name;
    made.machine = report->machine.name;
    made.assumptions = assumptions_of(bounder.peaks());
    made.predicted_s = report->total.time_s;
    made.low_s = report->total.low_s;
    made.high_s = report->total.high_s;
    made.measured_s = measured_s;
    made.headline = report->headline;
    made.gap = gap_of(made, bounder, *report);
    made.changes = changes_of(question, stop);
    Diagnostics said = report.diagnostics();
    if (measured_s && *measured_s < made.fused.time_s) {
        said.warning("below-bound",
                     fmt::format("the measured {} are below the fused bound of {}",
                                 format_si(*measured_s, "s"), format_si(made.fused.time_s, "s")),
                     "check the measurement, the data type, and the machine: " + made.assumptions);
    }
    said.append(fit_warning(*report));
    return {std::move(made), std::move(said)};
}

} // namespace eyeroof::analysis::bound
