#include "gui/window/start_page.hpp"

#include "gui/panes/fields.hpp"

#include <QComboBox>
#include <QFileInfo>
#include <QFormLayout>
#include <QFrame>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSpinBox>
#include <QVBoxLayout>

namespace eyeroof::gui {

namespace {

constexpr int kCardWidth = 400;
constexpr const char* kOpen = "open"; // the link that asks for a file

QString chosen(const QComboBox& box) {
    return box.currentText().trimmed();
}

QString link(const QString& target, const QString& label) {
    return QString("<a href=\"%1\">%2</a>").arg(target, label);
}

QFrame* framed(QWidget* parent) {
    auto* frame = new QFrame(parent);
    frame->setFrameShape(QFrame::StyledPanel);
    frame->setBackgroundRole(QPalette::Base);
    frame->setAutoFillBackground(true);
    frame->setMaximumWidth(2 * kCardWidth);
    return frame;
}

// Of what is asked before there is a plot: the words first.
QVBoxLayout* asking_column(QWidget& frame, QLabel*& words, const char* name) {
    auto* column = new QVBoxLayout(&frame);
    column->setContentsMargins(20, 12, 20, 12);
    words = new QLabel(&frame);
    words->setWordWrap(true);
    words->setObjectName(name);
    column->addWidget(words);
    return column;
}

} // namespace

StartPage::StartPage(QWidget* parent) : QWidget(parent) {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(24, 24, 24, 24);
    column->setSpacing(20);
    column->addStretch(2);
    auto* head = new QLabel(tr("<span style='font-size:xx-large; font-weight:600'>Eyeroof</span>"
                               "<br><span style='font-size:large'>How fast a network runs on a "
                               "machine, and what bounds it</span>"),
                            this);
    head->setAlignment(Qt::AlignCenter);
    column->addWidget(head);
    column->addWidget(make_question());
    column->addWidget(make_sizes());
    column->addLayout(make_entries());
    auto* cards = new QHBoxLayout;
    cards->setSpacing(20);
    cards->addStretch(1);
    cards->addWidget(make_examine(), 4);
    cards->addWidget(make_upgrade(), 4);
    cards->addStretch(1);
    column->addLayout(cards);
    files_ = new QLabel(this);
    files_->setObjectName("start files");
    files_->setAlignment(Qt::AlignCenter);
    files_->setWordWrap(true);
    connect(files_, &QLabel::linkActivated, this, [this](const QString& target) {
        target == kOpen ? emit open_wanted() : emit file_wanted(target);
    });
    column->addWidget(files_);
    recent_ = new QLabel(this);
    recent_->setObjectName("recent files");
    recent_->setAlignment(Qt::AlignCenter);
    recent_->setWordWrap(true);
    recent_->setTextInteractionFlags(Qt::LinksAccessibleByMouse | Qt::LinksAccessibleByKeyboard);
    recent_->hide();
    connect(recent_, &QLabel::linkActivated, this, &StartPage::file_wanted);
    column->addWidget(recent_);
    column->addStretch(3);
    update_buttons();
}

// Four ways in, each a click from an answer.
QHBoxLayout* StartPage::make_entries() {
    auto* row = new QHBoxLayout;
    row->setSpacing(12);
    row->addStretch(1);
    const auto entry = [&](const char* name, const QString& title, const QString& example,
                           auto action) {
        auto* button = new QPushButton(title + "\n" + example, this);
        button->setObjectName(name);
        button->setAccessibleName(title + ": " + example);
        button->setMinimumHeight(72);
        button->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
        button->setMaximumWidth(kCardWidth / 2);
        connect(button, &QPushButton::clicked, this, action);
        row->addWidget(button, 2);
    };
    entry("entry accelerator", tr("Accelerator"), tr("AlexNet on Eyeriss v1"),
          [this] { emit example_wanted("alexnet", "eyeriss-v1"); });
    entry("entry gpu", tr("GPU"), tr("ResNet-50 on A100"),
          [this] { emit example_wanted("resnet50", "a100-sxm-40gb"); });
    entry("entry upgrade", tr("Should we buy?"), tr("BERT-large, V100 to A100"),
          [this] { emit upgrade_wanted("bert-large", "v100-sxm2-16gb", "a100-sxm-40gb", "adam"); });
    entry("entry trace", tr("My trace"), tr("Open or drop a file"), [this] { emit open_wanted(); });
    row->addStretch(1);
    return row;
}

// A trace without its GPU: everything is there but the machine.
QWidget* StartPage::make_question() {
    question_ = framed(this);
    auto* column = asking_column(*question_, asks_, "start trace");
    measured_on_ = chooser(*column, tr("&Measured on"), tr("choose or type"), "start measured on");
    question_->hide();
    const auto go = [this] {
        if (!chosen(*measured_on_).isEmpty()) {
            emit gpu_chosen(chosen(*measured_on_));
        }
    };
    connect(measured_on_, &QComboBox::activated, this, go);
    connect(measured_on_->lineEdit(), &QLineEdit::returnPressed, this, go);
    return question_;
}

// A network whose file leaves sizes open: everything is there but those.
QWidget* StartPage::make_sizes() {
    sizes_ = framed(this);
    auto* column = asking_column(*sizes_, sizes_of_, "start sizes of");
    size_rows_ = new QFormLayout;
    column->addLayout(size_rows_);
    auto* go = new QPushButton(tr("Use these sizes"), sizes_);
    go->setObjectName("start sizes");
    column->addWidget(go);
    connect(go, &QPushButton::clicked, this, [this] {
        std::vector<std::string> sizes;
        for (std::size_t i = 0; i < size_fields_.size(); ++i) {
            sizes.push_back(size_names_[static_cast<qsizetype>(i)].toStdString() + "=" +
                            std::to_string(size_fields_[i]->value()));
        }
        emit sizes_given(sizes);
    });
    sizes_->hide();
    return sizes_;
}

void StartPage::ask_sizes(const QString& file, const QStringList& names) {
    sizes_->setVisible(!names.isEmpty());
    if (names == size_names_) {
        return; // what was entered stays
    }
    size_names_ = names;
    size_fields_.clear();
    while (size_rows_->rowCount() > 0) {
        size_rows_->removeRow(0);
    }
    sizes_of_->setText(
        tr("<b>%1</b> leaves these sizes open. Enter them.").arg(file.toHtmlEscaped()));
    for (const QString& name : names) {
        auto* field = new QSpinBox(sizes_);
        field->setRange(1, 100000000);
        field->setObjectName("open size " + name);
        field->setAccessibleName(tr("Size %1").arg(name));
        size_rows_->addRow(name, field);
        size_fields_.push_back(field);
    }
    if (!size_fields_.empty()) {
        size_fields_.front()->setFocus();
        size_fields_.front()->selectAll();
    }
}

void StartPage::ask_gpu(const QString& trace) {
    asks_->setText(tr("<b>%1</b> names no GPU of the catalog. On which was it measured?")
                       .arg(trace.toHtmlEscaped()));
    question_->setVisible(!trace.isEmpty());
    if (!trace.isEmpty()) {
        measured_on_->setFocus();
    }
}

QVBoxLayout* StartPage::card(const QString& title, const QString& explanation, QWidget*& frame) {
    QFrame* box = framed(this);
    box->setMaximumWidth(kCardWidth);
    box->setMinimumWidth(std::min(kCardWidth, 300));
    box->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Preferred);
    frame = box;
    auto* column = new QVBoxLayout(box);
    column->setContentsMargins(20, 18, 20, 18);
    column->setSpacing(6);
    auto* head =
        new QLabel("<span style='font-size:large; font-weight:600'>" + title + "</span>", box);
    head->setWordWrap(true);
    auto* text = new QLabel(explanation, box);
    text->setWordWrap(true);
    text->setForegroundRole(QPalette::PlaceholderText);
    column->addWidget(head);
    column->addWidget(text);
    column->addSpacing(6);
    return column;
}

