// Light and dark, chosen or as the desktop has it.
#pragma once

#include <QString>

class QWidget;

namespace eyeroof::gui {

// "desktop", "light" or "dark"; anything else is as "desktop". For the whole application.
void use_theme(const QString& name);

// Hints in a grey and selected rows in a blue that can be read, whatever the desktop's own.
void make_readable(QWidget& window);

} // namespace eyeroof::gui
