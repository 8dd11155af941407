#include "report/upgrade/candidate_columns.hpp"

#include "report/upgrade/purchase_tables.hpp"

#include <cmath>

namespace eyeroof::report {

using analysis::Interval;
using analysis::Purchase;
using analysis::PurchaseAnswer;
using analysis::PurchaseOption;
using analysis::Upgrade;

namespace {

Column<PurchaseAnswer> price_column() {
    using Under = analysis::PriceVerdict;
    const auto verdict = [](const Under& v) {
        return std::string(analysis::verdict_name(v.verdict));
    };
    return nested<PurchaseAnswer, Under>("price_tables", "", &PurchaseAnswer::by_price,
                                         {{"prices", [](const Under& v) { return v.view.name(); }},
                                          {"date", [](const Under& v) { return v.view.date(); }},
                                          {"age_days", &Under::age_days},
                                          {"from_usd_per_hour", &Under::from_usd_per_hour},
                                          {"to_usd_per_hour", &Under::to_usd_per_hour},
                                          {"needed", &Under::needed},
                                          {"likely", &Under::likely},
                                          {"saved_share", &Under::saved_share},
                                          {"verdict", verdict},
                                          {"over_budget", &Under::over_budget}},
                                         kJson);
}

Column<PurchaseAnswer> evidence_column() {
    using Near = analysis::NearEvidence;
    using Row = analysis::EvidenceRow;
    const auto of = [](auto Row::*member) {
        return [member](const Near& near) { return near.row.*member; };
    };
    const auto key = [](std::string analysis::EvidenceKey::*member) {
        return [member](const Near& near) { return near.row.key.*member; };
    };
    const auto predicted = [](const Near& near) {
        return near.row.predicted > 0.0 ? std::optional(near.row.predicted) : std::nullopt;
    };
    return nested<PurchaseAnswer, Near>(
        "evidence", "", [](const PurchaseAnswer& a) { return a.upgrade.nearest; },
        {{"source", of(&Row::source)},
         {"network", of(&Row::network)},
         {"phase", key(&analysis::EvidenceKey::phase)},
         {"precision", key(&analysis::EvidenceKey::precision)},
         {"from", key(&analysis::EvidenceKey::from)},
         {"to", key(&analysis::EvidenceKey::to)},
         {"gpus", of(&Row::gpus)},
         {"published", of(&Row::speedup)},
         {"predicted", predicted},
         {"alike", &Near::share}},
        kJson);
}

Column<PurchaseAnswer> sharded_column() {
    using analysis::Shard;
    using analysis::ShardedPair;
    std::vector<Column<ShardedPair>> columns;
    for (const auto& [side, shard] :
         {std::pair{"from.", &ShardedPair::from}, {"to.", &ShardedPair::to}}) {
        const auto of = [shard](auto Shard::*member) {
            return [shard, member](const ShardedPair& pair) { return pair.*shard.*member; };
        };
        const std::string key = side;
        append_columns<ShardedPair>(
            columns, {{key + "devices", of(&Shard::devices)},
                      {key + "plan", of(&Shard::plan)},
                      {key + "fabric", of(&Shard::fabric)},
                      {key + "batch", of(&Shard::batch)},
                      {key + "step_s", of(&Shard::step_s)},
                      {key + "bytes",
                       [shard](const ShardedPair& pair) { return (pair.*shard).need.total(); }},
                      {key + "capacity", of(&Shard::capacity)}});
    }
    return null_if_unknown(
        object<PurchaseAnswer, ShardedPair>("sharded", &PurchaseAnswer::sharded, columns));
}

} // namespace

std::string verdict_text(const Upgrade& u) {
    return std::string(analysis::verdict_name(u.verdict));
}

std::vector<Column<PurchaseAnswer>> option_columns(const std::string& before,
                                                   PurchaseOption PurchaseAnswer::*side) {
    const auto of = [side](auto PurchaseOption::*member) {
        return [side, member](const PurchaseAnswer& a) { return a.*side.*member; };
    };
    const auto priced = [side](double PurchaseOption::*member) {
        return [side, member](const PurchaseAnswer& a) {
            return a.upgrade.money.priced ? std::optional(a.*side.*member) : std::nullopt;
        };
    };
    using analysis::ServingPoint;
    const auto server = null_if_unknown(
        object<PurchaseAnswer, ServingPoint>(before + "server", of(&PurchaseOption::server),
                                             {{"devices", &ServingPoint::devices},
                                              {"requests", &ServingPoint::batch},
                                              {"ttft_s", &ServingPoint::ttft_s},
                                              {"tpot_s", &ServingPoint::tpot_s},
                                              {"tokens_per_s", &ServingPoint::tokens_per_s},
                                              {"tokens_per_s_device", &ServingPoint::per_device}},
                                             "of a service: as a point of eyeroof/serve/1"));
    return {{before + "gpu", of(&PurchaseOption::gpu), kJson},
            limited<Column<PurchaseAnswer>>(
                {before + "how", [side](const PurchaseAnswer& a) { return bought_how(a.*side); },
                 kJson},
                {.words = {"owned", "bought", "rented"}}),
            {before + "devices", of(&PurchaseOption::devices), kJson},
            {before + "usd_per_year", priced(&PurchaseOption::usd_per_year), kJson},
            {before + "usd_per_1000", priced(&PurchaseOption::usd_per_1000), kJson},
            {before + "joules_per_1000", of(&PurchaseOption::joules_per_1000), kJson,
             "at the boards' power x PUE"},
            {before + "usd_per_million_tokens", of(&PurchaseOption::usd_per_mtoken), kJson,
             "of networks that read text; of a service output tokens"},
            {before + "joules_per_million_tokens", of(&PurchaseOption::joules_per_mtoken), kJson,
             "the same, at the boards' power x PUE"},
            {before + "kwh_per_year", of(&PurchaseOption::kwh_per_year), kJson,
             "null: the board's power is unknown"},
            {before + "kg_co2_per_year", of(&PurchaseOption::kg_co2_per_year), kJson},
            {before + "job_days", of(&PurchaseOption::job_days), kJson},
            server};
}

std::vector<Column<PurchaseAnswer>> candidate_columns() {
    const auto of = [](auto Upgrade::*member) {
        return [member](const PurchaseAnswer& a) { return a.upgrade.*member; };
    };
    std::vector<Column<PurchaseAnswer>> columns = option_columns("", &PurchaseAnswer::then);
    add_span(columns, "speedup", of(&Upgrade::speedup));
    using Beside = analysis::BesideLine;
    std::vector<Column<Beside>> beside = {{"what", &Beside::what}, {"run", &Beside::run}};
    add_span(beside, "speedup", &Beside::speedup);
    beside.emplace_back("unfit", &Beside::unfit);
    using analysis::Flip;
    append_columns<PurchaseAnswer>(
        columns,
        {{"from_s", of(&Upgrade::from_s)},
         {"to_s", of(&Upgrade::to_s)},
         {"from_batch", of(&Upgrade::from_batch)},
         {"to_batch", of(&Upgrade::to_batch)},
         {"model_speedup", of(&Upgrade::model_speedup)},
         {"from_model_s", of(&Upgrade::from_model_s)},
         {"to_model_s", of(&Upgrade::to_model_s)},
         {"transfer_factor",
          [](const PurchaseAnswer& a) { return std::exp(a.upgrade.transfer_ln); }},
         {"evidence_factor",
          [](const PurchaseAnswer& a) { return std::exp(a.upgrade.evidence_ln); }},
         {"needed", &PurchaseAnswer::needed, kPrograms, "null: no speedup is enough"},
         {"likely", &PurchaseAnswer::likely},
         {"verdict", [](const PurchaseAnswer& a) { return verdict_text(a.upgrade); }},
         {"saved_share", &PurchaseAnswer::saved_share},
         {"outlay_usd", &PurchaseAnswer::outlay_usd},
         {"payback_months", &PurchaseAnswer::payback_months},
         {"unfit", of(&Upgrade::unfit)},
         {"over_budget", &PurchaseAnswer::over_budget},
         price_column(),
         nested<PurchaseAnswer, Beside>("beside", "", &PurchaseAnswer::beside, beside, kJson),
         sharded_column(),
         nested<PurchaseAnswer, Flip>("flips", "", &PurchaseAnswer::flips,
                                      {{"what", &Flip::what},
                                       {"speedup", &Flip::speedup},
                                       {"break_even", &Flip::break_even},
                                       {"changes_verdict", &Flip::flips}},
                                      kJson),
         evidence_column()});
    return columns;
}

AnswerTable candidate_rows(const Purchase& p) {
    struct Row {
        const PurchaseAnswer* answer;
        bool now;
        const PurchaseOption& option() const { return now ? answer->now : answer->then; }
    };
    std::vector<Row> rows = {{&p.answers.front(), true}};
    for (const PurchaseAnswer& a : p.answers) {
        rows.push_back({&a, false});
    }
    const auto of = [](auto PurchaseOption::*member) {
        return [member](const Row& row) { return row.option().*member; };
    };
    const auto priced = [](double PurchaseOption::*member) {
        return [member](const Row& row) {
            return row.answer->upgrade.money.priced ? std::optional(row.option().*member)
                                                    : std::nullopt;
        };
    };
    const auto speedup = [](double Interval::*member) {
        return [member](const Row& row) {
            return row.now ? 1.0 : row.answer->upgrade.speedup.*member;
        };
    };
    const auto then = [](auto PurchaseAnswer::*member) {
        return [member](const Row& row) {
            return row.now ? std::optional<double>() : std::optional<double>(row.answer->*member);
        };
    };
    const auto verdict = [](const Row& row) {
        return row.now ? std::string("now") : verdict_text(row.answer->upgrade);
    };
    return make_table<Row>(
        "", "", rows,
        {{"gpu", of(&PurchaseOption::gpu), kCsv},
         {"how", [](const Row& row) { return bought_how(row.option()); }, kCsv},
         {"devices", of(&PurchaseOption::devices), kCsv},
         {"usd_per_year", priced(&PurchaseOption::usd_per_year), kCsv},
         {"usd_per_1000", priced(&PurchaseOption::usd_per_1000), kCsv},
         {"kwh_per_year", of(&PurchaseOption::kwh_per_year), kCsv},
         {"kg_co2_per_year", of(&PurchaseOption::kg_co2_per_year), kCsv},
         {"joules_per_1000", of(&PurchaseOption::joules_per_1000), kCsv},
         {"speedup", speedup(&Interval::value), kCsv},
         {"low", speedup(&Interval::low), kCsv},
         {"high", speedup(&Interval::high), kCsv},
         {"needed", then(&PurchaseAnswer::needed), kCsv},
         {"likely", then(&PurchaseAnswer::likely), kCsv},
         {"saved_share", then(&PurchaseAnswer::saved_share), kCsv},
         {"outlay_usd", then(&PurchaseAnswer::outlay_usd), kCsv},
         {"payback_months", then(&PurchaseAnswer::payback_months), kCsv},
         {"verdict", verdict, kCsv},
         {"usd_per_million_tokens", of(&PurchaseOption::usd_per_mtoken), kCsv},
         {"joules_per_million_tokens", of(&PurchaseOption::joules_per_mtoken), kCsv}});
}

} // namespace eyeroof::report
