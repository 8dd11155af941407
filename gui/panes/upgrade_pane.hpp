// The upgrade view: does another GPU pay for these networks? Verdicts, what each layer gains, and
// the break-even plot.
// Used by the main window as a page beside the plot.
// Judges nothing itself: study::upgrade does, in the background.
#pragma once

#include "gui/jobs/background.hpp"
#include "gui/views/drawing_view.hpp"
#include "gui/window/folders.hpp"
#include "study/upgrade.hpp"

#include <QWidget>
#include <vector>

class QComboBox;
class QDoubleSpinBox;
class QLabel;
class QSpinBox;
class QTableWidget;

namespace eyeroof::gui {

class FlowLayout;

class UpgradePane : public QWidget {
    Q_OBJECT

  public:
    explicit UpgradePane(QWidget* parent = nullptr);

    void fill(const Folders& folders);
    // What is asked; empty parts stay as they are.
    // `phase`: "inference", or the optimizer of a training step.
    void ask(const QStringList& networks, const QString& from, const QStringList& to,
             const QString& phase = {});
    QStringList networks() const { return networks_; }
    QStringList targets() const { return targets_; }
    QString from() const;
    const std::vector<study::Upgrade>& upgrades() const { return upgrades_; }
    QTableWidget& verdicts() { return *verdicts_; }
    QTableWidget& layers() { return *layers_; }
    DrawingView& plot() { return *plot_; }
    bool busy() const { return worker_.busy(); }
    std::string command_line() const; // of the selected verdict

  signals:
    void judged(); // upgrades() are on screen
    void problems(const eyeroof::model::Diagnostics& diagnostics);

  private:
    struct Question {
        std::string network, from, to;
        study::UpgradeOptions options;
        std::string phase;
        Folders folders;
    };
    struct Judged {
        std::vector<study::Upgrade> upgrades;
        std::vector<Question> questions;
        model::Diagnostics problems;
    };

    QWidget* make_questions();
    QWidget* make_prices();
    QWidget* make_answers();
    QComboBox* chooser(const QString& placeholder, const char* name);
    void add_chip(FlowLayout& row, QStringList& list, const QString& name);
    void judge();
    Question question(const QString& network, const QString& to) const;
    static Judged answers_to(const std::vector<Question>& questions, const std::stop_token& stop,
                             const model::ProgressCallback& progress);
    void show_verdicts(Judged judged);
    void show_selected();

    Folders folders_;
    Background worker_;
    QStringList networks_, targets_;
    std::vector<study::Upgrade> upgrades_;
    std::vector<Question> asked_; // one an upgrade
    QComboBox* network_ = nullptr;
    QComboBox* from_ = nullptr;
    QComboBox* to_ = nullptr;
    QComboBox* phase_ = nullptr;
    QComboBox* from_type_ = nullptr;
    QComboBox* to_type_ = nullptr;
    QSpinBox* batch_ = nullptr;
    QDoubleSpinBox* from_price_ = nullptr;
    QDoubleSpinBox* to_price_ = nullptr;
    QDoubleSpinBox* buy_ = nullptr;
    QDoubleSpinBox* resale_ = nullptr;
    FlowLayout* network_row_ = nullptr;
    FlowLayout* to_row_ = nullptr;
    QLabel* verdict_ = nullptr;
    QTableWidget* verdicts_ = nullptr;
    QTableWidget* layers_ = nullptr;
    DrawingView* plot_ = nullptr;
};

} // namespace eyeroof::gui
