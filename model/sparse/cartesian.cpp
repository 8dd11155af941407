#include "model/sparse/cartesian.hpp"

#include "base/units.hpp"
#include "model/sparse/format.hpp"
#include "model/sparse/nonzeros.hpp"
#include "model/sparse/problems.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace eyeroof::model::sparse {

namespace {

// A layer as the machine sees it: without stride, one group of channels.
struct Planes {
    Count c = 1, k = 1, h = 1, w = 1; // channels in and out, input plane
    Count r = 1, s = 1;
    Count runs = 1;                                            // groups of channels, images
    Count input_words = 0, weight_words = 0, output_words = 0; // of the whole layer
    bool product = false;
};

struct Spread {
    Count h = 1, w = 1;       // of a PE's plane tile
    Count channel_shares = 1; // PEs that split the output channels
};

Planes planes_of(const ConvShape& s) {
    Planes p;
    const Count phases = s.stride.h * s.stride.w;
    p.c = s.c / s.groups * phases;
    p.k = s.k / s.groups;
    p.h = ceil_div(s.h, s.stride.h);
    p.w = ceil_div(s.w, s.stride.w);
    p.r = ceil_div(s.r, s.stride.h);
    p.s = ceil_div(s.s, s.stride.w);
    p.runs = s.n * s.groups;
    p.input_words = s.n * s.c * s.h * s.w;
    p.weight_words = s.k * (s.c / s.groups) * s.r * s.s;
    p.output_words = s.n * s.k * s.p() * s.q();
    p.product = p.h * p.w == 1;
    return p;
}

Planes planes_of(const GemmShape& s) {
    Planes p;
    p.c = s.k;
    p.k = s.n;
    p.h = s.batch;
    p.w = s.m;
    p.input_words = s.batch * s.m * s.k;
    p.weight_words = s.k * s.n;
    p.output_words = s.batch * s.m * s.n;
    p.product = true;
    return p;
}

struct RunCycles { // cycles of one run with every constraint but the last ones left out in turn
    double tiled = 0.0, whole_vectors = 0.0, slowest = 0.0, dense = 0.0;
    Count pes = 1;
};

class Evaluation {
  public:
    Evaluation(const Cartesian& machine, const Planes& planes, const Densities& densities)
        : m_(machine), p_(planes), d_(densities) {}

    RunCycles best() const {
        RunCycles work = run(plane_tiling());
        if (p_.product) {
            const RunCycles other = run({p_.h, p_.w, m_.rows * m_.columns});
            work = other.slowest < work.slowest ? other : work;
            const Count all = m_.rows * m_.columns;
            const RunCycles rows = run({1, ceil_div(p_.h * p_.w, all), 1});
            work = rows.slowest < work.slowest ? rows : work;
        }
        return work;
    }

    Spread plane_tiling() const { return {ceil_div(p_.h, m_.rows), ceil_div(p_.w, m_.columns), 1}; }

  private:
    RunCycles run(Spread tile) const {
        const Count k = ceil_div(p_.k, tile.channel_shares);
        const Count entries = (tile.h + p_.r - 1) * (tile.w + p_.s - 1);
        const Count kc =
            std::max<Count>(1, std::min({m_.channels_at_once, k, m_.accumulators / entries}));
        const NonZeros inputs = NonZeros::independent(tile.h * tile.w, d_.input);
        const NonZeros weights = NonZeros::independent(kc * p_.r * p_.s, d_.weight);
        const NonZeros input_vectors = inputs.steps(m_.inputs);
        const NonZeros weight_vectors = weights.steps(m_.weights);
        const auto c = static_cast<double>(p_.c);
        const auto groups = static_cast<double>(ceil_div(k, kc));
        const double a_pe = static_cast<double>(m_.inputs * m_.weights);
        RunCycles work;
        work.pes = tile.channel_shares > 1 ? ceil_div(p_.k, k)
                                           : ceil_div(p_.h, tile.h) * ceil_div(p_.w, tile.w);
        if (p_.product && tile.channel_shares == 1 && tile.h == 1) {
            work.pes = ceil_div(p_.h * p_.w, tile.w);
        }
        work.tiled = groups * c * inputs.mean() * weights.mean() / a_pe;
        const double mean = c * input_vectors.mean() * weight_vectors.mean();
        work.whole_vectors = groups * mean;
        work.slowest = groups * slowest(mean, input_vectors, weight_vectors, work.pes);
        work.dense = static_cast<double>(tile.h * tile.w * k) *
                     static_cast<double>(ceil_div(p_.c * p_.r * p_.s, m_.inputs * m_.weights));
        return work;
    }

    // All PEs see the same weights: over them only the inputs vary, so that the sum over channels
    // of a_c b_c spreads by C E[b^2] Var(a). With many channels it is normal; no PE can have more
    // than full vectors.
    double slowest(double mean, const NonZeros& a, const NonZeros& b, Count pes) const {
        const double square = b.variance() + b.mean() * b.mean();
        const auto c = static_cast<double>(p_.c);
        const double spread = std::sqrt(c * square * a.variance());
        return std::min(mean + slowest_of_normals(pes) * spread,
                        c * static_cast<double>(a.most()) * b.mean());
    }

