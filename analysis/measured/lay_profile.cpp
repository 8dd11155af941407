#include "analysis/measured/lay_profile.hpp"

#include "analysis/measured/disagree.hpp"
#include "base/units.hpp"
#include "profiles/points.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace eyeroof::analysis {

namespace {

using profiles::kNone;
using profiles::Launch;

constexpr double kNs = 1e-9;

struct Weighted { // a mean over time
    double sum = 0.0;
    double weight = 0.0;

    void add(std::optional<double> value, double by) {
        if (value) {
            sum += *value * by;
            weight += by;
        }
    }
    std::optional<double> mean() const {
        return weight > 0.0 ? std::optional(sum / weight) : std::nullopt;
    }
};

// All launches of one layer, summed.
struct Sums {
    double kernel_s = 0.0;
    double gap_s = 0.0;
    bool gaps_known = true;
    bool under_replay = false;
    std::int64_t launches = 0;
    std::int64_t unnumbered = 0; // launches that nothing gives to one execution
    std::set<std::pair<std::uint32_t, std::int64_t>> calls;
    std::map<std::uint32_t, std::pair<std::int64_t, double>> kernels; // launches and time of each
    std::map<std::string, double> flops;                              // by "precision pipe"
    std::map<std::string, double> bytes;                              // by level
    Weighted clock, tensor, occupancy;
    profiles::MatchMethod method = profiles::MatchMethod::manual;
    double confidence = 1.0;
};

std::optional<double> counter(const Launch& launch, const std::string& name, const char* neutral) {
    for (const std::string& key : {name, std::string(neutral)}) {
        const auto found = key.empty() ? launch.counters.end() : launch.counters.find(key);
        if (found != launch.counters.end()) {
            return found->second;
        }
    }
    return std::nullopt;
}

// Seconds for which the device was idle before each launch; nothing where starts are not known or
// replay moved them. Launches of one source and device, whatever their streams, share a device.
std::vector<std::optional<double>> gaps_of(const profiles::Profile& profile) {
    std::map<std::pair<std::uint32_t, std::int64_t>, std::vector<std::size_t>> devices;
    std::vector<std::optional<double>> gaps(profile.launches.size());
    for (std::size_t i = 0; i < profile.launches.size(); ++i) {
        const Launch& launch = profile.launches[i];
        if (launch.start_ns != kNone && !launch.under_replay && launch.duration_ns >= 0.0) {
            devices[{launch.source, launch.device}].push_back(i);
        }
    }
    for (auto& [device, members] : devices) {
        std::ranges::stable_sort(members, {},
                                 [&](std::size_t i) { return profile.launches[i].start_ns; });
        double end_ns = 0.0;
        for (std::size_t k = 0; k < members.size(); ++k) {
            const Launch& launch = profile.launches[members[k]];
            const auto start_ns = static_cast<double>(launch.start_ns);
            const double gap_s = k == 0 ? 0.0 : std::max(0.0, start_ns - end_ns) * kNs;
            gaps[members[k]] = gap_s <= kLongestGap_s ? gap_s : 0.0;
            end_ns = std::max(end_ns, start_ns + launch.duration_ns);
        }
    }
    return gaps;
}

// What was counted: not what follows from a shape, which is what the prediction starts from.
bool is_counted(profiles::Evidence evidence, const profiles::RunInfo& run) {
    return evidence != profiles::Evidence::from_shape &&
           (evidence != profiles::Evidence::given || !run.tool.starts_with("eyeroof-measure"));
}

class Overlay {
  public:
    Overlay(Report& report, const profiles::Profile& profile, const profiles::MetricFamily* family)
        : report_(report), profile_(profile), sums_(report.layers.size()) {
        if (family != nullptr) {
            family_ = *family;
        }
    }

