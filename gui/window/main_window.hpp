// The window: plot in the middle, panes around it, one selection shared by all.
// Made by main with the folders to search; opens sessions, files and names.
#pragma once

#include "gui/jobs/examiner.hpp"
#include "gui/jobs/export.hpp"
#include "gui/jobs/history.hpp"
#include "gui/jobs/measurement_files.hpp"
#include "gui/jobs/questions.hpp"
#include "gui/panes/error_list.hpp"
#include "gui/panes/layer_table.hpp"
#include "gui/panes/mapping_pane.hpp"
#include "gui/panes/pane.hpp"
#include "gui/panes/plot_bar.hpp"
#include "gui/panes/steps_pane.hpp"
#include "gui/panes/upgrade_pane.hpp"
#include "gui/panes/what_if_pane.hpp"
#include "gui/views/roofline_view.hpp"
#include "gui/window/choices.hpp"
#include "gui/window/perspectives.hpp"
#include "gui/window/run_choices.hpp"
#include "report/draw/plot_make.hpp"
#include "report/session/open_any.hpp"
#include "report/session/session.hpp"

#include <QElapsedTimer>
#include <QMainWindow>
#include <QSettings>
#include <QTimer>
#include <map>
#include <vector>

class QActionGroup;
class QComboBox;
class QDockWidget;
class QLabel;
class QProgressBar;
class QPushButton;
class QStackedWidget;
class QTableView;
class QTabWidget;
class QTextEdit;

namespace eyeroof::gui {

class StartPage;

class MainWindow : public QMainWindow {
    Q_OBJECT

  public:
    explicit MainWindow(Folders folders, QWidget* parent = nullptr);
    ~MainWindow() override;

    // From now on recent files, docks and geometry are kept there; restores them.
    void remember_in(QSettings& settings);

    // Sessions, machines, networks and measurements: files, or names of the catalogs. The first
    // machine takes the place of the one that is shown, others are compared with it.
    void open(const QStringList& references);
    void open(const QString& file) { open(QStringList{file}); }
    // `file`: that it was read from, and is saved in.
    void open_session(const report::Session& session, const QString& file = {});
    report::Session session() const;
    void save_session(const QString& file);
    void save_machine(const QString& file); // the changed first machine
    void save_assignments(const QString& file);
    // The kernel of that name, of no layer, to a layer; measured and examined with it.
    void assign_kernel(const std::string& kernel, const std::string& layer);
    void save_report(const QString& file); // all panes as they stand
    void replace_measurement(const std::string& path, const std::string& by);
    void show_page(const QString& name); // "roofline", "upgrade", "network", or a pane's name
    // The docks and tabs that apply to it; others are hidden until the View menu shows them.
    void set_perspective(Perspective perspective);
    Perspective perspective() const { return perspective_; }

    RooflineView& plot() { return *view_; }
    LadderView& ladder() { return steps_->ladder(); }
    StepsPane& steps() { return *steps_; }
    WhatIfPane& what_if() { return *what_if_; }
    MappingPane& mapping() { return *mapping_; }
    UpgradePane& upgrade() { return *upgrade_; }
    ErrorList& errors() { return *errors_; }
    QTableView& table() { return *table_view_; }
    Examiner& examiner() { return examiner_; }
    Background& searcher() { return searcher_; }
    const std::vector<analysis::Report>& reports() const { return *reports_; }
    QStringList recent_files() const;
    void undo();
    void redo();

  signals:
    void shown();    // an answer is on screen, with what bounds it unless a slider is held
    void analysed(); // sensitivities and what would help, too
    void searched(); // the found mapping is on screen

  protected:
    void dragEnterEvent(QDragEnterEvent* event) override;
    void dropEvent(QDropEvent* event) override;
    void closeEvent(QCloseEvent* event) override;
    void showEvent(QShowEvent* event) override;
    void changeEvent(QEvent* event) override;

  private:
    // What the panes show, and of which report.
    struct Shown {
        std::size_t report = 0, layer = 0; // indices into reports_
        bool operator==(const Shown&) const = default;
    };

