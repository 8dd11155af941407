#include "report/exam/traced_answer.hpp"

#include "base/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace eyeroof::report {

namespace {

using analysis::Traced;
using analysis::TracedRow;

std::vector<Column<profiles::DeviceTime>> device_columns() {
    using T = profiles::DeviceTime;
    return {
        {"total_s", &T::total_s, kJson, "from its first kernel to its last; overlaps count once"},
        {"computation_s", &T::computation_s},
        {"communication_s", &T::communication_s},
        {"exposed_communication_s", &T::exposed_communication_s},
        {"copies_s", &T::copies_s},
        {"exposed_copies_s", &T::exposed_copies_s},
        {"idle_s", &T::idle_s},
        {"host_bound_s", &T::host_bound_s},
        {"launch_latency_s", &T::launch_latency_s},
        {"gaps", &T::gaps},
        {"longest_gap_s", &T::longest_gap_s}};
}

std::vector<Column<analysis::CriticalPath>> path_columns() {
    using P = analysis::CriticalPath;
    using analysis::PathKernel;
    return {{"total_s", &P::total_s},
            {"computation_s", &P::computation_s},
            {"communication_s", &P::communication_s},
            {"copies_s", &P::copies_s},
            {"host_s", &P::host_s},
            {"launch_s", &P::launch_s},
            {"wait_s", &P::wait_s},
            nested<P, PathKernel>("longest", "", &P::longest,
                                  {{"kernel", &PathKernel::name},
                                   {"calls", &PathKernel::calls},
                                   {"time_s", &PathKernel::seconds}},
                                  kJson)};
}

// For programs and text: pages have the rows beside the timeline.
std::vector<Column<TracedRow>> row_columns() {
    constexpr unsigned kShown = kJson | kText;
    const auto text = [](std::string TracedRow::*member) {
        return [member](const TracedRow& row) { return known_text(row.*member); };
    };
    const auto rate = [](double TracedRow::*amount) {
        return [amount](const TracedRow& row) {
            return row.*amount > 0.0 && row.measured_s > 0.0
                       ? std::optional(row.*amount / row.measured_s)
                       : std::nullopt;
        };
    };
    const auto found = [](const TracedRow& row) { return formats::found_name(row.found); };
    const auto bound = [](const TracedRow& row) {
        return row.bound_by.empty() ? std::string()
                                    : fmt::format("{}{}; {}", row.bound_by,
                                                  row.above_roof() ? " (above it)" : "", row.cause);
    };
    return absent_if_unknown<TracedRow>(
        {{"layer", "operator and shape", Unit::none, &TracedRow::layer, kShown},
         {"operator", &TracedRow::op},
         {"input_dims", &TracedRow::dims},
         {"category", &TracedRow::category},
         {"found", "work", Unit::none, found, kShown, "exact, assumed, or traffic"},
         {"runs", "runs", Unit::count, &TracedRow::count, kShown},
         {"measured_s", "measured", Unit::seconds, &TracedRow::measured_s, kShown},
         {"share", &TracedRow::share},
         {"alone_runs", &TracedRow::alone_runs, kJson,
          "runs during which no kernel of another stream ran"},
         {"alone_s", &TracedRow::alone_s},
         {"flops", &TracedRow::flops},
         {"bytes", &TracedRow::bytes},
         {"above_roof", &TracedRow::above_roof},
         {"predicted_s", "predicted", Unit::seconds, &TracedRow::predicted_s, kShown},
         {"low_s", &TracedRow::low_s},
         {"high_s", &TracedRow::high_s},
         {"bound_s", "bound", Unit::seconds, &TracedRow::bound_s, kShown},
         {"", "rate", Unit::flops_per_s, rate(&TracedRow::flops), kText},
         {"", "bandwidth", Unit::bytes_per_s, rate(&TracedRow::bytes), kText},
         {"", "bound by; what keeps it from there", Unit::sentence, bound, kText},
         {"why", text(&TracedRow::why)},
         {"bound_by", text(&TracedRow::bound_by)},
         {"cause", text(&TracedRow::cause)},
         {"doubt", text(&TracedRow::doubt), kJson,
          "work of its kernel that the model does not include"},
         {"not_compared", text(&TracedRow::not_compared)}});
}

std::vector<Column<analysis::TracedCategory>> category_columns() {
    using C = analysis::TracedCategory;
    return {{"name", "category", Unit::none, &C::name},
            {"runs", "runs", Unit::count, &C::runs},
            {"measured_s", "time", Unit::seconds, &C::measured_s},
            {"share", "share", Unit::share, &C::share}};
}

std::vector<Column<analysis::TracedComparison>> comparison_columns() {
    using C = analysis::TracedComparison;
    return {{"name", "category", Unit::none, &C::name},
            {"shapes", "shapes", Unit::count, &C::rows},
            {"measured_s", "measured", Unit::seconds, &C::measured_s},
            {"predicted_s", "predicted", Unit::seconds, &C::predicted_s},
            {"median_error", "median error", Unit::share, &C::median_error},
            {"median_ratio", "median ratio", Unit::times, &C::bias},
            {"inside", "inside", Unit::share, &C::coverage, kAll,
             "the 80 % interval with what a trace leaves open: clocks, caches, inferred shapes"},
            {"inside_of_model", "of the model", Unit::share, &C::model_coverage, kAll,
             "inside the model's own interval"}};
}

std::vector<Column<analysis::TracedLeftOut>> left_out_columns() {
    using analysis::TracedLeftOut;
    return {{"shapes", "shapes", Unit::count, &TracedLeftOut::rows},
            {"measured_s", "time", Unit::seconds, &TracedLeftOut::measured_s},
            {"why", "why", Unit::line, &TracedLeftOut::why}};
}

std::vector<Column<analysis::TracedModule>> module_columns() {
    using M = analysis::TracedModule;
    return absent_if_unknown<M>({{"path", "module", Unit::line, &M::path},
                                 {"instances", "modules", Unit::count, &M::instances},
                                 {"kernels", "kernels", Unit::count, &M::kernels},
                                 {"forward_s", "forward", Unit::seconds, &M::forward_s},
                                 {"backward_s", "backward", Unit::seconds, &M::backward_s},
                                 {"predicted_s", "predicted", Unit::seconds, &M::predicted_s}});
}

std::vector<Column<analysis::TracedChange>> change_columns() {
    using analysis::TracedChange;
    return {{"saves_s", "saves", Unit::seconds, &TracedChange::saves_s},
            {"what", "change", Unit::line, &TracedChange::what},
            {"why", "why", Unit::sentence, &TracedChange::why}};
}

std::vector<Column<analysis::RankSide>> side_columns() {
    using analysis::RankSide, profiles::DeviceTime;
    const auto time = [](double DeviceTime::*member) {
        return [member](const RankSide& side) { return side.time.*member; };
    };
    return {{"name", "rank", Unit::none, &RankSide::name},
            object<RankSide, DeviceTime>(
                "device", [](const RankSide& side) { return std::optional(side.time); },
                device_columns()),
            {"", "total", Unit::seconds, time(&DeviceTime::total_s), kPeople},
            {"", "computation", Unit::seconds, time(&DeviceTime::computation_s), kPeople},
            {"", "communication", Unit::seconds, time(&DeviceTime::communication_s), kPeople},
            {"", "idle", Unit::seconds, time(&DeviceTime::idle_s), kPeople},
            {"waits_s", "waits", Unit::seconds, &RankSide::waits_s, kAll,
             "for the last rank of each collective"},
            {"delays_s", "waited for", Unit::seconds, &RankSide::delays_s, kAll,
             "by all others together"},
            {"last", "last", Unit::count, &RankSide::last}};
}

struct RankedCollective {
    analysis::RankCollective of;
    std::string last;
};

std::vector<RankedCollective> ranked_collectives(const analysis::Ranks& all) {
    std::vector<RankedCollective> rows;
    for (const analysis::RankCollective& one : all.collectives) {
        rows.push_back({one, all.ranks[one.last].name});
    }
    return rows;
}

std::vector<Column<RankedCollective>> collective_columns() {
    using C = analysis::RankCollective;
    const auto of = [](auto C::*member) {
        return [member](const RankedCollective& row) { return row.of.*member; };
    };
    return {{"name", "collective", Unit::none, of(&C::name)},
            {"calls", "calls", Unit::count, of(&C::calls)},
            {"unmatched", "not on every rank", Unit::count, of(&C::unmatched)},
            {"mean_s", "mean", Unit::seconds, of(&C::mean_s)},
            {"least_s", "shortest", Unit::seconds, of(&C::least_s)},
            {"waits_s", "waiting", Unit::seconds, of(&C::waits_s)},
            {"last", "most waited for", Unit::none, &RankedCollective::last}};
}

template <class Row> std::vector<Row> one_or_none(const Row* row) {
    return row == nullptr ? std::vector<Row>() : std::vector<Row>{*row};
}

} // namespace

