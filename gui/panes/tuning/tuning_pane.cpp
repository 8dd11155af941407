#include "gui/panes/tuning/tuning_pane.hpp"

#include "base/units.hpp"
#include "gui/views/qt_text.hpp"
#include "report/draw/chart_scene.hpp"
#include "report/trials/search_chart.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <QComboBox>
#include <algorithm>

namespace eyeroof::gui {

namespace {

namespace tune = analysis::tune;
using report::Unit;
using Lines = std::vector<tune::TrialLine>;
using Logs = std::vector<std::shared_ptr<const report::Trials>>;

struct Searched {
    QStringList layers;          // of all searches
    TuningPane::Searches chosen; // of the chosen layer, or of all
};

std::string knobs_text(const Lines& lines, const tune::LogSearch& search) {
    std::vector<std::string> knobs;
    if (search.best) {
        for (const auto& [name, value] : lines[search.lines[*search.best]].knobs) {
            knobs.push_back(fmt::format("{} {}", name, value));
        }
    }
    return fmt::format("{}", fmt::join(knobs, ", "));
}

double rate_of(const tune::LogSearch& search) {
    return search.best ? search.work.flops() / search.best_s() : 0.0;
}

// Of all open logs; each trial once.
Lines lines_of(const Logs& logs) {
    Lines all;
    for (const auto& log : logs) {
        all.insert(all.end(), log->lines.begin(), log->lines.end());
    }
    return all;
}

Searched searched(const Lines& lines, const std::string& layer) {
    Searched found;
    found.chosen = tune::searches_in(lines);
    for (const tune::LogSearch& search : found.chosen) {
        found.layers << text(search.work.name);
    }
    found.layers.removeDuplicates();
    if (found.layers.contains(text(layer))) {
        std::erase_if(found.chosen, [&](const auto& s) { return s.work.name != layer; });
    }
    return found;
}

std::string sentence_of(const TuningPane::Searches& searches, const Lines& lines) {
    const auto best = std::ranges::max_element(searches, {}, rate_of);
    if (best == searches.end() || !best->best) {
        return "None of the recorded trials worked";
    }
    return fmt::format("{} on {}: best {}, {}, after {} of {} trials by {}; {}", best->work.name,
                       best->origin.machine, format_si(best->best_s(), "s", 4),
                       format_si(rate_of(*best), "FLOP/s", 4), *best->best + 1, best->costs.size(),
                       tune::search_label(*best), knobs_text(lines, *best));
}

report::AnswerTable table_of(const TuningPane::Searches& searches, const Lines& lines) {
    using S = tune::LogSearch;
    const auto if_best = [](auto of) {
        return [of](const S& s) { return s.best ? std::optional(of(s)) : std::nullopt; };
    };
    return report::make_table<S>(
        "", "", searches,
        {{"", "Layer", Unit::none, [](const S& s) { return s.work.name; }},
         {"", "Search", Unit::none, [](const S& s) { return s.origin.command; }},
         {"", "Seed", Unit::count, [](const S& s) { return s.origin.seed; }},
         {"", "Trials", Unit::count, [](const S& s) { return s.costs.size(); }},
         {"", "Failed", Unit::count, &S::failed},
         {"", "Best", Unit::seconds, if_best([](const S& s) { return s.best_s(); })},
         {"", "Rate", Unit::flops_per_s, if_best(rate_of)},
         {"", "To 95 %", Unit::count, &S::to_95},
         {"", "Took", Unit::seconds, &S::took_s},
         {"", "On", Unit::none, [](const S& s) { return s.origin.machine; }},
         {"", "Knobs of best", Unit::none, [&](const S& s) { return knobs_text(lines, s); }}});
}

} // namespace

TuningPane::TuningPane(const PaneActions& actions, QWidget* parent) : AnswerPane(actions, parent) {
    layer_ = choice(tr("Layer"), "tuning layer", {{tr("all layers"), QString()}});
    add_views(
        {tr("Searches"), tr("Best so far against trials"), "tuning", tr("No recorded search.")},
        Qt::Vertical);
}

bool TuningPane::belongs(const PaneInput& input) const {
    return std::any_of(input.files->begin(), input.files->end(),
                       [](const auto& file) { return file.kind == MeasurementFile::Kind::trials; });
}

Background::Job TuningPane::job(const PaneInput& input) {
    Logs logs;
    for (const MeasurementFile& file : *input.files) {
        if (file.trials) {
            logs.push_back(file.trials);
        }
    }
    if (logs.empty()) {
        say(tr("Recorded searches: open a log that <code>eyeroof tune --log</code> wrote, or drop "
               "it here."));
        return {};
    }
    const auto found = std::make_shared<Searched>();
    const auto ask = [logs, found, layer = layer_->currentData().toString().toStdString()](
                         const std::stop_token&,
                         const ProgressCallback&) -> Result<report::Answer> {
        const Lines lines = lines_of(logs);
        *found = searched(lines, layer);
        report::Answer answer;
        answer.sentences = {sentence_of(found->chosen, lines)};
        answer.tables = {table_of(found->chosen, lines)};
        if (const report::Chart chart = report::best_so_far(found->chosen); !chart.lines.empty()) {
            answer.picture = [chart](const report::Canvas& canvas) {
                return report::draw_chart(chart, canvas);
            };
        }
        return answer;
    };
    return asking(ask, [this, found] {
        shown_ = found->chosen;
        fill_layers(found->layers);
    });
}

void TuningPane::clear() {
    shown_.clear();
    AnswerPane::clear();
}

// What was chosen stays where the logs still have it.
void TuningPane::fill_layers(const QStringList& layers) {
    const QString before = layer_->currentData().toString();
    while (layer_->count() > 1) {
        layer_->removeItem(1);
    }
    for (const QString& name : layers) {
        layer_->addItem(name, name);
    }
    layer_->setCurrentIndex(std::max(0, layer_->findData(before)));
}

} // namespace eyeroof::gui
