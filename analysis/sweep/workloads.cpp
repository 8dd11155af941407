#include "analysis/sweep/workloads.hpp"

#include "analysis/exam/best_mappings.hpp"
#include "analysis/exam/examine.hpp"
#include "analysis/exam/word_types.hpp"
#include "analysis/program/lower.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace eyeroof::analysis {

using model::Layer;
using model::Problem;

namespace {

constexpr std::size_t kMostKnown = 4096; // networks that are kept

bool twins(Layer a, const Layer& b) {
    a.name = b.name;
    a.count = b.count;
    return a == b;
}

} // namespace

std::string first_error(const Diagnostics& diagnostics) {
    for (const Diagnostic& d : diagnostics) {
        if (d.severity == Severity::error) {
            return fmt::format("{}: {}", d.code, d.message);
        }
    }
    return {};
}

std::size_t SweptWorkloads::number_of(const Problem& problem) {
    const auto same = std::find_if(problems_.begin(), problems_.end(),
                                   [&](const Problem& known) { return same_nest(known, problem); });
    if (same != problems_.end()) {
        return static_cast<std::size_t>(same - problems_.begin());
    }
    problems_.push_back(problem);
    return problems_.size() - 1;
}

SweptNetwork SweptWorkloads::made(const Question& question) {
    SweptNetwork swept;
    const auto wanted = lowered_network(question);
    if (!wanted) {
        swept.error = first_error(wanted.diagnostics());
        return swept;
    }
    const auto& accelerator = std::get<model::Accelerator>(question.machine.kind);
    swept.error = first_error(
        check_types(*wanted, question.machine, accelerator, question.scenario.data_type));
    for (const Layer& layer : wanted->layers) {
        const auto known =
            std::find_if(swept.layers.begin(), swept.layers.end(),
                         [&](const SweptLayer& other) { return twins(other.layer, layer); });
        swept.order.emplace_back(known - swept.layers.begin(), static_cast<double>(layer.count));
        if (known != swept.layers.end()) {
            continue;
        }
        const auto work = work_of(layer);
        const auto nests = nests_of(layer);
        if (!work || !nests) {
            swept.error = first_error(work ? nests.diagnostics() : work.diagnostics());
            return swept;
        }
        SweptLayer own{layer, *work, {}, {}};
        if (work->macs > 0) { // pooling has a nest, but the array does not run it
            own.nests = *nests;
        }
        for (const Problem& nest : own.nests) {
            own.numbers.push_back(number_of(nest));
        }
        swept.layers.push_back(std::move(own));
    }
    return swept;
}

std::shared_ptr<const SweptNetwork> SweptWorkloads::at(const SweepGrid& grid,
                                                       const model::Machine& machine,
                                                       const std::vector<std::size_t>& position) {
    // Words of another machine are another answer of check_types.
    const std::uint64_t number =
        grid.workload_number(position) * 1'000'003 + grid.machine_base(position);
    const std::lock_guard lock(mutex_);
    const auto known = known_.find(number);
    if (known != known_.end()) {
        return known->second;
    }
    if (known_.size() >= kMostKnown) {
        known_.clear();
    }
    auto swept = std::make_shared<const SweptNetwork>(made(grid.question_at(position, machine)));
    known_.emplace(number, swept);
    return swept;
}

} // namespace eyeroof::analysis
