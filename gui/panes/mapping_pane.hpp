// The mapping pane: the picture of the selected layer's mapping, its text to be edited with the
// cost following, and the search for a better one. Reads no file and costs nothing itself.
#pragma once

#include "analysis/search/mapping_edit.hpp"
#include "base/progress.hpp"
#include "gui/views/drawing_view.hpp"
#include "mapper/problem_space.hpp"
#include "report/draw/mapping_scene.hpp"

#include <QTimer>
#include <QWidget>
#include <optional>

class QComboBox;
class QLabel;
class QPlainTextEdit;
class QProgressBar;
class QPushButton;

namespace eyeroof::gui {

class MappingPane : public QWidget {
    Q_OBJECT

  public:
    explicit MappingPane(QWidget* parent = nullptr);

    // `row`: of the report; layers may share a name.
    void set_layer(const model::Machine& machine, const analysis::LayerReport& layer,
                   std::size_t row);
    void clear();
    std::size_t nest() const { return nest_; } // of the layer's mappings, the one in view
    QPlainTextEdit& editor() { return *editor_; }
    DrawingView& picture() { return *picture_; }
    QString verdict() const;

    // What became of the mapping that was tried.
    void show_tried(const analysis::LayerReport& before, const analysis::LayerReport& after);
    void show_problems(const Diagnostics& problems);

    void show_search(const Progress& progress);
    // Cancelled: the best mapping so far is still to come.
    void stop_search();
    void forget_search(); // it was of another network or machine
    void end_search(const QString& outcome);
    bool searching() const { return searching_; }

  signals:
    void edited(const eyeroof::model::Mapping& mapping); // legal as text; its cost is not known yet
    void restore_wanted();
    void search_wanted(const eyeroof::mapper::Objective& objective);
    void cancel_wanted();

  private:
    void make_search();
    void make_editor();
    void text_changed();
    void mark_line(int line, const QString& message);
    void show_text();
    void show_picture();
    void show_nests();
    QString of_searched(const QString& words) const;

    DrawingView* picture_ = nullptr;
    QPlainTextEdit* editor_ = nullptr;
    QLabel* verdict_ = nullptr;
    QPushButton* restore_ = nullptr;
    QComboBox* nests_ = nullptr; // where a layer has several
    QComboBox* objective_ = nullptr;
    QPushButton* search_ = nullptr;
    QPushButton* cancel_ = nullptr;
    QProgressBar* progress_ = nullptr;
    QLabel* found_ = nullptr;
    QLabel* of_ = nullptr; // whose mapping it is
    QWidget* search_row_ = nullptr;
    QWidget* below_ = nullptr; // the editor and its verdict
    QTimer pause_;             // between keys

    std::optional<model::Machine> machine_;
    std::optional<analysis::LayerReport> layer_;
    std::size_t row_ = 0;
    std::string shown_of_; // machine, row and nest whose text is in the editor
    bool searching_ = false;
    QString searched_name_; // of the layer that a search is or was of
    std::size_t nest_ = 0;
};

} // namespace eyeroof::gui
