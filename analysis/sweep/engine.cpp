#include "analysis/sweep/engine.hpp"

#include "analysis/exam/nest_figures.hpp"
#include "analysis/exam/residency.hpp"
#include "analysis/exam/ruled_task.hpp"
#include "analysis/exam/run.hpp"
#include "analysis/sweep/workloads.hpp"
#include "base/parallel.hpp"
#include "base/units.hpp"
#include "mapper/preset/row_stationary.hpp"
#include "mapper/preset/stationary.hpp"
#include "model/cost/dram_pattern.hpp"
#include "model/cost/leakage.hpp"
#include "model/vector_unit.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace eyeroof::analysis {

using namespace model; // NOLINT(google-build-using-namespace): the vocabulary of the field

namespace {

constexpr std::size_t kMostCandidates = 400'000;   // of all nests together that are kept
constexpr std::size_t kMostCounted = 20'000;       // nests whose counted mappings are kept
constexpr std::size_t kMostStructures = 1'000'000; // nests on arrays of one size
constexpr std::size_t kMostMappings = 2'000;       // of one nest that are kept counted
constexpr std::uint64_t kMostNests = 1 << 30; // different nests or shapes of a sweep, for the keys

PointFigures failed(std::string why) {
    return {{}, why.empty() ? "unknown" : std::move(why)};
}

void finish(double utilization, PointFigures& figures) {
    auto& v = figures.values;
    const auto at = [](SweptFigure f) { return static_cast<std::size_t>(f); };
    v[at(SweptFigure::edp_js)] = v[at(SweptFigure::energy_j)] * v[at(SweptFigure::time_s)];
    v[at(SweptFigure::utilization)] = utilization;
}

// Terms and transfers of the same values: one of the two mappings is enough.
template <class Candidate> bool same_times(const Candidate& a, const Candidate& b) {
    return a.energy_pj == b.energy_pj && a.compute_steps == b.compute_steps &&
           a.outer_bytes == b.outer_bytes && a.terms == b.terms && a.transfers == b.transfers;
}

} // namespace

SweepEngine::SweepEngine(const SweepGrid& grid, SweptWorkloads& workloads, std::stop_token stop)
    : grid_(grid), workloads_(workloads), stop_(std::move(stop)) {}

void SweepEngine::turn(const std::vector<std::size_t>& at) {
    const std::uint64_t number = grid_.machine_number(at);
    if (number == last_.number) {
        return;
    }
    auto machine = grid_.machine_at(at);
    last_.number = number;
    last_.error = first_error(machine.diagnostics());
    last_.machine.reset();
    if (machine) {
        last_.machine = *std::move(machine);
    }
}

// The last machine's; of one that mappings are not worked out for here: "unsupported".
Result<AcceleratorContext> SweepEngine::context_at(const std::vector<std::size_t>& at) {
    const std::uint64_t options = grid_.workload_number(at);
    if (options != last_options_) {
        last_options_ = options;
        options_.scenario = grid_.scenario_at(at);
    }
    options_.machine.name = last_.machine->name;
    return accelerator_context(options_, std::get<Accelerator>(last_.machine->kind));
}

PointFigures SweepEngine::at(std::uint64_t point) {
    const std::vector<std::size_t> at = grid_.at(point);
    turn(at);
    if (!last_.machine) {
        return failed(last_.error);
    }
    const auto* accelerator = std::get_if<Accelerator>(&last_.machine->kind);
    if (accelerator == nullptr || follows_mapping(*accelerator) ||
        weight_keeper(*accelerator) != nullptr) {
        return slow(at);
    }
    const auto context = context_at(at);
    if (options_.scenario.counting != Counting::eyeroof) {
        return slow(at);
    }
    if (!context) {
        return failed(first_error(context.diagnostics()));
    }
    if (context->policy == MappingPolicy::dataflow) {
        return fast(at, *context, nullptr);
    }
    const auto prepared = prepared_.find(point);
    const bool found = prepared != prepared_.end() &&
                       std::all_of(prepared->second.nests.begin(), prepared->second.nests.end(),
                                   [](const auto& nest) { return nest.second.best.has_value(); });
    return found ? fast(at, *context, &prepared->second) : slow(at);
}

