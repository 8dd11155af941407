// A pane whose answer takes longer than a frame: it asks in the background once it is shown,
// tells how far it is, and can be cancelled. Its own choices stand in a row above what it says.
// Base of the panes that run a study of their own.
#pragma once

#include "gui/jobs/background.hpp"
#include "gui/panes/fields.hpp"
#include "gui/panes/pane.hpp"

#include <QTimer>

class QCheckBox;
class QComboBox;
class QLabel;
class QLineEdit;
class QProgressBar;
class QSpinBox;
class QVBoxLayout;

namespace eyeroof::gui {

class FlowLayout;

class AskingPane : public Pane {
    Q_OBJECT

  public:
    AskingPane(const PaneActions& actions, QWidget* parent);
    void show_answer(const PaneInput& input) final;
    bool busy() const { return worker_.busy(); }
    void cancel() { worker_.cancel(); }

  signals:
    void answered(); // what is asked now is on screen, also when it is nothing

  protected:
    // Choices that depend on what is on screen.
    virtual void fill(const PaneInput& input) { (void)input; }
    // The work behind the choices; none where there is nothing to ask, said by say().
    virtual Background::Job job(const PaneInput& input) = 0;
    virtual void clear() = 0; // shows nothing: what was there is of another question

    // A link of what was said: asks again.
    virtual void link_followed(const QString& target) { (void)target, ask(); }

    // Another value of a choice: asks again, where choices are not the scenario's.
    virtual void choice_changed() { ask(); }

    void ask();
    void say(const QString& html);
    void say(const Diagnostics& wrong);
    QVBoxLayout* column() { return column_; }

    // Choices in the row.
    QComboBox* choice(const QString& label, const char* name, const Entries& entries = {});
    QSpinBox* number(const QString& label, const char* name, int least, int most, int value);
    QLineEdit* text_field(const QString& label, const char* name, const QString& value);
    QCheckBox* flag(const QString& label, const char* name);
    QWidget* labelled(const QString& label, const char* name, QWidget* field); // any other field

    void showEvent(QShowEvent* event) override;

  private:
    void drop_question();
    void show_progress(const Progress& progress);
    void end_progress();
    void show_waiting();

    bool due_ = true;       // what is shown is of another question
    bool answered_ = false; // an answer is shown, or why there is none
    Background worker_;
    QTimer slow_; // a while after the question: there is no answer yet
    QVBoxLayout* column_ = nullptr;
    FlowLayout* fields_ = nullptr;
    QLabel* head_ = nullptr;
    QWidget* progress_ = nullptr;
    QProgressBar* bar_ = nullptr;
};

} // namespace eyeroof::gui
