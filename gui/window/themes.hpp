// Light and dark, chosen or as the desktop has it.
// Used by main and by the window's View menu.
// Knows palettes only.
#pragma once

#include <QString>

namespace eyeroof::gui {

// "desktop", "light" or "dark"; anything else is as "desktop". For the whole application.
void use_theme(const QString& name);

} // namespace eyeroof::gui