bool SweepEngine::searches(std::uint64_t point) {
    const std::vector<std::size_t> at = grid_.at(point);
    turn(at);
    const auto* accelerator =
        last_.machine ? std::get_if<Accelerator>(&last_.machine->kind) : nullptr;
    if (accelerator == nullptr || follows_mapping(*accelerator) ||
        weight_keeper(*accelerator) != nullptr) {
        return false;
    }
    const auto context = context_at(at);
    const Scenario& s = options_.scenario;
    // Of two levels that keep activations, a larger inner one takes them from the outer one: it
    // does not run every mapping of a smaller machine.
    const auto keepers =
        std::count_if(accelerator->levels.begin(), accelerator->levels.end(),
                      [](const Level& level) { return level.keeps_between_layers; });
    return keepers <= 1 && context && context->policy == MappingPolicy::best && !s.free_dataflow &&
           s.counting == Counting::eyeroof && s.search_limit_s <= 0.0;
}

PointFigures SweepEngine::slow(const std::vector<std::size_t>& at) const {
    Question question = grid_.question_at(at, *last_.machine);
    question.scenario.threads = 1; // points are what runs side by side
    const auto report = run(question, stop_);
    if (!report) {
        return failed(first_error(report.diagnostics()));
    }
    const Total& total = report->total;
    PointFigures figures{{total.time_s, total.energy_j, 0.0, total.outer_bytes, total.macs, 0.0},
                         {}};
    finish(total.utilization, figures);
    if (report->fit && !report->fit->fits()) {
        figures.unfit = fmt::format("does-not-fit: the step needs {} of {}",
                                    format_si(static_cast<double>(report->fit->peak_bytes), "B"),
                                    format_si(static_cast<double>(report->fit->limit_bytes), "B"));
    }
    return figures;
}

const CountedMapping* SweepEngine::counted(const Problem& problem, const Accelerator& accelerator,
                                           const Mapping& mapping, Counted& known,
                                           std::string& why) {
    for (const auto& [other, counts] : known) {
        if (other == mapping) { // legal on other sizes of stores: is it on these?
            why = first_error(validate(mapping, problem, accelerator));
            return why.empty() ? &counts : nullptr;
        }
    }
    auto made = counted_mapping(problem, accelerator, mapping);
    if (!made) {
        why = first_error(made.diagnostics());
        return nullptr;
    }
    known.emplace_back(mapping, *std::move(made));
    return &known.back().second;
}

// `task`: the rules of a search; nullptr: there is none.
void SweepEngine::add_candidate(const Problem& problem, const AcceleratorContext& context,
                                const mapper::Task* task, const Mapping& mapping, Counted& known,
                                Choices& choices) {
    const CountedMapping* counts =
        counted(problem, context.accelerator, mapping, known, choices.error);
    if (counts == nullptr) {
        return;
    }
    Candidate own{candidate_of(problem, context.accelerator, mapping, *counts)};
    own.allowed =
        task == nullptr || mapper::satisfies_constraints(*task, mapping, counts->cost, Latency{});
    const bool twin =
        std::any_of(choices.all.begin(), choices.all.end(), [&](const Candidate& other) {
            return other.allowed == own.allowed && same_times(other, own);
        });
    if (!twin) {
        choices.all.push_back(std::move(own));
    }
}

std::size_t SweepEngine::ShapeHash::operator()(const Shape& shape) const {
    std::uint64_t hash = 14695981039346656037ULL; // FNV-1a over words
    for (const Count value : shape) {
        hash = (hash ^ static_cast<std::uint64_t>(value)) * 1099511628211ULL;
    }
    return hash ^ (hash >> 32);
}

std::uint64_t SweepEngine::shape_number(Shape shape) {
    return shapes_.emplace(std::move(shape), shapes_.size()).first->second;
}

void SweepEngine::forget() {
    candidates_ = 0;
    of_structure_.clear();
    known_.clear();
    counted_.clear();
    shapes_.clear();
}

SweepEngine::Choices SweepEngine::made(const Asked& asked, const AcceleratorContext& context,
                                       const mapper::Spread& spread, std::uint64_t shape) {
    Counted once;
    Counted& known = grid_.varies_stores() ? counted_[asked.counts * kMostNests + shape] : once;
    if (known.size() > kMostMappings) {
        known.clear();
    }
    const Accelerator& accelerator = context.accelerator;
    std::optional<mapper::Task> rules;
    if (context.policy == MappingPolicy::best) {
        rules = ruled_task(asked.problem, accelerator, &context.dataflow);
    }
    const mapper::Task* task = rules ? &*rules : nullptr;
    Choices choices;
    if (context.dataflow.kind == DataflowKind::rs) {
        for (const Mapping& mapping :
             mapper::row_stationary_candidates(asked.problem, accelerator, context.dataflow)) {
            add_candidate(asked.problem, context, task, mapping, known, choices);
        }
        choices.by_processing = true;
    }
    if (choices.all.empty()) {
        for (const Mapping& mapping :
             mapper::stationary_candidates(asked.problem, accelerator, context.dataflow, spread)) {
            add_candidate(asked.problem, context, task, mapping, known, choices);
        }
        choices.by_processing = false;
    }
    return choices;
}

