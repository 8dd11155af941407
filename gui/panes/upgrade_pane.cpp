#include "gui/panes/upgrade_pane.hpp"

#include "base/file.hpp"
#include "base/units.hpp"
#include "gui/panes/fitting_scroll.hpp"
#include "gui/panes/layer_table.hpp"
#include "gui/panes/number_table.hpp"
#include "gui/panes/picture_board.hpp"
#include "gui/panes/short_names.hpp"
#include "gui/panes/upgrade_form.hpp"
#include "gui/panes/upgrade_words.hpp"
#include "gui/views/paint_scene.hpp"
#include "gui/views/qt_text.hpp"
#include "report/upgrade/break_even_scene.hpp"
#include "report/upgrade/candidates_scene.hpp"
#include "report/upgrade/purchase_tables.hpp"
#include "report/upgrade/upgrade.hpp"
#include "report/upgrade/upgrade_scene.hpp"

#include <QEvent>
#include <QFileDialog>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QPushButton>
#include <QSplitter>
#include <QTableWidget>
#include <QVBoxLayout>
#include <cmath>
#include <utility>

namespace eyeroof::gui {

namespace {

constexpr int kFormWidth = 330;

QString si(double seconds) {
    return text(format_si(seconds, "s", 4));
}

QColor colour_of_verdict(analysis::UpgradeVerdict verdict, report::Theme theme) {
    const report::Rgb rgb =
        colour_of(verdict == analysis::UpgradeVerdict::pays_off   ? report::ColourRole::series3
                  : verdict == analysis::UpgradeVerdict::does_not ? report::ColourRole::warning
                  : verdict == analysis::UpgradeVerdict::unpriced ? report::ColourRole::text
                                                                  : report::ColourRole::faint,
                  theme);
    return {rgb.r, rgb.g, rgb.b};
}

// Rows of the command line's table that the columns of this one do not have: name, now, each GPU.
std::vector<std::vector<std::string>> more_figures(const analysis::Purchase& purchase) {
    std::vector<std::vector<std::string>> rows = report::candidates_table(purchase).rows;
    std::erase_if(rows, [](const std::vector<std::string>& row) {
        const auto begins = [&](const char* words) { return row[0].starts_with(words); };
        return !begins("devices") && !begins("cost") && !begins("energy") && !begins("CO2") &&
               !begins("job time") && !begins("chance");
    });
    for (auto& row : rows) {
        row[1] = row[1].empty() ? "-" : row[1];
    }
    return rows;
}

QString memory_text(const analysis::Upgrade& u) {
    const auto one = [](const analysis::UpgradeMemory& m) {
        return QString("%1 of %2")
            .arg(text(format_iec(m.to_need.total(), "B", 3)), text(format_iec(m.to_bytes, "B", 3)));
    };
    if (u.members.empty()) {
        return one(u.memory) + (u.memory.to_fits() ? "" : " ✗");
    }
    for (const analysis::Upgrade& member : u.members) {
        if (!member.memory.to_fits()) {
            return text(member.network) + ": " + one(member.memory) + " ✗";
        }
    }
    return UpgradePane::tr("each fits");
}

} // namespace

UpgradePane::UpgradePane(QWidget* parent) : QWidget(parent) {
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(0);
    form_ = new UpgradeForm(this);
    auto* scroll = new FittingScroll(form_, this);
    scroll->setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Expanding);
    scroll->setMinimumWidth(kFormWidth);
    row->addWidget(scroll);
    row->addWidget(new FittingScroll(make_answers(), this), 1);
    connect(form_, &UpgradeForm::changed, this, &UpgradePane::judge);
    connect(&worker_, &Background::progressed, this, [this](const Progress& progress) {
        reasons_->setText(tr("Judging %1 …").arg(text(progress.activity)));
    });
    judge();
}

