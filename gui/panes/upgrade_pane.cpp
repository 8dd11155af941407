#include "gui/panes/upgrade_pane.hpp"

#include "base/file.hpp"
#include "gui/panes/answer_table.hpp"
#include "gui/panes/fields.hpp"
#include "gui/panes/fitting_scroll.hpp"
#include "gui/panes/picture_board.hpp"
#include "gui/panes/upgrade_form.hpp"
#include "gui/panes/upgrade_words.hpp"
#include "gui/views/paint_scene.hpp"
#include "gui/views/qt_text.hpp"
#include "report/answer/write.hpp"
#include "report/upgrade/break_even_scene.hpp"
#include "report/upgrade/candidates_scene.hpp"
#include "report/upgrade/purchase_answer.hpp"
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
#include <QVBoxLayout>
#include <algorithm>
#include <numeric>
#include <utility>

namespace eyeroof::gui {

namespace {

constexpr int kFormWidth = 330;

constexpr int kVerdict = 1; // its column

// The table that the command prints, a row for each GPU in question; the figures of what is there
// stand in the headers.
report::AnswerTable verdicts_table(const analysis::Purchase& purchase) {
    report::Table figures = report::candidates_table(purchase);
    figures.rows.front()[0] = "ownership";                     // nameless in a column
    std::ranges::rotate(figures.rows, figures.rows.end() - 1); // the verdict first
    std::ranges::rotate(figures.meanings, figures.meanings.end() - 1);
    using Gpu = std::size_t;
    std::vector<report::Column<Gpu>> columns = {
        {"", "GPU", report::Unit::none, [&](Gpu i) { return purchase.answers[i].then.gpu; }},
        {"", "Verdict", report::Unit::none, [&](Gpu i) {
             return sign_of(purchase.answers[i].upgrade.verdict).toStdString() +
                    figures.rows.front()[2 + i];
         }}};
    for (std::size_t r = 1; r < figures.rows.size(); ++r) {
        const std::vector<std::string>& row = figures.rows[r];
        const bool known = !row[1].empty() && row[1] != "-";
        const QString now = known ? ", now " + text(row[1]) : QString();
        columns.emplace_back(
            "", (capital(text(row[0]).trimmed()) + now).toStdString(), report::Unit::none,
            [&row](Gpu i) { return row[2 + i]; }, report::kAll, figures.meanings[r]);
    }
    std::vector<Gpu> gpus(purchase.answers.size());
    std::iota(gpus.begin(), gpus.end(), Gpu{0});
    return report::make_table("", "", gpus, columns);
}

// All GPUs beside each other, then the difference that the chosen one makes.
report::AnswerTable gains_table(const std::vector<analysis::Upgrade>& upgrades,
                                std::size_t chosen) {
    using report::Unit;
    using Row = std::size_t; // of the layers
    const analysis::Upgrade& u = upgrades[chosen];
    const auto name = [&](Row i) {
        return (u.members.empty() ? "" : u.layers[i].network + "/") + u.layers[i].name;
    };
    std::vector<report::Column<Row>> columns = {
        {"", "Layer", Unit::none, name},
        {"", "Runs", Unit::count, [&](Row i) { return u.layers[i].count; }},
        {"", "Share", Unit::share, [&](Row i) { return u.layers[i].share_of_from; }}};
    for (const analysis::Upgrade& each : upgrades) {
        columns.emplace_back("", each.to, Unit::seconds,
                             [&](Row i) { return each.layers.at(i).to_s; });
        columns.emplace_back("", "faster", Unit::times,
                             [&](Row i) { return each.layers.at(i).speedup; });
    }
    columns.emplace_back("", u.from, Unit::seconds, [&](Row i) { return u.layers[i].from_s; });
    columns.emplace_back("", "Difference", Unit::seconds,
                         [&](Row i) { return u.layers[i].to_s - u.layers[i].from_s; });
    columns.emplace_back("", "Why not more", Unit::none, [&](Row i) { return u.layers[i].why; });
    std::vector<Row> rows(u.layers.size());
    std::iota(rows.begin(), rows.end(), Row{0});
    return report::make_table("", "", rows, columns);
}

} // namespace

UpgradePane::UpgradePane(QWidget* parent) : QWidget(parent) {
    auto* row = bare<QHBoxLayout>(this, 0);
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
        if (chosen_ < answer_.asked.size() && !question_.networks.empty()) {
            emit why_wanted(text(question_.networks.front().name), text(question_.from.name),
                            text(question_.to.at(answer_.asked[chosen_]).name));
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
        tr("Candidates: speedup with its 80 % interval, what is needed, what was published"));
    candidates_->hide();
    column->addWidget(candidates_);
    verdicts_ = new AnswerTableView(tr("GPUs side by side"), "upgrade verdicts", page);
    verdicts_->answer().set_verdict(kVerdict, [this](std::size_t row) {
        return ink_on(*this, report::role_of(answer_.upgrades.at(row).verdict));
    });
    column->addWidget(verdicts_);
    decision_ = new QLabel(page);
    decision_->setObjectName("decision");
    decision_->setWordWrap(true);
    decision_->setTextFormat(Qt::RichText);
    decision_->hide();
    column->addWidget(decision_);
    column->addWidget(reasons_);
    layers_ = new AnswerTableView(tr("Layers"), "upgrade layers", page);
    layers_->set_stays(true);
    layers_->setSortingEnabled(true);
    layers_->sortByColumn(2, Qt::DescendingOrder);
    pictures_ = new PictureBoard(page);
    break_even_ = pictures_->add(tr("Rented"), tr("Break-even plot"));
    payback_ = pictures_->add(tr("Bought"), tr("Payback plot"));
    bars_ = pictures_->add(tr("Layers"), tr("Layers side by side"));
    sweep_ = pictures_->add(tr("Batch, precision"), tr("Speedup over batch and precision"));
    auto* below = new QSplitter(Qt::Horizontal, page);
    below->addWidget(layers_);
    below->addWidget(pictures_);
    below->setStretchFactor(0, 1);
    below->setStretchFactor(1, 1);
    below->setChildrenCollapsible(false);
    below->setMinimumHeight(260);
    column->addWidget(below, 1);
    connect(verdicts_, &AnswerTableView::row_chosen, this, [this](std::size_t row) {
        chosen_ = row;
        show_selected();
    });
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
    chosen_ = same ? chosen_ : answer_.purchase.best;
    show_verdicts();
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
    const QSignalBlocker quiet(verdicts_);
    const bool some = !answer_.upgrades.empty();
    verdicts_->show_table(some ? verdicts_table(answer_.purchase) : report::AnswerTable{});
    verdicts_->selectRow(static_cast<int>(chosen_));
    const int rows = std::min(6, verdicts_->row_count());
    verdicts_->setFixedHeight(verdicts_->horizontalHeader()->sizeHint().height() +
                              rows * verdicts_->verticalHeader()->defaultSectionSize() + 20);
}

// Below the cards: ranked, with the break-even of each; then the evidence beside the prediction.
void UpgradePane::show_decision() {
    const bool some = chosen_ < answer_.purchase.answers.size();
    candidates_->setVisible(some);
    decision_->setVisible(some);
    sheet_->setVisible(some);
    if (!some) {
        return;
    }
    const auto whole = std::make_shared<const analysis::Purchase>(answer_.purchase);
    candidates_->show_drawing(
        [whole, chosen = chosen_](const report::Canvas& c) {
            return report::make_candidates(*whole, chosen, c);
        },
        true);
    decision_->setText(decision_html(*whole, chosen_));
}

QString UpgradePane::headline() const {
    return headline_->text();
}

void UpgradePane::show_headline(const analysis::Upgrade& u) {
    const QColor colour = ink_on(*this, report::role_of(u.verdict));
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
    if (event->type() == QEvent::PaletteChange && chosen_ < answer_.upgrades.size()) {
        show_headline(answer_.upgrades[chosen_]);
    }
}

void UpgradePane::show_selected() {
    if (chosen_ >= answer_.upgrades.size()) {
        headline_->setText(tr("<span style='font-size:x-large; font-weight:600'>Does another GPU "
                              "pay off?</span>"));
        reasons_->setText(tr("Name on the left what runs, the GPU that runs it now, and one or "
                             "more that could."));
        show_decision();
        layers_->show_table({});
        for (DrawingView* view : {break_even_, payback_, bars_, sweep_}) {
            view->clear(tr("A picture appears here."));
        }
        return;
    }
    show_headline(answer_.upgrades[chosen_]);
    show_decision();
    layers_->show_table(gains_table(answer_.upgrades, chosen_));
    show_pictures();
}

void UpgradePane::show_pictures() {
    const auto upgrades = std::make_shared<const std::vector<analysis::Upgrade>>(answer_.upgrades);
    const auto show = [&](DrawingView* view, auto draw) {
        view->show_drawing(
            [upgrades, draw](const report::Canvas& canvas) { return draw(*upgrades, canvas); },
            false);
    };
    show(bars_, report::make_upgrade_bars);
    show(break_even_, [chosen = chosen_](const auto& all, const report::Canvas& canvas) {
        return report::make_break_even(all, chosen, canvas);
    });
    show(payback_, [chosen = chosen_](const auto& all, const report::Canvas& canvas) {
        return report::make_payback(all, chosen, canvas);
    });
    show(sweep_, [chosen = chosen_](const auto& all, const report::Canvas& canvas) {
        return report::make_sweep(all[chosen], canvas);
    });
}

const std::vector<DrawingView*>& UpgradePane::pictures() const {
    return pictures_->views();
}

DrawingView& UpgradePane::shown_picture() {
    return pictures_->current();
}

analysis::Purchase UpgradePane::shown() const {
    analysis::Purchase shown = answer_.purchase;
    shown.best = chosen_;
    shown.sentence = analysis::purchase_sentence(shown);
    return shown;
}

analysis::Scenario UpgradePane::shown_run() const {
    return chosen_ < answer_.runs.size() ? answer_.runs[chosen_] : analysis::Scenario{};
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
        return write_file(path, report::to_markdown(report::purchase_answer(answer)));
    }
    if (ending == "json") {
        return write_file(path, report::to_json(report::purchase_answer(answer)));
    }
    if (ending == "csv") {
        return write_file(path, report::to_csv(report::purchase_answer(answer)));
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
    return chosen_ < answer_.asked.size() ? analysis::command_of(question_, answer_.asked[chosen_])
                                          : std::string();
}

} // namespace eyeroof::gui
