#include "report/upgrade/purchase_tables.hpp"

#include "analysis/upgrade/amounts.hpp"
#include "base/units.hpp"
#include "report/answer/write.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace eyeroof::report {

namespace {

constexpr std::size_t kSheetEvidence = 3; // published speed-ups that one page has space for
constexpr double kFar = 0.3; // of the share that a published speed-up has in common with a question

using analysis::in_dollars;

const std::string kUnknown = "unknown";

// Three digits that count, without a power of ten.
std::string plain(double amount) {
    if (amount >= 1000.0) {
        return in_dollars(amount).substr(1);
    }
    const int before = amount > 0.0 ? static_cast<int>(std::floor(std::log10(amount))) : 0;
    return fmt::format("{:.{}f}", amount, std::clamp(2 - before, 0, 12));
}

std::string small_dollars(double amount) {
    return "$" + plain(amount);
}

std::string count_text(double devices) {
    return devices == std::floor(devices) ? fmt::format("{:.0f}", devices)
                                          : fmt::format("{:.2f}", devices);
}

bool fits(const analysis::PurchaseAnswer& a) {
    return a.upgrade.unfit.empty();
}

bool old_fits(const analysis::Upgrade& u) {
    return u.unfit.empty() ||
           (u.members.empty() ? u.memory.from_fits()
                              : std::all_of(u.members.begin(), u.members.end(),
                                            [](const auto& m) { return m.memory.from_fits(); }));
}

std::string needed_gb(const analysis::MemoryNeed& need, double bytes) {
    return fmt::format("{:.3g} of {:.3g} GB", need.total() / 1e9, bytes / 1e9);
}

// Of the network with the least memory left; of a fleet's members that which needs most.
std::string memory_cell(const analysis::Upgrade& u, bool old_side) {
    const std::vector<analysis::Upgrade> alone = {u};
    const auto& members = u.members.empty() ? alone : u.members;
    const analysis::UpgradeMemory* most = nullptr;
    const auto need = [&](const analysis::UpgradeMemory& m) {
        return old_side ? m.from_need.total() : m.to_need.total();
    };
    for (const analysis::Upgrade& member : members) {
        most = most == nullptr || need(member.memory) > need(*most) ? &member.memory : most;
    }
    if (most == nullptr || need(*most) <= 0.0) {
        return "-";
    }
    return old_side ? needed_gb(most->from_need, most->from_bytes)
                    : needed_gb(most->to_need, most->to_bytes);
}

std::string payback_cell(const analysis::PurchaseAnswer& a) {
    return a.payback_months && *a.payback_months < 1000.0
               ? fmt::format("{:.0f} months", *a.payback_months)
           : a.then.bought ? "never"
                           : "-";
}

// One row: what it is, the cell of what is there, and one of each candidate that can be compared.
class Grid {
  public:
    explicit Grid(const analysis::Purchase& p) : p_(p), first_(p.answers.front()) {
        table_.columns = {"", first_.now.gpu};
        for (const analysis::PurchaseAnswer& a : p.answers) {
            table_.columns.push_back(a.then.gpu);
        }
    }

    // `always`: also of candidates that something does not fit.
    template <class Now, class Then>
    void row(const std::string& name, const Now& now, const Then& then, bool always = false,
             const std::string& meaning = {}) {
        std::vector<std::string> cells = {name, now(first_)};
        table_.meanings.push_back(meaning);
        for (const analysis::PurchaseAnswer& a : p_.answers) {
            cells.push_back(always || fits(a) ? then(a) : "-");
        }
        table_.rows.push_back(std::move(cells));
    }

    // The same figure of both sides' options.
    template <class Cell>
    void option(const std::string& name, const Cell& cell, const std::string& meaning = {}) {
        row(
            name, [&](const auto& a) { return cell(a, a.now); },
            [&](const auto& a) { return cell(a, a.then); }, false, meaning);
    }

