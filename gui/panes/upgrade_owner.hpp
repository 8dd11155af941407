// What a bought GPU costs its owner beside its price: how much it works, electricity, its share of
// server and room, and after how many years it is written off.
// Used by the upgrade form.
#pragma once

#include "analysis/upgrade/question.hpp"

#include <QWidget>

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
    QDoubleSpinBox* amount(const char* name, const QString& what, double most, int digits,
                           double step);

    QSpinBox* utilization_ = nullptr;
    QDoubleSpinBox* power_ = nullptr;
    QDoubleSpinBox* host_ = nullptr;
    QDoubleSpinBox* years_ = nullptr;
};

} // namespace eyeroof::gui
