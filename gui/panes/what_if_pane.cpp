#include "gui/panes/what_if_pane.hpp"

#include "analysis/scenario/power_cap.hpp"
#include "base/units.hpp"
#include "gui/jobs/as_in_view.hpp"
#include "gui/panes/amount_edit.hpp"
#include "gui/panes/elided_label.hpp"
#include "gui/panes/fields.hpp"
#include "gui/panes/snap_slider.hpp"
#include "gui/views/paint_scene.hpp"

#include <QGridLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPainter>
#include <QPushButton>
#include <QScrollArea>
#include <QSlider>
#include <QToolButton>
#include <algorithm>
#include <cmath>

namespace eyeroof::gui {

namespace {

constexpr int kSliderDigits = 4; // no one drags to the twelfth
constexpr int kGainBar = 24;

double rounded(double value) {
    const double unit = std::pow(10.0, std::floor(std::log10(value)) - kSliderDigits + 1);
    return std::round(value / unit) * unit;
}

// The host's launches, as many times as fast as the host of the scenario: no machine has it.
analysis::Parameter host_parameter() {
    analysis::Parameter parameter;
    parameter.key = kHostSpeed;
    parameter.name = "host's launch speed";
    parameter.value = 1.0;
    return parameter;
}

bool sets_clock(const analysis::Change& change) {
    return change.key.find("clock") != std::string::npos;
}

Result<double> entered(const analysis::Parameter& parameter, QString typed) {
    if (parameter.key != kHostSpeed) {
        return analysis::parse_value(parameter, typed.toStdString());
    }
    bool good = false;
    const double times = typed.remove(QChar('x'), Qt::CaseInsensitive).trimmed().toDouble(&good);
    return good && times > 0.0 && std::isfinite(times)
               ? Result<double>(times)
               : Result<double>::failure("bad-value", "not how many times as fast",
                                         "a positive number, as in 2x");
}

QString shown(const analysis::Parameter& parameter, double value) {
    if (parameter.key == kHostSpeed) {
        return QString("%1x").arg(value, 0, 'g', 4);
    }
    const bool bytes = parameter.unit == "B" && parameter.whole;
    return QString::fromStdString(parameter.unit.empty() ? std::to_string(std::llround(value))
                                  : bytes                ? format_iec(value, "B", 6)
                                                         : format_si(value, parameter.unit, 6));
}

} // namespace

GainBar::GainBar(QWidget* parent) : QWidget(parent) {
    setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Fixed);
}

// The bar, and space for the largest number.
QSize GainBar::sizeHint() const {
    return {kGainBar + number_width(), std::max(18, fontMetrics().height())};
}

int GainBar::number_width() const {
    return std::max(fontMetrics().horizontalAdvance("+999.9 %"),
                    fontMetrics().horizontalAdvance(tr("nothing"))) +
           4;
}

QString GainBar::number() const {
    if (!gain_) {
        return {};
    }
    if (std::fabs(*gain_) < 0.0005) {
        return tr("nothing");
    }
    return (*gain_ > 0.0 ? "+" : "−") + QString("%1 %").arg(std::fabs(100.0 * *gain_), 0, 'f', 1);
}

void GainBar::show_gain(const analysis::Sensitivity& sensitivity, double most) {
    waits_ = false;
    gain_ = sensitivity.speedup - 1.0;
    share_ = most > 0.0 ? std::clamp(*gain_ / most, 0.0, 1.0) : 0.0;
    const QString text = tr("%1 % more %2 makes the network %3 % faster")
                             .arg(100.0 * (sensitivity.factor - 1.0), 0, 'f', 0)
                             .arg(QString::fromStdString(sensitivity.name))
                             .arg(100.0 * *gain_, 0, 'f', 2);
    setToolTip(text);
    setAccessibleName(text);
    update();
}

void GainBar::wait() {
    waits_ = gain_.has_value();
    setToolTip(tr("Of the machine before the last change; being worked out for this one, with its "
                  "mappings"));
    update();
}

