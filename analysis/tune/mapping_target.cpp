#include "analysis/exam/best_mappings.hpp"
#include "analysis/tune/model_target.hpp"
#include "mapper/evaluate.hpp"
#include "mapper/exact.hpp"
#include "model/cost/dram_pattern.hpp"

#include <cmath>
#include <numbers>

namespace eyeroof::analysis::tune {

namespace {

constexpr const char* kMappingTemplate = "mapping/1";

// All that evaluating a point needs; the space of the mapper points into the task.
struct Nest {
    mapper::Task task;
    mapper::Space space;
    std::optional<mapper::Estimator> estimator;
    std::optional<mapper::Evaluator> evaluator;
    std::array<std::vector<std::uint32_t>, mapper::kGroups> leaves;

    mapper::Factors6 factors(const Point& point) const {
        mapper::Factors6 all{};
        for (std::size_t g = 0; g < mapper::kGroups; ++g) {
            all[g] = space.cost_factor(g, leaves[g][point.digit[g]]);
        }
        return all;
    }
    std::size_t order(const Point& point) const { return point.digit[mapper::kGroups]; }
    const mapper::Chain& chain(const Point& point, std::size_t g) const {
        return space.groups[g].chains[space.groups[g].nodes[leaves[g][point.digit[g]]].chain];
    }
    bool fits(const Point& point) const {
        return std::isfinite(evaluator->evaluate(factors(point), order(point)).energy_pj);
    }
};

float log2_of(double value) {
    return static_cast<float>(std::log2(std::max(value, 1e-30)));
}

// Knobs: trips of each loop in time and space. Loops: what each level holds of each operand. Steps:
// the third and fourth bound, and what spatial trips leave of each network.
void add_features(const Nest& nest, const Point& point, unsigned set, std::vector<float>& out) {
    const std::size_t levels = nest.task.machine.levels.size();
    if ((set & kKnobs) != 0) {
        for (std::size_t g = 0; g < mapper::kGroups; ++g) {
            for (std::size_t level = 0; level < levels; ++level) {
                const mapper::Chain& chain = nest.chain(point, g);
                out.push_back(log2_of(static_cast<double>(chain.first.temporal[level])));
                out.push_back(log2_of(static_cast<double>(chain.first.spatial[level])));
                out.push_back(log2_of(static_cast<double>(chain.tap.temporal[level])));
                out.push_back(log2_of(static_cast<double>(chain.tap.spatial[level])));
            }
        }
        out.push_back(static_cast<float>(nest.order(point)));
    }
    if ((set & (kLoops | kSteps)) == 0) {
        return;
    }
    std::vector<double> product(nest.space.cost_factors);
    nest.estimator->products().multiply_tiles(nest.factors(point), product.data());
    nest.estimator->products().multiply_rest(nest.factors(point), product.data());
    for (std::size_t level = 0; level < levels && (set & kLoops) != 0; ++level) {
        for (std::size_t o = 0; o < model::kOperands; ++o) {
            const std::size_t column = nest.space.tile[level][o];
            out.push_back(column == 0 ? 0.0F : log2_of(product[column]));
        }
    }
    if ((set & kSteps) != 0) {
        out.push_back(log2_of(product[nest.space.steps]));
        for (std::size_t level = 0; level < levels; ++level) {
            const std::size_t column = nest.space.spatial[level];
            out.push_back(column == 0 ? 0.0F : log2_of(product[column]));
        }
    }
}

class MappingTarget final : public Target {
  public:
    MappingTarget(std::shared_ptr<const Nest> nest, Space space, const Noise& noise)
        : nest_(std::move(nest)), space_(std::move(space)), noise_(noise) {}

    Outcome measure(const Point& point) override {
        mapper::Leaf leaf;
        leaf.orders = nest_->estimator->orders().combinations()[nest_->order(point)];
        for (std::size_t g = 0; g < mapper::kGroups; ++g) {
            leaf.chains[g] = nest_->space.groups[g].nodes[nest_->leaves[g][point.digit[g]]].chain;
        }
        Outcome outcome;
        bool over = false;
        const auto real = mapper::realise(nest_->task, nest_->space, leaf, over);
        if (!real) {
            outcome.error = "failed";
            outcome.detail = "its loops in space fit no axes";
            return outcome;
        }
        const auto key = static_cast<std::uint64_t>(space_.index_of(point));
        const double u = std::max(unit_of(noise_.seed, 2 * key), 1e-12);
        const double normal = std::sqrt(-2.0 * std::log(u)) *
                              std::cos(2.0 * std::numbers::pi * unit_of(noise_.seed, 2 * key + 1));
        outcome.cost = real->certificate.value * std::exp(noise_.deviation * normal);
        return outcome;
    }

