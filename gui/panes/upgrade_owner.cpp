#include "gui/panes/upgrade_owner.hpp"

#include "analysis/upgrade/amounts.hpp"
#include "gui/panes/fields.hpp"

#include <QDoubleSpinBox>
#include <QFormLayout>
#include <QGridLayout>
#include <QSpinBox>
#include <QVBoxLayout>
#include <cmath>

namespace eyeroof::gui {

using Question = analysis::UpgradeQuestion;

UpgradeOwner::UpgradeOwner(QWidget* parent) : QWidget(parent) {
    bare<QVBoxLayout>(this, 6);
    make_use();
    make_amounts();
    make_typed();
    show_of({});
}

void UpgradeOwner::make_use() {
    utilization_ =
        whole_field("owner use", tr("Share of the hours that the GPUs work"), 1, 100, this);
    utilization_->setPrefix(tr("in use "));
    utilization_->setSuffix(" %");
    connect(utilization_, &QSpinBox::valueChanged, this, &UpgradeOwner::changed);
}

void UpgradeOwner::make_amounts() {
    struct Field {
        const char* name;
        QString what, prefix, suffix;
        double least, most;
        int digits;
        double step;
        Amount of;
    };
    const std::vector<Field> fields = {
        {"owner years", tr("Years over which a purchase is counted"), tr("lasts "), tr(" years"),
         0.1, 100.0, 1, 1.0, &Question::years},
        {"owner power", tr("Electricity, USD a kWh"), "$", tr(" a kWh"), 0.0, 1000.0, 2, 0.01,
         &Question::power_usd_per_kwh},
        {"owner host", tr("An owned GPU's share of its server, space, and people, USD a month"),
         tr("host $"), tr(" a month"), 0.0, 1e6, 0, 10.0, &Question::host_usd_per_month},
        {"owner pue",
         tr("PUE: power of the building over that of its computers"),
         tr("PUE "),
         {},
         1.0,
         10.0,
         2,
         0.05,
         &Question::pue},
        {"owner co2",
         tr("CO2 of a kWh, kg"),
         {},
         tr(" kg CO2 a kWh"),
         0.0,
         100.0,
         3,
         0.05,
         &Question::kg_co2_per_kwh}};
    auto* grid = new QGridLayout;
    grid->setSpacing(4);
    grid->addWidget(utilization_, 0, 0);
    for (const Field& field : fields) {
        auto* box = named(new QDoubleSpinBox(this), field.name, field.what);
        box->setRange(field.least, field.most);
        box->setDecimals(field.digits);
        box->setSingleStep(field.step);
        box->setPrefix(field.prefix);
        box->setSuffix(field.suffix);
        box->setKeyboardTracking(false);
        if (field.of == &Question::host_usd_per_month) {
            box->setSpecialValueText(tr("host costs nothing"));
        }
        connect(box, &QDoubleSpinBox::valueChanged, this, &UpgradeOwner::changed);
        amounts_.emplace_back(box, field.of);
        const int place = static_cast<int>(amounts_.size()); // after the use
        grid->addWidget(box, place / 2, place % 2);
    }
    grid->setColumnStretch(0, 1);
    grid->setColumnStretch(1, 1);
    static_cast<QVBoxLayout*>(layout())->addLayout(grid);
}

void UpgradeOwner::make_typed() {
    struct Field {
        const char* name;
        QString label, what, hint;
        AmountEdit::Parser parser;
        Typed of;
    };
    const std::vector<Field> fields = {
        {"owner budget", tr("Budget"), tr("Most to spend on a purchase, less resale"),
         tr("none, or $200k"), analysis::parse_usd, &Question::budget_usd},
        {"owner samples", tr("Job"), tr("Samples of a job"), tr("none, or 1.3e9 samples"),
         analysis::parse_number, &Question::samples},
        {"owner deadline", tr("Deadline"), tr("When that job must be done"),
         tr("none, or 14d, 2 weeks"), analysis::parse_days, &Question::deadline_days},
        {"owner age", tr("Age"), tr("Age of the owned GPUs: what is not written off yet is shown"),
         tr("unknown, or 3 years"), analysis::parse_years, &Question::age_years},
        {"owner threshold", tr("Must reach"),
         tr("Speedup that must be reached, whatever the prices"), tr("what the prices need"),
         analysis::parse_number, &Question::threshold},
        {"owner measured old", tr("Measured now"),
         tr("Your own throughput on the old GPU: it sets its time and narrows the interval"),
         tr("not, or 820/s"), analysis::parse_rate, &Question::measured_old},
        {"owner measured new", tr("Measured then"), tr("Your own throughput on the new GPU"),
         tr("not, or 1500/s"), analysis::parse_rate, &Question::measured_new}};
    auto* form = new QFormLayout;
    form->setSpacing(4);
    for (const Field& field : fields) {
        auto* edit = new AmountEdit(field.name, field.what, field.hint, field.parser, this);
        edit->setMinimumWidth(60);
        form->addRow(field.label, edit);
        connect(edit, &AmountEdit::changed, this, &UpgradeOwner::changed);
        typed_.emplace_back(edit, field.of);
    }
    static_cast<QVBoxLayout*>(layout())->addLayout(form);
}

void UpgradeOwner::read_into(analysis::UpgradeQuestion& question) const {
    question.utilization = utilization_->value() / 100.0;
    for (const auto& [box, of] : amounts_) {
        question.*of = box->value();
    }
    for (const auto& [edit, of] : typed_) {
        question.*of = edit->value();
    }
}

void UpgradeOwner::show_of(const analysis::UpgradeQuestion& question) {
    const QSignalBlocker quiet(this);
    utilization_->setValue(static_cast<int>(std::lround(100.0 * question.utilization)));
    for (const auto& [box, of] : amounts_) {
        box->setValue(question.*of);
    }
    for (const auto& [edit, of] : typed_) {
        edit->set_value(question.*of);
    }
}

} // namespace eyeroof::gui
