// The upgrade view: do other GPUs pay for these networks? The question on the left; on the right
// the verdict in words, the GPUs side by side, what each layer gains, and pictures. Judges nothing
// itself: study::upgrade does, in the background.
#pragma once

#include "gui/jobs/background.hpp"
#include "gui/jobs/offered.hpp"
#include "gui/jobs/upgrade_answer.hpp"
#include "gui/views/drawing_view.hpp"

#include <QWidget>
#include <vector>

class QLabel;
class QPushButton;

namespace eyeroof::gui {

class AnswerTableView;
class PictureBoard;
class UpgradeForm;

class UpgradePane : public QWidget {
    Q_OBJECT

  public:
    explicit UpgradePane(QWidget* parent = nullptr);

    void fill(const Folders& folders, const Offered& offered);
    // What is asked; empty parts stay as they are.
    // `phase`: "inference", or the optimizer of a training step.
    void ask(const QStringList& networks, const QString& from, const QStringList& to,
             const QString& phase = {});
    // All of it, as a session keeps it.
    void ask(const analysis::UpgradeQuestion& question);
    UpgradeForm& form() { return *form_; }
    const UpgradeForm& form() const { return *form_; }
    const std::vector<analysis::Upgrade>& upgrades() const { return answer_.upgrades; }
    AnswerTableView& verdicts() { return *verdicts_; }
    AnswerTableView& layers() { return *layers_; }
    const analysis::Purchase& purchase() const { return answer_.purchase; }
    DrawingView& candidates() { return *candidates_; }
    DrawingView& plot() { return *break_even_; }
    DrawingView& sweep() { return *sweep_; }
    DrawingView& payback() { return *payback_; }
    DrawingView& bars() { return *bars_; }
    DrawingView& shown_picture(); // the one in front
    const std::vector<DrawingView*>& pictures() const;
    QString headline() const;
    bool busy() const { return worker_.busy(); }
    std::string command_line() const;     // of the selected GPU
    analysis::Scenario shown_run() const; // on the old GPU, of the first network
    // One sheet about the selected GPU, by the ending of the name: .html, .md, .json, .csv, .txt.
    // Errors: "nothing" without an answer; "unknown-format"; those of write_file().
    Result<Done> save_sheet(const QString& file) const;

  signals:
    void judged(); // upgrades() are on screen
    void problems(const eyeroof::Diagnostics& diagnostics);
    void why_wanted(const QString& network, const QString& from, const QString& to);

  protected:
    void changeEvent(QEvent* event) override;

  private:
    QWidget* make_answers();
    void judge();
    void show_answer(UpgradeAnswer answer);
    void show_selected();
    void show_verdicts();
    void show_headline(const analysis::Upgrade& upgrade);
    void show_pictures();
    void show_decision();
    void save_sheet_dialog();
    analysis::Purchase shown() const; // about the selected GPU

    Folders folders_;
    Background worker_;
    analysis::UpgradeQuestion question_; // that answer_ is of
    UpgradeAnswer answer_;
    std::size_t chosen_ = 0;   // of its upgrades, the one in view
    bool owned_shown_ = false; // the picture in front is of what is owned
    UpgradeForm* form_ = nullptr;
    QLabel* headline_ = nullptr;
    QPushButton* sheet_ = nullptr;
    DrawingView* candidates_ = nullptr;
    QLabel* decision_ = nullptr; // what would flip it, and what was published
    QLabel* reasons_ = nullptr;
    AnswerTableView* verdicts_ = nullptr;
    AnswerTableView* layers_ = nullptr;
    PictureBoard* pictures_ = nullptr;
    DrawingView* break_even_ = nullptr;
    DrawingView* payback_ = nullptr;
    DrawingView* bars_ = nullptr;
    DrawingView* sweep_ = nullptr;
};

} // namespace eyeroof::gui