  private:
    std::shared_ptr<const Nest> nest_;
    Space space_;
    Noise noise_;
};

Space points_of(const std::shared_ptr<const Nest>& nest) {
    std::vector<Knob> knobs;
    const auto counted = [](std::size_t n) {
        std::vector<Count> values;
        for (std::size_t i = 0; i < n; ++i) {
            values.push_back(static_cast<Count>(i));
        }
        return values;
    };
    constexpr std::array<const char*, mapper::kGroups> kNames = {"split_n", "split_g",  "split_k",
                                                                 "split_c", "split_pr", "split_qs"};
    Rule fits{"capacity or fan-out", {}, {}};
    for (std::size_t g = 0; g < mapper::kGroups; ++g) {
        knobs.push_back({kNames[g], counted(nest->leaves[g].size())});
    }
    knobs.push_back({"order", counted(nest->estimator->orders().combinations().size())});
    for (std::size_t knob = 0; knob < knobs.size(); ++knob) {
        fits.knobs.push_back(knob);
    }
    fits.allows = [nest](std::span<const Count> values) {
        Point point;
        for (std::size_t i = 0; i < values.size(); ++i) {
            point.digit[i] = static_cast<std::uint32_t>(values[i]);
        }
        return nest->fits(point);
    };
    return {std::move(knobs), {std::move(fits)}};
}

Result<std::shared_ptr<Nest>> nest_of(const mapper::Task& task, const std::stop_token& stop) {
    using Made = Result<std::shared_ptr<Nest>>;
    const auto keeps = mapper::bypass_choices(task);
    auto nest = std::make_shared<Nest>();
    nest->task = task;
    if (keeps.empty()) {
        return Made::failure("no-mapping", "the machine keeps no operand of this layer");
    }
    constexpr std::size_t kMostChains = 200'000;
    nest->space =
        mapper::build_space(nest->task, keeps.front(), kMostChains, mapper::Effort(0.0, stop));
    for (std::size_t g = 0; g < mapper::kGroups; ++g) {
        const mapper::Group& group = nest->space.groups[g];
        for (std::size_t n = 0; n < group.nodes.size(); ++n) {
            if (group.nodes[n].children == 0) {
                nest->leaves[g].push_back(static_cast<std::uint32_t>(n));
            }
        }
        if (group.chains.empty() || nest->leaves[g].empty()) {
            return Made::failure("no-mapping", "no tiles of this layer fit the machine");
        }
    }
    nest->estimator.emplace(nest->space);
    nest->evaluator.emplace(*nest->estimator);
    return nest;
}

} // namespace

Result<MappingTask> mapping_task(const model::Layer& layer, const model::Accelerator& machine,
                                 const Noise& noise, std::uint64_t search_nodes,
                                 std::stop_token stop) {
    using Made = Result<MappingTask>;
    const auto problems = nests_of(layer);
    if (!problems) {
        return Made(problems.diagnostics());
    }
    if (problems->size() != 1) {
        return Made::failure("unsupported", "'" + layer.name + "' is not one nest of loops");
    }
    const model::Dataflow* rules = machine.dataflows.empty() ? nullptr : &machine.dataflows.front();
    mapper::Task task = task_of(problems->front(), at_stream_rate(machine), rules);
    task.objective = natural_objective(machine);
    mapper::SearchOptions options;
    options.max_nodes = search_nodes;
    const auto best = mapper::search(task, options, stop);
    const auto nest =
        best ? nest_of(task, stop) : Result<std::shared_ptr<Nest>>(best.diagnostics());
    if (!nest) {
        return Made(nest.diagnostics());
    }
    MappingTask made;
    made.optimum = best->certificate.value;
    made.proved = best->certificate.proved;
    made.objective = task.objective.name();
    SearchTask& search_task = made.search_task;
    search_task.name = layer.name;
    search_task.template_name = kMappingTemplate;
    search_task.cost_unit = task.objective.energy_power == 0.0  ? "cycles"
                            : task.objective.delay_power == 0.0 ? "pJ"
                                                                : "pJ x cycles";
    const std::shared_ptr<const Nest> known = *nest;
    search_task.space = points_of(known);
    search_task.features = [known](const Point& point, unsigned set, std::vector<float>& out) {
        add_features(*known, point, set, out);
    };
    search_task.predicted = [known](const Point& point) { // the fourth bound: trips in time
        std::vector<double> product(known->space.cost_factors);
        known->estimator->products().multiply_tiles(known->factors(point), product.data());
        known->estimator->products().multiply_rest(known->factors(point), product.data());
        return product[known->space.steps];
    };
    made.target = std::make_unique<MappingTarget>(known, search_task.space, noise);
    return made;
}

} // namespace eyeroof::analysis::tune