    Result<profiles::MatchResult> run(const std::vector<profiles::ManualAssignment>& assignments) {
        std::vector<model::Layer> layers;
        for (const LayerReport& layer : report_.layers) {
            layers.push_back(layer.layer);
        }
        auto matched = profiles::match(profile_, layers, assignments);
        const auto points =
            profiles::points_of(profile_, &family_, {profiles::GroupBy::launch, false});
        if (!matched || !points) {
            Diagnostics problems = matched.diagnostics();
            problems.append(points.diagnostics());
            return Result<profiles::MatchResult>(std::move(problems));
        }
        Diagnostics notes = matched.diagnostics();
        notes.append(points.diagnostics());
        add_launches(*matched);
        add_points(*points, *matched);
        for (std::size_t i = 0; i < sums_.size(); ++i) {
            if (sums_[i].launches > 0) {
                conclude(report_.layers[i], sums_[i]);
            }
        }
        report_.measured = total(*matched);
        warn_of_device(notes);
        warn_of_batch(notes, matched->batch);
        if (report_.measured->layers == 0 && !matched->batch) {
            notes.warning("no-match", "no kernel of the profile belongs to a layer of the network",
                          "assign them manually (--assign FILE), mark layers with NVTX ranges "
                          "'eyeroof:layer=NAME', or record operator shapes");
        }
        return {*std::move(matched), std::move(notes)};
    }

  private:
    static void warn_of_batch(Diagnostics& notes,
                              const std::optional<profiles::BatchRatio>& batch) {
        if (!batch) {
            return;
        }
        notes.warning("other-batch",
                      fmt::format("the profile's operators fit the layers at {} their batch",
                                  batch->layer == 1
                                      ? fmt::format("{} times", batch->measured)
                                      : fmt::format("{}/{} of", batch->measured, batch->layer)),
                      batch->layer == 1
                          ? fmt::format("examine the batch that was measured: --batch {}, times "
                                        "the --batch that was given",
                                        batch->measured)
                          : "examine the batch that was measured");
    }

    // PyTorch writes "9.4" for the architecture gfx942.
    static bool same_capability(std::string run, const std::string& machine) {
        if (machine.starts_with("gfx") && !run.starts_with("gfx")) {
            std::erase(run, '.');
            return machine.starts_with("gfx" + run);
        }
        return run == machine;
    }

    // What the profile knows of its device, held against the machine that is predicted.
    void warn_of_device(Diagnostics& notes) const {
        const MachineSummary& machine = report_.machine;
        const profiles::RunInfo& run = profile_.run;
        const auto differ = [&](const char* what, const auto& measured, const auto& predicted) {
            notes.warning(
                "other-machine",
                fmt::format("the profile is of {} {} {}, and the prediction is for {}, {}",
                            run.gpu.empty() ? "a GPU with" : run.gpu + ", with", what, measured,
                            machine.name, predicted),
                "examine the measured machine, or read the differences as those of two machines");
        };
        if (machine.sms == 0) { // no GPU, or layers without a prediction
            return;
        }
        if (!run.compute_capability.empty() &&
            !same_capability(run.compute_capability, machine.compute_capability)) {
            differ("compute capability", run.compute_capability, machine.compute_capability);
        } else if (run.sm_count > 0 && run.sm_count != machine.sms) {
            differ("SMs:", run.sm_count, machine.sms);
        }
    }

    void add_launches(const profiles::MatchResult& matched) {
        const auto gaps = gaps_of(profile_);
        for (std::size_t i = 0; i < profile_.launches.size(); ++i) {
            const profiles::Match& match = matched.of_launch[i];
            const Launch& launch = profile_.launches[i];
            if (match.method == profiles::MatchMethod::none || !(launch.duration_ns > 0.0)) {
                continue;
            }
            Sums& sums = sums_[match.layer];
            const double time_s = launch.duration_ns * kNs;
            sums.kernel_s += time_s;
            sums.gap_s += gaps[i].value_or(0.0);
            sums.gaps_known = sums.gaps_known && gaps[i].has_value();
            sums.under_replay = sums.under_replay || launch.under_replay;
            sums.launches += launch.calls;
            count_call(sums, launch, match.method);
            auto& kernel = sums.kernels[launch.kernel];
            kernel.first += launch.calls;
            kernel.second += time_s;
            sums.clock.add(counter(launch, family_.clock_counter, "clock_hz"), time_s);
            sums.tensor.add(counter(launch, family_.tensor_active_counter, "tensor_active_percent"),
                            time_s);
            sums.occupancy.add(counter(launch, family_.occupancy_counter, "occupancy_percent"),
                               time_s);
            sums.method = std::max(sums.method, match.method);
            sums.confidence = std::min(sums.confidence, match.confidence);
        }
    }

