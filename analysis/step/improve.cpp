#include "analysis/step/improve.hpp"

#include "analysis/exam/gpu_step.hpp"
#include "analysis/program/fusion.hpp"
#include "analysis/program/lower.hpp"
#include "analysis/program/settled.hpp"
#include "analysis/step/chain.hpp"
#include "analysis/step/improve_space.hpp"
#include "analysis/step/padding.hpp"
#include "analysis/step/recompute.hpp"
#include "analysis/step/recompute_graph.hpp"
#include "analysis/step/streaming.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace eyeroof::analysis::step {

using model::DataType;
using model::Layer;

namespace {

// The question with the combination's changes; its layers carry their types themselves.
Question changed(const Question& question, const Combination& c, Count batch) {
    Question made = question;
    Scenario& s = made.scenario;
    const std::optional<DataType> type = c.type ? c.type : s.data_type;
    s.data_type.reset();
    for (Layer& layer : made.network.layers) {
        if (type) {
            layer.types = {*type, *type, *type};
        }
        if (c.weights && learned_product(layer)) {
            layer.types.weight = *c.weights;
        }
    }
    s.batch = batch * c.batch;
    s.launch = c.capture ? model::Launch::graph : s.launch;
    s.compiled = s.compiled || c.fuse;
    s.attention = c.attention ? AttentionForm::fused : attention_of(question);
    s.in_place = s.in_place || c.in_place;
    return made;
}

// A step before and after fusion. Neither a CUDA graph nor longer or sparse operands change the
// programs, and they change the costs of products alone.
struct Programs {
    Graph graph, run; // before and after
    Costs costs, run_costs;
    Memory memory; // after fusion
};

// A step in one combination of everything but what frees memory.
struct Played {
    Costs costs, run_costs; // of the programs
    Timeline line;
    Count weights_change = 0; // bytes by padding and pruning
};

class Improver {
  public:
    Improver(const Question& question, const model::Gpu& gpu, const ImproveOptions& options)
        : question_(question), gpu_(gpu), options_(options),
          batch_(question.scenario.batch.value_or(own_batch(question.network))),
          timeline_(timeline_options(question, gpu)), costs_(gpu, software_of(question)),
          training_(question.scenario.training.has_value()) {}

    Result<Outcome> outcome(const Combination& c) {
        if (auto found = play_out(c); found.has_errors()) {
            return found;
        }
        Outcome result{c, 0, 0, 0, 0, 1.0, programs_->memory.peak + played_->weights_change, false};
        double added_s = 0.0;
        if (c.freeing != Freeing::none && !free(c, added_s, result.peak)) {
            return Result<Outcome>::failure("does-not-fit", "no schedule fits",
                                            "a smaller batch, or a machine with more memory");
        }
        const double scale = 1.0 + added_s / std::max(played_->line.time_s, 1e-15);
        result.time_s = played_->line.time_s * scale;
        result.low_s = played_->line.low_s * scale;
        result.high_s = played_->line.high_s * scale;
        result.item_s = result.time_s / static_cast<double>(c.batch);
        result.fits = result.peak <= options_.limit;
        return result;
    }

    // What decides what is offered.
    Facts facts(Count now_peak) {
        const bool runs = !play_out({}).has_errors();
        Costs costs = runs ? played_->costs : Costs{};
        const bool padding = runs && pad(programs_->graph, costs_, costs).layers > 0;
        const bool written = attention_of(question_) == AttentionForm::written;
        const bool attention =
            written && with_attention(question_.network, question_.edges).replaced > 0;
        return {question_, gpu_, options_, now_peak, training_, attention, padding};
    }

  private:
    // Sets programs_ and played_. Errors: those of lower() and costs_of().
    Diagnostics play_out(const Combination& c) {
        Combination key = c;
        key.freeing = Freeing::none;
        if (played_ && played_key_ == key) {
            return {};
        }
        played_.reset();
        const Question question = changed(question_, c, batch_);
        if (auto found = lower_both(question, c); found.has_errors()) {
            return found;
        }
        Played played{programs_->costs, programs_->run_costs, {}, 0};
        (void)reshape_products(c, programs_->graph, played.costs);
        played.weights_change = reshape_products(c, programs_->run, played.run_costs);
        played.line =
            simulate(programs_->run, played.run_costs, gpu_, timeline_options(question, gpu_));
        played_ = std::move(played);
        played_key_ = key;
        return {};
    }

