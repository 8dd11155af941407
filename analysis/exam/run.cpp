#include "analysis/exam/run.hpp"

#include "analysis/exam/examine.hpp"
#include "analysis/exam/gpu_step.hpp"
#include "analysis/exam/residency.hpp"
#include "analysis/exam/totals.hpp"
#include "analysis/exam/word_types.hpp"
#include "analysis/exam/words.hpp"
#include "analysis/program/lower.hpp"
#include "analysis/program/own_memory.hpp"
#include "analysis/program/settled.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <deque>

namespace eyeroof::analysis {

using namespace model; // NOLINT(google-build-using-namespace): the vocabulary of the field

namespace {

// Layers that differ in nothing but their names and counts cost the same. Diagnostics name their
// layer, so only layers without any stand for others.
class Twins {
  public:
    // On the same machine: schedules leave layers different room.
    const LayerReport* of(const Layer& layer, const AcceleratorContext& context) const {
        for (const auto& [machine, known] : known_) {
            if (machine == &context && same(known.layer, layer)) {
                return &known;
            }
        }
        return nullptr;
    }
    // A table of many layers is not searched for each: the first kMost shapes are kept.
    void keep(const LayerReport& report, const AcceleratorContext& context) {
        if (known_.size() < kMost) {
            known_.emplace_back(&context, report);
        }
    }

