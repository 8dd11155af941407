#include "model/sparse/dense_equivalent.hpp"

#include "model/sparse/work.hpp"

#include <algorithm>
#include <cmath>

namespace eyeroof::model::sparse {

namespace {

// Bits of a level that holds everything are known to this part of a bit.
constexpr double kParts = 32.0;
constexpr int kMostBits = 1024;
// Of a layer of nothing but zeros so much is left to do: times and rates stay numbers.
constexpr double kLeast = 1e-6;

double coded_share(const std::vector<Rank>& ranks, int bits, double density) {
    if (ranks.empty()) {
        return 1.0;
    }
    double words = 1.0;
    for (const Rank& rank : ranks) {
        words *= static_cast<double>(rank.places);
    }
    return std::min(1.0, stored(ranks, density).bits(bits) / (words * bits));
}

// Accesses of an operand that are left, of those with this kind of saving and of all.
struct Left {
    double skipped = 1.0, all = 1.0;
};

Left left_of(const LevelRules& rules, Operand o, const Densities& densities) {
    Left left;
    for (const LeftOut& rule : rules.left_out) {
        if (rule.operand != o) {
            continue;
        }
        for (const Operand leader : kAllOperands) {
            if (rule.leaders.contains(leader)) {
                const double share = followed_words(
                    1.0, NonZeros::independent(rule.leader_words, density_of(densities, leader)));
                left.all *= share;
                left.skipped *= rule.how == Saving::skip ? share : 1.0;
            }
        }
    }
    return left;
}

double product_of(OperandSet leaders, const Densities& densities) {
    double product = 1.0;
    for (const Operand o : kAllOperands) {
        product *= leaders.contains(o) ? density_of(densities, o) : 1.0;
    }
    return std::max(product, kLeast);
}

double largest(OperandSet operands, const PerOperand<double>& shares) {
    double most = 0.0;
    for (const Operand o : kAllOperands) {
        most = operands.contains(o) ? std::max(most, shares[index(o)]) : most;
    }
    return std::max(most, kLeast);
}

bool unbounded(const Level& level) {
    return std::none_of(level.stores.begin(), level.stores.end(),
                        [](const Store& store) { return store.capacity_bytes.has_value(); });
}

class Maker {
  public:
    Maker(const Accelerator& machine, const Rules& rules, const Densities& densities)
        : rules_(rules), densities_(densities) {
        dense_.machine = machine;
        const OperandSet both{Operand::input, Operand::weight};
        dense_.effectual = product_of(both, densities);
        if (rules.units) {
            const double left = product_of(rules.units->leaders, densities);
            dense_.processed = rules.units->how == Saving::skip ? left : 1.0;
            dense_.machine.mac_pj = machine.mac_pj * left + rules.units->gated_pj * (1.0 - left);
        }
        dense_.cycles_a_step = dense_.processed;
        dense_.machine.mac_leak_pj *= dense_.cycles_a_step;
    }

    DenseEquivalent make() {
        for (std::size_t i = 0; i < dense_.machine.levels.size(); ++i) {
            const LevelRules none;
            add_level(i, i < rules_.levels.size() ? rules_.levels[i] : none);
        }
        return std::move(dense_);
    }

  private:
    void add_level(std::size_t i, const LevelRules& rules) {
        Level& level = dense_.machine.levels[i];
        PerOperand<double> bytes{1.0, 1.0, 1.0};
        PerOperand<double> energy{1.0, 1.0, 1.0};
        bool coded = false;
        for (const Operand o : kAllOperands) {
            const Left left = left_of(rules, o, densities_);
            const double share = coded_share(rules.formats[index(o)], bits_at(dense_.machine, i, o),
                                             density_of(densities_, o));
            bytes[index(o)] = share * left.skipped;
            energy[index(o)] = share * left.all;
            coded = coded || bytes[index(o)] < 1.0;
        }
        dense_.bytes.push_back(bytes);
        const bool finely = coded && unbounded(level);
        dense_.scale.push_back(finely ? narrow(i, bytes) : 1.0);
        for (Store& store : level.stores) {
            price(store, rules, energy);
            store.leak_pj *= dense_.cycles_a_step;
            const double share = finely ? 1.0 / dense_.scale[i] : largest(store.operands, bytes);
            store.read_bytes_per_cycle *= dense_.cycles_a_step / share;
            store.write_bytes_per_cycle *= dense_.cycles_a_step / share;
        }
        for (Channel& channel : level.channels) {
            const double share = finely ? 1.0 / dense_.scale[i] : largest(channel.operands, bytes);
            channel.hop_pj *= largest(channel.operands, energy);
            channel.down_bytes_per_cycle *= dense_.cycles_a_step / share;
            channel.up_bytes_per_cycle *= dense_.cycles_a_step / share;
        }
    }