    const Cartesian& m_;
    const Planes& p_;
    const Densities& d_;
};

double coded_bytes(const Cartesian& m, double words, double density) {
    return words * run_length_bits(density, m.run_bits, m.word_bits + m.run_bits) / 8.0;
}

// Whether a PE's share of the activations fits beside nothing else: compressed, its tile whole.
bool fits(const Cartesian& m, Count words, double density, Count store_bits) {
    return store_bits == 0 || 8.0 * coded_bytes(m, static_cast<double>(words), density) <=
                                  static_cast<double>(store_bits);
}

Count tile_words(const Cartesian& m, Count channels, Count h, Count w) {
    return channels * ceil_div(h, m.rows) * ceil_div(w, m.columns);
}

struct Storage {
    double dram_bytes = 0.0;
    double dense_bytes = 0.0; // of a machine that stores zeros, with room for as many activations
    bool fits = true;
};

Storage storage(const Cartesian& m, const Layer& layer, const Planes& p, const Densities& d,
                Count outputs) {
    Storage s;
    const Count pes = m.rows * m.columns;
    if (const auto* conv = std::get_if<ConvShape>(&layer.shape)) {
        const double left = static_cast<double>(outputs) / static_cast<double>(p.output_words);
        const auto whole = static_cast<double>(tile_words(m, conv->k, conv->p(), conv->q()));
        const Count output_tile = outputs == p.output_words
                                      ? static_cast<Count>(whole)
                                      : static_cast<Count>(std::ceil(whole * left));
        s.fits = fits(m, tile_words(m, conv->c, conv->h, conv->w), d.input, m.input_bits) &&
                 fits(m, output_tile, d.output, m.output_bits);
    } else {
        s.fits = fits(m, ceil_div(p.input_words, pes), d.input, m.input_bits) &&
                 fits(m, ceil_div(outputs, pes), d.output, m.output_bits);
    }
    s.dram_bytes = coded_bytes(m, static_cast<double>(p.weight_words), d.weight);
    const double word_bytes = m.word_bits / 8.0;
    s.dense_bytes = word_bytes * static_cast<double>(p.weight_words);
    if (!s.fits) {
        s.dense_bytes += word_bytes * static_cast<double>(p.input_words + outputs);
        s.dram_bytes += coded_bytes(m, static_cast<double>(p.input_words), d.input) +
                        coded_bytes(m, static_cast<double>(outputs), d.output);
    }
    return s;
}

} // namespace

Result<Cost> cost_of(const Cartesian& machine, const Layer& layer, const Densities& densities,
                     Count stored_outputs) {
    Diagnostics found = problems(layer, densities, {Op::conv2d, Op::gemm});
    if (found.has_errors()) {
        return found;
    }
    const Planes planes = std::visit(
        [](const auto& shape) -> Planes {
            if constexpr (requires { planes_of(shape); }) {
                return planes_of(shape);
            }
            return {};
        },
        layer.shape);
    const Count outputs = stored_outputs > 0 ? stored_outputs : planes.output_words;
    const auto runs = static_cast<double>(planes.runs);
    const auto multipliers = static_cast<double>(machine.multipliers());
    const RunCycles work = Evaluation(machine, planes, densities).best();
    const Storage kept = storage(machine, layer, planes, densities, outputs);

    Cost cost;
    cost.macs = work_of(layer)->macs;
    cost.effectual = static_cast<double>(cost.macs) * densities.input * densities.weight;
    const double cycles_per_byte =
        machine.dram_bytes_per_s > 0.0 ? machine.clock_hz / machine.dram_bytes_per_s : 0.0;
    cost.dense_cycles = std::max(runs * work.dense, kept.dense_bytes * cycles_per_byte);
    cost.dram_bytes = kept.dram_bytes;
    cost.fits = kept.fits;
    const double products = runs * static_cast<double>(planes.c * planes.k * planes.r * planes.s) *
                            static_cast<double>(planes.h * planes.w) * densities.input *
                            densities.weight;
    double cycles = 0.0;
    const auto link = [&](int step, std::string name, double at_least, std::string why) {
        cycles = std::max(cycles, at_least);
        cost.chain.push_back({step, std::move(name), cycles, std::move(why)});
    };
    link(1, "effectual work", cost.effectual / multipliers,
         fmt::format("{} of {} have no zero", format_si(cost.effectual, "MAC"),
                     format_si(static_cast<double>(cost.macs), "MAC")));
    link(2, "borders", products / multipliers, "products beyond the border are discarded");
    link(3, "tiles of the plane", runs * work.tiled,
         fmt::format("{} of {} PEs have a tile", work.pes, machine.rows * machine.columns));
    link(4, "vectors not full", runs * work.whole_vectors,
         fmt::format("{} x {} products per PE and cycle", machine.inputs, machine.weights));
    link(4, "slowest PE", runs * work.slowest,
         "PEs synchronize after each group of output channels");
    if (machine.dram_bytes_per_s > 0.0) {
        link(6, "DRAM", kept.dram_bytes * cycles_per_byte,
             kept.fits ? "weights once" : "weights once, and activations, which do not fit");
    }
    return cost;
}

} // namespace eyeroof::model::sparse