    // The same of the work: none where what is there does not hold the network.
    template <class Cell>
    void of_work(const std::string& name, const Cell& cell, const std::string& meaning = {}) {
        const bool held = old_fits(first_.upgrade);
        row(
            name, [&](const auto& a) { return held ? cell(a, a.now) : std::string("-"); },
            [&](const auto& a) { return cell(a, a.then); }, false, meaning);
    }

    Table table() && { return std::move(table_); }

  private:
    const analysis::Purchase& p_;
    const analysis::PurchaseAnswer& first_;
    Table table_;
};

void add_costs(const analysis::Purchase& p, Grid& grid) {
    using analysis::PurchaseAnswer;
    using analysis::PurchaseOption;
    const PurchaseAnswer& first = p.answers.front();
    const std::string power = "at the mean power of the boards x PUE";
    grid.option("cost per year", [](const PurchaseAnswer& a, const PurchaseOption& o) {
        return a.upgrade.money.priced ? in_dollars(o.usd_per_year) : "-";
    });
    if (first.upgrade.sample_tokens) {
        const std::string tokens = p.terms.served ? "1M output tokens" : "1M tokens";
        grid.of_work("cost per " + tokens, [](const PurchaseAnswer&, const PurchaseOption& o) {
            return o.usd_per_mtoken ? small_dollars(*o.usd_per_mtoken) : "-";
        });
        grid.of_work(
            "energy per " + tokens,
            [](const PurchaseAnswer&, const PurchaseOption& o) {
                return o.joules_per_mtoken ? format_si(*o.joules_per_mtoken, "J") : kUnknown;
            },
            power);
    } else {
        const std::string unit = first.upgrade.members.empty() ? p.unit : "1,000 old GPU hours";
        grid.of_work("cost per " + unit, [](const PurchaseAnswer& a, const PurchaseOption& o) {
            return a.upgrade.money.priced ? small_dollars(o.usd_per_1000) : "-";
        });
        grid.of_work(
            "energy per " + unit,
            [](const PurchaseAnswer&, const PurchaseOption& o) {
                return o.joules_per_1000 ? format_si(*o.joules_per_1000, "J") : kUnknown;
            },
            power);
    }
    grid.option(
        "energy per year",
        [](const PurchaseAnswer&, const PurchaseOption& o) {
            return o.kwh_per_year ? plain(*o.kwh_per_year / 1000.0) + " MWh" : kUnknown;
        },
        power);
    grid.option("CO2 per year", [](const PurchaseAnswer&, const PurchaseOption& o) {
        return o.kg_co2_per_year ? plain(*o.kg_co2_per_year / 1000.0) + " t" : kUnknown;
    });
    if (p.terms.samples && first.upgrade.members.empty()) {
        grid.of_work("job time", [](const PurchaseAnswer&, const PurchaseOption& o) {
            return o.job_days ? fmt::format("{:.3g} days", *o.job_days) : "-";
        });
    }
}

void add_server_rows(Grid& grid) {
    using analysis::ServingPoint;
    const auto add = [&](const char* name, const auto& cell) {
        grid.option(name, [&](const auto&, const analysis::PurchaseOption& o) {
            return o.server ? cell(*o.server) : std::string("-");
        });
    };
    add("output tokens/s per GPU", [](const ServingPoint& s) { return rate_text(s.per_device()); });
    add("TTFT", [](const ServingPoint& s) { return format_si(s.ttft_s, "s"); });
    add("TPOT", [](const ServingPoint& s) { return format_si(s.tpot_s, "s"); });
}

// Where the candidates differ in it, of each.
std::string needed_meaning(const analysis::Purchase& p) {
    const std::string& basis = p.answers.front().upgrade.threshold_basis;
    const bool same = std::ranges::all_of(p.answers, [&](const analysis::PurchaseAnswer& a) {
        return a.upgrade.threshold_basis == basis;
    });
    std::string all = same ? basis : "";
    for (const analysis::PurchaseAnswer& a : p.answers) {
        all +=
            same ? "" : (all.empty() ? "" : "; ") + a.then.gpu + ": " + a.upgrade.threshold_basis;
    }
    return "the least speedup at which the candidate pays off (" + all + ")";
}

void add_speed(const analysis::Purchase& p, Grid& grid) {
    using analysis::PurchaseAnswer;
    const bool fleet = !p.answers.front().upgrade.members.empty();
    const bool divided = p.answers.front().sharded.has_value();
    const bool held = old_fits(p.answers.front().upgrade);
    const auto time = [&](double seconds) {
        return fleet ? fmt::format("{:.3g} h", seconds / 3600.0) : format_si(seconds, "s");
    };
    grid.row(
        fleet            ? "time for one old GPU-hour of work"
        : p.terms.served ? "GPU time of a request"
        : divided        ? "GPU time per step"
                         : "time of a step",
        [&](const PurchaseAnswer& a) { return held ? time(a.upgrade.from_s) : std::string("-"); },
        [&](const PurchaseAnswer& a) { return time(a.upgrade.to_s); });
    const auto none = [](const PurchaseAnswer&) { return std::string(); };
    if (p.terms.served) {
        add_server_rows(grid);
    }
    grid.row(
        "speedup", [&](const PurchaseAnswer&) { return std::string(held ? "1x" : "-"); },
        [](const PurchaseAnswer& a) { return fmt::format("{:.2f}x", a.upgrade.speedup.value); });
    grid.row("  80 % interval", none, [](const PurchaseAnswer& a) {
        return fmt::format("{:.2f} to {:.2f}", a.upgrade.speedup.low, a.upgrade.speedup.high);
    });
    const auto judged = [](const PurchaseAnswer& a) {
        return a.upgrade.verdict != analysis::UpgradeVerdict::unpriced;
    };
    grid.row(
        "  needed to pay off", none,
        [&](const PurchaseAnswer& a) -> std::string {
            return !judged(a)                ? "-"
                   : std::isfinite(a.needed) ? fmt::format("{:.2f}x", a.needed)
                                             : "never";
        },
        false, needed_meaning(p));
    grid.row("payback", none, payback_cell);
    grid.row("chance to pay off", none, [&](const PurchaseAnswer& a) -> std::string {
        return judged(a) ? analysis::chance_text(a.likely) : "-";
    });
}

// The parts of a scenario in words: between commas and semicolons.
std::vector<std::string> parts_of(const std::string& words) {
    std::vector<std::string> parts;
    std::string part;
    for (std::size_t i = 0; i < words.size(); ++i) {
        const bool end =
            (words[i] == ',' || words[i] == ';') && i + 1 < words.size() && words[i + 1] == ' ';
        if (end) {
            parts.push_back(std::exchange(part, ""));
            ++i;
        } else {
            part += words[i];
        }
    }
    parts.push_back(part);
    return parts;
}

// What of the new side's words the old side's have not.
std::string other_words(const analysis::Upgrade& u) {
    const auto old_parts = parts_of(u.from_words);
    std::string other;
    for (const std::string& part : parts_of(u.to_words)) {
        if (std::find(old_parts.begin(), old_parts.end(), part) == old_parts.end()) {
            other += (other.empty() ? "" : ", ") + part;
        }
    }
    return other;
}

// "with 5 ms on tpu-v5e as in `exam --mapping dataflow` and 3 ms on a100-sxm-80gb as in `exam`"; a
// GPU on the old side is left out, as its time is that of the table.
std::string model_times(const analysis::Upgrade& u) {
    const auto time = [](const analysis::StepSide& step, double seconds, const std::string& id) {
        return fmt::format("{} on {} as in `exam{}`", format_si(seconds, "s"), id,
                           step.by_dataflow ? " --mapping dataflow" : "");
    };
    return "with " +
           (u.from_step.by_dataflow ? time(u.from_step, u.from_model_s, u.from) + " and " : "") +
           time(u.to_step, u.to_model_s, u.to);
}

void add_basis(const analysis::Upgrade& u, std::vector<std::string>& all) {
    const bool both_measured = u.measured_from_rate && u.measured_to_rate;
    const bool divided = u.from_step.device_s <= 0.0 && !u.from_step.by_dataflow;
    if (!u.members.empty() || !u.unfit.empty() || u.speedup.low >= u.speedup.high ||
        both_measured || divided) {
        return;
    }
    const bool measured = u.measured_from_rate || u.measured_to_rate;
    const double measured_ln =
        std::log(u.speedup.value / u.model_speedup) - u.transfer_ln - u.evidence_ln;
    if (u.error.families == 0 && u.nearest.empty() && u.transfer_ln == 0.0 && !measured) {
        all.push_back(fmt::format("{:.2f}x by the model alone, {}: what whole networks and "
                                  "published speedups show is of GPUs.",
                                  u.model_speedup, model_times(u)));
        return;
    }
    all.push_back(fmt::format(
        "{:.2f}x by {}; whole networks shift it by {:+.0f} %, published speedups by {:+.0f} %{}{}.",
        u.model_speedup,
        u.measured.empty() ? "the model alone, " + model_times(u)
                           : std::string("the predicted ratios of the measured kernels"),
        100.0 * (std::exp(u.transfer_ln) - 1.0), 100.0 * (std::exp(u.evidence_ln) - 1.0),
        measured
            ? fmt::format(", your measurement by {:+.0f} %", 100.0 * (std::exp(measured_ln) - 1.0))
            : "",
        is_near(u) ? ""
                   : ". No published speedup is close to this question: the interval is the "
                     "model's alone"));
    constexpr int kFewFamilies = 5;
    if (u.error.families > 0 && u.error.families < kFewFamilies) {
        all.push_back(
            fmt::format("Only {} families of {} were measured; the interval accounts for it.",
                        u.error.families, u.kind));
    }
}

} // namespace

