#include "gui/panes/plot_bar.hpp"

#include "base/operation_rate.hpp"
#include "base/units.hpp"
#include "gui/panes/fields.hpp"
#include "gui/panes/flow_layout.hpp"
#include "gui/views/qt_text.hpp"

#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QSpinBox>
#include <QToolButton>
#include <QVBoxLayout>
#include <QWidgetAction>

namespace eyeroof::gui {

namespace {

QToolButton* chip(QWidget* parent, const QString& label, bool checkable) {
    auto* button = new QToolButton(parent);
    button->setText(label);
    button->setCheckable(checkable);
    button->setToolButtonStyle(Qt::ToolButtonTextOnly);
    return button;
}

} // namespace

PlotBar::PlotBar(QWidget* parent) : QWidget(parent) {
    row_ = new FlowLayout(this);
    make_filters();
    make_looks();
}

// What colors show, and what stands behind the points.
void PlotBar::make_looks() {
    using report::ColourBy;
    colour_by_ = list_field("color by", tr("What the points' colors show"), {}, this);
    colour_by_->setSizeAdjustPolicy(QComboBox::AdjustToContents);
    for (const auto& [name, by] : {std::pair{tr("usual colors"), ColourBy::automatic},
                                   {tr("by what bounds"), ColourBy::limiter},
                                   {tr("by machine"), ColourBy::machine},
                                   {tr("by share of time"), ColourBy::share},
                                   {tr("by data type"), ColourBy::type},
                                   {tr("by module"), ColourBy::module}}) {
        colour_by_->addItem(name, static_cast<int>(by));
    }
    zones_ = named(chip(this, tr("Zones"), true), "zones",
                   tr("Zones that memory, either, or arithmetic bounds"));
    row_->addWidget(colour_by_);
    row_->addWidget(zones_);
    connect(colour_by_, &QComboBox::activated, this, [this](int index) {
        const auto by = static_cast<ColourBy>(colour_by_->itemData(index).toInt());
        emit changed([by](report::ViewState& view) { view.colour_by = by; });
    });
    connect(zones_, &QToolButton::clicked, this,
            [this](bool on) { emit changed([on](report::ViewState& view) { view.zones = on; }); });
}

void PlotBar::make_filters() {
    filter_ =
        named(new QLineEdit(this), "filter", tr("Filter by name, a regular expression: conv[1-3]"));
    filter_->setPlaceholderText(tr("Filter"));
    filter_->setMinimumWidth(90); // the row is short where the window is
    filter_->setClearButtonEnabled(true);
    top_ = named(new QSpinBox(this), "top", tr("Only the heaviest points"));
    top_->setRange(0, 99999);
    top_->setPrefix(tr("top "));
    top_->setSpecialValueText(tr("all points"));
    level_ = list_field("level", tr("Memory level whose bytes give the intensity"), {}, this);
    level_->setSizeAdjustPolicy(QComboBox::AdjustToContents); // which come with each plot
    for (QWidget* widget : {static_cast<QWidget*>(filter_), static_cast<QWidget*>(top_),
                            static_cast<QWidget*>(level_)}) {
        row_->addWidget(widget);
    }
    roofs_ = named(new QToolButton(this), "roofs", tr("Roofs that are shown"));
    roofs_->setText(tr("Roofs ▾"));
    roofs_->setPopupMode(QToolButton::InstantPopup);
    auto* menu = new QMenu(roofs_);
    auto* list = new QWidget(menu);
    roof_rows_ = new QVBoxLayout(list);
    roof_rows_->setSpacing(2);
    auto* action = new QWidgetAction(menu);
    action->setDefaultWidget(list);
    menu->addAction(action);
    roofs_->setMenu(menu);
    row_->addWidget(roofs_);
    connect(filter_, &QLineEdit::textChanged, this, [this](const QString& pattern) {
        emit changed([=](report::ViewState& view) { view.filter = pattern.toStdString(); });
    });
    connect(top_, &QSpinBox::valueChanged, this, [this](int most) {
        emit changed([=](report::ViewState& view) {
            view.top = most > 0 ? std::optional(most) : std::nullopt;
        });
    });
    connect(level_, &QComboBox::activated, this,
            [this](int index) { choose_level(level_->itemData(index).toString().toStdString()); });
}

// The roof of a level comes with its points, also where roofs were chosen by hand.
void PlotBar::choose_level(const std::string& level) {
    std::set<std::string> of_level;
    for (const auto& [key, id] : memory_roofs_) {
        if (level == report::kAllLevels || key == level) {
            of_level.insert(id);
        }
    }
    emit changed([=](report::ViewState& view) {
        view.level = level;
        view.x.reset();
        view.y.reset();
        if (view.roofs) {
            view.roofs->insert(of_level.begin(), of_level.end());
        }
    });
}

void PlotBar::focus_filter() {
    filter_->setFocus();
    filter_->selectAll();
}

void PlotBar::show_view(const report::PlotInput& input, const report::RooflineScene& scene,
                        const report::ViewState& view) {
    const QSignalBlocker one(filter_), two(top_);
    if (filter_->text().toStdString() != view.filter) {
        filter_->setText(text(view.filter));
    }
    top_->setValue(view.top.value_or(0));
    colour_by_->setCurrentIndex(colour_by_->findData(static_cast<int>(view.colour_by)));
    zones_->setChecked(view.zones);
    zones_->setText((view.zones ? "✓ " : "") + tr("Zones")); // not by shade alone
    show_levels(input, view);
    show_chips(scene);
    show_roofs(input, scene, view);
    updateGeometry();
    keep_all_rows();
}

// Its rows wrap, and what holds it asks for one: the plot below would lose its axis to the others.
// Behind another tab it has a width of its own, at which it would wrap to many rows and make the
// window grow.
void PlotBar::keep_all_rows() {
    if (isVisible()) {
        setMinimumHeight(row_->heightForWidth(width()));
    }
}

void PlotBar::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    keep_all_rows();
}

