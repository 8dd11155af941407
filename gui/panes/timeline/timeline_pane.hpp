// The whole step over time: what the CPU launches, the streams run, and copies move. A click on an
// operator selects its layer in all panes.
#pragma once

#include "gui/panes/asking_pane.hpp"
#include "gui/views/zoom_view.hpp"
#include "report/step/step_scenes.hpp"

class QCheckBox;
class QComboBox;
class QLineEdit;
class QSpinBox;

namespace eyeroof::gui {

// Of the report on screen.
struct TimelineAnswer {
    std::shared_ptr<const analysis::Report> of;
    model::Gpu gpu;
    std::shared_ptr<const report::MeasuredTrack> measured = nullptr; // of the compared run
    std::string run = {};                                            // its file

    report::TimelineReport report() const { return {*of, gpu}; }
    const analysis::step::Timeline& timeline() const { return of->timeline; }
    const analysis::step::Graph& program() const { return of->program; }
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
    void choice_changed() override;
    Background::Job job(const PaneInput& input) override;
    void clear() override;

  private:
    void show_choices(const analysis::Scenario& scenario);
    void show_answer_of(std::shared_ptr<const TimelineAnswer> answer);
    void draw();
    QString sums() const;              // between the marks of the ruler, else of what is in sight
    void rule(double from, double to); // shares of the whole axis
    report::TimelineLook look() const;
    void select(QPointF place);
    void find_next();
    void press(int key);
    std::optional<std::size_t> kernel() const; // of the selected layer: its span
    void fit(double from_s, double to_s);      // into the middle, with the neighbors

    std::shared_ptr<const TimelineAnswer> answer_;
    std::optional<std::uint32_t> marked_; // of the report's layers
    std::optional<report::TimeRange> ruler_;
    QSpinBox* streams_ = nullptr;
    QComboBox* copies_ = nullptr;
    QCheckBox* pageable_ = nullptr;
    QLineEdit* find_ = nullptr;
    double found_s_ = -1.0; // where the last found kernel starts
    std::size_t at_ = 0;    // the kernel that was reached last by a click or a key
    ZoomView* picture_ = nullptr;
};

} // namespace eyeroof::gui