    // The range that named the layer, or the operator with its shape, is one execution.
    static void count_call(Sums& sums, const Launch& launch, profiles::MatchMethod method) {
        const std::int64_t call = method == profiles::MatchMethod::nvtx ? launch.range_call
                                  : launch.op_call != kNone             ? launch.op_call
                                                                        : launch.range_call;
        if (call == kNone) {
            sums.unnumbered += launch.calls;
        } else {
            sums.calls.insert({launch.source, call});
        }
    }

    void add_points(const std::vector<profiles::MeasuredPoint>& points,
                    const profiles::MatchResult& matched) {
        for (const profiles::MeasuredPoint& point : points) {
            const profiles::Match& match = matched.of_launch[point.launches.front()];
            if (match.method == profiles::MatchMethod::none) {
                continue;
            }
            Sums& sums = sums_[match.layer];
            for (const profiles::PointWork& work : point.work) {
                if (is_counted(work.evidence, profile_.run)) {
                    sums.flops[work.pipe.empty() ? work.precision
                                                 : work.precision + " " + work.pipe] += work.flops;
                }
            }
            for (const profiles::PointTraffic& traffic : point.traffic) {
                if (is_counted(traffic.evidence, profile_.run)) {
                    sums.bytes[traffic.level] += traffic.bytes;
                }
            }
        }
    }

    // Without numbered executions, every execution launches each of its kernels at least once: the
    // kernel launched least often tells how many there were at most.
    static std::int64_t executions(const Sums& sums) {
        if (sums.unnumbered == 0) {
            return static_cast<std::int64_t>(sums.calls.size());
        }
        std::int64_t least = sums.launches;
        for (const auto& [kernel, figures] : sums.kernels) {
            least = std::min(least, figures.first);
        }
        return std::max<std::int64_t>(1, least);
    }

    void conclude(LayerReport& layer, const Sums& sums) {
        LayerMeasurement m;
        m.executions = executions(sums);
        m.executions_assumed = sums.unnumbered > 0;
        const auto n = static_cast<double>(m.executions);
        m.launches = sums.launches;
        m.kernel_s = sums.kernel_s / n;
        if (sums.gaps_known) {
            m.gap_s = sums.gap_s / n;
        }
        m.time_s = m.kernel_s + m.gap_s.value_or(0.0);
        m.under_replay = sums.under_replay;
        m.method = sums.method;
        m.confidence = sums.confidence;
        const auto longest = std::ranges::max_element(
            sums.kernels, {}, [](const auto& kernel) { return kernel.second.second; });
        m.kernel = profile_.kernels[longest->first].name;
        double most = 0.0;
        double own = 0.0;
        const std::string type(model::data_type_name(layer.layer.types.input));
        for (const auto& [pipe, flops] : sums.flops) {
            m.flops = m.flops.value_or(0.0) + flops / n;
            own += pipe == type || pipe.starts_with(type + " ") ? flops / n : 0.0;
            if (flops > most) {
                most = flops;
                m.pipe = pipe;
            }
        }
        if (m.flops.value_or(0.0) > 0.0) {
            m.type_share = own / *m.flops;
        }
        for (const auto& [level, bytes] : sums.bytes) {
            m.bytes.push_back({level, bytes / n});
        }
        m.clock_hz = sums.clock.mean();
        m.tensor_active_percent = sums.tensor.mean();
        m.occupancy_percent = sums.occupancy.mean();
        compare(report_.machine, layer, m);
        layer.measured = std::move(m);
    }

