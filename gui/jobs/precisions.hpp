// Which precisions a machine computes in, and why not in the others.
#pragma once

#include "model/machine/machine.hpp"
#include "model/workload/layer.hpp"

#include <QString>
#include <vector>

class QComboBox;

namespace eyeroof::gui {

// Empty where the machine has units for the type.
QString why_not(const model::Machine& machine, model::DataType type);

// Greys the types that one of the machines lacks, with the reason as their tip. The items' data are
// the types' names.
void grey_missing(QComboBox& types, const std::vector<model::Machine>& machines);

} // namespace eyeroof::gui
