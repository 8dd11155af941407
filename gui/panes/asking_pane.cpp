#include "gui/panes/asking_pane.hpp"

#include "gui/panes/fitting_scroll.hpp"
#include "gui/panes/flow_layout.hpp"
#include "gui/views/drawing_view.hpp"

#include <QCheckBox>
#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QProgressBar>
#include <QPushButton>
#include <QSpinBox>
#include <QVBoxLayout>

namespace eyeroof::gui {

AskingPane::AskingPane(const PaneActions& actions, QWidget* parent) : Pane(actions, parent) {
    auto* around = bare<QVBoxLayout>(this);
    auto* content = new QWidget(this);
    column_ = new QVBoxLayout(content);
    column_->setContentsMargins(6, 4, 6, 4);
    column_->setSpacing(4);
    fields_ = new FlowLayout(nullptr, 6);
    column_->addLayout(fields_);
    head_ = new QLabel(this);
    head_->setWordWrap(true);
    head_->setObjectName("answer");
    head_->setTextInteractionFlags(Qt::TextBrowserInteraction);
    column_->addWidget(head_);
    connect(head_, &QLabel::linkActivated, this,
            [this](const QString& target) { link_followed(target); });
    progress_ = new QWidget(this);
    auto* row = bare<QHBoxLayout>(progress_);
    bar_ = new QProgressBar(progress_);
    bar_->setAccessibleName(tr("Progress"));
    row->addWidget(bar_, 1);
    auto* stop = new QPushButton(tr("Cancel"), progress_);
    stop->setObjectName("cancel answer");
    row->addWidget(stop);
    column_->addWidget(progress_);
    progress_->hide();
    auto* scroll = new FittingScroll(content, this); // in small windows: nothing is squeezed
    scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAsNeeded);
    scroll->setFocusPolicy(Qt::NoFocus);
    around->addWidget(scroll);
    slow_.setSingleShot(true);
    slow_.setInterval(kSlow_ms);
    connect(&slow_, &QTimer::timeout, this, &AskingPane::show_waiting);
    connect(stop, &QPushButton::clicked, this, [this] { worker_.cancel(); });
    connect(&worker_, &Background::progressed, this, &AskingPane::show_progress);
    connect(&worker_, &Background::cancelled, this, [this] {
        end_progress();
        clear();
        answered_ = false;
        say(tr("Cancelled. <a href=\"again\">Ask again</a>"));
    });
}

void AskingPane::show_answer(const PaneInput& input) {
    due_ = !isVisible();
    if (due_) {
        drop_question();
    } else {
        fill(input);
        ask();
    }
}

void AskingPane::showEvent(QShowEvent* event) {
    Pane::showEvent(event);
    if (due_) {
        due_ = false;
        fill(actions_.look());
        ask();
    }
}

void AskingPane::ask() {
    Background::Job work = job(actions_.look());
    if (!work) {
        drop_question();
        clear();
        answered_ = false; // and what was said waits for a choice
        emit answered();
        return;
    }
    slow_.start();
    worker_.run(
        [this, work = std::move(work)](const std::stop_token& stop,
                                       const ProgressCallback& progress) -> Background::Show {
            const Background::Show show = work(stop, progress);
            return [this, show] {
                end_progress();
                show();
                answered_ = true;
                emit answered();
            };
        });
}

// The answer under way is to a question that is gone.
void AskingPane::drop_question() {
    const QSignalBlocker quiet(worker_);
    worker_.cancel();
    end_progress();
}

void AskingPane::show_progress(const Progress& progress) {
    bar_->setRange(0, 100);
    bar_->setValue(static_cast<int>(100.0 * progress.fraction));
    bar_->setFormat(QString::fromStdString(progress.activity) + " %p %");
}

// What was said before there was a question must not stand beside its progress; an answer to the
// one before may, until the next is there.
void AskingPane::show_waiting() {
    bar_->setRange(0, 0);
    progress_->show();
    if (!answered_) {
        say(QString());
        for (DrawingView* picture : findChildren<DrawingView*>()) {
            picture->clear(tr("Being worked out…"));
        }
    }
}

void AskingPane::end_progress() {
    slow_.stop();
    progress_->hide();
}

void AskingPane::say(const QString& html) {
    head_->setText(html);
    head_->setVisible(!html.isEmpty());
}

void AskingPane::say(const Diagnostics& wrong) {
    QStringList lines;
    for (const Diagnostic& problem : wrong) {
        QString line = QString::fromStdString(problem.message).toHtmlEscaped();
        if (!problem.hint.empty()) {
            line += " — " + QString::fromStdString(problem.hint).toHtmlEscaped();
        }
        lines << line;
    }
    lines.removeDuplicates();
    constexpr qsizetype kMost = 4;
    const qsizetype more = lines.size() - kMost;
    say(lines.mid(0, kMost).join("<br>") + (more > 0 ? tr("<br>and %1 more").arg(more) : ""));
}

QWidget* AskingPane::labelled(const QString& label, const char* name, QWidget* field) {
    auto* both = new QWidget(this);
    auto* row = bare<QHBoxLayout>(both, 4);
    auto* words = new QLabel(label, both);
    words->setBuddy(field);
    row->addWidget(words);
    row->addWidget(field);
    fields_->addWidget(both);
    field->setObjectName(name);
    field->setAccessibleName(label);
    return field;
}

QComboBox* AskingPane::choice(const QString& label, const char* name, const Entries& entries) {
    auto* box = list_field(name, {}, entries, this);
    box->setSizeAdjustPolicy(QComboBox::AdjustToContents);
    labelled(label, name, box);
    connect(box, &QComboBox::activated, this, &AskingPane::choice_changed);
    return box;
}

QSpinBox* AskingPane::number(const QString& label, const char* name, int least, int most,
                             int value) {
    auto* box = whole_field(name, {}, least, most, this);
    box->setValue(value);
    labelled(label, name, box);
    connect(box, &QSpinBox::valueChanged, this, &AskingPane::choice_changed);
    return box;
}

QLineEdit* AskingPane::text_field(const QString& label, const char* name, const QString& value) {
    auto* field = new QLineEdit(value, this);
    field->setMaximumWidth(110);
    labelled(label, name, field);
    connect(field, &QLineEdit::editingFinished, this, [this, field] {
        if (field->isModified()) {
            field->setModified(false);
            choice_changed();
        }
    });
    return field;
}

QCheckBox* AskingPane::flag(const QString& label, const char* name) {
    auto* box = check_field(name, label, {}, this);
    fields_->addWidget(box);
    connect(box, &QCheckBox::toggled, this, &AskingPane::choice_changed);
    return box;
}

} // namespace eyeroof::gui
