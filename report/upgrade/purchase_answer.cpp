#include "report/upgrade/purchase_answer.hpp"

#include "report/upgrade/candidate_columns.hpp"
#include "report/upgrade/purchase_tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace eyeroof::report {

namespace {

using analysis::Interval;
using analysis::MemoryNeed;
using analysis::Purchase;
using analysis::PurchaseAnswer;
using analysis::PurchaseOption;
using analysis::Upgrade;
using analysis::UpgradeLayer;

std::vector<Column<Upgrade>> error_columns() {
    using Error = model::TransferKind;
    const auto of = [](auto Error::*member) {
        return [member](const Upgrade& u) { return u.error.*member; };
    };
    return {{"kind", &Upgrade::kind},
            {"families", of(&Error::families)},
            {"rows", of(&Error::rows)},
            {"mape", of(&Error::mape)},
            {"bandwidth_ratio_mape", of(&Error::sheet_mape)},
            {"median_guess_mape", of(&Error::guess_mape)},
            {"better_than_data_sheets", [](const Upgrade& u) { return u.error.beats_sheets(); }}};
}

std::vector<Column<Upgrade>> money_columns() {
    using Money = analysis::UpgradeMoney;
    const auto of = [](auto Money::*member) {
        return [member](const Upgrade& u) { return u.money.*member; };
    };
    return {{"money.priced", of(&Money::priced)},
            {"money.from_usd_per_hour", of(&Money::from_usd_per_hour)},
            {"money.to_usd_per_hour", of(&Money::to_usd_per_hour)},
            {"money.break_even_speedup", of(&Money::break_even_speedup), kPrograms,
             "null: the old GPU costs nothing"},
            {"money.from_usd_per_run", of(&Money::from_usd_per_run)},
            {"money.to_usd_per_run", of(&Money::to_usd_per_run)},
            {"money.from_joules", of(&Money::from_joules), kPrograms,
             "null: the board's power is unknown"},
            {"money.to_joules", of(&Money::to_joules)},
            {"money.from_price_source", of(&Money::from_price_source)},
            {"money.to_price_source", of(&Money::to_price_source)},
            {"money.buy_source", of(&Money::buy_source)},
            {"money.utilization", of(&Money::utilization)},
            {"money.break_even_months", of(&Money::break_even_months)},
            {"money.break_even_utilization", of(&Money::break_even_utilization)},
            {"money.owned_usd_per_hour", of(&Money::owned_usd_per_hour)}};
}

std::vector<Column<analysis::UpgradeMemory>> upgrade_memory_columns() {
    using Memory = analysis::UpgradeMemory;
    std::vector<Column<Memory>> columns;
    for (const auto& [side, need, bytes] :
         {std::tuple{"from.", &Memory::from_need, &Memory::from_bytes},
          {"to.", &Memory::to_need, &Memory::to_bytes}}) {
        const auto add = [&](const char* key, double MemoryNeed::*part) {
            columns.emplace_back(std::string(side) + key + "_bytes",
                                 [need, part](const Memory& m) { return m.*need.*part; });
        };
        add("weights", &MemoryNeed::weights);
        add("activations", &MemoryNeed::activations);
        add("gradients", &MemoryNeed::gradients);
        add("optimizer", &MemoryNeed::optimizer);
        add("workspace", &MemoryNeed::workspace);
        append_columns<Memory>(
            columns, {{std::string(side) + "total_bytes",
                       [need](const Memory& m) { return (m.*need).total(); }},
                      {std::string(side) + "gpu_bytes", bytes},
                      {std::string(side) + "fits",
                       [need, bytes](const Memory& m) { return (m.*need).total() <= m.*bytes; }}});
    }
    return columns;
}

std::vector<Column<Upgrade>> upgrade_columns() {
    std::vector<Column<Upgrade>> columns = {{"network", &Upgrade::network},
                                            {"from", &Upgrade::from},
                                            {"to", &Upgrade::to},
                                            {"from_s", &Upgrade::from_s},
                                            {"to_s", &Upgrade::to_s}};
    add_span(columns, "speedup", &Upgrade::speedup);
    columns.emplace_back("run", &Upgrade::run);
    for (const auto& [side, step] :
         {std::pair{"from", &Upgrade::from_step}, {"to", &Upgrade::to_step}}) {
        const auto of = [step](auto analysis::StepSide::*member) {
            return [step, member](const Upgrade& u) { return u.*step.*member; };
        };
        const std::string key = std::string("steps.") + side + ".";
        append_columns<Upgrade>(columns, {{key + "host_s", of(&analysis::StepSide::host_s)},
                                          {key + "device_s", of(&analysis::StepSide::device_s)},
                                          {key + "host", of(&analysis::StepSide::host)}});
    }
    const auto measured = [](const Upgrade& u) {
        return u.error.families > 0 ? std::optional(u) : std::nullopt;
    };
    const auto memory = [](const Upgrade& u) {
        return u.memory.from_need.total() > 0.0 ? std::optional(u.memory) : std::nullopt;
    };
    append_columns<Upgrade>(
        columns, {null_if_unknown(object<Upgrade, Upgrade>(
                      "whole_networks", measured, error_columns(),
                      "errors of such predictions on held-out families; null: none was measured")),
                  {"verdict", verdict_text},
                  {"threshold", &Upgrade::threshold, kPrograms, "null: no speedup is enough"},
                  {"threshold_basis", &Upgrade::threshold_basis},
                  {"probability_wrong", &Upgrade::probability_wrong},
                  {"bound_share", &Upgrade::bound_share, kPrograms,
                   "of the time, bound by arithmetic or memory on both"}});
    append_columns(columns, money_columns());
    columns.push_back(object<Upgrade, analysis::UpgradeMemory>(
        "memory", memory, upgrade_memory_columns(), "absent of a fleet"));
    return columns;
}

std::string name_of_layer(const UpgradeLayer& l) {
    return l.network.empty() ? l.name : l.network + "/" + l.name;
}

AnswerTable layers_of_upgrade(const Upgrade& u) {
    const auto network = [own = u.network](const UpgradeLayer& l) {
        return l.network.empty() ? own : l.network;
    };
    return make_table<UpgradeLayer>("layers", "", u.layers,
                                    {{"layer", name_of_layer, kCsv},
                                     {"name", &UpgradeLayer::name, kJson},
                                     {"network", network, kJson},
                                     {"op", &UpgradeLayer::op},
                                     {"count", &UpgradeLayer::count},
                                     {"from_s", &UpgradeLayer::from_s},
                                     {"to_s", &UpgradeLayer::to_s},
                                     {"speedup", &UpgradeLayer::speedup},
                                     {"share_of_from", &UpgradeLayer::share_of_from},
                                     {"from_limiter", &UpgradeLayer::from_limiter},
                                     {"to_limiter", &UpgradeLayer::to_limiter},
                                     {"why_not_more", &UpgradeLayer::why, kJson}});
}

// The layers that take most time on the old GPU, for pages.
AnswerTable longest_layers(const Upgrade& u) {
    constexpr std::size_t kShown = 12;
    std::vector<UpgradeLayer> layers = u.layers;
    std::ranges::stable_sort(layers, std::ranges::greater{}, &UpgradeLayer::share_of_from);
    layers.resize(std::min(layers.size(), kShown));
    using L = UpgradeLayer;
    return make_table<L>("", "Longest layers", layers,
                         {{"", "layer", Unit::none, name_of_layer, kPages},
                          {"", "share", Unit::share, &L::share_of_from, kPages},
                          {"", "speedup", Unit::times, &L::speedup, kPages},
                          {"", "old limit", Unit::none, &L::from_limiter, kPages},
                          {"", "new limit", Unit::none, &L::to_limiter, kPages},
                          {"", "limiting factor", Unit::none, &L::why, kPages}});
}

AnswerTable sweep_of_batches(const Upgrade& u) {
    using Point = analysis::SweepPoint;
    const auto part = [](double Interval::*member) {
        return [member](const Point& p) { return p.speedup.*member; };
    };
    const auto type = [](std::string Point::*member) {
        return [member](const Point& p) {
            return (p.*member).empty() ? std::string("as given") : p.*member;
        };
    };
    const auto interval = [](const Point& p) {
        return fmt::format("{:.2f} to {:.2f}", p.speedup.low, p.speedup.high);
    };
    const auto verdict = [](const Point& p) {
        return std::string(analysis::verdict_name(p.verdict));
    };
    std::vector<Column<Point>> columns = {
        {"batch", "batch", Unit::count, &Point::batch, kPrograms | kPages},
        {"from_dtype", &Point::from_dtype},
        {"to_dtype", &Point::to_dtype},
        {"", "old type", Unit::none, type(&Point::from_dtype), kPages},
        {"", "new type", Unit::none, type(&Point::to_dtype), kPages},
        {"from_s", "old", Unit::seconds, &Point::from_s, kPrograms | kPages},
        {"to_s", "new", Unit::seconds, &Point::to_s, kPrograms | kPages}};
    add_span(columns, "speedup", &Point::speedup);
    append_columns<Point>(
        columns, {{"speedup", "speedup", Unit::times, part(&Interval::value), kCsv | kPages},
                  {"low", part(&Interval::low), kCsv},
                  {"high", part(&Interval::high), kCsv},
                  {"", "80 % interval", Unit::none, interval, kPages},
                  {"verdict", "verdict", Unit::none, verdict, kPrograms | kPages},
                  {"probability_wrong", &Point::probability_wrong},
                  {"from_fits", "fits old", Unit::none, &Point::from_fits, kPrograms | kPages},
                  {"to_fits", "fits new", Unit::none, &Point::to_fits, kPrograms | kPages}});
    return make_table<Point>("sweep", "Batches and data types", u.sweep, columns);
}

AnswerTable members_of(const Upgrade& u) {
    struct Member {
        const Upgrade* of;
        double share;
    };
    std::vector<Member> members;
    for (std::size_t i = 0; i < u.members.size(); ++i) {
        members.push_back({&u.members[i], u.weights[i]});
    }
    const auto of = [](auto Upgrade::*member) {
        return [member](const Member& m) { return m.of->*member; };
    };
    std::vector<Column<Member>> columns = {
        {"network", "network", Unit::none, of(&Upgrade::network), kJson | kPages},
        {"share_of_from", "share of the old time", Unit::share, &Member::share, kJson | kPages},
        {"from_s", of(&Upgrade::from_s), kJson},
        {"to_s", of(&Upgrade::to_s), kJson},
        {"", "speedup", Unit::times, [](const Member& m) { return m.of->speedup.value; }, kPages}};
    add_span(columns, "speedup", of(&Upgrade::speedup));
    columns.emplace_back(
        "verdict", [](const Member& m) { return verdict_text(*m.of); }, kJson);
    return make_table<Member>("networks", "Networks", members, columns);
}

AnswerTable categories_of(const Upgrade& u) {
    using Category = analysis::UpgradeCategory;
    std::vector<Column<Category>> columns = {{"name", &Category::name, kJson},
                                             {"from_s", &Category::from_s, kJson, "measured"}};
    add_span(columns, "to_s", &Category::to_s);
    add_span(columns, "speedup", &Category::speedup);
    add_span(columns, "predicted_s", &Category::predicted_s);
    return make_table<Category>("categories", "", u.categories, columns, Form::list_if_any);
}

AnswerTable assumptions_of_upgrade(const Upgrade& u) {
    using analysis::Assumption;
    return make_table<Assumption>("assumptions", "", u.assumptions,
                                  {{"assumed", &Assumption::what, kJson},
                                   {"instead", &Assumption::instead, kJson},
                                   {"speedup", &Assumption::speedup, kJson}});
}

Column<Purchase> mix_column() {
    using analysis::FleetMix;
    const auto mix = [](const Purchase& p) { return p.mix && p.mix->plan ? p.mix : std::nullopt; };
    const auto counts = [](const FleetMix& m) {
        AnswerTable networks;
        networks.form = Form::list_of_cells;
        networks.columns.resize(1);
        for (const auto& of_network : m.plan->counts) {
            networks.rows.push_back({value_of(
                make_table<int>("", "", of_network, {{"count", [](int count) { return count; }}},
                                Form::list_of_cells))});
        }
        return networks;
    };
    Column<FleetMix> counts_column("counts", counts, kJson, "GPUs of each type, for each network");
    counts_column.head.form = Form::list_of_cells;
    Head of_network;
    of_network.kind = Kind::table;
    of_network.form = Form::list_of_cells;
    of_network.columns.resize(1);
    of_network.columns.front().kind = Kind::integer;
    counts_column.head.columns = {of_network};
    const auto watts = [](const FleetMix& m) {
        return m.unknown_power.empty() ? std::optional(m.plan->power) : std::nullopt;
    };
    return null_if_unknown(object<Purchase, FleetMix>(
        "best_fleet", mix,
        {{"networks", &FleetMix::networks},
         {"gpus", &FleetMix::gpus},
         {"left_out", &FleetMix::left_out, kPrograms, "of unknown power, under a limit of it"},
         counts_column,
         {"usd_per_year", [](const FleetMix& m) { return m.plan->cost; }},
         {"watts", watts, kPrograms, "at most; null: the power of some is unknown"},
         {"gap", [](const FleetMix& m) { return m.plan->gap; }, kPrograms,
          "no mix is cheaper than (1 - gap) of usd_per_year"}},
        "the cheapest mix of the GPUs for the networks under the limits; null: none was sought or "
        "found"));
}

std::vector<Column<Purchase>> purchase_columns() {
    const auto term = [](auto analysis::PurchaseTerms::*member) {
        return [member](const Purchase& p) { return p.terms.*member; };
    };
    const auto price = [](double analysis::UpgradePrices::*member) {
        return [member](const Purchase& p) { return p.prices.*member; };
    };
    using analysis::PurchaseTerms, analysis::UpgradePrices, analysis::Unbought;
    std::vector<Column<Purchase>> columns = {
        {"sentence", &Purchase::sentence, kJson, "to quote"},
        {"unit", &Purchase::unit, kJson, "of usd_per_1000 and joules_per_1000"},
        {"best", &Purchase::best, kJson, "index in candidates"},
        {"terms.count", term(&PurchaseTerms::count)},
        {"terms.utilization", price(&UpgradePrices::utilization)},
        {"terms.years", price(&UpgradePrices::years)},
        {"terms.usd_per_kwh", price(&UpgradePrices::power_usd_per_kwh)},
        {"terms.pue", price(&UpgradePrices::pue)},
        {"terms.kg_co2_per_kwh", term(&PurchaseTerms::kg_co2_per_kwh)},
        {"terms.budget_usd", term(&PurchaseTerms::budget_usd)},
        {"terms.samples", term(&PurchaseTerms::samples)},
        {"terms.deadline_days", term(&PurchaseTerms::deadline_days)},
        mix_column(),
        null_if_unknown(object<Purchase, Unbought>(
            "without_buying", &Purchase::unbought,
            {{"change", &Unbought::change},
             {"gain", &Unbought::gain, kPrograms, "of samples a second"},
             {"time_s", &Unbought::time_s}},
            "the change that would help most on the GPU that is there; null: none, or several "
            "networks"))};
    for (Column<Purchase>& column : columns) {
        column.head.key = "purchase." + column.head.key;
    }
    return columns;
}

AnswerTable for_pages(const Table& table) {
    AnswerTable made{"", table.title, {}, {}};
    for (const std::string& column : table.columns) {
        made.columns.push_back({"", column.empty() ? "figure" : column, Unit::none, kPages});
        made.columns.back().kind = Kind::text;
    }
    for (const auto& cells : table.rows) {
        made.rows.emplace_back(cells.begin(), cells.end());
    }
    return made;
}

} // namespace