    // Words of the level in parts of bits; how many parts.
    double narrow(std::size_t i, const PerOperand<double>& bytes) {
        int widest = 1;
        for (const Operand o : kAllOperands) {
            widest = std::max(
                {widest, bits_at(dense_.machine, i, o), dense_.machine.word_bits[index(o)]});
        }
        const double parts = std::min(kParts, std::floor(static_cast<double>(kMostBits) / widest));
        PerOperand<int> bits{};
        for (const Operand o : kAllOperands) {
            const double exact = bits_at(dense_.machine, i, o) * bytes[index(o)] * parts;
            bits[index(o)] = std::max(1, static_cast<int>(std::lround(exact)));
        }
        dense_.machine.levels[i].word_bits = bits;
        return parts;
    }

    // Of operands that are read, filling a store takes whole tiles in their format; of results all
    // accesses are left out alike.
    void price(Store& store, const LevelRules& rules, const PerOperand<double>& energy) {
        for (const Operand o : kAllOperands) {
            if (!store.operands.contains(o) || energy[index(o)] == 1.0) {
                continue;
            }
            const double left = left_of(rules, o, densities_).all;
            const double filled =
                o == Operand::output || left == 0.0 ? energy[index(o)] : energy[index(o)] / left;
            const double read_pj = store.read_pj_of(o);
            const double write_pj = store.write_pj_of(o);
            store.own_read_pj[index(o)] = read_pj * energy[index(o)];
            store.own_write_pj[index(o)] = write_pj * filled;
            if (o == Operand::output && store.update_pj) {
                *store.update_pj *= energy[index(o)];
            }
        }
        // What bounds energies looks at the store's own: no operand's is less.
        for (const Operand o : kAllOperands) {
            if (store.operands.contains(o)) {
                lower(store.read_pj, store.own_read_pj, o);
                lower(store.write_pj, store.own_write_pj, o);
            }
        }
    }

    // An operand without a price of its own keeps what the store took of it.
    static void lower(double& all, PerOperand<std::optional<double>>& own, Operand o) {
        if (own[index(o)] && *own[index(o)] < all) {
            for (std::optional<double>& price : own) {
                price = price.value_or(all);
            }
            all = *own[index(o)];
        }
    }

    const Rules& rules_;
    const Densities& densities_;
    DenseEquivalent dense_;
};

} // namespace

double density_of(const Densities& densities, Operand operand) {
    return operand == Operand::input    ? densities.input
           : operand == Operand::weight ? densities.weight
                                        : densities.output;
}

bool DenseEquivalent::plain() const {
    const auto is_one = [](double share) { return share == 1.0; };
    return cycles_a_step == 1.0 && processed == 1.0 && effectual == 1.0 &&
           std::all_of(bytes.begin(), bytes.end(), [&](const PerOperand<double>& level) {
               return std::all_of(level.begin(), level.end(), is_one);
           });
}

DenseEquivalent dense_equivalent_of(const Accelerator& machine, const Rules& rules,
                                    const Densities& densities) {
    return Maker(machine, rules, densities).make();
}

LatencyTerms with_exact_ramps(LatencyTerms terms, const DenseEquivalent& dense) {
    terms.hops /= dense.cycles_a_step;
    return terms;
}

} // namespace eyeroof::model::sparse