const SweepEngine::Choices& SweepEngine::choices(const Asked& asked,
                                                 const AcceleratorContext& context) {
    const std::uint64_t of_structure = asked.structure * kMostNests + asked.number;
    const auto same = of_structure_.find(of_structure);
    if (same != of_structure_.end()) {
        return *same->second;
    }
    if (of_structure_.size() >= kMostStructures || candidates_ >= kMostCandidates ||
        counted_.size() >= kMostCounted) {
        forget();
    }
    const Accelerator& accelerator = context.accelerator;
    const mapper::Spread spread =
        mapper::stationary_spread(asked.problem, accelerator, context.dataflow, fits_);
    Shape shape{static_cast<Count>(asked.number), static_cast<Count>(array_edge(accelerator))};
    for (std::size_t i = 0; i < spread.size(); ++i) {
        for (const SpatialLoop& loop : spread[i]) {
            shape.insert(shape.end(), {static_cast<Count>(i), static_cast<Count>(loop.axis),
                                       static_cast<Count>(index(loop.dim)), loop.bound});
        }
        for (std::size_t a = 0;
             context.dataflow.kind == DataflowKind::rs && a < accelerator.levels[i].fanout.size();
             ++a) {
            shape.push_back(accelerator.levels[i].fanout[a].size);
        }
    }
    const std::uint64_t number = shape_number(std::move(shape));
    const std::uint64_t key = asked.spread * kMostNests + number;
    auto known = known_.find(key);
    if (known == known_.end()) {
        known = known_.emplace(key, made(asked, context, spread, number)).first;
        candidates_ += known->second.all.size();
        ++mapped_;
    }
    return *of_structure_.emplace(of_structure, &known->second).first->second;
}

// `leaking`: pJ per cycle of a machine whose idle units leak.
SweepEngine::Picked SweepEngine::best_of(const Choices& choices, const Accelerator& accelerator,
                                         double leaking) {
    const Candidate* best = nullptr;
    double least = 0.0;
    double total = 0.0;
    for (const Candidate& candidate : choices.all) {
        const LatencyCycles cycles = cycles_at(candidate, accelerator);
        const double key = choices.by_processing ? cycles.processing() : cycles.total();
        if (best == nullptr || key < least ||
            (key == least && candidate.energy_pj < best->energy_pj)) {
            best = &candidate;
            least = key;
            total = cycles.total();
        }
    }
    return {figures_at(*best, accelerator, total, leaking), best->allowed};
}

SweepEngine::Asked SweepEngine::asked_at(const std::vector<std::size_t>& at,
                                         const SweptLayer& layer, std::size_t nest) {
    return {layer.nests[nest], layer.numbers[nest], grid_.structure_number(at),
            grid_.spread_number(at), grid_.counts_number(at)};
}

PointFigures SweepEngine::fast(const std::vector<std::size_t>& at,
                               const AcceleratorContext& context, const Prepared* prepared) {
    const Accelerator& accelerator = context.accelerator;
    const auto network = workloads_.at(grid_, *last_.machine, at);
    if (!network->error.empty()) {
        return failed(network->error);
    }
    const double leaking = least_leak_pj_per_cycle(accelerator);
    struct Costs {
        double time_s, energy_j, outer_bytes;
    };
    std::vector<Costs> costs; // of the different layers
    costs.reserve(network->layers.size());
    for (const SweptLayer& layer : network->layers) {
        if (layer.nests.empty() && accelerator.vector_unit) {
            const auto cost = model::vector_cost(layer.layer, layer.work, accelerator);
            costs.push_back({cost.cycles / accelerator.clock_hz,
                             (cost.energy_pj + leaking * cost.cycles) * 1e-12, cost.outer_bytes});
            continue;
        }
        if (layer.nests.empty()) {
            const OuterOnly only = outer_only(layer.layer, layer.work, accelerator);
            const double cycles = outer_only_cycles(only, context.units);
            costs.push_back({cycles / accelerator.clock_hz,
                             (only.energy_pj + leaking * cycles) * 1e-12, only.bytes});
            continue;
        }
        Costs own{0.0, 0.0, 0.0};
        double cycles = 0.0;
        for (std::size_t n = 0; n < layer.nests.size(); ++n) {
            NestFigures picked;
            if (prepared == nullptr) {
                const Choices& all = choices(asked_at(at, layer, n), context);
                if (all.all.empty()) {
                    return failed(fmt::format("no-mapping: {}: {}", layer.layer.name, all.error));
                }
                picked = best_of(all, accelerator, leaking).figures;
            } else {
                picked = *prepared->nests.at(layer.numbers[n]).best;
            }
            cycles += picked.cycles;
            own.energy_j += picked.energy_pj * 1e-12;
            own.outer_bytes += picked.outer_bytes;
        }
        own.time_s = cycles / accelerator.clock_hz;
        costs.push_back(own);
    }
    PointFigures figures;
    auto& [time_s, energy_j, edp_js, outer_bytes, macs, utilization] = figures.values;
    const double units_per_s = context.units * accelerator.clock_hz;
    double at_peak_s = 0.0; // as in the report's totals
    for (const auto& [which, count] : network->order) {
        const double work = count * static_cast<double>(network->layers[which].work.macs);
        macs += work;
        at_peak_s += work / units_per_s;
        time_s += count * costs[which].time_s;
        energy_j += count * costs[which].energy_j;
        outer_bytes += count * costs[which].outer_bytes;
    }
    finish(time_s > 0.0 ? at_peak_s / time_s : 0.0, figures);
    return figures;
}

