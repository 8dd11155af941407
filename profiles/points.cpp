#include "profiles/points.hpp"

#include "profiles/operator_layer.hpp"
#include "profiles/step_marks.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <unordered_map>

namespace eyeroof::profiles {

const char* evidence_name(Evidence evidence) {
    switch (evidence) {
    case Evidence::counted:
        return "counted";
    case Evidence::partly_counted:
        return "partly counted";
    case Evidence::from_shape:
        return "from shape";
    case Evidence::given:
        return "given";
    }
    return "";
}

double MeasuredPoint::flops() const {
    double sum = 0.0;
    for (const PointWork& item : work) {
        sum += item.flops;
    }
    return sum;
}

const PointWork* MeasuredPoint::main_work() const {
    const auto it = std::ranges::max_element(work, {}, &PointWork::flops);
    return it == work.end() ? nullptr : &*it;
}

const PointTraffic* MeasuredPoint::at_level(std::string_view level) const {
    const auto it = std::ranges::find(traffic, level, &PointTraffic::level);
    return it == traffic.end() ? nullptr : &*it;
}

double MeasuredPoint::intensity(std::string_view level) const {
    const PointTraffic* edge = at_level(level);
    return edge != nullptr && edge->bytes > 0.0 ? flops() / edge->bytes : 0.0;
}

namespace {

Evidence weaker(Evidence a, Evidence b) {
    return std::max(a, b);
}

void add_work(std::vector<PointWork>& to, const PointWork& item) {
    const auto same = [&](const PointWork& w) {
        return w.precision == item.precision && w.pipe == item.pipe;
    };
    const auto it = std::ranges::find_if(to, same);
    if (it == to.end()) {
        to.push_back(item);
    } else {
        it->flops += item.flops;
        it->evidence = weaker(it->evidence, item.evidence);
    }
}

void add_traffic(std::vector<PointTraffic>& to, const PointTraffic& item) {
    const auto it = std::ranges::find(to, item.level, &PointTraffic::level);
    if (it == to.end()) {
        to.push_back(item);
    } else {
        it->bytes += item.bytes;
        it->evidence = weaker(it->evidence, item.evidence);
    }
}

// What one launch did, as far as its own counters say.
struct Figures {
    std::vector<PointWork> work;
    std::vector<PointTraffic> traffic;
    bool work_known = false;
};

void add_counted(const Launch& launch, const MetricFamily& family, Figures& figures) {
    for (const WorkMetric& metric : family.work) {
        if (const auto sum = evaluate(metric.terms, launch.counters)) {
            figures.work_known = true;
            const Evidence evidence =
                sum->missing.empty() ? Evidence::counted : Evidence::partly_counted;
            if (sum->value > 0.0) {
                add_work(figures.work, {metric.precision, metric.pipe, sum->value, evidence});
            }
        }
    }
    for (const TrafficMetric& metric : family.traffic) {
        if (const auto sum = evaluate(metric.terms, launch.counters)) {
            const Evidence evidence =
                sum->missing.empty() ? Evidence::counted : Evidence::partly_counted;
            add_traffic(figures.traffic, {metric.level, sum->value, evidence});
        }
    }
}

// "flops.fp16.tensor", "bytes.dram": what plain files and the host measurement give.
void add_given(const Launch& launch, Figures& figures) {
    constexpr std::string_view kWork = "flops.";
    constexpr std::string_view kTraffic = "bytes.";
    for (const auto& [name, value] : launch.counters) {
        const std::string_view text = name;
        if (text.starts_with(kWork)) {
            const std::string_view rest = text.substr(kWork.size());
            const std::size_t dot = rest.find('.');
            const std::string_view pipe =
                dot == std::string_view::npos ? std::string_view{} : rest.substr(dot + 1);
            figures.work_known = true;
            if (value > 0.0) {
                add_work(figures.work, {std::string(rest.substr(0, dot)), std::string(pipe), value,
                                        Evidence::given});
            }
        } else if (text.starts_with(kTraffic)) {
            add_traffic(figures.traffic,
                        {std::string(text.substr(kTraffic.size())), value, Evidence::given});
        }
    }
}

// Operations 2 per MAC and compulsory bytes (each tensor once) of the operator's layer.
void add_from_shape(const Operator& op, const OperatorContext& context, double executions,
                    Figures& figures) {
    const auto found = any_layer_of(op, context);
    if (!found) {
        return;
    }
    const auto work = model::work_of(found->layer);
    if (!work) {
        return;
    }
    const double repeats = found->repeats * executions;
    const std::string precision(model::data_type_name(found->layer.types.input));
    const double flops =
        work->macs > 0 ? 2.0 * static_cast<double>(work->macs) : static_cast<double>(work->flops);
    if (flops > 0.0) {
        add_work(figures.work, {precision, "", flops * repeats, Evidence::from_shape});
    }
    if (figures.traffic.empty()) {
        add_traffic(figures.traffic,
                    {"dram", static_cast<double>(work->bytes()) * repeats, Evidence::from_shape});
    }
}

std::string text_of(const Operator& op) {
    std::string dims;
    for (const auto& list : op.input_dims) {
        dims += fmt::format("{}[{}]", dims.empty() ? "" : ",", fmt::join(list, ","));
    }
    return fmt::format("{} [{}]", op.name, dims);
}

class PointMaker {
  public:
    PointMaker(const Profile& profile, const MetricFamily* family, const PointOptions& options)
        : profile_(profile), family_(family), options_(options) {}