AnswerTable trace_table(const Traced* traced) {
    using analysis::TracedCategory, analysis::TracedChange, analysis::TracedComparison,
        analysis::TracedLeftOut, analysis::TracedModule;
    return make_table<Traced>(
        "trace", "", one_or_none(traced),
        {{"step", &Traced::step},
         {"gpu", &Traced::gpu},
         {"machine", &Traced::machine},
         {"kernel_s", &Traced::kernel_s},
         {"layered_share", &Traced::layered_share},
         {"placed_share", &Traced::placed_share},
         {"beside_s", &Traced::beside_s},
         {"forward_s", &Traced::forward_s},
         {"backward_s", &Traced::backward_s},
         object<Traced, profiles::DeviceTime>("device", &Traced::device, device_columns()),
         object<Traced, analysis::CriticalPath>("critical_path", &Traced::path, path_columns()),
         nested<Traced, TracedCategory>("categories", "", &Traced::categories, category_columns(),
                                        kJson),
         nested<Traced, TracedRow>(
             "rows", "", &Traced::rows, row_columns(), kJson,
             "one operator and shape each, the longest first; times are of all runs"),
         nested<Traced, TracedComparison>("comparisons", "", &Traced::comparisons,
                                          comparison_columns(), kJson),
         nested<Traced, TracedLeftOut>("not_compared", "", &Traced::left_out, left_out_columns(),
                                       kJson),
         nested<Traced, TracedModule>("modules", "", &Traced::modules, module_columns(), kJson),
         nested<Traced, TracedChange>("changes", "", &Traced::changes, change_columns(), kJson)},
        Form::object);
}