bool is_near(const analysis::Upgrade& u) {
    return !u.nearest.empty() && u.nearest.front().share >= kFar;
}

std::string bought_how(const analysis::PurchaseOption& option) {
    return option.owned ? "owned" : option.bought ? "bought" : "rented";
}

Table candidates_table(const analysis::Purchase& p) {
    using analysis::PurchaseAnswer;
    using analysis::PurchaseOption;
    Grid grid(p);
    grid.row(
        "", [](const PurchaseAnswer& a) { return bought_how(a.now); },
        [](const PurchaseAnswer& a) { return bought_how(a.then); }, true);
    grid.option("devices, same work", [](const PurchaseAnswer&, const PurchaseOption& o) {
        return count_text(o.devices);
    });
    add_costs(p, grid);
    add_speed(p, grid);
    grid.row(
        "memory per GPU", [](const PurchaseAnswer& a) { return memory_cell(a.upgrade, true); },
        [](const PurchaseAnswer& a) { return memory_cell(a.upgrade, false); }, true);
    grid.row(
        "verdict", [](const PurchaseAnswer&) { return std::string("now"); },
        [](const PurchaseAnswer& a) {
            return std::string(analysis::verdict_name(a.upgrade.verdict));
        },
        true);
    return std::move(grid).table();
}

