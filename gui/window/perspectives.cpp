#include "gui/window/perspectives.hpp"

#include <QCoreApplication>
#include <QList>
#include <map>

namespace eyeroof::gui {

QString perspective_name(Perspective perspective) {
    const char* name = perspective == Perspective::accelerator ? "Accelerator"
                       : perspective == Perspective::gpu       ? "GPU"
                       : perspective == Perspective::upgrade   ? "Upgrade"
                                                               : "Trace";
    return QCoreApplication::translate("Perspective", name);
}

bool applies(Perspective perspective, const QString& pane) {
    using P = Perspective;
    // Layers, steps, what-ifs, details, and diagnostics apply to every machine.
    static const std::map<QString, QList<P>> of = {
        {"mapping", {P::accelerator}},
        {"sparsity", {P::accelerator}},
        {"fusion", {P::accelerator, P::gpu}},
        {"traffic", {P::accelerator, P::gpu}},
        {"parameters", {P::accelerator, P::gpu}},
        {"baseline", {P::accelerator, P::gpu, P::trace}},
        {"advice", {P::accelerator, P::gpu, P::trace}},
        {"timeline", {P::gpu, P::trace}},
        {"memory", {P::gpu}},
        {"scaling", {P::gpu}},
        {"measurements", {P::trace}},
        {"upgrade", {P::gpu, P::upgrade, P::trace}},
    };
    const auto found = of.find(pane);
    return found == of.end() || found->second.contains(perspective);
}

} // namespace eyeroof::gui
