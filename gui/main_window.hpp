// The window: plot in the middle, panes around it, one selection shared by all.
// Made by main with the folders to search; opens sessions, files and names.
// Computes nothing: it asks the examiner and shows the answer.
#pragma once

#include "gui/examiner.hpp"
#include "gui/layer_table.hpp"
#include "gui/panes.hpp"
#include "gui/roofline_view.hpp"
#include "profiles/measurement.hpp"
#include "study/session.hpp"

#include <QMainWindow>
#include <filesystem>
#include <vector>

class QComboBox;
class QDockWidget;
class QLineEdit;
class QProgressBar;
class QPushButton;
class QSortFilterProxyModel;
class QSpinBox;
class QTableView;
class QTextEdit;
class QToolBar;

namespace eyeroof::gui {

// What the second machine's list shows when there is none.
inline constexpr const char* kNoMachine = "(no comparison)";

struct Folders {
    std::vector<std::filesystem::path> machines;
    std::vector<std::filesystem::path> networks;
};

class MainWindow : public QMainWindow {
    Q_OBJECT

  public:
    explicit MainWindow(Folders folders, QWidget* parent = nullptr);

    void open(const QString& file); // a session, a machine, a network or measurements
    void open_session(const study::Session& session);
    study::Session session() const;
    void save_session(const QString& file);

    RooflineView& plot() { return *view_; }
    LadderView& ladder() { return *ladder_; }
    WhatIfPane& what_if() { return *what_if_; }
    ErrorList& errors() { return *errors_; }
    QTableView& table() { return *table_view_; }
    Examiner& examiner() { return examiner_; }

  signals:
    void shown(); // an answer is on screen

  protected:
    void dragEnterEvent(QDragEnterEvent* event) override;
    void dropEvent(QDropEvent* event) override;

  private:
    void make_bars();
    void make_choices(QToolBar& bar);
    void make_filters(QToolBar& bar);
    void make_panes();
    void make_menus();
    QDockWidget* add_pane(const QString& title, QWidget* widget, Qt::DockWidgetArea area);
    void fill_choices();
    void load_and_examine();
    void examine();
    void show_answer(const Answer& answer);
    void update_roof_row();
    void update_filter_row();
    void change_view(const std::function<void(study::ViewState&)>& change);
    void selection_from_plot();
    void selection_from_table();
    void show_details();
    void copy_rows();
    void export_dialog();
    void show_shortcuts();

    Folders folders_;
    Examiner examiner_;
    LayerTable rows_;
    RooflineView* view_ = nullptr;
    QSortFilterProxyModel* sorted_ = nullptr;
    QTableView* table_view_ = nullptr;
    LadderView* ladder_ = nullptr;
    WhatIfPane* what_if_ = nullptr;
    ErrorList* errors_ = nullptr;
    QTextEdit* details_ = nullptr;
    QDockWidget* errors_dock_ = nullptr;
    QComboBox* network_ = nullptr;
    QComboBox* machine_ = nullptr;
    QComboBox* other_ = nullptr;
    QSpinBox* batch_ = nullptr;
    QSpinBox* top_ = nullptr;
    QLineEdit* filter_ = nullptr;
    QToolBar* roof_row_ = nullptr;
    QToolBar* filter_row_ = nullptr;
    QProgressBar* progress_ = nullptr;
    QPushButton* cancel_ = nullptr;

    std::optional<model::Network> loaded_network_;
    std::vector<model::Machine> loaded_machines_;
    std::vector<std::string> profile_files_;
    std::vector<profiles::Profile> profiles_;
    std::vector<study::Report> reports_;
    model::Diagnostics load_problems_;
    bool syncing_ = false; // a selection is on its way through the panes
};

} // namespace eyeroof::gui
