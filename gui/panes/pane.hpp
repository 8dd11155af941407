// A pane: one folder below gui/panes and one line in gui/window/pane_list.cpp. It learns what is
// on screen and asks for what only the window can do. Made by the main window, which gives it a
// dock, or a tab in the middle, a line in the View menu, a name for --show and a section in the
// report.
#pragma once

#include "analysis/exam/run.hpp"
#include "analysis/search/mapping_edit.hpp"
#include "gui/jobs/measurement_files.hpp"
#include "report/draw/theme.hpp"

#include <QWidget>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace eyeroof::gui {

// What is on screen. Pointers hold for the call alone.
struct PaneInput {
    const model::NetworkGraph* network = nullptr;                 // as loaded; none without one
    const analysis::Scenario* scenario = nullptr;                 // on the first machine
    const std::vector<analysis::Question>* questions = nullptr;   // one for each machine
    const Folders* folders = nullptr;                             // to search for what panes name
    std::shared_ptr<const std::vector<analysis::Report>> reports; // beside the questions; or empty
    const std::vector<MeasurementFile>* files = nullptr;
    const std::vector<analysis::MappingEdit>* edits = nullptr; // of the first machine's mappings
    bool pooled = false;                                       // the profiles are one run
    std::size_t report = 0;
    std::optional<std::size_t> layer; // the row of that report that the panes speak of
    bool selected = false;            // chosen by the user; else it is the heaviest

    // What is asked of the first machine; none without a network.
    const analysis::Question* question() const {
        return network == nullptr || questions->empty() ? nullptr : &questions->front();
    }
    // The same where that machine is a GPU or a host processor.
    const analysis::Question* gpu_question() const {
        const analysis::Question* asked = question();
        return asked != nullptr && std::holds_alternative<model::Gpu>(asked->machine.kind)
                   ? asked
                   : nullptr;
    }
    // The answer to question().
    std::shared_ptr<const analysis::Report> first_report() const {
        return reports->empty()
                   ? nullptr
                   : std::shared_ptr<const analysis::Report>(reports, &reports->front());
    }
};

// What a pane may ask of the window.
struct PaneActions {
    std::function<PaneInput()> look; // at what is on screen now
    // Another scenario, examined and undone as every other.
    std::function<void(const std::function<void(analysis::Scenario&)>& change)> change_scenario;
    std::function<void()> open_files; // asks which
    std::function<void(const std::string& path)> close_file;
    std::function<void(const std::string& path)> replace_file; // asks by which
    // Which profile is laid over the prediction; empty: all of them, pooled.
    std::function<void(const std::string& path)> compare_run;
    std::function<void(std::size_t report, std::size_t layer)> select_layer;
    std::function<void(const QString& message)> tell; // in the status bar
    // Points of before, by the plot's ids: FLOP/byte and FLOP/s. Arrows lead from them.
    std::function<void(const std::map<std::string, report::Place>& before)> show_before;
};

class DrawingView;

// below: beside the table of layers. middle: where the plot is, since its picture needs the room.
enum class PanePlace { below, middle };

class Pane : public QWidget {
    Q_OBJECT

  public:
    Pane(PaneActions actions, QWidget* parent) : QWidget(parent), actions_(std::move(actions)) {}

    virtual QString title() const = 0;
    virtual QString tab() const { return title(); } // as its dock says it, in a word
    virtual QString name() const = 0;               // of its dock or tab: "measurements"
    virtual void show_answer(const PaneInput& input) = 0;
    virtual void show_selection(const PaneInput& input) { (void)input; }
    virtual QString html() const { return {}; } // its section of the report; empty: none
    // Whether there is anything that it could show; else its tab in the middle is away.
    virtual bool belongs(const PaneInput& input) const { return input.question() != nullptr; }
    virtual PanePlace place() const { return PanePlace::below; }
    virtual DrawingView* picture_in_front() { return nullptr; } // for export and the clipboard

  protected:
    PaneActions actions_;
};

} // namespace eyeroof::gui