Table flips_table(const analysis::PurchaseAnswer& a) {
    Table table{
        "What would change the verdict on " + a.then.gpu, {"change", "break-even", "verdict"}, {}};
    for (const analysis::Flip& flip : a.flips) {
        table.rows.push_back(
            {flip.what,
             (flip.speedup ? fmt::format("{:.2f}x, ", *flip.speedup) : "") + flip.break_even,
             flip.flips ? "changes" : "stays"});
    }
    return table;
}

Table evidence_table(const analysis::PurchaseAnswer& a, std::size_t most) {
    Table table{"Nearest published speedups",
                {"network", "phase", "from", "to", "GPUs", "published", "predicted", "error",
                 "similarity", "source"},
                {}};
    for (const analysis::NearEvidence& near : a.upgrade.nearest) {
        if (table.rows.size() == most) {
            break;
        }
        const analysis::EvidenceRow& e = near.row;
        const bool known = e.predicted > 0.0;
        table.rows.push_back(
            {e.network, e.key.phase + " " + e.key.precision, e.key.from, e.key.to,
             fmt::format("{}", e.gpus), fmt::format("{:.2f}x", e.speedup),
             known ? fmt::format("{:.2f}x", e.predicted) : "-",
             known ? fmt::format("{:+.0f} %", 100.0 * (e.predicted / e.speedup - 1.0)) : "-",
             fmt::format("{:.2f}", near.share), e.source});
    }
    return table;
}