QWidget* UpgradePane::make_answers() {
    auto* page = new QWidget(this);
    auto* column = new QVBoxLayout(page);
    column->setContentsMargins(10, 10, 10, 8);
    column->setSpacing(6);
    headline_ = new QLabel(page);
    headline_->setWordWrap(true);
    headline_->setTextFormat(Qt::RichText);
    headline_->setObjectName("verdict");
    reasons_ = new QLabel(page);
    reasons_->setWordWrap(true);
    reasons_->setTextFormat(Qt::PlainText);
    reasons_->setObjectName("reasons");
    connect(headline_, &QLabel::linkActivated, this, [this] {
        const int row = verdicts_->currentRow();
        if (row >= 0 && !question_.networks.empty()) {
            emit why_wanted(
                text(question_.networks.front().name), text(question_.from.name),
                text(question_.to.at(answer_.asked.at(static_cast<std::size_t>(row))).name));
        }
    });
    column->addWidget(headline_);
    sheet_ = new QPushButton(tr("Save a sheet to sign…"), page);
    sheet_->setObjectName("save sheet");
    sheet_->setToolTip(
        tr("The answer on one page to print, as HTML, Markdown, JSON, CSV, or text"));
    sheet_->setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Fixed);
    sheet_->hide();
    connect(sheet_, &QPushButton::clicked, this, &UpgradePane::save_sheet_dialog);
    column->addWidget(sheet_);
    candidates_ = new DrawingView(page);
    candidates_->setObjectName("candidates");
    candidates_->setAccessibleName(
        tr("Candidates: speed-up with its 80 % interval, what is needed, what was published"));
    candidates_->hide();
    column->addWidget(candidates_);
    decision_ = new QLabel(page);
    decision_->setObjectName("decision");
    decision_->setWordWrap(true);
    decision_->setTextFormat(Qt::RichText);
    decision_->hide();
    column->addWidget(decision_);
    column->addWidget(reasons_);
    verdicts_ = number_table(tr("GPUs side by side"), page);
    column->addWidget(verdicts_);
    layers_ = number_table(tr("Layers"), page);
    pictures_ = new PictureBoard(page);
    break_even_ = pictures_->add(tr("Rented"), tr("Break-even plot"));
    payback_ = pictures_->add(tr("Bought"), tr("Payback plot"));
    bars_ = pictures_->add(tr("Layers"), tr("Layers side by side"));
    sweep_ = pictures_->add(tr("Batch, precision"), tr("Speed-up over batch and precision"));
    auto* below = new QSplitter(Qt::Horizontal, page);
    below->addWidget(layers_);
    below->addWidget(pictures_);
    below->setStretchFactor(0, 1);
    below->setStretchFactor(1, 1);
    below->setChildrenCollapsible(false);
    below->setMinimumHeight(260);
    column->addWidget(below, 1);
    connect(verdicts_, &QTableWidget::itemSelectionChanged, this, &UpgradePane::show_selected);
    return page;
}

void UpgradePane::fill(const Folders& folders, const Offered& offered) {
    folders_ = folders;
    form_->fill(offered);
}

void UpgradePane::ask(const QStringList& networks, const QString& from, const QStringList& to,
                      const QString& phase) {
    if (!phase.isEmpty()) {
        form_->set_phase(phase);
    }
    for (const QString& network : networks) {
        form_->add_network(network);
    }
    if (!from.isEmpty()) {
        form_->set_from(from);
    }
    for (const QString& machine : to) {
        form_->add_target({machine.toStdString(), {}, {}, {}});
    }
    judge();
}

void UpgradePane::ask(const analysis::UpgradeQuestion& question) {
    form_->set_question(question);
    judge();
}

void UpgradePane::judge() {
    const analysis::UpgradeQuestion question = form_->question();
    if (!question.complete()) {
        worker_.cancel();
        question_ = {};
        show_answer({});
        return;
    }
    worker_.run([this, question,
                 folders = folders_](const std::stop_token& stop,
                                     const ProgressCallback& progress) -> Background::Show {
        auto answer = std::make_shared<UpgradeAnswer>(answer_to(question, folders, stop, progress));
        return [this, answer, question] {
            question_ = question;
            show_answer(std::move(*answer));
        };
    });
}

void UpgradePane::show_answer(UpgradeAnswer answer) {
    const bool same = answer.upgrades.size() == answer_.upgrades.size(); // what was chosen stays
    answer_ = std::move(answer);
    const int row =
        same ? std::max(0, verdicts_->currentRow()) : static_cast<int>(answer_.purchase.best);
    {
        const QSignalBlocker block(verdicts_);
        show_verdicts();
        if (!answer_.upgrades.empty()) {
            verdicts_->selectRow(std::min(row, verdicts_->rowCount() - 1));
        }
    }
    form_->show_catalog_prices(question_, answer_);
    if (question_.from_owned != std::exchange(owned_shown_, question_.from_owned)) {
        pictures_->show_picture(question_.from_owned ? 1 : 0); // bought, or rented
    }
    show_selected();
    emit problems(answer_.problems);
    emit judged();
}

