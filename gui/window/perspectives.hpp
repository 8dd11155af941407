// What kind of question the window is arranged for: each perspective has the docks and tabs that
// apply to it.
#pragma once

#include <QString>
#include <array>

namespace eyeroof::gui {

enum class Perspective { accelerator, gpu, upgrade, trace };
inline constexpr std::array kPerspectives = {Perspective::accelerator, Perspective::gpu,
                                             Perspective::upgrade, Perspective::trace};

QString perspective_name(Perspective perspective); // "Accelerator"

// Whether a dock or a tab, by its name, applies. Panes that no perspective names apply to all.
bool applies(Perspective perspective, const QString& pane);

} // namespace eyeroof::gui
