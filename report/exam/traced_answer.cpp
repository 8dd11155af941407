#include "report/exam/traced_answer.hpp"

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

std::vector<Column<TracedRow>> row_columns() {
    const auto text = [](std::string TracedRow::*member) {
        return [member](const TracedRow& row) { return known_text(row.*member); };
    };
    return absent_if_unknown<TracedRow>(
        {{"layer", &TracedRow::layer},
         {"operator", &TracedRow::op},
         {"input_dims", &TracedRow::dims},
         {"category", &TracedRow::category},
         {"found", [](const TracedRow& row) { return formats::found_name(row.found); }, kJson,
          "the work: exact, assumed, or traffic"},
         {"runs", &TracedRow::count},
         {"measured_s", &TracedRow::measured_s},
         {"share", &TracedRow::share},
         {"alone_runs", &TracedRow::alone_runs, kJson,
          "runs during which no kernel of another stream ran"},
         {"alone_s", &TracedRow::alone_s},
         {"flops", &TracedRow::flops},
         {"bytes", &TracedRow::bytes},
         {"above_roof", &TracedRow::above_roof},
         {"bound_s", &TracedRow::bound_s},
         {"predicted_s", &TracedRow::predicted_s},
         {"low_s", &TracedRow::low_s},
         {"high_s", &TracedRow::high_s},
         {"why", text(&TracedRow::why)},
         {"bound_by", text(&TracedRow::bound_by)},
         {"cause", text(&TracedRow::cause)},
         {"doubt", text(&TracedRow::doubt), kJson,
          "work of its kernel that the model does not include"},
         {"not_compared", text(&TracedRow::not_compared)}});
}

Column<Traced> categories_column() {
    using C = analysis::TracedCategory;
    return nested<Traced, C>("categories", "", &Traced::categories,
                             {{"name", &C::name},
                              {"runs", &C::runs},
                              {"measured_s", &C::measured_s},
                              {"share", &C::share}},
                             kJson);
}

Column<Traced> comparisons_column() {
    using C = analysis::TracedComparison;
    return nested<Traced, C>("comparisons", "", &Traced::comparisons,
                             {{"name", &C::name},
                              {"shapes", &C::rows},
                              {"median_error", &C::median_error},
                              {"median_ratio", &C::bias},
                              {"inside", &C::coverage},
                              {"inside_of_model", &C::model_coverage},
                              {"measured_s", &C::measured_s},
                              {"predicted_s", &C::predicted_s}},
                             kJson);
}

Column<Traced> modules_column() {
    using M = analysis::TracedModule;
    return nested<Traced, M>("modules", "", &Traced::modules,
                             absent_if_unknown<M>({{"path", &M::path},
                                                   {"instances", &M::instances},
                                                   {"kernels", &M::kernels},
                                                   {"forward_s", &M::forward_s},
                                                   {"backward_s", &M::backward_s},
                                                   {"predicted_s", &M::predicted_s}}),
                             kJson);
}

template <class Row> std::vector<Row> one_or_none(const Row* row) {
    return row == nullptr ? std::vector<Row>() : std::vector<Row>{*row};
}

} // namespace

AnswerTable trace_table(const Traced* traced) {
    using analysis::TracedChange, analysis::TracedLeftOut;
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
         categories_column(),
         nested<Traced, TracedRow>(
             "rows", "", &Traced::rows, row_columns(), kJson,
             "one operator and shape each, the longest first; times are of all runs"),
         comparisons_column(),
         nested<Traced, TracedLeftOut>("not_compared", "", &Traced::left_out,
                                       {{"why", &TracedLeftOut::why},
                                        {"shapes", &TracedLeftOut::rows},
                                        {"measured_s", &TracedLeftOut::measured_s}},
                                       kJson),
         modules_column(),
         nested<Traced, TracedChange>("changes", "", &Traced::changes,
                                      {{"what", &TracedChange::what},
                                       {"why", &TracedChange::why},
                                       {"saves_s", &TracedChange::saves_s}},
                                      kJson)},
        Form::object);
}

AnswerTable ranks_table(const analysis::Ranks* ranks) {
    using analysis::Ranks, analysis::RankSide;
    struct Collective {
        analysis::RankCollective of;
        std::string last;
    };
    const auto collectives = [](const Ranks& all) {
        std::vector<Collective> rows;
        for (const analysis::RankCollective& one : all.collectives) {
            rows.push_back({one, all.ranks[one.last].name});
        }
        return rows;
    };
    const auto of = [](auto analysis::RankCollective::*member) {
        return [member](const Collective& row) { return row.of.*member; };
    };
    using C = analysis::RankCollective;
    using Waits = std::vector<double>;
    return make_table<Ranks>(
        "ranks", "", one_or_none(ranks),
        {{"imbalance", &Ranks::imbalance},
         nested<Ranks, RankSide>(
             "sides", "", &Ranks::ranks,
             {{"name", &RankSide::name},
              object<RankSide, profiles::DeviceTime>(
                  "device", [](const RankSide& side) { return std::optional(side.time); },
                  device_columns()),
              {"waits_s", &RankSide::waits_s},
              {"delays_s", &RankSide::delays_s},
              {"last", &RankSide::last}},
             kJson),
         nested<Ranks, Collective>("collectives", "", collectives,
                                   {{"name", of(&C::name)},
                                    {"calls", of(&C::calls)},
                                    {"unmatched", of(&C::unmatched)},
                                    {"mean_s", of(&C::mean_s)},
                                    {"least_s", of(&C::least_s)},
                                    {"waits_s", of(&C::waits_s)},
                                    {"last", &Collective::last}},
                                   kJson),
         nested<Ranks, Waits>("waits_s", "", &Ranks::waits,
                              {{"of_rank", [](const Waits& waits) { return waits; }}}, kJson,
                              "[r][s]: seconds that rank r waits for rank s", Form::list_of_cells)},
        Form::object);
}

} // namespace eyeroof::report