// The GPUs below each other; what the old one does stands in the headers.
void UpgradePane::show_verdicts() {
    const auto& upgrades = answer_.upgrades;
    verdicts_->setVisible(!upgrades.empty());
    if (upgrades.empty()) {
        verdicts_->setRowCount(0);
        return;
    }
    const analysis::Upgrade& first = upgrades.front();
    const bool fleet = !first.members.empty();
    const QString now = first.money.priced
                            ? tr(", now $%1").arg(1e6 * first.money.from_usd_per_run, 0, 'g', 3)
                            : QString();
    QStringList headers = {tr("GPU"),
                           tr("Verdict"),
                           tr("Speedup (80 % interval)"),
                           tr("Needed"),
                           tr("Wrong with"),
                           fleet ? tr("An old hour's work")
                                 : tr("A run, now %1").arg(si(first.from_s)),
                           fleet ? tr("Its price") : tr("A million runs%1").arg(now),
                           tr("Paid back in"),
                           tr("Memory"),
                           tr("Energy")};
    const std::vector<std::vector<std::string>> more = more_figures(answer_.purchase);
    const int own = static_cast<int>(headers.size());
    for (const auto& figure : more) {
        headers << tr("%1, now %2").arg(capital(text(figure[0])), text(figure[1]));
    }
    verdicts_->setColumnCount(static_cast<int>(headers.size()));
    verdicts_->setHorizontalHeaderLabels(headers);
    verdicts_->setRowCount(static_cast<int>(upgrades.size()));
    const report::Theme theme = theme_of(*this);
    for (std::size_t i = 0; i < upgrades.size(); ++i) {
        const analysis::Upgrade& u = upgrades[i];
        const analysis::UpgradeMoney& m = u.money;
        const auto line = static_cast<int>(i);
        const auto put = [&](int column, QTableWidgetItem* item) {
            verdicts_->setItem(line, column, item);
        };
        put(0, cell(text(u.to)));
        put(1, cell(sign_of(u.verdict) + text(analysis::verdict_name(u.verdict))));
        put(2, cell(interval_text(u.speedup), u.speedup.value));
        const bool judged = u.verdict != analysis::UpgradeVerdict::unpriced;
        put(3, !judged ? cell(tr("—"))
               : std::isfinite(u.threshold)
                   ? cell(QString::number(u.threshold, 'f', 2), u.threshold)
                   : cell(tr("never enough"), u.threshold));
        put(4, judged ? cell(text(analysis::chance_text(u.probability_wrong)), u.probability_wrong)
                      : cell(tr("—")));
        put(5, cell(si(u.to_s), u.to_s));
        const double usd = (fleet ? 1.0 : 1e6) * m.to_usd_per_run;
        put(6, m.priced ? cell("$" + QString::number(usd, 'g', 3), usd) : cell(tr("no price")));
        put(7, m.break_even_months ? cell(tr("%1 months").arg(*m.break_even_months, 0, 'f', 1),
                                          *m.break_even_months)
                                   : cell(m.outlay_usd ? tr("never") : tr("—")));
        put(8, cell(memory_text(u)));
        put(9, cell(tr("%1 → %2 J").arg(m.from_joules, 0, 'g', 3).arg(m.to_joules, 0, 'g', 3)));
        for (std::size_t k = 0; k < more.size(); ++k) {
            put(own + static_cast<int>(k), cell(text(more[k][2 + i])));
        }
        verdicts_->item(line, 3)->setToolTip(text(u.threshold_basis));
        QFont bold = verdicts_->font();
        bold.setBold(true);
        verdicts_->item(line, 1)->setFont(bold);
        verdicts_->item(line, 1)->setForeground(colour_of_verdict(u.verdict, theme));
    }
    fit_columns(*verdicts_);
    const int rows = std::min(6, verdicts_->rowCount());
    verdicts_->setFixedHeight(verdicts_->horizontalHeader()->sizeHint().height() +
                              rows * verdicts_->verticalHeader()->defaultSectionSize() + 20);
}

