// The terms of an upgrade: use, years, electricity and its CO2, the building, hosts, budget, a job
// and its deadline, and what the user measured. All that the command line's "Prices and terms" has
// beside the prices of the GPUs.
#pragma once

#include "analysis/upgrade/question.hpp"
#include "gui/panes/amount_edit.hpp"

#include <QWidget>

class QDoubleSpinBox;
class QFormLayout;
class QSpinBox;

namespace eyeroof::gui {

class UpgradeOwner : public QWidget {
    Q_OBJECT

  public:
    explicit UpgradeOwner(QWidget* parent = nullptr);
    void read_into(analysis::UpgradeQuestion& question) const;
    void show_of(const analysis::UpgradeQuestion& question); // sends nothing

  signals:
    void changed();

  private:
    void make_amounts(QFormLayout& form);
    AmountEdit* typed(QFormLayout& form, const char* name, const QString& label,
                      const QString& what, const QString& hint, const AmountEdit::Parser& parser);
    QDoubleSpinBox* amount(const char* name, const QString& what, double most, int digits,
                           double step);

    QSpinBox* utilization_ = nullptr;
    QDoubleSpinBox* power_ = nullptr;
    QDoubleSpinBox* host_ = nullptr;
    QDoubleSpinBox* years_ = nullptr;
    QDoubleSpinBox* pue_ = nullptr;
    QDoubleSpinBox* co2_ = nullptr;
    AmountEdit* budget_ = nullptr;
    AmountEdit* samples_ = nullptr;
    AmountEdit* deadline_ = nullptr;
    AmountEdit* age_ = nullptr;
    AmountEdit* threshold_ = nullptr;
    AmountEdit* measured_old_ = nullptr;
    AmountEdit* measured_new_ = nullptr;
};

} // namespace eyeroof::gui