    void soften_hints();
    void make_central();
    void make_panes();
    void make_menus();
    void make_status();
    void connect_all();
    void arrange_panes();
    void page_changed();
    void bring_panes_back();
    void make_perspectives();
    void follow_content(); // to the perspective of what is opened, where that is another kind
    void show_tabs();
    void show_docks();
    void open_dialog();
    QDockWidget* add_pane(const QString& title, const char* name, QWidget* widget,
                          Qt::DockWidgetArea area);

    void load_and_examine();
    void load(); // what session_ names
    void drop_wrong_changes();
    void show_scenario();
    void examine();
    void cancel_examination();
    bool has_network() const { return questions_.network() != nullptr; }
    analysis::Scenario& scenario() { return session_.scenario; }
    // As another entry of the history, unless `what` is what changed last.
    void change_scenario(const std::function<void(analysis::Scenario&)>& change,
                         const std::string& what);
    void go_back_to(analysis::Scenario scenario);
    void set_sizes(const QString& network, const std::vector<std::string>& sizes);
    QString network_words() const; // with its sizes
    void choose_machines(const QStringList& names);
    void show_answer(Answer answer);
    std::string plot_title() const;
    void show_plot(Result<report::PlotInput> plot);
    void show_progress(const Progress& progress);
    void hide_progress();
    std::size_t first_with_headline() const { return session_.mappings.empty() ? 0 : 1; }
    void find_headlines();
    void analyse();
    void try_mapping(const model::Mapping& mapping);
    void try_mapping(const model::Mapping& mapping, const Shown& where, std::size_t nest);
    void restore_mapping();
    void search_mapping(const mapper::Objective& objective);
    void show_totals();
    void keep_chosen_roofs(const report::PlotInput& plot);
    void read_then(std::vector<std::string> paths, std::function<void(std::vector<ReadFile>)> then);
    void open_read(const QStringList& references, std::vector<ReadFile> files);
    bool open_reference(const QString& reference, std::vector<ReadFile>& files,
                        QStringList& machines);
    bool is_unread_trace(const std::string& network) const;
    bool open_name(const QString& name, QStringList& machines);
    void close_measurement(const std::string& path);
    void replace_measurement(const std::string& path); // asks by which
    void place_traces(const std::vector<ReadFile>& files, QStringList& machines);
    void propose_network();
    void ask_gpu();
    void ask_sizes();
    void follow_totals(const QString& link);
    void make_pattern_panes();
    Pane* middle_pane(const QString& name) const;
    void tabify_pattern_panes(QDockWidget* behind);
    PaneInput pane_input() const;
    void tell_panes(bool answer); // or of another selection only
    // At once, unless a slider is held and the dock is behind others: then when it comes to the
    // front, or when the slider rests or is let go. What comes later replaces what still waits.
    void show_in_dock(const QString& dock, std::function<void()> show);
    void show_waiting_in(const QString& dock);
    void show_all_waiting();
    void dock_moved(const QString& dock, bool in_front);
    std::string report_html() const;
    void save_report_dialog();
    void ask_upgrade();
    void explain_upgrade(const QString& network, const QString& from, const QString& to);
    void keep_edit(const Shown& where, const model::Mapping& mapping, std::size_t nest);
    void end_search(const Result<mapper::SearchResult>& found, const Shown& where,
                    std::size_t nest);
    void end_search_of_other();
    void use_report(analysis::Report report, const Shown& where);

    void view_changed();
    void change_view(const std::function<void(report::ViewState&)>& change);
    void hide_selected();
    void show_selected_alone();
    void show_hidden();
    void fill_selection_menu(QMenu& menu);
    void add_assign_menu(QMenu& menu);                    // of kernels that no layer has
    void match_by_dragging();                             // such kernels onto rows of layers
    const report::PlotPoint* point_of_row(int row) const; // of the layers' table
    void filter_to_selected();
    void selection_from_plot();
    void selection_from_table();
    void show_details();
    void fill_details();
    QString layer_details() const;
    void select_layer(std::size_t row);
    std::optional<report::ScenePoint> chosen_point() const;
    void show_layer(const report::PlotPoint& source);
    void select_parameter(const QString& key);
    void step_parameter(const QString& key);