// Below the cards: ranked, with the break-even of each; then the evidence beside the prediction.
void UpgradePane::show_decision(std::size_t chosen) {
    const bool some = chosen < answer_.purchase.answers.size();
    candidates_->setVisible(some);
    decision_->setVisible(some);
    sheet_->setVisible(some);
    if (!some) {
        return;
    }
    const auto whole = std::make_shared<const analysis::Purchase>(answer_.purchase);
    candidates_->show_drawing(
        [whole, chosen](const report::Canvas& c) {
            return report::make_candidates(*whole, chosen, c);
        },
        true);
    decision_->setText(decision_html(*whole, chosen));
}

QString UpgradePane::headline() const {
    return headline_->text();
}

void UpgradePane::show_headline(const analysis::Upgrade& u) {
    const QColor colour = colour_of_verdict(u.verdict, theme_of(*this));
    const analysis::Purchase purchase = shown();
    const QString cost = purchase.best < purchase.answers.size()
                             ? cost_html(purchase.answers[purchase.best])
                             : QString();
    headline_->setText(headline_html(question_, u, text(purchase.sentence), colour) + cost +
                       tr(" <a href=\"why\">Why, on the roofline</a>"));
    QString reasons =
        reasons_text(u, text(report::terms_text(answer_.purchase)), QDate::currentDate());
    analysis::Purchase beside = purchase; // without what stands elsewhere
    beside.unbought.reset();
    for (analysis::PurchaseAnswer& answer : beside.answers) {
        answer.upgrade.notes.clear();
    }
    for (const std::string& remark : report::remarks(beside)) {
        reasons += "\n" + text(remark);
    }
    reasons_->setText(reasons);
}

// The verdict's color is that of the theme.
void UpgradePane::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange && sweep_ != nullptr && !answer_.upgrades.empty()) {
        const int row = verdicts_->currentRow();
        {
            const QSignalBlocker quiet(verdicts_);
            show_verdicts();
            verdicts_->selectRow(row);
        }
        show_headline(answer_.upgrades[static_cast<std::size_t>(std::max(0, row))]);
    }
}

void UpgradePane::show_selected() {
    const int row = verdicts_->currentRow();
    if (row < 0 || row >= static_cast<int>(answer_.upgrades.size())) {
        headline_->setText(tr("<span style='font-size:x-large; font-weight:600'>Does another GPU "
                              "pay off?</span>"));
        reasons_->setText(tr("Name on the left what runs, the GPU that runs it now, and one or "
                             "more that could."));
        show_decision(answer_.purchase.answers.size());
        layers_->setRowCount(0);
        layers_->setColumnCount(0);
        for (DrawingView* view : {break_even_, payback_, bars_, sweep_}) {
            view->clear(tr("A picture appears here."));
        }
        return;
    }
    const auto chosen = static_cast<std::size_t>(row);
    show_headline(answer_.upgrades[chosen]);
    show_decision(chosen);
    show_layers(chosen);
    show_pictures(chosen);
}

// All GPUs beside each other, then the difference that the chosen one makes.
void UpgradePane::show_layers(std::size_t chosen) {
    const auto& upgrades = answer_.upgrades;
    const analysis::Upgrade& u = upgrades[chosen];
    const bool fleet = !u.members.empty();
    QStringList headers = {tr("Layer"), tr("×"), tr("Share")};
    for (const analysis::Upgrade& each : upgrades) {
        headers << text(each.to) << tr("faster");
    }
    headers << text(u.from) << tr("Difference") << tr("Why not more");
    layers_->setSortingEnabled(false);
    layers_->setColumnCount(static_cast<int>(headers.size()));
    layers_->setHorizontalHeaderLabels(headers);
    layers_->setRowCount(static_cast<int>(u.layers.size()));
    QStringList names;
    for (const analysis::UpgradeLayer& layer : u.layers) {
        names << (fleet ? text(layer.network + "/" + layer.name) : text(layer.name));
    }
    const QStringList shorter = short_names(names);
    for (std::size_t i = 0; i < u.layers.size(); ++i) {
        const analysis::UpgradeLayer& layer = u.layers[i];
        const auto line = static_cast<int>(i);
        int column = 0;
        const auto put = [&](QTableWidgetItem* item) { layers_->setItem(line, column++, item); };
        put(cell(shorter[line]));
        layers_->item(line, 0)->setToolTip(names[line]);
        layers_->item(line, 0)->setData(LayerTable::kFullText, names[line]);
        put(cell(QString::number(layer.count), static_cast<double>(layer.count)));
        put(cell(QString("%1 %").arg(100.0 * layer.share_of_from, 0, 'f', 1), layer.share_of_from));
        for (const analysis::Upgrade& each : upgrades) {
            const analysis::UpgradeLayer& there = each.layers.at(i);
            put(cell(si(there.to_s), there.to_s));
            put(cell(QString("%1×").arg(there.speedup, 0, 'f', 2), there.speedup));
        }
        put(cell(si(layer.from_s), layer.from_s));
        const double saved = layer.to_s - layer.from_s;
        put(cell((saved > 0 ? "+" : "−") + si(std::abs(saved)), saved));
        put(cell(text(layer.why)));
    }
    layers_->setSortingEnabled(true);
    layers_->sortByColumn(2, Qt::DescendingOrder);
    fit_columns(*layers_);
}

