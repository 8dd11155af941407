#include "gui/panes/tuning/tuning_pane.hpp"

#include "base/units.hpp"
#include "gui/panes/number_table.hpp"
#include "gui/panes/table_html.hpp"
#include "gui/views/qt_text.hpp"
#include "report/draw/chart_scene.hpp"
#include "report/draw/svg.hpp"
#include "report/trials/search_chart.hpp"

#include <QComboBox>
#include <QSplitter>
#include <QTableWidget>
#include <QVBoxLayout>
#include <algorithm>

namespace eyeroof::gui {

namespace {

namespace tune = analysis::tune;

QString knobs_text(const tune::TrialLine& line) {
    QStringList knobs;
    for (const auto& [name, value] : line.knobs) {
        knobs << QString("%1 %2").arg(text(name)).arg(value);
    }
    return knobs.join(", ");
}

// Of all open logs; each trial once.
std::vector<tune::TrialLine>
lines_of(const std::vector<std::shared_ptr<const report::Trials>>& logs) {
    std::vector<tune::TrialLine> all;
    for (const auto& log : logs) {
        all.insert(all.end(), log->lines.begin(), log->lines.end());
    }
    return all;
}

} // namespace

TuningPane::TuningPane(const PaneActions& actions, QWidget* parent) : AskingPane(actions, parent) {
    layer_ = choice(tr("Layer"), "tuning layer", {{tr("all layers"), QString()}});
    auto* both = new QSplitter(Qt::Vertical, this);
    picture_ = new DrawingView(both);
    picture_->setObjectName("tuning picture");
    picture_->setAccessibleName(tr("Best so far against trials"));
    rows_ = number_table(tr("Searches"), both);
    rows_->setObjectName("tuning rows");
    rows_->setMinimumHeight(76); // the header and two rows
    both->setStretchFactor(0, 2);
    both->setStretchFactor(1, 1);
    column()->addWidget(both, 1);
    clear();
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
    return [this, logs, known = logs == logs_](const std::stop_token&,
                                               const ProgressCallback&) -> Background::Show {
        if (known) { // answers come while sliders are dragged, and another layer may be chosen
            return [this] { show_layer(); };
        }
        auto lines = std::make_shared<const Lines>(lines_of(logs));
        return [this, logs, lines, all = tune::searches_in(*lines)] { take(logs, lines, all); };
    };
}

void TuningPane::clear() {
    logs_.clear();
    lines_.reset();
    all_.clear();
    shown_.clear();
    rows_->setRowCount(0);
    rows_->hide();
    picture_->clear(tr("No recorded search."));
}

void TuningPane::take(const Logs& logs, std::shared_ptr<const Lines> lines, Searches all) {
    logs_ = logs;
    lines_ = std::move(lines);
    all_ = std::move(all);
    fill_layers();
    show_layer();
}

// What was chosen stays where the logs still have it.
void TuningPane::fill_layers() {
    const QString before = layer_->currentData().toString();
    while (layer_->count() > 1) {
        layer_->removeItem(1);
    }
    for (const tune::LogSearch& search : all_) {
        const QString name = text(search.work.name);
        if (layer_->findData(name) < 0) {
            layer_->addItem(name, name);
        }
    }
    layer_->setCurrentIndex(std::max(0, layer_->findData(before)));
}

void TuningPane::show_layer() {
    const std::string layer = layer_->currentData().toString().toStdString();
    shown_.clear();
    std::copy_if(all_.begin(), all_.end(), std::back_inserter(shown_),
                 [&](const auto& search) { return layer.empty() || search.work.name == layer; });
    say(headline());
    fill_rows();
    if (report::best_so_far(shown_).lines.empty()) {
        return picture_->clear(tr("No trial worked."));
    }
    picture_->show_drawing(
        [chart = report::best_so_far(shown_)](const report::Canvas& canvas) {
            return report::draw_chart(chart, canvas);
        },
        true);
}

QString TuningPane::headline() const {
    const auto best =
        std::max_element(shown_.begin(), shown_.end(), [](const auto& a, const auto& b) {
            return a.work.flops() / a.best_s() < b.work.flops() / b.best_s();
        });
    if (best == shown_.end() || !best->best) {
        return tr("None of the recorded trials worked.");
    }
    const tune::TrialLine& line = (*lines_)[best->lines[*best->best]];
    return tr("%1 on %2: best <b>%3</b>, %4, after %5 of %6 trials by %7; %8.")
        .arg(text(best->work.name).toHtmlEscaped(), text(best->origin.machine).toHtmlEscaped(),
             text(format_si(best->best_s(), "s", 4)),
             text(format_si(best->work.flops() / best->best_s(), "FLOP/s", 4)))
        .arg(*best->best + 1)
        .arg(best->costs.size())
        .arg(text(tune::search_label(*best)).toHtmlEscaped(), knobs_text(line).toHtmlEscaped());
}

void TuningPane::fill_rows() {
    const QStringList headers = {tr("Layer"),  tr("Search"), tr("Seed"),         tr("Trials"),
                                 tr("Failed"), tr("Best"),   tr("FLOP/s"),       tr("To 95 %"),
                                 tr("Took"),   tr("On"),     tr("Knobs of best")};
    rows_->setColumnCount(static_cast<int>(headers.size()));
    rows_->setHorizontalHeaderLabels(headers);
    rows_->setRowCount(static_cast<int>(shown_.size()));
    for (int i = 0; i < rows_->rowCount(); ++i) {
        const tune::LogSearch& s = shown_[static_cast<std::size_t>(i)];
        int column = 0;
        const auto put = [&](QTableWidgetItem* item) { rows_->setItem(i, column++, item); };
        const auto count = [&](std::size_t n) {
            put(cell(QString::number(n), static_cast<double>(n)));
        };
        const double rate = s.best ? s.work.flops() / s.best_s() : 0.0;
        put(cell(text(s.work.name)));
        put(cell(text(s.origin.command)));
        count(s.origin.seed);
        count(s.costs.size());
        count(s.failed());
        put(s.best ? cell(text(format_si(s.best_s(), "s", 4)), s.best_s()) : cell("—", 0.0));
        put(s.best ? cell(text(format_si(rate, "", 4)), rate) : cell("—", 0.0));
        put(s.to_95 ? cell(QString::number(*s.to_95), static_cast<double>(*s.to_95))
                    : cell("—", 0.0));
        put(cell(text(format_si(s.took_s, "s", 3)), s.took_s));
        put(cell(text(s.origin.machine)));
        put(cell(s.best ? knobs_text((*lines_)[s.lines[*s.best]]) : QString()));
    }
    fit_columns(*rows_);
    rows_->show();
}

QString TuningPane::html() const {
    return shown_.empty() ? QString()
                          : "<p>" + headline() + "</p>" +
                                text(report::to_svg(
                                    report::draw_chart(report::best_so_far(shown_), {900.0, 420.0}),
                                    report::SvgTheme::automatic)) +
                                table_html(*rows_);
}

} // namespace eyeroof::gui
