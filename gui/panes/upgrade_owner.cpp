#include "gui/panes/upgrade_owner.hpp"

#include <QDoubleSpinBox>
#include <QGridLayout>
#include <QSpinBox>
#include <cmath>

namespace eyeroof::gui {

UpgradeOwner::UpgradeOwner(QWidget* parent) : QWidget(parent) {
    auto* grid = new QGridLayout(this);
    grid->setContentsMargins(0, 0, 0, 0);
    grid->setSpacing(4);
    utilization_ = new QSpinBox(this);
    utilization_->setRange(1, 100);
    utilization_->setPrefix(tr("in use "));
    utilization_->setSuffix(" %");
    utilization_->setKeyboardTracking(false);
    utilization_->setObjectName("owner use");
    utilization_->setAccessibleName(tr("Share of the month that a bought GPU works"));
    utilization_->setToolTip(utilization_->accessibleName());
    connect(utilization_, &QSpinBox::valueChanged, this, &UpgradeOwner::changed);
    power_ = amount("owner power", tr("Electricity, USD a kWh"), 1000.0, 2, 0.01);
    power_->setPrefix("$");
    power_->setSuffix(tr(" a kWh"));
    host_ =
        amount("owner host", tr("Its share of server, rack, and staff, USD a month"), 1e6, 0, 10.0);
    host_->setPrefix(tr("host $"));
    host_->setSuffix(tr(" a month"));
    host_->setSpecialValueText(tr("host costs nothing"));
    years_ = amount("owner years", tr("Years after which it is written off"), 100.0, 1, 1.0);
    years_->setMinimum(0.1);
    years_->setPrefix(tr("lasts "));
    years_->setSuffix(tr(" years"));
    grid->addWidget(utilization_, 0, 0);
    grid->addWidget(years_, 0, 1);
    grid->addWidget(power_, 1, 0);
    grid->addWidget(host_, 1, 1);
    grid->setColumnStretch(0, 1);
    grid->setColumnStretch(1, 1);
    show_of({});
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
}

void UpgradeOwner::show_of(const analysis::UpgradeQuestion& question) {
    const QSignalBlocker quiet(this);
    utilization_->setValue(static_cast<int>(std::lround(100.0 * question.utilization)));
    power_->setValue(question.power_usd_per_kwh);
    host_->setValue(question.host_usd_per_month);
    years_->setValue(question.years);
}

} // namespace eyeroof::gui