void UpgradePane::show_pictures(std::size_t chosen) {
    const auto upgrades = std::make_shared<const std::vector<analysis::Upgrade>>(answer_.upgrades);
    bars_->show_drawing(
        [upgrades](const report::Canvas& c) { return report::make_upgrade_bars(*upgrades, c); },
        false);
    break_even_->show_drawing(
        [upgrades, chosen](const report::Canvas& c) {
            return report::make_break_even(*upgrades, chosen, c);
        },
        false);
    payback_->show_drawing(
        [upgrades, chosen](const report::Canvas& c) {
            return report::make_payback(*upgrades, chosen, c);
        },
        false);
    sweep_->show_drawing(
        [upgrades, chosen](const report::Canvas& c) {
            return report::make_sweep((*upgrades)[chosen], c);
        },
        false);
}

const std::vector<DrawingView*>& UpgradePane::pictures() const {
    return pictures_->views();
}

DrawingView& UpgradePane::shown_picture() {
    return pictures_->current();
}

analysis::Purchase UpgradePane::shown() const {
    analysis::Purchase shown = answer_.purchase;
    shown.best = static_cast<std::size_t>(std::max(0, verdicts_->currentRow()));
    shown.sentence = analysis::purchase_sentence(shown);
    return shown;
}

analysis::Scenario UpgradePane::shown_run() const {
    const auto row = static_cast<std::size_t>(std::max(0, verdicts_->currentRow()));
    return row < answer_.runs.size() ? answer_.runs[row] : analysis::Scenario{};
}

Result<Done> UpgradePane::save_sheet(const QString& file) const {
    if (answer_.purchase.answers.empty()) {
        return Result<Done>::failure("nothing", "there is no answer yet",
                                     "name networks and GPUs on the left first");
    }
    analysis::Purchase answer = shown();
    for (analysis::PurchaseAnswer& one : answer.answers) { // other batches would take other pages
        one.upgrade.sweep.clear();
    }
    const QString ending = QFileInfo(file).suffix().toLower();
    const std::string path = file.toStdString();
    if (ending == "html" || ending == "htm") {
        return write_file(path, report::purchase_html(answer, false));
    }
    if (ending == "md") {
        return write_file(path, report::purchase_markdown(answer, false));
    }
    if (ending == "json") {
        return write_file(path, report::purchase_json(answer));
    }
    if (ending == "csv") {
        return write_file(path, report::purchase_csv(answer));
    }
    if (ending == "txt") {
        return write_file(path, report::purchase_text(answer, false));
    }
    return Result<Done>::failure("unknown-format", "cannot tell a format from " + path,
                                 "end the name in .html, .md, .json, .csv, or .txt");
}

void UpgradePane::save_sheet_dialog() {
    const QString file =
        QFileDialog::getSaveFileName(this, tr("Save a sheet to sign"), "upgrade.html",
                                     tr("Sheets (*.html *.md);;Figures (*.json *.csv *.txt)"));
    if (file.isEmpty()) {
        return;
    }
    if (const auto written = save_sheet(file); !written) {
        emit problems(written.diagnostics());
    }
}

std::string UpgradePane::command_line() const {
    const int row = verdicts_->currentRow();
    return row < 0 || row >= static_cast<int>(answer_.asked.size())
               ? std::string{}
               : analysis::command_of(question_, answer_.asked[static_cast<std::size_t>(row)]);
}

} // namespace eyeroof::gui