    void show_problems(const Diagnostics& problems);
    void remember(const QString& file);
    void fill_recent();
    void copy_rows();
    void export_dialog();
    Picture picture_in_front() const;
    void make_view_menus(QMenu& file);
    void save_machine_dialog();
    void make_unit_menu(QMenu& menu);
    void make_theme_menu(QMenu& menu);
    std::optional<report::Theme> chosen_theme() const; // nullopt: as the desktop
    void show_in(report::Theme theme);                 // not kept with the settings
    void reset_layout();

    bool has_unsaved_work() const;
    void tell_work();                       // in the title
    void now_saved_in(const QString& file); // empty: in none
    bool save_session_dialog(bool ask_where);
    bool may_leave();
    void start_anew();
    void tell_all_problems();

    Folders folders_;
    MeasurementFiles measurements_;
    Examiner examiner_;
    Background reader_;
    QStringList reading_;    // what is to be opened once it is read
    QElapsedTimer asked_at_; // when the examination under way began
    Background headliner_, proposer_;
    Background analyser_;
    Background searcher_;
    Background stepper_;
    LayerTable rows_;
    History history_;
    QSettings* settings_ = nullptr;
    QActionGroup* themes_ = nullptr;
    QString session_file_; // that was opened or saved; empty: none
    std::optional<report::Session> saved_;

    Perspective perspective_ = Perspective::gpu;
    std::optional<Perspective> fits_; // what is open, by its kind
    bool docks_due_ = false;          // they are those of another perspective
    QComboBox* perspectives_ = nullptr;
    Choices* choices_ = nullptr;
    RunChoices* run_ = nullptr;
    QTabWidget* pages_ = nullptr;
    QStackedWidget* start_ = nullptr; // what to do first, or the plot
    StartPage* first_ = nullptr;
    PlotBar* plot_bar_ = nullptr;
    RooflineView* view_ = nullptr;
    UpgradePane* upgrade_ = nullptr;
    QTableView* table_view_ = nullptr;
    StepsPane* steps_ = nullptr;
    WhatIfPane* what_if_ = nullptr;
    MappingPane* mapping_ = nullptr;
    ErrorList* errors_ = nullptr;
    QTextEdit* details_ = nullptr;
    QLabel* totals_ = nullptr;
    std::map<QString, QDockWidget*> docks_;
    QMenu* recent_ = nullptr;
    QLabel* place_ = nullptr;
    QProgressBar* progress_ = nullptr;
    QPushButton* cancel_ = nullptr;

    // What is asked: scenario, machines and mappings; and what the answer on screen was asked with,
    // to which a cancelled examination goes back.
    report::Session session_, shown_session_;
    Questions questions_;
    std::vector<analysis::Question> asked_; // of the answer on screen, beside its reports
    // Shared with the panes that draw of them for as long as they are shown.
    std::shared_ptr<std::vector<analysis::Report>> reports_ =
        std::make_shared<std::vector<analysis::Report>>();
    std::optional<Shown> shown_layer_;
    std::vector<Pane*> panes_;
    std::set<QString> front_docks_;                    // a tab behind others is not among them
    std::map<QString, std::function<void()>> waiting_; // by dock: what it does not show yet
    QTimer waiting_pause_;
    bool telling_answer_ = false; // its selection goes with it
    bool own_times_ = false;      // of the trace that the network is: they are of what is asked
    QString proposed_network_;    // of a trace that was opened alone
    Diagnostics answer_problems_; // of the answer on screen
    Diagnostics plot_problems_, upgrade_problems_;
    Diagnostics not_opened_; // what was wrong with what should be opened last
    std::map<std::size_t, analysis::LayerReport> originals_; // by row, before they were edited
    QTimer analyse_pause_;
    std::optional<QByteArray> docks_away_;          // where they were while there is no plot
    QString wanted_pane_;                           // to be brought to the front with them
    std::optional<std::set<std::string>> roofs_of_; // machines that roofs were chosen for
    bool sizes_due_ = false;
    bool arranged_ = false;
    bool syncing_ = false; // a selection is on its way through the panes
};

} // namespace eyeroof::gui
