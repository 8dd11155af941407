#include "gui/window/run_choices.hpp"

#include "analysis/scenario/fields.hpp"
#include "gui/jobs/precisions.hpp"
#include "gui/views/qt_text.hpp"
#include "gui/window/network_sizes.hpp"

#include <QCheckBox>
#include <QComboBox>
#include <QLabel>
#include <QSpinBox>
#include <algorithm>
#include <limits>

namespace eyeroof::gui {

namespace {

constexpr int kMostBatch = 65536; // that the list goes to

QString value_of(const std::string& field, const analysis::Scenario& scenario) {
    const auto values = analysis::find_field(field)->get(scenario);
    return values.empty() ? QString() : text(values.front());
}

} // namespace

RunChoices::RunChoices(QWidget* parent) : QToolBar(tr("How it is run"), parent) {
    setObjectName("run choices");
    setMovable(false);
    sizes_ = new NetworkSizes(this);
    addWidget(sizes_);
    addWidget(new QLabel(tr(" Batch "), this));
    batch_ = named(new QSpinBox(this), "batch", tr("Batch: samples of a step"));
    addWidget(batch_);
    precision_ = add(type_chooser(tr("Precision"), this));
    precision_->setObjectName("precision");
    phase_ = list("phase", tr("Inference or training"), {{tr("inference"), ""}});
    add_entries(*phase_, trainings());
    launch_ = list("launch", tr("How kernels are launched, on GPUs"), launches("eager"));
    compiled_ = check_field("compiled", tr("compiled"),
                            tr("On GPUs: pointwise operators and reductions fused, as a compiler "
                               "does"),
                            this);
    addWidget(compiled_);
    mapping_ = list("mapping", tr("Mapping, on accelerators"),
                    {{tr("usual mapping"), "auto"},
                     {tr("dataflow's mapping"), "dataflow"},
                     {tr("best mapping"), "best"}});
    mapping_->setToolTip(tr("On accelerators: the best that the dataflow allows, by its published "
                            "rules where there are any; by the dataflow's rules alone, without a "
                            "search; or the one that no other beats, searched for"));
    fields_ = {{"dtype", precision_}, {"launch", launch_}, {"mapping", mapping_}};
    show_scenario({}, 1);
    connect(batch_, &QSpinBox::valueChanged, this, &RunChoices::changed);
    connect(compiled_, &QCheckBox::toggled, this, &RunChoices::changed);
    connect(sizes_, &NetworkSizes::chosen, this, &RunChoices::sizes_wanted);
}

QComboBox* RunChoices::list(const char* name, const QString& what, const Entries& entries) {
    return add(list_field(name, what, entries, this));
}

QComboBox* RunChoices::add(QComboBox* box) {
    addWidget(new QLabel(" ", this));
    box->setMinimumContentsLength(6);
    addWidget(box);
    connect(box, &QComboBox::activated, this, &RunChoices::changed);
    return box;
}

// Every value of a list is one that its field takes.
void RunChoices::write_into(analysis::Scenario& scenario) const {
    for (const auto& [field, box] : fields_) {
        const std::string value = box->currentData().toString().toStdString();
        const auto values = value.empty() ? std::vector<std::string>{} : std::vector{value};
        analysis::find_field(field)->set(scenario, values);
    }
    const std::string optimizer = phase_->currentData().toString().toStdString();
    scenario.training =
        optimizer.empty() ? std::nullopt : std::optional(analysis::TrainingOptions{optimizer});
    scenario.compiled = compiled_->isChecked();
    scenario.batch =
        batch_->value() == own_batch_ ? std::nullopt : std::optional<Count>(batch_->value());
}

void RunChoices::show_scenario(const analysis::Scenario& scenario, Count own_batch) {
    show_batch(scenario, own_batch);
    while (mapping_->count() > 3) { // the file of another scenario
        mapping_->removeItem(3);
    }
    if (scenario.policy == analysis::MappingPolicy::given) {
        mapping_->addItem(text(scenario.mapping_file), text(scenario.mapping_file));
    }
    for (const auto& [field, box] : fields_) {
        box->setCurrentIndex(std::max(0, box->findData(value_of(field, scenario))));
    }
    const std::string optimizer = scenario.training ? scenario.training->optimizer : "";
    phase_->setCurrentIndex(std::max(0, phase_->findData(text(optimizer))));
    const QSignalBlocker quiet(compiled_);
    compiled_->setChecked(scenario.compiled);
}

// In steps of the network's own batch, of which a batch is a multiple.
void RunChoices::show_batch(const analysis::Scenario& scenario, Count own_batch) {
    own_batch_ = own_batch;
    const int own = static_cast<int>(std::min<Count>(own_batch, kMostBatch));
    const auto batch = static_cast<int>(
        std::min<Count>(scenario.batch.value_or(own), std::numeric_limits<int>::max()));
    const QSignalBlocker quiet(batch_);
    batch_->setRange(std::min(own, batch), std::max(kMostBatch, batch));
    batch_->setSingleStep(own);
    batch_->setValue(batch);
    batch_->setToolTip(own > 1 ? tr("Samples of a step, a multiple of the network's %1").arg(own)
                               : tr("Samples of a step"));
}

void RunChoices::show_machines(const std::vector<model::Machine>& machines) {
    grey_missing(*precision_, machines);
    const auto gpu = [](const model::Machine& machine) {
        return std::holds_alternative<model::Gpu>(machine.kind);
    };
    const bool some = std::any_of(machines.begin(), machines.end(), gpu);
    const bool all = std::all_of(machines.begin(), machines.end(), gpu);
    launch_->setEnabled(some || machines.empty());
    compiled_->setEnabled(some || machines.empty());
    mapping_->setEnabled(!all || machines.empty());
}

void RunChoices::show_sizes(const analysis::Scenario& scenario, const Folders& folders) {
    sizes_->show_network(text(scenario.network), scenario.sizes, folders);
}

} // namespace eyeroof::gui