QComboBox* StartPage::chooser(QVBoxLayout& column, const QString& label, const QString& hint,
                              const char* name) {
    auto* line = new QHBoxLayout;
    auto* head = new QLabel(label, this);
    head->setMinimumWidth(86);
    QComboBox* box = name_chooser(hint, name, this);
    box->setAccessibleName(label);
    head->setBuddy(box);
    line->addWidget(head);
    line->addWidget(box, 1);
    column.addLayout(line);
    connect(box, &QComboBox::currentTextChanged, this, &StartPage::update_buttons);
    return box;
}

QWidget* StartPage::make_examine() {
    QWidget* frame = nullptr;
    auto* column = card(tr("Why is this layer slow, and what would help?"),
                        tr("Seven steps from the ideal to the prediction, on accelerators and "
                           "GPUs; then turn any parameter and watch."),
                        frame);
    network_ = chooser(*column, tr("&Network"), tr("choose or type"), "start network");
    machine_ = chooser(*column, tr("on &machine"), tr("choose or type"), "start machine");
    column->addStretch();
    examine_ = new QPushButton(tr("Examine"), frame);
    examine_->setObjectName("start examine");
    examine_->setDefault(true);
    column->addWidget(examine_);
    const auto go = [this] {
        if (examine_->isEnabled()) {
            emit example_wanted(chosen(*network_), chosen(*machine_));
        }
    };
    connect(examine_, &QPushButton::clicked, this, go);
    connect(machine_->lineEdit(), &QLineEdit::returnPressed, this, go);
    return frame;
}