void PlotBar::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    keep_all_rows();
}

void PlotBar::show_levels(const report::PlotInput& input, const report::ViewState& view) {
    const QSignalBlocker block(level_);
    level_->clear();
    level_->addItem(tr("outermost"), QString());
    std::set<std::string> seen;
    for (const report::PlotPoint& point : input.points) {
        for (std::size_t i = 1; i < point.bytes.size(); ++i) {
            const std::string& level = point.bytes[i].level;
            if (seen.insert(level).second) {
                level_->addItem(text(level), text(level));
            }
        }
    }
    if (!seen.empty()) {
        level_->addItem(tr("every level"), QString(report::kAllLevels));
    }
    level_->setCurrentIndex(std::max(0, level_->findData(text(view.level))));
    level_->setVisible(level_->count() > 1);
}

// Every active filter, each removable by itself.
void PlotBar::show_chips(const report::RooflineScene& scene) {
    for (QWidget* widget : chips_) {
        widget->deleteLater();
        row_->removeWidget(widget);
        widget->hide();
    }
    chips_.clear();
    for (const report::ActiveFilter& filter : scene.filters) {
        QToolButton* button = chip(this, "✕ " + text(filter.text), false);
        button->setToolTip(tr("Remove this filter"));
        button->setAccessibleName(tr("Remove the filter %1").arg(text(filter.text)));
        button->setObjectName("chip " + text(filter.key));
        row_->addWidget(button);
        button->show();
        chips_.push_back(button);
        connect(button, &QToolButton::clicked, this, [this, key = filter.key] {
            emit changed([=](report::ViewState& view) { report::remove_filter(view, key); });
        });
    }
}

void PlotBar::show_roofs(const report::PlotInput& input, const report::RooflineScene& scene,
                         const report::ViewState& view) {
    visible_.clear();
    for (const report::SceneRoof& roof : scene.roofs) {
        visible_.insert(roof.roof.id);
    }
    std::vector<std::string> ids;
    memory_roofs_.clear();
    for (const analysis::PlotMachine& machine : input.machines) {
        for (const analysis::Roof& roof : machine.roofs) {
            if (roof.kind == analysis::RoofKind::memory) {
                memory_roofs_.emplace_back(roof.key, roof.id);
            }
            ids.push_back(roof.id + roof.name);
        }
    }
    const bool same = ids == shown_roofs_;
    shown_roofs_ = ids;
    if (!same) {
        for (QWidget* widget : switches_) {
            widget->deleteLater();
            row_->removeWidget(widget);
            roof_rows_->removeWidget(widget);
            widget->hide();
        }
        switches_.clear();
    }
    roofs_->setVisible(!ids.empty());
    const bool several = input.machines.size() > 1;
    std::size_t at = 0;
    for (const analysis::PlotMachine& machine : input.machines) {
        if (!same) {
            add_machine_switch(machine, several);
        }
        const QString name = text(machine.name);
        mark_switch(switches_[at++], several ? name : name + ":",
                    !view.hidden_machines.contains(machine.id));
        for (const analysis::Roof& roof : machine.roofs) {
            if (!same) {
                add_roof_switch(machine, roof);
            }
            const std::string_view unit =
                roof.kind == analysis::RoofKind::memory ? "B/s" : operation_rate_unit(roof.name);
            switches_[at]->setToolTip(
                tr("%1: %2").arg(text(roof.name), text(format_si(roof.value, unit))));
            mark_switch(switches_[at++],
                        (several ? name + ": " : QString()) +
                            text(roof.measured ? roof.name + ", measured" : roof.name),
                        visible_.contains(roof.id));
        }
    }
}

// Not by shade alone.
void PlotBar::mark_switch(QToolButton* button, const QString& name, bool on) {
    const QSignalBlocker block(button);
    button->setChecked(on);
    button->setText((on && button->isEnabled() ? "✓ " : "") + name);
}

// One machine alone needs no switch: it heads the list of its roofs.
void PlotBar::add_machine_switch(const analysis::PlotMachine& machine, bool several) {
    QToolButton* button = named(chip(this, {}, true), "machine " + text(machine.id),
                                tr("Show %1: its points and roofs").arg(text(machine.name)));
    button->setAutoRaise(true);
    button->setEnabled(several);
    several ? row_->addWidget(button) : roof_rows_->addWidget(button);
    button->show();
    switches_.push_back(button);
    connect(button, &QToolButton::clicked, this, [this, id = machine.id](bool on) {
        emit changed([=](report::ViewState& looked) {
            on ? (void)looked.hidden_machines.erase(id) : (void)looked.hidden_machines.insert(id);
        });
    });
}

void PlotBar::add_roof_switch(const analysis::PlotMachine& machine, const analysis::Roof& roof) {
    QToolButton* button = named(chip(this, {}, true), "roof " + text(roof.id),
                                tr("Roof %1 of %2").arg(text(roof.name), text(machine.name)));
    roof_rows_->addWidget(button);
    button->show();
    switches_.push_back(button);
    connect(button, &QToolButton::toggled, this,
            [this, id = roof.id](bool on) { switch_roof(id, on); });
}

void PlotBar::switch_roof(const std::string& id, bool on) {
    std::set<std::string> roofs = visible_;
    on ? (void)roofs.insert(id) : (void)roofs.erase(id);
    emit changed([roofs](report::ViewState& view) { view.roofs = roofs; });
}

} // namespace eyeroof::gui