    Result<std::vector<MeasuredPoint>> run() {
        count_launches();
        if (options_.work_from_shape) {
            give_operators_their_work();
        }
        for (std::size_t i = 0; i < profile_.launches.size(); ++i) {
            add_launch(i);
        }
        return conclude();
    }

  private:
    void count_launches() {
        for (const Launch& launch : profile_.launches) {
            Figures figures;
            if (family_ != nullptr) {
                add_counted(launch, *family_, figures);
            }
            add_given(launch, figures);
            figures_.push_back(std::move(figures));
        }
    }

    // One execution of an operator may launch several kernels; its work is put on the longest, and
    // only if none of them was counted. Of sums, each kernel of the operator runs at least once an
    // execution: the kernel that runs least often tells their number.
    void give_operators_their_work() {
        std::map<std::pair<std::uint32_t, std::int64_t>, std::vector<std::size_t>> calls;
        for (std::size_t i = 0; i < profile_.launches.size(); ++i) {
            const Launch& launch = profile_.launches[i];
            const std::int32_t op = operator_at(launch);
            const std::int64_t call = launch.leaf != kNone ? launch.leaf_call : launch.op_call;
            if (op != kNone && call != kNone) {
                calls[{launch.source, call}].push_back(i);
            } else if (op != kNone && launch.calls > 1) {
                calls[{launch.source, kFirstSum - op}].push_back(i);
            }
        }
        for (const auto& [call, members] : calls) {
            const bool counted = std::ranges::any_of(
                members, [this](std::size_t i) { return figures_[i].work_known; });
            if (counted) {
                continue;
            }
            const std::size_t longest = *std::ranges::max_element(
                members, {}, [this](std::size_t i) { return profile_.launches[i].duration_ns; });
            std::int64_t executions = profile_.launches[longest].calls;
            for (const std::size_t i : members) {
                executions = std::min(executions, profile_.launches[i].calls);
            }
            const Launch& launch = profile_.launches[longest];
            OperatorContext context;
            context.ranks = profile_.run.ranks;
            context.list_type =
                type_in_kernel_name(profile_.kernel_of(launch).name).value_or(context.list_type);
            add_from_shape(profile_.operators[static_cast<std::size_t>(operator_at(launch))],
                           context, static_cast<double>(executions), figures_[longest]);
        }
    }

    // The operator that says its work, where one does.
    static std::int32_t operator_at(const Launch& launch) {
        return launch.leaf != kNone ? launch.leaf : launch.op;
    }

    std::string key_of(std::size_t i) const {
        const Launch& launch = profile_.launches[i];
        const std::string& kernel = profile_.kernel_of(launch).name;
        switch (options_.group) {
        case GroupBy::launch:
            return fmt::format("{} #{}", kernel, i);
        case GroupBy::range:
            return launch.range != kNone ? std::string(innermost_range(profile_.range_of(launch)))
                                         : kernel;
        case GroupBy::op:
            return launch.op != kNone ? text_of(*profile_.operator_of(launch)) : kernel;
        case GroupBy::kernel:
            break;
        }
        return kernel;
    }

    void add_launch(std::size_t i) {
        const Launch& launch = profile_.launches[i];
        if (launch.duration_ns <= 0.0) {
            ++without_time_;
            return;
        }
        const std::string key = key_of(i);
        const auto [it, added] = index_.try_emplace(key, points_.size());
        if (added) {
            points_.emplace_back().name = key;
            longest_ns_.push_back(0.0);
        }
        MeasuredPoint& point = points_[it->second];
        if (launch.duration_ns > longest_ns_[it->second]) {
            longest_ns_[it->second] = launch.duration_ns;
            point.kernel = profile_.kernel_of(launch).name;
            point.range = std::string(profile_.range_of(launch));
            point.op = launch.op != kNone ? text_of(*profile_.operator_of(launch)) : "";
        }
        point.launches.push_back(i);
        point.calls += launch.calls;
        point.time_s += launch.duration_ns * 1e-9;
        point.under_replay = point.under_replay || launch.under_replay;
        for (const PointWork& item : figures_[i].work) {
            add_work(point.work, item);
        }
        for (const PointTraffic& item : figures_[i].traffic) {
            add_traffic(point.traffic, item);
        }
    }

