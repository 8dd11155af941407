#include "analysis/exam/residency.hpp"

#include "analysis/program/memory.hpp"
#include "model/accelerator/data_width.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace eyeroof::analysis {

using namespace model; // NOLINT(google-build-using-namespace): the vocabulary of the field

namespace {

constexpr double kForTiles = 1.0 / 8.0; // of a store where not all weights stay

class Scheduler {
  public:
    Scheduler(const step::Graph& program, const Accelerator& accelerator, std::size_t level)
        : program_(program), accelerator_(accelerator), level_(level),
          lives_(step::lifetimes_of(program)), alive_(program.operators.size() + 1) {
        find_alive();
        keep_weights();
    }

    std::vector<Accelerator> machines() const {
        std::vector<Accelerator> all(program_.layers.size(), accelerator_);
        for (Accelerator& machine : all) {
            machine.levels[level_].scheduled = {Operand::input, Operand::output};
        }
        for (const std::size_t layer : weights_stay_) {
            all[layer].levels[level_].scheduled->insert(Operand::weight);
        }
        // The most that stays beside what one run of a layer has itself: activations alive, and
        // weights, those of the layer's other runs among them.
        std::vector<Held> others(all.size());
        for (std::size_t n = 0; n < program_.operators.size(); ++n) {
            const step::Operator& op = program_.operators[n];
            OperandSet& stays = *all[op.layer].levels[level_].scheduled;
            Held own;
            const auto look = [&](std::span<const step::TensorId> tensors, Operand o) {
                for (const step::TensorId t : tensors) {
                    if (is_activation(t)) {
                        own.activations += bytes_of(t);
                        stays = stays_here(t) ? stays : without(stays, o);
                    }
                    own.weights += kept_.contains(t) ? bytes_of(t) : 0.0;
                }
            };
            look(program_.reads_of(op), Operand::input);
            look(program_.writes_of(op), Operand::output);
            const bool fits = alive_[n] <= capacity(Operand::input);
            Held& most = others[op.layer];
            most.activations = std::max(most.activations, fits ? alive_[n] - own.activations : 0.0);
            most.weights = std::max(most.weights, kept_bytes_ - own.weights);
        }
        for (std::size_t i = 0; i < all.size(); ++i) {
            for (Store& store : all[i].levels[level_].stores) {
                const double held =
                    (store.operands.contains(Operand::weight) ? others[i].weights : 0.0) +
                    (store.operands.contains(Operand::input) ? others[i].activations : 0.0);
                if (store.capacity_bytes) {
                    const auto bytes = static_cast<Count>(std::ceil(held));
                    store.capacity_bytes = std::max<Count>(1, *store.capacity_bytes - bytes);
                }
            }
        }
        return all;
    }

  private:
    struct Held { // bytes
        double activations = 0.0, weights = 0.0;
    };

    static OperandSet without(OperandSet set, Operand o) {
        OperandSet rest;
        for (const Operand other : kAllOperands) {
            if (other != o && set.contains(other)) {
                rest.insert(other);
            }
        }
        return rest;
    }

    bool is_activation(step::TensorId t) const {
        const step::Role role = program_.tensors[t].role;
        return role == step::Role::activation || role == step::Role::input;
    }

    // As wide as the machine's words.
    double bytes_of(step::TensorId t) const {
        const step::Tensor& tensor = program_.tensors[t];
        const bool weight = tensor.role == step::Role::weight;
        const std::uint32_t layer = tensor.layer == step::kNone ? 0 : tensor.layer;
        const auto& types = program_.layers[layer].types;
        const double own = bytes_per_element(weight                        ? types.weight
                                             : tensor.layer == step::kNone ? types.input
                                                                           : types.output);
        const int bits = bits_at(accelerator_, level_, weight ? Operand::weight : Operand::input);
        return static_cast<double>(tensor.bytes) / own * bits / 8.0;
    }

    double capacity(Operand o) const {
        const Store* store = store_of(accelerator_.levels[level_], o);
        return store == nullptr         ? 0.0
               : !store->capacity_bytes ? std::numeric_limits<double>::infinity()
                                        : static_cast<double>(*store->capacity_bytes);
    }

    void find_alive() {
        for (step::TensorId t = 0; t < lives_.size(); ++t) {
            if (lives_[t].used && is_activation(t)) {
                for (step::OperatorId n = lives_[t].first; n <= lives_[t].last; ++n) {
                    alive_[n] += bytes_of(t);
                }
            }
        }
    }

    bool stays_here(step::TensorId t) const {
        const step::Tensor& tensor = program_.tensors[t];
        bool fits = tensor.role == step::Role::activation && !tensor.output;
        for (step::OperatorId n = lives_[t].first; fits && n <= lives_[t].last; ++n) {
            fits = alive_[n] <= capacity(Operand::input);
        }
        return fits;
    }

    void keep_weights() {
        const Store* store = store_of(accelerator_.levels[level_], Operand::weight);
        double room = capacity(Operand::weight);
        double largest = 0.0; // of the activations that fit
        for (const double bytes : alive_) {
            largest = bytes <= capacity(Operand::input) ? std::max(largest, bytes) : largest;
        }
        room -= store != nullptr && store->operands.contains(Operand::input) ? largest : 0.0;
        struct Weights {
            std::size_t layer = 0;
            std::vector<step::TensorId> tensors; // of all runs
            double bytes = 0.0;
        };
        std::vector<Weights> layers;              // in their order
        std::map<std::size_t, std::size_t> place; // of a layer in them
        std::set<step::TensorId> seen;
        double all = 0.0;
        for (const step::Operator& op : program_.operators) {
            for (const step::TensorId t : program_.reads_of(op)) {
                if (program_.tensors[t].role == step::Role::weight && seen.insert(t).second) {
                    const auto [at, fresh] = place.try_emplace(op.layer, layers.size());
                    if (fresh) {
                        layers.push_back({op.layer, {}, 0.0});
                    }
                    layers[at->second].tensors.push_back(t);
                    layers[at->second].bytes += bytes_of(t);
                    all += bytes_of(t);
                }
            }
        }
        room -= all > room ? kForTiles * capacity(Operand::weight) : 0.0;
        for (const Weights& weights : layers) {
            if (kept_bytes_ + weights.bytes <= room) {
                kept_bytes_ += weights.bytes;
                weights_stay_.insert(weights.layer);
                kept_.insert(weights.tensors.begin(), weights.tensors.end());
            }
        }
    }

    const step::Graph& program_;
    const Accelerator& accelerator_;
    std::size_t level_;
    std::vector<step::Lifetime> lives_;
    std::vector<double> alive_;          // by operator, bytes
    std::set<std::size_t> weights_stay_; // layers
    std::set<step::TensorId> kept_;      // their weights
    double kept_bytes_ = 0.0;
};

} // namespace

const Level* weight_keeper(const Accelerator& accelerator) {
    const auto keeper = std::find_if(accelerator.levels.begin(), accelerator.levels.end(),
                                     [](const Level& level) { return level.keeps_weights; });
    return keeper == accelerator.levels.end() ? nullptr : &*keeper;
}

std::vector<Accelerator> scheduled_machines(const step::Graph& program,
                                            const Accelerator& accelerator) {
    const auto level =
        static_cast<std::size_t>(weight_keeper(accelerator) - accelerator.levels.data());
    return Scheduler(program, accelerator, level).machines();
}

} // namespace eyeroof::analysis
