#include "gui/panes/upgrade_owner.hpp"

#include "analysis/upgrade/amounts.hpp"

#include <QDoubleSpinBox>
#include <QFormLayout>
#include <QGridLayout>
#include <QSpinBox>
#include <QVBoxLayout>
#include <cmath>

namespace eyeroof::gui {

UpgradeOwner::UpgradeOwner(QWidget* parent) : QWidget(parent) {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(6);
    auto* grid = new QGridLayout;
    column->addLayout(grid);
    grid->setSpacing(4);
    utilization_ = new QSpinBox(this);
    utilization_->setRange(1, 100);
    utilization_->setPrefix(tr("in use "));
    utilization_->setSuffix(" %");
    utilization_->setKeyboardTracking(false);
    utilization_->setObjectName("owner use");
    utilization_->setAccessibleName(tr("Share of the hours that the GPUs work"));
    utilization_->setToolTip(utilization_->accessibleName());
    connect(utilization_, &QSpinBox::valueChanged, this, &UpgradeOwner::changed);
    power_ = amount("owner power", tr("Electricity, USD a kWh"), 1000.0, 2, 0.01);
    power_->setPrefix("$");
    power_->setSuffix(tr(" a kWh"));
    host_ = amount("owner host",
                   tr("An owned GPU's share of its server, space, and people, USD a month"), 1e6, 0,
                   10.0);
    host_->setPrefix(tr("host $"));
    host_->setSuffix(tr(" a month"));
    host_->setSpecialValueText(tr("host costs nothing"));
    years_ = amount("owner years", tr("Years over which a purchase is counted"), 100.0, 1, 1.0);
    years_->setMinimum(0.1);
    years_->setPrefix(tr("lasts "));
    years_->setSuffix(tr(" years"));
    grid->addWidget(utilization_, 0, 0);
    grid->addWidget(years_, 0, 1);
    grid->addWidget(power_, 1, 0);
    grid->addWidget(host_, 1, 1);
    pue_ = amount("owner pue", tr("PUE: power of the building over that of its computers"), 10.0, 2,
                  0.05);
    pue_->setMinimum(1.0);
    pue_->setPrefix(tr("PUE "));
    co2_ = amount("owner co2", tr("CO2 of a kWh, kg"), 100.0, 3, 0.05);
    co2_->setSuffix(tr(" kg CO2 a kWh"));
    grid->addWidget(pue_, 2, 0);
    grid->addWidget(co2_, 2, 1);
    grid->setColumnStretch(0, 1);
    grid->setColumnStretch(1, 1);
    auto* form = new QFormLayout;
    form->setSpacing(4);
    column->addLayout(form);
    make_amounts(*form);
    show_of({});
}

AmountEdit* UpgradeOwner::typed(QFormLayout& form, const char* name, const QString& label,
                                const QString& what, const QString& hint,
                                const AmountEdit::Parser& parser) {
    auto* edit = new AmountEdit(name, what, hint, parser, this);
    edit->setMinimumWidth(60);
    form.addRow(label, edit);
    connect(edit, &AmountEdit::changed, this, &UpgradeOwner::changed);
    return edit;
}

void UpgradeOwner::make_amounts(QFormLayout& form) {
    budget_ =
        typed(form, "owner budget", tr("Budget"), tr("Most to spend on a purchase, less resale"),
              tr("none, or $200k"), analysis::parse_usd);
    samples_ = typed(form, "owner samples", tr("Job"), tr("Samples of a job"),
                     tr("none, or 1.3e9 samples"), analysis::parse_number);
    deadline_ = typed(form, "owner deadline", tr("Deadline"), tr("When that job must be done"),
                      tr("none, or 14d, 2 weeks"), analysis::parse_days);
    age_ = typed(form, "owner age", tr("Age"),
                 tr("Age of the owned GPUs: what is not written off yet is shown"),
                 tr("unknown, or 3 years"), analysis::parse_years);
    threshold_ = typed(form, "owner threshold", tr("Must reach"),
                       tr("Speed-up that must be reached, whatever the prices"),
                       tr("what the prices need"), analysis::parse_number);
    measured_old_ = typed(form, "owner measured old", tr("Measured now"),
                          tr("Your own throughput on the old GPU: it sets its time and narrows the "
                             "interval"),
                          tr("not, or 820/s"), analysis::parse_rate);
    measured_new_ =
        typed(form, "owner measured new", tr("Measured then"),
              tr("Your own throughput on the new GPU"), tr("not, or 1500/s"), analysis::parse_rate);
}

QDoubleSpinBox* UpgradeOwner::amount(const char* name, const QString& what, double most, int digits,
                                     double step) {
    auto* box = new QDoubleSpinBox(this);
    box->setRange(0.0, most);
    box->setDecimals(digits);
    box->setSingleStep(step);
    box->setKeyboardTracking(false);
    box->setObjectName(name);
    box->setAccessibleName(what);
    box->setToolTip(what);
    connect(box, &QDoubleSpinBox::valueChanged, this, &UpgradeOwner::changed);
    return box;
}

void UpgradeOwner::read_into(analysis::UpgradeQuestion& question) const {
    question.utilization = utilization_->value() / 100.0;
    question.power_usd_per_kwh = power_->value();
    question.host_usd_per_month = host_->value();
    question.years = years_->value();
    question.pue = pue_->value();
    question.kg_co2_per_kwh = co2_->value();
    question.budget_usd = budget_->value();
    question.samples = samples_->value();
    question.deadline_days = deadline_->value();
    question.age_years = age_->value();
    question.threshold = threshold_->value();
    question.measured_old = measured_old_->value();
    question.measured_new = measured_new_->value();
}

void UpgradeOwner::show_of(const analysis::UpgradeQuestion& question) {
    const QSignalBlocker quiet(this);
    utilization_->setValue(static_cast<int>(std::lround(100.0 * question.utilization)));
    power_->setValue(question.power_usd_per_kwh);
    host_->setValue(question.host_usd_per_month);
    years_->setValue(question.years);
    pue_->setValue(question.pue);
    co2_->setValue(question.kg_co2_per_kwh);
    budget_->set_value(question.budget_usd);
    samples_->set_value(question.samples);
    deadline_->set_value(question.deadline_days);
    age_->set_value(question.age_years);
    threshold_->set_value(question.threshold);
    measured_old_->set_value(question.measured_old);
    measured_new_->set_value(question.measured_new);
}

} // namespace eyeroof::gui