    Result<std::vector<MeasuredPoint>> conclude() {
        double total_s = 0.0;
        for (const MeasuredPoint& point : points_) {
            total_s += point.time_s;
        }
        for (MeasuredPoint& point : points_) {
            point.share = point.time_s / total_s;
        }
        Diagnostics warnings;
        if (without_time_ > 0) {
            warnings.warning("no-time",
                             fmt::format("{} of {} launches have no time and are left out",
                                         without_time_, profile_.launches.size()),
                             "merge a timing run, or collect the time counter too");
        }
        tell_missing(warnings);
        return {std::move(points_), std::move(warnings)};
    }

    // Of these counters, those that no launch has.
    std::vector<std::string> absent(const std::vector<MetricTerm>& terms) const {
        std::vector<std::string> names;
        for (const MetricTerm& term : terms) {
            const bool there = std::ranges::any_of(profile_.launches, [&](const Launch& launch) {
                return launch.counters.contains(term.counter);
            });
            if (!there) {
                names.push_back(term.counter);
            }
        }
        return names;
    }

    // What a profile with counters lacks for a place on the roofline.
    void tell_missing(Diagnostics& warnings) const {
        const bool counted = std::ranges::any_of(
            profile_.launches, [](const Launch& launch) { return !launch.counters.empty(); });
        const bool given = std::ranges::any_of(figures_, [](const Figures& figures) {
            return figures.work_known && !figures.traffic.empty();
        });
        if (!counted || (family_ == nullptr && given)) {
            return;
        }
        if (family_ == nullptr) {
            warnings.warning("no-family", "the counters are of no GPU that is known",
                             "profile with the column CC, or with counters of `measure --list`");
            return;
        }
        std::vector<std::string> work, partly;
        bool any_work = false;
        for (const WorkMetric& metric : family_->work) {
            const auto names = absent(metric.terms);
            const bool some = names.size() < metric.terms.size();
            any_work = any_work || some;
            auto& list = some ? partly : work;
            list.insert(list.end(), names.begin(), names.end());
        }
        for (const TrafficMetric& metric : family_->traffic) {
            const auto names = absent(metric.terms);
            const bool none = names.size() == metric.terms.size();
            if (none && metric.level == "dram") {
                warnings.warning("missing-metrics",
                                 fmt::format("bytes of DRAM were not collected: {} is missing",
                                             fmt::join(names, ", ")),
                                 other_names(names.front()));
            } else if (!none) {
                partly.insert(partly.end(), names.begin(), names.end());
            }
        }
        if (!any_work && !work.empty()) {
            warnings.warning(
                "missing-metrics",
                fmt::format("operations were not collected: {} are missing", fmt::join(work, ", ")),
                work.front().starts_with("SQ_")
                    ? "collect those of the types that the kernels use: rocprofv3 --pmc NAME …"
                    : "collect those of the types that the kernels use, as .sum, "
                      ".sum.per_second, or .sum.per_cycle_elapsed with the cycles");
        }
        if (!partly.empty()) {
            warnings.warning("missing-metrics",
                             fmt::format("figures are lower bounds: {} {} missing",
                                         fmt::join(partly, ", "),
                                         partly.size() == 1 ? "is" : "are"),
                             "collect them too");
        }
    }

    static std::string other_names(const std::string& counter) {
        return counter == "dram__bytes.sum"
                   ? "dram__bytes_read.sum with dram__bytes_write.sum, dram__sectors_read.sum with "
                     "dram__sectors_write.sum, or dram__bytes.sum.per_second serve too"
               : counter == "FETCH_SIZE"
                   ? "TCC_EA0_RDREQ_sum with TCC_EA0_RDREQ_32B_sum (MI200: TCC_EA_…), and the "
                     "same of WRREQ with WRREQ_64B, serve too"
                   : "";
    }

    static constexpr std::int64_t kFirstSum = -2; // below it: sums by operator, above: executions

    const Profile& profile_;
    const MetricFamily* family_;
    const PointOptions& options_;
    std::vector<Figures> figures_;
    std::vector<MeasuredPoint> points_;
    std::vector<double> longest_ns_; // of each point's launches
    std::unordered_map<std::string, std::size_t> index_;
    std::size_t without_time_ = 0;
};

} // namespace

Result<std::vector<MeasuredPoint>> points_of(const Profile& profile, const MetricFamily* family,
                                             const PointOptions& options) {
    auto problems = validate(profile);
    if (problems.has_errors()) {
        return Result<std::vector<MeasuredPoint>>(std::move(problems));
    }
    return PointMaker(profile, family, options).run();
}

} // namespace eyeroof::profiles