AnswerTable ranks_table(const analysis::Ranks* ranks) {
    using analysis::Ranks, analysis::RankSide;
    using Waits = std::vector<double>;
    return make_table<Ranks>(
        "ranks", "", one_or_none(ranks),
        {{"imbalance", &Ranks::imbalance},
         nested<Ranks, RankSide>("sides", "", &Ranks::ranks, side_columns(), kJson),
         nested<Ranks, RankedCollective>("collectives", "", ranked_collectives,
                                         collective_columns(), kJson),
         nested<Ranks, Waits>("waits_s", "", &Ranks::waits,
                              {{"of_rank", [](const Waits& waits) { return waits; }}}, kJson,
                              "[r][s]: seconds that rank r waits for rank s", Form::list_of_cells)},
        Form::object);
}

namespace {

constexpr std::size_t kTraceRows = 20;

struct TimePart {
    std::string what;
    double seconds = 0.0, whole = 0.0;
};

AnswerTable time_parts(const char* title, const std::vector<TimePart>& parts) {
    const auto share = [](const TimePart& p) { return p.whole > 0.0 ? p.seconds / p.whole : 0.0; };
    return make_table<TimePart>("", title, parts,
                                {{"", "part", Unit::line, &TimePart::what, kPeople},
                                 {"", "time", Unit::seconds, &TimePart::seconds, kPeople},
                                 {"", "share", Unit::share, share, kPeople}});
}

AnswerTable device_parts(const profiles::DeviceTime& t) {
    const double all = t.total_s;
    return time_parts("Where the GPU's time goes",
                      {{"computation", t.computation_s, all},
                       {"exposed communication", t.exposed_communication_s, all},
                       {"exposed copies", t.exposed_copies_s, all},
                       {"idle", t.idle_s, all},
                       {"of it waiting for the host", t.host_bound_s, all},
                       {"of it launch latency", t.launch_latency_s, all},
                       {fmt::format("longest of {} gaps", t.gaps), t.longest_gap_s, all},
                       {"total", all, all}});
}

AnswerTable path_parts(const analysis::CriticalPath& path) {
    const double all = path.total_s();
    const double beside = path.kernels_s - path.computation_s - path.communication_s;
    constexpr double kRounding_s = 1e-9;
    std::vector<TimePart> parts = {
        {"computation", path.computation_s, all}, {"communication", path.communication_s, all},
        {"copies", path.copies_s, all},           {"host", path.host_s, all},
        {"launch latency", path.launch_s, all},   {"waits on the device", path.wait_s, all}};
    if (beside >= kRounding_s) {
        parts.push_back({"kernels beside it", beside, all});
    }
    constexpr std::size_t kLongestKernels = 3;
    for (std::size_t i = 0; i < std::min(kLongestKernels, path.longest.size()); ++i) {
        const analysis::PathKernel& kernel = path.longest[i];
        parts.push_back({fmt::format("{} x {}", kernel.calls, kernel.name), kernel.seconds, all});
    }
    return time_parts("Critical path of the step", parts);
}

// Kernels of no operator of known work, where they take a part of the step.
AnswerTable unknown_kernels(const Traced& traced) {
    using analysis::TracedKernel;
    constexpr double kLeastShare = 0.02;
    double all_s = 0.0;
    for (const TracedKernel& kernel : traced.unknown) {
        all_s += kernel.measured_s;
    }
    const auto what = [](const TracedKernel& k) {
        return k.category + (k.says.empty() ? "" : ", " + k.says);
    };
    const auto share = [all = traced.kernel_s](const TracedKernel& k) {
        return k.measured_s / all;
    };
    AnswerTable made = make_table<TracedKernel>(
        "", "Kernels by name alone",
        all_s > kLeastShare * traced.kernel_s ? traced.unknown : std::vector<TracedKernel>(),
        {{"", "kernels", Unit::none, what, kPeople},
         {"", "runs", Unit::count, &TracedKernel::runs, kPeople},
         {"", "time", Unit::seconds, &TracedKernel::measured_s, kPeople},
         {"", "share", Unit::share, share, kPeople},
         {"", "kernel", Unit::line, &TracedKernel::name, kPeople}});
    made.most_for_people = kTraceRows;
    return made;
}

// The operators whose predictions miss most time; figures are of a run.
AnswerTable largest_misses(const Traced& traced) {
    constexpr std::size_t kMisses = 10;
    std::vector<TracedRow> rows;
    std::ranges::copy_if(traced.rows, std::back_inserter(rows),
                         [](const TracedRow& row) { return row.ratio().has_value(); });
    std::ranges::stable_sort(rows, std::ranges::greater{}, [](const TracedRow& row) {
        return std::abs(row.alone_s - row.alone_s / *row.ratio());
    });
    rows.resize(std::min(kMisses, rows.size()));
    const auto each = [](const TracedRow& r) {
        return r.alone_s / static_cast<double>(r.alone_runs);
    };
    return make_table<TracedRow>(
        "", "Largest misses, a run", rows,
        {{"", "operator and shape", Unit::none, &TracedRow::layer, kPeople},
         {"", "measured", Unit::seconds, each, kPeople},
         {"", "predicted", Unit::seconds,
          [each](const TracedRow& r) { return each(r) / *r.ratio(); }, kPeople},
         {"", "ratio", Unit::times, [](const TracedRow& r) { return *r.ratio(); }, kPeople},
         {"", "what the prediction does not know", Unit::sentence, &TracedRow::doubt, kPeople}});
}

// Those that take a hundredth of the kernels' time.
std::vector<analysis::TracedModule> long_modules(const Traced& traced) {
    constexpr double kLeastShare = 0.01;
    std::vector<analysis::TracedModule> rows = traced.modules;
    std::erase_if(rows, [&](const analysis::TracedModule& module) {
        return !(module.measured_s() > 0.0) || module.measured_s() < kLeastShare * traced.kernel_s;
    });
    for (analysis::TracedModule& module : rows) { // its name and its parent's fit a line
        const std::size_t last = module.path.rfind('/');
        const std::size_t parent = last == 0 ? 0 : module.path.rfind('/', last - 1);
        if (last != std::string::npos && parent != std::string::npos) {
            module.path.replace(0, parent, "…");
        }
    }
    return rows;
}

} // namespace