// The nest on machines of one kind: of equal options, and of equal machines but for what Ease
// holds.
SearchedNest& SweepEngine::searched(const Problem& problem, std::size_t number,
                                    std::uint64_t options, const AcceleratorContext& context) {
    const std::pair kind(options, without_ease(context.accelerator));
    const auto same = std::find(kinds_.rbegin(), kinds_.rend(), kind);
    const std::size_t which =
        same == kinds_.rend() ? kinds_.size() : static_cast<std::size_t>(kinds_.rend() - same) - 1;
    if (same == kinds_.rend()) {
        kinds_.push_back(kind);
    }
    const auto known = searched_.find({which, number});
    if (known != searched_.end()) {
        return known->second;
    }
    const Scenario& s = options_.scenario;
    const SearchRules rules{context.dataflow,
                            s.objective.value_or(natural_objective(context.accelerator)), s.factors,
                            search_nodes_of(s)};
    return searched_.emplace(std::pair(which, number), SearchedNest(problem, rules)).first->second;
}

void SweepEngine::prepare_point(std::uint64_t point,
                                std::map<SearchedNest*, std::vector<SearchedPoint*>>& work) {
    const std::vector<std::size_t> at = grid_.at(point);
    if (!searches(point)) {
        return;
    }
    const auto network = workloads_.at(grid_, *last_.machine, at);
    const auto context = context_at(at);
    const double leaking = least_leak_pj_per_cycle(context->accelerator);
    Prepared& prepared = prepared_[point];
    prepared.machine = context->accelerator;
    for (const SweptLayer& layer : network->layers) {
        for (std::size_t n = 0; n < layer.nests.size(); ++n) {
            const auto [nest, fresh] = prepared.nests.try_emplace(layer.numbers[n]);
            if (!fresh) {
                continue;
            }
            SearchedPoint& searched_point = nest->second;
            searched_point.machine = &prepared.machine;
            searched_point.ease = ease_of(prepared.machine);
            searched_point.leaking = leaking;
            const Choices& all = choices(asked_at(at, layer, n), *context);
            const Picked own =
                all.all.empty() ? Picked{{}, false} : best_of(all, prepared.machine, leaking);
            if (own.allowed) {
                searched_point.own = own.figures;
            }
            work[&searched(layer.nests[n], layer.numbers[n], last_options_, *context)].push_back(
                &searched_point);
        }
    }
}

std::uint64_t SweepEngine::searches_made() const {
    std::uint64_t all = 0;
    for (const auto& [which, nest] : searched_) {
        all += nest.searches();
    }
    return all;
}

void SweepEngine::prepare(std::uint64_t first, std::uint64_t last, int threads) {
    constexpr std::size_t kMostKinds = 64; // whose mappings are kept
    prepared_.clear();
    if (kinds_.size() > kMostKinds) {
        kinds_.clear();
        searched_.clear();
    }
    std::map<SearchedNest*, std::vector<SearchedPoint*>> work;
    for (std::uint64_t point = first; point < last && !stop_.stop_requested(); ++point) {
        prepare_point(point, work);
    }
    std::vector<std::pair<SearchedNest*, std::vector<SearchedPoint*>>> nests(work.begin(),
                                                                             work.end());
    in_parallel(threads, nests.size(),
                [&](std::size_t n) { nests[n].first->solve(nests[n].second, stop_); });
}

} // namespace eyeroof::analysis