void GainBar::clear() {
    gain_.reset();
    waits_ = false;
    setToolTip({});
    update();
}

void GainBar::paintEvent(QPaintEvent*) {
    if (!gain_) {
        return;
    }
    QPainter painter(this);
    const int room = width() - number_width();
    const bool none = std::fabs(*gain_) < 0.0005;
    if (!none) {
        painter.fillRect(
            QRectF(0, 4, std::max(1.0, share_ * room), height() - 8),
            colour_on(*this, waits_ ? report::ColourRole::grid : report::ColourRole::series1));
    }
    painter.setPen(
        palette().color(none || waits_ ? QPalette::PlaceholderText : QPalette::WindowText));
    painter.drawText(rect(), Qt::AlignVCenter | Qt::AlignRight, number());
}

WhatIfPane::WhatIfPane(QWidget* parent) : QWidget(parent) {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(8, 6, 8, 6);
    head_ = new QLabel(tr("Choose a machine to see what its parameters are worth."), this);
    head_->setWordWrap(true);
    head_->setForegroundRole(QPalette::PlaceholderText);
    column->addWidget(head_);
    wrong_ = new QLabel(this);
    wrong_->setWordWrap(true);
    wrong_->setTextFormat(Qt::PlainText);
    wrong_->setObjectName("wrong value");
    wrong_->hide();
    grid_ = nullptr;
    column->addStretch();
    column->addWidget(wrong_);
    auto* buttons = new QHBoxLayout;
    reset_ = new QPushButton(tr("Reset all"), this);
    save_ = new QPushButton(tr("Save as a machine…"), this);
    buttons->addWidget(reset_);
    buttons->addWidget(save_);
    column->addLayout(buttons);
    reset_->setToolTip(tr("Back to the values of the machine's file"));
    connect(reset_, &QPushButton::clicked, this, &WhatIfPane::reset);
    connect(save_, &QPushButton::clicked, this, &WhatIfPane::save_wanted);
    mark();
}

void WhatIfPane::set_machine(const model::Machine& machine) {
    machine_ = machine;
    changes_.clear();
    host_speed_ = 1.0;
    selected_.clear();
    delete parameters_;
    parameters_ = new QWidget(this);
    grid_ = new QGridLayout(parameters_);
    grid_->setContentsMargins(0, 0, 0, 0);
    grid_->setVerticalSpacing(2);
    grid_->setHorizontalSpacing(5);
    grid_->setColumnStretch(0, 1);
    rows_.clear();
    if (has_host(machine)) {
        add_row(host_parameter());
    }
    for (const analysis::Parameter& parameter : analysis::tried_parameters(machine)) {
        add_row(parameter);
    }
    static_cast<QVBoxLayout*>(layout())->insertWidget(1, parameters_);
    head_->setText(tr("Drag: all panes follow. Bars: what 10 % more of it would bring."));
    mark();
}