QWidget* StartPage::make_upgrade() {
    QWidget* frame = nullptr;
    auto* column = card(tr("Does another GPU pay off?"),
                        tr("Speedup with its interval, price of a run, when a purchase is paid "
                           "back, and a verdict."),
                        frame);
    runs_ = chooser(*column, tr("&What runs"), tr("choose or type"), "start runs");
    phase_ = list_field("start phase", tr("Inference or training"), upgrade_phases(), frame);
    auto* line = new QHBoxLayout;
    line->addSpacing(86 + 6);
    line->addWidget(phase_, 1);
    column->addLayout(line);
    from_ = chooser(*column, tr("now &on"), tr("the GPU you have"), "start from");
    to_ = chooser(*column, tr("or &better on"), tr("the GPU you might get"), "start to");
    column->addStretch();
    ask_ = new QPushButton(tr("Ask"), frame);
    ask_->setObjectName("start ask");
    column->addWidget(ask_);
    const auto go = [this] {
        if (ask_->isEnabled()) {
            emit upgrade_wanted(chosen(*runs_), chosen(*from_), chosen(*to_),
                                phase_->currentData().toString());
        }
    };
    connect(ask_, &QPushButton::clicked, this, go);
    connect(to_->lineEdit(), &QLineEdit::returnPressed, this, go);
    return frame;
}

void StartPage::show_recent(const QStringList& files) {
    constexpr qsizetype kShown = 5;
    QStringList links;
    for (const QString& file : files.mid(0, kShown)) {
        links << link(file.toHtmlEscaped(), QFileInfo(file).fileName().toHtmlEscaped());
    }
    recent_->setText(tr("Recent: %1").arg(links.join(" · ")));
    recent_->setToolTip(files.mid(0, kShown).join("\n"));
    recent_->setVisible(!links.isEmpty());
}

void StartPage::update_buttons() {
    if (ask_ != nullptr && to_ != nullptr) {
        examine_->setEnabled(!chosen(*network_).isEmpty() && !chosen(*machine_).isEmpty());
        ask_->setEnabled(!chosen(*runs_).isEmpty() && !chosen(*from_).isEmpty() &&
                         !chosen(*to_).isEmpty());
    }
}

void StartPage::fill(const Offered& offered) {
    QString files = tr("Or %1, or drop files here: sessions, machines, networks, layer tables, "
                       "measurements.")
                        .arg(link(kOpen, tr("open a file")));
    if (!offered.trace.isEmpty()) {
        files += tr("<br>Example of a trace: %1")
                     .arg(link(offered.trace.toHtmlEscaped(), tr("ResNet-50 inference on H100")));
    }
    files_->setText(files);
    for (QComboBox* box : {network_, runs_}) {
        box->addItems(offered.networks);
    }
    for (const auto& entry : offered.machines) {
        machine_->addItem(QString::fromStdString(entry.id));
    }
    for (QComboBox* box : {measured_on_, from_, to_}) {
        box->addItems(offered.machines_of("gpus"));
    }
    for (QComboBox* box : {network_, machine_, runs_, from_, to_, measured_on_}) {
        box->setCurrentIndex(-1);
        box->setCurrentText({});
    }
}

} // namespace eyeroof::gui