std::string traced_sentence(const Traced& traced) {
    std::string text = fmt::format(
        "step: {}; {:.1f} % of {} of kernels belong to {} operators of known work, {:.1f} % of "
        "these have a place below a roof",
        traced.step, 100.0 * traced.layered_share(), format_si(traced.kernel_s, "s"),
        traced.rows.size(), 100.0 * traced.placed_share());
    if (traced.backward_s > 0.0) {
        text += fmt::format("; backward pass {}, all else {} of kernels and copies",
                            format_si(traced.backward_s, "s"), format_si(traced.forward_s, "s"));
    }
    return text;
}

std::vector<AnswerTable> traced_tables(const Traced& traced) {
    std::vector<AnswerTable> tables;
    if (traced.device) {
        tables.push_back(device_parts(*traced.device));
    }
    if (traced.path) {
        tables.push_back(path_parts(*traced.path));
    }
    const std::vector<AnswerTable> more = {
        make_table("", "Operators by category", traced.categories, category_columns()),
        make_table("", "Operators", traced.rows, row_columns()),
        unknown_kernels(traced),
        make_table("", "Predicted against measured kernel time of runs that no other stream shares",
                   traced.comparisons, comparison_columns()),
        largest_misses(traced),
        make_table("", "Not compared", traced.left_out, left_out_columns()),
        make_table("", "Modules", long_modules(traced), module_columns()),
        make_table("", "Changes, and at most what each alone saves of the step", traced.changes,
                   change_columns())};
    tables.insert(tables.end(), more.begin(), more.end());
    for (AnswerTable& table : tables) {
        table.most_for_people = kTraceRows;
    }
    return tables;
}

