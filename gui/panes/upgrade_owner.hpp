// The terms of an upgrade: use, years, electricity and its CO2, the building, hosts, budget, a job
// and its deadline, and what the user measured. All that the command line's "Prices and terms" has
// beside the prices of the GPUs.
#pragma once

#include "analysis/upgrade/question.hpp"
#include "gui/panes/amount_edit.hpp"

#include <QWidget>
#include <utility>
#include <vector>

class QDoubleSpinBox;
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
    void make_use();
    void make_amounts();
    void make_typed();

    using Amount = double analysis::UpgradeQuestion::*;
    using Typed = std::optional<double> analysis::UpgradeQuestion::*;
    QSpinBox* utilization_ = nullptr;
    std::vector<std::pair<QDoubleSpinBox*, Amount>> amounts_;
    std::vector<std::pair<AmountEdit*, Typed>> typed_; // left open where nothing is entered
};

} // namespace eyeroof::gui