  private:
    static constexpr std::size_t kMost = 256;
    static bool same(Layer a, const Layer& b) {
        a.name = b.name;
        a.count = b.count;
        return a == b;
    }
    std::vector<std::pair<const AcceleratorContext*, LayerReport>> known_;
};

// Contexts of the machines, and which each layer runs on.
struct Contexts {
    std::deque<Accelerator> machines; // that a schedule makes
    std::deque<AcceleratorContext> all;
    std::vector<std::size_t> of_layer;
};

Result<Report> examine_layers(const Question& question, step::Graph program,
                              const Contexts& contexts, const std::stop_token& stop,
                              const ProgressCallback& progress) {
    Report report;
    report.machine = summarise(question.machine, contexts.all.front());
    Diagnostics problems;
    Twins twins;
    for (std::size_t i = 0; i < program.layers.size(); ++i) {
        const Layer& layer = program.layers[i];
        if (progress) {
            const double done = static_cast<double>(i) / static_cast<double>(program.layers.size());
            progress({done, fmt::format("{} ({} of {})", layer.name, i + 1, program.layers.size()),
                      0.0, -1.0});
        }
        const AcceleratorContext& context = contexts.all[contexts.of_layer[i]];
        if (const LayerReport* twin = twins.of(layer, context)) {
            report.layers.push_back(*twin);
            report.layers.back().layer = layer;
            continue;
        }
        auto exam = examine(layer, context, question, stop);
        if (stop.stop_requested()) {
            return Result<Report>::failure("cancelled", "the examination was cancelled");
        }
        problems.append(exam.diagnostics());
        if (exam) {
            if (exam.diagnostics().empty()) {
                twins.keep(*exam, context);
            }
            report.layers.push_back(*std::move(exam));
        }
    }
    if (problems.has_errors()) {
        return Result<Report>(std::move(problems));
    }
    report.program = std::move(program);
    add_totals(report);
    report.memory = memory_of(question, report.program);
    return Result<Report>(std::move(report), std::move(problems));
}

Contexts contexts_of(const step::Graph& program, const AcceleratorContext& whole) {
    Contexts contexts;
    contexts.of_layer.assign(program.layers.size(), 0);
    if (weight_keeper(whole.accelerator) == nullptr) {
        contexts.all.push_back(whole);
        return contexts;
    }
    std::vector<Accelerator> machines = scheduled_machines(program, whole.accelerator);
    for (std::size_t i = 0; i < machines.size(); ++i) {
        const auto same =
            std::find(contexts.machines.begin(), contexts.machines.end(), machines[i]);
        const auto which = static_cast<std::size_t>(same - contexts.machines.begin());
        if (same == contexts.machines.end()) {
            contexts.machines.push_back(std::move(machines[i]));
            contexts.all.push_back({contexts.machines.back(),
                                    whole.dataflow,
                                    whole.dataflow_text,
                                    whole.units,
                                    whole.policy,
                                    {}});
        }
        contexts.of_layer[i] = which;
    }
    return contexts;
}

// The time that may be searched is shared among the machines by their layers: what one leaves, the
// next may use.
void search_all(const Question& question, const step::Graph& program, Contexts& contexts,
                const KnownMappings& known, const std::stop_token& stop,
                const ProgressCallback& progress) {
    using Clock = std::chrono::steady_clock;
    const Clock::time_point start = Clock::now();
    std::vector<Network> layers(contexts.all.size(), {program.id, program.name, "", {}});
    for (std::size_t i = 0; i < program.layers.size(); ++i) {
        layers[contexts.of_layer[i]].layers.push_back(program.layers[i]);
    }
    std::size_t left = program.layers.size();
    for (std::size_t c = 0; c < contexts.all.size(); ++c) {
        double limit_s = question.scenario.search_limit_s;
        if (limit_s > 0.0) {
            constexpr double kLeast_s = 0.01;
            const std::chrono::duration<double> gone = Clock::now() - start;
            limit_s = std::max(kLeast_s, (limit_s - gone.count()) *
                                             static_cast<double>(layers[c].layers.size()) /
                                             static_cast<double>(left));
        }
        left -= layers[c].layers.size();
        AcceleratorContext& here = contexts.all[c];
        here.best = search_best(layers[c], here.accelerator, here.dataflow, question, limit_s,
                                known, stop, progress);
    }
}

Result<Report> examine_on_accelerator(const Question& question, step::Graph program,
                                      const Accelerator& accelerator, const KnownMappings& known,
                                      const std::stop_token& stop,
                                      const ProgressCallback& progress) {
    const Network layers{program.id, program.name, "", program.layers};
    Diagnostics types =
        check_types(layers, question.machine, accelerator, question.scenario.data_type);
    auto context = accelerator_context(question, accelerator);
    if (types.has_errors() || !context) {
        types.append(context.diagnostics());
        return Result<Report>(std::move(types));
    }
    Contexts contexts = contexts_of(program, *context);
    if (context->policy == MappingPolicy::best) {
        search_all(question, program, contexts, known, stop, progress);
    }
    auto report = examine_layers(question, std::move(program), contexts, stop, progress);
    if (!report) {
        return report;
    }
    types.append(report.diagnostics());
    return Result<Report>(*std::move(report), std::move(types));
}

} // namespace

void describe(const Question& question, Report& report) {
    report.scenario = question.scenario;
    report.batch = question.scenario.batch.value_or(own_batch(question.network));
    report.machine.id = question.machine.id;
    report.host = question.host_id;
    report.uncosted_share = uncosted_share(question.network);
    report.words = scenario_words(question);
}

namespace {

Result<Report> run_from(const Question& asked, const KnownMappings& known,
                        const std::stop_token& stop, const ProgressCallback& progress) {
    // A report takes 4 kB a layer, and what would make it faster as much again: 512 MB together.
    constexpr std::size_t kMostLayers = 40'000; // three for each layer that is trained
    const std::size_t each = asked.scenario.training ? 3 : 1;
    if (asked.network.layers.size() * each > kMostLayers) {
        return Result<Report>::failure(
            "too-large",
            fmt::format("{} layers are more than the {} that are examined at once",
                        asked.network.layers.size(), kMostLayers / each),
            "give equal layers once, with their number as `count`");
    }
    const Question question = as_it_runs(asked);
    auto program = lower(question);
    if (!program) {
        return Result<Report>(program.diagnostics());
    }
    const std::string id = program->id;
    const std::string name = program->name;
    const auto* gpu = std::get_if<Gpu>(&question.machine.kind);
    auto report = gpu != nullptr
                      ? examine_on_gpu(question, *std::move(program), *gpu, progress, stop)
                      : examine_on_accelerator(question, *std::move(program),
                                               std::get<Accelerator>(question.machine.kind), known,
                                               stop, progress);
    if (!report) {
        return report;
    }
    for (const step::Operator& op : report->program.operators) {
        report->layers[op.layer].kind = op.kind;
    }
    report->network_id = id;
    report->network_name = name;
    describe(question, *report);
    return report;
}

} // namespace

Result<Report> run(const Question& question, std::stop_token stop,
                   const ProgressCallback& progress) {
    return run_from(question, {}, stop, progress);
}

KnownMappings known_mappings(const Report& report) {
    KnownMappings known;
    for (const LayerReport& layer : report.layers) {
        const auto nests = nests_of(layer.layer);
        if (layer.certificates.empty() || !nests || nests->size() != layer.mappings.size()) {
            continue;
        }
        for (std::size_t i = 0; i < nests->size(); ++i) {
            known.emplace_back((*nests)[i], layer.mappings[i]);
        }
    }
    return known;
}

Result<Report> run_near(const Question& asked, const KnownMappings& known, std::stop_token stop) {
    constexpr std::uint64_t kShort = 64; // nodes of a search
    Question question = asked;
    Scenario& s = question.scenario;
    const std::uint64_t usual = search_nodes_of(s);
    s.search_nodes = usual == 0 ? kShort : std::min(kShort, usual);
    s.search_limit_s = 0.0;
    return run_from(question, known, stop, {});
}

Result<Report> run(const Network& network, const Machine& machine, const Scenario& scenario,
                   std::stop_token stop, const ProgressCallback& progress) {
    Question question;
    question.scenario = scenario;
    question.network = network;
    question.machine = machine;
    return run(question, std::move(stop), progress);
}

namespace {

constexpr std::size_t kSearched = 20'000; // operators: a larger program is not built thirty times
constexpr Count kMostTimes = 1 << 20;

std::optional<Count> peak_at(const Question& question, Count batch) {
    Question at = question;
    at.scenario.batch = batch;
    const auto program = lower(at);
    if (!program || program->operators.size() > kSearched) {
        return std::nullopt;
    }
    const auto* gpu = std::get_if<Gpu>(&question.machine.kind);
    return step::memory_of(*program, gpu == nullptr
                                         ? std::vector<Count>()
                                         : step::workspaces_of(*program, *gpu, software_of(at)))
        .peak;
}

} // namespace

std::optional<Count> largest_batch(const Question& question, const std::stop_token& stop) {
    const Count capacity = step::own_capacity(question.machine);
    return capacity > 0 ? largest_batch(question, capacity, stop) : std::nullopt;
}

std::optional<Count> largest_batch(const Question& question, Count limit,
                                   const std::stop_token& stop) {
    const Count own = own_batch(question.network);
    if (!peak_at(question, own)) {
        return std::nullopt;
    }
    const Count times =
        step::largest_batch(limit, kMostTimes, [&](Count factor) -> std::optional<Count> {
            const auto batch = checked_mul(factor, own);
            return batch && *batch <= kMaxDimension && !stop.stop_requested()
                       ? peak_at(question, *batch)
                       : std::nullopt;
        });
    // A batch whose tensors no count holds is not what memory limits.
    const bool limited = times >= kMostTimes || peak_at(question, (times + 1) * own);
    return limited && !stop.stop_requested() ? std::optional(times * own) : std::nullopt;
}

void find_largest_batch(Report& report, const Question& question, const std::stop_token& stop) {
    if (report.fit) {
        report.fit->largest_batch = largest_batch(question, report.fit->limit_bytes, stop);
    }
}

} // namespace eyeroof::analysis