    Diagnostics lower_both(const Question& question, const Combination& c) {
        Combination key = c;
        key.freeing = Freeing::none;
        key.capture = key.padded = false;
        key.pruning = Pruning::none;
        if (programs_ && programs_key_ == key) {
            return {};
        }
        programs_.reset();
        software_ = software_of(question);
        costs_.set_software(software_);
        Question plain = question;
        plain.scenario.compiled = false;
        auto graph = lower(plain);
        auto run = question.scenario.compiled ? lower(question) : graph;
        if (!graph || !run) {
            return graph ? run.diagnostics() : graph.diagnostics();
        }
        auto costs = costs_.of(*graph);
        auto run_costs = costs_.of(*run);
        if (!costs || !run_costs) {
            return costs ? run_costs.diagnostics() : costs.diagnostics();
        }
        if (c.weights) {
            cheapen_weights(*graph, gpu_, *c.weights, *costs);
            cheapen_weights(*run, gpu_, *c.weights, *run_costs);
        }
        Memory memory = memory_of(*run, workspaces_of(*run, gpu_, software_));
        programs_ = Programs{*std::move(graph), *std::move(run), *std::move(costs),
                             *std::move(run_costs), std::move(memory)};
        programs_key_ = key;
        return {};
    }

    // Padding and pruning; how many bytes more the weights take.
    Count reshape_products(const Combination& c, const Graph& graph, Costs& costs) {
        Count change = 0;
        if (c.padded) {
            // Training keeps gradients and states beside them: as many bytes as of 16 to 2.
            constexpr Count kTrained = 8;
            const Padded padded = pad(graph, costs_, costs);
            change += padded.added_bytes * (training_ ? kTrained : 1);
        }
        if (c.pruning != Pruning::none) {
            change -=
                prune(graph, costs_, c.pruning, options_.density.value_or(1.0), costs).saved_bytes;
        }
        return change;
    }

    // Adds what freeing costs, and sets the peak that it leaves. Times of the chain are scaled to
    // those of the step, which fusion may have shortened.
    bool free(const Combination& c, double& added_s, Count& peak) const {
        const model::Launch launch = c.capture ? model::Launch::graph : timeline_.launch;
        const double host_s = model::issue_seconds(timeline_.host, launch, model::Issued::forward);
        if (c.freeing == Freeing::stream || c.freeing == Freeing::offload) {
            return stream_one(c, added_s, peak);
        }
        if (c.freeing == Freeing::cheapest) {
            return run_again(host_s, added_s, peak);
        }
        const auto chain =
            chain_of(programs_->graph, played_->costs, memory_of(programs_->graph), host_s);
        if (!chain) {
            return false;
        }
        const Recomputation whole = plain_schedule(chain->chain);
        const double scale = std::min(played_->line.time_s / std::max(whole.time_s, 1e-15), 1.0);
        const Count kept = peak;
        // Within the limit, or half of what is kept where all of it would fit.
        const Count target = std::min(options_.limit - chain->fixed, whole.peak / 2);
        const auto n = static_cast<double>(chain->chain.stages.size());
        const std::optional<Recomputation> schedule =
            c.freeing == Freeing::segments
                ? std::optional(segment_schedule(chain->chain,
                                                 static_cast<std::size_t>(std::ceil(std::sqrt(n)))))
                : best_schedule(chain->chain, target, 128);
        if (!schedule) {
            return false;
        }
        added_s = schedule->again_s * scale;
        peak = chain->fixed + schedule->peak;
        return peak < kept;
    }