Table beside_table(const analysis::PurchaseAnswer& a) {
    Table table{"Other questions on " + a.then.gpu, {"question", "speedup", "80 % interval"}, {}};
    for (const analysis::BesideLine& line : a.beside) {
        table.rows.push_back(
            {line.what,
             line.unfit.empty() ? fmt::format("{:.2f}x", line.speedup.value) : "does not fit",
             line.unfit.empty()
                 ? fmt::format("{:.2f} to {:.2f}", line.speedup.low, line.speedup.high)
                 : line.unfit});
    }
    return table;
}

Table prices_table(const analysis::PurchaseAnswer& a) {
    Table table{fmt::format("The verdict on {} ({:.2f}x as fast) by price table", a.then.gpu,
                            a.upgrade.speedup.value),
                {"prices, USD per hour", "date", "old", "new", "ratio", "cost", "verdict"},
                {}};
    if (a.by_price.size() < 2 || !fits(a)) { // no figures of what cannot run
        return table;
    }
    for (const analysis::PriceVerdict& v : a.by_price) {
        const bool old = v.age_days && *v.age_days > analysis::kOldPriceDays;
        table.rows.push_back(
            {v.view.name(), v.view.date() + (old ? " (old)" : ""),
             fmt::format("{:.3g}", v.from_usd_per_hour), fmt::format("{:.3g}", v.to_usd_per_hour),
             v.from_usd_per_hour > 0.0
                 ? fmt::format("{:.2f}x", v.to_usd_per_hour / v.from_usd_per_hour)
                 : "-",
             v.saved_share ? fmt::format("{:+.0f} %", -100.0 * *v.saved_share) : "-",
             analysis::verdict_word(v)});
    }
    return table;
}

std::vector<Table> tables_of(const analysis::Purchase& p) {
    const analysis::PurchaseAnswer& best = p.answers.at(p.best);
    return {candidates_table(p), prices_table(best), beside_table(best), flips_table(best),
            evidence_table(best, best.upgrade.nearest.size())};
}

// The same with no more evidence than a sheet has space for.
std::vector<Table> sheet_tables(const analysis::Purchase& p) {
    std::vector<Table> tables = tables_of(p);
    tables.back() = evidence_table(p.answers.at(p.best), kSheetEvidence);
    return tables;
}

std::vector<std::string> scenario_lines(const analysis::Purchase& p) {
    const analysis::Upgrade& first = p.answers.front().upgrade;
    std::vector<std::string> lines;
    for (std::size_t i = 0; i < first.members.size(); ++i) {
        lines.push_back(fmt::format("{:.0f} % of the time: {}", 100.0 * first.weights[i],
                                    first.members[i].from_words));
    }
    if (lines.empty()) {
        lines.push_back(first.from_words);
    }
    if (p.terms.served) {
        lines.push_back(first.run);
    }
    for (const analysis::PurchaseAnswer& a : p.answers) {
        const std::string other = other_words(a.upgrade);
        lines.push_back(
            fmt::format("against {}: {}", a.then.gpu, other.empty() ? "the same" : other));
    }
    return lines;
}

