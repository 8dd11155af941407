#include "gui/panes/upgrade_form.hpp"

#include "gui/panes/amount_edit.hpp"
#include "gui/panes/upgrade_owner.hpp"
#include "gui/views/qt_text.hpp"

#include <QCheckBox>
#include <QComboBox>
#include <QDoubleSpinBox>
#include <QFileDialog>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QSpinBox>
#include <QToolButton>
#include <QVBoxLayout>

namespace eyeroof::gui {

namespace {

template <class Row> void remove_row(std::vector<Row>& rows, const QString& name) {
    const auto row =
        std::find_if(rows.begin(), rows.end(), [&](const Row& r) { return r.name == name; });
    if (row != rows.end()) {
        row->row->hide();
        row->row->deleteLater();
        rows.erase(row);
    }
}

} // namespace

UpgradeForm::UpgradeForm(QWidget* parent) : QWidget(parent) {
    column_ = new QVBoxLayout(this);
    column_->setContentsMargins(12, 10, 12, 10);
    column_->setSpacing(6);
    make_networks();
    make_old();
    make_new();
    heading(tr("Terms"));
    owner_ = new UpgradeOwner(this);
    column_->addWidget(owner_);
    connect(owner_, &UpgradeOwner::changed, this, &UpgradeForm::changed);
    make_sweep();
    make_more();
    column_->addStretch();
    read_lists();
    show_open();
}

void UpgradeForm::heading(const QString& text) {
    auto* label = new QLabel("<b>" + text + "</b>", this);
    label->setContentsMargins(0, column_->count() > 0 ? 12 : 0, 0, 0);
    column_->addWidget(label);
}

QComboBox* UpgradeForm::types(const QString& what) {
    QComboBox* combo = type_chooser(what, this);
    connect(combo, &QComboBox::activated, this, &UpgradeForm::changed);
    return combo;
}

QComboBox* UpgradeForm::list(const char* name, const QString& what, const Entries& entries) {
    auto* box = list_field(name, what, entries, this);
    box->setMinimumContentsLength(8); // its longest entry would widen the form
    box->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    connect(box, &QComboBox::activated, this, &UpgradeForm::changed);
    return box;
}

QDoubleSpinBox* UpgradeForm::price(const QString& prefix, const QString& none, const QString& what,
                                   double most, double step) {
    QDoubleSpinBox* spin = price_field(prefix, none, what, most, step, this);
    connect(spin, &QDoubleSpinBox::valueChanged, this, &UpgradeForm::changed);
    return spin;
}

void UpgradeForm::make_networks() {
    heading(tr("What runs"));
    network_ = name_chooser(tr("add a network"), "upgrade network", this);
    column_->addWidget(network_);
    network_rows_ = new QVBoxLayout;
    network_rows_->setSpacing(2);
    column_->addLayout(network_rows_);
    QWidget* row = nullptr;
    auto* line = line_in(*column_, row, this);
    phase_ = list("upgrade phase", tr("Inference or training"), upgrade_phases());
    phase_->setMinimumContentsLength(10);
    batch_ = named(new QSpinBox(this), "upgrade batch",
                   tr("Batch: samples of a step, or the network's own"));
    batch_->setRange(0, 65536);
    batch_->setPrefix(tr("batch "));
    batch_->setSpecialValueText(tr("own batch"));
    line->addWidget(phase_, 3); // its longest entry is shown whole
    line->addWidget(batch_, 2);
    connect(phase_, &QComboBox::currentIndexChanged, this, &UpgradeForm::show_open);
    connect(batch_, &QSpinBox::valueChanged, this, &UpgradeForm::changed);
    launch_ = list("upgrade launch", tr("How kernels are launched"), launches({}));
    layout_ = list("upgrade layout", tr("Order of a convolution's tensors in memory"),
                   {{tr("usual layout"), ""},
                    {tr("channels last"), "channels-last"},
                    {tr("channels first"), "channels-first"}});
    auto* second = line_in(*column_, row, this);
    second->addWidget(launch_, 1);
    second->addWidget(layout_, 1);
    compiled_ =
        check_field("upgrade compiled", tr("compiled"),
                    tr("Pointwise operators and reductions fused, as a compiler does"), this);
    connect(compiled_, &QCheckBox::toggled, this, &UpgradeForm::changed);
    largest_ = check_field("upgrade largest batch", tr("largest batch that fits"),
                           tr("The largest batch, a power of two, that fits both GPUs"), this);
    connect(largest_, &QCheckBox::toggled, this, [this] {
        show_open();
        emit changed();
    });
    auto* third = line_in(*column_, row, this);
    third->addWidget(compiled_, 1);
    third->addWidget(largest_, 1);
    const auto add = [this] {
        const QString name = network_->currentText().trimmed();
        network_->setCurrentText({});
        if (!name.isEmpty()) {
            add_network(name);
            emit changed();
        }
    };
    connect(network_, &QComboBox::activated, this, add);
    connect(network_->lineEdit(), &QLineEdit::returnPressed, this, add);
}

void UpgradeForm::make_old() {
    heading(tr("Runs now on"));
    from_ = name_chooser(tr("the GPU that runs it now"), "upgrade from", this);
    column_->addWidget(from_);
    QWidget* row = nullptr;
    auto* line = line_in(*column_, row, this);
    old_.type = types(tr("Precision on the old GPU"));
    old_.type->setObjectName("upgrade from precision");
    old_.per_hour =
        price(tr("hour"), tr("no price"),
              tr("Price of an hour of the old GPU; the catalog's unless given"), 1000.0, 0.05);
    old_.per_hour->setObjectName("upgrade from hour");
    line->addWidget(old_.type, 1);
    line->addWidget(old_.per_hour, 1);
    auto* second = line_in(*column_, row, this);
    old_.buy = price(tr("sold for"), tr("nothing"), tr("What the old GPU brings when it is sold"),
                     1e6, 100.0);
    old_.buy->setObjectName("upgrade resale");
    second->addWidget(old_.buy, 1);
    count_ = whole_field("upgrade count", tr("How many of the old GPUs there are"), 0, 65536, this);
    count_->setSuffix(tr(" GPUs"));
    count_->setSpecialValueText(tr("for each GPU"));
    count_->setToolTip(tr("With a count, the answer is in whole GPUs for the same work"));
    second->addWidget(count_, 1);
    connect(count_, &QSpinBox::valueChanged, this, &UpgradeForm::changed);
    owned_ = check_field("upgrade owned", tr("owned: costs power, no rent"), {}, this);
    connect(owned_, &QCheckBox::toggled, this, [this] {
        show_owned();
        emit changed();
    });
    column_->addWidget(owned_);
    from_host_ = list("upgrade from host", tr("Server that launches the old GPU's kernels"),
                      {{tr("usual server of its years"), ""}});
    column_->addWidget(from_host_);
    connect(from_, &QComboBox::activated, this, &UpgradeForm::changed);
    connect(from_->lineEdit(), &QLineEdit::returnPressed, this, &UpgradeForm::changed);
}

void UpgradeForm::make_new() {
    heading(tr("Could run on"));
    to_ = name_chooser(tr("add a GPU"), "upgrade to", this);
    column_->addWidget(to_);
    to_host_ =
        list("upgrade to host", tr("Server that launches the new GPU's kernels"),
             {{tr("usual server of its years"), ""}, {tr("the same server as now"), "same"}});
    column_->addWidget(to_host_);
    gpu_rows_ = new QVBoxLayout;
    gpu_rows_->setSpacing(8);
    column_->addLayout(gpu_rows_);
    const auto add = [this] {
        const std::string name = to_->currentText().trimmed().toStdString();
        to_->setCurrentText({});
        if (!name.empty()) {
            add_target({name, {}, {}, {}});
            emit changed();
        }
    };
    connect(to_, &QComboBox::activated, this, add);
    connect(to_->lineEdit(), &QLineEdit::returnPressed, this, add);
}

void UpgradeForm::make_sweep() {
    heading(tr("Also at"));
    const auto list = [&](const QString& label, const QString& shown, const QString& hint,
                          const char* name) {
        QWidget* row = nullptr;
        auto* line = line_in(*column_, row, this);
        auto* head = new QLabel(label, this);
        head->setMinimumWidth(72);
        auto* edit = new QLineEdit(shown, this);
        edit->setPlaceholderText(hint);
        edit->setObjectName(name);
        edit->setAccessibleName(label + ": " + hint);
        head->setBuddy(edit);
        line->addWidget(head);
        line->addWidget(edit, 1);
        connect(edit, &QLineEdit::editingFinished, this, [this] {
            const auto batches = sweep_batches_;
            const auto types = sweep_types_;
            read_lists();
            if (batches != sweep_batches_ || types != sweep_types_) {
                emit changed();
            }
        });
        return edit;
    };
    batches_ = list(tr("batches"), "1, 4, 16", tr("such as 1, 8, 64"), "sweep batches");
    types_ = list(tr("precisions"), "", tr("fp16, fp16:bf16"), "sweep precisions");
    types_->setToolTip(tr("A data type for both GPUs, or old:new"));
}

// The user's own tables of rents, and options of the command line without a field of their own.
void UpgradeForm::make_more() {
    heading(tr("Own price tables"));
    prices_ = named(new QLineEdit(this), "upgrade prices",
                    tr("Files with tables of rents, with semicolons between"));
    prices_->setPlaceholderText(tr("mine.yaml; theirs.yaml"));
    QWidget* row = nullptr;
    auto* line = line_in(*column_, row, this);
    auto* browse =
        named(new QToolButton(row), "upgrade prices browse", tr("Choose files of prices"));
    browse->setText("…");
    line->addWidget(prices_, 1);
    line->addWidget(browse);
    const auto ask = [this] {
        if (prices_->isModified()) {
            prices_->setModified(false);
            emit changed();
        }
    };
    connect(prices_, &QLineEdit::editingFinished, this, ask);
    connect(browse, &QToolButton::clicked, this, [this, ask] {
        const QStringList files = QFileDialog::getOpenFileNames(this, tr("Tables of rents"), {},
                                                                tr("Tables (*.yaml *.yml)"));
        if (!files.isEmpty()) {
            prices_->setText(files.join("; "));
            prices_->setModified(true);
            ask();
        }
    });
    heading(tr("Other options"));
    more_ = named(new QLineEdit(this), "upgrade more", tr("Other options, as on the command line"));
    more_->setPlaceholderText(tr("--dim seq=512 --to-set clock=1.2GHz"));
    column_->addWidget(more_);
    connect(more_, &QLineEdit::editingFinished, this, [this] {
        const QString before = more_read_;
        read_more();
        if (before != more_read_) {
            emit changed();
        }
    });
}

// Where they cannot be read, they are marked, and the last good ones stay in force.
void UpgradeForm::read_more() {
    const QString typed = more_->text().trimmed();
    const auto read = analysis::more_options_of(typed.toStdString());
    QString why;
    if (!read) {
        const Diagnostic& first = *read.diagnostics().begin();
        why = text(first.message + ": " + first.hint);
    }
    mark_wrong(*more_, why, more_->accessibleName());
    more_read_ = read ? typed : more_read_;
}

// What is left to the program cannot be set beside it.
void UpgradeForm::show_open() {
    const bool open = phase_->currentData().toString().isEmpty();
    const QString why = tr("Choose inference or training to set this");
    for (QWidget* field : std::initializer_list<QWidget*>{launch_, layout_, compiled_, largest_,
                                                          batch_, old_.type}) {
        if (field != nullptr) {
            field->setEnabled(!open && !(field == batch_ && largest_->isChecked()));
            field->setStatusTip(open ? why : QString());
        }
    }
    for (const GpuRow& row : gpus_) {
        row.type->setEnabled(!open);
    }
}

// A list that cannot be read is marked, and the last good one stays in force.
void UpgradeForm::read_lists() {
    const auto mark = [](QLineEdit& edit, bool good, const QString& why) {
        mark_wrong(edit, good ? QString() : why, {});
    };
    const auto batches = analysis::read_batches(batches_->text().toStdString());
    const auto types = analysis::read_types(types_->text().toStdString());
    mark(*batches_, batches.has_value(), tr("Whole numbers from 1 to 65536, as in 1, 8, 64"));
    mark(*types_, types.has_value(), tr("Data types, old:new, as in fp32, fp16:bf16"));
    sweep_batches_ = batches.value_or(sweep_batches_);
    sweep_types_ = types.value_or(sweep_types_);
}

void UpgradeForm::fill(const Offered& offered) {
    network_->addItems(offered.networks);
    for (QComboBox* box : {from_, to_}) {
        box->addItems(offered.machines_of("gpus"));
    }
    for (const QString& host : offered.machines_of("hosts")) {
        from_host_->addItem(host, host);
        to_host_->addItem(host, host);
    }
    for (QComboBox* box : {network_, from_, to_}) {
        box->setCurrentIndex(-1);
        box->setCurrentText({});
    }
}

// What is paid for has no rent.
void UpgradeForm::show_owned() {
    old_.per_hour->setEnabled(!owned_->isChecked());
}

void UpgradeForm::add_network(const QString& name, double weight) {
    for (const NetworkRow& row : networks_) {
        if (row.name == name) {
            return;
        }
    }
    NetworkRow entry{nullptr, name, nullptr};
    auto* line = line_in(*network_rows_, entry.row, this);
    auto* label = new QLabel(name, entry.row);
    label->setToolTip(name);
    label->setMinimumWidth(0);
    label->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    entry.weight = new QDoubleSpinBox(entry.row);
    entry.weight->setRange(0.01, 1000.0);
    entry.weight->setValue(weight);
    entry.weight->setDecimals(2);
    entry.weight->setPrefix(tr("share "));
    entry.weight->setObjectName("share " + name);
    entry.weight->setAccessibleName(tr("Share of %1 of the old GPU's time").arg(name));
    entry.weight->setToolTip(tr("Hours of this network for each hour of the others"));
    auto* remove = remove_button(name, this);
    line->addWidget(label, 1);
    line->addWidget(entry.weight);
    line->addWidget(remove);
    connect(entry.weight, &QDoubleSpinBox::valueChanged, this, &UpgradeForm::changed);
    connect(remove, &QToolButton::clicked, this, [this, name] {
        remove_network(name);
        emit changed();
    });
    networks_.push_back(entry);
    show_weights();
}

void UpgradeForm::remove_network(const QString& name) {
    remove_row(networks_, name);
    show_weights();
}

void UpgradeForm::remove_target(const QString& name) {
    remove_row(gpus_, name);
}

// A single network has the GPU for itself.
void UpgradeForm::show_weights() {
    for (const NetworkRow& row : networks_) {
        row.weight->setVisible(networks_.size() > 1);
    }
}

void UpgradeForm::add_target(const analysis::AskedGpu& gpu) {
    const QString name = text(gpu.name);
    for (const GpuRow& row : gpus_) {
        if (row.name == name) {
            return;
        }
    }
    GpuRow entry;
    entry.name = name;
    entry.row = new QWidget(this);
    auto* grid = bare<QGridLayout>(entry.row, 4);
    auto* label = new QLabel(name, entry.row);
    entry.type = types(tr("Precision on %1").arg(name));
    entry.per_hour =
        price(tr("hour"), tr("no price"),
              tr("Price of an hour of %1; the catalog's unless given").arg(name), 1000.0, 0.05);
    entry.buy = price(tr("buy"), tr("no price"),
                      tr("Price to buy %1; the catalog's unless given").arg(name), 1e6, 100.0);
    entry.type->setObjectName("precision " + name);
    entry.per_hour->setObjectName("hour " + name);
    entry.buy->setObjectName("buy " + name);
    choose_type(*entry.type, gpu.data_type);
    const QSignalBlocker one(entry.per_hour), two(entry.buy);
    entry.per_hour->setValue(gpu.usd_per_hour.value_or(0.0));
    entry.buy->setValue(gpu.buy_usd.value_or(0.0));
    auto* remove = remove_button(name, this);
    grid->addWidget(label, 0, 0);
    grid->addWidget(remove, 0, 1, Qt::AlignRight);
    grid->addWidget(entry.per_hour, 1, 0);
    grid->addWidget(entry.buy, 1, 1);
    grid->addWidget(entry.type, 2, 0);
    grid->setColumnStretch(0, 1);
    grid->setColumnStretch(1, 1);
    gpu_rows_->addWidget(entry.row);
    connect(remove, &QToolButton::clicked, this, [this, name] {
        remove_target(name);
        emit changed();
    });
    gpus_.push_back(entry);
    show_open();
}

void UpgradeForm::set_from(const QString& name) {
    from_->setCurrentText(name);
}

void UpgradeForm::set_phase(const QString& phase) {
    phase_->setCurrentIndex(std::max(0, phase_->findData(phase)));
}

void UpgradeForm::show_catalog_prices(const analysis::UpgradeQuestion& question,
                                      const UpgradeAnswer& answer) {
    const auto show = [](QDoubleSpinBox& box, const QString& prefix, double usd, int digits) {
        const bool typing = box.hasFocus() && box.text() != box.specialValueText();
        if (usd > 0.0 && !typing) {
            box.setSpecialValueText(tr("%1 $%2").arg(prefix).arg(usd, 0, 'f', digits));
        }
    };
    for (std::size_t i = 0; i < answer.upgrades.size(); ++i) {
        const analysis::UpgradeMoney& money = answer.upgrades[i].money;
        const analysis::AskedGpu& asked = question.to[answer.asked[i]];
        const auto row = std::find_if(gpus_.begin(), gpus_.end(), [&](const GpuRow& r) {
            return r.name.toStdString() == asked.name;
        });
        if (!question.from.usd_per_hour && !question.from_owned) {
            show(*old_.per_hour, tr("hour"), money.from_usd_per_hour, 2);
        }
        if (row == gpus_.end()) {
            continue;
        }
        if (!asked.usd_per_hour) {
            show(*row->per_hour, tr("hour"), money.to_usd_per_hour, 2);
        }
        if (!asked.buy_usd && money.outlay_usd) {
            show(*row->buy, tr("buy"), *money.outlay_usd + question.from.buy_usd.value_or(0.0), 0);
        }
    }
}

analysis::UpgradeQuestion UpgradeForm::question() const {
    analysis::UpgradeQuestion q;
    for (const NetworkRow& row : networks_) {
        q.networks.push_back(
            {row.name.toStdString(), networks_.size() > 1 ? row.weight->value() : 1.0});
    }
    q.from = {from_->currentText().trimmed().toStdString(), type_of(*old_.type),
              price_of(*old_.per_hour), price_of(*old_.buy)};
    for (const GpuRow& row : gpus_) {
        q.to.push_back({row.name.toStdString(), type_of(*row.type), price_of(*row.per_hour),
                        price_of(*row.buy)});
    }
    q.phase = phase_->currentData().toString().toStdString();
    if (batch_->value() > 0) {
        q.batch = batch_->value();
    }
    q.launch = launch_->currentData().toString().toStdString();
    q.layout = layout_->currentData().toString().toStdString();
    q.compiled = compiled_->isChecked();
    q.largest_batch = largest_->isChecked();
    q.more = more_read_.toStdString();
    for (const QString& file : prices_->text().split(';', Qt::SkipEmptyParts)) {
        if (!file.trimmed().isEmpty()) {
            q.prices.push_back(file.trimmed().toStdString());
        }
    }
    q.from_owned = owned_->isChecked();
    if (count_->value() > 0) {
        q.count = count_->value();
    }
    q.from_host = from_host_->currentData().toString().toStdString();
    q.to_host = to_host_->currentData().toString().toStdString();
    owner_->read_into(q);
    q.sweep_batches = sweep_batches_;
    q.sweep_types = sweep_types_;
    return q;
}

void UpgradeForm::set_question(const analysis::UpgradeQuestion& q) {
    const QSignalBlocker silent(this);
    while (!networks_.empty()) {
        remove_network(networks_.back().name);
    }
    while (!gpus_.empty()) {
        remove_target(gpus_.back().name);
    }
    for (const analysis::AskedNetwork& network : q.networks) {
        add_network(text(network.name), network.weight);
    }
    for (const analysis::AskedGpu& gpu : q.to) {
        add_target(gpu);
    }
    set_from(text(q.from.name));
    choose_type(*old_.type, q.from.data_type);
    old_.per_hour->setValue(q.from.usd_per_hour.value_or(0.0));
    old_.buy->setValue(q.from.buy_usd.value_or(0.0));
    set_phase(text(q.phase));
    batch_->setValue(static_cast<int>(q.batch.value_or(0)));
    const auto choose = [](QComboBox& box, const std::string& value) {
        if (box.findData(text(value)) < 0) { // a file's own
            box.addItem(text(value), text(value));
        }
        box.setCurrentIndex(box.findData(text(value)));
    };
    choose(*launch_, q.launch);
    choose(*layout_, q.layout);
    choose(*from_host_, q.from_host);
    choose(*to_host_, q.to_host);
    compiled_->setChecked(q.compiled);
    largest_->setChecked(q.largest_batch);
    prices_->setText(texts(q.prices).join("; "));
    more_->setText(text(q.more));
    read_more();
    owned_->setChecked(q.from_owned);
    count_->setValue(q.count.value_or(0));
    owner_->show_of(q);
    batches_->setText(text(analysis::batches_text(q.sweep_batches)));
    types_->setText(text(analysis::types_text(q.sweep_types)));
    read_lists();
}

} // namespace eyeroof::gui