    // Weights, as many as the limit asks for; activations within the limit, or half of what is
    // there.
    bool stream_one(const Combination& c, double& added_s, Count& peak) const {
        const bool weights = c.freeing == Freeing::stream;
        const Count change = played_->weights_change, before = peak;
        const auto within = [&](Count limit) {
            Streamed found =
                stream(programs_->run, played_->line, programs_->memory,
                       weights ? Operand::weights : Operand::activations, pcie_of(gpu_), limit);
            const double stay =
                weights && found.of > 0
                    ? 1.0 - static_cast<double>(found.streamed) / static_cast<double>(found.of)
                    : 1.0;
            peak = found.memory.peak + static_cast<Count>(static_cast<double>(change) * stay);
            return found;
        };
        const Count half = (before + programs_->memory.resident) / 2;
        const Count target = weights || before > options_.limit ? options_.limit : half;
        Streamed found = within(target - change);
        if (peak > target && change < 0) { // what pruning saves leaves with the weights
            found = within(target);
        }
        added_s = found.exposed_s();
        return peak < before;
    }

    // On the graph that runs: within the limit, or half of what is there.
    bool run_again(double host_s, double& added_s, Count& peak) const {
        const Count target = std::min(options_.limit, (peak + programs_->memory.resident) / 2);
        const auto found =
            recompute_cheapest(programs_->run, played_->run_costs,
                               workspaces_of(programs_->run, gpu_, software_), target, host_s);
        if (!found || found->peak >= peak) {
            return false;
        }
        added_s = found->added_s;
        peak = found->peak;
        return true;
    }

    const Question& question_;
    const model::Gpu& gpu_;
    const ImproveOptions& options_;
    Count batch_;
    TimelineOptions timeline_;
    SoftwareOf software_;
    LayerCosts costs_;
    bool training_;
    std::optional<Programs> programs_;
    std::optional<Played> played_;
    Combination programs_key_, played_key_;
};

} // namespace

std::vector<Outcome> front_of(std::vector<Outcome> outcomes) {
    std::stable_sort(outcomes.begin(), outcomes.end(), [](const Outcome& a, const Outcome& b) {
        return a.item_s != b.item_s ? a.item_s < b.item_s : a.peak < b.peak;
    });
    std::vector<Outcome> front;
    for (Outcome& outcome : outcomes) {
        if (front.empty() || outcome.peak < front.back().peak) {
            front.push_back(std::move(outcome));
        }
    }
    return front;
}

Result<Improvement> improve(const Question& asked, const ImproveOptions& options,
                            std::stop_token stop, const ProgressCallback& progress) {
    const Question question = as_it_runs(asked);
    const auto* gpu = std::get_if<model::Gpu>(&question.machine.kind);
    if (gpu == nullptr) {
        return Result<Improvement>::failure("not-a-gpu",
                                            "improve supports GPUs and host processors",
                                            "`eyeroof exam --advice` takes accelerators");
    }
    Improver improver(question, *gpu, options);
    const auto now = improver.outcome({});
    if (!now) {
        return now.diagnostics();
    }
    Improvement found;
    found.now = *now;
    const Space space = space_of(improver.facts(now->peak), found.excluded);
    std::vector<Combination> all = combinations_of(space);
    if (!options.together) {
        std::erase_if(all, [](const Combination& c) { return remedies_of(c).size() > 1; });
    }
    found.schedules = schedules_of(space, options);
    std::vector<Outcome> fitting;
    for (const Combination& c : all) {
        if (stop.stop_requested()) {
            return Result<Improvement>::failure("cancelled", "the search was cancelled");
        }
        if (progress) {
            progress({static_cast<double>(found.tried) / static_cast<double>(all.size()),
                      fmt::format("combination {} of {}", found.tried + 1, all.size()), 0.0, -1.0});
        }
        ++found.tried;
        auto outcome = improver.outcome(c);
        if (!outcome) {
            continue; // what the machine does not run, or what no schedule fits, is not offered
        }
        outcome->gain = now->item_s / outcome->item_s;
        if (remedies_of(c).size() == 1) {
            found.alone.push_back(*outcome);
        }
        found.all.push_back(*outcome);
        if (outcome->fits) {
            fitting.push_back(*outcome);
        }
    }
    std::stable_sort(found.alone.begin(), found.alone.end(),
                     [](const Outcome& a, const Outcome& b) {
                         return a.fits != b.fits ? a.fits : a.gain > b.gain;
                     });
    found.front = front_of(std::move(fitting));
    return found;
}

} // namespace eyeroof::analysis::step
