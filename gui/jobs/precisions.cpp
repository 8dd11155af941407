#include "gui/jobs/precisions.hpp"

#include "gui/views/qt_text.hpp"

#include <QComboBox>
#include <QCoreApplication>
#include <QStandardItemModel>
#include <QStringList>

namespace eyeroof::gui {

namespace {

QString precision_text(const char* words) {
    return QCoreApplication::translate("Precisions", words);
}

QString has_of(const model::Gpu& gpu) {
    QStringList names;
    for (const std::string_view name : model::data_type_names()) {
        if (gpu.rate(*model::data_type_from_name(name)).flops_per_s > 0.0) {
            names << text(name);
        }
    }
    return names.join(", ");
}

} // namespace

QString why_not(const model::Machine& machine, model::DataType type) {
    const QString name = text(machine.name);
    const QString wanted = text(model::data_type_name(type));
    if (const auto* gpu = std::get_if<model::Gpu>(&machine.kind)) {
        return gpu->rate(type).flops_per_s > 0.0
                   ? QString()
                   : precision_text("%1 has no units for %2; it has %3")
                         .arg(name, wanted, has_of(*gpu));
    }
    if (const auto* accelerator = std::get_if<model::Accelerator>(&machine.kind)) {
        const int bits = accelerator->word_bits[model::index(model::Operand::input)];
        return model::storage_bits(type) == bits
                   ? QString()
                   : precision_text("%1 computes with %2-bit data, %3 has %4")
                         .arg(name)
                         .arg(bits)
                         .arg(wanted)
                         .arg(model::storage_bits(type));
    }
    return {};
}

void grey_missing(QComboBox& types, const std::vector<model::Machine>& machines) {
    auto* items = qobject_cast<QStandardItemModel*>(types.model());
    for (int i = 0; items != nullptr && i < types.count(); ++i) {
        const auto type = model::data_type_from_name(types.itemData(i).toString().toStdString());
        QStringList reasons;
        for (const model::Machine& machine : machines) {
            const QString reason = type ? why_not(machine, *type) : QString();
            if (!reason.isEmpty()) {
                reasons << reason;
            }
        }
        items->item(i)->setEnabled(reasons.isEmpty());
        items->item(i)->setToolTip(reasons.join("\n"));
    }
}

} // namespace eyeroof::gui