Answer purchase_answer(const Purchase& p, bool details) {
    const PurchaseAnswer& best = p.answers.at(p.best);
    const Upgrade& u = best.upgrade;
    Answer a;
    a.schema = "eyeroof/upgrade/1";
    a.title = fmt::format("{} from {}", u.network, u.from);
    for (const std::string& line : scenario_lines(p)) {
        a.question += line + "; ";
    }
    a.question += terms_text(p);
    a.sentences = {p.sentence};
    add_figures(a.figures, u, upgrade_columns());
    add_figures(a.figures, p, purchase_columns());
    add_figures(a.figures, best, option_columns("purchase.now.", &PurchaseAnswer::now));
    a.tables = {candidate_rows(p)};
    for (const Table& table : tables_of(p)) {
        a.tables.push_back(for_pages(table));
    }
    a.tables.insert(a.tables.end(), {assumptions_of_upgrade(u), sweep_of_batches(u), members_of(u),
                                     categories_of(u), layers_of_upgrade(u),
                                     make_table<PurchaseAnswer>("purchase.candidates", "",
                                                                p.answers, candidate_columns())});
    if (details || !u.sweep.empty()) {
        a.tables.push_back(longest_layers(u));
    }
    const bool of_layers = p.answers.size() == 1 && !p.terms.count && !p.terms.served;
    a.rows = !u.sweep.empty() ? "sweep" : of_layers ? "layers" : "";
    a.notes = remarks(p);
    const std::vector<std::string> prices = price_lines(p);
    a.notes.insert(a.notes.end(), prices.begin(), prices.end());
    return a;
}

} // namespace eyeroof::report