void WhatIfPane::add_row(const analysis::Parameter& parameter) {
    const auto index = rows_.size();
    const auto line = 2 * static_cast<int>(index); // the slider has one of its own, for its length
    const QString name = QString::fromStdString(parameter.name);
    Row row{parameter,
            parameter.value,
            parameter.value,
            false,
            new ElidedLabel(name, parameters_),
            new SnapSlider(parameters_),
            new QLineEdit(parameters_),
            new GainBar(parameters_)};
    row.label->setBuddy(row.number);
    named(row.slider, name, name)->setMinimumWidth(48);
    row.slider->setToolTip(tr("Arrow keys, or Ctrl and the wheel: 1 %. Marks: an eighth to eight "
                              "times"));
    row.number->setFixedWidth(row.number->fontMetrics().horizontalAdvance("88.8888 TFLOP/s") + 18);
    row.number->setObjectName(name + " value");
    row.number->setAccessibleName(tr("%1, value").arg(name));
    row.number->setText(shown(parameter, parameter.value));
    row.number->setCursorPosition(0);
    grid_->addWidget(row.label, line, 0);
    grid_->addWidget(row.number, line, 1);
    grid_->addWidget(row.bar, line, 2);
    grid_->addWidget(row.slider, line + 1, 0, 1, 4);
    row.next = named(new QToolButton(parameters_), name + " next",
                     tr("To the next value of %1 that helps").arg(name));
    row.next->setText("▸");
    row.next->setAutoRaise(true);
    grid_->addWidget(row.next, line, 3);
    row.next->setVisible(parameter.key != kHostSpeed); // it helps at any value, or at none
    setTabOrder(row.number, row.next);
    setTabOrder(row.next, row.slider);
    connect(row.next, &QToolButton::clicked, this,
            [this, key = QString::fromStdString(parameter.key)] { emit next_wanted(key); });
    connect(row.slider, &QSlider::valueChanged, this, [this, index](int step) {
        const double original = rows_[index].base;
        turn(index, step == 0 ? original : rounded(original * SnapSlider::factor_of(step)));
    });
    connect(row.slider, &QSlider::sliderReleased, this, &WhatIfPane::released);
    connect(row.number, &QLineEdit::editingFinished, this, [this, index] { enter(index); });
    rows_.push_back(row);
}

// A wrong value stays, red, with the reason in sight, until it is corrected or the slider moves.
void WhatIfPane::enter(std::size_t index) {
    Row& edited = rows_[index];
    if (!edited.number->isModified()) {
        return;
    }
    const auto value = entered(edited.parameter, edited.number->text().trimmed());
    if (!value) {
        const Diagnostic& why = value.diagnostics().items().front();
        edited.wrong = QString::fromStdString(edited.parameter.name + ": " + why.message +
                                              (why.hint.empty() ? "" : "; " + why.hint));
        return show_wrong();
    }
    turn(index, *value);
    show_value(edited);
    show_wrong();
    emit released();
}

void WhatIfPane::show_wrong() {
    QStringList reasons;
    for (const Row& row : rows_) {
        mark_wrong(*row.number, row.wrong, {});
        reasons << row.wrong;
    }
    reasons.removeAll(QString());
    QPalette words;
    words.setColor(QPalette::WindowText, ink_on(*this, report::ColourRole::warning));
    wrong_->setPalette(words);
    wrong_->setText(reasons.join("\n"));
    wrong_->setVisible(!reasons.isEmpty());
}

void WhatIfPane::show_value(Row& row) {
    row.wrong.clear();
    row.number->setText(shown(row.parameter, row.value));
    row.number->setCursorPosition(0);
    if (!row.slider->isSliderDown()) {
        const QSignalBlocker block(row.slider);
        row.slider->set_factor(row.value / row.base);
    }
}

void WhatIfPane::turn(std::size_t index, double value) {
    Row& row = rows_[index];
    const double used = row.parameter.whole ? std::max(1.0, std::round(value)) : value;
    if (used == row.value) {
        return;
    }
    row.value = used;
    row.turned = used != row.base;
    row.wrong.clear();
    apply(QString::fromStdString(row.key()));
}

// Clocks first: rates are of the clock that is then in force.
void WhatIfPane::apply(const QString& what) {
    std::erase_if(changes_, [](const auto& change) { return change.key != analysis::kPowerCap; });
    for (const Row& row : rows_) {
        if (row.key() == kHostSpeed) {
            host_speed_ = row.value;
        } else if (row.turned) {
            changes_.push_back({row.key(), row.value});
        }
    }
    std::stable_partition(changes_.begin(), changes_.end(), sets_clock);
    show_in_force();
    mark();
    show_wrong();
    emit turned(what);
}