    Measurement total(const profiles::MatchResult& matched) const {
        Measurement all;
        all.facts = facts_of(profile_.run);
        all.notes = profile_.notes;
        for (const LayerReport& layer : report_.layers) {
            if (layer.measured) {
                add(all, *layer.measured, static_cast<double>(layer.layer.count));
            }
        }
        all.matched_share = matched.matched_share(profile_);
        std::map<std::uint32_t, UnmatchedKernel> rest;
        for (const std::size_t i : matched.unmatched) {
            const Launch& launch = profile_.launches[i];
            UnmatchedKernel& kernel = rest[launch.kernel];
            kernel.name = profile_.kernel_of(launch).name;
            kernel.calls += launch.calls;
            kernel.time_s += std::max(0.0, launch.duration_ns) * kNs;
        }
        for (auto& [index, kernel] : rest) {
            all.unmatched_s += kernel.time_s;
            all.unmatched.push_back(std::move(kernel));
        }
        std::ranges::stable_sort(all.unmatched, std::ranges::greater{}, &UnmatchedKernel::time_s);
        return all;
    }

    static void add(Measurement& all, const LayerMeasurement& m, double count) {
        all.layers += 1;
        all.predicted_s += count * m.predicted_s;
        all.measured_s += count * m.time_s;
        all.unexplained_s += count * m.unexplained_s;
        all.remaining_s += count * m.remaining_s;
        for (const Disagreement& d : m.disagreements) {
            const auto same = [&](const Disagreement& other) {
                return other.step == d.step && other.quantity == d.quantity;
            };
            auto found = std::ranges::find_if(all.by_step, same);
            const bool adds_up = d.unit != "Hz" && d.unit != "%";
            if (found == all.by_step.end()) {
                found = all.by_step.insert(
                    all.by_step.end(), {d.step, d.quantity, 0.0, 0.0, adds_up ? d.unit : "", {}});
            }
            found->predicted += adds_up ? count * d.predicted : 0.0;
            found->measured += adds_up ? count * d.measured : 0.0;
            if (d.accounts_s) {
                found->accounts_s = found->accounts_s.value_or(0.0) + count * *d.accounts_s;
            }
        }
    }

    Report& report_;
    const profiles::Profile& profile_;
    profiles::MetricFamily family_; // empty where none is known
    std::vector<Sums> sums_;        // by layer
};

} // namespace

Result<profiles::MatchResult>
lay_profile(Report& report, const profiles::Profile& profile, const profiles::MetricFamily* family,
            const std::vector<profiles::ManualAssignment>& assignments) {
    return Overlay(report, profile, family).run(assignments);
}

std::vector<std::string> facts_of(const profiles::RunInfo& run) {
    std::vector<std::string> facts;
    const auto text = [&](const char* what, const std::string& value) {
        if (!value.empty()) {
            facts.push_back(*what == '\0' ? value : fmt::format("{} {}", what, value));
        }
    };
    const auto number = [&](const char* what, double value, const char* unit) {
        if (value > 0.0) {
            facts.push_back(fmt::format("{} {}", what, format_si(value, unit)));
        }
    };
    text("", run.gpu);
    text("chip", run.chip);
    text("compute capability", run.compute_capability);
    number("SM clock", run.sm_clock_hz, "Hz");
    number("SM clock at most", run.sm_clock_max_hz, "Hz");
    number("memory clock", run.memory_clock_hz, "Hz");
    number("power limit", run.power_limit_w, "W");
    number("power", run.power_w, "W");
    if (run.temperature_c > 0.0) {
        facts.push_back(fmt::format("{:.0f} °C", run.temperature_c));
    }
    text("driver", run.driver);
    text("CUDA", run.cuda);
    text("from", run.tool);
    text("command", run.command);
    text("on", run.date);
    text("host", run.host);
    return facts;
}

} // namespace eyeroof::analysis