std::string terms_text(const analysis::Purchase& p) {
    const analysis::UpgradePrices& prices = p.prices;
    return fmt::format("utilization {:.0f} %, {:g} years, ${:g}/kWh, PUE {:g}, {:g} "
                       "kg CO2/kWh, {} per host-month and GPU, resale {} per old GPU",
                       100.0 * prices.utilization, prices.years, prices.power_usd_per_kwh,
                       prices.pue, p.terms.kg_co2_per_kwh, in_dollars(prices.host_usd_per_month),
                       in_dollars(prices.from_resale_usd.value_or(0.0)));
}

static std::string bought_text(const analysis::PurchaseAnswer& a,
                               const analysis::UpgradePrices& prices) {
    const analysis::UpgradeMoney& m = a.upgrade.money;
    const double price = m.outlay_usd.value_or(0.0) + prices.from_resale_usd.value_or(0.0);
    return fmt::format("bought at {}, {}", in_dollars(price), m.buy_source);
}

std::vector<std::string> price_lines(const analysis::Purchase& p) {
    std::vector<std::string> lines;
    const auto add = [&](const std::string& gpu, double usd, const std::string& source) {
        lines.push_back(fmt::format("{} ${:.3g} per hour ({})", gpu, usd, source));
    };
    const analysis::Upgrade& first = p.answers.front().upgrade;
    if (!first.money.priced) {
        return lines;
    }
    add(first.from, first.money.from_usd_per_hour, first.money.from_price_source);
    for (const analysis::PurchaseAnswer& a : p.answers) {
        const analysis::UpgradeMoney& m = a.upgrade.money;
        if (m.priced) {
            add(a.then.gpu, m.to_usd_per_hour,
                a.then.bought ? bought_text(a, p.prices) : m.to_price_source);
        }
    }
    return lines;
}

std::vector<std::string> remarks(const analysis::Purchase& p) {
    const analysis::PurchaseAnswer& a = p.answers.at(p.best);
    const analysis::Upgrade& u = a.upgrade;
    std::vector<std::string> all;
    if (p.unbought) {
        all.push_back(fmt::format("Without buying, on {}: {}.", u.from, p.unbought->change));
    }
    if (p.mix) {
        all.push_back(analysis::mix_text(*p.mix));
    }
    add_basis(u, all);
    if (u.measured_from_rate || u.measured_to_rate) {
        all.push_back(fmt::format(
            "Your measurement: {}{}{}",
            u.measured_from_rate ? fmt::format("{:g}/s on {} ", *u.measured_from_rate, u.from) : "",
            u.measured_to_rate ? fmt::format("{:g}/s on {}", *u.measured_to_rate, u.to) : "",
            u.far_rate ? fmt::format(" ({:.3g}/s predicted): more than three times apart, so check "
                                     "that it is samples a second of this batch and type.",
                                     *u.far_rate)
                       : ""));
    } else if (u.verdict == analysis::UpgradeVerdict::undecided && u.members.empty() &&
               !a.sharded && !p.terms.served) { // a measured throughput is of one GPU
        all.emplace_back("To decide, measure the throughput of your own run and pass it as "
                         "--measured-old 820/s.");
    }
    if (a.sharded && !p.terms.served) {
        all.push_back(std::string("A network that does not fit one GPU is divided over several by "
                                  "the best plan of `eyeroof scale`.") +
                      (u.members.empty() ? " GPU time per step: its time on each of them." : ""));
    }
    if (a.book_value_usd) {
        all.push_back(fmt::format("{} of the owned GPUs' price is not depreciated yet: a "
                                  "sunk cost, so not counted.",
                                  in_dollars(*a.book_value_usd)));
    }
    if (!a.over_budget.empty()) {
        all.push_back(a.over_budget);
    }
    for (const std::string& note : u.notes) {
        if (u.unfit.empty() || !note.ends_with("of a run that would fit")) { // the sentence says it
            all.push_back(note);
        }
    }
    return all;
}

} // namespace eyeroof::report
