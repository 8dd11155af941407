// The smaller panes: the seven steps of a layer, the what-if sliders, the list of what went wrong.
// Used by the main window.
// Each knows only what it is given; none knows another.
#pragma once

#include "gui/knobs.hpp"
#include "model/base/diagnostic.hpp"
#include "study/scene/waterfall_scene.hpp"

#include <QTreeWidget>
#include <QWidget>
#include <optional>

class QFormLayout;
class QLineEdit;
class QSlider;

namespace eyeroof::gui {

class LadderView : public QWidget {
    Q_OBJECT

  public:
    explicit LadderView(QWidget* parent = nullptr);

    void set_layer(const study::Report& report, std::size_t layer,
                   std::optional<double> measured_s);
    void clear();
    const std::optional<study::WaterfallScene>& scene() const { return scene_; }

  protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

  private:
    void rebuild();

    std::optional<study::Report> report_;
    std::size_t layer_ = 0;
    std::optional<double> measured_s_;
    std::optional<study::WaterfallScene> scene_;
};

// A slider and a number for each knob of a machine; tells while dragging.
class WhatIfPane : public QWidget {
    Q_OBJECT

  public:
    explicit WhatIfPane(QWidget* parent = nullptr);

    void set_machine(const model::Machine& machine);
    const model::Machine& changed_machine() const { return changed_; }
    bool is_changed() const;
    void reset();

  signals:
    void turned(); // changed_machine() is another one

  private:
    struct Row {
        Knob knob;
        double value = 0.0;
        QSlider* slider = nullptr;
        QLineEdit* number = nullptr;
    };
    void add_row(const Knob& knob);
    void turn(std::size_t row, double value, bool from_slider);
    void apply();

    model::Machine machine_;
    model::Machine changed_;
    std::vector<Row> rows_;
    QFormLayout* form_ = nullptr;
    bool quiet_ = false;
};

class ErrorList : public QTreeWidget {
    Q_OBJECT

  public:
    explicit ErrorList(QWidget* parent = nullptr);
    void show_all(const model::Diagnostics& diagnostics);
};

} // namespace eyeroof::gui