// What each row's parameter is on the machine with those changes.
std::vector<double> WhatIfPane::values_with(const std::vector<analysis::Change>& changes) const {
    const auto machine = analysis::changed(machine_, changes);
    const auto parameters = analysis::tried_parameters(machine ? *machine : machine_);
    std::vector<double> values;
    for (const Row& row : rows_) {
        const auto known = std::ranges::find(parameters, row.key(), &analysis::Parameter::key);
        values.push_back(known == parameters.end() ? row.parameter.value : known->value);
    }
    return values;
}

// A clock moves rates that no one turned, and what the slider's middle stands for.
void WhatIfPane::show_in_force() {
    const std::vector<double> all = values_with(changes_);
    for (std::size_t i = 0; i < rows_.size(); ++i) {
        Row& row = rows_[i];
        if (row.key() == kHostSpeed) {
            row.value = host_speed_;
            row.turned = row.value != row.base;
        } else if (!row.turned) {
            row.value = row.base = all[i];
        } else {
            std::vector<analysis::Change> others = changes_;
            std::erase_if(others, [&](const auto& c) { return c.key == row.key(); });
            row.base = values_with(others)[i];
        }
        show_value(row);
    }
}

// Changed rows in bold, the selected one framed by its highlighted label.
void WhatIfPane::mark() {
    for (const Row& row : rows_) {
        QFont font = row.label->font();
        font.setBold(row.turned);
        row.label->setFont(font);
        const bool chosen = row.key() == selected_;
        row.label->setAutoFillBackground(chosen);
        row.label->setBackgroundRole(chosen ? QPalette::Highlight : QPalette::Window);
        row.label->setForegroundRole(chosen ? QPalette::HighlightedText : QPalette::WindowText);
    }
    reset_->setEnabled(is_changed() || host_speed_ != 1.0);
    save_->setEnabled(is_changed());
}

void WhatIfPane::set_changes(const std::vector<analysis::Change>& changes, double host_speed) {
    if (changes == changes_ && host_speed == host_speed_) {
        return;
    }
    changes_ = changes;
    host_speed_ = host_speed;
    const std::vector<double> values = values_with(changes);
    for (std::size_t i = 0; i < rows_.size(); ++i) {
        rows_[i].turned =
            std::ranges::find(changes, rows_[i].key(), &analysis::Change::key) != changes.end();
        rows_[i].value = values[i]; // in the order of the changes, which may be another than ours
    }
    show_in_force();
    mark();
    show_wrong();
}

bool WhatIfPane::turn_to(const std::string& key, double value) {
    const auto row = std::ranges::find(rows_, key, &Row::key);
    if (row == rows_.end()) {
        return false;
    }
    turn(static_cast<std::size_t>(row - rows_.begin()), value);
    emit released();
    return true;
}

bool WhatIfPane::is_held() const {
    return std::any_of(rows_.begin(), rows_.end(),
                       [](const Row& row) { return row.slider->isSliderDown(); });
}

void WhatIfPane::reset() {
    set_changes({}, 1.0);
    emit turned({});
}

void WhatIfPane::show_gains(const std::vector<analysis::Sensitivity>& gains) {
    double most = 0.0;
    for (const analysis::Sensitivity& gain : gains) {
        most = std::max(most, gain.speedup - 1.0);
    }
    for (const Row& row : rows_) {
        const auto gain = std::ranges::find(gains, row.key(), &analysis::Sensitivity::key);
        gain == gains.end() ? row.bar->clear() : row.bar->show_gain(*gain, most);
    }
}

void WhatIfPane::await_gains() {
    for (const Row& row : rows_) {
        row.bar->wait();
    }
}

bool WhatIfPane::select(const std::string& key) {
    const auto row = std::ranges::find(rows_, key, &Row::key);
    if (row == rows_.end()) {
        return false;
    }
    selected_ = key;
    mark();
    row->slider->setFocus();
    for (QWidget* above = parentWidget(); above != nullptr; above = above->parentWidget()) {
        if (auto* area = qobject_cast<QScrollArea*>(above)) {
            area->ensureWidgetVisible(row->slider);
        }
    }
    return true;
}

} // namespace eyeroof::gui