std::vector<AnswerTable> ranks_tables(const analysis::Ranks& ranks) {
    constexpr std::size_t kMostSides = 16; // of the table of pairs
    std::vector<AnswerTable> tables = {
        make_table("",
                   fmt::format("{} ranks: the busiest computes {:.1f} % longer than the mean",
                               ranks.ranks.size(), 100.0 * ranks.imbalance),
                   ranks.ranks, side_columns()),
        make_table("", "Collectives", ranked_collectives(ranks), collective_columns())};
    tables.back().most_for_people = kTraceRows;
    if (ranks.ranks.size() > kMostSides || ranks.collectives.empty()) {
        return tables;
    }
    std::vector<std::size_t> rows;
    std::vector<Column<std::size_t>> columns = {
        {"", "rank", Unit::none, [&ranks](std::size_t r) { return ranks.ranks[r].name; }, kPeople}};
    for (std::size_t of = 0; of < ranks.ranks.size(); ++of) {
        rows.push_back(of);
        columns.push_back({"", ranks.ranks[of].name, Unit::seconds,
                           [&ranks, of](std::size_t r) {
                               return r == of ? std::optional<double>() : ranks.waits[r][of];
                           },
                           kPeople});
    }
    tables.push_back(make_table("", "Who waits (row) for whom (column)", rows, columns));
    return tables;
}

} // namespace eyeroof::report
