// The Help menu's pages: the documentation that the program carries, the sheet of shortcuts, and
// what the program is.
#pragma once

class QWidget;

namespace eyeroof::gui {

void show_documentation(QWidget& parent);
void show_shortcuts(QWidget& parent);
void show_about(QWidget& parent);

} // namespace eyeroof::gui
