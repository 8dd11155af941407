#include "gui/panes/upgrade_pane.hpp"

#include "gui/panes/flow_layout.hpp"
#include "hwdb/catalog.hpp"
#include "model/base/units.hpp"
#include "study/read/catalog.hpp"
#include "study/scene/break_even_scene.hpp"
#include "study/session.hpp"
#include "study/training.hpp"

#include <QComboBox>
#include <QCompleter>
#include <QDoubleSpinBox>
#include <QFormLayout>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QSpinBox>
#include <QSplitter>
#include <QTableWidget>
#include <QToolButton>
#include <QVBoxLayout>

namespace eyeroof::gui {

namespace {

QString text(std::string_view string) {
    return QString::fromUtf8(string.data(), static_cast<qsizetype>(string.size()));
}

QString interval_text(const study::Interval& i) {
    return QString("%1 (%2 … %3)")
        .arg(i.value, 0, 'f', 2)
        .arg(i.low, 0, 'f', 2)
        .arg(i.high, 0, 'f', 2);
}

// A number that sorts as one.
QTableWidgetItem* cell(const QString& shown, double value) {
    class Number : public QTableWidgetItem {
      public:
        using QTableWidgetItem::QTableWidgetItem;
        bool operator<(const QTableWidgetItem& other) const override {
            return data(Qt::UserRole).toDouble() < other.data(Qt::UserRole).toDouble();
        }
    };
    auto* item = new Number(shown);
    item->setData(Qt::UserRole, value);
    item->setTextAlignment(Qt::AlignRight | Qt::AlignVCenter);
    return item;
}

QTableWidgetItem* cell(const QString& shown) {
    auto* item = new QTableWidgetItem(shown);
    item->setToolTip(shown);
    return item;
}

QTableWidget* table(const QStringList& headers, const QString& name, QWidget* parent) {
    auto* widget = new QTableWidget(0, static_cast<int>(headers.size()), parent);
    widget->setHorizontalHeaderLabels(headers);
    widget->setSelectionBehavior(QAbstractItemView::SelectRows);
    widget->setSelectionMode(QAbstractItemView::SingleSelection);
    widget->setEditTriggers(QAbstractItemView::NoEditTriggers);
    widget->verticalHeader()->hide();
    widget->verticalHeader()->setDefaultSectionSize(22);
    widget->horizontalHeader()->setStretchLastSection(true);
    widget->setAccessibleName(name);
    return widget;
}

} // namespace

UpgradePane::UpgradePane(QWidget* parent) : QWidget(parent) {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(8, 6, 8, 6);
    column->addWidget(make_questions());
    column->addWidget(make_prices());
    verdict_ = new QLabel(this);
    verdict_->setWordWrap(true);
    verdict_->setTextFormat(Qt::RichText);
    verdict_->setMargin(4);
    column->addWidget(verdict_);
    column->addWidget(make_answers(), 1);
    connect(&worker_, &Background::progressed, this, [this](const model::Progress& progress) {
        verdict_->setText(tr("Judging %1 …").arg(text(progress.activity)));
    });
    judge();
}

QComboBox* UpgradePane::chooser(const QString& placeholder, const char* name) {
    auto* box = new QComboBox(this);
    box->setEditable(true);
    box->setInsertPolicy(QComboBox::NoInsert);
    box->lineEdit()->setPlaceholderText(placeholder);
    box->setMinimumWidth(170);
    box->setObjectName(name);
    box->setAccessibleName(placeholder);
    box->completer()->setFilterMode(Qt::MatchContains);
    box->completer()->setCompletionMode(QCompleter::PopupCompletion);
    return box;
}

QWidget* UpgradePane::make_questions() {
    auto* box = new QWidget(this);
    auto* form = new QFormLayout(box);
    form->setContentsMargins(0, 0, 0, 0);
    const auto row = [&](const QString& label, QComboBox* combo, FlowLayout*& chips) {
        auto* line = new QWidget(box);
        chips = new FlowLayout(line);
        chips->setContentsMargins(0, 0, 0, 0);
        chips->addWidget(combo);
        form->addRow(label, line);
    };
    network_ = chooser(tr("add a network"), "upgrade network");
    row(tr("Does running"), network_, network_row_);
    auto* on = new QWidget(box);
    auto* line = new FlowLayout(on);
    line->setContentsMargins(0, 0, 0, 0);
    from_ = chooser(tr("the GPU that runs it now"), "upgrade from");
    phase_ = new QComboBox(this);
    phase_->addItem(tr("inference"), "inference");
    phase_->addItem(tr("training, SGD"), "sgd_momentum");
    phase_->addItem(tr("training, Adam"), "adam");
    phase_->setObjectName("upgrade phase");
    phase_->setAccessibleName(tr("What is run"));
    const auto type = [&](const char* name, const QString& what) {
        auto* combo = new QComboBox(this);
        combo->addItem(tr("own precision"), QString());
        for (const std::string_view known : model::data_type_names()) {
            combo->addItem(text(known), text(known));
        }
        combo->setObjectName(name);
        combo->setAccessibleName(what);
        connect(combo, &QComboBox::activated, this, &UpgradePane::judge);
        return combo;
    };
    from_type_ = type("upgrade from precision", tr("Precision on the old GPU"));
    to_type_ = type("upgrade to precision", tr("Precision on the new GPU"));
    batch_ = new QSpinBox(this);
    batch_->setRange(1, 65536);
    batch_->setPrefix(tr("batch ×"));
    batch_->setAccessibleName(tr("Batch, times the network's own"));
    for (QWidget* widget : {static_cast<QWidget*>(from_), static_cast<QWidget*>(from_type_),
                            static_cast<QWidget*>(phase_), static_cast<QWidget*>(batch_)}) {
        line->addWidget(widget);
    }
    form->addRow(tr("that now runs on"), on);
    to_ = chooser(tr("add a GPU"), "upgrade to");
    row(tr("pay on"), to_, to_row_);
    to_row_->addWidget(to_type_);
    connect(from_, &QComboBox::activated, this, &UpgradePane::judge);
    connect(from_->lineEdit(), &QLineEdit::returnPressed, this, &UpgradePane::judge);
    connect(phase_, &QComboBox::activated, this, &UpgradePane::judge);
    connect(batch_, &QSpinBox::valueChanged, this, &UpgradePane::judge);
    const auto adds = [this](QComboBox* combo, FlowLayout*& chips, QStringList& list) {
        const auto add = [this, combo, &chips, &list] {
            add_chip(*chips, list, combo->currentText().trimmed());
            combo->setCurrentText({});
            judge();
        };
        connect(combo, &QComboBox::activated, this, add);
        connect(combo->lineEdit(), &QLineEdit::returnPressed, this, add);
    };
    adds(network_, network_row_, networks_);
    adds(to_, to_row_, targets_);
    return box;
}

QWidget* UpgradePane::make_prices() {
    auto* box = new QWidget(this);
    auto* line = new FlowLayout(box, 6);
    line->setContentsMargins(0, 0, 0, 0);
    const auto price = [&](const QString& prefix, const QString& none, double most, double step) {
        auto* spin = new QDoubleSpinBox(this);
        spin->setRange(0.0, most);
        spin->setDecimals(2);
        spin->setSingleStep(step);
        spin->setPrefix(prefix + " $");
        spin->setSpecialValueText(prefix + " " + none);
        spin->setKeyboardTracking(false);
        spin->setAccessibleName(prefix);
        line->addWidget(spin);
        connect(spin, &QDoubleSpinBox::valueChanged, this, &UpgradePane::judge);
        return spin;
    };
    from_price_ = price(tr("old, an hour:"), tr("catalog"), 1000.0, 0.05);
    to_price_ = price(tr("new, an hour:"), tr("catalog"), 1000.0, 0.05);
    buy_ = price(tr("bought for:"), tr("catalog"), 1e6, 100.0);
    resale_ = price(tr("old one sold for:"), tr("nothing"), 1e6, 100.0);
    return box;
}

QWidget* UpgradePane::make_answers() {
    verdicts_ =
        table({tr("Network"), tr("On"), tr("Verdict"), tr("Speed-up (80 % interval)"), tr("Needed"),
               tr("Wrong with"), tr("$ a million runs"), tr("Paid back in"), tr("Why")},
              tr("Verdicts"), this);
    layers_ = table({tr("Layer"), tr("×"), tr("Old"), tr("New"), tr("Difference"), tr("Speed-up"),
                     tr("Share of old"), tr("Why not more")},
                    tr("Layers"), this);
    layers_->setSortingEnabled(true);
    plot_ = new DrawingView(this);
    plot_->setAccessibleName(tr("Break-even plot"));
    plot_->clear(tr("The break-even plot appears here."));
    auto* below = new QSplitter(Qt::Horizontal, this);
    below->addWidget(layers_);
    below->addWidget(plot_);
    below->setStretchFactor(0, 3);
    below->setStretchFactor(1, 2);
    auto* all = new QSplitter(Qt::Vertical, this);
    all->addWidget(verdicts_);
    all->addWidget(below);
    all->setStretchFactor(0, 1);
    all->setStretchFactor(1, 4);
    connect(verdicts_, &QTableWidget::itemSelectionChanged, this, &UpgradePane::show_selected);
    return all;
}

void UpgradePane::fill(const Folders& folders) {
    folders_ = folders;
    if (const auto heads = study::read::list_networks(folders.networks)) {
        for (const auto& head : *heads) {
            network_->addItem(text(head.id));
        }
    }
    for (const auto& entry : hwdb::list_machines(folders.machines)) {
        if (entry.family == "gpus") {
            from_->addItem(text(entry.id));
            to_->addItem(text(entry.id));
        }
    }
    for (QComboBox* box : {network_, from_, to_}) {
        box->setCurrentIndex(-1);
        box->setCurrentText({});
    }
}

QString UpgradePane::from() const {
    return from_->currentText().trimmed();
}

void UpgradePane::add_chip(FlowLayout& row, QStringList& list, const QString& name) {
    if (name.isEmpty() || list.contains(name)) {
        return;
    }
    list.append(name);
    auto* button = new QToolButton(this);
    button->setText("✕ " + name);
    button->setAccessibleName(tr("Remove %1").arg(name));
    button->setToolTip(button->accessibleName());
    row.addWidget(button);
    connect(button, &QToolButton::clicked, this, [this, &row, &list, button, name] {
        list.removeAll(name);
        row.removeWidget(button);
        button->hide();
        button->deleteLater();
        judge();
    });
}

void UpgradePane::ask(const QStringList& networks, const QString& from, const QStringList& to,
                      const QString& phase) {
    phase_->setCurrentIndex(
        std::max(phase_->findData(phase), phase.isEmpty() ? phase_->currentIndex() : 0));
    for (const QString& network : networks) {
        add_chip(*network_row_, networks_, network);
    }
    if (!from.isEmpty()) {
        from_->setCurrentText(from);
    }
    for (const QString& machine : to) {
        add_chip(*to_row_, targets_, machine);
    }
    judge();
}

UpgradePane::Question UpgradePane::question(const QString& network, const QString& to) const {
    Question q;
    q.network = network.toStdString();
    q.from = from().toStdString();
    q.to = to.toStdString();
    q.phase = phase_->currentData().toString().toStdString();
    q.folders = folders_;
    const auto type = [](const QComboBox& box) {
        return model::data_type_from_name(box.currentData().toString().toStdString());
    };
    q.options.from.data_type = type(*from_type_);
    q.options.to.data_type = type(*to_type_);
    if (batch_->value() > 1) {
        q.options.from.batch = q.options.to.batch = batch_->value();
    }
    const auto price = [](const QDoubleSpinBox& box) {
        return box.value() > 0.0 ? std::optional(box.value()) : std::nullopt;
    };
    q.options.prices.from_usd_per_hour = price(*from_price_);
    q.options.prices.to_usd_per_hour = price(*to_price_);
    q.options.prices.to_buy_usd = price(*buy_);
    q.options.prices.from_resale_usd = price(*resale_);
    return q;
}

void UpgradePane::judge() {
    std::vector<Question> questions;
    for (const QString& network : networks_) {
        for (const QString& to : targets_) {
            if (!from().isEmpty()) {
                questions.push_back(question(network, to));
            }
        }
    }
    if (questions.empty()) {
        worker_.cancel();
        show_verdicts({});
        verdict_->setText(tr("Name a network, the GPU that runs it now, and one or more others."));
        return;
    }
    worker_.run([this, questions](const std::stop_token& stop,
                                  const model::ProgressCallback& progress) -> Background::Show {
        auto judged = std::make_shared<Judged>(answers_to(questions, stop, progress));
        return [this, judged] { show_verdicts(std::move(*judged)); };
    });
}

UpgradePane::Judged UpgradePane::answers_to(const std::vector<Question>& questions,
                                            const std::stop_token& stop,
                                            const model::ProgressCallback& progress) {
    Judged judged;
    for (const Question& q : questions) {
        if (stop.stop_requested()) {
            break;
        }
        progress(
            {static_cast<double>(&q - questions.data()) / static_cast<double>(questions.size()),
             q.network + ", " + q.to, 0.0, -1.0});
        auto network = study::read::load_network(q.network, q.folders.networks);
        const auto from = hwdb::load_machine(q.from, q.folders.machines);
        const auto to = hwdb::load_machine(q.to, q.folders.machines);
        if (network && q.phase != "inference") {
            const auto half = [](const std::optional<model::DataType>& type) {
                return type == model::DataType::fp16 || type == model::DataType::bf16;
            };
            const bool mixed = half(q.options.from.data_type) || half(q.options.to.data_type);
            network = study::training_step(*network, {q.phase, mixed});
        }
        if (!network || !from || !to) {
            judged.problems.append(network.diagnostics());
            judged.problems.append(from.diagnostics());
            judged.problems.append(to.diagnostics());
            continue;
        }
        auto upgrade = study::upgrade(*network, *from, *to, q.options);
        judged.problems.append(upgrade.diagnostics());
        if (upgrade) {
            judged.upgrades.push_back(std::move(*upgrade));
            judged.questions.push_back(q);
        }
    }
    return judged;
}

void UpgradePane::show_verdicts(Judged judged) {
    const int row = std::max(0, verdicts_->currentRow());
    upgrades_ = std::move(judged.upgrades);
    asked_ = std::move(judged.questions);
    const QSignalBlocker block(verdicts_);
    verdicts_->setRowCount(static_cast<int>(upgrades_.size()));
    for (std::size_t i = 0; i < upgrades_.size(); ++i) {
        const study::Upgrade& u = upgrades_[i];
        const auto line = static_cast<int>(i);
        const QString verdict = text(study::verdict_name(u.verdict));
        const QString money = u.money.priced ? QString("%1 → %2")
                                                   .arg(1e6 * u.money.from_usd_per_run, 0, 'f', 2)
                                                   .arg(1e6 * u.money.to_usd_per_run, 0, 'f', 2)
                                             : tr("no price");
        const QString months = u.money.break_even_months
                                   ? tr("%1 months").arg(*u.money.break_even_months, 0, 'f', 1)
                                   : QString();
        verdicts_->setItem(line, 0, cell(text(asked_[i].network)));
        verdicts_->setItem(line, 1, cell(text(u.to)));
        verdicts_->setItem(line, 2, cell(verdict));
        verdicts_->setItem(line, 3, cell(interval_text(u.speedup), u.speedup.value));
        verdicts_->setItem(
            line, 4,
            cell(QString("%1 (%2)").arg(u.threshold, 0, 'f', 2).arg(text(u.threshold_basis)),
                 u.threshold));
        verdicts_->setItem(
            line, 5,
            cell(QString("%1 %").arg(100.0 * u.probability_wrong, 0, 'f', 0), u.probability_wrong));
        verdicts_->setItem(line, 6, cell(money, u.money.to_usd_per_run));
        verdicts_->setItem(line, 7, cell(months, u.money.break_even_months.value_or(0.0)));
        verdicts_->setItem(line, 8, cell(u.notes.empty() ? QString() : text(u.notes.front())));
        QFont font = verdicts_->font();
        font.setBold(true);
        verdicts_->item(line, 2)->setFont(font);
    }
    verdicts_->resizeColumnsToContents();
    if (!upgrades_.empty()) {
        verdicts_->selectRow(std::min(row, verdicts_->rowCount() - 1));
    }
    show_selected();
    emit problems(judged.problems);
    emit this->judged();
}

void UpgradePane::show_selected() {
    const int row = verdicts_->currentRow();
    layers_->setSortingEnabled(false);
    layers_->setRowCount(0);
    if (row < 0 || row >= static_cast<int>(upgrades_.size())) {
        plot_->clear(tr("The break-even plot appears here."));
        return;
    }
    const study::Upgrade& u = upgrades_[static_cast<std::size_t>(row)];
    const auto si = [](double seconds) { return text(model::format_si(seconds, "s", 4)); };
    QString words =
        tr("<b>%1</b>: %2 instead of %3 a run, %4 times faster; %5 times is needed (%6).")
            .arg(text(study::verdict_name(u.verdict)), si(u.to_s), si(u.from_s),
                 interval_text(u.speedup), QString::number(u.threshold, 'f', 2),
                 text(u.threshold_basis));
    for (const std::string& note : u.notes) {
        words += " " + text(note).toHtmlEscaped() + ".";
    }
    verdict_->setText(words);
    layers_->setRowCount(static_cast<int>(u.layers.size()));
    for (std::size_t i = 0; i < u.layers.size(); ++i) {
        const study::UpgradeLayer& layer = u.layers[i];
        const auto line = static_cast<int>(i);
        layers_->setItem(line, 0, cell(text(layer.name)));
        layers_->setItem(line, 1,
                         cell(QString::number(layer.count), static_cast<double>(layer.count)));
        layers_->setItem(line, 2, cell(si(layer.from_s), layer.from_s));
        layers_->setItem(line, 3, cell(si(layer.to_s), layer.to_s));
        const double saved = layer.to_s - layer.from_s;
        layers_->setItem(line, 4, cell((saved > 0 ? "+" : "−") + si(std::abs(saved)), saved));
        layers_->setItem(line, 5, cell(QString::number(layer.speedup, 'f', 2), layer.speedup));
        layers_->setItem(
            line, 6,
            cell(QString("%1 %").arg(100.0 * layer.share_of_from, 0, 'f', 1), layer.share_of_from));
        layers_->setItem(line, 7, cell(text(layer.why)));
    }
    layers_->setSortingEnabled(true);
    layers_->sortByColumn(6, Qt::DescendingOrder);
    layers_->resizeColumnsToContents();
    plot_->show_drawing(
        [u](const study::Canvas& canvas) { return study::make_break_even(u, canvas); }, false);
}

std::string UpgradePane::command_line() const {
    const int row = verdicts_->currentRow();
    if (row < 0 || row >= static_cast<int>(asked_.size())) {
        return {};
    }
    const Question& q = asked_[static_cast<std::size_t>(row)];
    std::string line = "eyeroof upgrade " + study::shell_quoted(q.network) + " --from " +
                       study::shell_quoted(q.from) + " --to " + study::shell_quoted(q.to);
    if (q.phase != "inference") {
        line += " --phase training --optimizer " + q.phase;
    }
    const auto add = [&](const char* option, const auto& value) {
        line += value ? std::string(" ") + option + " " + QString::number(*value).toStdString()
                      : std::string{};
    };
    const auto add_type = [&](const char* option, const std::optional<model::DataType>& type) {
        line += type ? std::string(" ") + option + " " + std::string(model::data_type_name(*type))
                     : std::string{};
    };
    add_type("--from-dtype", q.options.from.data_type);
    add_type("--to-dtype", q.options.to.data_type);
    add("--batch", q.options.from.batch);
    add("--from-per-hour", q.options.prices.from_usd_per_hour);
    add("--to-per-hour", q.options.prices.to_usd_per_hour);
    add("--buy", q.options.prices.to_buy_usd);
    add("--resale", q.options.prices.from_resale_usd);
    return line;
}

} // namespace eyeroof::gui
