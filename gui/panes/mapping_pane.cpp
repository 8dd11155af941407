#include "gui/panes/mapping_pane.hpp"

#include "base/units.hpp"
#include "gui/panes/fields.hpp"
#include "gui/views/paint_scene.hpp"
#include "gui/views/qt_text.hpp"

#include <QComboBox>
#include <QFontDatabase>
#include <QHBoxLayout>
#include <QLabel>
#include <QPlainTextEdit>
#include <QProgressBar>
#include <QPushButton>
#include <QScrollArea>
#include <QSplitter>
#include <QTextBlock>
#include <QVBoxLayout>

namespace eyeroof::gui {

namespace {

constexpr int kPause_ms = 150; // after the last key
constexpr int kLeastLines = 9; // of the editor: the pane scrolls where there is no room

} // namespace

MappingPane::MappingPane(QWidget* parent) : QWidget(parent) {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(4, 4, 4, 4);
    make_search();
    column->addWidget(search_row_);
    auto* split = new QSplitter(Qt::Vertical, this);
    picture_ = new DrawingView(this);
    picture_->setAccessibleName(tr("Picture of the mapping"));
    picture_->setObjectName("mapping picture");
    auto* scroll = new QScrollArea(split);
    scroll->setWidget(picture_);
    scroll->setWidgetResizable(true);
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    split->addWidget(scroll);
    make_editor();
    below_ = new QWidget(split);
    auto* lines = bare<QVBoxLayout>(below_);
    auto* head = new QHBoxLayout;
    head->addWidget(verdict_, 1);
    head->addWidget(restore_);
    lines->addWidget(editor_, 1);
    lines->addLayout(head);
    split->addWidget(below_);
    split->setSizes({420, 200});
    split->setStretchFactor(0, 3);
    split->setStretchFactor(1, 1);
    column->addWidget(split, 1);
    clear();
}

void MappingPane::make_search() {
    search_row_ = new QWidget(this);
    auto* column = bare<QVBoxLayout>(search_row_);
    of_ = new QLabel(this);
    of_->setObjectName("mapping layer");
    of_->setTextFormat(Qt::PlainText);
    of_->setWordWrap(true);
    column->addWidget(of_);
    auto* row = new QHBoxLayout;
    nests_ = list_field("nest", tr("Which of the layer's products"), {}, this);
    column->addWidget(nests_);
    nests_->hide();
    connect(nests_, &QComboBox::activated, this, [this](int index) {
        nest_ = static_cast<std::size_t>(index);
        show_picture();
        show_text();
    });
    objective_ = list_field({}, tr("What the search minimizes"), {}, this);
    objective_->addItems({tr("energy × delay"), tr("time"), tr("energy")});
    search_ = new QPushButton(tr("Search the best mapping"), this);
    search_->setObjectName("search");
    cancel_ = new QPushButton(tr("Cancel"), this);
    cancel_->setObjectName("cancel search");
    row->addWidget(objective_);
    row->addWidget(search_, 1);
    progress_ = new QProgressBar(this);
    progress_->setTextVisible(true);
    progress_->setAccessibleName(tr("Progress of the search"));
    auto* under_way = new QHBoxLayout; // a row of its own: nothing comes below the pointer
    under_way->addWidget(progress_, 1);
    under_way->addWidget(cancel_);
    found_ = new QLabel(this);
    found_->setWordWrap(true);
    found_->setObjectName("found");
    column->addLayout(row);
    column->addLayout(under_way);
    column->addWidget(found_);
    progress_->hide();
    cancel_->hide();
    found_->hide();
    connect(search_, &QPushButton::clicked, this, [this] {
        const mapper::Objective objectives[] = {
            mapper::Objective::edp(), mapper::Objective::latency(), mapper::Objective::energy()};
        searching_ = true;
        searched_name_ = layer_ ? text(layer_->layer.name) : QString();
        search_->setEnabled(false);
        progress_->setRange(0, 0); // busy until something is known
        progress_->show();
        cancel_->show();
        found_->setText(of_searched(tr("searching…")));
        found_->show();
        nests_->setEnabled(false);
        emit search_wanted(objectives[objective_->currentIndex()]);
    });
    connect(cancel_, &QPushButton::clicked, this, [this] {
        stop_search();
        emit cancel_wanted();
    });
}

void MappingPane::make_editor() {
    editor_ = new QPlainTextEdit(this);
    editor_->setFont(QFontDatabase::systemFont(QFontDatabase::FixedFont));
    editor_->setLineWrapMode(QPlainTextEdit::NoWrap);
    editor_->setMinimumHeight(kLeastLines * QFontMetrics(editor_->font()).lineSpacing());
    editor_->setAccessibleName(tr("Mapping as text; its cost follows while you type"));
    editor_->setTabChangesFocus(true);
    verdict_ = new QLabel(this);
    verdict_->setWordWrap(true);
    verdict_->setTextFormat(Qt::PlainText);
    verdict_->setObjectName("mapping verdict");
    restore_ = new QPushButton(tr("Restore"), this);
    restore_->setToolTip(tr("Back to the mapping that was examined first"));
    pause_.setSingleShot(true);
    pause_.setInterval(kPause_ms);
    connect(editor_, &QPlainTextEdit::textChanged, this, [this] { pause_.start(); });
    connect(&pause_, &QTimer::timeout, this, &MappingPane::text_changed);
    connect(restore_, &QPushButton::clicked, this, [this] {
        shown_of_.clear();
        emit restore_wanted();
    });
}

void MappingPane::clear() {
    machine_.reset();
    layer_.reset();
    shown_of_.clear();
    pause_.stop();
    picture_->clear(tr("Select a layer to see how it is mapped"));
    const QSignalBlocker block(editor_);
    editor_->clear();
    editor_->setEnabled(false);
    restore_->setEnabled(false);
    verdict_->clear();
    search_row_->hide();
}

// What a search says names its layer: another one may be in view by then.
QString MappingPane::of_searched(const QString& words) const {
    return searched_name_.isEmpty() ? words : searched_name_ + ": " + words;
}

void MappingPane::set_layer(const model::Machine& machine, const analysis::LayerReport& layer,
                            std::size_t row) {
    of_->setText(tr("%1 on %2").arg(text(layer.layer.name), text(machine.name)));
    row_ = row;
    machine_ = machine;
    layer_ = layer;
    const bool accelerator = std::holds_alternative<model::Accelerator>(machine.kind);
    search_row_->setVisible(accelerator && !layer.mappings.empty());
    editor_->setEnabled(accelerator && !layer.mappings.empty());
    below_->setVisible(accelerator && !layer.mappings.empty());
    show_nests();
    show_picture();
    show_text();
}

void MappingPane::show_picture() {
    picture_->show_drawing(
        [machine = *machine_, layer = *layer_, nest = nest_](const report::Canvas& canvas) {
            return report::make_mapping_scene(machine, layer, nest, canvas.width).drawing;
        },
        true);
}

// Attention, for one, is a product for the scores and one for the context: each has its mapping.
void MappingPane::show_nests() {
    const QSignalBlocker block(nests_);
    const auto names = analysis::nest_names(*layer_);
    nest_ = nest_ < names.size() ? nest_ : 0;
    nests_->clear();
    for (const std::string& name : names) {
        nests_->addItem(text(name));
    }
    nests_->setCurrentIndex(static_cast<int>(nest_));
    nests_->setVisible(names.size() > 1);
}

// The text of the layer, unless what is being typed stands for the very same mapping.
void MappingPane::show_text() {
    const std::string of = machine_->id + "/" + std::to_string(row_) + "/" + layer_->layer.name +
                           "/" + std::to_string(nest_);
    const std::string now = analysis::mapping_text(*machine_, *layer_, nest_);
    const auto typed = analysis::parse_mapping(*machine_, editor_->toPlainText().toStdString());
    if (of == shown_of_ && typed && nest_ < layer_->mappings.size() &&
        *typed == layer_->mappings[nest_]) {
        return;
    }
    if (of == shown_of_ && editor_->hasFocus() && editor_->document()->isModified()) {
        return; // the user is typing
    }
    if (of != shown_of_) {
        verdict_->clear();
        restore_->setEnabled(false);
        if (!searching_) {
            found_->hide();
        }
    }
    shown_of_ = of;
    pause_.stop();
    const QSignalBlocker block(editor_);
    editor_->setPlainText(text(now));
    mark_line(0, {});
}

void MappingPane::text_changed() {
    if (!machine_ || !editor_->isEnabled()) {
        return;
    }
    const auto mapping = analysis::parse_mapping(*machine_, editor_->toPlainText().toStdString());
    restore_->setEnabled(true);
    if (!mapping) {
        return show_problems(mapping.diagnostics());
    }
    mark_line(0, {});
    if (nest_ < layer_->mappings.size() && *mapping != layer_->mappings[nest_]) {
        emit edited(*mapping);
    }
}

void MappingPane::mark_line(int line, const QString& message) {
    QList<QTextEdit::ExtraSelection> marks;
    if (line > 0) {
        QTextEdit::ExtraSelection mark;
        mark.cursor = QTextCursor(editor_->document()->findBlockByNumber(line - 1));
        mark.cursor.select(QTextCursor::LineUnderCursor);
        mark.format.setUnderlineStyle(QTextCharFormat::WaveUnderline);
        mark.format.setUnderlineColor(ink_on(*editor_, report::ColourRole::warning));
        mark.format.setToolTip(message);
        mark.format.setProperty(QTextFormat::FullWidthSelection, true);
        marks.append(mark);
    }
    editor_->setExtraSelections(marks);
}

void MappingPane::show_problems(const Diagnostics& problems) {
    const Diagnostic& first = problems.items().front();
    const QString more =
        problems.size() > 1 ? tr(" (and %1 more)").arg(problems.size() - 1) : QString();
    const QString place = first.where.line > 0 ? tr("line %1: ").arg(first.where.line) : QString();
    verdict_->setText("✗ " + place + text(first.message) + more +
                      (first.hint.empty() ? QString() : "\n" + text(first.hint)));
    QStringList all;
    for (const Diagnostic& problem : problems) {
        all << text(to_string(problem));
    }
    verdict_->setToolTip(all.join('\n'));
    mark_line(first.where.line, text(first.message));
    restore_->setEnabled(true);
}

void MappingPane::show_tried(const analysis::LayerReport& before,
                             const analysis::LayerReport& after) {
    verdict_->setText("✓ " + text(analysis::difference_text(before, after)));
    verdict_->setToolTip(
        tr("Kept for this window only; give the text to eyeroof exam --mapping to repeat it"));
    restore_->setEnabled(true);
}

QString MappingPane::verdict() const {
    return verdict_->text();
}

void MappingPane::show_search(const Progress& progress) {
    if (!searching_ || cancel_->isHidden()) { // over, or asked to be
        return;
    }
    progress_->setRange(0, 1000);
    progress_->setValue(static_cast<int>(1000.0 * progress.fraction));
    const QString best = progress.best > 0.0 ? tr("best so far %1").arg(progress.best, 0, 'g', 5)
                                             : tr("no mapping yet");
    const QString gap =
        progress.gap >= 0.0
            ? tr(", at most %1 % above the bound").arg(100.0 * progress.gap, 0, 'f', 1)
            : QString();
    found_->setText(of_searched(best + gap));
}

void MappingPane::stop_search() {
    cancel_->hide();
    progress_->hide();
    found_->setText(of_searched(tr("cancelled, taking the best so far…")));
}

void MappingPane::end_search(const QString& outcome) {
    searching_ = false;
    nests_->setEnabled(true);
    search_->setEnabled(true);
    progress_->hide();
    cancel_->hide();
    found_->setText(outcome.isEmpty() ? outcome : of_searched(outcome));
    found_->setVisible(!outcome.isEmpty());
}

void MappingPane::forget_search() {
    searched_name_.clear();
    end_search({});
}

} // namespace eyeroof::gui
