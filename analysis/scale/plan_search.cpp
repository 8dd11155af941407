// Decoders: every plan that fits memory, fastest first.
#include "analysis/scale/search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace eyeroof::analysis {

namespace {

std::vector<Count> divisors(Count whole, Count most) {
    std::vector<Count> found;
    for (Count d = 1; d <= std::min(whole, most); ++d) {
        if (whole % d == 0) {
            found.push_back(d);
        }
    }
    return found;
}

constexpr Count kMostTensor = 64;
constexpr Count kLongSequence = 16384;

class PlanWalk {
  public:
    PlanWalk(BlockExams& exams, const model::Fabric& fabric, Count devices, std::size_t kept,
             std::stop_token stop)
        : exams_(exams), t_(exams.transformer()), o_(exams.options()), fabric_(fabric),
          devices_(devices), kept_(kept), stop_(std::move(stop)) {}

    Result<PlanSearch> run() {
        for (const Count tensor : tensor_degrees(t_)) {
            if (tensor > kMostTensor) {
                break;
            }
            for (const Count pipeline : divisors(devices_, t_.layers)) {
                for (const Count context : divisors(o_.length >= kLongSequence ? 16 : 1, 16)) {
                    const Count inner = tensor * pipeline * context;
                    if (devices_ % inner == 0 && o_.batch % (devices_ / inner) == 0) {
                        Plan plan;
                        plan.tensor = tensor;
                        plan.pipeline = pipeline;
                        plan.context = context;
                        plan.data = devices_ / inner;
                        plan.sequence = tensor > 1;
                        experts(plan);
                    }
                }
            }
        }
        if (found_.has_errors()) {
            return found_;
        }
        if (stop_.stop_requested()) {
            return Result<PlanSearch>::failure("cancelled", "the search was cancelled");
        }
        if (search_.plans.empty()) {
            return Result<PlanSearch>::failure(
                "no-plan", nothing(),
                "more devices, a device with more memory, or another --batch");
        }
        search_.bound_s = bound_;
        return std::move(search_);
    }

  private:
    std::string nothing() const {
        return smallest_ < 1e300
                   ? fmt::format(
                         "no plan fits {:.1f} GB per device; the nearest needs {:.1f} GB: {}",
                         exams_.capacity() / 1e9, smallest_ / 1e9, nearest_.text())
                   : fmt::format(
                         "no degrees divide {} devices, {} layers, {} heads and a batch of {}",
                         devices_, t_.layers, t_.heads, o_.batch);
    }

    void experts(Plan plan) {
        plan.order = o_.order;
        const Count devices = plan.order == PlanOrder::pipeline_last ? plan.replicas() : plan.data;
        for (const Count expert : divisors(t_.experts, devices)) {
            if (devices % expert == 0) {
                plan.expert = expert;
                microbatches(plan);
            }
        }
    }

    void microbatches(Plan plan) {
        for (const Count b : {1, 2, 4, 8, 16}) {
            if (o_.batch % (plan.data * b) != 0 || found_.has_errors() || stop_.stop_requested()) {
                continue;
            }
            plan.microbatch = b;
            const auto times = exams_.times(plan, stop_);
            if (!times) {
                found_ = times.diagnostics();
                return;
            }
            const double m = static_cast<double>(o_.batch) / static_cast<double>(plan.data * b);
            const double kernels =
                m * (static_cast<double>(t_.layers) / static_cast<double>(plan.pipeline) *
                         (times->forward_s + times->backward_s) +
                     times->ends_s / static_cast<double>(plan.pipeline));
            bound_ = std::min(bound_, kernels);
            if (kernels >= worst_kept()) {
                ++search_.left_out;
                continue;
            }
            variants(plan, *times, m);
        }
    }

    void variants(Plan plan, const BlockTimes& times, double m) {
        for (const bool balanced : {false, true}) {
            plan.balanced = balanced;
            if (!balanced || plan.pipeline > 1) {
                interleavings(plan, times, m);
            }
        }
    }

    void interleavings(Plan plan, const BlockTimes& times, double m) {
        const Count stage = (t_.layers + plan.pipeline - 1) / plan.pipeline;
        for (const Count v : plan.pipeline > 1 ? divisors(stage, stage) : std::vector<Count>{1}) {
            if (v > 1 && std::fmod(m, static_cast<double>(plan.pipeline)) != 0.0) {
                continue; // interleaving takes whole rounds of the stages
            }
            plan.interleave = v;
            for (const Recompute r : {Recompute::none, Recompute::selective, Recompute::full}) {
                if (r == Recompute::selective && o_.fused) {
                    continue; // one kernel keeps nothing of its inside
                }
                plan.recompute = r;
                for (const int zero : {0, 1, 2, 3}) {
                    plan.zero = zero;
                    if ((zero == 0 || plan.replicas() > 1) && (zero < 2 || plan.pipeline == 1)) {
                        plan.offload = OptimizerPlace::device;
                        evaluate(plan, times);
                        plan.offload = o_.offload;
                        if (plan.offload != OptimizerPlace::device) {
                            evaluate(plan, times);
                        }
                    }
                }
            }
        }
    }

