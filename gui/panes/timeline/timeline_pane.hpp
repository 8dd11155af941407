// The whole step over time: what the host issues, the streams run, and copies move. A click on an
// operator selects its layer in all panes.
// Used by the main window.
// Simulates nothing itself: study/step does, in the background.
#pragma once

#include "gui/panes/asking_pane.hpp"
#include "gui/panes/whole_step.hpp"
#include "gui/views/zoom_view.hpp"
#include "study/step/step_scenes.hpp"

namespace eyeroof::gui {

// Everything that the picture is of.
struct TimelineAnswer {
    study::step::Graph graph;
    study::step::Timeline timeline;
    study::step::TimelineOptions options;
    model::Machine machine;
    std::string host;
    bool training = false;

    study::step::TimelineReport report() const {
        return {graph, timeline, std::get<model::Gpu>(machine.kind), options, machine.id,
                host,  training};
    }
};

class TimelinePane : public AskingPane {
    Q_OBJECT

  public:
    TimelinePane(const PaneActions& actions, QWidget* parent);
    QString title() const override { return tr("The step over time"); }
    QString tab() const override { return tr("Timeline"); }
    QString name() const override { return "timeline"; }
    PanePlace place() const override { return PanePlace::middle; }
    void show_selection(const PaneInput& input) override;
    DrawingView* picture_in_front() override { return picture_; }
    QString html() const override;
    const TimelineAnswer* answer() const { return answer_.get(); }
    ZoomView& picture() { return *picture_; }

  protected:
    Background::Job job(const PaneInput& input) override;
    void clear() override;

  private:
    study::step::TimelineOptions options(const PaneInput& input) const;
    void show_answer_of(std::shared_ptr<const TimelineAnswer> answer);
    void draw();
    study::step::TimelineLook look() const;
    void select(QPointF place);

    std::shared_ptr<const TimelineAnswer> answer_;
    std::optional<std::uint32_t> marked_; // of Graph::layers
    QComboBox* mode_ = nullptr;
    QSpinBox* streams_ = nullptr;
    QComboBox* copies_ = nullptr;
    QCheckBox* pageable_ = nullptr;
    ZoomView* picture_ = nullptr;
};

} // namespace eyeroof::gui
