#include "gui/panes.hpp"

#include "gui/paint_scene.hpp"
#include "model/base/units.hpp"

#include <QDesktopServices>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLineEdit>
#include <QPainter>
#include <QPushButton>
#include <QSlider>
#include <QUrl>
#include <cmath>

namespace eyeroof::gui {

namespace {
constexpr int kSliderSteps = 60; // each way
constexpr double kFactorAtEnd = 8.0;

double factor_of(int step) {
    return std::pow(kFactorAtEnd, static_cast<double>(step) / kSliderSteps);
}

int step_of(double factor) {
    const double step = kSliderSteps * std::log(factor) / std::log(kFactorAtEnd);
    return static_cast<int>(std::lround(std::clamp(step, -1.0 * kSliderSteps, 1.0 * kSliderSteps)));
}

QString shown(const Knob& knob, double value) {
    return QString::fromStdString(knob.unit.empty()  ? std::to_string(std::llround(value))
                                  : knob.unit == "B" ? model::format_iec(value, "B")
                                                     : model::format_si(value, knob.unit, 4));
}

std::optional<double> parsed(const Knob& knob, const QString& text) {
    if (knob.unit.empty()) {
        bool ok = false;
        const double value = text.toDouble(&ok);
        return ok && value >= 1.0 && value <= 1e6 ? std::optional(value) : std::nullopt;
    }
    const auto value = model::parse_quantity(text.toStdString(), knob.unit, knob.name);
    return value && *value > 0.0 ? std::optional(*value) : std::nullopt;
}
} // namespace

LadderView::LadderView(QWidget* parent) : QWidget(parent) {
    setMinimumSize(320, 220);
    setAccessibleName(tr("Seven steps of the selected layer"));
}

void LadderView::set_layer(const study::Report& report, std::size_t layer,
                           std::optional<double> measured_s) {
    report_ = report;
    layer_ = layer;
    measured_s_ = measured_s;
    rebuild();
}

void LadderView::clear() {
    report_.reset();
    rebuild();
}

void LadderView::rebuild() {
    scene_.reset();
    if (report_ && layer_ < report_->layers.size()) {
        scene_ =
            study::make_waterfall(*report_, layer_, measured_s_,
                                  {static_cast<double>(width()), static_cast<double>(height())});
    }
    update();
}

void LadderView::resizeEvent(QResizeEvent*) {
    rebuild();
}

void LadderView::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    const study::Rgb back = colour_of(study::ColourRole::background, theme_of(*this));
    painter.fillRect(rect(), QColor(back.r, back.g, back.b));
    if (scene_) {
        paint_scene(painter, *scene_, theme_of(*this));
    } else {
        painter.setPen(palette().color(QPalette::PlaceholderText));
        painter.drawText(rect(), Qt::AlignCenter, tr("Select a layer to see what limits it"));
    }
}

WhatIfPane::WhatIfPane(QWidget* parent) : QWidget(parent), form_(new QFormLayout) {
    auto* column = new QVBoxLayout(this);
    auto* button = new QPushButton(tr("Reset to the catalog's values"), this);
    column->addLayout(form_);
    column->addWidget(button);
    column->addStretch();
    connect(button, &QPushButton::clicked, this, &WhatIfPane::reset);
}

void WhatIfPane::set_machine(const model::Machine& machine) {
    machine_ = machine;
    changed_ = machine;
    while (form_->rowCount() > 0) {
        form_->removeRow(0);
    }
    rows_.clear();
    for (const Knob& knob : knobs_of(machine)) {
        add_row(knob);
    }
}

void WhatIfPane::add_row(const Knob& knob) {
    const std::size_t index = rows_.size();
    auto* line = new QWidget(this);
    auto* layout = new QHBoxLayout(line);
    layout->setContentsMargins(0, 0, 0, 0);
    auto* slider = new QSlider(Qt::Horizontal, line);
    slider->setRange(-kSliderSteps, kSliderSteps);
    slider->setAccessibleName(QString::fromStdString(knob.name));
    slider->setObjectName(QString::fromStdString(knob.name));
    auto* number = new QLineEdit(shown(knob, knob.value), line);
    number->setFixedWidth(104);
    slider->setMinimumWidth(90);
    layout->addWidget(slider, 1);
    layout->addWidget(number);
    form_->addRow(QString::fromStdString(knob.name), line);
    rows_.push_back({knob, knob.value, slider, number});
    connect(slider, &QSlider::valueChanged, this, [this, index](int step) {
        turn(index, rows_[index].knob.value * factor_of(step), true);
    });
    connect(number, &QLineEdit::editingFinished, this, [this, index] {
        if (const auto value = parsed(rows_[index].knob, rows_[index].number->text())) {
            turn(index, *value, false);
        } else {
            rows_[index].number->setText(shown(rows_[index].knob, rows_[index].value));
        }
    });
}

void WhatIfPane::turn(std::size_t index, double value, bool from_slider) {
    Row& row = rows_[index];
    if (quiet_) {
        return;
    }
    const double used = row.knob.whole ? std::max(1.0, std::round(value)) : value;
    if (shown(row.knob, used) == shown(row.knob, row.value)) {
        return;
    }
    row.value = used;
    row.number->setText(shown(row.knob, used));
    if (!from_slider) {
        const QSignalBlocker block(row.slider);
        row.slider->setValue(step_of(used / row.knob.value));
    }
    apply();
}

void WhatIfPane::apply() {
    changed_ = machine_;
    for (const Row& row : rows_) {
        if (row.value != row.knob.value) {
            row.knob.set(changed_, row.value);
        }
    }
    if (is_changed()) {
        changed_.name = machine_.name + tr(" (changed)").toStdString();
    }
    emit turned();
}

bool WhatIfPane::is_changed() const {
    return std::any_of(rows_.begin(), rows_.end(),
                       [](const Row& row) { return row.value != row.knob.value; });
}

void WhatIfPane::reset() {
    quiet_ = true;
    for (Row& row : rows_) {
        row.value = row.knob.value;
        row.slider->setValue(0);
        row.number->setText(shown(row.knob, row.value));
    }
    quiet_ = false;
    apply();
}

ErrorList::ErrorList(QWidget* parent) : QTreeWidget(parent) {
    setHeaderLabels({tr("Message"), tr("File"), tr("Line"), tr("Column"), tr("What to do")});
    setRootIsDecorated(false);
    setAccessibleName(tr("Errors and warnings"));
    connect(this, &QTreeWidget::itemDoubleClicked, this, [](QTreeWidgetItem* item) {
        if (!item->text(1).isEmpty()) {
            QDesktopServices::openUrl(QUrl::fromLocalFile(item->text(1)));
        }
    });
}

void ErrorList::show_all(const model::Diagnostics& diagnostics) {
    clear();
    for (const model::Diagnostic& diagnostic : diagnostics) {
        const auto number = [](int n) { return n > 0 ? QString::number(n) : QString(); };
        auto* item = new QTreeWidgetItem(
            this, {QString::fromStdString(diagnostic.message),
                   QString::fromStdString(diagnostic.where.file), number(diagnostic.where.line),
                   number(diagnostic.where.column), QString::fromStdString(diagnostic.hint)});
        item->setToolTip(0, QString::fromStdString(to_string(diagnostic)));
    }
    header()->resizeSections(QHeaderView::ResizeToContents);
}

} // namespace eyeroof::gui