    void evaluate(const Plan& plan, const BlockTimes& times) {
        const DeviceMemory memory = transformer_memory(t_, plan, o_, exams_.capacity());
        if (!memory.fits()) {
            ++search_.too_large;
            if (memory.total() < smallest_) {
                smallest_ = memory.total();
                nearest_ = plan;
            }
            return;
        }
        const auto update = exams_.update_s(updated_parameters(t_, plan, exams_.options()), stop_);
        if (!update) {
            found_ = update.diagnostics();
            return;
        }
        ++search_.evaluated;
        keep(plan, transformer_step(t_, plan, o_, fabric_, times, *update, exams_.capacity()));
    }

    void keep(const Plan& plan, TransformerStep step) {
        const auto place = std::upper_bound(
            search_.steps.begin(), search_.steps.end(), step.time_s,
            [](double time, const TransformerStep& other) { return time < other.time_s; });
        const auto at = place - search_.steps.begin();
        if (static_cast<std::size_t>(at) >= kept_) {
            return;
        }
        search_.steps.insert(place, std::move(step));
        search_.plans.insert(search_.plans.begin() + at, plan);
        if (search_.plans.size() > kept_) {
            search_.plans.pop_back();
            search_.steps.pop_back();
        }
    }

    double worst_kept() const {
        return search_.steps.size() < kept_ ? 1e300 : search_.steps.back().time_s;
    }

    BlockExams& exams_;
    Transformer t_;
    TransformerOptions o_;
    const model::Fabric& fabric_;
    Count devices_;
    std::size_t kept_;
    std::stop_token stop_;
    PlanSearch search_;
    Diagnostics found_;
    double bound_ = 1e300, smallest_ = 1e300;
    Plan nearest_;
};

} // namespace

Result<PlanSearch> search_plans(BlockExams& exams, const model::Fabric& fabric, Count devices,
                                std::size_t kept, std::stop_token stop) {
    const Count most = fabric.capacity();
    if (most > 0 && devices > most) {
        return Result<PlanSearch>::failure(
            "too-many-devices",
            fmt::format("{} joins {} devices at most, not {}", fabric.id, most, devices),
            fmt::format("--devices {}", most));
    }
    return PlanWalk(exams, fabric, devices, kept, std::move(stop)).run();
}

Result<ScaleResult> search_transformer(const Transformer& t, const model::Machine& machine,
                                       const model::Fabric& fabric,
                                       const std::vector<Count>& devices,
                                       const TransformerOptions& options, std::stop_token stop,
                                       const ProgressCallback& progress) {
    BlockExams exams(t, machine, options);
    ScaleResult result;
    result.network = t.name;
    result.gpu = machine.name;
    result.fabric = fabric.name;
    result.unit = "sequences";
    const auto baseline = transformer_baseline(exams, 1, stop);
    if (!baseline) {
        return baseline.diagnostics();
    }
    result.baseline_samples_per_s = 1.0 / *baseline;
    result.baseline = "one device with unlimited memory, microbatch 1";
    for (std::size_t i = 0; i < devices.size(); ++i) {
        if (progress) {
            progress({static_cast<double>(i) / static_cast<double>(devices.size()),
                      fmt::format("plans for {} devices", devices[i]), 0.0, -1.0});
        }
        const auto search = search_plans(exams, fabric, devices[i], 5, stop);
        if (!search) {
            return search.diagnostics();
        }
        auto point = transformer_point(exams, search->plans.front(), fabric, *baseline, stop);
        if (!point) {
            return point.diagnostics();
        }
        point->notes.push_back(fmt::format("the best of {} plans that fit; {} need too much "
                                           "memory, {} cuts cannot be faster; kernels alone take "
                                           "{:.4g} s (gap {:.0f} %)",
                                           search->evaluated, search->too_large, search->left_out,
                                           search->bound_s,
                                           100.0 * (1.0 - search->bound_s / point->step_s)));
        for (std::size_t k = 1; k < search->plans.size(); ++k) {
            point->notes.push_back(
                fmt::format("{:.4g} s: {}", search->steps[k].time_s, search->plans[k].text()));
        }
        add_board(machine, *point);
        result.points.push_back(*std::move(point));
    }
    conclude(result);
    return result;
}

} // namespace eyeroof::analysis
